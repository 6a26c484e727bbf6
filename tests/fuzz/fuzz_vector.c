/* Any bytes as text of the vector form: diagnostics or a form. A form that keeps the rules prints
 * as text that reads back as the same text, every pass leaves it in order, and it prints as C.
 * Seeds: seeds/fuzz_vector and tests/vector. */
#include "fuzz.h"
#include "emit/emit.h"
#include "vector/parse.h"

static hg_text text_of(vec_kernel *k) {
    hg_text text = {0};
    vec_print(&text, k);
    require(!text.failed && text.data);
    return text;
}

static void check_form(vec_kernel *k) {
    hg_text text = text_of(k);
    kir_module *m = NULL;
    vec_kernel *second = NULL;
    require(vec_parse(text.data, text.length, NULL, &m, &second) == HG_OK);
    require(vec_verify(second) == HG_OK);
    hg_text again = text_of(second);
    require(text.length == again.length && memcmp(text.data, again.data, text.length) == 0);
    vec_kernel_destroy(second);
    kir_module_destroy(m);
    hg_text_free(&text);
    hg_text_free(&again);
}

static void go_on(vec_kernel *k, uint64_t chance) {
    hg_text out = {0};
    check_form(k);
    for (int i = 0; i < 2 * VEC_PASS_COUNT; i++) {
        require(vec_pass_run(k, (vec_pass_id)((chance >> 8 * (i % 7)) % VEC_PASS_COUNT)) == HG_OK);
        require(vec_verify(k) == HG_OK);
        check_form(k);
    }
    hg_status status = emit_vector_c(&k, 1, k->lanes < 16 ? 16 : 32, "", &out);
    require(status == HG_OK || status == HG_ERROR_ISA);
    hg_text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    kir_module *m = NULL;
    vec_kernel *k = NULL;
    uint64_t chance = 0x9E3779B9;
    hg_status status = vec_parse((const char *)data, size, d, &m, &k);
    require((status == HG_OK) == (k != NULL) && (m != NULL) == (k != NULL) &&
            (hg_diagnostics_errors(d) > 0) == (status == HG_ERROR_ISA));
    hg_string_free(hg_diagnostics_print(d, "fuzz", (const char *)data, size));
    hg_diagnostics_destroy(d);
    for (size_t i = 0; i < size; i++) chance = (chance ^ data[i]) * UINT64_C(0x100000001B3);
    if (k && vec_verify(k) == HG_OK) go_on(k, chance);
    vec_kernel_destroy(k);
    kir_module_destroy(m);
    return 0;
}

/* ---- changes to lines and words, so that most texts stay texts ---- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

typedef struct part {
    size_t from, size;
} part;

static part pick_line(const uint8_t *data, size_t size, unsigned int seed) {
    size_t at = seed % size, from = at;
    while (from && data[from - 1] != '\n') from--;
    while (at < size && data[at] != '\n') at++;
    return (part){from, at + (at < size) - from};
}

static bool is_word_byte(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '%' || c == '$';
}

static part pick_word(const uint8_t *data, size_t size, unsigned int seed) {
    size_t at = seed % size, from = at;
    while (from && is_word_byte(data[from - 1]) && is_word_byte(data[at])) from--;
    while (at < size && is_word_byte(data[at])) at++;
    return (part){from, at > from ? at - from : 1};
}

static size_t replace(uint8_t *data, size_t size, size_t most, part l, const uint8_t *by,
                      size_t length) {
    if (size - l.size + length > most) return size;
    memmove(data + l.from + length, data + l.from + l.size, size - l.from - l.size);
    memcpy(data + l.from, by, length);
    return size - l.size + length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed) {
    uint8_t copy[512];
    if (!size || seed % 5 == 0) return LLVMFuzzerMutate(data, size, most);
    unsigned int what = seed / 5 % 4, first = seed / 20 * 2654435761u >> 4,
                 second = first * 2246822519u >> 3;
    part to = what < 2 ? pick_line(data, size, first) : pick_word(data, size, first);
    part from = what < 2 ? pick_line(data, size, second) : pick_word(data, size, second);
    if (what == 0) return replace(data, size, most, to, copy, 0);
    if (from.size > sizeof copy) return size;
    memcpy(copy, data + from.from, from.size);
    if (what == 1) to.size = 0; /* a line once more */
    return replace(data, size, most, to, copy, from.size);
}
