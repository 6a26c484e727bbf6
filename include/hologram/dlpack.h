/* Tensors handed to other libraries, and taken from them, without copies: DLPack 1.1, and the
 * structure of versions before 1.0. The structures are those of its public ABI (DLManagedTensor,
 * DLManagedTensorVersioned), so that a pointer to one is a pointer to the other. */
#ifndef HOLOGRAM_DLPACK_H
#define HOLOGRAM_DLPACK_H

#include <hologram/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HG_DLPACK_MAJOR = 1, HG_DLPACK_MINOR = 1 };
/** DLDataTypeCode */
typedef enum hg_dlpack_code {
    HG_DLPACK_INT = 0,
    HG_DLPACK_UINT = 1,
    HG_DLPACK_FLOAT = 2,
    HG_DLPACK_BFLOAT = 4,
    HG_DLPACK_COMPLEX = 5,
    HG_DLPACK_BOOL = 6
} hg_dlpack_code;
/** Bits of hg_dlpack_versioned.flags. */
enum {
    HG_DLPACK_READ_ONLY = 1, /**< nobody may write the elements */
    HG_DLPACK_IS_COPIED = 2  /**< they are a copy made for the receiver */
};

/** DLTensor */
typedef struct hg_dlpack_tensor {
    void *data;
    int32_t device_type; /**< an hg_memory_kind */
    int32_t device_id;
    int32_t ndim;
    uint8_t code; /**< hg_dlpack_code */
    uint8_t bits;
    uint16_t lanes; /**< 1 */
    int64_t *shape;
    int64_t *strides; /**< in elements; NULL: C order */
    uint64_t byte_offset;
} hg_dlpack_tensor;
/** DLManagedTensor */
typedef struct hg_dlpack_managed {
    hg_dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct hg_dlpack_managed *self); /**< NULL: there is nothing to do */
} hg_dlpack_managed;
/** DLManagedTensorVersioned */
typedef struct hg_dlpack_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct hg_dlpack_versioned *self); /**< NULL: there is nothing to do */
    uint64_t flags;
    hg_dlpack_tensor tensor;
} hg_dlpack_versioned;

/**
 * A tensor for another library, which calls the deleter once, from any thread, when it is done.
 * Memory of the host and of CUDA devices is shared, and what is recorded runs first; elements of
 * other devices are copied to the host. The executor must outlive what shares its memory.
 * @param versioned  *managed is an hg_dlpack_versioned ("dltensor_versioned"), else an
 * hg_dlpack_managed ("dltensor")
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: an integer of more than 64 bits; HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_tensor_to_dlpack(const hg_tensor *tensor, bool versioned,
                                     void **managed) HG_NODISCARD;
/**
 * A tensor of another library. Its memory is shared where the executor's device sees it, else
 * copied; what is read-only is copied. After HG_OK the library calls the deleter, when the last
 * view is gone or at once; after an error the caller still does.
 * @param executor  NULL: in memory of the host
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT, HG_ERROR_BACKEND_UNAVAILABLE: a version, device, type
 * or shape that is not known here; HG_ERROR_OUT_OF_MEMORY, HG_ERROR_ALLOCATION_FAILED
 */
HG_API hg_status hg_tensor_from_dlpack(hg_executor *executor, void *managed, bool versioned,
                                       hg_tensor **tensor) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
