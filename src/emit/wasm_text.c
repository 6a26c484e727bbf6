/* The text of a module of WebAssembly, from bytes that wasm_write wrote.
 * Must not know: how modules are made. */
#include "emit/wasm_module.h"

#include <inttypes.h>
#include <string.h>

typedef struct op_row {
    uint8_t prefix, code, immediates;
    const char *text;
} op_row;
static const op_row ROWS[] = {
#define WASM_OP(id, text, prefix, code, immediates) {prefix, code, WASM_##immediates, text},
#include "emit/wasm.def"
};

typedef struct reader {
    const uint8_t *at, *end;
    hg_text *out;
    uint32_t types, imported; /* functions */
} reader;

static uint32_t byte(reader *r) { return r->at < r->end ? *r->at++ : 0; }

static uint64_t unsigned_leb(reader *r) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        const uint32_t b = byte(r);
        value |= (uint64_t)(b & 127) << shift;
        if (b < 128) break;
    }
    return value;
}

static int64_t signed_leb(reader *r) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64;) {
        const uint32_t b = byte(r);
        value |= (uint64_t)(b & 127) << shift;
        shift += 7;
        if (b >= 128) continue;
        if (b & 64 && shift < 64) value |= UINT64_MAX << shift;
        break;
    }
    return (int64_t)value;
}

static uint64_t little_endian(reader *r, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++) value |= (uint64_t)byte(r) << (8 * i);
    return value;
}

/* A text with its length in front. */
static void name(reader *r) {
    const uint64_t length = unsigned_leb(r), left = (uint64_t)(r->end - r->at);
    const size_t bytes = (size_t)(length < left ? length : left);
    hg_text_addf(r->out, "\"");
    hg_text_add(r->out, (const char *)r->at, bytes);
    hg_text_addf(r->out, "\"");
    r->at += bytes;
}

static const char *type_name(uint32_t type) {
    return type == WASM_I32   ? "i32"
           : type == WASM_I64 ? "i64"
           : type == WASM_F32 ? "f32"
           : type == WASM_F64 ? "f64"
                              : "v128";
}

/* By bits, since a host's locale may have another point. */
static void float_text(hg_text *out, uint64_t bits, uint32_t digits, uint32_t fraction,
                       uint32_t exponents) {
    const uint64_t all = (UINT64_C(1) << exponents) - 1, field = bits >> fraction & all,
                   low = bits & ((UINT64_C(1) << fraction) - 1);
    const int64_t bias = (int64_t)(all / 2);
    if (bits >> (fraction + exponents)) hg_text_addf(out, "-");
    if (field == all && low)
        hg_text_addf(out, "nan:0x%" PRIx64, low);
    else if (field == all)
        hg_text_addf(out, "inf");
    else if (!field && !low)
        hg_text_addf(out, "0");
    else
        hg_text_addf(out, "0x%d.%0*" PRIx64 "p%+" PRId64, field != 0, (int)digits,
                     low << (4 * digits - fraction), (field ? (int64_t)field : 1) - bias);
}

static void bytes_text(reader *r) {
    for (int i = 0; i < 16; i++) hg_text_addf(r->out, " %u", (unsigned)byte(r));
}

static void address(reader *r) {
    const uint64_t align = unsigned_leb(r), offset = unsigned_leb(r);
    if (offset) hg_text_addf(r->out, " offset=%" PRIu64, offset);
    hg_text_addf(r->out, " align=%u", 1u << (align & 31));
}

static void immediates(reader *r, uint8_t kind) {
    uint32_t type;
    switch ((wasm_immediates)kind) {
    case WASM_BLOCK:
        type = byte(r);
        if (type != WASM_VOID) hg_text_addf(r->out, " (result %s)", type_name(type));
        break;
    case WASM_LABEL:
    case WASM_FUNCTION:
    case WASM_LOCAL:
    case WASM_GLOBAL: hg_text_addf(r->out, " %" PRIu64, unsigned_leb(r)); break;
    case WASM_INDIRECT:
        hg_text_addf(r->out, " (type %" PRIu64 ")", unsigned_leb(r));
        (void)byte(r);
        break;
    case WASM_MEMORY:
    case WASM_ATOMIC_4:
    case WASM_ATOMIC_8: address(r); break;
    case WASM_MEMORY_LANE:
        address(r);
        hg_text_addf(r->out, " %u", (unsigned)byte(r));
        break;
    case WASM_LANE: hg_text_addf(r->out, " %u", (unsigned)byte(r)); break;
    case WASM_I32_VALUE:
    case WASM_I64_VALUE: hg_text_addf(r->out, " %" PRId64, signed_leb(r)); break;
    case WASM_F32_VALUE:
        hg_text_addf(r->out, " ");
        float_text(r->out, little_endian(r, 4), 6, 23, 8);
        break;
    case WASM_F64_VALUE:
        hg_text_addf(r->out, " ");
        float_text(r->out, little_endian(r, 8), 13, 52, 11);
        break;
    case WASM_V128_VALUE:
    case WASM_SHUFFLE:
        if (kind == WASM_V128_VALUE) hg_text_addf(r->out, " i8x16");
        bytes_text(r);
        break;
    case WASM_ZERO: (void)byte(r); break;
    default: break;
    }
}

static const op_row *row_at(reader *r) {
    const uint32_t first = byte(r);
    const bool prefixed = first >= 0xfc;
    const uint64_t code = prefixed ? unsigned_leb(r) : first;
    for (size_t i = 0; i < HG_COUNT_OF(ROWS); i++)
        if (ROWS[i].prefix == (prefixed ? first : 0) && ROWS[i].code == code) return &ROWS[i];
    return NULL;
}

static void code_text(reader *r, const uint8_t *end) {
    uint32_t depth = 1;
    while (r->at < end && depth) {
        const op_row *row = row_at(r);
        if (!row) return;
        const bool ends = strcmp(row->text, "end") == 0, other = strcmp(row->text, "else") == 0;
        if (ends && --depth == 0) break; /* of the function */
        hg_text_addf(r->out, "%*s%s", (int)(2 * (depth < 32 ? depth - other : 32) + 2), "",
                     row->text);
        immediates(r, row->immediates);
        hg_text_addf(r->out, "\n");
        depth += row->immediates == WASM_BLOCK;
    }
    r->at = end;
}

/* ---- sections ---- */

static void types(reader *r) {
    r->types = (uint32_t)unsigned_leb(r);
    for (uint32_t i = 0; i < r->types; i++) {
        hg_text_addf(r->out, "  (type (;%u;) (func", (unsigned)i);
        (void)byte(r);
        for (int side = 0; side < 2; side++) {
            uint64_t count = unsigned_leb(r);
            if (!count) continue;
            hg_text_addf(r->out, side ? " (result" : " (param");
            while (count-- && r->at < r->end) hg_text_addf(r->out, " %s", type_name(byte(r)));
            hg_text_addf(r->out, ")");
        }
        hg_text_addf(r->out, "))\n");
    }
}

static void imports(reader *r) {
    enum { FUNCTION, TABLE, MEMORY };
    for (uint64_t count = unsigned_leb(r); count && r->at < r->end; count--) {
        hg_text_addf(r->out, "  (import ");
        name(r);
        hg_text_addf(r->out, " ");
        name(r);
        const uint32_t kind = byte(r);
        if (kind == FUNCTION) {
            hg_text_addf(r->out, " (func (;%u;) (type %" PRIu64 "))", (unsigned)r->imported++,
                         unsigned_leb(r));
        } else if (kind == TABLE || kind == MEMORY) {
            if (kind == TABLE) (void)byte(r);
            (void)byte(r);
            (void)unsigned_leb(r);
            hg_text_addf(r->out, kind == TABLE ? " (table 0 funcref)" : " (memory 0)");
        } else {
            const uint32_t type = byte(r);
            hg_text_addf(r->out, byte(r) ? " (global (mut %s))" : " (global %s)", type_name(type));
        }
        hg_text_addf(r->out, ")\n");
    }
}

/* functions: the section with the types of functions. */
static void code(reader *r, reader functions) {
    uint64_t count = unsigned_leb(r);
    (void)unsigned_leb(&functions);
    for (uint64_t i = 0; i < count && r->at < r->end; i++) {
        const uint64_t size = unsigned_leb(r), left = (uint64_t)(r->end - r->at);
        const uint8_t *end = r->at + (size < left ? size : left);
        hg_text_addf(r->out, "  (func (;%" PRIu64 ";) (type %" PRIu64 ")\n", r->imported + i,
                     unsigned_leb(&functions));
        for (uint64_t runs = unsigned_leb(r); runs && r->at < end; runs--) {
            uint64_t same = unsigned_leb(r);
            const uint32_t type = byte(r);
            hg_text_addf(r->out, "    (local");
            while (same--) hg_text_addf(r->out, " %s", type_name(type));
            hg_text_addf(r->out, ")\n");
        }
        code_text(r, end);
        hg_text_addf(r->out, "  )\n");
    }
}

static void exports(reader *r) {
    for (uint64_t count = unsigned_leb(r); count && r->at < r->end; count--) {
        hg_text_addf(r->out, "  (export ");
        name(r);
        (void)byte(r);
        hg_text_addf(r->out, " (func %" PRIu64 "))\n", unsigned_leb(r));
    }
}

static void data(reader *r) {
    enum { LINE = 32 };
    if (!unsigned_leb(r)) return;
    (void)unsigned_leb(r);
    (void)byte(r);
    hg_text_addf(r->out, "  (data (global.get %" PRIu64 ")", unsigned_leb(r));
    (void)byte(r);
    const uint64_t size = unsigned_leb(r);
    for (uint64_t i = 0; i < size && r->at < r->end; i++)
        hg_text_addf(r->out, "%s\\%02x%s", i % LINE == 0 ? "\n    \"" : "", (unsigned)byte(r),
                     i % LINE == LINE - 1 || i + 1 == size ? "\"" : "");
    hg_text_addf(r->out, ")\n");
}

static void needs(reader *r) {
    if (unsigned_leb(r) != 8 || r->end - r->at < 8 || memcmp(r->at, "dylink.0", 8) != 0) return;
    r->at += 8;
    (void)byte(r);
    (void)unsigned_leb(r);
    hg_text_addf(r->out, "  ;; at __memory_base: %" PRIu64 " bytes, aligned to 16\n",
                 unsigned_leb(r));
}

void wasm_text(const char *bytes, uint64_t size, const char *about, hg_text *out) {
    enum { CUSTOM, TYPES, IMPORTS, FUNCTIONS, EXPORTS = 7, CODE = 10, DATA = 11 };
    reader r = {.at = (const uint8_t *)bytes + 8, .end = (const uint8_t *)bytes + size, .out = out};
    reader functions = {0};
    hg_text_addf(out, ";; Written by hologram.\n");
    for (const char *line = about; *line;) {
        const size_t length = strcspn(line, "\n");
        hg_text_addf(out, ";; %.*s\n", (int)length, line);
        line += length + (line[length] != 0);
    }
    hg_text_addf(out, "(module\n");
    while (r.at < r.end) {
        const uint32_t id = byte(&r);
        const uint64_t length = unsigned_leb(&r), left = (uint64_t)(r.end - r.at);
        reader section = r;
        section.end = r.at + (length < left ? length : left);
        switch (id) {
        case CUSTOM: needs(&section); break;
        case TYPES: types(&section); break;
        case IMPORTS: imports(&section); break;
        case FUNCTIONS: functions = section; break;
        case EXPORTS: exports(&section); break;
        case CODE: code(&section, functions); break;
        case DATA: data(&section); break;
        default: break;
        }
        r.imported = section.imported;
        r.at = section.end;
    }
    hg_text_addf(out, ")\n");
}
