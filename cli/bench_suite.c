/* hologram bench --suite specification: the figures that the specification of Atlas names, in its
 * words, each with what was measured and whether it is met. What a figure is compared with, such as
 * the peak of the memory, is measured in the same run. */
#include "bench_suite.h"
#include "base/thread.h"
#include "base/thread_pool.h"
#include "device.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

enum { POOL = 36864, ROUNDS = 9, LARGE = 1 << 24, MOST_ARRAYS = 3 }; /* LARGE: f32 of an array */
static const uint64_t ROUND_NS = 20000000;

/* ---- work on a device ---- */

typedef struct work {
    const char *text;
    uint64_t n;                   /* value of the scalar `n` */
    uint64_t counts[MOST_ARRAYS]; /* f32 of the arrays a, b, c; 0: there is none */
} work;

#define WHOLE                                                                                   \
    ".atlas 1\n.program p\n.param a buffer f32 inout\n.param b buffer f32 in\n.param c buffer " \
    "f32 "                                                                                      \
    "inout\n.param n u64\n"
static const char ADD[] = WHOLE "    parallel_map_binary.f32 c, a, b, add, n\n";
static const char ADD_LANES[] = WHOLE
    ".lanes n\n.reg x, y f32\n    x = a[global]\n    y = b[global]\n"
    "    x += y\n    c[global] = x\n";
static const char RELU[] = WHOLE "    parallel_map.f32 c, a, relu, n\n";
static const char SUM[] = WHOLE "    parallel_reduce.f32 [c], a, sum, n\n";
static const char PRODUCT[] = WHOLE "    gemm.f32 c=c, a=a, b=b, m=n, n=n, k=n\n";
static const char CONV[] = WHOLE "    conv2d.f32 output=c, input=a, kernel=b, batch=1, "
                                 "in_channels=64, out_channels=64, height=n, "
                                 "width=n, kernel_h=3, kernel_w=3, stride=(1, 1), padding=(1, 1)\n";
/* One lane; each instruction needs the one before it. */
static const char CHAIN[] = WHOLE
    ".lanes 1\n.reg x, y, left u32\n    x = u32(n)\n    y = 2654435761\n    left = u32(n)\n"
    "again:\n    x *= y\n    y ^= x\n    x += y\n    y -= x\n    x *= y\n    y ^= x\n"
    "    left -= 1\n    bra.ne left, 0, @again\n    x ^= y\n    c[0] = f32(x)\n";
enum { CHAIN_ROUND = 8 }; /* instructions of a turn */
static const char POOLED[] = WHOLE
    ".param tmp pool 36864\n.lanes n\n.reg x f32\n.reg at u64\n    at = u64(global) * 4\n"
    "    pool.load.f32 x, tmp, at\n    x += 1.0\n    pool.store.f32 tmp, at, x\n";
/* Bound by arithmetic. */
static const char LONG[] = WHOLE ".lanes n\n.reg x, y f32\n.reg left u32\n    x = "
                                 "a[global]\n    y = b[global]\n    left = 256\n"
                                 "again:\n    x = fma(x, 0.5, y)\n    y = fma(y, 0.25, x)\n    "
                                 "left -= 1\n    bra.ne left, 0, @again\n"
                                 "    x += y\n    c[global] = x\n";
static const char STREAMED[] = WHOLE ".lanes n\n.reg x f32\n    x = a[global]\n    x = x * "
                                     "2.0 + 1.0\n    c[global] = x\n";

typedef struct bound {
    hg_backend *backend;
    hg_executable *executable;
    hg_binding *binding;
} bound;

static void let_go(bound *at) {
    hg_binding_destroy(at->binding);
    hg_executable_destroy(at->executable);
    hg_backend_destroy(at->backend);
    *at = (bound){0};
}

static hg_status fill(hg_backend *b, hg_buffer buffer, uint64_t count) {
    static float some[4096];
    for (size_t i = 0; i < HG_COUNT_OF(some); i++) some[i] = (float)(i % 17) * 0.125f - 1.0f;
    for (uint64_t i = 0; i < count; i += HG_COUNT_OF(some)) {
        uint64_t left = count - i, here = left < HG_COUNT_OF(some) ? left : HG_COUNT_OF(some);
        HG_TRY(hg_buffer_write(b, buffer, i * sizeof *some, some, here * sizeof *some));
    }
    return HG_OK;
}

static hg_status set_arrays(const work *w, hg_backend *b, hg_params *params) {
    static const char *const NAMES[MOST_ARRAYS] = {"a", "b", "c"};
    for (uint32_t i = 0; i < MOST_ARRAYS; i++) {
        uint64_t count = w->counts[i] ? w->counts[i] : 1;
        hg_buffer buffer;
        HG_TRY(hg_backend_allocate_buffer(b, count * sizeof(float), &buffer));
        HG_TRY(fill(b, buffer, count));
        HG_TRY(hg_params_set_buffer(params, NAMES[i], buffer));
    }
    return hg_params_set_scalar(params, "n", HG_TYPE_U64, &w->n);
}

/* jit: "off" or "on", from the first launch; threads 0: as the configuration says. */
static hg_status open_device(const char *backend, const char *jit, uint32_t threads,
                             hg_backend **b) {
    hg_config config;
    HG_TRY(hg_config_load(NULL, &config));
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    if (threads) config.num_threads = threads;
    return cli_device_open(&config, b);
}

static hg_status bind(const work *w, hg_params *params, bound *at) {
    hg_program *program = NULL;
    HG_TRY(hg_program_assemble(w->text, strlen(w->text), NULL, &program));
    hg_status status = hg_executable_create(at->backend, program, &at->executable);
    hg_program_release(program);
    if (status == HG_OK) status = hg_binding_create(at->executable, NULL, params, &at->binding);
    return status;
}

static hg_status begin(const work *w, const char *backend, const char *jit, uint32_t threads,
                       bound *at) {
    hg_params *params = hg_params_create();
    hg_status status = params ? open_device(backend, jit, threads, &at->backend) : hg_fail_memory();
    if (status == HG_OK) status = set_arrays(w, at->backend, params);
    if (status == HG_OK) status = bind(w, params, at);
    hg_params_destroy(params);
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of a launch: the median of rounds. */
static hg_status time_bound(const bound *at, double *ns) {
    double rounds[ROUNDS];
    uint64_t count = 1;
    for (int r = -2; r < ROUNDS; r++) { /* the first to get ready, the second to find a count */
        uint64_t start = hg_clock_ns(), took;
        for (uint64_t i = 0; i < count; i++) HG_TRY(cli_device_launch(at->backend, at->binding));
        took = hg_clock_ns() - start;
        if (r == -1) count = took ? ROUND_NS / took + 1 : ROUND_NS;
        if (r >= 0) rounds[r] = (double)took / (double)count;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_size);
    *ns = rounds[ROUNDS / 2];
    return HG_OK;
}

static hg_status time_work(const work *w, const char *backend, const char *jit, uint32_t threads,
                           double *ns) {
    bound at = {0};
    hg_status status = begin(w, backend, jit, threads, &at);
    if (status == HG_OK) status = time_bound(&at, ns);
    let_go(&at);
    return status;
}

/* ---- the memory's peak ---- */

typedef enum sweep_kind { READ, COPY, TRIAD } sweep_kind;
typedef struct sweep {
    sweep_kind kind;
    float *a;
    const float *b, *c;
    double sums[64];
} sweep;

/* Stores past the caches, where the processor has them: a line that is only written is not read. */
static void put(float *to, const float *from) {
#ifdef __SSE__
    _mm_stream_ps(to, _mm_loadu_ps(from));
#else
    memcpy(to, from, 4 * sizeof *to);
#endif
}

static void do_part(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    sweep *s = user;
    const float *b = s->b, *c = s->c;
    for (uint64_t i = begin; i < end && s->kind != READ; i += 4) {
        float made[4];
        for (uint64_t k = 0; k < 4; k++)
            made[k] = s->kind == COPY ? b[i + k] : b[i + k] + 3.0f * c[i + k];
        put(s->a + i, made);
    }
    if (s->kind != READ) return;
    float sum[16] = {0};
    for (uint64_t i = begin; i + 16 <= end; i += 16)
        for (int k = 0; k < 16; k++) sum[k] += b[i + (uint64_t)k];
    for (int k = 0; k < 16; k++) s->sums[worker % 64] += sum[k];
}

/* GB/s: the best of reading, copying, and a = b + 3c, over all processors. */
static hg_status find_peak(double *best) {
    hg_thread_pool *pool = hg_thread_pool_create(0);
    const size_t bytes = (size_t)LARGE * sizeof(float);
    float *a = hg_alloc_aligned(bytes, 64), *b = hg_alloc_aligned(bytes, 64),
          *c = hg_alloc_aligned(bytes, 64);
    hg_status status = pool && a && b && c ? HG_OK : hg_fail_memory();
    *best = 0;
    for (sweep_kind kind = READ; kind <= TRIAD && status == HG_OK; kind++) {
        sweep s = {.kind = kind, .a = a, .b = b, .c = c};
        if (kind == READ) memset(a, 0, bytes), memset(b, 0, bytes), memset(c, 0, bytes);
        for (int r = 0; r < ROUNDS; r++) {
            uint64_t start = hg_clock_ns(), took;
            hg_thread_pool_run(pool, LARGE, 1 << 20, do_part, &s);
            took = hg_clock_ns() - start;
            double rate = (double)bytes * ((double)kind + 1) / (double)(took ? took : 1);
            if (rate > *best) *best = rate;
        }
    }
    hg_free_aligned(a);
    hg_free_aligned(b);
    hg_free_aligned(c);
    hg_thread_pool_destroy(pool);
    return status;
}

/* ---- a stream through a pool ---- */

/* Nanoseconds for `bytes` through a pool of POOL bytes: half of it takes what comes, half what the
 * program makes. *right stays true where that is 2x + 1. */
static hg_status stream(uint64_t bytes, double *ns, bool *right) {
    enum { HALF = POOL / 2, COUNT = HALF / 4, WARM = 64 };
    static _Alignas(64) float pool[POOL / 4], source[16 * COUNT], result[COUNT];
    work w = {STREAMED, COUNT, {0}};
    bound at = {0};
    hg_buffer in, out;
    hg_params *params = hg_params_create();
    hg_status status = params ? open_device("cpu", "on", 0, &at.backend) : hg_fail_memory();
    for (uint32_t i = 0; i < HG_COUNT_OF(source); i++) source[i] = (float)(i % 1021) - 500.0f;
    if (status == HG_OK) status = hg_buffer_import(at.backend, pool, HALF, &in);
    if (status == HG_OK) status = hg_buffer_import(at.backend, pool + COUNT, HALF, &out);
    if (status == HG_OK) status = hg_params_set_buffer(params, "a", in);
    if (status == HG_OK) status = hg_params_set_buffer(params, "b", in);
    if (status == HG_OK) status = hg_params_set_buffer(params, "c", out);
    if (status == HG_OK) status = hg_params_set_scalar(params, "n", HG_TYPE_U64, &w.n);
    if (status == HG_OK) status = bind(&w, params, &at);
    for (int i = 0; i < WARM && status == HG_OK; i++)
        status = cli_device_launch(at.backend, at.binding); /* the first makes its code */
    uint64_t start = hg_clock_ns();
    for (uint64_t done = 0, k = 0; done < bytes && status == HG_OK; done += HALF, k++) {
        const float *from = source + k % 16 * COUNT;
        uint64_t probe = k * 7919 % COUNT;
        memcpy(pool, from, HALF);
        status = cli_device_launch(at.backend, at.binding);
        memcpy(result, pool + COUNT, HALF);
        *right = *right && result[probe] == from[probe] * 2.0f + 1.0f;
    }
    *ns = (double)(hg_clock_ns() - start);
    hg_params_destroy(params);
    let_go(&at);
    return status;
}

/* ---- rows ---- */

typedef enum verdict { NOT_RUN, MET, NOT_MET } verdict;
typedef struct answer {
    verdict verdict;
    double value; /* what is compared with the goal */
    char text[160];
} answer;

typedef struct row {
    const char *topic, *claim; /* the specification's words */
    hg_status (*measure)(const struct row *row, answer *answer);
    const char *backend;
    const work *work;
    double goal;
} row;

static void judge(answer *a, double value, bool met) {
    a->value = value;
    a->verdict = met ? MET : NOT_MET;
}

static hg_status bound_add(const row *r, answer *a) {
    double ns;
    HG_TRY(time_work(r->work, r->backend, "on", 1, &ns));
    judge(a, ns, ns <= r->goal);
    snprintf(a->text, sizeof a->text, "%.4g ns for a bound launch that adds 256 f32", ns);
    return HG_OK;
}

static hg_status interpreted_add(const row *r, answer *a) {
    double ns;
    HG_TRY(time_work(r->work, r->backend, "off", 1, &ns));
    judge(a, ns, ns <= r->goal);
    snprintf(a->text, sizeof a->text,
             "%.4g ns for a bound launch of 256 lanes that add, interpreted", ns);
    return HG_OK;
}

static hg_status instructions(const row *r, answer *a) {
    double slow, quick, each = (double)r->work->n * CHAIN_ROUND;
    HG_TRY(time_work(r->work, r->backend, "off", 1, &slow));
    HG_TRY(time_work(r->work, r->backend, "on", 1, &quick));
    judge(a, slow / each, slow / each <= r->goal);
    snprintf(a->text, sizeof a->text, "%.3g ns in one lane, interpreted; %.3g compiled",
             slow / each, quick / each);
    return HG_OK;
}

static hg_status pool_rate(const row *r, answer *a) {
    double ns, rate;
    HG_TRY(time_work(r->work, r->backend, "on", 1, &ns));
    rate = 2 * 4 * (double)r->work->n / ns;
    judge(a, rate, rate >= r->goal);
    snprintf(a->text, sizeof a->text, "%.4g GB/s loaded and stored by %llu lanes", rate,
             (unsigned long long)r->work->n);
    return HG_OK;
}

static const uint64_t MIB = 1 << 20;

static hg_status amplification(const row *r, answer *a) {
    double ns, ratio = (double)(100 * MIB) / POOL;
    bool right = true;
    HG_TRY(stream(100 * MIB, &ns, &right));
    judge(a, ratio, right && ratio >= r->goal);
    snprintf(a->text, sizeof a->text, "%.1fx: 100 MB went through a pool of %d bytes%s", ratio,
             POOL, right ? "" : ", with wrong results");
    return HG_OK;
}

static hg_status one_rate(const row *r, answer *a) {
    static const uint64_t SIZES[] = {1, 10, 100};
    double rates[HG_COUNT_OF(SIZES)], least = INFINITY, most = 0;
    bool right = true;
    for (size_t i = 0; i < HG_COUNT_OF(SIZES); i++) {
        double all[ROUNDS];
        int rounds = SIZES[i] == 100 ? 3 : ROUNDS;
        for (int k = 0; k < rounds; k++) HG_TRY(stream(SIZES[i] * MIB, &all[k], &right));
        qsort(all, (size_t)rounds, sizeof *all, by_size);
        rates[i] = (double)(SIZES[i] * MIB) / all[rounds / 2];
        least = fmin(least, rates[i]);
        most = fmax(most, rates[i]);
    }
    judge(a, most / least, right && most / least <= r->goal);
    snprintf(a->text, sizeof a->text,
             "%.3g, %.3g and %.3g GB/s for 1, 10 and 100 MB: within %.2fx%s", rates[0], rates[1],
             rates[2], most / least, right ? "" : ", with wrong results");
    return HG_OK;
}

static hg_status scaling(const row *r, answer *a) {
    hg_thread_pool *pool = hg_thread_pool_create(0);
    double one, all;
    if (!pool) return hg_fail_memory();
    uint32_t threads = hg_thread_pool_count(pool);
    hg_thread_pool_destroy(pool);
    HG_TRY(time_work(r->work, r->backend, "on", 1, &one));
    HG_TRY(time_work(r->work, r->backend, "on", threads, &all));
    judge(a, one / all, one / all >= r->goal * threads);
    snprintf(a->text, sizeof a->text, "%.2fx with %u threads", one / all, (unsigned)threads);
    if (threads == 1) a->verdict = NOT_RUN;
    return HG_OK;
}

static hg_status bandwidth(const row *r, answer *a) {
    double ns, peak, again, rate;
    HG_TRY(find_peak(&peak));
    HG_TRY(time_work(r->work, r->backend, "on", 0, &ns));
    HG_TRY(find_peak(&again)); /* others use the memory now more, now less */
    peak = fmax(peak, again);
    rate = 3 * 4 * (double)r->work->n / ns;
    judge(a, 100 * rate / peak, rate >= r->goal * peak);
    snprintf(a->text, sizeof a->text, "%.0f%%: add of %d MiB arrays at %.4g GB/s, peak %.4g GB/s",
             100 * rate / peak, (int)(r->work->n * 4 >> 20), rate, peak);
    return HG_OK;
}

static hg_status no_peak(const row *r, answer *a) {
    hg_backend *b = NULL;
    HG_TRY(open_device(r->backend, "on", 0, &b));
    hg_backend_destroy(b);
    snprintf(a->text, sizeof a->text, "the peak of a GPU's memory is not measured");
    return HG_OK;
}

static hg_status beside_cpu(const row *r, answer *a) {
    double there, here;
    HG_TRY(time_work(r->work, r->backend, "on", 0, &there));
    HG_TRY(time_work(r->work, "cpu", "on", 0, &here));
    judge(a, here / there, here / there >= r->goal);
    snprintf(a->text, sizeof a->text, "%.3gx this CPU: %.4g ms for %.4g", here / there, there / 1e6,
             here / 1e6);
    return HG_OK;
}

#define SQUARE (1024 * 1024)
#define IMAGE (64 * 128 * 128)
static const work SMALL_ADD = {ADD, 256, {256, 256, 256}},
                  LANES_ADD = {ADD_LANES, 256, {256, 256, 256}}, STEPS = {CHAIN, 20000, {1, 1, 1}},
                  IN_POOL = {POOLED, POOL / 4, {1, 1, 1}},
                  ARITHMETIC = {LONG, 1 << 18, {1 << 18, 1 << 18, 1 << 18}},
                  LARGE_ADD = {ADD, LARGE, {LARGE, LARGE, LARGE}},
                  LARGE_RELU = {RELU, LARGE, {LARGE, 1, LARGE}},
                  LARGE_SUM = {SUM, LARGE, {LARGE, 1, 1}},
                  LARGE_PRODUCT = {PRODUCT, 1024, {SQUARE, SQUARE, SQUARE}},
                  LARGE_CONV = {CONV, 128, {IMAGE, 64 * 64 * 9, IMAGE}};

#define BESIDE(operation, work, cuda, metal, webgpu)                                         \
    {operation, "CUDA (RTX 3090): " #cuda "x CPU", beside_cpu, "cuda", &work, cuda},         \
        {operation, "Metal (M2 Max): " #metal "x CPU", beside_cpu, "metal", &work, metal}, { \
        operation, "WebGPU (Chrome): " #webgpu "x CPU", beside_cpu, "webgpu", &work, webgpu  \
    }
static const row SPECIFICATION[] = {
    {"CPU (SIMD)", "~42ns/op (f32, <=262K elements)", bound_add, "cpu", &SMALL_ADD, 42},
    {"CPU (interpreted)", "~1000ns/op (fallback)", interpreted_add, "cpu", &LANES_ADD, 1000},
    {"CUDA", "~10ns/op (GPU kernel launch overhead)", bound_add, "cuda", &SMALL_ADD, 10},
    {"Metal", "~15ns/op (Apple GPU)", bound_add, "metal", &SMALL_ADD, 15},
    {"WebGPU", "~50ns/op (Browser GPU)", bound_add, "webgpu", &SMALL_ADD, 50},
    {"Memory Bandwidth, CPU", "> 80% peak (DDR4/DDR5)", bandwidth, "cpu", &LARGE_ADD, 0.8},
    {"Memory Bandwidth, CUDA", "> 90% peak (HBM2/HBM3)", no_peak, "cuda", NULL, 0},
    {"Memory Bandwidth, Metal", "> 85% peak (Unified memory)", no_peak, "metal", NULL, 0},
    {"Instruction Throughput", "~10 ns/instruction", instructions, "cpu", &STEPS, 10},
    {"Pool Load/Store", "~11 GB/s bandwidth", pool_rate, "cpu", &IN_POOL, 11},
    {"Memory Amplification", "2,844x (100 MB / 36 KB pool)", amplification, "cpu", NULL, 2844},
    {"Throughput", "Constant across all sizes (1 MB to 100 MB)", one_rate, "cpu", NULL, 1.2},
    {"Parallel Scaling", "Linear with core count", scaling, "cpu", &ARITHMETIC, 0.9},
    BESIDE("Matrix Mul (1024x1024)", LARGE_PRODUCT, 45, 12, 8),
    BESIDE("Element-wise Add", LARGE_ADD, 28, 15, 10),
    BESIDE("Reduce Sum", LARGE_SUM, 32, 14, 9),
    BESIDE("ReLU Activation", LARGE_RELU, 40, 16, 11),
    BESIDE("Conv2D", LARGE_CONV, 52, 18, 12),
};

/* ---- telling ---- */

static const char *const VERDICTS[] = {"not run", "met", "not met"};

static hg_status tell(cli *c, const row *r, const answer *a) {
    char line[400], number[40];
    if (c->json) {
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_text(&json, "topic", r->topic);
        hg_json_add_text(&json, "claim", r->claim);
        hg_json_add_text(&json, "verdict", VERDICTS[a->verdict]);
        hg_json_add_text(&json, "measured", a->text);
        if (a->verdict != NOT_RUN) {
            int length = snprintf(number, sizeof number, "%.6g", a->value);
            hg_json_key(&json, "value");
            hg_json_literal(&json, number, (size_t)length);
        }
        hg_json_end_object(&json);
        return HG_OK;
    }
    int length = snprintf(line, sizeof line, "%-24s %-43s %-8s %.150s\n", r->topic, r->claim,
                          VERDICTS[a->verdict], a->text);
    return cli_print_now(line, (size_t)length);
}

/* A device that does not open is one that is not here; on the CPU all rows run. */
static bool measure(cli *c, const row *r) {
    answer a = {.verdict = NOT_RUN};
    if (r->measure(r, &a) != HG_OK) {
        if (strcmp(r->backend, "cpu") == 0) {
            cli_last_error(c);
            return false;
        }
        a.verdict = NOT_RUN;
        snprintf(a.text, sizeof a.text, "%.150s", hg_last_error_text());
        char *more = strstr(a.text, " ("); /* `hologram devices` says what to install */
        if (more) *more = 0;
        a.text[strcspn(a.text, "\n")] = 0;
    }
    if (tell(c, r, &a) == HG_OK) return true;
    cli_last_error(c);
    return false;
}

void bench_suite(cli *c, const char *name) {
    if (strcmp(name, "specification") != 0) {
        cli_usage(c, "--suite expects specification, got '%s'", name);
        return;
    }
    for (size_t i = 0; i < HG_COUNT_OF(SPECIFICATION); i++)
        if (!measure(c, &SPECIFICATION[i])) return;
}
