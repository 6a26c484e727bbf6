/* The text that a graph was read from, as a module for a driver: in front of its functions an @main
 * that takes the zero of a driver's modules and the graph's inputs, in the types that these have
 * (i1 as ui8, a complex number as two along one more axis), and gives its outputs so.
 * Must not know: devices, calls. */
#include "hlo/lower.h"
#include "graph/graph.h"
#include <string.h>

typedef struct source {
    hg_text *out;
    uint32_t next; /* number of a name */
} source;

/* The types of a tensor in the graph, and of its parts: a complex one's re and im, and these with
 * one more axis of 1. */
static mlir_type shown(const mlir_type *type) {
    mlir_type t = *type;
    if (t.complex) t.dims[t.rank++] = 2;
    t.truth = t.complex = false;
    return t;
}
static mlir_type part(const mlir_type *type, bool wide) {
    mlir_type t = *type;
    t.complex = false;
    if (wide) t.dims[t.rank++] = 1;
    return t;
}

static void put_type(source *s, const mlir_type *type) {
    char text[240];
    hg_text_addf(s->out, "%s", mlir_type_text(type, text));
}

/* "%N = stablehlo.OP %A : (FROM) -> TO" */
static uint32_t put(source *s, const char *op, uint32_t a, const mlir_type *from,
                    const mlir_type *to) {
    hg_text_addf(s->out, "    %%s%u = stablehlo.%s %%s%u : (", (unsigned)s->next, op, (unsigned)a);
    put_type(s, from);
    hg_text_addf(s->out, ") -> ");
    put_type(s, to);
    hg_text_addf(s->out, "\n");
    return s->next++;
}

static uint32_t take_truth(source *s, uint32_t a, const mlir_type *type) {
    mlir_type from = shown(type);
    uint32_t zero = s->next++, name = s->next++;
    hg_text_addf(s->out, "    %%s%u = stablehlo.constant dense<0> : ", (unsigned)zero);
    put_type(s, &from);
    hg_text_addf(s->out, "\n    %%s%u = stablehlo.compare NE, %%s%u, %%s%u : (", (unsigned)name,
                 (unsigned)a, (unsigned)zero);
    put_type(s, &from);
    hg_text_addf(s->out, ", ");
    put_type(s, &from);
    hg_text_addf(s->out, ") -> ");
    put_type(s, type);
    hg_text_addf(s->out, "\n");
    return name;
}

static uint32_t take_complex(source *s, uint32_t a, const mlir_type *type) {
    mlir_type from = shown(type), wide = part(type, true), narrow = part(type, false);
    uint32_t parts[2];
    for (unsigned i = 0; i < 2; i++) {
        hg_text_addf(s->out, "    %%s%u = stablehlo.slice %%s%u [", (unsigned)s->next, (unsigned)a);
        for (uint32_t d = 0; d < type->rank; d++)
            hg_text_addf(s->out, "0:%llu, ", (unsigned long long)type->dims[d]);
        hg_text_addf(s->out, "%u:%u] : (", i, i + 1);
        put_type(s, &from);
        hg_text_addf(s->out, ") -> ");
        put_type(s, &wide);
        hg_text_addf(s->out, "\n");
        parts[i] = put(s, "reshape", s->next++, &wide, &narrow);
    }
    hg_text_addf(s->out, "    %%s%u = stablehlo.complex %%s%u, %%s%u : ", (unsigned)s->next,
                 (unsigned)parts[0], (unsigned)parts[1]);
    put_type(s, type);
    hg_text_addf(s->out, "\n");
    return s->next++;
}

static uint32_t give_complex(source *s, uint32_t a, const mlir_type *type) {
    mlir_type to = shown(type), wide = part(type, true), narrow = part(type, false);
    uint32_t parts[2];
    for (int i = 0; i < 2; i++)
        parts[i] = put(s, "reshape", put(s, i ? "imag" : "real", a, type, &narrow), &narrow, &wide);
    hg_text_addf(s->out, "    %%s%u = stablehlo.concatenate %%s%u, %%s%u, dim = %u : (",
                 (unsigned)s->next, (unsigned)parts[0], (unsigned)parts[1], (unsigned)type->rank);
    put_type(s, &wide);
    hg_text_addf(s->out, ", ");
    put_type(s, &wide);
    hg_text_addf(s->out, ") -> ");
    put_type(s, &to);
    hg_text_addf(s->out, "\n");
    return s->next++;
}

static uint32_t give_truth(source *s, uint32_t a, const mlir_type *type) {
    mlir_type to = shown(type);
    return put(s, "convert", a, type, &to);
}

static void put_types(source *s, const mlir_type *const *types, uint32_t count, bool in_graph) {
    for (uint32_t i = 0; i < count; i++) {
        mlir_type t = in_graph ? shown(types[i]) : *types[i];
        hg_text_addf(s->out, i ? ", " : "");
        put_type(s, &t);
    }
}

/* name: what the text's function is called. types: of its arguments, then of its results. */
static void put_main(source *s, const char *name, const mlir_type *const *types, uint32_t args,
                     uint32_t results, uint32_t *names) {
    hg_text_addf(s->out, "func.func public @main(%%zero: tensor<1xui64>");
    s->next = args;
    for (uint32_t i = 0; i < args; i++) {
        mlir_type t = shown(types[i]);
        hg_text_addf(s->out, ", %%s%u: ", (unsigned)i);
        put_type(s, &t);
    }
    hg_text_addf(s->out, ") -> (");
    put_types(s, types + args, results, true);
    hg_text_addf(s->out, ") {\n");
    for (uint32_t i = 0; i < args; i++)
        names[i] = types[i]->complex ? take_complex(s, i, types[i])
                   : types[i]->truth ? take_truth(s, i, types[i])
                                     : i;
    uint32_t first = s->next;
    s->next += results;
    for (uint32_t i = 0; i < results; i++)
        hg_text_addf(s->out, "%s%%s%u", i ? ", " : "    ", (unsigned)(first + i));
    hg_text_addf(s->out, " = func.call @%s(", name);
    for (uint32_t i = 0; i < args; i++)
        hg_text_addf(s->out, "%s%%s%u", i ? ", " : "", (unsigned)names[i]);
    hg_text_addf(s->out, ") : (");
    put_types(s, types, args, false);
    hg_text_addf(s->out, ") -> (");
    put_types(s, types + args, results, false);
    hg_text_addf(s->out, ")\n");
    for (uint32_t i = 0; i < results; i++) {
        const mlir_type *t = types[args + i];
        names[i] = t->complex ? give_complex(s, first + i, t)
                   : t->truth ? give_truth(s, first + i, t)
                              : first + i;
    }
    hg_text_addf(s->out, "    return");
    for (uint32_t i = 0; i < results; i++)
        hg_text_addf(s->out, "%s%%s%u", i ? ", " : " ", (unsigned)names[i]);
    hg_text_addf(s->out, " : ");
    put_types(s, types + args, results, true);
    hg_text_addf(s->out, "\n  }\n  ");
}

static bool is_taken(const mlir_module *m, const char *name) {
    for (const mlir_function *f = m->functions; f; f = f->next)
        if (mlir_is(&f->name, name)) return true;
    return false;
}

hg_status mlir_keep_source(const mlir_module *m, const mlir_function *f, hg_graph *g) {
    enum { MOST = 1 << 26 };
    uint32_t args = f->body.arg_count, results = f->result_count, ends = 0;
    const char *start = m->functions->start, *end = f->name.text + f->name.length;
    char name[64] = "main_of_text";
    bool is_main = mlir_is(&f->name, "main");
    for (; is_taken(m, name) && ends < 40; ends++) strcat(name, "_");
    if (m->length > MOST || !results || ends == 40 || (!is_main && f->name.length >= sizeof name))
        return HG_OK;
    if (!is_main) {
        memcpy(name, f->name.text, f->name.length);
        name[f->name.length] = 0;
    }
    const mlir_type **types = hg_calloc((size_t)args + results + 1, sizeof *types);
    uint32_t *names = hg_calloc((size_t)args + results + 1, sizeof *names);
    hg_text out = {0};
    source s = {.out = &out};
    if (types && names) {
        for (uint32_t i = 0; i < args; i++) types[i] = &m->values.data[f->body.args[i]].type;
        for (uint32_t i = 0; i < results; i++) types[args + i] = &f->types[i];
        hg_text_add(&out, m->text, (size_t)(start - m->text));
        put_main(&s, name, types, args, results, names);
        hg_text_add(&out, start, (size_t)(end - start));
        if (is_main) hg_text_addf(&out, "%s", name + strlen("main"));
        hg_text_add(&out, end, (size_t)(m->text + m->length - end));
        g->source.text = hg_arena_text(&g->arena, out.data ? out.data : "", (size_t)out.length);
        g->source.length = out.length;
        graph_mark_source(g);
    }
    bool good = types && names && !out.failed && g->source.text;
    hg_text_free(&out);
    hg_free((void *)types);
    hg_free(names);
    return good ? HG_OK : hg_fail_memory();
}
