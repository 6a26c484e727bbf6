/* Operands that may be left out: what they are then, and whether one is that. The table writes
 * values as text does.
 * Must not know: control flow, the binary container. */
#include "isa/program.h"

#include <string.h>

static uint64_t number(const char **text) {
    uint64_t value = 0;
    for (; **text >= '0' && **text <= '9'; ++*text) value = value * 10 + (uint64_t)(**text - '0');
    return value;
}

/* "(1, 2)" or "()". The table has nothing else: no registers, and of tuples of tuples the empty
 * one. */
static void default_tuple(const char *text, hg_default *out) {
    for (text++; *text != ')' && out->operand.item_count < HG_MAX_TUPLE_ITEMS;) {
        out->items[out->operand.item_count++] = (hg_tuple_item){.value = number(&text)};
        while (*text == ',' || *text == ' ') text++;
    }
}

void hg_default_operand(const hg_operand_info *info, hg_type type, hg_default *out) {
    const char *text = info->otherwise, *hint;
    char message[160];
    hg_opname name;
    out->operand = (hg_operand){.kind = info->kind,
                                .place = info->optional == HG_OR_NONE ? HG_PLACE_NONE : 0};
    if (info->optional == HG_OR_NONE) return;
    switch ((hg_operand_kind)info->kind) {
    case HG_K_COUNT: out->operand.value = number(&text); break;
    case HG_K_LITERAL:
        if (type >= HG_TYPE_COUNT ||
            hg_parse_literal(text, strlen(text), type, out->literal, message, &hint)) /* no literal
                                                                                         of the type
                                                                                       */
            memset(out->literal, 0, sizeof out->literal);
        break;
    case HG_K_BOOL: out->operand.value = strcmp(text, "true") == 0; break;
    case HG_K_OPNAME:
        if (hg_opname_from_text(text, strlen(text), &name)) out->operand.value = name;
        break;
    case HG_K_TUPLE:
    case HG_K_TUPLES: default_tuple(text, out); break;
    default: break;
    }
}

uint32_t hg_widen_half(hg_type type, uint16_t bits) {
    if (type == HG_TYPE_BF16) return (uint32_t)bits << 16;
    uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return sign | 0x7F800000 | fraction << 13;
    if (exponent) return sign | (exponent + 112) << 23 | fraction << 13;
    if (!fraction) return sign;
    for (exponent = 113; !(fraction & 1024); exponent--)
        fraction <<= 1; /* f32 has it as a normal number */
    return sign | exponent << 23 | (fraction & 1023) << 13;
}

static bool same_items(const hg_program *p, const hg_operand *o, const hg_default *d) {
    if (o->item_count != d->operand.item_count) return false;
    for (uint64_t i = 0; i < o->item_count; i++) {
        const hg_tuple_item *item = &hg_tuple(p, o)[i];
        if (item->is_reg || item->is_tuple || item->value != d->items[i].value) return false;
    }
    return true;
}

bool hg_operand_is_left_out(const hg_program *p, const hg_inst *in, const hg_operand_info *info,
                            const hg_operand *o) {
    if (!hg_operand_can_be_left_out(info)) return false;
    if (info->optional == HG_OR_NONE) return hg_operand_is_missing(o);
    hg_type type = hg_literal_type(in, info);
    hg_default d;
    hg_default_operand(info, type, &d);
    switch ((hg_operand_kind)info->kind) {
    case HG_K_COUNT: return !o->is_reg && o->value == d.operand.value;
    case HG_K_LITERAL:
        return type < HG_TYPE_COUNT &&
               memcmp(hg_literal(p, o), d.literal, (size_t)hg_type_size_bytes(type)) == 0;
    case HG_K_TUPLE:
    case HG_K_TUPLES: return same_items(p, o, &d);
    default: return o->value == d.operand.value;
    }
}
