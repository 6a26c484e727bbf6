/* Elements that lanes reach each for itself, private arrays, constant tables.
 * Must not know: checks, faults. */
#include "jit/jit_internal.h"

#include <llvm-c/Target.h>

/* Whether the target has an instruction for it. */
static bool is_native(const jit_printer *p, uint32_t bytes) {
    return p->level.mask_registers && bytes >= 4 && p->level.lanes * 8 >= p->level.bytes;
}

static LLVMValueRef lane_of(jit_printer *p, LLVMValueRef vector, uint32_t lane) {
    return LLVMBuildExtractElement(p->b, vector, jit_u64(p, lane), "");
}

/* Offsets of lanes that are not in the mask lead to `instead`. */
static LLVMValueRef redirect(jit_printer *p, LLVMValueRef base, LLVMValueRef offsets,
                             LLVMValueRef mask, LLVMValueRef instead) {
    LLVMValueRef from = LLVMBuildPtrToInt(p->b, base, p->t.i64, ""),
                 to = LLVMBuildPtrToInt(p->b, instead, p->t.i64, "");
    return LLVMBuildSelect(p->b, mask, offsets, jit_splat(p, LLVMBuildSub(p->b, to, from, "")), "");
}

LLVMValueRef jit_gather(jit_printer *p, LLVMTypeRef element, uint32_t bytes, LLVMValueRef base,
                        LLVMValueRef offsets, LLVMValueRef mask) {
    LLVMTypeRef type = jit_vector(p, element);
    if (is_native(p, bytes)) {
        LLVMValueRef all = jit_splat(p, LLVMConstInt(p->t.i1, 1, false));
        LLVMValueRef args[4] = {jit_at(p, base, offsets), jit_u32(p, 1), mask ? mask : all,
                                LLVMConstNull(type)};
        LLVMTypeRef types[2] = {type, jit_vector(p, p->t.ptr)};
        return jit_intrinsic(p, "llvm.masked.gather", types, 2, args, 4);
    }
    if (mask) offsets = redirect(p, base, offsets, mask, p->made.zeros);
    LLVMValueRef made = LLVMGetPoison(type);
    for (uint32_t i = 0; i < p->level.lanes; i++) {
        LLVMValueRef one = jit_load(p, element, jit_at(p, base, lane_of(p, offsets, i)));
        made = LLVMBuildInsertElement(p->b, made, one, jit_u64(p, i), "");
    }
    return made;
}

void jit_scatter(jit_printer *p, LLVMValueRef value, uint32_t bytes, LLVMValueRef base,
                 LLVMValueRef offsets, LLVMValueRef mask) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (is_native(p, bytes)) {
        LLVMValueRef all = jit_splat(p, LLVMConstInt(p->t.i1, 1, false));
        LLVMValueRef args[4] = {value, jit_at(p, base, offsets), jit_u32(p, 1), mask ? mask : all};
        LLVMTypeRef types[2] = {type, jit_vector(p, p->t.ptr)};
        (void)jit_intrinsic(p, "llvm.masked.scatter", types, 2, args, 4);
        return;
    }
    if (mask) offsets = redirect(p, base, offsets, mask, p->in.scratch);
    for (uint32_t i = 0; i < p->level.lanes; i++)
        jit_store(p, lane_of(p, value, i), jit_at(p, base, lane_of(p, offsets, i)));
}

/* ---- private arrays: rows of all lanes' elements ---- */

/* In the launch's memory (jit_place_own), or on the stack. */
void jit_array_memory(jit_printer *p, const vec_var *v) {
    if (v->type == KIR_BOOL) p->unsupported = "a private array of truth values";
    LLVMTypeRef row = jit_var_type(p, v);
    if (!p->by.arrays[v->id]) p->by.arrays[v->id] = jit_stack(p, row, v->length);
    LLVMValueRef bytes = jit_u64(p, (uint64_t)v->length * p->level.lanes * kir_type_bytes(v->type));
    LLVMBuildMemSet(p->b, p->by.arrays[v->id], LLVMConstInt(p->t.i8, 0, false), bytes, 1);
}

static LLVMValueRef shared_place(jit_printer *p, const vec_var *v) {
    return LLVMBuildStructGEP2(p->b, p->made.shared_type, p->in.shared, v->id, "");
}

static LLVMValueRef kept_place(jit_printer *p, const vec_var *v) {
    return LLVMBuildStructGEP2(p->b, p->block.kept_type, p->block.kept, p->block.kept_field[v->id],
                               "");
}

/* Of a variable that lies in memory. */
static LLVMValueRef place_of(jit_printer *p, const vec_var *v) {
    return v->kept ? kept_place(p, v) : shared_place(p, v);
}

LLVMValueRef jit_array_place(jit_printer *p, const vec_var *v) {
    return v->shared || v->kept ? place_of(p, v) : p->by.arrays[v->id];
}

/* LLVM has registers for masks of all lanes, and would put them together from those of comparisons
 * and take them apart again in every round of a loop: so a mask variable goes from block to block
 * as its parts. */
static bool is_in_parts(const jit_printer *p, const vec_var *v) {
    return v->each && v->type == KIR_BOOL && p->mask.mask_parts > 1;
}

static LLVMTypeRef type_of_parts(const jit_printer *p) {
    return LLVMArrayType2(LLVMVectorType(p->t.i1, p->level.lanes / p->mask.mask_parts),
                          p->mask.mask_parts);
}

static LLVMValueRef put_together(jit_printer *p, LLVMValueRef parts) {
    LLVMValueRef all[64];
    for (uint32_t i = 0; i < p->mask.mask_parts; i++)
        all[i] = LLVMBuildExtractValue(p->b, parts, i, "");
    for (uint32_t count = p->mask.mask_parts / 2; count; count /= 2)
        for (uint32_t i = 0; i < count; i++) all[i] = jit_join(p, all[2 * i], all[2 * i + 1]);
    return all[0];
}

LLVMValueRef jit_read_var(jit_printer *p, const vec_var *v) {
    if (v->shared || v->kept) return jit_load(p, jit_var_type(p, v), place_of(p, v));
    LLVMValueRef value = p->by.vars[v->id];
    if (!is_in_parts(p, v)) return value;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    jit_whole *known = &p->by.wholes[v->id];
    if (known->parts != value || known->block != here)
        *known = (jit_whole){value, put_together(p, value), here};
    return known->whole;
}

void jit_write_var(jit_printer *p, const vec_var *v, LLVMValueRef value) {
    if (v->shared || v->kept) {
        jit_store(p, value, place_of(p, v));
        return;
    }
    p->by.vars[v->id] = value;
    if (!is_in_parts(p, v)) return;
    LLVMValueRef parts = LLVMGetPoison(type_of_parts(p));
    uint32_t lanes = p->level.lanes / p->mask.mask_parts;
    for (uint32_t i = 0; i < p->mask.mask_parts; i++)
        parts = LLVMBuildInsertValue(p->b, parts, jit_part(p, value, i * lanes, lanes), i, "");
    p->by.vars[v->id] = parts;
    p->by.wholes[v->id] = (jit_whole){parts, value, LLVMGetInsertBlock(p->b)};
}

void jit_start_var(jit_printer *p, const vec_var *v) {
    p->by.vars[v->id] = LLVMConstNull(is_in_parts(p, v) ? type_of_parts(p) : jit_var_type(p, v));
}

/* The index, or 0 where it is out of range. */
static LLVMValueRef in_range(jit_printer *p, LLVMValueRef index, LLVMValueRef length) {
    LLVMValueRef in = LLVMBuildICmp(p->b, LLVMIntULT, index, length, "");
    return LLVMBuildSelect(p->b, in, index, LLVMConstNull(LLVMTypeOf(index)), "");
}

/* Byte offsets of (index, lane): index * lanes + lane elements. */
static LLVMValueRef array_offsets(jit_printer *p, LLVMValueRef index, uint32_t size) {
    LLVMValueRef wide = LLVMBuildZExt(p->b, index, jit_vector(p, p->t.i64), "");
    wide = LLVMBuildMul(p->b, wide, jit_splat(p, jit_u64(p, (uint64_t)p->level.lanes * size)), "");
    return LLVMBuildAdd(p->b, wide, jit_ramp(p, p->t.i64, 0, size), "");
}

void jit_array(jit_printer *p, const vec_value *v) {
    const vec_var *var = v->u.var;
    const vec_value *index = v->args[0];
    uint32_t size = (uint32_t)kir_type_bytes(var->type);
    LLVMTypeRef row = jit_var_type(p, var);
    LLVMValueRef base = jit_array_place(p, var),
                 length = LLVMConstInt(jit_scalar(p, index->type), var->length, false);
    if (!index->each) {
        LLVMValueRef one = jit_one(p, index),
                     at = LLVMBuildZExt(p->b, in_range(p, one, length), p->t.i64, "");
        LLVMValueRef place = LLVMBuildGEP2(p->b, row, base, &at, 1, "");
        if (v->op == VEC_ARRAY_GET) {
            jit_define(p, v, jit_load(p, row, place));
            return;
        }
        LLVMValueRef in = jit_splat(p, LLVMBuildICmp(p->b, LLVMIntULT, one, length, ""));
        LLVMValueRef here = LLVMBuildAnd(p->b, jit_mask_i1(p, v->mask), in, "");
        jit_store(p,
                  LLVMBuildSelect(p->b, here, jit_each(p, v->args[1]), jit_load(p, row, place), ""),
                  place);
        return;
    }
    LLVMValueRef each = jit_each(p, index), lengths = jit_splat(p, length);
    LLVMValueRef offsets = array_offsets(p, in_range(p, each, lengths), size);
    if (v->op == VEC_ARRAY_GET) {
        jit_define(p, v, jit_gather(p, jit_scalar(p, var->type), size, base, offsets, NULL));
        return;
    }
    LLVMValueRef in = LLVMBuildICmp(p->b, LLVMIntULT, each, lengths, "");
    jit_scatter(p, jit_each(p, v->args[1]), size, base, offsets,
                LLVMBuildAnd(p->b, jit_mask_i1(p, v->mask), in, ""));
}

/* ---- lanes among each other ---- */

/* Of lane l the element of lane l xor a number. */
static LLVMValueRef crossed(jit_printer *p, LLVMValueRef from, LLVMValueRef by) {
    LLVMValueRef numbers = LLVMBuildXor(p->b, jit_ramp(p, p->t.i32, 0, 1), jit_splat(p, by), "");
    return LLVMBuildShuffleVector(p->b, from, LLVMGetPoison(LLVMTypeOf(from)), numbers, "");
}

/* The same of bits in a word. */
static LLVMValueRef crossed_bits(jit_printer *p, LLVMValueRef word, uint32_t by) {
    uint64_t low = 0;
    for (uint32_t i = 0; i < 64; i++) low |= (uint64_t) !(i & by) << i;
    LLVMValueRef mask = jit_u64(p, low), n = jit_u64(p, by);
    LLVMValueRef down = LLVMBuildAnd(p->b, LLVMBuildLShr(p->b, word, n, ""), mask, "");
    return LLVMBuildOr(p->b, down, LLVMBuildShl(p->b, LLVMBuildAnd(p->b, word, mask, ""), n, ""),
                       "");
}

/* Lane l gets the element of lane l xor the amount: by shuffles, one for each bit that is set. */
void jit_exchange(jit_printer *p, const vec_value *v) {
    LLVMValueRef from = v->args[0]->type == KIR_BOOL ? jit_mask(p, v->args[0], p->by.widths[v->id])
                                                     : jit_each(p, v->args[0]);
    LLVMValueRef by = LLVMBuildIntCast2(p->b, jit_one(p, v->args[1]), p->t.i32, false, "");
    bool bits = LLVMGetElementType(LLVMTypeOf(from)) == p->t.i1;
    if (LLVMIsAConstantInt(by) || from == LLVMConstAllOnes(LLVMTypeOf(from))) {
        jit_define(p, v, LLVMIsAConstantInt(by) ? crossed(p, from, by) : from);
        return;
    }
    if (bits) from = jit_bits_of_i1(p, from);
    for (uint32_t n = 1; n < p->level.lanes; n *= 2) {
        LLVMValueRef is_set = LLVMBuildICmp(
            p->b, LLVMIntNE, LLVMBuildAnd(p->b, by, jit_u32(p, n), ""), jit_u32(p, 0), "");
        from = LLVMBuildSelect(p->b, is_set,
                               bits ? crossed_bits(p, from, n) : crossed(p, from, jit_u32(p, n)),
                               from, "");
    }
    jit_define(p, v, bits ? jit_i1_of_bits(p, from) : from);
}

void jit_slide(jit_printer *p, const vec_value *v) {
    LLVMValueRef from = jit_each(p, v->args[0]), before = jit_each(p, v->args[1]);
    const uint32_t lanes = p->level.lanes, far = (uint32_t)v->u.imm;
    LLVMValueRef numbers = LLVMBuildAdd(p->b, jit_ramp(p, p->t.i32, 0, 1),
                                        jit_splat(p, jit_u32(p, lanes - far)), "");
    jit_define(p, v, LLVMBuildShuffleVector(p->b, before, from, numbers, ""));
}

/* ---- constant tables ---- */

static LLVMValueRef table_memory(jit_printer *p, const kir_table *t) {
    if (p->made.tables[t->id]) return p->made.tables[t->id];
    unsigned bytes = (unsigned)(t->length * kir_type_bytes(t->type));
    LLVMValueRef data = LLVMConstStringInContext(p->context, t->data, bytes, true);
    LLVMValueRef made = LLVMAddGlobal(p->module, LLVMTypeOf(data), "table");
    LLVMSetInitializer(made, data);
    LLVMSetGlobalConstant(made, true);
    LLVMSetLinkage(made, LLVMInternalLinkage);
    LLVMSetAlignment(made, 8);
    return p->made.tables[t->id] = made;
}

void jit_table(jit_printer *p, const vec_value *v) {
    const kir_table *t = v->u.table;
    const vec_value *index = v->args[0];
    uint64_t size = kir_type_bytes(t->type);
    LLVMTypeRef element = jit_scalar(p, v->type);
    LLVMValueRef base = table_memory(p, t),
                 length = LLVMConstInt(jit_scalar(p, index->type), t->length, false);
    if (!v->each) {
        LLVMValueRef at = LLVMBuildZExt(p->b, in_range(p, jit_one(p, index), length), p->t.i64, "");
        jit_define(p, v, jit_load(p, element, LLVMBuildGEP2(p->b, element, base, &at, 1, "")));
        return;
    }
    LLVMValueRef at = in_range(p, jit_each(p, index), jit_splat(p, length));
    at = LLVMBuildMul(p->b, LLVMBuildZExt(p->b, at, jit_vector(p, p->t.i64), ""),
                      jit_splat(p, jit_u64(p, size)), "");
    jit_define(p, v, jit_gather(p, element, (uint32_t)size, base, at, NULL));
}
