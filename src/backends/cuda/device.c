/* Devices: listing, opening, what they can do.
 * Must not know: memory, kernels. */
#include "backends/cuda/cuda_internal.h"
#include "emit/nvrtc.h"
#include "library/tiles.h"
#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 64 }; /* more are not listed */
/* CUdevice_attribute */
enum {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_DIM_X = 2,
    MAX_GRID_DIM_X = 5,
    MAX_SHARED_PER_BLOCK = 8,
    MULTIPROCESSORS = 16,
    CAPABILITY_MAJOR = 75,
    CAPABILITY_MINOR = 76,
    SHARED_OPT_IN = 97,
    HOST_REGISTER = 99,
    MEMORY_POOLS = 115
};
/* Compute capabilities. Products of four bytes (dp4a) are of every device from 6.1 on. */
enum { OLDEST = 50, FIRST_DOT4 = 61, POOL_RELEASE_THRESHOLD = 4 };

/* The first question to a device that failed stays in *status (NULL: nobody wants to know), and the
 * answers are 0. */
static int attribute(CUdevice id, int what, hg_status *status) {
    int value = 0;
    CUresult error = CU_CALL(DeviceGetAttribute, &value, what, id);
    if (error == CUDA_SUCCESS) return value;
    if (status && *status == HG_OK) *status = cuda_check("cuDeviceGetAttribute", error);
    return 0;
}

static uint32_t count_devices(char reason[256]) {
    int count = 0;
    if (!cuda_load(reason)) return 0;
    if (CU_CALL(DeviceGetCount, &count) != CUDA_SUCCESS || count <= 0) {
        snprintf(reason, 256, "CUDA backend not available: No CUDA-capable device found");
        return 0;
    }
    return count > MOST_DEVICES ? MOST_DEVICES : (uint32_t)count;
}

static int capability(CUdevice id, hg_status *status) {
    return attribute(id, CAPABILITY_MAJOR, status) * 10 + attribute(id, CAPABILITY_MINOR, status);
}

/* ---- listing ---- */

/* Without NVRTC a device is taken only where somebody asks for this backend: it runs the kernels
 * that the library carries, and those on disk. */
static bool compiles(char reason[256]) {
    char missing[256];
    if (emit_nvrtc_load(missing)) return true;
    snprintf(reason, 256, "%.180s%s", missing,
             cuda_prebuilt_there() ? "; library programs alone run without it" : "");
    return false;
}

static uint64_t shared_bytes(CUdevice id, hg_status *status) {
    int most = attribute(id, SHARED_OPT_IN, status),
        plain = attribute(id, MAX_SHARED_PER_BLOCK, status);
    uint64_t bytes = (uint64_t)(most > plain ? most : plain);
    bytes -= bytes < KIR_SHARED_RESERVED ? bytes : KIR_SHARED_RESERVED;
    return bytes > HG_MAX_SHARED_BYTES ? HG_MAX_SHARED_BYTES : bytes;
}

static uint32_t block_lanes(CUdevice id, hg_status *status) {
    int most = attribute(id, MAX_THREADS_PER_BLOCK, status);
    return most > HG_MAX_BLOCK_LANES ? HG_MAX_BLOCK_LANES : most > 0 ? (uint32_t)most : 1;
}

static void describe(uint32_t index, hg_device_info *info) {
    CUdevice id;
    size_t bytes = 0;
    int version = 0;
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    info->device = index;
    memcpy(info->backend, "cuda", 5);
    if (CU_CALL(DeviceGet, &id, (int)index) != CUDA_SUCCESS) {
        snprintf(info->reason, sizeof info->reason, "the driver does not give device %u",
                 (unsigned)index);
        return;
    }
    if (CU_CALL(DeviceGetName, info->name, (int)sizeof info->name - 1, id) != CUDA_SUCCESS)
        info->name[0] = 0;
    if (CU_CALL(DeviceTotalMem, &bytes, id) != CUDA_SUCCESS) bytes = 0;
    if (CU_CALL(DriverGetVersion, &version) != CUDA_SUCCESS) version = 0;
    int found = capability(id, NULL);
    info->available = found >= OLDEST && compiles(info->reason);
    if (found < OLDEST)
        snprintf(info->reason, sizeof info->reason,
                 "compute capability %d.%d is too old: 5.0 is needed", found / 10, found % 10);
    info->exact = true;
    info->memory_bytes = info->max_buffer_bytes = bytes;
    info->compute_units = (uint32_t)attribute(id, MULTIPROCESSORS, NULL);
    info->max_block_lanes = block_lanes(id, NULL);
    info->max_shared_bytes = shared_bytes(id, NULL);
    snprintf(info->capabilities, sizeof info->capabilities, "i8 i16 i64 f64 fma subnormals");
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d, compute capability %d.%d",
             version / 1000, version % 1000 / 10, found / 10, found % 10);
}

uint32_t cuda_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    uint32_t count = count_devices(reason);
    for (uint32_t i = 0; i < count && i < capacity && devices; i++) describe(i, &devices[i]);
    return count;
}

/* ---- capabilities ---- */

void cuda_promise(hg_device_caps *caps, const char *pretend) {
    kir_caps *kir = &caps->compiler.kir;
    kir->name = "cuda";
    kir->i8 = kir->i16 = kir->subnormals = kir->fma32 = true;
    kir->i64 = !hg_pretends(pretend, "no-int64");
    kir->f64 = kir->fma64 = kir->mad = !hg_pretends(pretend, "no-fp64");
    kir->dot4 = caps->hints.dot4 = !hg_pretends(pretend, "no-dot4");
    caps->compiler.device_form = caps->scheduling.asynchronous = caps->memory.uniforms_in_memory =
        caps->exact = true;
    caps->compiler.target = (kir_device_target){
        .addressed = true, .memory8 = true, .memory16 = true, .shared8 = true, .shared16 = true};
    caps->compiler.target.written_rounds = 4; /* docs/performance.md, "On an NVIDIA GPU" */
    caps->compiler.target.i64 = caps->compiler.target.memory64 = caps->compiler.target.shared64 =
        kir->i64;
    caps->compiler.target.atomic64 = caps->compiler.target.shared_atomic64 =
        kir->i64 && !hg_pretends(pretend, "no-atomic64");
    caps->compiler.max_slots = UINT32_MAX;
    caps->scheduling.records_steps = true; /* a captured stream keeps what cuBLASLt launches */
    caps->hints.tile_kind = LIBRARY_TILES_JOINING;
    caps->memory.arena_bytes = UINT64_C(64) << 20;
}

static hg_status fill_caps(hg_device *d, const char *pretend) {
    hg_device_caps *caps = &d->caps;
    hg_scheduling_caps *s = &caps->scheduling;
    char name[64] = "";
    size_t bytes = 0;
    int driver = 0;
    hg_status status = HG_OK;
    cuda_promise(caps, pretend);
    if (d->architecture < FIRST_DOT4) caps->compiler.kir.dot4 = caps->hints.dot4 = false;
    caps->memory.can_import = attribute(d->id, HOST_REGISTER, &status) != 0;
    s->max_block_lanes = block_lanes(d->id, &status);
    caps->memory.max_shared_bytes = shared_bytes(d->id, &status);
    d->max_dynamic_shared = caps->memory.max_shared_bytes + KIR_SHARED_RESERVED;
    for (int i = 0; i < 3; i++) {
        s->max_group[i] = (uint32_t)attribute(d->id, MAX_BLOCK_DIM_X + i, &status);
        s->max_groups[i] = (uint32_t)attribute(d->id, MAX_GRID_DIM_X + i, &status);
        if (s->max_group[i] > s->max_block_lanes) s->max_group[i] = s->max_block_lanes;
    }
    caps->hints.flat_group = s->max_block_lanes < 256 ? s->max_block_lanes : 256;
    HG_TRY(status);
    CU_TRY(DeviceTotalMem, &bytes, d->id);
    CU_TRY(DeviceGetName, name, (int)sizeof name - 1, d->id);
    CU_TRY(DriverGetVersion, &driver);
    caps->memory.total_bytes = caps->memory.max_arena_bytes = bytes;
    snprintf(caps->identity, sizeof caps->identity, "cuda %d | NVRTC %u | %s | sm_%u", driver,
             (unsigned)emit_nvrtc_version(), name, (unsigned)d->architecture);
    return HG_OK;
}

/* ---- opening ---- */

hg_status cuda_enter(const hg_device *d) {
    CU_TRY(CtxPushCurrent, d->context);
    return HG_OK;
}

void cuda_leave(void) {
    CUcontext mine;
    (void)cuda.CtxPopCurrent(&mine);
    hg_fp_renew(); /* a library that was loaded meanwhile may have changed the mode */
}

/* Memory that was freed stays with the process: to get it from the system again takes longer than
 * to launch. */
static void keep_pool(hg_device *d) {
    CUmemoryPool pool;
    uint64_t all = UINT64_MAX;
    d->pools = attribute(d->id, MEMORY_POOLS, NULL) != 0;
    if (d->pools && CU_CALL(DeviceGetDefaultMemPool, &pool, d->id) == CUDA_SUCCESS)
        (void)CU_CALL(MemPoolSetAttribute, pool, POOL_RELEASE_THRESHOLD, &all);
}

static hg_status open_context(hg_device *d) {
    enum { NON_BLOCKING = 1 };
    if (!d->adopted) CU_TRY(DevicePrimaryCtxRetain, &d->context, d->id);
    HG_TRY(cuda_enter(d));
    hg_status status = cuda_check("cuStreamCreate", CU_CALL(StreamCreate, &d->setup, NON_BLOCKING));
    if (status == HG_OK) keep_pool(d);
    cuda_leave();
    return status;
}

/* The rest of a device whose number is known. */
static hg_status open_device(hg_device *d, const hg_driver_options *options) {
    hg_status status = HG_OK;
    d->architecture = (uint32_t)capability(d->id, &status);
    HG_TRY(status);
    if (d->architecture < OLDEST)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: compute capability %u.%u is too old: 5.0 is needed",
                       d->architecture / 10, d->architecture % 10);
    HG_TRY(open_context(d));
    HG_TRY(fill_caps(d, options->pretend));
    HG_TRY(cuda_staging_create(d, &d->staging));
    HG_TRY(cuda_vendor_create(options->vendor, &d->vendor));
    return hg_blob_cache_open(options->cache_dir, options->cache_bytes, &d->cache);
}

/* The device of the host's context. */
static hg_status find_id(hg_device *d) {
    HG_TRY(cuda_enter(d));
    hg_status status = cuda_check("cuCtxGetDevice", CU_CALL(CtxGetDevice, &d->id));
    cuda_leave();
    return status;
}

static hg_status make_device(uint32_t index, const hg_driver_options *options, hg_device **device) {
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    hg_mutex_init(&d->lock);
    d->context = options->host ? options->host->context : NULL;
    d->adopted = options->host != NULL;
    hg_status status = d->adopted
                           ? find_id(d)
                           : cuda_check("cuDeviceGet", CU_CALL(DeviceGet, &d->id, (int)index));
    if (status == HG_OK) status = open_device(d, options);
    if (status != HG_OK)
        cuda_device_close(d);
    else
        *device = d;
    return status;
}

hg_status cuda_device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    char reason[256] = "";
    uint32_t count = count_devices(reason);
    if (!count || (!emit_nvrtc_load(reason) && !cuda_prebuilt_there()))
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s", reason);
    if (index >= count)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "cuda has %u devices; asked for number %u",
                       (unsigned)count, (unsigned)index);
    return make_device(index, options, device);
}

hg_status cuda_device_adopt(const hg_driver_options *options, hg_device **device) {
    char reason[256] = "";
    if (!options->host->context)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "cuda: hg_host_device.context is NULL, expected a CUcontext");
    if (!count_devices(reason) || (!emit_nvrtc_load(reason) && !cuda_prebuilt_there()))
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s", reason);
    return make_device(0, options, device);
}

void cuda_device_close(hg_device *d) {
    if (!d) return;
    if (d->context && cuda.CtxPushCurrent(d->context) == CUDA_SUCCESS) {
        cuda_staging_destroy(d->staging);
        cuda_vendor_destroy(d->vendor);
        if (d->setup) (void)cuda.StreamDestroy(d->setup);
        cuda_leave();
    }
    if (d->context && !d->adopted) (void)cuda.DevicePrimaryCtxRelease(d->id);
    hg_blob_cache_close(d->cache);
    hg_mutex_destroy(&d->lock);
    hg_free(d);
}
