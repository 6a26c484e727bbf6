/* Texts of library programs as kernel IR. */
#include "library/library.h"
#include "isa/cfg.h"
#include "isa/program.h"
#include "kir/access.h"
#include "kir/pipeline/pipeline.h"
#include "library/texts.h"
#include <hologram/program.h>
#include <stdio.h>
#include <string.h>

static const library_program PROGRAMS[LIBRARY_COUNT] = {
#define LIBRARY(id, text, ...) \
    [LIBRARY_##id] = {#text, &library_text_##text, LIBRARY_NAMES(__VA_ARGS__)},
#define LIBRARY_NAMES(program, ...) \
    program, { __VA_ARGS__ }
#include "library/library.def"
#undef LIBRARY
};

const library_program *library_get(library_id id) { return &PROGRAMS[id]; }

uint32_t library_constant_count(library_id id) {
    uint32_t count = 0;
    while (PROGRAMS[id].constants[count]) count++;
    return count;
}

void library_digest(uint8_t digest[32]) {
    hg_blake3 h;
    hg_blake3_init(&h);
    for (int i = 0; i < LIBRARY_COUNT; i++)
        if (i == 0 || PROGRAMS[i].text != PROGRAMS[i - 1].text)
            hg_blake3_update(&h, hg_unpacked(PROGRAMS[i].text), PROGRAMS[i].text->length);
    hg_blake3_final(&h, digest);
}

hg_type library_sum_type(hg_type type) {
    return type == HG_TYPE_F64 ? HG_TYPE_F64 : hg_type_is_float(type) ? HG_TYPE_F32 : type;
}

hg_type library_left_type(hg_type type) {
    if (hg_type_size_bytes(type) >= 4) return type;
    return hg_type_is_float(type) ? HG_TYPE_F32 : HG_TYPE_U32;
}

/* A power of two for elements that fit the caches; at most an eighth of the lanes does again what
 * others do, unless a block has the fewest. */
static uint32_t kept_lanes(uint64_t inner, uint64_t size, uint32_t most) {
    enum { MOST_BYTES = 2048, SPARE = 8 };
    uint64_t lanes = LIBRARY_COLUMN_LANES;
    for (uint64_t more = 2 * lanes; more <= most && more <= inner && more * size <= MOST_BYTES;
         more *= 2)
        if ((more - inner % more) % more <= inner / SPARE) lanes = more;
    return (uint32_t)lanes;
}

library_lines library_lines_of(uint64_t n, uint64_t inner, uint64_t size, uint32_t most) {
    enum { SHORT_LINE = 32, MOST_LEVELS = 7, MOST_MADE = 3, ROWS = 8, LEAST_BYTES = 1024 };
    library_lines l = {.by_block = inner == 1 && n > SHORT_LINE && size <= 8,
                       .wide = inner >= LIBRARY_COLUMN_LANES,
                       .width = LIBRARY_COLUMN_LANES,
                       .lanes = inner};
    while (l.levels < MOST_LEVELS && (uint64_t)1 << l.levels < n) l.levels++;
    l.made = l.levels < MOST_MADE ? l.levels : MOST_MADE;
    l.kept = l.wide && most > LIBRARY_COLUMN_LANES && size <= 8 && l.levels > l.made &&
             inner * size >= LEAST_BYTES;
    if (l.kept) { /* so many rows are read at once as a processor fetches ahead */
        uint64_t turns = (((n < LIBRARY_CHUNK ? n : LIBRARY_CHUNK) - 1) >> l.levels) + 1;
        while (l.made && turns << l.made > ROWS) l.made--;
        l.width = kept_lanes(inner, size, most);
    }
    if (l.wide) l.lanes = ((inner - 1) / l.width + 1) * l.width;
    return l;
}

uint64_t library_lines_shared(const library_lines *lines, uint64_t size) {
    return lines->kept ? (uint64_t)(lines->levels - lines->made) * lines->width * size : 0;
}

uint64_t library_lines_of_block(uint64_t lines, uint64_t most) {
    enum { FEW_BLOCKS = 64 };
    return most > 1 && lines / FEW_BLOCKS >= LIBRARY_LINE_LANES ? LIBRARY_LINE_LANES : 1;
}

/* ---- assembling ---- */

/* What texts include. */
static hg_status resolve(void *user, const char *from, const char *name, hg_source *source) {
    const library_request *r = user;
    const struct {
        const char *name, *text;
    } files[] = {{"epilogue", r->epilogue},
                 {"parameters", r->parameters},
                 {"prologue", r->prologue},
                 {"fused", r->fused}};
    size_t i = 0;
    (void)from;
    while (i < HG_COUNT_OF(files) - 1 && strcmp(name, files[i].name) != 0) i++;
    const char *text = files[i].text ? files[i].text : "\n";
    source->name = files[i].name;
    source->bytes = text;
    source->length = strlen(text);
    return HG_OK;
}

enum { DEFINE_LENGTH = 48 };

hg_status library_assemble(const library_request *r, hg_program **program) {
    const library_program *p = &PROGRAMS[r->id];
    char defines[LIBRARY_MOST_CONSTANTS + 4][DEFINE_LENGTH];
    const char *list[LIBRARY_MOST_CONSTANTS + 4];
    size_t count = 0;
    snprintf(defines[count++], DEFINE_LENGTH, "T=%s", hg_type_name(r->type));
    snprintf(defines[count++], DEFINE_LENGTH, "A=%s", hg_type_name(library_sum_type(r->type)));
    if (r->prologue) snprintf(defines[count++], DEFINE_LENGTH, "PROLOGUE=1");
    if (r->fused) snprintf(defines[count++], DEFINE_LENGTH, "MAPS=1");
    for (size_t i = 0; p->constants[i]; i++) {
        const char *name = p->constants[i];
        if (name[0] == '@')
            snprintf(defines[count++], DEFINE_LENGTH, "%s=%s", name + 1,
                     hg_type_name((hg_type)r->constants[i]));
        else
            snprintf(defines[count++], DEFINE_LENGTH, "%s=%lld", name, (long long)r->constants[i]);
    }
    for (size_t i = 0; i < count; i++) list[i] = defines[i];
    hg_assemble_options options = {.size = sizeof options,
                                   .defines = list,
                                   .define_count = count,
                                   .program = p->program,
                                   .source_name = p->name,
                                   .resolve = resolve,
                                   .user = (void *)(uintptr_t)r};
    hg_status status = hg_program_assemble_with(hg_unpacked(p->text), p->text->length, &options,
                                                NULL, program);
    return status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY
               ? status
               : hg_fail(HG_ERROR_INTERNAL, "library program '%s' of %s.atlas: %s", p->program,
                         p->name, hg_last_error_text());
}

/* ---- accesses ---- */

/* A value in front of an operation. */
static kir_value *put_in_front(kir_builder *b, kir_value *v, kir_op op, uint8_t type, uint8_t count,
                               kir_value *const *args) {
    kir_region aside = {0};
    b->region = &aside;
    kir_value *made = kir_emit(b, op, type, count, args);
    if (!b->failed) kir_splice(v->parent, v, &aside);
    return made;
}

/* An access through a handle parameter begins where the array does. */
static void shift_access(kir_builder *b, kir_value *v, uint32_t input) {
    kir_access a = kir_access_of(v);
    kir_value *shift = put_in_front(b, v, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    if (b->failed) return;
    shift->u.imm = input;
    if (a.index_args) {
        kir_value *both[2] = {v->args[a.index], shift};
        v->args[a.index] = put_in_front(b, v, KIR_ADD, HG_TYPE_U64, 2, both);
        return;
    }
    kir_value **args = hg_arena_alloc(&b->module->arena, ((size_t)v->nargs + 1) * sizeof *args);
    if (!args) {
        b->failed = true;
        return;
    }
    args[0] = v->args[0];
    args[1] = shift;
    memcpy(args + 2, v->args + 1, ((size_t)v->nargs - 1) * sizeof *args);
    v->args = args;
    v->nargs++;
    v->u.mem.has_index = 1;
}

static hg_status finish_accesses(kir_module *m, uint32_t shifted) {
    kir_builder b;
    uint32_t parameters = (uint32_t)m->inputs.count, buffers = 0;
    for (uint32_t i = 0; i < parameters; i++) {
        m->inputs.data[i].reg = (uint8_t)i;
        buffers += m->inputs.data[i].is_buffer;
    }
    for (uint32_t i = 0; i < buffers && shifted; i++) {
        kir_input *input = hg_vec_push(&m->inputs);
        if (!input) return hg_fail_memory();
        *input = (kir_input){.type = HG_TYPE_U64, .reg = (uint8_t)(parameters + i)};
    }
    kir_builder_init(&b, m, m->functions);
    for (kir_function *f = m->functions; f; f = f->next) {
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_LOOP)
                v->u.loop.bounded = true; /* all of them end after as many rounds as a size of the
                                             call */
            if (!kir_is_access(v) || v->u.mem.space != KIR_BUFFER) continue;
            const kir_value *handle = v->args[0];
            if (!shifted) continue;
            if (handle->op != KIR_INPUT)
                return hg_fail(HG_ERROR_INTERNAL,
                               "library program '%s': an access names no parameter", m->name);
            if (shifted >> handle->u.imm & 1)
                shift_access(&b, v, parameters + (uint32_t)handle->u.imm);
        }
    }
    return b.failed ? hg_fail_memory() : HG_OK;
}

/* ---- kernel IR ---- */

static hg_status lower(hg_program *program, uint32_t shifted, kir_module **module) {
    hg_cfg *cfg = NULL;
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    kir_compilation c = {.program = cfg, .build = {.unchecked = true}};
    hg_status status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, module);
    hg_cfg_destroy(cfg);
    HG_TRY(status);
    (*module)->owned_program = hg_program_retain(program);
    status = finish_accesses(*module, shifted);
    if (status == HG_OK) return HG_OK;
    kir_module_destroy(*module);
    *module = NULL;
    return status;
}

hg_status library_module(const library_request *r, uint32_t shifted, kir_module **module) {
    hg_program *program = NULL;
    *module = NULL;
    HG_TRY(library_assemble(r, &program));
    hg_status status = lower(program, shifted, module);
    hg_program_release(program);
    return status;
}
