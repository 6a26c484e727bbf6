/* Devices of all OpenCL platforms: listing, opening, what they can do.
 * Must not know: memory, kernels. */
#include "backends/opencl/opencl_internal.h"
#include "base/host.h"
#include "library/tiles.h"
#include <stdio.h>
#include <string.h>

#if defined(HG_OPENCL_HEADERS)

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64 }; /* more are not listed */

typedef struct found_device {
    cl_platform_id platform;
    uint32_t platform_number;
    cl_device_id id;
} found_device;

/* One thread at a time lists devices, opens or closes one: PoCL 3.1 frees what it knows of its
 * devices with the last context, and crashes where another thread asks for it meanwhile. */
static hg_mutex devices_lock = HG_MUTEX_INIT;

static uint32_t find_devices(found_device *found, char reason[256]) {
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    uint32_t count = 0;
    if (!opencl_load(reason)) return 0;
    cl_int error = CL_CALL(GetPlatformIDs, MOST_PLATFORMS, platforms, &platform_count);
    if (error != CL_SUCCESS) platform_count = 0;
    if (platform_count > MOST_PLATFORMS) platform_count = MOST_PLATFORMS;
    for (cl_uint i = 0; i < platform_count && count < MOST_DEVICES; i++) {
        cl_device_id ids[MOST_DEVICES];
        cl_uint more = 0;
        error = CL_CALL(GetDeviceIDs, platforms[i], CL_DEVICE_TYPE_ALL, MOST_DEVICES - count, ids,
                        &more);
        if (error != CL_SUCCESS) continue;
        for (cl_uint k = 0; k < more && count < MOST_DEVICES; k++)
            found[count++] = (found_device){platforms[i], i, ids[k]};
    }
    if (!count && platform_count)
        snprintf(reason, 256, "the OpenCL drivers have no device (%s)",
                 opencl_error_name(error) ? opencl_error_name(error) : "?");
    else if (!count)
        snprintf(
            reason, 256,
            "no OpenCL driver is installed: apt-get install pocl-opencl-icd, or a vendor driver");
    return count;
}

/* ---- questions: 0 or "" where the device does not know ---- */

static uint64_t number(cl_device_id id, cl_device_info what) {
    union {
        cl_ulong wide;
        cl_uint narrow;
        uint8_t bytes[16];
    } value = {0};
    size_t size = 0;
    if (CL_CALL(GetDeviceInfo, id, what, sizeof value, &value, &size) != CL_SUCCESS) return 0;
    return size == sizeof(cl_uint) ? value.narrow : value.wide;
}

/* To be freed; NULL when out of memory or unknown. */
static char *whole_text(cl_device_id id, cl_device_info what) {
    size_t size = 0;
    if (CL_CALL(GetDeviceInfo, id, what, 0, NULL, &size) != CL_SUCCESS || size == 0) return NULL;
    char *text = hg_calloc(size + 1, 1);
    if (text && CL_CALL(GetDeviceInfo, id, what, size, text, NULL) != CL_SUCCESS) text[0] = 0;
    return text;
}

static void short_text(cl_device_id id, cl_device_info what, char *text, size_t size) {
    char *all = whole_text(id, what);
    snprintf(text, size, "%s", all ? all : "");
    hg_free(all);
}

static bool has_extension(const char *all, const char *name) {
    size_t length = strlen(name);
    for (const char *at = all; at && (at = strstr(at, name)) != NULL; at += length)
        if ((at == all || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

static void platform_text(cl_platform_id platform, char *text, size_t size) {
    char all[256] = "";
    if (CL_CALL(GetPlatformInfo, platform, CL_PLATFORM_VERSION, sizeof all, all, NULL) !=
        CL_SUCCESS)
        all[0] = 0;
    snprintf(text, size, "%s", all);
}

/* ---- capabilities ---- */

static void numeric_caps(cl_device_id id, const char *extensions, const char *pretend,
                         kir_caps *kir) {
    uint64_t single = number(id, CL_DEVICE_SINGLE_FP_CONFIG),
             wide = number(id, CL_DEVICE_DOUBLE_FP_CONFIG);
    kir->i8 = kir->i16 = true;
    kir->i64 = !hg_pretends(pretend, "no-int64");
    kir->f64 = wide && has_extension(extensions, "cl_khr_fp64") && !hg_pretends(pretend, "no-fp64");
    kir->fma32 = (single & CL_FP_FMA) != 0;
    kir->fma64 = kir->f64 && (wide & CL_FP_FMA);
    kir->mad = kir->fma32 && kir->fma64;
    kir->subnormals = (single & CL_FP_DENORM) && (!kir->f64 || (wide & CL_FP_DENORM));
    kir->inexact[KIR_FDIV][0] = kir->inexact[KIR_FSQRT][0] = !(single &
                                                               CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
    kir->name = "opencl";
}

static void memory_caps(cl_device_id id, const char *extensions, const char *pretend,
                        hg_device_caps *caps) {
    bool atomics = has_extension(extensions, "cl_khr_int64_base_atomics") &&
                   has_extension(extensions, "cl_khr_int64_extended_atomics");
    hg_memory_caps *m = &caps->memory;
    kir_device_target *t = &caps->compiler.target;
    t->i64 = t->memory64 = t->shared64 = caps->compiler.kir.i64;
    t->memory8 = t->memory16 = t->shared8 = t->shared16 = true;
    t->atomic64 = t->shared_atomic64 = atomics && caps->compiler.kir.i64 &&
                                       !hg_pretends(pretend, "no-atomic64");
    m->total_bytes = number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    m->max_arena_bytes = number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    m->max_shared_bytes = number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    m->max_shared_bytes -= m->max_shared_bytes < KIR_SHARED_RESERVED ? m->max_shared_bytes
                                                                     : KIR_SHARED_RESERVED;
    if (m->max_shared_bytes > HG_MAX_SHARED_BYTES) m->max_shared_bytes = HG_MAX_SHARED_BYTES;
}

/* The version of the language: 1.2, or a later one that has fences between the lanes of a device
 * (emit/dialect_opencl.c). */
static const char *language(cl_device_id id) {
    static const char *const WANTED[] = {"__opencl_c_atomic_order_acq_rel",
                                         "__opencl_c_atomic_order_seq_cst",
                                         "__opencl_c_atomic_scope_device"};
    cl_name_version features[64];
    size_t size = 0, found = 0;
    char version[64];
    short_text(id, CL_DEVICE_OPENCL_C_VERSION, version, sizeof version);
    if (strncmp(version, "OpenCL C 2.", 11) == 0) return "CL2.0";
    if (CL_CALL(GetDeviceInfo, id, CL_DEVICE_OPENCL_C_FEATURES, sizeof features, features, &size) !=
        CL_SUCCESS)
        return "CL1.2";
    for (size_t i = 0; i < size / sizeof *features; i++)
        for (size_t k = 0; k < HG_COUNT_OF(WANTED); k++)
            found += strcmp(features[i].name, WANTED[k]) == 0;
    return found == HG_COUNT_OF(WANTED) ? "CL3.0" : "CL1.2";
}

/* Products of four bytes: whether the language has them, and whether the device has those of
 * unsigned bytes by signed ones itself. Source: cl_khr_integer_dot_product, which is written for
 * OpenCL C 3.0. */
static void dot_caps(cl_device_id id, const char *extensions, const char *pretend,
                     hg_device_caps *caps) {
    enum { PACKED_ACCELERATION = 0x1075, PROPERTIES = 6, MIXED = 2 };
    cl_bool fast[PROPERTIES] = {CL_FALSE};
    bool has = has_extension(extensions, "cl_khr_integer_dot_product") &&
               strcmp(language(id), "CL3.0") == 0;
    caps->compiler.kir.dot4 = has && !hg_pretends(pretend, "no-dot4");
    if (!caps->compiler.kir.dot4) return;
    if (CL_CALL(GetDeviceInfo, id, PACKED_ACCELERATION, sizeof fast, fast, NULL) == CL_SUCCESS)
        caps->hints.dot4 = fast[MIXED] == CL_TRUE;
}

/* Slots, arenas and what the form adds stay within 1024 bytes of parameters, the record aside
 * (emit_device_c_record). */
enum { MOST_SLOTS = 64, MOST_ARENAS = 48, ARENA_BYTES = 64 << 20 };

static void group_caps(cl_device_id id, hg_device_caps *caps) {
    hg_scheduling_caps *s = &caps->scheduling;
    size_t sizes[8] = {0};
    if (CL_CALL(GetDeviceInfo, id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL) !=
        CL_SUCCESS)
        sizes[0] = sizes[1] = sizes[2] = 1;
    uint64_t most = number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    s->max_block_lanes = most > HG_MAX_BLOCK_LANES ? HG_MAX_BLOCK_LANES : most ? (uint32_t)most : 1;
    for (int i = 0; i < 3; i++) {
        s->max_group[i] = sizes[i] > s->max_block_lanes ? s->max_block_lanes
                          : sizes[i]                    ? (uint32_t)sizes[i]
                                                        : 1;
        s->max_groups[i] = i ? UINT16_MAX : INT32_MAX; /* OpenCL has no limit of its own, the
                                                          devices' grids have these */
    }
    caps->hints.flat_group = s->max_group[0] < 256 ? s->max_group[0] : 256;
}

static void fill_caps(const found_device *found, const char *extensions, const char *pretend,
                      hg_device *d) {
    hg_device_caps *caps = &d->caps;
    numeric_caps(found->id, extensions, pretend, &caps->compiler.kir);
    memory_caps(found->id, extensions, pretend, caps);
    dot_caps(found->id, extensions, pretend, caps);
    group_caps(found->id, caps);
    d->host_memory = (number(found->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
    d->visible = (number(found->id, CL_DEVICE_SVM_CAPABILITIES) &
                  CL_DEVICE_SVM_FINE_GRAIN_BUFFER) &&
                 opencl.SVMAlloc && opencl.SVMFree && opencl.SetKernelArgSVMPointer &&
                 !hg_pretends(pretend, "staging");
    caps->compiler.device_form = caps->compiler.by_aliases = caps->scheduling.asynchronous =
        caps->memory.uniforms_in_memory = caps->compiler.compiles_late = caps->exact = true;
    caps->scheduling.serial_groups = caps->hints.on_cpu = d->host_memory;
    caps->memory.can_import = d->host_memory;
    caps->hints.tile_kind = d->host_memory ? LIBRARY_TILES_SERIAL : LIBRARY_TILES_DEVICE;
    caps->compiler.max_slots = MOST_SLOTS;
    caps->compiler.target.max_arenas = MOST_ARENAS;
    caps->compiler.target.bind_arenas = hg_pretends(pretend, "bind-arenas");
    if (caps->compiler.target.bind_arenas) caps->compiler.max_slots = KIR_BOUND_SLOTS;
    caps->memory.arena_bytes = caps->memory.max_arena_bytes < ARENA_BYTES ? 0 : ARENA_BYTES;
    snprintf(d->options, sizeof d->options, "-cl-std=%s%s", language(found->id),
             caps->compiler.kir.inexact[KIR_FDIV][0] ? ""
                                                     : " -cl-fp32-correctly-rounded-divide-sqrt");
    static const char *const SETTINGS[] = {"POCL_LLVM_CPU_NAME"}; /* the CPU that PoCL compiles for
                                                                   */
    char platform[80], name[64], driver[32], host[HG_HOST_TEXT] = "";
    if (d->host_memory) hg_host_text(SETTINGS, HG_COUNT_OF(SETTINGS), host);
    platform_text(found->platform, platform, sizeof platform);
    short_text(found->id, CL_DEVICE_NAME, name, sizeof name);
    short_text(found->id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(caps->identity, sizeof caps->identity, "%s | %s | %s %s", platform, name, driver,
             host);
}

/* ---- listing ---- */

static void describe(const found_device *found, uint32_t index, hg_device_info *info) {
    cl_device_id id = found->id;
    char *extensions = whole_text(id, CL_DEVICE_EXTENSIONS);
    uint64_t single = number(id, CL_DEVICE_SINGLE_FP_CONFIG),
             shared = number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    uint64_t lanes = number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    info->device = index;
    memcpy(info->backend, "opencl", 7);
    short_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    info->available = number(id, CL_DEVICE_AVAILABLE) != 0 &&
                      number(id, CL_DEVICE_COMPILER_AVAILABLE) != 0;
    if (!info->available)
        snprintf(info->reason, sizeof info->reason,
                 "the driver says that the device or its compiler is not available");
    info->exact = true;
    info->software = (number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
    info->memory_bytes = number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_buffer_bytes = number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->compute_units = (uint32_t)number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->max_block_lanes = lanes > HG_MAX_BLOCK_LANES ? HG_MAX_BLOCK_LANES : (uint32_t)lanes;
    info->max_shared_bytes = shared > HG_MAX_SHARED_BYTES ? HG_MAX_SHARED_BYTES : shared;
    snprintf(info->capabilities, sizeof info->capabilities, "i8 i16 i64%s%s%s",
             has_extension(extensions, "cl_khr_fp64") ? " f64" : "",
             single & CL_FP_FMA ? " fma" : "", single & CL_FP_DENORM ? " subnormals" : "");
    char platform[64], driver[48];
    platform_text(found->platform, platform, sizeof platform);
    short_text(id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(info->driver, sizeof info->driver, "%s, driver %s", platform, driver);
    hg_free(extensions);
}

uint32_t opencl_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    found_device found[MOST_DEVICES];
    hg_mutex_lock(&devices_lock);
    uint32_t count = find_devices(found, reason);
    for (uint32_t i = 0; i < count && i < capacity && devices; i++) {
        describe(&found[i], i, &devices[i]);
        devices[i].platform = found[i].platform_number;
    }
    hg_mutex_unlock(&devices_lock);
    return count;
}

/* ---- opening ---- */

static hg_status open_context(hg_device *d, const found_device *found) {
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                          (cl_context_properties)found->platform, 0};
    cl_int error;
    if (!d->adopted) {
        d->context = CL_MAKE(error, CreateContext, properties, 1, &d->id, NULL, NULL);
        HG_TRY(opencl_check("clCreateContext", error));
    }
    d->setup = CL_MAKE(error, CreateCommandQueue, d->context, d->id, 0);
    return opencl_check("clCreateCommandQueue", error);
}

static void close_device(hg_device *d) {
    if (!d) return;
    if (d->setup) opencl.ReleaseCommandQueue(d->setup);
    if (d->context && !d->adopted) opencl.ReleaseContext(d->context);
    hg_blob_cache_close(d->cache);
    hg_mutex_destroy(&d->lock);
    hg_free(d);
}

/* context: the host's; NULL: a new one. */
static hg_status open_device(const found_device *found, const hg_driver_options *options,
                             cl_context context, hg_device **device) {
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    hg_mutex_init(&d->lock);
    d->id = found->id;
    d->context = context;
    d->adopted = context != NULL;
    char *extensions = whole_text(d->id, CL_DEVICE_EXTENSIONS);
    fill_caps(found, extensions, options->pretend, d);
    hg_free(extensions);
    hg_status status = open_context(d, found);
    if (status == HG_OK)
        status = hg_blob_cache_open(options->cache_dir, options->cache_bytes, &d->cache);
    if (status != HG_OK)
        close_device(d);
    else
        *device = d;
    return status;
}

static hg_status open_listed(uint32_t index, const hg_driver_options *options, hg_device **device) {
    found_device found[MOST_DEVICES];
    char reason[256] = "";
    uint32_t count = find_devices(found, reason);
    if (!count) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "opencl: %s", reason);
    if (index >= count)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "opencl has %u devices; asked for number %u",
                       (unsigned)count, (unsigned)index);
    return open_device(&found[index], options, NULL, device);
}

static hg_status open_adopted(const hg_driver_options *options, hg_device **device) {
    const hg_host_device *host = options->host;
    found_device found = {.id = host->device};
    char reason[256] = "";
    if (!host->context || !host->device)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "opencl: hg_host_device.%s is NULL, expected %s",
                       host->context ? "device" : "context",
                       host->context ? "a cl_device_id of the context" : "a cl_context");
    if (!opencl_load(reason)) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "opencl: %s", reason);
    cl_int error = CL_CALL(GetDeviceInfo, found.id, CL_DEVICE_PLATFORM, sizeof found.platform,
                           &found.platform, NULL);
    HG_TRY(opencl_check("clGetDeviceInfo", error));
    return open_device(&found, options, host->context, device);
}

hg_status opencl_device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    hg_mutex_lock(&devices_lock);
    hg_status status = open_listed(index, options, device);
    hg_mutex_unlock(&devices_lock);
    return status;
}

hg_status opencl_device_adopt(const hg_driver_options *options, hg_device **device) {
    hg_mutex_lock(&devices_lock);
    hg_status status = open_adopted(options, device);
    hg_mutex_unlock(&devices_lock);
    return status;
}

void opencl_device_close(hg_device *d) {
    hg_mutex_lock(&devices_lock);
    close_device(d);
    hg_mutex_unlock(&devices_lock);
}

#endif
