/* Rules of single operations: types, fields, variables. */
#include "kir/verify_internal.h"

static const char *check_class(const kir_value *v, uint8_t first, const kir_op_info *row) {
    switch ((kir_op_class)row->class) {
    case KIR_CLASS_INT:
        if (!kir_is_int(first) && !(first == KIR_BOOL && row->flags & KIR_F_LOGIC))
            return "argument is no integer";
        if (row->flags & KIR_F_SHIFTS) {
            if (v->args[1]->type != HG_TYPE_U32) return "shift amount is not u32";
        } else if (v->nargs == 2 && v->args[1]->type != first) {
            return "arguments differ in type";
        }
        return v->op == KIR_MULHI_U && kir_is_wide(first) ? "not for more than 64 bits" : NULL;
    case KIR_CLASS_FLOAT:
        if (!kir_type_is_float(first)) return "argument is no float";
        for (uint8_t i = 1; i < v->nargs; i++)
            if (v->args[i]->type != first) return "arguments differ in type";
        return NULL;
    case KIR_CLASS_ANY:
        if (first != KIR_BOOL) return "condition is no bool";
        return v->args[1]->type != v->type || v->args[2]->type != v->type
                   ? "branches differ in type"
                   : NULL;
    case KIR_CLASS_DOT:
        for (uint8_t i = 0; i < v->nargs; i++)
            if (v->args[i]->type != HG_TYPE_U32) return "argument is no u32";
        return NULL;
    default: return NULL;
    }
}

/* Half values are u16 bits, in u32 where a target has no u16. */
static bool is_half_bits(uint8_t type) { return type == HG_TYPE_U16 || type == HG_TYPE_U32; }

static bool converts(kir_op op, uint8_t from, uint8_t to) {
    uint32_t bits = kir_type_bits(from), wanted = kir_type_bits(to);
    bool int_from = kir_is_int(from), int_to = kir_is_int(to), float_from = kir_type_is_float(from),
         float_to = kir_type_is_float(to);
    switch (op) {
    case KIR_BITCAST: return bits == wanted && bits <= 64 && from != KIR_BOOL && to != KIR_BOOL;
    case KIR_ZEXT:
    case KIR_SEXT: return (int_from || from == KIR_BOOL) && int_to && wanted >= bits;
    case KIR_TRUNC: return int_from && (int_to || to == KIR_BOOL) && wanted <= bits;
    case KIR_U2F:
    case KIR_S2F: return int_from && float_to;
    case KIR_F2U:
    case KIR_F2S: return float_from && int_to;
    case KIR_F2F: return float_from && float_to;
    case KIR_H2F:
    case KIR_B2F: return is_half_bits(from) && to == HG_TYPE_F32;
    case KIR_F2H:
    case KIR_F2B: return from == HG_TYPE_F32 && is_half_bits(to);
    default: return false;
    }
}

static const char *check_const(const kir_value *v) {
    uint32_t bits = kir_type_bits(v->type);
    if (bits > 64) return v->u.bytes ? NULL : "bytes missing";
    return bits < 64 && v->u.imm >> bits ? "constant has more bits than its type" : NULL;
}

/* The bits of the input; u32 where it is narrower. */
static const char *check_input(const kir_module *m, const kir_value *v) {
    if (v->u.imm >= m->inputs.count) return "no such input";
    uint8_t type = m->inputs.data[v->u.imm].type;
    bool wider = v->type == HG_TYPE_U32 && kir_type_bytes(type) < 4;
    return kir_type_bytes(type) != kir_type_bytes(v->type) && !wider
               ? "differs from the input's type"
               : NULL;
}

static const char *check_id(const kir_module *m, const kir_value *v) {
    uint64_t id = v->u.imm & ~(uint64_t)KIR_ID_HIGH;
    if (kir_is_device_form(m))
        return v->u.imm >= KIR_DEVICE_ID_COUNT || v->type != HG_TYPE_U32
                   ? "no id of the device form"
                   : NULL;
    if (id >= HG_ID_COUNT) return "unknown id";
    uint8_t type = (uint8_t)hg_idname_type((hg_idname)id);
    bool half = type == HG_TYPE_U64 && v->type == HG_TYPE_U32;
    if (v->type != type && !half) return "differs from the id's type";
    return v->u.imm & KIR_ID_HIGH && !half ? "no upper half" : NULL;
}

static const char *check_variable(const kir_function *f, const kir_value *v) {
    bool array = v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET,
         get = v->op == KIR_VAR_GET || v->op == KIR_ARRAY_GET;
    const char *why = kir_verify_var(f, v->u.var, array);
    if (why) return why;
    if (array && v->args[0]->type != HG_TYPE_U32) return "index is no u32";
    return (get ? v->type : v->args[array]->type) != v->u.var->type
               ? "differs from the variable's type"
               : NULL;
}

static const char *check_call(const kir_module *m, const kir_function *f, const kir_value *v) {
    const kir_function *callee = v->u.call.function;
    if (!callee || callee == m->functions) return "calls no function";
    if (v->nargs != callee->param_count || v->type != callee->result)
        return "call does not fit the function";
    for (uint8_t i = 0; i < v->nargs; i++)
        if (v->args[i]->type != callee->param_types[i])
            return "argument does not fit the parameter";
    for (uint8_t i = 0; i < callee->array_count; i++) {
        const char *why = kir_verify_var(f, v->u.call.arrays[i], true);
        if (why) return why;
        if (v->u.call.arrays[i]->type != callee->array_params[i]->type ||
            v->u.call.arrays[i]->length < callee->array_params[i]->length)
            return "array does not fit the parameter";
    }
    return NULL;
}

static const char *check_fault(const kir_value *v) {
    uint8_t values = v->u.fault.values;
    bool halves = values && v->nargs == 1 + 2 * values;
    if (v->args[0]->type != KIR_BOOL) return "condition is no bool";
    if (v->u.fault.code < KIR_FAULT_BOUNDS || v->u.fault.code > KIR_FAULT_STEPS)
        return "unknown fault";
    if (values > KIR_FAULT_VALUES || (!halves && v->nargs != 1 + values))
        return "wrong number of values";
    for (uint8_t i = 1; i < v->nargs; i++)
        if (v->args[i]->type != (halves ? HG_TYPE_U32 : HG_TYPE_U64)) return "a value is no u64";
    return NULL;
}

static const char *check_derived(const kir_value *v) {
    if (v->u.derived.fn >= KIR_FN_COUNT || v->u.derived.atlas_type >= HG_TYPE_COUNT)
        return "unknown function";
    uint8_t type = kir_type_of((hg_type)v->u.derived.atlas_type);
    if (v->nargs < 1 || v->nargs > 3) return "wrong number of arguments";
    for (uint8_t i = 0; i < v->nargs; i++)
        if (v->args[i]->type != type) return "argument differs from the function's type";
    return v->type != type ? "result differs from the function's type" : NULL;
}

static const char *check_block(const kir_value *v) {
    if (v->u.block.op >= HG_OP_COUNT || !(hg_op_get((hg_op)v->u.block.op)->flags & HG_F_BLOCK) ||
        v->u.block.atlas_type >= HG_TYPE_COUNT ||
        !hg_op_allows_type((hg_op)v->u.block.op, (hg_type)v->u.block.atlas_type))
        return "no operation of a block";
    bool shuffle = v->u.block.op == HG_OP_SHUFFLE;
    if (v->nargs != 1 + shuffle) return "wrong number of arguments";
    if (shuffle && v->args[1]->type != HG_TYPE_U64) return "the lane is no u64";
    if (!shuffle && kir_is_half((hg_type)v->u.block.atlas_type)) return "halves are widened before";
    uint8_t type = kir_type_of((hg_type)v->u.block.atlas_type);
    return v->args[0]->type != type || v->type != type ? "differs from the operation's type" : NULL;
}

static const char *check_trace(const kir_function *f, const kir_value *v) {
    bool point = v->u.trace.what == KIR_TRACE_POINT;
    if (v->u.trace.what >= KIR_TRACED_COUNT) return "traces nothing that is known";
    if (v->nargs != !point) return "wrong number of arguments";
    if (!v->u.trace.own) return NULL;
    return point ? kir_verify_var(f, v->u.trace.own, true) : "private memory of a register";
}

static const char *check_return(const kir_function *f, const kir_value *v) {
    if (v->nargs != (f->result != KIR_VOID)) return "not what the function gives";
    return v->nargs && v->args[0]->type != f->result ? "differs from the function's result" : NULL;
}

static const char *check_fields(const kir_module *m, const kir_function *f, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST: return check_const(v);
    case KIR_INPUT: return check_input(m, v);
    case KIR_PARAM:
        return v->u.imm >= f->param_count || v->type != f->param_types[v->u.imm]
                   ? "no such parameter of this type"
                   : NULL;
    case KIR_ID: return check_id(m, v);
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return check_variable(f, v);
    case KIR_TABLE_GET:
        if (!v->u.table || v->type != v->u.table->type) return "differs from the table's type";
        return v->args[0]->type != HG_TYPE_U32 ? "index is no u32" : NULL;
    case KIR_FENCE: return v->u.imm >= HG_SCOPE_COUNT ? "unknown scope" : NULL;
    case KIR_TRACE: return check_trace(f, v);
    case KIR_IF: return v->args[0]->type != KIR_BOOL ? "condition is no bool" : NULL;
    case KIR_RETURN: return check_return(f, v);
    case KIR_CALL: return check_call(m, f, v);
    case KIR_FAULT_IF: return kir_is_device_form(m) ? "no fault in device form" : check_fault(v);
    case KIR_DERIVED: return check_derived(v);
    case KIR_BLOCK:
        return kir_is_device_form(m) ? "no operation of a block in device form" : check_block(v);
    case KIR_STEP: return kir_is_device_form(m) ? "no step in device form" : kir_verify_step(v);
    default: return kir_is_access(v) ? kir_verify_access(m, f, v) : NULL;
    }
}

/* A definition: no memory, no faults, no ids, no variables of the module. */
static bool is_pure_enough(const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_ID:
    case KIR_FENCE:
    case KIR_TRACE:
    case KIR_BARRIER:
    case KIR_EXIT:
    case KIR_FAULT_IF:
    case KIR_BLOCK:
    case KIR_STEP: return false;
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return v->u.var->function != NULL;
    case KIR_CALL: return v->u.call.function->pure;
    default: return !kir_is_access(v);
    }
}

/* What the operation's row says of types. */
static const char *check_types(const kir_value *v) {
    const kir_op_info *row = kir_op_get((kir_op)v->op);
    uint8_t first = v->nargs ? v->args[0]->type : KIR_VOID;
    const char *why = check_class(v, first, row);
    if (why) return why;
    if (row->result == KIR_RESULT_SAME && v->type != first)
        return "result differs from the argument's type";
    if (row->result == KIR_RESULT_BOOL && v->type != KIR_BOOL) return "result is no bool";
    if (row->result == KIR_RESULT_NONE && v->type != KIR_VOID) return "has a result";
    bool may_be_void = row->result == KIR_RESULT_NONE || v->op == KIR_CALL || v->op == KIR_STEP;
    if (!kir_is_type(v->type) && !(may_be_void && v->type == KIR_VOID)) return "result of no type";
    if (row->class == KIR_CLASS_CONVERT && !converts((kir_op)v->op, first, v->type))
        return "does not convert these types";
    return NULL;
}

const char *kir_verify_operation(const kir_module *m, const kir_function *f, const kir_value *v) {
    const char *why = check_types(v);
    if (!why) why = check_fields(m, f, v);
    return !why && f->pure && !is_pure_enough(v) ? "not in a pure function" : why;
}

const char *kir_verify_prim(kir_op op, uint8_t result, const uint8_t *args, uint8_t nargs) {
    kir_value values[3] = {{0}}, *list[3] = {&values[0], &values[1], &values[2]};
    if (op >= KIR_OP_COUNT || !kir_op_has(op, KIR_F_VALUE)) return "no value primitive";
    if (nargs > HG_COUNT_OF(values) || kir_op_get(op)->args != nargs)
        return "wrong number of arguments";
    for (uint8_t i = 0; i < nargs; i++) {
        values[i].type = args[i];
        if (!kir_is_narrow_type(args[i]))
            return "argument has no type, or one of more than 64 bits";
    }
    return check_types(
        &(kir_value){.op = (uint8_t)op, .type = result, .nargs = nargs, .args = list});
}
