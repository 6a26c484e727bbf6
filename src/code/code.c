/* Code by key: what there is, what is being made, and by whom. Must not know: what a device form
 * is. */
#include "code/code_internal.h"
#include <stdio.h>
#include <string.h>

enum {
    MAX_CODES = 32
}; /* a kernel launched with ever new block sizes on a device with static groups must not fill
      memory */

/* ---- the set ---- */

static hg_status lower(hg_code_set *set, const hg_code_options *options) {
    const hg_compiler_caps *caps = &set->caps->compiler;
    const kir_compilation c = {.max_slots = options->by_slots ? 0 : caps->max_slots,
                               .caps = &caps->kir,
                               .deadline_ns = options->deadline_ns,
                               .verify = set->verify};
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, set->form.high, &set->form.low));
    for (kir_function *f = set->form.low->functions; f; f = f->next)
        kir_number(f); /* threads copy it at the same time */
    return HG_OK;
}

/* In a forked child: code that another thread was making is never ready. It is made again. */
static void forked(void *user) {
    hg_code_set *set = user;
    for (hg_code **at = &set->keyed.first; *at;) {
        hg_code *c = *at;
        if (c->job.done) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        set->keyed.count--;
    }
}

hg_status hg_code_set_create(const hg_code_options *options, kir_module *high, hg_code_set **set) {
    hg_code_set *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    s->driver = options->driver;
    s->device = options->device;
    s->caps = options->caps;
    s->compiler = options->compiler;
    s->improving.background = options->background;
    s->references = 1;
    s->profile = options->profile;
    s->improving.improve_limit_ms = options->improve_limit_ms;
    s->improving.ear = options->ear;
    s->verify = options->verify;
    s->form.high = high;
    snprintf(s->form.name, sizeof s->form.name, "%s", high->name);
    hg_status status = lower(s, options);
    if (status != HG_OK) {
        hg_free(s);
        return status;
    }
    s->form.program = hg_program_retain((hg_program *)(uintptr_t)high->program);
    hg_mutex_init(&s->lock);
    hg_cond_init(&s->changed);
    s->forks = (hg_fork_lock){.mutex = &s->lock,
                              .cond = &s->changed,
                              .untaken = !s->driver->forks,
                              .child = forked,
                              .user = s};
    hg_fork_add(&s->forks, HG_FORK_CODE);
    hg_code_note(s, s->form.low);
    s->input_count = s->form.low->inputs.count;
    s->slot_count = s->form.low->slots.count;
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
    while (set->keyed.first) {
        hg_code *next = set->keyed.first->next;
        hg_code_release(set, set->keyed.first);
        set->keyed.first = next;
    }
    destroy_kernel(set, set->kernel);
    kir_module_destroy(set->form.low);
    kir_module_destroy(set->form.high);
    hg_program_release(set->form.program);
    hg_cond_destroy(&set->changed);
    hg_mutex_destroy(&set->lock);
    hg_free(set);
}

void hg_code_set_destroy(hg_code_set *set) {
    if (!set) return;
    if (set->improving.background &&
        hg_background_remove(set->improving.background, &set->improving.job))
        hg_code_set_release(set);
    hg_code_set_release(set);
}

/* ---- the driver's compiler, where it goes on after its call ---- */

enum { LOOK_AGAIN_NS = 1000000 };

static hg_code_state ask_driver(const hg_code_set *set, hg_driver_kernel *kernel, int *seen) {
    bool ready = true;
    if (!set->driver->kernel_ready || hg_atomic_load(seen, HG_ACQUIRE)) return HG_CODE_READY;
    if (set->driver->kernel_ready(kernel, &ready) != HG_OK) return HG_CODE_FAILED;
    if (ready) hg_atomic_store(seen, 1, HG_RELEASE);
    return ready ? HG_CODE_READY : HG_CODE_PENDING;
}

/* A moment, in which it goes on. */
static void rest(hg_code_set *set) {
    if (set->driver->device_poll) {
        set->driver->device_poll(set->device);
        return;
    }
    hg_mutex_lock(&set->lock);
    (void)hg_cond_wait_until(&set->changed, &set->lock, hg_clock_ns() + LOOK_AGAIN_NS);
    hg_mutex_unlock(&set->lock);
}

hg_code_state hg_code_look_at_all(hg_code_set *set) {
    return ask_driver(set, set->kernel, &set->ready);
}

hg_status hg_code_await_all(hg_code_set *set) {
    hg_code_state state;
    while ((state = hg_code_look_at_all(set)) == HG_CODE_PENDING) {
        if (!hg_driver_can_wait(set->driver))
            return hg_driver_would_block(set->driver, "a launch whose code is not there yet");
        rest(set);
    }
    return state == HG_CODE_READY ? HG_OK : hg_error_record()->status;
}

/* ---- asking ---- */

/* Under the lock: takes the code of a key out of the list; NULL: the list has no such code. */
static hg_code *unlink_found(hg_code_set *set, const hg_code_key *key) {
    for (hg_code **at = &set->keyed.first; *at; at = &(*at)->next) {
        hg_code *c = *at;
        if (memcmp(&c->key, key, sizeof *key) != 0) continue;
        *at = c->next;
        return c;
    }
    return NULL;
}

static void link_first(hg_code_set *set, hg_code *c) {
    c->next = set->keyed.first;
    set->keyed.first = c;
}

/* What cannot be made: who asks from now on has it made again. */
static void forget(hg_code_set *set, hg_code *c) {
    hg_mutex_lock(&set->lock);
    bool listed = false;
    for (hg_code **at = &set->keyed.first; *at && !listed; at = listed ? at : &(*at)->next) {
        listed = *at == c;
        if (listed) *at = c->next;
    }
    set->keyed.count -= listed;
    hg_mutex_unlock(&set->lock);
    if (listed) hg_code_release(set, c);
}

static hg_status run_create(hg_compile_job *job) { return hg_code_compile_form((hg_code *)job); }

static void over_create(hg_compile_job *job, hg_status status) {
    hg_code *c = (hg_code *)job;
    if (status != HG_OK) forget(c->set, c);
}

static void drop_create(hg_compile_job *job) {
    hg_code *c = (hg_code *)job;
    hg_code_set *set = c->set;
    hg_code_release(set, c);
    hg_code_set_release(set);
}

/* Under the lock: room for one more. Code that is being made stays. */
static void drop_last(hg_code_set *set) {
    hg_code **last = NULL;
    for (hg_code **at = &set->keyed.first; *at; at = &(*at)->next)
        if ((*at)->job.done) last = at;
    if (!last) return;
    hg_code *c = *last;
    *last = c->next;
    set->keyed.count--;
    hg_code_release(set, c);
}

static hg_code *new_code(hg_code_set *set, const hg_code_key *key, const uint32_t group[3],
                         uint64_t group_memory) {
    hg_code *c = hg_calloc(1, sizeof *c);
    if (!c) return NULL;
    c->key = *key;
    c->set = set;
    memcpy(c->group, group, sizeof c->group);
    c->group_memory = group_memory;
    c->references = 3; /* the list, the job, and who asked */
    c->job = (hg_compile_job){.run = run_create,
                              .over = over_create,
                              .drop = drop_create,
                              .lock = &set->lock,
                              .changed = &set->changed};
    memcpy(c->job.name, set->form.name, sizeof c->job.name);
    return c;
}

hg_status hg_code_ask(hg_code_set *set, const hg_code_key *key, const uint32_t group[3],
                      uint64_t group_memory, hg_code **code) {
    hg_mutex_lock(&set->lock);
    hg_code *c = unlink_found(set, key);
    bool found = c != NULL;
    if (found)
        hg_code_retain(c);
    else if ((c = new_code(set, key, group, group_memory)) != NULL &&
             set->keyed.count++ >= MAX_CODES)
        drop_last(set);
    if (c) link_first(set, c);
    hg_mutex_unlock(&set->lock);
    if (!c) return hg_fail_memory();
    *code = c;
    if (found) return HG_OK;
    hg_atomic_add_fetch(&set->references, 1, HG_RELAXED); /* the job's */
    hg_compiler_start(set->compiler, &c->job);
    return HG_OK;
}

hg_code_state hg_code_look(hg_code *c) {
    hg_code_state state = hg_compiler_look(&c->job);
    if (state != HG_CODE_READY) return state;
    state = ask_driver(c->set, c->kernel, &c->ready);
    if (state == HG_CODE_FAILED) {
        hg_error kept = *hg_error_record();
        forget(c->set, c);
        *hg_error_record() = kept;
    }
    return state;
}

void hg_code_wait(hg_code *c, uint64_t until_ns) {
    hg_compiler_wait(&c->job, until_ns);
    while (hg_code_look(c) == HG_CODE_PENDING && hg_clock_ns() < until_ns) rest(c->set);
}

hg_status hg_code_get(hg_code_set *set, const hg_code_key *key, const uint32_t group[3],
                      uint64_t group_memory, hg_code **code) {
    hg_code *c;
    HG_TRY(hg_code_ask(set, key, group, group_memory, &c));
    hg_code_wait(c, UINT64_MAX);
    if (hg_code_look(c) == HG_CODE_READY) {
        *code = c;
        return HG_OK;
    }
    hg_error kept = *hg_error_record();
    hg_code_release(set, c);
    *hg_error_record() = kept;
    return kept.status;
}

/* ---- the part of the driver's compiler that runs with a dispatch ---- */

struct hg_code_preparing {
    hg_compile_job job;  /* the first field */
    uint32_t references; /* atomic: the job, and who asked */
    hg_code_set *set;
    hg_code *c;
    hg_driver_dispatch idle;
};

static hg_status run_prepare(hg_compile_job *job) {
    const hg_code_preparing *p = (hg_code_preparing *)job;
    uint64_t start = hg_profile_start(p->set->profile);
    hg_status status = p->set->driver->code_prepare(p->c->kernel, &p->idle);
    if (start) hg_code_record(p->set, "driver, first dispatch", start);
    return status;
}

void hg_code_prepare_end(hg_code_preparing *p) {
    if (!p || hg_atomic_sub_fetch(&p->references, 1, HG_ACQ_REL) != 0) return;
    hg_code_set *set = p->set;
    hg_code_release(set, p->c);
    hg_free((void *)(uintptr_t)p->idle.record);
    hg_free((void *)(uintptr_t)p->idle.slots);
    hg_free(p);
    hg_code_set_release(set);
}

static void drop_prepare(hg_compile_job *job) { hg_code_prepare_end((hg_code_preparing *)job); }

hg_status hg_code_prepare(hg_code_set *set, hg_code *c, const hg_driver_dispatch *like,
                          hg_code_preparing **preparing) {
    hg_code_preparing *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    *p = (hg_code_preparing){.job = {.run = run_prepare,
                                     .drop = drop_prepare,
                                     .lock = &set->lock,
                                     .changed = &set->changed},
                             .references = 1,
                             .set = set,
                             .c = c,
                             .idle = *like};
    memcpy(p->job.name, set->form.name, sizeof p->job.name);
    p->idle.record = hg_calloc(like->record_bytes + (size_t)1, 1);
    p->idle.slots = hg_calloc(like->slot_count + (size_t)1, sizeof *p->idle.slots);
    hg_atomic_add_fetch(&set->references, 1, HG_RELAXED);
    hg_code_retain(c);
    if (!p->idle.record || !p->idle.slots) {
        hg_code_prepare_end(p);
        return hg_fail_memory();
    }
    p->references = 2;
    hg_compiler_start(set->compiler, &p->job);
    *preparing = p;
    return HG_OK;
}

hg_code_state hg_code_prepare_look(hg_code_preparing *p) { return hg_compiler_look(&p->job); }
void hg_code_prepare_wait(hg_code_preparing *p, uint64_t until_ns) {
    hg_compiler_wait(&p->job, until_ns);
}

hg_status hg_code_ahead(hg_code_set *set, bool keep_high) {
    if (!hg_code_in_device_form(set)) {
        uint64_t start = hg_profile_start(set->profile);
        hg_status status = set->driver->kernel_create(set->device, set->form.low, &set->kernel);
        hg_code_record(set, "driver", start);
        if (status != HG_OK) return status;
        kir_module_destroy(set->form.low);
        set->form.low = NULL;
    }
    if (keep_high) return HG_OK;
    kir_module_destroy(set->form.high);
    set->form.high = NULL;
    return HG_OK;
}
