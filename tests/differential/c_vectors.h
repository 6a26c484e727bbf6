/* The C compilers of the machine as the CPU backend's compiler: kernels as C with vectors, compiled into a shared object and loaded. */
#ifndef HG_TESTS_C_VECTORS_H
#define HG_TESTS_C_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

/* words: "gcc", "clang-14 -O2", …, `-march=` left out; bytes: of a native vector, 16, 32 or 64. For all CPU devices opened from now on. False with the
 * reason: this machine has no such compiler or vectors. */
bool c_vectors_use(const char *words, uint32_t bytes, uint32_t lanes, char reason[256]);
/* Kernels that were compiled so far. */
uint64_t c_vectors_compiled(void);

#endif
