/* StableHLO's text: functions as JAX lowers them, run and compared with what JAX made of the same
 * inputs (tests/hlo/functions.py wrote texts and numbers), every message with its place, hostile
 * bytes, and failing allocations.
 *     test_hlo [BACKEND [NAME]] */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include "base/base.h"
#include <dirent.h>
#include <math.h>

static failing_allocator allocator;

/* ---- files ---- */

static char *load(const char *name, size_t *length) {
    char path[600];
    snprintf(path, sizeof path, "%s/tests/hlo/functions/%s", HG_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    *length = file ? fread(text, 1, (1 << 20) - 1, file) : 0;
    CHECK_MESSAGE(*length > 0, "%s cannot be read", path);
    if (file) fclose(file);
    return text;
}

/* An array of a comment: "// arg0 f32 3,5 00112233…". */
typedef struct array {
    char name[16], type[8], shape[64];
    uint8_t *bytes;
    size_t size;
    hg_buffer buffer;
} array;

static hg_type type_named(const char *name) {
    for (int t = 0; t < HG_TYPE_COUNT; t++)
        if (strcmp(hg_type_name((hg_type)t), name) == 0) return (hg_type)t;
    return HG_TYPE_COUNT;
}

static size_t read_arrays(const char *text, array *arrays, double *bound) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "\n// ")) != NULL; at += 4) {
        array *a = &arrays[count];
        int bytes = 0;
        if (sscanf(at, "\n// bound %lf", bound) == 1) continue;
        if (sscanf(at, "\n// %15s %7s %63s %n", a->name, a->type, a->shape, &bytes) != 3) continue;
        at += bytes;
        a->size = strcspn(at, "\n") / 2;
        a->bytes = calloc(a->size + 1, 1);
        for (size_t i = 0; i < a->size; i++) {
            unsigned byte = 0;
            sscanf(at + 2 * i, "%2x", &byte);
            a->bytes[i] = (uint8_t)byte;
        }
        count++;
        at -= 4;
    }
    return count;
}

static double number(const array *a, const uint8_t *bytes, size_t i) {
    double value = 0;
    hg_type type = type_named(a->type);
    CHECK_OK(hg_type_to_f64(type, bytes + i * hg_type_size_bytes(type), &value));
    return value;
}

static void compare(const char *file, const array *a, const uint8_t *got, double bound) {
    hg_type type = type_named(a->type);
    size_t size = hg_type_size_bytes(type), count = a->size / size;
    bool is_float = a->type[0] == 'f' || a->type[0] == 'b';
    for (size_t i = 0; i < count; i++) {
        double want = number(a, a->bytes, i), have = number(a, got, i);
        bool same = memcmp(a->bytes + i * size, got + i * size, size) == 0;
        if (is_float && !same)
            same = (isnan(want) && isnan(have)) || fabs(have - want) <= bound * (1 + fabs(want));
        CHECK_MESSAGE(same, "%s: %s[%zu] is %.9g, expected %.9g", file, a->name, i, have, want);
    }
}

static hg_graph *read_graph(const char *text, size_t length) {
    hg_graph *g = NULL;
    CHECK_OK(hg_graph_read_stablehlo(text, length, NULL, &g));
    return g;
}

static void run(hg_backend *b, const char *file) {
    array arrays[64];
    double bound = 0;
    size_t length;
    memset(arrays, 0, sizeof arrays);
    char *text = load(file, &length);
    size_t count = read_arrays(text, arrays, &bound);
    hg_params *params = hg_params_create();
    hg_graph *g = read_graph(text, length);
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    for (size_t i = 0; i < count; i++) {
        arrays[i].buffer = make_buffer(b, arrays[i].name[0] == 'a' ? arrays[i].bytes : NULL,
                                       arrays[i].size);
        CHECK_OK(hg_params_set_buffer(params, arrays[i].name, arrays[i].buffer));
    }
    CHECK(count > 1);
    if (g) CHECK_OK(hg_graph_compile(b, g, NULL, &executable));
    if (executable) CHECK_OK(hg_graph_bind(executable, params, &binding));
    if (binding) CHECK_OK(hg_graph_binding_launch(binding));
    for (size_t i = 0; i < count; i++) {
        uint8_t *got = calloc(arrays[i].size + 1, 1);
        CHECK_OK(hg_backend_copy_from_buffer(b, arrays[i].buffer, got, arrays[i].size));
        if (arrays[i].name[0] == 'r') compare(file, &arrays[i], got, bound);
        free(got);
    }
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    hg_graph_release(g);
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(hg_backend_free_buffer(b, arrays[i].buffer));
        free(arrays[i].bytes);
    }
    hg_params_destroy(params);
    free(text);
}

typedef void visit(void *user, const char *file);
static void each_file(visit *call, void *user) {
    struct dirent **entries;
    int count = scandir(HG_SOURCE_DIR "/tests/hlo/functions", &entries, NULL, alphasort);
    CHECK(count > 40);
    for (int i = 0; i < count; i++) {
        if (strstr(entries[i]->d_name, ".mlir")) call(user, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* cholesky is a call of LAPACK. */
static void run_file(void *b, const char *file) {
    if (strcmp(file, "cholesky.mlir") != 0) run(b, file);
}

/* ---- messages ---- */

typedef struct mistake {
    const char *text;
    uint32_t line, column;
    const char *message;
} mistake;
#define F                                                                                          \
    "func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %i: tensor<i32>) -> tensor<2x3xf32> " \
    "{\n"
#define R "  return %a : tensor<2x3xf32>\n}\n"
#define OP(line) F "  " line "\n" R
#define G(line, message) \
    { F "  %0 = " line "\n  return %0 : tensor<2x3xf32>\n}\n", 2, 8, message }
static const mistake MISTAKES[] = {
    {"", 1, 1, "expected a function @main, or one function"},
    {"module {", 1, 9, "expected '}', got the end of the text"},
    {"x", 1, 1, "expected module, func.func or the end of the module, got 'x'"},
    {"func.func main()", 1, 15, "expected @NAME of a function, got '('"},
    {"func.func @main(%a: f32) {", 1, 21, "expected a type tensor<…>, got 'f32'"},
    {"func.func @main(%a: tensor<f8>) {", 1, 28,
     "elements of type 'f8' are not read: expected f16, bf16, f32, f64, i1, i8 to i64, ui8 to ui64 "
     "or complex of f32 or f64"},
    {"func.func @main(%a: tensor<?xf32>) {", 1, 28,
     "a tensor without a fixed shape is not read: expected numbers as extents"},
    {"func.func @main(%a: tensor<1x1x1x1x1x1x1x1x1xf32>) {", 1, 28,
     "expected at most 8 extents, got more"},
    {"func.func @main(%a: tensor<1099511627776xf32>) {", 1, 28,
     "expected an extent below 2^40 (and 8 at most), got more"},
    {"func.func @main(%a: tensor<1000000x1000000x1000xf32>) {", 1, 21,
     "expected a tensor of at most 2^40 elements"},
    {"func.func @main(%a: tensor<complex<i8>>) {", 1, 36, "expected complex of f32 or f64"},
    {F "  return %x : tensor<2x3xf32>\n}\n", 2, 10, "'%x' is not a value that is known here"},
    {F "  return %a#1 : tensor<2x3xf32>\n}\n", 2, 10,
     "'%a' has 1 results, the one asked for is beyond them"},
    {OP("%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>"), 2, 27,
     "tensor<3xf32> is 3 elements, dense<…> has 2 numbers"},
    {OP("%0 = stablehlo.constant dense<\"0x00\"> : tensor<3xf32>"), 2, 33,
     "expected \"0x…\" with 12 bytes, got 1"},
    {OP("%0 = stablehlo.constant dense<1.5> : tensor<i32>"), 2, 33,
     "expected an integer, got '1.5'"},
    {OP("%0:2 = stablehlo.add %a, %a : tensor<2x3xf32>"), 2, 10,
     "1 results have types, 2 have names"},
    {OP("%0 = stablehlo.add %a, \"x : tensor<2x3xf32>"), 2, 26,
     "expected an operand, an attribute or ':', got a string or name without an end"},
    {OP("%0 = stablehlo.slice %a [0:x] : tensor<2x3xf32>"), 2, 30, "expected a number, got 'x'"},
    {F "  %0 = stablehlo.add %a, %a : tensor<2x3xf32>\n}\n", 2, 8,
     "stablehlo.add: expected a return of 1 values behind it"},
    {F R F R, 4, 11, "a second function @main"},
    G("stablehlo.nothing %a : tensor<2x3xf32>", "stablehlo.nothing: this operation is not read"),
    G("stablehlo.add %a : tensor<2x3xf32>", "stablehlo.add: 1 operands, expected 2"),
    G("stablehlo.add %a, %b : tensor<2x3xf32>",
      "stablehlo.add: operand 1 is tensor<3xf32>, the result tensor<2x3xf32>"),
    G("stablehlo.custom_call @lapack(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.custom_call: custom_call @lapack is another program's code, which no text has"),
    G("stablehlo.and %a, %a : tensor<2x3xf32>", "stablehlo.and: not for elements of type f32"),
    G("stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.transpose: dims: expected different axes below 2, got 0"),
    G("stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<3xf32>) -> tensor<2x3xf32>",
      "stablehlo.broadcast_in_dim: expected equal extents or 1"),
    G("stablehlo.reshape %b : (tensor<3xf32>) -> tensor<2x3xf32>",
      "stablehlo.reshape: expected as many elements of the same type"),
    G("stablehlo.slice %a [0:3, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.slice: expected 0 <= start <= end <= the operand's extent, and so many elements"),
    {F "  %0 = stablehlo.compare %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>\n"
       "  %1 = stablehlo.select %0, %a, %a : tensor<2x3xi1>, tensor<2x3xf32>\n  return %1 : "
       "tensor<2x3xf32>\n}\n",
     2, 8, "stablehlo.compare: expected a direction: EQ, NE, LT, LE, GT or GE"},
    {F "  return %b : tensor<3xf32>\n}\n", 2, 3,
     "return: result 0 is tensor<3xf32>, expected tensor<2x3xf32>"},
    G("stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<2x3xf32>, "
      "tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.dot_general: expected equal extents of the axes that belong together"),
    G("call @f(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "call: there is no function @f"),
    G("call @main(%a, %b, %i) : (tensor<2x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<2x3xf32>",
      "call: @main calls itself"),
    G("stablehlo.concatenate %a, dim = 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.concatenate: expected dim: one of the axes"),
    G("\"stablehlo.sort\"(%a) <{dimension = 0 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.sort: expected arrays of one shape, an axis of them and a comparison"),
    G("stablehlo.fft %a, type = FFT, length = [3] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.fft: expected complex elements where the type has them"),
};

static void test_mistake(const mistake *m) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_graph *g = NULL;
    CHECK_STATUS(hg_graph_read_stablehlo(m->text, strlen(m->text), d, &g), HG_ERROR_ISA);
    const hg_diagnostic *first = hg_diagnostics_get(d, 0);
    CHECK_MESSAGE(first && hg_diagnostics_errors(d) == 1 && first->line == m->line &&
                      first->column == m->column && strcmp(first->message, m->message) == 0,
                  "%s\n  expected %u:%u %s\n  got %u:%u %s", m->text, m->line, m->column,
                  m->message, first ? first->line : 0, first ? first->column : 0,
                  first ? first->message : "none");
    CHECK(g == NULL);
    hg_diagnostics_destroy(d);
}

/* Brackets, regions and calls inside one another; a text whose calls double at each step. */
static void test_limits(void) {
    hg_text text = {0};
    hg_graph *g = NULL;
    hg_text_addf(&text, "%s  %%0 = stablehlo.add %%a, %%a {", F);
    for (int i = 0; i < 100000; i++) hg_text_addf(&text, "x = {");
    CHECK_STATUS(hg_graph_read_stablehlo(text.data, text.length, NULL, &g), HG_ERROR_ISA);
    CHECK(strstr(hg_last_error_text(), "more than 64 brackets inside one another"));
    text.length = 0;
    hg_text_addf(&text, "%s", F);
    for (int i = 0; i < 100000; i++) hg_text_addf(&text, "\"stablehlo.case\"(%%i) ({");
    CHECK_STATUS(hg_graph_read_stablehlo(text.data, text.length, NULL, &g), HG_ERROR_ISA);
    CHECK(strstr(hg_last_error_text(), "more than 64 regions inside one another"));
    text.length = 0;
    hg_text_addf(&text,
                 "func.func @main(%%a: tensor<f32>) -> tensor<f32> {\n  %%0 = call @f0(%%a) : "
                 "(tensor<f32>) -> tensor<f32>\n  return %%0 : tensor<f32>\n}\n");
    for (int i = 0; i < 40; i++)
        hg_text_addf(&text,
                     "func.func @f%d(%%a: tensor<f32>) -> tensor<f32> {\n  %%0 = call @f%d(%%a) : "
                     "(tensor<f32>) -> tensor<f32>\n  %%1 = call @f%d(%%0) : (tensor<f32>) -> "
                     "tensor<f32>\n  return %%1 : tensor<f32>\n}\n",
                     i, i + 1, i + 1);
    hg_text_addf(
        &text,
        "func.func @f40(%%a: tensor<f32>) -> tensor<f32> {\n  return %%a : tensor<f32>\n}\n");
    CHECK_STATUS(hg_graph_read_stablehlo(text.data, text.length, NULL, &g), HG_ERROR_ISA);
    CHECK(strstr(hg_last_error_text(),
                 "more than 100000 operations, those of calls counted each time"));
    hg_text_free(&text);
}

/* ---- the generic form ---- */

static void test_generic(void) {
    static const char TEXT[] =
        "// generic forms, locations, aliases\n#loc = loc(\"x\")\nmodule {\n"
        "func.func public @main(%a: tensor<2x3xf32> {mhlo.sharding = \"{replicated}\"} loc(\"a\")) "
        "-> (tensor<3x2xf32> {jax.result_info = \"\"}) attributes {x = 1 : i32} {\n"
        "  %c = \"stablehlo.constant\"() <{value = dense<2.0> : tensor<2x3xf32>}> : () -> "
        "tensor<2x3xf32> loc(#loc)\n"
        "  %0 = \"stablehlo.multiply\"(%a, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
        "tensor<2x3xf32>\n"
        "  %1 = \"stablehlo.transpose\"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) "
        "-> tensor<3x2xf32>\n"
        "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %2 = \"stablehlo.compare\"(%1, %1) <{comparison_direction = "
        "#stablehlo<comparison_direction EQ>}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> "
        "tensor<3x2xi1>\n"
        "  %3 = \"stablehlo.select\"(%2, %1, %1) : (tensor<3x2xi1>, tensor<3x2xf32>, "
        "tensor<3x2xf32>) -> tensor<3x2xf32>\n"
        "  \"func.return\"(%3) : (tensor<3x2xf32>) -> () loc(#loc)\n} loc(#loc)\n} "
        "loc(#loc)\n#loc1 = loc(unknown)\n";
    hg_graph_release(read_graph(TEXT, sizeof TEXT - 1));
}

/* ---- hostile texts ---- */

static uint64_t seed = 1;
static uint32_t random_below(uint32_t n) {
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % n);
}

static bool survives(const char *text, size_t length) {
    hg_graph *g = NULL;
    hg_status status = hg_graph_read_stablehlo(text, length, NULL, &g);
    CHECK_MESSAGE(status == HG_OK || status == HG_ERROR_ISA, "%s\nof\n%.*s", hg_last_error_text(),
                  (int)length, text);
    hg_graph_release(g);
    return status == HG_OK;
}

static void mutate(void *user, const char *file) {
    static const char BYTES[] = "\n ,;:=@%+-*/()[]{}<>\"\\.0123459abfnsxi_#^\x01\x80\xff";
    size_t length;
    char *text = load(file, &length), *changed = malloc(length + 1);
    uint32_t *good = user;
    const char *end = strstr(text, "\n// ");
    length = end ? (size_t)(end - text) : length;
    for (int i = 0; i < (SANITIZED ? 3 : 12); i++) {
        memcpy(changed, text, length);
        uint32_t at = random_below((uint32_t)length), cut = random_below(12);
        if (i % 3 == 0) *good += survives(text, at);
        if (i % 3 == 1) {
            if (at + cut > length) cut = 0;
            memmove(changed + at, changed + at + cut, length - at - cut);
            *good += survives(changed, length - cut);
        }
        if (i % 3 == 2) {
            for (uint32_t k = 0; k <= random_below(3); k++)
                changed[random_below((uint32_t)length)] = BYTES[random_below(sizeof BYTES - 1)];
            *good += survives(changed, length);
        }
    }
    free(changed);
    free(text);
}

/* ---- failing allocations ---- */

static void fail_each(const char *text, size_t length, uint64_t step) {
    uint64_t before = allocator.live;
    bool reached = true;
    for (uint64_t count = 0; reached && count < 100000; count += step) {
        hg_graph *g = NULL;
        allow_allocations(&allocator, count);
        hg_status status = hg_graph_read_stablehlo(text, length, NULL, &g);
        reached = allocator.allocations > count;
        CHECK_MESSAGE(status == (reached ? HG_ERROR_OUT_OF_MEMORY : HG_OK),
                      "allocation %" PRIu64 ": %s (%s)", count, hg_status_name(status),
                      status == HG_OK ? "" : hg_last_error_text());
        allow_allocations(&allocator, UINT64_MAX);
        hg_graph_release(g);
        CHECK_MESSAGE(allocator.live == before,
                      "allocation %" PRIu64 ": %" PRIu64 " blocks are left", count,
                      allocator.live - before);
    }
}

static void test_memory(void) {
    static const char *const FILES[] = {"mlp.mlir", "scan.mlir",        "sort_pairs.mlir",
                                        "fft.mlir", "scatter_add.mlir", "switch.mlir"};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        size_t length;
        char *text = load(FILES[i], &length);
        fail_each(text, length, SANITIZED ? 17 : 1 + 2 * (i > 0));
        free(text);
    }
}

int main(int argc, char **argv) {
    hg_allocator hooks = {sizeof hooks, &allocator, failing_reallocate, failing_release};
    uint32_t good = 0;
    CHECK_OK(hg_set_allocator(&hooks));
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "%s", argc > 1 ? argv[1] : "cpu");
    config.timeout_ms = 0; /* a driver's compiler may take long */
    hg_backend *b = NULL;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return test_done();
    if (argc > 2)
        run(b, argv[2]);
    else
        each_file(run_file, b);
    hg_backend_destroy(b);
    if (argc > 1) return test_done();
    for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) test_mistake(&MISTAKES[i]);
    test_generic();
    test_limits();
    each_file(mutate, &good);
    CHECK(good > 20);
    test_memory();
    return test_done();
}
