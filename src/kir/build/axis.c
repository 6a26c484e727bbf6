/* The check of an axis: an index against the extent of an array, and the index in row order on the
 * way (docs/design/arrays.md). And the other side of it: accesses whose index such a chain made,
 * which are inside their array.
 * Must not know: control flow, devices. */
#include "isa/verify_internal.h"
#include "kir/build/build_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 200, SHOWN_NAME = 64 };

/* An instruction as its row's operands. */
typedef struct axis {
    const hg_inst *in;
    const hg_operand *index, *before, *array, *extent; /* before: NULL of a first axis */
    uint32_t number, index_operand;                    /* HG_ALL_AXES: all of them as one */
} axis;

static bool is_axis(uint16_t op) { return op == HG_OP_AXIS || op == HG_OP_AXIS_FIRST; }

static axis axis_of(const hg_program *p, uint32_t inst) {
    const hg_operand *o = hg_inst_operands(p, inst);
    bool first = p->insts[inst].op == HG_OP_AXIS_FIRST;
    uint32_t at = first ? 1 : 2;
    return (axis){.in = &p->insts[inst],
                  .index = &o[at],
                  .before = first ? NULL : &o[1],
                  .array = &o[at + 1],
                  .extent = &o[at + 3],
                  .number = (uint32_t)o[at + 2].value,
                  .index_operand = at};
}

/* ---- extents ---- */

/* A scalar of the launch, whatever its register holds by now. */
static kir_value *scalar(build *x, uint16_t param) {
    kir_builder *b = &x->b;
    const hg_param *declared = &x->program->params[param];
    uint64_t i = 0;
    while (i < x->module->inputs.count && x->module->inputs.data[i].reg != declared->reg) i++;
    if (i == x->module->inputs.count) {
        b->failed = true;
        return &b->dummy;
    }
    kir_value *v = kir_emit(b, KIR_INPUT, x->module->inputs.data[i].type, 0, NULL);
    v->u.imm = i;
    return build_resize(b, HG_TYPE_U64, v); /* the launch has refused what is below 0 */
}

static kir_value *quotient(kir_builder *b, kir_value *left, kir_value *right, bool up) {
    kir_value *down = kir_binary(b, KIR_UDIV, left, right);
    if (!up) return down;
    kir_value *rest = kir_binary(b, KIR_UREM, left, right), *whole = is_zero(b, rest);
    return kir_add(b, down, kir_select(b, whole, u64(b, 0), u64(b, 1)));
}

static kir_value *applied(kir_builder *b, uint8_t kind, kir_value *left, kir_value *right) {
    switch ((hg_extent_op_kind)kind) {
    case HG_EXTENT_OP_ADD: return kir_add(b, left, right);
    case HG_EXTENT_OP_SUB: return kir_sub(b, left, right);
    case HG_EXTENT_OP_MUL: return kir_mul(b, left, right);
    case HG_EXTENT_OP_DIV: return quotient(b, left, right, false);
    case HG_EXTENT_OP_CEIL_DIV: return quotient(b, left, right, true);
    case HG_EXTENT_OP_MIN: return kir_select(b, below(b, left, right), left, right);
    default: return kir_select(b, below(b, left, right), right, left);
    }
}

/* The launch has refused what is not exact in 64 bits (P09). */
static kir_value *expression(build *x, const hg_extent *e) {
    kir_value *stack[HG_MAX_EXTENT_OPS] = {u64(&x->b, 0)};
    uint32_t height = 0;
    for (uint32_t i = 0; i < e->op_count; i++) {
        const hg_extent_op *op = &x->program->extent_ops[e->value + i];
        if (op->kind == HG_EXTENT_OP_NUMBER) {
            stack[height++] = u64(&x->b, op->value);
        } else if (op->kind == HG_EXTENT_OP_PARAM) {
            stack[height++] = scalar(x, op->param);
        } else {
            height--;
            stack[height - 1] = applied(&x->b, op->kind, stack[height - 1], stack[height]);
        }
    }
    return stack[0];
}

static kir_value *declared_extent(build *x, const hg_extent *e) {
    switch ((hg_extent_kind)e->kind) {
    case HG_EXTENT_NUMBER: return u64(&x->b, e->value);
    case HG_EXTENT_PARAM: return scalar(x, e->param);
    default: return expression(x, e);
    }
}

static const hg_param *param_of(const hg_program *p, const hg_operand *array) {
    if (array->place != HG_PLACE_BUF_REG) return NULL;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].reg == array->reg) return &p->params[i];
    return NULL;
}

static kir_value *extent_of(build *x, uint32_t inst, const axis *a) {
    const hg_param *array = param_of(x->program, a->array);
    if (!hg_operand_is_missing(a->extent))
        return build_resize(&x->b, HG_TYPE_U64,
                            build_number(x, inst, a->index_operand + 3)); /* extent=
                                                                           */
    if (a->number != HG_ALL_AXES) return declared_extent(x, &array->dims[a->number]);
    kir_value *all = NULL;
    for (uint8_t i = 0; i < array->rank; i++) {
        kir_value *one = declared_extent(x, &array->dims[i]);
        all = all ? kir_mul(&x->b, all, one) : one;
    }
    return all ? all : u64(&x->b, 1);
}

/* ---- the fault ---- */

/* The array's name as text has it, or as a note tells: .meta shared.NAME "… at OFFSET". */
static void name_array(const build *x, const hg_operand *array, char *out, size_t size) {
    const char *space = array->place == HG_PLACE_PRIVATE ? "private" : "shared";
    const hg_program *p = x->program;
    const hg_param *param = param_of(p, array);
    size_t length = strlen(space);
    if (param) {
        (void)snprintf(out, size, "'%.*s'", SHOWN_NAME, param->name);
        return;
    }
    for (uint32_t i = 0; i < p->meta_count && array->place != HG_PLACE_BUF_REG; i++) {
        const char *at = strstr(p->meta[i].value, "] at ");
        uint64_t offset;
        if (strncmp(p->meta[i].key, space, length) != 0 || p->meta[i].key[length] != '.' || !at ||
            !hg_read_digits(at + 5, strlen(at + 5), &offset) || offset != (uint64_t)array->disp)
            continue;
        (void)snprintf(out, size, "'%.*s'", SHOWN_NAME, p->meta[i].key + length + 1);
        return;
    }
    if (array->place == HG_PLACE_BUF_REG)
        (void)snprintf(out, size, "the array in r%u", (unsigned)array->reg);
    else
        (void)snprintf(out, size, "[%s + %lld]", space, (long long)array->disp);
}

static const char *message_of(build *x, const axis *a, bool is_signed) {
    const char *index = is_signed ? "{-}" : "{}";
    char name[SHOWN_NAME + 8], *text = hg_arena_alloc(&x->module->arena, MESSAGE_BYTES);
    if (!text) {
        x->b.failed = true;
        return "";
    }
    name_array(x, a->array, name, sizeof name);
    if (a->number == HG_ALL_AXES)
        (void)snprintf(text, MESSAGE_BYTES, "index %s is outside of %s, which has {} elements",
                       index, name);
    else
        (void)snprintf(text, MESSAGE_BYTES,
                       "index %s is outside of axis %u of %s, which has extent {}", index,
                       (unsigned)a->number, name);
    return text;
}

static void fault(build *x, const axis *a, kir_value *index, kir_value *extent) {
    const char *message = message_of(x, a, hg_type_is_signed((hg_type)a->in->type));
    kir_value *bad = kir_not(&x->b, below(&x->b, index, extent)),
              *v = kir_fault_if_values(&x->b, bad, KIR_FAULT_BOUNDS,
                                       (uint8_t)(a->index_operand + 1), message, 2,
                                       (kir_value *[]){index, extent});
    v->u.fault.axis = true;
}

/* What is below 0 is past every end then. */
static kir_value *widened(build *x, kir_value *index, bool is_signed) {
    if (index->type == HG_TYPE_U64) return index;
    return kir_convert(&x->b, is_signed ? KIR_SEXT : KIR_ZEXT, HG_TYPE_U64, index);
}

static void continue_chain(build *x, const axis *a, const axis_chain *before, uint8_t reg);

void build_axis(build *x, uint32_t inst) {
    kir_builder *b = &x->b;
    axis a = axis_of(x->program, inst);
    uint8_t to = hg_inst_operands(x->program, inst)[0].reg;
    kir_value *before = a.before ? build_get(x, a.before->reg, HG_TYPE_U64) : NULL,
              *given = build_get(x, a.index->reg, kir_type_of((hg_type)a.in->type)),
              *index = widened(x, given, hg_type_is_signed((hg_type)a.in->type)), *extent = NULL;
    if (before || !x->how.unchecked) extent = extent_of(x, inst, &a);
    if (!x->how.unchecked) fault(x, &a, index, extent);
    if (before) index = kir_add(b, kir_mul(b, before, extent), index);
    const axis_chain kept = a.before ? x->axes.chains[a.before->reg] : (axis_chain){0};
    build_set(x, to, index);
    continue_chain(x, &a, a.before ? &kept : NULL, to);
}

/* ---- accesses that are inside ---- */

/* Of a program without the check of an axis nothing is known, and nothing is asked. */
static bool never_written(build *x, uint8_t reg) {
    const hg_program *p = x->program;
    if (!x->axes.looked) {
        x->axes.looked = true;
        for (uint32_t i = 0; i < p->inst_count; i++) x->axes.any |= is_axis(p->insts[i].op);
        for (uint32_t i = 0; i < p->inst_count && x->axes.any; i++) {
            hg_accesses a;
            hg_inst_accesses(p, i, &a);
            for (uint32_t k = 0; k < a.writes; k++)
                if (!a.write[k].is_pred) x->axes.written[a.write[k].reg] = true;
        }
    }
    return x->axes.any && !x->axes.written[reg];
}

static bool is_of(const axis_chain *chain, const hg_operand *array) {
    return chain->place == array->place &&
           (array->place == HG_PLACE_BUF_REG ? chain->reg == array->reg
                                             : chain->disp == array->disp);
}

/* The extent of an axis that no declaration says; 0: it is no number. */
static uint64_t known_extent(const axis *a) {
    return hg_operand_is_missing(a->extent) || a->extent->is_reg ? 0 : a->extent->value;
}

/* What the register holds behind the check, if the ones in front of it belong to it. */
static void continue_chain(build *x, const axis *a, const axis_chain *before, uint8_t reg) {
    axis_chain chain = {.block = x->regs.block_number,
                        .place = a->array->place,
                        .reg = a->array->reg,
                        .disp = a->array->disp,
                        .all = a->number == HG_ALL_AXES,
                        .elements = known_extent(a)};
    bool whole = !before && (chain.all || a->number == 0);
    if (before && before->block == x->regs.block_number && is_of(before, a->array) &&
        !before->all && before->axes == a->number) {
        whole = true;
        if (!hg_mul_u64(before->elements, chain.elements, &chain.elements)) chain.elements = 0;
    }
    chain.axes = (uint8_t)(a->number + 1u);
    x->axes.chains[reg] = whole ? chain : (axis_chain){0};
}

/* Of shared or private memory: all that the index can name is in it. */
static bool is_in_memory(const build *x, const axis_chain *chain, const hg_operand *o,
                         uint64_t size) {
    uint64_t bytes,
        memory = o->place == HG_PLACE_SHARED ? x->program->shared : x->program->private_bytes;
    return chain->elements && o->disp >= 0 && hg_operand_scale(o) >= size &&
           hg_mul_u64(chain->elements, hg_operand_scale(o), &bytes) && bytes <= memory &&
           (uint64_t)o->disp <= memory - bytes;
}

bool build_is_inside(build *x, const hg_operand *o, hg_type element) {
    const axis_chain *chain = &x->axes.chains[o->index];
    uint64_t size = hg_type_size_bytes(element);
    if (!o->has_index || chain->block != x->regs.block_number || !is_of(chain, o)) return false;
    if (o->place != HG_PLACE_BUF_REG) return is_in_memory(x, chain, o, size);
    const hg_param *array = x->how.short_arrays ? NULL : param_of(x->program, o);
    return array && (chain->all || chain->axes == array->rank) && !o->disp &&
           hg_operand_scale(o) == hg_type_size_bytes((hg_type)array->type) &&
           size <= hg_operand_scale(o) && never_written(x, o->reg);
}
