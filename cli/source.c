/* Lines of the source text that a command has read. Must not know: programs. */
#include "source.h"
#include <string.h>

bool cli_source_line(const cli *c, uint32_t line, const char **text, size_t *length) {
    const char *at = (const char *)c->source.data, *end = at + c->source.length;
    if (!at || !line) return false;
    for (uint32_t i = 1; i < line && at < end; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *text = at;
    *length = (size_t)((stop ? stop : end) - at);
    if (*length && at[*length - 1] == '\r') --*length;
    return at < end;
}
