/* Loads and stores of the lanes that a branch let through: a run of them, or every second one, or
 * every third, with elements that the other lanes have no right to. test_masked [BACKEND] */
#include "support/runtime_support.h"
#include <stdio.h>
#include <string.h>

enum { LANES = 500, LARGEST = 3 * LANES };

static const struct {
    const char *type;
    uint32_t bytes;
} TYPES[] = {{"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};

/* How a lane finds its element: of x, and of y in the same way unless a text of its own says so. */
typedef struct pattern {
    const char *load, *store;
    uint32_t (*place)(uint32_t lane, uint32_t last);
    uint32_t stride; /* elements of an array for each lane */
} pattern;

static uint32_t own(uint32_t lane, uint32_t last) {
    (void)last;
    return lane;
}
static uint32_t third(uint32_t lane, uint32_t last) {
    (void)last;
    return 3 * lane + 2;
}
static uint32_t mirrored(uint32_t lane, uint32_t last) { return last - lane; }
static uint32_t shuffled(uint32_t lane, uint32_t last) {
    return (uint32_t)((uint64_t)lane * 7919 % (last + 1));
} /* a prime above */
static uint32_t fixed(uint32_t lane, uint32_t last) {
    (void)lane;
    return last;
}

static const pattern PATTERNS[] = {
    {" ldg v, [x[global]]\n", " stg [y[global]], v\n", own, 1},
    {" fma t, global, 3, 2\n ldg v, [x[t]]\n", " stg [y[t]], v\n", third, 3},
    {" sub t, last, global\n ldg v, [x[t]]\n", " stg [y[t]], v\n", mirrored, 1},
    {" ldg k, [order[global]]\n ldg v, [x[k]]\n", " stg [y[k]], v\n", shuffled, 1},
    {" ldg v, [x[last]]\n", " stg [y[global]], v\n", fixed, 1},
};

/* Lanes first to last whose number has none of the bits of `skip`. */
typedef struct choice {
    uint32_t first, last, skip;
} choice;

static void write_text(char *text, size_t size, const pattern *p, const char *type,
                       bool in_blocks) {
    snprintf(text, size,
             ".atlas 1\n.program masked\n.param x buffer %s in\n.param y buffer %s inout\n.param "
             "order buffer u32 in\n.param first u64\n"
             ".param last u64\n.param skip u64\n.lanes %d\n.block 100\n.reg t u64\n.reg k "
             "u32\n.reg v %s\n%s bra.lt global, first, @end\n"
             " bra.gt global, last, @end\n and t, global, skip\n bra.ne t, 0, @end\n%s%send:\n",
             type, type, LANES, type, in_blocks ? " bar.sync 0\n" : "", p->load, p->store);
}

static void check(hg_backend *b, hg_program *program, const pattern *p, uint32_t bytes, choice c) {
    static uint8_t x[LARGEST * 8], y[LARGEST * 8], expected[LARGEST * 8];
    static uint32_t order[LANES];
    uint32_t elements = (c.last + 1) * p->stride; /* and not one more */
    for (uint32_t i = 0; i < elements * bytes; i++) {
        x[i] = (uint8_t)(i * 167 + i / 251 + 1);
        expected[i] = y[i] = 0xee;
    }
    for (uint32_t i = 0; i <= c.last; i++) order[i] = shuffled(i, c.last);
    for (uint32_t lane = c.first; lane <= c.last; lane++) {
        if (lane & c.skip) continue;
        uint32_t from = p->place(lane, c.last), to = p->place == fixed ? lane : from;
        memcpy(expected + (size_t)to * bytes, x + (size_t)from * bytes, bytes);
    }
    hg_params *params = hg_params_create();
    hg_buffer in = make_buffer(b, x, (uint64_t)elements * bytes),
              out = make_buffer(b, y, (uint64_t)elements * bytes),
              places = make_buffer(b, order, (c.last + 1) * sizeof *order);
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_params_set_buffer(params, "order", places));
    const uint64_t numbers[] = {c.first, c.last, c.skip};
    CHECK_OK(hg_params_set_scalar(params, "first", HG_TYPE_U64, &numbers[0]));
    CHECK_OK(hg_params_set_scalar(params, "last", HG_TYPE_U64, &numbers[1]));
    CHECK_OK(hg_params_set_scalar(params, "skip", HG_TYPE_U64, &numbers[2]));
    CHECK_OK(hg_backend_execute_program_with_params(b, program, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, out, y, (uint64_t)elements * bytes));
    CHECK_MESSAGE(memcmp(y, expected, (size_t)elements * bytes) == 0,
                  "%u bytes%s, lanes %u to %u without %u", bytes, p->load, c.first, c.last, c.skip);
    CHECK_OK(hg_backend_free_buffer(b, in));
    CHECK_OK(hg_backend_free_buffer(b, out));
    CHECK_OK(hg_backend_free_buffer(b, places));
    hg_params_destroy(params);
}

int main(int argc, char **argv) {
    static const choice CHOICES[] = {{0, 499, 0},   {0, 9, 0},     {3, 3, 0},     {37, 61, 0},
                                     {60, 140, 0},  {491, 499, 0}, {0, 498, 1},   {13, 222, 2},
                                     {101, 405, 5}, {7, 480, 96},  {0, 256, 255}, {100, 199, 0}};
    hg_backend *b = open_backend(argc > 1 ? argv[1] : "cpu");
    for (size_t i = 0; b && i < sizeof PATTERNS / sizeof *PATTERNS; i++)
        for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++)
            for (int in_blocks = 0; in_blocks < 2; in_blocks++) {
                char text[1024];
                write_text(text, sizeof text, &PATTERNS[i], TYPES[t].type, in_blocks);
                hg_program *program = assemble(text);
                for (size_t c = 0; c < sizeof CHOICES / sizeof *CHOICES; c++)
                    check(b, program, &PATTERNS[i], TYPES[t].bytes, CHOICES[c]);
                hg_program_release(program);
            }
    hg_backend_destroy(b);
    return test_done();
}
