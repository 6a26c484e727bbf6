/* The WebGPU library, opened when first needed, its functions and its instance. Two are known: Dawn
 * and wgpu-native, of 2025 and later; they differ in what wg_is_native says. In wasm the page's
 * part (bindings/npm/src/webgpu.js) has the functions.
 * Must not know: memory, kernels. */
#include "backends/webgpu/webgpu_internal.h"
#include "base/host.h"
#include "base/library.h"
#include <stdio.h>
#include <string.h>

wg_functions wg;
hg_mutex wg_lock = HG_MUTEX_INIT;

static WGPUInstance the_instance;

#if !defined(__wasm__)

#define INSTALL                                                                             \
    "npm install bun-webgpu-linux-x64 (Dawn) or pip install wgpu, and name its library in " \
    "HOLOGRAM_WEBGPU"

static hg_once_flag once = HG_ONCE_INIT;
static char missing[256], name[64]; /* "": loaded */

static const char *const NAMES[] = {"libwebgpu_dawn.so", "libwgpu_native.so",
                                    "libwebgpu_dawn.dylib", "libwgpu_native.dylib"};
#define VK_FOLDERS(base) base "/vulkan/icd.d", base "/vulkan/implicit_layer.d"
static const char *const PLACES[] = {"$HOLOGRAM_WEBGPU",          "$VK_DRIVER_FILES",
                                     "$VK_ICD_FILENAMES",         "$VK_ADD_DRIVER_FILES",
                                     VK_FOLDERS("/etc"),          VK_FOLDERS("/usr/share"),
                                     VK_FOLDERS("$XDG_DATA_HOME")};
const hg_vendor wg_vendor = {NAMES, HG_COUNT_OF(NAMES), HG_COUNT_OF(PLACES), PLACES};

/* wgpu-native counts its versions in bytes. Before 29 its structures were others. */
enum { NATIVE_LEAST = 29 };

static void look_at_version(void) {
    uint32_t version = wg.GetVersion ? wg.GetVersion() : 0;
    snprintf(name, sizeof name, "Dawn");
    if (!wg.GetVersion) return;
    snprintf(name, sizeof name, "wgpu-native %u.%u.%u", (unsigned)(version >> 24),
             (unsigned)(version >> 16 & 255), (unsigned)(version >> 8 & 255));
    if (version >> 24 < NATIVE_LEAST)
        snprintf(missing, sizeof missing, "the library is %s, %d or later is needed: " INSTALL,
                 name, (int)NATIVE_LEAST);
}

/* It is never closed: drivers keep threads. */
static void load(void) {
    char said[128] = "";
    const char *own = hg_host_variable("HOLOGRAM_WEBGPU");
    if (own && !*own) own = NULL;
    hg_library *library = own ? hg_library_open(&own, 1, said, sizeof said)
                              : hg_library_open(NAMES, HG_COUNT_OF(NAMES), said, sizeof said);
    if (!library) {
        snprintf(missing, sizeof missing, "no WebGPU library (%.90s): " INSTALL, said);
        return;
    }
#define WG_FUNCTION(result, function, parameters)                                                \
    if (!hg_library_function(library, "wgpu" #function, (void *)&wg.function))                   \
        snprintf(missing, sizeof missing,                                                        \
                 "the WebGPU library%s%.90s has no wgpu" #function ": " INSTALL, own ? " " : "", \
                 own ? own : "");
#define WG_OPTIONAL(result, function, parameters) \
    (void)hg_library_function(library, "wgpu" #function, (void *)&wg.function);
#define WG_NOT_NATIVE(result, function, parameters) \
    if (!wg_is_native()) WG_FUNCTION(result, function, parameters)
#include "backends/webgpu/symbols.def"
    if (!missing[0]) look_at_version();
}

bool wg_load(char reason[256]) {
    hg_once(&once, load);
    if (missing[0]) memcpy(reason, missing, sizeof missing);
    return !missing[0];
}

const char *wg_library_name(void) { return name; }
bool wg_is_native(void) { return wg.GetVersion != NULL; }

#else

#define WG_FUNCTION(result, function, parameters) \
    HG_WASM_IMPORT("webgpu", #function) result wgpu##function parameters;
#include "backends/webgpu/symbols.def"

const hg_vendor wg_vendor = {0};

/* A page without WebGPU makes no instance. */
bool wg_load(char reason[256]) {
#define WG_FUNCTION(result, function, parameters) wg.function = wgpu##function;
#include "backends/webgpu/symbols.def"
    bool there = wg_instance() != NULL;
    if (!there) snprintf(reason, 256, "WebGPU not supported in this browser");
    return there;
}

const char *wg_library_name(void) { return "the browser"; }
bool wg_is_native(void) { return false; }

#endif

WGPUInstance wg_instance(void) {
    WGPUInstanceExtras extras = {.chain = {NULL, WGPU_STYPE_NATIVE_INSTANCE},
                                 .backends = 1 | 4 | 8};
    WGPUInstanceDescriptor descriptor = {.next = wg_is_native() ? &extras.chain : NULL};
    hg_mutex_lock(&wg_lock);
    if (!the_instance) {
        HG_CALLS_OTHERS;
        the_instance = wg.CreateInstance(&descriptor);
    }
    hg_mutex_unlock(&wg_lock);
    return the_instance;
}

WGPUStringView wg_text(const char *text) { return (WGPUStringView){text, strlen(text)}; }

void wg_say(WGPUStringView said, char *text, size_t size) {
    size_t length = !said.data ? 0 : said.length == SIZE_MAX ? strlen(said.data) : said.length;
    size_t used = 0;
    bool blank = true; /* blanks and ends of lines are one blank */
    for (size_t i = 0; i < length && used + 1 < size; i++) {
        bool is_blank = (unsigned char)said.data[i] <= ' ';
        if (!is_blank || !blank) text[used++] = is_blank ? ' ' : said.data[i];
        blank = is_blank;
    }
    while (used && text[used - 1] == ' ') used--;
    text[used] = 0;
}

static hg_mutex rest_lock = HG_MUTEX_INIT;
static hg_cond nothing;
static hg_once_flag rest_once = HG_ONCE_INIT;
static void make_rest(void) { hg_cond_init(&nothing); }

void wg_rest(uint32_t times) {
    enum { SPINS = 50, STEP_NS = 10000, MOST_NS = 500000 };
    if (times < SPINS) return;
    uint64_t ns = (uint64_t)(times - SPINS + 1) * STEP_NS;
    hg_once(&rest_once, make_rest);
    hg_mutex_lock(&rest_lock);
    (void)hg_cond_wait_until(&nothing, &rest_lock, hg_clock_ns() + (ns < MOST_NS ? ns : MOST_NS));
    hg_mutex_unlock(&rest_lock);
}
