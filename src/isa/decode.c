/* Reads the binary container (language.md 7). Accepts canonical files only: what is read here is
 * written back byte for byte, but for a program of an older version with operands that are written
 * otherwise since. No size is trusted before it is checked against the bytes that are there. Must
 * not know: text syntax, control flow. */
#include "isa/codec.h"
#include "isa/verify_internal.h"

#include <stdio.h>
#include <string.h>

typedef struct reader {
    const uint8_t *data;
    uint64_t at, end;
    uint32_t minor; /* version 1.minor */
    bool widened; /* literals of an older version stand in the program otherwise than in the file */
    hg_diagnostics *diagnostics;
    uint64_t instruction; /* for messages; HG_NONE: none */
    hg_status status;     /* the first failure; after it reads give zeros */
} reader;

static void refuse(reader *r, const char *code, const char *format, ...) HG_PRINTF(3, 4);
static void refuse(reader *r, const char *code, const char *format, ...) {
    if (r->status != HG_OK) return;
    char message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hg_place place = {.instruction = r->instruction};
    hg_diagnose(r->diagnostics, HG_SEVERITY_ERROR, code, place, NULL, "%s", message);
    r->status = hg_fail(HG_ERROR_ISA, "%s", message);
    snprintf(hg_error_record()->code, sizeof hg_error_record()->code, "%s", code);
    hg_error_record()->instruction = r->instruction;
}

static bool ok(const reader *r) { return r->status == HG_OK; }
static bool check_memory(reader *r, const void *memory) {
    if (!memory && ok(r)) r->status = hg_fail_memory();
    return memory != NULL;
}

/* ---- numbers ---- */

static const uint8_t *take(reader *r, uint64_t bytes) {
    if (!ok(r)) return NULL;
    if (bytes > r->end - r->at) {
        refuse(r, "B03", "truncated: %llu bytes are missing",
               (unsigned long long)(bytes - (r->end - r->at)));
        return NULL;
    }
    const uint8_t *here = r->data + r->at;
    r->at += bytes;
    return here;
}

static uint64_t get(reader *r, uint32_t bytes) {
    const uint8_t *b = take(r, bytes);
    uint64_t value = 0;
    for (uint32_t i = 0; b && i < bytes; i++) value |= (uint64_t)b[i] << (8 * i);
    return value;
}
static uint8_t get_8(reader *r) { return (uint8_t)get(r, 1); }
static uint32_t get_32(reader *r) { return (uint32_t)get(r, 4); }

/* A number that must be zero or one. */
static uint8_t get_bit(reader *r, const char *what) {
    uint8_t bit = get_8(r);
    if (bit > 1) refuse(r, "B06", "not canonical: %s is %u", what, (unsigned)bit);
    return bit;
}

/* Bytes with a one-byte length, as a string of the program. NULL on failure. */
static const char *get_name(reader *r, hg_program *p) {
    uint8_t length = get_8(r);
    const uint8_t *bytes = take(r, length);
    if (!bytes) return NULL;
    if (length && memchr(bytes, 0, length)) {
        refuse(r, "B08", "bad name: it holds a zero byte");
        return NULL;
    }
    const char *name = hg_arena_text(&p->arena, (const char *)bytes, length);
    return check_memory(r, name) ? name : NULL;
}

/* ---- instructions ---- */

static void get_address(reader *r, hg_operand *o) {
    o->place = get_8(r);
    if (o->place > HG_PLACE_BARE && o->place != HG_PLACE_PRIVATE) {
        refuse(r, "B08", "bad operand: place %u", (unsigned)o->place);
        return;
    }
    if (o->place == HG_PLACE_BARE) {
        o->reg = get_8(r);
        return;
    }
    uint8_t bits = get_8(r);
    o->has_index = bits & HG_ADDRESS_INDEX;
    if (bits > (HG_ADDRESS_INDEX | HG_ADDRESS_SCALE) || bits == HG_ADDRESS_SCALE)
        refuse(r, "B06", "not canonical: the bits of an address are %u", (unsigned)bits);
    switch ((hg_place_kind)o->place) {
    case HG_PLACE_BUF:
    case HG_PLACE_POOL: o->value = get(r, 8); break;
    case HG_PLACE_CLASS: o->value = get_8(r); break;
    case HG_PLACE_PHI:
        o->value = get_8(r);
        o->phi[0] = get_8(r);
        o->phi[1] = get_8(r);
        break;
    case HG_PLACE_FLAT:
    case HG_PLACE_BUF_REG:
    case HG_PLACE_POOL_REG: o->reg = get_8(r); break;
    case HG_PLACE_SHARED:
    case HG_PLACE_PRIVATE:
    case HG_PLACE_BARE: break;
    }
    if (o->has_index) o->index = get_8(r);
    if (bits & HG_ADDRESS_SCALE) {
        o->scale = (uint16_t)get(r, 2);
        if (o->scale < 2)
            refuse(r, "B06", "not canonical: the scale of an address is %u", (unsigned)o->scale);
    }
    o->disp = (int64_t)get(r, 8);
}

/* What the instructions so far take of the program's arrays. */
typedef struct taken {
    uint64_t operands, literals, items;
} taken;

static uint32_t get_length(reader *r) {
    uint32_t length = get_32(r);
    if (length > HG_MAX_TUPLE_ITEMS)
        refuse(r, "S05", "more than %d items in a tuple", (int)HG_MAX_TUPLE_ITEMS);
    return ok(r) ? length : 0;
}

static void get_item(reader *r, hg_tuple_item *item) {
    *item = (hg_tuple_item){.is_reg = get_bit(r, "the tag of a count")};
    if (item->is_reg)
        item->reg = get_8(r);
    else
        item->value = get(r, 8);
}

/* Reserves the outer items before those of the tuples inside, which follow one another. */
static void get_tuple(reader *r, hg_program *p, bool nested, hg_operand *o, taken *at) {
    hg_tuple_item unused;
    o->item_count = get_length(r);
    o->value = at->items;
    at->items += o->item_count;
    for (uint64_t i = 0; i < o->item_count && ok(r); i++) {
        hg_tuple_item *item = p->items ? &p->items[o->value + i] : &unused;
        if (!nested) {
            get_item(r, item);
            continue;
        }
        *item = (hg_tuple_item){.is_tuple = 1, .item_count = get_length(r), .value = at->items};
        uint32_t inside = item->item_count;
        for (uint32_t k = 0; k < inside && ok(r); k++)
            get_item(r, p->items ? &p->items[at->items + k] : &unused);
        at->items += inside;
    }
}

/* A literal of the program, from the file. */
static void get_literal(reader *r, hg_program *p, const hg_inst *in, const hg_operand_info *info,
                        hg_operand *o, taken *at) {
    bool narrow = r->minor < 2 && hg_container_narrow(in, info);
    uint64_t size = hg_type_size_bytes(hg_literal_type(in, info));
    const uint8_t *bytes = take(r, narrow ? 2 : size);
    uint8_t wide[4];
    if (narrow && bytes) {
        uint32_t bits = hg_widen_half((hg_type)in->type, (uint16_t)(bytes[0] | bytes[1] << 8));
        for (int i = 0; i < 4; i++) wide[i] = (uint8_t)(bits >> 8 * i);
        bytes = wide;
        r->widened = true;
    }
    o->value = at->literals;
    if (bytes && p->literals) memcpy(p->literals + at->literals, bytes, (size_t)size);
    at->literals += size;
}

static void get_operand(reader *r, hg_program *p, const hg_inst *in, const hg_operand_info *info,
                        hg_operand *o, taken *at) {
    *o = (hg_operand){.kind = info->kind};
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG:
    case HG_K_PRED: o->reg = get_8(r); break;
    case HG_K_LABEL: o->value = get_32(r); break;
    case HG_K_ADDRESS: get_address(r, o); break;
    case HG_K_ARRAY:
        get_address(r, o);
        if (o->place != HG_PLACE_BARE) o->kind = HG_K_ADDRESS;
        break;
    case HG_K_LITERAL: get_literal(r, p, in, info, o, at); break;
    case HG_K_COUNT:
        o->is_reg = get_bit(r, "the tag of a count");
        if (o->is_reg)
            o->reg = get_8(r);
        else
            o->value = get(r, 8);
        break;
    case HG_K_POOL: o->value = get(r, 8); break;
    case HG_K_I8: o->value = (uint64_t)(int64_t)(int8_t)get_8(r); break;
    case HG_K_U8:
    case HG_K_COND:
    case HG_K_SCOPE:
    case HG_K_OPNAME:
    case HG_K_IDNAME: o->value = get_8(r); break;
    case HG_K_BOOL: o->value = get_bit(r, "a true or false"); break;
    case HG_K_TUPLE:
    case HG_K_TUPLES: get_tuple(r, p, info->kind == HG_K_TUPLES, o, at); break;
    case HG_K_TYPE: refuse(r, "B08", "bad operand"); break; /* no row has it among its operands */
    }
}

/* An operand that is not in the file. */
static void get_default(hg_program *p, const hg_inst *in, const hg_operand_info *info,
                        hg_operand *o, taken *at) {
    hg_type type = hg_literal_type(in, info);
    uint64_t size = info->kind == HG_K_LITERAL && info->optional == HG_OR_VALUE
                        ? hg_type_size_bytes(type)
                        : 0;
    hg_default d;
    hg_default_operand(info, type, &d);
    *o = d.operand;
    if (info->kind == HG_K_LITERAL) o->value = at->literals;
    if (p->literals && size) memcpy(p->literals + at->literals, d.literal, (size_t)size);
    at->literals += size;
    if (info->kind != HG_K_TUPLE && info->kind != HG_K_TUPLES) return;
    o->value = at->items;
    if (p->items && o->item_count)
        memcpy(p->items + at->items, d.items, (size_t)o->item_count * sizeof *p->items);
    at->items += o->item_count;
}

/* Operands that may be left out: which are there, then these. One that is there and could be left
 * out is not canonical. */
static void get_optional(reader *r, hg_program *p, const hg_inst *in, const hg_op_info *row,
                         hg_operand *o, taken *at) {
    uint32_t bits = get_32(r);
    for (uint32_t k = 0; k < row->operand_count && ok(r); k++) {
        const hg_operand_info *info = &row->operands[k];
        hg_operand unused, *to = o ? &o[k] : &unused;
        if (!hg_operand_can_be_left_out(info)) continue;
        if (bits & 1) {
            get_operand(r, p, in, info, to, at);
            bool is_zero = r->minor < 2 && o && ok(r) && hg_container_zero(p, in, info, to);
            if (o && ok(r) &&
                (is_zero || hg_operand_is_left_out(p, in, info, to) ||
                 hg_operand_is_empty(info, to)))
                refuse(r, "B06", "not canonical: operand '%s' of '%s' could be left out",
                       info->name, row->text);
        } else {
            get_default(p, in, info, to, at);
        }
        bits >>= 1;
    }
    if (ok(r) && bits)
        refuse(r, "B06", "not canonical: bits of optional operands that '%s' does not have",
               row->text);
}

/* o: NULL while instructions are only counted. */
static void get_operands(reader *r, hg_program *p, const hg_inst *in, const hg_op_info *row,
                         hg_operand *o, taken *at) {
    const hg_operand_info *info = row->operands, *end = info + row->operand_count;
    hg_operand unused;
    bool optional = false;
    for (uint32_t k = 0; info < end && ok(r); info++, k++) {
        if (hg_operand_can_be_left_out(info))
            optional = true;
        else
            get_operand(r, p, in, info, o ? &o[k] : &unused, at);
    }
    if (optional && ok(r)) get_optional(r, p, in, row, o, at);
}

enum { OPCODES = 0x400 };
typedef struct opcode_map {
    uint16_t op[OPCODES];
} opcode_map;

static void make_opcode_map(opcode_map *map) {
    for (int i = 0; i < OPCODES; i++) map->op[i] = HG_OP_NONE;
    for (int i = 0; i < HG_OP_COUNT; i++)
        if (hg_op_get((hg_op)i)->opcode < OPCODES)
            map->op[hg_op_get((hg_op)i)->opcode] = (uint16_t)i;
}

static uint8_t get_type(reader *r) {
    uint8_t type = get_8(r);
    if (type >= HG_TYPE_COUNT) refuse(r, "B08", "bad operand: type %u", (unsigned)type);
    return type;
}

/* All instructions; when the program has no arrays yet they are only counted. */
static void get_instructions(reader *r, hg_program *p, const opcode_map *map, uint32_t count) {
    taken at = {0};
    for (uint32_t i = 0; i < count && ok(r); i++) {
        r->instruction = i;
        uint16_t opcode = (uint16_t)get(r, 2);
        hg_inst in = {
            .type = HG_TYPE_NOT_USED, .type2 = HG_TYPE_NOT_USED, .operands = (uint32_t)at.operands};
        in.op = opcode < OPCODES ? map->op[opcode] : (uint16_t)HG_OP_NONE;
        if (in.op == HG_OP_NONE) {
            refuse(r, "B07", "unknown opcode 0x%03x", (unsigned)opcode);
            return;
        }
        const hg_op_info *row = hg_op_get((hg_op)in.op);
        if (row->type_count > 0) in.type = get_type(r);
        if (row->type_count > 1) in.type2 = get_type(r);
        get_operands(r, p, &in, row, p->operands ? &p->operands[at.operands] : NULL, &at);
        at.operands += row->operand_count;
        if (p->insts) p->insts[i] = in;
    }
    p->operand_count = (uint32_t)at.operands;
    p->literal_bytes = at.literals;
    p->item_count = at.items;
    r->instruction = HG_NONE;
}

static void get_code(reader *r, hg_program *p) {
    opcode_map map;
    make_opcode_map(&map);
    p->entry = get_32(r);
    uint32_t count = get_32(r);
    if (count > HG_MAX_INSTRUCTIONS) {
        refuse(r, "S05", "more than %d instructions", (int)HG_MAX_INSTRUCTIONS);
        return;
    }
    reader counting = *r;
    get_instructions(&counting, p, &map, count);
    if (counting.status != HG_OK) {
        r->status = counting.status;
        return;
    }
    p->insts = hg_arena_alloc(&p->arena, (size_t)count * sizeof *p->insts + 1);
    p->operands = hg_arena_alloc(&p->arena, (size_t)p->operand_count * sizeof *p->operands + 1);
    p->literals = hg_arena_alloc(&p->arena, (size_t)p->literal_bytes + 1);
    p->items = hg_arena_alloc(&p->arena, (size_t)p->item_count * sizeof *p->items + 1);
    if (!check_memory(r, p->items) || !check_memory(r, p->insts) || !check_memory(r, p->operands) ||
        !check_memory(r, p->literals))
        return;
    p->inst_count = count;
    get_instructions(r, p, &map, count);
}

/* ---- the other sections ---- */

static void get_extent_ops(reader *r, hg_program *p, hg_extent *e) {
    e->op_count = get_8(r);
    e->value = p->extent_op_count;
    for (uint32_t i = 0; i < e->op_count && ok(r); i++) {
        hg_extent_op op = {.kind = get_8(r)};
        if (op.kind >= HG_EXTENT_OP_COUNT)
            refuse(r, "B08", "bad extent: operation %u", (unsigned)op.kind);
        if (op.kind == HG_EXTENT_OP_NUMBER) op.value = get(r, 8);
        if (op.kind == HG_EXTENT_OP_PARAM) op.param = get_8(r);
        if (ok(r) && !hg_program_add_extent_op(p, op)) r->status = hg_fail_memory();
    }
}

static void get_extent(reader *r, hg_program *p, hg_extent *e) {
    e->kind = get_8(r);
    switch ((hg_extent_kind)e->kind) {
    case HG_EXTENT_NUMBER: e->value = get(r, 8); break;
    case HG_EXTENT_PARAM: e->param = get_8(r); break;
    case HG_EXTENT_EXPRESSION: get_extent_ops(r, p, e); break;
    default: refuse(r, "B06", "not canonical: the tag of an extent is %u", (unsigned)e->kind);
    }
}

static void get_param(reader *r, hg_program *p, hg_param *a) {
    a->reg = get_8(r);
    a->kind = get_8(r);
    a->type = get_8(r);
    a->dir = get_8(r);
    a->rank = 255;
    a->name = get_name(r, p);
    if (ok(r) && (a->kind > HG_PARAM_DATA || a->dir > HG_DIR_INOUT ||
                  (a->kind == HG_PARAM_POOL ? a->type != 0 : a->type >= HG_TYPE_COUNT)))
        refuse(r, "B08", "bad parameter '%s'", a->name);
    if (!ok(r)) return;
    if (a->kind == HG_PARAM_POOL) {
        a->pool_bytes = get(r, 8);
    } else if (a->kind == HG_PARAM_SCALAR) {
        a->has_default = get_bit(r, "the tag of a default");
        uint64_t size = hg_type_size_bytes((hg_type)a->type);
        const uint8_t *bytes = a->has_default ? take(r, size) : NULL;
        if (!bytes) return;
        a->default_bytes = hg_arena_alloc(&p->arena, (size_t)size);
        if (check_memory(r, a->default_bytes)) memcpy(a->default_bytes, bytes, (size_t)size);
    } else {
        a->rank = get_8(r);
        if (a->rank != 255 && a->rank > HG_MAX_EXTENTS)
            refuse(r, "B08", "bad parameter '%s': %u extents", a->name, (unsigned)a->rank);
        for (uint32_t k = 0; ok(r) && a->rank != 255 && k < a->rank; k++)
            get_extent(r, p, &a->dims[k]);
    }
}

static void get_params(reader *r, hg_program *p) {
    uint32_t count = get_32(r);
    if (ok(r) && count == 0) refuse(r, "B06", "not canonical: a section without parameters");
    if (count > HG_MAX_PARAMS) refuse(r, "S05", "more than %d parameters", (int)HG_MAX_PARAMS);
    if (!ok(r)) return;
    p->params = hg_arena_alloc(&p->arena, count * sizeof *p->params);
    if (!check_memory(r, p->params)) return;
    for (uint32_t i = 0; i < count && ok(r); i++) get_param(r, p, &p->params[i]);
    p->param_count = count;
}

static void get_launch(reader *r, hg_program *p) {
    p->shared = get(r, 8);
    for (int k = 0; k < 3; k++) p->block[k] = get_32(r);
    uint8_t count = get_8(r);
    if (count > HG_MAX_EXTENTS)
        refuse(r, "B08", "bad launch defaults: %u extents", (unsigned)count);
    for (uint32_t k = 0; k < count && ok(r); k++) get_extent(r, p, &p->lanes[k]);
    p->lanes_count = count;
    if (ok(r) && !p->shared && !p->block[0] && !p->block[1] && !p->block[2] && !count)
        refuse(r, "B06", "not canonical: a section without launch defaults");
}

/* No name twice: an open-addressing set over the labels, at most half full. */
static void check_unique(reader *r, const hg_program *p) {
    uint64_t size = 8;
    while (size < 2 * (uint64_t)p->label_count) size *= 2;
    uint32_t *set = hg_calloc((size_t)size, sizeof *set);
    if (!check_memory(r, set)) return;
    for (uint32_t i = 0; i < p->label_count && ok(r); i++) {
        const char *name = p->labels[i].name;
        uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
        for (const char *c = name; *c; c++) h = (h ^ (uint8_t)*c) * 0x100000001B3u;
        h ^= h >> 32;
        uint64_t at = h & (size - 1);
        for (; set[at]; at = (at + 1) & (size - 1))
            if (strcmp(p->labels[set[at] - 1].name, name) == 0) {
                refuse(r, "B08", "duplicate label '%s' at instruction %u", name,
                       (unsigned)p->labels[i].index);
                break;
            }
        set[at] = i + 1;
    }
    hg_free(set);
}

static void get_names(reader *r, hg_program *p) {
    enum { LEAST = 4 + 1 + 1 };
    p->name = get_name(r, p);
    uint32_t count = get_32(r);
    if (ok(r) && !hg_is_identifier(p->name, strlen(p->name))) refuse(r, "B08", "bad program name");
    if (count > HG_MAX_LABELS) refuse(r, "S05", "more than %d labels", (int)HG_MAX_LABELS);
    if (ok(r) && count > (r->end - r->at) / LEAST)
        refuse(r, "B03", "truncated: %u labels do not fit", (unsigned)count);
    if (!ok(r)) return;
    p->labels = hg_arena_alloc(&p->arena, count * sizeof *p->labels + 1);
    if (!check_memory(r, p->labels)) return;
    for (uint32_t i = 0; i < count && ok(r); i++) {
        hg_label_name *l = &p->labels[i];
        l->index = get_32(r);
        l->name = get_name(r, p);
        if (!ok(r)) return;
        if (l->index > p->inst_count)
            refuse(r, "B08", "label '%s' points to invalid instruction index %u (max: %u)", l->name,
                   (unsigned)l->index, (unsigned)p->inst_count);
        else if (!hg_is_identifier(l->name, strlen(l->name)))
            refuse(r, "B08", "bad label name");
        else if (hg_is_local_label(l->name, strlen(l->name)))
            refuse(r, "B06", "not canonical: local label '%s'", l->name);
        else if (i && (l[-1].index > l->index ||
                       (l[-1].index == l->index && strcmp(l[-1].name, l->name) >= 0)))
            refuse(r, "B06", "not canonical: labels are not in order at '%s'", l->name);
        p->label_count = i + 1;
    }
    if (ok(r)) check_unique(r, p);
}

static void get_meta(reader *r, hg_program *p) {
    uint32_t count = get_32(r);
    if (ok(r) && count == 0) refuse(r, "B06", "not canonical: a section without metadata");
    if (count > HG_MAX_META_ENTRIES)
        refuse(r, "S05", "more than %d metadata entries", (int)HG_MAX_META_ENTRIES);
    if (!ok(r)) return;
    p->meta = hg_arena_alloc(&p->arena, count * sizeof *p->meta);
    if (!check_memory(r, p->meta)) return;
    for (uint32_t i = 0; i < count && ok(r); i++) {
        hg_meta *m = &p->meta[i];
        m->key = get_name(r, p);
        m->value_length = get_32(r);
        if (!ok(r)) return;
        if (!hg_is_identifier(m->key, strlen(m->key))) refuse(r, "B08", "bad metadata key");
        if (m->value_length > HG_MAX_META_BYTES)
            refuse(r, "S05", "metadata '%s' has more than %d bytes", m->key,
                   (int)HG_MAX_META_BYTES);
        if (ok(r) && i && strcmp(m[-1].key, m->key) >= 0)
            refuse(r, "B06", "not canonical: metadata is not in order at '%s'", m->key);
        const uint8_t *value = take(r, m->value_length);
        if (!value) return;
        m->value = hg_arena_text(&p->arena, (const char *)value, m->value_length);
        if (!check_memory(r, m->value)) return;
        p->meta_count = i + 1;
    }
}

static void get_debug(reader *r, hg_program *p) {
    p->source_name = get_name(r, p);
    if (!ok(r)) return;
    if (r->end - r->at != 8 * (uint64_t)p->inst_count)
        refuse(r, "B06", "not canonical: the debug section does not have one place an instruction");
    if (!ok(r)) return;
    p->lines = hg_arena_alloc(&p->arena, (size_t)p->inst_count * sizeof *p->lines + 1);
    p->columns = hg_arena_alloc(&p->arena, (size_t)p->inst_count * sizeof *p->columns + 1);
    if (!check_memory(r, p->lines) || !check_memory(r, p->columns)) return;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        p->lines[i] = get_32(r);
        p->columns[i] = get_32(r);
    }
}

/* Of minor version 3, behind the places. */
static void get_expressions(reader *r, hg_program *p) {
    if (ok(r) && (!p->lines || r->end - r->at != 4 * (uint64_t)p->inst_count))
        refuse(r, "B06",
               "not canonical: the section of expressions does not have one length an instruction");
    if (!ok(r)) return;
    p->lengths = hg_arena_alloc(&p->arena, (size_t)p->inst_count * sizeof *p->lengths + 1);
    if (!check_memory(r, p->lengths)) return;
    for (uint32_t i = 0; i < p->inst_count; i++) p->lengths[i] = get_32(r);
}

/* ---- the sections of minor version 1 ---- */

/* Tables stay where they are read from no longer than the reader: they are copied. */
static void get_data(reader *r, hg_program *p) {
    bool found = false;
    for (uint32_t i = 0; i < p->param_count && ok(r); i++) {
        hg_param *a = &p->params[i];
        if (a->kind != HG_PARAM_DATA) continue;
        found = true;
        a->data_bytes = get(r, 8);
        const uint8_t *bytes = take(r, a->data_bytes);
        if (!bytes) return;
        uint8_t *copy = hg_arena_alloc(&p->arena, (size_t)a->data_bytes + 1);
        if (check_memory(r, copy)) memcpy(copy, bytes, (size_t)a->data_bytes);
        a->data = copy;
    }
    if (ok(r) && !found) refuse(r, "B06", "not canonical: a section of data without a declaration");
}

static void get_grid(reader *r, hg_program *p) {
    uint8_t count = get_8(r);
    if (ok(r) && (count == 0 || count > 3))
        refuse(r, "B08", "bad grid: %u extents", (unsigned)count);
    for (uint32_t k = 0; k < count && ok(r); k++) get_extent(r, p, &p->grid[k]);
    p->grid_count = count;
}

static void get_private(reader *r, hg_program *p) {
    p->private_bytes = get(r, 8);
    if (ok(r) && !p->private_bytes)
        refuse(r, "B06", "not canonical: a section without private memory");
}

static void get_registers(reader *r, hg_program *p) {
    enum { LEAST = 4 + 4 + 1 + 1 + 1 + 1 };
    uint32_t count = get_32(r);
    if (ok(r) && count == 0)
        refuse(r, "B06", "not canonical: a section without names of registers");
    if (ok(r) && count > (r->end - r->at) / LEAST)
        refuse(r, "B03", "truncated: %u names of registers do not fit", (unsigned)count);
    if (!ok(r)) return;
    p->register_names = hg_arena_alloc(&p->arena, count * sizeof *p->register_names);
    if (!check_memory(r, p->register_names)) return;
    for (uint32_t i = 0; i < count && ok(r); i++) {
        hg_register_name *n = &p->register_names[i];
        n->first = get_32(r);
        n->end = get_32(r);
        n->predicate = get_bit(r, "the bank of a register's name");
        n->number = get_8(r);
        n->name = get_name(r, p);
        if (ok(r) && i && hg_compare_register_names(n - 1, n) >= 0)
            refuse(r, "B06", "not canonical: names of registers are not in order at '%s'", n->name);
        p->register_name_count = i + 1;
    }
}

/* ---- the file ---- */

static void check_hash(reader *r) {
    static const uint8_t zeros[32];
    hg_blake3 h;
    uint8_t hash[32];
    hg_blake3_init(&h);
    hg_blake3_update(&h, r->data, HG_CONTAINER_HASH);
    hg_blake3_update(&h, zeros, sizeof zeros);
    hg_blake3_update(&h, r->data + HG_CONTAINER_HASH + 32, (size_t)r->end - HG_CONTAINER_HASH - 32);
    hg_blake3_final(&h, hash);
    if (memcmp(hash, r->data + HG_CONTAINER_HASH, sizeof hash) != 0)
        refuse(r, "B04", "checksum does not match: the file is damaged");
}

typedef struct header {
    uint32_t sections, flags;
} header;

static header get_header(reader *r) {
    header h = {0};
    uint64_t length = r->end, magic = length < 8 ? length : 8;
    if (length == 0 || memcmp(r->data, HG_CONTAINER_MAGIC, (size_t)magic) != 0) {
        refuse(r, "B01", "not an Atlas binary: bad magic");
        return h;
    }
    if (length > HG_MAX_SOURCE_BYTES)
        refuse(r, "S05", "file larger than %d bytes", (int)HG_MAX_SOURCE_BYTES);
    take(r, 8);
    uint16_t major = (uint16_t)get(r, 2), minor = (uint16_t)get(r, 2);
    if (ok(r) && (major != HG_CONTAINER_MAJOR || minor > HG_CONTAINER_MINOR))
        refuse(r, "B02", "version %u.%u is not supported, only %d.0 to %d.%d", (unsigned)major,
               (unsigned)minor, (int)HG_CONTAINER_MAJOR, (int)HG_CONTAINER_MAJOR,
               (int)HG_CONTAINER_MINOR);
    r->minor = minor;
    h.sections = get_32(r);
    uint64_t size = get(r, 8);
    take(r, 32);
    h.flags = get_32(r);
    uint32_t zero = get_32(r);
    if (!ok(r)) return h;
    if (size > length)
        refuse(r, "B03", "truncated: %llu bytes are missing", (unsigned long long)(size - length));
    if (size < length)
        refuse(r, "B06", "not canonical: %llu bytes after the end",
               (unsigned long long)(length - size));
    if (ok(r)) check_hash(r);
    if (ok(r) && (zero != 0 || (h.flags & ~(uint32_t)HG_FLAG_RELAXED) != 0))
        refuse(r, "B06", "not canonical: reserved bits of the header");
    return h;
}

typedef struct section {
    uint64_t offset, size;
} section;

/* Sections by kind; size 0: absent (a section that is present is never empty). */
static void get_table(reader *r, uint32_t count, section table[HG_SECTION_END]) {
    if (count >= HG_SECTION_END) {
        refuse(r, "B05", "section table: %u sections", (unsigned)count);
        return;
    }
    uint64_t next = HG_CONTAINER_HEADER + HG_CONTAINER_ENTRY * (uint64_t)count;
    uint32_t last_kind = 0;
    for (uint32_t i = 0; i < count && ok(r); i++) {
        uint32_t kind = get_32(r), zero = get_32(r);
        uint64_t offset = get(r, 8), size = get(r, 8), start = (next + 7) & ~(uint64_t)7;
        if (!ok(r)) return;
        if (kind <= last_kind || kind >= HG_SECTION_END || zero != 0)
            refuse(r, "B05", "section table: kind %u in entry %u", (unsigned)kind, (unsigned)i);
        else if (offset != start || size == 0 || start > r->end || size > r->end - start)
            refuse(r, "B05", "section table: section %u lies at %llu with %llu bytes",
                   (unsigned)kind, (unsigned long long)offset, (unsigned long long)size);
        if (!ok(r)) return;
        for (uint64_t k = next; k < start; k++)
            if (r->data[k] != 0)
                refuse(r, "B06", "not canonical: padding before section %u", (unsigned)kind);
        table[kind] = (section){offset, size};
        last_kind = kind;
        next = offset + size;
    }
    if (ok(r) && next != r->end)
        refuse(r, "B05", "section table: the last section does not end the file");
    if (ok(r) && (!table[HG_SECTION_CODE].size || !table[HG_SECTION_NAMES].size))
        refuse(r, "B05", "section table: code or names are missing");
}

static void get_sections(reader *r, hg_program *p) {
    static void (*const read[HG_SECTION_END])(reader *, hg_program *) = {
        NULL,      get_code, get_params, get_launch,  get_names,     get_meta,
        get_debug, get_data, get_grid,   get_private, get_registers, get_expressions};
    section table[HG_SECTION_END] = {{0, 0}};
    header h = get_header(r);
    if (ok(r)) get_table(r, h.sections, table);
    if (!ok(r)) return;
    p->flags = h.flags;
    hg_blake3 hash;
    hg_hash_begin(&hash, p->flags);
    uint64_t end = r->end;
    for (uint32_t kind = HG_SECTION_CODE; kind < HG_SECTION_END && ok(r); kind++) {
        if (!table[kind].size) continue;
        r->at = table[kind].offset;
        r->end = table[kind].offset + table[kind].size;
        read[kind](r, p);
        if (ok(r) && r->at != r->end)
            refuse(r, "B06", "not canonical: %llu bytes too many in section %u",
                   (unsigned long long)(r->end - r->at), (unsigned)kind);
        hg_hash_section(&hash, kind, r->data + table[kind].offset, table[kind].size);
    }
    r->end = end;
    hg_blake3_final(&hash, p->hash);
    p->serial = hg_program_next_serial();
    for (uint32_t i = 0; i < p->param_count && ok(r); i++)
        if (p->params[i].kind == HG_PARAM_DATA && !table[HG_SECTION_DATA].size)
            refuse(r, "B05", "section table: data are missing");
    uint32_t needed = ok(r) ? hg_container_minor(p) : r->minor;
    if (ok(r) && r->widened && needed == 2) needed = hg_container_sections_minor(p);
    if (ok(r) && p->lengths) needed = 3;
    if (r->minor != needed)
        refuse(r, "B06", "not canonical: version 1.%u, and the program needs 1.%u",
               (unsigned)r->minor, (unsigned)needed);
    if (ok(r) && r->widened) r->status = hg_program_rehash(p);
}

/* What a reader of the bytes cannot see: ranges of operands, types that an instruction does not
 * take, parameters. */
static hg_status check_contents(const hg_program *p, hg_diagnostics *d) {
    hg_check check;
    HG_TRY(hg_check_begin(&check, p, d));
    check.code = "B08";
    hg_check_structure(&check, true);
    return hg_check_end(&check);
}

hg_status hg_program_decode(const void *bytes, size_t length, hg_diagnostics *diagnostics,
                            hg_program **program) {
    HG_ENTRY;
    if (!program || (!bytes && length))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "bytes and program must not be NULL");
    *program = NULL;
    hg_program *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->references = 1;
    reader r = {.data = bytes, .end = length, .diagnostics = diagnostics, .instruction = HG_NONE};
    get_sections(&r, p);
    if (r.status == HG_OK) r.status = check_contents(p, diagnostics);
    if (r.status != HG_OK) {
        hg_program_release(p);
        return r.status;
    }
    *program = p;
    return HG_OK;
}
