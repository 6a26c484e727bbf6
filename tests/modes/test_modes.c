/* The floating-point mode of the calling thread reaches no result, and a stack of 64 KiB will do:
 * every public function, in several modes, on every backend that opens here. A mode is set before
 * the first call of a process, so that what a driver starts would inherit it; the process with the
 * default mode says what is right. Functions find mode and flags as they were, callbacks and what
 * they leave behind included. test_modes           a choice of modes test_modes --all     flushing,
 * four roundings, traps, flags and the x87 unit, each with each
 */
/* test: labels=slow timeout=600 */
#include "modes.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__aarch64__)

/* ---- modes ---- */

enum { ROUNDING = 3, FLUSH = 4, TRAPS = 8, FLAGS = 16, X87 = 32, MODES = 64, SMALL_STACK = 64 };
enum { EVERY = 128 }; /* beside a mode: programs that devices' compilers take minutes for, too */

typedef struct mode {
    uint64_t a, b; /* registers, and what is looked at of them */
} mode;

#if defined(__x86_64__)
static mode mode_now(void) {
    uint32_t mxcsr;
    uint16_t control, status;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2"
                     : "=m"(mxcsr), "=m"(control), "=m"(status)::"memory");
    return (mode){mxcsr, (uint64_t)(status & 0x3F) << 16 | control};
}
static void mode_set(int m) {
    static const uint32_t rounding[] = {0, 0x2000, 0x4000, 0x6000};
    uint32_t mxcsr = rounding[m & ROUNDING] | (m & FLUSH ? 0x8040 : 0) | (m & TRAPS ? 0 : 0x1F80) |
                     (m & FLAGS ? 0x3D : 0);
    uint16_t control = (uint16_t)(m & X87 ? 0x0040 | (m & TRAPS ? 0 : 0x3F) |
                                                rounding[m & ROUNDING] >> 3
                                          : 0x37F);
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(mxcsr), "m"(control) : "memory");
}
#else
static mode mode_now(void) {
    mode now;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(now.a), "=r"(now.b)::"memory");
    return now;
}
static void mode_set(int m) { /* CPUs without traps keep their bits 0 */
    static const uint64_t rounding[] = {0, 2, 1, 3};
    uint64_t fpcr = rounding[m & ROUNDING] << 22 | (m & FLUSH ? 1 << 24 : 0) |
                    (m & TRAPS ? 0x1F00 : 0);
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(fpcr),
                     "r"(m & FLAGS ? UINT64_C(0x1D) : UINT64_C(0))
                     : "memory");
}
#endif

static bool is_same(mode a, mode b) { return a.a == b.a && a.b == b.b; }

/* ---- notes: a line a value, on stdout ---- */

static const char *current = "";
static mode before;

void modes_begin(const char *call) {
    memset(f.bytes, 0, 4096);
    memcpy(f.bytes, f.floats, sizeof f.floats);
    current = call;
    before = mode_now();
}

void modes_end(void) {
    mode after = mode_now();
    if (!is_same(before, after))
        printf("%s left the mode %llx %llx as %llx %llx\n", current, (unsigned long long)before.a,
               (unsigned long long)before.b, (unsigned long long)after.a,
               (unsigned long long)after.b);
}

static uint64_t hash_of(const void *bytes, size_t length) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void modes_note_number(uint64_t value) { printf("%s %llx\n", current, (unsigned long long)value); }
void modes_note_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    modes_note_number(bits);
}
void modes_note_text(const char *text) {
    if (text) modes_note_number(hash_of(text, strlen(text)));
}
void modes_note_made(size_t length) {
    if (f.made) modes_note_number(hash_of(f.made, length ? length : strlen(f.made)));
}
void modes_note_program(hg_program *program) {
    uint8_t *bytes;
    size_t length;
    if (!program || hg_program_encode(program, 0, &bytes, &length) != HG_OK) return;
    modes_note_number(hash_of(bytes, length));
    hg_string_free((char *)bytes);
}

void modes_note_bytes(void) { modes_note_number(hash_of(f.bytes, 4096)); }

/* ---- callbacks: they see the default mode, and what they do to it stays theirs ---- */

static int spoiling; /* the mode that callbacks leave behind */
static atomic_uint callbacks;

static void see_default(const char *what) {
    mode now = mode_now();
#if defined(__x86_64__)
    bool plain = (now.a & ~UINT64_C(0x3F)) == 0x1F80 && (now.b & 0xF3F) == 0x33F;
#else
    bool plain = now.a == 0;
#endif
    if (!plain)
        printf("%s is called in the mode %llx %llx\n", what, (unsigned long long)now.a,
               (unsigned long long)now.b);
    atomic_fetch_add(&callbacks, 1);
    mode_set(spoiling & ~TRAPS);
}

static void *reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    see_default("reallocate");
    return realloc(memory, bytes);
}
static void release(void *user, void *memory) {
    (void)user;
    see_default("release");
    free(memory);
}
static void host_call(void *user) {
    (void)user;
    see_default("a host call");
}
static void listen(void *user, const hg_code_report *report) {
    (void)user, (void)report;
    see_default("a listener");
}
static void on_config(void *user, const hg_config_item *item) { (void)user, (void)item; }

static void on_done(void *user, hg_status status, const hg_error *error) {
    (void)user, (void)status, (void)error;
    see_default("a callback of an event");
}
static hg_status resolve(void *user, const char *from, const char *name, hg_source *source) {
    static const char TEXT[] = ".const INCLUDED = 1.0 / 3.0\n";
    (void)user, (void)from, (void)name;
    source->bytes = TEXT;
    source->length = strlen(TEXT);
    source->name = "included";
    see_default("resolve");
    return HG_OK;
}

/* ---- objects ---- */

modes_fixture f;

#define CONSTANTS                                                                                 \
    ".const A = 1.0 / 3.0\n.const B = 1e-310 * 3\n"                                               \
    " mov_imm.f64 r1, A\n stg.f64 [class0 + 0], r1\n mov_imm.f64 r1, B\n stg.f64 [class0 + 8], "  \
    "r1\n"                                                                                        \
    " mov_imm.f32 r2, 1e-38\n mov_imm.f32 r3, 0.1\n mul.f32 r4, r2, r3\n stg.f32 [class0 + 16], " \
    "r4\n"                                                                                        \
    " mov_imm.f32 r5, 0.2\n add.f32 r6, r3, r5\n stg.f32 [class0 + 20], r6\n div.f32 r6, r3, "    \
    "r5\n stg.f32 [class0 + 24], r6\n"                                                            \
    " sqrt.f32 r6, r3\n stg.f32 [class0 + 28], r6\n exp.f32 r6, r3\n stg.f32 [class0 + 32], r6\n" \
    " mov_imm.i64 r7, 16777219\n cvt.f32.i64 r8, r7\n stg.f32 [class0 + 36], r8\n mov_imm.f32 "   \
    "r9, 0.0\n div.f32 r9, r3, r9\n"                                                              \
    " stg.f32 [class0 + 40], r9\n sub.f32 r9, r9, r9\n stg.f32 [class0 + 44], r9\n"
static const char TEXT[] = ".atlas 1\n.program p\n" CONSTANTS;
static const char INCLUDING[] = ".atlas 1\n.program p\n.include \"other\"\n mov_imm.f64 r1, "
                                "INCLUDED\n stg.f64 [class0 + 48], r1\n";
static const char CIRCUIT[] = "mark@c00 . scale(0.1)@c00 . softmax@c00";
static const char STABLEHLO[] =
    "func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.exponential "
    "%arg0 : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
#define GRAPH ".graph 1\n.input x f32 [4]\ny = parallel_map abs, in=x\n.output y\n"
static const char JSON[] = "{\"version\":\"1.0\",\"kernel\":{\"name\":\"mix\",\"params\":[{"
                           "\"name\":\"x\",\"type\":{\"kind\":\"device_array\",\"element_type\":"
                           "{\"kind\":\"scalar\",\"type\":\"f32\"}}}],\"body\":[{\"type\":\"let\","
                           "\"name\":\"i\",\"value\":{\"type\":\"call\",\"function\":"
                           "\"get_global_id\",\"args\":[]}},{\"type\":\"assign\",\"target\":{"
                           "\"type\":\"index\",\"array\":{\"type\":\"var\",\"name\":\"x\"},"
                           "\"index\":{\"type\":\"var\",\"name\":\"i\"}},\"value\":{\"type\":"
                           "\"binary_op\",\"op\":\"mul\",\"left\":{\"type\":\"literal\","
                           "\"value\":0.1},\"right\":{\"type\":\"literal\",\"value\":0.3}}}]}}";

#define MUST(call)                                           \
    do {                                                     \
        modes_begin(#call);                                  \
        hg_status must_status = (call);                      \
        modes_end();                                         \
        if (must_status != HG_OK) {                          \
            printf("%s: %s\n", #call, hg_last_error_text()); \
            exit(1);                                         \
        }                                                    \
    } while (0)
#define MADE(call) (modes_begin(#call), f.made = (call), modes_end(), f.made)
#define GONE(call) (modes_begin(#call), call, modes_end())

static void set_values(void) {
    static const float floats[] = {0.1f, 1e-40f, 3, 0, 7, -1e38f, 0x1p-126f, 0.3f};
    static double lift[HG_LIFT_LENGTH];
    static _Alignas(4096) unsigned char import[4096];
    f.lift = lift;
    f.import = import;
    f.real = 2049.0;
    f.small = 1e-40f;
    memcpy(f.floats, floats, sizeof floats);
    memcpy(f.bytes, floats, sizeof floats);
    f.text = TEXT;
    f.circuit_text = CIRCUIT;
    f.json = JSON;
    f.graph_text = GRAPH;
    f.stablehlo_text = STABLEHLO;
    f.target = "opencl";
    f.on_done = on_done;
    f.on_config = on_config;
    f.assembling = (hg_assemble_options){
        .size = sizeof f.assembling, .source_name = "this", .resolve = resolve};
}

static void open_fixture(void) {
    hg_diagnostics *none = NULL;
    f.launch = hg_launch_default();
    MUST(hg_config_from_env(&f.config));
    snprintf(f.config.backend, sizeof f.config.backend, "%s", f.backend_name);
    MUST(hg_backend_create_with_config(&f.config, &f.backend));
    MUST(hg_backend_listen(f.backend, listen, NULL));
    MUST(hg_executor_create_from_config(&f.config, &f.executor));
    f.extents[0] = f.extents[1] = 1;
    f.order[0] = 1;
    f.axes[0] = 1;
    MUST(hg_tensor_zeros(f.executor, HG_TYPE_F32, f.extents, 2, &f.tensor));
    MUST(hg_context_create(f.backend, &f.context));
    MUST(hg_queue_create(f.backend, NULL, &f.queue));
    MUST(hg_program_assemble(TEXT, strlen(TEXT), none, &f.program));
    MUST(hg_executable_create(f.backend, f.program, &f.executable));
    f.params = MADE(hg_params_create());
    f.no_params = MADE(hg_params_create());
    MUST(hg_binding_create(f.executable, &f.launch, f.no_params, &f.binding));
    f.circuit = MADE(hg_circuit_create());
    f.diagnostics = MADE(hg_diagnostics_create(4));
    f.builder = MADE(hg_builder_create("b"));
    f.tree = MADE(hg_tree_create("t", none));
    MUST(hg_ring_create(64, &f.ring));
    MUST(hg_program_cache_create(4, &f.program_cache));
    MUST(hg_class_allocator_create(&f.class_allocator));
    MUST(hg_optimizer_create(&f.optimizer));
    MUST(hg_backend_allocate_buffer(f.backend, 4096, &f.buffer));
    MUST(hg_backend_allocate_buffer(f.backend, 4096, &f.spare));
    MUST(hg_backend_allocate_pool(f.backend, 4096, &f.pool));
    MUST(hg_backend_allocate_pool(f.backend, 4096, &f.spare_pool));
    MUST(hg_allocate_typed(f.backend, HG_TYPE_F32, 8, &f.typed));
    MUST(hg_allocate_typed(f.backend, HG_TYPE_F32, 8, &f.typed_out));
    MUST(hg_allocate_typed(f.backend, HG_TYPE_F32, 1, &f.typed_one));
    MUST(hg_allocate_typed(f.backend, HG_TYPE_F32, 8, &f.spare_typed));
    MUST(hg_executor_allocate(f.executor, HG_TYPE_F32, 8, &f.given));
    MUST(hg_copy_typed_to(f.backend, f.typed, HG_TYPE_F32, f.floats, 8));
    MUST(hg_graph_read_text(GRAPH, strlen(GRAPH), NULL, none, &f.graph));
    f.graph_params = MADE(hg_params_create());
    MUST(hg_params_set_buffer(f.graph_params, "x", f.typed.buffer));
    MUST(hg_params_set_buffer(f.graph_params, "y", f.typed_out.buffer));
    MUST(hg_graph_compile(f.backend, f.graph, NULL, &f.graph_executable));
    MUST(hg_graph_bind(f.graph_executable, f.graph_params, &f.graph_binding));
    f.command = (hg_command){
        .size = sizeof f.command, .kind = HG_COMMAND_LAUNCH, .binding = f.binding};
    f.commands[0] = f.command;
    f.commands[1] = (hg_command){
        .size = sizeof f.command, .kind = HG_COMMAND_HOST_CALL, .call = host_call};
    MUST(hg_queue_submit(f.queue, f.commands, 2, NULL, 0, &f.event));
    MUST(hg_queue_synchronize(f.queue));
    MUST(hg_comm_create_local(&f.backend, 1, &f.comm));
    MUST(hg_multi_gpu_create("cpu", f.devices, 1, &f.multi));
    f.address = "here:1";
    f.weight = 1;
    f.placement = (hg_placement){"q", "whole"};
    MUST(hg_distributed_create(&f.address, 1, "cpu", &f.distributed));
    f.call = (hg_comm_call){.size = sizeof f.call,
                            .kind = HG_COMM_ALL_REDUCE,
                            .type = HG_TYPE_F16,
                            .count = 8,
                            .input = f.bytes,
                            .output = f.bytes};
}

static void close_fixture(void) {
    GONE(hg_event_destroy(f.event));
    GONE(hg_comm_destroy(f.comm));
    GONE(hg_multi_gpu_destroy(f.multi));
    GONE(hg_distributed_destroy(f.distributed));
    MUST(hg_executor_free(f.executor, f.given));
    GONE(hg_tensor_release(f.tensor));
    GONE(hg_executor_destroy(f.executor));
    GONE(hg_tree_destroy(f.tree));
    GONE(hg_queue_destroy(f.queue));
    GONE(hg_binding_destroy(f.binding));
    GONE(hg_graph_binding_destroy(f.graph_binding));
    GONE(hg_graph_executable_destroy(f.graph_executable));
    GONE(hg_graph_release(f.graph));
    GONE(hg_params_destroy(f.graph_params));
    GONE(hg_executable_destroy(f.executable));
    GONE(hg_program_release(f.program));
    GONE(hg_params_destroy(f.params));
    GONE(hg_params_destroy(f.no_params));
    GONE(hg_circuit_destroy(f.circuit));
    GONE(hg_diagnostics_destroy(f.diagnostics));
    GONE(hg_builder_destroy(f.builder));
    GONE(hg_ring_destroy(f.ring));
    GONE(hg_program_cache_destroy(f.program_cache));
    GONE(hg_class_allocator_destroy(f.class_allocator));
    GONE(hg_optimizer_destroy(f.optimizer));
    GONE(hg_translated_program_release(&f.translated));
    GONE(hg_context_destroy(f.context));
    GONE(hg_backend_destroy(f.backend));
}

/* ---- programs: x, a, b of small, large and ordinary numbers; y, z are noted ---- */

static const char SLOW[] = "attention"; /* drivers' compilers take up to a minute for it */
#define HEAD                                                                                      \
    ".atlas 1\n.program prog\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param z " \
    "buffer f64 out [n]\n.param n u64\n"
#define ARRAYS                                                                                    \
    ".atlas 1\n.program prog\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param z " \
    "buffer f64 out [n]\n.param n u64\n"
static const struct {
    const char *name, *text;
} PROGRAMS[] = {
    {"lanes", HEAD ".lanes n\n.reg a, b f32\n.reg c f64\n ldg a, [x[global]]\n div b, 1.0, a\n mul "
                   "b, b, 0.1\n exp a, a\n add b, b, a\n"
                   " stg [y[global]], b\n ldg a, [x[global]]\n cvt.f64.f32 c, a\n div c, c, 3.0\n "
                   "mul c, c, 0.1\n stg [z[global]], c\n"},
    {"constants", HEAD
     ".const A = 1.0 / 3.0\n.const B = 1e-310 * 3\n mov_imm.f64 r20, A\n stg.f64 [z + 0], r20\n "
     "mov_imm.f64 r20, B\n"
     " stg.f64 [z + 8], r20\n mov_imm.f32 r21, 1e-38\n mov_imm.f32 r22, 0.1\n mul.f32 r23, r21, "
     "r22\n"
     " stg.f32 [y + 0], r23\n mov_imm.f32 r24, 0.2\n add.f32 r23, r22, r24\n stg.f32 [y + 4], r23\n"
     " mov_imm.i64 r25, 16777219\n cvt.f32.i64 r23, r25\n stg.f32 [y + 8], r23\n"},
    {"softmax", ARRAYS " softmax.f32 output=y, input=x, n=n\n"},
    {"map", ARRAYS " parallel_map.f32 y, x, sigmoid, n\n"},
    {"sum", ARRAYS " parallel_reduce.f32 r20, x, sum, n\n stg.f32 [y + 0], r20\n"},
    {"gemm", ARRAYS " gemm.f32 c=y, a=x, b=x, m=16, n=16, k=16, alpha=0.1, beta=0.0\n"},
    {SLOW, ARRAYS " attention.f32 output=y, query=x, key=x, value=x, batch=1, heads=1, "
                  "seq_len=8, kv_len=8, head_dim=3\n"},
};
enum { N = 256 };

/* Which NaN is nobody's promise. Looked at as an integer, since traps may be on. */
static void plain_nan(float *x) {
    uint32_t bits;
    memcpy(&bits, x, sizeof bits);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) memset(x, 0xFF, sizeof *x);
}

static void run_program(const char *name, const char *text) {
    static const float some[] = {3, 1e-40f, -2e-45f, 0,  7,  1e38f, 3.4e38f, -88, 1.17549435e-38f,
                                 2, 5,      11,      13, 17, 19,    23,      29};
    static const float tame[] = {0.1f, -0.3f, 1e-40f, 0.7f, 1.5f, -1e-39f, 0.9f};
    static float x[N], y[N];
    static double z[N];
    hg_program *p = NULL, *fast = NULL;
    hg_buffer h[3];
    hg_params *ps = hg_params_create();
    const uint64_t n = N;
    bool lanes = strcmp(name, "lanes") == 0;
    current = name;
    for (int i = 0; i < N; i++) x[i] = lanes ? some[i % 17] : tame[i % 7];
    MUST(hg_program_assemble(text, strlen(text), NULL, &p));
    modes_note_program(p);
    MUST(hg_program_optimize(p, NULL, NULL, &fast));
    MUST(hg_backend_allocate_buffer(f.backend, sizeof x, &h[0]));
    MUST(hg_backend_allocate_buffer(f.backend, sizeof y, &h[1]));
    MUST(hg_backend_allocate_buffer(f.backend, sizeof z, &h[2]));
    MUST(hg_backend_copy_to_buffer(f.backend, h[0], x, sizeof x));
    MUST(hg_params_set_buffer(ps, "x", h[0]));
    MUST(hg_params_set_buffer(ps, "y", h[1]));
    MUST(hg_params_set_buffer(ps, "z", h[2]));
    MUST(hg_params_set_scalar(ps, "n", HG_TYPE_U64, &n));
    for (int i = 0; i < 3; i++) { /* as it is, once more, and optimised */
        MUST(hg_backend_execute_program_with_params(f.backend, i < 2 ? p : fast, NULL, ps));
        MUST(hg_backend_copy_from_buffer(f.backend, h[1], y, sizeof y));
        MUST(hg_backend_copy_from_buffer(f.backend, h[2], z, sizeof z));
        current = name;
        for (int k = 0; k < N; k++) plain_nan(&y[k]);
        modes_note_number(hash_of(y, sizeof y));
        modes_note_number(hash_of(z, sizeof z));
    }
    for (int i = 0; i < 3; i++) MUST(hg_backend_free_buffer(f.backend, h[i]));
    hg_params_destroy(ps);
    hg_program_release(p);
    hg_program_release(fast);
}

/* ---- one mode: a process of its own ---- */

static void note_capabilities(void) {
    hg_device_info info = {.size = sizeof info};
    MUST(hg_backend_describe(f.backend, &info, sizeof info));
    current = "capabilities";
    modes_note_text(info.capabilities);
}

static int one_mode(const char *backend, int m, bool every) {
    hg_allocator allocator = {sizeof allocator, NULL, reallocate, release};
    setvbuf(stdout, NULL, _IONBF, 0); /* lines before a crash */
    f.backend_name = backend;
    spoiling = m ? (m ^ ROUNDING ^ FLUSH ^ X87) & (ROUNDING | FLUSH | X87) : 0;
    set_values();
    mode_set(m);
    if (hg_set_allocator(&allocator) != HG_OK) return 1;
    open_fixture();
    note_capabilities();
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++)
        if (every || strcmp(backend, "cpu") == 0 || PROGRAMS[i].name != SLOW)
            run_program(PROGRAMS[i].name, PROGRAMS[i].text);
    MUST(hg_program_assemble_with(INCLUDING, strlen(INCLUDING), &f.assembling, NULL,
                                  (hg_program **)&f.made));
    modes_note_program(f.made);
    hg_program_release(f.made);
    f.made = NULL;
    modes_all();
    current = "class memory";
    MUST(hg_backend_copy_from_buffer(f.backend, (hg_buffer){0}, f.bytes, 64));
    modes_note_bytes();
    close_fixture();
    mode_set(0);
    printf("%s\n", atomic_load(&callbacks) > 100 ? "callbacks" : "no callbacks");
    return 0;
}

/* The same on a thread with a stack of 64 KiB: drivers and compilers have one of their own. */
static const char *small_backend;
static int small_mode;
static void *in_small_stack(void *user) {
    *(int *)user = one_mode(small_backend, small_mode & ~EVERY, small_mode & EVERY);
    return NULL;
}
static int start_mode(const char *backend, int m) {
    pthread_t thread;
    pthread_attr_t attributes;
    int status = 1;
    if (!(m & SMALL_STACK)) return one_mode(backend, m & ~EVERY, m & EVERY);
    small_backend = backend;
    small_mode = m & ~SMALL_STACK;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes,
                              PTHREAD_STACK_MIN > 64 << 10 ? (size_t)PTHREAD_STACK_MIN : 64 << 10);
    if (pthread_create(&thread, &attributes, in_small_stack, &status) == 0)
        pthread_join(thread, NULL);
    return status;
}

/* ---- all of them ---- */

static char *own_path;

/* What the process says, to be freed; `ends`: as waitpid. */
static char *answer_of(const char *backend, int m, const char *cache, int *ends) {
    int ways[2];
    size_t length = 0, room = 1 << 16;
    char *text = malloc(room + 1), number[16];
    snprintf(number, sizeof number, "%d", m);
    fflush(NULL);
    if (!text || pipe(ways) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        dup2(ways[1], 1);
        close(ways[0]);
        close(ways[1]);
        setenv("HOLOGRAM_CACHE_DIR", cache, 1);
        execl(own_path, own_path, "--mode", number, backend, (char *)NULL);
        _exit(127);
    }
    close(ways[1]);
    for (ssize_t n;
         (n = read(ways[0], text + length, room - length)) > 0 || (n < 0 && errno == EINTR);) {
        if (n > 0) length += (size_t)n;
        if (length == room) text = realloc(text, (room *= 2) + 1);
        if (!text) exit(1);
    }
    text[length] = 0;
    close(ways[0]);
    while (waitpid(child, ends, 0) < 0 && errno == EINTR) {}
    return text;
}

static void mode_name(int m, char name[80]) {
    static const char *const rounding[] = {"to nearest", "down", "up", "to zero"};
    snprintf(name, 80, "%s%s%s%s%s%s", rounding[m & ROUNDING], m & FLUSH ? ", FTZ and DAZ" : "",
             m & TRAPS ? ", traps" : "", m & FLAGS ? ", flags set" : "", m & X87 ? ", x87 too" : "",
             m & SMALL_STACK ? ", 64 KiB of stack" : "");
}

/* The first line that differs. */
static void compare(const char *where, int m, const char *right, const char *got, int ends) {
    char name[80];
    mode_name(m, name);
    size_t at = 0, line = 0;
    while (right[at] && right[at] == got[at]) {
        if (right[at++] == '\n') line = at;
    }
    bool same = right[at] == got[at] && ends == 0;
    CHECK_MESSAGE(same, "%s, %s: ends with %x; '%.*s' in place of '%.*s'", where, name,
                  (unsigned)ends, (int)strcspn(got + line, "\n"), got + line,
                  (int)strcspn(right + line, "\n"), right + line);
}

static bool opens(const char *backend) {
    hg_backend *b = NULL;
    bool good = hg_backend_create(backend, 0, &b) == HG_OK;
    hg_backend_destroy(b);
    return good;
}

static void remove_folder(const char *path) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0) {}
}

/* The first process of a cache folder is one of an odd mode: what it keeps there serves the others.
 */
static void test_backend(const char *backend, const char *jit, const int *modes, size_t count,
                         int every) {
    char cache[64] = "/tmp/hologram_modes_XXXXXX", own[64] = "/tmp/hologram_modes_XXXXXX",
         where[64];
    int ends;
    setenv("HOLOGRAM_JIT", jit, 1);
    setenv("HOLOGRAM_VENDOR", jit, 1);
    setenv("HOLOGRAM_TIMEOUT_MS", "600000", 1); /* a driver that compiles at the first dispatch may
                                                   take long on a busy machine */
    snprintf(where, sizeof where, "%s, native code %s", backend, jit);
    if (!mkdtemp(cache) || !mkdtemp(own)) exit(1);
    char *right = answer_of(backend, every, own, &ends);
    CHECK_MESSAGE(ends == 0 && strstr(right, "\ncallbacks\n"), "%s ends with %x: %s", where,
                  (unsigned)ends, right + strlen(right) / 2);
    CHECK_MESSAGE(!strstr(right, " left the mode ") && !strstr(right, " is called in "), "%s: %s",
                  where, strstr(right, " mode "));
    for (size_t i = 0; i < count; i++) {
        char *got = answer_of(backend, modes[i] | every, cache, &ends);
        compare(where, modes[i], right, got, ends);
        free(got);
    }
    char *again = answer_of(backend, every, cache, &ends);
    compare(where, 0, right, again, ends);
    free(again);
    free(right);
    remove_folder(cache);
    remove_folder(own);
}

int main(int argc, char **argv) {
    static const char *const backends[] = {"cpu", "cpu", "opencl", "vulkan", "cuda"};
    static const int choice[] = {FLUSH | 1 | X87, 2 | TRAPS | X87 | SMALL_STACK,
                                 3 | FLUSH | FLAGS | TRAPS};
    int all[MODES];
    size_t count = sizeof choice / sizeof *choice;
    if (argc == 4 && strcmp(argv[1], "--mode") == 0) return start_mode(argv[3], atoi(argv[2]));
    bool every = argc == 2 && strcmp(argv[1], "--all") == 0;
    own_path = argv[0];
    for (int m = 0; m < MODES; m++) all[m] = (MODES - 1 - m) | (m % 2 ? SMALL_STACK : 0);
    if (every) count = MODES;
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        char why[64];
        snprintf(why, sizeof why, "%s does not open here", backends[i]);
        if (!opens(backends[i]))
            SKIP(why);
        else
            test_backend(backends[i], i == 0 ? "off" : "on", every ? all : choice, count,
                         every ? EVERY : 0);
    }
    printf("%u functions, %u left out, %zu modes\n", modes_functions, modes_left_out, count);
    return test_done();
}

#else

int main(void) {
    SKIP("this CPU's modes are not known here");
    return test_done();
}

#endif
