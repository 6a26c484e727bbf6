/* The passes over the form: each is a function of a file of its own, and a line of pipeline.def. */
#ifndef HG_VECTOR_PASSES_H
#define HG_VECTOR_PASSES_H

#include "vector/vector.h"

#define VEC_PASS(id, name, what) hg_status vec_pass_##name(vec_kernel *kernel) HG_NODISCARD;
#include "vector/pipeline.def"

#endif
