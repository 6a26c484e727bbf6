/* Random array graphs as one StableHLO module each, against the CPU backend: outputs that only
 * exact calls lead to have its bits, others are near it.
 *
 *     tpu_graphs [--backend B | --read] [--seed N] [--count N] [--calls N] [--show]
 *
 * Numbers below 2^-126 (2^-1022) count as 0, since a plugin may take them for 0; NaNs are equal.
 * Outputs behind a call that makes little differences large (a sort of numbers that are only near,
 * a rounding) are not compared. --read: the module is not given to a device, but read back
 * (hg_graph_read_stablehlo), once as it was printed, which gives the graph itself, with the same
 * hash, and once by its operations alone, whose graph runs on the CPU. A graph that fails is
 * printed with the command that makes it again.
 */
/* test: timeout=600 */
#include "graph/generate.h"
#include "graph/graph.h"
#include "runtime/graph.h"
#include <hologram/stablehlo.h>
#include "stablehlo/call.h"
#include "stablehlo/graph.h"
#include "test.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef enum closeness { EXACT, NEAR, OPEN } closeness; /* of a value */

typedef struct tester {
    hg_backend *device, *cpu;
    generated_graph generated;
    hg_graph *graph;
    uint8_t *bytes[GENERATE_MOST_ARRAYS], *expected[GENERATE_MOST_ARRAYS],
        *found[GENERATE_MOST_ARRAYS];
    closeness *of;
    uint64_t seed, state;
    uint32_t calls, modules, refused, exact, near, open, same;
    const char *name;
    bool failed, show, reads;
} tester;

static void complain(tester *t, const char *what, const char *why) {
    t->failed = true;
    test_failed++;
    fprintf(stderr,
            "%s: %s\nrun again with: tpu_graphs %s%s --calls %u --seed %llu --count 1\n%s\n", what,
            why, t->reads ? "" : "--backend ", t->name, (unsigned)t->calls,
            (unsigned long long)t->seed, t->generated.text);
}

/* ---- arrays ---- */

static void make_arrays(tester *t) {
    for (uint32_t i = 0; i < t->generated.array_count; i++) {
        const generated_array *a = &t->generated.arrays[i];
        t->bytes[i] = calloc(1, (size_t)generated_bytes(a) + 1);
        t->expected[i] = calloc(1, (size_t)generated_bytes(a) + 1);
        t->found[i] = calloc(1, (size_t)generated_bytes(a) + 1);
        if (!t->bytes[i] || !t->expected[i] || !t->found[i]) exit(1);
        if (!a->output) generate_elements(&t->state, a, t->bytes[i]);
    }
}

static void free_arrays(tester *t) {
    for (uint32_t i = 0; i < t->generated.array_count; i++) {
        free(t->bytes[i]);
        free(t->expected[i]);
        free(t->found[i]);
    }
}

/* ---- runs ---- */

static hg_status set_all(tester *t, hg_backend *b, hg_params *params, hg_buffer *buffers) {
    for (uint32_t i = 0; i < t->generated.symbol_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", (unsigned)i);
        HG_TRY(hg_params_set_scalar(params, name, HG_TYPE_U64, &t->generated.symbols[i]));
    }
    for (uint32_t i = 0; i < t->generated.array_count; i++) {
        const generated_array *a = &t->generated.arrays[i];
        HG_TRY(hg_backend_allocate_buffer(b, generated_bytes(a), &buffers[i]));
        HG_TRY(hg_buffer_write(b, buffers[i], 0, t->bytes[i], generated_bytes(a)));
        HG_TRY(hg_params_set_buffer(params, a->name, buffers[i]));
    }
    return HG_OK;
}

static hg_status launch(tester *t, hg_backend *b, const hg_params *params, const char *passes) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_graph_options options = {.size = sizeof options, .passes = passes};
    hg_status status = hg_graph_compile(b, t->graph, &options, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, params, &binding);
    for (int i = 0; i < 2 && status == HG_OK; i++) status = hg_graph_binding_launch(binding);
    if (status == HG_OK && b == t->device) t->modules += hg_graph_binding_module_runs(binding) == 2;
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    return status;
}

static bool run(tester *t, hg_backend *b, const char *passes, uint8_t **results) {
    hg_buffer buffers[GENERATE_MOST_ARRAYS] = {{0}};
    hg_params *params = hg_params_create();
    hg_status status = set_all(t, b, params, buffers);
    if (status == HG_OK) status = launch(t, b, params, passes);
    for (uint32_t i = 0; i < t->generated.array_count; i++) {
        const generated_array *a = &t->generated.arrays[i];
        if (status == HG_OK && a->output)
            status = hg_buffer_read(b, buffers[i], 0, results[i], generated_bytes(a));
    }
    if (status != HG_OK) complain(t, b == t->cpu ? "cpu" : t->name, hg_last_error_text());
    for (uint32_t i = 0; i < t->generated.array_count; i++)
        if (buffers[i].handle) (void)!hg_backend_free_buffer(b, buffers[i]);
    hg_params_destroy(params);
    return status == HG_OK;
}

/* ---- read back ---- */

static uint32_t array_named(const tester *t, const char *name) {
    uint32_t i = 0;
    while (i < t->generated.array_count && strcmp(t->generated.arrays[i].name, name) != 0) i++;
    return i;
}

/* Arguments are the values that the module takes, in order, results the graph's outputs; behind
 * these there may be the flag. */
static hg_status bind_read(tester *t, const hg_graph *read, hg_buffer *buffers, hg_params *params) {
    char name[16];
    uint32_t next = 0;
    const shlo_form form = {.driver = false};
    for (uint32_t v = 0; v < t->graph->values.count; v++) {
        if (!shlo_takes(t->graph, &form, v)) continue;
        snprintf(name, sizeof name, "arg%u", (unsigned)next++);
        HG_TRY(hg_params_set_buffer(params, name,
                                    buffers[array_named(t, t->graph->values.data[v].name)]));
    }
    for (uint64_t k = 0; k < read->outputs.count; k++)
        HG_TRY(hg_params_set_buffer(
            params, read->outputs.data[k].name,
            buffers[k < t->graph->outputs.count ? array_named(t, t->graph->outputs.data[k].name)
                                                : t->generated.array_count]));
    return HG_OK;
}

/* The graph with a number for each symbol and without programs, by way of the text that it was read
 * from. */
static hg_graph *with_numbers(tester *t) {
    hg_graph_read_options options = {.size = sizeof options, .program = generated_program};
    const char *c = t->generated.text;
    hg_text text = {0};
    hg_graph *g = NULL;
    while (*c) {
        size_t n = strspn(c, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        if (strncmp(c, ".extent ", 8) == 0 || strncmp(c, ".program ", 9) == 0) {
            c += strcspn(c, "\n") + 1;
        } else if (n == 2 && *c == 'n' && (uint32_t)(c[1] - '0') < t->generated.symbol_count) {
            hg_text_addf(&text, "%llu", (unsigned long long)t->generated.symbols[c[1] - '0']);
            c += n;
        } else {
            n = n ? n : 1;
            hg_text_add(&text, c, n);
            c += n;
        }
    }
    if (hg_graph_read_text(text.data, text.length, &options, NULL, &g) != HG_OK)
        complain(t, "with numbers", hg_last_error_text());
    hg_text_free(&text);
    return g;
}

static void hash_graph(const hg_graph *g, uint8_t key[32]) {
    char *text = NULL;
    size_t length = 0;
    hg_blake3 h;
    if (hg_graph_print(g, &text, &length) != HG_OK) exit(1);
    hg_blake3_init(&h);
    hg_blake3_update(&h, text, length);
    hg_blake3_final(&h, key);
    hg_string_free(text);
}

/* What was printed is read as the graph that it was; a text that was changed by its operations. */
static void check_origin(tester *t, const hg_text *text) {
    uint8_t wanted[32], found[32];
    hg_graph *own = with_numbers(t), *read = NULL, *changed = NULL;
    char *copy = malloc((size_t)text->length + 1);
    if (!copy) exit(1);
    memcpy(copy, text->data, (size_t)text->length + 1);
    copy[text->length - 1] = ' '; /* the last end of a line */
    hg_status status = hg_graph_read_stablehlo(text->data, text->length, NULL, &read);
    if (status == HG_OK) status = hg_graph_read_stablehlo(copy, text->length, NULL, &changed);
    if (status != HG_OK) complain(t, "read back", hg_last_error_text());
    if (status == HG_OK && own) {
        hash_graph(own, wanted);
        hash_graph(read, found);
        if (memcmp(wanted, found, sizeof found) != 0)
            complain(t, "read back", "the graph has another hash");
        hash_graph(changed, found);
        if (memcmp(wanted, found, sizeof found) == 0)
            complain(t, "changed", "a text that was changed is read as the graph that it was");
        t->same++;
        test_passed++;
    }
    hg_graph_release(own);
    hg_graph_release(read);
    hg_graph_release(changed);
    free(copy);
}

static bool run_read(tester *t, const uint64_t *extents) {
    hg_buffer buffers[GENERATE_MOST_ARRAYS + 1] = {{0}};
    hg_graph *read = NULL, *own = t->graph;
    hg_text text = {0};
    hg_params *all = hg_params_create(), *params = hg_params_create();
    hg_status status = shlo_print_graph(own, extents, &(shlo_form){.driver = false}, &text);
    const char *module = status == HG_OK ? strstr(text.data, "\nmodule ") : NULL;
    if (status == HG_OK) check_origin(t, &text);
    if (status == HG_OK) status = hg_graph_read_stablehlo(module, strlen(module), NULL, &read);
    if (status == HG_OK) status = set_all(t, t->cpu, all, buffers);
    if (status == HG_OK)
        status = hg_backend_allocate_buffer(t->cpu, 64, &buffers[t->generated.array_count]);
    if (status == HG_OK) status = bind_read(t, read, buffers, params);
    t->graph = read;
    if (status == HG_OK) status = launch(t, t->cpu, params, NULL);
    t->graph = own;
    for (uint32_t i = 0; i < t->generated.array_count; i++)
        if (status == HG_OK && t->generated.arrays[i].output)
            status = hg_buffer_read(t->cpu, buffers[i], 0, t->found[i],
                                    generated_bytes(&t->generated.arrays[i]));
    if (status != HG_OK) complain(t, "read back", hg_last_error_text());
    if (status != HG_OK && t->show) printf("%s\n", text.data ? text.data : "");
    for (uint32_t i = 0; i <= t->generated.array_count; i++)
        if (buffers[i].handle) (void)!hg_backend_free_buffer(t->cpu, buffers[i]);
    t->modules += status == HG_OK;
    hg_graph_release(read);
    hg_params_destroy(all);
    hg_params_destroy(params);
    hg_text_free(&text);
    return status == HG_OK;
}

/* ---- how near ---- */

/* What makes of near numbers ones that are not. */
static bool is_rough(const plan_call *call) {
    switch (call->op) {
    case HG_OP_SORT:
    case HG_OP_TOP_K:
    case HG_OP_ARG_MAX:
    case HG_OP_ARG_MIN:
    case HG_OP_MAX_POOL:
    case HG_OP_QUANTIZED_GEMM: return true;
    default: break;
    }
    switch (call->fn) {
    case HG_OP_FLOOR:
    case HG_OP_CEIL:
    case HG_OP_ROUND:
    case HG_OP_RCP:
    case HG_OP_DIV:
    case HG_OP_LOG:
    case HG_OP_SQRT:
    case HG_OP_POW:
    case HG_OP_TAN:
    case HG_OP_ATAN2: return true;
    default: return hg_type_is_integer((hg_type)call->type);
    }
}

static closeness of_value(const tester *t, uint32_t value) {
    return t->of[graph_base(t->graph, value)];
}

static void follow(tester *t, const uint64_t *extents) {
    const hg_graph *g = t->graph;
    graph_sized_call *s = malloc(sizeof *s);
    t->of = calloc((size_t)g->values.count + 1, sizeof *t->of);
    if (!s || !t->of) exit(1);
    for (uint64_t i = 0; i < g->calls.count; i++) {
        const graph_call *call = &g->calls.data[i];
        closeness worst = EXACT;
        for (uint32_t k = 0; k < call->operand_count; k++) {
            const graph_operand *o = &g->operands.data[call->first_operand + k];
            if (o->kind == GRAPH_ARRAY && of_value(t, o->number) > worst)
                worst = of_value(t, o->number);
        }
        if (!call->program) {
            graph_size_call(g, call, extents, s);
            if (worst == NEAR && is_rough(&s->call)) worst = OPEN;
            if (worst == EXACT && !shlo_is_exact(&s->call)) worst = NEAR;
        } else if (worst == NEAR) {
            worst = OPEN;
        }
        for (uint32_t k = 0; k < call->result_count; k++)
            t->of[g->results.data[call->first_result + k].value] = worst;
    }
    free(s);
}

static double number_of(hg_type type, const uint8_t *bytes) {
    double x = 0;
    int64_t n;
    if (type == HG_TYPE_I64 || type == HG_TYPE_U64) {
        memcpy(&n, bytes, sizeof n);
        return (double)n;
    }
    return hg_type_to_f64(type, bytes, &x) == HG_OK ? x : 0;
}

static bool is_small(hg_type type, double x) {
    return fabs(x) < (type == HG_TYPE_F64 ? DBL_MIN : FLT_MIN);
}

/* scale: the largest number of the array. */
static bool agree(hg_type type, closeness how, const uint8_t *x, const uint8_t *y, double scale) {
    uint64_t size = hg_type_size_bytes(type);
    if (memcmp(x, y, (size_t)size) == 0) return true;
    if (!hg_type_is_float(type)) return false;
    double a = number_of(type, x), b = number_of(type, y);
    if (a != a && b != b) return true;
    if (a == 0 && b == 0) return how != EXACT; /* with different signs */
    if (a == b || (is_small(type, a) && is_small(type, b))) return true;
    if (how == EXACT) return false;
    double least = type == HG_TYPE_F64   ? 1e-10
                   : type == HG_TYPE_F32 ? 1e-4
                   : type == HG_TYPE_F16 ? 1e-2
                                         : 6e-2;
    return fabs(a - b) <= least * (fabs(b) + scale);
}

static void compare(tester *t, uint32_t i, closeness how) {
    const generated_array *a = &t->generated.arrays[i];
    uint64_t size = hg_type_size_bytes(a->type);
    double scale = 1;
    char why[160];
    for (uint64_t k = 0; k < a->elements && hg_type_is_float(a->type); k++) {
        double x = fabs(number_of(a->type, t->expected[i] + k * size));
        if (x > scale && x < 1e30) scale = x;
    }
    for (uint64_t k = 0; k < a->elements && !t->failed; k++) {
        const uint8_t *x = t->found[i] + k * size, *y = t->expected[i] + k * size;
        if (agree(a->type, how, x, y, scale)) continue;
        snprintf(why, sizeof why, "element %llu is %.9g, %.9g expected (%s)", (unsigned long long)k,
                 number_of(a->type, x), number_of(a->type, y), how == EXACT ? "exactly" : "nearly");
        complain(t, a->name, why);
    }
    if (!t->failed) test_passed++;
}

static void compare_all(tester *t) {
    for (uint64_t i = 0; i < t->graph->outputs.count && !t->failed; i++) {
        const graph_output *o = &t->graph->outputs.data[i];
        closeness how = of_value(t, o->value);
        t->exact += how == EXACT;
        t->near += how == NEAR;
        t->open += how == OPEN;
        for (uint32_t k = 0; k < t->generated.array_count && how != OPEN; k++)
            if (t->generated.arrays[k].output && strcmp(t->generated.arrays[k].name, o->name) == 0)
                compare(t, k, how);
    }
}

/* ---- graphs ---- */

static void check_one(tester *t) {
    hg_graph_read_options options = {.size = sizeof options, .program = generated_program};
    hg_text text = {0};
    generate_graph(t->seed, t->calls, &t->generated);
    t->state = t->seed;
    t->failed = false;
    t->graph = NULL;
    if (hg_graph_read_text(t->generated.text, strlen(t->generated.text), &options, NULL,
                           &t->graph) != HG_OK) {
        complain(t, "it could not be read", hg_last_error_text());
        generated_graph_free(&t->generated);
        return;
    }
    uint64_t *extents = malloc((size_t)(t->graph->terms.count + 1) * sizeof *extents);
    if (!extents) exit(1);
    graph_extent_values(t->graph, t->generated.symbols, extents);
    uint32_t before = t->modules;
    if (shlo_print_graph(t->graph, extents, &(shlo_form){.driver = true}, &text) != HG_OK) {
        t->refused++;
        if (t->show) printf("%llu: %s\n", (unsigned long long)t->seed, hg_last_error_text());
    } else {
        make_arrays(t);
        follow(t, extents);
        if (run(t, t->cpu, "none", t->expected) &&
            (t->reads ? run_read(t, extents) : run(t, t->device, NULL, t->found))) {
            if (t->modules == before) complain(t, "no module", "the plugin took no text of it");
            compare_all(t);
        }
        free_arrays(t);
        free(t->of);
    }
    hg_text_free(&text);
    free(extents);
    hg_graph_release(t->graph);
    generated_graph_free(&t->generated);
}

static hg_status open_backend(const char *name, hg_backend **backend) {
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "%s", name);
    snprintf(config.jit, sizeof config.jit, "off");
    snprintf(config.vendor, sizeof config.vendor, "off");
    config.timeout_ms = 0; /* a driver's compiler may take long */
    return hg_backend_create_with_config(&config, backend);
}

int main(int argc, char **argv) {
    tester *t = calloc(1, sizeof *t);
    uint64_t seed = 1, count = 60;
    if (!t) return 1;
    t->name = "tpu";
    t->calls = 5;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--show") == 0) t->show = true;
        if (strcmp(argv[i], "--read") == 0) t->reads = true;
        if (i + 1 == argc) continue;
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--count") == 0) count = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--calls") == 0) t->calls = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--backend") == 0) t->name = argv[i + 1];
    }
    if (t->reads) t->name = "--read";
    if (open_backend("cpu", &t->cpu) != HG_OK ||
        (!t->reads && open_backend(t->name, &t->device) != HG_OK)) {
        SKIP(hg_last_error_text());
        hg_backend_destroy(t->cpu);
        free(t);
        return test_done();
    }
    for (t->seed = seed; t->modules < count && t->seed < seed + 20 * count && test_failed < 5;
         t->seed++)
        check_one(t);
    printf("%u graphs of up to %u calls as modules on %s, %u refused; outputs: %u exact, %u near, "
           "%u not compared\n",
           (unsigned)t->modules, (unsigned)t->calls, t->name, (unsigned)t->refused,
           (unsigned)t->exact, (unsigned)t->near, (unsigned)t->open);
    if (t->reads) printf("%u read back with the hash that they had\n", (unsigned)t->same);
    CHECK(t->modules >= count || test_failed);
    hg_backend_destroy(t->device);
    hg_backend_destroy(t->cpu);
    free(t);
    return test_done();
}
