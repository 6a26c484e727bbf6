/* The table of commands and options (commands.def) as rows. Must not know: what commands do. */
#ifndef HG_CLI_TABLE_H
#define HG_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cli_row_kind {
    CLI_ROW_COMMAND,
    CLI_ROW_WORD,
    CLI_ROW_GROUP,
    CLI_ROW_USE,
    CLI_ROW_HEAD,
    CLI_ROW_FLAG,
    CLI_ROW_VALUE,
    CLI_ROW_PAIR,
    CLI_ROW_MANY,
    CLI_ROW_TEXT,
    CLI_ROW_END,
} cli_row_kind;

typedef struct cli_row {
    cli_row_kind kind;
    const char *name;  /* of the command, word, group or option; the title of a head; the text of a
                          paragraph */
    const char *value; /* arguments or value; the title of a group; else NULL */
    const char *what;
} cli_row;

/* The first command, and the one after a command; NULL: there is none. */
const cli_row *cli_command_first(void);
const cli_row *cli_command_next(const cli_row *command);
const cli_row *cli_command_find(const char *name); /* NULL: unknown */

/* The rows of a command in order, those of its groups behind the group's own row, those of every
 * command last: `cli_rows r = cli_rows_of(command); for (const cli_row *row; (row =
 * cli_rows_next(&r));)`. */
typedef struct cli_rows {
    const cli_row *at, *back; /* back: where the command goes on after a group; NULL: not in a group
                               */
    bool last;                /* the rows of every command are being given */
} cli_rows;
cli_rows cli_rows_of(const cli_row *command);
const cli_row *cli_rows_next(cli_rows *rows);
const cli_row *cli_group_first(const cli_row *after); /* the first group, or the one after a group;
                                                         NULL: there is none */
bool cli_row_is_option(const cli_row *row);
/* An option of a command by the first length bytes of a name; NULL: the command does not have it.
 */
const cli_row *cli_option_find(const cli_row *command, const char *name, size_t length);

#endif
