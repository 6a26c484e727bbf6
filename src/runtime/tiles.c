/* Sizes of tiles of a backend: those that were measured on its device, from the file of that
 * device, else the table's. The file only saves time: one that cannot be read, or is of another
 * device, is as none.
 * Must not know: what a size is used for. */
#include "base/host.h"
#include "library/library.h"
#include "runtime/backend.h"
#include <stdio.h>
#include <string.h>

static const char *const KINDS[LIBRARY_TILES_KINDS] = {"device", "baseline", "v3",
                                                       "v4",     "serial",   "joining"};

library_tiles hg_backend_tile_presets(const hg_backend *b) {
    return library_tiles_of((library_tile_kind)b->caps->hints.tile_kind);
}
library_tiles *hg_backend_tiles(hg_backend *b) { return &b->tiles; }

/* ---- which file, and what must stand in it ---- */

static void add_digest(const uint8_t digest[32], hg_text *text) {
    for (int i = 0; i < 8; i++) hg_text_addf(text, "%02x", digest[i]);
}

static void name_device(const hg_backend *b, hg_text *text) {
    char host[HG_HOST_TEXT];
    hg_host_text(NULL, 0, host);
    hg_text_addf(text, "%s, level %s, %s%sprocessor %s", b->driver->name,
                 KINDS[b->caps->hints.tile_kind], b->caps->identity,
                 b->caps->identity[0] ? ", " : "", host);
}

hg_status hg_backend_tile_device(const hg_backend *b, char **device) {
    uint8_t digest[32];
    hg_text text = {0};
    name_device(b, &text);
    library_digest(digest);
    hg_text_addf(&text, ", library programs ");
    add_digest(digest, &text);
    if (text.failed) hg_text_free(&text);
    *device = text.data;
    return *device ? HG_OK : hg_fail_memory();
}

hg_status hg_backend_tile_file(const hg_backend *b, char **path) {
    uint8_t digest[32];
    const char *given = hg_config_env("HOLOGRAM_TILES");
    hg_text text = {0}, device = {0};
    hg_blake3 h;
    if (strcmp(given, "auto") != 0)
        hg_text_addf(&text, "%s", strcmp(given, "off") == 0 ? "" : given);
    else if (b->paths.cache[0]) {
        name_device(b, &device);
        hg_blake3_init(&h);
        if (!device.failed) hg_blake3_update(&h, device.data, device.length);
        hg_blake3_final(&h, digest);
        hg_text_addf(&text, "%s/tiles-", b->paths.cache);
        add_digest(digest, &text);
        hg_text_addf(&text, ".txt");
    }
    hg_text_add(&text, "", 0);
    text.failed |= device.failed;
    hg_text_free(&device);
    if (text.failed) hg_text_free(&text);
    *path = text.data;
    return *path ? HG_OK : hg_fail_memory();
}

/* ---- reading it ---- */

hg_status hg_backend_tiles_read(const hg_backend *b, library_tiles *tiles,
                                char why[LIBRARY_TILES_WHY]) {
    enum { MOST_BYTES = 8192 };
    char *path, *device = NULL, text[MOST_BYTES];
    HG_TRY(hg_backend_tile_file(b, &path));
    size_t length = 0;
    if (*path && !hg_host_privileged()) (void)hg_host_read(path, text, sizeof text, &length);
    hg_free(path);
    *tiles = hg_backend_tile_presets(b);
    snprintf(why, LIBRARY_TILES_WHY, "there is none");
    if (length == 0) return HG_OK;
    HG_TRY(hg_backend_tile_device(b, &device));
    if (library_tiles_read(text, length, device, tiles, why)) why[0] = 0;
    hg_free(device);
    return HG_OK;
}

hg_status hg_backend_tiles_open(hg_backend *b) {
    char why[LIBRARY_TILES_WHY];
    return hg_backend_tiles_read(b, &b->tiles, why);
}
