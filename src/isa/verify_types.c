/* Types of registers and initialised predicates: V01 … V04, in the places where a register is read.
 * Requires: hg_cfg_build. Provides: reads, leaves, pred_* of every function; each register read has one type. */
#include "isa/flow.h"

#include <stdio.h>
#include <string.h>

typedef struct types {
    flow flow;
    hg_check *check;
    hg_cfg *cfg;
    const hg_program *program;
    uint32_t function, block, inst; /* where the check stands */
    uint8_t said[256]; /* registers of this function already called uninitialised or ambiguous */
    uint16_t said_preds;
    uint32_t searches; /* searches for the places of an ambiguous type: each is linear */
} types;

static const char *type_text(uint8_t type) {
    switch (type) {
    case HG_WANT_U32_U64: return "u32 or u64";
    case HG_WANT_INDEX: return "u8, u16, u32 or u64";
    case HG_WANT_INTEGER: return "an integer";
    case HG_WANT_ANY: return "a number";
    default: return hg_type_name((hg_type)type);
    }
}

/* ---- V04: the two places ---- */

enum { MAX_SEARCHES = 64 };
typedef struct definition {
    uint8_t type;
    uint32_t inst;
} definition; /* inst UINT32_MAX: the start */

/* Type that an instruction or call leaves in reg; HG_TYPE_OMITTED when it does not touch it. */
static uint8_t defines(const types *t, const hg_block *b, uint32_t inst, uint8_t reg) {
    if (b->exit == HG_EXIT_CALL && inst + 1 == b->last)
        return t->cfg->functions[b->callee].leaves[reg];
    hg_accesses a;
    hg_inst_accesses(t->program, inst, &a);
    for (uint32_t k = 0; k < a.writes; k++)
        if (!a.write[k].is_pred && a.write[k].reg == reg) return a.write[k].want;
    return HG_TYPE_OMITTED;
}

/* Adds the last definition in [first, last) of block b; false when there is none. */
static bool last_definition(const types *t, const hg_block *b, uint32_t last, uint8_t reg,
                            definition *found, uint32_t *count) {
    for (uint32_t i = last; i > b->first; i--) {
        uint8_t type = defines(t, b, i - 1, reg);
        if (type == HG_TYPE_OMITTED) continue;
        if (*count == 0 || (*count == 1 && found[0].type != type))
            found[(*count)++] = (definition){type, i - 1};
        return true;
    }
    return false;
}

/* Predecessors of each block: those of b stand in from[head[b]] up to head[b + 1]. Both are NULL
 * without memory. */
typedef struct predecessors {
    uint32_t *head, *from;
} predecessors;

static predecessors find_predecessors(const hg_function *fn) {
    uint32_t n = fn->block_count;
    predecessors p = {hg_calloc((size_t)n + 2, sizeof *p.head),
                      hg_calloc((size_t)n * 2, sizeof *p.from)};
    if (!p.head || !p.from) return p;
    for (uint32_t b = 0; b < n; b++) /* counts, then places, then the lists, while each place moves
                                        up to the next one's */
        for (int k = 0; k < 2; k++)
            if (fn->blocks[b].succ[k] != HG_NO_BLOCK) p.head[fn->blocks[b].succ[k] + 2]++;
    for (uint32_t b = 0; b <= n; b++) p.head[b + 1] += p.head[b];
    for (uint32_t b = 0; b < n; b++)
        for (int k = 0; k < 2; k++)
            if (fn->blocks[b].succ[k] != HG_NO_BLOCK)
                p.from[p.head[fn->blocks[b].succ[k] + 1]++] = b;
    return p;
}

static void free_predecessors(predecessors *p) {
    hg_free(p->head);
    hg_free(p->from);
}

/* Two definitions of different types that reach the present instruction, walking backwards. */
static uint32_t find_definitions(types *t, uint8_t reg, definition found[2]) {
    const hg_function *fn = &t->cfg->functions[t->function];
    uint32_t count = 0, depth = 0, n = fn->block_count;
    uint8_t *seen = hg_calloc(n, 1);
    uint32_t *stack = hg_calloc(n, sizeof *stack);
    predecessors p = find_predecessors(fn);
    if (seen && stack && p.head && p.from &&
        !last_definition(t, &fn->blocks[t->block], t->inst, reg, found, &count)) {
        stack[depth++] = t->block;
        while (depth && count < 2) {
            uint32_t b = stack[--depth];
            if (b == 0 && t->function == 0 && count < 2 &&
                t->cfg->param_types[reg] != HG_TYPE_OMITTED &&
                (count == 0 || found[0].type != t->cfg->param_types[reg]))
                found[count++] = (definition){t->cfg->param_types[reg], UINT32_MAX};
            for (uint32_t k = p.head[b]; k < p.head[b + 1] && count < 2; k++) {
                uint32_t before = p.from[k];
                if (seen[before]) continue;
                seen[before] = 1;
                if (!last_definition(t, &fn->blocks[before], fn->blocks[before].last, reg, found,
                                     &count))
                    stack[depth++] = before;
            }
        }
    }
    hg_free(seen);
    hg_free(stack);
    free_predecessors(&p);
    if (count == 2 && found[1].inst < found[0].inst) {
        definition swap = found[0];
        found[0] = found[1];
        found[1] = swap;
    }
    return count;
}

static void describe(const types *t, const definition *d, char *out, size_t size) {
    char type[40];
    if (d->type < HG_TYPE_COUNT)
        snprintf(type, sizeof type, "%s", hg_type_name((hg_type)d->type));
    else
        snprintf(type, sizeof type, "%s", "nothing known");
    if (d->inst == UINT32_MAX)
        snprintf(out, size, "%s from the start", type);
    else
        snprintf(out, size, "%s from %s", type, hg_check_where(t->program, d->inst).text);
}

static void report_ambiguous(types *t, uint8_t reg, int operand) {
    definition found[2];
    char first[96], second[96];
    uint32_t count = t->searches++ < MAX_SEARCHES ? find_definitions(t, reg, found) : 0;
    hg_register_text name = hg_check_register(t->program, t->inst, false, reg);
    if (count == 2) {
        describe(t, &found[0], first, sizeof first);
        describe(t, &found[1], second, sizeof second);
        hg_check_error(t->check, "V04", t->inst, operand, NULL,
                       "type of %s is ambiguous where paths meet: %s, %s", name.text, first,
                       second);
    } else {
        hg_check_error(t->check, "V04", t->inst, operand, NULL,
                       "type of %s is ambiguous where paths meet", name.text);
    }
}

/* ---- V01: on which path ---- */

/* First instruction of function 0 that writes the register (a call counts), UINT32_MAX: none. */
static uint32_t first_definition(const types *t, uint8_t reg) {
    const hg_function *fn = &t->cfg->functions[0];
    uint32_t first = UINT32_MAX;
    for (uint32_t b = 0; b < fn->block_count; b++)
        for (uint32_t i = fn->blocks[b].first; i < fn->blocks[b].last && i < first; i++)
            if (defines(t, &fn->blocks[b], i, reg) != HG_TYPE_OMITTED) first = i;
    return first;
}

/* A search for the branch that decides. Arrays are of one entry a block. */
typedef struct unset_search {
    const types *t;
    const hg_function *fn;
    uint8_t reg;
    predecessors before;
    uint32_t *definition; /* the last one of the block, UINT32_MAX: it has none */
    uint32_t *from;   /* on the path from the start on which nothing sets the register: the block
                         before + 1; 0: not reached */
    uint8_t *reaches; /* the present block can be reached from there */
    uint32_t *seen;   /* the number of the last walk that came there */
    uint32_t *queue, walks;
} unset_search;

static void note_definitions(unset_search *s) {
    for (uint32_t b = 0; b < s->fn->block_count; b++) {
        definition found[2];
        uint32_t count = 0;
        bool any = last_definition(s->t, &s->fn->blocks[b], s->fn->blocks[b].last, s->reg, found,
                                   &count);
        s->definition[b] = any ? found[0].inst : UINT32_MAX;
    }
}

/* Shortest paths from the start, up to the present block. */
static void walk_unset(unset_search *s) {
    uint32_t head = 0, tail = 0;
    s->queue[tail++] = 0;
    s->from[0] = UINT32_MAX;
    while (head < tail && !(s->from[s->t->block] && head)) {
        uint32_t b = s->queue[head++];
        if (s->definition[b] != UINT32_MAX) continue;
        for (int k = 0; k < 2; k++) {
            uint32_t to = s->fn->blocks[b].succ[k];
            if (to == HG_NO_BLOCK || s->from[to]) continue;
            s->from[to] = b + 1;
            s->queue[tail++] = to;
        }
    }
}

static void mark_reaching(unset_search *s) {
    uint32_t head = 0, tail = 0;
    s->queue[tail++] = s->t->block;
    s->reaches[s->t->block] = 1;
    while (head < tail) {
        uint32_t b = s->queue[head++];
        for (uint32_t k = s->before.head[b]; k < s->before.head[b + 1]; k++) {
            uint32_t p = s->before.from[k];
            if (s->reaches[p]) continue;
            s->reaches[p] = 1;
            s->queue[tail++] = p;
        }
    }
}

/* The nearest definition on a way from `start` to the present block; UINT32_MAX: no way has one. */
static uint32_t definition_behind(unset_search *s, uint32_t start) {
    uint32_t head = 0, tail = 0, present = s->t->block;
    if (start == present || !s->reaches[start]) return UINT32_MAX;
    s->walks++;
    s->seen[start] = s->walks;
    s->queue[tail++] = start;
    while (head < tail) {
        uint32_t b = s->queue[head++];
        if (s->definition[b] != UINT32_MAX) return s->definition[b];
        for (int k = 0; k < 2; k++) {
            uint32_t to = s->fn->blocks[b].succ[k];
            if (to == HG_NO_BLOCK || to == present || s->seen[to] == s->walks || !s->reaches[to])
                continue;
            s->seen[to] = s->walks;
            s->queue[tail++] = to;
        }
    }
    return UINT32_MAX;
}

/* The branch that decides: the last one of such a path whose other side leads past a definition. */
typedef struct deciding {
    uint32_t branch, definition; /* instructions; branch UINT32_MAX: none was found */
    bool taken;                  /* how the path goes on */
} deciding;

enum { MAX_DECISIONS = 64 /* branches of a path that are looked at */ };

/* `bra.!p @l` of the text is a branch over a jump: what the text calls taken is the other way. */
static bool is_negated(const hg_program *p, uint32_t inst) {
    if (p->insts[inst].op != HG_OP_BRA || inst + 1 >= p->inst_count ||
        p->insts[inst + 1].op != HG_OP_BRA || !p->lines)
        return false;
    const hg_operand *branch = hg_inst_operands(p, inst), *jump = hg_inst_operands(p, inst + 1);
    return branch[0].reg != 255 && jump[0].reg == 255 && branch[1].value == inst + 2 &&
           p->lines[inst] == p->lines[inst + 1] && p->columns[inst] == p->columns[inst + 1];
}

static deciding find_decision(unset_search *s) {
    deciding d = {.branch = UINT32_MAX};
    note_definitions(s);
    walk_unset(s);
    mark_reaching(s);
    for (uint32_t b = s->t->block, left = MAX_DECISIONS;
         b && s->from[b] && left && d.branch == UINT32_MAX; b = s->from[b] - 1) {
        const hg_block *before = &s->fn->blocks[s->from[b] - 1];
        if (before->succ[0] == before->succ[1] || before->succ[1] == HG_NO_BLOCK ||
            before->succ[0] == HG_NO_BLOCK)
            continue;
        left--;
        d.taken = before->succ[0] == b;
        d.definition = definition_behind(s, before->succ[d.taken]);
        if (d.definition != UINT32_MAX) d.branch = before->last - 1;
    }
    if (d.branch != UINT32_MAX && is_negated(s->t->program, d.branch)) d.taken = !d.taken;
    return d;
}

static deciding find_unset_branch(const types *t, uint8_t reg) {
    deciding d = {.branch = UINT32_MAX};
    unset_search s = {.t = t, .fn = &t->cfg->functions[0], .reg = reg};
    uint32_t n = s.fn->block_count;
    s.before = find_predecessors(s.fn);
    s.definition = hg_calloc(n, sizeof *s.definition);
    s.from = hg_calloc(n, sizeof *s.from);
    s.reaches = hg_calloc(n, 1);
    s.seen = hg_calloc(n, sizeof *s.seen);
    s.queue = hg_calloc(n, sizeof *s.queue);
    if (s.before.head && s.before.from && s.definition && s.from && s.reaches && s.seen && s.queue)
        d = find_decision(&s);
    free_predecessors(&s.before);
    hg_free(s.definition);
    hg_free(s.from);
    hg_free(s.reaches);
    hg_free(s.seen);
    hg_free(s.queue);
    return d;
}

/* Why a register is not set in the program itself; NULL: nothing can be said in short. */
static const char *explain_unset(types *t, uint8_t reg, char *out, size_t size) {
    if (t->function != 0 || t->searches++ >= MAX_SEARCHES) return NULL;
    definition found[2];
    uint32_t count = find_definitions(t, reg, found),
             first = count ? found[0].inst : first_definition(t, reg);
    deciding d = find_unset_branch(t, reg);
    if (first == UINT32_MAX)
        snprintf(out, size, "nothing sets it");
    else if (!count)
        snprintf(out, size, "it is set later, in %s", hg_check_where(t->program, first).text);
    else if (d.branch != UINT32_MAX)
        snprintf(out, size, "%s sets it, but not where the branch in %s is%s taken",
                 hg_check_where(t->program, d.definition).text,
                 hg_check_where(t->program, d.branch).text, d.taken ? "" : " not");
    else if (found[0].type != HG_TYPE_OMITTED && (found[0].type & HG_LEAVES_MAYBE))
        snprintf(out, size, "the call in %s sets it on some paths only",
                 hg_check_where(t->program, first).text);
    else if (first >= t->inst)
        snprintf(out, size, "%s sets it, but behind this line: nothing has the first time",
                 hg_check_where(t->program, first).text);
    else
        return NULL;
    return out;
}

/* ---- checks of one read ---- */

static bool fits(uint8_t actual, uint8_t want) {
    if (actual == want || actual == FLOW_ANY) return true;
    if (hg_is_want(want)) return hg_is_want(actual) ? actual <= want : hg_want_allows(want, actual);
    return hg_is_want(actual) && hg_want_allows(actual, want);
}

static const char *mismatch_hint(const types *t, int operand) {
    uint16_t op = t->program->insts[t->inst].op;
    if ((op == HG_OP_SHL || op == HG_OP_SHR || op == HG_OP_ROTL || op == HG_OP_ROTR) &&
        operand == 2)
        return "the shift amount is a u32 register; load it with mov_imm.u32";
    if (op == HG_OP_LOOP) return "the loop counter is a u32 register; loop.u64 has a u64 one";
    if (op == HG_OP_LOOP64) return "the counter of loop.u64 is a u64 register; loop has a u32 one";
    return NULL;
}

static void check_read(types *t, uint8_t reg, uint8_t want, int operand, const char *hint,
                       uint8_t *state) {
    uint32_t slot = t->flow.slot_of[reg];
    uint8_t actual = flow_known(&t->flow, t->function, slot, state[slot]);
    if (actual == FLOW_UNSET) {
        char why[160];
        if (!t->said[reg] && !hint) hint = explain_unset(t, reg, why, sizeof why);
        if (!t->said[reg])
            hg_check_error(t->check, "V01", t->inst, operand, hint, "uninitialized register: %s",
                           hg_check_register(t->program, t->inst, false, reg).text);
    } else if (actual == FLOW_MIXED) {
        if (!t->said[reg]) report_ambiguous(t, reg, operand);
    } else {
        if (actual == FLOW_CALLER || want == HG_TYPE_OMITTED || fits(actual, want)) return;
        hg_check_error(t->check, "V03", t->inst, operand, hint ? hint : mismatch_hint(t, operand),
                       "type mismatch: expected %s, got %s", type_text(want), type_text(actual));
        state[slot] = FLOW_ANY;
        return;
    }
    t->said[reg] = 1;
    state[slot] = FLOW_ANY;
}

static void check_pred(types *t, uint8_t pred, int operand, const char *hint, uint16_t preds) {
    if (t->function != 0 || (preds >> pred & 1) || (t->said_preds >> pred & 1)) return;
    t->said_preds |= (uint16_t)(1u << pred);
    hg_check_error(t->check, "V02", t->inst, operand, hint, "uninitialized predicate: %s",
                   hg_check_register(t->program, t->inst, true, pred).text);
}

static void check_instruction(types *t, uint8_t *state, uint16_t preds) {
    hg_accesses a;
    hg_inst_accesses(t->program, t->inst, &a);
    for (uint32_t k = 0; k < a.reads; k++) {
        if (a.read[k].is_pred)
            check_pred(t, a.read[k].reg, a.read[k].operand, NULL, preds);
        else
            check_read(t, a.read[k].reg, a.read[k].want, a.read[k].operand, NULL, state);
    }
}

/* First instruction of a function, those below included, that reads a register it was given. For
 * hints: linear, errors only. */
static uint32_t first_reader(const types *t, uint32_t f, uint8_t reg, bool pred) {
    const hg_function *fn = &t->cfg->functions[f];
    uint32_t best = UINT32_MAX;
    hg_accesses a;
    for (uint32_t b = 0; b < fn->block_count; b++)
        for (uint32_t i = fn->blocks[b].first; i < fn->blocks[b].last && i < best; i++) {
            hg_inst_accesses(t->program, i, &a);
            for (uint32_t k = 0; k < a.reads; k++)
                if (a.read[k].reg == reg && (a.read[k].is_pred != 0) == pred) best = i;
            const hg_block *block = &fn->blocks[b];
            if (block->exit == HG_EXIT_CALL && i + 1 == block->last) {
                const hg_function *g = &t->cfg->functions[block->callee];
                if (pred ? (g->pred_reads >> reg & 1) : g->reads[reg] != HG_TYPE_OMITTED) best = i;
            }
        }
    return best;
}

static void call_hint(const types *t, uint32_t callee, uint8_t reg, bool pred, char *out,
                      size_t size) {
    uint32_t at = first_reader(t, callee, reg, pred);
    hg_label_text name = hg_check_label(t->program, t->cfg->functions[callee].entry);
    if (at == UINT32_MAX)
        snprintf(out, size, "@%s reads it", name.text);
    else
        snprintf(out, size, "@%s reads it at %s", name.text, hg_check_where(t->program, at).text);
}

/* A call reads what its function reads. A register that the function uses where several types will
 * do takes the first caller's type. */
static void check_call(types *t, uint32_t callee, uint8_t *state, uint16_t preds) {
    hg_function *g = &t->cfg->functions[callee];
    char hint[340];
    for (uint32_t s = 0; s < t->flow.slots; s++) {
        uint8_t reg = t->flow.reg_of[s], *reads = &g->reads[reg];
        if (*reads == HG_TYPE_OMITTED) continue;
        uint8_t actual = flow_known(&t->flow, t->function, s, state[s]);
        if (hg_is_want(*reads) && hg_want_allows(*reads, actual)) *reads = actual;
        if (actual == FLOW_ANY || fits(actual, *reads)) continue;
        call_hint(t, callee, reg, false, hint, sizeof hint);
        check_read(t, reg, *reads, 0, hint, state);
    }
    uint16_t missing = t->function == 0 ? (uint16_t)(g->pred_reads & ~preds) : 0;
    for (uint8_t p = 0; missing >> p && p < HG_MAX_PREDICATES; p++) {
        if (!(missing >> p & 1)) continue;
        call_hint(t, callee, p, true, hint, sizeof hint);
        check_pred(t, p, 0, hint, preds);
    }
}

static void check_function(types *t, uint32_t f) {
    const hg_function *fn = &t->cfg->functions[f];
    const flow_function *w = &t->flow.functions[f];
    uint8_t state[256];
    t->function = f;
    t->said_preds = 0;
    memset(t->said, 0, sizeof t->said);
    for (t->block = 0; t->block < fn->block_count; t->block++) {
        const hg_block *block = &fn->blocks[t->block];
        if (!w->seen[t->block]) continue;
        memcpy(state, w->in + (uint64_t)t->block * t->flow.slots, t->flow.slots);
        uint16_t preds = w->pred_in[t->block];
        for (t->inst = block->first; t->inst < block->last; t->inst++) {
            check_instruction(t, state, preds);
            if (block->exit == HG_EXIT_CALL && t->inst + 1 == block->last)
                check_call(t, block->callee, state, preds);
            flow_step(&t->flow, f, t->inst, state, &preds);
        }
    }
}

void hg_check_types(hg_check *c, hg_cfg *cfg) {
    types t = {.check = c, .cfg = cfg, .program = c->program};
    if (!flow_begin(&t.flow, c, cfg)) return;
    for (uint32_t i = 0; i < cfg->function_count && !c->out_of_memory; i++)
        flow_run(&t.flow, cfg->bottom_up[i]);
    for (uint32_t i = cfg->function_count; i-- > 0 && !c->out_of_memory;)
        check_function(&t, cfg->bottom_up[i]);
}
