/* The independent interpreter: runs a parsed program lane by lane, one instruction at a time,
 * exactly as the semantics say, with the oracle for every value. Slow and plain; it shares nothing
 * with the library but the parsed program and the instruction table. Registers carry their type at
 * run time here, so a program that the verifier should have refused is noticed. */
#ifndef HG_TESTS_REFERENCE_H
#define HG_TESTS_REFERENCE_H

#include "isa/program.h"

typedef struct ref_machine ref_machine;

typedef enum ref_space { REF_BUFFER, REF_POOL } ref_space;

typedef struct ref_launch {
    uint32_t grid[3], block[3];
    uint64_t lanes;     /* exact number of lanes; 0: grid x block */
    uint64_t shared;    /* bytes a block; the larger of this and the program's .shared counts */
    uint64_t max_steps; /* backward branches, calls and loop steps of one lane; 0: no limit */
    bool backwards; /* lanes and blocks in falling order, and shared memory zeroed at whole-array
                       instructions: a program without races that does not rely on shared memory
                       there gives the same */
} ref_launch;

typedef struct ref_fault {
    char code[4]; /* "F01" */
    char message[208];
    uint64_t step; /* whole-array instructions executed before count two each: lanes before, between
                      and after them */
    uint64_t phase; /* barriers that the block passed in this step */
    uint64_t lane;  /* HG_NONE for a whole-array instruction */
    uint64_t instruction;
    uint32_t operand; /* from 1, 0 when none */
} ref_fault;

typedef enum ref_outcome {
    REF_DONE,
    REF_FAULT,
    REF_BROKEN, /* the program did what a verified program cannot; message says what */
    REF_NO_MEMORY
} ref_outcome;

/* The program is borrowed until ref_destroy. NULL when out of memory. */
ref_machine *ref_create(const hg_program *program);
void ref_destroy(ref_machine *machine);
/* Makes size bytes reachable under a handle. The bytes are borrowed and hold the result after a
 * run. */
bool ref_bind(ref_machine *machine, ref_space space, uint64_t handle, uint8_t *bytes,
              uint64_t size);
/* The 1,179,648 bytes of class memory, borrowed; without this call class memory is zeros, made for
 * the run. */
void ref_set_class_memory(ref_machine *machine, uint8_t *bytes);
/* The value every lane finds in a register at its start. */
void ref_set_register(ref_machine *machine, uint8_t reg, hg_type type, const void *bytes);
/* After a run that was REF_DONE: phases, and resonances as the bits of their nearest doubles (96:
 * of all classes), of a context that was new. */
void ref_state(const ref_machine *machine, uint32_t phase[96], uint64_t resonance[97]);
/* Runs once. fault is filled in for REF_FAULT and REF_BROKEN. */
ref_outcome ref_run(ref_machine *machine, const ref_launch *launch, ref_fault *fault);

#endif
