/* Fusion against programs as they were: random programs of whole-array maps and lane code on the
 * same elements, launched with more, fewer and exactly as many lanes as elements, over arrays that
 * are distinct, the same, or overlap.
 *
 *     optimize_maps [--count N] [--seed N] [--print]
 *
 * Arrays after the launch are equal, after a fault too, and so are code, lane and instruction of
 * the source of a fault. */
/* test: labels=differential timeout=300 */
#include "support/sanitized.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdarg.h>
#include <stdlib.h>

enum {
    MOST_ELEMENTS = 1000,
    ARRAYS = 3,
    MEMORY = 3 * 8 * MOST_ELEMENTS + 64,
    TEXT = 8192,
    MOST_FAILURES = 10
};
typedef enum layout { DISTINCT, SAME, OVERLAPPING, LAYOUTS } layout;

typedef struct maps {
    uint64_t state, seed, fused;
    char text[TEXT];
    size_t used;
    const char *type;
    uint32_t size, n;
    bool is_float, is_wide, has_lanes, has_accesses, print;
    layout layout;
    hg_backend *backend;
} maps;

static uint32_t pick(maps *m, uint32_t n) {
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (uint32_t)((m->state >> 20) % n);
}

static void line(maps *m, const char *format, ...) HG_PRINTF(2, 3);
static void line(maps *m, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(m->text + m->used, TEXT - m->used, format, args);
    va_end(args);
    if (length > 0) m->used += (size_t)length;
}

/* ---- a program: r1, r2 inout, r3 in, r4, r5 scratch, r7 the number of elements, r10 … values of
 * lanes ---- */

static int written_array(maps *m) { return (const int[]){1, 2, 4, 5, 1, 4}[pick(m, 6)]; }
static int read_array(maps *m) { return 1 + (int)pick(m, 5); }

static void map(maps *m) {
    static const char *const ANY[] = {"neg", "abs", "relu", "floor"}, *const FLOAT[] = {
                                                                          "sqrt", "exp", "sigmoid",
                                                                          "round"};
    static const char *const TWO[] = {"add", "sub", "mul", "min", "max", "div"};
    int out = written_array(m);
    bool in_place = pick(m, 3) != 0;
    if (pick(m, 2))
        line(m, "parallel_map.%s r%d, r%d, %s, r7\n", m->type, out, in_place ? out : read_array(m),
             m->is_float && pick(m, 2) ? FLOAT[pick(m, 4)] : ANY[pick(m, 4)]);
    else
        line(m, "parallel_map_binary.%s r%d, r%d, r%d, %s, r7\n", m->type, out,
             in_place ? out : read_array(m), pick(m, 2) ? out : read_array(m), TWO[pick(m, 6)]);
}

static void lane_code(maps *m) {
    switch (pick(m, 5)) {
    case 0:
        line(m, "ldg.%s r%u, [r%d + r255*%u]\n", m->type, 10 + pick(m, 3), read_array(m), m->size);
        break;
    case 1:
        line(m, "stg.%s [r%d + r255*%u], r%u\n", m->type, written_array(m), m->size,
             10 + pick(m, 3));
        break;
    case 2:
        line(m, "add.%s r%u, r%u, r%u\n", m->type, 10 + pick(m, 3), 10 + pick(m, 3),
             10 + pick(m, 3));
        break;
    case 3: line(m, "mov.%s r%u, r%u\n", m->type, 10 + pick(m, 3), 10 + pick(m, 3)); break;
    default: line(m, "rdid r20, block_idx_x\n"); break;
    }
}

static void write_program(maps *m) {
    static const char *const TYPES[] = {"f32", "i32", "u8", "f64", "f16"};
    static const uint32_t SIZES[] = {4, 4, 1, 8, 2};
    uint32_t type = pick(m, 5), lines = 2 + pick(m, 9);
    m->used = 0;
    m->type = TYPES[type];
    m->size = SIZES[type];
    m->is_float = type == 0 || type > 2;
    m->is_wide = pick(m, 2);
    m->has_lanes = pick(m, 2);
    m->has_accesses = m->has_lanes && pick(m, 2);
    line(m,
         ".atlas 1\n.program maps\n.param r1 a0 buffer %s inout [n]\n.param r2 a1 buffer %s inout "
         "[n]\n",
         m->type, m->type);
    line(m, ".param r3 a2 buffer %s in [n]\n.scratch r4 s %s [n]\n.scratch r5 t %s [n]\n", m->type,
         m->type, m->type);
    line(m, ".param r7 n %s\n%s", m->is_wide ? "u64" : "u32", m->has_lanes ? ".lanes n\n" : "");
    bool loop = pick(m, 4) == 0;
    for (int r = 10; r < 13; r++)
        line(m, "mov_imm.%s r%d, %s\n", m->type, r, m->is_float ? "1.5" : "3");
    if (loop) line(m, "mov_imm.u32 r30, %u\nround:\n", pick(m, 3));
    for (uint32_t i = 0; i < lines; i++) {
        if (m->has_accesses && pick(m, 3) == 0)
            lane_code(m);
        else if (pick(m, 12) == 0)
            line(m, "parallel_reduce.%s r%u, r%d, sum, r7\n", m->type, 40 + i, read_array(m));
        else
            map(m);
    }
    if (loop) line(m, "loop r30, @round\n");
    line(m, "parallel_map_binary.%s r1, r1, r%d, max, r7\n", m->type, pick(m, 2) ? 4 : 1);
}

/* ---- a launch ---- */

typedef struct outcome {
    hg_status status;
    char code[4];
    uint64_t lane, instruction;
    uint8_t memory[MEMORY];
} outcome;

/* Arrays are imports of one memory. Lanes that touch elements must not race, so theirs do not
 * overlap. */
static void places(const maps *m, uint64_t at[ARRAYS]) {
    uint64_t bytes = (uint64_t)m->n * m->size, apart = (bytes + 7) / 8 * 8;
    for (uint64_t i = 0; i < ARRAYS; i++)
        at[i] = m->layout == DISTINCT ? i * apart : m->layout == SAME ? 0 : i * 8;
}

static void launch(maps *m, const hg_program *program, const hg_launch *how, outcome *o) {
    static _Alignas(64) uint8_t memory[MEMORY];
    const uint64_t n = m->n;
    uint64_t at[ARRAYS], state = m->seed * 77 + 5;
    hg_buffer buffers[ARRAYS] = {{0}};
    hg_params *params = hg_params_create();
    places(m, at);
    for (size_t i = 0; i < MEMORY; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        memory[i] = (uint8_t)(state >> 56);
    }
    bool ready = hg_params_set_scalar(params, "n", m->is_wide ? HG_TYPE_U64 : HG_TYPE_U32, &n) ==
                 HG_OK;
    for (int i = 0; i < ARRAYS; i++) {
        char name[3] = {'a', (char)('0' + i), 0};
        ready = ready &&
                hg_buffer_import(m->backend, memory + at[i], (uint64_t)m->n * m->size,
                                 &buffers[i]) == HG_OK &&
                hg_params_set_buffer(params, name, buffers[i]) == HG_OK;
    }
    o->status = ready ? hg_backend_execute_program_with_params(m->backend, program, how, params)
                      : HG_ERROR_INTERNAL;
    const hg_error *e = hg_last_error();
    memset(o->code, 0, sizeof o->code);
    o->lane = o->instruction = 0;
    if (o->status != HG_OK) {
        memcpy(o->code, e->code, sizeof o->code);
        o->lane = e->lane;
        o->instruction = hg_program_source_instruction(program, e->instruction);
    }
    memcpy(o->memory, memory, MEMORY);
    for (int i = 0; i < ARRAYS; i++) (void)!hg_backend_free_buffer(m->backend, buffers[i]);
    hg_params_destroy(params);
}

static bool is_nan(const maps *m, const uint8_t *bytes) {
    uint64_t bits = 0;
    memcpy(&bits, bytes, m->size);
    if (!m->is_float) return false;
    if (m->size == 2) return (bits & 0x7FFF) > 0x7C00;
    return m->size == 4 ? (bits & 0x7FFFFFFF) > 0x7F800000
                        : (bits & INT64_MAX) > UINT64_C(0x7FF) << 52;
}

static bool same(const maps *m, const outcome *a, const outcome *b) {
    if (a->status != b->status || strcmp(a->code, b->code) != 0 || a->lane != b->lane ||
        a->instruction != b->instruction)
        return false;
    for (size_t i = 0; i + m->size <= MEMORY; i += m->size)
        if (memcmp(a->memory + i, b->memory + i, m->size) != 0 &&
            !(is_nan(m, a->memory + i) && is_nan(m, b->memory + i)))
            return false;
    return true;
}

static void compare(maps *m, const hg_program *source, const hg_program *program) {
    static outcome expected, actual;
    const uint64_t lanes[] = {0, m->n, m->n + 3, m->n / 2 + 1, 1};
    for (int i = 0; i < 5; i++) {
        hg_launch how = hg_launch_default();
        hg_launch_set_linear(&how, lanes[i]);
        launch(m, source, i ? &how : NULL, &expected);
        launch(m, program, i ? &how : NULL, &actual);
        if (same(m, &expected, &actual)) {
            test_passed++;
            continue;
        }
        test_failed++;
        fprintf(stderr,
                "optimize_maps --seed %" PRIu64 " --print: n %u, %" PRIu64
                " lanes, layout %d: %d %s lane %lld instruction %lld, and %d %s lane %lld "
                "instruction %lld\n",
                m->seed, m->n, lanes[i], (int)m->layout, (int)expected.status, expected.code,
                (long long)expected.lane, (long long)expected.instruction, (int)actual.status,
                actual.code, (long long)actual.lane, (long long)actual.instruction);
    }
}

static void run_seed(maps *m) {
    static const uint32_t COUNTS[] = {1, 0, 7, 256, MOST_ELEMENTS};
    hg_program *source = NULL, *program = NULL;
    const hg_optimize_options options = {.size = sizeof options,
                                         .passes = m->seed % 3 ? "fuse" : NULL};
    hg_optimize_stats stats = {.size = sizeof stats};
    m->state = m->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    m->n = COUNTS[pick(m, 5)];
    write_program(m);
    m->layout = (layout)pick(m, m->has_accesses ? SAME + 1 : LAYOUTS);
    if (hg_program_assemble(m->text, m->used, NULL, &source) != HG_OK ||
        hg_program_optimize(source, &options, &stats, &program) != HG_OK) {
        test_failed++;
        fprintf(stderr, "optimize_maps --seed %" PRIu64 " --print: %s\n", m->seed,
                hg_last_error_text());
    } else {
        for (size_t i = 0; hg_optimizer_pass_get(i); i++) {
            CHECK_MESSAGE(!stats.passes[i].refused, "seed %" PRIu64 ": refused", m->seed);
            m->fused += stats.passes[i].changes &&
                        strcmp(hg_optimizer_pass_get(i)->name, "fuse") == 0;
        }
        compare(m, source, program);
    }
    char *text = NULL;
    if (m->print && program && hg_program_print(program, &text, NULL) == HG_OK)
        fprintf(stderr, "%.*s\n; becomes\n%s", (int)m->used, m->text, text);
    hg_string_free(text);
    hg_program_release(source);
    hg_program_release(program);
}

int main(int argc, char **argv) {
    static maps m = {.seed = 1};
    uint64_t count = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--print") == 0) m.print = true;
        if (strcmp(argv[i], "--count") == 0) count = strtoull(value, NULL, 0);
        if (strcmp(argv[i], "--seed") == 0)
            m.seed = strtoull(value, NULL, 0), count = count ? count : 1;
    }
    if (hg_backend_create("cpu", 0, &m.backend) != HG_OK)
        return fprintf(stderr, "%s\n", hg_last_error_text()), 1;
    for (uint64_t i = count ? count : rounds_here(600, 50); i-- > 0 && test_failed < MOST_FAILURES;
         m.seed++)
        run_seed(&m);
    printf("fused: %" PRIu64 "\n", m.fused);
    hg_backend_destroy(m.backend);
    return test_done();
}
