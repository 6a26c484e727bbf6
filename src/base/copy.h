/* memcpy for copies of a few KiB: there the C library's `rep movsb` takes longer to begin than a
 * loop of vectors takes (4 KiB, AMD EPYC: 74 and 49 ns), and what stands around it waits. Where the
 * CPU has no AVX, and for all other sizes, it is memcpy.
 * Must not know: what is copied. */
#ifndef HG_BASE_COPY_H
#define HG_BASE_COPY_H

#include "base/compat.h"
#include <string.h>

enum { HG_COPY_FEWEST = 1024, HG_COPY_MOST = 16384 };

#if defined(__x86_64__)
/* HG_COPY_FEWEST bytes at least, that do not overlap. */
void hg_copy_by_vectors(void *to, const void *from, size_t bytes);
static inline void hg_copy_bytes(void *to, const void *from, size_t bytes) {
    if (bytes - HG_COPY_FEWEST <= HG_COPY_MOST - HG_COPY_FEWEST)
        hg_copy_by_vectors(to, from, bytes);
    else
        memcpy(to, from, bytes);
}
#else
static inline void hg_copy_bytes(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}
#endif

#endif
