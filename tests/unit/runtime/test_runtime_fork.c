/* test: labels=threads timeout=300 */
/* A process that forks while its threads launch, submit, allocate, compile, copy and destroy: the
 * child can go on at once with what was idle, gets errors of what was in use, and can destroy
 * everything. On devices every call of the child is an error. A child that hangs is ended by its
 * alarm, which fails the test. */
#include "runtime/backend.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120, LANES = 5000 };

static int forks = 120; /* an argument: another number; names of devices instead: only these */

/* x[i] = i·k */
#define TIMES(k)                                                                                 \
    PROGRAM(".param r1 x buffer u32 out [n]\n.param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n " \
            "shl.u64 r0, r255, r250\n"                                                           \
            " cvt.u32.u64 r10, r255\n mov_imm.u32 r11, " k                                       \
            "\n mul.u32 r10, r10, r11\n stg.u32 [r1 + r0], r10\n")
/* Some milliseconds of one lane. */
static const char LONG[] = PROGRAM(
    ".lanes 1000\n mov_imm.u32 r10, 1\n loop r30, 500\n add.u32 r10, r10, r10\n endloop\n");

typedef struct world {
    hg_backend *b;
    hg_program *times, *longer;
    hg_executable *executable;
    hg_buffer x, y;
    hg_params *params;
    hg_binding *idle, *busy, *queued; /* busy and queued are launched by threads of the parent */
    hg_context *idle_context, *busy_context;
    hg_queue *idle_queue, *busy_queue;
    hg_event *done, *last; /* last: of the busy queue, in the child */
    uint32_t expected[LANES];
} world;
static world w;
static atomic_int stop;

/* ---- what the parent's threads do ---- */

static void *launch_default(void *user) {
    while (!atomic_load(&stop)) CHECK_OK(hg_backend_execute_program(w.b, w.longer, NULL));
    return user;
}

static void *launch_busy(void *user) {
    while (!atomic_load(&stop)) CHECK_OK(hg_binding_launch_in(w.busy, w.busy_context));
    return user;
}

static void *submit(void *user) {
    while (!atomic_load(&stop)) {
        hg_event *event = NULL;
        hg_command commands[2] = {
            {.size = sizeof(hg_command), .kind = HG_COMMAND_LAUNCH, .binding = w.queued},
            {.size = sizeof(hg_command),
             .kind = HG_COMMAND_FILL,
             .buffer = w.y,
             .length = 64,
             .value = 7}};
        CHECK_OK(hg_queue_submit(w.busy_queue, commands, 2, NULL, 0, &event));
        CHECK_OK(hg_event_wait(event));
        hg_event_destroy(event);
        CHECK_OK(hg_binding_start(w.queued, w.busy_context, &event));
        CHECK_OK(hg_event_wait(event));
        hg_event_destroy(event);
        CHECK_OK(hg_queue_synchronize(w.busy_queue));
    }
    return user;
}

static void *allocate(void *user) {
    uint8_t bytes[256] = {0};
    while (!atomic_load(&stop)) {
        hg_buffer buffer;
        hg_pool pool;
        CHECK_OK(hg_backend_allocate_buffer(w.b, 1000, &buffer));
        CHECK_OK(hg_backend_allocate_pool(w.b, 100000, &pool));
        CHECK_OK(hg_buffer_write(w.b, buffer, 0, bytes, sizeof bytes));
        CHECK_OK(hg_backend_free_buffer(w.b, buffer));
        CHECK_OK(hg_backend_free_pool(w.b, pool));
    }
    return user;
}

static hg_status run_other(hg_backend *b, hg_context *context, uint32_t k) {
    char text[512];
    snprintf(text, sizeof text, TIMES("%u"), (unsigned)k);
    hg_program *program = assemble(text);
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_status status = hg_executable_create(b, program, &e);
    if (status == HG_OK) status = hg_binding_create(e, NULL, w.params, &binding);
    if (status == HG_OK && context) status = hg_binding_launch_in(binding, context);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_program_release(program);
    return status;
}

static void *compile(void *user) {
    for (uint32_t k = 2; !atomic_load(&stop); k++) {
        hg_context *context = NULL;
        hg_queue *queue = NULL;
        hg_backend *other = NULL;
        CHECK_OK(run_other(w.b, NULL, k));
        CHECK_OK(hg_context_create(w.b, &context));
        CHECK_OK(hg_queue_create(w.b, context, &queue));
        hg_queue_destroy(queue);
        hg_context_destroy(context);
        hg_config config = hg_config_default();
        memcpy(config.backend, "cpu", 4);
        config.profiling = true;
        CHECK_OK(hg_backend_create_with_config(&config, &other));
        hg_backend_destroy(other);
    }
    return user;
}

/* ---- what the child does: the number of the step that failed is its exit status ---- */

static int step;
#define STEP(condition)                                                              \
    do {                                                                             \
        step++;                                                                      \
        if (!(condition)) {                                                          \
            fprintf(stderr, "child, line %d: %s\n", __LINE__, hg_last_error_text()); \
            _exit(step);                                                             \
        }                                                                            \
    } while (0)

/* Works, or says that it was caught. */
static bool works_or_lost(hg_status status) {
    return status == HG_OK || (status == HG_ERROR_EXECUTION_FAILED &&
                               strstr(hg_last_error()->message, "when this process was forked"));
}

static bool has_result(hg_buffer buffer) {
    static uint32_t got[LANES];
    return hg_buffer_read(w.b, buffer, 0, got, sizeof got) == HG_OK &&
           memcmp(got, w.expected, sizeof got) == 0;
}

static void launch_in_child(bool all) {
    hg_context *context = NULL;
    STEP(hg_binding_launch_in(w.idle, w.idle_context) == HG_OK);
    STEP(has_result(w.x));
    STEP(hg_context_create(w.b, &context) == HG_OK);
    STEP(hg_binding_launch_in(w.idle, context) == HG_OK);
    STEP(works_or_lost(hg_binding_launch_in(w.busy, context)));
    STEP(works_or_lost(hg_binding_launch_in(w.idle, w.busy_context)));
    STEP(works_or_lost(hg_binding_launch(w.idle)));
    STEP(works_or_lost(hg_backend_execute_program(w.b, w.longer, NULL)));
    if (all) {
        uint32_t phase;
        STEP(run_other(w.b, context, 1000000) == HG_OK);
        STEP(hg_context_phase(w.idle_context, 3, &phase) == HG_OK);
        STEP(works_or_lost(hg_context_phase(w.busy_context, 3, &phase)));
    }
    hg_context_destroy(context);
}

static bool finishes(hg_queue *queue, hg_binding *binding, hg_event *wait) {
    hg_event *event = NULL;
    hg_command c = {.size = sizeof c, .kind = HG_COMMAND_LAUNCH, .binding = binding};
    hg_status status = hg_queue_submit(queue, &c, 1, &wait, wait ? 1 : 0, &event);
    if (status == HG_OK) status = hg_event_wait(event);
    hg_event_destroy(event);
    return status == HG_OK ? hg_queue_synchronize(queue) == HG_OK : works_or_lost(status);
}

static void submit_in_child(void) {
    hg_queue *queue = NULL;
    hg_event *event = NULL;
    bool done = false;
    STEP(hg_event_query(w.done, &done) == HG_OK && done);
    STEP(hg_event_wait(w.done) == HG_OK);
    STEP(finishes(w.idle_queue, w.idle, w.done));
    STEP(has_result(w.x));
    STEP(finishes(w.busy_queue, w.idle, NULL));
    STEP(finishes(w.idle_queue, w.busy, NULL));
    STEP(hg_queue_create(w.b, NULL, &queue) == HG_OK);
    STEP(finishes(queue, w.idle, NULL));
    hg_queue_destroy(queue);
    STEP(hg_binding_start(w.idle, w.idle_context, &event) == HG_OK &&
         hg_event_wait(event) == HG_OK);
    hg_event_destroy(event);
    event = NULL;
    STEP(works_or_lost(hg_binding_start(w.idle, w.busy_context, &event)));
    if (event) STEP(hg_event_wait(event) == HG_OK);
    hg_event_destroy(event);
    if (w.last) {
        STEP(works_or_lost(hg_event_query(w.last, &done)) && done);
        hg_event_cancel(w.last);
        STEP(works_or_lost(hg_event_wait(w.last)));
    }
}

static void destroy_in_child(bool all) {
    hg_buffer buffer;
    STEP(hg_backend_allocate_buffer(w.b, 5000, &buffer) == HG_OK &&
         hg_backend_free_buffer(w.b, buffer) == HG_OK);
    hg_event_destroy(w.done);
    hg_event_destroy(w.last);
    hg_queue_destroy(w.idle_queue);
    hg_queue_destroy(w.busy_queue);
    hg_binding_destroy(w.idle);
    hg_binding_destroy(w.busy);
    hg_binding_destroy(w.queued);
    hg_executable_destroy(w.executable);
    hg_context_destroy(w.idle_context);
    hg_context_destroy(w.busy_context);
    hg_params_destroy(w.params);
    hg_backend_destroy(w.b);
    hg_backend *fresh = NULL;
    if (!all) return;
    STEP(hg_backend_create("cpu", 0, &fresh) == HG_OK &&
         hg_backend_execute_program(fresh, w.longer, NULL) == HG_OK);
    hg_backend_destroy(fresh);
}

static void check_child(pid_t pid, int i) {
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        CHECK_MESSAGE(false, "fork %d failed", i);
        return;
    }
    CHECK_MESSAGE(!WIFSIGNALED(status), "child %d: signal %d%s", i, WTERMSIG(status),
                  WTERMSIG(status) == SIGALRM ? ", it hung" : "");
    CHECK_MESSAGE(!WIFEXITED(status) || !WEXITSTATUS(status), "child %d: step %d failed", i,
                  WEXITSTATUS(status));
}

static void be_child(int i) {
    alarm(SECONDS);
    if (i % 10 == 0) submit_in_child();
    launch_in_child(i % 5 == 0);
    if (i % 10 == 5) submit_in_child();
    if (i % 50 == 0) { /* a child of the child */
        pid_t pid = fork();
        if (pid == 0) {
            launch_in_child(true);
            submit_in_child();
            destroy_in_child(true);
            _exit(0);
        }
        int status = 1;
        bool ended = waitpid(pid, &status, 0) == pid;
        if (status) fprintf(stderr, "the child's child: status 0x%x\n", (unsigned)status);
        STEP(ended && status == 0);
    }
    destroy_in_child(i % 5 == 0);
    _exit(0);
}

/* ---- the host ---- */

static void make_world(void) {
    uint32_t zeros[LANES] = {0};
    uint64_t n = LANES;
    w.b = open_backend("cpu");
    w.times = assemble(TIMES("3"));
    w.longer = assemble(LONG);
    for (uint32_t i = 0; i < LANES; i++) w.expected[i] = i * 3;
    w.x = make_buffer(w.b, zeros, sizeof zeros);
    w.y = make_buffer(w.b, zeros, sizeof zeros);
    w.params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(w.params, "x", w.x));
    CHECK_OK(hg_params_set_scalar(w.params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_executable_create(w.b, w.times, &w.executable));
    CHECK_OK(hg_binding_create(w.executable, NULL, w.params, &w.idle));
    CHECK_OK(hg_params_set_buffer(w.params, "x", w.y));
    CHECK_OK(hg_binding_create(w.executable, NULL, w.params, &w.busy));
    CHECK_OK(hg_binding_create(w.executable, NULL, w.params, &w.queued));
    CHECK_OK(hg_context_create(w.b, &w.idle_context));
    CHECK_OK(hg_context_create(w.b, &w.busy_context));
    CHECK_OK(hg_queue_create(w.b, w.idle_context, &w.idle_queue));
    CHECK_OK(hg_queue_create(w.b, NULL, &w.busy_queue));
    hg_command c = {.size = sizeof c, .kind = HG_COMMAND_LAUNCH, .binding = w.idle};
    CHECK_OK(hg_queue_submit(w.idle_queue, &c, 1, NULL, 0, &w.done));
    CHECK_OK(hg_queue_synchronize(w.idle_queue));
}

static void free_world(void) {
    hg_event_destroy(w.done);
    hg_queue_destroy(w.idle_queue);
    hg_queue_destroy(w.busy_queue);
    hg_binding_destroy(w.idle);
    hg_binding_destroy(w.busy);
    hg_binding_destroy(w.queued);
    hg_executable_destroy(w.executable);
    hg_context_destroy(w.idle_context);
    hg_context_destroy(w.busy_context);
    hg_params_destroy(w.params);
    hg_program_release(w.times);
    hg_program_release(w.longer);
    hg_backend_destroy(w.b);
}

static void test_cpu(void) {
    void *(*const work[])(void *) = {launch_default, launch_busy, submit, allocate, compile};
    pthread_t threads[sizeof work / sizeof *work];
    size_t count = 0;
    make_world();
    for (; count < sizeof work / sizeof *work; count++)
        if (pthread_create(&threads[count], NULL, work[count], NULL) != 0) break;
    for (int i = 0; i < forks; i++) {
        hg_command c = {.size = sizeof c, .kind = HG_COMMAND_LAUNCH, .binding = w.busy};
        if (i % 4 == 0) CHECK_OK(hg_queue_submit(w.busy_queue, &c, 1, NULL, 0, &w.last));
        pid_t pid = fork();
        if (pid == 0) be_child(i);
        if (w.last) CHECK_OK(hg_event_wait(w.last));
        hg_event_destroy(w.last);
        w.last = NULL;
        check_child(pid, i);
    }
    atomic_store(&stop, 1);
    for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
    free_world();
}

/* ---- devices ---- */

#define REFUSED(call) STEP((call) == HG_ERROR_BACKEND_UNAVAILABLE)

static void be_child_of_device(const char *name, hg_queue *queue, hg_event *event) {
    uint8_t bytes[64];
    uint64_t size;
    uint32_t phase;
    bool done;
    hg_buffer buffer;
    hg_pool pool;
    hg_context *context;
    hg_executable *e;
    hg_binding *binding;
    hg_queue *other;
    hg_event *started;
    hg_device_info info;
    hg_backend *again = NULL;
    hg_command c = {.size = sizeof c, .kind = HG_COMMAND_LAUNCH, .binding = w.idle};
    alarm(SECONDS);
    REFUSED(hg_binding_launch(w.idle));
    REFUSED(hg_binding_launch_in(w.idle, w.idle_context));
    REFUSED(hg_backend_execute_program(w.b, w.longer, NULL));
    REFUSED(hg_backend_allocate_buffer(w.b, 100, &buffer));
    REFUSED(hg_backend_allocate_pool(w.b, 100, &pool));
    REFUSED(hg_buffer_import(w.b, bytes, sizeof bytes, &buffer));
    REFUSED(hg_buffer_write(w.b, w.x, 0, bytes, sizeof bytes));
    REFUSED(hg_buffer_read(w.b, w.x, 0, bytes, sizeof bytes));
    REFUSED(hg_backend_buffer_size(w.b, w.x, &size));
    REFUSED(hg_backend_free_buffer(w.b, w.x));
    REFUSED(hg_context_create(w.b, &context));
    REFUSED(hg_context_phase(w.idle_context, 3, &phase));
    REFUSED(hg_executable_create(w.b, w.longer, &e));
    REFUSED(hg_binding_create(w.executable, NULL, w.params, &binding));
    REFUSED(hg_binding_start(w.idle, w.idle_context, &started));
    REFUSED(hg_queue_create(w.b, NULL, &other));
    REFUSED(hg_queue_submit(queue, &c, 1, NULL, 0, NULL));
    REFUSED(hg_queue_synchronize(queue));
    REFUSED(hg_backend_device(w.b, &info));
    STEP(works_or_lost(hg_event_query(event, &done)) && done);
    STEP(works_or_lost(hg_event_wait(event)));
    hg_event_cancel(event);
    REFUSED(hg_backend_create(name, 0, &again));
    hg_event_destroy(event);
    hg_queue_destroy(queue);
    hg_binding_destroy(w.idle);
    hg_executable_destroy(w.executable);
    hg_context_destroy(w.idle_context);
    hg_backend_destroy(w.b);
    STEP(hg_backend_create("cpu", 0, &again) == HG_OK &&
         hg_backend_execute_program(again, w.longer, NULL) == HG_OK);
    hg_backend_destroy(again);
    _exit(0);
}

static void *launch_idle(void *user) {
    while (!atomic_load(&stop)) CHECK_OK(hg_binding_launch(w.busy));
    return user;
}

static void test_device(const char *name) {
    uint32_t zeros[LANES] = {0};
    uint64_t n = LANES;
    hg_queue *queue = NULL;
    pthread_t thread;
    memset(&w, 0, sizeof w);
    atomic_store(&stop, 0);
    if (hg_backend_create(name, 0, &w.b) != HG_OK) {
        SKIP(hg_last_error_text());
        return;
    }
    w.times = assemble(TIMES("3"));
    w.longer = assemble(LONG);
    w.x = make_buffer(w.b, zeros, sizeof zeros);
    w.params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(w.params, "x", w.x));
    CHECK_OK(hg_params_set_scalar(w.params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_executable_create(w.b, w.times, &w.executable));
    CHECK_OK(hg_binding_create(w.executable, NULL, w.params, &w.idle));
    CHECK_OK(hg_binding_create(w.executable, NULL, w.params, &w.busy));
    CHECK_OK(hg_context_create(w.b, &w.idle_context));
    CHECK_OK(hg_queue_create(w.b, NULL, &queue));
    bool started = pthread_create(&thread, NULL, launch_idle, NULL) == 0;
    for (int i = 0; i < 20; i++) {
        hg_event *event = NULL;
        hg_command c = {.size = sizeof c, .kind = HG_COMMAND_LAUNCH, .binding = w.idle};
        CHECK_OK(hg_queue_submit(queue, &c, 1, NULL, 0, &event));
        pid_t pid = fork();
        if (pid == 0) be_child_of_device(name, queue, event);
        check_child(pid, i);
        CHECK_OK(hg_event_wait(event)); /* the parent's goes on */
        hg_event_destroy(event);
    }
    atomic_store(&stop, 1);
    if (started) pthread_join(thread, NULL);
    hg_queue_destroy(queue);
    hg_binding_destroy(w.idle);
    hg_binding_destroy(w.busy);
    hg_executable_destroy(w.executable);
    hg_context_destroy(w.idle_context);
    hg_params_destroy(w.params);
    hg_program_release(w.times);
    hg_program_release(w.longer);
    hg_backend_destroy(w.b);
}

int main(int argc, char **argv) {
    bool devices = false;
    if (SANITIZED) { /* their allocators and threads are in no better state in a child than ours
                        were */
        SKIP("sanitizers do not take part in forks of processes with threads");
        return test_done();
    }
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] >= '0' && argv[i][0] <= '9') {
            forks = atoi(argv[i]);
            continue;
        }
        devices = true;
        test_device(argv[i]);
    }
    if (devices) return test_done();
    test_cpu();
    test_device("opencl");
    test_device("vulkan");
    return test_done();
}
