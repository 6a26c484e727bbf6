/* Backends and contexts: opening devices, the automatic choice, the blocking execute calls. */
#include "runtime/runtime.h"
#include <stdio.h>
#include <string.h>

#define HG_BACKEND(name, automatic) extern const hg_driver hg_driver_##name;
#include "backends/backends.def"
#undef HG_BACKEND

const hg_driver *const hg_drivers[] = {
#define HG_BACKEND(name, automatic) &hg_driver_##name,
#include "backends/backends.def"
#undef HG_BACKEND
};
const uint32_t hg_driver_count = HG_COUNT_OF(hg_drivers);
static const bool AUTOMATIC[] = {
#define HG_BACKEND(name, automatic) automatic,
#include "backends/backends.def"
#undef HG_BACKEND
};

static bool same_name(const char *a, const char *b) {
    for (; *a && *b; a++, b++)
        if ((*a | 32) != (*b | 32)) return false;
    return *a == *b;
}

static hg_status unavailable(const char *name, const char *reason) { return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s: %s", name, reason); }

static hg_status find_driver(const char *name, const hg_driver **driver) {
    char reason[256] = "", known[256] = "auto";
    hg_device_info info;
    for (uint32_t i = 0; i < hg_driver_count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, " %s", hg_drivers[i]->name);
        bool wanted = same_name(name, "auto") ? AUTOMATIC[i] : same_name(name, hg_drivers[i]->name);
        if (!wanted) continue;
        if (hg_drivers[i]->enumerate(&info, 1, reason)) {
            *driver = hg_drivers[i];
            return HG_OK;
        }
        if (!same_name(name, "auto")) return unavailable(hg_drivers[i]->name, reason);
    }
    if (same_name(name, "auto")) return unavailable("auto", "no backend has a device");
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "Invalid backend type: %s (expected one of: %s)", name, known);
}

hg_status hg_context_create(hg_backend *b, hg_context **context) {
    if (!b) return hg_null_argument("backend");
    hg_context *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    c->backend = b;
    hg_mutex_init(&c->lock);
    hg_mutex_init(&c->class_lock);
    hg_status status = b->driver->queue_create(b->device, &c->queue);
    if (status != HG_OK) {
        hg_context_destroy(c);
        return status;
    }
    *context = c;
    return HG_OK;
}

void hg_context_destroy(hg_context *c) {
    if (!c) return;
    if (c->queue) c->backend->driver->queue_destroy(c->queue);
    hg_piece_free(&c->backend->memory, &c->class_memory);
    hg_mutex_destroy(&c->lock);
    hg_mutex_destroy(&c->class_lock);
    hg_free(c);
}

/* The device as traces name it: "cpu 0: …". */
static hg_status start_profile(hg_backend *b) {
    char label[192], reason[256];
    hg_device_info devices[16];
    uint32_t count = b->driver->enumerate(devices, HG_COUNT_OF(devices), reason), at = b->config.device_id;
    snprintf(label, sizeof label, "%s %u: %s", b->driver->name, (unsigned)at, at < count && at < HG_COUNT_OF(devices) ? devices[at].name : "");
    hg_status status = hg_profile_create(b->config.profile_file, label, &b->profile);
    b->config.profile_file = NULL; /* was borrowed */
    return status;
}

static hg_status open_backend(hg_backend *b, const hg_driver *driver) {
    hg_driver_options options = {.cpu_level = b->config.cpu_level,
                                 .pretend = b->config.pretend,
                                 .check_races = b->config.check_races,
                                 .num_threads = b->config.num_threads};
    b->driver = driver;
    HG_TRY(driver->device_open(b->config.device_id, &options, &b->device));
    b->caps = driver->device_caps(b->device);
    hg_suballocator_init(&b->memory, driver, b->device);
    if (b->config.profiling || (b->config.profile_file && *b->config.profile_file)) HG_TRY(start_profile(b));
    return hg_context_create(b, &b->context);
}

hg_status hg_backend_create_with_config(const hg_config *config, hg_backend **backend) {
    const hg_driver *driver = NULL;
    if (!config) return hg_null_argument("config");
    if (config->size != sizeof *config)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "hg_config.size is %zu, expected %zu: fill it with hg_config_default", config->size,
                       sizeof *config);
    HG_TRY(find_driver(config->backend[0] ? config->backend : "auto", &driver));
    hg_backend *b = hg_calloc(1, sizeof *b);
    if (!b) return hg_fail_memory();
    b->config = *config;
    hg_mutex_init(&b->cache_lock);
    hg_mutex_init(&b->guard);
    hg_handles_init(&b->buffers, hg_memory_destroy, b);
    hg_handles_init(&b->pools, hg_memory_destroy, b);
    hg_status status = open_backend(b, driver);
    if (status != HG_OK) {
        hg_backend_destroy(b);
        return status;
    }
    *backend = b;
    return HG_OK;
}

hg_status hg_backend_create(const char *name, uint32_t device, hg_backend **backend) {
    hg_config config;
    if (!name) return hg_null_argument("backend name");
    HG_TRY(hg_config_from_env(&config));
    snprintf(config.backend, sizeof config.backend, "%s", name);
    config.device_id = device;
    return hg_backend_create_with_config(&config, backend);
}

hg_status hg_backend_create_auto(hg_backend **backend) {
    hg_config config;
    HG_TRY(hg_config_from_env(&config));
    return hg_backend_create_with_config(&config, backend);
}

void hg_backend_destroy(hg_backend *b) {
    if (!b) return;
    hg_error kept = *hg_error_record();
    hg_cache_clear(b);
    hg_context_destroy(b->context);
    hg_handles_free(&b->buffers);
    hg_handles_free(&b->pools);
    hg_suballocator_destroy(&b->memory);
    if (b->device) b->driver->device_close(b->device);
    hg_profile_destroy(b->profile);
    hg_mutex_destroy(&b->cache_lock);
    hg_mutex_destroy(&b->guard);
    hg_free(b);
    *hg_error_record() = kept;
}

hg_status hg_backend_write_profile(hg_backend *b, const char *path) {
    if (!b) return hg_null_argument("backend");
    if (!b->profile) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the backend records no profile");
    return hg_profile_write(b->profile, path);
}

const char *hg_backend_name(const hg_backend *b) { return b->driver->name; }
void *hg_backend_native(hg_backend *b) { return b->driver->device_native ? b->driver->device_native(b->device) : NULL; }

hg_status hg_backend_execute_program(hg_backend *b, const hg_program *program, const hg_launch *launch) {
    return hg_backend_execute_program_with_params(b, program, launch, NULL);
}

hg_status hg_backend_execute_program_with_params(hg_backend *b, const hg_program *program, const hg_launch *launch,
                                                 const hg_params *params) {
    hg_executable *e;
    hg_binding *binding;
    HG_TRY(hg_executable_create_for(b, program, launch, params, &e));
    hg_status status = hg_binding_create(e, launch, params, &binding);
    if (status == HG_OK) {
        status = hg_binding_launch(binding);
        hg_binding_destroy(binding);
    }
    hg_executable_destroy(e);
    return status;
}

hg_status hg_devices(hg_device_info *devices, size_t capacity, size_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < hg_driver_count; i++) {
        char reason[256] = "";
        hg_device_info none;
        memset(&none, 0, sizeof none);
        size_t room = capacity > *count ? capacity - *count : 0;
        uint32_t found = hg_drivers[i]->enumerate(room ? devices + *count : NULL, (uint32_t)room, reason);
        if (found == 0 && room) {
            none.size = sizeof none;
            snprintf(none.backend, sizeof none.backend, "%s", hg_drivers[i]->name);
            snprintf(none.reason, sizeof none.reason, "%s", reason);
            devices[*count] = none;
        }
        *count += found ? found : 1;
    }
    return HG_OK;
}
