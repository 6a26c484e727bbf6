/* Groups of a device form: shared memory that begins as zeros, and barriers that all lanes of a
 * group reach, stopped ones too.
 *
 * A stopped lane of a group goes on as a ghost: what decides whether barriers are reached (kept.c)
 * it computes like all others, its stores and atomics are masked, and loops that decide nothing are
 * left. Two words in front of the shared memory say to the group after a barrier that a lane
 * faulted before it (all leave together), or that no lane is left. They hold the number of the
 * barrier, so that a quick lane's next message does not disturb a slow one that still reads.
 * Must not know: accesses. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

/* ---- the start ---- */

enum { MOST_FILLED = 1 << 16 /* bytes of shared memory, by one lane alone */ };

/* Zeroes reserved words and shared memory, each lane a part. */
static void fill(device *d, kir_builder *b) {
    kir_value *lanes = shift_by(b, KIR_SHL, device_block_lanes(d, b), 2);
    kir_value *bytes = kir_add(b, device_field32(d, b, KIR_FIELD_SHARED_BYTES, 0),
                               u32(b, d->layout->shared_reserved));
    kir_var *at = kir_var_create(d->out, b->function, HG_TYPE_U32, 0, "at");
    kir_set(b, at, shift_by(b, KIR_SHL, device_linear(d, b), 2));
    kir_value *loop = kir_loop_begin(b, true), *offset = kir_get(b, at);
    loop->u.loop.most = MOST_FILLED / 4;
    kir_value *over = kir_if_begin(b, kir_not(b, kir_binary(b, KIR_CMP_ULT, offset, bytes)));
    kir_break(b);
    kir_if_end(b, over);
    device_raw_store(d, b, &DEVICE_GROUP_MEMORY, offset, u32(b, 0), false);
    kir_set(b, at, kir_add(b, offset, lanes));
    kir_loop_end(b, loop);
}

void device_begin_group(device *d, kir_builder *b) {
    d->layout->shared_reserved = d->ghosts && (d->kernel.tell_faults || d->kernel.tell_alive)
                                     ? KIR_SHARED_RESERVED
                                     : 0;
    if (d->kernel.fills) {
        fill(d, b);
    } else if (d->layout->shared_reserved) {
        kir_value *first = kir_if_begin(b, is_zero(b, device_linear(d, b)));
        kir_value *fault = u32(b, DEVICE_FAULT_WORD), *alive = u32(b, DEVICE_ALIVE_WORD),
                  *none = u32(b, 0);
        device_raw_store(d, b, &DEVICE_GROUP_MEMORY, fault, none, true);
        device_raw_store(d, b, &DEVICE_GROUP_MEMORY, alive, none, true);
        kir_if_end(b, first);
    } else {
        return;
    }
    kir_emit(b, KIR_BARRIER, KIR_VOID, 0, NULL);
}

/* ---- barriers ---- */

/* All lanes of the group leave the kernel here, or the function and then its callers. */
static void leave_together(device *d, kir_builder *b, kir_value *when) {
    kir_value *leave = kir_if_begin(b, when);
    if (d->at.function == d->in->functions) {
        kir_emit(b, KIR_EXIT, KIR_VOID, 0, NULL)->u.imm = 1;
    } else {
        kir_var *stopped = device_own_var(d, &d->vars.block_stopped, KIR_BOOL, "block_stopped");
        kir_set(b, stopped, kir_const(b, KIR_BOOL, 1));
        uint8_t type = b->function ? b->function->result : (uint8_t)KIR_VOID;
        kir_return(b, type == KIR_VOID ? NULL : kir_const(b, type, 0));
    }
    kir_if_end(b, leave);
}

void device_follow_block(device *d, kir_builder *b) {
    if (d->vars.block_stopped || d->kernel.tell_faults || d->kernel.tell_alive)
        leave_together(
            d, b, kir_get(b, device_own_var(d, &d->vars.block_stopped, KIR_BOOL, "block_stopped")));
}

/* A word of the group's that decides for all its lanes. */
static kir_value *load_for_all(device *d, kir_builder *b, uint32_t offset) {
    kir_value *word = device_raw_load(d, b, &DEVICE_GROUP_MEMORY, u32(b, offset), HG_TYPE_U32,
                                      true);
    word->u.mem.uniform = 1;
    return word;
}

static void synchronise(device *d, kir_builder *b, uint64_t id) {
    kir_value *number = kir_add(b, kir_get(b, device_sync(d)), u32(b, 1));
    if (d->kernel.tell_alive) {
        kir_value *live = d->at.maybe_stopped ? kir_if_begin(b, device_is_live(d, b)) : NULL;
        device_raw_store(d, b, &DEVICE_GROUP_MEMORY, u32(b, DEVICE_ALIVE_WORD), number, true);
        if (live) kir_if_end(b, live);
    }
    kir_emit(b, KIR_BARRIER, KIR_VOID, 0, NULL)->u.imm = id;
    kir_set(b, device_sync(d), number);
    kir_value *over = NULL;
    if (d->kernel.tell_faults) {
        kir_value *word = load_for_all(d, b, DEVICE_FAULT_WORD);
        over = kir_binary(b, KIR_CMP_ULT, by(b, KIR_SUB, word, 1), number); /* 0: none */
    }
    if (d->kernel.tell_alive) {
        kir_value *word = load_for_all(d, b, DEVICE_ALIVE_WORD);
        kir_value *empty = kir_binary(b, KIR_CMP_ULT, word, number);
        over = over ? kir_binary(b, KIR_OR, over, empty) : empty;
    }
    if (over) leave_together(d, b, over);
}

void device_lower_barrier(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    if (!d->ghosts || v->u.imm == KIR_BARRIER_INNER) { /* between these no lane stops */
        kir_emit(b, KIR_BARRIER, KIR_VOID, 0, NULL)->u.imm = v->u.imm;
        return;
    }
    synchronise(d, b, v->u.imm);
    kir_var *phase = device_phase(d);
    kir_set(b, phase, kir_add(b, kir_get(b, phase), u32(b, 1)));
    /* who faulted before has taken all others along */
    if (kir_in_loops_only(v) && d->at.function == d->in->functions)
        d->at.maybe_stopped = d->kernel.can_exit || !d->options->whole_blocks ||
                              d->options->fold > 1;
}

/* ---- the clock in loops that ghosts stay in: the group looks and leaves together ---- */

static bool has_own_barrier(const kir_value *loop) {
    for (const kir_value *v = loop->body[0]->first; v; v = v->next)
        if (v->op == KIR_BARRIER) return true;
    return false;
}

void device_enter_kept(device *d, kir_builder *b, const kir_value *loop) {
    if (loop->u.loop.bounded) return;
    kir_var *count = device_own_var(d, &d->vars.common_rounds, HG_TYPE_U32, "common_rounds");
    kir_value *n = kir_add(b, kir_get(b, count), u32(b, 1));
    kir_set(b, count, n);
    kir_value *look = kir_if_begin(b, is_zero(b, by(b, KIR_AND, n, KIR_POLL_ROUNDS - 1)));
    kir_value *over = kir_if_begin(b, device_ask_clock(d, b));
    device_tell_group(d, b);
    kir_if_end(b, over);
    if (!has_own_barrier(loop)) synchronise(d, b, 0);
    kir_if_end(b, look);
}
