/* Memory that Atlas instructions keep in a context: phases and resonance accumulators, as kernels
 * and the host see it. The launch reads the *start* part, which does not change while it runs, and
 * adds to the *pending* part with atomics whose order does not matter; the host folds pending into
 * start between launches (runtime/context_state.c). All zero in a new context. Byte offsets; words
 * are u32.
 *
 * An accumulator is exact: a fixed-point number of HG_RESONANCE_WORDS words, least significant
 * first, whose lowest bit is 2^-1074, the smallest double. The largest one is below 2^2098 of them,
 * so 2^64 additions stay below 2^2162 and the sum of all classes below 2^2169. Start values are
 * two's complement; pending ones are magnitudes, the sums of positive and of negative additions
 * apart, so that an addition touches few words.
 * Must not know: programs, devices. */
#ifndef HG_ATLAS_STATE_H
#define HG_ATLAS_STATE_H

#include "base/base.h"

enum {
    HG_RESONANCE_WORDS = 68,             /* 2176 bits */
    HG_RESONANCE_TOTAL = HG_MAX_CLASSES, /* the start accumulator behind the classes: their sum, for
                                            unity.test eps */
    HG_RESONANCE_INF = 1,
    HG_RESONANCE_NEG_INF = 2,
    HG_RESONANCE_NAN = 4, /* flags */
    HG_PENDING_PHASE_BITS = 10,

    HG_STATE_PHASE = 0,                                             /* u32[96] */
    HG_STATE_FLAGS = HG_STATE_PHASE + 4 * HG_MAX_CLASSES,           /* u32[97], start */
    HG_STATE_RESONANCE = HG_STATE_FLAGS + 4 * (HG_MAX_CLASSES + 1), /* u32[97][HG_RESONANCE_WORDS]
                                                                     */
    HG_STATE_PENDING_FLAGS = HG_STATE_RESONANCE +
                             4 * (HG_MAX_CLASSES + 1) * HG_RESONANCE_WORDS, /* u32[96], atomic or */
    HG_STATE_PENDING_ADD = HG_STATE_PENDING_FLAGS +
                           4 * HG_MAX_CLASSES, /* u32[96][HG_RESONANCE_WORDS],
                                                  atomic add with carry */
    HG_STATE_PENDING_SUB = HG_STATE_PENDING_ADD + 4 * HG_MAX_CLASSES * HG_RESONANCE_WORDS,
    /* u64[96]: (global lane id + 1) << 10 | phase, 0: not written. atomic max; a lane that writes
       again compares and swaps its own. */
    HG_STATE_PENDING_PHASE = (HG_STATE_PENDING_SUB + 4 * HG_MAX_CLASSES * HG_RESONANCE_WORDS + 7) /
                             8 * 8,
    HG_STATE_BYTES = HG_STATE_PENDING_PHASE + 8 * HG_MAX_CLASSES
};

/* The double nearest to an accumulator (ties to even), of HG_RESONANCE_WORDS words in two's
 * complement, and its flags. Zero is +0. */
double hg_resonance_round(const uint32_t *words, uint32_t flags);
/* words += value (or flags |= …); -0 adds nothing. */
void hg_resonance_add(uint32_t *words, uint32_t *flags, double value);
/* Folds the pending parts of a state image into its start parts and clears them. image:
 * HG_STATE_BYTES, 8-byte aligned. */
void hg_state_fold(void *image);

#endif
