/* Backends and contexts: opening devices, the blocking execute calls. */
#include "runtime/binding.h"
#include "runtime/memory.h"
#include <stdio.h>
#include <string.h>

hg_status hg_context_create(hg_backend *b, hg_context **context) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!context) return hg_null_argument("context");
    HG_TRY(hg_backend_alive(b));
    hg_context *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    c->backend = b;
    hg_child_add(&b->children, HG_CHILD_CONTEXT);
    hg_mutex_init(&c->class_lock);
    hg_mutex_init(&c->start_lock);
    hg_status status = hg_stream_create(c, &c->main);
    if (status != HG_OK) {
        hg_context_destroy(c);
        return status;
    }
    hg_context_watch_forks(c);
    *context = c;
    return HG_OK;
}

/* Waits for launches that were started. NULL is allowed. */
static void end_starts(hg_context *c) {
    if (c && c->end_starters && !c->lost) c->end_starters(c);
}

void hg_context_destroy(hg_context *c) {
    HG_ENTRY;
    if (!c) return;
    hg_context_forget_forks(c);
    if (c->lost) return; /* what it has may be half made */
    end_starts(c);
    hg_stream_destroy(c->main);
    while (c->spare) {
        hg_stream *next = c->spare->next;
        hg_stream_destroy(c->spare);
        c->spare = next;
    }
    hg_piece_free(&c->backend->memory, &c->class_memory);
    hg_state_close(c);
    hg_mutex_destroy(&c->class_lock);
    hg_mutex_destroy(&c->start_lock);
    hg_child_remove(&c->backend->children, HG_CHILD_CONTEXT);
    hg_free(c);
}

/* The device as traces name it: "cpu 0: …". */
static hg_status start_profile(hg_backend *b) {
    char label[192];
    hg_device_info info;
    snprintf(label, sizeof label, "%s %u: %s", b->driver->name, (unsigned)b->config.device_id,
             hg_backend_device(b, &info) == HG_OK ? info.name : "");
    hg_status status = hg_profile_create(b->config.profile_file, label, &b->profile);
    b->config.profile_file = NULL; /* was borrowed */
    return status;
}

static hg_status open_device(void *user, const hg_driver *driver, uint32_t index) {
    hg_backend *b = user;
    hg_driver_options options = {.cpu_level = b->config.cpu_level,
                                 .pretend = b->config.pretend,
                                 .jit = b->config.jit,
                                 .native = b->config.native,
                                 .check_races = b->config.check_races,
                                 .budget = &b->budget,
                                 .num_threads = b->config.num_threads,
                                 .cache_dir = b->cache_path,
                                 .cache_bytes = b->config.cache_bytes};
    b->device = NULL; /* after one that did not open */
    HG_TRY(hg_driver_open(driver, index, &options, &b->driver, &b->device));
    b->config.device_id = index;
    b->own_caps = *b->driver->device_caps(b->device);
    b->prepares_first = hg_pretends(b->config.pretend, "prepared");
    b->caps = &b->own_caps;
    hg_progress_open(b->progress, hg_driver_can_block(b->driver, b->caps), b->driver->event_wait != NULL, b->driver->device_poll != NULL);
    return HG_OK;
}

/* Whether what the device allocates is the host's memory. */
static bool lives_on_host(const hg_backend *b) {
    hg_device_info info;
    return b->caps->memory.host_memory || !b->caps->memory.total_bytes || (hg_backend_device(b, &info) == HG_OK && info.software);
}

static void set_budget(hg_backend *b) {
    uint64_t asked = b->config.max_memory, reported = b->caps->memory.total_bytes;
    hg_budget_of_host(&b->budget, asked);
    b->on_host = lives_on_host(b);
    if (!asked && !b->on_host) b->budget.limit = reported - reported / 8;
    if (!asked && b->on_host && reported && reported - reported / 4 < b->budget.limit) b->budget.limit = reported - reported / 4;
    b->memory.budget = &b->budget;
}

hg_budget *hg_backend_host_budget(hg_backend *b) { return b->on_host ? &b->budget : NULL; }

static hg_status open_backend(hg_backend *b) {
    hg_trial_options trial;
    HG_TRY(hg_pretend_check(b->config.pretend));
    HG_TRY(hg_config_cache_path(&b->config, &b->cache_path));
    b->config.cache_dir = NULL; /* was borrowed */
    HG_TRY(hg_config_trial(b->cache_path, &trial));
    HG_TRY(hg_select(b->config.backend, b->config.device_id, &trial, open_device, b));
    hg_suballocator_init(&b->memory, b->driver, b->device);
    set_budget(b);
    HG_TRY(hg_backend_tiles_open(b));
    if (b->caps->compiler.device_form) hg_dispatch_device_open(&b->dispatch_device, b->driver, b->device, &b->memory);
    if (b->config.profiling || (b->config.profile_file && *b->config.profile_file)) HG_TRY(start_profile(b));
    HG_TRY(hg_context_create(b, &b->context));
    if (b->caps->compiler.device_form) HG_TRY(hg_backend_trust(b)); /* its kernels are small: they have no limit */
    if (b->caps->compiler.improves == HG_IMPROVES_HOT) HG_TRY(hg_background_create(&b->background));
    return hg_compiler_create(b->driver, b->device, b->config.compile_timeout_ms, &b->compiler);
}

hg_status hg_backend_create_with_config(const hg_config *config, hg_backend **backend) {
    HG_ENTRY;
    if (!config) return hg_null_argument("config");
    if (!backend) return hg_null_argument("backend");
    *backend = NULL;
    hg_config own;
    HG_TRY(hg_config_take(config, &own));
    hg_backend *b = hg_calloc(1, sizeof *b);
    if (!b) return hg_fail_memory();
    b->config = own;
    b->process = hg_fork_count;
    hg_mutex_init(&b->cache_lock);
    hg_mutex_init(&b->guard);
    hg_mutex_init(&b->expansion_lock);
    hg_mutex_init(&b->character_lock);
    hg_mutex_init(&b->type_memory_lock);
    hg_monitor_init(&b->monitor);
    hg_handles_init(&b->buffers, hg_memory_destroy, b);
    hg_handles_init(&b->pools, hg_memory_destroy, b);
    hg_backend_number_take(b);
    b->progress = hg_progress_create();
    hg_status status = b->progress ? open_backend(b) : hg_fail_memory();
    if (status != HG_OK) {
        hg_backend_destroy(b);
        return status;
    }
    hg_backend_watch_forks(b);
    *backend = b;
    return HG_OK;
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

/* What the environment names, and nothing else. Where it names none, the automatic order; a device number that is not there is then
 * that of a machine with more devices, and the first one serves. */
hg_status hg_backend_create_auto(hg_backend **backend) {
    HG_ENTRY;
    hg_config config;
    HG_TRY(hg_config_from_env(&config));
    hg_status status = hg_backend_create_with_config(&config, backend);
    if (status != HG_ERROR_BACKEND_UNAVAILABLE || !hg_backend_is_automatic(config.backend)) return status;
    static const char *const instead[] = {"auto", "cpu"};
    for (size_t i = 0; i < HG_COUNT_OF(instead) && status == HG_ERROR_BACKEND_UNAVAILABLE; i++) {
        snprintf(config.backend, sizeof config.backend, "%s", instead[i]);
        config.device_id = 0;
        status = hg_backend_create_with_config(&config, backend);
    }
    return status;
}

/* Whether something that the caller made of the backend is left, which a build with NDEBUG does not know. The backend's own are its context,
 * the queues of launches that were started in that, and the executables that only the cache has. */
static bool has_children(hg_backend *b) {
    static const char *const names[HG_CHILD_KINDS] = {"contexts", "queues", "executables", "bindings"};
    uint32_t own[HG_CHILD_KINDS] = {b->context != NULL, b->context ? (uint32_t)b->context->starters.count : 0, hg_executables_kept(b), 0};
    char text[128] = "";
    for (int i = 0; i < HG_CHILD_KINDS; i++) {
        uint32_t count = hg_atomic_load(&b->children.count[i], HG_ACQUIRE);
        size_t length = strlen(text);
        if (count > own[i])
            snprintf(text + length, sizeof text - length, "%s%u %s", length ? ", " : "", (unsigned)(count - own[i]), names[i]);
    }
    if (text[0]) HG_IGNORE(hg_fail(HG_ERROR_INVALID_ARGUMENT, "the backend still has %s: destroy them first", text));
    return text[0] != 0;
}

void hg_backend_destroy(hg_backend *b) {
    HG_ENTRY;
    if (!b) return;
    hg_recent_close(b);
    if (b->process == hg_fork_count && has_children(b)) return; /* a forked child may not know them */
    hg_error kept = *hg_error_record();
    hg_backend_forget_forks(b);
    end_starts(b->context);
    hg_progress_close(b->progress); /* while callbacks may still use the backend */
    hg_context_destroy(b->context);
    if (b->lost) return;
    hg_executables_forget(b);
    hg_expansions_free(&b->expansions);
    hg_background_close(b->background);
    hg_handles_free(&b->buffers);
    hg_handles_free(&b->pools);
    hg_dispatch_device_close(&b->dispatch_device);
    hg_piece_free(&b->memory, &b->characters);
    hg_suballocator_destroy(&b->memory);
    hg_compiler_close(b->compiler);
    if (b->device && !b->compiler) b->driver->device_close(b->device);
    hg_free(b->cache_path);
    hg_profile_destroy(b->profile);
    hg_mutex_destroy(&b->cache_lock);
    hg_mutex_destroy(&b->guard);
    hg_mutex_destroy(&b->expansion_lock);
    hg_mutex_destroy(&b->character_lock);
    hg_mutex_destroy(&b->type_memory_lock);
    hg_backend_number_give(b);
    hg_monitor_destroy(&b->monitor);
    hg_free(b);
    *hg_error_record() = kept;
}

hg_status hg_backend_write_profile(hg_backend *b, const char *path) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!b->profile) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the backend records no profile");
    return hg_profile_write(b->profile, path);
}

hg_status hg_backend_progress(hg_backend *b, bool *left) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!left) return hg_null_argument("left");
    HG_TRY(hg_backend_alive(b));
    hg_progress_state state = hg_progress_drive(b->progress);
    if (state == HG_PROGRESS_INSIDE)
        return hg_fail(HG_ERROR_WOULD_BLOCK, "what is left goes on when the host call or callback that asks has returned");
    bool told = hg_progress_tell(b->progress);
    *left = told || state == HG_PROGRESS_LEFT;
    return HG_OK;
}

hg_status hg_backend_listen(hg_backend *b, hg_code_listener *call, void *user) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    hg_atomic_store(&b->ear.call, NULL, HG_RELEASE);
    b->ear.user = user;
    hg_atomic_store(&b->ear.call, call, HG_RELEASE);
    return HG_OK;
}

const char *hg_backend_name(const hg_backend *b) {
    HG_ENTRY;
    return b ? b->driver->name : "";
}
void *hg_backend_native(hg_backend *b) {
    HG_ENTRY;
    return b && b->driver->device_native ? b->driver->device_native(b->device) : NULL;
}

hg_status hg_backend_execute_program(hg_backend *b, const hg_program *program, const hg_launch *launch) {
    HG_ENTRY;
    return hg_backend_execute_program_with_params(b, program, launch, NULL);
}

hg_status hg_backend_execute_program_with_params(hg_backend *b, const hg_program *program, const hg_launch *launch,
                                                 const hg_params *params) {
    HG_ENTRY;
    hg_executable *e;
    hg_binding *binding;
    hg_status status;
    if (b && program && hg_recent_launch(b, program, launch, params, &status)) return status;
    uint64_t start = hg_clock_ns();
    HG_TRY(hg_executable_create_for(b, program, launch, params, &e));
    status = hg_binding_create(e, launch, params, &binding);
    if (status == HG_OK) {
        binding->spent_ns = hg_clock_ns() - start;
        status = hg_binding_launch(binding);
        if (status != HG_OK || !hg_recent_keep(b, program, launch, params, binding)) hg_binding_destroy(binding);
    }
    hg_executable_destroy(e);
    return status;
}
