/* The character table of the Monster: decodes entries of characters_data.inc where they are asked
 * for; there is nothing to initialise. Facts: Conway, Curtis, Norton, Parker, Wilson, ATLAS of
 * Finite Groups, 1985.
 * Must not know: programs, memory.
 *
 * How the table is kept. By column orthogonality |χ(g)|² is at most the order of g's centraliser,
 * so a column's entries share a small width: 129 of 172 columns take one byte. A row is one string
 * of bytes in which every column has its place, an entry its digits to the base 256, each from -128
 * to 127 and lowest first. Of two complex conjugate characters or classes only the first is kept.
 * Irrational entries are all (a + b·√D)/2 with D = -conductor: the row holds a, a small matrix b.
 */
#include "atlas/characters.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

enum { PRIME_COUNT = 15, LOW_DIGITS = 6 };

typedef struct character_field {
    uint8_t conductor;
    int8_t moebius;                    /* of the conductor */
    char symbol[HG_CONDUCTOR_MAX + 1]; /* Kronecker symbols (-conductor/k): '+', '-', '0' */
} character_field;

typedef struct character_class {
    char name[5];
    uint8_t order;
    char centralizer[PRIME_COUNT + 1]; /* exponents of the primes, from '0' */
    uint8_t power[3];                  /* for the primes that divide order, in rising order */
    uint8_t pair; /* 0: real; else 2k for the first and 2k + 1 for the second of the k-th pair of
                     conjugates */
    uint8_t field;
    uint8_t offset, width; /* where in a row */
} character_class;

typedef struct character_row {
    uint8_t kept, pair;
} character_row;

#include "atlas/characters_data.inc"

static const uint8_t primes[PRIME_COUNT] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 41, 47, 59, 71};
static const uint8_t order_exponents[PRIME_COUNT] = {46, 20, 9, 6, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* An entry: high·2^48 + low where b is 0, else (low + b·√-conductor)/2. */
typedef struct entry {
    int64_t low, high;
    int b;
} entry;

/* Up to 7 digits, all in one step: each byte becomes its digit + 128, and the 128s are taken off
 * together. */
static inline int64_t read_digits(const char *digit, uint32_t count) {
    const uint64_t each = 0x0101010101010101, high = 0x80 * each;
    uint64_t bytes, kept = ((uint64_t)1 << 8 * count) - 1;
    memcpy(&bytes, digit, 8);
    uint64_t raised = ((bytes & ~high) + (128 - CHARACTER_ZERO) * each) ^ (bytes & high);
    return (int64_t)((raised & kept) - (high & kept));
}

static inline entry read_entry(uint64_t character, uint64_t cls) {
    const character_class *c = &classes[cls];
    character_row row = rows[character];
    const char *digits = values[row.kept] + c->offset;
    entry e = {0, 0, 0};
    if (c->width <= 7) {
        e.low = read_digits(digits, c->width);
    } else {
        e.low = read_digits(digits, LOW_DIGITS);
        e.high = read_digits(digits + LOW_DIGITS, c->width - (uint32_t)LOW_DIGITS);
    }
    if (row.pair && c->pair) {
        e.b = irrational[row.pair >> 1][c->pair >> 1];
        if ((row.pair ^ c->pair) & 1) e.b = -e.b;
    }
    return e;
}

static inline void store_integer(entry e, uint8_t bytes[16]) {
    hg_u128 value = ((hg_u128)(hg_i128)e.high << 48) + (hg_u128)(hg_i128)e.low;
    memcpy(bytes, &value, 16);
}

/* One rounding: high·2^48 is exact, and where high is not 0 low is at most 2^48. */
static inline double real_part(entry e) {
    return e.b ? (double)e.low * 0.5 : (double)e.high * 0x1p48 + (double)e.low;
}

/* b·√n/2: the square root of the integer b²·n is rounded once, the rest is exact. */
static double imaginary_part(entry e, uint32_t conductor) {
    double size = sqrt((double)((uint32_t)(e.b * e.b) * conductor)) * 0.5;
    return e.b < 0 ? -size : e.b ? size : 0.0;
}

static hg_status check_index(uint64_t index) {
    if (index < HG_CHARACTER_COUNT) return HG_OK;
    return hg_fail(HG_ERROR_ISA, "invalid character index: %llu (must be < %d)",
                   (unsigned long long)index, HG_CHARACTER_COUNT);
}

/* √D = Σ (D/k)·ζ^k (Gauss, 1811). Odd conductor: the sum of the primitive roots is the Möbius
 * function, so a = Σ μ·a·ζ^k over those k. Even conductor n: the symbol changes its sign with k +
 * n/2, as ζ^k does, so half the sum is that over k < n/2; a is even. */
static void store_coefficients(entry e, const character_field *field, int8_t *coefficient) {
    int a = (int)e.low, n = field->conductor, even = n % 2 == 0;
    for (int k = 0; k < (even ? n / 2 : n); k++) {
        if (field->symbol[k] == '0') continue;
        int term = field->symbol[k] == '+' ? e.b : -e.b;
        coefficient[k] = (int8_t)(even ? term : (term + field->moebius * a) / 2);
    }
    if (even) coefficient[0] = (int8_t)(a / 2);
}

hg_status hg_character(uint64_t character, uint64_t cls, hg_character_value *value) {
    HG_ENTRY;
    if (!value) return hg_null_argument("value");
    HG_TRY(check_index(character));
    HG_TRY(check_index(cls));
    entry e = read_entry(character, cls);
    if (!e.b) {
        value->conductor = 1;
        store_integer(e, value->rational);
    } else {
        const character_field *field = &fields[classes[cls].field];
        memset(value, 0, sizeof *value);
        value->conductor = field->conductor;
        store_coefficients(e, field, value->coefficient);
    }
    return HG_OK;
}

hg_status hg_character_f64(uint64_t character, uint64_t cls, double *real, double *imaginary) {
    HG_ENTRY;
    HG_TRY(check_index(character));
    HG_TRY(check_index(cls));
    entry e = read_entry(character, cls);
    if (real) *real = real_part(e);
    if (imaginary) *imaginary = e.b ? imaginary_part(e, fields[classes[cls].field].conductor) : 0.0;
    return HG_OK;
}

hg_status hg_character_i128(uint64_t character, uint64_t cls, uint8_t value[16]) {
    HG_ENTRY;
    if (!value) return hg_null_argument("value");
    HG_TRY(check_index(character));
    HG_TRY(check_index(cls));
    entry e = read_entry(character, cls);
    if (e.b) {
        return hg_fail(HG_ERROR_ISA, "character value not rational: character %u, class %s",
                       (unsigned)character + 1, classes[cls].name);
    }
    store_integer(e, value);
    return HG_OK;
}

void hg_character_fill_i128(uint8_t (*bytes)[16]) {
    for (uint64_t i = 0; i < HG_CHARACTER_COUNT; i++) {
        for (uint64_t j = 0; j < HG_CHARACTER_COUNT; j++, bytes++) {
            entry e = read_entry(i, j);
            store_integer(e, *bytes);
            if (e.b) {
                memset(*bytes, 0, 15);
                (*bytes)[15] = 0x80;
            }
        }
    }
}

void hg_character_fill_f64(double *real) {
    for (uint64_t i = 0; i < HG_CHARACTER_COUNT; i++) {
        for (uint64_t j = 0; j < HG_CHARACTER_COUNT; j++) *real++ = real_part(read_entry(i, j));
    }
}

/* Product of the primes to these powers; below 2^192. */
static void store_product(const uint8_t exponents[PRIME_COUNT], uint8_t bytes[24]) {
    uint32_t limb[6] = {1};
    for (int p = 0; p < PRIME_COUNT; p++) {
        for (uint32_t e = 0; e < exponents[p]; e++) {
            uint64_t carry = 0;
            for (int k = 0; k < 6; k++) {
                carry += (uint64_t)limb[k] * primes[p];
                limb[k] = (uint32_t)carry;
                carry >>= 32;
            }
        }
    }
    for (int k = 0; k < 24; k++) bytes[k] = (uint8_t)(limb[k / 4] >> k % 4 * 8);
}

hg_status hg_monster_class_get(uint64_t cls, hg_monster_class *info) {
    HG_ENTRY;
    if (!info) return hg_null_argument("info");
    HG_TRY(check_index(cls));
    const character_class *c = &classes[cls];
    uint8_t centralizer[PRIME_COUNT], size[PRIME_COUNT];
    for (int p = 0; p < PRIME_COUNT; p++) {
        centralizer[p] = (uint8_t)(c->centralizer[p] - '0');
        size[p] = (uint8_t)(order_exponents[p] - centralizer[p]);
    }
    info->name = c->name;
    info->element_order = c->order;
    store_product(size, info->size);
    store_product(centralizer, info->centralizer);
    return HG_OK;
}

bool hg_monster_class_find(const char *name, uint32_t *cls) {
    HG_ENTRY;
    for (uint32_t j = 0; name && j < HG_CHARACTER_COUNT; j++) {
        if (strcmp(name, classes[j].name) == 0) {
            *cls = j;
            return true;
        }
    }
    return false;
}

hg_status hg_monster_power(uint64_t cls, uint32_t prime, uint32_t *power) {
    HG_ENTRY;
    HG_TRY(check_index(cls));
    const character_class *c = &classes[cls];
    int rank = 0;
    for (int p = 0; p < PRIME_COUNT; p++) {
        bool divides = c->order % primes[p] == 0;
        if (primes[p] == prime) {
            if (divides) {
                *power = c->power[rank];
            } else { /* g → g^p is the automorphism ζ → ζ^p of the class's field */
                bool moves = c->pair &&
                             fields[c->field].symbol[prime % fields[c->field].conductor] == '-';
                *power = (uint32_t)cls + (moves ? c->pair & 1 ? -1u : 1u : 0u);
            }
            return HG_OK;
        }
        rank += divides;
    }
    return hg_fail(
        HG_ERROR_ISA,
        "invalid prime: %u (must be 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 41, 47, 59 or 71)",
        prime);
}

/* Every real character of the Monster is that of a real representation. */
hg_status hg_monster_indicator(uint64_t character, int *indicator) {
    HG_ENTRY;
    if (!indicator) return hg_null_argument("indicator");
    HG_TRY(check_index(character));
    *indicator = rows[character].pair ? 0 : 1;
    return HG_OK;
}

void hg_monster_order(uint8_t order[24]) {
    HG_ENTRY;
    if (order) store_product(order_exponents, order);
}
