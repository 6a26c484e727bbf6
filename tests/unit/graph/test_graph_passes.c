/* Each pass over array graphs by itself: a text, and the calls that are left of it as text. */
#include "graph/passes.h"
#include "test.h"
#include <stdlib.h>

typedef struct pass_case {
    const char *passes, *text, *expected; /* both without the lines that every graph has */
} pass_case;

#define X "x f32 [4] "
#define IN ".input x f32 [4]\n"

static const pass_case CASES[] = {
    /* copies */
    {"copies", IN "a = parallel_map identity, in=x\ny = parallel_map abs, in=a\n.output y\n",
     IN "y f32 [4] = parallel_map.f32 in=x, op=abs, count=4\n.output y\n"},
    {"copies",
     IN "a f32 [2, 2] = parallel_map identity, in=x\ny = parallel_map abs, in=a\n.output "
        "y\n", /* another shape: no copy of the same */
     IN "a f32 [2, 2] = parallel_map.f32 in=x, op=identity, count=4\ny f32 [2, 2] = "
        "parallel_map.f32 in=a, op=abs, count=4\n.output y\n"},
    {"copies",
     IN "a = parallel_map identity, in=x\n.view v = a + 1 f32 [2]\ny = parallel_map abs, "
        "in=v\n.output y\n",
     IN ".view v = x + 1 f32 [2]\ny f32 [2] = parallel_map.f32 in=v, op=abs, "
        "count=2\n.output y\n"},
    /* common */
    {"common",
     IN "a = parallel_map abs, in=x\nb = parallel_map abs, in=x\ny = parallel_map_binary "
        "mul, a=a, b=b\n.output y\n",
     IN "a f32 [4] = parallel_map.f32 in=x, op=abs, count=4\ny f32 [4] = "
        "parallel_map_binary.f32 a=a, b=a, op=mul, count=4\n.output y\n"},
    {"common",
     IN "a = parallel_map abs, in=x\nb = parallel_map neg, in=x\ny = parallel_map_binary "
        "mul, a=a, b=b\n.output y\n",
     IN "a f32 [4] = parallel_map.f32 in=x, op=abs, count=4\nb f32 [4] = parallel_map.f32 "
        "in=x, op=neg, count=4\n"
        "y f32 [4] = parallel_map_binary.f32 a=a, b=b, op=mul, count=4\n.output y\n"},
    {"common",
     IN "a = softmax input=x\nb = softmax input=x\nc = layer_scale input=b, "
        "scale=a\n.output c\n",
     IN "a f32 [4] = softmax.f32 input=x, n=4, rows=1\nc f32 [4] = layer_scale.f32 "
        "input=a, scale=a, n=4, rows=1\n.output c\n"},
    {"common",
     IN ".view v = x + 1 f32 [2]\n.view w = x + 1 f32 [2]\na = parallel_map abs, in=v\nb = "
        "parallel_map abs, in=w\n"
        "y = parallel_map_binary add, a=a, b=b\n.output y\n",
     IN ".view v = x + 1 f32 [2]\n.view w = x + 1 f32 [2]\na f32 [2] = parallel_map.f32 "
        "in=v, op=abs, count=2\n"
        "y f32 [2] = parallel_map_binary.f32 a=a, b=a, op=add, count=2\n.output y\n"},
    /* dead */
    {"dead",
     IN "a = parallel_map abs, in=x\nb = parallel_map neg, in=a\ny = parallel_map sin, "
        "in=x\n.output y\n",
     IN "y f32 [4] = parallel_map.f32 in=x, op=sin, count=4\n.output y\n"},
    {"dead",
     IN "a = parallel_map abs, in=x\n.view v = a f32 [2]\ny = parallel_map sin, "
        "in=v\n.output y\n", /* read through a view */
     IN "a f32 [4] = parallel_map.f32 in=x, op=abs, count=4\n.view v = a f32 [2]\ny f32 "
        "[2] = parallel_map.f32 in=v, op=sin, "
        "count=2\n.output y\n"},
    /* maps */
    {"maps",
     IN "a = parallel_map abs, in=x\nb = parallel_map sin, in=a\ny = parallel_map_binary "
        "mul, a=b, b=x\n.output y\n",
     ".program maps0 \"maps0.atlas\"\n" IN "y f32 [4] = @maps0 n=4, x0=x\n.output y\n"},
    {"maps", IN "y = parallel_map abs, in=x\n.output y\n", /* one map stays what it is */
     IN "y f32 [4] = parallel_map.f32 in=x, op=abs, count=4\n.output y\n"},
    {"maps",
     IN
     "a = parallel_map abs, in=x\ny = parallel_map sin, in=a\n.output y\n.output a\n", /* what
                                                                                          something
                                                                                          else
                                                                                          reads
                                                                                          is
                                                                                          stored
                                                                                        */
     ".program maps0 \"maps0.atlas\"\n" IN
     "a f32 [4], y f32 [4] = @maps0 n=4, x0=x\n.output y\n.output a\n"},
    {"maps",
     IN "a = parallel_map abs, in=x\nb = softmax input=a\nc = parallel_map sin, in=a\ny = "
        "parallel_map_binary add, a=c, b=b\n.output y\n",
     /* softmax reads a: what makes it comes first, and what reads softmax behind it */
     ".program maps0 \"maps0.atlas\"\n" IN
     "a f32 [4] = parallel_map.f32 in=x, op=abs, count=4\nb f32 [4] = softmax.f32 input=a, "
     "n=4, rows=1 ; with the call before\n"
     "y f32 [4] = @maps0 n=4, x0=a, x1=b\n.output y\n"},
    /* a product does maps of its result, a norm short ones on both sides */
    {"maps",
     ".input a f32 [2, 3]\n.input b f32 [3, 2]\n.input r f32 [2, 2]\nh = gemm a=a, b=b\ns "
     "= parallel_map sin, in=h\nq = parallel_map abs, "
     "in=r\n"
     "y = parallel_map_binary add, a=q, b=s\n.output y\n",
     ".input a f32 [2, 3]\n.input b f32 [3, 2]\n.input r f32 [2, 2]\nq f32 [2, 2] = "
     "parallel_map.f32 in=r, op=abs, count=4\n"
     "h f32 [2, 2] = gemm.f32 a=a, b=b, m=2, n=2, k=3\ns f32 [2, 2] = parallel_map.f32 "
     "in=h, op=sin, count=4 ; with the call before\n"
     "y f32 [2, 2] = parallel_map_binary.f32 a=q, b=s, op=add, count=4 ; with the call "
     "before\n.output y\n"},
    {"maps",
     IN "a = parallel_map sin, in=x\nb = parallel_map_binary add, a=a, b=x\nc = softmax "
        "input=b\nd = parallel_map abs, in=c\ne = parallel_map "
        "sin, in=d\n"
        ".view v = x strides (0) f32 [4]\ny = parallel_map_binary add, a=e, b=v\n.output "
        "y\n", /* long maps and views with strides go alone */
     ".program maps0 \"maps0.atlas\"\n.program maps1 \"maps1.atlas\"\n" IN
     "b f32 [4] = @maps0 n=4, x0=x\nc f32 [4] = softmax.f32 input=b, n=4, rows=1\n"
     "d f32 [4] = parallel_map.f32 in=c, op=abs, count=4 ; with the call before\n.view v = "
     "x strides (0) f32 [4]\ny f32 [4] = @maps1 n=4, "
     "x0=d, x1=x\n.output y\n"},
    {"maps",
     IN "a = parallel_map abs, in=x\ny = layer_norm input=a, gamma=a, beta=x, eps=0.5\n.output "
        "y\n", /* other lanes read gamma too */
     IN "a f32 [4] = parallel_map.f32 in=x, op=abs, count=4\ny f32 [4] = layer_norm.f32 "
        "input=a, gamma=a, beta=x, n=4, eps=0.5, rows=1\n.output y\n"},
    /* the order keeps them together */
    {"maps,order",
     ".extent n\n.input a f32 [n, 2]\n.input b f32 [2, n]\nh = gemm a=a, b=b\nm = "
     "parallel_map abs, in=h\nk = gemm a=a, b=b, alpha=2.0\n"
     "o = parallel_map abs, in=k\nr = parallel_reduce sum, in=m\ns = parallel_reduce sum, "
     "in=o\ny = parallel_map_binary add, a=r, "
     "b=s\n.output y\n",
     ".extent n\n.input a f32 [n, 2]\n.input b f32 [2, n]\nh f32 [n, n] = gemm.f32 a=a, "
     "b=b, m=n, n=n, k=2\n"
     "m f32 [n, n] = parallel_map.f32 in=h, op=abs, count=n * n ; with the call before\nr "
     "f32 [] = parallel_reduce.f32 in=m, op=sum, "
     "count=n * n\n"
     "k f32 [n, n] = gemm.f32 a=a, b=b, m=n, n=n, k=2, alpha=2.0\n"
     "o f32 [n, n] = parallel_map.f32 in=k, op=abs, count=n * n ; with the call before\ns "
     "f32 [] = parallel_reduce.f32 in=o, op=sum, "
     "count=n * n\n"
     "y f32 [] = parallel_map_binary.f32 a=r, b=s, op=add, count=1\n.output y\n"},
    {"maps",
     IN "a = parallel_map abs, in=x\n.view v = a + 1 f32 [3]\n.view w = x f32 [3]\ny = "
        "parallel_map_binary add, a=v, b=w\n.output y\n",
     /* other elements: never one pass */
     IN "a f32 [4] = parallel_map.f32 in=x, op=abs, count=4\n.view v = a + 1 f32 "
        "[3]\n.view w = x f32 [3]\n"
        "y f32 [3] = parallel_map_binary.f32 a=v, b=w, op=add, count=3\n.output y\n"},
    {"maps",
     ".input i i32 [4]\na = parallel_map abs, in=i\ny = parallel_map_binary div, a=a, "
     "b=i\n.output y\n", /* a division may fault */
     ".input i i32 [4]\na i32 [4] = parallel_map.i32 in=i, op=abs, count=4\ny i32 [4] = "
     "parallel_map_binary.i32 a=a, b=i, op=div, "
     "count=4\n.output y\n"},
    /* views: into flags of products, either matrix, and back again */
    {"views",
     ".extent n\n.input a f32 [3, n]\n.input b f32 [5, 3]\n.view at = a permuted (1, "
     "0)\n.view bt = b permuted (1, 0)\n"
     "y = gemm a=at, b=bt\n.output y\n",
     ".extent n\n.input a f32 [3, n]\n.input b f32 [5, 3]\n.view at = a strides (1, n) f32 "
     "[n, 3]\n.view bt = b strides (1, 3) f32 [3, 5]\n"
     ".view v5 = a f32 [3, n]\n.view v6 = b f32 [5, 3]\n"
     "y f32 [n, 5] = gemm.f32 a=v5, b=v6, m=n, n=5, k=3, trans_a=true, "
     "trans_b=true\n.output y\n"},
    {"views",
     ".input a f32 [2, 4, 3]\n.input b f32 [2, 4, 5]\n.view at = a permuted (0, 2, 1)\ny = "
     "batched_gemm a=at, b=b\n.output y\n",
     ".input a f32 [2, 4, 3]\n.input b f32 [2, 4, 5]\n.view at = a strides (12, 1, 3) f32 "
     "[2, 3, 4]\n.view v4 = a f32 [2, 4, 3]\n"
     "y f32 [2, 3, 5] = batched_gemm.f32 a=v4, b=b, batch=2, m=3, n=5, k=4, "
     "trans_a=true\n.output y\n"},
    {"views",
     ".input a f32 [4, 3]\n.view at = a permuted (1, 0)\ny = gemm a=a, b=at, "
     "trans_b=false\n.output y\n",
     ".input a f32 [4, 3]\n.view at = a strides (1, 3) f32 [3, 4]\n.view v3 = a f32 [4, "
     "3]\n"
     "y f32 [4, 4] = gemm.f32 a=a, b=v3, m=4, n=4, k=3, trans_b=true\n.output y\n"},
    {"views",
     ".input a i8 [2, 3]\n.input b i8 [5, 3]\n.view bt = b permuted (1, 0)\n"
     "y = quantized_gemm a=a, b=bt, a_scale=1.0, b_scale=1.0, c_scale=1.0\n.output y\n",
     ".input a i8 [2, 3]\n.input b i8 [5, 3]\n.view bt = b strides (1, 3) i8 [3, 5]\n.view v4 = b "
     "i8 [5, 3]\n"
     "y i8 [2, 5] = quantized_gemm.i8 a=a, b=v4, a_scale=1.0, b_scale=1.0, c_scale=1.0, m=2, n=5, "
     "k=3, trans_b=true\n.output y\n"},
    /* other strides are copied for a product, once for both of its operands */
    {"views",
     IN ".view v = x strides (2, 1) f32 [2, 2]\n.view w = x strides (0, 1) f32 [4, 4]\ny = "
        "gemm a=w, b=w\n.output y\n",
     ".program maps0 \"maps0.atlas\"\n" IN
     ".view v = x f32 [2, 2]\n.view w = x strides (0, 1) f32 [4, 4]\n"
     "v4 f32 [4, 4] = @maps0 n=16, x0=x\ny f32 [4, 4] = gemm.f32 a=v4, b=v4, m=4, n=4, "
     "k=4\n.output y\n"},
    /* into operands that are strides, of numbers and of symbols; a last axis with a stride is
     * copied
     */
    {"views",
     ".extent s\n.input x f32 [2, s, 3, 8]\n.input k f32 [s, 8]\n.view q = x permuted (0, 2, 1, "
     "3)\n.view kk = k broadcast f32 [2, 3, s, 8]\ny = attention query=q, key=kk, "
     "value=q\n.output y\n",
     ".extent s\n.input x f32 [2, s, 3, 8]\n.input k f32 [s, 8]\n"
     ".view q = x strides (s * 24, 8, 24, 1) f32 [2, 3, s, 8]\n"
     ".view kk = k strides (0, 0, 8, 1) f32 [2, 3, s, 8]\n.view v5 = x f32 [s * 2 * 3 * 8]\n"
     ".view v6 = k f32 [s * 8]\n.view v7 = x f32 [s * 2 * 3 * 8]\n"
     "y f32 [2, 3, s, 8] = attention.f32 query=v5, key=v6, value=v7, batch=2, heads=3, seq_len=s, "
     "head_dim=8, kv_heads=3, kv_len=s, value_dim=8, query_strides=(s * 24, 8, 24), "
     "key_strides=(0, 0, 8), value_strides=(s * 24, 8, 24)\n.output y\n"},
    /* maps read views as they are; a view of what they make is read when it is there */
    {"maps",
     ".extent n\n.input x f32 [n, 4]\n.input b f32 [4]\n.view bb = b broadcast f32 [n, "
     "4]\na = parallel_map_binary add, a=x, b=bb\n"
     "y = parallel_map relu, in=a\n.output y\n",
     ".extent n\n.program maps0 \"maps0.atlas\"\n.input x f32 [n, 4]\n.input b f32 "
     "[4]\n.view bb = b strides (0, 1) f32 [n, 4]\n"
     "y f32 [n, 4] = @maps0 n=n * 4, x0=x, x1=b\n.output y\n"},
    {"maps",
     ".extent n\n.input x f32 [n, 4]\na = parallel_map abs, in=x\n.view at = a permuted "
     "(1, 0)\ny = parallel_map relu, in=at\n.output y\n",
     ".extent n\n.program maps0 \"maps0.atlas\"\n.input x f32 [n, 4]\na f32 [n, 4] = "
     "parallel_map.f32 in=x, op=abs, count=n * 4\n"
     ".view at = a strides (1, 4) f32 [4, n]\ny f32 [4, n] = @maps0 n=n * 4, x0=a, "
     "s0=n\n.output y\n"},
    /* a copy of a view that another view counts elements of stays */
    {"copies",
     IN ".view v = x strides (0) f32 [4]\na = parallel_map identity, in=v\n.view w = a f32 "
        "[2, 2]\ny = parallel_map_binary add, a=a, b=v\n"
        "z = softmax input=w\n.output y\n.output z\n",
     ".program maps0 \"maps0.atlas\"\n.program maps1 \"maps1.atlas\"\n" IN
     ".view v = x strides (0) f32 [4]\n"
     "a f32 [4] = @maps0 n=4, x0=x\n.view w = a f32 [2, 2]\ny f32 [4] = @maps1 n=4, x0=a, "
     "x1=x\n"
     "z f32 [2, 2] = softmax.f32 input=w, n=2, rows=2\n.output y\n.output z\n"},
    {"copies",
     IN ".view v = x strides (0) f32 [4]\na = parallel_map identity, in=v\ny = "
        "parallel_map_binary add, a=a, b=x\n.output y\n",
     ".program maps0 \"maps0.atlas\"\n" IN
     ".view v = x strides (0) f32 [4]\ny f32 [4] = @maps0 n=4, x0=x, x1=x\n.output y\n"},
    {"common",
     IN ".view v = x strides (0) f32 [4]\n.view w = x strides (0) f32 [4]\n.view u = x "
        "strides (0, 1) f32 [4, 1]\ny = parallel_map_binary "
        "add, "
        "a=v, b=w\n.output y\n",
     ".program maps0 \"maps0.atlas\"\n" IN
     ".view v = x strides (0) f32 [4]\n.view w = x strides (0) f32 [4]\n"
     ".view u = x strides (0, 1) f32 [4, 1]\ny f32 [4] = @maps0 n=4, x0=x\n.output y\n"},
    /* order: each large value is read before the next one is made; where that saves nothing
       the order stays */
    {"order",
     ".extent n\n.input x f32 [n]\na = parallel_map abs, in=x\nb = parallel_map sin, "
     "in=x\nc = parallel_reduce sum, in=a\n"
     "d = parallel_reduce sum, in=b\ny = parallel_map_binary add, a=c, b=d\n.output y\n",
     ".extent n\n.input x f32 [n]\na f32 [n] = parallel_map.f32 in=x, op=abs, count=n\nc "
     "f32 [] = parallel_reduce.f32 in=a, op=sum, "
     "count=n\n"
     "b f32 [n] = parallel_map.f32 in=x, op=sin, count=n\nd f32 [] = parallel_reduce.f32 "
     "in=b, op=sum, count=n\n"
     "y f32 [] = parallel_map_binary.f32 a=c, b=d, op=add, count=1\n.output y\n"},
    {"order",
     IN "a = parallel_map abs, in=x\nb = parallel_map sin, in=x\ny = parallel_map_binary "
        "add, a=a, b=b\n.output y\n",
     IN "a f32 [4] = parallel_map.f32 in=x, op=abs, count=4\nb f32 [4] = parallel_map.f32 "
        "in=x, op=sin, count=4\n"
        "y f32 [4] = parallel_map_binary.f32 a=a, b=b, op=add, count=4\n.output y\n"},
    /* copies in a row: the last one stays, as a view counts elements in memory */
    {"copies",
     IN ".view v = x strides (0) f32 [4]\na = parallel_map identity, in=v\nb = "
        "parallel_map identity, in=a\n.view w = b f32 [2, 2]\n"
        "z = softmax input=w\n.output z\n",
     ".program maps0 \"maps0.atlas\"\n" IN ".view v = x strides (0) f32 [4]\nb f32 [4] = "
     "@maps0 n=4, x0=x\n.view w = b f32 [2, 2]\n"
     "z f32 [2, 2] = softmax.f32 input=w, n=2, rows=2\n.output z\n"},
    /* none: an output that is an input, and a value that is two outputs, are copied; so is
       what a call changes */
    {"none", IN ".output y = x\n",
     IN "v1 f32 [4] = parallel_map.f32 in=x, op=identity, count=4\n.output y = v1\n"},
    {"none",
     IN ".input c f32 [4]\ny = all_reduce buffer=c, operation=sum, devices=(0)\n.output y\n",
     IN ".input c f32 [4]\nv3 f32 [4] = parallel_map.f32 in=c, op=identity, count=4\n"
        "y f32 [4] = all_reduce.f32 buffer=v3, n=4, operation=sum, devices=(0)\n.output y\n"},
    /* inplace: what nothing reads any more is changed where it is */
    {"inplace",
     IN "c = parallel_map abs, in=x\nd = all_reduce buffer=c, operation=sum, "
        "devices=(0)\ny = softmax input=d\n.output y\n",
     IN "c f32 [4] = parallel_map.f32 in=x, op=abs, count=4\nd f32 [4] = all_reduce.f32 "
        "buffer=c, n=4, operation=sum, devices=(0)\n"
        "y f32 [4] = softmax.f32 input=d, n=4, rows=1\n.output y\n"},
    {"inplace",
     IN "c = parallel_map abs, in=x\nd = all_reduce buffer=c, operation=sum, "
        "devices=(0)\ny = parallel_map_binary add, a=d, b=c\n.output y\n",
     IN "c f32 [4] = parallel_map.f32 in=x, op=abs, count=4\nv4 f32 [4] = parallel_map.f32 "
        "in=c, op=identity, count=4\n"
        "d f32 [4] = all_reduce.f32 buffer=v4, n=4, operation=sum, devices=(0)\ny f32 [4] "
        "= parallel_map_binary.f32 a=d, b=c, op=add, "
        "count=4\n.output y\n"},
};

static const graph_watch CHECKED = {.verify = true};

static void check_case(const pass_case *c) {
    hg_graph *g = NULL, *done = NULL;
    hg_text text = {0}, expected = {0};
    graph_pass_list passes;
    hg_text_addf(&text, ".graph 1\n%s", c->text);
    hg_text_addf(&expected, ".graph 1\n.name graph\n%s", c->expected);
    bool good = hg_graph_read_text(text.data, text.length, NULL, NULL, &g) == HG_OK &&
                graph_passes_named(c->passes, &passes) == HG_OK &&
                graph_optimize(g, &passes, &CHECKED, &done) == HG_OK;
    CHECK_MESSAGE(good, "%s\n%s", hg_last_error_text(), c->text);
    text.length = 0;
    if (good) {
        graph_print(&text, done);
        CHECK_MESSAGE(strcmp(text.data, expected.data) == 0, "%s of\n%s\nexpected\n%s\ngot\n%s",
                      c->passes, c->text, expected.data, text.data);
    }
    hg_text_free(&text);
    hg_text_free(&expected);
    hg_graph_release(done);
    hg_graph_release(g);
}

/* What a product reads is not written over by a map that stands together with it, as other lanes of
 * their kernel may still read it. What it makes is. */
static void keep_what_is_read(void) {
    static const char text[] =
        ".graph 1\n.input a f32 [2, 2]\nl = gemm a=a, b=a\nh = gemm a=a, b=l\ny = "
        "parallel_map_binary add, a=l, b=h\n"
        "z = parallel_map neg, in=y\nr = parallel_reduce sum, in=z\n.output r\n";
    static const char *const ORDERS[] = {"maps,inplace", "inplace"};
    for (uint32_t i = 0; i < 2; i++) {
        hg_graph *g = NULL, *done = NULL;
        graph_pass_list passes;
        CHECK(hg_graph_read_text(text, sizeof text - 1, NULL, NULL, &g) == HG_OK &&
              graph_passes_named(ORDERS[i], &passes) == HG_OK);
        CHECK(graph_optimize(g, &passes, &CHECKED, &done) == HG_OK);
        uint32_t l = graph_find_value(done, "l", 1), h = graph_find_value(done, "h", 1),
                 y = graph_find_value(done, "y", 1);
        CHECK_U64(done->values.data[y].takes, i == 0 ? h : l);
        CHECK_U64(done->values.data[graph_find_value(done, "z", 1)].takes, y);
        hg_graph_release(done);
        hg_graph_release(g);
    }
}

/* A long row of maps, of which several programs are made, and many groups at once. */
static void check_long(void) {
    hg_graph *g = NULL, *done = NULL;
    hg_text text = {0};
    graph_pass_list passes;
    hg_text_addf(&text, ".graph 1\n.input a0 f32 [9]\n.input b0 f32 [8]\n");
    for (int i = 1; i < 2000; i++)
        hg_text_addf(&text, "a%d = parallel_map sin, in=a%d\nb%d = parallel_map cos, in=b%d\n", i,
                     i - 1, i, i - 1);
    hg_text_addf(&text, ".output a1999\n.output b1999\n");
    CHECK(hg_graph_read_text(text.data, text.length, NULL, NULL, &g) == HG_OK);
    CHECK(graph_passes_named("maps", &passes) == HG_OK);
    CHECK(graph_optimize(g, &passes, &CHECKED, &done) == HG_OK);
    CHECK_MESSAGE(done->calls.count < 100, "%d calls", (int)done->calls.count);
    hg_graph_release(done);
    hg_graph_release(g);
    hg_text_free(&text);
}

/* ---- what programs write ---- */

typedef struct program_case {
    const char *body; /* of a program over x in, y out, n, k; one lane for each of n */
    bool whole, more;
} program_case;
static const program_case PROGRAMS[] = {
    {"ldg u, [x[global]]\nstg [y[global]], u\n", true, false},
    {"ldg u, [x[global]]\nadd u, u, u\nstg [y[global]], u\nsetlt p0, u, u\nbra.p0 @end\nstg "
     "[y[global]], u\nend:\nexit\n",
     true, false},
    {"ldg u, [x[global]]\nsetlt p0, u, u\nbra.p0 @end\nstg [y[global]], u\nend:\nexit\n", false,
     false},                                                    /* some lanes may not */
    {"ldg u, [y[global]]\nstg [y[global]], u\n", false, false}, /* it reads zeros */
    {"ldg u, [x[global]]\nstg [y[global]], u\nldg u, [y[k]]\nstg [y[k]], u\n", false, false},
    {"ldg u, [x[global]]\nstg [y[k]], u\n", false, false},
    {"ldg u, [x[global]]\nadd at, global, k\nstg [y[at]], u\n", false, false},
    {"ldg u, [x[global]]\nstg [y[global + 1]], u\n", false, false},
    {"ldg u, [x[global]]\nstg [x[global]], u\n", false, false}, /* another array */
    {"ldg u, [x[global]]\ncvt.f32.u64 u, global\nadd.u64 r255, r255, 1\nstg [y[r255]], u\n", false,
     false},
    {"ldg u, [x[global]]\nstg [y[global]], u\nstg [class3 + 0], u\n", true, true},
    {"ldg u, [x[global]]\nstg [y[global]], u\nldg u, [class3 + 0]\n", true, false},
    {"ldg u, [x[global]]\nstg [y[global]], u\nmov_imm.u32 r250, 1\nphase.write r250, 5\n", true,
     true},
    {"ldg u, [x[global]]\nstg [y[global]], u\nmov_imm.u64 at, 0\natom.add.u64 at, [class3 + at], "
     "at\n",
     true, true},
};

static hg_status assemble_case(void *user, const char *file, hg_diagnostics *d,
                               hg_program **program) {
    char text[600];
    (void)file;
    int length = snprintf(text, sizeof text,
                          ".atlas 1\n.program p\n.param x buffer f32 inout [n]\n.param y buffer "
                          "f32 out [n]\n.param n u64\n.param k u64\n"
                          ".lanes n\n.reg u f32\n.reg at u64\n%s",
                          (const char *)user);
    return hg_program_assemble(text, (size_t)length, d, program);
}

static void check_program(const program_case *c) {
    static const char text[] = ".graph 1\n.extent k\n.program p \"p.atlas\"\n.input x f32 "
                               "[4]\nunread, also = @p x=x, k=k\ny = parallel_map abs, in=x\n"
                               ".output y\n";
    hg_graph *g = NULL, *done = NULL;
    graph_pass_list order;
    hg_graph_read_options options = {
        .size = sizeof options, .program = assemble_case, .user = (void *)(uintptr_t)c->body};
    hg_diagnostics *d = hg_diagnostics_create(3);
    bool good = hg_graph_read_text(text, sizeof text - 1, &options, d, &g) == HG_OK &&
                graph_passes_named("dead", &order) == HG_OK &&
                graph_optimize(g, &order, &CHECKED, &done) == HG_OK;
    CHECK_MESSAGE(good, "%s\n%s", hg_last_error_text(), c->body);
    if (good) {
        CHECK_MESSAGE(g->calls.data[0].whole == c->whole && g->calls.data[0].writes_more == c->more,
                      "whole %d, more %d:\n%s", g->calls.data[0].whole,
                      g->calls.data[0].writes_more, c->body);
        bool kept = false;
        for (uint64_t i = 0; i < done->calls.count; i++)
            kept |= done->calls.data[i].program == g->programs.data[0].program;
        CHECK_MESSAGE(kept == c->more, "kept %d:\n%s", kept, c->body);
    }
    hg_diagnostics_destroy(d);
    hg_graph_release(done);
    hg_graph_release(g);
}

/* ---- formulas among maps ---- */

/* Of a program over x and z in and y out, all of n elements, one lane for each: how many calls are
 * left of it between two maps; zeros are one for what is not written by all. */
static const struct {
    const char *body;
    uint32_t calls;
} FORMULAS[] = {
    {"ldg u, [x[global]]\nadd u, u, u\nstg [y[global]], u\n", 1},
    {"rdid at, global_lane_id\nldg u, [x[at]]\nstg [y[at]], u\n", 1},
    {"ldg u, [x[global]]\nldg v, [z[k]]\nadd u, u, v\nstg [y[global]], u\n", 1},
    {"ldg u, [x[global]]\nsetlt p0, u, u\nbra.p0 @over\nadd u, u, u\nover:\nstg [y[global]], u\n",
     1},
    {"ldg u, [x[global]]\ncall @twice\nstg [y[global]], u\nexit\ntwice:\nadd u, u, u\nret\n", 1},
    {"ldg u, [x[k]]\nstg [y[global]], u\n", 2}, /* an element of another lane */
    {"ldg u, [x[global]]\nldg v, [x[k]]\nadd u, u, v\nstg [y[global]], u\n", 2},
    {"ldg u, [x[global]]\nsub at, n, global\nsub at, at, 1\nstg [y[at]], u\n", 4},
    {"ldg u, [x[global]]\nsetlt p0, u, u\nbra.p0 @over\nstg [y[global]], u\nover:\nexit\n", 4},
    {"ldg u, [x[global]]\nstg [y[global]], u\nldg u, [y[global]]\n", 4},
    {"ldg u, [x[global]]\nmov_imm.u32 r100, 3\nagain:\nadd u, u, u\nloop r100, @again\n"
     "stg [y[global]], u\n",
     4},
    {"ldg u, [x[global]]\ndiv at, n, k\nstg [y[global]], u\n", 3}, /* it may fault */
    {"ldg u, [x[global]]\nstg [class3 + 0], u\nstg [y[global]], u\n", 3},
    {"ldg u, [x[global]]\ncall @keep\nexit\nkeep:\nstg [y[global]], u\nret\n", 4},
    {"ldg u, [x[global]]\nmov.u64 r255, k\nstg [y[r255]], u\n", 4},
    {"ldg u, [x[global]]\nmov at, x\nstg [y[global]], u\n", 3}, /* handles as numbers */
    {"ldg u, [x[global]]\nmov at, y\nstg [y[global]], u\n", 4},
    {"ldg u, [x[global]]\ncall @keep\nstg [y[global]], u\nexit\nkeep:\nmov at, y\nret\n", 4},
};

static const char PARAMS[] = ".param x buffer f32 in\n.param z buffer f32 in\n"
                             ".param y buffer f32 out [n]\n.param n u64\n.param k u64\n";

/* Of y = x with other parameters: what a run of the program alone refuses, or finds outside, stays
 * alone. */
static const struct {
    const char *params, *operands;
    uint32_t calls;
} DECLARED[] = {
    {".param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n", "x=a", 1},
    {".param x buffer f32 in [4]\n.param y buffer f32 out [n]\n.param n u64\n", "x=a, n=4", 1},
    {".param x buffer f32 in [3]\n.param y buffer f32 out [n]\n.param n u64\n", "x=a, n=4", 3},
    {".param x buffer f32 in [n, 1]\n.param y buffer f32 out [n]\n.param n u64\n", "x=a, n=4", 3},
    {".param x buffer f32 in [k]\n.param y buffer f32 out [n]\n.param n u64\n.param k u64\n",
     "x=a, n=4, k=3", 3},
    {".param x buffer f32 in [n]\n.param z buffer f32 in [n]\n.param y buffer f32 out [n]\n"
     ".param n u64\n",
     "x=a, z=s", 3},
    {".param x buffer f32 in\n.param y buffer f32 out [n]\n.param n u64\n.param k u32\n",
     "x=a, n=4, k=4294967295", 1},
    {".param x buffer f32 in\n.param y buffer f32 out [n]\n.param n u64\n.param k u32\n",
     "x=a, n=4, k=4294967296", 3},
    {".param x buffer f32 in\n.param y buffer f32 out [n]\n.param n u64\n.param k u32\n",
     "x=a, n=4, k=k", 3},
};

typedef struct formula_text {
    const char *params, *body;
} formula_text;

static hg_status assemble_formula(void *user, const char *file, hg_diagnostics *d,
                                  hg_program **program) {
    const formula_text *f = user;
    char text[700];
    (void)file;
    int length = snprintf(text, sizeof text,
                          ".atlas 1\n.program p\n%s.lanes n\n.reg u, v f32\n.reg at u64\n%s",
                          f->params, f->body);
    return hg_program_assemble(text, (size_t)length, d, program);
}

static void check_formula(formula_text of, const char *operands, uint32_t calls) {
    char text[400];
    int length = snprintf(text, sizeof text,
                          ".graph 1\n.extent k\n.program p \"p.atlas\"\n.input x f32 [4]\n"
                          ".input s f32 [3]\na = parallel_map abs, in=x\n.view v = a f32 [2, 2]\n"
                          "b = @p %s\ny = parallel_map neg, in=b\n.output y\n",
                          operands);
    hg_graph *g = NULL, *done = NULL;
    graph_pass_list order;
    hg_graph_read_options options = {
        .size = sizeof options, .program = assemble_formula, .user = &of};
    hg_diagnostics *d = hg_diagnostics_create(3);
    bool good = hg_graph_read_text(text, (size_t)length, &options, d, &g) == HG_OK &&
                graph_passes_named("maps", &order) == HG_OK &&
                graph_optimize(g, &order, &CHECKED, &done) == HG_OK;
    CHECK_MESSAGE(good, "%s\n%s%s", hg_last_error_text(), of.params, of.body);
    if (good)
        CHECK_MESSAGE(done->calls.count == calls, "%d calls, not %d: %s\n%s%s",
                      (int)done->calls.count, (int)calls, operands, of.params, of.body);
    hg_diagnostics_destroy(d);
    hg_graph_release(done);
    hg_graph_release(g);
}

int main(void) {
    keep_what_is_read();
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++) check_program(&PROGRAMS[i]);
    for (size_t i = 0; i < sizeof FORMULAS / sizeof *FORMULAS; i++)
        check_formula((formula_text){PARAMS, FORMULAS[i].body}, "x=v, z=x, n=4, k=k",
                      FORMULAS[i].calls);
    for (size_t i = 0; i < sizeof DECLARED / sizeof *DECLARED; i++)
        check_formula((formula_text){DECLARED[i].params, FORMULAS[0].body}, DECLARED[i].operands,
                      DECLARED[i].calls);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) check_case(&CASES[i]);
    check_long();
    return test_done();
}
