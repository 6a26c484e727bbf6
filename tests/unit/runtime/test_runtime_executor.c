/* Typed buffers, conversions to and from double, the generic executor, the readable test macros
 * with the specification's example. */
#include "oracle/oracle.h"
#include "runtime/backend.h"
#include "runtime/context.h"
#include "support/runtime_support.h"
#include <float.h>
#include <hologram/testing.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The example of the specification, "Human-Readable Test Macros". */
/* clang-format off */
BACKEND_TEST(test_vector_add_f32, "cpu", {
    /* setup */
    hg_typed_buffer a, b, c;
    ASSERT_OK(hg_allocate_typed(backend, HG_TYPE_F32, 256, &a));
    ASSERT_OK(hg_allocate_typed(backend, HG_TYPE_F32, 256, &b));
    ASSERT_OK(hg_allocate_typed(backend, HG_TYPE_F32, 256, &c));
    float a_data[256]; float b_data[256]; float expected[256];
    for (int i = 0; i < 256; i++) a_data[i] = (float)i, b_data[i] = (float)(i * 2);
    ASSERT_OK(hg_copy_to(backend, a, a_data, 256));
    ASSERT_OK(hg_copy_to(backend, b, b_data, 256));
    /* execute */
    TEST_PROGRAM(backend, hg_build_parallel_map_binary(builder, HG_TYPE_F32, hg_addr_buffer_handle(c.buffer.handle), hg_addr_buffer_handle(a.buffer.handle),
                                                       hg_addr_buffer_handle(b.buffer.handle), "add", hg_count(256)));
    /* verify */
    for (int i = 0; i < 256; i++) expected[i] = (float)(i + i * 2);
    ASSERT_TYPED_BUFFER_EQ(backend, c, expected, 256);
    ASSERT_BUFFER_EQ(backend, c.buffer, expected, 256);
})
/* clang-format on */

/* The same with its parts named. */
/* clang-format off */
BACKEND_TEST_PARTS(test_vector_sub_f32, "cpu",
    SETUP(
        hg_typed_buffer a, b;
        float a_data[256]; float expected[256];
        for (int i = 0; i < 256; i++) a_data[i] = (float)(2 * i), expected[i] = (float)i;
        ASSERT_OK(hg_allocate_typed(backend, HG_TYPE_F32, 256, &a));
        ASSERT_OK(hg_allocate_typed(backend, HG_TYPE_F32, 256, &b));
        ASSERT_OK(hg_copy_to(backend, a, a_data, 256));
        ASSERT_OK(hg_copy_to(backend, b, expected, 256));),
    EXECUTE(
        TEST_PROGRAM(backend, hg_build_parallel_map_binary(builder, HG_TYPE_F32, hg_addr_buffer_handle(a.buffer.handle), hg_addr_buffer_handle(a.buffer.handle),
                                                           hg_addr_buffer_handle(b.buffer.handle), "sub", hg_count(256)));),
    VERIFY(
        ASSERT_TYPED_BUFFER_EQ(backend, a, expected, 256);))
/* clang-format on */

/* The macros must notice what is wrong, with the specification's texts. */
static void test_macros_notice(hg_backend *b) {
    hg_typed_buffer buffer;
    float data[3] = {1, 2, 3}, other[3] = {1, 2.5f, 4};
    char text[512] = "";
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_F32, 3, &buffer));
    CHECK_OK(hg_copy_to(b, buffer, data, 3));
    int failed = hg_test_failures();
    FILE *kept = stderr, *memory = fmemopen(text, sizeof text, "w");
    if (!memory) return;
    stderr = memory;
    ASSERT_TYPED_BUFFER_EQ(b, buffer, other, 3);
    ASSERT_BUFFER_EQ(b, buffer.buffer, other, 3);
    ASSERT_OK(hg_backend_free_buffer(b, (hg_buffer){4711}));
    TEST_PROGRAM(b, hg_build_add(builder, HG_TYPE_F32, 1, 2, 3));
    ASSERT_TYPED_BUFFER_EQ(b, buffer, data, 3); /* right: says nothing */
    fclose(memory);
    stderr = kept;
    CHECK_U64(hg_test_failures() - failed, 4);
    CHECK(strstr(text, ": Typed buffer mismatch at index 1: expected 2.5, got 2\n") != NULL);
    CHECK(strstr(text, ": Buffer mismatch at index 1: expected 2.5, got 2\n") != NULL);
    CHECK(strstr(text, "Invalid buffer handle: BufferHandle(4711)\n") != NULL);
    CHECK(strstr(text, "uninitialized register: r2\n") != NULL);
    CHECK(hg_test_close(INFINITY, INFINITY) && hg_test_close(NAN, NAN) && !hg_test_close(1, NAN) &&
          !hg_test_close(NAN, 1) && !hg_test_close(INFINITY, -INFINITY));
    hg_test_failed_count = failed;
    CHECK_OK(hg_free_typed(b, buffer));
}

static void test_typed(hg_backend *b) {
    hg_typed_buffer t, none;
    int16_t in[3] = {-1, 2, -3}, out[3];
    double wrong[3] = {0};
    uint64_t size = 0;
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_I16, 3, &t));
    CHECK_OK(hg_backend_buffer_size(b, t.buffer, &size));
    CHECK_U64(size, 6);
    CHECK_OK(hg_copy_to(b, t, in, 3));
    CHECK_OK(hg_copy_from(b, t, out, 3));
    CHECK(memcmp(in, out, sizeof in) == 0);
    CHECK_FAILS(hg_copy_to(b, t, in, 2), HG_ERROR_INVALID_ARGUMENT, "",
                "Invalid buffer size: expected 3, got 2");
    CHECK_FAILS(hg_copy_from(b, t, wrong, 3), HG_ERROR_INVALID_ARGUMENT, "",
                "the buffer holds i16, given f64");
    CHECK_STATUS(hg_allocate_typed(b, HG_TYPE_F64, UINT64_MAX / 4, &none),
                 HG_ERROR_ALLOCATION_FAILED);
    CHECK_STATUS(hg_allocate_typed(b, HG_TYPE_COUNT, 1, &none), HG_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hg_free_typed(b, t));
    CHECK_STATUS(hg_free_typed(b, t), HG_ERROR_INVALID_BUFFER);
    /* every C number finds its type */
    CHECK(hg_type_of((float *)0) == HG_TYPE_F32 && hg_type_of((double *)0) == HG_TYPE_F64 &&
          hg_type_of((int8_t *)0) == HG_TYPE_I8 && hg_type_of((int16_t *)0) == HG_TYPE_I16 &&
          hg_type_of((int32_t *)0) == HG_TYPE_I32 && hg_type_of((int64_t *)0) == HG_TYPE_I64 &&
          hg_type_of((uint8_t *)0) == HG_TYPE_U8 && hg_type_of((uint16_t *)0) == HG_TYPE_U16 &&
          hg_type_of((uint32_t *)0) == HG_TYPE_U32 &&
          hg_type_of((const uint64_t *)0) == HG_TYPE_U64);
}

/* ---- conversions ---- */

/* A half by its definition, in another way than the library: sum of powers of two. */
static double half_value(uint16_t bits, int exponent_bits) {
    int fraction = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1,
        e = (bits & 0x7fff) >> fraction, m = bits & ((1 << fraction) - 1);
    double v = e ? 1 + m / (double)(1 << fraction) : m / (double)(1 << fraction);
    return (bits >> 15 ? -1 : 1) * v * pow(2, e ? e - bias : 1 - bias);
}

/* All values of a 16-bit float; the points between two neighbours round to the nearer, in the
 * middle to the even one. */
static void test_half(hg_type type, int exponent_bits) {
    uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << (15 - exponent_bits));
    uint64_t wrong = 0;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t h = (uint16_t)bits, back = 0, magnitude = h & 0x7fff;
        double v = 0;
        wrong += hg_type_to_f64(type, &h, &v) != HG_OK;
        if (magnitude > infinity) {
            wrong += !isnan(v) || hg_type_from_f64(type, v, &back) != HG_OK ||
                     (back & 0x7fff) <= infinity;
            continue;
        }
        wrong += magnitude == infinity ? !isinf(v) || (uint32_t)(signbit(v) != 0) != bits >> 15
                                       : v != half_value(h, exponent_bits) ||
                                             (uint32_t)(signbit(v) != 0) != bits >> 15;
        wrong += hg_type_from_f64(type, v, &back) != HG_OK || back != h;
        if (magnitude + 1 >= infinity) continue;
        double next = half_value((uint16_t)(h + 1), exponent_bits), middle = (v + next) / 2;
        uint16_t even = h & 1 ? (uint16_t)(h + 1) : h;
        wrong += hg_type_from_f64(type, middle, &back) != HG_OK || back != even;
        wrong += hg_type_from_f64(type, nextafter(middle, v), &back) != HG_OK || back != h;
        wrong += hg_type_from_f64(type, nextafter(middle, next), &back) != HG_OK || back != h + 1;
    }
    CHECK_MESSAGE(wrong == 0, "%s: %" PRIu64 " wrong", hg_type_name(type), wrong);
    uint16_t largest = (uint16_t)(infinity - 1), bits;
    double top = half_value(largest, exponent_bits),
           step = top - half_value((uint16_t)(largest - 1), exponent_bits);
    CHECK_OK(hg_type_from_f64(type, top + step / 2, &bits)); /* a tie goes to infinity */
    CHECK_U64(bits, infinity);
    CHECK_OK(hg_type_from_f64(type, nextafter(top + step / 2, 0), &bits));
    CHECK_U64(bits, largest);
    CHECK_OK(hg_type_from_f64(type, -1e300, &bits));
    CHECK_U64(bits, infinity | 0x8000);
    CHECK_OK(hg_type_from_f64(type, DBL_TRUE_MIN, &bits));
    CHECK_U64(bits, 0);
}

static void test_conversions(void) {
    static const struct {
        hg_type type;
        double in;
        uint64_t bits;
    } cases[] = {{HG_TYPE_I8, 127.9, 127},
                 {HG_TYPE_I8, 128, 127},
                 {HG_TYPE_I8, -128.9, 0x80},
                 {HG_TYPE_I8, -1e9, 0x80},
                 {HG_TYPE_U8, -0.5, 0},
                 {HG_TYPE_U8, 255.99, 255},
                 {HG_TYPE_U8, 1e300, 255},
                 {HG_TYPE_I16, -2.7, 0xFFFE},
                 {HG_TYPE_I32, 2147483648.0, 0x7FFFFFFF},
                 {HG_TYPE_I32, -2147483649.0, 0x80000000},
                 {HG_TYPE_U32, 4294967296.0, 0xFFFFFFFF},
                 {HG_TYPE_I64, 9223372036854775808.0, INT64_MAX},
                 {HG_TYPE_I64, -9223372036854775808.0, (uint64_t)1 << 63},
                 {HG_TYPE_U64, 18446744073709551616.0, UINT64_MAX},
                 {HG_TYPE_U64, 9223372036854775808.0, (uint64_t)1 << 63},
                 {HG_TYPE_I64, (double)NAN, 0},
                 {HG_TYPE_U8, (double)NAN, 0},
                 {HG_TYPE_I32, (double)INFINITY, 0x7FFFFFFF},
                 {HG_TYPE_U64, -(double)INFINITY, 0},
                 {HG_TYPE_F32, 0.1, 0x3dcccccd},
                 {HG_TYPE_F64, 0.1, 0x3fb999999999999a}};
    double v;
    uint64_t bits;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bits = 0;
        CHECK_OK(hg_type_from_f64(cases[i].type, cases[i].in, &bits));
        CHECK_MESSAGE(bits == cases[i].bits, "%s of %g: expected %" PRIx64 ", got %" PRIx64,
                      hg_type_name(cases[i].type), cases[i].in, cases[i].bits, bits);
    }
    for (int x = -128; x < 128; x++) {
        int8_t small = (int8_t)x;
        CHECK(hg_type_to_f64(HG_TYPE_I8, &small, &v) == HG_OK && v == x);
        CHECK(hg_type_to_f64(HG_TYPE_U8, &small, &v) == HG_OK && v == (uint8_t)x);
    }
    bits = UINT64_MAX;
    CHECK(hg_type_to_f64(HG_TYPE_U64, &bits, &v) == HG_OK && v == 18446744073709551616.0);
    CHECK(hg_type_to_f64(HG_TYPE_I64, &bits, &v) == HG_OK && v == -1);
    float f = -0.75f;
    CHECK(hg_type_to_f64(HG_TYPE_F32, &f, &v) == HG_OK && v == -0.75);
    CHECK_STATUS(hg_type_to_f64(HG_TYPE_COUNT, &bits, &v), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_type_from_f64(HG_TYPE_COUNT, 1, &bits), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_type_one((hg_type)-1, &bits), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_type_zero(HG_TYPE_U8, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_type_to_f64(HG_TYPE_U8, &bits, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_type_to_f64(HG_TYPE_U8, NULL, &v), HG_ERROR_INVALID_ARGUMENT);
    test_half(HG_TYPE_F16, 5);
    test_half(HG_TYPE_BF16, 8);
}

/* All 24 types against the oracle's conversions: doubles of every exponent, integers of every
 * length, ties. */
static void test_all_types(void) {
    uint64_t wrong = 0;
    uint32_t state = 7;
    for (int type = 0; type < HG_TYPE_COUNT; type++) {
        uint8_t mine[512], theirs[512], back[8];
        uint64_t size = hg_type_size_bytes((hg_type)type);
        double v = 0;
        CHECK(hg_type_one((hg_type)type, mine) == HG_OK &&
              hg_type_to_f64((hg_type)type, mine, &v) == HG_OK && v == 1);
        CHECK(hg_type_zero((hg_type)type, mine) == HG_OK &&
              hg_type_to_f64((hg_type)type, mine, &v) == HG_OK && v == 0 && !signbit(v));
        for (int i = 0; i < 12000; i++) {
            uint64_t bits = 0;
            for (int k = 0; k < 4; k++)
                bits = bits << 16 | (state = state * 1664525u + 1013904223u) >> 16;
            if (i & 1)
                bits = (bits & ~(UINT64_C(0x7FF) << 52)) |
                       (uint64_t)(1000 + i % (40 + 8 * (int)size)) << 52; /* near the range */
            memcpy(&v, &bits, 8);
            if (isnan(v)) continue;
            oracle_convert((hg_type)type, HG_TYPE_F64, (const uint8_t *)&v, theirs);
            wrong += hg_type_from_f64((hg_type)type, v, mine) != HG_OK ||
                     memcmp(mine, theirs, (size_t)size) != 0;
        }
        for (int i = 0; i < 4000 && hg_type_is_integer((hg_type)type); i++) {
            uint64_t length = 1 + (uint64_t)i % (size * 8);
            unsigned ones = i & 4 && hg_type_is_signed((hg_type)type);
            memset(mine, i & 2 ? 0xFF : 0, size);
            for (uint64_t k = 0; k < size; k++)
                if (i & 1 || k * 8 + 72 > length)
                    mine[k] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
            for (uint64_t k = length; k < size * 8; k++) /* sign or zeros above */
                mine[k / 8] = (uint8_t)((mine[k / 8] & ~(1u << k % 8)) | (ones << k % 8));
            oracle_convert(HG_TYPE_F64, (hg_type)type, mine, back);
            wrong += hg_type_to_f64((hg_type)type, mine, &v) != HG_OK || memcmp(&v, back, 8) != 0;
        }
        CHECK_MESSAGE(wrong == 0, "%s: %" PRIu64 " wrong", hg_type_name((hg_type)type), wrong);
    }
}

/* ---- the executor ---- */

static void test_executor(hg_backend *b) {
    hg_typed_buffer a, c, d, one, small;
    float x[1000], y[1000], out[1000], sum = 0;
    int32_t in[4] = {5, -7, 2, 9}, integers[4];
    for (int i = 0; i < 1000; i++) x[i] = (float)(i + 1), y[i] = (float)(i - 500) / 4;
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_F32, 1000, &a));
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_F32, 1000, &c));
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_F32, 1000, &d));
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_F32, 1, &one));
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_I32, 4, &small));
    CHECK_OK(hg_copy_to(b, a, x, 1000));
    CHECK_OK(hg_copy_to(b, c, y, 1000));
    CHECK_OK(hg_execute_unary(b, "relu", c, d));
    CHECK_OK(hg_copy_from(b, d, out, 1000));
    for (int i = 0; i < 1000; i++) CHECK(out[i] == (y[i] > 0 ? y[i] : 0));
    CHECK_OK(hg_execute_unary(b, "sqrt", a, a)); /* in place */
    CHECK_OK(hg_copy_from(b, a, out, 1000));
    for (int i = 0; i < 1000; i++) CHECK(out[i] == sqrtf(x[i]));
    CHECK_OK(hg_copy_to(b, a, x, 1000));
    CHECK_OK(hg_execute_binary(b, "sub", a, c, d));
    CHECK_OK(hg_copy_from(b, d, out, 1000));
    for (int i = 0; i < 1000; i++) CHECK(out[i] == x[i] - y[i]);
    CHECK_OK(hg_execute_reduce(b, "sum", a, one));
    CHECK_OK(hg_copy_from(b, one, &sum, 1));
    CHECK(sum == 500500); /* the vector of semantics 8.4 */
    CHECK_OK(hg_execute_reduce(b, "min", c, one));
    CHECK_OK(hg_copy_from(b, one, &sum, 1));
    CHECK(sum == -125);
    CHECK_OK(hg_copy_to(b, small, in, 4));
    CHECK_OK(hg_execute_binary(b, "max", small, small, small));
    CHECK_OK(hg_execute_reduce(b, "product", small, small));
    CHECK_OK(hg_copy_from(b, small, integers, 4));
    CHECK(integers[0] == -630 && integers[1] == -7);
    CHECK_FAILS(hg_execute_unary(b, "add", a, d), HG_ERROR_INVALID_ARGUMENT, "",
                "'add' is no operation of this kind");
    CHECK_STATUS(hg_execute_binary(b, "relu", a, c, d), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_execute_reduce(b, "mean", a, one), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_execute_unary(b, NULL, a, d), HG_ERROR_INVALID_ARGUMENT);
    CHECK_FAILS(hg_execute_unary(b, "relu", a, small), HG_ERROR_INVALID_ARGUMENT, "",
                "operands are f32 and i32");
    CHECK_FAILS(hg_execute_unary(b, "relu", a, one), HG_ERROR_INVALID_ARGUMENT, "",
                "Invalid buffer size: expected 1000, got 1");
    CHECK_STATUS(hg_execute_unary(b, "sqrt", small, small), HG_ERROR_ISA); /* not for integers */
    CHECK_OK(hg_free_typed(b, one));
    CHECK_STATUS(hg_execute_reduce(b, "sum", a, one), HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F03");
    CHECK_OK(hg_free_typed(b, a));
    CHECK_OK(hg_free_typed(b, c));
    CHECK_OK(hg_free_typed(b, d));
    CHECK_OK(hg_free_typed(b, small));
}

/* ---- hg_executor ---- */

static void test_types(void) {
    static const char *const names[] = {"auto",   "cpu",    "cuda",   "metal", "wasm",
                                        "webgpu", "vulkan", "opencl", "tpu",   "null"};
    hg_backend_type type;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char upper[16];
        for (size_t k = 0; k <= strlen(names[i]); k++)
            upper[k] = names[i][k] >= 'a' ? (char)(names[i][k] - 32) : names[i][k];
        CHECK_OK(hg_backend_type_from_name(upper, &type));
        CHECK_TEXT(hg_backend_type_name(type), names[i]);
        CHECK(type == (hg_backend_type)i);
    }
    CHECK_OK(hg_backend_type_from_name("WGPU", &type));
    CHECK(type == HG_BACKEND_WEBGPU);
    CHECK(hg_backend_type_name((hg_backend_type)99) == NULL);
    CHECK_STATUS(hg_backend_type_from_name("fpga", &type), HG_ERROR_BACKEND_UNAVAILABLE);
    CHECK(strstr(hg_last_error_text(), "Invalid backend type: fpga") != NULL);
    CHECK_STATUS(hg_backend_type_from_name(NULL, &type), HG_ERROR_INVALID_ARGUMENT);
}

static void test_create(void) {
    static const struct {
        hg_backend_type type;
        const char *message;
    } absent[] = {
#if !defined(__APPLE__)
        {HG_BACKEND_METAL, "Metal backend only available on Apple platforms"},
#endif
        {HG_BACKEND_WASM, "WASM backend requires 'wasm' feature to be enabled"}
    };
    hg_executor *e = NULL;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        CHECK_STATUS(hg_executor_create_with_backend(absent[i].type, &e),
                     HG_ERROR_BACKEND_UNAVAILABLE);
        CHECK(!e && strstr(hg_last_error_text(), absent[i].message) != NULL);
    }
    CHECK_OK(hg_executor_create_auto(&e)); /* never fails where there is a CPU */
    hg_executor_destroy(e);
    CHECK_OK(hg_ffi_new_executor(&e));
    CHECK(hg_executor_backend_type(e) == HG_BACKEND_CPU);
    CHECK_TEXT(hg_backend_name(hg_executor_backend(e)), "cpu");
    hg_executor_destroy(e);
    CHECK_OK(hg_ffi_new_executor_with_backend("NULL", &e));
    CHECK(hg_executor_backend_type(e) == HG_BACKEND_NULL);
    hg_executor_destroy(e);
    CHECK_STATUS(hg_ffi_new_executor_with_backend("fpga", &e), HG_ERROR_BACKEND_UNAVAILABLE);
    CHECK(!e);
    CHECK_STATUS(hg_executor_create_cpu(NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_executor_create_from_config(NULL, &e), HG_ERROR_INVALID_ARGUMENT);
    hg_config config = hg_config_default();
    memcpy(config.log_level, "loud", 5);
    CHECK_STATUS(hg_executor_create_from_config(&config, &e), HG_ERROR_INVALID_ARGUMENT);
    config = hg_config_default();
    config.log_file = "/nowhere/log";
    CHECK_STATUS(hg_executor_create_from_config(&config, &e), HG_ERROR_INVALID_ARGUMENT);
    hg_executor_destroy(NULL);
    CHECK(hg_executor_backend(NULL) == NULL);
}

static hg_executor_memory_info memory_of(hg_executor *e) {
    hg_executor_memory_info info = {.size = sizeof info};
    CHECK_OK(hg_executor_memory(e, &info));
    return info;
}

/* Freed buffers come again, cleared and of exactly the size that was asked for; the oldest go. */
static void test_pool(void) {
    enum { COUNT = 1000 };
    hg_config config = hg_config_default();
    hg_executor *e = NULL;
    hg_typed_buffer a, b, many[8];
    float data[COUNT];
    uint64_t bytes;
    memcpy(config.backend, "cpu", 4);
    config.pool_buffers = 4;
    config.pool_bytes = 1 << 20;
    CHECK_OK(hg_executor_create_from_config(&config, &e));
    CHECK_OK(hg_executor_allocate(e, HG_TYPE_F32, COUNT, &a));
    CHECK_OK(hg_backend_buffer_size(hg_executor_backend(e), a.buffer, &bytes));
    CHECK_U64(bytes, 4 * COUNT);
    for (int i = 0; i < COUNT; i++) data[i] = (float)i;
    CHECK_OK(hg_copy_to(hg_executor_backend(e), a, data, COUNT));
    CHECK_U64(memory_of(e).used, 4096);
    CHECK_OK(hg_executor_free(e, a));
    CHECK_STATUS(hg_executor_free(e, a), HG_ERROR_INVALID_BUFFER);
    CHECK(memory_of(e).used == 0 && memory_of(e).kept == 4096 && memory_of(e).kept_count == 1);
    CHECK_OK(hg_executor_allocate(e, HG_TYPE_F32, COUNT - 5, &b)); /* of the same class */
    CHECK(memory_of(e).reused == 1 && memory_of(e).kept_count == 0);
    CHECK_OK(hg_backend_buffer_size(hg_executor_backend(e), b.buffer, &bytes));
    CHECK_U64(bytes, 4 * (COUNT - 5));
    CHECK_OK(hg_copy_from(hg_executor_backend(e), b, data, COUNT - 5));
    int cleared = 1;
    for (int i = 0; i < COUNT - 5; i++) cleared &= data[i] == 0;
    CHECK(cleared);
    CHECK_OK(hg_executor_free(e, b));
    for (int i = 0; i < 8; i++)
        CHECK_OK(hg_executor_allocate(e, HG_TYPE_U8, UINT64_C(300) << i, &many[i]));
    for (int i = 0; i < 8; i++) CHECK_OK(hg_executor_free(e, many[i]));
    CHECK_U64(memory_of(e).kept_count, 4); /* those that were freed last */
    CHECK_U64(memory_of(e).kept, (320u << 4) + (320u << 5) + (320u << 6) + (320u << 7));
    CHECK_OK(hg_executor_trim(e, 320u << 7));
    CHECK(memory_of(e).kept_count == 1 && memory_of(e).kept == 320u << 7);
    CHECK_OK(hg_executor_allocate(e, HG_TYPE_U8, 2 << 20, &a)); /* larger than what is kept */
    CHECK_OK(hg_executor_free(e, a));
    CHECK(memory_of(e).kept <= 1 << 20 && memory_of(e).peak >= 2 << 20);
    CHECK_OK(hg_executor_allocate(e, HG_TYPE_U8, 0, &a));
    CHECK_OK(hg_executor_free(e, a));
    CHECK_STATUS(hg_executor_allocate(e, HG_TYPE_F64, UINT64_MAX / 4, &a),
                 HG_ERROR_ALLOCATION_FAILED);
    CHECK_STATUS(hg_executor_allocate(e, (hg_type)99, 4, &a), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_executor_free(e, (hg_typed_buffer){{4711}, HG_TYPE_F32, 1}),
                 HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_executor_memory(e, NULL), HG_ERROR_INVALID_ARGUMENT);
    hg_executor_destroy(e);
}

/* What is kept is never a reason to refuse: with a cap of 1 MiB, a MiB fits where one was freed. */
static void test_cap(void) {
    hg_config config = hg_config_default();
    hg_executor *e = NULL;
    hg_typed_buffer a;
    memcpy(config.backend, "cpu", 4);
    config.max_memory = 4 << 20;
    CHECK_OK(hg_executor_create_from_config(&config, &e));
    for (uint64_t i = 0; i < 40; i++) {
        CHECK_OK(hg_executor_allocate(e, HG_TYPE_U8, (1 << 20) + i * (1 << 16), &a));
        CHECK_OK(hg_executor_free(e, a));
    }
    CHECK_STATUS(hg_executor_allocate(e, HG_TYPE_U8, 5 << 20, &a), HG_ERROR_ALLOCATION_FAILED);
    CHECK_OK(hg_executor_allocate(e, HG_TYPE_U8, 3 << 20, &a));
    hg_executor_destroy(e); /* frees what was not given back */
    config.pooling = false;
    CHECK_OK(hg_executor_create_from_config(&config, &e));
    CHECK_OK(hg_executor_allocate(e, HG_TYPE_U8, 1000, &a));
    CHECK_OK(hg_executor_free(e, a));
    CHECK_U64(memory_of(e).kept, 0);
    hg_executor_destroy(e);
}

/* The default grid and block of the configuration, and the log. */
static void test_executes(void) {
    static const char text[] = ".atlas 1\n.program count\n.param r1 n buffer u32 inout [1]\n"
                               "mov.u32 r2, 1\natom.add.u32 r3, [n[0]], r2\nexit\n";
    char path[] = "/tmp/hologram-log-XXXXXX", log[2048] = "";
    hg_config config = hg_config_default();
    hg_executor *e = NULL;
    hg_program *program = NULL;
    hg_typed_buffer n;
    uint32_t count = 0;
    int file = mkstemp(path);
    CHECK(file >= 0);
    memcpy(config.backend, "cpu", 4);
    memcpy(config.log_level, "trace", 6);
    config.log_file = path;
    config.grid[0] = 4, config.grid[1] = config.grid[2] = 1;
    config.block[0] = 8, config.block[1] = config.block[2] = 1;
    CHECK_OK(hg_executor_create_from_config(&config, &e));
    CHECK_OK(hg_program_assemble(text, strlen(text), NULL, &program));
    CHECK_OK(hg_executor_allocate(e, HG_TYPE_U32, 1, &n));
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "n", n.buffer));
    CHECK_OK(hg_executor_execute(e, program, NULL, params));
    CHECK_OK(hg_copy_from(hg_executor_backend(e), n, &count, 1));
    CHECK_U64(count, 32);
    hg_launch one = hg_launch_default();
    CHECK_OK(hg_executor_execute(e, program, &one, params));
    CHECK_OK(hg_copy_from(hg_executor_backend(e), n, &count, 1));
    CHECK_U64(count, 33);
    CHECK_STATUS(hg_executor_execute(e, NULL, NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_executor_execute(e, program, NULL, NULL), HG_ERROR_ISA); /* not bound */
    hg_params_destroy(params);
    hg_program_release(program);
    hg_executor_destroy(e);
    FILE *f = fdopen(file, "r");
    CHECK(f && fread(log, 1, sizeof log - 1, f) > 0);
    if (f) fclose(f);
    CHECK(strstr(log, "hologram info: backend cpu is cpu\n") == log);
    CHECK(strstr(log, "hologram trace: allocate 1 x u32\n") != NULL);
    CHECK(strstr(log, "hologram debug: execute ") != NULL);
    CHECK(strstr(log, "hologram error: execute ") != NULL);
    CHECK(strstr(log, "hologram info: closed\n") != NULL);
    remove(path);
}

/* Where launches that were started cannot be waited for, as on a page, the executor stays, with all
 * that it has, and can be destroyed when they are over (else a sanitizer finds its backend). */
static hg_status never_over(hg_context *context) {
    (void)context;
    return hg_fail(HG_ERROR_WOULD_BLOCK, "a launch is under way");
}

static void test_busy(void) {
    hg_executor *e = NULL;
    hg_typed_buffer buffer;
    float data[3] = {1, 2, 3}, back[3] = {0};
    CHECK_OK(hg_executor_create_with_backend(HG_BACKEND_CPU, &e));
    hg_backend *b = hg_executor_backend(e);
    hg_status (*own)(hg_context *) = b->context->end_starters;
    CHECK_OK(hg_allocate_typed(b, HG_TYPE_F32, 3, &buffer));
    b->context->end_starters = never_over;
    hg_executor_destroy(e);
    CHECK(strstr(hg_last_error_text(), "a launch is under way") != NULL);
    b->context->end_starters = own;
    CHECK(hg_executor_backend(e) == b);
    CHECK_OK(hg_copy_to(b, buffer, data, 3));
    CHECK_OK(hg_copy_from(b, buffer, back, 3));
    CHECK(memcmp(data, back, sizeof data) == 0);
    hg_executor_destroy(e);
}

int main(void) {
    test_types();
    test_busy();
    test_create();
    test_pool();
    test_cap();
    test_executes();
    RUN_BACKEND_TEST(test_vector_add_f32);
    RUN_BACKEND_TEST(test_vector_sub_f32);
    CHECK_U64(hg_test_failures(), 0);
    hg_backend *b = open_backend("cpu");
    test_macros_notice(b);
    test_typed(b);
    test_conversions();
    test_all_types();
    test_executor(b);
    hg_backend_destroy(b);
    return test_done();
}
