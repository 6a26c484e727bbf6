/* Executors: a backend, its configuration, a pool of buffers, a log. Must not know: what programs
 * do. */
#include "base/host.h"
#include "base/sized.h"
#include "runtime/backend.h"
#include "runtime/executor.h"
#include <hologram/executor.h>
#include <stdio.h>
#include <string.h>

typedef enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE } log_level;
static const char *const LEVELS[] = {"error", "warn", "info", "debug", "trace"};

struct hg_executor {
    hg_backend *backend;
    hg_queue *queue; /* that work is appended to; it and the backend are the caller's. NULL: the
                        backend is its own, and every call waits */
    hg_buffer_pool pool;
    uint32_t grid[3], block[3]; /* of launches that say nothing; 0: the program's */
    log_level level;
    char *log_file; /* NULL: no log */
    hg_mutex lock;  /* of what is kept for others */
    void *kept;
    void (*end_kept)(void *kept);
    void (*trim_kept)(void *kept);
};

/* ---- kinds ---- */

static const char *const TYPES[] = {
    [HG_BACKEND_AUTO] = "auto",     [HG_BACKEND_CPU] = "cpu",       [HG_BACKEND_CUDA] = "cuda",
    [HG_BACKEND_METAL] = "metal",   [HG_BACKEND_WASM] = "wasm",     [HG_BACKEND_WEBGPU] = "webgpu",
    [HG_BACKEND_VULKAN] = "vulkan", [HG_BACKEND_OPENCL] = "opencl", [HG_BACKEND_TPU] = "tpu",
    [HG_BACKEND_NULL] = "null"};

const char *hg_backend_type_name(hg_backend_type type) {
    HG_ENTRY;
    return (size_t)type < HG_COUNT_OF(TYPES) ? TYPES[type] : NULL;
}

hg_status hg_backend_type_from_name(const char *name, hg_backend_type *type) {
    HG_ENTRY;
    char known[256] = "";
    if (!name || !type) return hg_null_argument(name ? "type" : "name");
    for (size_t i = 0; i < HG_COUNT_OF(TYPES); i++) {
        if (hg_same_name(name, TYPES[i]) ||
            (i == HG_BACKEND_WEBGPU && hg_same_name(name, "wgpu"))) {
            *type = (hg_backend_type)i;
            return HG_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? " " : "", TYPES[i]);
    }
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                   "Invalid backend type: %.60s (expected one of: %s)", name, known);
}

/* ---- the log ---- */

/* A line; that it cannot be written is no error of what is logged. */
static void log_line(const hg_executor *e, log_level level, const char *format, ...)
    HG_PRINTF(3, 4);
static void log_line(const hg_executor *e, log_level level, const char *format, ...) {
    char line[512];
    va_list arguments;
    if (!e->log_file || level > e->level) return;
    size_t length = (size_t)snprintf(line, sizeof line, "hologram %s: ", LEVELS[level]);
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    va_end(arguments);
    length = strlen(line);
    line[length++] = '\n';
    (void)hg_host_append(e->log_file, line, length);
}

static void log_outcome(const hg_executor *e, log_level level, hg_status status, const char *what) {
    if (status == HG_OK)
        log_line(e, level, "%s", what);
    else
        log_line(e, LOG_ERROR, "%s: %s", what, hg_error_record()->message);
}

static hg_status open_log(hg_executor *e, const hg_config *config) {
    size_t level = 0, bytes = config->log_file ? strlen(config->log_file) + 1 : 0;
    while (level < HG_COUNT_OF(LEVELS) && strcmp(LEVELS[level], config->log_level) != 0) level++;
    if (level == HG_COUNT_OF(LEVELS))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Configuration error: log_level = '%.7s', expected error, warn, info, debug "
                       "or trace",
                       config->log_level);
    e->level = (log_level)level;
    if (bytes <= 1) return HG_OK;
    const char *why = hg_host_append(config->log_file, "", 0);
    if (why)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Configuration error: log_file = '%.200s': %s",
                       config->log_file, why);
    e->log_file = hg_alloc(bytes);
    if (!e->log_file) return hg_fail_memory();
    memcpy(e->log_file, config->log_file, bytes);
    return HG_OK;
}

/* ---- making and ending ---- */

static hg_status open_executor(hg_executor *e, const hg_config *config) {
    char what[200];
    HG_TRY(open_log(e, config));
    memcpy(e->grid, config->grid, sizeof e->grid);
    memcpy(e->block, config->block, sizeof e->block);
    hg_status status = hg_backend_create_with_config(config, &e->backend);
    snprintf(what, sizeof what, "backend %s%s%s", config->backend, e->backend ? " is " : "",
             e->backend ? hg_backend_name(e->backend) : "");
    log_outcome(e, LOG_INFO, status, what);
    if (status != HG_OK) return status;
    hg_buffer_pool_init(&e->pool, e->backend, config->pooling ? config->pool_buffers : 0,
                        config->pool_bytes);
    hg_mutex_init(&e->lock);
    return HG_OK;
}

hg_status hg_executor_create_from_config(const hg_config *config, hg_executor **executor) {
    HG_ENTRY;
    hg_config own;
    if (!config || !executor) return hg_null_argument(config ? "executor" : "config");
    *executor = NULL;
    HG_TRY(hg_config_take(config, &own));
    hg_executor *e = hg_calloc(1, sizeof *e);
    if (!e) return hg_fail_memory();
    hg_status status = open_executor(e, &own);
    if (status == HG_OK) {
        *executor = e;
        return HG_OK;
    }
    hg_free(e->log_file);
    hg_free(e);
    return status;
}

hg_status hg_executor_create_on_queue(hg_queue *queue, hg_executor **executor) {
    HG_ENTRY;
    if (!queue || !executor) return hg_null_argument(queue ? "executor" : "queue");
    *executor = NULL;
    hg_executor *e = hg_calloc(1, sizeof *e);
    if (!e) return hg_fail_memory();
    e->queue = queue;
    e->backend = hg_queue_backend(queue);
    const hg_config *config = &e->backend->config;
    hg_buffer_pool_init(&e->pool, e->backend, config->pooling ? config->pool_buffers : 0,
                        config->pool_bytes);
    hg_mutex_init(&e->lock);
    *executor = e;
    return HG_OK;
}

hg_status hg_executor_create_with_backend(hg_backend_type type, hg_executor **executor) {
    HG_ENTRY;
    hg_config config = hg_config_default();
    const char *name = hg_backend_type_name(type);
    if (!executor) return hg_null_argument("executor");
    *executor = NULL;
    if (!name) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "Invalid backend type: %d", (int)type);
    memcpy(config.backend, name, strlen(name) + 1);
    return hg_executor_create_from_config(&config, executor);
}

hg_status hg_executor_create_auto(hg_executor **executor) {
    HG_ENTRY;
    return hg_executor_create_with_backend(HG_BACKEND_AUTO, executor);
}
hg_status hg_executor_create_cpu(hg_executor **executor) {
    HG_ENTRY;
    return hg_executor_create_with_backend(HG_BACKEND_CPU, executor);
}
hg_status hg_executor_create_cuda(hg_executor **executor) {
    HG_ENTRY;
    return hg_executor_create_with_backend(HG_BACKEND_CUDA, executor);
}
hg_status hg_executor_create_metal(hg_executor **executor) {
    HG_ENTRY;
    return hg_executor_create_with_backend(HG_BACKEND_METAL, executor);
}
hg_status hg_executor_create_webgpu(hg_executor **executor) {
    HG_ENTRY;
    return hg_executor_create_with_backend(HG_BACKEND_WEBGPU, executor);
}
hg_status hg_ffi_new_executor(hg_executor **executor) {
    HG_ENTRY;
    return hg_executor_create_with_backend(HG_BACKEND_CPU, executor);
}
hg_status hg_ffi_new_executor_auto(hg_executor **executor) {
    HG_ENTRY;
    return hg_executor_create_with_backend(HG_BACKEND_AUTO, executor);
}
hg_status hg_ffi_new_executor_with_backend(const char *backend, hg_executor **executor) {
    HG_ENTRY;
    hg_backend_type type;
    if (!executor) return hg_null_argument("executor");
    *executor = NULL;
    HG_TRY(hg_backend_type_from_name(backend, &type));
    return hg_executor_create_with_backend(type, executor);
}

void hg_executor_destroy(hg_executor *e) {
    HG_ENTRY;
    if (!e || (!e->queue && hg_backend_end_starts(e->backend) != HG_OK)) return;
    if (e->kept) e->end_kept(e->kept);
    hg_mutex_destroy(&e->lock);
    hg_buffer_pool_free(&e->pool);
    if (!e->queue) hg_backend_destroy(e->backend);
    log_line(e, LOG_INFO, "closed");
    hg_free(e->log_file);
    hg_free(e);
}

void *hg_executor_keep(hg_executor *e, void *(*make)(hg_executor *e), void (*end)(void *kept),
                       void (*trim)(void *kept)) {
    void *kept = hg_atomic_load(&e->kept, HG_ACQUIRE);
    if (HG_LIKELY(kept)) return kept;
    hg_mutex_lock(&e->lock);
    kept = e->kept;
    if (!kept) {
        kept = make(e);
        e->end_kept = end;
        e->trim_kept = trim;
        hg_atomic_store(&e->kept, kept, HG_RELEASE);
    }
    hg_mutex_unlock(&e->lock);
    return kept;
}

hg_buffer_pool *hg_executor_pool(hg_executor *e) { return &e->pool; }
hg_queue *hg_executor_queue(const hg_executor *e) { return e->queue; }

/* ---- use ---- */

hg_backend *hg_executor_backend(const hg_executor *e) {
    HG_ENTRY;
    return e ? e->backend : NULL;
}

hg_backend_type hg_executor_backend_type(const hg_executor *e) {
    HG_ENTRY;
    hg_backend_type type = HG_BACKEND_AUTO;
    if (e && hg_backend_type_from_name(hg_backend_name(e->backend), &type) != HG_OK)
        return HG_BACKEND_AUTO;
    return type;
}

hg_status hg_executor_allocate(hg_executor *e, hg_type type, uint64_t count,
                               hg_typed_buffer *buffer) {
    HG_ENTRY;
    uint64_t bytes, size = hg_type_size_bytes(type);
    char what[120];
    if (!e || !buffer) return hg_null_argument(e ? "buffer" : "executor");
    if (!size) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is no type", (int)type);
    if (!hg_mul_u64(count, size, &bytes))
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu elements of %s", (unsigned long long)count,
                       hg_type_name(type));
    *buffer = (hg_typed_buffer){{0}, type, count};
    /* what was appended may still read one of the pool, which is cleared at once */
    hg_status status = e->queue ? hg_queue_synchronize(e->queue) : HG_OK;
    if (status == HG_OK) status = hg_buffer_pool_take(&e->pool, bytes, &buffer->buffer);
    snprintf(what, sizeof what, "allocate %llu x %s", (unsigned long long)count,
             hg_type_name(type));
    log_outcome(e, LOG_TRACE, status, what);
    return status;
}

hg_status hg_executor_free(hg_executor *e, hg_typed_buffer buffer) {
    HG_ENTRY;
    if (!e) return hg_null_argument("executor");
    return hg_buffer_pool_give(&e->pool, buffer.buffer);
}

hg_status hg_executor_execute(hg_executor *e, const hg_program *program, const hg_launch *launch,
                              const hg_params *params) {
    HG_ENTRY;
    hg_launch own = hg_launch_default();
    char what[160];
    if (!e || !program) return hg_null_argument(e ? "program" : "executor");
    if (!launch && (e->grid[0] || e->block[0])) {
        if (e->grid[0]) memcpy(own.grid, e->grid, sizeof own.grid);
        if (e->block[0]) memcpy(own.block, e->block, sizeof own.block);
        launch = &own;
    }
    uint64_t start = e->log_file && e->level >= LOG_DEBUG ? hg_clock_ns() : 0;
    hg_status status = hg_backend_execute_program_with_params(e->backend, program, launch, params);
    if (!e->log_file) return status;
    uint64_t us = start ? (hg_clock_ns() - start) / 1000 : 0;
    snprintf(what, sizeof what, "execute %.80s, %llu us", hg_program_name(program),
             (unsigned long long)us);
    log_outcome(e, LOG_DEBUG, status, what);
    return status;
}

hg_status hg_executor_write_profile(hg_executor *e, const char *path) {
    HG_ENTRY;
    return e ? hg_backend_write_profile(e->backend, path) : hg_null_argument("executor");
}

static const hg_sized MEMORY_RULES = HG_SIZED(hg_executor_memory_info, reused,
                                              "give sizeof(hg_executor_memory_info)");

hg_status hg_executor_memory(hg_executor *e, hg_executor_memory_info *info) {
    HG_ENTRY;
    if (!e || !info) return hg_null_argument(e ? "info" : "executor");
    HG_TRY(hg_sized_check(&MEMORY_RULES, info->size));
    hg_mutex_lock(&e->pool.lock);
    hg_executor_memory_info own = {.size = sizeof own,
                                   .used = e->pool.used_bytes,
                                   .peak = e->pool.peak_bytes,
                                   .kept = e->pool.kept_bytes,
                                   .kept_count = e->pool.kept,
                                   .reused = e->pool.reused};
    hg_mutex_unlock(&e->pool.lock);
    hg_sized_give(&MEMORY_RULES, &own, info, info->size);
    return HG_OK;
}

hg_status hg_executor_trim(hg_executor *e, uint64_t bytes) {
    HG_ENTRY;
    if (!e) return hg_null_argument("executor");
    hg_mutex_lock(&e->lock);
    if (e->kept) e->trim_kept(e->kept);
    hg_mutex_unlock(&e->lock);
    hg_buffer_pool_trim(&e->pool, bytes);
    return HG_OK;
}
