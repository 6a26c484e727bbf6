/* What the assembler adds so that an instruction fits its row: types that its operands tell, and
 * registers for literals, for ids, and for u32 values where u64 is meant.
 * Must not know: types of registers that have no name (hg_infer_types does). */
#include "isa/assemble_inst.h"

#include <stdio.h>

uint8_t hg_asm_known_type(const hg_raw_operand *raw) {
    bool typed = hg_raw_is_register(raw) || hg_raw_is_id(raw) ||
                 (raw->kind == HG_RAW_WORD && raw->word == HG_WORD_ARRAY);
    return typed ? raw->reg.type : (uint8_t)HG_TYPE_OMITTED;
}

/* ---- types ---- */

typedef struct typed {
    uint8_t type;    /* HG_TYPE_OMITTED: nothing is known */
    uint8_t written; /* of a destination */
    uint8_t other;   /* one that does not go with `type`; else HG_TYPE_OMITTED */
} typed;

static bool is_index(uint8_t type) { return type == HG_TYPE_U32 || type == HG_TYPE_U64; }

static void add_type(typed *t, uint8_t type, bool write) {
    if (type == HG_TYPE_OMITTED) return;
    if (write) t->written = type;
    if (t->type == HG_TYPE_OMITTED || t->type == type)
        t->type = type;
    else if (is_index(t->type) && is_index(type))
        t->type = HG_TYPE_U64;
    else
        t->other = type;
}

/* The one type of all registers that have the rule. */
static typed common_type(const hg_op_info *row, hg_type_rule rule, const hg_given *given,
                         const hg_match *m) {
    typed t = {HG_TYPE_OMITTED, HG_TYPE_OMITTED, HG_TYPE_OMITTED};
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (m->given[i] != HG_NOT_GIVEN && row->operands[i].kind == HG_K_REG &&
            row->operands[i].rule == rule)
            add_type(&t, hg_asm_known_type(&given->raw[m->given[i]]),
                     (row->operands[i].access & HG_WRITE) != 0);
    if (t.type == HG_TYPE_U64 && t.written == HG_TYPE_U32) t.other = HG_TYPE_U32;
    return t;
}

static int name_length(const hg_mnemonic *m) { return (int)m->end[m->suffix - 1]; }

static bool unclear_arrays(hg_assembler *a, const hg_mnemonic *m, const hg_raw_operand *first,
                           const hg_raw_operand *second) {
    char hint[120];
    const char *x = hg_type_name((hg_type)first->element),
               *y = hg_type_name((hg_type)second->element);
    snprintf(hint, sizeof hint,
             "all of them have one type, which is that of the instruction; or write it: %.*s.%s",
             name_length(m), m->token.text, x);
    hg_asm_error(a, "V05", &second->token, hint,
                 "type of '%.*s' is not clear: elements of '%.*s' are %s, of '%.*s' %s",
                 name_length(m), m->token.text, hg_token_shown(&first->token), first->token.text, x,
                 hg_token_shown(&second->token), second->token.text, y);
    return false;
}

/* The one type of the elements of all arrays that have the instruction's. Bytes tell nothing to an
 * instruction that does not take them: they may be elements of any type. */
static bool array_type(hg_assembler *a, const hg_mnemonic *m, const hg_given *given,
                       const hg_match *found, uint8_t *type) {
    const hg_op_info *row = hg_op_get(m->op);
    const hg_raw_operand *first = NULL;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        bool array = row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY;
        const hg_raw_operand *raw = found->given[i] == HG_NOT_GIVEN ? NULL
                                                                    : &given->raw[found->given[i]];
        if (!raw || !array || row->operands[i].rule != HG_R_T || raw->element == HG_TYPE_OMITTED)
            continue;
        if (raw->element == HG_TYPE_U8 && !hg_asm_allows_type(m, HG_TYPE_U8)) continue;
        if (first && first->element != raw->element) return unclear_arrays(a, m, first, raw);
        first = raw;
    }
    if (first) *type = first->element;
    return true;
}

static bool infer_type(hg_assembler *a, hg_mnemonic *m, hg_type_rule rule, const hg_given *given,
                       const hg_match *found, uint8_t *type) {
    const hg_op_info *row = hg_op_get(m->op);
    if (*type != HG_TYPE_OMITTED) return true;
    typed t = common_type(row, rule, given, found);
    if (t.other != HG_TYPE_OMITTED) {
        hg_asm_error(a, "V05", &m->token, "convert one of them with cvt",
                     "type of '%.*s' is not clear: its operands are %s and %s", name_length(m),
                     m->token.text, hg_type_name((hg_type)t.type), hg_type_name((hg_type)t.other));
        return false;
    }
    if (t.type == HG_TYPE_OMITTED && rule == HG_R_T && !array_type(a, m, given, found, &t.type))
        return false;
    if (t.type == HG_TYPE_OMITTED && (row->flags & HG_F_DEFAULT_F32))
        t.type = HG_TYPE_F32; /* no name tells */
    *type = t.type;
    if (t.type == HG_TYPE_OMITTED || (rule != HG_R_T && m->type == HG_TYPE_OMITTED)) return true;
    if (rule == HG_R_T ? hg_asm_allows_type(m, (hg_type)t.type)
                       : hg_op_allows_types(m->op, (hg_type)m->type, (hg_type)t.type))
        return true;
    hg_asm_error(a, "N06", &m->token, NULL, "unsupported operation: %s for type %s", row->id,
                 hg_type_name((hg_type)t.type));
    return false;
}

/* ---- registers ---- */

static uint8_t wanted_type(const hg_mnemonic *m, const hg_operand_info *info) {
    switch ((hg_type_rule)info->rule) {
    case HG_R_T: return m->type;
    case HG_R_T2: return m->type2;
    case HG_R_U32: return HG_TYPE_U32;
    case HG_R_U64: return HG_TYPE_U64;
    case HG_R_U8: return HG_TYPE_U8;
    case HG_R_I8: return HG_TYPE_I8;
    case HG_R_F32: return HG_TYPE_F32;
    case HG_R_F64: return HG_TYPE_F64;
    case HG_R_WIDE: return (uint8_t)hg_wide_type(m->type);
    default: return HG_TYPE_OMITTED;
    }
}

static bool put_literal(hg_assembler *a, const hg_token *at, uint8_t type, hg_raw_operand *raw) {
    hg_register d;
    if (!hg_asm_temporary(a, type, false, &d) ||
        !hg_asm_emit_literal(a, at, d, type, &raw->literal))
        return false;
    raw->kind = HG_RAW_REG;
    raw->literal.length = 0;
    raw->reg = d;
    return true;
}

static bool widen(hg_assembler *a, const hg_token *at, hg_raw_operand *raw) {
    hg_register d;
    if (!hg_asm_temporary(a, HG_TYPE_U64, false, &d) ||
        !hg_asm_emit(a, HG_OP_CVT, HG_TYPE_U64, HG_TYPE_U32, at) ||
        !hg_asm_emit_register(a, d, false, HG_WRITE, &raw->token) ||
        !hg_asm_emit_register(a, raw->reg, false, HG_READ, &raw->token))
        return false;
    raw->kind = HG_RAW_REG;
    raw->literal.length = 0;
    raw->reg = d;
    return true;
}

bool hg_asm_as_register(hg_assembler *a, const hg_token *at, uint8_t type, hg_raw_operand *raw) {
    if (raw->literal.length) return put_literal(a, at, type, raw);
    if (hg_raw_is_id(raw)) {
        if (!hg_asm_emit_id(a, &raw->token, (hg_idname)raw->reg.number, &raw->reg)) return false;
        raw->kind = HG_RAW_REG;
    }
    return type != HG_TYPE_U64 || hg_asm_known_type(raw) != HG_TYPE_U32 || widen(a, at, raw);
}

static bool make_register(hg_assembler *a, hg_mnemonic *m, const hg_operand_info *info,
                          hg_raw_operand *raw) {
    uint8_t type = wanted_type(m, info);
    if (!raw->literal.length || type != HG_TYPE_OMITTED)
        return hg_asm_as_register(a, &m->token, type, raw);
    if (info->rule == HG_R_T || info->rule == HG_R_T2) return hg_asm_no_type(a, m);
    return hg_asm_default_type(a, &raw->literal, &type) &&
           hg_asm_as_register(a, &m->token, type, raw);
}

/* Instructions that may put another handle into the register of an array or a pool. */
static bool writes_handle(const hg_mnemonic *m) {
    return m->op == HG_OP_MOV || m->op == HG_OP_SEL || m->op == HG_OP_POOL_ALLOC;
}

/* The name of an array or a pool, where a register is written: that register holds its handle. */
static bool check_handle(hg_assembler *a, const hg_mnemonic *m, const hg_raw_operand *raw) {
    const hg_named *name = raw->kind == HG_RAW_WORD ? hg_asm_find_named(a, &raw->token) : NULL;
    const hg_param *p = name && name->param != HG_UNDEFINED ? &a->head.params.data[name->param]
                                                            : NULL;
    if (!p || p->kind == HG_PARAM_SCALAR || writes_handle(m)) return true;
    hg_asm_error(a, "N03", &raw->token, "write into a register, and store that",
                 "'%.*s' cannot write '%s': its register holds the handle of %s", name_length(m),
                 m->token.text, p->name, p->kind == HG_PARAM_POOL ? "the pool" : "the array");
    return false;
}

/* A named register holds values of its own type only. */
static bool check_written(hg_assembler *a, const hg_mnemonic *m, const hg_operand_info *info,
                          const hg_raw_operand *raw) {
    if (!check_handle(a, m, raw) || !hg_asm_check_fixed(a, &raw->token)) return false;
    uint8_t type = wanted_type(m, info), known = hg_asm_known_type(raw);
    if (type == HG_TYPE_OMITTED || known == HG_TYPE_OMITTED || type == known) return true;
    hg_asm_error(a, "V03", &raw->token, NULL,
                 "type mismatch: '%.*s' is %s, the instruction writes %s",
                 hg_token_shown(&raw->token), raw->token.text, hg_type_name((hg_type)known),
                 hg_type_name((hg_type)type));
    return false;
}

/* mov of a u32 to a u64 is one cvt. */
static void convert_instead(hg_mnemonic *m, const hg_given *given) {
    if (m->op != HG_OP_MOV || m->type != HG_TYPE_U64 ||
        hg_asm_known_type(&given->raw[1]) != HG_TYPE_U32)
        return;
    m->op = HG_OP_CVT;
    m->type2 = HG_TYPE_U32;
}

bool hg_asm_infer(hg_assembler *a, hg_mnemonic *m, hg_given *given, const hg_match *found) {
    const hg_op_info *row = hg_op_get(m->op);
    if (row->type_count > 0 && !infer_type(a, m, HG_R_T, given, found, &m->type)) return false;
    if (row->type_count > 1 && !infer_type(a, m, HG_R_T2, given, found, &m->type2)) return false;
    if (m->lacks_type && (m->type == HG_TYPE_OMITTED || m->type2 == HG_TYPE_OMITTED))
        return hg_asm_no_type(a, m);
    convert_instead(m, given);
    row = hg_op_get(m->op);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *info = &row->operands[i];
        hg_raw_operand *raw = found->given[i] == HG_NOT_GIVEN ? NULL : &given->raw[found->given[i]];
        bool count = raw && info->kind == HG_K_COUNT && hg_raw_is_id(raw);
        bool run = (row->flags & HG_F_RUN) && (info->access & HG_READ); /* as it stands */
        if (!raw || run || (info->kind != HG_K_REG && !count)) continue;
        if (info->access & HG_WRITE ? !check_written(a, m, info, raw)
                                    : !make_register(a, m, info, raw))
            return false;
    }
    return true;
}
