/* Constants: .const, and the values that are given from outside.
 * Must not know: instructions, operands. */
#include "isa/text_internal.h"

bool hg_asm_read_const(hg_assembler *a) {
    hg_token name;
    hg_constant value, *kept;
    if (!hg_asm_identifier(a, "the name of a constant", &name)) return false;
    (void)hg_asm_accept(a, '=');
    bool good = hg_asm_expression(a, "a number", &value) && hg_asm_expect_end(a);
    hg_define *define = hg_asm_scope_of(a, &name) ? NULL : hg_asm_find_define(a, &name);
    if (define) define->used = true;
    if (!good) return hg_asm_declare_broken(a, &name);
    if (define && !define->is_type) value = define->constant;
    if (!hg_asm_declare(a, &name, HG_NAME_CONSTANT, a->values.constants.count)) return false;
    kept = hg_vec_push(&a->values.constants);
    if (!kept) return hg_asm_no_memory(a);
    *kept = value;
    return true;
}

bool hg_asm_read_type(hg_assembler *a) {
    hg_token name;
    uint8_t type;
    if (!hg_asm_identifier(a, "the name of a type", &name)) return false;
    (void)hg_asm_accept(a, '=');
    bool good = hg_asm_expect_type(a, "a type", &type) && hg_asm_expect_end(a);
    hg_define *define = hg_asm_scope_of(a, &name) ? NULL : hg_asm_find_define(a, &name);
    if (define) define->used = true;
    if (!good) return hg_asm_declare_broken(a, &name);
    if (define && define->is_type) type = (uint8_t)define->type;
    return hg_asm_declare(a, &name, HG_NAME_TYPE, type);
}

/* ---- from outside ---- */

static const hg_token NOWHERE = {0};

/* The value is an expression of numbers, or a type. */
static bool read_define(hg_assembler *a, hg_define *define) {
    hg_lexer lexer = a->lexer;
    hg_token token = a->token;
    define->is_type = hg_type_from_name(define->value, strlen(define->value), &define->type);
    if (define->is_type) return true;
    hg_lexer_init(&a->lexer, define->value, strlen(define->value));
    a->lexer.last = '=';
    a->wrong.muted++;
    hg_asm_next(a);
    bool read = hg_asm_expression(a, "a number", &define->constant) &&
                a->token.kind == HG_TOKEN_END_OF_FILE;
    a->wrong.muted--;
    a->lexer = lexer;
    a->token = token;
    if (a->out_of_memory) return false;
    if (!read)
        hg_asm_error(a, "D04", &NOWHERE, NULL, "definition %.200s: its value is no number",
                     define->name);
    return read;
}

bool hg_asm_add_defines(hg_assembler *a, const char *const *defines, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *text = defines[i], *equals = text ? strchr(text, '=') : NULL;
        hg_define *define = hg_vec_push(&a->values.defines);
        if (!define) return hg_asm_no_memory(a);
        define->name = text ? text : "";
        define->value = equals ? equals + 1 : "1";
        define->name_length = equals ? (size_t)(equals - text) : strlen(define->name);
        if (!hg_is_identifier(define->name, define->name_length)) {
            hg_asm_error(a, "D04", &NOWHERE, "write NAME=VALUE",
                         "definition %.200s: no name of a constant", define->name);
            return false;
        }
        if (!read_define(a, define)) return false;
    }
    return true;
}

/* The last of several of one name. */
hg_define *hg_asm_find_define(hg_assembler *a, const hg_token *token) {
    for (uint64_t i = a->values.defines.count; i-- > 0;) {
        hg_define *define = &a->values.defines.data[i];
        if (define->name_length == token->length &&
            memcmp(define->name, token->text, token->length) == 0)
            return define;
    }
    return NULL;
}

/* An earlier one of the same name gave way to the last. */
static bool is_declared(hg_assembler *a, const hg_define *define) {
    const hg_name *name = hg_asm_find_text(a, define->name, (uint32_t)define->name_length, 0);
    return name && name->kind == (define->is_type ? HG_NAME_TYPE : HG_NAME_CONSTANT);
}

void hg_asm_check_defines(hg_assembler *a) {
    for (uint64_t i = 0; i < a->values.defines.count; i++) {
        const hg_define *define = &a->values.defines.data[i];
        if (define->used || is_declared(a, define)) continue;
        hg_nearest nearest;
        hg_nearest_init(&nearest, define->name, define->name_length);
        hg_asm_try_constants(a, &nearest);
        hg_asm_error(a, "D04", &NOWHERE, hg_nearest_hint(&nearest),
                     "definition %.200s: the program has no %s of that name", define->name,
                     define->is_type ? "type" : "constant");
    }
}
