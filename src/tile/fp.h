/* The floating-point environment of a thread while it runs lanes: to nearest, no traps, subnormals kept (poor: flushed). */
#ifndef HG_TILE_FP_H
#define HG_TILE_FP_H

#include "base/compat.h"

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>

typedef unsigned fp_state;
static inline fp_state fp_enter(bool flush) {
    enum { DEFAULT = 0x1F80, FLUSH = 0x8040, FLAGS = 0x3F };
    unsigned old = _mm_getcsr(), wanted = flush ? DEFAULT | FLUSH : DEFAULT;
    if ((old & ~(unsigned)FLAGS) != wanted) _mm_setcsr(wanted);
    return old;
}
static inline void fp_leave(fp_state old) {
    if ((_mm_getcsr() ^ old) & ~0x3Fu) _mm_setcsr(old);
}
#elif defined(__aarch64__)
typedef uint64_t fp_state;
static inline fp_state fp_enter(bool flush) {
    uint64_t old = hg_fpcr_read(), wanted = flush ? UINT64_C(1) << 24 : 0;
    if (old != wanted) hg_fpcr_write(wanted);
    return old;
}
static inline void fp_leave(fp_state old) { hg_fpcr_write(old); }
#else
typedef int fp_state;
static inline fp_state fp_enter(bool flush) { return (int)flush; }
static inline void fp_leave(fp_state old) { (void)old; }
#endif

#endif
