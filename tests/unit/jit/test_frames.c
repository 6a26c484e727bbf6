/* Native code on the stack of its host. Kernels that need much beside registers (wide integers,
 * private arrays, what lanes keep across barriers, functions in functions, hundreds of live values)
 * run on a thread with a small stack, a guard page below it and marked memory below that: they give
 * the interpreter's bits and touch nothing there; launched, bound, and from the cache of objects.
 * What the compiler reports is within the limit, and a kernel for which it is not stays
 * interpreted, with the figure in the reason. test_frames [--all]     every shape at every level;
 * else a seventh of them */
/* test: timeout=900 */
#include "native/compilers.h"
#include "support/runtime_support.h"
#include "tile/tile.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LANES = 70,
    STACK = 160 << 10,
    MARKED = 8 << 20,
    MARK = 0x5A,
    PAGE = 4096,
    MOST_BYTES = LANES * 512
};

/* ---- the compiler, watched ---- */

static atomic_int compiled, refused;
static atomic_uint largest, pretended; /* pretended: what the compiler says in place of what is */
static char last_reason[256];
static const native_compiler *llvm;

static hg_status compile(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    (void)patience; /* a busy machine is no reason to give up */
    hg_status status = llvm->compile(kernel, options, NULL, object, reason);
    if (status == HG_OK) {
        compiled++;
        if (pretended) object->frame = pretended;
        if (object->frame > largest && !pretended) largest = object->frame;
        CHECK_MESSAGE(pretended || (object->frame > 0 && object->frame <= HG_JIT_MOST_FRAME),
                      "'%s' takes %u bytes of the stack", kernel->module->name,
                      (unsigned)object->frame);
    } else {
        refused++;
        memcpy(last_reason, reason, sizeof last_reason);
        CHECK_MESSAGE(status == HG_ERROR_ISA, "'%s': %s", kernel->module->name, reason);
    }
    return status;
}

static bool identity(hg_text *out) { return hg_text_addf(out, "test_frames"), true; }

/* ---- programs ---- */

/* Registers that are all live at once, as `bytes` wide as their type; through a loop, a barrier, a
 * call or none of them. */
typedef enum way { LOOP, BARRIER, CALL, STRAIGHT } way;
typedef struct shape {
    const char *type;
    unsigned bytes, count;
    way way;
} shape;

static const shape SHAPES[] = {
    {"u4096", 512, 200, LOOP},   {"u4096", 512, 40, BARRIER}, {"u4096", 512, 30, CALL},
    {"u1024", 128, 100, LOOP},   {"u512", 64, 240, LOOP},     {"u512", 64, 60, BARRIER},
    {"u256", 32, 120, CALL},     {"u128", 16, 200, STRAIGHT}, {"u64", 8, 240, LOOP},
    {"u64", 8, 200, BARRIER},    {"u32", 4, 240, LOOP},       {"u32", 4, 200, CALL},
    {"f64", 8, 240, STRAIGHT},   {"u8", 1, 240, LOOP},        {"u16", 2, 220, BARRIER},
    {"u4096", 512, 2, STRAIGHT},
};

static void add(hg_text *t, const shape *s, const char *op) {
    for (unsigned k = 0; k < s->count; k++)
        hg_text_addf(t, "    %s a[%u], a[%u], a[%u]\n", op, k, k * 7 % s->count,
                     (k * 11 + 3) % s->count);
}

static char *text_of(const shape *s) {
    hg_text t = {0};
    const char *fold = s->type[0] == 'f' ? "max" : "xor";
    hg_text_addf(&t,
                 ".atlas 1\n.program frames\n.param x buffer %s in\n.param y buffer %s out "
                 "[%d]\n.lanes %d\n.block 16\n",
                 s->type, s->type, LANES, LANES);
    hg_text_addf(&t, ".reg a[%u] %s\n.reg i, k u32\n    cvt.u32.u64 i, global\n    and i, i, 15\n",
                 s->count, s->type);
    for (unsigned k = 0; k < s->count; k++)
        hg_text_addf(&t, "    ldg a[%u], [x + i*%u + %u]\n", k, s->bytes, k * s->bytes);
    if (s->way == LOOP) hg_text_addf(&t, "    loop k, 3\n");
    add(&t, s, "add");
    if (s->way == LOOP) hg_text_addf(&t, "    endloop\n");
    if (s->way == BARRIER) hg_text_addf(&t, "    bar.sync 0\n");
    if (s->way == CALL) hg_text_addf(&t, "    call @outer\n    call @inner\n");
    add(&t, s, "sub");
    for (unsigned k = 1; k < s->count; k++) hg_text_addf(&t, "    %s a[0], a[0], a[%u]\n", fold, k);
    hg_text_addf(&t, "    stg [y[global]], a[0]\n    exit\n");
    if (s->way == CALL) {
        hg_text_addf(&t, "outer:\n    call @inner\n");
        add(&t, s, "add");
        hg_text_addf(&t, "    ret\ninner:\n");
        add(&t, s, "mul");
        hg_text_addf(&t, "    ret\n");
    }
    CHECK(!t.failed);
    return t.data;
}

/* Private memory of so many bytes a lane, written and read where lanes want. */
static char *private_text(unsigned bytes) {
    hg_text t = {0};
    hg_text_addf(
        &t,
        ".atlas 1\n.program private\n.param x buffer u32 in\n.param y buffer u32 out "
        "[%d]\n.private %u\n.lanes %d\n"
        ".reg i, j, a, b u32\n    cvt.u32.u64 i, global\n    and i, i, 15\n    mov b, 0\n    loop "
        "j, %u\n    ldg a, [x + i*4]\n"
        "    add a, a, j\n    stp [private + j*4], a\n    endloop\n    loop j, %u\n    xor a, j, "
        "i\n    rem a, a, %u\n"
        "    ldp a, [private + a*4]\n    mad b, b, 3, a\n    endloop\n    stg [y[global]], b\n",
        LANES, bytes, LANES, bytes / 4, bytes / 4, bytes / 4);
    CHECK(!t.failed);
    return t.data;
}

/* ---- a host with little stack ---- */

typedef struct job {
    const char *text;
    hg_config config;
    unsigned bytes; /* of an element of y */
    uint8_t y[MOST_BYTES];
    bool good;
} job;

static void run_all(job *j, hg_backend *b) {
    static uint8_t x[1 << 18]; /* the same for everybody */
    hg_program *program = assemble(j->text);
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_params *params = hg_params_create();
    hg_launch launch = HG_LAUNCH_PROGRAM;
    for (size_t i = 0; i < sizeof x; i++) x[i] = (uint8_t)(i * 2654435761u >> 13);
    hg_buffer in = make_buffer(b, x, sizeof x), out = make_buffer(b, NULL, LANES * j->bytes);
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_backend_execute_program_with_params(b, program, &launch, params));
    CHECK_OK(hg_buffer_read(b, out, 0, j->y, LANES * j->bytes));
    CHECK_OK(hg_executable_create(b, program, &e));
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    for (int i = 0; i < 4 && binding; i++) {
        static uint8_t again[MOST_BYTES];
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_buffer_read(b, out, 0, again, LANES * j->bytes));
        CHECK(memcmp(again, j->y, LANES * j->bytes) == 0);
    }
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(program);
}

static void *host(void *user) {
    job *j = user;
    hg_backend *b = NULL;
    CHECK_OK(hg_backend_create_with_config(&j->config, &b));
    if (b) run_all(j, b);
    j->good = b != NULL;
    hg_backend_destroy(b);
    return NULL;
}

/* On a thread whose stack has a guard page and marked memory below. */
static void run_there(job *j) {
    static uint8_t *memory;
    size_t all = MARKED + PAGE + STACK;
    pthread_attr_t attributes;
    pthread_t thread;
    if (!memory) {
        memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(memory != MAP_FAILED);
        memset(memory, MARK, MARKED);
        CHECK(mprotect(memory + MARKED, PAGE, PROT_NONE) == 0);
    }
    CHECK(pthread_attr_init(&attributes) == 0 &&
          pthread_attr_setstack(&attributes, memory + MARKED + PAGE, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, host, j) == 0 && pthread_join(thread, NULL) == 0 &&
          j->good);
    size_t changed = 0;
    for (size_t i = 0; i < MARKED; i++) changed += memory[i] != MARK;
    CHECK_U64(changed, 0);
    if (changed) memset(memory, MARK, MARKED);
    pthread_attr_destroy(&attributes);
}

static job job_of(const char *text, unsigned bytes, const char *level, const char *jit,
                  const char *cache) {
    job j = {.text = text, .bytes = bytes, .config = hg_config_default()};
    snprintf(j.config.backend, sizeof j.config.backend, "cpu");
    snprintf(j.config.cpu_level, sizeof j.config.cpu_level, "%s", level);
    snprintf(j.config.jit, sizeof j.config.jit, "%s", jit);
    j.config.cache_dir = cache;
    return j;
}

static void check(const char *name, const char *text, unsigned bytes, const char *level,
                  const char *cache) {
    static job expected, made, kept;
    expected = job_of(text, bytes, level, "off", "off");
    run_there(&expected);
    made = job_of(text, bytes, level, "on", cache);
    run_there(&made);
    CHECK_MESSAGE(memcmp(made.y, expected.y, LANES * bytes) == 0, "%s at %s: other bits", name,
                  level);
    int before = compiled;
    kept = job_of(text, bytes, level, "auto", cache); /* what is in the cache is taken at once */
    run_there(&kept);
    CHECK_MESSAGE(memcmp(kept.y, expected.y, LANES * bytes) == 0,
                  "%s at %s: other bits from the cache", name, level);
    CHECK(compiled == before);
}

static void check_shape(const shape *s, const char *level, const char *cache) {
    char name[64], *text = text_of(s);
    snprintf(name, sizeof name, "%u live %s, way %d", s->count, s->type, (int)s->way);
    check(name, text, s->bytes, level, cache);
    hg_free(text);
}

/* A compiler whose frames are too large: the kernel stays interpreted, and nothing of it is kept.
 */
static void check_refusal(const char *cache) {
    static job expected, made;
    char *text = private_text(128);
    expected = job_of(text, 4, "", "off", "off");
    run_there(&expected);
    pretended = HG_JIT_MOST_FRAME + 1;
    for (int i = 1; i <= 2; i++) {
        int before = compiled;
        made = job_of(text, 4, "", "on", cache);
        run_there(&made);
        CHECK(memcmp(made.y, expected.y, sizeof made.y) == 0);
        CHECK(compiled == before + 1);
    }
    pretended = 0;
    hg_free(text);
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    static const char *const levels[] = {"baseline", "v3", "v4"};
    char reason[256] = "no compiler for this machine", cache[] = "/tmp/hologram-frames-XXXXXX",
         command[64];
    llvm = native_choose();
    bool there = llvm && llvm->open(reason);
    native_compiler use = llvm ? *llvm : (native_compiler){0};
    use.compile = compile;
    use.identity = identity;
    if (!there || !mkdtemp(cache)) {
        SKIP(there ? "no folder for a cache" : reason);
        return test_done();
    }
    native_compiler_in_use = &use;
    for (int level = 0; level < TILE_LEVEL_COUNT; level++) {
        if (!tile_level_available((tile_level)level)) continue;
        for (size_t i = all ? 0 : (size_t)level; i < HG_COUNT_OF(SHAPES); i += all ? 1 : 7)
            check_shape(&SHAPES[i], levels[level], cache);
        for (unsigned bytes = all ? 64 : 2048; bytes <= (all ? 65536 : 2048); bytes *= 32) {
            char *text = private_text(bytes);
            check("private memory", text, 4, levels[level], cache);
            hg_free(text);
        }
    }
    check_refusal(cache);
    printf("native code of %d kernels took at most %u bytes of the stack; %d were left to the "
           "interpreter%s%s\n",
           (int)compiled, (unsigned)largest, (int)refused, refused ? ", the last as " : "",
           last_reason);
    CHECK(compiled > 0);
    snprintf(command, sizeof command, "rm -r %s", cache);
    CHECK(system(command) == 0);
    return test_done();
}
