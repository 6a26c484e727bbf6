/* Drivers whose devices are this machine's CPU and whose languages are those of GPUs: a kernel in
 * device form is printed as CUDA C, HIP or the Metal Shading Language, compiled by clang++ with the
 * headers of tests/shim, and run, one group after another, the invocations of a group as fibers.
 * For tests of the printed text. Needs clang++-14 and ucontext; enumerate says what is missing.
 * Thread rules: as any driver's; one dispatch of the process runs at a time. */
#ifndef HG_TESTS_SHIM_DRIVER_H
#define HG_TESTS_SHIM_DRIVER_H

#include "driver/driver.h"

extern const hg_driver hg_driver_shim_cuda, hg_driver_shim_hip, hg_driver_shim_msl;

/* Makes a backend of this name, "shim-cuda", known to the runtime; other names change nothing.
 * Before any backend is created. */
void shim_driver_bring(const char *name);

#endif
