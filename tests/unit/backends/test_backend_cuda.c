/* test: labels=slow timeout=300
 * The CUDA backend through its table: memory, copies, kernels, plans, each call of the driver
 * failing in turn, and what it says of drivers and devices that are of no use. With NVIDIA's
 * driver, or with the one of tests/fake_cuda (tests/devices/on.sh fake_cuda), which counts what it
 * is given back and takes settings; without either the reason is shown. */
#include "backends/cuda/cuda_internal.h"
#include "support/device_checks.h"
#include "support/fake_cuda.h"
#include "support/in_process.h"
#include "support/runtime_support.h"
#include <unistd.h>

extern const hg_driver hg_driver_cuda;

/* ---- copies ---- */

static uint8_t pattern(uint64_t i) { return (uint8_t)(i * 131 + (i >> 8) * 7 + 1); }

/* Larger than a piece of pinned memory, ranges that overlap, and memory that is zero at first. */
static void test_copies(device_fixture *d) {
    enum { BYTES = 9 << 20, SHIFT = 12345 };
    hg_driver_arena *a = NULL;
    uint8_t *in = malloc(BYTES), *out = malloc(BYTES);
    CHECK_OK(d->driver->arena_alloc(d->device, BYTES, &a));
    hg_range all = {a, 0, BYTES}, low = {a, 0, BYTES - SHIFT}, high = {a, SHIFT, BYTES - SHIFT},
             few = {a, 7, 100};
    hg_driver_command zeros[] = {{.kind = HG_CMD_COPY_OUT, .from = all, .host = out}};
    CHECK(device_submit(d, zeros, 1));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < BYTES; i++) wrong += out[i] != 0;
    CHECK_U64(wrong, 0);
    for (uint64_t i = 0; i < BYTES; i++) in[i] = pattern(i);
    hg_driver_command commands[] = {{.kind = HG_CMD_COPY_IN, .to = all, .host = in},
                                    {.kind = HG_CMD_COPY, .to = high, .from = low},
                                    {.kind = HG_CMD_FILL, .to = few, .value = 0x5A},
                                    {.kind = HG_CMD_COPY_OUT, .from = all, .host = out}};
    CHECK(device_submit(d, commands, 4));
    for (uint64_t i = 0; i < BYTES; i++)
        wrong += out[i] != (i >= 7 && i < 107 ? 0x5A : i < SHIFT ? pattern(i) : pattern(i - SHIFT));
    CHECK_U64(wrong, 0);
    d->driver->arena_free(d->device, a);
    free(in);
    free(out);
}

/* Memory of the host that the device sees, and memory of the caller's. */
static void test_host_memory(device_fixture *d) {
    static uint32_t mine[1024];
    hg_driver_arena *visible = NULL, *imported = NULL;
    uint32_t seen[4] = {0};
    CHECK_OK(d->driver->arena_alloc_visible(d->device, 64, &visible));
    uint32_t *words = d->driver->arena_map(visible);
    CHECK(words && words[0] == 0 && d->driver->arena_host(visible) == words);
    hg_driver_command fill[] = {{.kind = HG_CMD_FILL, .to = {visible, 0, 8}, .value = 0x11}};
    CHECK(device_submit(d, fill, 1));
    CHECK_U64(words[1], 0x11111111);
    mine[3] = 77;
    CHECK_OK(d->driver->arena_import(d->device, mine, sizeof mine, &imported));
    CHECK(d->driver->arena_host(imported) == mine);
    hg_driver_command copy[] = {{.kind = HG_CMD_COPY_OUT, .from = {imported, 0, 16}, .host = seen}};
    CHECK(device_submit(d, copy, 1));
    CHECK_U64(seen[3], 77);
    d->driver->arena_free(d->device, imported);
    d->driver->arena_free(d->device, visible);
}

/* ---- kernels and plans ---- */

/* y[lane] = lane + first, with so many fields that the record is or is not a parameter. */
static void build_numbers(device_kernel *k, uint32_t fields) {
    kir_builder builder, *b = &builder;
    device_kernel_begin_as(k, b, fields > 1 ? "numbers_large" : "numbers", 1, true);
    kir_value *first = build_field(k, b, KIR_FIELD_FIRST, 0, HG_TYPE_U32),
              *lane = build_id(b, KIR_ID_THREAD);
    for (uint32_t i = 1; i < fields; i++)
        (void)build_field(k, b, KIR_FIELD_INPUT, 100 + i, HG_TYPE_U64);
    build_store(
        b, 0, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, kir_mul(b, lane, kir_const(b, HG_TYPE_U32, 4))),
        kir_add(b, lane, first));
    device_kernel_end(k, b);
}

static void fill_numbers(const device_kernel *k, hg_driver_arena *a, uint32_t first,
                         uint8_t *record) {
    uint64_t address = hg_driver_cuda.arena_address(a);
    memset(record, 0, k->layout.record_bytes);
    memcpy(record + k->module->inputs.data[0].index, &address, sizeof address);
    memcpy(record + k->module->inputs.data[1].index, &first, sizeof first);
}

/* A plan is launched again and again, the caller's record is gone, and what it wrote is seen by
 * what follows. */
static hg_status run_plan(device_fixture *d, uint32_t fields, bool check) {
    enum { LANES = 256 };
    device_kernel k;
    uint32_t out[LANES] = {0};
    hg_driver_recording *plan = NULL;
    hg_driver_arena *a = NULL;
    build_numbers(&k, fields);
    uint8_t *record = malloc(k.layout.record_bytes);
    hg_driver_code code = {.module = k.module, .layout = &k.layout, .group = {64, 1, 1}};
    hg_driver_dispatch dispatch = {.groups = {LANES / 64, 1, 1},
                                   .group = {64, 1, 1},
                                   .record = record,
                                   .record_bytes = k.layout.record_bytes};
    hg_status status = d->driver->arena_alloc(d->device, sizeof out, &a);
    if (status == HG_OK) status = d->driver->code_create(d->device, &code, &dispatch.kernel);
    hg_range all = {a, 0, sizeof out};
    hg_driver_command commands[] = {{.kind = HG_CMD_FILL, .to = all, .value = 9},
                                    {.kind = HG_CMD_DISPATCH, .dispatch = &dispatch}};
    hg_driver_command fetch = {.kind = HG_CMD_COPY_OUT, .from = all, .host = out};
    if (status == HG_OK) fill_numbers(&k, a, 1000, record);
    if (status == HG_OK) status = d->driver->recording_create(d->device, commands, 2, &plan);
    memset(record, 0xEE, k.layout.record_bytes);
    for (int round = 0; round < 3 && status == HG_OK; round++) {
        status = d->driver->recording_launch(d->queue, plan, NULL, 0, d->event);
        if (status == HG_OK) status = d->driver->event_wait(d->event);
        if (status == HG_OK)
            status = d->driver->queue_submit(d->queue, &fetch, 1, &d->event, 1, d->event);
        if (status == HG_OK) status = d->driver->event_wait(d->event);
        for (uint32_t i = 0; i < LANES && check && status == HG_OK; i++)
            CHECK_U64(out[i], 1000 + i);
    }
    if (status != HG_OK) { /* a wait may be what failed: nothing may run on in what is freed now */
        hg_error kept = *hg_error_record();
        d->driver->queue_destroy(d->queue);
        d->queue = NULL;
        *hg_error_record() = kept;
    }
    if (plan) d->driver->recording_destroy(plan);
    if (dispatch.kernel) d->driver->kernel_destroy(dispatch.kernel);
    if (a) d->driver->arena_free(d->device, a);
    free(record);
    device_kernel_free(&k);
    return status;
}

/* ---- calls that fail ---- */

static uint64_t calls, fail_at;

static CUresult fail_one(const char *call) {
    (void)call;
    return ++calls == fail_at ? 999 : CUDA_SUCCESS;
}

/* Opening a device and a plan on it, with the n-th call failing: an error that names the call, and
 * nothing stays behind. */
static void test_failing_calls(void) {
    hg_driver_options options = {.cpu_level = "", .pretend = "", .cache_dir = ""};
    uint64_t most = 0;
    for (fail_at = 0; fail_at <= most; fail_at++) {
        device_fixture d = {.driver = &hg_driver_cuda};
        long before = fake_cuda_things();
        calls = 0;
        cuda_before_call = fail_one;
        hg_status status = d.driver->device_open(0, &options, &d.device);
        if (status == HG_OK) status = d.driver->queue_create(d.device, &d.queue);
        if (status == HG_OK) status = d.driver->event_create(d.device, &d.event);
        if (status == HG_OK) d.caps = d.driver->device_caps(d.device);
        if (status == HG_OK) status = run_plan(&d, 1, false);
        cuda_before_call = NULL;
        if (!fail_at) most = calls;
        bool asked_only = status == HG_OK; /* questions whose answers have a default */
        CHECK_MESSAGE(asked_only || strstr(hg_last_error_text(), "CUDA"), "call %u: %s",
                      (unsigned)fail_at, hg_last_error_text());
        device_shut(&d);
        CHECK_MESSAGE(fake_cuda_things() == before, "call %u of %u: %ld things stay behind",
                      (unsigned)fail_at, (unsigned)most, fake_cuda_things() - before);
    }
    CHECK(most > 30);
}

/* ---- other drivers and devices: each in a process of its own, since a driver is initialised once
 * ---- */

static void list_devices(char said[512]) {
    char reason[256] = "";
    hg_device_info info[1];
    uint32_t count = hg_driver_cuda.enumerate(info, 1, reason);
    snprintf(said, 512, "%s", count ? info[0].reason : reason);
}

static void expect_reason(const char *setting, const char *words) {
    char said[512];
    in_process(setting, list_devices, said);
    CHECK_MESSAGE(strstr(said, words), "%s: expected '%s', got '%s'", setting, words, said);
}

static void test_reasons(void) {
    expect_reason("FAKE_CUDA_DEVICES=0",
                  "CUDA backend not available: No CUDA-capable device found");
    expect_reason(
        "FAKE_CUDA_INIT=999",
        "CUDA device not found or initialization failed: cuInit: CUDA_ERROR_UNKNOWN (999)");
    expect_reason("FAKE_CUDA_CAPABILITY=37", "compute capability 3.7 is too old: 5.0 is needed");
    expect_reason("HOLOGRAM_NVRTC=/nowhere/libnvrtc.so HOLOGRAM_PTX=/nowhere",
                  "NVRTC, which compiles kernels, is not found");
}

/* ---- code on disk ---- */

static char cache_folder[] = "/tmp/hologram-test-cuda-XXXXXX";

/* Runs a kernel with the folder's cache: how many compilations that took, or the error. */
static void run_with_cache(char said[512]) {
    hg_driver_options options = {
        .cpu_level = "", .pretend = "", .cache_dir = cache_folder, .cache_bytes = 1 << 20};
    device_fixture d = {.driver = &hg_driver_cuda};
    hg_status status = d.driver->device_open(0, &options, &d.device);
    if (status == HG_OK) status = d.driver->queue_create(d.device, &d.queue);
    if (status == HG_OK) status = d.driver->event_create(d.device, &d.event);
    if (status == HG_OK) d.caps = d.driver->device_caps(d.device);
    if (status == HG_OK) status = run_plan(&d, 1, true);
    if (status != HG_OK)
        snprintf(said, 512, "%s", hg_last_error_text());
    else
        snprintf(said, 512, "%d compilations", fake_cuda_compilations());
    device_shut(&d);
}

static void expect_cached(const char *settings, const char *words) {
    char said[512];
    in_process(settings, run_with_cache, said);
    CHECK_MESSAGE(strstr(said, words), "%s: expected '%s', got '%s'", settings, words, said);
}

/* Machine code is for one device and one NVRTC; PTX for every later device that NVRTC does not
 * know. */
static void test_kept_code(void) {
    if (!mkdtemp(cache_folder)) return;
    expect_cached("FAKE_CUDA_CAPABILITY=80", "1 compilations");
    expect_cached("FAKE_CUDA_CAPABILITY=80", "0 compilations");
    expect_cached("FAKE_CUDA_CAPABILITY=90", "1 compilations"); /* NVRTC makes better code; the PTX
                                                                   is for sm_90 from now on */
    expect_cached("FAKE_CUDA_CAPABILITY=100", "0 compilations");
    expect_cached("FAKE_CUDA_CAPABILITY=100 FAKE_NVRTC_NEWEST=70", "0 compilations");
    expect_cached("FAKE_CUDA_CAPABILITY=89 FAKE_NVRTC_NEWEST=75", "1 compilations"); /* older than
                                                                                        the PTX */
    expect_cached("FAKE_CUDA_CAPABILITY=89 FAKE_NVRTC_NEWEST=75", "0 compilations");
    expect_cached("FAKE_CUDA_CAPABILITY=100 FAKE_CUDA_OLD_PTX=1",
                  "NVRTC is newer than the driver, which does not read its PTX of numbers_kernel: "
                  "update NVIDIA's driver, or name an older");
    expect_cached("FAKE_CUDA_CAPABILITY=90 FAKE_CUDA_OLD_PTX=1", "0 compilations"); /* machine code
                                                                                       needs no
                                                                                       reading */
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", cache_folder);
    CHECK(system(command) == 0);
    if (!mkdtemp(strcpy(cache_folder, "/tmp/hologram-test-cuda-XXXXXX"))) return;
    expect_cached("FAKE_CUDA_CAPABILITY=100 FAKE_NVRTC_NEWEST=40",
                  "NVRTC knows no architecture up to sm_100");
    snprintf(command, sizeof command, "rm -r %s", cache_folder);
    CHECK(system(command) == 0);
}

int main(void) {
    device_fixture fixture, *d = &fixture;
    char reason[256] = "";
    bool fake = fake_cuda_is_here();
    if (fake) test_reasons();
    if (fake) test_kept_code();
    if (!device_open(d, &hg_driver_cuda, "", reason)) {
        SKIP(reason);
        return test_done();
    }
    test_copies(d);
    test_host_memory(d);
    CHECK_OK(run_plan(d, 1, true));
    CHECK_OK(run_plan(d, 600, true));
    device_checks(&(device_checks_options){.dialect = &emit_cuda_dialect,
                                           .addressed = true,
                                           .f64 = true,
                                           .atomic64 = true,
                                           .large_record = 600,
                                           .device = d});
    device_shut(d);
    CHECK_U64((uint64_t)fake_cuda_things(), 0);
    if (fake) test_failing_calls();
    return test_done();
}
