/* Readers that cost nothing but two stores. The barrier that their side leaves out is made by the
 * waiter on all CPUs that run a thread of this process (membarrier, Linux 4.14); where that cannot
 * be had, readers pay for one.
 * Must not know: what is looked at. */
#include "base/readers.h"

#if HG_HAS_THREADS

#include <sched.h>
#include <stddef.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

_Thread_local hg_reader *hg_reader_mine HG_TLS_INITIAL_EXEC;
bool hg_readers_asymmetric;

static _Alignas(64) hg_reader readers[HG_READERS];
static hg_once_flag once = HG_ONCE_INIT;
static pthread_key_t at_exit;
static bool usable;

/* membarrier(2) */
enum { BARRIER = 1 << 3, REGISTER = 1 << 4 };

static bool membarrier(int command) {
#if defined(__linux__) && defined(SYS_membarrier)
    return syscall(SYS_membarrier, command, 0, 0) == 0;
#else
    return command < 0;
#endif
}

static void release_reader(void *reader) {
    hg_reader *r = reader;
    hg_reader_mine = NULL;
    hg_atomic_store(&r->taken, 0, HG_SEQ_CST);
}

/* Only the thread that forked is in the child; it was not inside. */
static void forked(void) {
    for (int i = 0; i < HG_READERS; i++) {
        if (&readers[i] == hg_reader_mine) continue;
        readers[i].turns &= ~UINT64_C(1);
        readers[i].taken = 0;
    }
}

static void set_up(void) {
    usable = pthread_key_create(&at_exit, release_reader) == 0 &&
             pthread_atfork(NULL, NULL, forked) == 0;
    hg_readers_asymmetric = membarrier(REGISTER) && membarrier(BARRIER);
}

hg_reader *hg_reader_claim(void) {
    hg_once(&once, set_up);
    for (int i = 0; i < HG_READERS && usable; i++) {
        uint32_t free_one = 0;
        if (!hg_atomic_compare_exchange(&readers[i].taken, &free_one, 1, HG_SEQ_CST)) continue;
        if (pthread_setspecific(at_exit, &readers[i]) == 0) return hg_reader_mine = &readers[i];
        hg_atomic_store(&readers[i].taken, 0, HG_SEQ_CST);
        return NULL;
    }
    return NULL;
}

static bool alone(void) {
    for (int i = 0; i < HG_READERS; i++)
        if (&readers[i] != hg_reader_mine && hg_atomic_load(&readers[i].taken, HG_SEQ_CST))
            return false;
    return true;
}

void hg_readers_wait(void) {
    if (alone()) return;
    if (hg_readers_asymmetric) (void)membarrier(BARRIER);
    for (int i = 0; i < HG_READERS; i++) {
        uint64_t turn = hg_atomic_load(&readers[i].turns, HG_SEQ_CST);
        while (&readers[i] != hg_reader_mine && (turn & 1) &&
               hg_atomic_load(&readers[i].turns, HG_ACQUIRE) == turn)
            sched_yield();
    }
}

#else

hg_reader hg_reader_only;

#endif
