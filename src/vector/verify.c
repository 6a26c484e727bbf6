/* The rules of the vector form: what every printer of a target may take for granted.
 * Requires: links of lists and regions that fit. */
#include "vector/vector.h"

static hg_status bad(const vec_function *f, const vec_value *v, const char *why) {
    return hg_fail(HG_ERROR_INTERNAL, "vector form of '%s', operation %u (%s): %s", f->name,
                   (unsigned)v->id, v->op < VEC_OP_COUNT ? VEC_OPS[v->op].text : "?", why);
}

/* Whether a value is known at a use: its region is the use's or around it, and it comes first. Ids
 * are in the order of the text. */
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
    case VEC_GET:
        return v->each != v->u.var->each || v->type != v->u.var->type ? "not what the variable is"
                                                                      : NULL;
    case VEC_PARAM:
        if (v->u.imm >= f->param_count) return "no such parameter";
        return v->each != f->param_each[v->u.imm] || v->type != f->param_types[v->u.imm]
                   ? "not what the parameter is"
                   : NULL;
    case VEC_CALL:
        return v->each != v->u.call.to->result_each || v->type != v->u.call.to->result
                   ? "not what the function returns"
                   : NULL;
    case VEC_LOAD:
        return v->each != (v->u.mem.reach != VEC_REACH_ONE)
                   ? "an element for each lane from one place"
                   : NULL;
    default: break;
    }
    bool each = vec_op_has((vec_op)v->op, VEC_F_LANES) ||
                (any && !vec_op_has((vec_op)v->op, VEC_F_ONE));
    return each != v->each ? "one and each mixed up" : NULL;
}

static bool is_int(uint8_t type) { return type >= HG_TYPE_U8 && type <= HG_TYPE_U64; }

/* What an ATOMIC does: two operands are compared and exchanged, of all others there is one. */
static const char *check_atomic(const vec_value *v, uint8_t count) {
    uint8_t operands = v->u.mem.atomic == KIR_ATOMIC_CAS ? 2 : 1;
    if (v->u.mem.atomic > KIR_ATOMIC_CAS || v->nargs != count + operands)
        return "an atomic of other operands";
    for (uint8_t i = count; i < v->nargs; i++)
        if (v->args[i]->type != v->type) return "an operand of another type";
    if (v->type != HG_TYPE_U32 && v->type != HG_TYPE_U64) return "an atomic of neither u32 nor u64";
    if (kir_type_bytes(v->type) != v->u.mem.bytes) return "a result of another size";
    bool combines = v->u.mem.atomic < KIR_ATOMIC_EXCH && !v->u.mem.open &&
                    (v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL);
    return v->u.mem.may.combines && !combines
               ? "what combines is a sum, minimum, maximum or bits, of a slot"
               : NULL;
}

static const char *check_memory(const kir_module *m, const vec_value *v) {
    bool slot = v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL;
    uint8_t bytes = v->u.mem.bytes;
    if (v->u.mem.space > KIR_FLAT || v->u.mem.reach > VEC_REACH_EACH)
        return "an unknown kind of memory, or of reach";
    if ((bytes & (bytes - 1)) || bytes > 8 || (!bytes && v->op != VEC_CHECK))
        return "elements of no size";
    if (v->u.mem.space == KIR_FLAT ? !v->u.mem.open : v->u.mem.open && !slot)
        return "open, or not, where that cannot be";
    if (slot && !v->u.mem.open && v->u.mem.slot >= m->slots.count) return "no such slot";
    if (v->u.mem.may.fits &&
        (v->op != VEC_LOAD || v->u.mem.open || !v->mask || v->u.mem.reach != VEC_REACH_ROW))
        return "what fits is a load of a row with a mask";
    return v->u.mem.may.streams &&
                   (v->op != VEC_STORE || !slot || v->u.mem.open || v->u.mem.reach != VEC_REACH_ROW)
               ? "what streams is a stored row of a slot"
               : NULL;
}

/* Whether a CHECK may answer for those behind it, and a LOAD read where its CHECK says. */
static const char *check_answers(const vec_value *v) {
    const vec_value *w = v;
    if (v->u.mem.may.checked &&
        (v->op != VEC_LOAD || v->u.mem.reach != VEC_REACH_ONE || !vec_check_of(v)))
        return "reads where a check says that is not there";
    if (v->u.mem.may.answers && v->op != VEC_CHECK) return "answers, and checks nothing";
    for (uint8_t i = v->u.mem.may.answers; i; i--)
        if (!(w = vec_next_answered(w)) || !vec_is_same_place(v, w))
            return "answers for what is no check of its place";
    return NULL;
}

/* Whether those that are done together with a LOAD or STORE are there. */
static const char *check_stretch(const vec_value *v) {
    uint32_t count = v->u.mem.may.stretch;
    const vec_value *w = v;
    if (!count) return NULL;
    if ((v->op != VEC_LOAD && v->op != VEC_STORE) || count < 2 || (count & (count - 1)) ||
        count > VEC_MOST_STRETCH || v->u.mem.reach != VEC_REACH_STRIDE || v->u.mem.stride <= 0)
        return "no stretch begins here";
    for (uint32_t i = 1; i < count; i++)
        if (!(w = vec_next_member(w)) || w->u.mem.may.stretch || !vec_is_member(v, w, i))
            return "a member of its stretch is missing";
    return (uint64_t)count * v->u.mem.bytes > (uint64_t)v->u.mem.stride
               ? "lanes of its stretch overlap"
               : NULL;
}

static const char *check_place(const kir_module *m, const vec_value *v) {
    if (!vec_op_has((vec_op)v->op, VEC_F_PLACE)) return NULL;
    uint8_t count = vec_place_args(v);
    const char *why = check_memory(m, v);
    if (why) return why;
    if (v->nargs < count) return "the handle or the index is missing";
    for (uint8_t i = 0; i < count; i++)
        if (v->args[i]->type != HG_TYPE_U64) return "a handle or index that is no u64";
    bool each = v->u.mem.reach == VEC_REACH_EACH;
    if (v->u.mem.open ? !each : count ? v->args[0]->each != each : v->u.mem.reach != VEC_REACH_ONE)
        return "an index that does not fit the reach";
    if (v->op == VEC_STORE &&
        (v->nargs != count + 1 || kir_type_bytes(v->args[count]->type) != v->u.mem.bytes))
        return "a value of another size";
    if (v->op == VEC_LOAD && kir_type_bytes(v->type) != v->u.mem.bytes)
        return "a result of another size";
    if ((v->op == VEC_LOAD || v->op == VEC_CHECK || v->op == VEC_FITS) && v->nargs != count)
        return "wrong number of arguments";
    if (v->op == VEC_ATOMIC && (why = check_atomic(v, count))) return why;
    why = check_answers(v);
    return why ? why : check_stretch(v);
}

/* ---- what operations without memory take and give ---- */

static const char *check_prim(const vec_value *v) {
    uint8_t types[3] = {0};
    for (uint8_t i = 0; i < v->nargs && i < HG_COUNT_OF(types); i++) types[i] = v->args[i]->type;
    return kir_verify_prim((kir_op)v->prim, v->type, types, v->nargs);
}

static const char *check_id(const vec_value *v) {
    if (v->u.imm >= HG_ID_COUNT) return "unknown id";
    return v->type != (uint8_t)hg_idname_type((hg_idname)v->u.imm) ? "differs from the id's type"
                                                                   : NULL;
}

static const char *check_leaf(const kir_module *m, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_CONST:
        return kir_type_bits(v->type) < 64 && v->u.imm >> kir_type_bits(v->type)
                   ? "constant has more bits than its type"
                   : NULL;
    case VEC_INPUT: {
        if (v->u.imm >= m->inputs.count) return "no such input";
        uint8_t type = m->inputs.data[v->u.imm].type;
        bool wider = v->type == HG_TYPE_U32 && kir_type_bytes(type) < 4;
        return kir_type_bytes(type) != kir_type_bytes(v->type) && !wider
                   ? "differs from the input's type"
                   : NULL;
    }
    case VEC_ID:
    case VEC_COORDINATE: return check_id(v);
    case VEC_BEGIN:
    case VEC_END:
    case VEC_SIZE:
    case VEC_FIRST: return v->type != HG_TYPE_U64 ? "not a u64" : NULL;
    case VEC_INTACT:
    case VEC_FENCE: return v->u.imm >= HG_SCOPE_COUNT ? "unknown scope" : NULL;
    case VEC_RUNNING:
    case VEC_FUEL: return v->type != KIR_BOOL ? "not a bool" : NULL;
    default: return NULL;
    }
}

/* Lanes among each other. */
static const char *check_lanes(const vec_kernel *k, const vec_value *v) {
    const vec_value *const *a = (const vec_value *const *)v->args;
    const bool same = a[0]->type == v->type && v->type != KIR_BOOL;
    if (v->u.imm >= k->lanes) return "a lane that a turn has not";
    if (!a[0]->each || !same) return "lanes of another value";
    return v->op == VEC_SLIDE && a[1]->type != v->type ? "slides into another value" : NULL;
}

static const char *check_types(const vec_kernel *k, const vec_value *v) {
    const vec_value *const *a = (const vec_value *const *)v->args;
    switch ((vec_op)v->op) {
    case VEC_PRIM: return check_prim(v);
    case VEC_RAMP:
        return a[0]->each || a[0]->type != v->type || !is_int(v->type)
                   ? "a ramp of anything but one integer"
                   : NULL;
    case VEC_GET: return v->u.var->length ? "an array as a whole" : NULL;
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET: {
        uint8_t type = v->op == VEC_ARRAY_GET ? v->type : a[1]->type;
        return a[0]->type != HG_TYPE_U32 || type != v->u.var->type
                   ? "an index that is no u32, or an element of another type"
                   : NULL;
    }
    case VEC_TABLE_GET:
        return v->type != v->u.table->type || a[0]->type != HG_TYPE_U32 ? "not what the table is"
                                                                        : NULL;
    case VEC_EXCHANGE:
        return !a[0]->each || a[0]->type != v->type || a[1]->each || !is_int(a[1]->type)
                   ? "an exchange of other values"
                   : NULL;
    case VEC_SLIDE:
    case VEC_PICK: return check_lanes(k, v);
    case VEC_ANY:
    case VEC_FITS: return v->type != KIR_BOOL ? "not a bool" : NULL;
    case VEC_FAULT_IF:
        if (!v->nargs || v->nargs > 1 + KIR_FAULT_VALUES || a[0]->type != KIR_BOOL ||
            v->u.fault.values >= v->nargs + !v->nargs)
            return "a condition that is no bool, or too many values";
        for (uint8_t i = 1; i < v->nargs; i++)
            if (a[i]->type != HG_TYPE_U64) return "a value that is no u64";
        return NULL;
    default: return check_leaf(k->module, v);
    }
}

/* A definition: nothing that is not its own. */
static const char *check_pure(const vec_function *f, const vec_value *v) {
    if (f->masked) return NULL;
    bool var = v->op == VEC_GET || v->op == VEC_SET || v->op == VEC_ARRAY_GET ||
               v->op == VEC_ARRAY_SET;
    if (vec_op_has((vec_op)v->op, VEC_F_PLACE) || v->op == VEC_FIRST || v->op == VEC_ID ||
        v->op == VEC_COORDINATE || v->op == VEC_FAULT_IF || v->op == VEC_FENCE ||
        (v->op == VEC_CALL && v->u.call.to->masked) || (v->op == VEC_LEAVE && v->leave.exits) ||
        (var && v->u.var->shared))
        return "in a function that changes nothing";
    for (uint8_t i = 0; i < v->loses.count; i++)
        if (v->loses.vars[i]->shared) return "in a function that changes nothing";
    return NULL;
}

static const char *check_call(const vec_value *v) {
    const vec_function *to = v->u.call.to;
    if (v->nargs != to->param_count) return "wrong number of arguments";
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (v->args[i]->type != to->param_types[i]) return "an argument of another type";
        if (v->args[i]->each && !to->param_each[i])
            return "an element for each lane where one value is expected";
    }
    for (uint8_t i = 0; i < to->array_count; i++)
        if (!v->u.call.arrays[i] || !v->u.call.arrays[i]->length ||
            v->u.call.arrays[i]->type != to->array_params[i]->type ||
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

/* Elements of the places of a turn, which are the same whatever turn it is: what variables of the
 * block hold of them, and what is made of that. */
static bool is_of_places(const vec_value *v) {
    return v->op == VEC_GET || v->op == VEC_PRIM || v->op == VEC_EXCHANGE || v->op == VEC_SLIDE;
}

/* Of a kernel that runs a block. */
static const char *check_block(const vec_value *v) {
    if (v->op == VEC_TURNS || v->op == VEC_BARRIER) {
        const vec_value *o = v->parent->owner;
        while (o && o->op != VEC_TURNS) o = o->parent->owner;
        if (o || v->op == VEC_BARRIER) return o ? "within TURNS" : NULL;
        if (v->nargs > 1 || (v->nargs && (v->args[0]->each || v->args[0]->type != KIR_BOOL)))
            return "asks another value than one bool";
        if (v->u.heads && (v->next || v->parent->owner))
            return "turns are left out that others come behind";
        return !v->body[0] || v->body[1] ? "no body" : NULL;
    }
    if ((v->op == VEC_GET || v->op == VEC_SET || v->op == VEC_ARRAY_GET ||
         v->op == VEC_ARRAY_SET) &&
        !has_var(v, v->u.var))
        return "a variable that does not live here";
    for (uint8_t i = 0; i < v->loses.count; i++)
        if (!has_var(v, v->loses.vars[i])) return "a mask that does not live here";
    if (!in_block_only(v)) return NULL;
    if (v->each && !is_of_places(v)) return "an element for each lane outside of TURNS";
    if ((vec_op_has((vec_op)v->op, VEC_F_PLACE) && v->op != VEC_SIZE) ||
        (vec_op_has((vec_op)v->op, VEC_F_LOSES) && v->op != VEC_CALL))
        return "outside of TURNS";
    return v->op == VEC_FIRST || (v->op == VEC_CALL && v->u.call.to->masked) ? "outside of TURNS"
                                                                             : NULL;
}

/* Of a function that runs a turn. What WHOLE asks is made of the launch, of sizes and of where the
 * stretch is. */
static const char *check_turn(const vec_function *f, const vec_value *v) {
    const vec_value *owner = v->parent->owner;
    const bool asked = owner && owner->op == VEC_WHOLE;
    if (v->op == VEC_TURNS || v->op == VEC_BARRIER || v->op == VEC_INTACT)
        return "not in a kernel of blocks";
    if (v->op == VEC_WHOLE) {
        if (v != f->body->first) return "not the first";
        return v->body[0]->last && v->body[0]->last->op == VEC_ANSWER ? NULL : "no answer";
    }
    if ((v->op == VEC_BEGIN || v->op == VEC_END || v->op == VEC_ANSWER) && !asked)
        return "not in what asks for a stretch of turns";
    if (!asked) return NULL;
    if (v->each) return "an element for each lane in a question";
    switch ((vec_op)v->op) {
    case VEC_ID: {
        const hg_id_part part = hg_idname_part((hg_idname)v->u.imm);
        return part == HG_PART_LANE_IDX || part == HG_PART_BLOCK_IDX ? "not of the launch" : NULL;
    }
    case VEC_ANSWER: return v->args[0]->type != KIR_BOOL ? "no bool" : NULL;
    case VEC_CONST:
    case VEC_INPUT:
    case VEC_PRIM:
    case VEC_BEGIN:
    case VEC_END:
    case VEC_SIZE: return NULL;
    default: return "not in a question";
    }
}

static const char *check_operation(const vec_kernel *k, const vec_function *f, const vec_value *v) {
    uint8_t args = VEC_OPS[v->op].args;
    if (args != KIR_ARGS_ANY && args != v->nargs) return "wrong number of arguments";
    if (v->op == VEC_PRIM && (v->prim >= KIR_OP_COUNT || !kir_op_has((kir_op)v->prim, KIR_F_VALUE)))
        return "no value primitive";
    if (v->type != KIR_VOID && v->type != KIR_BOOL && !is_int(v->type) &&
        !kir_type_is_float(v->type))
        return "a value of no type";
    if (v->mask && !is_mask(v->mask)) return "a mask that is none";
    for (uint8_t i = 0; i < v->loses.count; i++)
        if (!v->loses.vars[i]->mask) return "lanes are taken out of what is no mask";
    if (v->loses.count && !vec_op_has((vec_op)v->op, VEC_F_LOSES)) return "loses no lanes";
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
        if (v->u.var->length || v->args[0]->type != v->u.var->type)
            return "a value of another type";
        if (!v->u.var->each && (v->args[0]->each || v->mask))
            return "an element for each lane in a variable that is one";
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
        while (r->owner && r->owner->op != VEC_LOOP && r->owner->op != VEC_TURNS)
            r = r->owner->parent;
        if (!r->owner || r->owner->op == VEC_TURNS) return "outside a loop";
        break;
    }
    default: break;
    }
    const char *why = check_place(k->module, v);
    if (!why) why = check_types(k, v);
    return why || f->id == 0 ? why : check_pure(f, v);
}

static hg_status check_value(const vec_kernel *k, const vec_function *f, const vec_value *v,
                             bool blocks) {
    if (v->op >= VEC_OP_COUNT) return bad(f, v, "unknown operation");
    for (uint8_t i = 0; i < v->nargs; i++) {
        if (!reaches(v->args[i], v)) return bad(f, v, "an argument that is not known here");
        if (v->args[i]->type == KIR_VOID) return bad(f, v, "an argument without a value");
    }
    if (v->mask && !reaches(v->mask, v)) return bad(f, v, "a mask that is not known here");
    const char *why = check_operation(k, f, v);
    if (!why) why = check_result(f, v);
    if (!why && blocks) why = check_block(v);
    if (!why && !blocks) why = check_turn(f, v);
    if (!why && (blocks || f->id > 0) && (v->op == VEC_WHOLE || v->op == VEC_ANSWER))
        why = "not in a kernel of turns";
    return why ? bad(f, v, why) : HG_OK;
}

static const char *check_var(const vec_var *v) {
    if (v->type != KIR_BOOL && !is_int(v->type) && !kir_type_is_float(v->type))
        return "a variable of no type";
    if (v->mask && (v->type != KIR_BOOL || !v->each || v->length))
        return "a mask of another type than a bool for each lane";
    return v->length && !v->each ? "an array that is one" : NULL;
}

static hg_status check_function(const vec_kernel *k, const vec_function *f) {
    bool kernel = f == k->functions, limbs = f->limbs_op != KIR_OP_COUNT;
    for (const vec_var *v = f->vars; v; v = v->next)
        if (check_var(v))
            return hg_fail(HG_ERROR_INTERNAL, "vector form of '%s', variable %u: %s", f->name,
                           (unsigned)v->id, check_var(v));
    const char *why = NULL;
    if (kernel && (f->param_count || f->result != KIR_VOID || f->array_count || limbs))
        why = "a kernel with parameters or a result";
    if (limbs && f->array_count < 3) why = "an operation on limbs that has not three arrays";
    if (f->result != KIR_VOID && kir_type_bytes(f->result) > 8) why = "a result of no type";
    for (uint8_t i = 0; i < f->param_count; i++)
        if (kir_type_bytes(f->param_types[i]) > 8) why = "a parameter of no type";
    return why ? hg_fail(HG_ERROR_INTERNAL, "vector form of '%s': %s", f->name, why) : HG_OK;
}

hg_status vec_verify(const vec_kernel *kernel) {
    if (!kernel->functions || !kernel->lanes || (kernel->lanes & (kernel->lanes - 1)))
        return hg_fail(
            HG_ERROR_INTERNAL,
            "vector form without a function, or with a number of lanes that is no power of two");
    for (const vec_var *v = kernel->shared; v; v = v->next)
        if (check_var(v))
            return hg_fail(HG_ERROR_INTERNAL, "vector form, shared variable %u: %s",
                           (unsigned)v->id, check_var(v));
    for (vec_function *f = kernel->functions; f; f = f->next) {
        HG_TRY(check_function(kernel, f));
        vec_number(f);
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            HG_TRY(check_value(kernel, f, v, kernel->blocks && f == kernel->functions));
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (v->op == VEC_CALL && v->u.call.to->id <= f->id)
                return bad(f, v, "a function that comes before its caller");
    }
    return HG_OK;
}
