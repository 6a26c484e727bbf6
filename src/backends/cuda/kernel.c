/* Programs: text, NVRTC, code kept on disk, launches.
 * Must not know: submissions. */
#include "backends/cuda/cuda_internal.h"
#include "emit/c_dialect.h"
#include "emit/nvrtc.h"
#include <stdlib.h>
#include <string.h>

/* CUfunction_attribute */
enum { FUNC_MAX_THREADS = 0, FUNC_MAX_DYNAMIC_SHARED = 8 };
enum { PLAIN_SHARED = 48 * 1024, REGISTERS_OF_A_FULL_BLOCK = 64 };

/* Code for groups of any size takes at most 64 registers; most kernels run in smaller groups with
 * as many as they like. */
typedef struct code {
    CUmodule module;
    CUfunction function;
    uint32_t most_lanes;
} code;

struct hg_driver_kernel {
    hg_device *device;
    char name[96];
    hg_text source; /* kept while there may be a second compilation */
    hg_mutex lock;  /* of full */
    code own, full;
    emit_record record;
    bool flat; /* numbers invocations in one direction */
};

/* ---- code on disk: machine code for this device, driver and NVRTC, and PTX beside it for devices
 * that come later ---- */

typedef enum code_form { MACHINE_CODE, PTX } code_form;

static void hash_text(hg_blake3 *hash, const char *text) {
    hg_blake3_update(hash, text, strlen(text) + 1);
}

void cuda_ptx_key(const char *source, uint64_t length, uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_blake3 hash;
    hg_blake3_init(&hash);
    hash_text(&hash, "cuda ptx 2");
    hg_blake3_update(&hash, source, length);
    hg_blake3_final(&hash, key);
}

static void make_key(const hg_driver_kernel *k, bool full, code_form form,
                     uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_blake3 hash;
    if (form == PTX) {
        cuda_ptx_key(k->source.data, k->source.length, key);
        return;
    }
    hg_blake3_init(&hash);
    hash_text(&hash, "cuda program 1");
    hash_text(&hash, full ? "full blocks" : "");
    hash_text(&hash, k->device->caps.identity);
    hg_blake3_update(&hash, k->source.data, k->source.length);
    hg_blake3_final(&hash, key);
}

/* The architecture that PTX was made for; every later one takes it. UINT32_MAX: it does not say. */
static uint32_t ptx_architecture(const char *text) {
    static const char TARGET[] = "\n.target sm_";
    const char *at = strstr(text, TARGET);
    unsigned long number = at ? strtoul(at + sizeof TARGET - 1, NULL, 10) : 0;
    return number ? (uint32_t)number : UINT32_MAX;
}

/* The driver makes machine code of PTX, which knows no number of registers. */
static hg_status load(const hg_driver_kernel *k, bool full, code_form form, const void *image,
                      code *c) {
    enum { MAX_REGISTERS = 0 }; /* CUjit_option */
    int lanes = 0, options[] = {MAX_REGISTERS};
    void *values[] = {(void *)(uintptr_t)REGISTERS_OF_A_FULL_BLOCK};
    CUresult said = CU_CALL(ModuleLoadDataEx, &c->module, image, form == PTX && full, options,
                            values);
    if (said == CUDA_ERROR_UNSUPPORTED_PTX_VERSION && emit_nvrtc_version())
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: NVRTC is newer than the driver, which does not read its PTX of %s: "
                       "update NVIDIA's driver, or name an older "
                       "NVRTC with HOLOGRAM_NVRTC",
                       k->name);
    HG_TRY(cuda_check("cuModuleLoadDataEx", said));
    CU_TRY(ModuleGetFunction, &c->function, c->module, k->name);
    CU_TRY(FuncGetAttribute, &lanes, FUNC_MAX_THREADS, c->function);
    if (k->device->max_dynamic_shared > PLAIN_SHARED)
        CU_TRY(FuncSetAttribute, c->function, FUNC_MAX_DYNAMIC_SHARED,
               (int)k->device->max_dynamic_shared);
    c->most_lanes = lanes > 0 ? (uint32_t)lanes : 1;
    return HG_OK;
}

static void unload(code *c) {
    if (c->module) (void)cuda.ModuleUnload(c->module);
    *c = (code){0};
}

/* What the driver does not take from the disk is made again. */
static bool load_kept(const hg_driver_kernel *k, bool full, code_form form, code *c) {
    uint8_t key[HG_BLOB_KEY_BYTES], *image = NULL;
    uint64_t bytes = 0;
    make_key(k, full, form, key);
    if (!hg_blob_cache_get(k->device->cache, key, &image, &bytes)) return false;
    bool fits = form == MACHINE_CODE ||
                (image[bytes - 1] == 0 &&
                 ptx_architecture((const char *)image) <= k->device->architecture);
    bool loaded = fits && load(k, full, form, image, c) == HG_OK;
    hg_free(image);
    if (loaded) return true;
    unload(c);
    if (fits) hg_blob_cache_remove(k->device->cache, key);
    return false;
}

static void keep(const hg_driver_kernel *k, bool full, code_form form, const hg_bytes *image) {
    uint8_t key[HG_BLOB_KEY_BYTES];
    if (!image->length) return;
    make_key(k, full, form, key);
    (void)hg_blob_cache_put(k->device->cache, key, image->data, image->length);
}

static hg_status compile(const hg_driver_kernel *k, bool full, uint32_t architecture, code *c) {
    hg_bytes cubin = {0}, ptx = {0};
    bool exact = architecture == k->device->architecture;
    const emit_nvrtc_request request = {.text = k->source.data,
                                        .name = k->name,
                                        .architecture = architecture,
                                        .most_registers = full ? REGISTERS_OF_A_FULL_BLOCK : 0};
    hg_status status = emit_nvrtc_compile(&request, exact ? &cubin : NULL, &ptx);
    if (status == HG_OK)
        status = load(k, full, exact ? MACHINE_CODE : PTX, exact ? cubin.data : ptx.data, c);
    if (status == HG_OK) {
        keep(k, full, MACHINE_CODE, &cubin);
        keep(k, full, PTX, &ptx);
    } else {
        unload(c);
    }
    hg_bytes_free(&cubin);
    hg_bytes_free(&ptx);
    return status;
}

/* PTX that came with the library. */
static hg_status load_prebuilt(const hg_driver_kernel *k, bool full, const char *missing, code *c) {
    uint8_t key[HG_BLOB_KEY_BYTES];
    cuda_ptx_key(k->source.data, k->source.length, key);
    char *ptx = cuda_prebuilt_find(key);
    if (!ptx)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: the library carries no code of the kernel '%s', and %.200s", k->name,
                       missing);
    hg_status status = load(k, full, PTX, ptx, c);
    if (status != HG_OK) unload(c);
    hg_free(ptx);
    return status;
}

/* In the device's context. PTX of an earlier compilation is for devices that NVRTC does not know:
 * for others it makes better code. */
static hg_status make_code(const hg_driver_kernel *k, bool full, code *c) {
    char missing[256];
    bool compiles = emit_nvrtc_load(missing);
    if (load_kept(k, full, MACHINE_CODE, c)) return HG_OK;
    uint32_t newest = compiles ? emit_nvrtc_architecture(k->device->architecture) : 0;
    if (newest != k->device->architecture && load_kept(k, full, PTX, c)) return HG_OK;
    if (!compiles) return load_prebuilt(k, full, missing, c);
    if (!newest)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "cuda: NVRTC knows no architecture up to sm_%u",
                       (unsigned)k->device->architecture);
    return compile(k, full, newest, c);
}

/* ---- kernels ---- */

hg_status cuda_code_create(hg_device *d, const hg_driver_code *made_for,
                           hg_driver_kernel **kernel) {
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    hg_mutex_init(&k->lock);
    k->device = d;
    k->record = emit_device_c_record(&emit_cuda_dialect, made_for->module, made_for->layout);
    k->flat = kir_device_is_flat(made_for->module);
    emit_kernel_name(made_for->module, k->name);
    hg_status status = emit_device_c(&emit_cuda_dialect, made_for->module, made_for->layout, "",
                                     &k->source);
    if (status == HG_OK) status = cuda_enter(d);
    if (status == HG_OK) {
        status = make_code(k, false, &k->own);
        cuda_leave();
    }
    if (k->own.most_lanes >= d->caps.scheduling.max_block_lanes) hg_text_free(&k->source);
    if (status != HG_OK)
        cuda_kernel_destroy(k);
    else
        *kernel = k;
    return status;
}

void cuda_kernel_destroy(hg_driver_kernel *k) {
    if (!k) return;
    if (cuda.CtxPushCurrent(k->device->context) == CUDA_SUCCESS) {
        unload(&k->own);
        unload(&k->full);
        cuda_leave();
    }
    hg_text_free(&k->source);
    hg_mutex_destroy(&k->lock);
    hg_free(k);
}

/* ---- launches ---- */

/* The code for groups of so many invocations. */
static hg_status choose(hg_driver_kernel *k, uint64_t lanes, CUfunction *function) {
    hg_status status = HG_OK;
    *function = k->own.function;
    if (lanes <= k->own.most_lanes) return HG_OK;
    hg_mutex_lock(&k->lock);
    if (!k->full.module) status = make_code(k, true, &k->full);
    *function = k->full.function;
    hg_mutex_unlock(&k->lock);
    return status;
}

hg_status cuda_launch(hg_device *d, CUstream stream, const hg_driver_dispatch *x, void **kept) {
    hg_driver_kernel *k = x->kernel;
    uint32_t groups[3], group[3];
    uint64_t lanes = (uint64_t)x->group[0] * x->group[1] * x->group[2];
    CUdeviceptr address = 0;
    CUfunction function;
    void *piece = NULL, *parameters[] = {(void *)(uintptr_t)x->record};
    for (int i = 0; i < 3; i++) {
        groups[i] = x->groups[i];
        group[i] = x->group[i];
        if (groups[i] == 0 || group[i] == 0) return HG_OK;
    }
    if (k->flat) {
        group[0] = (uint32_t)lanes;
        groups[0] *= groups[1] * groups[2];
        group[1] = group[2] = groups[1] = groups[2] = 1;
    }
    HG_TRY(choose(k, lanes, &function));
    if (k->record == EMIT_RECORD_BUFFER) {
        HG_TRY(cuda_staging_put(d, stream, x->record, x->record_bytes, &piece, &address));
        parameters[0] = &address;
    }
    hg_status status = cuda_check(
        "cuLaunchKernel", CU_CALL(LaunchKernel, function, groups[0], groups[1], groups[2], group[0],
                                  group[1], group[2], (unsigned)((x->group_memory + 7) / 8 * 8),
                                  stream, k->record == EMIT_RECORD_NONE ? NULL : parameters, NULL));
    if (piece && kept) cuda_staging_keep(piece, kept);
    hg_status released = piece && !kept ? cuda_staging_release(d, stream, piece) : HG_OK;
    return status == HG_OK ? released : status;
}
