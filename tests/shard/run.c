/* Random array graphs on ranks, their inputs cut at random, against one device: the same bits.
 *
 *     shard [--seed N] [--count N] [--calls N] [--ranks N] [--show]
 *
 * Two NaNs are equal. A graph that fails is printed with the command that makes it again. */
/* test: timeout=600 */
#include "graph/generate.h"
#include "graph/shard.h"
#include "base/thread.h"
#include "comm/comm.h"
#include "test.h"
#include <stdlib.h>

enum { MOST_RANKS = 8 };

typedef struct tester {
    hg_backend *backends[MOST_RANKS];
    generated_graph graph;
    hg_graph *built;
    uint64_t *sizes; /* of its extents */
    uint8_t *arrays[GENERATE_MOST_ARRAYS];
    uint64_t seed, state;
    uint32_t calls, ranks, given_ranks;
    bool failed, show;
    uint64_t collectives, cut_calls, all_calls, handed_on;
} tester;

typedef struct rank {
    tester *t;
    uint32_t number;
    hg_comm *comm;
    graph_sharded sharded;
    uint8_t **outputs;
    hg_status status;
    char message[512];
} rank;

static void complain(tester *t, const char *what) {
    char *text = NULL;
    t->failed = true;
    (void)!hg_graph_print(t->built, &text, NULL);
    fprintf(stderr, "%s\nrun again with: shard --calls %u --seed %llu --count 1 --ranks %u\n%s\n",
            what, (unsigned)t->calls, (unsigned long long)t->seed, (unsigned)t->ranks,
            text ? text : t->graph.text);
    hg_string_free(text);
}

static const generated_array *array_named(const tester *t, const char *name, uint32_t *index) {
    for (uint32_t i = 0; i < t->graph.array_count; i++)
        if (strcmp(t->graph.arrays[i].name, name) == 0) {
            *index = i;
            return &t->graph.arrays[i];
        }
    return NULL;
}

/* ---- one device ---- */

static bool run_alone(tester *t) {
    hg_params *params = hg_params_create();
    hg_buffer buffers[GENERATE_MOST_ARRAYS] = {{0}};
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    bool done = params != NULL;
    for (uint32_t i = 0; i < t->graph.symbol_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", (unsigned)i);
        done &= hg_params_set_scalar(params, name, HG_TYPE_U64, &t->graph.symbols[i]) == HG_OK;
    }
    for (uint32_t i = 0; i < t->graph.array_count; i++) {
        const generated_array *a = &t->graph.arrays[i];
        t->arrays[i] = calloc(1, (size_t)generated_bytes(a) + 1);
        if (!a->output) generate_elements(&t->state, a, t->arrays[i]);
        done &= hg_backend_allocate_buffer(t->backends[0], generated_bytes(a), &buffers[i]) ==
                    HG_OK &&
                hg_buffer_write(t->backends[0], buffers[i], 0, t->arrays[i], generated_bytes(a)) ==
                    HG_OK &&
                hg_params_set_buffer(params, a->name, buffers[i]) == HG_OK;
    }
    done = done && hg_graph_compile(t->backends[0], t->built, NULL, &executable) == HG_OK &&
           hg_graph_bind(executable, params, &binding) == HG_OK &&
           hg_graph_binding_launch(binding) == HG_OK;
    for (uint32_t i = 0; i < t->graph.array_count && done; i++) {
        const generated_array *a = &t->graph.arrays[i];
        if (a->output)
            done = hg_buffer_read(t->backends[0], buffers[i], 0, t->arrays[i],
                                  generated_bytes(a)) == HG_OK;
    }
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    for (uint32_t i = 0; i < t->graph.array_count; i++)
        if (buffers[i].handle) (void)!hg_backend_free_buffer(t->backends[0], buffers[i]);
    hg_params_destroy(params);
    if (!done) complain(t, hg_last_error_text());
    return done;
}

/* ---- places ---- */

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void split(tester *t, uint32_t value, uint32_t axis) {
    graph_value *v = &t->built->values.data[value];
    uint64_t extent = t->sizes[v->extents[axis]], cuts[MOST_RANKS];
    graph_place place = {.kind = GRAPH_SPLIT, .axis = (uint8_t)axis};
    if (t->ranks > 1 && generate_random(&t->state) % 2) {
        for (uint32_t r = 0; r + 1 < t->ranks; r++)
            cuts[r] = generate_random(&t->state) % (extent + 1);
        qsort(cuts, t->ranks - 1, sizeof *cuts, ascending);
        place.first_cut = (uint32_t)t->built->items.count;
        place.cut_count = t->ranks - 1;
        for (uint32_t r = 0; r + 1 < t->ranks; r++)
            *hg_vec_push(&t->built->items) = graph_number(t->built, cuts[r]);
    }
    t->built->values.data[value].place = place;
}

static void place_values(tester *t) {
    for (uint32_t i = 0; i < t->built->values.count; i++) {
        const graph_value *v = &t->built->values.data[i];
        if (v->place.kind != GRAPH_WHOLE) continue;
        uint32_t percent = v->source == GRAPH_RESULT ? 5 : v->source == GRAPH_VIEW ? 0 : 60;
        uint32_t index = 0;
        bool partial = v->source == GRAPH_INPUT && v->type == HG_TYPE_I32 && v->rank &&
                       array_named(t, v->name, &index) && !t->graph.arrays[index].zeros;
        if (partial && generate_random(&t->state) % 5 == 0)
            t->built->values.data[i].place = (graph_place){.kind = GRAPH_PARTIAL,
                                                           .operation = HG_OPNAME_SUM};
        else if (v->rank && generate_random(&t->state) % 100 < percent)
            split(t, i, (uint32_t)(generate_random(&t->state) % v->rank));
    }
}

/* ---- ranks ---- */

/* Noise that all ranks together cancel. */
static uint32_t noise(uint32_t number, uint64_t i) {
    uint64_t x = (i + 1) * UINT64_C(0x9E3779B97F4A7C15) + number;
    return (uint32_t)(x ^ x >> 29);
}

static void give_part(rank *k, const graph_part *part, uint8_t *to) {
    uint32_t index;
    tester *t = k->t;
    if (!array_named(t, part->name, &index)) return;
    uint64_t size = hg_type_size_bytes(part->type), row = part->inner * size;
    for (uint64_t o = 0; o < part->outer; o++)
        memcpy(to + o * part->length * row,
               t->arrays[index] + (o * part->extent + part->start) * row,
               (size_t)(part->length * row));
    if (part->place != GRAPH_PARTIAL) return;
    for (uint64_t i = 0; i < part->outer * part->extent * part->inner; i++) {
        uint32_t x = noise(k->number, i), whole;
        memcpy(&whole, to + i * 4, 4);
        for (uint32_t r = 1; r < t->ranks && k->number == 0; r++) whole -= noise(r, i);
        if (k->number == 0) x = whole;
        memcpy(to + i * 4, &x, 4);
    }
}

static uint64_t part_bytes(const graph_part *part) {
    return part->outer * part->length * part->inner * hg_type_size_bytes(part->type);
}

static hg_status bind_part(rank *k, const graph_part *part, hg_params *params, hg_buffer *buffer) {
    hg_backend *backend = k->t->backends[k->number];
    uint64_t bytes = part_bytes(part);
    HG_TRY(hg_backend_allocate_buffer(backend, bytes, buffer));
    HG_TRY(hg_params_set_buffer(params, part->name, *buffer));
    if (part->source == GRAPH_RESULT) return HG_OK;
    uint8_t *own = calloc(1, (size_t)bytes + 1);
    give_part(k, part, own);
    hg_status status = hg_buffer_write(backend, *buffer, 0, own, bytes);
    free(own);
    return status;
}

static hg_status run_bound(rank *k, const hg_params *params, const hg_buffer *buffers) {
    hg_backend *backend = k->t->backends[k->number];
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    uint64_t outputs = 0;
    hg_status status = hg_graph_compile(backend, k->sharded.graph, NULL, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, params, &binding);
    if (status == HG_OK) status = hg_graph_binding_launch(binding);
    for (uint64_t i = 0; i < k->sharded.part_count && status == HG_OK; i++) {
        const graph_part *part = &k->sharded.parts[i];
        if (part->source != GRAPH_RESULT) continue;
        k->outputs[outputs] = calloc(1, (size_t)part_bytes(part) + 1);
        status = hg_buffer_read(backend, buffers[i], 0, k->outputs[outputs++], part_bytes(part));
    }
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    return status;
}

static void *run_rank(void *argument) {
    rank *k = argument;
    hg_backend *backend = k->t->backends[k->number];
    hg_params *params = hg_params_create();
    hg_buffer *buffers = calloc(k->sharded.part_count + 1, sizeof *buffers);
    k->outputs = calloc(k->sharded.graph->outputs.count + 1, sizeof *k->outputs);
    k->status = hg_context_set_comm(backend, NULL, k->comm);
    for (uint64_t i = 0; i < k->sharded.part_count && k->status == HG_OK; i++)
        k->status = bind_part(k, &k->sharded.parts[i], params, &buffers[i]);
    if (k->status == HG_OK) k->status = run_bound(k, params, buffers);
    if (k->status != HG_OK) {
        snprintf(k->message, sizeof k->message, "%s", hg_last_error_text());
        (void)!hg_comm_revoke(k->comm);
    }
    (void)!hg_context_set_comm(backend, NULL, NULL);
    for (uint64_t i = 0; i < k->sharded.part_count; i++)
        if (buffers[i].handle) (void)!hg_backend_free_buffer(backend, buffers[i]);
    free(buffers);
    hg_params_destroy(params);
    return NULL;
}

/* An output's part must be the part of what one device has. */
static void compare(tester *t, const rank *k) {
    uint64_t output = 0;
    for (uint64_t i = 0; i < k->sharded.part_count && !t->failed; i++) {
        const graph_part *part = &k->sharded.parts[i];
        uint64_t row = part->inner * hg_type_size_bytes(part->type);
        uint32_t index;
        if (part->source != GRAPH_RESULT || !array_named(t, part->name, &index)) continue;
        const uint8_t *is = k->outputs[output++];
        for (uint64_t o = 0; o < part->outer && !t->failed; o++)
            if (!generated_equal(part->type, is + o * part->length * row,
                                 t->arrays[index] + (o * part->extent + part->start) * row,
                                 part->length * part->inner)) {
                char what[120];
                snprintf(what, sizeof what, "output %s of rank %u differs", part->name,
                         (unsigned)k->number);
                complain(t, what);
            }
        test_passed++;
    }
}

static void free_rank(rank *k) {
    for (uint64_t i = 0; k->outputs && i < k->sharded.graph->outputs.count; i++)
        free(k->outputs[i]);
    free(k->outputs);
    graph_sharded_free(&k->sharded);
    hg_comm_destroy(k->comm);
}

/* Programs of the graph that was printed. */
static hg_status known_program(void *user, const char *file, hg_diagnostics *d,
                               hg_program **program) {
    const hg_graph *g = user;
    size_t length = strlen(file) - strlen(".atlas");
    uint32_t number = graph_find_program(g, file, length);
    if (number == GRAPH_NOT_SET) return generated_program(NULL, file, d, program);
    *program = hg_program_retain(g->programs.data[number].program);
    return HG_OK;
}

/* What is printed is read back as the same graph, places too. */
static void check_text(tester *t, const hg_graph *g) {
    char *text = NULL, *again = NULL;
    hg_graph *copy = NULL;
    hg_graph_read_options options = {
        .size = sizeof options, .program = known_program, .user = (void *)(uintptr_t)g};
    if (hg_graph_print(g, &text, NULL) != HG_OK ||
        hg_graph_read_text(text, strlen(text), &options, NULL, &copy) != HG_OK ||
        hg_graph_print(copy, &again, NULL) != HG_OK)
        complain(t, hg_last_error_text());
    else if (strcmp(text, again) != 0)
        complain(t, "its printed form changes");
    else
        test_passed++;
    if (t->failed && text) fprintf(stderr, "printed:\n%s\nagain:\n%s\n", text, again ? again : "");
    hg_string_free(text);
    hg_string_free(again);
    hg_graph_release(copy);
}

static void note_cut(tester *t, const hg_graph *g) {
    for (uint64_t i = 0; i < g->calls.count; i++) {
        const graph_call *c = &g->calls.data[i];
        const graph_value *v = &g->values.data[g->results.data[c->first_result].value];
        t->all_calls += v->name != NULL;
        t->cut_calls += v->name != NULL && v->place.kind != GRAPH_WHOLE;
        for (uint32_t k = 0; k < c->operand_count && graph_is_collective(c); k++)
            t->handed_on += g->operands.data[c->first_operand + k].kind == GRAPH_TUPLE;
    }
}

static hg_comm_kind kind_of(hg_op op) {
    return op == HG_OP_ALL_GATHER   ? HG_COMM_ALL_GATHER
           : op == HG_OP_ALL_REDUCE ? HG_COMM_ALL_REDUCE
           : op == HG_OP_BROADCAST  ? HG_COMM_BROADCAST
                                    : HG_COMM_REDUCE_SCATTER;
}

/* What is counted without running is what ranks did send. */
static void check_counts(tester *t, const rank *ranks, const graph_shard_options *options) {
    graph_shard_cost cost;
    uint64_t planned = 0, sent = 0, members = 0;
    if (graph_count_shards(t->built, t->graph.symbols, options, &cost) != HG_OK) {
        complain(t, hg_last_error_text());
        return;
    }
    t->collectives += cost.exchange_count;
    for (uint64_t i = 0; i < cost.exchange_count; i++) {
        uint64_t bytes = 0;
        const graph_exchange *e = &cost.exchanges[i];
        if (!comm_call_bytes(kind_of(e->op), e->block, e->ranks, &bytes))
            complain(t, "bytes of a collective cannot be counted");
        planned += bytes * e->calls;
    }
    for (uint32_t r = 0; r < t->ranks; r++) sent += ranks[r].comm->counts.sent;
    for (uint32_t i = 0; i < cost.cost_count; i++) members += cost.costs[i].ranks;
    if (planned != sent || members != t->ranks) {
        char what[120];
        snprintf(what, sizeof what, "%llu bytes planned, %llu sent; %llu ranks counted",
                 (unsigned long long)planned, (unsigned long long)sent,
                 (unsigned long long)members);
        complain(t, what);
    } else {
        test_passed++;
    }
    graph_shard_cost_free(&cost);
}

/* Small ones go beside other steps too; products go from rank to rank in many blocks and in one. */
static void run_ranks(tester *t) {
    hg_exchange_least_apart = 0;
    shard_least_block = generate_random(&t->state) % 3 * 40;
    rank ranks[MOST_RANKS] = {{0}};
    hg_comm *comms[MOST_RANKS];
    hg_thread threads[MOST_RANKS];
    graph_shard_options options = {.ranks = t->ranks,
                                   .whole_outputs = generate_random(&t->state) % 4 == 0};
    if (hg_comm_create_local(t->backends, t->ranks, comms) != HG_OK) {
        complain(t, hg_last_error_text());
        return;
    }
    for (uint32_t r = 0; r < t->ranks; r++) {
        ranks[r] = (rank){.t = t, .number = r, .comm = comms[r]};
        if (!t->failed &&
            graph_shard(t->built, t->graph.symbols, &options, r, &ranks[r].sharded) != HG_OK)
            complain(t, hg_last_error_text());
    }
    if (!t->failed) check_text(t, t->built);
    bool reads_back = hg_op_get(HG_OP_ALL_GATHER)->operands[3].optional != HG_REQUIRED;
    if (!t->failed && reads_back) check_text(t, ranks[t->ranks - 1].sharded.graph);
    hg_graph *shards[MOST_RANKS];
    for (uint32_t r = 0; r < t->ranks; r++) shards[r] = ranks[r].sharded.graph;
    if (!t->failed && hg_graph_check_shards(shards, t->ranks) != HG_OK)
        complain(t, hg_last_error_text());
    if (!t->failed && t->show) {
        char *text = NULL;
        if (hg_graph_print(ranks[0].sharded.graph, &text, NULL) == HG_OK) printf("%s\n", text);
        hg_string_free(text);
    }
    if (!t->failed) {
        for (uint32_t r = 0; r < t->ranks; r++)
            if (!hg_thread_start(&threads[r], run_rank, &ranks[r])) abort();
        for (uint32_t r = 0; r < t->ranks; r++) hg_thread_join(threads[r]);
        note_cut(t, ranks[0].sharded.graph);
    }
    for (uint32_t r = 0; r < t->ranks && !t->failed; r++)
        if (ranks[r].status != HG_OK && !strstr(ranks[r].message, "revoke"))
            complain(t, ranks[r].message);
    for (uint32_t r = 0; r < t->ranks && !t->failed; r++) compare(t, &ranks[r]);
    if (!t->failed) check_counts(t, ranks, &options);
    for (uint32_t r = 0; r < t->ranks; r++) free_rank(&ranks[r]);
}

/* Lanes of rows, whose number is nothing but a place: a row's scale, a column's, a loop over the
 * columns before; and a program whose lanes know their number. */
static hg_status some_program(void *user, const char *file, hg_diagnostics *d, hg_program **made) {
    static const char head[] = ".atlas 1\n.program rows\n.param x buffer f32 in [n, m]\n"
                               ".param s buffer f32 in [n]\n.param y buffer f32 out [n, m]\n"
                               ".param n u64\n.param m u64\n.lanes [i < n, j < m]\n"
                               "    let v = x[i, j] * s[i]\n    let k = u64(0)\n"
                               "    while k < j {\n        v = v * 0.5 + f32(j - k)\n"
                               "        k = k + 1\n    }\n    if v < 1.0 {\n        v = s[i]\n"
                               "    }\n";
    char text[1000];
    if (strcmp(file, "rows.atlas") != 0 && strcmp(file, "numbers.atlas") != 0)
        return generated_program(user, file, d, made);
    snprintf(text, sizeof text, "%s    y[i, j] = v%s\n", head, *file == 'n' ? " + f32(i)" : "");
    return hg_program_assemble(text, strlen(text), d, made);
}

/* The graph on one device, then on ranks. */
static void check_graph(tester *t) {
    static const uint32_t counts[] = {1, 2, 3, 4, 8};
    hg_graph_read_options options = {.size = sizeof options, .program = some_program};
    t->state = t->seed;
    t->failed = false;
    t->built = NULL;
    t->sizes = NULL;
    t->ranks = counts[generate_random(&t->state) % HG_COUNT_OF(counts)];
    if (t->given_ranks) t->ranks = t->given_ranks;
    if (hg_graph_read_text(t->graph.text, strlen(t->graph.text), &options, NULL, &t->built) !=
        HG_OK)
        complain(t, hg_last_error_text());
    if (!t->failed && run_alone(t)) {
        t->sizes = malloc((size_t)(t->built->terms.count + 1) * sizeof *t->sizes);
        graph_extent_values(t->built, t->graph.symbols, t->sizes);
        place_values(t);
        run_ranks(t);
    }
    if (t->failed) test_failed++;
    for (uint32_t i = 0; i < t->graph.array_count; i++) {
        free(t->arrays[i]);
        t->arrays[i] = NULL;
    }
    free(t->sizes);
    hg_graph_release(t->built);
    generated_graph_free(&t->graph);
}

/* Sums of more than one chunk of 4,096 elements, cut at and inside of chunks; a partial input;
 * tables of cosines and sines, which have a batch too; columns of segments; products whose inner
 * extent is cut; lanes. */
static void check_sums(tester *t) {
    static const char *const texts[] = {
        ".graph 1\n.input x0 f32 [10000]\ny = parallel_reduce sum, in=x0\n.output out0 = y\n",
        ".graph 1\n.input x0 f16 [9000]\ny = parallel_reduce sum, in=x0\n.output out0 = y\n",
        ".graph 1\n.input x0 i32 [8193]\ny = parallel_reduce sum, in=x0\n.output out0 = y\n",
        ".graph 1\n.input x0 i32 [33, 31] partial sum\ny i32 [33, 31] split 0 = parallel_map neg, "
        "in=x0\n.output out0 = y\n",
        ".graph 1\n.input x0 f64 [2, 5000, 3]\ny = reduce_axis input=x0, operation=sum\n"
        ".output out0 = y\n",
        ".graph 1\n.input x0 f32 [4, 5, 2, 6] split 0\n.view u = x0 f32 [4, 5, 3]\n"
        ".view v = x0 + 60 f32 [4, 5, 3]\nc = parallel_map cos, in=u\ns = parallel_map sin, in=v\n"
        "y = rope input=x0, freqs=c, sin=s\n.output out0 = y\n",
        ".graph 1\n.input x0 f32 [500, 6] split 1\n.input x1 u32 [5]\n"
        "o = scan input=x1, n=5, inner=1, outer=1\n"
        "y = segment_reduce input=x0, offsets=o, segments=4\n.output out0 = y\n",
        ".graph 1\n.input x0 f32 [5, 9001] split 1\n.input x1 f32 [9001, 7]\n"
        "y = gemm a=x0, b=x1, alpha=-1.5, activation=relu\n.output out0 = y\n",
        ".graph 1\n.input x0 f64 [300, 2, 9]\n.input x1 f64 [3, 300] split 1\n.view u = x0 "
        "f64 [300, 18]\ny = gemm a=u, b=x1, trans_a=true, trans_b=true\n.output out0 = y\n",
        ".graph 1\n.input x0 f32 [4, 3, 70] split 2\n.input x1 f32 [4, 70, 6] split 1\n"
        "y = batched_gemm a=x0, b=x1\n.output out0 = y\n",
        ".graph 1\n.input x0 bf16 [13, 500] split 1\n.input x1 bf16 [500, 4] split 0\n"
        "y = mixed_precision_gemm a=x0, b=x1, alpha=0.5\n.output out0 = y\n",
        ".graph 1\n.program rows \"rows.atlas\"\n.input x0 f32 [37, 5]\n.input x1 f32 [37]\n"
        "y = @rows x=x0, s=x1\n.output out0 = y\n",
        ".graph 1\n.program numbers \"numbers.atlas\"\n.input x0 f32 [37, 5]\n.input x1 f32 [37]\n"
        "y = @numbers x=x0, s=x1\n.output out0 = y\n"};
    static const struct {
        hg_type type;
        uint64_t in, out;
        hg_type type_out, type1;
        uint64_t in1;
    } arrays[] = {{HG_TYPE_F32, 10000, 1, HG_TYPE_F32, HG_TYPE_U32, 0},
                  {HG_TYPE_F16, 9000, 1, HG_TYPE_F16, HG_TYPE_U32, 0},
                  {HG_TYPE_I32, 8193, 1, HG_TYPE_I32, HG_TYPE_U32, 0},
                  {HG_TYPE_I32, 1023, 1023, HG_TYPE_I32, HG_TYPE_U32, 0},
                  {HG_TYPE_F64, 30000, 6, HG_TYPE_F64, HG_TYPE_U32, 0},
                  {HG_TYPE_F32, 240, 240, HG_TYPE_F32, HG_TYPE_U32, 0},
                  {HG_TYPE_F32, 3000, 24, HG_TYPE_F32, HG_TYPE_U32, 5},
                  {HG_TYPE_F32, 45005, 35, HG_TYPE_F32, HG_TYPE_F32, 63007},
                  {HG_TYPE_F64, 5400, 54, HG_TYPE_F64, HG_TYPE_F64, 900},
                  {HG_TYPE_F32, 840, 72, HG_TYPE_F32, HG_TYPE_F32, 1680},
                  {HG_TYPE_BF16, 6500, 52, HG_TYPE_F32, HG_TYPE_BF16, 2000},
                  {HG_TYPE_F32, 185, 185, HG_TYPE_F32, HG_TYPE_F32, 37},
                  {HG_TYPE_F32, 185, 185, HG_TYPE_F32, HG_TYPE_F32, 37}};
    for (uint32_t i = 0; i < 5 * HG_COUNT_OF(texts) && !test_failed; i++) {
        uint32_t at = i % HG_COUNT_OF(texts);
        memset(&t->graph, 0, sizeof t->graph);
        t->graph.text = strdup(texts[at]);
        t->graph.array_count = arrays[at].in1 ? 3 : 2;
        t->graph.arrays[0] = (generated_array){"x0", arrays[at].type, arrays[at].in, false, false};
        t->graph.arrays[1] = (generated_array){"out0", arrays[at].type_out, arrays[at].out, true,
                                               false};
        t->graph.arrays[2] = (generated_array){"x1", arrays[at].type1, arrays[at].in1, false,
                                               false};
        t->seed = i + 77;
        check_graph(t);
    }
}

int main(int argc, char **argv) {
    tester *t = calloc(1, sizeof *t);
    uint64_t seed = 1, count = 100;
    if (!t) return 1;
    t->calls = 12;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--show") == 0) t->show = true;
        if (i + 1 == argc) continue;
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--count") == 0) count = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--calls") == 0) t->calls = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--ranks") == 0)
            t->given_ranks = (uint32_t)strtoul(argv[i + 1], NULL, 10) % (MOST_RANKS + 1);
    }
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.jit, sizeof config.jit, "off");
    snprintf(config.vendor, sizeof config.vendor, "off");
    config.num_threads = 1;
    for (uint32_t i = 0; i < MOST_RANKS; i++)
        if (hg_backend_create_with_config(&config, &t->backends[i]) != HG_OK) {
            SKIP(hg_last_error_text());
            return test_done();
        }
    check_sums(t);
    for (uint64_t i = 0; i < count && test_failed < 5; i++) {
        t->seed = seed + i;
        generate_graph(t->seed, t->calls, &t->graph);
        check_graph(t);
    }
    for (uint32_t i = 0; i < MOST_RANKS; i++) hg_backend_destroy(t->backends[i]);
    printf("%llu graphs, %llu of %llu calls shared by ranks, %llu collectives, %llu blocks of "
           "products handed on\n",
           (unsigned long long)count, (unsigned long long)t->cut_calls,
           (unsigned long long)t->all_calls, (unsigned long long)t->collectives,
           (unsigned long long)t->handed_on);
    free(t);
    return test_done();
}
