/* Writes docs/reference/isa.md from the instruction table: every form, in the order of the opcodes.
 * Run through tools/generate. */
#include "isa/isa.h"
#include "isa/numbers.h"
#include <stdio.h>
#include <string.h>

static const struct {
    uint16_t first;
    const char *title;
} GROUPS[] = {
    {0x001, "Move and identity"},
    {0x010, "Arithmetic"},
    {0x030, "Conversions on the way"},
    {0x040, "Logic, compare, select"},
    {0x060, "Control"},
    {0x070, "Synchronisation"},
    {0x080, "Functions"},
    {0x0A0, "Reductions"},
    {0x0B0, "Pools"},
    {0x0C0, "Higher order"},
    {0x0D0, "Atomics"},
    {0x100, "Simple"},
    {0x110, "More functions"},
    {0x120, "Tensors"},
    {0x140, "Complex"},
    {0x180, "Advanced"},
    {0x1C0, "Atlas"},
};
enum { GROUP_COUNT = sizeof GROUPS / sizeof *GROUPS };

static int group_of(uint16_t opcode) {
    int found = 0;
    for (int i = 0; i < GROUP_COUNT; i++)
        if (opcode >= GROUPS[i].first) found = i;
    return found;
}

/* What stands behind name= . */
static const char *named_value(const hg_operand_info *operand) {
    switch ((hg_operand_kind)operand->kind) {
    case HG_K_ARRAY: return "array";
    case HG_K_COUNT: return "R/N";
    case HG_K_OPNAME: return "OP";
    case HG_K_BOOL: return "BOOL";
    case HG_K_TUPLE:
        return operand->items == 2   ? "(R/N, R/N)"
               : operand->items == 3 ? "(R/N, R/N, R/N)"
                                     : "(R/N, ...)";
    case HG_K_TUPLES: return operand->items == 2 ? "((R/N, R/N), ...)" : "((R/N, ...), ...)";
    default: return "V";
    }
}

static void write_operand(const hg_operand_info *operand) {
    if (hg_operand_is_named(operand)) {
        printf("%s=%s", operand->name, named_value(operand));
        if (operand->optional)
            printf(operand->optional == HG_OR_NONE ? " [none: %s]" : " [%s]", operand->otherwise);
        return;
    }
    switch ((hg_operand_kind)operand->kind) {
    case HG_K_PRED: printf("%s", operand->name); break;
    case HG_K_LABEL: printf("@%s", operand->name); break;
    case HG_K_ADDRESS: printf("[%s]", operand->name); break;
    case HG_K_ARRAY: printf("array %s", operand->name); break;
    case HG_K_COUNT: printf("R/N %s", operand->name); break;
    case HG_K_POOL: printf("poolN"); break;
    case HG_K_OPNAME: printf("OP"); break;
    case HG_K_IDNAME: printf("IDNAME"); break;
    case HG_K_U8:
    case HG_K_I8: printf("N %s", operand->name); break;
    default: printf("%s", operand->name);
    }
}

/* Mnemonic, suffixes and operands as they are written; a condition or scope is part of the
 * mnemonic. */
static void write_form(const hg_op_info *op) {
    const char *separator = " ";
    bool optional_type = (op->flags & HG_F_TYPE_OPTIONAL) != 0;
    printf("`%s", op->text);
    for (int i = 0; i < op->operand_count; i++) {
        const hg_operand_info *operand = &op->operands[i];
        if (operand->kind == HG_K_COND) printf("COND");
        if (operand->kind == HG_K_SCOPE) printf(".SCOPE");
        if (operand->kind == HG_K_PRED && operand->optional) printf("[.%s]", operand->name);
    }
    if (op->type_count == 2) printf(".DST.SRC");
    if (op->type_count == 1) printf(optional_type ? "[.T]" : ".T");
    for (int i = 0; i < op->operand_count; i++) {
        const hg_operand_info *operand = &op->operands[i];
        if (operand->kind == HG_K_COND || operand->kind == HG_K_SCOPE ||
            (operand->kind == HG_K_PRED && operand->optional))
            continue;
        printf("%s", separator);
        separator = ", ";
        write_operand(operand);
    }
    printf("`");
}

static const char *types_of(const hg_op_info *op) {
    switch ((hg_type_set)op->types) {
    case HG_T_NONE: return "";
    case HG_T_ALL: return "all";
    case HG_T_INTEGER: return "integers";
    case HG_T_FLOAT: return "floats";
    case HG_T_ATOMIC: return "i32 u32 i64 u64";
    case HG_T_CHARACTER: return "i128 f64";
    case HG_T_UNSIGNED: return "unsigned integers";
    case HG_T_REAL: return "f32 f64";
    case HG_T_HALF: return "f16 bf16";
    case HG_T_BYTE: return "i8 u8";
    case HG_T_WORD: return "i32 u32";
    case HG_T_INDEX: return "integers of up to 64 bits";
    case HG_T_ORDERED: return "types of up to 64 bits";
    case HG_T_CONVERTED: return "all";
    case HG_T_TWICE: return "integers of 16 bits and more, SRC the one of half the width";
    case HG_T_WIDER: return "integers, SRC one of fewer bits; f32, SRC f16 or bf16";
    case HG_T_NARROWER: return "integers, SRC one of more bits; f16 and bf16, SRC f32";
    case HG_T_PATTERN: return "floats and integers, one of them SRC, of the same width";
    }
    return "?";
}

/* A bar would end the cell of the table. */
static void write_cell(const char *text) {
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void write_row(const hg_op_info *op) {
    printf("| `%03X` | ", op->opcode);
    write_form(op);
    printf(" | %s | %s | ", types_of(op), hg_op_numbers_text(op));
    write_cell(op->doc);
    printf("%s%s%s%s |\n", op->flags & HG_F_DERIVED ? " · derived" : "",
           op->flags & HG_F_COLLECTIVE ? " · whole array" : "",
           op->flags & HG_F_MAY_FAULT ? " · may fault" : "",
           op->flags & HG_F_SHARED    ? " · shared memory"
           : op->flags & HG_F_PRIVATE ? " · private memory"
                                      : "");
}

static void write_names(const char *title, int count, const char *(*name)(int)) {
    printf("| %s |", title);
    for (int i = 0; i < count; i++) printf(" `%s`", name(i));
    printf(" |\n");
}
static const char *type_at(int i) { return hg_type_name((hg_type)i); }
static const char *condition_at(int i) { return hg_condition_name((hg_condition)i); }
static const char *scope_at(int i) { return hg_scope_name((hg_scope)i); }
static const char *opname_at(int i) { return hg_opname_name((hg_opname)i); }
static const char *idname_at(int i) { return hg_idname_name((hg_idname)i); }

/* The operations that refuse every integer type. */
static void write_float_operations(void) {
    printf("| OP of floats alone |");
    for (int i = 0; i < HG_OPNAME_COUNT; i++)
        if (!hg_opname_allows_type((hg_opname)i, HG_TYPE_I32))
            printf(" `%s`", hg_opname_name((hg_opname)i));
    printf(" (for an integer type N06); all others take every type |\n");
}

int main(void) {
    printf("# Atlas instructions\n\n<!-- generated by tools/generate from src/isa/isa.def: do not "
           "edit -->\n\n"
           "%d forms. Opcodes are hexadecimal. `T` is a type suffix, `[.T]` may be left out and is "
           "inferred; `R/N` is a literal or a u32 "
           "or u64\n"
           "register, the same in every lane; Atlas instructions take u8, u16, u32 or u64, each "
           "lane its own; `array` is an\n"
           "address or a register that holds a buffer handle. *Derived* instructions have one "
           "definition over\n"
           "primitives; *whole array* instructions run once a launch; *may fault* can stop a lane. "
           "Operands `name=value` stand in any\n"
           "order; behind one that may be left out stands the value that it has then, `groups=R/N "
           "[1]`, or `none` and what is done without "
           "it,\n"
           "`kv_len=R/N [none: seq_len]`: a 0 that is given is the number 0. `V` is f32 where the "
           "instruction's type is f16 or bf16.\n\n",
           (int)HG_OP_COUNT);
    printf("| names | |\n|---|---|\n");
    write_names("types", HG_TYPE_COUNT, type_at);
    write_names("COND", HG_COND_COUNT, condition_at);
    write_names("SCOPE", HG_SCOPE_COUNT, scope_at);
    write_names("IDNAME", HG_ID_COUNT, idname_at);
    write_names("OP", HG_OPNAME_COUNT, opname_at);
    write_float_operations();
    printf("\n`lt le gt ge` order numbers as their type does: integers with a sign, unsigned "
           "integers without, floats (with a NaN only "
           "`ne` holds). `ltu leu gtu geu`\n"
           "order integers of any type as unsigned numbers of the same bits; floats have none of "
           "them (N06).\n");
    for (int group = 0; group < GROUP_COUNT; group++) {
        bool any = false;
        for (int op = 0; op < HG_OP_COUNT; op++) {
            const hg_op_info *info = hg_op_get((hg_op)op);
            if (group_of(info->opcode) != group) continue;
            if (!any)
                printf("\n## %s\n\n| opcode | form | types | result | what it does "
                       "|\n|---|---|---|---|---|\n",
                       GROUPS[group].title);
            any = true;
            write_row(info);
        }
    }
    return 0;
}
