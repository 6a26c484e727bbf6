/* One thing to run: program text with everything it is bound to, and what came out. The same case
 * goes to the reference and to the library, so that their results can be compared. */
#ifndef HG_TESTS_CASE_H
#define HG_TESTS_CASE_H

#include "reference.h"

enum { CASE_ARRAYS = 16, CASE_SCALARS = 8, CASE_FIELDS = 96, CASE_CLASS_MEMORY = 1179648 };

typedef struct case_field {
    uint32_t offset;
    hg_type type;
} case_field;

typedef struct case_array {
    char name[32]; /* of the parameter */
    bool pool;
    bool scratch;   /* the library makes it itself; not compared */
    hg_type type;   /* of the elements, for the comparison */
    uint8_t *bytes; /* owned by the case; replaced by the result of a run */
    uint64_t size;
    uint32_t stride; /* not 0: records of this many bytes with the fields below, and only fields are
                        compared */
    uint32_t field_count;
    case_field fields[CASE_FIELDS];
} case_array;

typedef struct case_scalar {
    char name[32];
    hg_type type;
    uint64_t bits;
} case_scalar;

typedef struct run_case {
    char *text; /* owned */
    uint64_t length;
    uint32_t array_count, scalar_count;
    case_array arrays[CASE_ARRAYS];
    case_scalar scalars[CASE_SCALARS];
    ref_launch launch;
    bool racy;              /* only how a run ended is compared */
    uint32_t cleared_class; /* class whose memory starts as zeros; 96: none is used */
    bool all_classes;       /* the memory of every class starts as zeros */
    uint32_t phase[96];     /* after a run of a program that case_uses_state: the context's, */
    uint64_t resonance[97]; /* and the bits of its resonances, that of all classes last */
    bool state_unknown;     /* nobody could look at them */
} run_case;

typedef enum run_outcome { RUN_OK, RUN_FAULT, RUN_ERROR } run_outcome;
typedef struct run_result {
    run_outcome outcome;
    char code[4];
    char message[512];
    uint64_t step, phase, lane, instruction;
    uint64_t offset, limit, operand; /* of the library only */
} run_result;

/* An array of the case; NULL when there is no room or no memory. bytes NULL: zeros. */
case_array *case_add_array(run_case *c, const char *name, hg_type type, const void *bytes,
                           uint64_t size);
void case_add_scalar(run_case *c, const char *name, hg_type type, uint64_t bits);
/* Exactly n lanes in blocks of at most 256. */
void case_set_lanes(run_case *c, uint64_t n);
/* Whether a program reads or changes phases or resonances. In line: where there is no reference
 * too. */
static inline bool case_uses_state(const hg_program *program) {
    for (uint32_t i = 0; i < program->inst_count; i++) {
        uint16_t op = program->insts[i].op;
        if (op == HG_OP_RES_ACCUM || op == HG_OP_UNITY_TEST_EPS || op == HG_OP_PHASE_WRITE ||
            op == HG_OP_PHASE_READ)
            return true;
    }
    return false;
}
bool case_copy(run_case *to, const run_case *from);
void case_free(run_case *c);

/* Runs on the reference; arrays hold the results. */
void case_run_reference(const hg_program *program, run_case *c, run_result *result);

/* Compares two runs of one case. False with a one-line reason. */
bool case_same(const run_case *expected, const run_result *expected_result, const run_case *actual,
               const run_result *actual_result, char reason[512]);

#endif
