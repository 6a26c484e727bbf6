/* What programs compiled with the headers of 0.1 call: the symbols that today's headers define
 * inline. Sizes are those of 64-bit hosts. */
#define hg_launch_default inline_launch_default
#define hg_launch_linear inline_launch_linear
#define hg_launch_grid_2d inline_launch_grid_2d
#define hg_config_default inline_config_default
#define hg_config_from_env inline_config_from_env
#define hg_devices inline_devices
#define hg_backend_device inline_backend_device
#include "support/runtime_support.h"
#undef hg_launch_default
#undef hg_launch_linear
#undef hg_launch_grid_2d
#undef hg_config_default
#undef hg_config_from_env
#undef hg_devices
#undef hg_backend_device

typedef struct launch_0_1 {
    size_t size;
    uint32_t grid[3], block[3];
    uint64_t shared_memory, lanes, timeout_ms, max_steps;
} launch_0_1;
typedef struct config_0_1 {
    size_t size;
    char backend[16];
    uint32_t device_id, num_threads;
    uint64_t timeout_ms, max_buffer_size;
    uint32_t cache_programs;
    char cpu_level[16], pretend[64];
    const char *cache_dir;
    uint64_t cache_bytes;
    bool check_races, profiling;
    const char *profile_file;
} config_0_1;
enum { DEVICE_INFO = 832 };

launch_0_1 hg_launch_default(void);
launch_0_1 hg_launch_linear(uint64_t total);
launch_0_1 hg_launch_grid_2d(uint32_t width, uint32_t height);
config_0_1 hg_config_default(void);
hg_status hg_config_from_env(config_0_1 *config);
hg_status hg_devices(void *devices, size_t capacity, size_t *count);
hg_status hg_backend_device(const hg_backend *backend, void *device);

static bool is_guard(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0xA5) return false;
    return true;
}

static void test_launches(void) {
    launch_0_1 d = hg_launch_default(), l = hg_launch_linear(1000), g = hg_launch_grid_2d(17, 32);
    CHECK(d.size == 64 && sizeof d == 64 && d.grid[0] == 1 && d.block[2] == 1 && !d.lanes &&
          !d.max_steps);
    CHECK(l.size == 64 && l.grid[0] == 4 && l.block[0] == 256 && l.lanes == 1000);
    CHECK(g.size == 64 && g.grid[0] == 2 && g.grid[1] == 2 && g.block[0] == 16 &&
          g.block[1] == 16 && g.block[2] == 1 && !g.lanes);
}

static void test_configs(void) {
    struct {
        config_0_1 config;
        unsigned char guard[64];
    } c;
    hg_backend *b = NULL;
    config_0_1 d = hg_config_default();
    CHECK(d.size == 168 && sizeof d == 168 && strcmp(d.backend, "auto") == 0 &&
          d.timeout_ms == 30000 && d.cache_programs == 256);
    CHECK(strcmp(d.cache_dir, "auto") == 0 && d.cache_bytes == 268435456 && !d.check_races &&
          !d.profile_file);
    memset(&c, 0xA5, sizeof c);
    CHECK_OK(hg_config_from_env(&c.config)); /* it does not read what nobody has filled */
    CHECK(c.config.size == 168 && is_guard(c.guard, sizeof c.guard));
    memcpy(c.config.backend, "null", 5);
    CHECK_OK(hg_backend_create_with_config((const hg_config *)(void *)&c.config, &b));
    hg_backend_destroy(b);
}

static void test_devices(void) {
    enum { COUNT = 8 };
    static unsigned char bytes[COUNT * DEVICE_INFO + 64];
    static hg_device_info today[COUNT];
    size_t count, again;
    CHECK_OK(inline_devices(today, COUNT, &again));
    memset(bytes, 0xA5, sizeof bytes);
    CHECK_OK(hg_devices(bytes, COUNT, &count));
    CHECK_U64(count, again);
    for (size_t i = 0; i < count && i < COUNT; i++) {
        size_t size;
        memcpy(&size, bytes + i * DEVICE_INFO, sizeof size);
        CHECK(size == DEVICE_INFO &&
              strcmp((const char *)bytes + i * DEVICE_INFO + 8, today[i].backend) == 0);
    }
    CHECK(is_guard(bytes + COUNT * DEVICE_INFO, 64));
    hg_backend *b = open_backend("cpu");
    memset(bytes, 0xA5, sizeof bytes);
    CHECK_OK(hg_backend_device(b, bytes));
    CHECK(strcmp((const char *)bytes + 8, "cpu") == 0 && is_guard(bytes + DEVICE_INFO, 64));
    hg_backend_destroy(b);
}

int main(void) {
    if (sizeof(size_t) != 8) return SKIP("sizes of 64-bit hosts"), test_done();
    test_launches();
    test_configs();
    test_devices();
    return test_done();
}
