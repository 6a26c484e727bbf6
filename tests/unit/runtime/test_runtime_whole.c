/* Programs without decisions that run again and again: from the fifth launch on the driver submits
 * what it has recorded, with the same results, in whatever context and on whatever queue. */
/* test: labels=threads */
#include "runtime/backend.h"
#include "support/runtime_support.h"

static struct {
    hg_driver driver;
    const hg_driver *real;
    int recordings, launches;
} counted;

static hg_status count_create(hg_device *d, const hg_driver_command *c, uint32_t count,
                              hg_driver_recording **recording) {
    counted.recordings++;
    return counted.real->recording_create(d, c, count, recording);
}
static hg_status count_launch(hg_driver_queue *q, hg_driver_recording *recording,
                              hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    counted.launches++;
    return counted.real->recording_launch(q, recording, waits, wait_count, signal);
}

/* y = (x + x) * x - 1 by steps and a kernel between them, s = the sum of y, through memory of the
 * launch. */
#define STEPS                                                                                      \
    PROGRAM(".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r3 s buffer " \
            "f32 inout [1]\n"                                                                      \
            ".param r4 n u64\n.scratch r5 t f32 [n]\n.lanes n\n"                                   \
            " parallel_map_binary.f32 r5, r1, r1, add, r4\n parallel_map_binary.f32 r5, r5, r1, "  \
            "mul, r4\n"                                                                            \
            " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n"                                      \
            " ldg.f32 r10, [r5 + r0]\n mov_imm.f32 r11, 1.0\n sub.f32 r10, r10, r11\n stg.f32 "    \
            "[r2 + r0], r10\n"                                                                     \
            " parallel_reduce.f32 [buf(r3)], r2, sum, r4\n")
enum {
    N = 3000,
    LAUNCHES = 16
}; /* the first ones run the maps one by one, so that what comes again comes later */

typedef struct fixture {
    hg_backend *b;
    hg_buffer x, y, s;
    hg_binding *binding;
} fixture;

static bool is_right(fixture *f, int round) {
    static float y[N];
    float sum = 0;
    bool right = true;
    CHECK_OK(hg_buffer_read(f->b, f->y, 0, y, sizeof y));
    CHECK_OK(hg_buffer_read(f->b, f->s, 0, &sum, sizeof sum));
    double expected = 0;
    for (int i = 0; i < N; i++) {
        float x = (float)((i + round) % 7), value = (x + x) * x - 1;
        expected += (double)value;
        right = right && y[i] == value;
    }
    return right && (double)sum == expected; /* small integers: exact in any order */
}

static void set_input(fixture *f, int round) {
    static float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)((i + round) % 7);
    CHECK_OK(hg_buffer_write(f->b, f->x, 0, x, sizeof x));
}

static void launch_some(fixture *f, hg_context *context, hg_queue *queue) {
    for (int round = 0; round < LAUNCHES; round++) {
        hg_command c = {.size = sizeof c, .kind = HG_COMMAND_LAUNCH, .binding = f->binding};
        set_input(f, round);
        if (queue) {
            CHECK_OK(hg_queue_submit(queue, &c, 1, NULL, 0, NULL));
            CHECK_OK(hg_queue_synchronize(queue));
        } else {
            CHECK_OK(hg_binding_launch_in(f->binding, context));
        }
        CHECK_MESSAGE(is_right(f, round), "launch %d", round);
    }
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu";
    fixture f = {.b = open_backend(name)};
    hg_program *p = assemble(STEPS);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_context *context = NULL;
    hg_queue *queue = NULL;
    uint64_t n = N;
    bool records = f.b->driver->recording_create && f.b->caps->compiler.device_form &&
                   f.b->caps->scheduling.asynchronous;
    counted.real = f.b->driver;
    counted.driver = *f.b->driver;
    if (records) counted.driver.recording_create = count_create;
    if (records) counted.driver.recording_launch = count_launch;
    f.b->driver = &counted.driver;
    f.x = make_buffer(f.b, NULL, N * sizeof(float));
    f.y = make_buffer(f.b, NULL, N * sizeof(float));
    f.s = make_buffer(f.b, NULL, sizeof(float));
    CHECK_OK(hg_params_set_buffer(params, "x", f.x));
    CHECK_OK(hg_params_set_buffer(params, "y", f.y));
    CHECK_OK(hg_params_set_buffer(params, "s", f.s));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_executable_create(f.b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &f.binding));
    CHECK_OK(hg_context_create(f.b, &context));
    CHECK_OK(hg_queue_create(f.b, NULL, &queue));
    launch_some(&f, f.b->context, NULL);
    if (records) { /* the first launches wait for compilers; then a launch is the recording */
        CHECK_U64(counted.recordings, 1);
        CHECK(counted.launches >= 5);
        int recordings = counted.launches;
        set_input(&f, 3);
        CHECK_OK(hg_binding_launch(f.binding));
        CHECK(is_right(&f, 3));
        CHECK_U64(counted.launches - recordings, 1);
    }
    launch_some(&f, context, NULL);
    launch_some(&f, NULL, queue);
    launch_some(&f, f.b->context, NULL);
    hg_queue_destroy(queue);
    hg_context_destroy(context);
    hg_binding_destroy(f.binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    f.b->driver = counted.real;
    hg_backend_destroy(f.b);
    return test_done();
}
