/* Types and values of LLVM for the vector form: masks in their three forms, splats, memory.
 * Must not know: operations, control flow. */
#include "jit/jit_internal.h"

#include <hologram/vector.h>
#include <string.h>

enum { PRESERVE_ALL = 15 /* LLVM's calling convention preserve_allcc */ };

/* ---- types ---- */

LLVMTypeRef jit_scalar(const jit_printer *p, uint8_t type) {
    const LLVMTypeRef types[] = {p->t.i8, p->t.i16, p->t.i32, p->t.i64, p->t.f32, p->t.f64};
    int kind = kir_kind_of(type);
    return type == KIR_BOOL ? p->t.i1 : kind < 0 ? p->t.none : types[kind];
}

LLVMTypeRef jit_vector(const jit_printer *p, LLVMTypeRef element) {
    return LLVMVectorType(element, p->level.lanes);
}

LLVMTypeRef jit_integer(const jit_printer *p, uint32_t bytes) {
    return LLVMIntTypeInContext(p->context, bytes * 8);
}

LLVMTypeRef jit_mask_type(const jit_printer *p, uint32_t bytes) {
    return jit_vector(p, p->level.mask_registers ? p->t.i1 : jit_integer(p, bytes));
}

uint32_t jit_size(const jit_printer *p, const vec_value *v) {
    return v->type == KIR_BOOL ? p->by.widths[v->id] : (uint32_t)kir_type_bytes(v->type);
}

uint32_t jit_var_size(const jit_printer *p, const vec_var *v) {
    return vec_var_size(v, p->mask.mask_bytes);
}

LLVMTypeRef jit_var_type(const jit_printer *p, const vec_var *v) {
    if (!v->each) return jit_scalar(p, v->type);
    return v->type == KIR_BOOL ? jit_mask_type(p, jit_var_size(p, v))
                               : jit_vector(p, jit_scalar(p, v->type));
}

LLVMTypeRef jit_type_of(const jit_printer *p, const vec_value *v) {
    if (!v->each) return jit_scalar(p, v->type);
    return v->type == KIR_BOOL ? jit_mask_type(p, p->by.widths[v->id])
                               : jit_vector(p, jit_scalar(p, v->type));
}

/* ---- constants, splats ---- */

LLVMValueRef jit_u64(const jit_printer *p, uint64_t x) { return LLVMConstInt(p->t.i64, x, false); }
LLVMValueRef jit_u32(const jit_printer *p, uint64_t x) { return LLVMConstInt(p->t.i32, x, false); }

static bool is_vector(LLVMValueRef v) {
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
}

LLVMValueRef jit_splat(jit_printer *p, LLVMValueRef one) {
    LLVMTypeRef type = jit_vector(p, LLVMTypeOf(one));
    if (LLVMIsConstant(one)) {
        LLVMValueRef all[64];
        for (uint32_t i = 0; i < p->level.lanes; i++) all[i] = one;
        return LLVMConstVector(all, p->level.lanes);
    }
    LLVMValueRef first = LLVMBuildInsertElement(p->b, LLVMGetPoison(type), one, jit_u64(p, 0), "");
    return LLVMBuildShuffleVector(p->b, first, LLVMGetPoison(type),
                                  LLVMConstNull(jit_vector(p, p->t.i32)), "");
}

LLVMValueRef jit_ramp(jit_printer *p, LLVMTypeRef element, uint64_t from, uint64_t by) {
    LLVMValueRef all[64];
    for (uint32_t i = 0; i < p->level.lanes; i++)
        all[i] = LLVMConstInt(element, from + i * by, false);
    return LLVMConstVector(all, p->level.lanes);
}

LLVMValueRef jit_part(jit_printer *p, LLVMValueRef vector, uint32_t from, uint32_t count) {
    LLVMValueRef numbers[64];
    for (uint32_t i = 0; i < count; i++) numbers[i] = jit_u32(p, from + i);
    return LLVMBuildShuffleVector(p->b, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                  LLVMConstVector(numbers, count), "");
}

LLVMValueRef jit_join(jit_printer *p, LLVMValueRef low, LLVMValueRef high) {
    LLVMValueRef numbers[64];
    uint32_t count = 2 * LLVMGetVectorSize(LLVMTypeOf(low));
    for (uint32_t i = 0; i < count; i++) numbers[i] = jit_u32(p, i);
    return LLVMBuildShuffleVector(p->b, low, high, LLVMConstVector(numbers, count), "");
}

LLVMValueRef jit_intrinsic(jit_printer *p, const char *name, LLVMTypeRef *overloads,
                           unsigned overload_count, LLVMValueRef *args, unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(p->module, id, overloads, overload_count);
    return LLVMBuildCall2(p->b, LLVMGlobalGetValueType(f), f, args, count, "");
}

/* ---- values ---- */

static LLVMValueRef constant(const jit_printer *p, const vec_value *v) {
    LLVMTypeRef type = jit_scalar(p, v->type);
    if (!kir_type_is_float(v->type)) return LLVMConstInt(type, v->u.imm, false);
    return LLVMConstBitCast(
        LLVMConstInt(jit_integer(p, (uint32_t)kir_type_bytes(v->type)), v->u.imm, false), type);
}

LLVMValueRef jit_one(jit_printer *p, const vec_value *v) {
    return v->op == VEC_CONST ? constant(p, v) : p->by.values[v->id];
}

void jit_go_behind(jit_printer *p, LLVMValueRef one) {
    LLVMValueRef at = NULL;
    LLVMBasicBlockRef block = p->in.entry;
    if (LLVMIsAInstruction(one)) {
        block = LLVMGetInstructionParent(one);
        at = LLVMGetNextInstruction(one);
    } else {
        at = LLVMGetFirstInstruction(block);
    }
    while (at && LLVMIsAPHINode(at)) at = LLVMGetNextInstruction(at);
    if (at)
        LLVMPositionBuilderBefore(p->b, at);
    else
        LLVMPositionBuilderAtEnd(p->b, block);
}

LLVMValueRef jit_each(jit_printer *p, const vec_value *v) {
    if (v->each) return p->by.values[v->id];
    if (v->op == VEC_CONST) return jit_splat(p, constant(p, v));
    LLVMValueRef one = p->by.values[v->id];
    if (LLVMIsConstant(one)) return jit_splat(p, one);
    if (!p->by.splats[v->id]) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
        jit_go_behind(p, one);
        p->by.splats[v->id] = jit_splat(p, one);
        LLVMPositionBuilderAtEnd(p->b, here);
    }
    return p->by.splats[v->id];
}

void jit_define(jit_printer *p, const vec_value *v, LLVMValueRef made) {
    p->by.values[v->id] = made;
}

void jit_forget(jit_printer *p) {
    memset(p->by.splats, 0, ((size_t)p->in.f->value_count + 1) * sizeof *p->by.splats);
    memset(p->by.checked, 0, ((size_t)p->in.f->value_count + 1) * sizeof *p->by.checked);
}

/* ---- masks ---- */

LLVMValueRef *jit_slot_of(const jit_printer *p, jit_slot slot) {
    return &p->by.vars[p->by.var_count + slot];
}
LLVMValueRef jit_run(const jit_printer *p) { return *jit_slot_of(p, JIT_RUN); }
LLVMValueRef jit_ended(const jit_printer *p) { return *jit_slot_of(p, JIT_ENDED); }
void jit_set_run(jit_printer *p, LLVMValueRef bits) { *jit_slot_of(p, JIT_RUN) = bits; }
void jit_set_ended(jit_printer *p, LLVMValueRef bits) { *jit_slot_of(p, JIT_ENDED) = bits; }

LLVMValueRef jit_all(const jit_printer *p) {
    return jit_u64(p, p->level.lanes == 64 ? ~UINT64_C(0) : (UINT64_C(1) << p->level.lanes) - 1);
}

LLVMValueRef jit_true(const jit_printer *p) {
    return LLVMConstAllOnes(LLVMVectorType(p->t.i1, p->level.lanes));
}

bool jit_is_all(jit_printer *p, const vec_value *mask) {
    LLVMValueRef made = mask ? mask->each ? p->by.values[mask->id] : jit_one(p, mask) : jit_run(p);
    if (!mask) return made == jit_all(p);
    return made && LLVMIsConstant(made) && made == LLVMConstAllOnes(LLVMTypeOf(made));
}

LLVMValueRef jit_mask_of_i1(jit_printer *p, LLVMValueRef i1s, uint32_t bytes) {
    return p->level.mask_registers ? i1s : LLVMBuildSExt(p->b, i1s, jit_mask_type(p, bytes), "");
}

LLVMValueRef jit_i1_of_mask(jit_printer *p, LLVMValueRef mask) {
    if (p->level.mask_registers) return mask;
    return LLVMBuildICmp(p->b, LLVMIntSLT, mask, LLVMConstNull(LLVMTypeOf(mask)), "");
}

LLVMValueRef jit_mask_resize(jit_printer *p, LLVMValueRef mask, uint32_t from, uint32_t to) {
    if (p->level.mask_registers || from == to) return mask;
    if (from < to) return LLVMBuildSExt(p->b, mask, jit_mask_type(p, to), "");
    return LLVMBuildTrunc(p->b, mask, jit_mask_type(p, to), "");
}

LLVMValueRef jit_bits_of_i1(jit_printer *p, LLVMValueRef i1s) {
    if (i1s == jit_true(p)) return jit_all(p);
    LLVMValueRef word = LLVMBuildBitCast(p->b, i1s,
                                         LLVMIntTypeInContext(p->context, p->level.lanes), "");
    return p->level.lanes == 64 ? word : LLVMBuildZExt(p->b, word, p->t.i64, "");
}

LLVMValueRef jit_i1_of_bits(jit_printer *p, LLVMValueRef bits) {
    if (bits == jit_all(p)) return jit_true(p);
    if (p->level.mask_registers || LLVMIsConstant(bits)) {
        LLVMTypeRef word = LLVMIntTypeInContext(p->context, p->level.lanes);
        LLVMValueRef narrow = p->level.lanes == 64 ? bits : LLVMBuildTrunc(p->b, bits, word, "");
        return LLVMBuildBitCast(p->b, narrow, jit_vector(p, p->t.i1), "");
    }
    LLVMTypeRef word = p->level.lanes > 32 ? p->t.i64 : p->t.i32; /* each lane looks at its bit */
    LLVMValueRef own[64];
    for (uint32_t i = 0; i < p->level.lanes; i++)
        own[i] = LLVMConstInt(word, UINT64_C(1) << i, false);
    LLVMValueRef all = jit_splat(p, LLVMBuildIntCast2(p->b, bits, word, false, "")),
                 each = LLVMConstVector(own, p->level.lanes);
    return LLVMBuildICmp(p->b, LLVMIntEQ, LLVMBuildAnd(p->b, all, each, ""), each, "");
}

LLVMValueRef jit_mask(jit_printer *p, const vec_value *mask, uint32_t bytes) {
    if (!mask) return jit_mask_of_i1(p, jit_i1_of_bits(p, jit_run(p)), bytes);
    if (mask->each)
        return jit_mask_resize(p, p->by.values[mask->id], p->by.widths[mask->id], bytes);
    if (p->level.mask_registers) return jit_each(p, mask);
    return jit_splat(p, LLVMBuildSExt(p->b, jit_one(p, mask), jit_integer(p, bytes), ""));
}

LLVMValueRef jit_mask_i1(jit_printer *p, const vec_value *mask) {
    if (!mask) return jit_i1_of_bits(p, jit_run(p));
    return mask->each ? jit_i1_of_mask(p, p->by.values[mask->id]) : jit_each(p, mask);
}

LLVMValueRef jit_bits(jit_printer *p, const vec_value *mask) {
    if (!mask) return jit_run(p);
    if (!mask->each) return LLVMBuildSelect(p->b, jit_one(p, mask), jit_all(p), jit_u64(p, 0), "");
    return jit_bits_of_i1(p, jit_mask_i1(p, mask));
}

/* ---- memory ---- */

LLVMValueRef jit_load(jit_printer *p, LLVMTypeRef type, LLVMValueRef at) {
    LLVMValueRef made = LLVMBuildLoad2(p->b, type, at, "");
    LLVMSetAlignment(made, 1);
    return made;
}

void jit_store(jit_printer *p, LLVMValueRef value, LLVMValueRef at) {
    LLVMSetAlignment(LLVMBuildStore(p->b, value, at), 1);
}

LLVMValueRef jit_at(jit_printer *p, LLVMValueRef base, LLVMValueRef offset) {
    return LLVMBuildGEP2(p->b, p->t.i8, base, &offset, 1, "");
}

LLVMValueRef jit_field(jit_printer *p, LLVMValueRef base, uint64_t offset) {
    return jit_at(p, base, jit_u64(p, offset));
}

LLVMValueRef jit_stack(jit_printer *p, LLVMTypeRef type, uint64_t count) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    LLVMValueRef first = LLVMGetFirstInstruction(p->in.entry);
    if (first)
        LLVMPositionBuilderBefore(p->b, first);
    else
        LLVMPositionBuilderAtEnd(p->b, p->in.entry);
    LLVMValueRef made = LLVMBuildArrayAlloca(p->b, type, jit_u64(p, count), "");
    LLVMSetAlignment(made, is_vector(LLVMConstNull(type)) ? p->level.bytes : 16);
    LLVMPositionBuilderAtEnd(p->b, here);
    return made;
}

LLVMValueRef jit_words_of(jit_printer *p, jit_words which) {
    static const uint8_t counts[JIT_WORDS] = {[JIT_WORD_GONE] = 1,
                                              [JIT_WORD_ENDED] = 1,
                                              [JIT_WORDS_OF_FAULT] = 2,
                                              [JIT_WORDS_OF_MEMORY] = sizeof(hgv_memory) / 8};
    if (!p->in.words[which]) p->in.words[which] = jit_stack(p, p->t.i64, counts[which]);
    return p->in.words[which];
}

static LLVMTypeRef helper_type(const jit_printer *p, char letter) {
    return letter == 'p'   ? p->t.ptr
           : letter == 'w' ? p->t.i64
           : letter == 'i' ? p->t.i32
                           : p->t.none;
}

/* A function of HG_JIT_HELPERS, declared where it is called first. */
static LLVMValueRef declare_helper(jit_printer *p, const char *name) {
    static const struct {
        const char *name;
        bool keeps;
        const char *types;
    } helpers[] = {
#define X(name, keeps, types) {#name, keeps, types},
        HG_JIT_HELPERS(X)
#undef X
    };
    size_t n = 0;
    while (strcmp(helpers[n].name, name) != 0) n++;
    LLVMTypeRef types[12];
    const char *letters = helpers[n].types;
    unsigned count = (unsigned)strlen(letters) - 1;
    for (unsigned i = 0; i < count; i++) types[i] = helper_type(p, letters[1 + i]);
    LLVMValueRef f = LLVMAddFunction(
        p->module, name, LLVMFunctionType(helper_type(p, letters[0]), types, count, false));
    jit_add_attribute(p, f, "nounwind");
    if (!helpers[n].keeps) return f;
    jit_add_attribute(p, f, "cold");
    LLVMSetFunctionCallConv(f, PRESERVE_ALL);
    return f;
}

LLVMValueRef jit_call_helper(jit_printer *p, const char *name, LLVMValueRef *args, unsigned count) {
    LLVMValueRef f = LLVMGetNamedFunction(p->module, name);
    if (!f) f = declare_helper(p, name);
    LLVMValueRef made = LLVMBuildCall2(p->b, LLVMGlobalGetValueType(f), f, args, count, "");
    LLVMSetInstructionCallConv(made, LLVMGetFunctionCallConv(f));
    return made;
}

void jit_add_attribute(const jit_printer *p, LLVMValueRef f, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(p->context, kind, 0));
}
