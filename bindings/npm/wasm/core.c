/* What hologram-core.wasm has in place of the rooms that it goes without: WebGPU, the device form,
 * numbers that WebAssembly has and other devices lack, probing of devices, profiles. */
#include "driver/driver.h"
#include "kir/device/device.h"
#include "kir/legalise/fused.h"
#include "kir/legalise/legalise_internal.h"
#include "profile/profile.h"
#include "runtime/backend.h"
#include "vector/vector.h"
#include <stdio.h>

static const char ABSENT[] = "hologram/wasm is without it: import 'hologram', which has everything";

static hg_status fail(const char *what) {
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s: %s", what, ABSENT);
}

/* ---- WebGPU ---- */

static uint32_t enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    (void)devices;
    (void)capacity;
    snprintf(reason, 256, "WebGPU: %s", ABSENT);
    return 0;
}
static hg_status device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    (void)index;
    (void)options;
    (void)device;
    return fail("WebGPU");
}
static hg_status device_adopt(const hg_driver_options *options, hg_device **device) {
    return device_open(0, options, device);
}
const hg_driver hg_driver_webgpu = {.name = "webgpu",
                                    .enumerate = enumerate,
                                    .device_open = device_open,
                                    .device_adopt = device_adopt};

/* ---- the CPU as it is ---- */

bool hg_pretends(const char *pretend, const char *word) {
    (void)pretend;
    (void)word;
    return false;
}
uint64_t hg_pretended_number(const char *pretend, const char *word, uint64_t otherwise) {
    (void)pretend;
    (void)word;
    return otherwise;
}
hg_status hg_pretend_check(const char *pretend) {
    return pretend && *pretend ? fail("what a device pretends to lack") : HG_OK;
}

/* ---- what kernels of the CPU need none of ---- */

hg_status kir_device(const kir_module *in, const kir_device_options *options, kir_module **out,
                     kir_device_layout *layout) {
    (void)in;
    (void)options;
    (void)out;
    (void)layout;
    return fail("the form of kernels for devices");
}
void kir_device_layout_free(kir_device_layout *layout) { (void)layout; }
bool kir_device_wants_blocks(const kir_module *in) {
    (void)in;
    return false;
}

const rewrite_rules legal_float_rules = {.lower = NULL}; /* f64 and subnormals are exact */
hg_status legal_int(const kir_module *in, const kir_caps *caps, kir_module **out) {
    (void)in;
    (void)caps;
    (void)out;
    return fail("small integers as larger ones");
}
void fused_end(fused_state *s) { (void)s; }

hg_status hg_probing_start(hg_backend *b, bool trusts, hg_probing **probing) {
    (void)b;
    (void)trusts;
    (void)probing;
    return fail("probing a device");
}
hg_status hg_probing_poll(hg_probing *probing, bool *done) {
    (void)probing;
    (void)done;
    return fail("probing a device");
}
void hg_probing_wait(hg_probing *probing) { (void)probing; }
void hg_probing_end(hg_probing *probing) { (void)probing; }

/* ---- what looks at the library itself ---- */

/* Passes are held to account in hologram.wasm, which has the same ones. */
hg_status kir_verify(const kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next) kir_number(f);
    return HG_OK;
}

hg_status vec_verify(const vec_kernel *kernel) {
    for (vec_function *f = kernel->functions; f; f = f->next) vec_number(f);
    return HG_OK;
}

hg_status hg_profile_create(const char *path, const char *label, hg_profile **profile) {
    (void)path;
    (void)label;
    (void)profile;
    return fail("profiling");
}
void hg_profile_destroy(hg_profile *profile) { (void)profile; }
hg_status hg_profile_write(hg_profile *profile, const char *path) {
    (void)profile;
    (void)path;
    return fail("profiling");
}
void hg_profile_name_thread(const char *name) { (void)name; }
void hg_profile_end(hg_profile *profile, const hg_profile_span *span) {
    (void)profile;
    (void)span;
}
