/* Writes the binary container and the program hash (language.md 7): one encoding a program.
 * Must not know: text syntax, verification. */
#include "isa/codec.h"

#include <string.h>

/* ---- numbers ---- */

static void put(hg_text *out, uint64_t value, int bytes) {
    char b[8];
    for (int i = 0; i < bytes; i++) b[i] = (char)(value >> (8 * i));
    hg_text_add(out, b, (size_t)bytes);
}

static void put_name(hg_text *out, const char *name, size_t length) {
    put(out, length, 1);
    hg_text_add(out, name, length);
}

/* ---- instructions ---- */

static void put_address(hg_text *out, const hg_operand *o) {
    put(out, o->place, 1);
    if (o->place == HG_PLACE_BARE) {
        put(out, o->reg, 1);
        return;
    }
    bool scaled = hg_operand_scale(o) > 1;
    put(out, (o->has_index ? HG_ADDRESS_INDEX : 0) | (scaled ? HG_ADDRESS_SCALE : 0), 1);
    switch ((hg_place_kind)o->place) {
    case HG_PLACE_BUF:
    case HG_PLACE_POOL: put(out, o->value, 8); break;
    case HG_PLACE_CLASS: put(out, o->value, 1); break;
    case HG_PLACE_PHI:
        put(out, o->value, 1);
        put(out, o->phi[0], 1);
        put(out, o->phi[1], 1);
        break;
    case HG_PLACE_FLAT:
    case HG_PLACE_BUF_REG:
    case HG_PLACE_POOL_REG: put(out, o->reg, 1); break;
    case HG_PLACE_SHARED:
    case HG_PLACE_PRIVATE:
    case HG_PLACE_BARE: break;
    }
    if (o->has_index) put(out, o->index, 1);
    if (scaled) put(out, o->scale, 2);
    put(out, (uint64_t)o->disp, 8);
}

static void put_count(hg_text *out, bool is_reg, uint8_t reg, uint64_t value) {
    put(out, is_reg, 1);
    put(out, is_reg ? reg : value, is_reg ? 1 : 8);
}

static void put_tuple(hg_text *out, const hg_program *p, const hg_tuple_item *items,
                      uint64_t count) {
    put(out, count, 4);
    for (uint64_t i = 0; i < count; i++) {
        if (!items[i].is_tuple) {
            put_count(out, items[i].is_reg, items[i].reg, items[i].value);
            continue;
        }
        const hg_tuple_item *inside = hg_tuple_inside(p, &items[i]);
        put(out, items[i].item_count, 4);
        for (uint32_t k = 0; k < items[i].item_count; k++)
            put_count(out, inside[k].is_reg, inside[k].reg, inside[k].value);
    }
}

static void put_operand(hg_text *out, const hg_program *p, const hg_inst *in,
                        const hg_operand_info *info, const hg_operand *o) {
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG:
    case HG_K_PRED: put(out, o->reg, 1); break;
    case HG_K_LABEL: put(out, o->value, 4); break;
    case HG_K_ADDRESS:
    case HG_K_ARRAY: put_address(out, o); break;
    case HG_K_LITERAL:
        hg_text_add(out, (const char *)hg_literal(p, o),
                    (size_t)hg_type_size_bytes(hg_literal_type(in, info)));
        break;
    case HG_K_COUNT: put_count(out, o->is_reg, o->reg, o->value); break;
    case HG_K_POOL: put(out, o->value, 8); break;
    case HG_K_U8:
    case HG_K_I8:
    case HG_K_COND:
    case HG_K_SCOPE:
    case HG_K_OPNAME:
    case HG_K_IDNAME:
    case HG_K_BOOL: put(out, o->value, 1); break;
    case HG_K_TUPLE:
    case HG_K_TUPLES: put_tuple(out, p, hg_tuple(p, o), o->item_count); break;
    case HG_K_TYPE: break; /* no row has it among its operands */
    }
}

/* Those that may be left out: which are there, then these. */
static void put_optional(hg_text *out, const hg_program *p, const hg_inst *in,
                         const hg_op_info *row, const hg_operand *o) {
    uint32_t bits = 0, count = 0;
    for (uint32_t k = 0; k < row->operand_count; k++)
        if (hg_operand_can_be_left_out(&row->operands[k]))
            bits |= (uint32_t)!hg_operand_is_left_out(p, in, &row->operands[k], &o[k]) << count++;
    if (count) put(out, bits, 4);
    for (uint32_t k = 0; k < row->operand_count && bits; k++) {
        if (!hg_operand_can_be_left_out(&row->operands[k])) continue;
        if (bits & 1) put_operand(out, p, in, &row->operands[k], &o[k]);
        bits >>= 1;
    }
}

static void put_code(hg_text *out, const hg_program *p) {
    put(out, p->entry, 4);
    put(out, p->inst_count, 4);
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_inst *in = &p->insts[i];
        const hg_op_info *row = hg_op_get((hg_op)in->op);
        const hg_operand *o = hg_inst_operands(p, i);
        put(out, row->opcode, 2);
        if (row->type_count > 0) put(out, in->type, 1);
        if (row->type_count > 1) put(out, in->type2, 1);
        const hg_operand_info *info = row->operands, *end = info + row->operand_count;
        bool optional = false;
        for (uint32_t k = 0; info < end; info++, k++) {
            if (hg_operand_can_be_left_out(info))
                optional = true;
            else
                put_operand(out, p, in, info, &o[k]);
        }
        if (optional) put_optional(out, p, in, row, o);
    }
}

/* ---- the other sections; nothing written: the section is left out ---- */

static void put_extent(hg_text *out, const hg_program *p, const hg_extent *e) {
    put(out, e->kind, 1);
    if (e->kind == HG_EXTENT_NUMBER) put(out, e->value, 8);
    if (e->kind == HG_EXTENT_PARAM) put(out, e->param, 1);
    if (e->kind != HG_EXTENT_EXPRESSION) return;
    put(out, e->op_count, 1);
    for (uint32_t i = 0; i < e->op_count; i++) {
        const hg_extent_op *op = &p->extent_ops[e->value + i];
        put(out, op->kind, 1);
        if (op->kind == HG_EXTENT_OP_NUMBER) put(out, op->value, 8);
        if (op->kind == HG_EXTENT_OP_PARAM) put(out, op->param, 1);
    }
}

static void put_params(hg_text *out, const hg_program *p) {
    if (p->param_count) put(out, p->param_count, 4);
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *a = &p->params[i];
        put(out, a->reg, 1);
        put(out, a->kind, 1);
        put(out, a->kind == HG_PARAM_POOL ? 0 : a->type, 1);
        put(out, a->dir, 1);
        put_name(out, a->name, strlen(a->name));
        if (a->kind == HG_PARAM_POOL) {
            put(out, a->pool_bytes, 8);
        } else if (a->kind == HG_PARAM_SCALAR) {
            put(out, a->has_default, 1);
            if (a->has_default)
                hg_text_add(out, (const char *)a->default_bytes,
                            (size_t)hg_type_size_bytes((hg_type)a->type));
        } else {
            put(out, a->rank, 1);
            for (uint32_t k = 0; a->rank != 255 && k < a->rank; k++)
                put_extent(out, p, &a->dims[k]);
        }
    }
}

static void put_launch(hg_text *out, const hg_program *p) {
    if (!p->shared && !p->block[0] && !p->lanes_count) return;
    put(out, p->shared, 8);
    for (int k = 0; k < 3; k++) put(out, p->block[k], 4);
    put(out, p->lanes_count, 1);
    for (uint32_t k = 0; k < p->lanes_count; k++) put_extent(out, p, &p->lanes[k]);
}

static void put_names(hg_text *out, const hg_program *p) {
    put_name(out, p->name, strlen(p->name));
    put(out, p->label_count, 4);
    for (uint32_t i = 0; i < p->label_count; i++) {
        put(out, p->labels[i].index, 4);
        put_name(out, p->labels[i].name, strlen(p->labels[i].name));
    }
}

static void put_meta(hg_text *out, const hg_program *p) {
    if (p->meta_count) put(out, p->meta_count, 4);
    for (uint32_t i = 0; i < p->meta_count; i++) {
        put_name(out, p->meta[i].key, strlen(p->meta[i].key));
        put(out, p->meta[i].value_length, 4);
        hg_text_add(out, p->meta[i].value, p->meta[i].value_length);
    }
}

/* A source name longer than its length byte can say loses its beginning. */
static void put_debug(hg_text *out, const hg_program *p) {
    if (!p->lines) return;
    const char *name = p->source_name ? p->source_name : "";
    size_t length = strlen(name);
    if (length > 255) {
        name += length - 255;
        length = 255;
    }
    put_name(out, name, length);
    for (uint32_t i = 0; i < p->inst_count; i++) {
        put(out, p->lines[i], 4);
        put(out, p->columns[i], 4);
    }
}

static void put_expressions(hg_text *out, const hg_program *p) {
    for (uint32_t i = 0; p->lengths && i < p->inst_count; i++) put(out, p->lengths[i], 4);
}

static void put_data(hg_text *out, const hg_program *p) {
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *a = &p->params[i];
        if (a->kind != HG_PARAM_DATA) continue;
        put(out, a->data_bytes, 8);
        hg_text_add(out, (const char *)a->data, (size_t)a->data_bytes);
    }
}

static void put_grid(hg_text *out, const hg_program *p) {
    if (p->grid_count) put(out, p->grid_count, 1);
    for (uint32_t k = 0; k < p->grid_count; k++) put_extent(out, p, &p->grid[k]);
}

static void put_private(hg_text *out, const hg_program *p) {
    if (p->private_bytes) put(out, p->private_bytes, 8);
}

static void put_registers(hg_text *out, const hg_program *p) {
    if (p->register_name_count) put(out, p->register_name_count, 4);
    for (uint32_t i = 0; i < p->register_name_count; i++) {
        const hg_register_name *r = &p->register_names[i];
        put(out, r->first, 4);
        put(out, r->end, 4);
        put(out, r->predicate, 1);
        put(out, r->number, 1);
        put_name(out, r->name, strlen(r->name));
    }
}

static void put_section(hg_text *out, const hg_program *p, uint32_t kind) {
    switch (kind) {
    case HG_SECTION_CODE: put_code(out, p); break;
    case HG_SECTION_PARAM: put_params(out, p); break;
    case HG_SECTION_LAUNCH: put_launch(out, p); break;
    case HG_SECTION_NAMES: put_names(out, p); break;
    case HG_SECTION_META: put_meta(out, p); break;
    case HG_SECTION_DEBUG: put_debug(out, p); break;
    case HG_SECTION_DATA: put_data(out, p); break;
    case HG_SECTION_GRID: put_grid(out, p); break;
    case HG_SECTION_PRIVATE: put_private(out, p); break;
    case HG_SECTION_REGISTERS: put_registers(out, p); break;
    case HG_SECTION_EXPRESSIONS: put_expressions(out, p); break;
    default: break;
    }
}

/* ---- hash ---- */

static void hash_number(hg_blake3 *h, uint64_t value, int bytes) {
    uint8_t b[8];
    for (int i = 0; i < bytes; i++) b[i] = (uint8_t)(value >> (8 * i));
    hg_blake3_update(h, b, (size_t)bytes);
}

void hg_hash_begin(hg_blake3 *h, uint32_t flags) {
    hg_blake3_init(h);
    hg_blake3_update(h, HG_PROGRAM_HASH_DOMAIN, 8);
    hash_number(h, flags, 4);
}

/* What a program means: not its names, metadata and places in a source. */
static bool is_hashed(uint32_t kind) {
    return kind <= HG_SECTION_LAUNCH || kind == HG_SECTION_DATA || kind == HG_SECTION_GRID ||
           kind == HG_SECTION_PRIVATE;
}

void hg_hash_section(hg_blake3 *h, uint32_t kind, const void *bytes, uint64_t size) {
    if (!is_hashed(kind) || size == 0) return;
    hash_number(h, kind, 4);
    hash_number(h, size, 8);
    hg_blake3_update(h, bytes, (size_t)size);
}

hg_status hg_program_rehash(hg_program *program) {
    hg_blake3 h;
    hg_text section = {0};
    hg_hash_begin(&h, program->flags);
    for (uint32_t kind = HG_SECTION_CODE; kind < HG_SECTION_END && !section.failed; kind++) {
        if (!is_hashed(kind)) continue;
        section.length = 0;
        put_section(&section, program, kind);
        hg_hash_section(&h, kind, section.data, section.length);
    }
    bool failed = section.failed;
    hg_text_free(&section);
    if (failed) return hg_fail_memory();
    hg_blake3_final(&h, program->hash);
    program->serial = hg_program_next_serial();
    return HG_OK;
}

/* ---- the file ---- */

static void align_8(hg_text *out) { put(out, 0, (int)((8 - out->length % 8) % 8)); }

static void overwrite(hg_text *out, size_t at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes && !out->failed; i++)
        out->data[at + (size_t)i] = (char)(value >> (8 * i));
}

static bool has_data(const hg_program *p) {
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].kind == HG_PARAM_DATA) return true;
    return false;
}

static bool has_scale(const hg_program *p) {
    for (uint32_t i = 0; i < p->operand_count; i++)
        if (p->operands[i].kind == HG_K_ADDRESS && hg_operand_scale(&p->operands[i]) > 1)
            return true;
    return false;
}

bool hg_container_zero(const hg_program *p, const hg_inst *in, const hg_operand_info *info,
                       const hg_operand *o) {
    if (info->optional != HG_OR_NONE) return false;
    if (info->kind == HG_K_COUNT) return !o->is_reg && o->value == 0;
    if (info->kind != HG_K_LITERAL) return false;
    const uint8_t *bytes = hg_literal(p, o);
    for (uint64_t i = 0; i < hg_type_size_bytes(hg_literal_type(in, info)); i++)
        if (bytes[i]) return false;
    return true;
}

/* An operand as minor version 2 has it. */
static bool is_of_minor_2(const hg_program *p, const hg_inst *in, const hg_operand_info *info,
                          const hg_operand *o) {
    if (hg_operand_is_left_out(p, in, info, o)) return false;
    return hg_container_narrow(in, info) || hg_container_zero(p, in, info, o);
}

static bool needs_minor_2(const hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_inst *in = &p->insts[i];
        const hg_op_info *row = hg_op_get((hg_op)in->op);
        const hg_operand *o = hg_inst_operands(p, i);
        for (uint32_t k = 0; k < row->operand_count; k++)
            if (is_of_minor_2(p, in, &row->operands[k], &o[k])) return true;
    }
    return false;
}

static bool needs_minor_3(const hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++) switch ((hg_op)p->insts[i].op) {
        case HG_OP_LDG_WIDE:
        case HG_OP_STG_NARROW:
        case HG_OP_LDS_WIDE:
        case HG_OP_STS_NARROW:
        case HG_OP_LDP_WIDE:
        case HG_OP_STP_NARROW:
        case HG_OP_BITS:
        case HG_OP_AXIS_FIRST:
        case HG_OP_AXIS:
        case HG_OP_BLOCK_ANY:
        case HG_OP_BLOCK_ALL:
        case HG_OP_GRID_ANY:
        case HG_OP_GRID_ALL: return true;
        default: break;
        }
    return false;
}

uint32_t hg_container_minor(const hg_program *p) {
    if (needs_minor_3(p)) return 3;
    return needs_minor_2(p) ? 2 : hg_container_sections_minor(p);
}

uint32_t hg_container_sections_minor(const hg_program *p) {
    return p->grid_count || p->private_bytes || p->register_name_count || p->extent_op_count ||
           has_data(p) || has_scale(p);
}

/* Header and table with sizes still open, then the sections. */
static void put_file(hg_text *out, const hg_program *p, uint32_t flags) {
    uint32_t kinds[HG_SECTION_END], count = 0;
    uint64_t offset[HG_SECTION_END], size[HG_SECTION_END];
    bool present[HG_SECTION_END] = {false};
    present[HG_SECTION_CODE] = present[HG_SECTION_NAMES] = true;
    present[HG_SECTION_PARAM] = p->param_count != 0;
    present[HG_SECTION_LAUNCH] = p->shared || p->block[0] || p->lanes_count;
    present[HG_SECTION_META] = p->meta_count != 0;
    present[HG_SECTION_DEBUG] = (flags & HG_PROGRAM_DEBUG) && p->lines;
    present[HG_SECTION_DATA] = has_data(p);
    present[HG_SECTION_GRID] = p->grid_count != 0;
    present[HG_SECTION_PRIVATE] = p->private_bytes != 0;
    present[HG_SECTION_REGISTERS] = p->register_name_count != 0;
    present[HG_SECTION_EXPRESSIONS] = present[HG_SECTION_DEBUG] && p->lengths && p->inst_count;
    for (uint32_t kind = HG_SECTION_CODE; kind < HG_SECTION_END; kind++)
        if (present[kind]) kinds[count++] = kind;
    for (uint32_t i = 0; i < (HG_CONTAINER_HEADER + HG_CONTAINER_ENTRY * count) / 8; i++)
        put(out, 0, 8);
    for (uint32_t i = 0; i < count; i++) {
        align_8(out);
        offset[i] = out->length;
        put_section(out, p, kinds[i]);
        size[i] = out->length - offset[i];
    }
    overwrite(out, 8, HG_CONTAINER_MAJOR, 2);
    overwrite(out, 10, present[HG_SECTION_EXPRESSIONS] ? 3 : hg_container_minor(p), 2);
    overwrite(out, 12, count, 4);
    overwrite(out, 16, out->length, 8);
    overwrite(out, 56, p->flags, 4);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = HG_CONTAINER_HEADER + HG_CONTAINER_ENTRY * (size_t)i;
        overwrite(out, at, kinds[i], 4);
        overwrite(out, at + 8, offset[i], 8);
        overwrite(out, at + 16, size[i], 8);
    }
}

static bool lacks_type(const hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++)
        if (p->insts[i].type == HG_TYPE_OMITTED) return true;
    return false;
}

hg_status hg_program_encode(const hg_program *program, uint32_t flags, uint8_t **bytes,
                            size_t *length) {
    HG_ENTRY;
    if (!program || !bytes || !length)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "program, bytes and length must not be NULL");
    *bytes = NULL;
    *length = 0;
    if (lacks_type(program)) return hg_fail(HG_ERROR_ISA, "an instruction has no type");
    hg_text out = {0};
    put_file(&out, program, flags);
    if (out.failed) {
        hg_text_free(&out);
        return hg_fail_memory();
    }
    if (out.length > HG_MAX_SOURCE_BYTES) {
        hg_text_free(&out);
        return hg_fail(HG_ERROR_ISA, "the binary would be larger than %d bytes",
                       (int)HG_MAX_SOURCE_BYTES);
    }
    memcpy(out.data, HG_CONTAINER_MAGIC, 8);
    hg_blake3 h;
    uint8_t hash[32];
    hg_blake3_init(&h);
    hg_blake3_update(&h, out.data, out.length);
    hg_blake3_final(&h, hash);
    memcpy(out.data + HG_CONTAINER_HASH, hash, sizeof hash);
    *bytes = (uint8_t *)out.data;
    *length = out.length;
    return HG_OK;
}
