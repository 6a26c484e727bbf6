/* The C compilers of the machine as the CPU backend's compiler: kernels as C with vectors, compiled
 * into a shared object and loaded. */
#ifndef HG_TESTS_C_VECTORS_H
#define HG_TESTS_C_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

/* "BYTES:LANES:COMPILER": bytes of a native vector (16, 32 or 64), lanes of a turn, and a command
 * such as "gcc -O1" without
 * `-march=`, or "llvm": libhologram_jit.so of this build. For all CPU
 * devices opened from now on. False with the reason: this machine has no such compiler or vectors.
 */
bool c_vectors_use(const char *words, char reason[256]);
/* Prints how many kernels were compiled. The failures: those whose text the compiler refused, and
 * that there was none. */
uint64_t c_vectors_end(void);

#endif
