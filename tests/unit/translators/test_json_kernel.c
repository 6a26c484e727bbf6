/* JSON kernels: the worked examples of the specification, every statement and expression with its
 * value, every error with its text and place, kernels by name, and documents that mean harm.
 * Expected values are computed by hand (or by Python, whose code is beside them). */
#include "isa/program.h"
#include <hologram/backend.h>
#include <hologram/json_kernel.h>
#include "support/sanitized.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

/* ---- documents in short: single quotes become double ones ---- */

#define VAR(n) "{'type':'var','name':'" n "'}"
#define LIT(x) "{'type':'literal','value':" x "}"
#define BIN(op, l, r) "{'type':'binary_op','op':'" op "','left':" l ",'right':" r "}"
#define UN(op, x) "{'type':'unary_op','op':'" op "','operand':" x "}"
#define AT(a, i) "{'type':'index','array':" VAR(a) ",'index':" i "}"
#define CALL(f, args) "{'type':'call','function':'" f "','args':[" args "]}"
#define CHOOSE(c, t, e) "{'type':'if_expr','condition':" c ",'then':" t ",'else':" e "}"
#define LET(n, v) "{'type':'let','name':'" n "','value':" v "}"
#define SET(n, v) "{'type':'assign','target':" VAR(n) ",'value':" v "}"
#define PUT(a, i, v) "{'type':'assign','target':" AT(a, i) ",'value':" v "}"
#define IF(c, t, e) "{'type':'if','condition':" c ",'then_body':[" t "],'else_body':" e "}"
#define FOR(v, a, b, s, body) \
    "{'type':'for','var':'" v "','start':" a ",'stop':" b ",'step':" s ",'body':[" body "]}"
#define WHILE(c, body) "{'type':'while','condition':" c ",'body':[" body "]}"
#define RETURN "{'type':'return','value':null}"
#define ARRAY(n, t)                                                                            \
    "{'name':'" n "','type':{'kind':'device_array','element_type':{'kind':'scalar','type':'" t \
    "'}}}"
#define SCALAR(n, t) "{'name':'" n "','type':{'kind':'scalar','type':'" t "'}}"
#define NAMED(name, params, body) \
    "{'version':'1.0','kernel':{'name':'" name "','params':[" params "],'body':[" body "]}}"
#define KERNEL(params, body) NAMED("k", params, body)
#define LANE CALL("get_global_id", "")

static char *quoted(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); i++) copy[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    return copy;
}

static hg_backend *backend;

typedef struct bind {
    const char *name;
    bool array;
    hg_type type;
    void *data;
    uint64_t count;
} bind;
#define IN_ARRAY(n, T, a) \
    { n, true, HG_TYPE_##T, a, HG_COUNT_OF(a) }
#define IN_SCALAR(n, T, p) \
    { n, false, HG_TYPE_##T, p, 1 }

static hg_status execute(const hg_program *program, uint64_t lanes, const bind *binds,
                         size_t count) {
    hg_params *params = hg_params_create();
    hg_buffer buffers[16] = {{0}};
    hg_status status = HG_OK;
    for (size_t i = 0; i < count && status == HG_OK; i++) {
        const bind *b = &binds[i];
        uint64_t bytes = b->count * hg_type_size_bytes(b->type);
        if (!b->array) {
            status = hg_params_set_scalar(params, b->name, b->type, b->data);
            continue;
        }
        status = hg_backend_allocate_buffer(backend, bytes, &buffers[i]);
        if (status == HG_OK)
            status = hg_backend_copy_to_buffer(backend, buffers[i], b->data, bytes);
        if (status == HG_OK) status = hg_params_set_buffer(params, b->name, buffers[i]);
    }
    hg_launch launch = hg_launch_linear(lanes);
    if (status == HG_OK)
        status = hg_backend_execute_program_with_params(backend, program, &launch, params);
    hg_error kept = *hg_last_error();
    for (size_t i = 0; i < count; i++) {
        if (!binds[i].array || !buffers[i].handle) continue;
        CHECK(hg_backend_copy_from_buffer(backend, buffers[i], binds[i].data,
                                          binds[i].count * hg_type_size_bytes(binds[i].type)) ==
              HG_OK);
        CHECK(hg_backend_free_buffer(backend, buffers[i]) == HG_OK);
    }
    hg_params_destroy(params);
    if (status != HG_OK) *hg_error_record() = kept;
    return status;
}

/* The program of a document; NULL after saying why not. */
static hg_program *translate(const char *text) {
    char *json = quoted(text);
    hg_program *program = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = hg_json_to_isa_translate(json, strlen(json), d, &program);
    if (status == HG_OK) status = hg_program_verify(program, d);
    char *said = hg_diagnostics_print(d, "k", NULL, 0);
    CHECK_MESSAGE(status == HG_OK && hg_diagnostics_count(d) == 0, "%.300s\n%s", text, said);
    if (status != HG_OK && program) {
        hg_program_release(program);
        program = NULL;
    }
    hg_string_free(said);
    hg_diagnostics_destroy(d);
    free(json);
    return program;
}

static hg_status run(const char *text, uint64_t lanes, const bind *binds, size_t count) {
    hg_program *program = translate(text);
    hg_status status = program ? execute(program, lanes, binds, count) : HG_ERROR_ISA;
    hg_program_release(program);
    return status;
}

static size_t length_of(const char *text) {
    hg_program *program = translate(text);
    size_t length = program ? hg_program_len(program) : 0;
    hg_program_release(program);
    return length;
}

/* ---- the worked examples (semantics 7.8 to 7.10) ---- */

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 65536);
    size_t n = fread(text, 1, 65535, file);
    fclose(file);
    text[n] = '\0';
    return text;
}

static void check_examples(void) {
    char *axpy = read_file("examples/json/axpy.json"),
         *saturate = read_file("examples/json/saturate.json"),
         *matvec = read_file("examples/json/matvec_rows.json");
    CHECK(axpy && saturate && matvec);
    if (!axpy || !saturate || !matvec) return;
    uint64_t n = 3, rows = 2, cols = 3;
    float alpha = 2, x[] = {1, 2, 3}, y[] = {10, 20, 30};
    bind a[] = {IN_ARRAY("x", F32, x), IN_ARRAY("y", F32, y), IN_SCALAR("alpha", F32, &alpha),
                IN_SCALAR("n", U64, &n)};
    CHECK(run(axpy, 300, a, 4) == HG_OK && y[0] == 12 && y[1] == 24 && y[2] == 36);
    n = 4;
    float src[] = {-1, 0.25f, 3, NAN}, dst[4] = {9, 9, 9, 9};
    bind s[] = {IN_ARRAY("src", F32, src), IN_ARRAY("dst", F32, dst), IN_SCALAR("n", U64, &n)};
    CHECK(run(saturate, 7, s, 3) == HG_OK && dst[0] == 0 && dst[1] == 0.25f && dst[2] == 1 &&
          isnan(dst[3]));
    float m[] = {1, 2, 3, 4, 5, 6}, v[] = {1, 0, -1}, out[2] = {0};
    bind r[] = {IN_ARRAY("m", F32, m), IN_ARRAY("v", F32, v), IN_ARRAY("out", F32, out),
                IN_SCALAR("rows", U64, &rows), IN_SCALAR("cols", U64, &cols)};
    CHECK(run(matvec, 2, r, 5) == HG_OK && out[0] == -2 && out[1] == -2);
    CHECK_U64(length_of(axpy), 14);
    CHECK_U64(length_of(saturate), 18);
    CHECK_U64(length_of(matvec), 29);
    hg_program *p = translate(axpy);
    if (p) {
        CHECK(p->params[0].dir == HG_DIR_IN && p->params[1].dir == HG_DIR_INOUT &&
              p->params[2].type == HG_TYPE_F32 && p->params[3].type == HG_TYPE_U64);
        CHECK(p->lines && p->lines[1] == 10 && p->columns[1] > 1); /* the comparison stands in line
                                                                      10 of the file */
        hg_program_release(p);
    }
    free(axpy);
    free(saturate);
    free(matvec);
}

/* ---- values of expressions ---- */

#define VALUE_PARAMS                                                                                                               \
    SCALAR("i", "i32")                                                                                                             \
    "," SCALAR("j", "i32") "," SCALAR("u", "u32") "," SCALAR("w", "u64") "," SCALAR("s", "i64") "," SCALAR("f", "f32") "," SCALAR( \
        "d",                                                                                                                       \
        "f64") "," SCALAR("b",                                                                                                     \
                          "bool") "," SCALAR("c",                                                                                  \
                                             "u8") "," SCALAR("z",                                                                 \
                                                              "i32") "," ARRAY("xf",                                               \
                                                                               "f32") "," ARRAY("xi",                              \
                                                                                                "i32") "," ARRAY("xb",             \
                                                                                                                 "bool")

static bool eval(const char *type, const char *expression, void *out, hg_type held) {
    char *text = malloc(strlen(expression) + strlen(VALUE_PARAMS) + 1000);
    sprintf(text,
            "{'version':'1.0','kernel':{'name':'k','params':[" VALUE_PARAMS
            "," ARRAY("out", "%s") "],'body':[" PUT("out", LIT("0"), "%s") "]}}",
            type, expression);
    int32_t i = -7, j = 2, z = 0, xi[] = {5, -6, 7};
    uint32_t u = 7;
    uint64_t w = 10;
    int64_t s = -9;
    float f = 2.5f, xf[] = {1, 2, 3};
    double d = 0.1;
    uint8_t b = 2, c = 200, xb[] = {0, 1, 2}; /* any byte but 0 is true */
    bind binds[] = {IN_SCALAR("i", I32, &i), IN_SCALAR("j", I32, &j),    IN_SCALAR("u", U32, &u),
                    IN_SCALAR("w", U64, &w), IN_SCALAR("s", I64, &s),    IN_SCALAR("f", F32, &f),
                    IN_SCALAR("d", F64, &d), IN_SCALAR("b", U8, &b),     IN_SCALAR("c", U8, &c),
                    IN_SCALAR("z", I32, &z), IN_ARRAY("xf", F32, xf),    IN_ARRAY("xi", I32, xi),
                    IN_ARRAY("xb", U8, xb),  {"out", true, held, out, 1}};
    hg_status status = run(text, 1, binds, HG_COUNT_OF(binds));
    free(text);
    return status == HG_OK;
}

#define I32_IS(expression, expected)                                            \
    do {                                                                        \
        int32_t got = 12345;                                                    \
        bool ran = eval("i32", expression, &got, HG_TYPE_I32);                  \
        CHECK_MESSAGE(ran &&got == (expected), "%s = %d (%s)", expression, got, \
                      ran ? "" : hg_last_error_text());                         \
    } while (0)
#define U64_IS(expression, expected)                                                               \
    do {                                                                                           \
        uint64_t got = 12345;                                                                      \
        bool ran = eval("u64", expression, &got, HG_TYPE_U64);                                     \
        CHECK_MESSAGE(ran &&got == (uint64_t)(expected), "%s = %" PRIu64 " (%s)", expression, got, \
                      ran ? "" : hg_last_error_text());                                            \
    } while (0)
#define F32_IS(expression, expected)                                                    \
    do {                                                                                \
        float got = 12345;                                                              \
        bool ran = eval("f32", expression, &got, HG_TYPE_F32);                          \
        CHECK_MESSAGE(ran &&got == (expected), "%s = %a (%s)", expression, (double)got, \
                      ran ? "" : hg_last_error_text());                                 \
    } while (0)
#define F64_IS(expression, expected)                                            \
    do {                                                                        \
        double got = 12345;                                                     \
        bool ran = eval("f64", expression, &got, HG_TYPE_F64);                  \
        CHECK_MESSAGE(ran &&got == (expected), "%s = %a (%s)", expression, got, \
                      ran ? "" : hg_last_error_text());                         \
    } while (0)
#define BOOL_IS(expression, expected)                                           \
    do {                                                                        \
        uint8_t got = 77;                                                       \
        bool ran = eval("bool", expression, &got, HG_TYPE_U8);                  \
        CHECK_MESSAGE(ran &&got == (expected), "%s = %u (%s)", expression, got, \
                      ran ? "" : hg_last_error_text());                         \
    } while (0)

static void check_arithmetic(void) {
    I32_IS(BIN("add", VAR("i"), VAR("j")), -5);
    I32_IS(BIN("sub", VAR("i"), LIT("3")), -10);
    I32_IS(BIN("mul", VAR("i"), VAR("j")), -14);
    I32_IS(BIN("div", VAR("i"), VAR("j")), -3);
    I32_IS(BIN("mod", VAR("i"), VAR("j")), -1);
    I32_IS(BIN("floor_div", VAR("i"), VAR("j")), -4);
    I32_IS(BIN("floor_div", VAR("i"), LIT("2")), -4);
    I32_IS(BIN("floor_div", VAR("i"), LIT("3")), -3);
    I32_IS(BIN("floor_div", VAR("i"), LIT("1")), -7);
    I32_IS(BIN("floor_div", LIT("7"), UN("neg", VAR("j"))), -4);
    I32_IS(BIN("floor_div", VAR("i"), UN("neg", VAR("j"))), 3);
    I32_IS(BIN("floor_div", LIT("6"), UN("neg", VAR("j"))), -3);
    I32_IS(BIN("floor_div", VAR("u"), LIT("2")), 3);
    F32_IS(BIN("floor_div", UN("neg", VAR("f")), LIT("1")), -3.0f);
    F32_IS(BIN("div", VAR("f"), LIT("2")), 1.25f);
    F32_IS(BIN("mod", UN("neg", VAR("f")), LIT("1.0")), -0.5f);
    I32_IS(UN("neg", VAR("i")), 7);
    I32_IS(UN("pos", VAR("i")), -7);
    I32_IS(UN("inv", VAR("i")), 6);
    I32_IS(UN("neg", UN("neg", LIT("5"))), 5);
    F64_IS(UN("neg", LIT("0.5")), -0.5);
    /* literals take the other side's type; rounded once */
    F32_IS(BIN("mul", LIT("3"), VAR("f")), 7.5f);
    F64_IS(BIN("add", VAR("d"), LIT("0.2")), 0.1 + 0.2);
    F64_IS(BIN("add", CALL("f64", VAR("f")), LIT("1")), 3.5);
    F32_IS(LIT("0.1"), 0.1f);
    F64_IS(LIT("0.1"), 0.1);
    F64_IS(LIT("16777217"), 16777217.0);
    U64_IS(LIT("18446744073709551615"), UINT64_MAX);
    F32_IS(BIN("add", LIT("0.5"), VAR("i")), -6.5f);
    /* mixed operands: the wider, u64 over i64, signed over unsigned of one width, float over
     * integer */
    U64_IS(BIN("add", VAR("w"), VAR("i")), 3);
    U64_IS(BIN("add", VAR("s"), VAR("w")), 1);
    I32_IS(CALL("i32", BIN("lt", VAR("i"), VAR("u"))), 1);
    BOOL_IS(BIN("lt", VAR("s"), VAR("w")), 0); /* as u64 */
    F32_IS(BIN("mul", VAR("f"), VAR("i")), -17.5f);
    F64_IS(BIN("mul", VAR("d"), VAR("i")), 0.1 * -7);
    F64_IS(BIN("add", VAR("d"), VAR("f")), 0.1 + 2.5);
    I32_IS(BIN("add", VAR("c"), LIT("100")), 44); /* u8 wraps */
    I32_IS(BIN("add", VAR("c"), VAR("i")), 193);
    /* a * b + c rounds twice: 0.1f * 10 + -1 is exactly 0 only then */
    F32_IS(BIN("add", BIN("mul", LIT("0.1"), CALL("f32", VAR("w"))), LIT("-1.0")), 0.0f);
}

static void check_truths(void) {
    BOOL_IS(BIN("lt", VAR("i"), VAR("j")), 1);
    BOOL_IS(BIN("le", VAR("j"), VAR("j")), 1);
    BOOL_IS(BIN("gt", VAR("i"), VAR("j")), 0);
    BOOL_IS(BIN("ge", VAR("i"), VAR("j")), 0);
    BOOL_IS(BIN("eq", VAR("f"), LIT("2.5")), 1);
    BOOL_IS(BIN("ne", VAR("f"), LIT("2.5")), 0);
    BOOL_IS(VAR("b"), 1);
    BOOL_IS(UN("not", VAR("b")), 0);
    BOOL_IS(UN("not", VAR("i")), 0);
    BOOL_IS(UN("not", BIN("lt", VAR("f"), BIN("div", LIT("0.0"), CALL("f32", VAR("z"))))),
            1); /* NaN:
                   not
                   less,
                   so
                   not(less)
                 */
    BOOL_IS(AT("xb", LIT("0")), 0);
    BOOL_IS(AT("xb", LIT("2")), 1);
    BOOL_IS(BIN("eq", VAR("b"), AT("xb", LIT("2"))), 1);
    BOOL_IS(BIN("and", VAR("b"), VAR("i")), 1);
    BOOL_IS(BIN("and", VAR("b"), VAR("z")), 0);
    BOOL_IS(BIN("or", VAR("z"), BIN("lt", VAR("j"), VAR("i"))), 0);
    BOOL_IS(BIN("or", VAR("z"), UN("not", BIN("lt", VAR("j"), VAR("i")))), 1);
    BOOL_IS(LIT("true"), 1);
    BOOL_IS(CALL("bool", VAR("f")), 1);
    I32_IS(CALL("i32", VAR("b")), 1);
    F32_IS(CALL("f32", BIN("lt", VAR("i"), VAR("j"))), 1.0f);
    I32_IS(BIN("add", CALL("i32", BIN("eq", LIT("1"), LIT("1"))), LIT("1")), 2);
    /* the right side is evaluated only when it decides: index 9 and z would be faults */
    BOOL_IS(BIN("and", VAR("z"), BIN("eq", AT("xi", LIT("9")), LIT("1"))), 0);
    BOOL_IS(BIN("or", VAR("b"), BIN("eq", BIN("div", VAR("i"), VAR("z")), LIT("1"))), 1);
    BOOL_IS(BIN("and", VAR("b"), BIN("eq", AT("xi", LIT("2")), LIT("7"))), 1);
    BOOL_IS(BIN("or", BIN("and", VAR("z"), AT("xb", LIT("9"))), AT("xb", LIT("1"))), 1);
    BOOL_IS(UN("not", BIN("or", BIN("and", VAR("z"), AT("xb", LIT("9"))), AT("xb", LIT("0")))), 1);
    BOOL_IS(BIN("and", UN("not", BIN("or", VAR("z"), AT("xb", LIT("1")))), AT("xb", LIT("9"))), 0);
    I32_IS(CHOOSE(BIN("gt", VAR("j"), LIT("5")), AT("xi", LIT("9")), LIT("3")), 3);
    I32_IS(CHOOSE(VAR("b"), AT("xi", LIT("1")), BIN("div", VAR("i"), VAR("z"))), -6);
    I32_IS(BIN("add", CHOOSE(VAR("b"), AT("xi", LIT("0")), VAR("i")),
               CHOOSE(VAR("z"), VAR("i"), AT("xi", LIT("1")))),
           -1);
    F32_IS(CHOOSE(VAR("b"), VAR("i"), VAR("f")), -7.0f); /* both sides become f32 */
    F32_IS(CHOOSE(VAR("b"), VAR("i"), AT("xf", LIT("9"))), -7.0f);
    I32_IS(CHOOSE(BIN("and", VAR("b"), BIN("gt", AT("xi", LIT("0")), LIT("4"))), LIT("1"),
                  AT("xi", LIT("2"))),
           1);
    BOOL_IS(CHOOSE(VAR("z"), BIN("lt", VAR("i"), VAR("j")), BIN("lt", VAR("j"), VAR("i"))), 0);
    BOOL_IS(CHOOSE(UN("not", BIN("lt", VAR("f"), LIT("1.0"))), LIT("true"), LIT("false")), 1);
    I32_IS(CHOOSE(LIT("true"), VAR("i"), VAR("j")), -7);
    I32_IS(CHOOSE(LIT("false"), AT("xi", LIT("9")), VAR("j")), 2);
}

static void check_functions(void) {
    U64_IS(BIN("add", LANE, LIT("5")), 5);
    F32_IS(CALL("sqrt", LIT("2.25")), 1.5f);
    F32_IS(CALL("sqrtf", VAR("f")), sqrtf(2.5f));
    F64_IS(CALL("sqrt", VAR("d")), sqrt(0.1));
    F32_IS(CALL("exp", LIT("0")), 1.0f);
    F32_IS(CALL("expf", LIT("0.0")), 1.0f);
    F32_IS(CALL("log", LIT("1.0")), 0.0f);
    F32_IS(CALL("logf", LIT("1")), 0.0f);
    F32_IS(CALL("sin", LIT("0.0")), 0.0f);
    F32_IS(CALL("sinf", LIT("0.0")), 0.0f);
    F32_IS(CALL("cos", VAR("z")), 1.0f); /* integers as f32 */
    F32_IS(CALL("cosf", LIT("0.0")), 1.0f);
    F32_IS(CALL("tanh", LIT("0.0")), 0.0f);
    F32_IS(CALL("rsqrt", LIT("4.0")), 0.5f);
    F32_IS(CALL("pow", LIT("2.0") "," LIT("10")), 1024.0f);
    F32_IS(CALL("pow", VAR("j") "," LIT("3")), 8.0f);
    I32_IS(CALL("abs", VAR("i")), 7);
    I32_IS(CALL("abs", VAR("u")), 7);
    I32_IS(CALL("min", VAR("i") "," LIT("2")), -7);
    I32_IS(CALL("max", VAR("i") "," VAR("u")), 7);
    F32_IS(CALL("max", VAR("f") "," LIT("3")), 3.0f);
    I32_IS(CALL("i32", VAR("f")), 2);
    I32_IS(CALL("int", LIT("-2.7")), -2);
    I32_IS(CALL("i8", LIT("200")), -56);
    U64_IS(CALL("u32", LIT("-1")), 4294967295u);
    F32_IS(CALL("float", VAR("i")), -7.0f);
    F64_IS(CALL("f64", LIT("0.1")), 0.1);
    U64_IS(CALL("usize", VAR("i")), (uint64_t)-7);
    I32_IS(CALL("u8", VAR("f")), 2);
    I32_IS(VAR("f"), 2); /* a store converts to the array's type */
    F32_IS(AT("xf", BIN("sub", VAR("j"), LIT("1"))), 2.0f);
    I32_IS(AT("xi", CALL("u8", VAR("f"))), 7);
}

/* ---- statements ---- */

static void check_statements(void) {
    int32_t out[8] = {0}, x[] = {3, -1, 4, -1, 5, -9, 2, 6}, n = 8;
    bind binds[] = {IN_ARRAY("x", I32, x), IN_ARRAY("out", I32, out), IN_SCALAR("n", I32, &n)};
#define LOOPS(body) KERNEL(ARRAY("x", "i32") "," ARRAY("out", "i32") "," SCALAR("n", "i32"), body)
#define RUN_LOOPS(body, lanes) \
    CHECK_MESSAGE(run(LOOPS(body), lanes, binds, 3) == HG_OK, "%s", hg_last_error_text())
    /* sum(range(n)); k is n - 1 afterwards, as in Python */
    RUN_LOOPS(LET("t", LIT("0")) "," FOR(
                  "k", LIT("0"), VAR("n"), LIT("1"),
                  SET("t", BIN("add", VAR("t"),
                               VAR("k")))) "," PUT("out", LIT("0"),
                                                   VAR("t")) "," PUT("out", LIT("1"), VAR("k")),
              1);
    CHECK(out[0] == 28 && out[1] == 7);
    /* the variable of a loop begins anew with another type: i32, i64; in the body of a loop too; k
     * is the last one's */
    RUN_LOOPS(
        LET("t", LIT("0")) "," FOR(
            "k", LIT("0"), LIT("4"), LIT("1"),
            SET("t",
                BIN("add", VAR("t"),
                    VAR("k")))) "," FOR("k", LIT("0"), CALL("i64", VAR("n")), LIT("1"),
                                        SET("t",
                                            BIN("add", VAR("t"),
                                                CALL(
                                                    "i32",
                                                    VAR("k"))))) "," PUT("out", LIT("0"),
                                                                         VAR("t")) "," PUT("out",
                                                                                           LIT("1"),
                                                                                           VAR("k")),
        1);
    CHECK(out[0] == 6 + 28 && out[1] == 7);
    RUN_LOOPS(
        LET("t", LIT("0")) "," FOR(
            "r", LIT("0"), LIT("3"), LIT("1"),
            FOR("k", LIT("0"), LIT("4"), LIT("1"),
                SET("t", BIN("add", VAR("t"),
                             VAR("k")))) "," FOR("k", LIT("0"), CALL("i64", VAR("n")), LIT("1"),
                                                 SET("t", BIN("add", VAR("t"),
                                                              CALL("i32",
                                                                   VAR("k")))))) "," PUT("out",
                                                                                         LIT("0"),
                                                                                         VAR("t")),
        1);
    CHECK(out[0] == 3 * (6 + 28));
    /* range(7, 0, -2) and a loop that does not run */
    RUN_LOOPS(
        LET("t", LIT("0")) "," FOR(
            "k", BIN("sub", VAR("n"), LIT("1")), LIT("0"), UN("neg", LIT("2")),
            SET("t", BIN("add", BIN("mul", VAR("t"), LIT("10")),
                         VAR("k")))) "," PUT("out", LIT("0"),
                                             VAR("t")) "," FOR("q", LIT("3"), LIT("3"), LIT("1"),
                                                               PUT("out", LIT("1"), LIT("99"))),
        1);
    CHECK(out[0] == 7531 && out[1] == 7);
    /* a step that only the run knows, up and down */
    RUN_LOOPS(
        LET("t", LIT("0")) "," FOR(
            "k", LIT("0"), VAR("n"), AT("x", LIT("0")),
            SET("t", BIN("add", BIN("mul", VAR("t"), LIT("10")),
                         VAR("k")))) "," FOR("m", LIT("5"), LIT("0"), AT("x", LIT("1")),
                                             SET("t", BIN("add", BIN("mul", VAR("t"), LIT("10")),
                                                          VAR("m")))) "," PUT("out", LIT("0"),
                                                                              VAR("t")),
        1);
    CHECK_U64(out[0], 3654321); /* 0, 3, 6, then 5 4 3 2 1 */
    /* bounds are evaluated once, and a body may change what they came from */
    RUN_LOOPS(LET("e", VAR("n")) "," LET("t", LIT("0")) "," FOR(
                  "k", LIT("0"), VAR("e"), LIT("1"),
                  SET("e", LIT("0")) "," SET(
                      "t", BIN("add", VAR("t"),
                               LIT("1")))) "," PUT("out", LIT("0"),
                                                   VAR("t")) "," PUT("out", LIT("1"), VAR("e")),
              1);
    CHECK(out[0] == 8 && out[1] == 0);
    /* nested loops, index values kept across statements but not across what changes them */
    RUN_LOOPS(
        LET("i", LANE) "," LET("k", LIT("0")) "," PUT("out", VAR("i"), AT("x", VAR("k"))) "," SET(
            "k",
            LIT("1")) "," PUT("out", VAR("i"),
                              BIN("add", BIN("mul", AT("out", VAR("i")), LIT("100")),
                                  AT("x",
                                     VAR("k")))) "," WHILE(BIN("lt", VAR("k"), LIT("4")),
                                                           SET("k",
                                                               BIN("add", VAR("k"),
                                                                   LIT("1")))) "," PUT("out",
                                                                                       VAR("i"),
                                                                                       BIN("add",
                                                                                           BIN("mu"
                                                                                               "l",
                                                                                               AT("out",
                                                                                                  VAR("i")),
                                                                                               LIT("100")),
                                                                                           AT("x",
                                                                                              VAR("k")))),
        2);
    CHECK(out[0] == (3 * 100 - 1) * 100 + 5 && out[1] == out[0]);
    /* collatz steps of 6: while with a branch inside */
    RUN_LOOPS(
        LET("v", AT("x", LIT("7"))) "," LET("c", LIT("0")) "," WHILE(
            BIN("ne", VAR("v"), LIT("1")),
            IF(BIN("eq", BIN("mod", VAR("v"), LIT("2")), LIT("0")),
               SET("v", BIN("div", VAR("v"), LIT("2"))),
               "[" SET("v", BIN("add", BIN("mul", VAR("v"), LIT("3")),
                                LIT("1"))) "]") "," SET("c", BIN("add", VAR("c"),
                                                                 LIT("1")))) "," PUT("out",
                                                                                     LIT("0"),
                                                                                     VAR("c")),
        1);
    CHECK_U64(out[0], 8);
    /* else, elif, return in one branch, a variable that both branches give a value */
    RUN_LOOPS(
        LET("i", CALL("i32", LANE)) "," IF(BIN("ge", VAR("i"), VAR("n")), RETURN, "null") "," IF(
            BIN("lt", AT("x", VAR("i")), LIT("0")), LET("v", LIT("-1")),
            "[" IF(BIN("gt", AT("x", VAR("i")), LIT("4")), LET("v", LIT("1")),
                   "[" LET("v", LIT("0")) "]") "]") "," PUT("out", VAR("i"), VAR("v")),
        20);
    int32_t signs[] = {0, -1, 0, -1, 1, -1, 0, 1};
    CHECK(memcmp(out, signs, sizeof signs) == 0);
    /* conditions with and, or, not jump */
    RUN_LOOPS(
        LET("i", CALL("i32", LANE)) "," IF(
            BIN("and", BIN("lt", VAR("i"), VAR("n")),
                BIN("or", BIN("gt", AT("x", VAR("i")), LIT("4")),
                    UN("not", BIN("ge", AT("x", VAR("i")), LIT("0"))))),
            PUT("out", VAR("i"), LIT("7")),
            "[" IF(BIN("lt", VAR("i"), VAR("n")), PUT("out", VAR("i"), LIT("8")), "null") "]"),
        20);
    int32_t marks[] = {8, 7, 8, 7, 7, 7, 8, 7};
    CHECK(memcmp(out, marks, sizeof marks) == 0);
    /* a parameter may be assigned; bool variables */
    RUN_LOOPS(
        SET("n", BIN("mul", VAR("n"), LIT("2"))) "," LET("t", BIN("gt", VAR("n"), LIT("15"))) "," LET(
            "s",
            VAR("t")) "," SET("t",
                              UN("not",
                                 VAR("t"))) "," PUT("out", LIT("0"),
                                                    CHOOSE(
                                                        VAR("s"), VAR("n"),
                                                        LIT("1"))) "," IF(VAR("t"),
                                                                          PUT("out", LIT("0"),
                                                                              LIT("5")),
                                                                          "[]") "," IF(VAR("n"),
                                                                                       PUT("out",
                                                                                           LIT("1"),
                                                                                           LIT("6")),
                                                                                       "null"),
        1);
    CHECK(out[0] == 16 && out[1] == 6);
    /* swap through a temporary: a name of a register is no alias of one that changes */
    RUN_LOOPS(LET("a", LIT("1")) "," LET("b", LIT("2")) "," LET("t", VAR("a")) "," SET(
                  "a", VAR("b")) "," SET("b", VAR("t")) "," PUT("out", LIT("0"),
                                                                BIN("add",
                                                                    BIN("mul", VAR("a"), LIT("10")),
                                                                    VAR("b"))),
              1);
    CHECK_U64(out[0], 21);
    /* a division that the loop would come to is not carried out in front of it */
    RUN_LOOPS(PUT("out", LIT("0"), LIT("6")) "," LET("z", BIN("sub", VAR("n"), VAR("n"))) "," FOR(
                  "k", LIT("0"), VAR("z"), LIT("1"),
                  PUT("out", BIN("div", VAR("n"), VAR("z")), LIT("7"))),
              1);
    CHECK_U64(out[0], 6);
    /* return ends the lane: its value is not evaluated, what follows does not run */
    RUN_LOOPS(PUT("out", LIT("0"), LIT("4")) ",{'type':'return','value':" AT(
                  "x", LIT("1000")) "}," PUT("out", LIT("0"), LIT("5")),
              1);
    CHECK_U64(out[0], 4);
    /* but for what others see of it */
    RUN_LOOPS(PUT("out", LIT("1"), LIT("3000000000")) ",{'type':'return','value':" CALL(
                  "atomic_add", VAR("out") "," LIT("0") "," LIT("2")) "}",
              3);
    CHECK_U64(out[0], 10);
    CHECK(out[1] == -1294967296); /* a literal that its target does not hold is converted */
    /* a call as a statement */
    RUN_LOOPS(PUT("out", LIT("0"),
                  LIT("0")) "," CALL("atomic_add", VAR("out") "," LIT("0") "," CALL("i32", LANE)),
              100);
    CHECK_U64(out[0], 4950);
    RUN_LOOPS(LET("old", CALL("atomic_min_i32", VAR("out") "," LIT("0") "," LIT("-5"))) "," PUT(
                  "out", LIT("1"), VAR("old")),
              1);
    CHECK(out[0] == -5 && out[1] == 4950);
}

static void check_step_zero(void) {
    int32_t out[1] = {0}, step = 0;
    bind binds[] = {IN_ARRAY("out", I32, out), IN_SCALAR("s", I32, &step)};
    const char *text = KERNEL(
        ARRAY("out", "i32") "," SCALAR("s", "i32"),
        FOR("k", LIT("0"), LIT("5"), VAR("s"), PUT("out", LIT("0"), LIT("1"))));
    CHECK(run(text, 1, binds, 2) == HG_ERROR_EXECUTION_FAILED &&
          strcmp(hg_last_error()->code, "F02") == 0);
    step = 2;
    CHECK(run(text, 1, binds, 2) == HG_OK && out[0] == 1);
}

static void check_collectives(void) {
    float a[] = {-1, 2, -3, 4}, b[] = {1, 1, 2, 2}, out[4] = {0}, sum[1] = {0};
    uint32_t n = 4;
    bind binds[] = {IN_ARRAY("a", F32, a), IN_ARRAY("b", F32, b), IN_ARRAY("out", F32, out),
                    IN_ARRAY("sum", F32, sum), IN_SCALAR("n", U32, &n)};
#define COLLECTIVES   \
    ARRAY("a", "f32") \
    "," ARRAY("b", "f32") "," ARRAY("out", "f32") "," ARRAY("sum", "f32") "," SCALAR("n", "u32")
    CHECK(
        run(KERNEL(COLLECTIVES, "{'type':'parallel_map_binary','input_a':'a','input_b':" VAR("b") ",'output':'out','operation':'Add','count':" VAR(
                                    "n") "},"
                                         "{'type':'"
                                         "parallel_map_"
                                         "unary','input':'"
                                         "out','output':'"
                                         "out'"
                                         ",'operation':'"
                                         "RELU','count':4},"
                                         "{'type':'"
                                         "parallel_reduce',"
                                         "'input':" VAR(
                                             "ou"
                                             "t") ",'output':" VAR("sum") ",'"
                                                                          "operat"
                                                                          "ion':'"
                                                                          "sum','"
                                                                          "count'"
                                                                          ":" BIN("su"
                                                                                  "b",
                                                                                  VAR("n"),
                                                                                  LIT("0")) "}"),
            8, binds, 5) == HG_OK);
    CHECK(out[0] == 0 && out[1] == 3 && out[2] == 0 && out[3] == 6 && sum[0] == 9);
}

/* Lines of faults point into the document. */
static void check_fault_place(void) {
    int32_t x[2] = {0}, out[1] = {0};
    bind binds[] = {IN_ARRAY("x", I32, x), IN_ARRAY("out", I32, out)};
    const char *text = KERNEL(
        ARRAY("x", "i32") "," ARRAY("out", "i32"),
        "\n\n" LET("i", LANE) ",\n" PUT("out", LIT("0"), "\n     " AT("x", VAR("i"))));
    CHECK(run(text, 5, binds, 2) == HG_ERROR_EXECUTION_FAILED &&
          strcmp(hg_last_error()->code, "F01") == 0);
    CHECK(hg_last_error()->line == 5 && hg_last_error()->column == 6 && hg_last_error()->lane == 2);
}

/* ---- errors ---- */

static void check_error_at(const char *text, const char *code, const char *message,
                           const char *hint, int line) {
    char *json = quoted(text);
    hg_program *program = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = hg_json_to_isa_translate(json, strlen(json), d, &program);
    CHECK_MESSAGE(status == HG_ERROR_ISA && hg_diagnostics_count(d) == 1,
                  "%s\n   %zu errors, status %d", text, hg_diagnostics_count(d), (int)status);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    if (g) {
        CHECK_MESSAGE(strcmp(g->code, code) == 0 && strcmp(g->message, message) == 0,
                      "%s\n   says %s: %s\n   not  %s: %s", text, g->code, g->message, code,
                      message);
        if (hint)
            CHECK_MESSAGE(g->hint && strcmp(g->hint, hint) == 0, "%s\n   hint %s", text,
                          g->hint ? g->hint : "(none)");
        CHECK(g->line > 0 && g->column > 0 &&
              strncmp(hg_last_error()->message, g->message, strlen(g->message)) == 0);
        if (line) CHECK_U64(g->line, (uint64_t)line);
        CHECK_TEXT(hg_last_error()->code, code);
    }
    for (size_t i = 1; i < hg_diagnostics_count(d); i++)
        fprintf(stderr, "   also %s: %s\n", hg_diagnostics_get(d, i)->code,
                hg_diagnostics_get(d, i)->message);
    CHECK(!program);
    hg_program_release(program);
    hg_diagnostics_destroy(d);
    free(json);
}
static void check_error(const char *text, const char *code, const char *message) {
    check_error_at(text, code, message, NULL, 0);
}
/* Of one statement in a kernel with x (f32), y (i32), p (f32), n (u64), q (bool), h (device_ptr).
 */
#define ERROR_PARAMS                                                                \
    ARRAY("x", "f32")                                                               \
    "," ARRAY("y", "i32") "," SCALAR("p", "f32") "," SCALAR("n", "u64") "," SCALAR( \
        "q", "bool") ",{'name':'h','type':{'kind':"                                 \
                     "'device_ptr'}}"
#define BODY_ERROR(body, code, message) check_error(KERNEL(ERROR_PARAMS, body), code, message)
#define VALUE_ERROR(value, code, message) BODY_ERROR(LET("v", value), code, message)

static void check_document_errors(void) {
    check_error("", "S02", "expected a value, got the end of the text");
    check_error("{'version':'1.0',}", "S02", "expected a key in double quotes, got '}'");
    check_error("{'version':'1.0','version':'1.0'}", "D02",
                "the key 'version' stands twice in this object");
    check_error("\xFF", "S01", "byte 0xff is not UTF-8");
    check_error("[01]", "S03", "a number has no leading zeros");
    check_error("3", "N03", "expected an object, got 3");
    check_error("[]", "N03", "there is no kernel in this array");
    check_error("{'kernel':{'name':'k','params':[],'body':[" RETURN "]}}", "N05",
                "'version' is missing: a string is expected");
    check_error("{'version':2,'kernel':{'name':'k','params':[],'body':[]}}", "N03",
                "version: expected a string, got 2");
    check_error_at("{'version':'1.1',\n'kernel':5}", "S06",
                   "version: Unsupported schema version: 1.1", "this library reads version 1.0", 1);
    check_error("{'version':'1.0'}", "N05", "'kernel' is missing: an object is expected");
    check_error("{'version':'1.0','kernel':[]}", "N03", "kernel: expected an object, got an array");
    check_error("{'version':'1.0','kernel':{'name':'','params':[],'body':[" RETURN "]}}", "N03",
                "kernel.name: Kernel name cannot be empty");
    check_error("{'version':'1.0','kernel':{'name':'k','body':[]}}", "N05",
                "kernel: 'params' is missing: an array is expected");
    check_error("{'version':'1.0','kernel':{'name':'k','params':[]}}", "N05",
                "kernel: 'body' is missing: an array is expected");
    check_error("{'version':'1.0','kernel':{'name':'k','params':[],'body':{}}}", "N03",
                "kernel.body: expected an array of statements, got an object");
    check_error(KERNEL("7", RETURN), "N03",
                "kernel.params[0]: expected a parameter {\"name\": …, \"type\": …}, got 7");
    check_error(KERNEL("{'name':'a'}", RETURN), "N05",
                "kernel.params[0]: 'type' is missing: a type is expected");
    check_error(KERNEL("{'name':'r1','type':{'kind':'device_ptr'}}", RETURN), "N03",
                "kernel.params[0].name: 'r1' cannot be a parameter's name");
    check_error(KERNEL(SCALAR("a", "f32") "," SCALAR("a", "f32"), RETURN), "D02",
                "kernel.params[1].name: parameter 'a' is declared twice");
    check_error_at(KERNEL(SCALAR("a", "f16"), RETURN), "N01",
                   "kernel.params[0].type.type: unknown scalar type 'f16'",
                   "one of: u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 bool usize", 1);
    check_error_at(KERNEL("{'name':'a','type':{'kind':'scaler','type':'f32'}}", RETURN), "N01",
                   "kernel.params[0].type.kind: unknown kind of type 'scaler'",
                   "did you mean 'scalar'?", 1);
    check_error(KERNEL("{'name':'a','type':{'kind':'device_array'}}", RETURN), "N05",
                "kernel.params[0].type: 'element_type' is missing: a scalar type is expected");
    check_error(
        KERNEL("{'name':'a','type':{'kind':'device_array','element_type':{'kind':'device_ptr'}}}",
               RETURN),
        "N03", "kernel.params[0].type.element_type.kind: expected a scalar type, got 'device_ptr'");
    check_error("[" NAMED("a", "", RETURN) "," NAMED("b", "", RETURN) "]", "N04",
                "2 kernels: choose one by its name");
}

static void check_statement_errors(void) {
    BODY_ERROR("5", "N03", "kernel.body[0]: expected a statement, got 5");
    BODY_ERROR("{}", "N05", "kernel.body[0]: 'type' is missing: a string is expected");
    BODY_ERROR("{'type':'lett'}", "N01", "kernel.body[0].type: unknown statement 'lett'");
    BODY_ERROR("{'type':'parallel_scan','input':'x','output':'x','operation':'sum','count':3,"
               "'reverse':1}",
               "N03", "kernel.body[0].reverse: expected true or false, got 1");
    BODY_ERROR("{'type':'parallel_scatter','input':'x','indices':'x','output':'x','count':3,"
               "'size':3}",
               "N06", "kernel.body[0].indices: indices are u32 or i64, got f32");
    BODY_ERROR("{'type':'parallel_scatter','input':'x','indices':'x','output':'x','count':3,"
               "'size':3,'operation':'min'}",
               "N01", "kernel.body[0].operation: unknown operation 'min'");
    BODY_ERROR("{'type':'parallel_gather','input':'x','indices':'x','output':'x','count':3}", "N05",
               "kernel.body[0]: 'size' is missing: an integer is expected");
    BODY_ERROR(RETURN "," LET("v", "{'type':'literal'}"), "N05",
               "kernel.body[1].value: 'value' is missing: a number or a boolean is expected");
    BODY_ERROR("{'type':'let','name':3,'value':" LIT("1") "}", "N03",
               "kernel.body[0].name: expected a string, got 3");
    BODY_ERROR(SET("v", LIT("1")), "D03", "kernel.body[0].target.name: there is no variable 'v'");
    BODY_ERROR("{'type':'assign','target':" LIT("1") ",'value':" LIT("1") "}", "N03",
               "kernel.body[0].target.type: expected a var or an index as target, got 'literal'");
    BODY_ERROR(SET("x", LIT("1")), "N06", "kernel.body[0].target.name: 'x' is an array");
    BODY_ERROR(LET("v", LIT("1")) "," LET("v", LIT("1.5")), "V03",
               "kernel.body[1].name: variable 'v' changes its type from i32 to f32");
    BODY_ERROR(
        FOR("v", LIT("0"), LIT("2"), LIT("1"), FOR("v", LIT("0"), VAR("n"), LIT("1"), RETURN)),
        "V03", "kernel.body[0].body[0].var: variable 'v' changes its type from i32 to u64");
    /* the next round would read the old one */
    BODY_ERROR(LET("v", LIT("1")) "," FOR("k", LIT("0"), LIT("2"), LIT("1"),
                                          FOR("v", LIT("0"), VAR("n"), LIT("1"), RETURN)),
               "V03", "kernel.body[1].body[0].var: variable 'v' changes its type from i32 to u64");
    BODY_ERROR(LET("v", LIT("1")) "," IF(VAR("q"), FOR("v", LIT("0"), VAR("n"), LIT("1"), RETURN),
                                         "null") "," PUT("y", LIT("0"), VAR("v")),
               "V01", "kernel.body[2].value.name: variable 'v' has no value on every path to here");
    BODY_ERROR(IF(VAR("q"), LET("v", LIT("1")), "null") "," PUT("y", LIT("0"), VAR("v")), "V01",
               "kernel.body[1].value.name: variable 'v' has no value on every path to here");
    BODY_ERROR(
        FOR("k", LIT("0"), VAR("n"), LIT("1"), LET("v", LIT("1"))) "," PUT("y", LIT("0"), VAR("v")),
        "V01", "kernel.body[1].value.name: variable 'v' has no value on every path to here");
    BODY_ERROR(
        IF(VAR("q"), LET("v", LIT("1")), "[" LET("w", VAR("v")) "]"), "V01",
        "kernel.body[0].else_body[0].value.name: variable 'v' has no value on every path to here");
    BODY_ERROR(IF(VAR("p"), RETURN, "null"), "N06",
               "kernel.body[0].condition: a condition is a bool or an integer, got f32");
    BODY_ERROR(IF(VAR("q"), "", "4"), "N03",
               "kernel.body[0].else_body: expected an array of statements or null, got 4");
    BODY_ERROR(FOR("k", LIT("0"), VAR("n"), LIT("0"), ""), "N03",
               "kernel.body[0].step.value: the step of a for loop cannot be 0");
    BODY_ERROR(
        FOR("k", LIT("0.0"), VAR("n"), LIT("1"), ""), "N06",
        "kernel.body[0].start.value: the start of a for loop is an integer, got a real literal");
    BODY_ERROR(FOR("k", LIT("0"), VAR("p"), LIT("1"), ""), "N06",
               "kernel.body[0].stop: the stop of a for loop is an integer, got f32");
    BODY_ERROR("{'type':'for','var':'k','stop':" VAR("n") ",'step':" LIT("1") ",'body':[]}", "N05",
               "kernel.body[0]: 'start' is missing: an expression is expected");
    BODY_ERROR(
        "{'type':'parallel_map_unary','input':'y','output':'y','operation':'sqrt','count':3}",
        "N06", "kernel.body[0].output: sqrt of i32");
    BODY_ERROR("{'type':'parallel_map_unary','input':'x','output':'x','operation':'add','count':3}",
               "N01", "kernel.body[0].operation: unknown operation 'add'");
    BODY_ERROR("{'type':'parallel_reduce','input':'x','output':'y','operation':'sum','count':3}",
               "N06",
               "kernel.body[0].input: the arrays of one operation have one type, got i32 and f32");
    BODY_ERROR("{'type':'parallel_reduce','input':'x','output':'x','operation':'sum','count':" VAR(
                   "p") "}",
               "N06", "kernel.body[0].count: a count is an integer, got f32");
}

static void check_expression_errors(void) {
    VALUE_ERROR("3", "N03", "kernel.body[0].value: expected an expression, got 3");
    VALUE_ERROR("{'type':'vor'}", "N01", "kernel.body[0].value.type: unknown expression 'vor'");
    VALUE_ERROR(LIT("'a'"), "N03",
                "kernel.body[0].value.value: expected a number or a boolean, got 'a'");
    VALUE_ERROR(
        LIT("99999999999999999999"), "S04",
        "kernel.body[0].value.value: literal 99999999999999999999 out of range for type i64");
    VALUE_ERROR(LIT("1e39"), "S04",
                "kernel.body[0].value.value: literal 1e39 out of range for type f32");
    VALUE_ERROR(BIN("add", VAR("n"), LIT("-1")), "S04",
                "kernel.body[0].value.right.value: literal -1 out of range for type u64");
    VALUE_ERROR(VAR("m"), "D03", "kernel.body[0].value.name: there is no variable 'm'");
    BODY_ERROR(LET("v", VAR("m")) "," LET("w", BIN("add", VAR("m"), VAR("v"))), "D03",
               "kernel.body[0].value.name: there is no variable 'm'");
    VALUE_ERROR(VAR("x"), "N06", "kernel.body[0].value.name: 'x' is an array");
    VALUE_ERROR(AT("p", LIT("0")), "N06",
                "kernel.body[0].value.array.name: 'p' is f32, not an array");
    VALUE_ERROR(AT("h", LIT("0")), "N06",
                "kernel.body[0].value.array.name: 'h' is a device_ptr: its elements have no type");
    VALUE_ERROR(AT("x", VAR("p")), "N06",
                "kernel.body[0].value.index: an index is an integer, got f32");
    VALUE_ERROR(AT("x", LIT("-1")), "S04",
                "kernel.body[0].value.index.value: literal -1 out of range for type u64");
    VALUE_ERROR(BIN("plus", LIT("1"), LIT("2")), "N01",
                "kernel.body[0].value.op: unknown operator 'plus'");
    VALUE_ERROR(BIN("unknown", LIT("1"), LIT("2")), "N01",
                "kernel.body[0].value.op: the producer has no name for this operator: 'unknown'");
    VALUE_ERROR(BIN("add", VAR("q"), LIT("2")), "N06",
                "kernel.body[0].value: add of bool and an integer literal");
    VALUE_ERROR(BIN("lt", VAR("q"), VAR("q")), "N06", "kernel.body[0].value: lt of bool");
    VALUE_ERROR(BIN("and", VAR("p"), VAR("q")), "N06",
                "kernel.body[0].value.left: a condition is a bool or an integer, got f32");
    VALUE_ERROR(UN("neg", VAR("q")), "N06", "kernel.body[0].value: neg of bool");
    VALUE_ERROR(UN("inv", VAR("p")), "N06", "kernel.body[0].value: inv of f32");
    VALUE_ERROR(UN("minus", VAR("p")), "N01", "kernel.body[0].value.op: unknown operator 'minus'");
    VALUE_ERROR(CALL("exq", VAR("p")), "N01",
                "kernel.body[0].value.function: unknown function 'exq'");
    VALUE_ERROR(CALL("exp", ""), "N04", "kernel.body[0].value.args: 'exp' takes 1 argument, got 0");
    VALUE_ERROR(CALL("pow", VAR("p")), "N04",
                "kernel.body[0].value.args: 'pow' takes 2 arguments, got 1");
    VALUE_ERROR(CALL("sin", VAR("q")), "N06", "kernel.body[0].value: sin of bool");
    VALUE_ERROR(CALL("parallel_gather", ""), "N01",
                "kernel.body[0].value.function: 'parallel_gather' is a reserved name: this version "
                "has no such function");
    VALUE_ERROR(CALL("f32", VAR("h")), "N06",
                "kernel.body[0].value: a device_ptr does not become f32");
    VALUE_ERROR(CHOOSE(VAR("q"), VAR("p"), VAR("q")), "N06",
                "kernel.body[0].value: the sides of if_expr are f32 and bool");
    VALUE_ERROR(CHOOSE(VAR("p"), VAR("p"), VAR("p")), "N06",
                "kernel.body[0].value.condition: a condition is a bool or an integer, got f32");
    VALUE_ERROR(CALL("atomic_add_f32", VAR("x") "," LIT("0") "," LIT("1.0")), "N06",
                "kernel.body[0].value.function: atomic_add_f32 is not supported: its result would "
                "depend on lane order; use parallel_reduce");
    VALUE_ERROR(CALL("atomic_add", VAR("x") "," LIT("0") "," LIT("1.0")), "N06",
                "kernel.body[0].value.function: atomic_add_f32 is not supported: its result would "
                "depend on lane order; use parallel_reduce");
    VALUE_ERROR(
        CALL("atomic_add_u32", VAR("y") "," LIT("0") "," LIT("1")), "N06",
        "kernel.body[0].value.args[0]: atomic_add_u32 expects an array of u32, got one of i32");
    VALUE_ERROR(CALL("atomic_add", VAR("y") "," LIT("0")), "N04",
                "kernel.body[0].value.args: 'atomic_add' takes 3 arguments, got 2");
}

/* Several mistakes are several errors, in order; one of them is not two. */
static void check_many_errors(void) {
    char *json = quoted(KERNEL(
        ERROR_PARAMS,
        LET("a", VAR("no1")) ",\n" LET("b", BIN("add", VAR("a"), VAR("no2"))) ",\n" PUT(
            "x", VAR("b"), CALL("nothing", "")) ",\n" IF(VAR("p"), LET("c", VAR("no1")), "null")));
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *program = NULL;
    CHECK(hg_json_to_isa_translate(json, strlen(json), d, &program) == HG_ERROR_ISA);
    CHECK_U64(hg_diagnostics_count(d), 4);
    for (size_t i = 0; i < 4 && i < hg_diagnostics_count(d); i++)
        CHECK_U64(hg_diagnostics_get(d, i)->line, i + 1);
    hg_diagnostics_destroy(d);
    free(json);
}

/* Places in a list longer than a walk from its start for each mistake would bear: 1,000 mistakes
 * behind two million statements (a hundredth under a sanitizer). */
static void check_late_errors(void) {
    enum { GOOD = SANITIZED ? 20000 : 2000000, WRONG = 1000 };
    static const char
        good[] = "{\"type\":\"return\"},",
        wrong[] = "{\"type\":\"x\"},",
        head[] = "{\"version\":\"1.0\",\"kernel\":{\"name\":\"k\",\"params\":[],\"body\":[",
        tail[] = "{\"type\":\"y\"}]}}";
    char *json = malloc(sizeof head + sizeof tail + GOOD * (sizeof good - 1) +
                        WRONG * (sizeof wrong - 1)),
         *at = json;
    memcpy(at, head, sizeof head - 1);
    at += sizeof head - 1;
    for (int i = 0; i < GOOD + WRONG; i++) {
        size_t length = i < GOOD ? sizeof good - 1 : sizeof wrong - 1;
        memcpy(at, i < GOOD ? good : wrong, length);
        at += length;
    }
    memcpy(at, tail, sizeof tail - 1);
    at += sizeof tail - 1;
    hg_diagnostics *d = hg_diagnostics_create(WRONG);
    hg_program *program = NULL;
    CHECK(hg_json_to_isa_translate(json, (size_t)(at - json), d, &program) == HG_ERROR_ISA);
    char text[80];
    snprintf(text, sizeof text, "kernel.body[%d].type: unknown statement 'x'", GOOD);
    CHECK_TEXT(hg_last_error()->message, text);
    snprintf(text, sizeof text, "kernel.body[%d].type: unknown statement 'x'", GOOD + WRONG - 1);
    CHECK_TEXT(hg_diagnostics_get(d, WRONG - 1)->message, text);
    hg_diagnostics_destroy(d);
    free(json);
}

/* ---- kernels by name ---- */

static void check_named(void) {
    float a[] = {1, -2, 3}, b[] = {4, 5, -6}, out[3] = {0};
    uint64_t n = 3;
    bind three[] = {IN_ARRAY("a", F32, a), IN_ARRAY("b", F32, b), IN_ARRAY("out", F32, out),
                    IN_SCALAR("n", U64, &n)};
    bind two[] = {IN_ARRAY("a", F32, a), IN_ARRAY("out", F32, out), IN_SCALAR("n", U64, &n)};
#define THREE ARRAY("a", "f32") "," ARRAY("b", "f32") "," ARRAY("out", "f32") "," SCALAR("n", "u64")
#define TWO ARRAY("a", "f32") "," ARRAY("out", "f32") "," SCALAR("n", "u64")
    CHECK(run(NAMED("vector_add_f32", THREE, ""), 10, three, 4) == HG_OK && out[0] == 5 &&
          out[1] == 3 && out[2] == -3);
    CHECK(run(NAMED("MAX2", THREE, ""), 10, three, 4) == HG_OK && out[0] == 4 && out[1] == 5 &&
          out[2] == 3);
    CHECK(run(NAMED("relu", TWO, ""), 10, two, 3) == HG_OK && out[0] == 1 && out[1] == 0 &&
          out[2] == 3);
    CHECK(run(NAMED("k_abs", TWO, ""), 10, two, 3) == HG_OK && out[1] == 2);
    CHECK(run(NAMED("reshape", TWO, ""), 10, two, 3) == HG_OK && out[1] == -2);
    CHECK(run(NAMED("sum", TWO, ""), 1, two, 3) == HG_OK && out[0] == 2);
    CHECK_U64(length_of(NAMED("vector_add_f32", THREE, "")), 9);
    CHECK_U64(length_of(NAMED("neg", TWO, "")), 8);
    /* an integer count of another type is widened */
    int32_t n32 = 2;
    bind narrow[] = {IN_ARRAY("a", F32, a), IN_ARRAY("out", F32, out), IN_SCALAR("n", I32, &n32)};
    out[2] = 77;
    CHECK(run(NAMED("neg", ARRAY("a", "f32") "," ARRAY("out", "f32") "," SCALAR("n", "i32"), ""),
              10, narrow, 3) == HG_OK &&
          out[1] == 2 && out[2] == 77);
    float factor = 3;
    bind scaled[] = {IN_ARRAY("a", F32, a), IN_ARRAY("out", F32, out), IN_SCALAR("n", U64, &n),
                     IN_SCALAR("s", F32, &factor)};
    CHECK(run(NAMED("mul_scalar", TWO "," SCALAR("s", "f32"), ""), 10, scaled, 4) == HG_OK &&
          out[0] == 3 && out[2] == 9);
    uint32_t indices[] = {2, 2, 0};
    bind gather[] = {IN_ARRAY("a", F32, a), IN_ARRAY("i", U32, indices), IN_ARRAY("out", F32, out),
                     IN_SCALAR("n", U64, &n)};
    CHECK(run(NAMED("gather_rows",
                    ARRAY("a", "f32") "," ARRAY("i", "u32") "," ARRAY("out",
                                                                      "f32") "," SCALAR("n", "u64"),
                    ""),
              3, gather, 4) == HG_OK);
    CHECK(out[0] == 3 && out[1] == 3 && out[2] == 1);
    /* the traps: whole words, products of matrices first */
    check_error(NAMED("matmul", THREE, ""), "N05",
                "kernel.params: an integer parameter is missing: 'm'");
    check_error(NAMED("gemm_add", THREE, ""), "N05",
                "kernel.params: an integer parameter is missing: 'm'");
    check_error(NAMED("cosh", TWO, ""), "N01",
                "kernel.name: ERROR: Unknown complex operation: cosh");
    check_error(NAMED("sinh_1", TWO, ""), "N01",
                "kernel.name: ERROR: Unknown complex operation: sinh_1");
    check_error(NAMED("expand", TWO, ""), "N01",
                "kernel.name: ERROR: Unknown complex operation: expand");
    check_error(NAMED("address", THREE, ""), "N01",
                "kernel.name: ERROR: Unknown complex operation: address");
    check_error(NAMED("max_pool2d", TWO, ""), "N05",
                "kernel.params: an integer parameter is missing: 'width'");
    check_error(NAMED("attention", TWO, ""), "N05",
                "kernel.params: a device array is missing: 'value'");
    check_error(NAMED("add", TWO, ""), "N04",
                "kernel.params: a kernel of this name without a body has 3 device arrays, not 2");
    check_error(NAMED("sum", ARRAY("a", "f32") "," ARRAY("out", "f32"), ""), "N05",
                "kernel.params: an integer parameter is missing: the number of elements");
    check_error(NAMED("exp", ARRAY("a", "i32") "," ARRAY("out", "i32"), ""), "N06",
                "kernel.params[0].name: exp of i32");
    check_error(NAMED("neg", ARRAY("a", "i32") "," ARRAY("out", "f32"), ""), "N06",
                "kernel.params[1].name: expected i32, got f32");
}

static void check_simple_op(void) {
    double a[] = {1, 9}, b[] = {4, 5}, out[2] = {0};
    uint64_t n = 2;
    bind binds[] = {IN_ARRAY("a", F64, a), IN_ARRAY("b", F64, b), IN_ARRAY("out", F64, out),
                    IN_SCALAR("n", U64, &n)};
    hg_program *program = NULL;
    CHECK(hg_json_to_isa_translate_simple_op("min", HG_TYPE_F64, &program) == HG_OK);
    CHECK(program && execute(program, 5, binds, 4) == HG_OK && out[0] == 1 && out[1] == 5);
    hg_program_release(program);
    CHECK(hg_json_to_isa_translate_simple_op("tanh", HG_TYPE_F32, &program) == HG_OK &&
          hg_program_param_count(program) == 3);
    hg_program_release(program);
    CHECK(hg_json_to_isa_translate_simple_op("matmul", HG_TYPE_F32, &program) == HG_ERROR_ISA &&
          !program);
    CHECK(hg_json_to_isa_translate_simple_op("add_1\"", HG_TYPE_F32, &program) == HG_ERROR_ISA &&
          !program);
    CHECK(hg_json_to_isa_translate_simple_op("exp", HG_TYPE_I32, &program) == HG_ERROR_ISA &&
          !program);
    CHECK_TEXT(hg_last_error()->message, "operation exp has no kernel for type i32");
    CHECK(hg_json_to_isa_translate_simple_op("add", HG_TYPE_F16, &program) == HG_ERROR_ISA &&
          !program);
}

/* ---- several kernels ---- */

static void check_arrays_of_documents(void) {
    char *json = quoted(
        "[" NAMED("one", "", RETURN) "," NAMED("two", SCALAR("a", "f32"), RETURN) "]");
    hg_program *program = NULL, **programs = NULL;
    size_t count = 0;
    CHECK(hg_json_to_isa_translate_named(json, strlen(json), "two", NULL, &program) == HG_OK &&
          hg_program_param_count(program) == 1);
    CHECK_TEXT(hg_program_name(program), "two");
    hg_program_release(program);
    CHECK(hg_json_to_isa_translate_named(json, strlen(json), "three", NULL, &program) ==
              HG_ERROR_ISA &&
          !program);
    CHECK_TEXT(hg_last_error()->message, "there is no kernel 'three'");
    CHECK(hg_json_to_isa_translate_all(json, strlen(json), NULL, &programs, &count) == HG_OK &&
          count == 2);
    if (programs) CHECK_TEXT(hg_program_name(programs[0]), "one");
    hg_json_programs_free(programs, count);
    free(json);
    json = quoted(
        "[" NAMED("one", "", "{'type':'no'}") ",\n" NAMED("two", "", "{'type':'no'}") "]");
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK(hg_json_to_isa_translate_all(json, strlen(json), d, &programs, &count) == HG_ERROR_ISA &&
          count == 0 && !programs);
    CHECK_U64(hg_diagnostics_count(d), 2);
    CHECK_TEXT(hg_diagnostics_get(d, 1)->message,
               "[1].kernel.body[0].type: unknown statement 'no'");
    CHECK_U64(hg_last_error()->line, 1);
    hg_diagnostics_destroy(d);
    free(json);
    program = translate(NAMED("a kernel, f32", "", RETURN));
    CHECK(program && strcmp(hg_program_name(program), "a_kernel__f32") == 0);
    hg_program_release(program);
    program = translate(NAMED("f32", "", RETURN));
    CHECK(program && strcmp(hg_program_name(program), "_f32") == 0);
    hg_program_release(program);
}

/* ---- much of everything ---- */

static hg_status translate_status(char *json) {
    hg_program *program = NULL;
    for (char *c = json; *c; c++) *c = (char)(*c == '\'' ? '"' : *c);
    hg_status status = hg_json_to_isa_translate(json, strlen(json), NULL, &program);
    if (status == HG_OK) status = hg_program_verify(program, NULL);
    hg_program_release(program);
    free(json);
    return status;
}

static char *repeated(const char *head, const char *one, int count, const char *middle,
                      const char *end_one, const char *tail) {
    char *text = malloc(strlen(head) + (strlen(one) + strlen(end_one) + 12) * (size_t)count +
                        strlen(middle) + strlen(tail) + 1),
         *at = text;
    at += sprintf(at, "%s", head);
    for (int i = 0; i < count; i++) at += sprintf(at, one, i, i);
    at += sprintf(at, "%s", middle);
    for (int i = 0; i < count; i++) at += sprintf(at, "%s", end_one);
    sprintf(at, "%s", tail);
    return text;
}

#define HEAD                                                                        \
    "{'version':'1.0','kernel':{'name':'k','params':[" ARRAY("x", "i32") "," ARRAY( \
        "y", "i32") "],'body':["
static void check_much(void) {
    /* left and right combs as deep as the reader goes; a deeper one is refused */
    CHECK(translate_status(repeated(HEAD LET("v", ""), "", 0, "", "", "]}}")) == HG_ERROR_ISA);
    CHECK(translate_status(
              repeated(HEAD "{'type':'let','name':'v','value':",
                       "{'type':'binary_op','op':'add','right':" AT("x", LIT("1")) ",'left':", 2000,
                       AT("x", LIT("0")), "}", "}]}}")) == HG_OK);
    CHECK(translate_status(repeated(HEAD "{'type':'let','name':'v','value':",
                                    "{'type':'binary_op','op':'add','left':" LIT("1") ",'right':",
                                    2000, AT("x", LIT("0")), "}", "}]}}")) == HG_OK);
    CHECK(translate_status(repeated(HEAD "{'type':'let','name':'v','value':",
                                    "{'type':'unary_op','op':'neg','operand':", 100000, LIT("0"),
                                    "}", "}]}}")) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, "nested deeper than 2048");
    CHECK(translate_status(repeated(
              HEAD,
              "{'type':'if','condition':" BIN("eq", AT("x", LIT("0")), LIT("%d")) ",'then_body':[",
              1000, RETURN, "],'else_body':null}", "]}}")) == HG_OK);
    CHECK(translate_status(
              repeated(HEAD "{'type':'if','then_body':[],'condition':",
                       "{'type':'binary_op','op':'and','right':" AT("x", LIT("1")) ",'left':", 2000,
                       AT("x", LIT("0")), "}", "}]}}")) == HG_OK);
    CHECK(translate_status(repeated(
              HEAD "{'type':'let','name':'v','value':",
              "{'type':'if_expr','condition':" LIT("true") ",'then':" AT("x", LIT("1")) ",'else':",
              2000, AT("x", LIT("0")), "}", "}]}}")) == HG_OK);
    /* operands that wait in registers: a right comb of loads holds one of each level */
    CHECK(translate_status(
              repeated(HEAD "{'type':'let','name':'v','value':",
                       "{'type':'binary_op','op':'add','left':" AT("x", LIT("1")) ",'right':", 200,
                       AT("x", LIT("0")), "}", "}]}}")) == HG_OK);
    CHECK(translate_status(
              repeated(HEAD "{'type':'let','name':'v','value':",
                       "{'type':'binary_op','op':'add','left':" AT("x", LIT("1")) ",'right':", 300,
                       AT("x", LIT("0")), "}", "}]}}")) == HG_ERROR_ISA);
    CHECK(
        strstr(
            hg_last_error()->message,
            "no register is left: r0 to r251 hold variables, intermediate values and constants") !=
        NULL);
    CHECK(strcmp(hg_last_error()->code, "S05") == 0);
    /* variables: of those that are needed at the end 200 fit, 300 do not, of others as many as may
     * have names */
    CHECK(translate_status(repeated(HEAD,
                                    "{'type':'let','name':'v%d','value':" AT("x", LIT("%d")) "},",
                                    200, RETURN, "", "]}}")) == HG_OK);
    CHECK(translate_status(repeated(HEAD,
                                    "{'type':'let','name':'v%d','value':" AT("x", LIT("%d")) "},",
                                    1000, RETURN, "", "]}}")) == HG_OK);
    for (int i = 0; i < 2; i++) {
        char *uses = repeated("{'type':'assign','target':" AT("y", LIT("0")) ",'value':",
                              "{'type':'binary_op','op':'add','right':" VAR("v%d") ",'left':",
                              200 + 100 * i, LIT("0"), "}", "}]}}");
        CHECK(translate_status(
                  repeated(HEAD, "{'type':'let','name':'v%d','value':" AT("x", LIT("%d")) "},",
                           200 + 100 * i, "", "", uses)) == (i ? HG_ERROR_ISA : HG_OK));
        free(uses);
    }
    CHECK(strcmp(hg_last_error()->code, "S05") == 0);
    CHECK(translate_status(repeated(HEAD,
                                    "{'type':'let','name':'v%d','value':" AT("x", LIT("%d")) "},",
                                    3000, RETURN, "", "]}}")) == HG_ERROR_ISA);
    CHECK(strstr(hg_last_error()->message, "more than 1024 names") != NULL);
    CHECK(translate_status(repeated(
              HEAD, "{'type':'assign','target':" AT("y", LIT("%d")) ",'value':" LIT("1%d") "},",
              2000, RETURN, "", "]}}")) == HG_OK);
    CHECK(translate_status(repeated("{'version':'1.0','kernel':{'name':'k','params':[",
                                    "{'name':'a%d','type':{'kind':'scalar','type':'f32'}},", 240,
                                    SCALAR("z", "u8"), "", "],'body':[" RETURN "]}}")) == HG_OK);
    CHECK(translate_status(repeated("{'version':'1.0','kernel':{'name':'k','params':[",
                                    "{'name':'a%d','type':{'kind':'scalar','type':'f32'}},", 260,
                                    SCALAR("z", "u8"), "", "],'body':[" RETURN "]}}")) ==
          HG_ERROR_ISA);
}

/* From many free registers to none: kept index values give way, constants stand where they are
 * used, until it says that there is no register left. In a loop whose step only the run knows, the
 * test itself takes registers. */
static const char SIMPLE_LOOP[] = FOR(
    "k", AT("x", LIT("0")), LIT("9"), VAR("v1"),
    PUT("y", BIN("mod", VAR("i"), LIT("3")), AT("x", BIN("mod", VAR("i"), LIT("2")))));
static const char LARGE_LOOP[] = FOR(
    "k", AT("x", LIT("0")), LIT("9"), AT("x", LIT("1")),
    PUT("y", BIN("mod", VAR("i"), LIT("3")),
        BIN("add", AT("y", BIN("mod", VAR("i"), LIT("3"))),
            BIN("mul", AT("x", BIN("mod", VAR("i"), LIT("2"))),
                BIN("add", VAR("v5"),
                    VAR("k"))))) "," PUT("y", LIT("3"),
                                         BIN("add", AT("y", LIT("3")),
                                             BIN("mul", VAR("v7"),
                                                 CALL("i32", BIN("mul", VAR("i"), LIT("5")))))));

static bool fits(const char *loop, int variables, int32_t first) {
    char *all = repeated(
             PUT("y", LIT("4"), BIN("add", VAR("v0"), VAR("v9"))) ",{'type':'assign','target':" AT(
                 "y", LIT("5")) ",'value':",
             "{'type':'binary_op','op':'add','right':" VAR("v%d") ",'left':", variables, LIT("0"),
             "}", "}]}}"),
         *tail = malloc(strlen(loop) + strlen(all) + 2);
    sprintf(tail, "%s,%s", loop, all);
    char *text = repeated(HEAD LET("i", LANE) "," PUT("y", BIN("mod", VAR("i"), LIT("3")),
                                                      AT("x", BIN("mod", VAR("i"), LIT("2")))) ",",
                          "{'type':'let','name':'v%d','value':" AT("x", LIT("%d")) "},", variables,
                          "", "", tail),
         *json = quoted(text);
    int32_t x[256], y[6] = {0};
    for (int i = 0; i < 256; i++) x[i] = i + 3;
    bind binds[] = {IN_ARRAY("x", I32, x), IN_ARRAY("y", I32, y)};
    hg_program *program = NULL;
    hg_status status = hg_json_to_isa_translate(json, strlen(json), NULL, &program);
    if (status == HG_OK) {
        CHECK_MESSAGE(execute(program, 1, binds, 2) == HG_OK, "%d variables: %s", variables,
                      hg_last_error_text());
        CHECK_MESSAGE(y[0] == first && y[3] == 0 && y[4] == 15, "%d variables: %d %d %d", variables,
                      y[0], y[3], y[4]);
    } else {
        CHECK_MESSAGE(strcmp(hg_last_error()->code, "S05") == 0, "%d variables: %s", variables,
                      hg_last_error_text());
    }
    hg_program_release(program);
    for (char **each = (char *[]){json, text, all, tail, NULL}; *each; each++) free(*each);
    return status == HG_OK;
}

static void check_few_registers(void) {
    int simple = 0, large = 0;
    for (int variables = 210; variables < 256; variables++) {
        simple += fits(SIMPLE_LOOP, variables, 3);
        large += fits(LARGE_LOOP, variables, 3 + 3 * (8 + 3) + 3 * (8 + 7)); /* k = 3, 7: x[0] +
                                                                                x[0] * (v5 + k) */
    }
    CHECK_MESSAGE(simple > 20 && simple < 46 && large > 20 && large < 46, "%d and %d fit", simple,
                  large);
}

/* Every prefix of a document, and every document with one byte changed: an error or a program that
 * can be verified, never more. */
static void check_hostile(void) {
    char *text = read_file("examples/json/matvec_rows.json");
    if (!text) return;
    size_t length = strlen(text);
    uint32_t random = 1;
    for (size_t i = 0; i < length + 4000; i++) {
        char *copy = malloc(length);
        memcpy(copy, text, length);
        size_t n = i < length ? i : length;
        if (i >= length) {
            random = random * 1664525u + 1013904223u;
            copy[random % length] = "\"{}[],:0x1-truenfl"[random >> 16 & 15];
        }
        hg_program *program = NULL;
        hg_status status = hg_json_to_isa_translate(copy, n, NULL, &program);
        CHECK(status == HG_OK || status == HG_ERROR_ISA);
        CHECK((status == HG_OK) == (program != NULL));
        if (program) CHECK_MESSAGE(hg_program_verify(program, NULL) == HG_OK, "%.*s", (int)n, copy);
        hg_program_release(program);
        free(copy);
    }
    free(text);
}

/* ---- allocations that fail ---- */

static int64_t allowed = -1, live;
static void *reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    if (allowed == 0) return NULL;
    if (allowed > 0) allowed--;
    live += !memory;
    return realloc(memory, bytes);
}
static void release(void *user, void *memory) {
    (void)user;
    live -= memory != NULL;
    free(memory);
}

static void check_memory(void) {
    char *text = read_file("examples/json/matvec_rows.json");
    if (!text) return;
    int64_t before = live, failures = 0;
    for (int64_t n = 0; n < 400; n++) {
        hg_program *program = NULL;
        allowed = n;
        hg_status status = hg_json_to_isa_translate(text, strlen(text), NULL, &program);
        allowed = -1;
        CHECK(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY);
        failures += status != HG_OK;
        hg_program_release(program);
        CHECK(live == before);
        if (status == HG_OK) break;
    }
    CHECK(failures > 10);
    free(text);
}

int main(void) {
    hg_allocator allocator = {sizeof allocator, NULL, reallocate, release};
    CHECK(hg_set_allocator(&allocator) == HG_OK);
    CHECK(hg_backend_create("cpu", 0, &backend) == HG_OK);
    check_examples();
    check_arithmetic();
    check_truths();
    check_functions();
    check_statements();
    check_step_zero();
    check_collectives();
    check_fault_place();
    check_document_errors();
    check_statement_errors();
    check_expression_errors();
    check_many_errors();
    check_late_errors();
    check_named();
    check_simple_op();
    check_arrays_of_documents();
    check_much();
    check_few_registers();
    check_hostile();
    hg_backend_destroy(backend);
    check_memory();
    return test_done();
}
