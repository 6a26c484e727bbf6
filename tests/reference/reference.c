/* The run loop: lanes of a block run one after another up to their next barrier, blocks one after
 * another up to the next whole-array instruction; faults are kept in the order of semantics 0.3. */
#include "ref_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe(ref_fault *f, const ref_machine *m, const ref_lane *lane, uint64_t instruction,
                     uint32_t operand, const char *code, const char *format, va_list arguments) {
    *f = (ref_fault){.step = m->step,
                     .phase = m->phase,
                     .lane = lane ? lane->id : HG_NONE,
                     .instruction = instruction,
                     .operand = operand};
    snprintf(f->code, sizeof f->code, "%s", code);
    vsnprintf(f->message, sizeof f->message, format, arguments);
}

ref_next ref_fail(ref_machine *m, const ref_lane *lane, uint64_t instruction, uint32_t operand,
                  const char *code, const char *format, ...) {
    ref_fault f;
    va_list arguments;
    va_start(arguments, format);
    describe(&f, m, lane, instruction, operand, code, format, arguments);
    va_end(arguments);
    /* One fault a lane and step, so (phase, lane) orders all faults of a step; a step with a fault
     * is the last. */
    if (!m->has_fault || f.phase < m->fault.phase ||
        (f.phase == m->fault.phase && f.lane < m->fault.lane))
        m->fault = f;
    m->has_fault = m->block_has_fault = true;
    return NEXT_FAULT;
}

ref_next ref_break(ref_machine *m, const ref_lane *lane, uint64_t instruction, const char *format,
                   ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!m->broken.code[0]) describe(&m->broken, m, lane, instruction, 0, "REF", format, arguments);
    va_end(arguments);
    return NEXT_BROKEN;
}

ref_machine *ref_create(const hg_program *program) {
    ref_machine *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->program = program;
    memset(m->start_types, REF_NO_TYPE, sizeof m->start_types);
    return m;
}

void ref_destroy(ref_machine *m) {
    if (!m) return;
    while (m->objects) ref_remove(m, m->objects);
    if (m->owns_classes) free(m->classes);
    for (uint64_t i = 0; m->lanes && i < m->lane_count; i++) ref_atlas_free(&m->lanes[i]);
    free(m->lanes);
    free(m->values);
    free(m->shared);
    free(m->own);
    free(m);
}

bool ref_bind(ref_machine *m, ref_space space, uint64_t handle, uint8_t *bytes, uint64_t size) {
    return ref_add(m, space, handle, bytes, size) != NULL;
}

void ref_set_class_memory(ref_machine *m, uint8_t *bytes) { m->classes = bytes; }

void ref_set_register(ref_machine *m, uint8_t reg, hg_type type, const void *bytes) {
    m->start_types[reg] = (uint8_t)type;
    memcpy(m->start_values[reg], bytes, oracle_size(type));
}

/* Gives every register a slot that is wide enough for any type the program names. */
static void lay_out(ref_machine *m) {
    bool used[256] = {[252] = true, [253] = true, [254] = true, [255] = true};
    const hg_program *p = m->program;
    m->slot_bytes = 8;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_inst *inst = &p->insts[i];
        const hg_op_info *row = hg_op_get((hg_op)inst->op);
        if (inst->type < HG_TYPE_COUNT && oracle_size((hg_type)inst->type) > m->slot_bytes)
            m->slot_bytes = oracle_size((hg_type)inst->type);
        if (inst->type2 < HG_TYPE_COUNT && oracle_size((hg_type)inst->type2) > m->slot_bytes)
            m->slot_bytes = oracle_size((hg_type)inst->type2);
        for (uint32_t k = 0; k < row->operand_count; k++) {
            const hg_operand *o = &hg_inst_operands(p, i)[k];
            used[o->reg] = used[o->index] = true; /* some are no registers; a slot too many does no
                                                     harm */
        }
        if (inst->op == HG_OP_REDUCE_ADD || inst->op == HG_OP_REDUCE_MIN ||
            inst->op == HG_OP_REDUCE_MAX || inst->op == HG_OP_REDUCE_MUL)
            for (uint64_t k = 0; k < hg_inst_operands(p, i)[2].value; k++)
                used[(hg_inst_operands(p, i)[1].reg + k) & 255] = true;
    }
    for (int r = 0; r < 256; r++) {
        if (m->start_types[r] != REF_NO_TYPE) {
            used[r] = true;
            if (oracle_size((hg_type)m->start_types[r]) > m->slot_bytes)
                m->slot_bytes = oracle_size((hg_type)m->start_types[r]);
        }
        if (used[r]) m->slot[r] = (uint16_t)m->slots++;
    }
}

static void special(ref_machine *m, ref_lane *lane, uint8_t reg, hg_type type, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    ref_write(m, lane, reg, type, bytes);
}

static void start_lane(ref_machine *m, uint64_t id) {
    ref_lane *lane = &m->lanes[id];
    memset(lane->types, REF_NO_TYPE, sizeof lane->types);
    lane->id = id;
    lane->block = (uint32_t)(id / m->block_lanes);
    lane->local = (uint32_t)(id % m->block_lanes);
    lane->pc = m->program->entry;
    lane->state = LANE_RUNS;
    lane->values = m->values + id * m->slots * m->slot_bytes;
    special(m, lane, 252, HG_TYPE_U32, lane->local % m->launch.block[0]);
    special(m, lane, 253, HG_TYPE_U32, lane->block % m->launch.grid[0]);
    special(m, lane, 254, HG_TYPE_U32, m->launch.block[0]);
    special(m, lane, 255, HG_TYPE_U64, id);
    for (int r = 0; r < 256; r++)
        if (m->start_types[r] != REF_NO_TYPE)
            ref_write(m, lane, (uint8_t)r, (hg_type)m->start_types[r], m->start_values[r]);
}

static bool start(ref_machine *m, const ref_launch *launch) {
    m->launch = *launch;
    if (m->launch.shared < m->program->shared) m->launch.shared = m->program->shared;
    m->block_lanes = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    m->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    m->lane_count = m->block_lanes * m->block_count;
    if (launch->lanes && launch->lanes < m->lane_count) m->lane_count = launch->lanes;
    lay_out(m);
    if (!m->classes) {
        m->classes = calloc(1, REF_CLASS_MEMORY_BYTES);
        m->owns_classes = true;
    }
    m->lanes = calloc(m->lane_count + 1, sizeof *m->lanes);
    m->values = calloc(m->lane_count + 1, (size_t)m->slots * m->slot_bytes);
    m->shared = calloc(m->block_count + 1, m->launch.shared + 1);
    m->own = calloc(m->lane_count + 1, m->program->private_bytes + 1);
    if (!m->classes || !m->lanes || !m->values || !m->shared || !m->own) return false;
    for (uint64_t id = 0; id < m->lane_count; id++) start_lane(m, id);
    return true;
}

/* Runs a lane to its next barrier, whole-array instruction or end. */
static bool run_lane(ref_machine *m, ref_lane *lane) {
    while (lane->state == LANE_RUNS) {
        if (lane->pc >= m->program->inst_count) {
            lane->state = LANE_STOPPED;
            break;
        }
        switch (ref_execute(m, lane)) {
        case NEXT_FOLLOWING: lane->pc++; break;
        case NEXT_JUMPED: break;
        case NEXT_STOPPED:
        case NEXT_FAULT: lane->state = LANE_STOPPED; break;
        case NEXT_BARRIER: lane->state = LANE_AT_BARRIER; break;
        case NEXT_COLLECTIVE: lane->state = LANE_AT_COLLECTIVE; break;
        case NEXT_BROKEN: return false;
        }
    }
    return true;
}

typedef struct block_view {
    ref_lane *lanes;
    uint64_t count;
} block_view;

static block_view block_of(ref_machine *m, uint64_t block) {
    uint64_t first = block * m->block_lanes, last = first + m->block_lanes;
    if (last > m->lane_count) last = m->lane_count;
    if (first > last) first = last;
    return (block_view){m->lanes + first, last - first};
}

/* Lets the lanes that wait at a barrier go on. False when none waits, or when they wait at
 * different ones (a fault). */
static bool pass_barrier(ref_machine *m, block_view b) {
    const ref_lane *first = NULL;
    uint64_t id = 0;
    for (uint64_t i = 0; i < b.count; i++) {
        ref_lane *lane = &b.lanes[i];
        if (lane->state == LANE_AT_COLLECTIVE && first)
            ref_break(m, lane, lane->pc, "whole-array instruction while others wait at a barrier");
        if (lane->state != LANE_AT_BARRIER) continue;
        bool together = (hg_op_get((hg_op)m->program->insts[lane->pc].op)->flags & HG_F_BLOCK) != 0;
        uint64_t at = together ? 256 + (uint64_t)lane->pc
                               : hg_inst_operands(m->program, lane->pc)[0].value;
        if (!first)
            first = lane, id = at;
        else if (at != id)
            return ref_fail(m, first, first->pc, 0, "F06", "barrier mismatch"), false;
    }
    if (!first) return false;
    if (id >= 256 && !ref_block(m, b.lanes, b.count, first->pc)) {
        ref_break(m, first, first->pc, "no result for the block");
        return false;
    }
    for (uint64_t i = 0; i < b.count; i++)
        if (b.lanes[i].state == LANE_AT_BARRIER) b.lanes[i].state = LANE_RUNS, b.lanes[i].pc++;
    return true;
}

/* A block with a fault finishes the phase in which it happened. */
static bool run_block(ref_machine *m, uint64_t block) {
    block_view b = block_of(m, block);
    m->phase = 0;
    m->block_has_fault = false;
    do {
        for (uint64_t i = 0; i < b.count; i++)
            if (!run_lane(m, &b.lanes[m->launch.backwards ? b.count - 1 - i : i])) return false;
        if (m->block_has_fault || !pass_barrier(m, b)) break;
        m->phase++;
    } while (true);
    return m->broken.code[0] == 0;
}

/* All live lanes must stand at one whole-array instruction. */
static ref_outcome meet(ref_machine *m, uint32_t *instruction, bool *any) {
    *any = false;
    for (uint64_t i = 0; i < m->lane_count; i++) {
        const ref_lane *lane = &m->lanes[i];
        if (lane->state != LANE_AT_COLLECTIVE) continue;
        if (*any && lane->pc != *instruction)
            return ref_break(m, lane, lane->pc, "lanes at different whole-array instructions"),
                   REF_BROKEN;
        *instruction = lane->pc;
        *any = true;
    }
    return REF_DONE;
}

static ref_outcome run(ref_machine *m) {
    for (;;) {
        for (uint64_t i = 0; i < m->block_count; i++)
            if (!run_block(m, m->launch.backwards ? m->block_count - 1 - i : i)) return REF_BROKEN;
        if (m->has_fault) return REF_FAULT;
        uint32_t instruction = 0;
        bool any;
        if (meet(m, &instruction, &any) != REF_DONE) return REF_BROKEN;
        if (!any) return REF_DONE;
        m->step++;
        m->phase = 0;
        ref_next next = ref_collective(m, instruction);
        if (next == NEXT_FAULT) return REF_FAULT;
        if (next == NEXT_BROKEN) return REF_BROKEN;
        m->step++;
        if (m->launch.backwards) memset(m->shared, 0, m->block_count * m->launch.shared);
        for (uint64_t i = 0; i < m->lane_count; i++)
            if (m->lanes[i].state == LANE_AT_COLLECTIVE)
                m->lanes[i].state = LANE_RUNS, m->lanes[i].pc++;
    }
}

ref_outcome ref_run(ref_machine *m, const ref_launch *launch, ref_fault *fault) {
    if (!start(m, launch)) return REF_NO_MEMORY;
    ref_outcome outcome = run(m);
    if (outcome == REF_FAULT) *fault = m->fault;
    if (outcome == REF_BROKEN) *fault = m->broken;
    return outcome;
}
