/* Whole-array steps as kernels: reductions of three levels, arrays at odd offsets, the same kernel
 * again. Lengths around the borders of the tree, all operations and types: tests/cts. */
#include "support/runtime_support.h"

static hg_backend *open_expanding(void) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    set_pretend(&config, "expand");
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) exit(test_done());
    return b;
}

static void run(hg_backend *b, const char *text, hg_buffer x, hg_buffer y, uint64_t n) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    hg_params_destroy(params);
    hg_program_release(p);
}

#define ARRAYS(type)                                                      \
    PROGRAM(".param r1 x buffer " type " inout\n.param r2 y buffer " type \
            " inout\n.param r4 n u64\n.lanes 1\n mov_imm.u64 r20, 0\n")

/* More than 4096^2 elements; the sum of bytes does not care about the order. */
static void three_levels(hg_backend *b) {
    enum { N = 4096 * 4096 + 4097 };
    uint8_t *bytes = malloc(N), sum = 0, got[2] = {0, 9};
    if (!bytes) exit(1);
    for (uint32_t i = 0, state = 7; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(state >> 24);
        sum = (uint8_t)(sum + bytes[i]);
    }
    hg_buffer x = make_buffer(b, bytes, N), y = make_buffer(b, got, sizeof got);
    run(b, ARRAYS("u8") " parallel_reduce.u8 [r2 + r20], r1, sum, r4\n", x, y, N);
    CHECK_OK(hg_backend_copy_from_buffer(b, y, got, sizeof got));
    CHECK_U64(got[0], sum);
    CHECK_U64(got[1], 9);
    free(bytes);
}

/* The tree of semantics 0.3, for one chunk. */
static float tree_sum(const float *x, uint32_t n) {
    float acc[128] = {0};
    for (uint32_t i = 0; i < n; i++) acc[i % 128] = i < 128 ? x[i] : acc[i % 128] + x[i];
    for (uint32_t s = 64; s >= 1; s /= 2)
        for (uint32_t l = 0; l < s && l + s < n; l++) acc[l] += acc[l + s];
    return acc[0];
}

/* Elements at bytes 1, 2, 3, … of a buffer; the result over the first of them. */
static void odd_offsets(hg_backend *b) {
    enum { N = 1000 };
    float values[N], expected, got;
    uint8_t bytes[N * 4 + 16];
    for (uint32_t i = 0; i < N; i++) values[i] = 1.0f / (float)(i + 1);
    for (uint32_t shift = 1; shift < 8; shift++) {
        char text[512];
        snprintf(text, sizeof text,
                 "%s parallel_map.f32 [r2 + r20 + %u], [r1 + r20 + %u], neg, r4\n "
                 "parallel_reduce.f32 [r1 + r20 + %u], [r2 + r20 + %u], "
                 "sum, r4\n",
                 ARRAYS("u8"), 2 * shift + 1, shift, shift, 2 * shift + 1);
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + shift, values, sizeof values);
        hg_buffer x = make_buffer(b, bytes, sizeof bytes), y = make_buffer(b, NULL, sizeof bytes);
        run(b, text, x, y, N);
        CHECK_OK(hg_backend_copy_from_buffer(b, x, bytes, sizeof bytes));
        memcpy(&got, bytes + shift, 4);
        expected = -tree_sum(values, N);
        CHECK_MESSAGE(memcmp(&got, &expected, 4) == 0, "shift %u: expected %a, got %a", shift,
                      (double)expected, (double)got);
        CHECK(memcmp(bytes + shift + 4, values + 1, sizeof values - 4) == 0);
        CHECK_OK(hg_backend_free_buffer(b, x));
        CHECK_OK(hg_backend_free_buffer(b, y));
    }
}

/* A loop whose step has other sizes and another place each time: 64, 63, … elements move up by one
 * byte within a buffer, read from a copy. What a binding keeps of a step is for the values it had.
 */
static void changing_sizes(hg_backend *b) {
    uint8_t bytes[96], expected[96];
    for (uint32_t i = 0; i < sizeof bytes; i++) expected[i] = bytes[i] = (uint8_t)(7 * i + 1);
    for (uint64_t n = 64; n > 0; n--) {
        memmove(expected + 1, expected, (size_t)n);
        for (uint64_t i = 1; i <= n; i++) expected[i] = (uint8_t)-expected[i];
        expected[80] = 0;
        for (uint64_t i = 0; i < n; i++) expected[80] = (uint8_t)(expected[80] + expected[i]);
    }
    for (int again = 0; again < 2; again++) {
        hg_buffer x = make_buffer(b, bytes, sizeof bytes), y = make_buffer(b, NULL, 8);
        uint8_t got[sizeof bytes];
        run(b,
            ARRAYS("u8") " mov_imm.u64 r21, 1\n mov_imm.u64 r22, 80\n mov.u64 r24, r4\nagain:\n"
                         " parallel_map.u8 [r1 + r21], [r1 + r20], neg, r24\n parallel_reduce.u8 "
                         "[r1 + r22], [r1 + r20], sum, r24\n"
                         " sub.u64 r24, r24, r21\n setne.u64 p0, r24, r20\n bra.p0 @again\n",
            x, y, 64);
        CHECK_OK(hg_backend_copy_from_buffer(b, x, got, sizeof got));
        CHECK(memcmp(got, expected, sizeof got) == 0);
        CHECK_OK(hg_backend_free_buffer(b, x));
        CHECK_OK(hg_backend_free_buffer(b, y));
    }
}

int main(void) {
    hg_backend *b = open_expanding();
    three_levels(b);
    for (int i = 0; i < 2; i++) odd_offsets(b);
    changing_sizes(b);
    hg_backend_destroy(b);
    return test_done();
}
