/* Structures of the public interface that begin with their size. The size says which header the
 * caller was compiled with: an older one lacks the last fields, which take their defaults; a newer
 * one has more, which must be zero. The rules are those of Linux's copy_struct_from_user. Must not
 * know: what the fields mean. */
#ifndef HG_BASE_SIZED_H
#define HG_BASE_SIZED_H

#include "base/base.h"

/* A larger size is no structure of any version but memory that nobody filled. */
enum { HG_SIZED_MOST = 4096 };

typedef struct hg_sized {
    const char *name;               /* "hg_launch" */
    size_t least, known, alignment; /* bytes that a caller must give; those of this library's own
                                       structure */
    const char *advice;             /* how to fill it */
} hg_sized;

/* The size of a structure whose last field is `field`. */
#define HG_SIZE_THROUGH(type, field)                                                              \
    ((offsetof(type, field) + sizeof(((type *)0)->field) + _Alignof(type) - 1) / _Alignof(type) * \
     _Alignof(type))
/* `field` is the last one without which a call makes no sense. */
#define HG_SIZED(type, field, advice) \
    { #type, HG_SIZE_THROUGH(type, field), sizeof(type), _Alignof(type), (advice) }

/* HG_ERROR_INVALID_ARGUMENT with a message for a size that no version of the structure has. */
hg_status hg_sized_check(const hg_sized *s, size_t size) HG_NODISCARD;
/* Copies the caller's structure over `own`, which is of this library's size and holds the defaults.
 * Nothing is read beyond the caller's size. HG_ERROR_INVALID_ARGUMENT: a bad size, or a field that
 * this library does not know is set. */
hg_status hg_sized_take(const hg_sized *s, const void *given, void *own) HG_NODISCARD;
/* Copies `own` to a caller's structure of `size` bytes, which hg_sized_check has seen: what does
 * not fit is left out, what the library does not know is zero. The size in it is the caller's. */
void hg_sized_give(const hg_sized *s, const void *own, void *given, size_t size);

#endif
