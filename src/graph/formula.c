/* Programs that are formulas: each lane makes its own element of one array, of its own elements of
 * others and of whatever else it reads. Such a program can be a part of a longer one.
 * Must not know: graphs, which programs there are. */
#include "graph/formula.h"
#include "isa/verify_internal.h"
#include <string.h>

enum { LANE = HG_MAX_REGISTERS - 1 }; /* the register that has the lane's number */

typedef struct reader {
    const hg_program *p;
    graph_formula *f;
    uint32_t others;                 /* parameters that are read elsewhere too */
    uint32_t reach;                  /* behind all that branches jump over */
    bool lane[HG_MAX_REGISTERS];     /* it has the lane's number */
    uint8_t param[HG_MAX_REGISTERS]; /* it has that parameter's value, + 1; 0: of none */
    bool by_calls[HG_MAX_REGISTERS]; /* functions write it */
    bool of_calls[HG_MAX_REGISTERS]; /* functions read it */
    bool stored;
} reader;

static bool begins(const hg_program *p) {
    bool plain = p->entry == 0 && !p->flags && !p->shared && !p->private_bytes && !p->grid_count &&
                 p->lanes_count && !p->block[0] && p->param_count <= GRAPH_FORMULA_PARAMS;
    for (uint32_t i = 0; i < p->param_count && plain; i++)
        plain = p->params[i].kind == HG_PARAM_SCALAR ||
                (p->params[i].kind == HG_PARAM_BUFFER && p->params[i].dir != HG_DIR_INOUT);
    return plain;
}

static bool is_plain(uint8_t kind, const hg_operand *o) {
    switch ((hg_operand_kind)kind) {
    case HG_K_REG:
    case HG_K_PRED:
    case HG_K_LABEL:
    case HG_K_LITERAL:
    case HG_K_COND:
    case HG_K_U8: return true;
    case HG_K_IDNAME: return o->value == HG_ID_GLOBAL_LANE_ID;
    case HG_K_COUNT: return hg_operand_is_missing(o);
    default: return o->place == HG_PLACE_BUF_REG;
    }
}

/* Only operands that a builder can be given again, and no ids but the lane's number. */
static bool has_plain_operands(reader *r, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)r->p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(r->p, inst);
    hg_accesses what;
    hg_inst_accesses(r->p, inst, &what);
    for (uint32_t i = 0; i < what.reads + what.writes; i++) {
        const hg_access *a = i < what.reads ? &what.read[i] : &what.write[i - what.reads];
        if (a->is_pred) continue;
        if (a->reg >= HG_FIRST_SPECIAL) {
            if (a->reg != LANE || i >= what.reads) return false;
        } else if (a->reg >= r->f->registers) {
            r->f->registers = (uint8_t)(a->reg + 1);
        }
    }
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (!is_plain(row->operands[i].kind, &o[i])) return false;
    return true;
}

static bool is_pure(const hg_program *p, uint32_t inst) {
    const hg_inst *in = &p->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    bool divides = (in->op == HG_OP_DIV || in->op == HG_OP_REM) &&
                   hg_type_is_float((hg_type)in->type);
    if (row->flags & (HG_F_COLLECTIVE | HG_F_POOL | HG_F_BARRIER | HG_F_SHARED | HG_F_STATE |
                      HG_F_RUN | HG_F_ATOMIC | HG_F_ATLAS | HG_F_BLOCK | HG_F_PRIVATE))
        return false;
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY)
            return false;
    return !(row->flags & HG_F_MAY_FAULT) || divides;
}

/* ---- functions, which stand behind the lane's own code ---- */

static bool read_function(reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    const hg_operand *o = hg_inst_operands(r->p, inst);
    hg_accesses what;
    if (in->op == HG_OP_EXIT || in->op == HG_OP_RDID || !has_plain_operands(r, inst) ||
        !is_pure(r->p, inst))
        return false;
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_LABEL &&
            (o[i].value <= r->f->end || o[i].value >= r->p->inst_count))
            return false;
    hg_inst_accesses(r->p, inst, &what);
    for (uint32_t i = 0; i < what.writes; i++)
        if (!what.write[i].is_pred) r->by_calls[what.write[i].reg] = true;
    for (uint32_t i = 0; i < what.reads; i++)
        if (!what.read[i].is_pred) r->of_calls[what.read[i].reg] = true;
    return true;
}

/* ---- the lane's own code ---- */

static bool is_lane(const reader *r, uint8_t reg) { return reg == LANE || r->lane[reg]; }

/* The array that the register is the handle of; GRAPH_FORMULA_PARAMS: of none. */
static uint32_t param_of(const reader *r, uint8_t reg) {
    uint32_t param = r->param[reg];
    return param && r->p->params[param - 1].kind == HG_PARAM_BUFFER
               ? param - 1
               : (uint32_t)GRAPH_FORMULA_PARAMS;
}

/* [array + lane*size], of whole elements. */
static bool is_own(const reader *r, const hg_inst *in, const hg_operand *o, uint32_t param) {
    uint64_t size = hg_type_size_bytes((hg_type)in->type);
    return r->p->params[param].type == in->type && o->has_index && is_lane(r, o->index) &&
           (o->scale ? o->scale : 1u) == size && !o->disp;
}

static bool read_load(reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_operand *o = hg_inst_operands(r->p, inst);
    uint32_t param = param_of(r, o[1].reg);
    if (param == GRAPH_FORMULA_PARAMS || r->p->params[param].dir != HG_DIR_IN) return false;
    if (is_own(r, in, &o[1], param)) {
        r->f->loads |= UINT32_C(1) << param;
        r->f->does[inst] = (uint8_t)(GRAPH_FORMULA_LOADS + param);
    } else {
        r->others |= UINT32_C(1) << param;
    }
    return true;
}

/* Once, where no lane goes round it. */
static bool read_store(reader *r, uint32_t inst) {
    const hg_operand *o = hg_inst_operands(r->p, inst);
    uint32_t param = param_of(r, o[0].reg);
    bool is = param != GRAPH_FORMULA_PARAMS && r->p->params[param].dir == HG_DIR_OUT &&
              !r->stored && inst >= r->reach && is_own(r, &r->p->insts[inst], &o[0], param);
    r->stored = true;
    r->f->does[inst] = GRAPH_FORMULA_STORES;
    r->f->result = (uint8_t)param;
    return is;
}

/* The lane's number as an index of all elements. */
static bool read_axis(reader *r, uint32_t inst) {
    const hg_operand *o = hg_inst_operands(r->p, inst);
    uint32_t param = param_of(r, o[2].reg);
    if (param == GRAPH_FORMULA_PARAMS) return false;
    r->f->does[inst] = GRAPH_FORMULA_COUNTS;
    bool all = o[3].value == HG_ALL_AXES || r->p->params[param].rank == 1;
    return all && is_lane(r, o[1].reg) && r->p->insts[inst].type == HG_TYPE_U64;
}

/* Where there are lanes their extents are not 0. */
static bool divides_by_extent(const reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_operand *o = hg_inst_operands(r->p, inst);
    bool is = false;
    if ((in->op != HG_OP_DIV && in->op != HG_OP_REM) || in->type != HG_TYPE_U64) return false;
    for (uint32_t i = 0; i < r->p->lanes_count && r->param[o[2].reg]; i++)
        is |= r->p->lanes[i].kind == HG_EXTENT_PARAM &&
              r->p->lanes[i].param == r->param[o[2].reg] - 1u;
    return is;
}

/* The handle of an array as a number: as a part of a longer program there is none. */
static bool takes_handle(const reader *r, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)r->p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(r->p, inst);
    bool takes = false;
    for (uint32_t i = 0; i < row->operand_count; i++)
        takes |= row->operands[i].kind == HG_K_REG && (row->operands[i].access & HG_READ) &&
                 param_of(r, o[i].reg) != GRAPH_FORMULA_PARAMS;
    for (uint32_t i = 0; i < HG_MAX_REGISTERS && r->p->insts[inst].op == HG_OP_CALL; i++)
        takes |= r->of_calls[i] && !r->by_calls[i] &&
                 param_of(r, (uint8_t)i) != GRAPH_FORMULA_PARAMS;
    return takes;
}

/* What is written is another value from here on. */
static void note_writes(reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_operand *o = hg_inst_operands(r->p, inst);
    bool lane = inst >= r->reach &&
                ((in->op == HG_OP_RDID) || in->op == HG_OP_AXIS_FIRST ||
                 (in->op == HG_OP_MOV && in->type == HG_TYPE_U64 && is_lane(r, o[1].reg)));
    hg_accesses what;
    hg_inst_accesses(r->p, inst, &what);
    for (uint32_t i = 0; i < what.writes; i++) {
        if (what.write[i].is_pred) continue;
        r->lane[what.write[i].reg] = lane;
        r->param[what.write[i].reg] = 0;
    }
    for (uint32_t i = 0; i < HG_MAX_REGISTERS && in->op == HG_OP_CALL; i++) {
        if (!r->by_calls[i]) continue;
        r->lane[i] = false;
        r->param[i] = 0;
    }
}

static bool read_own(reader *r, uint32_t inst) {
    const hg_inst *in = &r->p->insts[inst];
    const hg_operand *o = hg_inst_operands(r->p, inst);
    bool is = has_plain_operands(r, inst) && !takes_handle(r, inst);
    if (!is) return false;
    switch (in->op) {
    case HG_OP_RDID: break;
    case HG_OP_LDG: is = read_load(r, inst); break;
    case HG_OP_STG: is = read_store(r, inst); break;
    case HG_OP_AXIS_FIRST: is = read_axis(r, inst); break;
    case HG_OP_BRA: /* forward */
        is = o[1].value > inst && o[1].value <= r->f->end;
        if (is && o[1].value > r->reach) r->reach = (uint32_t)o[1].value;
        break;
    case HG_OP_CALL: is = o[0].value > r->f->end && o[0].value < r->p->inst_count; break;
    default:
        is = (is_pure(r->p, inst) || divides_by_extent(r, inst)) &&
             !(hg_op_get((hg_op)in->op)->flags & HG_F_CONTROL);
    }
    note_writes(r, inst);
    return is;
}

bool graph_find_formula(const hg_program *p, graph_formula *f) {
    reader r = {.p = p, .f = f};
    memset(f, 0, sizeof *f);
    if (!begins(p)) return false;
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (p->params[i].reg >= HG_FIRST_SPECIAL) return false;
        if (p->params[i].reg >= f->registers) f->registers = (uint8_t)(p->params[i].reg + 1);
        r.param[p->params[i].reg] = (uint8_t)(i + 1);
    }
    while (f->end < p->inst_count && p->insts[f->end].op != HG_OP_EXIT) f->end++;
    if (f->end > GRAPH_FORMULA_CODE) return false;
    for (uint32_t i = f->end + 1; i < p->inst_count; i++)
        if (!read_function(&r, i)) return false;
    for (uint32_t i = 0; i < f->end; i++)
        if (!read_own(&r, i)) return false;
    f->loads &= ~r.others;
    return r.stored;
}

/* ---- as a part of a longer program ---- */

hg_status graph_formula_open(hg_builder *b, const hg_program *p, hg_label **labels) {
    hg_label *made = *labels = hg_alloc(((size_t)p->inst_count + 1) * sizeof *made);
    if (!made) return hg_fail_memory();
    for (uint32_t i = 0; i <= p->inst_count; i++) made[i].id = UINT32_MAX;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)p->insts[i].op);
        for (uint32_t k = 0; k < row->operand_count; k++) {
            uint64_t target = hg_inst_operands(p, i)[k].value;
            if (row->operands[k].kind == HG_K_LABEL && made[target].id == UINT32_MAX)
                made[target] = hg_builder_label(b);
        }
    }
    return HG_OK;
}

static uint8_t register_of(const graph_formula_part *to, uint8_t reg) {
    return reg == LANE ? to->lane : (uint8_t)(to->first + reg);
}

static hg_arg address(const graph_formula_part *to, const hg_operand *o) {
    hg_arg a = hg_addr_buffer_start(register_of(to, o->reg));
    if (o->has_index) a = hg_addr_index(a, register_of(to, o->index));
    if (o->has_index && o->scale > 1) a = hg_addr_scale(a, o->scale);
    return hg_addr_disp(a, o->disp);
}

static hg_arg argument(const graph_formula_part *to, uint8_t kind, const hg_operand *o) {
    switch ((hg_operand_kind)kind) {
    case HG_K_PRED: return o->reg == 255 ? hg_arg_make(HG_ARG_NO_PRED, 0, 0) : hg_arg_pred(o->reg);
    case HG_K_LABEL: return hg_arg_label(to->labels[o->value]);
    case HG_K_LITERAL: return hg_imm_bits(hg_literal(to->program, o));
    case HG_K_COND: return hg_arg_name(hg_condition_name((hg_condition)o->value));
    case HG_K_IDNAME: return hg_arg_name(hg_idname_name((hg_idname)o->value));
    case HG_K_ADDRESS: return address(to, o);
    default: return hg_arg_reg(register_of(to, o->reg));
    }
}

static void write_inst(hg_builder *b, const graph_formula_part *to, uint32_t inst) {
    const hg_inst *in = &to->program->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    const hg_operand *o = hg_inst_operands(to->program, inst);
    hg_arg args[HG_MAX_OPERANDS];
    for (uint32_t i = 0; i < row->operand_count; i++)
        args[i] = argument(to, row->operands[i].kind, &o[i]);
    hg_builder_add(b, row->opcode, row->type_count ? (hg_type)in->type : HG_TYPE_INFER,
                   row->type_count > 1 ? (hg_type)in->type2 : HG_TYPE_INFER, args,
                   row->operand_count);
}

static void place(hg_builder *b, const graph_formula_part *to, uint32_t inst) {
    if (to->labels[inst].id != UINT32_MAX) hg_builder_place(b, to->labels[inst]);
}

void graph_formula_write(hg_builder *b, const graph_formula_part *to) {
    const hg_program *p = to->program;
    const graph_formula *f = to->formula;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].kind == HG_PARAM_BUFFER && i != f->result && !(to->loads >> i & 1))
            hg_build_mov(b, HG_TYPE_U64, register_of(to, p->params[i].reg), to->of[i]);
    for (uint32_t i = 0; i < f->end; i++) {
        const hg_inst *in = &p->insts[i];
        const hg_operand *o = hg_inst_operands(p, i);
        uint32_t param = f->does[i] - GRAPH_FORMULA_LOADS; /* where it is a load */
        place(b, to, i);
        if (f->does[i] == GRAPH_FORMULA_STORES)
            hg_build_mov(b, (hg_type)in->type, to->of[f->result], register_of(to, o[1].reg));
        else if (f->does[i] == GRAPH_FORMULA_COUNTS)
            hg_build_mov(b, HG_TYPE_U64, register_of(to, o[0].reg), to->lane);
        else if (f->does[i] >= GRAPH_FORMULA_LOADS && (to->loads >> param & 1))
            hg_build_mov(b, (hg_type)in->type, register_of(to, o[0].reg), to->of[param]);
        else
            write_inst(b, to, i);
    }
    place(b, to, f->end);
}

void graph_formula_write_functions(hg_builder *b, const graph_formula_part *to) {
    for (uint32_t i = to->formula->end + 1; i < to->program->inst_count; i++) {
        place(b, to, i);
        write_inst(b, to, i);
    }
}
