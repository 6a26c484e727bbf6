/* Blocks, functions and the call graph of a program (DESIGN section 2).
 * Requires: structural checks passed. Provides: every field of hg_cfg but the types and predicates of functions. */
#include "isa/verify_internal.h"

#include <stdlib.h>
#include <string.h>

/* A function is its own copy of the blocks it reaches, so code reached from many CALL targets is
 * repeated. All copies together have at most COPIES times the program's instructions and
 * COPIES_AT_LEAST more, so that what comes later is linear in the program. */
enum { COPIES = 16, COPIES_AT_LEAST = 65536 };

typedef struct scan {
    hg_check *check;
    hg_cfg *cfg;
    const hg_program *program;
    uint32_t raw_count;    /* blocks of the whole program, the empty one at its end included */
    uint32_t *raw_first;   /* raw_count + 1 */
    uint32_t *raw_at;      /* instruction index → raw block that begins there; n + 1 */
    uint32_t *function_at; /* raw block → function number + 1 */
    uint32_t *stamp;       /* raw block → function that reached it last, + 1 */
    uint32_t *local;       /* raw block → number in that function */
    uint32_t *stack;       /* raw blocks to visit, and the list of those found; 2 × raw_count */
    uint64_t copied;       /* instructions and blocks of all functions */
    HG_VEC(hg_function) functions;
} scan;

static void *cfg_alloc(scan *s, uint64_t count, size_t size) {
    void *memory = hg_arena_alloc(&s->cfg->arena, (size_t)count * size + 1);
    if (!memory) s->check->out_of_memory = true;
    return memory;
}

/* ---- blocks of the whole program ---- */

static uint32_t target_of(const hg_program *p, uint32_t inst) {
    return (uint32_t)hg_inst_operands(
               p, inst)[p->insts[inst].op == HG_OP_BRA || hg_op_is_loop(p->insts[inst].op) ? 1 : 0]
        .value;
}

static bool is_control(uint16_t op) { return (hg_op_get((hg_op)op)->flags & HG_F_CONTROL) != 0; }
static bool has_target(uint16_t op) {
    return op == HG_OP_BRA || op == HG_OP_CALL || hg_op_is_loop(op);
}

static bool find_blocks(scan *s) {
    const hg_program *p = s->program;
    uint32_t n = p->inst_count;
    s->raw_at = hg_check_alloc(s->check, (uint64_t)n + 1, sizeof *s->raw_at);
    if (!s->raw_at) return false;
    s->raw_at[0] = s->raw_at[n] = s->raw_at[p->entry] = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_control(p->insts[i].op)) continue;
        s->raw_at[i + 1] = 1;
        if (has_target(p->insts[i].op)) s->raw_at[target_of(p, i)] = 1;
    }
    for (uint32_t i = 0; i <= n; i++) s->raw_count += s->raw_at[i];
    s->raw_first = hg_check_alloc(s->check, (uint64_t)s->raw_count + 1, sizeof *s->raw_first);
    s->function_at = hg_check_alloc(s->check, s->raw_count, sizeof *s->function_at);
    s->stamp = hg_check_alloc(s->check, s->raw_count, sizeof *s->stamp);
    s->local = hg_check_alloc(s->check, s->raw_count, sizeof *s->local);
    s->stack = hg_check_alloc(s->check, 2 * (uint64_t)s->raw_count, sizeof *s->stack);
    if (s->check->out_of_memory) return false;
    uint32_t k = 0;
    for (uint32_t i = 0; i <= n; i++) {
        if (!s->raw_at[i]) continue;
        s->raw_first[k] = i;
        s->raw_at[i] = k++;
    }
    s->raw_first[k] = n;
    return true;
}

/* Kind of a raw block's end, and its successors as raw blocks. */
static hg_exit_kind raw_exit(const scan *s, uint32_t raw, uint32_t succ[2]) {
    const hg_program *p = s->program;
    uint32_t first = s->raw_first[raw], last = s->raw_first[raw + 1];
    succ[0] = succ[1] = HG_NO_BLOCK;
    if (first == last) return HG_EXIT_STOP;
    uint16_t op = p->insts[last - 1].op;
    uint32_t next = s->raw_at[last];
    switch (op) {
    case HG_OP_BRA:
        succ[0] = s->raw_at[target_of(p, last - 1)];
        if (hg_inst_operands(p, last - 1)[0].reg == 255) return HG_EXIT_JUMP;
        succ[1] = next;
        return HG_EXIT_BRANCH;
    case HG_OP_LOOP:
    case HG_OP_LOOP64:
        succ[0] = s->raw_at[target_of(p, last - 1)];
        succ[1] = next;
        return HG_EXIT_LOOP;
    case HG_OP_CALL: succ[0] = next; return HG_EXIT_CALL;
    case HG_OP_RET: return HG_EXIT_RET;
    case HG_OP_EXIT: return HG_EXIT_STOP;
    default: succ[0] = next; return HG_EXIT_FALL;
    }
}

/* ---- functions ---- */

/* Number of the function that begins at a raw block; a new one when there is none. UINT32_MAX: out
 * of memory. */
static uint32_t function_at(scan *s, uint32_t raw) {
    if (s->function_at[raw]) return s->function_at[raw] - 1;
    hg_function *f = hg_vec_push(&s->functions);
    if (!f) {
        s->check->out_of_memory = true;
        return UINT32_MAX;
    }
    f->entry = s->raw_first[raw];
    s->function_at[raw] = (uint32_t)s->functions.count;
    return (uint32_t)s->functions.count - 1;
}

static int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Raw blocks that function number f reaches, in order, the entry first. Their number. */
static uint32_t reach(scan *s, uint32_t f, uint32_t *found) {
    uint32_t *stack = s->stack, depth = 0, count = 0, entry = s->raw_at[s->functions.data[f].entry];
    stack[depth++] = entry;
    s->stamp[entry] = f + 1;
    while (depth) {
        uint32_t raw = stack[--depth], succ[2];
        found[count++] = raw;
        raw_exit(s, raw, succ);
        for (int k = 0; k < 2; k++)
            if (succ[k] != HG_NO_BLOCK && s->stamp[succ[k]] != f + 1) {
                s->stamp[succ[k]] = f + 1;
                stack[depth++] = succ[k];
            }
    }
    if (count > s->raw_count / 16) {
        count = 0;
        for (uint32_t raw = 0; raw < s->raw_count; raw++)
            if (s->stamp[raw] == f + 1) found[count++] = raw;
    } else {
        qsort(found, count, sizeof *found, compare_u32);
    }
    uint32_t at = 0;
    while (found[at] != entry) at++;
    memmove(found + 1, found, at * sizeof *found);
    found[0] = entry;
    return count;
}

static bool fill_function(scan *s, uint32_t f) {
    uint32_t *found = s->stack + s->raw_count;
    uint32_t count = reach(s, f, found);
    for (uint32_t i = 0; i < count; i++)
        s->copied += s->raw_first[found[i] + 1] - s->raw_first[found[i]] + (i > 0);
    uint64_t most = COPIES * (uint64_t)s->program->inst_count + COPIES_AT_LEAST;
    if (s->copied > most) {
        hg_check_error(
            s->check, "S05", s->functions.data[f].entry, HG_NO_OPERAND,
            "call the code that they share as a function of its own",
            "functions share too much code: more than %llu instructions when each has its own copy",
            (unsigned long long)most);
        return false;
    }
    hg_block *blocks = cfg_alloc(s, count, sizeof *blocks);
    if (!blocks) return false;
    for (uint32_t i = 0; i < count; i++) s->local[found[i]] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t succ[2];
        hg_block *b = &blocks[i];
        b->first = s->raw_first[found[i]];
        b->last = s->raw_first[found[i] + 1];
        b->exit = (uint8_t)raw_exit(s, found[i], succ);
        for (int k = 0; k < 2; k++)
            b->succ[k] = succ[k] == HG_NO_BLOCK ? HG_NO_BLOCK : s->local[succ[k]];
        b->callee = 0;
        if (b->exit == HG_EXIT_CALL &&
            (b->callee = function_at(s, s->raw_at[target_of(s->program, b->last - 1)])) ==
                UINT32_MAX)
            return false;
    }
    s->functions.data[f].blocks = blocks;
    s->functions.data[f].block_count = count;
    return true;
}

/* ---- call graph ---- */

static void report_cycle(scan *s, const uint32_t *path, uint32_t depth, uint32_t callee,
                         uint32_t call) {
    const hg_cfg *cfg = s->cfg;
    hg_text text = {0};
    uint32_t from = 0, shown = 0;
    while (path[from] != callee) from++;
    for (uint32_t i = from; i < depth; i++) {
        if (shown++ < 8)
            hg_text_addf(&text, "@%s -> ",
                         hg_check_label(s->program, cfg->functions[path[i]].entry).text);
        else if (shown == 9)
            hg_text_addf(&text, "... -> ");
    }
    hg_text_addf(&text, "@%s", hg_check_label(s->program, cfg->functions[callee].entry).text);
    if (text.failed)
        s->check->out_of_memory = true;
    else
        hg_check_error(s->check, "V06", call, 0, "functions cannot call themselves; use a loop",
                       "recursion: %s", text.data);
    hg_text_free(&text);
}

/* Depth-first over calls with an explicit stack: height, order, what stands below. False on a cycle
 * or a graph too high. */
static bool order_calls(scan *s) {
    hg_cfg *cfg = s->cfg;
    uint32_t n = cfg->function_count, depth = 0, ordered = 0;
    uint8_t *state = hg_check_alloc(s->check, n, 1); /* 0 not seen, 1 on the path, 2 done */
    uint32_t *path = hg_check_alloc(s->check, n, sizeof *path);
    uint32_t *next = hg_check_alloc(s->check, n, sizeof *next); /* block to look at next */
    cfg->bottom_up = cfg_alloc(s, n, sizeof *cfg->bottom_up);
    if (s->check->out_of_memory) return false;
    path[depth++] = 0;
    state[0] = 1;
    while (depth) {
        hg_function *f = &cfg->functions[path[depth - 1]];
        uint32_t b = next[path[depth - 1]];
        while (b < f->block_count &&
               (f->blocks[b].exit != HG_EXIT_CALL || state[f->blocks[b].callee] == 2))
            b++;
        next[path[depth - 1]] = b;
        if (b < f->block_count) {
            uint32_t callee = f->blocks[b].callee;
            if (state[callee] == 1) {
                report_cycle(s, path, depth, callee, f->blocks[b].last - 1);
                return false;
            }
            state[callee] = 1;
            path[depth++] = callee;
            continue;
        }
        f->height = 1;
        for (b = 0; b < f->block_count; b++) {
            if (f->blocks[b].exit != HG_EXIT_CALL) continue;
            const hg_function *g = &cfg->functions[f->blocks[b].callee];
            if (g->height >= f->height) f->height = g->height + 1;
            f->has_barrier |= g->has_barrier;
            f->has_collective |= g->has_collective;
            f->exits |= g->exits;
        }
        state[path[depth - 1]] = 2;
        cfg->bottom_up[ordered++] = path[--depth];
    }
    return true;
}

/* The program itself is one level of the graph, not of the call stack. */
static bool check_height(scan *s) {
    const hg_function *program = &s->cfg->functions[0];
    if (program->height <= HG_MAX_CALL_DEPTH + 1u) return true;
    for (uint32_t b = 0; b < program->block_count; b++) {
        const hg_block *block = &program->blocks[b];
        if (block->exit != HG_EXIT_CALL ||
            s->cfg->functions[block->callee].height <= HG_MAX_CALL_DEPTH)
            continue;
        hg_check_error(s->check, "S05", block->last - 1, 0, NULL,
                       "call stack overflow (max depth: %d)", (int)HG_MAX_CALL_DEPTH);
        return false;
    }
    return true;
}

static void look_into_functions(scan *s) {
    const hg_program *p = s->program;
    for (uint32_t i = 0; i < s->cfg->function_count; i++) {
        hg_function *f = &s->cfg->functions[i];
        memset(f->reads, HG_TYPE_OMITTED, sizeof f->reads);
        memset(f->leaves, HG_TYPE_OMITTED, sizeof f->leaves);
        for (uint32_t b = 0; b < f->block_count; b++) {
            const hg_block *block = &f->blocks[b];
            f->exits |= block->exit == HG_EXIT_STOP;
            f->returns |= block->exit == HG_EXIT_RET;
            if (block->exit == HG_EXIT_RET && i == 0)
                hg_check_error(s->check, "V07", block->last - 1, HG_NO_OPERAND, NULL,
                               "call stack underflow: attempted return with empty call stack");
            for (uint32_t k = block->first; k < block->last; k++) {
                uint32_t flags = hg_op_get((hg_op)p->insts[k].op)->flags;
                f->has_barrier |= (flags & HG_F_BARRIER) != 0;
                f->has_collective |= (flags & HG_F_COLLECTIVE) != 0;
            }
        }
    }
}

bool hg_cfg_build(hg_check *c, hg_cfg *cfg) {
    scan s = {.check = c, .cfg = cfg, .program = c->program};
    bool ok = find_blocks(&s) && function_at(&s, s.raw_at[c->program->entry]) == 0;
    for (uint32_t f = 0; ok && f < s.functions.count; f++) ok = fill_function(&s, f);
    if (ok) {
        cfg->function_count = (uint32_t)s.functions.count;
        cfg->functions = cfg_alloc(&s, cfg->function_count, sizeof *cfg->functions);
        ok = cfg->functions != NULL;
    }
    if (ok) {
        memcpy(cfg->functions, s.functions.data, cfg->function_count * sizeof *cfg->functions);
        look_into_functions(&s);
        ok = order_calls(&s) && check_height(&s);
    }
    hg_vec_free(&s.functions);
    return ok && !c->out_of_memory;
}
