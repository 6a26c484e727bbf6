/* Loops of few rounds and private arrays by native code of each CPU level, which writes such loops
 * out, beside the interpreter, which does not: the same bits, or the same fault at the same place.
 * The texts have every number of rounds around the most that are written out, with a counter that
 * goes up by one or more, inner loops that begin or end where the outer one is, and accesses that
 * are outside in one round. */
#include "support/runtime_support.h"
#include <stdlib.h>
#include <string.h>

enum { LANES = 77, COLUMNS = 24, TEXT_BYTES = 1200 };

#define HEAD                                                                                    \
    ".atlas 1\n.program p\n.param x buffer u%u in [n, 24]\n.param y buffer u%u inout [n, 24]\n" \
    ".param n u64\n.private v u%u [16]\n.lanes n\n"

/* A text's numbers: the bits of an element three times, then up to four. */
typedef struct example {
    const char *text;
    uint32_t numbers[4];
} example;

static const char ROUNDS[] = HEAD
    "    for k in u32(%u) .. %u step %u {\n"
    "        y[global, k] = x[global, k] + x[global, %u - k]\n    }\n";
static const char INNER[] = HEAD
    "    for a in u32(0) .. 4 {\n        for b in u32(0) .. 4 {\n"
    "            v[4 * a + b] = x[global, 5 * a + b]\n        }\n    }\n"
    "    for a in u32(0) .. %u {\n        for b in a + 1 .. %u {\n"
    "            let lo = min(v[a], v[b])\n            let hi = max(v[a], v[b])\n"
    "            v[a] = lo\n            v[b] = hi\n        }\n    }\n"
    "    for a in u32(0) .. %u {\n        for b in u32(0) .. a {\n"
    "            y[global, a + b] = v[a] - v[b + %u]\n        }\n    }\n";
static const char BRANCHES[] = HEAD
    "    let s = x[global, 0]\n    for k in u32(0) .. %u {\n        if x[global, k] & 1 == 0 {\n"
    "            v[k & 3] = s\n            s += x[global, k + %u]\n        } else {\n"
    "            y[global, k] = s\n        }\n        if k == %u {\n            s ^= v[%u]\n"
    "        }\n    }\n    y[global, 23] = s\n";

static const example EXAMPLES[] = {
    {ROUNDS, {0, 1, 1, 23}},   {ROUNDS, {0, 2, 1, 23}},    {ROUNDS, {3, 18, 1, 20}},
    {ROUNDS, {0, 16, 1, 23}},  {ROUNDS, {0, 17, 1, 23}},   {ROUNDS, {1, 24, 3, 23}},
    {ROUNDS, {0, 23, 5, 22}},  {ROUNDS, {5, 5, 1, 23}},    {ROUNDS, {20, 26, 1, 30}},
    {ROUNDS, {0, 6, 1, 4}},    {ROUNDS, {0, 10, 1, 30}},   {INNER, {5, 9, 4, 0}},
    {INNER, {1, 16, 9, 3}},    {INNER, {8, 8, 1, 0}},      {INNER, {5, 9, 14, 0}},
    {INNER, {5, 17, 4, 0}},    {INNER, {5, 9, 6, 12}},     {BRANCHES, {4, 1, 2, 3}},
    {BRANCHES, {16, 5, 9, 0}}, {BRANCHES, {20, 3, 0, 15}}, {BRANCHES, {12, 15, 7, 1}},
    {BRANCHES, {6, 2, 5, 15}},
};

typedef struct outcome {
    hg_status status;
    char error[512];
    uint8_t bytes[LANES * COLUMNS * 8];
} outcome;

static hg_backend *backend_of(const char *level, bool native) {
    hg_config config = hg_config_default();
    hg_backend *backend = NULL;
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.jit, sizeof config.jit, native ? "on" : "off");
    config.num_threads = 1;
    if (hg_backend_create_with_config(&config, &backend) == HG_OK) return backend;
    SKIP(hg_last_error_text());
    return NULL;
}

static void run(hg_backend *backend, const char *text, uint32_t bytes, outcome *made) {
    uint8_t x[LANES * COLUMNS * 8];
    uint64_t size = (uint64_t)LANES * COLUMNS * bytes, n = LANES;
    hg_program *program = NULL;
    hg_buffer in, out;
    hg_params *params = hg_params_create();
    hg_launch at = HG_LAUNCH_PROGRAM;
    for (uint64_t i = 0; i < size; i++) x[i] = (uint8_t)(i * 167 + i / 251 * 13);
    memset(made, 0, sizeof *made);
    CHECK_OK(hg_program_assemble(text, strlen(text), NULL, &program));
    in = make_buffer(backend, x, size);
    out = make_buffer(backend, made->bytes, size);
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    made->status = hg_backend_execute_program_with_params(backend, program, &at, params);
    if (made->status != HG_OK)
        snprintf(made->error, sizeof made->error, "%s", hg_last_error_text());
    else
        CHECK_OK(hg_backend_copy_from_buffer(backend, out, made->bytes, size));
    CHECK_OK(hg_backend_free_buffer(backend, in));
    CHECK_OK(hg_backend_free_buffer(backend, out));
    hg_params_destroy(params);
    hg_program_release(program);
}

static void compare(hg_backend *native, hg_backend *interpreter, const char *level, size_t number,
                    uint32_t bytes) {
    static outcome made, right;
    const example *e = &EXAMPLES[number];
    char text[TEXT_BYTES];
    uint32_t bits = 8 * bytes;
    snprintf(text, sizeof text, e->text, bits, bits, bits, e->numbers[0], e->numbers[1],
             e->numbers[2], e->numbers[3]);
    run(native, text, bytes, &made);
    run(interpreter, text, bytes, &right);
    CHECK_MESSAGE(made.status == right.status && strcmp(made.error, right.error) == 0,
                  "%s, example %u of u%u: '%s', not '%s'", level, (unsigned)number, bits,
                  made.error, right.error);
    CHECK_MESSAGE(memcmp(made.bytes, right.bytes, sizeof made.bytes) == 0,
                  "%s, example %u of u%u: other bits than the interpreter's", level,
                  (unsigned)number, bits);
}

int main(void) {
    static const char *const levels[] = {"baseline", "v3", "v4"};
    hg_backend *interpreter = backend_of("baseline", false);
    for (int i = 0; i < 3 && interpreter; i++) {
        hg_backend *native = backend_of(levels[i], true);
        for (size_t k = 0; k < sizeof EXAMPLES / sizeof *EXAMPLES && native; k++)
            compare(native, interpreter, levels[i], k, i == 1 ? 4 : (uint32_t)1 << k % 4);
        hg_backend_destroy(native);
    }
    hg_backend_destroy(interpreter);
    return test_done();
}
