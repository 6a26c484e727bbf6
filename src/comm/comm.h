/* Communicators inside: a rank's calls, who carries them out, and what a collective is made of.
 * Must not know: how a provider moves bytes. */
#ifndef HG_COMM_COMM_H
#define HG_COMM_COMM_H

#include "base/thread.h"
#include "comm/provider.h"
#include "runtime/client.h"
#include <hologram/comm.h>

/* ---- what ranks tell each other ---- */

/* The beginning of the first message of a call. */
typedef struct comm_header {
    uint64_t sequence; /* of the rank's collectives of all, or of messages between two ranks; with
                          COMM_OF_SOME which ranks take part */
    uint64_t count;
    uint32_t rank, peer;
    uint8_t kind, type, operation;
    uint8_t failed; /* the call cannot begin on this rank */
    uint8_t device; /* its arrays lie where the provider reaches them on the device */
    uint8_t unused[3];
} comm_header;

#define COMM_OF_SOME (UINT64_C(1) << 63)

enum { COMM_FIRST_BYTES = 256, COMM_SMALL_BYTES = COMM_FIRST_BYTES - sizeof(comm_header) };

/* The same call, as one rank sees it and another. */
bool comm_header_same(const comm_header *a, const comm_header *b);
/* HG_ERROR_INVALID_ARGUMENT, naming both calls. */
hg_status comm_header_mismatch(const comm_header *a, const comm_header *b);
hg_status comm_lost(const char *what); /* it is of a parent process */
/* "all_reduce.f32 add of 8 elements". */
void comm_header_text(const comm_header *h, char *text, size_t size);
/* The same, and which call of the rank it is: COMM_CALL_TEXT bytes are enough. */
enum { COMM_CALL_TEXT = 160 };
void comm_call_text(const comm_header *h, char *text, size_t size);

/* ---- arithmetic ---- */

/* out[i] = the ranks' elements in[r][i], combined by the fixed tree of semantics 0.3 over r; halves
 * in f32, rounded once. in and out: n elements, aligned to the type (at most 8 bytes). out may be
 * one of the inputs exactly. */
hg_status comm_fold(hg_comm_operation operation, hg_type type, const uint8_t *const *in,
                    uint32_t ranks, uint64_t n, uint8_t *out) HG_NODISCARD;
bool comm_operation_exists(hg_comm_operation operation, hg_type type);

/* ---- calls ---- */

typedef enum comm_stage {
    COMM_NEW,   /* it waits for events, and for its turn */
    COMM_FIRST, /* ranks tell each other what they call */
    COMM_MOVES, /* arrays move */
    COMM_OVER
} comm_stage;

/* Where an array of a call lies. */
typedef struct comm_array {
    uint8_t *memory; /* as the host sees it; of calls that stay on the device its address there */
    uint64_t bytes;  /* 0: this rank has no such array */
    bool copied;     /* `memory` is a copy of a device's */
} comm_array;

/* A call's transfers of this round, those that receive first. */
typedef struct comm_round {
    uint32_t number;
    comm_transfer *transfers;
    uint32_t count, receives; /* how many, and how many receive */
    bool received;            /* comm_op_received was called */
    comm_transfer few[2];     /* of sends and receives */
} comm_round;

/* Ranks of the communicator that take part in a collective. Root, parts and blocks go by their
 * places in it. */
typedef struct comm_members {
    uint32_t own, count;
    const uint32_t *ranks; /* NULL: all */
    uint32_t *owned;       /* the same, where they are freed with the call */
} comm_members;

typedef struct comm_op {
    struct comm_op *next;
    hg_comm *comm;
    comm_members among;
    hg_comm_call call;
    comm_header own, other; /* other: of sends and receives, or one that is not the same */
    comm_stage stage;
    struct {
        bool own, all; /* the arrays of this rank are the device's; those of all, and stay there */
        hg_status copies; /* the first of their copies that failed */
    } device;
    uint64_t size, block; /* bytes of an element, of a block */
    comm_array in, out;
    comm_round round;
    struct {
        uint64_t timeout_ms, deadline_ns;
        const hg_limit *limit; /* ends it earlier; NULL: nothing does */
    } time;
    hg_event **waits;
    size_t wait_count;
    hg_event *event; /* NULL: somebody waits for `finished` */
    hg_status status;
    hg_error error;
    bool finished; /* under the communicator's lock */
} comm_op;

/* Sizes that tests make smaller. */
typedef struct comm_limits {
    uint64_t message;               /* bytes of one; more is cut */
    uint64_t window, device_window; /* bytes of each rank that wait to be combined */
    uint32_t direct;                /* ranks up to which the first message goes to each one */
} comm_limits;
extern comm_limits comm_limit;

struct hg_comm {
    const comm_provider *provider;
    comm_group *group;
    hg_backend *backend;
    uint32_t rank, size;
    uint32_t process;    /* hg_fork_count of where it was made */
    uint32_t references; /* atomic: the caller's and those of contexts */
    uint64_t timeout_ms;
    hg_mutex lock; /* of what is up to `waiting` */
    hg_cond changed;
    bool driven;  /* somebody carries out calls */
    bool revoked; /* the caller wants it */
    struct {
        comm_op *first, *last;     /* not taken yet */
        uint64_t collectives;      /* how many there were */
        uint64_t *sent, *received; /* messages to and from each rank */
    } calls;
    struct {
        hg_thread handle;
        bool runs, stops;
    } thread;
    int waiting; /* atomic: there are calls that are not taken yet */
    /* whoever drives */
    comm_op *ops;
    struct {
        uint32_t looks; /* at them */
        uint32_t told;  /* atomic: failures of calls that were not this rank's own */
        uint64_t sent;  /* bytes of messages of collectives */
    } counts;
    struct {
        comm_transfer *transfers; /* of the collective that is under way */
        uint8_t *firsts;          /* first messages, one of each rank */
        uint8_t *window; /* what waits to be combined, of each rank comm_limit.window bytes */
        struct comm_device *device; /* the same there */
    } memory;
    struct {
        hg_status status; /* what ended it */
        hg_error error;
    } broken;
};

/* ---- comm.c ---- */
/* The parts of an op that are the caller's, or follow from them. */
hg_status comm_describe(hg_comm *c, const hg_comm_call *given, comm_op *op) HG_NODISCARD;
void comm_release(hg_comm *c);

/* ---- sizes.c ---- */
uint64_t comm_blocks_given(const comm_op *op); /* by a rank, whichever has something to give */
/* Bytes of the arrays that this rank gives and gets; false: more than 2^63. */
bool comm_op_bytes(const comm_op *op, uint64_t *in, uint64_t *out) HG_NODISCARD;
/* All that a rank gives fits into its first message. The same on every rank. */
bool comm_op_is_small(const comm_op *op);

/* ---- arrays.c ---- */
/* Where the call's arrays lie; copies of those that the host does not see. */
hg_status comm_find_arrays(comm_op *op) HG_NODISCARD;
hg_status comm_write_back(comm_op *op) HG_NODISCARD;
void comm_free_arrays(comm_op *op);

/* ---- collective.c ---- */
/* What is to be done with what a round has received. */
hg_status comm_op_received(comm_op *op) HG_NODISCARD;
/* The transfers of the next round, none posted, when all of the round before are done; or the op is
 * over. By whoever drives, as the function above. */
hg_status comm_op_next(comm_op *op) HG_NODISCARD;
static inline bool comm_is_collective(hg_comm_kind kind) {
    return kind != HG_COMM_SEND && kind != HG_COMM_RECV;
}
static inline bool comm_has_root(hg_comm_kind kind) {
    return kind == HG_COMM_BROADCAST || kind == HG_COMM_GATHER || kind == HG_COMM_SCATTER;
}
static inline bool comm_is_root(const comm_op *op) { return op->call.peer == op->among.own; }
static inline bool comm_combines(hg_comm_kind kind) {
    return kind == HG_COMM_ALL_REDUCE || kind == HG_COMM_REDUCE_SCATTER;
}

/* Bytes that all ranks together send for a call, with the first messages: what hg_comm.counts.sent
 * of all of them counts. block: of hg_comm_call.count elements. false: 2^64 or more. */
bool comm_call_bytes(hg_comm_kind kind, uint64_t block, uint32_t ranks,
                     uint64_t *bytes) HG_NODISCARD;

/* ---- device.c ---- */
/* Whether the arrays can stay on the device; then the op has their addresses. */
bool comm_device_find(comm_op *op);
/* Where what waits to be combined lies there, of each rank at most comm_limit.device_window bytes.
 */
hg_status comm_device_window(hg_comm *c, uint8_t **window) HG_NODISCARD;
/* As comm_fold, of `count` elements of every rank that lie there one after another. */
hg_status comm_device_fold(comm_op *op, uint64_t count, void *out) HG_NODISCARD;
void comm_device_free(hg_comm *c);

/* ---- engine.c ---- */
/* A call whose operands are checked. With an event it is the engine's from now on, and freed with
 * comm_op_free; else this returns when it is over. */
hg_status comm_submit(hg_comm *comm, comm_op *op) HG_NODISCARD;
void comm_op_free(comm_op *op);
/* Ends it for this rank, with the thread's last error, and for all that can be told. By whoever
 * drives. */
void comm_break(hg_comm *comm, hg_status status);
void comm_stop(hg_comm *comm); /* all calls are over; its thread ends */

#endif
