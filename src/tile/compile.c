/* Kernel IR to linear tile code. Every region in which lanes can differ has a mask of its own,
 * known statically; regions that all active lanes enter together share their parent's. A lane that
 * leaves (break, continue, return, exit, fault) is taken out of the mask of the region it is in; at
 * the end of a region its mask flows back into the parent's, so whoever left stays away.
 * Requires: tile_lay_out_forms, tile_lay_out_registers. Provides: tile_kernel.insns. */
#include "kir/analysis/analysis.h"
#include "tile/compile_internal.h"
#include "kir/access.h"
#include <string.h>

typedef struct coder {
    tile_layout *layout;
    tile_kernel *kernel;
    kir_function *f;
    function_layout *p;
    uint32_t inst;
    tile_insn spare; /* what add() gives out of memory */
} coder;

/* ---- instructions ---- */

static uint32_t here(const coder *c) { return (uint32_t)c->layout->code.count; }

/* Instructions may move when more are added: the result is only valid until the next add(). */
static tile_insn *add(coder *c, tile_kind kind, uint32_t mask) {
    tile_insn *insn = hg_vec_push(&c->layout->code);
    if (!insn) {
        c->layout->out_of_memory = true;
        insn = &c->spare;
    }
    insn->kind = (uint8_t)kind;
    insn->mask = mask;
    insn->d = insn->a = insn->b = insn->c = 0;
    insn->operands = 0;
    insn->target = TILE_NONE;
    insn->inst = c->inst;
    return insn;
}

static void link_jump(coder *c, tile_insn *insn, uint32_t *list) {
    if (c->layout->out_of_memory) return;
    insn->target = *list;
    *list = here(c) - 1;
}

static void patch(coder *c, uint32_t *list, uint32_t target) {
    while (*list != TILE_NONE && !c->layout->out_of_memory) {
        uint32_t next = c->layout->code.data[*list].target;
        c->layout->code.data[*list].target = target;
        *list = next;
    }
}

static uint32_t new_masks(coder *c, uint32_t count) {
    uint32_t first = c->p->mask_base + c->p->mask_count;
    c->p->mask_count += count;
    if (c->kernel->code.mask_count < first + count) c->kernel->code.mask_count = first + count;
    return first;
}

static int which_body(const kir_region *r) { return r->owner->body[1] == r ? 1 : 0; }
static uint32_t mask_of(const coder *c, const kir_region *r) {
    return r->owner ? layout_of(r->owner)->flow.mask[which_body(r)] : c->p->body_mask;
}

/* The list of jumps to the end of the region whose mask r uses. */
static uint32_t *pending_of(coder *c, const kir_region *r) {
    if (!r->owner) return &c->p->pending;
    const kir_region *owner = layout_of(r->owner)->flow.owner[which_body(r)];
    return owner->owner ? &layout_of(owner->owner)->flow.pending[which_body(owner)]
                        : &c->p->pending;
}

/* ---- operands ---- */

static uint32_t vector_of(const kir_value *v) { return layout_of(v)->vector; }
static uint32_t cell_of(const kir_value *v) { return layout_of(v)->cell; }
static bool is_scalar(const kir_value *v) { return layout_of(v)->lanes.form == KIR_LANES_ONE; }
static uint8_t size_of(uint8_t type) { return (uint8_t)kir_type_bytes(type); }

/* The widened form of a scalar or affine value, made right behind it. */
static void widen(coder *c, const kir_value *v, uint32_t d) {
    const value_layout *p = layout_of(v);
    tile_insn *insn = add(c, p->lanes.form == KIR_LANES_AFFINE ? TILE_IOTA : TILE_SPLAT, 0);
    insn->d = d;
    insn->a = p->cell;
    insn->size = size_of(v->type);
    insn->u.imm = (uint64_t)(v->op == KIR_ID ? 1 : v->stride);
}

static void code_pure(coder *c, const kir_value *v) {
    const value_layout *p = layout_of(v);
    bool one = p->lanes.form != KIR_LANES_EACH;
    uint8_t scalars = 0;
    for (uint8_t i = 0; i < v->nargs && !one; i++)
        if (is_scalar(v->args[i])) scalars |= (uint8_t)(1u << i);
    tile_choice choice = tile_choose(c->kernel->handlers, v, scalars);
    if (!choice.found) c->layout->unsupported = kir_op_name((kir_op)v->op);
    uint32_t registers[3] = {0};
    for (uint8_t i = 0; i < v->nargs && i < 3; i++) {
        uint8_t place = choice.swap && i < 2 ? (uint8_t)(1 - i) : i;
        bool cell = one || (choice.variant >> place & 1);
        registers[place] = cell && layout_of(v->args[i])->lanes.form != KIR_LANES_EACH
                               ? cell_of(v->args[i])
                               : vector_of(v->args[i]);
    }
    tile_insn *insn = add(c,
                          choice.run ? (one ? TILE_RUN_ONE : TILE_RUN)
                          : one      ? TILE_COPY_ONE
                                     : TILE_COPY_ALL,
                          0);
    insn->run = choice.run;
    insn->size = size_of(v->type);
    insn->d = one ? p->cell : p->vector;
    insn->a = registers[0];
    insn->b = registers[1];
    insn->c = registers[2];
    insn->operands = v->nargs < 3 ? v->nargs : 3;
}

static void code_border(coder *c, const kir_value *v) {
    bool less = layout_of(v->args[0])->lanes.form == KIR_LANES_AFFINE;
    const kir_value *moving = v->args[less ? 0 : 1], *fixed = v->args[less ? 1 : 0];
    tile_insn *insn = add(c, less ? TILE_LESS : TILE_MORE, 0);
    insn->d = vector_of(v);
    insn->a = cell_of(moving);
    insn->b = cell_of(fixed);
    insn->size = size_of(moving->type);
    insn->u.imm = (uint64_t)(moving->op == KIR_ID ? 1 : moving->stride);
}

static void code_get(coder *c, const kir_value *v, uint32_t mask) {
    const value_layout *p = layout_of(v);
    const var_layout *var = layout_of_var(v->u.var);
    tile_insn *insn;
    if (p->lanes.form == KIR_LANES_EACH) {
        if (p->alias) return;
        insn = add(c, TILE_COPY_ALL, 0);
        insn->d = p->vector;
    } else {
        if (p->cell == var->reg) return;
        insn = add(c, var->scalar ? TILE_COPY_ONE : TILE_FIRST, mask);
        insn->d = p->cell;
    }
    insn->a = var->reg;
    insn->size = size_of(v->type);
}

/* d = v where active. */
static tile_insn *code_masked_copy(coder *c, uint32_t d, const kir_value *v, uint32_t mask) {
    bool scalar = layout_of(v)->lanes.form == KIR_LANES_ONE;
    tile_insn *insn = add(c, scalar ? TILE_COPY_SPLAT : TILE_COPY, mask);
    insn->d = d;
    insn->a = scalar ? cell_of(v) : vector_of(v);
    insn->size = size_of(v->type);
    return insn;
}

static void code_set(coder *c, const kir_value *v, uint32_t mask) {
    const kir_value *value = v->args[0];
    const value_layout *p = layout_of(value);
    const var_layout *var = layout_of_var(v->u.var);
    if (!var->used) return;
    if (var->scalar) {
        tile_insn *insn = add(c, TILE_COPY_ONE, mask);
        insn->d = var->reg;
        insn->a = p->cell;
        return;
    }
    if (p->lanes.form == KIR_LANES_EACH && p->vector == var->reg) return;
    bool dies = p->lanes.form == KIR_LANES_EACH && !p->alias && value->op != KIR_PARAM &&
                p->last == layout_of(v)->position;
    tile_insn *insn = code_masked_copy(c, var->reg, value, mask);
    if (dies) insn->kind = TILE_SWAP;
}

static void code_array(coder *c, const kir_value *v, uint32_t mask) {
    bool get = v->op == KIR_ARRAY_GET, one = is_scalar(v->args[0]);
    tile_insn *insn = add(c,
                          get   ? (one ? TILE_ARRAY_GET_ONE : TILE_ARRAY_GET)
                          : one ? TILE_ARRAY_SET_ONE
                                : TILE_ARRAY_SET,
                          mask);
    insn->a = layout_of_var(v->u.var)->reg;
    insn->b = one ? cell_of(v->args[0]) : vector_of(v->args[0]);
    insn->c = get ? 0 : vector_of(v->args[1]);
    insn->d = get ? vector_of(v) : 0;
    insn->size = size_of(v->u.var->type);
    insn->u.imm = v->u.var->length;
}

static void code_table(coder *c, const kir_value *v) {
    const kir_table *t = v->u.table;
    size_t bytes = (size_t)(t->length * kir_type_bytes(t->type));
    uint8_t *copy = NULL;
    if (t->id < c->layout->table_count) copy = c->layout->tables[t->id];
    if (!copy) {
        copy = hg_arena_alloc(&c->kernel->arena, bytes);
        if (!copy) {
            c->layout->out_of_memory = true;
            return;
        }
        memcpy(copy, t->data, bytes);
        if (t->id < c->layout->table_count) c->layout->tables[t->id] = copy;
    }
    bool one = layout_of(v)->lanes.form == KIR_LANES_ONE;
    tile_insn *insn = add(c, one ? TILE_TABLE_ONE : TILE_TABLE, 0);
    insn->d = one ? cell_of(v) : vector_of(v);
    insn->b = one ? cell_of(v->args[0]) : vector_of(v->args[0]);
    insn->size = size_of(t->type);
    insn->c = t->length;
    insn->u.table = copy;
}

/* ---- memory ---- */

static tile_operand plain_operand(const kir_value *v) {
    const value_layout *p = layout_of(v);
    return (tile_operand){p->lanes.form, p->lanes.form == KIR_LANES_EACH ? p->vector : p->cell,
                          v->op == KIR_ID ? 1 : v->stride};
}

/* The 64-bit argument at args[*i], put together from halves where the target has none. */
static tile_operand wide_operand(coder *c, const kir_value *v, uint8_t *i, int which) {
    if (!v->u.mem.split) return plain_operand(v->args[(*i)++]);
    const kir_value *low = v->args[*i], *high = v->args[*i + 1];
    *i = (uint8_t)(*i + 2);
    bool one = is_scalar(low) && is_scalar(high);
    tile_insn *insn = add(c, one ? TILE_JOIN_ONE : TILE_JOIN, 0);
    insn->d = layout_of(v)->joined[which];
    insn->a = one ? cell_of(low) : vector_of(low);
    insn->b = one ? cell_of(high) : vector_of(high);
    return (tile_operand){one ? KIR_LANES_ONE : KIR_LANES_EACH, insn->d, 0};
}

/* AFFINE operands were widened for everything but addresses. */
static tile_operand value_operand(const kir_value *v) {
    tile_operand o = plain_operand(v);
    if (o.form == KIR_LANES_AFFINE) o = (tile_operand){KIR_LANES_EACH, vector_of(v), 0};
    return o;
}

static void name_direct_slot(const kir_module *m, tile_access *access) {
    access->handle_input = TILE_NONE;
    if (access->where.slot < 0 || (uint64_t)access->where.slot >= m->slots.count) return;
    const kir_slot *slot = &m->slots.data[access->where.slot];
    if (slot->constant)
        access->constant_handle = slot->handle;
    else
        access->handle_input = slot->input;
    access->where.pool = slot->space == KIR_POOL;
}

/* In place, or in a loop, what is stored is in the caches already, or is stored again. */
static void note_direction(tile_layout *layout, tile_access *access) {
    if (access->where.slot < 0 || (uint64_t)access->where.slot >= layout->module->slots.count)
        return;
    bool *loaded = &layout->loaded[access->where.slot];
    if (access->op == KIR_STORE) access->may.once = !*loaded && !layout->kernel->has_loop;
    if (access->op != KIR_CHECK) *loaded = true;
}

static void code_memory(coder *c, const kir_value *v, uint32_t mask) {
    tile_access *access = hg_arena_alloc(&c->kernel->arena, sizeof *access);
    if (!access) {
        c->layout->out_of_memory = true;
        return;
    }
    kir_access at = kir_access_of(v);
    uint8_t next = 0;
    access->op = v->op;
    access->where.space = v->u.mem.space;
    access->where.pool = v->u.mem.space == KIR_POOL;
    access->fault.operand = v->u.mem.operand;
    access->unchecked = v->u.mem.unchecked;
    access->atomic = v->u.mem.atomic;
    access->may.combines = kir_combines(v);
    access->where.class_id = v->u.mem.class_id;
    access->bytes = v->u.mem.bytes;
    access->fault.size = kir_access_size(v);
    access->where.slot = kir_access_is_direct(v) ? v->u.mem.slot : KIR_OPEN;
    access->fault.inst = v->inst;
    access->disp = v->u.mem.disp;
    access->has_index = v->u.mem.has_index;
    name_direct_slot(c->layout->module, access);
    note_direction(c->layout, access);
    if (access->where.slot >= 0) {
        next = at.handle_args;
    } else if (at.handle_args) {
        access->handle = wide_operand(c, v, &next, 0);
        if (access->handle.form == KIR_LANES_AFFINE)
            access->handle = value_operand(v->args[at.handle]);
    }
    if (access->has_index) {
        bool counted = layout_of(v)->counted != NULL;
        access->index = counted ? plain_operand(layout_of(v)->counted)
                                : wide_operand(c, v, &next, 1);
        if (counted) next++;
        access->scale = counted ? layout_of(v)->scale : 1;
    }
    bool pairs = v->op == KIR_ATOMIC && v->u.mem.split && v->u.mem.high;
    if (next < v->nargs) {
        access->value_size = pairs ? 8 : size_of(v->args[next]->type);
        access->value = pairs ? wide_operand(c, v, &next, 2) : value_operand(v->args[next++]);
    }
    if (next < v->nargs) {
        access->second = pairs ? wide_operand(c, v, &next, 3) : value_operand(v->args[next]);
    }
    access->high = pairs ? layout_of_var(v->u.mem.high)->reg : TILE_NONE;
    if (v->op == KIR_LOAD || v->op == KIR_ATOMIC) {
        access->one = layout_of(v)->lanes.form == KIR_LANES_ONE;
        access->result = access->one ? cell_of(v) : vector_of(v);
        access->may.direct = layout_of(v)->direct;
        if (!pairs) access->value_size = size_of(v->type);
    }
    tile_kind kind = v->op == KIR_LOAD    ? TILE_LOAD
                     : v->op == KIR_STORE ? TILE_STORE
                     : v->op == KIR_CHECK ? TILE_CHECK
                                          : TILE_ATOMIC;
    add(c, kind, mask)->u.access = access;
}

static const char *keep_text(coder *c, const char *text) {
    if (!text) return NULL;
    const char *copy = hg_arena_text(&c->kernel->arena, text, strlen(text));
    if (!copy) c->layout->out_of_memory = true;
    return copy;
}

static void code_fault_if(coder *c, const kir_value *v, uint32_t mask) {
    bool one = is_scalar(v->args[0]);
    const char *message = keep_text(c, v->u.fault.message);
    tile_insn *insn = add(c, TILE_FAULT_IF, mask);
    insn->a = one ? cell_of(v->args[0]) : vector_of(v->args[0]);
    insn->b = one;
    insn->c = v->u.fault.operand;
    insn->size = v->u.fault.code;
    insn->u.message = message;
    uint8_t each = v->u.fault.values && v->nargs == 1 + 2 * v->u.fault.values ? 2 : 1;
    tile_fault_value *values = v->u.fault.values ? hg_arena_alloc(&c->kernel->arena,
                                                                  KIR_FAULT_VALUES * sizeof *values)
                                                 : NULL;
    if (v->u.fault.values && !values) c->layout->out_of_memory = true;
    for (uint8_t i = 0; values && i < v->u.fault.values; i++)
        for (uint8_t half = 0; half < each; half++) {
            const kir_value *arg = v->args[1 + i * each + half];
            values[i].size = (uint8_t)size_of(arg->type);
            values[i].one[half] = is_scalar(arg);
            values[i].reg[half] = is_scalar(arg) ? cell_of(arg) : vector_of(arg);
        }
    insn->values = values;
}

static void code_trace(coder *c, const kir_value *v, uint32_t mask) {
    tile_insn *insn = add(c, TILE_TRACE, mask);
    insn->u.traced = (tile_traced){v->u.trace.what, v->u.trace.number, v->u.trace.part,
                                   v->u.trace.atlas_type};
    insn->size = 0;
    if (v->u.trace.own) {
        insn->c = layout_of_var(v->u.trace.own)->reg;
        insn->size = size_of(v->u.trace.own->type);
    }
    if (!v->nargs) return;
    insn->b = is_scalar(v->args[0]);
    insn->a = insn->b ? cell_of(v->args[0]) : vector_of(v->args[0]);
    insn->size = size_of(v->args[0]->type);
}

/* ---- calls ---- */

static void code_argument(coder *c, const function_layout *callee, uint8_t i, const kir_value *v) {
    uint32_t d = callee->param_reg[i];
    if (callee->lanes.param_each[i] && layout_of(v)->lanes.form != KIR_LANES_EACH) {
        widen(c, v, d);
        return;
    }
    bool vector = callee->lanes.param_each[i];
    tile_insn *insn = add(c, vector ? TILE_COPY_ALL : TILE_COPY_ONE, 0);
    insn->d = d;
    insn->a = vector ? vector_of(v) : cell_of(v);
    insn->size = size_of(v->type);
}

static void code_wide(coder *c, const kir_value *v, tile_wide_fn *run, uint32_t mask) {
    kir_var *const *arrays = v->u.call.arrays;
    tile_insn *insn = add(c, TILE_WIDE, mask);
    insn->d = layout_of_var(arrays[0])->reg;
    insn->a = layout_of_var(arrays[1])->reg;
    insn->b = layout_of_var(arrays[2])->reg;
    insn->c = layout_of_var(arrays[v->u.call.function->array_count - 1])->reg;
    insn->size = (uint8_t)arrays[0]->length;
    insn->u.wide = run;
}

static void code_call(coder *c, const kir_value *v, uint32_t mask) {
    const kir_function *f = v->u.call.function;
    tile_wide_fn *run = tile_wide_handler(c->kernel, f);
    if (run) {
        code_wide(c, v, run, mask);
        return;
    }
    const function_layout *callee = layout_of_function(f);
    for (uint8_t i = 0; i < v->nargs; i++) code_argument(c, callee, i, v->args[i]);
    for (uint8_t i = 0; i < f->array_count; i++) {
        if (layout_of_var(f->array_params[i])->reg == TILE_NONE) continue;
        tile_insn *insn = add(c, TILE_ARRAY_BIND, 0);
        insn->d = layout_of_var(f->array_params[i])->reg;
        insn->a = layout_of_var(v->u.call.arrays[i])->reg;
    }
    tile_insn *insn = add(c, TILE_CALL, mask);
    insn->b = callee->body_mask;
    insn->c = callee->return_mask;
    insn->u.imm = f->id;
    insn = add(c, TILE_END_CALL, mask);
    insn->c = callee->return_mask;
    if (v->type == KIR_VOID || !v->uses) return;
    bool vector = layout_of(v)->lanes.form == KIR_LANES_EACH;
    insn = add(c, vector ? TILE_COPY_ALL : TILE_COPY_ONE, 0);
    insn->d = vector ? vector_of(v) : cell_of(v);
    insn->a = callee->result_reg;
    insn->size = size_of(v->type);
}

static void code_return(coder *c, const kir_value *v, uint32_t mask) {
    if (v->nargs && c->f->result != KIR_VOID) {
        if (c->p->lanes.result_each) {
            code_masked_copy(c, c->p->result_reg, v->args[0], mask);
        } else {
            tile_insn *insn = add(c, TILE_COPY_ONE, mask);
            insn->d = c->p->result_reg;
            insn->a = cell_of(v->args[0]);
        }
    }
    tile_insn *insn = add(c, TILE_BREAK, mask);
    insn->b = c->f == c->layout->module->functions ? TILE_NONE : c->p->return_mask;
    link_jump(c, insn, pending_of(c, v->parent));
}

/* ---- regions ---- */

static void enter_region(coder *c, kir_value *owner, int which, uint32_t own_mask) {
    value_layout *p = layout_of(owner);
    p->flow.pending[which] = TILE_NONE;
    if (own_mask != TILE_NONE) {
        p->flow.mask[which] = own_mask;
        p->flow.owner[which] = owner->body[which];
        return;
    }
    const kir_region *parent = owner->parent;
    p->flow.mask[which] = mask_of(c, parent);
    p->flow.owner[which] = parent->owner ? layout_of(parent->owner)->flow.owner[which_body(parent)]
                                         : parent;
}

static void begin_if(coder *c, kir_value *v) {
    value_layout *p = layout_of(v);
    uint32_t mask = mask_of(c, v->parent), masks = p->lanes.divergent ? new_masks(c, 2) : TILE_NONE;
    enter_region(c, v, 0, masks);
    enter_region(c, v, 1, masks == TILE_NONE ? masks : masks + 1);
    p->flow.start = here(c);
    tile_insn *insn = add(c, p->lanes.divergent ? TILE_IF : TILE_JUMP_UNLESS, mask);
    insn->a = p->lanes.divergent ? vector_of(v->args[0]) : cell_of(v->args[0]);
    insn->b = masks;
    insn->c = masks + 1;
}

static void set_target(coder *c, uint32_t at, uint32_t target) {
    if (!c->layout->out_of_memory) c->layout->code.data[at].target = target;
}

static void middle_if(coder *c, kir_value *v) {
    value_layout *p = layout_of(v);
    bool has_else = v->body[1]->first != NULL;
    if (p->lanes.divergent) {
        patch(c, &p->flow.pending[0], here(c));
        set_target(c, p->flow.start, here(c));
        p->flow.start = TILE_NONE;
        if (!has_else) return;
        p->flow.start = here(c);
        add(c, TILE_ELSE, mask_of(c, v->parent))->c = p->flow.mask[1];
    } else if (has_else) {
        uint32_t jump = here(c);
        add(c, TILE_JUMP, 0);
        set_target(c, p->flow.start, here(c));
        p->flow.start = jump;
    }
}

static void end_if(coder *c, kir_value *v) {
    value_layout *p = layout_of(v);
    if (p->flow.start != TILE_NONE) set_target(c, p->flow.start, here(c));
    if (!p->lanes.divergent) return;
    patch(c, &p->flow.pending[1], here(c));
    tile_insn *insn = add(c, TILE_END_IF, mask_of(c, v->parent));
    insn->b = p->flow.mask[0];
    insn->c = p->flow.mask[1];
    c->p->mask_count -= 2;
}

static void begin_loop(coder *c, kir_value *v) {
    value_layout *p = layout_of(v);
    uint32_t mask = mask_of(c, v->parent);
    p->flow.pending_breaks = p->flow.pending_continues = TILE_NONE;
    if (p->lanes.divergent) {
        uint32_t masks = new_masks(c, 3);
        enter_region(c, v, 0, masks);
        p->flow.breaks = masks + 1;
        p->flow.continues = masks + 2;
        tile_insn *insn = add(c, TILE_LOOP, mask);
        insn->b = masks;
        insn->c = p->flow.breaks;
        insn->d = p->flow.continues;
    } else {
        enter_region(c, v, 0, TILE_NONE);
    }
    p->flow.start = here(c);
}

static void end_loop(coder *c, kir_value *v) {
    value_layout *p = layout_of(v);
    uint32_t mask = mask_of(c, v->parent);
    if (p->lanes.divergent) {
        patch(c, &p->flow.pending[0], here(c));
        tile_insn *insn = add(c, TILE_END_LOOP, mask);
        insn->b = p->flow.mask[0];
        insn->c = p->flow.breaks;
        insn->d = p->flow.continues;
        insn->target = p->flow.start;
        insn->bounded = v->u.loop.bounded;
        c->p->mask_count -= 3;
        return;
    }
    patch(c, &p->flow.pending_continues, here(c));
    tile_insn *insn = add(c, TILE_BACK, mask);
    insn->target = p->flow.start;
    insn->bounded = v->u.loop.bounded;
    patch(c, &p->flow.pending_breaks, here(c));
}

static void code_jump(coder *c, const kir_value *v, uint32_t mask) {
    if (v->op == KIR_EXIT) {
        tile_insn *insn = add(c, TILE_BREAK, mask);
        insn->b = TILE_NONE;
        link_jump(c, insn, pending_of(c, v->parent));
        return;
    }
    value_layout *loop = layout_of(layout_of(v->parent->owner)->lanes.loop);
    if (loop->lanes.divergent) {
        tile_insn *insn = add(c, TILE_BREAK, mask);
        insn->b = v->op == KIR_BREAK ? loop->flow.breaks : loop->flow.continues;
        link_jump(c, insn, pending_of(c, v->parent));
    } else {
        link_jump(c, add(c, TILE_JUMP, 0),
                  v->op == KIR_BREAK ? &loop->flow.pending_breaks : &loop->flow.pending_continues);
    }
}

/* ---- functions ---- */

static void code_value(coder *c, kir_value *v) {
    uint32_t mask = mask_of(c, v->parent);
    const value_layout *p = layout_of(v);
    c->inst = v->inst;
    switch ((kir_op)v->op) {
    case KIR_CONST: return; /* cells and splats are filled when a frame is made */
    case KIR_INPUT:
    case KIR_PARAM: break;
    case KIR_ID:
        if (p->lanes.form == KIR_LANES_EACH) {
            tile_insn *insn = add(c, TILE_ID, 0);
            insn->d = p->vector;
            insn->size = size_of(v->type);
            insn->u.imm = v->u.imm;
        }
        break;
    case KIR_VAR_GET: code_get(c, v, mask); break;
    case KIR_VAR_SET: code_set(c, v, mask); return;
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: code_array(c, v, mask); return;
    case KIR_TABLE_GET: code_table(c, v); break;
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: code_memory(c, v, mask); break;
    case KIR_TRACE: code_trace(c, v, mask); return;
    case KIR_FENCE: add(c, TILE_FENCE, mask)->u.imm = v->u.imm; return;
    case KIR_BARRIER: add(c, TILE_BARRIER, mask)->u.imm = v->u.imm; return;
    case KIR_IF: begin_if(c, v); return;
    case KIR_LOOP: begin_loop(c, v); return;
    case KIR_BREAK:
    case KIR_CONTINUE:
    case KIR_EXIT: code_jump(c, v, mask); return;
    case KIR_RETURN: code_return(c, v, mask); return;
    case KIR_CALL: code_call(c, v, mask); break;
    case KIR_FAULT_IF: code_fault_if(c, v, mask); return;
    default:
        if (tile_is_pure(v) && tile_is_border(v))
            code_border(c, v);
        else if (tile_is_pure(v))
            code_pure(c, v);
        else
            c->layout->unsupported = kir_op_name((kir_op)v->op);
        break;
    }
    if (p->lanes.form != KIR_LANES_EACH && p->widened && v->type != KIR_VOID)
        widen(c, v, p->vector);
}

static void code_function(coder *c, kir_function *f) {
    c->f = f;
    c->p = layout_of_function(f);
    c->kernel->code.entries[f->id] = here(c);
    for (kir_var *x = c->layout->module->vars; x; x = x->next) {
        bool mine = x->function == f || (!x->function && f == c->layout->module->functions);
        if (!mine || !x->length || x->by_reference || layout_of_var(x)->reg == TILE_NONE) continue;
        tile_insn *insn = add(c, TILE_ARRAY_ZERO, 0);
        insn->a = layout_of_var(x)->reg;
        insn->size = size_of(x->type);
        insn->u.imm = x->length;
    }
    kir_cursor w = kir_cursor_start(f->body);
    do {
        if (w.v) {
            if (!tile_is_dead(w.v)) code_value(c, w.v);
        } else if (w.region->owner) {
            kir_value *owner = w.region->owner;
            c->inst = owner->inst;
            if (owner->op == KIR_LOOP)
                end_loop(c, owner);
            else if (kir_cursor_ends_first(&w))
                middle_if(c, owner);
            else
                end_if(c, owner);
        }
    } while (!c->layout->out_of_memory && !c->layout->unsupported && kir_cursor_next(&w));
    patch(c, &c->p->pending, here(c));
    bool kernel = f == c->layout->module->functions;
    tile_insn *insn = add(c, kernel ? TILE_END : TILE_RETURN, c->p->body_mask);
    insn->b = c->p->body_mask;
    insn->c = c->p->return_mask;
    insn->u.imm = f->id;
}

/* Masks, like registers, lie above those of all callers; the depth of nesting bounds what a
 * function needs. */
static uint32_t mask_need(kir_function *f) {
    uint32_t depth = 2, most = 2;
    kir_cursor w = kir_cursor_start(f->body);
    do {
        const kir_value *open = w.v ? w.v : w.region->owner;
        if (!open || !(open->op == KIR_IF || open->op == KIR_LOOP) ||
            !layout_of(open)->lanes.divergent)
            continue;
        uint32_t count = open->op == KIR_LOOP ? 3 : 2;
        if (w.v)
            depth += count;
        else if (!kir_cursor_ends_first(&w))
            depth -= count;
        if (depth > most) most = depth;
    } while (kir_cursor_next(&w));
    return most;
}

static void place_masks(tile_layout *layout) {
    for (uint64_t i = 0; i < layout->order.count; i++) {
        kir_function *f = layout->order.data[i];
        function_layout *p = layout_of_function(f);
        uint32_t above = p->mask_base + mask_need(f);
        p->body_mask = p->mask_base;
        p->return_mask = p->mask_base + 1;
        p->mask_count = 2;
        p->pending = TILE_NONE;
        if (layout->kernel->code.mask_count < p->mask_base + 2)
            layout->kernel->code.mask_count = p->mask_base + 2;
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (tile_enters(layout->kernel, v) &&
                layout_of_function(v->u.call.function)->mask_base < above)
                layout_of_function(v->u.call.function)->mask_base = above;
    }
}

hg_status tile_lay_out_code(tile_layout *layout) {
    layout->loaded = hg_arena_alloc(&layout->arena, (size_t)(layout->module->slots.count + 1) *
                                                        sizeof *layout->loaded);
    if (!layout->loaded) return hg_fail_memory();
    coder c = {.layout = layout, .kernel = layout->kernel};
    layout->kernel->code.function_count = layout->module->function_count;
    layout->kernel->code.entries = hg_arena_alloc(&layout->kernel->arena,
                                                  layout->module->function_count *
                                                      sizeof *layout->kernel->code.entries);
    layout->table_count = layout->module->table_count;
    layout->tables = hg_arena_alloc(&layout->arena,
                                    (layout->table_count + 1) * sizeof *layout->tables);
    if (!layout->kernel->code.entries || !layout->tables) return hg_fail_memory();
    place_masks(layout);
    for (uint64_t i = 0; i < layout->order.count; i++) code_function(&c, layout->order.data[i]);
    layout->kernel->code.body_mask = layout_of_function(layout->module->functions)->body_mask;
    if (layout->unsupported)
        return hg_fail(HG_ERROR_INTERNAL, "tile code of '%s': %s was not lowered",
                       layout->module->name, layout->unsupported);
    return layout->out_of_memory ? hg_fail_memory() : HG_OK;
}

/* ---- the whole ---- */

static hg_status keep(tile_layout *layout) {
    tile_kernel *k = layout->kernel;
    k->code.count = (uint32_t)layout->code.count;
    k->frame.register_count = (uint32_t)layout->registers.count;
    k->input_count = (uint32_t)layout->module->inputs.count;
    k->memory_count = (uint32_t)layout->module->slots.count;
    k->code.insns = hg_arena_alloc(&k->arena, (k->code.count + 1) * sizeof *k->code.insns);
    k->frame.registers = hg_arena_alloc(&k->arena,
                                        (k->frame.register_count + 1) * sizeof *k->frame.registers);
    k->frame.launch_cells = hg_arena_alloc(&k->arena,
                                           (k->frame.register_count + 1) * sizeof(uint32_t));
    k->frame.tile_cells = hg_arena_alloc(&k->arena,
                                         (k->frame.register_count + 1) * sizeof(uint32_t));
    if (!k->code.insns || !k->frame.registers || !k->frame.launch_cells || !k->frame.tile_cells)
        return hg_fail_memory();
    memcpy(k->code.insns, layout->code.data, k->code.count * sizeof *k->code.insns);
    if (k->frame.register_count)
        memcpy(k->frame.registers, layout->registers.data,
               k->frame.register_count * sizeof *k->frame.registers);
    for (uint32_t i = 0; i < k->frame.register_count; i++) {
        const tile_register *reg = &k->frame.registers[i];
        bool id = reg->kind == TILE_REGISTER_ID && !(reg->imm & KIR_ID_HIGH);
        bool tile = id && (reg->imm == HG_ID_GLOBAL_LANE_ID ||
                           hg_idname_part((hg_idname)reg->imm) == HG_PART_BLOCK_IDX);
        if (tile)
            k->frame.tile_cells[k->frame.tile_cell_count++] = i;
        else if (reg->kind == TILE_REGISTER_ID || reg->kind == TILE_REGISTER_INPUT)
            k->frame.launch_cells[k->frame.launch_cell_count++] = i;
    }
    return HG_OK;
}

/* What the race checker calls memory. */
static hg_status keep_names(tile_kernel *k, const kir_module *m) {
    if (!k->options.check_races || !m->slots.count) return HG_OK;
    k->races.names = hg_arena_alloc(&k->arena, m->slots.count * sizeof *k->races.names);
    if (!k->races.names) return hg_fail_memory();
    k->races.name_count = (uint32_t)m->slots.count;
    for (uint64_t i = 0; i < m->slots.count; i++) {
        const kir_slot *slot = &m->slots.data[i];
        const char *name = !slot->constant && slot->input < m->inputs.count
                               ? m->inputs.data[slot->input].name
                               : NULL;
        k->races.names[i] = name ? hg_arena_text(&k->arena, name, strlen(name)) : NULL;
        if (name && !k->races.names[i]) return hg_fail_memory();
    }
    return HG_OK;
}

hg_status tile_compile(const kir_module *module, const tile_options *options,
                       tile_kernel **kernel) {
    *kernel = NULL;
    tile_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    k->options = *options;
    k->races.library = module->unchecked;
    k->handlers = tile_handlers_of(options->level);
    k->block_mode = module->uses_barrier || module->uses_shared;
    tile_layout layout = {.module = (kir_module *)(uintptr_t)module, .kernel = k}; /* only scratch,
                                                                                      ids and counts
                                                                                      of uses are
                                                                                      written */
    hg_status status = tile_lay_out_forms(&layout);
    if (status == HG_OK) status = tile_lay_out_registers(&layout);
    if (status == HG_OK) status = tile_lay_out_code(&layout);
    if (status == HG_OK) status = keep(&layout);
    if (status == HG_OK) status = keep_names(k, module);
    if (status == HG_OK) status = tile_owns_find(k, module);
    hg_arena_free(&layout.arena);
    hg_vec_free(&layout.order);
    hg_vec_free(&layout.registers);
    hg_vec_free(&layout.code);
    if (status == HG_OK)
        *kernel = k;
    else
        tile_kernel_destroy(k);
    return status;
}

void tile_kernel_destroy(tile_kernel *kernel) {
    if (!kernel) return;
    for (size_t i = 0; i < TILE_FRAME_CACHE; i++)
        tile_frame_free(atomic_load(&kernel->frame.cache[i]));
    if (kernel->native.code.destroy) /* of code that has come, or is expected */
        kernel->native.code.destroy(kernel->native.code.user);
    if (kernel->native.alone.now) kernel->native.alone.code.destroy(kernel->native.alone.code.user);
    hg_arena_free(&kernel->arena);
    hg_free(kernel);
}
