/* A function's body as one loop that looks up the block to run next: for graphs with so many ways
 * in and out of loops that anything else would grow faster than the program. Always right, always
 * linear, never fast.
 * Requires: nothing of the graph. Provides: the body, whatever was there before. */
#include "kir/build/structure_internal.h"
#include "kir/builder.h"

static void go_to(build *x, kir_var *at, uint32_t block) {
    kir_set(&x->b, at, kir_const(&x->b, HG_TYPE_U32, block));
}

static void follow(build *x, kir_var *at, uint32_t block, uint32_t way) {
    const hg_block *n = &x->source->blocks[block];
    if (structure_jump_counts(x, block, way)) structure_count_step(x, n->last - 1);
    go_to(x, at, n->succ[way]);
}

static void two_ways(build *x, kir_var *at, uint32_t block) {
    const hg_block *n = &x->source->blocks[block];
    const hg_operand *o = hg_inst_operands(x->program, n->last - 1);
    kir_builder *b = &x->b;
    uint8_t type = (uint8_t)hg_loop_type(x->program->insts[n->last - 1].op);
    kir_value *counter = n->exit == HG_EXIT_LOOP ? build_get(x, o[0].reg, type) : NULL;
    kir_value *taken = counter ? kir_binary(b, KIR_CMP_ULT, kir_const(b, type, 0), counter)
                               : build_pred(x, o[0].reg);
    if (structure_leaves(x->source, block, 0) || structure_leaves(x->source, block, 1)) {
        uint32_t stay = structure_leaves(x->source, block, 0) ? 1 : 0;
        kir_value *left = kir_if_begin(b, stay ? taken : kir_not(b, taken));
        if (stay && structure_jump_counts(x, block, 0)) structure_count_step(x, n->last - 1);
        kir_exit(b);
        kir_if_end(b, left);
        if (counter && !stay) build_set(x, o[0].reg, kir_sub(b, counter, kir_const(b, type, 1)));
        follow(x, at, block, stay);
        return;
    }
    kir_value *branch = kir_if_begin(b, taken);
    if (counter) build_set(x, o[0].reg, kir_sub(b, counter, kir_const(b, type, 1)));
    follow(x, at, block, 0);
    kir_if_else(b, branch);
    follow(x, at, block, 1);
    kir_if_end(b, branch);
}

static void block_body(build *x, kir_var *at, uint32_t block) {
    structure_block(x, block);
    switch ((hg_exit_kind)x->source->blocks[block].exit) {
    case HG_EXIT_RET: kir_return(&x->b, NULL); break;
    case HG_EXIT_STOP: kir_exit(&x->b); break;
    case HG_EXIT_BRANCH:
    case HG_EXIT_LOOP: two_ways(x, at, block); break;
    default: follow(x, at, block, 0); break;
    }
}

typedef struct part {
    uint32_t low, high;
    kir_value *branch;
} part; /* branch: the IF whose else this is; NULL: none */

hg_status structure_flat(build *x) {
    kir_builder *b = &x->b;
    *b->function->body = (kir_region){0};
    b->region = b->function->body;
    kir_var *at = kir_var_create(x->module, b->function, HG_TYPE_U32, 0, "block");
    go_to(x, at, 0);
    kir_value *branch = kir_loop_begin(b, false);
    kir_value *number = kir_get(b, at);
    part stack[64]; /* halves of at most 2^32 blocks */
    uint32_t depth = 0;
    part p = {0, x->source->block_count, NULL};
    for (;;) {
        while (p.high - p.low > 1 && !b->failed) { /* a tree of comparisons down to one block */
            uint32_t middle = p.low + (p.high - p.low) / 2;
            kir_value *half = kir_if_begin(
                b, kir_binary(b, KIR_CMP_ULT, number, kir_const(b, HG_TYPE_U32, middle)));
            stack[depth++] = (part){middle, p.high, half};
            p.high = middle;
        }
        if (b->failed) return kir_fail_making(x->module);
        block_body(x, at, p.low);
        if (depth == 0) break;
        p = stack[--depth];
        kir_if_else(b, p.branch);
    }
    b->region = branch->parent;
    return b->failed ? kir_fail_making(x->module) : HG_OK;
}
