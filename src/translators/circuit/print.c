/* Syntax trees and calls as canonical text and as JSON. Must not know: what operations do. */
#include "base/json.h"
#include "translators/circuit/circuit_internal.h"

/* ---- text ---- */

/* Amounts keep their sign: `R+1 D-1 T+3 ~`, with a mark before each amount in a postfix:
 * `^R+1^+3~`. */
static void print_shift(hg_text *out, circuit_shift s, bool postfix) {
    const struct {
        const char *prefix, *postfix;
        int amount;
    } parts[] = {{"R", "^R", s.rotate}, {"D", "^D", s.triality}, {"T", "^", s.twist}};
    const char *gap = "";
    for (size_t i = 0; i < HG_COUNT_OF(parts); i++) {
        if (!parts[i].amount) continue;
        hg_text_addf(out, "%s%s%+d", gap, postfix ? parts[i].postfix : parts[i].prefix,
                     parts[i].amount);
        gap = postfix ? "" : " ";
    }
    if (s.mirror) hg_text_addf(out, "%s~", gap);
}

static void print_prefix(hg_text *out, circuit_shift s) {
    if (hg_shift_is_none(s)) return;
    print_shift(out, s, false);
    hg_text_add(out, "@", 1);
}

static void print_sigil(hg_text *out, const circuit_sigil *s) {
    hg_text_addf(out, "c%02u", s->cls);
    print_shift(out, s->postfix, true);
    if (s->page >= 0) hg_text_addf(out, "@%02d", s->page);
}

static void print_term(hg_text *out, const hg_circuit *circuit, const circuit_item *item) {
    static const char *const BETWEEN[][3] = {[TARGET_SINGLE] = {"", "", ""},
                                             [TARGET_COPY] = {"->", "", ""},
                                             [TARGET_SWAP] = {"<->", "", ""},
                                             [TARGET_TRIPLE] = {"[", ",", "]"}};
    bool written = (item->generator == GENERATOR_MERGE && item->variant != HG_MERGE_ADD) ||
                   (item->generator == GENERATOR_SPLIT && item->variant != HG_SPLIT_SUB);
    hg_text_addf(out, "%s%s%s", hg_generator_names[item->generator], written ? "." : "",
                 written ? hg_circuit_variant_name(item->variant) : "");
    if (item->generator == GENERATOR_SCALE)
        hg_text_addf(out, "(%s)", circuit->constants.data[item->constant]);
    hg_text_add(out, "@", 1);
    if (item->target == TARGET_RANGE) {
        hg_text_addf(out, "c[%u..%u]", item->sigils[0].cls, item->sigils[1].cls);
        print_shift(out, item->sigils[0].postfix, true);
        return;
    }
    for (uint32_t i = 0; i < hg_target_sigils(item->target); i++) {
        if (i) hg_text_addf(out, "%s", BETWEEN[item->target][i - 1]);
        print_sigil(out, &item->sigils[i]);
    }
    if (item->target == TARGET_TRIPLE) hg_text_add(out, "]", 1);
}

void hg_circuit_print_items(hg_text *out, const hg_circuit *circuit, circuit_shift phrase,
                            const circuit_items *items) {
    print_prefix(out, phrase);
    /* A transform in front belongs to the whole: one of the first term needs an empty one before
     * it. */
    if (items->count && hg_shift_is_none(phrase) && !hg_shift_is_none(items->data[0].prefix))
        hg_text_addf(out, "R+0@");
    bool between = false; /* the next term needs a `.` */
    for (uint64_t i = 0; i < items->count; i++) {
        const circuit_item *item = &items->data[i];
        if (item->kind == ITEM_CLOSE || item->kind == ITEM_BRANCH) {
            hg_text_addf(out, "%s", item->kind == ITEM_CLOSE ? ")" : " || ");
            between = item->kind == ITEM_CLOSE;
            continue;
        }
        if (between) hg_text_addf(out, " . ");
        print_prefix(out, item->prefix);
        between = item->kind == ITEM_TERM;
        if (between)
            print_term(out, circuit, item);
        else
            hg_text_add(out, "(", 1);
    }
}

void hg_circuit_print_call(hg_text *out, const hg_circuit *circuit, const hg_circuit_call *call) {
    circuit_item item = {.sigils = {{.cls = call->src, .page = -1},
                                    {.cls = call->dst, .page = -1},
                                    {.cls = call->dst, .page = -1}},
                         .variant = call->variant};
    switch (call->kind) {
    case HG_CIRCUIT_MARK: item.generator = GENERATOR_MARK; break;
    case HG_CIRCUIT_QUOTE: item.generator = GENERATOR_QUOTE; break;
    case HG_CIRCUIT_EVALUATE: item.generator = GENERATOR_EVALUATE; break;
    case HG_CIRCUIT_COPY: item.generator = GENERATOR_COPY, item.target = TARGET_COPY; break;
    case HG_CIRCUIT_SWAP: item.generator = GENERATOR_SWAP, item.target = TARGET_SWAP; break;
    case HG_CIRCUIT_MERGE: item.generator = GENERATOR_MERGE, item.target = TARGET_TRIPLE; break;
    case HG_CIRCUIT_SPLIT: item.generator = GENERATOR_SPLIT, item.target = TARGET_TRIPLE; break;
    case HG_CIRCUIT_MARK_RANGE: item.generator = GENERATOR_MARK, item.target = TARGET_RANGE; break;
    case HG_CIRCUIT_QUOTE_RANGE:
        item.generator = GENERATOR_QUOTE, item.target = TARGET_RANGE;
        break;
    case HG_CIRCUIT_EVALUATE_RANGE:
        item.generator = GENERATOR_EVALUATE, item.target = TARGET_RANGE;
        break;
    case HG_CIRCUIT_MERGE_RANGE:
        item.generator = GENERATOR_MERGE, item.target = TARGET_RANGE;
        break;
    case HG_CIRCUIT_FMA: item.generator = GENERATOR_FMA, item.target = TARGET_TRIPLE; break;
    case HG_CIRCUIT_SCALE:
        item.generator = GENERATOR_SCALE;
        item.target = call->src == call->dst ? TARGET_SINGLE : TARGET_COPY;
        item.constant = call->n;
        break;
    default: return; /* no surface syntax */
    }
    if (item.target == TARGET_TRIPLE) item.sigils[1].cls = call->context;
    print_term(out, circuit, &item);
}

static hg_status finish(hg_text *out, char **text, size_t *length) {
    if (out->failed || !out->data) {
        hg_text_free(out);
        return hg_fail_memory();
    }
    *text = out->data;
    if (length) *length = out->length;
    return HG_OK;
}

hg_status hg_circuit_need_tree(const hg_circuit *circuit, const void *result) {
    if (!result) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the pointer for the result is NULL");
    if (circuit && circuit->parsed) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the circuit was not made from text");
}

hg_status hg_circuit_print(const hg_circuit *circuit, char **text, size_t *length) {
    HG_ENTRY;
    HG_TRY(hg_circuit_need_tree(circuit, text));
    hg_text out = {0};
    hg_circuit_print_items(&out, circuit, circuit->phrase, &circuit->items);
    return finish(&out, text, length);
}

/* ---- JSON ---- */

static void json_shift(hg_json *json, const char *key, circuit_shift s) {
    hg_json_key(json, key);
    if (hg_shift_is_none(s)) {
        hg_json_null(json);
        return;
    }
    hg_json_begin_object(json);
    hg_json_key(json, "R");
    hg_json_i64(json, s.rotate);
    hg_json_key(json, "D");
    hg_json_i64(json, s.triality);
    hg_json_key(json, "T");
    hg_json_i64(json, s.twist);
    hg_json_key(json, "mirror");
    hg_json_bool(json, s.mirror);
    hg_json_end_object(json);
}

static void json_sigil(hg_json *json, const circuit_sigil *s) {
    hg_json_begin_object(json);
    hg_json_key(json, "class");
    hg_json_u64(json, s->cls);
    json_shift(json, "transform", s->postfix);
    hg_json_key(json, "page");
    if (s->page < 0)
        hg_json_null(json);
    else
        hg_json_u64(json, (uint64_t)s->page);
    hg_json_end_object(json);
}

static void json_term(hg_json *json, const hg_circuit *circuit, const circuit_item *item) {
    static const char *const TARGETS[] = {"single", "range", "copy", "swap", "triple"};
    hg_json_begin_object(json);
    hg_json_key(json, "generator");
    hg_json_text(json, hg_generator_names[item->generator]);
    hg_json_key(json, "variant");
    bool has_variant = item->generator == GENERATOR_MERGE || item->generator == GENERATOR_SPLIT;
    hg_json_text(json, has_variant ? hg_circuit_variant_name(item->variant) : NULL);
    if (item->generator == GENERATOR_SCALE)
        hg_json_add_text(json, "constant", circuit->constants.data[item->constant]);
    json_shift(json, "transform", item->prefix);
    hg_json_key(json, "target");
    hg_json_text(json, TARGETS[item->target]);
    hg_json_key(json, "classes");
    hg_json_begin_array(json);
    for (uint32_t i = 0; i < hg_target_sigils(item->target); i++)
        json_sigil(json, &item->sigils[i]);
    hg_json_end_array(json);
    hg_json_key(json, "line");
    hg_json_u64(json, item->line);
    hg_json_key(json, "column");
    hg_json_u64(json, item->column);
    hg_json_end_object(json);
}

/* "parallel": a list of branches, each a list of terms; a group is an object with "parallel" again.
 */
static void json_open(hg_json *json, circuit_shift s) {
    hg_json_begin_object(json);
    json_shift(json, "transform", s);
    hg_json_key(json, "parallel");
    hg_json_begin_array(json);
    hg_json_begin_array(json);
}

static void json_close(hg_json *json) {
    hg_json_end_array(json);
    hg_json_end_array(json);
    hg_json_end_object(json);
}

hg_status hg_circuit_json(const hg_circuit *circuit, char **text, size_t *length) {
    HG_ENTRY;
    HG_TRY(hg_circuit_need_tree(circuit, text));
    hg_text out = {0};
    hg_json json = {.out = &out};
    json_open(&json, circuit->phrase);
    for (uint64_t i = 0; i < circuit->items.count; i++) {
        const circuit_item *item = &circuit->items.data[i];
        switch (item->kind) {
        case ITEM_TERM: json_term(&json, circuit, item); break;
        case ITEM_OPEN: json_open(&json, item->prefix); break;
        case ITEM_CLOSE: json_close(&json); break;
        default: hg_json_end_array(&json); hg_json_begin_array(&json);
        }
    }
    json_close(&json);
    return finish(&out, text, length);
}
