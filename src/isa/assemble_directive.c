/* Directives (language.md 2 and 5): name, parameters, launch defaults, metadata.
 * Must not know: instructions. */
#include "isa/text_internal.h"

#include <stdio.h>

typedef bool directive_reader(hg_assembler *a);

static bool read_program(hg_assembler *a, const hg_token *word) {
    hg_token name;
    if (!hg_asm_identifier(a, "a program name", &name) || !hg_asm_choose_program(a, word, &name))
        return false;
    a->program->name = hg_arena_text(&a->program->arena, name.text, name.length);
    return a->program->name || hg_asm_no_memory(a);
}

static bool read_block(hg_assembler *a) {
    uint32_t block[3] = {1, 1, 1};
    hg_span *span = &a->program->block_span;
    for (int i = 0; i < 3; i++) {
        hg_token token;
        uint64_t value;
        if (i && !hg_asm_accept(a, ',')) break;
        if (!hg_asm_integer(a, "a number of lanes", &value, &token)) return false;
        if (!value || value > UINT32_MAX) {
            hg_asm_error(a, "S04", &token, NULL, "a block extent is 1 to 2^32 - 1, not %.*s",
                         hg_token_shown(&token), token.text);
            return false;
        }
        block[i] = (uint32_t)value;
        if (i == 0) *span = hg_asm_span(&token);
        if (token.line == span->line)
            span->length = token.column + hg_token_width(&token) - span->column;
    }
    memcpy(a->program->block, block, sizeof block);
    return true;
}

/* .grid and .lanes exclude each other. */
static bool is_only(hg_assembler *a, uint32_t other_count) {
    if (!other_count) return true;
    hg_asm_error(a, "D03", &a->token, NULL, ".grid and .lanes both say how many lanes there are");
    return false;
}

static bool read_lanes(hg_assembler *a) {
    hg_program *p = a->program;
    if (a->token.kind != '[')
        return is_only(a, p->grid_count) && hg_asm_lanes(a, p->lanes, &p->lanes_count);
    if (is_only(a, p->grid_count)) return hg_asm_lane_axes(a, p->lanes, &p->lanes_count);
    hg_asm_break_axes(a);
    return false;
}

static bool read_grid(hg_assembler *a) {
    hg_program *p = a->program;
    uint32_t count = 0;
    if (!is_only(a, p->lanes_count)) return false;
    do {
        if (count == 3) return hg_asm_unexpected(a, "at most 3 extents of a grid");
        if (!hg_asm_extent(a, &p->grid[count], (hg_extent_place){HG_EXTENT_OF_GRID, 0, count}))
            return false;
        count++;
    } while (hg_asm_accept(a, ','));
    p->grid_count = count;
    return true;
}

static bool read_entry(hg_assembler *a) {
    hg_token name;
    if (!hg_asm_identifier(a, "a label", &name)) return false;
    a->head.entry = name;
    return true;
}

static bool read_flag(hg_assembler *a) {
    if (!hg_token_is(&a->token, "relaxed")) return hg_asm_unexpected(a, "'relaxed'");
    a->program->flags |= 1;
    hg_asm_next(a);
    return true;
}

/* ---- parameters ---- */

static bool read_buffer(hg_assembler *a, hg_param *p, uint32_t number) {
    static const char *const words[] = {"in", "out", "inout"};
    p->kind = HG_PARAM_BUFFER;
    if (!hg_asm_expect_type(a, "an element type", &p->type)) return false;
    for (int i = 0; i < 3; i++)
        if (hg_token_is(&a->token, words[i])) p->dir = (uint8_t)(HG_DIR_IN + i);
    if (p->dir == HG_DIR_NONE) return hg_asm_unexpected(a, "'in', 'out' or 'inout'");
    hg_asm_next(a);
    return hg_asm_dims(a, p, number);
}

static bool read_scalar(hg_assembler *a, hg_param *p) {
    p->kind = HG_PARAM_SCALAR;
    if (!hg_asm_expect_type(a, "'buffer', 'pool' or a type", &p->type)) return false;
    if (!hg_asm_accept(a, '=')) return true;
    hg_token literal;
    if (!hg_asm_literal(a, &literal)) return false;
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    if (!hg_asm_literal_bytes(a, &literal, (hg_type)p->type, bytes)) return false;
    p->default_bytes = hg_arena_alloc(&a->program->arena,
                                      (size_t)hg_type_size_bytes((hg_type)p->type));
    if (!p->default_bytes) return hg_asm_no_memory(a);
    memcpy(p->default_bytes, bytes, (size_t)hg_type_size_bytes((hg_type)p->type));
    p->has_default = 1;
    return true;
}

/* What stands before a parameter's type. */
typedef struct param_head {
    hg_token reg, name;
    bool has_register;
} param_head;

static bool check_unique(hg_assembler *a, const param_head *head, const hg_param *p) {
    for (uint64_t i = 0; i < a->head.params.count; i++) {
        const hg_param *other = &a->head.params.data[i];
        if (head->has_register && other->reg == p->reg &&
            a->registers.param_registers.data[i].virtual_number == HG_UNDEFINED) {
            hg_asm_error(a, "D02", &head->reg, NULL, "register r%u declared twice: it holds '%s'",
                         p->reg, other->name);
            return false;
        }
        if (strcmp(other->name, p->name) == 0) {
            hg_asm_error(a, "D02", &head->name, NULL, "parameter '%s' declared twice", p->name);
            return false;
        }
    }
    if (a->head.params.count < HG_MAX_PARAMS) return true;
    hg_asm_error(a, "S05", &head->name, NULL, "more than %d parameters", HG_MAX_PARAMS);
    return false;
}

static bool read_param_body(hg_assembler *a, hg_param *p, uint32_t number) {
    if (hg_token_is(&a->token, "buffer")) {
        hg_asm_next(a);
        return read_buffer(a, p, number);
    }
    if (!hg_token_is(&a->token, "pool")) return read_scalar(a, p);
    hg_token token;
    hg_asm_next(a);
    p->kind = HG_PARAM_POOL;
    return hg_asm_integer(a, "a number of bytes", &p->pool_bytes, &token);
}

/* The register may be left out. */
static bool read_param_head(hg_assembler *a, hg_param *p, param_head *head) {
    head->reg = a->token;
    head->has_register = a->token.kind == HG_TOKEN_NAME &&
                         hg_looks_like_register(a->token.text, a->token.length, 'r');
    if (head->has_register) {
        hg_asm_next(a);
        if (!hg_asm_register(a, &head->reg, HG_MAX_REGISTERS, &p->reg)) return false;
    }
    const hg_token *name = &head->name;
    if (!hg_asm_identifier(
            a, head->has_register ? "a parameter name" : "a register or a parameter name",
            &head->name))
        return false;
    if (hg_is_parameter_name(name->text, name->length)) return true;
    hg_asm_error(a, "S02", name, NULL, "parameter names have only letters, digits and '_'");
    return hg_asm_declare_broken(a, name);
}

static bool read_whole_param(hg_assembler *a, hg_param *p,
                             bool (*read_body)(hg_assembler *, hg_param *, uint32_t)) {
    param_head head;
    if (!read_param_head(a, p, &head)) return false;
    p->name = hg_arena_text(&a->program->arena, head.name.text, head.name.length);
    if (!p->name) return hg_asm_no_memory(a);
    bool good = read_body(a, p, (uint32_t)a->head.params.count) && hg_asm_expect_end(a) &&
                check_unique(a, &head, p);
    if (!good) return hg_asm_declare_broken(a, &head.name);
    hg_param *kept = hg_vec_push(&a->head.params);
    if (!kept) return hg_asm_no_memory(a);
    *kept = *p;
    if (hg_asm_add_param_name(a, &head.name, p, head.has_register)) return true;
    a->head.params.count = a->registers.param_registers.count; /* each has one */
    return false;
}

static bool read_param(hg_assembler *a) {
    hg_param p = {.rank = 255};
    if (read_whole_param(a, &p, read_param_body)) return true;
    a->head.broken_param = true;
    return false;
}

/* Without [extents] nobody knows its size. */
static bool read_scratch_body(hg_assembler *a, hg_param *p, uint32_t number) {
    p->kind = HG_PARAM_SCRATCH;
    if (!hg_asm_expect_type(a, "an element type", &p->type)) return false;
    return a->token.kind == '[' ? hg_asm_dims(a, p, number) : hg_asm_unexpected(a, "'['");
}

static bool read_scratch(hg_assembler *a) {
    hg_param p = {.rank = 255};
    return read_whole_param(a, &p, read_scratch_body);
}

/* A name that no parameter has: grid_flag, grid_flag1, … */
static char *flag_name(hg_assembler *a) {
    char text[24] = "grid_flag";
    for (uint64_t i = 0, n = 0; i < a->head.params.count; i++) {
        if (strcmp(a->head.params.data[i].name, text) != 0) continue;
        snprintf(text, sizeof text, "grid_flag%llu", (unsigned long long)++n);
        i = UINT64_MAX; /* from the first again */
    }
    return hg_arena_text(&a->program->arena, text, strlen(text));
}

bool hg_asm_grid_flag(hg_assembler *a, const hg_token *at, hg_token *name) {
    *name = *at;
    name->kind = HG_TOKEN_NAME;
    if (a->head.grid_flag) {
        name->text = a->head.params.data[a->head.grid_flag - 1].name;
        name->length = (uint32_t)strlen(name->text);
        return true;
    }
    hg_param p = {.kind = HG_PARAM_SCRATCH, .type = HG_TYPE_U32, .rank = 1, .name = flag_name(a)};
    p.dims[0] = (hg_extent){.kind = HG_EXTENT_NUMBER, .value = 1};
    if (!p.name) return hg_asm_no_memory(a);
    if (a->head.params.count >= HG_MAX_PARAMS) {
        hg_asm_error(a, "S05", at, NULL, "more than %d parameters: this needs one of its own",
                     HG_MAX_PARAMS);
        return false;
    }
    hg_param *kept = hg_vec_push(&a->head.params);
    if (!kept) return hg_asm_no_memory(a);
    *kept = p;
    name->text = p.name;
    name->length = (uint32_t)strlen(p.name);
    if (!hg_asm_add_param_name(a, name, &p, false)) {
        a->head.params.count = a->registers.param_registers.count; /* each has one */
        return false;
    }
    a->head.grid_flag = (uint32_t)a->head.params.count;
    return true;
}

/* .data + goes on with the table before. */
static bool read_data(hg_assembler *a) {
    if (hg_asm_accept(a, '+')) return hg_asm_more_table(a);
    hg_param p = {.rank = 255};
    hg_asm_finish_table(a);
    if (!read_whole_param(a, &p, hg_asm_table_body)) {
        a->head.broken_param = true;
        return false;
    }
    a->head.open_table = (uint32_t)a->head.params.count;
    return true;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    directive_reader *read;
    bool repeats, anywhere;
} DIRECTIVES[] = {{".param", read_param, true, false},
                  {".scratch", read_scratch, true, false},
                  {".data", read_data, true, true},
                  {".shared", hg_asm_read_shared, true, false},
                  {".block", read_block, false, false},
                  {".lanes", read_lanes, false, false},
                  {".grid", read_grid, false, false},
                  {".entry", read_entry, false, false},
                  {".flag", read_flag, false, false},
                  {".meta", hg_asm_read_meta, true, false},
                  {".const", hg_asm_read_const, true, true},
                  {".reg", hg_asm_read_registers, true, true},
                  {".type", hg_asm_read_type, true, true},
                  {".include", hg_asm_read_include, true, true},
                  {".private", hg_asm_read_private, true, false},
                  {".name", hg_asm_read_given_name, true, true}};

/* Those that decide what is read next. */
static const struct {
    const char *name;
    bool (*read)(hg_assembler *a, const hg_token *word);
} READING[] = {{".program", read_program},  {".if", hg_asm_read_if},
               {".elif", hg_asm_read_else}, {".else", hg_asm_read_else},
               {".end", hg_asm_read_end},   {".rept", hg_asm_read_rept},
               {".for", hg_asm_read_for},   {".macro", hg_asm_read_macro}};

/* The first line of an included file may be that of a source. */
static bool read_atlas(hg_assembler *a, const hg_token *name) {
    uint64_t version;
    hg_token number;
    if (a->source.frames.count == 1) {
        hg_asm_error(a, "D01", name, NULL, "directive .atlas repeated");
        return false;
    }
    if (!hg_asm_integer(a, "a version number", &version, &number)) return false;
    if (version == 1) return hg_asm_expect_end(a);
    hg_asm_error(a, "S06", &number, "this library reads version 1", "version %llu is not supported",
                 (unsigned long long)version);
    return false;
}

bool hg_asm_directive(hg_assembler *a, const hg_token *name) {
    if (hg_token_is(name, ".atlas")) return read_atlas(a, name);
    for (uint32_t i = 0; i < HG_COUNT_OF(READING); i++)
        if (hg_token_is(name, READING[i].name))
            return READING[i].read(a, name) && hg_asm_expect_end(a);
    for (uint32_t i = 0; i < HG_COUNT_OF(DIRECTIVES); i++) {
        if (!hg_token_is(name, DIRECTIVES[i].name)) continue;
        if (a->head.statements && !DIRECTIVES[i].anywhere) {
            hg_asm_error(a, "S02", name, NULL,
                         "directive %s behind an instruction or label: directives come first",
                         DIRECTIVES[i].name);
            return false;
        }
        if (!DIRECTIVES[i].repeats && (a->head.seen >> i & 1)) {
            hg_asm_error(a, "D01", name, NULL, "directive %s repeated", DIRECTIVES[i].name);
            return false;
        }
        a->head.seen |= UINT32_C(1) << i;
        a->head.word = *name;
        uint64_t extents = a->head.extents.count;
        uint32_t ops = a->program->extent_op_count;
        if (DIRECTIVES[i].read(a) && hg_asm_expect_end(a)) return true;
        a->head.extents.count = extents; /* of a line that is not there */
        a->program->extent_op_count = ops;
        return false;
    }
    char got[80];
    hg_nearest nearest;
    hg_nearest_init(&nearest, name->text, name->length);
    for (uint32_t i = 0; i < HG_COUNT_OF(DIRECTIVES) && a->wrong.errors < HG_MOST_EXPLAINED; i++)
        hg_nearest_try(&nearest, DIRECTIVES[i].name);
    for (uint32_t i = 0; i < HG_COUNT_OF(READING) && a->wrong.errors < HG_MOST_EXPLAINED; i++)
        hg_nearest_try(&nearest, READING[i].name);
    hg_asm_error(a, "N02", name, hg_nearest_hint(&nearest), "unknown directive %s",
                 hg_token_describe(name, got));
    return false;
}

/* ---- what needs all of them ---- */

void hg_asm_finish_directives(hg_assembler *a) {
    hg_asm_finish_table(a);
    hg_asm_resolve_extents(a);
    hg_asm_finish_arrays(a);
    hg_asm_check_given_names(a);
    if (a->wanted.chosen || a->head.unversioned)
        return; /* without a first line this is no program: said already */
    if (a->options->program) {
        hg_asm_error(a, "D04", &(hg_token){0}, NULL, "no program '%.200s' in the source: %.300s",
                     a->options->program,
                     a->wanted.others.data ? a->wanted.others.data : "it has none");
        return;
    }
    hg_asm_error(a, "S02", &a->token, NULL, "expected '.program NAME' before the end of the file");
}
