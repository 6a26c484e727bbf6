/* Lanes of a program that devices share: each lane writes its own elements and nothing else, so a
 * device can do any run of them without the others.
 * Must not know: devices, who does which lanes. */
#ifndef HG_OPTIMIZE_LANES_H
#define HG_OPTIMIZE_LANES_H

#include "isa/program.h"

/* What a program's lanes touch, a bit for each parameter. */
typedef struct optimize_lanes {
    uint64_t read;    /* arrays whose elements lanes load */
    uint64_t others;  /* of those, elements that are not the lane's own too */
    uint64_t written; /* arrays of which a lane stores its own element, and no other */
} optimize_lanes;
enum { OPTIMIZE_LANES_PARAMS = 64 };

/* HG_ERROR_INVALID_ARGUMENT says which instruction may touch what another lane does. */
hg_status optimize_find_lanes(const hg_program *p, optimize_lanes *lanes) HG_NODISCARD;

/* A launch that is cut along the first axis of its arrays, which a scalar is the extent of, so that
 * lanes run with their own part alone: their number is nothing but a place in parts. */
typedef struct optimize_part {
    uint32_t param;          /* the scalar */
    const uint64_t *numbers; /* by parameter: of scalars that are extents; 0: not known */
    uint64_t inner;          /* lanes for each place of the axis */
    uint64_t parts;          /* gives a bit for each array that is cut, each place `inner of` it: */
    uint64_t each[OPTIMIZE_LANES_PARAMS]; /* elements that an array has for a place */
} optimize_part;
/* *apart: whether the launch can be cut so, at any place. */
hg_status optimize_find_part(const hg_program *p, optimize_part *part, bool *apart) HG_NODISCARD;

/* The program with one more scalar, a u64 of that name: its lanes are those from there on. */
#define OPTIMIZE_FIRST_LANE "first_lane"
hg_status optimize_lanes_from(const hg_program *p, hg_program **made) HG_NODISCARD;
/* Devices give what is relaxed each its own bits: both are without `.flag relaxed`. */
enum { OPTIMIZE_RELAXED = 1 };
hg_status optimize_lanes_strict(const hg_program *p, hg_program **made) HG_NODISCARD;

#endif
