/* Private memory of a lane: one array variable of the module, in elements of the smallest access
 * that the program has, at most 8 bytes. An access stands at a multiple of its own size, so it is
 * one element or several whole ones.
 * Must not know: control flow, devices. */
#include "kir/access.h"
#include "kir/build/build_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORD = 8, MESSAGE_BYTES = 160, SHOWN_NAME = 64 };

/* ---- names of arrays ---- */

/* An array of private memory as metadata names it: .meta private.NAME "TYPE[LENGTH] at OFFSET". */
typedef struct private_array {
    const char *name;
    uint64_t length, size, offset;
} private_array;

/* False where metadata names no array, or one that is not inside the memory. */
static bool read_array(const hg_meta *m, uint64_t bytes, private_array *found) {
    static const char PREFIX[] = "private.", AT[] = "] at ";
    const char *bracket = strchr(m->value, '[');
    hg_type type;
    if (strncmp(m->key, PREFIX, sizeof PREFIX - 1) != 0 || !bracket ||
        !hg_type_from_name(m->value, (size_t)(bracket - m->value), &type))
        return false;
    const char *at = bracket + 1;
    found->name = m->key + sizeof PREFIX - 1;
    found->size = hg_type_size_bytes(type);
    size_t digits = hg_read_digits(at, strlen(at), &found->length);
    if (!digits || strncmp(at + digits, AT, sizeof AT - 1) != 0) return false;
    at += digits + sizeof AT - 1;
    digits = hg_read_digits(at, strlen(at), &found->offset);
    return digits && !at[digits] && found->offset <= bytes &&
           found->length <= (bytes - found->offset) / found->size;
}

static int compare_arrays(const void *p, const void *q) {
    const private_array *a = p, *b = q;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void read_arrays(build *x) {
    const hg_program *p = x->program;
    if (!p->meta_count) return;
    x->arrays = hg_arena_alloc(&x->module->arena, p->meta_count * sizeof *x->arrays);
    if (!x->arrays) {
        x->b.failed = true;
        return;
    }
    for (uint32_t i = 0; i < p->meta_count; i++)
        if (read_array(&p->meta[i], p->private_bytes, &x->arrays[x->array_count])) x->array_count++;
    if (x->array_count) qsort(x->arrays, x->array_count, sizeof *x->arrays, compare_arrays);
}

/* The array that begins at an offset, with elements of a size; NULL: none has a name. */
static const private_array *array_at(const build *x, int64_t offset, uint64_t size) {
    uint32_t low = 0, high = x->array_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)x->arrays[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < x->array_count && (int64_t)x->arrays[low].offset == offset; low++)
        if (x->arrays[low].size == size) return &x->arrays[low];
    return NULL;
}

/* ---- the memory ---- */

/* Of the elements that an instruction reaches. */
static hg_type element_of(const hg_inst *in) {
    bool is_load = hg_op_access((hg_op)in->op) == HG_OP_LDP;
    return hg_element_type(in->type, in->type2, &hg_op_get((hg_op)in->op)->operands[is_load]);
}

static uint32_t alignment_of(const hg_inst *in) {
    uint64_t size = hg_type_size_bytes(element_of(in));
    return size < MOST_WORD ? (uint32_t)size : MOST_WORD;
}

kir_var *build_private_memory(build *x) {
    static const uint8_t WORDS[] = {
        [1] = HG_TYPE_U8, [2] = HG_TYPE_U16, [4] = HG_TYPE_U32, [8] = HG_TYPE_U64};
    if (x->own) return x->own;
    uint32_t word = MOST_WORD;
    for (uint32_t i = 0; i < x->program->inst_count; i++) {
        const hg_inst *in = &x->program->insts[i];
        if (in->op < HG_OP_COUNT && (hg_op_get((hg_op)in->op)->flags & HG_F_PRIVATE) &&
            alignment_of(in) < word)
            word = alignment_of(in);
    }
    uint32_t length = (uint32_t)((x->program->private_bytes + word - 1) / word);
    x->own = kir_var_create(x->module, NULL, WORDS[word], length, "private");
    if (!x->own) x->b.failed = true;
    read_arrays(x);
    return x->own;
}

/* ---- the address ---- */

typedef struct address {
    const hg_operand *o;
    uint64_t size, scale;
    uint32_t align;
    uint8_t operand;  /* of the instruction, from 1 */
    kir_value *index; /* u32 or u64, NULL: none */
} address;

static char *message_of(build *x, const char *text) {
    char *copy = hg_arena_alloc(&x->module->arena, MESSAGE_BYTES);
    if (copy)
        (void)snprintf(copy, MESSAGE_BYTES, "%s", text);
    else
        x->b.failed = true;
    return copy;
}

static void fault(build *x, const address *a, kir_value *bad, kir_fault code, const char *text,
                  kir_value *value) {
    if (value && value->type != HG_TYPE_U64)
        value = kir_convert(&x->b, KIR_ZEXT, HG_TYPE_U64, value);
    char *message = message_of(x, text);
    if (message) kir_fault_if_values(&x->b, bad, code, a->operand, message, value ? 1 : 0, &value);
}

/* The offset as text: its constant, or {} for the index, times the scale, plus the constant. */
static void describe(const address *a, char *text, size_t size) {
    char scale[24] = "", more[32] = "";
    unsigned long long distance = a->o->disp < 0 ? 0 - (unsigned long long)a->o->disp
                                                 : (unsigned long long)a->o->disp;
    if (a->scale > 1) (void)snprintf(scale, sizeof scale, " * %llu", (unsigned long long)a->scale);
    if (a->o->disp)
        (void)snprintf(more, sizeof more, " %c %llu", a->o->disp < 0 ? '-' : '+', distance);
    if (a->index)
        (void)snprintf(text, size, "{}%s%s", scale, more);
    else
        (void)snprintf(text, size, "%lld", (long long)a->o->disp);
}

/* The array whose elements an index counts, so that an index outside the memory is outside the
 * array. A load in front of an access with the same index checks for it: what it reaches ends with
 * the memory, and is as long as the array. */
static const private_array *find_array(const build *x, uint32_t inst, const address *a) {
    const hg_inst *in = &x->program->insts[inst],
                  *next = inst + 1 < x->program->inst_count ? in + 1 : NULL;
    if (!a->index || a->size != a->scale) return NULL;
    hg_op access = next ? hg_op_access((hg_op)next->op) : HG_OP_NONE;
    if (in->op == HG_OP_LDP && (access == HG_OP_LDP || access == HG_OP_STP) &&
        element_of(next) == (hg_type)in->type) {
        const hg_operand *o = &x->program->operands[next->operands + (access == HG_OP_LDP ? 1 : 0)];
        bool same = o->has_index && o->index == a->o->index && hg_operand_scale(o) == a->scale;
        const private_array *found = same ? array_at(x, o->disp, a->size) : NULL;
        if (found &&
            x->program->private_bytes - found->length * found->size == (uint64_t)a->o->disp)
            return found;
    }
    return array_at(x, a->o->disp, a->size);
}

/* True where the access is not inside; NULL: it always is. An index is inside from one constant to
 * another, which no sum can miss. */
static kir_value *is_outside(build *x, const address *a) {
    kir_builder *b = &x->b;
    int64_t most = (int64_t)x->program->private_bytes - (int64_t)a->size, disp = a->o->disp;
    if (!a->index) return disp < 0 || disp > most ? kir_const(b, KIR_BOOL, 1) : NULL;
    if (disp > most) return kir_const(b, KIR_BOOL, 1);
    uint64_t room = (uint64_t)most - (uint64_t)disp, high = room / a->scale, low = 0,
             top = a->index->type == HG_TYPE_U32 ? UINT32_MAX : UINT64_MAX;
    if (disp < 0) low = (0 - (uint64_t)disp + a->scale - 1) / a->scale;
    if (low > high || low > top) return kir_const(b, KIR_BOOL, 1);
    kir_value *outside = NULL;
    if (high < top) outside = below(b, kir_const(b, a->index->type, high), a->index);
    if (!low) return outside;
    kir_value *before = below(b, a->index, kir_const(b, a->index->type, low));
    return outside ? kir_binary(b, KIR_OR, outside, before) : before;
}

static void describe_bounds(build *x, uint32_t inst, const address *a, char *text, size_t size) {
    char where[96];
    const private_array *of = find_array(x, inst, a);
    if (of) {
        (void)snprintf(text, size,
                       "private access out of bounds: index {} of '%.*s', which has %llu elements",
                       SHOWN_NAME, of->name, (unsigned long long)of->length);
        return;
    }
    describe(a, where, sizeof where);
    (void)snprintf(text, size,
                   "private access out of bounds: offset %s + size %llu > private size %llu", where,
                   (unsigned long long)a->size, (unsigned long long)x->program->private_bytes);
}

/* The first element of the access, u32; faults where it is outside or misaligned. */
static kir_value *element(build *x, uint32_t inst, const address *a, uint32_t word) {
    kir_builder *b = &x->b;
    char text[MESSAGE_BYTES];
    describe_bounds(x, inst, a, text, sizeof text);
    bool inside = build_is_inside(x, a->o, element_of(&x->program->insts[inst]));
    kir_value *outside = inside ? NULL : is_outside(x, a), *offset;
    if (outside) fault(x, a, outside, KIR_FAULT_BOUNDS, text, a->index);
    if (!a->index) {
        kir_value *bad = kir_const(b, KIR_BOOL, a->o->disp % a->align != 0),
                  *constant = u64(b, (uint64_t)a->o->disp);
        if (a->o->disp % a->align)
            fault(x, a, bad, KIR_FAULT_ALIGN, "misaligned private access: offset {}", constant);
        return u32(b, (uint64_t)a->o->disp / word);
    }
    offset = a->index->type == HG_TYPE_U32 ? a->index
                                           : kir_convert(b, KIR_TRUNC, HG_TYPE_U32, a->index);
    if (a->scale % word == 0 && a->o->disp % word == 0 && a->scale % a->align == 0 &&
        a->o->disp % a->align == 0) {
        offset = a->scale == word ? offset : by(b, KIR_MUL, offset, a->scale / word);
        return a->o->disp ? by(b, KIR_ADD, offset, (uint32_t)(a->o->disp / (int64_t)word)) : offset;
    }
    if (a->scale > 1) offset = by(b, KIR_MUL, offset, a->scale);
    if (a->o->disp) offset = by(b, KIR_ADD, offset, (uint32_t)a->o->disp);
    if (a->align > 1)
        fault(x, a, kir_not(b, is_zero(b, by(b, KIR_AND, offset, a->align - 1))), KIR_FAULT_ALIGN,
              "misaligned private access: offset {}", offset);
    return word > 1 ? shift_by(b, KIR_LSHR, offset, hg_ctz64(word)) : offset;
}

/* ---- the value ---- */

/* Integers of a type's width; floats as their bits. */
static uint8_t integer_of(uint8_t type) {
    return type == HG_TYPE_F32 ? HG_TYPE_U32 : type == HG_TYPE_F64 ? HG_TYPE_U64 : type;
}

/* A value of `parts` elements from element `first` on, the lowest first. */
static kir_value *load(build *x, kir_var *own, kir_value *first, uint8_t type, uint32_t parts) {
    kir_builder *b = &x->b;
    uint8_t whole = integer_of(type);
    if (parts == 1) {
        kir_value *v = kir_array_get(b, own, first);
        return type == whole ? v : kir_convert(b, KIR_BITCAST, type, v);
    }
    kir_var *sum = kir_var_create(x->module, b->function, whole, 0, NULL);
    kir_set(b, sum, kir_const(b, whole, 0));
    kir_for i = kir_for_begin(b, u32(b, parts)); /* from the highest */
    kir_value *at = kir_add(b, first, kir_sub(b, u32(b, parts - 1), i.i));
    kir_value *part = kir_convert(b, KIR_ZEXT, whole, kir_array_get(b, own, at));
    kir_value *up = shift_by(b, KIR_SHL, kir_get(b, sum), kir_type_bits(own->type));
    kir_set(b, sum, kir_binary(b, KIR_OR, up, part));
    kir_for_end(b, &i);
    kir_value *v = kir_get(b, sum);
    return type == whole ? v : kir_convert(b, KIR_BITCAST, type, v);
}

static void store(build *x, kir_var *own, kir_value *first, kir_value *v, uint32_t parts) {
    kir_builder *b = &x->b;
    uint8_t whole = integer_of(v->type);
    if (v->type != whole) v = kir_convert(b, KIR_BITCAST, whole, v);
    if (parts == 1) {
        kir_array_set(b, own, first, v);
        return;
    }
    kir_for i = kir_for_begin(b, u32(b, parts));
    kir_value *down = kir_binary(b, KIR_LSHR, v, by(b, KIR_MUL, i.i, kir_type_bits(own->type)));
    kir_value *at = kir_add(b, first, i.i);
    kir_array_set(b, own, at, kir_convert(b, KIR_TRUNC, own->type, down));
    kir_for_end(b, &i);
}

void build_private(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    bool is_load = hg_op_access((hg_op)in->op) == HG_OP_LDP;
    uint8_t type = kir_type_of(element_of(in));
    kir_var *own = build_private_memory(x);
    if (!own) return;
    address a = {.o = &o[is_load ? 1 : 0],
                 .size = hg_type_size_bytes(element_of(in)),
                 .align = alignment_of(in)};
    a.operand = is_load ? 2 : 1;
    a.scale = hg_operand_scale(a.o);
    uint32_t operand = in->operands + (is_load ? 1 : 0), word = (uint32_t)kir_type_bytes(own->type);
    if (a.o->has_index)
        a.index = build_get(x, a.o->index,
                            x->types[operand] == HG_TYPE_U32 ? HG_TYPE_U32 : HG_TYPE_U64);
    kir_value *v = is_load ? NULL : build_stored(x, in, o[1].reg),
              *first = element(x, inst, &a, word);
    if (is_load)
        build_set(x, o[0].reg,
                  build_loaded(x, in, load(x, own, first, type, (uint32_t)a.size / word)));
    else
        store(x, own, first, v, (uint32_t)a.size / word);
}
