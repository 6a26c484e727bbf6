/* What the files of the plan machine share. */
#ifndef HG_RUNTIME_EXECUTE_INTERNAL_H
#define HG_RUNTIME_EXECUTE_INTERNAL_H

#include "runtime/runtime.h"

enum { HG_FAULT_TIMEOUT = 8 };

/* steps.c: performs a whole-array step or pool instruction; arguments come from the environment, a result goes there. */
hg_status hg_run_step(hg_run *run, const plan_step *step) HG_NODISCARD;
/* The range of a pool by the number the program uses: its own choice, or a handle. */
hg_range hg_run_pool(hg_run *run, uint64_t id);
/* Pools the program allocated: ids of its own choice are local to the launch; all go after a failure. */
void hg_run_end_pools(hg_run *run, bool failed);

/* execute.c: the environment's host image to the device. */
hg_status hg_run_write_env(hg_run *run) HG_NODISCARD;
/* The ranges of a buffer and of a flat address's buffer or pool. */
hg_range hg_run_buffer(hg_run *run, uint64_t handle);
hg_range hg_run_flat(hg_run *run, bool pool, uint64_t index);

/* binding.c: initial values into the host image; a driver's launch of a kernel, all but deadline, class memory and resolve. */
void hg_binding_reset_env(hg_binding *binding);
void hg_binding_fill_launch(const hg_binding *binding, uint32_t index, hg_driver_launch *launch);

#endif
