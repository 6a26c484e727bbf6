/* How exact an instruction's numbers are, in words: docs/reference/isa.md, `hologram ops`. */
#ifndef HG_ISA_NUMBERS_H
#define HG_ISA_NUMBERS_H

#include "isa/isa.h"

static inline const char *hg_op_numbers_text(const hg_op_info *op) {
    static const char *const TEXTS[] = {
#define HG_OP_NUMBERS(id, text, about) text,
#include <hologram/reflect.def>
#undef HG_OP_NUMBERS
    };
    return TEXTS[op->numbers];
}

#endif
