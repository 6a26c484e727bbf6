/* Collectives as rounds of transfers between ranks. Each begins with a first message from every
 * rank to every other, which says what the rank calls and, where that is little, has all that it
 * gives: then the call is over with it. Else arrays move directly between the ranks that give and
 * get them, and what is combined is combined by one rank for all: 2 (N - 1) / N of an array go over
 * each rank's wire for an all_reduce of N ranks, as in a ring, but all values of an element come
 * together in one place, where the tree over the ranks is the same whatever happened on the way.
 * Must not know: providers, who drives. */
#include "comm/comm.h"
#include <string.h>

enum { LARGE_BROADCAST = 1 << 16 /* bytes that are worth cutting */ };

/* ---- transfers ---- */

static comm_transfer *add(comm_op *op, uint32_t peer, const void *memory, uint64_t bytes) {
    comm_transfer *t = &op->round.transfers[op->round.count++];
    *t = (comm_transfer){.peer = op->among.ranks ? op->among.ranks[peer] : peer,
                         .channel = COMM_COLLECTIVE,
                         .memory = (void *)(uintptr_t)memory,
                         .bytes = bytes,
                         .device = op->device.all,
                         .done = bytes == 0};
    return t;
}

static void send(comm_op *op, uint32_t peer, const void *memory, uint64_t bytes) {
    (void)add(op, peer, memory, bytes);
}

/* Before anything that is sent in the round. */
static comm_transfer *receive(comm_op *op, uint32_t peer, void *memory, uint64_t bytes) {
    comm_transfer *t = add(op, peer, memory, bytes);
    t->receives = true;
    op->round.receives = op->round.count;
    return t;
}

/* Between arrays of the call. */
static void copy(comm_op *op, void *to, const void *from, uint64_t bytes) {
    const hg_comm *c = op->comm;
    if (!bytes || to == from) return;
    if (!op->device.all)
        memmove(to, from, (size_t)bytes);
    else if (op->device.copies == HG_OK)
        op->device.copies = c->provider->copy(c->group, to, from, bytes);
}

#define EACH_OTHER(op, p)                            \
    for (uint32_t p = 0; p < (op)->among.count; p++) \
        if (p != (op)->among.own)

static uint8_t *first_of(const comm_op *op, uint32_t rank) {
    return op->comm->memory.firsts + (size_t)rank * COMM_FIRST_BYTES;
}

/* ---- the first message ---- */

static hg_status check_header(comm_op *op, const comm_header *other) {
    const comm_header *own = &op->own;
    if (!comm_header_same(own, other))
        return own->rank < other->rank ? comm_header_mismatch(own, other)
                                       : comm_header_mismatch(other, own);
    if (!other->failed && !own->failed) return HG_OK;
    char text[96];
    comm_header_text(own, text, sizeof text);
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "%s: it cannot begin on rank %u", text,
                   (unsigned)(own->failed ? own->rank : other->rank));
}

static void first_to_all(comm_op *op) {
    uint8_t *own = first_of(op, op->among.own);
    uint64_t payload = comm_op_is_small(op) && !op->own.failed ? op->in.bytes : 0;
    memcpy(own, &op->own, sizeof op->own);
    if (payload) memcpy(own + sizeof op->own, op->in.memory, (size_t)payload);
    EACH_OTHER(op, p)(void) receive(op, p, first_of(op, p), COMM_FIRST_BYTES);
    EACH_OTHER(op, p) send(op, p, own, sizeof op->own + payload);
}

static hg_status check_all(comm_op *op) {
    for (uint32_t p = 0; p < op->among.count; p++) {
        comm_header other;
        memcpy(&other, first_of(op, p), sizeof other);
        HG_TRY(check_header(op, &other));
        op->own.device &= other.device;
    }
    return HG_OK;
}

/* With many ranks: in round k to the rank 2^k places on, the own header and one that is not the
 * same, if any is known; after log N rounds everyone has heard of everyone. */
static void first_passed_on(comm_op *op) {
    uint32_t size = op->among.count, rank = op->among.own, step = UINT32_C(1) << op->round.number;
    uint8_t *own = op->comm->memory.firsts, *other = own + COMM_FIRST_BYTES;
    memcpy(own, &op->own, sizeof op->own);
    memcpy(own + sizeof op->own, &op->other, sizeof op->other);
    (void)receive(op, (rank + size - step % size) % size, other, COMM_FIRST_BYTES);
    send(op, (rank + step) % size, own, 2 * sizeof op->own);
}

static void hear(comm_op *op) {
    comm_header heard[2];
    memcpy(heard, op->comm->memory.firsts + COMM_FIRST_BYTES, sizeof heard);
    for (int i = 1; i >= 0; i--)
        if (!comm_header_same(&op->own, &heard[i]) || heard[i].failed) op->other = heard[i];
    op->own.device &= heard[0].device; /* what all have from whom that rank has heard */
}

static void first_to_peer(comm_op *op) {
    bool sends = op->call.kind == HG_COMM_SEND;
    comm_transfer *get = receive(op, op->call.peer, &op->other, sizeof op->other);
    comm_transfer *put = add(op, op->call.peer, &op->own, sizeof op->own);
    get->channel = sends ? COMM_REPLY : COMM_POINT;
    put->channel = sends ? COMM_POINT : COMM_REPLY;
}

/* ---- small calls: what every rank gets, of what all give ---- */

static hg_status finish_small(comm_op *op) {
    uint32_t size = op->among.count, rank = op->among.own;
    const uint8_t *given[64];
    uint64_t block = op->block;
    if (!block) return HG_OK; /* arrays without elements may be NULL */
    for (uint32_t p = 0; p < size; p++) given[p] = first_of(op, p) + sizeof(comm_header);
    uint8_t *out = op->out.memory;
    switch (op->call.kind) {
    case HG_COMM_REDUCE_SCATTER:
        for (uint32_t p = 0; p < size; p++) given[p] += rank * block;
        /* fall through */
    case HG_COMM_ALL_REDUCE:
        return op->call.count
                   ? comm_fold(op->call.operation, op->call.type, given, size, op->call.count, out)
                   : HG_OK;
    case HG_COMM_GATHER:
        if (!comm_is_root(op)) return HG_OK;
        /* fall through */
    case HG_COMM_ALL_GATHER:
        for (uint32_t p = 0; p < size; p++) copy(op, out + p * block, given[p], block);
        return HG_OK;
    case HG_COMM_BROADCAST: copy(op, out, given[op->call.peer], block); return HG_OK;
    case HG_COMM_SCATTER: copy(op, out, given[op->call.peer] + rank * block, block); return HG_OK;
    case HG_COMM_ALL_TO_ALL:
        for (uint32_t p = 0; p < size; p++)
            copy(op, out + p * block, given[p] + rank * block, block);
        return HG_OK;
    default: return HG_OK;
    }
}

/* ---- what is combined ---- */

/* Part `p` of `parts` of n elements: they differ by one element at most. */
static uint64_t part_begin(uint64_t n, uint32_t parts, uint32_t p) {
    uint64_t rest = n % parts;
    return n / parts * p + (p < rest ? p : rest);
}

static bool borrows(const comm_op *op) {
    return op->comm->provider->give_back && op->in.bytes <= comm_limit.message;
}

/* Elements that rank p combines, in the input of each rank. */
typedef struct span {
    uint64_t begin, count;
} span;

static span part_of(const comm_op *op, uint32_t p) {
    uint64_t n = op->call.count;
    if (op->call.kind == HG_COMM_REDUCE_SCATTER) return (span){p * n, n};
    uint64_t begin = part_begin(n, op->among.count, p);
    return (span){begin, part_begin(n, op->among.count, p + 1) - begin};
}

/* Elements that are combined at once. */
static uint64_t window_elements(const comm_op *op) {
    if (op->device.all) return comm_limit.device_window / op->size;
    return borrows(op) ? UINT64_MAX : comm_limit.window / op->size;
}

static uint64_t window_count(const comm_op *op) {
    uint64_t most = part_of(op, 0).count; /* the first part is the longest */
    return most ? (most - 1) / window_elements(op) + 1 : 0;
}

static span window_of(const comm_op *op, uint32_t p, uint64_t w) {
    span s = part_of(op, p);
    uint64_t most = window_elements(op), skip = w * most; /* w is 0 where most is no limit */
    if (skip >= s.count) return (span){s.begin + s.count, 0};
    uint64_t left = s.count - skip;
    return (span){s.begin + skip, left < most ? left : most};
}

/* On the device they lie without gaps, this rank's own among them. */
static uint8_t *slot_of(const comm_op *op, uint8_t *window, uint64_t bytes, uint32_t p) {
    if (!window) return NULL;
    return window + p * (op->device.all ? bytes : comm_limit.window);
}

static hg_status find_windows(comm_op *op, uint8_t **window) {
    hg_comm *c = op->comm;
    *window = NULL;
    if (op->device.all) return comm_device_window(c, window);
    if (borrows(op) || op->among.count == 1) return HG_OK;
    if (!c->memory.window)
        c->memory.window = hg_alloc_aligned((size_t)(c->size * comm_limit.window), 64);
    *window = c->memory.window;
    return *window ? HG_OK : hg_fail_memory();
}

/* Round w: what is combined in window w goes to who combines it; of an all_reduce, results of the
 * window before go to all. */
static hg_status combine_round(comm_op *op) {
    uint64_t w = op->round.number, windows = window_count(op), size = op->size;
    uint32_t rank = op->among.own;
    bool all = op->call.kind == HG_COMM_ALL_REDUCE, reduces = w < windows, gathers = all && w > 0;
    if (!reduces && !(gathers && w == windows)) {
        op->stage = COMM_OVER;
        return HG_OK;
    }
    uint8_t *window;
    HG_TRY(find_windows(op, &window));
    span own = window_of(op, rank, w), before = gathers ? window_of(op, rank, w - 1) : (span){0, 0};
    uint64_t bytes = own.count * size;
    if (reduces) EACH_OTHER(op, p)
    receive(op, p, slot_of(op, window, bytes, p), bytes)->borrows = borrows(op);
    if (reduces && op->device.all)
        copy(op, slot_of(op, window, bytes, rank), op->in.memory + own.begin * size, bytes);
    EACH_OTHER(op, p) {
        span s = gathers ? window_of(op, p, w - 1) : (span){0, 0};
        if (gathers) (void)receive(op, p, op->out.memory + s.begin * size, s.count * size);
    }
    EACH_OTHER(op, p) {
        span s = reduces ? window_of(op, p, w) : (span){0, 0};
        if (reduces) send(op, p, op->in.memory + s.begin * size, s.count * size);
        if (gathers) send(op, p, op->out.memory + before.begin * size, before.count * size);
    }
    return HG_OK;
}

/* The first receives of the round are the window's, in the order of their ranks. */
static hg_status combine_received(comm_op *op) {
    hg_comm *c = op->comm;
    uint32_t size = op->among.count;
    if (op->round.number >= window_count(op)) return HG_OK;
    span own = window_of(op, op->among.own, op->round.number);
    uint64_t to = op->call.kind == HG_COMM_ALL_REDUCE
                      ? own.begin
                      : own.begin - part_of(op, op->among.own).begin;
    if (op->device.all)
        return own.count ? comm_device_fold(op, own.count, op->out.memory + to * op->size) : HG_OK;
    const uint8_t *few[64], **from = few;
    if (size > HG_COUNT_OF(few) && !(from = hg_alloc(size * sizeof *from))) return hg_fail_memory();
    uint32_t at = 0;
    for (uint32_t p = 0; p < size; p++)
        from[p] = p == op->among.own ? op->in.memory + own.begin * op->size
                                     : op->round.transfers[at++].memory;
    hg_status status = own.count ? comm_fold(op->call.operation, op->call.type, from, size,
                                             own.count, op->out.memory + to * op->size)
                                 : HG_OK;
    for (uint32_t i = 0; i < at; i++)
        if (op->round.transfers[i].borrowed)
            c->provider->give_back(c->group, &op->round.transfers[i]);
    if (from != few) hg_free((void *)(uintptr_t)from);
    return status;
}

/* ---- what only moves ---- */

/* Down a tree: a rank v places behind the root has it from the one without v's lowest bit. The root
 * begins with what is the others' second round. */
static void broadcast_tree(comm_op *op) {
    uint32_t size = op->among.count, root = op->call.peer, v = (op->among.own + size - root) % size,
             low = v ? v & (~v + 1) : size, round = v ? op->round.number : op->round.number + 1;
    if (round == 0)
        (void)receive(op, ((v & (v - 1)) + root) % size, op->out.memory, op->block);
    else if (round == 1)
        for (uint32_t step = 1; step < low && v + step < size; step *= 2)
            send(op, (v + step + root) % size, op->out.memory, op->block);
    else
        op->stage = COMM_OVER;
}

/* Each rank gets a part from the root, and passes it on to all others. */
static void broadcast_parts(comm_op *op) {
    uint32_t size = op->among.count, rank = op->among.own, root = op->call.peer;
    uint64_t n = op->call.count, bytes = op->size;
#define PART(p)                                      \
    op->out.memory + part_begin(n, size, p) * bytes, \
        (part_begin(n, size, (p) + 1) - part_begin(n, size, p)) * bytes
    if (op->round.number == 0) {
        if (rank != root)
            (void)receive(op, root, PART(rank));
        else
            EACH_OTHER(op, p) send(op, p, PART(p));
    } else if (op->round.number == 1) {
        if (rank != root) EACH_OTHER(op, p)(void) receive(op, p, PART(p));
        EACH_OTHER(op, p) if (p != root) send(op, p, PART(rank));
    } else {
        op->stage = COMM_OVER;
    }
#undef PART
}

static void broadcast(comm_op *op) {
    if (op->round.number == 0 && comm_is_root(op))
        copy(op, op->out.memory, op->in.memory, op->block);
    if (op->block >= LARGE_BROADCAST && op->among.count > 2)
        broadcast_parts(op);
    else
        broadcast_tree(op);
}

static void move_round(comm_op *op) {
    uint32_t rank = op->among.own;
    uint64_t block = op->block;
    uint8_t *in = op->in.memory, *out = op->out.memory;
    if (op->round.number) {
        if (op->call.kind == HG_COMM_SCATTER && comm_is_root(op))
            copy(op, out, in + rank * block, block);
        op->stage = COMM_OVER;
        return;
    }
    switch (op->call.kind) {
    case HG_COMM_ALL_GATHER:
        copy(op, out + rank * block, in, block);
        EACH_OTHER(op, p)(void) receive(op, p, out + p * block, block);
        EACH_OTHER(op, p) send(op, p, out + rank * block, block);
        break;
    case HG_COMM_GATHER:
        if (!comm_is_root(op)) {
            send(op, op->call.peer, in, block);
        } else {
            copy(op, out + rank * block, in, block);
            EACH_OTHER(op, p)(void) receive(op, p, out + p * block, block);
        }
        break;
    case HG_COMM_SCATTER:
        if (!comm_is_root(op))
            (void)receive(op, op->call.peer, out, block);
        else
            EACH_OTHER(op, p) send(op, p, in + p * block, block);
        break;
    case HG_COMM_ALL_TO_ALL:
        copy(op, out + rank * block, in + rank * block, block);
        EACH_OTHER(op, p)(void) receive(op, p, out + p * block, block);
        EACH_OTHER(op, p) send(op, p, in + p * block, block);
        break;
    case HG_COMM_SEND: add(op, op->call.peer, in, block)->channel = COMM_POINT; break;
    case HG_COMM_RECV: receive(op, op->call.peer, out, block)->channel = COMM_POINT; break;
    default: op->stage = COMM_OVER; break;
    }
}

/* ---- rounds ---- */

static hg_status data_round(comm_op *op) {
    if (comm_combines(op->call.kind))
        HG_TRY(combine_round(op));
    else if (op->call.kind == HG_COMM_BROADCAST)
        broadcast(op);
    else
        move_round(op);
    return op->device.copies;
}

/* Where not every rank's arrays can stay on the device, those of this one are copied after all. */
static hg_status settle_arrays(comm_op *op) {
    op->device.all = op->own.device;
    return op->device.own && !op->device.all ? comm_find_arrays(op) : HG_OK;
}

static hg_status begin_data(comm_op *op) {
    if (comm_is_collective(op->call.kind) && comm_op_is_small(op)) {
        op->stage = COMM_OVER;
        return finish_small(op);
    }
    op->stage = op->block ? COMM_MOVES : COMM_OVER;
    op->round.number = 0;
    if (!op->block) return HG_OK;
    HG_TRY(settle_arrays(op));
    return data_round(op);
}

/* Another round of the first messages; or the first one of what comes after them. */
static hg_status first_round(comm_op *op) {
    bool collective = comm_is_collective(op->call.kind),
         direct = op->among.count <= comm_limit.direct;
    if (collective && !direct) {
        if (op->round.number) hear(op);
        if (op->among.count > UINT64_C(1) << op->round.number) {
            first_passed_on(op);
            return HG_OK;
        }
        HG_TRY(check_header(op, &op->other));
        return begin_data(op);
    }
    if (op->round.number == 0) {
        if (collective)
            first_to_all(op);
        else
            first_to_peer(op);
        return HG_OK;
    }
    HG_TRY(collective ? check_all(op) : check_header(op, &op->other));
    return begin_data(op);
}

hg_status comm_op_received(comm_op *op) {
    return op->stage == COMM_MOVES && comm_combines(op->call.kind) ? combine_received(op) : HG_OK;
}

static hg_status next_round(comm_op *op) {
    op->round.count = op->round.receives = 0;
    op->round.received = false;
    if (op->stage == COMM_NEW) {
        op->stage = COMM_FIRST;
        op->round.number = 0;
        op->other = op->own;
        return first_round(op);
    }
    op->round.number++;
    return op->stage == COMM_FIRST ? first_round(op) : data_round(op);
}

hg_status comm_op_next(comm_op *op) {
    hg_status status = next_round(op);
    for (uint32_t i = op->round.receives; i < op->round.count && status == HG_OK; i++)
        op->comm->counts.sent += op->round.transfers[i].bytes;
    return status;
}

/* ---- what goes over the wire ---- */

/* How many blocks go from rank to rank, in all. */
static uint64_t blocks_moved(hg_comm_kind kind, uint64_t ranks) {
    switch (kind) {
    case HG_COMM_ALL_REDUCE: return 2 * (ranks - 1);
    case HG_COMM_ALL_GATHER:
    case HG_COMM_REDUCE_SCATTER:
    case HG_COMM_ALL_TO_ALL: return (ranks - 1) * ranks;
    default: return ranks - 1;
    }
}

/* Bytes of the first messages without what blocks are in them. */
static uint64_t first_bytes(uint64_t ranks) {
    uint64_t rounds = 0;
    if (ranks <= comm_limit.direct) return (ranks - 1) * ranks * sizeof(comm_header);
    while (ranks > UINT64_C(1) << rounds) rounds++;
    return ranks * rounds * 2 * sizeof(comm_header);
}

bool comm_call_bytes(hg_comm_kind kind, uint64_t block, uint32_t ranks, uint64_t *bytes) {
    hg_comm comm = {.size = ranks};
    comm_op op = {.comm = &comm, .call = {.kind = kind}, .block = block, .among = {.count = ranks}};
    bool one_gives = kind == HG_COMM_BROADCAST || kind == HG_COMM_SCATTER;
    uint64_t others = ranks ? ranks - 1 : 0,
             blocks = comm_op_is_small(&op)
                          ? (one_gives ? 1 : ranks) * others * comm_blocks_given(&op)
                          : blocks_moved(kind, ranks);
    *bytes = 0;
    if (!ranks) return true;
    return hg_mul_u64(blocks, block, bytes) && hg_add_u64(*bytes, first_bytes(ranks), bytes);
}
