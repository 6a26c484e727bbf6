/* Which driver and which of its devices: by name, or the automatic order (semantics 0.3); listing
 * what there is.
 * Must not know: any backend by name. */
#include "base/deep.h"
#include "base/sized.h"
#include "runtime/backend.h"
#include <stdio.h>
#include <string.h>
#if defined(__linux__)
#include <unistd.h>
#endif

#define HG_BACKEND(name, automatic) extern const hg_driver hg_driver_##name;
#include "backends/backends.def"

const hg_driver *const hg_drivers[] = {
#define HG_BACKEND(name, automatic) &hg_driver_##name,
#include "backends/backends.def"
};
const uint32_t hg_driver_count = HG_COUNT_OF(hg_drivers);
static const uint8_t AUTOMATIC[] = {
#define HG_BACKEND(name, automatic) automatic,
#include "backends/backends.def"
};

static const hg_driver_word ABSENT[] = {
#define HG_BACKEND_ABSENT(name, reason) {#name, reason},
#include "backends/backends.def"
};
static const hg_driver_word ALIASES[] = {
#define HG_BACKEND_ALIAS(alias, name) {#alias, #name},
#include "backends/backends.def"
};

/* Whether this machine may have a device beside its CPU. Looking through vendors' libraries costs
 * 30 to 50 ms a process (PoCL, lavapipe), which programs on the CPU need not pay where no kernel
 * driver has a device file; where that cannot be found out, they look. */
static bool may_have_accelerator(void) {
#if defined(__linux__)
    static const char *const files[] = {"/dev/dri",      "/dev/nvidiactl", "/dev/nvidia0",
                                        "/dev/kfd",      "/dev/dxg",       "/dev/mali0",
                                        "/dev/kgsl-3d0", "/dev/accel",     "/dev/pvr_sync"};
    for (size_t i = 0; i < HG_COUNT_OF(files); i++)
        if (access(files[i], F_OK) == 0) return true;
    return false;
#else
    return true;
#endif
}

typedef struct device_list {
    hg_device_info *devices;
    uint32_t count;
    char reason[256];
    hg_trial trial;
} device_list;

static bool device_failed(const device_list *list, uint32_t index, char reason[256]) {
    return index < HG_TRIAL_DEVICES && hg_trial_failed(&list->trial.devices[index], reason);
}

/* A device that did not come back from its trial is there and not available. */
static void note_failed(device_list *list) {
    char reason[256];
    for (uint32_t i = 0; i < list->count; i++) {
        if (!device_failed(list, i, reason)) continue;
        list->devices[i].available = false;
        memcpy(list->devices[i].reason, reason, sizeof reason);
    }
}

typedef struct listing {
    const hg_driver *driver;
    device_list *list;
    bool called;
} listing;

static hg_status list_here(void *user) {
    listing *l = user;
    device_list *list = l->list;
    l->called = true;
    uint32_t room = l->driver->enumerate(NULL, 0, list->reason);
    list->devices = hg_calloc((size_t)room + 1, sizeof *list->devices);
    if (!list->devices) return hg_fail_memory();
    list->count = room ? l->driver->enumerate(list->devices, room, list->reason) : 0;
    if (list->count > room) list->count = room; /* one more since a moment ago */
    return HG_OK;
}

/* Libraries of others are asked on a stack of their own; where there is none for them, they are not
 * there. */
static hg_status ask_driver(const hg_driver *driver, device_list *list) {
    listing l = {.driver = driver, .list = list};
    char what[64];
    if (!driver->vendor) return list_here(&l);
    snprintf(what, sizeof what, "opening %s", driver->name);
    hg_status status = hg_call_deep(list_here, &l, what);
    if (l.called) return status;
    snprintf(list->reason, sizeof list->reason, "%.255s", hg_error_record()->message);
    return HG_OK;
}

/* All devices of a driver, to be freed; none with the reason. A driver whose libraries did not come
 * back from their trial is not touched. */
static hg_status list_devices(const hg_driver *driver, const hg_trial_options *options,
                              device_list *list) {
    memset(list, 0, sizeof *list);
    if (!hg_driver_is_ours(driver)) {
        snprintf(list->reason, sizeof list->reason,
                 "this process was forked from one that had opened the driver's library");
        return HG_OK;
    }
    HG_TRY(hg_trial_ask(driver, options, &list->trial));
    if (!hg_trial_failed(&list->trial.listing, list->reason)) HG_TRY(ask_driver(driver, list));
    if (!list->count && !list->reason[0])
        snprintf(list->reason, sizeof list->reason, "no device found");
    note_failed(list);
    return HG_OK;
}

static hg_status out_of_range(const char *name, uint32_t count, uint32_t index) {
    if (count == 1)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s has one device, number 0; asked for %u",
                       name, (unsigned)index);
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s has %u devices, numbers 0 to %u; asked for %u",
                   name, (unsigned)count, (unsigned)(count - 1), (unsigned)index);
}

typedef hg_status (*open_device)(void *user, const hg_driver *driver, uint32_t index);

/* What a name asks for: "opencl", or "opencl/1", which is only one of its platforms. */
typedef struct wish {
    char name[16];
    uint32_t platform; /* ANY_PLATFORM: all */
} wish;
static const uint32_t ANY_PLATFORM = UINT32_MAX;

static bool read_wish(const char *text, wish *w) {
    size_t length = strcspn(text, "/");
    *w = (wish){.platform = ANY_PLATFORM};
    if (length >= sizeof w->name) return false;
    memcpy(w->name, text, length);
    if (!text[length]) return true;
    w->platform = 0;
    const char *digit = &text[length + 1];
    bool good = *digit != '\0';
    for (; *digit && good; digit++) {
        good = *digit >= '0' && *digit <= '9' && w->platform < 1000;
        w->platform = w->platform * 10 + (uint32_t)(*digit - '0');
    }
    return good;
}

/* The specification's reasons begin with what the status says already: "CUDA backend not available:
 * no device". */
static const char *reason_alone(const char *reason) {
    static const char begin[] = "backend not available: ";
    const char *found = strstr(reason, begin);
    return found ? found + sizeof begin - 1 : reason;
}

static hg_status select_named(const hg_driver *driver, const hg_trial_options *trial, const wish *w,
                              uint32_t index, open_device open, void *user) {
    device_list list;
    char reason[256];
    HG_TRY(list_devices(driver, trial, &list));
    uint32_t count = 0, found = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        if (w->platform != ANY_PLATFORM && list.devices[i].platform != w->platform) continue;
        if (count++ == index) found = i;
    }
    hg_free(list.devices);
    if (!list.count)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s: %s", driver->name,
                       reason_alone(list.reason));
    if (!count)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s has no device of platform %u",
                       driver->name, (unsigned)w->platform);
    if (index < count && device_failed(&list, found, reason))
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s %u: %s", driver->name, (unsigned)found,
                       reason);
    return index < count ? open(user, driver, found) : out_of_range(driver->name, count, index);
}

/* The devices of one driver that are no software. *opened: the status is the answer. A device that
 * does not open is passed over like one that is missing, but any other mistake is the caller's. */
static hg_status select_from(const hg_driver *driver, const hg_trial_options *trial, uint32_t index,
                             open_device open, void *user, bool *opened, hg_text *reasons) {
    device_list list;
    hg_status status = HG_OK;
    bool found = false;
    *opened = true;
    HG_TRY(list_devices(driver, trial, &list));
    for (uint32_t i = 0; i < list.count && !found; i++)
        found = list.devices[i].available && !list.devices[i].software;
    if (found && index) {
        status = index < list.count ? open(user, driver, index)
                                    : out_of_range(driver->name, list.count, index);
        hg_free(list.devices);
        return status;
    }
    *opened = false;
    for (uint32_t i = 0; i < list.count && !*opened; i++) {
        if (!list.devices[i].available || list.devices[i].software) continue;
        status = open(user, driver, i);
        *opened = status != HG_ERROR_BACKEND_UNAVAILABLE;
        if (!*opened)
            hg_text_addf(reasons, "%s%s", reasons->length ? "; " : "", hg_error_record()->message);
    }
    hg_free(list.devices);
    return status;
}

/* No device serves: what is wrong with each that was passed over. */
static hg_status none_opened(hg_text *reasons) {
    hg_status status = reasons->failed
                           ? hg_fail_memory()
                           : hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "auto: %s",
                                     reasons->data ? reasons->data : "no backend has a device");
    hg_text_free(reasons);
    return status;
}

static hg_status select_auto(const hg_driver_list *list, uint32_t index, open_device open,
                             void *user) {
    hg_text reasons = {0};
    for (uint32_t i = list->guest ? 0 : 1; i <= list->count; i++) { /* the guest comes first */
        bool opened = false;
        if (i && (list->automatic[i - 1] == HG_NOT_AUTOMATIC ||
                  (list->automatic[i - 1] == HG_IF_ACCELERATOR && !list->accelerator)))
            continue;
        hg_status here = select_from(i ? list->drivers[i - 1] : list->guest, &list->trial, index,
                                     open, user, &opened, &reasons);
        if (!opened) continue;
        hg_text_free(&reasons);
        return here;
    }
    return none_opened(&reasons);
}

static const hg_driver_word *find_word(const hg_driver_word *words, uint32_t count,
                                       const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (hg_same_name(name, words[i].word)) return &words[i];
    return NULL;
}

static const hg_driver *find_driver(const hg_driver_list *list, const char *name) {
    for (uint32_t i = 0; i < list->count; i++)
        if (hg_same_name(name, list->drivers[i]->name)) return list->drivers[i];
    return NULL;
}

static void add_name(char names[256], const char *name) {
    size_t used = strlen(names);
    snprintf(names + used, 256 - used, " %s", name);
}

static void known_names(const hg_driver_list *list, char known[256]) {
    memcpy(known, "auto", 5);
    for (uint32_t i = 0; i < list->count; i++) add_name(known, list->drivers[i]->name);
    for (uint32_t i = 0; i < list->absent_count; i++) add_name(known, list->absent[i].word);
    for (uint32_t i = 0; i < list->alias_count; i++) add_name(known, list->aliases[i].word);
}

static hg_status unknown_name(const hg_driver_list *list, const char *name) {
    char known[256];
    known_names(list, known);
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "Invalid backend type: %s (expected one of: %s)",
                   name, known);
}

bool hg_backend_is_automatic(const char *name) { return !*name || hg_same_name(name, "auto"); }

hg_status hg_select_in(const hg_driver_list *list, const char *name, uint32_t index,
                       open_device open, void *user) {
    wish w;
    if (!read_wish(name, &w)) return unknown_name(list, name);
    const hg_driver_word *alias = find_word(list->aliases, list->alias_count, w.name);
    const char *word = alias ? alias->meaning : w.name;
    bool automatic = hg_backend_is_automatic(word);
    if (automatic && w.platform == ANY_PLATFORM) return select_auto(list, index, open, user);
    const hg_driver *driver = find_driver(list, word);
    if (!driver && list->guest && hg_same_name(word, list->guest->name)) driver = list->guest;
    if (driver) return select_named(driver, &list->trial, &w, index, open, user);
    const hg_driver_word *absent = find_word(list->absent, list->absent_count, word);
    return absent ? hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s", absent->meaning)
                  : unknown_name(list, name);
}

static const hg_driver *guest;

void hg_select_guest(const hg_driver *driver) { guest = driver; }

static hg_driver_list all_drivers(const hg_trial_options *trial) {
    return (hg_driver_list){.drivers = hg_drivers,
                            .automatic = AUTOMATIC,
                            .guest = guest,
                            .count = hg_driver_count,
                            .accelerator = may_have_accelerator(),
                            .absent = ABSENT,
                            .aliases = ALIASES,
                            .absent_count = HG_COUNT_OF(ABSENT),
                            .alias_count = HG_COUNT_OF(ALIASES),
                            .trial = *trial};
}

hg_status hg_select(const char *name, uint32_t index, const hg_trial_options *trial,
                    open_device open, void *user) {
    const hg_driver_list all = all_drivers(trial);
    return hg_select_in(&all, name, index, open, user);
}

hg_status hg_select_driver(const char *name, const hg_driver **driver) {
    const hg_trial_options none = {0};
    const hg_driver_list all = all_drivers(&none);
    const hg_driver_word *alias = find_word(all.aliases, all.alias_count, name);
    const char *word = alias ? alias->meaning : name;
    *driver = find_driver(&all, word);
    if (!*driver && guest && hg_same_name(word, guest->name)) *driver = guest;
    return *driver ? HG_OK : unknown_name(&all, name);
}

bool hg_backend_is_name(const char *text, char known[256]) {
    const hg_trial_options none = {0};
    const hg_driver_list all = all_drivers(&none);
    wish w;
    known_names(&all, known);
    return read_wish(text, &w) && (hg_backend_is_automatic(text) || find_driver(&all, w.name) ||
                                   find_word(all.absent, all.absent_count, w.name) ||
                                   find_word(all.aliases, all.alias_count, w.name));
}

/* ---- listing ---- */

static const hg_sized RULES = HG_SIZED(hg_device_info, driver, "give sizeof(hg_device_info)");

/* The entry of a backend that has no device. */
static hg_device_info no_device(const char *backend, const char *reason) {
    hg_device_info none = {.size = sizeof none};
    snprintf(none.backend, sizeof none.backend, "%s", backend);
    snprintf(none.reason, sizeof none.reason, "%s", reason);
    return none;
}

static hg_status list_all(const hg_trial_options *trial, hg_device_info *devices, size_t size,
                          size_t capacity, size_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < hg_driver_count; i++) {
        device_list list;
        HG_TRY(list_devices(hg_drivers[i], trial, &list));
        hg_device_info none = no_device(hg_drivers[i]->name, list.reason);
        uint32_t found = list.count ? list.count : 1;
        for (uint32_t k = 0; k < found; k++, ++*count)
            if (*count < capacity)
                hg_sized_give(&RULES, list.count ? &list.devices[k] : &none,
                              (char *)devices + *count * size, size);
        hg_free(list.devices);
    }
    for (uint32_t i = 0; i < HG_COUNT_OF(ABSENT); i++, ++*count) {
        hg_device_info none = no_device(ABSENT[i].word, ABSENT[i].meaning);
        if (*count < capacity) hg_sized_give(&RULES, &none, (char *)devices + *count * size, size);
    }
    return HG_OK;
}

hg_status hg_devices_list(hg_device_info *devices, size_t size, size_t capacity, size_t *count) {
    HG_ENTRY;
    hg_trial_options trial;
    char *cache_path;
    if (!count) return hg_null_argument("count");
    if (!devices && capacity) return hg_null_argument("devices");
    HG_TRY(hg_sized_check(&RULES, size));
    HG_TRY(hg_config_env_cache_path(&cache_path));
    hg_status status = hg_config_trial(cache_path, &trial);
    if (status == HG_OK) status = list_all(&trial, devices, size, capacity, count);
    hg_free(cache_path);
    return status;
}

static void add_word(hg_device_info *device, bool has, const char *word) {
    size_t used = strlen(device->capabilities);
    if (has)
        snprintf(device->capabilities + used, sizeof device->capabilities - used, "%s%s",
                 used ? " " : "", word);
}

/* What programs gain from, in words of one list for all devices. */
static void describe(const hg_device_caps *caps, hg_device_info *device) {
    const kir_caps *k = &caps->compiler.kir;
    const kir_device_target *t = &caps->compiler.target;
    device->capabilities[0] = 0;
    add_word(device, k->i8, "i8");
    add_word(device, k->i16, "i16");
    add_word(device, k->i64, "i64");
    add_word(device, k->f64, "f64");
    add_word(device, k->half, "f16-conversions");
    add_word(device, k->fma32, "fma");
    add_word(device, k->fma64, "fma64");
    add_word(device, k->subnormals, "subnormals");
    add_word(device, k->dot4, "dot4");
    if (caps->compiler.device_form) {
        add_word(device, t->memory8, "memory8");
        add_word(device, t->memory16, "memory16");
        add_word(device, t->memory64, "memory64");
        add_word(device, t->atomic64, "atomic64");
        add_word(device, t->addressed, "addresses");
        add_word(device, caps->scheduling.asynchronous, "asynchronous");
    }
    if (t->max_rounds) {
        char rounds[32];
        snprintf(rounds, sizeof rounds, "loops<=%u", (unsigned)t->max_rounds);
        add_word(device, true, rounds);
    }
    add_word(device, caps->memory.host_memory, "host-memory");
    add_word(device, caps->memory.can_import, "import");
    device->exact = caps->exact;
    device->max_block_lanes = caps->scheduling.max_block_lanes;
    device->max_shared_bytes = caps->memory.max_shared_bytes;
    if (caps->memory.total_bytes) device->memory_bytes = caps->memory.total_bytes;
    if (caps->memory.max_arena_bytes) device->max_buffer_bytes = caps->memory.max_arena_bytes;
}

hg_status hg_backend_describe(const hg_backend *b, hg_device_info *device, size_t size) {
    HG_ENTRY;
    hg_device_info own = {0};
    hg_trial_options trial;
    device_list list;
    if (!b || !device) return hg_null_argument(b ? "device" : "backend");
    HG_TRY(hg_sized_check(&RULES, size));
    HG_TRY(hg_backend_alive(b));
    if (b->adopted) { /* it may be none of those that are listed */
        own.size = sizeof own;
        own.software = b->caps->hints.on_cpu;
        snprintf(own.name, sizeof own.name, "%.127s", b->caps->identity);
    } else {
        HG_TRY(hg_config_trial(b->paths.cache, &trial));
        HG_TRY(list_devices(b->driver, &trial, &list));
        if (b->config.device_id < list.count)
            own = list.devices[b->config.device_id];
        else if (list.count) /* the first one once more (HOLOGRAM_PRETEND=devices=N) */
            own = list.devices[0];
        hg_free(list.devices);
    }
    own.device = b->config.device_id;
    own.available = true;
    snprintf(own.backend, sizeof own.backend, "%s", b->driver->name);
    describe(b->caps, &own);
    if (!own.driver[0]) snprintf(own.driver, sizeof own.driver, "%.127s", b->caps->identity);
    hg_sized_give(&RULES, &own, device, size);
    return HG_OK;
}
