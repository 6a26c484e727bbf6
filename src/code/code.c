/* Code by key: what there is, what is being made, and by whom. Must not know: what a device form is. */
#include "code/code_internal.h"
#include <stdio.h>
#include <string.h>

enum { MAX_CODES = 32 }; /* a kernel launched with ever new block sizes on a device with static groups must not fill memory */

/* ---- the set ---- */

static hg_status lower(hg_code_set *set, uint64_t deadline_ns) {
    const hg_compiler_caps *caps = &set->caps->compiler;
    const kir_compilation c = {.max_slots = caps->max_slots, .caps = &caps->kir, .deadline_ns = deadline_ns, .verify = set->verify};
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, set->high, &set->low));
    for (kir_function *f = set->low->functions; f; f = f->next) kir_number(f); /* threads copy it at the same time */
    return HG_OK;
}

/* In a forked child: code that another thread was making is never ready. It is made again. */
static void forked(void *user) {
    hg_code_set *set = user;
    for (hg_code **at = &set->first; *at;) {
        hg_code *c = *at;
        if (c->ready) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        set->count--;
    }
}

hg_status hg_code_set_create(const hg_code_options *options, kir_module *high, hg_code_set **set) {
    hg_code_set *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    s->driver = options->driver;
    s->device = options->device;
    s->caps = options->caps;
    s->compiler = options->compiler;
    s->background = options->background;
    s->references = 1;
    s->profile = options->profile;
    s->improve_limit_ms = options->improve_limit_ms;
    s->ear = options->ear;
    s->verify = options->verify;
    s->high = high;
    snprintf(s->name, sizeof s->name, "%s", high->name);
    hg_status status = lower(s, options->deadline_ns);
    if (status != HG_OK) {
        hg_free(s);
        return status;
    }
    s->program = hg_program_retain((hg_program *)(uintptr_t)high->program);
    hg_mutex_init(&s->lock);
    hg_cond_init(&s->changed);
    s->forks = (hg_fork_lock){.mutex = &s->lock, .cond = &s->changed, .untaken = !s->driver->forks, .child = forked, .user = s};
    hg_fork_add(&s->forks, HG_FORK_CODE);
    hg_code_note(s, s->low);
    s->input_count = s->low->inputs.count;
    s->slot_count = s->low->slots.count;
    *set = s;
    return HG_OK;
}

static void destroy_kernel(const hg_code_set *set, hg_driver_kernel *kernel) {
    if (!kernel) return;
    hg_driver_note_gone();
    set->driver->kernel_destroy(kernel);
}

static void destroy(hg_code_set *set, hg_code *c) {
    destroy_kernel(set, c->kernel);
    hg_code_free_form(c);
    hg_free(c);
}

void hg_code_retain(hg_code *c) { hg_atomic_add_fetch(&c->references, 1, HG_RELAXED); }

void hg_code_release(hg_code_set *set, hg_code *c) {
    if (c && hg_atomic_sub_fetch(&c->references, 1, HG_ACQ_REL) == 0) destroy(set, c);
}

/* Jobs of the compiler that were left alone keep what they work on. */
void hg_code_set_release(hg_code_set *set) {
    if (hg_atomic_sub_fetch(&set->references, 1, HG_ACQ_REL) != 0) return;
    hg_fork_remove(&set->forks);
    while (set->first) {
        hg_code *next = set->first->next;
        hg_code_release(set, set->first);
        set->first = next;
    }
    destroy_kernel(set, set->kernel);
    kir_module_destroy(set->low);
    kir_module_destroy(set->high);
    hg_program_release(set->program);
    hg_cond_destroy(&set->changed);
    hg_mutex_destroy(&set->lock);
    hg_free(set);
}

void hg_code_set_destroy(hg_code_set *set) {
    if (!set) return;
    if (set->background && hg_background_remove(set->background, &set->job)) hg_code_set_release(set);
    hg_code_set_release(set);
}

/* ---- asking ---- */

/* Under the lock: takes the code of a key out of the list; NULL: the list has no such code. */
static hg_code *unlink_found(hg_code_set *set, const hg_code_key *key) {
    for (hg_code **at = &set->first; *at; at = &(*at)->next) {
        hg_code *c = *at;
        if (memcmp(&c->key, key, sizeof *key) != 0) continue;
        *at = c->next;
        return c;
    }
    return NULL;
}

/* The job that makes c was left alone and is over. */
static void made_late(hg_code_set *set, hg_code *c, hg_status status) {
    hg_mutex_lock(&set->lock);
    c->ready = true;
    if (status != HG_OK) { /* the next launch tries again */
        (void)unlink_found(set, &c->key);
        set->count--;
        hg_atomic_sub_fetch(&c->references, 1, HG_ACQ_REL);
    }
    hg_cond_broadcast(&set->changed);
    hg_mutex_unlock(&set->lock);
    hg_code_release(set, c);
    hg_code_set_release(set);
}

/* From a copy: passes write ids and facts into what they read. */
static hg_status compile(hg_code_set *set, hg_code *c, const uint32_t group[3], uint64_t group_memory, bool *left) {
    kir_module *m = NULL;
    HG_TRY(kir_copy(set->low, &m));
    hg_status status = hg_code_compile_form(set, c, m, group, group_memory, made_late, left);
    kir_module_destroy(m);
    return status;
}

static void link_first(hg_code_set *set, hg_code *c) {
    c->next = set->first;
    set->first = c;
}

/* Under the lock: room for one more. Code that is being made stays. */
static void drop_last(hg_code_set *set) {
    hg_code **last = NULL;
    for (hg_code **at = &set->first; *at; at = &(*at)->next)
        if ((*at)->ready) last = at;
    if (!last) return;
    hg_code *c = *last;
    *last = c->next;
    set->count--;
    hg_code_release(set, c);
}

static hg_code *new_code(const hg_code_key *key) {
    hg_code *c = hg_calloc(1, sizeof *c);
    if (!c) return NULL;
    c->key = *key;
    c->references = 2; /* the list, and who asked */
    return c;
}

hg_status hg_code_get(hg_code_set *set, const hg_code_key *key, const uint32_t group[3], uint64_t group_memory, hg_code **code) {
    hg_code *c;
    hg_mutex_lock(&set->lock);
    while ((c = unlink_found(set, key)) != NULL) {
        link_first(set, c);
        if (c->ready) {
            hg_atomic_fetch_add(&c->references, 1, HG_RELAXED);
            hg_mutex_unlock(&set->lock);
            *code = c;
            return HG_OK;
        }
        hg_status status = hg_compiler_check(set->compiler); /* nobody waits for it */
        if (status != HG_OK) {
            hg_mutex_unlock(&set->lock);
            return status;
        }
        hg_cond_wait(&set->changed, &set->lock);
    }
    c = new_code(key);
    if (c) {
        if (set->count >= MAX_CODES) drop_last(set);
        link_first(set, c);
        set->count++;
    }
    hg_mutex_unlock(&set->lock);
    if (!c) return hg_fail_memory();
    bool left = false;
    hg_atomic_add_fetch(&set->references, 1, HG_RELAXED); /* the job's, if it is left alone, as is c then */
    hg_status status = compile(set, c, group, group_memory, &left);
    if (!left) hg_code_set_release(set);
    hg_mutex_lock(&set->lock);
    if (left) {
        hg_cond_broadcast(&set->changed);
        hg_mutex_unlock(&set->lock);
        return status;
    }
    c->ready = true;
    if (status != HG_OK) {
        (void)unlink_found(set, key);
        set->count--;
        c->references = 0; /* no other thread has seen it ready */
    }
    hg_cond_broadcast(&set->changed);
    hg_mutex_unlock(&set->lock);
    if (status != HG_OK)
        destroy(set, c);
    else
        *code = c;
    return status;
}

/* ---- the part of the driver's compiler that runs with a dispatch ---- */

typedef struct prepare_job {
    hg_compile_job job;
    hg_code_set *set;
    hg_code *c;
    hg_driver_dispatch idle;
} prepare_job;

static hg_status run_prepare(hg_compile_job *job) {
    prepare_job *j = (prepare_job *)job;
    return j->set->driver->code_prepare(j->c->kernel, &j->idle);
}

static void end_prepare(hg_compile_job *job) {
    prepare_job *j = (prepare_job *)job;
    hg_code_set *set = j->set;
    hg_code_release(set, j->c);
    hg_free((void *)(uintptr_t)j->idle.record);
    hg_free((void *)(uintptr_t)j->idle.slots);
    hg_free(j);
    hg_code_set_release(set);
}

hg_status hg_code_prepare(hg_code_set *set, hg_code *c, const hg_driver_dispatch *like) {
    prepare_job *j = hg_calloc(1, sizeof *j);
    if (!j) return hg_fail_memory();
    *j = (prepare_job){.job = {.run = run_prepare, .late = end_prepare}, .set = set, .c = c, .idle = *like};
    memcpy(j->job.name, set->name, sizeof j->job.name);
    j->idle.record = hg_calloc(like->record_bytes + (size_t)1, 1);
    j->idle.slots = hg_calloc(like->slot_count + (size_t)1, sizeof *j->idle.slots);
    hg_atomic_add_fetch(&set->references, 1, HG_RELAXED);
    hg_code_retain(c);
    bool left = false, ready = j->idle.record && j->idle.slots;
    uint64_t start = hg_profile_start(set->profile);
    hg_status status = ready ? hg_compiler_run(set->compiler, &j->job, &left) : hg_fail_memory();
    if (start) hg_code_record(set, "driver, first dispatch", start);
    if (!left) end_prepare(&j->job);
    return status;
}

hg_status hg_code_ahead(hg_code_set *set, bool keep_high) {
    if (!hg_code_in_device_form(set)) {
        uint64_t start = hg_profile_start(set->profile);
        hg_status status = set->driver->kernel_create(set->device, set->low, &set->kernel);
        hg_code_record(set, "driver", start);
        if (status != HG_OK) return status;
        kir_module_destroy(set->low);
        set->low = NULL;
    }
    if (keep_high) return HG_OK;
    kir_module_destroy(set->high);
    set->high = NULL;
    return HG_OK;
}
