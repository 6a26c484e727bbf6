/* `for` by one, as the assembler writes it (tree/flow.c): the variable and its bound get their
 * values, a comparison leads around all rounds, and one at the end of a round back.
 *
 *     mov i, a; mov end, b; setge p, i, end; bra.p @behind; mov_imm one, 1
 *     top: … next: add i, i, one; setlt p, i, end; bra.p @top; behind:
 *
 * Downwards it is sub, setle and setgt. Of `reversed` the bound is a, and the variable changes at
 * the top. Nothing else may mention the bound and the 1, or write the variable.
 * Requires: webs and names. Must not know: expressions. */
#include "isa/structured.h"

#include <stdio.h>

/* Where a variable is mentioned. */
typedef struct mentions {
    uint32_t low, high, reads, writes, first_read;
} mentions;

typedef struct finder {
    hg_st_facts *f;
    mentions *of; /* by variable */
} finder;

static void count(finder *x) {
    hg_st_facts *f = x->f;
    for (uint64_t v = 0; v < f->variables.count; v++)
        x->of[v] = (mentions){.low = HG_ST_NONE, .first_read = HG_ST_NONE};
    for (uint32_t i = 0; i < f->count; i++) {
        hg_inst_accesses(f->program, i, &f->what);
        uint32_t all = f->what.reads + f->what.writes;
        for (uint32_t k = 0; k < all; k++) {
            uint32_t v = f->webs[f->accesses[i] + k];
            if (v == HG_ST_NONE) continue;
            mentions *m = &x->of[v];
            if (m->low == HG_ST_NONE) m->low = i;
            m->high = i;
            m->writes += k >= f->what.reads;
            m->reads += k < f->what.reads;
            if (k < f->what.reads && m->first_read == HG_ST_NONE) m->first_read = i;
        }
    }
}

/* Of a comparison, or a sum, the variables that it reads. */
static void sides(const finder *x, uint32_t inst, uint32_t side[2]) {
    for (uint32_t k = 0; k < 2; k++) side[k] = hg_st_read(x->f, inst, k);
}

static hg_condition condition_at(const finder *x, uint32_t inst) {
    return (hg_condition)hg_inst_operands(x->f->program, inst)[0].value;
}

static bool is_op(const finder *x, uint32_t inst, hg_op op, uint8_t type) {
    return x->f->program->insts[inst].op == op && x->f->program->insts[inst].type == type;
}

/* A variable that statements do not name by itself. */
static bool is_own(const finder *x, uint32_t variable, uint32_t writes, uint32_t reads) {
    if (variable == HG_ST_NONE) return false;
    const hg_st_variable *v = &x->f->variables.data[variable];
    const mentions *m = &x->of[variable];
    return !v->begins && !v->raw && !v->array && !v->fixed && m->writes == writes &&
           (!reads || m->reads == reads);
}

static bool is_one(const uint8_t *bytes, uint64_t size) {
    uint8_t rest = 0;
    for (uint64_t i = 1; i < size; i++) rest |= bytes[i];
    return bytes[0] == 1 && !rest;
}

/* The instruction changes the variable by what `one`, an instruction, has made 1. */
static bool is_change(const finder *x, const hg_st_for *l, uint32_t inst, uint8_t type) {
    const hg_st_facts *f = x->f;
    uint32_t side[2], one = l->guard + 2;
    if (!is_op(x, inst, l->falls ? HG_OP_SUB : HG_OP_ADD, type) ||
        !is_op(x, one, HG_OP_MOV_IMM, type) ||
        !is_one(hg_literal(f->program, &hg_inst_operands(f->program, one)[1]),
                hg_type_size_bytes((hg_type)type)))
        return false;
    sides(x, inst, side);
    hg_inst_accesses(f->program, one, &x->f->what);
    uint32_t written = hg_st_written(f, one, &f->what, 0);
    hg_inst_accesses(f->program, inst, &x->f->what);
    return side[0] == l->variable && side[1] == written && is_own(x, written, 1, 1) &&
           hg_st_written(f, inst, &f->what, 0) == l->variable;
}

/* The jumps around the rounds and back; nothing else leads in between. */
static bool find_jumps(const finder *x, hg_st_for *l) {
    const hg_st_facts *f = x->f;
    uint32_t around = l->guard + 1, top = l->guard + 3;
    if (top + 2 >= f->count || f->program->insts[around].op != HG_OP_BRA ||
        hg_st_is_jump(f, around) || f->use[l->guard] != around)
        return false;
    const hg_st_target *t = &f->target.all[top];
    uint32_t last = t->high;
    if (t->count != 1 || last < top + 2 || f->program->insts[last].op != HG_OP_BRA ||
        hg_st_is_jump(f, last) || f->use[last - 1] != last ||
        hg_st_target_of(f, around) != last + 1)
        return false;
    l->last = last;
    return !f->target.all[around].count && !f->target.all[around + 1].count &&
           !f->target.all[last].count && hg_st_only_from(f, top, last, top, last);
}

static bool look(const finder *x, uint32_t inst, hg_st_for *l) {
    const hg_st_facts *f = x->f;
    uint8_t type = f->program->insts[inst].type;
    uint32_t start[2], end[2];
    hg_condition c = condition_at(x, inst);
    if (hg_type_is_float((hg_type)type) || hg_type_size_bytes((hg_type)type) > 8) return false;
    *l = (hg_st_for){.guard = inst, .falls = c == HG_COND_LE};
    if ((c != HG_COND_GE && c != HG_COND_LE) || !find_jumps(x, l)) return false;
    if (!is_op(x, l->last - 1, HG_OP_SET, type) ||
        condition_at(x, l->last - 1) != (l->falls ? HG_COND_GT : HG_COND_LT))
        return false;
    sides(x, inst, start);
    sides(x, l->last - 1, end);
    if (start[0] == start[1] || start[0] != end[0] || start[1] != end[1]) return false;
    l->variable = start[0];
    if (!is_own(x, start[0], 2, 0) || !is_own(x, start[1], 1, 2)) return false;
    const mentions *v = &x->of[start[0]], *bound = &x->of[start[1]];
    l->reversed = v->low > bound->low;
    l->from = l->reversed ? bound->low : v->low;
    l->to = l->reversed ? v->low : bound->low;
    l->next = l->reversed ? l->last - 1 : l->last - 2;
    if (l->to >= inst || v->first_read != inst || v->high > l->last) return false;
    if (!l->reversed && f->target.all[l->last - 1].count) return false;
    return l->next > inst + 3 && is_change(x, l, l->reversed ? inst + 3 : l->next, type);
}

bool hg_st_find_fors(hg_st_facts *f) {
    finder x = {.f = f};
    f->for_of = hg_arena_alloc(&f->arena, ((size_t)f->count + 1) * sizeof *f->for_of);
    x.of = hg_arena_alloc(&f->arena, ((size_t)f->variables.count + 1) * sizeof *x.of);
    if (!f->for_of || !x.of) return false;
    for (uint32_t i = 0; i <= f->count; i++) f->for_of[i] = 0;
    count(&x);
    for (uint32_t i = 0; i < f->count; i++) {
        hg_st_for l;
        if (f->program->insts[i].op != HG_OP_SET || !f->reached[i] || !look(&x, i, &l)) continue;
        hg_st_for *kept = hg_vec_push(&f->fors);
        if (!kept) return false;
        *kept = l;
        f->for_of[l.from] = f->for_of[l.to] = f->for_of[i] = (uint32_t)f->fors.count;
    }
    return true;
}

/* The bound as a text; a literal says its type where nothing else does. */
static void add_bound(hg_text *text, const hg_st_value *v, bool typed) {
    if (typed && v->type != HG_TYPE_I32)
        hg_text_addf(text, "%s(%s)", hg_type_name((hg_type)v->type), v->text);
    else
        hg_text_addf(text, "%s", v->text);
}

uint32_t hg_st_open_for(hg_st *s, uint32_t inst) {
    uint32_t number = s->facts.for_of[inst];
    if (!number || s->value_count < 2) return HG_ST_NONE;
    const hg_st_for *l = &s->facts.fors.data[number - 1];
    const hg_st_value *from = &s->values[s->value_count - 2], *to = from + 1;
    if (l->guard != inst || from->inst != l->from || to->inst != l->to) return HG_ST_NONE;
    hg_st_flush_below(s, 2);
    from = &s->values[0];
    to = &s->values[1];
    hg_text line = {0};
    hg_text_addf(&line, "for %s in %s", s->facts.variables.data[l->variable].name,
                 l->reversed ? "reversed " : "");
    add_bound(&line, from, from->literal && to->literal);
    hg_text_addf(&line, " .. ");
    add_bound(&line, to, false);
    hg_text_addf(&line, l->falls != l->reversed ? " step -1 {\n" : " {\n");
    hg_st_line(s, "%s", line.data ? line.data : "");
    s->out_of_memory |= line.failed;
    hg_text_free(&line);
    s->value_count = 0;
    s->found.statements++;
    hg_st_push(s, (hg_st_block){.kind = HG_ST_FOR,
                                .open = true,
                                .takes_jump = true,
                                .close = l->next,
                                .limit = l->next,
                                .behind = l->last + 1,
                                .top = l->next});
    if (!s->out_of_memory) hg_st_mention(s, l->variable, true);
    return l->guard + 3 + l->reversed;
}
