/* NVRTC, NVIDIA's compiler of CUDA C, opened at run time when first needed. No header of NVIDIA's
 * is needed: nvrtc.def declares what is called.
 * Thread-safe.
 * Must not know: devices, kernel IR. */
#ifndef HG_EMIT_NVRTC_H
#define HG_EMIT_NVRTC_H

#include "io/io.h"

/* False: reason says where it was looked for and what to install. The functions below need true. */
bool emit_nvrtc_load(char reason[256]);
uint32_t emit_nvrtc_version(void); /* 13000: 13.0; 0: it is not there, or does not say */
/* The newest architecture that it knows, up to `most`: 90 is compute capability 9.0. 0: none. */
uint32_t emit_nvrtc_architecture(uint32_t most);

typedef struct emit_nvrtc_request {
    const char *text, *name; /* what is compiled, and the kernel for messages */
    uint32_t architecture;
    uint32_t most_registers; /* of an invocation; 0: any number */
    bool full_language; /* textures and CUDA's runtime too, which no text of the library uses */
} emit_nvrtc_request;
/* Machine code and PTX with the options that the library's exactness needs; either may be NULL. PTX
 * ends in NUL. The caller frees both with hg_bytes_free, after a failure too. */
hg_status emit_nvrtc_compile(const emit_nvrtc_request *r, hg_bytes *cubin,
                             hg_bytes *ptx) HG_NODISCARD;

#endif
