/* Words of a SPIR-V module: sections, types and constants written once each, names, and the order
 * of ids.
 * Must not know: kernel operations. */
#include "emit/emit_spirv_internal.h"
#include <string.h>

/* Opcodes lie below PLAIN, and those of dot products from FIRST_DOT on. */
enum { PLAIN = 320, FIRST_DOT = 4450, DOTS = 6, OPCODES = PLAIN + DOTS, ENUM_MAX_NUMBERS = 65535 };
#define PLACE(opcode) ((opcode) < PLAIN ? (opcode) : PLAIN + (opcode)-FIRST_DOT)

static const spv_op_info OPS[OPCODES] = {
#define SPV_OP(name, opcode, operands) [PLACE(opcode)] = {#name, operands},
#include "emit/spirv.def"
};

static const struct {
    const char *name;
    uint32_t value;
    char kind;
} ENUMS[] = {
#define SPV_ENUM(kind, name, value) {#name, value, #kind[0]},
#include "emit/spirv.def"
};

const spv_op_info *spv_info(uint32_t opcode) {
    if (opcode >= PLAIN && (opcode < FIRST_DOT || opcode >= FIRST_DOT + DOTS)) return NULL;
    return OPS[PLACE(opcode)].name ? &OPS[PLACE(opcode)] : NULL;
}

const char *spv_enumerant(char kind, uint32_t value) {
    for (size_t i = 0; i < HG_COUNT_OF(ENUMS); i++)
        if (ENUMS[i].kind == kind && ENUMS[i].value == value) return ENUMS[i].name;
    return NULL;
}

uint32_t spv_string_words(const uint32_t *words, uint32_t limit) {
    for (uint32_t i = 0; i < limit; i++)
        if (!(words[i] & 0xff000000))
            return i + 1; /* the zeros that fill up the last word begin at its end */
    return 0;
}

void spv_unsupported(spirv *s, const char *why) {
    if (!s->unsupported) s->unsupported = why;
}

/* Room for more words; where they go, NULL when out of memory. */
static uint32_t *reserve(spirv *s, emit_words *to, uint64_t more) {
    if (more > to->capacity - to->count) {
        uint64_t capacity = to->capacity ? to->capacity : 256;
        while (capacity < to->count + more) capacity *= 2;
        uint32_t *data = capacity > SIZE_MAX / sizeof *data
                             ? NULL
                             : hg_realloc(to->data, (size_t)capacity * sizeof *data);
        if (!data) {
            s->failed = true;
            return NULL;
        }
        to->data = data;
        to->capacity = capacity;
    }
    uint32_t *place = to->data + to->count;
    to->count += more;
    return place;
}

void spv_words(spirv *s, emit_words *to, const uint32_t *words, uint64_t count) {
    if (!count) return;
    uint32_t *place = reserve(s, to, count);
    if (place) memcpy(place, words, (size_t)count * sizeof *words);
}

static uint32_t first_word(spirv *s, uint32_t opcode, uint64_t words) {
    if (words > ENUM_MAX_NUMBERS) spv_unsupported(s, "an instruction of more than 65,535 words");
    return (uint32_t)(words << 16) | opcode;
}

void spv_write(spirv *s, emit_words *to, uint32_t opcode, const uint32_t *operands,
               uint32_t count) {
    uint32_t *place = reserve(s, to, (uint64_t)count + 1);
    if (!place) return;
    *place++ = first_word(s, opcode, (uint64_t)count + 1);
    memcpy(place, operands, count * sizeof *operands);
}

void spv_write_text(spirv *s, emit_words *to, uint32_t opcode, const uint32_t *operands,
                    uint32_t count, const char *text, size_t length) {
    uint64_t words = 1 + (uint64_t)count + length / 4 + 1;
    uint32_t *place = reserve(s, to, words);
    if (!place) return;
    memset(place, 0, (size_t)words * sizeof *place);
    *place++ = first_word(s, opcode, words);
    if (count) memcpy(place, operands, count * sizeof *operands);
    place += count;
    for (size_t i = 0; i < length; i++) place[i / 4] |= (uint32_t)(uint8_t)text[i] << i % 4 * 8;
}

uint32_t spv_result(spirv *s, uint32_t opcode, const uint32_t *operands, uint32_t count) {
    uint32_t id = s->next_id++, *place = reserve(s, s->to.at, (uint64_t)count + 2);
    if (!place) return id;
    place[0] = first_word(s, opcode, (uint64_t)count + 2);
    place[1] = operands[0];
    place[2] = id;
    memcpy(place + 3, operands + 1, (count - 1) * sizeof *operands);
    return id;
}

/* ---- types and constants ---- */

static bool is_type(uint32_t opcode) { return opcode >= OpTypeVoid && opcode <= OpTypeFunction; }

static uint32_t mix(uint32_t hash, uint32_t word) {
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

/* Hash of an instruction without its result, which is word 1 of types and word 2 of constants. */
static uint32_t hash_instruction(const uint32_t *words) {
    uint32_t hash = mix(0, words[0]), skip = is_type(words[0] & 0xffff) ? 1 : 2;
    for (uint32_t i = 1; i < words[0] >> 16; i++)
        if (i != skip) hash = mix(hash, words[i]);
    return hash;
}

static bool same_instruction(const uint32_t *a, const uint32_t *b) {
    uint32_t skip = is_type(a[0] & 0xffff) ? 1 : 2, count = a[0] >> 16;
    for (uint32_t i = 0; i < count; i++)
        if (i != skip && a[i] != b[i]) return false;
    return true;
}

static bool grow_table(spirv *s) {
    uint32_t size = s->made.table_size ? s->made.table_size * 2 : 256,
             *table = hg_calloc(size, sizeof *table);
    if (!table) {
        s->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < s->made.table_size; i++) {
        if (!s->made.table[i]) continue;
        uint32_t k = hash_instruction(s->to.globals.data + s->made.table[i] - 1) & (size - 1);
        while (table[k]) k = (k + 1) & (size - 1);
        table[k] = s->made.table[i];
    }
    hg_free(s->made.table);
    s->made.table = table;
    s->made.table_size = size;
    return true;
}

/* The new instruction is written first and taken back when it was there already. */
uint32_t spv_global(spirv *s, uint32_t opcode, uint32_t type, const uint32_t *operands,
                    uint32_t count) {
    if (s->made.table_count * 2 >= s->made.table_size && !grow_table(s)) return 1;
    bool of_type = is_type(opcode);
    uint64_t from = s->to.globals.count, words = (uint64_t)count + (of_type ? 2 : 3);
    uint32_t *place = reserve(s, &s->to.globals, words);
    if (!place) return 1;
    place[0] = first_word(s, opcode, words);
    place[1] = type;
    place[of_type ? 1 : 2] = s->next_id;
    memcpy(place + (of_type ? 2 : 3), operands, count * sizeof *operands);
    uint32_t k = hash_instruction(place) & (s->made.table_size - 1);
    for (; s->made.table[k]; k = (k + 1) & (s->made.table_size - 1)) {
        const uint32_t *other = s->to.globals.data + s->made.table[k] - 1;
        if (!same_instruction(place, other)) continue;
        s->to.globals.count = from;
        return other[of_type ? 1 : 2];
    }
    s->made.table[k] = (uint32_t)from + 1;
    s->made.table_count++;
    return s->next_id++;
}

uint32_t spv_type(spirv *s, uint8_t type) {
    if (s->made.types[type]) return s->made.types[type];
    const kir_caps *caps = &s->options->caps;
    uint32_t id = 0, none = 0;
    switch (type) {
    case KIR_VOID: id = spv_global(s, OpTypeVoid, 0, &none, 0); break;
    case KIR_BOOL: id = spv_global(s, OpTypeBool, 0, &none, 0); break;
    case HG_TYPE_U8:
        if (!caps->i8) spv_unsupported(s, "8-bit integers that the device does not have");
        spv_capability(s, Spv_C_Int8);
        break;
    case HG_TYPE_U16:
        if (!caps->i16) spv_unsupported(s, "16-bit integers that the device does not have");
        spv_capability(s, Spv_C_Int16);
        break;
    case HG_TYPE_U64:
        if (!caps->i64) spv_unsupported(s, "64-bit integers that the device does not have");
        spv_capability(s, Spv_C_Int64);
        break;
    case HG_TYPE_F64:
        if (!caps->f64) spv_unsupported(s, "64-bit floats that the device does not have");
        spv_capability(s, Spv_C_Float64);
        break;
    case HG_TYPE_U32:
    case HG_TYPE_F32: break;
    default: spv_unsupported(s, "a type was not lowered"); break;
    }
    if (!id && kir_type_is_float(type)) id = SPV_GLOBAL(s, OpTypeFloat, 0, kir_type_bits(type));
    if (!id) id = SPV_GLOBAL(s, OpTypeInt, 0, kir_type_bits(type), 0);
    return s->made.types[type] = id;
}

uint32_t spv_pointer(spirv *s, uint32_t storage, uint32_t type) {
    return SPV_GLOBAL(s, OpTypePointer, 0, storage, type);
}
uint32_t spv_vector(spirv *s, uint32_t count) {
    return SPV_GLOBAL(s, OpTypeVector, 0, spv_type(s, HG_TYPE_U32), count);
}
uint32_t spv_u32(spirv *s, uint32_t value) { return spv_constant(s, HG_TYPE_U32, value); }

uint32_t spv_constant(spirv *s, uint8_t type, uint64_t bits) {
    uint32_t id = spv_type(s, type), low = (uint32_t)bits;
    if (type == KIR_BOOL)
        return spv_global(s, bits ? OpConstantTrue : OpConstantFalse, id, &low, 0);
    if (kir_type_bytes(type) == 8)
        return SPV_GLOBAL(s, OpConstant, id, low, (uint32_t)(bits >> 32));
    return SPV_GLOBAL(s, OpConstant, id, low);
}

uint32_t spv_null(spirv *s, uint32_t type) {
    uint32_t none = 0;
    return spv_global(s, OpConstantNull, type, &none, 0);
}

uint32_t spv_struct(spirv *s, const uint32_t *members, uint32_t count) {
    uint32_t id = s->next_id++, *place = reserve(s, &s->to.globals, (uint64_t)count + 2);
    if (!place) return id;
    place[0] = first_word(s, OpTypeStruct, (uint64_t)count + 2);
    place[1] = id;
    memcpy(place + 2, members, count * sizeof *members);
    return id;
}

uint32_t spv_array(spirv *s, uint8_t type, uint32_t length) {
    return SPV_GLOBAL(s, OpTypeArray, 0, spv_type(s, type), spv_u32(s, length));
}

uint32_t spv_variable(spirv *s, uint32_t storage, uint32_t type, uint32_t initial,
                      const char *name) {
    uint32_t pointer = spv_pointer(s, storage, type), id = s->next_id++;
    spv_write(s, &s->to.globals, OpVariable, (const uint32_t[]){pointer, id, storage, initial},
              initial ? 4 : 3);
    spv_words(s, &s->to.interface, &id, 1);
    spv_name(s, id, name);
    return id;
}

void spv_capability(spirv *s, uint32_t capability) {
    for (uint64_t i = 0; i < s->to.capabilities.count; i++)
        if (s->to.capabilities.data[i] == capability) return;
    spv_words(s, &s->to.capabilities, &capability, 1);
}

void spv_name(spirv *s, uint32_t id, const char *name) {
    if (s->options->debug && name && *name)
        spv_write_text(s, &s->to.names, OpName, &id, 1, name, strlen(name));
}

/* ---- the order of ids ---- */

/* Gives every id a new one in the order of first appearance, which is what an assembler gives the
 * names in a text: so a module goes through its text and back unchanged. map: zeros, one for each
 * id below *bound. */
void spv_renumber(uint32_t *words, uint64_t count, uint32_t *map, uint32_t *bound) {
    uint32_t next = 1;
    for (uint64_t at = 5; at < count;) {
        uint32_t length = words[at] >> 16, k = 1;
        const char *operands = spv_info(words[at] & 0xffff)->operands;
        for (const char *o = operands; *o && k < length;) {
            if (*o == 't' || *o == 'r' || *o == 'i') {
                uint32_t *id = &words[at + k++];
                if (!map[*id]) map[*id] = next++;
                *id = map[*id];
            } else if (*o == 's') {
                k += spv_string_words(words + at + k, length - k);
            } else if (*o == 'X' || *o == 'D' || *o == 'm' || *o == 'l') {
                break;
            } else {
                k++;
            }
            if (o[1] != '*') o++;
        }
        at += length;
    }
    *bound = next;
}
