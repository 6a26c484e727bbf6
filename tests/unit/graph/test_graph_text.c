/* Array graphs as text and from C: every message with its place, printed forms that read back,
 * hostile bytes, and failing allocations. */
#include "graph/graph.h"
#include "graph/shapes.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"

#define G ".graph 1\n"
#define X G ".input x f32 [4]\n"
#define N G ".extent n\n"
#define I G ".input i i32 [4, 4]\n"
#define M G ".input a f32 [2, 3]\n.input b f32 [3, 5]\n.input h f16 [2, 3]\n"
#define K G ".input x f32 [1, 2, 3, 4]\n"
#define C G ".input x f32 [1, 2, 8, 8]\n.input w f32 [4, 2, 3, 3]\n"
#define T G ".input a f32 [2, 3]\n.input b f32 [3, 2]\n"
#define P G ".program p \"p.atlas\"\n.input x f32 [4]\n.input i i32 [4]\n"
#define B G ".program two \"two.atlas\"\n.input x f32 [4]\n"
#define REFUSED_FILE "a name below the folder of the text is expected, no absolute one and no '..'"
#define NO_NAME ": letters, digits and _, at most 255 bytes, and no register or type"

static const char SCALE[] =
    ".atlas 1\n.program scale\n.param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n"
    ".param r3 k f32\n.param r4 n u64\n.lanes n\n exit\n";
/* Three results. */
static const char TWO[] =
    ".atlas 1\n.program two\n.param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n"
    ".param r3 z buffer f32 inout [n]\n.param r4 w buffer f32 out [n + 1]\n.param r5 n u64\n.lanes "
    "n\n exit\n";

static hg_status read_program(void *user, const char *file, hg_diagnostics *d, hg_program **p) {
    (void)user;
    (void)d;
    const char *text = strcmp(file, "p.atlas") == 0     ? SCALE
                       : strcmp(file, "two.atlas") == 0 ? TWO
                                                        : "x";
    return hg_program_assemble(text, strlen(text), NULL, p);
}
static const hg_graph_read_options OPTIONS = {.size = sizeof OPTIONS, .program = read_program};

static hg_graph *read_whole(const char *text) {
    hg_graph *g = NULL;
    hg_status status = hg_graph_read_text(text, strlen(text), &OPTIONS, NULL, &g);
    CHECK_MESSAGE(status == HG_OK, "%s\nin\n%s", hg_last_error_text(), text);
    if (!g) exit(test_done());
    return g;
}

static char *print(const hg_graph *g) {
    char *text = NULL;
    CHECK_OK(hg_graph_print(g, &text, NULL));
    return text;
}

/* ---- messages ---- */

typedef struct mistake {
    const char *text;
    uint32_t line, column;
    const char *code, *message;
} mistake;

static void test_mistake(const mistake *m) {
    hg_graph *g = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK_STATUS(hg_graph_read_text(m->text, strlen(m->text), &OPTIONS, d, &g), HG_ERROR_ISA);
    const hg_diagnostic *first = hg_diagnostics_get(d, 0);
    bool right = hg_diagnostics_errors(d) == 1 && first->line == m->line &&
                 first->column == m->column && strcmp(first->code, m->code) == 0 &&
                 strcmp(first->message, m->message) == 0;
    CHECK_MESSAGE(right && !g, "%zu errors, %u:%u %s %s\nexpected 1, %u:%u %s %s\nin\n%s",
                  hg_diagnostics_errors(d), first ? first->line : 0, first ? first->column : 0,
                  first ? first->code : "", first ? first->message : "", m->line, m->column,
                  m->code, m->message, m->text);
    CHECK_MESSAGE(strstr(hg_last_error()->message, m->message) != NULL, "last error: %s",
                  hg_last_error()->message);
    hg_graph_release(g);
    hg_diagnostics_destroy(d);
}

static const mistake LINES[] = {
    {"", 1, 1, "S02", "a graph begins with the line .graph 1"},
    {";\n\n.input x f32 [4]\n", 3, 1, "S02", "a graph begins with the line .graph 1"},
    {".graph 2\n", 1, 8, "S02", "a graph begins with the line .graph 1"},
    {".graph 1 .input x f32 [4]\n", 1, 10, "S02", "expected the end of the line, got '.input'"},
    {G ".inptu x f32 [4]\n", 2, 1, "S02", "there is no directive '.inptu'"},
    {G "  .name\n", 2, 8, "S02", "expected a name, got end of line"},
    {G ".name 3\n", 2, 7, "S02", "expected a name, got '3'"},
    {G ".input x f32 [4] 5\n", 2, 18, "S02", "expected the end of the line, got '5'"},
    {G ".output x y\n", 2, 9, "G01", "there is no value 'x' above"},
    {G "= gemm\n", 2, 1, "S02", "expected the name of a value, or a directive, got '='"},
    {G "\x01\n", 2, 1, "S02", "unexpected character"},
    {G "x = \"gemm\"\n", 2, 5, "S02",
     "expected an instruction, or @ and the name of a program, got a string"},
    {G ".input x f32 [\xff]\n", 2, 15, "S01", "text is not UTF-8"},
    {G "\x01\n", 2, 1, "S02", "unexpected character"},
};
static const mistake NAMES[] = {
    {X ".input x f32 [4]\n", 3, 8, "G01",
     "'x' is declared already: a value never changes, so each has a name of its own"},
    {G ".extent n, n\n", 2, 12, "G01",
     "'n' is declared already: a value never changes, so each has a name of its own"},
    {G ".extent x\n.input x f32 [4]\n", 3, 8, "G01",
     "'x' is declared already: a value never changes, so each has a name of its own"},
    {G ".input r1 f32 [4]\n", 2, 8, "G01", "'r1' is no name" NO_NAME},
    {G ".input f32 f32 [4]\n", 2, 8, "G01", "'f32' is no name" NO_NAME},
    {G ".input a.b f32 [4]\n", 2, 8, "G01", "'a.b' is no name" NO_NAME},
    {G ".input $a f32 [4]\n", 2, 8, "G01", "'$a' is no name" NO_NAME},
    {X ".view x = x f32 [2]\n", 3, 7, "G01",
     "'x' is declared already: a value never changes, so each has a name of its own"},
    {X "x = parallel_map relu, in=x\n", 3, 1, "G01",
     "'x' is declared already: a value never changes, so each has a name of its own"},
    {X "y, y = parallel_map relu, in=x\n", 3, 1, "G01",
     "parallel_map makes 1 value, 2 names in front of it"},
    {X "y = parallel_map relu, in=z\nz = parallel_map relu, in=x\n", 3, 27, "G01",
     "there is no value 'z' above"},
    {X ".view v = w f32 [2]\n", 3, 11, "G01", "there is no value 'w' above"},
    {G ".output y\n", 2, 9, "G01", "there is no value 'y' above"},
    {X ".output x\n", 3, 9, "G01",
     "'x' is the name of an input or constant: write .output NAME = x"},
    {X "y = parallel_map relu, in=x\n.output x = y\n", 4, 13, "G01",
     "'x' is the name of an input or constant: write .output NAME = x"},
    {X ".extent n\ny = parallel_map relu, in=x\n.output n = y\n", 5, 13, "G01",
     "'n' is the name of an extent"},
    {X "y = parallel_map relu, in=x\n.output y\n.output y\n", 5, 9, "G01",
     "there is an output 'y' already"},
    {X "y = parallel_map relu, in=x\n.output q = y\n.input q f32 [1]\n", 5, 8, "G01",
     "'q' is the name of an output"},
    {X "y = parallel_map relu, in=x\n.output q = y\n.extent q\n", 5, 9, "G01",
     "'q' is the name of an output"},
    {X "y = parallel_map relu, in=x\n.output r1 = y\n", 4, 14, "G01",
     "'r1' is no name of an output: letters, digits and _, and no register or type"},
};
static const mistake SHAPES[] = {
    {G ".input x f33 [4]\n", 2, 10, "S02", "expected a type, got 'f33'"},
    {G ".input x [4]\n", 2, 10, "S02", "expected a type, got '['"},
    {G ".input x f32 4\n", 2, 14, "S02", "expected '[' and the extents, got '4'"},
    {G ".input x f32 [4\n", 2, 16, "S02", "expected ']', got end of line"},
    {G ".input x f32 [4 5]\n", 2, 17, "S02", "expected ']', got '5'"},
    {G ".input x f32 [n]\n", 2, 15, "G01", "'n' is no extent: write .extent n above"},
    {G ".input x f32 [-1]\n", 2, 15, "S02",
     "expected an extent: a number, or a name of .extent, got '-'"},
    {G ".input x f32 [1.5]\n", 2, 15, "S03", "'1.5' is no whole number from 0 to 2^63 - 1"},
    {G ".input x f32 [18446744073709551616]\n", 2, 15, "S04",
     "'18446744073709551616' is no whole number from 0 to 2^63 - 1"},
    {G ".input x f32 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n", 2, 39, "S05", "more than 8 extents"},
    {X ".view v = x i32 [4]\n", 3, 13, "G01", "a view has the type of its value: f32, not i32"},
    {X ".view v x f32 [4]\n", 3, 9, "S02", "expected '=', got 'x'"},
    {X ".view v = x + f32 [4]\n", 3, 15, "G01", "'f32' is no extent: write .extent f32 above"},
    {X ".view v = x strides (1) i32 [4]\n", 3, 25, "G01",
     "a view has the type of its value: f32, not i32"},
    {X ".view v = x strides (1, 1) f32 [4]\n", 3, 21, "G01", "2 strides, but 1 extents"},
    {X ".view v = x strides 1 f32 [4]\n", 3, 21, "S02", "expected '(', got '1'"},
    {X ".view v = x strides (1 f32 [4]\n", 3, 24, "S02", "expected ')', got 'f32'"},
    {X ".view v = x strides (1, 1, 1, 1, 1, 1, 1, 1, 1) f32 [4]\n", 3, 46, "S05",
     "more than 8 extents"},
    {X ".view v = x permuted (1)\n", 3, 22, "G01",
     "permuted takes each axis once, 0 to 0: the value is f32 [4], 1 given"},
    {X ".view v = x permuted (0, 0)\n", 3, 22, "G01",
     "permuted takes each axis once, 0 to 0: the value is f32 [4], 2 given"},
    {X ".view v = x permuted ()\n", 3, 22, "G01",
     "permuted takes each axis once, 0 to 0: the value is f32 [4], 0 given"},
    {X ".view v = x broadcast f32 [2, 3]\n", 3, 23, "G01",
     "f32 [4] is not repeated to f32 [2, 3]: an extent is the same or 1"},
    {X ".view v = x broadcast f32 []\n", 3, 23, "G01",
     "f32 [4] is not repeated to f32 []: an extent is the same or 1"},
    {X ".view v = x strides (0) f32 [4]\n.view w = v f32 [2, 2]\n", 4, 11, "G01",
     "the elements of v do not lie one after another: a view of it has strides, or is permuted or "
     "broadcast"},
    {N ".input x f32 [ceil(n)]\n", 3, 15, "S02", "ceil is of one division"},
    {N ".input x f32 [ceil(n / 2 + 1)]\n", 3, 15, "S02", "ceil is of one division"},
    {N ".input x f32 [ceil(n / 2 * 3)]\n", 3, 15, "S02", "ceil is of one division"},
    {N ".input x f32 [ceil(min(9, 7 / 2))]\n", 3, 15, "S02", "ceil is of one division"},
    {N ".input x f32 [ceil(n / 2]\n", 3, 25, "S02", "expected ')', got ']'"},
    {N ".input x f32 [min(n)]\n", 3, 20, "S02", "expected ',', got ')'"},
    {N ".input x f32 [max(n, 2, 3)]\n", 3, 23, "S02", "expected ')', got ','"},
    {N ".input x f32 [min n]\n", 3, 15, "G01", "'min' is no extent: write .extent min above"},
    {N ".input x f32 [(n]\n", 3, 17, "S02", "expected ')', got ']'"},
    {N ".input x f32 [n +]\n", 3, 18, "S02",
     "expected an extent: a number, or a name of .extent, got ']'"},
    {N ".input x f32 [n % 2]\n", 3, 17, "S02", "expected ']', got '%'"},
};
static const mistake FILES[] = {
    {G ".constant w f32 [4] \"/tmp/w\"\n", 2, 21, "G01", "file \"/tmp/w\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"\"\n", 2, 21, "G01", "file \"\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"..\"\n", 2, 21, "G01", "file \"..\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"../w\"\n", 2, 21, "G01", "file \"../w\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"a/../../w\"\n", 2, 21, "G01", "file \"a/../../w\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"a/..\"\n", 2, 21, "G01", "file \"a/..\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"a\\\\w\"\n", 2, 21, "G01", "file \"a\\\\w\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"\\\\w\"\n", 2, 21, "G01", "file \"\\\\w\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"c:w\"\n", 2, 21, "G01", "file \"c:w\": " REFUSED_FILE},
    {G ".constant w f32 [4] \"w\n", 2, 21, "S02", "string without closing '\"'"},
    {G ".constant w f32 [4] w\n", 2, 21, "S02", "expected the end of the line, got 'w'"},
    {G ".program p\n", 2, 11, "S02", "expected a file name in quotation marks, got end of line"},
    {G ".program p \"../p.atlas\"\n", 2, 12, "G01", "file \"../p.atlas\": " REFUSED_FILE},
    {G ".program p \"no.atlas\"\n", 2, 10, "G01", "expected '.atlas 1', got 'x'"},
    {P ".program p \"p.atlas\"\n", 5, 10, "G01", "there is a program 'p' already"},
    {X "y = @p x=x\n", 3, 6, "G01", "there is no .program 'p' above"},
    {P "y = @p\n", 5, 1, "G01", "scale: x is missing: write x=…"},
    {P "y = @p x=x, z=x\n", 5, 13, "G01", "scale has no operand 'z'"},
    {P "y = @p x=i, k=1\n", 5, 1, "G01", "scale: x is i32, f32 expected"},
    {P "y = @p x=x\n", 5, 1, "G01", "scale: k is missing: write k=…"},
    {P "y = @p x=x, k=true\n", 5, 1, "G01", "scale: k=true: malformed number 'true'"},
    {P "y, z = @p x=x, k=1\n", 5, 1, "G01", "scale makes 1 value, 2 names in front of it"},
    {P "y i32 [4] = @p x=x, k=1\n", 5, 1, "G01", "scale: y is i32, f32 expected"},
    {P "y = @ x=x\n", 5, 7, "G01", "there is no .program 'x' above"},
    {P "y = @p x=x, k=1, y=x\n", 5, 1, "G01", "scale: y is what it makes: nothing is given for it"},
    {B "y, z, w = @two x=x\n", 4, 1, "G01", "two: z is missing: write z=…"},
    {B "y, z = @two x=x, z=x\n", 4, 1, "G01", "two makes 3 values, 2 names in front of it"},
    {B ".output x2 = x\ny, y, w = @two x=x, z=x\n", 5, 1, "G01",
     "'y' is declared already: a value never changes, so each has a name of its own"},
    {B "y, y, w = @two x=x, z=x\n", 4, 1, "G01",
     "'y' is declared already: a value never changes, so each has a name of its own"},
};
static const mistake CALLS[] = {
    {X "y = no_such_thing a=x\n", 3, 5, "G01",
     "there is no whole-array instruction 'no_such_thing'"},
    {X "y = fma a=x\n", 3, 5, "G01", "there is no whole-array instruction 'fma'"},
    {X "y = gemm.f33 a=x\n", 3, 5, "G01", "there is no whole-array instruction 'gemm.f33'"},
    {X "y = gemm.i32 a=x\n", 3, 1, "G01", "gemm has no type i32: f16, bf16, f32 and f64"},
    {I "y = gemm a=i, b=i\n", 3, 1, "G01", "gemm has no type i32: f16, bf16, f32 and f64"},
    {X "y = parallel_map\n", 3, 1, "G01", "parallel_map: in is missing: write in=…"},
    {X "y = parallel_map relu\n", 3, 1, "G01", "parallel_map: in is missing: write in=…"},
    {X "y = parallel_map in=x\n", 3, 1, "G01", "parallel_map: op is missing: write op=…"},
    {X "y = parallel_map in=x op=relu\n", 3, 23, "S02",
     "expected ',' or the end of the line, got 'op'"},
    {X "y = parallel_map relu in=x\n", 3, 23, "S02",
     "expected ',' or the end of the line, got 'in'"},
    {X "y = parallel_map relu, in x\n", 3, 27, "S02", "expected '=', got 'x'"},
    {X "y = parallel_map relu, in=x, in=x\n", 3, 30, "G01", "'in' is given twice"},
    {X "y = parallel_map relu, op=relu, in=x\n", 3, 24, "G01", "'op' is given twice"},
    {X "y = parallel_map relu, out=x, in=x\n", 3, 1, "G01",
     "parallel_map: out is what it makes: nothing is given for it"},
    {X "y = parallel_map relu, of=x\n", 3, 24, "G01", "parallel_map has no operand 'of'"},
    {X "y = parallel_map op=nothing, in=x\n", 3, 21, "G01", "there is no operation 'nothing'"},
    {X "y = parallel_map op=pow, in=x\n", 3, 21, "G01",
     "parallel_map: op=pow is no operation for it"},
    {X "y = parallel_map nothing, in=x\n", 3, 18, "G01", "parallel_map has no operand 'nothing'"},
    {I "y = parallel_map gelu, in=i\n", 3, 1, "G01",
     "parallel_map of i32: op=gelu is no operation for it"},
    {X "y = parallel_map relu, in=5\n", 3, 27, "S02", "expected the name of a value, got '5'"},
    {X "y = parallel_map relu, in=x, count=x\n", 3, 36, "G01",
     "'x' is no extent: write .extent x above"},
    {X "y, z = parallel_map relu, in=x\n", 3, 1, "G01",
     "parallel_map makes 1 value, 2 names in front of it"},
    {X "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q, s = parallel_map relu, in=x\n", 3, 49,
     "S05", "more than 16 values of a call"},
    {X "y i32 [4] = parallel_map relu, in=x\n", 3, 1, "G01",
     "parallel_map of f32: out is i32, f32 expected"},
    {X "y f32 [4 = parallel_map relu, in=x\n", 3, 10, "S02", "expected ']', got '='"},
    {M "y = gemm a=a, b=a\n", 5, 1, "G01",
     "gemm: b is f32 [2, 3], extent 1 of it should be 3: a is f32 [2, 3]"},
    {M "y = gemm a=a, b=b, bias=a\n", 5, 1, "G01", "gemm: bias is f32 [2, 3], 1 extent expected"},
    {M "y = gemm a=a, b=b, c=b, beta=1.0\n", 5, 1, "G01",
     "gemm: c is f32 [3, 5], extent 1 of it should be 2: a is f32 [2, 3]"},
    {M "y = gemm a=a, b=b, k=4\n", 5, 1, "G01",
     "gemm: a is f32 [2, 3], extent 2 of it should be 4"},
    {M "y = gemm a=a\n", 5, 1, "G01", "gemm: b is missing: write b=…"},
    {M "y = gemm a=b, b=b, trans_b=true, trans_a=true\n", 5, 1, "G01",
     "gemm: b is f32 [3, 5], extent 2 of it should be 3: a is f32 [3, 5]"},
    {M "y = gemm a=a, b=b, trans_a=maybe\n", 5, 28, "S02", "expected true or false"},
    {M "y = gemm a=a, b=b, beta=1\n", 5, 1, "G01",
     "gemm: it reads c: give the value that it has before, c=..."},
    {M "y = gemm a=a, b=b, beta=-0.0\n", 5, 1, "G01",
     "gemm: it reads c: give the value that it has before, c=..."},
    {M "y = gemm a=a, b=b, alpha=two\n", 5, 1, "G01", "gemm: alpha=two: malformed number 'two'"},
    {M "y = gemm a=a, b=b, alpha=(2)\n", 5, 26, "S02", "expected a number, got '('"},
    {M "y = gemm a=a, b=b, alpha=\n", 5, 26, "S02", "expected a number, got end of line"},
    {M "y = gemm a=h, b=b\n", 5, 1, "G01", "gemm of f16: b is f32, f16 expected"},
    {M "y = gemm.f16 a=a, b=b\n", 5, 1, "G01", "gemm of f16: a is f32, f16 expected"},
    {M "y = fft input=a\n", 5, 1, "G01", "fft: no shape tells n: write n=…"},
    {K "y = kv_cache_update new_kv=x\n", 3, 1, "G01",
     "kv_cache_update: no shape tells position: write position=…"},
    {K "y = kv_cache_update new_kv=x, position=0\n", 3, 1, "G01",
     "kv_cache_update: it reads cache: give the value that it has before, cache=..."},
    {C "y = conv2d input=x, kernel=w, stride=1\n", 4, 38, "S02", "expected '(', got '1'"},
    {C "y = conv2d input=x, kernel=w, stride=(1, 1\n", 4, 43, "S02",
     "expected ')', got end of line"},
    {T "y = tensor_contract a=a, b=b, shape_a=(2, 3), shape_b=(3, 2), contract_dims=((1, 0))\n", 4,
     1, "G01",
     "tensor_contract: nothing tells the type and shape of what it makes: write it in front, as in "
     "y f32 [n] = tensor_contract ..."},
    {T "y f32 [2, 2] = tensor_contract a=a, b=b, shape_a=(2, 3), shape_b=(3, 2), contract_dims=(1, "
       "0)\n",
     4, 89, "S02", "expected '(', got '1'"},
    {T "y f32 [2, 2] = tensor_contract a=a, b=b, shape_b=(3, 2), contract_dims=((1, 0))\n", 4, 1,
     "G01", "tensor_contract: shape_a is missing: write shape_a=…"},
    {C "y = conv2d input=x, kernel=w, padding=(0, 0), dilation=(1, 1), stride=(1)\n", 4, 1, "G01",
     "conv2d: stride has 1 number, 2 expected"},
    {C "y = conv2d input=x, kernel=w, padding=(0, 0), stride=(1, 1, 1)\n", 4, 1, "G01",
     "conv2d: stride has 3 numbers, 2 expected"},
    {C "y = conv2d input=w, kernel=x, padding=(0, 0), stride=(1, 1), groups=2\n", 4, 1, "G01",
     "conv2d: kernel is f32 [1, 2, 8, 8], extent 2 of it should be 1"},
    {M "y = batched_gemm a=a, b=b, c=h\n", 5, 1, "G01",
     "batched_gemm of f32: c is f16, f32 expected"},
    {G
     ".input x u8 [4, 4]\ny i8 [4, 4] = quantized_gemm a=x, b=x, a_scale=1, b_scale=1, c_scale=1\n",
     3, 1, "G01", "quantized_gemm of u8: b is u8, i8 expected"},
    {G
     ".input x u8 [4, 4]\ny u8 [4, 4] = quantized_gemm a=x, b=x, a_scale=1, b_scale=1, c_scale=1, "
     "b_unsigned=true, sums=true\n",
     3, 1, "G01", "quantized_gemm of u8: c is u8, i32 expected"},
    {M "y, z, v = sort input=a\n", 5, 1, "G01", "sort makes 2 values, 3 names in front of it"},
    {M "y, z = gemm a=a, b=b\n", 5, 1, "G01", "gemm makes 1 value, 2 names in front of it"},
    {G ".extent n\n.input a f32 [n, 3]\n.input b f32 [4, n]\ny = gemm a=a, b=b\n", 5, 1, "G01",
     "gemm: b is f32 [4, n], extent 1 of it should be 3: a is f32 [n, 3]"},
    {X "y = softmax input=x, n=8\n", 3, 1, "G01",
     "softmax: input is f32 [4], extent 1 of it should be 8"},
    {X "y = layer_norm input=x, gamma=x, beta=x, eps=1e-5, n=3\n", 3, 1, "G01",
     "layer_norm: input is f32 [4], extent 1 of it should be 3"},
};

static void test_mistakes(const mistake *list, size_t count) {
    for (size_t i = 0; i < count; i++) test_mistake(&list[i]);
}

/* Each statement says its own mistake, and the first one is the thread's error. */
static void test_several_mistakes(void) {
    static const char TEXT[] = X
        ".oops\ny = parallel_map relu, in=x\nz = parallel_map relu, in=q\n.output w\n.output y\n";
    static const uint32_t LINES_OF[] = {3, 5, 6};
    hg_graph *g = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK_FAILS(hg_graph_read_text(TEXT, strlen(TEXT), NULL, d, &g), HG_ERROR_ISA, "",
                "line 3: there is no directive '.oops'");
    CHECK_U64(hg_diagnostics_count(d), 3);
    for (size_t i = 0; i < hg_diagnostics_count(d) && i < 3; i++)
        CHECK_U64(hg_diagnostics_get(d, i)->line, LINES_OF[i]);
    hg_diagnostics_destroy(d);
}

/* Programs need somebody who reads them. */
static void test_no_programs(void) {
    hg_graph *g = NULL;
    CHECK_FAILS(hg_graph_read_text(P, strlen(P), NULL, NULL, &g), HG_ERROR_ISA, "",
                "line 2: programs cannot be read here");
}

/* ---- limits ---- */

static char *repeated(const char *before, const char *part, size_t count, const char *after) {
    size_t length = strlen(part), start = strlen(before);
    char *text = malloc(start + length * count + strlen(after) + 1);
    memcpy(text, before, start);
    for (size_t i = 0; i < count; i++) memcpy(text + start + i * length, part, length);
    strcpy(text + start + length * count, after);
    return text;
}

/* Reads it and says the first message; NULL: none. The text is freed. */
static void check_limit(char *text, const char *message) {
    hg_graph *g = NULL;
    hg_status status = hg_graph_read_text(text, strlen(text), NULL, NULL, &g);
    if (message)
        CHECK_FAILS(status, HG_ERROR_ISA, "", message);
    else
        CHECK_OK(status);
    hg_graph_release(g);
    free(text);
}

static void test_limits(void) {
    static const char DEEP[] = "line 2: more than 64 parentheses inside one another";
    static const char HIGH[] = "line 3: an extent of a graph has too many operations inside one "
                               "another, at most 64 are allowed";
    check_limit(repeated(G ".input x f32 [", "(", 64, "1"),
                "line 2: expected ')', got end of file");
    check_limit(repeated(G ".input x f32 [", "(", 65, "1"), DEEP);
    check_limit(repeated(G ".input x f32 [", "(", 500000, "1"), DEEP);
    check_limit(repeated(G ".input x f32 [", "min(1,", 100000, "1"), DEEP);
    check_limit(repeated(N ".input x f32 [n", " * n", 62, "]\n"), NULL);
    check_limit(repeated(N ".input x f32 [n", " * n", 64, "]\n"), HIGH);
    check_limit(repeated(G ".input ", "a", 255, " f32 [1]\n"), NULL);
    check_limit(repeated(G ".input ", "a", 256, " f32 [1]\n"),
                "line 2: "
                "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"
                " is no name" NO_NAME);
    check_limit(repeated(G ".input ", "a", 1048576, " f32 [1]\n"),
                "line 2: line longer than 1 MiB with its continuations");
    check_limit(
        repeated(G "x = ", "a", 300, "\n"),
        "line 2: there is no whole-array instruction 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'");
    check_limit(
        repeated(
            T
            "y f32 [1] = tensor_contract a=a, b=b, shape_b=(3), contract_dims=((1, 0)), shape_a=(1",
            ", 1", 64, ")\n"),
        "line 4: more than 64 items of a tuple");
    check_limit(
        repeated(
            T "y f32 [1] = tensor_contract a=a, b=b, shape_a=(3), shape_b=(3), contract_dims=((1)",
            ", (1)", 40, ")\n"),
        "line 4: more than 64 items of a tuple");
    check_limit(repeated(N ".input x f32 [1, 1, 1, 1]\n.view v = x f32 [1, 1, 1, n", " - n / 3", 61,
                         "]\ny = conv2d input=v, kernel=x, padding=(1, 1), stride=(1, 1)\n"),
                "line 5: an extent of a graph has too many operations inside one another, at most "
                "64 are allowed");
    hg_graph *g = hg_graph_create(NULL);
    for (int i = 0; i < 64; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        CHECK_OK(hg_graph_extent(g, name));
    }
    CHECK_FAILS(hg_graph_extent(g, "n64"), HG_ERROR_INVALID_ARGUMENT, "",
                "more than 64 extents of a graph");
    hg_graph_release(g);
}

/* ---- printed forms ---- */

/* The graph prints as this, and the graph of that text too. */
static void prints_as(const char *text, const char *expected) {
    hg_graph *g = read_whole(text);
    char *printed = print(g);
    hg_graph *again = read_whole(printed);
    char *second = print(again);
    CHECK_TEXT(printed, expected);
    CHECK_TEXT(second, expected);
    hg_string_free(printed);
    hg_string_free(second);
    hg_graph_release(g);
    hg_graph_release(again);
}

/* The extent prints as this. */
static void extent_prints_as(const char *extent, const char *expected) {
    char text[256], printed[256];
    snprintf(text, sizeof text, G ".extent a, b, c\n.input x f32 [%s]\n", extent);
    snprintf(printed, sizeof printed,
             G ".name graph\n.extent a\n.extent b\n.extent c\n.input x f32 [%s]\n", expected);
    prints_as(text, printed);
}

static void test_extents(void) {
    extent_prints_as("2 + 3 * 4 - (5 - 1) / 2", "12");
    extent_prints_as("7 / 2, ceil(7 / 2), ceil((7 / 2)), ceil(a / 1), ceil(a * b / c)",
                     "3, 4, 4, a, ceil(a * b / c)");
    extent_prints_as("ceil(a / b / c), ceil(a / (b * c)), ceil(ceil(a / b) / c)",
                     "ceil(a / b / c), ceil(a / (b * c)), ceil(ceil(a / b) / c)");
    extent_prints_as("min(3, 5), max(3, 5), min(a, 5), max(b, a)", "3, 5, min(a, 5), max(a, b)");
    extent_prints_as("a - (b - c), a - b - c, a / (b / c), a / b / c",
                     "a - (b - c), a - b - c, a / (b / c), a / b / c");
    extent_prints_as("(a + b) * c, a + b * c, 2 * a, 1 + a",
                     "(a + b) * c, b * c + a, a * 2, a + 1");
    extent_prints_as("a * 1, 1 * a, a + 0, a - 0, a - a, a / 1", "a, a, a, a, 0, a");
    extent_prints_as("b - b + 1, b * a, c, c * b", "1, a * b, c, b * c"); /* b is older than a: the
                                                                             order does not follow
                                                                             from that */
    extent_prints_as("0 - 1, 1 / 0, ceil(1 / 0)", "0 - 1, 1 / 0, ceil(1 / 0)");
    extent_prints_as("9223372036854775806 + 1, 9223372036854775807 + 1, 9223372036854775807 * 3",
                     "9223372036854775807, 1 + 9223372036854775807, 3 * 9223372036854775807");
    extent_prints_as("9223372036854775807, 0, 0x10", "9223372036854775807, 0, 16");
    extent_prints_as("", "");
    hg_graph *g = read_whole(G ".extent a, b\n.input x f32 [a * b + a]\n.input y f32 [a + b * "
                               "a]\n.input z f32 [min(a, b) * (b * a + a)]\n");
    CHECK_U64(g->values.data[0].extents[0], g->values.data[1].extents[0]);
    CHECK(g->values.data[0].extents[0] != g->values.data[2].extents[0]);
    hg_graph_release(g);
}

/* The call in the last line prints as this. */
static void call_prints_as(const char *declarations, const char *call, const char *expected) {
    char text[1024], printed[1024];
    snprintf(text, sizeof text, "%s%s\n", declarations, call);
    snprintf(printed, sizeof printed, G ".name graph\n%s%s\n", declarations + strlen(G), expected);
    prints_as(text, printed);
}

static void test_calls(void) {
    call_prints_as(M, "y = gemm a=a, b=b", "y f32 [2, 5] = gemm.f32 a=a, b=b, m=2, n=5, k=3");
    call_prints_as(M, "y f32 [10] = gemm b=b, a=a",
                   "y f32 [10] = gemm.f32 a=a, b=b, m=2, n=5, k=3");
    call_prints_as(M, "y = gemm a=b, b=b, trans_a=true, trans_b=false, alpha=-1.5, beta=0",
                   "y f32 [5, 5] = gemm.f32 a=b, b=b, m=5, n=5, k=3, alpha=-1.5, beta=0.0, "
                   "trans_a=true, trans_b=false");
    call_prints_as(M, "y = gemm a=a, b=b, alpha=inf, activation=relu",
                   "y f32 [2, 5] = gemm.f32 a=a, b=b, m=2, n=5, k=3, alpha=inf, activation=relu");
    call_prints_as(X, "y = parallel_map relu,\n\n ; more\n in=x",
                   "y f32 [4] = parallel_map.f32 in=x, op=relu, count=4");
    call_prints_as(X, "y = parallel_map relu, in=x, count=2 + 1",
                   "y f32 [3] = parallel_map.f32 in=x, op=relu, count=3");
    call_prints_as(X, "y = parallel_reduce sum, in=x",
                   "y f32 [] = parallel_reduce.f32 in=x, op=sum, count=4");
    call_prints_as(C, "y = conv2d input=x, kernel=w, padding=(1, 1), stride=(2, 1)",
                   "y f32 [1, 4, 4, 8] = conv2d.f32 input=x, kernel=w, batch=1, in_channels=2, "
                   "out_channels=4, height=8, width=8, kernel_h=3, "
                   "kernel_w=3, stride=(2, 1), padding=(1, 1)");
    call_prints_as(T,
                   "y f32 [2, 2] = tensor_contract a=a, b=b, shape_a=(2, 3), shape_b=(3, 2), "
                   "contract_dims=((1, 0))",
                   "y f32 [2, 2] = tensor_contract.f32 a=a, b=b, shape_a=(2, 3), shape_b=(3, 2), "
                   "contract_dims=((1, 0))");
    call_prints_as(T,
                   "y f32 [] = tensor_contract a=a, b=b, shape_a=(2, 3), shape_b=(3, 2), "
                   "contract_dims=((1, 0), (0, 1))",
                   "y f32 [] = tensor_contract.f32 a=a, b=b, shape_a=(2, 3), shape_b=(3, 2), "
                   "contract_dims=((1, 0), (0, 1))");
    call_prints_as(M, "y = sort input=a", "y f32 [2, 3] = sort.f32 input=a, n=3, outer=2");
    call_prints_as(M, "y, at = top_k input=a, k=2, wide=true",
                   "y f32 [2, 2], at i64 [2, 2] = top_k.f32 input=a, n=3, k=2, outer=2, wide=true");
    call_prints_as(M, "y, at = sort input=a",
                   "y f32 [2, 3], at u32 [2, 3] = sort.f32 input=a, n=3, outer=2");
    call_prints_as(P, "y = @p k=0.1, x=x", "y f32 [4] = @p x=x, k=0.1, n=4");
    call_prints_as(B, "y, z, w = @two x=x, z=x",
                   "y f32 [4], z f32 [4], w f32 [5] = @two x=x, z=x, n=4");
}

/* Every kind of statement. */
static const char WHOLE[] = G
    ".name whole\n.extent b, s\n.program p \"p.atlas\"\n.program two \"two.atlas\"\n.input x f32 "
    "[b, s, 6]\n.input at f32 [b * s * 6]\n"
    ".constant w f32 [6, ceil(s / 2)]\n.constant bias f32 [ceil(s / 2)] \"w.npz:bias\"\n"
    ".constant cache f32 [16, b, 2, 3]\n.view flat = x f32 [b * s * 6]\n.view behind = x + min(6, "
    "b) f32 [max(s, 1) - 1, 6]\n"
    "h = gemm a=x, b=w, bias=bias, alpha=0.5, trans_b=false, activation=gelu\n"
    "h2 = gemm a=x, b=w, c=h, beta=-1e-3\n"
    "r = parallel_map relu, in=flat\nd f32 [b * s, 6] = parallel_map_binary mul, a=r, b=at, "
    "count=b * s * 6\n"
    "e = parallel_map sigmoid, in=d ; a comment\nsum = parallel_reduce sum, in=e\n"
    ".view new = e f32 [1, b, 2, 3]\nafter = kv_cache_update cache=cache, new_kv=new, position=s - "
    "1\n"
    "q f32 [2, 2] = tensor_contract a=x, b=w, shape_a=(2, 3), shape_b=(3, 2), contract_dims=((1, "
    "0))\n"
    "p_y = @p x=flat, k=3.25\nt_y, t_z, t_w = @two x=flat, z=r\n"
    ".output h\n.output out = h2\n.output e\n.output sum\n.output after\n.output q\n.output "
    "p_y\n.output x_again = x\n.output t_w\n";

static void test_whole(void) {
    hg_graph *g = read_whole(WHOLE);
    char *printed = print(g);
    prints_as(printed, printed);
    hg_graph *copy = NULL;
    CHECK_OK(graph_copy(g, &copy));
    char *copied = print(copy);
    CHECK_TEXT(copied, printed);
    for (uint32_t i = 0; i < g->values.count; i++)
        CHECK_U64(graph_find_value(copy, g->values.data[i].name, strlen(g->values.data[i].name)),
                  i);
    CHECK_FAILS(hg_graph_output(copy, (hg_value){1}, "out"), HG_ERROR_INVALID_ARGUMENT, "",
                "there is an output 'out' already");
    hg_string_free(copied);
    hg_graph_release(copy);
    CHECK(strstr(printed, ".constant bias f32 [ceil(s / 2)] \"w.npz:bias\"\n") != NULL);
    CHECK(strstr(printed, ".view behind = x + min(b, 6) f32 [max(s, 1) - 1, 6]\n") != NULL);
    CHECK(strstr(printed, ".output out = h2\n") != NULL);
    hg_string_free(printed);
    hg_graph_release(g);
}

/* Statements are added to a graph, up to the first mistake. */
static void test_added_text(void) {
    static const char MORE[] =
        "y = parallel_map relu, in=x\nz = parallel_map relu, in=w\nu = parallel_map relu, in=y\n";
    hg_graph *g = read_whole(X);
    hg_value value;
    CHECK_FAILS(hg_graph_add_text(g, MORE, strlen(MORE), NULL, NULL), HG_ERROR_ISA, "",
                "line 2: there is no value 'w' above");
    CHECK_OK(hg_graph_find(g, "y", &value));
    CHECK_U64(value.number, 1);
    CHECK_FAILS(hg_graph_find(g, "u", &value), HG_ERROR_INVALID_ARGUMENT, "",
                "there is no value 'u'");
    CHECK_OK(hg_graph_add_text(g, "u = parallel_map relu, in=y", 27, NULL, NULL));
    CHECK_OK(hg_graph_add_text(g, NULL, 0, NULL, NULL));
    static const char WRONG[] = "wrong i32 [4] = parallel_map relu, in=x\n",
                      RIGHT[] = "wrong = parallel_map relu, in=x\n";
    CHECK_FAILS(hg_graph_add_text(g, WRONG, strlen(WRONG), NULL, NULL), HG_ERROR_ISA, "",
                "line 1: parallel_map of f32: out is i32, f32 expected");
    CHECK_FAILS(hg_graph_find(g, "wrong", &value), HG_ERROR_INVALID_ARGUMENT, "",
                "there is no value 'wrong'");
    CHECK_OK(hg_graph_add_text(g, RIGHT, strlen(RIGHT), NULL, NULL));
    hg_graph_release(g);
}

/* Arrays of the table of shapes are operands of their instructions. */
static void test_table(void) {
    for (hg_op op = 0; op < HG_OP_COUNT; op++) {
        const char *p = graph_shape_pattern(op);
        graph_shape s;
        while (graph_shape_next(hg_op_get(op), &p, &s)) {
            CHECK_MESSAGE(s.operand < HG_MAX_OPERANDS &&
                              graph_is_array(&hg_op_get(op)->operands[s.operand]),
                          "%s", hg_op_get(op)->text);
            for (uint32_t i = 0; i < s.count; i++) {
                const graph_shape_extent *e = &s.extents[i];
                bool size = e->kind != GRAPH_SHAPE_ANY && e->kind != GRAPH_SHAPE_CONV &&
                            e->kind != GRAPH_SHAPE_OUTS;
                CHECK_MESSAGE(!size || hg_op_get(op)->operands[e->operand].kind == HG_K_COUNT, "%s",
                              hg_op_get(op)->text);
            }
        }
    }
}

/* ---- numbers for the symbols ---- */

/* The graph with n = 1 cannot be, for this reason; NULL: it can be. */
static void check_numbers(const char *text, const char *message) {
    uint64_t symbols[] = {1}, extents[64];
    hg_graph *g = read_whole(text);
    CHECK(g->terms.count <= 64);
    graph_extent_values(g, symbols, extents);
    if (message)
        CHECK_FAILS(graph_check(g, extents), HG_ERROR_INVALID_ARGUMENT, "G01", message);
    else
        CHECK_OK(graph_check(g, extents));
    hg_graph_release(g);
}

static void test_numbers(void) {
    check_numbers(N ".input x f32 [n - 1, 4]\n", NULL);
    check_numbers(N ".input x f32 [n - 2]\n",
                  "x: its extent n - 2 is below 0, a division by 0, or 2^64 and more");
    check_numbers(N ".input x f32 [3, 0 - 1]\n",
                  "x: its extent 0 - 1 is below 0, a division by 0, or 2^64 and more");
    check_numbers(N ".input x f32 [4 / (n - 1)]\n",
                  "x: its extent 4 / (n - 1) is below 0, a division by 0, or 2^64 and more");
    check_numbers(N ".input x f32 [ceil(4 / (n - 1))]\n",
                  "x: its extent ceil(4 / (n - 1)) is below 0, a division by 0, or 2^64 and more");
    check_numbers(N ".input x f32 [n + (9223372036854775807 + 9223372036854775807 + 1)]\n",
                  "x: its extent 9223372036854775807 + 9223372036854775807 + 1 + n is below 0, a "
                  "division by 0, or 2^64 and more");
    check_numbers(
        N ".input x f32 [4294967296, n * 4294967296]\n",
        "x: its extent n * 4294967296 * 4294967296 is below 0, a division by 0, or 2^64 and more");
    check_numbers(N ".input x f64 [1152921504606846976]\n",
                  "x has 1152921504606846976 elements of f64: more than any memory holds");
    check_numbers(N ".input x f32 [4]\n.view v = x + n f32 [3]\n", NULL);
    check_numbers(N ".input x f32 [4]\n.view v = x + n f32 [2, 2]\n",
                  "v is the f32 [2, 2] from element 1 on of x, which is f32 [4]");
    check_numbers(N ".input x f32 [4]\n.view v = x + n strides (n, n) f32 [2, 2]\n", NULL);
    check_numbers(
        N ".input x f32 [4]\n.view v = x strides (n, n + 2) f32 [2, 2]\n",
        "v is the f32 [2, 2] with strides (1, 3) from element 0 on of x, which is f32 [4]");
    check_numbers(N ".input x f32 [4]\n.view v = x + 5 strides (9) f32 [n - 1]\n",
                  "v is the f32 [0] with strides (9) from element 5 on of x, which is f32 [4]");
    check_numbers(N ".input x f32 [4]\n.view v = x strides (4611686018427387904, "
                    "9223372036854775807) f32 [n + 4, 2]\n",
                  "v is the f32 [5, 2] with strides (4611686018427387904, 9223372036854775807) "
                  "from element 0 on of x, which is f32 [4]");
    check_numbers(N ".input x f32 [4]\n.view v = x strides (n - 2) f32 [2]\n",
                  "v: its extent n - 2 is below 0, a division by 0, or 2^64 and more");
    check_numbers(N ".input a f32 [2, n]\n.input b f32 [3, 5]\ny = gemm a=a, b=b\n",
                  "gemm that makes y, line 5: b is f32 [3, 5], but k is 1");
    check_numbers(N ".input x f32 [n]\ny f32 [4] = parallel_map relu, in=x, count=4\n",
                  "parallel_map that makes y, line 4: in is f32 [1], which is 4 bytes; with these "
                  "sizes 16 bytes expected");
}

/* ---- the C interface ---- */

static hg_graph_arg array_arg(const char *name, hg_value value) {
    return (hg_graph_arg){.name = name, .kind = HG_GRAPH_ARRAY, .value = value};
}
static hg_graph_arg size_arg(const char *name, const hg_dim *dim) {
    return (hg_graph_arg){.name = name, .kind = HG_GRAPH_SIZE, .dims = dim};
}
static hg_graph_arg text_arg(const char *name, hg_graph_arg_kind kind, const char *text) {
    return (hg_graph_arg){.name = name, .kind = kind, .text = text};
}
static hg_graph_arg flag_arg(const char *name, int flag) {
    return (hg_graph_arg){.name = name, .kind = HG_GRAPH_FLAG, .flag = flag};
}
static hg_graph_arg tuple_arg(const char *name, const hg_dim *dims, uint32_t count) {
    return (hg_graph_arg){.name = name, .kind = HG_GRAPH_TUPLE, .dims = dims, .count = count};
}

typedef struct built {
    hg_graph *g;
    hg_program *two;
    hg_value x, w, flat, h;
} built;

static void build_calls(built *b) {
    hg_dim sizes = hg_dim_expression("b * 6"), pairs[] = {hg_dim_of(2), hg_dim_of(1), hg_dim_of(0)};
    hg_dim shape[] = {hg_dim_of(2), hg_dim_of(6)};
    hg_graph_made h = {.name = "h"}, r = {.name = "r"}, q = {.name = "q"};
    hg_graph_made made[] = {{.name = "t_w", .operand = "w"}, {.name = "t_y"}, {.name = "t_z"}};
    hg_graph_arg gemm[] = {array_arg("b", b->w), array_arg("a", b->x),
                           text_arg("alpha", HG_GRAPH_NUMBER, "0.5"), flag_arg("trans_b", 0),
                           text_arg("activation", HG_GRAPH_WORD, "gelu")};
    hg_graph_arg relu[] = {text_arg("op", HG_GRAPH_WORD, "relu"), array_arg("in", b->flat),
                           size_arg("count", &sizes)};
    CHECK_OK(hg_graph_call(b->g, "gemm", gemm, 5, &h, 1));
    CHECK_OK(hg_graph_call(b->g, "parallel_map", relu, 3, &r, 1));
    hg_graph_arg contract[] = {array_arg("a", b->w), array_arg("b", b->w),
                               tuple_arg("shape_a", shape, 2), tuple_arg("shape_b", shape, 2),
                               tuple_arg("contract_dims", pairs, 3)};
    CHECK_FAILS(hg_graph_call(b->g, "tensor_contract", contract, 5, &q, 1),
                HG_ERROR_INVALID_ARGUMENT, "",
                "tensor_contract: nothing tells the type and shape of what it makes: write it in "
                "front, as in y f32 [n] = tensor_contract ...");
    hg_graph_arg two[] = {array_arg("x", b->flat), array_arg("z", r.value)};
    CHECK_OK(hg_graph_call_program(b->g, b->two, two, 2, made, 3));
    CHECK_OK(hg_graph_output(b->g, h.value, NULL));
    CHECK_OK(hg_graph_output(b->g, made[0].value, "last"));
    b->h = h.value;
}

static built build(void) {
    built b = {.g = hg_graph_create("whole"), .two = assemble(TWO)};
    hg_dim x[] = {hg_dim_param("b"), hg_dim_of(6)},
           w[] = {hg_dim_of(6), hg_dim_expression("ceil(b / 2)")}, all = hg_dim_expression("b * 6");
    CHECK_OK(hg_graph_extent(b.g, "b"));
    CHECK_OK(hg_graph_input(b.g, "x", HG_TYPE_F32, x, 2, &b.x));
    CHECK_OK(hg_graph_constant(b.g, "w", HG_TYPE_F32, w, 2, NULL, &b.w));
    CHECK_OK(hg_graph_view(b.g, "flat", b.x, hg_dim_of(0), &all, 1, &b.flat));
    build_calls(&b);
    return b;
}

static const char BUILT[] = G ".name whole\n.extent b\n.program two \"two.atlas\"\n.input x f32 "
                              "[b, 6]\n.constant w f32 [6, ceil(b / 2)]\n.view flat = x f32 [b * "
                              "6]\n"
                              "h f32 [b, ceil(b / 2)] = gemm.f32 a=x, b=w, m=b, n=ceil(b / 2), "
                              "k=6, alpha=0.5, trans_b=false, activation=gelu\n"
                              "r f32 [b * 6] = parallel_map.f32 in=flat, op=relu, count=b * 6\n"
                              "t_w f32 [b * 6 + 1], t_y f32 [b * 6], t_z f32 [b * 6] = @two "
                              "x=flat, z=r, n=b * 6\n.output h\n.output last = t_w\n";

static void test_built(void) {
    built b = build();
    hg_value found;
    char *printed = print(b.g);
    CHECK_TEXT(printed, BUILT);
    CHECK_OK(hg_graph_find(b.g, "h", &found));
    CHECK_U64(found.number, b.h.number);
    hg_string_free(printed);
    hg_graph_release(hg_graph_retain(b.g));
    hg_graph_release(b.g);
    hg_program_release(b.two);
}

/* The three kinds of views with strides, from C and as text. */
static void test_strided_views(void) {
    hg_graph *g = hg_graph_create("views");
    hg_value x, t, back, row, wide, flat;
    hg_dim two[] = {hg_dim_param("n"), hg_dim_of(6)}, strides[] = {hg_dim_of(6)},
           three[] = {hg_dim_of(5), hg_dim_of(1), hg_dim_param("n")};
    uint32_t order[] = {1, 0};
    CHECK_OK(hg_graph_extent(g, "n"));
    CHECK_OK(hg_graph_input(g, "x", HG_TYPE_F32, two, 2, &x));
    CHECK_OK(hg_graph_permuted(g, "t", x, order, 2, &t));
    CHECK_OK(hg_graph_permuted(g, "back", t, order, 2, &back));
    CHECK_OK(hg_graph_strided_view(g, "row", x, hg_dim_of(2), two, strides, 1, &row));
    CHECK_OK(hg_graph_broadcast(g, "wide", row, three, 3, &wide));
    CHECK_FAILS(hg_graph_view(g, "flat", wide, hg_dim_of(0), two, 1, &flat),
                HG_ERROR_INVALID_ARGUMENT, "",
                "the elements of wide do not lie one after another: a view of it has strides, or "
                "is permuted or broadcast");
    CHECK_OK(hg_graph_view(g, "flat", back, hg_dim_of(0), two, 1, &flat));
    char *printed = print(g);
    CHECK_TEXT(printed, G ".name views\n.extent n\n.input x f32 [n, 6]\n.view t = x strides (1, 6) "
                          "f32 [6, n]\n.view back = x f32 [n, 6]\n"
                          ".view row = x + 2 strides (6) f32 [n]\n.view wide = x + 2 strides (0, "
                          "0, 6) f32 [5, 1, n]\n"
                          ".view flat = back f32 [n]\n");
    hg_graph_release(read_whole(printed));
    hg_string_free(printed);
    hg_graph_release(g);
}

/* Values without a name get one that nothing else has; the graph's name becomes one that text can
 * say. */
static void test_unnamed(void) {
    hg_graph *g = hg_graph_create("2 layers");
    hg_value v1, made_of;
    hg_graph_made made = {0};
    hg_dim four = hg_dim_of(4);
    CHECK_OK(hg_graph_input(g, "v1", HG_TYPE_F32, &four, 1, &v1));
    hg_graph_arg args[] = {text_arg("op", HG_GRAPH_WORD, "relu"), array_arg("in", v1)};
    CHECK_OK(hg_graph_call(g, "parallel_map", args, 2, &made, 1));
    CHECK_OK(hg_graph_view(g, NULL, made.value, hg_dim_of(1), &four, 0, &made_of));
    CHECK_FAILS(hg_graph_output(g, made.value, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "value 1 has no name: give the output one");
    CHECK_OK(hg_graph_output(g, made.value, "y"));
    char *printed = print(g);
    CHECK_TEXT(printed, G ".name __layers\n.input v1 f32 [4]\nv1_ f32 [4] = parallel_map.f32 "
                          "in=v1, op=relu, count=4\n"
                          ".view v2 = v1_ + 1 f32 []\n.output y = v1_\n");
    hg_graph_release(read_whole(printed));
    hg_string_free(printed);
    hg_graph_release(g);
}

#define INVALID(call, message) CHECK_FAILS(call, HG_ERROR_INVALID_ARGUMENT, "", message)

static void test_wrong_values(const built *b) {
    hg_value v;
    hg_dim dim = hg_dim_of(4), wrong = hg_dim_param("q"), large = hg_dim_of((uint64_t)1 << 63),
           two_lines = hg_dim_expression("b\nb"), many[9] = {{0}};
    INVALID(hg_graph_extent(NULL, "n"), "graph is NULL");
    INVALID(hg_graph_extent(b->g, NULL), "name is NULL");
    INVALID(hg_graph_extent(b->g, "x"),
            "'x' is declared already: a value never changes, so each has a name of its own");
    INVALID(hg_graph_input(NULL, "y", HG_TYPE_F32, &dim, 1, &v), "graph is NULL");
    INVALID(hg_graph_input(b->g, NULL, HG_TYPE_F32, &dim, 1, &v), "name is NULL");
    INVALID(hg_graph_input(b->g, "y", HG_TYPE_F32, &dim, 1, NULL), "value is NULL");
    INVALID(hg_graph_input(b->g, "y", HG_TYPE_F32, NULL, 1, &v), "dims is NULL");
    INVALID(hg_graph_input(b->g, "y", (hg_type)1000, &dim, 1, &v), "type 1000 is none");
    INVALID(hg_graph_input(b->g, "y", (hg_type)-1, &dim, 1, &v), "type -1 is none");
    INVALID(hg_graph_input(b->g, "y", HG_TYPE_F32, many, 9, &v),
            "9 extents, at most 8 are allowed");
    INVALID(hg_graph_input(b->g, "y", HG_TYPE_F32, &large, 1, &v),
            "an extent of 9223372036854775808: at most 2^63 - 1 are allowed");
    INVALID(hg_graph_input(b->g, "y", HG_TYPE_F32, &wrong, 1, &v),
            "extent \"q\": 'q' is no extent: write .extent q above");
    INVALID(hg_graph_input(b->g, "y", HG_TYPE_F32, &two_lines, 1, &v),
            "extent \"b\nb\": expected the end of the extent, got end of line");
    INVALID(hg_graph_input(b->g, "r2", HG_TYPE_F32, &dim, 1, &v), "'r2' is no name" NO_NAME);
    INVALID(hg_graph_input(b->g, "last", HG_TYPE_F32, &dim, 1, &v),
            "'last' is the name of an output");
    INVALID(hg_graph_constant(b->g, "x", HG_TYPE_F32, &dim, 1, NULL, &v),
            "'x' is declared already: a value never changes, so each has a name of its own");
    INVALID(hg_graph_constant(b->g, NULL, HG_TYPE_F32, &dim, 1, NULL, &v), "name is NULL");
    INVALID(hg_graph_view(b->g, "y", (hg_value){99}, dim, &dim, 1, &v),
            "value 99: the graph has 8");
    INVALID(hg_graph_view(b->g, "y", b->x, wrong, &dim, 1, &v),
            "extent \"q\": 'q' is no extent: write .extent q above");
    INVALID(hg_graph_view(b->g, "y", b->x, dim, &dim, 1, NULL), "view is NULL");
    uint32_t order[9] = {1, 0, 0, 0, 0, 0, 0, 0, 0};
    INVALID(hg_graph_strided_view(b->g, "y", b->x, dim, &dim, NULL, 1, &v), "strides is NULL");
    INVALID(hg_graph_strided_view(b->g, "y", b->x, dim, &dim, &wrong, 1, &v),
            "extent \"q\": 'q' is no extent: write .extent q above");
    INVALID(hg_graph_strided_view(b->g, "y", b->x, dim, NULL, &dim, 1, &v), "dims is NULL");
    INVALID(hg_graph_strided_view(b->g, "y", (hg_value){99}, dim, &dim, &dim, 1, &v),
            "value 99: the graph has 8");
    INVALID(hg_graph_permuted(b->g, "y", b->x, NULL, 2, &v), "order is NULL");
    INVALID(hg_graph_permuted(b->g, "y", b->x, order, 9, &v), "9 axes, at most 8 are allowed");
    INVALID(hg_graph_permuted(b->g, "y", b->x, order, 1, &v),
            "permuted takes each axis once, 0 to 1: the value is f32 [b, 6], 1 given");
    INVALID(hg_graph_permuted(b->g, "x", b->x, order, 2, &v),
            "'x' is declared already: a value never changes, so each has a name of its own");
    INVALID(hg_graph_broadcast(b->g, "y", b->x, &dim, 1, &v),
            "f32 [b, 6] is not repeated to f32 [4]: an extent is the same or 1");
    INVALID(hg_graph_broadcast(b->g, "y", b->x, &dim, 1, NULL), "view is NULL");
    INVALID(hg_graph_output(NULL, b->x, "y"), "graph is NULL");
    INVALID(hg_graph_output(b->g, (hg_value){99}, "y"), "value 99: the graph has 8");
    INVALID(hg_graph_output(b->g, b->x, NULL),
            "'x' is the name of an input or constant: write .output NAME = x");
    INVALID(hg_graph_output(b->g, b->x, "a b"),
            "'a b' is no name of an output: letters, digits and _, and no register or type");
    INVALID(hg_graph_find(b->g, "y", &v), "there is no value 'y'");
    INVALID(hg_graph_find(b->g, "y", NULL), "value is NULL");
    INVALID(hg_graph_print(b->g, NULL, NULL), "text is NULL");
    INVALID(hg_graph_read_text(NULL, 1, NULL, NULL, NULL), "graph is NULL");
    INVALID(hg_graph_add_text(b->g, NULL, 1, NULL, NULL), "text is NULL");
}

/* The operand in place of gemm's alpha. */
static void wrong_arg(const built *b, hg_graph_arg arg, const char *message) {
    hg_graph_made made = {.name = "y"};
    hg_graph_arg args[] = {array_arg("a", b->x), array_arg("b", b->w), arg};
    INVALID(hg_graph_call(b->g, "gemm", args, 3, &made, 1), message);
}

static void test_wrong_args(const built *b) {
    hg_dim many[65] = {{0}}, wrong = hg_dim_param("q");
    wrong_arg(b, text_arg(NULL, HG_GRAPH_NUMBER, "1"), "arg.name is NULL");
    wrong_arg(b, text_arg("size", HG_GRAPH_NUMBER, "1"), "gemm has no operand 'size'");
    wrong_arg(b, array_arg("a", b->x), "gemm: 'a' is given twice");
    wrong_arg(b, flag_arg("alpha", 1), "gemm: alpha is a number");
    wrong_arg(b, flag_arg("bias", 1), "gemm: bias is an array");
    wrong_arg(b, flag_arg("m", 1), "gemm: m is a size");
    wrong_arg(b, flag_arg("activation", 1), "gemm: activation is the name of an operation");
    wrong_arg(b, text_arg("trans_a", HG_GRAPH_WORD, "true"), "gemm: trans_a is a flag");
    wrong_arg(b, (hg_graph_arg){.name = "m", .kind = (hg_graph_arg_kind)99}, "gemm: m is a size");
    wrong_arg(b, text_arg("alpha", HG_GRAPH_NUMBER, NULL), "arg.text is NULL");
    wrong_arg(b, text_arg("alpha", HG_GRAPH_NUMBER, ""), "gemm: alpha is empty");
    wrong_arg(b, text_arg("alpha", HG_GRAPH_NUMBER, "1 2"),
              "gemm: alpha=1 2: malformed number '1 2'");
    wrong_arg(b, text_arg("activation", HG_GRAPH_WORD, NULL), "arg.text is NULL");
    wrong_arg(b, text_arg("activation", HG_GRAPH_WORD, "gel"), "there is no operation 'gel'");
    wrong_arg(b, text_arg("activation", HG_GRAPH_WORD, "add"),
              "gemm: activation=add is no operation for it");
    wrong_arg(b, size_arg("m", NULL), "arg.dims is NULL");
    wrong_arg(b, size_arg("m", &wrong), "extent \"q\": 'q' is no extent: write .extent q above");
    wrong_arg(b, array_arg("bias", (hg_value){99}), "value 99: the graph has 8");
    hg_graph_made made = {.name = "y"}, twice[] = {{.name = "i", .operand = "y"},
                                                   {.name = "j"},
                                                   {.name = "k", .operand = "y"}};
    hg_graph_arg map[] = {text_arg("op", HG_GRAPH_WORD, "relu"), array_arg("in", b->x),
                          array_arg("out", b->x)};
    INVALID(hg_graph_call(b->g, "parallel_map", map, 3, &made, 1),
            "parallel_map: out is what it makes: nothing is given for it");
    hg_graph_arg contract[] = {tuple_arg("shape_a", many, 65), tuple_arg("contract_dims", many, 2),
                               tuple_arg("shape_a", NULL, 2)};
    INVALID(hg_graph_call(b->g, "tensor_contract", contract, 1, &made, 1),
            "tensor_contract: shape_a has 65 items, at most 64 are allowed");
    INVALID(hg_graph_call(b->g, "tensor_contract", &contract[2], 1, &made, 1), "arg.dims is NULL");
    many[0] = hg_dim_of(2);
    INVALID(hg_graph_call(b->g, "tensor_contract", &contract[1], 1, &made, 1),
            "contract_dims: of tuples each begins with its length, as in 2, 1, 0, 2, 2, 1");
    hg_graph_arg two[] = {array_arg("x", b->flat), array_arg("z", b->flat)};
    INVALID(hg_graph_call_program(b->g, b->two, two, 2, twice, 3), "two: two results of 'y'");
    twice[2].operand = "x";
    INVALID(hg_graph_call_program(b->g, b->two, two, 2, twice, 3), "two makes nothing of 'x'");
    INVALID(hg_graph_call_program(b->g, NULL, two, 2, twice, 3), "program is NULL");
    INVALID(hg_graph_call(b->g, NULL, map, 2, &made, 1), "instruction is NULL");
    INVALID(hg_graph_call(NULL, "gemm", map, 2, &made, 1), "graph is NULL");
    INVALID(hg_graph_call(b->g, "parallel_map", NULL, 2, &made, 1), "args is NULL");
    INVALID(hg_graph_call(b->g, "parallel_map", map, 2, NULL, 1), "made is NULL");
    INVALID(hg_graph_call(b->g, "parallel_map", map, 253, &made, 1),
            "253 operands, at most 252 are allowed");
    INVALID(hg_graph_call(b->g, "no", map, 2, &made, 1),
            "there is no whole-array instruction 'no'");
}

/* A call that fails leaves the graph as it was. */
static void test_wrong(void) {
    built b = build();
    test_wrong_values(&b);
    test_wrong_args(&b);
    char *printed = print(b.g);
    CHECK_TEXT(printed, BUILT);
    hg_string_free(printed);
    hg_graph_release(b.g);
    hg_program_release(b.two);
    hg_graph_release(NULL);
}

/* ---- hostile bytes ---- */

/* An error with a place, or a graph whose text is that of the same graph. The bytes lie in a block
 * of their own size. */
static bool survives(const char *bytes, size_t length) {
    char *text = malloc(length ? length : 1), *printed = NULL, *again = NULL;
    memcpy(text, bytes, length);
    hg_graph *g = NULL, *second = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = hg_graph_read_text(text, length, &OPTIONS, d, &g);
    bool right = (status == HG_OK) == (g != NULL) &&
                 (status == HG_OK) == (hg_diagnostics_errors(d) == 0);
    if (status != HG_OK)
        right = right && status == HG_ERROR_ISA && hg_diagnostics_get(d, 0)->line > 0;
    if (g) {
        right = right && hg_graph_print(g, &printed, NULL) == HG_OK;
        right = right &&
                hg_graph_read_text(printed, strlen(printed), &OPTIONS, NULL, &second) == HG_OK;
        right = right && hg_graph_print(second, &again, NULL) == HG_OK &&
                strcmp(printed, again) == 0;
    }
    CHECK_MESSAGE(right, "%s: %s\n%.*s\n%s\n%s", hg_status_name(status), hg_last_error_text(),
                  (int)length, text, printed ? printed : "", again ? again : "");
    hg_string_free(printed);
    hg_string_free(again);
    hg_graph_release(g);
    hg_graph_release(second);
    hg_diagnostics_destroy(d);
    free(text);
    return g != NULL;
}

static uint64_t seed = 1;
static uint32_t random_below(uint32_t n) { /* splitmix64, Steele, Lea, Flood 2014 */
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % n);
}

static void test_hostile(void) {
    static const char BYTES[] = "\n\t ,;:=@+-*/()[]{}\"\\.0159abnsxyz_\x01\x7f\x80\xff";
    char text[sizeof WHOLE];
    uint32_t good = 0;
    for (size_t length = 0; length < sizeof WHOLE; length++) good += survives(WHOLE, length);
    CHECK(good > 20);
    good = 0;
    for (int i = 0; i < (SANITIZED ? 600 : 6000); i++) {
        memcpy(text, WHOLE, sizeof text);
        for (uint32_t k = 0; k <= random_below(2); k++)
            text[random_below(sizeof text - 1)] = BYTES[random_below(sizeof BYTES)];
        good += survives(text, sizeof text - 1);
    }
    CHECK(good > (SANITIZED ? 8 : 100));
    for (size_t at = 0; at + 1 < sizeof WHOLE; at += 3) { /* without a few bytes */
        uint32_t length = 1 + random_below(4);
        if (at + length >= sizeof WHOLE) break;
        memcpy(text, WHOLE, at);
        memcpy(text + at, WHOLE + at + length, sizeof WHOLE - at - length);
        survives(text, sizeof WHOLE - 1 - length);
    }
}

/* 100,000 statements, and as many bad ones behind them. */
static void test_many(void) {
    const int quarter = SANITIZED ? 700 : 25000;
    hg_text text = {0};
    hg_text_addf(&text, G ".extent n\n.input x f32 [n]\n");
    for (int i = 0; i < quarter; i++)
        hg_text_addf(&text,
                     ".constant c%d f32 [n, %d]\n.view w%d = x + %d f32 [1]\ny%d = parallel_map "
                     "neg, in=x\n.output o%d = y%d\n",
                     i, i, i, i, i, i, i);
    hg_graph *g = read_whole(text.data);
    CHECK_U64(g->calls.count, quarter);
    CHECK_U64(g->outputs.count, quarter);
    hg_graph_release(g);
    for (int i = 0; i < 4 * quarter; i++)
        hg_text_addf(&text, "z%d f64 [1] = parallel_map neg, in=x\n", i);
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK_STATUS(hg_graph_read_text(text.data, text.length, NULL, d, &g), HG_ERROR_ISA);
    CHECK_U64(hg_diagnostics_errors(d), 4 * quarter);
    hg_diagnostics_destroy(d);
    hg_text_free(&text);
}

/* ---- failing allocations ---- */

static failing_allocator allocator;

/* One way of making graphs: OK and the graph, or why not. */
typedef hg_status maker(hg_graph **g);

static hg_status read_it(hg_graph **g) {
    return hg_graph_read_text(WHOLE, strlen(WHOLE), &OPTIONS, NULL, g);
}

/* So many inputs come first: tables grow at other places then. */
static uint32_t fillers;

static hg_status read_filled(hg_graph **g) {
    char text[16384];
    int at = snprintf(text, sizeof text, G ".name %0*d\n", 5000, 0);
    memset(text + strlen(G ".name "), 'a', 5000);
    for (uint32_t i = 0; i < fillers; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, ".input more%u f32 [%u]\n", (unsigned)i,
                       1000 + (unsigned)i);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   ".extent n\n.input x f32 [n, 2, 8, 8]\n.input w f32 [4, 2, 3, 3]\n"
                   "y = conv2d input=x, kernel=w, padding=(5, 6), stride=(7, 9)\nz f32 [n] = "
                   "parallel_map relu, in=y, count=10\n"
                   "q f32 [] = tensor_contract a=y, b=z, shape_a=(11), shape_b=(12, 13), "
                   "contract_dims=((14, 15, 16), (17))\n");
    return hg_graph_read_text(text, (size_t)at, NULL, NULL, g);
}

static hg_status read_wrong(hg_graph **g) {
    static const char WRONG[] = M "y = gemm a=a, b=a\n";
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = hg_graph_read_text(WRONG, strlen(WRONG), &OPTIONS, d, g);
    hg_diagnostics_destroy(d);
    return status == HG_ERROR_ISA ? HG_OK : status;
}

static hg_status add_fillers(hg_graph *g) {
    for (uint32_t i = 0; i < fillers; i++) {
        hg_dim dim = hg_dim_of(1000 + i);
        hg_value value;
        char name[16];
        snprintf(name, sizeof name, "more%u", (unsigned)i);
        hg_status status = hg_graph_input(g, name, HG_TYPE_F32, &dim, 1, &value);
        if (status != HG_OK) return status;
    }
    return HG_OK;
}

static hg_status build_it(hg_graph **graph) {
    hg_dim x[] = {hg_dim_param("b"), hg_dim_of(6)},
           w[] = {hg_dim_of(6), hg_dim_expression("ceil(b / 2)")},
           pair[] = {hg_dim_of(1), hg_dim_of(1)};
    hg_graph *g = hg_graph_create("g");
    hg_value in = {0}, weights = {0}, view = {0};
    hg_graph_made h = {.name = "h"}, y = {.name = "y"};
    if (!g) return HG_ERROR_OUT_OF_MEMORY;
    hg_status status = add_fillers(g);
    if (status == HG_OK) status = hg_graph_extent(g, "b");
    if (status == HG_OK) status = hg_graph_input(g, "x", HG_TYPE_F32, x, 2, &in);
    if (status == HG_OK) status = hg_graph_constant(g, "w", HG_TYPE_F32, w, 2, NULL, &weights);
    hg_graph_arg gemm[] = {array_arg("a", in), array_arg("b", weights),
                           text_arg("alpha", HG_GRAPH_NUMBER, "0.5")};
    if (status == HG_OK) status = hg_graph_call(g, "gemm", gemm, 3, &h, 1);
    hg_dim image[] = {hg_dim_of(1), hg_dim_of(1), hg_dim_param("b"), hg_dim_of(3)};
    if (status == HG_OK) status = hg_graph_view(g, "v", in, hg_dim_of(0), image, 4, &view);
    hg_graph_arg conv[] = {array_arg("input", view), array_arg("kernel", view),
                           tuple_arg("stride", pair, 2), tuple_arg("padding", pair, 2)};
    if (status == HG_OK) status = hg_graph_call(g, "conv2d", conv, 4, &y, 1);
    if (status == HG_OK) status = hg_graph_output(g, y.value, NULL);
    if (status == HG_OK)
        *graph = g;
    else
        hg_graph_release(g);
    return status;
}

static hg_status copy_it(hg_graph **copy) {
    hg_graph *g = NULL;
    hg_status status = build_it(&g);
    if (status == HG_OK) status = graph_copy(g, copy);
    hg_graph_release(g);
    return status;
}

static hg_status print_it(hg_graph **graph) {
    hg_graph *g = NULL;
    char *text = NULL;
    hg_status status = build_it(&g);
    if (status == HG_OK) status = hg_graph_print(g, &text, NULL);
    if (status == HG_OK) status = hg_graph_read_text(text, strlen(text), NULL, NULL, graph);
    hg_string_free(text);
    hg_graph_release(g);
    return status;
}

/* Fails at each allocation in turn, and at all behind it or only there. tolerant: what fails may be
 * a message of the diagnostics. */
static void fail_each(const char *what, maker *make, bool only_once, bool tolerant) {
    uint64_t count = 0, before = allocator.live;
    bool reached = true;
    allocator.only_once = only_once;
    for (; reached && count < 100000; count++) {
        hg_graph *g = NULL;
        allow_allocations(&allocator, count);
        hg_status status = make(&g);
        reached = allocator.allocations > count;
        bool right = status == (reached ? HG_ERROR_OUT_OF_MEMORY : HG_OK) ||
                     (tolerant && status == HG_OK);
        CHECK_MESSAGE(right, "%s, allocation %" PRIu64 ": %s (%s)", what, count,
                      hg_status_name(status), status == HG_OK ? "" : hg_last_error_text());
        allow_allocations(&allocator, UINT64_MAX);
        hg_graph_release(g);
        CHECK_MESSAGE(allocator.live == before,
                      "%s, allocation %" PRIu64 ": %" PRIu64 " blocks are left", what, count,
                      allocator.live - before);
    }
    CHECK_MESSAGE(count > 10, "%s: %" PRIu64 " allocations", what, count);
}

static void test_memory(void) {
    for (int once = 0; once < 2; once++) {
        fail_each("reading", read_it, once, false);
        for (fillers = 0; fillers < 70; fillers += SANITIZED ? 17 : 1) {
            fail_each("building", build_it, once, false);
            fail_each("reading", read_filled, once, false);
        }
        fillers = 0;
        fail_each("copying", copy_it, once, false);
        fail_each("printing", print_it, once, false);
        fail_each("a mistake", read_wrong, once, true);
    }
}

int main(void) {
    hg_allocator hooks = {sizeof hooks, &allocator, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
#define TEST_MISTAKES(list) test_mistakes(list, sizeof list / sizeof *list)
    TEST_MISTAKES(LINES);
    TEST_MISTAKES(NAMES);
    TEST_MISTAKES(SHAPES);
    TEST_MISTAKES(FILES);
    TEST_MISTAKES(CALLS);
    test_several_mistakes();
    test_no_programs();
    test_limits();
    test_extents();
    test_calls();
    test_whole();
    test_added_text();
    test_table();
    test_numbers();
    test_built();
    test_unnamed();
    test_strided_views();
    test_wrong();
    test_hostile();
    test_many();
    test_memory();
    return test_done();
}
