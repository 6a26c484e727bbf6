/* hologram config: what holds, and where it comes from. */
#include "cli.h"

static void show(void *user, const hg_config_item *item) {
    cli *c = user;
    hg_json json;
    if (!c->json) {
        cli_out(c, "%-27s %-15s %-20s %s\n", item->variable, item->origin,
                *item->value ? item->value : "-", item->what);
        return;
    }
    cli_json_item(c, &json);
    hg_json_add_text(&json, "name", item->variable);
    hg_json_add_text(&json, "key", item->key);
    hg_json_add_text(&json, "value", item->value);
    hg_json_add_text(&json, "from", item->origin);
    hg_json_add_text(&json, "what", item->what);
    hg_json_end_object(&json);
}

int command_config(int argc, char **argv) {
    cli c = {0};
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count > 1)
        cli_usage(&c, "expects one file at most, got '%s'", c.arguments.data[1]);
    else if (hg_config_list(c.arguments.count ? c.arguments.data[0] : NULL, show, &c) != HG_OK)
        cli_last_error(&c);
    return cli_finish(&c);
}
