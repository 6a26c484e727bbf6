/* The table of commands as a manual page and as tables of docs/guide/command.md. */
#include "help.h"
#include <string.h>

static const struct {
    const char *name, *value, *what;
} ENVIRONMENT[] = {
#define HG_ENV(name, value, key, what) {#name, value, what},
#include "runtime/env.def"
#undef HG_ENV
};

/* ---- roff ---- */

static void add_roff(hg_text *out, const char *text) {
    if (*text == '.' || *text == '\'') hg_text_addf(out, "\\&");
    for (; *text; text++) {
        if (*text == '\\')
            hg_text_addf(out, "\\e");
        else if (*text == '-')
            hg_text_addf(out, "\\-");
        else
            hg_text_add(out, text, 1);
    }
}

static void add_sentence(hg_text *out, const char *text) {
    add_roff(out, text);
    hg_text_addf(out, ".\n");
}

static void add_tagged(hg_text *out, const char *name, const char *value, const char *what) {
    hg_text_addf(out, ".TP\n.B ");
    add_roff(out, name);
    if (value && *value) {
        hg_text_addf(out, " \\fI");
        add_roff(out, value);
        hg_text_addf(out, "\\fR");
    }
    hg_text_addf(out, "\n");
    add_sentence(out, what);
}

static void add_rows(hg_text *out, const cli_row *row, const cli_row *end) {
    for (; row < end; row++) {
        if (row->kind == CLI_ROW_WORD || cli_row_is_option(row)) {
            add_tagged(out, row->name, row->value, row->what);
        } else if (row->kind == CLI_ROW_HEAD) {
            hg_text_addf(out, ".PP\n.I ");
            add_sentence(out, row->name);
        } else if (row->kind == CLI_ROW_TEXT) {
            hg_text_addf(out, ".PP\n");
            add_roff(out, row->name);
            hg_text_addf(out, "\n");
        }
    }
}

static const cli_row *end_of(const cli_row *row) {
    for (row++;
         row->kind != CLI_ROW_COMMAND && row->kind != CLI_ROW_GROUP && row->kind != CLI_ROW_END;
         row++) {}
    return row;
}

/* The options that a command shares with others: named, they have a section of their own. */
static void add_uses(hg_text *out, const cli_row *command) {
    const cli_row *end = end_of(command);
    const char *before = ".PP\nIt takes the options of \\(lq";
    for (const cli_row *row = command; row < end; row++) {
        if (row->kind != CLI_ROW_USE) continue;
        hg_text_addf(out, "%s", before);
        for (const cli_row *g = cli_group_first(NULL); g; g = cli_group_first(g))
            if (strcmp(g->name, row->name) == 0) add_roff(out, g->value);
        before = "\\(rq, \\(lq";
    }
    if (before[0] != '.') hg_text_addf(out, "\\(rq too.\n");
}

void help_man(hg_text *out) {
    hg_text_addf(out, ".TH HOLOGRAM 1 \"\" \"hologram\" \"User Commands\"\n.SH NAME\nhologram \\- "
                      "runs, checks and translates Atlas programs\n"
                      ".SH SYNOPSIS\n.B hologram\n.I COMMAND\n[\\fIOPTION\\fR ...] "
                      "[\\fIARGUMENT\\fR ...]\n.SH COMMANDS\n");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c)) {
        hg_text_addf(out, ".SS \"hologram %s", c->name);
        hg_text_addf(out, "%s", *c->value ? " " : "");
        add_roff(out, c->value);
        hg_text_addf(out, "\"\n");
        add_sentence(out, c->what);
        add_rows(out, c + 1, end_of(c));
        add_uses(out, c);
    }
    hg_text_addf(out, ".SH OPTIONS OF SEVERAL COMMANDS\n");
    for (const cli_row *g = cli_group_first(NULL); g; g = cli_group_first(g)) {
        hg_text_addf(out, ".SS \"");
        add_roff(out, g->value);
        hg_text_addf(out, "\"\n");
        add_rows(out, g + 1, end_of(g));
    }
    hg_text_addf(out, ".SH EXIT STATUS\n0 done; 1 the program or the run failed; 2 wrong usage, a "
                      "binding error or a file that cannot be read; "
                      "3 backend unavailable; 128 + n ended by signal n.\n.SH ENVIRONMENT\n");
    for (size_t i = 0; i < HG_COUNT_OF(ENVIRONMENT); i++) {
        add_tagged(out, ENVIRONMENT[i].name, "", ENVIRONMENT[i].what);
        if (*ENVIRONMENT[i].value) {
            hg_text_addf(out, "Default: ");
            add_sentence(out, ENVIRONMENT[i].value);
        }
    }
}

/* ---- Markdown ---- */

static void add_cell(hg_text *out, const char *text) {
    for (; *text; text++) hg_text_addf(out, "%s%c", *text == '|' ? "\\" : "", *text);
}

static void add_table(hg_text *out, const cli_row *row, const cli_row *end) {
    bool open = false;
    for (; row < end; row++) {
        if (row->kind == CLI_ROW_HEAD) {
            hg_text_addf(out, "\n*%s*\n", row->name);
            open = false;
        }
        if (row->kind != CLI_ROW_WORD && !cli_row_is_option(row)) continue;
        if (!open) hg_text_addf(out, "\n| | |\n|---|---|\n");
        open = true;
        hg_text_addf(out, "| `%s%s", row->name, row->value && *row->value ? " " : "");
        add_cell(out, row->value ? row->value : "");
        hg_text_addf(out, "` | ");
        add_cell(out, row->what);
        hg_text_addf(out, " |\n");
    }
}

void help_markdown(hg_text *out) {
    for (const cli_row *g = cli_group_first(NULL); g; g = cli_group_first(g)) {
        hg_text_addf(out, "\n### Options: %s\n", g->value);
        add_table(out, g + 1, end_of(g));
    }
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c)) {
        hg_text_addf(out, "\n### `hologram %s%s", c->name, *c->value ? " " : "");
        hg_text_addf(out, "%s`\n\n", c->value);
        hg_text_addf(out, "%s", c->what);
        const char *before = "; with the options of ";
        for (const cli_row *row = c; row < end_of(c); row++) {
            if (row->kind != CLI_ROW_USE) continue;
            for (const cli_row *g = cli_group_first(NULL); g; g = cli_group_first(g))
                if (strcmp(g->name, row->name) == 0) hg_text_addf(out, "%s*%s*", before, g->value);
            before = ", ";
        }
        hg_text_addf(out, ".\n");
        add_table(out, c + 1, end_of(c));
    }
}
