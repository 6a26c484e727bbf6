/* Assembly text of the SPIR-V modules that emit_spirv writes: ids by the names that they have,
 * every instruction of the source as a comment in front of what became of it.
 * Must not know: kernel operations. */
#include "emit/emit_spirv_internal.h"
#include <inttypes.h>
#include <string.h>

enum { HEADER = 5, COLUMN = 18 };

typedef struct listing {
    hg_text *out;
    const uint32_t *words;
    uint64_t count;
    uint32_t bound;
    hg_text pool;    /* names, each with a final NUL */
    size_t *names;   /* by id: place in the pool plus 1; 0: the id is its name */
    uint32_t *taken; /* open hash table of named ids */
    uint32_t taken_size;
    uint8_t *bits; /* by id of a number type; 0: another */
    bool *is_float;
    hg_text source;
    HG_VEC(size_t) lines; /* where lines of the source begin */
    const char *bad;
} listing;

/* ---- names ---- */

static uint32_t hash_name(const char *name) {
    uint32_t hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash;
}

/* Takes the name for id unless another has it. */
static bool take(listing *l, uint32_t id, const char *name) {
    uint32_t k = hash_name(name) & (l->taken_size - 1);
    for (; l->taken[k]; k = (k + 1) & (l->taken_size - 1))
        if (strcmp(l->pool.data + l->names[l->taken[k]] - 1, name) == 0) return false;
    size_t at = l->pool.length;
    hg_text_add(&l->pool, name, strlen(name) + 1);
    if (l->pool.failed) return true;
    l->names[id] = at + 1;
    l->taken[k] = id;
    return true;
}

/* The letters, digits and underscores of the name; with the id behind it where it is not the first
 * of that name or only digits. */
static void name_id(listing *l, uint32_t id, const char *name) {
    char plain[64];
    size_t n = 0;
    bool letter = false;
    for (; *name && n < sizeof plain - 16; name++) {
        bool alphabetic = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z'),
             digit = *name >= '0' && *name <= '9';
        plain[n++] = alphabetic || digit ? *name : '_';
        letter |= alphabetic;
    }
    plain[n] = 0;
    if (id >= l->bound || l->names[id] || !letter || take(l, id, plain)) return;
    hg_text longer = {0};
    hg_text_addf(&longer, "%s_%" PRIu32, plain, id);
    if (longer.data) take(l, id, longer.data);
    l->pool.failed |= longer.failed;
    hg_text_free(&longer);
}

/* A string of a module as bytes; NULL when it does not end. */
static const char *string_at(listing *l, uint64_t at, uint32_t words) {
    static const uint16_t ONE = 1;
    uint32_t length = spv_string_words(l->words + at, words);
    if (!length || *(const uint8_t *)&ONE != 1) { /* strings are little-endian words: elsewhere they
                                                     go without names */
        l->bad = length ? l->bad : "a string without an end";
        return NULL;
    }
    return (const char *)(l->words + at);
}

static void note_type(listing *l, uint32_t opcode, const uint32_t *w) {
    bool is_number = opcode == OpTypeInt || opcode == OpTypeFloat;
    hg_text name = {0};
    if (is_number) {
        bool known = w[2] == 32 || w[2] == 64 || (opcode == OpTypeInt && (w[2] == 8 || w[2] == 16));
        l->bits[w[1]] = known ? (uint8_t)w[2] : 0;
        l->is_float[w[1]] = opcode == OpTypeFloat;
        hg_text_addf(&name, "%c%" PRIu32, opcode == OpTypeFloat ? 'f' : 'u', w[2]);
    }
    if (is_number && name.data) name_id(l, w[1], name.data);
    if (!is_number) name_id(l, w[1], opcode == OpTypeVoid ? "void" : "bool");
    l->pool.failed |= name.failed;
    hg_text_free(&name);
}

static uint64_t number_at(const listing *l, const uint32_t *w, uint32_t type) {
    return l->bits[type] == 64 ? w[0] | (uint64_t)w[1] << 32 : w[0];
}

static void note_constant(listing *l, const uint32_t *w) {
    if (l->is_float[w[1]] || !l->bits[w[1]] || !l->names[w[1]]) return;
    hg_text name = {0};
    hg_text_addf(&name, "%s_%" PRIu64, l->pool.data + l->names[w[1]] - 1,
                 number_at(l, w + 3, w[1]));
    if (name.data) name_id(l, w[2], name.data);
    l->pool.failed |= name.failed;
    hg_text_free(&name);
}

static bool is_id(const listing *l, uint32_t id) { return id && id < l->bound; }

/* Names given come before names made up. */
static void find_names(listing *l, bool given) {
    for (uint64_t at = HEADER; at < l->count && !l->bad; at += l->words[at] >> 16) {
        const uint32_t *w = l->words + at, length = w[0] >> 16, opcode = w[0] & 0xffff;
        const char *text;
        if (given && opcode == OpName && length > 2 && (text = string_at(l, at + 2, length - 2)))
            name_id(l, w[1], text);
        if (given && opcode == OpSource && length > 4 && (text = string_at(l, at + 4, length - 4)))
            hg_text_add(&l->source, text, strlen(text));
        if (given && opcode == OpSourceContinued && length > 1 &&
            (text = string_at(l, at + 1, length - 1)))
            hg_text_add(&l->source, text, strlen(text));
        if (given) continue;
        bool typed = length > 2 && is_id(l, w[1]);
        bool plain = (opcode == OpTypeVoid || opcode == OpTypeBool) && length > 1;
        if (plain || (typed && (opcode == OpTypeInt || opcode == OpTypeFloat)))
            note_type(l, opcode, w);
        if (opcode == OpConstant && typed && length >= (l->bits[w[1]] == 64 ? 5u : 4u))
            note_constant(l, w);
    }
}

static void find_lines(listing *l) {
    for (size_t i = 0; i < l->source.length; i++) {
        if (i && l->source.data[i - 1] != '\n') continue;
        size_t *line = hg_vec_push(&l->lines);
        if (!line)
            l->source.failed = true;
        else
            *line = i;
    }
}

/* ---- operands ---- */

static void print_id(listing *l, uint32_t id) {
    if (is_id(l, id) && l->names[id])
        hg_text_addf(l->out, "%%%s", l->pool.data + l->names[id] - 1);
    else
        hg_text_addf(l->out, "%%%" PRIu32, id);
}

static void print_string(listing *l, const uint32_t *words, uint32_t count) {
    hg_text_add(l->out, "\"", 1);
    for (uint32_t i = 0; i < count * 4; i++) {
        char c = (char)(words[i / 4] >> i % 4 * 8);
        if (!c) break;
        if (c == '"' || c == '\\') hg_text_add(l->out, "\\", 1);
        hg_text_add(l->out, &c, 1);
    }
    hg_text_add(l->out, "\"", 1);
}

/* Small whole numbers as such, all others in hexadecimal, which is exact. */
static void print_float(listing *l, uint64_t bits, uint32_t width) {
    uint32_t digits = width == 32 ? 23 : 52;
    int32_t bias = width == 32 ? 127 : 1023,
            exponent = (int32_t)(bits >> digits & (uint64_t)(2 * bias + 1)) - bias;
    uint64_t fraction = bits & ((UINT64_C(1) << digits) - 1);
    const char *sign = bits >> (width - 1) & 1 ? "-" : "";
    if (exponent == -bias && fraction) { /* a subnormal: the first one becomes the one before the
                                            point */
        exponent++;
        while (!(fraction >> digits)) {
            fraction <<= 1;
            exponent--;
        }
        fraction &= (UINT64_C(1) << digits) - 1;
    } else if (exponent == -bias) {
        hg_text_addf(l->out, "%s0", sign);
        return;
    }
    if (exponent >= 0 && exponent < 20 && !(fraction << ((uint32_t)exponent + 64 - digits))) {
        hg_text_addf(l->out, "%s%" PRIu64, sign,
                     ((UINT64_C(1) << digits) | fraction) >> (digits - (uint32_t)exponent));
        return;
    }
    hg_text_addf(l->out, "%s0x1", sign);
    fraction <<= 64 - digits;
    if (fraction) hg_text_add(l->out, ".", 1);
    for (; fraction; fraction <<= 4) hg_text_addf(l->out, "%x", (unsigned)(fraction >> 60));
    hg_text_addf(l->out, "p%+d", (int)exponent);
}

static void print_enumerant(listing *l, char kind, uint32_t value) {
    const char *name = spv_enumerant(kind, value);
    if (!name)
        l->bad = "a value without a name";
    else
        hg_text_addf(l->out, "%s", name);
}

static void print_mask(listing *l, uint32_t mask) {
    const char *bar = "";
    for (uint32_t bit = 1; bit && mask; bit <<= 1) {
        if (!(mask & bit)) continue;
        hg_text_addf(l->out, "%s", bar);
        print_enumerant(l, 'm', bit);
        mask &= ~bit;
        bar = "|";
    }
}

/* One operand of an instruction; the words that it takes. w: it, count: what is left. */
static uint32_t print_operand(listing *l, char kind, const uint32_t *w, uint32_t count,
                              uint32_t type) {
    uint32_t used = 1;
    hg_text_add(l->out, " ", 1);
    switch (kind) {
    case 't':
    case 'i': print_id(l, w[0]); return 1;
    case 'n': hg_text_addf(l->out, "%" PRIu32, w[0]); return 1;
    case 's':
        used = spv_string_words(w, count);
        if (!used) l->bad = "a string without an end";
        print_string(l, w, used);
        return used;
    case 'l':
        if (!is_id(l, type) || !l->bits[type] || count != (l->bits[type] == 64 ? 2u : 1u))
            l->bad = "a number of an unknown type";
        else if (l->is_float[type])
            print_float(l, number_at(l, w, type), l->bits[type]);
        else
            hg_text_addf(l->out, "%" PRIu64, number_at(l, w, type));
        return count;
    case 'K':
        hg_text_addf(l->out, w[0] == 2 ? "DontUnroll" : "None");
        return 1; /* of loops; of selections always none */
    case 'F': hg_text_addf(l->out, "None"); return 1;
    case 'm': print_mask(l, w[0]); break;
    case 'D':
    case 'X': print_enumerant(l, kind, w[0]); break;
    default: print_enumerant(l, kind, w[0]); return 1;
    }
    for (; used < count; used++) {
        hg_text_add(l->out, " ", 1);
        if (kind == 'D' && w[0] == Spv_D_BuiltIn)
            print_enumerant(l, 'b', w[used]);
        else
            hg_text_addf(l->out, "%" PRIu32, w[used]);
    }
    return used;
}

/* ---- instructions ---- */

static void print_source(listing *l, uint32_t line) {
    if (!line || line > l->lines.count) return;
    const char *text = l->source.data + l->lines.data[line - 1];
    hg_text_addf(l->out, "%*s; %.*s\n", COLUMN + 3, "", (int)strcspn(text, "\n"), text);
}

static void print_instruction(listing *l, const uint32_t *w, const spv_op_info *info) {
    uint32_t length = w[0] >> 16, opcode = w[0] & 0xffff, k = 1, type = 0;
    const char *result = strchr(info->operands, 'r');
    if (opcode == OpLine && length > 2) print_source(l, w[2]);
    if (opcode == OpFunction) hg_text_add(l->out, "\n", 1);
    if (result && length > (uint32_t)(result - info->operands) + 1) {
        size_t from = l->out->length;
        print_id(l, w[1 + (result - info->operands)]);
        size_t width = l->out->length - from;
        hg_text_addf(l->out, "%*s= Op%s", width < COLUMN ? (int)(COLUMN - width + 1) : 1, "",
                     info->name);
    } else {
        hg_text_addf(l->out, "%*sOp%s", COLUMN + 3, "", info->name);
    }
    for (const char *o = info->operands; *o && k < length && !l->bad;) {
        if (*o == 't') type = w[k];
        if (*o == 'r')
            k++;
        else
            k += print_operand(l, *o, w + k, length - k, type);
        if (o[1] != '*') o++;
    }
    hg_text_add(l->out, "\n", 1);
}

/* Every instruction ends inside the module and is one of ours. */
static const char *check_module(const uint32_t *words, uint64_t count) {
    if (count < HEADER || words[0] != 0x07230203) return "no SPIR-V module";
    if (words[3] > count + 1) return "more ids than words";
    for (uint64_t at = HEADER; at < count; at += words[at] >> 16) {
        uint32_t length = words[at] >> 16;
        if (!length || length > count - at) return "an instruction of a wrong length";
        if (!spv_info(words[at] & 0xffff))
            return "an instruction that is not written by this library";
    }
    return NULL;
}

static bool allocate(listing *l) {
    l->taken_size = 64;
    while (l->taken_size < l->bound * 2u) l->taken_size *= 2;
    l->names = hg_calloc(l->bound + 1u, sizeof *l->names);
    l->bits = hg_calloc(l->bound + 1u, sizeof *l->bits);
    l->is_float = hg_calloc(l->bound + 1u, sizeof *l->is_float);
    l->taken = hg_calloc(l->taken_size, sizeof *l->taken);
    return l->names && l->bits && l->is_float && l->taken;
}

hg_status emit_spirv_text(const uint32_t *words, uint64_t count, const char *about, hg_text *out) {
    const char *bad = check_module(words, count);
    if (bad) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "no text for this module: %s", bad);
    listing list = {.out = out, .words = words, .count = count, .bound = words[3]}, *l = &list;
    bool ok = allocate(l);
    if (ok) {
        find_names(l, true);
        find_names(l, false);
        find_lines(l);
        ok = !l->pool.failed && !l->source.failed;
    }
    if (ok) {
        for (const char *line = about; *line;) { /* comments begin with a semicolon */
            size_t length = strcspn(line, "\n");
            hg_text_addf(out, "%s%.*s\n", *line == ';' ? "" : "; ", (int)length, line);
            line += length + (line[length] == '\n');
        }
        hg_text_addf(out, "; SPIR-V\n; Version: %u.%u\n; Bound: %" PRIu32 "\n",
                     (unsigned)(words[1] >> 16), (unsigned)(words[1] >> 8 & 255), l->bound);
        for (uint64_t at = HEADER; at < count && !l->bad; at += words[at] >> 16)
            print_instruction(l, words + at, spv_info(words[at] & 0xffff));
    }
    bad = l->bad;
    hg_text_free(&l->pool);
    hg_text_free(&l->source);
    hg_vec_free(&l->lines);
    hg_free(l->names);
    hg_free(l->bits);
    hg_free(l->is_float);
    hg_free(l->taken);
    if (bad) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "no text for this module: %s", bad);
    return ok && !out->failed ? HG_OK : hg_fail_memory();
}
