/* Deprecated: the operator table under the names it had in 0.1. Include <hologram/operators.h>,
 * whose comments say what each does. The header stays for one release, the symbols as long as the
 * library is libhologram.so.0 (docs/reference/stability.md). */
#ifndef HOLOGRAM_DISPATCH_H
#define HOLOGRAM_DISPATCH_H

#include <hologram/operators.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HG_DISPATCH_OPERATIONS = HG_OPERATOR_OPERATIONS,
    HG_DISPATCH_TYPES = HG_OPERATOR_TYPES,
    HG_DISPATCH_COUNT = HG_OPERATOR_COUNT
};
/** Deprecated: hg_operator. */
typedef hg_operator hg_dispatch_record;

/** Deprecated: hg_operator_find. */
HG_API const hg_dispatch_record *hg_dispatch(const char *operation, hg_type type);
/** Deprecated: hg_operator_supported. */
HG_API bool hg_dispatch_supported(const char *operation, hg_type type);
/** Deprecated: hg_operator_at. */
HG_API const hg_dispatch_record *hg_dispatch_at(size_t i);
/** Deprecated: hg_operator_program. */
HG_API hg_status hg_dispatch_program(const hg_dispatch_record *record,
                                     hg_program **program) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
