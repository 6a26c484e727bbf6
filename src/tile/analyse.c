/* Decides how every value lives in a tile: the rules of the tile interpreter for
 * kir/analysis/lanes.h, and which values are needed as vectors too. A variable is one value until
 * it is set to something else, or in a place that only some of the active lanes reach.
 * Requires: a legalised module, kir_find_uniformity (of ids and variables, and which other values are affine). Provides: value_layout.lanes,
 * .widened; var_layout.scalar; function_layout.lanes, .divergent_calls. */
#include "tile/compile_internal.h"
#include "kir/access.h"
#include "kir/define/define.h"
#include <string.h>

bool tile_is_pure(const kir_value *v) { return kir_is_value(v) || v->op == KIR_DERIVED; }

bool tile_is_border(const kir_value *v) {
    if (v->op != KIR_CMP_ULT || layout_of(v)->lanes.form != KIR_LANES_EACH) return false;
    const kir_value *a = v->args[0], *b = v->args[1];
    if (layout_of(a)->lanes.form == KIR_LANES_ONE && layout_of(b)->lanes.form == KIR_LANES_AFFINE)
        a = v->args[1], b = v->args[0];
    return layout_of(a)->lanes.form == KIR_LANES_AFFINE &&
           layout_of(b)->lanes.form == KIR_LANES_ONE && (a->op == KIR_ID || a->stride > 0);
}

/* A function takes from 0.5 (exp, f32) to 3 ns (log, f64) a lane, 3.5 to 6 with two arguments,
 * where an addition takes 0.05 to 0.1: what it counts for where threads may share a launch. Less
 * than it takes: a launch of some microseconds is not worth waking them. */
static uint32_t work_of(const kir_value *v) {
    if (kir_define_is_small(v->u.derived.fn, (hg_type)v->u.derived.atlas_type)) return 0;
    return 2 * (uint32_t)kir_type_bytes(v->type) * v->nargs;
}

/* The same for a function on arrays of limbs that a handler runs. Of powers with exponents as long
 * as the numbers: shorter ones are not worth threads in vain. */
static uint32_t wide_work_of(const kir_function *f) {
    const uint32_t limbs = f->array_params[0]->length;
    switch (kir_limbs_op(f)) {
    case KIR_DERIVED: return 8 * limbs * limbs * limbs;
    case KIR_MUL:
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM: return limbs * limbs;
    default: return limbs / 8;
    }
}

static void add_work(tile_kernel *k, uint32_t work) {
    k->code.function_work = work < UINT32_MAX - k->code.function_work ? k->code.function_work + work
                                                                      : UINT32_MAX;
}

/* ---- handlers ---- */

static tile_fn *derived_handler(const tile_handlers *h, const kir_value *v, unsigned variant) {
    for (uint32_t i = 0; i < h->derived_count; i++)
        if (h->derived[i].fn == v->u.derived.fn && h->derived[i].type == v->u.derived.atlas_type &&
            h->derived[i].variant == variant)
            return h->derived[i].run;
    return NULL;
}

static tile_fn *look_up(const tile_handlers *h, const kir_value *v, unsigned variant) {
    if (v->op == KIR_DERIVED) return derived_handler(h, v, variant);
    int kind = kir_kind_of(v->args[0]->type), to = kir_kind_of(v->type);
    if (v->op == KIR_SELECT) {
        static const uint8_t BY_SIZE[] = {0, 1, 2, 3, 2, 3};
        return to < 0 ? NULL : tile_op_handler(h, KIR_SELECT, BY_SIZE[to], variant);
    }
    if (kind < 0 || to < 0) return NULL;
    if (kir_op_get((kir_op)v->op)->class == KIR_CLASS_CONVERT)
        return tile_convert_handler(h, (kir_op)v->op, kind, to);
    return tile_op_handler(h, (kir_op)v->op, kind, variant);
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
        tile_fn *run = look_up(h, v, bits),
                *run_swapped = swaps && !run ? look_up(h, v, swapped) : NULL;
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

/* Whether all lanes of a tile have the same value, whoever of them is active. */
static bool is_same_in_tile(const kir_value *v, bool block_mode) {
    return v->uniformity == KIR_UNIFORM || (v->uniformity == KIR_BLOCK_UNIFORM && block_mode);
}

static void demote(kir_lane_analysis *s, kir_var *var) {
    var_layout *p = layout_of_var(var);
    if (!p->scalar) return;
    p->scalar = false;
    s->changed = true;
}

static uint8_t address_form(const kir_value *v) {
    uint8_t form = KIR_LANES_ONE;
    kir_access at = kir_access_of(v);
    for (uint8_t i = kir_access_is_direct(v) ? at.handle_args : 0; i < at.value; i++)
        if (layout_of(tile_arg(v, i))->lanes.form > form)
            form = layout_of(tile_arg(v, i))->lanes.form;
    return form;
}

static uint8_t form_of(kir_lane_analysis *s, const kir_value *v) {
    const tile_layout *layout = s->user;
    bool block_mode = layout->kernel->block_mode;
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_INPUT: return KIR_LANES_ONE;
    case KIR_ID:
        if (is_same_in_tile(v, block_mode)) return KIR_LANES_ONE;
        return v->uniformity == KIR_AFFINE ? KIR_LANES_AFFINE : KIR_LANES_EACH;
    case KIR_PARAM:
        return kir_lanes_of_function(s->f)->param_each[v->u.imm] ? KIR_LANES_EACH : KIR_LANES_ONE;
    case KIR_VAR_GET:
        if (layout_of_var(v->u.var)->scalar) return KIR_LANES_ONE;
        return is_same_in_tile(v, block_mode) ? KIR_LANES_ONE : KIR_LANES_EACH;
    case KIR_TABLE_GET:
        return layout_of(v->args[0])->lanes.form == KIR_LANES_ONE ? KIR_LANES_ONE : KIR_LANES_EACH;
    case KIR_LOAD: return address_form(v) == KIR_LANES_ONE ? KIR_LANES_ONE : KIR_LANES_EACH;
    case KIR_CALL:
        return v->type == KIR_VOID || kir_lanes_of_function(v->u.call.function)->result_each
                   ? KIR_LANES_EACH
                   : KIR_LANES_ONE;
    default: return tile_is_pure(v) ? kir_pure_form(v) : KIR_LANES_EACH;
    }
}

static void part(kir_lane_analysis *s, kir_value *v) {
    kir_lane_set(s, &kir_lanes_of(v)->divergent);
}

static void visit_call(kir_lane_analysis *s, const kir_value *v) {
    function_layout *callee = layout_of_function(v->u.call.function),
                    *caller = layout_of_function(s->f);
    if (caller->divergent_calls || caller->lanes.divergent_return || kir_is_apart(v->parent))
        kir_lane_set(s, &callee->divergent_calls);
}

static void visit_set(kir_lane_analysis *s, const kir_value *v) {
    const function_layout *f = layout_of_function(s->f);
    bool everybody = !kir_is_apart(v->parent) && !f->lanes.divergent_return &&
                     (v->u.var->function || !f->divergent_calls);
    if (!everybody || layout_of(v->args[0])->lanes.form != KIR_LANES_ONE) demote(s, v->u.var);
}

static void visit(kir_lane_analysis *s, kir_value *v) {
    if (v->op == KIR_ATOMIC && v->u.mem.high) demote(s, v->u.mem.high);
    if (v->op == KIR_CALL) visit_call(s, v);
    if (v->op == KIR_VAR_SET) visit_set(s, v);
}

/* After many rounds, for a long chain of variables: all of them are vectors. */
static bool begin_round(kir_lane_analysis *s, uint32_t round) {
    for (kir_var *x = s->m->vars; x && round == ROUNDS; x = x->next) demote(s, x);
    return true;
}

static const kir_lane_rules RULES = {form_of, part, visit, begin_round};

/* ---- which scalars are needed as vectors too ---- */

static void widen(const kir_value *v) {
    value_layout *p = layout_of(v);
    if (p->lanes.form != KIR_LANES_EACH) p->widened = true;
}
static void widen_affine(const kir_value *v) {
    if (layout_of(v)->lanes.form == KIR_LANES_AFFINE) widen(v);
}

static void widen_arguments(tile_layout *layout, const kir_value *v) {
    const value_layout *p = layout_of(v);
    if (tile_is_pure(v)) {
        if (p->lanes.form != KIR_LANES_EACH || tile_is_border(v)) return;
        uint8_t scalars = 0;
        for (uint8_t i = 0; i < v->nargs; i++)
            if (layout_of(v->args[i])->lanes.form == KIR_LANES_ONE) scalars |= (uint8_t)(1u << i);
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
            if (v->u.mem.split && (i < at.value || v->u.mem.high)) { /* halves are put together lane
                                                                        by lane unless both are
                                                                        scalars */
                uint8_t partner = (i & 1) ? (uint8_t)(i - 1) : (uint8_t)(i + 1);
                if (layout_of(v->args[i])->lanes.form != KIR_LANES_ONE ||
                    layout_of(v->args[partner])->lanes.form != KIR_LANES_ONE)
                    widen(v->args[i]);
            } else if (!is_index) {
                widen_affine(v->args[i]);
            }
        }
        break;
    }
    default: break;
    }
}

/* ---- layouts ---- */

static bool enters(void *kernel, const kir_value *call) { return tile_enters(kernel, call); }

static bool make_layouts(tile_layout *layout) {
    for (kir_var *x = layout->module->vars; x; x = x->next) {
        var_layout *p = hg_arena_alloc(&layout->arena, sizeof *p);
        if (!p) return false;
        p->scalar = x->length == 0;
        p->reg = TILE_NONE;
        x->scratch = p;
    }
    for (kir_function *f = layout->module->functions; f; f = f->next) {
        f->scratch = hg_arena_alloc(&layout->arena, sizeof(function_layout));
        if (!f->scratch) return false;
    }
    if (!kir_list_callers_first(layout->module, enters, layout->kernel, &layout->order))
        return false;
    for (uint64_t i = 0; i < layout->order.count; i++) {
        kir_function *f = layout->order.data[i];
        uint32_t count = kir_number(f);
        value_layout *layouts = hg_arena_alloc(&layout->arena, (count + 1) * sizeof *layouts);
        if (!layouts) return false;
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            v->scratch = &layouts[v->id];
            layouts[v->id].cell = layouts[v->id].vector = TILE_NONE;
            if (v->op == KIR_VAR_GET || v->op == KIR_VAR_SET || v->op == KIR_ARRAY_GET ||
                v->op == KIR_ARRAY_SET)
                layout_of_var(v->u.var)->used = true;
            if (v->op == KIR_TRACE && v->u.trace.own) layout_of_var(v->u.trace.own)->used = true;
            if (v->op == KIR_ATOMIC && v->u.mem.high) layout_of_var(v->u.mem.high)->used = true;
            if (v->op == KIR_CALL)
                for (uint8_t k = 0; k < v->u.call.function->array_count; k++)
                    layout_of_var(v->u.call.arrays[k])->used = true;
        }
    }
    return true;
}

/* ---- indices that count more than bytes ---- */

/* The factor of x * n or x << k; 0: it is something else. */
static uint64_t factor_of(const kir_value *v) {
    if (v->type != HG_TYPE_U64 || (v->op != KIR_MUL && v->op != KIR_SHL) ||
        v->args[1]->op != KIR_CONST)
        return 0;
    uint64_t n = v->args[1]->u.imm;
    return v->op == KIR_MUL ? n : n < 16 ? UINT64_C(1) << n : 0;
}

/* min(x, (2^64 - 1) / n) * n as an index: n bytes for each of x, which is exact, since all that the
 * minimum changes is out of bounds. */
static kir_value *counted_by(const kir_value *index, uint16_t *scale) {
    uint64_t n = factor_of(index);
    if (n < 2 || n > UINT16_MAX) return NULL;
    const kir_value *least = index->args[0], *c = least->nargs ? least->args[0] : NULL;
    if (least->op != KIR_SELECT || c->op != KIR_CMP_ULT || c->args[0] != least->args[1] ||
        c->args[1] != least->args[2])
        return NULL;
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
    case KIR_STORE:
        return v->u.mem.unchecked && v->u.mem.slot >= 0 && v->u.mem.space == KIR_BUFFER &&
               !v->u.mem.class_id;
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
    kir_lane_analysis analysis = {
        .rules = &RULES, .user = layout, .m = layout->module, .order = &layout->order};
    kir_lane_analyse(&analysis);
    layout->kernel->quiet = true;
    for (uint64_t i = 0; i < layout->order.count; i++) {
        kir_function *f = layout->order.data[i];
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            widen_arguments(layout, v);
            if (v->op == KIR_LOOP) layout->kernel->has_loop = true;
            if (!is_quiet(v)) layout->kernel->quiet = false;
            if (v->op == KIR_DERIVED) add_work(layout->kernel, work_of(v));
            if (v->op == KIR_CALL && tile_wide_handler(layout->kernel, v->u.call.function))
                add_work(layout->kernel, wide_work_of(v->u.call.function));
        }
    }
    if (layout->unsupported)
        return hg_fail(HG_ERROR_INTERNAL, "tile code of '%s': no handler for %s",
                       layout->module->name, layout->unsupported);
    return HG_OK;
}
