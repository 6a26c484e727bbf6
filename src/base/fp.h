/* The floating-point mode of a thread: rounding, flushing of subnormals, traps. Everything here is
 * worked out in the default mode (to nearest, subnormals kept, no traps), whatever mode the host's
 * thread is in, and the host finds its mode and its flags as they were.
 * docs/design/floating-point.md says where each guard stands.
 *
 * Where the mode is right already it is only read. Of the x87 unit the entry looks at the mode
 * only: nothing of ours computes there. What is not ours may, and its flags are put back behind it.
 * Must not know: who computes. */
#ifndef HG_BASE_FP_H
#define HG_BASE_FP_H

#include "base/compat.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)

enum {
    HG_MXCSR_DEFAULT = 0x1F80,
    HG_MXCSR_FLAGS = 0x3F,
    HG_MXCSR_FLUSH = 0x8040, /* FTZ and DAZ */
    HG_X87_DEFAULT = 0x37F,
    HG_X87_MODE = 0xF3F, /* rounding, precision, traps; of the other bits nothing is known */
    HG_X87_FLAGS = 0xBF
};

/* As the host had it. */
typedef struct hg_fp {
    uint32_t mxcsr;
    uint16_t x87;
} hg_fp;

static inline bool hg_fp_is_default(const hg_fp *fp) {
    return (fp->mxcsr & ~(uint32_t)HG_MXCSR_FLAGS) == HG_MXCSR_DEFAULT &&
           ((fp->x87 ^ HG_X87_DEFAULT) & HG_X87_MODE) == 0;
}

static inline void hg_fp_renew(void) {
    const hg_fp now = {hg_mxcsr_read(), hg_x87_control_read()};
    if (HG_LIKELY(hg_fp_is_default(&now))) return;
    hg_mxcsr_write(HG_MXCSR_DEFAULT | (now.mxcsr & HG_MXCSR_FLAGS));
    hg_x87_control_write(HG_X87_DEFAULT);
}

static inline hg_fp hg_fp_enter(void) {
    const hg_fp fp = {hg_mxcsr_read(), hg_x87_control_read()};
    if (HG_LIKELY(hg_fp_is_default(&fp))) return fp;
    hg_mxcsr_write(HG_MXCSR_DEFAULT);
    hg_x87_control_write(HG_X87_DEFAULT);
    return fp;
}

/* The flags are not looked at first: that waits for the lanes' last operations, which takes longer
 * than to write. The x87 unit's mode is the default one here, also behind what is not ours. */
static inline void hg_fp_leave(const hg_fp *fp) {
    hg_mxcsr_write(fp->mxcsr);
    if (HG_UNLIKELY((fp->x87 ^ HG_X87_DEFAULT) & HG_X87_MODE)) hg_x87_control_write(fp->x87);
}

typedef uint16_t hg_fp_flags;
static inline hg_fp_flags hg_fp_others_begin(void) {
    return (hg_fp_flags)(hg_x87_status_read() & HG_X87_FLAGS);
}
static inline void hg_fp_others_end(const hg_fp_flags *flags) {
    hg_fp_renew();
    if (HG_UNLIKELY((hg_x87_status_read() & HG_X87_FLAGS) != *flags)) hg_x87_flags_write(*flags);
}

#elif defined(__aarch64__)

enum { HG_FPCR_FLUSH = 1 << 24 };

typedef struct hg_fp {
    uint64_t fpcr, fpsr;
} hg_fp;

static inline void hg_fp_renew(void) {
    if (HG_UNLIKELY(hg_fpcr_read() != 0)) hg_fpcr_write(0);
}

static inline hg_fp hg_fp_enter(void) {
    const hg_fp fp = {hg_fpcr_read(), hg_fpsr_read()};
    if (HG_UNLIKELY(fp.fpcr != 0)) hg_fpcr_write(0);
    return fp;
}

static inline void hg_fp_leave(const hg_fp *fp) {
    if (hg_fpsr_read() != fp->fpsr) hg_fpsr_write(fp->fpsr);
    if (HG_UNLIKELY(hg_fpcr_read() != fp->fpcr)) hg_fpcr_write(fp->fpcr);
}

typedef uint8_t hg_fp_flags;
static inline hg_fp_flags hg_fp_others_begin(void) { return 0; }
static inline void hg_fp_others_end(const hg_fp_flags *flags) {
    (void)flags;
    hg_fp_renew();
}

#elif defined(__wasm__)

/* There is one mode. */
typedef struct hg_fp {
    uint8_t unused;
} hg_fp;
static inline void hg_fp_renew(void) {}
static inline hg_fp hg_fp_enter(void) { return (hg_fp){0}; }
static inline void hg_fp_leave(const hg_fp *fp) { (void)fp; }
typedef uint8_t hg_fp_flags;
static inline hg_fp_flags hg_fp_others_begin(void) { return 0; }
static inline void hg_fp_others_end(const hg_fp_flags *flags) { (void)flags; }

#else

/* Another CPU: what C17 has, which does not read before it writes. */
#include <fenv.h>
typedef struct hg_fp {
    fenv_t all;
} hg_fp;
static inline void hg_fp_renew(void) { (void)fesetenv(FE_DFL_ENV); }
static inline hg_fp hg_fp_enter(void) {
    hg_fp fp;
    (void)fegetenv(&fp.all);
    (void)fesetenv(FE_DFL_ENV);
    return fp;
}
static inline void hg_fp_leave(const hg_fp *fp) { (void)fesetenv(&fp->all); }
typedef uint8_t hg_fp_flags;
static inline hg_fp_flags hg_fp_others_begin(void) { return 0; }
static inline void hg_fp_others_end(const hg_fp_flags *flags) {
    (void)flags;
    hg_fp_renew();
}

#endif

/* The first line of every public function (tools/check): the default mode until it returns. */
#define HG_ENTRY HG_ENDED_BY(hg_fp_leave) const hg_fp hg_fp_of_host = hg_fp_enter()

/* The same in a function whose usual way, `moved`, only moves bytes and returns HG_OK: it is done
 * in whatever mode the host is in. */
#define HG_ENTRY_BEHIND(moved)          \
    if (HG_LIKELY(moved)) return HG_OK; \
    HG_ENTRY

/* The first line of a block in which a library or a function of the host's is called: what that
 * changes of the mode is undone behind it. */
#define HG_CALLS_OTHERS \
    HG_ENDED_BY(hg_fp_others_end) const hg_fp_flags hg_fp_before_others = hg_fp_others_begin()

#endif
