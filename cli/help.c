/* hologram help: the table of commands and options at a terminal and as JSON. Opens no device and
 * reads no file. */
#include "help.h"
#include "cli.h"
#include "base/lines.h"
#include "base/nearest.h"
#include <string.h>

enum { LEFT = 26, WIDTH = 110 }; /* columns */

/* Words of text from column `indent` on, folded at WIDTH; the cursor is there already. */
static void add_folded(hg_text *out, const char *text, int indent) {
    size_t at = (size_t)indent;
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " "), wide = hg_columns(text, length);
        if (!first && at + 1 + wide > WIDTH) {
            hg_text_addf(out, "\n%*s", indent, "");
            at = (size_t)indent;
            first = true;
        }
        hg_text_addf(out, "%s%.*s", first ? "" : " ", (int)length, text);
        at += wide + !first;
        first = false;
        text += length;
        text += *text == ' ';
    }
    hg_text_addf(out, "\n");
}

/* "  --in N=FILE             what" */
static void add_row(hg_text *out, const char *name, const char *value, const char *what) {
    hg_text left = {0};
    hg_text_addf(&left, "  %s%s%s", name, value && *value ? " " : "", value ? value : "");
    size_t wide = hg_columns(left.data ? left.data : "", left.length);
    hg_text_addf(out, "%s", left.data ? left.data : "");
    if (wide + 2 > LEFT)
        hg_text_addf(out, "\n%*s", LEFT, "");
    else
        hg_text_addf(out, "%*s", (int)(LEFT - wide), "");
    add_folded(out, what, LEFT);
    hg_text_free(&left);
}

static void add_overview(hg_text *out) {
    hg_text_addf(out, "usage: hologram COMMAND …\n\n");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c))
        add_row(out, c->name, c->value, c->what);
    hg_text_addf(out, "\n`hologram help COMMAND` explains the options of a command. Every command "
                      "takes --json.\n");
}

static void add_command(hg_text *out, const cli_row *command) {
    const char *what = command->what;
    hg_text_addf(out, "usage: hologram %s%s%s [OPTION …]\n\n%c%s.\n", command->name,
                 *command->value ? " " : "", command->value,
                 what[0] >= 'a' && what[0] <= 'z' ? what[0] - 'a' + 'A' : what[0], what + 1);
    cli_rows rows = cli_rows_of(command);
    bool open = false; /* below a title */
    for (const cli_row *row; (row = cli_rows_next(&rows));) {
        if (row->kind == CLI_ROW_GROUP || row->kind == CLI_ROW_HEAD) {
            hg_text_addf(out, "\n%s:\n", row->kind == CLI_ROW_HEAD ? row->name : row->value);
        } else if (row->kind == CLI_ROW_TEXT) {
            hg_text_addf(out, "\n");
            add_folded(out, row->name, 0);
        } else {
            if (!open) hg_text_addf(out, "\n");
            add_row(out, row->name, row->value, row->what);
        }
        open = row->kind != CLI_ROW_TEXT;
    }
}

void cli_print_overview(FILE *file) {
    hg_text text = {0};
    add_overview(&text);
    fputs(text.data ? text.data : "", file);
    hg_text_free(&text);
}

void cli_unknown_command(const char *name) {
    hg_nearest nearest;
    hg_nearest_init(&nearest, name, strlen(name));
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c))
        hg_nearest_try(&nearest, c->name);
    const char *hint = hg_nearest_hint(&nearest);
    fprintf(stderr, "hologram: error: unknown command '%s'%s%s\n", name, hint ? ": " : "",
            hint ? hint : "");
    if (!hint) cli_print_overview(stderr);
}

/* ---- JSON ---- */

static void json_command(cli *c, const cli_row *command) {
    hg_json json;
    const char *title = "";
    cli_json_item(c, &json);
    hg_json_add_text(&json, "command", command->name);
    hg_json_add_text(&json, "arguments", command->value);
    hg_json_add_text(&json, "what", command->what);
    hg_json_key(&json, "options");
    hg_json_begin_array(&json);
    cli_rows rows = cli_rows_of(command);
    for (const cli_row *row; (row = cli_rows_next(&rows));) {
        if (row->kind == CLI_ROW_GROUP) title = row->value;
        if (row->kind == CLI_ROW_HEAD) title = row->name;
        if (!cli_row_is_option(row)) continue;
        hg_json_begin_object(&json);
        hg_json_add_text(&json, "name", row->name);
        hg_json_add_text(&json, "value", row->value);
        hg_json_add_bool(&json, "repeatable",
                         row->kind == CLI_ROW_PAIR || row->kind == CLI_ROW_MANY);
        hg_json_add_text(&json, "group", title);
        hg_json_add_text(&json, "what", row->what);
        hg_json_end_object(&json);
    }
    hg_json_end_array(&json);
    hg_json_key(&json, "words");
    hg_json_begin_array(&json);
    rows = cli_rows_of(command);
    for (const cli_row *row; (row = cli_rows_next(&rows));)
        if (row->kind == CLI_ROW_WORD) hg_json_text(&json, row->name);
    hg_json_end_array(&json);
    hg_json_end_object(&json);
}

/* ---- the command ---- */

static void explain(cli *c) {
    hg_text text = {0};
    if (!c->arguments.count && c->json)
        for (const cli_row *row = cli_command_first(); row; row = cli_command_next(row))
            json_command(c, row);
    if (!c->arguments.count && !c->json) add_overview(&text);
    for (uint64_t i = 0; i < c->arguments.count && c->status == CLI_OK; i++) {
        const cli_row *command = cli_command_find(c->arguments.data[i]);
        if (!command)
            cli_usage(c, "unknown command '%s'", c->arguments.data[i]);
        else if (c->json)
            json_command(c, command);
        else
            add_command(&text, command);
    }
    if (text.data) hg_text_add(&c->outputs, text.data, text.length);
    c->outputs.failed |= text.failed;
    hg_text_free(&text);
}

int command_help(int argc, char **argv) {
    cli c = {0};
    const char *shell = NULL;
    bool man = false, markdown = false;
    const cli_option options[] = {
        {"--man", NULL, &man}, {"--markdown", NULL, &markdown}, {"--completion", &shell, NULL}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    int pages = man + markdown + (shell != NULL);
    if (pages > 1 || (pages && (c.json || c.arguments.count)))
        cli_usage(&c, "--man, --markdown and --completion go alone");
    else if (man)
        help_man(&c.outputs);
    else if (markdown)
        help_markdown(&c.outputs);
    else if (shell && !help_completion(&c.outputs, shell))
        cli_usage(&c, "--completion expects bash, zsh or fish, got '%s'", shell);
    else if (!shell)
        explain(&c);
    return cli_finish(&c);
}
