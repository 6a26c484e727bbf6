/* Numbers of virtual registers: for each, in order of first appearance, the lowest number that is
 * free wherever it is live.
 *
 * A virtual register is live where its value may still be read (over calls and returns too). One at
 * a time is followed backwards from its reads to the blocks where it is live, so that no set of
 * registers is kept but those already numbered: a mask of numbers for each instruction and each
 * block. At most 256 are live at one place, which bounds time and memory; blocks are short, for the
 * same reason.
 *
 * Requires: labels are resolved. Must not know: syntax. */
#include "isa/text_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_BLOCK = 64, MOST_FUNCTIONS = 64 };
static const uint32_t NO_BLOCK = UINT32_MAX, NO_FUNCTION = UINT32_MAX;

typedef struct mask {
    uint64_t bits[4];
} mask;

/* What an instruction does with a register. */
typedef struct event {
    uint32_t inst;
    uint8_t access;
} event;

typedef enum edge_kind {
    EDGE_FLOW,
    EDGE_CALL /* into a function */,
    EDGE_RETURN /* over a call: from block, which calls */
} edge_kind;
typedef struct edge {
    uint32_t from, to, function;
    uint8_t kind;
} edge;

/* Instructions first to last of a block; the register is live behind each of them. */
typedef struct range {
    uint32_t block, first, last;
} range;

/* Instructions from first up to end. */
typedef struct span {
    uint32_t first, end;
} span;

/* The name of a register there. */
typedef struct record {
    span at;
    uint32_t virtual_number;
} record;

/* Of the register at work, where equal to its stamp. */
typedef struct block_state {
    uint32_t live_in, live_out, has_events, is_whole, is_across;
} block_state;

/* Numbers taken in all of a block; anywhere in it; and those of callers' registers that live on
 * while the block's function runs, which do not meet each other. */
typedef struct block_masks {
    mask through, any, across;
} block_masks;

typedef HG_VEC(uint32_t) list;

typedef struct allocation {
    hg_assembler *a;
    struct { /* blocks and functions */
        uint32_t inst_count, block_count, function_count;
        bool joined;           /* too many functions: every return goes to every call */
        uint32_t *block_first; /* block_count + 1 */
        uint32_t *block_at;    /* of an instruction */
        uint32_t entry_block;
        uint32_t *edge_head; /* edges that lead to a block: block_count + 1 */
        edge *edges;
        uint64_t *members; /* of a block: functions that it is part of */
        uint64_t closure[MOST_FUNCTIONS];
        uint32_t function_entry[MOST_FUNCTIONS];
        uint32_t *member_head; /* blocks of each function */
        uint32_t *member_blocks;
        uint32_t *return_head;
        list returns; /* blocks of each function that end in ret */
    } flow;
    hg_arena arena;
    bool out_of_memory;

    uint64_t *event_head; /* of a virtual register */
    event *events;

    mask *points; /* numbers taken behind each instruction besides those of its block */
    block_masks *masks;
    mask start;
    struct { /* the register at work */
        uint32_t stamp;
        block_state *state;
        uint32_t function_stamp[MOST_FUNCTIONS], return_stamp[MOST_FUNCTIONS];
        uint64_t mention; /* functions that have events */
        bool at_start;
        HG_VEC(span) held; /* instructions before which it holds its value, but for whole blocks */
        list work;
        list whole;   /* blocks */
        list crossed; /* blocks of functions called meanwhile */
        HG_VEC(range) ranges;
    } now;

    HG_VEC(record) records;
} allocation;

static void *reserve(allocation *x, uint64_t count, size_t size) {
    void *memory = hg_arena_alloc(&x->arena, (size_t)(count + 1) * size);
    if (!memory) x->out_of_memory = true;
    return memory;
}

static void push(allocation *x, list *to, uint32_t block) {
    uint32_t *pushed = hg_vec_push(to);
    if (!pushed)
        x->out_of_memory = true;
    else
        *pushed = block;
}

/* ---- the graph ---- */

static const hg_op_info *row_of(const allocation *x, uint32_t inst) {
    return hg_op_get((hg_op)x->a->code.insts.data[inst].op);
}

/* Target of a branch or call; inst_count: none, or the end. */
static uint32_t target_of(const allocation *x, uint32_t inst) {
    const hg_op_info *row = row_of(x, inst);
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_LABEL)
            return (uint32_t)x->a->code.operands.data[x->a->code.insts.data[inst].operands + i]
                .value;
    return x->flow.inst_count;
}

static bool falls_through(const allocation *x, uint32_t inst) {
    const hg_inst *in = &x->a->code.insts.data[inst];
    if (in->op == HG_OP_RET || in->op == HG_OP_EXIT) return false;
    return in->op != HG_OP_BRA || x->a->code.operands.data[in->operands].reg != 255;
}

static bool is_control(const allocation *x, uint32_t inst) {
    return (row_of(x, inst)->flags & HG_F_CONTROL) != 0;
}

static bool find_blocks(allocation *x) {
    uint32_t n = x->flow.inst_count, count = 0, length = 0;
    uint8_t *leads = reserve(x, n, 1);
    x->flow.block_at = reserve(x, n, sizeof *x->flow.block_at);
    if (x->out_of_memory) return false;
    leads[0] = leads[x->a->program->entry] = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_control(x, i)) continue;
        leads[i + 1] = 1;
        leads[target_of(x, i)] = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        length = leads[i] || length == MOST_BLOCK ? 1 : length + 1;
        count += length == 1;
        x->flow.block_at[i] = count - 1;
    }
    x->flow.block_count = count;
    x->flow.block_first = reserve(x, count, sizeof *x->flow.block_first);
    if (x->out_of_memory) return false;
    for (uint32_t i = n; i-- > 0;) x->flow.block_first[x->flow.block_at[i]] = i;
    x->flow.block_first[count] = n;
    x->flow.entry_block = x->a->program->entry < n ? x->flow.block_at[x->a->program->entry]
                                                   : NO_BLOCK;
    return true;
}

static uint32_t last_of(const allocation *x, uint32_t block) {
    return x->flow.block_first[block + 1] - 1;
}

/* Block of an instruction; NO_BLOCK: the end of the program. */
static uint32_t block_of(const allocation *x, uint32_t inst) {
    return inst < x->flow.inst_count ? x->flow.block_at[inst] : NO_BLOCK;
}

static uint32_t function_of(const allocation *x, uint32_t entry) {
    for (uint32_t f = 0; f < x->flow.function_count; f++)
        if (x->flow.function_entry[f] == entry) return f;
    return NO_FUNCTION;
}

static void find_functions(allocation *x) {
    for (uint32_t b = 0; b < x->flow.block_count && !x->flow.joined; b++) {
        if (x->a->code.insts.data[last_of(x, b)].op != HG_OP_CALL) continue;
        uint32_t entry = block_of(x, target_of(x, last_of(x, b)));
        if (entry == NO_BLOCK || function_of(x, entry) != NO_FUNCTION) continue;
        x->flow.joined = x->flow.function_count == MOST_FUNCTIONS;
        if (!x->flow.joined) x->flow.function_entry[x->flow.function_count++] = entry;
    }
    if (x->flow.joined) x->flow.function_count = 1; /* one that stands for all */
}

static uint32_t callee_of(const allocation *x, uint32_t block) {
    return x->flow.joined ? 0 : function_of(x, block_of(x, target_of(x, last_of(x, block))));
}

/* Successors without those inside a called function. */
static uint32_t successors(const allocation *x, uint32_t block, uint32_t to[2]) {
    uint32_t last = last_of(x, block), count = 0;
    bool call = x->a->code.insts.data[last].op == HG_OP_CALL;
    if (is_control(x, last) && !call && target_of(x, last) < x->flow.inst_count)
        to[count++] = block_of(x, target_of(x, last));
    if (falls_through(x, last) && last + 1 < x->flow.inst_count)
        to[count++] = block_of(x, last + 1);
    return count;
}

/* Which blocks belong to function f, and what it calls. */
static bool flood(allocation *x, uint32_t f) {
    uint64_t bit = UINT64_C(1) << f;
    x->now.work.count = 0;
    push(x, &x->now.work, x->flow.function_entry[f]);
    x->flow.members[x->flow.function_entry[f]] |= bit;
    x->flow.closure[f] |= bit;
    while (x->now.work.count) {
        uint32_t block = x->now.work.data[--x->now.work.count], to[2],
                 count = successors(x, block, to);
        if (x->a->code.insts.data[last_of(x, block)].op == HG_OP_CALL) {
            uint32_t callee = callee_of(x, block);
            if (callee != NO_FUNCTION) x->flow.closure[f] |= UINT64_C(1) << callee;
        }
        for (uint32_t k = 0; k < count; k++) {
            if (x->flow.members[to[k]] & bit) continue;
            x->flow.members[to[k]] |= bit;
            push(x, &x->now.work, to[k]);
        }
    }
    return !x->out_of_memory;
}

static bool list_members(allocation *x) {
    uint32_t *head = reserve(x, x->flow.function_count + 1, sizeof *head);
    if (!head) return false;
    uint64_t total = 0;
    for (uint32_t b = 0; b < x->flow.block_count; b++)
        total += (uint64_t)hg_popcount64(x->flow.members[b]);
    x->flow.joined = total > 8 * (uint64_t)x->flow.block_count + 65536; /* they share too much code
                                                                           to be told apart */
    if (x->flow.joined) {
        x->flow.function_count = 1;
        return true;
    }
    x->flow.member_blocks = reserve(x, total, sizeof *x->flow.member_blocks);
    if (!x->flow.member_blocks) return false;
    uint32_t at = 0;
    for (uint32_t f = 0; f < x->flow.function_count; f++) {
        head[f] = at;
        for (uint32_t b = 0; b < x->flow.block_count; b++)
            if (x->flow.members[b] >> f & 1) x->flow.member_blocks[at++] = b;
    }
    head[x->flow.function_count] = at;
    x->flow.member_head = head;
    return true;
}

static bool find_members(allocation *x) {
    x->flow.members = reserve(x, x->flow.block_count, sizeof *x->flow.members);
    if (!x->flow.members) return false;
    find_functions(x);
    for (uint32_t f = 0; f < x->flow.function_count && !x->flow.joined; f++)
        if (!flood(x, f)) return false;
    for (uint32_t round = 0; round < x->flow.function_count; round++) /* calls of calls */
        for (uint32_t f = 0; f < x->flow.function_count; f++)
            for (uint64_t left = x->flow.closure[f], g = 0; left; left >>= 1, g++)
                if (left & 1) x->flow.closure[f] |= x->flow.closure[g];
    return x->flow.joined || list_members(x);
}

static void add_edge(allocation *x, bool count_only, uint32_t from, uint32_t to, edge_kind kind,
                     uint32_t function) {
    if (to == NO_BLOCK) return;
    if (count_only)
        x->flow.edge_head[to + 1]++;
    else
        x->flow.edges[x->flow.edge_head[to]++] = (edge){from, to, function, (uint8_t)kind};
}

static void add_edges(allocation *x, bool count_only) {
    for (uint32_t b = 0; b < x->flow.block_count; b++) {
        uint32_t last = last_of(x, b), to[2], count = successors(x, b, to);
        bool call = x->a->code.insts.data[last].op == HG_OP_CALL;
        uint32_t function = call ? callee_of(x, b) : NO_FUNCTION;
        if (call) add_edge(x, count_only, b, block_of(x, target_of(x, last)), EDGE_CALL, function);
        for (uint32_t k = 0; k < count; k++)
            add_edge(x, count_only, b, to[k], call ? EDGE_RETURN : EDGE_FLOW, function);
    }
}

static bool list_returns(allocation *x) {
    x->flow.return_head = reserve(x, x->flow.function_count + 1, sizeof *x->flow.return_head);
    if (!x->flow.return_head) return false;
    for (uint32_t f = 0; f < x->flow.function_count; f++) {
        uint32_t first = x->flow.joined ? 0 : x->flow.member_head[f],
                 end = x->flow.joined ? x->flow.block_count : x->flow.member_head[f + 1];
        for (uint32_t i = first; i < end; i++) {
            uint32_t b = x->flow.joined ? i : x->flow.member_blocks[i];
            if (x->a->code.insts.data[last_of(x, b)].op == HG_OP_RET) push(x, &x->flow.returns, b);
        }
        x->flow.return_head[f + 1] = (uint32_t)x->flow.returns.count;
    }
    return !x->out_of_memory;
}

static bool build_graph(allocation *x) {
    if (!find_blocks(x) || !find_members(x)) return false;
    x->flow.edge_head = reserve(x, x->flow.block_count + 1, sizeof *x->flow.edge_head);
    if (!x->flow.edge_head) return false;
    add_edges(x, true);
    for (uint32_t b = 0; b < x->flow.block_count; b++)
        x->flow.edge_head[b + 1] += x->flow.edge_head[b];
    x->flow.edges = reserve(x, x->flow.edge_head[x->flow.block_count], sizeof *x->flow.edges);
    if (!x->flow.edges) return false;
    add_edges(x, false); /* moves each head to the end of its list */
    for (uint32_t b = x->flow.block_count; b > 0; b--)
        x->flow.edge_head[b] = x->flow.edge_head[b - 1];
    x->flow.edge_head[0] = 0;
    return list_returns(x);
}

/* ---- events ---- */

static int compare_events(const void *p, const void *q) {
    const event *a = p, *b = q;
    return a->inst < b->inst ? -1 : a->inst > b->inst;
}

static bool is_sorted(const event *events, uint64_t count) {
    for (uint64_t i = 1; i < count; i++)
        if (events[i - 1].inst > events[i].inst) return false;
    return true;
}

/* The uses of each virtual register in order of instructions; an instruction's are one event. */
static bool build_events(allocation *x) {
    hg_assembler *a = x->a;
    uint64_t count = a->registers.virtuals.count;
    x->event_head = reserve(x, count + 1, sizeof *x->event_head);
    x->events = reserve(x, a->registers.uses.count, sizeof *x->events);
    if (x->out_of_memory) return false;
    for (uint64_t i = 0; i < a->registers.uses.count; i++)
        x->event_head[a->registers.uses.data[i].virtual_number + 1]++;
    for (uint64_t v = 0; v < count; v++) x->event_head[v + 1] += x->event_head[v];
    for (uint64_t i = 0; i < a->registers.uses.count; i++) {
        const hg_use *use = &a->registers.uses.data[i];
        x->events[x->event_head[use->virtual_number]++] = (event){use->inst, use->access};
    }
    for (uint64_t v = count; v > 0; v--) x->event_head[v] = x->event_head[v - 1];
    x->event_head[0] = 0;
    for (uint64_t v = 0; v < count; v++) {
        event *first = &x->events[x->event_head[v]];
        uint64_t n = x->event_head[v + 1] - x->event_head[v], kept = 0;
        if (!is_sorted(first, n)) qsort(first, (size_t)n, sizeof *first, compare_events);
        for (uint64_t i = 0; i < n; i++) {
            if (kept && first[kept - 1].inst == first[i].inst)
                first[kept - 1].access |= first[i].access;
            else
                first[kept++] = first[i];
        }
        for (; kept < n; kept++) first[kept] = (event){UINT32_MAX, 0}; /* none: behind all */
    }
    return true;
}

static const event *events_of(const allocation *x, uint32_t v, uint64_t *count) {
    const event *first = &x->events[x->event_head[v]];
    *count = x->event_head[v + 1] - x->event_head[v];
    while (*count && first[*count - 1].inst == UINT32_MAX) --*count;
    return first;
}

/* ---- where a register is live ---- */

static void add_live_in(allocation *x, uint32_t block) {
    if (x->now.state[block].live_in == x->now.stamp) return;
    x->now.state[block].live_in = x->now.stamp;
    push(x, &x->now.work, block);
}

static void add_whole(allocation *x, uint32_t block) {
    if (x->now.state[block].is_whole == x->now.stamp) return;
    x->now.state[block].is_whole = x->now.stamp;
    push(x, &x->now.whole, block);
}

static void add_crossed(allocation *x, uint32_t block) {
    if (x->now.state[block].is_across == x->now.stamp) return;
    x->now.state[block].is_across = x->now.stamp;
    push(x, &x->now.crossed, block);
}

static void add_live_out(allocation *x, uint32_t block) {
    if (x->now.state[block].live_out == x->now.stamp) return;
    x->now.state[block].live_out = x->now.stamp;
    if (x->now.state[block].has_events == x->now.stamp) return;
    add_whole(x, block);
    add_live_in(x, block);
}

static bool touches(const allocation *x, uint32_t function) {
    return x->flow.joined ||
           (function != NO_FUNCTION && (x->flow.closure[function] & x->now.mention));
}

/* The register lives on while a function runs that does not name it. */
static void live_through(allocation *x, uint32_t function) {
    if (function == NO_FUNCTION) return;
    uint64_t left = x->flow.closure[function];
    for (uint32_t g = 0; left; left >>= 1, g++) {
        if (!(left & 1) || x->now.function_stamp[g] == x->now.stamp) continue;
        x->now.function_stamp[g] = x->now.stamp;
        for (uint32_t i = x->flow.member_head[g]; i < x->flow.member_head[g + 1]; i++)
            add_crossed(x, x->flow.member_blocks[i]);
    }
}

static void live_at_returns(allocation *x, uint32_t function) {
    if (x->now.return_stamp[function] == x->now.stamp) return;
    x->now.return_stamp[function] = x->now.stamp;
    for (uint32_t i = x->flow.return_head[function]; i < x->flow.return_head[function + 1]; i++)
        add_live_out(x, x->flow.returns.data[i]);
}

static void follow(allocation *x, const edge *e) {
    if (e->kind == EDGE_FLOW || (e->kind == EDGE_CALL && touches(x, e->function))) {
        add_live_out(x, e->from);
    } else if (e->kind == EDGE_RETURN && touches(x, e->function)) {
        live_at_returns(x, e->function);
    } else if (e->kind == EDGE_RETURN) {
        add_live_out(x, e->from);
        live_through(x, e->function);
    }
}

static void add_range(allocation *x, uint32_t block, uint32_t first, uint32_t last) {
    range *r = first <= last ? hg_vec_push(&x->now.ranges) : NULL;
    if (r)
        *r = (range){block, first, last};
    else if (first <= last)
        x->out_of_memory = true;
}

static void add_held(allocation *x, uint32_t first, uint32_t end) {
    span *s = first < end ? hg_vec_push(&x->now.held) : NULL;
    if (s)
        *s = (span){first, end};
    else if (first < end)
        x->out_of_memory = true;
}

/* Parts of a block with events, backwards from its end. Returns the number of its first event. */
static uint64_t add_parts(allocation *x, const event *events, uint64_t last) {
    uint32_t block = x->flow.block_at[events[last].inst], end = last_of(x, block),
             begin = x->flow.block_first[block];
    bool live = x->now.state[block].live_out == x->now.stamp;
    for (uint64_t k = last;; k--) {
        const event *e = &events[k];
        if (live) add_held(x, e->inst + 1, end < last_of(x, block) ? end + 2 : end + 1);
        if (live)
            add_range(x, block, e->inst, end);
        else if (e->access & HG_WRITE)
            add_range(x, block, e->inst, e->inst);
        live = (live && !(e->access & HG_WRITE)) || (e->access & HG_READ);
        end = e->inst - 1;
        if (k == 0 || events[k - 1].inst < begin) {
            if (live) add_held(x, begin, e->inst + 1);
            if (live && e->inst > begin) add_range(x, block, begin, end);
            return k;
        }
    }
}

/* Fills in whole, ranges and at_start. */
static void find_live(allocation *x, uint32_t v) {
    uint64_t count;
    const event *events = events_of(x, v, &count);
    const hg_virtual *virtual = &x->a->registers.virtuals.data[v];
    x->now.stamp++;
    x->now.work.count = x->now.whole.count = x->now.crossed.count = x->now.ranges.count =
        x->now.held.count = 0;
    x->now.mention = 0;
    x->now.at_start = virtual->name != HG_UNDEFINED &&
                      x->a->registers.named.data[virtual->name].param != HG_UNDEFINED;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t block = x->flow.block_at[events[i].inst];
        if (x->now.state[block].has_events == x->now.stamp) continue;
        x->now.state[block].has_events = x->now.stamp;
        x->now.mention |= x->flow.members[block];
        if (events[i].access & HG_READ) add_live_in(x, block);
    }
    const bool kept = x->now.at_start && x->a->registers.named.data[virtual->name].kept;
    for (uint32_t b = 0; kept && b < x->flow.block_count; b++) add_live_out(x, b);
    while (x->now.work.count && !x->out_of_memory) {
        uint32_t block = x->now.work.data[--x->now.work.count];
        if (block == x->flow.entry_block) x->now.at_start = true;
        for (uint32_t k = x->flow.edge_head[block]; k < x->flow.edge_head[block + 1]; k++)
            follow(x, &x->flow.edges[k]);
    }
    for (uint64_t i = count; i > 0 && !x->out_of_memory;) i = add_parts(x, events, i - 1);
}

/* ---- numbers ---- */

static void join(mask *to, const mask *from) {
    for (int i = 0; i < 4; i++) to->bits[i] |= from->bits[i];
}
static void set(mask *m, uint32_t number) { m->bits[number / 64] |= UINT64_C(1) << number % 64; }
static bool has(const mask *m, uint32_t number) { return m->bits[number / 64] >> number % 64 & 1; }

/* Numbers taken anywhere that the register found last is live. */
static mask taken_numbers(const allocation *x) {
    mask m = {{0}};
    if (x->now.at_start) m = x->start;
    for (uint64_t i = 0; i < x->now.crossed.count; i++)
        join(&m, &x->masks[x->now.crossed.data[i]].any);
    for (uint64_t i = 0; i < x->now.whole.count; i++) {
        join(&m, &x->masks[x->now.whole.data[i]].any);
        join(&m, &x->masks[x->now.whole.data[i]].across);
    }
    for (uint64_t i = 0; i < x->now.ranges.count; i++) {
        const range *r = &x->now.ranges.data[i];
        join(&m, &x->masks[r->block].through);
        join(&m, &x->masks[r->block].across);
        for (uint32_t k = r->first; k <= r->last; k++) join(&m, &x->points[k]);
    }
    return m;
}

static void take_number(allocation *x, uint32_t number) {
    if (x->now.at_start) set(&x->start, number);
    for (uint64_t i = 0; i < x->now.crossed.count; i++)
        set(&x->masks[x->now.crossed.data[i]].across, number);
    for (uint64_t i = 0; i < x->now.whole.count; i++) {
        set(&x->masks[x->now.whole.data[i]].through, number);
        set(&x->masks[x->now.whole.data[i]].any, number);
    }
    for (uint64_t i = 0; i < x->now.ranges.count; i++) {
        const range *r = &x->now.ranges.data[i];
        set(&x->masks[r->block].any, number);
        for (uint32_t k = r->first; k <= r->last; k++) set(&x->points[k], number);
    }
}

/* Numbers that no virtual register may have, and how many there are in all. */
static uint32_t fixed_numbers(const allocation *x, bool predicate, mask *m) {
    *m = (mask){{0}};
    if (predicate) {
        m->bits[0] = x->a->registers.taken[4];
        return HG_MAX_PREDICATES;
    }
    memcpy(m->bits, x->a->registers.taken, sizeof m->bits);
    return HG_FIRST_SPECIAL; /* those have words of their own */
}

/* ---- no number is left ---- */

static uint32_t count_bits(const mask *m) {
    uint32_t count = 0;
    for (int i = 0; i < 4; i++) count += (uint32_t)hg_popcount64(m->bits[i]);
    return count;
}

/* Of the register found last, the instruction behind which most numbers are taken; inst_count: only
 * at the start. */
static uint32_t most_crowded(const allocation *x) {
    uint32_t best = x->flow.inst_count, most = 0;
    for (uint64_t i = 0; i < x->now.whole.count + x->now.ranges.count; i++) {
        bool whole = i < x->now.whole.count;
        range r = whole ? (range){x->now.whole.data[i], x->flow.block_first[x->now.whole.data[i]],
                                  last_of(x, x->now.whole.data[i])}
                        : x->now.ranges.data[i - x->now.whole.count];
        for (uint32_t k = r.first; k <= r.last; k++) {
            mask m = x->points[k];
            join(&m, &x->masks[r.block].through);
            join(&m, &x->masks[r.block].across);
            uint32_t count = count_bits(&m);
            if (count > most || (count == most && k < best)) best = k, most = count;
        }
    }
    return best;
}

static bool is_live_at(const allocation *x, uint32_t inst) {
    if (inst == x->flow.inst_count) return x->now.at_start;
    if (x->now.state[x->flow.block_at[inst]].is_whole == x->now.stamp ||
        x->now.state[x->flow.block_at[inst]].is_across == x->now.stamp)
        return true;
    for (uint64_t i = 0; i < x->now.ranges.count; i++)
        if (x->now.ranges.data[i].first <= inst && inst <= x->now.ranges.data[i].last) return true;
    return false;
}

static void describe(const allocation *x, uint32_t v, char *out, size_t size) {
    const hg_virtual *virtual = &x->a->registers.virtuals.data[v];
    if (virtual->name == HG_UNDEFINED) {
        snprintf(out, size, "a temporary of line %u",
                 (unsigned)x->a->code.lines.data[virtual->inst]);
        return;
    }
    const hg_named *name = &x->a->registers.named.data[virtual->name];
    size_t length = (size_t)snprintf(out, size, "%.*s", hg_token_shown(&name->token),
                                     name->token.text);
    uint32_t rest = v - name->first, product = name->count;
    for (uint32_t i = 0; i < name->rank && length < size; i++) {
        product /= name->extents[i];
        length += (size_t)snprintf(out + length, size - length, "%s%u", i ? ", " : "[",
                                   (unsigned)(rest / product));
        rest %= product;
    }
    if (name->rank && length < size) snprintf(out + length, size - length, "]");
}

/* The names of those that have a number there, as many as fit. numbered: registers 0 … count - 1 in
 * order. */
static void list_live(allocation *x, const uint32_t *order, uint64_t count, bool predicate,
                      uint32_t inst, char *out, size_t size) {
    size_t length = 0;
    uint32_t more = 0;
    out[0] = 0;
    for (uint64_t i = 0; i < count && !x->out_of_memory; i++) {
        char name[120];
        if (x->a->registers.virtuals.data[order[i]].predicate != predicate) continue;
        find_live(x, order[i]);
        if (!is_live_at(x, inst)) continue;
        describe(x, order[i], name, sizeof name);
        if (length + strlen(name) + 40 < size)
            length += (size_t)snprintf(out + length, size - length, "%s%s", length ? ", " : "",
                                       name);
        else
            more++;
    }
    if (more) snprintf(out + length, size - length, " and %u more", (unsigned)more);
}

/* run: of how many consecutive ones it is the last; 1: none. */
static bool nothing_left(allocation *x, const uint32_t *order, uint64_t numbered, uint32_t v,
                         uint32_t run, const mask *fixed, uint32_t limit) {
    bool predicate = x->a->registers.virtuals.data[v].predicate;
    uint32_t inst = most_crowded(x), given = 0;
    char name[120], live[400], several[48] = "";
    for (uint32_t i = 0; i < limit; i++) given += has(fixed, i);
    describe(x, v, name, sizeof name);
    list_live(x, order, numbered, predicate, inst, live, sizeof live);
    if (run > 1) snprintf(several, sizeof several, " with %u consecutive ones", (unsigned)run);
    uint32_t at = inst < x->flow.inst_count ? inst : x->a->program->entry;
    bool known = at < x->flow.inst_count;
    hg_token place = {.line = known ? x->a->code.lines.data[at] : 1,
                      .column = known ? x->a->code.columns.data[at] : 1,
                      .length = 1};
    hg_asm_error(x->a, "S05", &place,
                 "a value that is read no more gives its register back; shared memory or an array "
                 "can hold others",
                 "no %s is left for %s%s: of %u %u are used by number, the others hold %s",
                 predicate ? "predicate" : "register", name, several, (unsigned)limit,
                 (unsigned)given, live);
    return false;
}

/* ---- names of registers, for messages ---- */

enum { MOST_RECORDS = 65536 };

static int compare_spans(const void *p, const void *q) {
    const span *a = p, *b = q;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Where the register found last holds its value. What is too much for messages is left out. */
static void record_name(allocation *x, uint32_t v) {
    if (x->a->registers.virtuals.data[v].name == HG_UNDEFINED ||
        x->now.whole.count + x->now.held.count + x->records.count > MOST_RECORDS)
        return;
    for (uint64_t i = 0; i < x->now.whole.count; i++)
        add_held(x, x->flow.block_first[x->now.whole.data[i]],
                 last_of(x, x->now.whole.data[i]) + 1);
    if (x->now.held.count)
        qsort(x->now.held.data, (size_t)x->now.held.count, sizeof *x->now.held.data, compare_spans);
    record *last = NULL;
    for (uint64_t i = 0; i < x->now.held.count; i++) {
        span at = x->now.held.data[i];
        if (last && at.first <= last->at.end) {
            if (at.end > last->at.end) last->at.end = at.end;
            continue;
        }
        last = hg_vec_push(&x->records);
        if (!last) {
            x->out_of_memory = true;
            return;
        }
        *last = (record){at, v};
    }
}

static bool store_names(allocation *x) {
    hg_program *p = x->a->program;
    if (!x->records.count) return true;
    p->register_names = hg_arena_alloc(&p->arena,
                                       (size_t)x->records.count * sizeof *p->register_names);
    if (!p->register_names) return false;
    const char *text = NULL;
    for (uint64_t i = 0; i < x->records.count; i++) {
        const record *r = &x->records.data[i];
        const hg_virtual *v = &x->a->registers.virtuals.data[r->virtual_number];
        char name[HG_MAX_IDENT_BYTES + 1];
        bool again = i && x->records.data[i - 1].virtual_number == r->virtual_number;
        if (!again) describe(x, r->virtual_number, name, sizeof name);
        if (!again) text = hg_arena_text(&p->arena, name, strlen(name));
        if (!text) return false;
        p->register_names[i] = (hg_register_name){r->at.first, r->at.end, v->predicate, v->number,
                                                  text};
    }
    p->register_name_count = (uint32_t)x->records.count;
    qsort(p->register_names, p->register_name_count, sizeof *p->register_names,
          hg_compare_register_names);
    return true;
}

/* ---- one after the other ---- */

static bool give_number(allocation *x, const uint32_t *order, uint64_t numbered, uint32_t v) {
    mask taken, fixed;
    hg_virtual *virtual = &x->a->registers.virtuals.data[v];
    uint32_t limit = fixed_numbers(x, virtual->predicate, &fixed), number = 0;
    find_live(x, v);
    taken = taken_numbers(x);
    join(&taken, &fixed);
    while (number < limit && has(&taken, number)) number++;
    if (number == limit) return nothing_left(x, order, numbered, v, 1, &fixed, limit);
    virtual->number = (uint8_t)number;
    take_number(x, number);
    record_name(x, v);
    return true;
}

/* An array that a run is taken from: consecutive numbers, the lowest that suit all its registers.
 */
static bool give_run(allocation *x, const uint32_t *order, uint64_t numbered,
                     const hg_named *name) {
    mask fixed, *taken = hg_calloc(name->count, sizeof *taken);
    uint32_t limit = fixed_numbers(x, name->predicate, &fixed), base = 0, k = 0;
    if (!taken) return hg_asm_no_memory(x->a);
    for (k = 0; k < name->count; k++) {
        find_live(x, name->first + k);
        taken[k] = taken_numbers(x);
        join(&taken[k], &fixed);
    }
    for (base = 0; base + name->count <= limit; base++) {
        for (k = 0; k < name->count && !has(&taken[k], base + k); k++) {}
        if (k == name->count) break;
    }
    hg_free(taken);
    if (base + name->count > limit)
        return nothing_left(x, order, numbered, name->first + name->count - 1, name->count, &fixed,
                            limit);
    for (k = 0; k < name->count; k++) {
        find_live(x, name->first + k);
        x->a->registers.virtuals.data[name->first + k].number = (uint8_t)(base + k);
        take_number(x, base + k);
        record_name(x, name->first + k);
    }
    return true;
}

/* Parameters as they are declared, then what the code names, as it comes. Their number. */
static uint64_t find_order(allocation *x, uint32_t *order) {
    const hg_assembler *a = x->a;
    uint8_t *seen = reserve(x, a->registers.virtuals.count, 1);
    uint64_t count = 0;
    if (!seen) return 0;
    for (uint64_t i = 0; i < a->registers.param_registers.count; i++) {
        uint32_t v = a->registers.param_registers.data[i].virtual_number;
        if (v == HG_UNDEFINED) continue;
        seen[v] = 1;
        order[count++] = v;
    }
    for (uint64_t i = 0; i < a->registers.uses.count; i++) {
        uint32_t v = a->registers.uses.data[i].virtual_number, last = v;
        if (seen[v]) continue;
        const hg_virtual *virtual = &a->registers.virtuals.data[v];
        const hg_named *name = virtual->name == HG_UNDEFINED
                                   ? NULL
                                   : &a->registers.named.data[virtual->name];
        if (name && name->run) v = name->first, last = name->first + name->count - 1;
        for (; v <= last; v++) {
            seen[v] = 1;
            order[count++] = v;
        }
    }
    return count;
}

static void clear(allocation *x) {
    x->start = (mask){{0}};
    memset(x->points, 0, x->flow.inst_count * sizeof *x->points);
    memset(x->masks, 0, x->flow.block_count * sizeof *x->masks);
}

static bool give_numbers(allocation *x) {
    hg_assembler *a = x->a;
    uint32_t *order = reserve(x, a->registers.virtuals.count, sizeof *order);
    if (!order) return false;
    uint64_t count = find_order(x, order);
    for (int predicate = 0; predicate < 2; predicate++) {
        clear(x);
        for (uint64_t i = 0; i < count && !x->out_of_memory; i++) {
            const hg_virtual *v = &a->registers.virtuals.data[order[i]];
            if (v->predicate != predicate) continue;
            const hg_named *name = v->name == HG_UNDEFINED ? NULL
                                                           : &a->registers.named.data[v->name];
            if (!(name && name->run ? give_run(x, order, i, name)
                                    : give_number(x, order, i, order[i])))
                return false;
            if (name && name->run) i += name->count - 1;
        }
    }
    return !x->out_of_memory;
}

static bool reserve_state(allocation *x) {
    uint32_t n = x->flow.block_count;
    x->points = reserve(x, x->flow.inst_count, sizeof *x->points);
    x->masks = reserve(x, n, sizeof *x->masks);
    x->now.state = reserve(x, n, sizeof *x->now.state);
    return !x->out_of_memory;
}

static void write_numbers(hg_assembler *a) {
    for (uint64_t i = 0; i < a->registers.uses.count; i++) {
        const hg_use *use = &a->registers.uses.data[i];
        uint8_t number = a->registers.virtuals.data[use->virtual_number].number;
        if (use->field == HG_USE_REG) a->code.operands.data[use->place].reg = number;
        if (use->field == HG_USE_INDEX) a->code.operands.data[use->place].index = number;
        if (use->field == HG_USE_ITEM) a->code.items.data[use->place].reg = number;
    }
    for (uint64_t i = 0; i < a->registers.param_registers.count; i++)
        if (a->registers.param_registers.data[i].virtual_number != HG_UNDEFINED)
            a->head.params.data[i].reg =
                a->registers.virtuals.data[a->registers.param_registers.data[i].virtual_number]
                    .number;
}

bool hg_asm_allocate(hg_assembler *a) {
    if (!a->registers.virtuals.count) return true;
    allocation x = {.a = a, .flow.inst_count = (uint32_t)a->code.insts.count};
    bool ok = build_graph(&x) && build_events(&x) && reserve_state(&x) && give_numbers(&x) &&
              store_names(&x);
    if (ok) write_numbers(a);
    if (!ok && !a->wrong.errors) hg_asm_no_memory(a);
    hg_arena_free(&x.arena);
    hg_vec_free(&x.flow.returns);
    hg_vec_free(&x.now.work);
    hg_vec_free(&x.now.whole);
    hg_vec_free(&x.now.crossed);
    hg_vec_free(&x.now.ranges);
    hg_vec_free(&x.now.held);
    hg_vec_free(&x.records);
    return ok;
}
