/* What rooms above put beside an executor.
 * Must not know: what it is. */
#ifndef HG_RUNTIME_EXECUTOR_H
#define HG_RUNTIME_EXECUTOR_H

#include "runtime/buffer_pool.h"
#include <hologram/executor.h>

/* Something of its own that an executor keeps, made at the first call by `make` (NULL: this
 * thread's error says why) and ended by `end`, before the executor's buffers go; `trim` frees
 * memory that it could do without. One kind only. Thread-safe. */
void *hg_executor_keep(hg_executor *e, void *(*make)(hg_executor *e), void (*end)(void *kept),
                       void (*trim)(void *kept));
hg_buffer_pool *hg_executor_pool(hg_executor *e);
hg_queue *hg_executor_queue(const hg_executor *e); /* NULL: it waits */

#endif
