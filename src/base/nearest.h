/* Hints for words that are nobody's: the nearest of those that would be accepted.
 * Must not know: what the words are. */
#ifndef HG_BASE_NEAREST_H
#define HG_BASE_NEAREST_H

#include "base/base.h"

/* Nearest word by edit distance, for hints: feeds candidates one by one. */
enum { HG_NEAREST_BYTES = 40 };
typedef struct hg_nearest {
    char word[HG_NEAREST_BYTES]; /* lower case */
    uint32_t length;             /* 0: too long for a hint */
    uint32_t best;               /* distance; nothing further away is taken */
    char hint[HG_NEAREST_BYTES + 24];
} hg_nearest;
void hg_nearest_init(hg_nearest *n, const char *word, size_t length);
void hg_nearest_try(hg_nearest *n, const char *candidate);
/* "did you mean 'add'?", or NULL. */
const char *hg_nearest_hint(const hg_nearest *n);

#endif
