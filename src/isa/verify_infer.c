/* Omitted types become those of the first source registers (language.md 4).
 * Requires: operands in order. Provides: every reachable instruction has its types, or V01, V04, V05 says which has not. */
#include "isa/flow.h"

#include <string.h>

/* A type that only becomes known through calls takes a round for each call on its way. Real
 * programs need two or three. */
enum { MAX_ROUNDS = 256 };
static const uint64_t MAX_WORK = 1u << 28; /* instructions visited; then what is still open is V05
                                            */

static bool lacks_type(const hg_program *p, uint32_t inst) {
    return p->insts[inst].type == HG_TYPE_OMITTED &&
           hg_op_get((hg_op)p->insts[inst].op)->type_count != 0;
}

static void run_rounds(flow *x) {
    const hg_cfg *cfg = x->cfg;
    uint64_t visited = 0, size = 1;
    for (uint32_t f = 0; f < cfg->function_count; f++) {
        size += cfg->functions[f].block_count;
        x->functions[f].hint = hg_check_alloc(x->check, x->slots, 1);
        if (!x->functions[f].hint) return;
        memset(x->functions[f].hint, FLOW_ANY, x->slots);
    }
    size += x->check->program->inst_count;
    for (int round = 0; round < MAX_ROUNDS && visited < MAX_WORK; round++, visited += size) {
        x->inferred = false;
        for (uint32_t i = 0; i < cfg->function_count && !x->check->out_of_memory; i++)
            flow_run(x, cfg->bottom_up[i]);
        if (!x->inferred || x->check->out_of_memory) return;
    }
}

/* Why an instruction that can be reached has no type. */
static void report_open(flow *x, uint32_t f, uint32_t inst, const uint8_t *state) {
    const hg_program *p = x->check->program;
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    uint32_t source = hg_first_source((hg_op)p->insts[inst].op);
    if (source != UINT32_MAX) {
        uint8_t reg = hg_inst_operands(p, inst)[source].reg;
        uint8_t known = flow_known(x, f, x->slot_of[reg], state[x->slot_of[reg]]);
        if (known == FLOW_UNSET) {
            hg_check_error(x->check, "V01", inst, (int)source, NULL, "uninitialized register: %s",
                           hg_check_register(p, inst, false, reg).text);
            return;
        }
    }
    hg_check_error(x->check, "V05", inst, HG_NO_OPERAND, NULL,
                   "type of '%s' cannot be inferred here: write %s.TYPE", row->text, row->text);
}

static void report_function(flow *x, uint32_t f) {
    const hg_function *fn = &x->cfg->functions[f];
    uint8_t state[256];
    for (uint32_t b = 0; b < fn->block_count; b++) {
        memcpy(state, x->functions[f].in + (uint64_t)b * x->slots, x->slots);
        uint16_t preds = x->functions[f].pred_in[b];
        for (uint32_t i = fn->blocks[b].first; i < fn->blocks[b].last; i++) {
            if (lacks_type(x->target, i)) report_open(x, f, i, state);
            flow_step(x, f, i, state, &preds);
        }
    }
}

static bool anything_open(const hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++)
        if (lacks_type(p, i)) return true;
    return false;
}

static void infer(hg_check *c, hg_cfg *cfg, hg_program *program) {
    hg_check_structure(c, false);
    if (c->errors || c->out_of_memory || !hg_cfg_build(c, cfg)) return;
    flow x;
    if (!flow_begin(&x, c, cfg)) return;
    x.target = program;
    run_rounds(&x);
    if (c->out_of_memory || !anything_open(program)) return;
    for (uint32_t f = 0; f < cfg->function_count; f++) report_function(&x, f);
    for (uint32_t i = 0; i < program->inst_count; i++) /* not reachable */
        if (lacks_type(program, i) && !c->marked[i])
            hg_check_error(c, "V05", i, HG_NO_OPERAND,
                           "code that no path reaches needs its types written",
                           "type of '%s' cannot be inferred here: write %s.TYPE",
                           hg_op_get((hg_op)program->insts[i].op)->text,
                           hg_op_get((hg_op)program->insts[i].op)->text);
}

hg_status hg_infer_types(hg_program *program, hg_diagnostics *d) {
    if (!anything_open(program)) return HG_OK;
    hg_cfg *cfg = hg_calloc(1, sizeof *cfg);
    if (!cfg) return hg_fail_memory();
    hg_check check;
    hg_status status = hg_check_begin(&check, program, d);
    if (status == HG_OK) {
        cfg->program = program;
        hg_start_types(cfg, program, NULL);
        infer(&check, cfg, program);
        status = hg_check_end(&check);
    }
    hg_cfg_destroy(cfg);
    return status;
}
