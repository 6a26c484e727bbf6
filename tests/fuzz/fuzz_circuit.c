/* Any bytes as a circuit: diagnostics or a circuit. The first byte chooses the options. What parses
 * prints as text that parses to the same text, words and bytes end; what compiles lowers to a
 * program that verifies, in the three canonical forms with the same memory after a run. Seeds:
 * seeds/fuzz_circuit. */
#include "fuzz.h"
#include "isa/program.h"
#include <hologram/circuit_run.h>

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 5, MOST_CALLS = 400 /* of circuits that are run */ };

static void check_parsed(const char *text, size_t size, const hg_circuit_options *options) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_circuit *c = NULL, *again = NULL;
    char *printed = NULL, *second = NULL, *words = NULL, *json = NULL;
    hg_circuit_byte *bytes = NULL;
    size_t length = 0, second_length = 0, count = 0;
    hg_status status = hg_circuit_parse(text, size, options, d, &c);
    require((status == HG_OK) == (c != NULL));
    check_diagnostics(d, status != HG_OK);
    char *messages = hg_diagnostics_print(d, "fuzz", text, size);
    hg_string_free(messages);
    hg_diagnostics_destroy(d);
    if (!c) return;
    require(hg_circuit_print(c, &printed, &length) == HG_OK);
    require(hg_circuit_parse(printed, length, options, NULL, &again) == HG_OK);
    require(hg_circuit_print(again, &second, &second_length) == HG_OK);
    require(length == second_length && memcmp(printed, second, length) == 0);
    require(hg_circuit_words(c, &words, NULL) == HG_OK && hg_circuit_json(c, &json, NULL) == HG_OK);
    require(hg_circuit_bytes(c, &bytes, &count) == HG_OK);
    for (size_t i = 0; i < count; i++) require(bytes[i].cls < HG_CIRCUIT_CLASSES);
    hg_circuit_destroy(c);
    hg_circuit_destroy(again);
    hg_string_free(printed);
    hg_string_free(second);
    hg_string_free(words);
    hg_string_free(json);
    hg_string_free((char *)bytes);
}

/* ---- runs ---- */

static hg_backend *backend;

static void run(const hg_translated_program *t, const uint8_t *use,
                uint32_t memory[HG_CIRCUIT_CLASSES][ELEMENTS]) {
    static float in[HG_CIRCUIT_CLASSES][ELEMENTS];
    hg_class_array arrays[HG_CIRCUIT_CLASSES];
    hg_circuit_launch launch = HG_CIRCUIT_LAUNCH_INIT;
    size_t count = 0;
    launch.elements = ELEMENTS;
    for (uint32_t c = 0; c < HG_CIRCUIT_CLASSES; c++) {
        if (!use[c]) continue;
        for (uint32_t i = 0; i < ELEMENTS; i++) in[c][i] = (float)(c + 1) * 0.5f - (float)i;
        arrays[count++] = (hg_class_array){.cls = (uint8_t)c,
                                           .input = c % 5 ? in[c] : NULL,
                                           .input_count = c % 5 ? ELEMENTS - c % 3 : 0,
                                           .output = (float *)(void *)memory[c],
                                           .output_count = ELEMENTS};
    }
    require(hg_circuit_run(backend, t, &launch, arrays, count) == HG_OK);
}

/* Arithmetic NaN have no payload of their own, so nothing that was a NaN in between can be
 * compared: then only the run is checked. */
static bool has_nan(uint32_t memory[HG_CIRCUIT_CLASSES][ELEMENTS]) {
    for (uint32_t c = 0; c < HG_CIRCUIT_CLASSES; c++)
        for (uint32_t i = 0; i < ELEMENTS; i++)
            if ((memory[c][i] & 0x7fffffff) > 0x7f800000) return true;
    return false;
}

static void check_compiled(const char *text, size_t size, hg_circuit_options options) {
    static uint32_t memory[3][HG_CIRCUIT_CLASSES][ELEMENTS];
    uint8_t use[HG_CIRCUIT_CLASSES];
    hg_diagnostics *d = hg_diagnostics_create(0);
    memset(memory, 0, sizeof memory);
    for (int mode = HG_CANONICALISE_OFF; mode <= HG_CANONICALISE_GATES; mode++) {
        hg_translated_program t = {.size = sizeof t};
        hg_circuit *c = NULL;
        options.canonicalise = (hg_canonicalise)mode;
        hg_status status = hg_circuit_to_isa_translate(text, size, &options, mode ? NULL : d, &t);
        if (mode == HG_CANONICALISE_OFF) check_diagnostics(d, status != HG_OK);
        if (status != HG_OK) break;
        require(hg_program_verify(t.program, NULL) == HG_OK);
        require(hg_circuit_compile(text, size, &options, NULL, &c) == HG_OK);
        size_t calls = hg_circuit_call_count(c);
        hg_circuit_destroy(c);
        if (mode == HG_CANONICALISE_OFF) memcpy(use, t.class_use, sizeof use);
        if (calls <= MOST_CALLS) run(&t, use, memory[mode]);
        hg_translated_program_release(&t);
        bool equal = memcmp(memory[mode], memory[0], sizeof memory[0]) == 0;
        require(calls > MOST_CALLS || equal || has_nan(memory[mode]) || has_nan(memory[0]));
    }
    hg_diagnostics_destroy(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hg_config config = hg_config_default();
    config.num_threads = 1;
    if (!backend) require(hg_backend_create_with_config(&config, &backend) == HG_OK);
    if (size == 0) return 0;
    hg_circuit_options options = {.size = sizeof options, .variants = data[0] & 1};
    check_parsed((const char *)data + 1, size - 1, &options);
    check_compiled((const char *)data + 1, size - 1, options);
    return 0;
}
