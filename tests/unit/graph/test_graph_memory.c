/* Where the values of random graphs lie in the workspace, against the best of all placements: the
 * lowest free offset in every order. Lives and overlaps are the test's own. */
#include "graph/memory.h"
#include "support/runtime_support.h"

enum { GRAPHS = 500, MOST_VALUES = 8, MOST_CALLS = 32 };

static uint64_t seed = 1;
static uint32_t random_below(uint32_t n) { /* splitmix64, Steele, Lea, Flood 2014 */
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % n);
}

/* A value that lies in the workspace: made by a call, read by others up to the last one. */
typedef struct placed {
    uint64_t bytes;
    uint32_t made, last;
    uint32_t number; /* in the graph */
} placed;

typedef struct sample {
    placed values[MOST_VALUES];
    uint32_t count, calls;
    hg_text text;
    hg_graph *g;
} sample;

/* ---- graphs ---- */

/* A call that reads one of the values so far, or the input. */
static void add_call(sample *s, const char *made, uint64_t elements, bool output) {
    uint32_t from = random_below(s->count + (output ? 0 : 1));
    hg_text_addf(&s->text, "%s f32 [%" PRIu64 "] = parallel_map neg, in=", made, elements);
    if (from < s->count) {
        s->values[from].last = s->calls;
        hg_text_addf(&s->text, "y%u, count=1\n", (unsigned)from);
    } else {
        hg_text_addf(&s->text, "x, count=1\n");
    }
    if (output) hg_text_addf(&s->text, ".output %s\n", made);
    s->calls++;
}

/* Up to eight values, and calls between them that only read: what those make are outputs, which lie
 * elsewhere. */
static sample make_sample(uint32_t sizes) {
    sample s = {.count = 0};
    uint32_t count = 2 + random_below(MOST_VALUES - 1);
    char name[16];
    hg_text_addf(&s.text, ".graph 1\n.input x f32 [1]\n");
    while (s.count < count) {
        uint64_t elements = 1 + random_below(sizes);
        snprintf(name, sizeof name, "y%u", (unsigned)s.count);
        add_call(&s, name, elements, false);
        s.values[s.count++] = (placed){(4 * elements + 255) / 256 * 256, s.calls - 1, s.calls - 1,
                                       0};
        for (uint32_t more = random_below(3); more > 0; more--) {
            snprintf(name, sizeof name, "o%u", (unsigned)s.calls);
            add_call(&s, name, 1, true);
        }
    }
    CHECK_OK(hg_graph_read_text(s.text.data, s.text.length, NULL, NULL, &s.g));
    for (uint32_t i = 0; i < s.count; i++) {
        snprintf(name, sizeof name, "y%u", (unsigned)i);
        s.values[i].number = graph_find_value(s.g, name, strlen(name));
    }
    return s;
}

static void free_sample(sample *s) {
    hg_graph_release(s->g);
    hg_text_free(&s->text);
}

static graph_memory plan(const sample *s, bool shared) {
    graph_memory m;
    uint64_t *extents = malloc((size_t)(s->g->terms.count + 1) * sizeof *extents);
    graph_extent_values(s->g, NULL, extents);
    CHECK_OK(graph_plan_memory(s->g, extents, shared, &m));
    free(extents);
    return m;
}

/* ---- the best placement ---- */

typedef struct search {
    const sample *s;
    uint64_t offsets[MOST_VALUES];
    uint32_t order[MOST_VALUES];
    uint64_t best, least;
} search;

static bool live_together(const placed *a, const placed *b) {
    return a->made <= b->last && b->made <= a->last;
}

/* The lowest offset behind 0 or behind one that is placed, where nothing that lives at the same
 * time lies. */
static uint64_t lowest(const search *f, uint32_t placed_count, uint32_t value) {
    const placed *v = &f->s->values[value];
    uint64_t lowest = UINT64_MAX;
    for (uint32_t c = 0; c <= placed_count; c++) {
        uint64_t at = c ? f->offsets[f->order[c - 1]] + f->s->values[f->order[c - 1]].bytes : 0;
        bool free_here = at < lowest;
        for (uint32_t k = 0; k < placed_count && free_here; k++) {
            const placed *other = &f->s->values[f->order[k]];
            uint64_t start = f->offsets[f->order[k]];
            free_here = !live_together(v, other) || at + v->bytes <= start ||
                        start + other->bytes <= at;
        }
        if (free_here) lowest = at;
    }
    return lowest;
}

/* All orders; one that is not better already goes no further. */
static void try_orders(search *f, uint32_t placed_count, uint32_t taken, uint64_t bytes) {
    if (bytes >= f->best || f->best == f->least) return;
    if (placed_count == f->s->count) {
        f->best = bytes;
        return;
    }
    for (uint32_t i = 0; i < f->s->count; i++) {
        if (taken >> i & 1) continue;
        uint64_t at = lowest(f, placed_count, i), end = at + f->s->values[i].bytes;
        f->offsets[i] = at;
        f->order[placed_count] = i;
        try_orders(f, placed_count + 1, taken | 1u << i, end > bytes ? end : bytes);
    }
}

/* The largest sum of values that live at one call. */
static uint64_t least_of(const sample *s) {
    uint64_t least = 0;
    for (uint32_t call = 0; call < s->calls; call++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < s->count; i++)
            if (s->values[i].made <= call && call <= s->values[i].last) sum += s->values[i].bytes;
        if (sum > least) least = sum;
    }
    return least;
}

static uint64_t best_of(const sample *s) {
    search f = {.s = s, .best = UINT64_MAX, .least = least_of(s)};
    try_orders(&f, 0, 0, 0);
    return f.best;
}

/* ---- checks ---- */

static bool overlap(const sample *s, const graph_memory *m, uint32_t i, uint32_t k) {
    uint64_t a = m->offsets[s->values[i].number], b = m->offsets[s->values[k].number];
    return a < b + s->values[k].bytes && b < a + s->values[i].bytes;
}

/* Those that live at the same time lie apart; with `shared` false all do. */
static void check_apart(const sample *s, const graph_memory *m, bool shared) {
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t at = m->offsets[s->values[i].number];
        CHECK_MESSAGE(at % 256 == 0 && at + s->values[i].bytes <= m->bytes,
                      "y%u at %" PRIu64 " of %" PRIu64 "\n%s", (unsigned)i, at, m->bytes,
                      s->text.data);
        for (uint32_t k = 0; k < i; k++)
            CHECK_MESSAGE(!overlap(s, m, i, k) ||
                              (shared && !live_together(&s->values[i], &s->values[k])),
                          "y%u and y%u overlap, shared %d, in\n%s", (unsigned)k, (unsigned)i,
                          shared, s->text.data);
    }
}

static bool test_sample(uint32_t sizes) {
    sample s = make_sample(sizes);
    uint64_t best = best_of(&s), sum = 0;
    for (uint32_t i = 0; i < s.count; i++) sum += s.values[i].bytes;
    graph_memory m = plan(&s, true);
    CHECK_MESSAGE(m.least == least_of(&s), "least: %" PRIu64 ", expected %" PRIu64 " in\n%s",
                  m.least, least_of(&s), s.text.data);
    CHECK_MESSAGE(m.bytes >= m.least && m.bytes >= best,
                  "%" PRIu64 " bytes, the best is %" PRIu64 " in\n%s", m.bytes, best, s.text.data);
    check_apart(&s, &m, true);
    bool equal = m.bytes == best;
    graph_memory_free(&m);
    m = plan(&s, false);
    CHECK_U64(m.bytes, sum);
    check_apart(&s, &m, false);
    graph_memory_free(&m);
    free_sample(&s);
    return equal;
}

/* Where results take over memory of operands, values of one owner follow each other: the last call
 * that reads one makes the next. */
static uint32_t test_taken(void) {
    sample s = make_sample(2);
    CHECK_OK(graph_take_memory(s.g));
    graph_memory m = plan(&s, true);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < s.count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const placed *a = &s.values[k], *b = &s.values[i];
            if (!overlap(&s, &m, i, k)) continue;
            bool follows = m.owners[a->number] == m.owners[b->number] && a->last <= b->made;
            taken += follows;
            CHECK_MESSAGE(follows || !live_together(a, b), "y%u and y%u overlap in\n%s",
                          (unsigned)k, (unsigned)i, s.text.data);
        }
    graph_memory_free(&m);
    free_sample(&s);
    return taken;
}

int main(void) {
    uint32_t equal = 0, taken = 0;
    for (uint32_t i = 0; i < GRAPHS; i++) equal += test_sample(i % 2 ? 2000 : 400);
    CHECK_MESSAGE(equal * 100 >= GRAPHS * 95, "as good as the best in %u of %d graphs",
                  (unsigned)equal, (int)GRAPHS);
    for (uint32_t i = 0; i < GRAPHS; i++) taken += test_taken();
    CHECK_MESSAGE(taken > GRAPHS / 10, "%u values take over memory", (unsigned)taken);
    if (test_failed == 0)
        fprintf(stderr, "as good as the best in %u of %d graphs; %u values take over memory\n",
                (unsigned)equal, (int)GRAPHS, (unsigned)taken);
    return test_done();
}
