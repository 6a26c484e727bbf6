/* The words of a kernel's name.
 * Must not know: what they mean. */
#include "translators/json/named.h"

#include <string.h>

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

void jk_split_words(jk_words *w, const char *name, size_t length) {
    uint32_t used = 0;
    for (size_t i = 0; i <= length && w->count < JK_MOST_WORDS; i++) {
        char c = i < length ? lower(name[i]) : '_';
        if (c == '_' || is_digit(c)) {
            if (used && used < JK_WORD_BYTES) w->count++;
            used = 0;
            if (w->count < JK_MOST_WORDS) memset(w->word[w->count], 0, JK_WORD_BYTES);
        } else if (used < JK_WORD_BYTES) {
            w->word[w->count][used] = c;
            used += used + 1 < JK_WORD_BYTES ? 1 : JK_WORD_BYTES; /* longer than every word of the
                                                                     list */
        }
    }
}

bool jk_has_word(const jk_words *w, const char *list) {
    for (uint32_t i = 0; i < w->count; i++) {
        size_t length = strlen(w->word[i]);
        for (const char *at = list; *at;) {
            size_t n = strcspn(at, " ");
            if (n == length && memcmp(at, w->word[i], n) == 0) return true;
            at += n + (at[n] == ' ');
        }
    }
    return false;
}
