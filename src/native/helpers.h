/* Functions of the library that objects of kernels call (HG_JIT_HELPERS).
 * Must not know: how objects are loaded. */
#ifndef HG_NATIVE_HELPERS_H
#define HG_NATIVE_HELPERS_H

typedef void cpu_helper(void);
typedef struct cpu_helper_row {
    const char *name;
    cpu_helper *at; /* for objects: those that keep registers have a calling convention of their own */
} cpu_helper_row;

/* All of them; the last row has no name. */
const cpu_helper_row *cpu_helpers(void);

#endif
