/* hologram atlas character: entries of the Monster's character table. Characters count from 1, as
 * in the literature.
 * Must not know: how the table is kept. */
#include "atlas.h"
#include <hologram/characters.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 64 }; /* more than 24 bytes or an i128 with its sign have */

/* An unsigned little-endian number in decimal, by long division; bytes is used up. */
static void put_decimal(uint8_t *bytes, size_t count, char text[DIGITS]) {
    char digits[DIGITS];
    int n = 0, length = 0;
    bool more = true;
    while (more && n < DIGITS - 2) {
        unsigned rest = 0;
        more = false;
        for (size_t i = count; i-- > 0;) {
            unsigned part = rest << 8 | bytes[i];
            bytes[i] = (uint8_t)(part / 10);
            rest = part % 10;
            more = more || bytes[i];
        }
        digits[n++] = (char)('0' + rest);
    }
    while (n > 0) text[length++] = digits[--n];
    text[length] = 0;
}

static void put_i128(const uint8_t value[16], char text[DIGITS]) {
    uint8_t magnitude[16];
    unsigned carry = 1;
    bool negative = value[15] >> 7;
    for (int i = 0; i < 16; i++) {
        carry += (uint8_t)~value[i];
        magnitude[i] = negative ? (uint8_t)carry : value[i];
        carry >>= 8;
    }
    if (negative) *text++ = '-';
    put_decimal(magnitude, 16, text);
}

/* "2 - z^3 + …, z = e^(2πi/39)" */
static void put_cyclotomic(cli *c, const hg_character_value *v) {
    bool first = true;
    for (uint32_t k = 0; k < v->conductor; k++) {
        int n = v->coefficient[k], size = n < 0 ? -n : n;
        if (n == 0) continue;
        cli_out(c, "%s", first ? (n < 0 ? "-" : "") : n < 0 ? " - " : " + ");
        if (size != 1 || k == 0) cli_out(c, "%d", size);
        if (k) cli_out(c, size == 1 ? "z" : "·z");
        if (k > 1) cli_out(c, "^%u", (unsigned)k);
        first = false;
    }
    cli_out(c, "%s, z = e^(2πi/%u)", first ? "0" : "", (unsigned)v->conductor);
}

typedef struct entry {
    uint32_t character, cls; /* from 0 */
    hg_character_value value;
    double real, imaginary;
    hg_monster_class of;
} entry;

static void entry_text(cli *c, const entry *e, bool alone) {
    char text[DIGITS];
    if (!alone) cli_out(c, "%-5s ", e->of.name);
    if (e->value.conductor == 1) {
        put_i128(e->value.rational, text);
        cli_out(c, "%s\n", text);
        return;
    }
    put_cyclotomic(c, &e->value);
    cli_out(c, ", about %.15g", e->real);
    if (e->imaginary != 0)
        cli_out(c, " %c %.15gi", e->imaginary < 0 ? '-' : '+',
                e->imaginary < 0 ? -e->imaginary : e->imaginary);
    cli_out(c, "\n");
}

static void put_literal(hg_json *json, const char *key, const char *text) {
    hg_json_key(json, key);
    hg_json_literal(json, text, strlen(text));
}

static void entry_json(cli *c, entry *e) {
    hg_json json;
    char text[DIGITS];
    cli_json_item(c, &json);
    hg_json_key(&json, "character");
    hg_json_u64(&json, e->character + 1);
    hg_json_key(&json, "class");
    hg_json_text(&json, e->of.name);
    hg_json_key(&json, "element_order");
    hg_json_u64(&json, e->of.element_order);
    put_decimal(e->of.size, sizeof e->of.size, text);
    put_literal(&json, "class_size", text);
    hg_json_key(&json, "conductor");
    hg_json_u64(&json, e->value.conductor);
    if (e->value.conductor == 1) {
        put_i128(e->value.rational, text);
        put_literal(&json, "value", text);
    } else {
        hg_json_key(&json, "value");
        hg_json_null(&json);
    }
    hg_json_key(&json, "coefficients"); /* of the powers of e^(2πi/conductor) */
    hg_json_begin_array(&json);
    for (uint32_t k = 0; e->value.conductor > 1 && k < e->value.conductor; k++)
        hg_json_i64(&json, e->value.coefficient[k]);
    hg_json_end_array(&json);
    hg_json_key(&json, "real");
    hg_json_f64(&json, e->real);
    hg_json_key(&json, "imaginary");
    hg_json_f64(&json, e->imaginary);
    hg_json_end_object(&json);
}

static bool add_entry(cli *c, uint32_t character, uint32_t cls, bool alone) {
    entry e = {.character = character, .cls = cls};
    if (hg_character(character, cls, &e.value) != HG_OK ||
        hg_character_f64(character, cls, &e.real, &e.imaginary) != HG_OK ||
        hg_monster_class_get(cls, &e.of) != HG_OK) {
        atlas_refuse(c);
        return false;
    }
    if (c->json)
        entry_json(c, &e);
    else
        entry_text(c, &e, alone);
    return true;
}

/* Without a class the whole row. */
void atlas_answer_character(cli *c) {
    uint64_t number = 0;
    uint32_t cls = 0;
    if (!atlas_number(c, 1, "a character", 1, HG_CHARACTER_COUNT, &number)) return;
    if (c->arguments.count == 2) {
        while (cls < HG_CHARACTER_COUNT && add_entry(c, (uint32_t)number - 1, cls, false)) cls++;
    } else if (hg_monster_class_find(c->arguments.data[2], &cls)) {
        add_entry(c, (uint32_t)number - 1, cls, true);
    } else {
        cli_usage(c,
                  "character expects a conjugacy class of the Monster such as 1A or 39B, got '%s'",
                  c->arguments.data[2]);
    }
}
