/* The optimiser as an object: programs that it has optimised, by everything that is stored of them.
 * The hash of a program leaves out names and lines, which the optimised program keeps, so it alone
 * is no key.
 * Must not know: what passes do. */
#include "base/thread.h"
#include "optimize/optimize.h"

#include <string.h>

enum { MOST_PROGRAMS = 256 };

typedef struct entry {
    uint8_t key[32];
    uint64_t used; /* when it was asked for last */
    hg_program *source, *optimized;
} entry;

struct hg_optimizer {
    hg_mutex lock;
    uint64_t now, count;
    entry entries[MOST_PROGRAMS];
};

hg_status hg_optimizer_create(hg_optimizer **optimizer) {
    HG_ENTRY;
    if (!optimizer) return hg_null_argument("optimizer");
    hg_optimizer *o = hg_calloc(1, sizeof *o);
    *optimizer = o;
    if (!o) return hg_fail_memory();
    hg_mutex_init(&o->lock);
    return HG_OK;
}

void hg_optimizer_destroy(hg_optimizer *o) {
    HG_ENTRY;
    if (!o) return;
    for (uint64_t i = 0; i < o->count; i++) {
        hg_program_release(o->entries[i].source);
        hg_program_release(o->entries[i].optimized);
    }
    hg_mutex_destroy(&o->lock);
    hg_free(o);
}

size_t hg_optimizer_len(hg_optimizer *o) {
    HG_ENTRY;
    if (!o) return 0;
    hg_mutex_lock(&o->lock);
    size_t count = (size_t)o->count;
    hg_mutex_unlock(&o->lock);
    return count;
}

static hg_status key_of(const hg_program *program, uint8_t key[32]) {
    uint8_t *bytes = NULL;
    size_t length = 0;
    HG_TRY(hg_program_encode(program, HG_PROGRAM_DEBUG, &bytes, &length));
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, bytes, length);
    hg_blake3_final(&h, key);
    hg_string_free((char *)bytes);
    return HG_OK;
}

/* By the program itself, or by its key. */
static entry *find(hg_optimizer *o, const hg_program *program, const uint8_t *key) {
    for (uint64_t i = 0; i < o->count; i++) {
        entry *e = &o->entries[i];
        if (key ? memcmp(e->key, key, sizeof e->key) != 0 || program->sources || e->source->sources
                : e->source != program)
            continue;
        e->used = ++o->now;
        return e;
    }
    return NULL;
}

static hg_program *look_up(hg_optimizer *o, const hg_program *program, const uint8_t *key) {
    hg_mutex_lock(&o->lock);
    entry *e = find(o, program, key);
    hg_program *found = e ? hg_program_retain(e->optimized) : NULL;
    hg_mutex_unlock(&o->lock);
    return found;
}

static void remember(hg_optimizer *o, const hg_program *program, const uint8_t key[32],
                     hg_program *optimized) {
    entry old = {.source = NULL};
    hg_mutex_lock(&o->lock);
    entry *e = o->count < MOST_PROGRAMS ? &o->entries[o->count] : &o->entries[0];
    for (uint64_t i = 1; o->count == MOST_PROGRAMS && i < MOST_PROGRAMS; i++)
        if (o->entries[i].used < e->used) e = &o->entries[i];
    o->count += o->count < MOST_PROGRAMS;
    old = *e;
    *e = (entry){.used = ++o->now,
                 .source = hg_program_retain((hg_program *)(uintptr_t)program),
                 .optimized = hg_program_retain(optimized)};
    memcpy(e->key, key, sizeof e->key);
    hg_mutex_unlock(&o->lock);
    hg_program_release(old.source);
    hg_program_release(old.optimized);
}

hg_status hg_optimizer_optimize(hg_optimizer *optimizer, const hg_program *program,
                                hg_program **optimized) {
    HG_ENTRY;
    uint8_t key[32];
    if (optimized) *optimized = NULL;
    if (!optimizer) return hg_null_argument("optimizer");
    if (!program) return hg_null_argument("program");
    if (!optimized) return hg_null_argument("optimized");
    *optimized = look_up(optimizer, program, NULL);
    if (*optimized) return HG_OK;
    HG_TRY(key_of(program, key));
    *optimized = look_up(optimizer, program, key);
    if (*optimized) return HG_OK;
    HG_TRY(hg_program_optimize(program, NULL, NULL, optimized));
    remember(optimizer, program, key, *optimized);
    return HG_OK;
}
