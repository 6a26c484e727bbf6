/* Emitters: kernel IR to text of a target language. Must not know: devices, drivers, threads. */
#ifndef HG_EMIT_EMIT_H
#define HG_EMIT_EMIT_H

#include "kir/kir.h"

typedef enum emit_dialect { EMIT_C } emit_dialect; /* OpenCL C, CUDA, HIP, MSL to come */

/* A self-contained translation unit with every kernel given (of different names): readable, structured, commented with the source
 * instructions, compiled without warnings. about: lines for the comment at its top, each ending in a newline; may be "".
 * Requires: modules legalised for the dialect's caps (emit_c_caps). */
void emit_c_caps(kir_caps *caps);
hg_status emit_c(const kir_module *const *kernels, uint32_t count, const char *about, emit_dialect dialect, hg_text *out) HG_NODISCARD;
/* One pure function as a `static inline` C function named name (used by tools/gen_tiles; calls other definitions by name too). */
hg_status emit_c_function(const kir_function *f, const char *name, hg_text *out) HG_NODISCARD;
/* The same without its rare branches, so that loops around it vectorise: a further parameter `uint32_t *rare` becomes non-zero where
 * a branch would have been taken; the result counts only where it stays as it is. *has_branches: false when there are none (and no
 * such parameter). HG_ERROR_ISA when a branch has an else part or there is a loop outside of branches. */
hg_status emit_c_function_common(const kir_function *f, const char *name, hg_text *out, bool *has_branches) HG_NODISCARD;

#endif
