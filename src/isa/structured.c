/* Control flow of statements: `if`, `else`, `while`, `loop`, `break`, `continue` from jumps that
 * are as the assembler writes them (tree/flow.c), in one pass over the instructions. A block is
 * opened where all jumps to the instructions in it come from within; every other jump stays one,
 * with a label.
 * Requires: facts. Must not know: expressions. */
#include "isa/structured.h"

#include <hologram/program.h>

#include <stdio.h>
#include <string.h>

/* ---- blocks ---- */

static hg_st_block *top(hg_st *s) {
    return s->blocks.count ? &s->blocks.data[s->blocks.count - 1] : NULL;
}

static uint32_t limit_of(hg_st *s) { return top(s) ? top(s)->limit : s->facts.count; }

static bool may_nest(const hg_st *s) { return s->blocks.count + 1 < HG_MAX_BLOCK_NESTING; }

static hg_st_block *innermost_loop(hg_st *s) {
    for (uint64_t i = s->blocks.count; i-- > 0;)
        if (s->blocks.data[i].kind >= HG_ST_LOOP) return &s->blocks.data[i];
    return NULL;
}

static void close_block(hg_st *s) {
    hg_st_flush(s);
    hg_st_open_blocks(s);
    s->blocks.count--;
    if (!s->out) return;
    hg_st_indent(s, (uint32_t)s->blocks.count);
    hg_text_addf(s->out, "}\n");
}

/* The end of a branch that another one follows, or of a loop, whose jump stands for the brace.
 * Returns the next instruction. */
static uint32_t take_jump(hg_st *s, uint32_t inst) {
    hg_st_block b = *top(s);
    if (b.kind == HG_ST_FOR) {
        close_block(s);
        return b.behind;
    }
    if (b.kind != HG_ST_IF) {
        if (hg_st_is_reached(&s->facts, inst)) {
            close_block(s);
            return inst + 1;
        }
        hg_st_flush(s);
        hg_st_line(s, "continue\n");
        close_block(s);
        return inst + 1;
    }
    hg_st_flush(s);
    hg_st_open_blocks(s);
    s->blocks.count--;
    hg_st_push(s,
               (hg_st_block){
                   .kind = HG_ST_ELSE, .close = b.behind, .limit = b.behind, .behind = b.behind});
    return inst + 1;
}

static void open_loop(hg_st *s, uint32_t inst) {
    const hg_st_facts *f = &s->facts;
    const hg_st_target *t = &f->target.all[inst];
    if (!t->count || t->high < inst || t->high >= limit_of(s) || !may_nest(s)) return;
    if (top(s) && top(s)->kind >= HG_ST_LOOP && top(s)->top == inst) return;
    uint32_t last = t->high;
    if (f->program->insts[last].op != HG_OP_BRA || hg_st_target_of(f, last) != inst) return;
    if (!hg_st_only_from(f, inst + 1, last, inst, last)) return;
    bool jump = hg_st_is_jump(f, last);
    hg_st_flush(s);
    hg_st_push(s, (hg_st_block){.kind = jump ? HG_ST_LOOP : HG_ST_ROUND,
                                .takes_jump = jump,
                                .close = jump ? last : last + 1,
                                .limit = last,
                                .behind = last + 1,
                                .top = inst});
}

/* ---- jumps ---- */

static const char *label(hg_st *s, uint32_t target, char out[HG_MAX_IDENT_BYTES + 2]) {
    hg_text text = {0};
    s->needed[target] = 1;
    hg_print_target(&text, s->facts.program, target);
    s->out_of_memory |= text.failed;
    snprintf(out, HG_MAX_IDENT_BYTES + 2, "%s", text.data ? text.data : "");
    hg_text_free(&text);
    return out;
}

/* "break" or "continue", where a jump from the innermost loop is one; else NULL. */
static const char *leaves(hg_st *s, uint32_t target) {
    const hg_st_block *loop = innermost_loop(s);
    if (loop && target == loop->behind) return "break";
    return loop && target == loop->top ? "continue" : NULL;
}

static void jump(hg_st *s, uint32_t inst) {
    char name[HG_MAX_IDENT_BYTES + 2];
    uint32_t target = hg_st_target_of(&s->facts, inst);
    const char *word = leaves(s, target);
    hg_st_flush(s);
    if (word) {
        s->found.statements++;
        hg_st_line(s, "%s\n", word);
        return;
    }
    s->found.jumps++;
    hg_st_line(s, "bra @%s\n", label(s, target, name));
}

/* What a branch skips, or jumps over. */
typedef struct branch {
    uint32_t inst, body, end; /* body: behind it; end: where it leads to in the end */
    bool pair;                /* it jumps over a jump */
} branch;

/* A jump over a jump, which nothing else leads into. */
static bool is_pair(hg_st *s, uint32_t inst) {
    const hg_st_facts *f = &s->facts;
    uint32_t limit = limit_of(s);
    return hg_st_target_of(f, inst) == inst + 2 && inst + 2 <= limit &&
           hg_st_is_jump(f, inst + 1) && !f->target.all[inst + 1].count &&
           f->target.all[inst + 2].low == inst && hg_st_target_of(f, inst + 1) > inst + 1;
}

static void open_if(hg_st *s, const char *condition, hg_st_block block) {
    bool chained = top(s) && top(s)->kind == HG_ST_ELSE && !top(s)->open &&
                   block.behind == top(s)->close;
    if (chained) s->blocks.count--;
    hg_st_open_blocks(s);
    uint32_t depth = (uint32_t)s->blocks.count;
    hg_st_push(s, block);
    if (s->out_of_memory) return;
    top(s)->open = true;
    s->found.statements++;
    if (!s->out) return;
    hg_st_indent(s, depth);
    hg_text_addf(s->out, chained ? "} else if %s {\n" : "if %s {\n", condition);
}

/* `while`: the condition is the first thing in the loop, and leads behind it. */
static bool write_while(hg_st *s, const branch *b) {
    hg_st_block *loop = top(s);
    if (!loop || loop->kind != HG_ST_LOOP || loop->open || b->end != loop->behind) return false;
    if (s->value_count > 1) return false;
    hg_st_value *v = hg_st_condition(s, b->inst);
    if (loop->open || (b->pair && v && (v->turns || v->is_not))) return false;
    char condition[HG_ST_MOST_TEXT + 8];
    hg_st_condition_text(s, b->inst, !b->pair, condition);
    s->blocks.count--;
    hg_st_open_blocks(s);
    s->blocks.count++;
    loop = top(s);
    loop->open = true;
    loop->kind = HG_ST_WHILE;
    s->found.statements++;
    if (!s->out) return true;
    hg_st_indent(s, (uint32_t)s->blocks.count - 1);
    hg_text_addf(s->out, "while %s {\n", condition);
    return true;
}

static void write_leave(hg_st *s, const char *condition, const char *word) {
    s->found.statements += 2;
    hg_st_line(s, "if %s {\n", condition);
    hg_st_line(s, "    %s\n", word);
    hg_st_line(s, "}\n");
}

/* One branch that leaves a round: `if a < b { break }`. */
static bool leave_on(hg_st *s, uint32_t inst) {
    char condition[HG_ST_MOST_TEXT + 8];
    uint32_t target = hg_st_target_of(&s->facts, inst);
    const char *word = leaves(s, target);
    hg_st_block *loop = innermost_loop(s);
    if (!word) return false;
    hg_st_value *v = hg_st_condition(s, inst);
    if (loop->kind == HG_ST_ROUND && inst + 1 == loop->close) {
        if (top(s) != loop) return false;
        hg_st_condition_text(s, inst, true, condition);
        write_leave(s, condition, "break");
        return true;
    }
    /* The assembler would turn the end of the loop round. */
    bool last = loop->kind != HG_ST_FOR && inst + 1 == loop->close;
    if (v && (v->is_not || (last && v->turns))) hg_st_flush(s);
    hg_st_condition_text(s, inst, false, condition);
    write_leave(s, condition, word);
    return true;
}

/* `if` with `else`: the branch before ends with a jump behind the other one. */
static bool find_else(hg_st *s, const branch *b, hg_st_block *block) {
    const hg_st_facts *f = &s->facts;
    uint32_t last = b->end - 1;
    if (last < b->body || !hg_st_is_jump(f, last) || !hg_st_is_reached(f, last)) return false;
    uint32_t behind = hg_st_target_of(f, last);
    if (behind <= b->end || behind > limit_of(s)) return false;
    if (f->target.all[b->end].count != 1 || !hg_st_only_from(f, b->body, last, b->inst, last))
        return false;
    if (!hg_st_only_from(f, b->end + 1, behind - 1, b->end, behind - 1)) return false;
    block->close = block->limit = last;
    block->takes_jump = true;
    block->behind = behind;
    return true;
}

/* A body that is nothing but a jump that leaves a round becomes one branch in the assembler. */
static bool is_leave_alone(hg_st *s, const branch *b) {
    return b->body + 1 == b->end && hg_st_is_jump(&s->facts, b->body) &&
           leaves(s, hg_st_target_of(&s->facts, b->body));
}

static bool write_if(hg_st *s, const branch *b) {
    const hg_st_facts *f = &s->facts;
    if (b->end <= b->inst || b->end < b->body || b->end > limit_of(s) || !may_nest(s)) return false;
    hg_st_block block = {.kind = HG_ST_IF, .close = b->end, .limit = b->end, .behind = b->end};
    if (!find_else(s, b, &block) && !hg_st_only_from(f, b->body, b->end - 1, b->inst, b->end - 1))
        return false;
    bool alone = !block.takes_jump && is_leave_alone(s, b);
    const hg_st_block *loop = innermost_loop(s);
    if (alone && (b->pair || (loop->takes_jump && b->end == loop->close))) return false;
    hg_st_value *v = hg_st_condition(s, b->inst);
    bool cut = v && ((alone && v->turns) || (b->pair && (v->turns || v->is_not)));
    if (cut) hg_st_flush(s);
    char condition[HG_ST_MOST_TEXT + 8];
    hg_st_condition_text(s, b->inst, !b->pair, condition);
    if (s->value_count) hg_st_flush(s);
    open_if(s, condition, block);
    return true;
}

/* Returns the next instruction. */
static uint32_t branch_at(hg_st *s, uint32_t inst) {
    const hg_st_facts *f = &s->facts;
    branch single = {inst, inst + 1, hg_st_target_of(f, inst), false};
    branch pair = single;
    char name[HG_MAX_IDENT_BYTES + 2];
    if (is_pair(s, inst)) pair = (branch){inst, inst + 2, hg_st_target_of(f, inst + 1), true};
    /* What waits below the condition comes before it. */
    const hg_st_value *v = hg_st_condition(s, inst);
    if (v && s->value_count > 1) hg_st_flush_below(s, 1);
    if (pair.pair && (write_while(s, &pair) || write_if(s, &pair))) return inst + 2;
    if (write_while(s, &single) || leave_on(s, inst) || write_if(s, &single)) return inst + 1;
    hg_st_flush(s);
    s->found.jumps++;
    hg_st_line(s, "bra.p%u @%s\n", (unsigned)hg_inst_operands(f->program, inst)[0].reg,
               label(s, single.end, name));
    return inst + 1;
}

/* ---- the whole ---- */

static void label_lines(hg_st *s, uint32_t inst) {
    char name[HG_MAX_IDENT_BYTES + 2];
    if (!s->needed[inst]) return;
    hg_st_flush(s);
    hg_st_open_blocks(s);
    if (s->out) hg_text_addf(s->out, "%s:\n", label(s, inst, name));
}

/* A `for` has room here. */
static bool for_fits(hg_st *s, uint32_t inst) {
    uint32_t number = s->facts.for_of[inst];
    return number && may_nest(s) && s->facts.fors.data[number - 1].last < limit_of(s);
}

static uint32_t instruction(hg_st *s, uint32_t inst) {
    const hg_st_facts *f = &s->facts;
    uint16_t op = f->program->insts[inst].op;
    uint32_t next = inst + 1;
    uint32_t body = op == HG_OP_SET && for_fits(s, inst) ? hg_st_open_for(s, inst) : HG_ST_NONE;
    if (body != HG_ST_NONE) {
        next = body;
    } else if (op == HG_OP_BRA && hg_st_is_jump(f, inst)) {
        jump(s, inst);
    } else if (op == HG_OP_BRA) {
        next = branch_at(s, inst);
    } else if (op == HG_OP_EXIT) {
        hg_st_flush(s);
        s->found.statements++;
        hg_st_line(s, "return\n");
    } else if (hg_op_get((hg_op)op)->flags & HG_F_CONTROL) {
        const hg_op_info *row = hg_op_get((hg_op)op);
        for (uint32_t k = 0; k < row->operand_count; k++)
            if (row->operands[k].kind == HG_K_LABEL)
                s->needed[hg_inst_operands(f->program, inst)[k].value] = 1;
        s->found.jumps++;
        hg_st_plain(s, inst);
    } else {
        hg_st_instruction(s, inst);
    }
    return next;
}

static void walk(hg_st *s) {
    const hg_st_facts *f = &s->facts;
    s->value_count = 0;
    s->blocks.count = s->scopes.count = s->depths.count = 0;
    memset(&s->found, 0, sizeof s->found);
    uint32_t *scope = hg_vec_push(&s->scopes), *depth = hg_vec_push(&s->depths);
    if (!scope || !depth) {
        s->out_of_memory = true;
        return;
    }
    *scope = *depth = 0;
    for (uint32_t i = 0; !s->out_of_memory;) {
        if (f->leader[i]) hg_st_flush(s);
        while (top(s) && !top(s)->takes_jump && top(s)->close == i) close_block(s);
        label_lines(s, i);
        if (i == f->count) break;
        if (top(s) && top(s)->takes_jump && top(s)->close == i) {
            i = take_jump(s, i);
            continue;
        }
        open_loop(s, i);
        i = instruction(s, i);
    }
}

/* `.reg` lines for variables that no `let` declares. */
static void declare(hg_st *s) {
    for (uint8_t type = 0; type < HG_TYPE_COUNT; type++) {
        uint32_t count = 0;
        for (uint64_t i = 0; i < s->facts.variables.count; i++) {
            const hg_st_variable *v = &s->facts.variables.data[i];
            if (v->type != type || !v->seen || v->fixed || v->let) continue;
            bool full = count == 12;
            if (full) hg_text_addf(s->out, " %s\n", hg_type_name((hg_type)type));
            if (full) count = 0;
            hg_text_addf(s->out, count++ ? ", %s" : ".reg %s", v->name);
        }
        if (count) hg_text_addf(s->out, " %s\n", hg_type_name((hg_type)type));
    }
}

static void write(hg_st *s) {
    walk(s);
    hg_st_facts *f = &s->facts;
    hg_text out = {0};
    for (uint64_t i = 0; i < f->variables.count; i++)
        f->variables.data[i].let &= f->variables.data[i].first == f->variables.data[i].scope &&
                                    !f->variables.data[i].fixed;
    bool unnamed[HG_MAX_REGISTERS];
    for (uint32_t r = 0; r < HG_MAX_REGISTERS; r++) unnamed[r] = !f->numbered[r];
    hg_print_directives(&out, f->program, unnamed);
    if (f->program->entry) s->needed[f->program->entry] = 1;
    s->out = &out;
    declare(s);
    for (uint64_t i = 0; i < f->variables.count; i++) f->variables.data[i].seen = false;
    if (!s->out_of_memory) walk(s);
    s->out_of_memory |= out.failed;
    s->text = out;
}

hg_status hg_program_print_structured(const hg_program *program, char **text, size_t *length) {
    HG_ENTRY;
    if (!program || !text)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "print: %s is NULL",
                       program ? "text" : "program");
    *text = NULL;
    hg_st *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    hg_status status = hg_st_find_facts(&s->facts, program);
    s->needed = status == HG_OK ? hg_calloc((size_t)program->inst_count + 1, 1) : NULL;
    if (status == HG_OK && !s->needed) status = hg_fail_memory();
    if (status == HG_OK && !hg_st_find_fors(&s->facts)) status = hg_fail_memory();
    if (status == HG_OK) write(s);
    if (status == HG_OK && s->out_of_memory) status = hg_fail_memory();
    if (status == HG_OK) {
        *text = s->text.data;
        if (length) *length = s->text.length;
    } else {
        hg_text_free(&s->text);
    }
    hg_vec_free(&s->blocks);
    hg_vec_free(&s->scopes);
    hg_vec_free(&s->depths);
    hg_st_facts_free(&s->facts);
    hg_free(s->needed);
    hg_free(s);
    return status;
}
