/* The kernel IR as text, for people (emit --target kir). One operation a line, regions indented. */
#include "isa/program.h"
#include "kir/kir.h"

static void print_var(hg_text *out, const kir_var *v) {
    if (v->name)
        hg_text_addf(out, "%s%s.%s", v->function ? "" : "$", v->name, kir_type_name(v->type));
    else
        hg_text_addf(out, "%sv%u.%s", v->function ? "" : "$", (unsigned)v->id, kir_type_name(v->type));
}

static const char *const SPACES[] = {"buffer", "pool", "shared", "class", "flat"};
static const char *const ATOMICS[] = {"add", "umin", "smin", "umax", "smax", "and", "or", "xor", "exch", "cas"};

static void print_const(hg_text *out, const kir_value *v) {
    if (v->type == KIR_BOOL) {
        hg_text_addf(out, " %s", v->u.imm ? "true" : "false");
        return;
    }
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(v->u.imm >> (8 * i));
    hg_text_add(out, " ", 1);
    hg_print_literal(out, (hg_type)v->type, kir_type_bytes(v->type) > 8 ? v->u.bytes : bytes);
}

static void print_memory(hg_text *out, const kir_value *v) {
    if (v->op == KIR_ATOMIC) hg_text_addf(out, ".%s", ATOMICS[v->u.mem.atomic]);
    hg_text_addf(out, " %s", SPACES[v->u.mem.space]);
    if (v->u.mem.space == KIR_CLASS) hg_text_addf(out, "%u", (unsigned)v->u.mem.class_id);
    if (v->u.mem.slot >= 0 && v->parent) hg_text_addf(out, " slot %d", (int)v->u.mem.slot);
    if (v->u.mem.slot == KIR_ADDRESS) hg_text_addf(out, " address");
    if (v->u.mem.volatile_access) hg_text_addf(out, " volatile");
    hg_text_addf(out, " %u bytes", (unsigned)(v->u.mem.bytes_wide ? v->u.mem.bytes_wide : v->u.mem.bytes));
    if (v->u.mem.disp) hg_text_addf(out, " disp %lld", (long long)v->u.mem.disp);
    if (v->u.mem.unchecked) hg_text_addf(out, " unchecked");
}

static bool is_device_form(const kir_module *m) { return m->inputs.count && m->inputs.data[0].kind == KIR_INPUT_FIELD; }

static void print_id(hg_text *out, const kir_module *m, const kir_value *v) {
    static const char *const device[] = {"thread", "local_x", "local_y", "local_z", "group_x", "group_y", "group_z"};
    uint64_t id = v->u.imm & (KIR_ID_HIGH - 1);
    bool own = is_device_form(m);
    hg_text_addf(out, " %s%s",
                 own && id < KIR_DEVICE_ID_COUNT ? device[id]
                 : !own && id < HG_ID_COUNT      ? hg_idname_name((hg_idname)id)
                                                 : "?",
                 v->u.imm & KIR_ID_HIGH ? " high" : "");
}

static void print_detail(hg_text *out, const kir_module *m, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST: print_const(out, v); break;
    case KIR_INPUT:
        hg_text_addf(out, " %u", (unsigned)v->u.imm);
        if (v->u.imm < m->inputs.count && m->inputs.data[v->u.imm].name) hg_text_addf(out, " '%s'", m->inputs.data[v->u.imm].name);
        break;
    case KIR_PARAM: hg_text_addf(out, " %u", (unsigned)v->u.imm); break;
    case KIR_ID: print_id(out, m, v); break;
    case KIR_FENCE: hg_text_addf(out, " %s", hg_scope_name((hg_scope)v->u.imm)); break;
    case KIR_BARRIER: hg_text_addf(out, " %u", (unsigned)v->u.imm); break;
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET:
        hg_text_add(out, " ", 1);
        print_var(out, v->u.var);
        break;
    case KIR_TABLE_GET: hg_text_addf(out, " table%u", (unsigned)v->u.table->id); break;
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: print_memory(out, v); break;
    case KIR_CALL:
        hg_text_addf(out, " @%s", v->u.call.function->name);
        for (uint8_t i = 0; i < v->u.call.function->array_count; i++) {
            hg_text_add(out, " &", 2);
            print_var(out, v->u.call.arrays[i]);
        }
        break;
    case KIR_FAULT_IF: hg_text_addf(out, " F%02u '%s'", (unsigned)v->u.fault.code, v->u.fault.message ? v->u.fault.message : ""); break;
    case KIR_DERIVED: hg_text_addf(out, " %s.%s", kir_fn_name(v->u.derived.fn), hg_type_name((hg_type)v->u.derived.atlas_type)); break;
    case KIR_STEP: hg_text_addf(out, " %s.%s", hg_op_get((hg_op)v->u.step.op)->text, hg_type_name((hg_type)v->u.step.atlas_type)); break;
    default: break;
    }
}

static void indent(hg_text *out, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) hg_text_add(out, "  ", 2);
}

static void print_value(hg_text *out, const kir_module *m, const kir_value *v) {
    static const char *const shapes[] = {"", " affine", " block", " uniform"};
    if (v->type != KIR_VOID) hg_text_addf(out, "%%%u: %s = ", (unsigned)v->id, kir_type_name(v->type));
    hg_text_addf(out, "%s", kir_op_name((kir_op)v->op));
    print_detail(out, m, v);
    for (uint8_t i = 0; i < v->nargs; i++) hg_text_addf(out, "%s%%%u", i ? ", " : " ", (unsigned)v->args[i]->id);
    if (v->type == KIR_VOID) return;
    if (v->op != KIR_CONST) hg_text_addf(out, "%s", shapes[v->uniformity & 3]);
    if (v->uniformity == KIR_AFFINE) hg_text_addf(out, " %lld", (long long)v->stride);
}

/* A comment line wherever the source instruction changes. */
static void print_source(hg_text *out, const kir_module *m, const kir_value *v, uint32_t depth, uint32_t *last) {
    if (!m->program || !v->inst || v->inst == *last || v->inst > m->program->inst_count) return;
    *last = v->inst;
    indent(out, depth);
    hg_text_addf(out, "; %u: ", (unsigned)(v->inst - 1));
    hg_print_instruction(out, m->program, v->inst - 1);
    hg_text_add(out, "\n", 1);
}

/* Closes regions from v's region outwards until one has more to print; returns that operation, NULL at the function's end. */
static const kir_value *close_regions(hg_text *out, const kir_region *region, const kir_region *root, uint32_t *depth) {
    while (region != root) {
        const kir_value *owner = region->owner;
        indent(out, --*depth);
        if (region == owner->body[0] && owner->body[1] && owner->body[1]->first) {
            hg_text_addf(out, "} else {\n");
            ++*depth;
            return owner->body[1]->first;
        }
        hg_text_addf(out, "}\n");
        if (owner->next) return owner->next;
        region = owner->parent;
    }
    return NULL;
}

static void print_body(hg_text *out, const kir_module *m, const kir_function *f) {
    uint32_t depth = 1, last = 0;
    const kir_value *v = f->body->first;
    while (v) {
        print_source(out, m, v, depth, &last);
        indent(out, depth);
        print_value(out, m, v);
        if (v->op == KIR_IF || v->op == KIR_LOOP) {
            hg_text_addf(out, " {\n");
            depth++;
            const kir_region *body = v->body[0];
            v = body->first ? body->first : close_regions(out, body, f->body, &depth);
        } else {
            hg_text_add(out, "\n", 1);
            v = v->next ? v->next : close_regions(out, v->parent, f->body, &depth);
        }
    }
}

static void print_input(hg_text *out, const kir_input *input, uint64_t i) {
    hg_text_addf(out, "input %u: %s ", (unsigned)i, kir_type_name(input->type));
    if (input->kind == KIR_INPUT_FIELD)
        hg_text_addf(out, "at byte %u of the record", (unsigned)input->index);
    else
        hg_text_addf(out, "r%u", (unsigned)input->reg);
    hg_text_addf(out, " %s\n", input->name ? input->name : "");
}

void kir_print(hg_text *out, const kir_module *m) {
    static const char *const kinds[] = {"", "class memory", "fault record", "handle table", "locks", "shared memory", "arena"};
    hg_text_addf(out, "module %s\n", m->name);
    for (uint64_t i = 0; i < m->inputs.count; i++) print_input(out, &m->inputs.data[i], i);
    for (uint64_t i = 0; i < m->slots.count; i++) {
        const kir_slot *s = &m->slots.data[i];
        if (s->kind != KIR_SLOT_MEMORY)
            hg_text_addf(out, "slot %u: %s\n", (unsigned)i, kinds[s->kind]);
        else if (s->constant)
            hg_text_addf(out, "slot %u: %s handle %llu\n", (unsigned)i, SPACES[s->space], (unsigned long long)s->handle);
        else
            hg_text_addf(out, "slot %u: %s of input %u\n", (unsigned)i, SPACES[s->space], (unsigned)s->input);
    }
    for (kir_function *f = m->functions; f; f = f->next) {
        kir_number(f);
        hg_text_addf(out, "\nfunction %s(", f->name);
        for (uint8_t i = 0; i < f->param_count; i++) hg_text_addf(out, "%s%s", i ? ", " : "", kir_type_name(f->param_types[i]));
        for (uint8_t i = 0; i < f->array_count; i++)
            hg_text_addf(out, "%s&%s[%u]", i || f->param_count ? ", " : "", kir_type_name(f->array_params[i]->type),
                         (unsigned)f->array_params[i]->length);
        hg_text_addf(out, ") -> %s {\n", kir_type_name(f->result));
        print_body(out, m, f);
        hg_text_addf(out, "}\n");
    }
}
