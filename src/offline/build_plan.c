/* The body of a function of built C text: memory of the call, then the plan's kernels, steps and
 * jumps.
 * Must not know: levels. */
#include "offline/build_internal.h"
#include "kir/define/define.h"
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

/* ---- memory ---- */

_Static_assert(BUILD_POOL_WORDS == 4, "pools of built/runtime.inc");

static void add_memories(const build_program *p, hg_text *out) {
    uint64_t pools[BUILD_POOL_WORDS];
    uint32_t scratch = 0;
    build_find_pools(p, pools);
    hg_text_addf(out, "    const hgv_memory memories[] = {\n");
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (param->kind == HG_PARAM_SCALAR)
            hg_text_addf(out, "        {0, 0, false},\n");
        else if (param->kind == HG_PARAM_DATA)
            hg_text_addf(out, "        {(uint8_t *)(uintptr_t)hgd_%s_%s, %llu, true},\n",
                         p->function, p->names[i], (ull)param->data_bytes);
        else if (param->kind == HG_PARAM_SCRATCH)
            hg_text_addf(out, "        @_memory_in(work, &spans[%u]),\n", (unsigned)scratch++);
        else if (p->use == BUILD_LAUNCH) /* an array of no bytes may be nowhere */
            hg_text_addf(out,
                         "        {%s ? (uint8_t *)(uintptr_t)%s : (uint8_t *)&run, %s_bytes, "
                         "true},\n",
                         p->names[i], p->names[i], p->names[i]);
        else
            hg_text_addf(out, "        {(uint8_t *)(uintptr_t)%s, %s_bytes, %s != NULL},\n",
                         p->names[i], p->names[i], p->names[i]);
    }
    hg_text_addf(out,
                 "        {0, 0, false},\n    };\n    run.memories = memories;\n    "
                 "run.memory_count = %u;\n",
                 (unsigned)p->program->param_count);
    for (uint32_t i = 0; i < BUILD_POOL_WORDS; i++)
        if (pools[i])
            hg_text_addf(out, "    run.pools[%u] = UINT64_C(%llu);\n", (unsigned)i, (ull)pools[i]);
}

static void add_tables(const build_program *p, hg_text *out) {
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (param->kind != HG_PARAM_DATA) continue;
        hg_text_addf(out, "\nstatic const _Alignas(64) uint8_t hgd_%s_%s[%llu] = {", p->function,
                     p->names[i], (ull)param->data_bytes);
        for (uint64_t n = 0; n < param->data_bytes; n++)
            hg_text_addf(out, n % 24 ? " %u," : "\n    %u,", (unsigned)param->data[n]);
        hg_text_addf(out, "\n};\n");
    }
}

static void add_begin(const build_program *p, hg_text *out) {
    const hg_program *program = p->program;
    hg_text_addf(out,
                 "    static const uint32_t block[3] = {%u, %u, %u};\n    const int level = "
                 "@_level_now();\n    @_run run;\n"
                 "    if (@_begin(&run, launch, block, %s)) return @_end(&run, fault);\n",
                 (unsigned)program->block[0], (unsigned)program->block[1],
                 (unsigned)program->block[2], p->parts ? "true" : "false");
}

/* ---- kernels ---- */

static void add_slot(const build_program *p, const kir_module *m, const kir_slot *s, hg_text *out) {
    const kir_input *input = s->constant ? NULL : &m->inputs.data[s->input];
    if (s->plan == KIR_PLAN_ENV)
        hg_text_addf(out, "{(uint8_t *)env, sizeof env, true}");
    else if (s->plan == KIR_PLAN_SCRATCH)
        hg_text_addf(out, "@_memory_in(work, &spans[%u])", (unsigned)p->keep_span);
    else if (input && input->kind == KIR_INPUT_PARAM)
        hg_text_addf(out, "memories[%u]", (unsigned)build_param_of(p, input->reg));
    else {
        hg_text_addf(out, "@_memory_of(&run, ");
        if (input)
            build_add_input(p, input, out);
        else
            hg_text_addf(out, "0");
        hg_text_addf(out, ", %s)", s->space == KIR_POOL ? "true" : "false");
    }
}

static void add_launch(const build_job *job, const build_program *p, uint32_t kernel,
                       bool single_lane, hg_text *out) {
    const build_kernel *k = &job->kernels.data[p->first_kernel + kernel];
    const kir_module *m = k->low;
    hg_text_addf(out, "    {\n        const uint64_t inputs[] = {");
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        build_add_input(p, &m->inputs.data[i], out);
        hg_text_addf(out, ", ");
    }
    hg_text_addf(out, "0};\n        const hgv_memory slots[] = {");
    for (uint64_t i = 0; i < m->slots.count; i++) {
        add_slot(p, m, &m->slots.data[i], out);
        hg_text_addf(out, ", ");
    }
    const char *lanes = single_lane ? "0, 1"
                        : p->parts  ? "run.begin, run.end"
                                    : "0, run.launch.lanes";
    hg_text_addf(out, "{0, 0, false}};\n");
    if (k->places)
        hg_text_addf(out,
                     "        if (@_has_places(&run, %s)) {\n            if (!@_places_of(&run, "
                     "%s_places[level], inputs, slots, %s)) goto end;\n"
                     "        } else",
                     lanes, k->name, lanes);
    hg_text_addf(out, "        if (!@_%s_of(&run, %s[level], inputs, slots, %s",
                 k->blocks ? "blocks" : "lanes", k->name, lanes);
    if (k->blocks)
        hg_text_addf(out, ", %llu, %u", (ull)p->program->shared, (unsigned)p->block_bytes);
    hg_text_addf(out, ")) goto end;\n    }\n");
}

/* ---- maps and reductions ---- */

static void add_step(const build_job *job, const build_program *p, uint32_t number, hg_text *out) {
    const plan_step *step = &p->plan->steps.data[number];
    const char *kernel = job->kernels.data[p->steps[number].kernel].name;
    hg_type type = (hg_type)step->atlas_type;
    uint32_t count = 0;
    if (!plan_collective_of((hg_op)step->op)) return;
    if (p->steps[number].open) {
        build_add_open_call(p, number, out);
        return;
    }
    if (p->steps[number].expanded) {
        build_add_expansion(job, p, number, out);
        return;
    }
    for (uint32_t i = 0; i < step->info->count; i++)
        if (step->info->operands[i].kind == KIR_STEP_COUNT) {
            hg_text_addf(out, "    {\n        hgv_memory hgd_m[4];\n        const uint64_t n = ");
            build_add_env_value(
                p->plan->env.data[step->args[step->info->operands[i].first_arg]].offset, 8, out);
            hg_text_addf(out, ";\n");
        }
    for (uint32_t i = 0; i < step->info->count; i++)
        if (step->info->operands[i].kind == KIR_STEP_ARRAY) {
            const kir_step_operand *o = &step->info->operands[i];
            bool one = plan_collective_of((hg_op)step->op) == &plan_collective_reduce &&
                       (o->access & HG_WRITE);
            build_add_array(p, step, o,
                            &(build_extent){one ? "1" : "n", hg_type_size_bytes(type), 0, false},
                            count++, out);
        }
    if (plan_collective_of((hg_op)step->op) == &plan_collective_map) {
        hg_text_addf(out, "        const hgv_memory arrays[] = {");
        for (uint32_t i = 1; i < count; i++) hg_text_addf(out, "hgd_m[%u], ", (unsigned)i);
        hg_text_addf(
            out,
            "hgd_m[0]};\n        if (!@_map(&run, %s[level], arrays, n, %u)) goto end;\n    }\n",
            kernel, (unsigned)step->inst);
        return;
    }
    uint8_t identity[512];
    uint64_t bits = 0, size = hg_type_size_bytes(type);
    kir_identity((hg_op)build_step_function(step), type, identity);
    memcpy(&bits, identity, (size_t)size);
    if (step->result != HG_PLAN_NO_ENV)
        hg_text_addf(out, "        uint8_t *const to = (uint8_t *)env + %u;\n",
                     (unsigned)p->plan->env.data[step->result].offset);
    else
        hg_text_addf(out, "        uint8_t *const to = hgd_m[0].base;\n");
    hg_text_addf(
        out,
        "        @_reduce(&run, %s[level], hgd_m[%u].base, n, %llu, UINT64_C(%llu), to);\n    }\n",
        kernel, step->result != HG_PLAN_NO_ENV ? 0u : 1u, (ull)size, (ull)bits);
}

/* ---- what the host computes ---- */

static void add_operation(const build_program *p, uint32_t first, uint32_t i, hg_text *out) {
    static const char *const types[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    static const char *const signs[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
    const plan_operation *o = &p->plan->operations.data[first + i];
    const char *type = o->type == KIR_BOOL   ? "bool"
                       : o->type == KIR_VOID ? ""
                                             : types[kir_kind_of(o->type)];
    const plan_env *e = &p->plan->env.data[o->entry];
    uint8_t of = o->nargs ? p->plan->operations.data[first + o->args[0]].type : o->type;
    unsigned a = o->nargs ? (unsigned)o->args[0] : 0;
    if (o->op == KIR_VAR_SET) {
        hg_text_addf(out, "        memcpy((uint8_t *)env + %u, &c%u, sizeof c%u);\n",
                     (unsigned)e->offset, a, a);
        return;
    }
    hg_text_addf(out, "        const %s c%u = ", type, (unsigned)i);
    switch ((kir_op)o->op) {
    case KIR_CONST: hg_text_addf(out, "(%s)UINT64_C(%llu)", type, (ull)o->imm); break;
    case KIR_ID: {
        hg_idname id = (hg_idname)o->imm;
        if (hg_idname_part(id) == HG_PART_BLOCK_DIM || hg_idname_part(id) == HG_PART_GRID_DIM)
            hg_text_addf(out, "run.launch.%s[%u]",
                         hg_idname_part(id) == HG_PART_BLOCK_DIM ? "block" : "grid",
                         (unsigned)hg_idname_axis(id));
        else
            hg_text_addf(out, "run.launch.lanes");
        break;
    }
    case KIR_INPUT:
    case KIR_VAR_GET:
        hg_text_addf(out, "(%s)", type);
        build_add_env_value(e->offset, kir_type_bytes(e->type), out);
        break;
    case KIR_ZEXT:
    case KIR_BITCAST: hg_text_addf(out, "(%s)c%u", type, a); break;
    case KIR_TRUNC:
        if (o->type == KIR_BOOL)
            hg_text_addf(out, "(c%u & 1) != 0", a);
        else
            hg_text_addf(out, "(%s)c%u", type, a);
        break;
    case KIR_SEXT:
        if (of == KIR_BOOL)
            hg_text_addf(out, "(%s)-(int)c%u", type, a);
        else
            hg_text_addf(out, "(%s)(%s)(%s)c%u", type, signs[kir_kind_of(o->type)],
                         signs[kir_kind_of(of)], a);
        break;
    default:
        hg_text_addf(out, "hgs1_%s_%s(", kir_op_name((kir_op)o->op),
                     o->op == KIR_SELECT ? (o->type == KIR_BOOL ? "bool" : kir_type_name(o->type))
                     : of == KIR_BOOL    ? "bool"
                                         : kir_type_name(of));
        for (uint8_t n = 0; n < o->nargs; n++)
            hg_text_addf(out, n ? ", c%u" : "c%u", (unsigned)o->args[n]);
        hg_text_addf(out, ")");
    }
    hg_text_addf(out, ";\n        (void)c%u;\n", (unsigned)i);
}

/* ---- the plan ---- */

static void add_env(const build_program *p, hg_text *out) {
    const hg_plan *plan = p->plan;
    if (!plan->env_bytes) return;
    hg_text_addf(out, "    uint64_t env[%llu] = {0};\n    (void)env;\n",
                 (ull)(plan->env_bytes + 7) / 8);
    for (uint64_t i = 0; i < plan->env.count; i++) {
        const plan_env *e = &plan->env.data[i];
        uint64_t size = kir_type_bytes(e->type);
        if (e->init == PLAN_INIT_CONST) {
            for (uint64_t at = 0; at < size; at += 8) {
                uint64_t word = 0;
                memcpy(&word, (e->bytes ? e->bytes : (const uint8_t *)&e->value) + at,
                       (size_t)(size - at < 8 ? size - at : 8));
                if (word)
                    hg_text_addf(out, "    env[%llu] = UINT64_C(%llu);\n",
                                 (ull)(e->offset + at) / 8, (ull)word);
            }
        } else if (e->init == PLAN_INIT_PARAM) {
            uint32_t n = build_param_of(p, e->reg);
            for (uint64_t at = 0; at < size; at += 8) {
                hg_text_addf(out, "    env[%llu] = ", (ull)(e->offset + at) / 8);
                build_add_param_value(p, n, at, size - at < 8 ? size - at : 8, out);
                hg_text_addf(out, ";\n");
            }
        }
    }
}

static bool is_target(const hg_plan *plan, uint64_t at) {
    for (uint64_t i = 0; i < plan->code.count; i++) {
        const plan_inst *inst = &plan->code.data[i];
        if ((inst->op == PLAN_JUMP || inst->op == PLAN_JUMP_UNLESS) && inst->target == at)
            return true;
    }
    return false;
}

static void add_code(const build_job *job, const build_program *p, hg_text *out) {
    const hg_plan *plan = p->plan;
    for (uint64_t i = 0; i < plan->code.count; i++) {
        const plan_inst *inst = &plan->code.data[i];
        if (is_target(plan, i)) hg_text_addf(out, "l%u:;\n", (unsigned)i);
        switch ((plan_op)inst->op) {
        case PLAN_KERNEL:
            add_launch(job, p, inst->index, plan->kernels.data[inst->index].single_lane, out);
            break;
        case PLAN_STEP: add_step(job, p, inst->index, out); break;
        case PLAN_COMPUTE:
            hg_text_addf(out, "    {\n");
            for (uint32_t n = 0; n < inst->target; n++) add_operation(p, inst->index, n, out);
            hg_text_addf(out, "    }\n");
            break;
        case PLAN_JUMP:
            hg_text_addf(out, "    if (@_goes_on(&run)) goto l%u;\n    goto end;\n",
                         (unsigned)inst->target);
            break;
        case PLAN_JUMP_UNLESS:
            hg_text_addf(out, "    if (!");
            build_add_env_value(plan->env.data[inst->index].offset, 1, out);
            hg_text_addf(out, ") goto l%u;\n", (unsigned)inst->target);
            break;
        case PLAN_END: hg_text_addf(out, "    goto end;\n"); break;
        }
    }
}

hg_status build_add_function(const build_job *job, const build_program *p, hg_text *out) {
    hg_text body = {0};
    add_tables(p, out);
    build_add_open_steps(p, out);
    build_add_work_size(job, p, &body);
    hg_text_addf(&body, "\n");
    build_add_prototype(job, p, &body);
    hg_text_addf(&body, " {\n");
    build_add_scalars(p, &body);
    if (p->use == BUILD_LAUNCH) hg_text_addf(&body, "    const @_launch *launch = NULL;\n");
    build_add_asked(p, &body);
    add_begin(p, &body);
    if (p->use == BUILD_LAUNCH) hg_text_addf(&body, "    run.stop = stop;\n");
    build_add_work(p, &body);
    add_memories(p, &body);
    add_env(p, &body);
    if (!p->parts) hg_text_addf(&body, "    if (!run.launch.lanes) goto end;\n");
    add_code(job, p, &body);
    hg_text_addf(&body, "    goto end;\nend:\n    return @_end(&run, fault);\n}\n");
    if (body.data) build_add_marked(out, job->name, body.data);
    out->failed |= body.failed;
    hg_text_free(&body);
    return HG_OK;
}
