/* What the probe found out about a device, kept on disk under the device's identity and its
 * promises. */
#include "probe/probe_internal.h"
#include <string.h>

static void cache_key(const hg_probe_device *device, uint8_t key[HG_BLOB_KEY_BYTES]) {
    static const char WHAT[] = "hologram numeric probe";
    const uint32_t version[] = {PROBE_VERSION, KIR_OP_COUNT, PROBE_LANES, PROBE_TEST_COUNT};
    const kir_caps *k = device->caps;
    const uint8_t promises[] = {k->i8,    k->i16,        k->i64,  k->f64,  k->fma32,
                                k->fma64, k->subnormals, k->half, k->dot4, k->folds_zeros};
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, WHAT, sizeof WHAT);
    hg_blake3_update(&h, version, sizeof version);
    hg_blake3_update(&h, promises, sizeof promises);
    hg_blake3_update(&h, k->inexact, sizeof k->inexact);
    hg_blake3_update(&h, device->identity, strlen(device->identity));
    hg_blake3_final(&h, key);
}

/* As bytes: flags, then the table, then the rounds and the count. */
enum { BLOB_FLAGS = 8, BLOB_BYTES = BLOB_FLAGS + 2 * KIR_OP_COUNT + 8 };

static void pack(const hg_probe_result *r, uint8_t blob[BLOB_BYTES]) {
    const uint8_t flags[BLOB_FLAGS] = {r->flushes,     r->half, r->fma[0],      r->fma[1],
                                       r->folds_zeros, r->dot4, r->pads_groups, r->rewrites};
    memcpy(blob, flags, sizeof flags);
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++) blob[BLOB_FLAGS + 2 * op + f64] = r->inexact[op][f64];
    for (int i = 0; i < 4; i++) {
        blob[BLOB_BYTES - 8 + i] = (uint8_t)(r->max_rounds >> (8 * i));
        blob[BLOB_BYTES - 4 + i] = (uint8_t)(r->differences >> (8 * i));
    }
}

static bool unpack(const uint8_t *blob, uint64_t size, hg_probe_result *r) {
    memset(r, 0, sizeof *r);
    if (size != BLOB_BYTES) return false;
    r->flushes = blob[0] != 0;
    r->half = blob[1] != 0;
    r->fma[0] = blob[2] != 0;
    r->fma[1] = blob[3] != 0;
    r->folds_zeros = blob[4] != 0;
    r->dot4 = blob[5] != 0;
    r->pads_groups = blob[6] != 0;
    r->rewrites = blob[7] != 0;
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++)
            r->inexact[op][f64] = blob[BLOB_FLAGS + 2 * op + f64] != 0;
    for (int i = 0; i < 4; i++) {
        r->max_rounds |= (uint32_t)blob[BLOB_BYTES - 8 + i] << (8 * i);
        r->differences |= (uint32_t)blob[BLOB_BYTES - 4 + i] << (8 * i);
    }
    return true;
}

void hg_probe_keep(const hg_probe_device *device, hg_blob_cache *cache,
                   const hg_probe_result *result) {
    uint8_t key[HG_BLOB_KEY_BYTES], blob[BLOB_BYTES];
    if (!device->identity[0]) return;
    cache_key(device, key);
    pack(result, blob);
    (void)hg_blob_cache_put(cache, key, blob, sizeof blob);
}

bool hg_probe_find(const hg_probe_device *device, hg_blob_cache *cache, hg_probe_result *result) {
    uint8_t key[HG_BLOB_KEY_BYTES], *data;
    uint64_t size;
    if (!device->identity[0]) return false;
    cache_key(device, key);
    if (!hg_blob_cache_get(cache, key, &data, &size)) return false;
    bool good = unpack(data, size, result);
    hg_free(data);
    return good;
}
