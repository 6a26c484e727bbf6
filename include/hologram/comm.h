/* Communicators: ranks that exchange and combine arrays, as threads of one process or as processes
 * of MPI, on GPUs through NCCL. What a rank gets has the same bits for every provider, message size
 * and order of arrival.
 */
#ifndef HOLOGRAM_COMM_H
#define HOLOGRAM_COMM_H

#include <hologram/backend.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One rank of a communicator. Ranks call the same collectives in the same order; sends and receives
 * of two ranks are in order for themselves. Calls may come from any thread: the order of a rank is
 * that in which they came. A communicator keeps to its backend, which must outlive it.
 */
typedef struct hg_comm hg_comm;

/** What a call does. A block is `count` elements. */
typedef enum hg_comm_kind {
    HG_COMM_ALL_REDUCE,     /**< every rank: the blocks of all ranks, combined */
    HG_COMM_ALL_GATHER,     /**< every rank: the blocks of all ranks, in rank order */
    HG_COMM_REDUCE_SCATTER, /**< each rank gives a block for every rank, and gets those for it,
                               combined */
    HG_COMM_BROADCAST,      /**< every rank: the block of rank `peer`, whose input is not changed */
    HG_COMM_GATHER,         /**< rank `peer`: the blocks of all ranks, in rank order */
    HG_COMM_SCATTER,        /**< rank `peer` gives a block for every rank, each gets its own */
    HG_COMM_ALL_TO_ALL, /**< each rank gives a block for every rank, and gets one of every rank */
    HG_COMM_SEND,       /**< a block to rank `peer`, which receives it */
    HG_COMM_RECV,       /**< a block of rank `peer`, which sends it */
    HG_COMM_BARRIER     /**< ends when every rank has begun it */
} hg_comm_kind;

/** How elements are combined: as the instruction of that name does it, but f16 and bf16 in f32,
 * rounded once. and, or, xor: integers. */
typedef enum hg_comm_operation {
    HG_COMM_ADD,
    HG_COMM_MIN,
    HG_COMM_MAX,
    HG_COMM_MUL,
    HG_COMM_AND,
    HG_COMM_OR,
    HG_COMM_XOR
} hg_comm_operation;

/**
 * A call. Arrays are host memory, or buffers of the communicator's backend where the pointer is
 * NULL; what a rank neither gives nor gets is not looked at. Input and output may be the same
 * array, and may not overlap otherwise.
 */
typedef struct hg_comm_call {
    size_t size; /**< sizeof(hg_comm_call) */
    hg_comm_kind kind;
    hg_comm_operation operation; /**< of all_reduce and reduce_scatter */
    hg_type type;
    uint32_t peer;  /**< the root of broadcast, gather, scatter; the other rank of send, recv */
    uint64_t count; /**< elements of a block; 0 is allowed */
    const void *input;
    void *output;
    hg_buffer input_buffer, output_buffer;
    uint64_t input_offset, output_offset; /**< of the buffers, in bytes */
} hg_comm_call;

/**
 * Ranks in this process, one for each backend; a backend may come more than once. Each rank is used
 * by a thread of its own, or its calls are started (hg_comm_start). Where HOLOGRAM_NCCL names
 * NCCL's library and each backend is a GPU of its own on CUDA, their arrays go through NCCL.
 *
 * @param comms  receives `ranks` communicators, each to be destroyed
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT (NULL, no rank or more than 256);
 * HG_ERROR_OUT_OF_MEMORY; of NCCL HG_ERROR_BACKEND_UNAVAILABLE, HG_ERROR_EXECUTION_FAILED
 * Thread-safe.
 */
HG_API hg_status hg_comm_create_local(hg_backend *const *backends, uint32_t ranks,
                                      hg_comm **comms) HG_NODISCARD;
/**
 * This process's rank among those that a launcher has started.
 *
 * @param provider  "mpi"; "auto": mpi where a launcher of MPI has started this process, else a
 * communicator of one rank; "nccl": the same ranks, whose backends are on CUDA, through NCCL
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE: no launcher, no library of MPI that belongs to it,
 * or no such provider; HG_ERROR_OUT_OF_MEMORY
 * MPI is initialised at the first call unless the program has done it, and then ended with the
 * process. Every process that the launcher has started calls this. Thread-safe.
 */
HG_API hg_status hg_comm_create(const char *provider, hg_backend *backend,
                                hg_comm **comm) HG_NODISCARD;
/** Whether a launcher of the provider ("mpi") has started this process; of "threads" true, of an
 * unknown one and of NULL false. */
HG_API bool hg_comm_is_launched(const char *provider);
/** Waits for started calls first. Others that wait for this rank get an error that names it. NULL
 * is allowed. */
HG_API void hg_comm_destroy(hg_comm *comm);
/** From 0; UINT32_MAX of NULL. */
HG_API uint32_t hg_comm_rank(const hg_comm *comm);
/** How many ranks; 0 of NULL. */
HG_API uint32_t hg_comm_size(const hg_comm *comm);
/** "threads", "mpi", "nccl"; "" of NULL. Static. */
HG_API const char *hg_comm_provider(const hg_comm *comm);
/** How long a call may take until it fails with HG_ERROR_TIMEOUT, from when it begins; at first the
 * backend's hg_config.timeout_ms, 30,000 where that is 0. Of calls that come after this one.
 * HG_ERROR_INVALID_ARGUMENT: 0 or more than 2^40, or NULL. */
HG_API hg_status hg_comm_set_timeout(hg_comm *comm, uint64_t timeout_ms) HG_NODISCARD;

/** hg_comm_split: this rank comes into no part. */
#define HG_COMM_NO_COLOR UINT32_MAX
/**
 * Cuts the communicator: ranks of one color make one, in the order of their keys, those of equal
 * keys in the order of their ranks. A collective: every rank calls it.
 * @param part  receives the new communicator; NULL for HG_COMM_NO_COLOR
 * @return HG_OK; errors as hg_comm_run
 */
HG_API hg_status hg_comm_split(hg_comm *comm, uint32_t color, uint32_t key,
                               hg_comm **part) HG_NODISCARD;

/**
 * Starts a call and returns; a thread of the library carries it out. Arrays stay as they are until
 * the event is done.
 *
 * @param waits  the call begins when these are done; where one failed it fails on every rank
 * @param event  receives a new event that the caller destroys. hg_event_on_done tells of it;
 * hg_event_cancel revokes the communicator
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT (an unknown kind, type or operation, one that the type
 * does not have, a rank that is not there); HG_ERROR_OUT_OF_MEMORY; HG_ERROR_WOULD_BLOCK: the
 * system gives no thread. What else goes wrong, with arrays too, the event has, as hg_comm_run
 * returns it
 * Thread-safe.
 */
HG_API hg_status hg_comm_start(hg_comm *comm, const hg_comm_call *call, hg_event *const *waits,
                               size_t wait_count, hg_event **event) HG_NODISCARD;
/**
 * The same, waited for.
 *
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT also on every rank when ranks call different things: the
 * message names both calls, no data has moved, and the communicator goes on. HG_ERROR_TIMEOUT,
 * HG_ERROR_EXECUTION_FAILED (a rank is gone, the communicator is revoked): it is revoked from then
 * on, and outputs are of no meaning; of "mpi" all communicators of the process are, but where it
 * goes on without ranks (hg_comm_agree)
 * Thread-safe. Must not be called from a callback of an event of the same backend.
 */
HG_API hg_status hg_comm_run(hg_comm *comm, const hg_comm_call *call) HG_NODISCARD;

/**
 * Programs that run in the context have the communicator: devices of all_reduce, all_gather,
 * reduce_scatter and broadcast are its ranks. Without one there is one rank, 0. A rank's programs
 * come to these instructions in the same order as those of the others.
 *
 * @param context  NULL: the backend's own
 * @param comm  NULL: none from now on. Destroyed before the context, such instructions are an error
 * there
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: backend is NULL, context or comm are of another one
 * Not while something runs in the context.
 */
HG_API hg_status hg_context_set_comm(hg_backend *backend, hg_context *context,
                                     hg_comm *comm) HG_NODISCARD;

/**
 * Ends all calls that are under way, on every rank that can be told, and all later ones, with
 * HG_ERROR_EXECUTION_FAILED. What goes on is hg_comm_agree, hg_comm_shrink and hg_comm_destroy.
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT (NULL). Thread-safe.
 */
HG_API hg_status hg_comm_revoke(hg_comm *comm) HG_NODISCARD;
/**
 * The same flags on every living rank, those that all of them have set; works after
 * hg_comm_revoke. Every living rank calls it. "threads" can, and "mpi" with Open MPI 5 under
 * mpirun --with-ft mpi.
 * @param flags  what this rank gives, and what all agree on
 * @return HG_OK; HG_ERROR_TIMEOUT; HG_ERROR_BACKEND_UNAVAILABLE: the provider cannot;
 * HG_ERROR_INVALID_ARGUMENT (NULL)
 */
HG_API hg_status hg_comm_agree(hg_comm *comm, uint64_t *flags) HG_NODISCARD;
/**
 * A communicator of the ranks that still live, in their order. Every living rank calls it; works
 * after hg_comm_revoke.
 * @return as hg_comm_agree; HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_comm_shrink(hg_comm *comm, hg_comm **rest) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
