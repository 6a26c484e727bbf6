/* Uniform values and control flow (language.md 4.3): V08, V09, V10.
 *
 * Two independent questions, each asked only of programs that contain what it is about, with the
 * same method: over the launch  (whole-array instructions): what can differ between any two lanes;
 * every way out of the program counts over a block     (barriers): what can differ between lanes of
 * one block that have not stopped A register is varying when a varying value, or control flow that
 * some lanes do not follow, decides it. A block is divergent when a branch on a varying value
 * decides whether a lane gets there: it is control-dependent on that branch, directly or through
 * others. Functions are looked at once for all their callers.
 *
 * Requires: hg_cfg_build. Provides: errors only (kir has shapes of its own). */
#include "isa/verify_internal.h"

#include <string.h>

/* Registers 0 … 255, then predicates. */
typedef struct varying {
    uint64_t bits[5];
} varying;

typedef struct region {       /* one function under one question */
    uint32_t (*succ)[2];      /* blocks, block_count for the end */
    uint32_t *parent, *depth; /* postdominators */
    uint32_t *skip;  /* next block up the postdominator tree that may not be divergent yet */
    uint32_t *cause; /* divergent block: the branch that decides */
    uint8_t *divergent, *decided; /* decided: the blocks that depend on this block's branch are
                                     marked */
    uint8_t *dirty;
    uint8_t *left_out; /* the branch's edge to the exit is left out of succ */
    varying *in;
    varying entry, out, written;
    uint32_t entry_cause, exit_cause;
    bool called, divergent_entry, exit_divergent, dirty_function, changed_out;
} region;

typedef struct uniform {
    hg_check *check;
    const hg_cfg *cfg;
    const hg_program *program;
    bool block; /* the question: over a block; else over the launch */
    bool changed;
    region *regions;
} uniform;

enum { PREDICATES = 256, MAX_ROUNDS = 64 };

static bool has(const varying *v, uint32_t i) { return v->bits[i / 64] >> (i % 64) & 1; }
static void add(varying *v, uint32_t i) { v->bits[i / 64] |= (uint64_t)1 << (i % 64); }
static void drop(varying *v, uint32_t i) { v->bits[i / 64] &= ~((uint64_t)1 << (i % 64)); }
static bool merge(varying *to, const varying *from) {
    uint64_t grown = 0;
    for (int k = 0; k < 5; k++) {
        grown |= from->bits[k] & ~to->bits[k];
        to->bits[k] |= from->bits[k];
    }
    return grown != 0;
}

static uint32_t number_of(const hg_access *a) {
    return a->is_pred ? PREDICATES + (uint32_t)a->reg : a->reg;
}

/* ---- what an instruction makes ---- */

static bool id_varies(const uniform *u, uint64_t id) {
    hg_scope same = hg_idname_scope((hg_idname)id);
    return same == HG_SCOPE_THREAD || (same == HG_SCOPE_BLOCK && !u->block);
}

/* All lanes that are asked about have the same result whatever their operands: a whole-array
 * instruction, and among the lanes of a block what they find out together. */
static bool is_of_all(const uniform *u, uint16_t op) {
    bool together = op == HG_OP_BLOCK_ANY || op == HG_OP_BLOCK_ALL;
    return (hg_op_get((hg_op)op)->flags & HG_F_COLLECTIVE) || (u->block && together);
}

/* The result differs between lanes whatever the operands: what memory holds, and anything not known
 * to be otherwise. */
static bool result_varies(const uniform *u, uint32_t inst, const hg_accesses *a) {
    const hg_inst *in = &u->program->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    if (in->op == HG_OP_CLS_GET_LANE) return id_varies(u, HG_ID_BLOCK_IDX_X);
    if (in->op == HG_OP_RDID) return id_varies(u, hg_inst_operands(u->program, inst)[1].value);
    if (is_of_all(u, in->op)) return false;
    if (row->flags & (HG_F_POOL | HG_F_STATE)) return true;
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_ADDRESS && row->operands[i].access) return true;
    return a->reads == 0 && !(row->flags & HG_F_NUMBER);
}

static void step(const uniform *u, uint32_t inst, bool divergent, varying *state) {
    hg_accesses a;
    hg_inst_accesses(u->program, inst, &a);
    if (a.writes == 0) return;
    bool varies = divergent;
    if (!is_of_all(u, u->program->insts[inst].op))
        for (uint32_t k = 0; k < a.reads && !varies; k++)
            varies = has(state, number_of(&a.read[k]));
    varies = varies || result_varies(u, inst, &a);
    for (uint32_t k = 0; k < a.writes; k++) {
        if (varies)
            add(state, number_of(&a.write[k]));
        else
            drop(state, number_of(&a.write[k]));
    }
}

/* ---- the graph of a question ---- */

/* A block that only leaves: exit, the end, or a jump straight there. */
static bool stops_at_once(const hg_function *fn, uint32_t b) {
    for (int hops = 0; hops < 16; hops++) {
        const hg_block *block = &fn->blocks[b];
        if (block->last - block->first > 1) return false;
        if (block->exit == HG_EXIT_STOP) return true;
        if (block->exit != HG_EXIT_JUMP) return false;
        b = block->succ[0];
    }
    return false;
}

/* Over a block, branches straight to the exit are left out at first: lanes that stop are no concern
 * of a barrier. */
static bool leave_out_exits(const hg_function *fn, region *r) {
    bool any = false;
    for (uint32_t b = 0; b < fn->block_count; b++) {
        if (fn->blocks[b].exit != HG_EXIT_BRANCH && fn->blocks[b].exit != HG_EXIT_LOOP) continue;
        bool first = stops_at_once(fn, r->succ[b][0]), second = stops_at_once(fn, r->succ[b][1]);
        if (first == second) continue;
        r->succ[b][first ? 0 : 1] = HG_NO_BLOCK;
        r->left_out[b] = 1;
        any = true;
    }
    return any;
}

static void take_back(const hg_function *fn, region *r, uint32_t b) {
    for (int k = 0; k < 2; k++) r->succ[b][k] = fn->blocks[b].succ[k];
    r->left_out[b] = 0;
}

/* Marks in r->dirty the blocks from which the end can be reached. Where a loop has no way there, an
 * edge out of it that was left out comes back: the last one, which then is a way for everything
 * that leads to the loop. */
static bool find_ends(uniform *u, const hg_function *fn, region *r) {
    uint32_t n = fn->block_count, depth = 0;
    uint32_t *head = hg_calloc((size_t)n + 2, sizeof *head),
             *from = hg_calloc(2 * (size_t)n + 1, sizeof *from), *next = r->parent,
             *stack = r->depth;
    if (!head || !from) {
        hg_free(head);
        hg_free(from);
        u->check->out_of_memory = true;
        return false;
    }
    memset(r->dirty, 0, n);
    for (uint32_t b = 0; b < n; b++)
        for (int k = 0; k < 2; k++)
            if (r->succ[b][k] < n) head[r->succ[b][k] + 1]++;
    for (uint32_t b = 0; b < n; b++) head[b + 1] += head[b];
    memcpy(next, head, n * sizeof *next);
    for (uint32_t b = 0; b < n; b++)
        for (int k = 0; k < 2; k++)
            if (r->succ[b][k] < n) from[next[r->succ[b][k]]++] = b;
    for (uint32_t b = 0; b < n; b++)
        if (r->succ[b][0] == n || r->succ[b][1] == n) {
            r->dirty[b] = 1;
            stack[depth++] = b;
        }
    for (uint32_t last = n;;) {
        while (depth) {
            uint32_t b = stack[--depth];
            for (uint32_t k = head[b]; k < head[b + 1]; k++)
                if (!r->dirty[from[k]]) {
                    r->dirty[from[k]] = 1;
                    stack[depth++] = from[k];
                }
        }
        while (last > 0 && (!r->left_out[last - 1] || r->dirty[last - 1])) last--;
        if (last == 0) break;
        take_back(fn, r, --last);
        r->dirty[last] = 1;
        stack[depth++] = last;
    }
    hg_free(head);
    hg_free(from);
    return true;
}

static bool varying_branch(const uniform *u, const hg_block *block, const varying *state);
static void run_instructions(const uniform *u, uint32_t f, uint32_t b, varying *state);

/* After a first look with those edges left out: where the branch turned out the same for all lanes
 * its edge decides nothing and comes back; and so does an edge that is the only way out of a loop,
 * because there it is the loop's condition. */
static bool settle_exits(uniform *u, uint32_t f) {
    const hg_function *fn = &u->cfg->functions[f];
    region *r = &u->regions[f];
    for (uint32_t b = 0; b < fn->block_count; b++) {
        if (!r->left_out[b]) continue;
        varying state = r->in[b];
        run_instructions(u, f, b, &state);
        if (!r->divergent[b] && !r->divergent_entry && !varying_branch(u, &fn->blocks[b], &state))
            take_back(fn, r, b);
    }
    return find_ends(u, fn, r);
}

/* True when edges were left out. */
static bool make_graph(uniform *u, uint32_t f) {
    const hg_function *fn = &u->cfg->functions[f];
    region *r = &u->regions[f];
    uint32_t n = fn->block_count;
    hg_check *c = u->check;
    r->succ = hg_check_alloc(c, n, sizeof *r->succ);
    r->parent = hg_check_alloc(c, (uint64_t)n + 1, sizeof *r->parent);
    r->depth = hg_check_alloc(c, (uint64_t)n + 1, sizeof *r->depth);
    r->skip = hg_check_alloc(c, (uint64_t)n + 1, sizeof *r->skip);
    r->cause = hg_check_alloc(c, n, sizeof *r->cause);
    r->divergent = hg_check_alloc(c, (uint64_t)n + 1, 1);
    r->decided = hg_check_alloc(c, n, 1);
    r->dirty = hg_check_alloc(c, n, 1);
    r->left_out = hg_check_alloc(c, n, 1);
    r->in = hg_check_alloc(c, n, sizeof *r->in);
    if (c->out_of_memory) return false;
    for (uint32_t b = 0; b < n; b++) {
        const hg_block *block = &fn->blocks[b];
        for (int k = 0; k < 2; k++) r->succ[b][k] = block->succ[k];
        if (block->exit == HG_EXIT_RET || block->exit == HG_EXIT_STOP) r->succ[b][0] = n;
        if (block->exit == HG_EXIT_CALL && !u->block && u->cfg->functions[block->callee].exits)
            r->succ[b][1] = n;
        for (uint32_t i = block->first; i < block->last; i++) {
            hg_accesses a;
            hg_inst_accesses(u->program, i, &a);
            for (uint32_t k = 0; k < a.writes; k++) add(&r->written, number_of(&a.write[k]));
        }
        if (block->exit == HG_EXIT_CALL)
            merge(&r->written, &u->regions[block->callee].written); /* callees come first */
    }
    return u->block && leave_out_exits(fn, r);
}

/* Forgets what an earlier look found out. */
static bool begin_look(uniform *u, uint32_t f) {
    region *r = &u->regions[f];
    uint32_t n = u->cfg->functions[f].block_count;
    if (!hg_postdominators(u->check, n, (const uint32_t(*)[2])r->succ, r->parent, r->depth))
        return false;
    for (uint32_t b = 0; b <= n; b++) r->skip[b] = b;
    memset(r->divergent, 0, (size_t)n + 1);
    memset(r->decided, 0, n);
    memset(r->in, 0, n * sizeof *r->in);
    r->entry = r->out = (varying){{0}};
    r->called = r->divergent_entry = r->exit_divergent = r->changed_out = false;
    r->dirty_function = f == 0;
    return true;
}

/* ---- divergence ---- */

/* First block at or above b in the postdominator tree that is not divergent, with path compression.
 */
static uint32_t next_open(region *r, uint32_t b) {
    uint32_t top = b;
    while (r->skip[top] != top) top = r->skip[top];
    while (r->skip[b] != top) {
        uint32_t next = r->skip[b];
        r->skip[b] = top;
        b = next;
    }
    return top;
}

/* Blocks that depend on the branch at the end of block b become divergent: those from each
 * successor up to b's postdominator. */
static bool mark(region *r, uint32_t count, uint32_t b, uint32_t cause) {
    bool any = false;
    uint32_t stop = r->parent[b];
    for (int k = 0; k < 2; k++) {
        if (r->succ[b][k] == HG_NO_BLOCK) continue;
        for (uint32_t x = next_open(r, r->succ[b][k]); x != count && r->depth[x] > r->depth[stop];
             x = next_open(r, x)) {
            r->divergent[x] = r->dirty[x] = 1;
            r->cause[x] = cause;
            r->skip[x] = r->parent[x];
            any = true;
        }
    }
    return any;
}

/* Does a varying value decide where block b goes? */
static bool varying_branch(const uniform *u, const hg_block *block, const varying *state) {
    const region *g;
    switch ((hg_exit_kind)block->exit) {
    case HG_EXIT_BRANCH:
        return has(state,
                   PREDICATES + (uint32_t)hg_inst_operands(u->program, block->last - 1)[0].reg);
    case HG_EXIT_LOOP: return has(state, hg_inst_operands(u->program, block->last - 1)[0].reg);
    case HG_EXIT_CALL: g = &u->regions[block->callee]; return !u->block && g->exit_divergent;
    default: return false;
    }
}

static void run_instructions(const uniform *u, uint32_t f, uint32_t b, varying *state) {
    const hg_block *block = &u->cfg->functions[f].blocks[b];
    bool divergent = u->regions[f].divergent[b] || u->regions[f].divergent_entry;
    for (uint32_t i = block->first; i < block->last; i++) step(u, i, divergent, state);
}

static void enter_callee(uniform *u, uint32_t callee, const varying *state, bool divergent,
                         uint32_t cause) {
    region *g = &u->regions[callee];
    bool grown = merge(&g->entry, state) || !g->called;
    g->called = true;
    if (divergent && !g->divergent_entry) {
        g->divergent_entry = grown = true;
        g->entry_cause = cause;
    }
    if (grown) g->dirty_function = u->changed = true;
}

static void stop_divergent(region *r, uint32_t cause) {
    if (r->exit_divergent) return;
    r->exit_divergent = r->changed_out = true;
    r->exit_cause = cause;
}

/* Runs a block; true when something before it in the list has to run again. */
static bool run_block(uniform *u, uint32_t f, uint32_t b) {
    const hg_function *fn = &u->cfg->functions[f];
    const hg_block *block = &fn->blocks[b];
    region *r = &u->regions[f];
    varying state = r->in[b];
    bool divergent = r->divergent[b] || r->divergent_entry, again = false;
    uint32_t cause = r->divergent[b] ? r->cause[b] : r->entry_cause;
    run_instructions(u, f, b, &state);
    bool branch = varying_branch(u, block, &state);
    if (branch && r->succ[b][0] != HG_NO_BLOCK && r->succ[b][1] != HG_NO_BLOCK)
        cause = block->exit == HG_EXIT_CALL ? u->regions[block->callee].exit_cause
                                            : block->last - 1;
    if ((branch || divergent) && !r->decided[b] && r->succ[b][0] != HG_NO_BLOCK &&
        r->succ[b][1] != HG_NO_BLOCK) {
        r->decided[b] = 1;
        again |= mark(r, fn->block_count, b, cause);
    }
    if (block->exit == HG_EXIT_CALL) {
        region *g = &u->regions[block->callee];
        enter_callee(u, block->callee, &state, divergent, cause);
        for (int k = 0; k < 5; k++)
            state.bits[k] = (state.bits[k] & ~g->written.bits[k]) |
                            (g->out.bits[k] & g->written.bits[k]);
        if (g->exit_divergent || (divergent && u->cfg->functions[block->callee].exits))
            stop_divergent(r, g->exit_divergent ? g->exit_cause : cause);
    }
    if (block->exit == HG_EXIT_STOP && divergent) stop_divergent(r, cause);
    if (block->exit == HG_EXIT_RET) r->changed_out |= merge(&r->out, &state);
    for (int k = 0; k < 2; k++) {
        uint32_t to = block->succ[k];
        if (to != HG_NO_BLOCK && merge(&r->in[to], &state)) {
            r->dirty[to] = 1;
            again |= to <= b;
        }
    }
    return again;
}

static void run_function(uniform *u, uint32_t f) {
    region *r = &u->regions[f];
    uint32_t n = u->cfg->functions[f].block_count;
    r->dirty_function = false;
    merge(&r->in[0], &r->entry);
    memset(r->dirty, 1, n);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = 0; b < n; b++) {
            if (!r->dirty[b]) continue;
            r->dirty[b] = 0;
            again |= run_block(u, f, b);
        }
    }
    u->changed |= r->changed_out;
}

/* Callers of functions whose results changed have to run again. */
static void spread(uniform *u) {
    for (uint32_t f = 0; f < u->cfg->function_count; f++) {
        const hg_function *fn = &u->cfg->functions[f];
        for (uint32_t b = 0; b < fn->block_count && !u->regions[f].dirty_function; b++)
            if (fn->blocks[b].exit == HG_EXIT_CALL && u->regions[fn->blocks[b].callee].changed_out)
                u->regions[f].dirty_function = true;
    }
    for (uint32_t f = 0; f < u->cfg->function_count; f++) u->regions[f].changed_out = false;
}

/* Too many rounds: from here on every function but the program may be called with anything, from
 * anywhere. Safe, and final. */
static void give_up(uniform *u) {
    for (uint32_t f = 0; f < u->cfg->function_count; f++) {
        region *r = &u->regions[f];
        if (f) {
            memset(&r->entry, 0xFF, sizeof r->entry);
            memset(&r->out, 0xFF, sizeof r->out);
            r->divergent_entry = true;
            if (u->cfg->functions[f].exits) r->exit_divergent = true;
        }
        r->dirty_function = true;
    }
}

static void run_rounds(uniform *u) {
    uint32_t n = u->cfg->function_count;
    u->changed = true;
    for (int round = 0; u->changed && round <= MAX_ROUNDS; round++) {
        u->changed = false;
        if (round == MAX_ROUNDS) give_up(u);
        for (uint32_t i = n; i-- > 0;)
            if (u->regions[u->cfg->bottom_up[i]].dirty_function)
                run_function(u, u->cfg->bottom_up[i]);
        spread(u);
    }
}

/* ---- reports ---- */

/* The statement of the text that the branch is of; else it is one. */
static const char *branch_word(const hg_program *p, uint32_t inst) {
    uint32_t low = 0, high = p->word_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->words[middle].end > inst)
            high = middle;
        else
            low = middle + 1;
    }
    bool found = low < p->word_count && p->words[low].first <= inst;
    return found ? p->words[low].word : "branch";
}

static void report_divergent(uniform *u, uint32_t inst, uint32_t cause) {
    const char *what = hg_op_get((hg_op)u->program->insts[inst].op)->text,
               *word = branch_word(u->program, cause);
    hg_where here = hg_check_where(u->program, inst), branch = hg_check_where(u->program, cause);
    if (u->block && hg_op_get((hg_op)u->program->insts[inst].op)->flags & HG_F_BLOCK)
        hg_check_error(
            u->check, "V09", inst, HG_NO_OPERAND,
            "put it where all lanes that go on come together, or let the others end with exit",
            "'%s' at %s is under the per-lane %s at %s", what, here.text, word, branch.text);
    else if (u->block)
        hg_check_error(
            u->check, "V09", inst, HG_NO_OPERAND,
            "put it where all lanes that go on come together, or let the others end with exit",
            "barrier at %s is under the per-lane %s at %s", here.text, word, branch.text);
    else
        hg_check_error(u->check, "V08", inst, HG_NO_OPERAND,
                       "bring all lanes together before it: none may have jumped past it or ended",
                       "collective '%s' at %s is under the per-lane %s at %s", what, here.text,
                       word, branch.text);
}

static void report_instruction(uniform *u, uint32_t inst, bool divergent, uint32_t cause,
                               const varying *state) {
    const hg_op_info *row = hg_op_get((hg_op)u->program->insts[inst].op);
    if (!(row->flags & (u->block ? HG_F_BARRIER : HG_F_COLLECTIVE))) return;
    if (divergent) {
        report_divergent(u, inst, cause);
        return;
    }
    if (u->block) return; /* each lane brings its own value */
    hg_accesses a;
    hg_inst_accesses(u->program, inst, &a);
    for (uint32_t k = 0; k < a.reads; k++)
        if (has(state, number_of(&a.read[k])) &&
            !(a.read[k].is_pred && hg_op_asks_all(u->program->insts[inst].op)))
            hg_check_error(
                u->check, "V10", inst, a.read[k].operand, NULL,
                "operand '%s' of '%s' must be the same in all lanes: %s is not",
                row->operands[a.read[k].operand].name, row->text,
                hg_check_register(u->program, inst, a.read[k].is_pred, a.read[k].reg).text);
}

static void report_function(uniform *u, uint32_t f) {
    const hg_function *fn = &u->cfg->functions[f];
    const region *r = &u->regions[f];
    for (uint32_t b = 0; b < fn->block_count; b++) {
        varying state = r->in[b];
        bool divergent = r->divergent[b] || r->divergent_entry;
        uint32_t cause = r->divergent[b] ? r->cause[b] : r->entry_cause;
        for (uint32_t i = fn->blocks[b].first; i < fn->blocks[b].last; i++) {
            report_instruction(u, i, divergent, cause, &state);
            step(u, i, divergent, &state);
        }
    }
}

static bool look(uniform *u) {
    for (uint32_t f = 0; f < u->cfg->function_count; f++)
        if (!begin_look(u, f)) return false;
    varying *start = &u->regions[0].entry;
    add(start, 252);
    add(start, 255);
    if (!u->block) add(start, 253);
    for (uint32_t i = 0; i < u->program->param_count; i++) drop(start, u->program->params[i].reg);
    run_rounds(u);
    return true;
}

static void ask(hg_check *c, const hg_cfg *cfg, bool block) {
    uniform u = {.check = c, .cfg = cfg, .program = c->program, .block = block};
    u.regions = hg_check_alloc(c, cfg->function_count, sizeof *u.regions);
    if (!u.regions) return;
    bool left_out = false;
    for (uint32_t i = 0; i < cfg->function_count; i++)
        left_out |= make_graph(&u, cfg->bottom_up[i]);
    if (c->out_of_memory || !look(&u)) return;
    for (uint32_t f = 0; left_out && f < cfg->function_count; f++)
        if (!settle_exits(&u, f)) return;
    if (left_out && !look(&u)) return;
    for (uint32_t f = 0; f < cfg->function_count; f++) report_function(&u, f);
}

void hg_check_uniform(hg_check *c, hg_cfg *cfg) {
    if (cfg->has_collective) ask(c, cfg, false);
    if (cfg->uses_barrier && !c->out_of_memory) ask(c, cfg, true);
}
