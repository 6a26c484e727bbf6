/* Devices that leave loops by themselves: after target.max_rounds rounds of all loops of an
 * invocation together, those of other lanes that run in step with a lane and those of definitions
 * among them, each loop ends with its first round and what follows goes on.
 *
 * Nobody need count. Once loops are cut they stay so, so a loop that needs a few rounds tells
 * whether any has been: at the end of the kernel, before a fault is recorded, and at barriers,
 * which lanes with cut loops may reach too early. When to leave it comes from memory, so that no
 * compiler can know what it does.
 * Must not know: devices by name. */
#include "kir/builder.h"
#include "kir/device/device_internal.h"
#include "kir/sugar.h"

enum { LOOK_ROUNDS = 4 /* compilers write the first in front of the loop */ };

/* Whether loops are cut now; if so it is said in the fault record. */
static kir_function *look_at_rounds(device *d) {
    rewrite_helper f = device_helper(d, "look_at_rounds", KIR_BOOL, 0, NULL);
    if (!f.fresh || d->failed) return f.function;
    f.function->cold = true;
    kir_builder *b = &f.b;
    kir_var *rounds = kir_var_create(d->out, b->function, HG_TYPE_U32, 0, "rounds");
    if (!rounds) b->failed = true;
    if (!b->failed) {
        kir_set(b, rounds, u32(b, 0));
        kir_value *loop = kir_loop_begin(b, true), *n = kir_add(b, kir_get(b, rounds), u32(b, 1));
        kir_set(b, rounds, n);
        kir_value *last = kir_if_begin(
            b,
            below(b, by(b, KIR_ADD, device_read_word(d, b, KIR_FAULT_PHASE_HIGH), LOOK_ROUNDS - 1),
                  n));
        kir_break(b);
        kir_if_end(b, last);
        kir_loop_end(b, loop);
        kir_value *cut = kir_not(b, by(b, KIR_CMP_EQ, kir_get(b, rounds), LOOK_ROUNDS)),
                  *is_cut = kir_if_begin(b, cut);
        device_write_word(d, b, KIR_FAULT_CANCEL, u32(b, KIR_CANCEL_ROUNDS));
        kir_if_end(b, is_cut);
        kir_return(b, cut);
    }
    device_helper_end(d, &f);
    return f.function;
}

/* A call of it in front of an operation. */
static void look_before(device *d, kir_function *f, kir_function *look, kir_region *region,
                        kir_value *at, bool leave) {
    kir_builder b;
    kir_region head = {.owner = region->owner};
    kir_builder_init(&b, d->out, f);
    b.region = &head;
    kir_value *cut = kir_call(&b, look, 0, NULL, NULL);
    if (leave) {
        kir_value *is_cut = kir_if_begin(&b, cut);
        kir_return(&b, NULL);
        kir_if_end(&b, is_cut);
    }
    d->failed = d->failed || b.failed;
    if (!b.failed) kir_splice(region, at, &head);
}

static void look_at_barriers(device *d, kir_module *m, kir_function *look) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BARRIER) look_before(d, f, look, v->parent, v, false);
}

static bool exits(const kir_function *kernel) {
    for (const kir_value *v = kir_walk(NULL, kernel->body); v; v = kir_walk(v, kernel->body))
        if (v->op == KIR_EXIT) return true;
    return false;
}

/* The kernel without a way out but its end. Arrays stay what they are: of the module, cleared once.
 */
static void close_kernel(device *d, kir_module *m) {
    kir_function *kernel = m->functions;
    if (!exits(kernel)) return;
    for (kir_var *v = m->vars; v; v = v->next)
        if (v->function == kernel && v->length) v->function = NULL;
    kir_function *lane = device_wrap_kernel(m);
    kir_builder b;
    kir_builder_init(&b, m, kernel);
    if (lane)
        (void)kir_call(&b, lane, 0, NULL, NULL);
    else
        d->failed = true;
    d->failed = d->failed || b.failed;
}

/* Rounds in which an emitter may clear arrays. */
static uint64_t clearing(const kir_module *m) {
    uint64_t rounds = 0;
    for (const kir_var *v = m->vars; v; v = v->next) rounds += v->length / 32;
    return rounds;
}

void device_watch_rounds(device *d, kir_module *m) {
    uint32_t most = d->options->target.max_rounds / 2; /* compilers may have rounds of their own */
    if (!most || d->failed) return;
    uint64_t rounds = kir_most_rounds(m, d->vars.recorder); /* a lane that waits there to record a
                                                               fault waits for one that records one
                                                             */
    if (rounds < most && clearing(m) < most - rounds) return;
    kir_function *look = look_at_rounds(d);
    if (d->failed) return;
    look_at_barriers(d, m, look);
    if (d->vars.recorder)
        look_before(d, d->vars.recorder, look, d->vars.recorder->body,
                    d->vars.recorder->body->first, true);
    close_kernel(d, m);
    if (!d->failed) look_before(d, m->functions, look, m->functions->body, NULL, false);
}
