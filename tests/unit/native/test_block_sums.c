/* Sums of the lanes of a block in native code of each CPU level, beside sums in C: blocks whose
 * rows are whole turns and blocks that have none, launches whose last block is not whole, and lanes
 * that have left. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 4200, SUMS = 7 };

/* In the end the first lane of each row stores, which is in its first turn. */
static const char TEXT[] = PROGRAM(
    ".param a buffer u8 in [n]\n.param b buffer i16 in [n]\n.param c buffer u32 in [n]\n"
    ".param d buffer i64 in [n]\n.param y buffer i64 inout [m]\n"
    ".param z buffer u32 inout [n]\n.param n u64\n.param m u64\n.lanes n\n"
    ".reg a0, a1 u8\n.reg b0 i16\n.reg c0, c1, c2, low, row, layer u32\n.reg at u64\n"
    ".reg d0, s i64\n ldg a0, [a[global]]\n ldg b0, [b[global]]\n ldg c0, [c[global]]\n"
    " ldg d0, [d[global]]\n mov row, lane_idx_y\n mov layer, lane_idx_z\n"
    " mul at, global, 7\n%s"
    " breduce.add.u8 a1, a0\n cvt s, a1\n stg [y[at]], s\n"
    " breduce.min.i16 b0, b0\n cvt s, b0\n stg [y[at + 1]], s\n"
    " breduce.max.i64 d0, d0\n stg [y[at + 2]], d0\n"
    " bscan.xor.u32 c1, c0\n cvt s, c1\n stg [y[at + 3]], s\n"
    " breduce.mul.u32 c1, c0\n cvt s, c1\n stg [y[at + 4]], s\n"
    " mad c2, layer, 1000, row\n xor c2, c2, c0\n breduce.add.u32 c2, c2\n"
    " cvt s, c2\n stg [y[at + 5]], s\n breduce.or.u8 a1, a0\n breduce.and.u32 c1, c0\n"
    " cvt low, a1\n add c1, c1, low\n cvt s, c1\n stg [y[at + 6]], s\n"
    " breduce.add.u32 c1, c0\n bra.ne lane_idx_x, 0, @done\n stg [z[global]], c1\n"
    "done:\n exit\n");
static const char LEAVE[] = " and low, c0, 7\n bra.eq low, 3, @done\n";

static uint8_t a[MOST];
static int16_t b[MOST];
static uint32_t c[MOST], z[MOST];
static int64_t d[MOST], y[MOST * SUMS];

static void fill(void) {
    uint64_t state = 1;
    for (uint32_t i = 0; i < MOST; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        a[i] = (uint8_t)(state >> 56);
        b[i] = (int16_t)(state >> 40);
        c[i] = (uint32_t)(state >> 32) | 0x40000001u;
        d[i] = (int64_t)(state ^ state << 32);
    }
}

typedef struct sums {
    int64_t of[SUMS];
    uint32_t all;
} sums;

static bool is_there(uint32_t i, bool leave) { return !leave || (c[i] & 7) != 3; }

/* Of the lanes first to end - 1, a block with rows of so many lanes, `rows` in a layer. */
static sums sums_of(uint32_t first, uint32_t end, uint32_t row, uint32_t rows, bool leave) {
    uint8_t sum8 = 0, or8 = 0;
    uint32_t product = 1, places = 0, and32 = UINT32_MAX, all = 0;
    int16_t least = INT16_MAX;
    int64_t most = INT64_MIN;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t y_of = (i - first) / row % rows, z_of = (i - first) / row / rows;
        if (!is_there(i, leave)) continue;
        sum8 = (uint8_t)(sum8 + a[i]);
        or8 |= a[i];
        if (b[i] < least) least = b[i];
        if (d[i] > most) most = d[i];
        product *= c[i];
        places += (z_of * 1000 + y_of) ^ c[i];
        and32 &= c[i];
        all += c[i];
    }
    return (sums){{sum8, least, most, 0, product, places, (uint32_t)(and32 + or8)}, all};
}

typedef struct shape {
    uint32_t x, y, z, blocks, missing;
} shape;

static hg_buffer with(hg_backend *backend, hg_params *params, const char *name, const void *data,
                      uint64_t bytes) {
    hg_buffer made = make_buffer(backend, data, bytes);
    CHECK_OK(hg_params_set_buffer(params, name, made));
    return made;
}

static void run(hg_backend *backend, const char *level, hg_program *p, const shape *s, bool leave) {
    const uint32_t lanes = s->x * s->y * s->z, n = lanes * s->blocks - s->missing;
    const uint64_t count = n, places = (uint64_t)n * SUMS;
    hg_launch launch = HG_LAUNCH_INIT;
    hg_params *params = hg_params_create();
    uint32_t wrong = 0;
    memset(y, 0, sizeof y);
    memset(z, 0, sizeof z);
    hg_buffer buffers[] = {
        with(backend, params, "a", a, n),          with(backend, params, "b", b, count * 2),
        with(backend, params, "c", c, count * 4),  with(backend, params, "d", d, count * 8),
        with(backend, params, "y", y, places * 8), with(backend, params, "z", z, count * 4)};
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &count));
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U64, &places));
    launch.grid[0] = s->blocks;
    launch.block[0] = s->x;
    launch.block[1] = s->y;
    launch.block[2] = s->z;
    launch.lanes = count;
    CHECK_OK(hg_backend_execute_program_with_params(backend, p, &launch, params));
    CHECK_OK(hg_backend_copy_from_buffer(backend, buffers[4], y, places * 8));
    CHECK_OK(hg_backend_copy_from_buffer(backend, buffers[5], z, count * 4));
    for (uint32_t first = 0; first < n; first += lanes) {
        const uint32_t end = first + lanes < n ? first + lanes : n;
        sums right = sums_of(first, end, s->x, s->y, leave);
        for (uint32_t i = first; i < end; i++) {
            const bool there = is_there(i, leave);
            if (there) right.of[3] = (uint32_t)right.of[3] ^ c[i];
            for (uint32_t k = 0; k < SUMS; k++)
                wrong += y[i * SUMS + k] != (there ? right.of[k] : 0);
            wrong += z[i] != (there && (i - first) % s->x == 0 ? right.all : 0);
        }
    }
    CHECK_MESSAGE(wrong == 0, "%s, %u blocks of %u x %u x %u less %u lanes, %s: %u numbers differ",
                  level, s->blocks, s->x, s->y, s->z, s->missing, leave ? "some left" : "all there",
                  wrong);
    for (size_t i = 0; i < HG_COUNT_OF(buffers); i++)
        CHECK_OK(hg_backend_free_buffer(backend, buffers[i]));
    hg_params_destroy(params);
}

/* So many that what they store goes past the caches: 32 MiB, a last block that is not whole. */
static void test_many(hg_backend *backend, const char *level) {
    enum { LANES = (8 << 20) + 1000, BLOCK = 1024 };
    const uint64_t count = LANES;
    uint32_t *x = malloc(count * 4), so_far = 0, wrong = 0;
    CHECK(x != NULL);
    if (!x) return;
    for (uint32_t i = 0; i < LANES; i++) x[i] = i * 2654435761u;
    hg_program *p = assemble(PROGRAM(".param x buffer u32 in [n]\n.param y buffer u32 out [n]\n"
                                     ".param n u64\n.lanes n\n.reg v u32\n"
                                     " ldg v, [x[global]]\n bscan.add.u32 v, v\n"
                                     " stg [y[global]], v\n exit\n"));
    hg_launch launch = HG_LAUNCH_INIT;
    hg_params *params = hg_params_create();
    hg_buffer from = with(backend, params, "x", x, count * 4),
              to = with(backend, params, "y", x, count * 4);
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &count));
    launch.grid[0] = (LANES + BLOCK - 1) / BLOCK;
    launch.block[0] = BLOCK;
    launch.lanes = count;
    CHECK_OK(hg_backend_execute_program_with_params(backend, p, &launch, params));
    CHECK_OK(hg_backend_copy_from_buffer(backend, to, x, count * 4));
    for (uint32_t i = 0; i < LANES; i++) {
        if (i % BLOCK == 0) so_far = 0;
        so_far += i * 2654435761u;
        wrong += x[i] != so_far;
    }
    CHECK_MESSAGE(wrong == 0, "%s, %u lanes: %u numbers differ", level, (unsigned)LANES, wrong);
    CHECK_OK(hg_backend_free_buffer(backend, from));
    CHECK_OK(hg_backend_free_buffer(backend, to));
    hg_params_destroy(params);
    hg_program_release(p);
    free(x);
}

static void test_level(const char *level) {
    static const shape SHAPES[] = {
        {1, 1, 1, 40, 0},    {7, 1, 1, 9, 3},     {15, 1, 1, 5, 0},   {16, 1, 1, 5, 1},
        {17, 1, 1, 5, 16},   {32, 1, 1, 5, 0},    {33, 1, 1, 5, 1},   {64, 1, 1, 5, 63},
        {255, 1, 1, 3, 0},   {256, 1, 1, 3, 100}, {257, 1, 1, 3, 0},  {1024, 1, 1, 4, 1},
        {1024, 1, 1, 4, 0},  {64, 2, 3, 3, 0},    {64, 2, 3, 3, 190}, {32, 4, 2, 4, 33},
        {16, 16, 1, 4, 100}, {5, 7, 3, 6, 33},    {20, 3, 4, 3, 0}};
    hg_config config = hg_config_default();
    hg_backend *backend = NULL;
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.jit, sizeof config.jit, "on");
    if (hg_backend_create_with_config(&config, &backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return;
    }
    for (int leave = 0; leave < 2; leave++) {
        char text[2000];
        snprintf(text, sizeof text, TEXT, leave ? LEAVE : "");
        hg_program *p = assemble(text);
        for (size_t i = 0; i < HG_COUNT_OF(SHAPES); i++) run(backend, level, p, &SHAPES[i], leave);
        hg_program_release(p);
    }
    test_many(backend, level);
    hg_backend_destroy(backend);
}

int main(void) {
    fill();
    test_level("baseline");
    test_level("v3");
    test_level(""); /* what this CPU has */
    return test_done();
}
