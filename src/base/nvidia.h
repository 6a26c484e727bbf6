/* Where the libraries lie that NVIDIA gives out beside the driver: toolkits of CUDA, and Python
 * packages.
 * Must not know: what they are for. */
#ifndef HG_BASE_NVIDIA_H
#define HG_BASE_NVIDIA_H

#include "base/library.h"

typedef struct hg_nvidia_library {
    const char *variable;  /* names the file; where it is set, nothing else is looked for */
    const char *names[3];  /* for the system's loader, newest first; NULL behind the last */
    const char *plain;     /* file in a toolkit's lib64 */
    const char *wheels[3]; /* files under the folder `nvidia` of Python's site-packages, which
                              HOLOGRAM_NVIDIA names */
} hg_nvidia_library;

/* The first that opens: what the variable names; else what the loader finds, of the toolkit that
 * CUDA_PATH names, of the Python packages, of /usr/local/cuda. NULL: none, with the system's words
 * in said. */
hg_library *hg_nvidia_open(const hg_nvidia_library *what, char *said, size_t size);

#endif
