/* Programs: text, NVRTC, code kept on disk, launches.
 * Must not know: submissions. */
#include "backends/cuda/cuda_internal.h"
#include "emit/c_dialect.h"
#include <stdio.h>
#include <string.h>

/* CUfunction_attribute */
enum { FUNC_MAX_THREADS = 0, FUNC_MAX_DYNAMIC_SHARED = 8 };
enum { PLAIN_SHARED = 48 * 1024, REGISTERS_OF_A_FULL_BLOCK = 64 };

/* Code for groups of any size takes at most 64 registers; most kernels run in smaller groups with as many as they like. */
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

/* ---- NVRTC ---- */

static hg_status refused(const hg_driver_kernel *k, nvrtcProgram program, int error) {
    size_t size = 0;
    if (program) (void)nvrtc.GetProgramLogSize(program, &size);
    char *log = hg_calloc(size + 1, 1);
    if (log && size) (void)nvrtc.GetProgramLog(program, log);
    hg_status status = hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC refuses %s (error %d): %.600s", k->name, error, log ? log : "");
    hg_free(log);
    return status;
}

/* The newest architecture that NVRTC knows and the device has. *exact: it is the device's own. */
static int pick_architecture(const hg_device *d, bool *exact) {
    int known[128], count = 0, best = 0;
    if (nvrtc.GetNumSupportedArchs(&count) != 0 || count < 1 || count > (int)HG_COUNT_OF(known) || nvrtc.GetSupportedArchs(known) != 0)
        count = 0;
    for (int i = 0; i < count; i++)
        if (known[i] <= d->architecture && known[i] > best) best = known[i];
    *exact = best == d->architecture;
    return best;
}

static hg_status fetch(nvrtcProgram program, bool machine_code, uint8_t **image, uint64_t *bytes) {
    size_t size = 0;
    int error = machine_code ? nvrtc.GetCUBINSize(program, &size) : nvrtc.GetPTXSize(program, &size);
    if (error || size == 0) return hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC made no code (error %d)", error);
    *image = hg_calloc(size + 1, 1);
    if (!*image) return hg_fail_memory();
    *bytes = size;
    error = machine_code ? nvrtc.GetCUBIN(program, (char *)*image) : nvrtc.GetPTX(program, (char *)*image);
    if (!error) return HG_OK;
    hg_free(*image);
    return hg_fail(HG_ERROR_INTERNAL, "cuda: NVRTC does not give its code (error %d)", error);
}

/* Exactness: nothing is fused, division and square root are rounded correctly, subnormals are kept. */
#define EXACT "-fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false"

static hg_status compile(const hg_driver_kernel *k, bool full, uint8_t **image, uint64_t *bytes) {
    char arch[32], registers[32];
    bool exact;
    int newest = pick_architecture(k->device, &exact);
    nvrtcProgram program = NULL;
    if (!newest) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "cuda: NVRTC knows no architecture up to sm_%d", k->device->architecture);
    snprintf(arch, sizeof arch, "-arch=%s_%d", exact ? "sm" : "compute", newest);
    snprintf(registers, sizeof registers, "-maxrregcount=%d", (int)REGISTERS_OF_A_FULL_BLOCK);
    const char *options[] = {arch, EXACT, registers};
    int error = nvrtc.CreateProgram(&program, k->source.data, "kernel.cu", 0, NULL, NULL);
    if (!error) error = nvrtc.CompileProgram(program, (int)HG_COUNT_OF(options) - !full, options);
    hg_status status = error ? refused(k, program, error) : fetch(program, exact, image, bytes);
    if (program) (void)nvrtc.DestroyProgram(&program);
    return status;
}

/* ---- code on disk ---- */

static void hash_text(hg_blake3 *hash, const char *text) { hg_blake3_update(hash, text, strlen(text) + 1); }

static void make_key(const hg_driver_kernel *k, bool full, uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_blake3 hash;
    hg_blake3_init(&hash);
    hash_text(&hash, full ? "cuda program 1, full blocks" : "cuda program 1");
    hash_text(&hash, k->device->caps.identity);
    hg_blake3_update(&hash, k->source.data, k->source.length);
    hg_blake3_final(&hash, key);
}

static hg_status load(const hg_driver_kernel *k, const void *image, code *c) {
    int lanes = 0;
    CU_TRY(ModuleLoadData, &c->module, image);
    CU_TRY(ModuleGetFunction, &c->function, c->module, k->name);
    CU_TRY(FuncGetAttribute, &lanes, FUNC_MAX_THREADS, c->function);
    if (k->device->max_dynamic_shared > PLAIN_SHARED)
        CU_TRY(FuncSetAttribute, c->function, FUNC_MAX_DYNAMIC_SHARED, (int)k->device->max_dynamic_shared);
    c->most_lanes = lanes > 0 ? (uint32_t)lanes : 1;
    return HG_OK;
}

static void unload(code *c) {
    if (c->module) (void)cuda.ModuleUnload(c->module);
    *c = (code){0};
}

/* In the device's context. What the driver does not take from the disk is made again. */
static hg_status make_code(const hg_driver_kernel *k, bool full, code *c) {
    uint8_t key[HG_BLOB_KEY_BYTES], *image = NULL;
    uint64_t bytes = 0;
    make_key(k, full, key);
    if (hg_blob_cache_get(k->device->cache, key, &image, &bytes)) {
        hg_status status = load(k, image, c);
        hg_free(image);
        if (status == HG_OK) return HG_OK;
        unload(c);
        hg_blob_cache_remove(k->device->cache, key);
    }
    HG_TRY(compile(k, full, &image, &bytes));
    hg_status status = load(k, image, c);
    if (status == HG_OK)
        (void)hg_blob_cache_put(k->device->cache, key, image, bytes);
    else
        unload(c);
    hg_free(image);
    return status;
}

/* ---- kernels ---- */

static bool is_flat(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_ID && v->u.imm == KIR_ID_THREAD) return true;
    return false;
}

hg_status cuda_code_create(hg_device *d, const hg_driver_code *made_for, hg_driver_kernel **kernel) {
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    hg_mutex_init(&k->lock);
    k->device = d;
    k->record = emit_device_c_record(&emit_cuda_dialect, made_for->module, made_for->layout);
    k->flat = is_flat(made_for->module);
    emit_kernel_name(made_for->module, k->name);
    hg_status status = emit_device_c(&emit_cuda_dialect, made_for->module, made_for->layout, "", &k->source);
    if (status == HG_OK) status = cuda_enter(d);
    if (status == HG_OK) {
        status = make_code(k, false, &k->own);
        cuda_leave();
    }
    if (k->own.most_lanes >= d->caps.max_block_lanes) hg_text_free(&k->source);
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
    hg_status status = cuda_check("cuLaunchKernel", CU_CALL(LaunchKernel, function, groups[0], groups[1], groups[2], group[0], group[1],
                                                            group[2], (unsigned)((x->group_memory + 7) / 8 * 8), stream,
                                                            k->record == EMIT_RECORD_NONE ? NULL : parameters, NULL));
    if (piece && kept) cuda_staging_keep(piece, kept);
    hg_status released = piece && !kept ? cuda_staging_release(d, stream, piece) : HG_OK;
    return status == HG_OK ? released : status;
}
