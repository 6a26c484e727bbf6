/* Any bytes as a container: a refusal or a program. A program is written back byte for byte, its
 * verification ends, and it prints as text that assembles to the same program and describes itself.
 * A checksum that does not fit is made to fit, so that mutations reach the contents. Seeds:
 * seeds/fuzz_binary (the programs of examples/programs, and one with every kind of operand). */
#include "fuzz.h"
#include "isa/codec.h"
#include "isa/program.h"
#include <hologram/dim.h>

#include <stdlib.h>
#include <string.h>

static void check_bytes(const hg_program *p, const uint8_t *data, size_t size) {
    uint8_t *bytes = NULL;
    size_t length = 0;
    require(hg_program_encode(p, HG_PROGRAM_DEBUG, &bytes, &length) == HG_OK);
    require(length == size && memcmp(bytes, data, size) == 0);
    hg_string_free((char *)bytes);
}

static void check_code(const hg_program *p) {
    char *text = NULL;
    size_t length = 0;
    uint8_t *a = NULL, *b = NULL;
    size_t n = 0, m = 0;
    hg_program *second = NULL;
    require(hg_program_print(p, &text, &length) == HG_OK);
    require(hg_program_assemble(text, length, NULL, &second) == HG_OK);
    require(hg_program_encode(p, 0, &a, &n) == HG_OK &&
            hg_program_encode(second, 0, &b, &m) == HG_OK);
    require(n == m && memcmp(a, b, n) == 0);
    hg_program_release(second);
    hg_string_free(text);
    hg_string_free((char *)a);
    hg_string_free((char *)b);
}

/* Everything that the program says of itself, within what it counts. */
static void check_description(const hg_program *p) {
    hg_program_description d = {.size = sizeof d};
    require(hg_program_describe(p, &d) == HG_OK && d.params == hg_program_param_count(p));
    for (size_t i = 0; i <= d.params; i++) {
        hg_param_description param = {.size = sizeof param};
        require((hg_program_param(p, i, &param) == HG_OK) == (i < d.params));
        for (uint32_t k = 0; i < d.params && param.rank != HG_NO_DIMS && k < param.rank; k++)
            require(param.dims[k] != NULL);
    }
    for (size_t i = 0; i <= d.labels; i++) {
        hg_label_description label = {.size = sizeof label};
        require((hg_program_label(p, i, &label) == HG_OK) == (i < d.labels));
    }
}

static void check(const uint8_t *data, size_t size) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = hg_program_decode(data, size, d, &p);
    require(status == HG_OK || (status == HG_ERROR_ISA && hg_diagnostics_errors(d) > 0 && !p));
    if (status == HG_OK) {
        status = hg_program_verify(p, d);
        require(status == HG_OK || status == HG_ERROR_ISA);
        require((status == HG_OK) == (hg_diagnostics_errors(d) == 0));
        check_bytes(p, data, size);
        check_code(p);
        check_description(p);
        hg_string_free(hg_diagnostics_print(d, "fuzz", NULL, 0));
    }
    hg_program_release(p);
    hg_diagnostics_destroy(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(data, size);
    if (size < HG_CONTAINER_HEADER) return 0;
    uint8_t *copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data, size);
    memset(copy + HG_CONTAINER_HASH, 0, 32);
    for (int i = 0; i < 8; i++) copy[16 + i] = (uint8_t)((uint64_t)size >> (8 * i));
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, copy, size);
    hg_blake3_final(&h, copy + HG_CONTAINER_HASH);
    check(copy, size);
    free(copy);
    return 0;
}
