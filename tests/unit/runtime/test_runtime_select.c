/* Choosing among drivers that are made up: the automatic order, software devices, devices that do
 * not open, numbers out of range. */
#include "runtime/backend.h"
#include "support/runtime_support.h"

/* Devices of a made-up driver: one letter each. h hardware, s software, u not available, x hardware
 * that does not open, e hardware whose opening is an error of another kind. A capital letter begins
 * the next platform. */
static uint32_t list(const char *name, const char *kinds, hg_device_info *devices,
                     uint32_t capacity, char reason[256]) {
    uint32_t count = (uint32_t)strlen(kinds), platform = 0;
    if (!count) snprintf(reason, 256, "%s", "libnothing.so is missing: install nothing");
    for (uint32_t i = 0; devices && i < count && i < capacity; i++) {
        platform += kinds[i] <= 'Z';
        memset(&devices[i], 0, sizeof devices[i]);
        devices[i].size = sizeof devices[i];
        devices[i].device = i;
        devices[i].platform = platform;
        devices[i].available = kinds[i] != 'u';
        devices[i].software = kinds[i] == 's';
        snprintf(devices[i].backend, sizeof devices[i].backend, "%s", name);
    }
    return count;
}

static const char *kinds_of[4];
static uint32_t list_a(hg_device_info *d, uint32_t n, char reason[256]) {
    return list("a", kinds_of[0], d, n, reason);
}
static uint32_t list_b(hg_device_info *d, uint32_t n, char reason[256]) {
    return list("b", kinds_of[1], d, n, reason);
}
static uint32_t list_c(hg_device_info *d, uint32_t n, char reason[256]) {
    return list("c", kinds_of[2], d, n, reason);
}
static uint32_t list_d(hg_device_info *d, uint32_t n, char reason[256]) {
    return list("d", kinds_of[3], d, n, reason);
}
static const hg_driver a = {.name = "a", .enumerate = list_a},
                       b = {.name = "b", .enumerate = list_b},
                       c = {.name = "c", .enumerate = list_c},
                       d = {.name = "d", .enumerate = list_d};
static const hg_driver *const drivers[] = {&a, &b, &c, &d};
static const uint8_t automatic[] = {HG_IF_ACCELERATOR, HG_IF_ACCELERATOR, HG_AUTOMATIC,
                                    HG_NOT_AUTOMATIC};
static const hg_driver_word absent[] = {{"z", "z is for another day"}},
                            aliases[] = {{"bee", "b"}, {"zed", "z"}};
static bool accelerator = true;

static hg_status open_it(void *user, const hg_driver *driver, uint32_t index) {
    char *text = user;
    size_t used = strlen(text);
    const char *kinds = kinds_of[driver->name[0] - 'a'];
    snprintf(text + used, 64 - used, "%s%s%u", used ? " " : "", driver->name, (unsigned)index);
    if (kinds[index] == 'x')
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s %u is broken", driver->name,
                       (unsigned)index);
    if (kinds[index] == 'e') return hg_fail(HG_ERROR_INVALID_ARGUMENT, "nonsense");
    return HG_OK;
}

/* What is opened, in order, and how it ends. */
static void check_select(const char *all, const char *name, uint32_t index, const char *opened,
                         hg_status status, const char *message) {
    static char kinds[4][8];
    char text[64] = "";
    const hg_driver_list table = {.drivers = drivers,
                                  .automatic = automatic,
                                  .count = 4,
                                  .accelerator = accelerator,
                                  .absent = absent,
                                  .absent_count = 1,
                                  .aliases = aliases,
                                  .alias_count = 2,
                                  .trial = {.helper = "off", .cache_dir = ""}};
    memset(kinds, 0, sizeof kinds);
    for (int i = 0, n = 0; *all; all++) {
        if (*all == '/') {
            i++;
            n = 0;
        } else {
            kinds[i][n++] = *all;
        }
    }
    for (int i = 0; i < 4; i++) kinds_of[i] = kinds[i];
    CHECK_STATUS(hg_select_in(&table, name, index, open_it, text), status);
    CHECK_TEXT(text, opened);
    if (message) CHECK_TEXT(hg_last_error()->message, message);
}

int main(void) {
    check_select("h/h/h/h", "auto", 0, "a0", HG_OK, NULL);
    check_select("h/h/h/h", "", 0, "a0", HG_OK, NULL);
    check_select("s/s/h/h", "auto", 0, "c0", HG_OK, NULL);  /* software only when asked for */
    check_select("/suh/h/h", "AUTO", 0, "b2", HG_OK, NULL); /* the first that is hardware and there
                                                             */
    check_select("hh/h/h/h", "auto", 1, "a1", HG_OK, NULL); /* a number means the chosen backend's
                                                             */
    check_select("s/sh/h/", "auto", 0, "b1", HG_OK, NULL);
    check_select("x/xx/h/", "auto", 0, "a0 b0 b1 c0", HG_OK, NULL); /* what does not open is passed
                                                                       over */
    check_select("x/e/h/", "auto", 0, "a0 b0", HG_ERROR_INVALID_ARGUMENT, "nonsense");
    check_select("s/u//h", "auto", 0, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "auto: no backend has a device");
    check_select("x/s/x/h", "auto", 0, "a0 c0", HG_ERROR_BACKEND_UNAVAILABLE,
                 "auto: a 0 is broken; c 0 is broken");
    check_select("h/h/h/h", "auto", 3, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "a has one device, number 0; asked for 3");
    check_select("h/sss/h/h", "b", 2, "b2", HG_OK, NULL);
    check_select("h/sss/h/h", "B", 3, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "b has 3 devices, numbers 0 to 2; asked for 3");
    check_select("h//h/h", "b", 0, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "b: libnothing.so is missing: install nothing");
    check_select("h/x/h/h", "b", 0, "b0", HG_ERROR_BACKEND_UNAVAILABLE, "b 0 is broken"); /* named:
                                                                                             no
                                                                                             other
                                                                                             instead
                                                                                           */
    check_select("h/h/h/h", "d", 0, "d0", HG_OK, NULL);
    check_select("h/h/h/h", "e", 0, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "Invalid backend type: e (expected one of: auto a b c d z bee zed)");
    check_select("h/h/h/h", "z", 0, "", HG_ERROR_BACKEND_UNAVAILABLE, "z is for another day");
    check_select("h/h/h/h", "Zed", 0, "", HG_ERROR_BACKEND_UNAVAILABLE, "z is for another day");
    check_select("h/h/h/h", "BEE", 0, "b0", HG_OK, NULL);
    /* platforms: numbers count the devices of one */
    check_select("h/sssSS/h/h", "b/1", 0, "b3", HG_OK, NULL);
    check_select("h/sssSS/h/h", "B/0", 2, "b2", HG_OK, NULL);
    check_select("h/sssSS/h/h", "bee/2", 0, "b4", HG_OK, NULL);
    check_select("h/sssSS/h/h", "b", 4, "b4", HG_OK, NULL);
    check_select("h/sssSS/h/h", "b/1", 1, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "b has one device, number 0; asked for 1");
    check_select("h/sssSS/h/h", "b/3", 0, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "b has no device of platform 3");
    check_select("h//h/h", "b/0", 0, "", HG_ERROR_BACKEND_UNAVAILABLE,
                 "b: libnothing.so is missing: install nothing");
    check_select("h/h/h/h", "z/0", 0, "", HG_ERROR_BACKEND_UNAVAILABLE, "z is for another day");
    static const char *const wrong[] = {"b/",   "b/x",     "b/1x",
                                        "b/-1", "b/99999", "auto/0",
                                        "/0",   "b/0/1",   "aNameThatIsTooLongForAny"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_select("h/h/h/h", wrong[i], 0, "", HG_ERROR_BACKEND_UNAVAILABLE, NULL);
        CHECK_MESSAGE(strstr(hg_last_error()->message, "Invalid backend type: ") != NULL, "%s: %s",
                      wrong[i], hg_last_error()->message);
    }
    accelerator = false; /* nobody looks for one */
    check_select("h/h/h/h", "auto", 0, "c0", HG_OK, NULL);
    check_select("h/h/h/h", "b", 0, "b0", HG_OK, NULL);
    return test_done();
}
