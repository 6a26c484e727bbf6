/* Whole-array instructions whose output shares memory with an input: refused before anything is
 * written, or the bits of arrays apart, as the instruction says. And memory that runs out: an error
 * before anything is written, or the right bits. On the CPU and on devices that are there.
 * test: labels=slow */
#include "base/base.h"
#include "support/runtime_support.h"

enum { PLACE = 4096, ARRAYS = 8, BYTES = PLACE * ARRAYS };

/* text: %0 is the output, %1 and so on the inputs; sizes: their bytes, ended by 0. whole: how many
 * inputs are values of any kind; those behind them are indices, which overlap nothing here. */
typedef struct work {
    const char *text;
    bool refused;
    uint16_t sizes[ARRAYS];
    uint8_t whole;
} work;

static const work WORKS[] = {
    {"gemm.f32 c=%0, a=%1, b=%2, m=5, n=7, k=6, beta=0.5, bias=%3", true, {140, 120, 168, 28}, 3},
    {"gemm.f32 c=%0, a=%1, b=%2, m=5, n=0, k=6", true, {0, 120}, 1},
    {"gemm.f32 c=%0, a=%1, b=%2, m=5, n=7, k=0", true, {140, 0}, 1},
    {"gemm.f64 c=%0, a=%1, b=%2, m=3, n=4, k=2", true, {96, 48, 64}, 2},
    {"batched_gemm.f32 c=%0, a=%1, b=%2, batch=2, m=3, n=4, k=5", true, {96, 120, 160}, 2},
    {"mixed_precision_gemm.bf16 c=%0, a=%1, b=%2, m=3, n=4, k=5", true, {48, 30, 40}, 2},
    {"conv2d.f32 output=%0, input=%1, kernel=%2, batch=1, in_channels=2, out_channels=3, height=5, "
     "width=6, kernel_h=3, kernel_w=3, "
     "stride=(1, 1), "
     "padding=(1, 1)",
     true,
     {360, 240, 216},
     2},
    {"conv.f32 output=%0, input=%1, kernel=%2, batch=1, in_channels=2, out_channels=3, size=(2, 3, "
     "4), window=(2, 2, 1)",
     true,
     {96, 192, 96},
     2},
    {"conv_transpose.f32 output=%0, input=%1, kernel=%2, batch=1, in_channels=2, out_channels=3, "
     "size=(3, 4), window=(2, 2), stride=(2, 1)",
     true,
     {360, 96, 96},
     2},
    {"max_pool.f32 output=%0, input=%1, planes=2, size=(6), window=(3)", false, {32, 48}, 1},
    {"avg_pool.f32 output=%0, input=%1, planes=2, size=(6), window=(3)", false, {32, 48}, 1},
    {"attention.f32 output=%0, query=%1, key=%2, value=%3, batch=1, heads=2, seq_len=5, "
     "head_dim=4, mask=%4",
     true,
     {160, 160, 160, 160, 100},
     4},
    {"flash_attention.f32 output=%0, query=%1, key=%2, value=%3, batch=1, heads=2, seq_len=5, "
     "head_dim=4, block_size=2",
     true,
     {160, 160, 160, 160},
     3},
    {"reduce_axis.f32 output=%0, input=%1, n=3, outer=2, inner=5", false, {40, 120}, 1},
    {"sort.f32 output=%0, input=%1, n=40", false, {160, 160}, 1},
    {"fft.f32 output=%0, input=%1, n=16, inverse=false", true, {128, 128}, 1},
    {"fft.f64 output=%0, input=%1, n=7, inverse=true", true, {112, 112}, 1},
    {"quantized_gemm.i8 c=%0, a=%1, b=%2, a_scale=0.5, b_scale=0.5, c_scale=64.0, m=5, n=7, k=6",
     true,
     {35, 30, 42},
     2},
    {"tensor_contract.f32 output=%0, a=%1, b=%2, shape_a=(3, 4), shape_b=(4, 5), "
     "contract_dims=((1, 0))",
     true,
     {60, 48, 80},
     2},
    {"layer_norm.f32 output=%0, input=%1, gamma=%2, beta=%3, n=19, eps=0.001, rows=3",
     false,
     {228, 228, 76, 76},
     3},
    {"group_norm.f32 output=%0, input=%1, gamma=%2, beta=%3, batch=1, channels=4, groups=2, "
     "spatial=9, eps=0.001",
     false,
     {144, 144, 16, 16},
     3},
    {"batch_norm.f32 output=%0, input=%1, gamma=%2, beta=%3, mean=%4, variance=%5, batch=2, "
     "channels=3, spatial=7, eps=0.001",
     false,
     {168, 168, 12, 12, 12, 12},
     5},
    {"softmax.f32 output=%0, input=%1, n=37, rows=2", false, {296, 296}, 1},
    {"softmax.f16 output=%0, input=%1, n=37, rows=2", false, {148, 148}, 1},
    {"layer_scale.f32 output=%0, input=%1, scale=%2, n=9, rows=4", false, {144, 144, 36}, 2},
    {"rope.f32 output=%0, input=%1, freqs=%2, batch=1, seq_len=3, heads=2, head_dim=8",
     false,
     {192, 192, 16},
     2},
    {"scan.f32 output=%0, input=%1, n=19, outer=2", false, {152, 152}, 1},
    {"rms_norm.f32 output=%0, input=%1, gamma=%2, n=37, rows=2, eps=0.001",
     false,
     {296, 296, 148},
     2},
    {"kv_cache_update.f32 cache=%0, new_kv=%1, position=2, batch=1, heads=2, head_dim=4",
     false,
     {96, 32},
     1},
    {"all_gather.f32 output=%0, input=%1, n=9, devices=(0)", false, {36, 36}, 1},
    {"sparse_gemm.f32 c=%0, a_values=%1, b=%2, a_indices=%3, a_ptr=%4, m=3, n=5, k=4",
     false,
     {60, 24, 80, 24, 16},
     2},
};

static uint32_t state = 1;
static uint32_t random_below(uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * n) >> 32);
}

/* Bytes whose values are about 1 in every type of floats. */
static void fill(uint8_t *bytes, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((i & 1) ? 0x3b + random_below(4) + (random_below(2) << 7)
                                     : random_below(256));
}

/* Six elements in three rows of four columns: 2, 1 and 3 of them. */
static void put_indices(const work *w, uint8_t *bytes, const uint64_t *at) {
    static const uint32_t indices[6] = {0, 3, 2, 0, 1, 3}, ptr[4] = {0, 2, 3, 6};
    if (w->sizes[3] != sizeof indices || w->whole != 2) return;
    memcpy(bytes + at[3], indices, sizeof indices);
    memcpy(bytes + at[4], ptr, sizeof ptr);
}

static void write_text(char *text, size_t size, const work *w, const uint64_t *at) {
    size_t length = (size_t)snprintf(text, size, PROGRAM(".param r1 x buffer u8 inout\n    "));
    for (const char *c = w->text; *c && length + 1 < size; c++)
        if (*c == '%')
            length += (size_t)snprintf(text + length, size - length, "[buf(r1) + %llu]",
                                       (unsigned long long)at[*++c - '0']);
        else
            text[length++] = *c;
    snprintf(text + length, size - length, "\n");
}

/* The instruction over arrays that begin there, on bytes, which are what it leaves. */
static hg_status calculate(hg_backend *b, hg_buffer buffer, const work *w, const uint64_t *at,
                           uint8_t *bytes) {
    char text[1024];
    write_text(text, sizeof text, w, at);
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", buffer));
    CHECK_OK(hg_buffer_write(b, buffer, 0, bytes, BYTES));
    hg_status status = hg_backend_execute_program_with_params(b, p, NULL, params);
    hg_params_destroy(params);
    hg_program_release(p);
    if (status == HG_OK) CHECK_OK(hg_buffer_read(b, buffer, 0, bytes, BYTES));
    return status;
}

static bool shares(const work *w, const uint64_t *at, int input) {
    return w->sizes[0] && w->sizes[input] && at[0] < at[input] + w->sizes[input] &&
           at[input] < at[0] + w->sizes[0];
}

/* One place of an input and the output. */
static void overlap(hg_backend *b, hg_buffer buffer, const work *w, const char *device, int input,
                    int64_t from_output) {
    static uint8_t before[BYTES], after[BYTES], apart[BYTES];
    uint64_t at[ARRAYS], places[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) at[i] = places[i] = (uint64_t)i * PLACE + PLACE / 2;
    at[input] = at[0] + (uint64_t)from_output;
    fill(before, BYTES);
    put_indices(w, before, at);
    memcpy(after, before, BYTES);
    memcpy(apart, before, BYTES);
    hg_status status = calculate(b, buffer, w, at, after);
    if (w->refused && shares(w, at, input)) {
        CHECK_MESSAGE(status == HG_ERROR_EXECUTION_FAILED &&
                          strstr(hg_last_error()->message, "it shares memory with"),
                      "%s: %s: input %d at %lld of the output: %s", device, w->text, input,
                      (long long)from_output, status == HG_OK ? "no error" : hg_last_error_text());
        CHECK_OK(hg_buffer_read(b, buffer, 0, after, BYTES));
        CHECK_MESSAGE(memcmp(before, after, BYTES) == 0, "%s: %s: refused, and yet written", device,
                      w->text);
        return;
    }
    CHECK_MESSAGE(status == HG_OK, "%s: %s: input %d at %lld of the output: %s", device, w->text,
                  input, (long long)from_output, status == HG_OK ? "" : hg_last_error_text());
    memcpy(apart + places[input], before + at[input], w->sizes[input]);
    CHECK_OK(calculate(b, buffer, w, places, apart));
    CHECK_MESSAGE(memcmp(after + at[0], apart + places[0], w->sizes[0]) == 0,
                  "%s: %s: input %d at %lld of the output: other bits", device, w->text, input,
                  (long long)from_output);
    memcpy(before + at[0], after + at[0], w->sizes[0]);
    CHECK_MESSAGE(memcmp(before, after, BYTES) == 0, "%s: %s: written outside its output", device,
                  w->text);
}

/* Of several outputs only the first may be where an input is: rows of one element, whose 1 /
 * deviation goes where they are, are beta. */
static void given_over_input(hg_backend *b, const char *device) {
    static uint8_t bytes[BYTES];
    enum { GAMMA = PLACE, BETA = 2 * PLACE, OUT = 3 * PLACE, ROWS = 40 };
    hg_buffer buffer = make_buffer(b, NULL, BYTES);
    const work w = {"layer_norm.f32 output=%3, input=%0, gamma=%1, beta=%2, n=1, rows=40, "
                    "eps=0.001, inverse_deviation=%0",
                    .whole = 0};
    fill(bytes, BYTES);
    CHECK_OK(calculate(b, buffer, &w, (uint64_t[]){0, GAMMA, BETA, OUT}, bytes));
    for (size_t i = 0; i < ROWS; i++)
        CHECK_MESSAGE(memcmp(bytes + OUT + 4 * i, bytes + BETA, 4) == 0,
                      "%s: row %d is not beta: its element is written before it is read", device,
                      (int)i);
    CHECK_OK(hg_backend_free_buffer(b, buffer));
}

/* few: on devices that compile for long, one place of each input, and of the works every `step`th.
 */
static void overlaps(hg_backend *b, const char *device, bool few, size_t step) {
    hg_buffer buffer = make_buffer(b, NULL, BYTES);
    for (size_t k = few ? strlen(device) % step : 0; k < HG_COUNT_OF(WORKS); k += few ? step : 1) {
        const work *w = &WORKS[k];
        for (int i = 1; i <= w->whole; i++) {
            int64_t size = w->sizes[i], out = w->sizes[0];
            const int64_t places[] = {0, 8, out - 8, out, -8, -size + 8, -size};
            for (size_t p = 0; p < HG_COUNT_OF(places); p++)
                if (places[p] % 8 == 0 && (!few || p == (size_t)i % 2))
                    overlap(b, buffer, w, device, i, places[p]);
        }
    }
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    given_over_input(b, device);
}

/* ---- memory that runs out ---- */

static const char *const LARGE[] = {
    "gemm.f32 c=[buf(r1) + 524288], a=r1, b=[buf(r1) + 262144], m=200, n=230, k=240",
    "conv2d.f32 output=[buf(r1) + 524288], input=r1, kernel=[buf(r1) + 262144], batch=1, "
    "in_channels=16, out_channels=24, height=30, "
    "width=30, "
    "kernel_h=3, kernel_w=3, stride=(1, 1), padding=(1, 1)",
    "attention.f32 output=[buf(r1) + 524288], query=r1, key=[buf(r1) + 131072], value=[buf(r1) + "
    "262144], batch=1, heads=2, seq_len=200, "
    "head_dim=32",
    "fft.f32 output=[buf(r1) + 524288], input=r1, n=9973, inverse=false",
    "fft.f32 output=[buf(r1) + 524288], input=r1, n=16384, inverse=false, real=true",
    "quantized_gemm.i8 c=[buf(r1) + 524288], a=r1, b=[buf(r1) + 262144], a_scale=0.5, b_scale=0.5, "
    "c_scale=64.0, m=200, n=230, k=240",
    "tensor_contract.f32 output=[buf(r1) + 524288], a=r1, b=[buf(r1) + 262144], shape_a=(140, "
    "130), shape_b=(150, 140), contract_dims=((0, "
    "1))",
    "layer_norm.f32 output=r1, input=[buf(r1) + 4], gamma=[buf(r1) + 524288], beta=[buf(r1) + "
    "524288], n=1000, eps=0.001, rows=100",
};
enum { ALL = 1 << 20, OWN = 4096, STEPS = 12 }; /* OWN: what a backend takes beside its buffers */

static hg_backend *open_with(const char *backend, uint64_t memory) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    memcpy(config.vendor, "off", 4);
    config.max_memory = memory;
    return hg_backend_create_with_config(&config, &b) == HG_OK ? b : NULL;
}

static void runs_out(const char *backend) {
    static uint8_t first[ALL], right[ALL], got[ALL];
    uint64_t failures = 0;
    fill(first, ALL);
    for (size_t k = 0; k < HG_COUNT_OF(LARGE); k++) {
        char text[1024];
        snprintf(text, sizeof text, PROGRAM(".param r1 x buffer u8 inout\n    %s\n"), LARGE[k]);
        hg_program *p = assemble(text);
        /* All the memory that is wanted first, then from a page beside the buffer on. */
        for (uint64_t step = 0; step <= STEPS; step++) {
            hg_backend *b = open_with(backend, step == 0 ? 0 : ALL + OWN + (step - 1) * (ALL / 8));
            hg_params *params = hg_params_create();
            CHECK(b != NULL);
            if (!b) exit(test_done());
            hg_buffer x = make_buffer(b, first, ALL);
            CHECK_OK(hg_params_set_buffer(params, "x", x));
            hg_status status = hg_backend_execute_program_with_params(b, p, NULL, params);
            CHECK_OK(hg_buffer_read(b, x, 0, got, ALL));
            if (step == 0) {
                CHECK_OK(status);
                memcpy(right, got, ALL);
            } else if (status == HG_OK) {
                CHECK_MESSAGE(memcmp(got, right, ALL) == 0, "%s: %s: other bits with little memory",
                              backend, LARGE[k]);
            } else {
                failures++;
                CHECK_MESSAGE(status == HG_ERROR_ALLOCATION_FAILED, "%s: %s: %s", backend, LARGE[k],
                              hg_last_error_text());
                CHECK_MESSAGE(memcmp(got, first, ALL) == 0,
                              "%s: %s: without memory, and yet written", backend, LARGE[k]);
            }
            hg_params_destroy(params);
            CHECK_OK(hg_backend_free_buffer(b, x));
            hg_backend_destroy(b);
        }
        hg_program_release(p);
    }
    CHECK_MESSAGE(failures >= 5, "%s: memory ran out %llu times", backend,
                  (unsigned long long)failures);
}

int main(int argc, char **argv) { /* --all: every work on devices too */
    const size_t step = argc > 1 && strcmp(argv[1], "--all") == 0 ? 1 : 4;
    static const struct {
        const char *backend, *pretend;
    } devices[] = {
        {"cpu", ""}, {"cpu", "poor"}, {"cpu", "polled=3,staging"}, {"opencl", ""}, {"vulkan", ""}};
    for (size_t i = 0; i < HG_COUNT_OF(devices); i++) {
        hg_config config = hg_config_default();
        hg_backend *b = NULL;
        snprintf(config.backend, sizeof config.backend, "%s", devices[i].backend);
        set_pretend(&config, devices[i].pretend);
        if (hg_backend_create_with_config(&config, &b) != HG_OK) {
            CHECK_MESSAGE(strcmp(devices[i].backend, "cpu") != 0, "no CPU: %s",
                          hg_last_error()->message);
            continue;
        }
        overlaps(b, *devices[i].pretend ? devices[i].pretend : devices[i].backend,
                 strcmp(devices[i].backend, "cpu") != 0, step);
        hg_backend_destroy(b);
    }
    runs_out("cpu");
    return test_done();
}
