/* The clock: loops that are not proven short look at it every KIR_POLL_ROUNDS rounds, and lanes
 * stop when their time is over.
 * Must not know: how lanes stop. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

static kir_function *out_of_time(device *d) {
    uint8_t types[] = {HG_TYPE_U32};
    rewrite_helper f = device_helper(d, "out_of_time", HG_TYPE_U32, 1, types);
    if (!f.fresh) return f.function;
    f.function->cold = true;
    kir_builder *b = &f.b;
    kir_value *calm = kir_if_begin(b, is_zero(b, device_read_word(d, b, KIR_FAULT_CANCEL)));
    kir_value *early = kir_if_begin(
        b, kir_binary(b, KIR_CMP_ULT, kir_param(b, 0), device_field32(d, b, KIR_FIELD_FUEL, 0)));
    kir_return(b, u32(b, 0));
    kir_if_end(b, early);
    device_write_word(d, b, KIR_FAULT_CANCEL, u32(b, 1));
    kir_if_end(b, calm);
    kir_return(b, u32(b, 1));
    device_helper_end(d, &f);
    return f.function;
}

/* Looks are counted up to one below FUEL's largest value, which stands for a launch that may take
 * any time. */
kir_value *device_ask_clock(device *d, kir_builder *b) {
    kir_var *looks = device_own_var(d, &d->vars.looks, HG_TYPE_U32, "looks");
    kir_value *n = kir_get(b, looks), *few = kir_binary(b, KIR_CMP_ULT, n, u32(b, UINT32_MAX - 1));
    n = kir_add(b, n, kir_select(b, few, u32(b, 1), u32(b, 0)));
    kir_set(b, looks, n);
    return kir_not(b, is_zero(b, kir_call(b, out_of_time(d), 1, &n, NULL)));
}

/* ---- loops ---- */

static kir_var *rounds(device *d) {
    return device_own_var(d, &d->vars.rounds, HG_TYPE_U32, "rounds");
}

static kir_var *fresh(device *d, kir_builder *b, uint8_t type, const char *name) {
    kir_var *v = kir_var_create(d->out, b->function, type, 0, name);
    if (!v) d->failed = true;
    return v;
}

/* Operations of a round, those of functions that it calls among them; more than `most`: it does not
 * say. */
static uint32_t operations(const kir_region *region, uint32_t most) {
    uint32_t count = 0;
    for (const kir_value *v = kir_walk(NULL, region); v && count <= most; v = kir_walk(v, region)) {
        if (v->op == KIR_LOOP || v->op == KIR_BARRIER) return most + 1;
        count++;
        if (v->op != KIR_CALL) continue;
        for (const kir_value *w = kir_walk(NULL, v->u.call.function->body); w && count <= most;
             w = kir_walk(w, v->u.call.function->body))
            count += w->op == KIR_LOOP || w->op == KIR_CALL ? most : 1;
    }
    return count;
}

enum { MOST_WRITTEN_OUT = 64 }; /* operations: of longer rounds the look is a small part */

static uint32_t rounds_written_out(const device *d, const kir_value *loop) {
    uint32_t rounds = d->options->target.written_rounds;
    return rounds > 1 && operations(loop->body[0], MOST_WRITTEN_OUT) <= MOST_WRITTEN_OUT ? rounds
                                                                                         : 1;
}

void device_poll_begin(device *d, kir_builder *b, const kir_value *v, device_loop *loop) {
    loop->left = fresh(d, b, KIR_BOOL, "left");
    loop->outer = kir_loop_begin(b, true);
    loop->written = rounds_written_out(d, v);
    if (loop->written > 1) {
        loop->round = fresh(d, b, HG_TYPE_U32, "round");
        loop->middle = kir_loop_begin(b, true);
        kir_set(b, loop->round, u32(b, 0));
    }
    kir_set(b, loop->left, kir_const(b, KIR_BOOL, 1));
}

static void leave_for_look(kir_builder *b, const device_loop *loop, kir_value *when) {
    kir_value *look = kir_if_begin(b, when);
    kir_set(b, loop->left, kir_const(b, KIR_BOOL, 0));
    kir_break(b);
    kir_if_end(b, look);
}

/* Counts so many rounds of the lane, a power of two; whether it is time for a look: the number has
 * passed a multiple of KIR_POLL_ROUNDS, which it need not have met, since other loops count by
 * other steps. */
static kir_value *count_rounds(device *d, kir_builder *b, uint32_t more) {
    kir_value *n = kir_add(b, kir_get(b, rounds(d)), u32(b, more));
    kir_set(b, rounds(d), n);
    return is_zero(b, by(b, KIR_AND, n, KIR_POLL_ROUNDS - more));
}

void device_poll_round(device *d, kir_builder *b, const device_loop *loop) {
    if (loop->written == 1) {
        leave_for_look(b, loop, count_rounds(d, b, 1));
        return;
    }
    b->region->owner->u.loop.written_out = true;
    kir_value *n = kir_get(b, loop->round);
    leave_for_look(b, loop, kir_binary(b, KIR_CMP_EQ, n, u32(b, loop->written)));
    kir_set(b, loop->round, kir_add(b, n, u32(b, 1)));
}

static void break_if_left(kir_builder *b, const device_loop *loop) {
    kir_value *left = kir_if_begin(b, kir_get(b, loop->left));
    kir_break(b);
    kir_if_end(b, left);
}

void device_poll_end(device *d, kir_builder *b, device_loop *loop) {
    break_if_left(b, loop);
    if (loop->middle) {
        kir_value *look = kir_if_begin(b, count_rounds(d, b, loop->written));
        kir_break(b);
        kir_if_end(b, look);
        kir_loop_end(b, loop->middle);
        break_if_left(b, loop);
    }
    kir_value *over = kir_if_begin(b, device_ask_clock(d, b));
    device_tell_group(d, b);
    device_stop_lane(d, b);
    kir_if_end(b, over);
    kir_loop_end(b, loop->outer);
}
