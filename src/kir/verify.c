/* Structural rules of the kernel IR. A violation is a bug of ours, never of the input.
 * Requires: nothing. Provides: what kir.h says about regions, types and uses. */
#include "kir/kir.h"

static hg_status bad(const kir_function *f, const kir_value *v, const char *why) {
    return hg_fail(HG_ERROR_INTERNAL, "kernel IR of '%s', operation %u (%s): %s", f->name, (unsigned)v->id, kir_op_name((kir_op)v->op),
                   why);
}

static bool is_int(uint8_t type) { return type >= HG_TYPE_U8 && type <= HG_TYPE_U4096; }

/* A definition reaches a use when its region encloses the use and it comes first. Ids are in text order. */
static bool reaches(const kir_value *definition, const kir_value *use) {
    for (const kir_region *r = use->parent; r; r = r->owner ? r->owner->parent : NULL)
        if (definition->parent == r) return definition->id < use->id;
    return false;
}

static bool inside_loop(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (r->owner->op == KIR_LOOP) return true;
    return false;
}

static const char *check_types(const kir_function *f, const kir_value *v) {
    uint8_t first = v->nargs ? v->args[0]->type : KIR_VOID;
    const kir_op_info *row = kir_op_get((kir_op)v->op);
    switch ((kir_op_class)row->class) {
    case KIR_CLASS_INT:
        if (!is_int(first) && !(first == KIR_BOOL && row->flags & KIR_F_LOGIC)) return "argument is no integer";
        if (row->flags & KIR_F_WORDS && kir_type_bytes(first) > 8) return "argument is a wide integer";
        if (row->flags & KIR_F_SHIFTS) {
            if (v->args[1]->type != HG_TYPE_U32) return "shift amount is not u32";
        } else if (v->nargs == 2 && v->args[1]->type != first) {
            return "arguments differ in type";
        }
        break;
    case KIR_CLASS_FLOAT:
        if (!kir_type_is_float(first)) return "argument is no float";
        for (uint8_t i = 1; i < v->nargs; i++)
            if (v->args[i]->type != first) return "arguments differ in type";
        break;
    case KIR_CLASS_ANY:
        if (first != KIR_BOOL) return "condition is no bool";
        if (v->args[1]->type != v->type || v->args[2]->type != v->type) return "branches differ in type";
        break;
    default: break;
    }
    if (row->result == KIR_RESULT_SAME && v->type != first) return "result differs from the argument's type";
    if (row->result == KIR_RESULT_BOOL && v->type != KIR_BOOL) return "result is no bool";
    if (row->result == KIR_RESULT_NONE && v->type != KIR_VOID) return "has a result";
    if ((v->op == KIR_IF || v->op == KIR_FAULT_IF) && first != KIR_BOOL) return "condition is no bool";
    if (v->op == KIR_FAULT_IF) {
        uint8_t values = v->u.fault.values;
        bool halves = values && v->nargs == 1 + 2 * values;
        if (values > KIR_FAULT_VALUES || (!halves && v->nargs != 1 + values)) return "wrong number of values";
        for (uint8_t i = 1; i < v->nargs; i++)
            if (v->args[i]->type != (halves ? HG_TYPE_U32 : HG_TYPE_U64)) return "a value is no u64";
    }
    if ((v->op == KIR_VAR_GET && v->type != v->u.var->type) || (v->op == KIR_VAR_SET && first != v->u.var->type))
        return "differs from the variable's type";
    if ((v->op == KIR_VAR_GET || v->op == KIR_VAR_SET) && v->u.var->length) return "scalar access to an array";
    if ((v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET) && (!v->u.var->length || first != HG_TYPE_U32))
        return "not an array indexed by u32";
    if ((v->op == KIR_VAR_GET || v->op == KIR_VAR_SET || v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET) && v->u.var->function &&
        v->u.var->function != f)
        return "variable of another function";
    if (v->op == KIR_CALL) {
        const kir_function *callee = v->u.call.function;
        if (v->nargs != callee->param_count || v->type != callee->result) return "call does not fit the function";
        for (uint8_t i = 0; i < v->nargs; i++)
            if (v->args[i]->type != callee->param_types[i]) return "argument does not fit the parameter";
    }
    return NULL;
}

static const char *check_place(const kir_value *v) {
    if (v->op == KIR_IF && (!v->body[0] || !v->body[1])) return "region missing";
    if (v->op == KIR_LOOP && (!v->body[0] || v->body[1])) return "region missing";
    if ((v->op == KIR_BREAK || v->op == KIR_CONTINUE) && !inside_loop(v)) return "outside a loop";
    if (kir_is_jump(v) && v->next) return "something follows it";
    return NULL;
}

hg_status kir_verify(const kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next) {
        kir_number(f);
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op >= KIR_OP_COUNT) return bad(f, v, "unknown operation");
            uint8_t args = kir_op_get((kir_op)v->op)->args;
            if (args != KIR_ARGS_ANY && args != v->nargs) return bad(f, v, "wrong number of arguments");
            for (uint8_t i = 0; i < v->nargs; i++) {
                if (v->args[i]->type == KIR_VOID) return bad(f, v, "argument has no value");
                if (!reaches(v->args[i], v)) return bad(f, v, "argument is not defined here");
            }
            const char *why = check_types(f, v);
            if (!why) why = check_place(v);
            if (why) return bad(f, v, why);
        }
    }
    return HG_OK;
}
