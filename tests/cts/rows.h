/* Rows whose operands are registers, predicates and a condition, as cases: shared by rows.c and
 * literals.c. */
#ifndef HG_TESTS_CTS_ROWS_H
#define HG_TESTS_CTS_ROWS_H

#include "cts.h"

typedef struct row_case {
    hg_op op;
    hg_type type, type2;
    int variant; /* condition, number of registers of a reduction, or 1: the predicate of a row that
                    writes a register too */
    uint32_t count; /* source operands */
    hg_type types[CTS_ARGUMENTS];
    bool predicate[CTS_ARGUMENTS]; /* the source is a predicate, given as one byte */
    hg_type result;
    bool sets_predicate; /* what is looked at is the predicate that the row writes */
} row_case;

/* Calls `run` for every row and its types, with the name of the case. */
void cts_each_row(cts *s, void (*run)(cts *s, const row_case *r, const char *name));
/* The instruction, of sources r10, r11, … (predicates p10, …), and what brings its result into r30.
 * Returns the length. */
int cts_row_instruction(const row_case *r, char *at, size_t room);
/* The oracle's result of a tuple of arguments, and the ULPs it may be off; a divisor that is zero
 * becomes one. False: it knows none. */
bool cts_row_result(const row_case *r, uint8_t *const *args, uint8_t *result, uint32_t *tolerance);
/* Wide powers take exponents of 16 bits. */
void cts_shorten_exponents(hg_type type, uint8_t *exponents, uint64_t n);

#endif
