/* Rules of memory operations and whole-array steps. */
#include "isa/program.h"
#include "kir/step.h"
#include "kir/words.h"
#include "kir/verify_internal.h"

const char *kir_verify_var(const kir_function *f, const kir_var *var, bool array) {
    if (!var) return "variable missing";
    if (array != (var->length != 0)) return array ? "not an array" : "scalar access to an array";
    return var->function && var->function != f ? "variable of another function" : NULL;
}

/* Handles, indices and flat addresses are u64, or two u32. */
static const char *check_place(const kir_module *m, const kir_value *v, kir_access_parts parts) {
    uint8_t most = (uint8_t)(parts.handle + parts.index);
    if (most > v->nargs) return "place missing";
    for (uint8_t i = 0; i < most; i++) {
        bool half = i < parts.handle ? parts.handle == 2 : parts.index == 2;
        uint8_t type = v->args[i]->type;
        bool offset = i >= parts.handle && kir_is_device_form(m); /* as wide as the device counts */
        if (type != (half ? HG_TYPE_U32 : HG_TYPE_U64) && !(offset && type == HG_TYPE_U32))
            return "handle or index is no u64";
    }
    return NULL;
}

/* Memory of the size of the type, or narrower for what legalisation made u32. */
static const char *check_sizes(const kir_module *m, const kir_value *v, uint8_t type) {
    uint64_t size = kir_type_bytes(type);
    uint8_t bytes = v->u.mem.bytes;
    if (bytes > 8 || (bytes & (bytes - 1))) return "size in memory is not 1, 2, 4 or 8";
    if (v->u.mem.bytes_wide > 512) return "size as written is above 512";
    if (v->op == KIR_CHECK) return bytes || v->u.mem.bytes_wide ? NULL : "size missing";
    if (type == KIR_BOOL || type == KIR_VOID) return "moves no such type";
    if (v->u.mem.split && size > 4 && !kir_is_device_form(m)) return "64 bits at a place in halves";
    if (kir_is_wide(type)) return bytes ? "a wide value has its size in bytes_wide" : NULL;
    if (bytes != size && !(type == HG_TYPE_U32 && bytes && bytes < 4))
        return "size in memory is not that of the type";
    return NULL;
}

static const char *check_space(const kir_module *m, const kir_value *v) {
    uint8_t space = v->u.mem.space;
    int16_t slot = v->u.mem.slot;
    bool device = kir_is_device_form(m);
    if (space > KIR_FLAT) return "unknown space";
    if (space == KIR_CLASS && v->u.mem.class_id >= HG_MAX_CLASSES) return "class above 95";
    if (space == KIR_BUFFER && v->u.mem.class_id >= KIR_PLAN_MEMORY_COUNT)
        return "unknown memory of the plan";
    if (space == KIR_BUFFER && v->u.mem.class_id == KIR_PLAN_UNIFORMS &&
        (v->op == KIR_STORE || v->op == KIR_ATOMIC))
        return "writes memory that is read only";
    if ((space != KIR_CLASS && space != KIR_BUFFER && v->u.mem.class_id) || v->u.mem.split > 1 ||
        v->u.mem.has_index > 1)
        return "stray field";
    if (slot < KIR_ADDRESS || (slot >= 0 && (uint64_t)slot >= m->slots.count))
        return "no such slot";
    if (device)
        return slot == KIR_OPEN && space != KIR_SHARED ? "open access in device form" : NULL;
    if (slot == KIR_ADDRESS || v->u.mem.volatile_access || v->u.mem.uniform)
        return "of the device form alone";
    if (slot < 0) return NULL;
    const kir_slot *s = &m->slots.data[slot];
    if (space != KIR_BUFFER && space != KIR_POOL) return "a slot names buffers and pools";
    return s->kind != KIR_SLOT_MEMORY || s->space != space ||
                   s->plan != (space == KIR_BUFFER ? v->u.mem.class_id : 0)
               ? "slot of other memory"
               : NULL;
}

static const char *check_atomic(const kir_module *m, const kir_function *f, const kir_value *v,
                                uint8_t first) {
    uint8_t operands = v->u.mem.atomic == KIR_ATOMIC_CAS ? 2 : 1;
    bool halves = v->u.mem.split && v->u.mem.bytes == 8 && v->type == HG_TYPE_U32 &&
                  !kir_is_device_form(m);
    if (v->u.mem.atomic > KIR_ATOMIC_CAS) return "unknown atomic";
    if (v->type != HG_TYPE_U32 && v->type != HG_TYPE_U64) return "atomics are of u32 and u64";
    if (!halves && v->u.mem.bytes != kir_type_bytes(v->type))
        return "size in memory is not that of the type";
    if (v->nargs != first + operands * (halves ? 2 : 1)) return "wrong number of operands";
    for (uint8_t i = first; i < v->nargs; i++)
        if (v->args[i]->type != v->type) return "operand differs in type";
    if (halves != (v->u.mem.high != NULL)) return "an upper half without its variable";
    if (!halves) return NULL;
    return v->u.mem.high->type != HG_TYPE_U32 ? "an upper half is u32"
                                              : kir_verify_var(f, v->u.mem.high, false);
}

static const char *check_device_access(const kir_value *v, uint8_t type) {
    if (v->op == KIR_CHECK) return "no check in device form";
    bool group = v->u.mem.space == KIR_SHARED && v->u.mem.slot == KIR_OPEN;
    if (v->u.mem.uniform && (v->op != KIR_LOAD || !group))
        return "only loads of group memory are uniform";
    if (!v->u.mem.has_index || !v->u.mem.unchecked || v->u.mem.disp)
        return "device form has checked offsets alone";
    return v->u.mem.bytes != kir_type_bytes(type) ? "size in memory is not that of the type" : NULL;
}

const char *kir_verify_access(const kir_module *m, const kir_function *f, const kir_value *v) {
    kir_access_parts parts = kir_access_divide(m, v);
    uint8_t first = (uint8_t)(parts.handle + parts.index), values = v->op == KIR_STORE;
    const char *why = check_space(m, v);
    if (!why) why = check_place(m, v, parts);
    if (why) return why;
    if (v->op != KIR_ATOMIC && v->nargs != first + values) return "wrong number of arguments";
    if (v->op != KIR_ATOMIC && v->u.mem.high) return "stray field";
    if (v->op == KIR_ATOMIC) why = check_atomic(m, f, v, first);
    uint8_t type = kir_access_type(v, first);
    if (!why && v->op != KIR_ATOMIC) why = check_sizes(m, v, type);
    if (!why && kir_is_device_form(m)) why = check_device_access(v, type);
    return why;
}

static const char *check_step_operand(const kir_value *v, const kir_step_operand *o) {
    uint8_t wanted = o->kind == KIR_STEP_TUPLE ? o->arg_count : o->kind < KIR_STEP_NUMBER;
    if (o->kind == KIR_STEP_ARRAY) {
        if (o->space > KIR_FLAT || o->has_index > 1 || o->access > (HG_READ | HG_WRITE))
            return "array out of order";
        if (o->space == KIR_CLASS ? o->class_id >= HG_MAX_CLASSES : o->class_id != 0)
            return "class above 95";
        wanted = (uint8_t)((o->space != KIR_SHARED && o->space != KIR_CLASS) + o->has_index);
    }
    if (o->kind == KIR_STEP_NAME && o->value >= HG_OPNAME_COUNT) return "unknown name";
    if (o->arg_count != wanted || o->first_arg + o->arg_count > v->nargs)
        return "wrong number of arguments";
    for (uint8_t i = 0; i < o->arg_count; i++) {
        uint8_t type = v->args[o->first_arg + i]->type;
        if (o->kind == KIR_STEP_SCALAR ? !kir_is_type(type) : type != HG_TYPE_U64)
            return "argument of the wrong type";
    }
    return NULL;
}

/* Each operand at most once, and their arguments one after another: all uniform. */
const char *kir_verify_step(const kir_value *v) {
    const kir_step *s = v->u.step.info;
    uint32_t next = 0, seen = 0;
    if (!s || v->u.step.op >= HG_OP_COUNT) return "unknown step";
    const hg_op_info *row = hg_op_get((hg_op)v->u.step.op);
    if (row->type_count ? v->u.step.atlas_type >= HG_TYPE_COUNT
                        : v->u.step.atlas_type != HG_TYPE_NOT_USED)
        return "step of the wrong type";
    for (uint32_t i = 0; i < s->count; i++) {
        const kir_step_operand *o = &s->operands[i];
        if (o->operand == 0 || o->operand > row->operand_count || (seen >> (o->operand - 1) & 1))
            return "operand out of order";
        if (kir_step_kind_of(row, o->operand - 1u) != (kir_step_kind)o->kind)
            return "operand of another kind";
        if (o->first_arg != next) return "arguments out of order";
        const char *why = check_step_operand(v, o);
        if (why) return why;
        seen |= UINT32_C(1) << (o->operand - 1);
        next += o->arg_count;
    }
    if (next != v->nargs) return "wrong number of arguments";
    return v->type == KIR_VOID || kir_is_type(v->type) ? NULL : "result of no type";
}
