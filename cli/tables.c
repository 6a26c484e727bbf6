/* ops, devices, version: tables from the library. */
#include "cli.h"
#include "kir/kir.h"
#include "tile/tile.h"
#include <stdio.h>
#include <string.h>

#define HG_TEXT_OF(x) #x
#define HG_TEXT(x) HG_TEXT_OF(x)
#ifndef HG_VERSION
#define HG_VERSION 0.1.0
#endif

static const char *const TYPE_SETS[] = {"-", "all", "integers", "floats", "i32 u32 i64 u64"};
static const char *const NUMBERS[] = {"exact", "1 ulp", "2 ulp", "bounded"};

static void json_item(cli *c, hg_json *json) {
    if (c->outputs.length) hg_text_addf(&c->outputs, ",");
    json->out = &c->outputs;
    hg_json_begin_object(json);
}

static void add_text(hg_json *json, const char *key, const char *text) {
    hg_json_key(json, key);
    hg_json_text(json, text);
}

static void add_op(cli *c, const hg_op_info *op, const char *how) {
    if (!c->json) {
        cli_out(c, "%04x  %-20s  %-15s  %-7s  %-8s  %s\n", op->opcode, op->text, TYPE_SETS[op->types], NUMBERS[op->numbers], how, op->doc);
        return;
    }
    hg_json json = {0};
    json_item(c, &json);
    hg_json_key(&json, "opcode");
    hg_json_u64(&json, op->opcode);
    add_text(&json, "id", op->id);
    add_text(&json, "mnemonic", op->text);
    add_text(&json, "types", TYPE_SETS[op->types]);
    add_text(&json, "numbers", NUMBERS[op->numbers]);
    add_text(&json, "how", how);
    add_text(&json, "does", op->doc);
    hg_json_end_object(&json);
}

/* Whether the device has the operation itself or through a definition; from the same table that the legaliser reads. */
static const char *how_it_runs(const kir_caps *caps, int op) {
    if (!(hg_op_get((hg_op)op)->flags & HG_F_DERIVED)) return "native";
    return caps->derived[op][HG_TYPE_F32] || caps->derived[op][HG_TYPE_I32] ? "native" : "lowered";
}

int command_ops(int argc, char **argv) {
    cli c = {0};
    const char *backend = NULL;
    const cli_option options[] = {{"--backend", &backend, NULL, false}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (c.arguments.count) {
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
        return cli_finish(&c);
    }
    hg_backend *b = NULL;
    if (hg_backend_create(backend ? backend : "cpu", 0, &b) != HG_OK) {
        cli_last_error(&c);
        return cli_finish(&c);
    }
    kir_caps caps;
    tile_caps(false, &caps);
    if (!c.json) cli_out(&c, "code  mnemonic              types            numbers  %-8s  what it does\n", hg_backend_name(b));
    for (int i = 0; i < HG_OP_COUNT; i++) add_op(&c, hg_op_get((hg_op)i), how_it_runs(&caps, i));
    hg_backend_destroy(b);
    return cli_finish(&c);
}

static void add_device(cli *c, const hg_device_info *d) {
    if (!c->json) {
        if (d->available)
            cli_out(c, "%-8s %u  %s  %s  %u units, blocks up to %u lanes, %llu bytes shared  %s\n", d->backend, d->device, d->name,
                    d->exact ? "exact" : "bounded", d->compute_units, d->max_block_lanes, (unsigned long long)d->max_shared_bytes,
                    d->capabilities);
        else
            cli_out(c, "%-8s -  not available: %s\n", d->backend, d->reason);
        return;
    }
    hg_json json = {0};
    json_item(c, &json);
    add_text(&json, "backend", d->backend);
    hg_json_key(&json, "available");
    hg_json_bool(&json, d->available);
    hg_json_key(&json, "device");
    hg_json_u64(&json, d->device);
    add_text(&json, "name", d->name);
    add_text(&json, "reason", d->reason);
    hg_json_key(&json, "exact");
    hg_json_bool(&json, d->exact);
    hg_json_key(&json, "compute_units");
    hg_json_u64(&json, d->compute_units);
    add_text(&json, "capabilities", d->capabilities);
    hg_json_end_object(&json);
}

int command_devices(int argc, char **argv) {
    cli c = {0};
    hg_device_info devices[64];
    size_t count = 0;
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count)
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
    else if (hg_devices(devices, HG_COUNT_OF(devices), &count) != HG_OK)
        cli_last_error(&c);
    for (size_t i = 0; i < count && i < HG_COUNT_OF(devices); i++) add_device(&c, &devices[i]);
    return cli_finish(&c);
}

int command_version(int argc, char **argv) {
    cli c = {0};
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count) {
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
        return cli_finish(&c);
    }
    const char *level = tile_level_name(tile_level_best());
    if (!c.json) {
        cli_out(&c, "hologram %s\n%d instructions, %d types, CPU level %s\n", HG_TEXT(HG_VERSION), (int)HG_OP_COUNT, (int)HG_TYPE_COUNT,
                level);
        return cli_finish(&c);
    }
    hg_json json = {0};
    json_item(&c, &json);
    add_text(&json, "version", HG_TEXT(HG_VERSION));
    hg_json_key(&json, "instructions");
    hg_json_u64(&json, HG_OP_COUNT);
    add_text(&json, "cpu_level", level);
    hg_json_end_object(&json);
    return cli_finish(&c);
}
