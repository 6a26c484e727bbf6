/* Symbols that programs compiled with the headers of 0.1 call. They return or fill structures
 * without getting the size as an argument, so they keep the structures of 0.1 for ever; today's
 * headers define the same names inline, over functions that take a size.
 * Must not know: anything that came after 0.1. */
#define hg_launch_default inline_launch_default
#define hg_launch_linear inline_launch_linear
#define hg_launch_grid_2d inline_launch_grid_2d
#define hg_config_default inline_config_default
#define hg_config_from_env inline_config_from_env
#define hg_devices inline_devices
#define hg_backend_device inline_backend_device
#include <hologram/backend.h>
#undef hg_launch_default
#undef hg_launch_linear
#undef hg_launch_grid_2d
#undef hg_config_default
#undef hg_config_from_env
#undef hg_devices
#undef hg_backend_device

#include "base/sized.h"
#include <string.h>

enum {
    LAUNCH_BYTES = HG_SIZE_THROUGH(hg_launch, max_steps),
    CONFIG_BYTES = HG_SIZE_THROUGH(hg_config, profile_file),
    DEVICE_INFO_BYTES = HG_SIZE_THROUGH(hg_device_info, driver)
};

/* As large and aligned as hg_launch and hg_config were; a calling convention asks for no more. */
typedef struct launch_0_1 {
    _Alignas(hg_launch) unsigned char bytes[LAUNCH_BYTES];
} launch_0_1;
typedef struct config_0_1 {
    _Alignas(hg_config) unsigned char bytes[CONFIG_BYTES];
} config_0_1;

static launch_0_1 cut_launch(hg_launch launch) {
    launch_0_1 cut;
    launch.size = LAUNCH_BYTES;
    memcpy(cut.bytes, &launch, LAUNCH_BYTES);
    return cut;
}

HG_API launch_0_1 hg_launch_default(void);
launch_0_1 hg_launch_default(void) { return cut_launch(inline_launch_default()); }
HG_API launch_0_1 hg_launch_linear(uint64_t total);
launch_0_1 hg_launch_linear(uint64_t total) { return cut_launch(inline_launch_linear(total)); }
HG_API launch_0_1 hg_launch_grid_2d(uint32_t width, uint32_t height);
launch_0_1 hg_launch_grid_2d(uint32_t width, uint32_t height) {
    return cut_launch(inline_launch_grid_2d(width, height));
}

HG_API config_0_1 hg_config_default(void);
config_0_1 hg_config_default(void) {
    hg_config config = inline_config_default();
    config_0_1 cut;
    config.size = CONFIG_BYTES;
    memcpy(cut.bytes, &config, CONFIG_BYTES);
    return cut;
}

HG_API hg_status hg_config_from_env(hg_config *config);
hg_status hg_config_from_env(hg_config *config) {
    HG_TRY(hg_config_init(config, CONFIG_BYTES));
    return hg_config_read_env(config);
}

HG_API hg_status hg_devices(hg_device_info *devices, size_t capacity, size_t *count);
hg_status hg_devices(hg_device_info *devices, size_t capacity, size_t *count) {
    return hg_devices_list(devices, DEVICE_INFO_BYTES, capacity, count);
}

HG_API hg_status hg_backend_device(const hg_backend *backend, hg_device_info *device);
hg_status hg_backend_device(const hg_backend *backend, hg_device_info *device) {
    return hg_backend_describe(backend, device, DEVICE_INFO_BYTES);
}
