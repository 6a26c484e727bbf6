/* A program as statements and back. */
#ifndef HG_TESTS_STRUCTURED_TEXT_H
#define HG_TESTS_STRUCTURED_TEXT_H

#include <hologram/program.h>
#include <stdbool.h>

typedef struct structured_result {
    bool good;
    bool same_uses;  /* equal instructions, each read reached by the same writes; kernel IR tells
                        values apart that go no way in common but one that no lane takes */
    bool unknown;    /* the program does not verify by itself: nothing is said of it */
    uint32_t blocks; /* lines that end with { */
    uint32_t jumps;  /* lines that are bra, loop @label */
    uint32_t lines;  /* of code */
    uint32_t plain;  /* of these instructions */
    char why[400];
} structured_result;

/* Prints the program as statements, assembles the text and compares the kernel IR of both, names of
 * variables aside. */
structured_result structured_round_trip(const hg_program *p);

#endif
