/* Checks of axes that follow from the conditions around them: where `c > 0 && c < n - 1` holds, and
 * n - 1 does not wrap, c - 1, c and c + 1 are below n. What is left to ask is one comparison of the
 * extent, the same in all turns of a launch.
 * Must not know: how lanes run together. */
#include "vector/form_internal.h"

enum { MOST_DEPTH = 16, MOST_LOOKED_AT = 128 };

/* base + offset of a value, modulo its type. */
typedef struct sum {
    const kir_value *base;
    int64_t offset;
} sum;

/* Offsets are short, so that sums of them do not wrap, in 32 bits either. */
static bool is_short(const kir_value *v) {
    return v->op == KIR_CONST && (v->type == HG_TYPE_U32 || v->type == HG_TYPE_U64) &&
           v->u.imm <= 1u << 24;
}

static sum sum_of(const kir_value *v) {
    sum s = {v, 0};
    for (int depth = 0; depth < 4 && (s.base->op == KIR_ADD || s.base->op == KIR_SUB); depth++) {
        if (!is_short(s.base->args[1])) break;
        const int64_t n = (int64_t)s.base->args[1]->u.imm;
        s.offset += s.base->op == KIR_ADD ? n : -n;
        s.base = s.base->args[0];
    }
    return s;
}

/* What is known of the index that a fault asks about, index = base + offset. */
typedef struct asked {
    const kir_value *base, *extent;
    int64_t offset;
    uint64_t low;   /* base is at least that */
    uint64_t least; /* where the extent is at least that, base + offset is below it, if base +
                       offset is no less than zero; UINT64_MAX: nothing is known */
    int looked;
} asked;

static void learn_limit(asked *a, uint64_t least) {
    if (least < a->least) a->least = least;
}

/* base < extent - down, or base <= extent - down, where that does not wrap. */
static void learn_upper(asked *a, const kir_value *limit, bool or_equal) {
    const sum s = sum_of(limit);
    if (s.base != a->extent || s.offset > 0) return;
    const int64_t down = -s.offset, room = or_equal ? down - 1 : down;
    if (a->offset <= room) learn_limit(a, (uint64_t)down);
}

static void learn_less(asked *a, const kir_value *x, const kir_value *y, bool or_equal) {
    if (x == a->base) learn_upper(a, y, or_equal);
    if (y != a->base || !is_short(x)) return;
    const uint64_t low = x->u.imm + !or_equal;
    if (low > a->low) a->low = low;
}

static void learn(asked *a, const kir_value *c, bool truth, int depth) {
    if (depth == 0 || ++a->looked > MOST_LOOKED_AT || c->nargs < 2) return;
    const kir_value *x = c->args[0], *y = c->args[1];
    switch ((kir_op)c->op) {
    case KIR_XOR:
        if (c->type == KIR_BOOL && y->op == KIR_CONST)
            learn(a, x, truth != (y->u.imm != 0), depth - 1);
        return;
    case KIR_AND:
    case KIR_OR: /* all of an AND that is true; of an OR that is false */
        if (c->type != KIR_BOOL || (c->op == KIR_AND) != truth) return;
        learn(a, x, truth, depth - 1);
        learn(a, y, truth, depth - 1);
        return;
    case KIR_CMP_ULT: truth ? learn_less(a, x, y, false) : learn_less(a, y, x, true); return;
    case KIR_CMP_EQ:
        if (!truth && x == a->base && is_short(y) && y->u.imm == 0 && !a->low) a->low = 1;
        return;
    default: return;
    }
}

/* The fault of an index that is not below an extent. */
static bool is_plain(const kir_value *v) {
    const kir_value *c = v->args[0];
    if (!v->u.fault.axis || c->op != KIR_XOR || c->args[1]->op != KIR_CONST || !c->args[1]->u.imm)
        return false;
    c = c->args[0];
    return c->op == KIR_CMP_ULT && c->args[0] == v->args[1] && c->args[1] == v->args[2];
}

bool vec_is_implied(const kir_value *v, uint64_t *least) {
    if (!is_plain(v)) return false;
    const sum index = sum_of(v->args[1]);
    asked a = {.base = index.base,
               .extent = v->args[2],
               .offset = index.offset,
               .low = index.base->umin,
               .least = UINT64_MAX};
    if (a.base->op == KIR_UREM && a.base->args[1] == a.extent && a.offset <= 0) learn_limit(&a, 1);
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (r->owner->op == KIR_IF)
            learn(&a, r->owner->args[0], r == r->owner->body[0], MOST_DEPTH);
    *least = a.least;
    return a.least != UINT64_MAX && (a.offset >= 0 || a.low >= (uint64_t)-a.offset);
}
