/* Labels of the assembler: looked up by name, defined once, and resolved when everything is read.
 */
#include "isa/text_internal.h"

uint32_t hg_asm_label(hg_assembler *a, const hg_token *name) {
    const hg_name *label = hg_asm_enter(a, &a->code.labels, name, HG_NAME_LABEL, HG_UNDEFINED);
    return label ? (uint32_t)(label - a->code.labels.data) : HG_UNDEFINED;
}

bool hg_asm_define_label(hg_assembler *a, const hg_token *name) {
    char got[80];
    if (!hg_is_identifier(name->text, name->length)) {
        if (!hg_asm_is_unknown(a, name)) return true;
        if (name->length > HG_MAX_IDENT_BYTES)
            hg_asm_error(a, "S05", name, NULL, "name of %u bytes: at most %d are allowed",
                         (unsigned)name->length, HG_MAX_IDENT_BYTES);
        else
            hg_asm_error(a, "S02", name, "registers, predicates and types cannot be names",
                         "expected a label, got %s", hg_token_describe(name, got));
        return true; /* what follows can be read */
    }
    uint32_t number = hg_asm_label(a, name);
    if (number == HG_UNDEFINED) return false;
    hg_name *label = &a->code.labels.data[number];
    if (label->index != HG_UNDEFINED) {
        hg_asm_error(a, "L01", name, NULL, "duplicate label '%.*s' at instruction %llu",
                     (int)name->length, name->text, (unsigned long long)a->code.insts.count);
        return true;
    }
    if (a->code.defined_labels == HG_MAX_LABELS) {
        hg_asm_error(a, "S05", name, NULL, "more than %d labels", HG_MAX_LABELS);
        a->wrong.stop = true;
        return false;
    }
    a->code.defined_labels++;
    label->index = a->code.bound = a->code.insts.count;
    return true;
}

static void report_undefined(hg_assembler *a, hg_name *label, const hg_token *at, const char *where,
                             unsigned long long inst) {
    if (label->reported) return;
    label->reported = true;
    if (a->wrong.names_missing) return; /* it may stand in the file that could not be read */
    if (inst == HG_NONE)
        hg_asm_error(a, "L02", at, NULL, "label not found: %.*s", (int)label->token.length,
                     label->token.text);
    else
        hg_asm_error(a, "L02", at, NULL, "undefined label '%.*s' referenced in %s %llu",
                     (int)label->token.length, label->token.text, where, inst);
}

/* A label of the scope of its mention, or of one around it, in the function. */
static hg_name *find_defined(const hg_assembler *a, hg_name *mentioned, uint32_t function) {
    hg_name *label = mentioned;
    for (uint32_t scope = mentioned->scope; label->index == HG_UNDEFINED && scope != function;) {
        scope = hg_asm_scope_around(a, scope);
        if (scope < function) break;
        hg_name *outer = hg_asm_find_in(&a->code.labels, mentioned->token.text,
                                        mentioned->token.length, scope);
        if (outer) label = outer;
    }
    return label->index == HG_UNDEFINED ? mentioned : label;
}

void hg_asm_resolve_labels(hg_assembler *a) {
    for (uint64_t i = 0; i < a->code.fixups.count; i++) {
        const hg_fixup *f = &a->code.fixups.data[i];
        hg_name *label = find_defined(a, &a->code.labels.data[f->label], f->function);
        if (label->index == HG_UNDEFINED)
            report_undefined(a, label, &f->token, "instruction", f->inst);
        a->code.operands.data[f->operand].value = label->index;
    }
    if (!a->head.entry.length) return;
    uint32_t number = hg_asm_label(a, &a->head.entry);
    if (number == HG_UNDEFINED) return;
    hg_name *label = &a->code.labels.data[number];
    if (label->index == HG_UNDEFINED) report_undefined(a, label, &a->head.entry, "", HG_NONE);
    a->program->entry = (uint32_t)label->index;
}
