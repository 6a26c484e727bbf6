/* The table of commands and options. */
#include "table.h"
#include <string.h>

static const cli_row ROWS[] = {
#define CLI_COMMAND(name, arguments, what) {CLI_ROW_COMMAND, #name, arguments, what},
#define CLI_WORD(word, arguments, what) {CLI_ROW_WORD, word, arguments, what},
#define CLI_GROUP(name, title) {CLI_ROW_GROUP, name, title, NULL},
#define CLI_USE(group) {CLI_ROW_USE, group, NULL, NULL},
#define CLI_HEAD(title) {CLI_ROW_HEAD, title, NULL, NULL},
#define CLI_FLAG(option, what) {CLI_ROW_FLAG, option, NULL, what},
#define CLI_VALUE(option, value, what) {CLI_ROW_VALUE, option, value, what},
#define CLI_PAIR(option, value, what) {CLI_ROW_PAIR, option, value, what},
#define CLI_MANY(option, value, what) {CLI_ROW_MANY, option, value, what},
#define CLI_TEXT(text) {CLI_ROW_TEXT, text, NULL, NULL},
#include "commands.def"
    {CLI_ROW_END, NULL, NULL, NULL},
};

static const cli_row *next_of(const cli_row *at, cli_row_kind kind) {
    while (at->kind != CLI_ROW_END && at->kind != kind) at++;
    return at->kind == kind ? at : NULL;
}

const cli_row *cli_command_first(void) { return next_of(ROWS, CLI_ROW_COMMAND); }
const cli_row *cli_command_next(const cli_row *command) {
    return next_of(command + 1, CLI_ROW_COMMAND);
}
const cli_row *cli_group_first(const cli_row *after) {
    return next_of(after ? after + 1 : ROWS, CLI_ROW_GROUP);
}

const cli_row *cli_command_find(const char *name) {
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c))
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

static const cli_row *group(const char *name) {
    for (const cli_row *g = cli_group_first(NULL); g; g = cli_group_first(g))
        if (strcmp(g->name, name) == 0) return g;
    return NULL;
}

cli_rows cli_rows_of(const cli_row *command) { return (cli_rows){command + 1, NULL, false}; }

static bool ends_rows(const cli_row *row) {
    return row->kind == CLI_ROW_COMMAND || row->kind == CLI_ROW_GROUP || row->kind == CLI_ROW_END;
}

const cli_row *cli_rows_next(cli_rows *r) {
    while (r->at && ends_rows(r->at)) { /* of a group, of the command, of what every command has */
        const cli_row *common = r->last ? NULL : group("common");
        if (!r->back) r->last = true;
        if (!r->back && common) {
            r->at = common + 1;
            return common;
        }
        r->at = r->back;
        r->back = NULL;
    }
    if (!r->at) return NULL;
    const cli_row *row = r->at++;
    if (row->kind != CLI_ROW_USE) return row;
    const cli_row *used = group(row->name);
    r->back = r->at;
    r->at = used + 1;
    return used;
}

bool cli_row_is_option(const cli_row *row) {
    return row->kind == CLI_ROW_FLAG || row->kind == CLI_ROW_VALUE || row->kind == CLI_ROW_PAIR ||
           row->kind == CLI_ROW_MANY;
}

const cli_row *cli_option_find(const cli_row *command, const char *name, size_t length) {
    cli_rows rows = cli_rows_of(command);
    for (const cli_row *row; (row = cli_rows_next(&rows));)
        if (cli_row_is_option(row) && strncmp(row->name, name, length) == 0 &&
            row->name[length] == '\0')
            return row;
    return NULL;
}
