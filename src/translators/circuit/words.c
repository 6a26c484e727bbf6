/* The word and byte back ends (6.8). Must not know: what operations do to data. */
#include "translators/circuit/circuit_internal.h"

#include <limits.h>

/* ---- words ---- */

static void transform_words(hg_text *out, circuit_shift s, bool enter) {
    const char *arrow = enter ? "→" : "←";
    if (s.rotate) hg_text_addf(out, "%sρ[%d]\n", arrow, s.rotate);
    if (s.triality) hg_text_addf(out, "%sδ[%d]\n", arrow, (s.triality + 3) % 3);
    if (s.twist) hg_text_addf(out, "%sτ[%d]\n", arrow, s.twist);
    if (s.mirror) hg_text_addf(out, "%sμ\n", arrow);
}

static void class_words(hg_text *out, uint8_t generator, uint8_t cls) {
    hg_class_parts parts = hg_class_split(cls);
    switch (generator) {
    case GENERATOR_COPY: hg_text_addf(out, "copy[d=%u]\n", parts.modality); break;
    case GENERATOR_MERGE: hg_text_addf(out, "merge[d=%u]\n", parts.modality); break;
    case GENERATOR_SPLIT: hg_text_addf(out, "split[ℓ=%u]\n", parts.context); break;
    case GENERATOR_QUOTE: hg_text_addf(out, "quote[ℓ=%u]\n", parts.context); break;
    case GENERATOR_EVALUATE: hg_text_addf(out, "phase[h₂=%u]\nevaluate\n", parts.scope); break;
    default: hg_text_addf(out, "%s\n", hg_generator_names[generator]);
    }
}

/* The primary class decides; a range is its members in rising order. */
static void term_words(hg_text *out, const circuit_item *item, circuit_shift outer) {
    circuit_shift shift = hg_shift_combine(outer, item->prefix);
    bool prefixed = !hg_shift_is_none(item->prefix);
    if (prefixed) transform_words(out, shift, true);
    circuit_sigil sigil = item->sigils[0];
    uint8_t last = item->target == TARGET_RANGE ? item->sigils[1].cls : sigil.cls;
    for (; sigil.cls <= last; sigil.cls++)
        class_words(out, item->generator, hg_sigil_class(&sigil, shift));
    if (prefixed) transform_words(out, shift, false);
}

/* A parallel being written: its present branch goes from the last term to the first. */
typedef struct frame {
    uint64_t end, branch_begin, branch_end, cursor; /* item indices; cursor is behind the next term
                                                     */
    circuit_shift shift;
    bool several, prefixed;
} frame;
typedef HG_VEC(frame) frames;

static uint64_t find_branch_end(const circuit_items *items, uint64_t begin, uint64_t end) {
    uint64_t i = begin;
    while (i < end && items->data[i].kind != ITEM_BRANCH)
        i = items->data[i].kind == ITEM_OPEN ? items->data[i].match + 1u : i + 1;
    return i;
}

static bool enter(frames *stack, hg_text *out, const circuit_items *items, uint64_t begin,
                  uint64_t end, circuit_shift shift, bool prefixed) {
    frame *f = hg_vec_push(stack);
    if (!f) return false;
    *f = (frame){.end = end, .branch_begin = begin, .shift = shift, .prefixed = prefixed};
    f->branch_end = f->cursor = find_branch_end(items, begin, end);
    f->several = f->branch_end < end;
    if (prefixed) transform_words(out, shift, true);
    if (f->several) hg_text_addf(out, "⊗_begin\n");
    return true;
}

/* The next branch, or out of the parallel. */
static void leave_branch(frames *stack, hg_text *out, const circuit_items *items) {
    frame *f = &stack->data[stack->count - 1];
    if (f->branch_end < f->end) {
        hg_text_addf(out, "⊗_sep\n");
        f->branch_begin = f->branch_end + 1;
        f->branch_end = f->cursor = find_branch_end(items, f->branch_begin, f->end);
        return;
    }
    if (f->several) hg_text_addf(out, "⊗_end\n");
    if (f->prefixed) transform_words(out, f->shift, false);
    stack->count--;
}

hg_status hg_circuit_words(const hg_circuit *circuit, char **text, size_t *length) {
    HG_ENTRY;
    HG_TRY(hg_circuit_need_tree(circuit, text));
    hg_text out = {0};
    frames stack = {0};
    const circuit_items *items = &circuit->items;
    bool good = enter(&stack, &out, items, 0, items->count, circuit->phrase,
                      !hg_shift_is_none(circuit->phrase));
    while (good && stack.count) {
        frame *f = &stack.data[stack.count - 1];
        if (f->cursor == f->branch_begin) {
            leave_branch(&stack, &out, items);
            continue;
        }
        const circuit_item *item = &items->data[f->cursor - 1];
        if (item->kind == ITEM_TERM) {
            term_words(&out, item, f->shift);
            f->cursor--;
        } else {
            const circuit_item *open = &items->data[item->match];
            uint64_t close = f->cursor - 1;
            f->cursor = item->match;
            good = enter(&stack, &out, items, item->match + 1u, close,
                         hg_shift_combine(f->shift, open->prefix), !hg_shift_is_none(open->prefix));
        }
    }
    hg_vec_free(&stack);
    if (!good || out.failed || !out.data) {
        hg_text_free(&out);
        return hg_fail_memory();
    }
    *text = out.data;
    if (length) *length = out.length;
    return HG_OK;
}

/* ---- bytes ---- */

typedef HG_VEC(hg_circuit_byte) byte_list;

static bool term_bytes(byte_list *list, const circuit_item *item, circuit_shift outer) {
    circuit_shift shift = hg_shift_combine(outer, item->prefix);
    bool range = item->target == TARGET_RANGE;
    uint32_t count = range ? item->sigils[1].cls - item->sigils[0].cls + 1u
                           : hg_target_sigils(item->target);
    for (uint32_t i = 0; i < count; i++) {
        circuit_sigil sigil = item->sigils[range ? 0 : i];
        if (range) sigil.cls = (uint8_t)(sigil.cls + i);
        hg_circuit_byte *b = hg_vec_push(list);
        if (!b) return false;
        b->cls = hg_sigil_class(&sigil, shift);
        b->byte = hg_class_byte(b->cls);
        b->page = sigil.page;
        b->address = sigil.page < 0 ? -1 : (int32_t)hg_phi_encode((uint8_t)sigil.page, b->byte);
    }
    return true;
}

hg_status hg_circuit_bytes(const hg_circuit *circuit, hg_circuit_byte **bytes, size_t *count) {
    HG_ENTRY;
    HG_TRY(hg_circuit_need_tree(circuit, bytes && count ? bytes : NULL));
    byte_list list = {0};
    circuit_shifts outer = {0};
    circuit_shift shift = circuit->phrase;
    bool good = true;
    for (uint64_t i = 0; good && i < circuit->items.count; i++) {
        const circuit_item *item = &circuit->items.data[i];
        if (item->kind == ITEM_OPEN) {
            circuit_shift *slot = hg_vec_push(&outer);
            good = slot != NULL;
            if (slot) *slot = shift;
            shift = hg_shift_combine(shift, item->prefix);
        } else if (item->kind == ITEM_CLOSE) {
            shift = outer.data[--outer.count];
        } else if (item->kind == ITEM_TERM) {
            good = term_bytes(&list, item, shift);
        }
    }
    hg_vec_free(&outer);
    if (!good) {
        hg_vec_free(&list);
        return hg_fail_memory();
    }
    *bytes = list.data;
    *count = (size_t)list.count;
    return HG_OK;
}
