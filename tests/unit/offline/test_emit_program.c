/* hg_program_emit: every target there is, options, mistakes, memory that runs out. What the texts
 * say: tests/golden, tests/unit/emit. */
#include "base/base.h"
#include "support/failing_allocator.h"
#include "support/runtime_support.h"
#include <hologram/emit.h>

static const char SCALED_SUM[] = PROGRAM(
    ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r5 alpha f32\n.param "
    "r4 n u64\n"
    ".lanes n\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n ldg.f32 r10, [r1 + r0]\n"
    " ldg.f32 r11, [r2 + r0]\n fma.f32 r12, r5, r10, r11\n stg.f32 [r2 + r0], r12\n");
/* Two kernels, and that of a whole-array step between them. */
static const char SUM[] = PROGRAM(
    ".param r1 x buffer i32 inout [n]\n.param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n"
    " shl.u64 r0, r255, r250\n ldg.i32 r10, [r1 + r0]\n stg.i32 [r1 + r0], r10\n"
    " parallel_reduce.i32 r11, r1, sum, r4\n stg.i32 [r1 + r0], r11\n");

static void test_targets(const hg_program *p) {
    static const struct {
        const char *name, *part;
    } texts[] = {{"kir", "module p"},
                 {"c", "#include"},
                 {"opencl", "__kernel void"},
                 {"spirv-asm", "OpEntryPoint GLCompute"}};
    const hg_emit_target *t;
    size_t found = 0;
    for (size_t i = 0; (t = hg_emit_target_get(i)) != NULL; i++) {
        char *out = NULL;
        size_t length = 0;
        CHECK(t->size == sizeof *t && t->name[0] && t->suffix[0] && t->about[0]);
        hg_status status = hg_program_emit(p, t->name, NULL, &out, &length);
        if (status == HG_ERROR_BACKEND_UNAVAILABLE && strcmp(t->name, "ptx") == 0) {
            CHECK(strstr(hg_last_error()->message, "NVRTC") && !out);
            SKIP(hg_last_error()->message);
            continue;
        }
        if (strcmp(t->name, "stablehlo") == 0) { /* shapes are part of the text */
            CHECK_STATUS(status, HG_ERROR_INVALID_ARGUMENT);
            CHECK(strstr(hg_last_error()->message, "extent n is no number") && !out);
            continue;
        }
        CHECK_OK(status);
        CHECK(out && length > 0 && out[length] == 0 && (t->binary || strlen(out) == length));
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (strcmp(t->name, texts[k].name) == 0) {
                found++;
                CHECK_MESSAGE(out && strstr(out, texts[k].part), "%s", t->name);
            }
        if (strcmp(t->name, "spirv") == 0) {
            uint32_t magic = 0;
            found++;
            memcpy(&magic, out, sizeof magic);
            CHECK(t->binary && length % 4 == 0 && magic == 0x07230203);
        }
        hg_string_free(out);
        out = NULL;
        CHECK_OK(hg_program_emit(p, t->name, NULL, &out, NULL)); /* the length is optional */
        hg_string_free(out);
    }
    CHECK_U64(found, 5);
    CHECK(hg_emit_target_get(SIZE_MAX) == NULL);
}

static char *emitted(const hg_program *p, const char *target, const hg_emit_options *o) {
    char *out = NULL;
    CHECK_OK(hg_program_emit(p, target, o, &out, NULL));
    return out;
}

/* The output with options is another one, and has, or has not, a part. */
static void check_changes(const hg_program *p, const char *target, const hg_emit_options *o,
                          const char *part, bool has) {
    char *plain = emitted(p, target, NULL), *out = emitted(p, target, o);
    CHECK(plain && out && strcmp(plain, out) != 0);
    CHECK_MESSAGE(out && (strstr(out, part) != NULL) == has, "%s: '%s'", target, part);
    hg_string_free(plain);
    hg_string_free(out);
}

static void test_options(const hg_program *p, const hg_program *sum) {
    hg_emit_options o = {.size = sizeof o};
    char *plain = emitted(p, "opencl", NULL), *same = emitted(p, "opencl", &o);
    CHECK(plain && same && strcmp(plain, same) == 0); /* zero is the default */
    hg_string_free(plain);
    hg_string_free(same);
    o.group[0] = 32;
    o.group[1] = o.group[2] = 1;
    check_changes(p, "spirv-asm", &o, "LocalSize 32 1 1", true);
    o = (hg_emit_options){.size = sizeof o, .caps = "poor"};
    check_changes(p, "opencl", &o, "cl_khr_fp64", false);
    o = (hg_emit_options){.size = sizeof o, .proven = true};
    check_changes(p, "opencl", &o, "limit", false);
    o = (hg_emit_options){.size = sizeof o, .form = HG_EMIT_FORM_FLAT};
    check_changes(p, "kir", &o, " field ", true); /* in device form */
    o = (hg_emit_options){.size = sizeof o, .no_addresses = true};
    check_changes(p, "spirv-asm", &o, "PhysicalStorageBuffer64", false);
    o = (hg_emit_options){.size = sizeof o, .one_kernel = true, .kernel = 1};
    check_changes(sum, "opencl", &o, "__kernel void p_0", false);
    check_changes(sum, "c", &o, "void p_0(", false); /* of lanes too */
    check_changes(sum, "wat", &o, "\"p_0\"", false);
    char *one = emitted(sum, "spirv", &o);
    hg_string_free(one);
}

static void test_mistakes(const hg_program *p, const hg_program *sum) {
    hg_emit_options o = {.size = sizeof o};
    char *out = NULL;
    CHECK_FAILS(hg_program_emit(NULL, "kir", NULL, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "program is NULL");
    CHECK_FAILS(hg_program_emit(p, NULL, NULL, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "target is NULL");
    CHECK_FAILS(hg_program_emit(p, "kir", NULL, NULL, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "output is NULL");
    CHECK_STATUS(hg_program_emit(p, "cobol", NULL, &out, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(hg_last_error()->message, "target: expected kir, c, vector, opencl") &&
          strstr(hg_last_error()->message, "got 'cobol'"));
    o.size--;
    CHECK_STATUS(hg_program_emit(p, "kir", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT);
    o = (hg_emit_options){.size = sizeof o, .caps = "abacus"};
    CHECK_STATUS(hg_program_emit(p, "opencl", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(hg_last_error()->message, "caps: expected one of cpu, ") != NULL);
    o.caps = "pocl";
    CHECK_FAILS(hg_program_emit(p, "c", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "caps, form, group and fold are for devices, not for target c");
    CHECK_FAILS(hg_program_emit(sum, "kir", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "caps with target kir: the program has whole-array steps; form shows its kernels");
    o = (hg_emit_options){.size = sizeof o, .group = {8, 0, 1}};
    CHECK_FAILS(hg_program_emit(p, "opencl", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "group: no extent can be 0");
    o = (hg_emit_options){.size = sizeof o, .form = (hg_emit_form)3};
    CHECK_FAILS(hg_program_emit(p, "opencl", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "form: 3 is none");
    o = (hg_emit_options){.size = sizeof o, .fold = 2000};
    CHECK_FAILS(hg_program_emit(p, "opencl", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "fold: at most 1024 lanes");
    o = (hg_emit_options){.size = sizeof o, .one_kernel = true, .kernel = 3};
    CHECK_FAILS(hg_program_emit(p, "opencl", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "kernel 3: the program has 1 kernels, from 0");
    CHECK_FAILS(hg_program_emit(sum, "wasm", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "kernel 3: the program has 2 kernels, from 0");
    CHECK_FAILS(hg_program_emit(sum, "kir", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "kernel with target kir: it shows the program as a whole; form shows its kernels");
    CHECK_FAILS(hg_program_emit(sum, "stablehlo", &o, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "kernel with target stablehlo: it shows the program as a whole");
    CHECK_FAILS(
        hg_program_emit(sum, "spirv", NULL, &out, NULL), HG_ERROR_INVALID_ARGUMENT, "",
        "the program has 3 kernels, a module holds one: choose it with kernel 0 \xE2\x80\xA6 2");
    hg_program *wrong = assemble(PROGRAM(" add.u32 r1, r2, r3\n"));
    CHECK_STATUS(hg_program_emit(wrong, "kir", NULL, &out, NULL), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "V01");
    hg_program_release(wrong);
    CHECK(out == NULL);
}

/* Allocations fail from the n-th on, for each n. */
static failing_allocator memory;

/* What a module says that it needs is as many bytes as its data has. */
static void check_needs(const char *wat) {
    const char *says = strstr(wat, "at __memory_base: "), *data = strstr(wat, "(data ");
    unsigned long needs = 0, bytes = 0;
    if (says) needs = strtoul(says + strlen("at __memory_base: "), NULL, 10);
    for (const char *at = data; at && *at; at++) bytes += *at == '\\';
    CHECK_U64(needs, bytes);
}

/* A single allocation fails: nothing comes out, or what is complete. */
static void test_little_memory(const hg_program *p) {
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    memory.only_once = true;
    bool reached = true;
    for (uint64_t n = 0; reached; n++) {
        char *out = NULL;
        allow_allocations(&memory, n);
        status = hg_program_emit(p, "wat", NULL, &out, NULL);
        reached = memory.allocations > n;
        if (status == HG_OK)
            check_needs(out);
        else
            CHECK_STATUS(status, HG_ERROR_OUT_OF_MEMORY);
        hg_string_free(out);
    }
    CHECK_OK(status);
    memory.only_once = false;
    allow_allocations(&memory, UINT64_MAX);
}

static void test_no_memory(void) {
    static const char *const targets[] = {"kir", "c", "opencl", "spirv-asm", "wat"};
    const hg_allocator failing = {sizeof failing, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&failing));
    allow_allocations(&memory, UINT64_MAX);
    hg_program *p = assemble(SCALED_SUM);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        hg_status status = HG_ERROR_OUT_OF_MEMORY;
        uint64_t live = memory.live;
        for (uint64_t n = 0; status != HG_OK && n < 100000; n += n / 16 + 1) {
            char *out = NULL;
            allow_allocations(&memory, n);
            status = hg_program_emit(p, targets[t], NULL, &out, NULL);
            allow_allocations(&memory, UINT64_MAX);
            if (status != HG_OK) CHECK(status == HG_ERROR_OUT_OF_MEMORY && out == NULL);
            hg_string_free(out);
            CHECK_U64(memory.live, live);
        }
        CHECK_OK(status);
    }
    test_little_memory(p);
    hg_program_release(p);
    CHECK_OK(hg_set_allocator(NULL));
}

/* More locals than hosts compile: said, not written. */
static void test_large(void) {
    enum { LINES = 7000 };
    char *out = NULL;
    hg_text text = {0};
    hg_text_addf(&text, ".atlas 1\n.program large\n.param x buffer f64 inout [n]\n.param n u64\n"
                        ".lanes n\n    let v = x[global]\n");
    for (int i = 0; i < LINES; i++) hg_text_addf(&text, "    v = v * v + %d.0\n", i);
    hg_text_addf(&text, "    x[global] = v\n");
    hg_program *p = assemble(text.data);
    CHECK_STATUS(hg_program_emit(p, "wasm", NULL, &out, NULL), HG_ERROR_ISA);
    CHECK(!out && strstr(hg_last_error()->message, " locals, at most 50000 are compiled"));
    hg_program_release(p);
    hg_text_free(&text);
}

/* A scaled index is clamped so that its product is exact; where the launch was checked it is not.
 */
static void test_clamp(void) {
    hg_program *p = assemble(PROGRAM(".param r1 x buffer f32 in [m]\n.param r2 k buffer u64 in "
                                     "[n]\n.param r3 y buffer f32 out [n]\n.param r4 n u64\n"
                                     ".param r5 m u64\n.lanes n\n ldg.u64 r6, [r2 + r255*8]\n "
                                     "ldg.f32 r7, [r1 + r6*4]\n stg.f32 [r3 + r255*4], r7\n"));
    hg_emit_options proven = {.size = sizeof proven, .proven = true};
    check_changes(p, "opencl", &proven, "0x3fffffffffffffff", false);
    char *plain = emitted(p, "opencl", NULL);
    CHECK(plain && strstr(plain, "0x3fffffffffffffff"));
    hg_string_free(plain);
    hg_program_release(p);
}

/* Shared memory that is only read: folded lanes wait for its zeros, at a barrier between their
 * loops and not in a function of one lane. */
static void test_folded_zeros(void) {
    hg_program *p = assemble(
        PROGRAM(".param r1 y buffer u32 inout [n]\n.param r4 n u64\n.shared 1024\n.lanes n\n "
                "mov_imm.u32 r5, 4\n"
                " shl.u32 r5, r252, r5\n lds.u32 r6, [shared + r5]\n stg.u32 [r1 + r255*4], r6\n"));
    char *out = emitted(
        p, "opencl",
        &(hg_emit_options){.size = sizeof(hg_emit_options), .fold = 8, .group = {8, 1, 1}});
    const char *kernel = out ? strstr(out, "__kernel void") : NULL,
               *barrier = out ? strstr(out, "barrier(CLK") : NULL;
    CHECK(kernel && barrier && barrier > kernel);
    hg_string_free(out);
    hg_program_release(p);
}

/* A compiler of WGSL sees that all lanes come to both barriers, though the function reads how many
 * there were. */
static void test_folded_calls(void) {
    hg_program *p = assemble(PROGRAM(".param r2 y buffer u8 inout\n bar.sync 0\n bar.sync 1\n"
                                     " call @f\nf:\n mov_imm.u32 r21, 3\nL:\n loop r21, @L\n"));
    char *out = emitted(p, "wgsl",
                        &(hg_emit_options){.size = sizeof(hg_emit_options),
                                           .caps = "webgpu",
                                           .form = HG_EMIT_FORM_BLOCK,
                                           .fold = 2,
                                           .group = {32, 1, 1}});
    CHECK(out && strstr(out, "barrier 1"));
    hg_string_free(out);
    hg_program_release(p);
}

/* Variables that a function only reads go to it as values: a pointer that only some lanes hand over
 * would let compilers of WGSL think that these have others behind the call. */
static void test_values_of_functions(void) {
    hg_program *p = assemble(PROGRAM(".param r1 x buffer u8 in [2688]\n.shared 304\n"
                                     " mov_imm.u64 r13, 75\n call @f\n mov_imm.u32 r25, 1\nL:\n"
                                     " bar.sync 4\n loop r25, @L\nf:\n"
                                     " axis.u64 r15, r13, [buf(r1) + 0], 255\n"));
    char *out = emitted(p, "wgsl",
                        &(hg_emit_options){.size = sizeof(hg_emit_options),
                                           .caps = "webgpu",
                                           .form = HG_EMIT_FORM_BLOCK});
    CHECK(out && strstr(out, "fn fn_1(") && strstr(out, "workgroupBarrier"));
    CHECK(out && strstr(out, ": ptr<function, bool>") && !strstr(out, ": ptr<function, u32>"));
    hg_string_free(out);
    hg_program_release(p);
}

/* A barrier orders storage where lanes may meet in it from both sides, and nothing else. */
static void test_barriers_of_storage(void) {
    static const struct {
        const char *body;
        bool ordered;
    } CASES[] = {
        {" ldg.u32 r2, [r1 + r0]\n sts.u32 [shared + r0], r2\n bar.sync 0\n"
         " lds.u32 r2, [shared + r0]\n stg.u32 [r3 + r0], r2\n exit\n",
         false},
        {" stg.u32 [r3 + r0], r0\n bar.sync 0\n ldg.u32 r2, [r3 + r0]\n"
         " stg.u32 [r1 + r0], r2\n exit\n",
         true},
        {" ldg.u32 r2, [r3 + r0]\n bar.sync 0\n stg.u32 [r3 + r0], r2\n exit\n", true},
        {" stg.u32 [r3 + r0], r0\n bar.sync 0\n stg.u32 [r3 + r0], r9\n exit\n", true},
        {" ldg.u32 r2, [r3 + r0]\n bar.sync 0\n ldg.u32 r2, [r3 + r2]\n sts.u32 [shared + r0], "
         "r2\n exit\n",
         false},
        {" mov_imm.u32 r25, 3\nL:\n bar.sync 0\n stg.u32 [r3 + r0], r25\n loop r25, @L\n exit\n",
         true},
        {" mov_imm.u32 r25, 3\nL:\n bar.sync 0\n loop r25, @L\n stg.u32 [r3 + r0], r25\n exit\n",
         false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 PROGRAM(".param r1 x buffer u32 inout\n"
                         ".param r3 y buffer u32 inout\n.shared 256\n"
                         " rdid r0, lane_idx_x\n mov_imm.u32 r9, 1\n%s"),
                 CASES[i].body);
        hg_program *p = assemble(text);
        char *out = emitted(p, "wgsl",
                            &(hg_emit_options){.size = sizeof(hg_emit_options),
                                               .caps = "wgpu",
                                               .form = HG_EMIT_FORM_BLOCK,
                                               .proven = true,
                                               .whole_blocks = true});
        CHECK(out && strstr(out, "Barrier(); // barrier 0"));
        CHECK((out && strstr(out, "storageBarrier")) == CASES[i].ordered);
        hg_string_free(out);
        hg_program_release(p);
    }
}

int main(void) {
    test_no_memory(); /* first: the hooks are to be set before anything else */
    hg_program *p = assemble(SCALED_SUM), *sum = assemble(SUM);
    test_targets(p);
    test_options(p, sum);
    test_mistakes(p, sum);
    test_large();
    test_clamp();
    test_folded_zeros();
    test_folded_calls();
    test_values_of_functions();
    test_barriers_of_storage();
    hg_program_release(p);
    hg_program_release(sum);
    return test_done();
}
