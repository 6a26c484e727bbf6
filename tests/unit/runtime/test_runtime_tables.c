/* What a whole-array step keeps between launches: transforms of a binding that is launched again
 * and again with other numbers have the bits of bindings that are launched once; where the length
 * comes from memory, it changes from launch to launch. On the CPU, on one that is given whole-array
 * steps as launches, and on every device that is there. */
#include "support/runtime_support.h"

enum { NUMBERS = 512 };

/* Two lengths with tables of their own, one of them no power of two; then one that is read. */
static const char TEXT[] = PROGRAM(".param r1 x buffer f32 in [512]\n.param r2 y buffer f32 inout "
                                   "[512]\n.param r3 z buffer f32 inout "
                                   "[512]\n.param r4 v buffer f32 inout [512]\n"
                                   ".param r5 n buffer u64 in [1]\n.lanes 1\n"
                                   " fft.f32 output=r2, input=r1, n=22, inverse=false, batch=2, "
                                   "real=false\n fft.f32 output=r3, input=r1, "
                                   "n=64, inverse=true, batch=1, real=false\n"
                                   " mov_imm.u64 r11, 1\n parallel_reduce.u64 r10, r5, sum, r11\n "
                                   "fft.f32 output=r4, input=r1, n=r10, "
                                   "inverse=false, batch=1, real=true\n exit\n");

typedef struct fixture {
    hg_backend *b;
    hg_buffer x, n, y[3];
    hg_params *params;
    hg_executable *e;
} fixture;

static void set_input(const fixture *f, int round) {
    static const uint64_t LENGTHS[] = {13, 13, 32, 13, 32};
    float x[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) x[i] = (float)((i * (round + 3)) % 17) - 8;
    CHECK_OK(hg_buffer_write(f->b, f->x, 0, x, sizeof x));
    CHECK_OK(hg_buffer_write(f->b, f->n, 0, &LENGTHS[round], sizeof LENGTHS[round]));
    memset(x, 0, sizeof x);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_buffer_write(f->b, f->y[i], 0, x, sizeof x));
}

static void launch(const fixture *f, hg_binding *binding, float y[3][NUMBERS]) {
    CHECK_OK(hg_binding_launch(binding));
    for (int i = 0; i < 3; i++) CHECK_OK(hg_buffer_read(f->b, f->y[i], 0, y[i], sizeof y[i]));
}

static void test_launches(const fixture *f) {
    hg_binding *kept = NULL, *once = NULL;
    CHECK_OK(hg_binding_create(f->e, NULL, f->params, &kept));
    for (int round = 0; round < 5; round++) {
        float y[3][NUMBERS], expected[3][NUMBERS];
        set_input(f, round);
        launch(f, kept, y);
        set_input(f, round);
        CHECK_OK(hg_binding_create(f->e, NULL, f->params, &once));
        launch(f, once, expected);
        hg_binding_destroy(once);
        for (int i = 0; i < 3; i++)
            CHECK_MESSAGE(memcmp(y[i], expected[i], sizeof y[i]) == 0,
                          "launch %d, transform %d: other bits", round + 1, i + 1);
        float sum = 0;
        for (int i = 0; i < NUMBERS; i++)
            sum += expected[0][i] < 0 ? -expected[0][i] : expected[0][i];
        CHECK_MESSAGE(sum > 1, "nothing was transformed");
    }
    hg_binding_destroy(kept);
}

static void test_on(hg_backend *b) {
    fixture f = {.b = b,
                 .x = make_buffer(b, NULL, NUMBERS * sizeof(float)),
                 .n = make_buffer(b, NULL, sizeof(uint64_t)),
                 .params = hg_params_create()};
    static const char *const NAMES[] = {"y", "z", "v"};
    hg_program *p = assemble(TEXT);
    CHECK_OK(hg_params_set_buffer(f.params, "x", f.x));
    CHECK_OK(hg_params_set_buffer(f.params, "n", f.n));
    for (int i = 0; i < 3; i++) {
        f.y[i] = make_buffer(b, NULL, NUMBERS * sizeof(float));
        CHECK_OK(hg_params_set_buffer(f.params, NAMES[i], f.y[i]));
    }
    CHECK_OK(hg_executable_create(b, p, &f.e));
    test_launches(&f);
    hg_executable_destroy(f.e);
    hg_params_destroy(f.params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(b, f.x));
    CHECK_OK(hg_backend_free_buffer(b, f.n));
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, f.y[i]));
}

int main(void) {
    static const struct {
        const char *backend, *pretend;
    } devices[] = {{"cpu", ""}, {"cpu", "expand"}, {"cpu", "poor"}, {"opencl", ""}, {"vulkan", ""}};
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
        test_on(b);
        hg_backend_destroy(b);
    }
    return test_done();
}
