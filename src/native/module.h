/* libhologram_jit.so: where it is, whether it can be used, who is in it.
 * Must not know: kernels, caches. */
#ifndef HG_NATIVE_MODULE_H
#define HG_NATIVE_MODULE_H

#include "base/base.h"
#include "jit/jit.h"

/* False: it was looked for and cannot be used. Opens nothing. */
bool cpu_module_possible(void);
/* It is open, or was not tried yet and its file is there. Opens nothing. */
bool cpu_module_there(void);
/* Opened when first asked for, and never closed. NULL with the reason, and what to install. */
const hg_jit_table *cpu_module_open(char reason[256]);
/* A text that is another one for another module; without opening it where its file is known. */
bool cpu_module_identity(hg_text *out);

/* Around each use. False: not in this process, which was forked while a thread was inside, or which ends. */
bool cpu_module_enter(void);
void cpu_module_leave(void);

#endif
