/* Programs: text, the driver's compiler, binaries kept on disk, kernels and their arguments.
 * Must not know: submissions. */
#include "backends/opencl/opencl_internal.h"
#include "base/deep.h"
#include <stdio.h>
#include <string.h>

#if defined(HG_OPENCL_HEADERS)

/* PoCL compiles a kernel when it first runs, for each size of a group, and once more for dispatches
 * of more than 65,535 invocations in a direction (grid_width_specialization_limit). Other drivers
 * compile less often. */
enum { NARROW = 65535 };
typedef struct group_size {
    uint32_t group[3];
    bool wide;
} group_size;

struct hg_driver_kernel {
    hg_device *device;
    cl_program program;
    cl_kernel kernel;
    uint8_t key[HG_BLOB_KEY_BYTES]; /* of the binary on disk */
    bool new_code;                  /* made from text and run */
    bool worth_keeping;             /* its binary */
    bool compiled;                  /* made from text */
    hg_mutex lock;                  /* arguments belong to the kernel, not to a dispatch */
    emit_record record;             /* how it takes the record */
    bool group_memory;
    bool flat;                      /* numbers invocations in one direction */
    uint64_t compile_ns;            /* what its compiler took so far */
    HG_VEC(group_size) group_sizes; /* that it was compiled for; under the lock */
};

/* ---- binaries on disk ---- */

static void hash_text(hg_blake3 *hash, const char *text) {
    hg_blake3_update(hash, text, strlen(text) + 1);
}

static void make_key(const hg_device *d, const hg_text *source, uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_blake3 hash;
    hg_blake3_init(&hash);
    hash_text(&hash, "opencl program 1");
    hash_text(&hash, d->caps.identity);
    hash_text(&hash, d->options);
    hg_blake3_update(&hash, source->data, source->length);
    hg_blake3_final(&hash, key);
}

/* On CPUs, where fetching a binary takes as long as compiling (PoCL compiles once more for it),
 * only the second process that compiles a program keeps its binary: the first leaves a mark. */
static bool is_worth_keeping(hg_device *d, const uint8_t key[HG_BLOB_KEY_BYTES]) {
    uint8_t mark[HG_BLOB_KEY_BYTES], *data;
    uint64_t size;
    if (!d->host_memory) return true;
    memcpy(mark, key, sizeof mark);
    mark[0] ^= 0xFF;
    if (hg_blob_cache_get(d->cache, mark, &data, &size)) {
        hg_free(data);
        return true;
    }
    (void)hg_blob_cache_put(d->cache, mark, "seen", 4);
    return false;
}

/* What took PoCL longer is not compiled once more for its binary: PoCL's own cache has it. */
#define QUICK_NS UINT64_C(2000000000)

/* When the kernel goes: PoCL makes a group function for every size of groups when it first runs,
 * and these are part of its binary, so that a later process compiles nothing (`hologram run` of a
 * small program: 0.01 s instead of 0.07 s on the CPU). */
static hg_status fetch_binary(void *user) {
    const hg_driver_kernel *k = user;
    size_t size = 0;
    if (CL_CALL(GetProgramInfo, k->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
            CL_SUCCESS ||
        size == 0)
        return HG_OK;
    unsigned char *binary = hg_alloc(size), *binaries[] = {binary};
    if (binary && CL_CALL(GetProgramInfo, k->program, CL_PROGRAM_BINARIES, sizeof binaries,
                          binaries, NULL) == CL_SUCCESS)
        (void)hg_blob_cache_put(k->device->cache, k->key, binary, size);
    hg_free(binary);
    return HG_OK;
}

/* PoCL compiles for it. What goes wrong is no error: there is no binary then. */
static void keep_binary(hg_driver_kernel *k) {
    if (!k->new_code || !k->worth_keeping || (k->device->host_memory && k->compile_ns > QUICK_NS))
        return;
    hg_error kept = *hg_error_record();
    HG_IGNORE(hg_call_deep(fetch_binary, k, "fetching a binary"));
    *hg_error_record() = kept;
}

/* NULL: there is none, or the driver does not take it. */
static cl_program from_disk(hg_device *d, const uint8_t key[HG_BLOB_KEY_BYTES]) {
    uint8_t *data;
    uint64_t bytes;
    cl_int error, of_binary = CL_SUCCESS;
    if (!hg_blob_cache_get(d->cache, key, &data, &bytes)) return NULL;
    size_t size = (size_t)bytes;
    const unsigned char *binary = data;
    cl_program program = CL_MAKE(error, CreateProgramWithBinary, d->context, 1, &d->id, &size,
                                 &binary, &of_binary);
    if (program &&
        (error || of_binary ||
         CL_CALL(BuildProgram, program, 1, &d->id, d->options, NULL, NULL) != CL_SUCCESS)) {
        opencl.ReleaseProgram(program);
        program = NULL;
    }
    if (!program) hg_blob_cache_remove(d->cache, key);
    hg_free(data);
    return program;
}

/* ---- the compiler ---- */

#define OTHER_ENTRY " -DHOLOGRAM_OTHER_ENTRY"

static hg_status build_failed(hg_device *d, cl_program program, const char *name, cl_int error) {
    size_t size = 0;
    if (error != CL_BUILD_PROGRAM_FAILURE) return opencl_check("clBuildProgram", error);
    (void)CL_CALL(GetProgramBuildInfo, program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = hg_calloc(size + 1, 1);
    if (log && size)
        (void)CL_CALL(GetProgramBuildInfo, program, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    hg_status status = hg_fail(HG_ERROR_INTERNAL,
                               "opencl: the driver's compiler refuses %s: %.600s", name,
                               log ? log : "");
    hg_free(log);
    return status;
}

static cl_int build_source(hg_device *d, const hg_text *source, const char *options,
                           cl_program *program) {
    cl_int error;
    const char *text = source->data;
    *program = CL_MAKE(error, CreateProgramWithSource, d->context, 1, &text, &source->length);
    return *program ? CL_CALL(BuildProgram, *program, 1, &d->id, options, NULL, NULL) : error;
}

/* Processes that build the same program at once wait for each other so long: PoCL 3.1 may read the
 * entry of its cache that another process is writing, and ends the process then. */
enum { CLAIM_MS = 5000 };

/* A refused program is built once more with an option that only makes the driver's own cache take
 * another entry: PoCL 3.1 refuses a sound program when another process makes the same entry at that
 * moment, or when something else stands in its place. */
static hg_status from_source(hg_device *d, const hg_text *source, const char *name,
                             cl_program *program) {
    cl_int error = build_source(d, source, d->options, program);
    if (error == CL_BUILD_PROGRAM_FAILURE) {
        char options[sizeof d->options + sizeof OTHER_ENTRY];
        snprintf(options, sizeof options, "%s%s", d->options, OTHER_ENTRY);
        opencl.ReleaseProgram(*program);
        error = build_source(d, source, options, program);
    }
    if (error == CL_SUCCESS) return HG_OK;
    hg_status status = *program ? build_failed(d, *program, name, error)
                                : opencl_check("clCreateProgramWithSource", error);
    if (*program) opencl.ReleaseProgram(*program);
    *program = NULL;
    return status;
}

static hg_status make_program(hg_driver_kernel *k, const hg_driver_code *code, const char *name) {
    hg_text source = {0};
    hg_status status = emit_device_c(&emit_opencl_dialect, code->module, code->layout, "", &source);
    if (status == HG_OK) {
        make_key(k->device, &source, k->key);
        k->program = from_disk(k->device, k->key);
        k->compiled = !k->program;
        if (k->compiled && hg_blob_cache_usable(k->device->cache))
            k->worth_keeping = is_worth_keeping(k->device, k->key);
        uint64_t start = hg_clock_ns();
        if (!k->program) {
            int claim = hg_blob_cache_claim(k->device->cache, k->key, CLAIM_MS);
            status = from_source(k->device, &source, name, &k->program);
            hg_blob_cache_release(claim);
        }
        k->compile_ns = hg_clock_ns() - start;
    }
    hg_text_free(&source);
    return status;
}

hg_status opencl_code_create(hg_device *d, const hg_driver_code *code, hg_driver_kernel **kernel) {
    char name[96];
    cl_int error;
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    hg_mutex_init(&k->lock);
    k->device = d;
    k->record = emit_device_c_record(&emit_opencl_dialect, code->module, code->layout);
    k->group_memory = code->layout->uses_group_memory;
    k->flat = kir_device_is_flat(code->module);
    emit_kernel_name(code->module, name);
    hg_status status = make_program(k, code, name);
    if (status == HG_OK) {
        k->kernel = CL_MAKE(error, CreateKernel, k->program, name);
        status = opencl_check("clCreateKernel", error);
    }
    if (status != HG_OK)
        opencl_kernel_destroy(k);
    else
        *kernel = k;
    return status;
}

void opencl_kernel_destroy(hg_driver_kernel *k) {
    if (!k) return;
    keep_binary(k);
    if (k->kernel) opencl.ReleaseKernel(k->kernel);
    if (k->program) opencl.ReleaseProgram(k->program);
    hg_vec_free(&k->group_sizes);
    hg_mutex_destroy(&k->lock);
    hg_free(k);
}

/* ---- dispatches ---- */

static hg_status set_slot(cl_kernel kernel, cl_uint index, const hg_range *slot) {
    cl_mem none = NULL;
    if (slot->arena && slot->arena->svm)
        CL_TRY(SetKernelArgSVMPointer, kernel, index, slot->arena->svm);
    else
        CL_TRY(SetKernelArg, kernel, index, sizeof(cl_mem),
               slot->arena ? &slot->arena->memory : &none);
    return HG_OK;
}

/* The record of a kernel that has too many parameters for one by value. The caller releases it when
 * the dispatch is enqueued. */
static hg_status set_record_buffer(hg_device *d, cl_kernel kernel, cl_uint index,
                                   const hg_driver_dispatch *x, cl_mem *buffer) {
    cl_int error;
    void *record = (void *)(uintptr_t)x->record; /* only read */
    *buffer = CL_MAKE(error, CreateBuffer, d->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                      x->record_bytes, record);
    HG_TRY(opencl_check("clCreateBuffer", error));
    CL_TRY(SetKernelArg, kernel, index, sizeof(cl_mem), buffer);
    return HG_OK;
}

static hg_status set_arguments(hg_device *d, const hg_driver_dispatch *x, cl_mem *buffer) {
    const hg_driver_kernel *k = x->kernel;
    cl_uint index = 0;
    if (d->caps.compiler.target.bind_arenas) HG_TRY(hg_driver_check_bound_once(x));
    for (; index < x->slot_count; index++) HG_TRY(set_slot(k->kernel, index, &x->slots[index]));
    if (k->group_memory) {
        size_t bytes = x->group_memory ? (size_t)(x->group_memory + 7) / 8 * 8 : 8;
        CL_TRY(SetKernelArg, k->kernel, index, bytes, NULL);
        index++;
    }
    if (k->record == EMIT_RECORD_VALUE)
        CL_TRY(SetKernelArg, k->kernel, index, x->record_bytes, x->record);
    if (k->record == EMIT_RECORD_BUFFER) HG_TRY(set_record_buffer(d, k->kernel, index, x, buffer));
    return HG_OK;
}

/* Groups and invocations of a dispatch in OpenCL's terms. False: there are none. */
static bool lay_out(const hg_driver_dispatch *x, size_t global[3], size_t local[3],
                    cl_uint *dimensions) {
    *dimensions = 1;
    for (int i = 0; i < 3; i++) {
        local[i] = x->group[i];
        global[i] = (size_t)x->groups[i] * x->group[i];
        if (global[i] == 0) return false;
        if (global[i] > 1) *dimensions = (cl_uint)i + 1;
    }
    if (!x->kernel->flat) return true;
    local[0] *= local[1] * local[2];
    global[0] *= global[1] * global[2];
    *dimensions = 1;
    return true;
}

hg_status opencl_enqueue(hg_device *d, cl_command_queue queue, const hg_driver_dispatch *x,
                         cl_event *event) {
    hg_driver_kernel *k = x->kernel;
    cl_mem buffer = NULL;
    size_t global[3], local[3];
    cl_uint dimensions;
    if (!lay_out(x, global, local, &dimensions)) return HG_OK;
    hg_mutex_lock(&k->lock);
    hg_status status = set_arguments(d, x, &buffer);
    if (status == HG_OK)
        status = opencl_check("clEnqueueNDRangeKernel",
                              CL_CALL(EnqueueNDRangeKernel, queue, k->kernel, dimensions, NULL,
                                      global, local, 0, NULL, event));
    k->new_code = k->compiled && status == HG_OK;
    hg_mutex_unlock(&k->lock);
    if (buffer) opencl.ReleaseMemObject(buffer);
    return status;
}

/* ---- the part of the compiler that runs with a dispatch ---- */

static bool is_wide(const hg_driver_dispatch *x) {
    size_t global[3], local[3];
    cl_uint dimensions = 0;
    bool wide = false;
    if (!x->kernel->device->host_memory || !lay_out(x, global, local, &dimensions)) return false;
    for (cl_uint i = 0; i < dimensions; i++) wide = wide || global[i] > NARROW;
    return wide;
}

bool opencl_code_is_ready(hg_driver_kernel *k, const hg_driver_dispatch *x) {
    bool wide = is_wide(x), found = false;
    hg_mutex_lock(&k->lock);
    for (uint64_t i = 0; i < k->group_sizes.count && !found; i++)
        found = k->group_sizes.data[i].wide == wide &&
                memcmp(k->group_sizes.data[i].group, x->group, sizeof x->group) == 0;
    hg_mutex_unlock(&k->lock);
    return found;
}

static hg_status remember(hg_driver_kernel *k, const hg_driver_dispatch *x) {
    hg_mutex_lock(&k->lock);
    group_size *s = hg_vec_push(&k->group_sizes);
    if (s) {
        memcpy(s->group, x->group, sizeof s->group);
        s->wide = is_wide(x);
    }
    hg_mutex_unlock(&k->lock);
    return s ? HG_OK : hg_fail_memory();
}

hg_status opencl_code_prepare(hg_driver_kernel *k, const hg_driver_dispatch *idle) {
    hg_driver_dispatch few = *idle;
    cl_int error;
    few.groups[0] = is_wide(idle) ? NARROW / few.group[0] + 1 : 1;
    few.groups[1] = few.groups[2] = 1;
    cl_command_queue queue = CL_MAKE(error, CreateCommandQueue, k->device->context, k->device->id,
                                     0);
    HG_TRY(opencl_check("clCreateCommandQueue", error));
    uint64_t start = hg_clock_ns();
    hg_status status = opencl_enqueue(k->device, queue, &few, NULL);
    if (status == HG_OK) status = opencl_check("clFinish", CL_CALL(Finish, queue));
    k->compile_ns += hg_clock_ns() - start;
    opencl.ReleaseCommandQueue(queue);
    return status == HG_OK ? remember(k, idle) : status;
}

#endif
