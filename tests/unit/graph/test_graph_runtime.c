/* Graphs on a backend: binding by name and what it refuses, other extents through one executable,
 * queues and events, several bindings at once, faults that name the call, and every allocation and
 * every call of the driver that fails in turn. On the backend that the first argument names;
 * without one on the CPU. */
/* test: labels=threads timeout=300 */
#include "support/failing_driver.h"
#include "support/runtime_support.h"
#include <hologram/graph.h>

static failing_allocator memory;

static const char NETWORK[] = ".graph 1\n"
                              ".extent b\n"
                              ".input x f32 [b, 6]\n"
                              ".constant w f32 [6, 5]\n"
                              ".constant v f32 [5]\n"
                              "h = gemm a=x, b=w, bias=v, activation=relu\n"
                              "s = parallel_map_binary add, a=h, b=h\n"
                              "t = parallel_map_binary mul, a=s, b=h\n"
                              "r = parallel_reduce sum, in=t\n"
                              ".output t\n"
                              ".output r\n";
enum { MOST_ROWS = 1000 };

typedef struct scene {
    hg_backend *backend;
    hg_graph *graph;
    hg_graph_executable *executable;
    hg_graph_binding *binding;
    hg_params *params;
    hg_buffer x, w, v, t, r;
    float in[MOST_ROWS * 6], weights[30], bias[5], out[MOST_ROWS * 5], sum;
} scene;

static hg_graph *read_graph(const char *text) {
    hg_graph *g = NULL;
    CHECK_OK(hg_graph_read_text(text, strlen(text), NULL, NULL, &g));
    return g;
}

/* Whole numbers: every order of sums is exact. */
static void make_scene(scene *s) {
    for (uint32_t i = 0; i < MOST_ROWS * 6; i++) s->in[i] = (float)((int)(i * 7 % 11) - 5);
    for (uint32_t i = 0; i < 30; i++) s->weights[i] = (float)((int)(i * 5 % 7) - 3);
    for (uint32_t i = 0; i < 5; i++) s->bias[i] = (float)i - 2;
    s->graph = read_graph(NETWORK);
    s->x = make_buffer(s->backend, s->in, sizeof s->in);
    s->w = make_buffer(s->backend, s->weights, sizeof s->weights);
    s->v = make_buffer(s->backend, s->bias, sizeof s->bias);
    CHECK_OK(hg_backend_allocate_buffer(s->backend, sizeof s->out, &s->t));
    CHECK_OK(hg_backend_allocate_buffer(s->backend, sizeof s->sum, &s->r));
    s->params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(s->params, "x", s->x));
    CHECK_OK(hg_params_set_buffer(s->params, "w", s->w));
    CHECK_OK(hg_params_set_buffer(s->params, "v", s->v));
    CHECK_OK(hg_params_set_buffer(s->params, "t", s->t));
    CHECK_OK(hg_params_set_buffer(s->params, "r", s->r));
}

static void free_scene(scene *s) {
    const hg_buffer buffers[] = {s->x, s->w, s->v, s->t, s->r};
    for (uint32_t i = 0; i < 5; i++) CHECK_OK(hg_backend_free_buffer(s->backend, buffers[i]));
    hg_params_destroy(s->params);
    hg_graph_release(s->graph);
}

static void set_rows(scene *s, uint64_t rows) {
    CHECK_OK(hg_params_set_scalar(s->params, "b", HG_TYPE_U64, &rows));
}

/* The same by plain C. */
static bool is_right(scene *s, uint64_t rows) {
    float sum = 0;
    bool right = hg_buffer_read(s->backend, s->t, 0, s->out, rows * 5 * sizeof(float)) == HG_OK &&
                 hg_buffer_read(s->backend, s->r, 0, &s->sum, sizeof s->sum) == HG_OK;
    for (uint64_t i = 0; i < rows && right; i++)
        for (uint32_t j = 0; j < 5; j++) {
            float h = s->bias[j];
            for (uint32_t k = 0; k < 6; k++) h += s->in[i * 6 + k] * s->weights[k * 5 + j];
            h = h > 0 ? h : 0;
            right = right && s->out[i * 5 + j] == 2 * h * h;
            sum += 2 * h * h;
        }
    return right && (s->sum == sum || sum >= 16777216.0f); /* above 2^24 the order of additions
                                                              shows */
}

/* ---- extents ---- */

static void other_extents(scene *s, uint32_t step) {
    CHECK_OK(hg_graph_compile(s->backend, s->graph, NULL, &s->executable));
    for (uint64_t rows = 0; rows < MOST_ROWS; rows += step) {
        set_rows(s, rows);
        CHECK_OK(hg_graph_bind(s->executable, s->params, &s->binding));
        CHECK_OK(hg_graph_binding_launch(s->binding));
        CHECK_MESSAGE(is_right(s, rows), "%d rows", (int)rows);
        hg_graph_binding_destroy(s->binding);
    }
    hg_graph_executable_destroy(s->executable);
}

/* ---- what is refused ---- */

static void refuse(scene *s, const char *text, const char *expected) {
    hg_graph *g = read_graph(text);
    hg_graph_executable *e = NULL;
    hg_graph_binding *b = NULL;
    hg_status status = hg_graph_compile(s->backend, g, NULL, &e);
    if (status == HG_OK) status = hg_graph_bind(e, s->params, &b);
    CHECK_MESSAGE(status == HG_ERROR_INVALID_ARGUMENT && strstr(hg_last_error()->message, expected),
                  "expected %s, got %s", expected,
                  status == HG_OK ? "success" : hg_last_error_text());
    hg_graph_binding_destroy(b);
    hg_graph_executable_destroy(e);
    hg_graph_release(g);
}

static void refusals(scene *s) {
    hg_graph_executable *e = NULL;
    hg_graph_options options = {.size = sizeof options, .passes = "dead,maps,nothing"};
    set_rows(s, 3);
    CHECK_FAILS(hg_graph_compile(s->backend, s->graph, &options, &e), HG_ERROR_INVALID_ARGUMENT, "",
                "there is no pass 'nothing' of graphs");
    refuse(s, ".graph 1\n.input x f32 [4]\ny = parallel_map abs, in=x\n.output y\n",
           "'w' is no input, output, extent or open constant");
    hg_params_clear(s->params);
    refuse(s, ".graph 1\n.extent n\n.input x f32 [n]\ny = parallel_map abs, in=x\n.output y\n",
           "the extent n is not set");
    refuse(s, ".graph 1\n.input x f32 [4]\ny = parallel_map abs, in=x\n.output y\n",
           "the input x has no buffer");
    CHECK_OK(hg_params_set_buffer(s->params, "x", s->r));
    refuse(s, ".graph 1\n.input x f32 [4]\ny = parallel_map abs, in=x\n.output y\n",
           "the input x is f32 [4], 16 bytes: its buffer has 4");
    CHECK_OK(hg_params_set_buffer(s->params, "x", s->x));
    CHECK_OK(hg_params_set_buffer(s->params, "y", s->x));
    refuse(s, ".graph 1\n.input x f32 [4]\ny = parallel_map abs, in=x\n.output y\n",
           "the output y shares memory with x");
    uint64_t n = 5;
    CHECK_OK(hg_params_set_buffer(s->params, "y", s->t));
    CHECK_OK(hg_params_set_scalar(s->params, "n", HG_TYPE_U64, &n));
    refuse(s, ".graph 1\n.extent n\n.input x f32 [4, n]\ny = gemm a=x, b=x\n.output y\n",
           "gemm that makes y, line 4: b is f32 [4, 5], but k is 5");
    refuse(s, ".graph 1\n.extent n\n.input x f32 [n - 6]\ny = parallel_map abs, in=x\n.output y\n",
           "its extent n - 6 is below 0");
    refuse(s,
           ".graph 1\n.extent n\n.input x f32 [n]\n.view z = x + 3 f32 [3]\ny = parallel_map abs, "
           "in=z\n.output y\n",
           "z is the f32 [3] from element 3 on of x, which is f32 [5]");
    hg_params_clear(s->params);
    CHECK_OK(hg_params_set_buffer(s->params, "x", s->x));
    CHECK_OK(hg_params_set_buffer(s->params, "w", s->w));
    CHECK_OK(hg_params_set_buffer(s->params, "v", s->v));
    CHECK_OK(hg_params_set_buffer(s->params, "t", s->t));
    CHECK_OK(hg_params_set_buffer(s->params, "r", s->r));
}

/* ---- queues ---- */

static void on_queues(scene *s) {
    hg_queue *queues[2] = {NULL, NULL};
    hg_event *events[6] = {NULL};
    set_rows(s, 200);
    CHECK_OK(hg_graph_compile(s->backend, s->graph, NULL, &s->executable));
    CHECK_OK(hg_graph_bind(s->executable, s->params, &s->binding));
    hg_graph_executable_destroy(s->executable); /* the binding keeps it */
    for (int i = 0; i < 2; i++) CHECK_OK(hg_queue_create(s->backend, NULL, &queues[i]));
    for (int i = 0; i < 6; i++)
        CHECK_OK(hg_graph_binding_submit(s->binding, queues[i % 2], i ? &events[i - 1] : NULL,
                                         i == 3, &events[i]));
    for (int i = 0; i < 6; i++) {
        CHECK_OK(hg_event_wait(events[i]));
        hg_event_destroy(events[i]);
    }
    CHECK(is_right(s, 200));
    CHECK_OK(hg_graph_binding_submit(s->binding, queues[0], NULL, 0, NULL));
    CHECK_OK(hg_graph_binding_launch(s->binding)); /* behind the submission */
    CHECK(is_right(s, 200));
    for (int i = 0; i < 2; i++) hg_queue_destroy(queues[i]);
    hg_graph_binding_destroy(s->binding);
}

/* Everything is freed while the work is under way; what the events wait for is done all the same.
 */
static void freed_in_flight(scene *s) {
    hg_queue *queue = NULL;
    hg_event *events[4] = {NULL};
    hg_graph *graph = read_graph(NETWORK);
    set_rows(s, MOST_ROWS);
    CHECK_OK(hg_queue_create(s->backend, NULL, &queue));
    CHECK_OK(hg_graph_compile(s->backend, graph, NULL, &s->executable));
    hg_graph_release(graph);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(hg_graph_bind(s->executable, s->params, &s->binding));
        CHECK_OK(hg_graph_binding_submit(s->binding, queue, NULL, 0, &events[i]));
        CHECK_OK(hg_graph_binding_submit(s->binding, queue, NULL, 0, NULL));
        hg_graph_binding_destroy(s->binding);
    }
    hg_graph_executable_destroy(s->executable);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(hg_event_wait(events[i]));
        hg_event_destroy(events[i]);
    }
    CHECK_OK(hg_queue_synchronize(queue));
    CHECK(is_right(s, MOST_ROWS));
    hg_queue_destroy(queue);
}

/* ---- constants ---- */

/* One graph with a binding, from x to y. */
typedef struct one_graph {
    hg_graph *graph;
    hg_graph_executable *executable;
    hg_graph_binding *binding;
    hg_params *params;
    hg_buffer x, y;
} one_graph;

static void free_graph(const scene *s, one_graph *g) {
    hg_graph_binding_destroy(g->binding);
    hg_graph_executable_destroy(g->executable);
    hg_graph_release(g->graph);
    hg_params_destroy(g->params);
    CHECK_OK(hg_backend_free_buffer(s->backend, g->x));
    CHECK_OK(hg_backend_free_buffer(s->backend, g->y));
}

static void start_constant(const scene *s, const char *calls, const void *elements, const void *in,
                           one_graph *c) {
    hg_dim dims[] = {hg_dim_of(2), hg_dim_of(3)}, n = hg_dim_param("n");
    uint64_t six = 6;
    hg_value v;
    c->graph = hg_graph_create("constants");
    CHECK_OK(hg_graph_extent(c->graph, "n"));
    CHECK_OK(hg_graph_input(c->graph, "x", HG_TYPE_I32, &n, 1, &v));
    CHECK_OK(hg_graph_constant(c->graph, "c", HG_TYPE_I32, dims, 2, elements, &v));
    CHECK_OK(hg_graph_add_text(c->graph, calls, strlen(calls), NULL, NULL));
    c->params = hg_params_create();
    c->x = make_buffer(s->backend, in, 24);
    c->y = make_buffer(s->backend, in, 24);
    CHECK_OK(hg_params_set_buffer(c->params, "x", c->x));
    CHECK_OK(hg_params_set_buffer(c->params, "y", c->y));
    CHECK_OK(hg_params_set_scalar(c->params, "n", HG_TYPE_U64, &six));
}

static void bind_constant(const scene *s, one_graph *c) {
    CHECK_OK(hg_graph_compile(s->backend, c->graph, NULL, &c->executable));
    CHECK_OK(hg_graph_bind(c->executable, c->params, &c->binding));
}

static void make_constant(const scene *s, const char *calls, const void *elements, const void *in,
                          one_graph *c) {
    start_constant(s, calls, elements, in, c);
    bind_constant(s, c);
}

/* Calls of constants are done when the graph is compiled: elements that change afterwards change
 * nothing, where no pass does it they do on devices that see the host's memory. A call that would
 * fault is left to launches. */
static void constants(const scene *s) {
    static const char calls[] = ".view t = c permuted (1, 0)\nd = parallel_map neg, in=t\ne = "
                                "parallel_map_binary mul, a=d, b=d\n.view f = e i32 [n]\n"
                                "y = parallel_map_binary add, a=x, b=f\n.output y\n";
    int32_t elements[6] = {1, 2, 3, 4, 5, 6}, in[6] = {0, 0, 0, 10, 10, 10}, out[6];
    static const int32_t expected[6] = {1, 16, 4, 35, 19, 46};
    one_graph c;
    make_constant(s, calls, elements, in, &c);
    for (int i = 0; i < 6; i++) elements[i] = 0;
    CHECK_OK(hg_graph_binding_launch(c.binding));
    CHECK_OK(hg_buffer_read(s->backend, c.y, 0, out, sizeof out));
    CHECK(memcmp(out, expected, sizeof out) == 0);
    free_graph(s, &c);
    /* views that only a binding knows are no constants, and others may be views of them */
    static const char symbolic[] = ".view s = c + (n - 5) strides (n / 3, 1) i32 [2, 2]\n.view "
                                   "part = c + (n - 5) i32 [5]\n.view end = part + 1 i32 [2]\n"
                                   "d = parallel_map neg, in=c\ne = parallel_map neg, in=s\n.view "
                                   "e4 = e i32 [4]\nf = parallel_map_binary sub, a=end, b=end\n"
                                   ".view d6 = d i32 [n]\ny = parallel_map_binary add, a=x, "
                                   "b=d6\n.output y\n.output e4\n.output f\n";
    hg_buffer e4 = make_buffer(s->backend, in, 16), f = make_buffer(s->backend, in, 8);
    for (int i = 0; i < 6; i++) elements[i] = i + 1;
    start_constant(s, symbolic, elements, in, &c);
    CHECK_OK(hg_params_set_buffer(c.params, "e4", e4));
    CHECK_OK(hg_params_set_buffer(c.params, "f", f));
    bind_constant(s, &c);
    CHECK_OK(hg_graph_binding_launch(c.binding));
    CHECK_OK(hg_buffer_read(s->backend, e4, 0, out, 16));
    CHECK(out[0] == -2 && out[1] == -3 && out[2] == -4 && out[3] == -5);
    CHECK_OK(hg_buffer_read(s->backend, c.y, 0, out, sizeof out));
    CHECK(out[0] == -1 && out[5] == 4);
    free_graph(s, &c);
    CHECK_OK(hg_backend_free_buffer(s->backend, e4));
    CHECK_OK(hg_backend_free_buffer(s->backend, f));
    for (int i = 0; i < 6; i++) elements[i] = 0;
    elements[0] = 7;
    make_constant(s,
                  "d = parallel_map_binary div, a=c, b=c\n.view f = d i32 [n]\ny = "
                  "parallel_map_binary add, a=x, b=f\n.output y\n",
                  elements, in, &c);
    CHECK_STATUS(hg_graph_binding_launch(c.binding), HG_ERROR_EXECUTION_FAILED);
    CHECK_MESSAGE(strstr(hg_last_error()->message,
                         "parallel_map_binary that makes d, line 1: division by zero") != NULL,
                  "%s", hg_last_error_text());
    free_graph(s, &c);
}

/* ---- constants in the order in which products read them ---- */

enum { ROWS = 5, INNER = 40, COLUMNS = 200 };

/* The product of in and the weights, twice. turned: the weights' rows are its columns. */
typedef struct product {
    uint32_t columns;
    bool constant, turned;
    float in[ROWS * INNER], weights[INNER * COLUMNS], out[ROWS * COLUMNS];
} product;

/* Enough launches that maps are done by the product. Returns the bytes of tables. */
static uint64_t launch_product(hg_backend *b, product *p) {
    char text[400];
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_graph_memory_info info = {.size = sizeof info};
    hg_params *params = hg_params_create();
    memset(p->out, 0, sizeof p->out);
    hg_buffer x = make_buffer(b, p->in, sizeof p->in),
              w = make_buffer(b, p->weights, INNER * p->columns * 4ull),
              y = make_buffer(b, p->out, ROWS * p->columns * 4ull);
    snprintf(text, sizeof text,
             ".graph 1\n.input x f32 [%d, %d]\n.%s w f32 [%u, %u]\nh = gemm a=x, b=w, "
             "trans_b=%s\ny = parallel_map_binary add, a=h, "
             "b=h\n.output y\n",
             ROWS, INNER, p->constant ? "constant" : "input", p->turned ? p->columns : INNER,
             p->turned ? INNER : p->columns, p->turned ? "true" : "false");
    hg_graph *g = read_graph(text);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "w", w));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_graph_compile(b, g, NULL, &executable));
    CHECK_OK(hg_graph_bind(executable, params, &binding));
    CHECK_OK(hg_graph_binding_memory(binding, &info));
    for (int i = 0; i < 6; i++) CHECK_OK(hg_graph_binding_launch(binding));
    CHECK_OK(hg_buffer_read(b, y, 0, p->out, ROWS * p->columns * 4ull));
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    hg_graph_release(g);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, w));
    CHECK_OK(hg_backend_free_buffer(b, y));
    return info.table_bytes;
}

/* Whole numbers: sums are exact in any order. */
static bool product_is_right(const product *p) {
    bool right = true;
    for (uint32_t i = 0; i < ROWS * p->columns; i++) {
        uint32_t row = i / p->columns, column = i % p->columns;
        float sum = 0;
        for (uint32_t k = 0; k < INNER; k++)
            sum += p->in[row * INNER + k] *
                   p->weights[p->turned ? column * INNER + k : k * p->columns + column];
        right = right && p->out[i] == sum + sum;
    }
    return right;
}

/* most: bytes of memory. Returns the most bytes of tables. */
static uint64_t products(const char *backend, uint64_t most) {
    static const uint32_t columns[] = {COLUMNS, 7, 1};
    hg_backend *b = NULL;
    product *p = calloc(1, sizeof *p);
    uint64_t tables = 0;
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "%s", backend);
    config.deterministic = true; /* by the library's programs */
    config.max_memory = most;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    for (int i = 0; i < ROWS * INNER; i++) p->in[i] = (float)(i * 7 % 13 - 6);
    for (int i = 0; i < INNER * COLUMNS; i++) p->weights[i] = (float)(i * 5 % 17 - 8);
    for (uint32_t i = 0; i < 12; i++) {
        p->columns = columns[i / 4];
        p->constant = i & 1;
        p->turned = i & 2;
        if (p->turned && most != UINT64_MAX) continue; /* they need memory in any case */
        uint64_t bytes = launch_product(b, p);
        CHECK_MESSAGE(product_is_right(p), "%u columns, constant %d, turned %d",
                      (unsigned)p->columns, p->constant, p->turned);
        CHECK(p->constant || bytes == 0);
        tables = bytes > tables ? bytes : tables;
    }
    hg_backend_destroy(b);
    free(p);
    return tables;
}

static void constants_of_products(const char *backend) {
    uint64_t tables = products(backend, UINT64_MAX);
    if (strcmp(backend, "cpu") != 0) return; /* others may read constants as they are */
    CHECK(tables >= INNER * COLUMNS * 4);
    /* without room for tables the weights are read as they are */
    const uint64_t arrays = 4 * (ROWS * INNER + INNER * COLUMNS + 2 * ROWS * COLUMNS);
    CHECK(products(backend, arrays + tables / 2) < tables);
}

/* ---- ending early ---- */

static hg_status endless(void *user, const char *file, hg_diagnostics *d, hg_program **program) {
    static const char text[] = ".atlas 1\n.program endless\n.param x buffer u32 in [n]\n.param y "
                               "buffer u32 out [n]\n.param n u64\n.lanes n\n"
                               ".reg u u32\n ldg u, [x[global]]\nagain:\n setne.u32 p0, u, 7\n "
                               "bra.p0 @again\n stg [y[global]], u\n";
    (void)user;
    (void)file;
    return hg_program_assemble(text, sizeof text - 1, d, program);
}

/* A graph whose second call ends for inputs of 7 alone. */
static void make_endless(const scene *s, uint64_t timeout_ms, one_graph *e) {
    static const char text[] =
        ".graph 1\n.program loop \"loop.atlas\"\n.input x u32 [4]\na = parallel_map_binary max, "
        "a=x, b=x\n"
        "b = @loop x=a, n=4\ny = parallel_map_binary add, a=b, b=x\n.output y\n";
    hg_graph_read_options read = {.size = sizeof read, .program = endless};
    hg_graph_options options = {.size = sizeof options, .timeout_ms = timeout_ms};
    static const uint32_t zeros[4];
    CHECK_OK(hg_graph_read_text(text, sizeof text - 1, &read, NULL, &e->graph));
    e->params = hg_params_create();
    e->x = make_buffer(s->backend, zeros, sizeof zeros);
    e->y = make_buffer(s->backend, zeros, sizeof zeros);
    CHECK_OK(hg_params_set_buffer(e->params, "x", e->x));
    CHECK_OK(hg_params_set_buffer(e->params, "y", e->y));
    CHECK_OK(hg_graph_compile(s->backend, e->graph, &options, &e->executable));
    CHECK_OK(hg_graph_bind(e->executable, e->params, &e->binding));
}

/* Afterwards it runs, where it ends. */
static void end_endless(const scene *s, one_graph *e) {
    static const uint32_t sevens[4] = {7, 7, 7, 7};
    uint32_t out[4] = {0};
    CHECK_OK(hg_buffer_write(s->backend, e->x, 0, sevens, sizeof sevens));
    CHECK_OK(hg_graph_binding_launch(e->binding));
    CHECK_OK(hg_buffer_read(s->backend, e->y, 0, out, sizeof out));
    CHECK(out[0] == 14 && out[3] == 14);
    free_graph(s, e);
}

/* What the device compiles at its first launch is compiled by one that ends, or is cut off: the
 * second one's time is its second call's. */
static void deadline(const scene *s) {
    static const uint32_t zeros[4], sevens[4] = {7, 7, 7, 7};
    one_graph e;
    make_endless(s, 400, &e);
    CHECK_OK(hg_buffer_write(s->backend, e.x, 0, sevens, sizeof sevens));
    if (hg_graph_binding_launch(e.binding) != HG_OK)
        printf("the first launch: %s\n", hg_last_error_text());
    CHECK_OK(hg_buffer_write(s->backend, e.x, 0, zeros, sizeof zeros));
    CHECK_STATUS(hg_graph_binding_launch(e.binding), HG_ERROR_EXECUTION_FAILED);
    CHECK_MESSAGE(memcmp(hg_last_error()->code, "F08", 3) == 0 &&
                      strstr(hg_last_error()->message, "endless that makes b, line 5"),
                  "%s", hg_last_error_text());
    end_endless(s, &e);
}

static void cancel(const scene *s) {
    one_graph e;
    hg_queue *queue = NULL;
    hg_event *event = NULL;
    make_endless(s, UINT64_MAX, &e);
    CHECK_OK(hg_queue_create(s->backend, NULL, &queue));
    CHECK_OK(hg_graph_binding_submit(e.binding, queue, NULL, 0, &event));
    hg_event_cancel(event);
    CHECK_STATUS(hg_event_wait(event), HG_ERROR_EXECUTION_FAILED);
    CHECK_MESSAGE(memcmp(hg_last_error()->code, "F11", 3) == 0, "%s", hg_last_error_text());
    hg_event_destroy(event);
    hg_queue_destroy(queue);
    end_endless(s, &e);
}

/* ---- faults ---- */

static void faults(scene *s) {
    static const char text[] =
        ".graph 1\n.input x i32 [4]\n.constant d i32 [4]\ny = parallel_map_binary add, a=x, b=x\n"
        "q = parallel_map_binary div, a=y, b=d\n.output q\n";
    int32_t x[4] = {4, 5, 6, 7}, d[4] = {1, 2, 0, 3};
    hg_graph *g = read_graph(text);
    hg_params *params = hg_params_create();
    hg_buffer a = make_buffer(s->backend, x, sizeof x), c = make_buffer(s->backend, d, sizeof d),
              y = make_buffer(s->backend, x, sizeof x);
    CHECK_OK(hg_params_set_buffer(params, "x", a));
    CHECK_OK(hg_params_set_buffer(params, "d", c));
    CHECK_OK(hg_params_set_buffer(params, "q", y));
    CHECK_OK(hg_graph_compile(s->backend, g, NULL, &s->executable));
    CHECK_OK(hg_graph_bind(s->executable, params, &s->binding));
    CHECK_STATUS(hg_graph_binding_launch(s->binding), HG_ERROR_EXECUTION_FAILED);
    CHECK_MESSAGE(strstr(hg_last_error()->message,
                         "parallel_map_binary that makes q, line 5: division by zero") != NULL,
                  "%s", hg_last_error_text());
    hg_queue *queue = NULL;
    hg_event *event = NULL;
    CHECK_OK(hg_queue_create(s->backend, NULL, &queue));
    CHECK_OK(hg_graph_binding_submit(s->binding, queue, NULL, 0, &event));
    CHECK_STATUS(hg_event_wait(event), HG_ERROR_EXECUTION_FAILED);
    CHECK_MESSAGE(strstr(hg_last_error()->message,
                         "parallel_map_binary that makes q, line 5: division by zero") != NULL,
                  "%s", hg_last_error_text());
    hg_event_destroy(event);
    hg_queue_destroy(queue);
    hg_graph_binding_destroy(s->binding);
    hg_graph_executable_destroy(s->executable);
    CHECK_OK(hg_backend_free_buffer(s->backend, a));
    CHECK_OK(hg_backend_free_buffer(s->backend, c));
    CHECK_OK(hg_backend_free_buffer(s->backend, y));
    hg_params_destroy(params);
    hg_graph_release(g);
}

/* A device that works while the host goes on gets all calls of a graph in one submission, however
 * many launches they are. */
static void one_submission(const scene *s) {
    static const char text[] = ".graph 1\n.input x f32 [100]\n.input w f32 [100]\na = parallel_map "
                               "neg, in=x\nb = parallel_map_binary add, a=a, b=w\n"
                               "c = parallel_map abs, in=b\nd = parallel_map_binary mul, a=c, "
                               "b=w\ny = parallel_map_binary add, a=d, b=c\n.output y\n";
    float in[100], out[100];
    for (int i = 0; i < 100; i++) in[i] = (float)(i - 40);
    hg_graph *g = read_graph(text);
    hg_params *params = hg_params_create();
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_graph_options options = {.size = sizeof options, .passes = "share"};
    hg_buffer x = make_buffer(s->backend, in, sizeof in),
              w = make_buffer(s->backend, in, sizeof in),
              y = make_buffer(s->backend, in, sizeof in);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "w", w));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_graph_compile(s->backend, g, &options, &executable));
    CHECK_OK(hg_graph_bind(executable, params, &binding));
    for (int i = 0; i < 8; i++) CHECK_OK(hg_graph_binding_launch(binding));
    failing_driver_install(s->backend, FAIL_SUBMIT);
    failing_driver_at(0);
    CHECK_OK(hg_graph_binding_launch(binding));
    if (s->backend->caps->scheduling.asynchronous) CHECK_U64(failing_driver_calls(), 1);
    failing_driver_remove(s->backend);
    CHECK_OK(hg_buffer_read(s->backend, y, 0, out, sizeof out));
    bool right = true;
    for (int i = 0; i < 100; i++) right = right && out[i] == 0;
    CHECK(right);
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    hg_params_destroy(params);
    hg_graph_release(g);
    CHECK_OK(hg_backend_free_buffer(s->backend, x));
    CHECK_OK(hg_backend_free_buffer(s->backend, w));
    CHECK_OK(hg_backend_free_buffer(s->backend, y));
}

/* A view whose value has a larger number, as passes leave it: q is made in front of p, whose view
 * then is one of q. */
static void later_value(const scene *s) {
    static const char text[] = ".graph 1\n.input x f32 [64]\na = parallel_map abs, in=x\nb = "
                               "parallel_map sin, in=x\nr = parallel_reduce sum, in=a\ns = "
                               "parallel_reduce "
                               "sum, in=b\nt = parallel_map_binary add, a=r, b=s\np = parallel_map "
                               "neg, in=x\n.view v = p f32 [8, 8]\nq = parallel_map neg, in=x\n"
                               ".view w = q f32 [8, 8]\n.output t\n.output y = w\n";
    float in[64], out[64];
    for (int i = 0; i < 64; i++) in[i] = (float)i;
    hg_graph *g = read_graph(text);
    hg_params *params = hg_params_create();
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_graph_options options = {.size = sizeof options, .passes = "order,common"};
    hg_buffer x = make_buffer(s->backend, in, sizeof in),
              y = make_buffer(s->backend, in, sizeof in), t = make_buffer(s->backend, in, 4);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_params_set_buffer(params, "t", t));
    CHECK_OK(hg_graph_compile(s->backend, g, &options, &executable));
    CHECK_OK(hg_graph_bind(executable, params, &binding));
    CHECK_OK(hg_graph_binding_launch(binding));
    CHECK_OK(hg_buffer_read(s->backend, y, 0, out, sizeof out));
    bool right = true;
    for (int i = 0; i < 64; i++) right = right && out[i] == -in[i];
    CHECK(right);
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    hg_params_destroy(params);
    hg_graph_release(g);
    CHECK_OK(hg_backend_free_buffer(s->backend, x));
    CHECK_OK(hg_backend_free_buffer(s->backend, y));
    CHECK_OK(hg_backend_free_buffer(s->backend, t));
}

/* [b, s, inner] with its first two axes turned, copied: by places of blocks where the innermost
 * extent has a part for them (8, 300 in two, 768 in three), by divisions where not (7, 509). */
static void turned_axes(const scene *s) {
    static const uint32_t inner[] = {1, 7, 8, 64, 300, 509, 768};
    for (uint32_t k = 0; k < HG_COUNT_OF(inner); k++) {
        const uint32_t n = inner[k];
        const uint64_t b = 3, rows = 5, count = b * rows * n;
        char text[200];
        hg_graph_executable *executable = NULL;
        hg_graph_binding *binding = NULL;
        hg_params *params = hg_params_create();
        uint32_t *in = malloc(count * 4), *out = calloc(count, 4);
        for (uint32_t i = 0; i < count; i++) in[i] = i * 2654435761u;
        snprintf(text, sizeof text,
                 ".graph 1\n.extent b, s\n.input x u32 [b, s, %u]\n.view v = x permuted (1, 0, "
                 "2)\ny = parallel_map identity, in=v\n.output y\n",
                 n);
        hg_graph *g = read_graph(text);
        hg_buffer x = make_buffer(s->backend, in, count * 4),
                  y = make_buffer(s->backend, out, count * 4);
        CHECK_OK(hg_params_set_buffer(params, "x", x));
        CHECK_OK(hg_params_set_buffer(params, "y", y));
        CHECK_OK(hg_params_set_scalar(params, "b", HG_TYPE_U64, &b));
        CHECK_OK(hg_params_set_scalar(params, "s", HG_TYPE_U64, &rows));
        CHECK_OK(hg_graph_compile(s->backend, g, NULL, &executable));
        CHECK_OK(hg_graph_bind(executable, params, &binding));
        CHECK_OK(hg_graph_binding_launch(binding));
        CHECK_OK(hg_buffer_read(s->backend, y, 0, out, count * 4));
        uint32_t wrong = 0;
        for (uint64_t i = 0; i < count; i++)
            wrong += out[i] != in[(i / n % b * rows + i / n / b) * n + i % n];
        CHECK_MESSAGE(wrong == 0, "%u elements innermost: %u of %u are wrong", (unsigned)n,
                      (unsigned)wrong, (unsigned)count);
        hg_graph_binding_destroy(binding);
        hg_graph_executable_destroy(executable);
        hg_params_destroy(params);
        hg_graph_release(g);
        CHECK_OK(hg_backend_free_buffer(s->backend, x));
        CHECK_OK(hg_backend_free_buffer(s->backend, y));
        free(in);
        free(out);
    }
}

/* ---- failures ---- */

static hg_status whole(scene *s) {
    hg_graph *g = NULL;
    s->executable = NULL;
    s->binding = NULL;
    hg_status status = hg_graph_read_text(NETWORK, strlen(NETWORK), NULL, NULL, &g);
    if (status == HG_OK) status = hg_graph_compile(s->backend, g, NULL, &s->executable);
    if (status == HG_OK) status = hg_graph_bind(s->executable, s->params, &s->binding);
    if (status == HG_OK) status = hg_graph_binding_launch(s->binding);
    hg_error kept = *hg_last_error();
    hg_graph_binding_destroy(s->binding);
    hg_graph_executable_destroy(s->executable);
    hg_graph_release(g);
    CHECK(status == HG_OK || kept.status == status);
    return status;
}

static void failing_allocations(scene *s) {
    bool done = false;
    set_rows(s, 9);
    CHECK_OK(whole(s));
    for (uint64_t n = 1; n < 20000 && !done && test_failed < 20; n++) {
        uint64_t before = memory.live;
        memory.allocations = 0;
        memory.fail_at = n;
        hg_status status = whole(s);
        done = memory.allocations < n;
        memory.fail_at = 0;
        bool expected = status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY ||
                        status == HG_ERROR_ALLOCATION_FAILED;
        CHECK_MESSAGE(expected, "allocation %" PRIu64 ": %s", n, hg_last_error_text());
        /* what the backend's caches keep may grow, by a few blocks, and never shrinks below what
         * was there */
        CHECK_MESSAGE(memory.live <= before + 8,
                      "allocation %" PRIu64 ": %" PRIu64 " blocks before, %" PRIu64 " after", n,
                      before, memory.live);
    }
    CHECK(done);
    CHECK_OK(whole(s));
    CHECK(is_right(s, 9));
}

static void failing_calls_of_driver(scene *s) {
    set_rows(s, 9);
    failing_driver_install(s->backend, FAIL_ALL);
    bool done = false;
    for (uint64_t n = 1; n < 2000 && !done && test_failed < 20; n++) {
        failing_driver_at(n);
        hg_status status = whole(s);
        done = failing_driver_calls() < n;
        CHECK_MESSAGE(status == HG_OK || strstr(hg_last_error()->message, FAILING_DRIVER_TEXT),
                      "call %" PRIu64 ": %s", n, hg_last_error_text());
        failing_driver_at(0);
    }
    CHECK(done);
    failing_driver_remove(s->backend);
    CHECK_OK(whole(s));
    CHECK(is_right(s, 9));
}

int main(int argc, char **argv) {
    scene *s = calloc(1, sizeof *s);
    bool device = argc > 1;
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    if (!s) return 1;
    CHECK_OK(hg_set_allocator(&hooks));
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "%s", device ? argv[1] : "cpu");
    memcpy(config.jit, "off", 4); /* nothing compiles in the background: what is allocated is
                                     counted */
    if (hg_backend_create_with_config(&config, &s->backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return test_done();
    }
    make_scene(s);
    other_extents(s, device ? 333 : 1);
    refusals(s);
    on_queues(s);
    freed_in_flight(s);
    constants(s);
    constants_of_products(device ? argv[1] : "cpu");
    deadline(s);
    if (!device) cancel(s); /* lanes of a device may not be stopped */
    faults(s);
    one_submission(s);
    later_value(s);
    turned_axes(s);
    if (!device) failing_allocations(s);
    failing_calls_of_driver(s);
    free_scene(s);
    hg_backend_destroy(s->backend);
    free(s);
    return test_done();
}
