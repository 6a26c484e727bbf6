/* What stands around a kernel's body: version, name, parameters and their types (semantics 7.2).
 * Must not know: statements, instructions. */
#include "translators/json/kernel.h"

#include <string.h>

/* ---- parameters ---- */

/* False after an error. */
static bool read_type(jk_kernel *k, uint32_t node, jk_name_kind *kind, jk_type *type) {
    static const char *const kinds[] = {"scalar", "device_array", "device_ptr"};
    char hint[128];
    if (hg_json_kind_of(k->document, node) != HG_JSON_OBJECT) {
        jk_error(k, "N03", node, "for example {\"kind\":\"scalar\",\"type\":\"f32\"}",
                 "expected a type, got %s", jk_show(k, node).text);
        return false;
    }
    uint32_t word = jk_string_field(k, node, "kind");
    if (!word) return false;
    int which = jk_word(k, word, kinds, HG_COUNT_OF(kinds));
    *kind = which == 1 ? JK_ARRAY : JK_SCALAR;
    switch (which) {
    case 0: *type = jk_read_scalar(k, node); break;
    case 1: *type = jk_read_element(k, node); break;
    case 2: *type = JK_POINTER; break;
    default:
        jk_error(k, "N01", word,
                 jk_words_hint(k, word, kinds, HG_COUNT_OF(kinds), hint, sizeof hint),
                 "unknown kind of type %s", jk_show(k, word).text);
        return false;
    }
    static const char *const fields[] = {"kind type", "kind element_type", "kind"};
    return *type != JK_ERROR && jk_only_fields(k, node, fields[which]);
}

static void read_param(jk_kernel *k, uint32_t param) {
    if (hg_json_kind_of(k->document, param) != HG_JSON_OBJECT) {
        jk_error(k, "N03", param, NULL, "expected a parameter {\"name\": …, \"type\": …}, got %s",
                 jk_show(k, param).text);
        return;
    }
    uint32_t name = jk_string_field(k, param, "name"),
             type_node = jk_field(k, param, "type", "a type");
    if (!name || !type_node || !jk_only_fields(k, param, "name type shape")) return;
    jk_name_kind kind = JK_SCALAR;
    jk_type type;
    if (!read_type(k, type_node, &kind, &type))
        type = JK_ERROR; /* uses of the name are no further mistakes */
    if (k->name_table.count == HG_MAX_PARAMS) {
        jk_error(k, "S05", name, NULL, "more than %d parameters", HG_MAX_PARAMS);
        return;
    }
    (void)jk_declare(k, name, "parameter", kind, type);
}

/* Arrays and pointers r1, r2, r3, then from r5; the first integer r4; everything else from r5
 * (semantics 7.5). */
static void assign_registers(jk_kernel *k) {
    uint32_t arrays = 0, next = 5;
    bool integer = false;
    for (uint32_t i = 0; i < k->name_table.count; i++) {
        jk_name *n = &k->name_table.all[i];
        bool handle = n->kind == JK_ARRAY || n->type == JK_POINTER;
        uint32_t reg;
        if (handle && arrays < 3) {
            reg = ++arrays;
        } else if (!handle && !integer && jk_is_integer(n->type)) {
            integer = true;
            reg = 4;
        } else {
            reg = next++;
        }
        if (reg > JK_LAST_REGISTER) {
            jk_error(k, "S05", n->token, NULL,
                     "no register is left for this parameter: %d are taken", JK_LAST_REGISTER);
            return;
        }
        n->reg = (uint8_t)reg;
    }
}

static void read_params(jk_kernel *k, uint32_t params) {
    if (hg_json_kind_of(k->document, params) != HG_JSON_ARRAY) {
        jk_error(k, "N03", params, NULL, "expected an array of parameters, got %s",
                 jk_show(k, params).text);
        return;
    }
    for (uint32_t p = params + 1, end = hg_json_next(k->document, params);
         p < end && k->errors < JK_MOST_ERRORS; p = hg_json_next(k->document, p))
        read_param(k, p);
    k->name_table.params = k->name_table.count;
    assign_registers(k);
}

/* ---- the document ---- */

/* The kernel's name as a program's: what no identifier can hold becomes '_'. */
static void read_name(jk_kernel *k, uint32_t name) {
    size_t length;
    const char *text = hg_json_decode(k->document, name, &k->arena, &length);
    if (!text) {
        k->out_of_memory = true;
        return;
    }
    if (!length) {
        jk_error(k, "N03", name, NULL, "Kernel name cannot be empty");
        return;
    }
    if (length > HG_MAX_IDENT_BYTES - 1) length = HG_MAX_IDENT_BYTES - 1;
    char *copy = hg_arena_alloc(&k->arena, length + 2);
    if (!copy) return;
    copy[0] = '_';
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
                    c == '.' || c == '$';
        copy[1 + i] = good ? c : '_';
    }
    k->name = hg_is_identifier(copy + 1, length) ? copy + 1 : copy;
}

void jk_read_document(jk_kernel *k) {
    const hg_json_document *d = k->document;
    if (hg_json_kind_of(d, k->root) != HG_JSON_OBJECT) {
        jk_error(k, "N03", k->root, "a document is {\"version\":\"1.0\",\"kernel\":{…}}",
                 "expected an object, got %s", jk_show(k, k->root).text);
        return;
    }
    uint32_t version = jk_string_field(k, k->root, "version");
    if (version && !hg_json_string_is(d, version, "1.0")) {
        jk_shown shown = jk_show(k, version);
        jk_error(k, "S06", version, "this library reads version 1.0",
                 "Unsupported schema version: %.*s", (int)strlen(shown.text) - 2, shown.text + 1);
        return;
    }
    uint32_t kernel = jk_field(k, k->root, "kernel", "an object");
    if (!kernel) return;
    if (hg_json_kind_of(d, kernel) != HG_JSON_OBJECT) {
        jk_error(k, "N03", kernel, NULL, "expected an object, got %s", jk_show(k, kernel).text);
        return;
    }
    uint32_t name = jk_string_field(k, kernel, "name"),
             params = jk_field(k, kernel, "params", "an array"),
             body = jk_field(k, kernel, "body", "an array");
    bool known = jk_only_fields(k, k->root, "version kernel");
    known = jk_only_fields(k, kernel, "name params body shared private block grid lanes") && known;
    if (name) read_name(k, name);
    if (params) read_params(k, params);
    if (params && known) jk_read_memory(k, kernel);
    if (!body || !params || k->out_of_memory) return;
    if (hg_json_kind_of(d, body) != HG_JSON_ARRAY)
        jk_error(k, "N03", body, NULL, "expected an array of statements, got %s",
                 jk_show(k, body).text);
    else if (hg_json_next(d, body) == body + 1)
        k->by_name = true;
    else
        jk_read_body(k, body);
}
