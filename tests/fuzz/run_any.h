/* Runs any program that verifies, with parameters that some bytes choose, under small limits of
 * memory, steps and time. */
#ifndef HG_TESTS_RUN_ANY_H
#define HG_TESTS_RUN_ANY_H

#include "fuzz.h"
#include <hologram/hologram.h>

/* Bytes that choose things; zeros when they are used up. */
typedef struct chooser {
    const uint8_t *data;
    size_t size;
} chooser;
uint8_t choose_byte(chooser *c);
uint64_t choose_bits(chooser *c, int bytes);
/* 0 … count - 1 */
static inline uint32_t choose(chooser *c, uint32_t count) {
    return (uint32_t)(choose_bits(c, count > 256 ? 4 : 1) % count);
}

/* Assembled bytes or built instructions: verified, encoded and read back, run on the CPU and on a
 * device of few abilities that the CPU stands for, emitted for one of the targets. Every ending by
 * value is right. */
void run_any(const hg_program *program, chooser *c);

#endif
