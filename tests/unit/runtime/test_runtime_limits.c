/* test: timeout=300
 * Time-outs and cancels of whole-array instructions on the host's threads: each ends with F08 or
 * F11 and says what was asked for, long before it would be over. What does not fit its arrays is
 * refused before anything is made for it. */
#include "support/runtime_support.h"
#include "base/thread.h"

#define ARRAYS ".param a buffer f32 inout [n]\n.param n u64\n"
#define SCRATCH ".scratch o f32 [n]\n"

/* Over arrays of 2^24 zeros: each takes 100 ms and more on one thread. */
static const struct {
    const char *name, *text;
} STEPS[] = {
    {"gemm", ARRAYS SCRATCH " gemm.f32 c=o, a=a, b=a, m=3000, n=3000, k=3000\n"},
    {"gemm of f64", ".param a buffer f64 in [n]\n.param n u64\n.scratch o f64 [n]\n gemm.f64 c=o, "
                    "a=a, b=a, m=2000, n=2000, k=2000\n"},
    {"quantized_gemm", ".param a buffer i8 in [n]\n.param n u64\n.scratch o i8 [n]\n"
                       " quantized_gemm.i8 c=o, a=a, b=a, a_scale=1.0, b_scale=1.0, c_scale=1.0, "
                       "m=4000, n=4000, k=4000\n"},
    {"conv2d", ARRAYS SCRATCH " conv2d.f32 output=o, input=a, kernel=a, batch=1, in_channels=1, "
                              "out_channels=1, height=2000, width=2000,"
                              " kernel_h=60, kernel_w=60, stride=(1, 1), padding=(0, 0)\n"},
    {"attention", ARRAYS SCRATCH " attention.f32 output=o, query=a, key=a, value=a, batch=1, "
                                 "heads=1, seq_len=15000, head_dim=64\n"},
    {"fft",
     ARRAYS SCRATCH " fft.f32 output=o, input=a, n=8388593, inverse=false, batch=1, real=false\n"},
    {"two steps", ARRAYS SCRATCH " gemm.f32 c=o, a=a, b=a, m=3000, n=3000, k=3000\n gemm.f32 c=o, "
                                 "a=a, b=a, m=3000, n=3000, k=3000\n"},
    {"maps", ARRAYS " parallel_map.f32 a, a, tan, 16777216\n parallel_map.f32 a, a, erf, "
                    "16777216\n parallel_map.f32 a, a, exp, 16777216\n"},
    {"a map of f64", ".param a buffer f64 inout [n]\n.param n u64\n parallel_map.f64 a, a, erf, "
                     "8388608\n parallel_map.f64 a, a, tan, 8388608\n"},
};

enum { COUNT = 1 << 24 };

static hg_backend *open_one_thread(const char *jit) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    memcpy(config.vendor, "off", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.num_threads = 1;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    return b;
}

static hg_program *program_of(const char *body) {
    char text[2048];
    hg_program *p = NULL;
    snprintf(text, sizeof text, ".atlas 1\n.program p\n%s", body);
    if (hg_program_assemble(text, strlen(text), NULL, &p) != HG_OK) return NULL;
    return p;
}

static hg_params *params_of(hg_buffer a, uint64_t n) {
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "a", a));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    return params;
}

static void test_timeouts(hg_backend *b, const char *jit) {
    hg_buffer a = make_buffer(b, NULL, (uint64_t)COUNT * 4);
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        bool wide = strstr(STEPS[i].text, "f64") != NULL;
        hg_params *params = params_of(a, wide ? COUNT / 2 : COUNT);
        hg_program *p = program_of(STEPS[i].text);
        hg_launch launch = HG_LAUNCH_INIT;
        launch.timeout_ms = 20;
        CHECK_MESSAGE(p != NULL, "%s: %s", STEPS[i].name, hg_last_error_text());
        for (int round = 0; p && round < 2; round++) { /* the second finds code, and what was kept
                                                          of the first */
            hg_status status = hg_backend_execute_program_with_params(b, p, &launch, params);
            const hg_error *e = hg_last_error();
            CHECK_MESSAGE(status == HG_ERROR_EXECUTION_FAILED && strcmp(e->code, "F08") == 0 &&
                              strcmp(e->message, "timeout after 20 ms") == 0,
                          "%s, jit %s: %s", STEPS[i].name, jit,
                          status == HG_OK ? "it ran to its end" : hg_last_error_text());
        }
        hg_program_release(p);
        hg_params_destroy(params);
    }
    CHECK_OK(hg_backend_free_buffer(b, a));
}

static void test_cancels(hg_backend *b) {
    hg_buffer a = make_buffer(b, NULL, (uint64_t)COUNT * 4);
    hg_params *params = params_of(a, COUNT);
    hg_program *p = program_of(STEPS[0].text);
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_event *event = NULL;
    hg_launch launch = HG_LAUNCH_INIT;
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    CHECK_OK(hg_binding_start(binding, NULL, &event));
    hg_event_cancel(event);
    CHECK_FAILS(hg_event_wait(event), HG_ERROR_EXECUTION_FAILED, "F11", "cancelled");
    hg_event_destroy(event);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_program_release(p);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, a));
}

/* Batches of which not one in a million fits. */
static void test_sizes(hg_backend *b) {
    static const uint64_t LENGTHS[] = {1, 17, 31, 64, 1009},
                          BATCHES[] = {UINT64_C(1) << 32, (UINT64_C(1) << 40) - 1,
                                       UINT64_C(1) << 40};
    hg_buffer a = make_buffer(b, NULL, 16);
    for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++)
        for (size_t k = 0; k < sizeof BATCHES / sizeof *BATCHES; k++)
            for (int known = 0; known < 2; known++) {
                char text[512];
                uint64_t n = BATCHES[k];
                snprintf(text, sizeof text,
                         ".param a buffer f32 inout\n.param n u64\n fft.f32 output=a, input=a, "
                         "n=%" PRIu64 ", inverse=false, batch=%s%.0" PRIu64 ", real=false\n",
                         LENGTHS[i], known ? "" : "n", known ? n : 0);
                hg_program *p = program_of(text);
                hg_params *params = params_of(a, n);
                hg_launch launch = HG_LAUNCH_INIT;
                CHECK_MESSAGE(p != NULL, "%s", hg_last_error_text());
                if (p)
                    CHECK_STATUS(hg_backend_execute_program_with_params(b, p, &launch, params),
                                 HG_ERROR_EXECUTION_FAILED);
                if (p) CHECK_TEXT(hg_last_error()->code, "F01");
                hg_program_release(p);
                hg_params_destroy(params);
            }
    CHECK_OK(hg_backend_free_buffer(b, a));
}

int main(void) {
    hg_backend *b = open_one_thread("off");
    test_timeouts(b, "off");
    test_cancels(b);
    test_sizes(b);
    hg_backend_destroy(b);
    b = open_one_thread("on");
    test_timeouts(b, "on");
    test_cancels(b);
    hg_backend_destroy(b);
    return test_done();
}
