/* Completion scripts of bash, zsh and fish from the table of commands. They run nothing when they
 * complete. */
#include "help.h"
#include "driver/capsets.h"
#include "driver/driver.h"
#include <string.h>

typedef enum value_kind { VALUE_OTHER, VALUE_FILE, VALUE_PAIR_OF_FILE, VALUE_WORDS } value_kind;

/* What may follow an option; words: separated by blanks. */
static value_kind kind_of(const cli_row *row, hg_text *words) {
    const char *value = row->value ? row->value : "";
    if (strcmp(value, "FILE") == 0 || strcmp(value, "DIR") == 0) return VALUE_FILE;
    if (strcmp(value, "N=FILE") == 0 || strcmp(value, "[N=]FILE") == 0) return VALUE_PAIR_OF_FILE;
    if (strcmp(value, "BACKEND") == 0) {
        hg_text_addf(words, "auto");
        for (uint32_t i = 0; i < hg_driver_count; i++)
            hg_text_addf(words, " %s", hg_drivers[i]->name);
        return VALUE_WORDS;
    }
    if (strcmp(value, "CAPS") == 0) {
        for (uint32_t i = 0; i < hg_capset_count(); i++) {
            hg_capset set;
            hg_capset_get(i, &set);
            hg_text_addf(words, "%s%s", i ? " " : "", set.name);
        }
        return VALUE_WORDS;
    }
    if (!strchr(value, '|')) return VALUE_OTHER;
    for (; *value; value++) hg_text_addf(words, "%c", *value == '|' ? ' ' : *value);
    return VALUE_WORDS;
}

/* The words that may be the first argument of a command; "": files. */
static void first_words(const cli_row *command, hg_text *words) {
    cli_rows rows = cli_rows_of(command);
    for (const cli_row *row; (row = cli_rows_next(&rows));)
        if (row->kind == CLI_ROW_WORD)
            hg_text_addf(words, "%s%s", words->length ? " " : "", row->name);
    if (strcmp(command->name, "help") != 0) return;
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c))
        hg_text_addf(words, "%s%s", words->length ? " " : "", c->name);
}

static bool takes_arguments(const cli_row *command) { return command->value[0] != '\0'; }

/* In single quotes of a shell; what: the characters of `special` get a backslash. */
static void add_quoted(hg_text *out, const char *text, const char *special) {
    for (; *text; text++) {
        if (*text == '\'')
            hg_text_addf(out, "%s", "'\\''");
        else
            hg_text_addf(out, "%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

/* ---- bash ---- */

static void bash_values(hg_text *out, const cli_row *command) {
    cli_rows rows = cli_rows_of(command);
    for (const cli_row *row; (row = cli_rows_next(&rows));) {
        hg_text words = {0};
        value_kind kind = cli_row_is_option(row) ? kind_of(row, &words) : VALUE_OTHER;
        if (kind == VALUE_WORDS)
            hg_text_addf(
                out, "        %s:%s) COMPREPLY=($(compgen -W '%s' -- \"$current\")); return ;;\n",
                command->name, row->name, words.data);
        hg_text_free(&words);
    }
}

static void complete_bash(hg_text *out) {
    hg_text_addf(out, "%s",
                 "# bash completion of hologram\n_hologram() {\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
                 "options= first=\n    COMPREPLY=()\n"
                 "    if [ \"$current\" = = ]; then current=\n"
                 "    elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c))
        hg_text_addf(out, "%s ", c->name);
    hg_text_addf(out, "%s",
                 "--help --version' -- \"$current\"))\n        return\n    fi\n    case "
                 "${COMP_WORDS[1]}:$before in\n");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c)) bash_values(out, c);
    hg_text_addf(out, "%s", "    esac\n    case ${COMP_WORDS[1]} in\n");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c)) {
        hg_text first = {0};
        first_words(c, &first);
        hg_text_addf(out, "        %s) options='", c->name);
        cli_rows rows = cli_rows_of(c);
        const char *before = "";
        for (const cli_row *row; (row = cli_rows_next(&rows));) {
            if (!cli_row_is_option(row)) continue;
            hg_text_addf(out, "%s%s", before, row->name);
            before = " ";
        }
        hg_text_addf(out, "' first='%s' ;;\n", first.data ? first.data : "");
        hg_text_free(&first);
    }
    hg_text_addf(out, "%s",
                 "    esac\n"
                 "    if [ \"${current#-}\" != \"$current\" ]; then COMPREPLY=($(compgen -W "
                 "\"$options\" -- \"$current\"))\n"
                 "    elif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$first\" ]; then "
                 "COMPREPLY=($(compgen -W \"$first\" -- \"$current\"))\n"
                 "    else compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "
                 "\"$current\")); fi\n}\n"
                 "complete -F _hologram hologram\n");
}

/* ---- zsh ---- */

static void zsh_option(hg_text *out, const cli_row *row) {
    hg_text words = {0};
    value_kind kind = kind_of(row, &words);
    hg_text_addf(out, " \\\n            '%s%s[",
                 row->kind == CLI_ROW_PAIR || row->kind == CLI_ROW_MANY ? "*" : "", row->name);
    add_quoted(out, row->what, "[]\\");
    hg_text_addf(out, "]");
    if (row->value) {
        hg_text_addf(out, ":");
        add_quoted(out, row->value, ":\\");
        hg_text_addf(out, ":");
        if (kind == VALUE_FILE) hg_text_addf(out, "_files");
        if (kind == VALUE_PAIR_OF_FILE) hg_text_addf(out, "{compset -P \"*=\"; _files}");
        if (kind == VALUE_WORDS) hg_text_addf(out, "(%s)", words.data);
    }
    hg_text_addf(out, "'");
    hg_text_free(&words);
}

static void complete_zsh(hg_text *out) {
    hg_text_addf(out, "%s",
                 "#compdef hologram\n# zsh completion of hologram\n_hologram() {\n    local -a "
                 "commands\n    commands=(\n");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c)) {
        hg_text_addf(out, "        '%s:", c->name);
        add_quoted(out, c->what, ":\\");
        hg_text_addf(out, "'\n");
    }
    hg_text_addf(out, "%s",
                 "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n     "
                 "   return\n    fi\n"
                 "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case "
                 "$command in\n");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c)) {
        hg_text first = {0};
        first_words(c, &first);
        hg_text_addf(out, "        %s)\n            _arguments", c->name);
        cli_rows rows = cli_rows_of(c);
        for (const cli_row *row; (row = cli_rows_next(&rows));)
            if (cli_row_is_option(row)) zsh_option(out, row);
        if (first.length) hg_text_addf(out, " \\\n            '1:word:(%s)'", first.data);
        if (takes_arguments(c)) hg_text_addf(out, " \\\n            '*:file:_files'");
        hg_text_addf(out, " ;;\n");
        hg_text_free(&first);
    }
    hg_text_addf(out, "%s",
                 "    esac\n}\nif [ \"$funcstack[1]\" = _hologram ]; then _hologram \"$@\"; else "
                 "compdef _hologram hologram; fi\n");
}

/* ---- fish ---- */

static void fish_option(hg_text *out, const cli_row *command, const cli_row *row) {
    hg_text words = {0};
    value_kind kind = kind_of(row, &words);
    bool is_long = strncmp(row->name, "--", 2) == 0;
    hg_text_addf(out, "complete -c hologram -n '__fish_seen_subcommand_from %s' -%c %s",
                 command->name, is_long ? 'l' : 's', row->name + (is_long ? 2 : 1));
    if (row->value)
        hg_text_addf(out, kind == VALUE_FILE || kind == VALUE_PAIR_OF_FILE ? " -r -F" : " -x");
    if (kind == VALUE_WORDS) hg_text_addf(out, " -a '%s'", words.data);
    hg_text_addf(out, " -d '");
    add_quoted(out, row->what, "\\");
    hg_text_addf(out, "'\n");
    hg_text_free(&words);
}

static void complete_fish(hg_text *out) {
    hg_text_addf(out, "# fish completion of hologram\ncomplete -c hologram -f\n");
    for (const cli_row *c = cli_command_first(); c; c = cli_command_next(c)) {
        hg_text first = {0};
        first_words(c, &first);
        hg_text_addf(out, "complete -c hologram -n __fish_use_subcommand -a %s -d '", c->name);
        add_quoted(out, c->what, "\\");
        hg_text_addf(out, "'\n");
        if (first.length)
            hg_text_addf(out, "complete -c hologram -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                         c->name, first.data);
        if (takes_arguments(c) && strcmp(c->name, "help") != 0)
            hg_text_addf(out, "complete -c hologram -n '__fish_seen_subcommand_from %s' -F\n",
                         c->name);
        cli_rows rows = cli_rows_of(c);
        for (const cli_row *row; (row = cli_rows_next(&rows));)
            if (cli_row_is_option(row)) fish_option(out, c, row);
        hg_text_free(&first);
    }
}

bool help_completion(hg_text *out, const char *shell_name) {
    if (strcmp(shell_name, "bash") == 0)
        complete_bash(out);
    else if (strcmp(shell_name, "zsh") == 0)
        complete_zsh(out);
    else if (strcmp(shell_name, "fish") == 0)
        complete_fish(out);
    else
        return false;
    return true;
}
