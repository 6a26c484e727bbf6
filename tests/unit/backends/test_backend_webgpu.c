/* The WebGPU driver by itself, on the adapter of the library that HOLOGRAM_WEBGPU names
 * (tests/devices/on.sh dawn, wgpu): copies and fills of any bytes against memory of the host,
 * several queues, kernels written by hand, kernels that the library refuses, memory beyond its
 * limits. Without a library what it says then. */
/* test: timeout=300 */
#include "backends/webgpu/webgpu_internal.h"
#include "base/library.h"
#include "support/runtime_support.h"
#include <hologram/emit.h>
#include <stdlib.h>
#include <string.h>

extern const hg_driver hg_driver_webgpu;
static const hg_driver *const driver = &hg_driver_webgpu;
static failing_allocator allocated;

static uint64_t random_state = 1;
static uint64_t random_below(uint64_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 16) % limit;
}

static hg_status wait_ready(hg_device *d) {
    bool ready = false;
    while (!ready) HG_TRY(driver->device_ready(d, &ready));
    return HG_OK;
}

static hg_status kernel_made(hg_driver_kernel *k) {
    bool ready = false;
    while (!ready) HG_TRY(driver->kernel_ready(k, &ready));
    return HG_OK;
}

static void run(hg_device *d, hg_driver_queue *q, const hg_driver_command *commands,
                uint32_t count) {
    hg_driver_event *e = NULL;
    CHECK_OK(driver->event_create(d, &e));
    CHECK_OK(driver->queue_submit(q, commands, count, NULL, 0, e));
    CHECK_OK(driver->event_wait(e));
    driver->event_destroy(e);
}

/* ---- bytes, in two arenas and their models ---- */

enum { BYTES = 5000, STEPS = 12, ROUNDS = 40 };

typedef struct copies {
    hg_driver_arena *arenas[2];
    uint8_t model[2][BYTES], host[STEPS][BYTES];
    uint8_t wanted[STEPS][BYTES];
    uint64_t read[STEPS]; /* bytes of a copy to the host */
} copies;

static hg_driver_command random_command(copies *c, uint32_t step) {
    uint64_t size = random_below(8) ? random_below(40) : random_below(BYTES),
             to = random_below(BYTES - size + 1), from = random_below(BYTES - size + 1);
    uint32_t a = (uint32_t)random_below(2), b = (uint32_t)random_below(2);
    uint8_t value = random_below(2) ? 0 : (uint8_t)random_below(256);
    if (random_below(4) == 0) size &= ~UINT64_C(3), to &= ~UINT64_C(3), from &= ~UINT64_C(3);
    c->read[step] = 0;
    switch (random_below(4)) {
    case 0:
        for (uint64_t i = 0; i < size; i++) c->host[step][i] = (uint8_t)random_below(256);
        memcpy(c->model[a] + to, c->host[step], size);
        return (hg_driver_command){
            .kind = HG_CMD_COPY_IN, .to = {c->arenas[a], to, size}, .host = c->host[step]};
    case 1:
        memcpy(c->wanted[step], c->model[a] + from, size);
        c->read[step] = size;
        return (hg_driver_command){
            .kind = HG_CMD_COPY_OUT, .from = {c->arenas[a], from, size}, .host = c->host[step]};
    case 2:
        memmove(c->model[a] + to, c->model[b] + from, size);
        return (hg_driver_command){.kind = HG_CMD_COPY,
                                   .to = {c->arenas[a], to, size},
                                   .from = {c->arenas[b], from, size}};
    default:
        memset(c->model[a] + to, value, size);
        return (hg_driver_command){
            .kind = HG_CMD_FILL, .to = {c->arenas[a], to, size}, .value = value};
    }
}

static void test_copies(hg_device *d) {
    static copies c;
    hg_driver_queue *queues[2] = {NULL, NULL};
    memset(c.model, 0, sizeof c.model);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(driver->arena_alloc(d, BYTES, &c.arenas[i]));
        CHECK_OK(driver->queue_create(d, &queues[i]));
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        hg_driver_command commands[STEPS];
        uint32_t first = 1 + (uint32_t)random_below(STEPS - 1);
        hg_driver_event *before = NULL, *after = NULL;
        CHECK_OK(driver->event_create(d, &before));
        CHECK_OK(driver->event_create(d, &after));
        for (uint32_t i = 0; i < STEPS; i++) commands[i] = random_command(&c, i);
        CHECK_OK(driver->queue_submit(queues[0], commands, first, NULL, 0, before));
        CHECK_OK(
            driver->queue_submit(queues[1], commands + first, STEPS - first, &before, 1, after));
        CHECK_OK(driver->event_wait(after));
        CHECK_OK(driver->event_wait(before));
        for (uint32_t i = 0; i < STEPS; i++)
            CHECK_MESSAGE(memcmp(c.host[i], c.wanted[i], (size_t)c.read[i]) == 0,
                          "round %u, copy %u to the host", (unsigned)round, (unsigned)i);
        driver->event_destroy(before);
        driver->event_destroy(after);
    }
    for (int i = 0; i < 2; i++) {
        hg_driver_command out = {
            .kind = HG_CMD_COPY_OUT, .from = {c.arenas[i], 0, BYTES}, .host = c.host[0]};
        run(d, queues[i], &out, 1);
        CHECK(memcmp(c.host[0], c.model[i], BYTES) == 0);
        driver->queue_destroy(queues[i]);
        driver->arena_free(d, c.arenas[i]);
    }
}

/* Inside one arena, longer than scratch, in both directions. */
static void test_long_copy(hg_device *d, hg_driver_queue *q) {
    enum { LONG = 3 * WG_SCRATCH, SHIFT = 4099 };
    uint8_t *bytes = malloc(LONG + SHIFT), *back = malloc(LONG + SHIFT);
    hg_driver_arena *a = NULL;
    CHECK_OK(driver->arena_alloc(d, LONG + SHIFT, &a));
    for (uint32_t i = 0; i < LONG + SHIFT; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    for (uint32_t forth = 0; forth < 2; forth++) {
        uint64_t to = forth ? SHIFT : 0, from = SHIFT - to;
        hg_driver_command commands[] = {
            {.kind = HG_CMD_COPY_IN, .to = {a, 0, LONG + SHIFT}, .host = bytes},
            {.kind = HG_CMD_COPY, .to = {a, to, LONG}, .from = {a, from, LONG}},
            {.kind = HG_CMD_COPY_OUT, .from = {a, 0, LONG + SHIFT}, .host = back}};
        run(d, q, commands, 3);
        memmove(bytes + to, bytes + from, LONG);
        CHECK(memcmp(bytes, back, LONG + SHIFT) == 0);
    }
    driver->arena_free(d, a);
    free(bytes);
    free(back);
}

/* What is read twice into one place is there as it was last. */
static void test_reads(hg_device *d, hg_driver_queue *q) {
    hg_driver_arena *a = NULL;
    uint32_t word = 0;
    CHECK_OK(driver->arena_alloc(d, sizeof word, &a));
    hg_range all = {a, 0, sizeof word};
    hg_driver_command commands[] = {{.kind = HG_CMD_FILL, .to = all, .value = 1},
                                    {.kind = HG_CMD_COPY_OUT, .from = all, .host = &word},
                                    {.kind = HG_CMD_FILL, .to = all, .value = 2},
                                    {.kind = HG_CMD_COPY_OUT, .from = all, .host = &word}};
    run(d, q, commands, HG_COUNT_OF(commands));
    CHECK_U64(word, 0x02020202);
    driver->arena_free(d, a);
}

/* ---- kernels ---- */

static const char ADD[] =
    "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
    "@group(0) @binding(1) var<storage, read_write> o: array<u32>;\n"
    "struct Record { factor: u32, count: u32 }\n"
    "@group(0) @binding(2) var<uniform> record: Record;\n"
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
    "    if (id.x < record.count) { o[id.x] = x[id.x] * record.factor + o[id.x]; }\n"
    "}\n";

/* More dispatches than records of one submission, each on what the one before it left. */
static void test_kernel(hg_device *d, hg_driver_queue *q) {
    enum { COUNT = 1000, TIMES = 1500 };
    static uint32_t x[COUNT], o[COUNT], record[TIMES][2];
    static hg_driver_command commands[TIMES + 2];
    static hg_driver_dispatch dispatches[TIMES];
    hg_driver_kernel *k = NULL;
    hg_driver_arena *arenas[2] = {NULL, NULL};
    uint32_t sum = 0;
    CHECK_OK(wg_kernel_create(d, ADD, sizeof ADD - 1, 2, 8, &k));
    CHECK_OK(kernel_made(k));
    for (int i = 0; i < 2; i++) CHECK_OK(driver->arena_alloc(d, sizeof x, &arenas[i]));
    hg_range slots[2] = {{arenas[0], 0, sizeof x}, {arenas[1], 0, sizeof o}};
    for (uint32_t i = 0; i < COUNT; i++) x[i] = i;
    commands[0] = (hg_driver_command){
        .kind = HG_CMD_COPY_IN, .to = {arenas[0], 0, sizeof x}, .host = x};
    for (uint32_t i = 0; i < TIMES; i++) {
        sum += record[i][0] = i * i + 1;
        record[i][1] = COUNT - 1;
        dispatches[i] = (hg_driver_dispatch){.kernel = k,
                                             .groups = {(COUNT + 63) / 64, 1, 1},
                                             .group = {64, 1, 1},
                                             .record = record[i],
                                             .record_bytes = 8,
                                             .slots = slots,
                                             .slot_count = 2};
        commands[i + 1] = (hg_driver_command){.kind = HG_CMD_DISPATCH, .dispatch = &dispatches[i]};
    }
    commands[TIMES + 1] = (hg_driver_command){
        .kind = HG_CMD_COPY_OUT, .from = {arenas[1], 0, sizeof o}, .host = o};
    run(d, q, commands, TIMES + 2);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_MESSAGE(o[i] == (i + 1 < COUNT ? i * sum : 0), "%u: %u", (unsigned)i, (unsigned)o[i]);
    for (int i = 0; i < 2; i++) driver->arena_free(d, arenas[i]);
    driver->kernel_destroy(k);
}

/* Parts of one buffer that do not meet are bindings beside each other; those that do are refused.
 */
static void test_parts(hg_device *d, hg_driver_queue *q) {
    enum { WORDS = 64, PART = WORDS * 4, PARTS = 8 };
    uint32_t words[PARTS * WORDS], back[PARTS * WORDS], record[2] = {3, WORDS};
    hg_driver_kernel *k = NULL;
    hg_driver_arena *a = NULL;
    CHECK_OK(wg_kernel_create(d, ADD, sizeof ADD - 1, 2, sizeof record, &k));
    CHECK_OK(kernel_made(k));
    CHECK_OK(driver->arena_alloc(d, sizeof words, &a));
    for (uint32_t i = 0; i < PARTS * WORDS; i++) words[i] = i * i + 7;
    hg_driver_command in = {.kind = HG_CMD_COPY_IN, .to = {a, 0, sizeof words}, .host = words};
    run(d, q, &in, 1);
    for (uint32_t i = 0; i < 3 * PARTS; i++) { /* more pairs than groups of bindings are kept */
        uint32_t from = i * 5 % PARTS, to = (from + 1 + i % (PARTS - 1)) % PARTS;
        hg_range slots[2] = {{a, from * PART, PART}, {a, to * PART, PART}};
        hg_driver_dispatch x = {.kernel = k,
                                .groups = {1, 1, 1},
                                .group = {64, 1, 1},
                                .record = record,
                                .record_bytes = sizeof record,
                                .slots = slots,
                                .slot_count = 2};
        hg_driver_command command = {.kind = HG_CMD_DISPATCH, .dispatch = &x};
        run(d, q, &command, 1);
        for (uint32_t w = 0; w < WORDS; w++) words[to * WORDS + w] += 3 * words[from * WORDS + w];
        slots[1].offset = slots[0].offset;
        CHECK_STATUS(driver->queue_submit(q, &command, 1, NULL, 0, NULL), HG_ERROR_INTERNAL);
        slots[1] = (hg_range){a, 0, 0}; /* all of it */
        CHECK_STATUS(driver->queue_submit(q, &command, 1, NULL, 0, NULL), HG_ERROR_INTERNAL);
    }
    hg_driver_command out = {.kind = HG_CMD_COPY_OUT, .from = {a, 0, sizeof back}, .host = back};
    run(d, q, &out, 1);
    CHECK(memcmp(words, back, sizeof back) == 0);
    driver->arena_free(d, a);
    driver->kernel_destroy(k);
}

/* ---- texts that are printed without a device: what every device binds ---- */

enum { MOST_BOUND = 8 };

static uint32_t count_of(const char *text, const char *word) {
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

/* A kernel of so many arrays has so many buffers; so many of the arrays lie behind a base. */
static void test_printed(hg_device *d, const char *caps, uint32_t arrays, uint32_t buffers,
                         uint32_t based) {
    char source[2000], *text = NULL;
    size_t at = (size_t)snprintf(source, sizeof source, PROGRAM(""));
    for (uint32_t i = 0; i < arrays; i++)
        at += (size_t)snprintf(source + at, sizeof source - at, ".param a%u buffer f32 inout [n]\n",
                               (unsigned)i);
    at += (size_t)snprintf(source + at, sizeof source - at, ".param n u64\n.lanes n\n");
    for (uint32_t i = 0; i < arrays; i++)
        at += (size_t)snprintf(source + at, sizeof source - at,
                               "    a%u[global] = a%u[global] + 1.5\n", (unsigned)i,
                               (unsigned)((i + 1) % arrays));
    hg_program *p = assemble(source);
    const hg_emit_options options = {.size = sizeof options, .caps = caps};
    CHECK_OK(hg_program_emit(p, "wgsl", &options, &text, NULL));
    if (text) {
        hg_driver_kernel *k = NULL;
        CHECK_U64(count_of(text, "var<storage, read_write>"), buffers);
        CHECK_U64(count_of(text, "    base_"), based);
        CHECK_OK(wg_kernel_create(d, text, strlen(text), buffers, 256, &k));
        if (k) CHECK_OK(kernel_made(k));
        if (k) driver->kernel_destroy(k);
    }
    hg_string_free(text);
    hg_program_release(p);
}

static void test_printed_texts(hg_device *d) {
    static const char *const CAPS[] = {"webgpu", "wgpu"};
    for (size_t i = 0; i < HG_COUNT_OF(CAPS); i++) {
        test_printed(d, CAPS[i], 1, 2, 0);
        test_printed(d, CAPS[i], 7, 8, 0);
        test_printed(d, CAPS[i], 8, MOST_BOUND, 2); /* two in one arena */
        test_printed(d, CAPS[i], 20, MOST_BOUND, 14);
    }
}

/* The same where an arena is several buffers, of which a kernel binds one. */
static void test_cut_arenas(hg_device *d, hg_driver_queue *q) {
    enum { CUT = 1280 };
    uint64_t most = d->caps.memory.cut_bytes;
    const uint32_t record[2] = {1, 2};
    hg_driver_kernel *k = NULL;
    hg_driver_arena *a = NULL;
    d->caps.memory.cut_bytes = CUT;
    test_copies(d);
    CHECK_OK(driver->arena_alloc(d, 3 * CUT, &a));
    d->caps.memory.cut_bytes = most;
    CHECK_OK(wg_kernel_create(d, ADD, sizeof ADD - 1, 2, sizeof record, &k));
    CHECK_OK(kernel_made(k));
    const hg_range slots[2] = {{a, CUT - 256, 512}, {a, 0, 256}};
    hg_driver_dispatch x = {.kernel = k,
                            .groups = {1, 1, 1},
                            .group = {64, 1, 1},
                            .record = record,
                            .record_bytes = sizeof record,
                            .slots = slots,
                            .slot_count = 2};
    hg_driver_command command = {.kind = HG_CMD_DISPATCH, .dispatch = &x};
    CHECK_STATUS(driver->queue_submit(q, &command, 1, NULL, 0, NULL), HG_ERROR_ALLOCATION_FAILED);
    CHECK_MESSAGE(strstr(hg_last_error_text(), "memory of 512 bytes") != NULL, "%s",
                  hg_last_error_text());
    driver->arena_free(d, a);
    driver->kernel_destroy(k);
}

static void test_refused(hg_device *d, hg_driver_queue *q) {
    static const char WRONG[] = "@compute @workgroup_size(1) fn main() { let x: i32 = 1u; }";
    const hg_device_caps *caps = driver->device_caps(d);
    hg_driver_kernel *k = NULL;
    hg_driver_arena *a = NULL;
    CHECK_OK(wg_kernel_create(d, WRONG, sizeof WRONG - 1, 0, 0, &k));
    CHECK_STATUS(kernel_made(k), HG_ERROR_INTERNAL);
    CHECK_MESSAGE(strstr(hg_last_error_text(), "refuses a kernel") &&
                      strstr(hg_last_error_text(), "i32"),
                  "%s", hg_last_error_text());
    driver->kernel_destroy(k);
    CHECK_STATUS(wg_kernel_create(d, ADD, sizeof ADD - 1, WG_LAYOUTS, 8, &k),
                 HG_ERROR_EXECUTION_FAILED);
    CHECK_STATUS(driver->arena_alloc(d, caps->memory.max_arena_bytes + 1, &a),
                 HG_ERROR_ALLOCATION_FAILED);
    CHECK_MESSAGE(strstr(hg_last_error_text(), "kernels reach at most") != NULL, "%s",
                  hg_last_error_text());
    /* one that goes while it is made, and work after all of that */
    CHECK_OK(wg_kernel_create(d, ADD, sizeof ADD - 1, 2, 8, &k));
    driver->kernel_destroy(k);
    test_long_copy(d, q);
    CHECK(hg_atomic_load(&d->errors, HG_RELAXED) == 0);
}

/* A device that is lost. False: this library has no call for it. */
static bool lose(hg_device *d) {
    void (*force)(WGPUDevice, uint32_t, WGPUStringView) = NULL;
    const char *name = getenv("HOLOGRAM_WEBGPU");
    hg_library *library = name ? hg_library_open(&name, 1, NULL, 0) : NULL;
    bool there = hg_library_function(library, "wgpuDeviceForceLoss", (void *)&force);
    if (there) force(d->handle, 1, wg_text("lost by a test"));
    hg_library_close(library);
    return there;
}

/* What the device says of work that it refuses, and of its loss, and that all memory comes back. */
static void test_lost(void) {
    hg_driver_options options = {.cpu_level = "", .pretend = "", .cache_dir = ""};
    hg_device *d = NULL;
    hg_driver_queue *q = NULL;
    hg_driver_event *e = NULL;
    hg_driver_arena *a = NULL, *visible[2] = {NULL, NULL};
    uint32_t word = 0;
    const uint64_t live = allocated.live;
    CHECK_OK(driver->device_open(0, &options, &d));
    CHECK_OK(wait_ready(d));
    CHECK_OK(driver->queue_create(d, &q));
    CHECK_OK(driver->event_create(d, &e));
    CHECK_OK(driver->arena_alloc(d, 256, &a));
    if (d->opening.sees_host) CHECK_OK(driver->arena_alloc_visible(d, 256, &visible[0]));
    hg_driver_command beyond = {
        .kind = HG_CMD_COPY_OUT, .from = {a, 1 << 20, sizeof word}, .host = &word};
    if (!wg_is_native()) { /* which ends the process there */
        hg_status status = driver->queue_submit(q, &beyond, 1, NULL, 0, e);
        if (status == HG_OK) status = driver->event_wait(e);
        CHECK_STATUS(status, HG_ERROR_EXECUTION_FAILED);
        CHECK_MESSAGE(strstr(hg_last_error_text(), "work was refused") != NULL, "%s",
                      hg_last_error_text());
    }
    hg_driver_command out = {.kind = HG_CMD_COPY_OUT, .from = {a, 0, sizeof word}, .host = &word};
    CHECK_OK(driver->queue_submit(q, &out, 1, NULL, 0, e));
    bool called = lose(d);
    hg_status flying = driver->event_wait(e); /* over before, or lost; it never hangs */
    CHECK(flying == HG_OK || flying == HG_ERROR_BACKEND_UNAVAILABLE);
    wg_poll(d);
    CHECK(!called || hg_atomic_load(&d->lost, HG_ACQUIRE));
    hg_atomic_store(&d->lost, 1, HG_RELEASE);
    CHECK_STATUS(driver->queue_submit(q, &beyond, 1, NULL, 0, e), HG_ERROR_BACKEND_UNAVAILABLE);
    CHECK_MESSAGE(strstr(hg_last_error_text(), "create a new backend") != NULL, "%s",
                  hg_last_error_text());
    if (d->opening.sees_host)
        CHECK_STATUS(driver->arena_alloc_visible(d, 256, &visible[1]),
                     HG_ERROR_BACKEND_UNAVAILABLE);
    driver->arena_free(d, visible[0]);
    driver->arena_free(d, a);
    driver->event_destroy(e);
    driver->queue_destroy(q);
    driver->device_close(d);
    CHECK(allocated.live <= live); /* less: a device that was closed before is gone now */
}

/* ---- a device of the host ---- */

static void on_adapter(uint32_t status, WGPUAdapter adapter, WGPUStringView said, void *one,
                       void *two) {
    (void)said, (void)two;
    CHECK(status == WGPU_STATUS_SUCCESS);
    *(WGPUAdapter *)one = adapter;
}

static void on_device(uint32_t status, WGPUDevice device, WGPUStringView said, void *one,
                      void *two) {
    (void)said, (void)two;
    CHECK(status == WGPU_STATUS_SUCCESS);
    *(WGPUDevice *)one = device;
}

static hg_status open_with(const hg_host_device *host, hg_backend **b) {
    hg_config config = hg_config_default();
    hg_opening *o = NULL;
    bool done = false;
    snprintf(config.backend, sizeof config.backend, "webgpu");
    hg_status status = hg_backend_open_with(&config, host, &o);
    while (status == HG_OK && !done) status = hg_opening_poll(o, &done, b);
    hg_opening_destroy(o);
    return status;
}

/* An instance and a device with the limits of every adapter; both are the host's before and after.
 */
static void test_host_device(void) {
    WGPUInstance instance = wg.CreateInstance(NULL);
    WGPUAdapter adapter = NULL;
    WGPUDevice device = NULL;
    WGPUDeviceDescriptor wanted = {.limits = NULL}; /* those of every adapter: 8 storage buffers */
    WGPURequestAdapterOptions options = {.feature_level = WGPU_CORE, .backend = 6 /* Vulkan */};
    WGPURequestAdapterCallbackInfo asked = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_adapter, .one = &adapter};
    WGPURequestDeviceCallbackInfo opened = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_device, .one = &device};
    hg_host_device host = {.size = sizeof host, .context = instance};
    hg_backend *b = NULL;
    (void)wg.InstanceRequestAdapter(instance, &options, asked);
    while (!adapter) wg.InstanceProcessEvents(instance);
    (void)wg.AdapterRequestDevice(adapter, &wanted, opened);
    while (!device) wg.InstanceProcessEvents(instance);
    CHECK_FAILS(open_with(&host, &b), HG_ERROR_INVALID_ARGUMENT, "",
                "webgpu: hg_host_device.device is NULL, expected WGPUInstance and WGPUDevice");
    host.device = device;
    for (int i = 0; i < 2; i++) {
        uint32_t sum[4] = {0};
        host.physical = i ? adapter : NULL;
        CHECK_OK(open_with(&host, &b));
        if (!b) return;
        CHECK_TEXT(hg_backend_name(b), "webgpu");
        CHECK(hg_backend_native(b) == (void *)device);
        hg_buffer buffer = make_buffer(b, (const uint32_t[4]){1, 2, 3, 4}, sizeof sum);
        CHECK_OK(hg_backend_copy_from_buffer(b, buffer, sum, sizeof sum));
        CHECK(sum[0] == 1 && sum[3] == 4);
        hg_backend_destroy(b);
    }
    wg.DeviceRelease(device);
    wg.AdapterRelease(adapter);
}

/* What compilers make of sums and products that are real numbers to them. */
static const char LAWS[] =
    ".atlas 1\n.program laws\n.param x buffer f32 in [n]\n.param y buffer f32 in [n]\n"
    ".param r buffer f32 inout [n, 14]\n.param n u64\n.lanes n\n"
    "    let a = x[global]\n    let b = y[global]\n"
    "    r[global, 0] = a + b - a\n    r[global, 1] = a * 3.0 * 5.0\n"
    "    r[global, 2] = a / 3.0\n    r[global, 3] = a * b + a\n"
    "    r[global, 4] = a * b + a * 3.0\n    r[global, 5] = sqrt(a) * sqrt(a)\n"
    "    r[global, 6] = a + 0.1 + 0.2\n    r[global, 7] = a - a * b\n"
    "    r[global, 8] = a + b\n    r[global, 9] = r[global, 8] - a\n"
    "    r[global, 10] = (a - b) * (a - b) + a * b\n    r[global, 11] = sqrt(a + b) * b\n"
    "    r[global, 12] = (a + b) / (a - b)\n    r[global, 13] = ((a - b) * 3.0 - b) * 5.0\n";
enum { LAW_LANES = 512, LAW_COUNT = 14 };

static void apply_laws(const char *backend, const float *x, const float *y, float *results) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    hg_program *p = NULL;
    hg_params *params = hg_params_create();
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    CHECK_OK(hg_program_assemble(LAWS, strlen(LAWS), NULL, &p));
    if (!b || !p) exit(test_done());
    hg_buffer in[2] = {make_buffer(b, x, LAW_LANES * 4), make_buffer(b, y, LAW_LANES * 4)},
              out = make_buffer(b, results, LAW_LANES * LAW_COUNT * 4);
    uint64_t n = LAW_LANES;
    CHECK_OK(hg_params_set_buffer(params, "x", in[0]));
    CHECK_OK(hg_params_set_buffer(params, "y", in[1]));
    CHECK_OK(hg_params_set_buffer(params, "r", out));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, out, results, LAW_LANES * LAW_COUNT * 4));
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
}

static void test_laws(void) {
    static float x[LAW_LANES], y[LAW_LANES], results[2][LAW_LANES * LAW_COUNT];
    for (int i = 0; i < LAW_LANES; i++) {
        x[i] = (float)(1 + random_below(1 << 24)) * 0x1p-20f;
        y[i] = (float)(1 + random_below(1 << 24)) * 0x1p-23f;
    }
    apply_laws("cpu", x, y, results[0]);
    apply_laws("webgpu", x, y, results[1]);
    for (int law = 0; law < LAW_COUNT; law++) {
        int differ = 0;
        for (int i = law; i < LAW_LANES * LAW_COUNT; i += LAW_COUNT)
            differ += memcmp(&results[0][i], &results[1][i], 4) != 0;
        CHECK_MESSAGE(!differ, "law %d: %d of %d results are not the CPU's", law, differ,
                      LAW_LANES);
    }
}

/* ---- halves: all of them widened, numbers around them rounded, and calculated with ---- */

static const char HALVES[] = PROGRAM(
    ".param h buffer u16 in [n]\n.param f buffer f32 in [n]\n"
    ".param wide buffer f32 out [n]\n.param near buffer u16 out [n]\n"
    ".param product buffer u16 out [n]\n.param sum buffer u16 out [n]\n.param n u64\n.lanes n\n"
    "    ldg.f16 r1, [h + global*2]\n    ldg.f32 r2, [f + global*4]\n"
    "    cvt.f32.f16 r3, r1\n    stg.f32 [wide + global*4], r3\n"
    "    cvt.f16.f32 r4, r2\n    stg.f16 [near + global*2], r4\n"
    "    mul.f16 r5, r1, r4\n    stg.f16 [product + global*2], r5\n"
    "    add.f16 r5, r1, r4\n    stg.f16 [sum + global*2], r5\n    exit\n");
enum { HALF_COUNT = 1 << 16 };
typedef struct halves {
    uint32_t wide[HALF_COUNT];
    uint16_t near[HALF_COUNT], product[HALF_COUNT], sum[HALF_COUNT];
} halves;

static void calculate_halves(const char *backend, const uint16_t *h, const uint32_t *f, halves *r) {
    struct {
        const char *name;
        void *data;
        size_t bytes;
        hg_buffer buffer;
    } arrays[] = {{"h", (void *)(uintptr_t)h, 2, {0}}, {"f", (void *)(uintptr_t)f, 4, {0}},
                  {"wide", r->wide, 4, {0}},           {"near", r->near, 2, {0}},
                  {"product", r->product, 2, {0}},     {"sum", r->sum, 2, {0}}};
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    hg_params *params = hg_params_create();
    uint64_t n = HALF_COUNT;
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) exit(test_done());
    hg_program *p = assemble(HALVES);
    for (size_t i = 0; i < HG_COUNT_OF(arrays); i++) {
        arrays[i].buffer = make_buffer(b, arrays[i].data, HALF_COUNT * arrays[i].bytes);
        CHECK_OK(hg_params_set_buffer(params, arrays[i].name, arrays[i].buffer));
    }
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    for (size_t i = 2; i < HG_COUNT_OF(arrays); i++)
        CHECK_OK(hg_backend_copy_from_buffer(b, arrays[i].buffer, arrays[i].data,
                                             HALF_COUNT * arrays[i].bytes));
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
}

static bool same_half(uint16_t x, uint16_t y) {
    return x == y || ((x & 0x7fff) > 0x7c00 && (y & 0x7fff) > 0x7c00);
}

static void test_halves(void) {
    enum {
        BELOW = 0x32800000,
        STEP = 0x1580 /* from below the least half to beyond the largest */
    };
    static const uint32_t NEAR[] = {0, 0x1000, 0x0fff, 0x1001, 0x3000, 0x2fff, 0x3001};
    static uint16_t h[HALF_COUNT];
    static uint32_t f[HALF_COUNT];
    static halves results[2];
    uint32_t differ[4] = {0};
    for (uint32_t i = 0; i < HALF_COUNT; i++) {
        h[i] = (uint16_t)(i * 40503); /* each once */
        f[i] = (((BELOW + i * STEP) & ~UINT32_C(0x3fff)) + NEAR[i % HG_COUNT_OF(NEAR)]) | i << 31;
        if (i % 97 == 0) f[i] = (uint32_t)random_below(UINT64_C(1) << 32);
    }
    calculate_halves("cpu", h, f, &results[0]);
    calculate_halves("webgpu", h, f, &results[1]);
    for (uint32_t i = 0; i < HALF_COUNT; i++) {
        const halves *x = &results[0], *y = &results[1];
        bool nan = (x->wide[i] & 0x7fffffff) > 0x7f800000 && (y->wide[i] & 0x7fffffff) > 0x7f800000;
        differ[0] += x->wide[i] != y->wide[i] && !nan;
        differ[1] += !same_half(x->near[i], y->near[i]);
        differ[2] += !same_half(x->product[i], y->product[i]);
        differ[3] += !same_half(x->sum[i], y->sum[i]);
    }
    for (int i = 0; i < 4; i++)
        CHECK_MESSAGE(!differ[i], "%u results of operation %d are not the CPU's",
                      (unsigned)differ[i], i);
}

/* ---- launches: which memory is bound as what ---- */

enum { LAUNCH_N = 100, MOST_ARRAYS = 24 };

/* The last array becomes the sum of all. use: which buffer each array is; several may be one. */
static void test_sum(hg_backend *b, const uint32_t *use, uint32_t count) {
    char text[4096], name[8];
    uint32_t model[MOST_ARRAYS][LAUNCH_N], back[LAUNCH_N];
    hg_buffer buffers[MOST_ARRAYS];
    hg_params *params = hg_params_create();
    size_t at = (size_t)snprintf(text, sizeof text, PROGRAM(""));
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, ".param a%u buffer u32 inout [n]\n",
                               (unsigned)i);
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ".param n u64\n.lanes n\n    a%u[global] = a0[global]",
                           (unsigned)(count - 1));
    for (uint32_t i = 1; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " + a%u[global]", (unsigned)i);
    snprintf(text + at, sizeof text - at, "\n");
    for (uint32_t i = 0; i < MOST_ARRAYS; i++) {
        for (uint32_t k = 0; k < LAUNCH_N; k++) model[i][k] = (i + 1) * 1000003 + k * k;
        CHECK_OK(hg_backend_allocate_buffer(b, sizeof back, &buffers[i]));
        CHECK_OK(hg_backend_copy_to_buffer(b, buffers[i], model[i], sizeof back));
    }
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "a%u", (unsigned)i);
        CHECK_OK(hg_params_set_buffer(params, name, buffers[use[i]]));
    }
    for (uint32_t k = 0; k < LAUNCH_N; k++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < count; i++) sum += model[use[i]][k];
        model[use[count - 1]][k] = sum;
    }
    hg_program *p = assemble(text);
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    for (uint32_t i = 0; i < MOST_ARRAYS; i++) {
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[i], back, sizeof back));
        CHECK_MESSAGE(memcmp(back, model[i], sizeof back) == 0, "buffer %u of %u arrays",
                      (unsigned)i, (unsigned)count);
        CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    }
    hg_program_release(p);
    hg_params_destroy(params);
}

static hg_status give_program(void *user, const char *file, hg_diagnostics *diagnostics,
                              hg_program **program) {
    (void)file, (void)diagnostics;
    *program = hg_program_retain(user);
    return HG_OK;
}

/* As many arrays with an arena of their own as leave a device that binds ten one for all the rest:
 * the small array shares it with the fault record. */
static void test_own_arenas(hg_backend *b) {
    enum { OWN = 9, OWN_N = 17 << 18 };
    char text[2048], name[8];
    uint32_t row[LAUNCH_N], back[LAUNCH_N];
    hg_buffer own[OWN], y = make_buffer(b, memset(row, 0, sizeof row), sizeof row);
    hg_params *params = hg_params_create();
    size_t at = (size_t)snprintf(text, sizeof text, PROGRAM(""));
    for (uint32_t i = 0; i < OWN; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, ".param a%u buffer u32 in [n]\n",
                               (unsigned)i);
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ".param y buffer u32 inout\n.param n u64\n.param skip u64\n"
                           ".lanes 100\n    y[global + skip] = a0[global]");
    for (uint32_t i = 1; i < OWN; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " + a%u[global]", (unsigned)i);
    snprintf(text + at, sizeof text - at, "\n");
    for (uint32_t i = 0; i < OWN; i++) {
        for (uint32_t k = 0; k < LAUNCH_N; k++) row[k] = (i + 1) * 1000003 + k * k;
        CHECK_OK(hg_backend_allocate_buffer(b, OWN_N * sizeof *row, &own[i]));
        CHECK_OK(hg_backend_copy_to_buffer(b, own[i], row, sizeof row));
        snprintf(name, sizeof name, "a%u", (unsigned)i);
        CHECK_OK(hg_params_set_buffer(params, name, own[i]));
    }
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &(uint64_t){OWN_N}));
    hg_program *p = assemble(text);
    for (uint64_t skip = 0; skip < 3; skip++) {
        CHECK_OK(hg_params_set_scalar(params, "skip", HG_TYPE_U64, &(uint64_t){skip % 2}));
        hg_status status = hg_backend_execute_program_with_params(b, p, NULL, params);
        CHECK_STATUS(status, skip == 1 ? HG_ERROR_EXECUTION_FAILED : HG_OK);
        if (skip == 1) CHECK(hg_last_error()->lane == LAUNCH_N - 1);
    }
    CHECK_OK(hg_backend_copy_from_buffer(b, y, back, sizeof back));
    for (uint32_t k = 0; k < LAUNCH_N; k++)
        CHECK(back[k] == OWN * (OWN + 1) / 2 * 1000003u + OWN * k * k);
    for (uint32_t i = 0; i < OWN; i++) CHECK_OK(hg_backend_free_buffer(b, own[i]));
    CHECK_OK(hg_backend_free_buffer(b, y));
    hg_program_release(p);
    hg_params_destroy(params);
}

/* An array of no elements that begins where its arena ends. */
static void test_nothing(hg_backend *b) {
    static const char GRAPH[] = ".graph 1\n.program p \"p\"\n.input x u32 [4194304]\n"
                                ".view z = x + 4194304 u32 [0]\n"
                                "y u32 [100] = @p z=z, m=0, n=100\n.output y\n";
    hg_program *p = assemble(PROGRAM(
        ".param z buffer u32 in [m]\n.param y buffer u32 out [n]\n.param m u64\n.param n u64\n"
        ".lanes n\n.reg v u32\n    mov v, 7\n    if global < m {\n        ldg v, [z[global]]\n"
        "    }\n    y[global] = v\n"));
    hg_graph_read_options options = {.size = sizeof options, .program = give_program, .user = p};
    hg_graph *g = NULL;
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_buffer x, y;
    hg_params *params = hg_params_create();
    uint32_t back[LAUNCH_N] = {0};
    CHECK_OK(hg_graph_read_text(GRAPH, sizeof GRAPH - 1, &options, NULL, &g));
    CHECK_OK(hg_graph_compile(b, g, NULL, &executable));
    CHECK_OK(hg_backend_allocate_buffer(b, 4194304 * sizeof *back, &x));
    CHECK_OK(hg_backend_allocate_buffer(b, sizeof back, &y));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_graph_bind(executable, params, &binding));
    CHECK_OK(hg_graph_binding_launch(binding));
    CHECK_OK(hg_backend_copy_from_buffer(b, y, back, sizeof back));
    CHECK(back[0] == 7 && back[LAUNCH_N - 1] == 7);
    hg_graph_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
    hg_graph_executable_destroy(executable);
    hg_graph_release(g);
    hg_params_destroy(params);
    hg_program_release(p);
}

/* A context's faults are recorded in memory of the host, or copied where kernels do not see that:
 * neither is a failure. */
static void test_record(hg_backend *b) {
    uint32_t zeros[LAUNCH_N] = {0};
    hg_buffer y = make_buffer(b, zeros, sizeof zeros);
    hg_params *params = hg_params_create();
    hg_program *p = assemble(
        PROGRAM(".param y buffer u32 inout [100]\n.lanes 100\n    y[u64(y[global])] = 0\n"));
    hg_executable *executable = NULL;
    hg_binding *binding = NULL;
    hg_context *context = NULL;
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_executable_create(b, p, &executable));
    CHECK_OK(hg_binding_create(executable, NULL, params, &binding));
    CHECK_OK(hg_context_create(b, &context));
    CHECK_STATUS(hg_backend_create("webgpu", 0, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hg_binding_launch_in(binding, context));
    CHECK_MESSAGE(hg_last_error()->status == HG_ERROR_INVALID_ARGUMENT, "%s", hg_last_error_text());
    hg_context_destroy(context);
    hg_binding_destroy(binding);
    hg_executable_destroy(executable);
    CHECK_OK(hg_backend_free_buffer(b, y));
    hg_params_destroy(params);
    hg_program_release(p);
}

/* A lane without end is ended when its time is over, however long that is, by the host's word or by
 * its own count of rounds (test_kir_cases has that), and others go on. A device that leaves long
 * loops by itself says so. */
static void test_endless(hg_backend *b, const uint32_t *use) {
    static const char TEXT[] = PROGRAM(
        ".param y buffer u32 inout [n]\n.param n u64\n.lanes n\n    if global == n - 1 {\n"
        "        while y[global] < 1 {\n            y[global] = 0\n        }\n    }\n");
    static const uint64_t TIMEOUTS[] = {500, 2000};
    hg_program *p = assemble(TEXT);
    for (uint32_t i = 0; i < HG_COUNT_OF(TIMEOUTS); i++) {
        hg_launch launch = HG_LAUNCH_PROGRAM;
        hg_params *params = hg_params_create();
        uint64_t n = i ? 1 : LAUNCH_N;
        uint32_t zeros[LAUNCH_N] = {0};
        char late[48];
        hg_buffer y = make_buffer(b, zeros, sizeof zeros);
        launch.timeout_ms = TIMEOUTS[i];
        snprintf(late, sizeof late, "timeout after %u ms", (unsigned)TIMEOUTS[i]);
        CHECK_OK(hg_params_set_buffer(params, "y", y));
        CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
        hg_status status = hg_backend_execute_program_with_params(b, p, &launch, params);
        CHECK_STATUS(status, HG_ERROR_EXECUTION_FAILED);
        const char *said = hg_last_error()->message;
        CHECK_MESSAGE(strstr(said, late) || strstr(said, "rounds of loops in a lane"), "%s", said);
        CHECK_OK(hg_backend_free_buffer(b, y));
        hg_params_destroy(params);
        test_sum(b, use, 3); /* the device is good for more */
    }
    hg_program_release(p);
}

static void test_launches(void) {
    static const uint32_t MANY[MOST_ARRAYS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                               12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
    hg_backend *b = NULL;
    CHECK_OK(hg_backend_create("webgpu", 0, &b));
    if (!b) return;
    test_record(b);
    for (uint32_t i = 0; i < 27; i += 2) {
        const uint32_t use[3] = {i % 3, i / 3 % 3, i / 9};
        test_sum(b, use, 3);
    }
    test_sum(b, MANY, 6);
    test_sum(b, MANY, MOST_ARRAYS); /* more than the adapters here bind */
    test_own_arenas(b);
    test_nothing(b);
    test_endless(b, MANY);
    hg_backend_destroy(b);
}

int main(void) {
    const hg_allocator allocator = {sizeof allocator, &allocated, failing_reallocate,
                                    failing_release};
    hg_driver_options options = {.cpu_level = "", .pretend = "", .cache_dir = ""};
    hg_device_info info;
    char reason[256] = "";
    hg_device *d = NULL;
    hg_driver_queue *q = NULL;
    CHECK_OK(hg_set_allocator(&allocator));
    if (driver->enumerate(&info, 1, reason) == 0) {
        CHECK(reason[0] != 0);
        hg_status status = driver->device_open(0, &options, &d);
        if (status == HG_OK) { /* the library is there, and finds no adapter */
            status = wait_ready(d);
            driver->device_close(d);
        }
        CHECK_STATUS(status, HG_ERROR_BACKEND_UNAVAILABLE);
        SKIP(reason);
        return test_done();
    }
    CHECK_STATUS(driver->device_open(1, &options, &d), HG_ERROR_BACKEND_UNAVAILABLE);
    CHECK_OK(driver->device_open(0, &options, &d));
    driver->device_close(d); /* while it opens */
    CHECK_OK(driver->device_open(0, &options, &d));
    CHECK_OK(wait_ready(d));
    CHECK_OK(driver->queue_create(d, &q));
    test_copies(d);
    test_cut_arenas(d, q);
    test_reads(d, q);
    test_kernel(d, q);
    test_parts(d, q);
    test_refused(d, q);
    test_printed_texts(d);
    driver->queue_destroy(q);
    driver->device_close(d);
    test_lost();
    test_host_device();
    test_laws();
    test_halves();
    test_launches();
    return test_done();
}
