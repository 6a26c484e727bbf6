/* The numeric probe on devices whose numbers are known: the CPU's are exact, in poor mode it
 * flushes subnormals. */
#include "probe/probe_internal.h"
#include "runtime/backend.h"
#include "support/runtime_support.h"

static hg_backend *open_pretending(const char *pretend) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    set_pretend(&config, pretend);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) exit(test_done());
    return b;
}

static void check_nothing_inexact(const hg_probe_result *r) {
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++)
            CHECK_MESSAGE(!r->inexact[op][f64], "%s.%s is called inexact", kir_op_name((kir_op)op),
                          f64 ? "f64" : "f32");
}

static void exact_stays_exact(void) {
    hg_backend *b = open_pretending("");
    hg_probe_result r;
    CHECK_OK(hg_backend_probe(b, &r));
    CHECK_U64(r.differences, 0);
    CHECK(!r.flushes && !r.half && !r.fma[0] && !r.fma[1]);
    check_nothing_inexact(&r);
    kir_caps before = b->caps->compiler.kir, after = before;
    hg_probe_apply(&r, &after);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    hg_backend_destroy(b);
}

/* A driver that promises subnormals and does not keep them; everything else about poor mode is
 * right. */
static void flushing_is_found(void) {
    hg_backend *b = open_pretending("poor");
    hg_probe_result r;
    CHECK(!b->caps->compiler.kir.subnormals);
    CHECK_OK(hg_backend_probe(b, &r));
    CHECK_U64(r.differences, 0); /* lowered for a device that flushes: the right bits */
    b->own_caps.compiler.kir.subnormals = true;
    CHECK_OK(hg_backend_probe(b, &r));
    CHECK(r.differences > 0);
    CHECK(r.flushes);
    check_nothing_inexact(&r);
    hg_probe_apply(&r, &b->own_caps.compiler.kir);
    CHECK(!b->caps->compiler.kir.subnormals);
    CHECK_OK(hg_backend_probe(b, &r));
    CHECK_U64(r.differences, 0);
    hg_backend_destroy(b);
}

/* Operations lowered one by one give the probe nothing to find either. */
static void lowered_is_exact(void) {
    hg_backend *b = open_pretending("");
    hg_probe_result r = {.half = true, .fma = {true, true}}, found;
    static const kir_op OPS[] = {KIR_FADD, KIR_FMUL, KIR_FDIV,  KIR_FSQRT,  KIR_F2F,
                                 KIR_F2U,  KIR_S2F,  KIR_FRINT, KIR_FCMP_LT};
    for (size_t i = 0; i < HG_COUNT_OF(OPS); i++) r.inexact[OPS[i]][i % 2] = true;
    r.inexact[KIR_F2F][1] = true;
    hg_probe_apply(&r, &b->own_caps.compiler.kir);
    CHECK(!b->caps->compiler.kir.fma32 && !b->caps->compiler.kir.fma64 &&
          !b->caps->compiler.kir.half && b->caps->compiler.kir.inexact[KIR_FMUL][1]);
    CHECK_OK(hg_backend_probe(b, &found));
    CHECK_U64(found.differences, 0);
    hg_backend_destroy(b);
}

/* Devices that have products of four bytes: they are right, or else pretend not to be and are given
 * none. */
static void wrong_products_are_found(void) {
    static const char *const BACKENDS[] = {"vulkan", "opencl", "cuda"}, *const PRETEND[] = {
                                                                            "", "wrong-dot4"};
    for (size_t i = 0; i < HG_COUNT_OF(BACKENDS); i++) {
        bool has[2] = {false, false};
        for (int k = 0; k < 2; k++) {
            hg_config config = hg_config_default();
            hg_backend *b = NULL;
            hg_probe_result r;
            snprintf(config.backend, sizeof config.backend, "%s", BACKENDS[i]);
            set_pretend(&config, PRETEND[k]);
            if (hg_backend_create_with_config(&config, &b) != HG_OK) {
                printf("skipped %s: %s\n", BACKENDS[i], hg_last_error()->message);
                break;
            }
            has[k] = b->caps->compiler.kir.dot4;
            CHECK_OK(hg_backend_probe(b, &r));
            CHECK(!r.dot4); /* what it is used for now is right */
            CHECK(!b->caps->hints.dot4 || has[k]);
            hg_backend_destroy(b);
        }
        printf("%s: products of four bytes %s\n", BACKENDS[i],
               has[0] ? "of the device" : "decomposed");
        CHECK(!has[1]);
    }
}

/* A device that computes nothing (Dawn's backend without a driver): the record of faults that it
 * leaves says one. */
static void faulting_is_refused(void) {
    hg_backend *b = open_pretending("");
    hg_probe_device device = {.caps = &b->caps->compiler.kir, .identity = ""};
    hg_probe *probe = NULL;
    hg_probe_launch *launch = NULL;
    hg_probe_result r;
    kir_module *m = NULL;
    CHECK_OK(hg_probe_create(&device, &probe));
    CHECK_OK(hg_probe_next(probe, &m, &launch, &r));
    CHECK(m != NULL);
    kir_module_destroy(m);
    launch->faulted = true;
    CHECK_STATUS(hg_probe_next(probe, &m, &launch, &r), HG_ERROR_BACKEND_UNAVAILABLE);
    CHECK(strstr(hg_error_record()->message, "the device cannot compute"));
    CHECK(m == NULL);
    hg_probe_destroy(probe);
    hg_backend_destroy(b);
}

/* What a device answers: the right bits, which lie in front of where its own go, but for some of
 * one test. */
static void answer(const kir_caps *caps, hg_probe_launch *launch, int wrong) {
    int columns[2][PROBE_TEST_COUNT];
    uint32_t count;
    const uint64_t bytes = launch->result_bytes;
    kir_module_destroy(hg_probe_kernel(caps, columns, &count));
    CHECK_U64(bytes, (uint64_t)count * PROBE_LANES * 8);
    memcpy(launch->results, launch->results - bytes, (size_t)bytes);
    if (wrong >= 0) /* numbers at chance stand at the end: none of them is subnormal */
        launch->results[((size_t)columns[0][wrong] * PROBE_LANES + PROBE_LANES - 1) * 8] ^= 1;
}

static void note_target(void *user, const hg_probe_result *found) {
    *(hg_probe_result *)user = *found;
}

/* Operations that are right by themselves and wrong together: the device is asked again, with
 * results that its compiler does not see, and what is wrong then is lowered. */
static void rewriting_is_found(void) {
    static const struct {
        int first, again; /* tests with a wrong result; -1: none */
        bool rewrites, inexact;
    } cases[] = {{-1, -1, false, false},       {T_SUM, -1, true, false},
                 {T_MUL_ADD, -1, true, false}, {T_SUM_CONSTANTS, T_SUM, true, true},
                 {T_ADD, -1, false, true},     {T_PLUS_ZERO, -1, false, false}};
    hg_backend *b = open_pretending("");
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        const kir_caps *caps = &b->caps->compiler.kir;
        hg_probe_result told = {.max_rounds = 1}, r;
        hg_probe_device device = {
            .caps = caps, .identity = "", .user = &told, .set_target = note_target};
        hg_probe_launch *launch = NULL;
        hg_probe *probe = NULL;
        kir_module *m = NULL;
        CHECK_OK(hg_probe_create(&device, &probe));
        for (int k = 0; k < (cases[i].rewrites ? 2 : 1); k++) {
            CHECK_OK(hg_probe_next(probe, &m, &launch, &r));
            CHECK_U64(told.rewrites, k > 0);
            CHECK_U64(launch->lanes, PROBE_LANES);
            kir_module_destroy(m);
            answer(caps, launch, k ? cases[i].again : cases[i].first);
        }
        CHECK_OK(hg_probe_next(probe, &m, &launch, &r)); /* about loops */
        CHECK(launch->lanes == PROBE_GROUP && told.max_rounds == 0);
        CHECK_U64(told.rewrites, cases[i].rewrites);
        CHECK_U64(told.inexact[KIR_FADD][0], cases[i].inexact);
        CHECK_U64(told.folds_zeros, cases[i].first == T_PLUS_ZERO);
        kir_module_destroy(m);
        hg_probe_destroy(probe);
    }
    hg_backend_destroy(b);
}

int main(void) {
    exact_stays_exact();
    flushing_is_found();
    lowered_is_exact();
    wrong_products_are_found();
    faulting_is_refused();
    rewriting_is_found();
    return test_done();
}
