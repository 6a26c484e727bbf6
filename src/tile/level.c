/* CPU levels and what the handlers do natively. */
#include "tile/tile_internal.h"
#include <string.h>

const char *tile_level_name(tile_level level) {
    switch (level) {
    case TILE_LEVEL_V3: return "v3";
    case TILE_LEVEL_V4: return "v4";
    default: break;
    }
#if defined(__aarch64__)
    return "neon";
#elif defined(__wasm__)
    return "simd128";
#else
    return "baseline";
#endif
}

/* The features that x86-64-v3 and -v4 add; the names that both gcc and clang know. */
static bool find_out(tile_level level) {
    if (level == TILE_LEVEL_BASELINE) return true;
#if defined(__x86_64__)
    bool v3 = hg_cpu_supports("avx") && hg_cpu_supports("avx2") && hg_cpu_supports("bmi") &&
              hg_cpu_supports("bmi2") && hg_cpu_supports("fma") && hg_cpu_supports("popcnt") &&
              hg_cpu_supports("sse4.2");
    if (level == TILE_LEVEL_V3) return v3;
    if (level == TILE_LEVEL_V4)
        return v3 && hg_cpu_supports("avx512f") && hg_cpu_supports("avx512bw") &&
               hg_cpu_supports("avx512cd") && hg_cpu_supports("avx512dq") &&
               hg_cpu_supports("avx512vl");
#endif
    return false;
}

/* Each whole-array step asks. */
bool tile_level_available(tile_level level) {
    static uint8_t known[TILE_LEVEL_COUNT]; /* atomic; 0: not asked yet, then 1 for no, 2 for yes */
    if (level >= TILE_LEVEL_COUNT) return false;
    uint8_t answer = hg_atomic_load(&known[level], HG_RELAXED);
    if (answer) return answer == 2;
    answer = find_out(level) ? 2 : 1;
    hg_atomic_store(&known[level], answer, HG_RELAXED);
    return answer == 2;
}

tile_level tile_level_best(void) {
    tile_level best = TILE_LEVEL_BASELINE;
    for (tile_level level = TILE_LEVEL_BASELINE; level < TILE_LEVEL_COUNT; level++)
        if (tile_level_available(level)) best = level;
    return best;
}

const tile_handlers *tile_handlers_of(tile_level level) {
    if (level >= TILE_LEVEL_COUNT || !tile_level_available(level)) level = tile_level_best();
#if defined(__x86_64__)
    if (level == TILE_LEVEL_V4) return &tile_handlers_v4;
    if (level == TILE_LEVEL_V3) return &tile_handlers_v3;
#endif
    return &tile_handlers_baseline;
}

void tile_caps(bool poor, kir_caps *caps) {
    memset(caps, 0, sizeof *caps);
    caps->name = poor ? "tile (poor)" : "tile";
    if (poor) return; /* SwiftShader: 32-bit integers and floats, no fma, subnormals flushed */
    caps->i8 = caps->i16 = caps->i64 = caps->f64 = true;
    caps->fma32 = caps->fma64 = caps->mad = caps->subnormals = caps->half = true;
    const tile_handlers *h = &tile_handlers_baseline;
    for (uint32_t i = 0; i < h->derived_count; i++)
        caps->derived[h->derived[i].fn][h->derived[i].type] = true;
}

hg_status tile_level_find(const char *name, tile_level *level) {
    *level = tile_level_best();
    if (!*name) return HG_OK;
    for (int i = 0; i < TILE_LEVEL_COUNT; i++) {
        if (strcmp(name, tile_level_name((tile_level)i)) != 0 &&
            !(i == 0 && strcmp(name, "baseline") == 0))
            continue;
        *level = (tile_level)i;
        return HG_OK;
    }
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "CPU level '%s' is unknown, expected baseline, v3 or v4", name);
}
