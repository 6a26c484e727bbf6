/* What kernels with TRACE operations tell a debugger.
 * Must not know: kernel IR, how a debugger talks to people. */
#include "tile/tile_internal.h"

void tile_trace(tile_frame *f, const tile_insn *insn) {
    const tile_debugger *d = f->kernel->options.debugger;
    const tile_mask *mask = &f->mask[insn->mask];
    if (!d || !mask->count || atomic_load_explicit(&f->state->stop, memory_order_relaxed)) return;
    tile_place place = {.inst = insn->inst ? insn->inst - 1 : 0,
                        .lane0 = f->lane0,
                        .n = f->n,
                        .active = tile_mask_bytes(f, mask),
                        .phase = f->phase,
                        .shared = f->shared.size ? f->shared.bytes : NULL,
                        .shared_bytes = f->shared.size,
                        .launch = f->state->launch};
    const tile_traced *t = &insn->u.traced;
    if (t->what == KIR_TRACE_POINT && insn->size) {
        place.own = f->reg[insn->c];
        place.own_element = insn->size;
        place.own_width = f->width;
    }
    if (t->what != KIR_TRACE_POINT) {
        d->value(d->user, &place, t->what == KIR_TRACE_PREDICATE, t->number, t->atlas_type, t->part,
                 f->reg[insn->a], insn->size, insn->b);
    } else if (!d->point(d->user, &place)) {
        atomic_store_explicit(&f->state->stop, 2, memory_order_relaxed);
        f->fuel = -1; /* loops and calls end where they next look */
    }
}
