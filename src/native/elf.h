/* Native code from ELF relocatable objects (ET_REL) for x86-64, as `cc -c -fPIC` and LLVM write
 * them: sections into memory of their own, text executable, constants read-only, nothing ever
 * writable and executable at once. The bytes may come from a disk: whatever they are, no byte
 * outside of them and of the new memory is touched until somebody calls the code. It calls only
 * functions that this loader knows: those of HG_JIT_SYMBOLS, helpers.h and what compilers call by
 * themselves.
 * Must not know: kernels, compilers. */
#ifndef HG_NATIVE_ELF_H
#define HG_NATIVE_ELF_H

#include "native/compilers.h"

#if NATIVE_ELF_X86_64
extern const native_loader native_elf;
#endif

#endif
