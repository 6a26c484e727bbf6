/* Values of operands in their final form, and emitting. Everything about an instruction comes from
 * its row.
 * Must not know: types of registers, control flow. */
#include "isa/assemble_inst.h"

#include <stdio.h>

/* ---- values of operands ---- */

bool hg_asm_unsigned_value(hg_assembler *a, const hg_token *at, uint64_t most, const char *code,
                           uint64_t *value) {
    hg_number_kind kind = hg_classify_number(at->text, at->length);
    if (at->text[0] != '-' && kind != HG_NUMBER_BAD && kind != HG_NUMBER_DECIMAL &&
        kind != HG_NUMBER_HEX && kind != HG_NUMBER_BINARY) {
        hg_asm_error(a, "N03", at, NULL, "expected an unsigned integer, got a real number");
        return false;
    }
    if (is_letter(at->text[0])) {
        hg_asm_error(a, "N03", at, NULL, "expected an unsigned integer, got '%.*s'",
                     hg_token_shown(at), at->text);
        return false;
    }
    if (at->text[0] != '-' && kind == HG_NUMBER_BAD) return hg_asm_number(a, at, 0, value);
    if (at->text[0] != '-' && !hg_parse_uint(at->text, at->length, value) && *value <= most)
        return true;
    hg_asm_error(a, code, at, NULL, "%.*s is out of range: 0 to %llu", hg_token_shown(at), at->text,
                 (unsigned long long)most);
    return false;
}

bool hg_asm_signed_byte(hg_assembler *a, const hg_token *at, uint64_t *value) {
    uint8_t byte[HG_MAX_LITERAL_BYTES];
    char message[160];
    const char *hint;
    if (hg_parse_literal(at->text, at->length, HG_TYPE_I8, byte, message, &hint)) {
        hg_asm_error(a, "N07", at, NULL, "%.*s is out of range: -128 to 127", hg_token_shown(at),
                     at->text);
        return false;
    }
    *value = (uint64_t)(int64_t)(int8_t)byte[0];
    return true;
}

bool hg_asm_keep_literal(hg_assembler *a, const void *bytes, hg_type type, uint64_t *offset) {
    *offset = a->code.literals.length;
    hg_text_add(&a->code.literals, bytes, (size_t)hg_type_size_bytes(type));
    return !a->code.literals.failed || hg_asm_no_memory(a);
}

bool hg_asm_default_type(hg_assembler *a, const hg_token *literal, uint8_t *type) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    char message[160];
    const char *hint;
    uint32_t at = literal->text[0] == '-';
    while (at < literal->length && (literal->text[at] == ' ' || literal->text[at] == '\t')) at++;
    if (literal->text[at] == 'b') {
        hg_asm_error(a, "V05", literal, NULL,
                     "type of 'mov_imm' cannot be inferred here: write mov_imm.TYPE");
        return false;
    }
    hg_number_kind kind = hg_classify_number(literal->text + at, literal->length - at);
    bool real = is_letter(literal->text[at]) || kind == HG_NUMBER_REAL ||
                kind == HG_NUMBER_HEXREAL; /* inf and nan too */
    bool narrow = !hg_parse_literal(literal->text, literal->length, HG_TYPE_I32, bytes, message,
                                    &hint);
    *type = real ? HG_TYPE_F32 : narrow ? HG_TYPE_I32 : HG_TYPE_I64;
    return true;
}

static bool literal_value(hg_assembler *a, hg_inst *inst, const hg_operand_info *info,
                          const hg_token *at, uint64_t *value) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    if (inst->type == HG_TYPE_OMITTED && !hg_asm_default_type(a, at, &inst->type)) return false;
    hg_type type = hg_literal_type(inst, info);
    return hg_asm_literal_bytes(a, at, type, bytes) && hg_asm_keep_literal(a, bytes, type, value);
}

static bool opname_value(hg_assembler *a, const hg_inst *inst, hg_type_rule names,
                         const hg_token *at, uint64_t *value) {
    hg_opname name;
    const hg_op_info *info = hg_op_get((hg_op)inst->op);
    char got[80];
    if (!hg_opname_from_text(at->text, at->length, &name) || !hg_opname_fits(name, names)) {
        hg_nearest nearest;
        hg_nearest_init(&nearest, at->text, at->length);
        for (int i = 0; i < HG_OPNAME_COUNT; i++)
            if (hg_opname_fits((hg_opname)i, names))
                hg_nearest_try(&nearest, hg_opname_name((hg_opname)i));
        hg_asm_error(a, "N03", at, hg_nearest_hint(&nearest), "%s is no operation of '%s'",
                     hg_token_describe(at, got), info->text);
        return false;
    }
    *value = name;
    if (hg_opname_allows_type(name, (hg_type)inst->type)) return true;
    hg_asm_error(a, "N06", at, NULL, "unsupported operation: %s %s for type %s", info->id,
                 hg_opname_name(name), hg_type_name((hg_type)inst->type));
    return false;
}

static bool idname_value(hg_assembler *a, const hg_token *at, uint64_t *value) {
    hg_idname name;
    char got[80];
    if (hg_idname_from_text(at->text, at->length, &name)) {
        *value = name;
        return true;
    }
    hg_nearest nearest;
    hg_nearest_init(&nearest, at->text, at->length);
    for (int i = 0; i < HG_ID_COUNT; i++) hg_nearest_try(&nearest, hg_idname_name((hg_idname)i));
    hg_asm_error(a, "N03", at, hg_nearest_hint(&nearest), "%s is no id",
                 hg_token_describe(at, got));
    return false;
}

static bool bool_value(hg_assembler *a, const hg_token *at, uint64_t *value) {
    char got[80];
    *value = hg_token_is(at, "true");
    if (*value || hg_token_is(at, "false")) return true;
    hg_asm_error(a, "N03", at, NULL, "expected true or false, got %s", hg_token_describe(at, got));
    return false;
}

static uint32_t last_inst(const hg_assembler *a) { return (uint32_t)a->code.insts.count - 1; }

static bool add_fixup(hg_assembler *a, uint32_t label, const hg_token *at) {
    hg_fixup *fixup = hg_vec_push(&a->code.fixups);
    if (!fixup) return hg_asm_no_memory(a);
    bool call = a->code.insts.data[last_inst(a)].op == HG_OP_CALL;
    *fixup = (hg_fixup){a->code.operands.count - 1, last_inst(a), label,
                        call ? 0 : a->functions.scope, *at};
    return true;
}

/* A tuple with another number of numbers than the table says. */
static bool check_items(hg_assembler *a, const hg_inst *inst, const hg_operand_info *info,
                        const hg_raw_operand *raw) {
    const hg_op_info *row = hg_op_get((hg_op)inst->op);
    if (!info->items || hg_operand_is_empty(info, &raw->value)) return true;
    uint64_t tuples = info->kind == HG_K_TUPLES ? raw->value.item_count : 1;
    for (uint64_t i = 0; i < tuples; i++) {
        bool outer = info->kind == HG_K_TUPLE;
        uint64_t got = outer ? raw->value.item_count
                             : a->code.items.data[raw->value.value + i].item_count;
        if (got == info->items) continue;
        hg_asm_error(a, "N04", &raw->token, NULL,
                     "operand '%s' of '%s': expected %u numbers%s, got %llu", info->name, row->text,
                     (unsigned)info->items, outer ? "" : " in each tuple", (unsigned long long)got);
        return false;
    }
    return true;
}

/* An operand that has the right kind, in its final form. */
static bool convert(hg_assembler *a, hg_inst *inst, const hg_operand_info *info,
                    const hg_raw_operand *raw, hg_operand *o) {
    const hg_token *at = raw->literal.length ? &raw->literal : &raw->token;
    *o = raw->value;
    o->kind = info->kind;
    o->reg = raw->reg.number;
    o->index = raw->index.number;
    switch ((hg_operand_kind)info->kind) {
    case HG_K_ADDRESS:
        if ((hg_op_get((hg_op)inst->op)->flags & HG_F_PRIVATE) && o->place != HG_PLACE_PRIVATE) {
            hg_asm_error(a, "N03", at, NULL,
                         "'%s' takes private memory only: write [private + ...]",
                         hg_op_get((hg_op)inst->op)->text);
            return false;
        }
        if (!(hg_op_get((hg_op)inst->op)->flags & HG_F_SHARED) || o->place == HG_PLACE_SHARED)
            return true;
        hg_asm_error(a, "N03", at, NULL, "'%s' takes shared memory only: write [shared + ...]",
                     hg_op_get((hg_op)inst->op)->text);
        return false;
    case HG_K_ARRAY:
        if (hg_raw_is_register(raw))
            o->place = HG_PLACE_BARE;
        else
            o->kind = HG_K_ADDRESS;
        return true;
    case HG_K_COUNT:
        o->is_reg = hg_raw_is_register(raw);
        return o->is_reg || hg_asm_unsigned_value(a, at, UINT64_MAX, "S04", &o->value);
    case HG_K_U8: return hg_asm_unsigned_value(a, at, 255, "N07", &o->value);
    case HG_K_I8: return hg_asm_signed_byte(a, at, &o->value);
    case HG_K_LITERAL: return literal_value(a, inst, info, at, &o->value);
    case HG_K_OPNAME: return opname_value(a, inst, (hg_type_rule)info->rule, at, &o->value);
    case HG_K_IDNAME: return idname_value(a, at, &o->value);
    case HG_K_BOOL: return bool_value(a, at, &o->value);
    case HG_K_TUPLES: return check_items(a, inst, info, raw);
    case HG_K_TUPLE:
        if (hg_operand_is_empty(info, o)) o->place = HG_PLACE_NONE;
        return check_items(a, inst, info, raw) &&
               (!raw->literal.length || hg_asm_number(a, at, 0, &(uint64_t){0}));
    case HG_K_LABEL: return add_fixup(a, raw->label, at);
    default: return true;
    }
}

bool hg_asm_default_operand(hg_assembler *a, const hg_inst *inst, const hg_operand_info *info,
                            hg_operand *o) {
    hg_type type = hg_literal_type(inst, info);
    hg_default d;
    hg_default_operand(info, type, &d);
    *o = d.operand;
    if (hg_operand_is_missing(o)) return true;
    if (info->kind == HG_K_LITERAL) return hg_asm_keep_literal(a, d.literal, type, &o->value);
    if (info->kind != HG_K_TUPLE && info->kind != HG_K_TUPLES) return true;
    return hg_asm_keep_items(a, d.items, (uint32_t)o->item_count, &o->value);
}

static void implicit_operand(const hg_mnemonic *m, const hg_operand_info *info, hg_operand *o) {
    *o = (hg_operand){.kind = info->kind};
    if (info->kind == HG_K_COND) o->value = m->condition;
    if (info->kind == HG_K_SCOPE) o->value = m->scope;
    if (info->kind == HG_K_PRED) o->reg = m->predicate.number;
}

/* ---- emitting ---- */

/* Instructions before the first expanded one have no places of their own. */
static bool keep_place(hg_assembler *a, const hg_token *at) {
    while (a->kept.places.count < a->code.insts.count)
        if (!hg_vec_push(&a->kept.places)) return hg_asm_no_memory(a);
    a->kept.places.data[a->code.insts.count - 1] = hg_asm_span(at);
    return true;
}

bool hg_asm_emit(hg_assembler *a, hg_op op, uint8_t type, uint8_t type2, const hg_token *at) {
    if (a->code.insts.count == HG_MAX_INSTRUCTIONS) {
        hg_asm_error(a, "S05", at, NULL, "more than %d instructions", HG_MAX_INSTRUCTIONS);
        a->wrong.stop = true;
        return false;
    }
    hg_inst *inst = hg_vec_push(&a->code.insts);
    uint32_t *line = hg_vec_push(&a->code.lines), *column = hg_vec_push(&a->code.columns);
    uint32_t *length = hg_vec_push(&a->code.lengths);
    if (!inst || !line || !column || !length) return hg_asm_no_memory(a);
    *length = at->expansion || !a->code.of_expressions ? 0 : at->length;
    a->code.has_lengths |= *length != 0;
    *inst = (hg_inst){(uint16_t)op, type, type2, (uint32_t)a->code.operands.count};
    hg_asm_outer_place(a, at, line, column);
    return !(at->expansion || a->kept.places.count) || keep_place(a, at);
}

hg_operand *hg_asm_add_operand(hg_assembler *a, hg_operand operand, const hg_token *at) {
    hg_operand *o = hg_vec_push(&a->code.operands);
    hg_span *span = hg_vec_push(&a->code.spans);
    if (!o || !span) {
        hg_asm_no_memory(a);
        return NULL;
    }
    *o = operand;
    *span = hg_asm_span(at);
    return o;
}

bool hg_asm_emit_register(hg_assembler *a, hg_register reg, bool predicate, uint8_t access,
                          const hg_token *at) {
    hg_operand o = {.kind = predicate ? HG_K_PRED : HG_K_REG, .reg = reg.number};
    return hg_asm_use(a, &reg, last_inst(a), a->code.operands.count, HG_USE_REG, access) &&
           hg_asm_add_operand(a, o, at);
}

bool hg_asm_emit_binary(hg_assembler *a, const hg_token *at, hg_op op, uint8_t type, hg_register d,
                        hg_register x, hg_register y) {
    return hg_asm_emit(a, op, type, HG_TYPE_NOT_USED, at) &&
           hg_asm_emit_register(a, d, false, HG_WRITE, at) &&
           hg_asm_emit_register(a, x, false, HG_READ, at) &&
           hg_asm_emit_register(a, y, false, HG_READ, at);
}

bool hg_asm_emit_target(hg_assembler *a, uint32_t index, const hg_token *at, uint64_t *operand) {
    if (operand) *operand = a->code.operands.count;
    return hg_asm_add_operand(a, (hg_operand){.kind = HG_K_LABEL, .value = index}, at) != NULL;
}

bool hg_asm_emit_branch(hg_assembler *a, hg_register predicate, const hg_raw_operand *target,
                        const hg_token *at) {
    return hg_asm_emit(a, HG_OP_BRA, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
           hg_asm_emit_register(a, predicate, true, HG_READ, at) &&
           hg_asm_emit_target(a, 0, &target->token, NULL) &&
           add_fixup(a, target->label, &target->token);
}

static bool emit_constant(hg_assembler *a, const hg_token *at, hg_register d, uint8_t type,
                          const void *bytes, const hg_token *to, const hg_token *literal) {
    uint64_t offset;
    return hg_asm_emit(a, HG_OP_MOV_IMM, type, HG_TYPE_NOT_USED, at) &&
           hg_asm_keep_literal(a, bytes, (hg_type)type, &offset) &&
           hg_asm_emit_register(a, d, false, HG_WRITE, to) &&
           hg_asm_add_operand(a, (hg_operand){.kind = HG_K_LITERAL, .value = offset}, literal);
}

bool hg_asm_emit_literal(hg_assembler *a, const hg_token *at, hg_register d, uint8_t type,
                         const hg_token *literal) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    return hg_asm_literal_bytes(a, literal, (hg_type)type, bytes) &&
           emit_constant(a, at, d, type, bytes, literal, literal);
}

bool hg_asm_emit_number(hg_assembler *a, const hg_token *at, hg_register d, uint8_t type,
                        uint64_t number, const hg_token *to, const hg_token *literal) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES] = {0};
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(number >> i * 8);
    return emit_constant(a, at, d, type, bytes, to, literal);
}

bool hg_asm_emit_id(hg_assembler *a, const hg_token *at, hg_idname id, hg_register *d) {
    return hg_asm_temporary(a, (uint8_t)hg_idname_type(id), false, d) &&
           hg_asm_emit(a, HG_OP_RDID, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
           hg_asm_emit_register(a, *d, false, HG_WRITE, at) &&
           hg_asm_add_operand(a, (hg_operand){.kind = HG_K_IDNAME, .value = id}, at);
}

/* ---- registers ---- */

static bool bad_run(hg_assembler *a, const hg_given *given, uint64_t count, const char *name,
                    int length) {
    hg_asm_error(a, "N07", &given->raw[2].token, NULL,
                 "%llu registers from '%.*s' on reach past its last one", (unsigned long long)count,
                 length, name);
    return false;
}

/* A run of virtual registers is part of one array. */
static bool use_virtual_run(hg_assembler *a, const hg_given *given, uint32_t first,
                            uint64_t count) {
    uint32_t number = a->registers.virtuals.data[first].name;
    hg_named *name = &a->registers.named.data[number];
    if (first - name->first + count > name->count)
        return bad_run(a, given, count, name->token.text, hg_token_shown(&name->token));
    if (count > 1) name->run = true;
    for (uint32_t k = 1; k < count; k++) {
        hg_register reg = {first + k, 0, name->type};
        if (!hg_asm_use(a, &reg, last_inst(a), 0, HG_USE_RUN, HG_READ)) return false;
    }
    return true;
}

static bool check_register_run(hg_assembler *a, const hg_inst *inst, const hg_given *given) {
    if (hg_op_get((hg_op)inst->op)->operands[2].kind != HG_K_U8) return true;
    const hg_operand *o = &a->code.operands.data[inst->operands];
    const hg_register *first = &given->raw[1].reg;
    if (first->virtual_number != HG_UNDEFINED)
        return use_virtual_run(a, given, first->virtual_number, o[2].value);
    if (o[1].reg + o[2].value > HG_MAX_REGISTERS) {
        hg_asm_error(a, "N07", &given->raw[2].token, NULL,
                     "%llu registers from r%u on reach past r255", (unsigned long long)o[2].value,
                     o[1].reg);
        return false;
    }
    for (uint32_t k = 0; k < o[2].value; k++) hg_asm_take(a, false, o[1].reg + k);
    return true;
}

/* An opname or id may have the name of a register. */
static bool holds_registers(const hg_operand_info *info) {
    return info->kind == HG_K_REG || info->kind == HG_K_PRED || info->kind == HG_K_COUNT ||
           info->kind == HG_K_ADDRESS || info->kind == HG_K_ARRAY;
}

static bool use_registers(hg_assembler *a, const hg_operand_info *info, const hg_raw_operand *raw) {
    uint64_t place = a->code.operands.count - 1;
    uint8_t access = info->kind == HG_K_REG || info->kind == HG_K_PRED ? info->access : HG_READ;
    return hg_asm_use(a, &raw->reg, last_inst(a), place, HG_USE_REG,
                      access & (HG_READ | HG_WRITE)) &&
           hg_asm_use(a, &raw->index, last_inst(a), place, HG_USE_INDEX, HG_READ);
}

bool hg_asm_emit_operands(hg_assembler *a, const hg_mnemonic *name, const hg_given *given,
                          const hg_match *m) {
    hg_inst *inst = &a->code.insts.data[a->code.insts.count - 1];
    const hg_op_info *info = hg_op_get((hg_op)inst->op);
    for (; a->registers.uses_placed < a->registers.uses.count; a->registers.uses_placed++)
        if (a->registers.uses.data[a->registers.uses_placed].inst == HG_UNDEFINED)
            a->registers.uses.data[a->registers.uses_placed].inst = last_inst(a);
    for (uint32_t i = 0; i < info->operand_count; i++) {
        const hg_operand_info *wanted = &info->operands[i];
        const hg_raw_operand *raw = m->given[i] == HG_NOT_GIVEN ? NULL : &given->raw[m->given[i]];
        hg_operand *o = hg_asm_add_operand(a, (hg_operand){0}, raw ? &raw->token : &name->token);
        if (!o) return false;
        if (raw ? !convert(a, inst, wanted, raw, o)
                : hg_operand_is_named(wanted) && !hg_asm_default_operand(a, inst, wanted, o))
            return false;
        if (raw && holds_registers(wanted) && !use_registers(a, wanted, raw)) return false;
        if (raw || !hg_operand_in_mnemonic(wanted)) continue;
        implicit_operand(name, wanted, o);
        if (wanted->kind == HG_K_PRED &&
            !hg_asm_use(a, &name->predicate, last_inst(a), a->code.operands.count - 1, HG_USE_REG,
                        HG_READ))
            return false;
    }
    return !(info->flags & HG_F_RUN) || check_register_run(a, inst, given);
}
