/* test: timeout=600
 * Faults are the same from everyone: code, text, offset, limit, lane, operand, instruction, phase.
 * Every way in which a lane can fault, in every memory, by the interpreter against native code at
 * each level, or against the device that is named; and what the words must be. */
#include "support/runtime_support.h"

/* ---- programs: lane i has a = x[i] in some types; `count` lanes are in order, then come the
 * others ---- */

#define HEAD                                                                                     \
    ".atlas 1\n.program p\n.param x buffer u32 in [n]\n.param y buffer u32 inout [n]\n.param t " \
    "pool 192\n.param n u64\n.lanes n\n"
#define VALUES                                                                                   \
    ".reg a, v u32\n.reg c, e u64\n.reg d, g u8\n.reg h u16\n.reg w u128\n.reg i i128\n.reg f "  \
    "f64\n.reg q u512\n.reg s i32\n"                                                             \
    "    ldg a, [x[global]]\n    mov v, a\n    cvt.u64.u32 c, a\n    cvt.u8.u32 d, a\n    "      \
    "cvt.u16.u32 h, a\n    cvt.u128.u32 w, a\n"                                                  \
    "    cvt.i32.u32 s, a\n    cvt.f64.u32 f, a\n    cvt.u512.u128 q, w\n    mov e, 0\n    mov " \
    "i, 0\n    mov g, 0\n"

typedef struct kind {
    const char *memory, *body; /* lines of directives; lines of instructions */
    const char *code, *text;   /* what is expected of values 200; text: a part of the message */
} kind;

static const kind KINDS[] = {
    /* arrays of parameters */
    {"", "ldg.u32 v, [x + c*4]", "F01",
     "buffer access out of bounds: offset 800 + size 4 > buffer size 256"},
    {"", "stg.u32 [y + c*4], v", "F01",
     "buffer access out of bounds: offset 800 + size 4 > buffer size 256"},
    {"", "ldg.u8 d, [x + c + 56]", "F01", "offset 256 + size 1 > buffer size 256"},
    {"", "ldg.u16 h, [x + c*2 + 40]", "F01", "offset 440 + size 2 > buffer size 256"},
    {"", "ldg.u128 w, [x + c*16]", "F01", "offset 3200 + size 16 > buffer size 256"},
    {"", "stg.u512 [y + c*64], q", "F01", "offset 12800 + size 64 > buffer size 256"},
    {"", "sub e, e, c\n    ldg.u32 v, [x + e*4]", "F01", "+ size 4 > buffer size 256"},
    {"", "ldg.u32 v, [x - 4]", "F01",
     "buffer access out of bounds: offset -4 + size 4 > buffer size 256"},
    {"", "atom.add.u32 v, [y + c*4], a", "F01", "offset 800 + size 4 > buffer size 256"},
    {"", "atom.cas.u64 c, [y + c*8], e, e", "F01", "offset 1600 + size 8 > buffer size 256"},
    {"", "atom.max.i32 s, [y + c + 1], s", "F04", "misaligned atomic: offset 201"},
    {"", "atom.exch.u64 c, [y + c - 4], e", "F04", "misaligned atomic: offset 196"},
    /* pools */
    {"", "pool.load.u32 v, t, c", "F01",
     "pool access out of bounds: offset 200 + size 4 > pool size 192"},
    {"", "pool.store.u8 t, c, d", "F01",
     "pool access out of bounds: offset 200 + size 1 > pool size 192"},
    /* handles that a register holds, flat addresses, classes */
    {"", "ldg.u32 v, [buf(c) + 0]", "F03", "invalid buffer handle: 200"},
    {"", "stg.u32 [buf(c) + e], v", "F03", "invalid buffer handle: 200"},
    {"", "pool.load.u32 v, c, e", "F03", "invalid pool handle: 200"},
    {"", "shl.u64 e, c, 40\n    ldg.u32 v, [e]", "F03", "invalid buffer handle: 200"},
    {"", "shl.u64 e, c, 40\n    xor e, e, 0x8000000000000000\n    ldg.u32 v, [e + 8]", "F03",
     "invalid pool handle: 200"},
    {"", "atom.add.u32 v, [buf(c) + 0], a", "F03", "invalid buffer handle: 200"},
    {"", "shl.u64 e, c, 8\n    ldg.u8 d, [class95 + e]", "F01", "buffer size 12288"},
    {"", "shl.u64 e, c, 9\n    stg.u64 [class0 + e], c", "F01", "buffer size 12288"},
    /* shared memory */
    {".shared 64\n", "lds.u32 v, [shared + a*4]", "F01",
     "buffer access out of bounds: offset 800 + size 4 > buffer size 64"},
    {".shared 64\n", "sts.u32 [shared + a*4 + 4], v", "F01",
     "offset 804 + size 4 > buffer size 64"},
    {".shared 64\n", "sts.u16 [shared + a], h", "F01", "offset 200 + size 2 > buffer size 64"},
    {".shared 64\n", "atom.add.u32 v, [shared + a], v", "F01",
     "offset 200 + size 4 > buffer size 64"},
    {".shared 256\n", "atom.add.u32 v, [shared + a + 2], v", "F04",
     "misaligned atomic: offset 202"},
    {".shared 64\n.block 32\n", "bar.sync 0\n    lds.u32 v, [shared + a*4]", "F01",
     "offset 800 + size 4 > buffer size 64"},
    {".shared 64\n.block 32\n",
     "sts.u32 [shared], v\n    bar.sync 0\n    bar.sync 0\n    sub a, a, 200\n    div v, v, a",
     "F02", "division by zero"},
    /* private memory */
    {".private 64\n", "ldp.u32 v, [private + a*4]", "F01", "private"},
    {".private 64\n", "stp.u32 [private + a*4 + 4], v", "F01", "private"},
    {".private 64\n", "ldp.u8 d, [private + c]", "F01", "private"},
    {".private 64\n", "stp.u128 [private + c*16 - 16], w", "F01", "private"},
    {".private 64\n", "ldp.u32 v, [private + 64]", "F01", "private"},
    {".private 64\n", "ldp.u32 v, [private + 62]", "F01", "private"},
    {".private 1024\n", "ldp.u32 v, [private + a*4 + 1]", "F04",
     "misaligned private access: offset 801"},
    {".private 1024\n", "stp.u64 [private + a + 4], c", "F04",
     "misaligned private access: offset 204"},
    {".private 64\n", "ldp.u32 v, [private + 1]", "F04", "misaligned private access: offset 1"},
    /* axes */
    {"", "axis e, c, [x], 0", "F01", "index 200 is outside of axis 0 of 'x', which has extent 64"},
    {"", "axis.u16 e, h, [x], 255\n    mov n, 0", "F01",
     "index 200 is outside of 'x', which has 64 elements"},
    {".reg k i8\n", "cvt.i8.u32 k, a\n    axis e, k, [x], 0", "F01",
     "index -56 is outside of axis 0 of 'x', which has extent 64"},
    {".private 256\n.meta private.seen \"u32[64] at 0\"\n.reg k u64\n",
     "mov k, 3\n    axis e, k, a, [private], 1, extent=64", "F01",
     "index 200 is outside of axis 1 of 'seen', which has extent 64"},
    {".shared 272\n", "axis e, d, [shared + 16], 7, extent=n", "F01",
     "index 200 is outside of axis 7 of [shared + 16], which has extent 64"},
    /* numbers */
    {"", "sub a, a, 200\n    div v, v, a", "F02", "division by zero"},
    {"", "sub s, s, 200\n    rem.i32 s, s, s", "F02", "division by zero"},
    {"", "sub w, w, 200\n    div w, w, w", "F02", "division by zero"},
    {"", "sub q, q, 200\n    rem.u512 q, q, q", "F02", "division by zero"},
    {"", "mult.inverse a, a, 64", "F05", "no multiplicative inverse: 200 mod 64"},
    {"", "mult.inverse a, 6, c", "F05", "no multiplicative inverse: 6 mod 200"},
    {"", "orbit.classify d, a, c", "F05", "unknown torus size: 200"},
    {"", "orbit.representative a, a, 96", "F04", "invalid orbit index: 200 (must be < 32)"},
    /* classes and coordinates */
    {"", "mirror g, d", "F04", "200"},
    {"", "unity.test p0, d", "F04", "200"},
    {"", "nbr.count a, d", "F04", "200"},
    {"", "nbr.get g, d, 9", "F04", "200"},
    {"", "nbr.load.u32 a, d, 1", "F04", "200"},
    {"", "nbr.store.u32 d, a, 1", "F04", "200"},
    {"", "bound.map c, d, v, v", "F04", "200"},
    {"", "bound.map c, 5, v, 3", "F04",
     "invalid boundary coordinates: page=200 (must be < 48), byte=3 (must be < 256)"},
    {"", "shl.u32 v, v, 8\n    bound.map c, v", "F04",
     "invalid boundary coordinates: page=200 (must be < 48), byte=0 (must be < 256)"},
    {"", "shl.u64 c, c, 16\n    bound.map c, c", "F04", "200"},
    {"", "bound.map.f64 c, 95, v, v", "F04", "page=200"},
    {"", "char.product.i128 i, a, a", "F04", "200"},
    {"", "char.product.f64 f, 3, d", "F04", "200"},
    {"", "res.accum f, f, d", "F04", "200"},
    {"", "phase.read a, d", "F04", "200"},
    {"", "phase.write a, d", "F04", "200"},
    /* behind a barrier, in a loop, in a function, in one arm */
    {".shared 64\n.private 64\n.block 32\n", "bar.sync 0\n    ldp.u32 v, [private + a*4]", "F01",
     "private"},
    {".shared 64\n.block 32\n", "bar.sync 0\n    phase.read a, d", "F04", "200"},
    {".private 64\n",
     "mov e, 0\nagain:\n    ldp.u32 v, [private + c*4]\n    add e, e, 1\n    bra.ltu e, c, @again",
     "F01", "private"},
    {"", "mov e, 0\nagain:\n    ldg.u32 v, [x + e*4]\n    add e, e, 1\n    bra.ltu e, c, @again",
     "F01", "offset 256 + size 4 > buffer size 256"},
    {"", "bra.ltu a, 100, @out\n    mirror g, d\nout:\n    mov a, a", "F04", "200"},
    {"", "call @f\n    exit\nf:\n    nbr.count a, d\n    ret", "F04", "200"},
};

/* Values of lanes: `from` and `upto` (not it) have 200 and more, the others `good`. */
typedef struct pattern {
    uint32_t from, upto, good;
} pattern;
static const pattern PATTERNS[] = {{37, 38, 1}, {0, 64, 1}, {63, 64, 3}, {5, 9, 0}};

/* ---- launches ---- */

typedef struct outcome {
    hg_status status;
    hg_error error;
} outcome;

static outcome run(hg_backend *b, const hg_program *p, uint32_t block, const pattern *of) {
    enum { N = 64 };
    uint32_t x[N] = {0}, y[N] = {0};
    uint64_t n = N;
    outcome o = {.status = HG_OK};
    for (uint32_t i = 0; i < N; i++) x[i] = i >= of->from && i < of->upto ? 200 : of->good;
    hg_params *params = hg_params_create();
    hg_buffer in = make_buffer(b, x, sizeof x), out = make_buffer(b, y, sizeof y);
    hg_launch launch = hg_launch_linear(N);
    launch.grid[0] = N / block;
    launch.block[0] = block;
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    o.status = hg_backend_execute_program_with_params(b, p, &launch, params);
    if (o.status != HG_OK) o.error = *hg_last_error();
    CHECK_OK(hg_backend_free_buffer(b, in));
    CHECK_OK(hg_backend_free_buffer(b, out));
    hg_params_destroy(params);
    return o;
}

static bool same(const hg_error *x, const hg_error *y) {
    return strcmp(x->code, y->code) == 0 && strcmp(x->message, y->message) == 0 &&
           x->step == y->step && x->phase == y->phase && x->instruction == y->instruction &&
           x->lane == y->lane && x->operand == y->operand && x->offset == y->offset &&
           x->limit == y->limit && x->line == y->line && x->column == y->column;
}

static void describe(const char *who, const outcome *o) {
    const hg_error *e = &o->error;
    fprintf(stderr,
            "  %s: %s %s: %s; step %" PRIu64 " phase %" PRIu64 " instruction %" PRIu64
            " lane %" PRIu64 " operand %" PRIu64 " offset %" PRIu64 " limit %" PRIu64
            " line %u:%u\n",
            who, hg_status_name(o->status), e->code, e->message, e->step, e->phase, e->instruction,
            e->lane, e->operand, e->offset, e->limit, (unsigned)e->line, (unsigned)e->column);
}

/* Where all lanes are in disorder, the first one faults. */
static void expect(const kind *k, const outcome *o) {
    bool good = o->status == HG_ERROR_EXECUTION_FAILED && strcmp(o->error.code, k->code) == 0 &&
                strstr(o->error.message, k->text) && o->error.lane == 0;
    CHECK_MESSAGE(good, "%s%s: expected %s with '%s' in lane 0", k->memory, k->body, k->code,
                  k->text);
    if (!good) describe("interpreter", o);
}

static hg_backend *open_with(const char *backend, const char *level, const char *jit) {
    hg_config config;
    hg_backend *b = NULL;
    CHECK_OK(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = jit[0] ? "off" : config.cache_dir;
    return hg_backend_create_with_config(&config, &b) == HG_OK ? b : NULL;
}

/* Everybody against the interpreter. */
static void compare(hg_backend *right, hg_backend *b, const char *who, const char *only) {
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const kind *k = &KINDS[i];
        char text[2048];
        if (only && !strstr(k->body, only)) continue;
        snprintf(text, sizeof text, HEAD "%s" VALUES "    %s\n    stg [y[global]], v\n", k->memory,
                 k->body);
        hg_program *p = assemble(text);
        for (size_t n = 0; n < sizeof PATTERNS / sizeof *PATTERNS; n++) {
            uint32_t block = strstr(k->memory, ".block 32") ? 32 : 64;
            outcome x = run(right, p, block, &PATTERNS[n]), y = run(b, p, block, &PATTERNS[n]);
            if (PATTERNS[n].upto == 64 && PATTERNS[n].from == 0) expect(k, &x);
            bool equal = x.status == y.status && (x.status == HG_OK || same(&x.error, &y.error));
            CHECK_MESSAGE(equal, "%s: '%s%s', values %u: another fault", who, k->memory, k->body,
                          (unsigned)n);
            if (!equal) describe("interpreter", &x);
            if (!equal) describe(who, &y);
            count++;
        }
        hg_program_release(p);
    }
    printf("%s: %u launches\n", who, (unsigned)count);
}

/* faults [DEVICE [PART OF A BODY]] */
int main(int argc, char **argv) {
    static const char *const LEVELS[] = {"baseline", "v3", "v4"};
    const char *device = argc > 1 ? argv[1] : "cpu", *only = argc > 2 ? argv[2] : NULL;
    hg_backend *right = open_with("cpu", "", "off"), *b;
    if (strcmp(device, "cpu") != 0) {
        b = open_with(device, "", "");
        if (b) compare(right, b, device, only);
        if (!b) SKIP("no such device");
        hg_backend_destroy(b);
    }
    for (size_t i = 0; strcmp(device, "cpu") == 0 && i < sizeof LEVELS / sizeof *LEVELS; i++) {
        char who[64];
        snprintf(who, sizeof who, "native code, %s", LEVELS[i]);
        b = open_with("cpu", LEVELS[i], "on");
        if (b) compare(right, b, who, only);
        if (!b) SKIP("this machine does not have the level");
        hg_backend_destroy(b);
    }
    hg_backend_destroy(right);
    return test_done();
}
