/* Whole-array instructions in C text: where their arrays lie, then the launches.
 * Must not know: what an instruction does. */
#include "offline/build_internal.h"
#include "kir/define/define.h"
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

/* ---- arrays: hgd_m of the text ---- */

static uint32_t argument(const build_program *p, const plan_step *step, uint32_t arg) {
    return p->plan->env.data[step->args[arg]].offset;
}

static const char *operand_name(const plan_step *step, uint32_t operand) {
    const char *name = hg_op_get((hg_op)step->op)->operands[operand - 1].name;
    return name ? name : "";
}

void build_add_array(const build_program *p, const plan_step *step, const kir_step_operand *o,
                     const build_extent *extent, uint32_t number, hg_text *out) {
    hg_text_addf(out, "        if (!@_array(&run, ");
    build_add_env_value(argument(p, step, o->first_arg), 8, out);
    hg_text_addf(out, ", %s, ", o->space == KIR_POOL ? "true" : "false");
    if (o->has_index)
        build_add_env_value(argument(p, step, o->first_arg + 1u), 8, out);
    else
        hg_text_addf(out, "0");
    hg_text_addf(out, ", INT64_C(%lld), %s, %llu, %s, %u, %u, \"%s\", &hgd_m[%u])) goto end;\n",
                 (long long)o->disp - (long long)extent->before, extent->count, (ull)extent->size,
                 extent->open ? "true" : "false", (unsigned)step->inst, (unsigned)o->operand,
                 operand_name(step, o->operand), (unsigned)number);
}

static void add_arrays(const build_program *p, const plan_step *step, const build_step *s,
                       hg_text *out) {
    for (uint32_t i = 0; i < s->call.array_count; i++) {
        const plan_array *a = &s->arrays[i];
        char count[40];
        if (!a->place) {
            hg_text_addf(
                out, "        hgd_m[%u] = (hgv_memory){(uint8_t *)env + %u, %llu, true};\n",
                (unsigned)i, (unsigned)p->plan->env.data[step->result].offset, (ull)a->bytes);
            continue;
        }
        snprintf(count, sizeof count, "UINT64_C(%llu)", (ull)a->bytes);
        build_add_array(p, step, a->place, &(build_extent){count, 1, a->before, a->open}, i, out);
    }
}

/* ---- arrays that share memory ---- */

static void add_refusal(const plan_step *step, uint8_t code, uint32_t operand, const char *message,
                        hg_text *out) {
    hg_text_addf(out, "@_refuse(&run, %u, %u, %u, \"", (unsigned)code, (unsigned)step->inst,
                 (unsigned)operand);
    for (const char *c = message; *c; c++)
        hg_text_addf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    hg_text_addf(out, "\")");
}

/* A fault where array i shares memory with array w. */
static void add_overlap_fault(const plan_step *step, const build_step *s, uint32_t i, uint32_t w,
                              hg_text *out) {
    plan_problem problem = {.found = false};
    if (s->arrays[i].written)
        plan_refuse(&s->call, &problem, KIR_FAULT_DOMAIN, s->arrays[i].operand,
                    "it shares memory with operand %u, both are written",
                    (unsigned)s->arrays[w].operand + 1);
    else
        plan_refuse(&s->call, &problem, KIR_FAULT_DOMAIN, s->arrays[i].operand,
                    "it shares memory with '%s', which is written",
                    operand_name(step, s->arrays[w].operand + 1u));
    hg_text_addf(out, "        if (@_overlap(&hgd_m[%u], &hgd_m[%u]) && ", (unsigned)w,
                 (unsigned)i);
    add_refusal(step, problem.code, problem.operand, problem.message, out);
    hg_text_addf(out, ") goto end;\n");
}

/* Array i is read from a copy where one of those that are written lies on it: elsewhere than on the
 * same elements, or at all. */
static void add_copy(const plan_step *step, const build_step *s, uint32_t i, hg_text *out) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    hg_text_addf(out, "        if (");
    bool first = true;
    for (uint32_t w = 0; w < s->call.array_count; w++) {
        if (!(s->shares[i] >> w & 1)) continue;
        bool same = plan_may_be_same(of, w) && plan_array_same_shape(&s->arrays[w], &s->arrays[i]);
        hg_text_addf(out, "%s@_overlap(&hgd_m[%u], &hgd_m[%u]) > %d", first ? "" : " || ",
                     (unsigned)w, (unsigned)i, same);
        first = false;
    }
    hg_text_addf(out, ") @_copy_aside(&hgd_m[%u], hgd_w + %llu);\n", (unsigned)i,
                 (ull)(s->copies[i] - 1));
}

static void add_overlaps(const plan_step *step, const build_step *s, hg_text *out) {
    bool refused = plan_collective_of((hg_op)step->op)->overlap == PLAN_OVERLAP_REFUSED;
    for (uint32_t i = 0; i < s->call.array_count; i++)
        for (uint32_t w = 0; w < s->call.array_count; w++)
            if ((s->shares[i] >> w & 1) && (s->arrays[i].written ? w < i : refused))
                add_overlap_fault(step, s, i, w, out);
    for (uint32_t i = 0; i < s->call.array_count; i++)
        if (s->copies[i]) add_copy(step, s, i, out);
}

/* ---- actions ---- */

/* A part as memory. */
static void add_part(const build_step *s, const plan_part *part, hg_text *out) {
    if (part->array == (uint32_t)PLAN_IN_SCRATCH || part->array == (uint32_t)PLAN_IN_TABLES)
        hg_text_addf(
            out, "{hgd_w + %llu, %llu, true}",
            (ull)(part->offset + (part->array == (uint32_t)PLAN_IN_TABLES ? s->tables : 0)),
            (ull)part->bytes);
    else if (part->bytes == PLAN_TO_END)
        hg_text_addf(out, "{hgd_m[%u].base + %llu, hgd_m[%u].size - %llu, true}",
                     (unsigned)part->array, (ull)part->offset, (unsigned)part->array,
                     (ull)part->offset);
    else
        hg_text_addf(out, "{hgd_m[%u].base + %llu, %llu, true}", (unsigned)part->array,
                     (ull)part->offset, (ull)part->bytes);
}

static void add_address(const build_step *s, const plan_part *part, hg_text *out) {
    if (part->array == (uint32_t)PLAN_IN_SCRATCH || part->array == (uint32_t)PLAN_IN_TABLES)
        hg_text_addf(
            out, "hgd_w + %llu",
            (ull)(part->offset + (part->array == (uint32_t)PLAN_IN_TABLES ? s->tables : 0)));
    else
        hg_text_addf(out, "hgd_m[%u].base + %llu", (unsigned)part->array, (ull)part->offset);
}

/* An input of a kernel: nothing for handles, the values, nothing for where arrays begin, how many
 * bytes they have. */
static void add_input(const build_step *s, const plan_action *action, const kir_input *input,
                      hg_text *out) {
    uint32_t arrays = action->key.arrays, values = action->key.values,
             size_of = input->reg - 2 * arrays - values;
    uint64_t value = 0;
    if (input->reg >= 2 * arrays + values) {
        const plan_part *part = &s->expansion.parts.data[action->first_part + size_of];
        if (part->bytes == PLAN_TO_END) {
            hg_text_addf(out, "hgd_m[%u].size - %llu, ", (unsigned)part->array, (ull)part->offset);
            return;
        }
        value = part->bytes;
    } else if (input->reg >= arrays && input->reg < arrays + values) {
        value = s->expansion.values.data[action->first_value + input->reg - arrays];
    }
    if (input->limb_bytes) value >>= 8 * input->limb * input->limb_bytes;
    hg_text_addf(out, "UINT64_C(%llu), ",
                 (ull)(input->limb_bytes == 4 ? value & UINT32_MAX : value));
}

static void add_launch(const build_job *job, const plan_step *step, const build_step *s,
                       uint64_t number, hg_text *out) {
    const plan_action *action = &s->expansion.actions.data[number];
    const build_kernel *k = &job->kernels.data[s->kernels[number]];
    const kir_module *m = k->low;
    hg_text_addf(out, "        {\n            const uint64_t inputs[] = {");
    for (uint64_t i = 0; i < m->inputs.count; i++) add_input(s, action, &m->inputs.data[i], out);
    hg_text_addf(out, "0};\n            const hgv_memory slots[] = {");
    for (uint64_t i = 0; i < m->slots.count; i++) {
        add_part(s,
                 &s->expansion.parts
                      .data[action->first_part + m->inputs.data[m->slots.data[i].input].reg],
                 out);
        hg_text_addf(out, ", ");
    }
    hg_text_addf(
        out,
        "{0, 0, false}};\n            static const uint32_t shape[] = {%u, %u, %u, %u, %u, %u};\n",
        (unsigned)action->grid[0], (unsigned)action->grid[1], (unsigned)action->grid[2],
        (unsigned)action->block[0], (unsigned)action->block[1], (unsigned)action->block[2]);
    hg_text_addf(out,
                 "            if (!@_step_of(&run, %s[level], inputs, slots, UINT64_C(%llu), "
                 "shape, %s, %llu, %u)) goto end;\n        }\n",
                 k->name, (ull)action->lanes, k->blocks ? "true" : "false",
                 (ull)action->shared_bytes, (unsigned)step->inst);
}

static void add_write(const build_step *s, const plan_action *action, hg_text *out) {
    const plan_part *to = &s->expansion.parts.data[action->first_part];
    const uint8_t *bytes = s->expansion.bytes.data + action->first_byte;
    uint64_t ones = 0;
    for (uint64_t i = 0; i < to->bytes; i++) ones += bytes[i] != 0;
    hg_text_addf(out, ones ? "        {\n            static const uint8_t bytes[] = {"
                           : "        memset(");
    for (uint64_t i = 0; ones && i < to->bytes; i++)
        hg_text_addf(out, i % 24 ? "%u, " : "\n                %u, ", (unsigned)bytes[i]);
    if (ones) hg_text_addf(out, "};\n            memcpy(");
    add_address(s, to, out);
    hg_text_addf(out, ones ? ", bytes, %llu);\n        }\n" : ", 0, %llu);\n", (ull)to->bytes);
}

static void add_action(const build_job *job, const plan_step *step, const build_step *s,
                       uint64_t number, hg_text *out) {
    const plan_action *action = &s->expansion.actions.data[number];
    const plan_part *parts = &s->expansion.parts.data[action->first_part];
    if (action->kind == PLAN_LAUNCH) add_launch(job, step, s, number, out);
    if (action->kind == PLAN_WRITE) add_write(s, action, out);
    if (action->kind != PLAN_COPY) return;
    hg_text_addf(out, "        memmove(");
    add_address(s, &parts[0], out);
    hg_text_addf(out, ", ");
    add_address(s, &parts[1], out);
    hg_text_addf(out, ", %llu);\n", (ull)parts[0].bytes);
}

void build_add_expansion(const build_job *job, const build_program *p, uint32_t number,
                         hg_text *out) {
    const plan_step *step = &p->plan->steps.data[number];
    const build_step *s = &p->steps[number];
    if (s->problem.found) {
        hg_text_addf(out, "    if (");
        add_refusal(step, s->problem.code, s->problem.operand, s->problem.message, out);
        hg_text_addf(out, ") goto end;\n");
        return;
    }
    hg_text_addf(out, "    {\n        hgv_memory hgd_m[%u];\n", (unsigned)s->call.array_count);
    if (s->scratch)
        hg_text_addf(out,
                     "        uint8_t *const hgd_w = (uint8_t *)work + spans[%u].begin.value;\n",
                     (unsigned)p->step_span);
    else
        hg_text_addf(out, "        uint8_t *const hgd_w = NULL;\n        (void)hgd_w;\n");
    add_arrays(p, step, s, out);
    add_overlaps(step, s, out);
    for (uint64_t i = 0; i < s->expansion.actions.count; i++) add_action(job, step, s, i, out);
    hg_text_addf(out, "    }\n");
}
