/* Typed buffers and the generic executor. In C the element type is found by _Generic from a
 * pointer, in C++ by overloads. */
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
