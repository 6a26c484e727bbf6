/* Webs of registers: the writes and reads that a value may go between are one variable. A register
 * after the other, with union-find over its writes and the beginnings of blocks where it is live,
 * so that time is near the number of mentions and, for each register, of blocks.
 * Requires: liveness. Must not know: names. */
#include "base/union_find.h"
#include "isa/structured.h"

#include <string.h>

/* A read or a write of a register. */
typedef struct mention {
    uint32_t inst, place; /* in webs */
    uint8_t want, writes;
} mention;

typedef struct work {
    hg_st_facts *f;
    const hg_function *main;
    uint32_t *block_at; /* of each instruction; HG_ST_NONE: never reached */
    hg_live_set *live;  /* where each block begins */
    mention *mentions;  /* those of a register one after the other, in order */
    uint32_t begin[HG_MAX_REGISTERS + 1];
    uint32_t *parent;        /* of nodes: blocks, the start, then writes */
    uint32_t *last;          /* of each block: the node with which it ends */
    uint32_t *node, *number; /* of each mention of the register; of a root, its variable + 1 */
} work;

static void *reserve(hg_st_facts *f, uint64_t count, size_t size) {
    void *made = hg_arena_alloc(&f->arena, (size_t)(count + 1) * size);
    if (made) memset(made, 0, (size_t)(count + 1) * size);
    return made;
}

static bool count_accesses(hg_st_facts *f) {
    uint64_t total = 0;
    f->accesses = reserve(f, f->count, sizeof *f->accesses);
    if (!f->accesses) return false;
    for (uint32_t i = 0; i < f->count; i++) {
        f->accesses[i] = (uint32_t)total;
        hg_inst_accesses(f->program, i, &f->what);
        total += f->what.reads + f->what.writes;
    }
    f->accesses[f->count] = (uint32_t)total;
    f->webs = hg_calloc((size_t)total + 1, sizeof *f->webs);
    if (f->webs) memset(f->webs, 0xFF, (size_t)(total + 1) * sizeof *f->webs);
    return f->webs && total < UINT32_MAX;
}

static void find_blocks(work *w) {
    hg_st_facts *f = w->f;
    memset(w->block_at, 0xFF, f->count * sizeof *w->block_at);
    for (uint32_t b = 0; b < w->main->block_count; b++) {
        const hg_block *block = &w->main->blocks[b];
        for (uint32_t i = block->first; i < block->last; i++) w->block_at[i] = b;
        if (block->first == block->last) continue;
        w->live[b] = f->after[block->first];
        hg_inst_accesses(f->program, block->first, &f->what);
        for (uint32_t k = 0; k < f->what.writes; k++)
            if (!f->what.write[k].is_pred) {
                uint32_t r = f->what.write[k].reg;
                w->live[b].bits[r / 64] &= ~(UINT64_C(1) << (r % 64));
            }
        for (uint32_t k = 0; k < f->what.reads; k++)
            if (!f->what.read[k].is_pred) {
                uint32_t r = f->what.read[k].reg;
                w->live[b].bits[r / 64] |= UINT64_C(1) << (r % 64);
            }
    }
}

/* By register, and in order. */
static void sort_mentions(work *w) {
    hg_st_facts *f = w->f;
    uint32_t at[HG_MAX_REGISTERS];
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t r = 0; fill && r < HG_MAX_REGISTERS; r++) {
            w->begin[r + 1] += w->begin[r];
            at[r] = w->begin[r];
        }
        for (uint32_t i = 0; i < f->count; i++) {
            hg_inst_accesses(f->program, i, &f->what);
            uint32_t reads = f->what.reads, all = reads + f->what.writes;
            for (uint32_t k = 0; k < all; k++) {
                const hg_access *x = k < reads ? &f->what.read[k] : &f->what.write[k - reads];
                if (x->is_pred) continue;
                if (fill)
                    w->mentions[at[x->reg]++] = (mention){i, f->accesses[i] + k, x->want,
                                                          k >= reads};
                else
                    w->begin[x->reg + 1]++;
            }
        }
    }
}

/* The variable of a root. */
static hg_st_variable *variable_of(work *w, uint32_t root, uint8_t reg) {
    hg_st_facts *f = w->f;
    if (!w->number[root]) {
        hg_st_variable *v = hg_vec_push(&f->variables);
        if (!v) return NULL;
        *v = (hg_st_variable){.reg = reg, .type = HG_TYPE_OMITTED};
        w->number[root] = (uint32_t)f->variables.count;
    }
    return &f->variables.data[w->number[root] - 1];
}

static bool find_register(work *w, uint8_t reg) {
    hg_st_facts *f = w->f;
    uint32_t blocks = w->main->block_count, start = blocks, nodes = blocks + 1;
    uint32_t first = w->begin[reg], count = w->begin[reg + 1] - first, block = HG_ST_NONE, now = 0;
    if (!count) return true;
    for (uint32_t i = 0; i < blocks + 1 + count; i++) w->parent[i] = i, w->number[i] = 0;
    for (uint32_t b = 0; b < blocks; b++) w->last[b] = b;
    for (uint32_t i = 0; i < count; i++) {
        const mention *m = &w->mentions[first + i];
        uint32_t at = w->block_at[m->inst];
        w->node[i] = HG_ST_NONE;
        if (at == HG_ST_NONE) continue;
        if (at != block) now = block = at;
        if (m->writes) w->last[at] = now = nodes++;
        w->node[i] = now;
    }
    for (uint32_t b = 0; b < blocks; b++)
        for (int k = 0; k < 2; k++) {
            uint32_t to = w->main->blocks[b].succ[k];
            if (to != HG_NO_BLOCK && hg_live_has(&w->live[to], reg))
                hg_union_join(w->parent, w->last[b], to);
        }
    if (blocks && hg_live_has(&w->live[0], reg)) hg_union_join(w->parent, start, 0);
    for (uint32_t i = 0; i < count; i++) {
        const mention *m = &w->mentions[first + i];
        if (w->node[i] == HG_ST_NONE) continue;
        uint32_t root = hg_union_find(w->parent, w->node[i]);
        hg_st_variable *v = variable_of(w, root, reg);
        if (!v) return false;
        f->webs[m->place] = w->number[root] - 1;
        v->written |= m->writes;
        if (root == hg_union_find(w->parent, start))
            v->begins = true, v->type = f->cfg->param_types[reg];
        if (m->want < HG_TYPE_COUNT) v->type = m->want;
    }
    return true;
}

bool hg_st_find_webs(hg_st_facts *f) {
    work w = {.f = f, .main = &f->cfg->functions[0]};
    if (!count_accesses(f)) return false;
    /* A called function shares registers with its callers: they keep their numbers. */
    if (f->cfg->function_count > 1) return true;
    uint64_t blocks = w.main->block_count, total = f->accesses[f->count];
    w.block_at = reserve(f, f->count, sizeof *w.block_at);
    w.live = reserve(f, blocks, sizeof *w.live);
    w.mentions = reserve(f, total, sizeof *w.mentions);
    w.parent = reserve(f, blocks + total + 1, sizeof *w.parent);
    w.number = reserve(f, blocks + total + 1, sizeof *w.number);
    w.last = reserve(f, blocks, sizeof *w.last);
    w.node = reserve(f, total, sizeof *w.node);
    if (!w.block_at || !w.live || !w.mentions || !w.parent || !w.number || !w.last || !w.node)
        return false;
    find_blocks(&w);
    sort_mentions(&w);
    for (uint32_t r = 0; r < HG_MAX_REGISTERS; r++)
        if (!find_register(&w, (uint8_t)r)) return false;
    for (uint64_t i = 0; i < f->variables.count; i++)
        if (f->variables.data[i].type >= HG_TYPE_COUNT) f->variables.data[i].raw = true;
    return true;
}
