/* Capabilities of devices by name (driver/devices.def). */
#ifndef HG_DRIVER_CAPSETS_H
#define HG_DRIVER_CAPSETS_H

#include "kir/device/device.h"

typedef struct hg_capset {
    const char *name, *title;
    kir_caps kir;
    kir_device_target target;
    uint32_t max_slots; /* 0: no limit */
} hg_capset;

const char *hg_capset_machine(void); /* where the rows were found: "an ... under ..." */
uint32_t hg_capset_count(void);
void hg_capset_get(uint32_t index, hg_capset *set);
/* By name; "poor" is another name of "swiftshader". False: there is none. */
bool hg_capset_find(const char *name, hg_capset *set);
/* All names, with commas between them. */
void hg_capset_names(char *text, size_t size);

#endif
