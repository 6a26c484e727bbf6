/* How much a call gives and gets. Must not know: how it is moved. */
#include "comm/comm.h"

comm_limits comm_limit = {.message = UINT64_C(1) << 30,
                          .window = UINT64_C(1) << 19,
                          .device_window = UINT64_C(1) << 23,
                          .direct = 16};

uint64_t comm_blocks_given(const comm_op *op) {
    switch (op->call.kind) {
    case HG_COMM_REDUCE_SCATTER:
    case HG_COMM_SCATTER:
    case HG_COMM_ALL_TO_ALL: return op->among.count;
    case HG_COMM_BARRIER:
    case HG_COMM_RECV: return 0;
    default: return 1;
    }
}

static uint64_t blocks_got(const comm_op *op) {
    switch (op->call.kind) {
    case HG_COMM_ALL_GATHER:
    case HG_COMM_GATHER:
    case HG_COMM_ALL_TO_ALL: return op->among.count;
    case HG_COMM_BARRIER:
    case HG_COMM_SEND: return 0;
    default: return 1;
    }
}

bool comm_op_bytes(const comm_op *op, uint64_t *in, uint64_t *out) {
    hg_comm_kind kind = op->call.kind;
    bool gives = comm_is_root(op) || (kind != HG_COMM_BROADCAST && kind != HG_COMM_SCATTER),
         gets = comm_is_root(op) || kind != HG_COMM_GATHER;
    uint64_t given = 0, got = 0;
    bool fits = hg_mul_u64(op->call.count, op->size, &given) &&
                hg_mul_u64(given, op->among.count, &got) && got <= INT64_MAX;
    *in = gives ? given * comm_blocks_given(op) : 0;
    *out = gets ? given * blocks_got(op) : 0;
    return fits;
}

bool comm_op_is_small(const comm_op *op) {
    uint64_t blocks = comm_blocks_given(op);
    return op->among.count <= comm_limit.direct &&
           (!blocks || op->block <= COMM_SMALL_BYTES / blocks);
}
