/* StableHLO's text: functions as JAX lowers them, run and compared with what JAX made of the same
 * inputs (tests/hlo/functions.py wrote texts and numbers), every message with its place, hostile
 * bytes, and failing allocations.
 *     test_hlo [BACKEND [NAME...]] */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include "base/base.h"
#include "hlo/origin.h"
#include "runtime/graph.h"
#include "runtime/graph_module.h"
#include <dirent.h>
#include <math.h>
#include <time.h>

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

/* Loops whose rounds no text tells are lanes: modules could not be stopped. */
static bool is_endless(const char *file) {
    return strcmp(file, "a text") == 0 || strcmp(file, "collatz.mlir") == 0 ||
           strcmp(file, "nested_while.mlir") == 0 || strcmp(file, "newton.mlir") == 0 ||
           strcmp(file, "rounds.mlir") == 0;
}

static void run_text(hg_backend *b, const char *file, const char *text, size_t length) {
    array arrays[64];
    double bound = 0;
    memset(arrays, 0, sizeof arrays);
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
    if (binding && hg_graph_modules(b) && !is_endless(file))
        CHECK_MESSAGE(hg_graph_binding_module_runs(binding) == 1, "%s: no module", file);
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
}

static void run(hg_backend *b, const char *file) {
    size_t length;
    char *text = load(file, &length);
    run_text(b, file, text, length);
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

/* ---- what JAX does not write ---- */

/* A loop that counts in i8: rounds as a counter that wraps has them. */
#define COUNT(start, test, limit, step, result)                                                  \
    "func.func @main(%a: tensor<i32>) -> tensor<i32> {\n"                                        \
    "  %z = stablehlo.constant dense<" start "> : tensor<i8>\n"                                  \
    "  %0:2 = stablehlo.while(%i = %z, %n = %a) : tensor<i8>, tensor<i32> cond {\n"              \
    "    %l = stablehlo.constant dense<" limit "> : tensor<i8>\n"                                \
    "    %c = stablehlo.compare " test ", %i, %l : (tensor<i8>, tensor<i8>) -> tensor<i1>\n"     \
    "    stablehlo.return %c : tensor<i1>\n  } do {\n"                                           \
    "    %s = stablehlo.constant dense<" step "> : tensor<i8>\n"                                 \
    "    %j = stablehlo.add %i, %s : tensor<i8>\n"                                               \
    "    %o = stablehlo.constant dense<1> : tensor<i32>\n"                                       \
    "    %m = stablehlo.add %n, %o : tensor<i32>\n"                                              \
    "    stablehlo.return %j, %m : tensor<i8>, tensor<i32>\n  }\n  return %0#1 : tensor<i32>\n}" \
    "\n// bound 0\n// arg0 i32 - 00000000\n// result i32 - " result "\n"

/* Rows of a by columns of b, 2 x 2, in another type than theirs. */
#define PRODUCT(in, out, arrays)                                                                 \
    "func.func @main(%a: tensor<2x2x" in ">, %b: tensor<2x2x" in ">) -> tensor<2x2x" out "> {\n" \
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2x" in        \
    ">, tensor<2x2x" in ">) -> tensor<2x2x" out ">\n  return %0 : tensor<2x2x" out ">\n}\n"      \
    "// bound 0\n" arrays

static void test_by_hand(hg_backend *b) {
    static const char *const TEXTS[] = {
        COUNT("100", "LT", "120", "50", "15000000"), COUNT("0", "NE", "4", "6", "56000000"),
        /* a start beyond i64 is the last one that there is */
        "func.func @main(%a: tensor<4xf32>, %i: tensor<ui64>) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xf32>, tensor<ui64>) -> "
        "tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n// bound 0\n"
        "// arg0 f32 4 0000803f000000400000404000008040\n// arg1 u64 - 0100000000000080\n"
        "// result f32 2 0000404000008040\n",
        /* 1e20 + 1e20i by itself */
        "func.func @main(%a: tensor<complex<f32>>) -> tensor<complex<f32>> {\n"
        "  %0 = stablehlo.divide %a, %a : tensor<complex<f32>>\n"
        "  return %0 : tensor<complex<f32>>\n}\n// bound 0\n"
        "// arg0 f32 2 ec78ad60ec78ad60\n// result f32 2 0000803f00000000\n",
        /* of i1 -1 is true */
        "func.func @main(%a: tensor<i1>) -> tensor<3xi1> {\n"
        "  %0 = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi1>\n"
        "  %1 = stablehlo.not %0 : tensor<3xi1>\n  return %1 : tensor<3xi1>\n}\n// bound 0\n"
        "// arg0 u8 - 00\n// result u8 3 000100\n",
        /* 200 and 255 by themselves; as i8 -56 and -1; truths */
        PRODUCT("ui8", "i32",
                "// arg0 u8 2,2 c8ff0304\n// arg1 u8 2,2 c8ff0304\n"
                "// result i32 2,2 3d9f000034cb0000640200000d030000\n"),
        PRODUCT("i8", "f32",
                "// arg0 i8 2,2 c8ff0304\n// arg1 i8 2,2 c8ff0304\n"
                "// result f32 2,2 00d043450000504200001cc300005041\n"),
        PRODUCT("i1", "i1",
                "// arg0 u8 2,2 01010000\n// arg1 u8 2,2 01000100\n"
                "// result u8 2,2 01000000\n"),
        /* paddings that are a result, too; of a number none */
        "func.func @main(%a: tensor<1x2xi8>, %b: tensor<i8>) -> (tensor<2xi64>, tensor<3x4xi8>, "
        "tensor<i8>) {\n  %0 = stablehlo.constant dense<1> : tensor<2xi64>\n"
        "  %1 = stablehlo.constant dense<0> : tensor<2xi64>\n"
        "  %2 = stablehlo.dynamic_pad %a, %b, %0, %0, %1 : (tensor<1x2xi8>, tensor<i8>, "
        "tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x4xi8>\n"
        "  %3 = stablehlo.constant dense<> : tensor<0xi64>\n"
        "  %4 = stablehlo.dynamic_pad %b, %b, %3, %3, %3 : (tensor<i8>, tensor<i8>, "
        "tensor<0xi64>, tensor<0xi64>, tensor<0xi64>) -> tensor<i8>\n"
        "  return %0, %2, %4 : tensor<2xi64>, tensor<3x4xi8>, tensor<i8>\n}\n// bound 0\n"
        "// arg0 i8 1,2 0708\n// arg1 i8 - 05\n"
        "// result0 i64 2 01000000000000000100000000000000\n"
        "// result1 i8 3,4 050505050507080505050505\n// result2 i8 - 05\n"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        run_text(b, "a text", TEXTS[i], strlen(TEXTS[i]));
    /* Each round reads the array of the round before it at two places. */
    hg_text text = {0};
    hg_text_addf(&text, "func.func @main(%%x0: tensor<21xi32>) -> tensor<21xi32> {\n");
    for (int i = 0; i < 20; i++) {
        hg_text_addf(&text, "  %%c%d = stablehlo.constant dense<%d> : tensor<i32>\n", i, i);
        hg_text_addf(&text, "  %%d%d = stablehlo.constant dense<%d> : tensor<i32>\n", i, i + 1);
        hg_text_addf(&text,
                     "  %%s%d = stablehlo.dynamic_slice %%x%d, %%c%d, sizes = [1] : "
                     "(tensor<21xi32>, tensor<i32>) -> tensor<1xi32>\n",
                     i, i, i);
        hg_text_addf(&text,
                     "  %%x%d = stablehlo.dynamic_update_slice %%x%d, %%s%d, %%d%d : "
                     "(tensor<21xi32>, tensor<1xi32>, tensor<i32>) -> tensor<21xi32>\n",
                     i + 1, i, i, i);
    }
    hg_text_addf(&text, "  return %%x20 : tensor<21xi32>\n}\n// bound 0\n// arg0 i32 21 ");
    for (int i = 0; i < 21; i++) hg_text_addf(&text, "%02x000000", i + 7);
    hg_text_addf(&text, "\n// result i32 21 ");
    for (int i = 0; i < 21; i++) hg_text_addf(&text, "07000000");
    hg_text_addf(&text, "\n");
    run_text(b, "updates", text.data, text.length);
    hg_text_free(&text);
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
      "stablehlo.add: operand 1 is tensor<3xf32>, the text says tensor<2x3xf32>"),
    G("stablehlo.custom_call @lapack(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.custom_call: custom_call @lapack is another program's code, which no text has"),
    G("stablehlo.and %a, %a : tensor<2x3xf32>", "stablehlo.and: not for elements of type f32"),
    G("stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.transpose: dims: expected different axes below 2, got 0"),
    G("stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<3xf32>) -> tensor<2x3xf32>",
      "stablehlo.broadcast_in_dim: expected equal extents or 1"),
    G("stablehlo.reshape %b : (tensor<3xf32>) -> tensor<2x3xf32>",
      "stablehlo.reshape: expected as many elements"),
    G("stablehlo.dynamic_reshape %b, %i : (tensor<3xf32>, tensor<i32>) -> tensor<2x3xf32>",
      "stablehlo.dynamic_reshape: expected as many elements"),
    G("stablehlo.reduce_precision %a, format = e5 : tensor<2x3xf32>",
      "stablehlo.reduce_precision: expected floats, bits of an exponent and of a mantissa"),
    G("stablehlo.reduce_precision %a, format = eAm10 : tensor<2x3xf32>",
      "stablehlo.reduce_precision: expected floats, bits of an exponent and of a mantissa"),
    G("stablehlo.reduce_precision %a, format = e5m1a : tensor<2x3xf32>",
      "stablehlo.reduce_precision: expected floats, bits of an exponent and of a mantissa"),
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
    {OP("%0 = stablehlo.while(%x = %a) : ()"), 2, 8, "1 operands have names, 0 have types"},
    {OP("%0:2 = stablehlo.while(%x = %a, %y = %b) : tensor<2x3xf32> cond {"), 2, 10,
     "2 operands have names, 1 have types"},
    G("\"stablehlo.constant\"() <{value = dense<2.0> : tensor<1xf32>}> : () -> tensor<2x3xf32>",
      "dense<…> has another type than the result"),
    G("stablehlo.constant dense_resource<__elided__> : tensor<2x3xf32>",
      "stablehlo.constant: expected dense<…>, its elements stand elsewhere"),
    {OP("%0 = stablehlo.constant dense<1.2.3> : tensor<f32>"), 2, 33,
     "expected a number, got '1.2.3'"},
    {OP("%0 = stablehlo.constant dense<[1e5, 1e]> : tensor<2xf32>"), 2, 39,
     "expected a number, got '1e'"},
    {OP("%0 = stablehlo.constant dense<true> : tensor<f32>"), 2, 33,
     "expected a number, got 'true'"},
    {OP("%0 = stablehlo.constant dense<300> : tensor<i8>"), 2, 33,
     "'300' does not fit the type of the elements"},
    {OP("%0 = stablehlo.constant dense<-129> : tensor<i8>"), 2, 33,
     "'-129' does not fit the type of the elements"},
    {OP("%0 = stablehlo.constant dense<0x10000> : tensor<f16>"), 2, 33,
     "'0x10000' does not fit the type of the elements"},
    {OP("%0 = stablehlo.constant dense<2> : tensor<i1>"), 2, 33,
     "'2' does not fit the type of the elements"},
    {F "  %0:2 = \"stablehlo.add\"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
       "(tensor<2x3xf32>, tensor<f32>)\n  return %0#0 : tensor<2x3xf32>\n}\n",
     2, 10, "stablehlo.add: 2 results, expected 1"},
    G("stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
      "stablehlo.concatenate: expected parts that differ along dim alone"),
    {F "  %0 = stablehlo.complex %a, %a : tensor<2x3xcomplex<f32>>\n  %1 = stablehlo.add %0, %a : "
       "(tensor<2x3xcomplex<f32>>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>\n  %2 = "
       "stablehlo.real %1 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>\n  return %2 : "
       "tensor<2x3xf32>\n}\n",
     3, 8, "stablehlo.add: operand 1 is tensor<2x3xf32>, the result tensor<2x3xcomplex<f32>>"},
    {F "  %c = stablehlo.constant dense<1> : tensor<i32>\n  %0 = stablehlo.broadcast_in_dim %c, "
       "dims = [] : (tensor<i32>) -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>\n}\n",
     3, 8, "stablehlo.broadcast_in_dim: operand 0 is tensor<i32>, the result tensor<2x3xf32>"},
    {F "  %c = stablehlo.constant dense<1.0> : tensor<f32>\n  %0 = stablehlo.pad %a, %c, low = [0, "
       "0], high = [0, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>\n"
       "  return %0 : tensor<2x3xf32>\n}\n",
     3, 8, "stablehlo.pad: expected the operand's extents with the paddings"},
    {F "  %c = stablehlo.constant dense<1.0> : tensor<f32>\n  %0 = stablehlo.pad %a, %c, low = [0, "
       "0], high = [0, 0], interior = [9223372036854775807, 0] : (tensor<2x3xf32>, tensor<f32>) -> "
       "tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>\n}\n",
     3, 8, "stablehlo.pad: expected paddings within 2^40"},
    {F "  %c = stablehlo.constant dense<1> : tensor<i32>\n  %0 = stablehlo.compare EQ, %c, %c : "
       "(tensor<i32>, tensor<i32>) -> tensor<i32>\n  %1 = stablehlo.convert %0 : "
       "(tensor<i32>) -> tensor<f32>\n  %2 = stablehlo.broadcast_in_dim %1, dims = [] : "
       "(tensor<f32>) -> tensor<2x3xf32>\n  return %2 : tensor<2x3xf32>\n}\n",
     3, 8, "stablehlo.compare: expected operands of one type and a result of i1"},
    G("stablehlo.dynamic_slice %a, %i, %i, sizes = [2, -9223372036854775807] : (tensor<2x3xf32>, "
      "tensor<i32>, tensor<i32>) -> tensor<2x3xf32>",
      "stablehlo.dynamic_slice: expected sizes within the operand's extents, which are the "
      "result's"),
    G("stablehlo.convolution(%a, %a) dim_numbers = [b, 9223372036854775807]x[i, o]->[b, f], window "
      "= {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
      "stablehlo.convolution: expected dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f] with each axis "
      "once"),
    G("\"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], "
      "start_index_map = [0]>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<i32>) "
      "-> "
      "tensor<2x3xf32>",
      "stablehlo.gather: expected slice_sizes as the result's extents"),
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
    text.length = 0;
    for (int i = 0; i <= 10000; i++) hg_text_addf(&text, "func.func @f%d() {}\n", i);
    CHECK_STATUS(hg_graph_read_stablehlo(text.data, text.length, NULL, &g), HG_ERROR_ISA);
    CHECK(strstr(hg_last_error_text(), "more than 10000 functions"));
    hg_text_free(&text);
}

/* What is long takes as long as it is: attributes, regions, one function's constant and its calls.
 */
static void test_long(void) {
    hg_text text = {0};
    char *printed = NULL;
    size_t length;
    clock_t start = clock();
    hg_text_addf(&text, "%s  %%0 = stablehlo.negate %%a {", F);
    for (int i = 0; i < 300000; i++) hg_text_addf(&text, "x=1,");
    hg_text_addf(&text, "} : tensor<2x3xf32>\n%s", R);
    hg_graph_release(read_graph(text.data, text.length));
    text.length = 0;
    hg_text_addf(&text, "%s  %%0 = \"stablehlo.case\"(%%i) (", F);
    for (int i = 0; i < 300000; i++) hg_text_addf(&text, "{},");
    hg_text_addf(&text, "{}) : (tensor<i32>) -> ()\n%s", "return %a : tensor<f32>\n}\n");
    hg_graph *g = NULL;
    CHECK_STATUS(hg_graph_read_stablehlo(text.data, text.length, NULL, &g), HG_ERROR_ISA);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < (SANITIZED ? 60 : 15));
    text.length = 0;
    hg_text_addf(&text, "%s", F);
    for (int i = 0; i < 9; i++)
        hg_text_addf(&text, "  %%%d = call @f() : () -> tensor<3xf32>\n", i);
    hg_text_addf(&text,
                 "%sfunc.func @f() -> tensor<3xf32> {\n  %%0 = stablehlo.constant dense<[1.0, 2.0, "
                 "3.0]> : tensor<3xf32>\n  return %%0 : tensor<3xf32>\n}\n",
                 R);
    g = read_graph(text.data, text.length);
    CHECK_OK(hg_graph_print(g, &printed, &length));
    const char *first = strstr(printed, ".constant");
    CHECK(first && !strstr(first + 1, ".constant"));
    hg_string_free(printed);
    hg_graph_release(g);
    /* 200 operations behind one another are programs of some dozens */
    text.length = 0;
    hg_text_addf(&text, "%s  %%0 = stablehlo.sine %%a : tensor<2x3xf32>\n", F);
    for (int i = 0; i < 200; i++)
        hg_text_addf(&text, "  %%%d = stablehlo.sine %%%d : tensor<2x3xf32>\n", i + 1, i);
    hg_text_addf(&text, "  return %%200 : tensor<2x3xf32>\n}\n");
    g = read_graph(text.data, text.length);
    CHECK_OK(hg_graph_print(g, &printed, &length));
    int calls = 0;
    for (const char *at = printed; (at = strstr(at, " = @")) != NULL; at++) calls++;
    CHECK_MESSAGE(calls >= 4 && calls <= 6, "%d calls", calls);
    hg_string_free(printed);
    hg_graph_release(g);
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
    static const char NO_EQUATION[] =
        "func.func @main(%a: tensor<0x0xf32>, %b: tensor<0x3xf32>) -> tensor<0x3xf32> {\n"
        "  %0 = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = false, "
        "transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : "
        "(tensor<0x0xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>\n"
        "  return %0 : tensor<0x3xf32>\n}\n";
    hg_graph_release(read_graph(NO_EQUATION, sizeof NO_EQUATION - 1));
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
    static const char ELEMENTS[] =
        "func.func @main() -> tensor<20xi8> {\n  %0 = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, "
        "7, "
        "8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]> : tensor<20xi8>\n  return %0 : "
        "tensor<20xi8>\n}\n";
    fail_each(ELEMENTS, sizeof ELEMENTS - 1, 1);
}

/* ---- a graph in front of the module ---- */

/* Where it cannot be read the operations are, and mistakes are theirs. */
static void test_origin(void) {
    static const struct {
        const char *graph, *input; /* of what is read */
    } CASES[] = {{".graph 1\n.name g\n.input z f32 [7]\ny = parallel_map neg, in=z\n.output y\n",
                  ".input z f32 [7]"},
                 {"", ".input arg0 f32 [2, 3]"},
                 {".graph 2\n", ".input arg0 f32 [2, 3]"},
                 {".graph 1\n.input z f32 [7]\ny = nothing in=z\ny = nothing in=z\n",
                  ".input arg0 f32 [2, 3]"}};
    for (size_t i = 0; i < 2 * sizeof CASES / sizeof *CASES; i++) {
        hg_text graph = {0}, module = {0}, text = {0};
        hg_diagnostics *d = hg_diagnostics_create(0);
        hg_graph *g = NULL;
        char *printed = NULL;
        size_t length;
        bool wrong = i % 2, has_graph = i < 2;
        hg_text_addf(&graph, "%s", CASES[i / 2].graph);
        hg_text_addf(&module, "%s  %%0 = stablehlo.%s %%a : tensor<2x3xf32>\n%s", F,
                     wrong ? "nothing" : "negate", R);
        hlo_origin_print(&text, &graph, &module);
        uint32_t line = 2;
        for (const char *c = CASES[i / 2].graph; *c; c++) line += *c == '\n';
        hg_status status = hg_graph_read_stablehlo(text.data, text.length, d, &g);
        const hg_diagnostic *first = hg_diagnostics_get(d, 0);
        CHECK_STATUS(status, wrong && !has_graph ? HG_ERROR_ISA : HG_OK);
        if (g) CHECK_OK(hg_graph_print(g, &printed, &length));
        CHECK(!g || strstr(printed, CASES[i / 2].input));
        CHECK(g ? hg_diagnostics_errors(d) == 0
                : first && hg_diagnostics_errors(d) == 1 && first->line == line + 1 &&
                      first->column == 8);
        hg_string_free(printed);
        hg_graph_release(g);
        if (i == 0) fail_each(text.data, (size_t)text.length, 1);
        hg_diagnostics_destroy(d);
        hg_text_free(&text);
        hg_text_free(&module);
        hg_text_free(&graph);
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
    for (int i = 2; i < argc; i++) run(b, argv[i]);
    if (argc <= 2) each_file(run_file, b), test_by_hand(b);
    hg_backend_destroy(b);
    if (argc > 1) return test_done();
    for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) test_mistake(&MISTAKES[i]);
    test_generic();
    test_origin();
    test_limits();
    test_long();
    each_file(mutate, &good);
    CHECK(good > 20);
    test_memory();
    return test_done();
}
