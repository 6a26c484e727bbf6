/* Command-line options: --name VALUE, --name=VALUE, flags, NAME=VALUE pairs, positional arguments.
 */
#include "cli.h"
#include "table.h"
#include "base/nearest.h"
#include "code/compiler.h"
#include "driver/capsets.h"
#include <stdio.h>
#include <string.h>

/* A usage error with the nearest option that the command has. */
static void unknown_option(cli *c, const cli_row *command, const char *text) {
    hg_nearest nearest;
    hg_nearest_init(&nearest, text, strcspn(text, "="));
    cli_rows rows = cli_rows_of(command);
    for (const cli_row *row; (row = cli_rows_next(&rows));)
        if (cli_row_is_option(row)) hg_nearest_try(&nearest, row->name);
    const char *hint = hg_nearest_hint(&nearest);
    cli_usage(c, "unknown option '%s' (%s%s`hologram %s --help` lists them)", text,
              hint ? hint : "", hint ? " " : "", command->name);
}

static bool push_pair(cli *c, const char *option, const char *text, size_t length,
                      const char *value) {
    char *name = hg_calloc(1, length + 1);
    cli_pair *pair = name ? hg_vec_push(&c->pairs) : NULL;
    if (!pair) {
        hg_free(name);
        (void)hg_fail_memory();
        cli_last_error(c);
        return false;
    }
    memcpy(name, text, length);
    *pair = (cli_pair){option, name, value};
    return true;
}

/* may_lack: "[N=]FILE", where a value alone has an empty name. */
static bool add_pair(cli *c, const char *option, const char *text, bool may_lack) {
    const char *equals = strchr(text, '=');
    if (!equals && may_lack) return push_pair(c, option, "", 0, text);
    if (!equals || equals == text) {
        cli_usage(c, "%s expects NAME=VALUE, got '%s'", option, text);
        return false;
    }
    size_t length = (size_t)(equals - text);
    for (uint64_t i = 0; i < c->pairs.count; i++) {
        const cli_pair *p = &c->pairs.data[i];
        if (strcmp(p->option, option) == 0 && strlen(p->name) == length &&
            memcmp(p->name, text, length) == 0) {
            cli_usage(c, "%s %s is given twice", option, p->name);
            return false;
        }
    }
    return push_pair(c, option, text, length, equals + 1);
}

/* Where a flag or value goes: of the command itself, or what every command has. */
static const cli_option *find_place(cli *c, const cli_row *row, const cli_option *options,
                                    size_t count, cli_option *common) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(options[i].name, row->name) == 0) return &options[i];
    *common = (cli_option){row->name, NULL, NULL};
    if (strcmp(row->name, "--json") == 0) common->flag = &c->json;
    if (strcmp(row->name, "--quiet") == 0) common->flag = &c->quiet;
    if (strcmp(row->name, "--max-errors") == 0) common->value = &c->max_errors;
    if (strcmp(row->name, "--program") == 0) common->value = &c->program_name;
    if (strcmp(row->name, "--kernel") == 0) common->value = &c->kernel;
    return common;
}

static bool push_text(cli *c, const char ***data, uint64_t *count, uint64_t *capacity,
                      const char *text) {
    const char **slot = hg_vec_last((void **)data, count, capacity, sizeof *slot);
    if (slot) {
        *slot = text;
        return true;
    }
    (void)hg_fail_memory();
    cli_last_error(c);
    return false;
}
#define PUSH(vec, text) push_text(c, &(vec).data, &(vec).count, &(vec).capacity, text)

static bool take(cli *c, const cli_row *row, const cli_option *place, const char *value) {
    if (strcmp(row->name, "--define") == 0) return PUSH(c->defines, value);
    if (strcmp(row->name, "-I") == 0) return PUSH(c->include_folders, value);
    if (row->kind == CLI_ROW_PAIR) return add_pair(c, row->name, value, row->value[0] == '[');
    if (!place->value || *place->value) {
        cli_usage(c, place->value ? "%s is given twice" : "%s has no place in the command",
                  row->name);
        return false;
    }
    *place->value = value;
    return true;
}

/* Options by the names that they had, for one release. */
static const cli_row *find_old(cli *c, const cli_row *command, const char *text, size_t length) {
    static const struct { const char *old, *now; } NAMES[] = {{"--native", "--vendor"}};
    for (size_t i = 0; i < HG_COUNT_OF(NAMES); i++) {
        if (strlen(NAMES[i].old) != length || strncmp(NAMES[i].old, text, length) != 0) continue;
        if (!c->json && !c->quiet)
            fprintf(stderr, "hologram %s: %s is called %s now\n", c->command, NAMES[i].old,
                    NAMES[i].now);
        return cli_option_find(command, NAMES[i].now, strlen(NAMES[i].now));
    }
    return NULL;
}

/* Settings of the environment by the names that they had. */
static void say_old_variables(const cli *c) {
    if (*hg_config_env("HOLOGRAM_NATIVE") && !c->json && !c->quiet)
        fprintf(stderr, "hologram %s: HOLOGRAM_NATIVE is called HOLOGRAM_VENDOR now\n", c->command);
}

/* An option at argv[*i], with its value behind it or behind its '='. */
static bool take_option(cli *c, int argc, char **argv, int *i, const cli_option *options,
                        size_t count) {
    const char *a = argv[*i];
    const cli_row *command = cli_command_find(c->command);
    const char *equals = strncmp(a, "--", 2) == 0 ? strchr(a, '=') : NULL;
    size_t length = equals ? (size_t)(equals - a) : strlen(a);
    const cli_row *row = cli_option_find(command, a, length);
    if (!row) row = find_old(c, command, a, length);
    if (!row) {
        unknown_option(c, command, a);
        return false;
    }
    cli_option common;
    const cli_option *place = find_place(c, row, options, count, &common);
    if (row->kind == CLI_ROW_FLAG) {
        if (equals || !place->flag) {
            cli_usage(c, equals ? "%s takes no value" : "%s has no place in the command",
                      row->name);
            return false;
        }
        *place->flag = true;
        return true;
    }
    if (!equals && *i + 1 == argc) {
        cli_usage(c, "%s expects a value: %s", row->name, row->value);
        return false;
    }
    return take(c, row, place, equals ? equals + 1 : argv[++*i]);
}

static const char *command_name; /* of the process, for a line that a library's thread asks for */

static void say_slow(const char *kernel) {
    fprintf(stderr, "hologram %s: waiting for the driver's compiler (kernel '%s')\n", command_name,
            kernel);
}

bool cli_parse(cli *c, int argc, char **argv, const cli_option *options, size_t count) {
    c->command = argv[0];
    for (int i = 1; i < argc; i++) /* known early: usage errors obey it too */
        if (strcmp(argv[i], "--json") == 0) c->json = true;
    bool only_arguments = false;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (only_arguments || a[0] != '-' || a[1] == '\0') {
            if (!PUSH(c->arguments, a)) return false;
        } else if (strcmp(a, "--") == 0) {
            only_arguments = true;
        } else if (!take_option(c, argc, argv, &i, options, count)) {
            return false;
        }
    }
    say_old_variables(c);
    command_name = c->command;
    hg_compiler_watch(c->json || c->quiet ? NULL : say_slow, 1000);
    uint64_t most = 20;
    if (!cli_number(c, "--max-errors", c->max_errors, UINT32_MAX, &most)) return false;
    c->diagnostics = hg_diagnostics_create((uint32_t)most);
    return true;
}

bool cli_read_number(const char *text, size_t length, uint64_t most, uint64_t *value) {
    uint64_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '_' && i && i + 1 < length && text[i + 1] != '_') continue;
        if (text[i] < '0' || text[i] > '9') return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (n > most / 10 || (n == most / 10 && digit > most % 10)) return false;
        n = n * 10 + digit;
    }
    if (length) *value = n;
    return length != 0;
}

bool cli_number(cli *c, const char *option, const char *text, uint64_t most, uint64_t *value) {
    if (!text || cli_read_number(text, strlen(text), most, value)) return true;
    cli_usage(c, "%s expects a number up to %llu, got '%s'", option, (unsigned long long)most,
              text);
    return false;
}

bool cli_triple(cli *c, const char *option, const char *text, uint32_t value[3]) {
    if (!text) return true;
    uint64_t n[3] = {0, 1, 1};
    const char *p = text;
    int parts = 0;
    bool good = true;
    for (;;) {
        if (parts == 3 || *p < '0' || *p > '9') {
            good = false;
            break;
        }
        n[parts] = 0;
        while (*p >= '0' && *p <= '9' && n[parts] <= UINT32_MAX)
            n[parts] = n[parts] * 10 + (uint64_t)(*p++ - '0');
        good = n[parts++] <= UINT32_MAX;
        if (!good || *p != ',') break;
        p++;
    }
    if (!good || *p) {
        cli_usage(c, "%s expects X, X,Y or X,Y,Z of numbers below 2^32, got '%s'", option, text);
        return false;
    }
    for (int i = 0; i < 3; i++) value[i] = (uint32_t)n[i];
    return true;
}

bool cli_find_caps(cli *c, const char *name, struct hg_capset *set) {
    char known[256];
    if (hg_capset_find(name, set)) return true;
    hg_capset_names(known, sizeof known);
    cli_usage(c, "--caps expects one of %s, got '%s'", known, name);
    return false;
}
