/* See failing_driver.h. */
#include "support/failing_driver.h"

const char FAILING_DRIVER_TEXT[] = "a call of the driver that a test lets fail";

static struct {
    hg_driver driver;
    const hg_driver *real;
    int kinds;
    uint64_t calls, fail_at; /* atomic */
} failing;

static hg_status count(int kind) {
    if (!(failing.kinds & kind)) return HG_OK;
    uint64_t number = hg_atomic_add_fetch(&failing.calls, 1, HG_RELAXED);
    if (number != hg_atomic_load(&failing.fail_at, HG_RELAXED)) return HG_OK;
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s", FAILING_DRIVER_TEXT);
}

static hg_status queue_submit(hg_driver_queue *q, const hg_driver_command *c, uint32_t n,
                              hg_driver_event *const *w, uint32_t wn, hg_driver_event *s) {
    HG_TRY(count(FAIL_SUBMIT));
    return failing.real->queue_submit(q, c, n, w, wn, s);
}
static hg_status recording_launch(hg_driver_queue *q, hg_driver_recording *p,
                                  hg_driver_event *const *w, uint32_t wn, hg_driver_event *s) {
    HG_TRY(count(FAIL_SUBMIT));
    return failing.real->recording_launch(q, p, w, wn, s);
}
static hg_status recording_create(hg_device *d, const hg_driver_command *c, uint32_t n,
                                  hg_driver_recording **p) {
    HG_TRY(count(FAIL_CODE));
    return failing.real->recording_create(d, c, n, p);
}
static hg_status arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **a) {
    HG_TRY(count(FAIL_MEMORY));
    return failing.real->arena_alloc(d, size, a);
}
static hg_status arena_alloc_visible(hg_device *d, uint64_t size, hg_driver_arena **a) {
    HG_TRY(count(FAIL_MEMORY));
    return failing.real->arena_alloc_visible(d, size, a);
}
static hg_status event_create(hg_device *d, hg_driver_event **e) {
    HG_TRY(count(FAIL_EVENT));
    return failing.real->event_create(d, e);
}
static hg_status queue_create(hg_device *d, hg_driver_queue **q) {
    HG_TRY(count(FAIL_QUEUE));
    return failing.real->queue_create(d, q);
}
static hg_status kernel_create(hg_device *d, const kir_module *m, hg_driver_kernel **k) {
    HG_TRY(count(FAIL_CODE));
    return failing.real->kernel_create(d, m, k);
}
static hg_status code_create(hg_device *d, const hg_driver_code *code, hg_driver_kernel **k) {
    HG_TRY(count(FAIL_CODE));
    return failing.real->code_create(d, code, k);
}

static void use(hg_backend *b, const hg_driver *driver) {
    b->driver = b->memory.driver = driver;
    if (b->dispatch_device.driver) b->dispatch_device.driver = driver;
}

void failing_driver_install(hg_backend *b, int kinds) {
    hg_driver *d = &failing.driver;
    failing.real = b->driver;
    failing.kinds = kinds;
    failing_driver_at(0);
    *d = *b->driver;
    d->queue_submit = queue_submit;
    d->arena_alloc = arena_alloc;
    d->event_create = event_create;
    d->queue_create = queue_create;
    if (d->recording_create) d->recording_create = recording_create;
    if (d->recording_launch) d->recording_launch = recording_launch;
    if (d->arena_alloc_visible) d->arena_alloc_visible = arena_alloc_visible;
    if (d->kernel_create) d->kernel_create = kernel_create;
    if (d->code_create) d->code_create = code_create;
    use(b, d);
}

void failing_driver_remove(hg_backend *b) { use(b, failing.real); }

void failing_driver_at(uint64_t n) {
    hg_atomic_store(&failing.fail_at, n, HG_RELAXED);
    hg_atomic_store(&failing.calls, 0, HG_RELAXED);
}

uint64_t failing_driver_calls(void) { return hg_atomic_load(&failing.calls, HG_RELAXED); }
