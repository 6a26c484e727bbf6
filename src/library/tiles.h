/* Sizes of tiles of library programs: those of a device, the table of them (tiles.def), and their
 * text as a file has it.
 * Must not know: files, devices, what a size is used for. */
#ifndef HG_LIBRARY_TILES_H
#define HG_LIBRARY_TILES_H

#include "base/base.h"

typedef enum library_tile {
#define LIBRARY_TILE(id, ...) LIBRARY_TILE_##id,
#include "library/tiles.def"
#undef LIBRARY_TILE
    LIBRARY_TILE_COUNT
} library_tile;

/* What runs lanes, where nothing was measured. */
typedef enum library_tile_kind {
    LIBRARY_TILES_DEVICE,
    LIBRARY_TILES_BASELINE, /* CPU levels */
    LIBRARY_TILES_V3,
    LIBRARY_TILES_V4,
    LIBRARY_TILES_SERIAL,  /* devices that run lanes one after another, whose compilers make vectors
                              of what a lane does */
    LIBRARY_TILES_JOINING, /* devices whose compilers join accesses of a lane that lie side by side
                            */
    LIBRARY_TILES_KINDS
} library_tile_kind;

typedef struct library_tiles {
    uint16_t sizes[LIBRARY_TILE_COUNT];
} library_tiles;

enum { LIBRARY_MOST_TRIES = 8, LIBRARY_MOST_WORKS = 3 };
typedef struct library_tile_info {
    const char *name, *about;
    uint16_t least, most;
    uint16_t preset[LIBRARY_TILES_KINDS];      /* 0: that of a device */
    uint16_t tries[LIBRARY_MOST_TRIES + 1];    /* 0 behind the last */
    const char *works[LIBRARY_MOST_WORKS + 1]; /* NULL behind the last */
} library_tile_info;
const library_tile_info *library_tile_get(library_tile tile);

/* Without a measurement. */
library_tiles library_tiles_of(library_tile_kind kind);

/* The text of a file: a line that says what it is, `device TEXT`, then `NAME SIZE` for each size.
 */
void library_tiles_print(const library_tiles *tiles, const char *device, hg_text *text);
enum { LIBRARY_TILES_WHY = 160 };
/* Changes only the sizes that the text has. False: it is no such text, or not of that device; then
 * why, and *tiles is as it was. */
bool library_tiles_read(const char *text, size_t length, const char *device, library_tiles *tiles,
                        char why[LIBRARY_TILES_WHY]);

#endif
