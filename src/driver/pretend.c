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

bool hg_pretends(const char *pretend, const char *word) {
    size_t length;
    for (; pretend && (length = next_word(&pretend)) > 0; pretend += length)
        if (strlen(word) == length && memcmp(pretend, word, length) == 0) return true;
    return false;
}

hg_status hg_pretend_check(const char *pretend) {
    static const char *const words[] = {
#define HG_PRETEND(word, what) word,
#include "driver/devices.def"
    };
    char known[256] = "";
    size_t length, used = 0;
    for (size_t i = 0; i < HG_COUNT_OF(words) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", words[i]);
    for (; (length = next_word(&pretend)) > 0; pretend += length) {
        bool good = false;
        for (size_t i = 0; i < HG_COUNT_OF(words); i++)
            good = good || (strlen(words[i]) == length && memcmp(words[i], pretend, length) == 0);
        if (!good)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "HOLOGRAM_PRETEND '%.*s' is unknown, expected some of:%s", (int)length, pretend,
                           known);
    }
    return HG_OK;
}
