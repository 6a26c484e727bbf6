/* Memory, atomics, fences and barriers of the device form in a language of the C family.
 * Must not know: languages by name, expressions, control flow, the kernel's head. */
#include "emit/emit_device_c_internal.h"
#include "kir/access.h"
#include <string.h>

static void text(c_printer *p, const char *s) { hg_text_add(p->out, s, strlen(s)); }

/* ---- slots and group memory ---- */

void emit_device_c_slot_name(const kir_module *m, hg_text *out, uint64_t i) {
    const kir_slot *s = &m->slots.data[i];
    switch ((kir_slot_kind)s->kind) {
    case KIR_SLOT_MEMORY: hg_text_addf(out, "s%llu", (unsigned long long)i); return;
    case KIR_SLOT_CLASS: hg_text_addf(out, "class_memory"); return;
    case KIR_SLOT_FAULT: hg_text_addf(out, "fault"); return;
    case KIR_SLOT_TABLE: hg_text_addf(out, "handles"); return;
    case KIR_SLOT_LOCKS: hg_text_addf(out, "locks"); return;
    case KIR_SLOT_SHARED: hg_text_addf(out, "shared_memory"); return;
    case KIR_SLOT_ARENA: hg_text_addf(out, "arena%llu", (unsigned long long)s->handle); return;
    }
}

uint64_t emit_device_c_group_mark(const c_printer *p) { return p->module->slots.count; }
uint64_t emit_device_c_record_mark(const c_printer *p) { return p->module->slots.count + 1; }
uint64_t emit_device_c_id_mark(const c_printer *p, uint64_t id) {
    return p->module->slots.count + 2 + id;
}
uint64_t emit_device_c_mark_count(const c_printer *p) {
    return emit_device_c_id_mark(p, KIR_DEVICE_ID_COUNT);
}

static bool is_group(const kir_value *v) {
    return v->u.mem.space == KIR_SHARED && v->u.mem.slot == KIR_OPEN;
}

void emit_device_c_mark_access(c_printer *p, const kir_value *v, uint8_t used) {
    if (v->op != KIR_LOAD && v->op != KIR_STORE && v->op != KIR_ATOMIC) return;
    if (v->op == KIR_LOAD && !v->uses && !v->u.mem.volatile_access) return;
    uint8_t marks = (uint8_t)(used | (v->op != KIR_LOAD ? EMIT_DEVICE_WRITTEN : 0));
    if (is_group(v))
        p->marks[emit_device_c_group_mark(p)] |= marks;
    else if (v->u.mem.slot >= 0 && (uint64_t)v->u.mem.slot < p->module->slots.count)
        p->marks[v->u.mem.slot] |= marks;
}

/* Qualifiers of a pointer to a slot, or to group memory. */
static void print_qualifiers(c_printer *p, uint64_t mark) {
    bool group = mark == emit_device_c_group_mark(p);
    text(p, group ? p->dialect->device->group : p->dialect->device->memory);
    if (!group && !(p->marks[mark] & EMIT_DEVICE_WRITTEN)) text(p, "const ");
}

void emit_device_c_byte_pointer(c_printer *p, uint64_t mark) {
    print_qualifiers(p, mark);
    hg_text_addf(p->out, "%s *", emit_c_type(p, HG_TYPE_U8));
}

/* ---- places ---- */

/* The first argument after the place. */
static uint8_t operands(const kir_value *v) { return (uint8_t)(kir_device_offset(v) + 1); }

static void print_offset(c_printer *p, const kir_value *offset) {
    if (offset->op == KIR_CONST && !offset->u.imm) return;
    text(p, " + ");
    if (emit_device_c_is_wide(offset))
        emit_device_c_wide_name(p, offset);
    else
        emit_c_name(p, offset);
}

/* "(volatile __global uint *)(v7 + v12)": the address is computed in u64, also of two halves: "(u32
 * *)(((u64)v8 << 32 | v7) + v12)". */
static void print_address(c_printer *p, const kir_value *v, const char *qualifier,
                          const char *type) {
    hg_text_addf(p->out, "(%s%s%s *)(", qualifier, p->dialect->device->memory, type);
    if (v->u.mem.split) {
        hg_text_addf(p->out, "((%s)", p->dialect->types[C_U64]);
        emit_c_name(p, v->args[1]);
        text(p, " << 32 | ");
    }
    emit_c_name(p, v->args[0]);
    if (v->u.mem.split) text(p, ")");
    print_offset(p, v->args[kir_device_offset(v)]);
    text(p, ")");
}

/* "(volatile __global uint *)(s0 + v12)"; qualifier: what stands first. */
static void print_pointer(c_printer *p, const kir_value *v, const char *qualifier,
                          const char *type) {
    bool group = is_group(v),
         slot = v->u.mem.slot >= 0 && (uint64_t)v->u.mem.slot < p->module->slots.count;
    if (v->u.mem.slot == KIR_ADDRESS && p->dialect->device->params.by_address) {
        print_address(p, v, qualifier, type);
        return;
    }
    if (!group && !slot) {
        p->unsupported = "an access by address";
        return;
    }
    uint64_t mark = group ? emit_device_c_group_mark(p) : (uint64_t)v->u.mem.slot;
    hg_text_addf(p->out, "(%s", qualifier);
    print_qualifiers(p, mark);
    hg_text_addf(p->out, "%s *)(%s", type, p->kernel ? "" : "env->");
    if (group)
        text(p, "group");
    else
        emit_device_c_slot_name(p->module, p->out, mark);
    print_offset(p, v->args[kir_device_offset(v)]);
    text(p, ")");
}

/* ---- operations ---- */

static const char *volatility(const kir_value *v) {
    return v->u.mem.volatile_access ? "volatile " : "";
}

static void print_load(c_printer *p, const kir_value *v) {
    if (!v->uses && !v->u.mem.volatile_access) return;
    const char *type = emit_c_type(p, v->type);
    emit_c_line(p);
    if (v->uses)
        hg_text_addf(p->out, "const %s v%u = ", type, (unsigned)v->id);
    else
        text(p, "(void)");
    text(p, "*");
    print_pointer(p, v, volatility(v), type);
    text(p, ";\n");
}

static void print_store(c_printer *p, const kir_value *v) {
    const kir_value *value = v->args[operands(v)];
    emit_c_line(p);
    text(p, "*");
    print_pointer(p, v, volatility(v), emit_c_type(p, value->type));
    text(p, " = ");
    emit_c_name(p, value);
    text(p, ";\n");
}

static void print_atomic(c_printer *p, const kir_value *v) {
    const c_device_words *words = p->dialect->device;
    int kind = kir_kind_of(v->args[operands(v)]->type);
    bool is_signed = v->u.mem.atomic == KIR_ATOMIC_SMIN || v->u.mem.atomic == KIR_ATOMIC_SMAX;
    bool known = (kind == C_U32 || kind == C_U64) && v->u.mem.atomic <= KIR_ATOMIC_CAS &&
                 !v->u.mem.split;
    const char *function = known ? words->atomic.atomics[kind == C_U64][v->u.mem.atomic] : NULL;
    if (!function) {
        p->unsupported = "an atomic of this size";
        return;
    }
    const char *number = is_signed ? p->dialect->signed_types[kind] : p->dialect->types[kind];
    const char *type = words->atomic.atomic_types[kind == C_U64][is_signed]
                           ? words->atomic.atomic_types[kind == C_U64][is_signed]
                           : number;
    emit_c_line(p);
    if (v->uses) hg_text_addf(p->out, "const %s v%u = ", p->dialect->types[kind], (unsigned)v->id);
    if (v->uses && is_signed) hg_text_addf(p->out, "(%s)", p->dialect->types[kind]);
    hg_text_addf(p->out, "%s(", function);
    print_pointer(p, v, words->atomic.atomic_qualifier, type);
    for (uint8_t i = operands(v); i < v->nargs; i++) {
        text(p, ", ");
        if (is_signed) hg_text_addf(p->out, "(%s)", number);
        emit_c_name(p, v->args[i]);
    }
    hg_text_addf(p->out, "%s);\n", words->atomic.atomic_order);
}

static void print_fence(c_printer *p, const kir_value *v) {
    if (v->u.imm == HG_SCOPE_THREAD) return;
    const char *statement = v->u.imm < HG_SCOPE_COUNT
                                ? p->dialect->device->fences[v->u.imm].statement
                                : NULL;
    if (!statement) {
        p->unsupported = "a fence of this scope";
        return;
    }
    if (!*statement) return;
    p->fences[v->u.imm] = true;
    emit_c_line(p);
    hg_text_addf(p->out, "%s\n", statement);
}

static bool same_text(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

/* Each function once, however many fences call it. */
void emit_device_c_fences(c_printer *p) {
    const c_fence *fences = p->dialect->device->fences;
    bool any = false;
    for (int scope = 0; scope < HG_SCOPE_COUNT; scope++) {
        bool printed = !p->fences[scope] || !fences[scope].definition;
        for (int before = 0; before < scope; before++)
            printed = printed || (p->fences[before] &&
                                  same_text(fences[before].definition, fences[scope].definition));
        if (printed) continue;
        text(p, fences[scope].definition);
        any = true;
    }
    if (any) text(p, "\n");
}

bool emit_device_c_memory(c_printer *p, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_LOAD: print_load(p, v); return true;
    case KIR_STORE: print_store(p, v); return true;
    case KIR_ATOMIC: print_atomic(p, v); return true;
    case KIR_CHECK:
    case KIR_FAULT_IF: p->unsupported = "a fault that is not in device form"; return true;
    case KIR_FENCE: print_fence(p, v); return true;
    case KIR_BARRIER:
        emit_c_line(p);
        hg_text_addf(p->out, "%s /* barrier %u */\n", p->dialect->device->barrier,
                     (unsigned)v->u.imm);
        return true;
    default: return false;
    }
}
