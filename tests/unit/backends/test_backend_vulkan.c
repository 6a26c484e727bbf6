/* The Vulkan driver by itself, on every device found: memory, copies, fills, queues and events,
 * kernels written by hand (compiled here by glslangValidator), failures of every call. Then all of
 * it again under the validation layer, which must say nothing; not under sanitizers. */
/* test: labels=slow timeout=300 */
#include "backends/vulkan/vulkan_internal.h"
#include "support/sanitized.h"
#include "support/vulkan_drivers.h"
#include "test.h"
#if HG_HAS_VULKAN
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

extern const hg_driver hg_driver_vulkan;
static const hg_driver *const driver = &hg_driver_vulkan;

/* ---- failing calls ---- */

static uint64_t calls, fail_at; /* the fail_at-th call fails; 0: none */
static VkResult fail_with;
static char failed_call[64];
static VkResult count_call(const char *call) {
    if (++calls != fail_at) return VK_SUCCESS;
    snprintf(failed_call, sizeof failed_call, "%s", call);
    return fail_with;
}

/* ---- a device ---- */

static uint64_t random_state = 1;
static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static char cache_dir[] = "/tmp/hologram_vulkan_XXXXXX"; /* so that pipeline caches are asked for,
                                                            too */

static hg_status open_device(uint32_t index, const char *pretend, hg_device **d) {
    hg_driver_options options = {
        .cpu_level = "", .pretend = pretend, .cache_dir = cache_dir, .cache_bytes = 1 << 20};
    return driver->device_open(index, &options, d);
}

static hg_status wait_and_destroy(hg_driver_event *e) {
    hg_status status = driver->event_wait(e);
    driver->event_destroy(e);
    return status;
}

/* Runs commands and waits. */
static hg_status run(hg_device *d, hg_driver_queue *q, const hg_driver_command *commands,
                     uint32_t count) {
    hg_driver_event *e;
    HG_TRY(driver->event_create(d, &e));
    hg_status status = driver->queue_submit(q, commands, count, NULL, 0, e);
    if (status == HG_OK) return wait_and_destroy(e);
    driver->event_destroy(e);
    return status;
}

static hg_driver_command copy_in(hg_driver_arena *a, uint64_t offset, void *host, uint64_t size) {
    return (hg_driver_command){.kind = HG_CMD_COPY_IN, .to = {a, offset, size}, .host = host};
}
static hg_driver_command copy_out(hg_driver_arena *a, uint64_t offset, void *host, uint64_t size) {
    return (hg_driver_command){.kind = HG_CMD_COPY_OUT, .from = {a, offset, size}, .host = host};
}
static hg_driver_command copy_between(hg_driver_arena *to, uint64_t offset, hg_driver_arena *from,
                                      uint64_t from_offset, uint64_t size) {
    return (hg_driver_command){
        .kind = HG_CMD_COPY, .to = {to, offset, size}, .from = {from, from_offset, size}};
}
static hg_driver_command fill(hg_driver_arena *a, uint64_t offset, uint64_t size, uint8_t value) {
    return (hg_driver_command){.kind = HG_CMD_FILL, .to = {a, offset, size}, .value = value};
}

/* ---- kernels: out[i] = x[i] * factor + last, last in the record's last word ---- */

typedef enum kernel_form { PUSHED, LONG_RECORD } kernel_form;
enum { LONG_WORDS = 64 };

static const char *const PUSHED_ADDRESSES =
    "#version 460\n#extension GL_EXT_buffer_reference : require\nlayout(local_size_x = 64) in;\n"
    "layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };\n"
    "layout(push_constant, std430) uniform P { Words x, o; uint n, factor, unused, last; };\n"
    "void main() { uint i = gl_GlobalInvocationID.x; if (i < n) o.v[i] = x.v[i] * factor + last; "
    "}\n";
static const char *const LONG_ADDRESSES =
    "#version 460\n#extension GL_EXT_buffer_reference : require\nlayout(local_size_x = 64) in;\n"
    "layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };\n"
    "layout(buffer_reference, std430, buffer_reference_align = 16) buffer Record { Words x, o; "
    "uint n, factor; uint rest[57]; uint last; "
    "};\n"
    "layout(push_constant, std430) uniform P { Record r; };\n"
    "void main() { uint i = gl_GlobalInvocationID.x; if (i < r.n) r.o.v[i] = r.x.v[i] * r.factor + "
    "r.last; }\n";
static const char *const PUSHED_BINDINGS =
    "#version 460\nlayout(local_size_x = 64) in;\n"
    "layout(set = 0, binding = 0, std430) buffer X { uint x[]; };\nlayout(set = 0, binding = 1, "
    "std430) buffer O { uint o[]; };\n"
    "layout(push_constant, std430) uniform P { uint xb, xh, ob, oh, n, factor, unused, last; };\n"
    "void main() { uint i = gl_GlobalInvocationID.x; if (i < n) o[ob / 4 + i] = x[xb / 4 + i] * "
    "factor + last; }\n";
static const char *const LONG_BINDINGS =
    "#version 460\nlayout(local_size_x = 64) in;\n"
    "layout(set = 0, binding = 0, std430) buffer X { uint x[]; };\nlayout(set = 0, binding = 1, "
    "std430) buffer O { uint o[]; };\n"
    "layout(set = 0, binding = 2, std430) buffer R { uint xb, xh, ob, oh, n, factor; uint "
    "rest[57]; uint last; };\n"
    "void main() { uint i = gl_GlobalInvocationID.x; if (i < n) o[ob / 4 + i] = x[xb / 4 + i] * "
    "factor + last; }\n";

typedef struct shader {
    uint32_t *words;
    uint64_t count;
} shader;
static shader shaders[2][2]; /* [bindings][kernel_form] */

static bool compile(const char *text, shader *s) {
    char source[64], binary[80], command[256];
    snprintf(source, sizeof source, "/tmp/hologram_vulkan_%ld.comp", (long)getpid());
    snprintf(binary, sizeof binary, "%s.spv", source);
    snprintf(command, sizeof command,
             "glslangValidator -V --target-env vulkan1.2 %s -o %s >/dev/null 2>&1", source, binary);
    FILE *file = fopen(source, "w");
    if (!file) return false;
    fputs(text, file);
    fclose(file);
    int status = system(command);
    file = status == 0 ? fopen(binary, "rb") : NULL;
    if (file) {
        s->words = malloc(1 << 16);
        s->count = s->words ? fread(s->words, 4, 1 << 14, file) : 0;
        fclose(file);
    }
    remove(source);
    remove(binary);
    return s->count != 0;
}

static bool compile_all(void) {
    return compile(PUSHED_ADDRESSES, &shaders[0][PUSHED]) &&
           compile(LONG_ADDRESSES, &shaders[0][LONG_RECORD]) &&
           compile(PUSHED_BINDINGS, &shaders[1][PUSHED]) &&
           compile(LONG_BINDINGS, &shaders[1][LONG_RECORD]);
}

static hg_status create_kernel(hg_device *d, kernel_form form, hg_driver_kernel **k) {
    const shader *s = &shaders[!driver->device_caps(d)->compiler.target.addressed][form];
    vk_code code = {.words = s->words,
                    .count = s->count,
                    .entry = "main",
                    .slots = 2,
                    .record_bytes = form == PUSHED ? 32 : LONG_WORDS * 4,
                    .bound = !driver->device_caps(d)->compiler.target.addressed};
    return vk_kernel_create(d, &code, k);
}

typedef struct call {
    uint32_t record[LONG_WORDS];
    hg_range slots[2];
    hg_driver_dispatch dispatch;
} call;

static void put_address(const hg_device *d, uint32_t *words, hg_driver_arena *a, uint64_t offset) {
    uint64_t place = offset + (driver->device_caps(d)->compiler.target.addressed
                                   ? driver->arena_address(a)
                                   : 0);
    words[0] = (uint32_t)place;
    words[1] = (uint32_t)(place >> 32);
}

static hg_driver_command call_kernel(hg_device *d, call *c, hg_driver_kernel *k, kernel_form form,
                                     hg_driver_arena *x, uint64_t x_offset, hg_driver_arena *out,
                                     uint64_t out_offset, uint32_t n, uint32_t factor,
                                     uint32_t last) {
    memset(c, 0, sizeof *c);
    put_address(d, c->record, x, x_offset);
    put_address(d, c->record + 2, out, out_offset);
    c->record[4] = n;
    c->record[5] = factor;
    c->record[form == PUSHED ? 7 : LONG_WORDS - 1] = last;
    c->slots[0] = (hg_range){x, x_offset, n * 4ull};
    c->slots[1] = (hg_range){out, out_offset, n * 4ull};
    c->dispatch = (hg_driver_dispatch){.kernel = k,
                                       .groups = {(n + 63) / 64, 1, 1},
                                       .group = {64, 1, 1},
                                       .record = c->record,
                                       .record_bytes = form == PUSHED ? 32 : LONG_WORDS * 4,
                                       .slots = c->slots,
                                       .slot_count = 2};
    return (hg_driver_command){.kind = HG_CMD_DISPATCH, .dispatch = &c->dispatch};
}

/* ---- memory ---- */

static void test_caps(const hg_device *d, const char *pretend) {
    const hg_device_caps *caps = driver->device_caps(d);
    CHECK(caps->compiler.device_form && caps->scheduling.asynchronous &&
          caps->compiler.static_groups && caps->identity[0]);
    CHECK(caps->memory.max_arena_bytes >= UINT64_C(64) << 20 && caps->memory.arena_bytes &&
          caps->memory.arena_bytes <= caps->memory.max_arena_bytes);
    CHECK(caps->scheduling.max_block_lanes >= 128 && caps->scheduling.max_groups[0] >= 65535 &&
          caps->hints.flat_group && caps->hints.flat_group <= caps->scheduling.max_block_lanes);
    if (strstr(pretend, "descriptors"))
        CHECK(!caps->compiler.target.addressed && caps->compiler.target.max_arenas &&
              caps->compiler.max_slots < UINT32_MAX);
    if (strstr(pretend, "staging")) CHECK(!caps->memory.host_memory);
}

/* Arenas are zero, also where memory was used before. */
static void test_zero(hg_device *d, hg_driver_queue *q) {
    static const uint64_t sizes[] = {1, 3, 4, 255, 4097, 65536, 1000003};
    static uint8_t seen[1000003];
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < HG_COUNT_OF(sizes); i++) {
            hg_driver_arena *a;
            bool zero = true;
            memset(seen, 1, sizeof seen);
            CHECK(driver->arena_alloc(d, sizes[i], &a) == HG_OK);
            hg_driver_command read = copy_out(a, 0, seen, sizes[i]),
                              dirty = fill(a, 0, sizes[i], 0xa5);
            CHECK(run(d, q, &read, 1) == HG_OK);
            for (uint64_t b = 0; b < sizes[i]; b++) zero = zero && seen[b] == 0;
            CHECK_MESSAGE(zero, "%" PRIu64 " bytes are not zero", sizes[i]);
            CHECK(run(d, q, &dirty, 1) == HG_OK);
            driver->arena_free(d, a);
        }
    hg_driver_arena *a = NULL;
    CHECK(driver->arena_alloc(d, driver->device_caps(d)->memory.max_arena_bytes + 256, &a) ==
              HG_ERROR_ALLOCATION_FAILED &&
          !a);
    CHECK(driver->arena_alloc(d, UINT64_MAX, &a) == HG_ERROR_ALLOCATION_FAILED && !a);
}

static void test_visible(hg_device *d, hg_driver_queue *q) {
    hg_driver_arena *a;
    uint8_t seen[64];
    CHECK(driver->arena_alloc_visible(d, 64, &a) == HG_OK);
    uint8_t *host = driver->arena_map(a);
    CHECK(host != NULL);
    if (host) {
        for (int i = 0; i < 64; i++) host[i] = (uint8_t)(i ^ 0x5a);
        hg_driver_command read[] = {fill(a, 60, 4, 9), copy_out(a, 0, seen, 64)};
        CHECK(run(d, q, read, 2) == HG_OK);
        CHECK(seen[0] == 0x5a && seen[59] == (59 ^ 0x5a) && seen[60] == 9 && host[63] == 9);
    }
    driver->arena_unmap(a);
    driver->arena_free(d, a);
}

static void test_import(hg_device *d, hg_driver_queue *q) {
    hg_driver_arena *a = NULL;
    uint8_t *host = aligned_alloc(65536, 65536), seen[8];
    memset(host, 3, 65536);
    if (!driver->device_caps(d)->memory.can_import) {
        CHECK(driver->arena_import(d, host, 65536, &a) == HG_ERROR_BACKEND_UNAVAILABLE && !a);
    } else {
        CHECK(driver->arena_import(d, host, 65536, &a) == HG_OK);
        hg_driver_command work[] = {copy_out(a, 100, seen, 8), fill(a, 100, 8, 7)};
        CHECK(run(d, q, work, 2) == HG_OK && seen[7] == 3 && host[99] == 3 && host[100] == 7 &&
              host[107] == 7 && host[108] == 3);
        driver->arena_free(d, a);
        CHECK(driver->arena_import(d, host + 1, 100, &a) == HG_ERROR_BACKEND_UNAVAILABLE);
    }
    free(host);
}

/* ---- copies and fills against a model in host memory ---- */

enum { MODEL = 5000 };

static void apply(const hg_driver_command *c, uint8_t model[2][MODEL],
                  hg_driver_arena *const arenas[2]) {
    uint8_t *to = model[c->to.arena == arenas[1]] + c->to.offset,
            *from = model[c->from.arena == arenas[1]] + c->from.offset;
    switch (c->kind) {
    case HG_CMD_COPY_IN: memcpy(to, c->host, c->to.size); break;
    case HG_CMD_COPY: memmove(to, from, c->to.size); break;
    case HG_CMD_FILL: memset(to, c->value, c->to.size); break;
    default: break;
    }
}

static hg_driver_command random_command(hg_driver_arena *const arenas[2], uint8_t *host) {
    uint64_t size = random_number() % (random_number() % 4 ? 9 : MODEL / 2),
             to = random_number() % (MODEL - size), from = random_number() % (MODEL - size);
    hg_driver_arena *a = arenas[random_number() % 2],
                    *b = random_number() % 2 ? a : arenas[random_number() % 2];
    if (random_number() % 2 && to > 4) from = to - random_number() % 5; /* overlaps often */
    switch (random_number() % 3) {
    case 0: return copy_in(a, to, host + from, size);
    case 1: return copy_between(a, to, b, from, size);
    }
    return fill(a, to, size, (uint8_t)random_number());
}

static void test_copies(hg_device *d, hg_driver_queue *q) {
    static uint8_t model[2][MODEL], seen[2][MODEL], host[MODEL];
    hg_driver_arena *arenas[2];
    hg_driver_command commands[42];
    for (int i = 0; i < MODEL; i++) host[i] = (uint8_t)random_number();
    CHECK(driver->arena_alloc(d, MODEL, &arenas[0]) == HG_OK &&
          driver->arena_alloc(d, MODEL, &arenas[1]) == HG_OK);
    memset(model, 0, sizeof model);
    for (int round = 0; round < 20; round++) {
        uint32_t count = (uint32_t)(random_number() % 40);
        for (uint32_t i = 0; i < count; i++) {
            commands[i] = random_command(arenas, host);
            apply(&commands[i], model, arenas);
        }
        commands[count++] = copy_out(arenas[0], 0, seen[0], MODEL);
        commands[count++] = copy_out(arenas[1], 0, seen[1], MODEL);
        CHECK(run(d, q, commands, count) == HG_OK);
        CHECK_MESSAGE(memcmp(model, seen, sizeof model) == 0, "round %d differs from the model",
                      round);
    }
    driver->arena_free(d, arenas[0]);
    driver->arena_free(d, arenas[1]);
}

/* Longer than all staging memory of a queue; and bytes that come out and go back in within one
 * submission. */
static void test_long_copies(hg_device *d, hg_driver_queue *q) {
    uint64_t size = (UINT64_C(80) << 20) + 13;
    hg_driver_arena *a, *b;
    uint8_t *in = malloc(size), *out = malloc(size), *between = malloc(1 << 20);
    hg_driver_event *e;
    CHECK(in && out && between && driver->arena_alloc(d, size + 64, &a) == HG_OK &&
          driver->arena_alloc(d, 1 << 20, &b) == HG_OK);
    for (uint64_t i = 0; i < size; i += 8)
        memcpy(in + i, &(uint64_t){random_number()}, size - i < 8 ? size - i : 8);
    hg_driver_command work[] = {copy_in(a, 5, in, size), copy_between(a, 8, a, 5, size),
                                copy_out(a, 8, out, size), copy_out(a, 100, between, 1 << 20),
                                copy_in(b, 0, between, 1 << 20)};
    CHECK(driver->event_create(d, &e) == HG_OK);
    CHECK(driver->queue_submit(q, work, 5, NULL, 0, NULL) == HG_OK);
    hg_driver_command last = copy_out(b, 0, between, 1 << 20);
    memset(between, 0, 16); /* was taken already: the driver waited for what it sent there itself */
    CHECK(driver->queue_submit(q, &last, 1, NULL, 0, e) == HG_OK);
    CHECK(wait_and_destroy(e) == HG_OK);
    CHECK(memcmp(in, out, size) == 0 && memcmp(between, in + 92, 1 << 20) == 0);
    driver->arena_free(d, a);
    driver->arena_free(d, b);
    free(in);
    free(out);
    free(between);
}

/* ---- kernels ---- */

static void test_kernel(hg_device *d, hg_driver_queue *q, kernel_form form) {
    enum { N = 3001, CHAIN = 300 };
    static uint32_t x[N], out[N];
    static call calls_of[CHAIN];
    hg_driver_command commands[CHAIN + 2];
    hg_driver_arena *a, *b;
    hg_driver_kernel *k;
    bool right = true;
    CHECK(create_kernel(d, form, &k) == HG_OK);
    CHECK(driver->arena_alloc(d, sizeof x + 256, &a) == HG_OK &&
          driver->arena_alloc(d, sizeof x, &b) == HG_OK);
    for (uint32_t i = 0; i < N; i++) x[i] = i * 7 + 1;
    commands[0] = copy_in(a, 256, x, sizeof x); /* then from one arena to the other and back: each
                                                   dispatch needs the one before it */
    for (uint32_t i = 0; i < CHAIN; i++)
        commands[1 + i] = call_kernel(d, &calls_of[i], k, form, i % 2 ? b : a, i % 2 ? 0 : 256,
                                      i % 2 ? a : b, i % 2 ? 256 : 0, N, 3, i);
    commands[1 + CHAIN] = copy_out(a, 256, out, sizeof x);
    CHECK(run(d, q, commands, CHAIN + 2) == HG_OK);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t expected = x[i];
        for (uint32_t c = 0; c < CHAIN; c++) expected = expected * 3 + c;
        right = right && out[i] == expected;
    }
    CHECK_MESSAGE(right, "a chain of %d dispatches, %s record", CHAIN,
                  form == PUSHED ? "pushed" : "long");
    calls_of[0].dispatch.record_bytes = 4;
    CHECK(run(d, q, &commands[1], 1) == HG_ERROR_INTERNAL);
    driver->kernel_destroy(k);
    driver->arena_free(d, a);
    driver->arena_free(d, b);
}

/* ---- plans ---- */

static hg_status launch_plan(hg_device *d, hg_driver_queue *q, hg_driver_recording *plan) {
    hg_driver_event *e;
    HG_TRY(driver->event_create(d, &e));
    hg_status status = driver->recording_launch(q, plan, NULL, 0, e);
    if (status == HG_OK) return wait_and_destroy(e);
    driver->event_destroy(e);
    return status;
}

/* Everything a plan may have, on two arenas: fills and copies that do not begin at words, copies
 * onto themselves, many dispatches. */
enum { PLAN_N = 700, PLAN_CALLS = 36, PLAN_COMMANDS = PLAN_CALLS + 6 };
typedef struct plan_work {
    hg_driver_arena *a, *b;
    call calls[PLAN_CALLS];
    hg_driver_command commands[PLAN_COMMANDS];
} plan_work;

static void make_plan_work(hg_device *d, plan_work *w, hg_driver_kernel *const k[2]) {
    uint32_t n = 0;
    CHECK(driver->arena_alloc(d, PLAN_N * 4 + 256, &w->a) == HG_OK &&
          driver->arena_alloc(d, PLAN_N * 4 + 256, &w->b) == HG_OK);
    w->commands[n++] = fill(w->a, 5, 11, 0x31);
    for (uint32_t i = 0; i < PLAN_CALLS; i++)
        w->commands[n++] = call_kernel(d, &w->calls[i], k[i % 3 == 0],
                                       i % 3 == 0 ? LONG_RECORD : PUSHED, i % 2 ? w->b : w->a, 0,
                                       i % 2 ? w->a : w->b, i % 2 ? 0 : 256, PLAN_N, 3, i);
    w->commands[n++] = copy_between(w->a, 40, w->a, 3, 1000);
    w->commands[n++] = copy_between(w->b, 7, w->b, 90, 2000);
    w->commands[n++] = copy_between(w->b, 1, w->b, 1, 200);
    w->commands[n++] = copy_between(w->a, 0, w->b, 30, 16);
    w->commands[n++] = fill(w->b, 100, 0, 1);
    CHECK_U64(n, PLAN_COMMANDS);
}

static void free_plan_work(hg_device *d, plan_work *w) {
    driver->arena_free(d, w->a);
    driver->arena_free(d, w->b);
}

/* Each launch of a plan leaves what a submission of its commands leaves. */
static void test_plan(hg_device *d, hg_driver_queue *q) {
    static plan_work work[2];
    static uint8_t seen[4][PLAN_N * 4 + 256];
    hg_driver_kernel *k[2];
    hg_driver_recording *plan = NULL, *empty = NULL;
    bool same = true;
    CHECK(create_kernel(d, PUSHED, &k[0]) == HG_OK &&
          create_kernel(d, LONG_RECORD, &k[1]) == HG_OK);
    for (int i = 0; i < 2; i++) make_plan_work(d, &work[i], k);
    CHECK(driver->recording_create(d, work[1].commands, PLAN_COMMANDS, &plan) == HG_OK);
    memset(work[1].calls, 0xee, sizeof work[1].calls); /* records and slots were copied */
    for (int i = 0; i < 40 && same && plan; i++) {
        same = run(d, q, work[0].commands, PLAN_COMMANDS) == HG_OK &&
               launch_plan(d, q, plan) == HG_OK;
        if (i % 8 && i < 37) continue;
        hg_driver_command read[] = {copy_out(work[0].a, 0, seen[0], sizeof seen[0]),
                                    copy_out(work[0].b, 0, seen[1], sizeof seen[0]),
                                    copy_out(work[1].a, 0, seen[2], sizeof seen[0]),
                                    copy_out(work[1].b, 0, seen[3], sizeof seen[0])};
        same = same && run(d, q, read, 4) == HG_OK &&
               memcmp(seen[0], seen[2], sizeof seen[0]) == 0 &&
               memcmp(seen[1], seen[3], sizeof seen[0]) == 0;
        CHECK_MESSAGE(same, "launch %d of a plan", i);
    }
    driver->recording_destroy(plan);
    CHECK(driver->recording_create(d, NULL, 0, &empty) == HG_OK &&
          launch_plan(d, q, empty) == HG_OK);
    driver->recording_destroy(empty);
    hg_driver_command in = copy_in(work[0].a, 0, seen[0], 4),
                      out = copy_out(work[0].a, 0, seen[0], 4);
    empty = NULL;
    CHECK(driver->recording_create(d, &in, 1, &empty) == HG_ERROR_INTERNAL &&
          driver->recording_create(d, &out, 1, &empty) == HG_ERROR_INTERNAL);
    CHECK(!empty);
    for (int i = 0; i < 2; i++) free_plan_work(d, &work[i]);
    for (int i = 0; i < 2; i++) driver->kernel_destroy(k[i]);
}

static void test_plan_often(hg_device *d, hg_driver_queue *q) {
    enum { TIMES = 1000 };
    uint32_t expected = 0, out[64];
    hg_driver_arena *a = NULL;
    hg_driver_kernel *k;
    hg_driver_recording *plan = NULL;
    call c;
    CHECK(create_kernel(d, PUSHED, &k) == HG_OK && driver->arena_alloc(d, sizeof out, &a) == HG_OK);
    hg_driver_command add = call_kernel(d, &c, k, PUSHED, a, 0, a, 0, 64, 3, 1),
                      back = copy_out(a, 0, out, sizeof out);
    CHECK(driver->recording_create(d, &add, 1, &plan) == HG_OK);
    for (int i = 0; i < TIMES && plan && launch_plan(d, q, plan) == HG_OK; i++)
        expected = expected * 3 + 1;
    CHECK(run(d, q, &back, 1) == HG_OK);
    CHECK_U64(out[0], expected);
    CHECK_U64(out[63], expected);
    driver->recording_destroy(plan);
    driver->kernel_destroy(k);
    driver->arena_free(d, a);
}

/* Plans and submissions of one queue and of several follow each other without a wait of the host.
 */
static void test_plans_in_order(hg_device *d) {
    enum { PLANS = 6, ROUNDS = 30, N = 3000 };
    static uint32_t x[N], out[N];
    hg_driver_queue *queues[2];
    hg_driver_recording *plans[PLANS] = {NULL};
    hg_driver_event *events[PLANS], *between;
    hg_driver_arena *a;
    hg_driver_kernel *k;
    call calls_of[PLANS], other;
    uint32_t expected = 1;
    bool right = true;
    CHECK(create_kernel(d, PUSHED, &k) == HG_OK && driver->arena_alloc(d, sizeof x, &a) == HG_OK);
    CHECK(driver->queue_create(d, &queues[0]) == HG_OK &&
          driver->queue_create(d, &queues[1]) == HG_OK);
    CHECK(driver->event_create(d, &between) == HG_OK);
    for (uint32_t p = 0; p < PLANS; p++) {
        hg_driver_command add = call_kernel(d, &calls_of[p], k, PUSHED, a, 0, a, 0, N, p + 2,
                                            p + 1);
        CHECK(driver->recording_create(d, &add, 1, &plans[p]) == HG_OK &&
              driver->event_create(d, &events[p]) == HG_OK);
    }
    for (uint32_t i = 0; i < N; i++) x[i] = 1;
    hg_driver_command in = copy_in(a, 0, x, sizeof x), back = copy_out(a, 0, out, sizeof out);
    hg_driver_command add = call_kernel(d, &other, k, PUSHED, a, 0, a, 0, N, 9, 5);
    CHECK(driver->queue_submit(queues[0], &in, 1, NULL, 0, events[PLANS - 1]) == HG_OK);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        for (uint32_t p = 0; p < PLANS; p++, expected = (expected * (p + 1) + p) * 9 + 5) { /* from
                                                                                               queue
                                                                                               to
                                                                                               queue
                                                                                               and
                                                                                               back
                                                                                             */
            hg_driver_event *before = p ? events[p - 1] : events[PLANS - 1];
            CHECK(driver->recording_launch(queues[p % 2], plans[p], &before, 1, between) == HG_OK);
            CHECK(driver->queue_submit(queues[p % 2], &add, 1, NULL, 0, events[p]) == HG_OK);
        }
        CHECK(driver->event_wait(events[PLANS - 1]) == HG_OK);
    }
    /* What the host could do itself comes after the plan that is in flight, and a plan that goes
     * waits for its end. */
    CHECK(driver->recording_launch(queues[0], plans[0], NULL, 0, NULL) == HG_OK);
    CHECK(driver->queue_submit(queues[0], &back, 1, NULL, 0, events[0]) == HG_OK);
    driver->recording_destroy(plans[0]);
    CHECK(driver->event_wait(events[0]) == HG_OK);
    expected = expected * 2 + 1;
    for (uint32_t i = 0; i < N; i++) right = right && out[i] == expected;
    CHECK_MESSAGE(right, "plans on two queues: %u, expected %u", (unsigned)out[0],
                  (unsigned)expected);
    for (uint32_t p = 0; p < PLANS; p++) {
        if (p) driver->recording_destroy(plans[p]);
        driver->event_destroy(events[p]);
    }
    driver->event_destroy(between);
    driver->queue_destroy(queues[0]);
    driver->queue_destroy(queues[1]);
    driver->kernel_destroy(k);
    driver->arena_free(d, a);
}

/* A submission that the device has not come to holds up none of those after it: no call of
 * queue_submit waits. */
static VkResult no_waits(const char *name) {
    return strncmp(name, "vkWait", 6) == 0 ? VK_ERROR_UNKNOWN : VK_SUCCESS;
}

static void test_many_in_flight(hg_device *d) {
    enum { MANY = 300, N = 200000 };
    static uint32_t x[N];
    static call first, calls_of[MANY];
    hg_driver_queue *q;
    hg_driver_event *last;
    hg_driver_arena *a = NULL;
    hg_driver_kernel *k;
    uint32_t expected = 0, out[16];
    CHECK(create_kernel(d, PUSHED, &k) == HG_OK && driver->arena_alloc(d, sizeof x, &a) == HG_OK);
    CHECK(driver->queue_create(d, &q) == HG_OK && driver->event_create(d, &last) == HG_OK);
    hg_driver_command start = call_kernel(d, &first, k, PUSHED, a, 0, a, 0, N, 1, 1);
    uint64_t failed = test_failed;
    vk_before_call = no_waits;
    for (int i = 0; i < 20; i++) CHECK(driver->queue_submit(q, &start, 1, NULL, 0, NULL) == HG_OK);
    for (uint32_t i = 0; i < MANY && test_failed == failed; i++) {
        hg_driver_command both[] = {call_kernel(d, &calls_of[i], k, PUSHED, a, 0, a, 0, 64, 3, i),
                                    copy_out(a, 0, out, sizeof out)};
        CHECK(driver->queue_submit(q, both, 2, NULL, 0, last) == HG_OK);
    }
    vk_before_call = NULL;
    CHECK(driver->event_wait(last) == HG_OK);
    expected = 20;
    for (uint32_t i = 0; i < MANY; i++) expected = expected * 3 + i;
    CHECK_U64(out[0], expected);
    CHECK_U64(out[15], expected);
    driver->queue_destroy(q);
    driver->event_destroy(last);
    driver->kernel_destroy(k);
    driver->arena_free(d, a);
}

/* Where the device does not say how far it is the event is not done, and nobody waits to find out;
 * what was seen is not asked again. */
static VkResult no_answer(const char *name) {
    return strncmp(name, "vkWait", 6) == 0 || strcmp(name, "vkGetSemaphoreCounterValue") == 0
               ? VK_ERROR_OUT_OF_HOST_MEMORY
               : VK_SUCCESS;
}

static void test_query(hg_device *d, hg_driver_queue *q) {
    enum { N = 1 << 20 };
    hg_driver_event *e = NULL;
    hg_driver_arena *a = NULL;
    hg_driver_kernel *k;
    bool done = true;
    call c;
    CHECK(create_kernel(d, PUSHED, &k) == HG_OK && driver->arena_alloc(d, N * 4, &a) == HG_OK &&
          driver->event_create(d, &e) == HG_OK);
    hg_driver_command work = call_kernel(d, &c, k, PUSHED, a, 0, a, 0, N, 3, 1);
    CHECK(driver->queue_submit(q, &work, 1, NULL, 0, e) == HG_OK);
    vk_before_call = no_answer;
    CHECK(driver->event_query(e, &done) == HG_OK && !done);
    vk_before_call = NULL;
    CHECK(driver->event_wait(e) == HG_OK);
    vk_before_call = no_answer;
    CHECK(driver->event_query(e, &done) == HG_OK && done);
    CHECK(driver->event_wait(e) == HG_OK);
    vk_before_call = NULL;
    driver->event_destroy(e);
    driver->kernel_destroy(k);
    driver->arena_free(d, a);
}

/* ---- queues ---- */

/* Work that goes from queue to queue and back, each step waiting for the one before. */
static void test_queues(hg_device *d) {
    enum { QUEUES = 5, STEPS = 60, N = 500 };
    static uint32_t x[N], out[N];
    static call calls_of[STEPS];
    hg_driver_queue *queues[QUEUES];
    hg_driver_event *events[STEPS + 1];
    hg_driver_arena *a;
    hg_driver_kernel *k;
    bool right = true, done = false;
    for (int i = 0; i < QUEUES; i++) CHECK(driver->queue_create(d, &queues[i]) == HG_OK);
    for (int i = 0; i <= STEPS; i++) CHECK(driver->event_create(d, &events[i]) == HG_OK);
    CHECK(driver->arena_alloc(d, sizeof x, &a) == HG_OK && create_kernel(d, PUSHED, &k) == HG_OK);
    for (uint32_t i = 0; i < N; i++) x[i] = i;
    hg_driver_command start = copy_in(a, 0, x, sizeof x);
    CHECK(driver->queue_submit(queues[0], &start, 1, NULL, 0, events[0]) == HG_OK);
    for (uint32_t s = 0; s < STEPS; s++) { /* the wait of a step may also be an empty submission's
                                            */
        hg_driver_command step = call_kernel(d, &calls_of[s], k, PUSHED, a, 0, a, 0, N, 5, s);
        CHECK(driver->queue_submit(queues[s % QUEUES], &step, s % 7 == 6 ? 0 : 1, &events[s], 1,
                                   events[s + 1]) == HG_OK);
    }
    hg_driver_command end = copy_out(a, 0, out, sizeof x);
    hg_driver_event *last;
    CHECK(driver->event_create(d, &last) == HG_OK);
    CHECK(driver->event_query(last, &done) == HG_OK && !done);
    hg_driver_command finish[] = {end, fill(a, 0, 8, 0)};
    CHECK(driver->queue_submit(queues[1], finish, 2, &events[STEPS], 1, last) == HG_OK);
    hg_status asked = HG_OK;
    while (!done && asked == HG_OK) asked = driver->event_query(last, &done);
    CHECK(asked == HG_OK);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t expected = i;
        for (uint32_t s = 0; s < STEPS; s++)
            if (s % 7 != 6) expected = expected * 5 + s;
        right = right && out[i] == expected;
    }
    CHECK_MESSAGE(right, "steps on %d queues", QUEUES);
    /* An event outlives its queue, and one event serves again. */
    CHECK(driver->queue_submit(queues[2], &end, 1, NULL, 0, last) == HG_OK);
    for (int i = 0; i < QUEUES; i++) driver->queue_destroy(queues[i]);
    CHECK(driver->event_wait(last) == HG_OK && out[0] == 0 && out[1] == 0 && out[2] != 0);
    driver->event_destroy(last);
    for (int i = 0; i <= STEPS; i++) driver->event_destroy(events[i]);
    driver->kernel_destroy(k);
    driver->arena_free(d, a);
}

/* What one queue brings to the host is what another takes from there when it waits for it. */
static void test_through_host(hg_device *d) {
    static uint8_t host[100000], seen[100000];
    hg_driver_queue *q[2];
    hg_driver_arena *a, *b;
    hg_driver_event *e;
    CHECK(driver->queue_create(d, &q[0]) == HG_OK && driver->queue_create(d, &q[1]) == HG_OK &&
          driver->event_create(d, &e) == HG_OK);
    CHECK(driver->arena_alloc(d, sizeof host, &a) == HG_OK &&
          driver->arena_alloc(d, sizeof host, &b) == HG_OK);
    for (uint8_t round = 1; round < 20; round++) {
        hg_driver_command out[] = {fill(a, 1, sizeof host - 2, round),
                                   copy_out(a, 0, host, sizeof host)};
        hg_driver_command in[] = {copy_in(b, 0, host, sizeof host),
                                  copy_out(b, 0, seen, sizeof host)};
        CHECK(driver->queue_submit(q[0], out, 2, NULL, 0, e) == HG_OK);
        CHECK(driver->queue_submit(q[1], in, 2, &e, 1, NULL) == HG_OK);
        CHECK(run(d, q[1], NULL, 0) == HG_OK);
        CHECK(seen[0] == 0 && seen[1] == round && seen[sizeof seen - 2] == round &&
              seen[sizeof seen - 1] == 0);
    }
    driver->event_destroy(e);
    driver->arena_free(d, a);
    driver->arena_free(d, b);
    driver->queue_destroy(q[0]);
    driver->queue_destroy(q[1]);
}

/* Software has one queue. A second device queue on it, with a timeline of its own, shows that they
 * wait for each other. */
static void test_device_queues(hg_device *d) {
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    if (d->queues.device_queue_count != 1) return;
    CHECK(d->vk.CreateSemaphore(d->handle, &info, NULL, &d->queues.device_queues[1].timeline) ==
          VK_SUCCESS);
    d->queues.device_queues[1].handle = d->queues.device_queues[0].handle;
    d->queues.device_queue_count = 2;
    test_plans_in_order(d);
    test_queues(d);
    test_through_host(d);
}

typedef struct worker {
    hg_thread thread;
    hg_device *device;
    hg_driver_kernel *kernel;
    uint32_t number;
    bool right;
} worker;

/* A queue, an arena and an event of its own, many times. */
static void *work(void *user) {
    enum { N = 700 };
    worker *w = user;
    hg_device *d = w->device;
    hg_driver_queue *q = NULL;
    hg_driver_arena *a = NULL;
    uint32_t out[N];
    call c;
    w->right = driver->queue_create(d, &q) == HG_OK &&
               driver->arena_alloc(d, sizeof out, &a) == HG_OK;
    for (uint32_t round = 0; w->right && round < 100; round++) {
        hg_driver_command commands[] = {
            fill(a, 0, sizeof out, (uint8_t)round),
            call_kernel(d, &c, w->kernel, PUSHED, a, 0, a, 0, N, 2, w->number),
            copy_out(a, 0, out, sizeof out)};
        w->right = run(d, q, commands, 3) == HG_OK;
        for (uint32_t i = 0; i < N; i++)
            w->right = w->right && out[i] == round * 0x01010101u * 2 + w->number;
    }
    driver->queue_destroy(q);
    driver->arena_free(d, a);
    return NULL;
}

static void test_threads(hg_device *d) {
    worker workers[4];
    hg_driver_kernel *k;
    CHECK(create_kernel(d, PUSHED, &k) == HG_OK);
    for (uint32_t i = 0; i < 4; i++) {
        workers[i] = (worker){.device = d, .kernel = k, .number = i};
        CHECK(hg_thread_start(&workers[i].thread, work, &workers[i]));
    }
    for (uint32_t i = 0; i < 4; i++) {
        hg_thread_join(workers[i].thread);
        CHECK_MESSAGE(workers[i].right, "thread %u", (unsigned)i);
    }
    driver->kernel_destroy(k);
}

/* ---- failures ---- */

/* Everything once; what is left of it is taken back whatever happens. */
static hg_status everything(uint32_t index, const char *pretend) {
    enum { N = 70000 };
    static uint32_t x[N], out[N];
    static call short_call, long_call;
    hg_device *d = NULL;
    hg_driver_queue *q[2] = {NULL, NULL};
    hg_driver_arena *a = NULL, *b = NULL, *v = NULL;
    hg_driver_kernel *k[2] = {NULL, NULL};
    hg_driver_event *e[2] = {NULL, NULL};
    hg_driver_recording *plan = NULL;
    bool done = false;
    hg_status status = open_device(index, pretend, &d);
    if (status != HG_OK) return status;
#define STEP(call) \
    if (status == HG_OK) status = call
    STEP(driver->queue_create(d, &q[0]));
    STEP(driver->queue_create(d, &q[1]));
    STEP(driver->arena_alloc(d, sizeof x, &a));
    STEP(driver->arena_alloc(d, sizeof x, &b));
    STEP(driver->arena_alloc_visible(d, 64, &v));
    STEP(driver->event_create(d, &e[0]));
    STEP(driver->event_create(d, &e[1]));
    STEP(create_kernel(d, PUSHED, &k[0]));
    STEP(create_kernel(d, LONG_RECORD, &k[1]));
    if (status == HG_OK) {
        for (uint32_t i = 0; i < N; i++) x[i] = i;
        memset(out, 0, sizeof out);
        hg_driver_command first[] = {
            call_kernel(d, &short_call, k[0], PUSHED, b, 0, b, 0, N, 0, 0),
            copy_in(a, 0, x, sizeof x),
            call_kernel(d, &short_call, k[0], PUSHED, a, 0, b, 0, N, 2, 1)};
        hg_driver_command second[] = {
            call_kernel(d, &long_call, k[1], LONG_RECORD, b, 0, a, 0, N, 3, 1),
            copy_out(a, 0, out, sizeof out), fill(b, 1, 5, 1), copy_between(a, 4, a, 0, 4000)};
        STEP(driver->queue_submit(q[0], first, 3, NULL, 0, e[0]));
        STEP(driver->queue_submit(q[1], second, 4, e, 1, e[1]));
        STEP(driver->event_query(e[1], &done));
        STEP(driver->event_wait(e[1]));
        STEP(driver->event_wait(e[0]));
        STEP(driver->event_query(e[1], &done));
        if (status == HG_OK) CHECK(done && out[0] == 4 && out[N - 1] == ((N - 1) * 2 + 1) * 3 + 1);
        hg_driver_command recorded[] = {second[0], fill(a, 1, 6, 2), copy_between(a, 8, a, 0, 100)},
                          read = copy_out(a, 0, out, 16);
        STEP(driver->recording_create(d, recorded, 3, &plan));
        STEP(driver->recording_launch(q[0], plan, &e[1], 1, e[0]));
        STEP(driver->queue_submit(q[1], &read, 1, e, 1, e[1]));
        STEP(driver->event_wait(e[1]));
        if (status == HG_OK)
            CHECK(out[0] == 0x02020204 && out[2] == 0x02020204 && out[1] == 0x00020202);
    }
#undef STEP
    for (int i = 0; i < 2; i++) {
        driver->queue_destroy(q[i]);
        driver->event_destroy(e[i]);
    }
    driver->recording_destroy(plan);
    for (int i = 0; i < 2; i++) driver->kernel_destroy(k[i]);
    driver->arena_free(d, a);
    driver->arena_free(d, b);
    driver->arena_free(d, v);
    driver->device_close(d);
    return status;
}

/* Fails call 1, 1 + step, 1 + 2 step, ... of a run of everything, each in a run of its own. */
static void fail_each_call(uint32_t index, const char *pretend, VkResult result, uint64_t step) {
    bool hit = true;
    vk_before_call = count_call;
    fail_with = result;
    for (uint64_t n = 1; hit && n < 1000; n += step) {
        calls = 0;
        fail_at = n;
        hg_status status = everything(index, pretend);
        hit = calls >= n;
        fail_at = 0;
        const char *text = hg_error_record()->message;
        if (status != HG_OK) {
            CHECK_MESSAGE(hit, "fails without a failing call: %s", text);
            CHECK_MESSAGE(strstr(text, "vulkan") != NULL, "call %" PRIu64 " (%s): \"%s\"", n,
                          failed_call, text);
            CHECK_MESSAGE(status != HG_ERROR_INTERNAL, "call %" PRIu64 " (%s): \"%s\"", n,
                          failed_call, text);
            if (result == VK_ERROR_DEVICE_LOST && strstr(text, "lost"))
                CHECK_U64(status, HG_ERROR_BACKEND_UNAVAILABLE);
        }
        if (!hit) CHECK_MESSAGE(status == HG_OK, "never succeeds: %s", text);
        if (test_failed > 20) break;
    }
    vk_before_call = NULL;
    CHECK(!hit && everything(index, pretend) == HG_OK);
}

/* ---- the library and the list ---- */

static void test_missing_library(void) {
    static const char *const names[] = {"libno_such_vulkan.so.1"};
    vk_instance instance;
    char reason[256] = "";
    CHECK(!vk_instance_load(names, 1, &instance, reason));
    CHECK_MESSAGE(strstr(reason, "libno_such_vulkan.so.1") &&
                      strstr(reason, "install mesa-vulkan-drivers"),
                  "%s", reason);
    static const char *const other[] = {"libc.so.6"};
    CHECK(!vk_instance_load(other, 1, &instance, reason));
    CHECK_MESSAGE(strstr(reason, "install"), "%s", reason);
}

static void test_failing_instance(void) {
    static const char *const names[] = {"libvulkan.so.1"};
    char reason[256];
    bool hit = true;
    vk_before_call = count_call;
    fail_with = VK_ERROR_INITIALIZATION_FAILED;
    for (fail_at = 1; hit && fail_at < 20; fail_at++) {
        vk_instance instance;
        calls = 0;
        reason[0] = 0;
        bool loaded = vk_instance_load(names, 1, &instance, reason);
        hit = calls >= fail_at;
        CHECK_MESSAGE(loaded || (hit && strstr(reason, "VK_ERROR_INITIALIZATION_FAILED") &&
                                 strstr(reason, "install")),
                      "%s", reason);
        if (loaded) vk_instance_unload(&instance);
    }
    fail_at = 0;
    vk_before_call = NULL;
}

static uint32_t test_listing(void) {
    static hg_device_info infos[8];
    char reason[256] = "";
    uint32_t count = driver->enumerate(NULL, 0, reason);
    if (count == 0) {
        CHECK(strstr(reason, "install") != NULL);
        SKIP(reason);
        return 0;
    }
    CHECK_U64(driver->enumerate(infos, 8, reason), count);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        CHECK_TEXT(infos[i].backend, "vulkan");
        CHECK(infos[i].name[0] && infos[i].device == i &&
              (infos[i].available || infos[i].reason[0]) && infos[i].max_block_lanes);
        for (uint32_t j = 0; j < i; j++)
            CHECK(strcmp(infos[i].name, infos[j].name) != 0 ||
                  strcmp(infos[i].driver, infos[j].driver) != 0);
    }
    hg_device *d;
    CHECK(open_device(count, "", &d) == HG_ERROR_BACKEND_UNAVAILABLE);
    return count < 8 ? count : 8;
}

/* All drivers of this machine that are software, in one process. */
static uint32_t show_software(void) {
    char list[512] = "", folder[] = "/usr/share/vulkan/icd.d";
    uint32_t count = 0;
    if (getenv("VK_DRIVER_FILES")) return 0;
    DIR *all = opendir(folder);
    for (struct dirent *entry; all && (entry = readdir(all));)
        if (strncmp(entry->d_name, "lvp_icd", 7) == 0 && count++ == 0)
            snprintf(list, sizeof list, "%s/%.200s", folder, entry->d_name);
    if (all) closedir(all);
    const char *swiftshader = swiftshader_file();
    size_t used = strlen(list);
    if (access(swiftshader, R_OK) == 0 && ++count)
        snprintf(list + used, sizeof list - used, "%s%s", used ? ":" : "", swiftshader);
    if (count) {
        setenv("VK_DRIVER_FILES", list, 1);
        setenv("VK_ICD_FILENAMES", list, 1);
    }
    return count;
}

static void test_device(uint32_t index, const char *pretend, bool kernels) {
    hg_device *d;
    hg_driver_queue *q;
    CHECK_MESSAGE(open_device(index, pretend, &d) == HG_OK, "device %u: %s", (unsigned)index,
                  hg_error_record()->message);
    if (test_failed) return;
    CHECK(driver->queue_create(d, &q) == HG_OK);
    test_caps(d, pretend);
    test_zero(d, q);
    test_visible(d, q);
    test_import(d, q);
    test_copies(d, q);
    test_long_copies(d, q);
    test_through_host(d);
    if (kernels) {
        test_kernel(d, q, PUSHED);
        test_kernel(d, q, LONG_RECORD);
        test_plan(d, q);
        test_plan_often(d, q);
        test_plans_in_order(d);
        test_many_in_flight(d);
        test_query(d, q);
        test_queues(d);
        test_threads(d);
        test_device_queues(d);
    }
    driver->queue_destroy(q);
    driver->device_close(d);
}

/* ---- again, under the validation layer ---- */

static void test_validation(const char *program) {
    char command[600], line[1024];
    uint64_t said = 0;
    bool closed = false;
    if (access("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json", R_OK) != 0) {
        SKIP("the validation layer is not installed (Debian package vulkan-validationlayers)");
        return;
    }
    snprintf(command, sizeof command,
             "ASAN_OPTIONS=detect_leaks=0 " /* what the layer keeps is no leak of ours */
             "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation "
             "VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT "
             "'%.400s' --validated 2>&1",
             program);
    FILE *out = popen(command, "r");
    CHECK(out != NULL);
    while (out && fgets(line, sizeof line, out)) {
        closed = closed || strstr(line, " passed, 0 failed") != NULL;
        if (strstr(line, "Validation") || strstr(line, "VUID") || strstr(line, "SYNC-"))
            CHECK_MESSAGE(said++ >= 5, "%.300s", line);
    }
    CHECK(out && pclose(out) == 0 && closed);
    CHECK_U64(said, 0);
}

int main(int argc, char **argv) {
    static const char *const pretends[] = {"", "descriptors,staging,no-int64", "descriptors",
                                           "staging"};
    const size_t ways = SANITIZED ? 2 : HG_COUNT_OF(pretends);
    bool validated = argc > 1 && strcmp(argv[1], "--validated") == 0;
    uint32_t drivers = show_software();
    CHECK(mkdtemp(cache_dir) != NULL);
    bool kernels = compile_all();
    if (!kernels) SKIP("kernels: glslangValidator is not installed (Debian package glslang-tools)");
    test_missing_library();
    uint32_t devices = test_listing();
    if (devices) test_failing_instance();
    CHECK(devices >= drivers);
    for (uint32_t i = 0; i < devices; i++)
        for (size_t p = 0; p < ways && test_failed == 0; p++) {
            test_device(i, pretends[p], kernels);
            if (!kernels) continue;
            uint64_t step = p < 2 && !validated ? 1 : 5; /* the second way has the calls of all */
            fail_each_call(i, pretends[p], VK_ERROR_OUT_OF_DEVICE_MEMORY, step);
            if (p == 0) fail_each_call(i, pretends[p], VK_ERROR_DEVICE_LOST, step);
        }
    if (devices && !validated && !SANITIZED) test_validation(argv[0]);
    for (int i = 0; i < 4; i++) free(shaders[i / 2][i % 2].words);
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", cache_dir);
    CHECK(system(command) == 0);
    return test_done();
}
#else
int main(void) {
    SKIP("this build was made without the Vulkan headers");
    return test_done();
}
#endif
