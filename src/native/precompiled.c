/* See precompiled.h. */
#include "native/precompiled.h"
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

static bool attach(const cpu_precompiled_list *list, const kir_module *m, bool compiler, tile_kernel *kernel) {
    for (uint32_t i = 0; i < list->count; i++) {
        const cpu_precompiled *row = &list->rows[i];
        if (memcmp(row->program, m->program->hash, sizeof row->program) != 0) continue;
        if (row->unchecked != m->unchecked || (row->instead && compiler)) continue;
        return row->inputs == m->inputs.count && row->slots == m->slots.count && !counts_steps(m) &&
               tile_kernel_attach(kernel, &(tile_native){.run = row->run, .lanes = list->lanes, .blocks = row->blocks});
    }
    return false;
}

void cpu_precompiled_attach(tile_level level, const kir_module *m, bool compiler, tile_kernel *kernel) {
    const cpu_precompiled_list *const lists[] = {&cpu_precompiled_v4, &cpu_precompiled_v4_narrow, &cpu_precompiled_v4_thin,
                                                 &cpu_precompiled_v3, &cpu_precompiled_v3_narrow};
    if (level < TILE_LEVEL_V3 || !m->program) return;
    for (size_t i = level < TILE_LEVEL_V4 ? 3 : 0; i < HG_COUNT_OF(lists); i++)
        if (attach(lists[i], m, compiler, kernel)) return;
}

#else

void cpu_precompiled_attach(tile_level level, const kir_module *m, bool compiler, tile_kernel *kernel) {
    (void)level;
    (void)m;
    (void)compiler;
    (void)kernel;
}

#endif
