/* Statements with blocks: `if`, `while`, `for`, `loop`, and the jumps out of them. Each is written
 * as labels and branches when its beginning, its branches and its end are met.
 * Must not know: syntax. */
#include "isa/tree/tree.h"

static uint32_t next_inst(const hg_assembler *a) { return (uint32_t)a->code.insts.count; }

/* The next instruction is one that jumps lead back to. */
static uint32_t come_back_here(hg_assembler *a) {
    a->code.bound = next_inst(a);
    return next_inst(a);
}

/* A jump that the statement itself needs; none where nothing gets there. */
static bool jump_on_if_reached(hg_assembler *a, const hg_token *at, hg_jumps *jumps) {
    return !hg_tree_is_reached(a) || hg_tree_jump_on(a, at, HG_NO_PREDICATE, jumps);
}

/* The instructions from `first` on decide for the statement. */
static bool name_them(hg_assembler *a, uint32_t first, const char *word) {
    hg_inst_word *kept = hg_vec_push(&a->kept.words);
    if (!kept) return hg_asm_no_memory(a);
    *kept = (hg_inst_word){first, next_inst(a), word};
    return true;
}

static hg_brace *open_brace(hg_assembler *a, const hg_token *at, hg_brace_kind kind) {
    if (a->source.braces.count == HG_MAX_BLOCK_NESTING && !a->source.any_nesting) {
        hg_asm_error(a, "S05", at, NULL, "blocks nested deeper than %d", HG_MAX_BLOCK_NESTING);
        a->wrong.stop = true;
        return NULL;
    }
    uint32_t outer = hg_asm_scope_of(a, at), scope = hg_asm_open_scope(a, outer);
    hg_brace *brace = scope == HG_UNDEFINED ? NULL : hg_vec_push(&a->source.braces);
    if (!brace) {
        hg_asm_no_memory(a);
        return NULL;
    }
    *brace = (hg_brace){.token = *at,
                        .kind = (uint8_t)kind,
                        .scope = outer,
                        .top = next_inst(a),
                        .labels = a->code.defined_labels};
    a->source.expansions.data[at->expansion].scope = scope;
    return brace;
}

bool hg_tree_open_bad(hg_assembler *a, const hg_token *at) {
    return open_brace(a, at, HG_BRACE_BAD) != NULL;
}

/* ---- conditions ---- */

/* Over what is to run only where the condition holds; *never: it never does, and what follows is
 * no mistake. */
static bool jump_over(hg_assembler *a, uint32_t condition, hg_jumps *jumps, bool *never) {
    hg_tree_node *n = hg_tree_at(a, condition);
    hg_constant c;
    bool holds = true;
    *never = false;
    if (n->kind == HG_TREE_LITERAL && n->is.truth && hg_tree_known(a, condition, &c)) {
        n->is.operand = true;
        if (!hg_asm_truth(a, &c, &holds)) return false;
        *never = !holds;
        return holds || hg_tree_jump_on(a, &n->token, HG_NO_PREDICATE, jumps);
    }
    return hg_tree_fit(a, condition, HG_TREE_PREDICATE, "a condition") &&
           hg_tree_jump_unless(a, condition, jumps);
}

/* What stands from brace->top on never runs, and is not called unreachable. */
static bool end_never(hg_assembler *a, hg_brace *brace) {
    if (!brace->never) return true;
    brace->never = false;
    hg_inst_range *skipped = hg_vec_push(&a->kept.skipped);
    if (!skipped) return hg_asm_no_memory(a);
    *skipped = (hg_inst_range){brace->top, next_inst(a)};
    return true;
}

static bool condition_of(hg_assembler *a, hg_brace *brace, uint32_t condition, hg_jumps *jumps) {
    uint32_t first = next_inst(a);
    if (!jump_over(a, condition, jumps, &brace->never)) return false;
    if (!name_them(a, first, brace->kind == HG_BRACE_WHILE ? "'while'" : "'if'")) return false;
    brace->top = brace->never ? next_inst(a) : brace->top;
    brace->body = next_inst(a);
    return true;
}

bool hg_tree_open_if(hg_assembler *a, const hg_token *at, uint32_t condition) {
    hg_brace *brace = open_brace(a, at, HG_BRACE_IF);
    return brace && condition_of(a, brace, condition, &brace->next);
}

/* The branch before it is over: its scope, its jump behind the statement. */
static bool next_branch(hg_assembler *a, hg_brace *brace, const hg_token *at) {
    brace->settled |= !brace->next.last && !brace->never; /* the condition always holds */
    uint32_t scope = hg_asm_open_scope(a, brace->scope);
    if (scope == HG_UNDEFINED) return false;
    hg_asm_set_scope(a, scope);
    if (!jump_on_if_reached(a, at, &brace->behind) || !end_never(a, brace)) return false;
    hg_tree_bind(a, &brace->next);
    brace->never = brace->settled;
    brace->top = next_inst(a);
    return true;
}

bool hg_tree_else(hg_assembler *a, hg_brace *brace, const hg_token *at) {
    brace->kind = HG_BRACE_ELSE;
    return next_branch(a, brace, at);
}

bool hg_tree_else_if(hg_assembler *a, hg_brace *brace, const hg_token *at) {
    return next_branch(a, brace, at);
}

bool hg_tree_else_condition(hg_assembler *a, hg_brace *brace, uint32_t condition) {
    if (!condition_of(a, brace, condition, &brace->next)) return false;
    brace->never |= brace->settled;
    return true;
}

bool hg_tree_open_while(hg_assembler *a, const hg_token *at, uint32_t condition) {
    uint32_t top = come_back_here(a);
    hg_brace *brace = open_brace(a, at, HG_BRACE_WHILE);
    if (!brace || !condition_of(a, brace, condition, &brace->behind)) return false;
    if (!brace->never) brace->top = top;
    return true;
}

bool hg_tree_open_loop(hg_assembler *a, const hg_token *at) {
    come_back_here(a);
    return open_brace(a, at, HG_BRACE_LOOP) != NULL;
}

/* ---- for ---- */

static bool emit_number(hg_assembler *a, const hg_token *at, uint8_t type, uint64_t value,
                        hg_register *d) {
    return hg_asm_temporary(a, type, false, d) &&
           hg_asm_emit_number(a, at, *d, type, value, at, at);
}

static bool emit_convert(hg_assembler *a, const hg_token *at, uint8_t to, uint8_t from,
                         hg_register s, hg_register *d) {
    if (to == from) {
        *d = s;
        return true;
    }
    return hg_asm_temporary(a, to, false, d) && hg_asm_emit(a, HG_OP_CVT, to, from, at) &&
           hg_asm_emit_register(a, *d, false, HG_WRITE, at) &&
           hg_asm_emit_register(a, s, false, HG_READ, at);
}

static hg_type other_sign(hg_type type, bool is_signed) {
    if (hg_type_is_signed(type) == is_signed) return type;
    return (hg_type)(is_signed ? type - (HG_TYPE_U8 - HG_TYPE_I8)
                               : type + (HG_TYPE_U8 - HG_TYPE_I8));
}

/* What a loop is made of, once its bounds are in registers. */
typedef struct counted {
    const hg_token *at;
    uint8_t type, bits; /* of the variable; the unsigned type of its width */
    uint8_t counter;    /* u32 or u64 */
    hg_register from, to, step;
    bool known;   /* the step, which is `size` steps up or down */
    bool upwards; /* the step is not known, but of an unsigned type */
    bool down, reversed;
    uint64_t size;
} counted;

/* |to - from| as bit patterns, and whether there is a round at all. */
static bool emit_distance(hg_assembler *a, const counted *c, bool down, hg_register *distance,
                          hg_register *none) {
    hg_register low = down ? c->to : c->from, high = down ? c->from : c->to;
    hg_register signed_distance;
    return hg_tree_compare(a, c->at, HG_COND_GE, c->type, low, high, none) &&
           hg_asm_temporary(a, c->type, false, &signed_distance) &&
           hg_asm_emit_binary(a, c->at, HG_OP_SUB, c->type, signed_distance, high, low) &&
           emit_convert(a, c->at, c->bits, c->type, signed_distance, distance);
}

/* rounds - 1 = (distance - 1) / size; of no use where there is no round. */
static bool emit_rounds(hg_assembler *a, const counted *c, hg_register distance, hg_register size,
                        bool divide, hg_register *rounds) {
    hg_register one, less, quotient;
    if (!emit_number(a, c->at, c->bits, 1, &one) || !hg_asm_temporary(a, c->bits, false, &less) ||
        !hg_asm_emit_binary(a, c->at, HG_OP_SUB, c->bits, less, distance, one))
        return false;
    quotient = less;
    if (divide && (!hg_asm_temporary(a, c->bits, false, &quotient) ||
                   !hg_asm_emit_binary(a, c->at, HG_OP_DIV, c->bits, quotient, less, size)))
        return false;
    return emit_convert(a, c->at, c->counter, c->bits, quotient, rounds);
}

/* A step that is known only when it runs: both ways are worked out, its sign says which. */
static bool emit_unknown(hg_assembler *a, counted *c, hg_register *rounds, hg_register *none) {
    hg_register zero, negative, up, down, up_none, down_none, distance, size, minus, magnitude;
    uint8_t sign = (uint8_t)other_sign((hg_type)c->type, true);
    hg_register step = c->step;
    bool good = emit_number(a, c->at, sign, 0, &zero) &&
                hg_tree_compare(a, c->at, HG_COND_LT, sign, step, zero, &negative) &&
                hg_asm_temporary(a, sign, false, &minus) &&
                hg_asm_emit_binary(a, c->at, HG_OP_SUB, sign, minus, zero, step) &&
                hg_asm_temporary(a, sign, false, &magnitude) &&
                hg_asm_emit(a, HG_OP_SEL, sign, HG_TYPE_NOT_USED, c->at) &&
                hg_asm_emit_register(a, magnitude, false, HG_WRITE, c->at) &&
                hg_asm_emit_register(a, negative, true, HG_READ, c->at) &&
                hg_asm_emit_register(a, minus, false, HG_READ, c->at) &&
                hg_asm_emit_register(a, step, false, HG_READ, c->at) &&
                emit_convert(a, c->at, c->bits, sign, magnitude, &size) &&
                emit_convert(a, c->at, c->type, sign, step, &c->step) &&
                emit_distance(a, c, false, &up, &up_none) &&
                emit_distance(a, c, true, &down, &down_none) &&
                hg_asm_temporary(a, c->bits, false, &distance) &&
                hg_asm_emit(a, HG_OP_SEL, c->bits, HG_TYPE_NOT_USED, c->at) &&
                hg_asm_emit_register(a, distance, false, HG_WRITE, c->at) &&
                hg_asm_emit_register(a, negative, true, HG_READ, c->at) &&
                hg_asm_emit_register(a, down, false, HG_READ, c->at) &&
                hg_asm_emit_register(a, up, false, HG_READ, c->at) &&
                emit_rounds(a, c, distance, size, true, rounds) &&
                hg_asm_temporary(a, HG_TYPE_OMITTED, true, none) &&
                hg_asm_emit(a, HG_OP_SEL_P, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, c->at) &&
                hg_asm_emit_register(a, *none, true, HG_WRITE, c->at) &&
                hg_asm_emit_register(a, negative, true, HG_READ, c->at) &&
                hg_asm_emit_register(a, down_none, true, HG_READ, c->at) &&
                hg_asm_emit_register(a, up_none, true, HG_READ, c->at);
    return good;
}

/* One that goes up: its size is itself. */
static bool emit_upwards(hg_assembler *a, counted *c, hg_register *rounds, hg_register *none) {
    hg_register distance, size = c->step;
    return emit_distance(a, c, false, &distance, none) &&
           emit_rounds(a, c, distance, size, true, rounds) &&
           emit_convert(a, c->at, c->type, c->bits, size, &c->step);
}

static bool emit_known(hg_assembler *a, counted *c, hg_register *rounds, hg_register *none) {
    hg_register distance, size = HG_NO_REGISTER;
    bool divide = c->size != 1;
    if (!emit_distance(a, c, c->down, &distance, none)) return false;
    if (divide && !emit_number(a, c->at, c->bits, c->size, &size)) return false;
    return emit_rounds(a, c, distance, size, divide, rounds);
}

/* The last value of the variable: from + (rounds - 1) steps. */
static bool emit_last(hg_assembler *a, const counted *c, hg_register rounds, hg_register d) {
    hg_register count, way;
    return emit_convert(a, c->at, c->type, c->counter, rounds, &count) &&
           hg_asm_temporary(a, c->type, false, &way) &&
           hg_asm_emit_binary(a, c->at, HG_OP_MUL, c->type, way, count, c->step) &&
           hg_asm_emit_binary(a, c->at, c->down ? HG_OP_SUB : HG_OP_ADD, c->type, d, c->from, way);
}

/* The variable's next value. */
static bool emit_next(hg_assembler *a, const hg_brace *brace) {
    return hg_asm_emit_binary(a, &brace->token, brace->down ? HG_OP_SUB : HG_OP_ADD,
                              brace->variable.type, brace->variable, brace->variable, brace->step);
}

/* By one: the variable goes from one bound up or down to the other, with which it is compared, so
 * that it ends before it wraps and ranges are known. */
static bool open_by_one(hg_assembler *a, const counted *c, uint32_t from, uint32_t to) {
    hg_register variable, bound, none;
    bool down = c->down != c->reversed;
    if (!hg_asm_temporary(a, c->type, false, &variable) ||
        !hg_asm_temporary(a, c->type, false, &bound) ||
        !hg_tree_lower(a, from, c->reversed ? &bound : &variable, true) ||
        !hg_tree_lower(a, to, c->reversed ? &variable : &bound, true))
        return false;
    hg_brace *brace = open_brace(a, c->at, HG_BRACE_FOR);
    if (!brace) return false;
    brace->by_one = true;
    brace->reversed = c->reversed;
    brace->down = down;
    brace->variable = variable;
    brace->bound = bound;
    if (!hg_tree_compare(a, c->at, down ? HG_COND_LE : HG_COND_GE, c->type, variable, bound,
                         &none) ||
        !hg_tree_jump_on(a, c->at, none, &brace->behind) ||
        !name_them(a, next_inst(a) - 1, "'for'") ||
        !emit_number(a, c->at, c->type, 1, &brace->step))
        return false;
    brace->top = come_back_here(a);
    return !c->reversed || emit_next(a, brace);
}

static bool emit_for(hg_assembler *a, hg_brace *brace, counted *c) {
    hg_register none;
    if (!(c->known     ? emit_known(a, c, &brace->rounds, &none)
          : c->upwards ? emit_upwards(a, c, &brace->rounds, &none)
                       : emit_unknown(a, c, &brace->rounds, &none)) ||
        !hg_tree_jump_on(a, c->at, none, &brace->behind) ||
        !name_them(a, next_inst(a) - 1, "'for'"))
        return false;
    if (c->known && !emit_number(a, c->at, c->type, c->size, &c->step)) return false;
    brace->step = c->step;
    brace->down = c->down != c->reversed;
    bool begun = c->reversed ? emit_last(a, c, brace->rounds, brace->variable)
                             : hg_tree_copy(a, c->at, c->type, brace->variable, c->from);
    brace->top = come_back_here(a);
    return begun;
}

/* The step as a number: its size in the type's bits, and its direction. */
static bool read_step(hg_assembler *a, uint32_t step, counted *c) {
    hg_constant value = {0};
    hg_i128 number = 1;
    c->known = true;
    if (step != HG_TREE_BAD && hg_tree_type(a, step) == c->bits) {
        c->known = false;
        c->upwards = true;
        return true;
    }
    if (step != HG_TREE_BAD &&
        !(hg_tree_at(a, step)->type == HG_TYPE_OMITTED && hg_tree_known(a, step, &value))) {
        c->known = false;
        return hg_tree_fit(a, step, (uint8_t)other_sign((hg_type)c->type, true),
                           "the step, which is signed,");
    }
    if (step != HG_TREE_BAD) {
        hg_tree_at(a, step)->is.operand = true;
        if (!hg_asm_constant_integer(a, &value, &number)) return false;
    }
    c->down = number < 0;
    hg_i128 size = number < 0 ? -number : number,
            most = ((hg_i128)1 << (hg_type_size_bytes((hg_type)c->type) * 8 - 1)) - !c->down;
    c->size = (uint64_t)size;
    if (number && size <= most) return true;
    hg_asm_error(a, "S04", &value.token, NULL,
                 number ? "the step does not fit into the signed type of the bounds' width"
                        : "the step of 'for' is not 0");
    return false;
}

static bool lower_bounds(hg_assembler *a, counted *c, uint32_t from, uint32_t to, uint32_t step) {
    if (!hg_tree_lower(a, from, NULL, false) || !hg_tree_lower(a, to, NULL, false)) return false;
    c->from = hg_tree_at(a, from)->reg;
    c->to = hg_tree_at(a, to)->reg;
    if (c->known) return true;
    if (!hg_tree_lower(a, step, NULL, false)) return false;
    c->step = hg_tree_at(a, step)->reg;
    /* The text may write the variable that the step is read from. */
    if (hg_tree_at(a, step)->kind != HG_TREE_REGISTER) return true;
    hg_register own;
    uint8_t type = hg_tree_type(a, step);
    if (!hg_asm_temporary(a, type, false, &own) || !hg_tree_copy(a, c->at, type, own, c->step))
        return false;
    c->step = own;
    return true;
}

bool hg_tree_open_for(hg_assembler *a, const hg_token *at, uint32_t from, uint32_t to,
                      uint32_t step, bool reversed, uint8_t *type) {
    uint32_t bounds[2] = {from, to};
    const hg_token name = {.kind = HG_TOKEN_NAME,
                           .text = "..",
                           .length = 2,
                           .line = at->line,
                           .column = at->column,
                           .expansion = at->expansion};
    counted c = {.at = at, .reversed = reversed};
    if (!hg_tree_join(a, &name, bounds, 2, type)) return false;
    if (*type == HG_TYPE_OMITTED) {
        if (!hg_tree_settle(a, from) || !hg_tree_settle(a, to)) return false;
        /* of i32 and i64 the wider one */
        if (hg_tree_type(a, from) != hg_tree_type(a, to))
            hg_tree_at(a, from)->type = hg_tree_at(a, to)->type = HG_TYPE_I64;
        *type = hg_tree_type(a, from);
    }
    if (*type >= HG_TYPE_COUNT || hg_type_is_float((hg_type)*type) ||
        hg_type_size_bytes((hg_type)*type) > 8) {
        hg_asm_error(a, "V03", &hg_tree_at(a, from)->token, NULL,
                     "type mismatch: the bounds of 'for' are integers of at most 64 bits, not %s",
                     hg_tree_type_name(*type));
        return false;
    }
    c.type = *type;
    c.bits = (uint8_t)other_sign((hg_type)*type, false);
    c.counter = hg_type_size_bytes((hg_type)*type) == 8 ? HG_TYPE_U64 : HG_TYPE_U32;
    if (!read_step(a, step, &c)) return false;
    if (c.known && c.size == 1) return open_by_one(a, &c, from, to);
    if (!lower_bounds(a, &c, from, to, step)) return false;
    hg_brace *brace = open_brace(a, at, HG_BRACE_FOR);
    return brace && hg_asm_temporary(a, c.type, false, &brace->variable) && emit_for(a, brace, &c);
}

/* Back where there is a round more: by a number of them, or by comparing. */
static bool emit_again(hg_assembler *a, const hg_brace *brace) {
    const hg_token *at = &brace->token;
    uint8_t type = brace->variable.type;
    bool wide = hg_type_size_bytes((hg_type)type) == 8;
    hg_register more;
    if (brace->by_one)
        return hg_tree_compare(a, at, brace->down ? HG_COND_GT : HG_COND_LT, type, brace->variable,
                               brace->bound, &more) &&
               hg_tree_jump(a, at, more, brace->top);
    return hg_asm_emit(a, wide ? HG_OP_LOOP64 : HG_OP_LOOP, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED,
                       at) &&
           hg_asm_emit_register(a, brace->rounds, false, HG_READ | HG_WRITE, at) &&
           hg_asm_emit_target(a, brace->top, at, NULL);
}

/* The end of a round. Backwards by one the next value comes at its beginning. */
static bool close_for(hg_assembler *a, hg_brace *brace) {
    hg_tree_bind(a, &brace->next);
    if (!hg_tree_is_reached(a)) return true;
    bool next_first = brace->by_one && brace->reversed;
    return (next_first || emit_next(a, brace)) && emit_again(a, brace) &&
           name_them(a, next_inst(a) - 1, "'for'");
}

/* ---- fewer jumps ---- */

/* What stands from the instruction on is forgotten: jumps, which nothing leads to. */
static void forget_from(hg_assembler *a, uint32_t inst) {
    if (inst >= a->code.insts.count) return;
    const hg_inst *first = &a->code.insts.data[inst];
    a->code.operands.count = a->code.spans.count = first->operands;
    a->code.insts.count = a->code.lines.count = a->code.columns.count = inst;
    a->code.lengths.count = inst;
    if (a->kept.places.count > inst) a->kept.places.count = inst;
    if (a->code.bound > inst) a->code.bound = inst;
    for (uint64_t i = a->kept.words.count; i-- > 0 && a->kept.words.data[i].end > inst;)
        a->kept.words.data[i].end = inst;
}

/* Operands of a bra are its predicate and its target. */
static hg_operand *target_of(const hg_assembler *a, uint32_t inst) {
    return &a->code.operands.data[a->code.insts.data[inst].operands + 1];
}

/* The comparison at the instruction becomes the opposite one. */
static void turn(hg_assembler *a, uint32_t inst) {
    hg_operand *c = &a->code.operands.data[a->code.insts.data[inst].operands];
    c->value = hg_condition_opposite((hg_condition)c->value);
}

static uint64_t link_to(const hg_assembler *a, uint32_t inst) {
    return a->code.insts.data[inst].operands + UINT64_C(2);
}

/* `if a < b { break }`: one branch that jumps where the condition holds, in place of one over the
 * jump. With `!p` as its condition it stays two instructions. */
static void end_in_one_jump(hg_assembler *a, hg_brace *brace) {
    const hg_last_jump condition = a->code.condition, leave = a->code.leave;
    uint32_t jump = brace->body;
    bool only = brace->kind == HG_BRACE_IF && !brace->never && jump && condition.end == jump &&
                leave.end == jump + 1 && leave.end == next_inst(a) && !brace->behind.last &&
                a->code.defined_labels == brace->labels;
    if (!only) return;
    bool turned = condition.form == HG_JUMP_TURNED;
    a->code.ended = leave;
    if (condition.form == HG_JUMP_OVER) return;
    uint32_t branch = turned ? jump - 1 : jump - 2;
    hg_brace *loop = &a->source.braces.data[leave.loop];
    if (turned) turn(a, branch - 1);
    target_of(a, branch)->value = target_of(a, jump)->value;
    if (leave.form == HG_JUMP_BEHIND) loop->behind.last = link_to(a, branch);
    if (leave.form == HG_JUMP_NEXT) loop->next.last = link_to(a, branch);
    brace->next.last = 0;
    forget_from(a, branch + 1);
    a->code.ended.turned = turned;
    a->code.ended.end = turned ? branch + 1 : 0;
}

/* A loop that ends with `if a < b { break }` or `if !p { break }` goes back by one branch, where it
 * does not break. The brace is no more among the open ones. */
static bool go_back_at_once(hg_assembler *a, hg_brace *brace, const hg_last_jump *ended) {
    bool last = ended->end && ended->end == next_inst(a) && ended->form == HG_JUMP_BEHIND &&
                ended->loop == a->source.braces.count && a->code.defined_labels == ended->labels;
    if (!last) return false;
    uint32_t branch = ended->turned ? ended->end - 1 : ended->end - 2;
    brace->behind.last = target_of(a, ended->end - 1)->value;
    if (ended->turned) turn(a, branch - 1);
    target_of(a, branch)->value = brace->top;
    forget_from(a, branch + 1);
    return true;
}

/* ---- ends ---- */

bool hg_tree_close(hg_assembler *a, const hg_token *at) {
    hg_brace brace = a->source.braces.data[--a->source.braces.count];
    const hg_last_jump ended = a->code.ended;
    bool good = true;
    a->source.expansions.data[brace.token.expansion].scope = brace.scope;
    a->code.ended.end = 0;
    switch ((hg_brace_kind)brace.kind) {
    case HG_BRACE_WHILE:
    case HG_BRACE_LOOP:
        good = brace.never || !hg_tree_is_reached(a) || go_back_at_once(a, &brace, &ended) ||
               hg_tree_jump(a, at, HG_NO_PREDICATE, brace.top);
        break;
    case HG_BRACE_FOR: good = close_for(a, &brace); break;
    default: end_in_one_jump(a, &brace); break;
    }
    good = good && end_never(a, &brace);
    hg_tree_bind(a, &brace.next);
    hg_tree_bind(a, &brace.behind);
    return good;
}

static bool is_loop(const hg_brace *brace) {
    return brace->kind == HG_BRACE_WHILE || brace->kind == HG_BRACE_LOOP ||
           brace->kind == HG_BRACE_FOR;
}

bool hg_tree_leave(hg_assembler *a, const hg_token *at, bool again) {
    uint64_t i = a->source.braces.count;
    bool unsure = false;
    while (i > 0 && !is_loop(&a->source.braces.data[i - 1]))
        unsure |= a->source.braces.data[--i].kind == HG_BRACE_BAD;
    if (!i) {
        if (!unsure)
            hg_asm_error(a, "S02", at, "it belongs to while, for or loop { … }",
                         "'%.*s' outside a loop", (int)at->length, at->text);
        return unsure;
    }
    hg_brace *brace = &a->source.braces.data[i - 1];
    hg_jump_form form = !again                        ? HG_JUMP_BEHIND
                        : brace->kind == HG_BRACE_FOR ? HG_JUMP_NEXT
                                                      : HG_JUMP_AGAIN;
    bool good = form == HG_JUMP_AGAIN
                    ? hg_tree_jump(a, at, HG_NO_PREDICATE, brace->top)
                    : hg_tree_jump_on(a, at, HG_NO_PREDICATE,
                                      form == HG_JUMP_NEXT ? &brace->next : &brace->behind);
    a->code.leave = (hg_last_jump){.end = next_inst(a),
                                   .form = (uint8_t)form,
                                   .loop = (uint32_t)i - 1,
                                   .labels = a->code.defined_labels};
    return good;
}
