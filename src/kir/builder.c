/* Appends operations to a region. Never returns NULL: after out of memory the builder is failed and
 * hands out one harmless value, so that definitions need no error paths; the caller checks
 * b->failed once at the end. */
#include "kir/kir.h"
#include "kir/builder.h"
#include <string.h>

void kir_builder_init(kir_builder *b, kir_module *m, kir_function *f) {
    memset(b, 0, sizeof *b);
    b->module = m;
    b->function = f;
    b->region = f ? f->body : NULL;
    b->dummy.type = HG_TYPE_U32;
    b->dummy.args = b->dummy_args;
    for (size_t i = 0; i < HG_COUNT_OF(b->dummy_args); i++) b->dummy_args[i] = &b->dummy;
    b->dummy.body[0] = b->dummy.body[1] = &b->dummy_region;
    b->dummy.parent = &b->dummy_region;
    b->failed = f == NULL;
}

static kir_value *fail(kir_builder *b, uint8_t type) {
    b->failed = true;
    b->dummy.type = type;
    return &b->dummy;
}

static kir_region *new_region(kir_builder *b, kir_value *owner) {
    kir_region *region = hg_arena_alloc(&b->module->arena, sizeof *region);
    if (region) region->owner = owner;
    return region;
}

kir_value *kir_emit(kir_builder *b, kir_op op, uint8_t type, uint8_t nargs,
                    kir_value *const *args) {
    if (b->failed || (++b->module->made > b->module->most && b->module->most)) return fail(b, type);
    kir_value *v = hg_arena_alloc(&b->module->arena, sizeof *v + nargs * sizeof *v->args);
    if (!v) return fail(b, type);
    v->op = (uint8_t)op;
    v->type = type;
    v->nargs = nargs;
    v->inst = b->inst;
    v->args = nargs ? (kir_value **)(void *)(v + 1) : NULL;
    for (uint8_t i = 0; i < nargs; i++) v->args[i] = args[i];
    v->umax = UINT64_MAX;
    v->parent = b->region;
    v->prev = b->region->last;
    if (v->prev)
        v->prev->next = v;
    else
        b->region->first = v;
    b->region->last = v;
    return v;
}

static uint64_t mask_bits(uint8_t type) {
    uint32_t bits = kir_type_bits(type);
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

kir_value *kir_const(kir_builder *b, uint8_t type, uint64_t bits) {
    if (kir_type_bytes(type) > 8 && type != KIR_BOOL) {
        uint8_t bytes[512] = {0};
        for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
        return kir_const_bytes(b, type, bytes);
    }
    kir_value *v = kir_emit(b, KIR_CONST, type, 0, NULL);
    v->u.imm = bits & mask_bits(type);
    return v;
}

kir_value *kir_const_bytes(kir_builder *b, uint8_t type, const uint8_t *bytes) {
    uint64_t size = kir_type_bytes(type);
    if (size <= 8) {
        uint64_t bits = 0;
        for (uint64_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
        return kir_const(b, type, bits);
    }
    if (b->failed) return fail(b, type);
    uint8_t *copy = hg_arena_alloc(&b->module->arena, (size_t)size);
    if (!copy) return fail(b, type);
    memcpy(copy, bytes, (size_t)size);
    kir_value *v = kir_emit(b, KIR_CONST, type, 0, NULL);
    v->u.bytes = copy;
    return v;
}

kir_value *kir_f32(kir_builder *b, float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return kir_const(b, HG_TYPE_F32, bits);
}

kir_value *kir_f64(kir_builder *b, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return kir_const(b, HG_TYPE_F64, bits);
}

kir_value *kir_unary(kir_builder *b, kir_op op, kir_value *a) {
    return kir_emit(b, op, a->type, 1, &a);
}

static bool gives_bool(kir_op op) {
    return op == KIR_CMP_EQ || op == KIR_CMP_ULT || op == KIR_CMP_SLT || op == KIR_FCMP_EQ ||
           op == KIR_FCMP_LT || op == KIR_FCMP_LE;
}

kir_value *kir_binary_held(kir_builder *b, kir_op op, kir_value *c) {
    kir_value *a = kir_held(b);
    return kir_emit(b, op, gives_bool(op) ? KIR_BOOL : a->type, 2, (kir_value *[]){a, c});
}

kir_value *kir_arithmetic_held(kir_builder *b, kir_op integer, kir_op real, kir_value *c) {
    kir_value *a = kir_held(b);
    return kir_binary(b, kir_type_is_float(a->type) ? real : integer, a, c);
}

kir_value *kir_ffma_held(kir_builder *b, kir_value *c) {
    kir_value *m = kir_held(b), *a = kir_held(b);
    return kir_emit(b, KIR_FFMA, a->type, 3, (kir_value *[]){a, m, c});
}

kir_value *kir_mad_held(kir_builder *b, kir_value *c) {
    kir_value *m = kir_held(b), *a = kir_held(b);
    return kir_emit(b, KIR_FMAD, a->type, 3, (kir_value *[]){a, m, c});
}

kir_value *kir_select_held(kir_builder *b, kir_value *c) {
    kir_value *a = kir_held(b), *cond = kir_held(b);
    return kir_emit(b, KIR_SELECT, a->type, 3, (kir_value *[]){cond, a, c});
}

kir_value *kir_convert(kir_builder *b, kir_op op, uint8_t type, kir_value *a) {
    return kir_emit(b, op, type, 1, &a);
}

kir_value *kir_not(kir_builder *b, kir_value *boolean) {
    return kir_binary(b, KIR_XOR, boolean, kir_const(b, KIR_BOOL, 1));
}

kir_value *kir_get(kir_builder *b, kir_var *var) {
    if (!var) return fail(b, HG_TYPE_U32);
    kir_value *v = kir_emit(b, KIR_VAR_GET, var->type, 0, NULL);
    v->u.var = var;
    return v;
}

void kir_set(kir_builder *b, kir_var *var, kir_value *value) {
    if (!var) {
        (void)fail(b, KIR_VOID);
        return;
    }
    kir_emit(b, KIR_VAR_SET, KIR_VOID, 1, &value)->u.var = var;
}

kir_value *kir_array_get(kir_builder *b, kir_var *array, kir_value *index) {
    if (!array) return fail(b, HG_TYPE_U32);
    kir_value *v = kir_emit(b, KIR_ARRAY_GET, array->type, 1, &index);
    v->u.var = array;
    return v;
}

void kir_array_set_held(kir_builder *b, kir_var *array, kir_value *value) {
    kir_value *index = kir_held(b);
    if (!array) {
        (void)fail(b, KIR_VOID);
        return;
    }
    kir_emit(b, KIR_ARRAY_SET, KIR_VOID, 2, (kir_value *[]){index, value})->u.var = array;
}

kir_value *kir_table_get(kir_builder *b, kir_table *table, kir_value *index) {
    if (!table) return fail(b, HG_TYPE_U32);
    kir_value *v = kir_emit(b, KIR_TABLE_GET, table->type, 1, &index);
    v->u.table = table;
    return v;
}

kir_value *kir_call(kir_builder *b, kir_function *f, uint8_t nargs, kir_value *const *args,
                    kir_var *const *arrays) {
    if (!f) return fail(b, HG_TYPE_U32);
    kir_var **copy = NULL;
    if (f->array_count) {
        copy = b->failed ? NULL : hg_arena_alloc(&b->module->arena, f->array_count * sizeof *copy);
        if (!copy) return fail(b, f->result);
        for (uint8_t i = 0; i < f->array_count; i++) copy[i] = arrays[i];
    }
    kir_value *v = kir_emit(b, KIR_CALL, f->result, nargs, args);
    v->u.call.function = f;
    v->u.call.arrays = copy;
    return v;
}

void kir_return(kir_builder *b, kir_value *value) {
    kir_emit(b, KIR_RETURN, KIR_VOID, value ? 1 : 0, &value);
}

kir_value *kir_param(kir_builder *b, uint8_t index) {
    kir_value *v = kir_emit(b, KIR_PARAM,
                            b->function ? b->function->param_types[index] : HG_TYPE_U32, 0, NULL);
    v->u.imm = index;
    return v;
}

kir_value *kir_derived(kir_builder *b, uint16_t fn, hg_type atlas_type, uint8_t nargs,
                       kir_value *const *args) {
    kir_value *v = kir_emit(b, KIR_DERIVED, kir_type_of(atlas_type), nargs, args);
    v->u.derived.fn = fn;
    v->u.derived.atlas_type = (uint8_t)atlas_type;
    return v;
}

kir_value *kir_if_begin(kir_builder *b, kir_value *cond) {
    kir_value *v = kir_emit(b, KIR_IF, KIR_VOID, 1, &cond);
    if (b->failed) return v;
    v->body[0] = new_region(b, v);
    v->body[1] = new_region(b, v);
    if (!v->body[0] || !v->body[1]) {
        v->body[0] = v->body[1] = &b->dummy_region;
        return fail(b, KIR_VOID);
    }
    b->region = v->body[0];
    return v;
}

void kir_if_else(kir_builder *b, kir_value *branch) {
    if (!b->failed) b->region = branch->body[1];
}

void kir_if_end(kir_builder *b, kir_value *branch) {
    if (!b->failed) b->region = branch->parent;
}

kir_value *kir_loop_begin(kir_builder *b, bool bounded) {
    kir_value *v = kir_emit(b, KIR_LOOP, KIR_VOID, 0, NULL);
    if (b->failed) return v;
    v->u.loop.bounded = bounded;
    v->body[0] = new_region(b, v);
    if (!v->body[0]) {
        v->body[0] = &b->dummy_region;
        return fail(b, KIR_VOID);
    }
    b->region = v->body[0];
    return v;
}

void kir_loop_end(kir_builder *b, kir_value *loop) {
    if (!b->failed) b->region = loop->parent;
}

kir_for kir_for_begin(kir_builder *b, kir_value *n) {
    kir_for f;
    f.index = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, "i");
    kir_set(b, f.index, kir_const(b, HG_TYPE_U32, 0));
    f.loop = kir_loop_begin(b, true);
    f.i = kir_get(b, f.index);
    kir_value *inside = kir_if_begin(b, kir_not(b, kir_binary(b, KIR_CMP_ULT, f.i, n)));
    kir_break(b);
    kir_if_end(b, inside);
    return f;
}

void kir_for_end(kir_builder *b, kir_for *f) {
    kir_set(b, f->index, kir_add(b, f->i, kir_const(b, HG_TYPE_U32, 1)));
    kir_loop_end(b, f->loop);
}

void kir_break(kir_builder *b) { kir_emit(b, KIR_BREAK, KIR_VOID, 0, NULL); }
void kir_continue(kir_builder *b) { kir_emit(b, KIR_CONTINUE, KIR_VOID, 0, NULL); }
void kir_exit(kir_builder *b) { kir_emit(b, KIR_EXIT, KIR_VOID, 0, NULL); }

void kir_fault_if(kir_builder *b, kir_value *cond, kir_fault code, uint8_t operand,
                  const char *message) {
    kir_fault_if_values(b, cond, code, operand, message, 0, NULL);
}

kir_value *kir_fault_if_values(kir_builder *b, kir_value *cond, kir_fault code, uint8_t operand,
                               const char *message, uint8_t count, kir_value *const *values) {
    kir_value *args[1 + KIR_FAULT_VALUES] = {cond};
    for (uint8_t i = 0; i < count; i++) args[1 + i] = values[i];
    kir_value *v = kir_emit(b, KIR_FAULT_IF, KIR_VOID, (uint8_t)(1 + count), args);
    v->u.fault.code = (uint8_t)code;
    v->u.fault.operand = operand;
    v->u.fault.values = count;
    v->u.fault.message = message;
    return v;
}
