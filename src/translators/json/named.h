/* What the translators of kernels without a body share: named.c has those of one element a lane,
 * whole.c those of whole arrays. */
#ifndef HG_TRANSLATORS_JSON_NAMED_H
#define HG_TRANSLATORS_JSON_NAMED_H

#include "translators/json/kernel.h"

enum { JK_MOST_WORDS = 32 };
/* The words of a kernel's name, in lower case. */
typedef struct jk_words {
    char word[JK_MOST_WORDS][JK_WORD_BYTES];
    uint32_t count;
} jk_words;

/* A name is taken apart at `_` and digits. */
void jk_split_words(jk_words *w, const char *name, size_t length);
/* Whether one of the words is in the list, words with blanks between them. */
bool jk_has_word(const jk_words *w, const char *list);

/* program.c: the program of the parameters and of what `build` adds; build is called twice:
 * directions of parameters are known when the body is. */
typedef void jk_build(hg_builder *b, const void *what);
hg_status jk_make_named(jk_kernel *k, jk_build *build, const void *what,
                        hg_program **program) HG_NODISCARD;

/* d = x op y, or op x */
void jk_add_op(hg_builder *b, hg_op op, hg_type type, uint8_t d, uint8_t x, uint8_t y);

/* ---- whole.c ---- */
bool jk_is_whole(const jk_words *w);
hg_status jk_lower_whole(jk_kernel *k, const jk_words *w, hg_program **program) HG_NODISCARD;

#endif
