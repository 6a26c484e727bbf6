#include "support/kir_text.h"
#include "kir/parse.h"
#include "kir/step.h"
#include <stdio.h>
#include <string.h>

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* NULL and "" are both nameless. */
static bool same_name(const char *a, const char *b) {
    return same_text(a && *a ? a : NULL, b && *b ? b : NULL);
}

static bool same_var(const kir_var *a, const kir_var *b) {
    if (!a || !b) return a == b;
    return same_name(a->name, b->name) && a->type == b->type && a->length == b->length &&
           a->by_reference == b->by_reference &&
           (a->function ? a->function->id : UINT32_MAX) ==
               (b->function ? b->function->id : UINT32_MAX);
}

/* Which variable of its home and name it is. */
static uint32_t place_of(const kir_module *m, const kir_var *v) {
    uint32_t n = 0;
    for (const kir_var *x = m->vars; x && x != v; x = x->next)
        n += x->function == v->function && x->by_reference == v->by_reference &&
             same_name(x->name, v->name);
    return n;
}

typedef struct pair {
    const kir_module *a, *b;
} pair;

static bool same_use(const pair *p, const kir_var *a, const kir_var *b) {
    return same_var(a, b) &&
           (!a || p->a->var_count > 500 || place_of(p->a, a) == place_of(p->b, b));
}

static bool same_mem(const pair *p, const kir_value *a, const kir_value *b) {
    return a->u.mem.space == b->u.mem.space && a->u.mem.bytes == b->u.mem.bytes &&
           a->u.mem.has_index == b->u.mem.has_index && a->u.mem.split == b->u.mem.split &&
           a->u.mem.unchecked == b->u.mem.unchecked &&
           a->u.mem.volatile_access == b->u.mem.volatile_access &&
           a->u.mem.atomic == b->u.mem.atomic && a->u.mem.class_id == b->u.mem.class_id &&
           a->u.mem.operand == b->u.mem.operand && a->u.mem.bytes_wide == b->u.mem.bytes_wide &&
           a->u.mem.slot == b->u.mem.slot && a->u.mem.disp == b->u.mem.disp &&
           same_use(p, a->u.mem.high, b->u.mem.high);
}

static bool same_step(const kir_value *a, const kir_value *b) {
    const kir_step *s = a->u.step.info, *t = b->u.step.info;
    bool same = a->u.step.op == b->u.step.op && a->u.step.atlas_type == b->u.step.atlas_type &&
                s->count == t->count;
    for (uint32_t i = 0; i < s->count && same; i++) {
        const kir_step_operand *x = &s->operands[i], *y = &t->operands[i];
        same = x->kind == y->kind && x->operand == y->operand && x->first_arg == y->first_arg &&
               x->arg_count == y->arg_count && x->space == y->space &&
               x->has_index == y->has_index && x->class_id == y->class_id &&
               x->access == y->access && x->disp == y->disp && x->value == y->value;
    }
    return same;
}

static bool same_call(const pair *p, const kir_value *a, const kir_value *b) {
    const kir_function *f = a->u.call.function;
    bool same = f->id == b->u.call.function->id;
    for (uint8_t i = 0; i < f->array_count && same; i++)
        same = same_use(p, a->u.call.arrays[i], b->u.call.arrays[i]);
    return same;
}

static bool same_fields(const pair *p, const kir_value *a, const kir_value *b) {
    switch ((kir_op)a->op) {
    case KIR_CONST:
        if (kir_type_bytes(a->type) > 8)
            return memcmp(a->u.bytes, b->u.bytes, (size_t)kir_type_bytes(a->type)) == 0;
        return a->u.imm == b->u.imm;
    case KIR_INPUT:
    case KIR_PARAM:
    case KIR_ID:
    case KIR_FENCE:
    case KIR_BARRIER: return a->u.imm == b->u.imm;
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return same_use(p, a->u.var, b->u.var);
    case KIR_TABLE_GET: return a->u.table->id == b->u.table->id;
    case KIR_CALL: return same_call(p, a, b);
    case KIR_DERIVED:
        return a->u.derived.fn == b->u.derived.fn &&
               a->u.derived.atlas_type == b->u.derived.atlas_type;
    case KIR_LOOP:
        return a->u.loop.bounded == b->u.loop.bounded && a->u.loop.once == b->u.loop.once;
    case KIR_FAULT_IF:
        return a->u.fault.code == b->u.fault.code && a->u.fault.operand == b->u.fault.operand &&
               a->u.fault.values == b->u.fault.values &&
               same_text(a->u.fault.message, b->u.fault.message);
    case KIR_STEP: return same_step(a, b);
    default: return !kir_is_access(a) || same_mem(p, a, b);
    }
}

static uint64_t most(const kir_value *v) {
    uint32_t bits = kir_type_bits(v->type);
    uint64_t top = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return v->umax < top ? v->umax : top;
}

static bool same_facts(const kir_value *a, const kir_value *b) {
    if (a->type == KIR_VOID || a->op == KIR_CONST) return true;
    return a->uniformity == b->uniformity &&
           (a->uniformity != KIR_AFFINE || a->stride == b->stride) && a->umin == b->umin &&
           most(a) == most(b);
}

static bool same_value(const pair *p, const kir_value *a, const kir_value *b) {
    bool same = a->op == b->op && a->type == b->type && a->nargs == b->nargs &&
                a->inst == b->inst && a->id == b->id && !a->body[0] == !b->body[0] &&
                !a->body[1] == !b->body[1] && !a->next == !b->next &&
                !a->parent->owner == !b->parent->owner;
    for (uint8_t i = 0; i < a->nargs && same; i++) same = a->args[i]->id == b->args[i]->id;
    return same && (!a->parent->owner || a->parent->owner->id == b->parent->owner->id) &&
           same_fields(p, a, b) && same_facts(a, b);
}

static bool same_function(const pair *p, const kir_function *a, const kir_function *b) {
    bool same = strcmp(a->name, b->name) == 0 && a->param_count == b->param_count &&
                a->array_count == b->array_count && a->result == b->result && a->pure == b->pure &&
                a->cold == b->cold && a->helper == b->helper &&
                memcmp(a->param_types, b->param_types, a->param_count) == 0;
    for (uint8_t i = 0; i < a->array_count && same; i++)
        same = same_var(a->array_params[i], b->array_params[i]);
    const kir_value *v = kir_walk(NULL, a->body), *w = kir_walk(NULL, b->body);
    for (; v && w && same; v = kir_walk(v, a->body), w = kir_walk(w, b->body))
        same = same_value(p, v, w);
    return same && !v == !w;
}

static bool same_input(const kir_input *a, const kir_input *b) {
    return a->kind == b->kind && a->type == b->type &&
           (a->kind == KIR_INPUT_PARAM ? a->reg == b->reg : a->index == b->index) &&
           a->limb_bytes == b->limb_bytes && (!a->limb_bytes || a->limb == b->limb) &&
           same_text(a->name, b->name) && a->is_buffer == b->is_buffer && a->is_pool == b->is_pool;
}

static bool same_slot(const kir_slot *a, const kir_slot *b) {
    return a->space == b->space && a->plan == b->plan && a->kind == b->kind &&
           a->constant == b->constant && a->read == b->read && a->written == b->written &&
           a->input == b->input && a->handle == b->handle && a->base == b->base;
}

static bool same_tables(const kir_table *a, const kir_table *b) {
    for (; a && b; a = a->next, b = b->next)
        if (a->type != b->type || a->length != b->length || !same_name(a->name, b->name) ||
            memcmp(a->data, b->data, (size_t)(a->length * kir_type_bytes(a->type))) != 0)
            return false;
    return !a == !b;
}

static bool same_module(const kir_module *a, const kir_module *b) {
    pair p = {a, b};
    bool same = same_name(a->name, b->name) && a->function_count == b->function_count &&
                a->var_count == b->var_count && a->table_count == b->table_count &&
                a->inputs.count == b->inputs.count && a->slots.count == b->slots.count &&
                a->has_open == b->has_open && a->uses_barrier == b->uses_barrier &&
                a->uses_shared == b->uses_shared && a->uses_class == b->uses_class &&
                a->has_step == b->has_step && a->relaxed == b->relaxed && a->facts == b->facts &&
                same_tables(a->tables, b->tables);
    for (uint64_t i = 0; i < a->inputs.count && same; i++)
        same = same_input(&a->inputs.data[i], &b->inputs.data[i]);
    for (uint64_t i = 0; i < a->slots.count && same; i++)
        same = same_slot(&a->slots.data[i], &b->slots.data[i]);
    const kir_function *f = a->functions, *g = b->functions;
    for (; f && g && same; f = f->next, g = g->next) same = same_function(&p, f, g);
    return same && !f == !g;
}

/* The first line that differs. */
static void show_difference(const char *what, const char *a, const char *b) {
    size_t i = 0, line = 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == '\n') line = i + 1;
    fprintf(stderr, "%s:\n  printed %.*s\n  again   %.*s\n", what, (int)strcspn(a + line, "\n"),
            a + line, (int)strcspn(b + line, "\n"), b + line);
}

static bool read_back(const char *what, const kir_module *m, const hg_text *text) {
    hg_diagnostics *d = hg_diagnostics_create(1);
    kir_module *n = NULL;
    hg_text again = {0};
    hg_status status = kir_parse(text->data, text->length, d, &n);
    char *errors = hg_diagnostics_print(d, what, text->data, text->length);
    if (status != HG_OK)
        fprintf(stderr, "%s: the text does not read: %s%s\n", what, hg_last_error()->message,
                errors);
    hg_string_free(errors);
    hg_diagnostics_destroy(d);
    if (status == HG_OK) status = kir_verify(n);
    if (n && status != HG_OK)
        fprintf(stderr, "%s: read back: %s\n", what, hg_last_error()->message);
    if (status == HG_OK) kir_print(&again, n);
    bool same = again.data && strcmp(text->data, again.data) == 0;
    if (again.data && !same) show_difference(what, text->data, again.data);
    if (same && !same_module(m, n)) {
        fprintf(stderr, "%s: the text reads back as itself, a field does not\n", what);
        same = false;
    }
    hg_text_free(&again);
    kir_module_destroy(n);
    return same;
}

bool kir_reads_back(const kir_module *m, const char *what) {
    kir_module own = *m; /* the text of instructions is a comment, which a module that was read
                            cannot have */
    own.program = NULL;
    hg_text text = {0};
    kir_print(&text, &own);
    bool same = text.data && !text.failed && read_back(what, m, &text);
    hg_text_free(&text);
    return same;
}
