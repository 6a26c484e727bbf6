/* What collectives on rows share: arrays of rows, and how many of them a block takes.
 * Must not know: what is done to a row. */
#ifndef HG_PLAN_ROWS_H
#define HG_PLAN_ROWS_H

#include "plan/steps/steps.h"

/* Element k of row (o, i) is number o * stride + k * inner + i, o < count, i < inner: `count` times
 * `inner` rows of n elements. */
typedef struct plan_rows {
    uint64_t count, n, stride, inner;
} plan_rows;

/* From operands rows, n, ld and inner; without ld there is no gap. */
plan_rows plan_named_rows(const plan_call *call);
void plan_check_row_stride(const plan_call *call, plan_problem *problem);
void plan_shape_rows(const plan_call *call, const char *name, const plan_rows *rows);
/* An array of `count` elements without gaps. */
void plan_shape_line(const plan_call *call, const char *name, uint64_t count);

/* Launches of a library program whose constants end with W, the lanes of a block, R, the rows that
 * it takes at once, ALONE and DEPTH, and whose values begin with the launch's first row, the one
 * behind its last, and the rows of a block, a multiple of R. Rows that are no multiple of R have a
 * launch with R = 1. Where elements of a row lie apart, a lane has a row, and those three values
 * are what rows.atlas says. Maps in front and behind are done where rows have no gaps. */
typedef struct plan_row_program {
    library_id id;
    hg_type type;
    uint16_t fn;
    plan_rows rows;
    uint32_t lanes;        /* W */
    uint32_t at_once;      /* R */
    uint64_t shared_bytes; /* of a block for each of the R */
    const int32_t *constants;
    uint32_t constant_count; /* without the four */
    const plan_part *parts;
    uint32_t part_count;
    const uint64_t *values;
    uint32_t value_count; /* without the three */
} plan_row_program;
void plan_expand_rows(plan_expansion *x, const plan_row_program *p);

#endif
