/* Parameters, launches and bindings: language.md 5.1 and 5.3, semantics 1.1, 1.4. What a launch
 * computes is checked where it shows what was bound. */
#include "runtime/binding.h"
#include "support/runtime_support.h"

static hg_status run(hg_backend *b, const char *text, const hg_launch *launch,
                     const hg_params *params) {
    hg_program *p = assemble(text);
    hg_status status = hg_backend_execute_program_with_params(b, p, launch, params);
    hg_program_release(p);
    return status;
}

static hg_status set_u64(hg_params *params, const char *name, uint64_t value) {
    return hg_params_set_scalar(params, name, HG_TYPE_U64, &value);
}

/* ---- rules of language.md 5.1 ---- */

/* Writes n, the lane count, and k for every lane's id into o. */
#define SHOW                                                                                      \
    " mov_imm.u64 r20, 0\n stg.u64 [r1 + r20], r4\n mov_imm.u64 r20, 8\n rdid r21, lane_count\n " \
    "stg.u64 [r1 + r20], r21\n"

static void check_shown(hg_backend *b, hg_buffer o, uint64_t n, uint64_t lanes) {
    uint64_t out[2] = {0, 0};
    CHECK_OK(hg_backend_copy_from_buffer(b, o, out, sizeof out));
    CHECK_U64(out[0], n);
    CHECK_U64(out[1], lanes);
}

static void test_inference(hg_backend *b) {
    hg_params *params = hg_params_create();
    hg_buffer o = make_buffer(b, NULL, 16), x = make_buffer(b, NULL, 40),
              y = make_buffer(b, NULL, 48), odd = make_buffer(b, NULL, 42);
    static const char ONE[] = PROGRAM(".param r1 o buffer u64 out\n.param r2 x buffer f32 in "
                                      "[n]\n.param r4 n u64\n.lanes n\n" SHOW);
    static const char WITH_DEFAULT[] = PROGRAM(".param r1 o buffer u64 out\n.param r2 x buffer f32 "
                                               "in [n]\n.param r4 n u64 = 3\n.lanes n\n" SHOW);
    static const char TWICE[] = PROGRAM(
        ".param r1 o buffer u64 out\n.param r2 x buffer f32 in [n]\n.param r3 y buffer f32 in "
        "[n]\n.param r4 n u64\n.lanes n\n" SHOW);
    static const char MATRIX[] = PROGRAM(
        ".param r1 o buffer u64 out\n.param r2 x buffer f32 in [n, m, 2]\n.param r4 n u64\n.param "
        "r5 m u32\n.lanes n * m\n" SHOW);
    static const char SQUARE[] = PROGRAM(".param r1 o buffer u64 out\n.param r2 x buffer f32 in "
                                         "[n, n]\n.param r4 n u64\n.lanes n\n" SHOW);
    static const char SMALL[] = PROGRAM(
        ".param r1 o buffer u64 out\n.param r2 x buffer u8 in [n]\n.param r5 n u32\n.param r4 k "
        "u64 = 7\n.lanes n\n" SHOW);
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(run(b, ONE, NULL, params)); /* the array says how many */
    check_shown(b, o, 10, 10);
    CHECK_OK(run(b, WITH_DEFAULT, NULL, params)); /* arrays come before defaults */
    check_shown(b, o, 10, 10);
    CHECK_OK(set_u64(params, "n", 4));
    CHECK_OK(run(b, ONE, NULL, params)); /* explicit scalars come first; a larger buffer is allowed
                                            from C */
    check_shown(b, o, 4, 4);
    CHECK_OK(set_u64(params, "n", 11));
    CHECK_FAILS(run(b, ONE, NULL, params), HG_ERROR_ISA, "P05",
                "buffer 'x': its extents need 44 bytes, it has 40");
    CHECK_OK(set_u64(params, "n", UINT64_MAX));
    CHECK_FAILS(run(b, ONE, NULL, params), HG_ERROR_ISA, "P05",
                "buffer 'x': the extents' product is too large");
    CHECK_OK(set_u64(params, "n", 0));
    CHECK_OK(run(b, ONE, NULL, params)); /* no lanes, success, no effect */
    check_shown(b, o, 4, 4);
    hg_params_clear(params);
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_buffer(params, "x", odd));
    CHECK_FAILS(run(b, ONE, NULL, params), HG_ERROR_ISA, "P05",
                "buffer 'x': 42 bytes are no multiple of 4");
    CHECK_OK(hg_params_set_buffer(params, "x", y));
    CHECK_OK(hg_params_set_buffer(params, "y", x));
    CHECK_FAILS(run(b, TWICE, NULL, params), HG_ERROR_ISA, "P05",
                "buffer 'y': its extents need 48 bytes, it has 40");
    CHECK_OK(hg_params_set_buffer(params, "x", x)); /* in order of declaration: x decides */
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(run(b, TWICE, NULL, params));
    check_shown(b, o, 10, 10);
    hg_params_clear(params);
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_FAILS(run(b, MATRIX, NULL, params), HG_ERROR_ISA, "P07",
                "buffer 'x': more than one extent is unknown ('n' and 'm'): set one of them");
    uint32_t m = 5;
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U32, &m));
    CHECK_OK(run(b, MATRIX, NULL, params));
    check_shown(b, o, 1, 5);
    m = 0;
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U32, &m));
    CHECK_FAILS(run(b, MATRIX, NULL, params), HG_ERROR_ISA, "P07",
                "buffer 'x': extent 'n' cannot be found, another one is 0: set it");
    hg_params_clear(params);
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_FAILS(run(b, SQUARE, NULL, params), HG_ERROR_ISA, "P07",
                "buffer 'x': extent 'n' occurs twice: set it");
    CHECK_OK(set_u64(params, "n", 3));
    CHECK_OK(run(b, SQUARE, NULL, params));
    check_shown(b, o, 3, 3);
    hg_params_clear(params);
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_buffer(params, "x", (hg_buffer){(uint64_t)-96 + 7}));
    CHECK_OK(run(b, SMALL, NULL, params)); /* a class has 12,288 bytes; the default of k */
    check_shown(b, o, 7, 12288);
    CHECK_OK(hg_params_set_buffer(params, "x", (hg_buffer){0}));
    CHECK_OK(run(b, SMALL, NULL, params));
    check_shown(b, o, 7, 1179648);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, o));
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
    CHECK_OK(hg_backend_free_buffer(b, odd));
}

static void test_names_and_types(hg_backend *b) {
    hg_params *params = hg_params_create();
    hg_buffer x = make_buffer(b, NULL, 16);
    hg_pool pool, small;
    float alpha = 2;
    double wrong = 2;
    CHECK_OK(hg_backend_allocate_pool(b, 16, &pool));
    CHECK_OK(hg_backend_allocate_pool(b, 15, &small));
    static const char P[] = PROGRAM(
        ".param r1 x buffer f32 inout [4]\n.param r5 alpha f32\n.param r6 tmp pool 16\n exit\n");
    CHECK_FAILS(run(b, P, NULL, NULL), HG_ERROR_ISA, "P02", "parameter not bound: buffer 'x'");
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_ISA, "P02", "parameter not bound: f32 'alpha'");
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F64, &wrong));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_ISA, "P03",
                "parameter 'alpha' is f32, given f64");
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha)); /* replaces */
    CHECK_OK(run(b, P, NULL, params));                                    /* the pool is made */
    CHECK_OK(hg_params_set_buffer(params, "alpha", x));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_ISA, "P03",
                "parameter 'alpha' is a scalar, given a buffer");
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_params_set_pool(params, "tmp", small));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_ISA, "P05",
                "pool 'tmp': 16 bytes expected, it has 15");
    CHECK_OK(hg_params_set_pool(params, "tmp", pool));
    CHECK_OK(run(b, P, NULL, params));
    CHECK_OK(hg_params_set_scalar(params, "beta", HG_TYPE_F32, &alpha));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_ISA, "P01",
                "unknown parameter: 'beta' is no parameter of 'p'");
    hg_params_clear(params);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_params_set_register_u64(params, 1, x.handle));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_ISA, "P01",
                "register r1 is the parameter 'x': set it by name");
    hg_params_clear(params);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_params_set_register_u64(params, 9, 1));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_ISA, "P01",
                "unknown parameter: r9 is no parameter of 'p'");
    hg_params_clear(params);
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_params_set_buffer(params, "x", (hg_buffer){77}));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_INVALID_BUFFER, "", "BufferHandle(77)");
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_pool(params, "tmp", (hg_pool){77}));
    CHECK_FAILS(run(b, P, NULL, params), HG_ERROR_INVALID_BUFFER, "", "invalid pool handle: 77");
    /* misuse */
    CHECK_STATUS(hg_params_set_buffer(params, NULL, x), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_params_set_buffer(NULL, "x", x), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_params_set_scalar(params, NULL, HG_TYPE_F32, &alpha),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_params_set_scalar(params, "alpha", HG_TYPE_COUNT, &alpha),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, NULL),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_params_set_register(NULL, 1, HG_TYPE_F32, &alpha), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_execute_program(b, NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    hg_params_destroy(params);
    hg_params_destroy(NULL);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_pool(b, pool));
    CHECK_OK(hg_backend_free_pool(b, small));
}

/* ---- programs without .param lines ---- */

static void test_raw_registers(hg_backend *b) {
    hg_params *params = hg_params_create();
    hg_buffer o = make_buffer(b, NULL, 64);
    uint64_t out[8];
    float half = 0.5f;
    uint8_t wide[32];
    CHECK_FAILS(run(b, PROGRAM(" add.u64 r0, r1, r2\n"), NULL, NULL), HG_ERROR_ISA, "V01",
                "uninitialized register: r1");
    CHECK_OK(hg_params_set_register_u64(params, 1, o.handle));
    CHECK_OK(hg_params_set_register_u64(params, 5, 42));
    CHECK_OK(run(b, PROGRAM(" mov_imm.u64 r20, 0\n stg.u64 [r1 + r20], r5\n"), NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, out, 8));
    CHECK_U64(out[0], 42);
    /* one program, other types: verified and cached by signature */
    CHECK_OK(hg_params_set_register(params, 5, HG_TYPE_F32, &half));
    CHECK_FAILS(run(b, PROGRAM(" mov_imm.u64 r20, 0\n stg.u64 [r1 + r20], r5\n"), NULL, params),
                HG_ERROR_ISA, "V03", "type mismatch: expected u64, got f32");
    for (int i = 0; i < 32; i++) wide[i] = (uint8_t)(i * 9 + 1);
    CHECK_OK(hg_params_set_register(params, 5, HG_TYPE_U256, wide));
    CHECK_OK(run(b, PROGRAM(" mov_imm.u64 r20, 8\n stg.u256 [r1 + r20], r5\n"), NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, out, 64));
    CHECK(memcmp((uint8_t *)out + 8, wide, 32) == 0);
    /* r252 … r255 can be overwritten, with .param lines too */
    hg_params_clear(params);
    CHECK_OK(hg_params_set_register_u64(params, 1, o.handle));
    CHECK_OK(hg_params_set_register_u64(params, 255, 31));
    CHECK_OK(run(b, PROGRAM(" mov_imm.u64 r20, 0\n stg.u64 [r1 + r20], r255\n"), NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, out, 8));
    CHECK_U64(out[0], 31);
    hg_params_clear(params);
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_register_u64(params, 252, 77)); /* another type than the special's */
    CHECK_OK(run(
        b, PROGRAM(".param r1 o buffer u64 out\n mov_imm.u64 r20, 0\n stg.u64 [r1 + r20], r252\n"),
        NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, out, 8));
    CHECK_U64(out[0], 77);
    CHECK_OK(run(
        b, PROGRAM(".param r1 o buffer u64 out\n mov_imm.u64 r20, 0\n stg.u64 [r1 + r20], r255\n"),
        NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, out, 8));
    CHECK_U64(out[0], 0);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, o));
}

/* An executable serves bindings with other registers and limits than it was made for. */
static void test_executables(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(" mov_imm.u64 r20, 0\n stg.u64 [r1 + r20], r5\n"));
    hg_program *loop = assemble(PROGRAM(" mov_imm.u32 r1, 99\nagain:\n loop r1, @again\n"));
    hg_params *params = hg_params_create();
    hg_buffer o = make_buffer(b, NULL, 8);
    hg_executable *e = NULL, *same = NULL;
    hg_binding *binding = NULL;
    hg_launch launch = HG_LAUNCH_INIT;
    uint64_t out = 0;
    float f = 1;
    CHECK_STATUS(hg_executable_create(b, p, &e), HG_ERROR_ISA);
    CHECK_OK(hg_params_set_register_u64(params, 1, o.handle));
    CHECK_OK(hg_params_set_register_u64(params, 5, 8));
    CHECK_OK(hg_executable_create_for(b, p, NULL, params, &e));
    CHECK_OK(hg_executable_create_for(b, p, NULL, params, &same));
    CHECK(e == same); /* from the cache */
    hg_executable_destroy(same);
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    CHECK_OK(hg_binding_launch(binding));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, &out, 8));
    CHECK_U64(out, 8);
    hg_binding_destroy(binding);
    CHECK_OK(hg_params_set_register(params, 5, HG_TYPE_F32, &f));
    CHECK_FAILS(hg_binding_create(e, NULL, params, &binding), HG_ERROR_ISA, "V03",
                "type mismatch: expected u64, got f32");
    CHECK_STATUS(hg_binding_create(NULL, NULL, params, &binding), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_binding_launch(NULL), HG_ERROR_INVALID_ARGUMENT);
    hg_executable_destroy(e);
    hg_executable_destroy(NULL);
    hg_binding_destroy(NULL);
    CHECK_OK(hg_executable_create(b, loop, &e));
    launch.max_steps = 100;
    CHECK_OK(hg_binding_create(e, &launch, NULL, &binding));
    CHECK_OK(hg_binding_launch(binding));
    hg_binding_destroy(binding);
    launch.max_steps = 98;
    CHECK_OK(hg_binding_create(e, &launch, NULL, &binding));
    CHECK_FAILS(hg_binding_launch(binding), HG_ERROR_EXECUTION_FAILED, "F07",
                "step limit exceeded");
    hg_binding_destroy(binding);
    launch.size = 8;
    CHECK_STATUS(hg_binding_create(e, &launch, NULL, &binding), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_execute_program(b, loop, &launch), HG_ERROR_INVALID_ARGUMENT);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    hg_program_release(loop);
    CHECK_OK(hg_backend_free_buffer(b, o));
}

/* Bindings keep what they hold. */
static void test_deferred_free(hg_backend *b) {
    hg_program *p = assemble(AXPY);
    float x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, alpha = 2, out[3];
    static uint8_t scratch[3 * sizeof(float)];
    hg_buffer bx = make_buffer(b, x, sizeof x), by = make_buffer(b, NULL, 0), later;
    CHECK_OK(hg_backend_free_buffer(b, by));
    memcpy(scratch, y, sizeof y);
    CHECK_OK(hg_buffer_import(b, scratch, sizeof scratch, &by)); /* seen from here when its handle
                                                                    is gone */
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    CHECK_OK(hg_executable_create(b, p, &e));
    hg_program_release(p); /* the executable keeps it */
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    hg_params_destroy(params);
    hg_executable_destroy(e); /* so does the binding */
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, by));
    CHECK_STATUS(hg_backend_copy_from_buffer(b, by, out, sizeof out), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_free_buffer(b, by), HG_ERROR_INVALID_BUFFER);
    later = make_buffer(b, NULL, 64); /* must not take the held memory */
    CHECK_OK(hg_binding_launch(binding));
    CHECK_OK(hg_binding_launch(binding));
    memcpy(out, scratch, sizeof out);
    for (int i = 0; i < 3; i++)
        CHECK_MESSAGE(out[i] == y[i] + 4 * x[i], "element %d is %g", i, (double)out[i]);
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, later));
}

/* A pool that nobody bound is zeros at every launch. */
static void test_own_pools(hg_backend *b) {
    hg_program *p = assemble(
        PROGRAM(".param r1 o buffer u32 inout [1]\n.param r6 tmp pool 64\n mov_imm.u64 r20, 0\n"
                " pool.load.u32 r2, r6, 4\n mov_imm.u32 r3, 1\n add.u32 r2, r2, r3\n "
                "pool.store.u32 r6, 4, r2\n stg.u32 [r1 + r20], r2\n"));
    hg_buffer o = make_buffer(b, NULL, 4);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_pool pool;
    uint32_t out = 0;
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_backend_copy_from_buffer(b, o, &out, 4));
        CHECK_U64(out, 1);
    }
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_allocate_pool(b, 64, &pool));
    CHECK_OK(hg_params_set_pool(params, "tmp", pool));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_backend_copy_from_buffer(b, o, &out, 4));
        CHECK_U64(out, i + 1); /* its own contents stay */
    }
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_pool(b, pool));
    CHECK_OK(hg_backend_free_buffer(b, o));
}

/* ---- launches ---- */

static void test_launch_helpers(void) {
    static const struct {
        uint64_t n;
        uint32_t grid, block;
    } linear[] = {{0, 0, 1},
                  {1, 1, 1},
                  {255, 1, 255},
                  {256, 1, 256},
                  {257, 2, 256},
                  {1000, 4, 256},
                  {(uint64_t)1 << 32, 1 << 24, 256}};
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
        hg_launch l = hg_launch_linear(linear[i].n);
        CHECK_U64(l.grid[0], linear[i].grid);
        CHECK_U64(l.block[0], linear[i].block);
        CHECK(l.grid[1] == 1 && l.grid[2] == 1 && l.block[1] == 1 && l.block[2] == 1 &&
              l.size == sizeof l);
        CHECK_U64(hg_launch_total_threads(&l), linear[i].n);
    }
    hg_launch l = hg_launch_linear(((uint64_t)1 << 40) + 1), g = hg_launch_grid_2d(17, 32),
              none = hg_launch_grid_2d(0, 5), d = hg_launch_default();
    CHECK_U64(hg_launch_total_threads(&l), ((uint64_t)1 << 40) + 1);
    CHECK(g.grid[0] == 2 && g.grid[1] == 2 && g.grid[2] == 1 && g.block[0] == 16 &&
          g.block[1] == 16 && g.block[2] == 1);
    CHECK_U64(hg_launch_total_threads(&g), 1024);
    CHECK_U64(hg_launch_total_threads(&none), 0);
    CHECK_U64(hg_launch_total_threads(&d), 1);
    hg_launch most = HG_LAUNCH_INIT;
    for (int i = 0; i < 3; i++) most.grid[i] = most.block[i] = UINT32_MAX;
    CHECK_U64(hg_launch_total_threads(&most), UINT64_MAX);
    most.block[2] = 0;
    CHECK_U64(hg_launch_total_threads(&most), 0);
}

/* Adds 1 to element global_lane_id of o and notes the block's shape in the first three of s. */
#define COUNT_LANES                                                                                \
    PROGRAM(".param r1 o buffer u32 inout\n.param r2 s buffer u32 out\n mov_imm.u32 r250, 2\n "    \
            "shl.u64 r0, r255, r250\n"                                                             \
            " ldg.u32 r10, [r1 + r0]\n mov_imm.u32 r11, 1\n add.u32 r10, r10, r11\n stg.u32 [r1 "  \
            "+ r0], r10\n"                                                                         \
            " mov_imm.u64 r20, 0\n rdid r12, block_dim_x\n stg.u32 [r2 + r20], r12\n mov_imm.u64 " \
            "r20, 4\n"                                                                             \
            " rdid r12, grid_dim_x\n stg.u32 [r2 + r20], r12\n mov_imm.u64 r20, 8\n rdid r12, "    \
            "grid_dim_y\n stg.u32 [r2 + r20], r12\n")

static void test_lanes(hg_backend *b) {
    enum { ROOM = 2048 };
    static uint32_t counts[ROOM];
    hg_program *p = assemble(COUNT_LANES);
    hg_params *params = hg_params_create();
    hg_buffer o = make_buffer(b, NULL, sizeof counts), s = make_buffer(b, NULL, 12);
    uint32_t shape[3];
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_params_set_buffer(params, "s", s));
    struct {
        hg_launch launch;
        uint64_t lanes;
        uint32_t block, grid_x, grid_y;
    } cases[] = {
        {hg_launch_linear(1), 1, 1, 1, 1},       {hg_launch_linear(1000), 1000, 256, 4, 1},
        {hg_launch_linear(257), 257, 256, 2, 1}, {hg_launch_grid_2d(17, 3), 512, 16, 2, 1},
        {hg_launch_default(), 1, 1, 1, 1},       {hg_launch_grid_2d(16, 33), 768, 16, 1, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(counts, 0, sizeof counts);
        CHECK_OK(hg_backend_copy_to_buffer(b, o, counts, sizeof counts));
        CHECK_OK(hg_backend_execute_program_with_params(b, p, &cases[i].launch, params));
        CHECK_OK(hg_backend_copy_from_buffer(b, o, counts, sizeof counts));
        CHECK_OK(hg_backend_copy_from_buffer(b, s, shape, sizeof shape));
        uint64_t right = 0;
        for (uint64_t k = 0; k < ROOM; k++) right += counts[k] == (k < cases[i].lanes);
        CHECK_MESSAGE(right == ROOM, "case %zu: %" PRIu64 " of %d lanes right", i, right, ROOM);
        CHECK_U64(shape[0], cases[i].block);
        CHECK_U64(shape[1], cases[i].grid_x);
        CHECK_U64(shape[2], cases[i].grid_y);
    }
    hg_launch zero = hg_launch_grid_2d(0, 9), blocks = HG_LAUNCH_INIT;
    CHECK_OK(hg_backend_execute_program_with_params(b, p, &zero, params));
    blocks.block[1] = 0;
    CHECK_OK(hg_backend_execute_program_with_params(b, p, &blocks, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, counts, sizeof counts));
    CHECK_U64(counts[0], 1); /* as the last case left it */
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, o));
    CHECK_OK(hg_backend_free_buffer(b, s));
}

static void test_limits(hg_backend *b) {
    hg_program *plain = assemble(PROGRAM(" exit\n")), *barrier = assemble(PROGRAM(" bar.sync 0\n")),
               *shared = assemble(PROGRAM(".shared 64\n exit\n"));
    hg_program *blocks = assemble(PROGRAM(".lanes 1099511627776\n exit\n"));
    hg_launch l = hg_launch_linear((uint64_t)1 << 40);
    CHECK_FAILS(hg_backend_execute_program(b, plain, &l), HG_ERROR_ISA, "P08",
                "launch too large: 1099511627776 lanes, at most 1099511627775");
    CHECK_FAILS(hg_backend_execute_program(b, blocks, NULL), HG_ERROR_ISA, "P08",
                "launch too large: 1099511627776 lanes, at most 1099511627775");
    l = hg_launch_default();
    for (int i = 0; i < 3; i++) l.grid[i] = UINT32_MAX;
    CHECK_STATUS(hg_backend_execute_program(b, plain, &l), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "P08");
    l = hg_launch_default();
    for (int i = 0; i < 3; i++) l.block[i] = UINT32_MAX;
    l.lanes = 10; /* ten lanes of a monstrous block */
    CHECK_STATUS(hg_backend_execute_program(b, plain, &l), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "P08");
    l = hg_launch_default();
    l.block[0] = 1025;
    CHECK_OK(hg_backend_execute_program(b, plain, &l));
    CHECK_FAILS(hg_backend_execute_program(b, barrier, &l), HG_ERROR_ISA, "P08",
                "launch too large: a block of 1025 x 1 x 1 lanes uses a barrier or shared memory, "
                "at most 1024 lanes");
    CHECK_STATUS(hg_backend_execute_program(b, shared, &l), HG_ERROR_ISA);
    l.block[0] = 16, l.block[1] = 16, l.block[2] = 4;
    CHECK_OK(hg_backend_execute_program(b, barrier, &l));
    l.block[2] = 5;
    CHECK_STATUS(hg_backend_execute_program(b, barrier, &l), HG_ERROR_ISA);
    l.block[0] = l.block[1] = 65536, l.block[2] = 65536; /* 2^48 */
    CHECK_STATUS(hg_backend_execute_program(b, barrier, &l), HG_ERROR_ISA);
    l = hg_launch_default();
    l.shared_memory = 65536;
    CHECK_OK(hg_backend_execute_program(b, shared, &l));
    l.shared_memory = 65537;
    CHECK_FAILS(hg_backend_execute_program(b, shared, &l), HG_ERROR_ISA, "P08",
                "launch too large: 65537 bytes of shared memory, at most 65536");
    hg_program_release(plain);
    hg_program_release(barrier);
    hg_program_release(shared);
    hg_program_release(blocks);
}

/* .lanes with .block: exact lanes, blocks of that shape. */
static void test_declared_blocks(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(".param r1 o buffer u32 out [n]\n.param r4 n u64\n.block 4, "
                                     "2\n.lanes n\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n"
                                     " rdid r10, lane_idx_y\n rdid r11, block_idx_x\n mov_imm.u32 "
                                     "r12, 100\n mul.u32 r11, r11, r12\n add.u32 r10, r10, r11\n "
                                     "stg.u32 [r1 + r0], r10\n"));
    hg_params *params = hg_params_create();
    uint32_t out[11];
    hg_buffer o = make_buffer(b, NULL, sizeof out);
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, o, out, sizeof out));
    for (uint32_t i = 0; i < 11; i++) CHECK_U64(out[i], i / 8 * 100 + i % 8 / 4);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, o));
}

/* ---- the cache ---- */

static uint64_t executables_alike(hg_backend *b, hg_program *const *programs, int count,
                                  hg_executable **first) {
    uint64_t alike = 0;
    for (int i = 0; i < count; i++) {
        hg_executable *e = NULL;
        CHECK_OK(hg_executable_create(b, programs[i], &e));
        alike += e == first[i];
        hg_executable_destroy(e);
    }
    return alike;
}

static void test_cache(void) {
    enum { PROGRAMS = 3 };
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    hg_program *programs[PROGRAMS];
    hg_executable *first[PROGRAMS], *e = NULL;
    char text[128];
    memcpy(config.backend, "cpu", 4);
    config.cache_programs = 2;
    set_pretend(&config, "");
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    for (int i = 0; i < PROGRAMS; i++) {
        snprintf(text, sizeof text, PROGRAM(" mov_imm.u32 r1, %d\n"), i);
        programs[i] = assemble(text);
        CHECK_OK(hg_executable_create(b, programs[i], &first[i])); /* kept, so that no other can
                                                                      have its address */
    }
    CHECK_U64(executables_alike(b, programs + 1, 2, first + 1), 2); /* 1 and 2 are there, 0 was the
                                                                       oldest */
    CHECK_U64(executables_alike(b, programs, 1, first), 0);         /* 0 comes back for 1 */
    CHECK_U64(executables_alike(b, programs + 2, 1, first + 2), 1);
    CHECK_U64(executables_alike(b, programs + 1, 1, first + 1), 0);
    /* the same code from another text: its own lines */
    hg_program *moved = assemble(".atlas 1\n.program p\n\n\n mov_imm.u32 r1, 2\n");
    CHECK(memcmp(hg_program_hash(moved), hg_program_hash(programs[2]), 32) == 0);
    CHECK_OK(hg_executable_create(b, moved, &e));
    CHECK(e != first[2]);
    hg_executable_destroy(e);
    hg_program_release(moved);
    for (int i = 0; i < PROGRAMS; i++) {
        hg_executable_destroy(first[i]);
        hg_program_release(programs[i]);
    }
    hg_backend_destroy(b);
    config.cache_programs = 0;
    set_pretend(&config, "");
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    hg_program *p = assemble(PROGRAM(" exit\n"));
    CHECK_OK(hg_backend_execute_program(b, p, NULL));
    CHECK_OK(hg_backend_execute_program(b, p, NULL));
    hg_program_release(p);
    hg_backend_destroy(b);
}

/* ---- alias signatures ---- */

static void test_aliases(hg_backend *b) {
    static const char SOURCE[] = PROGRAM(
        ".param r1 x buffer f32 in\n.param r2 y buffer f32 in\n.param r3 z buffer f32 inout\n"
        " ldg.f32 r10, [buf(r1) + 0]\n ldg.f32 r11, [buf(r2) + 0]\n add.f32 r12, r10, r11\n "
        "stg.f32 [buf(r3) + 0], r12\n");
    static float memory[64];
    hg_buffer whole, same, half, other = make_buffer(b, NULL, 64);
    CHECK_OK(hg_buffer_import(b, memory, 64, &whole));
    CHECK_OK(hg_buffer_import(b, memory, 64, &same));
    CHECK_OK(hg_buffer_import(b, memory + 8, 64, &half));
    const hg_buffer given[][3] = {{whole, same, half}, {whole, other, whole}, {half, other, same}};
    static const uint8_t expected[][3] = {
        /* x y, x z, y z */
        {HG_ALIAS_IDENTICAL, HG_ALIAS_OVERLAPPING, HG_ALIAS_OVERLAPPING},
        {HG_ALIAS_DISTINCT, HG_ALIAS_IDENTICAL, HG_ALIAS_DISTINCT},
        {HG_ALIAS_DISTINCT, HG_ALIAS_OVERLAPPING, HG_ALIAS_DISTINCT}};
    for (size_t i = 0; i < HG_COUNT_OF(given); i++) {
        hg_params *params = hg_params_create();
        hg_program *p = NULL;
        hg_executable *e = NULL;
        hg_binding *binding = NULL;
        CHECK_OK(hg_program_assemble(SOURCE, strlen(SOURCE), NULL, &p));
        CHECK_OK(hg_params_set_buffer(params, "x", given[i][0]));
        CHECK_OK(hg_params_set_buffer(params, "y", given[i][1]));
        CHECK_OK(hg_params_set_buffer(params, "z", given[i][2]));
        CHECK_OK(hg_executable_create(b, p, &e));
        CHECK_OK(hg_binding_create(e, NULL, params, &binding));
        CHECK(binding && binding->executable->kernels[0].slot_count == 3);
        if (binding && binding->kernels[0].aliases)
            CHECK(memcmp(binding->way.one.launch.aliases, expected[i], 3) == 0);
        CHECK_OK(hg_binding_launch(binding));
        hg_binding_destroy(binding);
        hg_executable_destroy(e);
        hg_program_release(p);
        hg_params_destroy(params);
    }
}

int main(void) {
    hg_backend *b = open_backend("cpu");
    test_inference(b);
    test_names_and_types(b);
    test_raw_registers(b);
    test_executables(b);
    test_deferred_free(b);
    test_own_pools(b);
    test_aliases(b);
    test_launch_helpers();
    test_lanes(b);
    test_limits(b);
    test_declared_blocks(b);
    hg_backend_destroy(b);
    test_cache();
    return test_done();
}
