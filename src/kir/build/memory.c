/* Loads, stores, atomics, pool accesses and whole-array steps as kernel IR.
 * Must not know: control flow, provenance. */
#include "kir/build/build_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include "kir/step.h"
#include "kir/sugar.h"

/* Byte of a class that a phi coordinate names; far outside stays outside. */
static int64_t phi_offset(const hg_operand *o) {
    int64_t byte = (int64_t)o->phi[0] * HG_MAX_PAGE_BYTES + o->phi[1];
    return o->disp > INT64_MAX - byte ? INT64_MAX : o->disp + byte;
}

/* Whether a number is a power of two; which. */
static bool is_power_of_two(uint64_t n, uint32_t *power) {
    *power = (uint32_t)hg_ctz64(n);
    return (n & (n - 1)) == 0;
}

/* index * scale, exactly: where that is 2^64 or more the greatest multiple below, which is outside
 * of every memory too. An index of 32 bits cannot get there, and passes find out that many others
 * do not (simplify_fold). */
static kir_value *scaled(build *x, kir_value *index, uint64_t scale, bool may_be_more) {
    kir_builder *b = &x->b;
    uint32_t power;
    if (may_be_more) {
        kir_value *most = kir_const(b, HG_TYPE_U64, UINT64_MAX / scale);
        index = kir_select(b, kir_binary(b, KIR_CMP_ULT, index, most), index, most);
    }
    if (is_power_of_two(scale, &power)) return shift_by(b, KIR_SHL, index, power);
    return by(b, KIR_MUL, index, scale);
}

/* inside: so all that the index can be is. */
static kir_place place_of(build *x, const hg_operand *o, uint32_t operand, bool inside) {
    kir_builder *b = &x->b;
    kir_place p = {.disp = o->disp, .unchecked = x->how.unchecked || inside};
    bool has_index = o->has_index != 0;
    switch ((hg_place_kind)o->place) {
    case HG_PLACE_BUF: p.handle = kir_const(b, HG_TYPE_U64, o->value); break;
    case HG_PLACE_POOL:
        p.space = KIR_POOL;
        p.handle = kir_const(b, HG_TYPE_U64, o->value);
        break;
    case HG_PLACE_SHARED:
        p.space = KIR_SHARED;
        x->module->uses_shared = true;
        break;
    case HG_PLACE_PHI:
    case HG_PLACE_CLASS:
        if (o->place == HG_PLACE_PHI) p.disp = phi_offset(o);
        p.space = KIR_CLASS;
        p.class_id = (uint8_t)o->value;
        x->module->uses_class = true;
        break;
    case HG_PLACE_FLAT:
        p.space = KIR_FLAT;
        p.handle = build_wide(x, o->reg, operand);
        break;
    case HG_PLACE_POOL_REG:
        p.space = KIR_POOL;
        p.handle = build_get(x, o->reg, HG_TYPE_U64);
        break;
    case HG_PLACE_BUF_REG: p.handle = build_get(x, o->reg, HG_TYPE_U64); break;
    case HG_PLACE_PRIVATE: break; /* private.c */
    case HG_PLACE_BARE:
        p.disp = 0;
        has_index = false;
        p.handle = build_get(x, o->reg, HG_TYPE_U64);
        break;
    }
    if (has_index) p.index = build_wide(x, o->index, operand);
    if (has_index && hg_operand_scale(o) > 1)
        p.index = scaled(x, p.index, o->scale, !p.unchecked && x->types[operand] != HG_TYPE_U32);
    return p;
}

static kir_value *count_of(build *x, const hg_operand *o, uint32_t operand) {
    return o->is_reg ? build_wide(x, o->reg, operand) : kir_const(&x->b, HG_TYPE_U64, o->value);
}

static kir_value *access(build *x, kir_op op, hg_type type, kir_place p, uint8_t operand,
                         kir_value *const *values, uint8_t count) {
    p.operand = operand;
    return kir_access_make(&x->b, op, kir_type_of(type), &p, count, values);
}

static kir_atomic atomic_of(hg_op op, hg_type type) {
    bool is_signed = hg_type_is_signed(type);
    switch (op) {
    case HG_OP_ATOM_ADD: return KIR_ATOMIC_ADD;
    case HG_OP_ATOM_MIN: return is_signed ? KIR_ATOMIC_SMIN : KIR_ATOMIC_UMIN;
    case HG_OP_ATOM_MAX: return is_signed ? KIR_ATOMIC_SMAX : KIR_ATOMIC_UMAX;
    case HG_OP_ATOM_AND: return KIR_ATOMIC_AND;
    case HG_OP_ATOM_OR: return KIR_ATOMIC_OR;
    case HG_OP_ATOM_XOR: return KIR_ATOMIC_XOR;
    case HG_OP_ATOM_EXCH: return KIR_ATOMIC_EXCH;
    default: return KIR_ATOMIC_CAS;
    }
}

static void atomic(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t type = kir_type_of((hg_type)in->type), count = in->op == HG_OP_ATOM_CAS ? 2 : 1;
    kir_place p = place_of(x, &o[1], in->operands + 1,
                           build_is_inside(x, &o[1], (hg_type)in->type));
    kir_value *values[2];
    for (uint8_t i = 0; i < count; i++) values[i] = build_get(x, o[2 + i].reg, type);
    kir_value *v = access(x, KIR_ATOMIC, (hg_type)in->type, p, 2, values, count);
    v->u.mem.atomic = (uint8_t)atomic_of((hg_op)in->op, (hg_type)in->type);
    build_set(x, o[0].reg, v);
}

/* pool.load d, pool, offset and pool.store pool, offset, s. */
static kir_place pool_place(build *x, const hg_inst *in, const hg_operand *o, uint32_t at,
                            bool constant) {
    kir_place p = {.space = KIR_POOL};
    p.handle = constant ? kir_const(&x->b, HG_TYPE_U64, o[at].value)
                        : build_get(x, o[at].reg, HG_TYPE_U64);
    const hg_operand *offset = &o[at + 1];
    if (!offset->is_reg && offset->value <= INT64_MAX)
        p.disp = (int64_t)offset->value;
    else
        p.index = count_of(x, offset, in->operands + at + 1);
    return p;
}

kir_value *build_loaded(build *x, const hg_inst *in, kir_value *v) {
    if (in->type2 == HG_TYPE_NOT_USED) return v;
    return kir_cvt(&x->b, (hg_type)in->type, (hg_type)in->type2, v);
}

kir_value *build_stored(build *x, const hg_inst *in, uint8_t reg) {
    bool converted = in->type2 != HG_TYPE_NOT_USED;
    kir_value *v = build_get(x, reg, kir_type_of((hg_type)(converted ? in->type2 : in->type)));
    return converted ? kir_cvt(&x->b, (hg_type)in->type, (hg_type)in->type2, v) : v;
}

void build_memory(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    hg_type type = (hg_type)in->type;
    switch (hg_op_access((hg_op)in->op)) {
    case HG_OP_LDG:
    case HG_OP_LDS: {
        type = hg_element_type(in->type, in->type2, &hg_op_get((hg_op)in->op)->operands[1]);
        kir_place p = place_of(x, &o[1], in->operands + 1, build_is_inside(x, &o[1], type));
        build_set(x, o[0].reg, build_loaded(x, in, access(x, KIR_LOAD, type, p, 2, NULL, 0)));
        break;
    }
    case HG_OP_STG:
    case HG_OP_STS: {
        kir_place p = place_of(x, &o[0], in->operands, build_is_inside(x, &o[0], type));
        access(x, KIR_STORE, type, p, 1, (kir_value *[]){build_stored(x, in, o[1].reg)}, 1);
        break;
    }
    case HG_OP_POOL_LOAD:
    case HG_OP_POOL_LOAD_CONST:
        build_set(x, o[0].reg,
                  access(x, KIR_LOAD, type,
                         pool_place(x, in, o, 1, in->op == HG_OP_POOL_LOAD_CONST), 2, NULL, 0));
        break;
    case HG_OP_POOL_STORE:
    case HG_OP_POOL_STORE_CONST: {
        kir_place p = pool_place(x, in, o, 0, in->op == HG_OP_POOL_STORE_CONST);
        access(x, KIR_STORE, type, p, 1, (kir_value *[]){build_get(x, o[2].reg, kir_type_of(type))},
               1);
        break;
    }
    default: atomic(x, in, o);
    }
}

/* ---- whole-array steps ---- */

/* A step on its way. */
typedef struct step_writer {
    build *x;
    const hg_inst *in;
    const hg_operand *operands;
    const hg_op_info *row;
    kir_step *step;
    kir_value *args[UINT8_MAX]; /* an operation counts its arguments in a byte */
    uint8_t count;
} step_writer;

static void add_arg(step_writer *w, kir_step_operand *to, kir_value *v) {
    if (w->count == UINT8_MAX) {
        w->x->crowded = true;
        return;
    }
    w->args[w->count++] = v;
    to->arg_count++;
}

static void add_array(step_writer *w, kir_step_operand *to, uint32_t i) {
    kir_place p = place_of(w->x, &w->operands[i], w->in->operands + i, false);
    to->space = p.space;
    to->has_index = p.index != NULL;
    to->class_id = p.class_id;
    to->disp = p.disp;
    to->access = w->row->operands[i].access & (HG_READ | HG_WRITE);
    if (p.handle) add_arg(w, to, p.handle);
    if (p.index) add_arg(w, to, p.index);
}

static kir_value *scalar_of(step_writer *w, uint32_t i) {
    const hg_operand *o = &w->operands[i];
    const hg_operand_info *info = &w->row->operands[i];
    if (info->kind == HG_K_REG)
        return build_get(w->x, o->reg,
                         info->rule == HG_R_U64 ? (uint8_t)HG_TYPE_U64
                                                : kir_type_of((hg_type)w->in->type));
    return kir_const_bytes(&w->x->b, kir_type_of(hg_literal_type(w->in, info)),
                           hg_literal(w->x->program, o));
}

static kir_value *item_of(step_writer *w, const hg_tuple_item *item) {
    kir_builder *b = &w->x->b;
    if (!item->is_reg) return kir_const(b, HG_TYPE_U64, item->value);
    if (w->x->item_types[item - w->x->program->items] != HG_TYPE_U32)
        return build_get(w->x, item->reg, HG_TYPE_U64);
    return kir_convert(b, KIR_ZEXT, HG_TYPE_U64, build_get(w->x, item->reg, HG_TYPE_U32));
}

static void add_tuple(step_writer *w, kir_step_operand *to, const hg_operand *o) {
    const hg_program *p = w->x->program;
    const hg_tuple_item *items = hg_tuple(p, o);
    for (uint64_t i = 0; i < o->item_count; i++) {
        if (!items[i].is_tuple) {
            add_arg(w, to, item_of(w, &items[i]));
            continue;
        }
        add_arg(w, to, kir_const(&w->x->b, HG_TYPE_U64, items[i].item_count));
        for (uint32_t k = 0; k < items[i].item_count; k++)
            add_arg(w, to, item_of(w, &hg_tuple_inside(p, &items[i])[k]));
    }
}

static void add_operand(step_writer *w, uint32_t i, kir_step_kind kind) {
    const hg_operand *o = &w->operands[i];
    if (hg_operand_is_missing(o)) return;
    kir_step_operand *to = &w->step->operands[w->step->count++];
    *to = (kir_step_operand){
        .kind = (uint8_t)kind, .operand = (uint8_t)(i + 1), .first_arg = w->count};
    switch (kind) {
    case KIR_STEP_ARRAY: add_array(w, to, i); break;
    case KIR_STEP_COUNT: add_arg(w, to, count_of(w->x, o, w->in->operands + i)); break;
    case KIR_STEP_HANDLE:
        add_arg(w, to,
                w->row->operands[i].kind == HG_K_POOL ? kir_const(&w->x->b, HG_TYPE_U64, o->value)
                                                      : build_get(w->x, o->reg, HG_TYPE_U64));
        break;
    case KIR_STEP_TUPLE: add_tuple(w, to, o); break;
    case KIR_STEP_SCALAR: add_arg(w, to, scalar_of(w, i)); break;
    case KIR_STEP_NUMBER:
    case KIR_STEP_NAME: to->value = o->value; break;
    case KIR_STEP_KINDS: break;
    }
}

/* The result's type; KIR_VOID without one. */
static uint8_t result_of(const hg_op_info *row, const hg_inst *in) {
    bool has_result = row->operand_count && row->operands[0].kind == HG_K_REG &&
                      (row->operands[0].access & HG_WRITE);
    if (!has_result) return KIR_VOID;
    return row->operands[0].rule == HG_R_T ? kir_type_of((hg_type)in->type) : (uint8_t)HG_TYPE_U64;
}

void build_step(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    step_writer w = {.x = x, .in = in, .operands = hg_inst_operands(x->program, inst), .row = row};
    w.step = hg_arena_alloc(&x->module->arena,
                            sizeof *w.step + row->operand_count * sizeof *w.step->operands);
    if (!w.step) {
        x->b.failed = true;
        return;
    }
    for (int kind = 0; kind < KIR_STEP_KINDS; kind++)
        for (uint32_t i = 0; i < row->operand_count; i++)
            if (kir_step_kind_of(row, i) == (kir_step_kind)kind)
                add_operand(&w, i, (kir_step_kind)kind);
    uint8_t result = result_of(row, in);
    kir_value *v = kir_emit(&x->b, KIR_STEP, result, w.count, w.args);
    v->u.step.op = in->op;
    v->u.step.atlas_type = in->type;
    v->u.step.info = w.step;
    x->module->has_step = true;
    if (result != KIR_VOID) build_set(x, w.operands[0].reg, v);
}

/* ---- what all lanes of the launch find out: each that says so stores 1, the fold of the one
 * element is the answer, and lane 0 stores 0 again before all meet ---- */

static void store_flag(build *x, kir_place p, kir_value *when, uint64_t number) {
    kir_value *branch = kir_if_begin(&x->b, when);
    access(x, KIR_STORE, HG_TYPE_U32, p, 3, (kir_value *[]){kir_const(&x->b, HG_TYPE_U32, number)},
           1);
    kir_if_end(&x->b, branch);
}

static kir_value *step(build *x, hg_op op, uint8_t result, uint32_t operands,
                       const kir_step_operand *given, uint8_t args, kir_value *const *values) {
    kir_step *info = hg_arena_alloc(&x->module->arena,
                                    sizeof *info + operands * sizeof *info->operands);
    if (!info) {
        x->b.failed = true;
        return &x->b.dummy;
    }
    info->count = (uint8_t)operands;
    for (uint32_t i = 0; i < operands; i++) info->operands[i] = given[i];
    kir_value *v = kir_emit(&x->b, KIR_STEP, result, args, values);
    v->u.step.op = (uint16_t)op;
    v->u.step.atlas_type = operands ? HG_TYPE_U32 : HG_TYPE_NOT_USED;
    v->u.step.info = info;
    x->module->has_step = true;
    return v;
}

void build_grid(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    bool any = in->op == HG_OP_GRID_ANY;
    kir_value *own = build_pred(x, o[1].reg), *args[3];
    kir_place p = place_of(x, &o[2], in->operands + 2, false); /* in front of the branches */
    store_flag(x, p, any ? own : kir_not(b, own), 1);
    kir_step_operand given[2] = {{.kind = KIR_STEP_ARRAY,
                                  .operand = 2,
                                  .space = p.space,
                                  .has_index = p.index != NULL,
                                  .class_id = p.class_id,
                                  .disp = p.disp,
                                  .access = HG_READ},
                                 {.kind = KIR_STEP_COUNT, .operand = 3, .arg_count = 1}};
    uint8_t n = 0;
    if (p.handle) args[n++] = p.handle;
    if (p.index) args[n++] = p.index;
    given[0].arg_count = given[1].first_arg = n;
    args[n++] = kir_const(b, HG_TYPE_U64, 1);
    kir_value *word = step(x, HG_OP_REDUCE_MAX_MEM, HG_TYPE_U32, 2, given, n, args);
    kir_value *lane = kir_emit(b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    store_flag(x, p, is_zero(b, lane), 0);
    (void)step(x, HG_OP_BAR_GRID, KIR_VOID, 0, NULL, 0, NULL);
    kir_value *none = is_zero(b, word);
    build_set_pred(x, o[0].reg, any ? kir_not(b, none) : none);
}
