/* Whole-array instructions: once a launch, when every live lane has arrived. */
#include "ref_internal.h"
#include <stdlib.h>
#include <string.h>

static ref_lane *first_live(ref_machine *m) {
    for (uint64_t i = 0; i < m->lane_count; i++)
        if (m->lanes[i].state == LANE_AT_COLLECTIVE) return &m->lanes[i];
    return NULL;
}

/* Register results belong to every live lane. */
static void give_all(ref_machine *m, uint8_t reg, hg_type type, const uint8_t *bytes) {
    for (uint64_t i = 0; i < m->lane_count; i++)
        if (m->lanes[i].state == LANE_AT_COLLECTIVE) ref_write(m, &m->lanes[i], reg, type, bytes);
}

static ref_next failed(const ref_machine *m) {
    return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
}

/* count elements as bytes; a product that no memory could hold is as far out of bounds as one can
 * say in 64 bits. */
static uint64_t byte_count(hg_type type, uint64_t count) {
    uint64_t size = oracle_size(type);
    return count > UINT64_MAX / size ? UINT64_MAX : count * size;
}

/* parallel_map and parallel_map_binary: all arrays are checked, then all results computed, then
 * written. */
static ref_next map(ref_machine *m, const ref_lane *lane, const hg_inst *inst, uint32_t inputs) {
    hg_type type = (hg_type)inst->type;
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint64_t count, size = oracle_size(type);
    const uint8_t *in[2] = {NULL, NULL};
    if (!ref_read_count(m, lane, &o[inputs + 2], &count)) return NEXT_BROKEN;
    uint8_t *out = ref_resolve(m, lane, 0, byte_count(type, count), true, false);
    if (!out) return failed(m);
    for (uint32_t i = 0; i < inputs; i++)
        if (!(in[i] = ref_resolve(m, lane, i + 1, byte_count(type, count), true, false)))
            return failed(m);
    uint8_t *results = malloc(count * size + 1);
    if (!results) return ref_break(m, lane, lane->pc, "out of memory");
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *args[2] = {in[0] + i * size, inputs == 2 ? in[1] + i * size : NULL};
        oracle_outcome outcome = oracle_opname((hg_opname)o[inputs + 1].value, type, args,
                                               results + i * size);
        if (outcome == ORACLE_OK) continue;
        free(results);
        if (outcome == ORACLE_DIVISION_BY_ZERO)
            return ref_fail(m, NULL, lane->pc, 0, "F02", "division by zero");
        return ref_break(m, lane, lane->pc, "no oracle for this map of %s", hg_type_name(type));
    }
    memcpy(out, results, count * size);
    free(results);
    return NEXT_FOLLOWING;
}

/* Array at operand array, its count at operand array + 1 (reduce.*) or + 2 (parallel_reduce, after
 * the operation). */
static ref_next reduce(ref_machine *m, const ref_lane *lane, const hg_inst *inst, hg_opname name,
                       uint32_t count_operand, uint8_t *result) {
    hg_type type = (hg_type)inst->type;
    uint64_t count;
    if (!ref_read_count(m, lane, &hg_inst_operands(m->program, lane->pc)[count_operand], &count))
        return NEXT_BROKEN;
    const uint8_t *array = ref_resolve(m, lane, 1, byte_count(type, count), true, false);
    if (!array) return failed(m);
    if (oracle_reduce(name, type, array, count, result) != ORACLE_OK)
        return ref_break(m, lane, lane->pc, "no oracle for this reduction");
    return NEXT_FOLLOWING;
}

static ref_next pool_alloc(ref_machine *m, const ref_lane *lane, bool fixed) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint64_t size, handle = 1;
    if (!ref_read_count(m, lane, &o[1], &size)) return NEXT_BROKEN;
    if (fixed) {
        handle = o[0].value;
        if (ref_find(m, REF_POOL, handle))
            return ref_fail(m, NULL, lane->pc, 1, "F05",
                            "execution error: pool handle already in use");
    } else {
        while (ref_find(m, REF_POOL, handle)) handle++;
    }
    uint8_t *bytes = size < ((uint64_t)1 << 32) ? calloc(size + 1, 1) : NULL;
    if (!bytes) return ref_fail(m, NULL, lane->pc, 2, "X01", "Buffer allocation failed");
    ref_object *object = ref_add(m, REF_POOL, handle, bytes, size);
    if (!object) {
        free(bytes);
        return ref_break(m, lane, lane->pc, "out of memory");
    }
    object->owned = true;
    if (!fixed) {
        uint8_t value[8];
        memcpy(value, &handle, sizeof value);
        give_all(m, o[0].reg, HG_TYPE_U64, value);
    }
    return NEXT_FOLLOWING;
}

static ref_next pool_free(ref_machine *m, const ref_lane *lane) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    uint64_t handle = o[0].value;
    if (o[0].kind == HG_K_REG) {
        const uint8_t *value = ref_read(m, lane, o[0].reg, HG_TYPE_U64);
        if (!value) return NEXT_BROKEN;
        memcpy(&handle, value, sizeof handle);
    }
    ref_object *object = ref_find(m, REF_POOL, handle);
    if (!object)
        return ref_fail(m, NULL, lane->pc, 1, "F03", "invalid pool handle: %llu",
                        (unsigned long long)handle);
    ref_remove(m, object);
    return NEXT_FOLLOWING;
}

/* Every register operand must hold the same in all live lanes, or the verifier let a divergent
 * operand pass. */
static bool same_operands(ref_machine *m, const ref_lane *first, uint32_t instruction) {
    const hg_op_info *row = hg_op_get((hg_op)m->program->insts[instruction].op);
    const hg_operand *o = hg_inst_operands(m->program, instruction);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        bool is_place = o[i].kind == HG_K_ADDRESS || o[i].kind == HG_K_ARRAY,
             used[2] = {false, false};
        uint8_t regs[2] = {o[i].reg, o[i].index};
        used[0] = is_place ? o[i].place >= HG_PLACE_FLAT && o[i].place <= HG_PLACE_BARE
                  : o[i].kind == HG_K_COUNT
                      ? o[i].is_reg
                      : o[i].kind == HG_K_REG && (row->operands[i].access & HG_READ);
        used[1] = o[i].kind == HG_K_ADDRESS && o[i].has_index;
        for (int k = 0; k < 2; k++) {
            if (!used[k] || first->types[regs[k]] == REF_NO_TYPE) continue;
            hg_type type = (hg_type)first->types[regs[k]];
            const uint8_t *expected = ref_read(m, first, regs[k], type);
            for (uint64_t l = 0; l < m->lane_count; l++) {
                const ref_lane *lane = &m->lanes[l];
                if (lane->state != LANE_AT_COLLECTIVE) continue;
                const uint8_t *actual = ref_read(m, lane, regs[k], type);
                if (!actual || memcmp(expected, actual, oracle_size(type)) != 0) return false;
            }
        }
    }
    return true;
}

/* grid.any, grid.all: of the lanes that are here; a flag that was set before counts as one that
 * says so. */
static ref_next ask_all(ref_machine *m, const hg_inst *inst, const hg_operand *o) {
    bool any = inst->op == HG_OP_GRID_ANY;
    uint8_t *flag = ref_resolve(m, first_live(m), 2, 4, true, false);
    if (!flag) return failed(m);
    bool said = flag[0] || flag[1] || flag[2] || flag[3];
    for (uint64_t l = 0; l < m->lane_count; l++) {
        uint8_t own;
        if (m->lanes[l].state != LANE_AT_COLLECTIVE) continue;
        if (!ref_read_predicate(m, &m->lanes[l], o[1].reg, &own)) return NEXT_BROKEN;
        said |= any ? own : !own;
    }
    for (uint64_t l = 0; l < m->lane_count; l++)
        if (m->lanes[l].state == LANE_AT_COLLECTIVE)
            ref_write_predicate(&m->lanes[l], o[0].reg, any ? said : !said);
    memset(flag, 0, 4);
    memset(m->shared, 0, m->block_count * m->launch.shared);
    return NEXT_FOLLOWING;
}

ref_next ref_collective(ref_machine *m, uint32_t instruction) {
    const hg_inst *inst = &m->program->insts[instruction];
    const hg_operand *o = hg_inst_operands(m->program, instruction);
    ref_lane *lane = first_live(m);
    uint8_t result[ORACLE_MAX_BYTES];
    ref_next next;
    if (!same_operands(m, lane, instruction))
        return ref_break(m, lane, instruction, "operand must be the same in all lanes");
    switch ((hg_op)inst->op) {
    case HG_OP_PARALLEL_MAP: return map(m, lane, inst, 1);
    case HG_OP_PARALLEL_MAP_BINARY: return map(m, lane, inst, 2);
    case HG_OP_CONV2D: return ref_conv2d(m, lane, inst);
    case HG_OP_CONV:
    case HG_OP_CONV_TRANSPOSE: return ref_conv(m, lane, inst);
    case HG_OP_MAX_POOL:
    case HG_OP_AVG_POOL: return ref_pool(m, lane, inst);
    case HG_OP_POOL_ALLOC: return pool_alloc(m, lane, false);
    case HG_OP_POOL_ALLOC_CONST: return pool_alloc(m, lane, true);
    case HG_OP_POOL_FREE:
    case HG_OP_POOL_FREE_CONST: return pool_free(m, lane);
    case HG_OP_SPARSE_GEMM: return ref_sparse_gemm(m, lane, inst);
    case HG_OP_TENSOR_CONTRACT: return ref_tensor_contract(m, lane, inst);
    case HG_OP_QUANTIZED_GEMM: return ref_quantized_gemm(m, lane, inst);
    case HG_OP_GATHER:
    case HG_OP_SCATTER:
    case HG_OP_SCATTER_ADD: return ref_gather(m, lane, inst);
    case HG_OP_SEGMENT_REDUCE: return ref_segment_reduce(m, lane, inst);
    case HG_OP_ARG_MAX:
    case HG_OP_ARG_MIN: return ref_arg(m, lane, inst);
    case HG_OP_SCAN: return ref_scan(m, lane, inst);
    case HG_OP_REDUCE_AXIS: return ref_reduce_axis(m, lane, inst);
    case HG_OP_SORT:
    case HG_OP_TOP_K: return ref_sort(m, lane, inst);
    case HG_OP_FFT: return ref_fft(m, lane, inst);
    case HG_OP_GRID_ANY:
    case HG_OP_GRID_ALL: return ask_all(m, inst, o);
    case HG_OP_BAR_GRID:
        memset(m->shared, 0, m->block_count * m->launch.shared);
        return NEXT_FOLLOWING;
    case HG_OP_REDUCE_ADD_MEM: next = reduce(m, lane, inst, HG_OPNAME_SUM, 2, result); break;
    case HG_OP_REDUCE_MIN_MEM: next = reduce(m, lane, inst, HG_OPNAME_MIN, 2, result); break;
    case HG_OP_REDUCE_MAX_MEM: next = reduce(m, lane, inst, HG_OPNAME_MAX, 2, result); break;
    case HG_OP_REDUCE_MUL_MEM: next = reduce(m, lane, inst, HG_OPNAME_PRODUCT, 2, result); break;
    case HG_OP_PARALLEL_REDUCE:
        next = reduce(m, lane, inst, (hg_opname)o[2].value, 3, result);
        break;
    case HG_OP_PARALLEL_REDUCE_MEM: {
        uint8_t *out = ref_resolve(m, lane, 0, oracle_size((hg_type)inst->type), true, false);
        if (!out) return failed(m);
        next = reduce(m, lane, inst, (hg_opname)o[2].value, 3, result);
        if (next == NEXT_FOLLOWING) memcpy(out, result, oracle_size((hg_type)inst->type));
        return next;
    }
    default: return ref_break(m, lane, instruction, "unknown whole-array instruction");
    }
    if (next == NEXT_FOLLOWING) give_all(m, o[0].reg, (hg_type)inst->type, result);
    return next;
}
