/* Executors: a backend with its configuration and a pool of buffers. Typed buffers and element-wise
 * operations on them. In C the element type is found by _Generic from a pointer, in C++ by
 * overloads. */
#ifndef HOLOGRAM_EXECUTOR_H
#define HOLOGRAM_EXECUTOR_H

#include <hologram/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A buffer with its element type and count. */
typedef struct hg_typed_buffer {
    hg_buffer buffer;
    hg_type type;
    uint64_t count;
} hg_typed_buffer;

/** count elements, zeroed. */
HG_API hg_status hg_allocate_typed(hg_backend *backend, hg_type type, uint64_t count,
                                   hg_typed_buffer *buffer) HG_NODISCARD;
HG_API hg_status hg_free_typed(hg_backend *backend, hg_typed_buffer buffer) HG_NODISCARD;
/** Copies exactly buffer.count elements; another count or type is HG_ERROR_INVALID_ARGUMENT. */
HG_API hg_status hg_copy_typed_to(hg_backend *backend, hg_typed_buffer buffer, hg_type type,
                                  const void *data, uint64_t count) HG_NODISCARD;
HG_API hg_status hg_copy_typed_from(hg_backend *backend, hg_typed_buffer buffer, hg_type type,
                                    void *data, uint64_t count) HG_NODISCARD;

/**
 * One element of any of the 24 types: zero, one, and from a double. Floats are rounded once, to
 * nearest even, beyond the largest one to infinity; integers are truncated and saturate, NaN gives
 * 0.
 * @param bytes  receives size(type) bytes, little-endian; needs no alignment
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT (no type, or NULL). Thread-safe.
 */
HG_API hg_status hg_type_zero(hg_type type, void *bytes) HG_NODISCARD;
HG_API hg_status hg_type_one(hg_type type, void *bytes) HG_NODISCARD;
HG_API hg_status hg_type_from_f64(hg_type type, double value, void *bytes) HG_NODISCARD;
/** One element as a double, rounded once to nearest even; a wide integer beyond the largest double
 * is infinity. Errors as above. */
HG_API hg_status hg_type_to_f64(hg_type type, const void *bytes, double *value) HG_NODISCARD;

/* ---- executors ---- */

/** Kinds of backends. */
typedef enum hg_backend_type {
    HG_BACKEND_AUTO,
    HG_BACKEND_CPU,
    HG_BACKEND_CUDA,
    HG_BACKEND_METAL,
    HG_BACKEND_WASM,
    HG_BACKEND_WEBGPU,
    HG_BACKEND_VULKAN,
    HG_BACKEND_OPENCL,
    HG_BACKEND_TPU,
    HG_BACKEND_NULL
} hg_backend_type;
/** "auto", "cpu", …; NULL for a number beyond them. */
HG_API const char *hg_backend_type_name(hg_backend_type type);
/** From its name in any case; "wgpu" is "webgpu". HG_ERROR_BACKEND_UNAVAILABLE `Invalid backend
 * type: …` for another word. */
HG_API hg_status hg_backend_type_from_name(const char *name, hg_backend_type *type) HG_NODISCARD;

/** A backend, how it was configured, and a pool of buffers that were freed. All calls but destroy
 * may come from any thread. */
typedef struct hg_executor hg_executor;

/** The first device in the automatic order (Metal, CUDA, in a browser WebGPU, Vulkan and OpenCL on
 * hardware, CPU). Where there is a CPU it does not fail. */
HG_API hg_status hg_executor_create_auto(hg_executor **executor) HG_NODISCARD;
/** One kind, device 0; HG_ERROR_BACKEND_UNAVAILABLE with the reason. Nothing takes its place. */
HG_API hg_status hg_executor_create_cpu(hg_executor **executor) HG_NODISCARD;
HG_API hg_status hg_executor_create_cuda(hg_executor **executor) HG_NODISCARD;
HG_API hg_status hg_executor_create_metal(hg_executor **executor) HG_NODISCARD;
HG_API hg_status hg_executor_create_webgpu(hg_executor **executor) HG_NODISCARD;
HG_API hg_status hg_executor_create_with_backend(hg_backend_type type,
                                                 hg_executor **executor) HG_NODISCARD;
/**
 * With a configuration (hg_config_default, hg_config_from_env, hg_config_load): its backend, device
 * and limits; its default grid and block; its pool; its log.
 *
 * @param executor  the new one; destroyed by hg_executor_destroy. NULL after an error
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE, HG_ERROR_INVALID_ARGUMENT, HG_ERROR_OUT_OF_MEMORY,
 *         HG_ERROR_WOULD_BLOCK: as hg_backend_create_with_config
 */
HG_API hg_status hg_executor_create_from_config(const hg_config *config,
                                                hg_executor **executor) HG_NODISCARD;
/**
 * Over a backend that is open, for hosts that must not wait: operations on tensors are recorded,
 * and what is recorded is appended to the queue when somebody asks (hg_tensor_submit). Whatever
 * would have to wait, as reading an element, is HG_ERROR_WOULD_BLOCK where the backend cannot.
 * Queue and backend stay the caller's, and outlive it.
 */
HG_API hg_status hg_executor_create_on_queue(hg_queue *queue, hg_executor **executor) HG_NODISCARD;
/** For bindings: the CPU; automatic; by a name ("auto", "cpu", "cuda", "metal", …). */
HG_API hg_status hg_ffi_new_executor(hg_executor **executor) HG_NODISCARD;
HG_API hg_status hg_ffi_new_executor_auto(hg_executor **executor) HG_NODISCARD;
HG_API hg_status hg_ffi_new_executor_with_backend(const char *backend,
                                                  hg_executor **executor) HG_NODISCARD;
/** Writes the profile where the configuration asks for one, and ends the backend with all its
 * buffers. No other call may be under way. NULL is allowed. Where launches that were started cannot
 * be waited for (in WebAssembly) everything stays as it is, hg_last_error has HG_ERROR_WOULD_BLOCK,
 * and it is to be called again when they are over. */
HG_API void hg_executor_destroy(hg_executor *executor);

/** The executor's backend, for every other call; it ends with the executor, unless that is over a
 * queue. NULL of NULL. */
HG_API hg_backend *hg_executor_backend(const hg_executor *executor);
/** What kind it is; of an automatic one what was found. */
HG_API hg_backend_type hg_executor_backend_type(const hg_executor *executor);
/** count elements, zeroed, from the pool where it has one of that size class. Given back by
 * hg_executor_free, else freed with the executor. Errors as hg_allocate_typed; where memory is
 * short the pool is emptied first. */
HG_API hg_status hg_executor_allocate(hg_executor *executor, hg_type type, uint64_t count,
                                      hg_typed_buffer *buffer) HG_NODISCARD;
/** Gives a buffer back, once nothing uses it: launches and copies with it are over. */
HG_API hg_status hg_executor_free(hg_executor *executor, hg_typed_buffer buffer) HG_NODISCARD;
/** Runs a program and waits. launch NULL: the grid and block of the configuration, else what the
 * program says. params NULL: none. Errors as hg_backend_execute_program_with_params. */
HG_API hg_status hg_executor_execute(hg_executor *executor, const hg_program *program,
                                     const hg_launch *launch, const hg_params *params) HG_NODISCARD;
/** hg_backend_write_profile of its backend. */
HG_API hg_status hg_executor_write_profile(hg_executor *executor, const char *path) HG_NODISCARD;

/** Bytes of an executor's buffers, in the sizes of their classes. */
typedef struct hg_executor_memory_info {
    size_t size;         /**< sizeof(hg_executor_memory_info); set by the caller */
    uint64_t used;       /**< of buffers that are allocated */
    uint64_t peak;       /**< the most there were */
    uint64_t kept;       /**< of freed buffers that are kept for later */
    uint64_t kept_count; /**< how many those are */
    uint64_t reused;     /**< allocations that took one of them */
} hg_executor_memory_info;
/** Reads them. HG_ERROR_INVALID_ARGUMENT: NULL, or a size that no version has. */
HG_API hg_status hg_executor_memory(hg_executor *executor,
                                    hg_executor_memory_info *info) HG_NODISCARD;
/** Frees kept buffers, those that were freed first, until no more than that many bytes are kept. */
HG_API hg_status hg_executor_trim(hg_executor *executor, uint64_t bytes) HG_NODISCARD;

/* ---- element-wise operations ---- */

/** Element-wise operation by its assembly name ("sqrt", "relu", …) over input.count elements; in
 * place is allowed. */
HG_API hg_status hg_execute_unary(hg_backend *backend, const char *operation, hg_typed_buffer input,
                                  hg_typed_buffer output) HG_NODISCARD;
/** "add", "sub", "mul", "div", "pow", "min", "max", "atan2". */
HG_API hg_status hg_execute_binary(hg_backend *backend, const char *operation, hg_typed_buffer lhs,
                                   hg_typed_buffer rhs, hg_typed_buffer output) HG_NODISCARD;
/** "sum", "product", "min", "max" into output[0], by the fixed tree. */
HG_API hg_status hg_execute_reduce(hg_backend *backend, const char *operation,
                                   hg_typed_buffer input, hg_typed_buffer output) HG_NODISCARD;

#ifdef __cplusplus
}
/* clang-format off */
inline hg_type hg_type_of(const float *) { return HG_TYPE_F32; }
inline hg_type hg_type_of(const double *) { return HG_TYPE_F64; }
inline hg_type hg_type_of(const int8_t *) { return HG_TYPE_I8; }
inline hg_type hg_type_of(const int16_t *) { return HG_TYPE_I16; }
inline hg_type hg_type_of(const int32_t *) { return HG_TYPE_I32; }
inline hg_type hg_type_of(const int64_t *) { return HG_TYPE_I64; }
inline hg_type hg_type_of(const uint8_t *) { return HG_TYPE_U8; }
inline hg_type hg_type_of(const uint16_t *) { return HG_TYPE_U16; }
inline hg_type hg_type_of(const uint32_t *) { return HG_TYPE_U32; }
inline hg_type hg_type_of(const uint64_t *) { return HG_TYPE_U64; }
/* clang-format on */
#else
/** The element type of a pointer to a C number. */
#define hg_type_of(pointer)          \
    _Generic(*(pointer), float       \
             : HG_TYPE_F32, double   \
             : HG_TYPE_F64, int8_t   \
             : HG_TYPE_I8, int16_t   \
             : HG_TYPE_I16, int32_t  \
             : HG_TYPE_I32, int64_t  \
             : HG_TYPE_I64, uint8_t  \
             : HG_TYPE_U8, uint16_t  \
             : HG_TYPE_U16, uint32_t \
             : HG_TYPE_U32, uint64_t \
             : HG_TYPE_U64)
#endif
/** hg_copy_typed_to / _from with the type taken from the pointer. */
#define hg_copy_to(backend, buffer, data, count) \
    hg_copy_typed_to((backend), (buffer), hg_type_of(data), (data), (count))
#define hg_copy_from(backend, buffer, data, count) \
    hg_copy_typed_from((backend), (buffer), hg_type_of(data), (data), (count))

#endif
