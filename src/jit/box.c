/* What values can be in a block, for TURNS that are printed without what that settles (pass `boxes`): the least and the largest, unsigned.
 * Must not know: how a turn is printed. */
#include "jit/jit_internal.h"

typedef struct bounds {
    LLVMValueRef low, high;
} bounds;

/* Conditions that have to hold; i1. */
typedef struct asker {
    jit_printer *p;
    LLVMValueRef all;
} asker;

static void ask(asker *a, LLVMValueRef condition) { a->all = LLVMBuildAnd(a->p->b, a->all, condition, ""); }

static bounds bounds_of(const asker *a, const vec_value *v) {
    jit_printer *p = a->p;
    if (v->op == VEC_CONST || !vec_turns_around(v)) {
        LLVMValueRef one = jit_one(p, v);
        return (bounds){one, one};
    }
    return (bounds){p->low[v->id], p->high[v->id]};
}

/* x op y; it must not wrap. */
static LLVMValueRef exact(asker *a, const char *name, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[2] = {x, y}, made = jit_intrinsic(a->p, name, &type, 1, args, 2);
    ask(a, LLVMBuildNot(a->p->b, LLVMBuildExtractValue(a->p->b, made, 1, ""), ""));
    return LLVMBuildExtractValue(a->p->b, made, 0, "");
}

static bounds plus(asker *a, bounds x, bounds y) {
    return (bounds){LLVMBuildAdd(a->p->b, x.low, y.low, ""), exact(a, "llvm.uadd.with.overflow", x.high, y.high)};
}

static bounds minus(asker *a, bounds x, bounds y) {
    return (bounds){exact(a, "llvm.usub.with.overflow", x.low, y.high), LLVMBuildSub(a->p->b, x.high, y.low, "")};
}

static bounds times(asker *a, bounds x, bounds y) {
    return (bounds){LLVMBuildMul(a->p->b, x.low, y.low, ""), exact(a, "llvm.umul.with.overflow", x.high, y.high)};
}

static bounds both(LLVMValueRef x) { return (bounds){x, x}; }

/* A sum with a number that has its top bit: a difference. */
static bool is_negative(const vec_value *v) { return v->op == VEC_CONST && v->u.imm >> (kir_type_bits(v->type) - 1) & 1; }

static bounds sum(asker *a, const vec_value *v) {
    for (int i = 0; i < 2; i++)
        if (is_negative(v->args[i])) {
            LLVMValueRef number = LLVMConstNeg(jit_one(a->p, v->args[i]));
            return minus(a, bounds_of(a, v->args[1 - i]), both(number));
        }
    return plus(a, bounds_of(a, v->args[0]), bounds_of(a, v->args[1]));
}

static bounds narrowed(asker *a, const vec_value *v, bounds x) {
    LLVMBuilderRef b = a->p->b;
    LLVMTypeRef type = jit_scalar(a->p, v->type);
    LLVMValueRef high = LLVMBuildTrunc(b, x.high, type, "");
    ask(a, LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildZExt(b, high, LLVMTypeOf(x.high), ""), x.high, ""));
    return (bounds){LLVMBuildTrunc(b, x.low, type, ""), high};
}

static bounds of_prim(asker *a, const vec_value *v) {
    LLVMBuilderRef b = a->p->b;
    LLVMTypeRef type = jit_scalar(a->p, v->type);
    bounds x = bounds_of(a, v->args[0]);
    switch ((kir_op)v->prim) {
    case KIR_ADD: return sum(a, v);
    case KIR_SUB: return minus(a, x, bounds_of(a, v->args[1]));
    case KIR_MUL: return times(a, x, bounds_of(a, v->args[1]));
    case KIR_SHL: return times(a, x, both(LLVMConstInt(type, UINT64_C(1) << v->args[1]->u.imm, false)));
    case KIR_LSHR: {
        LLVMValueRef by = LLVMConstInt(type, v->args[1]->u.imm, false);
        return (bounds){LLVMBuildLShr(b, x.low, by, ""), LLVMBuildLShr(b, x.high, by, "")};
    }
    case KIR_AND: {
        LLVMValueRef mask = jit_one(a->p, v->args[1]), less = LLVMBuildICmp(b, LLVMIntULT, x.high, mask, "");
        return (bounds){LLVMConstNull(type), LLVMBuildSelect(b, less, x.high, mask, "")};
    }
    case KIR_ZEXT: return (bounds){LLVMBuildZExt(b, x.low, type, ""), LLVMBuildZExt(b, x.high, type, "")};
    default: return narrowed(a, v, x);
    }
}

/* Of a turn's first lane. */
static bounds of_place(const asker *a, const vec_value *v) {
    jit_printer *p = a->p;
    LLVMValueRef lanes = jit_u64(p, p->lanes), one = jit_u32(p, 1), none = jit_u32(p, 0);
    if (v->op == VEC_FIRST) return (bounds){p->begin, LLVMBuildSub(p->b, p->end_lane, lanes, "")};
    uint32_t axis = hg_idname_axis((hg_idname)v->u.imm);
    if (axis == 0) return (bounds){none, LLVMBuildTrunc(p->b, LLVMBuildSub(p->b, p->row, lanes, ""), p->t.i32, "")};
    return (bounds){none, LLVMBuildSub(p->b, axis == 1 ? p->rows : p->layers, one, "")};
}

/* ---- conditions ---- */

static void ask_below(asker *a, const vec_value *v) {
    jit_printer *p = a->p;
    if (v->prim == KIR_AND) {
        for (int i = 0; i < 2; i++) ask_below(a, v->args[i]);
        return;
    }
    const vec_value *ramp = v->args[0]->each ? vec_ramp_of(v->args[0]) : NULL;
    LLVMValueRef least = bounds_of(a, v->args[1]).low, most = bounds_of(a, ramp ? ramp->args[0] : v->args[0]).high;
    if (ramp) {
        uint64_t span = ramp->u.imm * (p->lanes - 1);
        most = exact(a, "llvm.uadd.with.overflow", most, LLVMConstInt(LLVMTypeOf(most), span, false));
        if (LLVMTypeOf(most) != LLVMTypeOf(least)) most = LLVMBuildZExt(p->b, most, LLVMTypeOf(least), "");
    }
    ask(a, LLVMBuildICmp(p->b, LLVMIntULT, most, least, ""));
}

static void ask_check(asker *a, const vec_value *v) {
    bounds at = v->u.mem.has_index ? bounds_of(a, v->args[0]) : both(jit_u64(a->p, 0));
    ask(a, LLVMBuildNot(a->p->b, jit_is_outside(a->p, v, at.low, at.high), ""));
}

LLVMValueRef jit_goes_well(jit_printer *p, const vec_value *turns) {
    LLVMValueRef intact = LLVMBuildLoad2(p->b, p->t.i8, p->intact, "");
    asker a = {p, LLVMBuildICmp(p->b, LLVMIntNE, intact, LLVMConstNull(p->t.i8), "")};
    for (const vec_value *v = vec_walk(NULL, turns->body[0]); v; v = vec_walk(v, turns->body[0])) {
        if (v->tested && v->op != VEC_CONST) {
            bounds made = v->op == VEC_PRIM ? of_prim(&a, v) : of_place(&a, v);
            p->low[v->id] = made.low;
            p->high[v->id] = made.high;
        }
        if (!v->settled) continue;
        if (v->op == VEC_CHECK)
            ask_check(&a, v);
        else
            ask_below(&a, v->op == VEC_IF ? v->args[0] : v);
    }
    return a.all;
}
