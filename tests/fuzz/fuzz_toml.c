/* Any bytes as a document of TOML: the reader refuses them at a place in the text, or gives keys
 * with values, each once and in the order of the text, of the kind they say. A document of bare
 * keys that is written anew, a line a value, reads as the same values. Seeds: seeds/fuzz_toml. */
#include "base/toml.h"
#include "fuzz.h"

static bool is_in(const char *text, size_t size, uint32_t line, uint32_t column) {
    size_t at = 0;
    for (uint32_t l = 1; l < line; l++) {
        const char *end = memchr(text + at, '\n', size - at);
        if (!end) return false;
        at = (size_t)(end - text) + 1;
    }
    return line && column && column - 1 <= size - at;
}

static void check_value(const hg_toml_value *v, const char *text, size_t size) {
    require(v->key && v->text && v->text[v->length] == 0);
    require(is_in(text, size, v->line, v->column) && is_in(text, size, v->key_line, v->key_column));
    require(v->key_line <= v->line);
    if (v->kind == HG_TOML_BOOL)
        require(strcmp(v->text, "true") == 0 || strcmp(v->text, "false") == 0);
    if (v->kind == HG_TOML_INTEGER || v->kind == HG_TOML_INTEGERS)
        require(strspn(v->text, v->kind == HG_TOML_INTEGER ? "-0123456789" : "-0123456789,") ==
                v->length);
}

static void check_values(const hg_toml *d, const char *text, size_t size) {
    for (size_t i = 0; i < d->values.count; i++) {
        const hg_toml_value *v = &d->values.data[i];
        check_value(v, text, size);
        for (size_t k = 0; k < i && i < 64; k++)
            require(strcmp(d->values.data[k].key, v->key) != 0);
    }
}

/* As values of dotted keys; false: a key is not bare. */
static bool write_value(hg_text *out, const hg_toml_value *v) {
    static const char bare[] = ".-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (strspn(v->key, bare) != strlen(v->key)) return false;
    hg_text_addf(out, "%s = ", v->key);
    if (v->kind == HG_TOML_STRING) {
        hg_text_addf(out, "\"");
        for (size_t i = 0; i < v->length; i++) {
            unsigned char c = (unsigned char)v->text[i];
            if (c < 0x20 || c == 0x7F || c == '"' || c == '\\')
                hg_text_addf(out, "\\u%04x", (unsigned)c);
            else
                hg_text_add(out, v->text + i, 1);
        }
        hg_text_addf(out, "\"\n");
    } else {
        hg_text_addf(out, v->kind == HG_TOML_INTEGERS ? "[%s]\n" : "%s\n", v->text);
    }
    return true;
}

static void check_again(const hg_toml *d) {
    hg_text written = {0};
    hg_toml again;
    hg_toml_fault fault;
    bool bare = d->values.count > 0;
    for (size_t i = 0; i < d->values.count && bare; i++)
        bare = write_value(&written, &d->values.data[i]);
    require(!written.failed);
    if (bare && written.length <= HG_TOML_MOST_BYTES) {
        if (!hg_toml_read(&again, written.data, written.length, &fault)) {
            fprintf(stderr, "line %u: %s\n%s", (unsigned)fault.line, fault.message, written.data);
            abort();
        }
        require(again.values.count == d->values.count);
        for (size_t i = 0; i < d->values.count; i++) {
            const hg_toml_value *a = &d->values.data[i], *b = &again.values.data[i];
            require(strcmp(a->key, b->key) == 0 && a->kind == b->kind && a->length == b->length &&
                    memcmp(a->text, b->text, a->length) == 0);
        }
        hg_toml_free(&again);
    }
    hg_text_free(&written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hg_toml d;
    hg_toml_fault fault = {0};
    if (hg_toml_read(&d, (const char *)data, size, &fault)) {
        check_values(&d, (const char *)data, size);
        check_again(&d);
    } else {
        require(fault.message[0] && d.values.count == 0);
        require(is_in((const char *)data, size, fault.line, fault.column));
    }
    hg_toml_free(&d);
    return 0;
}
