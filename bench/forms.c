/* What memory accesses, branches, loops and barriers cost a lane in each form that `hologram
 * explain` names: a row of copies in one kernel over many lanes, less the same kernel with half of
 * them. `bench_forms [BACKEND [THREADS]]` */
#include "bench.h"
#include "calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 1 << 18, COPIES = 32, ROUNDS = 33, ELEMENTS = 1 << 19 };

/* %d is the number of the copy times 4. r0: 4 · lane, r2: a hash of the lane within the array, r3:
 * 64 · lane within the array, r4: 4 · lane in the block, r9: 0 in all lanes; p0 is true in every
 * second lane, p1 in none; r10 is what is stored at the end. */
static const struct {
    const char *name, *text;
} FORMS[] = {
    {"multiply and xor of u32, for comparison",
     " mul.u32 r10, r10, r11\n xor.u32 r10, r10, r11\n ; %d\n"},
    {"load, uniform", " ldg.u32 r12, [r1 + r9 + %d]\n xor.u32 r10, r10, r12\n"},
    {"load, contiguous", " ldg.u32 r12, [r1 + r0 + %d]\n xor.u32 r10, r10, r12\n"},
    {"load, strided by 64 bytes", " ldg.u32 r12, [r1 + r3 + %d]\n xor.u32 r10, r10, r12\n"},
    {"load, gathered", " ldg.u32 r12, [r1 + r2 + %d]\n xor.u32 r10, r10, r12\n"},
    {"store, contiguous", " mul.u32 r10, r10, r11\n stg.u32 [r1 + r0 + %d], r10\n"},
    {"store, scattered", " mul.u32 r10, r10, r11\n stg.u32 [r1 + r2 + %d], r10\n"},
    {"load of shared memory, by lane",
     " lds.u32 r12, [shared + r4 + %d]\n xor.u32 r10, r10, r12\n"},
    {"atomic addition, an element a lane", " atom.add.u32 r12, [r1 + r0 + %d], r11\n"},
    {"atomic addition, one element for all", " atom.add.u32 r12, [r1 + r9 + %d], r11\n"},
    {"branch, uniform",
     " bra.p1 @over%d\n mul.u32 r10, r10, r11\n xor.u32 r10, r10, r11\nover%d:\n"},
    {"branch, divergent",
     " bra.p0 @over%d\n mul.u32 r10, r10, r11\n xor.u32 r10, r10, r11\nover%d:\n"},
    {"round of a counted loop", " mov_imm.u32 r13, 15\nround%d:\n mul.u32 r10, r10, r11\n xor.u32 "
                                "r10, r10, r11\n loop r13, @round%d\n"},
    {"barrier of a block of 256", " sts.u32 [shared + r4], r10\n bar.sync 0\n ; %d\n"},
};

static hg_binding *bind(hg_backend *b, size_t form, int copies, hg_buffer buffer) {
    char *text = NULL;
    size_t length = 0;
    hg_params *params = hg_params_create();
    FILE *out = open_memstream(&text, &length);
    if (!out || !params) die("memory");
    bool shared = strstr(FORMS[form].text, "shared") != NULL;
    fprintf(out,
            ".atlas 1\n.program form\n.param r1 x buffer u32 inout\n.param r11 seven u32\n.param "
            "r9 zero u64\n.block 256\n%s",
            shared ? ".shared 2048\n" : "");
    fprintf(out,
            " mov_imm.u64 r5, %d\n mov_imm.u32 r6, 2\n shl.u64 r0, r255, r6\n mov_imm.u64 r7, "
            "2654435761\n mul.u64 r2, r255, r7\n"
            " and.u64 r2, r2, r5\n mov_imm.u32 r6, 6\n shl.u64 r3, r255, r6\n and.u64 r3, r3, r5\n "
            "mov_imm.u32 r6, 2\n"
            " shl.u32 r4, r252, r6\n mov_imm.u64 r7, 1\n and.u64 r7, r7, r255\n mov_imm.u64 r8, "
            "0\n seteq.u64 p0, r7, r8\n"
            " setne.u64 p1, r9, r8\n cvt.u32.u64 r10, r255\n",
            ELEMENTS * 2 - 4);
    for (int i = 0; i < copies; i++) { fprintf(out, FORMS[form].text, i * 4, i * 4); }
    fprintf(out, " stg.u32 [r1 + r0], r10\n");
    fclose(out);
    hg_launch launch = hg_launch_linear(LANES);
    launch.block[0] = 256;
    launch.grid[0] = LANES / 256;
    uint32_t seven = 7;
    uint64_t zero = 0;
    OK(hg_params_set_buffer(params, "x", buffer));
    OK(hg_params_set_scalar(params, "seven", HG_TYPE_U32, &seven));
    OK(hg_params_set_scalar(params, "zero", HG_TYPE_U64, &zero));
    return bind_text(b, text, length, &launch, params);
}

static void measure(hg_backend *b, size_t form) {
    bench_samples many = {{0}, 0}, few = {{0}, 0};
    hg_buffer buffer;
    OK(hg_backend_allocate_buffer(b, (uint64_t)ELEMENTS * 4, &buffer));
    hg_binding *all = bind(b, form, COPIES, buffer), *half = bind(b, form, COPIES / 2, buffer);
    for (int i = 0; i < ROUNDS; i++) time_both(all, half, i, &many, &few);
    double times = strstr(FORMS[form].name, "round") ? 16 : 1,
           lanes = (double)LANES * COPIES / 2 * times;
    printf("%-40s %9.3f ns a lane   (by medians %.3f)\n", FORMS[form].name,
           (bench_low(&many) - bench_low(&few)) / lanes * 1e9,
           (bench_median(&many) - bench_median(&few)) / lanes * 1e9);
    fflush(stdout);
    hg_binding_destroy(all);
    hg_binding_destroy(half);
    OK(hg_backend_free_buffer(b, buffer));
}

int main(int argc, char **argv) {
    hg_config config;
    hg_backend *b = NULL;
    OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", argc > 1 ? argv[1] : "cpu");
    if (argc > 2) config.num_threads = (uint32_t)atoi(argv[2]);
    OK(hg_backend_create_with_config(&config, &b));
    printf("%d copies in a row over %d lanes on %s\n", (int)COPIES, (int)LANES, hg_backend_name(b));
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) measure(b, i);
    hg_backend_destroy(b);
    return 0;
}
