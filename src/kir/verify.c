/* The rules of the kernel IR: what every pass and emitter may take for granted. A violation in a
 * module that the library made is a bug of ours; in one that was read from text it is an error of
 * the text.
 * Requires: nothing but links of lists and regions that fit. Provides: what kir.h says about regions, types, uses and calls. */
#include "kir/verify_internal.h"

/* A function's operations by id. */
typedef struct place {
    const kir_value *v;
    uint32_t end; /* IF, LOOP: id of the last operation within; else its own */
    bool in_loop;
} place;
typedef struct verifier {
    const kir_module *m;
    HG_VEC(place) places; /* room for those of the largest function so far */
    bool has_call;
} verifier;

enum { MOST_ARRAY = 1 << 24, MOST_CALL_DEPTH = 1024 };

static hg_status bad(const kir_function *f, const kir_value *v, const char *why) {
    return hg_fail(HG_ERROR_INTERNAL, "kernel IR of '%s', operation %u (%s): %s", f->name,
                   (unsigned)v->id, kir_op_name((kir_op)v->op), why);
}

/* ---- the module ---- */

static hg_status check_var(const kir_var *v) {
    bool fits = v->length ? kir_is_narrow_type(v->type) && v->length <= MOST_ARRAY
                          : kir_is_type(v->type);
    if (fits && (!v->by_reference || v->length)) return HG_OK;
    return hg_fail(HG_ERROR_INTERNAL,
                   "kernel IR: variable %u has no type that a variable can have: %s[%u]",
                   (unsigned)v->id, kir_type_name(v->type), (unsigned)v->length);
}

static hg_status check_slot(const kir_module *m, const kir_slot *s, uint64_t i) {
    bool device = kir_is_device_form(m), memory = s->kind == KIR_SLOT_MEMORY;
    bool fits = s->kind <= KIR_SLOT_ARENA && s->space <= KIR_FLAT &&
                s->plan < KIR_PLAN_MEMORY_COUNT && (memory || device);
    if (memory && s->space != KIR_BUFFER && s->space != KIR_POOL) fits = false;
    if (!device && !s->constant && s->input >= m->inputs.count)
        fits = false; /* in device form: an input of the legalised module */
    if (s->base < -1 || (s->base > 0 && (uint64_t)s->base >= m->inputs.count)) fits = false;
    return fits ? HG_OK
                : hg_fail(HG_ERROR_INTERNAL, "kernel IR: slot %u names no memory", (unsigned)i);
}

static hg_status check_module(const kir_module *m) {
    if (!m->functions) return hg_fail(HG_ERROR_INTERNAL, "kernel IR without a function");
    for (const kir_var *v = m->vars; v; v = v->next) HG_TRY(check_var(v));
    for (const kir_table *t = m->tables; t; t = t->next)
        if (!kir_is_narrow_type(t->type) || t->type == KIR_BOOL || !t->length ||
            t->length > MOST_ARRAY)
            return hg_fail(HG_ERROR_INTERNAL,
                           "kernel IR: table %u has no type that a table can have: %s[%u]",
                           (unsigned)t->id, kir_type_name(t->type), (unsigned)t->length);
    for (uint64_t i = 0; i < m->inputs.count; i++)
        if (!kir_is_type(m->inputs.data[i].type) || m->inputs.data[i].kind > KIR_INPUT_FIELD)
            return hg_fail(HG_ERROR_INTERNAL,
                           "kernel IR: input %u has no type that an input can have", (unsigned)i);
    for (uint64_t i = 0; i < m->slots.count; i++) HG_TRY(check_slot(m, &m->slots.data[i], i));
    return HG_OK;
}

static hg_status check_head(const kir_module *m, const kir_function *f) {
    bool kernel = f == m->functions, fits = f->result == KIR_VOID || kir_is_type(f->result);
    if (kernel && (f->param_count || f->array_count || f->result != KIR_VOID))
        return hg_fail(HG_ERROR_INTERNAL, "kernel IR of '%s': the kernel takes and gives nothing",
                       f->name);
    for (uint8_t i = 0; i < f->param_count; i++) fits = fits && kir_is_type(f->param_types[i]);
    for (uint8_t i = 0; i < f->array_count; i++)
        fits = fits && f->array_params[i]->by_reference && f->array_params[i]->function == f;
    return fits ? HG_OK
                : hg_fail(
                      HG_ERROR_INTERNAL,
                      "kernel IR of '%s': a parameter or the result has no type that it can have",
                      f->name);
}

/* ---- calls: no circle ---- */

typedef struct call_state {
    const kir_value *at; /* where its body is looked at */
    uint8_t state;       /* 0 new, 1 open, 2 done */
} call_state;

static hg_status follow_calls(const kir_function *from, call_state *states,
                              const kir_function **stack) {
    uint32_t depth = 1;
    stack[0] = from;
    states[from->id].state = 1;
    while (depth) {
        const kir_function *f = stack[depth - 1];
        call_state *s = &states[f->id];
        s->at = kir_walk(s->at, f->body);
        while (s->at && s->at->op != KIR_CALL) s->at = kir_walk(s->at, f->body);
        if (!s->at) {
            s->state = 2;
            depth--;
            continue;
        }
        const kir_function *callee = s->at->u.call.function;
        if (states[callee->id].state == 1) return bad(f, s->at, "a function that calls itself");
        if (states[callee->id].state == 2) continue;
        if (depth == MOST_CALL_DEPTH) return bad(f, s->at, "calls deeper than 1024");
        states[callee->id].state = 1;
        stack[depth++] = callee;
    }
    return HG_OK;
}

static hg_status check_calls(const kir_module *m) {
    call_state *states = hg_calloc((size_t)m->function_count + 1, sizeof *states);
    const kir_function **stack = hg_calloc(MOST_CALL_DEPTH, sizeof *stack);
    hg_status status = states && stack ? HG_OK : hg_fail_memory();
    for (const kir_function *f = m->functions; f && status == HG_OK; f = f->next)
        if (states[f->id].state == 0 && f->body->first) status = follow_calls(f, states, stack);
    hg_free(states);
    hg_free(stack);
    return status;
}

/* ---- regions and uses ---- */

/* A definition reaches a use when its region encloses the use and it comes first. Ids are in text
 * order. */
static bool reaches(const verifier *x, const kir_value *definition, const kir_value *use) {
    if (definition->id >= use->id || x->places.data[definition->id].v != definition) return false;
    const kir_value *owner = definition->parent->owner;
    if (!owner) return true;
    const kir_region *other = definition->parent == owner->body[0] ? owner->body[1]
                                                                   : NULL; /* then's
                                                                              values
                                                                              do
                                                                              not
                                                                              reach
                                                                              else
                                                                            */
    uint32_t end = other && other->first ? other->first->id - 1 : x->places.data[owner->id].end;
    return use->id <= end;
}

static bool room_for(verifier *x, uint32_t count) {
    while (x->places.count < count)
        if (!hg_vec_push(&x->places)) return false;
    return true;
}

/* Fills the places; the ends of regions come from the last operation backwards. */
static void find_places(verifier *x, const kir_function *f) {
    place *p = x->places.data;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        const kir_value *owner = v->parent->owner;
        p[v->id] = (place){v, v->id, owner && (owner->op == KIR_LOOP || p[owner->id].in_loop)};
    }
    for (uint32_t i = f->value_count; i-- > 0;) {
        const kir_value *owner = p[i].v->parent->owner;
        if (owner && p[owner->id].end < p[i].end) p[owner->id].end = p[i].end;
    }
}

static const char *check_place(const verifier *x, const kir_value *v) {
    if (v->op == KIR_IF && (!v->body[0] || !v->body[1])) return "region missing";
    if (v->op == KIR_LOOP && (!v->body[0] || v->body[1])) return "region missing";
    if ((v->op == KIR_BREAK || v->op == KIR_CONTINUE) && !x->places.data[v->id].in_loop)
        return "outside a loop";
    return kir_is_jump(v) && v->next ? "something follows it" : NULL;
}

static hg_status check_value(verifier *x, const kir_function *f, const kir_value *v) {
    if (v->op >= KIR_OP_COUNT) return bad(f, v, "unknown operation");
    uint8_t args = kir_op_get((kir_op)v->op)->args;
    if (args != KIR_ARGS_ANY && args != v->nargs) return bad(f, v, "wrong number of arguments");
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (v->args[i]->type == KIR_VOID) return bad(f, v, "argument has no value");
        if (!reaches(x, v->args[i], v)) return bad(f, v, "argument is not defined here");
    }
    const char *why = check_place(x, v);
    if (!why && (v->op == KIR_FAULT_IF && !v->nargs)) why = "wrong number of arguments";
    if (!why) why = kir_verify_operation(x->m, f, v);
    x->has_call |= v->op == KIR_CALL;
    return why ? bad(f, v, why) : HG_OK;
}

static hg_status check_function(verifier *x, kir_function *f) {
    HG_TRY(check_head(x->m, f));
    if (!room_for(x, kir_number(f))) return hg_fail_memory();
    find_places(x, f);
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        HG_TRY(check_value(x, f, v));
    return HG_OK;
}

hg_status kir_verify(const kir_module *m) {
    verifier x = {.m = m};
    hg_status status = check_module(m);
    for (kir_function *f = m->functions; f && status == HG_OK; f = f->next)
        status = check_function(&x, f);
    if (status == HG_OK && x.has_call) status = check_calls(m);
    hg_vec_free(&x.places);
    return status;
}
