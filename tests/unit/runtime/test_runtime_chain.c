/* test: labels=threads,slow */
/* Maps behind each other, in front of and behind instructions whose kernels do them too: done
 * together where their arrays allow it, and nobody can tell but by the time. Random programs over
 * one memory, whose arrays are apart, the same or overlap, against their instructions one by one.
 *
 *     test_runtime_chain [BACKEND [COUNT [SEED]]] */
#include "runtime/chain.h"
#include "support/runtime_support.h"
#include <inttypes.h>
#include <time.h>

enum {
    PLACES = 5,
    MOST_STEPS = 20,
    MOST_BYTES = 4 << 20,
    TEXT = 8192,
    LAUNCHES = 5,
    MOST_FAILURES = 10,
    MOST_WAIT_MS = 60000,
    SPARSE_ROWS = 100
};

typedef struct step {
    char text[320];
    uint64_t out; /* where its result begins */
} step;

typedef struct chain_test {
    uint64_t state, seed;
    hg_backend *b, *plain; /* the device; the CPU, for one instruction a program */
    step steps[MOST_STEPS];
    uint32_t step_count, size;
    uint64_t n[2], bytes, places[PLACES];
    bool threads, floats;
    uint64_t joined, longest, in_front, behind; /* the last two: instructions that did the maps on
                                                   that side of them */
} chain_test;

static _Alignas(8) uint8_t first[MOST_BYTES], expected[MOST_BYTES], actual[MOST_BYTES];

static uint32_t pick(chain_test *t, uint32_t n) {
    t->state ^= t->state << 13;
    t->state ^= t->state >> 7;
    t->state ^= t->state << 17;
    return (uint32_t)((t->state >> 20) % n);
}

/* ---- programs ---- */

static void choose_places(chain_test *t) {
    uint64_t array = t->n[0] * t->size, apart = (array + 63) / 64 * 64;
    uint32_t how = pick(t, 5);
    t->bytes = 64;
    for (uint32_t i = 0; i < PLACES; i++) {
        uint64_t at = i * apart;
        if (how == 1) at = i * array;                 /* without a gap */
        if (how == 2) at = pick(t, 3) * apart;        /* some are the same */
        if (how == 3 && i == 3) at = apart + t->size; /* one overlaps */
        if (how == 4) at = i * apart + i * t->size;   /* at odd offsets */
        t->places[i] = at;
        if (at + array > t->bytes) t->bytes = at + array;
    }
    t->bytes += 16;
}

static uint64_t a_place(chain_test *t) { return t->places[pick(t, PLACES)]; }

/* An instruction whose kernels do maps around it: those of n elements, where they change nothing
 * that it reads. */
static void write_head(chain_test *t, step *s, const char *type) {
    uint64_t n = t->n[0],
             rows = n % 20 == 0   ? n / 50
                    : n % 16 == 0 ? 16
                                  : 1,
             columns = rows ? n / rows : 0;
    uint64_t in = t->step_count > 1 && pick(t, 4) ? t->steps[t->step_count - 2].out : a_place(t);
    uint64_t gamma = a_place(t), beta = pick(t, 2) ? gamma : a_place(t),
             mean = pick(t, 2) ? gamma : a_place(t);
    unsigned spatial = columns % 5 ? 1 : 5;
    char arrays[128], lines[64];
    uint32_t which = pick(t, 7);
    s->out = pick(t, 3) ? a_place(t) : in;
    if ((s->out == in || s->out == gamma || s->out == beta) && pick(t, 8))
        which = 1 + which % 5; /* the others refuse it */
    if (which < 4 && which && !t->threads)
        which = 4 + which % 2; /* rows of norms and softmax are too long for some devices' compilers
                                */
    snprintf(arrays, sizeof arrays, "output=[x + %" PRIu64 "], input=[x + %" PRIu64 "]", s->out,
             in);
    snprintf(lines, sizeof lines, "gamma=[x + %" PRIu64 "], beta=[x + %" PRIu64 "]", gamma, beta);
    switch (which) {
    case 0:
        snprintf(s->text, sizeof s->text,
                 "gemm.%s c=[x + %" PRIu64 "], a=[x + %" PRIu64 "], b=[x + %" PRIu64 "], m=%" PRIu64
                 ", n=%" PRIu64 ", k=%u, beta=%u\n",
                 type, s->out, gamma, beta, rows, columns, (unsigned)pick(t, rows > 1 ? 8 : 2),
                 (unsigned)pick(t, 2));
        break;
    case 1:
        snprintf(s->text, sizeof s->text,
                 "layer_norm.%s %s, %s, n=%" PRIu64 ", eps=1e-3, rows=%" PRIu64 "\n", type, arrays,
                 lines, columns, rows);
        break;
    case 2:
        snprintf(s->text, sizeof s->text, "softmax.%s %s, n=%" PRIu64 ", rows=%" PRIu64 "\n", type,
                 arrays, columns, rows);
        break;
    case 3:
        snprintf(s->text, sizeof s->text,
                 "group_norm.%s %s, %s, batch=%" PRIu64 ", channels=%" PRIu64
                 ", groups=1, spatial=%u, eps=1e-3\n",
                 type, arrays, lines, rows, columns / spatial, spatial);
        break;
    case 4:
        snprintf(s->text, sizeof s->text,
                 "batch_norm.%s %s, %s, mean=[x + %" PRIu64 "], variance=[x + %" PRIu64
                 "], batch=%" PRIu64 ", channels=%" PRIu64
                 ", spatial=%u, eps=1e-3, activation=%s\n",
                 type, arrays, lines, mean, beta, rows, columns / spatial, spatial,
                 pick(t, 2) ? "relu" : "identity");
        break;
    case 5:
        snprintf(s->text, sizeof s->text,
                 "layer_scale.%s %s, scale=[x + %" PRIu64 "], n=%" PRIu64 ", rows=%" PRIu64 "\n",
                 type, arrays, gamma, columns, rows);
        break;
    default: { /* as many rows of the image as of the output, or twice as many */
        unsigned size = 1 + 2 * (unsigned)pick(t, 2), stride = 1 + (pick(t, 3) == 0);
        snprintf(s->text, sizeof s->text,
                 "conv2d.%s %s, kernel=[x + %" PRIu64
                 "], batch=%u, in_channels=1, out_channels=1, height=%" PRIu64 ", width=%" PRIu64
                 ", kernel_h=%u, kernel_w=%u, stride=(%u, 1), padding=(%u, %u)\n",
                 type, arrays, gamma, n != 0, rows ? rows : 1, columns ? columns : 1, size, size,
                 stride, size / 2, size / 2);
    }
    }
}

/* A product of bytes with sums or bytes of the maps' type. */
static void write_bytes_head(chain_test *t, step *s, const char *type) {
    uint64_t n = t->n[0],
             rows = n % 20 == 0   ? n / 50
                    : n % 16 == 0 ? 16
                                  : 1,
             columns = rows ? n / rows : 0;
    s->out = a_place(t);
    snprintf(s->text, sizeof s->text,
             "quantized_gemm.%s c=[x + %" PRIu64 "], a=[x + %" PRIu64 "], b=[x + %" PRIu64
             "], a_scale=0.5, b_scale=0.5, c_scale=2, m=%" PRIu64 ", n=%" PRIu64
             ", k=%u, b_zero=%u, sums=%s\n",
             t->size == 1 ? type : "i8", s->out, a_place(t), a_place(t), rows, columns,
             (unsigned)pick(t, rows > 1 ? 8 : 2), (unsigned)pick(t, 2),
             t->size == 1 ? "false" : "true");
}

/* Two entries a row, of columns 0 and 1, which is a fault where k is 1. */
static void write_sparse_head(chain_test *t, step *s, const char *type) {
    uint64_t n = t->n[0],
             rows = n % 20 == 0   ? n / 50
                    : n % 16 == 0 ? 16
                                  : 1,
             columns = rows ? n / rows : 0;
    s->out = a_place(t);
    snprintf(s->text, sizeof s->text,
             "sparse_gemm.%s c=[x + %" PRIu64 "], a_values=[x + %" PRIu64
             "], a_indices=columns, a_ptr=rows, b=[x + %" PRIu64 "], m=%" PRIu64 ", n=%" PRIu64
             ", k=%u\n",
             type, s->out, a_place(t), a_place(t), rows, columns, rows > 1 ? 2 : 1);
}

static void write_step(chain_test *t, const char *type) {
    static const char *const ONE[] = {"neg", "abs", "relu", "floor"}, *const FLOATS[] = {
                                                                          "sqrt", "exp", "sigmoid",
                                                                          "tanh"};
    static const char *const TWO[] = {"add", "sub", "mul", "min", "max", "div"};
    uint64_t last = t->step_count ? t->steps[t->step_count - 1].out : 0;
    uint64_t out = t->step_count && pick(t, 3) == 0 ? last : a_place(t),
             a = pick(t, 2) ? out : a_place(t), b = a_place(t);
    const char *count = pick(t, 20) ? "n" : "m";
    uint32_t kind = pick(t, 2), two = pick(t, t->floats ? 6 : 5);
    if (!t->floats && pick(t, 12) == 0) two = 5; /* it may fault */
    step *s = &t->steps[t->step_count++];
    s->out = out;
    if (t->floats && t->n[0] < 50 * SPARSE_ROWS + 50 && pick(t, 16) == 0)
        write_sparse_head(t, s, type);
    else if (t->floats && pick(t, 4) == 0)
        write_head(t, s, type);
    else if (!t->floats && (t->size == 4 || t->size == 1) && pick(t, 6) == 0)
        write_bytes_head(t, s, type);
    else if (kind)
        snprintf(s->text, sizeof s->text,
                 "parallel_map.%s [x + %" PRIu64 "], [x + %" PRIu64 "], %s, %s\n", type, out, a,
                 t->floats && pick(t, 3) == 0 ? FLOATS[pick(t, 4)] : ONE[pick(t, 4)], count);
    else
        snprintf(s->text, sizeof s->text,
                 "parallel_map_binary.%s [x + %" PRIu64 "], [x + %" PRIu64 "], [x + %" PRIu64
                 "], %s, %s\n",
                 type, out, a, b, TWO[two], count);
}

static void write_program(chain_test *t) {
    static const char *const FLOATS[] = {"f32", "f32", "f64", "f16", "bf16"}, *const INTEGERS[] = {
                                                                                  "i32", "u32",
                                                                                  "u8", "i64",
                                                                                  "i16"};
    static const uint32_t FLOAT_SIZES[] = {4, 4, 8, 2, 2}, INTEGER_SIZES[] = {4, 4, 1, 8, 2},
                          COUNTS[] = {1000, 0, 1, 7, 256, 5000};
    uint32_t type = pick(t, 5), steps = 2 + pick(t, MOST_STEPS - 2);
    t->floats = pick(t, 2);
    t->size = t->floats ? FLOAT_SIZES[type] : INTEGER_SIZES[type];
    t->n[0] = t->threads && pick(t, 12) == 0 ? 100000 : COUNTS[pick(t, 6)];
    t->n[1] = t->n[0] / 2;
    t->step_count = 0;
    choose_places(t);
    if (pick(t, 16) == 0) t->n[1] = t->bytes; /* beyond the memory */
    for (uint32_t i = 0; i < steps; i++) {
        bool other = !t->floats && t->size == 4 && pick(t, 6) == 0;
        write_step(t, t->floats ? FLOATS[type] : INTEGERS[other ? 1 - type % 2 : type]);
    }
}

static hg_program *program_of(const chain_test *t, uint32_t from, uint32_t count) {
    static char text[TEXT];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        ".atlas 1\n.program maps\n.param x buffer u8 inout\n.param n u64\n.param m u64\n");
    used += (size_t)snprintf(text + used, sizeof text - used, ".data rows u32 0");
    for (int i = 1; i <= SPARSE_ROWS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", %d", 2 * i);
    used += (size_t)snprintf(text + used, sizeof text - used, "\n.data columns u32 0, 1");
    for (int i = 1; i < SPARSE_ROWS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", 0, 1");
    used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    for (uint32_t i = from; i < from + count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", t->steps[i].text);
    return assemble(text);
}

/* ---- launches ---- */

typedef struct outcome {
    hg_status status;
    char code[4];
    uint64_t instruction, step;
} outcome;

static outcome outcome_of(hg_status status) {
    outcome o = {.status = status};
    const hg_error *e = hg_last_error();
    if (status == HG_OK) return o;
    memcpy(o.code, e->code, sizeof o.code);
    o.instruction = e->instruction;
    o.step = e->step;
    return o;
}

static hg_params *params_of(const chain_test *t, hg_buffer x) {
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &t->n[0]));
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U64, &t->n[1]));
    return params;
}

static outcome run_one_by_one(chain_test *t) {
    outcome o = {.status = HG_OK};
    hg_buffer x = make_buffer(t->plain, first, t->bytes);
    hg_params *params = params_of(t, x);
    for (uint32_t i = 0; i < t->step_count && o.status == HG_OK; i++) {
        hg_program *p = program_of(t, i, 1);
        o = outcome_of(hg_backend_execute_program_with_params(t->plain, p, NULL, params));
        o.instruction += o.status == HG_OK ? 0 : i;
        o.step += o.status == HG_OK ? 0 : 2 * (uint64_t)i;
        hg_program_release(p);
    }
    CHECK_OK(hg_backend_copy_from_buffer(t->plain, x, expected, t->bytes));
    CHECK_OK(hg_backend_free_buffer(t->plain, x));
    hg_params_destroy(params);
    return o;
}

static bool is_nan(const chain_test *t, uint64_t bits) {
    uint64_t infinite = strstr(t->steps[0].text, ".bf16") ? 0x7F80
                        : t->size == 2                    ? 0x7C00
                        : t->size == 4                    ? 0x7F800000
                                                          : UINT64_C(0x7FF) << 52;
    return (bits & (infinite | (infinite - 1))) > infinite && t->floats;
}

/* What an instruction that faulted left in its result is nobody's promise. */
static bool same_memory(const chain_test *t, const outcome *o) {
    if (o->status != HG_OK && t->b->caps->scheduling.asynchronous)
        return true; /* nor what was not submitted yet */
    for (uint64_t i = 0; i + t->size <= t->bytes; i += t->size) {
        uint64_t a = 0, b = 0, out = t->steps[o->instruction].out;
        if (o->status != HG_OK && i + t->size > out && i < out + t->n[0] * t->size) continue;
        memcpy(&a, expected + i, t->size);
        memcpy(&b, actual + i, t->size);
        if (a != b && !(is_nan(t, a) && is_nan(t, b))) return false;
    }
    return true;
}

/* Whether an instruction does maps in this test: on a CPU that works in other orders nobody waits
 * for native code, and without a compiler there is none. */
static bool has_heads(const chain_test *t) {
    const hg_device_caps *caps = t->b->caps;
    char by[256];
    return !caps->scheduling.does_maps ||
           (caps->compiler.improves && !caps->scheduling.asynchronous &&
            t->b->driver->improves_by(by));
}

/* For native code of what is done together, made in the background. */
static void wait_for_code(const hg_binding *binding) {
    for (uint64_t i = 0; i < binding->executable->plan->steps.count; i++) {
        const hg_bound_chain *c = binding->steps.bound[i].chain;
        for (uint32_t k = 0; c && c->state == HG_CHAIN_WAITS && k < c->joined.action_count; k++) {
            const hg_kernel *kernel = c->joined.actions[k].kernel;
            bool maps = kernel && c->joined.planned.actions.data[k].key.chain;
            for (int ms = 0;
                 maps && ms < MOST_WAIT_MS && hg_code_better(kernel->code) == HG_BETTER_LATER; ms++)
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
}

static void compare(chain_test *t, hg_binding *binding, hg_buffer x, const outcome *wanted) {
    for (int i = 0; i < LAUNCHES && test_failed < MOST_FAILURES; i++) {
        if (i == LAUNCHES - 1 && t->seed % 16 == 0 && has_heads(t)) wait_for_code(binding);
        CHECK_OK(hg_backend_copy_to_buffer(t->b, x, first, t->bytes));
        outcome o = outcome_of(hg_binding_launch(binding));
        CHECK_OK(hg_backend_copy_from_buffer(t->b, x, actual, t->bytes));
        bool same = o.status == wanted->status && strcmp(o.code, wanted->code) == 0 &&
                    o.instruction == wanted->instruction && o.step == wanted->step;
        CHECK_MESSAGE(
            same,
            "seed %" PRIu64
            ", launch %d: %d %s, instruction %d, step %d, and %d %s, instruction %d, step %d",
            t->seed, i, (int)wanted->status, wanted->code, (int)wanted->instruction,
            (int)wanted->step, (int)o.status, o.code, (int)o.instruction, (int)o.step);
        CHECK_MESSAGE(same_memory(t, &o), "seed %" PRIu64 ", launch %d: other memory", t->seed, i);
    }
}

/* How many steps were done with others. */
static uint64_t count_joined(chain_test *t, const hg_binding *binding) {
    uint64_t joined = 0;
    for (uint64_t i = 0; i < binding->executable->plan->steps.count; i++) {
        const hg_bound_chain *c = binding->steps.bound[i].chain;
        if (!c || c->state != HG_CHAIN_READY) continue;
        joined += c->found.chain.count;
        t->in_front += c->found.head && c->found.chain.front;
        t->behind += c->found.head && c->found.chain.front < c->found.chain.count;
        if (c->found.chain.count > t->longest) t->longest = c->found.chain.count;
        i += c->found.chain.count + c->found.head - 1u; /* those may have chains from when they were
                                                           done without it */
    }
    return joined;
}

static hg_binding *bind(hg_backend *b, const hg_program *p, const hg_params *params) {
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    CHECK_OK(hg_executable_create(b, p, &e));
    if (e) CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    hg_executable_destroy(e);
    if (!binding) exit(test_done());
    return binding;
}

static void run_seed(chain_test *t) {
    t->state = t->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    write_program(t);
    for (uint64_t i = 0; i < t->bytes; i++) first[i] = (uint8_t)pick(t, t->floats ? 256 : 9);
    outcome wanted = run_one_by_one(t);
    hg_program *p = program_of(t, 0, t->step_count);
    hg_buffer x = make_buffer(t->b, first, t->bytes);
    hg_params *params = params_of(t, x);
    hg_binding *binding = bind(t->b, p, params);
    compare(t, binding, x, &wanted);
    t->joined += count_joined(t, binding);
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(t->b, x));
    hg_program_release(p);
}

/* ---- what is done together ---- */

/* Where arrays of different buffers may overlap they are done one by one. */
static bool knows_places(const chain_test *t) {
    return !t->b->caps->memory.can_import || t->b->caps->memory.host_memory ||
           t->b->driver->arena_host;
}

/* Launches a program over x and y; how many of its steps were done with others. */
static uint64_t joined_of(chain_test *t, const char *text, hg_buffer x, hg_buffer y, int launches) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    hg_binding *binding = bind(t->b, p, params);
    for (int i = 0; i < launches; i++) CHECK_OK(hg_binding_launch(binding));
    t->longest = 0;
    uint64_t joined = count_joined(t, binding);
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    hg_program_release(p);
    return joined;
}

#define XY(body) PROGRAM(".param x buffer i32 inout\n.param y buffer i32 inout\n" body)
#define NEG(out, in, count) "parallel_map.i32 " out ", " in ", neg, " count "\n"
#define TWO_AND_TWO(middle)                                                             \
    XY(".param n u64 = 300\n.param k u64 = 299\n" NEG("y", "x", "n") NEG("y", "y", "n") \
           middle NEG("x", "y", "n") NEG("x", "x", "n"))

static void test_which(chain_test *t) {
    if (!knows_places(t)) return;
    hg_buffer x = make_buffer(t->b, NULL, 4096), y = make_buffer(t->b, NULL, 4096);
    CHECK_U64(joined_of(t, TWO_AND_TWO(""), x, y, 4), 4);
    CHECK_U64(t->longest, 4);
    CHECK_U64(joined_of(t, TWO_AND_TWO(""), x, x, 4), 4);                 /* one array */
    CHECK_U64(joined_of(t, TWO_AND_TWO(NEG("y", "x", "k")), x, y, 4), 4); /* another count: two
                                                                             pairs */
    CHECK_U64(t->longest, 2);
    CHECK_U64(joined_of(t, TWO_AND_TWO(NEG("y", "[x + 4]", "n")), x, y, 4), 4); /* x overlaps */
    CHECK_U64(t->longest, 2);
    CHECK_U64(
        joined_of(t, TWO_AND_TWO("parallel_map.i32 [y + 2048], [y + 2048], neg, n\n"), x, y, 4), 5);
    CHECK_U64(
        joined_of(
            t, TWO_AND_TWO("parallel_map_binary.u32 [y + 2048], [x + 2048], [x + 2048], add, n\n"),
            x, y, 4),
        5);
    CHECK_U64(joined_of(t, TWO_AND_TWO("bar.grid\n"), x, y, 4), 4);
    CHECK_U64(t->longest, 2);
    CHECK_OK(hg_backend_free_buffer(t->b, x));
    CHECK_OK(hg_backend_free_buffer(t->b, y));
}

/* A map alone gets a kernel where the driver does maps, its function is one of many operations and
 * there are many elements. */
static void test_alone(chain_test *t) {
    if (!knows_places(t)) return;
    hg_buffer x = make_buffer(t->b, NULL, 20000), y = make_buffer(t->b, NULL, 20000);
    bool improves = t->b->caps->scheduling.does_maps && t->b->caps->compiler.improves;
    CHECK_U64(joined_of(t, XY("parallel_map.f32 y, x, exp, 5000\n"), x, y, 4), improves);
    CHECK_U64(
        joined_of(
            t,
            XY("parallel_map.f32 y, x, exp, 5000\nbar.grid\nparallel_map.f32 x, y, tanh, 4095\n"),
            x, y, 4),
        improves);
    CHECK_U64(joined_of(t, XY("parallel_map.f32 y, x, abs, 5000\n"), x, y, 4), 0);
    CHECK_OK(hg_backend_free_buffer(t->b, x));
    CHECK_OK(hg_backend_free_buffer(t->b, y));
}

/* Maps on many elements are done together in the first launch, where a kernel of them is there at
 * once. */
static void test_many(chain_test *t) {
    enum { N = 1 << 19 };
    int32_t *data = (int32_t *)(void *)first;
    const hg_device_caps *caps = t->b->caps;
    bool at_once = caps->scheduling.does_maps && caps->compiler.improves != HG_IMPROVES_AT_ONCE;
    if (!knows_places(t)) return;
    for (int i = 0; i < N; i++) data[i] = i - 1000;
    hg_buffer x = make_buffer(t->b, data, N * 4), y = make_buffer(t->b, data, N * 4);
    CHECK_U64(
        joined_of(t, XY(NEG("y", "x", "524288") "parallel_map_binary.i32 y, y, y, add, 524288\n"),
                  x, y, 1),
        at_once ? 2 : 0);
    CHECK_OK(hg_backend_copy_from_buffer(t->b, y, actual, N * 4));
    uint64_t others = 0;
    for (int i = 0; i < N; i++) {
        int32_t element;
        memcpy(&element, actual + 4 * (size_t)i, sizeof element);
        others += element != -2 * (i - 1000);
    }
    CHECK_U64(others, 0);
    CHECK_U64(joined_of(t, XY(NEG("y", "x", "524287") NEG("y", "y", "524287")), x, y, 1), 0);
    CHECK_OK(hg_backend_free_buffer(t->b, x));
    CHECK_OK(hg_backend_free_buffer(t->b, y));
}

/* The same memory under two handles. */
static void test_imports(chain_test *t) {
    static _Alignas(64) int32_t memory[2048];
    hg_buffer x, y;
    if (!t->b->caps->memory.can_import) return;
    for (uint64_t shift = 0; shift < 3; shift++) {
        for (int i = 0; i < 2048; i++) memory[i] = i;
        if (hg_buffer_import(t->b, memory, 1200, &x) != HG_OK) return;
        if (hg_buffer_import(t->b, memory + (shift == 2 ? 300 : shift), 1200, &y) == HG_OK) {
            uint64_t joined = joined_of(t, TWO_AND_TWO(""), x, y, 4);
            if (t->b->caps->memory.host_memory) CHECK_U64(joined, shift == 1 ? 0 : 4);
            CHECK_OK(hg_backend_free_buffer(t->b, y));
        }
        CHECK_OK(hg_backend_free_buffer(t->b, x));
    }
}

/* Each instruction that does maps: with one in front of it and two behind. The first launch does
 * all of them alone, the fourth as one kernel. */
typedef struct head_case {
    const char *text;
    uint8_t in_front, behind; /* maps that it does */
    uint8_t apart;            /* of those behind: done alone where the driver does maps */
    bool own; /* the text has maps of its own, of another type than the two behind it */
} head_case;

static void test_head(chain_test *t, const head_case *c) {
    enum { BYTES = 12288 };
    static uint8_t alone[2][BYTES], fused[2][BYTES];
    char text[1024];
    float data[BYTES / 4];
    hg_buffer x = make_buffer(t->b, NULL, BYTES), y = make_buffer(t->b, NULL, BYTES);
    for (int i = 0; i < BYTES / 4; i++) data[i] = (float)(i * 37 % 101) / 16 - 3;
    snprintf(text, sizeof text,
             PROGRAM(".param x buffer f32 inout\n.param y buffer f32 inout\n.const N = "
                     "960\nparallel_map_binary.f32 x, x, [y + 4096], add, N\n"
                     "%s\nparallel_map_binary.f32 y, y, [y + 4096], mul, N\nparallel_map.f32 [x + "
                     "8192], y, tanh, N\n"),
             c->text);
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    hg_binding *binding = bind(t->b, p, params);
    for (int i = 0; i < LAUNCHES; i++) {
        if (i == LAUNCHES - 1) wait_for_code(binding);
        CHECK_OK(hg_backend_copy_to_buffer(t->b, x, data, BYTES));
        CHECK_OK(hg_backend_copy_to_buffer(t->b, y, data, BYTES));
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_backend_copy_from_buffer(t->b, x, i ? fused[0] : alone[0], BYTES));
        CHECK_OK(hg_backend_copy_from_buffer(t->b, y, i ? fused[1] : alone[1], BYTES));
        if (i)
            CHECK_MESSAGE(memcmp(alone, fused, sizeof alone) == 0, "%s: other bits in launch %d",
                          c->text, i);
    }
    uint64_t front_before = t->in_front, behind_before = t->behind;
    const hg_device_caps *caps = t->b->caps; /* a compiler that refuses long kernels gets tanh alone
                                              */
    uint8_t apart = caps->scheduling.does_maps                        ? c->apart
                    : caps->compiler.max_operations && c->behind == 2 ? 1
                                                                      : 0,
            behind = (uint8_t)(c->behind - apart);
    uint64_t joined = 0u + c->in_front + behind + (c->own ? 2 : 0) + (apart == 2 ? 2 : 0);
    CHECK_U64(count_joined(t, binding), joined);
    CHECK_MESSAGE(t->in_front == front_before + (c->in_front != 0) &&
                      t->behind == behind_before + (behind != 0),
                  "%s: %d in front, %d behind", c->text, (int)(t->in_front - front_before),
                  (int)(t->behind - behind_before));
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    hg_program_release(p);
    CHECK_OK(hg_backend_free_buffer(t->b, x));
    CHECK_OK(hg_backend_free_buffer(t->b, y));
}

static void test_heads(chain_test *t) {
#define LINE(name, at) ", " name "=[x + " at "]"
#define NORM LINE("gamma", "4096") LINE("beta", "4608")
#define QUANTIZED ", a_scale=0.5, b_scale=0.25, c_scale=16"
    static const head_case CASES[] = {
        {"gemm.f32 c=y, a=x, b=[x + 4096], m=32, n=30, k=8", 0, 2, 0, false},
        {"layer_scale.f32 output=y, input=x" LINE("scale", "4096") ", n=60, rows=16", 1, 2, 1,
         false},
        {"conv2d.f32 output=y, input=x, kernel=[x + 4096], batch=1, in_channels=2, "
         "out_channels=2, "
         "height=20, width=24, kernel_h=3, "
         "kernel_w=3, stride=(1, 1), padding=(1, 1)",
         1, 2, 0, false},
        {"batched_gemm.f32 c=y, a=x, b=[x + 4096], batch=2, m=16, n=30, k=8", 0, 2, 0, false},
        {"gemm.f16 c=y, a=x, b=[x + 4096], m=32, n=30, k=8\nparallel_map.i16 y, y, "
         "abs, N" /* what
                     it is
                     in f16
                     is
                     another
                     number
                   */
         ,
         0, 0, 0, true},
        {"quantized_gemm.i8 c=y, a=x, b=[x + 4096]" QUANTIZED
         ", m=32, n=30, k=8\nparallel_map_binary.i8 y, y, [x + 4096], max, N\n"
         "parallel_map.i8 [x + 8192], y, abs, N",
         0, 2, 2, true},
        {"quantized_gemm.u8 c=y, a=x, b=[x + 4096]" QUANTIZED
         ", m=32, n=30, k=8, sums=true\nparallel_map.i32 y, y, relu, N",
         0, 1, 0, true},
        {".data rows u32 0, 2, 4\n.data columns u32 0, 1, 1, 0\n"
         "sparse_gemm.f32 c=y, a_values=x, a_indices=columns, a_ptr=rows, b=[x + "
         "4096], m=2, "
         "n=480, k=2, nnz=4",
         0, 2, 0, false},
        {"conv2d.f32 output=y, input=x, kernel=[x + 4096], batch=1, in_channels=2, "
         "out_channels=4, "
         "height=20, width=24, kernel_h=3, "
         "kernel_w=3, stride=(2, 1), padding=(1, 0), padding_end=(1, 2), groups=2",
         1, 2, 0, false},
        {"conv2d.f32 output=y, input=x, kernel=[x + 4096], batch=1, in_channels=2, "
         "out_channels=4, "
         "height=20, width=24, kernel_h=1, "
         "kernel_w=3, stride=(2, 1), padding=(0, 1)" /* not all of x is read */,
         0, 2, 0, false},
        {"conv2d.f32 output=y, input=x, kernel=[x + 4096], batch=2, in_channels=3, "
         "out_channels=5, "
         "height=8, width=12, kernel_h=1, "
         "kernel_w=1, "
         "stride=(1, 1), padding=(0, 0)" LINE("bias", "4608") ", activation=relu",
         0, 2, 0, false},
        {"layer_norm.f32 output=y, input=x" NORM ", n=96, eps=1e-5, rows=10", 1, 2, 1, false},
        {"layer_norm.f32 output=y, input=x" LINE("gamma", "4096")
             LINE("beta", "4096") ", n=960, eps=1e-5",
         1, 2, 1, false},
        {"group_norm.f32 output=y, input=x" NORM
         ", batch=2, channels=8, groups=4, spatial=60, eps=1e-5, activation=gelu",
         1, 2, 1, false},
        {"batch_norm.f32 output=y, input=x" NORM LINE("mean", "4200")
             LINE("variance", "4096") ", batch=6, channels=4, spatial=40, eps=20",
         1, 2, 1, false},
        {"batch_norm.f32 output=y, input=x" NORM LINE("mean", "4200")
             LINE("variance", "4096") ", batch=60, channels=16, spatial=1, eps=20",
         1, 2, 1, false},
        {"softmax.f32 output=y, input=x, n=320, rows=3", 1, 2, 1, false},
    };
    enum { ON_DEVICES = 3 /* whose compilers are slow; and the CPU in other orders of work */ };
    size_t count = t->threads && !t->b->caps->scheduling.asynchronous ? sizeof CASES / sizeof *CASES
                                                                      : ON_DEVICES;
    for (size_t i = 0; i < count && knows_places(t) && has_heads(t); i++) test_head(t, &CASES[i]);
}

/* In a loop that the program ends itself, with counts that change from round to round. */
static void test_rounds(chain_test *t) {
    enum { N = 300 };
    int32_t data[N], one[N];
    for (int i = 0; i < N; i++) one[i] = 1;
    static const char text[] = XY(
        "mov_imm.u64 r10, 1\nmov_imm.u32 r12, 7\nround:\n"
        "parallel_map_binary.i32 x, x, y, sub, r10\nparallel_map.i32 x, x, abs, r10\n"
        "parallel_map_binary.i32 x, x, y, add, r10\nparallel_map_binary.i32 x, x, y, add, r10\n"
        "add.u64 r10, r10, r10\nloop r12, @round\n");
    hg_buffer x = make_buffer(t->b, one, sizeof one), y = make_buffer(t->b, one, sizeof one);
    hg_program *p = NULL;
    if (hg_program_assemble(text, sizeof text - 1, NULL, &p) != HG_OK) {
        CHECK_MESSAGE(false, "%s", hg_last_error_text());
        return;
    }
    hg_program_release(p);
    (void)joined_of(t, text, x, y, 4);
    CHECK_OK(hg_backend_copy_from_buffer(t->b, x, data, sizeof data));
    for (int i = 0; i < N; i++) { /* each round adds 1 to the first 1, 2, 4, … 128: |x - 1| + 2 */
        int rounds = 0;
        for (int n = 1; n <= 128; n *= 2) rounds += i < n;
        CHECK_U64(data[i], (uint64_t)(1 + 4 * rounds));
    }
    CHECK_OK(hg_backend_free_buffer(t->b, x));
    CHECK_OK(hg_backend_free_buffer(t->b, y));
}

int main(int argc, char **argv) {
    static chain_test t;
    const char *name = argc > 1 ? argv[1] : "cpu";
    t.seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    t.b = open_backend(name);
    CHECK_OK(hg_backend_create("cpu", 0, &t.plain));
    enum { FEW = 24, MANY = 60 }; /* few where each kernel is compiled */
    uint64_t count = argc > 2                          ? strtoull(argv[2], NULL, 0)
                     : t.b->caps->scheduling.does_maps ? FEW
                                                       : MANY;
    t.threads = strcmp(name, "cpu") == 0;
    test_which(&t);
    test_alone(&t);
    test_many(&t);
    test_imports(&t);
    test_rounds(&t);
    test_heads(&t);
    for (uint64_t i = 0; i < count && test_failed < MOST_FAILURES; i++, t.seed++) run_seed(&t);
    CHECK_MESSAGE(count < 10 || t.joined > count, "%" PRIu64 " steps were done with others",
                  t.joined);
    CHECK_MESSAGE(!has_heads(&t) || !knows_places(&t) || (t.in_front && t.behind),
                  "no maps were done by another instruction");
    hg_backend_destroy(t.b);
    hg_backend_destroy(t.plain);
    return test_done();
}
