/* Programs as objects: ownership and inspection. Must not know: text or binary syntax, verification. */
#include "isa/program.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t), "references are counted in place");

static _Atomic uint32_t *references(hg_program *p) { return (_Atomic uint32_t *)&p->references; }

hg_program *hg_program_retain(hg_program *program) {
    if (program) atomic_fetch_add_explicit(references(program), 1, memory_order_relaxed);
    return program;
}

void hg_program_release(hg_program *program) {
    if (!program || atomic_fetch_sub_explicit(references(program), 1, memory_order_acq_rel) != 1) return;
    hg_arena_free(&program->arena);
    hg_free(program);
}

const char *hg_program_name(const hg_program *program) { return program ? program->name : NULL; }
size_t hg_program_len(const hg_program *program) { return program ? program->inst_count : 0; }
const uint8_t *hg_program_hash(const hg_program *program) { return program ? program->hash : NULL; }

/* What a caller can set: everything but scratch. */
size_t hg_program_param_count(const hg_program *program) {
    size_t count = 0;
    for (uint32_t i = 0; program && i < program->param_count; i++) count += program->params[i].kind != HG_PARAM_SCRATCH;
    return count;
}

const char *hg_program_param_name(const hg_program *program, size_t number) {
    for (uint32_t i = 0; program && i < program->param_count; i++)
        if (program->params[i].kind != HG_PARAM_SCRATCH && number-- == 0) return program->params[i].name;
    return NULL;
}

const char *hg_program_meta(const hg_program *program, const char *key) {
    if (!program || !key) return NULL;
    for (uint32_t i = 0; i < program->meta_count; i++)
        if (strcmp(program->meta[i].key, key) == 0) return program->meta[i].value;
    return NULL;
}
