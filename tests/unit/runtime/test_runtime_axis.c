/* Instructions along an axis that is not the last have the bits of the last one's, on an array
 * whose axes were exchanged. */
#include "runtime/client.h"
#include "support/runtime_support.h"

/* Its lines; `inner` and what stands in front of the axis are written behind it. */
typedef struct work {
    const char *text, *rows; /* rows: that operand */
    uint32_t size, in, out;  /* bytes of an element; elements of a line, of parts */
    uint32_t in_parts, out_parts;
} work;

static const work WORKS[] = {
    {"softmax.f32 output=y, input=x, n=5", "rows", 4, 5, 5, 1, 1},
    {"softmax.f64 output=y, input=x, n=300", "rows", 8, 300, 300, 1, 1},
    {"log_softmax.bf16 output=y, input=x, n=70", "rows", 2, 70, 70, 1, 1},
    {"layer_norm.f32 output=y, input=x, gamma=z, beta=z, n=130, eps=1e-5", "rows", 4, 130, 130, 1,
     1},
    {"rms_norm.f16 output=y, input=x, gamma=z, n=33, eps=1e-5", "rows", 2, 33, 33, 1, 1},
    {"fft.f32 output=y, input=x, n=24, inverse=false", "batch", 4, 24, 24, 2, 2},
    {"fft.f64 output=y, input=x, n=17, inverse=true", "batch", 8, 17, 17, 2, 2},
    {"fft.f32 output=y, input=x, n=10, inverse=false, real=true", "batch", 4, 10, 6, 1, 2},
    {"fft.f32 output=y, input=x, n=9, inverse=true, real=true", "batch", 4, 5, 9, 2, 1},
};

enum { BYTES = 1 << 18 };

/* Numbers of about 1; some rows of f32 and f64 have squares that are no numbers. */
static void fill(uint8_t *bytes, uint32_t size, bool far) {
    uint32_t state = 99;
    for (uint32_t i = 0; i < BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(state >> 24);
        if (i % size != size - 1) continue;
        bytes[i] = (uint8_t)((size == 2 ? 0x38 : 0x3f) | (bytes[i] & 0x80));
        if (size == 8) bytes[i - 1] |= 0xc0;
        if (far && size > 2 && i / size % 7 == 3) bytes[i] ^= 0x41;
    }
}

/* [outer, n, inner] to [outer, inner, n], or back. */
static void turn(const uint8_t *from, uint8_t *to, uint64_t outer, uint64_t n, uint64_t inner,
                 uint64_t bytes, bool back) {
    for (uint64_t i = 0; i < outer * n * inner; i++) {
        uint64_t k = i % n, row = i / n, at = (row / inner * n + k) * inner + row % inner;
        memcpy(to + (back ? at : i) * bytes, from + (back ? i : at) * bytes, bytes);
    }
}

static void calculate(hg_backend *b, const work *w, uint64_t rows, uint64_t inner, uint8_t *x,
                      uint8_t *y) {
    static const char *const names[] = {"x", "y", "z"};
    static uint8_t factors[BYTES];
    hg_buffer arrays[3];
    char text[512];
    snprintf(text, sizeof text,
             PROGRAM(".param x buffer u8 in\n.param y buffer u8 inout\n.param z buffer u8 in\n"
                     "    %s, %s=%u, inner=%u\n"),
             w->text, w->rows, (unsigned)rows, (unsigned)inner);
    hg_program *program = assemble(text);
    hg_params *params = hg_params_create();
    fill(factors, w->size, false);
    memset(y, 0xee, BYTES);
    for (int i = 0; i < 3; i++) {
        arrays[i] = make_buffer(b, i == 0 ? x : i == 1 ? y : factors, BYTES);
        CHECK_OK(hg_params_set_buffer(params, names[i], arrays[i]));
    }
    CHECK_OK(hg_backend_execute_program_with_params(b, program, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, arrays[1], y, BYTES));
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, arrays[i]));
    hg_params_destroy(params);
    hg_program_release(program);
}

static void compare(hg_backend *b, const work *w, uint64_t outer, uint64_t inner) {
    static uint8_t x[BYTES], turned[BYTES], y[BYTES], rows[BYTES], expected[BYTES];
    fill(x, w->size, strstr(w->text, "norm") != NULL);
    memset(expected, 0xee, BYTES);
    calculate(b, w, outer, inner, x, y);
    turn(x, turned, outer, w->in, inner, w->in_parts * w->size, false);
    calculate(b, w, outer * inner, 1, turned, rows);
    turn(rows, expected, outer, w->out, inner, w->out_parts * w->size, true);
    CHECK_MESSAGE(memcmp(y, expected, BYTES) == 0, "%s: %u times %u lines have other bits", w->text,
                  (unsigned)outer, (unsigned)inner);
}

static void compare_all(const char *jit, size_t works) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    memcpy(config.vendor, "off", 4);
    memcpy(config.jit, jit, strlen(jit) + 1);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    for (size_t i = 0; i < works; i++) {
        compare(b, &WORKS[i], 3, 2);
        compare(b, &WORKS[i], 2, 19);
        compare(b, &WORKS[i], 1, 66);
    }
    hg_backend_destroy(b);
}

int main(void) {
    compare_all("off", HG_COUNT_OF(WORKS));
    compare_all("on", 1); /* compiling takes half a second each */
    return test_done();
}
