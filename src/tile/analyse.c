/* Decides how every value lives in a tile: once for all lanes, as lane 0's with a stride, or a lane each; and which branches and
 * loops can send lanes different ways.
 * Starts from "everything is one value" and takes back what does not hold until nothing changes: a value is a vector when an
 * operand is; a variable when it is set to a vector, or in a place that only some of the active lanes reach.
 * Requires: a legalised module, kir_find_uniformity (of ids and variables, and which other values are affine). Provides: value_layout.form, .widened,
 * .divergent; var_layout.scalar; function_layout.param_form, .result_form, .divergent_*. */
#include "tile/compile_internal.h"
#include "kir/access.h"
#include "kir/define/define.h"
#include <string.h>

bool tile_is_pure(const kir_value *v) { return kir_is_value(v) || v->op == KIR_DERIVED; }

bool tile_is_border(const kir_value *v) {
    if (v->op != KIR_CMP_ULT || layout_of(v)->form != TILE_VECTOR) return false;
    const kir_value *a = v->args[0], *b = v->args[1];
    if (layout_of(a)->form == TILE_SCALAR && layout_of(b)->form == TILE_AFFINE) a = v->args[1], b = v->args[0];
    return layout_of(a)->form == TILE_AFFINE && layout_of(b)->form == TILE_SCALAR && (a->op == KIR_ID || a->stride > 0);
}

/* A function takes from 0.5 (exp, f32) to 3 ns (log, f64) a lane, 3.5 to 6 with two arguments, where an addition takes 0.05 to 0.1: what it counts
 * for where threads may share a launch. Less than it takes: a launch of some microseconds is not worth waking them. */
static uint32_t work_of(const kir_value *v) {
    if (kir_define_is_small(v->u.derived.fn, (hg_type)v->u.derived.atlas_type)) return 0;
    return 2 * (uint32_t)kir_type_bytes(v->type) * v->nargs;
}

/* ---- handlers ---- */

static tile_fn *derived_handler(const tile_handlers *h, const kir_value *v, unsigned variant) {
    for (uint32_t i = 0; i < h->derived_count; i++)
        if (h->derived[i].fn == v->u.derived.fn && h->derived[i].type == v->u.derived.atlas_type && h->derived[i].variant == variant)
            return h->derived[i].run;
    return NULL;
}

static tile_fn *look_up(const tile_handlers *h, const kir_value *v, unsigned variant) {
    if (v->op == KIR_DERIVED) return derived_handler(h, v, variant);
    int kind = kir_kind_of(v->args[0]->type), to = kir_kind_of(v->type);
    if (v->op == KIR_SELECT) {
        static const uint8_t BY_SIZE[] = {0, 1, 2, 3, 2, 3};
        return to < 0 ? NULL : h->op[KIR_SELECT][BY_SIZE[to]][variant];
    }
    if (kind < 0 || to < 0) return NULL;
    if (kir_op_get((kir_op)v->op)->class == KIR_CLASS_CONVERT) return h->convert[v->op][kind][to];
    return h->op[v->op][kind][variant];
}

static bool is_copy(const kir_value *v) {
    if (v->op != KIR_BITCAST && v->op != KIR_ZEXT && v->op != KIR_TRUNC) return false;
    if (v->type == KIR_BOOL && v->args[0]->type != KIR_BOOL) return false;
    return kir_type_bytes(v->type) == kir_type_bytes(v->args[0]->type);
}

tile_choice tile_choose(const tile_handlers *h, const kir_value *v, uint8_t scalars) {
    tile_choice choice = {0};
    if (is_copy(v)) {
        choice.found = true;
        return choice;
    }
    bool swaps = kir_op_has((kir_op)v->op, KIR_F_COMMUTES);
    int best = -1;
    for (unsigned bits = 0; bits < 8; bits++) {
        if (bits & ~(unsigned)scalars || hg_popcount32(bits) <= best) continue;
        unsigned swapped = (bits & 4) | (bits & 1) << 1 | (bits >> 1 & 1);
        tile_fn *run = look_up(h, v, bits), *run_swapped = swaps && !run ? look_up(h, v, swapped) : NULL;
        if (!run && !run_swapped) continue;
        best = hg_popcount32(bits);
        choice.run = run ? run : run_swapped;
        choice.swap = !run;
        choice.variant = (uint8_t)(run ? bits : swapped);
        choice.found = true;
    }
    return choice;
}

/* ---- forms ---- */

enum { ROUNDS = 24 };

typedef struct analysis {
    tile_layout *layout;
    kir_function *f;
    bool changed;
} analysis;

/* Whether all lanes of a tile have the same value, whoever of them is active. */
static bool is_same_in_tile(const kir_value *v, bool block_mode) {
    return v->uniformity == KIR_UNIFORM || (v->uniformity == KIR_BLOCK_UNIFORM && block_mode);
}

/* Whether all lanes that are active at the start of the function are active in this region (or stopped). */
static bool everybody_here(const kir_region *r) { return !r->owner || !layout_of(r->owner)->apart; }

/* Nesting is as deep as a program makes it: what is asked of all regions around a place is kept at the innermost. */
static void visit_owner(analysis *a, kir_value *v) {
    value_layout *p = layout_of(v);
    const value_layout *outside = v->parent->owner ? layout_of(v->parent->owner) : NULL;
    bool apart = p->divergent || (outside && outside->apart),
         in_loop = v->op == KIR_IF && (p->divergent || (outside && outside->apart_in_loop));
    if (apart != p->apart || in_loop != p->apart_in_loop) a->changed = true;
    p->apart = apart;
    p->apart_in_loop = in_loop;
    p->loop = v->op == KIR_LOOP ? v : outside ? outside->loop : NULL;
}

static void demote(analysis *a, kir_var *var) {
    var_layout *p = layout_of_var(var);
    if (!p->scalar) return;
    p->scalar = false;
    a->changed = true;
}

static uint8_t pure_form(const kir_value *v) {
    uint8_t form = TILE_SCALAR;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (layout_of(v->args[i])->form > form) form = layout_of(v->args[i])->form;
    if (form == TILE_AFFINE && !(v->uniformity == KIR_AFFINE && v->type != KIR_BOOL && !kir_type_is_float(v->type))) form = TILE_VECTOR;
    return form;
}

static uint8_t address_form(const kir_value *v) {
    uint8_t form = TILE_SCALAR;
    kir_access at = kir_access_of(v);
    for (uint8_t i = kir_access_is_direct(v) ? at.handle_args : 0; i < at.value; i++)
        if (layout_of(tile_arg(v, i))->form > form) form = layout_of(tile_arg(v, i))->form;
    return form;
}

static uint8_t form_of(analysis *a, const kir_value *v) {
    bool block_mode = a->layout->kernel->block_mode;
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_INPUT: return TILE_SCALAR;
    case KIR_ID:
        if (is_same_in_tile(v, block_mode)) return TILE_SCALAR;
        return v->uniformity == KIR_AFFINE ? TILE_AFFINE : TILE_VECTOR;
    case KIR_PARAM: return layout_of_function(a->f)->param_form[v->u.imm];
    case KIR_VAR_GET:
        if (layout_of_var(v->u.var)->scalar) return TILE_SCALAR;
        return is_same_in_tile(v, block_mode) ? TILE_SCALAR : TILE_VECTOR;
    case KIR_TABLE_GET: return layout_of(v->args[0])->form == TILE_SCALAR ? TILE_SCALAR : TILE_VECTOR;
    case KIR_LOAD: return address_form(v) == TILE_SCALAR ? TILE_SCALAR : TILE_VECTOR;
    case KIR_CALL: return v->type == KIR_VOID ? TILE_VECTOR : layout_of_function(v->u.call.function)->result_form;
    default: return tile_is_pure(v) ? pure_form(v) : TILE_VECTOR;
    }
}

static void visit_jump(analysis *a, const kir_value *v) {
    const value_layout *here = layout_of(v->parent->owner);
    value_layout *loop = layout_of(here->loop);
    if (here->apart_in_loop && !loop->divergent) loop->divergent = a->changed = true;
}

static void visit_return(analysis *a, const kir_value *v) {
    function_layout *f = layout_of_function(a->f);
    bool divergent = !everybody_here(v->parent);
    if (divergent && !f->divergent_return) f->divergent_return = a->changed = true;
    uint8_t form = divergent || (v->nargs && layout_of(v->args[0])->form != TILE_SCALAR) ? TILE_VECTOR : TILE_SCALAR;
    if (form > f->result_form) {
        f->result_form = form;
        a->changed = true;
    }
}

static void visit_call(analysis *a, const kir_value *v) {
    function_layout *callee = layout_of_function(v->u.call.function), *caller = layout_of_function(a->f);
    for (uint8_t i = 0; i < v->nargs; i++)
        if (layout_of(v->args[i])->form != TILE_SCALAR && callee->param_form[i] != TILE_VECTOR) {
            callee->param_form[i] = TILE_VECTOR;
            a->changed = true;
        }
    if (callee->divergent_calls) return;
    if (caller->divergent_calls || caller->divergent_return || !everybody_here(v->parent)) callee->divergent_calls = a->changed = true;
}

static void visit(analysis *a, kir_value *v) {
    value_layout *p = layout_of(v);
    uint8_t form = form_of(a, v);
    if (form > p->form) {
        p->form = form;
        a->changed = true;
    }
    switch ((kir_op)v->op) {
    case KIR_IF:
        if (layout_of(v->args[0])->form != TILE_SCALAR && !p->divergent) p->divergent = a->changed = true;
        visit_owner(a, v);
        break;
    case KIR_LOOP: visit_owner(a, v); break;
    case KIR_ATOMIC:
        if (v->u.mem.high) demote(a, v->u.mem.high);
        break;
    case KIR_BREAK:
    case KIR_CONTINUE: visit_jump(a, v); break;
    case KIR_RETURN: visit_return(a, v); break;
    case KIR_CALL: visit_call(a, v); break;
    case KIR_VAR_SET: {
        const function_layout *f = layout_of_function(a->f);
        bool everybody = everybody_here(v->parent) && !f->divergent_return && (v->u.var->function || !f->divergent_calls);
        if (!everybody || layout_of(v->args[0])->form != TILE_SCALAR) demote(a, v->u.var);
        break;
    }
    default: break;
    }
}

/* ---- which scalars are needed as vectors too ---- */

static void widen(const kir_value *v) {
    value_layout *p = layout_of(v);
    if (p->form != TILE_VECTOR) p->widened = true;
}
static void widen_affine(const kir_value *v) {
    if (layout_of(v)->form == TILE_AFFINE) widen(v);
}

static void widen_arguments(tile_layout *layout, const kir_value *v) {
    const value_layout *p = layout_of(v);
    if (tile_is_pure(v)) {
        if (p->form != TILE_VECTOR || tile_is_border(v)) return;
        uint8_t scalars = 0;
        for (uint8_t i = 0; i < v->nargs; i++)
            if (layout_of(v->args[i])->form == TILE_SCALAR) scalars |= (uint8_t)(1u << i);
        tile_choice choice = tile_choose(layout->kernel->handlers, v, scalars);
        if (!choice.found) layout->unsupported = kir_op_name((kir_op)v->op);
        for (uint8_t i = 0; i < v->nargs; i++) {
            uint8_t place = choice.swap && i < 2 ? (uint8_t)(1 - i) : i;
            if (!(choice.variant >> place & 1)) widen(v->args[i]);
        }
        return;
    }
    switch ((kir_op)v->op) {
    case KIR_VAR_SET:
    case KIR_RETURN:
    case KIR_TABLE_GET:
    case KIR_IF:
    case KIR_ARRAY_GET:
        if (v->nargs) widen_affine(v->args[0]);
        break;
    case KIR_TRACE:
    case KIR_FAULT_IF:
        for (uint8_t i = 0; i < v->nargs; i++) widen_affine(v->args[i]);
        break;
    case KIR_ARRAY_SET:
        widen_affine(v->args[0]);
        widen(v->args[1]);
        break;
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: {
        kir_access at = kir_access_of(v);
        for (uint8_t i = 0; i < v->nargs; i++) {
            bool is_index = i >= at.index && i < at.value;
            if (v->u.mem.split && (i < at.value || v->u.mem.high)) { /* halves are put together lane by lane unless both are scalars */
                uint8_t partner = (i & 1) ? (uint8_t)(i - 1) : (uint8_t)(i + 1);
                if (layout_of(v->args[i])->form != TILE_SCALAR || layout_of(v->args[partner])->form != TILE_SCALAR) widen(v->args[i]);
            } else if (!is_index) {
                widen_affine(v->args[i]);
            }
        }
        break;
    }
    default: break;
    }
}

/* ---- the functions that run, callers before callees ---- */

static bool order_functions(tile_layout *layout) {
    HG_VEC(kir_function *) stack = {0};
    HG_VEC(const kir_value *) at = {0};
    kir_function **slot = hg_vec_push(&stack);
    bool ok = slot && hg_vec_push(&at);
    if (ok) *slot = layout->module->functions;
    while (ok && stack.count) {
        kir_function *f = stack.data[stack.count - 1];
        layout_of_function(f)->reached = true;
        const kir_value *v = at.data[at.count - 1];
        if (v || f->body->first) v = kir_walk(v, f->body);
        while (v && !(tile_enters(layout->kernel, v) && !layout_of_function(v->u.call.function)->reached)) v = kir_walk(v, f->body);
        at.data[at.count - 1] = v;
        if (v) {
            slot = hg_vec_push(&stack);
            ok = slot && hg_vec_push(&at);
            if (ok) *slot = v->u.call.function;
        } else { /* post-order: callees first, turned round below */
            slot = hg_vec_push(&layout->order);
            ok = slot != NULL;
            if (ok) *slot = f;
            stack.count--;
            at.count--;
        }
    }
    for (uint64_t i = 0; ok && i < layout->order.count / 2; i++) {
        kir_function *f = layout->order.data[i];
        layout->order.data[i] = layout->order.data[layout->order.count - 1 - i];
        layout->order.data[layout->order.count - 1 - i] = f;
    }
    hg_vec_free(&stack);
    hg_vec_free(&at);
    return ok;
}

static bool make_layouts(tile_layout *layout) {
    for (kir_var *x = layout->module->vars; x; x = x->next) {
        var_layout *p = hg_arena_alloc(&layout->arena, sizeof *p);
        if (!p) return false;
        p->scalar = x->length == 0;
        p->slot = TILE_NONE;
        x->scratch = p;
    }
    for (kir_function *f = layout->module->functions; f; f = f->next) {
        f->scratch = hg_arena_alloc(&layout->arena, sizeof(function_layout));
        if (!f->scratch) return false;
    }
    if (!order_functions(layout)) return false;
    for (uint64_t i = 0; i < layout->order.count; i++) {
        kir_function *f = layout->order.data[i];
        uint32_t count = kir_number(f);
        value_layout *layouts = hg_arena_alloc(&layout->arena, (count + 1) * sizeof *layouts);
        if (!layouts) return false;
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            v->scratch = &layouts[v->id];
            layouts[v->id].cell = layouts[v->id].vector = TILE_NONE;
            if (v->op == KIR_VAR_GET || v->op == KIR_VAR_SET || v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET)
                layout_of_var(v->u.var)->used = true;
            if (v->op == KIR_TRACE && v->u.trace.own) layout_of_var(v->u.trace.own)->used = true;
            if (v->op == KIR_ATOMIC && v->u.mem.high) layout_of_var(v->u.mem.high)->used = true;
            if (v->op == KIR_CALL)
                for (uint8_t k = 0; k < v->u.call.function->array_count; k++) layout_of_var(v->u.call.arrays[k])->used = true;
        }
    }
    return true;
}

/* ---- indices that count more than bytes ---- */

/* The factor of x * n or x << k; 0: it is something else. */
static uint64_t factor_of(const kir_value *v) {
    if (v->type != HG_TYPE_U64 || (v->op != KIR_MUL && v->op != KIR_SHL) || v->args[1]->op != KIR_CONST) return 0;
    uint64_t n = v->args[1]->u.imm;
    return v->op == KIR_MUL ? n : n < 16 ? UINT64_C(1) << n : 0;
}

/* min(x, (2^64 - 1) / n) * n as an index: n bytes for each of x, which is exact, since all that the minimum changes is out of bounds. */
static kir_value *counted_by(const kir_value *index, uint16_t *scale) {
    uint64_t n = factor_of(index);
    if (n < 2 || n > UINT16_MAX) return NULL;
    const kir_value *least = index->args[0], *c = least->nargs ? least->args[0] : NULL;
    if (least->op != KIR_SELECT || c->op != KIR_CMP_ULT || c->args[0] != least->args[1] || c->args[1] != least->args[2]) return NULL;
    if (least->args[2]->op != KIR_CONST || least->args[2]->u.imm != UINT64_MAX / n) return NULL;
    *scale = (uint16_t)n;
    return least->args[1];
}

/* One use less; what nobody reads any more reads nothing either. */
static void drop_use(kir_value *v) {
    if (--v->uses) return;
    for (uint8_t i = 0; i < v->nargs && tile_is_pure(v); i++) drop_use(v->args[i]);
}

static void count_index(kir_value *v) {
    value_layout *p = layout_of(v);
    if (!v->u.mem.has_index || v->u.mem.split) return;
    p->counted_arg = kir_access_of(v).index;
    kir_value *index = v->args[p->counted_arg];
    p->counted = counted_by(index, &p->scale);
    if (!p->counted) return;
    p->counted->uses++;
    drop_use(index);
}

static bool is_quiet(const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_LOAD:
    case KIR_STORE: return v->u.mem.unchecked && v->u.mem.slot >= 0 && v->u.mem.space == KIR_BUFFER && !v->u.mem.class_id;
    case KIR_LOOP: return v->u.loop.bounded;
    case KIR_ATOMIC:
    case KIR_CHECK:
    case KIR_FAULT_IF:
    case KIR_BLOCK:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return false;
    default: return true;
    }
}

hg_status tile_lay_out_forms(tile_layout *layout) {
    if (!make_layouts(layout)) return hg_fail_memory();
    kir_count_uses(layout->module);
    for (uint64_t i = 0; i < layout->order.count; i++) {
        const kir_function *f = layout->order.data[i];
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (kir_is_access(v)) count_index(v);
    }
    analysis a = {.layout = layout, .changed = true};
    for (int round = 0; a.changed; round++) {
        a.changed = false;
        for (kir_var *x = layout->module->vars; x && round == ROUNDS; x = x->next) demote(&a, x); /* a long chain of variables: enough */
        for (uint64_t i = 0; i < layout->order.count; i++) {
            a.f = layout->order.data[i];
            for (kir_value *v = kir_walk(NULL, a.f->body); v; v = kir_walk(v, a.f->body)) visit(&a, v);
        }
    }
    layout->kernel->quiet = true;
    for (uint64_t i = 0; i < layout->order.count; i++) {
        kir_function *f = layout->order.data[i];
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            widen_arguments(layout, v);
            if (v->op == KIR_LOOP) layout->kernel->has_loop = true;
            if (!is_quiet(v)) layout->kernel->quiet = false;
            if (v->op == KIR_DERIVED) layout->kernel->function_work += work_of(v);
        }
    }
    if (layout->unsupported)
        return hg_fail(HG_ERROR_INTERNAL, "tile code of '%s': no handler for %s", layout->module->name, layout->unsupported);
    return HG_OK;
}
