/* Memory as StableHLO: an access is a gather or a scatter of words of an array, a check ends lanes,
 * an atomic operation whose old value is read takes one lane after the other.
 * Must not know: control flow, where arrays come from. */
#include "emit/emit_stablehlo_internal.h"
#include <string.h>

typedef struct memory {
    uint32_t item;
    uint64_t words;
    uint8_t word;         /* bytes */
    uint32_t limit, base; /* names, u64 */
    uint32_t outside;     /* the second value of a fault outside of it */
} memory;

static uint32_t number(hlo *p, uint64_t value) { return hlo_constant(p, HG_TYPE_U64, value); }
static uint32_t sum(hlo *p, uint32_t a, uint32_t b) {
    return hlo_binary(p, "add", HG_TYPE_U64, a, b);
}

static bool is_pool_or_buffer(const kir_value *v) {
    return v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL;
}

static memory array_memory(const hlo *p, uint32_t array) {
    if (array == EMIT_STABLEHLO_NOWHERE) return (memory){0};
    const emit_stablehlo_array *a = &p->launch->arrays[array];
    return (memory){.item = hlo_array(p, array), .words = a->words, .word = a->word_bytes};
}

/* word 0: an invalid handle. */
static memory find(hlo *p, const kir_value *v) {
    memory m = {0};
    if (v->u.mem.space == KIR_SHARED) {
        m = array_memory(p, p->launch->shared_array);
        if (!m.word)
            m = (memory){.item = hlo_of(p, HLO_SHARED),
                         .word = p->launch->shared_word,
                         .words = hlo_shared_words(p)};
        m.limit = number(p, p->launch->shared_bytes - p->launch->shared_scratch);
        m.base = p->items[hlo_of(p, HLO_SHARED_BASE)];
    } else if (v->u.mem.space == KIR_CLASS) {
        m = array_memory(p, p->launch->class_array);
        m.limit = number(p, VEC_CLASS_BYTES);
        m.base = sum(p, p->items[hlo_of(p, HLO_CLASS_BASE)],
                     number(p, v->u.mem.class_id * (uint64_t)VEC_CLASS_BYTES));
    } else if (is_pool_or_buffer(v) && v->u.mem.slot >= 0) {
        uint32_t slot = (uint32_t)v->u.mem.slot;
        m = array_memory(p, p->launch->slot_arrays[slot]);
        m.limit = p->items[hlo_slot_limit(p, slot)];
        m.base = p->items[hlo_slot_base(p, slot)];
    }
    m.outside = number(p, EMIT_STABLEHLO_OUTSIDE);
    return m;
}

/* A fault has ended the lanes of `gone`. */
static void leave(hlo *p, uint32_t gone) {
    uint32_t alive = hlo_of(p, HLO_ALIVE), rest = hlo_not(p, gone);
    p->mask = hlo_and(p, p->mask, rest);
    p->items[alive] = hlo_and(p, p->items[alive], rest);
}

void hlo_fault(hlo *p, const kir_value *v, uint32_t bad, uint32_t first, uint32_t second) {
    if (hg_vec_push(p->sites))
        p->sites->data[p->sites->count - 1] = v;
    else
        p->failed = true;
    const uint32_t items[3] = {hlo_of(p, HLO_CODE), hlo_of(p, HLO_FIRST), hlo_of(p, HLO_SECOND)};
    uint32_t values[3] = {number(p, p->sites->count), first, second};
    for (int i = 0; i < 3; i++)
        p->items[items[i]] = hlo_select(p, HG_TYPE_U64, bad, values[i], p->items[items[i]]);
    leave(p, bad);
}

static uint32_t index_of(hlo *p, const kir_value *v) {
    return v->u.mem.has_index ? hlo_name(p, v->args[kir_access_of(v).index]) : number(p, 0);
}

/* Ends lanes that reach out of the memory; the byte offset in the array. */
static uint32_t check(hlo *p, const kir_value *v, const memory *m, uint32_t index) {
    uint64_t disp = (uint64_t)v->u.mem.disp,
             size = v->op == KIR_CHECK || !v->u.mem.bytes ? v->u.mem.bytes_wide : v->u.mem.bytes;
    uint32_t offset = disp ? sum(p, index, number(p, disp)) : index;
    if (!v->u.mem.unchecked) {
        uint32_t bytes = number(p, size),
                 last = hlo_binary(p, "subtract", HG_TYPE_U64, m->limit, bytes),
                 fits = hlo_and(p, hlo_compare(p, "GE", HG_TYPE_U64, m->limit, bytes),
                                hlo_compare(p, "LE", HG_TYPE_U64, offset, last));
        if (v->u.mem.disp < 0)
            fits = hlo_and(p, fits, hlo_compare(p, "GE", HG_TYPE_U64, index, number(p, 0 - disp)));
        else if (disp)
            fits = hlo_and(p, fits, hlo_compare(p, "GE", HG_TYPE_U64, offset, index));
        hlo_fault(p, v, hlo_and(p, p->mask, hlo_not(p, fits)), index, m->outside);
    }
    if (v->op == KIR_ATOMIC) {
        uint32_t rest = hlo_binary(p, "and", HG_TYPE_U64, offset, number(p, v->u.mem.bytes - 1u)),
                 odd = hlo_compare(p, "NE", HG_TYPE_U64, rest, number(p, 0));
        hlo_fault(p, v, hlo_and(p, p->mask, odd), offset, number(p, EMIT_STABLEHLO_ALIGN));
    }
    return sum(p, m->base, offset);
}

/* The word where an offset lies, i64. */
static uint32_t word_of(hlo *p, const memory *m, uint32_t offset) {
    uint32_t shift = 0;
    for (uint8_t w = m->word; w > 1; w /= 2) shift++;
    if (shift) offset = hlo_binary(p, "shift_right_logical", HG_TYPE_U64, offset, number(p, shift));
    uint32_t name = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.convert %%%u : (", (unsigned)name, (unsigned)offset);
    hlo_type(p, HG_TYPE_U64);
    hg_text_addf(p->out, ") -> tensor<%llux%s>\n", (unsigned long long)p->lanes, "i64");
    return name;
}

/* Beyond the end where the lane is not here: a scatter leaves such out. */
static uint32_t masked(hlo *p, uint32_t word, uint64_t words) {
    uint32_t end = p->next++, name = p->next++;
    unsigned long long lanes = p->lanes;
    hg_text_addf(
        p->out,
        "    %%%u = stablehlo.constant dense<%llu> : tensor<%llux%s>\n"
        "    %%%u = stablehlo.select %%%u, %%%u, %%%u : tensor<%lluxi1>, tensor<%llux%s>\n",
        (unsigned)end, (unsigned long long)words, lanes, "i64", (unsigned)name, (unsigned)p->mask,
        (unsigned)word, (unsigned)end, lanes, lanes, "i64");
    return name;
}

/* "tensor<64x2xui16>" of `parts` words a lane. */
static void parts_type(hlo *p, uint64_t parts, const char *element) {
    hg_text_addf(p->out, "tensor<%llux", (unsigned long long)p->lanes);
    if (parts > 1) hg_text_addf(p->out, "%llux", (unsigned long long)parts);
    hg_text_addf(p->out, "%s>", element);
}

/* Elements of a tensor of `words` at one word a lane. */
static uint32_t gather(hlo *p, uint32_t from, uint64_t words, const char *element, uint64_t parts,
                       uint32_t word) {
    uint32_t name = p->next++;
    unsigned long long count = words, lanes = p->lanes, each = parts;
    hg_text_addf(
        p->out,
        "    %%%u = \"stablehlo.gather\"(%%%u, %%%u) <{dimension_numbers = "
        "#stablehlo.gather<%s, start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
        "array<i64: %llu>}> : (tensor<%llux%s>, tensor<%llux%s>) -> ",
        (unsigned)name, (unsigned)from, (unsigned)word,
        parts > 1 ? "offset_dims = [1]" : "collapsed_slice_dims = [0]", each, count, element, lanes,
        "i64");
    parts_type(p, parts, element);
    hg_text_addf(p->out, "\n");
    return name;
}

/* The tensor with new elements; combine: of the old one, %a, and the new one, %b, NULL: the new
 * one. */
static uint32_t scatter(hlo *p, uint32_t to, uint64_t words, const char *element, uint64_t parts,
                        uint32_t word, uint32_t value, const char *combine) {
    uint32_t name = p->next++;
    unsigned long long count = words, lanes = p->lanes;
    hg_text_addf(p->out,
                 "    %%%u = \"stablehlo.scatter\"(%%%u, %%%u, %%%u) <{scatter_dimension_numbers = "
                 "#stablehlo.scatter<%s, scatter_dims_to_operand_dims = [0], index_vector_dim = "
                 "1>}> ({\n    ^bb0(%%a: tensor<%s>, %%b: tensor<%s>):\n",
                 (unsigned)name, (unsigned)to, (unsigned)word, (unsigned)value,
                 parts > 1 ? "update_window_dims = [1]" : "inserted_window_dims = [0]", element,
                 element);
    if (combine)
        hg_text_addf(p->out, "%s      stablehlo.return %%c : tensor<%s>\n", combine, element);
    else
        hg_text_addf(p->out, "      stablehlo.return %%b : tensor<%s>\n", element);
    hg_text_addf(p->out, "    }) : (tensor<%llux%s>, tensor<%llux%s>, ", count, element, lanes,
                 "i64");
    parts_type(p, parts, element);
    hg_text_addf(p->out, ") -> tensor<%llux%s>\n", count, element);
    return name;
}

/* The number whose words stand side by side, low ones first. */
static uint32_t join(hlo *p, const memory *m, uint8_t type, uint32_t words) {
    uint64_t parts = kir_type_bytes(type) / m->word;
    uint8_t small = hg_uint_of_bytes(m->word);
    unsigned long long lanes = p->lanes;
    uint32_t r = words;
    for (uint64_t i = 0; parts > 1 && i < parts; i++) {
        uint32_t part = p->next++, one = p->next++;
        hg_text_addf(p->out, "    %%%u = stablehlo.slice %%%u [0:%llu, %llu:%llu] : (",
                     (unsigned)part, (unsigned)words, lanes, (unsigned long long)i,
                     (unsigned long long)i + 1);
        parts_type(p, parts, hlo_element(p, small));
        hg_text_addf(p->out,
                     ") -> tensor<%llux1x%s>\n    %%%u = stablehlo.reshape %%%u : "
                     "(tensor<%llux1x%s>) -> ",
                     lanes, hlo_element(p, small), (unsigned)one, (unsigned)part, lanes,
                     hlo_element(p, small));
        hlo_type(p, small);
        hg_text_addf(p->out, "\n");
        one = hlo_convert(p, "convert", type, small, one);
        if (i) one = hlo_binary(p, "shift_left", type, one, hlo_constant(p, type, 8 * m->word * i));
        r = i ? hlo_binary(p, "or", type, r, one) : one;
    }
    return r;
}

/* The other way round. */
static uint32_t take_apart(hlo *p, const memory *m, uint8_t type, uint32_t a) {
    uint64_t parts = kir_type_bytes(type) / m->word;
    uint8_t small = hg_uint_of_bytes(m->word);
    const char *element = hlo_element(p, small);
    unsigned long long lanes = p->lanes;
    uint32_t columns[8];
    if (parts == 1) return a;
    for (uint64_t i = 0; i < parts; i++) {
        uint32_t one = i ? hlo_binary(p, "shift_right_logical", type, a,
                                      hlo_constant(p, type, 8 * m->word * i))
                         : a;
        one = hlo_convert(p, "convert", small, type, one);
        columns[i] = p->next++;
        hg_text_addf(p->out, "    %%%u = stablehlo.reshape %%%u : (", (unsigned)columns[i],
                     (unsigned)one);
        hlo_type(p, small);
        hg_text_addf(p->out, ") -> tensor<%llux1x%s>\n", lanes, element);
    }
    uint32_t r = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.concatenate ", (unsigned)r);
    for (uint64_t i = 0; i < parts; i++) hg_text_addf(p->out, "%%%u, ", (unsigned)columns[i]);
    hg_text_addf(p->out, "dim = 1 : (");
    for (uint64_t i = 0; i < parts; i++)
        hg_text_addf(p->out, "%stensor<%llux1x%s>", i ? ", " : "", lanes, element);
    hg_text_addf(p->out, ") -> ");
    parts_type(p, parts, element);
    hg_text_addf(p->out, "\n");
    return r;
}

static uint32_t from_memory(hlo *p, uint8_t type, uint8_t bytes, uint32_t a) {
    if (type == KIR_BOOL) return hlo_compare(p, "NE", bytes, a, hlo_constant(p, bytes, 0));
    return hlo_convert(p, kir_type_is_float(type) ? "bitcast_convert" : "convert", type, bytes, a);
}
static uint32_t to_memory(hlo *p, uint8_t type, uint8_t bytes, uint32_t a) {
    return hlo_convert(p, kir_type_is_float(type) ? "bitcast_convert" : "convert", bytes, type, a);
}

static void print_load(hlo *p, const kir_value *v, const memory *m, uint32_t offset) {
    uint8_t type = hg_uint_of_bytes(v->u.mem.bytes);
    uint32_t got = gather(p, p->items[m->item], m->words, hlo_element(p, hg_uint_of_bytes(m->word)),
                          v->u.mem.bytes / m->word, word_of(p, m, offset));
    p->names[v->id] = from_memory(p, v->type, type, join(p, m, type, got));
}

static void print_store(hlo *p, const kir_value *v, const memory *m, uint32_t offset) {
    const kir_value *value = v->args[kir_access_of(v).value];
    uint8_t type = hg_uint_of_bytes(v->u.mem.bytes);
    uint32_t word = masked(p, word_of(p, m, offset), m->words),
             bits = take_apart(p, m, type, to_memory(p, value->type, type, hlo_name(p, value)));
    p->items[m->item] = scatter(p, p->items[m->item], m->words,
                                hlo_element(p, hg_uint_of_bytes(m->word)), v->u.mem.bytes / m->word,
                                word, bits, NULL);
}

/* ---- atomic operations ---- */

/* "%c = %a op %b" on tensors of this shape; %b2 is what CAS stores. */
static void combine_text(hg_text *t, kir_atomic op, const char *shape, const char *element) {
    static const char *const OPS[] = {
        [KIR_ATOMIC_ADD] = "add",      [KIR_ATOMIC_UMIN] = "minimum", [KIR_ATOMIC_SMIN] = "minimum",
        [KIR_ATOMIC_UMAX] = "maximum", [KIR_ATOMIC_SMAX] = "maximum", [KIR_ATOMIC_AND] = "and",
        [KIR_ATOMIC_OR] = "or",        [KIR_ATOMIC_XOR] = "xor"};
    if (op == KIR_ATOMIC_EXCH) {
        hg_text_addf(t, "      %%c = stablehlo.or %%b, %%b : tensor<%s%s>\n", shape, element);
    } else if (op == KIR_ATOMIC_CAS) {
        hg_text_addf(t,
                     "      %%e = stablehlo.compare EQ, %%a, %%b : (tensor<%s%s>, tensor<%s%s>) -> "
                     "tensor<%si1>\n"
                     "      %%c = stablehlo.select %%e, %%b2, %%a : tensor<%si1>, tensor<%s%s>\n",
                     shape, element, shape, element, shape, shape, shape, element);
    } else if (op == KIR_ATOMIC_SMIN || op == KIR_ATOMIC_SMAX) {
        for (int i = 0; i < 2; i++)
            hg_text_addf(t,
                         "      %%s%c = stablehlo.bitcast_convert %%%c : (tensor<%s%s>) -> "
                         "tensor<%s%s>\n",
                         'a' + i, 'a' + i, shape, element, shape, element + 1);
        hg_text_addf(
            t,
            "      %%sc = stablehlo.%s %%sa, %%sb : tensor<%s%s>\n"
            "      %%c = stablehlo.bitcast_convert %%sc : (tensor<%s%s>) -> tensor<%s%s>\n",
            OPS[op], shape, element + 1, shape, element + 1, shape, element);
    } else {
        hg_text_addf(t, "      %%c = stablehlo.%s %%a, %%b : tensor<%s%s>\n", OPS[op], shape,
                     element);
    }
}

/* One lane after the other. */
static void print_serial(hlo *p, const kir_value *v, const memory *m, uint32_t word,
                         const uint32_t operands[2]) {
    const char *small = hlo_element(p, hg_uint_of_bytes(m->word)),
               *element = hlo_element(p, hg_uint_of_bytes(v->u.mem.bytes));
    uint64_t parts = v->u.mem.bytes / m->word;
    uint32_t array = p->items[m->item], none = hlo_constant(p, hg_uint_of_bytes(v->u.mem.bytes), 0),
             r = p->next;
    p->next += 3;
    unsigned long long lanes = p->lanes, words = m->words, each = parts;
    hg_text op = {0};
    combine_text(&op, (kir_atomic)v->u.mem.atomic, "1x", element);
    hg_text_addf(p->out,
                 "    %%z%u = stablehlo.constant dense<0> : tensor<i64>\n"
                 "    %%n%u = stablehlo.constant dense<%llu> : tensor<i64>\n"
                 "    %%o%u = stablehlo.constant dense<1> : tensor<i64>\n"
                 "    %%%u, %%%u, %%%u = stablehlo.while(%%i = %%z%u, %%m = %%%u, %%r = %%%u) : "
                 "tensor<i64>, "
                 "tensor<%llux%s>, tensor<%llux%s>\n"
                 "    cond {\n"
                 "      %%c = stablehlo.compare LT, %%i, %%n%u : (tensor<i64>, tensor<i64>) -> "
                 "tensor<i1>\n      stablehlo.return %%c : tensor<i1>\n    } do {\n",
                 (unsigned)r, (unsigned)r, lanes, (unsigned)r, (unsigned)r, (unsigned)r + 1,
                 (unsigned)r + 2, (unsigned)r, (unsigned)array, (unsigned)none, words, small, lanes,
                 element, (unsigned)r);
    const struct {
        const char *name;
        uint32_t of;
        const char *element;
    } SLICES[] = {{"h", p->mask, "i1"},
                  {"w", word, "i64"},
                  {"b", operands[0], element},
                  {"b2", operands[1], element}};
    for (int i = 0; i < (v->u.mem.atomic == KIR_ATOMIC_CAS ? 4 : 3); i++)
        hg_text_addf(p->out,
                     "      %%%s = stablehlo.dynamic_slice %%%u, %%i, sizes = [1] : "
                     "(tensor<%llux%s>, tensor<i64>) -> tensor<1x%s>\n",
                     SLICES[i].name, (unsigned)SLICES[i].of, lanes, SLICES[i].element,
                     SLICES[i].element);
    hg_text_addf(p->out,
                 "      %%ws = stablehlo.reshape %%w : (tensor<1xi64>) -> tensor<i64>\n"
                 "      %%%s = stablehlo.dynamic_slice %%m, %%ws, sizes = [%llu] : "
                 "(tensor<%llux%s>, tensor<i64>) -> tensor<%llux%s>\n",
                 parts > 1 ? "p" : "a", each, words, small, each, small);
    if (parts > 1)
        hg_text_addf(p->out,
                     "      %%p1 = stablehlo.reshape %%p : (tensor<%llux%s>) -> tensor<1x%llux%s>\n"
                     "      %%a = stablehlo.bitcast_convert %%p1 : (tensor<1x%llux%s>) -> "
                     "tensor<1x%s>\n",
                     each, small, each, small, each, small, element);
    hg_text_add(p->out, op.data ? op.data : "", op.length);
    hg_text_addf(p->out,
                 "      %%k = stablehlo.select %%h, %%c, %%a : tensor<1xi1>, tensor<1x%s>\n",
                 element);
    if (parts > 1)
        hg_text_addf(
            p->out,
            "      %%k1 = stablehlo.bitcast_convert %%k : (tensor<1x%s>) -> "
            "tensor<1x%llux%s>\n"
            "      %%k2 = stablehlo.reshape %%k1 : (tensor<1x%llux%s>) -> tensor<%llux%s>\n",
            element, each, small, each, small, each, small);
    hg_text_addf(p->out,
                 "      %%m2 = stablehlo.dynamic_update_slice %%m, %%%s, %%ws : (tensor<%llux%s>, "
                 "tensor<%llux%s>, tensor<i64>) -> tensor<%llux%s>\n"
                 "      %%r2 = stablehlo.dynamic_update_slice %%r, %%a, %%i : (tensor<%llux%s>, "
                 "tensor<1x%s>, tensor<i64>) -> tensor<%llux%s>\n"
                 "      %%i2 = stablehlo.add %%i, %%o%u : tensor<i64>\n"
                 "      stablehlo.return %%i2, %%m2, %%r2 : tensor<i64>, tensor<%llux%s>, "
                 "tensor<%llux%s>\n    }\n",
                 parts > 1 ? "k2" : "k", words, small, each, small, words, small, lanes, element,
                 element, lanes, element, (unsigned)r, words, small, lanes, element);
    if (op.failed) p->failed = true;
    hg_text_free(&op);
    p->items[m->item] = r + 1;
    p->names[v->id] = r + 2;
}

static void print_atomic(hlo *p, const kir_value *v, const memory *m, uint32_t offset) {
    kir_access a = kir_access_of(v);
    uint32_t word = word_of(p, m, offset), operands[2] = {0, 0};
    for (uint8_t i = a.value; i < v->nargs && i < a.value + 2; i++)
        operands[i - a.value] = hlo_name(p, v->args[i]);
    bool order = v->uses || v->u.mem.atomic == KIR_ATOMIC_CAS || v->u.mem.atomic == KIR_ATOMIC_EXCH;
    if (order || v->u.mem.bytes != m->word) {
        print_serial(p, v, m, word, operands);
        return;
    }
    const char *element = hlo_element(p, hg_uint_of_bytes(m->word));
    hg_text op = {0};
    combine_text(&op, (kir_atomic)v->u.mem.atomic, "", element);
    p->items[m->item] = scatter(p, p->items[m->item], m->words, element, 1,
                                masked(p, word, m->words), operands[0], op.data ? op.data : "");
    if (op.failed) p->failed = true;
    hg_text_free(&op);
}

static void print_at(hlo *p, const kir_value *v, const memory *m, uint32_t offset) {
    if (v->op == KIR_LOAD)
        print_load(p, v, m, offset);
    else if (v->op == KIR_STORE)
        print_store(p, v, m, offset);
    else if (v->op == KIR_ATOMIC)
        print_atomic(p, v, m, offset);
}

/* ---- memory that only its handle, or a flat address, names ---- */

enum { FLAT_BITS = 40, HANDLE_INDEX = 0x7FFFFF };
static const uint64_t FIRST_CLASS_HANDLE = UINT64_MAX - (HG_MAX_CLASSES - 1);

static uint32_t with(hlo *p, const char *op, uint32_t a, uint64_t b) {
    return hlo_binary(p, op, HG_TYPE_U64, a, number(p, b));
}
static uint32_t choose(hlo *p, uint32_t condition, uint32_t a, uint32_t b) {
    return hlo_select(p, HG_TYPE_U64, condition, a, b);
}
static uint32_t is_number(hlo *p, uint32_t a, uint64_t b) {
    return hlo_compare(p, "EQ", HG_TYPE_U64, a, number(p, b));
}

static uint32_t entry_word(hlo *p, uint32_t entry, uint64_t word) {
    uint32_t at = word ? with(p, "add", entry, word) : entry;
    return gather(p, p->items[hlo_of(p, HLO_TABLE)], HLO_ENTRY_WORDS * p->launch->table_room,
                  "ui64", 1, word_of(p, &(memory){.word = 1}, at));
}

/* Where each lane's memory lies: its array's number among the table's, limit and base. Lanes whose
 * handle is none end. kir/device/device.h has the table. */
static memory find_open(hlo *p, const kir_value *v, uint32_t *index, uint32_t *arena) {
    bool flat = v->u.mem.space == KIR_FLAT;
    uint32_t handle = hlo_name(p, v->args[0]), given = handle, no = hlo_constant(p, KIR_BOOL, 0),
             buffers = p->items[hlo_of(p, HLO_TABLE_BUFFERS)],
             pools = p->items[hlo_of(p, HLO_TABLE_POOLS)],
             pool = flat ? hlo_compare(p, "GE", HG_TYPE_U64, handle, number(p, UINT64_C(1) << 63))
                         : hlo_constant(p, KIR_BOOL, v->u.mem.space == KIR_POOL),
             class = v->u.mem.space == KIR_BUFFER
                         ? hlo_compare(p, "GE", HG_TYPE_U64, handle, number(p, FIRST_CLASS_HANDLE))
                         : no;
    *index = index_of(p, v);
    if (flat) {
        if (!v->u.mem.has_index) *index = with(p, "and", handle, (UINT64_C(1) << FLAT_BITS) - 1);
        given = with(p, "and", with(p, "shift_right_logical", handle, FLAT_BITS), HANDLE_INDEX);
    }
    uint32_t place = choose(p, class, number(p, 0), with(p, "and", given, HANDLE_INDEX)),
             there = hlo_compare(p, "LT", HG_TYPE_U64, place, choose(p, pool, pools, buffers)),
             entry = with(p, "multiply", sum(p, place, choose(p, pool, buffers, number(p, 0))),
                          HLO_ENTRY_WORDS),
             own = entry_word(p, entry, 0), state = entry_word(p, entry, 1),
             base = entry_word(p, entry, 2), size = entry_word(p, entry, 3),
             valid = with(p, "shift_right_logical", state, 32);
    there = hlo_and(p, there, hlo_not(p, is_number(p, valid, 0)));
    if (!flat) { /* the program's handle, or the host's, which memory may hold */
        uint32_t host = with(p, "shift_left", with(p, "and", valid, ~UINT64_C(1)), 32),
                 same = hlo_compare(p, "EQ", HG_TYPE_U64, own, handle);
        host = hlo_binary(p, "or", HG_TYPE_U64, own, host);
        same = hlo_binary(p, "or", KIR_BOOL, same, hlo_compare(p, "EQ", HG_TYPE_U64, host, handle));
        there = hlo_and(p, there, hlo_binary(p, "or", KIR_BOOL, same, class));
    }
    uint32_t flag = choose(p, pool, number(p, flat ? 4 : 0), number(p, 0));
    if (!v->u.mem.unchecked)
        hlo_fault(p, v, hlo_and(p, p->mask, hlo_not(p, there)), given,
                  with(p, "or", flag, EMIT_STABLEHLO_HANDLE));
    uint32_t begin = with(p, "multiply", with(p, "subtract", handle, FIRST_CLASS_HANDLE),
                          VEC_CLASS_BYTES);
    *arena = with(p, "and", state, UINT32_MAX);
    memory m = {.limit = choose(p, class, number(p, VEC_CLASS_BYTES), size),
                .base = sum(p, base, choose(p, class, begin, number(p, 0)))};
    m.outside = hlo_binary(p, "or", HG_TYPE_U64, with(p, "or", flag, EMIT_STABLEHLO_OUTSIDE_SIZE),
                           with(p, "shift_left", m.limit, 3));
    return m;
}

/* Each array of the table for the lanes that mean it. */
static void print_open(hlo *p, const kir_value *v) {
    uint32_t index, arena, result = 0;
    memory found = find_open(p, v, &index, &arena);
    uint32_t offset = check(p, v, &found, index), here = p->mask;
    if (v->type != KIR_VOID) result = hlo_constant(p, v->type, 0);
    for (uint32_t i = 0; i < p->launch->table_array_count && v->op != KIR_CHECK; i++) {
        memory m = array_memory(p, p->launch->table_arrays[i]);
        p->mask = hlo_and(p, here, is_number(p, arena, i));
        print_at(p, v, &m, offset);
        if (p->names[v->id]) /* an atomic operation whose old value nobody reads has none */
            result = hlo_select(p, v->type, p->mask, p->names[v->id], result);
    }
    p->mask = here;
    p->names[v->id] = result;
}

static void print_access(hlo *p, const kir_value *v) {
    if (kir_access_is_open(v)) {
        print_open(p, v);
        return;
    }
    memory m = find(p, v);
    if (!m.word) {
        hlo_fault(p, v, p->mask,
                  v->nargs && is_pool_or_buffer(v) ? hlo_name(p, v->args[0]) : number(p, 0),
                  number(p, EMIT_STABLEHLO_HANDLE));
        if (v->type != KIR_VOID) p->names[v->id] = hlo_constant(p, v->type, 0);
        return;
    }
    print_at(p, v, &m, check(p, v, &m, index_of(p, v)));
}

static void print_fault_if(hlo *p, const kir_value *v) {
    uint32_t values[2];
    for (uint8_t i = 0; i < 2; i++)
        values[i] = i + 1 < v->nargs ? hlo_name(p, v->args[i + 1]) : number(p, 0);
    hlo_fault(p, v, hlo_and(p, p->mask, hlo_name(p, v->args[0])), values[0], values[1]);
}

bool hlo_print_memory(hlo *p, const kir_value *v) {
    uint32_t phase = hlo_of(p, HLO_PHASE);
    switch ((kir_op)v->op) {
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: print_access(p, v); return true;
    case KIR_FAULT_IF: print_fault_if(p, v); return true;
    case KIR_FENCE: return true;
    case KIR_BARRIER:
        if (v->u.imm != KIR_BARRIER_INNER)
            p->items[phase] = hlo_select(p, HG_TYPE_U64, p->mask,
                                         sum(p, p->items[phase], number(p, 1)), p->items[phase]);
        return true;
    default: return false;
    }
}

/* ---- private arrays and tables ---- */

/* The place of a lane's element: index · lanes + lane. */
static uint32_t own_place(hlo *p, uint32_t index) {
    uint32_t lane = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.iota dim = 0 : ", (unsigned)lane);
    hlo_type(p, HG_TYPE_U64);
    hg_text_addf(p->out, "\n");
    uint32_t at = hlo_convert(p, "convert", HG_TYPE_U64, HG_TYPE_U32, index);
    at = hlo_binary(p, "multiply", HG_TYPE_U64, at, number(p, p->lanes));
    return word_of(p, &(memory){.word = 1}, sum(p, at, lane));
}

void hlo_print_array(hlo *p, const kir_value *v) {
    uint32_t index = hlo_name(p, v->args[0]);
    if (v->op == KIR_TABLE_GET) {
        const kir_table *t = v->u.table;
        const char *element = hlo_element(p, t->type);
        uint64_t bytes = kir_type_bytes(t->type);
        uint32_t table = p->next++;
        hg_text_addf(p->out, "    %%%u = stablehlo.constant dense<[", (unsigned)table);
        for (uint32_t i = 0; i < t->length; i++) {
            uint64_t bits = 0;
            memcpy(&bits, (const uint8_t *)t->data + i * bytes, (size_t)bytes);
            hg_text_addf(p->out, kir_type_is_float(t->type) ? "%s0x%0*llX" : "%s%.*llu",
                         i ? ", " : "", kir_type_is_float(t->type) ? (int)bytes * 2 : 1,
                         (unsigned long long)bits);
        }
        hg_text_addf(p->out, "]> : tensor<%ux%s>\n", (unsigned)t->length, element);
        uint32_t at = hlo_convert(p, "convert", HG_TYPE_U64, HG_TYPE_U32, index);
        p->names[v->id] = gather(p, table, t->length, element, 1,
                                 word_of(p, &(memory){.word = 1}, at));
        return;
    }
    const kir_var *x = v->u.var;
    uint64_t words = x->length * p->lanes;
    uint32_t item = hlo_var(x), at = own_place(p, index);
    const char *element = hlo_element(p, x->type);
    if (v->op == KIR_ARRAY_GET)
        p->names[v->id] = gather(p, p->items[item], words, element, 1, at);
    else
        p->items[item] = scatter(p, p->items[item], words, element, 1, masked(p, at, words),
                                 hlo_name(p, v->args[1]), NULL);
}

void hlo_item_type(hlo *p, uint32_t item) {
    const kir_module *m = p->module;
    if (item < m->var_count) {
        const kir_var *x = p->vars[item];
        hg_text_addf(p->out, "tensor<%llux%s>",
                     (unsigned long long)(p->lanes * (x->length ? x->length : 1)),
                     hlo_element(p, x->type));
        return;
    }
    item -= m->var_count;
    if (item < p->launch->array_count) {
        const emit_stablehlo_array *a = &p->launch->arrays[item];
        hg_text_addf(p->out, "tensor<%llux%s>", (unsigned long long)a->words,
                     hlo_element(p, hg_uint_of_bytes(a->word_bytes)));
        return;
    }
    item -= p->launch->array_count;
    if (item == HLO_SHARED) {
        hg_text_addf(p->out, "tensor<%llux%s>", (unsigned long long)hlo_shared_words(p),
                     hlo_element(p, hg_uint_of_bytes(p->launch->shared_word)));
    } else if (item == HLO_TABLE) {
        hg_text_addf(p->out, "tensor<%lluxui64>",
                     (unsigned long long)(HLO_ENTRY_WORDS * p->launch->table_room));
    } else if (item == HLO_FUEL) {
        hg_text_addf(p->out, "tensor<ui64>");
    } else if (item == HLO_ALIVE || (item >= HLO_STAYS && item <= HLO_RETURNED)) {
        hlo_type(p, KIR_BOOL);
    } else if (item == HLO_RESULT) {
        hlo_type(p, p->function->result);
    } else if (item == HLO_ZERO32) {
        hlo_type(p, HG_TYPE_U32);
    } else if (item >= HLO_ID && item < HLO_ID + HG_ID_COUNT) {
        hlo_type(p, kir_type_of(hg_idname_type((hg_idname)(item - HLO_ID))));
    } else if (item >= HLO_INPUT && item < HLO_INPUT + m->inputs.count) {
        hlo_type(p, m->inputs.data[item - HLO_INPUT].type);
    } else {
        hlo_type(p, HG_TYPE_U64);
    }
}
