/* Writes a graph whose levels have no cycles as structured control flow (see structure.c).
 *
 * Control falls through to a known place everywhere ("to"). An item that several edges lead to
 * stands after the items that lead there; a jump to it needs no code where control falls to it,
 * else it sets the item's skip variable and what lies between is put under conditions. Uniform
 * jumps thus leave the conditions of all other code uniform. An explicit stack of tasks stands for
 * recursion.
 * Requires: levels analysed. Provides: operations in the function's body. */
#include "kir/build/structure_internal.h"
#include "kir/builder.h"

typedef enum task_kind {
    TASK_TREE,  /* item and all it dominates */
    TASK_ITEMS, /* the same, its only target being `to` by now */
    TASK_NEXT,  /* item's sequence goes on with child */
    TASK_JUMP,  /* to child */
    TASK_WAYS,  /* edges low … high - 1 of item, chosen by value */
    TASK_ELSE,  /* the IF's other branch: edges low … high - 1 */
    TASK_END_IF,
    TASK_END_LOOP
} task_kind;

typedef struct task {
    uint8_t kind;
    int32_t item, child, to;
    uint32_t low, high;
    uint64_t pending, guards; /* lengths of these lists when the sequence began */
    kir_value *branch;        /* IF or LOOP */
    kir_value *value;         /* selector or counter */
} task;

/* A jump over items is on its way. covered: an open guard tests it (the guard's number, from 1). */
typedef struct pending {
    int32_t target;
    uint64_t covered;
} pending;
/* A condition around the items before the one at position `close`. */
typedef struct guard {
    kir_value *branch;
    uint32_t close;
} guard;

typedef struct emitter {
    graph *g;
    build *x;
    kir_builder *b;
    HG_VEC(task) tasks;
    HG_VEC(pending) jumps;
    HG_VEC(guard) guards;
    bool failed;
} emitter;

static void push(emitter *e, task t) {
    task *place = hg_vec_push(&e->tasks);
    if (place)
        *place = t;
    else
        e->failed = true;
}

static item *at(const emitter *e, int32_t i) { return &e->g->items[i]; }
static const edge *edge_at(const emitter *e, int32_t i, uint32_t k) {
    return &e->g->edges[e->g->items[i].edges + k];
}
static bool is_block(const emitter *e, int32_t i) { return (uint32_t)i < e->g->block_count; }

/* ---- jumps ---- */

/* skip = false where the sequence of the item's dominator began. */
static kir_var *skip_variable(emitter *e, int32_t target) {
    item *n = at(e, target), *owner = at(e, n->idom);
    if (n->skip) return n->skip;
    n->skip = kir_var_create(e->x->module, e->b->function, KIR_BOOL, 0, "skip");
    kir_region *here = e->b->region, head = {0};
    e->b->region = &head;
    kir_set(e->b, n->skip, kir_const(e->b, KIR_BOOL, 0));
    e->b->region = here;
    if (e->b->failed) return n->skip;
    kir_region *r = owner->start_region;
    kir_splice(r, owner->start_after ? owner->start_after->next : r->first, &head);
    return n->skip;
}

static void jump(emitter *e, int32_t target, int32_t to) {
    if (target == to) return;
    switch (target) {
    case TO_CONTINUE: kir_continue(e->b); return;
    case TO_BREAK: kir_break(e->b); return;
    case TO_RETURN: kir_return(e->b, NULL); return;
    case TO_STOP:
    case TO_LEAVE: kir_exit(e->b); return;
    default: break;
    }
    kir_var *skip = skip_variable(e, target);
    kir_set(e->b, skip, kir_const(e->b, KIR_BOOL, 1));
    pending *p = hg_vec_push(&e->jumps);
    if (p)
        *p = (pending){target, 0};
    else
        e->failed = true;
}

bool structure_jump_counts(const build *x, uint32_t block, uint32_t way) {
    const hg_block *n = &x->source->blocks[block];
    if (!x->max_steps || way != 0 || n->first == n->last) return false;
    switch (x->program->insts[n->last - 1].op) {
    case HG_OP_LOOP:
    case HG_OP_LOOP64: return true;
    case HG_OP_CALL:
        return n->exit == HG_EXIT_JUMP; /* written in place; a real call is counted where it stands
                                         */
    case HG_OP_BRA: return x->source->blocks[n->succ[0]].first < n->last;
    default: return false;
    }
}

void structure_count_step(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    b->inst = inst + 1;
    kir_value *count = kir_add(b, kir_get(b, x->steps), kir_const(b, HG_TYPE_U64, 1));
    kir_set(b, x->steps, count);
    kir_fault_if(b, kir_binary(b, KIR_CMP_ULT, kir_const(b, HG_TYPE_U64, x->max_steps), count),
                 KIR_FAULT_STEPS, 0, "step limit exceeded");
}

/* The variable that an edge sets, or NULL. */
static kir_var *selector_of(const emitter *e, int32_t i, const edge *n) {
    if (n->target == TO_BREAK) return n->select ? e->g->loops[level_of(e->g, i)].exit : NULL;
    if (n->target < 0 || !is_loop_item(e->g, n->target)) return NULL;
    return e->g->loops[loop_of_item(e->g, n->target)].enter;
}

static bool counts_down(const emitter *e, int32_t i, uint32_t k) {
    return is_block(e, i) && k == 0 && e->g->blocks[i].exit == HG_EXIT_LOOP;
}

/* Following the edge takes no code. */
static bool is_empty(const emitter *e, int32_t i, uint32_t k, int32_t to) {
    const edge *n = edge_at(e, i, k);
    return n->target == to && !selector_of(e, i, n) && !counts_down(e, i, k) &&
           !(is_block(e, i) && structure_jump_counts(e->x, (uint32_t)i, k));
}

static void follow(emitter *e, int32_t i, uint32_t k, int32_t to, kir_value *counter) {
    const edge *n = edge_at(e, i, k);
    if (is_block(e, i)) {
        uint32_t inst = e->g->blocks[i].last - 1;
        e->b->inst = inst + 1;
        if (counts_down(e, i, k)) {
            const hg_operand *o = hg_inst_operands(e->x->program, inst);
            build_set(e->x, o[0].reg, kir_sub(e->b, counter, kir_const(e->b, counter->type, 1)));
        }
        if (structure_jump_counts(e->x, (uint32_t)i, k)) structure_count_step(e->x, inst);
    }
    kir_var *selector = selector_of(e, i, n);
    if (selector) kir_set(e->b, selector, kir_const(e->b, selector->type, n->select));
    if (n->target >= 0 && at(e, n->target)->preds == 1)
        push(e, (task){.kind = TASK_TREE, .item = n->target, .to = to});
    else
        jump(e, n->target, to);
}

/* ---- branches ---- */

/* The edge leads straight out of all this: nothing in its branch falls through. */
static bool ends_at_once(const emitter *e, int32_t i, uint32_t k, int32_t to) {
    int32_t target = edge_at(e, i, k)->target;
    if (target >= 0) {
        const item *n = at(e, target);
        if (n->preds != 1 || n->out_count != 1) return false;
        target = n->out[0];
    }
    return target < 0 && target != to;
}

static const char ENDS = 0; /* scratch of an IF both of whose branches end */

static bool region_ends(const kir_region *r) {
    const kir_value *v = r->last;
    if (!v) return false;
    return kir_is_jump(v) || (v->op == KIR_IF && v->scratch == &ENDS);
}

/* Edge `yes` where flag is true, else `no`. */
static void two_ways(emitter *e, int32_t i, kir_value *flag, uint32_t yes, uint32_t no, int32_t to,
                     kir_value *counter) {
    bool empty_yes = is_empty(e, i, yes, to), empty_no = is_empty(e, i, no, to);
    if (empty_yes && empty_no) return;
    task other = {
        .kind = TASK_ELSE, .item = i, .to = to, .low = no, .high = no + 1, .value = counter};
    bool swap = empty_yes ||
                (!empty_no && ends_at_once(e, i, no, to) && !ends_at_once(e, i, yes, to));
    if (swap) {
        bool was_not = flag->op == KIR_XOR && flag->type == KIR_BOOL &&
                       flag->args[1]->op == KIR_CONST && flag->args[1]->u.imm == 1;
        flag = was_not ? flag->args[0] : kir_not(e->b, flag);
        other.low = yes;
        other.high = yes + 1;
        yes = no;
    }
    if (empty_yes || empty_no) other.high = other.low;
    other.branch = kir_if_begin(e->b, flag);
    push(e, other);
    follow(e, i, yes, to, counter);
}

/* Edges low … high - 1, by the value of a selector. */
static void ways(emitter *e, const task *t) {
    if (t->high - t->low == 1) {
        follow(e, t->item, t->low, t->to, t->value);
        return;
    }
    uint32_t middle = t->low + (t->high - t->low) / 2;
    kir_value *below = kir_binary(e->b, KIR_CMP_ULT, t->value,
                                  kir_const(e->b, HG_TYPE_U32, middle));
    if (t->high - t->low == 2) {
        two_ways(e, t->item, below, t->low, middle, t->to, t->value);
        return;
    }
    task other = *t, first = *t;
    other.kind = TASK_ELSE;
    other.low = first.high = middle;
    other.branch = kir_if_begin(e->b, below);
    push(e, other);
    push(e, first);
}

static void other_branch(emitter *e, const task *t) {
    if (t->low == t->high || e->b->failed) {
        kir_if_end(e->b, t->branch);
        return;
    }
    task rest = *t;
    rest.kind = TASK_WAYS;
    if (region_ends(t->branch->body[0])) {
        kir_if_end(e->b, t->branch); /* what is left needs no else */
    } else {
        kir_if_else(e->b, t->branch);
        push(e, (task){.kind = TASK_END_IF, .branch = t->branch});
    }
    push(e, rest);
}

static void end_if(emitter *e, const task *t) {
    kir_if_end(e->b, t->branch);
    if (!e->b->failed && region_ends(t->branch->body[0]) && region_ends(t->branch->body[1]))
        t->branch->scratch = (void *)(uintptr_t)&ENDS;
}

/* ---- items ---- */

static void choose(emitter *e, int32_t i, kir_var *selector, int32_t to) {
    uint32_t count = at(e, i)->edge_count;
    kir_value *value = selector ? kir_get(e->b, selector) : NULL;
    if (is_dispatch_item(e->g, i))
        kir_set(e->b, selector, kir_const(e->b, selector->type, 0)); /* the next round starts at the
                                                                        header */
    if (count == 2)
        two_ways(e, i, value, 1, 0, to, NULL);
    else
        push(e, (task){.kind = TASK_WAYS, .item = i, .to = to, .high = count, .value = value});
}

static kir_var *selector_variable(emitter *e, uint32_t count, const char *name) {
    if (count < 2) return NULL;
    kir_var *v = kir_var_create(e->x->module, e->b->function,
                                count == 2 ? (uint8_t)KIR_BOOL : (uint8_t)HG_TYPE_U32, 0, name);
    if (!v) e->failed = true;
    return v;
}

static void begin_loop(emitter *e, int32_t i, int32_t to) {
    uint32_t number = loop_of_item(e->g, i);
    cycle *l = &e->g->loops[number];
    l->exit = selector_variable(e, l->exits, "exit");
    if (l->exit) kir_set(e->b, l->exit, kir_const(e->b, l->exit->type, 0));
    kir_value *branch = kir_loop_begin(e->b, false);
    push(e, (task){.kind = TASK_END_LOOP, .item = i, .to = to, .branch = branch});
    push(e, (task){.kind = TASK_TREE, .item = level_entry(e->g, number, 0), .to = TO_CONTINUE});
}

static void end_loop(emitter *e, const task *t) {
    kir_loop_end(e->b, t->branch);
    uint32_t count = at(e, t->item)->edge_count;
    if (count == 1)
        follow(e, t->item, 0, t->to, NULL);
    else if (count > 1)
        choose(e, t->item, e->g->loops[loop_of_item(e->g, t->item)].exit, t->to);
}

void structure_block(build *x, uint32_t block) {
    const hg_block *n = &x->source->blocks[block];
    x->regs.block_number++;
    for (uint32_t i = n->first; i < n->last; i++) build_instruction(x, i);
    if (n->last > n->first) x->b.inst = n->last;
    if (n->exit != HG_EXIT_CALL) return;
    if (x->max_steps) structure_count_step(x, n->last - 1);
    kir_call(&x->b, x->functions[n->callee], 0, NULL, NULL);
    x->regs.block_number++;
}

static void block_item(emitter *e, int32_t i, int32_t to) {
    const hg_block *n = &e->g->blocks[i];
    structure_block(e->x, (uint32_t)i);
    if (n->exit != HG_EXIT_BRANCH && n->exit != HG_EXIT_LOOP) {
        follow(e, i, 0, to, NULL);
        return;
    }
    const hg_operand *o = hg_inst_operands(e->x->program, n->last - 1);
    if (n->exit == HG_EXIT_BRANCH) {
        two_ways(e, i, build_pred(e->x, o[0].reg), 0, 1, to, NULL);
        return;
    }
    kir_value *counter = build_get(e->x, o[0].reg,
                                   (uint8_t)hg_loop_type(e->x->program->insts[n->last - 1].op));
    kir_value *at_zero = kir_binary(e->b, KIR_CMP_EQ, counter, kir_const(e->b, counter->type, 0));
    two_ways(e, i, at_zero, 1, 0, to, counter);
}

static void node(emitter *e, int32_t i, int32_t to) {
    if (is_block(e, i))
        block_item(e, i, to);
    else if (is_dispatch_item(e->g, i))
        choose(e, i, e->g->loops[loop_of_item(e->g, i)].enter, to);
    else
        begin_loop(e, i, to);
}

/* ---- sequences: an item, then the items that several edges from inside lead to ---- */

static int32_t fall(int32_t next, int32_t to) { return next == NO_ITEM ? to : next; }

/* Where every way out of the subtree leads to one place, it is written as falling there, and the
 * jump comes once after it. */
static void tree(emitter *e, const task *t) {
    const item *n = at(e, t->item);
    task items = *t;
    items.kind = TASK_ITEMS;
    if (n->out_count == 1 && n->out[0] != t->to) {
        push(e, (task){.kind = TASK_JUMP, .child = n->out[0], .to = t->to});
        items.to = n->out[0];
    }
    push(e, items);
}

static void items(emitter *e, const task *t) {
    item *n = at(e, t->item);
    n->start_region = e->b->region;
    n->start_after = e->b->region->last;
    if (n->first_merge != NO_ITEM)
        push(e, (task){.kind = TASK_NEXT,
                       .item = t->item,
                       .child = n->first_merge,
                       .to = t->to,
                       .pending = e->jumps.count,
                       .guards = e->guards.count});
    node(e, t->item, fall(n->first_merge, t->to));
}

/* Position in the sequence of `owner` before which a jump to target has arrived. */
static uint32_t arrival(const emitter *e, int32_t owner, int32_t target) {
    return at(e, target)->idom == owner ? at(e, target)->order : UINT32_MAX;
}

/* Forgets jumps that arrive at child, and all but one of those with one target. */
static void arrive(emitter *e, const task *t) {
    uint64_t kept = t->pending;
    for (uint64_t i = t->pending; i < e->jumps.count; i++) {
        pending p = e->jumps.data[i];
        if (p.target == t->child) continue;
        uint64_t k = t->pending;
        while (k < kept && e->jumps.data[k].target != p.target) k++;
        e->g->work += k - t->pending + 1;
        if (e->g->work > e->g->work_limit) e->g->give_up = true;
        if (e->g->give_up) return;
        if (k == kept)
            e->jumps.data[kept++] = p;
        else if (!p.covered)
            e->jumps.data[k].covered = 0;
    }
    e->jumps.count = kept;
}

static void close_guards(emitter *e, const task *t, uint32_t position) {
    while (e->guards.count > t->guards && e->guards.data[e->guards.count - 1].close <= position)
        kir_if_end(e->b, e->guards.data[--e->guards.count].branch);
    for (uint64_t i = t->pending; i < e->jumps.count; i++)
        if (e->jumps.data[i].covered > e->guards.count) e->jumps.data[i].covered = 0;
}

/* Opens conditions around what jumps on their way pass over, those that pass furthest outside. */
static void open_guards(emitter *e, const task *t) {
    for (;;) {
        uint32_t limit = e->guards.count > t->guards ? e->guards.data[e->guards.count - 1].close
                                                     : UINT32_MAX,
                 close = 0;
        for (uint64_t i = t->pending; i < e->jumps.count; i++) {
            const pending *p = &e->jumps.data[i];
            if (!p->covered && arrival(e, t->item, p->target) > close)
                close = arrival(e, t->item, p->target);
        }
        if (!close) return;
        if (close > limit) close = limit;
        kir_value *any = NULL;
        for (uint64_t i = t->pending; i < e->jumps.count; i++) {
            pending *p = &e->jumps.data[i];
            if (p->covered || arrival(e, t->item, p->target) < close) continue;
            kir_value *skip = kir_get(e->b, at(e, p->target)->skip);
            any = any ? kir_binary(e->b, KIR_OR, any, skip) : skip;
            p->covered = e->guards.count + 1;
            e->g->work++;
        }
        guard *n = hg_vec_push(&e->guards);
        if (!n) {
            e->failed = true;
            return;
        }
        *n = (guard){kir_if_begin(e->b, kir_not(e->b, any)), close};
    }
}

static void next(emitter *e, const task *t) {
    bool last = t->child == NO_ITEM;
    arrive(e, t);
    if (e->g->give_up) return;
    close_guards(e, t, last ? UINT32_MAX : at(e, t->child)->order);
    if (last) {
        for (uint64_t i = t->pending; i < e->jumps.count; i++) e->jumps.data[i].covered = 0;
        return;
    }
    open_guards(e, t);
    int32_t after = at(e, t->child)->next_merge;
    task rest = *t;
    rest.child = after;
    push(e, rest);
    push(e, (task){.kind = TASK_TREE, .item = t->child, .to = fall(after, t->to)});
}

static void run(emitter *e, const task *t) {
    switch ((task_kind)t->kind) {
    case TASK_TREE: tree(e, t); break;
    case TASK_ITEMS: items(e, t); break;
    case TASK_NEXT: next(e, t); break;
    case TASK_JUMP: jump(e, t->child, t->to); break;
    case TASK_WAYS: ways(e, t); break;
    case TASK_ELSE: other_branch(e, t); break;
    case TASK_END_IF: end_if(e, t); break;
    case TASK_END_LOOP: end_loop(e, t); break;
    }
}

bool structure_emit(graph *g, int32_t root) {
    emitter e = {.g = g, .x = g->x, .b = &g->x->b};
    for (uint32_t l = 1; l < g->loop_count; l++) {
        cycle *n = &g->loops[l];
        if (n->entries && !(n->enter = selector_variable(&e, n->entries + 1, "enter")))
            return false;
    }
    push(&e,
         (task){.kind = TASK_TREE, .item = root, .to = e.x->source_number ? TO_RETURN : TO_STOP});
    while (e.tasks.count && !e.failed && !e.b->failed && !g->give_up) {
        task t = e.tasks.data[--e.tasks.count];
        run(&e, &t);
        if (g->work > g->work_limit) g->give_up = true;
    }
    bool ok = !e.failed && !e.b->failed && !g->give_up;
    hg_vec_free(&e.tasks);
    hg_vec_free(&e.jumps);
    hg_vec_free(&e.guards);
    return ok;
}
