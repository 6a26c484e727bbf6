/* What other rooms need of the algebra beside the public functions: tables that kernels look up.
 * Must not know: programs, memory. */
#ifndef HG_ATLAS_ATLAS_H
#define HG_ATLAS_ATLAS_H

#include <hologram/atlas.h>

/* Rows of sorted neighbours; where a class has 5, the sixth is 0xFF. */
extern const uint8_t hg_neighbour_table[HG_CLASS_COUNT][HG_CLASS_NEIGHBOURS];

/* The torus sizes that orbits know, rising. */
enum { HG_TORUS_SIZES = 11 };
extern const uint32_t hg_torus_sizes[HG_TORUS_SIZES];

#endif
