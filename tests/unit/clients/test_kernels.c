/* test: labels=slow
 * The named kernels, on the CPU or the backend that the first argument names, against the oracle:
 * special values, random ones, lengths from none. Without an argument their CUDA C is compiled by
 * NVRTC too, where it is installed, and their MSL by clang++ with the header of tests/shim. */
#include "oracle/oracle.h"
#include "support/nvrtc.h"
#include "support/runtime_support.h"
#include "support/shim_driver.h"
#include "support/shim_run.h"
#include <math.h>
#include <unistd.h>

enum { MOST = 70001, NAMES = 21 };

typedef struct expectation {
    const char *name;
    hg_op op;
    int arrays; /* inputs */
    hg_type type;
} expectation;

/* Of memcpy, fill and relu there is no instruction: check_element knows them. */
static const expectation EXPECTED[NAMES] = {
    {"atlas_add_f32", HG_OP_ADD, 2, HG_TYPE_F32},
    {"atlas_sub_f32", HG_OP_SUB, 2, HG_TYPE_F32},
    {"atlas_mul_f32", HG_OP_MUL, 2, HG_TYPE_F32},
    {"atlas_div_f32", HG_OP_DIV, 2, HG_TYPE_F32},
    {"atlas_min_f32", HG_OP_MIN, 2, HG_TYPE_F32},
    {"atlas_max_f32", HG_OP_MAX, 2, HG_TYPE_F32},
    {"atlas_abs_f32", HG_OP_ABS, 1, HG_TYPE_F32},
    {"atlas_neg_f32", HG_OP_NEG, 1, HG_TYPE_F32},
    {"atlas_relu_f32", HG_OP_NONE, 1, HG_TYPE_F32},
    {"atlas_sqrt_f32", HG_OP_SQRT, 1, HG_TYPE_F32},
    {"atlas_exp_f32", HG_OP_EXP, 1, HG_TYPE_F32},
    {"atlas_log_f32", HG_OP_LOG, 1, HG_TYPE_F32},
    {"atlas_sigmoid_f32", HG_OP_SIGMOID, 1, HG_TYPE_F32},
    {"atlas_tanh_f32", HG_OP_TANH, 1, HG_TYPE_F32},
    {"atlas_mad_f32", HG_OP_FMA, 3, HG_TYPE_F32},
    {"atlas_add_i32", HG_OP_ADD, 2, HG_TYPE_I32},
    {"atlas_sub_i32", HG_OP_SUB, 2, HG_TYPE_I32},
    {"atlas_mul_i32", HG_OP_MUL, 2, HG_TYPE_I32},
    {"atlas_div_i32", HG_OP_DIV, 2, HG_TYPE_I32},
    {"atlas_memcpy", HG_OP_NONE, 1, HG_TYPE_U8},
    {"atlas_fill_f32", HG_OP_NONE, 0, HG_TYPE_F32},
};
static const char *const ARRAYS[] = {"a", "b", "c", "d"};
static const uint32_t FILL = 0xC0490FDBu; /* -pi */

/* ---- values ---- */

static uint32_t random_bits(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* Special values against each other, then random bits and random numbers of ordinary size. */
static uint32_t make_value(const expectation *e, int array, uint32_t i) {
    static const uint32_t FLOATS[] = {0,           0x80000000u, 0x3F800000u, 0xBF800000u,
                                      0x7F800000u, 0xFF800000u, 0x7FC00000u, 1,
                                      0x80000001u, 0x007FFFFFu, 0x7F7FFFFFu, 0xFF7FFFFFu,
                                      0x42B17218u, 0xC2B00000u, 0x3F000000u, 0x4B800001u};
    static const uint32_t WHOLE[] = {
        0,           1,     UINT32_MAX, 0x80000000u, 0x7FFFFFFFu, 2, 3,     0xFFFFFFFEu,
        0x80000001u, 46341, 7,          0xFFFFFFF9u, 100,         5, 65536, 9};
    uint32_t special = array == 0   ? i % 16
                       : array == 1 ? i / 16 % 16
                                    : i / 7 % 16,
             bits = random_bits();
    if (e->type == HG_TYPE_I32) {
        uint32_t v = i < 256 ? WHOLE[special] : i % 3 ? bits : bits % 1000;
        return e->op == HG_OP_DIV && array == 1 && v == 0 ? 3 : v;
    }
    if (e->type == HG_TYPE_U8) return bits & 0xFF;
    float ordinary = (float)(int32_t)bits / 1e8f;
    if (i < 256) return FLOATS[special];
    if (i % 3 == 0) return bits;
    memcpy(&bits, &ordinary, 4);
    return bits;
}

/* ---- what an element must be ---- */

static void check_element(const expectation *e, const uint8_t *const *args, const uint8_t *actual,
                          uint32_t i) {
    uint8_t wanted[8] = {0};
    uint64_t ulp = 0;
    float x;
    if (e->op != HG_OP_NONE) {
        oracle_outcome outcome = oracle_eval(e->op, e->type, e->type, 0, args, wanted);
        CHECK_MESSAGE(outcome == ORACLE_OK, "%s: the oracle has no value", e->name);
        ulp = oracle_tolerance(e->op, e->type, args, wanted);
        if (ulp == ORACLE_UNCHECKED) return;
    } else if (e->arrays == 0) {
        memcpy(wanted, &FILL, 4);
    } else if (e->type == HG_TYPE_U8) {
        wanted[0] = args[0][0];
    } else {
        memcpy(&x, args[0], 4);
        x = x > 0 ? x : 0;
        memcpy(wanted, &x, 4);
    }
    CHECK_MESSAGE(oracle_agrees(e->type, ulp, wanted, actual),
                  "%s, element %u: expected 0x%02x%02x%02x%02x, got 0x%02x%02x%02x%02x", e->name, i,
                  wanted[3], wanted[2], wanted[1], wanted[0], actual[3], actual[2], actual[1],
                  actual[0]);
}

static void check_kernel(hg_backend *b, const expectation *e, uint32_t n) {
    static uint8_t in[3][4 * MOST + 4], out[4 * MOST + 4];
    uint32_t size = oracle_size(e->type);
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_buffer buffers[4] = {0};
    CHECK_OK(hg_kernel_by_name(e->name, &program));
    for (int k = 0; k < e->arrays; k++) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t v = make_value(e, k, i);
            memcpy(in[k] + (size_t)i * size, &v, size);
        }
        buffers[k] = make_buffer(b, in[k], (uint64_t)n * size);
        CHECK_OK(hg_params_set_buffer(params, ARRAYS[k], buffers[k]));
    }
    int last = e->arrays == 3 ? 3 : 2; /* the output: c, or d of three inputs */
    memset(out, 0xA5, sizeof out);
    buffers[last] = make_buffer(b, out, (uint64_t)n * size);
    uint64_t count = n;
    CHECK_OK(hg_params_set_buffer(params, ARRAYS[last], buffers[last]));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &count));
    if (e->arrays == 0) CHECK_OK(hg_params_set_scalar(params, "value", HG_TYPE_F32, &FILL));
    CHECK_OK(hg_backend_execute_program_with_params(b, program, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[last], out, (uint64_t)n * size));
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *args[3] = {in[0] + (size_t)i * size, in[1] + (size_t)i * size,
                                  in[2] + (size_t)i * size};
        uint8_t element[4] = {0};
        memcpy(element, out + (size_t)i * size, size);
        check_element(e, args, element, i);
    }
    for (int k = 0; k < 4; k++)
        if (k < e->arrays || k == last) CHECK_OK(hg_backend_free_buffer(b, buffers[k]));
    hg_params_destroy(params);
    hg_program_release(program);
}

static void test_division_by_zero(hg_backend *b) {
    static const int32_t A[] = {5, 6, 7}, B[] = {1, 0, 2};
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    uint64_t n = 3;
    CHECK_OK(hg_kernel_by_name("atlas_div_i32", &program));
    hg_buffer buffers[] = {make_buffer(b, A, sizeof A), make_buffer(b, B, sizeof B),
                           make_buffer(b, A, sizeof A)};
    for (int k = 0; k < 3; k++) CHECK_OK(hg_params_set_buffer(params, ARRAYS[k], buffers[k]));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_STATUS(hg_backend_execute_program_with_params(b, program, NULL, params),
                 HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F02");
    CHECK(hg_last_error()->lane == 1);
    for (int k = 0; k < 3; k++) CHECK_OK(hg_backend_free_buffer(b, buffers[k]));
    hg_params_destroy(params);
    hg_program_release(program);
}

/* ---- names and texts ---- */

static void test_names(void) {
    hg_program *program = (hg_program *)1;
    uint32_t count = 0;
    for (; hg_kernel_name(count); count++) {
        CHECK_TEXT(hg_kernel_name(count), EXPECTED[count < NAMES ? count : 0].name);
        CHECK(hg_kernel_about(count) && hg_kernel_about(count)[0]);
    }
    CHECK(count == NAMES && !hg_kernel_about(count));
    CHECK_STATUS(hg_kernel_by_name("atlas_mul_f33", &program), HG_ERROR_INVALID_ARGUMENT);
    CHECK(program == NULL);
    CHECK_TEXT(hg_last_error()->message,
               "no kernel is called 'atlas_mul_f33'; did you mean 'atlas_mul_f32'?");
    CHECK_STATUS(hg_kernel_by_name("", &program), HG_ERROR_INVALID_ARGUMENT);
}

/* All kernels as one text of a target, each in a namespace of its own, behind `head`. The caller
 * frees it with hg_text_free. */
static hg_text all_texts(const char *target, const char *head) {
    hg_emit_options options = {.size = sizeof options, .proven = true};
    hg_text all = {0};
    hg_text_addf(&all, "%s", head);
    for (uint32_t i = 0; hg_kernel_name(i); i++) {
        hg_program *program = NULL;
        char *text = NULL;
        CHECK_OK(hg_kernel_by_name(hg_kernel_name(i), &program));
        CHECK_OK(hg_program_emit(program, target, &options, &text, NULL));
        hg_text_addf(&all, "namespace n%u {\n%s\n}\n", (unsigned)i, text);
        hg_string_free(text);
        hg_program_release(program);
    }
    return all;
}

static void test_cuda(void) {
    char reason[256] = "", message[2000] = "";
    int architectures[NVRTC_ARCHITECTURES];
    nvrtc_kernel kernel;
    if (!nvrtc_open(reason)) {
        SKIP(reason);
        return;
    }
    hg_text text = all_texts("cuda", "");
    CHECK_MESSAGE(nvrtc_architectures(architectures) > 0 &&
                      nvrtc_compile(text.data, architectures[0], &kernel, message),
                  "%s", message);
    hg_text_free(&text);
}

static void test_msl(void) {
    char message[2000] = "", source[96], library[96];
    if (access("/usr/bin/clang++-14", X_OK) != 0) {
        SKIP("no clang++-14");
        return;
    }
    snprintf(source, sizeof source, "/tmp/hologram-kernels-%d.cpp", (int)getpid());
    snprintf(library, sizeof library, "/tmp/hologram-kernels-%d.so", (int)getpid());
    hg_text text = all_texts("msl", "#include <metal_stdlib>\n");
    CHECK_MESSAGE(shim_compile(text.data, "", "", source, library, message, sizeof message), "%s",
                  message);
    (void)remove(source);
    (void)remove(library);
    hg_text_free(&text);
}

int main(int argc, char **argv) {
    static const uint32_t LENGTHS[] = {0, 1, 31, 1000, MOST};
    const char *name = argc > 1 ? argv[1] : "cpu";
    shim_driver_bring(name);
    test_names();
    hg_backend *b = open_backend(name);
    for (int k = 0; b && k < NAMES; k++)
        for (size_t i = 0; i < HG_COUNT_OF(LENGTHS); i++) check_kernel(b, &EXPECTED[k], LENGTHS[i]);
    if (b) test_division_by_zero(b);
    hg_backend_destroy(b);
    if (argc < 2) {
        test_cuda();
        test_msl();
    }
    return test_done();
}
