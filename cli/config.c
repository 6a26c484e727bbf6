/* hologram config: what the environment sets, and what holds without it. */
#include "cli.h"
#include <stdlib.h>

static const struct {
    const char *name, *preset, *what;
} VARIABLES[] = {
#define HG_ENV(name, preset, what) {#name, preset, what},
#include "runtime/env.def"
#undef HG_ENV
};

/* As the library reads it: set to nothing is unset, and a program with more rights than who started
 * it has no environment. */
static const char *value_of(size_t i, bool *set) {
    const char *text = secure_getenv(VARIABLES[i].name);
    *set = text && *text;
    return *set ? text : VARIABLES[i].preset;
}

static void add_json(cli *c, size_t i) {
    bool set;
    hg_json json;
    const char *value = value_of(i, &set);
    cli_json_item(c, &json);
    hg_json_add_text(&json, "name", VARIABLES[i].name);
    hg_json_add_text(&json, "value", value);
    hg_json_add_text(&json, "from", set ? "environment" : "default");
    hg_json_add_text(&json, "what", VARIABLES[i].what);
    hg_json_end_object(&json);
}

int command_config(int argc, char **argv) {
    cli c = {0};
    hg_config config;
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count) {
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
        return cli_finish(&c);
    }
    if (hg_config_from_env(&config) != HG_OK) cli_last_error(&c);
    for (size_t i = 0; i < HG_COUNT_OF(VARIABLES); i++) {
        bool set;
        const char *value = value_of(i, &set);
        if (c.json)
            add_json(&c, i);
        else
            cli_out(&c, "%-27s %-12s %-20s %s\n", VARIABLES[i].name,
                    set ? "environment" : "default", *value ? value : "-", VARIABLES[i].what);
    }
    return cli_finish(&c);
}
