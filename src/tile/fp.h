/* The floating-point environment of a thread while it runs lanes: to nearest, no traps, subnormals kept (poor: flushed). */
#ifndef HG_TILE_FP_H
#define HG_TILE_FP_H

#include "base/compat.h"

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>

/* Reading it takes as long as 64 additions of vectors: only once a launch. */
typedef struct fp_state {
    unsigned old;
    bool changed;
} fp_state;
static inline fp_state fp_enter(bool flush) {
    enum { DEFAULT = 0x1F80, FLUSH = 0x8040, FLAGS = 0x3F };
    unsigned old = _mm_getcsr(), wanted = flush ? DEFAULT | FLUSH : DEFAULT;
    bool changed = (old & ~(unsigned)FLAGS) != wanted;
    if (changed) _mm_setcsr(wanted);
    return (fp_state){old, changed};
}
static inline void fp_leave(fp_state fp) {
    if (fp.changed) _mm_setcsr(fp.old);
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
