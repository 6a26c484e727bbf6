/* Products by cuBLASLt on the driver of tests/fake_cuda (tests/devices/on.sh fake_cuda): who does
 * them, their precision, calls that fail. The shapes are tests/tensor's. */
#include "backends/cuda/vendor.h"
#include "backends/cuda/cuda_internal.h"
#include "support/fake_cuda.h"
#include "support/in_process.h"
#include "support/runtime_support.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(HG_CUBLASLT_HEADER) /* the toolkit is installed */
#include <cublasLt.h>
_Static_assert(LT_F32 == (int)CUDA_R_32F && LT_F64 == (int)CUDA_R_64F &&
                   LT_F16 == (int)CUDA_R_16F && LT_I8 == (int)CUDA_R_8I &&
                   LT_I32 == (int)CUDA_R_32I && LT_BF16 == (int)CUDA_R_16BF,
               "the same types");
_Static_assert(LT_COMPUTE_F32 == (int)CUBLAS_COMPUTE_32F &&
                   LT_COMPUTE_F32_PEDANTIC == (int)CUBLAS_COMPUTE_32F_PEDANTIC &&
                   LT_COMPUTE_F64_PEDANTIC == (int)CUBLAS_COMPUTE_64F_PEDANTIC &&
                   LT_COMPUTE_I32 == (int)CUBLAS_COMPUTE_32I &&
                   LT_COMPUTE_TF32 == (int)CUBLAS_COMPUTE_32F_FAST_TF32,
               "the same ways to multiply");
_Static_assert(LT_LEFT_OPERATION == (int)CUBLASLT_MATMUL_DESC_TRANSA &&
                   LT_RIGHT_OPERATION == (int)CUBLASLT_MATMUL_DESC_TRANSB &&
                   LT_BATCHES == (int)CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
                   LT_BATCH_STRIDE == (int)CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
                   LT_MOST_WORKSPACE == (int)CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
                   LT_ALIGNMENTS == (int)CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
                   LT_TRANSPOSED == (int)CUBLAS_OP_T && LT_SUCCESS == (int)CUBLAS_STATUS_SUCCESS &&
                   LT_ALLOC_FAILED == (int)CUBLAS_STATUS_ALLOC_FAILED,
               "the same attributes");
_Static_assert(sizeof(lt_choice) == sizeof(cublasLtMatmulHeuristicResult_t) &&
                   sizeof(lt_algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
                   offsetof(lt_choice, workspace_bytes) ==
                       offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
                   offsetof(lt_choice, status) == offsetof(cublasLtMatmulHeuristicResult_t, state),
               "the same structures");
#endif

enum { M = 8, N = 64, K = 512 }; /* as many multiplications as `auto` wants */

static long asked_of_fake(const char *name) {
    const char *file = getenv("HOLOGRAM_CUBLASLT");
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_NOLOAD) : NULL;
    long (*ask)(void) = NULL;
    if (library) *(void **)&ask = dlsym(library, name);
    return ask ? ask() : 0;
}
static long products(void) { return asked_of_fake("fake_cublas_products"); }

static hg_backend *open_cuda(const char *vendor, bool deterministic) {
    hg_config c = hg_config_default();
    hg_backend *b = NULL;
    snprintf(c.backend, sizeof c.backend, "cuda");
    snprintf(c.vendor, sizeof c.vendor, "%s", vendor);
    c.deterministic = deterministic;
    return hg_backend_create_with_config(&c, &b) == HG_OK ? b : NULL;
}

/* All elements of c, which are equal: K times x * y. bits: of x and y; size: of their elements. */
static hg_status multiply(hg_backend *b, const char *type, const char *flags, uint32_t x,
                          uint32_t y, uint32_t size, uint32_t *bits) {
    static uint8_t left[M * K * 4], right[K * N * 4], sums[M * N * 4];
    static const char *const NAMES[] = {"a", "x", "c"};
    hg_buffer buffers[3] = {0};
    hg_params *params = hg_params_create();
    char text[512];
    for (uint32_t i = 0; i < M * K; i++) memcpy(left + (size_t)i * size, &x, size);
    for (uint32_t i = 0; i < K * N; i++) memcpy(right + (size_t)i * size, &y, size);
    snprintf(
        text, sizeof text,
        PROGRAM(
            "%s.param c buffer %s inout\n.param a buffer %s in\n.param x buffer %s in\n.lanes 1\n"
            " gemm.%s c=c, a=a, b=x, m=%u, n=%u, k=%u\n"),
        flags, type, type, type, type, (unsigned)M, (unsigned)N, (unsigned)K);
    hg_program *p = assemble(text);
    const uint64_t bytes[] = {(uint64_t)M * K * size, (uint64_t)K * N * size,
                              (uint64_t)M * N * size};
    hg_status status = HG_OK;
    for (int i = 0; i < 3 && status == HG_OK; i++)
        status = hg_backend_allocate_buffer(b, bytes[i], &buffers[i]);
    for (int i = 0; i < 2 && status == HG_OK; i++)
        status = hg_backend_copy_to_buffer(b, buffers[i], i ? right : left, bytes[i]);
    for (int i = 0; i < 3 && status == HG_OK; i++)
        status = hg_params_set_buffer(params, NAMES[i], buffers[i]);
    if (status == HG_OK) status = hg_backend_execute_program_with_params(b, p, NULL, params);
    if (status == HG_OK) status = hg_backend_copy_from_buffer(b, buffers[2], sums, bytes[2]);
    *bits = 0;
    memcpy(bits, sums, size);
    for (uint32_t i = 1; i < M * N && status == HG_OK; i++)
        CHECK(memcmp(sums, sums + (size_t)i * size, size) == 0);
    hg_error kept = *hg_error_record();
    for (int i = 0; i < 3; i++)
        if (buffers[i].handle) HG_IGNORE(hg_backend_free_buffer(b, buffers[i]));
    *hg_error_record() = kept;
    hg_params_destroy(params);
    hg_program_release(p);
    return status;
}

enum { ONE_F16 = 0x3C00, SUM_F16 = 0x6000, ONE = 0x3F800000, SUM = 0x44000000 }; /* 1 and 512 */

static void expect(const char *vendor, bool deterministic, const char *type, const char *flags,
                   long more) {
    hg_backend *b = open_cuda(vendor, deterministic);
    bool half = type[1] == '1';
    uint32_t bits, one = half ? ONE_F16 : ONE;
    CHECK(b != NULL);
    if (!b) return;
    long before = products();
    CHECK_OK(multiply(b, type, flags, one, one, half ? 2 : 4, &bits));
    CHECK_U64(bits, half ? SUM_F16 : SUM);
    CHECK_MESSAGE(products() - before == more,
                  "vendor=%s %s %s: %ld products by cuBLASLt, %ld expected", vendor, type, flags,
                  products() - before, more);
    hg_backend_destroy(b);
    CHECK_U64((uint64_t)asked_of_fake("fake_cublas_live"), 0);
    CHECK_U64((uint64_t)fake_cuda_things(), 0);
}

/* Numbers that TF32 does not hold: 1 + 2^-12 becomes 1. */
static void test_precision(void) {
    hg_backend *b = open_cuda("on", false);
    uint32_t bits, near_one = ONE + (1 << 11);
    CHECK(b != NULL);
    if (!b) return;
    CHECK_OK(multiply(b, "f32", "", near_one, ONE, 4, &bits));
    CHECK_U64(bits, SUM + (1 << 11));
    CHECK_OK(multiply(b, "f32", ".flag relaxed\n", near_one, ONE, 4, &bits));
    CHECK_U64(bits, SUM);
    hg_backend_destroy(b);
}

/* ---- graphs ---- */

/* A binding that comes again and again is a graph, the product in it: it reads what its arrays hold
 * by then. */
static void test_graph(void) {
    enum { LAUNCHES = 12 };
    static uint16_t left[M * K], right[K * N], sums[M * N];
    hg_backend *b = open_cuda("auto", false);
    CHECK(b != NULL);
    if (!b) return;
    hg_program *p = assemble(PROGRAM(
        ".param c buffer f16 inout\n.param a buffer f16 in\n.param x buffer f16 in\n.lanes 1\n"
        " gemm.f16 c=c, a=a, b=x, m=8, n=64, k=512\n parallel_map.f16 c, c, neg, 512\n"));
    hg_buffer c, a, x;
    hg_params *params = hg_params_create();
    hg_executable *executable = NULL;
    hg_binding *binding = NULL;
    for (uint32_t i = 0; i < K * N; i++) right[i] = ONE_F16;
    c = make_buffer(b, sums, sizeof sums);
    a = make_buffer(b, left, sizeof left);
    x = make_buffer(b, right, sizeof right);
    CHECK_OK(hg_params_set_buffer(params, "c", c));
    CHECK_OK(hg_params_set_buffer(params, "a", a));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_executable_create(b, p, &executable));
    CHECK_OK(hg_binding_create(executable, NULL, params, &binding));
    long before = products(), graphs = fake_cuda_graphs();
    for (int round = 0; round < LAUNCHES; round++) {
        uint16_t minus_sum = round % 2 ? 0xE000 : 0xDC00; /* -512, -256 */
        for (uint32_t i = 0; i < M * K; i++) left[i] = round % 2 ? ONE_F16 : 0x3800; /* 1, 0.5 */
        CHECK_OK(hg_backend_copy_to_buffer(b, a, left, sizeof left));
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_backend_copy_from_buffer(b, c, sums, sizeof sums));
        for (uint32_t i = 0; i < M * N; i++) CHECK_U64(sums[i], minus_sum);
    }
    CHECK_U64((uint64_t)(products() - before), LAUNCHES);
    CHECK_MESSAGE(fake_cuda_graphs() - graphs >= LAUNCHES / 2, "%ld launches of graphs",
                  fake_cuda_graphs() - graphs);
    hg_binding_destroy(binding);
    hg_executable_destroy(executable);
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
    CHECK_U64((uint64_t)asked_of_fake("fake_cublas_live"), 0);
    CHECK_U64((uint64_t)fake_cuda_things(), 0);
}

/* A step in a loop has other values each time, while the device may not have begun with the one
 * before: c grows by 1, 2, 3, … . */
static void test_loop(void) {
    enum { ROUNDS = 5 };
    static float left[M * ROUNDS], right[ROUNDS * N], sums[M * N];
    hg_backend *b = open_cuda("on", false);
    CHECK(b != NULL);
    if (!b) return;
    hg_program *p = assemble(
        PROGRAM(".param r1 c buffer f32 inout\n.param r2 a buffer f32 in\n.param r3 x buffer f32 "
                "in\n.lanes 1\n"
                " mov_imm.u64 r10, 1\n mov_imm.u64 r11, 1\n mov_imm.u64 r12, 6\nagain:\n"
                " gemm.f32 c=r1, a=r2, b=r3, m=8, n=64, k=r10, beta=1.0\n"
                " add.u64 r10, r10, r11\n setltu.u64 p0, r10, r12\n bra.p0 @again\n"));
    hg_params *params = hg_params_create();
    for (uint32_t i = 0; i < M * ROUNDS; i++) left[i] = 1;
    for (uint32_t i = 0; i < ROUNDS * N; i++) right[i] = 1;
    hg_buffer c = make_buffer(b, sums, sizeof sums), a = make_buffer(b, left, sizeof left),
              x = make_buffer(b, right, sizeof right);
    CHECK_OK(hg_params_set_buffer(params, "c", c));
    CHECK_OK(hg_params_set_buffer(params, "a", a));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    long before = products();
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, c, sums, sizeof sums));
    CHECK_U64((uint64_t)(products() - before), ROUNDS);
    for (uint32_t i = 0; i < M * N; i++)
        CHECK_MESSAGE(sums[i] == 1 + 2 + 3 + 4 + 5, "element %u is %g", (unsigned)i,
                      (double)sums[i]);
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
}

/* ---- calls that fail ---- */

static uint64_t calls, fail_at;
static CUresult fail_one(const char *call) {
    if (strncmp(call, "cublasLt", 8) != 0) return CUDA_SUCCESS;
    return ++calls == fail_at ? 999 : CUDA_SUCCESS;
}

/* What fails before the product leaves it to the expansion; the product itself is an error that
 * names it. Nothing stays behind. */
static void test_failing_calls(void) {
    uint64_t most = 0, errors = 0;
    for (fail_at = 0; fail_at <= most; fail_at++) {
        hg_backend *b = open_cuda("auto", false);
        uint32_t bits;
        CHECK(b != NULL);
        if (!b) return;
        calls = 0;
        cuda_before_call = fail_one;
        hg_status status = multiply(b, "f16", "", ONE_F16, ONE_F16, 2, &bits);
        cuda_before_call = NULL;
        if (!fail_at) most = calls;
        errors += status != HG_OK;
        CHECK_MESSAGE(status == HG_OK ? bits == SUM_F16
                                      : strstr(hg_last_error_text(), "cublasLtMatmul") != NULL,
                      "call %u: %s", (unsigned)fail_at, hg_last_error_text());
        hg_backend_destroy(b);
        CHECK_U64((uint64_t)asked_of_fake("fake_cublas_live"), 0);
        CHECK_U64((uint64_t)fake_cuda_things(), 0);
    }
    CHECK(most > 10);
    CHECK_U64(errors, 1);
}

/* NVIDIA's own library, which opens without a GPU: all functions are there. */
static void say_version(char said[512]) { (void)cuda_vendor_by(said); }

static void test_real_library(void) {
    char said[512] = "";
    if (access("/usr/local/cuda/lib64/libcublasLt.so", R_OK) != 0) {
        SKIP("NVIDIA's cuBLASLt is not installed");
        return;
    }
    in_process("HOLOGRAM_CUBLASLT=/usr/local/cuda/lib64/libcublasLt.so", say_version, said);
    CHECK_MESSAGE(strncmp(said, "cuBLASLt 1", 10) == 0, "%s", said);
}

static void test_missing_library(void) {
    char said[512] = "";
    in_process("HOLOGRAM_CUBLASLT=/nowhere/libcublasLt.so", say_version, said);
    CHECK_MESSAGE(strstr(said, "no cuBLASLt (") && strstr(said, "/nowhere"), "%s", said);
    in_process("HOLOGRAM_CUBLASLT=libm.so.6", say_version, said);
    CHECK_MESSAGE(strstr(said, "cuBLASLt has no cublasLt"), "%s", said);
}

int main(void) {
    test_real_library();
    test_missing_library();
    if (!fake_cuda_is_here()) {
        SKIP("the driver is not that of tests/fake_cuda");
        return test_done();
    }
    expect("auto", false, "f16", "", 1);
    expect("auto", true, "f16", "", 0);
    expect("off", false, "f16", "", 0);
    expect("auto", false, "f32", "", 0);
    expect("auto", false, "f32", ".flag relaxed\n", 1);
    expect("on", false, "f32", "", 1);
    test_precision();
    test_graph();
    test_loop();
    test_failing_calls();
    return test_done();
}
