/* reduce_axis: each line of an array [outer, n, inner], put together, is reduced as an array is. */
#include "ref_internal.h"
#include <stdlib.h>
#include <string.h>

enum { OUTPUT, INPUT, N, OPERATION, OUTER, INNER };

ref_next ref_reduce_axis(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    hg_type type = (hg_type)inst->type;
    uint64_t n, outer, inner, size = oracle_size(type);
    if (!ref_read_count(m, lane, &o[N], &n) || !ref_read_count(m, lane, &o[OUTER], &outer) ||
        !ref_read_count(m, lane, &o[INNER], &inner))
        return NEXT_BROKEN;
    uint8_t *to = ref_resolve(m, lane, OUTPUT, outer * inner * size, true, false);
    const uint8_t *from = to ? ref_resolve(m, lane, INPUT, outer * n * inner * size, true, false)
                             : NULL;
    if (!from) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    uint8_t *results = malloc(outer * inner * size + 1), *line = malloc(n * size + 1);
    for (uint64_t l = 0; results && line && l < outer * inner; l++) {
        for (uint64_t i = 0; i < n; i++)
            memcpy(line + i * size, from + ((l / inner * n + i) * inner + l % inner) * size, size);
        oracle_reduce((hg_opname)o[OPERATION].value, type, line, n, results + l * size);
    }
    if (results && line) memcpy(to, results, outer * inner * size);
    bool done = results && line;
    free(results);
    free(line);
    return done ? NEXT_FOLLOWING : ref_break(m, lane, lane->pc, "out of memory");
}
