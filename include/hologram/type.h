/* The 24 element types of Atlas ISA. */
#ifndef HOLOGRAM_TYPE_H
#define HOLOGRAM_TYPE_H

#include <hologram/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hg_type {
#define HG_TYPE(id, text, bytes, kind) HG_TYPE_##id,
#include "types.def"
#undef HG_TYPE
    HG_TYPE_COUNT
} hg_type;

/** Bytes of one element, 1 … 512; 0 for a value that is no type. */
HG_API uint64_t hg_type_size_bytes(hg_type type);
/** f16, bf16, f32, f64. */
HG_API bool hg_type_is_float(hg_type type);
HG_API bool hg_type_is_integer(hg_type type);
/** Signed integers and all floats. */
HG_API bool hg_type_is_signed(hg_type type);
HG_API bool hg_type_is_unsigned(hg_type type);
/** Lower-case name, "f32"; "?" for a value that is no type. Static. */
HG_API const char *hg_type_name(hg_type type);
/** Reads a name exactly as hg_type_name writes it. Returns false and leaves *type alone otherwise.
 */
HG_API bool hg_type_from_name(const char *name, size_t length, hg_type *type);

#ifdef __cplusplus
}
#endif
#endif
