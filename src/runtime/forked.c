/* What becomes of backends, contexts and bindings in a forked child (base/fork.h). A backend whose
 * device lives in this process goes on there; one of a vendor's library is lost, because its
 * threads and its device are the parent's. A context, and a binding, that was in a launch is lost
 * too: the launch never ends in the child. Whatever is lost answers with an error and is never
 * freed.
 * Must not know: queues, plans. */
#include "runtime/binding.h"

hg_status hg_lost(const char *what) {
    return hg_fail(HG_ERROR_EXECUTION_FAILED,
                   "the %s was in use when this process was forked, make a new one", what);
}

hg_status hg_backend_lost(const hg_backend *b) {
    return hg_fail(
        HG_ERROR_BACKEND_UNAVAILABLE,
        "%s: this process was forked from the one that opened the device, which keeps it",
        b->driver->name);
}

/* ---- backends ---- */

static void backend_forked(void *user) {
    hg_backend *b = user;
    b->guard.launches = 0; /* the launches that looked up handles are the parent's */
    if (b->driver->forks) return;
    b->fork.lost = true;
    b->own_caps.memory.host_memory = false; /* copies ask first */
}

void hg_backend_watch_forks(hg_backend *b) {
    const struct {
        hg_mutex *mutex;
        hg_cond *cond;
        hg_fork_rank rank;
    } locks[HG_BACKEND_LOCKS] = {{&b->characters.lock, NULL, HG_FORK_MAKING},
                                 {&b->cache.lock, NULL, HG_FORK_CACHE},
                                 {&b->expansions.lock, NULL, HG_FORK_CACHE},
                                 {&b->guard.lock, NULL, HG_FORK_CACHE},
                                 {&b->monitor.lock, &b->monitor.changed, HG_FORK_MONITOR},
                                 {&b->memory.lock, NULL, HG_FORK_MEMORY},
                                 {&b->buffers.mutex, NULL, HG_FORK_HANDLES},
                                 {&b->pools.mutex, NULL, HG_FORK_HANDLES}};
    for (int i = 0; i < HG_BACKEND_LOCKS; i++) {
        b->fork.locks[i] = (hg_fork_lock){
            .mutex = locks[i].mutex, .cond = locks[i].cond, .untaken = !b->driver->forks};
        if (locks[i].mutex == &b->guard.lock) {
            b->fork.locks[i].child = backend_forked;
            b->fork.locks[i].user = b;
        }
        hg_fork_add(&b->fork.locks[i], locks[i].rank);
    }
}

void hg_backend_forget_forks(hg_backend *b) {
    for (int i = 0; i < HG_BACKEND_LOCKS; i++) hg_fork_remove(&b->fork.locks[i]);
}

/* ---- contexts and bindings ---- */

/* Whose a lost binding is. */
static const hg_stream NOBODY;

static void lose_binding(const hg_ticket *ticket) {
    hg_binding *binding = ticket->touches->binding;
    if (binding && binding->owner) binding->owner = &NOBODY;
}

bool hg_binding_is_lost(const hg_binding *binding) {
    return hg_atomic_load(&binding->owner, HG_RELAXED) == &NOBODY;
}

static void context_forked(void *user) {
    hg_context *c = user;
    if (c->lost) return;
    c->lost = hg_order_close(&c->order, !c->backend->driver->forks, lose_binding);
}

void hg_context_watch_forks(hg_context *c) {
    bool untaken = !c->backend->driver->forks;
    c->forks[0] = (hg_fork_lock){
        .mutex = &c->start_lock, .untaken = untaken, .child = context_forked, .user = c};
    c->forks[1] = (hg_fork_lock){.mutex = &c->class_lock, .untaken = untaken};
    hg_fork_add(&c->forks[0], HG_FORK_STARTS);
    hg_fork_add(&c->forks[1], HG_FORK_MAKING);
}

void hg_context_forget_forks(hg_context *c) {
    hg_fork_remove(&c->forks[0]);
    hg_fork_remove(&c->forks[1]);
}
