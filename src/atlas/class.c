/* Classes of bytes: coordinates, labels, canonical bytes, the numbering of vertices
 * (semantics 5.1, 5.2, 5.4).
 * Must not know: programs, memory. */
#include "atlas/atlas_internal.h"
#include <string.h>

hg_status hg_fail_class(uint64_t cls) {
    hg_status status = hg_fail(HG_ERROR_ISA, "invalid class index: %llu (must be < %d)",
                               (unsigned long long)cls, (int)HG_CLASS_COUNT);
    memcpy(hg_error_record()->code, "F04", 4);
    return status;
}

hg_status hg_fail_domain(const char *code, const char *format, uint64_t a, uint64_t b) {
    hg_status status = hg_fail(HG_ERROR_ISA, format, (unsigned long long)a, (unsigned long long)b);
    memcpy(hg_error_record()->code, code, strlen(code) + 1);
    return status;
}

/* ---- coordinates ---- */

hg_class_parts hg_class_split(uint8_t cls) {
    cls %= HG_CLASS_COUNT;
    return (hg_class_parts){(uint8_t)(cls / 24), (uint8_t)(cls % 24 / 8), (uint8_t)(cls % 8)};
}

uint8_t hg_class_join(hg_class_parts parts) {
    return (uint8_t)(24 * (parts.scope % 4) + 8 * (parts.modality % 3) + parts.context % 8);
}

hg_class_label hg_class_get_label(uint8_t cls) {
    hg_class_parts p = hg_class_split(cls);
    return (hg_class_label){
        .e1 = p.context & 1,
        .e2 = p.context >> 1 & 1,
        .e3 = p.context >> 2,
        .e6 = p.scope & 1,
        .e7 = p.scope >> 1,
        .d45 = (int8_t)(p.modality == 2 ? -1 : p.modality),
    };
}

uint8_t hg_class_from_label(hg_class_label l) {
    unsigned scope = (l.e7 ? 2u : 0u) + (l.e6 ? 1u : 0u), modality = l.d45 < 0   ? 2
                                                                     : l.d45 > 0 ? 1
                                                                                 : 0;
    return (uint8_t)(24 * scope + 8 * modality + (l.e3 ? 4u : 0u) + (l.e2 ? 2u : 0u) +
                     (l.e1 ? 1u : 0u));
}

uint8_t hg_class_to_vertex(uint8_t cls) {
    hg_class_label l = hg_class_get_label(cls);
    return (uint8_t)(3 * (16 * l.e1 + 8 * l.e2 + 4 * l.e3 + 2 * l.e6 + l.e7) + l.d45 + 1);
}

uint8_t hg_class_from_vertex(uint8_t vertex) {
    unsigned v = vertex % HG_CLASS_COUNT, e = v / 3;
    hg_class_label l = {e >> 4 & 1, e >> 3 & 1, e >> 2 & 1,
                        e >> 1 & 1, e & 1,      (int8_t)((int)(v % 3) - 1)};
    return hg_class_from_label(l);
}

/* ---- bytes ---- */

/* The classes of eight bytes at once. Without b0 a byte is 32·h2 + 8·m + l, m = 2·b5 + b4; the
 * class is that less 8·h2, and less 24 where m is 3. No difference is negative, so none borrows
 * from the next byte. */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
static inline uint64_t classes_of(uint64_t w) {
    uint64_t all = w >> 1, three = all & w >> 2 & EACH(8);
    return (all & EACH(0x7F)) - (w >> 3 & EACH(0x18)) - (three + three + three);
}

uint8_t hg_class_of_byte(uint8_t byte) { return (uint8_t)classes_of(byte); }

void hg_class_of_bytes(const uint8_t *bytes, uint8_t *classes, uint64_t count) {
    if (!bytes || !classes) return;
    enum {
        BLOCK = 128
    }; /* read whole before it is written: compilers make vectors of it, and bytes may be classes */
    uint64_t i = 0, words[BLOCK / 8];
    for (; count - i >= BLOCK; i += BLOCK) {
        memcpy(words, bytes + i, BLOCK);
        for (int k = 0; k < BLOCK / 8; k++) words[k] = classes_of(words[k]);
        memcpy(classes + i, words, BLOCK);
    }
    for (; i < count; i++) classes[i] = hg_class_of_byte(bytes[i]);
}

uint8_t hg_class_byte(uint8_t cls) {
    hg_class_parts p = hg_class_split(cls);
    return (uint8_t)(p.scope << 6 | p.modality << 4 | p.context << 1);
}

uint32_t hg_class_bytes(uint8_t cls, uint8_t bytes[4]) {
    uint8_t first = hg_class_byte(cls);
    if (!bytes) return 0;
    bytes[0] = first;
    bytes[1] = first | 1;
    if (first & 0x30) return 2;
    bytes[2] = first | 0x30;
    bytes[3] = first | 0x31;
    return 4;
}
