/* What the table of commands says, for people: at the terminal, as a manual page, as tables of a
 * page, to shells. */
#ifndef HG_CLI_HELP_H
#define HG_CLI_HELP_H

#include "base/base.h"
#include "table.h"
#include <stdio.h>

void cli_print_overview(FILE *out);
void cli_unknown_command(const char *name); /* to standard error, with the nearest command */

void help_man(hg_text *out);                                /* help_pages.c */
void help_markdown(hg_text *out);                           /* help_pages.c */
bool help_completion(hg_text *out, const char *shell_name); /* help_completion.c; false: no such
                                                               shell */

#endif
