/* The PJRT plugin: where it is, its functions, its words for what goes wrong.
 * Must not know: memory, kernels. */
#include "backends/tpu/tpu_internal.h"
#include "base/host.h"
#include "base/library.h"
#include <stdio.h>
#include <string.h>

#define INSTALL "pip install libtpu on a TPU host, or name a plugin in HOLOGRAM_PJRT"

static const char *const NAMES[] = {"libtpu.so"};
static const char *const PLACES[] = {"$HOLOGRAM_PJRT", "$PJRT_NAMES_AND_LIBRARY_PATHS"};
const hg_vendor tpu_vendor = {NAMES, HG_COUNT_OF(NAMES), HG_COUNT_OF(PLACES), PLACES};

const tpu_plugin *tpu;
static tpu_plugin plugin;
static hg_once_flag once = HG_ONCE_INIT;
static char missing[256]; /* "": loaded */

/* The first path of "name:path,name:path", of a variable that others read too. */
static bool named_path(const char *list, char *path, size_t size) {
    const char *colon = list ? strchr(list, ':') : NULL;
    if (!colon) return false;
    size_t length = strcspn(colon + 1, ",");
    if (!length || length >= size) return false;
    memcpy(path, colon + 1, length);
    path[length] = 0;
    return true;
}

static void find_path(char *path, size_t size) {
    const char *own = hg_host_variable("HOLOGRAM_PJRT");
    if (own && *own)
        snprintf(path, size, "%s", own);
    else if (!named_path(hg_host_variable("PJRT_NAMES_AND_LIBRARY_PATHS"), path, size))
        snprintf(path, size, "%s", NAMES[0]);
}

/* A function that lies behind the plugin's table is not there. */
static bool find_functions(const pjrt_table *table) {
    size_t head = offsetof(pjrt_table, functions),
           count = table->head.size > head ? (table->head.size - head) / sizeof(void *) : 0;
#define PJRT_CALL(place, name, arguments)                                                 \
    if (place >= count || !table->functions[place]) {                                     \
        snprintf(missing, sizeof missing, "%.100s has no function for '%s' (PJRT %d.%d)", \
                 plugin.path, #name, table->major, table->minor);                         \
        return false;                                                                     \
    }                                                                                     \
    memcpy((void *)&call->name, &table->functions[place], sizeof call->name);
    tpu_plugin *call = &plugin;
    PJRT_CALLS(PJRT_CALL)
#undef PJRT_CALL
#define PJRT_CALL(place, name, arguments)         \
    if (place < count && table->functions[place]) \
        memcpy((void *)&call->name, &table->functions[place], sizeof call->name);
    PJRT_OPTIONAL_CALLS(PJRT_CALL)
#undef PJRT_CALL
    return true;
}

static bool failed(const char *call, pjrt_error *error) {
    if (!error) return false;
    pjrt_message m = {.head = {sizeof m, NULL}, .error = error};
    (void)plugin.error_message(&m);
    snprintf(missing, sizeof missing, "%.80s: %s: %.*s", plugin.path, call,
             (int)(m.length < 120 ? m.length : 120), m.text ? m.text : "");
    (void)plugin.error_destroy(&(pjrt_of_error){{sizeof(pjrt_of_error), NULL}, error});
    return true;
}

static void platform_text(pjrt_error *(*ask)(pjrt_client_text *), char *text, size_t size) {
    pjrt_client_text t = {.head = {sizeof t, NULL}, .client = plugin.client};
    if (failed("platform", ask(&t))) return;
    snprintf(text, size, "%.*s", (int)(t.length < size ? t.length : size - 1), t.text);
    text[strcspn(text, "\n")] = 0;
}

static void load(void) {
    char said[128] = "";
    find_path(plugin.path, sizeof plugin.path);
    const char *name = plugin.path;
    hg_library *library = hg_library_open(&name, 1, said, sizeof said);
    const pjrt_table *(*get)(void) = NULL;
    if (!library) {
        snprintf(missing, sizeof missing, "no PJRT plugin (%.90s): " INSTALL, said);
        return;
    }
    if (!hg_library_function(library, "GetPjrtApi", (void *)&get)) {
        snprintf(missing, sizeof missing, "%.150s is no PJRT plugin: it has no GetPjrtApi",
                 plugin.path);
        return;
    }
    const pjrt_table *table = get();
    if (!table)
        snprintf(missing, sizeof missing, "%.150s has no PJRT functions: GetPjrtApi gave NULL",
                 plugin.path);
    if (!table || !find_functions(table)) return;
    plugin.major = table->major;
    plugin.minor = table->minor;
    if (failed("initialize", plugin.initialize(&(pjrt_head){sizeof(pjrt_head), NULL}))) return;
    pjrt_client_create c = {.head = {sizeof c, NULL}};
    if (failed("client", plugin.client_create(&c))) return;
    plugin.client = c.client;
    platform_text(plugin.platform_name, plugin.name, sizeof plugin.name);
    platform_text(plugin.platform_version, plugin.version, sizeof plugin.version);
    pjrt_devices d = {.head = {sizeof d, NULL}, .client = plugin.client};
    if (failed("devices", plugin.devices_of(&d))) return;
    plugin.devices = d.devices;
    plugin.device_count = d.count;
    if (!d.count) snprintf(missing, sizeof missing, "%.150s has no device", plugin.path);
    if (!missing[0]) tpu = &plugin;
}

const tpu_plugin *tpu_open(char reason[256]) {
    hg_once(&once, load);
    if (!tpu) snprintf(reason, 256, "%s", missing);
    return tpu;
}

hg_status tpu_check(const char *call, pjrt_error *error) {
    enum { RESOURCE_EXHAUSTED = 8 };
    if (!error) return HG_OK;
    pjrt_message m = {.head = {sizeof m, NULL}, .error = error};
    pjrt_code c = {.head = {sizeof c, NULL}, .error = error};
    (void)tpu->error_message(&m);
    bool memory = !tpu->error_code(&c) && c.code == RESOURCE_EXHAUSTED;
    int length = (int)(m.length < 200 ? m.length : 200);
    hg_status status = memory ? hg_fail(HG_ERROR_ALLOCATION_FAILED,
                                        "tpu: the device has no memory left (%s: %.*s)", call,
                                        length, m.text ? m.text : "")
                              : hg_fail(HG_ERROR_EXECUTION_FAILED, "tpu: %s: %.*s", call, length,
                                        m.text ? m.text : "");
    (void)tpu->error_destroy(&(pjrt_of_error){{sizeof(pjrt_of_error), NULL}, error});
    return status;
}

bool tpu_went_well(pjrt_error *error) {
    if (!error) return true;
    (void)tpu->error_destroy(&(pjrt_of_error){{sizeof(pjrt_of_error), NULL}, error});
    return false;
}

hg_status tpu_await(const char *call, pjrt_event *event) {
    pjrt_of_event e = {{sizeof e, NULL}, event};
    if (!event) return HG_OK;
    hg_status status = tpu_check(call, tpu->event_await(&e));
    (void)tpu->event_destroy(&e);
    return status;
}

void tpu_free_buffer(pjrt_buffer *buffer) {
    if (buffer)
        (void)tpu->buffer_destroy(&(pjrt_of_buffer){{sizeof(pjrt_of_buffer), NULL}, buffer});
}
