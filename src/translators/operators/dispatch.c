/* The operator table under its names of 0.1, for programs linked then. Must not know: how the table
 * is made. */
#include "base/fp.h"
#include <hologram/dispatch.h>

const hg_dispatch_record *hg_dispatch(const char *operation, hg_type type) {
    HG_ENTRY;
    return hg_operator_find(operation, type);
}
bool hg_dispatch_supported(const char *operation, hg_type type) {
    HG_ENTRY;
    return hg_operator_supported(operation, type);
}
const hg_dispatch_record *hg_dispatch_at(size_t i) {
    HG_ENTRY;
    return hg_operator_at(i);
}
hg_status hg_dispatch_program(const hg_dispatch_record *record, hg_program **program) {
    HG_ENTRY;
    return hg_operator_program(record, program);
}
