/* res.accum, phase.write, phase.read and unity.test with an epsilon in launches of many lanes: the
 * exact sums, by MPFR, whatever the number of threads, the blocks, the vectors or the device; each
 * lane sees what the launch began with and what it did itself. */
/* test: labels=slow timeout=600 */
#include "atlas/state.h"
#include "runtime/context.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <math.h>
#ifdef HG_HAVE_MPFR
#include <mpfr.h>

enum { N = 3000, WORDS = HG_RESONANCE_WORDS, CLASSES = 96, PRECISION = 2400 };

static uint64_t seed = 4;
static uint64_t next_random(void) {
    seed += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = seed;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint64_t to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool same(double a, double b) { return isnan(a) ? isnan(b) : to_bits(a) == to_bits(b); }

/* Wildly different magnitudes; a quarter of them takes away what one before it added. */
static void fill(double *values, uint32_t *classes, uint64_t count, uint32_t used) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = next_random(), kind = next_random() % 8,
                 exponent = kind == 0   ? 0
                            : kind == 1 ? 0x7FE
                                        : 1 + next_random() % 0x7FE;
        bits = (bits & ~(UINT64_C(0x7FF) << 52)) | exponent << 52;
        memcpy(&values[i], &bits, sizeof bits);
        classes[i] = (uint32_t)(next_random() % used) * 7 % CLASSES;
        if (i && next_random() % 4 == 0) {
            uint64_t of = next_random() % i;
            values[i] = -values[of];
            classes[i] = classes[of];
        }
    }
}

/* ---- what must come out ---- */

typedef struct expected {
    mpfr_t sums[CLASSES + 1];
    uint32_t flags[CLASSES + 1];
} expected;

static void expect_begin(expected *x) {
    memset(x->flags, 0, sizeof x->flags);
    for (int c = 0; c <= CLASSES; c++) {
        mpfr_init2(x->sums[c], PRECISION);
        mpfr_set_zero(x->sums[c], 1);
    }
}

static void expect_end(expected *x) {
    for (int c = 0; c <= CLASSES; c++) mpfr_clear(x->sums[c]);
}

static void expect(expected *x, uint32_t cls, double value) {
    uint32_t flag = isnan(value)    ? HG_RESONANCE_NAN
                    : !isinf(value) ? 0
                    : value < 0     ? HG_RESONANCE_NEG_INF
                                    : HG_RESONANCE_INF;
    for (int i = 0; i < 2; i++) {
        uint32_t to = i ? CLASSES : cls;
        x->flags[to] |= flag;
        if (!flag && mpfr_add_d(x->sums[to], x->sums[to], value, MPFR_RNDN))
            CHECK_MESSAGE(false, "the oracle rounds");
    }
}

/* The sum and two more numbers, rounded once. */
static double rounded(const expected *x, uint32_t cls, double more, double again) {
    mpfr_t sum;
    uint32_t flags = x->flags[cls];
    double values[2] = {more, again};
    mpfr_init2(sum, PRECISION);
    mpfr_set(sum, x->sums[cls], MPFR_RNDN);
    for (int i = 0; i < 2; i++) {
        if (isfinite(values[i]))
            mpfr_add_d(sum, sum, values[i], MPFR_RNDN);
        else
            flags |= isnan(values[i]) ? HG_RESONANCE_NAN
                     : values[i] < 0  ? HG_RESONANCE_NEG_INF
                                      : HG_RESONANCE_INF;
    }
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    if (flags & HG_RESONANCE_NAN || (flags & HG_RESONANCE_INF && flags & HG_RESONANCE_NEG_INF))
        return NAN;
    if (flags) return flags & HG_RESONANCE_INF ? INFINITY : -INFINITY;
    return result == 0 ? 0.0 : result;
}

/* Every class and their sum: the double, and all bits behind it. */
static void check_context(const char *what, hg_context *c, const expected *x) {
    for (uint32_t cls = 0; cls <= CLASSES; cls++) {
        double value = 0;
        if (cls < CLASSES)
            CHECK_OK(hg_context_resonance(c, cls, &value));
        else
            CHECK_OK(hg_context_resonance_total(c, &value));
        double right = rounded(x, cls, 0, 0);
        CHECK_MESSAGE(same(value, right), "%s: class %u is %a, expected %a", what, (unsigned)cls,
                      value, right);
        uint32_t words[WORDS] = {0};
        mpfr_t scaled;
        mpz_t z;
        mpfr_init2(scaled, PRECISION);
        mpz_init(z);
        mpfr_mul_2ui(scaled, x->sums[cls], 1074, MPFR_RNDN);
        mpfr_get_z(z, scaled, MPFR_RNDN);
        mpz_fdiv_r_2exp(z, z, 32 * WORDS);
        mpz_export(words, NULL, -1, 4, 0, 0, z);
        if (c->state.range.arena)
            CHECK_MESSAGE(
                memcmp((uint8_t *)c->state_image + HG_STATE_RESONANCE + cls * sizeof words, words,
                       sizeof words) == 0,
                "%s: bits of class %u", what, (unsigned)cls);
        mpz_clear(z);
        mpfr_clear(scaled);
    }
}

/* ---- running programs ---- */

typedef struct machine {
    hg_backend *backend;
    char what[100];
    uint32_t block;
} machine;

/* Buffers r1 … by name, lanes; in the context. */
typedef struct argument {
    const char *name;
    void *data;
    uint64_t bytes;
    hg_buffer buffer;
} argument;

static hg_status run(const machine *m, hg_context *c, const char *text, uint64_t lanes,
                     argument *arguments, int count) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_launch launch = HG_LAUNCH_INIT;
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    launch.block[0] = m->block;
    launch.grid[0] = (uint32_t)((lanes + m->block - 1) / m->block);
    launch.lanes = lanes;
    for (int i = 0; i < count; i++) {
        arguments[i].buffer = make_buffer(m->backend, arguments[i].data, arguments[i].bytes);
        CHECK_OK(hg_params_set_buffer(params, arguments[i].name, arguments[i].buffer));
    }
    hg_status status = hg_executable_create_for(m->backend, p, &launch, params, &e);
    if (status == HG_OK) status = hg_binding_create(e, &launch, params, &binding);
    if (status == HG_OK) status = hg_binding_launch_in(binding, c);
    hg_error kept = *hg_last_error();
    for (int i = 0; i < count; i++) {
        CHECK_OK(hg_backend_copy_from_buffer(m->backend, arguments[i].buffer, arguments[i].data,
                                             arguments[i].bytes));
        CHECK_OK(hg_backend_free_buffer(m->backend, arguments[i].buffer));
    }
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
    if (status != HG_OK) (void)hg_fail(status, "%s", kept.message);
    return status;
}

#define OFFSETS                                                                                \
    " mov_imm.u32 r250, 3\n shl.u64 r0, r255, r250\n mov_imm.u32 r250, 2\n shl.u64 r4, r255, " \
    "r250\n"
#define SUMS                                                                                  \
    PROGRAM(".param r1 x buffer f64 in\n.param r2 c buffer u32 in\n.param r3 out buffer f64 " \
            "inout\n.param r5 again buffer f64 inout\n" OFFSETS                               \
            " ldg.f64 r10, [r1 + r0]\n ldg.u32 r11, [r2 + r4]\n res.accum r12, r10, r11\n "   \
            "stg.f64 [r3 + r0], r12\n"                                                        \
            " ldg.f64 r13, [r5 + r0]\n res.accum r14, r13, r11\n stg.f64 [r5 + r0], r14\n")

/* Three launches of one context, the last one with infinities and NaNs; every lane adds twice to
 * its class. */
static void test_sums(const machine *m) {
    static double x[N], again[N], out[N], kept[N];
    static uint32_t classes[N], more_classes[N];
    static const double special[] = {INFINITY, -INFINITY, NAN};
    expected right;
    hg_context *c = NULL;
    CHECK_OK(hg_context_create(m->backend, &c));
    expect_begin(&right);
    for (int launch = 0; launch < 3; launch++) {
        uint64_t lanes = N - (uint64_t)launch * 77;
        fill(x, classes, N, launch == 1 ? 3 : CLASSES);
        fill(again, more_classes, N, 5);
        for (int i = 0; launch == 0 && i < N; i += 5) again[i] = -x[i]; /* the lane's sum is zero */
        for (int i = 0; launch == 2 && i < 3; i++) x[100 + i * 500] = special[i];
        memcpy(kept, again, sizeof kept);
        argument arguments[] = {{"x", x, sizeof x, {0}},
                                {"c", classes, sizeof classes, {0}},
                                {"out", out, sizeof out, {0}},
                                {"again", again, sizeof again, {0}}};
        CHECK_OK(run(m, c, SUMS, lanes, arguments, 4));
        for (uint64_t i = 0; i < lanes; i++) {
            double first = rounded(&right, classes[i], x[i], 0),
                   second = rounded(&right, classes[i], x[i], kept[i]);
            CHECK_MESSAGE(same(out[i], first), "%s, launch %d, lane %u: %a, expected %a", m->what,
                          launch, (unsigned)i, out[i], first);
            CHECK_MESSAGE(same(again[i], second), "%s, launch %d, lane %u again: %a, expected %a",
                          m->what, launch, (unsigned)i, again[i], second);
        }
        for (uint64_t i = 0; i < lanes; i++) {
            expect(&right, classes[i], x[i]);
            expect(&right, classes[i], kept[i]);
        }
        check_context(m->what, c, &right);
    }
    expect_end(&right);
    hg_context_destroy(c);
}

/* More lanes than one thread gets, few classes, results that nobody reads: only what is left
 * counts. */
#define MANY                                                                 \
    PROGRAM(".param r1 x buffer f64 in\n.param r2 c buffer u32 in\n" OFFSETS \
            " ldg.f64 r10, [r1 + r0]\n ldg.u32 r11, [r2 + r4]\n"             \
            " res.accum r12, r10, r11\n")
static void test_many(const machine *m) {
    enum { MOST = 60000 };
    static double x[MOST];
    static uint32_t classes[MOST];
    expected right;
    hg_context *c = NULL;
    CHECK_OK(hg_context_create(m->backend, &c));
    expect_begin(&right);
    for (int launch = 0; launch < 2; launch++) {
        fill(x, classes, MOST, launch ? 1 : 5);
        for (int i = 0; i < MOST; i++) expect(&right, classes[i], x[i]);
        argument arguments[] = {{"x", x, sizeof x, {0}}, {"c", classes, sizeof classes, {0}}};
        CHECK_OK(run(m, c, MANY, MOST, arguments, 2));
        check_context(m->what, c, &right);
    }
    expect_end(&right);
    hg_context_destroy(c);
}

/* All lanes at one class that is written as a number, in a loop, in numbers of other types; the
 * result is not read. */
#define LOOP                                                                                    \
    PROGRAM(".param r1 x buffer f32 in\n.param r2 k buffer i32 in\n" OFFSETS                    \
            " ldg.f32 r10, [r1 + r4]\n ldg.i32 r11, [r2 + r4]\n"                                \
            " mov_imm.u32 r13, 19\nagain:\n res.accum r14, r10, 95\n res.accum r14, r11, 95\n " \
            "loop r13, @again\n")
static void test_loop(const machine *m) {
    static float x[N];
    static int32_t k[N];
    expected right;
    hg_context *c = NULL;
    CHECK_OK(hg_context_create(m->backend, &c));
    expect_begin(&right);
    for (int i = 0; i < N; i++) {
        x[i] = ldexpf((float)(int32_t)(next_random() >> 40), (int)(next_random() % 250) - 149);
        k[i] = (int32_t)next_random();
        for (int n = 0; n < 20; n++) {
            expect(&right, 95, x[i]);
            expect(&right, 95, k[i]);
        }
    }
    argument arguments[] = {{"x", x, sizeof x, {0}}, {"k", k, sizeof k, {0}}};
    CHECK_OK(run(m, c, LOOP, N, arguments, 2));
    check_context(m->what, c, &right);
    expect_end(&right);
    hg_context_destroy(c);
}

/* Whole-array steps in between: one launch of several kernels. */
#define STEPS                                                                                     \
    PROGRAM(".param r1 x buffer f64 in\n.param r2 y buffer f64 inout [n]\n.param r3 n "           \
            "u64\n.param r5 p buffer u32 inout\n" OFFSETS                                         \
            " ldg.f64 r10, [r1 + r0]\n res.accum r11, r10, 4\n phase.read r12, 4\n "              \
            "parallel_map.f64 r2, r2, neg, r3\n"                                                  \
            " ldg.f64 r10, [r2 + r0]\n res.accum r11, r10, 4\n phase.read r13, 4\n add.u32 r12, " \
            "r12, r13\n stg.u32 [r5 + r4], r12\n")
static void test_steps(const machine *m) {
    static double x[N], y[N], kept[N];
    static uint32_t classes[N], phases[N];
    expected right;
    hg_context *c = NULL;
    uint64_t wrong = 0;
    CHECK_OK(hg_context_create(m->backend, &c));
    CHECK_OK(hg_context_set_phase(c, 4, 300));
    expect_begin(&right);
    for (int launch = 0; launch < 2; launch++) {
        fill(x, classes, N, 1);
        fill(y, classes, N, 1);
        memcpy(kept, y, sizeof kept);
        argument arguments[] = {
            {"x", x, sizeof x, {0}}, {"y", y, sizeof y, {0}}, {"p", phases, sizeof phases, {0}}};
        CHECK_OK(run(m, c, STEPS, N, arguments, 3));
        for (int i = 0; i < N; i++) {
            wrong += phases[i] != 600;
            expect(&right, 4, x[i]);
            expect(&right, 4, -kept[i]);
        }
        CHECK_U64(wrong, 0);
        check_context(m->what, c, &right);
    }
    expect_end(&right);
    hg_context_destroy(c);
}

/* ---- phases ---- */

/* Lanes write their class, most of them again something smaller; before and after they read it. The
 * first lanes come late. */
#define PHASES                                                                                    \
    PROGRAM(".param r1 v buffer i32 in\n.param r2 c buffer u32 in\n.param r3 before buffer u32 "  \
            "inout\n.param r5 after buffer u32 "                                                  \
            "inout\n" OFFSETS " ldg.i32 r10, [r1 + r4]\n ldg.u32 r11, [r2 + r4]\n phase.read "    \
            "r12, r11\n stg.u32 [r3 + r4], r12\n mov_imm.u32 r13, 700\n"                          \
            " mov_imm.u64 r20, 64\n setltu.u64 p0, r255, r20\n mov_imm.u32 r21, 0\n mov_imm.u32 " \
            "r22, 30000\n sel.u32 r22, p0, r22, r21\n"                                            \
            "later:\n loop r22, @later\n"                                                         \
            " phase.write r13, r11\n phase.write r10, r11\n phase.read r14, r11\n stg.u32 [r5 + " \
            "r4], r14\n")
static void test_phases(const machine *m) {
    enum { LANES = 40000 };
    static int32_t values[LANES];
    static uint32_t classes[LANES], before[LANES], after[LANES];
    uint32_t phases[CLASSES] = {0};
    hg_context *c = NULL;
    CHECK_OK(hg_context_create(m->backend, &c));
    for (int launch = 0; launch < 3; launch++) {
        uint64_t wrong = 0;
        for (int i = 0; i < LANES; i++) {
            values[i] = (int32_t)next_random();
            classes[i] = (uint32_t)(next_random() % (launch == 1 ? 2 : 90));
        }
        argument arguments[] = {{"v", values, sizeof values, {0}},
                                {"c", classes, sizeof classes, {0}},
                                {"before", before, sizeof before, {0}},
                                {"after", after, sizeof after, {0}}};
        CHECK_OK(run(m, c, PHASES, LANES, arguments, 4));
        for (int i = 0; i < LANES; i++) wrong += before[i] != phases[classes[i]];
        CHECK_MESSAGE(wrong == 0, "%s, launch %d: %u lanes read another phase", m->what, launch,
                      (unsigned)wrong);
        wrong = 0;
        for (int i = 0; i < LANES; i++) {
            phases[classes[i]] = (uint32_t)(((int64_t)values[i] % 768 + 768) % 768);
            wrong += after[i] != phases[classes[i]];
        }
        CHECK_MESSAGE(wrong == 0, "%s, launch %d: %u lanes do not read what they wrote", m->what,
                      launch, (unsigned)wrong);
        for (uint32_t cls = 0; cls < CLASSES; cls++) {
            uint32_t phase = 999;
            CHECK_OK(hg_context_phase(c, cls, &phase));
            CHECK_MESSAGE(phase == phases[cls], "%s, launch %d: phase %u is %u, expected %u",
                          m->what, launch, (unsigned)cls, (unsigned)phase, (unsigned)phases[cls]);
        }
    }
    hg_context_destroy(c);
}

/* ---- a fault ---- */

/* Lane k divides by zero between two additions of 1 to class 2; a phase is written before. */
#define FAULT                                                                                     \
    PROGRAM(                                                                                      \
        ".param r1 d buffer u32 in\n" OFFSETS                                                     \
        " mov_imm.f64 r10, 1\n res.accum r11, r10, 2\n mov_imm.u32 r12, 8\n phase.write r12, 9\n" \
        " ldg.u32 r13, [r1 + r4]\n div.u32 r14, r12, r13\n res.accum r11, r10, 2\n")
static void test_fault(const machine *m) {
    static uint32_t divisors[N];
    double value = 0, all = 0;
    uint32_t phase = 0;
    hg_context *c = NULL;
    enum { BAD = N / 2 };
    CHECK_OK(hg_context_create(m->backend, &c));
    for (int i = 0; i < N; i++) divisors[i] = i != BAD;
    argument arguments[] = {{"d", divisors, sizeof divisors, {0}}};
    CHECK_STATUS(run(m, c, FAULT, N, arguments, 1), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_context_resonance(c, 2, &value));
    CHECK_OK(hg_context_resonance_total(c, &all));
    CHECK_OK(hg_context_phase(c, 9, &phase));
    CHECK_U64(phase, 8);
    double whole = (double)(BAD / m->block * m->block); /* lanes of blocks before the fault's have
                                                           run to their end */
    CHECK_MESSAGE(value >= 2 * whole + 1 && value <= 2 * N - 1 && value == floor(value) &&
                      all == value,
                  "%s: %g after a fault", m->what, value);
    divisors[BAD] = 1;
    CHECK_OK(run(m, c, FAULT, N, arguments, 1));
    CHECK_OK(hg_context_resonance(c, 2, &all));
    CHECK(all == value + 2 * N);
    hg_context_destroy(c);
}

/* ---- the sum of all classes ---- */

/* out: whether |sum| < 0.5 before and after the lane's own addition. */
#define UNITY                                                                                    \
    PROGRAM(".param r1 x buffer f64 in\n.param r2 c buffer u32 in\n.param r3 out buffer u32 "    \
            "inout\n" OFFSETS " ldg.f64 r10, [r1 + r0]\n"                                        \
            " ldg.u32 r11, [r2 + r4]\n mov_imm.u32 r5, 0\n mov_imm.u32 r6, 1\n mov_imm.u32 r7, " \
            "2\n unity.test p0, eps=0.5\n"                                                       \
            " res.accum r12, r10, r11\n unity.test p1, eps=0.5\n sel.u32 r13, p0, r6, r5\n "     \
            "sel.u32 r14, p1, r7, r5\n or.u32 r13, r13, r14\n"                                   \
            " stg.u32 [r3 + r4], r13\n")
static void test_unity(const machine *m) {
    enum { LANES = 4 };
    /* huge ones of different classes cancel; what is left decides */
    static const double values[4][LANES] = {{1e300, -1e300, 0.25, 0.125},
                                            {0.125, 0.25, -0.25, -1},
                                            {INFINITY, 0, 1, 2},
                                            {-INFINITY, 0, 1, 2}};
    static const uint32_t where[LANES] = {3, 90, 17, 3};
    expected right;
    hg_context *c = NULL;
    CHECK_OK(hg_context_create(m->backend, &c));
    expect_begin(&right);
    for (int launch = 0; launch < 4; launch++) {
        double x[LANES];
        uint32_t classes[LANES], out[LANES] = {0};
        memcpy(x, values[launch], sizeof x);
        memcpy(classes, where, sizeof classes);
        argument arguments[] = {{"x", x, sizeof x, {0}},
                                {"c", classes, sizeof classes, {0}},
                                {"out", out, sizeof out, {0}}};
        CHECK_OK(run(m, c, UNITY, LANES, arguments, 3));
        for (int i = 0; i < LANES; i++) {
            uint32_t bits = (fabs(rounded(&right, CLASSES, 0, 0)) < 0.5 ? 1u : 0) |
                            (fabs(rounded(&right, CLASSES, x[i], 0)) < 0.5 ? 2u : 0);
            CHECK_MESSAGE(out[i] == bits, "%s, launch %d, lane %d: %u, expected %u", m->what,
                          launch, i, (unsigned)out[i], (unsigned)bits);
        }
        for (int i = 0; i < LANES; i++) expect(&right, classes[i], x[i]);
        check_context(m->what, c, &right);
    }
    expect_end(&right);
    hg_context_destroy(c);
}

/* ---- everywhere ---- */

static bool all;

static void test_machine(const char *name, uint32_t device, const char *pretend, const char *level,
                         uint32_t threads, uint32_t block) {
    hg_config config = hg_config_default();
    machine m = {.block = block};
    snprintf(config.backend, sizeof config.backend, "%s", name);
    set_pretend(&config, pretend);
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    config.device_id = device;
    config.num_threads = threads;
    snprintf(m.what, sizeof m.what, "%s %u %s%s, %u threads, blocks of %u", name, (unsigned)device,
             pretend, level, (unsigned)threads, (unsigned)block);
    if (hg_backend_create_with_config(&config, &m.backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return;
    }
    bool device_as_it_is = strcmp(name, "cpu") == 0 || !*pretend; /* else few programs: drivers
                                                                     compile for seconds */
    bool is_slow = strcmp(name, "vulkan") == 0; /* lavapipe: 35 s for the program of the sums */
    test_many(&m);
    test_phases(&m);
    if (device_as_it_is) {
        if (all || !is_slow) test_sums(&m);
        test_loop(&m);
        test_steps(&m);
        test_fault(&m);
        test_unity(&m);
    }
    hg_backend_destroy(m.backend);
}

int main(int argc, char **argv) { /* arguments: --all, a backend */
    all = argc > 1 && strcmp(argv[1], "--all") == 0;
    const char *only = argc > 1 + all ? argv[1 + all] : "";
    hg_device_info devices[16];
    size_t count = 0;
    if (!*only || strcmp(only, "cpu") == 0) { test_machine("cpu", 0, "", "", 2, 1000); }
    if (SANITIZED)
        return test_done(); /* the rest says the same of our code, in ten times the time */
    if (!*only || strcmp(only, "cpu") == 0) {
        test_machine("cpu", 0, "", "", 1, 64);
        test_machine("cpu", 0, "", "", 8, 1);
        test_machine("cpu", 0, "", "", 8, 256);
        test_machine("cpu", 0, "", "baseline", 2, 100);
        test_machine("cpu", 0, "poor", "", 2, 128);
    }
    CHECK_OK(hg_devices(devices, HG_COUNT_OF(devices), &count));
    for (size_t i = 0; i < count && i < HG_COUNT_OF(devices); i++) {
        const char *name = devices[i].backend;
        bool is_vulkan = strcmp(name, "vulkan") == 0;
        if ((!is_vulkan && strcmp(name, "opencl") != 0) || (*only && strcmp(only, name) != 0))
            continue;
        if (!devices[i].available) {
            SKIP(devices[i].reason);
            continue;
        }
        test_machine(name, devices[i].device, "", "", 0, 64);
        test_machine(name, devices[i].device,
                     is_vulkan ? "descriptors,staging,no-atomic64" : "staging,no-int64,no-fp64", "",
                     0, 250);
    }
    mpfr_free_cache();
    return test_done();
}
#else
int main(void) {
    SKIP("MPFR is not installed");
    return test_done();
}
#endif
