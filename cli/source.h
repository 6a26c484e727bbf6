/* Lines of the source text that a command has read. */
#ifndef HG_CLI_SOURCE_H
#define HG_CLI_SOURCE_H

#include "cli.h"

/* A line, from 1, without its end; false: there is none. */
bool cli_source_line(const cli *c, uint32_t line, const char **text, size_t *length);
/* Bytes of a line that are shown where there is room for `most`: whole characters. */
size_t cli_source_shown(const char *text, size_t length, size_t most);

#endif
