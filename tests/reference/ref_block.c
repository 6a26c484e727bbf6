/* Instructions on the lanes of a block: when every lane that has not stopped waits there, as at a
 * barrier. */
#include "ref_internal.h"
#include <stdlib.h>
#include <string.h>

static bool shuffle(ref_machine *m, ref_lane *lanes, uint64_t count, const oracle_lane *values,
                    hg_type type, uint8_t *results) {
    for (uint64_t l = 0; l < count; l++) {
        uint64_t from;
        if (!values[l].value) continue;
        if (!ref_read_count(m, &lanes[l], &hg_inst_operands(m->program, lanes[l].pc)[2], &from))
            return false;
        oracle_shuffle(type, values, count, from, &results[l * oracle_size(type)]);
    }
    return true;
}

/* block.any, block.all: of the lanes that are here. */
static bool of_predicates(ref_machine *m, ref_lane *lanes, uint64_t count, bool any,
                          const hg_operand *o) {
    bool result = !any;
    for (uint64_t l = 0; l < count; l++) {
        uint8_t own;
        if (lanes[l].state != LANE_AT_BARRIER) continue;
        if (!ref_read_predicate(m, &lanes[l], o[1].reg, &own)) return false;
        result = any ? result || own : result && own;
    }
    for (uint64_t l = 0; l < count; l++)
        if (lanes[l].state == LANE_AT_BARRIER) ref_write_predicate(&lanes[l], o[0].reg, result);
    return true;
}

bool ref_block(ref_machine *m, ref_lane *lanes, uint64_t count, uint32_t instruction) {
    const hg_inst *inst = &m->program->insts[instruction];
    const hg_operand *o = hg_inst_operands(m->program, instruction);
    if (inst->op == HG_OP_BLOCK_ANY || inst->op == HG_OP_BLOCK_ALL)
        return of_predicates(m, lanes, count, inst->op == HG_OP_BLOCK_ANY, o);
    hg_type type = (hg_type)inst->type;
    uint32_t size = oracle_size(type);
    oracle_lane *values = calloc(count + 1, sizeof *values);
    uint8_t *results = calloc(count + 1, size);
    bool good = values && results, scan = hg_op_get((hg_op)inst->op)->operand_count > 2;
    for (uint64_t l = 0; good && l < count; l++) {
        if (lanes[l].state != LANE_AT_BARRIER) continue;
        values[l].value = ref_read(m, &lanes[l], o[1].reg, type);
        good = values[l].value != NULL;
    }
    if (good && inst->op == HG_OP_SHUFFLE)
        good = shuffle(m, lanes, count, values, type, results);
    else if (good)
        good = oracle_block((hg_op)inst->op, type, scan && o[2].value, values, count, results);
    for (uint64_t l = 0; good && l < count; l++)
        if (values[l].value) ref_write(m, &lanes[l], o[0].reg, type, &results[l * size]);
    free(values);
    free(results);
    return good;
}
