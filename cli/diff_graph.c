/* hologram diff of array graphs: on two devices, or with passes and without on one. Values keep
 * their numbers through the passes, so a value of a graph and the same value after passes are the
 * same elements. */
#include "diff.h"
#include "graph.h"
#include <stdio.h>
#include <string.h>

/* A value that two runs made, and where they differ first. */
typedef struct graph_finding {
    uint32_t value, call; /* in the graph as it is written */
    uint64_t element, differing, elements;
    uint8_t type, bytes[2][HG_MAX_LITERAL_BYTES];
} graph_finding;

static bool find(const hg_graph *g, uint32_t value, uint64_t elements, const uint8_t *a,
                 const uint8_t *b, graph_finding *f) {
    const graph_value *v = &g->values.data[value];
    uint64_t size = graph_type_bytes(v);
    f->differing = 0;
    if (memcmp(a, b, (size_t)(elements * size)) == 0) return false;
    for (uint64_t i = 0; i < elements; i++) {
        if (diff_same_value((hg_type)v->type, a + i * size, b + i * size) || f->differing++)
            continue;
        *f = (graph_finding){.value = value,
                             .call = v->call,
                             .element = i,
                             .differing = 1,
                             .elements = elements,
                             .type = v->type};
        memcpy(f->bytes[0], a + i * size, (size_t)size);
        memcpy(f->bytes[1], b + i * size, (size_t)size);
    }
    return f->differing != 0;
}

static bool same_end(const graph_trial *a, const graph_trial *b) {
    return a->status == b->status &&
           (a->status == HG_OK || memcmp(a->error.code, b->error.code, sizeof a->error.code) == 0);
}

/* ---- graphs that show what calls make ---- */

/* Under its name, else under its number. */
static hg_status show(hg_graph *g, const graph_call *call, uint64_t values) {
    for (uint32_t i = 0; i < call->result_count; i++) {
        uint32_t value = g->results.data[call->first_result + i].value;
        char number[24];
        const char *name = value < values ? g->values.data[value].name : NULL;
        snprintf(number, sizeof number, "unnamed_%u", (unsigned)value);
        if (!name) name = number;
        if (value < values) HG_TRY(graph_add_output(g, value, name, strlen(name)));
    }
    return HG_OK;
}

/* A copy without the calls from `end` on, whose outputs are what the calls from `first` on make of
 * the first `values` values. Which memory they take is decided anew. */
static hg_status showing(const hg_graph *g, uint64_t first, uint64_t end, uint64_t values,
                         hg_graph **shown) {
    hg_graph *copy;
    HG_TRY(graph_copy(g, &copy));
    copy->calls.count = end;
    copy->outputs.count = 0;
    hg_vec_free(&copy->output_names);
    copy->output_names = (graph_names){0};
    for (uint64_t i = 0; i < copy->values.count; i++) copy->values.data[i].takes = GRAPH_NOT_SET;
    hg_status status = HG_OK;
    for (uint64_t i = first; i < end && status == HG_OK; i++)
        status = show(copy, &copy->calls.data[i], values);
    if (status == HG_OK)
        *shown = copy;
    else
        hg_graph_release(copy);
    return status;
}

/* ---- telling ---- */

static void add_element(hg_text *out, const hg_graph *g, const graph_finding *f,
                        const uint64_t *extents) {
    const graph_value *v = &g->values.data[f->value];
    uint64_t shape[PLAN_MAX_RANK];
    for (uint32_t i = 0; i < v->rank; i++) shape[i] = extents[v->extents[i]];
    if (v->name)
        hg_text_addf(out, "%s", v->name);
    else
        hg_text_addf(out, "v%u", (unsigned)f->value);
    diff_add_index(out, v->rank, shape, f->element);
}

/* What differs, in a line for a reader, or as the fields of an object. */
static void tell(diff_case *d, const char *pass, const graph_finding *f,
                 const char *const labels[2]) {
    cli *c = d->c;
    const hg_graph *g = c->graph;
    char what[160], values[2][160];
    hg_text place = {0};
    uint64_t *extents = cli_bound_extents(g, d->values);
    if (extents) add_element(&place, g, f, extents);
    for (int i = 0; i < 2; i++) diff_value_text(f->type, f->bytes[i], values[i]);
    const char *call = f->call < g->calls.count ? graph_call_text(g, &g->calls.data[f->call], what)
                                                : "no call";
    if (c->json) {
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_text(&json, "result", "different");
        if (pass) hg_json_add_text(&json, "pass", pass);
        hg_json_add_text(&json, "call", call);
        hg_json_add_text(&json, "place", place.data ? place.data : "");
        for (int i = 0; i < 2; i++) hg_json_add_text(&json, i ? "second" : "first", values[i]);
        hg_json_add_u64(&json, "differing", f->differing);
        hg_json_add_u64(&json, "elements", f->elements);
        hg_json_end_object(&json);
    } else {
        if (pass) cli_out(c, "first pass that changes a bit: %s\n", pass);
        cli_out(
            c,
            "first call that differs: %s\n  %s: %s on %s, %s on %s; %llu of %llu elements differ\n",
            call, place.data ? place.data : "", values[0], labels[0], values[1], labels[1],
            (unsigned long long)f->differing, (unsigned long long)f->elements);
    }
    hg_text_free(&place);
    hg_free(extents);
    c->status = CLI_FAILED;
}

static void tell_fault(diff_case *d, const char *pass, const graph_trial trials[2],
                       const char *const labels[2]) {
    if (pass && !d->c->json) cli_out(d->c, "first pass that changes how it ends: %s\n", pass);
    for (int i = 0; i < 2 && !d->c->json; i++)
        cli_out(d->c, "%s: %s%s%s\n", labels[i],
                trials[i].status == HG_OK ? "ends without a fault" : trials[i].error.code,
                trials[i].status == HG_OK ? "" : " ",
                trials[i].status == HG_OK ? "" : trials[i].error.message);
    if (d->c->json) {
        hg_json json;
        cli_json_item(d->c, &json);
        hg_json_add_text(&json, "result", "different");
        if (pass) hg_json_add_text(&json, "pass", pass);
        for (int i = 0; i < 2; i++)
            hg_json_add_text(&json, i ? "second" : "first",
                             trials[i].status == HG_OK ? "ok" : trials[i].error.code);
        hg_json_end_object(&json);
    }
    d->c->status = CLI_FAILED;
}

static void tell_same(diff_case *d, const graph_trial *t, const char *what) {
    uint64_t count = d->c->graph->outputs.count;
    if (d->c->json) {
        hg_json json;
        cli_json_item(d->c, &json);
        hg_json_add_text(&json, "result", "same");
        hg_json_add_u64(&json, "outputs", count);
        hg_json_end_object(&json);
    } else if (t->status == HG_OK) {
        cli_out(d->c, "%s: %llu outputs are equal bit for bit\n", what, (unsigned long long)count);
    } else {
        cli_out(d->c, "%s: both end with %s %s\n", what, t->error.code, t->error.message);
    }
}

/* ---- comparing ---- */

static uint64_t output_named(const hg_graph *g, const char *name) {
    uint64_t i = 0;
    while (i < g->outputs.count && strcmp(g->outputs.data[i].name, name) != 0) i++;
    return i;
}

/* The first output of two runs that differs; one that the other graph does not have in this shape
 * is passed over. */
static hg_status compare_outputs(const diff_case *d, hg_graph *const graphs[2],
                                 const graph_trial trials[2], bool *differ, graph_finding *f) {
    uint64_t *extents[2] = {cli_bound_extents(graphs[0], d->values),
                            cli_bound_extents(graphs[1], d->values)};
    *differ = false;
    for (uint64_t i = 0; i < trials[0].count && !*differ && extents[0] && extents[1]; i++) {
        uint64_t k = output_named(graphs[1], graphs[0]->outputs.data[i].name);
        if (k >= trials[1].count) continue;
        uint32_t value = graphs[0]->outputs.data[i].value;
        const graph_value *a = &graphs[0]->values.data[value],
                          *b = &graphs[1]->values.data[graphs[1]->outputs.data[k].value];
        if (a->type != b->type || extents[0][a->elements] != extents[1][b->elements]) continue;
        *differ = find(graphs[0], value, extents[0][a->elements], trials[0].arrays[i],
                       trials[1].arrays[k], f);
    }
    hg_status status = extents[0] && extents[1] ? HG_OK : HG_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < 2; i++) hg_free(extents[i]);
    return status;
}

/* Both sides call by call, every value to be seen. */
static hg_status find_call(diff_case *d, const hg_graph_options *options, graph_finding *found) {
    graph_finding f = {0};
    bool differ = false;
    hg_graph *shown[2] = {NULL, NULL};
    graph_trial trials[2] = {{0}, {0}};
    hg_graph_options one = *options;
    hg_status status = HG_OK;
    one.passes = "none";
    for (int i = 0; i < 2 && status == HG_OK; i++) {
        status = showing(d->graphs[i], 0, d->graphs[i]->calls.count, d->graphs[i]->values.count,
                         &shown[i]);
        if (status == HG_OK)
            status = cli_try_graph(d->sides[i].backend, shown[i], &one, d->values, &trials[i]);
    }
    if (status == HG_OK && same_end(&trials[0], &trials[1]))
        status = compare_outputs(d, shown, trials, &differ, &f);
    if (differ) *found = f; /* else it stays the output */
    for (int i = 0; i < 2; i++) {
        cli_trial_free(&trials[i]);
        hg_graph_release(shown[i]);
    }
    return status;
}

static hg_status on_two_devices(diff_case *d, const hg_graph_options *options) {
    const char *const labels[2] = {d->sides[0].label, d->sides[1].label};
    graph_trial trials[2] = {{0}, {0}};
    graph_finding f = {0};
    bool differ = false;
    char what[160];
    hg_status status = HG_OK;
    snprintf(what, sizeof what, "%s and %s", labels[0], labels[1]);
    for (int i = 0; i < 2 && status == HG_OK; i++)
        status = cli_try_graph(d->sides[i].backend, d->graphs[i], options, d->values, &trials[i]);
    if (status == HG_OK && same_end(&trials[0], &trials[1]))
        status = compare_outputs(d, d->graphs, trials, &differ, &f);
    if (status == HG_OK && differ) status = find_call(d, options, &f);
    if (status != HG_OK)
        ;
    else if (!same_end(&trials[0], &trials[1]))
        tell_fault(d, NULL, trials, labels);
    else if (differ)
        tell(d, NULL, &f, labels); /* not found call by call: an output, which differs with the
                                      passes alone */
    else
        tell_same(d, &trials[0], what);
    for (int i = 0; i < 2; i++) cli_trial_free(&trials[i]);
    return status;
}

/* ---- passes ---- */

/* Those of the passes that a graph which was changed already is still to get. */
static void behind(const graph_pass_list *order, char names[64]) {
    size_t length = 0;
    names[0] = 0;
    for (uint32_t i = 0; i < order->count; i++)
        if (order->passes[i] >= GRAPH_PASS_INPLACE)
            length += (size_t)snprintf(names + length, 64 - length, "%s,",
                                       hg_graph_pass_name(order->passes[i]));
}

typedef struct pass_search {
    diff_case *d;
    hg_graph *done, *reference; /* after the passes; as written, with every value shown */
    hg_graph_options options;
    uint64_t *extents; /* of the graph as it is written */
    graph_trial all;   /* of the reference */
} pass_search;

/* Whether the last call of `shown` makes something else than the reference. */
static hg_status compare_call(pass_search *s, hg_graph *shown, bool *differ, graph_finding *f) {
    const hg_graph *g = s->d->c->graph;
    graph_trial one = {0};
    HG_TRY(cli_try_graph(s->d->sides[0].backend, shown, &s->options, s->d->values, &one));
    for (uint64_t k = 0; k < one.count && !*differ; k++) {
        uint32_t value = shown->outputs.data[k].value;
        uint64_t n = 0;
        while (n < s->all.count && s->reference->outputs.data[n].value != value) n++;
        if (n < s->all.count)
            *differ = find(g, value, s->extents[g->values.data[value].elements], s->all.arrays[n],
                           one.arrays[k], f);
    }
    cli_trial_free(&one);
    return HG_OK;
}

/* The graph after the passes with one more call at a time, until what that call makes differs. */
static hg_status search_calls(pass_search *s, graph_finding *found) {
    bool differ = false;
    graph_finding f = {0};
    for (uint64_t i = 0; i < s->done->calls.count && !differ; i++) {
        hg_graph *shown;
        HG_TRY(showing(s->done, i, i + 1, s->d->c->graph->values.count, &shown));
        hg_status status = compare_call(s, shown, &differ, &f);
        hg_graph_release(shown);
        HG_TRY(status);
    }
    if (differ) *found = f; /* else it stays the output */
    return HG_OK;
}

static hg_status find_call_after(diff_case *d, const hg_graph_options *options, const char *passes,
                                 graph_finding *f) {
    hg_graph *g = d->c->graph;
    pass_search s = {.d = d, .options = *options, .extents = cli_bound_extents(g, d->values)};
    graph_pass_list order;
    char names[64];
    hg_status status = s.extents ? HG_OK : HG_ERROR_INVALID_ARGUMENT;
    s.options.passes = "none";
    if (status == HG_OK) status = showing(g, 0, g->calls.count, g->values.count, &s.reference);
    if (status == HG_OK)
        status = cli_try_graph(d->sides[0].backend, s.reference, &s.options, d->values, &s.all);
    if (status == HG_OK) status = graph_passes_named(passes, &order);
    if (status == HG_OK) status = graph_optimize(g, &order, NULL, &s.done);
    if (status == HG_OK) {
        behind(&order, names);
        s.options.passes = names;
        status = search_calls(&s, f);
    }
    cli_trial_free(&s.all);
    hg_graph_release(s.reference);
    hg_graph_release(s.done);
    hg_free(s.extents);
    return status;
}

/* The passes one after another, each with all before it. */
static hg_status with_passes(diff_case *d, const hg_graph_options *options) {
    graph_trial trials[2] = {{0}, {0}};
    graph_finding f = {0};
    hg_graph_options some = *options;
    char passes[256] = "none", label[280];
    const char *pass = NULL, *labels[2] = {"no passes", label};
    size_t length = 0;
    bool differ = false;
    some.passes = passes;
    hg_status status = cli_try_graph(d->sides[0].backend, d->c->graph, &some, d->values,
                                     &trials[0]);
    for (uint32_t i = 0; hg_graph_pass_name(i) && status == HG_OK && !differ; i++) {
        pass = hg_graph_pass_name(i);
        length += (size_t)snprintf(passes + length, sizeof passes - length, "%s%s",
                                   length ? "," : "", pass);
        cli_trial_free(&trials[1]);
        status = cli_try_graph(d->sides[0].backend, d->c->graph, &some, d->values, &trials[1]);
        if (status == HG_OK && !same_end(&trials[0], &trials[1])) break;
        if (status == HG_OK) status = compare_outputs(d, d->graphs, trials, &differ, &f);
    }
    snprintf(label, sizeof label, "passes %s", passes);
    if (status == HG_OK && differ) status = find_call_after(d, options, passes, &f);
    if (status != HG_OK)
        ;
    else if (!same_end(&trials[0], &trials[1]))
        tell_fault(d, pass, trials, labels);
    else if (differ)
        tell(d, pass, &f, labels);
    else
        tell_same(d, &trials[0], "with all passes and with none");
    for (int i = 0; i < 2; i++) cli_trial_free(&trials[i]);
    return status;
}

void diff_graph(diff_case *d, const hg_graph_options *options, bool passes) {
    if ((passes ? with_passes(d, options) : on_two_devices(d, options)) != HG_OK)
        cli_last_error(d->c);
}
