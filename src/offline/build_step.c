/* Whole-array instructions on their way to C text: which launches one is follows from its shapes,
 * which are numbers when the text is made, or what a call knows (build_open.c).
 * Must not know: how the text looks. */
#include "offline/build_internal.h"
#include "kir/define/define.h"
#include "plan/steps/tree.h"
#include <string.h>

/* ---- what is known of the arguments ---- */

static const plan_env *argument(const build_program *p, const plan_step *step, uint32_t arg) {
    return &p->plan->env.data[step->args[arg]];
}

static bool is_known(const plan_env *e) {
    return e->writer == PLAN_BY_NOBODY && e->init != PLAN_INIT_PARAM;
}

/* The arguments' words. Returns whether one is no number; of arrays there is nothing to know. */
static bool fill_words(const build_program *p, const plan_step *step, uint64_t *words) {
    bool unknown = false;
    for (uint32_t i = 0; i < step->info->count; i++) {
        const kir_step_operand *o = &step->info->operands[i];
        for (uint32_t a = 0; a < o->arg_count; a++) {
            const plan_env *e = argument(p, step, o->first_arg + a);
            uint64_t size = kir_type_bytes(e->type);
            memset(words, 0, (size_t)(size + 7) / 8 * sizeof *words);
            if (is_known(e) && e->init == PLAN_INIT_CONST)
                memcpy(words, e->bytes ? (const void *)e->bytes : &e->value, (size_t)size);
            unknown = unknown || (!is_known(e) && o->kind != KIR_STEP_ARRAY);
            words += (size + 7) / 8;
        }
    }
    return unknown;
}

/* ---- launches ---- */

static hg_status expand(const build_job *job, const build_program *p, const plan_step *step,
                        build_step *s) {
    build_make_call(job, p, step, s);
    if (!s->problem.found) plan_collective_of((hg_op)step->op)->expand(&s->call, &s->expansion);
    return s->expansion.failed ? hg_fail_memory() : HG_OK;
}

/* ---- memory ---- */

/* The parameter that an array is, whole or in part; UINT32_MAX: a handle that is computed. */
static uint32_t param_of(const build_program *p, const plan_step *step, const plan_array *a) {
    const plan_env *e = argument(p, step, a->place->first_arg);
    return e->init == PLAN_INIT_PARAM && e->writer == PLAN_BY_NOBODY ? build_param_of(p, e->reg)
                                                                     : UINT32_MAX;
}

/* Whether two arrays of an instruction may share memory. Distinct parameters of which one is
 * written do not, but in a graph. */
static bool may_share(const build_program *p, const plan_step *step, const plan_array *x,
                      const plan_array *y) {
    if (!x->place || !y->place || x->place->space != y->place->space) return false;
    uint32_t a = param_of(p, step, x), b = param_of(p, step, y);
    if (a == UINT32_MAX || b == UINT32_MAX || a == b) return true;
    if (!p->places || p->places[a].value != p->places[b].value) return false;
    const build_place *at = &p->places[a], *other = &p->places[b];
    if (at->open) return true;
    return at->begin < other->begin + other->bytes && other->begin < at->begin + at->bytes;
}

/* Whether their first elements are the same in any call. */
static bool same_begin(const build_program *p, const plan_step *step, const plan_array *x,
                       const plan_array *y) {
    uint32_t a = param_of(p, step, x), b = param_of(p, step, y);
    if (a == UINT32_MAX || b == UINT32_MAX || x->place->has_index || y->place->has_index)
        return false;
    bool together = a == b || (p->places && p->places[a].value == p->places[b].value &&
                               p->places[a].begin == p->places[b].begin);
    return together && x->place->disp == y->place->disp;
}

/* And all others, or would be if both have so many. */
static bool same_place(const build_program *p, const plan_step *step, const build_step *s,
                       uint32_t x, uint32_t y) {
    bool same = s->open ? !(s->differs[x] >> y & 1)
                        : plan_array_same_shape(&s->arrays[x], &s->arrays[y]);
    return same && same_begin(p, step, &s->arrays[x], &s->arrays[y]);
}

/* Whether an array that is read has to be read from a copy where it shares memory with one that is
 * written. */
static bool needs_copy(const build_program *p, const plan_step *step, const build_step *s,
                       uint32_t read, uint32_t written) {
    plan_overlap overlap = plan_collective_of((hg_op)step->op)->overlap;
    if (s->arrays[read].written || overlap == PLAN_OVERLAP_ANY || overlap == PLAN_OVERLAP_REFUSED)
        return false;
    return !plan_may_be_same(plan_collective_of((hg_op)step->op), written) ||
           !same_place(p, step, s, read, written);
}

/* Scratch memory: the launches' own, the tables', and room for copies of arrays that others may be
 * written over. */
static hg_status lay_out(const build_program *p, const plan_step *step, build_step *s) {
    enum { ALIGN = 256 };
    uint64_t end = (s->expansion.scratch + ALIGN - 1) / ALIGN * ALIGN;
    s->tables = end;
    end += s->expansion.tables;
    for (uint32_t i = 0; i < s->call.array_count; i++)
        for (uint32_t w = 0; w < s->call.array_count; w++) {
            const plan_array *read = &s->arrays[i], *written = &s->arrays[w];
            if (i == w || !written->written || !may_share(p, step, read, written)) continue;
            s->shares[i] |= UINT32_C(1) << w;
            if (s->copies[i] || !needs_copy(p, step, s, i, w)) continue;
            if (read->open)
                return build_refuse(p, step->inst + 1,
                                    "an array whose length is that of its memory is written, too");
            end = (end + ALIGN - 1) / ALIGN * ALIGN;
            s->copies[i] = end + 1;
            if (s->open) continue; /* where, the call says */
            if (!hg_add_u64(end, read->bytes, &end)) return hg_fail_memory();
        }
    s->scratch = s->open ? 0 : end;
    return HG_OK;
}

/* ---- a step ---- */

static hg_status make_room(const build_program *p, const plan_step *step, build_step *s) {
    size_t operands = hg_op_get((hg_op)step->op)->operand_count + (size_t)1;
    s->words = hg_calloc(plan_step_words(p->plan, step) + operands + 1, sizeof *s->words);
    s->constants = s->words ? s->words + plan_step_words(p->plan, step) : NULL;
    s->operands = hg_calloc(operands, sizeof *s->operands);
    s->arrays = hg_calloc(operands, sizeof *s->arrays);
    return s->words && s->operands && s->arrays ? HG_OK : hg_fail_memory();
}

static hg_status check_places(const build_program *p, const plan_step *step) {
    for (uint32_t i = 0; i < step->info->count; i++) {
        const kir_step_operand *o = &step->info->operands[i];
        if (o->kind == KIR_STEP_ARRAY && o->space != KIR_BUFFER && o->space != KIR_POOL)
            return build_refuse(
                p, step->inst + 1,
                "an array of a whole-array instruction is a buffer or a pool in C text");
    }
    return HG_OK;
}

/* Whether an array that is read may lie across one that is written: it would be read from a copy.
 */
static bool lies_across(const build_program *p, const plan_step *step) {
    const kir_step *info = step->info;
    for (uint32_t i = 0; i < info->count; i++)
        for (uint32_t w = 0; w < info->count; w++) {
            const kir_step_operand *o = &info->operands[i], *written = &info->operands[w];
            if (i == w || o->kind != KIR_STEP_ARRAY || written->kind != KIR_STEP_ARRAY ||
                !(written->access & HG_WRITE))
                continue;
            const plan_array x = {.place = o}, y = {.place = written};
            if (may_share(p, step, &x, &y) && !same_begin(p, step, &x, &y)) return true;
        }
    return false;
}

/* In WebAssembly nothing but maps and reductions: what makes launches of extents is C. */
static hg_status refuse_count(const build_program *p, const plan_step *step) {
    const char *known;
    bool in_c = build_has_source(step, &known) && !known;
    return build_refuse(p, step->inst + 1,
                        "its extents come with the call, and which kernels run follows from "
                        "them by code in C, which a module of WebAssembly has not: --set gives "
                        "parameters and extents numbers%s",
                        in_c ? ", and the C text has it" : "");
}

/* A map or a reduction whose count a call knows. */
static hg_status add_counted(build_job *job, build_program *p, const plan_step *step,
                             build_step *s) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    hg_type type = (hg_type)step->atlas_type;
    if (of == &plan_collective_reduce && (kir_is_half(type) || hg_type_size_bytes(type) > 8))
        return build_refuse(p, step->inst + 1,
                            "of reductions of %s the count has to be a number when the text is "
                            "made: --set gives that of a parameter",
                            hg_type_name(type));
    if (of == &plan_collective_map && lies_across(p, step))
        return build_refuse(p, step->inst + 1,
                            "an array that it reads may lie across one that it writes: the count "
                            "has to be a number when the text is made");
    kir_module *m = plan_map_kernel(build_step_function(step), type);
    if (!m) return hg_fail_memory();
    hg_status status = build_add_kernel(job, p, m, true, &s->kernel);
    if (status != HG_OK) kir_module_destroy(m);
    return status;
}

static hg_status add_expanded(build_job *job, build_program *p, const plan_step *step,
                              build_step *s) {
    s->expanded = true;
    HG_TRY(expand(job, p, step, s));
    if (s->problem.found) {
        if (s->problem.span)
            return build_refuse(p, step->inst + 1, "its arrays are larger than any memory");
        return HG_OK;
    }
    HG_TRY(lay_out(p, step, s));
    s->kernels = hg_calloc((size_t)s->expansion.actions.count + 1, sizeof *s->kernels);
    if (!s->kernels) return hg_fail_memory();
    for (uint64_t i = 0; i < s->expansion.actions.count; i++)
        if (s->expansion.actions.data[i].kind == PLAN_LAUNCH)
            HG_TRY(build_step_kernel(job, p, &s->expansion.actions.data[i].key, &s->kernels[i]));
    return HG_OK;
}

static hg_status add_open(build_job *job, build_program *p, const plan_step *step, build_step *s) {
    if (job->wasm) return refuse_count(p, step);
    HG_TRY(build_plan_open(job, p, step, s));
    p->open_steps = true;
    return lay_out(p, step, s);
}

hg_status build_plan_step(build_job *job, build_program *p, const plan_step *step, build_step *s) {
    if (step->op == HG_OP_BAR_GRID) return HG_OK; /* one kernel ends before the next begins */
    if (hg_op_get((hg_op)step->op)->flags & HG_F_POOL)
        return build_refuse(
            p, step->inst + 1,
            "it takes memory while the program runs: give the function a pool as a .param");
    if (!plan_collective_of((hg_op)step->op))
        return build_refuse(p, step->inst + 1,
                            "it works on the state of a context, which plain C has not");
    HG_TRY(check_places(p, step));
    HG_TRY(make_room(p, step, s));
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    if (!fill_words(p, step, s->words)) return add_expanded(job, p, step, s);
    return of == &plan_collective_map || of == &plan_collective_reduce
               ? add_counted(job, p, step, s)
               : add_open(job, p, step, s);
}

void build_free_step(build_step *s) {
    plan_expansion_free(&s->expansion);
    hg_free(s->words);
    hg_free(s->operands);
    hg_free(s->arrays);
    hg_free(s->kernels);
    hg_vec_free(&s->open_kernels);
}
