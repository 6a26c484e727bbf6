/* NVIDIA's compiler of CUDA C, opened at run time where it is installed. */
#ifndef HG_TESTS_NVRTC_H
#define HG_TESTS_NVRTC_H

#include "base/base.h"

/* False with the reason where there is none. Looks in $HOLOGRAM_NVRTC (a file), then where the
 * loader looks, then in toolkits under /usr/local. */
bool nvrtc_open(char reason[256]);
/* The architectures to try: 61, 75, 80, 90 as far as it knows them, and the newest that it knows.
 * Returns how many. */
enum { NVRTC_ARCHITECTURES = 5 };
int nvrtc_architectures(int architectures[NVRTC_ARCHITECTURES]);
/* What ptxas says of a kernel. */
typedef struct nvrtc_kernel {
    unsigned registers, stack_bytes, spill_bytes;
} nvrtc_kernel;
/* Compiles to machine code with the options that the library promises. False: message (2,000 bytes)
 * has the compiler's words, also where it compiles but warns. */
bool nvrtc_compile(const char *text, int architecture, nvrtc_kernel *kernel, char *message);

#endif
