/* Shared by the files that read statements (language.md 2.7).
 * Must not know: instructions. */
#ifndef HG_ISA_ASSEMBLE_STATEMENT_H
#define HG_ISA_ASSEMBLE_STATEMENT_H

#include "isa/tree/tree.h"

/* assemble_formula.c: an expression; its root among the tree's nodes. */
bool hg_asm_formula(hg_assembler *a, uint32_t *root);
/* A call of a function as a statement, which may have no result; to the end of the line. */
bool hg_asm_call_statement(hg_assembler *a);
/* What is told where an index stands in brackets of its own. */
#define HG_ASM_INDICES "the indices of an element stand in one pair of brackets: x[r, c]"
/* Whether the name is that of an array of the program, and which. */
bool hg_asm_array_place(hg_assembler *a, const hg_token *name, hg_tree_array *array);

/* assemble_statement.c: whether the next token begins a statement rather than an instruction; and
 * the statement. False: it has a mistake. */
bool hg_asm_is_statement(hg_assembler *a);
bool hg_asm_statement(hg_assembler *a);

/* assemble_function.c: a definition, behind the word; the functions that stand further on may be
 * known already. */
bool hg_asm_read_function(hg_assembler *a, const hg_token *word);
/* Whether the name is that of a function of the text, wherever it stands there. */
bool hg_asm_find_function(hg_assembler *a, const hg_token *name, uint32_t *number);
/* Whether argument `i` of the function is an array by reference. */
bool hg_asm_takes_array(const hg_assembler *a, uint32_t number, uint32_t i);
/* A node; at: the whole call. */
uint32_t hg_asm_call_function(hg_assembler *a, uint32_t number, const hg_token *name,
                              const hg_token *at, const uint32_t *arguments, uint32_t count);
/* The body of the next function that has been called is read next; false: there is none. */
bool hg_asm_next_function(hg_assembler *a);

/* To the end of a line with a mistake; where it ends in a brace, its block is one all the same. */
void hg_asm_skip_wrong_line(hg_assembler *a, const hg_token *first);

#endif
