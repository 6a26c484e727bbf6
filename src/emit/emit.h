/* Emitters: kernel IR to text of a target language. Must not know: devices, drivers, threads. */
#ifndef HG_EMIT_EMIT_H
#define HG_EMIT_EMIT_H

#include "kir/kir.h"

typedef enum emit_dialect { EMIT_C } emit_dialect; /* OpenCL C, CUDA, HIP, MSL to come */

/* A self-contained translation unit: readable, structured, commented with the source instructions, compiled without warnings.
 * Requires: a module legalised for the dialect's caps (emit_c_caps). */
void emit_c_caps(kir_caps *caps);
hg_status emit_c(const kir_module *m, emit_dialect dialect, hg_text *out) HG_NODISCARD;
/* One pure function as a `static inline` C function named name (used by tools/gen_tiles; calls other definitions by name too). */
hg_status emit_c_function(const kir_function *f, const char *name, hg_text *out) HG_NODISCARD;

#endif
