/* Types of elements.
 * Must not know: tensors. */
#ifndef HG_TENSOR_TYPES_H
#define HG_TENSOR_TYPES_H

#include <hologram/tensor.h>

/* Of an element; 0: it is no type. */
uint64_t tensor_size(hg_element type);
/* hg_element_promote; HG_TYPE_COUNT: they have no common type. */
hg_element tensor_promote(hg_element a, hg_element b);
/* 0: bool, 1: unsigned, 2: signed, 3: floats, 4: complex. */
int tensor_kind(hg_element type);

#endif
