/* The character table as kernels read it.
 * Must not know: programs, memory. */
#ifndef HG_ATLAS_CHARACTERS_H
#define HG_ATLAS_CHARACTERS_H

#include <hologram/characters.h>

/* The character table for kernels: 194·194 entries, row-major. bytes: i128 little-endian, the least
 * value (only bit 127 set) where the entry is not rational; real: the real part. Fill in time of a
 * millisecond. */
enum { HG_CHARACTER_ENTRIES = HG_CHARACTER_COUNT * HG_CHARACTER_COUNT };
void hg_character_fill_i128(uint8_t (*bytes)[16]);
void hg_character_fill_f64(double *real);

#endif
