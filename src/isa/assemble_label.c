/* Labels of the assembler: looked up by name, defined once, and resolved when everything is read. */
#include "isa/text_internal.h"

static uint64_t find_slot(const hg_assembler *a, const hg_token *name, uint32_t scope) {
    uint64_t mask = a->label_slot_count - 1, slot = hg_asm_hash(name->text, name->length, scope) & mask;
    for (; a->label_slots[slot]; slot = (slot + 1) & mask) {
        const hg_label *label = &a->labels.data[a->label_slots[slot] - 1];
        const hg_token *other = &label->token;
        if (label->scope == scope && other->length == name->length && memcmp(other->text, name->text, name->length) == 0) break;
    }
    return slot;
}

static bool grow_slots(hg_assembler *a) {
    uint64_t count = a->label_slot_count ? a->label_slot_count * 2 : 64;
    uint32_t *slots = hg_calloc((size_t)count, sizeof *slots);
    if (!slots) return hg_asm_no_memory(a);
    hg_free(a->label_slots);
    a->label_slots = slots;
    a->label_slot_count = count;
    for (uint64_t i = 0; i < a->labels.count; i++)
        a->label_slots[find_slot(a, &a->labels.data[i].token, a->labels.data[i].scope)] = (uint32_t)i + 1;
    return true;
}

uint32_t hg_asm_label(hg_assembler *a, const hg_token *name) {
    if (a->labels.count * 2 >= a->label_slot_count && !grow_slots(a)) return HG_UNDEFINED;
    uint32_t scope = hg_asm_scope_of(a, name);
    uint64_t slot = find_slot(a, name, scope);
    if (a->label_slots[slot]) return a->label_slots[slot] - 1;
    hg_label *label = hg_vec_push(&a->labels);
    if (!label) {
        hg_asm_no_memory(a);
        return HG_UNDEFINED;
    }
    label->token = *name;
    label->scope = scope;
    label->index = HG_UNDEFINED;
    a->label_slots[slot] = (uint32_t)a->labels.count;
    return (uint32_t)a->labels.count - 1;
}

bool hg_asm_define_label(hg_assembler *a, const hg_token *name) {
    char got[80];
    if (!hg_is_identifier(name->text, name->length)) {
        if (name->length > HG_MAX_IDENT_BYTES)
            hg_asm_error(a, "S05", name, NULL, "name of %u bytes: at most %d are allowed", (unsigned)name->length, HG_MAX_IDENT_BYTES);
        else
            hg_asm_error(a, "S02", name, "registers, predicates and types cannot be names", "expected a label, got %s",
                         hg_token_describe(name, got));
        return true; /* what follows can be read */
    }
    uint32_t number = hg_asm_label(a, name);
    if (number == HG_UNDEFINED) return false;
    hg_label *label = &a->labels.data[number];
    if (label->index != HG_UNDEFINED) {
        hg_asm_error(a, "L01", name, NULL, "duplicate label '%.*s' at instruction %llu", (int)name->length, name->text,
                     (unsigned long long)a->insts.count);
        return true;
    }
    if (a->defined_labels == HG_MAX_LABELS) {
        hg_asm_error(a, "S05", name, NULL, "more than %d labels", HG_MAX_LABELS);
        a->stop = true;
        return false;
    }
    a->defined_labels++;
    label->index = (uint32_t)a->insts.count;
    return true;
}

static void report_undefined(hg_assembler *a, hg_label *label, const hg_token *at, const char *where, unsigned long long inst) {
    if (label->reported) return;
    label->reported = true;
    if (inst == HG_NONE)
        hg_asm_error(a, "L02", at, NULL, "label not found: %.*s", (int)label->token.length, label->token.text);
    else
        hg_asm_error(a, "L02", at, NULL, "undefined label '%.*s' referenced in %s %llu", (int)label->token.length, label->token.text, where,
                     inst);
}

/* A label of the scope of its mention, or of one around it. */
static hg_label *find_defined(const hg_assembler *a, hg_label *mentioned) {
    hg_label *label = mentioned;
    for (uint32_t scope = mentioned->scope; label->index == HG_UNDEFINED && scope;) {
        scope = hg_asm_scope_around(a, scope);
        uint64_t slot = find_slot(a, &mentioned->token, scope);
        if (a->label_slots[slot]) label = &a->labels.data[a->label_slots[slot] - 1];
    }
    return label->index == HG_UNDEFINED ? mentioned : label;
}

void hg_asm_resolve_labels(hg_assembler *a) {
    for (uint64_t i = 0; i < a->fixups.count; i++) {
        const hg_fixup *f = &a->fixups.data[i];
        hg_label *label = find_defined(a, &a->labels.data[f->label]);
        if (label->index == HG_UNDEFINED) report_undefined(a, label, &f->token, "instruction", f->inst);
        a->operands.data[f->operand].value = label->index;
    }
    if (!a->entry.length) return;
    uint32_t number = hg_asm_label(a, &a->entry);
    if (number == HG_UNDEFINED) return;
    hg_label *label = &a->labels.data[number];
    if (label->index == HG_UNDEFINED) report_undefined(a, label, &a->entry, "", HG_NONE);
    a->program->entry = label->index;
}
