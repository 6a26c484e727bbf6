/* Functions on few limbs (vec_function.limbs_op) as code of their own: sums and logic a row of
 * lanes at a time, products lane by lane with the 128-bit products of the machine. Arrays have a
 * row of lanes for each limb; the result may be one of the operands.
 * Must not know: what the numbers are for. */
#include "jit/jit_internal.h"

enum { MOST_LIMBS = 8, MOST_FACTORS = 8 };

bool jit_has_limbs(const vec_function *f) {
    const uint32_t limbs = f->array_params[0]->length;
    switch ((kir_op)f->limbs_op) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR: return limbs <= MOST_LIMBS;
    case KIR_MUL: return limbs <= MOST_FACTORS;
    default: return false;
    }
}

/* ---- rows ---- */

static LLVMValueRef row(jit_printer *p, LLVMValueRef array, uint32_t limb) {
    return jit_field(p, array, (uint64_t)limb * p->level.lanes * 8);
}

/* a + b, or a - b, and a carry, which becomes that of the next limb. NULL: none. */
static LLVMValueRef sum(jit_printer *p, bool subtract, LLVMValueRef a, LLVMValueRef b,
                        LLVMValueRef *carry) {
    LLVMValueRef s = subtract ? LLVMBuildSub(p->b, a, b, "") : LLVMBuildAdd(p->b, a, b, "");
    LLVMValueRef over = subtract ? LLVMBuildICmp(p->b, LLVMIntULT, a, b, "")
                                 : LLVMBuildICmp(p->b, LLVMIntULT, s, a, "");
    LLVMValueRef r = s, less = *carry ? LLVMBuildSExt(p->b, *carry, LLVMTypeOf(a), "") : NULL;
    if (less) { /* less is -1 where there is one */
        r = subtract ? LLVMBuildAdd(p->b, s, less, "") : LLVMBuildSub(p->b, s, less, "");
        LLVMValueRef again = subtract ? LLVMBuildICmp(p->b, LLVMIntULT, s, r, "")
                                      : LLVMBuildICmp(p->b, LLVMIntULT, r, s, "");
        over = LLVMBuildOr(p->b, over, again, "");
    }
    *carry = over;
    return r;
}

static void rows(jit_printer *p, kir_op op, uint32_t limbs, LLVMValueRef *arrays) {
    LLVMTypeRef type = jit_vector(p, p->t.i64);
    LLVMValueRef carry = NULL, here = jit_i1_of_bits(p, jit_run(p));
    for (uint32_t k = 0; k < limbs; k++) {
        LLVMValueRef a = jit_load(p, type, row(p, arrays[1], k)),
                     b = jit_load(p, type, row(p, arrays[2], k)), to = row(p, arrays[0], k);
        LLVMValueRef r = op == KIR_AND   ? LLVMBuildAnd(p->b, a, b, "")
                         : op == KIR_OR  ? LLVMBuildOr(p->b, a, b, "")
                         : op == KIR_XOR ? LLVMBuildXor(p->b, a, b, "")
                                         : sum(p, op == KIR_SUB, a, b, &carry);
        jit_store(p, LLVMBuildSelect(p->b, here, r, jit_load(p, type, to), ""), to);
    }
}

/* ---- lanes ---- */

static LLVMValueRef limb_at(jit_printer *p, LLVMValueRef array, uint32_t limb, LLVMValueRef lane) {
    return LLVMBuildGEP2(p->b, p->t.i64, row(p, array, limb), &lane, 1, "");
}

typedef struct factors {
    LLVMValueRef a[MOST_FACTORS], b[MOST_FACTORS], r[MOST_FACTORS];
} factors;

/* r[i + j …] += a[i] b[j] for all j below `count`; the carry. NULL: none. */
static LLVMValueRef add_products(jit_printer *p, factors *f, uint32_t i, uint32_t count) {
    LLVMTypeRef two = LLVMIntTypeInContext(p->context, 128);
    LLVMValueRef carry = NULL;
    for (uint32_t j = 0; j < count; j++) {
        LLVMValueRef t = LLVMBuildMul(p->b, LLVMBuildZExt(p->b, f->a[i], two, ""),
                                      LLVMBuildZExt(p->b, f->b[j], two, ""), "");
        LLVMValueRef *r = &f->r[i + j];
        if (*r) t = LLVMBuildAdd(p->b, t, LLVMBuildZExt(p->b, *r, two, ""), "");
        if (carry) t = LLVMBuildAdd(p->b, t, LLVMBuildZExt(p->b, carry, two, ""), "");
        *r = LLVMBuildTrunc(p->b, t, p->t.i64, "");
        carry = LLVMBuildTrunc(p->b, LLVMBuildLShr(p->b, t, LLVMConstInt(two, 64, false), ""),
                               p->t.i64, "");
    }
    return carry;
}

static void put(jit_printer *p, const factors *f, uint32_t limbs, LLVMValueRef array,
                LLVMValueRef lane) {
    for (uint32_t k = 0; k < limbs; k++) jit_store(p, f->r[k], limb_at(p, array, k, lane));
}

/* The low limbs of a product. */
static void low_product(jit_printer *p, factors *f, uint32_t limbs) {
    for (uint32_t i = 0; i < limbs; i++) {
        const uint32_t last = limbs - 1 - i;
        LLVMValueRef carry = add_products(p, f, i, last),
                     t = LLVMBuildMul(p->b, f->a[i], f->b[last], "");
        if (carry) t = LLVMBuildAdd(p->b, t, carry, "");
        f->r[limbs - 1] = f->r[limbs - 1] ? LLVMBuildAdd(p->b, t, f->r[limbs - 1], "") : t;
    }
}

/* Of numbers whose upper halves are zeros: what a high product of half the limbs is made of. */
static void half_product(jit_printer *p, factors *f, uint32_t half) {
    for (uint32_t i = 0; i < half; i++) f->r[i + half] = add_products(p, f, i, half);
}

static void product(jit_printer *p, uint32_t limbs, LLVMValueRef *arrays, LLVMValueRef lane) {
    const uint32_t half = limbs / 2;
    factors f = {.r = {NULL}}, of_halves;
    for (uint32_t k = 0; k < limbs; k++) {
        f.a[k] = jit_load(p, p->t.i64, limb_at(p, arrays[1], k, lane));
        f.b[k] = jit_load(p, p->t.i64, limb_at(p, arrays[2], k, lane));
    }
    of_halves = f;
    if (limbs % 2 || limbs < MOST_FACTORS) {
        low_product(p, &f, limbs);
        put(p, &f, limbs, arrays[0], lane);
        return;
    }
    LLVMValueRef above = LLVMBuildOr(p->b, f.a[half], f.b[half], "");
    for (uint32_t k = half + 1; k < limbs; k++)
        above = LLVMBuildOr(p->b, above, LLVMBuildOr(p->b, f.a[k], f.b[k], ""), "");
    LLVMBasicBlockRef all = jit_block(p, "limbs"), few = jit_block(p, "halves"),
                      done = jit_block(p, "product");
    LLVMBuildCondBr(p->b, LLVMBuildICmp(p->b, LLVMIntNE, above, jit_u64(p, 0), ""), all, few);
    LLVMPositionBuilderAtEnd(p->b, all);
    low_product(p, &f, limbs);
    put(p, &f, limbs, arrays[0], lane);
    LLVMBuildBr(p->b, done);
    LLVMPositionBuilderAtEnd(p->b, few);
    half_product(p, &of_halves, half);
    put(p, &of_halves, limbs, arrays[0], lane);
    LLVMBuildBr(p->b, done);
    LLVMPositionBuilderAtEnd(p->b, done);
}

void jit_limbs(jit_printer *p, const vec_function *f) {
    const uint32_t limbs = f->array_params[0]->length;
    LLVMValueRef arrays[3];
    for (uint8_t i = 0; i < 3; i++) arrays[i] = p->by.arrays[f->array_params[i]->id];
    if (f->limbs_op != KIR_MUL) {
        rows(p, (kir_op)f->limbs_op, limbs, arrays);
    } else {
        jit_lanes each = jit_each_lane(p, jit_run(p));
        product(p, limbs, arrays, each.lane);
        jit_end_lanes(p, &each);
    }
    LLVMBuildRetVoid(p->b);
}
