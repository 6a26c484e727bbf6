/* The binary container's numbers, and the sections as bytes (language.md 7). Must not know: text
 * syntax, verification. */
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
    HG_SECTION_EXPRESSIONS,
    HG_SECTION_END
};
enum {
    HG_CONTAINER_HEADER = 64,
    HG_CONTAINER_ENTRY = 24,
    HG_CONTAINER_HASH = 24,
    HG_CONTAINER_MAJOR = 1,
    HG_CONTAINER_MINOR = 3, /* the highest; a program is written as the lowest that it needs */
    HG_ADDRESS_INDEX = 1,   /* bits of an address */
    HG_ADDRESS_SCALE = 2,
    HG_FLAG_RELAXED = 1
};
#define HG_CONTAINER_MAGIC \
    "\x89"                 \
    "ATLASB\n"
#define HG_PROGRAM_HASH_DOMAIN "ATLASB\0\1" /* 8 bytes */

/* Minor version that a program needs: 1 for what its sections hold, 2 for operands of instructions
 * as below, 3 for instructions that versions before it do not have. */
uint32_t hg_container_minor(const hg_program *p);
uint32_t hg_container_sections_minor(const hg_program *p);
/* Below minor version 2 a literal of what an instruction calculates in (HG_R_WIDE) has the type of
 * the elements. Whether it is f16 or bf16 there. */
static inline bool hg_container_narrow(const hg_inst *in, const hg_operand_info *info) {
    return info->kind == HG_K_LITERAL && info->rule == HG_R_WIDE &&
           hg_wide_type(in->type) != (hg_type)in->type;
}
/* Continues the program hash with one section. */
void hg_hash_section(hg_blake3 *h, uint32_t kind, const void *bytes, uint64_t size);
void hg_hash_begin(hg_blake3 *h, uint32_t flags);

/* Below minor version 2 a literal 0 of an operand that is missing where it is left out (HG_OR_NONE)
 * stood for that. */
bool hg_container_zero(const hg_program *p, const hg_inst *in, const hg_operand_info *info,
                       const hg_operand *o);

#endif
