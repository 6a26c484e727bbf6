/* The drawing of `hologram explain --svg`: the calls of an array graph in order, what flows between
 * them, launches, and the workspace over the calls. Whole numbers only, so that a drawing is the
 * same text on every machine. */
#include "graph.h"
#include <stdio.h>
#include <string.h>

enum {
    TOP = 96,
    ROW = 52,
    BOX_H = 42,
    BOX_X = 190,
    BOX_W = 470,
    MEMORY_X = 720,
    MEMORY_W = 380,
    WIDTH = 1140,
    MOST_TEXT = 62
};
static const char INK[] = "#1d2733", PALE[] = "#55606e", STRONG[] = "#c0392b";
static const char *const TINTS[] = {"#b9d6f4", "#bce3c1", "#f9d9a6",
                                    "#eabbd6", "#d6cdf2", "#c6e7ea"};

typedef struct drawing {
    hg_text *out;
    const hg_graph *g;
    const graph_regions *regions;
    const uint64_t *extents;
    const graph_memory *memory;
} drawing;

static int row_of(uint64_t call) { return TOP + ROW * (int)call; }

static void add_text(hg_text *out, int x, int y, int size, const char *fill, const char *text) {
    size_t length = strlen(text);
    hg_text_addf(out, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" fill=\"%s\">%.*s%s</text>\n", x, y,
                 size, fill, (int)(length > MOST_TEXT ? MOST_TEXT : length), text,
                 length > MOST_TEXT ? "…" : "");
}

static void add_name(hg_text *out, const hg_graph *g, uint32_t value) {
    if (g->values.data[value].name)
        hg_text_addf(out, "%s", g->values.data[value].name);
    else
        hg_text_addf(out, "v%u", (unsigned)value);
}

/* The call that makes what a value lies in; GRAPH_NOT_SET: none does. */
static uint32_t maker_of(const hg_graph *g, uint32_t value) {
    const graph_value *v = &g->values.data[graph_base(g, value)];
    return v->source == GRAPH_RESULT ? v->call : GRAPH_NOT_SET;
}

/* ---- calls ---- */

static void draw_results(const drawing *d, uint64_t number) {
    const hg_graph *g = d->g;
    const graph_call *call = &g->calls.data[number];
    hg_text line = {0};
    for (uint32_t i = 0; i < call->result_count; i++) {
        uint32_t value = g->results.data[call->first_result + i].value;
        if (i) hg_text_addf(&line, ", ");
        add_name(&line, g, value);
        hg_text_addf(&line, " ");
        graph_print_shape(&line, g, &g->values.data[value]);
    }
    hg_text_addf(&line, " = %s",
                 call->program ? hg_program_name(call->program) : hg_op_get((hg_op)call->op)->text);
    if (line.data) add_text(d->out, BOX_X + 10, row_of(number) + 18, 14, INK, line.data);
    hg_text_free(&line);
}

static void draw_operands(const drawing *d, uint64_t number) {
    const hg_graph *g = d->g;
    const graph_call *call = &g->calls.data[number];
    hg_text line = {0};
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_operand *o = &g->operands.data[call->first_operand + i];
        if (o->kind != GRAPH_ARRAY) continue;
        hg_text_addf(&line, "%s", line.length ? ", " : "of ");
        add_name(&line, g, o->number);
    }
    if (line.data) add_text(d->out, BOX_X + 10, row_of(number) + 35, 12, PALE, line.data);
    hg_text_free(&line);
}

/* From the call that makes it: to the next call a line, to a later one an arc beside the boxes. */
static void draw_flow(const drawing *d, uint32_t from, uint64_t to) {
    int y = row_of(from) + BOX_H, end = row_of(to), far = (int)(to - from),
        depth = far > 12 ? 168 : 24 + 12 * far;
    if (far == 1)
        hg_text_addf(d->out, "<path d=\"M%d %d V%d\" stroke=\"%s\" fill=\"none\"/>\n", BOX_X + 40,
                     y, end, PALE);
    else
        hg_text_addf(d->out,
                     "<path d=\"M%d %d C%d %d %d %d %d %d\" stroke=\"%s\" fill=\"none\"/>\n", BOX_X,
                     y - BOX_H / 2, BOX_X - depth, y - BOX_H / 2, BOX_X - depth, end + BOX_H / 2,
                     BOX_X, end + BOX_H / 2, PALE);
}

static void draw_call(const drawing *d, uint64_t number, uint64_t region) {
    const graph_call *call = &d->g->calls.data[number];
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_operand *o = &d->g->operands.data[call->first_operand + i];
        uint32_t maker = o->kind == GRAPH_ARRAY ? maker_of(d->g, o->number) : GRAPH_NOT_SET;
        if (maker != GRAPH_NOT_SET && maker < number) draw_flow(d, maker, number);
    }
    hg_text_addf(d->out,
                 "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" fill=\"%s\" "
                 "stroke=\"#ffffff\"/>\n",
                 BOX_X, row_of(number), BOX_W, BOX_H, TINTS[region % HG_COUNT_OF(TINTS)]);
    draw_results(d, number);
    draw_operands(d, number);
}

static void draw_calls(const drawing *d) {
    for (uint64_t i = 0; i < d->regions->count; i++) {
        const graph_region *r = &d->regions->data[i];
        char text[32];
        snprintf(text, sizeof text, "launch %llu", (unsigned long long)i + 1);
        if (r->calls.count) add_text(d->out, 12, row_of(r->calls.data[0]) + 14, 12, STRONG, text);
        for (uint64_t k = 0; k < r->calls.count; k++) draw_call(d, r->calls.data[k], i);
    }
}

/* ---- memory ---- */

/* By value: the last call that reads its memory under its name or a view's. */
static uint32_t *last_uses(const hg_graph *g) {
    uint32_t *last = hg_calloc((size_t)g->values.count + 1, sizeof *last);
    for (uint32_t i = 0; last && i < g->values.count; i++) last[i] = g->values.data[i].call;
    for (uint32_t i = 0; last && i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            const graph_operand *o = &g->operands.data[g->calls.data[i].first_operand + k];
            if (o->kind == GRAPH_ARRAY) last[graph_base(g, o->number)] = i;
        }
    return last;
}

static int scaled(const drawing *d, uint64_t bytes) {
    return (int)((double)bytes / (double)(d->memory->bytes ? d->memory->bytes : 1) * MEMORY_W);
}

static void draw_value(const drawing *d, uint32_t value, uint32_t last) {
    const graph_value *v = &d->g->values.data[value];
    int x = MEMORY_X + scaled(d, d->memory->offsets[value]), y = row_of(v->call);
    int width = scaled(d, d->extents[v->elements] * graph_type_bytes(v)),
        height = row_of(last) + BOX_H - y;
    hg_text name = {0};
    if (width < 1) width = 1;
    hg_text_addf(
        d->out,
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"#ffffff\"><title>",
        x, y, width, height, TINTS[value % HG_COUNT_OF(TINTS)]);
    add_name(d->out, d->g, value);
    hg_text_addf(d->out, ": %llu bytes from %llu on</title></rect>\n",
                 (unsigned long long)(d->extents[v->elements] * graph_type_bytes(v)),
                 (unsigned long long)d->memory->offsets[value]);
    add_name(&name, d->g, value);
    if (name.data && (int)name.length * 8 < width)
        add_text(d->out, x + 4, y + 16, 12, INK, name.data);
    hg_text_free(&name);
}

static void draw_memory(const drawing *d) {
    const hg_graph *g = d->g;
    char text[120];
    uint32_t *last = last_uses(g);
    snprintf(text, sizeof text, "workspace: %llu bytes, least possible %llu",
             (unsigned long long)d->memory->bytes, (unsigned long long)d->memory->least);
    add_text(d->out, MEMORY_X, TOP - 16, 13, PALE, text);
    for (uint32_t i = 0; last && i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        bool live = v->source == GRAPH_RESULT && v->call < g->calls.count &&
                    graph_result_is(g, &g->calls.data[v->call], i);
        uint32_t owner = d->memory->owners[i];
        if (live && !graph_is_output(g, owner)) draw_value(d, i, last[i]);
    }
    if (d->memory->bytes)
        hg_text_addf(d->out,
                     "<path d=\"M%d %d h%d\" stroke=\"%s\" stroke-dasharray=\"4 3\"><title>most "
                     "memory</title></path>\n",
                     MEMORY_X, row_of(d->memory->peak) + BOX_H / 2, MEMORY_W, STRONG);
    if (!last) d->out->failed = true;
    hg_free(last);
}

void cli_draw_graph(hg_text *out, const hg_graph *g, const graph_regions *regions,
                    const uint64_t *extents, const graph_memory *memory) {
    const drawing d = {out, g, regions, extents, memory};
    int height = row_of(g->calls.count) + 20;
    hg_text_addf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                 "height=\"%d\" role=\"img\" "
                 "font-family=\"Helvetica, Arial, sans-serif\">\n<title>%s</title>\n<rect "
                 "width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                 WIDTH, height, WIDTH, height, g->name, WIDTH, height);
    hg_text_addf(out,
                 "<text x=\"12\" y=\"34\" font-size=\"20\" fill=\"%s\">%s: %llu calls, %llu "
                 "launches</text>\n",
                 INK, g->name, (unsigned long long)g->calls.count,
                 (unsigned long long)regions->count);
    add_text(out, BOX_X, TOP - 16, 13, PALE, "calls in order; a colour is a launch");
    draw_calls(&d);
    if (extents)
        draw_memory(&d);
    else
        add_text(out, MEMORY_X, TOP - 16, 13, PALE,
                 "memory follows from the extents that a run gives");
    hg_text_addf(out, "</svg>\n");
}
