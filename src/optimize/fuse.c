/* Fusion: whole-array maps on the same elements, and lane code on them, as one pass over memory.
 *
 * A run is a stretch of a block of maps over n elements, loads and stores of a lane's own element
 * ([x + global*size]), and pure instructions. Where the launch has exactly n lanes, each lane does
 * the run's work on its own element: loads at the first use, stores at the end. In all other
 * launches the run stays as it was:
 *
 *       rdid lanes, lane_count
 *       setne p, lanes, n
 *       bra.p @was
 *       ... the run on element global_lane_id ...
 *       bra @end
 *   was:
 *       ... the run ...
 *   end:
 *
 * How arrays lie to each other is known at launch only, so a run must be right for every launch: an
 * array that it writes is the same parameter as each other array of the run, or one of the two is a
 * .scratch or a .data, which are distinct from everything. It cannot fault: every array is a
 * parameter of exactly n elements. Nothing else of the program may depend on the whole-array
 * instructions as places where lanes meet: outside runs lanes touch no memory and cannot fault.
 *
 * Requires: cfg. Provides: nothing that other passes need. */
#include "optimize/optimize.h"

#include <string.h>

enum { NONE = 0xFFFF, NO_REGISTER = HG_MAX_REGISTERS };

/* The number of elements: a parameter, or a literal. */
typedef struct length {
    uint16_t param; /* NONE: value */
    uint64_t value;
} length;

/* An array of the run at work: a parameter. */
typedef struct array {
    uint16_t param;
    uint8_t type, value; /* register that holds the lane's element */
    bool read, written, loaded, dirty, first_written;
} array;
enum { MOST_ARRAYS = 16 };

typedef struct fusion {
    optimize_edit *e;
    const hg_program *p;
    uint16_t param_of[HG_MAX_REGISTERS]; /* parameters by register, whose register is never written
                                          */
    uint32_t uses_of[HG_MAX_PARAMS];     /* instructions that name the parameter's register */
    bool used[HG_MAX_REGISTERS], written[HG_MAX_REGISTERS], used_predicate[HG_MAX_PREDICATES];
    uint8_t *owners; /* functions that have the instruction, up to 2 */
    length n;        /* of all runs */
    bool has_n, sets_lanes;
    bool failed; /* out of memory */
    /* the run at work */
    array arrays[MOST_ARRAYS];
    uint32_t array_count, maps, accesses;
    struct {
        uint8_t index, lanes, count, zero; /* registers, */
        uint8_t condition;                 /* and a predicate */
    } spare;                               /* that the program does not use */
    uint32_t runs;
    bool out_of_registers;
} fusion;

/* ---- what is known of the program ---- */

static void note_registers(fusion *f) {
    const hg_program *p = f->p;
    hg_accesses what;
    for (uint32_t r = 0; r < HG_MAX_REGISTERS; r++) f->param_of[r] = NONE;
    for (uint32_t i = 0; i < p->param_count; i++) {
        f->param_of[p->params[i].reg] = (uint16_t)i;
        f->used[p->params[i].reg] = true;
    }
    for (uint32_t i = 0; i < p->inst_count; i++) {
        hg_inst_accesses(p, i, &what);
        for (uint32_t k = 0; k < what.reads; k++) {
            *(what.read[k].is_pred ? &f->used_predicate[what.read[k].reg]
                                   : &f->used[what.read[k].reg]) = true;
            if (!what.read[k].is_pred && f->param_of[what.read[k].reg] != NONE)
                f->uses_of[f->param_of[what.read[k].reg]]++;
        }
        for (uint32_t k = 0; k < what.writes; k++) {
            *(what.write[k].is_pred ? &f->used_predicate[what.write[k].reg]
                                    : &f->used[what.write[k].reg]) = true;
            if (what.write[k].is_pred) continue;
            f->param_of[what.write[k].reg] = NONE;
            f->written[what.write[k].reg] = true;
        }
    }
}

static uint32_t take_register(fusion *f) {
    for (uint32_t r = HG_FIRST_SPECIAL; r-- > 0;) {
        if (f->used[r]) continue;
        f->used[r] = true;
        return r;
    }
    return NO_REGISTER;
}

static bool same_length(const length *a, const length *b) {
    return a->param == b->param && a->value == b->value;
}

/* The number that a count operand is, when nothing changes it. */
static bool length_of_count(const fusion *f, const hg_operand *o, length *n) {
    *n = (length){NONE, o->value};
    if (!o->is_reg) return o->value > 0;
    *n = (length){f->param_of[o->reg], 0};
    return n->param != NONE && f->p->params[n->param].kind == HG_PARAM_SCALAR;
}

/* The parameter is an array of exactly n elements of that type. */
static bool is_array(const fusion *f, uint16_t param, uint8_t type, const length *n) {
    if (param == NONE) return false;
    const hg_param *a = &f->p->params[param];
    if (a->kind != HG_PARAM_BUFFER && a->kind != HG_PARAM_SCRATCH && a->kind != HG_PARAM_DATA)
        return false;
    if (a->type != type || a->rank != 1) return false;
    if (n->param != NONE) return a->dims[0].kind == HG_EXTENT_PARAM && a->dims[0].param == n->param;
    return a->dims[0].kind == HG_EXTENT_NUMBER && a->dims[0].value == n->value;
}

static length length_of_extent(const hg_extent *e) {
    return e->kind == HG_EXTENT_PARAM ? (length){e->param, 0}
                                      : (length){NONE, e->kind == HG_EXTENT_NUMBER ? e->value : 0};
}

/* ---- what an instruction is to a run ---- */

typedef enum role { OTHER, MAP, ACCESS, PURE } role;

static uint32_t inputs_of(uint16_t op) {
    return op == HG_OP_PARALLEL_MAP ? 1 : op == HG_OP_PARALLEL_MAP_BINARY ? 2 : 0;
}

/* What each lane does instead of a map; relu is written out. */
static hg_op operation_of(const hg_inst *in, const hg_operand *o) {
    return hg_opname_op((hg_opname)o[1 + inputs_of(in->op)].value);
}

static bool is_map(const fusion *f, uint32_t inst, length *n) {
    const hg_inst *in = &f->p->insts[inst];
    uint32_t inputs = inputs_of(in->op);
    if (!inputs) return false;
    const hg_operand *o = hg_inst_operands(f->p, inst);
    hg_op op = operation_of(in, o);
    if ((op == HG_OP_DIV || op == HG_OP_REM) && !hg_type_is_float((hg_type)in->type)) return false;
    if (op != HG_OP_NONE && !hg_op_allows_type(op, (hg_type)in->type)) return false;
    if (!length_of_count(f, &o[inputs + 2], n)) return false;
    for (uint32_t k = 0; k <= inputs; k++)
        if (o[k].place != HG_PLACE_BARE || !is_array(f, f->param_of[o[k].reg], in->type, n))
            return false;
    return true;
}

/* [x + global*size] of a parameter. */
static bool is_own_element(const fusion *f, uint32_t inst, const hg_operand **address) {
    const hg_inst *in = &f->p->insts[inst];
    if (in->op != HG_OP_LDG && in->op != HG_OP_STG) return false;
    const hg_operand *a = &hg_inst_operands(f->p, inst)[in->op == HG_OP_LDG ? 1 : 0];
    *address = a;
    const hg_special *global = &hg_specials[HG_SPECIAL_COUNT - 1];
    return a->place == HG_PLACE_BUF_REG && a->has_index && a->index == global->reg &&
           !f->written[global->reg] && !f->e->cfg->special_given[HG_SPECIAL_COUNT - 1] &&
           a->disp == 0 && hg_operand_scale(a) == hg_type_size_bytes((hg_type)in->type) &&
           is_array(f, f->param_of[a->reg], in->type, &f->n);
}

static role role_of(const fusion *f, uint32_t inst) {
    const hg_operand *address;
    length n;
    if (is_map(f, inst, &n)) return same_length(&n, &f->n) ? MAP : OTHER;
    if (!f->sets_lanes && is_own_element(f, inst, &address)) return ACCESS;
    if (f->p->insts[inst].op == HG_OP_RDID ||
        (optimize_is_pure(f->p, inst) && optimize_cannot_fault(f->p, inst)))
        return PURE;
    return OTHER;
}

/* Lanes meet at whole-array instructions only for what runs do: nothing else touches memory, faults
 * or waits. */
static bool is_harmless(const fusion *f, uint32_t inst) {
    uint32_t flags = hg_op_get((hg_op)f->p->insts[inst].op)->flags;
    return role_of(f, inst) != OTHER || flags & (HG_F_COLLECTIVE | HG_F_CONTROL);
}

/* What differs when a launch has other lanes: then .lanes cannot be set. */
static bool asks_for_launch(const fusion *f, uint32_t inst) {
    hg_accesses what;
    uint16_t op = f->p->insts[inst].op;
    if (op == HG_OP_RDID || op == HG_OP_CLS_GET_LANE) return true;
    hg_inst_accesses(f->p, inst, &what);
    for (uint32_t k = 0; k < what.reads; k++)
        if (!what.read[k].is_pred && what.read[k].reg >= HG_FIRST_SPECIAL) return true;
    return false;
}

/* The number of elements: that of the program's lanes, or of the first map of a program that says
 * nothing of them. */
static bool find_length(fusion *f) {
    const hg_program *p = f->p;
    if (p->grid_count || p->lanes_count > 1) return false;
    if (p->lanes_count == 1) {
        f->n = length_of_extent(&p->lanes[0]);
        return f->n.param != NONE || f->n.value > 0;
    }
    if (p->block[0]) return false;
    f->sets_lanes = true;
    for (uint32_t i = 0; i < p->inst_count; i++)
        if (is_map(f, i, &f->n)) return true;
    return false;
}

static bool may_fuse(const fusion *f) {
    for (uint32_t i = 0; i < f->p->inst_count; i++) {
        bool asks_for_lanes = f->p->insts[i].op == HG_OP_RDID &&
                              hg_inst_operands(f->p, i)[1].value == HG_ID_LANE_COUNT;
        if (asks_for_lanes || (f->sets_lanes && asks_for_launch(f, i)))
            return false; /* of the lanes: it may be fused already */
        if (f->owners[i] && !is_harmless(f, i)) return false;
    }
    return true;
}

/* ---- the arrays of a run ---- */

static bool is_apart(const fusion *f, uint16_t param) {
    return f->p->params[param].kind == HG_PARAM_SCRATCH ||
           f->p->params[param].kind == HG_PARAM_DATA;
}

static array *find_array(fusion *f, uint8_t reg) {
    for (uint32_t k = 0; k < f->array_count; k++)
        if (f->arrays[k].param == f->param_of[reg]) return &f->arrays[k];
    return NULL;
}

/* False: another array of the run may overlap it, and one of the two is written. */
static bool add_array(fusion *f, uint8_t reg, uint8_t type, bool write) {
    array *a = find_array(f, reg);
    if (!a && f->array_count == MOST_ARRAYS) return false;
    if (!a) {
        a = &f->arrays[f->array_count++];
        *a = (array){.param = f->param_of[reg], .type = type, .first_written = write};
    }
    a->read |= !write;
    a->written |= write;
    for (uint32_t k = 0; k < f->array_count; k++) {
        const array *b = &f->arrays[k];
        if (b != a && (a->written || b->written) && !is_apart(f, a->param) &&
            !is_apart(f, b->param))
            return false;
    }
    return true;
}

static bool add_to_run(fusion *f, uint32_t inst, role what) {
    const hg_inst *in = &f->p->insts[inst];
    const hg_operand *o = hg_inst_operands(f->p, inst), *address;
    f->maps += what == MAP;
    f->accesses += what == ACCESS;
    if (what == ACCESS)
        return is_own_element(f, inst, &address) &&
               add_array(f, address->reg, in->type, in->op == HG_OP_STG);
    for (uint32_t k = 1; what == MAP && k <= inputs_of(in->op); k++)
        if (!add_array(f, o[k].reg, in->type, false)) return false;
    return what != MAP || add_array(f, o[0].reg, in->type, true);
}

/* ---- a run as lane code ---- */

static void emit(fusion *f, uint32_t from, hg_op op, uint8_t type, const hg_operand *operands) {
    optimize_inst *one = hg_vec_push(&f->e->written);
    if (!one || !optimize_make(f->e, op, type, operands, &one->inst))
        f->failed = true;
    else
        one->from = from;
    f->p = f->e->program;
}

static void emit_old(fusion *f, uint32_t inst, uint32_t from) {
    optimize_inst *one = hg_vec_push(&f->e->written);
    if (one)
        *one = (optimize_inst){f->e->program->insts[inst], from};
    else
        f->failed = true;
}

static void emit_id(fusion *f, uint32_t from, uint8_t reg, hg_idname id) {
    const hg_operand operands[] = {optimize_reg(reg), {.kind = HG_K_IDNAME, .value = id}};
    emit(f, from, HG_OP_RDID, HG_TYPE_NOT_USED, operands);
}

static hg_operand own_element(const fusion *f, const array *a) {
    uint64_t size = hg_type_size_bytes((hg_type)a->type);
    return (hg_operand){.kind = HG_K_ADDRESS,
                        .place = HG_PLACE_BUF_REG,
                        .reg = f->p->params[a->param].reg,
                        .has_index = 1,
                        .index = f->spare.index,
                        .scale = (uint16_t)(size > 1 ? size : 0)};
}

static uint8_t element(fusion *f, uint32_t from, uint8_t reg) {
    array *a = find_array(f, reg);
    const hg_operand operands[] = {optimize_reg(a->value), own_element(f, a)};
    if (!a->loaded) emit(f, from, HG_OP_LDG, a->type, operands);
    a->loaded = true;
    return a->value;
}

static uint8_t new_element(fusion *f, uint8_t reg) {
    array *a = find_array(f, reg);
    a->loaded = a->dirty = true;
    return a->value;
}

/* relu: 0 < x ? x : 0. */
static void emit_relu(fusion *f, uint32_t from, uint8_t type, uint8_t d, uint8_t s) {
    static const uint8_t zeros[HG_MAX_LITERAL_BYTES];
    hg_operand literal[2] = {optimize_reg(f->spare.zero)};
    if (!optimize_literal(f->e, type, zeros, &literal[1])) f->failed = true;
    const hg_operand compared[] = {{.kind = HG_K_COND, .value = HG_COND_LT},
                                   optimize_pred(f->spare.condition),
                                   optimize_reg(f->spare.zero),
                                   optimize_reg(s)};
    const hg_operand chosen[] = {optimize_reg(d), optimize_pred(f->spare.condition),
                                 optimize_reg(s), optimize_reg(f->spare.zero)};
    emit(f, from, HG_OP_MOV_IMM, type, literal);
    emit(f, from, HG_OP_SET, type, compared);
    emit(f, from, HG_OP_SEL, type, chosen);
}

static void emit_map(fusion *f, uint32_t inst, uint32_t from) {
    const hg_inst in = f->p->insts[inst];
    const hg_operand *o = hg_inst_operands(f->p, inst);
    hg_op op = operation_of(&in, o);
    uint8_t inputs[2] = {o[1].reg, o[2].reg}, out = o[0].reg;
    hg_operand operands[3] = {{0}};
    for (uint32_t k = 0; k < inputs_of(in.op); k++)
        operands[1 + k] = optimize_reg(element(f, from, inputs[k]));
    operands[0] = optimize_reg(new_element(f, out));
    if (op == HG_OP_NONE)
        emit_relu(f, from, in.type, operands[0].reg, operands[1].reg);
    else
        emit(f, from, op, in.type, operands);
}

static void emit_access(fusion *f, uint32_t inst, uint32_t from) {
    const hg_inst in = f->p->insts[inst];
    const hg_operand *o = hg_inst_operands(f->p, inst);
    bool load = in.op == HG_OP_LDG;
    uint8_t reg = o[load ? 0 : 1].reg, handle = o[load ? 1 : 0].reg;
    hg_operand operands[2];
    operands[0] = optimize_reg(load ? reg : new_element(f, handle));
    operands[1] = optimize_reg(load ? element(f, from, handle) : reg);
    emit(f, from, HG_OP_MOV, in.type, operands);
}

/* A scratch that only this run names, and that it writes before it reads it, holds nothing that
 * anybody sees. */
static bool is_seen(const fusion *f, const array *a, uint32_t uses) {
    return f->p->params[a->param].kind != HG_PARAM_SCRATCH || !a->first_written ||
           f->uses_of[a->param] > uses;
}

static uint32_t uses_in_run(const fusion *f, uint16_t param, uint32_t first, uint32_t end) {
    uint32_t uses = 0;
    hg_accesses what;
    for (uint32_t i = first; i < end; i++) {
        hg_inst_accesses(f->p, i, &what);
        for (uint32_t k = 0; k < what.reads; k++)
            uses += !what.read[k].is_pred && f->param_of[what.read[k].reg] == param;
    }
    return uses;
}

static void emit_stores(fusion *f, uint32_t first, uint32_t end) {
    for (uint32_t k = 0; k < f->array_count; k++) {
        const array *a = &f->arrays[k];
        const hg_operand operands[] = {own_element(f, a), optimize_reg(a->value)};
        if (a->dirty && is_seen(f, a, uses_in_run(f, a->param, first, end)))
            emit(f, first, HG_OP_STG, a->type, operands);
    }
}

/* The number of elements as a u64; returns its register. */
static uint8_t emit_length(fusion *f, uint32_t from) {
    if (f->n.param == NONE) {
        uint8_t bytes[8];
        hg_operand operands[2] = {optimize_reg(f->spare.count)};
        for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(f->n.value >> (8 * i));
        if (!optimize_literal(f->e, HG_TYPE_U64, bytes, &operands[1])) f->failed = true;
        emit(f, from, HG_OP_MOV_IMM, HG_TYPE_U64, operands);
        return f->spare.count;
    }
    const hg_param *n = &f->p->params[f->n.param];
    if (n->type == HG_TYPE_U64) return n->reg;
    const hg_operand operands[] = {optimize_reg(f->spare.count), optimize_reg(n->reg)};
    emit(f, from, HG_OP_CVT, HG_TYPE_U64, operands);
    if (!f->failed) f->e->written.data[f->e->written.count - 1].inst.type2 = n->type;
    return f->spare.count;
}

/* Returns where the jump's target is to be written, which is an index of operands. */
static uint32_t emit_jump(fusion *f, uint32_t from, uint8_t predicate) {
    const hg_operand operands[] = {optimize_pred(predicate), {.kind = HG_K_LABEL}};
    emit(f, from, HG_OP_BRA, HG_TYPE_NOT_USED, operands);
    return f->p->operand_count - 1;
}

static void land(fusion *f, uint32_t jump) {
    if (!f->failed) f->e->program->operands[jump].value = OPTIMIZE_HERE + f->e->written.count;
}

static void emit_run(fusion *f, uint32_t first, uint32_t end) {
    emit_id(f, first, f->spare.lanes, HG_ID_LANE_COUNT);
    uint8_t count = emit_length(f, first);
    const hg_operand compared[] = {{.kind = HG_K_COND, .value = HG_COND_NE},
                                   optimize_pred(f->spare.condition),
                                   optimize_reg(f->spare.lanes),
                                   optimize_reg(count)};
    emit(f, first, HG_OP_SET, HG_TYPE_U64, compared);
    uint32_t to_old = emit_jump(f, first, f->spare.condition);
    emit_id(f, first, f->spare.index, HG_ID_GLOBAL_LANE_ID);
    for (uint32_t i = first; i < end && !f->failed; i++) {
        role what = role_of(f, i);
        if (what == MAP) emit_map(f, i, first);
        if (what == ACCESS) emit_access(f, i, first);
        if (what == PURE) emit_old(f, i, first);
    }
    emit_stores(f, first, end);
    if (f->runs > 1)
        emit(f, first, HG_OP_BAR_GRID, HG_TYPE_NOT_USED, NULL); /* arrays of another run may overlap
                                                                   these */
    uint32_t to_end = emit_jump(f, first, 255);
    land(f, to_old);
    for (uint32_t i = first; i < end; i++) emit_old(f, i, i);
    land(f, to_end);
    f->e->changes += f->maps + f->accesses;
}

/* ---- finding runs ---- */

static bool take_common_registers(fusion *f) {
    uint8_t *const registers[] = {&f->spare.index, &f->spare.lanes, &f->spare.count,
                                  &f->spare.zero};
    for (size_t k = 0; k < HG_COUNT_OF(registers); k++) {
        uint32_t reg = take_register(f);
        if (reg == NO_REGISTER) return false;
        *registers[k] = (uint8_t)reg;
    }
    while (f->spare.condition < HG_MAX_PREDICATES && f->used_predicate[f->spare.condition])
        f->spare.condition++;
    return f->spare.condition < HG_MAX_PREDICATES;
}

static bool take_array_registers(fusion *f) {
    for (uint32_t k = 0; k < f->array_count; k++) {
        uint32_t reg = take_register(f);
        f->out_of_registers |= reg == NO_REGISTER;
        if (f->out_of_registers) return false;
        f->arrays[k].value = (uint8_t)reg;
    }
    return true;
}

/* The end of the longest run from first on, behind its last map or access; f has its arrays and
 * counts. */
static uint32_t end_of_run(fusion *f, uint32_t first) {
    uint32_t end = first;
    f->array_count = f->maps = f->accesses = 0;
    for (uint32_t i = first; i < f->p->inst_count && (i == first || !f->e->leader[i]); i++) {
        array arrays[MOST_ARRAYS];
        uint32_t count = f->array_count, maps = f->maps, accesses = f->accesses;
        role what = role_of(f, i);
        memcpy(arrays, f->arrays, sizeof arrays);
        if (what == OTHER || !add_to_run(f, i, what)) {
            memcpy(f->arrays, arrays, sizeof arrays);
            f->array_count = count;
            f->maps = maps;
            f->accesses = accesses;
            break;
        }
        if (what != PURE) end = i + 1;
    }
    return end;
}

/* Whether a run that is worth it begins here. */
static bool find_run(fusion *f, uint32_t first, uint32_t *end) {
    *end = first;
    if (f->owners[first] != 1 || f->out_of_registers) return false;
    role what = role_of(f, first);
    if (what != MAP && what != ACCESS) return false;
    *end = end_of_run(f, first);
    return f->maps && f->maps + f->accesses > 1 && take_array_registers(f);
}

/* How many runs there are. 0 where an access of a lane is in none of them: lanes would have to meet
 * between it and a run. 0 also where there are accesses in several: a lane that faults in one of
 * them (in a launch of more than n lanes) ends the launch at the next whole-array instruction, and
 * between runs there would be an end of a kernel before that. */
static uint32_t count_runs(fusion *f) {
    uint32_t runs = 0, accesses = 0, in_runs = 0, end;
    bool used[HG_MAX_REGISTERS];
    memcpy(used, f->used, sizeof used);
    for (uint32_t i = 0; i < f->p->inst_count; i++)
        accesses += f->owners[i] && role_of(f, i) == ACCESS;
    for (uint32_t i = 0; i < f->p->inst_count; i++) {
        if (!find_run(f, i, &end)) {
            if (f->owners[i] && role_of(f, i) == ACCESS)
                return 0; /* so no long block is looked at again and again */
            continue;
        }
        runs++;
        in_runs += f->accesses;
        i = end - 1;
    }
    memcpy(f->used, used, sizeof used);
    return in_runs == accesses && (runs <= 1 || accesses == 0) ? runs : 0;
}

static hg_status fuse(fusion *f) {
    uint32_t n = f->p->inst_count, end;
    f->runs = take_common_registers(f) ? count_runs(f) : 0;
    if (!f->runs) return HG_OK;
    f->e->rewritten = true;
    for (uint32_t i = 0; i < n && !f->failed;) {
        bool run = find_run(f, i, &end);
        if (run)
            emit_run(f, i, end);
        else
            emit_old(f, i, i);
        i = run ? end : i + 1;
    }
    return f->failed ? hg_fail_memory() : HG_OK;
}

/* One lane an element, and one where there are none, as before. */
static hg_status set_lanes(fusion *f) {
    hg_program *p = f->e->program;
    p->lanes_count = 1;
    p->lanes[0] = (hg_extent){.kind = HG_EXTENT_NUMBER, .value = f->n.value};
    if (f->n.param == NONE) return HG_OK;
    const hg_extent_op ops[] = {{.kind = HG_EXTENT_OP_PARAM, .param = f->n.param},
                                {.kind = HG_EXTENT_OP_NUMBER, .value = 1},
                                {.kind = HG_EXTENT_OP_MAX}};
    p->lanes[0] = (hg_extent){
        .kind = HG_EXTENT_EXPRESSION, .op_count = HG_COUNT_OF(ops), .value = p->extent_op_count};
    for (size_t i = 0; i < HG_COUNT_OF(ops); i++)
        if (!hg_program_add_extent_op(p, ops[i])) return hg_fail_memory();
    return HG_OK;
}

hg_status optimize_fuse(optimize_edit *e) {
    hg_status status = HG_OK;
    if (!e->cfg->has_collective) return HG_OK;
    fusion *f = hg_calloc(1, sizeof *f);
    if (!f) return hg_fail_memory();
    f->e = e;
    f->p = e->program;
    f->owners = hg_calloc((size_t)e->program->inst_count + 1, 1);
    if (!f->owners) {
        status = hg_fail_memory();
    } else {
        optimize_count_owners(e, f->owners);
        note_registers(f);
        if (find_length(f) && may_fuse(f)) status = fuse(f);
        if (status == HG_OK && e->rewritten && f->sets_lanes) status = set_lanes(f);
    }
    hg_free(f->owners);
    hg_free(f);
    return status;
}
