/* Lanes that devices share: random programs on two devices, alike and unlike, have the bits of one;
 * faults have their lane; programs whose lanes may touch each other's elements are refused. */
/* test: timeout=300 */
#include "dist/dist.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdarg.h>
#include <stdlib.h>

static uint64_t state = 1;
static uint32_t below(uint32_t n) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* ---- programs ---- */

typedef struct example {
    char text[4096];
    size_t length;
    uint32_t axes, extents[3], lanes, loops;
    bool second; /* it has an array w that lanes read and write */
} example;

static void say(example *e, const char *format, ...) HG_PRINTF(2, 3);
static void say(example *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    e->length += (size_t)vsnprintf(e->text + e->length, sizeof e->text - e->length, format, list);
    va_end(list);
}

static void statement(example *e, const char *own, uint32_t depth) {
    uint32_t kind = below(depth < 2 ? 9 : 6), n = below(7) + 2, t = e->loops;
    switch (kind) {
    case 0: say(e, "    v = v + x%s\n", own); break;
    case 1: say(e, "    v = v * %u - u\n", n); break;
    case 2: say(e, "    v = v + z[(global * %u + %u) %% m]\n", n, below(9)); break;
    case 3: say(e, "    u = u + T(global %% %u)\n", n); break;
    case 4: say(e, "    y%s = v\n", own); break;
    case 5:
        if (e->second) say(e, "    w%s = w%s + v\n", own, own);
        break;
    case 6:
    case 7:
        say(e, "    if global %% %u < %u {\n", n, below(n) + 1);
        for (uint32_t i = below(3) + 1; i > 0; i--) statement(e, own, depth + 1);
        say(e, "    }\n");
        break;
    default:
        e->loops++;
        say(e, "    let t%u = u64(0)\n    while t%u < global %% %u {\n", t, t, n);
        for (uint32_t i = below(3) + 1; i > 0; i--) statement(e, own, depth + 1);
        say(e, "    t%u = t%u + 1\n    }\n", t, t);
    }
}

static void generate(example *e, const char *type) {
    static const char *const shapes[] = {"[n]", "[a, n]", "[a, b, n]"},
                             *const lanes[] = {"[k < n]", "[i < a, k < n]",
                                               "[i < a, j < b, k < n]"},
                             *const own[] = {"[k]", "[i, k]", "[i, j, k]"};
    e->length = e->loops = 0;
    e->axes = below(3);
    e->second = below(2);
    e->extents[0] = e->axes ? below(5) + 1 : 1;
    e->extents[1] = e->axes == 2 ? below(4) + 1 : 1;
    e->extents[2] = below(90) + 1;
    e->lanes = e->extents[0] * e->extents[1] * e->extents[2];
    say(e, ".atlas 1\n.program p\n.param x buffer T in %s\n.param z buffer T in [m]\n",
        shapes[e->axes]);
    say(e, ".param y buffer T out %s\n", shapes[e->axes]);
    if (e->second) say(e, ".param w buffer T inout %s\n", shapes[e->axes]);
    say(e, ".param a u64 = 1\n.param b u64 = 1\n.param n u64\n.param m u64\n.lanes %s\n",
        lanes[e->axes]);
    say(e, "    let v = T(1)\n    let u = T(2)\n");
    for (uint32_t i = below(8) + 1; i > 0; i--) statement(e, own[e->axes], 0);
    if (below(2))
        say(e, "    y%s = v + u\n", own[e->axes]);
    else /* as it is stored: another instruction */
        say(e, "    y%s = T(global * %u)\n", own[e->axes], below(90));
    for (char *t = e->text; (t = strchr(t, 'T')) != NULL;) { /* the type, in its three letters */
        memmove(t + 3, t + 1, strlen(t));
        memcpy(t, type, 3);
    }
}

/* ---- arrays ---- */

enum { M = 37 };

typedef struct arrays {
    hg_backend *backend;
    hg_params *params;
    hg_buffer buffers[4];
    uint64_t bytes[4];
} arrays;

static const char *const NAMES[] = {"x", "z", "y", "w"};

static void make_arrays(arrays *a, hg_backend *backend, const example *e, uint32_t size) {
    const uint64_t n[] = {e->extents[0], e->extents[1], e->extents[2], M};
    static const char *const numbers[] = {"a", "b", "n", "m"};
    a->backend = backend;
    a->params = hg_params_create();
    for (int i = 0; i < 4; i++) {
        a->bytes[i] = (i == 1 ? M : e->lanes) * (uint64_t)size;
        CHECK(hg_backend_allocate_buffer(backend, a->bytes[i], &a->buffers[i]) == HG_OK);
        if (i < 3 || e->second)
            CHECK(hg_params_set_buffer(a->params, NAMES[i], a->buffers[i]) == HG_OK);
        CHECK(hg_params_set_scalar(a->params, numbers[i], HG_TYPE_U64, &n[i]) == HG_OK);
    }
}

/* Small whole numbers of any type. */
static void fill(arrays *a, bool floats, uint32_t size) {
    uint8_t bytes[8 * 2000];
    for (int i = 0; i < 4; i++) {
        memset(bytes, 0, sizeof bytes);
        for (uint64_t k = 0; k < a->bytes[i] / size; k++) {
            uint32_t number = (uint32_t)(k * 2654435761u >> 27) + (uint32_t)i;
            float f = (float)number / 8;
            memcpy(bytes + k * size, floats ? (const void *)&f : &number, 4);
        }
        CHECK(hg_buffer_write(a->backend, a->buffers[i], 0, bytes, a->bytes[i]) == HG_OK);
    }
}

static void read_results(const arrays *a, uint8_t *y, uint8_t *w) {
    CHECK(hg_buffer_read(a->backend, a->buffers[2], 0, y, a->bytes[2]) == HG_OK);
    CHECK(hg_buffer_read(a->backend, a->buffers[3], 0, w, a->bytes[3]) == HG_OK);
}

static void free_arrays(arrays *a) {
    for (int i = 0; i < 4; i++) CHECK(hg_backend_free_buffer(a->backend, a->buffers[i]) == HG_OK);
    hg_params_destroy(a->params);
}

/* ---- one device, and several ---- */

static void compare(hg_backend *alone, hg_multi_gpu *devices, const char *name, const example *e,
                    hg_program *program, bool floats, uint32_t size) {
    static uint8_t expected[2][8 * 2000], found[2][8 * 2000];
    arrays one, many;
    make_arrays(&one, alone, e, size);
    make_arrays(&many, hg_multi_gpu_backend(devices, 0), e, size);
    fill(&one, floats, size);
    CHECK_MESSAGE(hg_backend_execute_program_with_params(alone, program, NULL, one.params) == HG_OK,
                  "%s\n%s", hg_last_error_text(), e->text);
    read_results(&one, expected[0], expected[1]);
    for (int launch = 0; launch < 3; launch++) {
        uint64_t lanes[3] = {0, 0, 0};
        fill(&many, floats, size);
        CHECK_MESSAGE(hg_multi_gpu_lanes(devices, program, NULL, many.params, lanes) == HG_OK,
                      "%s: %s\n%s", name, hg_last_error_text(), e->text);
        read_results(&many, found[0], found[1]);
        bool same = memcmp(found[0], expected[0], many.bytes[2]) == 0 &&
                    memcmp(found[1], expected[1], many.bytes[3]) == 0;
        CHECK_MESSAGE(same && lanes[0] + lanes[1] + lanes[2] == e->lanes &&
                          (e->lanes < 2 || launch || lanes[1]),
                      "%s, launch %d: %llu, %llu and %llu of %u lanes\n%s", name, launch,
                      (unsigned long long)lanes[0], (unsigned long long)lanes[1],
                      (unsigned long long)lanes[2], e->lanes, e->text);
    }
    free_arrays(&one);
    free_arrays(&many);
}

static hg_program *assemble(const char *text) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(3);
    CHECK_MESSAGE(hg_program_assemble(text, strlen(text), d, &p) == HG_OK, "%s\n%s",
                  hg_last_error_text(), text);
    hg_diagnostics_destroy(d);
    return p;
}

static void random_programs(hg_backend *alone, hg_multi_gpu *devices, const char *name,
                            uint32_t count) {
    static const struct {
        const char *name;
        uint32_t size;
    } types[] = {{"f32", 4}, {"i32", 4}, {"u64", 8}, {"f64", 8}};
    for (uint32_t i = 0; i < count; i++) {
        static example e;
        uint32_t type = below(4);
        generate(&e, types[type].name);
        hg_program *program = assemble(e.text);
        if (program) compare(alone, devices, name, &e, program, type == 0, types[type].size);
        hg_program_release(program);
    }
}

/* ---- what is refused ---- */

static const struct {
    const char *body, *why; /* NULL: it is not refused */
} CASES[] = {
    {".lanes n\n    y[global] = x[global]\n", NULL},
    {".lanes n\n    y[n - 1 - global] = x[global]\n", "not its own"},
    {".lanes n\n    y[n - 1 - global] = u32(global)\n", "not its own"},
    {".lanes n\n    y[global / 2] = x[global]\n", "not its own"},
    {".lanes n\n    y[0] = x[global]\n", "not its own"},
    {".lanes n\n    y[global] = y[global] + 1\n", NULL},
    {".lanes n\n    y[global] = y[(global + 1) % n]\n", "lanes read elements of y"},
    {".lanes n\n    let before = atom.add(y[global], 1)\n", "other lanes touch"},
    {".lanes n\n    let i = global\n    if x[global] > 3 {\n        i = 0\n    }\n"
     "    y[i] = x[global]\n",
     "not its own"},
    {".lanes n\n    let i = global\n    let k = u64(0)\n    while k < 3 {\n"
     "        y[i] = x[global]\n        i = n - 1 - global\n        k = k + 1\n    }\n",
     "not its own"},
    {".lanes n\n    let i = global\n    let k = u64(0)\n    while k < 3 {\n"
     "        y[i] = x[global]\n        k = k + 1\n    }\n",
     NULL},
    {".lanes n\n    let i = global\n    let k = u64(0)\ntop:\n    y[i] = 7\n    k = k + 1\nagain:\n"
     "    bra.eq.u64 k, 2, @top\n    i = n - 1 - global\n    k = k + 1\n"
     "    bra.lt.u64 k, 4, @again\n",
     "jumps into a loop"},
    {".lanes n\n    if x[global] > 3 {\n        y[global] = 1\n    }\n", NULL},
    {".lanes [i < 4, j < 3]\n    q[i, j] = x[j]\n", NULL},
    {".lanes [i < 3, j < 4]\n    q[j, i] = x[j]\n", "not its own"},
    {".lanes [i < 4, j < 4]\n    q[i, j % 3] = x[j]\n", "not its own"},
    {".lanes [i < 4, j < 2]\n    q[i, j] = x[j]\n", "not its own"},
    {".lanes n\n    y[global] = x[global]\n    all_reduce.u32 buffer=y, n=n, operation=sum\n",
     "whole-array"},
    {".lanes n\n    y[global] = block_idx_x\n", "how lanes are in blocks"},
    {".scratch s u32 [n]\n.lanes n\n    s[global] = 1\n", "s is memory of all lanes"},
    {".param first_lane u32\n.lanes n\n    y[global] = first_lane\n",
     "no register or parameter for the first lane"},
    {".block 64\n.lanes n\n    y[global] = 1\n", "how its lanes are in blocks"},
};

static void check_refused(void) {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[1000];
        optimize_lanes lanes;
        hg_program *p = NULL;
        snprintf(text, sizeof text,
                 ".atlas 1\n.program p\n.param x buffer u32 in [n]\n.param y buffer u32 inout [n]\n"
                 ".param q buffer u32 out [4, 3]\n.param n u64\n%s",
                 CASES[i].body);
        p = assemble(text);
        if (!p) continue;
        hg_status status = optimize_find_lanes(p, &lanes);
        const char *said = hg_last_error_text();
        CHECK_MESSAGE(CASES[i].why
                          ? status == HG_ERROR_INVALID_ARGUMENT && strstr(said, CASES[i].why)
                          : status == HG_OK,
                      "%s\nexpected %s, got %s", CASES[i].body,
                      CASES[i].why ? CASES[i].why : "lanes that are shared",
                      status == HG_OK ? "shared" : said);
        hg_program_release(p);
    }
}

/* ---- faults, arrays that share memory, arguments ---- */

static void check_faults(hg_multi_gpu *devices) {
    static const char text[] = ".atlas 1\n.program p\n.param x buffer u64 in [n]\n"
                               ".param y buffer u64 out [n]\n.param n u64\n.lanes n\n"
                               "    y[global] = x[x[global]]\n";
    enum { N = 1000 };
    hg_backend *home = hg_multi_gpu_backend(devices, 0);
    hg_buffer x, y;
    hg_params *params = hg_params_create();
    hg_program *p = assemble(text);
    static uint64_t from[N];
    const uint64_t n = N;
    CHECK(hg_backend_allocate_buffer(home, sizeof from, &x) == HG_OK);
    CHECK(hg_backend_allocate_buffer(home, sizeof from, &y) == HG_OK);
    CHECK(hg_params_set_buffer(params, "x", x) == HG_OK);
    CHECK(hg_params_set_buffer(params, "y", y) == HG_OK);
    CHECK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n) == HG_OK);
    const uint64_t at[] = {3, 500, 501, 998};
    uint64_t instruction = HG_NONE; /* as the first device says it */
    for (size_t i = 0; i < 4; i++) {
        memset(from, 0, sizeof from);
        from[at[i]] = 1000000 + i;
        from[999] = 2000000;
        CHECK(hg_buffer_write(home, x, 0, from, sizeof from) == HG_OK);
        hg_status status = hg_multi_gpu_lanes(devices, p, NULL, params, NULL);
        char index[40];
        snprintf(index, sizeof index, "index %llu is", (unsigned long long)(1000000 + i));
        if (i == 0) instruction = hg_last_error()->instruction;
        CHECK_MESSAGE(
            status == HG_ERROR_EXECUTION_FAILED && hg_last_error()->lane == at[i] &&
                hg_last_error()->instruction == instruction && strstr(hg_last_error_text(), index),
            "lane %llu: %s, lane %llu, instruction %llu of %llu", (unsigned long long)at[i],
            hg_last_error_text(), (unsigned long long)hg_last_error()->lane,
            (unsigned long long)hg_last_error()->instruction, (unsigned long long)instruction);
    }
    CHECK(hg_params_set_buffer(params, "y", x) == HG_OK);
    CHECK(hg_multi_gpu_lanes(devices, p, NULL, params, NULL) == HG_ERROR_INVALID_ARGUMENT &&
          strstr(hg_last_error_text(), "share memory"));
    CHECK(hg_multi_gpu_lanes(devices, p, NULL, NULL, NULL) == HG_ERROR_INVALID_ARGUMENT);
    CHECK(hg_multi_gpu_lanes(devices, NULL, NULL, params, NULL) == HG_ERROR_INVALID_ARGUMENT);
    CHECK(hg_multi_gpu_lanes(NULL, p, NULL, params, NULL) == HG_ERROR_INVALID_ARGUMENT);
    /* fewer lanes than the program says, and none */
    memset(from, 0, sizeof from);
    CHECK(hg_buffer_write(home, x, 0, from, sizeof from) == HG_OK);
    CHECK(hg_params_set_buffer(params, "y", y) == HG_OK);
    for (uint64_t lanes = 0; lanes < 4; lanes++) {
        hg_launch launch = hg_launch_linear(lanes);
        uint64_t had[3] = {0, 0, 0};
        CHECK_MESSAGE(hg_multi_gpu_lanes(devices, p, &launch, params, had) == HG_OK, "%s",
                      hg_last_error_text());
        CHECK(had[0] + had[1] + had[2] == lanes);
    }
    /* every lane is number 0 then */
    CHECK(hg_params_set_register_u64(params, 255, 0) == HG_OK);
    CHECK(hg_multi_gpu_lanes(devices, p, NULL, params, NULL) == HG_ERROR_INVALID_ARGUMENT &&
          strstr(hg_last_error_text(), "a register is set"));
    hg_program_release(p);
    hg_params_destroy(params);
    CHECK(hg_backend_free_buffer(home, x) == HG_OK && hg_backend_free_buffer(home, y) == HG_OK);
}

/* A device that is much slower is left out, but for launches that try it again, as long as that is
 * quicker. */
static void check_left_out(hg_multi_gpu *devices) {
    static const char text[] = ".atlas 1\n.program p\n.param y buffer u64 out [n]\n.param n u64\n"
                               ".lanes n\n    y[global] = global\n";
    enum { N = 10000 };
    static uint64_t is[N];
    hg_backend *home = hg_multi_gpu_backend(devices, 0);
    hg_buffer y;
    hg_params *params = hg_params_create();
    hg_program *p = assemble(text);
    const uint64_t n = N;
    static const struct {
        double rates[3], all, quick, owed;
        bool out[3];
    } LAUNCHES[] = {{{1, 1, 1}, 1, 0, 0, {false, false, false}},
                    {{1, 1, 1.0 / 35000}, 1, 0, 0, {false, false, true}}, /* the first time */
                    {{1, 1.0 / 9, 1}, 1, 2, 1, {false, true, false}},
                    {{1.0 / 9, 1, 1.0 / 9}, 1, 2, 1, {true, false, true}},
                    {{1, 1, 1.0 / 35000}, 2, 1, 1, {false, false, false}},
                    {{1, 1, 1.0 / 35000}, 1, 2, -1, {false, false, false}}, /* tried again */
                    {{1, 1, 1.0 / 7}, 1, 2, 1, {false, false, false}}};
    CHECK(hg_backend_allocate_buffer(home, sizeof is, &y) == HG_OK);
    CHECK(hg_params_set_buffer(params, "y", y) == HG_OK);
    CHECK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n) == HG_OK);
    CHECK(hg_multi_gpu_lanes(devices, p, NULL, params, NULL) == HG_OK);
    for (size_t i = 0; i < HG_COUNT_OF(LAUNCHES); i++) {
        dist_sharing *s = &devices->sharing;
        uint64_t lanes[3] = {0, 0, 0}, wrong = 0;
        memcpy(s->rates, LAUNCHES[i].rates, sizeof LAUNCHES[i].rates);
        s->all_rate = LAUNCHES[i].all;
        s->quick_rate = LAUNCHES[i].quick;
        s->owed_ns = LAUNCHES[i].owed;
        memset(is, 0, sizeof is);
        CHECK(hg_buffer_write(home, y, 0, is, sizeof is) == HG_OK);
        CHECK(hg_multi_gpu_lanes(devices, p, NULL, params, lanes) == HG_OK);
        CHECK(hg_buffer_read(home, y, 0, is, sizeof is) == HG_OK);
        for (uint64_t k = 0; k < N; k++) wrong += is[k] != k;
        CHECK_U64(wrong, 0);
        CHECK_U64(lanes[0] + lanes[1] + lanes[2], N);
        for (int d = 0; d < 3; d++)
            CHECK_MESSAGE((lanes[d] == 0) == LAUNCHES[i].out[d], "launch %u: device %d has %llu",
                          (unsigned)i, d, (unsigned long long)lanes[d]);
    }
    hg_program_release(p);
    hg_params_destroy(params);
    CHECK(hg_backend_free_buffer(home, y) == HG_OK);
}

/* Each device has its own bits of what is relaxed: lanes that are shared are not. */
static void check_relaxed(void) {
    hg_program *relaxed = assemble(
                   ".atlas 1\n.program p\n.flag relaxed\n.param y buffer f32 out "
                   "[n]\n.param n u64\n.lanes n\n    y[global] = f32(global) / 3.0\n"),
               *made = NULL;
    CHECK(relaxed->flags & OPTIMIZE_RELAXED);
    CHECK(optimize_lanes_strict(relaxed, &made) == HG_OK && !(made->flags & OPTIMIZE_RELAXED) &&
          made->inst_count == relaxed->inst_count);
    hg_program_release(made);
    CHECK(optimize_lanes_from(relaxed, &made) == HG_OK && !(made->flags & OPTIMIZE_RELAXED));
    hg_program_release(made);
    hg_program_release(relaxed);
}

/* Imports of one memory. */
static void check_imports(hg_multi_gpu *devices) {
    static const char text[] = ".atlas 1\n.program p\n.param x buffer u64 in [n]\n"
                               ".param y buffer u64 out [n]\n.param n u64\n.lanes n\n"
                               "    y[global] = x[global]\n";
    enum { N = 480 };
    static _Alignas(4096) uint64_t memory[512];
    hg_backend *home = hg_multi_gpu_backend(devices, 0);
    hg_buffer x = {0}, y = {0};
    hg_params *params = hg_params_create();
    hg_program *p = assemble(text);
    const uint64_t n = N;
    if (hg_buffer_import(home, memory, N * 8, &x) == HG_OK) {
        CHECK(hg_buffer_import(home, memory + 16, N * 8, &y) == HG_OK);
        CHECK(hg_params_set_buffer(params, "x", x) == HG_OK);
        CHECK(hg_params_set_buffer(params, "y", y) == HG_OK);
        CHECK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n) == HG_OK);
        CHECK(hg_multi_gpu_lanes(devices, p, NULL, params, NULL) == HG_ERROR_INVALID_ARGUMENT &&
              strstr(hg_last_error_text(), "share memory"));
        CHECK(hg_backend_free_buffer(home, x) == HG_OK);
        CHECK(hg_backend_free_buffer(home, y) == HG_OK);
    }
    hg_program_release(p);
    hg_params_destroy(params);
}

int main(void) {
    static const uint32_t numbers[] = {0, 1, 2};
    hg_config config = hg_config_default();
    hg_backend *alone = NULL;
    hg_multi_gpu *alike = NULL, *unlike = NULL;
    setenv("HOLOGRAM_PRETEND", "devices=4", 1);
    memcpy(config.backend, "cpu", sizeof "cpu");
    config.deterministic = true;
    CHECK(hg_backend_create_with_config(&config, &alone) == HG_OK);
    CHECK(hg_multi_gpu_create("cpu+cpu", numbers, 3, &alike) == HG_ERROR_INVALID_ARGUMENT &&
          strstr(hg_last_error_text(), "2 backends for 3 devices"));
    CHECK(hg_multi_gpu_create("cpu+", numbers, 2, &alike) == HG_ERROR_INVALID_ARGUMENT &&
          strstr(hg_last_error_text(), "cpu+: the name of backend 1 is missing"));
    CHECK(hg_multi_gpu_create("cpu+none", numbers, 2, &alike) == HG_ERROR_BACKEND_UNAVAILABLE);
    check_refused();
    check_relaxed();
    if (hg_multi_gpu_create("cpu+cpu+cpu", numbers, 3, &alike) == HG_OK) {
        check_faults(alike);
        check_left_out(alike);
        check_imports(alike);
        random_programs(alone, alike, "three of the CPU", 60);
    }
    static const uint32_t first[] = {0, 0};
    if (hg_multi_gpu_create("cpu+opencl", first, 2, &unlike) == HG_OK) {
        check_faults(unlike);
        random_programs(alone, unlike, "CPU and OpenCL", 4);
        hg_multi_gpu_destroy(unlike);
        CHECK(hg_multi_gpu_create("opencl+cpu", first, 2, &unlike) == HG_OK);
        check_imports(unlike);
    } else {
        SKIP(hg_last_error_text());
    }
    hg_multi_gpu_destroy(alike);
    hg_multi_gpu_destroy(unlike);
    hg_backend_destroy(alone);
    return test_done();
}
