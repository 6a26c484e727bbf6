/* Short sections during which nothing they look at is freed, for the price of two plain stores: who
 * frees waits for those inside. A section calls nothing that frees. Copies of host memory find
 * their buffer so (runtime/memory.c); launches hold theirs by its handle. Why not a read lock: a
 * copy of 64 bytes takes 4.6 ns so and 8.7 under a read lock of pthreads, 18 with the table's mutex
 * taken twice, 3.5 without any; one of 4 KiB 44, 49, 54 and 44 ns, so with a read lock it would be
 * slower than 0.95 of memcpy's speed, which bench/spine.c asks for. One thread, AMD EPYC
 * (build/release/bench/bench_readers); a read lock's word would also be shared by all CPUs that
 * copy.
 * Must not know: what is looked at. */
#ifndef HG_BASE_READERS_H
#define HG_BASE_READERS_H

#include "base/compat.h"
#include "base/thread.h"

enum { HG_READERS = 128 };

/* One a thread, returned when the thread ends. Alone on its cache line. */
typedef struct hg_reader {
    uint64_t turns; /* odd: inside */
    uint32_t taken;
    uint8_t apart[52];
} hg_reader;

#if HG_HAS_THREADS
extern _Thread_local hg_reader *hg_reader_mine HG_TLS_INITIAL_EXEC;
extern bool hg_readers_asymmetric;
hg_reader *hg_reader_claim(void);

/* NULL when more than HG_READERS threads want one: then hold what you look at in another way. What
 * is read inside must be found through a sequentially consistent load; who removes it stores so,
 * then calls hg_readers_wait. */
static inline hg_reader *hg_reader_enter(void) {
    hg_reader *r = hg_reader_mine;
    if (!r && !(r = hg_reader_claim())) return NULL;
    if (hg_readers_asymmetric) {
        hg_atomic_store(&r->turns, r->turns + 1, HG_RELAXED);
        hg_atomic_signal_fence(HG_SEQ_CST); /* the waiter's barrier runs on this CPU too */
    } else {
        hg_atomic_exchange(&r->turns, r->turns + 1, HG_SEQ_CST);
    }
    return r;
}

static inline void hg_reader_leave(hg_reader *r) {
    hg_atomic_store(&r->turns, r->turns + 1, HG_RELEASE);
}

/* Returns when all who were inside have left. Not from inside. */
void hg_readers_wait(void);
#else
extern hg_reader hg_reader_only;
static inline hg_reader *hg_reader_enter(void) { return &hg_reader_only; }
static inline void hg_reader_leave(hg_reader *r) { (void)r; }
static inline void hg_readers_wait(void) {}
#endif

#endif
