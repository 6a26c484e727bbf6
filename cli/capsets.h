/* Capabilities of devices by name (driver/devices.def). */
#ifndef HG_CLI_CAPSETS_H
#define HG_CLI_CAPSETS_H

#include "cli.h"
#include "kir/device/device.h"

typedef struct cli_capset {
    const char *name, *title;
    kir_caps kir;
    kir_device_target target;
    uint32_t max_slots; /* 0: no limit */
} cli_capset;

const char *cli_capset_machine(void); /* where the rows were found: "an ... under ..." */
uint32_t cli_capset_count(void);
void cli_capset_get(uint32_t index, cli_capset *set);
/* By name; "poor" is another name of "swiftshader". False after reporting the names there are. */
bool cli_capset_find(cli *c, const char *option, const char *name, cli_capset *set);

#endif
