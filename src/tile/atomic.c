/* Atomic updates of a tile. Lane by lane they are what the instruction says; where nobody asks for
 * old values, a tile's are combined on the way.
 * Must not know: which memory, bounds. */
#include "tile/tile_internal.h"
#include <string.h>

#define UPDATES(type, stype)                                                             \
    static type atomic_##type(uint8_t op, type *p, type x, type y) {                     \
        type old;                                                                        \
        switch ((kir_atomic)op) {                                                        \
        case KIR_ATOMIC_ADD: return hg_atomic_fetch_add(p, x, HG_RELAXED);               \
        case KIR_ATOMIC_AND: return hg_atomic_fetch_and(p, x, HG_RELAXED);               \
        case KIR_ATOMIC_OR: return hg_atomic_fetch_or(p, x, HG_RELAXED);                 \
        case KIR_ATOMIC_XOR: return hg_atomic_fetch_xor(p, x, HG_RELAXED);               \
        case KIR_ATOMIC_EXCH: return hg_atomic_exchange(p, x, HG_RELAXED);               \
        case KIR_ATOMIC_CAS:                                                             \
            old = x;                                                                     \
            hg_atomic_compare_exchange(p, &old, y, HG_RELAXED);                          \
            return old;                                                                  \
        default: break;                                                                  \
        }                                                                                \
        old = hg_atomic_load(p, HG_RELAXED);                                             \
        for (;;) {                                                                       \
            bool take = op == KIR_ATOMIC_UMIN   ? x < old                                \
                        : op == KIR_ATOMIC_UMAX ? x > old                                \
                        : op == KIR_ATOMIC_SMIN ? (stype)x < (stype)old                  \
                                                : (stype)x > (stype)old;                 \
            if (!take || hg_atomic_compare_exchange(p, &old, x, HG_RELAXED)) return old; \
        }                                                                                \
    }                                                                                    \
    static inline type both_##type(uint8_t op, type a, type x) {                         \
        switch ((kir_atomic)op) {                                                        \
        case KIR_ATOMIC_ADD: return (type)(a + x);                                       \
        case KIR_ATOMIC_AND: return a & x;                                               \
        case KIR_ATOMIC_OR: return a | x;                                                \
        case KIR_ATOMIC_XOR: return a ^ x;                                               \
        case KIR_ATOMIC_UMIN: return x < a ? x : a;                                      \
        case KIR_ATOMIC_UMAX: return x > a ? x : a;                                      \
        case KIR_ATOMIC_SMIN: return (stype)x < (stype)a ? x : a;                        \
        default: return (stype)x > (stype)a ? x : a;                                     \
        }                                                                                \
    }
UPDATES(uint32_t, int32_t)
UPDATES(uint64_t, int64_t)

uint64_t tile_atomic(uint8_t op, uint8_t bytes, uint8_t *at, uint64_t x, uint64_t y) {
    if (bytes == 4) return atomic_uint32_t(op, (uint32_t *)(void *)at, (uint32_t)x, (uint32_t)y);
    return atomic_uint64_t(op, (uint64_t *)(void *)at, x, y);
}

void tile_combine(uint8_t op, uint8_t bytes, uint64_t *a, uint64_t x) {
    *a = bytes == 4 ? both_uint32_t(op, (uint32_t)*a, (uint32_t)x) : both_uint64_t(op, *a, x);
}

/* ---- many lanes ---- */

/* Lane l into copy l mod TILE_COPIES. */
#define OWN(type, op, PLACE)                                                           \
    for (uint32_t i = 0; i < u->n; i++) {                                              \
        if (u->active && !u->active[i]) continue;                                      \
        type *p = (type *)(void *)(u->base + (PLACE) + u->spread * (i % TILE_COPIES)); \
        *p = both_##type(op, *p, v[i & step]);                                         \
    }
/* An addition has a loop of its own: it is what histograms do. */
#define OWN_ALL(type, PLACE)                     \
    if (u->op == KIR_ATOMIC_ADD && !u->active) { \
        OWN(type, KIR_ATOMIC_ADD, PLACE)         \
    } else {                                     \
        OWN(type, u->op, PLACE)                  \
    }
#define SHARED(type, PLACE)             \
    for (uint32_t i = 0; i < u->n; i++) \
        if (!u->active || u->active[i]) \
            (void)atomic_##type(u->op, (type *)(void *)(u->base + (PLACE)), v[i & step], 0);
#define RUN(type)                                            \
    const type *v = (const type *)(const void *)u->value;    \
    const uint32_t step = u->uniform ? 0 : UINT32_MAX;       \
    if (!u->own && u->index) {                               \
        SHARED(type, (uintptr_t)(u->index[i] * u->scale))    \
    } else if (!u->own) {                                    \
        SHARED(type, (uintptr_t)((int64_t)i * u->stride))    \
    } else if (u->index && u->scale == sizeof(type)) {       \
        OWN_ALL(type, (uintptr_t)u->index[i] * sizeof(type)) \
    } else if (u->index) {                                   \
        OWN_ALL(type, (uintptr_t)(u->index[i] * u->scale))   \
    } else {                                                 \
        OWN_ALL(type, (uintptr_t)((int64_t)i * u->stride))   \
    }

static void run_u32(const tile_updates *updates) {
    const tile_updates copy = *updates, *u = &copy; /* what is stored is none of it */
    RUN(uint32_t)
}
static void run_u64(const tile_updates *updates) {
    const tile_updates copy = *updates, *u = &copy;
    RUN(uint64_t)
}

void tile_updates_run(const tile_updates *u) {
    if (u->bytes == 4)
        run_u32(u);
    else
        run_u64(u);
}

/* One value as often as there are lanes. */
static uint64_t repeated(const tile_updates *u) {
    uint64_t one = 0, count = 0;
    memcpy(&one, u->value, u->bytes);
    for (uint32_t i = 0; i < u->n; i++) count += !u->active || u->active[i];
    return u->op == KIR_ATOMIC_ADD   ? one * count
           : u->op == KIR_ATOMIC_XOR ? one * (count & 1)
                                     : one;
}

/* All active lanes into one number. */
static uint64_t combined(const tile_updates *u) {
    uint64_t all = 0, one = 0;
    bool any = false;
    if (u->uniform) return repeated(u);
    for (uint32_t i = 0; i < u->n; i++) {
        if (u->active && !u->active[i]) continue;
        memcpy(&one, u->value + (size_t)i * u->bytes, u->bytes);
        if (any)
            tile_combine(u->op, u->bytes, &all, one);
        else
            all = one;
        any = true;
    }
    return all;
}

void tile_updates_run_one(const tile_updates *u) {
    uint64_t all = combined(u);
    if (u->own) {
        uint64_t old = 0;
        memcpy(&old, u->base, u->bytes);
        tile_combine(u->op, u->bytes, &old, all);
        memcpy(u->base, &old, u->bytes);
    } else {
        (void)tile_atomic(u->op, u->bytes, u->base, all, 0);
    }
}
