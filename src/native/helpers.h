/* Functions of the library that objects of kernels call (HG_JIT_HELPERS).
 * Must not know: how objects are loaded. */
#ifndef HG_NATIVE_HELPERS_H
#define HG_NATIVE_HELPERS_H

typedef void native_helper(void);
typedef struct native_helper_row {
    const char *name;
    native_helper *at; /* for objects: those that keep registers have a calling convention of their
                          own */
} native_helper_row;

/* All of them, on machines that load ELF objects for x86-64; the last row has no name. */
const native_helper_row *native_helpers(void);

#endif
