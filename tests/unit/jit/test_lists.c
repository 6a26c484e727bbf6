/* Lists that lanes of a tile share, by native code of each CPU level: what a lane loads from its
 * list is the place of its next load, as in shading by lists of lights. Tiles of 2 to 64 lanes that
 * begin anywhere in a turn, entries of every size, lists of unequal length. Against a loop in C; of
 * a list that names a place outside, against the interpreter: its text names the lane. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <string.h>

enum { LANES = 201, ENTRIES = 4, VALUES = 37, MOST_TILES = LANES + 40 };

static const char TEXT[] =
    ".atlas 1\n.program p\n.param list buffer u%u in [t, 4]\n.param count buffer u8 in [t]\n"
    ".param x buffer u32 in [v]\n.param out buffer u32 inout [n]\n.param n u64\n.param t u64\n"
    ".param v u64\n.param from u32\n.param w u32\n.lanes n\n"
    ".reg i, tile, at, k, s, a, c u32\n.reg e u%u\n.reg b u8\n"
    "    cvt i, global\n    add i, i, from\n    %s\n    ldg b, [count[tile]]\n    cvt c, b\n"
    "    shl at, tile, 2\n    mov k, 0\n    mov s, 0\n    bra.eq c, 0, @done\nagain:\n"
    "    add a, at, k\n    ldg e, [list[a]]\n    cvt a, e\n    ldg a, [x[a]]\n"
    "    bra.lt a, 3, @next\n    mad s, s, 5, a\nnext:\n    add k, k, 1\n"
    "    bra.ltu k, c, @again\ndone:\n    stg [out[global]], s\n";

/* The step from lane to lane is a product with what is always 0, as only its range says. */
static const char NO_STEP[] =
    ".atlas 1\n.program p\n.param list buffer u32 in [t, 4]\n.param count buffer u8 in [t]\n"
    ".param x buffer u32 in [v]\n.param out buffer u32 inout [n]\n.param n u64\n.param t u64\n"
    ".param v u64\n.param from u32\n.param w u32\n.lanes n\n.reg at, by u64\n.reg e u32\n"
    "    cvt by, w\n    shr by, by, 32\n    mul at, global, by\n    ldg e, [list + at]\n"
    "    ldg e, [x[e]]\n    stg [out[global]], e\n";

typedef struct lists {
    uint8_t list[MOST_TILES * ENTRIES * 8], count[MOST_TILES];
    uint32_t x[VALUES], out[LANES];
    uint64_t n, t, v;
    uint32_t from, w, bytes;
    char said[512]; /* of a launch that failed */
} lists;

/* shift 0: tiles of w lanes. */
static uint32_t tile_of(const lists *l, uint32_t shift, uint64_t lane) {
    const uint32_t i = (uint32_t)lane + l->from;
    return shift ? i >> shift : i / l->w;
}

static uint32_t right(const lists *l, uint32_t tile) {
    uint32_t s = 0;
    for (uint32_t k = 0; k < l->count[tile]; k++) {
        uint64_t at = 0;
        memcpy(&at, l->list + ((uint64_t)tile * ENTRIES + k) * l->bytes, l->bytes);
        if (l->x[at] >= 3) s = s * 5 + l->x[at];
    }
    return s;
}

static void fill(lists *l) {
    memset(l->list, 0, sizeof l->list);
    for (uint32_t i = 0; i < MOST_TILES * ENTRIES; i++)
        l->list[(uint64_t)i * l->bytes] = (uint8_t)(i * 7 % VALUES);
    for (uint32_t i = 0; i < MOST_TILES; i++) l->count[i] = (uint8_t)(i * 11 % (ENTRIES + 1));
    for (uint32_t i = 0; i < VALUES; i++) l->x[i] = i * 2654435761u >> (i % 5 ? 20 : 31);
}

static hg_status run(hg_backend *b, hg_program *program, lists *l) {
    hg_params *p = hg_params_create();
    hg_launch at = HG_LAUNCH_PROGRAM;
    hg_buffer buffers[4];
    struct {
        const char *name;
        void *data;
        uint64_t bytes;
    } arrays[] = {{"list", l->list, l->t * ENTRIES * l->bytes},
                  {"count", l->count, l->t},
                  {"x", l->x, sizeof l->x},
                  {"out", l->out, sizeof l->out}};
    CHECK(p != NULL);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(hg_backend_allocate_buffer(b, arrays[i].bytes, &buffers[i]));
        CHECK_OK(hg_backend_copy_to_buffer(b, buffers[i], arrays[i].data, arrays[i].bytes));
        CHECK_OK(hg_params_set_buffer(p, arrays[i].name, buffers[i]));
    }
    CHECK_OK(hg_params_set_scalar(p, "n", HG_TYPE_U64, &l->n));
    CHECK_OK(hg_params_set_scalar(p, "t", HG_TYPE_U64, &l->t));
    CHECK_OK(hg_params_set_scalar(p, "v", HG_TYPE_U64, &l->v));
    CHECK_OK(hg_params_set_scalar(p, "from", HG_TYPE_U32, &l->from));
    CHECK_OK(hg_params_set_scalar(p, "w", HG_TYPE_U32, &l->w));
    hg_status status = hg_backend_execute_program_with_params(b, program, &at, p);
    const hg_error *e = hg_last_error();
    l->said[0] = 0;
    if (status != HG_OK)
        snprintf(l->said, sizeof l->said, "%s, lane %llu, instruction %lld", hg_last_error_text(),
                 (unsigned long long)e->lane, (long long)e->instruction);
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[3], l->out, sizeof l->out));
    for (int i = 0; i < 4; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    hg_params_destroy(p);
    return status;
}

static hg_backend *backend_of(const char *level, const char *jit) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    if (hg_backend_create_with_config(&config, &b) != HG_OK) SKIP(hg_last_error_text());
    return b;
}

static hg_program *program_of(uint32_t bytes, uint32_t shift) {
    char text[1200], tile[40] = "div tile, i, w";
    if (shift) snprintf(tile, sizeof tile, "shr tile, i, %u", shift);
    snprintf(text, sizeof text, TEXT, bytes * 8, bytes * 8, tile);
    return assemble(text);
}

/* One entry names a place outside: the same fault as the interpreter's. */
static void outside(hg_backend *b, hg_backend *interpreter, hg_program *program, lists *l) {
    static lists other;
    for (uint32_t bad = 3; bad < l->t * ENTRIES; bad += 17) {
        fill(l);
        l->list[(uint64_t)bad * l->bytes] = VALUES;
        other = *l;
        hg_status native = run(b, program, l), told = run(interpreter, program, &other);
        CHECK_MESSAGE(native == told && strcmp(l->said, other.said) == 0,
                      "u%u, entry %u, from lane %u: '%s', the interpreter '%s'", 8 * l->bytes, bad,
                      l->from, l->said, other.said);
    }
}

static void test_tiles(hg_backend *b, hg_backend *interpreter, const char *level, uint32_t bytes,
                       uint32_t shift) {
    static lists l;
    hg_program *program = program_of(bytes, shift);
    for (l.from = 0; l.from < 40; l.from += l.from == 0 ? 1 : 13) {
        l.bytes = bytes;
        l.n = LANES;
        l.v = VALUES;
        l.w = 20;
        l.t = tile_of(&l, shift, LANES - 1) + 1;
        fill(&l);
        CHECK_MESSAGE(run(b, program, &l) == HG_OK, "%s", l.said);
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < LANES; i++) wrong += l.out[i] != right(&l, tile_of(&l, shift, i));
        CHECK_MESSAGE(wrong == 0, "%s, u%u, tiles 1 << %u, from lane %u: %u lanes are wrong", level,
                      8 * bytes, shift, l.from, wrong);
    }
    l.from = bytes;
    l.t = tile_of(&l, shift, LANES - 1) + 1;
    if (bytes % 3 == shift % 3) outside(b, interpreter, program, &l);
    hg_program_release(program);
}

static void test_no_step(hg_backend *b, const char *level) {
    static lists l = {.n = LANES, .v = VALUES, .t = 1, .w = 20, .bytes = 4};
    hg_program *program = assemble(NO_STEP);
    fill(&l);
    l.list[0] = 5;
    CHECK_MESSAGE(run(b, program, &l) == HG_OK, "%s", l.said);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < LANES; i++) wrong += l.out[i] != l.x[5];
    CHECK_MESSAGE(wrong == 0, "%s: %u lanes are wrong", level, wrong);
    hg_program_release(program);
}

int main(void) {
    static const char *const LEVELS[] = {"baseline", "v3", "v4"};
    hg_backend *interpreter = backend_of("", "off");
    for (size_t i = 0; i < HG_COUNT_OF(LEVELS) && interpreter; i++) {
        hg_backend *b = backend_of(LEVELS[i], "on");
        for (uint32_t bytes = 1; bytes <= 8 && b; bytes *= 2)
            for (uint32_t shift = 0; shift <= 6; shift++)
                test_tiles(b, interpreter, LEVELS[i], bytes, shift);
        if (b) test_no_step(b, LEVELS[i]);
        hg_backend_destroy(b);
    }
    hg_backend_destroy(interpreter);
    return test_done();
}
