/* See wasm_module.h: bytes. */
#include "emit/wasm_module.h"

#include <stdio.h>
#include <string.h>

typedef struct op_info {
    uint8_t prefix, code, align; /* 2^align bytes: atomics say it, others promise nothing */
} op_info;
static const op_info OPS[WASM_OP_COUNT] = {
#define WASM_OP(id, text, prefix, code, immediates)      \
    [W_##id] = {prefix, code,                            \
                WASM_##immediates == WASM_ATOMIC_4   ? 2 \
                : WASM_##immediates == WASM_ATOMIC_8 ? 3 \
                                                     : 0},
#include "emit/wasm.def"
};

static void byte(hg_text *out, uint32_t value) {
    const char c = (char)(value & 255);
    hg_text_add(out, &c, 1);
}

static void unsigned_leb(hg_text *out, uint64_t value) {
    for (; value > 127; value >>= 7) byte(out, (uint32_t)(value & 127) | 128);
    byte(out, (uint32_t)value);
}

static void signed_leb(hg_text *out, int64_t value) {
    for (;;) {
        const uint32_t low = (uint32_t)value & 127;
        const bool last = value >= -64 && value < 64;
        byte(out, last ? low : low | 128);
        if (last) return;
        value = value >= 0 ? value >> 7 : ~(~value >> 7);
    }
}

static void little_endian(hg_text *out, uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) byte(out, (uint32_t)(value >> (8 * i)));
}

static void name_of(hg_text *out, const char *name) {
    unsigned_leb(out, strlen(name));
    hg_text_add(out, name, strlen(name));
}

/* ---- instructions ---- */

void w(wasm_code *c, wasm_op op) {
    const op_info *info = &OPS[op];
    if (info->prefix) {
        byte(&c->bytes, info->prefix);
        unsigned_leb(&c->bytes, info->code);
    } else {
        byte(&c->bytes, info->code);
    }
    if (op == W_END) c->depth--;
    const uint32_t zeros = op == W_MEMORY_COPY
                               ? 2
                               : op == W_MEMORY_SIZE || op == W_MEMORY_FILL || op == W_ATOMIC_FENCE;
    for (uint32_t i = 0; i < zeros; i++) byte(&c->bytes, 0);
}

void w_number(wasm_code *c, wasm_op op, uint64_t number) {
    w(c, op);
    unsigned_leb(&c->bytes, number);
}

void w_get(wasm_code *c, uint32_t local) { w_number(c, W_LOCAL_GET, local); }
void w_set(wasm_code *c, uint32_t local) { w_number(c, W_LOCAL_SET, local); }
void w_tee(wasm_code *c, uint32_t local) { w_number(c, W_LOCAL_TEE, local); }

void w_i32(wasm_code *c, uint32_t value) {
    w(c, W_I32_CONST);
    signed_leb(&c->bytes, (int32_t)value);
}

void w_i64(wasm_code *c, uint64_t value) {
    w(c, W_I64_CONST);
    signed_leb(&c->bytes, (int64_t)value);
}

void w_f32(wasm_code *c, uint32_t bits) {
    w(c, W_F32_CONST);
    little_endian(&c->bytes, bits, 4);
}

void w_f64(wasm_code *c, uint64_t bits) {
    w(c, W_F64_CONST);
    little_endian(&c->bytes, bits, 8);
}

void w_v128(wasm_code *c, const uint8_t bytes[16]) {
    w(c, W_V128_CONST);
    hg_text_add(&c->bytes, (const char *)bytes, 16);
}

void w_shuffle(wasm_code *c, const uint8_t bytes[16]) {
    w(c, W_I8X16_SHUFFLE);
    hg_text_add(&c->bytes, (const char *)bytes, 16);
}

void w_memory(wasm_code *c, wasm_op op, uint64_t offset) {
    w(c, op);
    unsigned_leb(&c->bytes, OPS[op].align);
    unsigned_leb(&c->bytes, offset);
}

void w_lane(wasm_code *c, wasm_op op, uint32_t lane) {
    w(c, op);
    byte(&c->bytes, lane);
}

void w_memory_lane(wasm_code *c, wasm_op op, uint64_t offset, uint32_t lane) {
    w_memory(c, op, offset);
    byte(&c->bytes, lane);
}

void w_indirect(wasm_code *c, uint32_t type) {
    w_number(c, W_CALL_INDIRECT, type);
    byte(&c->bytes, 0);
}

uint32_t w_open(wasm_code *c, wasm_op op, wasm_type result) {
    w(c, op);
    byte(&c->bytes, result);
    return ++c->depth;
}

void w_branch(wasm_code *c, wasm_op op, uint32_t label) { w_number(c, op, c->depth - label); }

/* ---- locals ---- */

static uint32_t new_local(wasm_code *c, wasm_type type) {
    byte(&c->locals, type);
    return c->locals.length ? (uint32_t)c->locals.length - 1 : 0;
}

uint32_t wasm_take(wasm_code *c, wasm_type type) {
    uint32_t local = UINT32_MAX;
    for (uint64_t i = c->spare.count; i-- > 0 && local == UINT32_MAX;)
        if (c->locals.length && (uint8_t)c->locals.data[c->spare.data[i]] == (uint8_t)type) {
            local = c->spare.data[i];
            memmove(&c->spare.data[i], &c->spare.data[i + 1],
                    (size_t)(c->spare.count - i - 1) * sizeof *c->spare.data);
            c->spare.count--;
        }
    if (local == UINT32_MAX) local = new_local(c, type);
    uint32_t *taken = hg_vec_push(&c->taken);
    if (taken)
        *taken = local;
    else
        c->bytes.failed = true;
    return local;
}

void wasm_release(wasm_code *c, uint64_t count) {
    while (c->taken.count > count) {
        uint32_t *spare = hg_vec_push(&c->spare);
        if (!spare) {
            c->bytes.failed = true;
            return;
        }
        *spare = c->taken.data[--c->taken.count];
    }
}

/* ---- functions ---- */

static wasm_type type_of_letter(char letter) {
    return letter == 'i'   ? WASM_I32
           : letter == 'I' ? WASM_I64
           : letter == 'f' ? WASM_F32
           : letter == 'F' ? WASM_F64
                           : WASM_V128;
}

static void types_text(hg_text *out, const char *letters, size_t count) {
    unsigned_leb(out, count);
    for (size_t i = 0; i < count; i++) byte(out, type_of_letter(letters[i]));
}

uint32_t wasm_type_of(wasm_module *m, const char *signature) {
    hg_text one = {0};
    const size_t params = strcspn(signature, ":"), all = strlen(signature);
    byte(&one, 0x60);
    types_text(&one, signature, params);
    types_text(&one, signature + params + 1, all - params - 1);
    if (one.failed) {
        m->failed = true;
        hg_text_free(&one);
        return 0;
    }
    uint32_t number = 0;
    size_t at = 0;
    while (at < m->types.length) { /* each with its length in front, as two bytes */
        const size_t length = (size_t)(uint8_t)m->types.data[at] << 8 |
                              (uint8_t)m->types.data[at + 1];
        if (length == one.length && memcmp(m->types.data + at + 2, one.data, length) == 0) break;
        at += length + 2;
        number++;
    }
    if (at >= m->types.length) {
        byte(&m->types, (uint32_t)one.length >> 8);
        byte(&m->types, (uint32_t)one.length);
        hg_text_add(&m->types, one.data, one.length);
        m->type_count++;
    }
    m->failed = m->failed || m->types.failed;
    hg_text_free(&one);
    return number;
}

uint32_t wasm_declare(wasm_module *m, const char *name, const char *signature, bool exported) {
    const uint32_t type = wasm_type_of(m, signature);
    wasm_function *f = hg_vec_push(&m->functions);
    if (!f) {
        m->failed = true;
        return 0;
    }
    f->type = type;
    f->exported = exported;
    snprintf(f->name, sizeof f->name, "%s", name);
    return (uint32_t)m->functions.count - 1;
}

uint32_t wasm_import(wasm_module *m, const char *name, const char *signature) {
    m->imported++;
    return wasm_declare(m, name, signature, false);
}

void wasm_begin(wasm_code *c, const char *signature) {
    *c = (wasm_code){.depth = 0};
    for (const char *letter = signature; *letter != ':'; letter++)
        (void)new_local(c, type_of_letter(*letter));
    c->params = (uint32_t)c->locals.length;
}

void wasm_define(wasm_module *m, uint32_t number, wasm_code *c) {
    hg_text body = {0};
    uint32_t runs = 0;
    const size_t count = c->locals.length;
    for (size_t i = c->params; i < count; i++)
        runs += i == c->params || c->locals.data[i] != c->locals.data[i - 1];
    unsigned_leb(&body, runs);
    for (size_t i = c->params; i < count;) {
        size_t end = i;
        while (end < count && c->locals.data[end] == c->locals.data[i]) end++;
        unsigned_leb(&body, end - i);
        byte(&body, (uint8_t)c->locals.data[i]);
        i = end;
    }
    hg_text_add(&body, c->bytes.data ? c->bytes.data : "", c->bytes.length);
    byte(&body, OPS[W_END].code);
    m->failed = m->failed || body.failed || c->bytes.failed || c->locals.failed;
    if (m->locals < count) m->locals = count;
    if (m->bytes < body.length) m->bytes = body.length;
    if (!m->failed) {
        m->functions.data[number].body = body;
        body = (hg_text){0};
    }
    hg_text_free(&body);
    hg_text_free(&c->bytes);
    hg_text_free(&c->locals);
    hg_vec_free(&c->taken);
    hg_vec_free(&c->spare);
}

uint32_t wasm_data(wasm_module *m, const void *bytes, uint64_t size, uint32_t align) {
    while (m->data.length % align != 0 && !m->data.failed) byte(&m->data, 0);
    const uint32_t at = (uint32_t)m->data.length;
    hg_text_add(&m->data, bytes, (size_t)size);
    m->failed = m->failed || m->data.failed;
    return at;
}

uint32_t wasm_place(wasm_module *m, uint32_t function) {
    uint32_t *to = hg_vec_push(&m->alone.table);
    if (!to) {
        m->failed = true;
        return 0;
    }
    *to = function;
    return (uint32_t)m->alone.table.count;
}

void wasm_constant_named(wasm_module *m, const char *name, uint32_t value) {
    wasm_constant *to = hg_vec_push(&m->alone.constants);
    if (to)
        *to = (wasm_constant){name, value};
    else
        m->failed = true;
}

/* ---- sections ---- */

enum {
    CUSTOM,
    TYPES,
    IMPORTS,
    FUNCTIONS,
    TABLES,
    MEMORIES,
    GLOBALS,
    EXPORTS,
    ELEMENTS = 9,
    CODE,
    DATA
};
enum { IS_FUNCTION, IS_TABLE, IS_MEMORY, IS_GLOBAL, IS_FUNCREF = 0x70 };

static void section(hg_text *out, uint32_t id, hg_text *content) {
    byte(out, id);
    unsigned_leb(out, content->length);
    hg_text_add(out, content->data ? content->data : "", content->length);
    out->failed = out->failed || content->failed;
    hg_text_free(content);
}

/* What has to be there before the module can be made: the size of its data, and how it is aligned
 * (the tools' convention for dynamic linking). */
static void write_needs(wasm_module *m, hg_text *out) {
    hg_text content = {0}, info = {0};
    name_of(&content, "dylink.0");
    unsigned_leb(&info, m->data.length);
    unsigned_leb(&info, 4); /* 2^4 bytes */
    unsigned_leb(&info, 0);
    unsigned_leb(&info, 0);
    byte(&content, 1);
    unsigned_leb(&content, info.length);
    hg_text_add(&content, info.data ? info.data : "", info.length);
    content.failed = content.failed || info.failed;
    hg_text_free(&info);
    section(out, CUSTOM, &content);
}

static void write_imports(wasm_module *m, hg_text *out) {
    hg_text content = {0};
    unsigned_leb(&content, 4 + m->imported);
    name_of(&content, "env");
    name_of(&content, "memory");
    byte(&content, IS_MEMORY);
    byte(&content, 0);
    byte(&content, 0);
    name_of(&content, "env");
    name_of(&content, "__indirect_function_table");
    byte(&content, IS_TABLE);
    byte(&content, IS_FUNCREF);
    byte(&content, 0);
    byte(&content, 0);
    for (int i = 0; i < 2; i++) {
        name_of(&content, "env");
        name_of(&content, i ? "__memory_base" : "__stack_pointer");
        byte(&content, IS_GLOBAL);
        byte(&content, WASM_I32);
        byte(&content, !i);
    }
    for (uint32_t i = 0; i < m->imported; i++) {
        name_of(&content, "env");
        name_of(&content, m->functions.data[i].name);
        byte(&content, IS_FUNCTION);
        unsigned_leb(&content, m->functions.data[i].type);
    }
    section(out, IMPORTS, &content);
}

static void write_functions(wasm_module *m, hg_text *out) {
    hg_text content = {0};
    unsigned_leb(&content, m->functions.count - m->imported);
    for (uint64_t i = m->imported; i < m->functions.count; i++)
        unsigned_leb(&content, m->functions.data[i].type);
    section(out, FUNCTIONS, &content);
}

static void export_of(hg_text *out, const char *name, uint32_t kind, uint64_t number) {
    name_of(out, name);
    byte(out, kind);
    unsigned_leb(out, number);
}

static void write_exports(wasm_module *m, hg_text *out) {
    hg_text content = {0};
    uint64_t count = m->alone.yes + m->alone.constants.count;
    for (uint64_t i = 0; i < m->functions.count; i++) count += m->functions.data[i].exported;
    unsigned_leb(&content, count);
    if (m->alone.yes) export_of(&content, "memory", IS_MEMORY, 0);
    for (uint64_t i = 0; i < m->alone.constants.count; i++)
        export_of(&content, m->alone.constants.data[i].name, IS_GLOBAL, WASM_CONSTANTS + i);
    for (uint64_t i = 0; i < m->functions.count; i++)
        if (m->functions.data[i].exported)
            export_of(&content, m->functions.data[i].name, IS_FUNCTION, i);
    section(out, EXPORTS, &content);
}

static void address(hg_text *out, uint32_t value) {
    byte(out, OPS[W_I32_CONST].code);
    signed_leb(out, (int32_t)value);
    byte(out, OPS[W_END].code);
}

/* What a module that stands alone has in place of imports. */
static void write_own(wasm_module *m, hg_text *out) {
    enum { PAGE = 65536 };
    hg_text content = {0};
    unsigned_leb(&content, 1);
    byte(&content, IS_FUNCREF);
    byte(&content, 0);
    unsigned_leb(&content, m->alone.table.count + 1);
    section(out, TABLES, &content);
    unsigned_leb(&content, 1);
    byte(&content, 0);
    unsigned_leb(&content, ((uint64_t)m->alone.end + PAGE - 1) / PAGE);
    section(out, MEMORIES, &content);
    unsigned_leb(&content, 2 + m->alone.constants.count);
    byte(&content, WASM_I32);
    byte(&content, 1);
    address(&content, m->alone.stack);
    byte(&content, WASM_I32);
    byte(&content, 0);
    address(&content, m->alone.base);
    for (uint64_t i = 0; i < m->alone.constants.count; i++) {
        byte(&content, WASM_I32);
        byte(&content, 0);
        address(&content, m->alone.constants.data[i].value);
    }
    section(out, GLOBALS, &content);
}

static void write_table(wasm_module *m, hg_text *out) {
    hg_text content = {0};
    unsigned_leb(&content, 1);
    unsigned_leb(&content, 0);
    address(&content, 1);
    unsigned_leb(&content, m->alone.table.count);
    for (uint64_t i = 0; i < m->alone.table.count; i++)
        unsigned_leb(&content, m->alone.table.data[i]);
    section(out, ELEMENTS, &content);
}

static void write_code(wasm_module *m, hg_text *out) {
    hg_text content = {0};
    unsigned_leb(&content, m->functions.count - m->imported);
    for (uint64_t i = m->imported; i < m->functions.count; i++) {
        const hg_text *body = &m->functions.data[i].body;
        unsigned_leb(&content, body->length);
        hg_text_add(&content, body->data ? body->data : "", body->length);
    }
    section(out, CODE, &content);
}

static void write_data(wasm_module *m, hg_text *out) {
    hg_text content = {0};
    if (!m->data.length) return;
    unsigned_leb(&content, 1);
    unsigned_leb(&content, 0);
    if (m->alone.yes) {
        address(&content, m->alone.base);
    } else {
        byte(&content, OPS[W_GLOBAL_GET].code);
        unsigned_leb(&content, WASM_MEMORY_BASE);
        byte(&content, OPS[W_END].code);
    }
    unsigned_leb(&content, m->data.length);
    hg_text_add(&content, m->data.data, m->data.length);
    section(out, DATA, &content);
}

/* Names of functions, for who looks inside. */
static void write_names(wasm_module *m, hg_text *out) {
    hg_text content = {0}, names = {0};
    name_of(&content, "name");
    unsigned_leb(&names, m->functions.count);
    for (uint64_t i = 0; i < m->functions.count; i++) {
        unsigned_leb(&names, i);
        name_of(&names, m->functions.data[i].name);
    }
    byte(&content, 1);
    unsigned_leb(&content, names.length);
    hg_text_add(&content, names.data ? names.data : "", names.length);
    content.failed = content.failed || names.failed;
    hg_text_free(&names);
    section(out, CUSTOM, &content);
}

void wasm_write(wasm_module *m, const char *about, hg_text *out) {
    hg_text content = {0};
    if (m->failed) {
        out->failed = true;
        return;
    }
    hg_text_add(out, "\0asm\1\0\0\0", 8);
    if (!m->alone.yes) write_needs(m, out);
    unsigned_leb(&content, m->type_count);
    for (size_t at = 0; at < m->types.length;) {
        const size_t length = (size_t)(uint8_t)m->types.data[at] << 8 |
                              (uint8_t)m->types.data[at + 1];
        hg_text_add(&content, m->types.data + at + 2, length);
        at += length + 2;
    }
    section(out, TYPES, &content);
    if (!m->alone.yes) write_imports(m, out);
    write_functions(m, out);
    if (m->alone.yes) write_own(m, out);
    write_exports(m, out);
    if (m->alone.yes) write_table(m, out);
    write_code(m, out);
    write_data(m, out);
    write_names(m, out);
    if (!*about) return;
    name_of(&content, "hologram");
    hg_text_add(&content, about, strlen(about));
    section(out, CUSTOM, &content);
}

void wasm_free(wasm_module *m) {
    hg_text_free(&m->types);
    hg_text_free(&m->data);
    for (uint64_t i = 0; i < m->functions.count; i++) hg_text_free(&m->functions.data[i].body);
    hg_vec_free(&m->functions);
    hg_vec_free(&m->alone.table);
    hg_vec_free(&m->alone.constants);
}
