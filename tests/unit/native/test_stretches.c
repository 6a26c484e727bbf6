/* Loads and stores of neighbouring elements of each lane, which native code does together where all
 * lanes run: the same values as element by element, for every size of elements, number of them, gap
 * between lanes and compiler. */
#include "base/base.h"
#include "support/c_vectors.h"
#include "support/runtime_support.h"

enum { LANES = 203, MOST = 32 };

static uint64_t element(const uint8_t *bytes, uint32_t size, uint64_t i) {
    uint64_t value = 0;
    memcpy(&value, bytes + i * size, size);
    return value;
}

/* y[lane, count - 1 - k] = x[lane, k] of the first `count` elements of each row of x. */
static hg_program *reverse(const char *type, uint32_t size, uint32_t count, uint32_t row) {
    hg_text text = {0};
    hg_text_addf(&text,
                 ".atlas 1\n.program reverse_%s_%u_%u\n.param r1 x buffer %s in [n, %u]\n"
                 ".param r2 y buffer %s inout [n, %u]\n.param r3 n u64\n.lanes n\n"
                 " mul.u64 r4, r255, %u\n mul.u64 r5, r255, %u\n",
                 type, (unsigned)count, (unsigned)row, type, (unsigned)row, type, (unsigned)count,
                 (unsigned)(row * size), (unsigned)(count * size));
    for (uint32_t i = 0; i < count; i++)
        hg_text_addf(&text, " ldg.%s r%u, [r1 + r4 + %u]\n", type, (unsigned)(10 + i),
                     (unsigned)(i * size));
    for (uint32_t i = 0; i < count; i++)
        hg_text_addf(&text, " stg.%s [r2 + r5 + %u], r%u\n", type, (unsigned)(i * size),
                     (unsigned)(10 + count - 1 - i));
    hg_program *program = NULL;
    CHECK_OK(hg_program_assemble(text.data, (size_t)text.length, NULL, &program));
    hg_text_free(&text);
    return program;
}

static void check(hg_backend *b, const char *type, uint32_t size, uint32_t count, uint32_t row) {
    static uint8_t x[LANES * (MOST + 1) * 8], y[LANES * MOST * 8];
    hg_program *program = reverse(type, size, count, row);
    const hg_launch launch = hg_launch_linear(LANES);
    const uint64_t lanes = LANES, xs = (uint64_t)LANES * row * size,
                   ys = (uint64_t)LANES * count * size;
    hg_params *params = hg_params_create();
    hg_buffer in = {0}, out = {0};
    uint32_t wrong = 0;
    for (uint64_t i = 0; i < xs; i++) x[i] = (uint8_t)(i * 167 + i / 251);
    memset(y, 0, sizeof y);
    CHECK_OK(hg_backend_allocate_buffer(b, xs, &in));
    CHECK_OK(hg_backend_allocate_buffer(b, ys, &out));
    CHECK_OK(hg_buffer_write(b, in, 0, x, xs));
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &lanes));
    CHECK_OK(hg_backend_execute_program_with_params(b, program, &launch, params));
    CHECK_OK(hg_buffer_read(b, out, 0, y, ys));
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t k = 0; k < count; k++)
            wrong += element(y, size, (uint64_t)lane * count + count - 1 - k) !=
                     element(x, size, (uint64_t)lane * row + k);
    CHECK_MESSAGE(wrong == 0, "%s, %u of %u: %u elements are wrong", type, (unsigned)count,
                  (unsigned)row, (unsigned)wrong);
    CHECK_OK(hg_backend_free_buffer(b, in));
    CHECK_OK(hg_backend_free_buffer(b, out));
    hg_params_destroy(params);
    hg_program_release(program);
}

/* few: what compilers of C take long for. */
static void check_all(const char *words, bool few) {
    static const char *const types[] = {"u8", "u16", "f32", "f64"};
    static const uint32_t shapes[][2] = {{2, 2}, {3, 4}, {4, 4}, {4, 5}, {8, 8}, {32, 33}};
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    char reason[256];
    if (!c_vectors_use(words, reason)) {
        SKIP(reason);
        return;
    }
    memcpy(config.backend, "cpu", 4);
    memcpy(config.jit, "on", 3);
    config.cache_dir = "off";
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    for (uint32_t t = few ? 2 : 0; b && t < HG_COUNT_OF(types) - few; t++)
        for (uint32_t i = few ? 2 : 0; i < HG_COUNT_OF(shapes) - 3 * few; i++)
            check(b, types[t], 1u << t, shapes[i][0], shapes[i][1]);
    hg_backend_destroy(b);
}

/* test_stretches [COMPILER [few]]: as c_vectors_use takes it; one in a process. */
int main(int argc, char **argv) {
    check_all(argc > 1 ? argv[1] : "32:16:llvm", argc > 2);
    CHECK_U64(test_skipped ? 0 : c_vectors_end(), 0);
    return test_done();
}
