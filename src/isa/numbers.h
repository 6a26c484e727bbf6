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
    if (op->numbers == HG_NUMBERS_ULP2 && op->operand_count > 2)
        return "f32 rounded correctly, halves that once more; f64 within 2 ULP";
    return TEXTS[op->numbers];
}

#endif
