/* Devices that work only while they are polled or asked: order within queues and between them,
 * seeds, failures, what is copied at queue_submit, and that what breaks the driver contract is
 * noticed. */
#include "driver/driver.h"
#include "support/polled.h"
#include "support/runtime_support.h"

extern const hg_driver hg_driver_cpu;

enum { CELLS = 64, QUEUES = 3 };

/* A device with an arena whose bytes show what has run. */
typedef struct fixture {
    const hg_driver *driver;
    hg_device *device;
    hg_driver_arena *arena;
    hg_driver_queue *queues[QUEUES];
    uint8_t *cells;
} fixture;

static void set_up(fixture *f, const char *pretend) {
    const hg_driver_options options = {.cpu_level = "", .pretend = pretend, .cache_dir = ""};
    *f = (fixture){0};
    CHECK_OK(hg_pretend_check(pretend));
    CHECK_OK(hg_driver_open(&hg_driver_cpu, 0, &options, &f->driver, &f->device));
    CHECK_OK(f->driver->arena_alloc(f->device, CELLS, &f->arena));
    for (int i = 0; i < QUEUES; i++) CHECK_OK(f->driver->queue_create(f->device, &f->queues[i]));
    f->cells = f->driver->arena_map(f->arena);
}

static void tear_down(fixture *f) {
    for (int i = 0; i < QUEUES; i++) f->driver->queue_destroy(f->queues[i]);
    f->driver->arena_free(f->device, f->arena);
    f->driver->device_close(f->device);
}

static hg_driver_event *new_event(const fixture *f) {
    hg_driver_event *e = NULL;
    CHECK_OK(f->driver->event_create(f->device, &e));
    return e;
}

static hg_driver_command set_cell(const fixture *f, uint64_t cell, uint8_t value) {
    return (hg_driver_command){.kind = HG_CMD_FILL, .to = {f->arena, cell, 1}, .value = value};
}

static bool is_done(const fixture *f, hg_driver_event *e) {
    bool done = false;
    CHECK_OK(f->driver->event_query(e, &done));
    return done;
}

static uint64_t misuses_since(void) {
    char first[160];
    return polled_misuses(first);
}

/* Nothing runs by itself; a poll runs one command. */
static void test_one_queue(void) {
    fixture f;
    set_up(&f, "polled");
    hg_driver_event *e = new_event(&f);
    hg_driver_command commands[3] = {set_cell(&f, 0, 1), set_cell(&f, 1, 1), set_cell(&f, 0, 2)};
    CHECK(!f.driver->event_wait && f.driver->device_poll &&
          f.driver->device_caps(f.device)->scheduling.asynchronous);
    CHECK(is_done(&f, e)); /* nobody waits for nothing */
    CHECK_OK(f.driver->queue_submit(f.queues[0], commands, 3, NULL, 0, e));
    CHECK_OK(f.driver->queue_submit(f.queues[0], &commands[1], 1, NULL, 0, NULL));
    commands[0].value = commands[2].value = 99; /* the commands were copied */
    for (int i = 0; i < 5; i++) CHECK(!is_done(&f, e));
    CHECK(f.cells[0] == 0 && f.cells[1] == 0);
    f.driver->device_poll(f.device);
    CHECK(f.cells[0] == 1 && f.cells[1] == 0 && !is_done(&f, e));
    f.driver->device_poll(f.device);
    CHECK(f.cells[0] == 1 && f.cells[1] == 1 && !is_done(&f, e));
    f.driver->device_poll(f.device);
    CHECK(f.cells[0] == 2 && is_done(&f, e));
    f.cells[1] = 0;
    f.driver->device_poll(f.device);
    CHECK(f.cells[1] == 1);
    f.driver->device_poll(f.device);                                    /* there is nothing to do */
    CHECK_OK(f.driver->queue_submit(f.queues[0], NULL, 0, NULL, 0, e)); /* events are used again */
    CHECK(!is_done(&f, e));
    CHECK_OK(hg_driver_wait(f.driver, f.device, e));
    f.driver->event_destroy(e);
    tear_down(&f);
}

/* Which queue runs when: a digit a command. */
static void trace_order(const char *pretend, char *order) {
    fixture f;
    set_up(&f, pretend);
    hg_driver_event *events[QUEUES];
    for (int q = 0; q < QUEUES; q++) {
        hg_driver_command commands[4];
        for (int i = 0; i < 4; i++) commands[i] = set_cell(&f, (uint64_t)(q * 4 + i), 1);
        events[q] = new_event(&f);
        CHECK_OK(f.driver->queue_submit(f.queues[q], commands, 2, NULL, 0, NULL));
        CHECK_OK(f.driver->queue_submit(f.queues[q], commands + 2, 2, NULL, 0, events[q]));
    }
    for (int polls = 0; polls < 4 * QUEUES; polls++) {
        uint8_t before[CELLS];
        memcpy(before, f.cells, CELLS);
        f.driver->device_poll(f.device);
        for (int cell = 0; cell < 4 * QUEUES; cell++) {
            if (f.cells[cell] == before[cell]) continue;
            *order++ = (char)('0' + cell / 4);
            CHECK(cell % 4 == 0 || before[cell - 1]); /* a queue's own commands in order */
        }
    }
    *order = 0;
    for (int q = 0; q < QUEUES; q++) {
        CHECK(is_done(&f, events[q]));
        f.driver->event_destroy(events[q]);
    }
    tear_down(&f);
}

static void test_seeds(void) {
    char first[64], again[64], other[64], pretend[32];
    int different = 0;
    trace_order("polled=1", first);
    trace_order("polled", again); /* 1 is the seed when none is given */
    CHECK_TEXT(again, first);
    CHECK_U64(strlen(first), 4 * QUEUES);
    for (int seed = 2; seed < 20; seed++) {
        snprintf(pretend, sizeof pretend, "poor, polled=%d", seed);
        trace_order(pretend, other);
        trace_order(pretend, again);
        CHECK_TEXT(again, other);
        different += strcmp(first, other) != 0;
    }
    CHECK(different > 15);
}

static void test_waits(void) {
    for (int seed = 1; seed < 30; seed++) {
        char pretend[32];
        fixture f;
        snprintf(pretend, sizeof pretend, "polled=%d", seed);
        set_up(&f, pretend);
        hg_driver_event *a = new_event(&f), *b = new_event(&f);
        hg_driver_command commands[4] = {set_cell(&f, 0, 1), set_cell(&f, 1, 1), set_cell(&f, 0, 2),
                                         set_cell(&f, 0, 3)};
        CHECK_OK(f.driver->queue_submit(f.queues[0], commands, 2, NULL, 0, a));
        CHECK_OK(f.driver->queue_submit(f.queues[1], &commands[2], 1, &a, 1, b));
        CHECK_OK(f.driver->queue_submit(f.queues[2], &commands[3], 1, (hg_driver_event *[]){b, a},
                                        2, NULL));
        for (int i = 0; i < 2; i++) {
            f.driver->device_poll(f.device);
            CHECK(f.cells[0] == 1);
        }
        CHECK_OK(f.driver->queue_submit(f.queues[0], &commands[3], 1, &b, 1, a)); /* used again; who
                                                                                     waited, waits
                                                                                     for the first
                                                                                     use */
        f.driver->device_poll(f.device);
        CHECK(f.cells[0] == 2);
        CHECK_OK(hg_driver_wait(f.driver, f.device, a));
        f.driver->device_poll(f.device);
        CHECK(f.cells[0] == 3);
        f.driver->event_destroy(a);
        f.driver->event_destroy(b);
        tear_down(&f);
    }
}

/* An event's state is seen before the work that the question does. */
static void test_no_wait(void) {
    fixture f;
    set_up(&f, "no-wait=3");
    hg_driver_event *e = new_event(&f);
    hg_driver_command commands[2] = {set_cell(&f, 0, 1), set_cell(&f, 1, 1)};
    CHECK(!f.driver->event_wait && !f.driver->device_poll && !hg_driver_can_wait(f.driver));
    CHECK_OK(f.driver->queue_submit(f.queues[0], commands, 2, NULL, 0, e));
    CHECK_STATUS(hg_driver_wait(f.driver, f.device, e), HG_ERROR_WOULD_BLOCK);
    CHECK(f.cells[0] == 0);
    int asked[3] = {0, 0, 0}; /* while no, one, both commands had run */
    for (bool done = false; !done && asked[0] < 1000; asked[f.cells[0] + f.cells[1]]++) {
        bool both = f.cells[0] && f.cells[1];
        done = is_done(&f, e);
        CHECK(done == both);
    }
    CHECK(asked[0] > 0 && asked[1] > 0 && asked[2] == 2);
    f.driver->event_destroy(e);
    tear_down(&f);
}

/* A failed submission fails those that wait for it, and without a signal the next one of its queue.
 */
static void test_failures(void) {
    fixture f;
    set_up(&f, "polled");
    const hg_driver_dispatch dispatch = {.groups = {1, 1, 1}};
    hg_driver_event *a = new_event(&f), *b = new_event(&f), *c = new_event(&f);
    hg_driver_command bad[2] = {{.kind = HG_CMD_DISPATCH, .dispatch = &dispatch},
                                set_cell(&f, 0, 1)},
                      good = set_cell(&f, 1, 1);
    bool done;
    CHECK_OK(f.driver->queue_submit(f.queues[0], bad, 2, NULL, 0, a));
    CHECK_OK(f.driver->queue_submit(f.queues[1], &good, 1, &a, 1, b));
    CHECK_STATUS(hg_driver_wait(f.driver, f.device, b), HG_ERROR_INTERNAL);
    CHECK_STATUS(f.driver->event_query(a, &done), HG_ERROR_INTERNAL);
    CHECK_TEXT(hg_last_error()->message, "unknown command 6");
    CHECK(f.cells[0] == 0 && f.cells[1] == 0);
    CHECK_OK(f.driver->queue_submit(f.queues[2], bad, 1, NULL, 0, NULL));
    CHECK_OK(f.driver->queue_submit(f.queues[2], &good, 1, NULL, 0, c));
    CHECK_STATUS(hg_driver_wait(f.driver, f.device, c), HG_ERROR_INTERNAL);
    CHECK_OK(f.driver->queue_submit(f.queues[2], &good, 1, NULL, 0, c));
    CHECK_OK(hg_driver_wait(f.driver, f.device, c));
    CHECK(f.cells[1] == 1);
    f.driver->event_destroy(a);
    f.driver->event_destroy(b);
    f.driver->event_destroy(c);
    tear_down(&f);
}

/* A queue that goes has done its work, and what others do for it; where nobody waits it drops what
 * has not begun. */
static void test_destroy(void) {
    for (int asks = 0; asks < 2; asks++) {
        fixture f;
        set_up(&f, asks ? "no-wait" : "polled=5");
        hg_driver_event *a = new_event(&f), *b = new_event(&f);
        hg_driver_command commands[2] = {set_cell(&f, 0, 1), set_cell(&f, 1, 1)},
                          after = set_cell(&f, 0, 2);
        bool done = false;
        CHECK_OK(f.driver->queue_submit(f.queues[0], commands, 2, NULL, 0, a));
        CHECK_OK(f.driver->queue_submit(f.queues[1], &after, 1, &a, 1, b));
        f.driver->queue_destroy(f.queues[1]);
        CHECK_U64(f.cells[0], asks ? 0 : 2);
        CHECK(f.driver->event_query(b, &done) == (asks ? HG_ERROR_BACKEND_UNAVAILABLE : HG_OK) &&
              done);
        done = false;
        for (int i = 0; i < 1000 && !done; i++) CHECK_OK(f.driver->event_query(a, &done));
        CHECK(done && f.cells[1] == 1);
        CHECK_OK(f.driver->queue_create(f.device, &f.queues[1]));
        f.driver->event_destroy(a);
        f.driver->event_destroy(b);
        tear_down(&f);
    }
}

static void test_plans(void) {
    fixture f;
    set_up(&f, "polled");
    hg_driver_event *e = new_event(&f);
    hg_driver_recording *plan = NULL;
    hg_driver_command commands[2] = {
        set_cell(&f, 0, 7), {.kind = HG_CMD_COPY, .to = {f.arena, 1, 1}, .from = {f.arena, 0, 1}}};
    CHECK_OK(f.driver->recording_create(f.device, commands, 2, &plan));
    commands[0].value = 9;
    for (int i = 0; i < 2; i++) {
        f.cells[0] = f.cells[1] = 0;
        CHECK_OK(f.driver->recording_launch(f.queues[0], plan, NULL, 0, e));
        f.driver->device_poll(f.device);
        CHECK(f.cells[0] == 7 && f.cells[1] == 0);
        CHECK_OK(hg_driver_wait(f.driver, f.device, e));
        CHECK(f.cells[1] == 7);
    }
    CHECK_U64(misuses_since(), 0);
    CHECK_OK(f.driver->recording_launch(f.queues[0], plan, NULL, 0, NULL));
    CHECK_OK(f.driver->recording_launch(f.queues[0], plan, NULL, 0, e));
    CHECK_U64(misuses_since(), 1);
    CHECK_OK(hg_driver_wait(f.driver, f.device, e));
    f.driver->recording_destroy(plan);
    commands[0].kind = HG_CMD_COPY_IN;
    CHECK_STATUS(f.driver->recording_create(f.device, commands, 2, &plan), HG_ERROR_INTERNAL);
    f.driver->event_destroy(e);
    tear_down(&f);
}

/* What only works by luck is noticed. */
static void test_misuse(void) {
    fixture f;
    uint8_t in[8] = {1, 2, 3}, out[8] = {0};
    set_up(&f, "polled");
    hg_driver_event *e = new_event(&f), *kept = new_event(&f);
    hg_driver_command copy_in = {.kind = HG_CMD_COPY_IN, .to = {f.arena, 0, 8}, .host = in};
    hg_driver_command copy_out = {.kind = HG_CMD_COPY_OUT, .from = {f.arena, 0, 8}, .host = out};
    CHECK_U64(misuses_since(), 0);

    CHECK_OK(f.driver->queue_submit(f.queues[0], &copy_in, 1, NULL, 0, e));
    in[0]++;
    CHECK_OK(hg_driver_wait(f.driver, f.device, e));
    CHECK_U64(misuses_since(), 1); /* bytes of a copy changed before it was done */

    CHECK_OK(f.driver->queue_submit(f.queues[0], &copy_out, 1, NULL, 0, e));
    CHECK(out[0] == 0xDB && out[7] == 0xDB); /* nobody reads them before it was done */
    CHECK_OK(hg_driver_wait(f.driver, f.device, e));
    CHECK(out[0] == 2 && out[1] == 2);
    copy_in.host = out; /* bytes on their way: those before the copy are nobody's */
    CHECK_OK(f.driver->queue_submit(f.queues[0], (hg_driver_command[]){copy_out, copy_in}, 2, NULL,
                                    0, e));
    CHECK_OK(hg_driver_wait(f.driver, f.device, e));
    CHECK_OK(f.driver->queue_submit(f.queues[0], (hg_driver_command[]){copy_in, copy_out}, 2, NULL,
                                    0, e));
    CHECK_OK(hg_driver_wait(f.driver, f.device, e));
    CHECK(out[0] == 2 && out[1] == 2);
    CHECK_U64(misuses_since(), 0);

    CHECK_OK(f.driver->queue_submit(f.queues[0], &copy_in, 1, NULL, 0, kept));
    CHECK_STATUS(f.driver->queue_submit(f.queues[0], &copy_in, 1, NULL, 0, kept),
                 HG_ERROR_INTERNAL);
    CHECK_U64(misuses_since(), 1); /* an event for two */
    f.driver->event_destroy(kept);
    CHECK_U64(misuses_since(), 1); /* it is not done */
    f.driver->arena_free(f.device, f.arena);
    CHECK_U64(misuses_since(), 1); /* memory in use: it stays */
    CHECK_OK(f.driver->queue_submit(f.queues[0], NULL, 0, NULL, 0, e));
    CHECK_OK(hg_driver_wait(f.driver, f.device, e)); /* the arena is not in use any more */
    f.driver->event_destroy(e);
    tear_down(&f);
    CHECK_U64(misuses_since(), 0);
}

static void test_words(void) {
    CHECK(hg_pretends("poor,polled=17", "polled") && hg_pretends("polled", "polled") &&
          !hg_pretends("poor", "polled"));
    CHECK(!hg_pretends("polledy", "polled") && !hg_pretends("poll", "polled"));
    CHECK_U64(hg_pretended_number("poor, polled=17", "polled", 5), 17);
    CHECK_U64(hg_pretended_number("polled", "polled", 5), 5);
    CHECK_U64(hg_pretended_number("no-wait=3", "polled", 5), 5);
    CHECK_OK(hg_pretend_check("poor,polled=17 no-wait"));
    const char *const bad[] = {"polled=", "polled=x",           "polled=1x", "polledx",
                               "poor=1",  "polled=12345678901", "=1",        "polled 1"};
    for (size_t i = 0; i < HG_COUNT_OF(bad); i++)
        CHECK_STATUS(hg_pretend_check(bad[i]), HG_ERROR_INVALID_ARGUMENT);
}

/* What is not linked with polled.c, as the library that is installed, says so. */
static void test_absent(void) {
    const hg_driver_options options = {.cpu_level = "", .pretend = "no-wait=3", .cache_dir = ""};
    hg_driver_opener *kept = hg_driver_open_polled;
    const hg_driver *driver;
    hg_device *device;
    hg_driver_open_polled = NULL;
    CHECK_STATUS(hg_driver_open(&hg_driver_cpu, 0, &options, &driver, &device),
                 HG_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(hg_last_error_text(), "'no-wait=3'") != NULL);
    hg_driver_open_polled = kept;
}

static failing_allocator memory;

static hg_status use(void) {
    const hg_driver_options options = {.cpu_level = "", .pretend = "polled", .cache_dir = ""};
    const hg_driver *driver;
    hg_device *device;
    hg_driver_queue *queue = NULL;
    hg_driver_event *e = NULL;
    hg_driver_recording *plan = NULL;
    HG_TRY(hg_driver_open(&hg_driver_cpu, 0, &options, &driver, &device));
    hg_status status = driver->queue_create(device, &queue);
    if (status == HG_OK) status = driver->event_create(device, &e);
    if (status == HG_OK) status = driver->recording_create(device, NULL, 0, &plan);
    if (status == HG_OK) status = driver->queue_submit(queue, NULL, 0, NULL, 0, e);
    if (status == HG_OK) status = hg_driver_wait(driver, device, e);
    if (status == HG_OK) status = driver->recording_launch(queue, plan, &e, 1, e);
    if (status == HG_OK) status = hg_driver_wait(driver, device, e);
    driver->recording_destroy(plan);
    driver->event_destroy(e);
    driver->queue_destroy(queue);
    driver->device_close(device);
    return status;
}

static void test_no_memory(void) {
    const hg_allocator hooks = {.size = sizeof hooks,
                                .reallocate = failing_reallocate,
                                .release = failing_release,
                                .user = &memory};
    bool hit = true;
    CHECK_OK(hg_set_allocator(&hooks));
    for (uint64_t n = 1; hit && n < 200; n++) {
        memory.allocations = 0;
        memory.fail_at = n;
        memory.only_once = true;
        hg_status status = use();
        hit = memory.allocations >= n;
        memory.fail_at = 0;
        CHECK(hit ? status == HG_ERROR_OUT_OF_MEMORY : status == HG_OK);
        CHECK_U64(memory.live, 0);
    }
    CHECK(!hit);
    CHECK_OK(hg_set_allocator(NULL));
}

int main(void) {
    test_words();
    test_absent();
    test_no_memory();
    test_one_queue();
    test_seeds();
    test_waits();
    test_no_wait();
    test_failures();
    test_destroy();
    test_plans();
    test_misuse();
    return test_done();
}
