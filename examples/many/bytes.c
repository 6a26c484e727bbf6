/* How often each byte value is in a file, and the sum of its bytes, on several ranks: each reads
 * its part in pieces, so that a rank needs 64 MiB for a file of any size. */
#include "ranks.h"

enum { PIECE = 8 << 20 };

static const char TEXT[] = ".atlas 1\n"
                           ".program bytes\n"
                           ".param x buffer u8 in\n"
                           ".param bins buffer u64 inout [256]\n"
                           ".param n u64\n"
                           ".lanes n\n"
                           "    let before = atom.add(bins[u64(x[global])], 1)\n";
/* The ranks' bins, together: the sum follows from them. */
static const char TOGETHER[] = ".atlas 1\n"
                               ".program together\n"
                               ".param bins buffer u64 inout [256]\n"
                               "all_reduce.u64 buffer=bins, n=256, operation=sum\n";

static void count_piece(rank *r, hg_program *program, hg_buffer x, hg_buffer bins, uint64_t n) {
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(n);
    TRY(hg_params_set_buffer(params, "x", x));
    TRY(hg_params_set_buffer(params, "bins", bins));
    TRY(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    TRY(hg_backend_execute_program_with_params(r->device, program, &launch, params));
    hg_params_destroy(params);
}

static void count_part(rank *r, hg_buffer bins) {
    hg_program *program = assemble(TEXT);
    hg_buffer x = buffer_of(r->device, PIECE);
    uint8_t *piece = malloc(PIECE);
    FILE *file = fopen(r->argument, "rb");
    if (!piece || !file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "bytes: cannot read %s\n", r->argument);
        exit(1);
    }
    uint64_t size = (uint64_t)ftell(file), ranks = hg_comm_size(r->comm),
             part = (size + ranks - 1) / ranks, at = hg_comm_rank(r->comm) * part,
             end = at + part < size ? at + part : size;
    fseek(file, (long)at, SEEK_SET);
    while (at < end) {
        size_t n = fread(piece, 1, end - at < PIECE ? (size_t)(end - at) : PIECE, file);
        if (!n) {
            fprintf(stderr, "bytes: cannot read %s\n", r->argument);
            exit(1);
        }
        TRY(hg_buffer_write(r->device, x, 0, piece, n));
        count_piece(r, program, x, bins, n);
        at += n;
    }
    fclose(file);
    free(piece);
    hg_program_release(program);
}

static void run(rank *r) {
    uint64_t counts[256], bytes = 0, sum = 0;
    hg_buffer bins = buffer_of(r->device, sizeof counts);
    hg_program *together = assemble(TOGETHER);
    hg_params *params = hg_params_create();
    count_part(r, bins);
    TRY(hg_context_set_comm(r->device, NULL, r->comm));
    TRY(hg_params_set_buffer(params, "bins", bins));
    TRY(hg_backend_execute_program_with_params(r->device, together, NULL, params));
    TRY(hg_buffer_read(r->device, bins, 0, counts, sizeof counts));
    hg_params_destroy(params);
    hg_program_release(together);
    if (hg_comm_rank(r->comm)) return;
    for (uint64_t i = 0; i < 256; i++) {
        bytes += counts[i];
        sum += i * counts[i];
    }
    printf("%llu bytes, sum %llu, %llu zeros, %llu of 255\n", (unsigned long long)bytes,
           (unsigned long long)sum, (unsigned long long)counts[0], (unsigned long long)counts[255]);
}

/* A file whose bytes have no pattern. */
static int make(const char *path, uint64_t mib) {
    static uint64_t words[1 << 17];
    uint64_t state = 1;
    FILE *file = fopen(path, "wb");
    if (!file) return 1;
    for (uint64_t i = 0; i < mib; i++) {
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            words[k] = state;
        }
        if (fwrite(words, sizeof words, 1, file) != 1) return 1;
    }
    return fclose(file) != 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        return make(argv[2], strtoull(argv[3], NULL, 10));
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "bytes FILE [RANKS]\nbytes make FILE MIB\n");
        return 2;
    }
    run_ranks(argc == 3 ? (uint32_t)atoi(argv[2]) : 1, UINT64_C(64) << 20, argv[1], run);
    return 0;
}
