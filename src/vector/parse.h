/* Reads the text of the vector form, as vec_print writes it and docs/design/vector-form.md
 * describes it. */
#ifndef HG_VECTOR_PARSE_H
#define HG_VECTOR_PARSE_H

#include "vector/vector.h"

enum { VEC_TEXT_MAX_DEPTH = 600 /* regions in regions */, VEC_TEXT_MAX_ARGS = 16 };

/* A new form from text, and the module of its inputs, slots and tables; the caller destroys both,
 * the form first. Whether it keeps the rules is vec_verify's to say. The first error ends the
 * reading. HG_ERROR_ISA: diagnostics (may be NULL) has the place, what stood there and what was
 * expected. HG_ERROR_OUT_OF_MEMORY. */
hg_status vec_parse(const char *text, size_t length, hg_diagnostics *diagnostics,
                    kir_module **module, vec_kernel **kernel) HG_NODISCARD;

#endif
