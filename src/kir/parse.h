/* Reads the text form of the kernel IR, as kir_print writes it and docs/reference/kernel-ir.md
 * describes it. */
#ifndef HG_KIR_PARSE_H
#define HG_KIR_PARSE_H

#include "kir/kir.h"

/* What a text may hold at most; beyond it the place is an error. */
enum {
    KIR_TEXT_MAX_DEPTH = 100000 /* regions in regions */,
    KIR_TEXT_MAX_ARGS = 255,
    KIR_TEXT_MAX_INPUTS = 65536,
    KIR_TEXT_MAX_SLOTS = 32767
};

/* A new module from text; whether it keeps the rules is kir_verify's to say. The first error ends
 * the reading. HG_ERROR_PARSE: diagnostics (may be NULL) has the place, what stood there and what
 * was expected. HG_ERROR_OUT_OF_MEMORY. */
hg_status kir_parse(const char *text, size_t length, hg_diagnostics *diagnostics,
                    kir_module **module) HG_NODISCARD;

#endif
