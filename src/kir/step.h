/* What a whole-array step carries: the operands of its instruction, in the order of its arguments.
 * Must not know: what the instructions do. */
#ifndef HG_KIR_STEP_H
#define HG_KIR_STEP_H

#include "isa/isa.h"
#include "kir/kir.h"

typedef enum kir_step_kind {
    KIR_STEP_ARRAY,  /* args: the handle, but for classes and shared memory; then the index, where
                        there is one */
    KIR_STEP_COUNT,  /* one arg: u64 */
    KIR_STEP_HANDLE, /* one arg: u64; of pools */
    KIR_STEP_TUPLE, /* args: u64 each; of a tuple of tuples the length of each, a constant, then its
                       own */
    KIR_STEP_SCALAR, /* one arg of any type */
    KIR_STEP_NUMBER, /* no arg: value; a bool, a small number */
    KIR_STEP_NAME,   /* no arg: value is an hg_opname */
    KIR_STEP_KINDS   /* an operand that no step carries: the result */
} kir_step_kind;

typedef struct kir_step_operand {
    uint8_t kind;
    uint8_t operand;                            /* its number in the instruction's row, from 1 */
    uint8_t first_arg, arg_count;               /* of the STEP's args */
    uint8_t space, has_index, class_id, access; /* ARRAY: as of a memory operation; HG_READ,
                                                   HG_WRITE */
    int64_t disp;                               /* ARRAY */
    uint64_t value;                             /* NUMBER, NAME */
} kir_step_operand;

/* Operands that are given, without the result: those with arguments in the order of these. */
typedef struct kir_step {
    uint32_t count;
    kir_step_operand operands[];
} kir_step;

static inline uint64_t kir_step_bytes(const kir_step *s) {
    return sizeof *s + s->count * sizeof *s->operands;
}

/* What an operand of a row is in a step. operand: from 0. */
kir_step_kind kir_step_kind_of(const hg_op_info *row, uint32_t operand);
/* The next operand of a kind in the row, as a number from 1, after one; 0: there is none. */
uint8_t kir_step_next(const hg_op_info *row, kir_step_kind kind, uint8_t after);
/* The first name, HG_OPNAME_COUNT where there is none. */
hg_opname kir_step_name(const kir_step *s);

#endif
