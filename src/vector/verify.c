/* The rules of the vector form: what every printer of a target may take for granted.
 * Requires: links of lists and regions that fit. */
#include "vector/vector.h"

static hg_status bad(const vec_function *f, const vec_value *v, const char *why) {
    return hg_fail(HG_ERROR_INTERNAL, "vector form of '%s', operation %u (%s): %s", f->name, (unsigned)v->id,
                   v->op < VEC_OP_COUNT ? VEC_OPS[v->op].text : "?", why);
}

/* Whether a value is known at a use: its region is the use's or around it, and it comes first. Ids are in the order of the text. */
static bool reaches(const vec_value *definition, const vec_value *use) {
    if (definition->id >= use->id) return false;
    for (const vec_region *r = use->parent; r; r = r->owner ? r->owner->parent : NULL)
        if (r == definition->parent) return true;
    return false;
}

static bool is_mask(const vec_value *v) { return v->type == KIR_BOOL && v->each; }

static const char *check_result(const vec_function *f, const vec_value *v) {
    bool any = false;
    for (uint8_t i = 0; i < v->nargs; i++) any = any || v->args[i]->each;
    if (v->type == KIR_VOID) return v->each ? "an element of nothing for each lane" : NULL;
    switch ((vec_op)v->op) {
    case VEC_GET: return v->each != v->u.var->each || v->type != v->u.var->type ? "not what the variable is" : NULL;
    case VEC_PARAM:
        if (v->u.imm >= f->param_count) return "no such parameter";
        return v->each != f->param_each[v->u.imm] || v->type != f->param_types[v->u.imm] ? "not what the parameter is" : NULL;
    case VEC_CALL: return v->each != v->u.call.to->result_each || v->type != v->u.call.to->result ? "not what the function returns" : NULL;
    case VEC_LOAD: return v->each != (v->u.mem.reach != VEC_REACH_ONE) ? "an element for each lane from one place" : NULL;
    default: break;
    }
    bool each = vec_op_has((vec_op)v->op, VEC_F_LANES) || (any && !vec_op_has((vec_op)v->op, VEC_F_ONE));
    return each != v->each ? "one and each mixed up" : NULL;
}

static const char *check_place(const vec_value *v) {
    if (!vec_op_has((vec_op)v->op, VEC_F_PLACE)) return NULL;
    uint8_t count = vec_place_args(v);
    if (v->nargs < count) return "the handle or the index is missing";
    for (uint8_t i = 0; i < count; i++)
        if (v->args[i]->type != HG_TYPE_U64) return "a handle or index that is no u64";
    bool each = v->u.mem.reach == VEC_REACH_EACH;
    if (v->u.mem.open ? !each : count ? v->args[0]->each != each : v->u.mem.reach != VEC_REACH_ONE)
        return "an index that does not fit the reach";
    if (v->op == VEC_STORE && (v->nargs != count + 1 || kir_type_bytes(v->args[count]->type) != v->u.mem.bytes))
        return "a value of another size";
    if (v->op == VEC_LOAD && kir_type_bytes(v->type) != v->u.mem.bytes) return "a result of another size";
    return NULL;
}

static const char *check_call(const vec_value *v) {
    const vec_function *to = v->u.call.to;
    if (v->nargs != to->param_count) return "wrong number of arguments";
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (v->args[i]->type != to->param_types[i]) return "an argument of another type";
        if (v->args[i]->each && !to->param_each[i]) return "an element for each lane where one value is expected";
    }
    for (uint8_t i = 0; i < to->array_count; i++)
        if (!v->u.call.arrays[i]->length || v->u.call.arrays[i]->type != to->array_params[i]->type ||
            v->u.call.arrays[i]->length != to->array_params[i]->length)
            return "another array than the parameter";
    return v->mask && !to->masked ? "a mask for a function that has none" : NULL;
}

/* Whether a variable may be read and written here. */
static bool has_var(const vec_value *v, const vec_var *var) {
    const vec_value *turns = vec_turns_around(v);
    return var->kept ? turns != NULL : !var->turns || var->turns == turns;
}

static bool in_block_only(const vec_value *v) {
    const vec_value *turns = vec_turns_around(v);
    return !turns || turns == v;
}

/* Of a kernel that runs a block. */
static const char *check_block(const vec_value *v) {
    if (v->op == VEC_TURNS || v->op == VEC_BARRIER) {
        const vec_value *o = v->parent->owner;
        while (o && o->op != VEC_TURNS) o = o->parent->owner;
        return o ? "within TURNS" : v->op == VEC_TURNS && (!v->body[0] || v->body[1]) ? "no body" : NULL;
    }
    if ((v->op == VEC_GET || v->op == VEC_SET || v->op == VEC_ARRAY_GET || v->op == VEC_ARRAY_SET) && !has_var(v, v->u.var))
        return "a variable that does not live here";
    for (uint8_t i = 0; i < v->losing_count; i++)
        if (!has_var(v, v->losing[i])) return "a mask that does not live here";
    if (!in_block_only(v)) return NULL;
    if (v->each) return "an element for each lane outside of TURNS";
    if (vec_op_has((vec_op)v->op, VEC_F_PLACE) || (vec_op_has((vec_op)v->op, VEC_F_LOSES) && v->op != VEC_CALL)) return "outside of TURNS";
    return v->op == VEC_FIRST || (v->op == VEC_CALL && v->u.call.to->masked) ? "outside of TURNS" : NULL;
}

static const char *check_operation(const vec_function *f, const vec_value *v) {
    uint8_t args = VEC_OPS[v->op].args;
    if (args != KIR_ARGS_ANY && args != v->nargs) return "wrong number of arguments";
    if (v->op == VEC_PRIM && (v->prim >= KIR_OP_COUNT || !kir_op_has((kir_op)v->prim, KIR_F_VALUE))) return "no value primitive";
    if (v->mask && !is_mask(v->mask)) return "a mask that is none";
    for (uint8_t i = 0; i < v->losing_count; i++)
        if (!v->losing[i]->mask) return "lanes are taken out of what is no mask";
    if (v->losing_count && !vec_op_has((vec_op)v->op, VEC_F_LOSES)) return "loses no lanes";
    if (vec_op_has((vec_op)v->op, VEC_F_JUMP) && v->next) return "something follows it";
    switch ((vec_op)v->op) {
    case VEC_IF:
        if (v->args[0]->each || v->args[0]->type != KIR_BOOL || !v->body[0] || !v->body[1])
            return "a condition that is not one bool, or a missing branch";
        break;
    case VEC_LOOP:
        if (!v->body[0] || v->body[1]) return "no body";
        break;
    case VEC_ANY:
    case VEC_LEAVE: {
        const vec_value *mask = v->op == VEC_ANY ? v->args[0] : v->mask;
        if (!mask || !is_mask(mask)) return "a mask is missing";
        break;
    }
    case VEC_SET:
        if (v->u.var->length || v->args[0]->type != v->u.var->type) return "a value of another type";
        if (!v->u.var->each && (v->args[0]->each || v->mask)) return "an element for each lane in a variable that is one";
        break;
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET:
        if (!v->u.var->length || !v->u.var->each) return "no array";
        break;
    case VEC_CALL: return check_call(v);
    case VEC_RETURN:
        if ((f->result == KIR_VOID) != (v->nargs == 0)) return "a result too many or too few";
        if (v->nargs && (v->args[0]->type != f->result || (v->args[0]->each && !f->result_each)))
            return "another result than the function has";
        break;
    case VEC_BREAK:
    case VEC_CONTINUE: {
        const vec_region *r = v->parent;
        while (r->owner && r->owner->op != VEC_LOOP && r->owner->op != VEC_TURNS) r = r->owner->parent;
        if (!r->owner || r->owner->op == VEC_TURNS) return "outside a loop";
        break;
    }
    default: break;
    }
    return check_place(v);
}

static hg_status check_value(const vec_function *f, const vec_value *v, bool blocks) {
    if (v->op >= VEC_OP_COUNT) return bad(f, v, "unknown operation");
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (!reaches(v->args[i], v)) return bad(f, v, "an argument that is not known here");
        if (v->args[i]->type == KIR_VOID) return bad(f, v, "an argument without a value");
    }
    if (v->mask && !reaches(v->mask, v)) return bad(f, v, "a mask that is not known here");
    const char *why = check_operation(f, v);
    if (!why) why = check_result(f, v);
    if (!why && blocks) why = check_block(v);
    if (!why && !blocks && (v->op == VEC_TURNS || v->op == VEC_BARRIER)) why = "not in a kernel of blocks";
    return why ? bad(f, v, why) : HG_OK;
}

hg_status vec_verify(const vec_kernel *kernel) {
    if (!kernel->functions || !kernel->lanes || (kernel->lanes & (kernel->lanes - 1)))
        return hg_fail(HG_ERROR_INTERNAL, "vector form without a function, or with a number of lanes that is no power of two");
    for (vec_function *f = kernel->functions; f; f = f->next) {
        vec_number(f);
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            HG_TRY(check_value(f, v, kernel->blocks && f == kernel->functions));
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (v->op == VEC_CALL && v->u.call.to->id <= f->id) return bad(f, v, "a function that comes before its caller");
    }
    return HG_OK;
}
