/* Atlas programs on a device against hand-written kernels on the raw API of the same device, in one
 * run, alternating. bench/devices/run [BUILD [BACKEND [DEVICE [PEER_DEVICE [WORKLOAD|all
 * [SIZE]]]]]]: SIZE is usual, large (arrays of 1 GiB, what cuda takes without one) or tiny (to see
 * that all of it works). */
#include "../bench.h"
#include "../calls.h"
#include "peer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the workloads ---- */

enum { TILE = 16 };
/* Elements of arrays, of the sum; sides of matrices and pictures; bodies. */
typedef struct sizes {
    const char *name;
    size_t many, sum;
    uint32_t side, image, bodies;
} sizes;
static const sizes SIZES[] = {{"usual", 4 << 20, 16 << 20, 2048, 1024, 4096},
                              {"large", 256 << 20, 256 << 20, 16384, 4096, 65536},
                              {"tiny", 1 << 14, 1 << 16, 64, 128, 256}};

/* How the Atlas program of a workload takes its arguments. */
typedef struct atlas_argument {
    const char *name;
    int buffer;    /* index of the workload's buffers; -1: a scalar */
    hg_type type;  /* of a scalar */
    uint64_t bits; /* its value */
} atlas_argument;
typedef struct workload {
    peer_workload peer;
    atlas_argument arguments[8];
    uint32_t grid[2], block[2]; /* 0: the program's own lanes */
    double bytes;               /* moved, for GB/s; 0: none shown */
} workload;

static uint32_t f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static float *floats(size_t n, float scale) {
    float *x = malloc(n * 4);
    uint32_t s = 12345;
    for (size_t i = 0; x && i < n; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = (float)(s >> 8) * 0x1p-24f * scale;
    }
    if (!x) exit(1);
    return x;
}

static uint32_t *words(size_t n) {
    uint32_t *x = malloc(n * 4), s = 99;
    for (size_t i = 0; x && i < n; i++) x[i] = (s = s * 1664525u + 1013904223u) >> 10;
    if (!x) exit(1);
    return x;
}

#define LINEAR(n) \
    {(uint32_t)((n) / 256), 1}, { 256, 1 }

static int make_workloads(workload *w, const float *x, const sizes *z) {
    const size_t MANY = z->many, SUM_N = z->sum;
    const uint32_t SIDE = z->side, IMAGE = z->image, BODIES = z->bodies;
    float a = 1.25f, b = -0.5f, step = 3.0f / (float)IMAGE, eps = 0.01f;
    int k = 0;
    w[k++] = (workload){{"saxpy",
                         2,
                         2,
                         1,
                         2,
                         {MANY * 4, MANY * 4},
                         {x, x + 7},
                         1,
                         {{{0, 1}, {f32(a), (uint32_t)MANY}, LINEAR(MANY)}}},
                        {{"x", 0, 0, 0},
                         {"y", 1, 0, 0},
                         {"a", -1, HG_TYPE_F32, f32(a)},
                         {"n", -1, HG_TYPE_U64, MANY}},
                        {0, 0},
                        {0, 0},
                        (double)MANY * 12};
    w[k++] = (workload){{"chain",
                         2,
                         3,
                         1,
                         2,
                         {MANY * 4, MANY * 4},
                         {x, NULL},
                         1,
                         {{{0, 1}, {f32(a), f32(b), (uint32_t)MANY}, LINEAR(MANY)}}},
                        {{"x", 0, 0, 0},
                         {"y", 1, 0, 0},
                         {"a", -1, HG_TYPE_F32, f32(a)},
                         {"b", -1, HG_TYPE_F32, f32(b)},
                         {"n", -1, HG_TYPE_U64, MANY}},
                        {0, 0},
                        {0, 0},
                        (double)MANY * 8};
    const uint32_t parts = (uint32_t)((SUM_N + 4095) / 4096), fewer = (parts + 4095) / 4096;
    w[k++] = (workload){{"sum",
                         4,
                         1,
                         3,
                         2,
                         {SUM_N * 4, parts * 4, 4, fewer * 4},
                         {x, NULL, NULL, NULL},
                         2,
                         {{{0, 1}, {(uint32_t)SUM_N}, {parts, 1}, {128, 1}},
                          {{1, fewer > 1 ? 3 : 2}, {parts}, {fewer, 1}, {128, 1}},
                          {{3, 2}, {fewer}, {1, 1}, {128, 1}}}},
                        {{"x", 0, 0, 0}, {"y", 2, 0, 0}, {"n", -1, HG_TYPE_U64, SUM_N}},
                        {0, 0},
                        {0, 0},
                        (double)SUM_N * 4};
    w[k - 1].peer.pass_count = fewer > 1 ? 3 : 2;
    w[k++] = (workload){{"transpose",
                         2,
                         1,
                         1,
                         2,
                         {(size_t)SIDE * SIDE * 4, (size_t)SIDE * SIDE * 4},
                         {x, NULL},
                         1,
                         {{{0, 1}, {SIDE}, {SIDE / TILE, SIDE / TILE}, {TILE, TILE}}}},
                        {{"x", 0, 0, 0}, {"y", 1, 0, 0}, {"w", -1, HG_TYPE_U32, SIDE}},
                        {SIDE / TILE, SIDE / TILE},
                        {TILE, TILE},
                        SIDE * 8.0 * SIDE};
    w[k++] = (workload){{"mandelbrot",
                         1,
                         3,
                         1,
                         1,
                         {IMAGE * IMAGE * 4},
                         {NULL},
                         0,
                         {{{0}, {f32(step), IMAGE, IMAGE * IMAGE}, LINEAR(IMAGE * IMAGE)}}},
                        {{"y", 0, 0, 0},
                         {"step", -1, HG_TYPE_F32, f32(step)},
                         {"w", -1, HG_TYPE_U32, IMAGE},
                         {"n", -1, HG_TYPE_U64, IMAGE * IMAGE}},
                        {0, 0},
                        {0, 0},
                        0};
    w[k++] = (workload){{"nbody",
                         5,
                         2,
                         1,
                         5,
                         {BODIES * 4, BODIES * 4, BODIES * 4, BODIES * 4, BODIES * 12},
                         {x, x + BODIES, x + 2 * BODIES, x + 3 * BODIES, NULL},
                         4,
                         {{{0, 1, 2, 3, 4}, {f32(eps), BODIES}, LINEAR(BODIES)}}},
                        {{"x", 0, 0, 0},
                         {"y", 1, 0, 0},
                         {"z", 2, 0, 0},
                         {"m", 3, 0, 0},
                         {"a", 4, 0, 0},
                         {"eps", -1, HG_TYPE_F32, f32(eps)},
                         {"n", -1, HG_TYPE_U64, BODIES}},
                        {0, 0},
                        {0, 0},
                        0};
    w[k++] = (workload){{"histogram",
                         2,
                         1,
                         1,
                         2,
                         {MANY * 4, 1024},
                         {words(MANY), NULL},
                         1,
                         {{{0, 1}, {(uint32_t)MANY}, LINEAR(MANY)}}},
                        {{"x", 0, 0, 0}, {"y", 1, 0, 0}, {"n", -1, HG_TYPE_U64, MANY}},
                        {0, 0},
                        {0, 0},
                        (double)MANY * 4};
    const uint32_t scanned = MANY < 1 << 20 ? (uint32_t)MANY : 1 << 20,
                   sums = scanned / 1024; /* what
                                             one
                                             launch
                                             of
                                             scan.atlas
                                             takes
                                           */
    w[k++] = (workload){{"scan",
                         3,
                         2,
                         3,
                         3,
                         {scanned * 4, scanned * 4, sums * 4},
                         {words(scanned), NULL, NULL},
                         1,
                         {{{0, 1, 2}, {scanned, 0}, {sums, 1}, {256, 1}},
                          {{2, 2, 2}, {sums, 1}, {1, 1}, {256, 1}},
                          {{0, 1, 2}, {scanned, 2}, {sums, 1}, {256, 1}}}},
                        {{"x", 0, 0, 0}, {"y", 1, 0, 0}, {"n", -1, HG_TYPE_U64, scanned}},
                        {0, 0},
                        {0, 0},
                        (double)scanned * 8};
    w[k++] = (workload){{"gemm",
                         3,
                         1,
                         1,
                         3,
                         {IMAGE * IMAGE * 4, IMAGE * IMAGE * 4, IMAGE * IMAGE * 4},
                         {x, x + IMAGE * IMAGE, NULL},
                         2,
                         {{{0, 1, 2}, {IMAGE}, {IMAGE / 128, IMAGE / 64}, {8, 8}}}},
                        {{"a", 0, 0, 0}, {"b", 1, 0, 0}, {"c", 2, 0, 0}},
                        {0, 0},
                        {0, 0},
                        0};
    return k;
}

/* ---- our side ---- */

/* Of all threads of the process: drivers on the CPU work in some, and what else the machine does is
 * not in it. */
static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct ours {
    hg_backend *backend;
    hg_buffer buffers[PEER_BUFFERS];
    hg_binding *binding;
} ours;

static hg_backend *open_backend(const char *name, uint32_t device) {
    hg_config config;
    hg_backend *b = NULL;
    OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", name);
    config.device_id = device;
    OK(hg_backend_create_with_config(&config, &b));
    return b;
}

static hg_program *load(const char *folder, const workload *w) {
    const char *name = w->peer.name, *defines[1];
    char side[16];
    char path[1024], text[8192];
    snprintf(path, sizeof path, "%s/%s.atlas", folder, name);
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    hg_program *p = NULL;
    snprintf(side, sizeof side, "N=%u", (unsigned)w->peer.passes[0].scalars[0]);
    defines[0] = side;
    hg_assemble_options options = {
        .size = sizeof options, .defines = defines, .define_count = strcmp(name, "gemm") == 0};
    OK(hg_program_assemble_with(text, size, &options, NULL, &p));
    return p;
}

static void bind(ours *o, const workload *w, const char *folder) {
    hg_program *p = load(folder, w);
    hg_params *params = hg_params_create();
    hg_executable *e;
    hg_launch launch = HG_LAUNCH_INIT;
    for (int i = 0; i < w->peer.buffer_count; i++) {
        OK(hg_backend_allocate_buffer(o->backend, w->peer.bytes[i], &o->buffers[i]));
        if (w->peer.data[i])
            OK(hg_backend_copy_to_buffer(o->backend, o->buffers[i], w->peer.data[i],
                                         w->peer.bytes[i]));
    }
    for (int i = 0; i < 8 && w->arguments[i].name; i++) {
        const atlas_argument *a = &w->arguments[i];
        if (a->buffer >= 0)
            OK(hg_params_set_buffer(params, a->name, o->buffers[a->buffer]));
        else
            OK(hg_params_set_scalar(params, a->name, a->type, &a->bits));
    }
    for (int i = 0; i < 2 && w->grid[0]; i++) {
        launch.grid[i] = w->grid[i];
        launch.block[i] = w->block[i];
    }
    OK(hg_executable_create(o->backend, p, &e));
    OK(hg_binding_create(e, w->grid[0] ? &launch : NULL, params, &o->binding));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
}

static void unbind(ours *o, const workload *w) {
    hg_binding_destroy(o->binding);
    for (int i = 0; i < w->peer.buffer_count; i++)
        OK(hg_backend_free_buffer(o->backend, o->buffers[i]));
}

static void clear(ours *o, const workload *w) {
    static const uint8_t zeros[1024];
    if (strcmp(w->peer.name, "histogram") == 0)
        OK(hg_backend_copy_to_buffer(o->backend, o->buffers[1], zeros, sizeof zeros));
}

static int same(ours *o, peer *p, const peer_api *api, const workload *w) {
    size_t bytes = w->peer.bytes[w->peer.result];
    void *mine = malloc(bytes), *theirs = malloc(bytes);
    if (!mine || !theirs) exit(1);
    OK(hg_backend_copy_from_buffer(o->backend, o->buffers[w->peer.result], mine, bytes));
    api->read(p, w->peer.result, theirs, bytes);
    int equal = memcmp(mine, theirs, bytes) == 0;
    free(mine);
    free(theirs);
    return equal;
}

static void race(ours *o, peer *p, const peer_api *api, const workload *w, const char *folder) {
    bench_samples mine = {.count = 0}, theirs = {.count = 0}, mine_cpu = {.count = 0},
                  theirs_cpu = {.count = 0};
    const int turns = getenv("HOLOGRAM_BENCH_CONTROL") ? 2 : 1;
    if (!api->prepare(p, &w->peer, folder)) {
        printf("%-12s the peer's kernel did not build\n", w->peer.name);
        return;
    }
    bind(o, w, folder);
    clear(o, w);
    OK(hg_binding_launch(o->binding));
    api->run(p);
    int equal = same(o, p, api, w);
    double until = bench_now() + 3;
    for (int i = 0; i < 41 && (i < 7 || bench_now() < until); i++) {
        double t = bench_now(), c = processor_time();
        for (int turn = 0; turn < turns; turn++) OK(hg_binding_launch(o->binding));
        bench_add(&mine, bench_now() - t);
        bench_add(&mine_cpu, processor_time() - c);
        t = bench_now();
        c = processor_time();
        api->run(p);
        bench_add(&theirs, bench_now() - t);
        bench_add(&theirs_cpu, processor_time() - c);
    }
    double ratio = bench_median(&theirs) / bench_median(&mine);
    bench_samples copies = {.count = 0};
    for (int i = 0; i < 21 && api->copy && w->bytes > 0; i++) {
        double t = bench_now();
        api->copy(p);
        bench_add(&copies, bench_now() - t);
    }
    printf(
        "%-12s %6.3f x hand-written (%.3f … %.3f)  goal >= 0.95 %-7s [ours %9.3f ms, peer %9.3f ms",
        w->peer.name, ratio, bench_low(&theirs) / bench_high(&mine),
        bench_high(&theirs) / bench_low(&mine), ratio >= 0.95 ? "met" : "NOT MET",
        bench_median(&mine) * 1e3, bench_median(&theirs) * 1e3);
    if (w->bytes > 0)
        printf(", %.1f and %.1f GB/s", w->bytes / bench_median(&mine) * 1e-9,
               w->bytes / bench_median(&theirs) * 1e-9);
    if (copies.count) /* a copy of half the bytes reads half and writes half */
        printf(", %.3f of the copies' rate",
               w->bytes / bench_median(&mine) / ((double)w->peer.bytes[0] / bench_median(&copies)));
    printf(", %.3f by processor time, %.3f by its tenth percentiles",
           bench_median(&theirs_cpu) / bench_median(&mine_cpu),
           bench_low(&theirs_cpu) / bench_low(&mine_cpu));
    printf("] %s\n", equal ? "bits equal" : "BITS DIFFER");
    unbind(o, w);
    api->release(p);
}

/* ---- the cost of one launch ---- */

static void launch_cost(ours *o, peer *p, const peer_api *api, const float *x, const char *folder) {
    enum { N = 256, INNER = 200 };
    workload w = {
        {"saxpy", 2, 2, 1, 2, {N * 4, N * 4}, {x, x}, 1, {{{0, 1}, {f32(1.0f), N}, LINEAR(N)}}},
        {{"x", 0, 0, 0},
         {"y", 1, 0, 0},
         {"a", -1, HG_TYPE_F32, f32(1.0f)},
         {"n", -1, HG_TYPE_U64, N}},
        {0, 0},
        {0, 0},
        0};
    bench_samples mine = {.count = 0}, theirs = {.count = 0};
    if (!api->prepare(p, &w.peer, folder)) return;
    bind(o, &w, folder);
    for (int i = 0; i < 31; i++) {
        double t = bench_now();
        for (int k = 0; k < INNER; k++) OK(hg_binding_launch(o->binding));
        bench_add(&mine, (bench_now() - t) / INNER);
        t = bench_now();
        for (int k = 0; k < INNER; k++) api->run(p);
        bench_add(&theirs, (bench_now() - t) / INNER);
    }
    double added = (bench_median(&mine) - bench_median(&theirs)) * 1e6;
    printf("%-12s %6.2f us added to the raw call        goal <= 1 %s [ours %.2f us (%.2f … %.2f), "
           "peer %.2f us (%.2f … %.2f)]\n",
           "bound launch", added, added <= 1 ? "met" : "NOT MET", bench_median(&mine) * 1e6,
           bench_low(&mine) * 1e6, bench_high(&mine) * 1e6, bench_median(&theirs) * 1e6,
           bench_low(&theirs) * 1e6, bench_high(&theirs) * 1e6);
    unbind(o, &w);
    api->release(p);
}

/* ---- cold start: a process that gives its first result, with empty caches ---- */

static int cold_ours(const char *backend, uint32_t device, const char *folder, const workload *w) {
    ours o = {.backend = open_backend(backend, device)};
    bind(&o, w, folder);
    OK(hg_binding_launch(o.binding));
    unbind(&o, w);
    hg_backend_destroy(o.backend);
    return 0;
}

static int cold_peer(const peer_api *api, uint32_t device, const char *folder, const workload *w) {
    char reason[256] = "";
    peer *p = api->open(device, reason);
    if (!p || !api->prepare(p, &w->peer, folder)) return 1;
    api->run(p);
    api->release(p);
    api->close(p);
    return 0;
}

static const peer_api *api_of(const char *backend) {
    return strcmp(backend, "vulkan") == 0   ? &peer_vulkan
           : strcmp(backend, "cuda") == 0   ? &peer_cuda
           : strcmp(backend, "webgpu") == 0 ? &peer_webgpu
                                            : &peer_opencl;
}

static double cold_once(const char *self, const char *side, const char *backend, uint32_t device,
                        int warm) {
    char command[2048], folder[] = "/tmp/hologram_cold_XXXXXX";
    if (!warm && !mkdtemp(folder)) return NAN;
    snprintf(command, sizeof command,
             "POCL_CACHE_DIR=%s MESA_SHADER_CACHE_DIR=%s MESA_GLSL_CACHE_DIR=%s "
             "HOLOGRAM_CACHE_DIR=%s/hologram %s --cold %s %s %u",
             warm ? "/tmp/hologram_warm" : folder, warm ? "/tmp/hologram_warm" : folder,
             warm ? "/tmp/hologram_warm" : folder, warm ? "/tmp/hologram_warm" : folder, self, side,
             backend, (unsigned)device);
    double t = bench_now();
    int status = system(command);
    t = bench_now() - t;
    if (!warm) {
        snprintf(command, sizeof command, "rm -rf %s", folder);
        if (system(command) != 0) return NAN;
    }
    return status == 0 ? t : NAN;
}

static void cold_start(const char *self, const char *backend, uint32_t device,
                       uint32_t peer_device) {
    for (int warm = 0; warm < 2; warm++) {
        bench_samples mine = {.count = 0}, theirs = {.count = 0};
        if (system("rm -rf /tmp/hologram_warm && mkdir -p /tmp/hologram_warm") != 0) return;
        for (int i = 0; i < 7 + warm; i++) {
            double a = cold_once(self, "ours", backend, device, warm),
                   b = cold_once(self, "peer", backend, peer_device, warm);
            if (isnan(a) || isnan(b)) {
                printf("%-12s a process failed\n", "cold start");
                return;
            }
            if (warm && i == 0) continue; /* fills the caches */
            bench_add(&mine, a);
            bench_add(&theirs, b);
        }
        double ratio = bench_median(&mine) / bench_median(&theirs);
        printf("%-12s %6.3f x the hand-written program's time goal <= 1.3 %s [ours %.1f ms (%.1f … "
               "%.1f), peer %.1f ms (%.1f … %.1f)]\n",
               warm ? "warm start" : "cold start", ratio, ratio <= 1.3 ? "met" : "NOT MET",
               bench_median(&mine) * 1e3, bench_low(&mine) * 1e3, bench_high(&mine) * 1e3,
               bench_median(&theirs) * 1e3, bench_low(&theirs) * 1e3, bench_high(&theirs) * 1e3);
    }
}

int main(int argc, char **argv) {
    const char *folder = HG_BENCH_DIR "/devices";
    int cold = argc > 4 && strcmp(argv[1], "--cold") == 0;
    const char *backend = argc > 1 ? argv[1] : "opencl";
    workload list[9]; /* all of make_workloads */
    const sizes *z = &SIZES[!cold && strcmp(backend, "cuda") == 0];
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES && argc > 5 && !cold; i++)
        if (strcmp(argv[5], SIZES[i].name) == 0) z = &SIZES[i];
    size_t most = z->sum + 64, square = (size_t)z->side * z->side,
           images = 2 * (size_t)z->image * z->image;
    float *x = floats(most > square     ? (most > images ? most : images)
                      : square > images ? square
                                        : images,
                      1.0f);
    int count = make_workloads(list, x, z);
    if (cold) {
        list[0].peer.bytes[0] = list[0].peer.bytes[1] = 1024;
        list[0].peer.passes[0].scalars[1] = 256;
        list[0].peer.passes[0].groups[0] = 1;
        list[0].arguments[3].bits = 256;
        uint32_t device = (uint32_t)atoi(argv[4]);
        if (strcmp(argv[2], "ours") == 0) return cold_ours(argv[3], device, folder, &list[0]);
        return cold_peer(api_of(argv[3]), device, folder, &list[0]);
    }
    const peer_api *api = api_of(backend);
    uint32_t device = argc > 2 ? (uint32_t)atoi(argv[2]) : 0,
             peer_device = argc > 3 ? (uint32_t)atoi(argv[3]) : device;
    char reason[256] = "";
    if (api == &peer_vulkan || api == &peer_webgpu)
        memcpy(&list[count - 1].peer.passes[0].groups,
               (uint32_t[]){z->image / 64, z->image / 64, 16, 16}, 16); /* gemm.comp, gemm.wgsl */
    if (api == &peer_cuda)
        memcpy(&list[count - 1].peer.passes[0].groups,
               (uint32_t[]){z->image / 128, z->image / 128, 16, 16}, 16);
    setvbuf(stdout, NULL, _IOLBF, 0);
    ours o = {.backend = open_backend(backend, device)};
    peer *p = api->open(peer_device, reason);
    if (!p) {
        fprintf(stderr, "peer: %s\n", reason);
        return 1;
    }
    printf("%s, device %u\n", backend, (unsigned)device);
    const char *only = argc > 4 && strcmp(argv[4], "all") != 0 ? argv[4] : NULL;
    for (int i = 0; i < count; i++)
        if ((!only || strcmp(only, list[i].peer.name) == 0) &&
            (api == &peer_cuda || strcmp(list[i].peer.name, "scan") != 0))
            race(&o, p, api, &list[i], folder);
    if (!only) launch_cost(&o, p, api, x, folder);
    api->close(p);
    hg_backend_destroy(o.backend);
    if (!only && z != &SIZES[2]) cold_start(argv[0], backend, device, peer_device);
    free(x);
    return 0;
}
