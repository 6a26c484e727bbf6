/* Atlas instructions as kernel IR: classes, the graph, coordinates, orbits, inverses. Arithmetic on
 * small integers where that is a handful of operations, else a table. Constant operands give
 * constants. A lane that has stopped may still compute here: every table index is in range for it
 * too.
 * Must not know: control flow, devices. */
#include "atlas/atlas.h"
#include "kir/build/build_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <stdio.h>
#include <string.h>

static const char CLASS_TEXT[] = "invalid class index: {} (must be < 96)";

/* ---- operands ---- */

static const hg_operand *operand_of(const build *x, uint32_t inst, uint32_t operand) {
    return &hg_inst_operands(x->program, inst)[operand];
}

static bool is_number(const build *x, uint32_t inst, uint32_t operand, uint64_t *value) {
    *value = operand_of(x, inst, operand)->value;
    return !operand_of(x, inst, operand)->is_reg;
}

/* The class in register operand 0 … of a row, u8; 0 where the operand is not a class. */
static kir_value *class_of(build *x, uint32_t inst, uint32_t operand) {
    kir_value *v = build_get(x, operand_of(x, inst, operand)->reg, HG_TYPE_U8),
              *good = build_is_below(x, v, HG_CLASS_COUNT);
    if (!good) return v;
    build_fault(x, kir_not(&x->b, good), KIR_FAULT_ALIGN, operand, CLASS_TEXT, 1, &v);
    return kir_select(&x->b, good, v, kir_const(&x->b, HG_TYPE_U8, 0));
}

static void set(build *x, uint32_t inst, uint8_t type, kir_value *v) {
    build_set(x, operand_of(x, inst, 0)->reg, build_resize(&x->b, type, v));
}

/* ---- classes ---- */

static kir_value *class_of_byte(build *x, kir_value *byte) {
    return kir_derived(&x->b, HG_OP_CLS_GET, HG_TYPE_U8, 1, &byte);
}

static void cls_get(build *x, uint32_t inst) {
    uint8_t type = kir_type_of((hg_type)x->types[x->program->insts[inst].operands + 1]);
    kir_value *v = build_get(x, operand_of(x, inst, 1)->reg, type);
    if (kir_type_is_float(type))
        v = kir_convert(&x->b, KIR_BITCAST, type == HG_TYPE_F32 ? HG_TYPE_U32 : HG_TYPE_U64, v);
    set(x, inst, HG_TYPE_U8, class_of_byte(x, build_resize(&x->b, HG_TYPE_U8, v)));
}

/* n / 3 of n < 2^31: 0x55555556 is (2^32 + 2) / 3. */
static kir_value *third(build *x, kir_value *n) { return by(&x->b, KIR_MULHI_U, n, 0x55555556); }

static kir_value *modulo_96(build *x, kir_value *n) {
    return kir_binary(&x->b, KIR_SUB, n,
                      by(&x->b, KIR_MUL, third(x, shift_by(&x->b, KIR_LSHR, n, 5)), 96));
}

static void lane_class(build *x, uint32_t inst) {
    kir_value *block = kir_emit(&x->b, KIR_ID, HG_TYPE_U32, 0, NULL);
    block->u.imm = HG_ID_BLOCK_IDX_X;
    set(x, inst, HG_TYPE_U8, modulo_96(x, block));
}

static void mirror(build *x, uint32_t inst) {
    kir_value *c = build_get(x, operand_of(x, inst, 1)->reg, HG_TYPE_U8); /* no index: what a
                                                                             stopped lane makes of
                                                                             it is harmless */
    if (c->op != KIR_CONST || c->u.imm >= HG_CLASS_COUNT)
        build_fault(
            x, kir_binary(&x->b, KIR_CMP_ULT, kir_const(&x->b, HG_TYPE_U8, HG_CLASS_COUNT - 1), c),
            KIR_FAULT_ALIGN, 1, CLASS_TEXT, 1, &c);
    set(x, inst, HG_TYPE_U8, kir_derived(&x->b, HG_OP_MIRROR, HG_TYPE_U8, 1, &c));
}

static void unity(build *x, uint32_t inst) {
    kir_value *c = class_of(x, inst, 1);
    build_set_pred(
        x, operand_of(x, inst, 0)->reg,
        kir_binary(&x->b, KIR_OR, by(&x->b, KIR_CMP_EQ, c, 0), by(&x->b, KIR_CMP_EQ, c, 48)));
}

/* ---- the graph ---- */

/* The k-th neighbour of a class in rising order, both u32; any value where there is no such
 * neighbour. With h, d, l the scope, modality and context the differences are, from the least: -24
 * (h odd), -8 d (d not 0), the three l with one bit flipped, 8 and 16 (d = 0), 24 (h even). No
 * table: a device's compiler took 40 s for one of 768 bytes. */
static kir_value *nth_neighbour(build *x, kir_value *c, kir_value *k) {
    kir_builder *b = &x->b;
    static const uint32_t FLIPPED[3] = {0x32101001, 0x54452332, 0x67767654}; /* by k, 4 bits an l */
    kir_value *eighth = shift_by(&x->b, KIR_LSHR, c, 3),
              *scope = shift_by(&x->b, KIR_LSHR, by(&x->b, KIR_MUL, eighth, 11), 5); /* n / 3 of n <
                                                                                        12 */
    kir_value *modality = kir_binary(&x->b, KIR_SUB, eighth, by(&x->b, KIR_MUL, scope, 3)),
              *context = by(&x->b, KIR_AND, c, 7);
    kir_value *odd = by(&x->b, KIR_AND, scope, 1), *plain = by(&x->b, KIR_CMP_EQ, modality, 0);
    kir_value *i = kir_binary(&x->b, KIR_SUB, k, odd),
              *n = kir_binary(
                  &x->b, KIR_SUB, i,
                  kir_select(b, plain, kir_const(b, HG_TYPE_U32, 0), kir_const(b, HG_TYPE_U32, 1)));
    kir_value *flips = kir_const(b, HG_TYPE_U32, FLIPPED[2]);
    for (int f = 1; f >= 0; f--)
        flips = kir_select(b, by(&x->b, KIR_CMP_EQ, n, (uint64_t)f),
                           kir_const(b, HG_TYPE_U32, FLIPPED[f]), flips);
    flips = by(&x->b, KIR_AND,
               kir_binary(&x->b, KIR_LSHR, flips, shift_by(&x->b, KIR_SHL, context, 2)), 7);
    kir_value *flipped = kir_binary(&x->b, KIR_ADD, kir_binary(&x->b, KIR_SUB, c, context), flips);
    kir_value *step = kir_select(b, kir_binary(&x->b, KIR_AND, plain, by(&x->b, KIR_CMP_ULT, n, 5)),
                                 shift_by(&x->b, KIR_SHL, by(&x->b, KIR_SUB, n, 2), 3),
                                 kir_const(b, HG_TYPE_U32, 24));
    kir_value *found = kir_select(b, by(&x->b, KIR_CMP_ULT, n, 3), flipped,
                                  kir_binary(&x->b, KIR_ADD, c, step));
    kir_value *back = kir_binary(&x->b, KIR_AND, kir_not(b, plain), by(&x->b, KIR_CMP_EQ, i, 0)),
              *first = kir_binary(&x->b, KIR_AND, by(&x->b, KIR_CMP_EQ, odd, 1),
                                  by(&x->b, KIR_CMP_EQ, k, 0));
    found = kir_select(b, back,
                       kir_binary(&x->b, KIR_SUB, c, shift_by(&x->b, KIR_SHL, modality, 3)), found);
    return kir_select(b, first, by(&x->b, KIR_SUB, c, 24), found);
}

/* 6 neighbours where the modality is 0: the bits of 0x249 at 0, 3, 6, 9, the eighths of class 0 …
 * 95 with it. c: u32. */
static kir_value *degree_of(build *x, kir_value *c) {
    kir_value *six = by(&x->b, KIR_AND,
                        kir_binary(&x->b, KIR_LSHR, kir_const(&x->b, HG_TYPE_U32, 0x249),
                                   shift_by(&x->b, KIR_LSHR, c, 3)),
                        1);
    return by(&x->b, KIR_ADD, six, 5);
}

static void count_neighbours(build *x, uint32_t inst) {
    set(x, inst, HG_TYPE_U32, degree_of(x, build_resize(&x->b, HG_TYPE_U32, class_of(x, inst, 1))));
}

static void get_neighbour(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    kir_value *c = build_resize(b, HG_TYPE_U32, class_of(x, inst, 1)),
              *index = build_number(x, inst, 2);
    kir_value *some = build_is_below(x, index, HG_CLASS_NEIGHBOURS);
    if (some) index = kir_select(b, some, index, kir_const(b, index->type, HG_CLASS_NEIGHBOURS));
    index = build_resize(b, HG_TYPE_U32, index);
    kir_value *good = kir_binary(&x->b, KIR_CMP_ULT, index, degree_of(x, c));
    set(x, inst, HG_TYPE_U8,
        kir_select(b, good, nth_neighbour(x, c, index), kir_const(b, HG_TYPE_U32, 0)));
}

/* nbr.load and nbr.store: the lane's element in the memory of one neighbour, through the handle of
 * that class. */
static kir_value *neighbour_access(build *x, uint32_t inst, kir_op o, uint32_t operand,
                                   kir_value *stored) {
    hg_type type = (hg_type)x->program->insts[inst].type;
    int offset = (int)(int64_t)operand_of(x, inst, 2)->value, of_5 = (offset % 5 + 5) % 5,
        of_6 = (offset % 6 + 6) % 6;
    kir_value *c = build_resize(&x->b, HG_TYPE_U32, class_of(x, inst, operand)),
              *five = by(&x->b, KIR_CMP_EQ, degree_of(x, c), 5);
    kir_value *k = kir_select(&x->b, five, kir_const(&x->b, HG_TYPE_U32, (uint64_t)of_5),
                              kir_const(&x->b, HG_TYPE_U32, (uint64_t)of_6));
    kir_value *to = nth_neighbour(x, c, k);
    kir_value *lane = kir_emit(&x->b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    kir_place at = {.space = KIR_BUFFER, .operand = (uint8_t)(operand + 1)};
    at.handle = by(&x->b, KIR_ADD, build_resize(&x->b, HG_TYPE_U64, to),
                   0 - (uint64_t)HG_CLASS_COUNT);
    at.index = by(&x->b, KIR_MUL, lane, hg_type_size_bytes(type));
    return kir_access_make(&x->b, o, kir_type_of(type), &at, stored != NULL, &stored);
}

static void load_neighbour(build *x, uint32_t inst) {
    build_set(x, operand_of(x, inst, 0)->reg, neighbour_access(x, inst, KIR_LOAD, 1, NULL));
}

static void store_neighbour(build *x, uint32_t inst) {
    kir_value *v = build_get(x, operand_of(x, inst, 1)->reg,
                             kir_type_of((hg_type)x->program->insts[inst].type));
    (void)neighbour_access(x, inst, KIR_STORE, 0, v);
}

/* ---- coordinates ---- */

static const char *coordinates_text(build *x, uint64_t pages, uint64_t bytes) {
    char text[160];
    (void)snprintf(
        text, sizeof text,
        "invalid boundary coordinates: page={} (must be < %llu), byte={} (must be < %llu)",
        (unsigned long long)pages, (unsigned long long)bytes);
    const char *kept = hg_arena_text(&x->module->arena, text, strlen(text));
    if (!kept) x->b.failed = true;
    return kept;
}

/* Faults unless page and byte are inside. NULL: always inside. */
static void check_coordinates(build *x, kir_value *page, kir_value *byte, uint64_t pages,
                              uint64_t bytes, uint32_t page_operand, uint32_t byte_operand) {
    kir_value *first = build_is_below(x, page, pages), *second = build_is_below(x, byte, bytes);
    kir_value *values[] = {page, byte};
    const char *text = first || second ? coordinates_text(x, pages, bytes) : NULL;
    if (first)
        build_fault(x, kir_not(&x->b, first), KIR_FAULT_ALIGN, page_operand, text, 2, values);
    if (second)
        build_fault(x, kir_not(&x->b, second), KIR_FAULT_ALIGN, byte_operand, text, 2, values);
}

static kir_value *place(build *x, uint8_t type, kir_value *cls, kir_value *page, kir_value *byte,
                        uint64_t elements, uint64_t row) {
    kir_builder *b = &x->b;
    kir_value *at = by(&x->b, KIR_MUL, build_resize(b, type, cls), elements);
    at = kir_binary(&x->b, KIR_ADD, at, by(&x->b, KIR_MUL, build_resize(b, type, page), row));
    return kir_binary(&x->b, KIR_ADD, at, build_resize(b, type, byte));
}

static void map_parts(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    hg_torus t = {.page_mod = HG_CLASS_PAGES,
                  .res_mod = HG_CLASS_PAGE_BYTES,
                  .elements = HG_CLASS_PAGES * HG_CLASS_PAGE_BYTES};
    if (in->op == HG_OP_BOUND_MAP_TYPED) t = hg_torus_of((hg_type)in->type);
    kir_value *cls = build_below(x, build_number(x, inst, 1), HG_CLASS_COUNT, 1, CLASS_TEXT),
              *page = build_number(x, inst, 2), *byte = build_number(x, inst, 3);
    check_coordinates(x, page, byte, t.page_mod, t.res_mod, 2, 3);
    uint8_t type = (uint64_t)HG_CLASS_COUNT * t.elements <= UINT32_MAX ? HG_TYPE_U32 : HG_TYPE_U64;
    set(x, inst, HG_TYPE_U64, place(x, type, cls, page, byte, t.elements, t.res_mod));
}

/* The class of a packed integer for messages: 2^64 - 1 stands for what does not fit 64 bits. */
static kir_value *packed_class(build *x, kir_value *packed) {
    kir_builder *b = &x->b;
    if (kir_type_bits(packed->type) < 32) return kir_const(b, HG_TYPE_U32, 0);
    kir_value *cls = shift_by(&x->b, KIR_LSHR, packed, 16);
    if (kir_type_bits(packed->type) <= 64) return cls;
    kir_value *far = by(&x->b, KIR_CMP_EQ, shift_by(&x->b, KIR_LSHR, cls, 64), 0),
              *low = kir_convert(b, KIR_TRUNC, HG_TYPE_U64, cls);
    return kir_select(b, far, low, kir_const(b, HG_TYPE_U64, UINT64_MAX));
}

static void map_packed(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    uint8_t type = kir_type_of((hg_type)x->types[x->program->insts[inst].operands + 1]);
    kir_value *packed = build_get(x, operand_of(x, inst, 1)->reg, type);
    kir_value *cls = build_below(x, packed_class(x, packed), HG_CLASS_COUNT, 1, CLASS_TEXT),
              *low = build_resize(b, HG_TYPE_U32, packed);
    kir_value *page = by(&x->b, KIR_AND, shift_by(&x->b, KIR_LSHR, low, 8), 255),
              *byte = by(&x->b, KIR_AND, low, 255);
    kir_value *values[] = {page, byte}, *good = by(&x->b, KIR_CMP_ULT, page, HG_CLASS_PAGES);
    if (kir_type_bits(type) > 8) {
        const char *text = coordinates_text(x, HG_CLASS_PAGES, HG_CLASS_PAGE_BYTES);
        build_fault(x, kir_not(b, good), KIR_FAULT_ALIGN, 1, text, 2, values);
    }
    set(x, inst, HG_TYPE_U64,
        place(x, HG_TYPE_U32, cls, page, byte, HG_CLASS_PAGES * HG_CLASS_PAGE_BYTES,
              HG_CLASS_PAGE_BYTES));
}

/* ---- orbits ---- */

static kir_value *is_torus(build *x, kir_value *size) {
    kir_value *known = kir_const(&x->b, KIR_BOOL, 0);
    for (int i = 0; i < HG_TORUS_SIZES; i++)
        if (kir_type_bits(size->type) >= 32 || hg_torus_sizes[i] >> kir_type_bits(size->type) == 0)
            known = kir_binary(&x->b, KIR_OR, known,
                               by(&x->b, KIR_CMP_EQ, size, hg_torus_sizes[i]));
    return known;
}

static void check_torus(build *x, uint32_t inst) {
    uint64_t number;
    if (is_number(x, inst, 2, &number)) return; /* verified */
    kir_value *size = build_number(x, inst, 2);
    build_fault(x, kir_not(&x->b, is_torus(x, size)), KIR_FAULT_DOMAIN, 2, "unknown torus size: {}",
                1, &size);
}

/* 8 · (r / 24) + r mod 8 of r = coordinate mod 96. */
static void classify(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    check_torus(x, inst);
    kir_value *coordinate = build_number(x, inst, 1), *size = build_number(x, inst, 2);
    uint8_t wide = kir_type_bits(coordinate->type) > kir_type_bits(size->type) ? coordinate->type
                                                                               : size->type;
    kir_value *inside = kir_binary(&x->b, KIR_CMP_ULT, build_resize(b, wide, coordinate),
                                   build_resize(b, wide, size));
    kir_value *r = modulo_96(x, build_resize(b, HG_TYPE_U32, coordinate));
    kir_value *scope = shift_by(&x->b, KIR_LSHR,
                                by(&x->b, KIR_MUL, shift_by(&x->b, KIR_LSHR, r, 3), 11), 5); /* n /
                                                                                                3 of
                                                                                                n <
                                                                                                12
                                                                                              */
    kir_value *orbit = kir_binary(&x->b, KIR_OR, shift_by(&x->b, KIR_SHL, scope, 3),
                                  by(&x->b, KIR_AND, r, 7));
    set(x, inst, HG_TYPE_U8, kir_select(b, inside, orbit, kir_const(b, HG_TYPE_U32, 0)));
}

static void represent(build *x, uint32_t inst) {
    kir_value *orbit = build_below(x, build_number(x, inst, 1), HG_ORBIT_COUNT, 1,
                                   "invalid orbit index: {} (must be < 32)");
    check_torus(x, inst);
    kir_value *scope = by(&x->b, KIR_MUL, shift_by(&x->b, KIR_LSHR, orbit, 3), 24);
    set(x, inst, HG_TYPE_U32, kir_binary(&x->b, KIR_ADD, scope, by(&x->b, KIR_AND, orbit, 7)));
}

/* ---- inverses ---- */

/* Extended Euclid: unit < modulus, u32; 0: none. At most 47 rounds: quotients of 1 are the slowest.
 * Coefficients stay below modulus / 2 in size while they are needed, so they may wrap. */
static kir_function *inverse_function(build *x) {
    static const uint8_t types[] = {HG_TYPE_U32, HG_TYPE_U32};
    kir_builder b;
    bool fresh;
    kir_function *f = build_helper(x, "mult.inverse", HG_TYPE_U32, 2, types, &b, &fresh);
    if (!fresh) return f;
    f->pure = true;
    kir_var *r[2], *t[2];
    kir_value *modulus = kir_param(&b, 1);
    for (int i = 0; i < 2; i++) {
        r[i] = kir_var_create(x->module, f, HG_TYPE_U32, 0, i ? "r1" : "r0");
        t[i] = kir_var_create(x->module, f, HG_TYPE_U32, 0, i ? "t1" : "t0");
        if (!r[i] || !t[i]) {
            x->b.failed = true;
            return f;
        }
        kir_set(&b, r[i], i ? kir_param(&b, 0) : modulus);
        kir_set(&b, t[i], kir_const(&b, HG_TYPE_U32, (uint64_t)i));
    }
    kir_value *loop = kir_loop_begin(&b, true), *zero = kir_const(&b, HG_TYPE_U32, 0);
    kir_value *divisor = kir_get(&b, r[1]),
              *done = kir_if_begin(&b, kir_binary(&b, KIR_CMP_EQ, divisor, zero));
    kir_break(&b);
    kir_if_end(&b, done);
    kir_value *dividend = kir_get(&b, r[0]),
              *quotient = kir_binary(&b, KIR_UDIV, dividend, divisor);
    kir_value *before = kir_get(&b, t[0]), *now = kir_get(&b, t[1]);
    kir_set(&b, r[0], divisor);
    kir_set(&b, r[1], kir_sub(&b, dividend, kir_mul(&b, quotient, divisor)));
    kir_set(&b, t[0], now);
    kir_set(&b, t[1], kir_sub(&b, before, kir_mul(&b, quotient, now)));
    kir_loop_end(&b, loop);
    zero = kir_const(&b, HG_TYPE_U32, 0);
    kir_value *found = kir_get(&b, t[0]), *negative = kir_binary(&b, KIR_CMP_SLT, found, zero);
    found = kir_select(&b, negative, kir_add(&b, found, modulus), found);
    kir_value *coprime = kir_binary(&b, KIR_CMP_EQ, kir_get(&b, r[0]),
                                    kir_const(&b, HG_TYPE_U32, 1));
    kir_return(&b, kir_select(&b, coprime, found, zero));
    x->b.failed |= b.failed;
    return f;
}

static void invert(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    uint64_t unit_number, modulus_number, found;
    bool one = is_number(x, inst, 1, &unit_number),
         known = is_number(x, inst, 2, &modulus_number) && one;
    if (known && hg_mult_inverse(unit_number, modulus_number, &found) == HG_OK) { /* verified: it
                                                                                     exists */
        set(x, inst, HG_TYPE_U32, kir_const(b, HG_TYPE_U32, found));
        return;
    }
    kir_value *unit = build_number(x, inst, 1), *modulus = build_number(x, inst, 2),
              *values[] = {unit, modulus};
    uint8_t wide = kir_type_bits(unit->type) > 32 || kir_type_bits(modulus->type) > 32
                       ? HG_TYPE_U64
                       : HG_TYPE_U32;
    kir_value *whole = build_resize(b, wide, modulus);
    kir_value *rest = build_resize(
        b, HG_TYPE_U32, kir_binary(b, KIR_UREM, build_resize(b, wide, unit), whole)); /* x mod 0 is
                                                                                         0 here */
    kir_function *f = inverse_function(x);
    kir_value *result = f ? kir_call(b, f, 2,
                                     (kir_value *[]){rest, build_resize(b, HG_TYPE_U32, modulus)},
                                     NULL)
                          : &b->dummy;
    kir_value *none = by(&x->b, KIR_CMP_EQ, result, 0);
    kir_value *small = build_is_below(x, whole, UINT64_C(1) << 32);
    if (small) none = kir_binary(&x->b, KIR_OR, none, kir_not(b, small));
    build_fault(x, none, KIR_FAULT_DOMAIN, 2, "no multiplicative inverse: {} mod {}", 2, values);
    set(x, inst, HG_TYPE_U32, result);
}

void build_atlas(build *x, uint32_t inst) {
    switch ((hg_op)x->program->insts[inst].op) {
    case HG_OP_CLS_GET: cls_get(x, inst); break;
    case HG_OP_CLS_GET_LANE: lane_class(x, inst); break;
    case HG_OP_MIRROR: mirror(x, inst); break;
    case HG_OP_UNITY_TEST: unity(x, inst); break;
    case HG_OP_NBR_LOAD: load_neighbour(x, inst); break;
    case HG_OP_NBR_STORE: store_neighbour(x, inst); break;
    case HG_OP_NBR_COUNT: count_neighbours(x, inst); break;
    case HG_OP_NBR_GET: get_neighbour(x, inst); break;
    case HG_OP_BOUND_MAP: map_packed(x, inst); break;
    case HG_OP_BOUND_MAP_PARTS:
    case HG_OP_BOUND_MAP_TYPED: map_parts(x, inst); break;
    case HG_OP_ORBIT_CLASSIFY: classify(x, inst); break;
    case HG_OP_ORBIT_REPRESENTATIVE: represent(x, inst); break;
    case HG_OP_MULT_INVERSE: invert(x, inst); break;
    default: build_atlas_state(x, inst);
    }
}
