/* The statement tree as callers fill it (<hologram/tree.h>): ids of expressions, variables and
 * arrays, and what is checked of them; nodes, statements and instructions are the tree's own.
 * Must not know: syntax. */
#include "isa/tree/fill.h"

#include <stdio.h>

/* ---- the tree ---- */

static bool open_assembler(hg_tree *t, hg_diagnostics *diagnostics) {
    static const hg_assemble_options NONE = {.size = sizeof NONE};
    t->a = hg_asm_create(diagnostics);
    if (!t->a) return false;
    t->a->options = &NONE;
    if (!hg_asm_open_source(t->a, "", 0)) return false;
    hg_asm_init_mnemonics(t->a);
    return true;
}

/* What the head has said of its last call is a mistake of the tree. */
static hg_status finish_head(hg_tree *t, uint64_t errors) {
    char code[4], message[256];
    if (t && hg_builder_take_mistake(t->head, code, message)) {
        hg_token at = hg_tree_here(t, "");
        hg_asm_error(t->a, code, &at, NULL, "%s", message);
    }
    return hg_tree_status(t, errors);
}

hg_tree *hg_tree_create(const char *name, hg_diagnostics *diagnostics) {
    HG_ENTRY;
    hg_tree *t = hg_calloc(1, sizeof *t);
    if (!t) return NULL;
    t->serial = (uint32_t)hg_program_next_serial();
    t->at.kind = HG_TOKEN_NAME;
    t->head = hg_builder_create(name);
    if (t->head && open_assembler(t, diagnostics)) {
        (void)finish_head(t, 0); /* of the name */
        return t;
    }
    hg_tree_destroy(t);
    return NULL;
}

void hg_tree_destroy(hg_tree *t) {
    HG_ENTRY;
    if (!t) return;
    hg_builder_destroy(t->head);
    hg_asm_destroy(t->a);
    hg_vec_free(&t->variables);
    hg_vec_free(&t->arrays);
    hg_vec_free(&t->routines);
    hg_free(t);
}

hg_status hg_tree_place(hg_tree *t, uint32_t line, uint32_t column, const char *text) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    size_t length = text ? strlen(text) : 0, shown = length < UINT16_MAX ? length : UINT16_MAX;
    const char *kept = text ? hg_arena_text(&t->a->texts, text, shown) : NULL;
    if (text && !kept) return hg_asm_no_memory(t->a), hg_fail_memory();
    const char *end = text ? memchr(kept, '\n', shown) : NULL;
    t->at = (hg_token){.kind = HG_TOKEN_NAME,
                       .line = line,
                       .column = column,
                       .text = kept,
                       .length = (uint32_t)shown,
                       .marked = end ? (uint32_t)(end - kept) : 0};
    t->a->code.of_expressions = text != NULL;
    hg_builder_at(t->head, line, column);
    return HG_OK;
}

static hg_status finish(hg_tree *t, uint64_t errors) {
    hg_tree_check_behind(t);
    hg_tree_over(t);
    return hg_tree_status(t, errors);
}

/* ---- variables ---- */

/* A register with a name that messages show; reg: as given, where it is one. */
static bool name_register(hg_tree *t, const char *name, uint8_t type, bool predicate,
                          hg_register *reg) {
    hg_assembler *a = t->a;
    bool made = reg->virtual_number != HG_UNDEFINED;
    if (!name) return made || hg_asm_temporary(a, type, predicate, reg);
    size_t length = strlen(name);
    hg_token token = hg_tree_here(t, "");
    if (!hg_is_shown_name(name, length)) {
        hg_asm_error(a, "N03", &token, "1 to 255 printable characters",
                     "the name of a variable cannot be shown");
        return false;
    }
    token.text = hg_arena_text(&a->texts, name, length);
    token.length = (uint32_t)length;
    hg_named *named = token.text ? hg_vec_push(&a->registers.named) : NULL;
    if (!named) return hg_asm_no_memory(a);
    uint32_t number = (uint32_t)a->registers.named.count - 1;
    if (!made) *reg = (hg_register){(uint32_t)a->registers.virtuals.count, 0, type};
    *named = (hg_named){.token = token,
                        .first = reg->virtual_number,
                        .count = 1,
                        .param = HG_UNDEFINED,
                        .type = type,
                        .predicate = predicate};
    if (!made) return hg_asm_add_virtual(a, number, type, predicate, &token);
    a->registers.virtuals.data[reg->virtual_number].name = number;
    return true;
}

static hg_variable declare(hg_tree *t, const char *name, uint32_t type) {
    bool predicate = type == HG_TREE_PREDICATE;
    hg_register reg = HG_NO_REGISTER;
    if (!hg_tree_check_type(t, type, true) ||
        !name_register(t, name, predicate ? (uint8_t)HG_TYPE_OMITTED : (uint8_t)type, predicate,
                       &reg))
        return 0;
    return hg_tree_add_variable(t, reg, predicate, false);
}

hg_variable hg_tree_variable(hg_tree *t, const char *name, uint32_t type) {
    HG_ENTRY;
    uint64_t errors;
    return hg_tree_begin(t, &errors) ? declare(t, name, type) : 0;
}

/* ---- parameters and memory ---- */

/* The register of the parameter that the head has just got. */
static bool add_parameter(hg_tree *t, const char *name, uint8_t type, hg_register *reg) {
    *reg = HG_NO_REGISTER;
    if (!name || !name_register(t, name, type, false, reg)) return false;
    hg_register *kept = hg_vec_push(&t->a->registers.param_registers);
    if (!kept || !hg_vec_push(&t->a->head.params)) return hg_asm_no_memory(t->a);
    *kept = *reg;
    t->a->registers.named.data[t->a->registers.named.count - 1].param =
        (uint32_t)t->a->registers.param_registers.count - 1;
    return true;
}

static bool good_name(hg_tree *t, const char *name) {
    if (name && hg_is_parameter_name(name, strlen(name))) return true;
    hg_token at = hg_tree_here(t, "name");
    hg_asm_error(t->a, "N03", &at, NULL, "'%.64s' cannot be the name of a parameter or array",
                 name ? name : "");
    return false;
}

hg_variable hg_tree_param_scalar(hg_tree *t, const char *name, hg_type type) {
    HG_ENTRY;
    uint64_t errors;
    hg_register reg;
    if (!hg_tree_begin(t, &errors) || !good_name(t, name) ||
        !hg_tree_check_type(t, (uint32_t)type, false))
        return 0;
    hg_builder_param_scalar(t->head, 0, name, type);
    return add_parameter(t, name, (uint8_t)type, &reg) ? hg_tree_add_variable(t, reg, false, false)
                                                       : 0;
}

/* name: as messages of its elements say it. */
static hg_elements add_array(hg_tree *t, const char *name, hg_tree_array array) {
    hg_tree_array *kept = hg_vec_push(&t->arrays);
    array.name = hg_tree_here(t, "");
    array.name.text = hg_arena_text(&t->a->texts, name, strlen(name));
    array.name.length = (uint32_t)strlen(name);
    if (!kept || !array.name.text) {
        (void)hg_asm_no_memory(t->a);
        return 0;
    }
    *kept = array;
    return hg_tree_make_id(t, HG_TREE_ID_ARRAY, t->arrays.count - 1);
}

/* Of the parameter that the head has just got. */
static hg_elements add_buffer(hg_tree *t, const char *name, hg_type type, const hg_dim *dims,
                              uint32_t rank) {
    hg_tree_array array = {.address = {.kind = HG_K_ADDRESS, .place = HG_PLACE_BUF_REG},
                           .type = (uint8_t)type,
                           .declared = true,
                           .has_extents = rank <= HG_MAX_EXTENTS && (dims || !rank)};
    array.rank = array.has_extents ? (uint8_t)rank : 0;
    for (uint32_t i = 0; i < array.rank; i++) {
        if (dims[i].param) continue;
        array.known |= (uint8_t)(1u << i);
        array.extents[i] = dims[i].value;
    }
    return add_parameter(t, name, HG_TYPE_U64, &array.handle) ? add_array(t, name, array) : 0;
}

static bool begin_array(hg_tree *t, const char *name, hg_type type) {
    uint64_t errors;
    return hg_tree_begin(t, &errors) && good_name(t, name) &&
           hg_tree_check_type(t, (uint32_t)type, false);
}

hg_elements hg_tree_param_buffer(hg_tree *t, const char *name, hg_type type, int dir,
                                 const hg_dim *dims, uint32_t rank) {
    HG_ENTRY;
    if (!begin_array(t, name, type)) return 0;
    hg_builder_param_buffer(t->head, 0, name, type, dir, dims, rank);
    return add_buffer(t, name, type, dims, rank);
}

hg_elements hg_tree_scratch(hg_tree *t, const char *name, hg_type type, const hg_dim *dims,
                            uint32_t rank) {
    HG_ENTRY;
    if (!begin_array(t, name, type)) return 0;
    hg_builder_scratch(t->head, 0, name, type, dims, rank);
    return add_buffer(t, name, type, dims, rank);
}

hg_elements hg_tree_data(hg_tree *t, const char *name, hg_type type, const hg_dim *dims,
                         uint32_t rank, const void *elements) {
    HG_ENTRY;
    if (!begin_array(t, name, type)) return 0;
    hg_builder_data(t->head, 0, name, type, dims, rank, elements);
    return add_buffer(t, name, type, dims, rank);
}

/* The number of elements, 0: none, or more than `most`. */
static uint64_t count_elements(const uint64_t *extents, uint32_t rank, uint64_t most) {
    uint64_t elements = rank && rank <= HG_MAX_EXTENTS && extents ? 1 : 0;
    for (uint32_t i = 0; elements && i < rank; i++)
        if (!hg_mul_u64(elements, extents[i], &elements) || elements > most) elements = 0;
    return elements;
}

/* shared, private: behind what is there, at a multiple of 16. */
static hg_elements add_memory(hg_tree *t, const char *name, hg_type type, const uint64_t *extents,
                              uint32_t rank, bool private) {
    static const char *const WORDS[] = {"shared", "private"};
    uint64_t most = private ? HG_MAX_PRIVATE_BYTES : HG_MAX_SHARED_BYTES,
             *bytes = &t->bytes[private], elements = count_elements(extents, rank, most),
             size = hg_type_size_bytes(type),
             offset = (*bytes + HG_ARRAY_ALIGNMENT - 1) / HG_ARRAY_ALIGNMENT * HG_ARRAY_ALIGNMENT;
    hg_token at = hg_tree_here(t, "elements");
    if (!elements || offset + elements * size > most) {
        hg_asm_error(t->a, "S05", &at, NULL,
                     "an array in %s memory has 1 to %d extents and at least 1 element, and all "
                     "arrays %llu bytes at most",
                     WORDS[private], HG_MAX_EXTENTS, (unsigned long long)most);
        return 0;
    }
    char key[HG_MAX_IDENT_BYTES + 16], value[64];
    snprintf(key, sizeof key, "%s.%.*s", WORDS[private], HG_MAX_IDENT_BYTES, name);
    snprintf(value, sizeof value, "%s[%llu] at %llu", hg_type_name(type),
             (unsigned long long)elements, (unsigned long long)offset);
    if (hg_is_identifier(key, strlen(key))) hg_builder_meta(t->head, key, value);
    *bytes = offset + elements * size;
    if (private)
        hg_builder_private(t->head, *bytes);
    else
        hg_builder_shared(t->head, *bytes);
    hg_tree_array array = {.handle = HG_NO_REGISTER,
                           .address = {.kind = HG_K_ADDRESS,
                                       .place = private ? HG_PLACE_PRIVATE : HG_PLACE_SHARED,
                                       .disp = (int64_t)offset},
                           .type = (uint8_t)type,
                           .has_extents = true,
                           .rank = (uint8_t)rank,
                           .known = (uint8_t)((1u << rank) - 1)};
    memcpy(array.extents, extents, rank * sizeof *extents);
    return add_array(t, name, array);
}

hg_elements hg_tree_shared(hg_tree *t, const char *name, hg_type type, const uint64_t *extents,
                           uint32_t rank) {
    HG_ENTRY;
    return begin_array(t, name, type) ? add_memory(t, name, type, extents, rank, false) : 0;
}

hg_elements hg_tree_private(hg_tree *t, const char *name, hg_type type, const uint64_t *extents,
                            uint32_t rank) {
    HG_ENTRY;
    return begin_array(t, name, type) ? add_memory(t, name, type, extents, rank, true) : 0;
}

/* ---- for front ends of the library ---- */

static hg_elements add_placed(hg_tree *t, const char *name, hg_type type, hg_place_kind place,
                              uint64_t offset, hg_tree_array array) {
    uint64_t errors;
    array.handle = HG_NO_REGISTER;
    array.address = (hg_operand){
        .kind = HG_K_ADDRESS, .place = (uint8_t)place, .disp = (int64_t)offset};
    array.type = (uint8_t)type;
    return hg_tree_begin(t, &errors) ? add_array(t, name, array) : 0;
}

void hg_tree_count_bytes(hg_tree *t, hg_elements array) {
    if (!array) return;
    hg_tree_array *info = &t->arrays.data[hg_tree_id_number(array)];
    info->counts_bytes = true;
    info->has_extents = false;
}

hg_elements hg_tree_shared_at(hg_tree *t, const char *name, hg_type type, uint64_t offset) {
    return add_placed(t, name, type, HG_PLACE_SHARED, offset,
                      (hg_tree_array){.counts_bytes = true});
}

hg_elements hg_tree_private_at(hg_tree *t, const char *name, hg_type type, uint64_t offset,
                               uint64_t check) {
    return add_placed(t, name, type, HG_PLACE_PRIVATE, offset,
                      (hg_tree_array){.is_checked = check != offset, .check = (int64_t)check});
}

hg_status hg_tree_block(hg_tree *t, uint32_t x, uint32_t y, uint32_t z) {
    HG_ENTRY;
    uint64_t errors;
    if (hg_tree_begin(t, &errors)) hg_builder_block(t->head, x, y, z);
    return finish_head(t, errors);
}

hg_status hg_tree_lanes(hg_tree *t, const hg_dim *extents, uint32_t count) {
    HG_ENTRY;
    uint64_t errors;
    if (hg_tree_begin(t, &errors)) hg_builder_lanes(t->head, extents, count);
    return finish_head(t, errors);
}

hg_status hg_tree_grid(hg_tree *t, const hg_dim *extents, uint32_t count) {
    HG_ENTRY;
    uint64_t errors;
    if (hg_tree_begin(t, &errors)) hg_builder_grid(t->head, extents, count);
    return finish_head(t, errors);
}

hg_status hg_tree_relaxed(hg_tree *t) {
    HG_ENTRY;
    uint64_t errors;
    if (hg_tree_begin(t, &errors)) hg_builder_relaxed(t->head);
    return finish_head(t, errors);
}

hg_status hg_tree_meta(hg_tree *t, const char *key, const char *value) {
    HG_ENTRY;
    uint64_t errors;
    if (hg_tree_begin(t, &errors)) hg_builder_meta(t->head, key, value);
    return finish_head(t, errors);
}

/* ---- statements of one line ---- */

hg_variable hg_tree_let(hg_tree *t, const char *name, hg_expression value) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return 0;
    uint32_t node = hg_tree_take(t, value);
    hg_variable variable = 0;
    if (node != HG_TREE_BAD && hg_tree_settle(t->a, node)) {
        variable = declare(t, name, hg_tree_type(t->a, node));
        if (variable && t->a->wrong.errors == errors)
            (void)hg_tree_lower(t->a, node, &t->variables.data[hg_tree_id_number(variable)].reg,
                                true);
    }
    (void)finish(t, errors);
    return variable;
}

/* A variable that a statement gives a value. */
static const hg_tree_variable_info *target(hg_tree *t, hg_variable variable) {
    const hg_tree_variable_info *v = hg_tree_find_variable(t, variable);
    if (!v || !v->fixed) return v;
    hg_token at = hg_tree_here(t, "variable");
    hg_asm_error(t->a, "N03", &at, "copy it: hg_tree_let",
                 "the variable of a 'for' is not assigned");
    return NULL;
}

static uint8_t type_of(const hg_tree_variable_info *v) {
    return v->predicate ? (uint8_t)HG_TREE_PREDICATE : v->reg.type;
}

hg_status hg_tree_assign(hg_tree *t, hg_variable variable, hg_expression value) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint32_t node = hg_tree_take(t, value);
    const hg_tree_variable_info *v = target(t, variable);
    if (v && node != HG_TREE_BAD && hg_tree_fit(t->a, node, type_of(v), "the variable"))
        (void)hg_tree_lower(t->a, node, &v->reg, false);
    return finish(t, errors);
}

/* Result number i is of the variable's type. */
static bool fits_result(hg_tree *t, uint32_t node, uint32_t i, const hg_tree_variable_info *v) {
    hg_token at = hg_tree_here(t, "variables");
    uint8_t type;
    if (!hg_tree_result(t->a, node, i, &type)) {
        hg_asm_error(t->a, "N04", &at, NULL, "%u variables for a value that has no so many results",
                     (unsigned)i + 1);
        return false;
    }
    if (type == type_of(v)) return true;
    hg_asm_error(t->a, "V03", &at, NULL, "type mismatch: variable %u is %s, the result is %s",
                 (unsigned)i + 1, hg_tree_type_name(type_of(v)), hg_tree_type_name(type));
    return false;
}

static bool assign_results(hg_tree *t, const hg_variable *variables, uint32_t count,
                           uint32_t node) {
    const hg_tree_variable_info *first = target(t, variables[0]);
    if (!first || node == HG_TREE_BAD) return false;
    for (uint32_t i = 1; i < count; i++) {
        const hg_tree_variable_info *v = target(t, variables[i]);
        if (!v || !fits_result(t, node, i, v)) return false;
        hg_tree_give(t->a, node, i, v->reg);
    }
    return hg_tree_fit(t->a, node, type_of(first), "the variable") &&
           hg_tree_lower(t->a, node, &first->reg, false);
}

hg_status hg_tree_assign_results(hg_tree *t, const hg_variable *variables, uint32_t count,
                                 hg_expression value) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint32_t node = hg_tree_take(t, value);
    if (variables && count && count <= HG_TREE_MOST_VALUES) {
        (void)assign_results(t, variables, count, node);
    } else {
        hg_token at = hg_tree_here(t, "variables");
        hg_asm_error(t->a, "N04", &at, NULL, "1 to %d variables take results, not %u",
                     HG_TREE_MOST_VALUES, (unsigned)(variables ? count : 0));
    }
    return finish(t, errors);
}

/* The node of an element that gets a value. */
static uint32_t place_of(hg_tree *t, hg_expression element) {
    uint32_t node = hg_tree_take(t, element);
    if (node == HG_TREE_BAD || hg_tree_at(t->a, node)->kind == HG_TREE_ELEMENT) return node;
    hg_asm_error(t->a, "N03", &hg_tree_at(t->a, node)->token, "hg_tree_element_of",
                 "expected an element of an array, got another value");
    return HG_TREE_BAD;
}

hg_status hg_tree_store_element(hg_tree *t, hg_expression element, hg_expression value) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint32_t place = place_of(t, element), node = hg_tree_take(t, value);
    hg_token at = hg_tree_here(t, "element");
    if (place != HG_TREE_BAD && node != HG_TREE_BAD &&
        hg_tree_fit(t->a, node, hg_tree_at(t->a, place)->type, "the element"))
        (void)hg_tree_store(t->a, place, node, false, &at);
    return finish(t, errors);
}

hg_status hg_tree_update(hg_tree *t, hg_tree_operator op, hg_expression element,
                         hg_expression value) {
    HG_ENTRY;
    uint64_t errors;
    hg_token sign;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint32_t place = place_of(t, element), node = hg_tree_take(t, value);
    hg_token at = hg_tree_here(t, "element");
    if (hg_tree_operator_token(t, op, 2, &sign) && place != HG_TREE_BAD && node != HG_TREE_BAD) {
        uint32_t made = hg_tree_operate_nodes(t, op, &sign, place, node);
        if (made != HG_TREE_BAD &&
            hg_tree_fit(t->a, made, hg_tree_at(t->a, place)->type, "the element"))
            (void)hg_tree_store(t->a, place, made, true, &at);
    }
    return finish(t, errors);
}

hg_status hg_tree_evaluate(hg_tree *t, hg_expression value) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint32_t node = hg_tree_take_any(t, value);
    if (node != HG_TREE_BAD) hg_tree_at(t->a, node)->call.unused = true;
    if (node != HG_TREE_BAD && hg_tree_settle(t->a, node))
        (void)hg_tree_lower(t->a, node, NULL, false);
    return finish(t, errors);
}

/* ---- blocks ---- */

static bool condition(hg_tree *t, hg_expression x, uint32_t *node) {
    *node = hg_tree_take(t, x);
    return *node != HG_TREE_BAD && hg_tree_fit(t->a, *node, HG_TREE_PREDICATE, "a condition");
}

/* A block is open behind its beginning, whatever was wrong with that. */
static hg_status opened(hg_tree *t, uint64_t errors, uint64_t blocks, const hg_token *at) {
    if (t->a->source.braces.count == blocks && !t->a->wrong.stop) (void)hg_tree_open_bad(t->a, at);
    return finish(t, errors);
}

/* The first word of a statement, where that stands. */
static hg_token word(const hg_tree *t, const char *text) {
    hg_token at = hg_tree_here(t, text);
    at.marked = hg_token_width(&at);
    at.text = text;
    at.length = (uint32_t)strlen(text);
    return at;
}

hg_status hg_tree_begin_if(hg_tree *t, hg_expression x) {
    HG_ENTRY;
    uint64_t errors;
    uint32_t node;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint64_t blocks = t->a->source.braces.count;
    hg_token at = word(t, "if");
    if (condition(t, x, &node)) (void)hg_tree_open_if(t->a, &at, node);
    return opened(t, errors, blocks, &at);
}

hg_status hg_tree_begin_while(hg_tree *t, hg_expression x) {
    HG_ENTRY;
    uint64_t errors;
    uint32_t node;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint64_t blocks = t->a->source.braces.count;
    hg_token at = word(t, "while");
    if (condition(t, x, &node)) (void)hg_tree_open_while(t->a, &at, node);
    return opened(t, errors, blocks, &at);
}

hg_status hg_tree_begin_loop(hg_tree *t) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    uint64_t blocks = t->a->source.braces.count;
    hg_token at = word(t, "loop");
    (void)hg_tree_open_loop(t->a, &at);
    return opened(t, errors, blocks, &at);
}

/* The innermost block, an `if`; NULL after an error, or where its beginning had one. */
static hg_brace *find_if(hg_tree *t, const hg_token *at) {
    uint64_t count = t->a->source.braces.count;
    hg_brace *brace = count ? &t->a->source.braces.data[count - 1] : NULL;
    if (brace && brace->kind == HG_BRACE_BAD) return NULL;
    if (brace && brace->kind == HG_BRACE_IF) return brace;
    hg_asm_error(t->a, "L03", at, NULL, brace ? "'else' behind '%.*s'" : "'else' without 'if'",
                 brace && brace->kind == HG_BRACE_ELSE ? 4
                 : brace                               ? hg_token_shown(&brace->token)
                                                       : 0,
                 !brace                         ? ""
                 : brace->kind == HG_BRACE_ELSE ? "else"
                                                : brace->token.text);
    return NULL;
}

hg_status hg_tree_begin_else_if(hg_tree *t, hg_expression x) {
    HG_ENTRY;
    uint64_t errors;
    uint32_t node;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    hg_token at = word(t, "else");
    bool good = condition(t, x, &node);
    hg_brace *brace = find_if(t, &at);
    if (brace && good && hg_tree_else_if(t->a, brace, &at))
        good = hg_tree_else_condition(t->a, brace, node);
    if (brace && !good) brace->kind = HG_BRACE_BAD;
    return finish(t, errors);
}

hg_status hg_tree_begin_else(hg_tree *t) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    hg_token at = word(t, "else");
    hg_brace *brace = find_if(t, &at);
    if (brace) (void)hg_tree_else(t->a, brace, &at);
    return finish(t, errors);
}

hg_variable hg_tree_begin_for(hg_tree *t, const char *name, hg_expression from, hg_expression to,
                              hg_expression step, int reversed) {
    HG_ENTRY;
    uint64_t errors;
    uint8_t type;
    if (!hg_tree_begin(t, &errors)) return 0;
    uint64_t blocks = t->a->source.braces.count;
    hg_token at = word(t, "for");
    uint32_t first = hg_tree_take(t, from), end = hg_tree_take(t, to),
             by = step ? hg_tree_take(t, step) : HG_TREE_BAD;
    bool good = first != HG_TREE_BAD && end != HG_TREE_BAD && (!step || by != HG_TREE_BAD) &&
                hg_tree_open_for(t->a, &at, first, end, by, reversed != 0, &type);
    hg_variable variable = 0;
    if (good) {
        hg_register reg = t->a->source.braces.data[blocks].variable;
        if (name_register(t, name, type, false, &reg))
            variable = hg_tree_add_variable(t, reg, false, true);
    }
    (void)opened(t, errors, blocks, &at);
    return variable;
}

hg_status hg_tree_end(hg_tree *t) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    hg_token at = word(t, "end");
    if (t->a->source.braces.count)
        (void)hg_tree_close(t->a, &at);
    else if (t->open)
        hg_tree_end_function(t);
    else
        hg_asm_error(t->a, "L03", &at, NULL, "the end of a block where none is open");
    return finish(t, errors);
}

static hg_status leave(hg_tree *t, bool again) {
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    hg_token at = word(t, again ? "continue" : "break");
    (void)hg_tree_leave(t->a, &at, again);
    return finish(t, errors);
}

hg_status hg_tree_break(hg_tree *t) {
    HG_ENTRY;
    return leave(t, false);
}

hg_status hg_tree_continue(hg_tree *t) {
    HG_ENTRY;
    return leave(t, true);
}

hg_status hg_tree_return(hg_tree *t, const hg_expression *values, uint32_t count) {
    HG_ENTRY;
    uint64_t errors;
    uint32_t nodes[HG_TREE_MOST_VALUES];
    bool good = true;
    if (!hg_tree_begin(t, &errors)) return hg_tree_status(t, errors);
    hg_token at = word(t, "return");
    if (count > HG_TREE_MOST_VALUES || (count && !values)) {
        hg_asm_error(t->a, "N04", &at, NULL, "'return' with %u values", (unsigned)count);
        return finish(t, errors);
    }
    for (uint32_t i = 0; i < count; i++)
        good &= (nodes[i] = hg_tree_take(t, values[i])) != HG_TREE_BAD;
    if (good) (void)hg_tree_return_from(t->a, &at, nodes, count);
    return finish(t, errors);
}

/* ---- the finished program ---- */

static hg_status make_program(hg_tree *t, hg_diagnostics *d) {
    hg_assembler *a = t->a;
    hg_program *p = a->program;
    uint64_t count = a->registers.param_registers.count;
    uint8_t *numbers = hg_arena_alloc(&a->texts, (size_t)count + 1);
    if (!numbers) return hg_fail_memory();
    for (uint64_t i = 0; i < count; i++) numbers[i] = a->head.params.data[i].reg;
    a->head.params.count = 0; /* they are the head's */
    if (!hg_asm_store_program(a)) return hg_fail_memory();
    HG_TRY(hg_builder_make_head(t->head, d, p));
    for (uint64_t i = 0; i < count; i++) p->params[i].reg = numbers[i];
    HG_TRY(hg_program_check_structure(p, d));
    HG_TRY(hg_infer_types(p, d));
    return hg_program_rehash(p);
}

static hg_status build(hg_tree *t, hg_diagnostics *d) {
    hg_assembler *a = t->a;
    for (uint64_t i = 0; i < a->source.braces.count; i++) {
        const hg_brace *open = &a->source.braces.data[i];
        hg_asm_error(a, "L04", &open->token, "hg_tree_end", "the block of '%.*s' is not ended",
                     hg_token_shown(&open->token), open->token.text);
    }
    hg_tree_check_behind(t);
    if (t->open) {
        const hg_token name = hg_tree_find_routine(t, t->open)->name;
        hg_asm_error(a, "L04", &name, "hg_tree_end", "the function '%.*s' is not ended",
                     hg_token_shown(&name), name.text);
    }
    for (uint64_t i = 0; i < t->routines.count; i++) {
        const hg_tree_routine *r = &t->routines.data[i];
        const hg_tree_function *f = &a->tree->functions.data[r->number];
        if (f->entry == HG_UNDEFINED && f->calls.last)
            hg_asm_error(a, "L02", &r->name, "hg_tree_begin_function",
                         "the function '%.*s' is called and has no statements",
                         hg_token_shown(&r->name), r->name.text);
    }
    a->wrong.finishing = true;
    bool allocated = !a->out_of_memory && !a->wrong.errors && hg_asm_allocate(a);
    if (a->out_of_memory) return hg_fail_memory();
    return allocated ? make_program(t, d) : hg_asm_first_error(a);
}

hg_status hg_tree_build(hg_tree *t, hg_program **program) {
    HG_ENTRY;
    return hg_tree_build_to(t, t ? t->a->wrong.diagnostics : NULL, program);
}

hg_status hg_tree_build_to(hg_tree *t, hg_diagnostics *d, hg_program **program) {
    if (!program) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "program must not be NULL");
    *program = NULL;
    if (!t) return hg_fail_memory();
    if (t->built) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tree has been built");
    hg_status status = build(t, d);
    t->built = true;
    if (status != HG_OK) return status;
    *program = t->a->program;
    t->a->program = NULL;
    return HG_OK;
}
