/* The measured table. Must not know: the library. */
#include "backends/cpu/vendor_internal.h"

enum { CLASSES = 5, FASTER = 105 }; /* below 5 % it may as well be noise */

/* Of m and n: up to 4, 16, 64, 256, and more; of k: up to 16, 64, 256, 1024, and more. */
static uint32_t class_of(uint64_t size, const uint16_t most[CLASSES - 1]) {
    uint32_t i = 0;
    while (i < CLASSES - 1 && size > most[i]) i++;
    return i;
}
static const uint16_t SIDES[] = {4, 16, 64, 256}, DEPTHS[] = {16, 64, 256, 1024};

static const struct {
    uint8_t kind, type;
    int isa;
    uint8_t m, n;
    uint16_t percent[CLASSES];
} ROWS[] = {
#define VENDOR(kind, type, isa, m, n, k16, k64, k256, k1024, more) \
    {VENDOR_##kind, HG_TYPE_##type, ONEDNN_ISA_##isa, m, n, {k16, k64, k256, k1024, more}},
#include "backends/cpu/vendor.def"
    {0},
};

/* A better CPU has its own rows, or those of what it is better than. */
bool vendor_is_faster(const vendor_problem *p, int isa) {
    for (size_t i = HG_COUNT_OF(ROWS) - 1; i-- > 0;)
        if (ROWS[i].kind == p->kind && ROWS[i].type == p->type &&
            (isa & ROWS[i].isa) == ROWS[i].isa && ROWS[i].m == class_of(p->size[0], SIDES) &&
            ROWS[i].n == class_of(p->size[1], SIDES))
            return ROWS[i].percent[class_of(p->size[2], DEPTHS)] >= FASTER;
    return false;
}
