#include "vulkan_drivers.h"
#include <stdlib.h>

const char *swiftshader_file(void) {
    const char *named = getenv("HG_TEST_SWIFTSHADER");
    return named ? named : "/usr/lib/chromium/vk_swiftshader_icd.json";
}
