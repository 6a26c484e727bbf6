/* Floats as integers, by native code of each CPU level: NaNs, infinities, the ends of each type and
 * what lies beside them, and all exponents. Against long double. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <math.h>
#include <string.h>

enum { LANES = 4001 };

static const struct {
    hg_type type;
    const char *name;
    bool is_signed;
} TO[] = {{HG_TYPE_U8, "u8", false},   {HG_TYPE_I8, "i8", true},    {HG_TYPE_U16, "u16", false},
          {HG_TYPE_I16, "i16", true},  {HG_TYPE_U32, "u32", false}, {HG_TYPE_I32, "i32", true},
          {HG_TYPE_U64, "u64", false}, {HG_TYPE_I64, "i64", true}};

static double input(uint32_t i) {
    const double sign = i % 2 ? -1 : 1;
    const uint32_t k = i / 2;
    if (k == 0) return sign * (double)INFINITY;
    if (k == 1) return (double)NAN;
    if (k < 900) { /* 2^0 to 2^66, and 13 numbers about each */
        const double at = ldexp(1, (int)(k / 13));
        return sign * (k % 13 < 9 ? at + (k % 13 - 4.0) / 2 : at * (1 + (k % 13 - 10.5) * 0x1p-23));
    }
    return sign * ldexp(1 + (k * 2654435761u >> 8) * 0x1p-24, (int)(k % 90) - 20);
}

/* The bits of x as an integer. */
static uint64_t right(double x, uint32_t bits, bool is_signed) {
    const long double end = ldexpl(1, (int)bits - is_signed), least = is_signed ? -end : 0,
                      v = truncl((long double)x);
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    if (isnan(x)) return 0;
    if (v >= end) return is_signed ? mask >> 1 : mask;
    if (v <= least) return is_signed ? (mask >> 1) + 1 : 0;
    return v < 0 ? (0 - (uint64_t)-v) & mask : (uint64_t)v;
}

static void convert(hg_backend *b, const char *level, bool from_f32, size_t to) {
    static union {
        float f32[LANES];
        double f64[LANES];
    } x;
    static uint8_t y[LANES * 8];
    char text[240];
    hg_buffer in, out;
    hg_params *p = hg_params_create();
    hg_launch at = HG_LAUNCH_PROGRAM;
    const uint32_t bytes = (uint32_t)hg_type_size_bytes(TO[to].type);
    const uint64_t n = LANES, size = from_f32 ? sizeof x.f32 : sizeof x.f64;
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param x buffer %s in [n]\n.param y buffer %s out [n]\n"
             ".param n u64\n.lanes n\n    y[global] = %s(x[global])\n",
             from_f32 ? "f32" : "f64", TO[to].name, TO[to].name);
    hg_program *program = assemble(text);
    CHECK(p != NULL);
    for (uint32_t i = 0; i < LANES; i++)
        if (from_f32)
            x.f32[i] = (float)input(i);
        else
            x.f64[i] = input(i);
    CHECK_OK(hg_backend_allocate_buffer(b, size, &in));
    CHECK_OK(hg_backend_allocate_buffer(b, n * bytes, &out));
    CHECK_OK(hg_backend_copy_to_buffer(b, in, &x, size));
    CHECK_OK(hg_params_set_buffer(p, "x", in));
    CHECK_OK(hg_params_set_buffer(p, "y", out));
    CHECK_OK(hg_params_set_scalar(p, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_backend_execute_program_with_params(b, program, &at, p));
    CHECK_OK(hg_backend_copy_from_buffer(b, out, y, n * bytes));
    uint32_t wrong = 0, last = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t got = 0;
        memcpy(&got, y + (size_t)i * bytes, bytes);
        const double v = from_f32 ? (double)x.f32[i] : x.f64[i];
        if (got == right(v, bytes * 8, TO[to].is_signed)) continue;
        wrong++;
        last = i;
    }
    CHECK_MESSAGE(wrong == 0, "%s, %s of %s: %u are wrong, the last %a", level, TO[to].name,
                  from_f32 ? "f32" : "f64", wrong, input(last));
    CHECK_OK(hg_backend_free_buffer(b, in));
    CHECK_OK(hg_backend_free_buffer(b, out));
    hg_params_destroy(p);
    hg_program_release(program);
}

int main(void) {
    static const char *const LEVELS[] = {"baseline", "v3", "v4"};
    for (size_t i = 0; i < HG_COUNT_OF(LEVELS); i++) {
        hg_config config = hg_config_default();
        hg_backend *b = NULL;
        snprintf(config.backend, sizeof config.backend, "cpu");
        snprintf(config.cpu_level, sizeof config.cpu_level, "%s", LEVELS[i]);
        snprintf(config.jit, sizeof config.jit, "on");
        if (hg_backend_create_with_config(&config, &b) != HG_OK) SKIP(hg_last_error_text());
        for (size_t to = 0; to < HG_COUNT_OF(TO); to++) {
            convert(b, LEVELS[i], true, to);
            convert(b, LEVELS[i], false, to);
        }
        hg_backend_destroy(b);
    }
    return test_done();
}
