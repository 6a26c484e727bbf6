/* // Printed from this graph. BLAKE3 of all that follows: 64 digits
 * // .graph 1
 * // …
 * module @… */
#include "hlo/origin.h"
#include <stdio.h>
#include <string.h>

#define HEAD "// Printed from this graph. BLAKE3 of all that follows: "
enum { HEAD_LENGTH = sizeof HEAD - 1, DIGITS = 2 * 32, FIRST = HEAD_LENGTH + DIGITS + 1 };

static void hash_text(const char *text, size_t length, char digits[DIGITS + 1]) {
    uint8_t key[32];
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, text, length);
    hg_blake3_final(&h, key);
    for (int i = 0; i < 32; i++) (void)snprintf(digits + 2 * i, 3, "%02x", (unsigned)key[i]);
}

/* The line's length without its end. */
static size_t line_length(const char *text, size_t length) {
    const char *end = memchr(text, '\n', length);
    return end ? (size_t)(end - text) : length;
}

void hlo_origin_print(hg_text *out, const hg_text *graph, const hg_text *module) {
    hg_text rest = {0};
    char digits[DIGITS + 1];
    for (uint64_t at = 0; graph->data && at < graph->length;) {
        size_t n = line_length(graph->data + at, (size_t)(graph->length - at));
        hg_text_addf(&rest, "// ");
        hg_text_add(&rest, graph->data + at, n);
        hg_text_addf(&rest, "\n");
        at += n + 1;
    }
    hg_text_add(&rest, module->data ? module->data : "", module->length);
    hash_text(rest.data ? rest.data : "", (size_t)rest.length, digits);
    hg_text_addf(out, HEAD "%s\n", digits);
    hg_text_add(out, rest.data ? rest.data : "", rest.length);
    if (rest.failed || graph->failed || module->failed) out->failed = true;
    hg_text_free(&rest);
}

bool hlo_origin_find(const char *text, size_t length, hg_text *graph) {
    char digits[DIGITS + 1];
    if (length < FIRST || memcmp(text, HEAD, HEAD_LENGTH) != 0 || text[FIRST - 1] != '\n')
        return false;
    hash_text(text + FIRST, length - FIRST, digits);
    if (memcmp(digits, text + HEAD_LENGTH, DIGITS) != 0) return false;
    for (size_t at = FIRST; at + 3 <= length && memcmp(text + at, "// ", 3) == 0;) {
        size_t n = line_length(text + at, length - at);
        hg_text_add(graph, text + at + 3, n - 3);
        hg_text_addf(graph, "\n");
        at += n + 1;
    }
    return true;
}
