/* Any bytes as .atlas text: diagnostics or a program. A program prints as text that assembles to
 * the same program, its verification ends, and if it verifies, its binary reads back as the same
 * program. Seeds: seeds/fuzz_text. */
#include "fuzz.h"
#include "isa/program.h"

#include <stdlib.h>
#include <string.h>

static void check_binary(const hg_program *p) {
    uint8_t *bytes = NULL, *again = NULL;
    size_t length = 0, again_length = 0;
    hg_program *second = NULL;
    require(hg_program_encode(p, HG_PROGRAM_DEBUG, &bytes, &length) == HG_OK);
    require(hg_program_decode(bytes, length, NULL, &second) == HG_OK);
    require(hg_program_encode(second, HG_PROGRAM_DEBUG, &again, &again_length) == HG_OK);
    require(length == again_length && memcmp(bytes, again, length) == 0);
    require(memcmp(hg_program_hash(p), hg_program_hash(second), 32) == 0);
    check_text(second);
    hg_program_release(second);
    hg_string_free((char *)bytes);
    hg_string_free((char *)again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    hg_status status = hg_program_assemble((const char *)data, size, d, &p);
    require((status == HG_OK) == (p != NULL));
    check_diagnostics(d, status != HG_OK);
    char *printed = hg_diagnostics_print(d, "fuzz", (const char *)data, size);
    hg_string_free(printed);
    hg_diagnostics_destroy(d);
    if (!p) return 0;
    check_text(p);
    if (hg_program_verify(p, NULL) == HG_OK) check_binary(p);
    hg_program_release(p);
    return 0;
}
