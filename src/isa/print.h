/* Parts of canonical text (print.c) for other forms of it.
 * Must not know: the binary container. */
#ifndef HG_ISA_PRINT_H
#define HG_ISA_PRINT_H

#include "isa/program.h"

/* What a register stands for in an operand. */
enum { HG_PRINT_REGISTER, HG_PRINT_PREDICATE, HG_PRINT_BASE /* a handle */, HG_PRINT_INDEX };

/* Where text goes, and what registers are called: name NULL, or NULL of it: by number. */
typedef struct hg_printer {
    hg_text *out;
    const char *(*name)(void *user, uint32_t operand, int kind, uint8_t number);
    void *user;
} hg_printer;

/* An instruction without indent or newline. */
void hg_print_instruction_to(const hg_printer *to, const hg_program *program, uint32_t inst);
/* Everything in front of the first instruction. unnamed: registers that lines of parameters leave
 * out; NULL: none. */
void hg_print_directives(hg_text *out, const hg_program *p, const bool *unnamed);
/* The name of the first label there, or ".L4". */
void hg_print_target(hg_text *out, const hg_program *p, uint32_t inst);

#endif
