/* Programs as objects: ownership and inspection. Must not know: text or binary syntax,
 * verification. */
#include "isa/program.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t), "references are counted in place");

static _Atomic uint32_t *references(hg_program *p) { return (_Atomic uint32_t *)&p->references; }

hg_program *hg_program_retain(hg_program *program) {
    HG_ENTRY;
    if (program) atomic_fetch_add_explicit(references(program), 1, memory_order_relaxed);
    return program;
}

void hg_program_release(hg_program *program) {
    HG_ENTRY;
    if (!program || atomic_fetch_sub_explicit(references(program), 1, memory_order_acq_rel) != 1)
        return;
    if (program->texts) hg_arena_free(&program->texts->arena);
    hg_free(program->texts);
    hg_arena_free(&program->arena);
    hg_free(program);
}

uint64_t hg_program_next_serial(void) {
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

const char *hg_program_name(const hg_program *program) {
    HG_ENTRY;
    return program ? program->name : NULL;
}
size_t hg_program_len(const hg_program *program) {
    HG_ENTRY;
    return program ? program->inst_count : 0;
}
const uint8_t *hg_program_hash(const hg_program *program) {
    HG_ENTRY;
    return program ? program->hash : NULL;
}

size_t hg_program_param_count(const hg_program *program) {
    HG_ENTRY;
    size_t count = 0;
    for (uint32_t i = 0; program && i < program->param_count; i++)
        count += hg_param_is_settable(&program->params[i]);
    return count;
}

const char *hg_program_param_name(const hg_program *program, size_t number) {
    HG_ENTRY;
    for (uint32_t i = 0; program && i < program->param_count; i++)
        if (hg_param_is_settable(&program->params[i]) && number-- == 0)
            return program->params[i].name;
    return NULL;
}

const char *hg_program_register_name(const hg_program *p, uint32_t inst, bool predicate,
                                     uint8_t number) {
    for (uint32_t i = 0; i < p->register_name_count && p->register_names[i].first <= inst; i++) {
        const hg_register_name *r = &p->register_names[i];
        if (inst < r->end && (r->predicate != 0) == predicate && r->number == number)
            return r->name;
    }
    return NULL;
}

int hg_compare_register_names(const void *p, const void *q) {
    const hg_register_name *a = p, *b = q;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    if (a->predicate != b->predicate) return a->predicate - b->predicate;
    if (a->number != b->number) return a->number - b->number;
    return strcmp(a->name, b->name);
}

const char *hg_program_meta(const hg_program *program, const char *key) {
    HG_ENTRY;
    if (!program || !key) return NULL;
    for (uint32_t i = 0; i < program->meta_count; i++)
        if (strcmp(program->meta[i].key, key) == 0) return program->meta[i].value;
    return NULL;
}

uint32_t hg_program_first_label(const hg_program *p, uint64_t inst) {
    uint32_t low = 0, high = p->label_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->labels[middle].index < inst)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *hg_program_label_at(const hg_program *p, uint64_t inst) {
    uint32_t i = hg_program_first_label(p, inst);
    return i < p->label_count && p->labels[i].index == inst ? p->labels[i].name : NULL;
}
