/* Numbers on the command line of `hologram atlas`, and answers that there are none. */
#include "atlas.h"
#include <string.h>

void atlas_refuse(cli *c) {
    char message[512];
    const hg_error *e = hg_last_error();
    memcpy(message, e->message, sizeof message);
    cli_error(c, e->code[0] ? e->code : "X04", "%s", message);
}

bool atlas_read_number(const char *text, uint64_t most, uint64_t *value) {
    unsigned base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    const char *p = base == 16 ? text + 2 : text;
    uint64_t n = 0;
    if (!*p) return false;
    for (; *p; p++) {
        unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0')
                                                : (unsigned)((*p | 32) - 'a') + 10;
        if (digit >= base || (*p > '9' && (*p | 32) < 'a') || n > (most - digit) / base ||
            digit > most)
            return false;
        n = n * base + digit;
    }
    *value = n;
    return true;
}

bool atlas_number(cli *c, uint64_t i, const char *what, uint64_t least, uint64_t most,
                  uint64_t *value) {
    const char *text = c->arguments.data[i];
    if (atlas_read_number(text, most, value) && *value >= least) return true;
    cli_usage(c, "%s expects %s from %llu to %llu, got '%s'", c->arguments.data[0], what,
              (unsigned long long)least, (unsigned long long)most, text);
    return false;
}
