/* Random array graphs: with all passes, with each pass alone and with passes in random order the
 * outputs are those of the calls one by one, bit for bit.
 *
 *     graphs [--seed N] [--count N] [--calls N] [--backend B] [--jit on|off|auto] [--build
 * COMPILER] [--show]
 *
 * --build: and those of the C text of `hologram build`, compiled by COMPILER. Two NaNs are equal. A
 * graph that fails is printed with the command that makes it again. */
/* test: timeout=600 */
#include "graph/build.h"
#include "graph/generate.h"
#include "graph/graph.h"
#include "runtime/graph.h"
#include "support/c_build.h"
#include "support/native_told.h"
#include "test.h"
#include <stdlib.h>

typedef struct tester {
    hg_backend *backend;
    generated_graph graph;
    hg_graph *built;
    hg_params *params;
    hg_buffer buffers[GENERATE_MOST_ARRAYS];
    uint8_t *expected[GENERATE_MOST_ARRAYS];
    uint64_t seed, state;
    uint32_t calls;
    const char *backend_name;
    bool builds, failed;
    bool too_large; /* a kernel of it has more operations than the device's compiler takes */
    uint32_t built_count, none_count, given_count; /* given: constants whose elements stand with
                                                      their graph */
} tester;

static void complain(tester *t, const char *what, const char *passes) {
    t->failed = true;
    fprintf(stderr,
            "%s with passes %s (%s)\nrun again with: graphs --backend %s --calls %u --seed %llu "
            "--count 1\n%s\n",
            what, passes ? passes : "all", hg_last_error_text(), t->backend_name,
            (unsigned)t->calls, (unsigned long long)t->seed, t->graph.text);
}

/* Half of the constants of known shape have their elements with the graph, so that calls of them
 * are done when it is compiled. */
static bool give_elements(tester *t, const generated_array *a, const uint8_t *bytes) {
    uint64_t elements;
    uint32_t number = graph_find_value(t->built, a->name, strlen(a->name));
    graph_value *v = number == GRAPH_NOT_SET ? NULL : &t->built->values.data[number];
    bool can = !t->builds && !a->output && v && v->source == GRAPH_CONSTANT &&
               graph_is_number(t->built, v->elements, &elements);
    if (!can || generate_random(&t->state) % 2) return false;
    v->bytes = bytes;
    t->given_count++;
    return true;
}

static bool make_arrays(tester *t) {
    t->params = hg_params_create();
    for (uint32_t i = 0; i < t->graph.symbol_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", (unsigned)i);
        if (hg_params_set_scalar(t->params, name, HG_TYPE_U64, &t->graph.symbols[i]) != HG_OK)
            return false;
    }
    for (uint32_t i = 0; i < t->graph.array_count; i++) {
        const generated_array *a = &t->graph.arrays[i];
        uint8_t *bytes = calloc(1, (size_t)generated_bytes(a) + 1);
        uint64_t more = generate_random(&t->state) % 4 ? 0 : 64; /* buffers may be larger than their
                                                                    values */
        bool done = hg_backend_allocate_buffer(t->backend, generated_bytes(a) + more,
                                               &t->buffers[i]) == HG_OK;
        if (!a->output) generate_elements(&t->state, a, bytes);
        if (done)
            done = hg_buffer_write(t->backend, t->buffers[i], 0, bytes, generated_bytes(a)) ==
                   HG_OK;
        t->expected[i] = bytes;
        if (done && !give_elements(t, a, bytes))
            done = hg_params_set_buffer(t->params, a->name, t->buffers[i]) == HG_OK;
        if (!done) return false;
    }
    return true;
}

static void free_arrays(tester *t) {
    for (uint32_t i = 0; i < t->graph.array_count; i++) {
        if (t->buffers[i].handle) (void)!hg_backend_free_buffer(t->backend, t->buffers[i]);
        free(t->expected[i]);
        t->buffers[i].handle = 0;
        t->expected[i] = NULL;
    }
    hg_params_destroy(t->params);
    t->params = NULL;
}

/* Noise, so that what a launch does not write shows. */
static bool spoil_outputs(tester *t) {
    for (uint32_t i = 0; i < t->graph.array_count; i++) {
        const generated_array *a = &t->graph.arrays[i];
        if (!a->output) continue;
        uint8_t *noise = malloc((size_t)generated_bytes(a) + 1);
        memset(noise, 0xA5, (size_t)generated_bytes(a));
        hg_status status = hg_buffer_write(t->backend, t->buffers[i], 0, noise, generated_bytes(a));
        free(noise);
        if (status != HG_OK) return false;
    }
    return true;
}

static void compare(tester *t, const char *passes, bool reference) {
    for (uint32_t i = 0; i < t->graph.array_count && !t->failed; i++) {
        const generated_array *a = &t->graph.arrays[i];
        if (!a->output) continue;
        uint8_t *bytes = malloc((size_t)generated_bytes(a) + 1);
        if (hg_buffer_read(t->backend, t->buffers[i], 0, bytes, generated_bytes(a)) != HG_OK)
            complain(t, "an output could not be read", passes);
        if (reference)
            memcpy(t->expected[i], bytes, (size_t)generated_bytes(a));
        else if (!generated_equal(a->type, bytes, t->expected[i], a->elements))
            complain(t, a->name, passes);
        else
            test_passed++;
        free(bytes);
    }
}

/* More than once with one binding, and with all passes so often that maps are done by what is
 * before or behind them: what a launch leaves in the workspace must not show in the next. spoils:
 * nor what lies in memory that no value has. */
static void run(tester *t, const char *passes, bool reference, bool spoils) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_graph_options options = {.size = sizeof options, .passes = passes};
    bool done = hg_graph_compile(t->backend, t->built, &options, &executable) == HG_OK &&
                hg_graph_bind(executable, t->params, &binding) == HG_OK;
    if (!done) complain(t, "it could not be bound", passes);
    if (done && spoils) hg_graph_binding_spoil(binding);
    for (uint32_t i = 0; i < (passes ? 2u : 4u) && !t->failed; i++) {
        bool launched = spoil_outputs(t) && hg_graph_binding_launch(binding) == HG_OK;
        t->too_large = !launched && reference &&
                       strstr(hg_last_error()->message, "this device's compiler takes");
        if (t->too_large) break;
        if (!launched)
            complain(t, "it could not be launched", passes);
        else
            compare(t, passes, reference && i == 0);
    }
    hg_graph_memory_info info = {.size = sizeof info};
    if (binding && (hg_graph_binding_memory(binding, &info) != HG_OK ||
                    info.workspace_bytes < info.least_bytes))
        complain(t, "a workspace smaller than what lives at once", passes);
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
}

/* What is printed is read back as the same graph. */
static void check_text(tester *t) {
    char *text = NULL, *again = NULL;
    hg_graph *copy = NULL;
    hg_graph_read_options options = {.size = sizeof options, .program = generated_program};
    if (hg_graph_print(t->built, &text, NULL) != HG_OK ||
        hg_graph_read_text(text, strlen(text), &options, NULL, &copy) != HG_OK ||
        hg_graph_print(copy, &again, NULL) != HG_OK)
        complain(t, "its printed form is not read", "-");
    else if (strcmp(text, again) != 0)
        complain(t, "its printed form changes", "-");
    else
        test_passed++;
    if (t->failed && text) fprintf(stderr, "printed:\n%s\nagain:\n%s\n", text, again ? again : "");
    hg_string_free(text);
    hg_string_free(again);
    hg_graph_release(copy);
}

/* As C text. */
static void run_built(tester *t) {
    uint8_t *arrays[GENERATE_MOST_ARRAYS];
    char why[256];
    for (uint32_t i = 0; i < t->graph.array_count; i++) {
        const generated_array *a = &t->graph.arrays[i];
        arrays[i] = a->output ? malloc((size_t)generated_bytes(a) + 1) : t->expected[i];
        if (a->output) memset(arrays[i], 0xA5, (size_t)generated_bytes(a) + 1);
    }
    built_graph_outcome outcome = built_graph_run(t->built, &t->graph, arrays, why);
    t->built_count += outcome == BUILT_GRAPH_RAN;
    t->none_count += outcome == BUILT_GRAPH_HAS_NONE;
    if (outcome == BUILT_GRAPH_HAS_NONE) printf("not built: %s\n", why);
    if (outcome == BUILT_GRAPH_FAILED) complain(t, why, "of C text");
    for (uint32_t i = 0; i < t->graph.array_count; i++) {
        const generated_array *a = &t->graph.arrays[i];
        if (!a->output) continue;
        if (outcome == BUILT_GRAPH_RAN &&
            !generated_equal(a->type, arrays[i], t->expected[i], a->elements))
            complain(t, a->name, "of C text");
        else
            test_passed++;
        free(arrays[i]);
    }
}

/* Those that change the graph in any order, some more than once; then some of those that give
 * memory, in theirs. */
static void random_passes(tester *t, char names[200]) {
    size_t length = 0;
    uint32_t changing = 0, all = 0;
    for (; hg_graph_pass_name(all); all++)
        if (strcmp(hg_graph_pass_name(all), "constants") == 0) changing = all;
    uint64_t set = generate_random(&t->state);
    names[0] = 0;
    for (uint32_t i = 0; i < set % 9; i++)
        length += (size_t)snprintf(
            names + length, 200 - length, "%s,",
            hg_graph_pass_name((uint32_t)(generate_random(&t->state) % changing)));
    for (uint32_t i = changing; i < all; i++)
        if (set >> (8 + i) & 1)
            length += (size_t)snprintf(names + length, 200 - length, "%s,", hg_graph_pass_name(i));
}

static void check_passes(tester *t, bool thorough) {
    char names[200];
    run(t, NULL, false, true);
    if (!t->failed && t->builds) run_built(t);
    for (uint32_t i = 0; hg_graph_pass_name(i) && thorough && !t->failed; i++)
        run(t, hg_graph_pass_name(i), false, false);
    for (uint32_t i = 0; i < (thorough ? 3 : 1) && !t->failed; i++) {
        random_passes(t, names);
        run(t, names, false, true);
    }
}

static void check_one(tester *t, bool thorough) {
    hg_graph_read_options options = {.size = sizeof options, .program = generated_program};
    generate_graph(t->seed, t->calls, &t->graph);
    t->state = t->seed;
    t->failed = t->too_large = false;
    t->built = NULL;
    hg_diagnostics *d = hg_diagnostics_create(3);
    if (hg_graph_read_text(t->graph.text, strlen(t->graph.text), &options, d, &t->built) != HG_OK)
        complain(t, "it could not be read", "-");
    hg_diagnostics_destroy(d);
    if (!t->failed && !make_arrays(t)) complain(t, "its arrays could not be made", "-");
    if (!t->failed) check_text(t);
    if (!t->failed) run(t, "none", true, false);
    if (t->too_large)
        SKIP(hg_last_error_text());
    else if (!t->failed)
        check_passes(t, thorough);
    if (t->failed) test_failed++;
    free_arrays(t);
    hg_graph_release(t->built);
    generated_graph_free(&t->graph);
}

int main(int argc, char **argv) {
    tester *t = calloc(1, sizeof *t);
    uint64_t seed = 1, count = 200;
    const char *jit = "off", *compiler = NULL;
    char reason[256];
    bool show = false;
    if (!t) return 1;
    t->backend_name = "cpu";
    t->calls = 60;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--show") == 0) show = true;
        if (i + 1 == argc) continue;
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--count") == 0) count = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--calls") == 0) t->calls = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--backend") == 0) t->backend_name = argv[i + 1];
        if (strcmp(argv[i], "--jit") == 0) jit = argv[i + 1];
        if (strcmp(argv[i], "--build") == 0) compiler = argv[i + 1];
    }
    if (compiler && !c_build_use(compiler, reason)) {
        SKIP(reason);
        return test_done();
    }
    t->builds = compiler != NULL;
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "%s", t->backend_name);
    config.timeout_ms = 0; /* a driver's compiler may take long */
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    snprintf(config.vendor, sizeof config.vendor, "off"); /* a vendor's library may give other bits
                                                             for an array at another place */
    if (hg_backend_create_with_config(&config, &t->backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return test_done();
    }
    CHECK(native_listen(t->backend) == HG_OK);
    for (uint64_t i = 0; i < count && test_failed < 5; i++) {
        t->seed = seed + i;
        if (show) {
            generate_graph(t->seed, t->calls, &t->graph);
            printf("%s\n", t->graph.text);
            generated_graph_free(&t->graph);
        }
        check_one(t, i % 8 == 0);
    }
    hg_backend_destroy(t->backend);
    if (strcmp(jit, "on") == 0) native_told(false);
    if (t->builds)
        printf("built: %u graphs, not built: %u\n", (unsigned)t->built_count,
               (unsigned)t->none_count);
    printf("%llu graphs of up to %u calls on %s, %u constants with elements\n",
           (unsigned long long)count, (unsigned)t->calls, t->backend_name,
           (unsigned)t->given_count);
    free(t);
    return test_done();
}
