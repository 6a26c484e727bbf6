/* The table of tile sizes, and their text. */
#include "library/tiles.h"
#include <stdio.h>
#include <string.h>

static const char HEAD[] = "hologram tile sizes 1";

#define LIBRARY_LIST(...) \
    { __VA_ARGS__ }
static const library_tile_info INFOS[LIBRARY_TILE_COUNT] = {
#define LIBRARY_TILE(id, name, least, most, presets, tries, about, ...) \
    [LIBRARY_TILE_##id] = {name, about, least, most, presets, tries, {__VA_ARGS__}},
#include "library/tiles.def"
#undef LIBRARY_TILE
};

const library_tile_info *library_tile_get(library_tile tile) { return &INFOS[tile]; }

library_tiles library_tiles_of(library_tile_kind kind) {
    library_tiles tiles;
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++)
        tiles.sizes[i] = INFOS[i].preset[kind] ? INFOS[i].preset[kind]
                                               : INFOS[i].preset[LIBRARY_TILES_DEVICE];
    return tiles;
}

/* ---- text ---- */

void library_tiles_print(const library_tiles *tiles, const char *device, hg_text *text) {
    hg_text_addf(text, "%s\ndevice %s\n", HEAD, device);
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++)
        hg_text_addf(text, "%s %u\n", INFOS[i].name, (unsigned)tiles->sizes[i]);
}

/* The next line, without its end; false: there is none. */
static bool next_line(const char **at, const char *end, char line[400]) {
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    if (!stop || stop - *at >= 400) return false;
    memcpy(line, *at, (size_t)(stop - *at));
    line[stop - *at] = 0;
    *at = stop + 1;
    return true;
}

static bool read_size(const char *line, library_tiles *tiles) {
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++) {
        const library_tile_info *info = &INFOS[i];
        size_t length = strlen(info->name);
        uint64_t size;
        if (strncmp(line, info->name, length) != 0 || line[length] != ' ') continue;
        const char *digits = line + length + 1;
        if (!*digits || hg_read_digits(digits, strlen(digits), &size) != strlen(digits))
            return false;
        if (size < info->least || size > info->most) return false;
        tiles->sizes[i] = (uint16_t)size;
        return true;
    }
    return false;
}

bool library_tiles_read(const char *text, size_t length, const char *device, library_tiles *tiles,
                        char why[LIBRARY_TILES_WHY]) {
    library_tiles read = *tiles;
    const char *at = text, *end = text + length;
    char line[400] = "";
    why[0] = 0;
    if (!next_line(&at, end, line) || strcmp(line, HEAD) != 0)
        snprintf(why, LIBRARY_TILES_WHY, "its first line is not '%s'", HEAD);
    else if (!next_line(&at, end, line) || strncmp(line, "device ", 7) != 0 ||
             strcmp(line + 7, device) != 0)
        snprintf(why, LIBRARY_TILES_WHY, "it is of another device or version");
    while (!why[0] && at < end)
        if (!next_line(&at, end, line))
            snprintf(why, LIBRARY_TILES_WHY, "its last line has no end");
        else if (!read_size(line, &read))
            snprintf(why, LIBRARY_TILES_WHY, "line '%.60s' is no size of this library", line);
    if (!why[0]) *tiles = read;
    return !why[0];
}
