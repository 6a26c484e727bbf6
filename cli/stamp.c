/* `hologram run --stamp`: what made a result, beside it: FILE.stamp, one JSON object. Must not
 * know: how it ran. */
#include "stamp.h"
#include "runtime/backend.h"
#include "tile/tile.h"
#include <hologram/version.h>
#include <string.h>
#include <sys/stat.h>

static void add_hash(hg_json *json, const char *key, const uint8_t hash[32]) {
    char text[65];
    cli_hash_text(hash, text);
    hg_json_add_text(json, key, text);
}

/* What was run; the parameters of a graph are a program without code. */
static void add_source(hg_json *json, const cli *c) {
    if (c->file) hg_json_add_text(json, "file", c->file);
    if (c->graph) {
        hg_json_add_text(json, "graph", hg_program_name(c->program));
    } else {
        const hg_program *p = c->circuit.program ? c->circuit.program : c->program;
        hg_json_add_text(json, "program", hg_program_name(p));
        add_hash(json, "program_blake3", hg_program_hash(p));
    }
}

/* The level of the CPU whose code ran; of a device its driver has the say. */
static const char *level_of(const hg_backend *b) {
    if (strcmp(b->driver->name, "cpu") != 0) return NULL;
    return b->config.cpu_level[0] ? b->config.cpu_level : tile_level_name(tile_level_best());
}

/* Of several devices that shared the lanes the first one is described. */
static void add_device(hg_json *json, const cli *c, const hg_backend *b) {
    hg_device_info info;
    const char *level = level_of(b);
    hg_json_add_text(json, "backend", c->shared_by ? c->shared_by : b->driver->name);
    if (hg_backend_device(b, &info) == HG_OK) {
        hg_json_add_text(json, "device", info.name);
        hg_json_add_text(json, "driver", info.driver);
        hg_json_add_bool(json, "exact", info.exact);
    }
    if (level) hg_json_add_text(json, "level", level);
    hg_json_add_bool(json, "deterministic", b->config.deterministic);
}

static void write_stamp(const cli *c, const hg_backend *b, const uint8_t *result, hg_json *json) {
    hg_json_begin_object(json);
    hg_json_add_text(json, "hologram", hg_version_text());
    hg_json_add_u64(json, "bits", hg_bits_version());
    add_device(json, c, b);
    add_source(json, c);
    if (result) add_hash(json, "blake3", result);
    hg_json_end_object(json);
}

hg_status cli_stamp_add(const cli *c, const hg_backend *b, const char *path, const uint8_t *result,
                        hg_outputs *outputs) {
    hg_text text = {0}, name = {0};
    hg_json json = {.out = &text};
    const char *raw = hg_path_of_raw(path);
    struct stat found;
    if (stat(raw ? raw : path, &found) == 0 && !S_ISREG(found.st_mode)) return HG_OK; /* a pipe */
    write_stamp(c, b, result, &json);
    hg_text_addf(&text, "\n");
    hg_text_addf(&name, "%s.stamp", raw ? raw : path);
    const hg_file_part part = {.data = text.data, .length = text.length};
    hg_status status = text.failed || name.failed ? hg_fail_memory()
                                                  : hg_outputs_add(outputs, name.data, &part, 1);
    hg_text_free(&text);
    hg_text_free(&name);
    return status;
}

void cli_stamp_print(const cli *c, const hg_backend *b, hg_text *out) {
    const char *level = level_of(b);
    hg_text_addf(out, "stamp: hologram %s, bits %u, %s%s%s%s\n", hg_version_text(),
                 (unsigned)hg_bits_version(), c->shared_by ? c->shared_by : b->driver->name,
                 level ? " at " : "", level ? level : "",
                 b->config.deterministic ? ", deterministic" : "");
}
