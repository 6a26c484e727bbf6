/* The one thread pool: ranges of a count, shared out by stealing, for any number of callers at
 * once.
 * Must not know: lanes, tiles, programs. */
#ifndef HG_BASE_THREAD_POOL_H
#define HG_BASE_THREAD_POOL_H

#include "base/base.h"

enum { HG_THREAD_POOL_MAX = 256 };

typedef struct hg_thread_pool hg_thread_pool;

/* A pool of `threads` threads, the caller counted; 0: one a CPU. Threads start at the first call
 * that needs them. NULL when out of memory. */
hg_thread_pool *hg_thread_pool_create(uint32_t threads);
/* No call may be running. Joins the threads. NULL is allowed. */
void hg_thread_pool_destroy(hg_thread_pool *pool);

/* The pool of the process, made at first use; it lives as long as the process. Never NULL: without
 * memory for it, a pool of the caller alone. */
hg_thread_pool *hg_thread_pool_global(void);

/* Threads a call can use, the caller counted: `worker` below is less than this, unless somebody
 * raises it meanwhile; it is always less than HG_THREAD_POOL_MAX. */
uint32_t hg_thread_pool_count(hg_thread_pool *pool);
/* Changes it (0: one a CPU, at most HG_THREAD_POOL_MAX). Waits for the present threads to end;
 * calls that run meanwhile go on with fewer. HG_ERROR_INVALID_ARGUMENT from inside a call. */
hg_status hg_thread_pool_set_threads(hg_thread_pool *pool, uint32_t threads);

typedef void hg_thread_pool_fn(void *user, uint64_t begin, uint64_t end, uint32_t worker);

/* Calls fn for ranges that cover [0, count) once each and returns when all are done. begin is a
 * multiple of chunk (0 counts as 1), end is one too or count; a range may hold many chunks. Two
 * calls of fn that run at the same time have different `worker`s.
 * Thread-safe; from inside fn it runs on the calling thread. A single chunk runs at once on the caller. After fork the child gets fresh
 * threads (fork from outside fn). Allocates nothing; when threads are refused the caller does all
 * the work. */
void hg_thread_pool_run(hg_thread_pool *pool, uint64_t count, uint64_t chunk, hg_thread_pool_fn *fn,
                        void *user);

#endif
