/* test: labels=threads,slow timeout=600 */
/* Native code of kernels on the CPU, made by gcc in place of libhologram_jit.so: at once, in the
 * background, from the object cache; every way in which it may fail, processes that share a cache
 * and are killed, kernels that go and processes that fork while they are compiled. Results are
 * right in all of them. */
#include "native/compilers.h"
#include "native/native.h"
#include "runtime/binding.h"
#include "support/c_vectors.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include "tile/tile_internal.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LANES = 1003, SECONDS = 120 };

/* ---- a compiler: gcc's objects, kept for the length of the test ---- */

static const native_compiler *gcc;
static pthread_mutex_t memo_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[64];
    hg_jit_object object;
} memo[24];
static uint32_t memo_count;
static _Atomic int compilations, gate_closed, inside, result_wanted;
enum { ALL_WELL, REFUSE, NO_MEMORY, GARBAGE, CUT };

static hg_status compile_once(vec_kernel *kernel, const hg_jit_options *options,
                              hg_jit_object *object, char reason[256]) {
    hg_status status = HG_OK;
    uint32_t i = 0;
    pthread_mutex_lock(&memo_lock);
    while (i < memo_count && strcmp(memo[i].name, kernel->module->name) != 0) i++;
    if (i == memo_count) {
        status = gcc->compile(kernel, options, NULL, &memo[i].object, reason);
        snprintf(memo[i].name, sizeof memo[i].name, "%s", kernel->module->name);
        memo_count += status == HG_OK;
    }
    if (status == HG_OK) {
        *object = memo[i].object;
        object->bytes = malloc(object->size);
        memcpy(object->bytes, memo[i].object.bytes, object->size);
    }
    pthread_mutex_unlock(&memo_lock);
    return status;
}

/* Nobody waits any more: what it works on is its own. */
static hg_status leave_alone(vec_kernel *kernel, char reason[256]) {
    kir_module *module = (kir_module *)(uintptr_t)kernel->module;
    vec_kernel_destroy(kernel);
    kir_module_destroy(module);
    snprintf(reason, 256, "it is left alone");
    inside--;
    return HG_ERROR_WOULD_BLOCK;
}

static hg_status compile(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    compilations++;
    inside++;
    for (; gate_closed; usleep(200))
        if (hg_patience_stopped(patience) || hg_patience_late(patience))
            return leave_alone(kernel, reason);
    snprintf(reason, 256, "as the test wants");
    hg_status status = result_wanted == REFUSE      ? HG_ERROR_ISA
                       : result_wanted == NO_MEMORY ? HG_ERROR_OUT_OF_MEMORY
                                                    : compile_once(kernel, options, object, reason);
    if (status == HG_OK && result_wanted == GARBAGE) memset(object->bytes, 0x5A, object->size);
    if (status == HG_OK && result_wanted == CUT) object->size /= 2;
    inside--;
    return status;
}

static const char *version = "a compiler of the test, 1";
static uint32_t lanes_asked = 8; /* of every turn; 0: as many as fit the kernel */
static const char *open_compiler(char reason[256]) { return (void)reason, version; }
static bool identity(hg_text *out) { return hg_text_addf(out, "%s", version), true; }
static void level_of(tile_level level, native_level *how) {
    gcc->level(level, how);
    how->fixed = lanes_asked != 0;
    if (lanes_asked) how->lanes = lanes_asked;
}

/* ---- programs ---- */

/* y = y · 3 + x, in u32, some rounds of it. */
#define STEPS(name, rounds)                                                                     \
    ".atlas 1\n.program " name "\n.param r1 x buffer u32 in [n]\n.param r2 y buffer u32 inout " \
    "[n]\n.param r4 n u64\n.lanes n\n"                                                          \
    " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u32 r9, 3\n ldg.u32 r10, [r1 + "   \
    "r0]\n ldg.u32 r11, [r2 + r0]\n"                                                            \
    " loop r30, " rounds                                                                        \
    "\n mul.u32 r11, r11, r9\n add.u32 r11, r11, r10\n endloop\n stg.u32 [r2 + r0], r11\n"
static const char ONE_STEP[] =
    ".atlas 1\n.program one_step\n.param r1 x buffer u32 in [n]\n.param r2 y buffer u32 inout "
    "[n]\n.param r4 n u64\n.lanes n\n"
    " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u32 r9, 3\n ldg.u32 r10, [r1 + r0]\n "
    "ldg.u32 r11, [r2 + r0]\n"
    " mul.u32 r11, r11, r9\n add.u32 r11, r11, r10\n stg.u32 [r2 + r0], r11\n";
static const char MANY_STEPS[] = STEPS("many_steps", "40");

typedef struct bound {
    hg_backend *b;
    hg_program *program;
    hg_executable *executable;
    hg_binding *binding;
    hg_buffer x, y;
    uint32_t rounds, values[LANES], in[LANES];
} bound;

static hg_status open_in(const char *jit, const char *cache, uint64_t cache_bytes, hg_backend **b) {
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = cache;
    config.cache_bytes = cache_bytes;
    config.profiling = true;
    return hg_backend_create_with_config(&config, b);
}

static hg_backend *open_native(const char *jit, const char *cache) {
    hg_backend *b = NULL;
    CHECK_OK(open_in(jit, cache, 1 << 20, &b));
    if (!b) exit(test_done());
    return b;
}

static hg_program *assembled; /* in place of the text */

static hg_status bind(hg_backend *b, const char *text, uint32_t rounds, bound *k) {
    *k = (bound){.b = b, .rounds = rounds};
    for (uint32_t i = 0; i < LANES; i++) k->in[i] = k->values[i] = i * 2654435761u;
    k->program = assembled ? hg_program_retain(assembled) : assemble(text);
    hg_params *params = hg_params_create();
    hg_status status = params ? hg_backend_allocate_buffer(b, sizeof k->in, &k->x)
                              : HG_ERROR_OUT_OF_MEMORY;
    if (status == HG_OK) status = hg_backend_allocate_buffer(b, sizeof k->in, &k->y);
    if (status == HG_OK) status = hg_buffer_write(b, k->x, 0, k->in, sizeof k->in);
    if (status == HG_OK) status = hg_buffer_write(b, k->y, 0, k->values, sizeof k->values);
    if (status == HG_OK) status = hg_params_set_buffer(params, "x", k->x);
    if (status == HG_OK) status = hg_params_set_buffer(params, "y", k->y);
    if (status == HG_OK) status = hg_executable_create(b, k->program, &k->executable);
    if (status == HG_OK) status = hg_binding_create(k->executable, NULL, params, &k->binding);
    hg_params_destroy(params);
    return status;
}

static bool launch(bound *k) {
    uint32_t out[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        for (uint32_t n = 0; n < k->rounds; n++) k->values[i] = k->values[i] * 3 + k->in[i];
    return hg_binding_launch(k->binding) == HG_OK &&
           hg_buffer_read(k->b, k->y, 0, out, sizeof out) == HG_OK &&
           memcmp(out, k->values, sizeof out) == 0;
}

static void unbind(bound *k) {
    hg_binding_destroy(k->binding);
    hg_executable_destroy(k->executable);
    hg_program_release(k->program);
    if (k->x.handle) HG_IGNORE(hg_backend_free_buffer(k->b, k->x)); /* of a backend that goes */
    if (k->y.handle) HG_IGNORE(hg_backend_free_buffer(k->b, k->y));
}

static bool is_native(const bound *k) {
    const hg_driver_kernel *kernel = k->executable->kernels[0].code->kernel;
    const tile_kernel *code;
    memcpy(&code, kernel, sizeof code);
    return tile_native_of(code) != NULL;
}

/* Launches until there is native code; every result is looked at. */
static bool becomes_native(bound *k) {
    uint64_t end = hg_clock_ns() + SECONDS * UINT64_C(1000000000), wrong = 0;
    while (!is_native(k) && hg_clock_ns() < end) wrong += !launch(k);
    wrong += !launch(k);
    CHECK_U64(wrong, 0);
    return is_native(k);
}

/* ---- when ---- */

static void at_once(void) {
    hg_backend *b = open_native("on", "off");
    bound one, many;
    compilations = 0;
    CHECK_OK(bind(b, ONE_STEP, 1, &one));
    CHECK_OK(bind(b, MANY_STEPS, 40, &many));
    CHECK(is_native(&one) && is_native(&many) && compilations == 2);
    for (int i = 0; i < 50; i++) CHECK(launch(&one) && launch(&many));
    CHECK(one.binding->way.ready.count != 0); /* ready launches run it too */
    unbind(&many);
    unbind(&one);
    hg_backend_destroy(b);
    b = open_native("off", "off");
    CHECK_OK(bind(b, ONE_STEP, 1, &one));
    for (int i = 0; i < 50; i++) CHECK(launch(&one));
    CHECK(!is_native(&one) && compilations == 2);
    unbind(&one);
    hg_backend_destroy(b);
}

/* A transform whose lanes meet at a barrier, and one whose lanes do not: their launches are made
 * ready, and give the interpreter's bits. */
static void transforms(void) {
    enum { MOST = 2 * 256 };
    static const char *const texts[] = {
        ".atlas 1\n.program t\n.param x buffer f32 in [512]\n.param y buffer f32 out [512]\n "
        "fft.f32 "
        "output=y, input=x, n=256, inverse=false\n",
        ".atlas 1\n.program t\n.param x buffer f32 in [32]\n.param y buffer f32 out [32]\n fft.f32 "
        "output=y, input=x, n=16, inverse=false\n"};
    for (int which = 0; which < 2; which++) {
        float in[MOST], out[2][MOST] = {{0}};
        uint64_t bytes = which ? 32 * sizeof *in : sizeof in;
        for (int way = 0; way < 2; way++) {
            hg_backend *b = open_native(way ? "on" : "off", "off");
            hg_buffer x = {0}, y = {0};
            hg_program *program = assemble(texts[which]);
            hg_executable *e = NULL;
            hg_binding *binding = NULL;
            hg_params *params = hg_params_create();
            CHECK_OK(hg_backend_allocate_buffer(b, bytes, &x));
            CHECK_OK(hg_backend_allocate_buffer(b, bytes, &y));
            CHECK_OK(hg_params_set_buffer(params, "x", x));
            CHECK_OK(hg_params_set_buffer(params, "y", y));
            CHECK_OK(hg_executable_create(b, program, &e));
            CHECK_OK(hg_binding_create(e, NULL, params, &binding));
            for (int i = 0; i < 10; i++) {
                for (int k = 0; k < MOST; k++) in[k] = (float)((k * 37 + i * 11) % 101) - 50;
                CHECK_OK(hg_buffer_write(b, x, 0, in, bytes));
                CHECK_OK(hg_binding_launch(binding));
            }
            CHECK(way == 0 || binding->way.ready.count == 1);
            CHECK_OK(hg_buffer_read(b, y, 0, out[way], bytes));
            hg_binding_destroy(binding);
            hg_executable_destroy(e);
            hg_program_release(program);
            hg_params_destroy(params);
            CHECK_OK(hg_backend_free_buffer(b, x));
            CHECK_OK(hg_backend_free_buffer(b, y));
            hg_backend_destroy(b);
        }
        CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0);
    }
}

/* A loop that some lanes enter in its middle: in its first round only they count. */
static const char ENTERED_LATE[] =
    ".atlas 1\n.program entered_late\n.param r1 x buffer u32 in [n]\n.param r2 y buffer u32 inout "
    "[n]\n.param r4 n u64\n.lanes n\n"
    " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n ldg.u32 r10, [r1 + r0]\n mov_imm.u32 r11, "
    "1073741824\n mov_imm.u32 r29, 3\n"
    " setgtu.u32 p6, r10, r11\n bra.p6 @MIDDLE\nTOP:\n not.u32 r10, r10\nMIDDLE:\n loop r29, "
    "@TOP\n stg.u32 [r2 + r0], r10\n";

static void entered_late(void) {
    uint32_t out[2][LANES];
    for (int native = 0; native < 2; native++) {
        hg_backend *b = open_native(native ? "on" : "off", "off");
        bound k;
        CHECK_OK(bind(b, ENTERED_LATE, 0, &k));
        CHECK_OK(hg_binding_launch(k.binding));
        CHECK_OK(hg_buffer_read(b, k.y, 0, out[native], sizeof out[native]));
        CHECK(is_native(&k) == (native == 1));
        unbind(&k);
        hg_backend_destroy(b);
    }
    CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0);
}

static void in_the_background(void) {
    hg_backend *b = open_native("auto", "off");
    bound one, many, cold;
    compilations = 0;
    CHECK_OK(bind(b, ONE_STEP, 1, &one));
    CHECK_OK(bind(b, MANY_STEPS, 40, &many));
    CHECK_OK(bind(b, STEPS("cold", "2"), 2, &cold));
    CHECK(!is_native(&one) && compilations == 0);
    CHECK(becomes_native(&many) && becomes_native(&one));
    CHECK(launch(&cold) && !is_native(&cold) && compilations == 2);
    for (int i = 0; i < 50; i++) CHECK(launch(&one) && launch(&many));
    unbind(&many);
    unbind(&one);
    unbind(&cold);
    hg_backend_destroy(b);
}

/* ---- the cache ---- */

static char folder[] = "/tmp/hologram-compiled-XXXXXX";

static void each_entry(const char *dir, void (*use_path)(const char *path)) {
    char blobs[128], path[512];
    snprintf(blobs, sizeof blobs, "%s/blobs-1", dir);
    DIR *d = opendir(blobs);
    for (struct dirent *item; d && (item = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", blobs, item->d_name);
        if (item->d_name[0] != '.') use_path(path);
    }
    if (d) closedir(d);
    (void)dir;
}

static void remove_path(const char *path) { unlink(path); }
static void clear_cache(void) { each_entry(folder, remove_path); }

static uint64_t flips;
static void flip_bit(const char *path) {
    int file = open(path, O_RDWR);
    struct stat info;
    uint8_t byte;
    if (file < 0 || fstat(file, &info) != 0 || info.st_size == 0) return;
    off_t at = (off_t)((flips++ * 7919) % (uint64_t)info.st_size);
    if (pread(file, &byte, 1, at) == 1) {
        byte ^= (uint8_t)(1 << flips % 8);
        CHECK(pwrite(file, &byte, 1, at) == 1);
    }
    close(file);
}

/* One backend, one kernel, as `on` or `auto` finds it. */
static void once(const char *jit, const char *cache, int expected) {
    hg_backend *b = open_native(jit, cache);
    bound k;
    compilations = 0;
    CHECK_OK(bind(b, MANY_STEPS, 40, &k));
    CHECK(becomes_native(&k));
    CHECK_MESSAGE(compilations == expected, "%s: %d compilations, expected %d", jit, compilations,
                  expected);
    CHECK_U64(count_in_trace(b, "\"native code\""), 1);
    unbind(&k);
    hg_backend_destroy(b);
}

static void from_the_cache(void) {
    clear_cache();
    once("on", folder, 1);
    once("on", folder, 0);
    once("auto", folder, 0); /* long before it is hot */
    version = "a compiler of the test, 2";
    once("on", folder, 1);
    lanes_asked = 16;
    once("on", folder, 1);
    lanes_asked = 8;
    version = "a compiler of the test, 1";
    once("on", folder, 0);
    const char *sources = native_sources;
    CHECK(strlen(sources) == 64);
    native_sources = "other sources";
    once("on", folder, 1);
    native_sources = sources;
    once("on", folder, 0);
    for (int i = 0; i < 20; i++) {
        each_entry(folder, flip_bit);
        once("on", folder, 1);
    }
    once("on", folder, 0);
    clear_cache();
}

/* Elements are added up; the name is the object's in the memo. */
#define SUMS(name, type)                                                                  \
    ".atlas 1\n.program " name "\n.param x buffer " type " in [n]\n.param y buffer " type \
    " inout [n]\n.param n u64\n.lanes n\n.reg v, w " type "\n"                            \
    " ldg v, [x[global]]\n ldg w, [y[global]]\n add v, v, w\n stg [y[global]], v\n"

/* Lanes of a turn; 0: the sums are wrong. */
static uint32_t lanes_of_sums(const char *text, bool bytes) {
    hg_backend *b = open_native("on", folder);
    uint32_t out[LANES];
    bound k;
    CHECK_OK(bind(b, text, 0, &k));
    bool right = hg_binding_launch(k.binding) == HG_OK &&
                 hg_buffer_read(b, k.y, 0, out, sizeof out) == HG_OK && is_native(&k);
    for (uint32_t i = 0; i < LANES; i++)
        right = right && out[i] == (bytes ? k.in[i] << 1 & 0xfefefefe : 2 * k.in[i]);
    const hg_driver_kernel *kernel = k.executable->kernels[0].code->kernel;
    const tile_kernel *code;
    memcpy(&code, kernel, sizeof code);
    uint32_t lanes = right ? tile_native_of(code)->lanes : 0;
    unbind(&k);
    hg_backend_destroy(b);
    return lanes;
}

/* Lanes of a byte are twice as many a turn, unless they were asked for; the cache says so. */
static void narrow_lanes(void) {
    CHECK_U64(lanes_of_sums(SUMS("bytes_asked", "u8"), true), 8);
    lanes_asked = 0;
    uint32_t words = lanes_of_sums(SUMS("words", "u32"), false);
    compilations = 0;
    uint32_t made = lanes_of_sums(SUMS("bytes", "u8"), true),
             kept = lanes_of_sums(SUMS("bytes", "u8"), true);
    CHECK_MESSAGE(words && made == 2 * words && kept == made && compilations == 1,
                  "%u, %u and %u lanes", words, made, kept);
    lanes_asked = 8;
    clear_cache();
}

static void caches_that_are_none(void) {
    char path[128];
    hg_backend *b = NULL;
    bound k;
    once("on", "/proc/nothing/there", 1);
    snprintf(path, sizeof path, "%s/file", folder);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    close(file);
    once("on", path, 1);
    unlink(path);
    snprintf(path, sizeof path, "%s/closed", folder);
    mkdir(path, 0500);
    once("on", path, 1);
    snprintf(path, sizeof path, "rm -rf %s/closed", folder);
    CHECK(system(path) == 0);
    for (int i = 0; i < 2; i++) { /* too small for any entry */
        CHECK_OK(open_in("on", folder, 100, &b));
        CHECK_OK(bind(b, MANY_STEPS, 40, &k));
        CHECK(launch(&k) && is_native(&k));
        unbind(&k);
        hg_backend_destroy(b);
    }
}

/* What a process of its own does with the cache. */
static void child(void) {
    hg_backend *b = NULL;
    bound k;
    alarm(SECONDS);
    bool good = open_in("on", folder, 1 << 20, &b) == HG_OK &&
                bind(b, MANY_STEPS, 40, &k) == HG_OK && is_native(&k);
    for (int i = 0; i < 3 && good; i++) good = launch(&k);
    _exit(good ? 0 : 1);
}

static void many_processes(void) {
    enum { WRITERS = SANITIZED ? 8 : 64, KILLED = SANITIZED ? 8 : 40 };
    pid_t pids[WRITERS];
    int status, bad = 0;
    clear_cache();
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) child();
    }
    for (int i = 0; i < WRITERS; i++) bad += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    CHECK_U64(bad, 0);
    once("on", folder, 0);
    for (int i = 0; i < KILLED; i++) { /* at any moment of making it */
        if (i % 4 == 0) clear_cache();
        pid_t pid = fork();
        if (pid == 0) child();
        usleep((useconds_t)(i * 150));
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        hg_backend *b = open_native("on", folder);
        bound k;
        CHECK_OK(bind(b, MANY_STEPS, 40, &k));
        CHECK(launch(&k) && is_native(&k));
        unbind(&k);
        hg_backend_destroy(b);
    }
    clear_cache();
}

/* ---- what fails ---- */

static void failures(void) {
    static const int ways[] = {REFUSE, NO_MEMORY, GARBAGE, CUT};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        result_wanted = ways[i];
        for (int n = 0; n < 2; n++) {
            hg_backend *b = open_native(n ? "auto" : "on", "off");
            bound k;
            compilations = 0;
            CHECK_OK(bind(b, MANY_STEPS, 40, &k));
            for (int l = 0; l < 20; l++) CHECK(launch(&k));
            uint64_t end = hg_clock_ns() + SECONDS * UINT64_C(1000000000), wrong = 0;
            while (count_in_trace(b, "\"no native code\"") == 0 && hg_clock_ns() < end)
                for (int l = 0; l < 200; l++) wrong += !launch(&k);
            for (int l = 0; l < 200; l++) wrong += !launch(&k);
            CHECK(wrong == 0 && !is_native(&k) && compilations == 1);
            CHECK_U64(count_in_trace(b, "\"no native code\""), 1);
            unbind(&k);
            hg_backend_destroy(b);
        }
    }
    result_wanted = ALL_WELL;
}

static failing_allocator memory;

static bool with_memory(void) {
    hg_backend *b = NULL;
    bound k = {0};
    hg_status status = open_in("on", folder, 1 << 20, &b);
    if (status == HG_OK) status = bind(b, ONE_STEP, 1, &k);
    if (status == HG_OK) CHECK(launch(&k) || hg_last_error()->status == HG_ERROR_OUT_OF_MEMORY);
    CHECK_MESSAGE(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY ||
                      status == HG_ERROR_ALLOCATION_FAILED,
                  "%s", hg_last_error_text());
    allow_allocations(&memory, UINT64_MAX - 1);
    bool whole = status == HG_OK && is_native(&k);
    if (b) unbind(&k);
    hg_backend_destroy(b);
    return whole;
}

/* Every allocation fails once, with an empty cache and with a full one. Text is assembled with
 * memory of its own. */
static void no_memory(void) {
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    memory.only_once = true;
    assembled = assemble(ONE_STEP);
    allow_allocations(&memory, UINT64_MAX - 1);
    CHECK(with_memory());
    uint64_t at_start = memory.live;
    for (int cached = 0; cached < 2; cached++) {
        uint64_t n = 0, natives = 0;
        for (bool done = false; !done; n += SANITIZED ? 7 : 1) {
            if (!cached) clear_cache();
            allow_allocations(&memory, n);
            uint64_t fails_at = memory.fail_at;
            natives += with_memory();
            done = memory.allocations < fails_at && n > 100;
            if (n > 20000) break;
        }
        CHECK(n < 20000 && natives > 0);
    }
    CHECK_U64(memory.live, at_start);
    hg_program_release(assembled);
    assembled = NULL;
    CHECK_OK(hg_set_allocator(NULL));
    clear_cache();
}

/* ---- while a kernel is being compiled ---- */

static void wait_inside(bound *k) {
    uint64_t end = hg_clock_ns() + SECONDS * UINT64_C(1000000000);
    while (!inside && hg_clock_ns() < end) CHECK(launch(k));
    CHECK(inside == 1);
}

/* The kernel goes; then the backend, which does not wait for the compiler. */
static void kernels_that_go(void) {
    for (int i = 0; i < 4; i++) {
        hg_backend *b = open_native("auto", i < 2 ? "off" : folder); /* a key is made of the
                                                                        kernel's text, whose program
                                                                        has gone */
        bound k, waits;
        clear_cache();
        gate_closed = 1;
        CHECK_OK(bind(b, MANY_STEPS, 40, &k));
        CHECK_OK(bind(b, STEPS("waits", "60"), 60, &waits));
        wait_inside(&k);
        if (i % 2) /* hot too: it waits for the first one, and goes before its turn */
            for (int n = 0; n < 500; n++) CHECK(launch(&waits));
        unbind(&k);
        unbind(&waits);
        hg_executables_forget(b);
        if (i >= 2) gate_closed = 0;
        hg_backend_destroy(b);
        gate_closed = 0;
    }
}

/* ---- a compiler that takes too long ---- */

typedef struct told {
    char kernel[64], reason[256];
    bool native;
    uint32_t count; /* the last to be written */
} told;

static uint32_t reports(const told *t) { return hg_atomic_load(&t->count, HG_ACQUIRE); }

static void wait_for_report(const told *t, uint32_t number) {
    uint64_t end = hg_clock_ns() + SECONDS * UINT64_C(1000000000);
    while (reports(t) < number && hg_clock_ns() < end) usleep(1000);
    CHECK_U64(reports(t), number);
}

static void listen(void *user, const hg_code_report *report) {
    told *t = user;
    snprintf(t->kernel, sizeof t->kernel, "%s", report->kernel);
    snprintf(t->reason, sizeof t->reason, "%s", report->reason);
    t->native = report->native;
    hg_atomic_store(&t->count, t->count + 1, HG_RELEASE);
}

static void takes_too_long(const char *jit) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    told t = {0};
    bound k, other;
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = "off";
    config.compile_timeout_ms = 20;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    CHECK_OK(hg_backend_listen(b, listen, &t));
    gate_closed = 1;
    CHECK_OK(bind(b, MANY_STEPS, 40, &k));
    uint64_t end = hg_clock_ns() + SECONDS * UINT64_C(1000000000);
    while (hg_code_better(k.executable->kernels[0].code) == HG_BETTER_LATER && hg_clock_ns() < end)
        CHECK(launch(&k));
    CHECK(launch(&k) && !is_native(&k) &&
          hg_code_better(k.executable->kernels[0].code) == HG_BETTER_NEVER);
    wait_for_report(&t, 1);
    CHECK(!t.native && strcmp(t.kernel, "many_steps") == 0 && strstr(t.reason, "it is left alone"));
    gate_closed = 0;
    CHECK_OK(bind(b, ONE_STEP, 1, &other));
    CHECK(becomes_native(&other));
    wait_for_report(&t, 2);
    CHECK(t.native && strcmp(t.kernel, "one_step") == 0 && !t.reason[0]);
    unbind(&k);
    unbind(&other);
    hg_backend_destroy(b);
}

/* The child never enters the compiler that a thread of the parent was in; everything else goes on.
 */
static void forks(void) {
    hg_backend *b = open_native("auto", folder);
    bound k, other;
    int status = -1;
    clear_cache();
    gate_closed = 1;
    CHECK_OK(bind(b, MANY_STEPS, 40, &k));
    CHECK_OK(bind(b, ONE_STEP, 1, &other));
    wait_inside(&k);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(SECONDS);
        gate_closed = 0;
        uint64_t wrong = 0;
        for (int i = 0; i < 3000; i++) wrong += !launch(&other);
        for (int i = 0; i < 200; i++) wrong += !launch(&k);
        bool native = is_native(&k);
        unbind(&k);
        unbind(&other);
        hg_backend_destroy(b);
        hg_backend *second = NULL;
        bool good = open_in("on", folder, 1 << 20, &second) == HG_OK &&
                    bind(second, ONE_STEP, 1, &other) == HG_OK && launch(&other);
        _exit(wrong || native || !good);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    gate_closed = 0;
    CHECK(becomes_native(&k) && becomes_native(&other));
    while (count_in_trace(b, "\"native code\"") < 2)
        usleep(1000); /* the thread is out of the compiler */
    pid = fork();
    if (pid == 0) {
        alarm(SECONDS);
        bound more;
        bool good = launch(&k) && launch(&other) &&
                    bind(b, STEPS("more", "50"), 50, &more) == HG_OK && becomes_native(&more);
        unbind(&more);
        unbind(&k);
        unbind(&other);
        hg_backend_destroy(b);
        _exit(good ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    unbind(&k);
    unbind(&other);
    hg_backend_destroy(b);
    clear_cache();
}

int main(void) {
    char reason[256];
    if (!c_vectors_use("16:8:gcc -O1", reason)) {
        SKIP(reason);
        return test_done();
    }
    gcc = native_compiler_in_use;
    native_compiler use = *gcc;
    use.at_once = false;
    use.level = level_of;
    use.open = open_compiler;
    use.identity = identity;
    use.compile = compile;
    native_compiler_in_use = &use;
    if (!mkdtemp(folder)) return 1;
    at_once();
    transforms();
    entered_late();
    in_the_background();
    from_the_cache();
    narrow_lanes();
    caches_that_are_none();
    failures();
    kernels_that_go();
    takes_too_long("on");
    takes_too_long("auto");
    if (!HG_THREAD_SANITIZER) { /* it does not go on in a child of several threads */
        forks();
        many_processes();
    }
    no_memory();
    char path[160];
    snprintf(path, sizeof path, "%s/blobs-1", folder);
    rmdir(path);
    rmdir(folder);
    for (uint32_t i = 0; i < memo_count; i++) free(memo[i].object.bytes);
    return test_done();
}
