/* Registers and predicates by name: what a name stands for, .reg, .name, register arrays, special
 * registers, temporaries, and where virtual registers stand. Must not know: instructions, liveness.
 */
#include "isa/assemble_inst.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- names ---- */

hg_named *hg_asm_find_named(hg_assembler *a, const hg_token *token) {
    const hg_name *name = hg_asm_find_name(a, token);
    bool is_register = name && (name->kind == HG_NAME_REGISTER || name->kind == HG_NAME_PREDICATE ||
                                name->kind == HG_NAME_PARAM);
    return is_register ? &a->registers.named.data[name->index] : NULL;
}

/* A new name; NULL when it is there already (D02), or there is no memory. */
static hg_named *add_name(hg_assembler *a, const hg_token *token, hg_name_kind kind) {
    if (!hg_asm_declare(a, token, kind, a->registers.named.count)) return NULL;
    hg_named *name = hg_vec_push(&a->registers.named);
    if (!name) {
        hg_asm_no_memory(a);
        return NULL;
    }
    *name = (hg_named){
        .token = *token, .first = HG_UNDEFINED, .param = HG_UNDEFINED, .type = HG_TYPE_OMITTED};
    return name;
}

/* ---- parameters ---- */

bool hg_asm_add_param_name(hg_assembler *a, const hg_token *token, const hg_param *p,
                           bool has_register) {
    uint8_t type = p->kind == HG_PARAM_SCALAR ? p->type : (uint8_t)HG_TYPE_U64; /* others hold a
                                                                                   handle */
    uint32_t number = (uint32_t)a->registers.named.count,
             first = (uint32_t)a->registers.virtuals.count;
    hg_named *name = add_name(a, token, HG_NAME_PARAM);
    hg_register *reg = name ? hg_vec_push(&a->registers.param_registers) : NULL;
    if (!name) return false;
    if (!reg) return hg_asm_no_memory(a);
    name->param = (uint32_t)a->registers.param_registers.count - 1;
    name->type = type;
    name->number = p->reg;
    name->count = 1;
    *reg = (hg_register){HG_UNDEFINED, p->reg, type};
    if (has_register) return true;
    name->first = reg->virtual_number = first;
    return hg_asm_add_virtual(a, number, type, false, token);
}

uint8_t hg_asm_element_type(hg_assembler *a, const hg_token *token) {
    const hg_named *name = hg_asm_find_named(a, token);
    const hg_param *p = name && name->param != HG_UNDEFINED ? &a->head.params.data[name->param]
                                                            : NULL;
    return p && p->kind != HG_PARAM_SCALAR && p->kind != HG_PARAM_POOL ? p->type
                                                                       : (uint8_t)HG_TYPE_OMITTED;
}

void hg_asm_keep_array(hg_assembler *a, hg_register handle) {
    if (handle.virtual_number == HG_UNDEFINED) return;
    const hg_virtual *v = &a->registers.virtuals.data[handle.virtual_number];
    if (v->name != HG_UNDEFINED) a->registers.named.data[v->name].kept = true;
}

/* ---- .reg ---- */

static bool read_extents(hg_assembler *a, hg_named *name) {
    name->count = 1;
    if (!hg_asm_accept(a, '[')) return true;
    do {
        hg_token number;
        uint64_t extent;
        if (name->rank == HG_MAX_ARRAY_RANK) {
            hg_asm_error(a, "S05", &a->token, NULL, "more than %d extents of a register array",
                         HG_MAX_ARRAY_RANK);
            return false;
        }
        if (!hg_asm_integer(a, "a number of registers", &extent, &number)) return false;
        if (!extent || extent > HG_MAX_ARRAY_REGISTERS ||
            extent * name->count > HG_MAX_ARRAY_REGISTERS) {
            hg_asm_error(a, "S05", &number, NULL, "a register array has 1 to %d registers",
                         HG_MAX_ARRAY_REGISTERS);
            return false;
        }
        name->extents[name->rank++] = (uint32_t)extent;
        name->count *= (uint32_t)extent;
    } while (hg_asm_accept(a, ','));
    return hg_asm_expect(a, ']', "',' or ']'");
}

static bool is_literal_word(const hg_token *t) {
    return hg_token_is(t, "inf") || hg_token_is(t, "nan") || hg_token_is(t, "bits");
}

/* The name is no register any more; what stands for it is not used. */
static void break_name(hg_assembler *a, const hg_named *name) {
    hg_name *declared = hg_asm_find_in(&a->names, name->token.text, name->token.length,
                                       hg_asm_scope_of(a, &name->token));
    if (declared) declared->kind = HG_NAME_BROKEN;
}

/* The name of a register that is declared. */
bool hg_asm_register_name(hg_assembler *a, hg_token *name) {
    if (!hg_asm_identifier(a, "a name", name)) return false;
    const hg_token token = *name;
    if (!hg_is_parameter_name(token.text, token.length) || is_literal_word(&token) ||
        hg_token_is(&token, "pred")) {
        hg_asm_error(
            a, "S02", &token,
            "names of registers have only letters, digits and '_', and are no words of literals",
            "'%.*s' cannot be a register's name", hg_token_shown(&token), token.text);
        return hg_asm_declare_broken(a, &token);
    }
    return true;
}

bool hg_asm_declare_register(hg_assembler *a, const hg_token *token, uint8_t type, bool predicate,
                             bool fixed, hg_register *reg) {
    uint32_t number = (uint32_t)a->registers.named.count;
    bool made = reg->virtual_number != HG_UNDEFINED;
    hg_named *name = add_name(a, token, predicate ? HG_NAME_PREDICATE : HG_NAME_REGISTER);
    if (!name) return false;
    name->type = type;
    name->predicate = predicate;
    name->count = 1;
    name->fixed = fixed;
    if (!made) *reg = (hg_register){(uint32_t)a->registers.virtuals.count, 0, type};
    name->first = reg->virtual_number;
    if (!made) return hg_asm_add_virtual(a, number, type, predicate, token);
    a->registers.virtuals.data[reg->virtual_number].name = number;
    return true;
}

bool hg_asm_check_fixed(hg_assembler *a, const hg_token *token) {
    const hg_named *name = hg_asm_find_named(a, token);
    if (a->functions.scope && name && name->param != HG_UNDEFINED) {
        hg_asm_error(a, "N03", token, "copy it: let k = …",
                     "'%.*s' is a parameter of the program, which a function does not assign",
                     hg_token_shown(token), token->text);
        return false;
    }
    if (!name || !name->fixed) return true;
    hg_asm_error(a, "N03", token, "copy it: let k = …", "'%.*s' is %s, which is not assigned",
                 hg_token_shown(token), token->text,
                 name->coordinate ? "a coordinate of the lane" : "the variable of a 'for'");
    return false;
}

static bool read_declared(hg_assembler *a) {
    hg_token token;
    if (!hg_asm_register_name(a, &token)) return false;
    hg_named *name = add_name(a, &token, HG_NAME_REGISTER);
    if (!name || read_extents(a, name)) return name != NULL;
    break_name(a, name);
    return false;
}

/* Behind a mistake in a list: to the next comma, or to a word, which is the type. */
static void skip_declared(hg_assembler *a) {
    uint32_t depth = 0;
    if (a->token.kind != HG_TOKEN_NAME && a->token.kind != ',' && !hg_asm_at_end(a) &&
        a->token.kind != '[')
        hg_asm_next(a);
    for (; !hg_asm_at_end(a); hg_asm_next(a)) {
        if (!depth && (a->token.kind == ',' || a->token.kind == HG_TOKEN_NAME)) return;
        depth += a->token.kind == '[';
        depth -= depth && a->token.kind == ']';
    }
}

bool hg_asm_register_type(hg_assembler *a, uint8_t *type, bool *predicate) {
    *type = HG_TYPE_OMITTED;
    *predicate = hg_token_is(&a->token, "pred");
    if (!*predicate) return hg_asm_expect_type(a, "',', a type or 'pred'", type);
    hg_asm_next(a);
    return true;
}

bool hg_asm_read_registers(hg_assembler *a) {
    uint64_t first = a->registers.named.count;
    uint8_t type;
    bool predicate, good = true;
    do {
        bool read = read_declared(a);
        if (!read && !a->wrong.stop) skip_declared(a); /* the others are names all the same */
        good = good && read;
    } while (hg_asm_accept(a, ',') && !a->wrong.stop);
    if (a->wrong.stop) return false;
    if (!hg_asm_register_type(a, &type, &predicate)) {
        for (uint64_t i = first; i < a->registers.named.count; i++)
            break_name(a, &a->registers.named.data[i]);
        return false;
    }
    for (uint64_t i = first; i < a->registers.named.count; i++) {
        hg_named *name = &a->registers.named.data[i];
        name->type = type;
        name->predicate = predicate;
        name->first = (uint32_t)a->registers.virtuals.count;
        for (uint32_t k = 0; k < name->count; k++)
            if (!hg_asm_add_virtual(a, (uint32_t)i, type, predicate, &name->token)) return false;
    }
    return good;
}

/* ---- .name: what disassembled text says of registers that the program had by name ---- */

static bool read_numbered(hg_assembler *a, hg_register_name *record) {
    hg_token word = a->token;
    bool predicate = word.kind == HG_TOKEN_NAME &&
                     hg_looks_like_register(word.text, word.length, 'p');
    if (!predicate &&
        !(word.kind == HG_TOKEN_NAME && hg_looks_like_register(word.text, word.length, 'r')))
        return hg_asm_unexpected(a, "a register (r0 to r255) or a predicate (p0 to p15)");
    hg_asm_next(a);
    record->predicate = predicate;
    return hg_asm_register(a, &word, predicate ? HG_MAX_PREDICATES : HG_MAX_REGISTERS,
                           &record->number);
}

static bool read_shown_name(hg_assembler *a, hg_register_name *record, hg_token *string) {
    size_t length;
    *string = a->token;
    if (!hg_asm_expect(a, HG_TOKEN_STRING, "the name as a string")) return false;
    const char *text = hg_asm_string(a, string, &length);
    if (!text) return false;
    record->name = hg_arena_text(&a->program->arena, text, length);
    if (!record->name) return hg_asm_no_memory(a);
    if (hg_is_shown_name(record->name, length)) return true;
    hg_asm_error(a, "S02", string, NULL, "a register's name has 1 to %d printable characters",
                 HG_MAX_IDENT_BYTES);
    return false;
}

bool hg_asm_read_given_name(hg_assembler *a) {
    hg_given_name given = {.record.first = (uint32_t)a->code.insts.count};
    hg_token number;
    uint64_t count;
    if (!read_numbered(a, &given.record) || !read_shown_name(a, &given.record, &given.token))
        return false;
    if (!hg_asm_expect(a, ',', "','") ||
        !hg_asm_integer(a, "a number of instructions", &count, &number))
        return false;
    if (!count || count > UINT32_MAX - given.record.first) {
        hg_asm_error(a, "S04", &number, NULL,
                     "a name holds for 1 to 2^32 - 1 instructions, not %.*s",
                     hg_token_shown(&number), number.text);
        return false;
    }
    given.record.end = given.record.first + (uint32_t)count;
    hg_given_name *kept = hg_vec_push(&a->registers.given_names);
    if (!kept) return hg_asm_no_memory(a);
    *kept = given;
    return true;
}

void hg_asm_check_given_names(hg_assembler *a) {
    for (uint64_t i = 0; i < a->registers.given_names.count; i++) {
        const hg_given_name *given = &a->registers.given_names.data[i];
        uint64_t left = a->code.insts.count - given->record.first;
        if (given->record.end - given->record.first > left)
            hg_asm_error(
                a, "N07", &given->token, NULL, "a name for %u instructions, where %llu follow",
                (unsigned)(given->record.end - given->record.first), (unsigned long long)left);
    }
}

bool hg_asm_store_given_names(hg_assembler *a) {
    hg_program *p = a->program;
    uint64_t count = p->register_name_count + a->registers.given_names.count, kept = 0;
    if (!a->registers.given_names.count) return true;
    hg_register_name *all = hg_arena_alloc(&p->arena, (size_t)count * sizeof *all);
    if (!all) return hg_asm_no_memory(a);
    if (p->register_name_count)
        memcpy(all, p->register_names, p->register_name_count * sizeof *all);
    for (uint64_t i = 0; i < a->registers.given_names.count; i++)
        all[p->register_name_count + i] = a->registers.given_names.data[i].record;
    qsort(all, (size_t)count, sizeof *all, hg_compare_register_names);
    for (uint64_t i = 0; i < count; i++)
        if (!kept || hg_compare_register_names(&all[kept - 1], &all[i]) != 0) all[kept++] = all[i];
    p->register_names = all;
    p->register_name_count = (uint32_t)kept;
    return true;
}

/* ---- registers in operands ---- */

/* The register of an array that the indices name; '[' is the next token. */
static bool read_indices(hg_assembler *a, const hg_named *name, hg_register *reg) {
    uint32_t rank = 0, element = 0;
    hg_token open = a->token;
    hg_asm_next(a);
    do {
        hg_token number;
        uint64_t index;
        if (!hg_asm_integer(a, "a constant index", &index, &number)) return false;
        if (rank < name->rank && index >= name->extents[rank]) {
            hg_asm_error(a, "N07", &number, NULL, "index %llu of '%.*s' is out of range: 0 to %u",
                         (unsigned long long)index, hg_token_shown(&name->token), name->token.text,
                         (unsigned)name->extents[rank] - 1);
            return false;
        }
        if (rank < name->rank) element = element * name->extents[rank] + (uint32_t)index;
        rank++;
    } while (hg_asm_accept(a, ','));
    if (!hg_asm_expect(a, ']', "',' or ']'")) return false;
    if (rank != name->rank) {
        hg_asm_error(a, "N04", &open, NULL, "'%.*s' takes %u %s, got %u",
                     hg_token_shown(&name->token), name->token.text, (unsigned)name->rank,
                     name->rank == 1 ? "index" : "indices", (unsigned)rank);
        return false;
    }
    if (reg->virtual_number != HG_UNDEFINED)
        reg->virtual_number += element; /* else its declaration could not be read */
    return true;
}

/* Whether a parameter holds the special register. */
static const hg_named *find_owner(const hg_assembler *a, uint8_t number) {
    for (uint64_t i = 0; i < a->registers.param_registers.count; i++) {
        if (a->registers.param_registers.data[i].virtual_number != HG_UNDEFINED ||
            a->registers.param_registers.data[i].number != number)
            continue;
        for (uint64_t k = 0; k < a->registers.named.count; k++)
            if (a->registers.named.data[k].param == i) return &a->registers.named.data[k];
    }
    return NULL;
}

/* N03 where it holds a parameter. */
static bool is_special(hg_assembler *a, const hg_token *at, const hg_special *s) {
    const hg_named *owner = find_owner(a, s->reg);
    if (!owner) return true;
    hg_asm_error(a, "N03", at, NULL, "'%s' is r%u, which holds the parameter '%.*s'", s->text,
                 (unsigned)s->reg, hg_token_shown(&owner->token), owner->token.text);
    return false;
}

static const hg_special *global_register(void) {
    const hg_special *s = hg_specials;
    while (s->id != HG_ID_GLOBAL_LANE_ID) s++;
    return s;
}

bool hg_asm_global(hg_assembler *a, const hg_token *at, hg_register *reg) {
    const hg_special *s = global_register();
    *reg = (hg_register){HG_UNDEFINED, s->reg, HG_TYPE_U64};
    return is_special(a, at, s);
}

bool hg_asm_declare_coordinate(hg_assembler *a, const hg_token *token, bool alone,
                               hg_register *reg) {
    uint32_t number = (uint32_t)a->registers.named.count;
    hg_named *name = add_name(a, token, HG_NAME_REGISTER);
    if (!name) return false;
    *reg = (hg_register){HG_UNDEFINED, global_register()->reg, HG_TYPE_U64};
    if (!alone) reg->virtual_number = (uint32_t)a->registers.virtuals.count;
    name->first = reg->virtual_number;
    name->number = reg->number;
    name->type = HG_TYPE_U64;
    name->count = 1;
    name->fixed = name->coordinate = true;
    return alone || hg_asm_add_virtual(a, number, HG_TYPE_U64, false, token);
}

static bool find_special(hg_assembler *a, const hg_token *word, uint8_t *kind, hg_register *reg) {
    for (uint32_t i = 0; i < HG_SPECIAL_COUNT; i++) {
        const hg_special *s = &hg_specials[i];
        if (!hg_token_is(word, s->text)) continue;
        *kind = HG_WORD_REGISTER;
        *reg = (hg_register){HG_UNDEFINED, s->reg, (uint8_t)hg_idname_type((hg_idname)s->id)};
        return is_special(a, word, s);
    }
    hg_idname id;
    if (!hg_idname_from_text(word->text, word->length, &id)) return true;
    *kind = HG_WORD_ID;
    *reg = (hg_register){HG_UNDEFINED, (uint8_t)id, (uint8_t)hg_idname_type(id)};
    return true;
}

bool hg_asm_word_register(hg_assembler *a, const hg_token *word, uint8_t *kind, hg_register *reg) {
    const hg_named *name = hg_asm_find_named(a, word);
    *kind = HG_WORD_NONE;
    *reg = HG_NO_REGISTER;
    if (!name) return find_special(a, word, kind, reg);
    *kind = name->predicate ? HG_WORD_PREDICATE : HG_WORD_REGISTER;
    *reg = (hg_register){name->first, name->number, name->type};
    if (!name->rank) return true;
    if (a->token.kind == '[') return read_indices(a, name, reg);
    *kind = HG_WORD_ARRAY;
    return true;
}

const char *hg_asm_register_hint(hg_assembler *a, const hg_token *word,
                                 char out[HG_NEAREST_BYTES + 40]) {
    hg_nearest nearest;
    char known[HG_NEAREST_BYTES];
    const char *foreign = hg_foreign_hint(HG_FOREIGN_OPERAND, word->text, word->length);
    if (foreign) return foreign;
    if (!hg_is_parameter_name(word->text, word->length) || a->wrong.errors >= HG_MOST_EXPLAINED)
        return NULL;
    hg_nearest_init(&nearest, word->text, word->length);
    for (uint64_t i = 0; i < a->registers.named.count; i++) {
        const hg_token *name = &a->registers.named.data[i].token;
        if (name->length >= sizeof known) continue;
        memcpy(known, name->text, name->length);
        known[name->length] = 0;
        if (!hg_token_is(word, known)) hg_nearest_try(&nearest, known); /* of another block */
    }
    if (hg_nearest_hint(&nearest))
        snprintf(out, HG_NEAREST_BYTES + 40, "%s", hg_nearest_hint(&nearest));
    else
        snprintf(out, HG_NEAREST_BYTES + 40, "declare it: .reg %.*s TYPE", hg_token_shown(word),
                 word->text);
    return out;
}

static bool wrong_register(hg_assembler *a, const hg_token *word, uint8_t kind,
                           const char *expected) {
    char got[80], hint[HG_NEAREST_BYTES + 40];
    if (kind == HG_WORD_ARRAY)
        hg_asm_error(a, "N03", word, "an element of it has indices: a[0]",
                     "expected %s, got the register array %s", expected,
                     hg_token_describe(word, got));
    else if (kind == HG_WORD_PREDICATE)
        hg_asm_error(a, "N03", word, NULL, "expected %s, got the predicate %s", expected,
                     hg_token_describe(word, got));
    else if (hg_asm_is_unknown(a, word))
        hg_asm_error(a, "S02", word, hg_asm_register_hint(a, word, hint), "expected %s, got %s",
                     expected, hg_token_describe(word, got));
    return false;
}

bool hg_asm_read_register(hg_assembler *a, const char *expected, hg_register *reg) {
    hg_token word = a->token;
    uint8_t kind;
    if (word.kind != HG_TOKEN_NAME)
        return hg_asm_unexpected_with(a, expected, hg_foreign_sign(HG_FOREIGN_OPERAND, word.kind));
    hg_asm_next(a);
    if (hg_looks_like_register(word.text, word.length, 'r')) {
        *reg = HG_NO_REGISTER;
        return hg_asm_register(a, &word, HG_MAX_REGISTERS, &reg->number);
    }
    if (!hg_asm_word_register(a, &word, &kind, reg)) return false;
    if (kind == HG_WORD_ID) return hg_asm_emit_id(a, &word, (hg_idname)reg->number, reg);
    return kind == HG_WORD_REGISTER || wrong_register(a, &word, kind, expected);
}
