/* Where the Vulkan drivers of the tests are. */
#ifndef HG_TESTS_VULKAN_DRIVERS_H
#define HG_TESTS_VULKAN_DRIVERS_H

/* SwiftShader's manifest: of Chromium, or what HG_TEST_SWIFTSHADER names. The file may be missing.
 */
const char *swiftshader_file(void);

#endif
