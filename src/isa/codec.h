/* The binary container's numbers, and the sections as bytes (language.md 7). Must not know: text syntax, verification. */
#ifndef HG_ISA_CODEC_H
#define HG_ISA_CODEC_H

#include "isa/program.h"

enum {
    HG_SECTION_CODE = 1,
    HG_SECTION_PARAM,
    HG_SECTION_LAUNCH,
    HG_SECTION_NAMES,
    HG_SECTION_META,
    HG_SECTION_DEBUG,
    HG_SECTION_DATA,
    HG_SECTION_GRID,
    HG_SECTION_PRIVATE,
    HG_SECTION_REGISTERS,
    HG_SECTION_END
};
enum {
    HG_CONTAINER_HEADER = 64,
    HG_CONTAINER_ENTRY = 24,
    HG_CONTAINER_HASH = 24,
    HG_CONTAINER_MAJOR = 1,
    HG_CONTAINER_MINOR = 1, /* the highest; a program that needs nothing of it is written as 0 */
    HG_ADDRESS_INDEX = 1,   /* bits of an address */
    HG_ADDRESS_SCALE = 2,
    HG_FLAG_RELAXED = 1
};
#define HG_CONTAINER_MAGIC \
    "\x89"                 \
    "ATLASB\n"
#define HG_PROGRAM_HASH_DOMAIN "ATLASB\0\1" /* 8 bytes */

/* Minor version that a program needs. */
uint32_t hg_container_minor(const hg_program *p);
/* Continues the program hash with one section. */
void hg_hash_section(hg_blake3 *h, uint32_t kind, const void *bytes, uint64_t size);
void hg_hash_begin(hg_blake3 *h, uint32_t flags);

#endif
