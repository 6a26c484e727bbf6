/* Gives every value its place: scalars a cell each, vectors a register that values of the same
 * element size share as far as their lives do not meet (linear scan in text order; what a loop uses
 * from outside lives until its end). A function's registers lie above those of all its callers, so
 * frames are static: no recursion exists.
 * Requires: tile_lay_out_forms. Provides: value_layout.cell, .vector, .alias, .last; var_layout.reg; the kernel's register table and width. */
#include "tile/compile_internal.h"
#include "kir/access.h"
#include "kir/define/define.h"
#include <string.h>

static int size_class(uint64_t bytes) {
    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

/* A place before registers are final: colour and size class. */
static uint32_t colour_code(uint32_t colour, int class) { return colour << 2 | (uint32_t) class; }

typedef struct scan {
    tile_layout *layout;
    function_layout *f;
    HG_VEC(uint32_t) free[4];
    kir_value **dying; /* by position */
} scan;

static uint32_t new_register(tile_layout *layout, tile_register_kind kind, uint8_t size,
                             uint64_t imm) {
    tile_register *reg = hg_vec_push(&layout->registers);
    if (!reg) {
        layout->out_of_memory = true;
        return 0;
    }
    reg->kind = (uint8_t)kind;
    reg->size = size;
    reg->imm = imm;
    return (uint32_t)(layout->registers.count - 1);
}

static uint32_t take_colour(scan *s, uint8_t type) {
    int class = size_class(kir_type_bytes(type));
    if (s->free[class].count)
        return colour_code(s->free[class].data[--s->free[class].count], class);
    uint32_t colour = s->f->base[class] + s->f->count[class]++;
    return colour_code(colour, class);
}

static void give_colour(scan *s, uint32_t code) {
    uint32_t *reg = hg_vec_push(&s->free[code & 3]);
    if (reg)
        *reg = code >> 2;
    else
        s->layout->out_of_memory = true;
}

/* ---- positions and last uses ---- */

static void number_positions(kir_function *f, uint32_t *count) {
    uint32_t position = 0;
    kir_cursor w = kir_cursor_start(f->body);
    do {
        if (w.v)
            layout_of(w.v)->position = layout_of(w.v)->last = ++position;
        else if (w.region->owner && w.region->owner->op == KIR_LOOP)
            layout_of(w.region->owner)->end = ++position;
    } while (kir_cursor_next(&w));
    *count = position + 1;
}

/* What a loop reads from outside lives to the end of the outermost such loop. The loops around v
 * are kept on a stack, so that programs of very many nested loops take no longer. */
static void extend_lives(tile_layout *layout, kir_function *f) {
    HG_VEC(const kir_value *) loops = {0};
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        uint32_t position = layout_of(v)->position;
        while (loops.count && layout_of(loops.data[loops.count - 1])->end < position) loops.count--;
        for (uint8_t i = 0; i < v->nargs; i++) {
            value_layout *p = layout_of(tile_arg(v, i));
            uint64_t low = 0, high = loops.count; /* the first loop that begins after the operand */
            while (low < high) {
                uint64_t middle = low + (high - low) / 2;
                if (layout_of(loops.data[middle])->position > p->position)
                    high = middle;
                else
                    low = middle + 1;
            }
            uint32_t until = low < loops.count ? layout_of(loops.data[low])->end : position;
            if (until > p->last) p->last = until;
        }
        if (v->op != KIR_LOOP) continue;
        const kir_value **top = hg_vec_push(&loops);
        if (!top) {
            layout->out_of_memory = true;
            break;
        }
        *top = v;
    }
    hg_vec_free(&loops);
}

/* Whether a read variable keeps its value until the last use of what was read: then no copy is
 * needed. Looks a little way only. */
static bool may_alias(const kir_value *get) {
    uint32_t last = layout_of(get)->last;
    int budget = 64;
    for (const kir_value *v = get->next; v && layout_of(v)->position <= last; v = v->next) {
        if (--budget < 0) return false;
        if (v->op == KIR_VAR_SET && v->u.var == get->u.var && layout_of(v)->position < last)
            return false;
        if (v->op == KIR_ATOMIC && v->u.mem.high == get->u.var) return false;
        if (v->op == KIR_IF || v->op == KIR_LOOP) {
            if (v->op == KIR_IF && v->args[0] == get && layout_of(v)->position == last) continue;
            return false;
        }
        if (v->op == KIR_CALL && !get->u.var->function) return false;
    }
    return true;
}

/* Operations whose result is harmless even if another lane changes an operand while they run.
 * Divisions look at their divisor twice, long definitions may index tables: those read a copy. */
static bool takes_racing_operands(const kir_value *v) {
    if (v->op == KIR_DERIVED)
        return v->u.derived.fn != HG_OP_REM &&
               kir_define_is_small(v->u.derived.fn, (hg_type)v->u.derived.atlas_type);
    return kir_is_value(v) && !kir_op_has((kir_op)v->op, KIR_F_DIVIDES);
}

/* Reads of a loaded vector in a branch that only looks for a fault; false: it does something else.
 */
static bool only_faults(const kir_value *branch, const kir_value *load, uint32_t *uses,
                        int *budget) {
    for (int side = 0; side < 2; side++)
        for (const kir_value *v = branch->body[side]->first; v; v = v->next) {
            if (--*budget < 0 || (!tile_is_pure(v) && v->op != KIR_CONST && v->op != KIR_FAULT_IF))
                return false;
            for (uint8_t i = 0; i < v->nargs && !tile_is_dead(v); i++) {
                if (tile_arg(v, i) != load) continue;
                if (v->op != KIR_FAULT_IF && !takes_racing_operands(v)) return false;
                ++*uses;
            }
        }
    return true;
}

/* Whether a loaded vector may be read where it lies: contiguous elements, read by operations of the
 * same region, or in branches of it that only look for faults, before anything could write to
 * memory. */
static bool may_stay(const kir_value *load) {
    const value_layout *p = layout_of(load);
    if (load->op != KIR_LOAD || p->lanes.form != KIR_LANES_EACH || load->u.mem.split ||
        !load->u.mem.has_index || !kir_access_is_direct(load))
        return false;
    const kir_value *index = tile_arg(load, kir_access_of(load).index);
    if (load->u.mem.bytes != kir_type_bytes(load->type) ||
        layout_of(index)->lanes.form != KIR_LANES_AFFINE)
        return false;
    if ((hg_i128)(index->op == KIR_ID ? 1 : index->stride) * (p->counted ? p->scale : 1) !=
        load->u.mem.bytes)
        return false;
    uint32_t uses = 0;
    int budget = 64;
    for (const kir_value *v = load->next; v && uses < load->uses; v = v->next) {
        if (v->op == KIR_IF && only_faults(v, load, &uses, &budget)) continue;
        bool pure = tile_is_pure(v) || v->op == KIR_CONST, store = v->op == KIR_STORE,
             get = v->op == KIR_VAR_GET || v->op == KIR_LOAD;
        if (--budget < 0 || !(pure || store || get)) return false;
        for (uint8_t i = 0; i < v->nargs && !tile_is_dead(v); i++) {
            if (tile_arg(v, i) != load) continue;
            if (get || (pure && !takes_racing_operands(v)) || (store && i + 1 != v->nargs))
                return false;
            uses++;
        }
        if (store) break;
    }
    return uses == load->uses && uses > 0;
}

/* ---- allocation ---- */

static void place_scalar(tile_layout *layout, kir_value *v) {
    value_layout *p = layout_of(v);
    if (p->lanes.form == KIR_LANES_EACH) return;
    switch ((kir_op)v->op) {
    case KIR_CONST: p->cell = new_register(layout, TILE_REGISTER_CONST, 8, v->u.imm); break;
    case KIR_INPUT:
        p->cell = new_register(layout, TILE_REGISTER_INPUT, (uint8_t)kir_type_bytes(v->type),
                               v->u.imm);
        break;
    case KIR_ID:
        p->cell = new_register(layout, TILE_REGISTER_ID, (uint8_t)kir_type_bytes(v->type),
                               v->u.imm);
        break;
    default: p->cell = new_register(layout, TILE_REGISTER_CELL, 8, 0); break;
    }
}

/* Splats of constants are filled once when a frame is made; equal ones share a register. */
static uint32_t splat_register(tile_layout *layout, const kir_value *v) {
    uint8_t size = (uint8_t)kir_type_bytes(v->type);
    /* Sharing is not worth a long search. */
    uint64_t start = layout->registers.count > 4096 ? layout->registers.count - 4096 : 0;
    for (uint64_t i = start; i < layout->registers.count; i++)
        if (layout->registers.data[i].kind == TILE_REGISTER_SPLAT &&
            layout->registers.data[i].imm == v->u.imm && layout->registers.data[i].size == size)
            return (uint32_t)i;
    return new_register(layout, TILE_REGISTER_SPLAT, size, v->u.imm);
}

static bool needs_vector(const kir_value *v) {
    const value_layout *p = layout_of(v);
    return v->type != KIR_VOID && (p->lanes.form == KIR_LANES_EACH || p->widened);
}

static void note_death(scan *s, kir_value *v) {
    value_layout *p = layout_of(v);
    p->next_dying = s->dying[p->last];
    s->dying[p->last] = v;
}

static void bury(scan *s, uint32_t position) {
    for (kir_value *v = s->dying[position]; v; v = layout_of(v)->next_dying)
        give_colour(s, layout_of(v)->vector);
}

static bool overlap_is_harmless(const kir_value *v, const kir_value *arg) {
    return tile_is_pure(v) && kir_type_bytes(v->type) == kir_type_bytes(arg->type);
}

static void place_joined(scan *s, kir_value *v) {
    value_layout *p = layout_of(v);
    for (int i = 0; i < 4; i++) p->joined[i] = TILE_NONE;
    if (!kir_is_access(v) || !v->u.mem.split) return;
    int count = v->op == KIR_ATOMIC && v->u.mem.high ? 4 : 2;
    for (int i = 0; i < count; i++) p->joined[i] = take_colour(s, HG_TYPE_U64);
    for (int i = 0; i < count; i++) give_colour(s, p->joined[i]);
}

/* A value's vector may lie where a dying operand of equal element size lies; otherwise operands die
 * after it is placed. */
static void place_vector(scan *s, kir_value *v) {
    value_layout *p = layout_of(v);
    uint32_t position = p->position;
    bool wanted = needs_vector(v) && !(v->op == KIR_PARAM && p->lanes.form == KIR_LANES_EACH) &&
                  !p->alias;
    if (wanted && v->op == KIR_CONST) {
        p->vector = splat_register(s->layout, v);
        p->alias = true; /* final already */
        wanted = false;
    }
    if (wanted && may_stay(v)) {
        p->vector = new_register(s->layout, TILE_REGISTER_DIRECT, (uint8_t)kir_type_bytes(v->type),
                                 0);
        new_register(s->layout, TILE_REGISTER_SPARE, (uint8_t)kir_type_bytes(v->type), 0);
        p->direct = true;
        wanted = false;
    }
    bool early = wanted && p->lanes.form == KIR_LANES_EACH && s->dying[position] != NULL;
    for (kir_value *d = s->dying[position]; d && early; d = layout_of(d)->next_dying)
        early = d != v && overlap_is_harmless(v, d);
    if (early) bury(s, position);
    if (wanted) {
        p->vector = take_colour(s, v->type);
        if (p->last > position) {
            note_death(s, v);
        } else if (!early) { /* nobody reads it */
            note_death(s, v);
        } else {
            give_colour(s, p->vector);
        }
    }
    place_joined(s, v);
    if (!early) bury(s, position);
}

static void place_variables(scan *s, const kir_function *owner) {
    tile_layout *layout = s->layout;
    for (kir_var *x = layout->module->vars; x; x = x->next) {
        var_layout *p = layout_of_var(x);
        bool mine = x->function == owner;
        if (!mine || (!p->used && !x->by_reference)) continue;
        if (x->by_reference) {
            p->reg = new_register(layout, TILE_REGISTER_BOUND, (uint8_t)kir_type_bytes(x->type), 0);
        } else if (x->length) {
            p->reg = new_register(layout, TILE_REGISTER_ARRAY, (uint8_t)kir_type_bytes(x->type), 0);
            if (layout->out_of_memory) return;
            layout->registers.data[p->reg].length = x->length;
            layout->registers.data[p->reg].offset = s->f->array_base + s->f->array_bytes;
            s->f->array_bytes += (x->length * kir_type_bytes(x->type) + 7) & ~UINT64_C(7);
        } else if (p->scalar) {
            p->reg = new_register(layout, TILE_REGISTER_CELL, 8, 0);
        } else {
            p->reg = take_colour(s, x->type);
        }
    }
}

static void place_interface(scan *s, const kir_function *f) {
    for (uint8_t i = 0; i < f->param_count; i++)
        s->f->param_reg[i] = s->f->lanes.param_each[i]
                                 ? take_colour(s, f->param_types[i])
                                 : new_register(s->layout, TILE_REGISTER_CELL, 8, 0);
    if (f->result != KIR_VOID)
        s->f->result_reg = s->f->lanes.result_each
                               ? take_colour(s, f->result)
                               : new_register(s->layout, TILE_REGISTER_CELL, 8, 0);
}

static void place_function(tile_layout *layout, kir_function *f) {
    scan s = {.layout = layout, .f = layout_of_function(f)};
    uint32_t positions = 0;
    if (f == layout->module->functions) place_variables(&s, NULL);
    place_variables(&s, f);
    place_interface(&s, f);
    number_positions(f, &positions);
    extend_lives(layout, f);
    s.dying = hg_arena_alloc(&layout->arena, (positions + 1) * sizeof *s.dying);
    layout->out_of_memory = layout->out_of_memory || !s.dying;
    if (layout->out_of_memory) return;
    kir_cursor w = kir_cursor_start(f->body);
    do {
        if (w.v) {
            place_scalar(layout, w.v);
            if (w.v->op == KIR_VAR_GET && layout_of(w.v)->lanes.form == KIR_LANES_EACH)
                layout_of(w.v)->alias = may_alias(w.v);
            place_vector(&s, w.v);
        } else if (w.region->owner && w.region->owner->op == KIR_LOOP) {
            bury(&s, layout_of(w.region->owner)->end);
        }
    } while (!layout->out_of_memory && kir_cursor_next(&w));
    for (int i = 0; i < 4; i++) hg_vec_free(&s.free[i]);
}

/* Callees start above this function. */
static void raise_callees(const tile_kernel *k, const kir_function *f) {
    const function_layout *from = layout_of_function(f);
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (!tile_enters(k, v)) continue;
        function_layout *to = layout_of_function(v->u.call.function);
        for (int i = 0; i < 4; i++)
            if (to->base[i] < from->base[i] + from->count[i])
                to->base[i] = from->base[i] + from->count[i];
        if (to->array_base < from->array_base + from->array_bytes)
            to->array_base = from->array_base + from->array_bytes;
    }
}

/* ---- colours to registers ---- */

static uint32_t final_register(const uint32_t first[4], uint32_t code) {
    return first[code & 3] + (code >> 2);
}

static void finish_function(const tile_layout *layout, kir_function *f, const uint32_t first[4]) {
    function_layout *p = layout_of_function(f);
    for (uint8_t i = 0; i < f->param_count; i++)
        if (p->lanes.param_each[i]) p->param_reg[i] = final_register(first, p->param_reg[i]);
    if (f->result != KIR_VOID && p->lanes.result_each)
        p->result_reg = final_register(first, p->result_reg);
    for (kir_var *x = layout->module->vars; x; x = x->next)
        if (x->function == (f == layout->module->functions ? NULL : f) || x->function == f) {
            var_layout *var = layout_of_var(x);
            if (var->reg != TILE_NONE && !x->length && !x->by_reference && !var->scalar)
                var->reg = final_register(first, var->reg);
        }
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        value_layout *value = layout_of(v);
        if (value->vector != TILE_NONE && !value->alias && !value->direct)
            value->vector = final_register(first, value->vector);
        for (int i = 0; i < 4; i++)
            if (value->joined[i] != TILE_NONE)
                value->joined[i] = final_register(first, value->joined[i]);
        if (v->op == KIR_PARAM && p->lanes.param_each[v->u.imm])
            value->vector = p->param_reg[v->u.imm];
        if (v->op == KIR_PARAM && !p->lanes.param_each[v->u.imm])
            value->cell = p->param_reg[v->u.imm];
        if (v->op == KIR_VAR_GET && value->alias) value->vector = layout_of_var(v->u.var)->reg;
        if (v->op == KIR_VAR_GET && layout_of_var(v->u.var)->scalar && may_alias(v))
            value->cell = layout_of_var(v->u.var)->reg;
    }
}

/* What a tile costs in itself counts where its values are narrow: without loops, in which the
 * slowest lane keeps the others, it may be LONG_WIDTH lanes as long as its values stay within
 * LONG_BUDGET bytes. A map of bytes runs at 1.03 of memcpy instead of 0.85. */
enum { LONG_WIDTH = 4096, LONG_BUDGET = 16384 };

/* Private arrays are gone through row by row, so they do well in the second cache; a tile of few
 * lanes would pay for each row what it pays for an operation. */
static bool fits(const tile_kernel *k, uint32_t width) {
    uint64_t vectors = k->frame.lane_bytes - k->frame.array_bytes;
    return k->frame.lane_bytes * width <= TILE_BUDGET ||
           (vectors * width <= TILE_BUDGET && k->frame.lane_bytes * width <= TILE_ARRAY_BUDGET);
}

static void set_width(tile_kernel *k) {
    uint32_t width = TILE_MAX_WIDTH;
    while (width > TILE_MIN_WIDTH && !fits(k, width)) width /= 2;
    while (!k->has_loop && width >= TILE_MAX_WIDTH && width < LONG_WIDTH &&
           k->frame.lane_bytes * width * 2 <= LONG_BUDGET)
        width *= 2;
    while (k->options.max_width >= TILE_MIN_WIDTH && width > k->options.max_width) width /= 2;
    k->width = width;
}

hg_status tile_lay_out_registers(tile_layout *layout) {
    uint32_t most[4] = {0}, first[4];
    tile_kernel *k = layout->kernel;
    for (uint64_t i = 0; i < layout->order.count && !layout->out_of_memory; i++) {
        kir_function *f = layout->order.data[i];
        function_layout *p = layout_of_function(f);
        place_function(layout, f);
        raise_callees(k, f);
        for (int c = 0; c < 4; c++)
            if (most[c] < p->base[c] + p->count[c]) most[c] = p->base[c] + p->count[c];
        if (k->frame.array_bytes < p->array_base + p->array_bytes)
            k->frame.array_bytes = p->array_base + p->array_bytes;
    }
    for (int c = 0; c < 4 && !layout->out_of_memory; c++) {
        first[c] = (uint32_t)layout->registers.count;
        for (uint32_t i = 0; i < most[c]; i++)
            new_register(layout, TILE_REGISTER_VECTOR, (uint8_t)(1u << c), 0);
    }
    if (layout->out_of_memory) return hg_fail_memory();
    for (uint64_t i = 0; i < layout->order.count; i++)
        finish_function(layout, layout->order.data[i], first);
    k->frame.lane_bytes = k->frame.array_bytes;
    for (uint64_t i = 0; i < layout->registers.count; i++)
        if (layout->registers.data[i].kind == TILE_REGISTER_VECTOR ||
            layout->registers.data[i].kind == TILE_REGISTER_SPLAT)
            k->frame.lane_bytes += layout->registers.data[i].size;
    set_width(k);
    return HG_OK;
}
