/* How a backend is opened: in steps that never wait for the device. A driver is chosen and asked
 * for its device, which calls what others wrote and so may take long; then the device says when it
 * is open, what all contexts share is made, and the numeric probe runs. Who wants the backend at
 * once takes the steps and waits between them. Else a thread chooses the driver, and goes on where
 * the device can be waited for; where not, whoever polls takes the other steps.
 * Must not know: what the probe asks, which driver it is. */
#include "base/sized.h"
#include "code/background.h"
#include "runtime/binding.h"
#include "runtime/memory.h"
#include <stdio.h>
#include <string.h>

/* What comes next. */
typedef enum stage {
    CHOOSES,   /* the driver, and asks it for the device */
    AWAITS,    /* the device, which opens */
    PROBES,    /* what the device's numbers are like */
    IS_OPEN,   /* nothing: the backend is there, until somebody takes it */
    HAS_FAILED /* nothing: status and error say why */
} stage;

struct hg_opening {
    hg_backend *backend; /* NULL: taken */
    stage stage;
    hg_host_device host;     /* of an adopted backend */
    uint32_t index;          /* of the device */
    uint32_t asked_for;      /* the number that the configuration has for it */
    uint32_t tried;          /* devices that were asked for in this choice */
    HG_VEC(hg_error) passed; /* what was wrong with the first of them */
    hg_probing *probing;
    hg_status status;
    hg_error error;
    hg_mutex lock; /* of the two below */
    hg_cond changed;
    bool has_thread, abandoned;
    bool waits;       /* who gives it up waits for the thread: the device is the host's */
    uint32_t process; /* hg_fork_count of where it began */
};

/* ---- the device ---- */

static hg_driver_options options_of(hg_opening *o) {
    hg_backend *b = o->backend;
    return (hg_driver_options){.cpu_level = b->config.cpu_level,
                               .pretend = b->config.pretend,
                               .jit = b->config.jit,
                               .vendor = b->config.vendor,
                               .check_races = b->config.check_races,
                               .budget = &b->budget,
                               .num_threads = b->config.num_threads,
                               .cache_dir = b->paths.cache,
                               .cache_bytes = b->config.cache_bytes,
                               .host = b->adopted ? &o->host : NULL};
}

static hg_status note_passed(hg_opening *o) {
    hg_error *passed = hg_vec_push(&o->passed);
    if (!passed) return hg_fail_memory();
    *passed = *hg_error_record();
    passed->status = HG_ERROR_BACKEND_UNAVAILABLE;
    return HG_OK;
}

/* The device that is asked for; the first one where it is there several times (devices=N). */
static uint32_t wanted_device(const hg_backend *b) {
    bool same = b->config.device_id < hg_pretended_number(b->config.pretend, "devices", 0);
    return same ? 0 : b->config.device_id;
}

/* Devices of the automatic order that failed late are passed over like those that fail at once. */
static hg_status open_device(void *user, const hg_driver *driver, uint32_t index) {
    hg_opening *o = user;
    hg_backend *b = o->backend;
    const hg_driver_options options = options_of(o);
    if (o->tried++ < o->passed.count) {
        *hg_error_record() = o->passed.data[o->tried - 1];
        return HG_ERROR_BACKEND_UNAVAILABLE;
    }
    b->device = NULL; /* after one that did not open */
    hg_status status = hg_driver_open(driver, index, &options, &b->driver, &b->device);
    if (status == HG_ERROR_BACKEND_UNAVAILABLE) HG_TRY(note_passed(o));
    o->index = wanted_device(b) == b->config.device_id ? index : b->config.device_id;
    return status;
}

static hg_status adopt(hg_opening *o) {
    const char *name = o->backend->config.backend;
    const hg_driver *driver;
    HG_TRY(hg_select_driver(name, &driver));
    if (!driver->device_adopt)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s takes no device of the host",
                       driver->name);
    if (!hg_driver_is_ours(driver))
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "%s: this process was forked from one that had opened the driver's library",
                       driver->name);
    return open_device(o, driver, 0);
}

static hg_status choose(hg_opening *o) {
    const hg_backend *b = o->backend;
    hg_trial_options trial;
    o->tried = 0;
    HG_TRY(hg_config_trial(b->paths.cache, &trial));
    HG_TRY(b->adopted ? adopt(o)
                      : hg_select(b->config.backend, wanted_device(b), &trial, open_device, o));
    o->stage = AWAITS;
    return HG_OK;
}

/* ---- what its contexts share ---- */

/* The device as traces name it: "cpu 0: …". */
static hg_status start_profile(hg_backend *b) {
    char label[192];
    hg_device_info info;
    snprintf(label, sizeof label, "%s %u: %s", b->driver->name, (unsigned)b->config.device_id,
             hg_backend_device(b, &info) == HG_OK ? info.name : "");
    hg_status status = hg_profile_create(b->config.profile_file, label, &b->profile);
    return status;
}

/* Whether what the device allocates is the host's memory. */
static bool lives_on_host(const hg_backend *b) {
    hg_device_info info;
    return b->caps->memory.host_memory || !b->caps->memory.total_bytes ||
           (hg_backend_device(b, &info) == HG_OK && info.software);
}

static void set_budget(hg_backend *b) {
    uint64_t asked = b->config.max_memory, reported = b->caps->memory.total_bytes;
    hg_budget_of_host(&b->budget, asked);
    b->on_host = lives_on_host(b);
    if (!asked && !b->on_host) b->budget.limit = reported - reported / 8;
    if (!asked && b->on_host && reported && reported - reported / 4 < b->budget.limit)
        b->budget.limit = reported - reported / 4;
    b->memory.budget = &b->budget;
}

static hg_status make_shared(hg_opening *o) {
    hg_backend *b = o->backend;
    b->config.device_id = o->index;
    b->own_caps = *b->driver->device_caps(b->device);
    b->prepares_first = hg_pretends(b->config.pretend, "prepared");
    b->caps = &b->own_caps;
    hg_progress_open(b->progress, hg_driver_can_block(b->driver, b->caps),
                     b->driver->event_wait != NULL, b->driver->device_poll != NULL);
    hg_suballocator_init(&b->memory, b->driver, b->device);
    set_budget(b);
    HG_TRY(hg_backend_tiles_open(b));
    if (b->caps->compiler.device_form || b->caps->compiler.open_table)
        hg_dispatch_device_open(&b->dispatch_device, b->driver, b->device, &b->memory);
    if (b->config.profiling || (b->config.profile_file && *b->config.profile_file))
        HG_TRY(start_profile(b));
    HG_TRY(hg_context_create(b, &b->context));
    HG_TRY(hg_compiler_create(b->driver, b->device, 0, &b->code.compiler));
    if (b->caps->compiler.device_form || b->caps->compiler.probed)
        HG_TRY(hg_probing_start(b, true, &o->probing));
    o->stage = PROBES;
    return HG_OK;
}

/* *waits: the driver does not know yet. */
static hg_status await_device(hg_opening *o, bool *waits) {
    hg_backend *b = o->backend;
    bool ready = true;
    hg_status status = b->driver->device_ready ? b->driver->device_ready(b->device, &ready) : HG_OK;
    *waits = status == HG_OK && !ready;
    if (*waits) return HG_OK;
    return status == HG_OK ? make_shared(o) : status;
}

/* What only an open backend has. */
static hg_status finish(hg_opening *o) {
    hg_backend *b = o->backend;
    if (b->caps->compiler.improves == HG_IMPROVES_HOT)
        HG_TRY(hg_background_create(&b->code.background));
    hg_compiler_limit(b->code.compiler, b->config.compile_timeout_ms);
    hg_backend_watch_forks(b);
    o->stage = IS_OPEN;
    return HG_OK;
}

/* The kernels of the probe are small: their compiler has no limit. */
static hg_status probe(hg_opening *o, bool *waits) {
    bool done = true;
    if (o->probing) HG_TRY(hg_probing_poll(o->probing, &done));
    *waits = !done;
    if (!done) return HG_OK;
    hg_probing_end(o->probing);
    o->probing = NULL;
    return finish(o);
}

/* ---- the record ---- */

static hg_status create_backend(const hg_config *own, hg_backend **backend) {
    hg_backend *b = hg_calloc(1, sizeof *b);
    if (!b) return hg_fail_memory();
    b->config = *own;
    b->fork.process = hg_fork_count;
    hg_mutex_init(&b->cache.lock);
    hg_mutex_init(&b->guard.lock);
    hg_mutex_init(&b->expansions.lock);
    hg_mutex_init(&b->characters.lock);
    hg_mutex_init(&b->types.lock);
    hg_monitor_init(&b->monitor);
    hg_handles_init(&b->buffers, hg_memory_destroy, b);
    hg_handles_init(&b->pools, hg_memory_destroy, b);
    hg_backend_number_take(b);
    b->progress = hg_progress_create();
    *backend = b;
    return b->progress ? HG_OK : hg_fail_memory();
}

/* The same once more, after a device that failed late. */
static hg_status renew_backend(hg_opening *o) {
    hg_backend *old = o->backend;
    hg_config config = old->config;
    char *cache = old->paths.cache, *profile = old->paths.profile;
    config.device_id = o->asked_for;
    old->paths.cache = old->paths.profile = NULL; /* the new one has them */
    hg_probing_end(o->probing);
    o->probing = NULL;
    hg_backend_destroy(old);
    o->backend = NULL;
    hg_status status = create_backend(&config, &o->backend);
    if (!o->backend) {
        hg_free(cache);
        hg_free(profile);
        return status;
    }
    o->backend->paths.cache = cache;
    o->backend->paths.profile = profile;
    return status;
}

/* ---- the steps ---- */

static bool is_over(const hg_opening *o) { return o->stage >= IS_OPEN; }

static void fail(hg_opening *o, hg_status status) {
    o->error = *hg_error_record();
    o->status = status;
    o->stage = HAS_FAILED;
    hg_probing_end(o->probing);
    o->probing = NULL;
    hg_backend_destroy(o->backend);
    o->backend = NULL;
}

/* Whether another device may serve: the choice is ours, and it is the device that failed. */
static bool may_pass_over(const hg_opening *o, hg_status status) {
    const hg_backend *b = o->backend;
    if (b->adopted || !hg_backend_is_automatic(b->config.backend)) return false;
    return (o->stage == AWAITS || o->stage == PROBES) &&
           (status == HG_ERROR_BACKEND_UNAVAILABLE || status == HG_ERROR_EXECUTION_FAILED ||
            status == HG_ERROR_ALLOCATION_FAILED);
}

static hg_status pass_over(hg_opening *o) {
    HG_TRY(note_passed(o));
    HG_TRY(renew_backend(o));
    o->stage = CHOOSES;
    return HG_OK;
}

/* One step. True: it must wait. */
static bool step(hg_opening *o) {
    hg_status status = HG_OK;
    bool waits = false;
    switch (o->stage) {
    case CHOOSES: status = choose(o); break;
    case AWAITS: status = await_device(o, &waits); break;
    case PROBES: status = probe(o, &waits); break;
    case IS_OPEN:
    case HAS_FAILED: break;
    }
    if (status != HG_OK && may_pass_over(o, status)) status = pass_over(o);
    if (status != HG_OK) fail(o, status);
    return waits;
}

/* Whether the host can wait for what the last step could not do. */
static bool can_wait(const hg_opening *o) { return hg_driver_can_wait(o->backend->driver); }

enum { LOOK_AGAIN_NS = 1000000 };

static void wait_for_step(hg_opening *o) {
    const hg_backend *b = o->backend;
    if (o->stage == PROBES) {
        hg_probing_wait(o->probing);
    } else if (b->driver->device_poll) {
        b->driver->device_poll(b->device);
    } else {
        hg_mutex_lock(&o->lock);
        if (!o->abandoned)
            (void)hg_cond_wait_until(&o->changed, &o->lock, hg_clock_ns() + LOOK_AGAIN_NS);
        hg_mutex_unlock(&o->lock);
    }
}

/* ---- the object ---- */

/* What the configuration borrows from the caller is not looked at afterwards. */
static hg_status take_words(hg_backend *b) {
    HG_TRY(hg_pretend_check(b->config.pretend));
    HG_TRY(hg_config_cache_path(&b->config, &b->paths.cache));
    b->config.cache_dir = NULL;
    if (!b->config.profile_file) return HG_OK;
    size_t bytes = strlen(b->config.profile_file) + 1;
    b->paths.profile = hg_alloc(bytes);
    if (!b->paths.profile) return hg_fail_memory();
    memcpy(b->paths.profile, b->config.profile_file, bytes);
    b->config.profile_file = b->paths.profile;
    return HG_OK;
}

static hg_status begin(const hg_config *config, hg_opening *o) {
    memset(o, 0, sizeof *o);
    o->process = hg_fork_count;
    hg_config own;
    HG_TRY(hg_config_take(config, &own));
    hg_status status = create_backend(&own, &o->backend);
    if (status == HG_OK) status = take_words(o->backend);
    if (status != HG_OK) {
        hg_backend_destroy(o->backend);
        return status;
    }
    o->asked_for = own.device_id;
    hg_mutex_init(&o->lock);
    hg_cond_init(&o->changed);
    return HG_OK;
}

static void end(hg_opening *o) {
    hg_vec_free(&o->passed);
    hg_probing_end(o->probing);
    hg_backend_destroy(o->backend);
    hg_mutex_destroy(&o->lock);
    hg_cond_destroy(&o->changed);
}

/* ---- at once ---- */

static hg_status would_block(const hg_opening *o) {
    return hg_fail(
        HG_ERROR_WOULD_BLOCK,
        "opening %s would have to wait, which this host cannot: use hg_backend_open_start",
        o->backend->driver->name);
}

hg_status hg_backend_create_with_config(const hg_config *config, hg_backend **backend) {
    HG_ENTRY;
    hg_opening o;
    if (!config) return hg_null_argument("config");
    if (!backend) return hg_null_argument("backend");
    *backend = NULL;
    HG_TRY(begin(config, &o));
    while (!is_over(&o)) {
        if (!step(&o)) continue;
        if (can_wait(&o))
            wait_for_step(&o);
        else
            fail(&o, would_block(&o));
    }
    *backend = o.backend;
    o.backend = NULL;
    end(&o);
    if (o.status != HG_OK) *hg_error_record() = o.error;
    return o.status;
}

hg_status hg_backend_create(const char *name, uint32_t device, hg_backend **backend) {
    HG_ENTRY;
    hg_config config;
    if (!name) return hg_null_argument("backend name");
    HG_TRY(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", name);
    config.device_id = device;
    return hg_backend_create_with_config(&config, backend);
}

/* What the environment names, and nothing else. Where it names none, the automatic order; a device
 * number that is not there is then that of a machine with more devices, and the first one serves.
 */
hg_status hg_backend_create_auto(hg_backend **backend) {
    HG_ENTRY;
    hg_config config;
    HG_TRY(hg_config_from_env(&config));
    hg_status status = hg_backend_create_with_config(&config, backend);
    if (status != HG_ERROR_BACKEND_UNAVAILABLE || !hg_backend_is_automatic(config.backend))
        return status;
    static const char *const instead[] = {"auto", "cpu"};
    for (size_t i = 0; i < HG_COUNT_OF(instead) && status == HG_ERROR_BACKEND_UNAVAILABLE; i++) {
        snprintf(config.backend, sizeof config.backend, "%s", instead[i]);
        config.device_id = 0;
        status = hg_backend_create_with_config(&config, backend);
    }
    return status;
}

/* ---- in steps ---- */

static void free_opening(hg_opening *o) {
    end(o);
    hg_free(o);
}

static uint32_t left; /* atomic */

uint32_t hg_openings_left(void) { return hg_atomic_load(&left, HG_ACQUIRE); }

static bool is_abandoned(hg_opening *o) {
    hg_mutex_lock(&o->lock);
    bool abandoned = o->abandoned;
    hg_mutex_unlock(&o->lock);
    return abandoned;
}

/* As far as it can go, or until nobody wants it any more. */
static void *serve(void *user) {
    hg_opening *o = user;
    bool goes_on = true;
    hg_thread_name("hologram-open");
    while (goes_on && !is_over(o) && !is_abandoned(o)) {
        if (!step(o)) continue;
        goes_on = can_wait(o);
        if (goes_on) wait_for_step(o);
    }
    hg_mutex_lock(&o->lock);
    o->has_thread = false;
    bool frees = o->abandoned && !o->waits;
    hg_cond_broadcast(&o->changed);
    hg_mutex_unlock(&o->lock);
    if (!frees) return NULL;
    free_opening(o);
    hg_atomic_sub_fetch(&left, 1, HG_RELEASE);
    return NULL;
}

static hg_status start(const hg_config *config, const hg_host_device *host, hg_opening **opening) {
    hg_thread thread;
    hg_opening *o = hg_calloc(1, sizeof *o);
    if (!o) return hg_fail_memory();
    hg_status status = begin(config, o);
    if (status != HG_OK) {
        hg_free(o);
        return status;
    }
    if (host) o->host = *host;
    o->waits = o->backend->adopted = host != NULL;
    *opening = o;
    o->has_thread = true; /* before it may end */
    if (hg_thread_start(&thread, serve, o))
        hg_thread_detach(thread);
    else
        o->has_thread = false; /* polls take all steps */
    return HG_OK;
}

hg_status hg_backend_open_start(const hg_config *config, hg_opening **opening) {
    HG_ENTRY;
    if (!config) return hg_null_argument("config");
    if (!opening) return hg_null_argument("opening");
    return start(config, NULL, opening);
}

hg_status hg_backend_open_with(const hg_config *config, const hg_host_device *device,
                               hg_opening **opening) {
    HG_ENTRY;
    static const hg_sized rules = HG_SIZED(hg_host_device, context,
                                           "set it to sizeof(hg_host_device)");
    hg_host_device own = {0};
    if (!config) return hg_null_argument("config");
    if (!device) return hg_null_argument("device");
    if (!opening) return hg_null_argument("opening");
    HG_TRY(hg_sized_take(&rules, device, &own));
    return start(config, &own, opening);
}

static bool has_thread(hg_opening *o) {
    hg_mutex_lock(&o->lock);
    bool has = o->has_thread;
    hg_mutex_unlock(&o->lock);
    return has;
}

hg_status hg_opening_poll(hg_opening *o, bool *done, hg_backend **backend) {
    HG_ENTRY;
    if (!o) return hg_null_argument("opening");
    if (!done) return hg_null_argument("done");
    if (!backend) return hg_null_argument("backend");
    *backend = NULL;
    *done = o->process != hg_fork_count;
    if (*done) return hg_lost("opening");
    if (has_thread(o)) return HG_OK;
    while (!is_over(o))
        if (step(o)) return HG_OK;
    *done = true;
    if (o->stage == HAS_FAILED) {
        *hg_error_record() = o->error;
        return o->status;
    }
    if (!o->backend)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the backend was given to an earlier call");
    *backend = o->backend;
    o->backend = NULL;
    return HG_OK;
}

void hg_opening_destroy(hg_opening *o) {
    HG_ENTRY;
    if (!o || o->process != hg_fork_count) return; /* what a fork has copied may be half made */
    hg_mutex_lock(&o->lock);
    while (o->waits && o->has_thread) {
        o->abandoned = true;
        hg_cond_wait(&o->changed, &o->lock);
    }
    bool goes_on = o->has_thread;
    if (goes_on) hg_atomic_add_fetch(&left, 1, HG_RELAXED);
    o->abandoned = true;
    hg_cond_broadcast(&o->changed);
    hg_mutex_unlock(&o->lock);
    if (!goes_on) free_opening(o);
}
