/* Loads, stores, atomics, pool accesses and whole-array steps as kernel IR.
 * Must not know: control flow, provenance. */
#include "kir/build/build_internal.h"
#include "kir/builder.h"

/* Where an operand points: the fields of mem and the arguments before a value. */
typedef struct place {
    uint8_t space, class_id;
    bool has_index;
    int64_t disp;
    kir_value *args[2];
    uint8_t count;
} place;

static void add_arg(place *p, kir_value *v) { p->args[p->count++] = v; }

/* Byte of a class that a phi coordinate names; far outside stays outside. */
static int64_t phi_offset(const hg_operand *o) {
    int64_t byte = (int64_t)o->phi[0] * HG_MAX_PAGE_BYTES + o->phi[1];
    return o->disp > INT64_MAX - byte ? INT64_MAX : o->disp + byte;
}

static place place_of(build *x, const hg_operand *o, uint32_t operand) {
    kir_builder *b = &x->b;
    place p = {.disp = o->disp, .has_index = o->has_index != 0};
    switch ((hg_place_kind)o->place) {
    case HG_PLACE_BUF: add_arg(&p, kir_const(b, HG_TYPE_U64, o->value)); break;
    case HG_PLACE_POOL:
        p.space = KIR_POOL;
        add_arg(&p, kir_const(b, HG_TYPE_U64, o->value));
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
        add_arg(&p, build_wide(x, o->reg, operand));
        break;
    case HG_PLACE_POOL_REG:
        p.space = KIR_POOL;
        add_arg(&p, build_get(x, o->reg, HG_TYPE_U64));
        break;
    case HG_PLACE_BUF_REG: add_arg(&p, build_get(x, o->reg, HG_TYPE_U64)); break;
    case HG_PLACE_BARE:
        p.disp = 0;
        p.has_index = false;
        add_arg(&p, build_get(x, o->reg, HG_TYPE_U64));
        break;
    }
    if (p.has_index) add_arg(&p, build_wide(x, o->index, operand));
    return p;
}

static kir_value *count_of(build *x, const hg_operand *o, uint32_t operand) {
    return o->is_reg ? build_wide(x, o->reg, operand) : kir_const(&x->b, HG_TYPE_U64, o->value);
}

static kir_value *access(build *x, kir_op op, hg_type type, place p, uint8_t operand, kir_value *const *values, uint8_t count) {
    kir_value *args[4];
    for (uint8_t i = 0; i < p.count; i++) args[i] = p.args[i];
    for (uint8_t i = 0; i < count; i++) args[p.count + i] = values[i];
    uint64_t size = hg_type_size_bytes(type);
    kir_value *v = kir_emit(&x->b, op, op == KIR_STORE ? (uint8_t)KIR_VOID : kir_type_of(type), (uint8_t)(p.count + count), args);
    v->u.mem.space = p.space;
    v->u.mem.class_id = p.class_id;
    v->u.mem.has_index = p.has_index;
    v->u.mem.disp = p.disp;
    v->u.mem.bytes = (uint8_t)(size <= 8 ? size : 0);
    v->u.mem.bytes_wide = (uint16_t)size;
    v->u.mem.operand = operand;
    v->u.mem.slot = KIR_OPEN;
    return v;
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
    place p = place_of(x, &o[1], in->operands + 1);
    kir_value *values[2];
    for (uint8_t i = 0; i < count; i++) values[i] = build_get(x, o[2 + i].reg, type);
    kir_value *v = access(x, KIR_ATOMIC, (hg_type)in->type, p, 2, values, count);
    v->u.mem.atomic = (uint8_t)atomic_of((hg_op)in->op, (hg_type)in->type);
    build_set(x, o[0].reg, v);
}

/* pool.load d, pool, offset and pool.store pool, offset, s. */
static place pool_place(build *x, const hg_inst *in, const hg_operand *o, uint32_t at, bool constant) {
    place p = {.space = KIR_POOL};
    add_arg(&p, constant ? kir_const(&x->b, HG_TYPE_U64, o[at].value) : build_get(x, o[at].reg, HG_TYPE_U64));
    const hg_operand *offset = &o[at + 1];
    if (!offset->is_reg && offset->value <= INT64_MAX) {
        p.disp = (int64_t)offset->value;
    } else {
        p.has_index = true;
        add_arg(&p, count_of(x, offset, in->operands + at + 1));
    }
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
        place p = place_of(x, &o[0], in->operands);
        access(x, KIR_STORE, type, p, 1, (kir_value *[]){build_get(x, o[1].reg, kir_type_of(type))}, 1);
        break;
    }
    case HG_OP_POOL_LOAD:
    case HG_OP_POOL_LOAD_CONST:
        build_set(x, o[0].reg, access(x, KIR_LOAD, type, pool_place(x, in, o, 1, in->op == HG_OP_POOL_LOAD_CONST), 2, NULL, 0));
        break;
    case HG_OP_POOL_STORE:
    case HG_OP_POOL_STORE_CONST: {
        place p = pool_place(x, in, o, 0, in->op == HG_OP_POOL_STORE_CONST);
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
    place p = place_of(x, &o[i], in->operands + i);
    *array = (kir_step_array){.space = p.space,
                              .has_index = p.has_index,
                              .class_id = p.class_id,
                              .operand = (uint8_t)(i + 1),
                              .first_arg = a->count,
                              .disp = p.disp,
                              .access = access_bits};
    for (uint8_t k = 0; k < p.count; k++) a->args[a->count++] = p.args[k];
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
