/* Modules, functions, variables, tables of the kernel IR, and walks over their operations. */
#include "kir/kir.h"
#include <hologram/program.h>
#include <string.h>

/* clang-format off */
enum {
    ARGS_0, ARGS_1, ARGS_2, ARGS_3, ARGS_V = KIR_ARGS_ANY,
    COMMUTES = KIR_F_COMMUTES, CHEAP = KIR_F_CHEAP, DIVIDES = KIR_F_DIVIDES, SHIFTS = KIR_F_SHIFTS, LOGIC = KIR_F_LOGIC,
    PURE = KIR_F_PURE, EFFECT = KIR_F_EFFECT, ACCESS = KIR_F_ACCESS, JUMP = KIR_F_JUMP, WORDS = KIR_F_WORDS,
    VALUES = KIR_F_VALUE | KIR_F_PURE
};
#define KIR_CLASS_FLAGS(class) ((class) == KIR_CLASS_INT || (class) == KIR_CLASS_FLOAT || (class) == KIR_CLASS_ANY || (class) == KIR_CLASS_CONVERT || (class) == KIR_CLASS_DOT ? VALUES : 0)
const kir_op_info KIR_OPS[KIR_OP_COUNT] = {
#define KIR_OP(id, text, args, result, class, flags) \
    [KIR_##id] = {text, (uint16_t)((flags) | KIR_CLASS_FLAGS(KIR_CLASS_##class)), ARGS_##args, KIR_RESULT_##result, KIR_CLASS_##class},
#include "kir/prim.def"
#undef KIR_OP
};
/* clang-format on */

const char *kir_op_name(kir_op op) { return op < KIR_OP_COUNT ? KIR_OPS[op].text : "?"; }

const char *kir_fn_name(uint16_t fn) {
    static const char *const OWN[] = {
#define KIR_FUNCTION(id, text) text,
#include "kir/prim.def"
#undef KIR_FUNCTION
    };
    return fn < HG_OP_COUNT ? hg_op_get((hg_op)fn)->text : OWN[fn - HG_OP_COUNT];
}

uint16_t kir_fn_of_name(hg_opname name) {
    hg_op op = hg_opname_op(name);
    if (op != HG_OP_NONE) return (uint16_t)op;
    uint16_t fn = HG_OP_COUNT;
    while (strcmp(kir_fn_name(fn), hg_opname_name(name)) != 0)
        fn++; /* every name without an instruction has a function */
    return fn;
}

static const uint8_t KINDS[] = {
    [KIR_KIND_U8] = HG_TYPE_U8,   [KIR_KIND_U16] = HG_TYPE_U16, [KIR_KIND_U32] = HG_TYPE_U32,
    [KIR_KIND_U64] = HG_TYPE_U64, [KIR_KIND_F32] = HG_TYPE_F32, [KIR_KIND_F64] = HG_TYPE_F64};

int kir_kind_of(uint8_t type) {
    if (type == KIR_BOOL) return 0;
    for (int kind = 0; kind < KIR_KIND_COUNT; kind++)
        if (KINDS[kind] == type) return kind;
    return -1;
}

uint8_t kir_kind_type(int kind) { return KINDS[kind]; }

static const struct {
    uint8_t part, axis;
} DEVICE_IDS[] = {
#define KIR_DEVICE_ID(id, text, part, axis) {KIR_DEVICE_##part, axis},
#include "kir/prim.def"
#undef KIR_DEVICE_ID
};

kir_device_part kir_device_id_part(kir_device_id id) {
    return (kir_device_part)DEVICE_IDS[id].part;
}
uint32_t kir_device_id_axis(kir_device_id id) { return DEVICE_IDS[id].axis; }

kir_device_id kir_device_id_of(kir_device_part part, uint32_t axis) {
    uint32_t id = 0;
    while (id + 1 < KIR_DEVICE_ID_COUNT &&
           (DEVICE_IDS[id].part != part || DEVICE_IDS[id].axis != axis))
        id++;
    return (kir_device_id)id;
}

const char *kir_type_name(uint8_t type) {
    if (type == KIR_BOOL) return "bool";
    if (type == KIR_VOID) return "void";
    return hg_type_name((hg_type)type);
}

uint64_t kir_type_bytes(uint8_t type) {
    if (type == KIR_BOOL) return 1;
    return type < HG_TYPE_COUNT ? hg_type_size_bytes((hg_type)type) : 0;
}

uint32_t kir_type_bits(uint8_t type) {
    return type == KIR_BOOL ? 1 : (uint32_t)(kir_type_bytes(type) * 8);
}

bool kir_type_is_float(uint8_t type) { return type == HG_TYPE_F32 || type == HG_TYPE_F64; }

uint8_t kir_type_of(hg_type type) {
    if (kir_is_half(type)) return HG_TYPE_U16;
    if (type >= HG_TYPE_I8 && type <= HG_TYPE_I4096)
        return (uint8_t)(type - HG_TYPE_I8 + HG_TYPE_U8);
    return (uint8_t)type;
}

kir_module *kir_module_create(const char *name) {
    kir_module *m = hg_calloc(1, sizeof *m);
    if (!m) return NULL;
    m->name = hg_arena_text(&m->arena, name, strlen(name));
    if (!m->name) {
        kir_module_destroy(m);
        return NULL;
    }
    return m;
}

hg_status kir_fail_making(const kir_module *m) {
    if (!m || !m->most || m->made <= m->most) return hg_fail_memory();
    hg_status status = hg_fail(HG_ERROR_ISA,
                               "'%s' is too large when it is lowered: more than %llu operations",
                               m->name, (unsigned long long)m->most);
    memcpy(hg_error_record()->code, "S05", 4);
    return status;
}

void kir_module_destroy(kir_module *m) {
    if (!m) return;
    hg_vec_free(&m->inputs);
    hg_vec_free(&m->slots);
    hg_program_release(m->owned_program);
    hg_arena_free(&m->arena);
    hg_free(m);
}

static const char *copy_name(kir_module *m, const char *name) {
    return name ? hg_arena_text(&m->arena, name, strlen(name)) : NULL;
}

kir_function *kir_function_create(kir_module *m, const char *name, uint8_t result) {
    kir_function *f = hg_arena_alloc(&m->arena, sizeof *f);
    kir_region *body = hg_arena_alloc(&m->arena, sizeof *body);
    const char *own_name = copy_name(m, name);
    if (!f || !body || !own_name) return NULL;
    f->module = m;
    f->name = own_name;
    f->id = m->function_count++;
    f->result = result;
    f->body = body;
    if (m->last_function)
        m->last_function->next = f;
    else
        m->functions = f;
    m->last_function = f;
    return f;
}

kir_op kir_limbs_op(const kir_function *f) {
    kir_op op = f->limbs_op ? (kir_op)(f->limbs_op - 1) : KIR_OP_COUNT;
    uint8_t arrays = op == KIR_DERIVED ? 4 : 3;
    if (!f->limbs_op || f->param_count || f->array_count != arrays || f->result != KIR_VOID)
        return KIR_OP_COUNT;
    for (uint8_t i = 0; i < arrays; i++)
        if (f->array_params[i]->type != HG_TYPE_U64 ||
            f->array_params[i]->length != f->array_params[0]->length)
            return KIR_OP_COUNT;
    return f->array_params[0]->length <= 64 ? op : KIR_OP_COUNT;
}

kir_function *kir_helper(kir_module *m, const char *name, uint8_t result, uint8_t params,
                         const uint8_t *types, bool *fresh) {
    *fresh = false;
    for (kir_function *f = m->functions; f; f = f->next)
        if (f->helper && strcmp(f->name, name) == 0) return f;
    kir_function *f = kir_function_create(m, name, result);
    if (!f) return NULL;
    f->helper = *fresh = true;
    f->param_count = params;
    for (uint8_t i = 0; i < params; i++) f->param_types[i] = types[i];
    return f;
}

kir_var *kir_var_create(kir_module *m, kir_function *f, uint8_t type, uint32_t length,
                        const char *name) {
    kir_var *v = hg_arena_alloc(&m->arena, sizeof *v);
    if (!v) return NULL;
    v->function = f;
    v->type = type;
    v->length = length;
    v->id = m->var_count++;
    v->name = copy_name(m, name);
    if (m->last_var)
        m->last_var->next = v;
    else
        m->vars = v;
    m->last_var = v;
    return v;
}

kir_var *kir_array_param(kir_function *f, uint8_t type, uint32_t length, const char *name) {
    if (f->array_count == HG_COUNT_OF(f->array_params)) return NULL;
    kir_var *v = kir_var_create(f->module, f, type, length, name);
    if (!v) return NULL;
    v->by_reference = true;
    f->array_params[f->array_count++] = v;
    return v;
}

kir_table *kir_table_create(kir_module *m, uint8_t type, uint32_t length, const void *data,
                            const char *name) {
    kir_table *t = hg_arena_alloc(&m->arena, sizeof *t);
    size_t bytes = (size_t)(length * kir_type_bytes(type));
    void *copy = hg_arena_alloc(&m->arena, bytes);
    if (!t || !copy) return NULL;
    memcpy(copy, data, bytes);
    t->type = type;
    t->length = length;
    t->data = copy;
    t->name = copy_name(m, name);
    t->id = m->table_count++;
    t->next = m->tables;
    m->tables = t;
    return t;
}

kir_value *kir_walk(const kir_value *v, const kir_region *root) {
    if (!v) return root->first;
    for (int i = 0; i < 2; i++)
        if (v->body[i] && v->body[i]->first) return v->body[i]->first;
    for (;;) {
        if (v->next) return v->next;
        const kir_region *region = v->parent;
        if (region == root) return NULL;
        const kir_value *owner = region->owner;
        if (owner->body[0] == region && owner->body[1] && owner->body[1]->first)
            return owner->body[1]->first;
        v = owner;
    }
}

uint32_t kir_number(kir_function *f) {
    uint32_t id = 0;
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body), id++)
        if (v->id != id) v->id = id; /* threads may read what is numbered already */
    if (f->value_count != id) f->value_count = id;
    return id;
}

void kir_count_uses(kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) v->uses = 0;
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            for (uint8_t i = 0; i < v->nargs; i++) v->args[i]->uses++;
}

kir_value *kir_loop_around(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (r->owner->op == KIR_LOOP) return r->owner;
    return NULL;
}

kir_value *kir_outermost_loop(const kir_value *v) {
    kir_value *loop = NULL;
    for (kir_value *o = kir_loop_around(v); o; o = kir_loop_around(o)) loop = o;
    return loop;
}

bool kir_functions_exit(const kir_module *m) {
    for (const kir_function *f = m->functions->next; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_EXIT) return true;
    return false;
}

bool kir_in_loops_only(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (r->owner->op != KIR_LOOP) return false;
    return true;
}

bool kir_is_integer_value(const kir_value *v) {
    switch ((kir_op_class)KIR_OPS[v->op].class) {
    case KIR_CLASS_INT:
    case KIR_CLASS_DOT: return true;
    case KIR_CLASS_ANY: return !kir_type_is_float(v->type);
    case KIR_CLASS_CONVERT:
        return !kir_type_is_float(v->type) && !kir_type_is_float(v->args[0]->type);
    default: return false;
    }
}

bool kir_has_side_effect(const kir_value *v) {
    if (v->op == KIR_LOAD) return !v->u.mem.unchecked; /* it may fault */
    if (v->op == KIR_CALL)
        return !(v->u.call.function->pure && v->u.call.function->array_count == 0);
    return kir_op_has((kir_op)v->op, KIR_F_EFFECT);
}

void kir_remove(kir_value *v) {
    if (v->prev)
        v->prev->next = v->next;
    else
        v->parent->first = v->next;
    if (v->next)
        v->next->prev = v->prev;
    else
        v->parent->last = v->prev;
    v->prev = v->next = NULL;
    v->parent = NULL;
}

void kir_insert(kir_region *to, kir_value *before, kir_value *first, kir_value *last) {
    kir_value *after = before ? before->prev : to->last;
    for (kir_value *v = first; v != last; v = v->next) v->parent = to;
    last->parent = to;
    first->prev = after;
    last->next = before;
    if (after)
        after->next = first;
    else
        to->first = first;
    if (before)
        before->prev = last;
    else
        to->last = last;
}

void kir_splice(kir_region *to, kir_value *before, kir_region *from) {
    if (from->first) kir_insert(to, before, from->first, from->last);
    from->first = from->last = NULL;
}
