/* Programs on several devices, all of them the CPU (HOLOGRAM_PRETEND=devices=4): each strategy has
 * the bits of one device; what cannot be is said with its numbers. */
/* test: timeout=300 */
#include "runtime/exchange.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdlib.h>

static const char MLP[] = ".atlas 1\n.program mlp\n"
                          ".param x buffer f32 in [b, 24]\n.param w buffer f32 in [24, 40]\n"
                          ".param v buffer f32 in [40, 8]\n.param y buffer f32 out [b, 8]\n"
                          ".param b u64\n.scratch h f32 [b, 40]\n"
                          "    gemm c=h, a=x, b=w, m=b, n=40, k=24\n"
                          "    let count = b * 40\n"
                          "    parallel_map h, h, gelu, count\n"
                          "    gemm c=y, a=h, b=v, m=b, n=8, k=40\n"
                          "    softmax output=y, input=y, n=8, rows=b\n";

enum { ROWS = 37, X = ROWS * 24, W = 24 * 40, V = 40 * 8, Y = ROWS * 8 };

static hg_program *assemble(const char *text) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(3);
    if (hg_program_assemble(text, strlen(text), d, &p) != HG_OK) {
        test_failed++;
        fprintf(stderr, "%s\n", hg_last_error_text());
    }
    hg_diagnostics_destroy(d);
    return p;
}

typedef struct arrays {
    hg_backend *backend;
    hg_params *params;
    hg_buffer x, w, v, y;
} arrays;

static void fill(hg_backend *backend, hg_buffer *to, hg_params *params, const char *name,
                 uint32_t count, uint32_t seed) {
    float *data = malloc(count * sizeof *data);
    for (uint32_t i = 0; i < count; i++)
        data[i] = (float)((i * 2654435761u + seed) >> 8 & 0xFFFF) / 65536.0f - 0.5f;
    CHECK(hg_backend_allocate_buffer(backend, count * 4, to) == HG_OK);
    CHECK(hg_buffer_write(backend, *to, 0, data, count * 4) == HG_OK);
    CHECK(hg_params_set_buffer(params, name, *to) == HG_OK);
    free(data);
}

static void make_arrays(hg_backend *backend, arrays *a) {
    const uint64_t rows = ROWS;
    *a = (arrays){.backend = backend, .params = hg_params_create()};
    fill(backend, &a->x, a->params, "x", X, 1);
    fill(backend, &a->w, a->params, "w", W, 2);
    fill(backend, &a->v, a->params, "v", V, 3);
    fill(backend, &a->y, a->params, "y", Y, 4);
    CHECK(hg_params_set_scalar(a->params, "b", HG_TYPE_U64, &rows) == HG_OK);
}

static void free_arrays(arrays *a) {
    hg_params_destroy(a->params);
    CHECK(hg_backend_free_buffer(a->backend, a->x) == HG_OK);
    CHECK(hg_backend_free_buffer(a->backend, a->w) == HG_OK);
    CHECK(hg_backend_free_buffer(a->backend, a->v) == HG_OK);
    CHECK(hg_backend_free_buffer(a->backend, a->y) == HG_OK);
}

static float expected[Y];

static void run_alone(hg_program *program) {
    hg_backend *backend = NULL;
    arrays a;
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "cpu");
    CHECK(hg_backend_create_with_config(&config, &backend) == HG_OK);
    make_arrays(backend, &a);
    hg_launch launch = hg_launch_default();
    CHECK(hg_backend_execute_program_with_params(backend, program, &launch, a.params) == HG_OK);
    CHECK(hg_buffer_read(backend, a.y, 0, expected, sizeof expected) == HG_OK);
    free_arrays(&a);
    hg_backend_destroy(backend);
}

static void check_output(const arrays *a, const char *what) {
    static float y[Y];
    CHECK(hg_buffer_read(a->backend, a->y, 0, y, sizeof y) == HG_OK);
    CHECK_MESSAGE(memcmp(y, expected, sizeof y) == 0, "%s differs from one device", what);
    memset(y, 0xA5, sizeof y);
    CHECK(hg_buffer_write(a->backend, a->y, 0, y, sizeof y) == HG_OK);
}

static void expect(hg_status status, const char *words, const char *what) {
    CHECK_MESSAGE(status != HG_OK && strstr(hg_last_error_text(), words),
                  "%s: expected \"%s\", got \"%s\"", what, words, hg_last_error_text());
}

static void check_strategies(hg_multi_gpu *m, hg_program *program, const arrays *a) {
    static const hg_placement columns[] = {{"w", "split 1"}, {"v", "split 0"}},
                              both[] = {{"x", "split 0 at (1, 5, 30)"}, {"v", "split 1"}};
    static const size_t points[] = {1, 2, 3};
    char what[80];
    for (int s = HG_DISTRIBUTION_DATA_PARALLEL; s <= HG_DISTRIBUTION_HYBRID; s++) {
        CHECK_MESSAGE(
            hg_multi_gpu_execute(m, program, NULL, a->params, NULL, 0, (hg_distribution)s) == HG_OK,
            "strategy %d: %s", s, hg_last_error_text());
        snprintf(what, sizeof what, "strategy %d", s);
        check_output(a, what);
    }
    CHECK(hg_multi_gpu_execute(m, program, NULL, a->params, columns, 2, HG_DISTRIBUTION_HYBRID) ==
          HG_OK);
    check_output(a, "columns and rows");
    if (hg_multi_gpu_count(m) == 4) {
        CHECK(hg_multi_gpu_execute(m, program, NULL, a->params, both, 2,
                                   HG_DISTRIBUTION_DATA_PARALLEL) == HG_OK);
        check_output(a, "batch and columns");
    }
    CHECK(hg_multi_gpu_data_parallel(m, program, NULL, a->params, NULL, 0, ROWS) == HG_OK);
    check_output(a, "one batch");
    for (size_t count = 0; count < hg_multi_gpu_count(m) && count <= 3; count++) {
        CHECK_MESSAGE(hg_multi_gpu_model_parallel(m, program, NULL, a->params, points, count) ==
                          HG_OK,
                      "%zu points: %s", count, hg_last_error_text());
        snprintf(what, sizeof what, "%zu split points", count);
        check_output(a, what);
    }
    for (size_t stages = 1; stages <= hg_multi_gpu_count(m); stages++) {
        CHECK_MESSAGE(hg_multi_gpu_pipeline_parallel(m, program, NULL, a->params, stages) == HG_OK,
                      "%zu stages: %s", stages, hg_last_error_text());
        snprintf(what, sizeof what, "%zu stages", stages);
        check_output(a, what);
    }
}

static void check_weights(hg_multi_gpu *m, hg_program *program, const arrays *a) {
    static const double weights[] = {1, 0, 2.5, 0.25}, wrong[] = {1, -1, 1, 1}, none[4] = {0};
    CHECK(hg_multi_gpu_weights(m, weights, 4) == HG_OK);
    CHECK(hg_multi_gpu_data_parallel(m, program, NULL, a->params, NULL, 0, 0) == HG_OK);
    check_output(a, "weights");
    expect(hg_multi_gpu_weights(m, wrong, 4), "weight 1 is -1", "a weight below 0");
    expect(hg_multi_gpu_weights(m, none, 4), "add up to 0", "no weight");
    expect(hg_multi_gpu_weights(m, weights, 3), "3 weights of 4 devices", "too few weights");
}

static void check_mistakes(hg_multi_gpu *m, hg_program *program, const arrays *a) {
    static const size_t far[] = {1, 9}, same[] = {2, 2}, four[] = {1, 2, 3, 4};
    static const hg_placement nobody[] = {{"q", "split 0"}}, bad[] = {{"x", "split 5"}},
                              cuts[] = {{"x", "split 0 at (3)"}};
    hg_params *empty = hg_params_create();
    hg_launch launch = hg_launch_linear(64);
    expect(hg_multi_gpu_model_parallel(m, program, NULL, a->params, far, 2),
           "split point 1 is instruction 9: from 2 to ", "a far point");
    expect(hg_multi_gpu_model_parallel(m, program, NULL, a->params, same, 2),
           "split point 1 is instruction 2: from 3 to ", "a point twice");
    expect(hg_multi_gpu_model_parallel(m, program, NULL, a->params, four, 4),
           "4 split points on 4 devices: at most 3", "too many points");
    expect(hg_multi_gpu_pipeline_parallel(m, program, NULL, a->params, 5),
           "5 stages on 4 devices: from 1 to 4 expected", "too many stages");
    expect(hg_multi_gpu_pipeline_parallel(m, program, NULL, a->params, 0), "0 stages on 4 devices",
           "no stage");
    expect(hg_multi_gpu_data_parallel(m, program, NULL, a->params, NULL, 0, 9),
           "a batch size of 9 on 4 devices makes 36 of a batch of 37: at least 10 expected",
           "a small batch");
    expect(hg_multi_gpu_data_parallel(m, program, NULL, a->params, nobody, 1, 0),
           "placement of 'q'", "an unknown parameter");
    expect(hg_multi_gpu_data_parallel(m, program, NULL, a->params, bad, 1, 0),
           "the array has 2 axes", "an axis that is not there");
    expect(hg_multi_gpu_data_parallel(m, program, NULL, a->params, cuts, 1, 0), "there are 4 ranks",
           "one cut");
    expect(hg_multi_gpu_data_parallel(m, program, NULL, empty, NULL, 0, 0),
           "'b' of the program is not given", "no parameter");
    expect(hg_multi_gpu_data_parallel(m, program, &launch, a->params, NULL, 0, 0), "64 lanes",
           "lanes");
    expect(hg_multi_gpu_execute(m, program, NULL, a->params, NULL, 0, (hg_distribution)7),
           "strategy 7 is none", "an unknown strategy");
    hg_params_destroy(empty);
    CHECK(hg_multi_gpu_data_parallel(m, program, NULL, a->params, NULL, 0, 0) == HG_OK);
    check_output(a, "after mistakes");
}

/* Numbers with a default, and what is no parameter of the program. */
static void check_params(hg_multi_gpu *m) {
    static const char SCALED[] = ".atlas 1\n.program scaled\n.param x buffer f32 in [n]\n"
                                 ".param y buffer f32 out [n]\n.param n u64 = 6\n"
                                 ".param factor f32 = 2.0\n.lanes n\n"
                                 "    y[global] = x[global] * factor\n";
    static const float x[6] = {1, 2, 3, 4, 5, 6}, two = 2, three = 3;
    static const uint64_t far = UINT64_C(1) << 40;
    static const hg_placement sum[] = {{"x", "partial sum"}};
    hg_backend *backend = hg_multi_gpu_backend(m, 0);
    hg_program *program = assemble(SCALED);
    hg_params *params = hg_params_create();
    hg_buffer in, out;
    float y[6] = {0};
    CHECK(hg_backend_allocate_buffer(backend, sizeof x, &in) == HG_OK);
    CHECK(hg_backend_allocate_buffer(backend, sizeof x, &out) == HG_OK);
    CHECK(hg_buffer_write(backend, in, 0, x, sizeof x) == HG_OK);
    CHECK(hg_params_set_buffer(params, "x", in) == HG_OK);
    CHECK(hg_params_set_buffer(params, "y", out) == HG_OK);
    CHECK_MESSAGE(hg_multi_gpu_data_parallel(m, program, NULL, params, NULL, 0, 0) == HG_OK, "%s",
                  hg_last_error_text());
    CHECK(hg_buffer_read(backend, out, 0, y, sizeof y) == HG_OK);
    for (int i = 0; i < 6; i++) CHECK(y[i] == 2 * x[i]);
    expect(hg_multi_gpu_execute(m, program, NULL, params, sum, 1, HG_DISTRIBUTION_HYBRID),
           "placement of 'x': partial sum: the caller has one array", "partial");
    CHECK(hg_params_set_scalar(params, "factor", HG_TYPE_F32, &two) == HG_OK);
    CHECK(hg_multi_gpu_data_parallel(m, program, NULL, params, NULL, 0, 0) == HG_OK);
    CHECK(hg_params_set_scalar(params, "factor", HG_TYPE_F32, &three) == HG_OK);
    expect(hg_multi_gpu_data_parallel(m, program, NULL, params, NULL, 0, 0),
           "'factor' has a default in the program", "another number than the default");
    CHECK(hg_params_set_scalar(params, "factor", HG_TYPE_F32, &two) == HG_OK);
    CHECK(hg_params_set_scalar(params, "n", HG_TYPE_F32, &three) == HG_OK);
    expect(hg_multi_gpu_data_parallel(m, program, NULL, params, NULL, 0, 0),
           "parameter 'n' is u64, given f32", "a number of another type");
    CHECK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &far) == HG_OK);
    expect(hg_multi_gpu_data_parallel(m, program, NULL, params, NULL, 0, 0),
           "buffer 'x': its extents need 4398046511104 bytes, it has 24", "a short buffer");
    hg_params_destroy(params);
    params = hg_params_create();
    CHECK(hg_params_set_buffer(params, "x", in) == HG_OK);
    CHECK(hg_params_set_buffer(params, "y", out) == HG_OK);
    CHECK(hg_params_set_buffer(params, "q", out) == HG_OK);
    expect(hg_multi_gpu_data_parallel(m, program, NULL, params, NULL, 0, 0),
           "unknown parameter: 'q'", "a parameter that is not there");
    hg_params_destroy(params);
    CHECK(hg_backend_free_buffer(backend, in) == HG_OK);
    CHECK(hg_backend_free_buffer(backend, out) == HG_OK);
    hg_program_release(program);
}

static void check_devices(hg_program *program) {
    static const uint32_t devices[] = {0, 1, 2, 3}, missing[] = {0, 4};
    for (size_t count = 1; count <= 4; count++) {
        hg_multi_gpu *m = NULL;
        arrays a;
        CHECK_MESSAGE(hg_multi_gpu_create("cpu", devices, count, &m) == HG_OK, "%zu devices: %s",
                      count, hg_last_error_text());
        if (!m) return;
        CHECK_U64(hg_multi_gpu_count(m), count);
        CHECK(!hg_multi_gpu_backend(m, (uint32_t)count));
        make_arrays(hg_multi_gpu_backend(m, 0), &a);
        check_strategies(m, program, &a);
        if (count == 4) {
            check_weights(m, program, &a);
            check_mistakes(m, program, &a);
            check_params(m);
        }
        free_arrays(&a);
        hg_multi_gpu_destroy(m);
    }
    hg_multi_gpu *m = NULL;
    expect(hg_multi_gpu_create("cpu", missing, 2, &m), "Backend not available", "device 4");
    expect(hg_multi_gpu_create("nowhere", missing, 1, &m), "nowhere", "a backend");
    expect(hg_multi_gpu_create("cpu", missing, 0, &m), "0 devices: from 1 to 256", "none");
    expect(hg_multi_gpu_create("cpu", missing, 257, &m), "257 devices", "too many");
}

/* The same device of OpenCL twice: the CPU's bits. */
static void check_opencl(hg_program *program) {
    static const uint32_t devices[] = {0, 1};
    static const hg_placement columns[] = {{"w", "split 1"}, {"v", "split 0"}};
    hg_multi_gpu *m = NULL;
    arrays a;
    setenv("HOLOGRAM_DETERMINISTIC", "true", 1);
    if (hg_multi_gpu_create("opencl", devices, 2, &m) != HG_OK) {
        SKIP(hg_last_error_text());
        return;
    }
    make_arrays(hg_multi_gpu_backend(m, 0), &a);
    CHECK_MESSAGE(hg_multi_gpu_execute(m, program, NULL, a.params, columns, 2,
                                       HG_DISTRIBUTION_HYBRID) == HG_OK,
                  "%s", hg_last_error_text());
    check_output(&a, "columns on OpenCL");
    free_arrays(&a);
    hg_multi_gpu_destroy(m);
}

/* Alone: a cluster of one. */
static void check_distributed(hg_program *program) {
    static const char *const addresses[] = {"first:1", "second:2"};
    hg_distributed *d = NULL;
    arrays a;
    expect(hg_distributed_create(addresses, 2, "cpu", &d), "Backend not available: second:2",
           "a node that does not answer");
    expect(hg_distributed_create(addresses, 0, "cpu", &d), "0 addresses: one for each rank",
           "no address");
    CHECK(hg_distributed_create(addresses, 1, "cpu", &d) == HG_OK);
    make_arrays(hg_distributed_backend(d), &a);
    for (int s = HG_CLUSTER_REPLICATED; s <= HG_CLUSTER_HYBRID; s++) {
        CHECK(hg_distributed_execute_cluster(d, program, NULL, a.params, NULL, 0,
                                             (hg_cluster_strategy)s) == HG_OK);
        check_output(&a, "a cluster of one");
    }
    CHECK(hg_distributed_all_gather(d, a.x, 64, a.y) == HG_OK);
    CHECK(hg_distributed_all_reduce(d, a.x, HG_TYPE_F32, 16, HG_COMM_ADD) == HG_OK);
    CHECK(hg_distributed_broadcast(d, a.x, 64, 0) == HG_OK);
    expect(hg_distributed_broadcast(d, a.x, 64, 1), "1", "a root that is not there");
    float x[16], y[16];
    CHECK(hg_buffer_read(a.backend, a.x, 0, x, 64) == HG_OK);
    CHECK(hg_buffer_read(a.backend, a.y, 0, y, 64) == HG_OK);
    CHECK(memcmp(x, y, 64) == 0);
    free_arrays(&a);
    hg_distributed_destroy(d);
    hg_distributed_destroy(NULL);
    hg_multi_gpu_destroy(NULL);
}

int main(void) {
    setenv("HOLOGRAM_PRETEND", "devices=4", 1);
    hg_exchange_least_apart = 0;
    hg_program *program = assemble(MLP);
    if (!program) return test_done();
    run_alone(program);
    check_devices(program);
    check_distributed(program);
    check_opencl(program);
    hg_program_release(program);
    return test_done();
}
