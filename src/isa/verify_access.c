/* What an instruction reads and writes, from its row. Must not know: control flow. */
#include "isa/verify_internal.h"

static uint8_t want_of(const hg_inst *in, const hg_operand_info *info, const hg_operand *o) {
    switch ((hg_type_rule)info->rule) {
    case HG_R_T: return in->type;
    case HG_R_T2: return in->type2;
    case HG_R_U32: return HG_TYPE_U32;
    case HG_R_U64: return HG_TYPE_U64;
    case HG_R_U32_U64: return HG_WANT_U32_U64;
    case HG_R_ID: return (uint8_t)hg_idname_type((hg_idname)o[1].value); /* rdid d, IDNAME */
    case HG_R_U8: return HG_TYPE_U8;
    case HG_R_I8: return HG_TYPE_I8;
    case HG_R_F32: return HG_TYPE_F32;
    case HG_R_F64: return HG_TYPE_F64;
    case HG_R_WIDE: return (uint8_t)hg_wide_type(in->type);
    case HG_R_INDEX: return HG_WANT_INDEX;
    case HG_R_INTEGER: return HG_WANT_INTEGER;
    case HG_R_ANY: return HG_WANT_ANY;
    case HG_R_MAP:
    case HG_R_BINARY:
    case HG_R_REDUCE:
    case HG_R_NONE: break;
    }
    return HG_TYPE_U64;
}

bool hg_want_allows(uint8_t want, uint8_t type) {
    if (type >= HG_TYPE_COUNT) return false;
    switch (want) {
    case HG_WANT_U32_U64: return type == HG_TYPE_U32 || type == HG_TYPE_U64;
    case HG_WANT_INDEX: return type >= HG_TYPE_U8 && type <= HG_TYPE_U64;
    case HG_WANT_INTEGER: return hg_type_is_integer((hg_type)type);
    default: return want == HG_WANT_ANY;
    }
}

static void add_read(hg_accesses *a, uint8_t reg, bool is_pred, uint8_t want, uint32_t operand) {
    a->read[a->reads++] = (hg_access){reg, is_pred, want, (uint8_t)operand};
}

static void add_address(hg_accesses *a, const hg_operand *o, uint32_t operand) {
    if (o->place == HG_PLACE_BUF_REG || o->place == HG_PLACE_POOL_REG || o->place == HG_PLACE_BARE)
        add_read(a, o->reg, false, HG_TYPE_U64, operand);
    else if (o->place == HG_PLACE_FLAT)
        add_read(a, o->reg, false, HG_WANT_U32_U64, operand);
    if (o->has_index) add_read(a, o->index, false, HG_WANT_U32_U64, operand);
}

/* Registers in a tuple, each once in an instruction: all items have the same type. */
static void add_items(hg_accesses *a, const hg_program *p, const hg_tuple_item *items,
                      uint64_t count, uint8_t want, uint32_t operand, uint64_t seen[4]) {
    for (uint64_t i = 0; i < count; i++) {
        uint32_t inside_count;
        const hg_tuple_item *inside = hg_tuple_counts(p, &items[i], &inside_count);
        for (uint32_t k = 0; k < inside_count; k++) {
            if (!inside[k].is_reg || (seen[inside[k].reg / 64] >> (inside[k].reg % 64) & 1))
                continue;
            seen[inside[k].reg / 64] |= (uint64_t)1 << (inside[k].reg % 64);
            add_read(a, inside[k].reg, false, want, operand);
        }
    }
}

void hg_inst_accesses(const hg_program *p, uint32_t inst, hg_accesses *out) {
    const hg_inst *in = &p->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    const hg_operand *o = hg_inst_operands(p, inst);
    uint64_t in_tuples[4] = {0};
    out->reads = out->writes = 0;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *info = &row->operands[i];
        switch ((hg_operand_kind)info->kind) {
        case HG_K_REG:
            if (info->access & HG_READ) {
                uint32_t count = row->flags & HG_F_RUN ? (uint32_t)o[2].value : 1;
                for (uint32_t k = 0; k < count && o[i].reg + k < HG_MAX_REGISTERS; k++)
                    add_read(out, (uint8_t)(o[i].reg + k), false, want_of(in, info, o), i);
            }
            if (info->access & HG_WRITE)
                out->write[out->writes++] = (hg_access){o[i].reg, false, want_of(in, info, o),
                                                        (uint8_t)i};
            break;
        case HG_K_PRED:
            if (o[i].reg == 255) break;
            if (info->access & HG_READ) add_read(out, o[i].reg, true, 0, i);
            if (info->access & HG_WRITE)
                out->write[out->writes++] = (hg_access){o[i].reg, true, 0, (uint8_t)i};
            break;
        case HG_K_COUNT:
            if (o[i].is_reg) add_read(out, o[i].reg, false, want_of(in, info, o), i);
            break;
        case HG_K_ADDRESS:
        case HG_K_ARRAY: add_address(out, &o[i], i); break;
        case HG_K_TUPLE:
        case HG_K_TUPLES:
            add_items(out, p, hg_tuple(p, &o[i]), o[i].item_count, want_of(in, info, o), i,
                      in_tuples);
            break;
        default: break;
        }
    }
}

uint32_t hg_operand_number(hg_op op, uint32_t index) {
    const hg_op_info *row = hg_op_get(op);
    uint32_t number = 0;
    for (uint32_t i = 0; i <= index && i < row->operand_count; i++) {
        bool in_mnemonic = row->operands[i].kind == HG_K_COND ||
                           row->operands[i].kind == HG_K_SCOPE || (op == HG_OP_BRA && i == 0);
        if (!in_mnemonic)
            number++;
        else if (i == index)
            return 0;
    }
    return number;
}

uint32_t hg_first_source(hg_op op) {
    const hg_op_info *row = hg_op_get(op);
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_REG && (row->operands[i].access & HG_READ) &&
            row->operands[i].rule == HG_R_T)
            return i;
    return UINT32_MAX;
}
