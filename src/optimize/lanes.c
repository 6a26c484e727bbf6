/* Which programs have lanes that can be shared, and such a program with its lanes from some number
 * on. Followed is what registers have that comes from the lane's number: the quotient of the number
 * by extents, and what remains of such a quotient, which together are the number again where an
 * array has these extents.
 * Must not know: devices. */
#include "optimize/lanes.h"
#include "isa/verify_internal.h"
#include "optimize/optimize.h"
#include <hologram/builder.h>
#include <string.h>

#define NO_JUMP UINT32_MAX
enum { LANE = HG_MAX_REGISTERS - 1 }; /* the register that has the lane's number */

/* ---- what registers have ---- */

/* A factor that is the same for all lanes: a number, or a scalar parameter. */
typedef struct factor {
    bool is_param;
    uint64_t value; /* the number, or which parameter */
} factor;

typedef enum fact_kind {
    UNKNOWN,
    FACTOR,    /* by[0] */
    ARRAY,     /* the handle of parameter by[0].value */
    QUOTIENT,  /* the lane's number by the first `count` factors */
    REMAINDER, /* the same, modulo by[count] */
} fact_kind;
enum { MOST_FACTORS = 3 };
typedef struct fact {
    uint8_t kind, count;
    bool moved; /* UNKNOWN, of several instructions one of which may have written what depends on
                   where a launch is cut */
    factor by[MOST_FACTORS + 1];
} fact;

typedef struct reader {
    const hg_program *p;
    optimize_lanes *lanes;
    fact facts[HG_MAX_REGISTERS];
    hg_accesses what;
    /* of a launch that is cut (NULL: of any): */
    optimize_part *part;
    struct part_step {
        uint64_t before[HG_MAX_REGISTERS / 64]; /* registers that depend on where the cut is */
        bool writes;                            /* such a value, to `reg` */
        uint8_t reg;
    } * steps;       /* by instruction */
    uint64_t wholes; /* arrays of which lanes read what does not depend on it */
    bool apart, changed;
} reader;

static hg_status refuse(const hg_program *p, uint32_t inst, const char *why) {
    unsigned line = p->lines ? (unsigned)p->lines[inst] : 0;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "%.60s, instruction %u%s%.0u (%s): %s; its lanes cannot be shared",
                   hg_program_name(p), (unsigned)inst, line ? ", line " : "", line,
                   hg_op_get((hg_op)p->insts[inst].op)->text, why);
}

static bool same_factor(factor a, factor b) {
    return a.is_param == b.is_param && a.value == b.value;
}

static bool same_quotient(const fact *a, const fact *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!same_factor(a->by[i], b->by[i])) return false;
    return true;
}

static fact fact_of(const reader *r, uint8_t reg) {
    return reg == LANE ? (fact){.kind = QUOTIENT} : r->facts[reg];
}

/* Of a register with an array's handle: which parameter; HG_MAX_PARAMS: none. */
static uint32_t array_of(const reader *r, uint8_t reg) {
    fact f = fact_of(r, reg);
    return f.kind == ARRAY ? (uint32_t)f.by[0].value : (uint32_t)HG_MAX_PARAMS;
}

/* quotient / factor, quotient % factor */
static fact divide(const reader *r, const hg_inst *in, const hg_operand *o) {
    fact a = fact_of(r, o[1].reg), by = fact_of(r, o[2].reg);
    if (in->type != HG_TYPE_U64 || a.kind != QUOTIENT || by.kind != FACTOR ||
        a.count == MOST_FACTORS)
        return (fact){.kind = UNKNOWN};
    a.by[a.count] = by.by[0];
    if (in->op == HG_OP_DIV)
        a.count++;
    else
        a.kind = REMAINDER;
    return a;
}

/* before * extent + index, where before is a quotient divided by the extent, and index what remains
 * of it: the quotient. */
static fact join(const reader *r, const hg_inst *in, const hg_operand *o) {
    fact before = fact_of(r, o[1].reg), index = fact_of(r, o[2].reg);
    uint32_t param = array_of(r, o[3].reg);
    const fact none = {.kind = UNKNOWN};
    if (in->type != HG_TYPE_U64 || param == HG_MAX_PARAMS || before.kind != QUOTIENT ||
        index.kind != REMAINDER || before.count != index.count + 1u ||
        !same_quotient(&before, &index, before.count))
        return none;
    const hg_param *array = &r->p->params[param];
    if (array->rank == HG_NO_DIMS || o[4].value >= array->rank) return none;
    const hg_extent *e = &array->dims[o[4].value];
    factor by = index.by[index.count],
           extent = {e->kind == HG_EXTENT_PARAM,
                     e->kind == HG_EXTENT_PARAM ? (uint64_t)e->param : e->value};
    if (e->kind == HG_EXTENT_EXPRESSION || !same_factor(by, extent)) return none;
    index.kind = QUOTIENT;
    return index;
}

static fact literal_of(const reader *r, const hg_inst *in, const hg_operand *o) {
    fact f = {.kind = FACTOR};
    if (in->type != HG_TYPE_U64) return (fact){.kind = UNKNOWN};
    memcpy(&f.by[0].value, hg_literal(r->p, &o[1]), sizeof f.by[0].value);
    return f;
}

/* What an instruction's first operand has afterwards. */
static fact result_of(const reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_operand *o = hg_inst_operands(r->p, inst);
    bool widens = in->op == HG_OP_CVT && in->type == HG_TYPE_U64 && in->type2 == HG_TYPE_U32;
    switch (in->op) {
    case HG_OP_RDID: return (fact){.kind = QUOTIENT};
    case HG_OP_MOV_IMM: return literal_of(r, in, o);
    case HG_OP_AXIS_FIRST:
    case HG_OP_MOV: return in->type == HG_TYPE_U64 ? fact_of(r, o[1].reg) : (fact){.kind = UNKNOWN};
    case HG_OP_CVT:
        return widens && fact_of(r, o[1].reg).kind == FACTOR ? fact_of(r, o[1].reg)
                                                             : (fact){.kind = UNKNOWN};
    case HG_OP_DIV:
    case HG_OP_REM: return divide(r, in, o);
    case HG_OP_AXIS: return join(r, in, o);
    default: return (fact){.kind = UNKNOWN};
    }
}

/* ---- where a launch is cut ---- */

/* The product of the factors; 0: one of them has no number, or is the extent that is cut. */
static uint64_t product_of(const reader *r, const fact *f, uint32_t count) {
    uint64_t product = 1;
    for (uint32_t i = 0; i < count; i++) {
        bool cut = f->by[i].is_param && f->by[i].value == r->part->param;
        uint64_t by = !f->by[i].is_param ? f->by[i].value : r->part->numbers[f->by[i].value];
        if (cut || !by || !hg_mul_u64(product, by, &product)) return 0;
    }
    return product;
}

/* Whether a register's value depends on where the cut is: the lane's number, and what of it is not
 * the same in each place of the axis. */
static bool is_moved(const reader *r, uint8_t reg) {
    fact f = fact_of(r, reg);
    uint64_t product;
    switch (f.kind) {
    case FACTOR: return f.by[0].is_param && f.by[0].value == r->part->param;
    case QUOTIENT: return true;
    case REMAINDER:
        product = product_of(r, &f, f.count + 1u);
        return !product || r->part->inner % product != 0;
    case UNKNOWN: return f.moved;
    default: return false;
    }
}

static bool is_cut_axis(const reader *r, uint32_t param, uint64_t axis) {
    const hg_param *a = &r->p->params[param];
    bool known = a->rank != HG_NO_DIMS && a->rank > 0 && a->dims[0].kind == HG_EXTENT_PARAM &&
                 a->dims[0].param == r->part->param;
    return known && (axis == 0 || axis == HG_NO_DIMS);
}

/* What depends on the cut goes on as what is known of the lane's number, or is a place in an array.
 */
static void check_moved(reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_operand *o = hg_inst_operands(r->p, inst);
    fact f = result_of(r, inst);
    bool kept = f.kind == QUOTIENT || f.kind == REMAINDER, moved = false;
    for (uint32_t i = 0; i < r->what.reads; i++) {
        const hg_access *a = &r->what.read[i];
        if (a->is_pred || !is_moved(r, a->reg)) continue;
        moved = true;
        r->apart &= hg_op_get((hg_op)in->op)->operands[a->operand].kind == HG_K_ADDRESS || kept;
        r->apart &= fact_of(r, a->reg).kind != FACTOR;
    }
    if (in->op == HG_OP_AXIS || in->op == HG_OP_AXIS_FIRST) {
        bool first = in->op == HG_OP_AXIS_FIRST;
        uint32_t param = array_of(r, o[first ? 2 : 3].reg);
        uint8_t index = o[first ? 1 : 2].reg;
        /* the extent that is cut bounds a place of it; others, the index within a place */
        bool cut = param < HG_MAX_PARAMS && is_cut_axis(r, param, o[first ? 3 : 4].value);
        r->apart &= param < HG_MAX_PARAMS &&
                    (cut ? fact_of(r, index).kind == QUOTIENT : !is_moved(r, index));
    }
    if (in->op == HG_OP_RDID) moved = true;
    if (moved && kept && !r->steps[inst].writes && r->what.writes) {
        r->steps[inst] = (struct part_step){.writes = true, .reg = r->what.write[0].reg};
        r->changed = true;
    }
    for (uint32_t k = 0; k < HG_MAX_REGISTERS; k++)
        if (is_moved(r, (uint8_t)k)) r->steps[inst].before[k / 64] |= UINT64_C(1) << k % 64;
}

/* An element of an array: in the lane's own place of a part, or one of an array that is whole. */
static void check_place(reader *r, const hg_operand *o, uint32_t param, uint8_t type) {
    const hg_param *a = &r->p->params[param];
    fact index = o->has_index ? fact_of(r, o->index) : (fact){.kind = UNKNOWN};
    uint64_t bit = UINT64_C(1) << param, size = hg_type_size_bytes((hg_type)type);
    if (!o->has_index || !is_moved(r, o->index)) {
        r->wholes |= bit;
        return;
    }
    uint64_t product = index.kind == QUOTIENT ? product_of(r, &index, index.count) : 0;
    bool cut = a->rank == HG_NO_DIMS ? index.count == 0 : is_cut_axis(r, param, 0);
    if (!product || r->part->inner % product != 0 || !cut || a->type != type ||
        (o->scale ? o->scale : 1u) != size || o->disp) {
        r->apart = false;
        return;
    }
    uint64_t each = r->part->inner / product;
    r->apart &= !(r->part->parts & bit) || r->part->each[param] == each;
    r->part->parts |= bit;
    r->part->each[param] = each;
}

/* An array is cut or whole, and the extent that is cut is nothing else. */
static void check_extents(reader *r) {
    const hg_program *p = r->p;
    uint16_t cut = (uint16_t)r->part->param;
    uint32_t lanes = 0;
    r->apart &= !(r->part->parts & r->wholes);
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *a = &p->params[i];
        bool is_part = r->part->parts >> i & 1;
        for (uint32_t d = 0; a->rank != HG_NO_DIMS && d < a->rank; d++)
            if ((d > 0 || !is_part) && hg_extent_names(p, &a->dims[d], cut)) r->apart = false;
    }
    for (uint32_t i = 0; i < p->lanes_count; i++) {
        bool names = hg_extent_names(p, &p->lanes[i], cut);
        lanes += names;
        r->apart &= !names || p->lanes[i].kind == HG_EXTENT_PARAM;
    }
    r->apart &= lanes == 1;
}

/* ---- what lanes touch ---- */

/* [array + lane*size] of the array's type: its own element. */
static bool is_own(const reader *r, uint8_t type, const hg_operand *o, uint32_t param) {
    fact index = o->has_index ? fact_of(r, o->index) : (fact){.kind = UNKNOWN};
    return r->p->params[param].type == type && index.kind == QUOTIENT && !index.count &&
           (o->scale ? o->scale : 1u) == hg_type_size_bytes((hg_type)type) && !o->disp;
}

static hg_status read_access(reader *r, uint32_t inst, uint32_t operand) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_operand_info *info = &hg_op_get((hg_op)in->op)->operands[operand];
    const hg_operand *o = &hg_inst_operands(r->p, inst)[operand];
    bool stores = info->access & HG_WRITE;
    uint32_t param = o->place == HG_PLACE_BUF_REG ? array_of(r, o->reg) : (uint32_t)HG_MAX_PARAMS;
    if (param == HG_MAX_PARAMS) return refuse(r->p, inst, "it is of no array that has a name");
    uint64_t bit = UINT64_C(1) << param;
    bool own = is_own(r, info->rule == HG_R_T2 ? in->type2 : in->type, o, param);
    if (stores && !own)
        return refuse(r->p, inst, "a lane may store an element that is not its own");
    if (r->part) check_place(r, o, param, info->rule == HG_R_T2 ? in->type2 : in->type);
    r->lanes->written |= stores ? bit : 0;
    r->lanes->read |= stores ? 0 : bit;
    r->lanes->others |= stores || own ? 0 : bit;
    return HG_OK;
}

/* Registers that only one lane after another, or a block, would have. */
static hg_status check_registers(reader *r, uint32_t inst) {
    hg_inst_accesses(r->p, inst, &r->what);
    for (uint32_t i = 0; i < r->what.reads; i++)
        if (!r->what.read[i].is_pred && r->what.read[i].reg >= HG_FIRST_SPECIAL &&
            r->what.read[i].reg != LANE)
            return refuse(r->p, inst, "it depends on how lanes are in blocks");
    for (uint32_t i = 0; i < r->what.writes; i++)
        if (!r->what.write[i].is_pred && r->what.write[i].reg >= HG_FIRST_SPECIAL)
            return refuse(r->p, inst, "it writes a register of the launch");
    return HG_OK;
}

static hg_status check_instruction(reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    HG_TRY(check_registers(r, inst));
    if (r->part) check_moved(r, inst);
    if (in->op == HG_OP_RDID)
        return hg_inst_operands(r->p, inst)[1].value == HG_ID_GLOBAL_LANE_ID
                   ? HG_OK
                   : refuse(r->p, inst, "it depends on how lanes are in blocks");
    if (in->op == HG_OP_CALL) return refuse(r->p, inst, "it calls a function");
    if (row->flags & HG_F_COLLECTIVE) return refuse(r->p, inst, "it is a whole-array instruction");
    if (row->flags & (HG_F_POOL | HG_F_BARRIER | HG_F_SHARED | HG_F_ATOMIC | HG_F_ATLAS |
                      HG_F_BLOCK | HG_F_STATE))
        return refuse(r->p, inst, "it touches what other lanes touch");
    if (in->op == HG_OP_AXIS_FIRST || in->op == HG_OP_AXIS)
        return HG_OK; /* of an array's extents */
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_ADDRESS) HG_TRY(read_access(r, inst, i));
    return HG_OK;
}

/* ---- one after another ---- */

/* Where an instruction is jumped to: the first jump from in front of it, the last from behind it.
 */
typedef struct jumps {
    uint32_t first, last;
} jumps;

/* some: the instructions from..end - 1 may have been left out in part, so that a register depends
 * on where the cut is if it does now, did before them, or is given such a value by one of them. */
static void forget_writes(reader *r, uint32_t from, uint32_t end, bool some) {
    uint64_t moved[HG_MAX_REGISTERS / 64] = {0};
    if (some && r->part && from < end) {
        memcpy(moved, r->steps[from].before, sizeof moved);
        for (uint32_t i = from; i < end; i++)
            if (r->steps[i].writes)
                moved[r->steps[i].reg / 64] |= UINT64_C(1) << r->steps[i].reg % 64;
    }
    for (uint32_t i = from; i < end; i++) {
        hg_inst_accesses(r->p, i, &r->what);
        for (uint32_t k = 0; k < r->what.writes; k++) {
            const uint8_t reg = r->what.write[k].reg;
            if (!r->what.write[k].is_pred)
                r->facts[reg] = (fact){
                    .kind = UNKNOWN,
                    .moved = some && r->part &&
                             (is_moved(r, reg) || (moved[reg / 64] >> reg % 64 & 1))};
        }
    }
}

/* Nothing is known of what a jump to here passes over, and of what a loop from here on writes. */
static void arrive(reader *r, uint32_t inst, const jumps *to) {
    if (to->first != NO_JUMP) forget_writes(r, to->first + 1, inst, true);
    if (to->last != NO_JUMP) forget_writes(r, inst, to->last + 1, true);
}

static void follow(reader *r, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)r->p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(r->p, inst);
    fact f = result_of(r, inst);
    bool first = row->operand_count && row->operands[0].kind == HG_K_REG;
    forget_writes(r, inst, inst + 1, false);
    if (first && (row->operands[0].access & HG_WRITE)) r->facts[o[0].reg] = f;
}

typedef void each_jump(void *user, uint32_t from, uint32_t to);
static void visit_jumps(const hg_program *p, each_jump *each, void *user) {
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)p->insts[i].op);
        for (uint32_t k = 0; k < row->operand_count; k++)
            if (row->operands[k].kind == HG_K_LABEL)
                each(user, i, (uint32_t)hg_inst_operands(p, i)[k].value);
    }
}

static void note_jump(void *user, uint32_t from, uint32_t to) {
    jumps *j = &((jumps *)user)[to];
    if (to <= from)
        j->last = from;
    else if (j->first == NO_JUMP)
        j->first = from;
}

typedef struct loops {
    const jumps *list;
    bool entered; /* in their middle, from outside */
} loops;

/* From behind its end too: of two loops that overlap neither sees all that its rounds write. */
static void find_entry(void *user, uint32_t from, uint32_t to) {
    loops *l = user;
    for (uint32_t t = 0; t < to; t++) {
        uint32_t last = l->list[t].last;
        l->entered |= last != NO_JUMP && to <= last && (from < t || from > last);
    }
}

/* NULL: no memory. */
static jumps *find_jumps(const hg_program *p) {
    jumps *list = hg_alloc(((size_t)p->inst_count + 1) * sizeof *list);
    for (uint32_t i = 0; list && i <= p->inst_count; i++) list[i] = (jumps){NO_JUMP, NO_JUMP};
    if (list) visit_jumps(p, note_jump, list);
    return list;
}

static hg_status check_params(reader *r) {
    const hg_program *p = r->p;
    if (p->entry || p->shared || p->grid_count || p->block[0] ||
        p->param_count > OPTIMIZE_LANES_PARAMS)
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "%.60s: it says how its lanes are in blocks, has shared memory, or more than "
            "%d parameters; its lanes cannot be shared",
            hg_program_name(p), OPTIMIZE_LANES_PARAMS);
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *a = &p->params[i];
        if (a->kind != HG_PARAM_SCALAR && a->kind != HG_PARAM_BUFFER && a->kind != HG_PARAM_DATA)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%.60s: %.60s is memory of all lanes together; its lanes cannot be "
                           "shared",
                           hg_program_name(p), a->name);
        bool extent = a->type == HG_TYPE_U64 || a->type == HG_TYPE_U32;
        if (a->reg >= HG_FIRST_SPECIAL)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%.60s: %.60s is in a register of the launch; its lanes cannot be "
                           "shared",
                           hg_program_name(p), a->name);
        if (a->kind == HG_PARAM_SCALAR && !extent) continue;
        r->facts[a->reg] = (fact){.kind = a->kind == HG_PARAM_SCALAR ? FACTOR : ARRAY,
                                  .by = {{true, i}}};
    }
    return HG_OK;
}

static hg_status read_all(reader *r, const jumps *list) {
    loops of = {.list = list};
    HG_TRY(check_params(r));
    visit_jumps(r->p, find_entry, &of);
    if (of.entered)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%.60s: it jumps into a loop; its lanes cannot be shared",
                       hg_program_name(r->p));
    for (uint32_t i = 0; i < r->p->inst_count; i++) {
        arrive(r, i, &list[i]);
        HG_TRY(check_instruction(r, i));
        follow(r, i);
    }
    uint64_t both = r->lanes->written & r->lanes->others;
    for (uint32_t i = 0; i < r->p->param_count; i++)
        if (both >> i & 1)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%.60s: lanes read elements of %.60s that other lanes write; its lanes "
                           "cannot be shared",
                           hg_program_name(r->p), r->p->params[i].name);
    return HG_OK;
}

/* ---- room for the first lane ---- */

static void use_registers(const hg_program *p, hg_accesses *what, bool used[HG_MAX_REGISTERS]) {
    for (uint32_t i = 0; i < p->param_count; i++) used[p->params[i].reg] = true;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        hg_inst_accesses(p, i, what);
        for (uint32_t k = 0; k < what->reads; k++)
            if (!what->read[k].is_pred) used[what->read[k].reg] = true;
        for (uint32_t k = 0; k < what->writes; k++)
            if (!what->write[k].is_pred) used[what->write[k].reg] = true;
    }
}

/* Two registers that nothing has, and a parameter's name. */
static hg_status find_room(const hg_program *p, uint8_t *first, uint8_t *lane) {
    bool used[HG_MAX_REGISTERS] = {false}, taken = p->param_count == HG_MAX_PARAMS;
    uint32_t found = 0;
    hg_accesses *what = hg_alloc(sizeof *what);
    if (!what) return hg_fail_memory();
    use_registers(p, what, used);
    hg_free(what);
    for (uint32_t i = 0; i < p->param_count; i++)
        taken = taken || strcmp(p->params[i].name, OPTIMIZE_FIRST_LANE) == 0;
    for (uint32_t i = 0; i < HG_FIRST_SPECIAL && found < 2; i++)
        if (!used[i]) *(found++ ? lane : first) = (uint8_t)i;
    if (found == 2 && !taken) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "%.60s: it leaves no register or parameter for the first lane; its lanes cannot "
                   "be shared",
                   hg_program_name(p));
}

hg_status optimize_find_lanes(const hg_program *p, optimize_lanes *lanes) {
    reader *r = hg_calloc(1, sizeof *r);
    jumps *list = find_jumps(p);
    uint8_t first, lane;
    *lanes = (optimize_lanes){0};
    hg_status status = r && list ? HG_OK : hg_fail_memory();
    if (status == HG_OK) {
        r->p = p;
        r->lanes = lanes;
        status = read_all(r, list);
        if (status == HG_OK) status = find_room(p, &first, &lane);
    }
    hg_free(list);
    hg_free(r);
    return status;
}

/* Again while something new is known of what is written behind jumps back. */
hg_status optimize_find_part(const hg_program *p, optimize_part *part, bool *apart) {
    reader *r = hg_calloc(1, sizeof *r);
    jumps *list = find_jumps(p);
    optimize_lanes lanes;
    struct part_step *steps = hg_calloc((size_t)p->inst_count + 1, sizeof *steps);
    hg_status status = r && list && steps ? HG_OK : hg_fail_memory();
    *apart = false;
    part->parts = 0;
    for (bool again = true; again && status == HG_OK; again = r->changed && r->apart) {
        lanes = (optimize_lanes){0};
        memset(r->facts, 0, sizeof r->facts);
        r->p = p;
        r->lanes = &lanes;
        r->part = part;
        r->apart = true;
        r->changed = false;
        r->steps = steps;
        hg_status can = read_all(r, list);
        if (can == HG_ERROR_OUT_OF_MEMORY) status = can;
        if (can != HG_OK) r->apart = false;
    }
    if (status == HG_OK) {
        check_extents(r);
        *apart = r->apart;
    }
    hg_free(steps);
    hg_free(list);
    hg_free(r);
    return status;
}

/* ---- from some lane on ---- */

/* Behind the others, so that extents name the same ones. */
static hg_status add_first(hg_program *p, uint8_t reg) {
    hg_param *params = hg_arena_alloc(&p->arena, (p->param_count + 1) * sizeof *params);
    char *name = hg_arena_text(&p->arena, OPTIMIZE_FIRST_LANE, strlen(OPTIMIZE_FIRST_LANE));
    if (!params || !name) return hg_fail_memory();
    if (p->param_count) memcpy(params, p->params, p->param_count * sizeof *params);
    params[p->param_count] = (hg_param){
        .reg = reg, .kind = HG_PARAM_SCALAR, .type = HG_TYPE_U64, .name = name};
    p->params = params;
    p->param_count++;
    return HG_OK;
}

/* Whatever reads the lane's number reads the sum. */
static hg_status rename_lane(optimize_edit *e, uint32_t inst, uint8_t lane) {
    const hg_op_info *row = hg_op_get((hg_op)e->program->insts[inst].op);
    hg_operand *o = optimize_operands(e, inst);
    if (e->program->insts[inst].op == HG_OP_RDID)
        return optimize_to_mov(e, inst, HG_TYPE_U64, o[0].reg, lane) ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < row->operand_count; i++) {
        bool is_register = o[i].kind == HG_K_REG || o[i].is_reg || o[i].kind == HG_K_ADDRESS;
        if (is_register && o[i].reg == LANE && o[i].kind != HG_K_PRED) o[i].reg = lane;
        if (o[i].has_index && o[i].index == LANE) o[i].index = lane;
    }
    return HG_OK;
}

static hg_status write_lanes(optimize_edit *e, uint8_t first, uint8_t lane) {
    const hg_operand sum[] = {optimize_reg(lane), optimize_reg(LANE), optimize_reg(first)};
    optimize_inst one = {.from = 0};
    if (!optimize_make(e, HG_OP_ADD, HG_TYPE_U64, sum, &one.inst)) return hg_fail_memory();
    optimize_inst *to = hg_vec_push(&e->written);
    if (!to) return hg_fail_memory();
    *to = one;
    e->rewritten = true;
    for (uint32_t i = 0; i < e->program->inst_count; i++) {
        HG_TRY(rename_lane(e, i, lane));
        to = hg_vec_push(&e->written);
        if (!to) return hg_fail_memory();
        *to = (optimize_inst){e->program->insts[i], i};
    }
    return add_first(e->program, first);
}

static hg_status write_strict(const hg_program *p, bool from, uint8_t first, uint8_t lane,
                              hg_program **made) {
    hg_cfg *cfg = NULL;
    optimize_edit e;
    *made = NULL;
    HG_TRY(hg_verify(p, NULL, NULL, &cfg));
    hg_status status = optimize_open(p, cfg, &e);
    if (status == HG_OK) {
        e.program->flags &= ~(uint32_t)OPTIMIZE_RELAXED;
        if (from) status = write_lanes(&e, first, lane);
        if (status == HG_OK) status = optimize_finish(&e, p, made);
        optimize_close(&e);
    }
    hg_cfg_destroy(cfg);
    return status;
}

hg_status optimize_lanes_from(const hg_program *p, hg_program **made) {
    uint8_t first = 0, lane = 0;
    *made = NULL;
    HG_TRY(find_room(p, &first, &lane));
    return write_strict(p, true, first, lane, made);
}

hg_status optimize_lanes_strict(const hg_program *p, hg_program **made) {
    return write_strict(p, false, 0, 0, made);
}
