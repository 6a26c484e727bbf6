/* The figures of docs/performance.md: each line is measured against a named peer in this same run.
 */
#include "bench.h"
#include "calls.h"
#include "isa/cfg.h"
#include "kir/kir.h"
#include "plan/plan.h"
#include "kir/pipeline/pipeline.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static void line(const char *what, const bench_samples *s, double per, const char *unit,
                 double goal, int at_most) {
    double value = bench_median(s) / per;
    printf("%-46s %9.3f %-18s (%.3f … %.3f)  goal %s %.3g %s\n", what, value, unit,
           bench_low(s) / per, bench_high(s) / per, at_most ? "<=" : ">=", goal,
           (at_most ? value <= goal : value >= goal) ? "met" : "NOT MET");
}

/* A figure without a goal. */
static void note(const char *what, const bench_samples *s, double per, const char *unit) {
    printf("%-46s %9.3f %-18s (%.3f … %.3f)\n", what, bench_median(s) / per, unit,
           bench_low(s) / per, bench_high(s) / per);
}

static void ratio(const char *what, const bench_samples *ours, const bench_samples *peer,
                  const char *peer_name, double goal) {
    printf("%-46s %9.3f x %-16s (%.3f … %.3f)  goal >= %.3g %s   [ours %.3f us, peer %.3f us]\n",
           what, bench_median(peer) / bench_median(ours), peer_name,
           bench_low(peer) / bench_high(ours), bench_high(peer) / bench_low(ours), goal,
           bench_median(peer) / bench_median(ours) >= goal ? "met" : "NOT MET",
           bench_median(ours) * 1e6, bench_median(peer) * 1e6);
}

static hg_program *assemble(const char *text) {
    hg_program *p;
    OK(hg_program_assemble(text, strlen(text), NULL, &p));
    return p;
}

static hg_binding *bind(hg_backend *b, const char *text, const char *const *names,
                        const hg_buffer *buffers, int count) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_executable *e;
    hg_binding *binding;
    for (int i = 0; i < count; i++) OK(hg_params_set_buffer(params, names[i], buffers[i]));
    OK(hg_executable_create(b, p, &e));
    OK(hg_binding_create(e, NULL, params, &binding));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    return binding;
}

static hg_buffer buffer(hg_backend *b, size_t n, const float *data) {
    hg_buffer h;
    OK(hg_backend_allocate_buffer(b, n * 4, &h));
    OK(hg_buffer_write(b, h, 0, data, n * 4));
    return h;
}

/* Large arrays in huge pages, as the library's and NumPy's are. */
static float *floats(size_t n) {
    size_t align = n * 4 >= 4 << 20 ? 2 << 20 : 64, bytes = (n * 4 + align - 1) / align * align;
    float *x = aligned_alloc(align, bytes);
    if (!x) die("aligned_alloc");
#if defined(MADV_HUGEPAGE)
    if (align > 64) (void)madvise(x, bytes, MADV_HUGEPAGE);
#endif
    for (size_t i = 0; i < n; i++) x[i] = 1.0f + (float)(i % 97) * 1e-3f;
    return x;
}

/* x = x*a + b in a loop of 8 multiply-adds, 1,000 rounds. */
static const char CHAIN[] =
    ".atlas 1\n.program chain\n.param r1 x buffer f32 inout [n]\n.param r2 a buffer f32 in "
    "[n]\n.param r3 b buffer "
    "f32 in [n]\n.param r4 n u64\n.lanes n\n"
    " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n ldg.f32 r10, [r1 + r0]\n ldg.f32 r11, [r2 + "
    "r0]\n ldg.f32 "
    "r12, [r3 + r0]\n loop r20, 1000\n"
    " mul.f32 r10, r10, r11\n add.f32 r10, r10, r12\n mul.f32 r10, r10, r11\n add.f32 r10, r10, "
    "r12\n mul.f32 r10, "
    "r10, r11\n add.f32 r10, r10, r12\n"
    " mul.f32 r10, r10, r11\n add.f32 r10, r10, r12\n endloop\n stg.f32 [r1 + r0], r10\n";

static void bench_chain(const char *level) {
    hg_config config = hg_config_default();
    hg_backend *b;
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    config.num_threads = 1;
    if (hg_backend_create_with_config(&config, &b) != HG_OK) {
        printf("f32 chain in L1, %s: not run: %s\n", level, hg_last_error_text());
        return;
    }
    enum { N = 256 };
    float *x = floats(N), *a = floats(N), *c = floats(N);
    for (int i = 0; i < N; i++) a[i] = 0.5f;
    hg_buffer buffers[3] = {buffer(b, N, x), buffer(b, N, a), buffer(b, N, c)};
    hg_binding *binding = bind(b, CHAIN, (const char *const[]){"x", "a", "b"}, buffers, 3);
    bench_samples ours = {.count = 0}, peer = {.count = 0};
    for (int i = 0; i < 31; i++) {
        double t = bench_cpu();
        OK(hg_binding_launch(binding));
        bench_add(&ours, bench_cpu() - t);
        t = bench_cpu();
        peer_chain(x, a, c, N, 4000);
        bench_add(&peer, bench_cpu() - t);
    }
    char what[64];
    snprintf(what, sizeof what, "f32 chain in L1, %s, ns a lane-instruction", level);
    if (strcmp(level, "baseline") == 0)
        note(what, &ours, 8000.0 * N * 1e-9, "ns");
    else
        line(what, &ours, 8000.0 * N * 1e-9, "ns", 0.1, 1);
    note("  peer: the same in plain C", &peer, 8000.0 * N * 1e-9, "ns");
    hg_binding_destroy(binding);
    hg_backend_destroy(b);
    free(x);
    free(a);
    free(c);
}

/* Each instruction needs the result of the one before: no compiler can leave one out, and none
 * takes less than a cycle. */
static void bench_one_lane(hg_backend *b) {
    char text[4096];
    int n = snprintf(text, sizeof text,
                     ".atlas 1\n.program one\n.param r1 x buffer u64 inout [1]\n ldg.u64 r10, "
                     "[buf(r1) + 0]\n mov_imm.u64 r11, 3\n loop r20, 100000\n");
    for (int i = 0; i < 16; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      " add.u64 r10, r10, r11\n xor.u64 r11, r11, r10\n");
    snprintf(text + n, sizeof text - (size_t)n, " endloop\n stg.u64 [buf(r1) + 0], r10\n");
    float zero[2] = {0, 0};
    hg_buffer x = buffer(b, 2, zero);
    hg_binding *binding = bind(b, text, (const char *const[]){"x"}, &x, 1);
    bench_samples s = {.count = 0};
    for (int i = 0; i < 9; i++) {
        double t = bench_cpu();
        OK(hg_binding_launch(binding));
        bench_add(&s, bench_cpu() - t);
    }
    line("one-lane program, ns an instruction", &s, 33e5 * 1e-9, "ns", 10, 1);
    hg_binding_destroy(binding);
}

/* A program of many blocks: guarded updates and loops, like a compiler's output. */
static char *long_program(int groups, int *instructions) {
    size_t size = (size_t)groups * 400 + 1000, n = 0;
    char *text = malloc(size);
    n += (size_t)snprintf(text + n, size - n,
                          ".atlas 1\n.program long\n.param r1 x buffer u32 inout [n]\n.param r4 n "
                          "u64\n.lanes n\n mov_imm.u32 r250, 2\n "
                          "shl.u64 r0, r255, r250\n ldg.u32 r10, [r1 + r0]\n mov_imm.u32 r11, 7\n");
    for (int i = 0; i < groups; i++)
        n += (size_t)snprintf(text + n, size - n,
                              " add.u32 r12, r10, r11\n mul.u32 r13, r12, r11\n setlt.u32 p1, r13, "
                              "r12\n bra.p1 @skip%d\n xor.u32 r10, "
                              "r10, r13\n sub.u32 r10, r10, r11\nskip%d:\n and.u32 r14, r10, r13\n "
                              "add.u32 r10, r14, r12\n",
                              i, i);
    snprintf(text + n, size - n, " stg.u32 [r1 + r0], r10\n");
    *instructions = groups * 8 + 5;
    return text;
}

static void bench_compile(void) {
    int instructions;
    char *text = long_program(2500, &instructions);
    hg_program *p = assemble(text);
    bench_samples verify = {.count = 0}, lower = {.count = 0}, assembled = {.count = 0};
    for (int i = 0; i < 9; i++) {
        double t = bench_cpu();
        OK(hg_program_verify(p, NULL));
        bench_add(&verify, bench_cpu() - t);
        t = bench_cpu();
        hg_cfg *cfg;
        kir_module *m;
        OK(hg_verify(p, NULL, NULL, &cfg));
        OK(kir_pipeline_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM,
                            KIR_STAGE_PROGRAM, NULL, &m));
        bench_add(&lower, bench_cpu() - t);
        kir_module_destroy(m);
        hg_cfg_destroy(cfg);
        t = bench_cpu();
        hg_program_release(assemble(text));
        bench_add(&assembled, bench_cpu() - t);
    }
    line("assemble, us an instruction", &assembled, instructions * 1e-6, "us", 2, 1);
    line("verify, us an instruction", &verify, instructions * 1e-6, "us", 0.3, 1);
    line("verify + lower, us an instruction", &lower, instructions * 1e-6, "us", 2, 1);
    hg_program_release(p);
    free(text);
}

static const char ADD[] = ".atlas 1\n.program add\n.param r1 a buffer f32 in [n]\n.param r2 b "
                          "buffer f32 in [n]\n.param r3 c buffer f32 "
                          "out [n]\n.param r4 n u64\n.lanes n\n"
                          " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n ldg.f32 r10, [r1 + "
                          "r0]\n ldg.f32 r11, [r2 + r0]\n add.f32 r12, "
                          "r10, r11\n stg.f32 [r3 + r0], r12\n";
static const char AXPY[] =
    ".atlas 1\n.program axpy\n.param r1 a buffer f32 in [n]\n.param r2 b buffer f32 in [n]\n.param "
    "r3 c buffer f32 "
    "out [n]\n.param r4 n u64\n.lanes n\n"
    " mov_imm.u32 r250, 2\n mov_imm.f32 r5, 2.0\n shl.u64 r0, r255, r250\n ldg.f32 r10, [r1 + r0]\n"
    " ldg.f32 r11, [r2 + r0]\n fma.f32 r12, r5, r10, r11\n stg.f32 [r3 + r0], r12\n";
static const char MAP[] = ".atlas 1\n.program map\n.param r1 a buffer f32 in [n]\n.param r2 b "
                          "buffer f32 in [n]\n.param r3 c buffer f32 "
                          "out [n]\n.param r4 n u64\n"
                          " parallel_map_binary.f32 r3, r1, r2, add, r4\n";
static const char SUM[] = ".atlas 1\n.program sum\n.param r1 a buffer f32 in [n]\n.param r3 c "
                          "buffer f32 out []\n.param r4 n u64\n "
                          "parallel_reduce.f32 r10, r1, sum, r4\n stg.f32 [buf(r3) + 0], r10\n";

/* NumPy in a process of its own, asked over a pipe. */
typedef struct numpy {
    FILE *in, *out;
} numpy;

static int numpy_start(numpy *p) {
    int to[2], from[2];
    if (pipe(to) || pipe(from)) return 0;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        execl("/usr/bin/python3", "python3", HG_BENCH_DIR "/numpy_peer.py", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    p->out = fdopen(to[1], "w");
    p->in = fdopen(from[0], "r");
    return pid > 0;
}

static double numpy_time(numpy *p, const char *work, size_t n, int wall) {
    double seconds = 0;
    fprintf(p->out, "%s %zu %s\n", work, n, wall ? "wall" : "cpu");
    fflush(p->out);
    return fscanf(p->in, "%lf", &seconds) == 1 ? seconds : 0;
}

static void bench_add_arrays(hg_backend *b, numpy *np, size_t n, const char *source,
                             const char *what, int small, int wall) {
    float *x = floats(n);
    hg_buffer buffers[3] = {buffer(b, n, x), buffer(b, n, x), buffer(b, n, x)};
    hg_binding *binding = bind(b, source, (const char *const[]){"a", "b", "c"}, buffers, 3);
    bench_samples ours = {.count = 0}, peer = {.count = 0};
    int inner = small ? 2000 : 1;
    OK(hg_binding_launch(binding));
    for (int i = 0; i < (small ? 31 : 9); i++) {
        double best = 1e9;
        for (int turn = 0; turn < (small ? 1 : 9); turn++) { /* the best of nine, as the NumPy side
                                                                does */
            double t = wall ? bench_now() : bench_cpu();
            for (int k = 0; k < inner; k++) OK(hg_binding_launch(binding));
            t = ((wall ? bench_now() : bench_cpu()) - t) / inner;
            if (t < best) best = t;
        }
        bench_add(&ours, best);
        if (!np || (small && i % 4))
            continue; /* it takes the best of nine rounds each time it is asked */
        double theirs = numpy_time(np, source == AXPY ? "axpy" : "add", n, wall);
        if (theirs > 0) bench_add(&peer, theirs);
    }
    if (small) {
        char name[64];
        line(what, &ours, 1e-9, "ns", 42, 1);
        snprintf(name, sizeof name, "  %s",
                 source == MAP ? "map, the least of all rounds" : "lanes, the least of all rounds");
        printf("%-46s %9.3f ns                                      goal <= 25 %s\n", name,
               ours.value[0] * 1e9, ours.value[0] <= 25e-9 ? "met" : "NOT MET");
        snprintf(name, sizeof name, "  %s",
                 source == MAP ? "map beside NumPy" : "lanes beside NumPy");
        if (peer.count) ratio(name, &ours, &peer, "np.add(out=)", 6);
    } else if (peer.count)
        ratio(what, &ours, &peer, source == AXPY ? "np.multiply, add" : "np.add(out=)", 1.0);
    else
        printf("%s: peer not run: NumPy is not installed; ours %.3f ms\n", what,
               bench_median(&ours) * 1e3);
    hg_binding_destroy(binding);
    for (int i = 0; i < 3; i++) OK(hg_backend_free_buffer(b, buffers[i]));
    free(x);
}

/* The same program executed again and again with the same values, without a binding of the caller.
 */
static void bench_executed(hg_backend *b) {
    enum { N = 256, INNER = 2000 };
    float *x = floats(N);
    hg_buffer buffers[3] = {buffer(b, N, x), buffer(b, N, x), buffer(b, N, x)};
    hg_program *p = assemble(ADD);
    hg_params *params = hg_params_create();
    bench_samples s = {.count = 0};
    for (int i = 0; i < 3; i++)
        OK(hg_params_set_buffer(params, (const char *const[]){"a", "b", "c"}[i], buffers[i]));
    for (int i = 0; i < 31; i++) {
        double t = bench_cpu();
        for (int k = 0; k < INNER; k++)
            OK(hg_backend_execute_program_with_params(b, p, NULL, params));
        bench_add(&s, (bench_cpu() - t) / INNER);
    }
    line("executed 256-element f32 add, lanes, ns", &s, 1e-9, "ns", 120, 1);
    hg_params_destroy(params);
    hg_program_release(p);
    for (int i = 0; i < 3; i++) OK(hg_backend_free_buffer(b, buffers[i]));
    free(x);
}

static void bench_sum(hg_backend *b) {
    size_t n = 16u << 20;
    float *x = floats(n), zero = 0;
    hg_buffer buffers[2] = {buffer(b, n, x), buffer(b, 1, &zero)};
    hg_binding *binding = bind(b, SUM, (const char *const[]){"a", "c"}, buffers, 2);
    bench_samples ours = {.count = 0}, peer = {.count = 0};
    for (int i = 0; i < 15; i++) {
        double t = bench_cpu();
        OK(hg_binding_launch(binding));
        bench_add(&ours, bench_cpu() - t);
        t = bench_cpu();
        sink = peer_read(x, n);
        bench_add(&peer, bench_cpu() - t);
    }
    ratio("sum of 16 M f32, one thread", &ours, &peer, "plain C read", 0.9);
    hg_binding_destroy(binding);
    for (int i = 0; i < 2; i++) OK(hg_backend_free_buffer(b, buffers[i]));
    free(x);
}

static void bench_copy(hg_backend *b) {
    static _Alignas(4096) uint8_t from[1 << 20], to[1 << 20]; /* pages, as the pools have: the same
                                                                 kinds of addresses for both */
    memset(from, 1, sizeof from); /* else all of it is the one zero page, and the peer reads from
                                     the first-level cache */
    memset(to, 1, sizeof to);
    for (size_t size = 4096; size <= sizeof from; size *= 16) {
        hg_pool pool;
        bench_samples in = {.count = 0}, out = {.count = 0}, peer = {.count = 0};
        OK(hg_backend_allocate_pool(b, size, &pool));
        int inner = (int)((64u << 20) / size);
        for (int i = 0; i < 15; i++) {
            double t = bench_cpu();
            for (int k = 0; k < inner; k++) OK(hg_backend_copy_to_pool(b, pool, 0, from, size));
            bench_add(&in, (bench_cpu() - t) / inner);
            t = bench_cpu();
            for (int k = 0; k < inner; k++) OK(hg_backend_copy_from_pool(b, pool, 0, to, size));
            bench_add(&out, (bench_cpu() - t) / inner);
            t = bench_cpu();
            for (int k = 0; k < inner; k++) {
                memcpy(to, from, size);
                __asm__ volatile("" ::: "memory");
            }
            bench_add(&peer, (bench_cpu() - t) / inner);
        }
        char what[64];
        snprintf(what, sizeof what, "copy_to_pool, %zu bytes", size);
        ratio(what, &in, &peer, "memcpy", 0.95);
        snprintf(what, sizeof what, "copy_from_pool, %zu bytes", size);
        ratio(what, &out, &peer, "memcpy", 0.95);
        OK(hg_backend_free_pool(b, pool));
    }
}

static void bench_command(const char *build) {
    char command[1024], file[] = "/tmp/hologram_bench_XXXXXX";
    int fd = mkstemp(file);
    if (fd < 0 || write(fd, SUM, sizeof SUM - 1) < 0) return;
    close(fd);
    snprintf(command, sizeof command, "%s/hologram", build);
    bench_samples s = {.count = 0};
    for (int i = 0; i < 31; i++) {
        double t = bench_now();
        pid_t pid = fork();
        if (pid == 0) {
            if (!freopen("/dev/null", "w", stdout)) _exit(126);
            execl(command, "hologram", "run", file, "--set", "a=1,2,3", (char *)NULL);
            _exit(127);
        }
        int status;
        if (waitpid(pid, &status, 0) < 0 || status != 0) printf("hologram run: failed\n");
        bench_add(&s, bench_now() - t);
    }
    line("hologram run of a small program, ms", &s, 1e-3, "ms", 10, 1);
    unlink(file);
}

static void library_size(const char *build) {
    char command[2048];
    snprintf(command, sizeof command,
             "cp -L %s/libhologram.so /tmp/hologram_bench.so && strip /tmp/hologram_bench.so",
             build);
    struct stat st;
    if (system(command) != 0 || stat("/tmp/hologram_bench.so", &st) != 0) return;
    printf("%-46s %9.3f MB                                      goal <= 4 %s\n",
           "core library, stripped", (double)st.st_size * 1e-6,
           st.st_size <= 4000000 ? "met" : "NOT MET");
    unlink("/tmp/hologram_bench.so");
}

int main(int argc, char **argv) {
    hg_config config = hg_config_default();
    hg_backend *one, *all;
    numpy np;
    setvbuf(stdout, NULL, _IOLBF, 0); /* nothing is pending when a child is forked */
    int has_numpy = numpy_start(&np);
    config.num_threads = 1;
    OK(hg_backend_create_with_config(&config, &one));
    config.num_threads = 0;
    OK(hg_backend_create_with_config(&config, &all));
    static const char *const levels[] = {"baseline", "v3", "v4"};
    for (int i = 0; i < 3; i++) bench_chain(levels[i]);
    bench_one_lane(one);
    bench_compile();
    bench_add_arrays(one, has_numpy ? &np : NULL, 256, ADD, "bound 256-element f32 add, lanes, ns",
                     1, 0);
    bench_add_arrays(one, has_numpy ? &np : NULL, 256, MAP, "bound 256-element f32 add, map, ns", 1,
                     0);
    bench_executed(one);
    bench_add_arrays(one, has_numpy ? &np : NULL, 16u << 20, ADD,
                     "add of 16 M f32, lanes, one thread", 0, 0);
    bench_add_arrays(one, has_numpy ? &np : NULL, 16u << 20, MAP,
                     "add of 16 M f32, map, one thread", 0, 0);
    bench_add_arrays(one, has_numpy ? &np : NULL, 16u << 20, AXPY,
                     "axpy of 16 M f32, lanes, one thread", 0, 0);
    bench_add_arrays(all, has_numpy ? &np : NULL, 16u << 20, ADD,
                     "add of 16 M f32, lanes, all threads", 0, 1);
    bench_sum(one);
    bench_copy(one);
    if (argc > 1) {
        bench_command(argv[1]);
        library_size(argv[1]);
    }
    hg_backend_destroy(one);
    hg_backend_destroy(all);
    return 0;
}
