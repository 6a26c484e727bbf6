/* What devices pretend not to have: the words of hg_config.pretend (devices.def). */
#include "driver/driver.h"
#include <stdio.h>
#include <string.h>

/* The length of the first word of a list; *word moves to it. 0: no more. */
static size_t next_word(const char **word) {
    size_t length = 0;
    while (**word == ',' || **word == ' ') ++*word;
    while ((*word)[length] && (*word)[length] != ',' && (*word)[length] != ' ') length++;
    return length;
}

/* The length of a word without the number that it takes: what is before its =. */
static size_t plain_length(const char *word) {
    size_t length = 0;
    while (word[length] && word[length] != '=') length++;
    return length;
}

/* Whether a list entry is the word, with or without a number. */
static bool same_word(const char *entry, size_t length, const char *word) {
    size_t own = plain_length(word);
    return own <= length && memcmp(word, entry, own) == 0 && (own == length || entry[own] == '=');
}

static bool find(const char *pretend, const char *word, const char **entry, size_t *length) {
    for (*entry = pretend; *entry && (*length = next_word(entry)) > 0; *entry += *length)
        if (same_word(*entry, *length, word)) return true;
    return false;
}

bool hg_pretends(const char *pretend, const char *word) {
    const char *entry;
    size_t length;
    return find(pretend, word, &entry, &length);
}

uint64_t hg_pretended_number(const char *pretend, const char *word, uint64_t otherwise) {
    const char *entry;
    size_t length;
    uint64_t number = 0;
    if (!find(pretend, word, &entry, &length) || length <= strlen(word) + 1) return otherwise;
    for (size_t i = strlen(word) + 1; i < length; i++)
        number = number * 10 + (uint64_t)(entry[i] - '0');
    return number;
}

/* A number only where the word takes one. */
static bool is_known(const char *entry, size_t length, const char *word) {
    if (!same_word(entry, length, word)) return false;
    size_t own = plain_length(word);
    if (own == length) return true;
    if (!word[own] || length - own > 10) return false;
    for (size_t i = own + 1; i < length; i++)
        if (entry[i] < '0' || entry[i] > '9') return false;
    return length > own + 1;
}

/* A word that is known and takes a number or none. */
static hg_status wrong_number(const char *entry, size_t length, const char *word) {
    size_t own = plain_length(word);
    if (word[own])
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "HOLOGRAM_PRETEND '%.*s': expected %.*s=N with a number of at most 9 digits",
                       (int)length, entry, (int)own, word);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "HOLOGRAM_PRETEND '%.*s': %s takes no number",
                   (int)length, entry, word);
}

hg_status hg_pretend_check(const char *pretend) {
    static const char *const words[] = {
#define HG_PRETEND(word, what) word,
#include "driver/devices.def"
    };
    char known[400] = "";
    size_t length, used = 0;
    for (size_t i = 0; i < HG_COUNT_OF(words) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", words[i]);
    for (; (length = next_word(&pretend)) > 0; pretend += length) {
        bool good = false;
        for (size_t i = 0; i < HG_COUNT_OF(words); i++)
            good = good || is_known(pretend, length, words[i]);
        for (size_t i = 0; i < HG_COUNT_OF(words) && !good; i++)
            if (same_word(pretend, length, words[i]))
                return wrong_number(pretend, length, words[i]);
        if (!good)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "HOLOGRAM_PRETEND '%.*s' is unknown, expected some of:%s", (int)length,
                           pretend, known);
    }
    return HG_OK;
}
