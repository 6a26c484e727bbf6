/* Hints: the nearest word. Must not know: what the words are. */
#include "base/nearest.h"

#include <stdio.h>

void hg_nearest_init(hg_nearest *n, const char *word, size_t length) {
    *n = (hg_nearest){.best = (uint32_t)length / 3 + 2};
    if (length >= HG_NEAREST_BYTES) return;
    n->length = (uint32_t)length;
    for (size_t i = 0; i < length; i++)
        n->word[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
}

/* Levenshtein distance, one row at a time. */
void hg_nearest_try(hg_nearest *n, const char *candidate) {
    uint32_t row[HG_NEAREST_BYTES];
    if (!n->length) return;
    for (uint32_t i = 0; i <= n->length; i++) row[i] = i;
    for (uint32_t j = 0; candidate[j]; j++) {
        uint32_t diagonal = row[0];
        row[0] = j + 1;
        for (uint32_t i = 1; i <= n->length; i++) {
            uint32_t change = diagonal + (n->word[i - 1] != candidate[j]);
            diagonal = row[i];
            uint32_t drop = (row[i] < row[i - 1] ? row[i] : row[i - 1]) + 1;
            row[i] = change < drop ? change : drop;
        }
    }
    if (row[n->length] >= n->best) return;
    n->best = row[n->length];
    snprintf(n->hint, sizeof n->hint, "did you mean '%s'?", candidate);
}

const char *hg_nearest_hint(const hg_nearest *n) { return n->hint[0] ? n->hint : NULL; }
