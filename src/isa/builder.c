/* The builder: instructions, labels and parameters in growable arrays until a program is made of
 * them.
 * Must not know: text syntax, control flow (the verifier does). */
#include "isa/verify_internal.h"
#include <hologram/builder.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct label {
    const char *name;
    uint32_t index;
    bool placed;
} label;
typedef struct open_loop {
    uint8_t counter;
    bool skipped;
    uint32_t first; /* instruction of the body */
    hg_label body, after;
} open_loop;
typedef struct parameter {
    hg_param param;
    const char *dims[HG_MAX_EXTENTS];
} parameter;

/* The instructions from first on come from there. */
typedef struct source_place {
    uint32_t first, line, column;
} source_place;

struct hg_builder {
    hg_arena arena; /* names, default values */
    const char *name;
    HG_VEC(hg_inst) insts;
    HG_VEC(hg_operand) operands; /* a label operand's value is the label's id */
    HG_VEC(hg_tuple_item) items;
    hg_text literals;
    HG_VEC(label) labels;
    HG_VEC(source_place) places; /* by first, rising */
    HG_VEC(parameter) params;
    HG_VEC(hg_meta) meta;
    open_loop loops[HG_MAX_LOOP_NESTING];
    uint32_t loop_count;
    HG_VEC(hg_inst_range) skipped; /* bodies of loops of 0 rounds */
    uint32_t flags;
    struct { /* what the program says of launches */
        uint64_t shared, private_bytes;
        uint32_t block[3], lanes_count, grid_count;
        hg_extent lanes[HG_MAX_EXTENTS], grid[HG_MAX_EXTENTS];
        const char *lane_names[HG_MAX_EXTENTS], *grid_names[HG_MAX_EXTENTS];
    } launch;
    bool has_entry;
    hg_label entry;
    bool out_of_memory;
    struct {
        char code[4], message[256];
        uint64_t instruction;
    } wrong; /* the first mistake */
};

/* ---- mistakes ---- */

static bool stuck(const hg_builder *b) { return !b || b->wrong.code[0] || b->out_of_memory; }

static void mistake(hg_builder *b, const char *code, const char *format, ...) HG_PRINTF(3, 4);
static void mistake(hg_builder *b, const char *code, const char *format, ...) {
    if (stuck(b)) return;
    va_list args;
    va_start(args, format);
    vsnprintf(b->wrong.message, sizeof b->wrong.message, format, args);
    va_end(args);
    snprintf(b->wrong.code, sizeof b->wrong.code, "%s", code);
    b->wrong.instruction = b->insts.count;
}

static const char *keep(hg_builder *b, const char *text) {
    const char *kept = hg_arena_text(&b->arena, text, strlen(text));
    if (!kept) b->out_of_memory = true;
    return kept;
}

/* A count of things and where they are; false: there should be some and the pointer is NULL. */
static bool given(hg_builder *b, const void *pointer, uint64_t count, const char *what) {
    if (pointer || count == 0) return true;
    mistake(b, "N03", "%llu %s at NULL", (unsigned long long)count, what);
    return false;
}

/* Enumerators come from the caller as any int; false: it is no element type. */
static bool is_type(hg_builder *b, hg_type type) {
    if ((unsigned)type < HG_TYPE_COUNT) return true;
    mistake(b, "N03", "%d is no element type: expected a value of hg_type below %d", (int)type,
            (int)HG_TYPE_COUNT);
    return false;
}
static bool is_type_or_none(hg_builder *b, hg_type type) {
    return (unsigned)type == HG_TYPE_COUNT || is_type(b, type);
}

/* ---- the program ---- */

hg_builder *hg_builder_create(const char *name) {
    HG_ENTRY;
    hg_builder *b = hg_calloc(1, sizeof *b);
    if (!b) return NULL;
    if (!name || !hg_is_identifier(name, strlen(name)))
        mistake(b, "N03", "'%s' cannot be a program's name", name ? name : "");
    else
        b->name = keep(b, name);
    return b;
}

void hg_builder_destroy(hg_builder *b) {
    HG_ENTRY;
    if (!b) return;
    hg_arena_free(&b->arena);
    hg_vec_free(&b->insts);
    hg_vec_free(&b->operands);
    hg_vec_free(&b->items);
    hg_text_free(&b->literals);
    hg_vec_free(&b->labels);
    hg_vec_free(&b->places);
    hg_vec_free(&b->skipped);
    hg_vec_free(&b->params);
    hg_vec_free(&b->meta);
    hg_free(b);
}

size_t hg_builder_len(const hg_builder *b) {
    HG_ENTRY;
    return b ? (size_t)b->insts.count : 0;
}

hg_builder *hg_builder_relaxed(hg_builder *b) {
    HG_ENTRY;
    if (!stuck(b)) b->flags |= 1;
    return b;
}

hg_builder *hg_builder_private(hg_builder *b, uint64_t bytes) {
    HG_ENTRY;
    if (!stuck(b)) b->launch.private_bytes = bytes;
    return b;
}

hg_builder *hg_builder_shared(hg_builder *b, uint64_t bytes) {
    HG_ENTRY;
    if (!stuck(b)) b->launch.shared = bytes;
    return b;
}

hg_builder *hg_builder_block(hg_builder *b, uint32_t x, uint32_t y, uint32_t z) {
    HG_ENTRY;
    if (stuck(b)) return b;
    if (!x || !y || !z) mistake(b, "N03", "a block extent is 0");
    b->launch.block[0] = x;
    b->launch.block[1] = y;
    b->launch.block[2] = z;
    return b;
}

/* Numbers and names of extents; false after a mistake. */
static bool copy_dims(hg_builder *b, const hg_dim *from, uint32_t count, hg_extent *to,
                      const char **names) {
    if (count > HG_MAX_EXTENTS) {
        mistake(b, "S05", "%u extents: at most %d", (unsigned)count, (int)HG_MAX_EXTENTS);
        return false;
    }
    if (!given(b, from, count, "extents")) return false;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = (hg_extent){.kind = from[i].param ? HG_EXTENT_PARAM : HG_EXTENT_NUMBER,
                            .value = from[i].param ? 0 : from[i].value};
        names[i] = from[i].param ? keep(b, from[i].param) : NULL;
    }
    return !b->out_of_memory;
}

hg_builder *hg_builder_lanes(hg_builder *b, const hg_dim *extents, uint32_t count) {
    HG_ENTRY;
    if (!stuck(b) && copy_dims(b, extents, count, b->launch.lanes, b->launch.lane_names))
        b->launch.lanes_count = count;
    return b;
}

hg_builder *hg_builder_grid(hg_builder *b, const hg_dim *extents, uint32_t count) {
    HG_ENTRY;
    if (stuck(b)) return b;
    if (count < 1 || count > 3)
        mistake(b, "S05", "%u extents of a grid: 1 to 3 are expected", (unsigned)count);
    else if (copy_dims(b, extents, count, b->launch.grid, b->launch.grid_names))
        b->launch.grid_count = count;
    return b;
}

hg_builder *hg_builder_meta(hg_builder *b, const char *key, const char *value) {
    HG_ENTRY;
    if (stuck(b)) return b;
    if (!key || !value || !hg_is_identifier(key, strlen(key)) ||
        strlen(value) > HG_MAX_META_BYTES) {
        mistake(b, "N03", "metadata '%s' cannot be kept", key ? key : "");
        return b;
    }
    for (uint64_t i = 0; i < b->meta.count; i++)
        if (strcmp(b->meta.data[i].key, key) == 0)
            mistake(b, "D01", "metadata '%s' is given twice", key);
    if (b->meta.count >= HG_MAX_META_ENTRIES)
        mistake(b, "S05", "more than %d metadata entries", (int)HG_MAX_META_ENTRIES);
    hg_meta *m = stuck(b) ? NULL : hg_vec_push(&b->meta);
    if (!m) {
        b->out_of_memory |= !b->wrong.code[0];
        return b;
    }
    *m = (hg_meta){keep(b, key), keep(b, value), (uint32_t)strlen(value)};
    return b;
}

/* ---- literals ---- */

/* The nearest f16 or bf16 pattern, ties to even: `bits` significand bits after the point, exponents
 * from `least`. */
static uint64_t round_to_16(double value, int bits, int least, uint64_t infinity) {
    uint64_t sign = signbit(value) ? 0x8000u : 0;
    if (isnan(value)) return infinity | (uint64_t)1 << (bits - 1);
    double size = fabs(value);
    if (isinf(size)) return sign | infinity;
    if (size == 0) return sign;
    int exponent = ilogb(size) < least ? least : ilogb(size);
    double units = nearbyint(ldexp(size, bits - exponent)); /* the default mode rounds to nearest
                                                               even */
    uint64_t pattern = (uint64_t)units + ((uint64_t)(exponent - least) << bits); /* the implicit one
                                                                                    carries into the
                                                                                    exponent */
    return sign | (pattern > infinity ? infinity : pattern);
}

static bool put_real(hg_builder *b, hg_type type, double value, uint8_t *bytes) {
    uint64_t bits = 0;
    float single = (float)value;
    uint32_t single_bits;
    switch (type) {
    case HG_TYPE_F64: memcpy(&bits, &value, sizeof bits); break;
    case HG_TYPE_F32:
        memcpy(&single_bits, &single, sizeof single_bits);
        bits = single_bits;
        break;
    case HG_TYPE_F16: bits = round_to_16(value, 10, -14, 0x7C00); break;
    case HG_TYPE_BF16: bits = round_to_16(value, 7, -126, 0x7F80); break;
    default:
        mistake(b, "N03", "a real number where an integer of type %s is expected",
                hg_type_name(type));
        return false;
    }
    for (uint64_t i = 0; i < hg_type_size_bytes(type); i++) bytes[i] = (uint8_t)(bits >> (8 * i));
    return true;
}

static bool put_integer(hg_builder *b, hg_type type, uint64_t value, bool negative,
                        uint8_t *bytes) {
    uint64_t size = hg_type_size_bytes(type), width = size * 8;
    if (!hg_type_is_integer(type)) {
        mistake(b, "N03", "an integer where a number of type %s is expected", hg_type_name(type));
        return false;
    }
    uint64_t value_bits = width - (hg_type_is_signed(type) ? 1 : 0);
    bool fits = negative
                    ? hg_type_is_signed(type) && (value_bits >= 64 || ~value >> value_bits == 0)
                    : value_bits >= 64 || value >> value_bits == 0;
    if (!fits) {
        mistake(b, "S04", "literal out of range for type %s", hg_type_name(type));
        return false;
    }
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i < 8 ? value >> (8 * i) : negative ? 0xFF : 0);
    return true;
}

/* The bits of a half as an f32. */
static bool put_widened(hg_builder *b, hg_type of, const hg_arg *a, uint8_t *bytes) {
    const uint8_t *half = a->bytes;
    if (!given(b, half, 2, "bytes of a literal")) return false;
    uint32_t bits = hg_widen_half(of, (uint16_t)(half[0] | half[1] << 8));
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(bits >> 8 * i);
    return true;
}

/* size(type) bytes of a literal argument. of: the type that a caller's bits have, which is the
 * element's where the instruction calculates in f32 (hg_imm_bits). */
static bool put_literal(hg_builder *b, hg_type type, hg_type of, const hg_arg *a, uint8_t *bytes) {
    if (type >= HG_TYPE_COUNT) {
        mistake(b, "V05", "a literal needs its type");
        return false;
    }
    switch (a->kind) {
    case HG_ARG_NUMBER: return put_integer(b, type, a->value, false, bytes);
    case HG_ARG_SIGNED: return put_integer(b, type, a->value, (int64_t)a->value < 0, bytes);
    case HG_ARG_REAL: return put_real(b, type, a->real, bytes);
    case HG_ARG_BITS:
        if (of != type) return put_widened(b, of, a, bytes);
        if (given(b, a->bytes, hg_type_size_bytes(type), "bytes of a literal"))
            memcpy(bytes, a->bytes, (size_t)hg_type_size_bytes(type));
        return !stuck(b);
    default: mistake(b, "N03", "a literal is expected"); return false;
    }
}

/* ---- parameters ---- */

static parameter *add_param(hg_builder *b, uint8_t reg, const char *name) {
    if (stuck(b)) return NULL;
    if (!name || !hg_is_parameter_name(name, strlen(name)))
        mistake(b, "N03", "'%s' cannot be a parameter's name", name ? name : "");
    if (b->params.count >= HG_MAX_PARAMS)
        mistake(b, "S05", "more than %d parameters", (int)HG_MAX_PARAMS);
    if (stuck(b)) return NULL;
    parameter *p = hg_vec_push(&b->params);
    if (!p) {
        b->out_of_memory = true;
        return NULL;
    }
    p->param.reg = reg;
    p->param.rank = HG_NO_DIMS;
    p->param.name = keep(b, name);
    return p;
}

hg_builder *hg_builder_param_scalar(hg_builder *b, uint8_t reg, const char *name, hg_type type) {
    HG_ENTRY;
    parameter *p = stuck(b) || !is_type(b, type) ? NULL : add_param(b, reg, name);
    if (!p) return b;
    p->param.kind = HG_PARAM_SCALAR;
    p->param.type = (uint8_t)type;
    return b;
}

hg_builder *hg_builder_param_scalar_default(hg_builder *b, uint8_t reg, const char *name,
                                            hg_type type, hg_arg value) {
    HG_ENTRY;
    hg_builder_param_scalar(b, reg, name, type);
    if (stuck(b)) return b;
    hg_param *p = &b->params.data[b->params.count - 1].param;
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    if (!put_literal(b, type, type, &value, bytes)) return b;
    p->default_bytes = hg_arena_alloc(&b->arena, (size_t)hg_type_size_bytes(type));
    if (!p->default_bytes) {
        b->out_of_memory = true;
        return b;
    }
    memcpy(p->default_bytes, bytes, (size_t)hg_type_size_bytes(type));
    p->has_default = 1;
    return b;
}

hg_builder *hg_builder_param_buffer(hg_builder *b, uint8_t reg, const char *name, hg_type type,
                                    int dir, const hg_dim *dims, uint32_t rank) {
    HG_ENTRY;
    if (stuck(b) || !is_type(b, type)) return b;
    if (dir < HG_PARAM_IN || dir > HG_PARAM_INOUT) {
        mistake(
            b, "N03",
            "%d is no direction of a buffer: expected HG_PARAM_IN, HG_PARAM_OUT or HG_PARAM_INOUT",
            dir);
        return b;
    }
    parameter *p = add_param(b, reg, name);
    if (!p) return b;
    p->param.kind = HG_PARAM_BUFFER;
    p->param.type = (uint8_t)type;
    p->param.dir = (uint8_t)dir;
    if (rank != HG_NO_DIMS && copy_dims(b, dims, rank, p->param.dims, p->dims))
        p->param.rank = (uint8_t)rank;
    return b;
}

hg_builder *hg_builder_scratch(hg_builder *b, uint8_t reg, const char *name, hg_type type,
                               const hg_dim *dims, uint32_t rank) {
    HG_ENTRY;
    parameter *p = stuck(b) || !is_type(b, type) ? NULL : add_param(b, reg, name);
    if (!p) return b;
    p->param.kind = HG_PARAM_SCRATCH;
    p->param.type = (uint8_t)type;
    if (copy_dims(b, dims, rank, p->param.dims, p->dims)) p->param.rank = (uint8_t)rank;
    return b;
}

hg_builder *hg_builder_data(hg_builder *b, uint8_t reg, const char *name, hg_type type,
                            const hg_dim *dims, uint32_t rank, const void *elements) {
    HG_ENTRY;
    parameter *p = stuck(b) || !is_type(b, type) ? NULL : add_param(b, reg, name);
    if (!p) return b;
    p->param.kind = HG_PARAM_DATA;
    p->param.type = (uint8_t)type;
    if (!copy_dims(b, dims, rank, p->param.dims, p->dims)) return b;
    p->param.rank = (uint8_t)rank;
    uint64_t bytes = hg_type_size_bytes(type);
    for (uint32_t i = 0; i < rank; i++) {
        if (p->dims[i]) mistake(b, "D03", "an extent of '%s' is no number: it is a table", name);
        if (!hg_mul_u64(bytes, p->param.dims[i].value, &bytes)) bytes = UINT64_MAX;
    }
    if (bytes > HG_MAX_DATA_BYTES)
        mistake(b, "S05", "more than %d bytes of tables", (int)HG_MAX_DATA_BYTES);
    if (stuck(b) || !given(b, elements, bytes, "bytes of a table")) return b;
    uint8_t *copy = hg_arena_alloc(&b->arena, (size_t)bytes + 1);
    if (!copy) {
        b->out_of_memory = true;
        return b;
    }
    if (bytes) memcpy(copy, elements, (size_t)bytes);
    p->param.data = copy;
    p->param.data_bytes = bytes;
    return b;
}

hg_builder *hg_builder_param_pool(hg_builder *b, uint8_t reg, const char *name, uint64_t bytes) {
    HG_ENTRY;
    parameter *p = add_param(b, reg, name);
    if (!p) return b;
    p->param.kind = HG_PARAM_POOL;
    p->param.pool_bytes = bytes;
    return b;
}

/* ---- labels and loops ---- */

static hg_label new_label(hg_builder *b, const char *name) {
    hg_label id = {UINT32_MAX};
    if (stuck(b)) return id;
    if (b->labels.count >= 4 * (uint64_t)HG_MAX_LABELS) {
        mistake(b, "S05", "too many labels");
        return id;
    }
    label *l = hg_vec_push(&b->labels);
    if (!l) {
        b->out_of_memory = true;
        return id;
    }
    if (name) l->name = keep(b, name);
    id.id = (uint32_t)b->labels.count - 1;
    return id;
}

hg_label hg_builder_label(hg_builder *b) {
    HG_ENTRY;
    return new_label(b, NULL);
}

/* Linear in the labels: programs with thousands of named labels come from text. */
hg_label hg_builder_label_named(hg_builder *b, const char *name) {
    HG_ENTRY;
    hg_label none = {UINT32_MAX};
    if (stuck(b)) return none;
    if (!name || !hg_is_identifier(name, strlen(name)) || hg_is_local_label(name, strlen(name))) {
        mistake(b, "N03", "'%s' cannot be a label's name", name ? name : "");
        return none;
    }
    for (uint64_t i = 0; i < b->labels.count; i++)
        if (b->labels.data[i].name && strcmp(b->labels.data[i].name, name) == 0) {
            hg_label found = {(uint32_t)i};
            return found;
        }
    return new_label(b, name);
}

static label *find_label(hg_builder *b, hg_label id) {
    if (id.id < b->labels.count) return &b->labels.data[id.id];
    mistake(b, "L02", "a label of another builder");
    return NULL;
}

hg_builder *hg_builder_place(hg_builder *b, hg_label id) {
    HG_ENTRY;
    label *l = stuck(b) ? NULL : find_label(b, id);
    if (!l) return b;
    if (l->placed)
        mistake(b, "L01", "duplicate label '%s' at instruction %u", l->name ? l->name : "(unnamed)",
                (unsigned)b->insts.count);
    l->placed = true;
    l->index = (uint32_t)b->insts.count;
    return b;
}

hg_builder *hg_builder_entry(hg_builder *b, hg_label id) {
    HG_ENTRY;
    if (stuck(b) || !find_label(b, id)) return b;
    b->has_entry = true;
    b->entry = id;
    return b;
}

hg_builder *hg_builder_loop(hg_builder *b, uint8_t counter, uint32_t iterations) {
    HG_ENTRY;
    if (stuck(b)) return b;
    if (b->loop_count == HG_MAX_LOOP_NESTING) {
        mistake(b, "S05", "more than %d nested loops", (int)HG_MAX_LOOP_NESTING);
        return b;
    }
    open_loop *l = &b->loops[b->loop_count++];
    *l = (open_loop){.counter = counter,
                     .skipped = iterations == 0,
                     .body = new_label(b, NULL),
                     .after = new_label(b, NULL)};
    l->first = (uint32_t)b->insts.count + (l->skipped ? 1 : 0);
    if (l->skipped) return hg_build_bra(b, l->after);
    hg_build_mov_imm(b, HG_TYPE_U32, counter, hg_imm_u64(iterations - 1u));
    return hg_builder_place(b, l->body);
}

static hg_builder *end_skipped(hg_builder *b, const open_loop *l) {
    hg_inst_range *range = hg_vec_push(&b->skipped);
    if (range)
        *range = (hg_inst_range){l->first, (uint32_t)b->insts.count};
    else
        b->out_of_memory = true;
    return hg_builder_place(b, l->after);
}

hg_builder *hg_builder_endloop(hg_builder *b) {
    HG_ENTRY;
    if (stuck(b)) return b;
    if (b->loop_count == 0) {
        mistake(b, "L03", "endloop without loop");
        return b;
    }
    open_loop *l = &b->loops[--b->loop_count];
    if (l->skipped) return end_skipped(b, l);
    return hg_build_loop(b, l->counter, l->body);
}

/* ---- instructions ---- */

/* Conditions, scopes, operations and ids by name. */
static bool find_word(hg_operand_kind kind, const char *name, uint64_t *value) {
    size_t length = strlen(name);
    hg_condition condition;
    hg_scope scope;
    hg_opname operation;
    hg_idname id;
    bool found = false;
    switch (kind) {
    case HG_K_COND:
        if ((found = hg_condition_from_text(name, length, &condition)))
            *value = (uint64_t)condition;
        break;
    case HG_K_SCOPE:
        if ((found = hg_scope_from_text(name, length, &scope))) *value = (uint64_t)scope;
        break;
    case HG_K_OPNAME:
        if ((found = hg_opname_from_text(name, length, &operation))) *value = (uint64_t)operation;
        break;
    case HG_K_IDNAME:
        if ((found = hg_idname_from_text(name, length, &id))) *value = (uint64_t)id;
        break;
    default: break;
    }
    return found;
}

static bool put_place(const hg_arg *a, hg_operand *o) {
    o->reg = a->reg;
    o->place = a->place;
    o->has_index = a->has_index;
    o->index = a->index;
    o->value = a->value;
    o->disp = a->disp;
    if (a->has_index == 2) { /* hg_addr_scale */
        uint32_t scale = a->page | (uint32_t)a->byte << 8;
        o->has_index = 1;
        o->scale = scale > 1 ? (uint16_t)scale : 0;
        return (a->place <= HG_PLACE_BARE || a->place == HG_PLACE_PRIVATE) &&
               a->place != HG_PLACE_PHI && scale > 0;
    }
    if (a->place == HG_PLACE_PHI) {
        o->phi[0] = a->page;
        o->phi[1] = a->byte;
    }
    return a->place <= HG_PLACE_BARE || a->place == HG_PLACE_PRIVATE;
}

/* ---- tuples ---- */

/* Counts one after the other; *first is where they are kept. False: one is no count, or there are
 * too many. */
static bool put_counts(hg_builder *b, const hg_arg *args, uint64_t count, uint64_t *first) {
    if (count > HG_MAX_TUPLE_ITEMS)
        mistake(b, "S05", "more than %d items in a tuple", (int)HG_MAX_TUPLE_ITEMS);
    *first = b->items.count;
    if (!given(b, args, count, "items of a tuple")) return true; /* said so */
    for (uint64_t i = 0; i < count && !stuck(b); i++) {
        if (args[i].kind != HG_ARG_NUMBER && args[i].kind != HG_ARG_COUNT_REG) return false;
        hg_tuple_item *item = hg_vec_push(&b->items);
        if (!item) {
            b->out_of_memory = true;
            break;
        }
        item->is_reg = args[i].kind == HG_ARG_COUNT_REG;
        item->reg = item->is_reg ? args[i].reg : 0;
        item->value = item->is_reg ? 0 : args[i].value;
    }
    return true;
}

/* Whether a tuple has as many numbers as the table says. */
static void check_items(hg_builder *b, const hg_operand_info *info, const hg_arg *a) {
    const hg_arg *tuples = info->kind == HG_K_TUPLES ? a->bytes : a;
    for (uint64_t i = 0; info->items && i < (info->kind == HG_K_TUPLES ? a->value : 1); i++)
        if (tuples[i].value != info->items)
            mistake(b, "N04", "operand '%s': expected %u numbers%s, got %llu", info->name,
                    (unsigned)info->items, info->kind == HG_K_TUPLES ? " in each tuple" : "",
                    (unsigned long long)tuples[i].value);
}

/* The outer items are kept before those of the tuples inside. */
static bool put_tuples(hg_builder *b, const hg_arg *args, uint64_t count, uint64_t *first) {
    if (count > HG_MAX_TUPLE_ITEMS)
        mistake(b, "S05", "more than %d items in a tuple", (int)HG_MAX_TUPLE_ITEMS);
    *first = b->items.count;
    if (!given(b, args, count, "tuples")) return true; /* said so */
    for (uint64_t i = 0; i < count && !stuck(b); i++) {
        if (args[i].kind != HG_ARG_TUPLE) return false;
        if (!hg_vec_push(&b->items)) b->out_of_memory = true;
    }
    for (uint64_t i = 0; i < count && !stuck(b); i++) {
        uint64_t inside;
        if (!put_counts(b, args[i].bytes, args[i].value, &inside)) return false;
        b->items.data[*first + i] = (hg_tuple_item){
            .is_tuple = 1, .item_count = (uint32_t)args[i].value, .value = inside};
    }
    return true;
}

/* An operand that is left out. */
static void put_default(hg_builder *b, const hg_operand_info *info, hg_type type, hg_operand *o) {
    hg_default d;
    hg_default_operand(info, type, &d);
    *o = d.operand;
    if (hg_operand_is_missing(o)) return;
    if (info->kind == HG_K_LITERAL) {
        o->value = b->literals.length;
        hg_text_add(&b->literals, (const char *)d.literal, (size_t)hg_type_size_bytes(type));
    } else if (info->kind == HG_K_TUPLE || info->kind == HG_K_TUPLES) {
        o->value = b->items.count;
        for (uint64_t i = 0; i < o->item_count && !stuck(b); i++) {
            hg_tuple_item *item = hg_vec_push(&b->items);
            if (item)
                *item = d.items[i];
            else
                b->out_of_memory = true;
        }
    }
}

/* A field of named operands that nobody set. */
static bool is_left_out(const hg_operand_info *info, const hg_arg *a) {
    return hg_operand_is_named(info) && info->kind != HG_K_REG && a->kind == HG_ARG_REG &&
           a->reg == 0;
}

/* One argument as the operand that a row expects; false: it is of another kind. */
static bool put_operand(hg_builder *b, const hg_inst *in, const hg_operand_info *info,
                        const hg_arg *a, hg_operand *o) {
    *o = (hg_operand){.kind = info->kind, .value = a->value};
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG: o->reg = a->reg; return a->kind == HG_ARG_REG;
    case HG_K_PRED:
        o->reg = a->kind == HG_ARG_NO_PRED ? 255 : a->reg;
        return a->kind == HG_ARG_PRED || (a->kind == HG_ARG_NO_PRED && info->optional);
    case HG_K_LABEL:
        return a->kind == HG_ARG_LABEL && find_label(b, (hg_label){(uint32_t)a->value}) != NULL;
    case HG_K_ADDRESS: return a->kind == HG_ARG_ADDRESS && put_place(a, o);
    case HG_K_ARRAY:
        if (a->kind == HG_ARG_ADDRESS) o->kind = HG_K_ADDRESS;
        return (a->kind == HG_ARG_ADDRESS || a->kind == HG_ARG_ARRAY) && put_place(a, o);
    case HG_K_LITERAL: {
        uint8_t bytes[HG_MAX_LITERAL_BYTES];
        hg_type type = hg_literal_type(in, info);
        if (!put_literal(b, type, info->rule == HG_R_WIDE ? (hg_type)in->type : type, a, bytes))
            return true; /* said so */
        o->value = b->literals.length;
        hg_text_add(&b->literals, (const char *)bytes, (size_t)hg_type_size_bytes(type));
        return true;
    }
    case HG_K_COUNT:
        o->is_reg = a->kind == HG_ARG_COUNT_REG;
        o->reg = o->is_reg ? a->reg : 0;
        return o->is_reg || a->kind == HG_ARG_NUMBER;
    case HG_K_BOOL: return a->kind == HG_ARG_NUMBER && a->value <= 1;
    case HG_K_U8:
    case HG_K_POOL: return a->kind == HG_ARG_NUMBER;
    case HG_K_I8: return a->kind == HG_ARG_SIGNED;
    case HG_K_COND:
    case HG_K_SCOPE:
    case HG_K_OPNAME:
    case HG_K_IDNAME:
        return a->kind == HG_ARG_NAME && a->bytes &&
               find_word((hg_operand_kind)info->kind, a->bytes, &o->value);
    case HG_K_TUPLE:
    case HG_K_TUPLES:
        o->item_count = a->value;
        if (a->kind != HG_ARG_TUPLE) return false;
        if (hg_operand_is_empty(info, o)) o->place = HG_PLACE_NONE;
        if (!(info->kind == HG_K_TUPLES ? put_tuples(b, a->bytes, a->value, &o->value)
                                        : put_counts(b, a->bytes, a->value, &o->value)))
            return false;
        if (!stuck(b) && !hg_operand_is_missing(o)) check_items(b, info, a);
        return true;
    case HG_K_TYPE: return false;
    }
    return false;
}

static void add_operand(hg_builder *b, const hg_op_info *row, const hg_inst *in, uint32_t i,
                        const hg_arg *a) {
    const hg_operand_info *info = &row->operands[i];
    hg_type type = info->kind == HG_K_LITERAL ? hg_literal_type(in, info) : HG_TYPE_COUNT;
    hg_operand o;
    if (is_left_out(info, a) && !info->optional)
        mistake(b, "N05", "'%s' without %s=", row->text, info->name);
    else if (is_left_out(info, a) && info->optional == HG_OR_VALUE && info->kind == HG_K_LITERAL &&
             type >= HG_TYPE_COUNT)
        mistake(b, "V05", "a literal needs its type");
    else if (is_left_out(info, a))
        put_default(b, info, type, &o);
    else if (!put_operand(b, in, info, a, &o))
        mistake(b, "N03", "operand '%s' of '%s' is of another kind", info->name, row->text);
    hg_operand *place = stuck(b) ? NULL : hg_vec_push(&b->operands);
    if (place)
        *place = o;
    else
        b->out_of_memory |= !b->wrong.code[0];
}

/* The type of the elements of a parameter whose handle is in a register; HG_TYPE_OMITTED: none has
 * been declared. */
static uint8_t type_of_elements(const hg_builder *b, const hg_arg *a) {
    bool handle = a->kind == HG_ARG_ARRAY ||
                  (a->kind == HG_ARG_ADDRESS && a->place == HG_PLACE_BUF_REG);
    for (uint64_t i = 0; handle && i < b->params.count; i++) {
        const hg_param *p = &b->params.data[i].param;
        if (p->reg == a->reg && p->kind != HG_PARAM_SCALAR && p->kind != HG_PARAM_POOL)
            return p->type;
    }
    return HG_TYPE_OMITTED;
}

/* That of the elements of an instruction's arrays, as in text: all that tell one agree. */
static uint8_t array_type(hg_builder *b, hg_op op, const hg_arg *args) {
    const hg_op_info *row = hg_op_get(op);
    uint8_t type = HG_TYPE_OMITTED;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        bool array = row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY;
        uint8_t element = array && row->operands[i].rule == HG_R_T ? type_of_elements(b, &args[i])
                                                                   : (uint8_t)HG_TYPE_OMITTED;
        if (element == HG_TYPE_OMITTED ||
            (element == HG_TYPE_U8 && !hg_op_allows_type(op, HG_TYPE_U8)))
            continue;
        if (type != HG_TYPE_OMITTED && type != element)
            mistake(b, "V05",
                    "type of '%s' is not clear: elements of one array are %s, of another %s",
                    row->text, hg_type_name((hg_type)type), hg_type_name((hg_type)element));
        type = element;
    }
    return type;
}

/* What an instruction without a type has. Elements of whole arrays and pools stand in no register
 * that tells their type: where no parameter does either they are f32, as in the specification's
 * instructions, which name none (semantics 2.6, 2.9, 2.10). */
static uint8_t omitted_type(hg_builder *b, hg_op op, const hg_arg *args) {
    const hg_op_info *row = hg_op_get(op);
    bool in_memory = (row->flags & (HG_F_COLLECTIVE | HG_F_POOL)) &&
                     !(row->flags & HG_F_TYPE_OPTIONAL);
    if (!in_memory && !(row->flags & HG_F_DEFAULT_F32)) return HG_TYPE_OMITTED;
    uint8_t type = row->flags & HG_F_COLLECTIVE ? array_type(b, op, args)
                                                : (uint8_t)HG_TYPE_OMITTED;
    return type == HG_TYPE_OMITTED ? (uint8_t)HG_TYPE_F32 : type;
}

hg_builder *hg_builder_add(hg_builder *b, uint16_t opcode, hg_type type, hg_type type2,
                           const hg_arg *args, uint32_t count) {
    HG_ENTRY;
    if (stuck(b)) return b;
    hg_op op = hg_op_from_opcode(opcode);
    if (op == HG_OP_NONE) {
        mistake(b, "N01", "unknown opcode 0x%03x", (unsigned)opcode);
        return b;
    }
    const hg_op_info *row = hg_op_get(op);
    if (count != row->operand_count) {
        mistake(b, "N04", "'%s' has %u operands, not %u", row->text, (unsigned)row->operand_count,
                (unsigned)count);
        return b;
    }
    if (!given(b, args, count, "operands") || !is_type_or_none(b, type) ||
        !is_type_or_none(b, type2))
        return b;
    if (b->insts.count >= HG_MAX_INSTRUCTIONS) {
        mistake(b, "S05", "more than %d instructions", (int)HG_MAX_INSTRUCTIONS);
        return b;
    }
    hg_inst made = {.op = (uint16_t)op,
                    .type = HG_TYPE_NOT_USED,
                    .type2 = HG_TYPE_NOT_USED,
                    .operands = (uint32_t)b->operands.count};
    if (row->type_count > 0)
        made.type = type < HG_TYPE_COUNT ? (uint8_t)type : omitted_type(b, op, args);
    if (row->type_count > 1) made.type2 = (uint8_t)type2;
    for (uint32_t i = 0; i < count && !stuck(b); i++) add_operand(b, row, &made, i, &args[i]);
    hg_inst *in = stuck(b) ? NULL : hg_vec_push(&b->insts);
    b->out_of_memory |= b->literals.failed || (!in && !stuck(b));
    if (in) *in = made;
    return b;
}

hg_builder *hg_builder_at(hg_builder *b, uint32_t line, uint32_t column) {
    HG_ENTRY;
    if (stuck(b)) return b;
    source_place *last = b->places.count ? &b->places.data[b->places.count - 1] : NULL;
    if (last && last->line == line && last->column == column) return b;
    if (!last || last->first != b->insts.count) last = hg_vec_push(&b->places);
    if (last)
        *last = (source_place){(uint32_t)b->insts.count, line, column};
    else
        b->out_of_memory = true;
    return b;
}

/* ---- making the program ---- */

static void *copy(hg_program *p, const void *from, uint64_t bytes) {
    void *to = hg_arena_alloc(&p->arena, (size_t)bytes + 1);
    if (to && from && bytes) memcpy(to, from, (size_t)bytes);
    return to;
}

static const char *copy_text(hg_program *p, const char *text) {
    return hg_arena_text(&p->arena, text, strlen(text));
}

static int compare_labels(const void *a, const void *b) {
    const hg_label_name *x = a, *y = b;
    return x->index != y->index ? (x->index < y->index ? -1 : 1) : strcmp(x->name, y->name);
}
static int compare_meta(const void *a, const void *b) {
    return strcmp(((const hg_meta *)a)->key, ((const hg_meta *)b)->key);
}

/* Names of parameters and texts of expressions become extents; a name of no parameter is left to
 * the structural check (D03). */
static hg_status resolve_dims(hg_program *p, hg_extent *dims, const char *const *names,
                              uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!names[i]) continue;
        dims[i].param = UINT16_MAX;
        for (uint32_t k = 0; k < p->param_count; k++)
            if (strcmp(p->params[k].name, names[i]) == 0) dims[i].param = (uint16_t)k;
        if (dims[i].param == UINT16_MAX && !hg_is_parameter_name(names[i], strlen(names[i])))
            HG_TRY(hg_extent_from_text(p, names[i], &dims[i], NULL));
    }
    return HG_OK;
}

/* Several extents of lanes are one product where one of them is an expression. */
static hg_status resolve_lanes(const hg_builder *b, hg_program *p) {
    hg_text product = {0};
    bool expression = false;
    for (uint32_t i = 0; i < b->launch.lanes_count; i++) {
        const char *name = b->launch.lane_names[i];
        expression |= name && !hg_is_parameter_name(name, strlen(name));
        if (name)
            hg_text_addf(&product, i ? " * (%s)" : "(%s)", name);
        else
            hg_text_addf(&product, i ? " * %llu" : "%llu",
                         (unsigned long long)b->launch.lanes[i].value);
    }
    memcpy(p->lanes, b->launch.lanes, sizeof p->lanes);
    p->lanes_count = b->launch.lanes_count;
    hg_status status = product.failed ? hg_fail_memory() : HG_OK;
    if (status == HG_OK && expression)
        status = hg_extent_from_text(p, product.data, p->lanes, &p->lanes_count);
    else if (status == HG_OK)
        status = resolve_dims(p, p->lanes, b->launch.lane_names, b->launch.lanes_count);
    hg_text_free(&product);
    return status;
}

static hg_status make_params(const hg_builder *b, hg_program *p) {
    p->params = copy(p, NULL, b->params.count * sizeof *p->params);
    for (uint64_t i = 0; p->params && i < b->params.count; i++) {
        const parameter *from = &b->params.data[i];
        hg_param *to = &p->params[i];
        *to = from->param;
        to->name = copy_text(p, from->param.name);
        if (to->has_default)
            to->default_bytes = copy(p, from->param.default_bytes,
                                     hg_type_size_bytes((hg_type)to->type));
        if (to->kind == HG_PARAM_DATA) to->data = copy(p, from->param.data, to->data_bytes);
    }
    if (p->arena.failed) return hg_fail_memory();
    p->param_count = (uint32_t)b->params.count;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].rank != HG_NO_DIMS)
            HG_TRY(resolve_dims(p, p->params[i].dims, b->params.data[i].dims, p->params[i].rank));
    memcpy(p->grid, b->launch.grid, sizeof p->grid);
    p->grid_count = b->launch.grid_count;
    HG_TRY(resolve_dims(p, p->grid, b->launch.grid_names, b->launch.grid_count));
    return resolve_lanes(b, p);
}

static void make_names(const hg_builder *b, hg_program *p) {
    p->name = copy_text(p, b->name);
    p->labels = copy(p, NULL, b->labels.count * sizeof *p->labels);
    for (uint64_t i = 0; p->labels && i < b->labels.count; i++)
        if (b->labels.data[i].name && b->labels.data[i].placed)
            p->labels[p->label_count++] = (hg_label_name){b->labels.data[i].index,
                                                          copy_text(p, b->labels.data[i].name)};
    if (p->label_count) qsort(p->labels, p->label_count, sizeof *p->labels, compare_labels);
    p->meta = copy(p, NULL, b->meta.count * sizeof *p->meta);
    for (uint64_t i = 0; p->meta && i < b->meta.count; i++)
        p->meta[p->meta_count++] = (hg_meta){copy_text(p, b->meta.data[i].key),
                                             copy_text(p, b->meta.data[i].value),
                                             b->meta.data[i].value_length};
    if (p->meta_count) qsort(p->meta, p->meta_count, sizeof *p->meta, compare_meta);
}

static void make_places(const hg_builder *b, hg_program *p) {
    if (b->places.count == 0) return;
    p->lines = copy(p, NULL, p->inst_count * sizeof *p->lines);
    p->columns = copy(p, NULL, p->inst_count * sizeof *p->columns);
    for (uint64_t i = 0; p->lines && p->columns && i < b->places.count; i++) {
        const source_place *place = &b->places.data[i];
        uint32_t end = i + 1 < b->places.count ? place[1].first : p->inst_count;
        for (uint32_t k = place->first; k < end; k++) {
            p->lines[k] = place->line;
            p->columns[k] = place->column;
        }
    }
}

static void undefined_label(hg_check *c, const hg_builder *b, uint64_t id, int64_t inst) {
    const char *name = b->labels.data[id].name;
    hg_check_error(c, "L02", inst, HG_NO_OPERAND, NULL,
                   "undefined label '%s' referenced in instruction %lld", name ? name : "(unnamed)",
                   (long long)inst);
}

static void resolve_labels(hg_check *c, const hg_builder *b, hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)p->insts[i].op);
        for (uint32_t k = 0; k < row->operand_count; k++) {
            hg_operand *o = &p->operands[p->insts[i].operands + k];
            if (o->kind != HG_K_LABEL) continue;
            if (!b->labels.data[o->value].placed)
                undefined_label(c, b, o->value, i);
            else
                o->value = b->labels.data[o->value].index;
        }
    }
    if (!b->has_entry) return;
    if (b->labels.data[b->entry.id].placed)
        p->entry = b->labels.data[b->entry.id].index;
    else
        hg_check_error(
            c, "L02", HG_NO_INSTRUCTION, HG_NO_OPERAND, NULL, "undefined label '%s' is the entry",
            b->labels.data[b->entry.id].name ? b->labels.data[b->entry.id].name : "(unnamed)");
}

/* The first mistake as diagnostic and last error. */
static hg_status report_mistake(const hg_builder *b, hg_diagnostics *d, const char *code,
                                const char *message) {
    hg_place place = {.instruction = b->wrong.instruction};
    hg_diagnose(d, HG_SEVERITY_ERROR, code, place, NULL, "%s", message);
    hg_status status = hg_fail(HG_ERROR_ISA, "%s", message);
    snprintf(hg_error_record()->code, sizeof hg_error_record()->code, "%s", code);
    hg_error_record()->instruction = b->wrong.instruction;
    return status;
}

bool hg_builder_take_mistake(hg_builder *b, char code[4], char message[256]) {
    if (!b->wrong.code[0]) return false;
    memcpy(code, b->wrong.code, sizeof b->wrong.code);
    memcpy(message, b->wrong.message, sizeof b->wrong.message);
    b->wrong.code[0] = 0;
    return true;
}

hg_status hg_builder_make_head(const hg_builder *b, hg_diagnostics *d, hg_program *p) {
    if (!b || b->out_of_memory) return hg_fail_memory();
    if (b->wrong.code[0]) return report_mistake(b, d, b->wrong.code, b->wrong.message);
    p->flags = b->flags;
    p->shared = b->launch.shared;
    p->private_bytes = b->launch.private_bytes;
    memcpy(p->block, b->launch.block, sizeof p->block);
    hg_status status = make_params(b, p);
    if (status != HG_OK) {
        hg_error error = *hg_error_record();
        return error.code[0] ? report_mistake(b, d, error.code, error.message) : status;
    }
    make_names(b, p);
    return p->arena.failed ? hg_fail_memory() : HG_OK;
}

static hg_status make_program(const hg_builder *b, hg_diagnostics *d, hg_program *p) {
    p->insts = copy(p, b->insts.data, b->insts.count * sizeof *p->insts);
    p->operands = copy(p, b->operands.data, b->operands.count * sizeof *p->operands);
    p->literals = copy(p, b->literals.data, b->literals.length);
    p->items = copy(p, b->items.data, b->items.count * sizeof *p->items);
    p->item_count = b->items.count;
    p->skipped = copy(p, b->skipped.data, b->skipped.count * sizeof *p->skipped);
    p->skipped_count = (uint32_t)b->skipped.count;
    p->inst_count = (uint32_t)b->insts.count;
    p->operand_count = (uint32_t)b->operands.count;
    p->literal_bytes = b->literals.length;
    HG_TRY(hg_builder_make_head(b, d, p));
    make_places(b, p);
    if (p->arena.failed) return hg_fail_memory();
    hg_check check;
    HG_TRY(hg_check_begin(&check, p, d));
    resolve_labels(&check, b, p);
    if (!check.errors) hg_check_structure(&check, false);
    HG_TRY(hg_check_end(&check));
    HG_TRY(hg_infer_types(p, d));
    return hg_program_rehash(p);
}

hg_status hg_builder_build(const hg_builder *b, hg_diagnostics *diagnostics, hg_program **program) {
    HG_ENTRY;
    if (!program) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "program must not be NULL");
    *program = NULL;
    if (!b || b->out_of_memory) return hg_fail_memory();
    if (b->wrong.code[0]) return report_mistake(b, diagnostics, b->wrong.code, b->wrong.message);
    if (b->loop_count) return report_mistake(b, diagnostics, "L04", "loop without endloop");
    hg_program *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->references = 1;
    hg_status status = make_program(b, diagnostics, p);
    if (status != HG_OK) {
        hg_program_release(p);
        return status;
    }
    *program = p;
    return HG_OK;
}
