/* Functions that hold whole-array steps are written into the program's own body: a step must stand
 * in the kernel function, where the plan can be cut at it. So are functions that may end the lane
 * in a program with steps: an exit before a step is taken by all lanes together (verified) and ends
 * the plan. Blocks are repeated by number only, a call becomes a jump to the copy and its returns
 * jumps behind it.
 * Requires: verified control flow, no recursion. Provides: a cfg whose functions[0] calls no function with a step. */
#include "kir/build/build_internal.h"
#include <string.h>

/* Blocks that it may come to: so many for each instruction, and so many always, as with code that
 * functions share (isa/cfg.c). */
enum { MOST_EACH = 16, MOST_ALWAYS = 65536 };

typedef HG_VEC(hg_block) blocks;

static bool calls_step(const bool *wanted, const hg_block *b) {
    return b->exit == HG_EXIT_CALL && wanted[b->callee];
}

/* Whether a call of each function must be written out: it has a step or an exit, itself or below.
 */
static void find_wanted(const hg_cfg *cfg, bool *wanted) {
    for (uint32_t i = 0; i < cfg->function_count; i++) { /* callees first */
        const hg_function *f = &cfg->functions[cfg->bottom_up[i]];
        bool found = f->has_collective;
        for (uint32_t k = 0; k < f->block_count && !found; k++)
            found = f->blocks[k].exit == HG_EXIT_STOP || calls_step(wanted, &f->blocks[k]);
        wanted[cfg->bottom_up[i]] = found;
    }
}

static bool append(blocks *list, const hg_function *f, uint32_t back_to) {
    uint32_t base = (uint32_t)list->count;
    for (uint32_t i = 0; i < f->block_count; i++) {
        hg_block *b = hg_vec_push(list);
        if (!b) return false;
        *b = f->blocks[i];
        for (int k = 0; k < 2; k++)
            if (b->succ[k] != HG_NO_BLOCK) b->succ[k] += base;
        if (b->exit != HG_EXIT_RET || back_to == HG_NO_BLOCK) continue;
        b->exit = HG_EXIT_JUMP;
        b->succ[0] = back_to;
    }
    return true;
}

static hg_status expand(const hg_cfg *cfg, const bool *wanted, blocks *list) {
    uint64_t most = MOST_EACH * (uint64_t)cfg->program->inst_count + MOST_ALWAYS;
    if (!append(list, &cfg->functions[0], HG_NO_BLOCK)) return hg_fail_memory();
    for (uint64_t i = 0; i < list->count; i++) {
        if (!calls_step(wanted, &list->data[i])) continue;
        const hg_function *callee = &cfg->functions[list->data[i].callee];
        if (list->count + callee->block_count > most) {
            hg_status status = hg_fail(
                HG_ERROR_ISA,
                "calls of functions with whole-array instructions expand to more than %llu blocks",
                (unsigned long long)most);
            memcpy(hg_error_record()->code, "S05", 4);
            return status;
        }
        uint32_t start = (uint32_t)list->count;
        if (!append(list, callee, list->data[i].succ[0])) return hg_fail_memory();
        list->data[i].exit = HG_EXIT_JUMP;
        list->data[i].succ[0] = start;
    }
    return HG_OK;
}

/* Drops the blocks behind calls that never come back. */
static hg_status drop_unreached(blocks *list) {
    uint32_t *number = hg_calloc((size_t)list->count, sizeof *number),
             *todo = hg_calloc((size_t)list->count, sizeof *todo);
    uint32_t pending = 1, kept = 0;
    bool ok = number && todo;
    if (ok) number[0] = 1;
    while (ok && pending > 0) {
        const hg_block *b = &list->data[todo[--pending]];
        for (int k = 0; k < 2; k++)
            if (b->succ[k] != HG_NO_BLOCK && !number[b->succ[k]])
                number[b->succ[k]] = 1, todo[pending++] = b->succ[k];
    }
    for (uint64_t i = 0; ok && i < list->count; i++)
        if (number[i])
            number[i] = kept++;
        else
            number[i] = HG_NO_BLOCK;
    for (uint64_t i = 0; ok && i < list->count; i++) {
        if (number[i] == HG_NO_BLOCK) continue;
        hg_block b = list->data[i];
        for (int k = 0; k < 2; k++)
            if (b.succ[k] != HG_NO_BLOCK) b.succ[k] = number[b.succ[k]];
        list->data[number[i]] = b; /* never behind a block still to be read */
    }
    if (ok) list->count = kept;
    hg_free(number);
    hg_free(todo);
    return ok ? HG_OK : hg_fail_memory();
}

hg_status build_inline_steps(const hg_cfg *cfg, hg_cfg **inlined) {
    bool any = false;
    *inlined = NULL;
    if (!cfg->has_collective) return HG_OK;
    bool *wanted = hg_calloc(cfg->function_count, sizeof *wanted);
    if (!wanted) return hg_fail_memory();
    find_wanted(cfg, wanted);
    for (uint32_t i = 0; i < cfg->functions[0].block_count && !any; i++)
        any = calls_step(wanted, &cfg->functions[0].blocks[i]);
    blocks list = {0};
    hg_status status = any ? expand(cfg, wanted, &list) : HG_OK;
    hg_free(wanted);
    if (!any) return HG_OK;
    if (status == HG_OK) status = drop_unreached(&list);
    hg_cfg *copy = status == HG_OK ? hg_calloc(1, sizeof *copy) : NULL;
    hg_function *functions = copy ? hg_calloc(cfg->function_count, sizeof *functions) : NULL;
    if (!functions) {
        hg_vec_free(&list);
        hg_free(copy);
        return status == HG_OK ? hg_fail_memory() : status;
    }
    *copy = *cfg;
    memset(&copy->arena, 0, sizeof copy->arena);
    memcpy(functions, cfg->functions, cfg->function_count * sizeof *functions);
    functions[0].blocks = list.data;
    functions[0].block_count = (uint32_t)list.count;
    copy->functions = functions;
    *inlined = copy;
    return HG_OK;
}

void build_inline_free(hg_cfg *inlined) {
    if (!inlined) return;
    hg_free(inlined->functions[0].blocks);
    hg_free(inlined->functions);
    hg_free(inlined);
}
