/* Native code from ELF relocatable objects (ET_REL), as `cc -c -fPIC` and LLVM write them: sections into memory of their own, text executable,
 * constants read-only, nothing ever writable and executable at once. The bytes may come from a disk: whatever they are, no byte outside
 * of them and of the new memory is touched until somebody calls the code.
 * Must not know: kernels, compilers. */
#ifndef HG_NATIVE_OBJECT_H
#define HG_NATIVE_OBJECT_H

#include "base/base.h"

typedef struct cpu_object cpu_object;

/* Code that can be called, with the function `entry` that is global in it. It calls only functions that the object loader knows: those of
 * HG_JIT_SYMBOLS, helpers.h and what compilers call by themselves. NULL with the reason: not such an object, or not on this machine. */
cpu_object *cpu_object_load(const uint8_t *bytes, uint64_t size, const char *entry, char reason[256]) HG_NODISCARD;
void *cpu_object_entry(const cpu_object *object);
void cpu_object_unload(cpu_object *object); /* NULL is fine */

#endif
