/* Memory operations and faults of the vector form as LLVM IR.
 * Must not know: values' primitives, control flow of the kernel. */
#include "jit/jit_internal.h"
#include "vector/stretch.h"

#include <hologram/vector.h>
#include <stddef.h>
#include <string.h>

/* ---- sites ---- */

static LLVMValueRef message_text(jit_printer *p, const char *text) {
    LLVMValueRef data = LLVMConstStringInContext(p->context, text, (unsigned)strlen(text), false);
    LLVMValueRef made = LLVMAddGlobal(p->module, LLVMTypeOf(data), "message");
    LLVMSetInitializer(made, data);
    LLVMSetGlobalConstant(made, true);
    LLVMSetLinkage(made, LLVMInternalLinkage);
    return made;
}

/* A hgv_site. */
static LLVMValueRef new_site(jit_printer *p, const vec_value *v, uint8_t code) {
    bool place = vec_op_has((vec_op)v->op, VEC_F_PLACE);
    const kir_slot *slot = place ? vec_slot_of(p->k, v) : NULL;
    const char *message = place ? NULL : v->u.fault.message;
    uint64_t input = slot && !slot->constant ? slot->input : UINT32_MAX;
    LLVMValueRef fields[] = {
        LLVMConstInt(p->t.i8, code, false),
        LLVMConstInt(p->t.i8, place ? v->u.mem.operand : v->u.fault.operand, false),
        LLVMConstInt(p->t.i8, place && v->u.mem.pool, false),
        LLVMConstInt(p->t.i8, place ? 0 : v->u.fault.values, false),
        jit_u32(p, v->inst ? v->inst - 1 : 0),
        jit_u32(p, place ? v->u.mem.size : 0),
        jit_u32(p, input),
        message ? message_text(p, message) : LLVMConstNull(p->t.ptr),
        jit_u64(p, slot && slot->constant ? slot->handle : 0),
        jit_u64(p, 0),
    };
    LLVMValueRef data = LLVMConstStructInContext(p->context, fields, HG_COUNT_OF(fields), false);
    LLVMValueRef made = LLVMAddGlobal(p->module, LLVMTypeOf(data), "site");
    LLVMSetInitializer(made, data);
    LLVMSetGlobalConstant(made, true);
    LLVMSetLinkage(made, LLVMInternalLinkage);
    LLVMSetAlignment(made, 8);
    return made;
}

/* ---- lanes that end ---- */

static void lose(jit_printer *p, const vec_value *v, LLVMValueRef gone) {
    if (!v->loses.count) return;
    LLVMValueRef left = jit_i1_of_bits(p, LLVMBuildNot(p->b, gone, ""));
    for (uint8_t k = 0; k < v->loses.count; k++) {
        LLVMValueRef mask = jit_mask_of_i1(p, left, jit_var_size(p, v->loses.vars[k]));
        jit_write_var(p, v->loses.vars[k],
                      LLVMBuildAnd(p->b, jit_read_var(p, v->loses.vars[k]), mask, ""));
    }
}

void jit_end_lanes_of(jit_printer *p, const vec_value *v, LLVMValueRef gone) {
    if (p->in.alone) { /* and the turn with it */
        jit_end_turn(p);
        return;
    }
    if (p->block.intact) LLVMBuildStore(p->b, LLVMConstNull(p->t.i8), p->block.intact);
    jit_set_run(p, LLVMBuildAnd(p->b, jit_run(p), LLVMBuildNot(p->b, gone, ""), ""));
    if (!p->in.turn) jit_set_ended(p, LLVMBuildOr(p->b, jit_ended(p), gone, ""));
    lose(p, v, gone);
}

/* Lanes of `gone` end, if there are any. */
static void end_if_any(jit_printer *p, const vec_value *v, LLVMValueRef gone) {
    jit_if(p, NULL, LLVMBuildICmp(p->b, LLVMIntNE, gone, jit_u64(p, 0), ""), true);
    jit_end_lanes_of(p, v, gone);
    jit_end_if(p);
}

/* ---- places ---- */

LLVMValueRef jit_base_of(jit_printer *p, const vec_value *v) {
    if (v->u.mem.space == KIR_CLASS)
        return jit_field(p, p->in.class_base, (uint64_t)v->u.mem.class_id * VEC_CLASS_BYTES);
    if (v->u.mem.space == KIR_SHARED) return p->block.shared_base;
    return p->by.bases[v->u.mem.slot];
}
static LLVMValueRef size_of(jit_printer *p, const vec_value *v) {
    if (v->u.mem.space == KIR_SHARED) return p->block.shared_size;
    return v->u.mem.space == KIR_CLASS ? p->in.class_size : p->by.sizes[v->u.mem.slot];
}

static LLVMValueRef first_index(jit_printer *p, const vec_value *v) {
    return v->u.mem.has_index ? jit_one(p, v->args[0]) : jit_u64(p, 0);
}

/* Where an index is x so many bits on, of an x that no more bits are lost of than it has: x. Larger
 * ones are limited, and outside of any memory: so x itself is compared, and is the place where it
 * is inside. NULL: it is no such index. */
static const vec_value *before_limit(const vec_value *v, uint64_t *shift) {
    if (!v->u.mem.has_index || v->u.mem.open) return NULL;
    const vec_value *index = v->args[0];
    if (index->op != VEC_PRIM || index->prim != KIR_SHL || index->args[1]->op != VEC_CONST)
        return NULL;
    const vec_value *least = index->args[0];
    *shift = index->args[1]->u.imm;
    if (least->op != VEC_PRIM || least->prim != KIR_SELECT || *shift == 0 || *shift > 8)
        return NULL;
    const vec_value *is = least->args[0];
    if (is->op != VEC_PRIM || is->prim != KIR_CMP_ULT) return NULL;
    const vec_value *x = is->args[0], *most = is->args[1];
    return x->type == HG_TYPE_U64 && most->op == VEC_CONST && most->u.imm == UINT64_MAX >> *shift &&
                   least->args[1] == x && least->args[2] == most && x->each == index->each
               ? x
               : NULL;
}

static LLVMValueRef value_of(jit_printer *p, const vec_value *v) {
    return v->each ? jit_each(p, v) : jit_one(p, v);
}

/* The index, one or each, of what is inside. */
static LLVMValueRef inside_index(jit_printer *p, const vec_value *v) {
    uint64_t shift = 0;
    const vec_value *x = before_limit(v, &shift);
    if (!x) return value_of(p, v->args[v->u.mem.open]);
    LLVMValueRef far = jit_u64(p, shift);
    return LLVMBuildShl(p->b, value_of(p, x), x->each ? jit_splat(p, far) : far, "");
}

/* Of the first lane, or of all: without disp. */
static LLVMValueRef place(jit_printer *p, const vec_value *v) {
    LLVMValueRef at = jit_base_of(p, v);
    return v->u.mem.has_index && !v->args[0]->each ? jit_at(p, at, inside_index(p, v)) : at;
}

static LLVMValueRef address(jit_printer *p, const vec_value *v) {
    LLVMValueRef at = place(p, v);
    return v->u.mem.disp ? jit_field(p, at, (uint64_t)v->u.mem.disp) : at;
}

/* A value of each lane, made again of a narrower one where that is short: so that what rarely runs
 * does not have the wide one made in every turn. */
static LLVMValueRef each_again(jit_printer *p, const vec_value *v) {
    const bool short_one = v->op == VEC_PRIM && v->each && v->args[0]->each;
    if (short_one && v->prim == KIR_ZEXT && v->args[0]->type != KIR_BOOL)
        return LLVMBuildZExt(p->b, each_again(p, v->args[0]), jit_type_of(p, v), "");
    if (!short_one || v->prim != KIR_SHL || v->args[1]->op != VEC_CONST ||
        v->args[1]->u.imm >= kir_type_bits(v->type))
        return jit_each(p, v);
    LLVMValueRef far = LLVMConstInt(jit_scalar(p, v->type), v->args[1]->u.imm, false);
    return LLVMBuildShl(p->b, each_again(p, v->args[0]), jit_splat(p, far), "");
}

/* The same of the index of an access, limited where it may be outside. */
static LLVMValueRef index_again(jit_printer *p, const vec_value *v) {
    uint64_t shift = 0;
    const vec_value *x = before_limit(v, &shift);
    if (!x) return v->args[0]->each ? each_again(p, v->args[0]) : jit_one(p, v->args[0]);
    LLVMValueRef most = jit_u64(p, UINT64_MAX >> shift), far = jit_u64(p, shift);
    if (x->each) most = jit_splat(p, most), far = jit_splat(p, far);
    LLVMValueRef value = value_of(p, x), is = LLVMBuildICmp(p->b, LLVMIntULT, value, most, "");
    return LLVMBuildShl(p->b, LLVMBuildSelect(p->b, is, value, most, ""), far, "");
}

/* The index of each lane, without disp, where that rarely is asked for. */
static LLVMValueRef indices(jit_printer *p, const vec_value *v);
static LLVMValueRef indices_again(jit_printer *p, const vec_value *v) {
    const bool listed = v->u.mem.has_index && !v->u.mem.open && v->args[0]->each;
    return listed ? index_again(p, v) : indices(p, v);
}

/* The index of each lane, without disp; of those inside. */
static LLVMValueRef indices(jit_printer *p, const vec_value *v) {
    const vec_value *index = v->u.mem.has_index ? v->args[v->u.mem.open] : NULL;
    if (index && index->each) return inside_index(p, v);
    int64_t stride = v->u.mem.reach == VEC_REACH_ROW      ? (int64_t)v->u.mem.bytes
                     : v->u.mem.reach == VEC_REACH_STRIDE ? v->u.mem.stride
                                                          : 0;
    LLVMValueRef first = index ? jit_one(p, index) : jit_u64(p, 0);
    return LLVMBuildAdd(p->b, jit_splat(p, first), jit_ramp(p, p->t.i64, 0, (uint64_t)stride), "");
}

/* A vector's elements as an array in memory, until the same place is taken again. */
static LLVMValueRef spill(jit_printer *p, jit_spill which, LLVMValueRef vector) {
    if (!p->in.spills[which])
        p->in.spills[which] = jit_stack(p, LLVMVectorType(p->t.i64, p->k->lanes), 1);
    jit_store(p, vector, p->in.spills[which]);
    return p->in.spills[which];
}

static LLVMValueRef element(jit_printer *p, LLVMValueRef array, LLVMTypeRef type,
                            LLVMValueRef lane) {
    return LLVMBuildGEP2(p->b, type, array, &lane, 1, "");
}

static LLVMValueRef truth(const jit_printer *p, bool is) {
    return LLVMConstInt(p->t.i1, is, false);
}

/* ---- check ---- */

/* Offsets below which an access that ends `high` behind them (not 0) is inside: a few are
 * calculated once, where the size is known. More of them would live through the whole kernel. */
static LLVMValueRef make_limit(jit_printer *p, LLVMValueRef size, uint64_t high, uint64_t shift) {
    LLVMValueRef args[2] = {size, jit_u64(p, high - 1)},
                 made = jit_intrinsic(p, "llvm.usub.sat", &p->t.i64, 1, args, 2);
    if (!shift) return made;
    made = LLVMBuildAdd(p->b, made, jit_u64(p, (UINT64_C(1) << shift) - 1), "");
    return LLVMBuildLShr(p->b, made, jit_u64(p, shift), "");
}

/* shift: of what is compared, which is the offset without its last bits, that are zeros. */
static LLVMValueRef limit_of(jit_printer *p, LLVMValueRef size, uint64_t high, uint64_t shift) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    for (uint32_t i = 0; i < p->in.limit_count; i++)
        if (p->in.limits[i].size == size && p->in.limits[i].high == high &&
            p->in.limits[i].shift == shift)
            return p->in.limits[i].made;
    if (p->in.limit_count == JIT_MOST_LIMITS) return make_limit(p, size, high, shift);
    jit_go_behind(p, size);
    LLVMValueRef made = make_limit(p, size, high, shift);
    LLVMPositionBuilderAtEnd(p->b, here);
    p->in.limits[p->in.limit_count++] = (jit_limit){size, made, high, shift};
    return made;
}

/* Whether index, one or each, leaves the memory: the lowest byte is `low` from it on, the end
 * `high`. */
static LLVMValueRef outside(jit_printer *p, LLVMValueRef size, LLVMValueRef index, int64_t low,
                            int64_t high, bool each) {
    LLVMValueRef least = jit_u64(p, (uint64_t)-low), out = NULL;
    if (high > 0) {
        LLVMValueRef limit = limit_of(p, size, (uint64_t)high, 0);
        out = LLVMBuildICmp(p->b, LLVMIntUGE, index, each ? jit_splat(p, limit) : limit, "");
    } else {
        LLVMValueRef most = LLVMBuildSub(p->b, size, jit_u64(p, (uint64_t)high), "");
        out = LLVMBuildICmp(p->b, LLVMIntUGT, index, each ? jit_splat(p, most) : most, "");
    }
    if (low < 0)
        out = LLVMBuildOr(
            p->b, out,
            LLVMBuildICmp(p->b, LLVMIntULT, index, each ? jit_splat(p, least) : least, ""), "");
    return out;
}

/* The same of an access's own index, one or each. */
static LLVMValueRef index_outside(jit_printer *p, const vec_value *v, int64_t low, int64_t high,
                                  bool each) {
    uint64_t shift = 0;
    const vec_value *x = low >= 0 && high > 0 ? before_limit(v, &shift) : NULL;
    if (!x)
        return outside(p, size_of(p, v), each ? jit_each(p, v->args[0]) : first_index(p, v), low,
                       high, each);
    LLVMValueRef limit = limit_of(p, size_of(p, v), (uint64_t)high, shift);
    return LLVMBuildICmp(p->b, LLVMIntUGE, value_of(p, x), each ? jit_splat(p, limit) : limit, "");
}

LLVMValueRef jit_limit_of(jit_printer *p, const vec_value *check) {
    int64_t low = 0, high = 0;
    if (!vec_reach_of_all(p->k, check, &low, &high) || low < 0 || high <= 0) return NULL;
    return limit_of(p, size_of(p, check), (uint64_t)high, 0);
}

/* Whether a vector of i1 has a true one. */
static LLVMValueRef any_i1(jit_printer *p, LLVMValueRef i1s) {
    LLVMValueRef bits = jit_bits_of_i1(p, i1s);
    return LLVMBuildICmp(p->b, LLVMIntNE, bits, jit_u64(p, 0), "");
}

/* What a CHECK and those that it answers for reach from the index on, if that is known. */
typedef struct reach {
    bool known;
    int64_t low, high;
} reach;

static bool has_one_index(const vec_value *v) {
    return !v->u.mem.open && !(v->u.mem.has_index && v->args[0]->each);
}

/* A turn that has few lanes ends with the last that runs: it need not be outside where whole turns
 * are. NULL: this is no such access. */
static LLVMValueRef may_be_outside_of_few(jit_printer *p, const vec_value *v, const reach *g) {
    int64_t stride = v->u.mem.reach == VEC_REACH_ROW      ? (int64_t)v->u.mem.bytes
                     : v->u.mem.reach == VEC_REACH_STRIDE ? v->u.mem.stride
                                                          : 0;
    int64_t span = stride * (int64_t)(p->level.lanes - 1);
    if (!p->here.rarely || !has_one_index(v) || stride <= 0 || g->low < 0 || g->high <= span)
        return NULL;
    LLVMValueRef args[2] = {LLVMBuildOr(p->b, jit_run(p), jit_u64(p, 1), ""), truth(p, true)};
    LLVMValueRef last = LLVMBuildSub(p->b, jit_u64(p, 63),
                                     jit_intrinsic(p, "llvm.ctlz", &p->t.i64, 1, args, 2), "");
    LLVMValueRef high = LLVMBuildAdd(p->b,
                                     LLVMBuildMul(p->b, last, jit_u64(p, (uint64_t)stride), ""),
                                     jit_u64(p, (uint64_t)(g->high - span)), "");
    LLVMValueRef left[2] = {size_of(p, v), LLVMBuildSub(p->b, high, jit_u64(p, 1), "")};
    return LLVMBuildICmp(p->b, LLVMIntUGE, first_index(p, v),
                         jit_intrinsic(p, "llvm.usub.sat", &p->t.i64, 1, left, 2), "");
}

static LLVMValueRef may_be_outside(jit_printer *p, const vec_value *v, const reach *g) {
    if (!g->known) return truth(p, true);
    LLVMValueRef of_few = may_be_outside_of_few(p, v, g);
    if (of_few) return of_few;
    if (v->u.mem.small && g->low >= 0 && g->high > 1) { /* nothing wraps */
        LLVMValueRef end = LLVMBuildAdd(p->b, first_index(p, v), jit_u64(p, (uint64_t)g->high), "");
        return LLVMBuildICmp(p->b, LLVMIntUGT, end, size_of(p, v), "");
    }
    if (has_one_index(v)) return index_outside(p, v, g->low, g->high, false);
    LLVMValueRef out = index_outside(p, v, g->low, g->high, true);
    if (v->mask) out = LLVMBuildAnd(p->b, out, jit_mask_i1(p, v->mask), "");
    return any_i1(p, out);
}

static LLVMValueRef memory_record(jit_printer *p, const vec_value *v) {
    LLVMValueRef slots = LLVMBuildLoad2(
        p->b, p->t.ptr, jit_field(p, p->in.launch, offsetof(hgv_launch, slots)), "");
    bool group = v->u.mem.space == KIR_SHARED;
    if (v->u.mem.space != KIR_CLASS && !group)
        return jit_field(p, slots, v->u.mem.slot * sizeof(hgv_memory));
    LLVMValueRef made = jit_words_of(p, JIT_WORDS_OF_MEMORY);
    LLVMValueRef valid = jit_field(
        p, p->in.launch, offsetof(hgv_launch, class_memory) + offsetof(hgv_memory, valid));
    jit_store(p, jit_base_of(p, v), made);
    jit_store(p, size_of(p, v), jit_field(p, made, offsetof(hgv_memory, size)));
    jit_store(p, group ? LLVMConstInt(p->t.i8, 1, false) : LLVMBuildLoad2(p->b, p->t.i8, valid, ""),
              jit_field(p, made, offsetof(hgv_memory, valid)));
    return made;
}

static LLVMValueRef lanes_here(jit_printer *p, const vec_value *v) {
    LLVMValueRef bits = jit_bits(p, v->mask);
    return v->mask ? LLVMBuildAnd(p->b, bits, jit_run(p), "") : bits;
}

static void check_open(jit_printer *p, const vec_value *v) {
    LLVMValueRef here = lanes_here(p, v),
                 handles = spill(p, JIT_SPILL_HANDLE, jit_each(p, v->args[0])),
                 index = spill(p, JIT_SPILL_INDEX, indices(p, v));
    LLVMValueRef args[] = {p->in.launch,
                           new_site(p, v, 1),
                           jit_u32(p, v->u.mem.space == KIR_FLAT),
                           p->in.first,
                           handles,
                           index,
                           jit_u64(p, (uint64_t)v->u.mem.disp),
                           here};
    LLVMValueRef left = jit_call_helper(p, "hgv_check_open", args, HG_COUNT_OF(args));
    end_if_any(p, v, LLVMBuildAnd(p->b, here, LLVMBuildNot(p->b, left, ""), ""));
}

/* Looks at the lanes of `here`. Returns those that are left. */
static LLVMValueRef check_lanes(jit_printer *p, const vec_value *v, LLVMValueRef here) {
    const vec_value *index = v->u.mem.has_index ? v->args[0] : NULL;
    bool listed = index && index->each;
    int64_t stride = v->u.mem.reach == VEC_REACH_ROW      ? (int64_t)v->u.mem.bytes
                     : v->u.mem.reach == VEC_REACH_STRIDE ? v->u.mem.stride
                                                          : 0;
    LLVMValueRef args[] = {p->in.launch,
                           new_site(p, v, 1),
                           memory_record(p, v),
                           p->in.first,
                           listed ? spill(p, JIT_SPILL_INDEX, indices_again(p, v))
                                  : LLVMConstNull(p->t.ptr),
                           index && !listed ? index_again(p, v) : jit_u64(p, 0),
                           jit_u64(p, (uint64_t)stride),
                           jit_u64(p, (uint64_t)v->u.mem.disp),
                           here};
    LLVMValueRef left = LLVMBuildAnd(p->b, here,
                                     jit_call_helper(p, "hgv_check", args, HG_COUNT_OF(args)), "");
    LLVMValueRef gone = LLVMBuildAnd(p->b, here, LLVMBuildNot(p->b, left, ""), "");
    if (p->in.alone)
        end_if_any(p, v, gone);
    else
        jit_end_lanes_of(p, v, gone);
    return left;
}

/* Where loads of one place may read behind their checks, without a question whether a lane is
 * there: with the index, without disp. */
static bool has_safe_place(const vec_value *v, const reach *g) {
    return v->u.mem.reach == VEC_REACH_ONE && !v->u.mem.end && g->known && g->low >= 0 &&
           g->high <= ZEROS_BYTES;
}

/* Questions in front of the look at each lane, each rarely true; one place behind them all. */
typedef struct questions {
    LLVMBasicBlockRef from[4]; /* where they are asked; then the look's end */
    uint32_t count;
} questions;

static void ask(jit_printer *p, questions *q, LLVMValueRef condition) {
    q->from[q->count] = LLVMGetInsertBlock(p->b);
    if (q->count++)
        jit_if_then(p, condition);
    else
        jit_if(p, NULL, condition, true);
}

/* Where nobody is, places are out of bounds in every round: only where there is a lane they are
 * looked at. at: NULL, or where loads of the place may read where all is well. */
static void check_together(jit_printer *p, const vec_value *v, const reach *g, LLVMValueRef at) {
    questions q = {0};
    if (v->u.mem.end)
        ask(p, &q, LLVMBuildICmp(p->b, LLVMIntULT, size_of(p, v), jit_u64(p, v->u.mem.end), ""));
    ask(p, &q, may_be_outside(p, v, g));
    LLVMValueRef left = lanes_here(p, v), none = jit_u64(p, 0);
    const bool alone = p->in.alone && !v->mask;
    if (!alone) ask(p, &q, LLVMBuildICmp(p->b, LLVMIntNE, left, none, ""));
    const vec_value *w = v;
    for (uint32_t i = 0; i <= v->u.mem.may.answers; i++, w = vec_next_answered(w))
        left = check_lanes(p, w, i ? lanes_here(p, v) : left);
    LLVMValueRef places[4] = {at, at, at, at};
    if (at && !alone) {
        places[q.count - 1] = p->made.zeros; /* nobody is there, and the place may be outside */
        places[q.count] = LLVMBuildSelect(p->b, LLVMBuildICmp(p->b, LLVMIntNE, left, none, ""), at,
                                          p->made.zeros, "");
    }
    q.from[q.count] = LLVMGetInsertBlock(p->b);
    jit_end_if(p);
    if (at && alone) at = place(p, v); /* behind the branch it is a part of the load */
    if (at && !alone) {
        at = LLVMBuildPhi(p->b, p->t.ptr, "");
        LLVMAddIncoming(at, places, q.from, q.count + 1);
    }
    w = v;
    for (uint32_t i = 0; i <= v->u.mem.may.answers; i++, w = vec_next_answered(w))
        p->by.checked[w->id] = at ? at : p->made.zeros;
}

static void check(jit_printer *p, const vec_value *v) {
    if (p->by.checked[v->id]) return; /* with one in front of it */
    if (v->u.mem.open) {
        check_open(p, v);
        return;
    }
    reach g;
    g.known = vec_reach_of_all(p->k, v, &g.low, &g.high);
    check_together(p, v, &g, has_safe_place(v, &g) ? place(p, v) : NULL);
}

/* ---- rows ---- */

static LLVMValueRef all_run(jit_printer *p) {
    return LLVMBuildICmp(p->b, LLVMIntEQ, jit_run(p), jit_all(p), "");
}

/* Whether masked rows of such elements are instructions. */
static bool has_masked_rows(const jit_printer *p, uint32_t bytes) {
    return p->level.mask_registers || (p->level.bytes == 32 && bytes >= 4);
}

static LLVMValueRef masked_load(jit_printer *p, LLVMTypeRef type, uint32_t bytes, LLVMValueRef at,
                                LLVMValueRef mask) {
    if (!has_masked_rows(p, bytes))
        return jit_gather(p, LLVMGetElementType(type), bytes, at, jit_ramp(p, p->t.i64, 0, bytes),
                          mask);
    LLVMValueRef args[4] = {at, jit_u32(p, 1), mask, LLVMConstNull(type)};
    LLVMTypeRef types[2] = {type, p->t.ptr};
    return jit_intrinsic(p, "llvm.masked.load", types, 2, args, 4);
}

static void masked_store(jit_printer *p, LLVMValueRef value, uint32_t bytes, LLVMValueRef at,
                         LLVMValueRef mask) {
    if (!has_masked_rows(p, bytes)) {
        jit_scatter(p, value, bytes, at, jit_ramp(p, p->t.i64, 0, bytes), mask);
        return;
    }
    LLVMValueRef args[4] = {value, at, jit_u32(p, 1), mask};
    LLVMTypeRef types[2] = {LLVMTypeOf(value), p->t.ptr};
    (void)jit_intrinsic(p, "llvm.masked.store", types, 2, args, 4);
}

static LLVMValueRef masked_row(jit_printer *p, const vec_value *v, LLVMValueRef stored,
                               LLVMValueRef at) {
    if (!stored)
        return masked_load(p, jit_type_of(p, v), v->u.mem.bytes, at, jit_mask_i1(p, v->mask));
    masked_store(p, stored, v->u.mem.bytes, at, jit_mask_i1(p, v->mask));
    return NULL;
}

/* Whether all that lanes may reach is in the memory. NULL: that is hard to say. */
static LLVMValueRef fits_whole(jit_printer *p, const vec_value *v) {
    int64_t low = 0, high = 0;
    if (!has_one_index(v) || !vec_reach_of(p->k, v, &low, &high)) return NULL;
    return LLVMBuildNot(p->b, index_outside(p, v, low, high, false), "");
}

static void fits(jit_printer *p, const vec_value *v) {
    LLVMValueRef is = fits_whole(p, v);
    jit_define(p, v, is ? is : truth(p, false));
}

static LLVMValueRef has_lanes(jit_printer *p, uint32_t from) {
    LLVMValueRef lanes = LLVMBuildLoad2(
        p->b, p->t.i64, jit_field(p, p->in.launch, offsetof(hgv_launch, lanes)), "");
    LLVMSetMetadata(lanes, LLVMGetMDKindIDInContext(p->context, "invariant.load", 14),
                    LLVMMetadataAsValue(p->context, LLVMMDNodeInContext2(p->context, NULL, 0)));
    return LLVMBuildICmp(p->b, LLVMIntUGE, lanes, jit_u64(p, from), "");
}

void jit_end_streams(jit_printer *p) {
    uint32_t from = vec_streams_from(p->k);
    if (!from) return;
    LLVMBasicBlockRef past = jit_block(p, "streamed"), end = jit_block(p, "end");
    LLVMBuildCondBr(p->b, has_lanes(p, from), past, end);
    LLVMPositionBuilderAtEnd(p->b, past);
    (void)jit_intrinsic(p, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
    LLVMBuildBr(p->b, end);
    LLVMPositionBuilderAtEnd(p->b, end);
}

/* Past the caches where the launch has lanes enough, all of the turn run and the place is a
 * multiple of what is stored at once. Returns the block behind it, and stays where it is not so. */
static LLVMBasicBlockRef row_past(jit_printer *p, const vec_value *v, LLVMValueRef stored,
                                  LLVMValueRef at, LLVMValueRef all) {
    enum { LINE = 64 };
    uint32_t bytes = p->level.lanes * v->u.mem.bytes < LINE ? p->level.lanes * v->u.mem.bytes
                                                            : LINE;
    LLVMValueRef large = has_lanes(p, v->u.mem.may.streams);
    LLVMValueRef rest = LLVMBuildAnd(p->b, LLVMBuildPtrToInt(p->b, at, p->t.i64, ""),
                                     jit_u64(p, bytes - 1), "");
    LLVMValueRef is = LLVMBuildAnd(p->b, LLVMBuildAnd(p->b, large, all, ""),
                                   LLVMBuildICmp(p->b, LLVMIntEQ, rest, jit_u64(p, 0), ""), "");
    LLVMBasicBlockRef past = jit_block(p, "past"), near = jit_block(p, "near"),
                      end = jit_block(p, "stored");
    LLVMBuildCondBr(p->b, is, past, near);
    LLVMPositionBuilderAtEnd(p->b, past);
    LLVMValueRef store = LLVMBuildStore(p->b, stored, at), one = jit_u32(p, 1);
    LLVMSetAlignment(store, bytes);
    LLVMSetMetadata(
        store, LLVMGetMDKindIDInContext(p->context, "nontemporal", 11),
        LLVMMetadataAsValue(
            p->context,
            LLVMMDNodeInContext2(p->context, (LLVMMetadataRef[]){LLVMValueAsMetadata(one)}, 1)));
    LLVMBuildBr(p->b, end);
    LLVMPositionBuilderAtEnd(p->b, near);
    return end;
}

/* Plainly where all lanes run, else those that do; only the second where that comes rarely and is
 * no more text. */
static LLVMValueRef row(jit_printer *p, const vec_value *v, LLVMValueRef stored) {
    LLVMValueRef at = address(p, v), all = NULL;
    if (jit_is_all(p, v->mask))
        all = truth(p, true);
    else if (!p->here.rarely || !has_masked_rows(p, v->u.mem.bytes))
        all = !v->mask ? all_run(p) : v->u.mem.may.fits ? fits_whole(p, v) : NULL;
    if (!all) return masked_row(p, v, stored, at);
    LLVMBasicBlockRef past_end = stored && v->u.mem.may.streams ? row_past(p, v, stored, at, all)
                                                                : NULL;
    if (LLVMIsConstant(all)) {
        if (!stored) return jit_load(p, jit_type_of(p, v), at);
        jit_store(p, stored, at);
        if (past_end) {
            LLVMBuildBr(p->b, past_end);
            LLVMPositionBuilderAtEnd(p->b, past_end);
        }
        return NULL;
    }
    LLVMBasicBlockRef plain = jit_block(p, "all"), some = jit_block(p, "some"),
                      next = jit_block(p, "row");
    LLVMSetMetadata(LLVMBuildCondBr(p->b, all, plain, some), p->made.prof,
                    LLVMMetadataAsValue(p->context, p->made.likely));
    LLVMPositionBuilderAtEnd(p->b, plain);
    LLVMValueRef made[2] = {NULL, NULL};
    if (stored)
        jit_store(p, stored, at);
    else
        made[0] = jit_load(p, jit_type_of(p, v), at);
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, some);
    made[1] = masked_row(p, v, stored, at);
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, next);
    if (past_end) {
        LLVMBuildBr(p->b, past_end);
        LLVMPositionBuilderAtEnd(p->b, past_end);
    }
    if (stored) return NULL;
    LLVMValueRef phi = LLVMBuildPhi(p->b, LLVMTypeOf(made[0]), "");
    LLVMBasicBlockRef from[2] = {plain, some};
    LLVMAddIncoming(phi, made, from, 2);
    return phi;
}

/* ---- one place, each its own ---- */

static LLVMValueRef load_one(jit_printer *p, const vec_value *v) {
    const vec_value *checked = v->u.mem.may.checked ? vec_check_of(v) : NULL;
    LLVMValueRef at = checked ? p->by.checked[checked->id] : NULL;
    if (checked && p->here.settled && checked->settled)
        return jit_load(p, jit_type_of(p, v), address(p, v));
    if (at && at != p->made.zeros)
        return jit_load(p, jit_type_of(p, v), jit_field(p, at, (uint64_t)v->u.mem.disp));
    LLVMValueRef some = LLVMBuildICmp(p->b, LLVMIntNE, jit_bits(p, v->mask), jit_u64(p, 0), "");
    return jit_load(p, jit_type_of(p, v),
                    LLVMBuildSelect(p->b, some, address(p, v), p->made.zeros, ""));
}

/* The last lane's stays. */
static void store_one(jit_printer *p, const vec_value *v, const vec_value *stored) {
    LLVMValueRef bits = jit_bits(p, v->mask),
                 some = LLVMBuildICmp(p->b, LLVMIntNE, bits, jit_u64(p, 0), "");
    LLVMValueRef at = LLVMBuildSelect(p->b, some, address(p, v), p->in.scratch, ""), value = NULL;
    if (stored->each) {
        LLVMValueRef args[2] = {LLVMBuildOr(p->b, bits, jit_u64(p, 1), ""), truth(p, true)};
        LLVMValueRef zeros = jit_intrinsic(p, "llvm.ctlz", &p->t.i64, 1, args, 2);
        value = LLVMBuildExtractElement(p->b, jit_each(p, stored),
                                        LLVMBuildSub(p->b, jit_u64(p, 63), zeros, ""), "");
    } else {
        value = jit_one(p, stored);
    }
    jit_store(p, value, at);
}

/* Through handles: the memory of each lane is asked for. */
static LLVMValueRef open_lanes(jit_printer *p, const vec_value *v, LLVMValueRef stored) {
    LLVMTypeRef type = stored ? LLVMGetElementType(LLVMTypeOf(stored)) : jit_scalar(p, v->type);
    LLVMValueRef handles = spill(p, JIT_SPILL_HANDLE, jit_each(p, v->args[0])),
                 index = spill(p, JIT_SPILL_INDEX, indices(p, v));
    LLVMValueRef values = spill(p, JIT_SPILL_VALUE,
                                stored ? stored : LLVMConstNull(jit_vector(p, type)));
    jit_lanes loop = jit_each_lane(p, jit_bits(p, v->mask));
    LLVMValueRef at = element(p, index, p->t.i64, loop.lane),
                 value = element(p, values, type, loop.lane);
    LLVMValueRef args[] = {p->in.launch,
                           jit_load(p, p->t.i64, element(p, handles, p->t.i64, loop.lane)),
                           jit_u32(p, v->u.mem.pool), jit_u32(p, v->u.mem.space == KIR_FLAT), at};
    LLVMValueRef base = jit_call_helper(p, "hgv_base", args, HG_COUNT_OF(args));
    LLVMValueRef place = jit_field(p, jit_at(p, base, jit_load(p, p->t.i64, at)),
                                   (uint64_t)v->u.mem.disp);
    if (stored)
        jit_store(p, jit_load(p, type, value), place);
    else
        jit_store(p, jit_load(p, type, place), value);
    jit_end_lanes(p, &loop);
    return stored ? NULL : jit_load(p, jit_vector(p, type), values);
}

/* Every second element from `first` on, of all lanes: real parts of complex numbers, say. Stores
 * are under a mask, as what lies between is not theirs. */
static void store_every_second(jit_printer *p, LLVMValueRef stored, LLVMTypeRef type,
                               uint32_t bytes, LLVMValueRef first) {
    LLVMTypeRef row = jit_vector(p, type);
    LLVMValueRef places[2][64], masks[64];
    for (uint32_t i = 0; i < p->level.lanes; i++) {
        places[0][i] = jit_u32(p, i / 2);
        places[1][i] = jit_u32(p, p->level.lanes / 2 + i / 2);
        masks[i] = truth(p, i % 2 == 0);
    }
    for (uint32_t k = 0; k < 2; k++) {
        LLVMValueRef spread = LLVMBuildShuffleVector(
            p->b, stored, LLVMGetPoison(row), LLVMConstVector(places[k], p->level.lanes), "");
        masked_store(p, spread, bytes, jit_field(p, first, (uint64_t)k * p->level.lanes * bytes),
                     LLVMConstVector(masks, p->level.lanes));
    }
}

/* Places as far apart, of all lanes: an address and numbers. Cheaper than a gather, which is made
 * of loads as well. */
static LLVMValueRef load_strided(jit_printer *p, const vec_value *v) {
    LLVMTypeRef type = jit_scalar(p, v->type);
    const uint64_t stride = (uint64_t)v->u.mem.stride;
    LLVMValueRef first = address(p, v),
                 made = jit_pick(p, type, v->u.mem.bytes, v->u.mem.stride, first);
    if (made) return made;
    made = LLVMGetPoison(jit_vector(p, type));
    for (uint32_t i = 0; i < p->level.lanes; i++)
        made = LLVMBuildInsertElement(
            p->b, made, jit_load(p, type, jit_field(p, first, stride * i)), jit_u64(p, i), "");
    return made;
}

static void store_strided(jit_printer *p, const vec_value *v, LLVMValueRef stored) {
    LLVMTypeRef type = jit_scalar(p, v->args[vec_place_args(v)]->type);
    LLVMValueRef first = address(p, v);
    if (v->u.mem.stride == 2 * (int64_t)v->u.mem.bytes && p->level.lanes % 2 == 0 &&
        has_masked_rows(p, v->u.mem.bytes)) {
        store_every_second(p, stored, type, v->u.mem.bytes, first);
        return;
    }
    for (uint32_t i = 0; i < p->level.lanes; i++)
        jit_store(p, LLVMBuildExtractElement(p->b, stored, jit_u64(p, i), ""),
                  jit_field(p, first, (uint64_t)v->u.mem.stride * i));
}

/* ---- stretches ---- */

/* The members' pieces as one value each. */
static void define_members(jit_printer *p, const vec_value *v, const vec_stretch *s,
                           LLVMValueRef (*parts)[VEC_MOST_PICKED]) {
    for (uint32_t i = 0; i < s->count * s->rounds; i++, v = vec_next_member(v)) {
        for (uint32_t left = s->pieces; left > 1; left /= 2)
            for (uint32_t k = 0; k < left / 2; k++)
                parts[i][k] = jit_join(p, parts[i][2 * k], parts[i][2 * k + 1]);
        jit_define(p, v, parts[i][0]);
    }
}

static void pick_all(jit_printer *p, const vec_stretch *s, LLVMValueRef *vectors) {
    LLVMValueRef places[VEC_MOST_PICKED];
    for (uint32_t n = 0; n < s->pick_count; n++) {
        const vec_pick *pick = &s->picks[n];
        for (uint32_t i = 0; i < s->length; i++) places[i] = jit_u32(p, pick->numbers[i]);
        vectors[s->count + n] = LLVMBuildShuffleVector(p->b, vectors[pick->a], vectors[pick->b],
                                                       LLVMConstVector(places, s->length), "");
    }
}

static void stretch(jit_printer *p, const vec_value *v) {
    LLVMValueRef parts[VEC_MOST_STRETCH][VEC_MOST_PICKED];
    LLVMValueRef vectors[VEC_MOST_STRETCH + VEC_MOST_PICKS], first = address(p, v);
    const vec_value *w = v;
    uint32_t value = vec_place_args(v);
    bool loads = v->op == VEC_LOAD;
    vec_stretch s;
    vec_plan_stretch(p->k, v, p->level.bytes, &s);
    LLVMTypeRef type = LLVMVectorType(jit_scalar(p, loads ? v->type : v->args[value]->type),
                                      s.length);
    for (uint32_t i = 0; !loads && i < s.count * s.rounds; i++, w = vec_next_member(w))
        for (uint32_t k = 0; k < s.pieces; k++)
            parts[i][k] = jit_part(p, jit_each(p, w->args[value]), k * s.length, s.length);
    for (uint32_t m = 0; m < s.rounds * s.pieces; m++) {
        uint32_t round = m / s.pieces, k = m % s.pieces;
        LLVMValueRef at = jit_field(p, first, round * s.by_round + k * s.by_piece);
        for (uint32_t i = 0; i < s.count; i++)
            vectors[i] = loads ? jit_load(p, type, jit_field(p, at, s.rows[i]))
                               : parts[round * s.count + i][k];
        pick_all(p, &s, vectors);
        for (uint32_t i = 0; i < s.count; i++)
            if (loads)
                parts[round * s.count + i][k] = vectors[s.pick_count + i];
            else
                jit_store(p, vectors[s.pick_count + i], jit_field(p, at, s.rows[i]));
    }
    if (loads) define_members(p, v, &s, parts);
}

/* Whether the access is done with a stretch that it is in. */
static bool is_in_stretch(jit_printer *p, const vec_value *v) {
    if (p->here.in_stretch) {
        p->here.in_stretch--;
        return true;
    }
    bool holds = p->here.settled || vec_is_close(v);
    if (!v->u.mem.may.stretch || !holds || !jit_is_all(p, v->mask)) return false;
    stretch(p, v);
    p->here.in_stretch = v->u.mem.may.stretch - 1u;
    return true;
}

static LLVMValueRef each_lane(jit_printer *p, const vec_value *v, LLVMValueRef stored) {
    if (v->u.mem.open) return open_lanes(p, v, stored);
    if (v->u.mem.reach == VEC_REACH_STRIDE && jit_is_all(p, v->mask)) {
        if (!stored) return load_strided(p, v);
        store_strided(p, v, stored);
        return NULL;
    }
    LLVMValueRef base = jit_base_of(p, v), offsets = indices(p, v), mask = NULL;
    if (v->u.mem.disp) base = jit_field(p, base, (uint64_t)v->u.mem.disp);
    if (!jit_is_all(p, v->mask)) mask = jit_mask_i1(p, v->mask);
    if (!stored) return jit_gather(p, jit_scalar(p, v->type), v->u.mem.bytes, base, offsets, mask);
    jit_scatter(p, stored, v->u.mem.bytes, base, offsets, mask);
    return NULL;
}

static void load(jit_printer *p, const vec_value *v) {
    if (is_in_stretch(p, v)) return;
    if (v->u.mem.reach == VEC_REACH_ONE)
        jit_define(p, v, load_one(p, v));
    else
        jit_define(p, v, v->u.mem.reach == VEC_REACH_ROW ? row(p, v, NULL) : each_lane(p, v, NULL));
}

static void store(jit_printer *p, const vec_value *v) {
    const vec_value *stored = v->args[vec_place_args(v)];
    if (is_in_stretch(p, v)) return;
    if (v->u.mem.reach == VEC_REACH_ONE && !v->u.mem.open)
        store_one(p, v, stored);
    else if (v->u.mem.reach == VEC_REACH_ROW)
        (void)row(p, v, jit_each(p, stored));
    else
        (void)each_lane(p, v, jit_each(p, stored));
}

/* ---- atomic, fault ---- */

static LLVMValueRef atomic_operation(jit_printer *p, const vec_value *v, LLVMValueRef at,
                                     LLVMValueRef a, LLVMValueRef b) {
    static const LLVMAtomicRMWBinOp ops[] = {
        [KIR_ATOMIC_ADD] = LLVMAtomicRMWBinOpAdd,   [KIR_ATOMIC_UMIN] = LLVMAtomicRMWBinOpUMin,
        [KIR_ATOMIC_SMIN] = LLVMAtomicRMWBinOpMin,  [KIR_ATOMIC_UMAX] = LLVMAtomicRMWBinOpUMax,
        [KIR_ATOMIC_SMAX] = LLVMAtomicRMWBinOpMax,  [KIR_ATOMIC_AND] = LLVMAtomicRMWBinOpAnd,
        [KIR_ATOMIC_OR] = LLVMAtomicRMWBinOpOr,     [KIR_ATOMIC_XOR] = LLVMAtomicRMWBinOpXor,
        [KIR_ATOMIC_EXCH] = LLVMAtomicRMWBinOpXchg,
    };
    if (v->u.mem.atomic != KIR_ATOMIC_CAS)
        return LLVMBuildAtomicRMW(p->b, ops[v->u.mem.atomic], at, a, LLVMAtomicOrderingMonotonic,
                                  false);
    LLVMValueRef both = LLVMBuildAtomicCmpXchg(p->b, at, a, b, LLVMAtomicOrderingMonotonic,
                                               LLVMAtomicOrderingMonotonic, false);
    return LLVMBuildExtractValue(p->b, both, 0, "");
}

/* The place of a lane of an atomic operation; *offset: in its memory. */
static LLVMValueRef lane_place(jit_printer *p, const vec_value *v, LLVMValueRef handles,
                               LLVMValueRef index, LLVMValueRef lane, LLVMValueRef *offset) {
    LLVMValueRef at = element(p, index, p->t.i64, lane), base = NULL;
    if (v->u.mem.open) {
        LLVMValueRef args[] = {
            p->in.launch, jit_load(p, p->t.i64, element(p, handles, p->t.i64, lane)),
            jit_u32(p, v->u.mem.pool), jit_u32(p, v->u.mem.space == KIR_FLAT), at};
        base = jit_call_helper(p, "hgv_base", args, HG_COUNT_OF(args));
    } else {
        base = jit_base_of(p, v);
    }
    *offset = LLVMBuildAdd(p->b, jit_load(p, p->t.i64, at), jit_u64(p, (uint64_t)v->u.mem.disp),
                           "");
    return jit_at(p, base, *offset);
}

static void call_fault(jit_printer *p, LLVMValueRef site, LLVMValueRef lane, LLVMValueRef values) {
    LLVMValueRef args[] = {p->in.launch, site, LLVMBuildAdd(p->b, p->in.first, lane, ""), values};
    (void)jit_call_helper(p, "hgv_fault", args, 4);
}

/* Copies of the memory that are the thread's own (hgv_launch.spread). */
typedef struct own_copies {
    LLVMValueRef is, spread;
} own_copies;

enum { COPIES = 8 };

static own_copies copies_of(jit_printer *p, const vec_value *v) {
    LLVMValueRef none = LLVMAddGlobal(p->module, p->t.i64, "no_copies");
    LLVMSetInitializer(none, LLVMConstInt(p->t.i64, UINT64_MAX, true));
    LLVMSetGlobalConstant(none, true);
    LLVMSetLinkage(none, LLVMInternalLinkage);
    LLVMValueRef all = LLVMBuildLoad2(p->b, p->t.ptr,
                                      jit_field(p, p->in.launch, offsetof(hgv_launch, spread)), "");
    LLVMValueRef is_there = LLVMBuildICmp(p->b, LLVMIntNE, all, LLVMConstNull(p->t.ptr), "");
    LLVMValueRef at = LLVMBuildSelect(
        p->b, is_there, jit_field(p, all, (uint64_t)v->u.mem.slot * sizeof(int64_t)), none, "");
    own_copies own = {.spread = LLVMBuildLoad2(p->b, p->t.i64, at, "")};
    own.is = LLVMBuildICmp(p->b, LLVMIntSGE, own.spread, jit_u64(p, 0), "");
    return own;
}

/* *at = *at op a, in memory that nobody else has. */
static void combine(jit_printer *p, const vec_value *v, LLVMValueRef at, LLVMValueRef a) {
    static const LLVMIntPredicate takes[] = {[KIR_ATOMIC_UMIN] = LLVMIntULT,
                                             [KIR_ATOMIC_SMIN] = LLVMIntSLT,
                                             [KIR_ATOMIC_UMAX] = LLVMIntUGT,
                                             [KIR_ATOMIC_SMAX] = LLVMIntSGT};
    LLVMValueRef old = jit_load(p, LLVMTypeOf(a), at), made;
    switch ((kir_atomic)v->u.mem.atomic) {
    case KIR_ATOMIC_ADD: made = LLVMBuildAdd(p->b, old, a, ""); break;
    case KIR_ATOMIC_AND: made = LLVMBuildAnd(p->b, old, a, ""); break;
    case KIR_ATOMIC_OR: made = LLVMBuildOr(p->b, old, a, ""); break;
    case KIR_ATOMIC_XOR: made = LLVMBuildXor(p->b, old, a, ""); break;
    default:
        made = LLVMBuildSelect(p->b, LLVMBuildICmp(p->b, takes[v->u.mem.atomic], a, old, ""), a,
                               old, "");
    }
    jit_store(p, made, at);
}

static LLVMValueRef copy_of_lane(jit_printer *p, const own_copies *own, LLVMValueRef at,
                                 LLVMValueRef lane) {
    LLVMValueRef number = LLVMBuildAnd(p->b, lane, jit_u64(p, COPIES - 1), "");
    return jit_at(p, at, LLVMBuildMul(p->b, own->spread, number, ""));
}

/* Goes on where the atomic operation is written. */
static void plain_if_own(jit_printer *p, const vec_value *v, const own_copies *own,
                         LLVMValueRef place, LLVMValueRef lane, LLVMValueRef a,
                         LLVMBasicBlockRef next) {
    LLVMBasicBlockRef plain = jit_block(p, "own"), atomically = jit_block(p, "atomic");
    LLVMBuildCondBr(p->b, own->is, plain, atomically);
    LLVMPositionBuilderAtEnd(p->b, plain);
    combine(p, v, copy_of_lane(p, own, place, lane), a);
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, atomically);
}

/* own: as of copies_of; NULL: the memory is the launch's. */
static void atomic_lanes(jit_printer *p, const vec_value *v, const own_copies *own) {
    uint32_t n = vec_place_args(v);
    bool two = v->nargs > n + 1;
    LLVMTypeRef type = jit_scalar(p, v->type);
    LLVMValueRef site = new_site(p, v, 4), index = spill(p, JIT_SPILL_INDEX, indices_again(p, v)),
                 value = spill(p, JIT_SPILL_VALUE, jit_each(p, v->args[n]));
    LLVMValueRef handles = v->u.mem.open ? spill(p, JIT_SPILL_HANDLE, jit_each(p, v->args[0]))
                                         : NULL;
    LLVMValueRef second = two ? spill(p, JIT_SPILL_SECOND, jit_each(p, v->args[n + 1])) : NULL,
                 old = spill(p, JIT_SPILL_OLD, LLVMConstNull(jit_vector(p, type)));
    LLVMValueRef gone = jit_words_of(p, JIT_WORD_GONE),
                 values = jit_words_of(p, JIT_WORDS_OF_FAULT), offset = NULL;
    jit_store(p, jit_u64(p, 0), gone);
    jit_lanes loop = jit_each_lane(p, jit_bits(p, v->mask));
    LLVMValueRef place = lane_place(p, v, handles, index, loop.lane, &offset);
    LLVMValueRef odd = LLVMBuildAnd(p->b, offset, jit_u64(p, v->u.mem.bytes - 1u), "");
    LLVMBasicBlockRef fault = jit_block(p, "fault"), good = jit_block(p, "aligned"),
                      next = jit_block(p, "next_lane");
    LLVMValueRef branch = LLVMBuildCondBr(
        p->b, LLVMBuildICmp(p->b, LLVMIntNE, odd, jit_u64(p, 0), ""), fault, good);
    LLVMSetMetadata(branch, p->made.prof, LLVMMetadataAsValue(p->context, p->made.unlikely));
    LLVMPositionBuilderAtEnd(p->b, fault);
    jit_store(p, offset, values);
    call_fault(p, site, loop.lane, values);
    LLVMValueRef bit = LLVMBuildShl(p->b, jit_u64(p, 1), loop.lane, "");
    jit_store(p, LLVMBuildOr(p->b, jit_load(p, p->t.i64, gone), bit, ""), gone);
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, good);
    LLVMValueRef a = jit_load(p, type, element(p, value, type, loop.lane));
    LLVMValueRef b = two ? jit_load(p, type, element(p, second, type, loop.lane)) : NULL;
    if (own) plain_if_own(p, v, own, place, loop.lane, a, next);
    LLVMValueRef before = atomic_operation(p, v, place, a, b);
    if (v->uses) jit_store(p, before, element(p, old, type, loop.lane));
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, next);
    jit_end_lanes(p, &loop);
    if (!own) jit_define(p, v, jit_load(p, jit_vector(p, type), old));
    end_if_any(p, v, jit_load(p, p->t.i64, gone));
}

static LLVMValueRef all_aligned(jit_printer *p, const vec_value *v) {
    LLVMValueRef offsets = LLVMBuildAdd(p->b, indices(p, v),
                                        jit_splat(p, jit_u64(p, (uint64_t)v->u.mem.disp)), "");
    LLVMValueRef odd = LLVMBuildAnd(p->b, offsets, jit_splat(p, jit_u64(p, v->u.mem.bytes - 1u)),
                                    "");
    LLVMTypeRef type = LLVMTypeOf(odd);
    LLVMValueRef low = jit_intrinsic(p, "llvm.vector.reduce.or", &type, 1, &odd, 1);
    return LLVMBuildICmp(p->b, LLVMIntEQ, low, jit_u64(p, 0), "");
}

/* What each lane's index is so many bits on of, as narrow as it can be read. */
static const vec_value *before_shift(const vec_value *v, uint64_t *shift) {
    for (*shift = 0; v->op == VEC_PRIM && v->args[0]->each;) {
        const vec_value *in = v->args[0];
        if (v->prim == KIR_SHL && v->args[1]->op == VEC_CONST && in->op == VEC_PRIM &&
            in->prim == KIR_ZEXT && in->args[0]->type != KIR_BOOL &&
            v->args[1]->u.imm + kir_type_bits(in->args[0]->type) <= kir_type_bits(v->type))
            *shift += v->args[1]->u.imm;
        else if (v->prim != KIR_ZEXT || in->type == KIR_BOOL)
            return v;
        v = in;
    }
    return v;
}

/* Whether what the row of an earlier LOAD holds is still there, and it is known how far its
 * elements point at most: then they are read again, which is cheaper than what a vector was stored
 * to. The host may have changed them since they were checked. */
static bool reads_again(const vec_value *load, const vec_value *v) {
    if (load->op != VEC_LOAD || load->u.mem.reach != VEC_REACH_ROW || load->parent != v->parent ||
        load->u.mem.open || !v->u.mem.end || (load->mask && load->mask != v->mask))
        return false;
    const vec_value *at = v->prev;
    while (at && at != load &&
           (at->op == VEC_CHECK || at->op == VEC_SET || !vec_op_has((vec_op)at->op, VEC_F_EFFECT)))
        at = at->prev;
    return at == load;
}

/* Lanes' offsets in memory, as elements of a type, `shift` bits on and `disp` bytes: loads of
 * scalars are cheaper than taking vectors apart, and narrow ones where lanes have few bits. */
typedef struct spilled_offsets {
    LLVMTypeRef type;
    LLVMValueRef array;
    uint64_t shift, disp;
} spilled_offsets;

static spilled_offsets spill_offsets(jit_printer *p, const vec_value *v) {
    uint64_t shift = 0;
    const bool listed = v->u.mem.has_index && v->args[0]->each;
    const vec_value *narrow = listed ? before_shift(v->args[0], &shift) : NULL;
    if (narrow && narrow->type != HG_TYPE_U64) {
        LLVMValueRef array = spill(p, JIT_SPILL_INDEX, jit_each(p, narrow));
        if (reads_again(narrow, v)) /* only where none of its elements points out of the memory */
            array = LLVMBuildSelect(
                p->b, LLVMBuildICmp(p->b, LLVMIntUGE, size_of(p, v), jit_u64(p, v->u.mem.end), ""),
                address(p, narrow), array, "");
        return (spilled_offsets){jit_scalar(p, narrow->type), array, shift,
                                 (uint64_t)v->u.mem.disp};
    }
    LLVMValueRef made = LLVMBuildAdd(p->b, indices(p, v),
                                     jit_splat(p, jit_u64(p, (uint64_t)v->u.mem.disp)), "");
    const bool small = v->u.mem.end && v->u.mem.end <= INT32_MAX;
    if (small) made = LLVMBuildTrunc(p->b, made, jit_vector(p, p->t.i32), "");
    return (spilled_offsets){small ? p->t.i32 : p->t.i64, spill(p, JIT_SPILL_INDEX, made), 0, 0};
}

static LLVMValueRef spilled_offset(jit_printer *p, const spilled_offsets *s, uint32_t lane) {
    LLVMValueRef at = element(p, s->array, s->type, jit_u64(p, lane)),
                 offset = jit_load(p, s->type, at);
    if (s->type != p->t.i64) offset = LLVMBuildZExt(p->b, offset, p->t.i64, "");
    return s->shift ? LLVMBuildShl(p->b, offset, jit_u64(p, s->shift), "") : offset;
}

/* All lanes of a turn at aligned places of their copies, one after another; anything else lane by
 * lane. */
static void atomic(jit_printer *p, const vec_value *v) {
    if (!v->u.mem.may.combines) {
        atomic_lanes(p, v, NULL);
        return;
    }
    own_copies own = copies_of(p, v);
    LLVMValueRef aligned = v->u.mem.aligned ? truth(p, true) : all_aligned(p, v),
                 values = jit_each(p, v->args[vec_place_args(v)]);
    LLVMValueRef all = LLVMBuildICmp(p->b, LLVMIntEQ, jit_bits(p, v->mask), jit_all(p), "");
    LLVMValueRef fast = LLVMBuildAnd(p->b, own.is, LLVMBuildAnd(p->b, aligned, all, ""), "");
    jit_if(p, NULL, fast, false);
    const spilled_offsets spilled = spill_offsets(p, v);
    LLVMValueRef copies[COPIES];
    for (uint32_t i = 0; i < p->level.lanes; i++) {
        LLVMValueRef offset = spilled_offset(p, &spilled, i);
        if (i < COPIES) copies[i] = copy_of_lane(p, &own, jit_base_of(p, v), jit_u64(p, i));
        LLVMValueRef place = jit_field(p, jit_at(p, copies[i % COPIES], offset), spilled.disp);
        combine(p, v, place, LLVMBuildExtractElement(p->b, values, jit_u32(p, i), ""));
    }
    jit_end_if(p);
    jit_if(p, NULL, LLVMBuildNot(p->b, fast, ""), true);
    atomic_lanes(p, v, &own);
    jit_end_if(p);
}

static void fault_if(jit_printer *p, const vec_value *v) {
    LLVMValueRef gone = LLVMBuildAnd(p->b, jit_bits(p, v->args[0]), lanes_here(p, v), "");
    jit_if(p, NULL, LLVMBuildICmp(p->b, LLVMIntNE, gone, jit_u64(p, 0), ""), true);
    LLVMValueRef values = jit_words_of(p, JIT_WORDS_OF_FAULT), args[2] = {gone, truth(p, true)};
    LLVMValueRef lane = jit_intrinsic(p, "llvm.cttz", &p->t.i64, 1, args, 2);
    jit_store(p, LLVMConstNull(jit_integer(p, 16)), values);
    for (uint8_t n = 1; n < v->nargs && n <= 2; n++) {
        const vec_value *a = v->args[n];
        LLVMValueRef one = a->each ? jit_load(p, p->t.i64,
                                              element(p, spill(p, JIT_SPILL_VALUE, jit_each(p, a)),
                                                      p->t.i64, lane))
                                   : jit_one(p, a);
        jit_store(p, one, jit_field(p, values, (n - 1u) * 8u));
    }
    call_fault(p, new_site(p, v, v->u.fault.code), lane, values);
    jit_end_lanes_of(p, v, gone);
    jit_end_if(p);
}

void jit_memory(jit_printer *p, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_LOAD: load(p, v); break;
    case VEC_STORE: store(p, v); break;
    case VEC_CHECK: check(p, v); break;
    case VEC_ATOMIC: atomic(p, v); break;
    case VEC_FITS: fits(p, v); break;
    case VEC_SIZE: jit_define(p, v, size_of(p, v)); break;
    default: fault_if(p, v);
    }
}
