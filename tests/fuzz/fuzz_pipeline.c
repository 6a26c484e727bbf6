/* The whole road: text, a zero byte, and bytes that choose parameters and lanes. What assembles and
 * verifies runs, on the CPU and on a poor device, under small limits of memory, steps and time.
 * Seeds: seeds/fuzz_pipeline and seeds/fuzz_text. */
#include "run_any.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = memchr(data, 0, size);
    size_t length = end ? (size_t)(end - data) : size;
    chooser c = {data + length + (end != NULL), size - length - (end != NULL)};
    hg_program *p = NULL;
    if (hg_program_assemble((const char *)data, length, NULL, &p) != HG_OK) return 0;
    run_any(p, &c);
    hg_program_release(p);
    return 0;
}
