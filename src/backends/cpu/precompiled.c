/* See precompiled.h. */
#include "backends/cpu/precompiled.h"
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

void cpu_precompiled_attach(tile_level level, const kir_module *m, tile_kernel *kernel) {
    if (level < TILE_LEVEL_V3 || !m->program) return;
    for (uint32_t i = 0; i < cpu_precompiled_count; i++) {
        const cpu_precompiled *row = &cpu_precompiled_rows[i];
        if (memcmp(row->program, m->program->hash, sizeof row->program) != 0) continue;
        if (row->inputs != m->inputs.count || row->slots != m->slots.count || counts_steps(m)) return;
        (void)tile_kernel_attach(kernel, &(tile_native){.run = row->run, .lanes = cpu_precompiled_lanes, .blocks = row->blocks});
        return;
    }
}

#else

void cpu_precompiled_attach(tile_level level, const kir_module *m, tile_kernel *kernel) {
    (void)level;
    (void)m;
    (void)kernel;
}

#endif
