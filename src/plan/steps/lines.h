/* What collectives along an axis of arrays share: an array [outer, n, inner] without gaps is any
 * array seen from one of its axes, and has outer * inner lines of n elements.
 * Must not know: what is done to a line. */
#ifndef HG_PLAN_LINES_H
#define HG_PLAN_LINES_H

#include "plan/steps/steps.h"

typedef struct plan_lines {
    uint64_t outer, n, inner;
} plan_lines;

/* From operands outer, n and inner. */
plan_lines plan_named_lines(const plan_call *call);
void plan_shape_lines(const plan_call *call, const char *name, const plan_lines *lines);
bool plan_lines_are_none(const plan_lines *lines);

/* The constant OP of library programs that fold. fn: HG_OP_ADD, MUL, MIN or MAX. */
int32_t plan_fold_number(uint16_t fn);

#endif
