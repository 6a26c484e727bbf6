/* See deep.h. A thread a call: it takes a few tens of microseconds, the calls take milliseconds,
 * and there is nothing to be lost in a fork or to be waited for. */
#include "base/deep.h"
#include "base/fp.h"
#include "base/thread.h"

typedef struct deep_call {
    hg_status (*call)(void *user);
    void *user;
    hg_status status;
    hg_error error; /* of a call that failed */
} deep_call;

static void *run(void *user) {
    deep_call *c = user;
    c->status = c->call(c->user);
    if (c->status != HG_OK) c->error = *hg_error_record();
    return NULL;
}

static hg_status call_here(hg_status (*call)(void *user), void *user, const char *what) {
    uint64_t left = hg_stack_left();
    if (HG_HAS_THREADS && left < HG_STACK_ENOUGH)
        return hg_fail(HG_ERROR_OUT_OF_MEMORY,
                       "%s needs a thread with %u MiB of stack, which the system refuses; this one "
                       "has %u KiB left",
                       what, (unsigned)(HG_STACK_BYTES >> 20), (unsigned)(left >> 10));
    HG_CALLS_OTHERS;
    return call(user);
}

hg_status hg_call_deep(hg_status (*call)(void *user), void *user, const char *what) {
    hg_thread thread;
    deep_call c = {.call = call, .user = user};
    if (!hg_thread_start(&thread, run, &c)) return call_here(call, user, what);
    hg_thread_join(thread);
    if (c.status != HG_OK) *hg_error_record() = c.error;
    return c.status;
}
