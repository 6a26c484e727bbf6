/* How many arenas and kernels were destroyed in the process: what was recorded before may name one
 * of them, or another one at its address.
 * Must not know: drivers. */
#include "driver/driver.h"

static uint64_t gone; /* atomic */

void hg_driver_note_gone(void) { hg_atomic_add_fetch(&gone, 1, HG_SEQ_CST); }
uint64_t hg_driver_gone(void) { return hg_atomic_load(&gone, HG_SEQ_CST); }
