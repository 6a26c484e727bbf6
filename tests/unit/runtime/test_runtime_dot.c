/* Sums of products of four bytes: the ends of the bytes, sums that wrap and random words on every
 * device, by its own instruction or decomposed, from words that lie in memory and from ones that
 * are the same for all lanes. And of two halves: their order, subnormals, infinities. */
#include "support/runtime_support.h"
#include <math.h>

enum { COUNT = 1024 + 37 };

static uint32_t state = 2463534242u;
static uint32_t random_word(void) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

/* One byte after another, by the definition in words: nothing here is the library's. */
static uint32_t dot4(bool is_signed, uint32_t a, uint32_t b, uint32_t c) {
    int64_t sum = c;
    for (int i = 0; i < 4; i++) {
        int x = (int)(a >> 8 * i & 255), y = (int)(b >> 8 * i & 255);
        if (is_signed && x >= 128) x -= 256;
        if (y >= 128) y -= 256;
        sum += x * y;
    }
    return (uint32_t)((uint64_t)sum & 0xffffffff);
}

static uint32_t a[COUNT], b[COUNT], c[COUNT], result[5][COUNT];

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* bf16 only: the upper half of an f32. */
static float dot2(uint32_t x, uint32_t y, float sum) {
    sum = fmaf(float_of(x & 0xffff0000), float_of(y & 0xffff0000), sum);
    return fmaf(float_of(x << 16), float_of(y << 16), sum);
}

static bool same_float(uint32_t bits, float f) {
    return isnan(f) ? isnan(float_of(bits)) : memcmp(&bits, &f, sizeof f) == 0;
}

/* Pairs whose products cancel in one order and round in the other, subnormal factors and sums, 0 *
 * infinity. */
static const uint32_t PAIRS[][3] = {
    {0x3f804b80, 0x3f80cb80, 0x3f800000}, {0x3f813f7f, 0x3f81bf82, 0x33800000},
    {0x0001007f, 0x3f803f80, 0x00000001}, {0x80018001, 0x3f003f00, 0x80000001},
    {0x00800080, 0x3f003f00, 0x00000000}, {0x7f800000, 0x00003f80, 0x3f800000},
    {0x7f7f7f7f, 0x3f80ff7f, 0x7f7fffff}, {0x20002000, 0x1f801f81, 0x80000000},
};

static void fill(void) {
    static const uint32_t ENDS[] = {0x80808080, 0xffffffff, 0x7f7f7f7f, 0,
                                    0x01010101, 0x80007f01, 0xff80017f, 0x00ff0080};
    static const uint32_t SUMS[] = {0,          0x7fffffff, 0x80000000, 0xffffffff,
                                    0x7fff0000, 0x8000ffff, 1,          0xfffe0400};
    uint32_t i = 0;
    for (uint32_t x = 0; x < 8; x++)
        for (uint32_t y = 0; y < 8; y++)
            for (uint32_t z = 0; z < 8; z++, i++) a[i] = ENDS[x], b[i] = ENDS[y], c[i] = SUMS[z];
    for (uint32_t k = 0; k < sizeof PAIRS / sizeof *PAIRS; k++, i++)
        a[i] = PAIRS[k][0], b[i] = PAIRS[k][1], c[i] = PAIRS[k][2];
    for (; i < COUNT; i++) a[i] = random_word(), b[i] = random_word(), c[i] = random_word();
}

#define TEXT                                                                                       \
    PROGRAM(".param a buffer u32 in [n]\n.param b buffer u32 in [n]\n.param c buffer u32 in "      \
            "[n]\n.param d buffer u32 out [5*n]\n"                                                 \
            ".param n u64\n.param one u32\n.param other u32\n.lanes n\n.reg i u64\n.reg x, y, z, " \
            "w u32\n.reg sx, sy, sz i32\n.reg f f32\n"                                             \
            " mov i, global\n ldg x, [a[i]]\n ldg y, [b[i]]\n ldg z, [c[i]]\n ldg.i32 sx, "        \
            "[a[i]]\n ldg.i32 sy, [b[i]]\n ldg.i32 sz, [c[i]]\n"                                   \
            " dot4 w, x, y, z\n stg [d[i]], w\n add i, i, n\n dot4 sz, sx, sy, sz\n stg.i32 "      \
            "[d[i]], sz\n add i, i, n\n"                                                           \
            " dot4 w, one, y, z\n stg [d[i]], w\n add i, i, n\n dot4 w, one, other, 5\n stg "      \
            "[d[i]], w\n add i, i, n\n"                                                            \
            " ldg.f32 f, [c[global]]\n dot2.bf16 f, x, y, f\n stg.f32 [d[i]], f\n")

static void check(hg_backend *of, const char *name) {
    hg_program *program = assemble(TEXT);
    hg_params *params = hg_params_create();
    uint64_t n = COUNT;
    uint32_t one = 0xff80fe81, other = 0x8080ff7f;
    hg_buffer arrays[4] = {make_buffer(of, a, sizeof a), make_buffer(of, b, sizeof b),
                           make_buffer(of, c, sizeof c), make_buffer(of, NULL, sizeof result)};
    static const char *const NAMES[] = {"a", "b", "c", "d"};
    uint32_t wrong = 0;
    for (int i = 0; i < 4; i++) CHECK_OK(hg_params_set_buffer(params, NAMES[i], arrays[i]));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_params_set_scalar(params, "one", HG_TYPE_U32, &one));
    CHECK_OK(hg_params_set_scalar(params, "other", HG_TYPE_U32, &other));
    for (int launch = 0; launch < 2; launch++) {
        hg_launch all = hg_launch_linear(COUNT);
        memset(result, 0, sizeof result);
        CHECK_OK(hg_backend_execute_program_with_params(of, program, &all, params));
        CHECK_OK(hg_backend_copy_from_buffer(of, arrays[3], result, sizeof result));
        for (uint32_t i = 0; i < COUNT; i++)
            wrong += result[0][i] != dot4(false, a[i], b[i], c[i]) ||
                     result[1][i] != dot4(true, a[i], b[i], c[i]) ||
                     result[2][i] != dot4(false, one, b[i], c[i]) ||
                     result[3][i] != dot4(false, one, other, 5) ||
                     !same_float(result[4][i], dot2(a[i], b[i], float_of(c[i])));
    }
    CHECK_MESSAGE(wrong == 0, "%s: %u of %u lanes are wrong", name, (unsigned)wrong,
                  (unsigned)(2 * COUNT));
    for (int i = 0; i < 4; i++) CHECK_OK(hg_backend_free_buffer(of, arrays[i]));
    hg_params_destroy(params);
    hg_program_release(program);
}

int main(void) {
    static const struct {
        const char *backend, *jit, *pretend;
    } devices[] = {
        {"cpu", "off", ""},       {"cpu", "off", "poor"},       {"cpu", "on", ""},
        {"opencl", "", ""},       {"vulkan", "", ""},           {"vulkan", "", "no-dot4"},
        {"cpu", "on", "no-dot4"}, {"vulkan", "", "wrong-dot4"}, {"opencl", "", "wrong-dot4"},
        {"cuda", "", ""},         {"cuda", "", "no-dot4"},      {"cuda", "", "wrong-dot4"}};
    fill();
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        hg_config config = hg_config_default();
        hg_backend *of = NULL;
        char name[64];
        snprintf(name, sizeof name, "%s %s %s", devices[i].backend, devices[i].jit,
                 devices[i].pretend);
        snprintf(config.backend, sizeof config.backend, "%s", devices[i].backend);
        snprintf(config.jit, sizeof config.jit, "%s", devices[i].jit);
        set_pretend(&config, devices[i].pretend);
        if (hg_backend_create_with_config(&config, &of) != HG_OK) {
            CHECK_MESSAGE(strcmp(devices[i].backend, "cpu") != 0, "no CPU: %s",
                          hg_last_error()->message);
            printf("skipped %s: %s\n", name, hg_last_error()->message);
            continue;
        }
        check(of, name);
        hg_backend_destroy(of);
    }
    return test_done();
}
