/* libhologram_jit.so as the library sees it: its one symbol, versions, objects that run and fault
 * as they should at every level that the machine has, several threads at once, and what it refuses.
 */
#include "native/compilers.h"
#include "jit/jit.h"
#include "kir/analysis/analysis.h"
#include "kir/parse.h"
#include "test.h"
#include "tile/tile.h"
#include <dlfcn.h>
#include <hologram/vector.h>
#include <pthread.h>

/* x[i] = x[i] * 3 + 1 */
static const char TEXT[] = "module t\n"
                           "input 0: u64 param 1 buffer \"x\"\n"
                           "slot 0: buffer input 0 read written\n"
                           "\n"
                           "function @main() -> void {\n"
                           "  %x = input 0\n"
                           "  %i: u64 = id global_lane_id\n"
                           "  %two: u32 = const 2\n"
                           "  %three: u32 = const 3\n"
                           "  %one: u32 = const 1\n"
                           "  %at: u64 = shl %i, %two\n"
                           "  %v: u32 = load buffer slot 0 %x [%at]\n"
                           "  %p: u32 = mul %v, %three\n"
                           "  %s: u32 = add %p, %one\n"
                           "  store buffer slot 0 %x [%at], %s\n"
                           "}\n";

/* y[i] = 3, y[i] = x[i % w] */
static const char ROWS[] = "module rows\n"
                           "input 0: u64 param 1 buffer \"x\"\n"
                           "input 1: u64 param 2 buffer \"y\"\n"
                           "input 2: u64 param 3 \"w\"\n"
                           "slot 0: buffer input 0 read\n"
                           "slot 1: buffer input 1 written\n"
                           "\n"
                           "function @main() -> void {\n"
                           "  %x = input 0\n"
                           "  %y = input 1\n"
                           "  %w = input 2\n"
                           "  %i: u64 = id global_lane_id\n"
                           "  %two: u32 = const 2\n"
                           "  %three: u32 = const 3\n"
                           "  %at: u64 = shl %i, %two\n"
                           "  store buffer slot 1 %y [%at], %three\n"
                           "  %r: u64 = urem %i, %w\n"
                           "  %place: u64 = shl %r, %two\n"
                           "  %v: u32 = load buffer slot 0 %x [%place]\n"
                           "  store buffer slot 1 %y [%at], %v\n"
                           "}\n";

/* y[i] = m / w in the upper half, m % w in the lower one: of two inputs. */
static const char DIVIDES[] = "module divides\n"
                              "input 0: u64 param 1 buffer \"y\"\n"
                              "input 1: u32 param 2 \"m\"\n"
                              "input 2: u32 param 3 \"w\"\n"
                              "slot 0: buffer input 0 written\n"
                              "\n"
                              "function @main() -> void {\n"
                              "  %y = input 0\n"
                              "  %m = input 1\n"
                              "  %w = input 2\n"
                              "  %i: u64 = id global_lane_id\n"
                              "  %three: u32 = const 3\n"
                              "  %half: u32 = const 32\n"
                              "  %at: u64 = shl %i, %three\n"
                              "  %q: u32 = udiv %m, %w\n"
                              "  %r: u32 = urem %m, %w\n"
                              "  %upper: u64 = zext %q\n"
                              "  %lower: u64 = zext %r\n"
                              "  %high: u64 = shl %upper, %half\n"
                              "  %both: u64 = or %high, %lower\n"
                              "  store buffer slot 0 %y [%at], %both\n"
                              "}\n";

/* y[i] = 1, behind a power that takes long. */
static const char POWER[] = "module power\n"
                            "input 0: u64 param 1 buffer \"y\"\n"
                            "slot 0: buffer input 0 written\n"
                            "\n"
                            "function @main() -> void {\n"
                            "  var r: u64[3]\n"
                            "  var a: u64[3]\n"
                            "  %y = input 0\n"
                            "  %i: u64 = id global_lane_id\n"
                            "  %two: u32 = const 2\n"
                            "  %one: u32 = const 1\n"
                            "  %at: u64 = shl %i, %two\n"
                            "  call @power &r &a &a &a\n"
                            "  store buffer slot 0 %y [%at], %one\n"
                            "}\n"
                            "\n"
                            "function @power(&r: u64[3], &a: u64[3], &b: u64[3], &c: u64[3]) -> "
                            "void helper limbs derived {\n"
                            "  %zero: u32 = const 0\n"
                            "  %x: u64 = array_get a %zero\n"
                            "  array_set r %zero, %x\n"
                            "}\n";

static const struct {
    uint32_t bytes;
    const char *cpu;
    tile_level level;
} LEVELS[] = {{16, "x86-64", TILE_LEVEL_BASELINE},
              {32, "x86-64-v3", TILE_LEVEL_V3},
              {64, "x86-64-v4", TILE_LEVEL_V4}};

typedef struct form {
    kir_module *module;
    vec_kernel *kernel;
} form;

static form make_of(const char *text, uint32_t lanes) {
    form f = {0};
    CHECK_MESSAGE(kir_parse(text, strlen(text), NULL, &f.module) == HG_OK, "%s",
                  hg_last_error_text());
    kir_find_uniformity(f.module, false);
    CHECK_MESSAGE(vec_form(f.module, &(vec_options){.lanes = lanes}, &f.kernel) == HG_OK, "%s",
                  hg_last_error_text());
    return f;
}

static form make(uint32_t lanes) { return make_of(TEXT, lanes); }

static void drop(form f) {
    vec_kernel_destroy(f.kernel);
    kir_module_destroy(f.module);
}

/* ---- objects that run ---- */

typedef struct faults {
    uint64_t count, lanes, offset;
    uint32_t size;
} faults;

static void on_fault(hgv_launch *launch, const hgv_site *site, uint64_t lane,
                     const uint64_t *values) {
    faults *f = launch->user;
    f->count++;
    f->lanes |= UINT64_C(1) << lane;
    f->offset = values[0];
    f->size = site->size;
}

static void on_first_fault(hgv_launch *launch, const hgv_site *site, uint64_t lane,
                           const uint64_t *values) {
    on_fault(launch, site, lane, values);
    launch->stopped = true;
}

static void test_runs(const hg_jit_table *jit, uint32_t bytes, const char *cpu, uint32_t lanes,
                      uint64_t count) {
    enum { MOST = 64 };
    const native_loader *loader = native_choose()->loader;
    form f = make(lanes);
    char reason[256];
    hg_jit_object object = {0};
    uint64_t inputs[1] = {7};
    CHECK_MESSAGE(jit->compile(f.kernel, &(hg_jit_options){.bytes = bytes, .cpu = cpu}, NULL,
                               &object, reason) == HG_OK,
                  "%s", reason);
    void *code = object.bytes ? loader->load(object.bytes, object.size, HG_JIT_KERNEL, reason)
                              : NULL;
    CHECK_MESSAGE(code, "%s", reason);
    if (code) {
        uint32_t x[MOST];
        faults seen = {0};
        for (uint32_t i = 0; i < MOST; i++) x[i] = i;
        hgv_memory memory = {(uint8_t *)x, 4 * (count - 3), true}; /* the last three lanes are
                                                                      outside */
        hgv_launch launch = {.inputs = inputs,
                             .slots = &memory,
                             .lanes = count,
                             .fault = on_fault,
                             .fuel = 1 << 30,
                             .user = &seen};
        void (*run)(hgv_launch *, uint64_t, uint64_t);
        *(void **)(void *)&run = loader->entry(code);
        run(&launch, 0, count);
        for (uint32_t i = 0; i < MOST; i++) CHECK_U64(x[i], i < count - 3 ? i * 3 + 1 : i);
        CHECK_U64(seen.count, 3);
        CHECK_U64(seen.lanes, UINT64_C(7) << (count - 3));
        CHECK_U64(seen.offset, 4 * (count - 1));
        CHECK_U64(seen.size, 4);
        loader->unload(code);
    }
    if (object.bytes) jit->release(object.bytes);
    drop(f);
}

/* Rows of w lanes that x has none of: the first turn faults. Returns its lanes. */
static uint32_t lanes_of_first(const hg_jit_table *jit, uint64_t w) {
    enum { LANES = 16, COUNT = 64 };
    const native_loader *loader = native_choose()->loader;
    form f = make_of(ROWS, LANES);
    char reason[256];
    hg_jit_object object = {0};
    uint64_t inputs[3] = {0, 0, w};
    uint32_t y[COUNT] = {0}, lanes = 0;
    CHECK(vec_whole_of(f.kernel) && vec_asks_for_rows(vec_whole_of(f.kernel)));
    CHECK_MESSAGE(jit->compile(f.kernel, &(hg_jit_options){.bytes = 16, .cpu = "x86-64"}, NULL,
                               &object, reason) == HG_OK,
                  "%s", reason);
    void *code = object.bytes ? loader->load(object.bytes, object.size, HG_JIT_KERNEL, reason)
                              : NULL;
    CHECK_MESSAGE(code, "%s", reason);
    if (code) {
        hgv_memory memory[2] = {{(uint8_t *)y, 0, true}, {(uint8_t *)y, sizeof y, true}};
        faults seen = {0};
        hgv_launch launch = {.inputs = inputs,
                             .slots = memory,
                             .lanes = COUNT,
                             .fault = on_first_fault,
                             .fuel = 1 << 30,
                             .user = &seen};
        void (*run)(hgv_launch *, uint64_t, uint64_t);
        *(void **)(void *)&run = loader->entry(code);
        run(&launch, 0, COUNT);
        loader->unload(code);
        CHECK(seen.count > 0);
    }
    while (lanes < COUNT && y[lanes] == 3) lanes++;
    if (object.bytes) jit->release(object.bytes);
    drop(f);
    return lanes;
}

/* Behind whole turns lanes run half as many at once, unless that may be all turns: where rows have
 * no whole ones. */
static void test_rows(const hg_jit_table *jit) {
    CHECK_U64(lanes_of_first(jit, 24), 16);
    CHECK_U64(lanes_of_first(jit, 32), 16);
}

/* ---- time inside of what is ready ---- */

static struct {
    uint32_t powers, asked;
    bool enough; /* time */
} timed;

static void on_power(hgv_launch *launch, uint32_t op, uint64_t *d, const uint64_t *a,
                     const uint64_t *b, const uint64_t *c, uint32_t limbs, uint32_t lanes,
                     uint64_t run) {
    (void)op, (void)d, (void)a, (void)b, (void)c, (void)limbs, (void)lanes, (void)run;
    timed.powers++;
    launch->fuel = -1;
}

static bool on_question(hgv_launch *launch) {
    timed.asked++;
    launch->fuel = 1 << 30;
    return timed.enough;
}

/* Where a power took all the time its lanes end, and no turn follows. */
static void test_time(const hg_jit_table *jit, uint32_t bytes, const char *cpu, bool enough) {
    enum { LANES = 16, COUNT = 64 };
    const native_loader *loader = native_choose()->loader;
    form f = make_of(POWER, LANES);
    char reason[256];
    hg_jit_object object = {0};
    uint64_t inputs[1] = {0};
    CHECK_MESSAGE(jit->compile(f.kernel, &(hg_jit_options){.bytes = bytes, .cpu = cpu}, NULL,
                               &object, reason) == HG_OK,
                  "%s", reason);
    void *code = object.bytes ? loader->load(object.bytes, object.size, HG_JIT_KERNEL, reason)
                              : NULL;
    CHECK_MESSAGE(code, "%s", reason);
    if (code) {
        uint32_t y[COUNT] = {0}, written = 0;
        hgv_memory memory = {(uint8_t *)y, sizeof y, true};
        hgv_launch launch = {.inputs = inputs,
                             .slots = &memory,
                             .lanes = COUNT,
                             .wide = on_power,
                             .go_on = on_question,
                             .fuel = 1 << 30};
        void (*run)(hgv_launch *, uint64_t, uint64_t);
        *(void **)(void *)&run = loader->entry(code);
        timed.powers = timed.asked = 0;
        timed.enough = enough;
        run(&launch, 0, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) written += y[i];
        CHECK_U64(timed.powers, enough ? COUNT / LANES : 1);
        CHECK_U64(timed.asked, enough ? COUNT / LANES : 1);
        CHECK_U64(written, enough ? COUNT : 0);
        CHECK(launch.stopped == !enough);
        loader->unload(code);
    }
    if (object.bytes) jit->release(object.bytes);
    drop(f);
}

/* ---- quotients by inputs ---- */

static uint64_t quotient_and_rest(uint32_t m, uint32_t w) {
    return w ? (uint64_t)(m / w) << 32 | m % w : 0;
}

/* At what is hardest for a product in place of a division: numbers beside multiples, divisors
 * beside powers of two, nothing, one, and the largest. */
static void test_quotients(const hg_jit_table *jit, uint32_t bytes, const char *cpu) {
    enum { LANES = 16, NUMBERS = 4096 };
    const native_loader *loader = native_choose()->loader;
    form f = make_of(DIVIDES, LANES);
    char reason[256];
    hg_jit_object object = {0};
    CHECK_MESSAGE(jit->compile(f.kernel, &(hg_jit_options){.bytes = bytes, .cpu = cpu}, NULL,
                               &object, reason) == HG_OK,
                  "%s", reason);
    void *code = object.bytes ? loader->load(object.bytes, object.size, HG_JIT_KERNEL, reason)
                              : NULL;
    CHECK_MESSAGE(code, "%s", reason);
    uint64_t random = 88172645463325252u, inputs[3] = {0}, y[LANES], wrong = 0;
    hgv_memory memory = {(uint8_t *)y, sizeof y, true};
    hgv_launch launch = {.inputs = inputs, .slots = &memory, .lanes = LANES, .fuel = 1 << 30};
    void (*run)(hgv_launch *, uint64_t, uint64_t) = NULL;
    if (code) *(void **)(void *)&run = loader->entry(code);
    for (uint32_t i = 0; code && i < NUMBERS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const uint32_t shift = (uint32_t)random % 32, near = (uint32_t)(random >> 8) % 3;
        uint32_t w = i % 4 == 0 ? (UINT32_C(1) << shift) + near - 1
                                : (uint32_t)(random >> 32) >> shift;
        if (i < 4) w = i ? UINT32_MAX - (i - 1) : 1;
        const uint32_t most = w ? UINT32_MAX / w : 0;
        const uint32_t m = i % 8 < 4 ? w * (most - (uint32_t)(random >> 16) % 2) + near - 1
                                     : (uint32_t)(random >> 24);
        inputs[1] = m;
        inputs[2] = w;
        run(&launch, 0, LANES);
        for (uint32_t l = 0; l < LANES; l++) wrong += y[l] != quotient_and_rest(m, w);
    }
    CHECK_U64(wrong, 0);
    if (code) loader->unload(code);
    if (object.bytes) jit->release(object.bytes);
    drop(f);
}

/* ---- threads ---- */

static void *compile_some(void *jit) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const hg_jit_table *table = jit;
        form f = make(16);
        char reason[256];
        hg_jit_object object = {0};
        if (table->compile(f.kernel, &(hg_jit_options){.bytes = 32, .cpu = "x86-64-v3"}, NULL,
                           &object, reason) == HG_OK)
            bytes += object.size;
        if (object.bytes) table->release(object.bytes);
        drop(f);
    }
    return (void *)(uintptr_t)bytes;
}

static void test_threads(const hg_jit_table *jit) {
    enum { COUNT = 3 };
    pthread_t threads[COUNT];
    void *bytes[COUNT];
    for (int i = 0; i < COUNT; i++)
        CHECK(pthread_create(&threads[i], NULL, compile_some, (void *)(uintptr_t)jit) == 0);
    for (int i = 0; i < COUNT; i++) CHECK(pthread_join(threads[i], &bytes[i]) == 0);
    for (int i = 0; i < COUNT; i++) CHECK(bytes[i] != NULL && bytes[i] == bytes[0]);
}

/* ---- what it shows, what it refuses ---- */

static void test_hidden(void *library) {
    static const char *const names[] = {"LLVMContextCreate", "LLVMShutdown", "LLVMParseIRInContext",
                                        "vec_walk",          "hg_alloc",     "compress2"};
    for (size_t i = 0; i < HG_COUNT_OF(names); i++)
        CHECK_MESSAGE(!dlsym(library, names[i]), "%s is seen from outside", names[i]);
}

static void test_refuses(const hg_jit_table *jit) {
    form f = make(128);
    char reason[256];
    hg_jit_object object = {0};
    CHECK(jit->compile(f.kernel, &(hg_jit_options){.bytes = 32, .cpu = "x86-64-v3"}, NULL, &object,
                       reason) == HG_ERROR_ISA);
    CHECK_TEXT(reason, "the native compiler does not know turns of 128 lanes");
    drop(f);
}

int main(void) {
    void *library = dlopen(HG_BUILD_DIR "/libhologram_jit.so", RTLD_NOW | RTLD_LOCAL);
    hg_jit_entry entry = NULL;
    if (!library) {
        SKIP("no libhologram_jit.so in this build");
        return test_done();
    }
    *(void **)(void *)&entry = dlsym(library, HG_JIT_ENTRY);
    CHECK(entry && !entry(HG_JIT_VERSION + 1));
    const hg_jit_table *jit = entry ? entry(HG_JIT_VERSION) : NULL;
    CHECK(jit && jit->version == HG_JIT_VERSION && strncmp(jit->compiler, "LLVM 19.", 8) == 0);
    if (!jit) return test_done();
    test_hidden(library);
    for (size_t i = 0; i < HG_COUNT_OF(LEVELS); i++) {
        if (!tile_level_available(LEVELS[i].level)) continue;
        test_runs(jit, LEVELS[i].bytes, LEVELS[i].cpu, 16, 16);
        test_runs(jit, LEVELS[i].bytes, LEVELS[i].cpu, 16, 41);
        test_runs(jit, LEVELS[i].bytes, LEVELS[i].cpu, 32, 59);
        test_quotients(jit, LEVELS[i].bytes, LEVELS[i].cpu);
        test_time(jit, LEVELS[i].bytes, LEVELS[i].cpu, true);
        test_time(jit, LEVELS[i].bytes, LEVELS[i].cpu, false);
    }
    test_rows(jit);
    test_threads(jit);
    test_refuses(jit);
    return test_done();
}
