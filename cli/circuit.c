/* hologram circuit: what the circuit language makes of a text. Must not know: how circuits run (run
 * does). */
#include "cli.h"
#include <stdio.h>
#include <string.h>

typedef struct question {
    cli c;
    hg_circuit_options options;
    hg_circuit *circuit;
} question;

static void put(cli *c, const char *text) {
    hg_text_add(&c->outputs, text, strlen(text));
    hg_text_add(&c->outputs, "\n", 1);
}

/* ---- answers ---- */

static void answer_parse(question *q) {
    cli *c = &q->c;
    char *text = NULL, *tree = NULL;
    size_t tree_length = 0;
    if (hg_circuit_print(q->circuit, &text, NULL) != HG_OK ||
        (c->json && hg_circuit_json(q->circuit, &tree, &tree_length) != HG_OK)) {
        cli_last_error(c);
    } else if (c->json) {
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_text(&json, "text", text);
        hg_json_add_u64(&json, "operations", hg_circuit_original_ops(q->circuit));
        hg_json_key(&json, "tree");
        hg_text_add(&c->outputs, tree, tree_length);
        hg_json_end_object(&json);
    } else {
        put(c, text);
    }
    hg_string_free(text);
    hg_string_free(tree);
}

static void add_statistics(hg_json *json, const hg_circuit *circuit) {
    hg_json_add_text(json, "original_expr", hg_circuit_original_expr(circuit));
    hg_json_add_text(json, "canonical_expr", hg_circuit_canonical_expr(circuit));
    hg_json_add_u64(json, "original_ops", hg_circuit_original_ops(circuit));
    hg_json_add_u64(json, "canonical_ops", hg_circuit_canonical_ops(circuit));
    hg_json_key(json, "reduction_pct");
    hg_json_f64(json, (double)hg_circuit_reduction_pct(circuit));
}

static void put_statistics(cli *c, const hg_circuit *circuit) {
    cli_out(c, "%llu operations to %llu, reduced by %.4g %%\n",
            (unsigned long long)hg_circuit_original_ops(circuit),
            (unsigned long long)hg_circuit_canonical_ops(circuit),
            (double)hg_circuit_reduction_pct(circuit));
}

static void answer_canonicalise(question *q) {
    cli *c = &q->c;
    if (c->json) {
        hg_json json;
        cli_json_item(c, &json);
        add_statistics(&json, q->circuit);
        hg_json_end_object(&json);
        return;
    }
    put(c, hg_circuit_canonical_expr(q->circuit));
    put_statistics(c, q->circuit);
}

static void answer_words(question *q) {
    cli *c = &q->c;
    char *words = NULL;
    size_t length = 0;
    if (hg_circuit_words(q->circuit, &words, &length) != HG_OK) {
        cli_last_error(c);
        return;
    }
    if (c->json) {
        hg_json json;
        cli_json_item(c, &json);
        hg_json_key(&json, "words");
        hg_json_begin_array(&json);
        for (const char *p = words, *end; (end = strchr(p, '\n')) != NULL; p = end + 1)
            hg_json_string(&json, p, (size_t)(end - p));
        hg_json_end_array(&json);
        hg_json_end_object(&json);
    } else {
        hg_text_add(&c->outputs, words, length);
    }
    hg_string_free(words);
}

static void answer_bytes(question *q) {
    cli *c = &q->c;
    hg_circuit_byte *bytes = NULL;
    size_t count = 0;
    if (hg_circuit_bytes(q->circuit, &bytes, &count) != HG_OK) {
        cli_last_error(c);
        return;
    }
    hg_json json = {0};
    if (c->json) {
        cli_json_item(c, &json);
        hg_json_key(&json, "bytes");
        hg_json_begin_array(&json);
    }
    for (size_t i = 0; i < count; i++) {
        const hg_circuit_byte *b = &bytes[i];
        if (!c->json) {
            cli_out(c, "0x%02X c%02u", b->byte, b->cls);
            if (b->page >= 0) cli_out(c, " page %d address %d", b->page, b->address);
            cli_out(c, "\n");
            continue;
        }
        hg_json_begin_object(&json);
        hg_json_add_u64(&json, "byte", b->byte);
        hg_json_add_u64(&json, "class", b->cls);
        if (b->page >= 0) {
            hg_json_add_u64(&json, "page", (uint64_t)b->page);
            hg_json_add_u64(&json, "address", (uint64_t)b->address);
        }
        hg_json_end_object(&json);
    }
    if (c->json) {
        hg_json_end_array(&json);
        hg_json_end_object(&json);
    }
    hg_string_free((char *)bytes);
}

/* ---- compile ---- */

typedef struct field {
    const char *name;
    uint8_t cls;
} field;

/* The classes of a call by their names. */
static uint32_t fields_of(const hg_circuit_call *k, field fields[3]) {
    switch (k->kind) {
    case HG_CIRCUIT_MARK:
    case HG_CIRCUIT_QUOTE:
    case HG_CIRCUIT_EVALUATE: fields[0] = (field){"class", k->src}; return 1;
    case HG_CIRCUIT_COPY:
        fields[0] = (field){"src_class", k->src}, fields[1] = (field){"dst_class", k->dst};
        return 2;
    case HG_CIRCUIT_SWAP:
        fields[0] = (field){"class_a", k->src}, fields[1] = (field){"class_b", k->dst};
        return 2;
    case HG_CIRCUIT_MERGE:
    case HG_CIRCUIT_SPLIT:
        fields[0] = (field){"src_class", k->src}, fields[1] = (field){"dst_class", k->dst},
        fields[2] = (field){"context_class", k->context};
        return 3;
    default:
        fields[0] = (field){"start_class", k->src}, fields[1] = (field){"end_class", k->dst};
        return 2; /* text has no reductions */
    }
}

static bool has_variant(const hg_circuit_call *k) {
    return k->kind == HG_CIRCUIT_MERGE || k->kind == HG_CIRCUIT_SPLIT ||
           k->kind == HG_CIRCUIT_MERGE_RANGE;
}

static void put_calls(question *q) {
    cli *c = &q->c;
    uint8_t use[HG_CIRCUIT_CLASSES];
    for (size_t i = 0; i < hg_circuit_call_count(q->circuit); i++) {
        const hg_circuit_call *k = hg_circuit_call_at(q->circuit, i);
        field fields[3];
        uint32_t n = fields_of(k, fields);
        cli_out(c, "%s", hg_circuit_kind_name(k->kind));
        for (uint32_t f = 0; f < n; f++) cli_out(c, " %s=c%02u", fields[f].name, fields[f].cls);
        if (has_variant(k)) cli_out(c, " variant=%s", hg_circuit_variant_name(k->variant));
        cli_out(c, "\n");
    }
    hg_circuit_class_use(q->circuit, use);
    static const struct {
        const char *title;
        uint8_t bit;
    } LISTS[] = {{"in", HG_CLASS_READ}, {"out", HG_CLASS_WRITTEN}};
    for (size_t i = 0; i < HG_COUNT_OF(LISTS); i++) {
        cli_out(c, "%s:", LISTS[i].title);
        for (uint32_t cls = 0; cls < HG_CIRCUIT_CLASSES; cls++)
            if (use[cls] & LISTS[i].bit) cli_out(c, " c%02u", cls);
        cli_out(c, "\n");
    }
    put_statistics(c, q->circuit);
}

static void add_calls(hg_json *json, const hg_circuit *circuit) {
    hg_json_key(json, "calls");
    hg_json_begin_array(json);
    for (size_t i = 0; i < hg_circuit_call_count(circuit); i++) {
        const hg_circuit_call *k = hg_circuit_call_at(circuit, i);
        field fields[3];
        uint32_t n = fields_of(k, fields);
        hg_json_begin_object(json);
        hg_json_add_text(json, "call", hg_circuit_kind_name(k->kind));
        for (uint32_t f = 0; f < n; f++) hg_json_add_u64(json, fields[f].name, fields[f].cls);
        if (has_variant(k)) hg_json_add_text(json, "variant", hg_circuit_variant_name(k->variant));
        hg_json_end_object(json);
    }
    hg_json_end_array(json);
}

static void add_classes(hg_json *json, const hg_circuit *circuit) {
    uint8_t use[HG_CIRCUIT_CLASSES];
    hg_circuit_class_use(circuit, use);
    hg_json_key(json, "classes");
    hg_json_begin_array(json);
    for (uint32_t cls = 0; cls < HG_CIRCUIT_CLASSES; cls++) {
        if (!use[cls]) continue;
        hg_json_begin_object(json);
        hg_json_add_u64(json, "class", cls);
        hg_json_key(json, "read");
        hg_json_bool(json, (use[cls] & HG_CLASS_READ) != 0);
        hg_json_key(json, "written");
        hg_json_bool(json, (use[cls] & HG_CLASS_WRITTEN) != 0);
        hg_json_end_object(json);
    }
    hg_json_end_array(json);
}

static void answer_compile(question *q) {
    if (!q->c.json) {
        put_calls(q);
        return;
    }
    hg_json json;
    cli_json_item(&q->c, &json);
    add_statistics(&json, q->circuit);
    add_calls(&json, q->circuit);
    add_classes(&json, q->circuit);
    hg_json_end_object(&json);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    void (*answer)(question *);
    bool compiles;
    hg_canonicalise rules; /* without --rules */
} QUESTIONS[] = {{"parse", answer_parse, false, HG_CANONICALISE_OFF},
                 {"canonicalise", answer_canonicalise, true, HG_CANONICALISE_SOUND},
                 {"words", answer_words, false, HG_CANONICALISE_OFF},
                 {"bytes", answer_bytes, false, HG_CANONICALISE_OFF},
                 {"compile", answer_compile, true, HG_CANONICALISE_OFF}};

static bool take_rules(cli *c, const char *text, hg_canonicalise *rules) {
    static const char *const NAMES[] = {"off", "sound", "gates"};
    if (!text) return true;
    for (size_t i = 0; i < HG_COUNT_OF(NAMES); i++)
        if (strcmp(text, NAMES[i]) == 0) {
            *rules = (hg_canonicalise)i;
            return true;
        }
    cli_usage(c, "--rules expects off, sound or gates, got '%s'", text);
    return false;
}

/* The text: of -e, or of the file. */
static bool read_text(cli *c, const char *expression) {
    if (c->arguments.count != (expression ? 1 : 2)) {
        cli_usage(c, "expects one FILE, - or -e EXPR");
        return false;
    }
    const char *path = expression ? NULL : c->arguments.data[1];
    c->file = expression ? "<expression>" : strcmp(path, "-") == 0 ? "<stdin>" : path;
    hg_status status;
    if (expression) {
        status = hg_bytes_alloc(strlen(expression), &c->source);
        if (status == HG_OK) memcpy(c->source.data, expression, strlen(expression));
    } else {
        status = hg_file_read(path, HG_MAX_SOURCE_BYTES, &c->source);
    }
    if (status != HG_OK) cli_last_error(c);
    return status == HG_OK;
}

int command_circuit(int argc, char **argv) {
    question q = {.options = {.size = sizeof(hg_circuit_options)}};
    cli *c = &q.c;
    const char *expression = NULL, *rules = NULL;
    bool variants = false;
    const char *type = NULL;
    const cli_option options[] = {{"-e", &expression, NULL},
                                  {"--rules", &rules, NULL},
                                  {"--variants", NULL, &variants},
                                  {"--type", &type, NULL}};
    if (!cli_parse(c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(c);
    size_t i = 0;
    while (c->arguments.count && i < HG_COUNT_OF(QUESTIONS) &&
           strcmp(QUESTIONS[i].name, c->arguments.data[0]) != 0)
        i++;
    if (!c->arguments.count || i == HG_COUNT_OF(QUESTIONS)) {
        cli_usage(c, "expects parse, canonicalise, words, bytes or compile");
        return cli_finish(c);
    }
    q.options.variants = variants;
    q.options.type = type;
    q.options.canonicalise = QUESTIONS[i].rules;
    if (rules && !QUESTIONS[i].compiles) {
        cli_usage(c, "%s takes no --rules", QUESTIONS[i].name);
    } else if (take_rules(c, rules, &q.options.canonicalise) && read_text(c, expression)) {
        const char *text = (const char *)c->source.data;
        size_t length = (size_t)c->source.length;
        hg_status status = QUESTIONS[i].compiles ? hg_circuit_compile(text, length, &q.options,
                                                                      c->diagnostics, &q.circuit)
                                                 : hg_circuit_parse(text, length, &q.options,
                                                                    c->diagnostics, &q.circuit);
        if (status == HG_OK) {
            QUESTIONS[i].answer(&q);
        } else {
            if (!hg_diagnostics_errors(c->diagnostics)) cli_last_error(c);
            if (c->status == CLI_OK) c->status = CLI_FAILED;
        }
    }
    hg_circuit_destroy(q.circuit);
    return cli_finish(c);
}
