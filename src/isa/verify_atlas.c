/* Numbers in the operands of Atlas instructions that can only be wrong: N07, with the words of the
 * fault that a register would give.
 * Must not know: registers' values, control flow. */
#include "isa/verify_internal.h"
#include <hologram/atlas.h>
#include <hologram/characters.h>

#include <stdio.h>

typedef struct numbers {
    hg_check *check;
    const hg_operand *operands;
    uint32_t inst;
    bool said;
} numbers;

static bool is_number(const numbers *n, int operand, uint64_t *value) {
    *value = n->operands[operand].value;
    return !n->operands[operand].is_reg;
}

static void bad(numbers *n, int operand, const char *text) {
    if (!n->said) hg_check_error(n->check, "N07", n->inst, operand, NULL, "%s", text);
    n->said = true;
}

static void below(numbers *n, int operand, const char *what, uint64_t limit) {
    uint64_t value;
    char text[96];
    if (!is_number(n, operand, &value) || value < limit) return;
    snprintf(text, sizeof text, "invalid %s: %llu (must be < %llu)", what,
             (unsigned long long)value, (unsigned long long)limit);
    bad(n, operand, text);
}

static void describe(const hg_operand *o, char text[24]) {
    if (o->is_reg)
        snprintf(text, 24, "r%u", (unsigned)o->reg);
    else
        snprintf(text, 24, "%llu", (unsigned long long)o->value);
}

/* bound.map d, class, page, byte */
static void check_coordinates(numbers *n, uint64_t pages, uint64_t bytes) {
    uint64_t page, byte;
    below(n, 1, "class index", HG_CLASS_COUNT);
    bool bad_page = is_number(n, 2, &page) && page >= pages,
         bad_byte = is_number(n, 3, &byte) && byte >= bytes;
    if (!bad_page && !bad_byte) return;
    char text[160], page_text[24], byte_text[24];
    describe(&n->operands[2], page_text);
    describe(&n->operands[3], byte_text);
    snprintf(text, sizeof text,
             "invalid boundary coordinates: page=%s (must be < %llu), byte=%s (must be < %llu)",
             page_text, (unsigned long long)pages, byte_text, (unsigned long long)bytes);
    bad(n, bad_page ? 2 : 3, text);
}

static void check_character(numbers *n, hg_type type) {
    uint64_t character, cls;
    uint8_t value[16];
    below(n, 1, "character index", HG_CHARACTER_COUNT);
    below(n, 2, "character index", HG_CHARACTER_COUNT);
    bool one = is_number(n, 1, &character), known = is_number(n, 2, &cls) && one;
    if (n->said || !known || type != HG_TYPE_I128) return;
    if (hg_character_i128(character, cls, value) != HG_OK)
        bad(n, 2, "character value not rational");
}

static void check_torus(numbers *n) {
    uint64_t size;
    char text[64];
    if (!is_number(n, 2, &size) || hg_torus_size_known(size)) return;
    snprintf(text, sizeof text, "unknown torus size: %llu", (unsigned long long)size);
    bad(n, 2, text);
}

static void check_inverse(numbers *n) {
    uint64_t unit, modulus, inverse;
    bool one = is_number(n, 1, &unit), known = is_number(n, 2, &modulus) && one;
    if (!known || (modulus <= UINT32_MAX && hg_mult_inverse(unit, modulus, &inverse) == HG_OK))
        return;
    char text[96]; /* the result is u32: there is none of a larger modulus */
    snprintf(text, sizeof text, "no multiplicative inverse: %llu mod %llu",
             (unsigned long long)unit, (unsigned long long)modulus);
    bad(n, 2, text);
}

void hg_check_atlas(hg_check *c, uint32_t inst) {
    const hg_inst *in = &c->program->insts[inst];
    numbers n = {.check = c, .operands = hg_inst_operands(c->program, inst), .inst = inst};
    hg_torus torus;
    switch ((hg_op)in->op) {
    case HG_OP_RES_ACCUM: below(&n, 2, "class index", HG_CLASS_COUNT); break;
    case HG_OP_PHASE_READ:
    case HG_OP_PHASE_WRITE: below(&n, 1, "class index", HG_CLASS_COUNT); break;
    case HG_OP_BOUND_MAP_PARTS: check_coordinates(&n, HG_CLASS_PAGES, HG_CLASS_PAGE_BYTES); break;
    case HG_OP_BOUND_MAP_TYPED:
        if (in->type >= HG_TYPE_COUNT) break; /* said elsewhere */
        torus = hg_torus_of((hg_type)in->type);
        check_coordinates(&n, torus.page_mod, torus.res_mod);
        break;
    case HG_OP_CHAR_PRODUCT: check_character(&n, (hg_type)in->type); break;
    case HG_OP_ORBIT_CLASSIFY: check_torus(&n); break;
    case HG_OP_ORBIT_REPRESENTATIVE:
        below(&n, 1, "orbit index", HG_ORBIT_COUNT);
        check_torus(&n);
        break;
    case HG_OP_MULT_INVERSE: check_inverse(&n); break;
    default: break;
    }
}
