/* What the files of this room share. */
#ifndef HG_ATLAS_ATLAS_INTERNAL_H
#define HG_ATLAS_ATLAS_INTERNAL_H

#include "atlas/atlas.h"
#include "base/base.h"

/* HG_ERROR_ISA with a diagnostic code of language.md 6: F04 an index out of range, F05 another
 * domain error. */
hg_status hg_fail_class(uint64_t cls);
hg_status hg_fail_domain(const char *code, const char *format, uint64_t a, uint64_t b); /* two %llu
                                                                                         */

/* The remainder in 0 … modulus-1, of negative numbers too. */
static inline uint32_t hg_wrap(int64_t value, uint32_t modulus) {
    int64_t rest = value % (int64_t)modulus;
    return (uint32_t)(rest < 0 ? rest + (int64_t)modulus : rest);
}

#endif
