/* Windows that move along axes, as pools and convolutions have them.
 * Must not know: what is done with what a window covers. */
#ifndef HG_PLAN_WINDOWS_H
#define HG_PLAN_WINDOWS_H

#include "plan/steps/steps.h"

/* Along one axis. */
typedef struct plan_window {
    uint64_t size, window, stride, before, after, dilation; /* before, after: places of padding */
    uint64_t out;
} plan_window;

/* Places that a window covers; the places of an axis with its padding. */
uint64_t plan_reach(const plan_window *w);
uint64_t plan_padded(const plan_window *w);

/* From operands size, window, stride, padding, padding_end and dilation, `out` as conv has it:
 * three axes, of which those that a call does not have come first and have one place. Only of a
 * call that has been checked. */
enum { PLAN_AXES = 3 };
void plan_named_windows(const plan_call *call, plan_window windows[PLAN_AXES]);
/* Number n of an operand with a number for each axis; `missing` where it is left out. */
uint64_t plan_axis_number(const plan_call *call, const char *name, uint32_t axis, uint64_t missing);
/* Whether these operands are there for 1 to 3 axes and no number is too small or too large. */
bool plan_check_axes(const plan_call *call, plan_problem *problem);
/* Whether `operand` has a number for each axis, each at least `least`. */
bool plan_check_axis_numbers(const plan_call *call, plan_problem *problem, const char *name,
                             uint64_t least);
/* Whether each window fits into its axis. */
void plan_check_windows(const plan_call *call, plan_problem *problem);
/* The array of an operand: [first, second, of each axis its size, window or out]; second
 * UINT64_MAX: there is none. */
typedef enum plan_window_extent { PLAN_SIZES, PLAN_WINDOWS, PLAN_OUTS } plan_window_extent;
void plan_shape_windows(const plan_call *call, const char *name, uint64_t first, uint64_t second,
                        const plan_window windows[PLAN_AXES], plan_window_extent which);

#endif
