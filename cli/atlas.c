/* hologram atlas: the algebra of the 96 classes as answers to questions. Must not know: programs,
 * devices. */
#include "atlas.h"
#include "atlas/atlas.h"
#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

static void add_list(hg_json *json, const char *key, const uint8_t *items, uint32_t count) {
    hg_json_key(json, key);
    hg_json_begin_array(json);
    for (uint32_t i = 0; i < count; i++) hg_json_u64(json, items[i]);
    hg_json_end_array(json);
}

/* ---- text ---- */

static void put_list(cli *c, const char *format, const uint8_t *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char text[16];
        snprintf(text, sizeof text, format, items[i]);
        cli_out(c, "%s%s", i ? " " : "", text);
    }
}

/* ---- class ---- */

/* "0x2A" or "42": a byte; "c21": a class. */
static bool read_class(cli *c, const char *text, uint8_t *cls) {
    uint64_t n = 0;
    bool is_class = text[0] == 'c';
    if (atlas_read_number(text + is_class, is_class ? HG_CLASS_COUNT - 1 : 255, &n) &&
        !(is_class && text[1] == '0' && text[2] == 'x')) {
        *cls = is_class ? (uint8_t)n : hg_class_of_byte((uint8_t)n);
        return true;
    }
    cli_usage(c, "class expects a byte, 0 to 255 or 0x00 to 0xFF, or a class, c0 to c95; got '%s'",
              text);
    return false;
}

typedef struct class_facts {
    hg_class_parts parts;
    hg_class_label label;
    uint8_t bytes[4], neighbours[HG_CLASS_NEIGHBOURS], orbit;
    uint32_t byte_count, degree;
    uint64_t inverse; /* modulo 96; 0: no unit */
} class_facts;

static class_facts facts_of(uint8_t cls) {
    class_facts f = {.parts = hg_class_split(cls), .label = hg_class_get_label(cls)};
    f.byte_count = hg_class_bytes(cls, f.bytes);
    f.degree = hg_class_neighbours(cls, f.neighbours);
    if (hg_orbit_classify(cls, HG_CLASS_COUNT, &f.orbit) != HG_OK) f.orbit = 0;
    if (!hg_class_is_unit(cls) || hg_mult_inverse(cls, HG_CLASS_COUNT, &f.inverse) != HG_OK)
        f.inverse = 0;
    return f;
}

static void class_json(cli *c, uint8_t cls) {
    class_facts f = facts_of(cls);
    hg_json json;
    cli_json_item(c, &json);
    hg_json_add_i64(&json, "class", cls);
    hg_json_add_i64(&json, "scope", f.parts.scope);
    hg_json_add_i64(&json, "modality", f.parts.modality);
    hg_json_add_i64(&json, "context", f.parts.context);
    hg_json_key(&json, "label");
    hg_json_begin_object(&json);
    hg_json_add_i64(&json, "e1", f.label.e1);
    hg_json_add_i64(&json, "e2", f.label.e2);
    hg_json_add_i64(&json, "e3", f.label.e3);
    hg_json_add_i64(&json, "d45", f.label.d45);
    hg_json_add_i64(&json, "e6", f.label.e6);
    hg_json_add_i64(&json, "e7", f.label.e7);
    hg_json_end_object(&json);
    hg_json_add_i64(&json, "byte", f.bytes[0]);
    add_list(&json, "bytes", f.bytes, f.byte_count);
    hg_json_add_i64(&json, "vertex", hg_class_to_vertex(cls));
    hg_json_add_i64(&json, "mirror", hg_class_mirror(cls));
    hg_json_add_i64(&json, "circuit_mirror",
                    hg_transform_apply((hg_transform){.mirror = true}, cls));
    hg_json_add_i64(&json, "degree", f.degree);
    add_list(&json, "neighbours", f.neighbours, f.degree);
    hg_json_add_i64(&json, "orbit", f.orbit);
    hg_json_add_bool(&json, "unity", hg_class_is_unity(cls));
    hg_json_add_bool(&json, "unit", f.inverse != 0);
    hg_json_key(&json, "inverse");
    if (f.inverse)
        hg_json_u64(&json, f.inverse);
    else
        hg_json_null(&json);
    hg_json_end_object(&json);
}

static void class_text(cli *c, uint8_t cls) {
    class_facts f = facts_of(cls);
    cli_out(c, "class %d%s\n", cls, hg_class_is_unity(cls) ? " (unity)" : "");
    cli_out(c, "  coordinates  scope %d, modality %d, context %d\n", f.parts.scope,
            f.parts.modality, f.parts.context);
    cli_out(c, "  label        e1=%d e2=%d e3=%d d45=%d e6=%d e7=%d\n", f.label.e1, f.label.e2,
            f.label.e3, f.label.d45, f.label.e6, f.label.e7);
    cli_out(c, "  bytes        ");
    put_list(c, "%02X", f.bytes, f.byte_count);
    cli_out(c, ", canonical %02X\n", f.bytes[0]);
    cli_out(c, "  mirror       %d\n", hg_class_mirror(cls));
    cli_out(c, "  neighbours   ");
    put_list(c, "%d", f.neighbours, f.degree);
    cli_out(c, "\n  orbit        %d\n", f.orbit);
    if (f.inverse)
        cli_out(c, "  unit         inverse %llu modulo 96\n", (unsigned long long)f.inverse);
    else
        cli_out(c, "  unit         no\n");
}

static void answer_class(cli *c) {
    uint8_t cls = 0;
    for (uint64_t i = 1; i < c->arguments.count; i++) /* all or nothing */
        if (!read_class(c, c->arguments.data[i], &cls)) return;
    for (uint64_t i = 1; i < c->arguments.count && read_class(c, c->arguments.data[i], &cls); i++)
        if (c->json)
            class_json(c, cls);
        else
            class_text(c, cls);
}

/* ---- table ---- */

static void answer_table(cli *c) {
    if (!c->json) cli_out(c, "class  h2 d l  byte  mirror   ~  orbit  inverse  neighbours\n");
    for (uint8_t cls = 0; cls < HG_CLASS_COUNT; cls++) {
        if (c->json) {
            class_json(c, cls);
            continue;
        }
        class_facts f = facts_of(cls);
        char inverse[8] = "-";
        if (f.inverse) snprintf(inverse, sizeof inverse, "%u", (unsigned)f.inverse);
        cli_out(c, "%5d   %d %d %d    %02X  %6d  %2d  %5d  %7s  ", cls, f.parts.scope,
                f.parts.modality, f.parts.context, f.bytes[0], hg_class_mirror(cls),
                hg_transform_apply((hg_transform){.mirror = true}, cls), f.orbit, inverse);
        put_list(c, "%d", f.neighbours, f.degree);
        cli_out(c, "\n");
    }
}

/* ---- graph ---- */

static void graph_dot(cli *c) {
    cli_out(c, "graph atlas {\n  node [shape=circle];\n");
    for (uint8_t a = 0; a < HG_CLASS_COUNT; a++) {
        uint8_t next[HG_CLASS_NEIGHBOURS];
        uint32_t degree = hg_class_neighbours(a, next);
        for (uint32_t k = 0; k < degree; k++)
            if (next[k] > a) cli_out(c, "  %d -- %d;\n", a, next[k]);
    }
    cli_out(c, "}\n");
}

static void answer_graph(cli *c) {
    for (uint8_t a = 0; a < HG_CLASS_COUNT; a++) {
        uint8_t next[HG_CLASS_NEIGHBOURS];
        uint32_t degree = hg_class_neighbours(a, next);
        if (c->json) {
            hg_json json;
            cli_json_item(c, &json);
            hg_json_add_i64(&json, "class", a);
            hg_json_add_i64(&json, "degree", degree);
            add_list(&json, "neighbours", next, degree);
            hg_json_end_object(&json);
        } else {
            cli_out(c, "%2d: ", a);
            put_list(c, "%d", next, degree);
            cli_out(c, "\n");
        }
    }
}

/* ---- orbit, torus, invert ---- */

/* Without SIZE the smallest torus that holds the coordinate. */
static void answer_orbit(cli *c) {
    uint64_t coordinate, size = 0;
    uint8_t orbit;
    uint32_t first;
    if (!atlas_number(c, 1, "a coordinate", 0, UINT64_MAX, &coordinate)) return;
    for (int i = 0; i < HG_TORUS_SIZES && size <= coordinate; i++) size = hg_torus_sizes[i];
    if (c->arguments.count > 2 && !atlas_number(c, 2, "the size of a torus", 0, UINT64_MAX, &size))
        return;
    if (hg_orbit_classify(coordinate, size, &orbit) != HG_OK ||
        hg_orbit_representative(orbit, size, &first) != HG_OK) {
        atlas_refuse(c);
        return;
    }
    const uint8_t classes[] = {(uint8_t)first, (uint8_t)(first + 8), (uint8_t)(first + 16)};
    if (c->json) {
        hg_json json;
        cli_json_item(c, &json);
        hg_json_key(&json, "coordinate");
        hg_json_u64(&json, coordinate);
        hg_json_add_i64(&json, "torus_size", (int64_t)size);
        hg_json_add_i64(&json, "orbit", orbit);
        hg_json_add_i64(&json, "representative", first);
        add_list(&json, "residues", classes, 3);
        hg_json_add_i64(&json, "coordinates", (int64_t)(size / HG_ORBIT_COUNT));
        hg_json_end_object(&json);
        return;
    }
    cli_out(c, "orbit %d\n  torus           %llu coordinates, %llu an orbit%s\n", orbit,
            (unsigned long long)size, (unsigned long long)(size / HG_ORBIT_COUNT),
            coordinate < size ? "" : "; the coordinate is outside, which means orbit 0");
    cli_out(c, "  representative  %u\n  residues        ", (unsigned)first);
    put_list(c, "%d", classes, 3);
    cli_out(c, " modulo 96\n");
}

static void torus_row(cli *c, hg_type type) {
    hg_torus t = hg_torus_of(type);
    if (!c->json) {
        cli_out(c, "%-6s  %8u  %7u  %9u  %11llu  %9u\n", hg_type_name(type), (unsigned)t.page_mod,
                (unsigned)t.res_mod, (unsigned)t.elements, (unsigned long long)t.total,
                (unsigned)t.units);
        return;
    }
    hg_json json;
    cli_json_item(c, &json);
    hg_json_key(&json, "type");
    hg_json_text(&json, hg_type_name(type));
    hg_json_add_i64(&json, "page_mod", t.page_mod);
    hg_json_add_i64(&json, "res_mod", t.res_mod);
    hg_json_add_i64(&json, "elements", t.elements);
    hg_json_add_i64(&json, "total", (int64_t)t.total);
    hg_json_add_i64(&json, "units", t.units);
    hg_json_end_object(&json);
}

static void answer_torus(cli *c) {
    hg_type type = HG_TYPE_COUNT;
    if (c->arguments.count > 1) {
        const char *name = c->arguments.data[1];
        if (!hg_type_from_name(name, strlen(name), &type)) {
            cli_usage(c, "torus expects a type such as f32, got '%s'", name);
            return;
        }
    }
    if (!c->json) cli_out(c, "type    page_mod  res_mod   elements  96·elements      units\n");
    for (int t = 0; t < HG_TYPE_COUNT; t++)
        if (type == HG_TYPE_COUNT || (hg_type)t == type) torus_row(c, (hg_type)t);
}

static void answer_invert(cli *c) {
    uint64_t unit, modulus, inverse;
    if (!atlas_number(c, 1, "a unit", 0, UINT64_MAX, &unit) ||
        !atlas_number(c, 2, "a modulus", 0, UINT64_MAX, &modulus))
        return;
    if (hg_mult_inverse(unit, modulus, &inverse) != HG_OK) {
        atlas_refuse(c);
        return;
    }
    if (!c->json) {
        cli_out(c, "%llu\n", (unsigned long long)inverse);
        return;
    }
    hg_json json;
    cli_json_item(c, &json);
    hg_json_key(&json, "unit");
    hg_json_u64(&json, unit);
    hg_json_key(&json, "modulus");
    hg_json_u64(&json, modulus);
    hg_json_key(&json, "inverse");
    hg_json_u64(&json, inverse);
    hg_json_end_object(&json);
}

/* ---- the command ---- */

static const struct {
    const char *name, *arguments;
    unsigned least, most; /* arguments after the name */
    void (*answer)(cli *);
    void (*draw)(hg_text *); /* --svg */
    void (*dot)(cli *);      /* --dot */
} QUESTIONS[] = {
    {"class", "BYTE|cNN …", 1, UINT32_MAX, answer_class, NULL, NULL},
    {"table", "[--svg FILE]", 0, 0, answer_table, atlas_draw_table, NULL},
    {"graph", "[--dot] [--svg FILE]", 0, 0, answer_graph, atlas_draw_graph, graph_dot},
    {"orbit", "COORDINATE [SIZE]", 1, 2, answer_orbit, NULL, NULL},
    {"torus", "[TYPE]", 0, 1, answer_torus, NULL, NULL},
    {"invert", "UNIT MODULUS", 2, 2, answer_invert, NULL, NULL},
    {"character", "N [CLASS]", 1, 2, atlas_answer_character, NULL, NULL},
};

static void usage(cli *c, const char *problem) {
    hg_text list = {0};
    for (size_t i = 0; i < HG_COUNT_OF(QUESTIONS); i++)
        hg_text_addf(&list, "%s%s %s", i ? " | " : "", QUESTIONS[i].name, QUESTIONS[i].arguments);
    cli_usage(c, "%s; usage: hologram atlas %s", problem, list.data ? list.data : "");
    hg_text_free(&list);
}

/* To FILE, or to standard output for "-". */
static void draw(cli *c, void (*picture)(hg_text *), const char *path) {
    hg_text svg = {0};
    picture(&svg);
    if (svg.failed) {
        (void)hg_fail_memory();
        cli_last_error(c);
    } else {
        cli_write(c, path, svg.data, svg.length);
        if (c->json && c->status == CLI_OK) {
            hg_json json;
            cli_json_item(c, &json);
            hg_json_key(&json, "file");
            hg_json_text(&json, path);
            hg_json_end_object(&json);
        }
    }
    hg_text_free(&svg);
}

int command_atlas(int argc, char **argv) {
    cli c = {0};
    const char *svg = NULL;
    bool dot = false;
    const cli_option options[] = {{"--svg", &svg, NULL}, {"--dot", NULL, &dot}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    size_t i = 0;
    char problem[128];
    if (c.arguments.count == 0) {
        usage(&c, "expects a question");
        return cli_finish(&c);
    }
    while (i < HG_COUNT_OF(QUESTIONS) && strcmp(QUESTIONS[i].name, c.arguments.data[0]) != 0) i++;
    snprintf(problem, sizeof problem, "unknown question '%.40s'", c.arguments.data[0]);
    if (i == HG_COUNT_OF(QUESTIONS))
        usage(&c, problem);
    else if (c.arguments.count - 1 < QUESTIONS[i].least ||
             c.arguments.count - 1 > QUESTIONS[i].most)
        cli_usage(&c, "expects: hologram atlas %s %s", QUESTIONS[i].name, QUESTIONS[i].arguments);
    else if (svg && !QUESTIONS[i].draw)
        cli_usage(&c, "%s takes no --svg", QUESTIONS[i].name);
    else if (dot && !QUESTIONS[i].dot)
        cli_usage(&c, "%s takes no --dot", QUESTIONS[i].name);
    else if (dot && (svg || c.json))
        cli_usage(&c, "--dot goes alone, without --svg and --json");
    else if (svg && c.json && strcmp(svg, "-") == 0)
        cli_usage(&c, "--json needs --svg FILE");
    else if (svg)
        draw(&c, QUESTIONS[i].draw, svg);
    else if (dot)
        QUESTIONS[i].dot(&c);
    else
        QUESTIONS[i].answer(&c);
    return cli_finish(&c);
}
