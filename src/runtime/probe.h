/* What a device's numbers are really like: one small kernel over a table of operands, compared with the tile interpreter, whose bits
 * everything is measured by. What differs is lowered from then on.
 * Must not know: which driver it asks. */
#ifndef HG_RUNTIME_PROBE_H
#define HG_RUNTIME_PROBE_H

#include "runtime/driver.h"

/* What the probe found. Zero: everything exact. */
typedef struct hg_probe_result {
    bool flushes;                  /* f32 subnormals are lost in sums, products or comparisons */
    bool half;                     /* a half conversion is wrong */
    bool folds_zeros;              /* as kir_caps.folds_zeros */
    bool fma[2];                   /* f32, f64: not fused, or not rounded correctly */
    bool inexact[KIR_OP_COUNT][2]; /* as kir_caps.inexact */
    uint32_t differences;          /* results that are not the expected bits */
} hg_probe_result;

/* Runs it on an open backend with a default context, whose capabilities (hg_backend.caps) are what the driver promises. */
struct hg_backend;
hg_status hg_probe_run(struct hg_backend *b, hg_probe_result *result) HG_NODISCARD;
/* Capabilities that promise no more than was found. */
void hg_probe_apply(const hg_probe_result *result, kir_caps *caps);
/* The same at the opening of a device in device form: from the cache on disk, or run and kept there. */
hg_status hg_probe_device(struct hg_backend *b) HG_NODISCARD;

#endif
