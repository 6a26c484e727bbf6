/* What a device's numbers are really like: one small kernel over a table of operands, compared with
 * the tile interpreter, whose bits everything is measured by. What differs is lowered from then on.
 * Must not know: drivers, the runtime. */
#ifndef HG_PROBE_PROBE_H
#define HG_PROBE_PROBE_H

#include "base/blobcache.h"
#include "kir/legalise/legalise.h"

/* A launch of the probe's kernel, FLAT or in blocks of `group` lanes. Its inputs 0 and 1 are the
 * buffers of operands and results. */
typedef struct hg_probe_launch {
    uint64_t lanes;
    uint32_t group;
    const uint8_t *operands;
    uint64_t operand_bytes;
    uint8_t *results; /* host memory that the results are copied to */
    uint64_t result_bytes;
    bool faulted; /* said by the device: the launch ended with a fault */
} hg_probe_launch;

/* What the probe found. Zero: everything exact. */
typedef struct hg_probe_result {
    bool flushes;                  /* f32 subnormals are lost in sums, products or comparisons */
    bool half;                     /* a half conversion is wrong */
    bool dot4;                     /* a product of four bytes is wrong */
    bool folds_zeros;              /* as kir_caps.folds_zeros */
    bool fma[2];                   /* f32, f64: not fused, or not rounded correctly */
    bool inexact[KIR_OP_COUNT][2]; /* as kir_caps.inexact */
    uint32_t max_rounds;  /* rounds of all loops of an invocation after which the device leaves
                             loops; 0: it does not */
    bool pads_groups;     /* as kir_device_target.pads_groups */
    bool rewrites;        /* as kir_device_target.rewrites */
    uint32_t differences; /* results that are not the expected bits */
} hg_probe_result;

/* The device that is asked. */
typedef struct hg_probe_device {
    const kir_caps *caps; /* what it promises */
    const char *identity; /* driver, device and versions; "": unknown, nothing is kept */
    void *user;
    /* Kernels are lowered for what was found until now (max_rounds, pads_groups, rewrites). NULL:
     * nobody asks about it. */
    void (*set_target)(void *user, const hg_probe_result *found);
    bool rewrites;   /* its compiler may (kir_device_target.rewrites): not asked */
    bool lanes_stay; /* no lane may leave a group in front of its barriers */
} hg_probe_device;

/* A probe that is under way: it gives one kernel after another, which whoever has the device runs,
 * waiting for it or not. The device stays meanwhile. */
typedef struct hg_probe hg_probe;
hg_status hg_probe_create(const hg_probe_device *device, hg_probe **probe) HG_NODISCARD;
void hg_probe_destroy(hg_probe *probe); /* at any time; NULL is allowed */
/* Looks at what came of the kernel before. *kernel: the next one, to be lowered for the device's
 * promises and run with *launch; it is the caller's, the launch stays until the next call. NULL:
 * the probe is over and *result is known. HG_ERROR_BACKEND_UNAVAILABLE: nothing can be lowered so
 * that the device runs it rightly. */
hg_status hg_probe_next(hg_probe *probe, kir_module **kernel, hg_probe_launch **launch,
                        hg_probe_result *result) HG_NODISCARD;
/* What the cache has of the device. */
bool hg_probe_find(const hg_probe_device *device, hg_blob_cache *cache, hg_probe_result *result);
/* Keeps what is known of a device, of which only caps and identity are looked at. */
void hg_probe_keep(const hg_probe_device *device, hg_blob_cache *cache,
                   const hg_probe_result *result);
/* Capabilities that promise no more than was found. */
void hg_probe_apply(const hg_probe_result *result, kir_caps *caps);

#endif
