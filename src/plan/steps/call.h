/* A whole-array instruction with the values of one execution: what drivers see of it.
 * Must not know: plans, drivers, where memory lies. */
#ifndef HG_PLAN_CALL_H
#define HG_PLAN_CALL_H

#include "kir/step.h"

enum { PLAN_MAX_RANK = 8 };

/* An operand that is no array, as 64-bit words: a count or a handle one, a tuple one each, a scalar
 * its bytes (little-endian words), a number or a name of the text one. */
typedef struct plan_operand {
    const uint64_t *words;
    uint32_t count;
} plan_operand;

/* The memory of an operand. Element i of it lies sum(i[d] * strides[d]) bytes behind the first one;
 * rank 0: one element. */
typedef struct plan_array {
    uint8_t operand; /* its number in the row, from 0 */
    uint8_t type;    /* hg_type of an element */
    uint8_t rank;
    bool read, written;
    bool constant; /* its elements are the same in each execution as long as tables are kept
                      (plan_expansion.tables) */
    bool open; /* it goes on to the end of its memory, behind the elements that its shape has: only
                  who finds that memory knows its size */
    const kir_step_operand *place; /* how the program names the memory; NULL: the step's result,
                                      which has no name */
    uint64_t extents[PLAN_MAX_RANK];
    int64_t strides[PLAN_MAX_RANK];
    /* From these: the bytes from the lowest to behind the highest that elements take, and how many
     * of them lie ahead of the first element. */
    uint64_t bytes, before;
} plan_array;

/* One execution of a step. */
typedef struct plan_call {
    uint16_t op;    /* hg_op */
    uint16_t fn;    /* hg_op or KIR_FN_*: of the name among the operands, or that a reduction folds
                       with; HG_OP_NONE */
    uint8_t type;   /* hg_type */
    bool relaxed;   /* the program leaves the precision of f32 and f64 to the device (.flag relaxed)
                     */
    uint32_t ranks; /* of the communicator that it runs with; 0: 1 */
#define PLAN_ANY_RANKS UINT32_MAX /* they are not known yet: what all ranks make is open */
    const plan_operand *operands; /* by number in the row, from 0 */
    plan_array *arrays;           /* those that are given, and the result, in the row's order */
    uint32_t array_count;
} plan_call;

/* Why a call cannot be: a fault of the program. */
typedef struct plan_problem {
    bool found;
    bool span;    /* an array is larger than any memory: who knows the memory tells its size too */
    uint8_t code; /* kir_fault */
    uint8_t operand; /* from 1; 0: none in particular */
    char message[160];
} plan_problem;
/* code: KIR_FAULT_*. operand: from 0; of a named one the message begins with its name. The first
 * problem stays. */
void plan_refuse(const plan_call *call, plan_problem *problem, uint8_t code, uint32_t operand,
                 const char *format, ...) HG_PRINTF(5, 6);

/* Number n of an operand: of a tuple the n-th, else 0. */
static inline uint64_t plan_number(const plan_call *call, uint32_t operand, uint32_t n) {
    return call->operands[operand].words[n];
}
/* The operand with that name; the row has it. */
uint32_t plan_operand_named(const plan_call *call, const char *name);
/* Whether an operand that is no array is there: else it is left out and has no value. A tuple
 * without numbers is not there. */
static inline bool plan_is_given(const plan_call *call, uint32_t operand) {
    return call->operands[operand].count != 0;
}
/* Its first number, of one that is there or has a value where it is left out. */
uint64_t plan_named(const plan_call *call, const char *name);
/* The same; `missing` where it is left out. */
uint64_t plan_named_or(const plan_call *call, const char *name, uint64_t missing);
/* Elements from one row of a matrix to the next: an operand that stands for rows of `columns`
 * elements without a gap where it is left out. */
uint64_t plan_row_stride(const plan_call *call, uint32_t operand, uint64_t columns);
void plan_check_row(const plan_call *call, plan_problem *problem, uint32_t operand,
                    uint64_t columns);
/* Strides in elements: those that the operand gives, where it has `count` of them; else those of an
 * array without gaps, whose extents behind each stride's own axis are `inside`: heads, rows and
 * columns for the strides of a batch, of a head and of a row. */
void plan_strides_of(const plan_call *call, const char *name, uint32_t count,
                     const uint64_t *inside, uint64_t *strides);
/* what: they are of. */
void plan_check_strides(const plan_call *call, plan_problem *problem, const char *name,
                        uint32_t count, const char *what);
/* Of what is written no element may be another one's too: from the smallest stride on, each is as
 * large as what lies inside it. inside: elements side by side. `operand` has the strides. */
void plan_check_apart(const plan_call *call, plan_problem *problem, uint32_t operand,
                      const uint64_t extents[3], const uint64_t strides[3], uint64_t inside);
/* UINT64_MAX where the product is larger: no memory is as large. */
uint64_t plan_times(uint64_t x, uint64_t y);
uint64_t plan_plus(uint64_t x, uint64_t y); /* the same of a sum */
/* Elements from one to the next, as plan_array_strides takes them. */
static inline int64_t plan_stride(uint64_t elements) {
    return elements > INT64_MAX ? INT64_MAX : (int64_t)elements;
}
/* The array of an operand; NULL: left out. */
plan_array *plan_array_of(const plan_call *call, uint32_t operand);
/* An array whose elements lie one after another, the last index next to each other. */
void plan_array_shape(plan_array *a, uint8_t rank, const uint64_t *extents);
/* An array with strides, in elements. */
void plan_array_strides(plan_array *a, uint8_t rank, const uint64_t *extents,
                        const int64_t *strides);
/* bytes and before, from the shape. False: 2^63 bytes or more; bytes is UINT64_MAX then, more than
 * any memory has. */
bool plan_array_span(plan_array *a);
/* Whether elements of the same number lie equally far behind the first byte. */
bool plan_array_same_shape(const plan_array *x, const plan_array *y);
/* The bytes exactly, as far as 128 bits go. */
hg_u128 plan_array_exact_bytes(const plan_array *a);

/* Bytes that the arrays' elements take. */
uint64_t plan_call_bytes(const plan_call *call);

/* ---- the collectives: plan_collective_map and the others of steps.def ---- */

typedef struct plan_collective plan_collective;
#define PLAN_COLLECTIVE(id, name) extern const plan_collective plan_collective_##name;
#include "plan/steps/steps.def"
#undef PLAN_COLLECTIVE
/* NULL: the instruction is no collective; what pools are for is the runtime's. */
const plan_collective *plan_collective_of(hg_op op);

/* Checks the operands of a call that has them, and gives its arrays their shapes. */
void plan_call_shape(const plan_collective *of, plan_call *call, plan_problem *problem);

#endif
