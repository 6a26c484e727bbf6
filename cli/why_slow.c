/* hologram explain PROGRAM --why-slow: what a turn of native code pays for, by kind and by line.
 * Must not know: how it was found out. */
#include "native/native.h"
#include "source.h"
#include "why_slow.h"
#include <stdlib.h>

enum { MOST_LINES = 6, LEAST_PERCENT = 2, SHOWN = 48 };

typedef struct kind {
    const char *name, *what, *helps; /* helps: NULL, it is the work itself */
} kind;
static const kind KINDS[VEC_COST_COUNT] = {
    [VEC_COST_WORK] = {"work", "arithmetic of all lanes, rows of memory", NULL},
    [VEC_COST_SCALARS] = {"scalars",
                          "numbers that are one for all lanes: indices, counters, branches",
                          "more work a round; what does not change, in front of the loop"},
    [VEC_COST_GATHERS] = {"gathers", "elements that lanes reach one by one",
                          "neighbouring lanes on neighbouring elements, or a block on one element"},
    [VEC_COST_CHECKS] = {"checks", "bounds, numbers and time that every turn asks for",
                         "indices of global, places in blocks, counters of loops with known ends"},
    [VEC_COST_MASKS] = {"masks", "who takes part where lanes part",
                        "sel in place of a short branch; branches on what a block shares"},
    [VEC_COST_PRIVATE] = {"private", "private arrays",
                          "registers; an array as small as can be; indices that all lanes share"},
    [VEC_COST_KEPT] = {"kept", "values that a block keeps over a barrier",
                       "to calculate them again behind it from ids and parameters"},
    [VEC_COST_ATOMICS] = {"atomics", "atomic operations, lane by lane",
                          "a sum of the block first (breduce); results that nobody reads"},
    [VEC_COST_FUNCTIONS] = {"functions", "functions of the library: exp, log, sin, …",
                            "fewer of them; exp2 and log2 where a factor can stand in front"},
    [VEC_COST_SPILLS] = {"spills", "values that the registers do not hold",
                         "fewer values alive at that line; two kernels in place of one"},
    [VEC_COST_PROLOGUE] = {"prologue", "asked once for many turns, or once for each block",
                           "larger blocks; fewer different indices"}};

/* Of a turn: not of what is asked for many. */
static double sum_of(const vec_costs *costs) {
    double sum = 0;
    for (int i = 0; i < VEC_COST_COUNT; i++) sum += i == VEC_COST_PROLOGUE ? 0 : costs->steps[i];
    return sum;
}

/* ---- instructions of a kind, from the dearest on ---- */

typedef struct place {
    double steps;
    uint32_t inst, line;
} place;

static int by_steps(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->steps != y->steps) return x->steps < y->steps ? 1 : -1;
    return x->inst < y->inst ? -1 : 1;
}

static int by_line(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->inst < y->inst ? -1 : 1;
}

/* What the assembler made of one line is one place: that of the first. */
static uint32_t find_places(const hg_program *p, const hg_explained *list, uint32_t kernel,
                            int what, place *places) {
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        double steps = list[i].kernel == kernel ? list[i].costs.steps[what] : 0;
        if (steps > 0) places[count++] = (place){steps, i, p->lines ? p->lines[i] : i};
    }
    if (!count) return 0;
    qsort(places, count, sizeof *places, by_line);
    for (uint32_t i = 1; i < count; i++)
        if (places[i].line == places[kept].line)
            places[kept].steps += places[i].steps;
        else
            places[++kept] = places[i];
    qsort(places, (size_t)kept + 1, sizeof *places, by_steps);
    return kept + 1;
}

static void add_line(const cli *c, uint32_t inst, hg_text *out) {
    const hg_program *p = c->program;
    const char *source = NULL;
    size_t length = 0;
    uint32_t line = p->lines ? p->lines[inst] : 0;
    if (!cli_source_line(c, line, &source, &length)) {
        hg_print_instruction(out, p, inst);
        return;
    }
    while (length && (*source == ' ' || *source == '\t')) source++, length--;
    hg_text_add(out, source, cli_source_shown(source, length, SHOWN));
}

static void tell_places(cli *c, const place *places, uint32_t count, double whole) {
    uint32_t shown = 0;
    while (shown < count && shown < MOST_LINES && places[shown].steps * 100 >= whole) {
        hg_text line = {0};
        add_line(c, places[shown].inst, &line);
        cli_out(c, "              | %3.0f %%  line %u: %s\n", 100 * places[shown].steps / whole,
                (unsigned)places[shown].line, line.data ? line.data : "");
        hg_text_free(&line);
        shown++;
    }
    if (shown && count > shown)
        cli_out(c, "              |        and %u line%s more\n", (unsigned)(count - shown),
                count - shown == 1 ? "" : "s");
}

static void add_places(cli *c, const place *places, uint32_t count, hg_json *json) {
    const hg_program *p = c->program;
    hg_json_key(json, "lines");
    hg_json_begin_array(json);
    for (uint32_t i = 0; i < count; i++) {
        hg_text line = {0};
        add_line(c, places[i].inst, &line);
        hg_json_begin_object(json);
        hg_json_add_u64(json, "instruction", places[i].inst);
        if (p->lines) hg_json_add_u64(json, "line", p->lines[places[i].inst]);
        hg_json_add_text(json, "text", line.data ? line.data : "");
        hg_json_key(json, "steps"), hg_json_f64(json, places[i].steps);
        hg_json_end_object(json);
        hg_text_free(&line);
    }
    hg_json_end_array(json);
}

/* ---- kernels ---- */

static void tell_prologue(cli *c, const hg_explained_kernel *k) {
    double steps = k->costs.steps[VEC_COST_PROLOGUE];
    if (steps > 0)
        cli_out(c, "     + %7.0f | prologue: %s\n              | helps: %s\n", steps,
                KINDS[VEC_COST_PROLOGUE].what, KINDS[VEC_COST_PROLOGUE].helps);
}

static void tell_kind(cli *c, const hg_explained_kernel *k, uint32_t kernel, int what,
                      const place *places, uint32_t count) {
    double whole = sum_of(&k->costs), steps = k->costs.steps[what];
    if (c->json) {
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_u64(&json, "kernel", kernel);
        hg_json_add_text(&json, "level", k->level);
        hg_json_add_u64(&json, "lanes", k->lanes);
        hg_json_add_text(&json, "kind", KINDS[what].name);
        hg_json_key(&json, "steps"), hg_json_f64(&json, steps);
        hg_json_key(&json, "share"), hg_json_f64(&json, steps / whole);
        add_places(c, places, count, &json);
        hg_json_end_object(&json);
        return;
    }
    cli_out(c, "%4.0f %% %7.0f | %s: %s\n", 100 * steps / whole, steps, KINDS[what].name,
            KINDS[what].what);
    if (what != VEC_COST_SCALARS && what != VEC_COST_WORK) tell_places(c, places, count, whole);
    if (KINDS[what].helps) cli_out(c, "              | helps: %s\n", KINDS[what].helps);
}

/* From the dearest kind on; in the text those that are worth a look. */
static void tell_kinds(cli *c, const hg_explained *list, const hg_explained_kernel *k,
                       uint32_t kernel, place *places) {
    double whole = sum_of(&k->costs);
    place kinds[VEC_COST_COUNT];
    for (int i = 0; i < VEC_COST_COUNT; i++) kinds[i] = (place){k->costs.steps[i], (uint32_t)i, 0};
    qsort(kinds, VEC_COST_COUNT, sizeof *kinds, by_steps);
    for (int i = 0; i < VEC_COST_COUNT && kinds[i].steps > 0; i++) {
        int what = (int)kinds[i].inst;
        bool little = kinds[i].steps * 100 < whole * LEAST_PERCENT;
        if (!c->json && (little || what == VEC_COST_PROLOGUE)) continue;
        uint32_t count = find_places(c->program, list, kernel, what, places);
        tell_kind(c, k, kernel, what, places, count);
    }
    if (!c->json) tell_prologue(c, k);
}

static void no_native(cli *c, const hg_explained_kernel *k, uint32_t kernel) {
    if (!c->json) {
        cli_out(c, "no native code at %s, the tile interpreter runs it: %s\n", k->level, k->reason);
        return;
    }
    hg_json json;
    cli_json_item(c, &json);
    hg_json_add_u64(&json, "kernel", kernel);
    hg_json_add_text(&json, "level", k->level);
    hg_json_add_text(&json, "interpreted", k->reason);
    hg_json_end_object(&json);
}

static void tell_kernel(cli *c, const hg_explained *list, const hg_explained_kernel *k,
                        uint32_t kernel, uint32_t kernels, place *places) {
    double whole = sum_of(&k->costs);
    if (!c->json && kernels > 1) cli_out(c, "kernel %u: ", (unsigned)kernel);
    if (!k->native) {
        no_native(c, k, kernel);
        return;
    }
    if (!c->json)
        cli_out(c,
                "at %s a turn of %u lane%s takes about %.0f steps, %.1f a lane\n"
                "(a step is an instruction, or a lane of a gather; loops of unknown length count 8 "
                "rounds)\n"
                "share   steps\n",
                k->level, (unsigned)k->lanes, k->lanes == 1 ? "" : "s", whole, whole / k->lanes);
    if (whole > 0) tell_kinds(c, list, k, kernel, places);
}

void cli_why_slow(cli *c, const hg_explained *list, const hg_explained_kernel *kernels,
                  uint32_t count) {
    char reason[256];
    place *places = hg_calloc((size_t)c->program->inst_count + 1, sizeof *places);
    if (!places) {
        HG_IGNORE(hg_fail_memory());
        cli_last_error(c);
        return;
    }
    for (uint32_t i = 0; i < count; i++) tell_kernel(c, list, &kernels[i], i, count, places);
    if (!c->json && !native_by(reason))
        cli_out(c, "here it stays interpreted, there is no compiler: %s\n", reason);
    hg_free(places);
}
