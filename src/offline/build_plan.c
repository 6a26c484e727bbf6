/* The body of a function of built C text: memory and values of the call, then the plan's kernels, steps and jumps.
 * Must not know: levels. */
#include "offline/build_internal.h"
#include "kir/define/define.h"
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

/* ---- values ---- */

static uint32_t param_of(const build_program *p, uint8_t reg) {
    uint32_t i = 0;
    while (i < p->program->param_count && p->program->params[i].reg != reg) i++;
    return i;
}

/* A parameter's bytes as the words of an input: the handle of memory is its number from 1. */
static void add_param_value(const build_program *p, uint32_t i, uint64_t start, uint64_t size, hg_text *out) {
    const hg_param *param = &p->program->params[i];
    if (param->kind != HG_PARAM_SCALAR)
        hg_text_addf(out, "%u", (unsigned)i + 1);
    else if (build_scalar_type((hg_type)param->type))
        hg_text_addf(out, "v_%s", p->names[i]);
    else
        hg_text_addf(out, "@_bytes_at(%s, %llu, %llu)", p->names[i], (ull)start, (ull)size);
}

static void add_env_value(uint64_t offset, uint64_t size, hg_text *out) {
    hg_text_addf(out, "@_bytes_at(env, %llu, %llu)", (ull)offset, (ull)size);
}

static void add_input(const build_program *p, const kir_input *input, hg_text *out) {
    uint64_t size = input->limb_bytes ? input->limb_bytes : kir_type_bytes(input->type), start = (uint64_t)input->limb * input->limb_bytes;
    if (input->kind == KIR_INPUT_SHARED) /* behind the program's shared memory */
        hg_text_addf(out, "%llu", input->limb_bytes && input->limb ? 0 : (ull)((p->program->shared + 15) & ~UINT64_C(15)));
    else if (input->kind == KIR_INPUT_ENV)
        add_env_value(input->index + start, size, out);
    else
        add_param_value(p, param_of(p, input->reg), start, size, out);
}

static void add_scalars(const build_program *p, hg_text *out) {
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (param->kind != HG_PARAM_SCALAR || !build_scalar_type((hg_type)param->type)) continue;
        hg_text_addf(out, "    uint64_t v_%s = 0;\n    memcpy(&v_%s, &%s, sizeof %s);\n    (void)v_%s;\n", p->names[i], p->names[i],
                     p->names[i], p->names[i], p->names[i]);
    }
}

static void add_memories(const build_program *p, hg_text *out) {
    uint64_t pools = 0;
    hg_text_addf(out, "    const hgv_memory memories[] = {\n");
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (param->kind == HG_PARAM_SCALAR)
            hg_text_addf(out, "        {0, 0, false},\n");
        else if (param->kind == HG_PARAM_DATA)
            hg_text_addf(out, "        {(uint8_t *)(uintptr_t)hgd_%s_%s, %llu, true},\n", p->function, p->names[i], (ull)param->data_bytes);
        else
            hg_text_addf(out, "        {(uint8_t *)(uintptr_t)%s, %s_bytes, %s != NULL},\n", p->names[i], p->names[i], p->names[i]);
        if (param->kind == HG_PARAM_POOL && i < 64) pools |= UINT64_C(1) << i;
    }
    hg_text_addf(
        out, "        {0, 0, false},\n    };\n    run.memories = memories;\n    run.memory_count = %u;\n    run.pools = UINT64_C(%llu);\n",
        (unsigned)p->program->param_count, (ull)pools);
}

static void add_tables(const build_program *p, hg_text *out) {
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (param->kind != HG_PARAM_DATA) continue;
        hg_text_addf(out, "\nstatic const _Alignas(64) uint8_t hgd_%s_%s[%llu] = {", p->function, p->names[i], (ull)param->data_bytes);
        for (uint64_t n = 0; n < param->data_bytes; n++) hg_text_addf(out, n % 24 ? " %u," : "\n    %u,", (unsigned)param->data[n]);
        hg_text_addf(out, "\n};\n");
    }
}

/* ---- the launch ---- */

static void add_number(const build_program *p, const hg_extent *e, hg_text *out) {
    static const char *const two[HG_EXTENT_OP_COUNT] = {
        [HG_EXTENT_OP_ADD] = "add", [HG_EXTENT_OP_SUB] = "sub",           [HG_EXTENT_OP_MUL] = "mul", [HG_EXTENT_OP_DIV] = "div",
        [HG_EXTENT_OP_MIN] = "min", [HG_EXTENT_OP_CEIL_DIV] = "ceil_div", [HG_EXTENT_OP_MAX] = "max"};
    if (e->kind == HG_EXTENT_NUMBER) {
        hg_text_addf(out, "@_is(UINT64_C(%llu))", (ull)e->value);
        return;
    }
    if (e->kind == HG_EXTENT_PARAM) {
        hg_text_addf(out, "@_is(v_%s)", p->names[e->param]);
        return;
    }
    /* A stack machine: the text of each value on the stack. */
    HG_VEC(hg_text) stack = {0};
    for (uint16_t i = 0; i < e->op_count && !out->failed; i++) {
        const hg_extent_op *op = &p->program->extent_ops[e->value + i];
        hg_text text = {0};
        if (op->kind == HG_EXTENT_OP_NUMBER)
            hg_text_addf(&text, "@_is(UINT64_C(%llu))", (ull)op->value);
        else if (op->kind == HG_EXTENT_OP_PARAM)
            hg_text_addf(&text, "@_is(v_%s)", p->names[op->param]);
        else if (stack.count >= 2) {
            hg_text b = stack.data[--stack.count], a = stack.data[--stack.count];
            hg_text_addf(&text, "@_%s(%s, %s)", two[op->kind], a.data ? a.data : "", b.data ? b.data : "");
            hg_text_free(&a);
            hg_text_free(&b);
        }
        hg_text *top = hg_vec_push(&stack);
        if (top)
            *top = text;
        else
            out->failed = true;
    }
    for (uint64_t i = 0; i < stack.count; i++) {
        if (i + 1 == stack.count && stack.data[i].data) hg_text_addf(out, "%s", stack.data[i].data);
        hg_text_free(&stack.data[i]);
    }
    hg_vec_free(&stack);
}

static void add_lanes(const build_program *p, uint32_t first, hg_text *out) {
    bool more = first + 1 < p->program->lanes_count;
    if (more) hg_text_addf(out, "@_mul(");
    add_number(p, &p->program->lanes[first], out);
    for (uint32_t i = first + 1; i < p->program->lanes_count; i++) {
        hg_text_addf(out, i + 1 < p->program->lanes_count ? ", @_mul(" : ", ");
        add_number(p, &p->program->lanes[i], out);
    }
    for (uint32_t i = first + 1; i < p->program->lanes_count; i++) hg_text_addf(out, ")");
}

/* What a launch is where the caller gives none. */
static void add_asked(const build_program *p, hg_text *out) {
    const hg_program *program = p->program;
    if (program->lanes_count) {
        hg_text_addf(out, "    @_launch asked;\n    if (!launch && @_asked_lanes(&asked, ");
        add_lanes(p, 0, out);
        hg_text_addf(out, ")) launch = &asked;\n");
    } else if (program->grid_count) {
        hg_text_addf(out, "    @_launch asked;\n    const uint32_t asked_block[3] = {%u, %u, %u};\n    if (!launch && @_asked_grid(&asked",
                     program->block[0] ? (unsigned)program->block[0] : 1u, program->block[0] ? (unsigned)program->block[1] : 1u,
                     program->block[0] ? (unsigned)program->block[2] : 1u);
        for (uint32_t i = 0; i < 3; i++) {
            hg_text_addf(out, ", ");
            if (i < program->grid_count)
                add_number(p, &program->grid[i], out);
            else
                hg_text_addf(out, "@_is(1)");
        }
        hg_text_addf(out, ", asked_block)) launch = &asked;\n");
    }
    hg_text_addf(out,
                 "    static const uint32_t block[3] = {%u, %u, %u};\n    const int level = @_level_now();\n    @_run run;\n"
                 "    if (@_begin(&run, launch, block, %s)) return @_end(&run, fault);\n",
                 (unsigned)program->block[0], (unsigned)program->block[1], (unsigned)program->block[2], p->parts ? "true" : "false");
}

/* ---- kernels ---- */

static void add_slot(const build_program *p, const kir_module *m, const kir_slot *s, hg_text *out) {
    const kir_input *input = s->constant ? NULL : &m->inputs.data[s->input];
    if (s->plan == KIR_PLAN_ENV)
        hg_text_addf(out, "{(uint8_t *)env, sizeof env, true}");
    else if (s->plan == KIR_PLAN_SCRATCH)
        hg_text_addf(out, "{(uint8_t *)keep, keep_bytes, true}");
    else if (input && input->kind == KIR_INPUT_PARAM)
        hg_text_addf(out, "memories[%u]", (unsigned)param_of(p, input->reg));
    else {
        hg_text_addf(out, "@_memory_of(&run, ");
        if (input)
            add_input(p, input, out);
        else
            hg_text_addf(out, "0");
        hg_text_addf(out, ", %s)", s->space == KIR_POOL ? "true" : "false");
    }
}

static void add_launch(const build_job *job, const build_program *p, uint32_t kernel, bool single_lane, hg_text *out) {
    const build_kernel *k = &job->kernels.data[p->first_kernel + kernel];
    const kir_module *m = k->low;
    hg_text_addf(out, "    {\n        const uint64_t inputs[] = {");
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        add_input(p, &m->inputs.data[i], out);
        hg_text_addf(out, ", ");
    }
    hg_text_addf(out, "0};\n        const hgv_memory slots[] = {");
    for (uint64_t i = 0; i < m->slots.count; i++) {
        add_slot(p, m, &m->slots.data[i], out);
        hg_text_addf(out, ", ");
    }
    const char *lanes = single_lane ? "0, 1" : p->parts ? "run.begin, run.end" : "0, run.launch.lanes";
    hg_text_addf(out, "{0, 0, false}};\n        if (!@_%s_of(&run, %s[level], inputs, slots, %s", k->blocks ? "blocks" : "lanes", k->name,
                 lanes);
    if (k->blocks) hg_text_addf(out, ", %llu, %u", (ull)p->program->shared, (unsigned)p->block_bytes);
    hg_text_addf(out, ")) goto end;\n    }\n");
}

/* ---- maps and reductions ---- */

/* "NAME_array(…, &m0)": where an array of a step lies, of n elements. */
static void add_array(const build_program *p, const plan_step *step, const kir_step_operand *o, uint32_t number, hg_text *out) {
    const hg_plan *plan = p->plan;
    const hg_op_info *row = hg_op_get((hg_op)step->op);
    hg_text_addf(out, "        hgv_memory m%u;\n        if (!@_array(&run, ", (unsigned)number);
    add_env_value(plan->env.data[step->args[o->first_arg]].offset, 8, out);
    hg_text_addf(out, ", %s, ", o->space == KIR_POOL ? "true" : "false");
    if (o->has_index)
        add_env_value(plan->env.data[step->args[o->first_arg + 1]].offset, 8, out);
    else
        hg_text_addf(out, "0");
    hg_text_addf(out, ", INT64_C(%lld), ", (long long)o->disp);
    bool one = plan_collective_of((hg_op)step->op) == &plan_collective_reduce && (o->access & HG_WRITE);
    hg_text_addf(out, one ? "1" : "n");
    hg_text_addf(out, ", %llu, %u, %u, \"%s\", &m%u)) goto end;\n", (ull)hg_type_size_bytes((hg_type)step->atlas_type),
                 (unsigned)step->inst, (unsigned)o->operand, row->operands[o->operand - 1].name ? row->operands[o->operand - 1].name : "",
                 (unsigned)number);
}

static void add_step(const build_job *job, const build_program *p, uint32_t number, hg_text *out) {
    const plan_step *step = &p->plan->steps.data[number];
    const char *kernel = job->kernels.data[p->steps[number]].name;
    hg_type type = (hg_type)step->atlas_type;
    uint32_t count = 0;
    if (!plan_collective_of((hg_op)step->op)) return;
    for (uint32_t i = 0; i < step->info->count; i++)
        if (step->info->operands[i].kind == KIR_STEP_COUNT) {
            hg_text_addf(out, "    {\n        const uint64_t n = ");
            add_env_value(p->plan->env.data[step->args[step->info->operands[i].first_arg]].offset, 8, out);
            hg_text_addf(out, ";\n");
        }
    for (uint32_t i = 0; i < step->info->count; i++)
        if (step->info->operands[i].kind == KIR_STEP_ARRAY) {
            add_array(p, step, &step->info->operands[i], count, out);
            count++;
        }
    if (plan_collective_of((hg_op)step->op) == &plan_collective_map) {
        hg_text_addf(out, "        const hgv_memory arrays[] = {");
        for (uint32_t i = 1; i < count; i++) hg_text_addf(out, "m%u, ", (unsigned)i);
        hg_text_addf(out, "m0};\n        if (!@_map(&run, %s[level], arrays, n, %u)) goto end;\n    }\n", kernel, (unsigned)step->inst);
        return;
    }
    uint8_t identity[512];
    uint64_t bits = 0, size = hg_type_size_bytes(type);
    kir_identity((hg_op)build_step_function(step), type, identity);
    memcpy(&bits, identity, (size_t)size);
    if (step->result != HG_PLAN_NO_ENV)
        hg_text_addf(out, "        uint8_t *const to = (uint8_t *)env + %u;\n", (unsigned)p->plan->env.data[step->result].offset);
    else
        hg_text_addf(out, "        uint8_t *const to = m0.base;\n");
    hg_text_addf(out, "        @_reduce(&run, %s[level], m%u.base, n, %llu, UINT64_C(%llu), to);\n    }\n", kernel,
                 step->result != HG_PLAN_NO_ENV ? 0u : 1u, (ull)size, (ull)bits);
}

/* ---- what the host computes ---- */

static void add_operation(const build_program *p, uint32_t first, uint32_t i, hg_text *out) {
    static const char *const types[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    static const char *const signs[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
    const plan_operation *o = &p->plan->operations.data[first + i];
    const char *type = o->type == KIR_BOOL ? "bool" : o->type == KIR_VOID ? "" : types[kir_kind_of(o->type)];
    const plan_env *e = &p->plan->env.data[o->entry];
    uint8_t of = o->nargs ? p->plan->operations.data[first + o->args[0]].type : o->type;
    unsigned a = o->nargs ? (unsigned)o->args[0] : 0;
    if (o->op == KIR_VAR_SET) {
        hg_text_addf(out, "        memcpy((uint8_t *)env + %u, &c%u, sizeof c%u);\n", (unsigned)e->offset, a, a);
        return;
    }
    hg_text_addf(out, "        const %s c%u = ", type, (unsigned)i);
    switch ((kir_op)o->op) {
    case KIR_CONST: hg_text_addf(out, "(%s)UINT64_C(%llu)", type, (ull)o->imm); break;
    case KIR_ID: {
        hg_idname id = (hg_idname)o->imm;
        if (hg_idname_part(id) == HG_PART_BLOCK_DIM || hg_idname_part(id) == HG_PART_GRID_DIM)
            hg_text_addf(out, "run.launch.%s[%u]", hg_idname_part(id) == HG_PART_BLOCK_DIM ? "block" : "grid",
                         (unsigned)hg_idname_axis(id));
        else
            hg_text_addf(out, "run.launch.lanes");
        break;
    }
    case KIR_INPUT:
    case KIR_VAR_GET:
        hg_text_addf(out, "(%s)", type);
        add_env_value(e->offset, kir_type_bytes(e->type), out);
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
            hg_text_addf(out, "(%s)(%s)(%s)c%u", type, signs[kir_kind_of(o->type)], signs[kir_kind_of(of)], a);
        break;
    default:
        hg_text_addf(out, "hgs1_%s_%s(", kir_op_name((kir_op)o->op),
                     o->op == KIR_SELECT ? (o->type == KIR_BOOL ? "bool" : kir_type_name(o->type))
                     : of == KIR_BOOL    ? "bool"
                                         : kir_type_name(of));
        for (uint8_t n = 0; n < o->nargs; n++) hg_text_addf(out, n ? ", c%u" : "c%u", (unsigned)o->args[n]);
        hg_text_addf(out, ")");
    }
    hg_text_addf(out, ";\n        (void)c%u;\n", (unsigned)i);
}

/* ---- the plan ---- */

static void add_env(const build_program *p, hg_text *out) {
    const hg_plan *plan = p->plan;
    if (!plan->env_bytes) return;
    hg_text_addf(out, "    uint64_t env[%llu] = {0};\n    (void)env;\n", (ull)(plan->env_bytes + 7) / 8);
    for (uint64_t i = 0; i < plan->env.count; i++) {
        const plan_env *e = &plan->env.data[i];
        uint64_t size = kir_type_bytes(e->type);
        if (e->init == PLAN_INIT_CONST) {
            for (uint64_t at = 0; at < size; at += 8) {
                uint64_t word = 0;
                memcpy(&word, (e->bytes ? e->bytes : (const uint8_t *)&e->value) + at, (size_t)(size - at < 8 ? size - at : 8));
                if (word) hg_text_addf(out, "    env[%llu] = UINT64_C(%llu);\n", (ull)(e->offset + at) / 8, (ull)word);
            }
        } else if (e->init == PLAN_INIT_PARAM) {
            uint32_t n = param_of(p, e->reg);
            for (uint64_t at = 0; at < size; at += 8) {
                hg_text_addf(out, "    env[%llu] = ", (ull)(e->offset + at) / 8);
                add_param_value(p, n, at, size - at < 8 ? size - at : 8, out);
                hg_text_addf(out, ";\n");
            }
        }
    }
}

static bool is_target(const hg_plan *plan, uint64_t at) {
    for (uint64_t i = 0; i < plan->code.count; i++) {
        const plan_inst *inst = &plan->code.data[i];
        if ((inst->op == PLAN_JUMP || inst->op == PLAN_JUMP_UNLESS) && inst->target == at) return true;
    }
    return false;
}

static void add_code(const build_job *job, const build_program *p, hg_text *out) {
    const hg_plan *plan = p->plan;
    for (uint64_t i = 0; i < plan->code.count; i++) {
        const plan_inst *inst = &plan->code.data[i];
        if (is_target(plan, i)) hg_text_addf(out, "l%u:;\n", (unsigned)i);
        switch ((plan_op)inst->op) {
        case PLAN_KERNEL: add_launch(job, p, inst->index, plan->kernels.data[inst->index].single_lane, out); break;
        case PLAN_STEP: add_step(job, p, inst->index, out); break;
        case PLAN_COMPUTE:
            hg_text_addf(out, "    {\n");
            for (uint32_t n = 0; n < inst->target; n++) add_operation(p, inst->index, n, out);
            hg_text_addf(out, "    }\n");
            break;
        case PLAN_JUMP: hg_text_addf(out, "    if (@_goes_on(&run)) goto l%u;\n    goto end;\n", (unsigned)inst->target); break;
        case PLAN_JUMP_UNLESS:
            hg_text_addf(out, "    if (!");
            add_env_value(plan->env.data[inst->index].offset, 1, out);
            hg_text_addf(out, ") goto l%u;\n", (unsigned)inst->target);
            break;
        case PLAN_END: hg_text_addf(out, "    goto end;\n"); break;
        }
    }
}

hg_status build_add_function(const build_job *job, const build_program *p, hg_text *out) {
    hg_text body = {0};
    add_tables(p, out);
    hg_text_addf(out, "\n");
    build_add_prototype(job, p, out);
    hg_text_addf(out, " {\n");
    add_scalars(p, &body);
    add_asked(p, &body);
    add_memories(p, &body);
    if (p->plan->scratch_lane_bytes)
        hg_text_addf(&body, "    if (@_keep(&run, keep, keep_bytes, UINT64_C(%llu))) return @_end(&run, fault);\n",
                     (ull)p->plan->scratch_lane_bytes);
    add_env(p, &body);
    add_code(job, p, &body);
    hg_text_addf(&body, "    goto end;\nend:\n    return @_end(&run, fault);\n}\n");
    if (body.data) build_add_marked(out, job->name, body.data);
    out->failed |= body.failed;
    hg_text_free(&body);
    return HG_OK;
}
