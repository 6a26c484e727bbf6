/* Programs of test_device.c: small, each for one thing that the device form must get right. */
#ifndef HG_TESTS_DEVICE_EXAMPLES_H
#define HG_TESTS_DEVICE_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct example {
    const char *name, *text;
    uint32_t grid[3], block[3];
    uint64_t lanes, shared;
    uint64_t regs[256]; /* parameters by register */
    bool proven;        /* no access leaves its memory */
    bool faults;        /* expected to */
    bool endless;       /* stopped by the clock */
} example;

extern const example DEVICE_EXAMPLES[];
extern const size_t DEVICE_EXAMPLE_COUNT;

#endif
