/* test: labels=threads */
/* Vendor steps of the CPU: how the library is opened, that products are as near as the expansion's,
 * and that threads, forks, little memory and the promise of bits leave nothing out. tests/tensor
 * has the shapes. */
#include "backends/cpu/vendor_internal.h"
#include "base/thread.h"
#include "runtime/step.h"
#include "support/runtime_support.h"
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
_Static_assert(sizeof(dnnl_memory_desc_t) <= sizeof(onednn_layout), "room for a layout");
_Static_assert(sizeof(dnnl_convolution_desc_t) <= sizeof(onednn_operation) &&
                   sizeof(dnnl_matmul_desc_t) <= sizeof(onednn_operation),
               "room for an operation");
_Static_assert(sizeof(dnnl_exec_arg_t) == sizeof(onednn_argument) &&
                   sizeof(dnnl_version_t) == sizeof(onednn_version),
               "the same structures");
_Static_assert(ONEDNN_BF16 == (int)dnnl_bf16 && ONEDNN_F32 == (int)dnnl_f32 &&
                   ONEDNN_QUERY_SCRATCHPAD == (int)dnnl_query_scratchpad_md &&
                   ONEDNN_QUERY_NAME == (int)dnnl_query_impl_info_str &&
                   ONEDNN_SCRATCHPAD == DNNL_ARG_SCRATCHPAD &&
                   ONEDNN_ISA_BF16 == (int)dnnl_cpu_isa_avx512_core_bf16 &&
                   ONEDNN_SCRATCHPAD_OF_USER == (int)dnnl_scratchpad_mode_user,
               "the same numbers");
#endif
#endif

/* ---- opening ---- */

static void check_refused(const char *name, const char *expected) {
    onednn_library library;
    char reason[256] = "";
    CHECK(!onednn_open(&name, 1, &library, reason));
    CHECK_MESSAGE(strstr(reason, expected) && strstr(reason, "apt-get install libdnnl2"), "%s: %s",
                  name, reason);
}

static void test_libraries_that_do_not_serve(void) {
    check_refused("libdnnl-that-is-not-there.so.2", "no oneDNN (");
    check_refused("libm.so.6", "has no dnnl_version");
    check_refused(HG_BUILD_DIR "/tests/libonednn_three.so",
                  "oneDNN 3.1.4 is installed, 2.x expected");
}

/* ---- products ---- */

enum { M = 70, N = 257, K = 133, MOST = M * K + K * N + M * N };

static hg_backend *open_cpu(const char *vendor, bool deterministic, uint64_t max_memory) {
    hg_config c = hg_config_default();
    hg_backend *b = NULL;
    snprintf(c.backend, sizeof c.backend, "cpu");
    snprintf(c.vendor, sizeof c.vendor, "%s", vendor);
    c.deterministic = deterministic;
    c.num_threads = 2;
    c.max_memory = max_memory;
    CHECK_OK(hg_backend_create_with_config(&c, &b));
    if (!b) exit(test_done());
    return b;
}

typedef struct job {
    hg_backend *b;
    hg_buffer c, a, x;
    hg_binding *binding;
    uint32_t m, n, k;
    hg_status status; /* of its launches by a thread */
} job;

static float values[MOST];

static void make_job(job *j, hg_backend *b, uint32_t m, uint32_t n, uint32_t k) {
    char text[512];
    hg_program *p;
    hg_executable *e = NULL;
    hg_params *params = hg_params_create();
    *j = (job){.b = b, .m = m, .n = n, .k = k};
    snprintf(text, sizeof text,
             PROGRAM(".param c buffer f32 inout\n.param a buffer f32 in\n.param x buffer f32 "
                     "in\n.lanes 1\n gemm.f32 c=c, a=a, b=x, m=%u, "
                     "n=%u, k=%u\n"),
             (unsigned)m, (unsigned)n, (unsigned)k);
    j->a = make_buffer(b, values, (uint64_t)m * k * 4);
    j->x = make_buffer(b, values + (size_t)M * K, (uint64_t)k * n * 4);
    j->c = make_buffer(b, NULL, (uint64_t)m * n * 4);
    CHECK_OK(hg_params_set_buffer(params, "c", j->c));
    CHECK_OK(hg_params_set_buffer(params, "a", j->a));
    CHECK_OK(hg_params_set_buffer(params, "x", j->x));
    p = assemble(text);
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &j->binding));
    hg_executable_destroy(e);
    hg_program_release(p);
    hg_params_destroy(params);
    if (!j->binding) exit(test_done());
}

static void free_job(job *j) {
    hg_binding_destroy(j->binding);
    CHECK_OK(hg_backend_free_buffer(j->b, j->c));
    CHECK_OK(hg_backend_free_buffer(j->b, j->a));
    CHECK_OK(hg_backend_free_buffer(j->b, j->x));
}

static bool is_vendor(const job *j) { return j->binding->steps.bound[0].by_driver; }

/* |error| <= (k + 4) u |a||b|, NaN where the sum is. */
static void check_product(const job *j) {
    float *got = calloc(M * N, sizeof *got);
    const float *a = values, *x = values + (size_t)M * K;
    uint32_t wrong = 0;
    CHECK(got != NULL);
    if (!got) return;
    CHECK_OK(hg_backend_copy_from_buffer(j->b, j->c, got, (uint64_t)j->m * j->n * 4));
    for (uint32_t r = 0; r < j->m; r++) {
        for (uint32_t c = 0; c < j->n; c++) {
            double sum = 0, size = 0;
            for (uint32_t i = 0; i < j->k; i++) {
                double product = (double)a[r * j->k + i] * (double)x[i * j->n + c];
                sum += product;
                size += fabs(product);
            }
            double g = (double)got[r * j->n + c];
            bool good = isnan(sum)   ? isnan(g)
                        : isinf(sum) ? g == sum
                                     : fabs(g - sum) <= (j->k + 4) * 0x1p-24 * size;
            wrong += !good;
        }
    }
    free(got);
    CHECK_MESSAGE(wrong == 0, "%u of %u elements of %u x %u x %u are wrong", (unsigned)wrong,
                  (unsigned)(j->m * j->n), (unsigned)j->m, (unsigned)j->n, (unsigned)j->k);
}

static void fill(void) {
    uint64_t seed = 7;
    for (uint32_t i = 0; i < MOST; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = (float)(int32_t)(seed >> 32) * 0x1p-31f;
    }
}

static void run_job(job *j) {
    for (int i = 0; i < 6; i++)
        CHECK_OK(hg_binding_launch(j->binding)); /* later ones are made ready */
    check_product(j);
}

static void test_products(void) {
    hg_backend *b = open_cpu("on", false, 0);
    static const uint32_t sizes[][3] = {{M, N, K}, {1, 1, 1},      {M, 1, K},
                                        {1, N, K}, {64, 256, 128}, {3, 200, 1}};
    for (size_t i = 0; i < HG_COUNT_OF(sizes); i++) {
        job j;
        make_job(&j, b, sizes[i][0], sizes[i][1], sizes[i][2]);
        CHECK(is_vendor(&j));
        run_job(&j);
        free_job(&j);
    }
    hg_backend_destroy(b);
}

static void test_values_that_are_no_numbers(void) {
    hg_backend *b = open_cpu("on", false, 0);
    job j;
    values[5 * K + 7] = NAN;
    values[9 * K + K - 1] = INFINITY;
    values[11 * K] = -INFINITY;
    make_job(&j, b, M, N, K);
    CHECK(is_vendor(&j));
    run_job(&j);
    free_job(&j);
    hg_backend_destroy(b);
    fill();
}

/* ---- who does it ---- */

static void test_choice(void) {
    static const struct {
        const char *vendor;
        bool deterministic, taken;
    } cases[] = {
        {"off", false, false}, {"on", true, false}, {"auto", true, false}, {"on", false, true}};
    float bits[2][16];
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        hg_backend *b = open_cpu(cases[i].vendor, cases[i].deterministic, 0);
        job j;
        make_job(&j, b, M, N, K);
        CHECK(is_vendor(&j) == cases[i].taken);
        run_job(&j);
        if (i < 2) CHECK_OK(hg_buffer_read(b, j.c, 0, bits[i], sizeof bits[i]));
        free_job(&j);
        hg_backend_destroy(b);
    }
    CHECK(memcmp(bits[0], bits[1], sizeof bits[0]) == 0);
    hg_config c = hg_config_default();
    hg_backend *b = NULL;
    snprintf(c.backend, sizeof c.backend, "cpu");
    snprintf(c.vendor, sizeof c.vendor, "maybe");
    CHECK_STATUS(hg_backend_create_with_config(&c, &b), HG_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(hg_last_error()->message, "expected auto, on or off") != NULL);
}

/* Where what it keeps does not fit, the expansion does it. */
static void test_little_memory(void) {
    hg_backend *b = open_cpu("on", false, 300 << 10);
    job j;
    make_job(&j, b, 16, 16, 16);
    hg_buffer rest = make_buffer(b, NULL, 64 << 10);
    job next;
    make_job(&next, b, 17, 16, 16);
    CHECK(is_vendor(&j) && !is_vendor(&next));
    run_job(&next);
    free_job(&j);
    free_job(&next);
    CHECK_OK(hg_backend_free_buffer(b, rest));
    hg_backend_destroy(b);
}

/* ---- slices ---- */

static vendor_tensor tensor_of(int rank, const int64_t *dims) {
    vendor_tensor t = {.rank = (uint8_t)rank, .type = ONEDNN_F32};
    int64_t stride = 1;
    for (int i = rank; i-- > 0; stride *= dims[i]) t.dims[i] = dims[i], t.strides[i] = stride;
    return t;
}

/* Slices lie side by side and are all of the result together. */
static void check_slices(const vendor_problem *p, uint32_t threads) {
    vendor_cut wanted;
    uint32_t count = vendor_slices(p, threads, &wanted);
    const vendor_tensor *whole = &p->tensor[VENDOR_RESULT];
    double elements = 0, all = 1;
    uint64_t next = 0;
    for (int i = 0; i < whole->rank; i++) all *= (double)whole->dims[i];
    for (uint32_t i = 0; i < count; i++) {
        vendor_slice slice;
        vendor_slice_get(p, wanted, i, &slice);
        const vendor_tensor *t = &slice.tensor[VENDOR_RESULT];
        double own = 1;
        bool inside = true;
        for (int d = 0; d < t->rank; d++)
            own *= (double)t->dims[d],
                inside = inside && t->dims[d] > 0 && t->dims[d] <= whole->dims[d];
        CHECK_MESSAGE(inside && (i == 0 || slice.offset[VENDOR_RESULT] >= next),
                      "%u of %u slices for %u threads", (unsigned)i, (unsigned)count,
                      (unsigned)threads);
        next = slice.offset[VENDOR_RESULT] + 4;
        elements += own;
    }
    CHECK_MESSAGE(elements == all, "%u slices have %.0f of %.0f elements", (unsigned)count,
                  elements, all);
}

static void test_slices(void) {
    static const int64_t sizes[] = {1, 7, 65, 500, 512, 1000, 4096, 30000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES * SIZES * SIZES; i++)
        for (uint32_t threads = 1; threads <= 96; threads += threads < 8 ? 1 : 44) {
            int64_t m = sizes[i % SIZES], n = sizes[i / SIZES % SIZES],
                    k = sizes[i / SIZES / SIZES];
            vendor_problem p = {.size = {(uint64_t)m, (uint64_t)n, (uint64_t)k, 1}};
            p.tensor[VENDOR_SOURCE] = tensor_of(2, (const int64_t[]){m, k});
            p.tensor[VENDOR_WEIGHTS] = tensor_of(2, (const int64_t[]){k, n});
            p.tensor[VENDOR_RESULT] = tensor_of(2, (const int64_t[]){m, n});
            check_slices(&p, threads);
            p.size[3] = 5;
            p.tensor[VENDOR_SOURCE] = tensor_of(3, (const int64_t[]){5, m, k});
            p.tensor[VENDOR_WEIGHTS] = tensor_of(3, (const int64_t[]){5, k, n});
            p.tensor[VENDOR_RESULT] = tensor_of(3, (const int64_t[]){5, m, n});
            check_slices(&p, threads);
        }
    vendor_problem huge = {.size = {8192, 8192, 8192, 1}};
    const int64_t side[] = {8192, 8192};
    huge.tensor[VENDOR_SOURCE] = huge.tensor[VENDOR_WEIGHTS] = huge.tensor[VENDOR_RESULT] =
        tensor_of(2, side);
    for (uint32_t threads = 1; threads <= 16; threads++) { /* 2^39 multiply-adds: no slice has more
                                                              than 2^36 */
        vendor_cut wanted;
        uint32_t count = vendor_slices(&huge, threads, &wanted);
        vendor_slice first;
        vendor_slice_get(&huge, wanted, 0, &first);
        CHECK_MESSAGE(first.tensor[VENDOR_RESULT].dims[1] <= 768 && count >= 11,
                      "%u slices for %u threads", (unsigned)count, (unsigned)threads);
    }
}

/* ---- threads and forks ---- */

/* What it comes to is looked at by one thread. */
static void *launch_all(void *user) {
    job *jobs = user;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 6 && jobs[i].status == HG_OK; k++)
            jobs[i].status = hg_binding_launch(jobs[i].binding);
    return NULL;
}

static void test_threads(void) {
    enum { THREADS = 3 };
    static job jobs[THREADS][4];
    hg_backend *b = open_cpu("on", false, 0);
    hg_thread threads[THREADS];
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < 4; i++) make_job(&jobs[t][i], b, M - t, N - i, K);
    for (uint32_t t = 0; t < THREADS; t++) CHECK(hg_thread_start(&threads[t], launch_all, jobs[t]));
    for (uint32_t t = 0; t < THREADS; t++) hg_thread_join(threads[t]);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < 4; i++) {
            CHECK_OK(jobs[t][i].status);
            check_product(&jobs[t][i]);
            free_job(&jobs[t][i]);
        }
    hg_backend_destroy(b);
}

/* A child goes on with what was made, and makes nothing more of it. */
static void test_fork(void) {
    hg_backend *b = open_cpu("on", false, 0);
    job j;
    make_job(&j, b, M, N, K);
    run_job(&j);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        job fresh;
        run_job(&j);
        make_job(&fresh, b, M - 1, N, K);
        CHECK(!is_vendor(&fresh));
        run_job(&fresh);
        free_job(&fresh);
        _exit(test_done());
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_MESSAGE(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %d",
                  status);
    run_job(&j);
    free_job(&j);
    hg_backend_destroy(b);
}

/* ThreadSanitizer ends a forked child that starts threads. */
static bool is_watched_for_races(void) {
#if defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}

int main(void) {
    char reason[256];
    fill();
    test_libraries_that_do_not_serve();
    test_slices();
    const onednn_library *l = onednn_get(reason);
    if (!l || (l->isa & ONEDNN_ISA_AVX2) != ONEDNN_ISA_AVX2) {
        printf("skipped: %s\n", l ? "oneDNN has no products of its own for this CPU" : reason);
        return test_done();
    }
    test_products();
    test_values_that_are_no_numbers();
    test_choice();
    test_little_memory();
    test_threads();
    if (!is_watched_for_races()) test_fork();
    return test_done();
}
