/* `bench_stream FILE [MIB] [RANKS] [cold]`: the sum of a file's 64-bit numbers on ranks, each a
 * thread with a device of one thread and 64 MiB of memory, in turns with what is read alone: the
 * same pieces by as many threads, of which nothing is calculated. FILE is made where it is not
 * there or has another size (10,240 MiB, if nothing else is said), and is the caller's to remove.
 * cold: the system forgets what it has of the file before each run, so that the disk is read. */
#include "../bench.h"
#include <fcntl.h>
#include <hologram/hologram.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 19, MIB = 1 << 20, MOST_RANKS = 64, ROUNDS = 7 };

static const char TEXT[] = ".atlas 1\n.program total\n.param x buffer u64 in [n]\n"
                           ".param sum buffer u64 out [1]\n.param n u64\n"
                           "    parallel_reduce.u64 [sum], [x], sum, n\n";

typedef struct part {
    const char *path;
    uint64_t from, end; /* bytes */
    hg_comm *comm;      /* NULL: it is only read */
    hg_backend *device;
    hg_binding *binding;
    uint8_t *piece;      /* that the device sees */
    const uint64_t *sum; /* of a piece */
    uint64_t total;      /* of all ranks */
} part;

static void check(hg_status status) {
    if (status == HG_OK) return;
    fprintf(stderr, "%s\n", hg_last_error_text());
    exit(1);
}

static void stop(const char *what, const char *path) {
    fprintf(stderr, "bench_stream: cannot %s %s\n", what, path);
    exit(1);
}

static void *host_memory(hg_backend *device, hg_buffer buffer) {
    hg_native_buffer native = {.size = sizeof native};
    check(hg_buffer_native(device, buffer, &native));
    return (void *)(uintptr_t)native.memory;
}

static void open_rank(part *p, hg_backend *device, const hg_program *program) {
    hg_params *params = hg_params_create();
    hg_executable *executable;
    hg_buffer x, sum;
    uint64_t n = PIECE / 8;
    p->device = device;
    check(hg_backend_allocate_buffer(device, PIECE, &x));
    check(hg_backend_allocate_buffer(device, 8, &sum));
    check(hg_params_set_buffer(params, "x", x));
    check(hg_params_set_buffer(params, "sum", sum));
    check(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    check(hg_executable_create(device, program, &executable));
    check(hg_binding_create(executable, NULL, params, &p->binding));
    p->piece = host_memory(device, x);
    p->sum = host_memory(device, sum);
    hg_executable_destroy(executable);
    hg_params_destroy(params);
}

static void *run_part(void *user) {
    part *p = user;
    int file = open(p->path, O_RDONLY);
    uint8_t *piece = p->comm ? p->piece : malloc(PIECE);
    uint64_t total = 0;
    if (file < 0 || !piece) stop("read", p->path);
    for (uint64_t at = p->from; at < p->end; at += PIECE) {
        for (uint64_t have = 0, n; have < PIECE; have += n) {
            ssize_t got = pread(file, piece + have, PIECE - have, (off_t)(at + have));
            if (got <= 0) stop("read", p->path);
            n = (uint64_t)got;
        }
        if (!p->comm) continue;
        check(hg_binding_launch(p->binding));
        total += *p->sum;
    }
    close(file);
    p->total = total;
    if (!p->comm) {
        free(piece);
        return NULL;
    }
    hg_comm_call all = {.size = sizeof all,
                        .kind = HG_COMM_ALL_REDUCE,
                        .type = HG_TYPE_U64,
                        .count = 1,
                        .input = &total,
                        .output = &p->total};
    check(hg_comm_run(p->comm, &all));
    return NULL;
}

static double run_parts(part *parts, uint32_t count, bool cold) {
    pthread_t threads[MOST_RANKS];
    int file = open(parts->path, O_RDONLY);
    if (file < 0) stop("read", parts->path);
    if (cold) (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
    double start = bench_now();
    for (uint32_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run_part, &parts[i])) abort();
    for (uint32_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return bench_now() - start;
}

/* Numbers without a pattern, and their sum. */
static uint64_t make(const char *path, uint64_t pieces) {
    static uint64_t words[PIECE / 8];
    struct stat is;
    uint64_t state = 1, sum = 0;
    bool there = stat(path, &is) == 0 && (uint64_t)is.st_size == pieces * PIECE;
    FILE *file = there ? NULL : fopen(path, "wb");
    if (!there && !file) stop("write", path);
    for (uint64_t i = 0; i < pieces; i++) {
        for (size_t k = 0; k < PIECE / 8; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            words[k] = state;
            sum += state;
        }
        if (file && fwrite(words, sizeof words, 1, file) != 1) stop("write", path);
    }
    if (file && (fflush(file) || fsync(fileno(file)) || fclose(file))) stop("write", path);
    return sum;
}

int main(int argc, char **argv) {
    uint64_t mib = argc > 2 ? strtoull(argv[2], NULL, 10) : 10240;
    uint32_t ranks = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 2;
    bool cold = argc > 4 && strcmp(argv[4], "cold") == 0;
    if (argc < 2 || !ranks || ranks > MOST_RANKS || mib < ranks) {
        fprintf(stderr, "bench_stream FILE [MIB] [RANKS] [cold]\n");
        return 2;
    }
    part parts[2][MOST_RANKS] = {{{0}}};
    hg_backend *devices[MOST_RANKS];
    hg_comm *comms[MOST_RANKS];
    bench_samples samples[2] = {{{0}, 0}, {{0}, 0}};
    hg_program *program = NULL;
    hg_config config = hg_config_default();
    struct rusage usage;
    uint64_t sum = make(argv[1], mib * (MIB / PIECE));
    memcpy(config.backend, "cpu", sizeof "cpu");
    config.num_threads = 1;
    config.max_memory = UINT64_C(64) << 20;
    check(hg_program_assemble(TEXT, strlen(TEXT), NULL, &program));
    for (uint32_t i = 0; i < ranks; i++) check(hg_backend_create_with_config(&config, &devices[i]));
    check(hg_comm_create_local(devices, ranks, comms));
    for (uint32_t i = 0; i < ranks; i++) {
        for (int way = 0; way < 2; way++)
            parts[way][i] = (part){
                .path = argv[1], .from = mib * i / ranks * MIB, .end = mib * (i + 1) / ranks * MIB};
        parts[1][i].comm = comms[i];
        open_rank(&parts[1][i], devices[i], program);
    }
    for (int round = -1; round < ROUNDS; round++) /* one to warm up */
        for (int way = 0; way < 2; way++) {
            double seconds = run_parts(parts[way], ranks, cold);
            if (round >= 0) bench_add(&samples[way], seconds);
        }
    double bytes = (double)(mib * MIB) * 1e-9, alone = bytes / bench_median(&samples[0]),
           summed = bytes / bench_median(&samples[1]);
    if (getrusage(RUSAGE_SELF, &usage)) return 1;
    printf("%.1f GB on %u ranks: read %.2f GB/s, read and summed %.2f (%.2f - %.2f): %.2f of it; "
           "%ld MB resident at most; the sum is %s\n",
           bytes, (unsigned)ranks, alone, summed, bytes / bench_high(&samples[1]),
           bytes / bench_low(&samples[1]), summed / alone, usage.ru_maxrss / 1000,
           parts[1][0].total == sum ? "right" : "wrong");
    for (uint32_t i = 0; i < ranks; i++) {
        hg_binding_destroy(parts[1][i].binding);
        hg_comm_destroy(comms[i]);
        hg_backend_destroy(devices[i]);
    }
    hg_program_release(program);
    return parts[1][0].total != sum;
}
