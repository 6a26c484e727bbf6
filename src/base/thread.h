/* Mutexes, threads, clock. In WebAssembly no thread ever starts but those of the pool, which are
 * workers that the host has started (hg_worker_start); nothing there waits for another thread but a
 * worker, so that it may be a page's main thread.
 * Must not know: what runs. */
#ifndef HG_BASE_THREAD_H
#define HG_BASE_THREAD_H

#include "base/compat.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__wasm__)
#define HG_HAS_THREADS 0
#else
#define HG_HAS_THREADS 1
#include <pthread.h>
#endif

#if HG_HAS_THREADS
typedef pthread_mutex_t hg_mutex;
typedef pthread_cond_t hg_cond;
typedef pthread_t hg_thread;
typedef pthread_once_t hg_once_flag;
#define HG_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define HG_COND_INIT PTHREAD_COND_INITIALIZER
#define HG_ONCE_INIT PTHREAD_ONCE_INIT
#define HG_THREAD_LOCAL _Thread_local
#define HG_EACH_THREAD
#define HG_FIRST(...) __VA_ARGS__
#define HG_OWN(name) name
static inline bool hg_thread_has_code(uintptr_t function) { return function != 0; }
static inline uint32_t hg_worker_number(void) { return 0; } /* below */
#else
typedef struct hg_mutex {
    uint32_t word; /* 0 free, 1 held, 2 held and somebody sleeps on it */
} hg_mutex;
typedef struct hg_cond {
    uint32_t turn, sleepers;
} hg_cond;
typedef struct hg_thread {
    uint32_t seat;
} hg_thread;
typedef uint32_t hg_once_flag;
#define HG_MUTEX_INIT \
    { 0 }
#define HG_COND_INIT \
    { 0 }
#define HG_ONCE_INIT 0
#define HG_THREAD_LOCAL
/* Of what workers of the pool use too. The linker of LLVM 14 cannot make numbers short
 * (--compress-relocations) where there are _Thread_local variables. */
enum { HG_WORKERS_MAX = 31 };
#define HG_EACH_THREAD [HG_WORKERS_MAX + 1]
#define HG_FIRST(...) \
    { __VA_ARGS__ }
#define HG_OWN(name) (name)[hg_worker_number()]
/* Whether the calling thread can call a function whose code came at run time: each has a table of
 * its own. A worker makes the code its own when it is asked; false: it cannot. */
bool hg_thread_has_code(uintptr_t function);
uint32_t hg_worker_number(void); /* from 1; 0: the thread that calls the library */
#endif

void hg_mutex_init(hg_mutex *mutex);
void hg_mutex_destroy(hg_mutex *mutex);
void hg_mutex_lock(hg_mutex *mutex);
void hg_mutex_unlock(hg_mutex *mutex);

void hg_cond_init(hg_cond *cond); /* timed waits on the clock of hg_clock_ns */
void hg_cond_destroy(hg_cond *cond);
void hg_cond_wait(hg_cond *cond, hg_mutex *mutex); /* may return without a signal; in WebAssembly at
                                                      once, but of a worker */
bool hg_cond_wait_until(hg_cond *cond, hg_mutex *mutex, uint64_t clock_ns); /* false: the time has
                                                                               come. Only for conds
                                                                               made with
                                                                               hg_cond_init */
void hg_cond_signal(hg_cond *cond);
void hg_cond_broadcast(hg_cond *cond);

/* Stack of every thread that is started here, at least: compilers and drivers go deep, and a
 * system's own default may be 128 KiB. */
#define HG_STACK_BYTES (UINT64_C(8) << 20)

/* What debuggers, top and ps call the thread that asks: at most 15 bytes. */
void hg_thread_name(const char *name);
/* Starts a thread in the default floating-point mode that takes none of the signals that are sent
 * to the process. False when the system refuses (always, without threads). */
bool hg_thread_start(hg_thread *thread, void *(*run)(void *user), void *user);
void hg_thread_join(hg_thread thread);
/* The same for a thread of the pool. In WebAssembly it is given to a worker that has nothing to do;
 * false where there is none. */
bool hg_worker_start(hg_thread *thread, void *(*run)(void *user), void *user);
void hg_thread_detach(hg_thread thread); /* instead: nobody waits for its end */
void hg_once(hg_once_flag *flag, void (*run)(void));

void hg_thread_yield(void); /* others run first, where any want to */

/* Bytes below this frame on the calling thread's stack; UINT64_MAX: nobody knows. */
uint64_t hg_stack_left(void);

uint64_t hg_clock_ns(void); /* monotonic, from an arbitrary start; 0 on wasm32 unless a source is
                               set */
#if defined(__wasm__)
void hg_clock_set(uint64_t (*source)(void));
/* So many workers have been started, each to call hg_worker_serve with its number from 1. */
void hg_workers_set(uint32_t count);
/* Does what the pool gives to a worker; never returns. */
_Noreturn void hg_worker_serve(uint32_t number);
uint32_t hg_workers_used(void); /* how many have got work so far */
#endif
uint32_t hg_cpu_count(void); /* CPUs this process may run on, at least 1 */

#define HG_CPU_UNKNOWN UINT32_MAX
uint32_t hg_cpu_current(void); /* the CPU that the calling thread runs on, or HG_CPU_UNKNOWN */

/* Where a thread may run: all zero at first. A bit a CPU: what it could use before, and what it was
 * given without one of them. */
typedef struct hg_thread_place {
    uint64_t home[16], given[16];
    uint32_t without;
    bool set;
} hg_thread_place;

/* Keeps a thread that has not ended off one CPU, until it is kept off another one. What others set
 * for the thread meanwhile is what it may use from then on. False, and nothing changes: the system
 * has no such thing, the thread may use no other CPU, or the process (its first thread) not all of
 * them. Calls for one place do not overlap. */
bool hg_thread_keep_off(hg_thread thread, hg_thread_place *place, uint32_t cpu);
/* Moves the calling thread to another CPU, once: it may use the same ones afterwards. False: there
 * is no other one for it, or the system has no such thing. */
bool hg_thread_move_off(uint32_t cpu);
hg_thread hg_thread_self(void);

#endif
