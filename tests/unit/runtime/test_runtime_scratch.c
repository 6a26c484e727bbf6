/* `.scratch` at run time: a program of two passes through it, zeros at every launch, sizes from
 * parameters, what the host may not do. On the CPU, on one that does no whole-array step itself,
 * and on every device that is there. */
#include "support/runtime_support.h"

/* Squares, their sum, and every element over it: the squares are in scratch, the second row of it
 * is never written. */
static const char TWO_PASSES[] = PROGRAM(
    ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n.param r4 n u64\n.scratch r3 "
    "squares f32 [n, 2]\n.lanes n\n"
    " parallel_map_binary.f32 r3, r1, r1, mul, r4\n parallel_reduce.f32 r10, r3, sum, r4\n "
    "mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n"
    " ldg.f32 r11, [r1 + r0]\n div.f32 r12, r11, r10\n mov_imm.u64 r13, 4\n mad.u64 r13, r4, r13, "
    "r0\n ldg.f32 r14, [r3 + r13]\n"
    " add.f32 r12, r12, r14\n stg.f32 [r2 + r0], r12\n exit\n");

static void test_two_passes(hg_backend *b) {
    static const float x[] = {1, 2, 3, 5, 1, 3}; /* squares add up to 49 */
    hg_buffer in = make_buffer(b, x, sizeof x), out = make_buffer(b, NULL, sizeof x);
    hg_program *p = assemble(TWO_PASSES);
    hg_params *params = hg_params_create();
    float y[6];
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
        CHECK_OK(hg_buffer_read(b, out, 0, y, sizeof y));
        for (int k = 0; k < 6; k++)
            CHECK_MESSAGE(y[k] == x[k] / 49, "element %d is %g", k, (double)y[k]);
    }
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, in));
    CHECK_OK(hg_backend_free_buffer(b, out));
}

/* One kernel that counts in scratch: whatever ran before, it counts from zero. */
static void test_zeros(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(
        ".param r1 o buffer u32 out [1]\n.param r5 rows u32 = 3\n.scratch r3 counts u32 [rows, 2, "
        "2]\n.lanes 100\n"
        " mov_imm.u32 r6, 1\n mov_imm.u64 r7, 44\n atom.add.u32 r8, [r3 + r7], r6\n bar.sync 0\n"
        " ldg.u32 r9, [buf(r3) + 44]\n atom.max.u32 r8, [buf(r1)], r9\n exit\n"));
    hg_buffer o = make_buffer(b, NULL, 4);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    CHECK_OK(hg_params_set_buffer(params, "o", o));
    CHECK_OK(hg_executable_create(b, p, &e));
    for (int round = 0; round < 2; round++) { /* the second binding's memory was used by the first
                                               */
        CHECK_OK(hg_binding_create(e, NULL, params, &binding));
        for (int i = 0; i < 3; i++) {
            uint32_t count = 0, zero = 0;
            CHECK_OK(hg_buffer_write(b, o, 0, &zero, 4));
            CHECK_OK(hg_binding_launch(binding));
            CHECK_OK(hg_buffer_read(b, o, 0, &count, 4));
            CHECK_U64(count, 100);
        }
        hg_binding_destroy(binding);
        binding = NULL;
    }
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, o));
}

static hg_status bind(hg_backend *b, const char *text, uint32_t n, hg_buffer given) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U32, &n));
    if (given.handle) CHECK_OK(hg_params_set_buffer(params, "tmp", given));
    CHECK_OK(hg_executable_create(b, p, &e));
    hg_status status = hg_binding_create(e, NULL, params, &binding);
    if (status == HG_OK) status = hg_binding_launch(binding);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    return status;
}

/* Sizes: bounds are those of the extents' product; none at all is a buffer of no bytes. */
static void test_sizes(hg_backend *b) {
    static const char last[] = PROGRAM(".param r4 n u32\n.scratch r3 tmp u16 [n, 3]\n mov_imm.u16 "
                                       "r5, 1\n stg.u16 [buf(r3) + 24], r5\n exit\n");
    static const char huge[] = PROGRAM(".param r4 n u32\n.scratch r3 tmp u64 [n, n, n]\n exit\n");
    hg_buffer none = {0}, some = make_buffer(b, NULL, 400);
    CHECK_OK(bind(b, last, 5, none));
    CHECK_STATUS(bind(b, last, 4, none), HG_ERROR_EXECUTION_FAILED); /* 24 bytes */
    CHECK_STATUS(bind(b, last, 0, none), HG_ERROR_EXECUTION_FAILED);
    CHECK_STATUS(bind(b, huge, UINT32_MAX, none), HG_ERROR_ISA);
    CHECK_OK(bind(b, huge, 0, none));
    CHECK_STATUS(bind(b, last, 5, some), HG_ERROR_ISA);
    CHECK_OK(hg_backend_free_buffer(b, some));
}

static void messages(hg_backend *b) {
    static const char text[] = PROGRAM(".param r4 n u32\n.scratch r3 tmp u64 [n, n, n]\n exit\n");
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    uint32_t n = UINT32_MAX;
    hg_buffer some = make_buffer(b, NULL, 400);
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U32, &n));
    CHECK_STATUS(hg_backend_execute_program_with_params(b, p, NULL, params), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "P05");
    CHECK_TEXT(hg_last_error()->message, "scratch 'tmp': the extents' product is too large");
    CHECK_OK(hg_params_set_buffer(params, "tmp", some));
    CHECK_STATUS(hg_backend_execute_program_with_params(b, p, NULL, params), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "P03");
    CHECK_TEXT(hg_last_error()->message,
               "'tmp' is scratch: its memory belongs to the launch, nobody sets it");
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, some));
}

int main(void) {
    static const struct {
        const char *backend, *pretend;
    } devices[] = {{"cpu", ""},       {"cpu", "expand"}, {"cpu", "poor"},
                   {"cpu", "narrow"}, {"opencl", ""},    {"vulkan", ""}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        hg_config config = hg_config_default();
        hg_backend *b = NULL;
        snprintf(config.backend, sizeof config.backend, "%s", devices[i].backend);
        set_pretend(&config, devices[i].pretend);
        if (hg_backend_create_with_config(&config, &b) != HG_OK) {
            CHECK_MESSAGE(strcmp(devices[i].backend, "cpu") != 0, "no CPU: %s",
                          hg_last_error()->message);
            continue;
        }
        test_two_passes(b);
        test_zeros(b);
        test_sizes(b);
        messages(b);
        hg_backend_destroy(b);
    }
    return test_done();
}
