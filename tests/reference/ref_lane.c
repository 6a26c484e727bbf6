/* One instruction of one lane. */
#include "ref_internal.h"
#include <string.h>

static uint8_t *slot(const ref_machine *m, const ref_lane *lane, uint8_t reg) {
    return lane->values + (uint64_t)m->slot[reg] * m->slot_bytes;
}

const uint8_t *ref_read(ref_machine *m, const ref_lane *lane, uint8_t reg, hg_type type) {
    if (lane->types[reg] == REF_NO_TYPE) {
        ref_break(m, lane, lane->pc, "uninitialized register: r%u", reg);
        return NULL;
    }
    if (lane->types[reg] != type) {
        ref_break(m, lane, lane->pc, "type mismatch: expected %s, got %s", hg_type_name(type),
                  hg_type_name((hg_type)lane->types[reg]));
        return NULL;
    }
    return slot(m, lane, reg);
}

bool ref_read_uint(ref_machine *m, const ref_lane *lane, uint8_t reg, uint64_t *value) {
    bool is_u32 = lane->types[reg] == HG_TYPE_U32;
    const uint8_t *bytes = ref_read(m, lane, reg, is_u32 ? HG_TYPE_U32 : HG_TYPE_U64);
    *value = 0;
    if (!bytes) return false;
    for (uint32_t i = 0; i < (is_u32 ? 4u : 8u); i++) *value |= (uint64_t)bytes[i] << (8 * i);
    return true;
}

bool ref_read_count(ref_machine *m, const ref_lane *lane, const hg_operand *operand,
                    uint64_t *value) {
    *value = operand->value;
    return !operand->is_reg || ref_read_uint(m, lane, operand->reg, value);
}

void ref_write(ref_machine *m, ref_lane *lane, uint8_t reg, hg_type type, const uint8_t *bytes) {
    lane->types[reg] = (uint8_t)type;
    memmove(slot(m, lane, reg), bytes, oracle_size(type));
}

void ref_write_uint(ref_machine *m, ref_lane *lane, uint8_t reg, hg_type type, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    ref_write(m, lane, reg, type, bytes);
}

bool ref_read_predicate(ref_machine *m, const ref_lane *lane, uint8_t p, uint8_t *value) {
    if (!(lane->predicates_set >> p & 1)) {
        ref_break(m, lane, lane->pc, "uninitialized predicate: p%u", p);
        return false;
    }
    *value = lane->predicates >> p & 1;
    return true;
}

void ref_write_predicate(ref_lane *lane, uint8_t p, bool value) {
    lane->predicates_set = (uint16_t)(lane->predicates_set | 1u << p);
    lane->predicates = (uint16_t)((lane->predicates & ~(1u << p)) | (unsigned)value << p);
}

static uint64_t id_value(const ref_machine *m, const ref_lane *lane, hg_idname id) {
    const uint32_t *b = m->launch.block, *g = m->launch.grid;
    switch (id) {
    case HG_ID_LANE_IDX_X: return lane->local % b[0];
    case HG_ID_LANE_IDX_Y: return lane->local / b[0] % b[1];
    case HG_ID_LANE_IDX_Z: return lane->local / b[0] / b[1];
    case HG_ID_BLOCK_IDX_X: return lane->block % g[0];
    case HG_ID_BLOCK_IDX_Y: return lane->block / g[0] % g[1];
    case HG_ID_BLOCK_IDX_Z: return lane->block / g[0] / g[1];
    case HG_ID_BLOCK_DIM_X: return b[0];
    case HG_ID_BLOCK_DIM_Y: return b[1];
    case HG_ID_BLOCK_DIM_Z: return b[2];
    case HG_ID_GRID_DIM_X: return g[0];
    case HG_ID_GRID_DIM_Y: return g[1];
    case HG_ID_GRID_DIM_Z: return g[2];
    case HG_ID_GLOBAL_LANE_ID: return lane->id;
    case HG_ID_LANE_COUNT: return m->lane_count;
    case HG_ID_COUNT: break;
    }
    return 0;
}

static hg_type type_of(const hg_operand_info *info, const hg_inst *inst) {
    if (info->rule == HG_R_U32) return HG_TYPE_U32;
    if (info->rule == HG_R_F32) return HG_TYPE_F32;
    return (hg_type)(info->rule == HG_R_T2 ? inst->type2 : inst->type);
}

/* Any instruction whose result depends on registers, predicates and literals alone: operands as the
 * table says, value from the oracle. */
static ref_next compute(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    const hg_op_info *row = hg_op_get((hg_op)inst->op);
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    const uint8_t *args[256] = {NULL};
    uint8_t predicates[HG_MAX_OPERANDS], result[ORACLE_MAX_BYTES];
    int count = 0, variant = 0;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *info = &row->operands[i];
        if (info->kind == HG_K_COND) variant = (int)o[i].value;
        if (!(info->access & HG_READ)) continue;
        if (info->kind == HG_K_PRED) {
            if (!ref_read_predicate(m, lane, o[i].reg, &predicates[i])) return NEXT_BROKEN;
            args[count++] = &predicates[i];
        } else {
            hg_type type = type_of(info, inst);
            args[count] = ref_read(m, lane, o[i].reg, type);
            if (!args[count++]) return NEXT_BROKEN;
        }
    }
    oracle_outcome outcome = oracle_eval((hg_op)inst->op, (hg_type)inst->type, (hg_type)inst->type2,
                                         variant, args, result);
    if (outcome == ORACLE_DIVISION_BY_ZERO) {
        uint32_t divisor = inst->op == HG_OP_POWM ? 4 : 3;
        return ref_fail(m, lane, lane->pc, divisor, "F02", "division by zero");
    }
    if (outcome == ORACLE_NONE)
        return ref_break(m, lane, lane->pc, "no oracle for %s.%s", row->text,
                         hg_type_name((hg_type)inst->type));
    if (inst->op == HG_OP_SET) {
        ref_write_predicate(lane, o[1].reg, result[0]);
        return NEXT_FOLLOWING;
    }
    uint8_t carry[ORACLE_MAX_BYTES];
    bool both = row->operand_count > 1 && row->operands[1].kind == HG_K_PRED &&
                (row->operands[1].access & HG_WRITE);
    if (both)
        oracle_eval((hg_op)inst->op, (hg_type)inst->type, (hg_type)inst->type2, 1, args, carry);
    ref_write(m, lane, o[0].reg, type_of(&row->operands[0], inst), result);
    if (both) ref_write_predicate(lane, o[1].reg, carry[0]);
    return NEXT_FOLLOWING;
}

static ref_next reduce_registers(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    const uint8_t *args[256] = {NULL};
    uint8_t result[ORACLE_MAX_BYTES];
    for (uint64_t i = 0; i < o[2].value; i++) {
        if (o[1].reg + i > 255) return ref_break(m, lane, lane->pc, "registers past r255");
        args[i] = ref_read(m, lane, (uint8_t)(o[1].reg + i), (hg_type)inst->type);
        if (!args[i]) return NEXT_BROKEN;
    }
    oracle_eval((hg_op)inst->op, (hg_type)inst->type, (hg_type)inst->type, (int)o[2].value, args,
                result);
    ref_write(m, lane, o[0].reg, (hg_type)inst->type, result);
    return NEXT_FOLLOWING;
}

/* and.p … mov.p: every operand behind the first is a predicate. */
static ref_next logic(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint8_t v[3] = {0}, result;
    for (uint32_t i = 1; i < hg_op_get((hg_op)inst->op)->operand_count; i++)
        if (!ref_read_predicate(m, lane, o[i].reg, &v[i - 1])) return NEXT_BROKEN;
    switch ((hg_op)inst->op) {
    case HG_OP_AND_P: result = v[0] && v[1]; break;
    case HG_OP_OR_P: result = v[0] || v[1]; break;
    case HG_OP_XOR_P: result = v[0] != v[1]; break;
    case HG_OP_NOT_P: result = !v[0]; break;
    case HG_OP_SEL_P: result = v[0] ? v[1] : v[2]; break;
    default: result = v[0];
    }
    ref_write_predicate(lane, o[0].reg, result);
    return NEXT_FOLLOWING;
}

static ref_next stop_or_break(const ref_machine *m) {
    return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
}

static bool is_private(const hg_inst *inst) {
    return (hg_op_get((hg_op)inst->op)->flags & HG_F_PRIVATE) != 0;
}

/* A load that widens: the element has the second type. */
static ref_next load(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    bool widens = inst->type2 < HG_TYPE_COUNT;
    hg_type element = (hg_type)(widens ? inst->type2 : inst->type);
    uint32_t size = oracle_size(element);
    uint8_t wide[ORACLE_MAX_BYTES];
    const uint8_t *from = is_private(inst) ? ref_resolve_private(m, lane, 1, size)
                                           : ref_resolve(m, lane, 1, size, false, false);
    if (!from) return stop_or_break(m);
    if (widens) oracle_convert((hg_type)inst->type, element, from, wide);
    ref_write(m, lane, hg_inst_operands(m->program, lane->pc)[0].reg, (hg_type)inst->type,
              widens ? wide : from);
    return NEXT_FOLLOWING;
}

static ref_next store(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    bool narrows = inst->type2 < HG_TYPE_COUNT;
    uint8_t narrow[ORACLE_MAX_BYTES];
    const uint8_t *value = ref_read(m, lane, hg_inst_operands(m->program, lane->pc)[1].reg,
                                    (hg_type)(narrows ? inst->type2 : inst->type));
    if (!value) return NEXT_BROKEN;
    uint32_t size = oracle_size((hg_type)inst->type);
    uint8_t *to = is_private(inst) ? ref_resolve_private(m, lane, 0, size)
                                   : ref_resolve(m, lane, 0, size, false, false);
    if (!to) return stop_or_break(m);
    if (narrows) oracle_convert((hg_type)inst->type, (hg_type)inst->type2, value, narrow);
    memcpy(to, narrows ? narrow : value, size);
    return NEXT_FOLLOWING;
}

/* pool.load and pool.store: the pool and its offset stand at operands first and first + 1. */
static uint8_t *pool_element(ref_machine *m, ref_lane *lane, const hg_inst *inst, uint32_t first) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint64_t handle = o[first].value, offset;
    if (o[first].kind == HG_K_REG) {
        const uint8_t *value = ref_read(m, lane, o[first].reg, HG_TYPE_U64);
        if (!value) return NULL;
        memcpy(&handle, value, sizeof handle);
    }
    if (!ref_read_count(m, lane, &o[first + 1], &offset)) return NULL;
    return ref_resolve_pool(m, lane, first, handle, offset, oracle_size((hg_type)inst->type));
}

static ref_next pool_load(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    const uint8_t *from = pool_element(m, lane, inst, 1);
    if (!from) return stop_or_break(m);
    ref_write(m, lane, hg_inst_operands(m->program, lane->pc)[0].reg, (hg_type)inst->type, from);
    return NEXT_FOLLOWING;
}

static ref_next pool_store(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    const uint8_t *value = ref_read(m, lane, hg_inst_operands(m->program, lane->pc)[2].reg,
                                    (hg_type)inst->type);
    if (!value) return NEXT_BROKEN;
    uint8_t *to = pool_element(m, lane, inst, 0);
    if (!to) return stop_or_break(m);
    memcpy(to, value, oracle_size((hg_type)inst->type));
    return NEXT_FOLLOWING;
}

static ref_next atomic(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    hg_type type = (hg_type)inst->type;
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint8_t old[8], result[8];
    const uint8_t *args[3] = {old, ref_read(m, lane, o[2].reg, type), NULL};
    if (!args[1]) return NEXT_BROKEN;
    if (inst->op == HG_OP_ATOM_CAS) {
        args[2] = ref_read(m, lane, o[3].reg, type);
        if (!args[2]) return NEXT_BROKEN;
    }
    uint8_t *at = ref_resolve(m, lane, 1, oracle_size(type), false, true);
    if (!at) return stop_or_break(m);
    memcpy(old, at, oracle_size(type));
    if (oracle_eval((hg_op)inst->op, type, type, 0, args, result) != ORACLE_OK)
        return ref_break(m, lane, lane->pc, "no oracle for atomic");
    memcpy(at, result, oracle_size(type));
    ref_write(m, lane, o[0].reg, type, old);
    return NEXT_FOLLOWING;
}

static ref_next jump(ref_machine *m, ref_lane *lane, uint32_t target, bool counts) {
    if (counts && m->launch.max_steps && ++lane->steps > m->launch.max_steps)
        return ref_fail(m, lane, lane->pc, 0, "F07", "step limit exceeded");
    lane->pc = target;
    return NEXT_JUMPED;
}

static ref_next loop(ref_machine *m, ref_lane *lane, hg_type type) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint64_t counter;
    if (!ref_read(m, lane, o[0].reg, type) || !ref_read_uint(m, lane, o[0].reg, &counter))
        return NEXT_BROKEN;
    if (counter == 0) return NEXT_FOLLOWING;
    ref_write_uint(m, lane, o[0].reg, type, counter - 1);
    return jump(m, lane, (uint32_t)o[1].value, true);
}

static ref_next control(ref_machine *m, ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint8_t taken = 1;
    switch ((hg_op)inst->op) {
    case HG_OP_BRA:
        if (o[0].reg != 255 && !ref_read_predicate(m, lane, o[0].reg, &taken)) return NEXT_BROKEN;
        return taken ? jump(m, lane, (uint32_t)o[1].value, o[1].value <= lane->pc) : NEXT_FOLLOWING;
    case HG_OP_CALL:
        if (lane->depth == REF_STACK)
            return ref_break(m, lane, lane->pc, "call stack overflow (max depth: %d)", REF_STACK);
        lane->stack[lane->depth++] = lane->pc + 1;
        return jump(m, lane, (uint32_t)o[0].value, true);
    case HG_OP_RET:
        if (lane->depth == 0)
            return ref_break(m, lane, lane->pc,
                             "call stack underflow: attempted return with empty call stack");
        lane->pc = lane->stack[--lane->depth];
        return NEXT_JUMPED;
    case HG_OP_LOOP: return loop(m, lane, HG_TYPE_U32);
    case HG_OP_LOOP64: return loop(m, lane, HG_TYPE_U64);
    default: return NEXT_STOPPED; /* exit */
    }
}

ref_next ref_execute(ref_machine *m, ref_lane *lane) {
    const hg_inst *inst = &m->program->insts[lane->pc];
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    const hg_op_info *row = hg_op_get((hg_op)inst->op);
    if (row->flags & HG_F_COLLECTIVE) return NEXT_COLLECTIVE;
    if (row->flags & HG_F_BLOCK) return NEXT_BARRIER;
    if (row->flags & HG_F_CONTROL) return control(m, lane, inst);
    switch ((hg_op)inst->op) {
    case HG_OP_LDG:
    case HG_OP_LDG_WIDE:
    case HG_OP_LDP:
    case HG_OP_LDP_WIDE:
    case HG_OP_LDS:
    case HG_OP_LDS_WIDE: return load(m, lane, inst);
    case HG_OP_STG:
    case HG_OP_STG_NARROW:
    case HG_OP_STP:
    case HG_OP_STP_NARROW:
    case HG_OP_STS:
    case HG_OP_STS_NARROW: return store(m, lane, inst);
    case HG_OP_MOV_IMM:
        ref_write(m, lane, o[0].reg, (hg_type)inst->type, hg_literal(m->program, &o[1]));
        return NEXT_FOLLOWING;
    case HG_OP_RDID: {
        hg_idname id = (hg_idname)o[1].value;
        bool is_u64 = id == HG_ID_GLOBAL_LANE_ID || id == HG_ID_LANE_COUNT;
        ref_write_uint(m, lane, o[0].reg, is_u64 ? HG_TYPE_U64 : HG_TYPE_U32,
                       id_value(m, lane, id));
        return NEXT_FOLLOWING;
    }
    case HG_OP_AND_P:
    case HG_OP_OR_P:
    case HG_OP_XOR_P:
    case HG_OP_NOT_P:
    case HG_OP_SEL_P:
    case HG_OP_MOV_P: return logic(m, lane, inst);
    case HG_OP_AXIS_FIRST:
    case HG_OP_AXIS: return ref_axis(m, lane, inst);
    case HG_OP_BAR_SYNC: return NEXT_BARRIER;
    case HG_OP_MEMFENCE: return NEXT_FOLLOWING;
    case HG_OP_REDUCE_ADD:
    case HG_OP_REDUCE_MIN:
    case HG_OP_REDUCE_MAX:
    case HG_OP_REDUCE_MUL: return reduce_registers(m, lane, inst);
    case HG_OP_POOL_LOAD:
    case HG_OP_POOL_LOAD_CONST: return pool_load(m, lane, inst);
    case HG_OP_POOL_STORE:
    case HG_OP_POOL_STORE_CONST: return pool_store(m, lane, inst);
    case HG_OP_ATOM_ADD:
    case HG_OP_ATOM_MIN:
    case HG_OP_ATOM_MAX:
    case HG_OP_ATOM_AND:
    case HG_OP_ATOM_OR:
    case HG_OP_ATOM_XOR:
    case HG_OP_ATOM_EXCH:
    case HG_OP_ATOM_CAS: return atomic(m, lane, inst);
    default: return row->opcode >= 0x1C0 ? ref_atlas(m, lane, inst) : compute(m, lane, inst);
    }
}
