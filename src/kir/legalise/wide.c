/* Wide integers (u128 … u4096) become private arrays of limbs, their operations calls of functions
 * that loop over limbs. A value's array is handed to another value after its last use, so a
 * function needs as many arrays as values live at once.
 * Requires: called by the pass over wide integers. */
#include "kir/legalise/wide.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <string.h>

kir_var *wide_take_array(rewrite_pass *p, uint8_t type) {
    kir_var **list = &wide(p)->unused[type - HG_TYPE_U128], *v = *list;
    if (v)
        *list = v->scratch;
    else
        v = kir_var_create(p->out, p->b.function, wide(p)->limb, wide_limbs(p, type), NULL);
    if (!v)
        p->b.failed = true;
    else
        v->scratch = NULL;
    return v;
}

void wide_give_array(rewrite_pass *p, uint8_t type, kir_var *array) {
    kir_var **list = &wide(p)->unused[type - HG_TYPE_U128];
    array->scratch = *list;
    *list = array;
}

static kir_var *array_of(const rewrite_pass *p, const kir_value *v, uint8_t i) {
    return p->values[v->args[i]->id].array;
}

/* ---- where each value's array is free again ---- */

void wide_begin_arrays(rewrite_pass *p) {
    wide_state *s = wide(p);
    const kir_function *f = p->function;
    memset(s->unused, 0, sizeof s->unused);
    if (s->values) return;
    for (uint32_t i = 0; i < f->value_count; i++) s->release[i] = s->release_next[i] = 0;
    uint32_t *last = hg_calloc(f->value_count + 1u, sizeof *last);
    if (!last) {
        p->b.failed = true;
        return;
    }
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        last[v->id] = v->id;
        for (uint8_t i = 0; i < v->nargs; i++) {
            if (!is_wide(v->args[i]->type)) continue;
            const kir_value *user = v; /* the operation beside the definition that holds this use */
            while (user->parent != v->args[i]->parent) user = user->parent->owner;
            last[v->args[i]->id] = user->id;
        }
    }
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (!is_wide(v->type)) continue;
        s->release_next[v->id] = s->release[last[v->id]];
        s->release[last[v->id]] = v->id + 1;
    }
    hg_free(last);
}

void wide_release_arrays(rewrite_pass *p, const kir_value *v) {
    wide_state *s = wide(p);
    for (uint32_t id = s->release[v->id]; id && !s->values; id = s->release_next[id - 1]) {
        kir_var *array = p->values[id - 1].array;
        if (!array) continue;
        uint8_t type = HG_TYPE_U128;
        while (wide_limbs(p, type) != array->length) type++;
        wide_give_array(p, type, array);
    }
}

/* ---- operations ---- */

static void call_binary(rewrite_pass *p, const kir_value *v, kir_op op) {
    kir_var *r = wide_take_array(p, v->type);
    p->values[v->id].array = r;
    kir_call(&p->b, wide_function(p, op, v->type), 0, NULL,
             (kir_var *[]){r, array_of(p, v, 0), array_of(p, v, 1)});
}

static void fill_from(rewrite_pass *p, kir_var *r, uint8_t type, uint32_t from, kir_value *value) {
    kir_value *args[] = {u32(&p->b, from), value};
    kir_call(&p->b, wide_fill(p, type), 2, args, &r);
}

/* A constant: few limbs are set one by one over a fill, many come from a table. */
static void constant(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    wide_state *s = wide(p);
    uint32_t n = wide_limbs(p, v->type), size = s->limb_bits / 8, low = n;
    kir_var *r = wide_take_array(p, v->type);
    p->values[v->id].array = r;
    uint64_t limbs[128];
    for (uint32_t i = 0; i < n; i++) {
        limbs[i] = 0;
        memcpy(&limbs[i], v->u.bytes + i * size, size);
    }
    while (low > 0 && limbs[low - 1] == limbs[n - 1]) low--;
    if (low <= 2) {
        fill_from(p, r, v->type, low, kir_const(b, s->limb, limbs[n - 1]));
        for (uint32_t i = 0; i < low; i++)
            kir_array_set(b, r, u32(b, i), kir_const(b, s->limb, limbs[i]));
        return;
    }
    kir_table *table = kir_table_create(p->out, s->limb, n, v->u.bytes, NULL);
    kir_for i = kir_for_begin(b, u32(b, n));
    kir_array_set(b, r, i.i, kir_table_get(b, table, i.i));
    kir_for_end(b, &i);
}

/* One module input a limb, appended to the module's inputs once. */
static void add_inputs(rewrite_pass *p, const kir_value *v) {
    wide_state *s = wide(p);
    s->limbs_of_input[v->u.imm] = (uint32_t)p->out->inputs.count;
    for (uint32_t i = 0; i < wide_limbs(p, v->type); i++) {
        kir_input *in = hg_vec_push(&p->out->inputs);
        if (!in) {
            p->b.failed = true;
            return;
        }
        *in = p->in->inputs.data[v->u.imm];
        in->name = p->out->inputs.data[v->u.imm].name; /* the copy's own */
        in->type = s->limb;
        in->limb_bytes = (uint8_t)(s->limb_bits / 8);
        in->limb = (uint16_t)i;
    }
}

kir_value *wide_input(rewrite_pass *p, const kir_value *v, uint32_t limb) {
    const uint32_t *first = &wide(p)->limbs_of_input[v->u.imm];
    if (*first == 0) add_inputs(p, v);
    kir_value *made = kir_emit(&p->b, KIR_INPUT, wide(p)->limb, 0, NULL);
    made->u.imm = *first + limb;
    return made;
}

static void input(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    kir_var *r = wide_take_array(p, v->type);
    p->values[v->id].array = r;
    for (uint32_t i = 0; i < wide_limbs(p, v->type); i++)
        kir_array_set(b, r, u32(b, i), wide_input(p, v, i));
}

/* A scalar in the low limbs of a new array, the rest filled. */
static void widen(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    wide_state *s = wide(p);
    kir_var *r = wide_take_array(p, v->type);
    p->values[v->id].array = r;
    kir_value *x = rewrite_arg(p, v, 0), *last = x;
    uint32_t from = kir_type_bits(x->type), used = 1;
    if (from < s->limb_bits) {
        last = kir_convert(b, (kir_op)v->op, s->limb, x);
    } else if (from > s->limb_bits) {
        last = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, kir_binary(b, KIR_LSHR, x, u32(b, 32)));
        kir_array_set(b, r, u32(b, 1), last);
        x = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, x);
        used = 2;
    }
    kir_array_set(b, r, u32(b, 0), used == 2 ? x : last);
    kir_value *fill = kir_const(b, s->limb, 0);
    if (v->op == KIR_SEXT) fill = kir_binary(b, KIR_ASHR, last, u32(b, s->limb_bits - 1));
    fill_from(p, r, v->type, used, fill);
}

static kir_value *narrow(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    wide_state *s = wide(p);
    kir_var *a = array_of(p, v, 0);
    kir_value *low = kir_array_get(b, a, u32(b, 0));
    uint32_t to = kir_type_bits(v->type);
    if (to == s->limb_bits) return low;
    if (to < s->limb_bits) return kir_convert(b, KIR_TRUNC, v->type, low);
    kir_value *high = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, kir_array_get(b, a, u32(b, 1)));
    return kir_binary(b, KIR_OR, kir_binary(b, KIR_SHL, high, u32(b, 32)),
                      kir_convert(b, KIR_ZEXT, HG_TYPE_U64, low));
}

static bool convert(rewrite_pass *p, const kir_value *v) {
    uint8_t from = v->args[0]->type;
    if (!is_wide(v->type) && !is_wide(from)) return false;
    bool extend = v->op == KIR_ZEXT || v->op == KIR_SEXT;
    if (extend && !is_wide(from)) {
        widen(p, v);
    } else if (v->op == KIR_TRUNC && !is_wide(v->type)) {
        rewrite_set(p, v, narrow(p, v));
    } else if (v->op == KIR_U2F || v->op == KIR_S2F) {
        rewrite_set(p, v,
                    kir_call(&p->b, wide_convert(p, (kir_op)v->op, v->type, from), 0, NULL,
                             (kir_var *[]){array_of(p, v, 0)}));
    } else {
        kir_var *r = wide_take_array(p, v->type);
        p->values[v->id].array = r;
        kir_function *f = wide_convert(p, (kir_op)v->op, v->type, from);
        if (extend || v->op == KIR_TRUNC) {
            kir_call(&p->b, f, 0, NULL, (kir_var *[]){r, array_of(p, v, 0)});
        } else {
            kir_value *x = rewrite_arg(p, v, 0);
            kir_call(&p->b, f, 1, &x, &r);
        }
    }
    return true;
}

/* A checked flat address with the displacement in its 40-bit offset, so that limbs can be added to
 * it without a carry. */
static kir_value *flat_base(kir_builder *b, kir_value *address, int64_t disp) {
    kir_value *mask = kir_const(b, HG_TYPE_U64, (UINT64_C(1) << 40) - 1);
    kir_value *moved = kir_add(b, address, kir_const(b, HG_TYPE_U64, (uint64_t)disp));
    kir_value *changed = kir_binary(b, KIR_AND, kir_binary(b, KIR_XOR, address, moved), mask);
    return kir_binary(b, KIR_XOR, address, changed);
}

/* The access is checked as a whole, then goes limb by limb: index + i · size, unchecked. */
static void memory(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    wide_state *s = wide(p);
    bool store = v->op == KIR_STORE;
    kir_access of = kir_access_of(v);
    uint8_t type = store ? v->args[of.value]->type : v->type, count = of.value, handles = of.index,
            size = (uint8_t)(s->limb_bits / 8);
    kir_value *args[4] = {0};
    for (uint8_t i = 0; i < count; i++) args[i] = rewrite_arg(p, v, i);
    if (!v->u.mem.unchecked) {
        kir_value *check = kir_emit(b, KIR_CHECK, KIR_VOID, count, args);
        check->u.mem = v->u.mem;
        check->u.mem.bytes_wide = (uint16_t)kir_type_bytes(type);
    }
    kir_var *r = store ? array_of(p, v, (uint8_t)(v->nargs - 1)) : wide_take_array(p, type);
    p->values[v->id].array = r;
    bool flat = v->u.mem.space == KIR_FLAT;
    if (flat) args[0] = flat_base(b, args[0], v->u.mem.disp);
    kir_for i = kir_for_begin(b, u32(b, wide_limbs(p, type)));
    kir_value *offset = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, kir_mul(b, i.i, u32(b, size)));
    kir_value *index = v->u.mem.has_index ? kir_add(b, args[handles], offset) : offset;
    kir_value *access_args[4] = {args[0], args[1], NULL, NULL};
    uint8_t given = flat ? 1 : (uint8_t)(handles + 1);
    access_args[given - 1] = flat ? kir_add(b, args[0], offset) : index;
    if (store) access_args[given] = kir_array_get(b, r, i.i);
    kir_value *access = kir_emit(b, (kir_op)v->op, store ? KIR_VOID : s->limb,
                                 (uint8_t)(given + (store ? 1 : 0)), access_args);
    access->u.mem = v->u.mem;
    access->u.mem.has_index = !flat;
    if (flat) access->u.mem.disp = 0;
    access->u.mem.bytes = size;
    access->u.mem.bytes_wide = size;
    access->u.mem.unchecked = 1;
    if (!store) kir_array_set(b, r, i.i, access);
    kir_for_end(b, &i);
    if (store) p->values[v->id].array = NULL;
}

static bool lower_on_wide(rewrite_pass *p, const kir_value *v, uint8_t type) {
    kir_builder *b = &p->b;
    kir_op op = (kir_op)v->op;
    switch (op) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_MUL:
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM:
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR: call_binary(p, v, op); return true;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: {
        kir_value *amount = rewrite_arg(p, v, 1);
        kir_var *r = wide_take_array(p, type);
        p->values[v->id].array = r;
        kir_call(b, wide_function(p, op, type), 1, &amount, (kir_var *[]){r, array_of(p, v, 0)});
        return true;
    }
    case KIR_CMP_EQ:
    case KIR_CMP_ULT:
    case KIR_CMP_SLT: {
        kir_value *flag = kir_call(b, wide_function(p, op, type), 0, NULL,
                                   (kir_var *[]){array_of(p, v, 0), array_of(p, v, 1)});
        rewrite_set(p, v, kir_binary(b, KIR_CMP_EQ, flag, u32(b, 1)));
        return true;
    }
    case KIR_CLZ: {
        kir_value *n = kir_call(b, wide_function(p, op, type), 0, NULL,
                                (kir_var *[]){array_of(p, v, 0)});
        kir_var *r = wide_take_array(p, type);
        p->values[v->id].array = r;
        if (wide(p)->limb != HG_TYPE_U32) n = kir_convert(b, KIR_ZEXT, wide(p)->limb, n);
        kir_array_set(b, r, u32(b, 0), n);
        fill_from(p, r, type, 1, kir_const(b, wide(p)->limb, 0));
        return true;
    }
    default: return false;
    }
}

bool wide_lower_arrays(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    switch ((kir_op)v->op) {
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC:
    case KIR_U2F:
    case KIR_S2F:
    case KIR_F2U:
    case KIR_F2S: return convert(p, v);
    case KIR_STORE:
        if (!is_wide(v->args[v->nargs - 1]->type)) return false;
        memory(p, v);
        return true;
    case KIR_VAR_SET:
        if (!is_wide(v->args[0]->type)) return false;
        kir_call(b, wide_copy(p, v->args[0]->type), 0, NULL,
                 (kir_var *[]){p->vars[v->u.var->id].v[0], array_of(p, v, 0)});
        return true;
    default: break;
    }
    uint8_t type = v->nargs ? v->args[0]->type : v->type;
    if (is_wide(type) && lower_on_wide(p, v, type)) return true;
    if (!is_wide(v->type)) return false;
    kir_var *r;
    switch ((kir_op)v->op) {
    case KIR_DERIVED: {
        kir_var *arrays[] = {wide_take_array(p, v->type), array_of(p, v, 0), array_of(p, v, 1),
                             array_of(p, v, 2)};
        p->values[v->id].array = arrays[0];
        kir_call(b, wide_powm(p, v->type), 0, NULL, arrays);
        return true;
    }
    case KIR_CONST: constant(p, v); return true;
    case KIR_INPUT: input(p, v); return true;
    case KIR_LOAD: memory(p, v); return true;
    case KIR_SELECT: {
        kir_value *flag = kir_select(b, rewrite_arg(p, v, 0), u32(b, 1), u32(b, 0));
        r = wide_take_array(p, v->type);
        p->values[v->id].array = r;
        kir_call(b, wide_function(p, KIR_SELECT, v->type), 1, &flag,
                 (kir_var *[]){r, array_of(p, v, 1), array_of(p, v, 2)});
        return true;
    }
    case KIR_VAR_GET: /* a copy: the variable may change before the value's last use */
        r = wide_take_array(p, v->type);
        p->values[v->id].array = r;
        kir_call(b, wide_copy(p, v->type), 0, NULL, (kir_var *[]){r, p->vars[v->u.var->id].v[0]});
        return true;
    default: /* no definition has wide parameters, no table or array wide elements */
        p->b.failed = true;
        return true;
    }
}

bool wide_declare_array(rewrite_pass *p, const kir_var *v, kir_function *owner) {
    kir_var *copy = kir_var_create(p->out, owner, wide(p)->limb, wide_limbs(p, v->type), v->name);
    p->vars[v->id].v[0] = copy;
    if (!copy || v->length) p->b.failed = true;
    return true;
}
