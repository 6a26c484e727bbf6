/* Extents of arrays and launches, as builders of programs and of array graphs take them. */
#ifndef HOLOGRAM_DIM_H
#define HOLOGRAM_DIM_H

#include <hologram/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An extent of an array, of the grid or of the number of lanes: a number, a scalar parameter of
 * type u32 or u64 by name, or an expression over both as text writes it ("ceil(n / 16)", "h + 2").
 */
typedef struct hg_dim {
    uint64_t value;
    const char *param; /**< NULL: value */
} hg_dim;

/** In place of a number of extents: any shape. */
enum { HG_NO_DIMS = 255 };

static inline hg_dim hg_dim_of(uint64_t value) {
    hg_dim d = {value, 0};
    return d;
}
static inline hg_dim hg_dim_param(const char *name) {
    hg_dim d = {0, name};
    return d;
}
/** "ceil(n / 1024)", "h + 2": numbers, names of scalar parameters, + - * /, ceil(a / b), min(a, b),
 * max(a, b) and parentheses. */
static inline hg_dim hg_dim_expression(const char *text) { return hg_dim_param(text); }

#ifdef __cplusplus
}
#endif
#endif
