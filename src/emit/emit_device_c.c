/* Kernels in device form in a language of the C family. Expressions, names, comments and control
 * flow are those of the C emitter, words those of the dialect; here is what a device adds: the
 * kernel's parameters, the record, ids, and what functions see of them.
 * Must not know: languages by name, drivers, devices. */
#include "emit/emit_device_c_internal.h"
#include <string.h>

static void text(c_printer *p, const char *s) { hg_text_add(p->out, s, strlen(s)); }

/* ---- the record ---- */

emit_record emit_device_c_record(const c_dialect *dialect, const kir_module *m,
                                 const kir_device_layout *layout) {
    if (layout->record_bytes == 0) return EMIT_RECORD_NONE;
    uint64_t bytes = dialect->device->params.by_address
                         ? 0
                         : (kir_device_binding_count(layout, m) + UINT64_C(1)) * 8;
    return bytes + layout->record_bytes <= dialect->device->params.parameter_bytes
               ? EMIT_RECORD_VALUE
               : EMIT_RECORD_BUFFER;
}

enum { SLOT_ALIGNMENT = 16 }; /* of addresses in BASE fields */

static void print_record(c_printer *p, hg_text *out) {
    const kir_module *m = p->module;
    if (p->layout->record_bytes == 0) return;
    hg_text_addf(out, "/* What a launch tells every lane.");
    if (p->dialect->device->params.by_address)
        hg_text_addf(out, " Addresses are multiples of %d.", (int)SLOT_ALIGNMENT);
    hg_text_addf(out, " */\ntypedef struct %s_record {\n", p->name);
    for (uint32_t offset = 0; offset < p->layout->record_bytes;) {
        uint64_t i = emit_field_at(m, offset);
        if (i == m->inputs.count) {
            hg_text_addf(out, "    %s unused_%u;\n", emit_c_type(p, HG_TYPE_U32), (unsigned)offset);
            offset += 4;
            continue;
        }
        hg_text_addf(out, "    %s ", emit_c_type(p, m->inputs.data[i].type));
        emit_field_name(p->layout, out, i);
        hg_text_addf(out, ";\n");
        offset += (uint32_t)kir_type_bytes(m->inputs.data[i].type);
    }
    hg_text_addf(out, "} %s_record;\n\n", p->name);
}

static void print_input(c_printer *p, const kir_value *v) {
    bool same = v->u.imm < p->module->inputs.count && v->u.imm < p->layout->fields.count &&
                kir_kind_of(p->module->inputs.data[v->u.imm].type) == kir_kind_of(v->type);
    if (!same) {
        p->unsupported = "an input that is no field of the record";
        return;
    }
    text(p, p->kernel ? "record." : "env->record.");
    emit_field_name(p->layout, p->out, v->u.imm);
    text(p, ";\n");
}

/* ---- ids ---- */

static void print_id_value(c_printer *p, uint64_t id) {
    hg_text_addf(p->out, "(%s)%s", emit_c_type(p, HG_TYPE_U32), p->dialect->device->params.ids[id]);
}

/* Where ids come as parameters of the kernel, functions find them in their environment. */
static void print_id(c_printer *p, const kir_value *v) {
    if (v->u.imm >= KIR_DEVICE_ID_COUNT || v->type != HG_TYPE_U32)
        p->unsupported = "an id that is not one of the device form";
    else if (p->kernel || !p->dialect->device->params.id_parameters)
        print_id_value(p, v->u.imm);
    else
        hg_text_addf(p->out, "env->%s", emit_id_names[v->u.imm]);
    text(p, ";\n");
}

/* ---- slots ---- */

/* The offset in a field, or in two halves. */
static void print_offset(c_printer *p, uint64_t field) {
    const kir_field *low = &p->layout->fields.data[field];
    text(p, "record.");
    emit_field_name(p->layout, p->out, field);
    for (uint64_t i = 0; i < p->layout->fields.count; i++) {
        const kir_field *high = &p->layout->fields.data[i];
        if (!high->high || high->kind != low->kind || high->index != low->index ||
            high->reach != low->reach)
            continue;
        hg_text_addf(p->out, " + ((%s)record.", emit_c_type(p, HG_TYPE_U64));
        emit_field_name(p->layout, p->out, i);
        text(p, " << 32)");
        return;
    }
}

/* Slots share parameters. */
static bool binds_arenas(const c_printer *p) { return p->layout->bindings.count != 0; }

/* "    __global uchar *const s0 = binding0 + record.base_0;" */
static void print_base_in_arena(c_printer *p, uint64_t slot) {
    int32_t base = p->module->slots.data[slot].base;
    if (!(p->marks[slot] & EMIT_DEVICE_USED)) return;
    text(p, "    ");
    emit_device_c_byte_pointer(p, slot);
    text(p, "const ");
    emit_device_c_slot_name(p->module, p->out, slot);
    hg_text_addf(p->out, " = binding%u", (unsigned)kir_device_binding(p->layout, slot));
    if (base >= 0) text(p, " + ");
    if (base >= 0) print_offset(p, (uint64_t)base);
    text(p, ";\n");
}

/* "    __global uchar *const s0 = s0_arena + record.base_0;" */
static void print_base(c_printer *p, uint64_t slot) {
    int32_t base = p->module->slots.data[slot].base;
    bool by_address = p->dialect->device->params.by_address,
         used = p->marks[slot] & EMIT_DEVICE_USED;
    if (by_address && used && base < 0) p->unsupported = "a slot without an address";
    if (binds_arenas(p)) {
        print_base_in_arena(p, slot);
    } else if (!used && !by_address) {
        text(p, "    (void)");
        emit_device_c_slot_name(p->module, p->out, slot);
        text(p, base >= 0 ? "_arena;\n" : ";\n");
    } else if (used && base >= 0) {
        text(p, "    ");
        emit_device_c_byte_pointer(p, slot);
        text(p, "const ");
        emit_device_c_slot_name(p->module, p->out, slot);
        text(p, " = ");
        if (by_address) { /* SLOT_ALIGNMENT: with it the compiler joins neighbouring accesses of a
                             lane */
            text(p, "(");
            emit_device_c_byte_pointer(p, slot);
            text(p, ")__builtin_assume_aligned((void *)(");
        } else {
            emit_device_c_slot_name(p->module, p->out, slot);
            text(p, "_arena + ");
        }
        print_offset(p, (uint64_t)base);
        if (by_address) hg_text_addf(p->out, "), %d)", (int)SLOT_ALIGNMENT);
        text(p, ";\n");
    }
}

/* ---- what functions see of the kernel's memory: struct NAME_env ---- */

/* Marks are those of slots, then these. */
static void print_member_name(c_printer *p, uint64_t mark) {
    if (mark < p->module->slots.count)
        emit_device_c_slot_name(p->module, p->out, mark);
    else if (mark == emit_device_c_group_mark(p))
        text(p, "group");
    else if (mark == emit_device_c_record_mark(p))
        text(p, "record");
    else
        text(p, emit_id_names[mark - emit_device_c_id_mark(p, 0)]);
}

static void print_member_type(c_printer *p, uint64_t mark) {
    if (mark <= emit_device_c_group_mark(p))
        emit_device_c_byte_pointer(p, mark);
    else if (mark == emit_device_c_record_mark(p))
        hg_text_addf(p->out, "%s_record ", p->name);
    else
        hg_text_addf(p->out, "%s ", emit_c_type(p, HG_TYPE_U32));
}

static void print_member_value(c_printer *p, uint64_t mark) {
    uint64_t first_id = emit_device_c_id_mark(p, 0);
    if (mark >= first_id)
        print_id_value(p, mark - first_id);
    else
        print_member_name(p, mark);
}

/* "    NAME_env environment = {.s0 = s0, .record = record};" or a statement for each member */
static void print_environment_value(c_printer *p) {
    bool assigned = p->dialect->no_designators;
    const char *comma = "";
    hg_text_addf(p->out, "    %s_env environment = {%s", p->name, assigned ? "};\n" : "");
    for (uint64_t mark = 0; mark < emit_device_c_mark_count(p); mark++) {
        if (!(p->marks[mark] & EMIT_DEVICE_OUTER)) continue;
        text(p, assigned ? "    environment." : comma);
        if (!assigned) text(p, ".");
        print_member_name(p, mark);
        text(p, " = ");
        print_member_value(p, mark);
        if (assigned) text(p, ";\n");
        comma = ", ";
    }
    if (!assigned) text(p, *comma ? "};\n" : "0};\n");
    hg_text_addf(p->out, "    %s%s_env *const env = &environment;\n    (void)env;\n",
                 p->dialect->local, p->name);
}

/* The variables that functions share are members too. */
static void print_environment(c_printer *p, hg_text *out) {
    hg_text *kept = p->out;
    p->out = out;
    hg_text_addf(out, "/* What the functions of %s share. */\ntypedef struct %s_env {\n",
                 p->module->name, p->name);
    bool any = false;
    for (uint64_t mark = 0; mark < emit_device_c_mark_count(p); mark++) {
        if (!(p->marks[mark] & EMIT_DEVICE_OUTER)) continue;
        text(p, "    ");
        print_member_type(p, mark);
        print_member_name(p, mark);
        text(p, ";\n");
        any = true;
    }
    if (!any) hg_text_addf(out, "    %s unused;\n", emit_c_type(p, HG_TYPE_U8));
    p->indent = 1;
    emit_c_declare_vars(p, NULL);
    p->indent = 0;
    hg_text_addf(out, "} %s_env;\n\n", p->name);
    p->out = kept;
}

static void print_parameters(c_printer *p) {
    hg_text_addf(p->out, "%s%s_env *env", p->dialect->local, p->name);
}

/* ---- the kernel's head ---- */

static bool reads_record(const c_printer *p) {
    bool used = p->marks[emit_device_c_record_mark(p)] != 0;
    for (uint64_t i = 0; i < p->module->slots.count; i++)
        used = used || (p->marks[i] && p->module->slots.data[i].base >= 0);
    return used;
}

/* What stands between parameters, and after the number-th one: for the slots, then the record. */
static void begin_parameter(c_printer *p, const char **comma) {
    text(p, *comma);
    *comma = ", ";
}
static void end_parameter(c_printer *p, uint32_t *number) {
    if (p->dialect->device->params.attribute)
        hg_text_addf(p->out, p->dialect->device->params.attribute, (unsigned)*number);
    ++*number;
}

static void print_slot_parameter(c_printer *p, uint64_t slot) {
    const kir_slot *s = &p->module->slots.data[slot];
    emit_device_c_byte_pointer(p, slot);
    if (s->distinct && p->dialect->device->distinct) text(p, p->dialect->device->distinct);
    emit_device_c_slot_name(p->module, p->out, slot);
    if (s->base >= 0) text(p, "_arena");
}

/* What is done with any slot of the binding decides its type. */
static void print_binding_parameter(c_printer *p, uint32_t binding) {
    uint64_t most = 0;
    while (kir_device_binding(p->layout, most) != binding) most++;
    for (uint64_t i = most; i < p->module->slots.count; i++)
        if (kir_device_binding(p->layout, i) == binding && p->marks[i] & EMIT_DEVICE_WRITTEN)
            most = i;
    emit_device_c_byte_pointer(p, most);
    hg_text_addf(p->out, "binding%u", (unsigned)binding);
}

static void print_unused_bindings(c_printer *p) {
    for (uint32_t binding = 0; binds_arenas(p) && binding < p->layout->binding_count; binding++) {
        bool used = false;
        for (uint64_t i = 0; i < p->module->slots.count; i++)
            used = used ||
                   (kir_device_binding(p->layout, i) == binding && p->marks[i] & EMIT_DEVICE_USED);
        if (!used) hg_text_addf(p->out, "    (void)binding%u;\n", (unsigned)binding);
    }
}

static void print_kernel_parameters(c_printer *p, emit_record record) {
    const c_device_words *words = p->dialect->device;
    const char *comma = "";
    uint32_t number = 0;
    for (uint32_t i = 0;
         i < kir_device_binding_count(p->layout, p->module) && !words->params.by_address; i++) {
        begin_parameter(p, &comma);
        if (binds_arenas(p))
            print_binding_parameter(p, i);
        else
            print_slot_parameter(p, i);
        end_parameter(p, &number);
    }
    if (p->layout->uses_group_memory && words->params.group_parameter) {
        begin_parameter(p, &comma);
        text(p, words->params.group_parameter);
    }
    if (record != EMIT_RECORD_NONE) {
        begin_parameter(p, &comma);
        if (record == EMIT_RECORD_VALUE)
            hg_text_addf(p->out, words->params.record, p->name);
        else
            hg_text_addf(p->out, "%sconst %s_record *record_memory", words->memory, p->name);
        end_parameter(p, &number);
    }
    if (!words->params.id_parameters) return;
    begin_parameter(p, &comma);
    text(p, words->params.id_parameters);
}

static void print_kernel_head(c_printer *p) {
    const c_device_words *words = p->dialect->device;
    emit_record record = emit_device_c_record(p->dialect, p->module, p->layout);
    hg_text_addf(p->out, "/* One invocation. */\n%s%s(", words->kernel, p->name);
    print_kernel_parameters(p, record);
    text(p, ") {\n");
    if (record == EMIT_RECORD_BUFFER)
        hg_text_addf(p->out, "    const %s_record record = *record_memory;\n", p->name);
    if (record != EMIT_RECORD_NONE && !reads_record(p)) text(p, "    (void)record;\n");
    if (words->params.ids_unused) hg_text_addf(p->out, "    %s\n", words->params.ids_unused);
    for (uint64_t i = 0; i < p->module->slots.count; i++) print_base(p, i);
    print_unused_bindings(p);
    if (p->layout->uses_group_memory && !words->params.group_parameter)
        hg_text_addf(p->out, "    %s\n", words->params.group_variable);
    const char *byte = emit_c_type(p, HG_TYPE_U8);
    if (p->marks[emit_device_c_group_mark(p)] & EMIT_DEVICE_USED)
        hg_text_addf(p->out, "    %s%s *const group = (%s%s *)group_memory;\n", words->group, byte,
                     words->group, byte);
    else if (p->layout->uses_group_memory)
        text(p, "    (void)group_memory;\n");
    if (p->environment) print_environment_value(p);
}

static const c_form DEVICE = {
    .shared = "env->",
    .arguments = "env",
    .unused = "    (void)env;\n",
    .parameters = print_parameters,
    .kernel_head = print_kernel_head,
    .id = print_id,
    .input = print_input,
    .memory = emit_device_c_memory,
    .is_wide = emit_device_c_is_wide,
    .wide = emit_device_c_wide_statement,
};

/* ---- the whole text ---- */

/* Marks slots, group memory, the record and ids, and finds what the text needs. */
/* What the text needs at its top. */
typedef struct c_needs {
    bool f64, atomic64, cas, dot4_u;
} c_needs;

static void look(c_printer *p, const c_reach *r, c_needs *needs) {
    for (uint64_t i = 0; i < r->order.count; i++) {
        const kir_function *f = r->order.data[i];
        bool outer = f != p->module->functions;
        uint8_t used = (uint8_t)(EMIT_DEVICE_USED | (outer ? EMIT_DEVICE_OUTER : 0));
        p->environment = p->environment || (outer && !f->pure);
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            needs->f64 |= v->type == HG_TYPE_F64 || (v->nargs && v->args[0]->type == HG_TYPE_F64);
            needs->atomic64 |= v->op == KIR_ATOMIC && v->u.mem.bytes == 8;
            needs->cas |= v->op == KIR_ATOMIC && v->u.mem.atomic == KIR_ATOMIC_CAS;
            needs->dot4_u |= v->op == KIR_DOT4_U;
            if (v->op == KIR_INPUT && v->uses) p->marks[emit_device_c_record_mark(p)] |= used;
            if (v->op == KIR_ID && v->uses && v->u.imm < KIR_DEVICE_ID_COUNT &&
                p->dialect->device->params.id_parameters)
                p->marks[emit_device_c_id_mark(p, v->u.imm)] |= used;
            emit_device_c_mark_access(p, v, used);
        }
    }
}

static void print_head(c_printer *p, const char *about, const c_needs *needs) {
    const c_device_words *words = p->dialect->device;
    hg_text_addf(p->out, "/* Written by hologram: %s.\n%s */\n%s", words->top.title, about,
                 words->top.head);
    if (needs->f64 && words->top.head_f64) text(p, words->top.head_f64);
    if (needs->atomic64 && words->top.head_atomic64) text(p, words->top.head_atomic64);
    if (needs->cas && words->top.head_cas) text(p, words->top.head_cas);
    if (needs->dot4_u && words->top.head_dot4_u) text(p, words->top.head_dot4_u);
    text(p, "\n");
}

static void print_file(c_printer *p, const char *about, const c_reach *r, hg_text *body,
                       hg_text *out) {
    c_needs needs = {0};
    look(p, r, &needs);
    p->out = body;
    for (uint64_t i = 0; i < r->order.count; i++) emit_c_print_function(p, r->order.data[i]);
    p->out = out;
    print_head(p, about, &needs);
    emit_c_helpers(p, out);
    emit_device_c_fences(p);
    print_record(p, out);
    if (p->environment) print_environment(p, out);
    emit_c_print_tables(p, out, r);
    hg_text_add(out, body->data ? body->data : "", body->length);
}

hg_status emit_device_c(const c_dialect *dialect, const kir_module *kernel,
                        const kir_device_layout *layout, const char *about, hg_text *out) {
    hg_text body = {0};
    c_reach reach = {0};
    c_printer printer = {.dialect = dialect, .form = &DEVICE, .layout = layout, .module = kernel},
              *p = &printer;
    emit_kernel_name(kernel, p->name);
    p->marks = hg_calloc((size_t)emit_device_c_mark_count(p), 1);
    bool ok = p->marks && emit_c_reach(kernel, kernel->functions, true, &reach);
    for (const kir_function *f = kernel->functions; f && ok; f = f->next)
        ok = emit_device_c_widen(f, dialect->device->wide_offsets);
    if (ok) print_file(p, about, &reach, &body, out);
    ok = ok && !body.failed && !out->failed;
    hg_text_free(&body);
    hg_vec_free(&reach.order);
    hg_free(p->marks);
    if (p->unsupported)
        return hg_fail(HG_ERROR_ISA, "no %s text for '%s': %s", dialect->device->top.title,
                       kernel->name, p->unsupported);
    return ok ? HG_OK : hg_fail_memory();
}
