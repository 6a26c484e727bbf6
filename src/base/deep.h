/* Calls on a stack that is deep enough for what others wrote: drivers and their compilers are
 * called from a thread of ours, since a host's thread may have 64 KiB of stack (PoCL lists its
 * devices with a buffer of that size).
 * Must not know: what is called. */
#ifndef HG_BASE_DEEP_H
#define HG_BASE_DEEP_H

#include "base/base.h"

/* What a call may need at the least, where no thread can be had for it and the calling one has to
 * do. */
#define HG_STACK_ENOUGH (UINT64_C(1) << 20)

/* Calls `call` on a thread of its own (base/thread.h: its stack and its mode) and waits for it; its
 * status, and its error as if it had happened here. Where the system refuses a thread, the calling
 * one does it, if its stack has HG_STACK_ENOUGH left; else HG_ERROR_OUT_OF_MEMORY, which says
 * `what` could not be done. From any thread and within such a call; locks that the caller holds
 * stay held. */
hg_status hg_call_deep(hg_status (*call)(void *user), void *user, const char *what) HG_NODISCARD;

#endif
