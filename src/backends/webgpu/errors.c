/* What a device said of errors, its loss, and scopes that catch errors of some calls.
 * Must not know: which calls. */
#include "backends/webgpu/webgpu_internal.h"
#include <string.h>

void wg_note(hg_device *d, WGPUStringView said) {
    hg_mutex_lock(&d->said.lock);
    if (!hg_atomic_load(&d->lost, HG_ACQUIRE)) /* then why it was is what counts */
        wg_say(said, d->said.text, sizeof d->said.text);
    hg_mutex_unlock(&d->said.lock);
}

void wg_note_error(hg_device *d, WGPUStringView said) {
    wg_note(d, said);
    hg_atomic_add_fetch(&d->errors, 1, HG_RELEASE);
}

hg_status wg_fail_said(hg_device *d, hg_status status, const char *what) {
    char text[WG_SAID];
    hg_mutex_lock(&d->said.lock);
    memcpy(text, d->said.text, sizeof text);
    hg_mutex_unlock(&d->said.lock);
    return hg_fail(status, "webgpu: %s: %s", what, text);
}

hg_status wg_check_lost(hg_device *d) {
    if (!hg_atomic_load(&d->lost, HG_ACQUIRE)) return HG_OK;
    return wg_fail_said(d, HG_ERROR_BACKEND_UNAVAILABLE,
                        "the device was lost, what its memory held is gone; create a new backend");
}

void wg_leave(hg_device *d) {
    wg_note(d, wg_text("a launch went on long after its time-out, and nothing can end its lanes"));
    hg_atomic_store(&d->lost, 1, HG_RELEASE);
}

void wg_poll(hg_device *d) {
    hg_mutex_lock(&wg_lock);
    {
        HG_CALLS_OTHERS;
        wg.InstanceProcessEvents(d->instance);
    }
    hg_mutex_unlock(&wg_lock);
}

typedef struct wg_caught {
    bool done;
    uint32_t type;
    char *text;
} wg_caught;

static void on_scope(uint32_t status, uint32_t type, WGPUStringView said, void *one, void *two) {
    wg_caught *c = one;
    (void)two;
    c->done = true;
    c->type = status == WGPU_STATUS_SUCCESS ? type : WGPU_ERROR_NONE;
    if (c->type != WGPU_ERROR_NONE) wg_say(said, c->text, WG_SAID);
}

static void on_late_scope(uint32_t status, uint32_t type, WGPUStringView said, void *one,
                          void *two) {
    hg_device *d = one;
    (void)two;
    d->asked--;
    if (status != WGPU_STATUS_SUCCESS || type == WGPU_ERROR_NONE) return;
    if (type == WGPU_ERROR_OUT_OF_MEMORY) hg_atomic_store(&d->full, 1, HG_RELEASE);
    wg_note_error(d, said);
}

void wg_scope_begin(hg_device *d, uint32_t filter) { wg.DevicePushErrorScope(d->handle, filter); }

uint32_t wg_scope_end(hg_device *d, char text[WG_SAID]) {
    wg_caught caught = {.text = text};
    WGPUPopErrorScopeCallbackInfo info = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_scope, .one = &caught};
    text[0] = 0;
    if (!WG_WAITS) {
        info.callback = on_late_scope;
        info.one = d;
        d->asked++;
    }
    (void)wg.DevicePopErrorScope(d->handle, info);
    if (!WG_WAITS) return WGPU_ERROR_NONE;
    while (!caught.done) wg.InstanceProcessEvents(d->instance);
    return caught.type;
}
