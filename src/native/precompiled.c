/* See precompiled.h. */
#include "native/precompiled.h"
#include "native/compilers.h"
#include "isa/program.h"
#include <string.h>

#if defined(HG_PRECOMPILED)

/* A launch that bounds the steps of its lanes has another kernel of the same program. */
static bool counts_steps(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_FAULT_IF && v->u.fault.code == KIR_FAULT_STEPS) return true;
    return false;
}

static bool find_in(const native_carried_list *list, const kir_module *m, bool compiler,
                    tile_native *code) {
    for (uint32_t i = 0; i < list->count; i++) {
        const native_carried *row = &list->rows[i];
        if (memcmp(row->program, m->program->hash, sizeof row->program) != 0) continue;
        if (row->unchecked != m->unchecked || (row->instead && compiler)) continue;
        if (row->inputs != m->inputs.count || row->slots != m->slots.count || counts_steps(m))
            return false;
        *code = (tile_native){.run = row->run, .lanes = list->lanes, .blocks = row->blocks};
        return true;
    }
    return false;
}

static void find(tile_level level, const kir_module *m, bool compiler, tile_native *code) {
    const native_carried_list *const lists[] = {&native_carried_v4, &native_carried_v4_narrow,
                                                &native_carried_v4_thin, &native_carried_v3,
                                                &native_carried_v3_narrow};
    if (level < TILE_LEVEL_V3 || !m->program) return;
    for (size_t i = level < TILE_LEVEL_V4 ? 3 : 0; i < HG_COUNT_OF(lists); i++)
        if (find_in(lists[i], m, compiler, code)) return;
}

const native_compiler native_precompiled = {.name = "precompiled", .find = find};

#endif
