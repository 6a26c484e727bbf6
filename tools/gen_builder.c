/* Writes include/hologram/builder_ops.h from the instruction table: one inline function an
 * instruction form.
 *
 *   cc -std=c17 -Iinclude -Isrc tools/gen_builder.c src/isa/isa.c src/base/types.c -o gen_builder
 * && ./gen_builder > include/hologram/builder_ops.h
 *
 * tests/unit/isa/test_builder.c fails when the header is not what this writes. */
#include "isa/isa.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void write_lower(FILE *out, const char *text) {
    for (; *text; text++) fputc(*text == '.' ? '_' : tolower((unsigned char)*text), out);
}

static const char *argument_type(const hg_operand_info *o) {
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG:
    case HG_K_PRED:
    case HG_K_U8: return "uint8_t";
    case HG_K_I8: return "int8_t";
    case HG_K_LABEL: return "hg_label";
    case HG_K_POOL: return "uint64_t";
    case HG_K_OPNAME:
    case HG_K_IDNAME: return "const char *";
    case HG_K_BOOL: return "bool";
    case HG_K_LITERAL: return o->rule == HG_R_F64 ? "double" : "hg_arg";
    default: return "hg_arg";
    }
}

/* Named operands are fields of a structure, so that a call names them as text does and may leave
 * some out. One that is required and the only one of its row is an argument. */
static bool takes_structure(const hg_op_info *row) {
    int named = 0;
    for (int i = 0; i < row->operand_count; i++)
        if (hg_operand_is_named(&row->operands[i])) named += row->operands[i].optional ? 2 : 1;
    return named > 1;
}

static const char *field_value(const hg_operand_info *o) {
    switch ((hg_operand_kind)o->kind) {
    case HG_K_ARRAY: return "hg_array or hg_addr_...";
    case HG_K_COUNT: return "hg_count or hg_count_reg";
    case HG_K_LITERAL: return "hg_imm_...";
    case HG_K_OPNAME: return "hg_arg_name";
    case HG_K_BOOL: return "hg_flag";
    case HG_K_TUPLE: return "hg_tuple_of counts";
    case HG_K_TUPLES: return "hg_tuple_of tuples";
    default: return "";
    }
}

static void write_structure(FILE *out, const hg_op_info *row) {
    fprintf(out, "/** Operands of hg_build_");
    write_lower(out, row->id);
    fprintf(out, " by name. */\ntypedef struct hg_");
    write_lower(out, row->id);
    fprintf(out, "_operands {\n");
    for (int i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        if (!hg_operand_is_named(o)) continue;
        fprintf(out, "    hg_arg %s; /**< %s", o->name, field_value(o));
        if (o->optional) fprintf(out, "; left out: %s", o->otherwise);
        fprintf(out, " */\n");
    }
    fprintf(out, "} hg_");
    write_lower(out, row->id);
    fprintf(out, "_operands;\n");
}

static const char *argument_maker(const hg_operand_info *o) {
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG: return "hg_arg_reg";
    case HG_K_PRED: return "hg_arg_pred";
    case HG_K_LABEL: return "hg_arg_label";
    case HG_K_U8:
    case HG_K_POOL: return "hg_arg_number";
    case HG_K_BOOL: return "hg_flag";
    case HG_K_I8: return "hg_imm_i64";
    case HG_K_LITERAL: return o->rule == HG_R_F64 ? "hg_imm_f64" : "";
    case HG_K_OPNAME:
    case HG_K_IDNAME: return "hg_arg_name";
    default: return "";
    }
}

/* word: the condition or scope that is part of the mnemonic, or NULL. optional: with the optional
 * predicate. */
static void write_function(FILE *out, const hg_op_info *row, const char *word, bool optional) {
    bool wide = row->type_count == 2, structure = takes_structure(row);
    if (structure) write_structure(out, row);
    fprintf(out, "/** %s */\nstatic inline hg_builder *hg_build_", row->doc);
    write_lower(out, row->id);
    if (word) fprintf(out, "%s%s", strcmp(row->text, "set") == 0 ? "" : "_", word);
    if (optional) fprintf(out, "_if");
    fprintf(out, "(hg_builder *builder");
    if (wide)
        fprintf(out, ", hg_type to, hg_type from");
    else if (row->type_count)
        fprintf(out, ", hg_type type");
    for (int i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        if (o->kind == HG_K_COND || o->kind == HG_K_SCOPE || (o->optional && !optional)) continue;
        if (structure && hg_operand_is_named(o)) continue;
        const char *type = argument_type(o);
        fprintf(out, ", %s%s%s", type, type[strlen(type) - 1] == '*' ? "" : " ", o->name);
    }
    if (structure) {
        fprintf(out, ", hg_");
        write_lower(out, row->id);
        fprintf(out, "_operands operands");
    }
    fprintf(out, ") {\n");
    for (int i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        fprintf(out, i == 0  ? "    const hg_arg args[] = {"
                     : i % 6 ? ", "
                             : ",\n                           ");
        if (o->kind == HG_K_COND || o->kind == HG_K_SCOPE)
            fprintf(out, "hg_arg_name(\"%s\")", word ? word : "");
        else if (structure && hg_operand_is_named(o))
            fprintf(out, "operands.%s", o->name);
        else if (o->optional && !optional)
            fprintf(out, "hg_arg_make(HG_ARG_NO_PRED, 0, 0)");
        else
            fprintf(out, *argument_maker(o) ? "%s(%s)" : "%s%s", argument_maker(o), o->name);
    }
    if (row->operand_count) fprintf(out, "};\n");
    fprintf(out, "    return hg_builder_add(builder, 0x%03X, %s, %s, %s, %d);\n}\n", row->opcode,
            wide              ? "to"
            : row->type_count ? "type"
                              : "HG_TYPE_COUNT",
            wide ? "from" : "HG_TYPE_COUNT", row->operand_count ? "args" : "0", row->operand_count);
}

static void write_row(FILE *out, const hg_op_info *row) {
    bool optional = false, condition = false, scope = false;
    for (int i = 0; i < row->operand_count; i++) {
        optional |= row->operands[i].optional && !hg_operand_is_named(&row->operands[i]);
        condition |= row->operands[i].kind == HG_K_COND;
        scope |= row->operands[i].kind == HG_K_SCOPE;
    }
    for (int i = 0; condition && i < HG_COND_COUNT; i++)
        write_function(out, row, hg_condition_name((hg_condition)i), false);
    for (int i = 0; scope && i < HG_SCOPE_COUNT; i++)
        write_function(out, row, hg_scope_name((hg_scope)i), false);
    if (!condition && !scope) write_function(out, row, NULL, false);
    if (optional) write_function(out, row, NULL, true);
}

static void write_builder_ops(FILE *out) {
    fprintf(out, "/* One function an instruction form, generated from the instruction table by "
                 "tools/gen_builder.c: do not edit.\n"
                 " * Registers and predicates are numbers; a type may be HG_TYPE_INFER where text "
                 "may leave it out. */\n"
                 "#ifndef HOLOGRAM_BUILDER_OPS_H\n#define HOLOGRAM_BUILDER_OPS_H\n\n#include "
                 "<hologram/builder.h>\n\n"
                 "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (int i = 0; i < HG_OP_COUNT; i++) write_row(out, hg_op_get((hg_op)i));
    fprintf(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

#ifndef HG_GEN_BUILDER_NO_MAIN
int main(void) {
    write_builder_ops(stdout);
    return 0;
}
#endif
