/* Running out of memory at every single allocation: a clean error, nothing lost, and everything
 * works again afterwards. */
/* test: timeout=300 */
#include "support/runtime_support.h"
#include "support/sanitized.h"

static failing_allocator memory;

typedef struct scene {
    hg_backend *backend;
    hg_program *program;
    hg_params *params;
    hg_executable *executable;
    hg_binding *binding;
    hg_buffer buffer;
} scene;
typedef hg_status (*attempt)(scene *s);

/* Nothing compiles in the background: what is allocated is counted. */
static hg_config quiet_config(void) {
    hg_config config = hg_config_default();
    memcpy(config.jit, "off", 4);
    return config;
}

static bool acceptable(hg_status status) {
    return status == HG_ERROR_OUT_OF_MEMORY || status == HG_ERROR_ALLOCATION_FAILED;
}

/* Fails the n-th allocation, then all from the n-th, for all n until the attempt succeeds: from the
 * 200th on each 23rd n under a sanitizer. cleanup undoes a success. */
static void fail_everywhere(const char *what, scene *s, attempt try_it, void (*cleanup)(scene *)) {
    const uint64_t step = rounds_here(1, 23);
    for (int once = 0; once < 2; once++) {
        bool done = false;
        for (uint64_t n = 1; n < 20000 && !done; n += n < 200 ? 1 : step) {
            uint64_t before = memory.live;
            memory.allocations = 0;
            memory.fail_at = n;
            memory.only_once = once;
            hg_status status = try_it(s);
            bool hit = memory.allocations >= n;
            memory.fail_at = 0;
            if (status == HG_OK) cleanup(s);
            CHECK_MESSAGE(status == HG_OK || acceptable(status), "%s, allocation %" PRIu64 ": %s",
                          what, n, hg_last_error_text());
            CHECK_MESSAGE(status == HG_OK || hit, "%s fails without a failing allocation: %s", what,
                          hg_last_error_text());
            CHECK_MESSAGE(memory.live == before,
                          "%s, allocation %" PRIu64 ": %" PRIu64 " blocks before, %" PRIu64
                          " after",
                          what, n, before, memory.live);
            done = !hit;
            if (test_failed > 20) return;
        }
        CHECK_MESSAGE(done, "%s never succeeds", what);
    }
}

static hg_status create_backend(scene *s) { return hg_backend_create("cpu", 0, &s->backend); }
static void destroy_backend(scene *s) { hg_backend_destroy(s->backend); }

static hg_status create_executable(scene *s) {
    return hg_executable_create(s->backend, s->program, &s->executable);
}
static void destroy_executable(scene *s) { hg_executable_destroy(s->executable); }

static hg_status create_binding(scene *s) {
    return hg_binding_create(s->executable, NULL, s->params, &s->binding);
}
static void destroy_binding(scene *s) { hg_binding_destroy(s->binding); }

static hg_status launch(scene *s) { return hg_binding_launch(s->binding); }
static hg_status execute(scene *s) {
    return hg_backend_execute_program_with_params(s->backend, s->program, NULL, s->params);
}
static void nothing(scene *s) { (void)s; }

static hg_status with_params(scene *s) {
    float alpha = 1;
    (void)s;
    hg_params *params = hg_params_create();
    hg_status status = params ? hg_params_set_scalar(params, "a_name", HG_TYPE_F32, &alpha)
                              : HG_ERROR_OUT_OF_MEMORY;
    if (status == HG_OK) status = hg_params_set_buffer(params, "another", (hg_buffer){1});
    if (status == HG_OK) status = hg_params_set_register_u64(params, 7, 1);
    hg_params_destroy(params);
    return status;
}

static hg_status with_memory(scene *s) {
    hg_buffer a = {0}, c = {0};
    hg_pool p = {0};
    uint8_t bytes[16];
    hg_status status = hg_backend_allocate_buffer(s->backend, 100, &a);
    if (status == HG_OK) status = hg_backend_allocate_pool(s->backend, 100, &p);
    if (status == HG_OK) status = hg_buffer_import(s->backend, bytes, sizeof bytes, &c);
    if (a.handle) CHECK_OK(hg_backend_free_buffer(s->backend, a));
    if (c.handle) CHECK_OK(hg_backend_free_buffer(s->backend, c));
    if (p.handle) CHECK_OK(hg_backend_free_pool(s->backend, p));
    return status;
}

static hg_status with_context(scene *s) {
    hg_context *c = NULL;
    hg_status status = hg_context_create(s->backend, &c);
    hg_context_destroy(c);
    return status;
}

static hg_status with_queue(scene *s) {
    hg_queue *q = NULL;
    hg_event *event = NULL, *second = NULL;
    uint8_t byte = 1;
    hg_command command = {.size = sizeof command,
                          .kind = HG_COMMAND_COPY_IN,
                          .buffer = {1},
                          .host = &byte,
                          .length = 1};
    hg_status status = hg_queue_create(s->backend, NULL, &q);
    if (status == HG_OK) status = hg_queue_submit(q, &command, 1, NULL, 0, &event);
    if (status == HG_OK) status = hg_queue_submit(q, &command, 1, &event, 1, &second);
    if (status == HG_OK) status = hg_event_wait(second);
    hg_queue_destroy(q);
    hg_event_destroy(event);
    hg_event_destroy(second);
    return status;
}

/* Each callback that was registered comes once, whatever else fails. */
static void count_done(void *user, hg_status status, const hg_error *error) {
    CHECK((status == HG_OK) == (error == NULL));
    ++*(int *)user;
}

static hg_status with_callbacks(scene *s) {
    hg_queue *q = NULL;
    hg_event *event = NULL;
    uint8_t byte = 1;
    bool left = true;
    int registered = 0, told = 0;
    hg_command command = {.size = sizeof command,
                          .kind = HG_COMMAND_COPY_IN,
                          .buffer = s->buffer,
                          .host = &byte,
                          .length = 1};
    hg_status status = hg_queue_create(s->backend, NULL, &q);
    if (status == HG_OK) status = hg_queue_submit(q, &command, 1, NULL, 0, &event);
    for (int i = 0; i < 3 && status == HG_OK; i++) {
        status = hg_event_on_done(event, count_done, &told);
        if (status == HG_OK) registered++;
    }
    hg_event_destroy(event);
    hg_queue_destroy(q);
    while (left) CHECK_OK(hg_backend_progress(s->backend, &left));
    CHECK_U64(told, registered);
    return status;
}

/* Where no thread calls them: what is allocated is counted. */
static void run_callbacks(void) {
    hg_config config = quiet_config();
    scene s = {0};
    memcpy(config.backend, "null", 5);
    set_pretend(&config, "no-wait=1");
    CHECK_OK(open_in_steps(&config, &s.backend));
    CHECK_OK(hg_backend_allocate_buffer(s.backend, 64, &s.buffer));
    CHECK_OK(with_callbacks(&s));
    fail_everywhere("callbacks", &s, with_callbacks, nothing);
    hg_backend_destroy(s.backend);
}

static hg_status with_executor(scene *s) {
    hg_typed_buffer t = {{1}, HG_TYPE_F32, 16};
    return hg_execute_unary(s->backend, "relu", t, t);
}

/* Steps, a loop around them, values across, pools, wide types, a class. */
static const char STEPS[] = PROGRAM(
    ".param r1 x buffer f32 inout [n]\n.param r6 tmp pool 64\n.param r7 w i256 = 5\n.param r4 n "
    "u64\n.lanes n\n mov_imm.u32 r250, 2\n "
    "shl.u64 r0, r255, r250\n mov_imm.u64 r20, 0\n mov_imm.u32 r13, 1\n"
    " ldg.f32 r10, [r1 + r0]\n mul.i256 r8, r7, r7\nagain:\n parallel_map.f32 [r1 + r20 + 4], [r1 "
    "+ r20], abs, 3\n parallel_reduce.f32 "
    "r11, r1, sum, r4\n mul.i256 r8, r8, r7\n loop r13, @again\n"
    " pool.alloc r12, 64\n pool.alloc pool99, 64\n add.f32 r11, r10, r11\n ldg.f32 r14, [class3 + "
    "8]\n stg.f32 [r1 + r0], r11\n "
    "pool.store.f32 r6, 0, r14\n");

/* Instructions with functions, arrays and memory of the context that lowering adds. */
static const char ATLAS[] = PROGRAM(
    ".param r20 x buffer f32 in\n    rdid r1, grid_dim_x\n    mov_imm.u32 r2, 97\n    mult.inverse "
    "r3, r1, r2\n    res.accum r4, r3, 5\n"
    "    res.accum r4, r4, r1\n    unity.test p0, eps=2.5\n    phase.write r1, 3\n    phase.read "
    "r5, 3\n    phase.adv r1\n    phase.get "
    "r6\n"
    "    char.product.f64 r7, r1, r2\n    cls.get r8, r1\n    nbr.load r9, r8, 1\n");

static void run_scene(const char *name, const char *text, const char *pretend) {
    hg_config config = quiet_config();
    scene s = {0};
    float alpha = 2, data[4] = {1, 2, 3, 4};
    char what[80];
    memcpy(config.backend, "cpu", 4);
    config.cache_programs = 0; /* every execution builds */
    set_pretend(&config, pretend);
    CHECK_OK(hg_backend_create_with_config(&config, &s.backend));
    hg_buffer x = make_buffer(s.backend, data, sizeof data),
              y = make_buffer(s.backend, data, sizeof data);
    s.program = assemble(text);
    s.params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(s.params, "x", x));
    if (strstr(text, "alpha")) {
        CHECK_OK(hg_params_set_buffer(s.params, "y", y));
        CHECK_OK(hg_params_set_scalar(s.params, "alpha", HG_TYPE_F32, &alpha));
    }
    CHECK_OK(execute(&s)); /* what is made once for the process, or grows, is there now */
    snprintf(what, sizeof what, "%s%s%s: executable", name, *pretend ? ", " : "", pretend);
    fail_everywhere(what, &s, create_executable, destroy_executable);
    CHECK_OK(create_executable(&s));
    snprintf(what, sizeof what, "%s: binding", name);
    fail_everywhere(what, &s, create_binding, destroy_binding);
    CHECK_OK(create_binding(&s));
    CHECK_OK(launch(&s));
    destroy_binding(&s);
    destroy_executable(&s);
    snprintf(what, sizeof what, "%s: execute", name);
    if (!*pretend && strcmp(name, "steps") != 0) fail_everywhere(what, &s, execute, nothing);
    hg_params_destroy(s.params);
    hg_program_release(s.program);
    hg_backend_destroy(s.backend);
}

/* The first use of a step that a driver does not do itself compiles its kernels. */
static hg_status with_expansions(scene *s) {
    hg_config config = quiet_config();
    hg_typed_buffer in = {{0}, HG_TYPE_U8, 5000}, out = {{0}, HG_TYPE_U8, 1};
    (void)s;
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    set_pretend(&config, "expand");
    hg_status status = hg_backend_create_with_config(&config, &b);
    if (status == HG_OK) status = hg_allocate_typed(b, HG_TYPE_U8, 5000, &in);
    if (status == HG_OK) status = hg_allocate_typed(b, HG_TYPE_U8, 1, &out);
    if (status == HG_OK) status = hg_execute_reduce(b, "sum", in, out);
    if (status == HG_OK) status = hg_execute_unary(b, "abs", in, in);
    hg_backend_destroy(b);
    return status;
}

/* Launching steps allocates (pools, copies of overlapping inputs): pools of a failed launch are
 * gone. */
static void run_launch(void) {
    scene s = {0};
    float data[4] = {1, 2, 3, 4};
    CHECK_OK(hg_backend_create("cpu", 0, &s.backend));
    hg_buffer x = make_buffer(s.backend, data, sizeof data);
    s.program = assemble(PROGRAM(".param r1 x buffer f32 inout [n]\n.param r4 n u64\n mov_imm.u64 "
                                 "r20, 0\n pool.alloc pool99, 64\n pool.alloc r12, 64\n"
                                 " parallel_map.f32 [r1 + r20 + 4], [r1 + r20], abs, 3\n pool.free "
                                 "r12\n pool.alloc r13, 8\n pool.free r13\n"));
    s.params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(s.params, "x", x));
    CHECK_OK(create_executable(&s));
    CHECK_OK(create_binding(&s));
    for (int i = 0; i < 3; i++) CHECK_OK(launch(&s));
    fail_everywhere("launch of steps", &s, launch, nothing);
    hg_binding_destroy(s.binding);
    hg_executable_destroy(s.executable);
    hg_params_destroy(s.params);
    hg_program_release(s.program);
    hg_backend_destroy(s.backend);
}

/* The first launch on a device with a form of its own makes code, a record and windows: what a
 * failure leaves takes the next launch. */
static void run_device(const char *name) {
    scene s = {0};
    float data[4] = {1, 2, 3, 4}, alpha = 2;
    if (hg_backend_create(name, 0, &s.backend) != HG_OK) return; /* no driver */
    hg_buffer x = make_buffer(s.backend, data, sizeof data),
              y = make_buffer(s.backend, data, sizeof data);
    s.program = assemble(AXPY);
    s.params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(s.params, "x", x));
    CHECK_OK(hg_params_set_buffer(s.params, "y", y));
    CHECK_OK(hg_params_set_scalar(s.params, "alpha", HG_TYPE_F32, &alpha));
    CHECK_OK(create_executable(&s));
    CHECK_OK(create_binding(&s));
    CHECK_OK(launch(&s)); /* the code is there now */
    destroy_binding(&s);
    bool hit = true;
    for (uint64_t n = 1; hit && n < 1000 && !test_failed; n++) {
        CHECK_OK(create_binding(&s));
        memory.allocations = 0;
        memory.fail_at = n;
        memory.only_once = true;
        hg_status status = launch(&s);
        memory.fail_at = 0;
        hit = memory.allocations >= n;
        CHECK_MESSAGE(status == HG_OK || (hit && acceptable(status)),
                      "%s, allocation %" PRIu64 ": %s", name, n, hg_last_error_text());
        CHECK_OK(launch(&s));
        destroy_binding(&s);
    }
    CHECK(!hit);
    destroy_executable(&s);
    hg_params_destroy(s.params);
    hg_program_release(s.program);
    hg_backend_destroy(s.backend);
}

int main(void) {
    setenv("HOLOGRAM_JIT", "off", 1); /* as quiet_config() */
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    scene s = {0};
    CHECK_OK(create_backend(&s));
    destroy_backend(&s);
    uint64_t at_start = memory.live;
    fail_everywhere("backend", &s, create_backend, destroy_backend);
    fail_everywhere("parameters", &s, with_params, nothing);
    CHECK_OK(create_backend(&s));
    hg_typed_buffer t;
    CHECK_OK(hg_allocate_typed(s.backend, HG_TYPE_F32, 16, &t));
    CHECK_OK(with_memory(&s));
    fail_everywhere("memory", &s, with_memory, nothing);
    fail_everywhere("context", &s, with_context, nothing);
    fail_everywhere("queue", &s, with_queue, nothing);
    CHECK_OK(with_executor(&s));
    fail_everywhere("executor", &s, with_executor, nothing);
    hg_backend_destroy(s.backend);
    run_callbacks();
    fail_everywhere("expansions", &s, with_expansions, nothing);
    run_scene("axpy", AXPY, "");
    run_scene("axpy", AXPY, "poor");
    run_scene("steps", STEPS, "");
    run_scene("steps", STEPS, "poor");
    run_scene("Atlas", ATLAS, "");
    run_scene("Atlas", ATLAS, "poor");
    run_launch();
    CHECK_U64(memory.live, at_start);
    run_device("vulkan");
    run_device("opencl");
    CHECK_OK(hg_set_allocator(NULL));
    return test_done();
}
