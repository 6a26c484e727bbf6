/* Tensors: arrays with a shape and strides on a device, and operations on them (ops.h). */
#ifndef HOLOGRAM_TENSOR_H
#define HOLOGRAM_TENSOR_H

#include <hologram/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The type of a tensor's elements: an hg_type, or one of these. */
typedef uint32_t hg_element;
enum {
    HG_ELEMENT_BOOL = 64,      /**< a byte of 0 or 1 */
    HG_ELEMENT_COMPLEX64 = 65, /**< a pair of f32: the real part, the imaginary part */
    HG_ELEMENT_COMPLEX128 = 66 /**< a pair of f64 */
};
/** "f32", "bool", "complex64"; "?" of what is no type. Static. */
HG_API const char *hg_element_name(hg_element type);
/** Bytes of one; 0 of what is no type. */
HG_API uint64_t hg_element_size(hg_element type);
/** From its name; false: there is none, and *type stays. */
HG_API bool hg_element_from_name(const char *name, hg_element *type);
/** The type of the result of an operation on both, as the Python array standard and, where that is
 * silent, NumPy say; HG_TYPE_COUNT: there is none. */
HG_API hg_element hg_element_promote(hg_element a, hg_element b);

/** Axes that a tensor has at most. */
enum { HG_TENSOR_AXES = 8 };

/**
 * A tensor: a type, a shape, strides, and memory that it may share with others. It is reference
 * counted, its shape never changes, and calls may come from any thread; elements that one thread
 * writes while another reads them have either value. Made by a call, it is the caller's, who
 * releases it. A tensor outlives its executor, but then has no elements any more.
 */
typedef struct hg_tensor hg_tensor;

/** One more owner. Returns tensor. NULL is allowed. */
HG_API hg_tensor *hg_tensor_retain(hg_tensor *tensor);
/** One owner less; the last frees it, and its memory when no view is left. NULL is allowed. */
HG_API void hg_tensor_release(hg_tensor *tensor);

/** Told that memory of the caller's is not needed any more, by the thread that lets go of it last:
 * it may release tensors, but call nothing that reads, writes or makes them. */
typedef void hg_tensor_freed(void *user);

/* ---- making ---- */

/**
 * count elements of host memory in C order, copied.
 * @param executor  where it lies; NULL: in memory of the host, until an operation takes it to an
 * executor
 * @param shape     ndim extents; their product is count, else HG_ERROR_INVALID_ARGUMENT `Tensor
 * shape mismatch: …`
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT, HG_ERROR_ALLOCATION_FAILED, HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_tensor_from_host(hg_executor *executor, hg_element type, const void *data,
                                     uint64_t count, const uint64_t *shape, uint32_t ndim,
                                     hg_tensor **tensor) HG_NODISCARD;
/**
 * The same memory, not copied where the device sees the host's (the CPU does) and strides are whole
 * elements: writes are seen by both. Elsewhere it is copied, and by an executor over a queue
 * (hg_executor_create_on_queue).
 * @param strides  in elements; NULL: in C order
 * @param release  called once with user, when the memory is not needed any more; NULL: the caller
 * keeps it long enough. Called when the call fails too
 */
HG_API hg_status hg_tensor_wrap_host(hg_executor *executor, hg_element type, void *data,
                                     const uint64_t *shape, const int64_t *strides, uint32_t ndim,
                                     hg_tensor_freed *release, void *user,
                                     hg_tensor **tensor) HG_NODISCARD;
/** The first elements of a buffer of the executor, in C order; the buffer stays the caller's and
 * must outlive the tensor and its views. Its shape must fit: `Tensor shape mismatch: …`. */
HG_API hg_status hg_tensor_from_buffer(hg_executor *executor, hg_typed_buffer buffer,
                                       const uint64_t *shape, uint32_t ndim,
                                       hg_tensor **tensor) HG_NODISCARD;
/** Elements that are not set to anything. */
HG_API hg_status hg_tensor_empty(hg_executor *executor, hg_element type, const uint64_t *shape,
                                 uint32_t ndim, hg_tensor **tensor) HG_NODISCARD;
HG_API hg_status hg_tensor_zeros(hg_executor *executor, hg_element type, const uint64_t *shape,
                                 uint32_t ndim, hg_tensor **tensor) HG_NODISCARD;
HG_API hg_status hg_tensor_ones(hg_executor *executor, hg_element type, const uint64_t *shape,
                                uint32_t ndim, hg_tensor **tensor) HG_NODISCARD;
/** All elements value, converted as hg_type_from_f64 does; of complex ones the real part. */
HG_API hg_status hg_tensor_full(hg_executor *executor, hg_element type, double value,
                                const uint64_t *shape, uint32_t ndim,
                                hg_tensor **tensor) HG_NODISCARD;
/** start, start + step, … before stop, with NumPy's bits: of floats the second is start + step, and
 * the others go on by the distance of these two. */
HG_API hg_status hg_tensor_arange(hg_executor *executor, hg_element type, double start, double stop,
                                  double step, hg_tensor **tensor) HG_NODISCARD;
/** count numbers from start to stop, both included, in equal steps, with NumPy's bits: worked out
 * in f64; integers toward minus infinity. */
HG_API hg_status hg_tensor_linspace(hg_executor *executor, hg_element type, double start,
                                    double stop, uint64_t count, hg_tensor **tensor) HG_NODISCARD;
/** 1 where column = row + diagonal, else 0. */
HG_API hg_status hg_tensor_eye(hg_executor *executor, hg_element type, uint64_t rows,
                               uint64_t columns, int64_t diagonal, hg_tensor **tensor) HG_NODISCARD;
/** Uniform in [0, 1), of a type of floats. The same for a seed on every device and for every shape
 * with as many elements: element i is word i mod 4 of Philox4x32-10 with key seed and counter i /
 * 4, its upper 24 bits times 2^-24 (f16: 11, bf16: 8); of f64 53 bits of words 2 i and 2 i + 1. */
HG_API hg_status hg_tensor_rand(hg_executor *executor, hg_element type, uint64_t seed,
                                const uint64_t *shape, uint32_t ndim,
                                hg_tensor **tensor) HG_NODISCARD;
/** Integers from low to below high, none beyond 2^53, of words 2 i and 2 i + 1 of that stream: the
 * upper half of their product with high - low. */
HG_API hg_status hg_tensor_randint(hg_executor *executor, hg_element type, int64_t low,
                                   int64_t high, uint64_t seed, const uint64_t *shape,
                                   uint32_t ndim, hg_tensor **tensor) HG_NODISCARD;
/** Normal, by Box and Muller from that stream; halves are worked out in f32. */
HG_API hg_status hg_tensor_normal(hg_executor *executor, hg_element type, double mean,
                                  double deviation, uint64_t seed, const uint64_t *shape,
                                  uint32_t ndim, hg_tensor **tensor) HG_NODISCARD;
/**
 * An array of a file: a .npy, a member of a .npz, or a tensor of a safetensors file, told by its
 * first bytes. Fortran order becomes a view.
 * @param executor  where it lies; NULL: in memory of the host
 * @param name      of a .npz or safetensors file; NULL: the only one that it has
 * @return HG_OK; HG_ERROR_IO, HG_ERROR_INVALID_ARGUMENT: what is wrong and, of safetensors, at
 * which byte; HG_ERROR_OUT_OF_MEMORY, HG_ERROR_ALLOCATION_FAILED
 */
HG_API hg_status hg_tensor_load(hg_executor *executor, const char *path, const char *name,
                                hg_tensor **tensor) HG_NODISCARD;
/**
 * Writes a file, whole or not at all: by its name .npz, .safetensors, or else one array as .npy.
 * In .npy and .npz bf16 are u16, and integers of more than 64 bits have a last axis of u64.
 * @param names  of count tensors, each another; NULL for a .npy
 */
HG_API hg_status hg_tensor_save(const char *path, const hg_tensor *const *tensors,
                                const char *const *names, uint32_t count) HG_NODISCARD;

/* ---- what it is ---- */

HG_API hg_element hg_tensor_type(const hg_tensor *tensor);
/** Number of axes. */
HG_API uint32_t hg_tensor_ndim(const hg_tensor *tensor);
/** ndim extents, valid while the tensor is. */
HG_API const uint64_t *hg_tensor_shape(const hg_tensor *tensor);
/** ndim strides, in elements. */
HG_API const int64_t *hg_tensor_strides(const hg_tensor *tensor);
/** Number of elements; 1 without axes. */
HG_API uint64_t hg_tensor_numel(const hg_tensor *tensor);
/** Whether its elements lie one after another in C order. */
HG_API bool hg_tensor_is_contiguous(const hg_tensor *tensor);
/** Its executor; NULL: it has none yet, or that is destroyed. */
HG_API hg_executor *hg_tensor_executor(const hg_tensor *tensor);
/** Whether the shapes broadcast: from the last axis on, extents are equal or one of them is 1. */
HG_API bool hg_tensor_is_broadcast_compatible_with(const hg_tensor *tensor, const hg_tensor *other);

/* ---- elements ---- */

/**
 * Copies all elements in C order, whatever the strides. Waits for what makes them.
 * @param count  numel, else HG_ERROR_INVALID_ARGUMENT `Invalid buffer size: …`
 */
HG_API hg_status hg_tensor_to_host(const hg_tensor *tensor, void *data,
                                   uint64_t count) HG_NODISCARD;
/** Writes all elements, in C order, into a tensor or a view. Seen by all that share the memory;
 * what scopes of this thread and tensors of hg_tensor_lazy read of it is read before. Elements that
 * a view has several times are refused. */
HG_API hg_status hg_tensor_copy_from_host(hg_tensor *tensor, const void *data,
                                          uint64_t count) HG_NODISCARD;
/**
 * Where its elements lie, for programs that read or write them: what is recorded runs first. The
 * buffer is the tensor's; a binding keeps its memory.
 * @param offset  receives the byte of its first element in the buffer, which may be larger
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: it has no elements, or lies in memory of the host
 * (hg_tensor_to). Thread-safe.
 */
HG_API hg_status hg_tensor_buffer(const hg_tensor *tensor, hg_buffer *buffer,
                                  uint64_t *offset) HG_NODISCARD;
/** The value of a tensor with one element; complex ones are refused. */
HG_API hg_status hg_tensor_item(const hg_tensor *tensor, double *value) HG_NODISCARD;
/** The same of any type: value receives the real and the imaginary part. */
HG_API hg_status hg_tensor_item_complex(const hg_tensor *tensor, double value[2]) HG_NODISCARD;
/** Shape, type and elements as text, the middle of long axes left out; freed by hg_string_free. */
HG_API hg_status hg_tensor_print(const hg_tensor *tensor, char **text) HG_NODISCARD;

/* ---- views: nothing is copied but where it is said ---- */

/** Without that axis, at index i; both may count from the end with negative numbers. `Invalid
 * dimension: …`. */
HG_API hg_status hg_tensor_select(const hg_tensor *tensor, int32_t dim, int64_t index,
                                  hg_tensor **view) HG_NODISCARD;
/** length elements of that axis from start on. */
HG_API hg_status hg_tensor_narrow(const hg_tensor *tensor, int32_t dim, uint64_t start,
                                  uint64_t length, hg_tensor **view) HG_NODISCARD;
/** Of an axis the indices start, start + step, … before stop, as Python's slices: negative numbers
 * count from the end, those beyond it are cut. Step may be negative, not 0. INT64_MIN and INT64_MAX
 * for stop: to the end. */
HG_API hg_status hg_tensor_slice(const hg_tensor *tensor, int32_t dim, int64_t start, int64_t stop,
                                 int64_t step, hg_tensor **view) HG_NODISCARD;
/** The last two axes of a tensor of two axes swapped; of more axes use hg_tensor_permute. */
HG_API hg_status hg_tensor_transpose(const hg_tensor *tensor, hg_tensor **view) HG_NODISCARD;
/** Axis i of the view is axis order[i]; each once. */
HG_API hg_status hg_tensor_permute(const hg_tensor *tensor, const int32_t *order, uint32_t count,
                                   hg_tensor **view) HG_NODISCARD;
/** Another shape of as many elements in C order: a view where strides allow it, else a copy. One
 * extent may be UINT64_MAX: what is left. */
HG_API hg_status hg_tensor_reshape(const hg_tensor *tensor, const uint64_t *shape, uint32_t ndim,
                                   hg_tensor **result) HG_NODISCARD;
/** All elements as one axis: hg_tensor_reshape. */
HG_API hg_status hg_tensor_view_1d(const hg_tensor *tensor, hg_tensor **result) HG_NODISCARD;
/** Extents of 1, and axes in front, repeated. */
HG_API hg_status hg_tensor_broadcast_to(const hg_tensor *tensor, const uint64_t *shape,
                                        uint32_t ndim, hg_tensor **view) HG_NODISCARD;
/** With an axis of 1 at that place, 0 to ndim. */
HG_API hg_status hg_tensor_unsqueeze(const hg_tensor *tensor, int32_t dim,
                                     hg_tensor **view) HG_NODISCARD;
/** Without that axis, whose extent is 1. */
HG_API hg_status hg_tensor_squeeze(const hg_tensor *tensor, int32_t dim,
                                   hg_tensor **view) HG_NODISCARD;
/** Those axes backwards; count 0: all. */
HG_API hg_status hg_tensor_flip(const hg_tensor *tensor, const int32_t *dims, uint32_t count,
                                hg_tensor **view) HG_NODISCARD;
/** One axis at another place, the others in their order. */
HG_API hg_status hg_tensor_move_axis(const hg_tensor *tensor, int32_t from, int32_t to,
                                     hg_tensor **view) HG_NODISCARD;
/** count views, one behind the other along an axis.
 * @param sizes  of each, together the extent; NULL: equal ones
 * @param views  receives count tensors, which the caller releases; NULLs after an error */
HG_API hg_status hg_tensor_split(const hg_tensor *tensor, int32_t dim, const uint64_t *sizes,
                                 uint32_t count, hg_tensor **views) HG_NODISCARD;
/** A view of each with the shape that all broadcast to; views as in hg_tensor_split. */
HG_API hg_status hg_tensor_broadcast_arrays(const hg_tensor *const *tensors, uint32_t count,
                                            hg_tensor **views) HG_NODISCARD;
/** Of tensors of one axis, or none, views with an axis for each of them: view i has the elements of
 * tensor i along axis i; with xy the first two axes are swapped. Views as in hg_tensor_split. */
HG_API hg_status hg_tensor_meshgrid(const hg_tensor *const *tensors, uint32_t count, bool xy,
                                    hg_tensor **views) HG_NODISCARD;
/** Complex elements as pairs of f32 or f64: a last axis more, of the real and the imaginary part.
 */
HG_API hg_status hg_tensor_view_as_real(const hg_tensor *tensor, hg_tensor **view) HG_NODISCARD;
/** Pairs of f32 or f64, the last axis, as complex elements. HG_ERROR_INVALID_ARGUMENT where the two
 * of a pair do not lie side by side, or pairs at odd places. */
HG_API hg_status hg_tensor_view_as_complex(const hg_tensor *tensor, hg_tensor **view) HG_NODISCARD;
/** The tensor itself where it is contiguous, else a copy. */
HG_API hg_status hg_tensor_contiguous(const hg_tensor *tensor, hg_tensor **result) HG_NODISCARD;
/** On an executor: itself where it is there, else a copy. */
HG_API hg_status hg_tensor_to(const hg_tensor *tensor, hg_executor *executor,
                              hg_tensor **result) HG_NODISCARD;

/* ---- scopes ---- */

/**
 * The same tensor, whose operations are recorded from now on, with their results', until somebody
 * reads an element of one: what is recorded so far runs as one array graph then. Without
 * hg_scope_begin; on any thread.
 */
HG_API hg_status hg_tensor_lazy(const hg_tensor *tensor, hg_tensor **result) HG_NODISCARD;

/**
 * Appends what is recorded for a tensor's elements to its executor's queue
 * (hg_executor_create_on_queue). What is appended to that queue later finds them.
 * @param signal  receives a new event that the caller destroys. It is done when all is over that
 * was appended until now, and carries the first error: no tensor of the executor can be relied on
 * then
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: the executor has no queue; errors that are known before
 * anything runs
 */
HG_API hg_status hg_tensor_submit(const hg_tensor *tensor, hg_event **signal) HG_NODISCARD;

/** Operations of this thread on one executor that are recorded, to be run as one array graph. */
typedef struct hg_tensor_scope hg_tensor_scope;
/**
 * From here on operations of this thread on that executor are recorded instead of run, until
 * hg_scope_end. Reading an element runs what is recorded so far, and so does writing one that was
 * recorded to be read. Scopes of one thread end in the reverse order.
 */
HG_API hg_status hg_scope_begin(hg_executor *executor, hg_tensor_scope **scope) HG_NODISCARD;
/** Runs what is recorded, and frees the scope. Results that nobody holds any more are not kept, and
 * what only they need is not done. After an error no result has elements; the message names the
 * operation. NULL is allowed. */
HG_API hg_status hg_scope_end(hg_tensor_scope *scope) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
