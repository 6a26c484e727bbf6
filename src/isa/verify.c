/* The verifier: everything that can be known before running is an error here (language.md 4 and 6,
 * semantics 0.3).
 * Requires: any program. Provides: hg_cfg of a program that passed. */
#include "isa/verify_internal.h"

#include <string.h>

/* ---- signature, limits, warnings ---- */

void hg_start_types(hg_cfg *cfg, const hg_program *p, const hg_signature *signature) {
    memset(cfg->param_types, HG_TYPE_OMITTED, sizeof cfg->param_types);
    if (signature) memcpy(cfg->param_types, signature->types, sizeof cfg->param_types);
    for (uint32_t i = 0; i < p->param_count; i++)
        cfg->param_types[p->params[i].reg] = p->params[i].kind == HG_PARAM_SCALAR
                                                 ? p->params[i].type
                                                 : (uint8_t)HG_TYPE_U64;
    for (int i = 0; i < HG_SPECIAL_COUNT; i++) {
        uint8_t *type = &cfg->param_types[hg_specials[i].reg];
        cfg->special_given[i] = *type != HG_TYPE_OMITTED;
        if (!cfg->special_given[i]) *type = (uint8_t)hg_idname_type((hg_idname)hg_specials[i].id);
    }
}

static bool names_shared(const hg_program *p, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++)
        if ((row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY) &&
            o[i].place == HG_PLACE_SHARED)
            return true;
    return false;
}

/* In the body of a loop of 0 rounds, which is no mistake (language.md 4.1). */
static bool is_skipped(const hg_program *p, uint32_t inst) {
    for (uint32_t i = 0; i < p->skipped_count; i++)
        if (p->skipped[i].first <= inst && inst < p->skipped[i].end) return true;
    return false;
}

/* What reachable code uses, one warning a stretch of code that nothing reaches, and the limits that
 * depend on both. */
static void check_code_as_a_whole(hg_check *c, hg_cfg *cfg) {
    const hg_program *p = c->program;
    uint8_t *reached = hg_check_alloc(c, p->inst_count, 1);
    if (!reached) return;
    for (uint32_t f = 0; f < cfg->function_count; f++)
        for (uint32_t b = 0; b < cfg->functions[f].block_count; b++) {
            const hg_block *block = &cfg->functions[f].blocks[b];
            if (block->last > block->first)
                memset(reached + block->first, 1, block->last - block->first);
        }
    for (uint32_t i = 0; i < p->inst_count; i++) {
        if (!reached[i]) {
            if ((i == 0 || reached[i - 1]) && !is_skipped(p, i))
                hg_check_warning(c, "V13", i, NULL, "code not reachable");
            continue;
        }
        uint32_t flags = hg_op_get((hg_op)p->insts[i].op)->flags;
        if (flags & HG_F_BARRIER) cfg->uses_barrier = true;
        if (flags & HG_F_BLOCK) cfg->uses_shared = true;
        if (flags & HG_F_COLLECTIVE) cfg->has_collective = true;
        if (!cfg->uses_shared && names_shared(p, i)) cfg->uses_shared = true;
    }
    if (p->shared) cfg->uses_shared = true;
    uint64_t lanes = (uint64_t)p->block[0] * p->block[1];
    bool large = p->block[2] &&
                 (lanes > HG_MAX_BLOCK_LANES || lanes * p->block[2] > HG_MAX_BLOCK_LANES);
    if (large && (cfg->uses_barrier || cfg->uses_shared))
        hg_check_error(c, "S05", HG_AT_BLOCK, HG_NO_OPERAND, NULL,
                       "block of %u x %u x %u lanes: a block that uses %s has at most %d lanes",
                       (unsigned)p->block[0], (unsigned)p->block[1], (unsigned)p->block[2],
                       cfg->uses_barrier ? "a barrier" : "shared memory", (int)HG_MAX_BLOCK_LANES);
    if (p->shared > HG_MAX_SHARED_BYTES_COMMON && p->shared <= HG_MAX_SHARED_BYTES)
        hg_check_warning(c, "V14", HG_AT_SHARED, NULL,
                         "%llu bytes of shared memory: every device has %d, not all have more",
                         (unsigned long long)p->shared, (int)HG_MAX_SHARED_BYTES_COMMON);
}

/* ---- the whole ---- */

static void run_checks(hg_check *c, hg_cfg *cfg) {
    hg_check_structure(c, true);
    if (c->errors || c->out_of_memory) return;
    if (!hg_cfg_build(c, cfg)) return;
    check_code_as_a_whole(c, cfg);
    if (c->out_of_memory) return;
    hg_check_types(c, cfg);
    if (c->out_of_memory) return;
    hg_check_params(c, cfg);
    if (!c->out_of_memory) hg_check_uniform(c, cfg);
}

void hg_cfg_destroy(hg_cfg *cfg) {
    if (!cfg) return;
    hg_arena_free(&cfg->arena);
    hg_free(cfg);
}

hg_status hg_verify(const hg_program *program, const hg_signature *signature, hg_diagnostics *d,
                    hg_cfg **out) {
    if (out) *out = NULL;
    hg_cfg *cfg = hg_calloc(1, sizeof *cfg);
    if (!cfg) return hg_fail_memory();
    cfg->program = program;
    hg_start_types(cfg, program, signature);
    hg_check check;
    hg_status status = hg_check_begin(&check, program, d);
    if (status == HG_OK) {
        run_checks(&check, cfg);
        status = hg_check_end(&check);
    }
    if (status != HG_OK || !out)
        hg_cfg_destroy(cfg);
    else
        *out = cfg;
    return status;
}
