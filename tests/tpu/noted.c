/* Graphs that are no modules of array operations: from the third launch on all their kernels are
 * one module (hg_driver.note_begin), with the bits of the CPU, faults included.
 *
 *     tpu_noted BACKEND
 */
#include "backends/tpu/tpu_internal.h"
#include "base/library.h"
#include "kir/parse.h"
#include "runtime/graph.h"
#include "test.h"
#include <hologram/hologram.h>
#include "base/base.h"

extern const hg_driver hg_driver_tpu;

#define CHECK_OK(call) CHECK_MESSAGE((call) == HG_OK, "%s", hg_last_error_text())

enum { MOST = 64, ARRAYS = 6 }; /* elements of an array, arrays of a graph */

/* Lanes of a program: of the second, one reads another one's element, at a place that is data; the
 * third adds to memory of its own, which is 0 when it begins. */
static const char *const PROGRAMS[] = {
    ".atlas 1\n.program mix\n.param n u64\n.param x buffer u32 in [n]\n.param y buffer u32 out "
    "[n]\n.lanes n\n.reg a u32\n    ldg a, [x[global]]\n    mul a, a, 2654435761\n    "
    "stg [y[global]], a\n",
    ".atlas 1\n.program pick\n.param n u64\n.param x buffer u32 in [n]\n.param at buffer u32 in "
    "[n]\n.param y buffer u32 out [n]\n.lanes n\n.reg a, b u32\n.reg i u64\n    "
    "ldg a, [at[global]]\n    cvt.u64.u32 i, a\n    ldg b, [x[i]]\n    stg [y[global]], b\n",
    ".atlas 1\n.program sum\n.param n u64\n.param x buffer u32 in [n]\n.param y buffer u32 out "
    "[n]\n.scratch s u32 [n]\n.lanes n\n.reg a, b u32\n    ldg a, [x[global]]\n    "
    "ldg b, [s[global]]\n    add a, a, b\n    stg [s[global]], a\n    stg [y[global]], a\n"};

static hg_status read_program(void *user, const char *file, hg_diagnostics *d, hg_program **made) {
    const char *text = PROGRAMS[strcmp(file, "pick") == 0 ? 1 : strcmp(file, "sum") == 0 ? 2 : 0];
    (void)user;
    return hg_program_assemble(text, strlen(text), d, made);
}

typedef struct array {
    const char *name;
    hg_type type;
    uint32_t count;
    bool output;
} array;

typedef struct problem {
    const char *what, *text;
    bool deterministic;
    uint32_t first_faults; /* launches */
    array arrays[ARRAYS];
} problem;

static const problem PROBLEMS[] = {
    {"lanes between whole arrays",
     ".graph 1\n.program mix \"mix\"\n.program pick \"pick\"\n.input x u32 [24]\n"
     ".input at u32 [24]\nm = @mix n=24, x=x\nd = parallel_map_binary.u32 add, a=m, b=x\n"
     "p = @pick n=24, x=d, at=at\n.view r = p u32 [4, 6, 1]\ns = reduce_axis.u32 sum, input=r\n"
     ".output p\n.output s\n",
     false,
     0,
     {{"x", HG_TYPE_U32, 24, false},
      {"at", HG_TYPE_U32, 24, false},
      {"p", HG_TYPE_U32, 24, true},
      {"s", HG_TYPE_U32, 4, true}}},
    {"memory of its own behind two launches that fault before it",
     ".graph 1\n.program pick \"pick\"\n.program sum \"sum\"\n.input x u32 [24]\n"
     ".input at u32 [24]\np = @pick n=24, x=x, at=at\ns = @sum n=24, x=p\n.output p\n.output s\n",
     false,
     2,
     {{"x", HG_TYPE_U32, 24, false},
      {"at", HG_TYPE_U32, 24, false},
      {"p", HG_TYPE_U32, 24, true},
      {"s", HG_TYPE_U32, 24, true}}},
    {"elements of other widths in one workspace",
     ".graph 1\n.program mix \"mix\"\n.input x u32 [24]\n.input b u8 [24]\n.input h u64 [3]\n"
     "m = @mix n=24, x=x\nn = @mix n=24, x=m\nc = parallel_map_binary.u8 add, a=b, b=b\n"
     "d = parallel_map_binary.u8 mul, a=c, b=b\ni = parallel_map_binary.u64 add, a=h, b=h\n"
     "j = parallel_map_binary.u64 mul, a=i, b=h\n.output n\n.output d\n.output j\n",
     false,
     0,
     {{"x", HG_TYPE_U32, 24, false},
      {"b", HG_TYPE_U8, 24, false},
      {"h", HG_TYPE_U64, 3, false},
      {"n", HG_TYPE_U32, 24, true},
      {"d", HG_TYPE_U8, 24, true},
      {"j", HG_TYPE_U64, 3, true}}},
    {"a product and its sum, deterministic",
     ".graph 1\n.input x f32 [4, 6]\n.input w f32 [6, 3]\ny = gemm a=x, b=w\n"
     ".view r = y f32 [1, 12, 1]\ns = reduce_axis sum, input=r\n.output y\n.output s\n",
     true,
     0,
     {{"x", HG_TYPE_F32, 24, false},
      {"w", HG_TYPE_F32, 18, false},
      {"y", HG_TYPE_F32, 12, true},
      {"s", HG_TYPE_F32, 1, true}}},
};

typedef struct rig {
    hg_backend *backend;
    hg_graph *graph;
    hg_graph_executable *executable;
    hg_graph_binding *binding;
    hg_params *params;
    hg_buffer buffers[ARRAYS];
    hg_status status;
} rig;

static uint64_t bytes_of(const array *a) { return a->count * hg_type_size_bytes(a->type); }

static void bind(rig *r, const problem *p) {
    hg_graph_read_options read = {.size = sizeof read, .program = read_program};
    r->params = hg_params_create();
    r->status = hg_graph_read_text(p->text, strlen(p->text), &read, NULL, &r->graph);
    for (int i = 0; i < ARRAYS && p->arrays[i].name && r->status == HG_OK; i++) {
        r->status = hg_backend_allocate_buffer(r->backend, bytes_of(&p->arrays[i]), &r->buffers[i]);
        if (r->status == HG_OK)
            r->status = hg_params_set_buffer(r->params, p->arrays[i].name, r->buffers[i]);
    }
    if (r->status == HG_OK)
        r->status = hg_graph_compile(r->backend, r->graph, NULL, &r->executable);
    if (r->status == HG_OK) r->status = hg_graph_bind(r->executable, r->params, &r->binding);
    CHECK_MESSAGE(r->status == HG_OK, "%s: %s", p->what, hg_last_error_text());
}

static void open_rig(rig *r, const char *name, const problem *p) {
    hg_config config = hg_config_default();
    memset(r, 0, sizeof *r);
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.jit, sizeof config.jit, "off");
    config.deterministic = p->deterministic;
    config.timeout_ms = 0;
    r->status = hg_backend_create_with_config(&config, &r->backend);
    if (r->status == HG_OK) bind(r, p);
}

static void close_rig(rig *r) {
    hg_graph_binding_destroy(r->binding);
    hg_graph_executable_destroy(r->executable);
    hg_graph_release(r->graph);
    hg_params_destroy(r->params);
    hg_backend_destroy(r->backend);
}

/* Inputs of that launch; `at` has places, one of them outside where it faults. Outputs are noise.
 */
static void launch(rig *r, const problem *p, uint32_t number, bool faults,
                   uint8_t found[][8 * MOST], bool *failed) {
    uint8_t bytes[8 * MOST];
    uint32_t state = number * 77 + 5;
    for (int i = 0; i < ARRAYS && p->arrays[i].name; i++) {
        const array *a = &p->arrays[i];
        for (uint32_t k = 0; k < bytes_of(a); k++)
            bytes[k] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
        for (uint32_t k = 0; k < a->count && strcmp(a->name, "at") == 0; k++) {
            uint32_t place = faults && k == 7 ? 1000 : bytes[4 * k] % 24;
            memcpy(bytes + 4 * k, &place, sizeof place);
        }
        for (uint32_t k = 0; k < a->count && a->type == HG_TYPE_F32; k++) {
            float x = (float)(int8_t)bytes[4 * k] / 37;
            memcpy(bytes + 4 * k, &x, sizeof x);
        }
        CHECK_OK(hg_buffer_write(r->backend, r->buffers[i], 0, bytes, bytes_of(a)));
    }
    *failed = hg_graph_binding_launch(r->binding) != HG_OK;
    CHECK_MESSAGE(*failed == faults, "%s: %s", p->what, hg_last_error_text());
    for (int i = 0; i < ARRAYS && p->arrays[i].name && !*failed; i++)
        if (p->arrays[i].output)
            CHECK_OK(
                hg_buffer_read(r->backend, r->buffers[i], 0, found[i], bytes_of(&p->arrays[i])));
}

static void compare(const problem *p, uint32_t number, uint8_t x[][8 * MOST],
                    uint8_t y[][8 * MOST]) {
    for (int i = 0; i < ARRAYS && p->arrays[i].name; i++)
        if (p->arrays[i].output)
            CHECK_MESSAGE(memcmp(x[i], y[i], bytes_of(&p->arrays[i])) == 0,
                          "%s: %s differs in launch %u", p->what, p->arrays[i].name,
                          (unsigned)number);
}

/* What whoever launches has given is still there: it was given away to no result. */
static void check_inputs(rig *device, rig *cpu, const problem *p) {
    static uint8_t x[8 * MOST], y[8 * MOST];
    for (int i = 0; i < ARRAYS && p->arrays[i].name; i++) {
        if (p->arrays[i].output) continue;
        CHECK_OK(
            hg_buffer_read(device->backend, device->buffers[i], 0, x, bytes_of(&p->arrays[i])));
        CHECK_OK(hg_buffer_read(cpu->backend, cpu->buffers[i], 0, y, bytes_of(&p->arrays[i])));
        CHECK_MESSAGE(memcmp(x, y, bytes_of(&p->arrays[i])) == 0, "%s: %s has changed", p->what,
                      p->arrays[i].name);
    }
}

/* A binding's launches, memory of others coming and going, an index outside in one of them. */
static void check(rig *device, rig *cpu, const problem *p) {
    static uint8_t expected[ARRAYS][8 * MOST], found[ARRAYS][8 * MOST];
    const uint32_t most = 3 - p->first_faults; /* modules by then */
    bool has_places = strcmp(p->arrays[1].name, "at") == 0, failed;
    char fault[256] = "";
    for (uint32_t i = 0; i < 9; i++) {
        bool faults = has_places && (i == 5 || i < p->first_faults);
        if (i == 6) { /* what the module was made for may be gone */
            hg_buffer other;
            CHECK_OK(hg_backend_allocate_buffer(device->backend, 64, &other));
            CHECK_OK(hg_backend_free_buffer(device->backend, other));
        }
        launch(cpu, p, i, faults, expected, &failed);
        if (failed) snprintf(fault, sizeof fault, "%s", hg_last_error_text());
        launch(device, p, i, faults, found, &failed);
        if (failed)
            CHECK_MESSAGE(strcmp(fault, hg_last_error_text()) == 0, "%s\n%s expected",
                          hg_last_error_text(), fault);
        else
            compare(p, i, expected, found);
        if (i == 4)
            CHECK_MESSAGE(hg_graph_binding_module_runs(device->binding) == most,
                          "%s: %u launches of %u were one module", p->what,
                          (unsigned)hg_graph_binding_module_runs(device->binding), (unsigned)most);
    }
    CHECK(hg_graph_binding_module_runs(device->binding) > most);
    check_inputs(device, cpu, p);
}

/* ---- behind others ---- */

/* The graph's first input is what a launch makes that was started just before: the graph's comes
 * behind it. */
static hg_status launch_behind(rig *r, const problem *p, uint32_t number,
                               uint8_t found[][8 * MOST]) {
    uint32_t words[24];
    hg_program *program = NULL;
    hg_executable *executable = NULL;
    hg_binding *mix = NULL;
    hg_buffer source = {0};
    hg_event *event = NULL;
    hg_params *params = hg_params_create();
    uint64_t count = 24;
    for (uint32_t i = 0; i < 24; i++) words[i] = number * 1000003 + i;
    hg_status status = read_program(NULL, "mix", NULL, &program);
    if (status == HG_OK) status = hg_backend_allocate_buffer(r->backend, sizeof words, &source);
    if (status == HG_OK) status = hg_buffer_write(r->backend, source, 0, words, sizeof words);
    if (status == HG_OK) status = hg_params_set_scalar(params, "n", HG_TYPE_U64, &count);
    if (status == HG_OK) status = hg_params_set_buffer(params, "x", source);
    if (status == HG_OK) status = hg_params_set_buffer(params, "y", r->buffers[0]);
    if (status == HG_OK) status = hg_executable_create(r->backend, program, &executable);
    if (status == HG_OK) status = hg_binding_create(executable, NULL, params, &mix);
    if (status == HG_OK) status = hg_binding_start(mix, NULL, &event);
    if (status == HG_OK) status = hg_graph_binding_launch(r->binding);
    if (event) CHECK_OK(hg_event_wait(event));
    for (int i = 0; i < ARRAYS && p->arrays[i].name && status == HG_OK; i++)
        if (p->arrays[i].output)
            status = hg_buffer_read(r->backend, r->buffers[i], 0, found[i],
                                    bytes_of(&p->arrays[i]));
    hg_event_destroy(event);
    hg_binding_destroy(mix);
    hg_executable_destroy(executable);
    hg_program_release(program);
    hg_params_destroy(params);
    return status;
}

static void check_order(rig *device, rig *cpu, const problem *p) {
    static uint8_t expected[ARRAYS][8 * MOST], found[ARRAYS][8 * MOST];
    uint64_t before = hg_graph_binding_module_runs(device->binding);
    for (uint32_t i = 0; i < 3 && p->arrays[0].type == HG_TYPE_U32; i++) {
        CHECK_OK(launch_behind(cpu, p, i, expected));
        CHECK_OK(launch_behind(device, p, i, found));
        compare(p, i, expected, found);
        CHECK(hg_graph_binding_module_runs(device->binding) == before + i + 1);
    }
}

/* ---- in place ---- */

typedef struct pointer_of { /* Buffer_UnsafePointer */
    pjrt_head head;
    pjrt_buffer *buffer;
    uintptr_t pointer; /* out */
} pointer_of;

static uintptr_t place_of(const hg_driver_arena *arena) {
    enum { UNSAFE_POINTER = 73 };
    const char *path = tpu->path;
    char said[128] = "";
    const pjrt_table *(*get)(void) = NULL;
    pjrt_error *(*ask)(pointer_of *) = NULL;
    pointer_of a = {.head = {sizeof a, NULL}, .buffer = arena->buffer};
    hg_library *library = hg_library_open(&path, 1, said, sizeof said);
    CHECK(library && hg_library_function(library, "GetPjrtApi", (void *)&get));
    if (!get) return 0;
    memcpy((void *)&ask, &get()->functions[UNSAFE_POINTER], sizeof ask);
    CHECK_OK(tpu_check("pointer", ask(&a)));
    return a.pointer;
}

/* A kernel that adds the elements of one array to those of another one. */
static const char KERNEL[] = "module t is simple, slots\n"
                             "input 0: u64 param 1 buffer \"x\"\n"
                             "input 1: u64 param 2 buffer \"y\"\n"
                             "slot 0: buffer input 0 read\n"
                             "slot 1: buffer input 1 read written\n"
                             "function @main() -> void {\n"
                             "  %0: u64 = input 0\n"
                             "  %1: u64 = input 1\n"
                             "  %2: u64 = id global_lane_id\n"
                             "  %3: u32 = const 2\n"
                             "  %4: u64 = shl %2, %3\n"
                             "  %5: u32 = load buffer slot 0 %0 [%4]\n"
                             "  %6: u32 = load buffer slot 1 %1 [%4]\n"
                             "  %7: u32 = add %5, %6\n"
                             "  store buffer slot 1 %1 [%4], %7\n"
                             "}\n";

/* What a launch writes is where it was; what it reads is nobody else's. */
static void check_in_place(void) {
    enum { WORDS = 4096 };
    static uint32_t x[WORDS], y[WORDS];
    static const hg_driver_options options = {0};
    const hg_driver *driver = &hg_driver_tpu;
    hg_device *device = NULL;
    hg_driver_kernel *kernel = NULL;
    hg_driver_arena *arenas[2] = {NULL};
    kir_module *module = NULL;
    uintptr_t places[2] = {0};
    const uint64_t handles[2] = {0};
    CHECK_OK(kir_parse(KERNEL, sizeof KERNEL - 1, NULL, &module));
    CHECK_OK(driver->device_open(0, &options, &device));
    CHECK_OK(driver->kernel_create(device, module, &kernel));
    kir_module_destroy(module);
    for (int i = 0; i < 2; i++) CHECK_OK(driver->arena_alloc(device, sizeof x, &arenas[i]));
    for (uint32_t i = 0; i < WORDS; i++) {
        x[i] = i;
        y[i] = 7 * i;
    }
    memcpy(arenas[0]->bytes, x, sizeof x);
    memcpy(arenas[1]->bytes, y, sizeof y);
    const hg_range slots[2] = {{arenas[0], 0, sizeof x}, {arenas[1], 0, sizeof y}};
    const hg_driver_launch l = {.kernel = kernel,
                                .grid = {WORDS / 64, 1, 1},
                                .block = {64, 1, 1},
                                .lanes = WORDS,
                                .inputs = handles,
                                .slots = slots,
                                .slot_count = 2};
    for (int i = 0; i < 3; i++) {
        hg_driver_fault fault = {0};
        CHECK_OK(tpu_launch(device, &l, &fault));
        CHECK(!fault.happened);
        for (int k = 0; k < 2; k++) {
            CHECK_MESSAGE(i < 1 || places[k] == place_of(arenas[k]), "array %d has moved", k);
            places[k] = place_of(arenas[k]);
        }
    }
    CHECK(places[0] != places[1]);
    for (int i = 0; i < 2; i++) CHECK_OK(tpu_to_host(arenas[i]));
    CHECK(memcmp(arenas[0]->bytes, x, sizeof x) == 0);
    for (uint32_t i = 0; i < WORDS; i++) y[i] += 3 * i;
    CHECK(memcmp(arenas[1]->bytes, y, sizeof y) == 0);
    for (int i = 0; i < 2; i++) driver->arena_free(device, arenas[i]);
    driver->kernel_destroy(kernel);
    driver->device_close(device);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < HG_COUNT_OF(PROBLEMS); i++) {
        rig device, cpu;
        open_rig(&device, argc > 1 ? argv[1] : "tpu", &PROBLEMS[i]);
        if (!device.backend) {
            SKIP(hg_last_error_text());
            return test_done();
        }
        open_rig(&cpu, "cpu", &PROBLEMS[i]);
        if (device.binding && cpu.binding) {
            check(&device, &cpu, &PROBLEMS[i]);
            check_order(&device, &cpu, &PROBLEMS[i]);
        }
        close_rig(&device);
        close_rig(&cpu);
    }
    check_in_place();
    return test_done();
}
