/* Command-line options: --name VALUE, --name=VALUE, flags, NAME=VALUE pairs, positional arguments. */
#include "cli.h"
#include "driver/capsets.h"
#include <string.h>

static const cli_option *find(const cli_option *options, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(options[i].name, name, length) == 0 && options[i].name[length] == '\0') return &options[i];
    return NULL;
}

static bool add_pair(cli *c, const char *option, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        cli_usage(c, "%s expects NAME=VALUE, got '%s'", option, text);
        return false;
    }
    size_t length = (size_t)(equals - text);
    for (uint64_t i = 0; i < c->pairs.count; i++) {
        const cli_pair *p = &c->pairs.data[i];
        if (strcmp(p->option, option) == 0 && strlen(p->name) == length && memcmp(p->name, text, length) == 0) {
            cli_usage(c, "%s %s is given twice", option, p->name);
            return false;
        }
    }
    char *name = hg_calloc(1, length + 1);
    cli_pair *pair = name ? hg_vec_push(&c->pairs) : NULL;
    if (!pair) {
        hg_free(name);
        (void)hg_fail_memory();
        cli_last_error(c);
        return false;
    }
    memcpy(name, text, length);
    *pair = (cli_pair){option, name, equals + 1};
    return true;
}

static bool take(cli *c, const cli_option *o, const char *value) {
    if (o->pair) return add_pair(c, o->name, value);
    if (*o->value) {
        cli_usage(c, "%s is given twice", o->name);
        return false;
    }
    *o->value = value;
    return true;
}

static bool add_argument(cli *c, const char *text) {
    const char **slot = hg_vec_push(&c->arguments);
    if (slot)
        *slot = text;
    else {
        (void)hg_fail_memory();
        cli_last_error(c);
    }
    return slot != NULL;
}

bool cli_parse(cli *c, int argc, char **argv, const cli_option *options, size_t count) {
    c->command = argv[0];
    for (int i = 1; i < argc; i++) /* known early: usage errors obey it too */
        if (strcmp(argv[i], "--json") == 0) c->json = true;
    bool only_arguments = false;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (only_arguments || a[0] != '-' || a[1] == '\0') {
            if (!add_argument(c, a)) return false;
            continue;
        }
        if (strcmp(a, "--") == 0) {
            only_arguments = true;
            continue;
        }
        if (strcmp(a, "--json") == 0) continue;
        const char *equals = strncmp(a, "--", 2) == 0 ? strchr(a, '=') : NULL;
        const cli_option *o = find(options, count, a, equals ? (size_t)(equals - a) : strlen(a));
        if (!o && strncmp(a, "--max-errors", 12) == 0 && (a[12] == '=' || (a[12] == '\0' && i + 1 < argc))) {
            c->max_errors = a[12] == '=' ? a + 13 : argv[++i];
            continue;
        }
        if (!o && strncmp(a, "--kernel", 8) == 0 && (a[8] == '=' || (a[8] == '\0' && i + 1 < argc))) {
            c->kernel = a[8] == '=' ? a + 9 : argv[++i];
            continue;
        }
        if (!o) {
            cli_usage(c, "unknown option '%s'", a);
            return false;
        }
        if (o->flag) {
            if (equals) {
                cli_usage(c, "%s takes no value", o->name);
                return false;
            }
            *o->flag = true;
            continue;
        }
        if (!equals && i + 1 == argc) {
            cli_usage(c, "%s expects a value", o->name);
            return false;
        }
        if (!take(c, o, equals ? equals + 1 : argv[++i])) return false;
    }
    uint64_t most = 20;
    if (!cli_number(c, "--max-errors", c->max_errors, UINT32_MAX, &most)) return false;
    c->diagnostics = hg_diagnostics_create((uint32_t)most);
    return true;
}

bool cli_number(cli *c, const char *option, const char *text, uint64_t most, uint64_t *value) {
    if (!text) return true;
    uint64_t n = 0;
    bool good = *text != '\0';
    for (const char *p = text; *p && good; p++) {
        if (*p == '_' && p != text && p[1] >= '0' && p[1] <= '9') continue;
        good = *p >= '0' && *p <= '9';
        uint64_t digit = (uint64_t)(*p - '0');
        if (good) good = n < most / 10 || (n == most / 10 && digit <= most % 10);
        if (good) n = n * 10 + digit;
    }
    if (!good)
        cli_usage(c, "%s expects a number up to %llu, got '%s'", option, (unsigned long long)most, text);
    else
        *value = n;
    return good;
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
        while (*p >= '0' && *p <= '9' && n[parts] <= UINT32_MAX) n[parts] = n[parts] * 10 + (uint64_t)(*p++ - '0');
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
