/* Lists of axes that operations have, under the names of the pretty form and of the generic one. */
#ifndef HG_HLO_AXES_H
#define HG_HLO_AXES_H

#include "hlo/lower.h"

typedef struct shlo_axes {
    int64_t at[SHLO_MAX_RANK * 3];
    uint32_t count;
} shlo_axes;

/* The n-th list of that key, else of the generic one (NULL: none). */
shlo_axes shlo_axes_of(shlo_lower *w, const shlo_op *op, const char *key, const char *generic,
                       uint32_t n);
/* `count` integers; of one that one for all; of none `otherwise`. */
shlo_axes shlo_filled(shlo_lower *w, const shlo_op *op, const char *key, const char *generic,
                      uint32_t count, int64_t otherwise);
/* Where an axis stands in the list; -1: nowhere. */
int64_t shlo_find(const shlo_axes *a, int64_t axis);
/* Whether these are axes of an array of that rank, each once; else it is refused. */
bool shlo_are_axes(shlo_lower *w, const shlo_axes *a, uint32_t rank, const char *what);
/* Refuses what is not good; false then, and after an earlier mistake. */
bool shlo_expect(shlo_lower *w, bool good, const char *what);

/* Where gather and scatter look: axes of the indices, of windows, of the operand. */
typedef struct shlo_window_map {
    shlo_axes window, gone, batching, index_batching, map;
    int64_t vector;
} shlo_window_map;

/* starts[d], offsets[d] of the operand's axes for the element `at` of the result of a gather or the
 * updates of a scatter, of type `wide`; NULL: none. */
bool shlo_look_up(shlo_lower *w, const shlo_window_map *m, const shlo_type *operand,
                  const shlo_type *wide, const shlo_tensor *indices, const char *const *at,
                  const char **starts, const char **offsets);

/* Positions of a window that slides over an axis. */
typedef struct shlo_slide {
    int64_t size, stride, low, base, dilation;
} shlo_slide;
bool shlo_slides_of(shlo_lower *w, const shlo_op *op, uint32_t rank, shlo_slide *s);
/* Opens the loops over a window at `at`, then one `if` for what is inside. from: places in the
 * operand. known has rank + 1 entries; *closes: how many blocks are open. */
void shlo_slide_windows(shlo_lower *w, const shlo_type *in, const shlo_slide *s,
                        const char *const *at, const char **from, uint64_t *known,
                        uint32_t *closes);

#endif
