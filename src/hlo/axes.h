/* Lists of axes that operations have, under the names of the pretty form and of the generic one. */
#ifndef HG_HLO_AXES_H
#define HG_HLO_AXES_H

#include "hlo/lower.h"

typedef struct mlir_axes {
    int64_t at[MLIR_MAX_RANK * 3];
    uint32_t count;
} mlir_axes;

/* The n-th list of that key, else of the generic one (NULL: none). */
mlir_axes mlir_axes_of(mlir_lower *w, const mlir_op *op, const char *key, const char *generic,
                       uint32_t n);
/* `count` integers; of one that one for all; of none `otherwise`. */
mlir_axes mlir_filled(mlir_lower *w, const mlir_op *op, const char *key, const char *generic,
                      uint32_t count, int64_t otherwise);
/* Where an axis stands in the list; -1: nowhere. */
/* The numbers of an operand that the text says: of a dynamic operation. */
mlir_axes mlir_axes_of_operand(mlir_lower *w, const mlir_tensor *t, uint32_t count);
int64_t mlir_find(const mlir_axes *a, int64_t axis);
/* Whether these are axes of an array of that rank, each once; else it is refused. */
bool mlir_are_axes(mlir_lower *w, const mlir_axes *a, uint32_t rank, const char *what);
/* Refuses what is not good; false then, and after an earlier mistake. */
bool mlir_expect(mlir_lower *w, bool good, const char *what);

/* Where gather and scatter look: axes of the indices, of windows, of the operand. */
typedef struct mlir_window_map {
    mlir_axes window, gone, batching, index_batching, map;
    int64_t vector;
} mlir_window_map;

/* starts[d], offsets[d] of the operand's axes for the element `at` of the result of a gather or the
 * updates of a scatter, of type `wide`; NULL: none. */
bool mlir_look_up(mlir_lower *w, const mlir_window_map *m, const mlir_type *operand,
                  const mlir_type *wide, const mlir_tensor *indices, const char *const *at,
                  const char **starts, const char **offsets);

/* Positions of a window that slides over an axis. */
typedef struct mlir_slide {
    int64_t size, stride, low, high, base, dilation;
} mlir_slide;
/* Of a window over `in` with so many places as `out` has. */
bool mlir_slides_of(mlir_lower *w, const mlir_op *op, const mlir_type *in, const mlir_type *out,
                    mlir_slide *s);
/* Opens the loops over a window at `at`, then one `if` for what is inside. from: places in the
 * operand. known has rank + 1 entries; *closes: how many blocks are open. */
void mlir_slide_windows(mlir_lower *w, const mlir_type *in, const mlir_slide *s,
                        const char *const *at, const char **from, uint64_t *known,
                        uint32_t *closes);

#endif
