/* NCCL's library, opened at run time. */
#ifndef HG_COMM_NCCL_H
#define HG_COMM_NCCL_H

#include "base/base.h"
#include <stddef.h>

/* As NCCL's header has them: a communicator's name, which rank 0 makes and tells the others; and
 * the configuration as of 2.14, the first that has one. */
typedef struct nccl_id {
    char bytes[128];
} nccl_id;
typedef struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking; /* 0: calls begin things, CommGetAsyncError says what came of them */
} nccl_config;

enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_BYTES = 0 /* ncclInt8 */ };

typedef struct nccl_functions {
#define NCCL_FUNCTION(name, result, arguments) result(*name) arguments;
#define NCCL_DRIVER(name, symbol, arguments) int(*name) arguments;
#include "comm/nccl/nccl.def"
} nccl_functions;

/* Once for the process: HOLOGRAM_NCCL names the file, else libnccl.so.2. driver: with the CUDA
 * driver's functions. HG_ERROR_BACKEND_UNAVAILABLE, with why. */
hg_status nccl_open(bool driver, const nccl_functions **functions) HG_NODISCARD;

#endif
