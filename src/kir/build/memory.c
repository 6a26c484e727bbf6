/* Loads, stores, atomics, pool accesses and whole-array steps as kernel IR.
 * Must not know: control flow, provenance. */
#include "kir/build/build_internal.h"
#include "kir/access.h"
#include "kir/builder.h"

/* Byte of a class that a phi coordinate names; far outside stays outside. */
static int64_t phi_offset(const hg_operand *o) {
    int64_t byte = (int64_t)o->phi[0] * HG_MAX_PAGE_BYTES + o->phi[1];
    return o->disp > INT64_MAX - byte ? INT64_MAX : o->disp + byte;
}

static kir_place place_of(build *x, const hg_operand *o, uint32_t operand) {
    kir_builder *b = &x->b;
    kir_place p = {.disp = o->disp};
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
    case HG_PLACE_BARE:
        p.disp = 0;
        has_index = false;
        p.handle = build_get(x, o->reg, HG_TYPE_U64);
        break;
    }
    if (has_index) p.index = build_wide(x, o->index, operand);
    return p;
}

static kir_value *count_of(build *x, const hg_operand *o, uint32_t operand) {
    return o->is_reg ? build_wide(x, o->reg, operand) : kir_const(&x->b, HG_TYPE_U64, o->value);
}

static kir_value *access(build *x, kir_op op, hg_type type, kir_place p, uint8_t operand, kir_value *const *values, uint8_t count) {
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
    kir_place p = place_of(x, &o[1], in->operands + 1);
    kir_value *values[2];
    for (uint8_t i = 0; i < count; i++) values[i] = build_get(x, o[2 + i].reg, type);
    kir_value *v = access(x, KIR_ATOMIC, (hg_type)in->type, p, 2, values, count);
    v->u.mem.atomic = (uint8_t)atomic_of((hg_op)in->op, (hg_type)in->type);
    build_set(x, o[0].reg, v);
}

/* pool.load d, pool, offset and pool.store pool, offset, s. */
static kir_place pool_place(build *x, const hg_inst *in, const hg_operand *o, uint32_t at, bool constant) {
    kir_place p = {.space = KIR_POOL};
    p.handle = constant ? kir_const(&x->b, HG_TYPE_U64, o[at].value) : build_get(x, o[at].reg, HG_TYPE_U64);
    const hg_operand *offset = &o[at + 1];
    if (!offset->is_reg && offset->value <= INT64_MAX)
        p.disp = (int64_t)offset->value;
    else
        p.index = count_of(x, offset, in->operands + at + 1);
    return p;
}

void build_memory(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    hg_type type = (hg_type)in->type;
    switch ((hg_op)in->op) {
    case HG_OP_LDG:
    case HG_OP_LDS: build_set(x, o[0].reg, access(x, KIR_LOAD, type, place_of(x, &o[1], in->operands + 1), 2, NULL, 0)); break;
    case HG_OP_STG:
    case HG_OP_STS: {
        kir_place p = place_of(x, &o[0], in->operands);
        access(x, KIR_STORE, type, p, 1, (kir_value *[]){build_get(x, o[1].reg, kir_type_of(type))}, 1);
        break;
    }
    case HG_OP_POOL_LOAD:
    case HG_OP_POOL_LOAD_CONST:
        build_set(x, o[0].reg, access(x, KIR_LOAD, type, pool_place(x, in, o, 1, in->op == HG_OP_POOL_LOAD_CONST), 2, NULL, 0));
        break;
    case HG_OP_POOL_STORE:
    case HG_OP_POOL_STORE_CONST: {
        kir_place p = pool_place(x, in, o, 0, in->op == HG_OP_POOL_STORE_CONST);
        access(x, KIR_STORE, type, p, 1, (kir_value *[]){build_get(x, o[2].reg, kir_type_of(type))}, 1);
        break;
    }
    default: atomic(x, in, o);
    }
}

/* ---- whole-array steps ---- */

typedef struct step_args {
    kir_value *args[3 * HG_MAX_OPERANDS];
    uint8_t count;
} step_args;

static void add_array(build *x, kir_step *step, step_args *a, const hg_inst *in, const hg_operand *o, uint32_t i, uint8_t access_bits) {
    kir_step_array *array = &step->arrays[step->array_count++];
    kir_place p = place_of(x, &o[i], in->operands + i);
    *array = (kir_step_array){.space = p.space,
                              .has_index = p.index != NULL,
                              .class_id = p.class_id,
                              .operand = (uint8_t)(i + 1),
                              .first_arg = a->count,
                              .disp = p.disp,
                              .access = access_bits};
    if (p.handle) a->args[a->count++] = p.handle;
    if (p.index) a->args[a->count++] = p.index;
}

void build_step(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    kir_step *step = hg_arena_alloc(&x->module->arena, sizeof *step);
    if (!step) {
        x->b.failed = true;
        return;
    }
    step->count_arg = step->handle_arg = -1;
    step_args a = {.count = 0};
    uint8_t opname = HG_OPNAME_COUNT, result = KIR_VOID;
    kir_value *handle = NULL;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *info = &row->operands[i];
        if (info->kind == HG_K_ADDRESS || info->kind == HG_K_ARRAY)
            add_array(x, step, &a, in, o, i, info->access);
        else if (info->kind == HG_K_OPNAME)
            opname = (uint8_t)o[i].value;
        else if (info->kind == HG_K_POOL)
            handle = kir_const(&x->b, HG_TYPE_U64, o[i].value);
        else if (info->kind == HG_K_REG && (info->access & HG_WRITE))
            result = info->rule == HG_R_T ? kir_type_of((hg_type)in->type) : (uint8_t)HG_TYPE_U64;
        else if (info->kind == HG_K_REG)
            handle = build_get(x, o[i].reg, HG_TYPE_U64);
    }
    for (uint32_t i = 0; i < row->operand_count; i++) {
        if (row->operands[i].kind != HG_K_COUNT) continue;
        step->count_arg = (int8_t)a.count;
        a.args[a.count++] = count_of(x, &o[i], in->operands + i);
    }
    if (handle) {
        step->handle_arg = (int8_t)a.count;
        a.args[a.count++] = handle;
    }
    kir_value *v = kir_emit(&x->b, KIR_STEP, result, a.count, a.args);
    v->u.step.op = in->op;
    v->u.step.opname = opname;
    v->u.step.atlas_type = in->type;
    v->u.step.info = step;
    x->module->has_step = true;
    if (result != KIR_VOID) build_set(x, o[0].reg, v);
}
