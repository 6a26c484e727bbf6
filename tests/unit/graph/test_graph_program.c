/* Graphs of programs: random programs whose lanes and whole-array instructions take turns, beside
 * their graphs with all passes and with none; what a graph cannot say; every allocation that fails
 * in turn. Arguments: the backend (cpu), how many programs (120), the first seed (1). */
#include "base/base.h"
#include "isa/program.h"
#include "support/sanitized.h"
#include "support/runtime_support.h"
#include <hologram/graph.h>
#include <stdarg.h>

static failing_allocator memory;

/* ---- random programs ---- */

enum { MOST_ELEMENTS = 9000, FEW_ELEMENTS = 300, ARRAYS = 4, NUMBERS = 3, LANE_REGISTERS = 3 };
typedef struct source {
    char text[16384];
    size_t length;
    uint64_t random;
    bool written;               /* out has contents */
    bool numbers[NUMBERS];      /* registers that reductions gave */
    bool lanes[LANE_REGISTERS]; /* registers of lanes that earlier code gave */
    uint32_t labels;
} source;

static uint32_t below(source *s, uint32_t n) {
    s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((s->random >> 33) % n);
}

static HG_PRINTF(2, 3) void add(source *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    s->length += (size_t)vsnprintf(s->text + s->length, sizeof s->text - s->length, format, list);
    va_end(list);
}

static const char *readable(source *s) {
    static const char *const NAMES[] = {"x", "y", "z", "a", "b", "c", "out"};
    return NAMES[below(s, s->written ? 7 : 6)];
}

static const char *writable(source *s) {
    static const char *const NAMES[] = {"a", "b", "c", "z", "out"};
    uint32_t i = below(s, 5);
    s->written |= i == 4;
    return NAMES[i];
}

static void add_step(source *s) {
    static const char *const MAPS[] = {"abs", "neg", "relu", "sin"}, *const BINARY[] = {
                                                                         "add", "mul", "max",
                                                                         "sub"};
    static const char *const COUNTS[] = {"n", "m"}; /* m is n - 1 + 1 */
    const char *a = readable(s), *b = readable(s), *count = COUNTS[below(s, 2)];
    uint32_t number = below(s, NUMBERS);
    switch (below(s, 5)) {
    case 0:
        add(s, "    parallel_map.f32 %s, %s, %s, %s\n", writable(s), a, MAPS[below(s, 4)], count);
        break;
    case 1:
        add(s, "    parallel_map_binary.f32 %s, %s, %s, %s, %s\n", writable(s), a, b,
            BINARY[below(s, 4)], count);
        break;
    case 2:
        if (below(s, 4) == 0)
            add(s, "    parallel_reduce.f32 s%u, table, min, 3\n", number);
        else if (below(s, 2))
            add(s, "    parallel_reduce.f32 s%u, %s, sum, %s\n", number, a, count);
        else
            add(s, "    parallel_reduce.f32 s%u, [%s + 8], max, less\n", number, a); /* its count is
                                                                                        n - 2 */
        s->numbers[number] = true;
        break;
    case 3: add(s, "    softmax output=%s, input=%s, n=%s\n", writable(s), a, count); break;
    default:
        add(s, "    layer_norm output=%s, input=%s, gamma=x, beta=y, eps=1.0e-5, n=n\n",
            writable(s), a);
        break;
    }
}

/* Something that lanes know in v. */
static void add_value(source *s) {
    add(s, "    ldg v, [%s[global]]\n", readable(s));
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (s->numbers[i] && below(s, 2)) add(s, "    mad v, v, 0.25, s%u\n", i);
    for (uint32_t i = 0; i < LANE_REGISTERS; i++)
        if (s->lanes[i] && below(s, 2)) add(s, "    add v, v, k%u\n", i);
    if (below(s, 3) == 0) add(s, "    mul v, v, alpha\n");
    if (below(s, 4) == 0) add(s, "    rem t, global, 3\n    ldg u, [table[t]]\n    mul v, v, u\n");
    if (below(s, 4) == 0)
        add(s, "    rem t, row, n\n    ldg u, [%s[t]]\n    sub v, v, u\n", below(s, 2) ? "x" : "y");
}

/* Lanes that only load elements of others, between whole-array instructions: what is read later is
 * worked out once more there, where nothing has written the array and the lanes there do not. */
static void add_loads(source *s) {
    uint32_t k = below(s, LANE_REGISTERS);
    add_step(s);
    add(s, "    rem t, row, n\n    ldg u, [%s[t]]\n    add k%u, u, 0.5\n", readable(s), k);
    s->lanes[k] = true;
    add_step(s);
}

static void add_lanes(source *s) {
    uint32_t label = s->labels++;
    for (uint32_t i = 1 + below(s, 3); i-- > 0;) {
        uint32_t k = below(s, LANE_REGISTERS);
        add_value(s);
        switch (below(s, 5)) {
        case 0: /* some lanes only */
            add(s, "    bra.ge global, half, @skip%u_%u\n    stg [%s[global]], v\nskip%u_%u:\n",
                label, i, writable(s), label, i);
            break;
        case 1:
            add(s,
                "    mov t, 3\nagain%u_%u:\n    mul v, v, 0.5\n    loop.u64 t, @again%u_%u\n    "
                "stg [%s[global]], v\n",
                label, i, label, i, writable(s));
            break;
        default: add(s, "    stg [%s[global]], v\n", writable(s)); break;
        }
        if (below(s, 3) == 0) { /* known from here on: worked out once more where it is read */
            add(s, "    cvt.f32.u64 k%u, global\n    ldg u, [x[global]]\n    mul k%u, k%u, u\n", k,
                k, k);
            s->lanes[k] = true;
        }
    }
}

static void write_program(source *s, uint64_t seed) {
    *s = (source){.random = seed * 77 + 1};
    add(s,
        ".atlas 1\n.program q%u\n"
        ".param x buffer f32 in [n]\n.param y buffer f32 in [n]\n.param z buffer f32 inout "
        "[n]\n.param out buffer f32 out [n]\n"
        ".param n u64\n.param alpha f32\n.data table f32 1.5, -2.0, 0.25\n",
        (unsigned)(seed % 1000));
    add(s, ".scratch a f32 [n]\n.scratch b f32 [n]\n.scratch c f32 [n]\n.lanes n\n"
           ".reg m, less, row, half, t, one u64\n.reg v, u, s0, s1, s2, k0, k1, k2 f32\n"
           "    mov one, 1\n    sub m, n, one\n    add m, m, one\n    sub less, n, 2\n    mul row, "
           "global, 7\n    div half, n, 2\n");
    for (uint32_t i = 2 + below(s, 9); i-- > 0;) {
        uint32_t what = below(s, 10);
        if (what < 5)
            add_step(s);
        else if (what < 7)
            add_loads(s);
        else
            add_lanes(s);
    }
    add(s, "    parallel_map.f32 out, %s, abs, n\n", readable(s));
}

typedef struct scene {
    hg_backend *backend;
    uint64_t refused; /* programs whose lanes read what is no more */
    float in[2][MOST_ELEMENTS], z[MOST_ELEMENTS];
    float out[3][2][MOST_ELEMENTS]; /* of the program, and of its graph twice: out, z */
} scene;
static const char *const PASSES[] = {NULL, "none"};

static hg_status run_graph(hg_backend *b, const hg_program *p, const hg_params *params,
                           const char *passes) {
    hg_graph *g = NULL;
    hg_graph_executable *e = NULL;
    hg_graph_binding *binding = NULL;
    hg_graph_options options = {.size = sizeof options, .passes = passes};
    hg_status status = hg_graph_from_program(p, &g);
    if (status == HG_OK) status = hg_graph_compile(b, g, &options, &e);
    if (status == HG_OK) status = hg_graph_bind(e, params, &binding);
    if (status == HG_OK) status = hg_graph_binding_launch(binding);
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(e);
    hg_graph_release(g);
    return status;
}

static void one_program(scene *s, uint64_t seed) {
    static source text;
    hg_program *p = NULL;
    hg_buffer in[2], z, z_out, out, alpha;
    static const float zeros[MOST_ELEMENTS];
    const float scale = 1.25f;
    write_program(&text, seed);
    const uint64_t most = seed % 4 ? FEW_ELEMENTS : MOST_ELEMENTS; /* one in four: more than the CPU
                                                                      does at a time */
    const uint64_t n = 3 + seed * 3701 % (most - 3), bytes = n * sizeof(float);
    CHECK_OK(hg_program_assemble(text.text, text.length, NULL, &p));
    if (!p) {
        printf("%s", text.text);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        s->in[0][i] = (float)((int)(i * 7 % 23) - 11) * 0.37f;
        s->in[1][i] = (float)((int)(i * 5 % 17) - 8) * 1.91f;
        s->z[i] = (float)((int)(i * 3 % 13) - 6);
    }
    for (uint32_t i = 0; i < 2; i++) in[i] = make_buffer(s->backend, s->in[i], bytes);
    z = make_buffer(s->backend, s->z, bytes);
    z_out = make_buffer(s->backend, s->z, bytes);
    out = make_buffer(s->backend, zeros, bytes);
    alpha = make_buffer(s->backend, &scale, sizeof scale);
    hg_params *graph = hg_params_create(), *program = hg_params_create();
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_OK(hg_params_set_buffer(i ? graph : program, "x", in[0]));
        CHECK_OK(hg_params_set_buffer(i ? graph : program, "y", in[1]));
        CHECK_OK(hg_params_set_buffer(i ? graph : program, "z", z));
        CHECK_OK(hg_params_set_buffer(i ? graph : program, "out", out));
        CHECK_OK(hg_params_set_scalar(i ? graph : program, "n", HG_TYPE_U64, &n));
    }
    CHECK_OK(hg_params_set_buffer(graph, "alpha", alpha));
    CHECK_OK(hg_params_set_scalar(program, "alpha", HG_TYPE_F32, &scale));
    bool changes = strstr(text.text, "[z[global]], v") || strstr(text.text, "f32 z,") ||
                   strstr(text.text, "output=z");
    if (changes) CHECK_OK(hg_params_set_buffer(graph, "z_out", z_out));
    bool refused = false;
    for (uint32_t i = 0; i < 2 && !refused; i++) { /* before the program itself, which changes z */
        hg_status status = run_graph(s->backend, p, graph, PASSES[i]);
        refused = status != HG_OK && strstr(hg_last_error()->message, "cannot be worked out again");
        s->refused += refused;
        if (!refused)
            CHECK_MESSAGE(status == HG_OK, "seed %" PRIu64 ": %s", seed, hg_last_error_text());
        CHECK_OK(hg_buffer_read(s->backend, out, 0, s->out[1 + i][0], bytes));
        CHECK_OK(hg_buffer_read(s->backend, z_out, 0, s->out[1 + i][1], bytes));
    }
    CHECK_OK(hg_buffer_write(s->backend, out, 0, zeros, bytes));
    CHECK_OK(hg_backend_execute_program_with_params(s->backend, p, NULL, program));
    CHECK_OK(hg_buffer_read(s->backend, out, 0, s->out[0][0], bytes));
    CHECK_OK(hg_buffer_read(s->backend, z, 0, s->out[0][1], bytes));
    for (uint32_t i = 1; i < 3 && !refused; i++)
        for (uint32_t k = 0; k < 2; k++)
            CHECK_MESSAGE(memcmp(s->out[0][k], s->out[i][k], bytes) == 0,
                          "seed %" PRIu64 ", passes %s: %s differs\n%s", seed,
                          i == 1 ? "all" : "none", k ? "z" : "out", text.text);
    const hg_buffer all[] = {in[0], in[1], z, z_out, out, alpha};
    for (size_t i = 0; i < HG_COUNT_OF(all); i++)
        CHECK_OK(hg_backend_free_buffer(s->backend, all[i]));
    hg_params_destroy(graph);
    hg_params_destroy(program);
    hg_program_release(p);
}

/* ---- what a graph cannot say ---- */

#define HEAD                                                                                   \
    ".atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n " \
    "u64\n"
#define LANES ".lanes n\n.reg v f32\n.reg i u64\n"
static const struct {
    const char *text, *expected;
} REFUSED[] = {
    {HEAD LANES "mov i, 3\nagain:\n parallel_map.f32 y, x, abs, n\n loop.u64 i, @again\n",
     "p, line 11: parallel_map: it is in a loop, in a function, behind a branch, or never reached"},
    {HEAD LANES "call @f\n exit\nf:\n parallel_map.f32 y, x, abs, n\n ret\n",
     "it is in a loop, in a function"},
    {HEAD LANES "call @f\n parallel_map.f32 y, x, abs, n\n exit\nf:\n ldg v, [x[global]]\n ret\n",
     "p: it calls functions"},
    {".atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out\n.param n u64\n "
     "parallel_map.f32 y, x, abs, n\n",
     "p: y has no extents"},
    {".atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n "
     "u64\n.reg v f32\n ldg v, [x[global]]\n stg "
     "[y[global]], v\n",
     "the program does not say how many lanes it has"},
    {HEAD ".reg m u64\n.param c buffer u64 in [n]\n parallel_reduce.u64 m, c, max, n\n "
          "parallel_map.f32 y, x, abs, m\n",
     "p, line 9: parallel_map: count is not known before the program runs"},
    {HEAD LANES "ldg v, [y[global]]\n stg [y[global]], v\n parallel_map.f32 y, y, abs, n\n",
     ""}, /* what it reads of its own is zeros */
    {HEAD " parallel_map.f32 [y + 4], x, abs, n\n",
     "p, line 6: parallel_map: it writes behind the first element of y"},
    {HEAD ".scratch a f32 [n]\n.lanes n\n.reg v f32\n ldg v, [a[global]]\n parallel_map.f32 a, x, "
          "abs, n\n stg [y[global]], v\n",
     "p, line 9: ldg: r4 is read behind whole-array instructions, and cannot be worked out again "
     "there"},
    {HEAD LANES " mov v, 1.0\n mov i, 2\nagain:\n mul v, v, 2.0\n loop.u64 i, @again\n "
                "parallel_map.f32 y, x, abs, n\n stg [y[global]], v\n",
     "is set in a loop or behind a branch, and read behind whole-array instructions"},
    {HEAD " parallel_map.f32 y, y, abs, n\n", "p: y is read before it is written"},
    {HEAD "", "p: y is never written"},
    {".atlas 1\n.program p\n.param q pool 64\n pool.free q\n",
     "p: q is a pool, which a graph has none of"},
    {HEAD ".shared 64\n" LANES " sts [shared + 0], n\n parallel_map.f32 y, x, abs, n\n lds i, "
          "[shared + 0]\n cvt.f32.u64 v, i\n stg [y[global]], v\n",
     "shared memory is used on both sides of a whole-array instruction"},
    {HEAD ".private 64\n" LANES " stp [private + 0], n\n parallel_map.f32 y, x, abs, n\n ldp i, "
          "[private + 0]\n cvt.f32.u64 v, i\n stg [y[global]], v\n",
     "private memory is used on both sides of a whole-array instruction"},
};

static void refusals(void) {
    for (size_t i = 0; i < HG_COUNT_OF(REFUSED); i++) {
        hg_program *p = NULL;
        hg_graph *g = NULL;
        CHECK_OK(hg_program_assemble(REFUSED[i].text, strlen(REFUSED[i].text), NULL, &p));
        if (!p) continue;
        hg_status status = hg_graph_from_program(p, &g);
        bool right = *REFUSED[i].expected
                         ? status == HG_ERROR_INVALID_ARGUMENT && g == NULL &&
                               strstr(hg_last_error()->message, REFUSED[i].expected)
                         : status == HG_OK;
        CHECK_MESSAGE(right, "case %zu: expected \"%s\", got %s", i, REFUSED[i].expected,
                      status == HG_OK ? "success" : hg_last_error_text());
        hg_graph_release(g);
        hg_program_release(p);
    }
}

/* A program that nobody has verified: an extent names a parameter that is not there. */
static void unverified(void) {
    static const char text[] = HEAD " parallel_map.f32 y, x, abs, n\n";
    hg_program *p = NULL;
    hg_graph *g = NULL, *other = hg_graph_create(NULL);
    hg_graph_made made = {0};
    CHECK_OK(hg_program_assemble(text, sizeof text - 1, NULL, &p));
    p->params[1].dims[0].param = 999;
    CHECK_STATUS(hg_graph_from_program(p, &g), HG_ERROR_ISA);
    CHECK_STATUS(hg_graph_call_program(other, p, NULL, 0, &made, 1), HG_ERROR_ISA);
    hg_graph_release(other);
    hg_program_release(p);
}

/* ---- memory ---- */

static void failing_allocations(void) {
    static source text;
    bool done = false;
    for (uint64_t seed = 1; seed < 4; seed++) {
        hg_program *p = NULL;
        write_program(&text, seed);
        CHECK_OK(hg_program_assemble(text.text, text.length, NULL, &p));
        for (uint64_t n = 1; n < 20000 && !done && test_failed < 20; n++) {
            hg_graph *g = NULL;
            uint64_t before = memory.live;
            memory.allocations = 0;
            memory.fail_at = n;
            hg_status status = hg_graph_from_program(p, &g);
            done = memory.allocations < n;
            memory.fail_at = 0;
            CHECK_MESSAGE(status == HG_OK || (status == HG_ERROR_OUT_OF_MEMORY && !g),
                          "allocation %" PRIu64 ": %s", n, hg_last_error_text());
            hg_graph_release(g);
            CHECK_MESSAGE(memory.live == before,
                          "allocation %" PRIu64 ": %" PRIu64 " blocks before, %" PRIu64 " after", n,
                          before, memory.live);
        }
        CHECK(done);
        done = false;
        hg_program_release(p);
    }
}

int main(int argc, char **argv) {
    scene *s = calloc(1, sizeof *s);
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    uint64_t count = argc > 2   ? strtoull(argv[2], NULL, 10)
                     : argc > 1 ? 10
                                : rounds_here(120, 20),
             first = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (!s) return 1;
    CHECK_OK(hg_set_allocator(&hooks));
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "%s", argc > 1 ? argv[1] : "cpu");
    memcpy(config.jit, "off", 4);
    if (hg_backend_create_with_config(&config, &s->backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return test_done();
    }
    for (uint64_t i = 0; i < count && test_failed < 5; i++) one_program(s, first + i);
    printf("%" PRIu64 " random programs, %" PRIu64 " of them no graphs\n", count, s->refused);
    CHECK(s->refused <= count / 2);
    unverified();
    refusals();
    failing_allocations();
    hg_backend_destroy(s->backend);
    free(s);
    return test_done();
}
