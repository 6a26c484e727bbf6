/* Entries of the environment, and what the plan keeps of the module.
 * Must not know: plan code. */
#include "plan/plan_internal.h"
#include <string.h>

plan_env *plan_new_env(plan_splitter *s, uint8_t type, uint32_t *index) {
    plan_env *entry = hg_vec_push(&s->plan->env);
    if (!entry) {
        s->failed = true;
        return NULL;
    }
    *index = (uint32_t)(s->plan->env.count - 1);
    entry->type = type;
    entry->offset = (uint32_t)s->plan->env_bytes;
    s->plan->env_bytes += (kir_type_bytes(type) + 7) & ~UINT64_C(7);
    return entry;
}

void *plan_keep(plan_splitter *s, const void *data, uint64_t size) {
    void *own = hg_arena_alloc(&s->plan->arena, size ? (size_t)size : 1);
    if (!own)
        s->failed = true;
    else if (size)
        memcpy(own, data, (size_t)size);
    return own;
}

uint32_t plan_argument(plan_splitter *s, const kir_value *v) {
    uint32_t index = 0;
    if (v->op == KIR_CONST || v->op == KIR_INPUT) {
        plan_env *entry = plan_new_env(s, v->type, &index);
        if (!entry) return 0;
        entry->init = v->op == KIR_CONST ? PLAN_INIT_CONST : PLAN_INIT_PARAM;
        if (v->op == KIR_CONST && kir_type_bytes(v->type) > 8)
            entry->bytes = plan_keep(s, v->u.bytes, kir_type_bytes(v->type));
        else if (v->op == KIR_CONST)
            entry->value = v->u.imm;
        else
            entry->reg = s->module->inputs.data[v->u.imm].reg;
        return index;
    }
    return s->variables.data[((const kir_var *)v->scratch)->id].env;
}
