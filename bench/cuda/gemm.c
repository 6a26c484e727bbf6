/* Products of matrices on an NVIDIA GPU beside cuBLASLt called by hand, in one run, by turns, each
 * launch waited for: halves as `vendor = auto` does them, f32 as the library program does them.
 * Then from how many multiplications on cuBLASLt is the faster one: lines for
 * src/backends/cuda/vendor.def. bench/cuda/gemm [DEVICE [SIZES]]: SIZES is tiny, or large (the
 * default). */
#include "../bench.h"
#include "../calls.h"
#include "backends/cuda/cublaslt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, WARM = 6, WORKSPACE = 32 << 20 };

static void must(int error, const char *what) {
    if (!error) return;
    fprintf(stderr, "%s: error %d\n", what, error);
    exit(1);
}
#define CU(name, ...) must(cuda.name(__VA_ARGS__), "cu" #name)
#define LT(name, ...) must(cublaslt.name(__VA_ARGS__), "cublasLt" #name)

/* ---- by hand: c = a b of n x n, rows one after another ---- */

typedef struct by_hand {
    CUdevice id;
    CUcontext context;
    CUstream stream;
    CUdeviceptr a, b, c, workspace;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t layout;
    lt_choice choice;
} by_hand;

static void make(by_hand *h, uint32_t device, uint64_t n, int type, size_t element) {
    cublasLtMatmulPreference_t preference;
    uint64_t workspace = WORKSPACE;
    uint32_t alignment = 16; /* bytes, of all addresses */
    int count = 0;
    CU(DeviceGet, &h->id, (int)device);
    CU(DevicePrimaryCtxRetain, &h->context, h->id);
    CU(CtxPushCurrent, h->context);
    CU(StreamCreate, &h->stream, 1);
    CU(MemAlloc, &h->a, n * n * element);
    CU(MemAlloc, &h->b, n * n * element);
    CU(MemAlloc, &h->c, n * n * element);
    CU(MemAlloc, &h->workspace, WORKSPACE + 256);
    CU(MemsetD8Async, h->a, 0x3C, n * n * element, h->stream);
    CU(MemsetD8Async, h->b, 0x3C, n * n * element, h->stream);
    LT(Create, &h->handle);
    LT(MatmulDescCreate, &h->operation, LT_COMPUTE_F32, LT_F32);
    LT(MatrixLayoutCreate, &h->layout, type, n, n, (int64_t)n);
    LT(MatmulPreferenceCreate, &preference);
    LT(MatmulPreferenceSetAttribute, preference, LT_MOST_WORKSPACE, &workspace, sizeof workspace);
    for (int i = 0; i < 4; i++)
        LT(MatmulPreferenceSetAttribute, preference, LT_ALIGNMENTS + i, &alignment,
           sizeof alignment);
    LT(MatmulAlgoGetHeuristic, h->handle, h->operation, h->layout, h->layout, h->layout, h->layout,
       preference, 1, &h->choice, &count);
    (void)cublaslt.MatmulPreferenceDestroy(preference);
    must(count != 1 || h->choice.status || h->choice.workspace_bytes > WORKSPACE, "no algorithm");
}

static double run_by_hand(by_hand *h) {
    const float alpha = 1, beta = 0;
    double t = bench_now();
    LT(Matmul, h->handle, h->operation, &alpha, h->b, h->layout, h->a, h->layout, &beta, h->c,
       h->layout, h->c, h->layout, &h->choice.algorithm, (h->workspace + 255) / 256 * 256,
       h->choice.workspace_bytes, h->stream);
    CU(StreamSynchronize, h->stream);
    return bench_now() - t;
}

static void drop(by_hand *h) {
    CUcontext context;
    (void)cublaslt.MatrixLayoutDestroy(h->layout);
    (void)cublaslt.MatmulDescDestroy(h->operation);
    (void)cublaslt.Destroy(h->handle);
    for (int i = 0; i < 4; i++)
        (void)cuda.MemFree((CUdeviceptr[]){h->a, h->b, h->c, h->workspace}[i]);
    (void)cuda.StreamDestroy(h->stream);
    (void)cuda.CtxPopCurrent(&context);
    (void)cuda.DevicePrimaryCtxRelease(h->id);
}

/* ---- ours ---- */

typedef struct ours {
    hg_backend *backend;
    hg_buffer buffers[3];
    hg_binding *binding;
} ours;

static void bind(ours *o, uint32_t device, const char *vendor, const char *type, uint64_t n,
                 size_t element) {
    static const char *const NAMES[] = {"c", "a", "b"};
    char text[512];
    hg_config config;
    hg_program *p;
    hg_executable *e;
    hg_params *params = hg_params_create();
    OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "cuda");
    snprintf(config.vendor, sizeof config.vendor, "%s", vendor);
    config.device_id = device;
    OK(hg_backend_create_with_config(&config, &o->backend));
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param c buffer %s inout\n.param a buffer %s in\n.param b "
             "buffer %s in\n"
             " gemm.%s c=c, a=a, b=b, m=%llu, n=%llu, k=%llu\n",
             type, type, type, type, (unsigned long long)n, (unsigned long long)n,
             (unsigned long long)n);
    OK(hg_program_assemble(text, strlen(text), NULL, &p));
    for (int i = 0; i < 3; i++) {
        OK(hg_backend_allocate_buffer(o->backend, n * n * element, &o->buffers[i]));
        OK(hg_params_set_buffer(params, NAMES[i], o->buffers[i]));
    }
    OK(hg_executable_create(o->backend, p, &e));
    OK(hg_binding_create(e, NULL, params, &o->binding));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    for (int i = 0; i < WARM; i++) OK(hg_binding_launch(o->binding));
}

static double run_ours(const ours *o) {
    double t = bench_now();
    OK(hg_binding_launch(o->binding));
    return bench_now() - t;
}

static void unbind(ours *o) {
    hg_binding_destroy(o->binding);
    for (int i = 0; i < 3; i++) OK(hg_backend_free_buffer(o->backend, o->buffers[i]));
    hg_backend_destroy(o->backend);
}

/* ---- races ---- */

typedef struct kind {
    const char *type, *row, *vendor;
    int of_cublas;
    size_t element;
    double goal;
} kind;
static const kind KINDS[] = {{"f16", "F16", "auto", LT_F16, 2, 1.0},
                             {"bf16", "BF16", "auto", LT_BF16, 2, 1.0},
                             {"f32", NULL, "off", LT_F32, 4, 0.7}};

static void race(uint32_t device, const kind *k, uint64_t n) {
    by_hand h = {0};
    ours o;
    bench_samples mine = {.count = 0}, peer = {.count = 0};
    make(&h, device, n, k->of_cublas, k->element);
    bind(&o, device, k->vendor, k->type, n, k->element);
    for (int i = 0; i < WARM; i++) (void)run_by_hand(&h);
    for (int i = 0; i < ROUNDS; i++) {
        bench_add(&mine, run_ours(&o));
        bench_add(&peer, run_by_hand(&h));
    }
    double ratio = bench_median(&peer) / bench_median(&mine);
    printf("gemm %-5s %5llu  %6.3f x cuBLASLt by hand (%.3f … %.3f)  goal >= %.1f %-8s [ours %.1f "
           "us, %.2f TFLOP/s; by hand %.1f us]\n",
           k->type, (unsigned long long)n, ratio, bench_low(&peer) / bench_high(&mine),
           bench_high(&peer) / bench_low(&mine), k->goal, ratio >= k->goal ? "met" : "NOT MET",
           bench_median(&mine) * 1e6, 2e-12 * (double)(n * n * n) / bench_median(&mine),
           bench_median(&peer) * 1e6);
    unbind(&o);
    drop(&h);
}

/* The least size from which on the library is faster than the expansion. */
static void find_row(uint32_t device, const kind *k, uint64_t largest) {
    uint64_t from = 0;
    for (uint64_t n = 16; n <= largest; n *= 2) {
        ours on, off;
        bench_samples a = {.count = 0}, b = {.count = 0};
        bind(&on, device, "on", k->type, n, k->element);
        bind(&off, device, "off", k->type, n, k->element);
        for (int i = 0; i < ROUNDS; i++) {
            bench_add(&a, run_ours(&on));
            bench_add(&b, run_ours(&off));
        }
        bool faster = bench_median(&a) < bench_median(&b);
        printf("gemm %-5s %5llu  cuBLASLt %.1f us, expansion %.1f us\n", k->type,
               (unsigned long long)n, bench_median(&a) * 1e6, bench_median(&b) * 1e6);
        if (!faster)
            from = 0;
        else if (!from)
            from = n;
        unbind(&on);
        unbind(&off);
    }
    unsigned bits = 0;
    while (from >> (bits + 1)) bits++;
    if (from)
        printf("VENDOR(GEMM, %s, 1 << %u)\n", k->row, 3 * bits);
    else
        printf("no row for GEMM, %s: the expansion is faster\n", k->row);
}

int main(int argc, char **argv) {
    uint32_t device = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    bool tiny = argc > 2 && strcmp(argv[2], "tiny") == 0;
    char reason[256];
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!cuda_load(reason) || !cuda_vendor_by(reason)) {
        fprintf(stderr, "not run: %s\n", reason);
        return 1;
    }
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        for (uint64_t n = tiny ? 64 : 1024; n <= (tiny ? 64u : 8192u); n *= 2)
            race(device, &KINDS[i], n);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (KINDS[i].row) find_row(device, &KINDS[i], tiny ? 32 : 1024);
    return 0;
}
