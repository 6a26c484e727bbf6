/* Sharding without devices: which collectives the pass puts in, where results lie, what cannot be.
 * That bits stay as they are is tests/shard. */
#include "graph/shard.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdlib.h>

static hg_status lanes_program(void *user, const char *file, hg_diagnostics *d, hg_program **made);

static hg_graph *read(const char *text) {
    hg_graph *g = NULL;
    char whole[2000];
    snprintf(whole, sizeof whole, ".graph 1\n%s", text);
    const hg_graph_read_options options = {.size = sizeof options, .program = lanes_program};
    if (hg_graph_read_text(whole, strlen(whole), &options, NULL, &g) != HG_OK) {
        test_failed++;
        fprintf(stderr, "%s\n%s\n", whole, hg_last_error_text());
    }
    return g;
}

/* Whether it is between some ranks only. */
static bool names_ranks(const hg_graph *g, const graph_call *call) {
    for (uint32_t k = 0; k < call->operand_count; k++)
        if (g->operands.data[call->first_operand + k].kind == GRAPH_TUPLE) return true;
    return false;
}

static void add_call(hg_text *out, const hg_graph *g, const graph_call *call) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    uint64_t n = 0;
    if (names_ranks(g, call)) return;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const graph_operand *o = &g->operands.data[call->first_operand + k];
        if (strcmp(row->operands[o->operand].name, "n") == 0)
            CHECK(graph_is_number(g, o->number, &n));
    }
    hg_text_addf(out, "%s%s %llu", out->length ? ", " : "", row->text, (unsigned long long)n);
}

/* The collectives of a rank with all others, then where each output lies: "all_gather 24 | y
 * split". */
static void expect(const char *text, uint32_t ranks, bool fast, const char *expected) {
    static const char *const PLACES[] = {"whole", "split", "partial"};
    graph_shard_options options = {.ranks = ranks, .fast = fast};
    graph_sharded sharded = {0};
    hg_graph *g = read(text);
    for (uint32_t r = 0; g && r < ranks && r < 5; r++) {
        uint32_t rank = r == 4 ? ranks - 1 : r;
        hg_text out = {0};
        if (graph_shard(g, NULL, &options, rank, &sharded) != HG_OK) {
            CHECK_TEXT(hg_last_error_text(), expected);
            continue;
        }
        for (uint64_t i = 0; i < sharded.graph->calls.count; i++)
            if (graph_is_collective(&sharded.graph->calls.data[i]))
                add_call(&out, sharded.graph, &sharded.graph->calls.data[i]);
        for (uint64_t i = 0; i < sharded.part_count; i++)
            if (sharded.parts[i].source == GRAPH_RESULT)
                hg_text_addf(&out, "%s| %s %s", out.length ? " " : "", sharded.parts[i].name,
                             PLACES[sharded.parts[i].place]);
        CHECK_MESSAGE(out.data && strcmp(out.data, expected) == 0,
                      "rank %u of %u: expected \"%s\", got \"%s\" of\n%s", (unsigned)rank,
                      (unsigned)ranks, expected, out.data ? out.data : "", text);
        hg_text_free(&out);
        graph_sharded_free(&sharded);
    }
    hg_graph_release(g);
}

static void check_ways(void) {
    /* rows and columns of a product move nothing */
    expect(".input x f32 [8, 16]\n.constant w f32 [16, 12] split 1\n.constant b f32 [12] split 0\n"
           "y = gemm a=x, b=w, bias=b, activation=relu\n.output y\n",
           4, false, "| y split");
    expect(".input x f32 [8, 16] split 0\n.constant w f32 [16, 12]\ny = gemm a=x, b=w\n.output y\n",
           4, false, "| y split");
    /* a batch goes through a network */
    expect(".input x f32 [8, 4, 16] split 0\n.constant w f32 [16, 12]\n.constant v f32 [12, 3]\n"
           ".constant g f32 [16]\n.constant b f32 [16]\n"
           "n = layer_norm input=x, gamma=g, beta=b, eps=1e-5\ny = gemm a=n, b=w\n"
           "z = softmax input=y\nu = gemm a=z, b=v\n.output u\n",
           3, false, "| u split");
    /* a norm along rows that are cut by their sequence */
    expect(".input x f32 [2, 8, 16] split 1\n.constant g f32 [16]\n.constant b f32 [16]\n"
           "y = layer_norm input=x, gamma=g, beta=b, eps=1e-5\n.output y\n",
           4, false, "| y split");
    /* columns, then rows: sums of floats go from rank to rank, or parts of them are summed where
     * that is asked; where that takes more bytes, matrices are gathered */
    const char *two = ".input x f32 [8, 16]\n.constant w f32 [16, 12] split 1\n"
                      ".constant v f32 [12, 4] split 0\ny = gemm a=x, b=w\nz = gemm a=y, b=v\n"
                      ".output z\n";
    expect(two, 4, false, "broadcast 32 | z whole");
    expect(".input x f32 [8, 8] split 1\n.constant v f32 [8, 40] split 0\nz = gemm a=x, b=v, "
           "alpha=2\n.output z\n",
           4, false, "all_gather 16, all_gather 80 | z split");
    expect(two, 4, true, "all_reduce 32 | z whole");
    /* rows of c are not those of a: m is in other axes */
    expect(".input x f32 [6, 900] split 1\n.constant v f32 [900, 5]\n"
           "y f32 [2, 3, 5] = gemm a=x, b=v\n.output y\n",
           4, false, "all_gather 1350 | y split");
    expect(".input x f32 [2, 3, 900] split 2\n.constant v f32 [900, 5]\n"
           "y f32 [6, 5] = gemm a=x, b=v\n.output y\n",
           4, false, "all_gather 1350 | y split");
    expect(".input x f32 [2, 3, 900] split 2\n.constant v f32 [900, 5]\n"
           "y f32 [2, 3, 5] = gemm a=x, b=v\n.output y\n",
           4, false, "broadcast 30 | y whole");
    /* one axis of a reduction is gathered, the other needs nothing */
    expect(".input x f32 [6, 40, 1] split 0\ny f32 [6, 1] = reduce_axis input=x, n=40, outer=6, "
           "inner=1\n"
           ".output y\n",
           2, false, "| y split");
    expect(".input x f32 [100] split 0\ny = parallel_reduce sum, in=x\n.output y\n", 4, false,
           "all_gather 25 | y whole");
    expect(".input x f32 [100] split 0\ny = parallel_reduce sum, in=x\n.output y\n", 4, true,
           "all_reduce 1 | y whole");
    expect(".input x i32 [100] split 0\ny = parallel_reduce sum, in=x\n.output y\n", 4, false,
           "all_reduce 1 | y whole");
    expect(".input x i32 [100] split 0\ny = parallel_reduce max, in=x\n.output y\n", 4, false,
           "all_reduce 1 | y whole");
    /* what was gathered once stays gathered; two cuts of one axis meet by the smaller array */
    expect(".input x f32 [10] split 0\n.view v = x + 1 f32 [9]\na = parallel_map relu, in=v\n"
           "b = parallel_map abs, in=v\n.output a\n.output b\n",
           2, false, "all_gather 5 | a whole | b whole");
    expect(".input x f32 [8, 100] split 0\n.input y f32 [8, 100] split 0 at (1)\n"
           "z = parallel_map_binary add, a=x, b=y\n.output z\n",
           2, false, "all_gather 400 | z split");
    /* views */
    expect(".input x f32 [8, 16] split 0\n.view t = x permuted (1, 0)\n"
           "y = parallel_map relu, in=t\n.output y\n",
           4, false, "| y split");
    expect(".input x f32 [8, 16] split 0\n.view t = x f32 [2, 4, 16]\ny = parallel_map relu, in=t\n"
           ".output y\n",
           2, false, "| y split");
    expect(".input x f32 [2, 4, 16] split 0\n.view t = x f32 [8, 16]\ny = parallel_map relu, in=t\n"
           ".output y\n",
           2, false, "| y split");
    expect(".input x f32 [8] split 0\n.view t = x broadcast f32 [5, 8]\n"
           "y = parallel_map relu, in=t\n.output y\n",
           3, false, "| y split");
    /* heads of attention */
    expect(".input q f32 [2, 8, 5, 4] split 1\n.input k f32 [2, 8, 5, 4] split 1\n"
           ".input v f32 [2, 8, 5, 4] split 1\ny = attention query=q, key=k, value=v\n.output y\n",
           4, false, "| y split");
    /* cosines and sines have a batch too, frequencies have none */
    expect(".input x f32 [4, 5, 2, 6] split 0\n.constant c f32 [4, 5, 3]\n"
           ".constant s f32 [4, 5, 3]\n.constant f f32 [3]\ny = rope input=x, freqs=c, sin=s\n"
           "z = rope input=y, freqs=f\n.output z\n",
           2, false, "| z split");
    /* segments of columns */
    expect(".input x f32 [10, 6] split 1\n.constant o u32 [4]\n"
           "y = segment_reduce input=x, offsets=o, segments=3\n.output y\n",
           2, false, "| y split");
    /* parts of several sizes, some empty; all are as long as the largest on the way */
    expect(".input x f32 [10] split 0 at (1, 2, 9)\ny f32 [10] split 0 = parallel_map relu, in=x\n"
           ".output y\n",
           4, false, "all_gather 7 | y split");
    expect(".input x f32 [3, 0] split 1\ny = parallel_reduce sum, in=x\n.output y\n", 4, false,
           "| y whole");
    /* one rank, very many ranks */
    expect(two, 1, false, "| z whole");
    expect(".input x f32 [100] split 0\ny = parallel_reduce sum, in=x\n.output y\n", 4096, false,
           "all_gather 1 | y whole");
}

/* Products that go from rank to rank: in blocks that are large enough, between neighbours, and what
 * comes behind the sums on the last rank. */
static void check_handed_on(void) {
    hg_graph *g = read(".input x f32 [13, 900] split 1 at (1, 1, 700)\n.constant v f32 [900, 5]\n"
                       ".constant b f32 [5]\n"
                       "z = gemm a=x, b=v, bias=b, activation=relu\n.output z\n");
    static const struct { uint64_t least, blocks; } CASES[] = {{65536, 1}, {100, 2}, {0, 13}};
    uint64_t kept = shard_least_block;
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        hg_graph *shards[4] = {NULL};
        graph_shard_options options = {.ranks = 4};
        graph_shard_cost cost;
        uint64_t calls = 0;
        shard_least_block = CASES[i].least;
        for (uint32_t r = 0; r < 4; r++) {
            graph_sharded sharded = {0};
            uint64_t pairs = 0, products = 0;
            char *text = NULL;
            CHECK(graph_shard(g, NULL, &options, r, &sharded) == HG_OK);
            CHECK(hg_graph_print(sharded.graph, &text, NULL) == HG_OK);
            CHECK((strstr(text, "accumulate=true") == NULL) == (r == 0));
            CHECK((strstr(text, "relu") == NULL) == (r != 3));
            for (uint64_t k = 0; k < sharded.graph->calls.count; k++) {
                pairs += names_ranks(sharded.graph, &sharded.graph->calls.data[k]);
                products += sharded.graph->calls.data[k].op == HG_OP_GEMM;
            }
            CHECK_U64(products, CASES[i].blocks);
            CHECK_U64(pairs, CASES[i].blocks * (r == 0 || r == 3 ? 1 : 2));
            hg_string_free(text);
            shards[r] = hg_graph_retain(sharded.graph);
            graph_sharded_free(&sharded);
        }
        CHECK(hg_graph_check_shards(shards, 4) == HG_OK);
        hg_graph *once = shards[2];
        shards[2] = shards[1];
        CHECK(hg_graph_check_shards(shards, 4) == HG_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(hg_last_error_text(), "between ranks 2, 3"));
        shards[2] = once;
        for (uint32_t r = 0; r < 4; r++) hg_graph_release(shards[r]);
        CHECK(graph_count_shards(g, NULL, &options, &cost) == HG_OK);
        for (uint64_t k = 0; k < cost.exchange_count; k++) {
            CHECK(cost.exchanges[k].op == HG_OP_BROADCAST);
            calls += cost.exchanges[k].calls;
        }
        CHECK_U64(calls, 3 * CASES[i].blocks + 1);
        graph_shard_cost_free(&cost);
    }
    shard_least_block = kept;
    hg_graph_release(g);
}

static hg_status lanes_program(void *user, const char *file, hg_diagnostics *d, hg_program **made) {
    static const struct {
        const char *file, *lines;
    } CASES[] = {
        /* an element, a row's scale, a column's; values that hold over jumps */
        {"row.atlas", ".lanes [i < n, j < m]\n    let v = x[i, j] * s[i]\n    if v < 0.0 {\n"
                      "        v = v + b[j]\n    }\n    y[i, j] = v\n"},
        {"column.atlas", ".lanes [i < n, j < m]\n    let k = 0\n    let v = 0.0\n"
                         "    while k < 3 {\n        v = v + b[(j + u64(k)) % m] * f32(j)\n"
                         "        k = k + 1\n    }\n    y[i, j] = v + x[i, j] + s[i]\n"},
        /* the number of a place, its neighbour, the extent itself, what it bounds */
        {"number.atlas", ".lanes [i < n, j < m]\n    y[i, j] = x[i, j] + f32(i) + b[j] + s[i]\n"},
        {"later.atlas", ".lanes [i < n, j < m]\n    let k = j\n    if x[i, j] < 0.0 {\n"
                        "        k = i\n    }\n    y[i, j] = b[k % m] + s[i]\n"},
        {"beside.atlas", ".lanes [i < n, j < m]\n    y[i, j] = x[(i + 1) % n, j] + b[j] + s[i]\n"},
        {"extent.atlas", ".lanes [i < n, j < m]\n    y[i, j] = x[i, j] + f32(n) + b[j] + s[i]\n"},
        {"first.atlas", ".lanes [i < n, j < m]\n    y[i, j] = x[i, j] + s[0] + b[j]\n"},
        {"third.atlas",
         ".lanes [i < n, j < m]\n    y[i, j] = x[i, j] + f32(global % 3) + b[j] + s[i]\n"},
        {"fourth.atlas",
         ".lanes [i < n, j < m]\n    y[i, j] = x[i, j] + f32(global % 4) + b[j] + s[i]\n"},
        {"nth.atlas",
         ".lanes [i < n, j < m]\n    y[i, j] = x[i, j] + f32(global % n) + b[j] + s[i]\n"},
        {"bound.atlas", ".lanes [i < n, j < m]\n    let k = u64(3)\n    axis.u64 k, k, [s], 0\n"
                        "    y[i, j] = x[i, j] + b[k] + s[i]\n"},
        {"some.atlas", ".lanes [j < m]\n    y[0, j] = x[0, j] + s[0] + b[j]\n"},
        {"round.atlas", ".lanes [i < n, j < m]\n    let k = j\n    let t = 0\n    let v = 0.0\n"
                        "    while t < 2 {\n        v = v + b[k % m]\n        k = i\n"
                        "        t = t + 1\n    }\n    y[i, j] = v + x[i, j] + s[i]\n"}};
    char text[700];
    size_t i = 0;
    (void)user;
    while (i + 1 < HG_COUNT_OF(CASES) && strcmp(CASES[i].file, file) != 0) i++;
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param x buffer f32 in [n, m]\n.param s buffer f32 in [n]\n"
             ".param b buffer f32 in [m]\n.param y buffer f32 out [n, m]\n.param n u64\n"
             ".param m u64\n%s",
             CASES[i].lines);
    return hg_program_assemble(text, strlen(text), d, made);
}

/* Lanes have parts where their number is nothing but a place in them, and else all arrays whole. */
static void check_lanes(void) {
    static const struct {
        const char *name, *expected;
    } CASES[] = {{"row", "| y split"},
                 {"column", "| y split"},
                 {"third", "| y split"},
                 {"fourth", "all_gather 12 | y whole"},
                 {"nth", "all_gather 12 | y whole"},
                 {"number", "all_gather 12 | y whole"},
                 {"later", "all_gather 12 | y whole"},
                 {"beside", "all_gather 12 | y whole"},
                 {"extent", "all_gather 12 | y whole"},
                 {"first", "all_gather 12 | y whole"},
                 {"bound", "all_gather 12 | y whole"},
                 {"some", "all_gather 12 | y whole"},
                 {"round", "all_gather 12 | y whole"}};
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        char text[300];
        snprintf(text, sizeof text,
                 ".program p \"%s.atlas\"\n.input x f32 [8, 6] split 0\n.input s f32 [8]\n"
                 ".constant b f32 [6]\ny = @p x=x, s=s, b=b\n.output y\n",
                 CASES[i].name);
        expect(text, 4, false, CASES[i].expected);
    }
    /* parts that are empty; another axis than the first is gathered */
    expect(".program p \"row.atlas\"\n.input x f32 [8, 6] split 0 at (0, 8, 8)\n"
           ".input s f32 [8] split 0 at (0, 8, 8)\n.constant b f32 [6]\ny = @p x=x, s=s, b=b\n"
           ".output y\n",
           4, false, "| y split");
    expect(".program p \"row.atlas\"\n.input x f32 [8, 6] split 1\n.input s f32 [8]\n"
           ".constant b f32 [6]\ny = @p x=x, s=s, b=b\n.output y\n",
           4, false, "all_gather 16 | y split");
}

/* Parts of a batch in proportion to weights, to the nearest. */
static void check_shares(void) {
    static const uint32_t thirds[] = {0, 349525, 699050, GRAPH_SHARES};
    for (uint32_t extent = 3; extent <= 3000; extent *= 10)
        for (uint32_t r = 0; r < 3; r++) {
            char text[120];
            graph_shard_options options = {.ranks = 3, .shares = thirds};
            graph_sharded sharded = {0};
            snprintf(text, sizeof text,
                     ".input x f32 [%u] split 0\ny = parallel_map relu, in=x\n.output y\n",
                     (unsigned)extent);
            hg_graph *g = read(text);
            CHECK(graph_shard(g, NULL, &options, r, &sharded) == HG_OK);
            CHECK_U64(sharded.parts[0].length, extent / 3);
            graph_sharded_free(&sharded);
            hg_graph_release(g);
        }
}

static void check_mistakes(void) {
    static const struct {
        const char *text, *expected;
    } READ[] = {
        {".input x f32 [8] split 1\n", "split 1: the array has 1 axes, which are counted from 0"},
        {".input x f32 [] split 0\n", "split 0: the array has 0 axes"},
        {".input x f32 [8] split\n", "expected an extent"},
        {".input x f32 [8] split 0 at\n", "expected '('"},
        {".input x f32 [8] split 0 at (5, 3)\n", "split at 3 behind 5"},
        {".input x f32 [8] split 99999999999\n", "split takes the number of an axis"},
        {".input x f32 [8] partial add\n", "'add' is no operation of reductions"},
        {".input x f32 [8] partial\n", "expected the operation of partial"},
        {".constant w f32 [8] partial sum\n", "a constant is the same on each rank"},
        {".input x f32 [8]\n.view v = x f32 [2, 4] split 0\n", "a view lies where its array lies"},
    };
    for (size_t i = 0; i < HG_COUNT_OF(READ); i++) {
        hg_graph *g = NULL;
        char text[200];
        snprintf(text, sizeof text, ".graph 1\n%s", READ[i].text);
        CHECK(hg_graph_read_text(text, strlen(text), NULL, NULL, &g) == HG_ERROR_ISA);
        CHECK_MESSAGE(strstr(hg_last_error()->message, READ[i].expected),
                      "expected \"%s\", got \"%s\"", READ[i].expected, hg_last_error()->message);
        hg_graph_release(g);
    }
    expect(".input x f32 [8] split 0 at (3)\ny = parallel_map relu, in=x\n.output y\n", 3, false,
           "Invalid argument: x is split at 1 places, which makes 2 parts: there are 3 ranks");
    expect(".input x f32 [8] split 0 at (9)\ny = parallel_map relu, in=x\n.output y\n", 2, false,
           "Invalid argument: x is split at 9: from 0 to 8 expected");
    expect(".input x f32 [8]\ny f32 [8] partial sum = parallel_map relu, in=x\n.output y\n", 2,
           false,
           "Invalid argument: y is partial: an input can be, a result is what it comes from");
    hg_graph *g = read(".input x f32 [8]\n");
    graph_shard_options options = {.ranks = 2};
    graph_sharded sharded = {0};
    CHECK(graph_shard(g, NULL, &options, 2, &sharded) == HG_ERROR_INVALID_ARGUMENT);
    options.ranks = 4097;
    CHECK(graph_shard(g, NULL, &options, 0, &sharded) == HG_ERROR_INVALID_ARGUMENT);
    hg_graph_release(g);
}

/* Placements are read and printed; the graph of a rank says what each value is a part of. */
static void check_text(void) {
    hg_graph *g = read(".extent n\n.input x f32 [n, 8] split 0 at (1, n / 2)\n"
                       ".input p f32 [8] partial sum\n.constant w f32 [8, 6] split 1\n"
                       "y f32 [n, 6] split 0 = gemm a=x, b=w\n.output y\n.output z = p\n");
    char *text = NULL;
    CHECK(hg_graph_print(g, &text, NULL) == HG_OK);
    CHECK(text && strstr(text, ".input x f32 [n, 8] split 0 at (1, n / 2)\n"));
    CHECK(text && strstr(text, ".input p f32 [8] partial sum\n"));
    CHECK(text && strstr(text, ".constant w f32 [8, 6] split 1\n"));
    CHECK(text && strstr(text, "y f32 [n, 6] split 0 = gemm"));
    hg_string_free(text);
    const uint64_t n = 10;
    graph_shard_options options = {.ranks = 3};
    graph_sharded sharded = {0};
    text = NULL;
    CHECK(graph_shard(g, &n, &options, 1, &sharded) == HG_OK);
    CHECK(hg_graph_print(sharded.graph, &text, NULL) == HG_OK);
    CHECK(text && strstr(text, ".input x f32 [4, 8] split 0 at (1, 5)\n"));
    CHECK(text && strstr(text, ".constant w f32 [8, 2] split 1\n"));
    CHECK(text && strstr(text, "y f32 [4, 6] split 0 at (1, 5) = gemm"));
    hg_string_free(text);
    graph_sharded_free(&sharded);
    hg_graph_release(g);
}

/* Elements that stand with the graph are cut like inputs. */
static void check_constant_parts(void) {
    static const float w[6] = {0, 1, 2, 3, 4, 5};
    hg_graph *g = hg_graph_create("constant");
    const hg_dim dims[2] = {hg_dim_of(2), hg_dim_of(3)};
    hg_value value;
    graph_shard_options options = {.ranks = 2};
    graph_sharded sharded = {0};
    CHECK(hg_graph_constant(g, "w", HG_TYPE_F32, dims, 2, w, &value) == HG_OK);
    g->values.data[value.number].place = (graph_place){.kind = GRAPH_SPLIT, .axis = 1};
    const char *more = "y = parallel_map relu, in=w\n.output y\n";
    CHECK(hg_graph_add_text(g, more, strlen(more), NULL, NULL) == HG_OK);
    CHECK(graph_shard(g, NULL, &options, 1, &sharded) == HG_OK);
    const float *part = sharded.graph->values.data[0].bytes;
    CHECK(part && part[0] == 2 && part[1] == 5);
    graph_sharded_free(&sharded);
    hg_graph_release(g);
}

/* What binding a rank's graph allocates. */
static uint64_t bound_workspace(hg_backend *backend, const graph_sharded *sharded) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_graph_memory_info info = {.size = sizeof info};
    hg_params *params = hg_params_create();
    hg_buffer buffers[8] = {{0}};
    for (uint64_t i = 0; i < sharded->part_count; i++) {
        const graph_part *p = &sharded->parts[i];
        uint64_t bytes = p->outer * p->length * p->inner * hg_type_size_bytes(p->type);
        CHECK(hg_backend_allocate_buffer(backend, bytes, &buffers[i]) == HG_OK);
        CHECK(hg_params_set_buffer(params, p->name, buffers[i]) == HG_OK);
    }
    CHECK(hg_graph_compile(backend, sharded->graph, NULL, &executable) == HG_OK);
    CHECK(hg_graph_bind(executable, params, &binding) == HG_OK);
    CHECK(hg_graph_binding_memory(binding, &info) == HG_OK);
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    for (uint64_t i = 0; i < sharded->part_count; i++)
        CHECK(hg_backend_free_buffer(backend, buffers[i]) == HG_OK);
    hg_params_destroy(params);
    return info.workspace_bytes;
}

/* Memory and arithmetic: what a binding has, and an fma for each element and step of a product. */
static void check_costs(void) {
    hg_graph *g = read(".input x f32 [37, 32] split 0\n.constant w f32 [32, 48]\n"
                       ".constant v f32 [48, 16]\nh = gemm a=x, b=w\nz = softmax input=h\n"
                       "y = gemm a=z, b=v\n.output y\n");
    hg_backend *backend = NULL;
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "cpu");
    CHECK(hg_backend_create_with_config(&config, &backend) == HG_OK);
    uint64_t softmax = 0; /* of a row, as the instruction counts it */
    for (uint32_t ranks = 1; ranks <= 8; ranks *= 2) {
        graph_shard_options options = {.ranks = ranks};
        graph_shard_cost cost;
        uint64_t rows = (37 + ranks - 1) / ranks, members = 0;
        CHECK(graph_count_shards(g, NULL, &options, &cost) == HG_OK);
        CHECK_U64(cost.exchange_count, 0);
        for (uint32_t i = 0; i < cost.cost_count; i++) {
            const graph_rank_cost *r = &cost.costs[i];
            graph_sharded sharded = {0};
            uint64_t own = r->first + 1 < ranks ? rows : 37 - rows * (ranks - 1);
            CHECK(graph_shard(g, NULL, &options, r->first, &sharded) == HG_OK);
            CHECK_U64(r->given_bytes, 4 * (own * 32 + 32 * 48 + 48 * 16));
            CHECK_U64(r->output_bytes, 4 * own * 16);
            CHECK_U64(r->workspace_bytes, bound_workspace(backend, &sharded));
            if (ranks == 1) softmax = r->operations / 37 - 32 * 48 - 48 * 16;
            CHECK_U64(r->operations, own * (32 * 48 + 48 * 16 + softmax));
            members += r->ranks;
            graph_sharded_free(&sharded);
        }
        CHECK_U64(members, ranks);
        graph_shard_cost_free(&cost);
    }
    graph_shard_options options = {.ranks = 4097};
    graph_shard_cost cost;
    CHECK(graph_count_shards(g, NULL, &options, &cost) == HG_ERROR_INVALID_ARGUMENT);
    hg_backend_destroy(backend);
    hg_graph_release(g);
}

static void check_place_words(void) {
    static const struct {
        const char *words, *expected;
    } CASES[] = {{"split 1", NULL},
                 {"split 0 at (2, 4)", NULL},
                 {"whole", NULL},
                 {"partial max", NULL},
                 {"", "expected whole, split AXIS"},
                 {"split 0 split 1", "expected whole, split AXIS"},
                 {"splat", "expected whole, split AXIS"},
                 {"split 2", "the array has 2 axes"}};
    hg_graph *g = read(".input x f32 [8, 3]\n");
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        hg_status status = graph_read_place(g, 0, CASES[i].words);
        CHECK((status == HG_OK) == !CASES[i].expected);
        if (CASES[i].expected)
            CHECK_MESSAGE(strstr(hg_last_error()->message, CASES[i].expected), "%s: %s",
                          CASES[i].words, hg_last_error()->message);
    }
    CHECK(g->values.data[0].place.kind == GRAPH_PARTIAL); /* mistakes change nothing */
    hg_graph_release(g);
}

/* ---- the public functions ---- */

static const char NET[] = ".extent b\n.input x f32 [b, 6]\n.constant w f32 [6, 4] split 1\n"
                          ".constant v f32 [4, 3]\nh = gemm a=x, b=w\ny = gemm a=h, b=v\n"
                          ".output h\n.output y\n";

static hg_status shard_of(const hg_graph *g, uint32_t ranks, uint32_t rank,
                          const hg_placement *places, size_t count, hg_graph **shard) {
    const hg_graph_number b = {"b", 5};
    const hg_graph_shard_options o = {.size = sizeof o,
                                      .ranks = ranks,
                                      .placements = places,
                                      .placement_count = count,
                                      .numbers = &b,
                                      .number_count = 1};
    return hg_graph_shard(g, &o, rank, shard);
}

/* Parts of all ranks together are the whole, in order; the graphs of all fit. */
static void check_all_ranks(const hg_graph *g, uint32_t ranks, const hg_placement *places,
                            size_t count, const char *split) {
    hg_graph *shards[8] = {NULL};
    uint64_t ends[8] = {0};
    for (uint32_t r = 0; r < ranks; r++) {
        hg_graph_part part = {.size = sizeof part};
        CHECK(shard_of(g, ranks, r, places, count, &shards[r]) == HG_OK);
        for (uint32_t i = 0; hg_graph_get_part(shards[r], i, &part) == HG_OK; i++) {
            bool is_split = part.kind == HG_PART_SPLIT;
            if (strchr(split, part.name[0])) CHECK(is_split == (ranks > 1));
            if (is_split) CHECK(part.start == ends[i]);
            ends[i] = part.start + part.length;
            if (r + 1 == ranks || !is_split) CHECK(ends[i] == part.extent);
            CHECK(part.output == (part.name[0] == 'h' || part.name[0] == 'y'));
            if (part.name[0] == 'w') CHECK(part.outer * part.extent * part.inner == 24);
        }
        CHECK(strstr(hg_last_error_text(), "part 5: the graph has 5"));
    }
    CHECK(hg_graph_check_shards(shards, ranks) == HG_OK);
    for (uint32_t r = 0; r < ranks; r++) hg_graph_release(shards[r]);
}

static void refuses(hg_status status, const char *words) {
    CHECK(status == HG_ERROR_INVALID_ARGUMENT);
    CHECK_MESSAGE(strstr(hg_last_error_text(), words), "expected \"%s\", got \"%s\"", words,
                  hg_last_error_text());
}

static void check_public_mistakes(const hg_graph *g) {
    const hg_placement unknown = {"q", "whole"}, axis = {"x", "split 2"};
    const hg_graph_number twice[] = {{"b", 5}, {"c", 1}};
    hg_graph_shard_options o = {.size = sizeof o, .ranks = 2};
    hg_graph *shard = NULL, *other = NULL;
    refuses(shard_of(g, 2, 0, &unknown, 1, &shard), "'q': the graph has no such value");
    refuses(shard_of(g, 2, 0, &axis, 1, &shard), "the array has 2 axes");
    refuses(shard_of(g, 2, 2, NULL, 0, &shard), "rank 2 of 2");
    refuses(shard_of(g, 5000, 0, NULL, 0, &shard), "1 to 4096 ranks");
    refuses(hg_graph_shard(g, &o, 0, &shard), "the extent 'b' has no number");
    o.numbers = twice;
    o.number_count = 2;
    refuses(hg_graph_shard(g, &o, 0, &shard), "no extent 'c'");
    CHECK(!shard);
    /* ranks that were told different things */
    const hg_placement whole = {"w", "whole"};
    CHECK(shard_of(g, 2, 0, NULL, 0, &shard) == HG_OK);
    CHECK(shard_of(g, 2, 1, &whole, 1, &other) == HG_OK);
    hg_graph *both[2] = {shard, other};
    refuses(hg_graph_check_shards(both, 2), "collective 0: rank 0 calls all_gather.f32 of 10 "
                                            "elements, rank 1 nothing");
    hg_graph_release(other);
    CHECK(shard_of(g, 4, 1, NULL, 0, &other) == HG_OK);
    both[1] = other;
    refuses(hg_graph_check_shards(both, 2), "of 10 elements, rank 1 all_gather.f32 of");
    refuses(hg_graph_check_shards(both, 0), "0 ranks: 1 to 4096");
    hg_graph_release(other);
    hg_graph_release(shard);
}

static void check_public(void) {
    const hg_placement batch[] = {{"x", "split 0"}, {"w", "whole"}};
    hg_graph *g = read(NET), *shard = NULL;
    for (uint32_t ranks = 1; g && ranks <= 8; ranks++) {
        check_all_ranks(g, ranks, NULL, 0, "wh");
        check_all_ranks(g, ranks, batch, 2, "xhy");
    }
    check_public_mistakes(g);
    /* the graph stays as it was, and a rank's keeps what it needs of it */
    CHECK(shard_of(g, 2, 0, batch, 2, &shard) == HG_OK);
    CHECK(g->values.data[0].place.kind == GRAPH_WHOLE && g->parts.count == 0);
    hg_graph_release(g);
    hg_graph_part part = {.size = sizeof part};
    CHECK(hg_graph_get_part(shard, 0, &part) == HG_OK && strcmp(part.name, "x") == 0);
    CHECK(part.length == 3 && part.inner == 6);
    hg_graph_release(shard);
}

int main(void) {
    check_ways();
    check_handed_on();
    check_lanes();
    check_shares();
    check_mistakes();
    check_text();
    check_costs();
    check_place_words();
    check_constant_parts();
    check_public();
    return test_done();
}
