/* Whole-array instructions as StableHLO: what a call with numbers does to tensors. Functions are
 * those of HLO and sums have its order, so that results are within the instruction's bound where
 * isa.def says bounded, and of maps as near as the compiler's functions are; what moves elements,
 * compares or counts is exact.
 * Must not know: graphs, devices. */
#ifndef HG_STABLEHLO_CALL_H
#define HG_STABLEHLO_CALL_H

#include "stablehlo/array.h"
#include "plan/steps/call.h"

/* What a call reads, and what becomes of its arrays, by their number in call->arrays: tensors of
 * any shape whose elements are the array's from its first to its last, those between them too. Of
 * an array that is read and written, or written with gaps, memory is what was there before. */
typedef struct shlo_operands {
    ten memory[HG_MAX_OPERANDS]; /* name 0: none is there, all of it is written */
    ten result[HG_MAX_OPERANDS]; /* of those that are written; set by shlo_print_call */
    /* The operand `position`, an i64 of no axes, where the run tells it; name 0: the call does. */
    ten position;
} shlo_operands;

/* False: module->unsupported says what StableHLO has no words for. Requires: arrays have elements.
 */
bool shlo_print_call(ten_module *module, const plan_call *call, shlo_operands *o);
/* Elements of memory from one on, in a shape: one after another, or with strides in elements. */
ten shlo_view(ten_module *module, ten memory, uint64_t offset, ten shape, const uint64_t *strides);
/* Whether a result has the bits that the instruction fixes, or is only within bounds: a bounded
 * row of isa.def, a function of HLO, a sum or product of floats in HLO's order. */
bool shlo_is_exact(const plan_call *call);

#endif
