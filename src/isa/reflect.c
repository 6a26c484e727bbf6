/* The instruction table and the types as structures of the public interface. Must not know:
 * programs, text syntax. */
#include "base/base.h"
#include "base/sized.h"
#include "isa/isa.h"

static const hg_sized OP = HG_SIZED(hg_op_description, operand_count,
                                    "set it to sizeof(hg_op_description)");
static const hg_sized OPERAND = HG_SIZED(hg_operand_description, has_default,
                                         "set it to sizeof(hg_operand_description)");
static const hg_sized TYPE = HG_SIZED(hg_type_description, is_signed,
                                      "set it to sizeof(hg_type_description)");

/* ---- words that stand as operands ---- */

static const char *const CONDITIONS[] = {
#define HG_CONDITION(id, text, numbers) text,
#include "opname.def"
#undef HG_CONDITION
};
static const char *const SCOPES[] = {
#define HG_SCOPE(id, text) text,
#include "opname.def"
#undef HG_SCOPE
};
static const char *const IDS[] = {
#define HG_IDNAME(id, text, type, part, axis, scope) text,
#include "opname.def"
#undef HG_IDNAME
};
static const char *const FLAGS[] = {"false", "true"};
/* The names of a group of opname.def; BOTH is of two. */
#define IF_MAP_MAP(text) text,
#define IF_MAP_BINARY(text)
#define IF_MAP_BOTH(text)
#define IF_MAP_REDUCE(text)
static const char *const MAPS[] = {
#define HG_OPNAME(id, text, group, op) IF_MAP_##group(text)
#include "opname.def"
#undef HG_OPNAME
};
#define IF_BINARY_MAP(text)
#define IF_BINARY_BINARY(text) text,
#define IF_BINARY_BOTH(text) text,
#define IF_BINARY_REDUCE(text)
static const char *const BINARIES[] = {
#define HG_OPNAME(id, text, group, op) IF_BINARY_##group(text)
#include "opname.def"
#undef HG_OPNAME
};
#define IF_REDUCE_MAP(text)
#define IF_REDUCE_BINARY(text)
#define IF_REDUCE_BOTH(text) text,
#define IF_REDUCE_REDUCE(text) text,
static const char *const REDUCTIONS[] = {
#define HG_OPNAME(id, text, group, op) IF_REDUCE_##group(text)
#include "opname.def"
#undef HG_OPNAME
};

#define WORDS(list) ((words){list, HG_COUNT_OF(list)})
typedef struct words {
    const char *const *list;
    uint32_t count;
} words;

static words words_of(const hg_operand_info *o) {
    switch ((hg_operand_kind)o->kind) {
    case HG_K_COND: return WORDS(CONDITIONS);
    case HG_K_SCOPE: return WORDS(SCOPES);
    case HG_K_IDNAME: return WORDS(IDS);
    case HG_K_BOOL: return WORDS(FLAGS);
    case HG_K_OPNAME:
        return o->rule == HG_R_MAP      ? WORDS(MAPS)
               : o->rule == HG_R_BINARY ? WORDS(BINARIES)
                                        : WORDS(REDUCTIONS);
    default: return (words){NULL, 0};
    }
}

/* ---- the public calls ---- */

static hg_status check_index(size_t index) {
    if (index < HG_OP_COUNT) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "there is no instruction form %zu: there are %d, from 0", index,
                   (int)HG_OP_COUNT);
}

size_t hg_op_count(void) {
    HG_ENTRY;
    return HG_OP_COUNT;
}

static hg_op_second second_of(const hg_op_info *row) {
    switch ((hg_type_set)row->types) {
    case HG_T_CONVERTED: return HG_OP_SECOND_ANY;
    case HG_T_TWICE: return HG_OP_SECOND_HALF_WIDTH;
    case HG_T_WIDER: return HG_OP_SECOND_NARROWER;
    case HG_T_NARROWER: return HG_OP_SECOND_WIDER;
    case HG_T_PATTERN: return HG_OP_SECOND_PATTERN;
    default: return HG_OP_SECOND_NONE;
    }
}

hg_status hg_op_describe(size_t index, hg_op_description *op) {
    HG_ENTRY;
    if (!op) return hg_null_argument("op");
    HG_TRY(hg_sized_check(&OP, op->size));
    HG_TRY(check_index(index));
    const hg_op_info *row = hg_op_get((hg_op)index);
    hg_op_description own = {.size = sizeof own,
                             .id = row->id,
                             .mnemonic = row->text,
                             .about = row->doc,
                             .opcode = row->opcode,
                             .flags = row->flags,
                             .suffix_count = row->type_count,
                             .operand_count = row->operand_count,
                             .numbers = (hg_numbers)row->numbers,
                             .half_width = row->types == HG_T_TWICE,
                             .second = (uint8_t)second_of(row)};
    for (int t = 0; t < HG_TYPE_COUNT; t++)
        if (hg_op_allows_type((hg_op)index, (hg_type)t)) own.types |= UINT64_C(1) << t;
    hg_sized_give(&OP, &own, op, op->size);
    return HG_OK;
}

hg_status hg_op_operand(size_t index, size_t operand, hg_operand_description *description) {
    HG_ENTRY;
    if (!description) return hg_null_argument("description");
    HG_TRY(hg_sized_check(&OPERAND, description->size));
    HG_TRY(check_index(index));
    const hg_op_info *row = hg_op_get((hg_op)index);
    if (operand >= row->operand_count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "there is no operand %zu of %s: there are %u, from 0", operand, row->id,
                       (unsigned)row->operand_count);
    const hg_operand_info *o = &row->operands[operand];
    words list = words_of(o);
    hg_operand_description own = {.size = sizeof own,
                                  .name = o->name,
                                  .otherwise = o->otherwise,
                                  .words = list.list,
                                  .word_count = list.count,
                                  .kind = (hg_op_operand_kind)o->kind,
                                  .type = (hg_op_operand_type)o->rule,
                                  .items = o->items,
                                  .reads = (o->access & HG_READ) != 0,
                                  .writes = (o->access & HG_WRITE) != 0,
                                  .named = hg_operand_is_named(o),
                                  .optional = o->optional != HG_REQUIRED,
                                  .has_default = o->optional == HG_OR_VALUE};
    hg_sized_give(&OPERAND, &own, description, description->size);
    return HG_OK;
}

hg_status hg_type_describe(hg_type type, hg_type_description *description) {
    HG_ENTRY;
    if (!description) return hg_null_argument("description");
    HG_TRY(hg_sized_check(&TYPE, description->size));
    if ((unsigned)type >= HG_TYPE_COUNT)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is no type %d: there are %d, from 0",
                       (int)type, (int)HG_TYPE_COUNT);
    hg_type_description own = {.size = sizeof own,
                               .name = hg_type_name(type),
                               .bytes = hg_type_size_bytes(type),
                               .is_float = hg_type_is_float(type),
                               .is_signed = hg_type_is_signed(type)};
    hg_sized_give(&TYPE, &own, description, description->size);
    return HG_OK;
}
