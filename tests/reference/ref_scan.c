/* scan: lines of an array [outer, n, inner], in chunks of 4,096 elements and runs of 16. Run,
 * what stands before it in the chunk, and what stands before the chunk are folded in order; halves
 * in f32, rounded once at the end. */
#include "ref_internal.h"
#include <stdlib.h>
#include <string.h>

enum { OUTPUT, INPUT, N, OPERATION, OUTER, INNER, EXCLUSIVE, REVERSE };
enum { CHUNK = 4096, RUN = 16 };

/* A fold of elements so far; nothing at first. */
typedef struct fold {
    bool some;
    uint8_t bytes[ORACLE_MAX_BYTES];
} fold;

static void take(hg_opname name, hg_type type, fold *f, const uint8_t *bytes) {
    uint8_t result[ORACLE_MAX_BYTES];
    const uint8_t *args[3] = {f->bytes, bytes, bytes};
    if (f->some)
        oracle_opname(name, type, args, result);
    else
        memcpy(result, bytes, oracle_size(type));
    memcpy(f->bytes, result, oracle_size(type));
    f->some = true;
}

static fold both(hg_opname name, hg_type type, const fold *x, const fold *y) {
    fold f = *x;
    if (y->some) take(name, type, &f, y->bytes);
    return f;
}

/* A line of elements in the type that folds are in. */
static void line(hg_opname name, hg_type type, bool exclusive, uint64_t n, const uint8_t *in,
                 uint8_t *out) {
    uint64_t size = oracle_size(type);
    fold chunks = {0}, runs = {0}, run = {0};
    for (uint64_t i = 0; i < n; i++) {
        if (i % RUN == 0) {
            runs = both(name, type, &runs, &run);
            run.some = false;
        }
        if (i % CHUNK == 0) {
            chunks = both(name, type, &chunks, &runs);
            runs.some = false;
        }
        take(name, type, &run, in + i * size);
        fold inner = both(name, type, &runs, &run), all = both(name, type, &chunks, &inner);
        if (!exclusive)
            memcpy(out + i * size, all.bytes, size);
        else if (i + 1 < n)
            memcpy(out + (i + 1) * size, all.bytes, size);
    }
    if (exclusive && n) oracle_reduce(name, type, in, 0, out);
}

ref_next ref_scan(ref_machine *m, const ref_lane *lane, const hg_inst *inst) {
    const hg_operand *o = hg_inst_operands(m->program, lane->pc);
    hg_type type = (hg_type)inst->type,
            work = type == HG_TYPE_F16 || type == HG_TYPE_BF16 ? HG_TYPE_F32 : type;
    uint64_t n, outer, inner, size = oracle_size(type), wide = oracle_size(work);
    if (!ref_read_count(m, lane, &o[N], &n) || !ref_read_count(m, lane, &o[OUTER], &outer) ||
        !ref_read_count(m, lane, &o[INNER], &inner))
        return NEXT_BROKEN;
    uint64_t bytes = outer * n * inner * size;
    uint8_t *to = ref_resolve(m, lane, OUTPUT, bytes, true, false);
    const uint8_t *from = to ? ref_resolve(m, lane, INPUT, bytes, true, false) : NULL;
    if (!from) return m->broken.code[0] ? NEXT_BROKEN : NEXT_FAULT;
    uint8_t *results = malloc(bytes + 1), *in = malloc(n * wide + 1), *out = malloc(n * wide + 1);
    if (results && in && out) {
        for (uint64_t l = 0; l < outer * inner; l++) {
            uint64_t first = l / inner * n * inner + l % inner;
            for (uint64_t i = 0; i < n; i++) {
                uint64_t at = first + (o[REVERSE].value ? n - 1 - i : i) * inner;
                oracle_convert(work, type, from + at * size, in + i * wide);
            }
            line((hg_opname)o[OPERATION].value, work, o[EXCLUSIVE].value != 0, n, in, out);
            for (uint64_t i = 0; i < n; i++) {
                uint64_t at = first + (o[REVERSE].value ? n - 1 - i : i) * inner;
                oracle_convert(type, work, out + i * wide, results + at * size);
            }
        }
        memcpy(to, results, bytes);
    }
    bool done = results && in && out;
    free(results);
    free(in);
    free(out);
    return done ? NEXT_FOLLOWING : ref_break(m, lane, lane->pc, "out of memory");
}
