/* Measures sizes of tiles (library/tiles.def) on a device. No result has other bits after it.
 * Must not know: options of commands. */
#ifndef HG_CLIENTS_TUNE_H
#define HG_CLIENTS_TUNE_H

#include "library/tiles.h"
#include <hologram/backend.h>

/* What one size of one tile took: the least time of each of its works, over that of the size before
 * the measurement; their mean. */
typedef struct hg_tune_try {
    uint16_t size;
    double relative;
} hg_tune_try;

typedef struct hg_tune_result {
    library_tile tile;
    uint16_t before, after;
    double ms; /* of its works with the size before, all together */
    uint32_t count;
    hg_tune_try tries[LIBRARY_MOST_TRIES + 1]; /* the size before is the first */
} hg_tune_result;

/* How works are written to the device and launched. Each call returns when the device is done. */
typedef struct hg_tune_calls {
    hg_status (*write)(hg_backend *b, hg_buffer buffer, const void *data, uint64_t length);
    hg_status (*launch)(hg_backend *b, hg_binding *binding);
} hg_tune_calls;

/* The configuration that measurements are made with: kernels have their best code from the first
 * launch on, and no step is a vendor's. */
void hg_tune_configure(hg_config *config);
/* Measures a tile on a backend that nobody else uses and leaves the best size with it. A size that
 * is not faster by one part in 32 does not replace the one before. */
hg_status hg_tune(hg_backend *b, const hg_tune_calls *calls, library_tile tile,
                  hg_tune_result *result) HG_NODISCARD;

/* Writes the backend's sizes to the file that backends on this device read when they are opened;
 * *path, which the caller frees, is its name,
 * "" where no such file is kept. HG_ERROR_IO. */
hg_status hg_tune_write(hg_backend *b, char **path) HG_NODISCARD;
/* Removes that file; the backend has the sizes without a measurement. *path is "" where no such
 * file is kept. */
hg_status hg_tune_reset(hg_backend *b, char **path) HG_NODISCARD;

#endif
