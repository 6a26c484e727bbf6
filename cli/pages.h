/* Pages of docs/reference that the command carries: the build compiles the documents themselves in
 * (cmake/documents.cmake). */
#ifndef HG_CLI_PAGES_H
#define HG_CLI_PAGES_H

#include <stddef.h>

typedef struct cli_page {
    const char *name; /* "language"; NULL ends the list */
    const char *text; /* Markdown */
    size_t length;
} cli_page;
extern const cli_page CLI_PAGES[];

#endif
