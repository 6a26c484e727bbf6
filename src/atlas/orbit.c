/* Triality orbits of coordinates, units and their inverses (semantics 5.10, 5.11).
 * Must not know: programs. */
#include "atlas/atlas_internal.h"

bool hg_torus_size_known(uint64_t torus_size) {
    for (int i = 0; i < HG_TORUS_SIZES; i++)
        if (hg_torus_sizes[i] == torus_size) return true;
    return false;
}

static hg_status check_size(uint64_t torus_size) {
    return hg_torus_size_known(torus_size)
               ? HG_OK
               : hg_fail_domain("F05", "unknown torus size: %llu", torus_size, 0);
}

/* Classes that differ in their modality alone; 96 divides every size, so all 32 orbits have the
 * same number of coordinates. */
hg_status hg_orbit_classify(uint64_t coordinate, uint64_t torus_size, uint8_t *orbit) {
    if (!orbit) return hg_null_argument("orbit");
    HG_TRY(check_size(torus_size));
    uint64_t r = coordinate < torus_size ? coordinate % HG_CLASS_COUNT : 0;
    *orbit = (uint8_t)(8 * (r / 24) + r % 8);
    return HG_OK;
}

hg_status hg_orbit_representative(uint64_t orbit, uint64_t torus_size, uint32_t *coordinate) {
    if (!coordinate) return hg_null_argument("coordinate");
    HG_TRY(check_size(torus_size));
    if (orbit >= HG_ORBIT_COUNT)
        return hg_fail_domain("F04", "invalid orbit index: %llu (must be < %llu)", orbit,
                              HG_ORBIT_COUNT);
    *coordinate = (uint32_t)(24 * (orbit / 8) + orbit % 8);
    return HG_OK;
}

/* Euclid's algorithm on r and the multiples of unit that leave it. Those alternate in sign and stay
 * at most the modulus in size, so sizes are kept here, and the number of steps decides the sign. */
hg_status hg_mult_inverse(uint64_t unit, uint64_t modulus, uint64_t *inverse) {
    if (!inverse) return hg_null_argument("inverse");
    uint64_t high = modulus, low = modulus < 2 ? 0 : unit % modulus, before = 0, now = 1;
    bool negative = false;
    while (low > 1) {
        uint64_t quotient = high / low, rest = high % low, next = before + quotient * now;
        high = low, low = rest;
        before = now, now = next;
        negative = !negative;
    }
    if (low == 0)
        return hg_fail_domain("F05", "no multiplicative inverse: %llu mod %llu", unit, modulus);
    *inverse = negative ? modulus - now : now;
    return HG_OK;
}

bool hg_class_is_unit(uint8_t cls) { return cls % 2 != 0 && cls % 3 != 0; }
