/* Virtual registers and where they stand, and items of tuples: what is kept while text is read.
 * Must not know: names, liveness. */
#include "isa/text_internal.h"

bool hg_asm_add_virtual(hg_assembler *a, uint32_t name, uint8_t type, bool predicate,
                        const hg_token *at) {
    if (a->registers.virtuals.count == HG_MAX_VIRTUALS) {
        hg_asm_error(a, "S05", at, NULL, "more than %d named registers", HG_MAX_VIRTUALS);
        a->wrong.stop = true;
        return false;
    }
    hg_virtual *v = hg_vec_push(&a->registers.virtuals);
    if (!v) return hg_asm_no_memory(a);
    *v = (hg_virtual){name, (uint32_t)a->code.insts.count, type, predicate, 0};
    return true;
}

bool hg_asm_temporary(hg_assembler *a, uint8_t type, bool predicate, hg_register *reg) {
    *reg = (hg_register){(uint32_t)a->registers.virtuals.count, 0, type};
    return hg_asm_add_virtual(a, HG_UNDEFINED, type, predicate, &a->token);
}

bool hg_asm_use(hg_assembler *a, const hg_register *reg, uint32_t inst, uint64_t place,
                uint8_t field, uint8_t access) {
    if (reg->virtual_number == HG_UNDEFINED) return true;
    hg_use *use = hg_vec_push(&a->registers.uses);
    if (!use) return hg_asm_no_memory(a);
    *use = (hg_use){reg->virtual_number, inst, (uint32_t)place, field, access};
    return true;
}

bool hg_asm_keep_items(hg_assembler *a, const hg_tuple_item *items, uint32_t count,
                       uint64_t *first) {
    *first = a->code.items.count;
    for (uint32_t i = 0; i < count; i++) {
        hg_tuple_item *kept = hg_vec_push(&a->code.items);
        if (!kept) return hg_asm_no_memory(a);
        *kept = items[i];
    }
    return true;
}
