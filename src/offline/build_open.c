/* Whole-array instructions whose extents only a call knows: their kernels, those that they have
 * with many extents (plan_expansion.open).
 * Must not know: what an instruction does, how the text looks. */
#include "offline/build_internal.h"
#include <string.h>

/* ---- arguments ---- */

static const plan_env *argument(const build_program *p, const plan_step *step, uint32_t arg) {
    return &p->plan->env.data[step->args[arg]];
}

static bool is_given(const plan_env *e) { return e->writer == PLAN_BY_NOBODY; }

static const char *operand_name(const plan_step *step, uint32_t operand) {
    return hg_op_get((hg_op)step->op)->operands[operand - 1].name;
}

/* What the size function does not know, it being what the program computes, or what is as wide as
 * that it is taken by its address. */
static hg_status check_arguments(const build_program *p, const plan_step *step, const char *known) {
    for (uint32_t i = 0; i < step->info->count; i++) {
        const kir_step_operand *o = &step->info->operands[i];
        const char *name = operand_name(step, o->operand);
        for (uint32_t a = 0; a < o->arg_count && o->kind != KIR_STEP_ARRAY; a++) {
            const plan_env *e = argument(p, step, o->first_arg + a);
            bool constant = is_given(e) && e->init != PLAN_INIT_PARAM;
            if (!constant && known && strcmp(name, known) == 0)
                return build_refuse(p, step->inst + 1,
                                    "its kernels follow from '%s', which has to be a number when "
                                    "the text is made: --set gives that of a parameter",
                                    name);
            if (!is_given(e))
                return build_refuse(p, step->inst + 1,
                                    "'%s' is computed by the program: it has to be a parameter, or "
                                    "a number when the text is made",
                                    name);
            if (!constant && kir_type_bytes(e->type) > 8)
                return build_refuse(p, step->inst + 1,
                                    "'%s' has more than 64 bits: it has to be a number when the "
                                    "text is made",
                                    name);
        }
    }
    return HG_OK;
}

/* ---- kernels ---- */

/* Words of arguments that a call gives, and the numbers that they are given here: all the same, and
 * each two of them others. */
typedef struct sampler {
    build_job *job;
    build_program *p;
    const plan_step *step;
    build_step *s;
    HG_VEC(uint64_t *) open;
    HG_VEC(uint64_t) numbers;
} sampler;

static bool add_number(sampler *w, uint64_t number) {
    enum { MOST = 4097 };
    for (uint64_t i = 0; i < w->numbers.count; i++)
        if (w->numbers.data[i] == number) return true;
    uint64_t *to = number > MOST ? &number : hg_vec_push(&w->numbers);
    if (to) *to = number;
    return to != NULL;
}

/* Sizes that the program says are tried for the others too: channels have to be a multiple of
 * groups. */
static hg_status find_open(sampler *w) {
    static const uint64_t NUMBERS[] = {1, 2, 3, 16, 64, 97, 4097};
    uint64_t *word = w->s->words;
    for (size_t i = 0; i < HG_COUNT_OF(NUMBERS); i++)
        if (!add_number(w, NUMBERS[i])) return hg_fail_memory();
    for (uint32_t i = 0; i < w->step->info->count; i++) {
        const kir_step_operand *o = &w->step->info->operands[i];
        for (uint32_t a = 0; a < o->arg_count; a++) {
            const plan_env *e = argument(w->p, w->step, o->first_arg + a);
            bool open = o->kind != KIR_STEP_ARRAY && e->init == PLAN_INIT_PARAM;
            uint64_t **to = open ? hg_vec_push(&w->open) : &word;
            bool size = o->kind == KIR_STEP_COUNT || o->kind == KIR_STEP_TUPLE;
            if (!to || (size && !open && !add_number(w, *word))) return hg_fail_memory();
            *to = word;
            word += (kir_type_bytes(e->type) + 7) / 8;
        }
    }
    return HG_OK;
}

static hg_status add_kernel(build_step *s, uint32_t kernel) {
    for (uint64_t i = 0; i < s->open_kernels.count; i++)
        if (s->open_kernels.data[i] == kernel) return HG_OK;
    uint32_t *to = hg_vec_push(&s->open_kernels);
    if (!to) return hg_fail_memory();
    *to = kernel;
    return HG_OK;
}

static void note_shapes(build_step *s) {
    for (uint32_t i = 0; i < s->call.array_count; i++)
        for (uint32_t w = 0; w < s->call.array_count; w++)
            if (!plan_array_same_shape(&s->arrays[i], &s->arrays[w]))
                s->differs[i] |= UINT32_C(1) << w;
}

/* The kernels that the call has with the words as they are, if it can be. */
static hg_status look(const sampler *w) {
    build_step *s = w->s;
    plan_expansion_clear(&s->expansion);
    build_make_call(w->job, w->p, w->step, s);
    if (s->problem.found) return HG_OK;
    note_shapes(s);
    s->expansion.open = true;
    plan_collective_of((hg_op)w->step->op)->expand(&s->call, &s->expansion);
    for (uint64_t i = 0; i < s->expansion.actions.count && !s->expansion.failed; i++) {
        const plan_action *action = &s->expansion.actions.data[i];
        uint32_t kernel;
        if (action->kind != PLAN_LAUNCH) continue;
        HG_TRY(build_step_kernel(w->job, w->p, &action->key, &kernel));
        if (w->job->kernels.data[kernel].low->inputs.count > BUILD_OPEN_INPUTS)
            return hg_fail(HG_ERROR_INTERNAL, "a kernel of more than %d inputs",
                           (int)BUILD_OPEN_INPUTS);
        HG_TRY(add_kernel(s, kernel));
    }
    return HG_OK;
}

static void set_all(const sampler *w, uint64_t number) {
    for (uint64_t i = 0; i < w->open.count; i++) *w->open.data[i] = number;
}

static hg_status look_at_pair(const sampler *w, uint64_t *x, uint64_t *y, uint64_t rest) {
    for (uint64_t i = 0; i < w->numbers.count; i++)
        for (uint64_t k = 0; k < w->numbers.count; k++) {
            if (x == y && i != k) continue;
            set_all(w, rest);
            *x = w->numbers.data[i];
            *y = w->numbers.data[k];
            HG_TRY(look(w));
        }
    return HG_OK;
}

/* The others are all the same number: with windows of one place where that is 1, and where the
 * program says that groups are 2, channels can be 2. */
static hg_status look_at_all(const sampler *w) {
    for (uint64_t r = 0; r < w->numbers.count; r++)
        for (uint64_t i = 0; i < w->open.count; i++)
            for (uint64_t k = i; k < w->open.count; k++)
                HG_TRY(look_at_pair(w, w->open.data[i], w->open.data[k], w->numbers.data[r]));
    return HG_OK;
}

hg_status build_plan_open(build_job *job, build_program *p, const plan_step *step, build_step *s) {
    const char *known = NULL;
    if (!build_has_source(step, &known))
        return build_refuse(p, step->inst + 1,
                            "its sizes have to be numbers when the text is made: --set gives those "
                            "of parameters");
    HG_TRY(check_arguments(p, step, known));
    s->open = true;
    sampler w = {.job = job, .p = p, .step = step, .s = s};
    hg_status status = find_open(&w);
    if (status == HG_OK) status = look_at_all(&w);
    hg_vec_free(&w.open);
    hg_vec_free(&w.numbers);
    return status;
}
