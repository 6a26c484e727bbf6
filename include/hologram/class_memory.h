/* Memory in and beside the 96 classes: the class allocator, buffers inside and outside of class
 * memory, the memory of a type's torus (5.14). */
#ifndef HOLOGRAM_CLASS_MEMORY_H
#define HOLOGRAM_CLASS_MEMORY_H

#include <hologram/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Says which classes are in use. It is for one context, whose class memory the classes are; it
 * holds no memory itself, and nothing keeps programs from using other classes. All functions but
 * destroy are thread-safe.
 */
typedef struct hg_class_allocator hg_class_allocator;
/** All classes are free. HG_ERROR_INVALID_ARGUMENT (NULL), HG_ERROR_OUT_OF_MEMORY. */
HG_API hg_status hg_class_allocator_create(hg_class_allocator **allocator) HG_NODISCARD;
/** What was allocated stays; NULL is allowed. */
HG_API void hg_class_allocator_destroy(hg_class_allocator *allocator);

/** Where memory was found. */
typedef struct hg_class_block {
    hg_buffer buffer; /**< one class: its handle; several: class memory as a whole (0); none: a
                         buffer of its own */
    uint64_t offset; /**< of the first byte in that buffer: class·12288 for several classes, else 0
                      */
    uint64_t bytes;  /**< as asked for */
    uint32_t first;  /**< class */
    uint32_t count;  /**< classes; 0: outside */
} hg_class_block;
/**
 * Memory for so many bytes: one class for up to 12,288 of them, the class freed last before the
 * lowest one that was not in use yet; consecutive classes for more, the lowest that are free. Where
 * more than 48 classes would be needed, or so many are not free side by side, it is an ordinary
 * buffer of the backend. Class memory is not cleared: it has what was there.
 * @param bytes  0 takes a class too
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT (NULL), errors of hg_backend_allocate_buffer
 */
HG_API hg_status hg_class_allocate(hg_class_allocator *allocator, hg_backend *backend,
                                   uint64_t bytes, hg_class_block *block) HG_NODISCARD;
/** Gives it back. HG_ERROR_INVALID_BUFFER: it is not in use. */
HG_API hg_status hg_class_free(hg_class_allocator *allocator, hg_backend *backend,
                               hg_class_block block) HG_NODISCARD;
/** Classes in use. 0 for NULL. */
HG_API uint32_t hg_class_allocator_used(hg_class_allocator *allocator);

/**
 * The handle of a class, inside class memory, for a rectangle of width pages and height bytes of
 * each: page p, byte b is byte p·256 + b of the buffer. Nothing is allocated, and nothing is to be
 * freed.
 * @return HG_OK, HG_ERROR_ISA (`invalid class index: {} (must be < 96)`; `invalid boundary
 * coordinates: …` for more than 48 pages or 256 bytes, naming the last one),
 * HG_ERROR_INVALID_ARGUMENT (NULL)
 */
HG_API hg_status hg_allocate_boundary(hg_backend *backend, uint64_t cls, uint64_t width,
                                      uint64_t height, hg_buffer *buffer) HG_NODISCARD;
/** A buffer outside class memory: hg_backend_allocate_buffer by another name. */
HG_API hg_status hg_allocate_class_free(hg_backend *backend, uint64_t bytes,
                                        hg_buffer *buffer) HG_NODISCARD;

/**
 * The memory of a type's torus: a pool of 96·ELEMENTS bytes (hg_torus_of(type).total), made when it
 * is first asked for and the same one for all types of a width. It belongs to the backend and goes
 * with it. Thread-safe.
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT (no type, NULL), HG_ERROR_ALLOCATION_FAILED (28 GB for
 * the widest)
 */
HG_API hg_status hg_backend_type_memory(hg_backend *backend, hg_type type,
                                        hg_pool *pool) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
