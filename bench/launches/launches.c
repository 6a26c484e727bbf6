/* What a launch costs beside the work it starts: a bound launch over the device's own call, ten
 * whole-array steps in a row over ten dispatches recorded by hand (on CUDA a graph), small launches
 * from two threads over one, two queues against one, two long launches at a time against one after
 * the other. bench/launches/run [BUILD] */
#define CL_TARGET_OPENCL_VERSION 120
#include "../bench.h"
#include "../calls.h"
#include "../devices/peer.h"
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan_core.h>

static hg_backend *backend;

/* ---- programs ---- */

typedef struct argument {
    const char *name;
    hg_buffer buffer; /* type 0 */
    hg_type type;
    uint64_t bits;
} argument;

static hg_binding *bind(const char *text, const argument *arguments) {
    hg_program *p;
    hg_params *params = hg_params_create();
    hg_executable *e;
    hg_binding *binding;
    OK(hg_program_assemble(text, strlen(text), NULL, &p));
    for (; arguments->name; arguments++)
        OK(arguments->type
               ? hg_params_set_scalar(params, arguments->name, arguments->type, &arguments->bits)
               : hg_params_set_buffer(params, arguments->name, arguments->buffer));
    OK(hg_executable_create(backend, p, &e));
    OK(hg_binding_create(e, NULL, params, &binding));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    return binding;
}

static hg_buffer floats(uint64_t count, const float *data) {
    hg_buffer b;
    OK(hg_backend_allocate_buffer(backend, count * 4, &b));
    if (data) OK(hg_backend_copy_to_buffer(backend, b, data, count * 4));
    return b;
}

static float *some_floats(size_t n) {
    float *x = malloc(n * 4);
    for (size_t i = 0; x && i < n; i++) x[i] = (float)(i % 1021) * 0.125f - 50.0f;
    if (!x) exit(1);
    return x;
}

static const char SAXPY[] =
    ".atlas 1\n.program p\n.param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param "
    "r3 a f32\n.param r4 n u64\n"
    ".block 256\n.lanes n\nmov_imm.u32 r250, 2\nshl.u64 r0, r255, r250\nldg.f32 r10, [r1 + r0]\n"
    "ldg.f32 r11, [r2 + r0]\nmul.f32 r12, r3, r10\nadd.f32 r12, r12, r11\nstg.f32 [r2 + r0], "
    "r12\nexit\n";
static const char ADD[] =
    ".atlas 1\n.program p\n.param r1 x buffer f32 in\n.param r2 y buffer f32 in\n.param r3 z "
    "buffer f32 out\n.block 256\n.lanes 256\n"
    "mov_imm.u32 r250, 2\nshl.u64 r0, r255, r250\nldg.f32 r10, [r1 + r0]\nldg.f32 r11, [r2 + r0]\n"
    "add.f32 r12, r10, r11\nstg.f32 [r3 + r0], r12\nexit\n";
static const char NEGATE[] =
    ".atlas 1\n.program p\n.param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n.param "
    "r4 n u64\n.block 256\n.lanes n\nmov_imm.u32 r250, 2\nshl.u64 r0, r255, r250\n"
    "ldg.f32 r10, [r1 + r0]\nneg.f32 r10, r10\nstg.f32 [r2 + r0], r10\nexit\n";
#define TO_Y "parallel_map.f32 r2, r1, neg, r4\n"
#define TO_X "parallel_map.f32 r1, r2, neg, r4\n"
static const char TEN_STEPS[] =
    ".atlas 1\n.program p\n.param r1 x buffer f32 inout [n]\n.param r2 y buffer f32 inout "
    "[n]\n.param r4 n u64\n" TO_Y TO_X TO_Y TO_X TO_Y TO_X TO_Y TO_X TO_Y TO_X "exit\n";
/* LANES lanes of one block, a loop of ROUNDS rounds each */
#define LONG_BLOCK(lanes)                                                                          \
    ".atlas 1\n.program p\n.param r1 x buffer f32 out\n.param r4 n u64\n.block " lanes             \
    "\n.lanes " lanes "\nmov_imm.u32 r250, 2\n"                                                    \
    "shl.u64 r0, r255, r250\nmov_imm.f32 r10, 0.5\nmov_imm.f32 r11, 0.75\nmov_imm.u64 r30, "       \
    "0\nmov_imm.u64 r31, 1\n"                                                                      \
    "again:\nmul.f32 r10, r10, r11\nadd.f32 r10, r10, r11\nadd.u64 r30, r30, r31\nsetltu.u64 p0, " \
    "r30, r4\nbra.p0 @again\n"                                                                     \
    "stg.f32 [r1 + r0], r10\nexit\n"

/* ---- counting submissions ---- */

/* Both drivers ask before each call of theirs (symbols.c of each). */
extern VkResult (*vk_before_call)(const char *call);
extern cl_int (*opencl_before_call)(const char *call);
static int submissions;
static VkResult count_vulkan(const char *call) {
    submissions += strcmp(call, "vkQueueSubmit") == 0;
    return VK_SUCCESS;
}
static cl_int count_opencl(const char *call) {
    submissions += strcmp(call, "clFlush") == 0; /* once a submission */
    return CL_SUCCESS;
}

static int count_submissions(hg_binding *binding) {
    submissions = 0;
    vk_before_call = count_vulkan;
    opencl_before_call = count_opencl;
    OK(hg_binding_launch(binding));
    vk_before_call = NULL;
    opencl_before_call = NULL;
    return submissions;
}

/* ---- a bound launch ---- */

static void prepare(peer *p, const peer_api *api, const peer_workload *w, const char *folder) {
    if (api->prepare(p, w, folder)) return;
    fprintf(stderr, "the peer's kernel %s did not build\n", w->name);
    exit(1);
}

enum { ROUNDS = 61, MANY = 100 };

static double median(double *x, int count) {
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && x[k - 1] > x[k]; k--) {
            double other = x[k];
            x[k] = x[k - 1];
            x[k - 1] = other;
        }
    return x[count / 2];
}

static void show_added(const char *what, const bench_samples *added, const bench_samples *ours,
                       const bench_samples *raw, double goal) {
    printf("%-46s %9.2f us added           (%.2f … %.2f)  ", what, bench_median(added) * 1e6,
           bench_low(added) * 1e6, bench_high(added) * 1e6);
    if (goal > 0)
        printf("goal <= %g %s  ", goal, bench_median(added) * 1e6 <= goal ? "met" : "NOT MET");
    printf("[ours %.2f, raw %.2f]\n", bench_median(ours) * 1e6, bench_median(raw) * 1e6);
}

/* In each round MANY launches of each side in turns; its value is the difference of their medians.
 * The kernel rounds nothing, so that it is the same on both sides. HOLOGRAM_BENCH_CONTROL launches
 * ours twice for each by hand: no goal may be met then. */
static void bound_launch(peer *p, const peer_api *api, const char *folder, double goal) {
    enum { N = 256 };
    const int turns = getenv("HOLOGRAM_BENCH_CONTROL") ? 2 : 1;
    float *x = some_floats(N);
    peer_workload w = {
        "negate", 2, 1, 1, 2, {N * 4, N * 4}, {x, x}, 1, {{{0, 1}, {N}, {1, 1}, {256, 1}}}};
    hg_buffer bx = floats(N, x), by = floats(N, x);
    argument arguments[] = {
        {"x", bx, 0, 0}, {"y", by, 0, 0}, {"n", {0}, HG_TYPE_U64, N}, {NULL, {0}, 0, 0}};
    static double wall[2][MANY], own[2][MANY];
    bench_samples sides[2][2] = {{{.count = 0}}}, added[2] = {{.count = 0}};
    prepare(p, api, &w, folder);
    hg_binding *binding = bind(NEGATE, arguments);
    for (int round = -3; round < ROUNDS; round++) {
        for (int i = 0; i < MANY; i++)
            for (int raw = 0; raw < 2; raw++) {
                double cpu = bench_cpu(), t = bench_now();
                for (int turn = 0; turn < (raw ? 1 : turns); turn++)
                    if (raw)
                        api->run(p);
                    else
                        OK(hg_binding_launch(binding));
                wall[raw][i] = bench_now() - t;
                own[raw][i] = bench_cpu() - cpu;
            }
        if (round < 0) continue;
        for (int raw = 0; raw < 2; raw++) {
            bench_add(&sides[0][raw], median(wall[raw], MANY));
            bench_add(&sides[1][raw], median(own[raw], MANY));
        }
        bench_add(&added[0], wall[0][MANY / 2] - wall[1][MANY / 2]);
        bench_add(&added[1], own[0][MANY / 2] - own[1][MANY / 2]);
    }
    show_added("bound launch, wall clock", &added[0], &sides[0][0], &sides[0][1], goal);
    show_added("bound launch, the caller's processor time", &added[1], &sides[1][0], &sides[1][1],
               0);
    printf("%-46s %9d\n", "bound launch, submissions", count_submissions(binding));
    hg_binding_destroy(binding);
    OK(hg_backend_free_buffer(backend, bx));
    OK(hg_backend_free_buffer(backend, by));
    api->release(p);
    free(x);
}

static const char MAP_ADD[] =
    ".atlas 1\n.program p\n.param r1 x buffer f32 in\n.param r2 y buffer f32 in\n.param r3 z "
    "buffer f32 out\n"
    "mov_imm.u64 r4, 256\nparallel_map_binary.f32 r3, r1, r2, add, r4\nexit\n";

static void bound_add(const char *what, const char *text) {
    enum { INNER = 2000 };
    float *x = some_floats(256);
    hg_buffer b[3] = {floats(256, x), floats(256, x), floats(256, NULL)};
    argument arguments[] = {
        {"x", b[0], 0, 0}, {"y", b[1], 0, 0}, {"z", b[2], 0, 0}, {NULL, {0}, 0, 0}};
    hg_binding *binding = bind(text, arguments);
    bench_samples s = {.count = 0};
    for (int round = 0; round < ROUNDS; round++) {
        double t = bench_cpu();
        for (int i = 0; i < INNER; i++) OK(hg_binding_launch(binding));
        bench_add(&s, (bench_cpu() - t) / INNER);
    }
    printf("%-46s %9.1f ns                 (%.1f … %.1f)  least %.1f\n", what,
           bench_median(&s) * 1e9, bench_low(&s) * 1e9, bench_high(&s) * 1e9, s.value[0] * 1e9);
    hg_binding_destroy(binding);
    for (int i = 0; i < 3; i++) OK(hg_backend_free_buffer(backend, b[i]));
    free(x);
}

/* ---- small launches from two threads ---- */

enum { LAUNCHES = 1000000 };

typedef struct launcher {
    hg_binding *binding;
    hg_context *context;
    double cpu; /* of one launch */
} launcher;

static void *launch_many(void *user) {
    launcher *l = user;
    double t = bench_cpu();
    for (int i = 0; i < LAUNCHES; i++) OK(hg_binding_launch_in(l->binding, l->context));
    l->cpu = (bench_cpu() - t) / LAUNCHES;
    return NULL;
}

static long resident_pages(void) {
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &all, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return resident;
}

/* A million launches of one thread, then of each of two, in turns. On a machine that others use,
 * processor time says what one thread costs the other, and the clock what was left for them. */
static void two_threads(const char *what, hg_context *const contexts[2], double goal) {
    float *x = some_floats(256);
    hg_buffer b[6];
    launcher l[2];
    bench_samples one = {.count = 0}, two = {.count = 0}, one_cpu = {.count = 0},
                  two_cpu = {.count = 0};
    long before = 0;
    for (int i = 0; i < 6; i++) b[i] = floats(256, x);
    for (int i = 0; i < 2; i++) {
        argument arguments[] = {{"x", b[3 * i], 0, 0},
                                {"y", b[3 * i + 1], 0, 0},
                                {"z", b[3 * i + 2], 0, 0},
                                {NULL, {0}, 0, 0}};
        l[i] = (launcher){bind(ADD, arguments), contexts[i], 0};
    }
    for (int round = -1; round < 31; round++) {
        pthread_t thread;
        if (round == 0) before = resident_pages();
        double t = bench_now();
        (void)launch_many(&l[0]);
        double alone = bench_now() - t, alone_cpu = l[0].cpu;
        t = bench_now();
        if (pthread_create(&thread, NULL, launch_many, &l[1])) exit(1);
        (void)launch_many(&l[0]);
        pthread_join(thread, NULL);
        if (round < 0) continue;
        bench_add(&one, alone);
        bench_add(&two, (bench_now() - t) / 2);
        bench_add(&one_cpu, alone_cpu);
        bench_add(&two_cpu, (l[0].cpu + l[1].cpu) / 2);
    }
    double by_clock = (bench_median(&one), one.value[0]) / (bench_median(&two), two.value[0]);
    double by_cpu = 2 * (bench_median(&one_cpu), one_cpu.value[0]) /
                    (bench_median(&two_cpu), two_cpu.value[0]);
    printf("%-46s %9.2f x one thread        by the clock %.2f", what, by_cpu, by_clock);
    if (goal > 0) printf("  goal >= %g %s", goal, by_cpu >= goal ? "met" : "NOT MET");
    printf("  [least of a launch: %.1f and %.1f ns; %ld pages more]\n", one_cpu.value[0] * 1e9,
           two_cpu.value[0] * 1e9, resident_pages() - before);
    for (int i = 0; i < 2; i++) hg_binding_destroy(l[i].binding);
    for (int i = 0; i < 6; i++) OK(hg_backend_free_buffer(backend, b[i]));
    free(x);
}

static void threads(void) {
    hg_context *own[2], *first;
    for (int i = 0; i < 2; i++) OK(hg_context_create(backend, &own[i]));
    two_threads("two threads, contexts of their own", own, 1.8);
    first = own[0];
    two_threads("two threads, one context", (hg_context *const[]){first, first}, 0);
    for (int i = 0; i < 2; i++) hg_context_destroy(own[i]);
}

/* ---- steps in a row ---- */

/* Processor time of all threads of the process: on a shared machine it says more than the clock,
 * where nothing should overlap. */
static double all_threads(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void show_work(const bench_samples *a, const bench_samples *b) {
    printf("%-46s %9.3f x                  (%.3f … %.3f)  [%.3f and %.3f ms]\n",
           "  processor time of all threads", bench_median(a) / bench_median(b),
           bench_low(a) / bench_high(b), bench_high(a) / bench_low(b), bench_median(a) * 1e3,
           bench_median(b) * 1e3);
}

static void show_ratio(const char *what, const bench_samples *a, const bench_samples *b,
                       double goal, const char *more) {
    double ratio = bench_median(a) / bench_median(b);
    printf("%-46s %9.3f x                  (%.3f … %.3f)  goal <= %g %s  [%.3f and %.3f ms, least "
           "%.3f and %.3f: %.3f x%s]\n",
           what, ratio, bench_low(a) / bench_high(b), bench_high(a) / bench_low(b), goal,
           ratio <= goal ? "met" : "NOT MET", bench_median(a) * 1e3, bench_median(b) * 1e3,
           a->value[0] * 1e3, b->value[0] * 1e3, a->value[0] / b->value[0], more);
}

static void ten_steps(peer *p, const peer_api *api, uint32_t n, const char *name,
                      const char *folder) {
    uint32_t group = strcmp(api->name, "vulkan") == 0 ? 1024 : 256;
    float *x = some_floats(n), *seen[2] = {malloc(n * sizeof(float)), malloc(n * sizeof(float))};
    peer_workload w = {
        "negate", 2, 1, 10, 2, {n * 4ull, n * 4ull}, {x, NULL}, 1, {{{0}, {0}, {0}, {0}}}};
    for (int i = 0; i < 10; i++)
        w.passes[i] = (peer_pass){
            {i % 2, 1 - i % 2}, {n}, {(n + group - 1) / group, 1}, {group, 1}};
    hg_buffer bx = floats(n, x), by = floats(n, NULL);
    argument arguments[] = {
        {"x", bx, 0, 0}, {"y", by, 0, 0}, {"n", {0}, HG_TYPE_U64, n}, {NULL, {0}, 0, 0}};
    bench_samples ours = {.count = 0}, raw = {.count = 0}, our_work = {.count = 0},
                  raw_work = {.count = 0}, added = {.count = 0};
    char more[64], what[64];
    if (!seen[0] || !seen[1]) exit(1);
    prepare(p, api, &w, folder);
    hg_binding *binding = bind(TEN_STEPS, arguments);
    for (int i = 0; i < 3; i++) {
        OK(hg_binding_launch(binding));
        api->run(p);
    }
    for (int round = 0; round < ROUNDS; round++) {
        double t = bench_now(), cpu = all_threads();
        OK(hg_binding_launch(binding));
        bench_add(&ours, bench_now() - t);
        bench_add(&our_work, all_threads() - cpu);
        t = bench_now(), cpu = all_threads();
        api->run(p);
        bench_add(&raw, bench_now() - t);
        bench_add(&raw_work, all_threads() - cpu);
        bench_add(&added, ours.value[ours.count - 1] - raw.value[raw.count - 1]);
    }
    OK(hg_backend_copy_from_buffer(backend, by, seen[0], n * 4ull));
    api->read(p, 1, seen[1], n * 4ull);
    if (memcmp(seen[0], seen[1], n * 4ull) != 0) printf("BITS DIFFER\n");
    snprintf(more, sizeof more, "; submissions %d", count_submissions(binding));
    snprintf(what, sizeof what, "ten steps in a row, %s f32", name);
    show_ratio(what, &ours, &raw, 1.2, more);
    if (api == &peer_cuda)
        show_added("the same over one launch of a graph by hand", &added, &ours, &raw, 2);
    show_work(&our_work, &raw_work);
    hg_binding_destroy(binding);
    OK(hg_backend_free_buffer(backend, bx));
    OK(hg_backend_free_buffer(backend, by));
    api->release(p);
    free(x);
    free(seen[0]);
    free(seen[1]);
}

/* ---- two queues ---- */

enum { CHUNKS = 8, CHUNK = 1 << 20 }; /* f32 */

static double chunks(hg_queue *const queues[2], int queue_count, hg_binding *const *bindings,
                     const hg_buffer *x, const hg_buffer *y, float *in, float *out) {
    double t = bench_now();
    for (int i = 0; i < CHUNKS; i++) {
        uint64_t bytes = CHUNK * 4ull;
        hg_command commands[3] = {
            {.size = sizeof(hg_command),
             .kind = HG_COMMAND_COPY_IN,
             .buffer = x[i],
             .length = bytes,
             .host = in + (size_t)i * CHUNK},
            {.size = sizeof(hg_command), .kind = HG_COMMAND_LAUNCH, .binding = bindings[i]},
            {.size = sizeof(hg_command),
             .kind = HG_COMMAND_COPY_OUT,
             .buffer = y[i],
             .length = bytes,
             .host = out + (size_t)i * CHUNK}};
        OK(hg_queue_submit(queues[i % queue_count], commands, 3, NULL, 0, NULL));
    }
    for (int q = 0; q < queue_count; q++) OK(hg_queue_synchronize(queues[q]));
    return bench_now() - t;
}

static void two_queues(double goal) {
    float *in = some_floats((size_t)CHUNKS * CHUNK), *out = some_floats((size_t)CHUNKS * CHUNK),
          a = 0.0f;
    hg_buffer x[CHUNKS], y[CHUNKS];
    hg_binding *bindings[CHUNKS];
    hg_queue *queues[2];
    uint32_t bits;
    bench_samples one = {.count = 0}, two = {.count = 0}, one_work = {.count = 0},
                  two_work = {.count = 0};
    memcpy(&bits, &a, 4);
    for (int i = 0; i < CHUNKS; i++) {
        x[i] = floats(CHUNK, NULL);
        y[i] = floats(CHUNK, NULL);
        argument arguments[] = {{"x", x[i], 0, 0},
                                {"y", y[i], 0, 0},
                                {"a", {0}, HG_TYPE_F32, bits},
                                {"n", {0}, HG_TYPE_U64, CHUNK},
                                {NULL, {0}, 0, 0}};
        bindings[i] = bind(SAXPY, arguments);
    }
    for (int q = 0; q < 2; q++) OK(hg_queue_create(backend, NULL, &queues[q]));
    for (int round = -1; round < 31; round++) {
        for (int count = 1; count <= 2; count++) {
            double cpu = all_threads(), t = chunks(queues, count, bindings, x, y, in, out);
            if (round < 0) continue;
            bench_add(count == 1 ? &one : &two, t);
            bench_add(count == 1 ? &one_work : &two_work, all_threads() - cpu);
        }
    }
    show_ratio("two queues over one, 8 chunks of 4 MB", &two, &one, goal, "");
    show_work(&two_work, &one_work);
    for (int q = 0; q < 2; q++) hg_queue_destroy(queues[q]);
    for (int i = 0; i < CHUNKS; i++) {
        hg_binding_destroy(bindings[i]);
        OK(hg_backend_free_buffer(backend, x[i]));
        OK(hg_backend_free_buffer(backend, y[i]));
    }
    free(in);
    free(out);
}

/* ---- two long launches ---- */

/* Of the least times: other work of the machine can only hide that two launches overlap. */
static void show_least(const char *what, const bench_samples *a, const bench_samples *b,
                       double goal) {
    double ratio = a->value[0] / b->value[0];
    printf("%-46s %9.3f x                  goal <= %g %s  [least %.3f and %.3f ms]\n", what, ratio,
           goal, ratio <= goal ? "met" : "NOT MET", a->value[0] * 1e3, b->value[0] * 1e3);
}

static void two_launches(const char *what, const char *text, uint64_t loop) {
    hg_binding *bindings[2];
    hg_buffer x[2];
    hg_queue *queues[2];
    hg_event *events[2];
    bench_samples apart = {.count = 0}, together = {.count = 0}, started = {.count = 0};
    char name[80];
    for (int i = 0; i < 2; i++) {
        x[i] = floats(256, NULL);
        argument arguments[] = {
            {"x", x[i], 0, 0}, {"n", {0}, HG_TYPE_U64, loop}, {NULL, {0}, 0, 0}};
        bindings[i] = bind(text, arguments);
        OK(hg_binding_launch(bindings[i]));
        OK(hg_queue_create(backend, NULL, &queues[i]));
    }
    for (int round = 0; round < 400; round++) { /* samples are the least of them: rounds in which
                                                   both cores were free */
        double t = bench_now();
        for (int i = 0; i < 2; i++) OK(hg_binding_launch(bindings[i]));
        bench_add(&apart, bench_now() - t);
        t = bench_now();
        for (int i = 0; i < 2; i++) {
            hg_command c = {
                .size = sizeof(hg_command), .kind = HG_COMMAND_LAUNCH, .binding = bindings[i]};
            OK(hg_queue_submit(queues[i], &c, 1, NULL, 0, NULL));
        }
        for (int i = 0; i < 2; i++) OK(hg_queue_synchronize(queues[i]));
        bench_add(&together, bench_now() - t);
        t = bench_now();
        for (int i = 0; i < 2; i++) OK(hg_binding_start(bindings[i], NULL, &events[i]));
        for (int i = 0; i < 2; i++) {
            OK(hg_event_wait(events[i]));
            hg_event_destroy(events[i]);
        }
        bench_add(&started, bench_now() - t);
    }
    snprintf(name, sizeof name, "two launches at a time, %s", what);
    show_least(name, &started, &apart, 0.6);
    snprintf(name, sizeof name, "the same on two queues, %s", what);
    show_least(name, &together, &apart, 0.6);
    for (int i = 0; i < 2; i++) {
        hg_queue_destroy(queues[i]);
        hg_binding_destroy(bindings[i]);
        OK(hg_backend_free_buffer(backend, x[i]));
    }
}

/* ---- all of it ---- */

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu", *only = argc > 2 ? argv[2] : "abcde";
    char reason[256] = "";
    hg_config config;
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", name);
    OK(hg_backend_create_with_config(&config, &backend));
    const peer_api *api = strcmp(name, "vulkan") == 0   ? &peer_vulkan
                          : strcmp(name, "opencl") == 0 ? &peer_opencl
                          : strcmp(name, "cuda") == 0   ? &peer_cuda
                          : strcmp(name, "webgpu") == 0 ? &peer_webgpu
                                                        : NULL;
    if (api) {
        peer *p = api->open(config.device_id, reason);
        if (!p) {
            fprintf(stderr, "peer: %s\n", reason);
            return 1;
        }
        if (strchr(only, 'a'))
            bound_launch(p, api, HG_BENCH_DIR "/launches",
                         api == &peer_opencl || api == &peer_webgpu ? 2 : 1);
        if (strchr(only, 'c')) ten_steps(p, api, 64 << 10, "64 K", HG_BENCH_DIR "/launches");
        if (strchr(only, 'c')) ten_steps(p, api, 1 << 20, "1 M", HG_BENCH_DIR "/launches");
        api->close(p);
    } else {
        if (strchr(only, 'b')) bound_add("bound 256-element f32 add, processor time", ADD);
        if (strchr(only, 'b')) bound_add("the same as a map", MAP_ADD);
        if (strchr(only, 'b')) threads();
        if (strchr(only, 'e')) two_launches("a block of 1 lane", LONG_BLOCK("1"), 80000);
        if (strchr(only, 'e')) two_launches("256 lanes", LONG_BLOCK("256"), 80000);
    }
    if (strchr(only, 'd')) two_queues(1);
    if (strcmp(name, "cpu") == 0 && strchr(only, 'b')) {
        hg_queue *q; /* a process that has had a second thread locks in another way */
        OK(hg_queue_create(backend, NULL, &q));
        hg_queue_destroy(q);
        bound_add("the same in a process of several threads", ADD);
    }
    hg_backend_destroy(backend);
    return 0;
}
