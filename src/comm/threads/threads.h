/* Ranks of one process. */
#ifndef HG_COMM_THREADS_H
#define HG_COMM_THREADS_H

#include "comm/provider.h"

/* The ends of a new group. */
hg_status comm_threads_create(uint32_t ranks, comm_group **ends) HG_NODISCARD;

#endif
