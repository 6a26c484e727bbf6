/* Plan code: the uniform control flow around steps as jumps, and the table of steps.
 * Requires: plan_split. Provides: plan->code, steps, env; scratch offsets of spilled variables. */
#include "plan/plan_internal.h"
#include <string.h>

static void place_variables(plan_splitter *s) {
    for (kir_var *var = s->module->vars; var && !s->failed; var = var->next) {
        plan_variable *info = &s->variables.data[var->id];
        if (!info->crosses && !info->forced && !info->host) continue;
        /* Entries up to 64 bits may be inputs, fixed before the kernel starts. Wider ones are
         * loaded while it runs: without a copy for reading, lane 0 of another block may already
         * have written the next value. */
        bool unsteady = kir_type_bytes(var->type) > 8 && s->plan->reads == PLAN_READS_INPUTS;
        info->in_env = info->forced || info->host ||
                       (!var->length && !info->varying && !info->set_at_exit && !unsteady);
        if (info->in_env) {
            plan_env *entry = plan_new_env(s, var->type, &info->env);
            if (entry && info->host) entry->writer = PLAN_BY_HOST;
        } else {
            info->scratch = s->plan->scratch_lane_bytes;
            s->plan->scratch_lane_bytes +=
                (kir_type_bytes(var->type) * (var->length ? var->length : 1) + 7) & ~UINT64_C(7);
        }
    }
}

static uint32_t emit(plan_splitter *s, plan_op op, uint32_t index, uint32_t target) {
    plan_inst *inst = hg_vec_push(&s->plan->code);
    if (!inst) {
        s->failed = true;
        return 0;
    }
    *inst = (plan_inst){(uint8_t)op, index, target};
    return (uint32_t)(s->plan->code.count - 1);
}

static plan_writer result_writer(hg_op op) {
    return op == HG_OP_POOL_ALLOC ? PLAN_BY_HOST : PLAN_BY_KERNEL;
}

static void emit_step(plan_splitter *s, const kir_value *v) {
    plan_step *step = hg_vec_push(&s->plan->steps);
    uint32_t args[UINT8_MAX];
    if (!step) {
        s->failed = true;
        return;
    }
    step->op = v->u.step.op;
    s->plan->keeps_shared |= v->u.step.op != HG_OP_BAR_GRID;
    step->atlas_type = v->u.step.atlas_type;
    step->inst = v->inst ? v->inst - 1 : 0;
    step->info = plan_keep(s, v->u.step.info, kir_step_bytes(v->u.step.info));
    step->arg_count = v->nargs;
    for (uint8_t i = 0; i < v->nargs && !s->failed; i++) args[i] = plan_argument(s, v->args[i]);
    step->args = plan_keep(s, args, v->nargs * sizeof *args);
    step->result = HG_PLAN_NO_ENV;
    if (v->scratch)
        step->result = s->variables.data[((const kir_var *)v->scratch)->id].env;
    else if (v->type != KIR_VOID) /* nobody reads it: it goes somewhere all the same */
        (void)plan_new_env(s, v->type, &step->result);
    if (step->result != HG_PLAN_NO_ENV && !s->failed)
        s->plan->env.data[step->result].writer = (uint8_t)result_writer((hg_op)step->op);
    emit(s, PLAN_STEP, (uint32_t)(s->plan->steps.count - 1), 0);
}

/* One open IF or LOOP. chain: last jump to its end, jumps linked through their targets. */
typedef struct frame {
    const kir_value *owner;
    uint32_t start;
    uint32_t chain;
    bool in_else;
} frame;
#define NO_JUMP UINT32_MAX

static void patch_chain(plan_splitter *s, uint32_t chain) {
    uint32_t here = (uint32_t)s->plan->code.count;
    while (chain != NO_JUMP) {
        uint32_t next = s->plan->code.data[chain].target;
        s->plan->code.data[chain].target = here;
        chain = next;
    }
}

typedef HG_VEC(frame) frames;

/* Ends the innermost region; returns where to go on inside its owner (else branch), or NULL with
 * the owner popped. */
static const kir_value *close_region(plan_splitter *s, frames *open, const kir_value **after) {
    frame *f = &open->data[open->count - 1];
    *after = NULL;
    if (f->owner->op == KIR_IF && !f->in_else) {
        uint32_t unless = f->start;
        f->chain = emit(s, PLAN_JUMP, 0, NO_JUMP);
        if (s->failed) return NULL;
        s->plan->code.data[unless].target = (uint32_t)s->plan->code.count;
        f->in_else = true;
        if (f->owner->body[1]->first) return f->owner->body[1]->first;
    } else if (f->owner->op == KIR_LOOP) {
        emit(s, PLAN_JUMP, 0, f->start);
    }
    patch_chain(s, f->chain);
    *after = f->owner;
    open->count--;
    return NULL;
}

static void emit_leave(plan_splitter *s, frames *open, const kir_value *v) {
    if (v->op == KIR_EXIT || v->op == KIR_RETURN) {
        emit(s, PLAN_END, 0, 0);
        return;
    }
    for (uint64_t i = open->count; i-- > 0;) {
        frame *f = &open->data[i];
        if (f->owner->op != KIR_LOOP) continue;
        if (v->op == KIR_CONTINUE)
            emit(s, PLAN_JUMP, 0, f->start);
        else
            f->chain = emit(s, PLAN_JUMP, 0, f->chain);
        return;
    }
}

static void open_region(plan_splitter *s, frames *open, const kir_value *v) {
    frame *f = hg_vec_push(open);
    if (!f) {
        s->failed = true;
        return;
    }
    *f = (frame){v, (uint32_t)s->plan->code.count, NO_JUMP, false};
    if (v->op == KIR_IF) f->start = emit(s, PLAN_JUMP_UNLESS, plan_argument(s, v->args[0]), 0);
}

/* Constants and inputs in front of a step are no work: the step's arguments name them. What the
 * host computes is none for a kernel. */
static bool has_effect(const plan_splitter *s, const plan_segment *segment) {
    for (const kir_value *v = segment->first;; v = v->next) {
        bool of_host = v->op == KIR_VAR_SET && s->variables.data[v->u.var->id].host;
        if (kir_has_side_effect(v) && !of_host) return true;
        if (v == segment->last) return false;
    }
}

/* Emits one operation of a plan region and returns the next one to look at in the same region or
 * inside it. */
static const kir_value *emit_node(plan_splitter *s, frames *open, const kir_value *v,
                                  bool *entered) {
    *entered = false;
    if (!plan_is_node(s, v)) {
        uint32_t segment = plan_segment_of(s, v), count, first;
        if (has_effect(s, &s->segments.data[segment])) emit(s, PLAN_KERNEL, segment, 0);
        first = plan_add_operations(s, &s->segments.data[segment], &count);
        if (count) emit(s, PLAN_COMPUTE, first, count);
        return s->segments.data[segment].last->next;
    }
    if (v->op == KIR_STEP) {
        emit_step(s, v);
    } else if (v->op == KIR_IF || v->op == KIR_LOOP) {
        open_region(s, open, v);
        *entered = true;
        return v->body[0]->first;
    } else {
        emit_leave(s, open, v);
    }
    return v->next;
}

void plan_emit(plan_splitter *s) {
    frames open = {0};
    place_variables(s);
    const kir_value *v = s->main->body->first;
    while (!s->failed) {
        bool entered;
        if (v) {
            v = emit_node(s, &open, v, &entered);
            continue;
        }
        if (open.count == 0) break;
        const kir_value *after;
        v = close_region(s, &open, &after);
        if (!v && after) v = after->next;
    }
    emit(s, PLAN_END, 0, 0);
    hg_vec_free(&open);
}
