/* Types of elements.
 * Must not know: tensors. */
#ifndef HG_TENSOR_TYPES_H
#define HG_TENSOR_TYPES_H

#include <hologram/tensor.h>

/* 0: bool, 1: unsigned, 2: signed, 3: floats. */
int tensor_kind(hg_element type);

#endif
