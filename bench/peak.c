/* What the machine can do at most, in the run that measures works: fused multiply-adds of
 * registers, bytes copied, bytes of memory read and written. One thread or two, seconds a run. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

#if defined __AVX512F__
enum { BYTES = 64, CHAINS = 24 };
#elif defined __AVX2__
enum { BYTES = 32, CHAINS = 12 };
#else
enum { BYTES = 16, CHAINS = 12 };
#endif
typedef float vf __attribute__((vector_size(BYTES)));
typedef double vd __attribute__((vector_size(BYTES)));

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct part {
    uint64_t turns;
    const char *from;
    char *to;
    uint64_t bytes;
    double sum;
} part;
typedef void function(part *p);

/* Chains that do not wait for each other; the compiler keeps them in registers (-ffp-contract=fast
 * makes one instruction of each). */
static void chains_f32(part *p) {
    vf s[CHAINS], a, b;
    for (int i = 0; i < CHAINS; i++) s[i] = (vf){0} + (float)i;
    a = (vf){0} + 0.999f, b = (vf){0} + 0.001f;
    __asm__("" : "+x"(a), "+x"(b));
    for (uint64_t t = 0; t < p->turns; t++)
#pragma GCC unroll 24
        for (int i = 0; i < CHAINS; i++) s[i] = s[i] * a + b;
    for (int i = 1; i < CHAINS; i++) s[0] += s[i];
    p->sum = s[0][0];
}

static void chains_f64(part *p) {
    vd s[CHAINS], a, b;
    for (int i = 0; i < CHAINS; i++) s[i] = (vd){0} + (double)i;
    a = (vd){0} + 0.999, b = (vd){0} + 0.001;
    __asm__("" : "+x"(a), "+x"(b));
    for (uint64_t t = 0; t < p->turns; t++)
#pragma GCC unroll 24
        for (int i = 0; i < CHAINS; i++) s[i] = s[i] * a + b;
    for (int i = 1; i < CHAINS; i++) s[0] += s[i];
    p->sum = s[0][0];
}

static void copy(part *p) { memcpy(p->to, p->from, p->bytes); }

/* Eight sums, so that no addition waits for the last one. */
static void read_all(part *p) {
    vf s[8] = {{0}};
    for (uint64_t i = 0; i + 8 * BYTES <= p->bytes; i += 8 * BYTES)
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) s[k] += *(const vf *)(p->from + i + (uint64_t)k * BYTES);
    for (int k = 1; k < 8; k++) s[0] += s[k];
    p->sum = s[0][0];
}

/* The first half of what is read, and the second, into a third past the caches where there is a
 * store of that kind. */
static void triad(part *p) {
    uint64_t half = p->bytes / 2 / BYTES * BYTES;
    for (uint64_t i = 0; i < half; i += BYTES) {
        vf v = *(const vf *)(p->from + i) * 3.0f + *(const vf *)(p->from + half + i);
#if defined __x86_64__ && defined __AVX512F__
        _mm512_stream_ps((float *)(void *)(p->to + i), (__m512)v);
#elif defined __x86_64__ && defined __AVX2__
        _mm256_stream_ps((float *)(void *)(p->to + i), (__m256)v);
#else
        *(vf *)(p->to + i) = v;
#endif
    }
}

typedef struct thread_work {
    function *f;
    part p;
    int runs;
} thread_work;

static void *go(void *user) {
    thread_work *w = user;
    for (int r = 0; r < w->runs; r++) w->f(&w->p);
    return NULL;
}

static double on(int threads, function *f, part a, part b, int runs) {
    thread_work w[2] = {{f, a, runs}, {f, b, runs}};
    pthread_t other;
    double start = now();
    int two = threads > 1 && pthread_create(&other, NULL, go, &w[1]) == 0;
    go(&w[0]);
    if (two) pthread_join(other, NULL);
    return (now() - start) / runs;
}

/* So many operations (a multiply-add is two) by that many threads. */
double peak_fma(int f64, double operations, int threads, int runs) {
    double each = 2.0 * CHAINS * BYTES / (f64 ? 8 : 4);
    part p = {.turns = (uint64_t)(operations / each / threads) + 1};
    return on(threads, f64 ? chains_f64 : chains_f32, p, p, runs);
}

double peak_copy(const char *from, char *to, uint64_t bytes, int threads, int runs) {
    uint64_t half = threads > 1 ? bytes / 2 : bytes;
    return on(threads, copy, (part){.from = from, .to = to, .bytes = half},
              (part){.from = from + half, .to = to + half, .bytes = bytes - half}, runs);
}

/* Bytes a second of memory, the best of a read, a copy and a triad, each of `bytes`, which both
 * arrays have; they begin at a multiple of 64. */
double peak_memory(const char *from, char *to, uint64_t bytes, int threads, int runs) {
    static const struct {
        function *f;
        double times; /* as many bytes are moved as are given */
    } ways[] = {{read_all, 1}, {copy, 2}, {triad, 1.5}};
    uint64_t half = threads > 1 ? bytes / 2 / 1024 * 1024 : bytes;
    double best = 0;
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int r = 0; r < runs; r++) {
            part a = {.from = from, .to = to, .bytes = half};
            part b = {.from = from + half, .to = to + half, .bytes = half};
            double seconds = on(threads, ways[i].f, a, b, 1);
            double rate = ways[i].times * (double)(threads > 1 ? 2 * half : half) / seconds;
            if (rate > best) best = rate;
        }
    return best;
}
