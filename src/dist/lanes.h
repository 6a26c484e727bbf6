/* Lanes of a program that devices share: each lane writes its own elements and nothing else, so a
 * device can do any run of them without the others.
 * Must not know: devices, who does which lanes. */
#ifndef HG_DIST_LANES_H
#define HG_DIST_LANES_H

#include "isa/program.h"

/* What a program's lanes touch, a bit for each parameter. */
typedef struct dist_lanes {
    uint64_t read;    /* arrays whose elements lanes load */
    uint64_t others;  /* of those, elements that are not the lane's own too */
    uint64_t written; /* arrays of which a lane stores its own element, and no other */
} dist_lanes;
enum { DIST_LANES_PARAMS = 64 };

/* HG_ERROR_INVALID_ARGUMENT says which instruction may touch what another lane does. */
hg_status dist_find_lanes(const hg_program *p, dist_lanes *lanes) HG_NODISCARD;

/* The program with one more scalar, a u64 of that name: its lanes are those from there on. */
#define DIST_FIRST_LANE "first_lane"
hg_status dist_lanes_from(const hg_program *p, hg_program **made) HG_NODISCARD;

#endif
