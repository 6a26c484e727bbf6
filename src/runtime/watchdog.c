/* Deadlines of launches: sleeps until the next one and writes a word that lanes look at.
 * Must not know: drivers, launches. */
#include "runtime/dispatch.h"

void hg_watchdog_init(hg_watchdog *dog) {
    hg_mutex_init(&dog->lock);
    hg_cond_init(&dog->changed);
    dog->wakes_at = UINT64_MAX;
}

/* Writes what is due and finds the next deadline. The lock is held. */
static uint64_t look(hg_watchdog *dog) {
    uint64_t now = hg_clock_ns(), next = UINT64_MAX;
    for (hg_watch *w = dog->first; w; w = w->next) {
        if (w->deadline_ns <= now || (w->cancel && hg_atomic_load(w->cancel, HG_RELAXED)))
            hg_atomic_store(w->word, 1, HG_RELEASE);
        else if (w->deadline_ns < next)
            next = w->deadline_ns;
    }
    return next;
}

static void *watch(void *user) {
    hg_watchdog *dog = user;
    hg_thread_name("hologram-watch");
    hg_mutex_lock(&dog->lock);
    while (!dog->stop) {
        dog->wakes_at = look(dog);
        if (dog->wakes_at == UINT64_MAX)
            hg_cond_wait(&dog->changed, &dog->lock);
        else
            (void)hg_cond_wait_until(&dog->changed, &dog->lock, dog->wakes_at);
    }
    hg_mutex_unlock(&dog->lock);
    return NULL;
}

void hg_watchdog_destroy(hg_watchdog *dog) {
    hg_mutex_lock(&dog->lock);
    dog->stop = true;
    hg_cond_signal(&dog->changed);
    hg_mutex_unlock(&dog->lock);
    if (dog->started) hg_thread_join(dog->thread);
    hg_mutex_destroy(&dog->lock);
    hg_cond_destroy(&dog->changed);
}

void hg_watchdog_add(hg_watchdog *dog, hg_watch *w) {
    hg_mutex_lock(&dog->lock);
    if (!dog->started) dog->started = hg_thread_start(&dog->thread, watch, dog);
    w->next = dog->first;
    w->active = true;
    dog->first = w;
    if (w->deadline_ns < dog->wakes_at) { /* it would sleep too long */
        dog->wakes_at = w->deadline_ns;
        hg_cond_signal(&dog->changed);
    }
    hg_mutex_unlock(&dog->lock);
}

void hg_watchdog_wake(hg_watchdog *dog) {
    hg_mutex_lock(&dog->lock);
    hg_cond_signal(&dog->changed);
    hg_mutex_unlock(&dog->lock);
}

void hg_watchdog_remove(hg_watchdog *dog, hg_watch *w) {
    if (!w->active) return;
    hg_mutex_lock(&dog->lock);
    for (hg_watch **at = &dog->first; *at; at = &(*at)->next) {
        if (*at != w) continue;
        *at = w->next;
        break;
    }
    w->active = false;
    hg_mutex_unlock(&dog->lock);
}
