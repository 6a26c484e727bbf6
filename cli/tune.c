/* hologram tune: measures sizes of tiles on a device, and keeps the best of them in the device's
 * file. */
#include "clients/tune.h"
#include "device.h"
#include "launch.h"
#include "runtime/client.h"
#include <stdio.h>
#include <string.h>

typedef struct tune_options {
    const char *backend, *only;
    bool list, reset;
} tune_options;

static bool is_wanted(const tune_options *o, const library_tile_info *info) {
    return !o->only || strncmp(info->name, o->only, strlen(o->only)) == 0;
}

static bool check_only(cli *c, const tune_options *o) {
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++)
        if (is_wanted(o, library_tile_get((library_tile)i))) return true;
    cli_usage(c, "--only: no size has a name that begins with '%s'", o->only);
    return false;
}

/* ---- as they are ---- */

static void list_json(cli *c, const library_tile_info *info, uint16_t size, uint16_t preset) {
    hg_json json;
    cli_json_item(c, &json);
    hg_json_add_text(&json, "name", info->name);
    hg_json_add_u64(&json, "size", size);
    hg_json_add_u64(&json, "preset", preset);
    hg_json_add_text(&json, "about", info->about);
    hg_json_end_object(&json);
}

static hg_status list_sizes(cli *c, hg_backend *b, const tune_options *o) {
    library_tiles tiles, presets = hg_backend_tile_presets(b);
    char why[LIBRARY_TILES_WHY], *path = NULL;
    HG_TRY(hg_backend_tile_file(b, &path));
    hg_status status = hg_backend_tiles_read(b, &tiles, why);
    if (status == HG_OK && !c->json) {
        cli_out(c, "%s%s%s\n", *path ? path : "no file is kept", *path && why[0] ? ": " : "",
                *path ? why : "");
        cli_out(c, "%-20s %6s %7s  %s\n", "size", "", "preset", "what it is");
    }
    for (int i = 0; i < LIBRARY_TILE_COUNT && status == HG_OK; i++) {
        const library_tile_info *info = library_tile_get((library_tile)i);
        if (!is_wanted(o, info)) continue;
        if (c->json)
            list_json(c, info, tiles.sizes[i], presets.sizes[i]);
        else
            cli_out(c, "%-20s %6u %7u  %s\n", info->name, (unsigned)tiles.sizes[i],
                    (unsigned)presets.sizes[i], info->about);
    }
    hg_free(path);
    return status;
}

/* ---- measuring ---- */

static void add_json(cli *c, const hg_tune_result *r) {
    hg_json json;
    char text[40];
    cli_json_item(c, &json);
    hg_json_add_text(&json, "name", library_tile_get(r->tile)->name);
    hg_json_add_u64(&json, "before", r->before);
    hg_json_add_u64(&json, "after", r->after);
    hg_json_key(&json, "tries");
    hg_json_begin_array(&json);
    for (uint32_t i = 0; i < r->count; i++) {
        hg_json_begin_object(&json);
        hg_json_add_u64(&json, "size", r->tries[i].size);
        int length = snprintf(text, sizeof text, "%.9g", r->tries[i].relative);
        hg_json_key(&json, "relative_time");
        hg_json_literal(&json, text, (size_t)length);
        hg_json_end_object(&json);
    }
    hg_json_end_array(&json);
    hg_json_end_object(&json);
}

static hg_status print_row(const hg_tune_result *r) {
    char text[400];
    size_t length = (size_t)snprintf(text, sizeof text, "%-20s %4u -> %-4u %8.3f ms ",
                                     library_tile_get(r->tile)->name, (unsigned)r->before,
                                     (unsigned)r->after, r->ms);
    for (uint32_t i = 0; i < r->count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %u: %.2f",
                                   (unsigned)r->tries[i].size, r->tries[i].relative);
    text[length++] = '\n';
    return cli_print_now(text, length);
}

static const hg_tune_calls CALLS = {.write = cli_device_write, .launch = cli_device_launch};

static hg_status measure(cli *c, hg_backend *b, const tune_options *o) {
    char head[100], *path = NULL;
    int length = snprintf(head, sizeof head, "%-20s %12s %11s  %s\n", "size", "old -> new",
                          "with old", "time of each size, old: 1");
    if (!c->json) HG_TRY(cli_print_now(head, (size_t)length));
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++) {
        hg_tune_result result;
        if (!is_wanted(o, library_tile_get((library_tile)i))) continue;
        HG_TRY(hg_tune(b, &CALLS, (library_tile)i, &result));
        if (c->json)
            add_json(c, &result);
        else
            HG_TRY(print_row(&result));
    }
    HG_TRY(hg_tune_write(b, &path));
    if (!c->json && *path) cli_out(c, "written to %s\n", path);
    if (!c->json && !*path) cli_out(c, "not written: no file is kept\n");
    hg_free(path);
    return HG_OK;
}

static hg_status reset(cli *c, hg_backend *b) {
    char *path = NULL;
    HG_TRY(hg_tune_reset(b, &path));
    if (!c->json) cli_out(c, *path ? "%s is gone\n" : "no file is kept\n", path);
    hg_free(path);
    return HG_OK;
}

/* ---- the command ---- */

static void tune(cli *c, const tune_options *o) {
    hg_config config;
    hg_backend *b = NULL;
    hg_status status = hg_config_load(NULL, &config);
    if (status == HG_OK && o->backend &&
        !cli_read_device(c, "--backend", o->backend, strlen(o->backend), &config))
        return;
    hg_tune_configure(&config);
    if (status == HG_OK) status = cli_device_open(&config, &b);
    if (status == HG_OK)
        status = o->list ? list_sizes(c, b, o) : o->reset ? reset(c, b) : measure(c, b, o);
    if (status != HG_OK) cli_last_error(c);
    hg_backend_destroy(b);
}

int command_tune(int argc, char **argv) {
    cli c = {0};
    tune_options o = {0};
    const cli_option options[] = {{"--backend", &o.backend, NULL},
                                  {"--only", &o.only, NULL},
                                  {"--list", NULL, &o.list},
                                  {"--reset", NULL, &o.reset}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (c.arguments.count)
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
    else if (o.list && o.reset)
        cli_usage(&c, "--list and --reset exclude each other");
    else if (check_only(&c, &o))
        tune(&c, &o);
    return cli_finish(&c);
}
