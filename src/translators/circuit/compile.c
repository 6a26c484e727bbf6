/* Syntax tree to calls (6.5, 6.7), statistics, and the circuit as an object. Must not know:
 * instructions. */
#include "base/sized.h"
#include "translators/circuit/circuit_internal.h"

#include <string.h>

hg_circuit *hg_circuit_create(void) {
    HG_ENTRY;
    hg_circuit *circuit = hg_calloc(1, sizeof *circuit);
    if (!circuit) return NULL;
    circuit->compiled = true;
    circuit->type = HG_TYPE_F32;
    return circuit;
}

void hg_circuit_destroy(hg_circuit *circuit) {
    HG_ENTRY;
    if (!circuit) return;
    hg_vec_free(&circuit->items);
    hg_vec_free(&circuit->calls);
    for (uint64_t i = 0; i < circuit->constants.count; i++) hg_free(circuit->constants.data[i]);
    hg_vec_free(&circuit->constants);
    hg_free(circuit->original);
    hg_free(circuit->canonical);
    hg_free(circuit);
}

size_t hg_circuit_call_count(const hg_circuit *c) {
    HG_ENTRY;
    return c ? (size_t)c->calls.count : 0;
}
const hg_circuit_call *hg_circuit_call_at(const hg_circuit *c, size_t i) {
    HG_ENTRY;
    return c && i < c->calls.count ? &c->calls.data[i] : NULL;
}
const char *hg_circuit_original_expr(const hg_circuit *c) {
    HG_ENTRY;
    return c && c->original ? c->original : "";
}
const char *hg_circuit_canonical_expr(const hg_circuit *c) {
    HG_ENTRY;
    return c && c->canonical ? c->canonical : "";
}
uint64_t hg_circuit_original_ops(const hg_circuit *c) {
    HG_ENTRY;
    return c ? c->original_ops : 0;
}
uint64_t hg_circuit_canonical_ops(const hg_circuit *c) {
    HG_ENTRY;
    return c ? c->canonical_ops : 0;
}
float hg_circuit_reduction_pct(const hg_circuit *c) {
    HG_ENTRY;
    if (!c || !c->original_ops) return 0.0f;
    return (float)(100.0 * ((double)c->original_ops - (double)c->canonical_ops) /
                   (double)c->original_ops);
}

/* ---- calls ---- */

typedef struct compiler {
    hg_circuit *circuit;
    circuit_report *report;
} compiler;

static void complain(compiler *c, const circuit_item *item, const char *code, const char *before,
                     const char *gen, const char *after) {
    hg_circuit_report(c->report, code, item->line, item->column, item->length, NULL, "%s%s%s",
                      before, gen, after);
}

/* Reports a target that the generator cannot have. */
static bool check_target(compiler *c, const circuit_item *item) {
    static const char *const MISSING[GENERATOR_COUNT] = {
        [GENERATOR_COPY] = "Copy requires explicit destination: use copy@c<src>->c<dst>",
        [GENERATOR_SWAP] = "Swap requires explicit second class: use swap@c<a><->c<b>",
        [GENERATOR_MERGE] = "Merge requires explicit context/dst: use merge@c<src>[c<ctx>,c<dst>]",
        [GENERATOR_SPLIT] = "Split requires explicit context/dst: use split@c<src>[c<ctx>,c<dst>]",
        [GENERATOR_FMA] = "Fma requires explicit context/dst: use fma@c<src>[c<ctx>,c<dst>]"};
    uint8_t g = item->generator, t = item->target;
    const char *title = hg_generator_titles[g];
    bool triple = g == GENERATOR_MERGE || g == GENERATOR_SPLIT || g == GENERATOR_FMA;
    uint8_t own = g == GENERATOR_COPY   ? TARGET_COPY
                  : g == GENERATOR_SWAP ? TARGET_SWAP
                  : triple              ? TARGET_TRIPLE
                                        : TARGET_SINGLE;
    if (t == own || (t == TARGET_COPY && g == GENERATOR_SCALE) ||
        (t == TARGET_RANGE && (own == TARGET_SINGLE || g == GENERATOR_MERGE)))
        return true;
    if (t == TARGET_RANGE)
        complain(c, item, "N03", "", title,
                 " generator not supported on ranges (requires explicit source/dest)");
    else if (t == TARGET_TRIPLE)
        complain(c, item, "N03", "Generator ", title, " does not support triple-class syntax");
    else if (MISSING[g])
        complain(c, item, "N04", MISSING[g], "", "");
    else
        complain(c, item, "N03", "Generator ", title,
                 t == TARGET_COPY ? " does not support copy syntax"
                                  : " does not support swap syntax");
    return false;
}

static bool add_call(compiler *c, hg_circuit_call call, const circuit_item *item) {
    if (c->circuit->calls.count >= HG_MAX_INSTRUCTIONS) {
        hg_circuit_report(c->report, "S05", item->line, item->column, item->length, NULL,
                          "Circuit too long: at most %d calls are allowed", HG_MAX_INSTRUCTIONS);
        return false;
    }
    hg_circuit_call *slot = hg_vec_push(&c->circuit->calls);
    if (!slot) {
        c->report->out_of_memory = true;
        return false;
    }
    *slot = call;
    return true;
}

/* Every member is transformed on its own; classes that rise by one are one range again. */
static bool compile_range(compiler *c, const circuit_item *item, circuit_shift shift) {
    static const uint8_t RANGES[GENERATOR_COUNT] = {
        [GENERATOR_MARK] = HG_CIRCUIT_MARK_RANGE,
        [GENERATOR_MERGE] = HG_CIRCUIT_MERGE_RANGE,
        [GENERATOR_QUOTE] = HG_CIRCUIT_QUOTE_RANGE,
        [GENERATOR_EVALUATE] = HG_CIRCUIT_EVALUATE_RANGE};
    hg_circuit_call run = {.kind = RANGES[item->generator], .variant = item->variant};
    circuit_sigil sigil = item->sigils[0];
    bool first = true;
    if (hg_shift_is_none(sigil.postfix) && hg_shift_is_none(shift)) {
        run.src = sigil.cls, run.dst = item->sigils[1].cls;
        return add_call(c, run, item);
    }
    for (uint32_t cls = sigil.cls; cls <= item->sigils[1].cls + 1u; cls++) {
        sigil.cls = (uint8_t)cls;
        uint8_t member = cls <= item->sigils[1].cls ? hg_sigil_class(&sigil, shift) : UINT8_MAX;
        if (!first && member != UINT8_MAX && member == run.dst + 1) {
            run.dst = member;
            continue;
        }
        if (!first) {
            hg_circuit_call call = run.src == run.dst ? hg_call_member(&run, 0) : run;
            if (!add_call(c, call, item)) return false;
        }
        first = false;
        run.src = run.dst = member;
    }
    return true;
}

/* Reports a variant or a constant that the element type does not have. */
static bool check_type(compiler *c, const circuit_item *item) {
    hg_type type = c->circuit->type;
    char message[160];
    bool varies = item->generator == GENERATOR_MERGE || item->generator == GENERATOR_SPLIT;
    if (varies && !hg_variant_allows(item->variant, type)) {
        hg_circuit_report(c->report, "N06", item->line, item->column, item->length, NULL,
                          "variant %s is for floats, not for %s",
                          hg_circuit_variant_name(item->variant), hg_type_name(type));
        return false;
    }
    if (item->generator != GENERATOR_SCALE) return true;
    const char *text = c->circuit->constants.data[item->constant];
    if (!hg_circuit_check_constant(type, text, strlen(text), message)) return true;
    hg_circuit_report(c->report, "S04", item->line, item->column, item->length, NULL,
                      "scale(%.60s): %s", text, message);
    return false;
}

static bool compile_scaled_range(compiler *c, const circuit_item *item, circuit_shift shift) {
    circuit_sigil sigil = item->sigils[0];
    bool good = true;
    for (uint32_t cls = sigil.cls; good && cls <= item->sigils[1].cls; cls++) {
        sigil.cls = (uint8_t)cls;
        uint8_t member = hg_sigil_class(&sigil, shift);
        good = add_call(
            c,
            (hg_circuit_call){
                .kind = HG_CIRCUIT_SCALE, .src = member, .dst = member, .n = item->constant},
            item);
    }
    return good;
}

static bool compile_term(compiler *c, const circuit_item *item, circuit_shift outer) {
    if (!check_target(c, item)) return !c->report->out_of_memory;
    circuit_shift shift = hg_shift_combine(outer, item->prefix);
    if (!check_type(c, item)) return !c->report->out_of_memory;
    if (item->target == TARGET_RANGE && item->generator == GENERATOR_SCALE)
        return compile_scaled_range(c, item, shift);
    if (item->target == TARGET_RANGE) return compile_range(c, item, shift);
    uint8_t cls[3] = {0};
    for (uint32_t i = 0; i < hg_target_sigils(item->target); i++)
        cls[i] = hg_sigil_class(&item->sigils[i], shift);
    hg_circuit_call call = {.src = cls[0], .dst = cls[1], .variant = item->variant};
    switch (item->generator) {
    case GENERATOR_MARK: call.kind = HG_CIRCUIT_MARK; break;
    case GENERATOR_COPY: call.kind = HG_CIRCUIT_COPY; break;
    case GENERATOR_SWAP: call.kind = HG_CIRCUIT_SWAP; break;
    case GENERATOR_QUOTE: call.kind = HG_CIRCUIT_QUOTE; break;
    case GENERATOR_EVALUATE: call.kind = HG_CIRCUIT_EVALUATE; break;
    case GENERATOR_SCALE:
        call.kind = HG_CIRCUIT_SCALE;
        call.variant = 0;
        call.n = item->constant;
        if (item->target == TARGET_SINGLE) call.dst = call.src;
        break;
    case GENERATOR_FMA:
        call.kind = HG_CIRCUIT_FMA;
        call.variant = 0;
        call.context = cls[1];
        call.dst = cls[2];
        break;
    default:
        call.kind = item->generator == GENERATOR_MERGE ? HG_CIRCUIT_MERGE : HG_CIRCUIT_SPLIT;
        call.context = cls[1];
        call.dst = cls[2];
    }
    return add_call(c, call, item);
}

static void compile_items(compiler *c) {
    circuit_shifts outer = {0};
    circuit_shift shift = c->circuit->phrase;
    bool good = true;
    for (uint64_t i = 0; good && i < c->circuit->items.count; i++) {
        const circuit_item *item = &c->circuit->items.data[i];
        if (item->kind == ITEM_OPEN) {
            circuit_shift *slot = hg_vec_push(&outer);
            if (slot)
                *slot = shift;
            else
                c->report->out_of_memory = true;
            good = slot != NULL;
            shift = hg_shift_combine(shift, item->prefix);
        } else if (item->kind == ITEM_CLOSE) {
            shift = outer.data[--outer.count];
        } else if (item->kind == ITEM_TERM) {
            good = compile_term(c, item, shift);
        }
    }
    hg_vec_free(&outer);
}

/* ---- canonical form and statistics ---- */

static void print_calls(const hg_circuit *circuit, hg_text *out) {
    for (uint64_t i = 0; i < circuit->calls.count; i++) {
        if (i) hg_text_addf(out, " . ");
        hg_circuit_print_call(out, circuit, &circuit->calls.data[i]);
    }
}

/* Canonical text and count; in a compiled circuit the calls become the sound form unless it is off.
 */
static hg_status canonicalise(hg_circuit *circuit, hg_canonicalise mode) {
    circuit->canonical_ops = circuit->original_ops;
    if (circuit->compiled && mode != HG_CANONICALISE_OFF) HG_TRY(hg_circuit_simplify(circuit));
    hg_text text = {0};
    hg_text_add(&text, "", 0);
    hg_status status = HG_OK;
    if (mode == HG_CANONICALISE_GATES) {
        status = hg_circuit_gate_form(circuit, &text, &circuit->canonical_ops);
    } else if (mode == HG_CANONICALISE_SOUND && circuit->compiled &&
               circuit->calls.count <= circuit->original_ops) {
        print_calls(circuit, &text);
        circuit->canonical_ops = circuit->calls.count;
    } else {
        hg_circuit_print_items(&text, circuit, circuit->phrase, &circuit->items);
    }
    if (status == HG_OK && (text.failed || !text.data)) status = hg_fail_memory();
    if (status != HG_OK) hg_text_free(&text);
    circuit->canonical = text.data;
    return status;
}

/* ---- front ---- */

hg_status hg_circuit_take_options(const hg_circuit_options *given, hg_circuit_options *own) {
    static const hg_sized rules = HG_SIZED(hg_circuit_options, variants,
                                           "set it to sizeof(hg_circuit_options)");
    *own = (hg_circuit_options){.size = sizeof *own};
    if (given) HG_TRY(hg_sized_take(&rules, given, own));
    if ((unsigned)own->canonicalise > HG_CANONICALISE_GATES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "hg_circuit_options.canonicalise is %d, no member of its enum",
                       (int)own->canonicalise);
    return HG_OK;
}

static hg_status make(const char *text, size_t length, const hg_circuit_options *given,
                      hg_diagnostics *diagnostics, bool compile, hg_circuit **result) {
    hg_circuit_options options;
    if (!result || (!text && length))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "text or circuit is NULL");
    *result = NULL;
    HG_TRY(hg_circuit_take_options(given, &options));
    hg_circuit *circuit = hg_calloc(1, sizeof *circuit);
    if (!circuit) return hg_fail_memory();
    hg_status typed = hg_circuit_set_type(circuit, options.type ? options.type : "f32");
    if (typed != HG_OK) {
        hg_circuit_destroy(circuit);
        return typed;
    }
    circuit_report report = {.diagnostics = diagnostics,
                             .prefix = compile ? "Parse error: " : NULL};
    hg_circuit_parse_text(circuit, text ? text : "", length, &options, &report);
    circuit->parsed = true;
    if (compile && !report.errors && !report.out_of_memory) {
        compiler c = {circuit, &report};
        report.prefix = NULL;
        compile_items(&c);
        circuit->compiled = true;
    }
    hg_status status = hg_circuit_report_status(&report);
    if (status == HG_OK) {
        circuit->original = hg_alloc(length + 1);
        if (circuit->original) {
            if (length) memcpy(circuit->original, text, length);
            circuit->original[length] = 0;
        }
        status = circuit->original ? canonicalise(circuit, options.canonicalise) : hg_fail_memory();
    }
    if (status == HG_OK)
        *result = circuit;
    else
        hg_circuit_destroy(circuit);
    return status;
}

hg_status hg_circuit_parse(const char *text, size_t length, const hg_circuit_options *options,
                           hg_diagnostics *diagnostics, hg_circuit **circuit) {
    HG_ENTRY;
    return make(text, length, options, diagnostics, false, circuit);
}

hg_status hg_circuit_compile(const char *text, size_t length, const hg_circuit_options *options,
                             hg_diagnostics *diagnostics, hg_circuit **circuit) {
    HG_ENTRY;
    return make(text, length, options, diagnostics, true, circuit);
}
