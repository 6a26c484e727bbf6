/* The TPU driver over a plugin that fails at each call in turn (tests/tpu/fake_pjrt.c): errors,
 * what is left behind them, ranges of one arena on two queues, the rounds of a time-out; plugins
 * that are none. */
/* test: timeout=300 */
#include "backends/tpu/tpu_internal.h"
#include "base/library.h"
#include "kir/fault_text.h"
#include "kir/parse.h"
#include "support/runtime_support.h"
#include <stdlib.h>
#include <string.h>

#if defined(FAKE_PJRT_PLUGIN)
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern const hg_driver hg_driver_tpu;
static const hg_driver *const driver = &hg_driver_tpu;
static void (*fail_at)(int);
static int (*calls_left)(void);
static long (*live)(void);
static uint64_t (*record)(int);
static void (*hold)(int);
static int (*waiting)(void);

enum { WORDS = 64, BYTES = WORDS * 4 };

/* Out of a loop, so that it has a number of rounds; a function that does nothing. */
static const char KERNEL[] = "module t is simple, slots\n"
                             "input 0: u64 param 1 buffer \"x\"\n"
                             "slot 0: buffer input 0 read written\n"
                             "function @main() -> void {\n"
                             "  %0: u64 = input 0\n"
                             "  %1: u64 = id global_lane_id\n"
                             "  %2: u32 = const 2\n"
                             "  %3: u64 = shl %1, %2\n"
                             "  loop {\n"
                             "    %5: u32 = load buffer slot 0 %0 [%3]\n"
                             "    store buffer slot 0 %0 [%3], %5\n"
                             "    %7: bool = cmp_eq %5, %2\n"
                             "    if %7 {\n"
                             "      break\n"
                             "    }\n"
                             "  }\n"
                             "  call @nothing\n"
                             "}\n"
                             "function @nothing() -> void {\n"
                             "}\n";

typedef struct rig {
    hg_device *device;
    hg_driver_kernel *kernel;
    hg_driver_arena *arena;
    hg_driver_queue *queue;
} rig;

/* The same without the loop: it writes where it reads. */
static const char SHORT_KERNEL[] = "module t is simple, slots\n"
                                   "input 0: u64 param 1 buffer \"x\"\n"
                                   "slot 0: buffer input 0 read written\n"
                                   "function @main() -> void {\n"
                                   "  %0: u64 = input 0\n"
                                   "  %1: u64 = id global_lane_id\n"
                                   "  %2: u32 = const 2\n"
                                   "  %3: u64 = shl %1, %2\n"
                                   "  %4: u32 = load buffer slot 0 %0 [%3]\n"
                                   "  store buffer slot 0 %0 [%3], %4\n"
                                   "}\n";

static hg_driver_kernel *kernel_of(hg_device *d, const char *text) {
    hg_driver_kernel *k = NULL;
    kir_module *m = NULL;
    CHECK_OK(kir_parse(text, strlen(text), NULL, &m));
    if (m) CHECK_OK(driver->kernel_create(d, m, &k));
    kir_module_destroy(m);
    return k;
}

static rig open_rig(void) {
    static const hg_driver_options options = {0};
    rig r = {0};
    CHECK_OK(driver->device_open(0, &options, &r.device));
    r.kernel = kernel_of(r.device, KERNEL);
    CHECK_OK(driver->arena_alloc(r.device, (uint64_t)2 * BYTES, &r.arena));
    CHECK_OK(driver->queue_create(r.device, &r.queue));
    return r;
}

static void close_rig(rig *r) {
    driver->queue_destroy(r->queue);
    driver->arena_free(r->device, r->arena);
    driver->kernel_destroy(r->kernel);
    driver->device_close(r->device);
}

static hg_status launch_with(const rig *r, hg_driver_queue *queue, uint64_t place,
                             uint64_t timeout_ms, const volatile int *cancel,
                             hg_driver_fault *fault) {
    const hg_range slot = {r->arena, place, BYTES};
    const uint64_t handle = 0;
    const hg_driver_launch l = {.kernel = r->kernel,
                                .grid = {1, 1, 1},
                                .block = {WORDS, 1, 1},
                                .lanes = WORDS,
                                .inputs = &handle,
                                .slots = &slot,
                                .slot_count = 1,
                                .deadline_ns = timeout_ms ? 1 : 0, /* long ago */
                                .timeout_ms = timeout_ms,
                                .cancel = cancel};
    const hg_driver_command c = {.kind = HG_CMD_LAUNCH, .launch = &l, .fault = fault};
    return driver->queue_submit(queue, &c, 1, NULL, 0, NULL);
}

static hg_status launch(const rig *r, hg_driver_queue *queue, uint64_t place, uint64_t timeout_ms) {
    hg_driver_fault fault = {0};
    return launch_with(r, queue, place, timeout_ms, NULL, &fault);
}

static hg_status copy(const rig *r, hg_driver_queue *queue, uint64_t place, void *host, bool in) {
    const hg_range range = {r->arena, place, BYTES};
    const hg_driver_command c = {
        .kind = in ? HG_CMD_COPY_IN : HG_CMD_COPY_OUT, .to = range, .from = range, .host = host};
    return driver->queue_submit(queue, &c, 1, NULL, 0, NULL);
}

/* ---- each call fails once ---- */

static hg_status round_trip(const rig *r, uint32_t first) {
    uint32_t data[WORDS], back[WORDS] = {0};
    for (uint32_t i = 0; i < WORDS; i++) data[i] = first + i;
    HG_TRY(copy(r, r->queue, 0, data, true));
    HG_TRY(launch(r, r->queue, 0, 0));
    HG_TRY(copy(r, r->queue, 0, back, false));
    CHECK(memcmp(data, back, sizeof data) == 0);
    return HG_OK;
}

static void test_failing(void) {
    int call = 1;
    for (bool failed = true; failed && call < 50; call++) {
        rig r = open_rig();
        fail_at(call);
        hg_status status = round_trip(&r, 1000);
        failed = calls_left() == 0;
        fail_at(0);
        CHECK_STATUS(status, failed ? HG_ERROR_EXECUTION_FAILED : HG_OK);
        CHECK_OK(round_trip(&r, 2000)); /* nothing of it stays */
        close_rig(&r);
        CHECK_U64(live(), 0);
    }
    CHECK_MESSAGE(call > 8 && call < 50, "%d calls", call);
}

/* ---- two ranges of one arena, each with a queue and a thread of its own ---- */

enum { ROUNDS = 60 };

static void *write_and_read(void *user) {
    rig *r = user;
    static uint32_t data[WORDS], back[WORDS];
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (uint32_t k = 0; k < WORDS; k++) data[k] = i * WORDS + k;
        wrong += copy(r, r->queue, BYTES, data, true) != HG_OK;
        (void)sched_yield();
        wrong += copy(r, r->queue, BYTES, back, false) != HG_OK ||
                 memcmp(data, back, sizeof data) != 0;
    }
    CHECK_U64(wrong, 0);
    return NULL;
}

static void test_queues(void) {
    rig r = open_rig();
    hg_driver_queue *other = NULL;
    pthread_t thread;
    CHECK_OK(driver->queue_create(r.device, &other));
    CHECK(pthread_create(&thread, NULL, write_and_read, &r) == 0);
    uint64_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) wrong += launch(&r, other, 0, 0) != HG_OK;
    (void)pthread_join(thread, NULL);
    CHECK_U64(wrong, 0);
    driver->queue_destroy(other);
    close_rig(&r);
    CHECK_U64(live(), 0);
}

/* ---- a time-out ---- */

static void test_rounds(void) {
    static const struct {
        uint64_t timeout_ms, rounds;
    } CASES[] = {
        {0, UINT64_MAX}, {10000, 2000000}, {30000, 6000000}, {UINT64_MAX / 100, UINT64_MAX}};
    rig r = open_rig();
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        CHECK_OK(launch(&r, r.queue, 0, CASES[i].timeout_ms));
        CHECK_U64(record(1), CASES[i].rounds);
    }
    close_rig(&r);
}

/* ---- nobody waits for it any more ---- */

/* While the plugin compiles, or runs, and does not come back: what was in the arena stays, others
 * go on, and what the plugin was given is freed when it has done. */
static void test_left(void) {
    static const struct {
        int held;
        uint64_t timeout_ms;
        uint8_t code;
    } CASES[] = {
        {1, 0, KIR_FAULT_CANCELLED}, {2, 0, KIR_FAULT_CANCELLED}, {2, 1, KIR_FAULT_TIMEOUT}};
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        uint32_t data[WORDS], back[WORDS] = {0};
        const volatile int cancelled = CASES[i].code == KIR_FAULT_CANCELLED;
        hg_driver_fault fault = {0};
        long before = live();
        rig r = open_rig();
        for (uint32_t k = 0; k < WORDS; k++) data[k] = 77 + k;
        CHECK_OK(copy(&r, r.queue, 0, data, true));
        hold(CASES[i].held);
        CHECK_OK(launch_with(&r, r.queue, 0, CASES[i].timeout_ms, &cancelled, &fault));
        CHECK(fault.happened && fault.code == CASES[i].code);
        CHECK_OK(copy(&r, r.queue, 0, back, false));
        CHECK(memcmp(data, back, sizeof data) == 0);
        hold(0);
        CHECK_OK(round_trip(&r, 5));
        close_rig(&r);
        while (live() != before) hg_thread_yield(); /* the one that was left frees what it has */
        test_passed++;
    }
}

/* Who cancels again and again has not more threads in the end than places for them. */
static void test_many_left(void) {
    enum { LAUNCHES = 20, PLACES = 8 };
    static const volatile int cancelled = 1;
    long before = live();
    rig r = open_rig();
    hold(1);
    for (int i = 0; i < LAUNCHES; i++) {
        hg_driver_fault fault = {0};
        CHECK_OK(launch_with(&r, r.queue, 0, 0, &cancelled, &fault));
        CHECK(fault.happened && fault.code == KIR_FAULT_CANCELLED);
    }
    hg_driver_fault late = {0}; /* there is no place in its time */
    CHECK_OK(launch_with(&r, r.queue, 0, 1, NULL, &late));
    CHECK(late.happened && late.code == KIR_FAULT_TIMEOUT);
    while (waiting() < PLACES) hg_thread_yield();
    (void)nanosleep(&(struct timespec){0, 20000000}, NULL); /* others would come */
    CHECK_U64((uint64_t)waiting(), PLACES);
    hold(0);
    CHECK_OK(round_trip(&r, 7));
    close_rig(&r);
    while (live() != before) hg_thread_yield();
}

static volatile int cancel_word;

static void *cancel_while_it_runs(void *user) {
    (void)user;
    while (!waiting()) hg_thread_yield();
    cancel_word = 1;
    (void)nanosleep(&(struct timespec){0, 20000000}, NULL); /* who waits has looked */
    hold(0);
    return NULL;
}

/* What it was given is gone once it runs, so that it goes to its end; not before that. */
static void test_in_place(void) {
    uint32_t data[WORDS], back[WORDS] = {0};
    hg_driver_fault fault = {0};
    pthread_t thread;
    long before = live();
    rig r = open_rig();
    driver->kernel_destroy(r.kernel);
    r.kernel = kernel_of(r.device, SHORT_KERNEL);
    for (uint32_t k = 0; k < WORDS; k++) data[k] = 99 + k;
    CHECK_OK(copy(&r, r.queue, 0, data, true));
    hold(1);
    cancel_word = 1;
    CHECK_OK(launch_with(&r, r.queue, 0, 0, &cancel_word, &fault));
    CHECK(fault.happened && fault.code == KIR_FAULT_CANCELLED);
    hold(2);
    while (waiting()) hg_thread_yield();
    cancel_word = 0;
    fault.happened = false;
    CHECK(pthread_create(&thread, NULL, cancel_while_it_runs, NULL) == 0);
    CHECK_OK(launch_with(&r, r.queue, 0, 0, &cancel_word, &fault));
    (void)pthread_join(thread, NULL);
    CHECK(!fault.happened);
    CHECK_OK(copy(&r, r.queue, 0, back, false));
    CHECK(memcmp(data, back, sizeof data) == 0);
    close_rig(&r);
    while (live() != before) hg_thread_yield();
}

/* ---- plugins that are none: each in a process of its own, since a plugin is loaded once ---- */

static void test_loading(void) {
    static const struct {
        const char *wanted, *path, *reason;
    } CASES[] = {
        {"null", FAKE_PJRT_PLUGIN, "GetPjrtApi gave NULL"},
        {"short", FAKE_PJRT_PLUGIN, "has no function for 'error_destroy' (PJRT 0.90)"},
        {"old", FAKE_PJRT_PLUGIN, "has no function for 'to_host' (PJRT 0.90)"},
        {"initialize", FAKE_PJRT_PLUGIN, "initialize: initialize"},
        {"client", FAKE_PJRT_PLUGIN, "client: client"},
        {"platform", FAKE_PJRT_PLUGIN, "platform: platform"},
        {"devices", FAKE_PJRT_PLUGIN, "devices: devices"},
        {"none", FAKE_PJRT_PLUGIN, "has no device"},
        {"", "/nowhere/plugin.so", "no PJRT plugin (/nowhere/plugin.so: "},
    };
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            char reason[256] = "";
            setenv("FAKE_PJRT", CASES[i].wanted, 1);
            setenv("HOLOGRAM_PJRT", CASES[i].path, 1);
            bool right = driver->enumerate(NULL, 0, reason) == 0 && strstr(reason, CASES[i].reason);
            if (!right) fprintf(stderr, "'%s': %s\n", CASES[i].wanted, reason);
            _exit(right ? 0 : 1);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK_MESSAGE(status == 0, "case '%s': %d", CASES[i].wanted, status);
    }
}

/* ---- words for a function that does nothing ---- */

/* A module of two arguments, over arenas of its own. */
static char module_text[] = "func.func public @main(%1: tensor<1xui64>, %2: tensor<32xui32>, "
                            "%3: tensor<16xui64>) -> (tensor<32xui32>) {";
static const hg_driver_shape module_shapes[] = {
    {HG_TYPE_U32, 1, {32}}, {HG_TYPE_U64, 1, {16}}, {HG_TYPE_U32, 1, {32}}};
static const hg_driver_module_text module = {.text = module_text,
                                             .length = sizeof module_text - 1,
                                             .argument_count = 2,
                                             .result_count = 1,
                                             .shapes = module_shapes};

/* shared: both arguments are one arena, on the device as one tensor at a time: nothing is done. */
static hg_status run_module(hg_device *device, bool shared, bool *bad) {
    hg_driver_arena *arenas[3] = {NULL};
    hg_driver_module *m = NULL;
    for (int i = 0; i < 3; i++) CHECK_OK(driver->arena_alloc(device, 128, &arenas[i]));
    const hg_range ranges[] = {
        {arenas[0], 0, 128}, {arenas[shared ? 0 : 1], 0, 128}, {arenas[2], 0, 128}};
    hg_status status = driver->module_create(device, &module, &m);
    if (status == HG_OK) status = driver->module_run(m, ranges, bad);
    if (m) driver->module_destroy(m);
    for (int i = 0; i < 3; i++) driver->arena_free(device, arenas[i]);
    return status;
}

static void test_modules(void) {
    long before = live();
    rig r = open_rig();
    bool bad = true, ended = false;
    CHECK_OK(run_module(r.device, false, &bad));
    CHECK(!bad);
    long kept = live();
    CHECK_OK(run_module(r.device, true, &bad));
    CHECK(bad);
    CHECK(live() == kept); /* the same text is the same executable */
    close_rig(&r);
    for (int n = 1; !ended && n < 100; n++) { /* each call of the plugin fails once */
        r = open_rig();
        fail_at(n);
        hg_status status = run_module(r.device, false, &bad);
        ended = calls_left() > 0;
        fail_at(0);
        CHECK((status == HG_OK) == ended);
        close_rig(&r);
        CHECK(live() == before);
    }
    CHECK(ended);
}

/* Two launches as one module. */
static hg_status run_noted(const rig *r) {
    const hg_range scratch = {0};
    uint32_t data[WORDS], back[WORDS] = {0};
    hg_driver_noted *noted = NULL;
    bool bad = true;
    for (uint32_t i = 0; i < WORDS; i++) data[i] = 7 * i;
    HG_TRY(copy(r, r->queue, 0, data, true));
    HG_TRY(driver->note_begin(r->device));
    hg_status first = launch(r, r->queue, 0, 0), second = launch(r, r->queue, BYTES, 0);
    bool all = first == HG_OK && second == HG_OK;
    hg_status status = driver->note_end(r->device, &scratch, all ? &noted : NULL);
    if (status == HG_OK && all) status = driver->noted_run(noted, &bad);
    if (noted) driver->noted_destroy(noted);
    HG_TRY(status);
    CHECK(all && !bad);
    HG_TRY(copy(r, r->queue, 0, back, false));
    CHECK(memcmp(data, back, sizeof data) == 0);
    return HG_OK;
}

static void test_notes(void) {
    long before = live();
    bool ended = false;
    for (int n = 1; !ended && n < 100; n++) { /* each call of the plugin fails once */
        rig r = open_rig();
        fail_at(n);
        hg_status status = run_noted(&r);
        ended = calls_left() > 0;
        fail_at(0);
        CHECK((status == HG_OK) == ended);
        if (ended) { /* what cannot be noted, which is not done either */
            uint32_t back[WORDS];
            CHECK_OK(driver->note_begin(r.device));
            CHECK(driver->note_begin(r.device) == HG_ERROR_INTERNAL);
            CHECK(copy(&r, r.queue, 0, back, false) == HG_ERROR_ISA);
            CHECK_OK(driver->note_end(r.device, NULL, NULL));
            CHECK_OK(round_trip(&r, 5));
        }
        close_rig(&r);
        CHECK(live() == before);
    }
    CHECK(ended);
}

/* What the plugin refuses to run has changed nothing. Of what fails while it runs nobody knows. */
static void test_refused(void) {
    uint32_t data[WORDS], back[WORDS] = {0};
    rig r = open_rig();
    for (uint32_t i = 0; i < WORDS; i++) data[i] = 3 * i + 1;
    CHECK_OK(copy(&r, r.queue, 0, data, true));
    for (int call = 3; call <= 4; call++) { /* behind the record's copy: execute, await */
        CHECK_OK(launch(&r, r.queue, 0, 0));
        memset(r.arena->bytes, 0xee, BYTES); /* what the device has is other */
        fail_at(call);
        CHECK_STATUS(launch(&r, r.queue, 0, 0), HG_ERROR_EXECUTION_FAILED);
        fail_at(0);
        const char *said = call == 3 ? "execute: execute" : "execute: await";
        CHECK_MESSAGE(strstr(hg_last_error_text(), said), "%s", hg_last_error_text());
        CHECK_OK(copy(&r, r.queue, 0, back, false));
        CHECK(call > 3 || memcmp(data, back, sizeof data) == 0);
    }
    close_rig(&r);
    CHECK(live() == 0);
}

/* What executables on disk are known by has the file of the plugin: its version says little. */
static void test_identity(void) {
    char mark[48] = "";
    rig r = open_rig();
    hg_library_mark(&live, mark, sizeof mark);
    CHECK(mark[0] && strstr(driver->device_caps(r.device)->identity, mark));
    close_rig(&r);
}

static void test_text(void) {
    emit_stablehlo_array array = {WORDS, 4, false};
    const uint32_t place = 0;
    const emit_stablehlo_launch l = {.grid = {1, 1, 1},
                                     .block = {WORDS, 1, 1},
                                     .lanes = WORDS,
                                     .arrays = &array,
                                     .array_count = 1,
                                     .slot_arrays = &place,
                                     .class_array = EMIT_STABLEHLO_NOWHERE,
                                     .shared_array = EMIT_STABLEHLO_NOWHERE,
                                     .shared_word = 8};
    emit_stablehlo_sites sites = {0};
    hg_text text = {0};
    kir_module *m = NULL;
    uint8_t words[3];
    CHECK_OK(kir_parse(KERNEL, sizeof KERNEL - 1, NULL, &m));
    CHECK_OK(emit_stablehlo_words(m, words));
    CHECK_OK(emit_stablehlo(m, &l, "", &text, &sites));
    CHECK_MESSAGE(text.data && !strstr(text.data, "return  :"), "a return of nothing");
    hg_text_free(&text);
    hg_vec_free(&sites);
    kir_module_destroy(m);
}

int main(void) {
    const char *path = FAKE_PJRT_PLUGIN;
    char reason[256] = "";
    hg_library *fake = hg_library_open(&path, 1, reason, sizeof reason);
    CHECK_MESSAGE(fake, "%s", reason);
    if (!fake) return test_done();
    CHECK(hg_library_function(fake, "fake_pjrt_fail_at", (void *)&fail_at) &&
          hg_library_function(fake, "fake_pjrt_left", (void *)&calls_left) &&
          hg_library_function(fake, "fake_pjrt_live", (void *)&live) &&
          hg_library_function(fake, "fake_pjrt_hold", (void *)&hold) &&
          hg_library_function(fake, "fake_pjrt_waiting", (void *)&waiting) &&
          hg_library_function(fake, "fake_pjrt_record", (void *)&record));
    test_loading();
    test_text();
    setenv("HOLOGRAM_PJRT", path, 1);
    test_failing();
    test_refused();
    test_queues();
    test_rounds();
    test_left();
    test_many_left();
    test_in_place();
    test_modules();
    test_notes();
    test_identity();
    return test_done();
}
#else
int main(void) {
    SKIP("no plugin was built");
    return test_done();
}
#endif
