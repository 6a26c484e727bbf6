/* The race checker of --check-races: who touched each byte last.
 * Must not know: kernel IR, how code runs. */
#ifndef HG_TILE_RACES_H
#define HG_TILE_RACES_H

#include "tile/tile_internal.h"

struct tile_races *tile_races_create(hg_budget *budget); /* NULL: out of memory */
/* HG_OK, or why an access could not be looked at: then the launch was stopped. */
hg_status tile_races_status(const struct tile_races *races);
void tile_races_destroy(struct tile_races *races);
/* At the end of a launch without a fault: the first read of shared memory that nobody wrote becomes
 * its fault (KIR_FAULT_UNWRITTEN). */
void tile_races_end(const struct tile_races *races, tile_fault *fault);
/* Notes an access of one lane; true when it is a race, which is then recorded as the lane's fault
 * (KIR_FAULT_RACE). pool, handle: what memory that no parameter names is called. */
bool tile_races_note(tile_frame *frame, const tile_access *access, uint32_t lane,
                     const tile_memory *memory, bool pool, uint64_t handle, uint64_t offset);

#endif
