/* Each transform of a batch has the bits that it has alone, in native code and in the interpreter,
 * at each level: of few transforms a block has one and its lanes are places in it, of many a lane
 * has each. Ordinary numbers and least ones, zeros of both signs, infinities and NaN; which NaN is
 * not compared. tests/tensor compares batches with SciPy. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <math.h>
#include <string.h>

enum { BATCH = 24, LONGEST = 128, MOST = BATCH * LONGEST * 2 };

static const double SPECIAL[] = {0.0, -0.0, 1, -1, 1e-45, -3e-40, 3.4e38, -3.4e38};

/* kind 0: ordinary numbers, 1: least ones, 2: some special ones, 3: infinities and NaN among them
 */
static void fill(void *to, hg_type type, uint64_t count, uint32_t kind) {
    uint64_t state = kind + 7;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t choice = (uint32_t)(state >> 60);
        double x = (double)(int64_t)state / 9.3e18 * (kind == 1 ? 1e-38 : 1);
        if (kind > 1 && choice < HG_COUNT_OF(SPECIAL)) x = SPECIAL[choice];
        if (kind > 2 && choice == 15) x = (state >> 59) & 1 ? (double)INFINITY : (double)NAN;
        if (type == HG_TYPE_F32)
            ((float *)to)[i] = (float)x;
        else
            ((double *)to)[i] = x;
    }
}

/* NaN is one NaN. */
static void settle(void *x, hg_type type, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (type == HG_TYPE_F32 && isnan(((float *)x)[i]))
            ((float *)x)[i] = NAN;
        else if (type == HG_TYPE_F64 && isnan(((double *)x)[i]))
            ((double *)x)[i] = (double)NAN;
}

static void run(hg_backend *b, const hg_program *p, const void *from, void *to, hg_type type,
                uint64_t count) {
    const uint64_t bytes = count * (type == HG_TYPE_F32 ? 4 : 8);
    hg_buffer x = make_buffer(b, from, bytes), y = make_buffer(b, from, bytes);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, y, to, bytes));
    settle(to, type, count);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
}

static hg_program *transforms(hg_type type, uint32_t n, bool inverse, uint32_t batch) {
    char text[300];
    const char *t = type == HG_TYPE_F32 ? "f32" : "f64";
    hg_program *p = NULL;
    snprintf(text, sizeof text,
             PROGRAM(".param y buffer %s out [%u]\n.param x buffer %s in [%u]\n.lanes 1\n"
                     "fft.%s output=y, input=x, n=%u, inverse=%s, batch=%u\n"),
             t, batch * n * 2, t, batch * n * 2, t, (unsigned)n, inverse ? "true" : "false",
             (unsigned)batch);
    CHECK_OK(hg_program_assemble(text, strlen(text), NULL, &p));
    return p;
}

static void compare(hg_backend *b, const char *way, hg_type type, uint32_t n, bool inverse) {
    static const uint32_t few[] = {1, 3};
    static double x[MOST], whole[MOST], part[MOST];
    const uint64_t size = type == HG_TYPE_F32 ? 4 : 8, each = (uint64_t)n * 2;
    hg_program *all = transforms(type, n, inverse, BATCH);
    for (size_t i = 0; i < HG_COUNT_OF(few); i++) {
        hg_program *some = transforms(type, n, inverse, few[i]);
        for (uint32_t kind = 0; kind < 4; kind++) {
            fill(x, type, BATCH * each, kind);
            run(b, all, x, whole, type, BATCH * each);
            for (uint32_t first = 0; first + few[i] <= BATCH; first += 7) {
                uint64_t at = first * each * size;
                run(b, some, (char *)x + at, part, type, few[i] * each);
                CHECK_MESSAGE(memcmp(part, (char *)whole + at, few[i] * each * size) == 0,
                              "%s: %s fft of %u, %s, numbers of kind %u: %u from %u on differ from "
                              "those in a batch",
                              way, type == HG_TYPE_F32 ? "f32" : "f64", (unsigned)n,
                              inverse ? "inverse" : "forward", (unsigned)kind, (unsigned)few[i],
                              (unsigned)first);
            }
        }
        hg_program_release(some);
    }
    hg_program_release(all);
}

int main(void) {
    static const char *const ways[][2] = {{"off", ""}, {"on", "v3"}, {"on", ""}};
    static const uint32_t lengths[] = {8, 16, 32, LONGEST};
    for (size_t w = 0; w < HG_COUNT_OF(ways); w++) {
        char way[40];
        hg_config config = hg_config_default();
        hg_backend *b = NULL;
        snprintf(way, sizeof way, "jit %s, level %s", ways[w][0],
                 *ways[w][1] ? ways[w][1] : "best");
        snprintf(config.backend, sizeof config.backend, "cpu");
        snprintf(config.jit, sizeof config.jit, "%s", ways[w][0]);
        snprintf(config.cpu_level, sizeof config.cpu_level, "%s", ways[w][1]);
        config.num_threads = 1;
        if (hg_backend_create_with_config(&config, &b) != HG_OK) {
            SKIP(hg_last_error_text());
            continue;
        }
        for (size_t i = 0; i < HG_COUNT_OF(lengths); i++)
            for (uint32_t form = 0; form < 4; form++)
                if (lengths[i] == 16 || form == 0 || form == 3)
                    compare(b, way, form & 1 ? HG_TYPE_F64 : HG_TYPE_F32, lengths[i], form & 2);
        hg_backend_destroy(b);
    }
    return test_done();
}
