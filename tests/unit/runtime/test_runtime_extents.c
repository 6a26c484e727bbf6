/* Launches by what the program says: extents that are expressions and the parameters that arrays
 * tell, .grid, tables, scaled addresses. On the CPU, on one that does no whole-array step itself,
 * and on every device that is there. */
#include "base/base.h"
#include "support/runtime_support.h"

typedef struct binding_case {
    const char *text;
    uint64_t x_bytes, n; /* n: HG_NONE: not given */
    const char *code;    /* NULL: it runs and r1's buffer holds `expected` as its first u64 */
    const char *message;
    uint64_t expected;
} binding_case;

/* A buffer x of u8, n as given: h, n or the number of lanes comes out. */
#define X(extents, rest) \
    PROGRAM(".param r1 x buffer u8 inout [" extents "]\n.param r4 n u64\n" rest)
#define GIVES(reg) " stg.u64 [buf(r1)], r" reg "\n exit\n"

static const binding_case CASES[] = {
    {X("n + 2", GIVES("4")), 64, HG_NONE, NULL, NULL, 62},
    {X("n - 2", GIVES("4")), 64, HG_NONE, NULL, NULL, 66},
    {X("n * 16", GIVES("4")), 64, HG_NONE, NULL, NULL, 4},
    {X("(n + 1) * 8, 2", GIVES("4")), 64, HG_NONE, NULL, NULL, 3},
    {X("n * 24", GIVES("4")), 64, HG_NONE, "P05", "an extent of 64 is n * 24 for no 'n'", 0},
    {X("n + 65", GIVES("4")), 64, HG_NONE, "P05", "an extent of 64 is n + 65 for no 'n'", 0},
    {X("ceil(n / 16)", GIVES("4")), 64, HG_NONE, "P02", "parameter not bound: u64 'n'", 0},
    {X("ceil(n / 16)", GIVES("4")), 64, 1024, NULL, NULL, 1024},
    {X("ceil(n / 16)", GIVES("4")), 64, 1025, "P05", "its extents need 65 bytes, it has 64", 0},
    {X("n - 70", GIVES("4")), 64, 69, "P09", "buffer 'x': the extent n - 70 is below 0", 0},
    {X("n * 2", GIVES("4")), 64, UINT64_C(1) << 63, "P09",
     "buffer 'x': the extent n * 2 is 2^64 or more", 0},
    {X("64 / n", GIVES("4")), 64, 0, "P09", "buffer 'x': the extent 64 / n is a division by 0", 0},
    {X("64", ".lanes n - 5\n" GIVES("4")), 64, 4, "P09", ".lanes: the extent n - 5 is below 0", 0},
    {X("64", ".grid n - 5\n" GIVES("4")), 64, 4, "P09", ".grid: the extent n - 5 is below 0", 0},
    {X("64", ".grid n, n, n\n" GIVES("4")), 64, UINT64_C(1) << 32, "P08",
     "4294967296 blocks in a direction", 0},
    {X("64", ".grid n, n, n\n" GIVES("4")), 64, UINT64_C(1) << 31, "P08", "launch too large", 0},
    {X("64", ".scratch r5 s u8 [3 - n]\n" GIVES("4")), 64, 4, "P09",
     "scratch 's': the extent 3 - n is below 0", 0},
    {X("64", ".lanes ceil(n * 3 / 4)\n rdid r9, lane_count\n" GIVES("9")), 64, 5, NULL, NULL, 4},
    {X("64", ".lanes min(n, 7) + max(n, 3)\n rdid r9, lane_count\n" GIVES("9")), 64, 9, NULL, NULL,
     16},
    {X("64", ".block 4, 2\n.grid ceil(n / 4), 3\n rdid r9, lane_count\n" GIVES("9")), 64, 9, NULL,
     NULL, 72},
    {X("64", ".grid n\n rdid r9, lane_count\n" GIVES("9")), 64, 9, NULL, NULL, 9}};

static void test_case(hg_backend *b, const binding_case *c) {
    hg_program *p = assemble(c->text);
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, NULL, (size_t)c->x_bytes);
    uint64_t found = 0;
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    if (c->n != HG_NONE) CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &c->n));
    hg_status status = hg_backend_execute_program_with_params(b, p, NULL, params);
    if (c->code) {
        CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(hg_last_error()->code, c->code) == 0 &&
                          strstr(hg_last_error()->message, c->message),
                      "%s\nexpected %s %s, got %s %s", c->text, c->code, c->message,
                      hg_last_error()->code, hg_last_error()->message);
    } else {
        CHECK_MESSAGE(status == HG_OK, "%s\n%s", c->text, hg_last_error()->message);
        CHECK_OK(hg_buffer_read(b, x, 0, &found, sizeof found));
        CHECK_MESSAGE(found == c->expected, "%s\n%llu", c->text, (unsigned long long)found);
    }
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* Two extents of one array, each of another parameter; and an array whose extent another array
 * tells later. */
static void test_two_arrays(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(
        ".param r1 x buffer u8 in [ceil(n / 4)]\n.param r2 y buffer u64 out [n]\n.param r4 n u64\n"
        " stg.u64 [buf(r2)], r4\n exit\n"));
    hg_buffer x = make_buffer(b, NULL, 3), y = make_buffer(b, NULL, 80);
    hg_params *params = hg_params_create();
    uint64_t n = 0;
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_buffer_read(b, y, 0, &n, 8));
    CHECK_U64(n, 10);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
}

/* ---- tables ---- */

static const char TABLE[] = PROGRAM(
    ".param r1 y buffer u32 inout [n]\n.param r4 n u64\n.data r2 k u32 [5] 1000, 200, 30, 4, 5\n"
    ".data r3 w f64 [2] 0.5, 2.0\n.lanes n\n"
    " mov_imm.u64 r5, 5\n rem.u64 r6, r255, r5\n ldg.u32 r10, [r2 + r6*4]\n ldg.u32 r11, [r1 + "
    "r255*4]\n"
    " add.u32 r10, r10, r11\n ldg.f64 r12, [buf(r3) + 8]\n cvt.u32.f64 r13, r12\n mul.u32 r10, "
    "r10, r13\n"
    " stg.u32 [r1 + r255*4], r10\n exit\n");

/* Filled once, for all launches, bindings and executables; the host may not set them. */
static void test_tables(hg_backend *b) {
    enum { N = 1000 };
    static uint32_t y[N];
    static const uint32_t k[5] = {1000, 200, 30, 4, 5};
    for (uint32_t i = 0; i < N; i++) y[i] = i;
    hg_program *p = assemble(TABLE);
    hg_buffer out = make_buffer(b, y, sizeof y);
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(N);
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    launch.max_steps = 100000; /* another executable */
    CHECK_OK(hg_backend_execute_program_with_params(b, p, &launch, params));
    CHECK_OK(hg_buffer_read(b, out, 0, y, sizeof y));
    for (uint32_t i = 0; i < N; i++) {
        uint32_t once = (i + k[i % 5]) * 2;
        CHECK_MESSAGE(y[i] == (once + k[i % 5]) * 2, "element %u is %u", (unsigned)i,
                      (unsigned)y[i]);
    }
    CHECK_OK(hg_params_set_buffer(params, "k", out));
    CHECK(hg_backend_execute_program_with_params(b, p, NULL, params) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "P03");
    CHECK_U64(hg_program_param_count(p), 2);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, out));
}

/* A table is one buffer however many executables there are, and goes with the last of them. */
static void test_one_table(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(".param r1 y buffer u64 out [1]\n.data r2 k u8 [3] 1, 2, 3\n "
                                     "stg.u64 [buf(r1)], r2\n exit\n"));
    hg_executable *e[2] = {NULL, NULL};
    hg_buffer y = make_buffer(b, NULL, 8);
    hg_params *params = hg_params_create();
    uint64_t handles[2];
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    for (int i = 0; i < 2; i++) {
        hg_binding *binding = NULL;
        hg_launch launch = hg_launch_linear(1);
        launch.max_steps = i ? 1000 : 0;
        CHECK_OK(hg_executable_create(b, p, &e[i]));
        CHECK_OK(hg_binding_create(e[i], &launch, params, &binding));
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_buffer_read(b, y, 0, &handles[i], 8));
        hg_binding_destroy(binding);
    }
    CHECK_U64(handles[0], handles[1]);
    for (int i = 0; i < 2; i++) hg_executable_destroy(e[i]);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, y));
}

/* ---- scaled addresses ---- */

/* Products that leave 64 bits are out of bounds, on every device with the same words. */
static void test_scale(hg_backend *b) {
    static const struct {
        uint64_t index;
        const char *address, *offset; /* NULL: in bounds */
    } rows[] = {{3, "[r1 + r4*4]", NULL},
                {UINT64_C(1) << 62, "[r1 + r4*4]", "18446744073709551612"},
                {UINT64_C(1) << 62, "[r1 + r4*4 - 16]", "18446744073709551596"},
                {UINT64_C(1) << 32, "[r1 + r4*4]", "17179869184"},
                {UINT64_MAX, "[r1 + r4*3]", "18446744073709551615"},
                {UINT64_MAX, "[r1 + r4*65535 + 5]", "18446744073709551620"},
                {6148914691236517206u, "[r1 + r4*3]", "18446744073709551615"},
                {16, "[r1 + r4*4]", "64"},
                {0, "[r1 + r4*4 - 4]", "-4"},
                {1, "[r1 + r4*4 - 4]", NULL}};
    for (size_t i = 0; i < HG_COUNT_OF(rows); i++) {
        char text[512], offset[64];
        snprintf(text, sizeof text,
                 ".atlas 1\n.program t\n.param r1 x buffer u32 in [16]\n.param r2 y buffer u32 out "
                 "[1]\n.param r4 n u64\n.lanes 40\n"
                 " ldg.u32 r10, %s\n stg.u32 [buf(r2)], r10\n exit\n",
                 rows[i].address);
        hg_program *p = assemble(text);
        hg_buffer x = make_buffer(b, NULL, 64), y = make_buffer(b, NULL, 4);
        hg_params *params = hg_params_create();
        CHECK_OK(hg_params_set_buffer(params, "x", x));
        CHECK_OK(hg_params_set_buffer(params, "y", y));
        CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &rows[i].index));
        hg_status status = hg_backend_execute_program_with_params(b, p, NULL, params);
        snprintf(offset, sizeof offset, "offset %s + size 4", rows[i].offset ? rows[i].offset : "");
        if (!rows[i].offset)
            CHECK_MESSAGE(status == HG_OK, "%s: %s", rows[i].address, hg_last_error()->message);
        else
            CHECK_MESSAGE(status == HG_ERROR_EXECUTION_FAILED &&
                              strcmp(hg_last_error()->code, "F01") == 0 &&
                              strstr(hg_last_error()->message, offset),
                          "%s of %llu: %s %s", rows[i].address, (unsigned long long)rows[i].index,
                          hg_last_error()->code, hg_last_error()->message);
        hg_params_destroy(params);
        hg_program_release(p);
        CHECK_OK(hg_backend_free_buffer(b, x));
        CHECK_OK(hg_backend_free_buffer(b, y));
    }
}

int main(void) {
    static const struct {
        const char *backend, *pretend;
    } devices[] = {{"cpu", ""},       {"cpu", "expand"}, {"cpu", "poor"},
                   {"cpu", "narrow"}, {"opencl", ""},    {"vulkan", ""}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        hg_config config = hg_config_default();
        hg_backend *b = NULL;
        bool cpu = strcmp(devices[i].backend, "cpu") == 0;
        snprintf(config.backend, sizeof config.backend, "%s", devices[i].backend);
        set_pretend(&config, devices[i].pretend);
        if (hg_backend_create_with_config(&config, &b) != HG_OK) {
            CHECK_MESSAGE(!cpu, "no CPU: %s", hg_last_error()->message);
            continue;
        }
        for (size_t k = 0;
             k < HG_COUNT_OF(CASES) && (i == 0 || k == 0 || k + 5 > HG_COUNT_OF(CASES)); k++)
            if (cpu || k) test_case(b, &CASES[k]);
        test_two_arrays(b);
        test_tables(b);
        test_one_table(b);
        test_scale(b);
        hg_backend_destroy(b);
    }
    return test_done();
}
