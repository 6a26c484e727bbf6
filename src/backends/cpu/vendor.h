/* Whole-array steps through oneDNN, where it is installed and was measured faster than the step's
 * expansion (vendor.def).
 * Must not know: where the runtime keeps memory. */
#ifndef HG_BACKENDS_CPU_VENDOR_H
#define HG_BACKENDS_CPU_VENDOR_H

#include "base/budget.h"
#include "base/limit.h"
#include "plan/steps/call.h"

/* Of a device. */
typedef struct cpu_vendor cpu_vendor;
/* word, one of these: off, on (whatever oneDNN can do), auto or "" (what vendor.def says; nothing
 * when as_measured is false: the device does not use all that the CPU has). threads: 0: one a CPU.
 * budget: for what it keeps; NULL: no limit. NULL is a device without vendor steps in all other
 * functions. */
hg_status cpu_vendor_create(const char *word, bool as_measured, uint32_t threads, hg_budget *budget,
                            cpu_vendor **vendor) HG_NODISCARD;
void cpu_vendor_destroy(cpu_vendor *vendor); /* no work of it is left */

/* Whether it does a call, and how many bytes of scratch memory that takes. Opens the library where
 * the call is one that it is for. */
bool cpu_vendor_supports(cpu_vendor *vendor, const plan_call *call, uint64_t *scratch);
/* Who does a call that is supported: "oneDNN 2.6.3 brg:avx512_core". */
void cpu_vendor_describe(cpu_vendor *vendor, const plan_call *call, char text[64]);
/* The library, or why there is none. */
bool cpu_vendor_by(char text[256]);

/* A supported call at its memory. arrays: the first elements of the call's. It can be executed any
 * number of times, by one thread at a time. */
typedef struct vendor_work vendor_work;
hg_status cpu_vendor_make(cpu_vendor *vendor, const plan_call *call, uint8_t *const *arrays,
                          uint8_t *scratch, vendor_work **work) HG_NODISCARD;
/* Once the limit is reached, what is left is not done. NULL: none. */
hg_status cpu_vendor_execute(vendor_work *work, hg_limit *limit) HG_NODISCARD;
void cpu_vendor_release(vendor_work *work); /* NULL is fine */

#endif
