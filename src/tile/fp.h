/* Lanes of a device that flushes subnormals, as HOLOGRAM_PRETEND=poor wants them; all others run in
 * the default mode, in which every thread is here (base/fp.h). */
#ifndef HG_TILE_FP_H
#define HG_TILE_FP_H

#include "base/fp.h"

#if defined(__x86_64__)
static inline void tile_set_flushing(bool flush) {
    hg_mxcsr_write(flush ? HG_MXCSR_DEFAULT | HG_MXCSR_FLUSH : HG_MXCSR_DEFAULT);
}
#elif defined(__aarch64__)
static inline void tile_set_flushing(bool flush) { hg_fpcr_write(flush ? HG_FPCR_FLUSH : 0); }
#else
static inline void tile_set_flushing(bool flush) { (void)flush; }
#endif

static inline void fp_enter(bool flush) {
    if (HG_UNLIKELY(flush)) tile_set_flushing(true);
}
static inline void fp_leave(bool flush) {
    if (HG_UNLIKELY(flush)) tile_set_flushing(false);
}

#endif
