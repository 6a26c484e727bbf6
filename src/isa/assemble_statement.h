/* Shared by the files that read statements (language.md 2.7).
 * Must not know: instructions. */
#ifndef HG_ISA_ASSEMBLE_STATEMENT_H
#define HG_ISA_ASSEMBLE_STATEMENT_H

#include "isa/tree/tree.h"

/* assemble_formula.c: an expression; its root among the tree's nodes. */
bool hg_asm_formula(hg_assembler *a, uint32_t *root);
/* Whether the name is that of an array of the program: where its elements are, and their type. */
bool hg_asm_array_place(hg_assembler *a, const hg_token *name, hg_register *handle,
                        hg_operand *address, uint8_t *type);

/* assemble_statement.c: whether the next token begins a statement rather than an instruction; and
 * the statement. False: it has a mistake. */
bool hg_asm_is_statement(hg_assembler *a);
bool hg_asm_statement(hg_assembler *a);
/* To the end of a line with a mistake; where it ends in a brace, its block is one all the same. */
void hg_asm_skip_wrong_line(hg_assembler *a, const hg_token *first);

#endif
