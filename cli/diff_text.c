/* hologram diff: how values and places are written. */
#include "diff.h"
#include <stdio.h>

void diff_add_value(hg_text *out, uint8_t type, const uint8_t *bytes) {
    if (type >= HG_TYPE_COUNT) {
        hg_text_addf(out, bytes[0] ? "true" : "false");
        return;
    }
    uint64_t size = hg_type_size_bytes((hg_type)type);
    hg_print_value(out, (hg_type)type, bytes);
    hg_text_addf(out, " 0x");
    for (uint64_t i = size; i-- > 0;) hg_text_addf(out, "%02x", bytes[i]);
}

void diff_value_text(uint8_t type, const uint8_t *bytes, char text[160]) {
    hg_text out = {0};
    diff_add_value(&out, type, bytes);
    snprintf(text, 160, out.length < 160 ? "%s" : "%.150s…", out.data ? out.data : "?");
    hg_text_free(&out);
}

void diff_add_index(hg_text *out, uint32_t rank, const uint64_t *extents, uint64_t element) {
    uint64_t at[HG_MAX_EXTENTS];
    for (uint32_t i = rank; i-- > 0;) {
        at[i] = extents[i] ? element % extents[i] : 0;
        element = extents[i] ? element / extents[i] : 0;
    }
    hg_text_addf(out, "[");
    for (uint32_t i = 0; i < rank; i++)
        hg_text_addf(out, "%s%llu", i ? ", " : "", (unsigned long long)at[i]);
    hg_text_addf(out, "]");
}
