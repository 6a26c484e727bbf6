/* Lines of the source text that a command has read. Must not know: programs. */
#include "source.h"
#include "base/lines.h"

bool cli_source_line(const cli *c, uint32_t line, const char **text, size_t *length) {
    hg_line_reader reader = {(const char *)c->source.data, c->source.length, 0, 1};
    return line && hg_line_read(&reader, line, text, length) && *text < reader.text + reader.length;
}

size_t cli_source_shown(const char *text, size_t length, size_t most) {
    if (length <= most) return length;
    while (most && ((unsigned char)text[most] & 0xC0) == 0x80) most--;
    return most;
}
