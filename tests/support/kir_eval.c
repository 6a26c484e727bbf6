/* See kir_eval.h. */
#include "support/kir_eval.h"

typedef enum eval_flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_STOP } eval_flow;

typedef struct eval_frame {
    eval_value *values;
    eval_value result;
    eval_value params[16];
} eval_frame;

uint64_t ev_u64(const eval_value *v) { return v->limb[0] | (uint64_t)v->limb[1] << 32; }

eval_value ev_from(uint64_t u) {
    eval_value r = {{0}};
    r.limb[0] = (uint32_t)u;
    r.limb[1] = (uint32_t)(u >> 32);
    return r;
}

uint32_t ev_limbs(uint32_t bits) { return (bits + 31) / 32; }

void ev_cut(eval_value *v, uint32_t bits) {
    if (bits % 32) v->limb[bits / 32] &= (1u << bits % 32) - 1;
    for (uint32_t i = ev_limbs(bits); i < 128; i++) v->limb[i] = 0;
}

bool ev_bit(const eval_value *v, uint32_t i) { return v->limb[i / 32] >> i % 32 & 1; }

static bool ev_zero(const eval_value *v) {
    for (int i = 0; i < 128; i++)
        if (v->limb[i]) return false;
    return true;
}

int ev_cmp(const eval_value *a, const eval_value *b) {
    for (int i = 127; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

eval_value ev_add(const eval_value *a, const eval_value *b, uint32_t bits) {
    eval_value r = {{0}};
    uint64_t carry = 0;
    for (uint32_t i = 0; i < ev_limbs(bits); i++) {
        carry += (uint64_t)a->limb[i] + b->limb[i];
        r.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    ev_cut(&r, bits);
    return r;
}

eval_value ev_neg(const eval_value *a, uint32_t bits) {
    eval_value r = {{0}}, one = ev_from(1);
    for (uint32_t i = 0; i < ev_limbs(bits); i++) r.limb[i] = ~a->limb[i];
    return ev_add(&r, &one, bits);
}

eval_value ev_sub(const eval_value *a, const eval_value *b, uint32_t bits) {
    eval_value n = ev_neg(b, bits);
    return ev_add(a, &n, bits);
}

static eval_value ev_mul(const eval_value *a, const eval_value *b, uint32_t bits) {
    eval_value r = {{0}};
    uint32_t n = ev_limbs(bits);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (uint32_t j = 0; i + j < n; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + r.limb[i + j];
            r.limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    ev_cut(&r, bits);
    return r;
}

eval_value ev_shl(const eval_value *a, uint32_t n, uint32_t bits) {
    eval_value r = {{0}};
    for (uint32_t i = n; i < bits; i++)
        if (ev_bit(a, i - n)) r.limb[i / 32] |= 1u << i % 32;
    return r;
}

eval_value ev_shr(const eval_value *a, uint32_t n, uint32_t bits, bool fill) {
    eval_value r = {{0}};
    for (uint32_t i = 0; i < bits; i++)
        if (i + n < bits ? ev_bit(a, i + n) : fill) r.limb[i / 32] |= 1u << i % 32;
    return r;
}

uint32_t ev_length(const eval_value *a) {
    for (uint32_t i = 128; i-- > 0;)
        if (a->limb[i])
            for (uint32_t k = 32; k-- > 0;)
                if (a->limb[i] >> k & 1) return i * 32 + k + 1;
    return 0;
}

/* Schoolbook, bit by bit; by zero both are zero. */
static void ev_divide(const eval_value *a, const eval_value *b, eval_value *quotient,
                      eval_value *rest) {
    eval_value q = {{0}}, r = {{0}};
    if (!ev_zero(b))
        for (uint32_t i = ev_length(a); i-- > 0;) {
            bool top = ev_bit(&r, 4095);
            r = ev_shl(&r, 1, 4096);
            r.limb[0] |= ev_bit(a, i);
            if (top || ev_cmp(&r, b) >= 0) {
                r = ev_sub(&r, b, 4096);
                q.limb[i / 32] |= 1u << i % 32;
            }
        }
    *quotient = q;
    *rest = r;
}

static eval_value ev_sdivide(const eval_value *a, const eval_value *b, uint32_t bits, bool rest) {
    bool na = ev_bit(a, bits - 1), nb = ev_bit(b, bits - 1);
    eval_value x = na ? ev_neg(a, bits) : *a, y = nb ? ev_neg(b, bits) : *b, q, r;
    ev_divide(&x, &y, &q, &r);
    if (rest) return na ? ev_neg(&r, bits) : r;
    return na != nb ? ev_neg(&q, bits) : q;
}

/* An unsigned integer rounded once: the top 64 bits with a sticky one, then the compiler's
 * conversion. */
static double ev_to_real(const eval_value *a, bool single) {
    uint32_t n = ev_length(a), cut = n > 64 ? n - 64 : 0;
    eval_value top = ev_shr(a, cut, 4096, false), back = ev_shl(&top, cut, 4096);
    uint64_t t = ev_u64(&top) | (ev_cmp(&back, a) != 0);
    if (single) return (double)(cut > 64 ? INFINITY : ldexpf((float)t, (int)cut));
    return ldexp((double)t, (int)cut);
}

static eval_value ev_from_real(double x, uint32_t bits, bool is_signed) {
    eval_value r = {{0}};
    if (isnan(x)) return r;
    uint32_t room = is_signed ? bits - 1 : bits;
    double t = trunc(fabs(x));
    bool negative = x < 0 && t > 0;
    if (negative && !is_signed) return r;
    if (t >= ldexp(1.0, (int)room)) { /* saturates; MIN itself is exactly the edge */
        for (uint32_t i = 0; i < room; i++) r.limb[i / 32] |= 1u << i % 32;
        if (negative) {
            r = (eval_value){{0}};
            r.limb[room / 32] |= 1u << room % 32;
        }
        return r;
    }
    int e;
    double m = frexp(t, &e);
    r = ev_from((uint64_t)ldexp(m, 53));
    r = e >= 53 ? ev_shl(&r, (uint32_t)(e - 53), 4096)
                : ev_shr(&r, (uint32_t)(53 - e), 4096, false);
    return negative ? ev_neg(&r, bits) : r;
}

static float ev_f32(const eval *e, uint32_t bits) {
    if (e->flush && !(bits & 0x7F800000)) bits &= 0x80000000;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static eval_value ev_of_f32(const eval *e, float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if (e->flush && !(bits & 0x7F800000)) bits &= 0x80000000;
    return ev_from(bits);
}

double ev_real(const eval *e, const kir_value *v, const eval_value *x) {
    if (v->type == HG_TYPE_F32) return (double)ev_f32(e, x->limb[0]);
    double d;
    uint64_t bits = ev_u64(x);
    memcpy(&d, &bits, 8);
    return d;
}

eval_value ev_of_real(const eval *e, uint8_t type, double d) {
    if (type == HG_TYPE_F32) return ev_of_f32(e, (float)d);
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return ev_from(bits);
}

eval_value ev_float(const eval *e, const kir_value *v, eval_value *const *x) {
    if (v->args[0]->type == HG_TYPE_F32) {
        float a = ev_f32(e, x[0]->limb[0]), b = v->nargs > 1 ? ev_f32(e, x[1]->limb[0]) : 0,
              c = v->nargs > 2 ? ev_f32(e, x[2]->limb[0]) : 0;
        switch ((kir_op)v->op) {
        case KIR_FADD: return ev_of_f32(e, a + b);
        case KIR_FSUB: return ev_of_f32(e, a - b);
        case KIR_FMUL: return ev_of_f32(e, a * b);
        case KIR_FDIV: return ev_of_f32(e, a / b);
        case KIR_FSQRT: return ev_of_f32(e, sqrtf(a));
        case KIR_FFMA: return ev_of_f32(e, fmaf(a, b, c));
        case KIR_FMAD: return ev_of_f32(e, a * b + c);
        case KIR_FMULERR: return ev_of_f32(e, (float)((double)a * (double)b - (double)(a * b)));
        case KIR_FFLOOR: return ev_of_f32(e, floorf(a));
        case KIR_FTRUNC: return ev_of_f32(e, truncf(a));
        default: return ev_of_f32(e, rintf(a));
        }
    }
    double a = ev_real(e, v->args[0], x[0]), b = v->nargs > 1 ? ev_real(e, v->args[1], x[1]) : 0,
           c = v->nargs > 2 ? ev_real(e, v->args[2], x[2]) : 0, r;
    switch ((kir_op)v->op) {
    case KIR_FADD: r = a + b; break;
    case KIR_FSUB: r = a - b; break;
    case KIR_FMUL: r = a * b; break;
    case KIR_FDIV: r = a / b; break;
    case KIR_FSQRT: r = sqrt(a); break;
    case KIR_FFMA: r = fma(a, b, c); break;
    case KIR_FMAD: r = a * b + c; break;
    case KIR_FMULERR: r = fma(a, b, -(a * b)); break;
    case KIR_FFLOOR: r = floor(a); break;
    case KIR_FTRUNC: r = trunc(a); break;
    default: r = rint(a); break;
    }
    return ev_of_real(e, HG_TYPE_F64, r);
}

static uint64_t ev_exponent_kept(uint8_t type) {
    return type == HG_TYPE_F64 ? ~(UINT64_C(0x7F) << 56) : ~UINT64_C(0x78000000);
}
static uint64_t ev_exponent_set(uint8_t type) {
    return type == HG_TYPE_F64 ? UINT64_C(0x3F) << 56 : 0x38000000;
}

uint64_t ev_near_one(uint8_t type, uint64_t bits) {
    return (bits & ev_exponent_kept(type)) | ev_exponent_set(type);
}

kir_value *ev_build_near_one(kir_builder *b, kir_value *x) {
    uint8_t type = x->type, bits = type == HG_TYPE_F64 ? HG_TYPE_U64 : HG_TYPE_U32;
    kir_value *v = kir_convert(b, KIR_BITCAST, bits, x);
    v = kir_binary(b, KIR_AND, v, kir_const(b, bits, ev_exponent_kept(type)));
    v = kir_binary(b, KIR_OR, v, kir_const(b, bits, ev_exponent_set(type)));
    return kir_convert(b, KIR_BITCAST, type, v);
}

static float ev_half_value(uint32_t h) {
    int exponent = (int)(h >> 10 & 31);
    float m = (float)(h & 1023), r;
    if (exponent == 31)
        r = h & 1023 ? NAN : INFINITY;
    else
        r = exponent ? ldexpf(m + 1024, exponent - 25) : ldexpf(m, -24);
    return h & 0x8000 ? -r : r;
}

/* Nearest even by search in the spacing of the result. */
static uint32_t ev_half_bits(float f) {
    uint32_t sign = signbit(f) ? 0x8000 : 0;
    double a = fabs((double)f);
    if (isnan(f)) return sign | 0x7E00;
    if (a >= 65520) return sign | 0x7C00;
    int e;
    frexp(a, &e);
    if (a == 0 || e < -13) e = -13;
    double m = rint(ldexp(a, 11 - e)); /* in units of the last place */
    return sign | (uint32_t)((e + 13) * 1024 + (int)m);
}

static uint32_t ev_bf16_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    if (isnan(f)) return (u >> 16) | 0x40;
    uint32_t up = (u & 0xFFFF) > 0x8000 || ((u & 0xFFFF) == 0x8000 && (u >> 16 & 1));
    return (u >> 16) + up;
}

eval_value ev_convert(const eval *e, const kir_value *v, const eval_value *x) {
    const kir_value *a = v->args[0];
    uint32_t from = kir_type_bits(a->type), to = kir_type_bits(v->type);
    eval_value r = *x;
    float f;
    switch ((kir_op)v->op) {
    case KIR_BITCAST: return r;
    case KIR_ZEXT: return r;
    case KIR_TRUNC: ev_cut(&r, to); return r;
    case KIR_SEXT:
        if (ev_bit(x, from - 1))
            for (uint32_t i = from; i < to; i++) r.limb[i / 32] |= 1u << i % 32;
        return r;
    case KIR_U2F:
    case KIR_S2F: {
        bool negative = v->op == KIR_S2F && ev_bit(x, from - 1);
        eval_value m = negative ? ev_neg(x, from) : *x;
        double d = ev_to_real(&m, v->type == HG_TYPE_F32);
        return ev_of_real(e, v->type, negative ? -d : d);
    }
    case KIR_F2U: return ev_from_real(ev_real(e, a, x), to, false);
    case KIR_F2S: return ev_from_real(ev_real(e, a, x), to, true);
    case KIR_F2F: return ev_of_real(e, v->type, ev_real(e, a, x));
    case KIR_H2F: return ev_of_f32(e, ev_half_value(x->limb[0]));
    case KIR_B2F: {
        uint32_t u = x->limb[0] << 16;
        memcpy(&f, &u, 4);
        return ev_of_f32(e, f);
    }
    case KIR_F2H: return ev_from(ev_half_bits(ev_f32(e, x->limb[0])));
    default: return ev_from(ev_bf16_bits(ev_f32(e, x->limb[0])));
    }
}

/* Up to 64 bits in the compiler's own arithmetic, for speed. */
static bool ev_small(const kir_value *v, eval_value *const *x, uint64_t *r) {
    uint32_t bits = kir_type_bits(v->args[0]->type);
    if (bits > 64) return false;
    uint64_t a = ev_u64(x[0]), b = v->nargs > 1 ? ev_u64(x[1]) : 0,
             mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    switch ((kir_op)v->op) {
    case KIR_ADD: *r = (a + b) & mask; return true;
    case KIR_SUB: *r = (a - b) & mask; return true;
    case KIR_MUL: *r = (a * b) & mask; return true;
    case KIR_AND: *r = a & b; return true;
    case KIR_OR: *r = a | b; return true;
    case KIR_XOR: *r = a ^ b; return true;
    case KIR_SHL: *r = (a << b % bits) & mask; return true;
    case KIR_LSHR: *r = a >> b % bits; return true;
    case KIR_CMP_EQ: *r = a == b; return true;
    case KIR_CMP_ULT: *r = a < b; return true;
    case KIR_UDIV: *r = b ? a / b : 0; return true;
    case KIR_UREM: *r = b ? a % b : 0; return true;
    default: return false;
    }
}

eval_value ev_integer(const kir_value *v, eval_value *const *x) {
    uint64_t small;
    if (ev_small(v, x, &small)) return ev_from(small);
    uint32_t bits = kir_type_bits(v->args[0]->type);
    eval_value q, r = {{0}};
    const eval_value *a = x[0], *b = v->nargs > 1 ? x[1] : NULL;
    uint32_t amount = b ? b->limb[0] % bits : 0;
    switch ((kir_op)v->op) {
    case KIR_ADD: return ev_add(a, b, bits);
    case KIR_SUB: return ev_sub(a, b, bits);
    case KIR_MUL: return ev_mul(a, b, bits);
    case KIR_MULHI_U:
        if (bits > 64) { /* through halves of the double width; only used up to 2048 bits */
            q = ev_mul(a, b, 4096);
            return ev_shr(&q, bits, 4096, false);
        }
        q = ev_mul(a, b, 128);
        return ev_shr(&q, bits, 128, false);
    case KIR_UDIV: ev_divide(a, b, &q, &r); return q;
    case KIR_UREM: ev_divide(a, b, &q, &r); return ev_zero(b) ? ev_from(0) : r;
    case KIR_SDIV: return ev_sdivide(a, b, bits, false);
    case KIR_SREM: return ev_zero(b) ? ev_from(0) : ev_sdivide(a, b, bits, true);
    case KIR_AND:
        for (int i = 0; i < 128; i++) r.limb[i] = a->limb[i] & b->limb[i];
        return r;
    case KIR_OR:
        for (int i = 0; i < 128; i++) r.limb[i] = a->limb[i] | b->limb[i];
        return r;
    case KIR_XOR:
        for (int i = 0; i < 128; i++) r.limb[i] = a->limb[i] ^ b->limb[i];
        return r;
    case KIR_SHL: return ev_shl(a, amount, bits);
    case KIR_LSHR: return ev_shr(a, amount, bits, false);
    case KIR_ASHR: return ev_shr(a, amount, bits, ev_bit(a, bits - 1));
    case KIR_CLZ: return ev_from(bits - ev_length(a));
    case KIR_CMP_EQ: return ev_from(ev_cmp(a, b) == 0);
    case KIR_CMP_ULT: return ev_from(ev_cmp(a, b) < 0);
    default: { /* CMP_SLT */
        bool na = ev_bit(a, bits - 1), nb = ev_bit(b, bits - 1);
        return ev_from(na != nb ? na : ev_cmp(a, b) < 0);
    }
    }
}

static void ev_fault(eval *e, const kir_value *v, int code) {
    e->fault = code;
    e->fault_inst = v->inst;
    e->exited = true;
}

/* Address of an access, or NULL after a fault. All spaces are buffer 1 here. */
static uint8_t *ev_address(eval *e, const kir_value *v, eval_value *const *x, uint8_t *operand) {
    uint8_t i = 0;
    bool split = v->u.mem.split, handle = v->u.mem.space == KIR_BUFFER ||
                                          v->u.mem.space == KIR_POOL || v->u.mem.space == KIR_FLAT;
    uint64_t h = 1, index = 0, size = v->u.mem.bytes_wide ? v->u.mem.bytes_wide : v->u.mem.bytes;
    if (handle) {
        h = split ? x[0]->limb[0] | (uint64_t)x[1]->limb[0] << 32 : ev_u64(x[0]);
        i = split ? 2 : 1;
    }
    if (v->u.mem.has_index) {
        index = split ? x[i]->limb[0] | (uint64_t)x[i + 1]->limb[0] << 32 : ev_u64(x[i]);
        i = (uint8_t)(i + (split ? 2 : 1));
    }
    *operand = i;
    __extension__ __int128 at = (__int128)index + v->u.mem.disp;
    if (h != 1) {
        ev_fault(e, v, KIR_FAULT_HANDLE);
        return NULL;
    }
    if (at < 0 || at + size > e->memory_size) {
        e->fault_offset = (uint64_t)at;
        ev_fault(e, v, KIR_FAULT_BOUNDS);
        return NULL;
    }
    return e->memory + (uint64_t)at;
}

static eval_value ev_memory(eval *e, const kir_value *v, eval_value *const *x) {
    uint8_t i;
    uint8_t *p = ev_address(e, v, x, &i);
    eval_value r = {{0}};
    if (!p || v->op == KIR_CHECK) return r;
    uint64_t size = v->u.mem.bytes_wide ? v->u.mem.bytes_wide : v->u.mem.bytes;
    if (v->op == KIR_LOAD) {
        memcpy(&r, p, size);
        return r;
    }
    if (v->op == KIR_STORE) {
        memcpy(p, x[i], size);
        return r;
    }
    bool split = v->u.mem.split && size == 8;
    uint64_t old = 0, a, b = 0;
    memcpy(&old, p, size);
    if ((uint64_t)(p - e->memory) % size) {
        ev_fault(e, v, KIR_FAULT_ALIGN);
        return r;
    }
    a = split ? x[i]->limb[0] | (uint64_t)x[i + 1]->limb[0] << 32 : ev_u64(x[i]);
    if (v->u.mem.atomic == KIR_ATOMIC_CAS)
        b = split ? x[i + 2]->limb[0] | (uint64_t)x[i + 3]->limb[0] << 32 : ev_u64(x[i + 1]);
    int64_t so = size == 8 ? (int64_t)old : (int32_t)old, sa = size == 8 ? (int64_t)a : (int32_t)a;
    uint64_t now = old;
    switch ((kir_atomic)v->u.mem.atomic) {
    case KIR_ATOMIC_ADD: now = old + a; break;
    case KIR_ATOMIC_UMIN: now = a < old ? a : old; break;
    case KIR_ATOMIC_SMIN: now = sa < so ? a : old; break;
    case KIR_ATOMIC_UMAX: now = a > old ? a : old; break;
    case KIR_ATOMIC_SMAX: now = sa > so ? a : old; break;
    case KIR_ATOMIC_AND: now = old & a; break;
    case KIR_ATOMIC_OR: now = old | a; break;
    case KIR_ATOMIC_XOR: now = old ^ a; break;
    case KIR_ATOMIC_EXCH: now = a; break;
    case KIR_ATOMIC_CAS: now = old == a ? b : old; break;
    }
    memcpy(p, &now, size);
    if (!split) return ev_from(old);
    e->vars[v->u.mem.high->id][0] = ev_from(old >> 32);
    return ev_from((uint32_t)old);
}

static eval_value ev_constant(const kir_value *v) {
    eval_value r = ev_from(v->u.imm);
    if (kir_type_bytes(v->type) > 8) memcpy(&r, v->u.bytes, kir_type_bytes(v->type));
    return r;
}

static eval_value ev_input(const eval *e, const kir_value *v) {
    uint64_t size = kir_type_bytes(v->type);
    eval_value r = {{0}};
    memcpy(&r, (const uint8_t *)&e->inputs[(uint32_t)v->u.imm] + (v->u.imm >> 32) * size, size);
    return r;
}

static eval_value ev_element(eval *e, const kir_value *v, const eval_value *index,
                             const eval_value *value) {
    eval_value *array = e->vars[v->u.var->id];
    if (index->limb[0] >= v->u.var->length) {
        fprintf(stderr, "private array index %u of %u\n", (unsigned)index->limb[0],
                (unsigned)v->u.var->length);
        abort();
    }
    if (value) array[index->limb[0]] = *value;
    return array[index->limb[0]];
}

static eval_flow eval_region(eval *e, const kir_region *region, eval_frame *frame);

static eval_value eval_derived(const kir_value *v, const eval_value *params);

static eval_flow eval_op(eval *e, const kir_value *v, eval_frame *frame) {
    eval_value *x[32], *out = &frame->values[v->id];
    if (e->max_steps && ++e->steps > e->max_steps) {
        e->exited = true;
        e->fault = 99;
        return FLOW_STOP;
    }
    for (uint8_t i = 0; i < v->nargs && i < 32; i++) x[i] = &frame->values[v->args[i]->id];
    const kir_op_info *row = kir_op_get((kir_op)v->op);
    if (row->class == KIR_CLASS_INT) {
        *out = ev_integer(v, x);
        return FLOW_NEXT;
    }
    if (row->class == KIR_CLASS_CONVERT) {
        *out = ev_convert(e, v, x[0]);
        return FLOW_NEXT;
    }
    if (row->class == KIR_CLASS_FLOAT && row->result == KIR_RESULT_SAME) {
        *out = ev_float(e, v, x);
        return FLOW_NEXT;
    }
    switch ((kir_op)v->op) {
    case KIR_FCMP_EQ:
        *out = ev_from(ev_real(e, v->args[0], x[0]) == ev_real(e, v->args[1], x[1]));
        break;
    case KIR_FCMP_LT:
        *out = ev_from(ev_real(e, v->args[0], x[0]) < ev_real(e, v->args[1], x[1]));
        break;
    case KIR_FCMP_LE:
        *out = ev_from(ev_real(e, v->args[0], x[0]) <= ev_real(e, v->args[1], x[1]));
        break;
    case KIR_SELECT: *out = x[0]->limb[0] ? *x[1] : *x[2]; break;
    case KIR_CONST: *out = ev_constant(v); break;
    case KIR_INPUT: *out = e->device ? e->device->leaf(e, v) : ev_input(e, v); break;
    case KIR_PARAM: *out = frame->params[v->u.imm]; break;
    case KIR_ID: *out = e->device ? e->device->leaf(e, v) : ev_from(0); break;
    case KIR_BARRIER:
        if (e->device) e->device->barrier(e, v);
        break;
    case KIR_VAR_GET: *out = e->vars[v->u.var->id][0]; break;
    case KIR_VAR_SET: e->vars[v->u.var->id][0] = *x[0]; break;
    case KIR_ARRAY_GET: *out = ev_element(e, v, x[0], NULL); break;
    case KIR_ARRAY_SET: ev_element(e, v, x[0], x[1]); break;
    case KIR_TABLE_GET: {
        uint64_t size = kir_type_bytes(v->type);
        if (x[0]->limb[0] >= v->u.table->length) {
            fprintf(stderr, "table index %u of %u\n", (unsigned)x[0]->limb[0],
                    (unsigned)v->u.table->length);
            abort();
        }
        *out = ev_from(0);
        memcpy(out, (const uint8_t *)v->u.table->data + x[0]->limb[0] * size, size);
        break;
    }
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: {
        eval_value r = e->device ? e->device->access(e, v, x) : ev_memory(e, v, x);
        if (v->type != KIR_VOID) *out = r;
        break;
    }
    case KIR_IF: return eval_region(e, v->body[x[0]->limb[0] ? 0 : 1], frame);
    case KIR_LOOP:
        for (;;) {
            eval_flow flow = eval_region(e, v->body[0], frame);
            if (flow == FLOW_BREAK) return FLOW_NEXT;
            if (flow == FLOW_RETURN || flow == FLOW_STOP) return flow;
        }
    case KIR_BREAK: return FLOW_BREAK;
    case KIR_CONTINUE: return FLOW_CONTINUE;
    case KIR_EXIT: e->exited = true; return FLOW_STOP;
    case KIR_RETURN:
        if (v->nargs) frame->result = *x[0];
        return FLOW_RETURN;
    case KIR_CALL: {
        eval_value params[16];
        for (uint8_t i = 0; i < v->nargs; i++) params[i] = *x[i];
        eval_value r = eval_function(e, v->u.call.function, params, v->u.call.arrays);
        if (v->type != KIR_VOID) *out = r;
        break;
    }
    case KIR_FAULT_IF:
        if (x[0]->limb[0]) ev_fault(e, v, v->u.fault.code);
        break;
    case KIR_DERIVED: {
        eval_value params[3];
        for (uint8_t i = 0; i < v->nargs; i++) params[i] = *x[i];
        *out = eval_derived(v, params);
        break;
    }
    default: break; /* fences, barriers: one lane */
    }
    return e->exited ? FLOW_STOP : FLOW_NEXT;
}

static eval_flow eval_region(eval *e, const kir_region *region, eval_frame *frame) {
    for (const kir_value *v = region->first; v; v = v->next) {
        eval_flow flow = eval_op(e, v, frame);
        if (flow != FLOW_NEXT) return flow;
    }
    return FLOW_NEXT;
}

/* A function's scalar variables hold rubbish at every call, so that reading one before setting it
 * shows. */
static void ev_fresh_var(eval *e, const kir_var *v) {
    uint32_t n = v->length ? v->length : 1;
    free(e->vars[v->id]);
    e->vars[v->id] = calloc(n, sizeof(eval_value));
    if (v->length) return;
    memset(e->vars[v->id], 0xA5, sizeof(eval_value));
    ev_cut(e->vars[v->id], kir_type_bits(v->type));
}

eval_value eval_function(eval *e, const kir_function *f, const eval_value *params,
                         kir_var *const *arrays) {
    eval_frame frame = {0};
    frame.values = calloc(f->value_count + 1u, sizeof *frame.values);
    for (uint8_t i = 0; i < f->param_count; i++) frame.params[i] = params[i];
    for (kir_var *v = e->module->vars; v; v = v->next)
        if (v->function == f && !v->by_reference) { ev_fresh_var(e, v); }
    eval_value *lent[8];
    for (uint8_t i = 0; i < f->array_count; i++) lent[i] = e->vars[arrays[i]->id];
    for (uint8_t i = 0; i < f->array_count; i++) e->vars[f->array_params[i]->id] = lent[i];
    eval_region(e, f->body, &frame);
    free(frame.values);
    return frame.result;
}

void eval_begin(eval *e, const kir_module *m) {
    memset(e, 0, sizeof *e);
    e->module = m;
    e->vars = calloc(m->var_count + 1u, sizeof *e->vars);
    for (kir_function *f = m->functions; f; f = f->next) kir_number(f);
    for (kir_var *v = m->vars; v; v = v->next)
        if (!v->function) e->vars[v->id] = calloc(v->length ? v->length : 1, sizeof(eval_value));
}

void eval_end(eval *e) {
    for (kir_var *v = e->module->vars; v; v = v->next)
        if (!v->by_reference) free(e->vars[v->id]);
    free(e->vars);
}

/* A derived operation by its definition, in a module of its own. */
static eval_value eval_derived(const kir_value *v, const eval_value *params) {
    kir_module *m = kir_module_create("derived");
    kir_function *f = kir_definition_function(m, v->u.derived.fn, (hg_type)v->u.derived.atlas_type,
                                              NULL);
    eval e;
    eval_begin(&e, m);
    eval_value r = eval_function(&e, f, params, NULL);
    eval_end(&e);
    kir_module_destroy(m);
    return r;
}
