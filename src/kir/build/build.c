/* Kernel IR of a verified program: one function an Atlas function, registers as variables.
 * Requires: hg_verify succeeded. Provides: a structured module that kir_verify accepts.
 *
 * A register becomes one variable for each type it ever holds (the verifier proved which one at
 * each point). Variables that one function alone touches belong to it, the others to the module:
 * that is how registers cross calls. */
#include "kir/build/build_internal.h"
#include "kir/builder.h"
#include "kir/build/build.h"

#include <stdio.h>
#include <string.h>

/* Operations that a program may become: so many for each instruction, and so many always. What
 * makes more of few bytes (copies of shared code, reductions of many registers) ends here and not
 * when memory does. Programs of the examples and tests make up to 9 for an instruction. */
enum { MOST_EACH = 32, MOST_ALWAYS = 1 << 19 };

/* Variables of one function become its own. */
static void place_variables(kir_module *m, bool *shared) {
    for (kir_var *v = m->vars; v; v = v->next) shared[v->id] = false;
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op != KIR_VAR_GET && v->op != KIR_VAR_SET) continue;
            kir_var *var = v->u.var;
            if (shared[var->id] || var->function == f) continue;
            if (!var->function) {
                var->function = f;
            } else {
                var->function = NULL;
                shared[var->id] = true;
            }
        }
}

/* ---- the program's start ---- */

static bool add_input(build *x, uint8_t reg, const hg_param *param) {
    kir_input *input = hg_vec_push(&x->module->inputs);
    if (!input) return false;
    input->kind = KIR_INPUT_PARAM;
    input->reg = reg;
    input->index = (uint32_t)x->module->inputs.count - 1;
    input->type = kir_type_of(
        param ? (hg_type)(param->kind == HG_PARAM_SCALAR ? param->type : HG_TYPE_U64)
              : (hg_type)x->cfg->param_types[reg]);
    if (!param) return true;
    input->is_buffer = param->kind == HG_PARAM_BUFFER || param->kind == HG_PARAM_SCRATCH ||
                       param->kind == HG_PARAM_DATA;
    input->is_pool = param->kind == HG_PARAM_POOL;
    input->name = hg_arena_text(&x->module->arena, param->name, strlen(param->name));
    return input->name != NULL;
}

/* The launch may give such a register a value of its own. */
static bool is_special(const build *x, uint32_t reg) {
    return reg >= HG_FIRST_SPECIAL && !x->cfg->special_given[reg - HG_FIRST_SPECIAL];
}

/* Inputs in order of declaration, or of register where nothing is declared. */
static bool add_inputs(build *x, bool is_input[256]) {
    const hg_program *p = x->program;
    memset(is_input, 0, 256);
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (!add_input(x, p->params[i].reg, &p->params[i])) return false;
        is_input[p->params[i].reg] = true;
    }
    for (uint32_t r = 0; r < 256; r++) {
        if (is_input[r] || x->cfg->param_types[r] == HG_TYPE_OMITTED || is_special(x, r)) continue;
        if (!add_input(x, (uint8_t)r, NULL)) return false;
        is_input[r] = true;
    }
    return true;
}

/* First values of registers that are used at all. */
static void start_registers(build *x, const bool is_input[256]) {
    kir_builder *b = &x->b;
    kir_region head = {0};
    kir_builder_init(b, x->module, x->module->functions);
    b->region = &head;
    for (uint64_t i = 0; i < x->module->inputs.count; i++) {
        const kir_input *input = &x->module->inputs.data[i];
        if (input->kind != KIR_INPUT_PARAM) continue;
        kir_var *var = x->regs.vars[input->reg][input->type];
        if (!var) continue;
        kir_value *v = kir_emit(b, KIR_INPUT, input->type, 0, NULL);
        v->u.imm = i;
        kir_set(b, var, v);
        build_trace_register(x, input->reg, input->type, v);
    }
    for (uint32_t i = 0; i < HG_SPECIAL_COUNT; i++) {
        const hg_special *s = &hg_specials[i];
        uint8_t type = (uint8_t)hg_idname_type((hg_idname)s->id);
        kir_var *var = x->regs.vars[s->reg][type];
        if (!var || is_input[s->reg]) continue;
        kir_value *v = kir_emit(b, KIR_ID, type, 0, NULL);
        v->u.imm = s->id;
        kir_set(b, var, v);
        build_trace_register(x, s->reg, type, v);
    }
    if (x->steps) kir_set(b, x->steps, kir_const(b, HG_TYPE_U64, 0));
    if (x->atlas.phase) kir_set(b, x->atlas.phase, kir_const(b, HG_TYPE_U32, 0));
    if (!b->failed)
        kir_splice(x->module->functions->body, x->module->functions->body->first, &head);
}

/* ---- functions ---- */

static bool create_functions(build *x) {
    for (uint32_t i = 0; i < x->cfg->function_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "at_%u", (unsigned)x->cfg->functions[i].entry);
        const char *label = i ? hg_program_label_at(x->program, x->cfg->functions[i].entry)
                              : "main";
        x->functions[i] = kir_function_create(x->module, label ? label : name, KIR_VOID);
        if (!x->functions[i]) return false;
    }
    return true;
}

static hg_status build_function(build *x, uint32_t number) {
    x->source_number = number;
    x->source = &x->cfg->functions[number];
    kir_builder_init(&x->b, x->module, x->functions[number]);
    HG_TRY(build_widths(x));
    HG_TRY(build_structure(x));
    if (x->crowded)
        return hg_fail(HG_ERROR_ISA,
                       "a whole-array instruction with more than %d numbers in its operands",
                       UINT8_MAX);
    return x->b.failed ? kir_fail_making(x->module) : HG_OK;
}

static hg_status build_module(build *x, const kir_build_options *options) {
    x->module = kir_module_create(x->program->name ? x->program->name : "program");
    x->functions = hg_calloc(x->cfg->function_count, sizeof *x->functions);
    x->types = hg_calloc((size_t)x->program->operand_count + 1, 1);
    x->item_types = hg_calloc((size_t)x->program->item_count + 1, 1);
    if (!x->module || !x->functions || !x->types || !x->item_types || !create_functions(x))
        return hg_fail_memory();
    x->module->program = x->program;
    x->module->most = MOST_EACH * (uint64_t)x->program->inst_count + MOST_ALWAYS;
    x->module->relaxed = (x->program->flags & 1) != 0;
    x->max_steps = options ? options->max_steps : 0;
    x->how.trace = options && options->trace;
    x->how.unchecked = x->module->unchecked = options && options->unchecked;
    x->how.short_arrays = options && options->short_arrays;
    if (x->how.trace) x->module->most = 0; /* a wide result is traced in many parts */
    bool is_input[256];
    if (!add_inputs(x, is_input)) return hg_fail_memory();
    if (x->max_steps && !(x->steps = kir_var_create(x->module, NULL, HG_TYPE_U64, 0, "steps")))
        return hg_fail_memory();
    HG_TRY(build_atlas_begin(x));
    if (x->how.trace && x->program->private_bytes && !build_private_memory(x))
        return hg_fail_memory();
    for (uint32_t i = 0; i < x->cfg->function_count; i++) HG_TRY(build_function(x, i));
    start_registers(x, is_input);
    if (x->b.failed) return kir_fail_making(x->module);
    x->module->most = 0;
    bool *shared = hg_calloc(x->module->var_count + 1, sizeof *shared);
    if (!shared) return hg_fail_memory();
    place_variables(x->module, shared);
    hg_free(shared);
    return build_webs(x->module);
}

hg_status kir_build(const hg_cfg *cfg, const kir_build_options *options, kir_module **module) {
    *module = NULL;
    hg_cfg *inlined;
    HG_TRY(build_inline_steps(cfg, &inlined));
    build *x = hg_calloc(1, sizeof *x);
    if (!x) {
        build_inline_free(inlined);
        return hg_fail_memory();
    }
    x->cfg = inlined ? inlined : cfg;
    x->program = cfg->program;
    hg_status status = build_module(x, options);
    if (status == HG_OK)
        *module = x->module;
    else
        kir_module_destroy(x->module);
    hg_free(x->functions);
    hg_free(x->types);
    hg_free(x->item_types);
    hg_free(x);
    build_inline_free(inlined);
    return status;
}
