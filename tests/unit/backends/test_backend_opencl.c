/* test: labels=slow timeout=300
 * The OpenCL driver by its table: memory, copies, queues that wait for each other, calls of the
 * host, binaries kept on disk, and every single call of the library failing. */
#include "backends/opencl/opencl_internal.h"
#include "base/thread.h"
#include "support/device_support.h"
#include "kir/builder.h"
#include <unistd.h>

#if defined(HG_OPENCL_HEADERS)

static uint64_t random_state = 88172645463325252u;
static uint8_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return (uint8_t)(random_state ^= random_state << 17);
}

/* ---- memory ---- */

static hg_driver_command copy_in(hg_driver_arena *arena, uint64_t at, uint64_t size, void *host) {
    return (hg_driver_command){.kind = HG_CMD_COPY_IN, .to = {arena, at, size}, .host = host};
}
static hg_driver_command copy_out(hg_driver_arena *arena, uint64_t at, uint64_t size, void *host) {
    return (hg_driver_command){.kind = HG_CMD_COPY_OUT, .from = {arena, at, size}, .host = host};
}

static void test_zeroed(device_fixture *d) {
    static const uint64_t SIZES[] = {0, 1, 3, 8, 1000, 100000, 5 << 20};
    for (size_t i = 0; i < HG_COUNT_OF(SIZES); i++) {
        hg_driver_arena *arena = NULL;
        uint8_t *bytes = malloc(SIZES[i] + 1);
        uint64_t wrong = 0;
        memset(bytes, 0xaa, SIZES[i] + 1);
        CHECK(d->driver->arena_alloc(d->device, SIZES[i], &arena) == HG_OK);
        hg_driver_command out = copy_out(arena, 0, SIZES[i], bytes);
        if (arena) (void)device_submit(d, &out, 1);
        for (uint64_t k = 0; k < SIZES[i]; k++) wrong += bytes[k] != 0;
        CHECK_U64(wrong, 0);
        CHECK_U64(bytes[SIZES[i]], 0xaa);
        d->driver->arena_free(d->device, arena);
        free(bytes);
    }
    hg_driver_arena *arena = NULL;
    CHECK(d->driver->arena_alloc(d->device, UINT64_MAX - 3, &arena) == HG_ERROR_ALLOCATION_FAILED);
    CHECK(d->driver->arena_alloc(d->device, d->caps->memory.max_arena_bytes + 1, &arena) ==
          HG_ERROR_ALLOCATION_FAILED);
}

/* Copies, overlapping ones too, and fills of any place and size, against memmove and memset. */
static void test_copies(device_fixture *d) {
    enum { SIZE = 3000, ROUNDS = 300 };
    static uint8_t model[2][SIZE], got[SIZE], fresh[SIZE];
    hg_driver_arena *arenas[2] = {NULL, NULL};
    memset(model, 0, sizeof model);
    CHECK(d->driver->arena_alloc(d->device, SIZE, &arenas[0]) == HG_OK);
    hg_status visible = d->driver->arena_alloc_visible(d->device, SIZE, &arenas[1]);
    if (visible != HG_OK) CHECK(d->driver->arena_alloc(d->device, SIZE, &arenas[1]) == HG_OK);
    for (int round = 0; round < ROUNDS && arenas[0] && arenas[1]; round++) {
        int to = next_random() & 1, from = next_random() & 1;
        uint64_t a = next_random() * 12u % SIZE, b = next_random() * 12u % SIZE;
        uint64_t room = SIZE - (a > b ? a : b), size = (next_random() * 7u) % (room + 1);
        uint8_t value = next_random();
        hg_driver_command c = {
            .kind = HG_CMD_COPY, .to = {arenas[to], a, size}, .from = {arenas[from], b, size}};
        switch (next_random() % 3) {
        case 0: memmove(model[to] + a, model[from] + b, size); break;
        case 1:
            c = (hg_driver_command){
                .kind = HG_CMD_FILL, .to = {arenas[to], a, size}, .value = value};
            memset(model[to] + a, value, size);
            break;
        default:
            for (uint64_t i = 0; i < size; i++) fresh[i] = next_random();
            c = copy_in(arenas[to], a, size, fresh);
            memcpy(model[to] + a, fresh, size);
        }
        if (!device_submit(d, &c, 1)) break;
    }
    for (int i = 0; i < 2 && arenas[i]; i++) {
        hg_driver_command out = copy_out(arenas[i], 0, SIZE, got);
        CHECK(device_submit(d, &out, 1) && memcmp(got, model[i], SIZE) == 0);
    }
    if (visible == HG_OK) CHECK(memcmp(d->driver->arena_map(arenas[1]), model[1], SIZE) == 0);
    for (int i = 0; i < 2; i++) d->driver->arena_free(d->device, arenas[i]);
}

static void test_import(device_fixture *d) {
    enum { SIZE = 4096 };
    uint8_t *host = hg_alloc_aligned(SIZE, 64), back[SIZE];
    hg_driver_arena *arena = NULL;
    memset(host, 7, SIZE);
    if (!d->caps->memory.can_import) {
        CHECK(d->driver->arena_import(d->device, host, SIZE, &arena) ==
              HG_ERROR_BACKEND_UNAVAILABLE);
    } else {
        CHECK(d->driver->arena_import(d->device, host + 1, SIZE - 1, &arena) ==
              HG_ERROR_BACKEND_UNAVAILABLE);
        CHECK(d->driver->arena_import(d->device, host, SIZE, &arena) == HG_OK);
        hg_driver_command c[] = {copy_out(arena, 0, SIZE, back),
                                 {.kind = HG_CMD_FILL, .to = {arena, 5, 1}, .value = 9}};
        CHECK(device_submit(d, c, 2));
        CHECK_U64(back[5], 7);
        CHECK_U64(host[5], 9);
        d->driver->arena_free(d->device, arena);
    }
    hg_free_aligned(host);
}

/* ---- kernels ---- */

/* out[i] = in[i] * factor + i, for as many lanes as count says. */
static void build_scale(device_kernel *k) {
    kir_builder builder, *b = &builder;
    device_kernel_begin(k, b, "scale", 2);
    kir_value *factor = build_field(k, b, KIR_FIELD_INPUT, 0, HG_TYPE_U32),
              *count = build_field(k, b, KIR_FIELD_COUNT, 0, HG_TYPE_U32);
    kir_value *lane = build_id(b, KIR_ID_THREAD),
              *inside = kir_if_begin(b, kir_binary(b, KIR_CMP_ULT, lane, count));
    kir_value *at = kir_convert(b, KIR_ZEXT, HG_TYPE_U64,
                                kir_mul(b, lane, kir_const(b, HG_TYPE_U32, 4)));
    build_store(b, 1, at, kir_add(b, kir_mul(b, build_load(b, 0, at, HG_TYPE_U32), factor), lane));
    kir_if_end(b, inside);
    device_kernel_end(k, b);
}

/* A kernel that waits until the host writes a word of visible memory, and says that it has begun.
 */
static void build_waiter(device_kernel *k) {
    kir_builder builder, *b = &builder;
    device_kernel_begin(k, b, "waiter", 1);
    kir_value *begun = kir_const(b, HG_TYPE_U64, 0), *go = kir_const(b, HG_TYPE_U64, 64);
    (void)build_atomic(b, 0, KIR_ATOMIC_EXCH, 1, begun,
                       (kir_value *[]){kir_const(b, HG_TYPE_U32, 1)});
    kir_value *loop = kir_loop_begin(b, false), *word = build_load(b, 0, go, HG_TYPE_U32);
    word->u.mem.volatile_access = 1;
    kir_value *end = kir_if_begin(
        b, kir_not(b, kir_binary(b, KIR_CMP_EQ, word, kir_const(b, HG_TYPE_U32, 0))));
    kir_break(b);
    kir_if_end(b, end);
    kir_loop_end(b, loop);
    device_kernel_end(k, b);
}

/* Host and kernel see visible memory while the kernel runs, submit does not wait for it, and
 * another queue waits for the event. */
static void test_visible(device_fixture *d) {
    device_kernel k;
    hg_driver_arena *arena = NULL, *plain = NULL;
    hg_driver_queue *other = NULL;
    hg_driver_event *after = NULL;
    bool done = true;
    uint32_t word = 5;
    if (d->driver->arena_alloc_visible(d->device, 128, &arena) != HG_OK) {
        SKIP("the device has no memory that host and kernels see at once");
        return;
    }
    volatile uint32_t *words = d->driver->arena_map(arena);
    build_waiter(&k);
    hg_driver_code code = {
        .module = k.module, .layout = &k.layout, .group = {1, 1, 1}, .group_memory = 0};
    hg_range slot = {arena, 0, 128};
    hg_driver_dispatch dispatch = {
        .groups = {1, 1, 1}, .group = {1, 1, 1}, .slots = &slot, .slot_count = 1};
    CHECK(d->driver->code_create(d->device, &code, &dispatch.kernel) == HG_OK);
    CHECK(d->driver->queue_create(d->device, &other) == HG_OK &&
          d->driver->event_create(d->device, &after) == HG_OK);
    CHECK(d->driver->arena_alloc(d->device, 64, &plain) == HG_OK);
    hg_driver_command run = {.kind = HG_CMD_DISPATCH, .dispatch = &dispatch},
                      then = copy_out(plain, 0, 4, &word);
    CHECK(d->driver->queue_submit(d->queue, &run, 1, NULL, 0, d->event) == HG_OK);
    CHECK(d->driver->queue_submit(other, &then, 1, &d->event, 1, after) == HG_OK);
    uint64_t limit = hg_clock_ns() + 60000000000u;
    while (!words[0] && hg_clock_ns() < limit) usleep(100);
    CHECK_U64(words[0], 1);
    CHECK(d->driver->event_query(d->event, &done) == HG_OK && !done);
    CHECK(d->driver->event_query(after, &done) == HG_OK && !done);
    CHECK_U64(word, 5);
    words[16] = 1;
    CHECK(d->driver->event_wait(after) == HG_OK && d->driver->event_wait(d->event) == HG_OK);
    CHECK(d->driver->event_query(d->event, &done) == HG_OK && done);
    CHECK_U64(word, 0);
    d->driver->queue_destroy(other);
    d->driver->event_destroy(after);
    d->driver->kernel_destroy(dispatch.kernel);
    d->driver->arena_free(d->device, arena);
    d->driver->arena_free(d->device, plain);
    device_kernel_free(&k);
}

/* ---- one kernel from several threads ---- */

enum { THREADS = 4, COUNT = 1000, REPEATS = 50 };
typedef struct worker {
    device_fixture *d;
    hg_driver_kernel *kernel;
    uint32_t factor, wrong;
    uint32_t in[COUNT], out[COUNT]; /* outlive a wait that fails */
} worker;

static hg_status scale_once(worker *w, hg_driver_queue *queue, hg_driver_event *event,
                            hg_driver_arena *const *arenas) {
    uint64_t record[2] = {0, w->factor | (uint64_t)COUNT << 32};
    hg_range slots[2] = {{arenas[0], 0, sizeof w->in}, {arenas[1], 0, sizeof w->out}};
    hg_driver_dispatch dispatch = {.kernel = w->kernel,
                                   .groups = {(COUNT + 63) / 64, 1, 1},
                                   .group = {64, 1, 1},
                                   .record = record,
                                   .record_bytes = sizeof record,
                                   .slots = slots,
                                   .slot_count = 2};
    for (uint32_t i = 0; i < COUNT; i++) w->in[i] = i * w->factor;
    hg_driver_command c[] = {copy_in(arenas[0], 0, sizeof w->in, w->in),
                             {.kind = HG_CMD_DISPATCH, .dispatch = &dispatch},
                             copy_out(arenas[1], 0, sizeof w->out, w->out)};
    HG_TRY(w->d->driver->queue_submit(queue, c, 3, NULL, 0, event));
    HG_TRY(w->d->driver->event_wait(event));
    for (uint32_t i = 0; i < COUNT; i++) w->wrong += w->out[i] != i * w->factor * w->factor + i;
    return HG_OK;
}

static void *work(void *user) {
    worker *w = user;
    const hg_driver *driver = w->d->driver;
    hg_driver_queue *queue = NULL;
    hg_driver_event *event = NULL;
    hg_driver_arena *arenas[2] = {NULL, NULL};
    bool ok = driver->queue_create(w->d->device, &queue) == HG_OK &&
              driver->event_create(w->d->device, &event) == HG_OK;
    for (int i = 0; i < 2; i++)
        ok = ok && driver->arena_alloc(w->d->device, COUNT * 4, &arenas[i]) == HG_OK;
    for (int i = 0; i < REPEATS && ok; i++) ok = scale_once(w, queue, event, arenas) == HG_OK;
    if (!ok) w->wrong++;
    for (int i = 0; i < 2; i++) driver->arena_free(w->d->device, arenas[i]);
    if (event) driver->event_destroy(event);
    if (queue) driver->queue_destroy(queue);
    return NULL;
}

static void test_threads(device_fixture *d) {
    device_kernel k;
    worker workers[THREADS];
    hg_thread threads[THREADS];
    hg_driver_kernel *kernel = NULL;
    build_scale(&k);
    hg_driver_code code = {
        .module = k.module, .layout = &k.layout, .group = {64, 1, 1}, .group_memory = 0};
    CHECK(d->driver->code_create(d->device, &code, &kernel) == HG_OK);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.d = d, .kernel = kernel, .factor = i * 1000 + 3};
        CHECK(hg_thread_start(&threads[i], work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        hg_thread_join(threads[i]);
        CHECK_U64(workers[i].wrong, 0);
    }
    d->driver->kernel_destroy(kernel);
    device_kernel_free(&k);
}

/* ---- every call fails ---- */

static int64_t calls_left;
static const char *failed_call;
static cl_int fail_one(const char *call) {
    if (calls_left-- != 0) return CL_SUCCESS;
    failed_call = call;
    return CL_OUT_OF_RESOURCES;
}

static int64_t live_blocks;
static void *counting_reallocate(void *user, void *block, size_t size) {
    void *got = realloc(block, size);
    (void)user;
    if (got && !block) (void)__atomic_add_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
    return got;
}
static void counting_release(void *user, void *block) {
    (void)user;
    if (block) (void)__atomic_sub_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
    free(block);
}

/* A session from opening to closing, with one of everything. *right tells whether the answer was
 * right, if there was one. */
static hg_status session(const device_kernel *k, bool *right) {
    const hg_driver *driver = &hg_driver_opencl;
    hg_driver_options options = {.cpu_level = "", .pretend = "", .cache_dir = ""};
    device_fixture d = {.driver = driver};
    hg_driver_arena *arenas[3] = {NULL, NULL, NULL};
    hg_driver_kernel *kernel = NULL;
    hg_driver_code code = {
        .module = k->module, .layout = &k->layout, .group = {64, 1, 1}, .group_memory = 0};
    hg_status status = driver->device_open(0, &options, &d.device);
    if (status != HG_OK) return status;
    status = driver->queue_create(d.device, &d.queue);
    if (status == HG_OK) status = driver->event_create(d.device, &d.event);
    for (int i = 0; i < 2 && status == HG_OK; i++)
        status = driver->arena_alloc(d.device, COUNT * 4, &arenas[i]);
    hg_status visible = status == HG_OK ? driver->arena_alloc_visible(d.device, 64, &arenas[2])
                                        : status;
    if (visible != HG_ERROR_BACKEND_UNAVAILABLE) status = visible;
    if (status == HG_OK) status = driver->code_create(d.device, &code, &kernel);
    worker w = {.d = &d, .kernel = kernel, .factor = 3};
    hg_driver_command c[] = {
        {.kind = HG_CMD_FILL, .to = {arenas[0], 0, 100}, .value = 1},
        {.kind = HG_CMD_COPY, .to = {arenas[1], 0, 100}, .from = {arenas[0], 0, 100}},
        {.kind = HG_CMD_COPY, .to = {arenas[1], 10, 100}, .from = {arenas[1], 0, 100}}};
    if (status == HG_OK)
        status = driver->queue_submit(d.queue, c, HG_COUNT_OF(c), NULL, 0, d.event);
    if (status == HG_OK) status = driver->queue_submit(d.queue, c, 0, &d.event, 1, NULL);
    if (status == HG_OK) status = scale_once(&w, d.queue, d.event, arenas);
    *right = w.wrong == 0;
    bool done;
    if (status == HG_OK) status = driver->event_query(d.event, &done);
    if (kernel) driver->kernel_destroy(kernel);
    if (d.queue) driver->queue_destroy(d.queue);
    for (int i = 0; i < 3; i++) driver->arena_free(d.device, arenas[i]);
    if (d.event) driver->event_destroy(d.event);
    driver->device_close(d.device);
    return status;
}

static void test_failing(void) {
    enum { MOST = 400 };
    device_kernel k;
    bool right = false;
    int64_t n = 0;
    build_scale(&k);
    CHECK(session(&k, &right) == HG_OK && right);
    opencl_before_call = fail_one;
    for (; n < MOST; n++) {
        int64_t before = live_blocks;
        calls_left = n;
        failed_call = NULL;
        right = true;
        hg_status status = session(&k, &right);
        if (!failed_call) break;
        const char *message = hg_last_error_text();
        CHECK_MESSAGE(right, "%s failed as call %lld, and the result was wrong", failed_call,
                      (long long)n);
        CHECK_MESSAGE(live_blocks == before, "%s failed as call %lld: %lld blocks are left",
                      failed_call, (long long)n, (long long)(live_blocks - before));
        if (status != HG_OK)
            CHECK_MESSAGE(strstr(message, "opencl") != NULL, "%s failed as call %lld: %s",
                          failed_call, (long long)n, message);
    }
    opencl_before_call = NULL;
    CHECK_MESSAGE(n > 40 && n < MOST, "%lld calls", (long long)n);
    CHECK(session(&k, &right) == HG_OK && right);
    device_kernel_free(&k);
}

/* ---- binaries on disk ---- */

static int64_t sources, binaries;
static cl_int count_programs(const char *call) {
    sources += strcmp(call, "clCreateProgramWithSource") == 0;
    binaries += strcmp(call, "clCreateProgramWithBinary") == 0;
    return CL_SUCCESS;
}
static cl_int refuse_binaries(const char *call) {
    (void)count_programs(call);
    return strcmp(call, "clCreateProgramWithBinary") == 0 ? CL_INVALID_BINARY : CL_SUCCESS;
}

static void make_with_cache(const char *folder, const device_kernel *k) {
    hg_driver_options options = {
        .cpu_level = "", .pretend = "", .cache_dir = folder, .cache_bytes = 16 << 20};
    hg_device *device = NULL;
    hg_driver_kernel *kernel = NULL;
    hg_driver_code code = {
        .module = k->module, .layout = &k->layout, .group = {64, 1, 1}, .group_memory = 0};
    sources = binaries = 0;
    CHECK(hg_driver_opencl.device_open(0, &options, &device) == HG_OK);
    CHECK_MESSAGE(hg_driver_opencl.code_create(device, &code, &kernel) == HG_OK, "%s",
                  hg_last_error_text());
    device_fixture d = {.driver = &hg_driver_opencl, .device = device};
    worker w = {.d = &d, .kernel = kernel, .factor = 11};
    (void)work(&w);
    CHECK_U64(w.wrong, 0);
    hg_driver_opencl.kernel_destroy(kernel);
    hg_driver_opencl.device_close(device);
}

static void test_cache(void) {
    char folder[] = "/tmp/hologram-test-XXXXXX", command[64];
    device_kernel k;
    if (!mkdtemp(folder)) {
        SKIP("no folder for a cache");
        return;
    }
    build_scale(&k);
    opencl_before_call = count_programs;
    make_with_cache(folder, &k);
    CHECK(sources == 1 && binaries == 0);
    make_with_cache(folder, &k); /* on a CPU the second process keeps the binary */
    CHECK(sources <= 1 && sources + binaries == 1);
    make_with_cache(folder, &k);
    CHECK(sources == 0 && binaries == 1);
    opencl_before_call = refuse_binaries; /* a driver that does not take its own binary any more:
                                             the entry is made again */
    make_with_cache(folder, &k);
    CHECK(sources == 1 && binaries == 1);
    opencl_before_call = count_programs;
    make_with_cache(folder, &k);
    CHECK(sources == 0 && binaries == 1);
    opencl_before_call = NULL;
    device_kernel_free(&k);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

/* What a device pretends to lack is missing in its capabilities. */
static void test_pretend(void) {
    device_fixture d;
    char reason[256] = "";
    hg_driver_arena *arena = NULL;
    if (!device_open(&d, &hg_driver_opencl, "staging,no-fp64,no-atomic64", reason)) return;
    CHECK(!d.caps->compiler.kir.f64 && !d.caps->compiler.target.atomic64 &&
          d.caps->compiler.kir.i64);
    CHECK(d.driver->arena_alloc_visible(d.device, 64, &arena) == HG_ERROR_BACKEND_UNAVAILABLE);
    device_shut(&d);
    CHECK(hg_driver_opencl.device_open(1000, &(hg_driver_options){.pretend = "", .cache_dir = ""},
                                       &d.device) == HG_ERROR_BACKEND_UNAVAILABLE);
}

static const hg_allocator ALLOCATOR = {sizeof(hg_allocator), NULL, counting_reallocate,
                                       counting_release};

int main(void) {
    device_fixture d;
    char reason[256] = "";
    CHECK(hg_set_allocator(&ALLOCATOR) == HG_OK);
    if (!device_open(&d, &hg_driver_opencl, "", reason)) {
        CHECK(reason[0] != 0);
        SKIP(reason);
        return test_done();
    }
    test_zeroed(&d);
    test_copies(&d);
    test_import(&d);
    test_visible(&d);
    test_threads(&d);
    device_shut(&d);
    test_failing();
    test_cache();
    test_pretend();
    return test_done();
}

#else

int main(void) {
    SKIP("this build was made without CL/cl.h");
    return test_done();
}

#endif
