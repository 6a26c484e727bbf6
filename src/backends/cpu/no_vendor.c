/* Steps through a vendor's library on a host that has no libraries, WebAssembly: no device has any.
 * See vendor.h. */
#include "backends/cpu/vendor.h"

#if defined(__wasm__)

#include <stdio.h>

hg_status cpu_vendor_create(const char *word, bool as_measured, uint32_t threads, hg_budget *budget,
                            cpu_vendor **vendor) {
    (void)word, (void)as_measured, (void)threads, (void)budget;
    *vendor = NULL;
    return HG_OK;
}
void cpu_vendor_destroy(cpu_vendor *vendor) { (void)vendor; }
bool cpu_vendor_supports(cpu_vendor *vendor, const plan_call *call, uint64_t *scratch) {
    (void)vendor, (void)call, (void)scratch;
    return false;
}
void cpu_vendor_describe(cpu_vendor *vendor, const plan_call *call, char text[64]) {
    (void)vendor, (void)call;
    *text = 0;
}
bool cpu_vendor_by(char text[256]) {
    snprintf(text, 256, "this host has no libraries");
    return false;
}
hg_status cpu_vendor_make(cpu_vendor *vendor, const plan_call *call, uint8_t *const *arrays,
                          uint8_t *scratch, vendor_work **work) {
    (void)vendor, (void)call, (void)arrays, (void)scratch;
    *work = NULL;
    return HG_ERROR_BACKEND_UNAVAILABLE;
}
hg_status cpu_vendor_execute(vendor_work *work, hg_limit *limit) {
    (void)work, (void)limit;
    return HG_ERROR_BACKEND_UNAVAILABLE;
}
void cpu_vendor_release(vendor_work *work) { (void)work; }

#endif
