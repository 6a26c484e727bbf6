/* Kernels in device form as OpenCL C 1.2. Expressions, names, comments and control flow are those of the C emitter; here is what a
 * device adds: the kernel's parameters, the record, ids, memory and atomics.
 * Must not know: drivers, devices by name. */
#include "emit/emit_c_internal.h"
#include <string.h>

/* What a module does with a slot or with group memory. OUTER: in a function that is not the kernel. */
enum { MARK_USED = 1, MARK_WRITTEN = 2, MARK_OUTER = 4 };

static void text(c_printer *p, const char *s) { hg_text_add(p->out, s, strlen(s)); }

/* ---- the record ---- */

/* A device of the full profile takes 1024 bytes of parameters (CL_DEVICE_MAX_PARAMETER_SIZE). */
enum { PARAMETER_BYTES = 1024 };

emit_record emit_opencl_record(const kir_module *m, const kir_device_layout *layout) {
    if (layout->record_bytes == 0) return EMIT_RECORD_NONE;
    uint64_t bytes = (m->slots.count + 1) * 8;
    return bytes + layout->record_bytes <= PARAMETER_BYTES ? EMIT_RECORD_VALUE : EMIT_RECORD_BUFFER;
}

static void field_name(const c_printer *p, hg_text *out, uint64_t i) {
    static const char *const NAMES[] = {[KIR_FIELD_INPUT] = "input",
                                        [KIR_FIELD_BASE] = "base",
                                        [KIR_FIELD_LIMIT] = "limit",
                                        [KIR_FIELD_SHARED_LIMIT] = "shared_limit",
                                        [KIR_FIELD_SHARED_BYTES] = "shared_bytes",
                                        [KIR_FIELD_SIZE] = "size",
                                        [KIR_FIELD_COUNT] = "count",
                                        [KIR_FIELD_FIRST] = "first",
                                        [KIR_FIELD_LANES] = "lanes",
                                        [KIR_FIELD_BLOCK_DIM] = "block_dim",
                                        [KIR_FIELD_GRID_DIM] = "grid_dim",
                                        [KIR_FIELD_DIGIT] = "digit",
                                        [KIR_FIELD_BOX] = "box",
                                        [KIR_FIELD_TABLE] = "entries",
                                        [KIR_FIELD_FUEL] = "fuel",
                                        [KIR_FIELD_ARENAS] = "arenas",
                                        [KIR_FIELD_ZERO] = "zero"};
    const kir_field *f = &p->layout->fields.data[i];
    hg_text_addf(out, "%s_%u", f->kind < HG_COUNT_OF(NAMES) ? NAMES[f->kind] : "field", (unsigned)f->index);
    if (f->reach) hg_text_addf(out, "_reach_%llu", (unsigned long long)f->reach);
    if (f->high) hg_text_addf(out, "_high");
}

/* The field that begins at an offset; the count of fields when there is none. */
static uint64_t field_at(const kir_module *m, uint32_t offset) {
    for (uint64_t i = 0; i < m->inputs.count; i++)
        if (m->inputs.data[i].index == offset) return i;
    return m->inputs.count;
}

static void print_record(c_printer *p, hg_text *out) {
    const kir_module *m = p->module;
    if (p->layout->record_bytes == 0) return;
    hg_text_addf(out, "/* What a launch tells every lane. */\ntypedef struct %s_record {\n", p->name);
    for (uint32_t offset = 0; offset < p->layout->record_bytes;) {
        uint64_t i = field_at(m, offset);
        if (i == m->inputs.count) {
            hg_text_addf(out, "    uint unused_%u;\n", (unsigned)offset);
            offset += 4;
            continue;
        }
        hg_text_addf(out, "    %s ", emit_c_type(p, m->inputs.data[i].type));
        field_name(p, out, i);
        hg_text_addf(out, ";\n");
        offset += (uint32_t)kir_type_bytes(m->inputs.data[i].type);
    }
    hg_text_addf(out, "} %s_record;\n\n", p->name);
}

static void print_input(c_printer *p, const kir_value *v) {
    bool same = v->u.imm < p->module->inputs.count && v->u.imm < p->layout->fields.count &&
                emit_c_kind(p->module->inputs.data[v->u.imm].type) == emit_c_kind(v->type);
    if (!same) {
        p->unsupported = "an input that is no field of the record";
        return;
    }
    text(p, p->kernel ? "record." : "env->record.");
    field_name(p, p->out, v->u.imm);
    text(p, ";\n");
}

static void print_id(c_printer *p, const kir_value *v) {
    static const char *const IDS[KIR_DEVICE_ID_COUNT] = {
        [KIR_ID_THREAD] = "get_global_id(0)", [KIR_ID_LOCAL_X] = "get_local_id(0)", [KIR_ID_LOCAL_Y] = "get_local_id(1)",
        [KIR_ID_LOCAL_Z] = "get_local_id(2)", [KIR_ID_GROUP_X] = "get_group_id(0)", [KIR_ID_GROUP_Y] = "get_group_id(1)",
        [KIR_ID_GROUP_Z] = "get_group_id(2)"};
    if (v->u.imm < KIR_DEVICE_ID_COUNT && v->type == HG_TYPE_U32)
        hg_text_addf(p->out, "(uint)%s;\n", IDS[v->u.imm]);
    else
        p->unsupported = "an id that is not one of the device form";
}

/* ---- slots ---- */

static void slot_name(const kir_module *m, hg_text *out, uint64_t i) {
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

static const char *qualifier(const c_printer *p, uint64_t slot) { return p->marks[slot] & MARK_WRITTEN ? "__global " : "__global const "; }

static void print_parameter(c_printer *p, uint64_t slot) {
    hg_text_addf(p->out, "%suchar *", qualifier(p, slot));
    slot_name(p->module, p->out, slot);
    if (p->module->slots.data[slot].base >= 0) text(p, "_arena");
}

/* The offset in a field, or in two halves. */
static void print_offset(c_printer *p, uint64_t field) {
    const kir_field *low = &p->layout->fields.data[field];
    text(p, "record.");
    field_name(p, p->out, field);
    for (uint64_t i = 0; i < p->layout->fields.count; i++) {
        const kir_field *high = &p->layout->fields.data[i];
        if (!high->high || high->kind != low->kind || high->index != low->index || high->reach != low->reach) continue;
        text(p, " + ((ulong)record.");
        field_name(p, p->out, i);
        text(p, " << 32)");
        return;
    }
}

/* "    __global uchar *const s0 = s0_arena + record.base_0;" */
static void print_base(c_printer *p, uint64_t slot) {
    int32_t base = p->module->slots.data[slot].base;
    if (!(p->marks[slot] & MARK_USED)) {
        text(p, "    (void)");
        slot_name(p->module, p->out, slot);
        text(p, base >= 0 ? "_arena;\n" : ";\n");
    } else if (base >= 0) {
        hg_text_addf(p->out, "    %suchar *const ", qualifier(p, slot));
        slot_name(p->module, p->out, slot);
        text(p, " = ");
        slot_name(p->module, p->out, slot);
        text(p, "_arena + ");
        print_offset(p, (uint64_t)base);
        text(p, ";\n");
    }
}

/* ---- the kernel's head, and what its functions get ---- */

static uint64_t group_mark(const c_printer *p) { return p->module->slots.count; } /* place of group memory in marks */
static uint64_t record_mark(const c_printer *p) { return p->module->slots.count + 1; }

static bool reads_record(const c_printer *p) {
    bool used = p->marks[record_mark(p)] != 0;
    for (uint64_t i = 0; i < p->module->slots.count; i++) used = used || (p->marks[i] && p->module->slots.data[i].base >= 0);
    return used;
}

static void print_environment_value(c_printer *p) {
    hg_text_addf(p->out, "    %s_env environment = {", p->name);
    const char *comma = "";
    for (uint64_t i = 0; i < p->module->slots.count; i++) {
        if (!(p->marks[i] & MARK_OUTER)) continue;
        hg_text_addf(p->out, "%s.", comma);
        slot_name(p->module, p->out, i);
        text(p, " = ");
        slot_name(p->module, p->out, i);
        comma = ", ";
    }
    if (p->marks[group_mark(p)] & MARK_OUTER) {
        hg_text_addf(p->out, "%s.group = group", comma);
        comma = ", ";
    }
    if (p->marks[record_mark(p)] & MARK_OUTER) {
        hg_text_addf(p->out, "%s.record = record", comma);
        comma = ", ";
    }
    text(p, *comma ? "};\n" : "0};\n");
    hg_text_addf(p->out, "    __private %s_env *const env = &environment;\n    (void)env;\n", p->name);
}

static void print_kernel_head(c_printer *p) {
    const kir_module *m = p->module;
    const char *comma = "";
    hg_text_addf(p->out, "/* One invocation. */\n__kernel void %s(", p->name);
    for (uint64_t i = 0; i < m->slots.count; i++, comma = ", ") {
        text(p, comma);
        print_parameter(p, i);
    }
    if (p->layout->uses_group_memory) {
        hg_text_addf(p->out, "%s__local ulong *group_memory", comma);
        comma = ", ";
    }
    emit_record record = emit_opencl_record(m, p->layout);
    if (record == EMIT_RECORD_VALUE)
        hg_text_addf(p->out, "%s%s_record record", comma, p->name);
    else if (record == EMIT_RECORD_BUFFER)
        hg_text_addf(p->out, "%s__global const %s_record *record_memory", comma, p->name);
    text(p, ") {\n");
    if (record == EMIT_RECORD_BUFFER) hg_text_addf(p->out, "    const %s_record record = *record_memory;\n", p->name);
    if (record != EMIT_RECORD_NONE && !reads_record(p)) text(p, "    (void)record;\n");
    for (uint64_t i = 0; i < m->slots.count; i++) print_base(p, i);
    if (p->marks[group_mark(p)] & MARK_USED)
        text(p, "    __local uchar *const group = (__local uchar *)group_memory;\n");
    else if (p->layout->uses_group_memory)
        text(p, "    (void)group_memory;\n");
    if (p->environment) print_environment_value(p);
}

/* struct NAME_env: what functions see of the kernel's memory, and the variables they share. */
static void print_environment(c_printer *p, hg_text *out) {
    hg_text *kept = p->out;
    p->out = out;
    hg_text_addf(out, "/* What the functions of %s share. */\ntypedef struct %s_env {\n", p->module->name, p->name);
    bool any = false;
    for (uint64_t i = 0; i < p->module->slots.count; i++) {
        if (!(p->marks[i] & MARK_OUTER)) continue;
        hg_text_addf(out, "    %suchar *", qualifier(p, i));
        slot_name(p->module, out, i);
        text(p, ";\n");
        any = true;
    }
    if (p->marks[group_mark(p)] & MARK_OUTER) text(p, "    __local uchar *group;\n");
    if (p->marks[record_mark(p)] & MARK_OUTER) hg_text_addf(out, "    %s_record record;\n", p->name);
    any = any || (p->marks[group_mark(p)] | p->marks[record_mark(p)]) & MARK_OUTER;
    if (!any) text(p, "    uchar unused;\n");
    p->indent = 1;
    emit_c_declare_vars(p, NULL);
    p->indent = 0;
    hg_text_addf(out, "} %s_env;\n\n", p->name);
    p->out = kept;
}

/* ---- memory ---- */

static bool is_group(const kir_value *v) { return v->u.mem.space == KIR_SHARED && v->u.mem.slot == KIR_OPEN; }

/* "(volatile __global uint *)(s0 + v12)" */
static void print_pointer(c_printer *p, const kir_value *v, const char *type) {
    bool group = is_group(v);
    if (!group && (v->u.mem.slot < 0 || (uint64_t)v->u.mem.slot >= p->module->slots.count)) {
        p->unsupported = "an access by address";
        return;
    }
    bool is_volatile = v->u.mem.volatile_access || v->op == KIR_ATOMIC;
    hg_text_addf(p->out, "(%s%s%s *)(%s", is_volatile ? "volatile " : "", group ? "__local " : qualifier(p, (uint64_t)v->u.mem.slot), type,
                 p->kernel ? "" : "env->");
    if (group)
        text(p, "group");
    else
        slot_name(p->module, p->out, (uint64_t)v->u.mem.slot);
    if (v->args[0]->op != KIR_CONST || v->args[0]->u.imm) {
        text(p, " + ");
        if (emit_opencl_is_wide(v->args[0]))
            emit_opencl_wide_name(p, v->args[0]);
        else
            emit_c_name(p, v->args[0]);
    }
    text(p, ")");
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
    print_pointer(p, v, type);
    text(p, ";\n");
}

static void print_store(c_printer *p, const kir_value *v) {
    emit_c_line(p);
    text(p, "*");
    print_pointer(p, v, emit_c_type(p, v->args[1]->type));
    text(p, " = ");
    emit_c_name(p, v->args[1]);
    text(p, ";\n");
}

static void print_atomic(c_printer *p, const kir_value *v) {
    static const char *const NAMES[] = {
        [KIR_ATOMIC_ADD] = "add",   [KIR_ATOMIC_UMIN] = "min",   [KIR_ATOMIC_SMIN] = "min", [KIR_ATOMIC_UMAX] = "max",
        [KIR_ATOMIC_SMAX] = "max",  [KIR_ATOMIC_AND] = "and",    [KIR_ATOMIC_OR] = "or",    [KIR_ATOMIC_XOR] = "xor",
        [KIR_ATOMIC_EXCH] = "xchg", [KIR_ATOMIC_CAS] = "cmpxchg"};
    int kind = emit_c_kind(v->args[1]->type);
    bool is_signed = v->u.mem.atomic == KIR_ATOMIC_SMIN || v->u.mem.atomic == KIR_ATOMIC_SMAX;
    if (v->u.mem.atomic >= HG_COUNT_OF(NAMES) || (kind != 2 && kind != 3) || v->u.mem.split) {
        p->unsupported = "an atomic of this size";
        return;
    }
    const char *type = is_signed ? p->dialect->signed_types[kind] : p->dialect->types[kind];
    emit_c_line(p);
    if (v->uses) hg_text_addf(p->out, "const %s v%u = ", p->dialect->types[kind], (unsigned)v->id);
    if (v->uses && is_signed) hg_text_addf(p->out, "(%s)", p->dialect->types[kind]);
    hg_text_addf(p->out, "%s_%s(", kind == 3 ? "atom" : "atomic", NAMES[v->u.mem.atomic]);
    print_pointer(p, v, type);
    for (uint8_t i = 1; i < v->nargs; i++) {
        text(p, ", ");
        if (is_signed) hg_text_addf(p->out, "(%s)", type);
        emit_c_name(p, v->args[i]);
    }
    text(p, ");\n");
}

static void print_fence(c_printer *p, const kir_value *v) {
    if (v->u.imm == HG_SCOPE_THREAD) return;
    bool consistent = v->u.imm == HG_SCOPE_SYSTEM;
    p->fences[consistent] = true;
    emit_c_line(p);
    text(p, consistent ? "hg_fence_seq_cst();\n" : "hg_fence_acq_rel();\n");
}

/* OpenCL C 1.2 has mem_fence alone, which is nothing on some devices (PoCL 3.1 moves and removes stores across it). */
static void print_fence_helper(c_printer *p, const char *order) {
    hg_text_addf(p->out,
                 "static inline void hg_fence_%s(void) {\n"
                 "#if __OPENCL_C_VERSION__ >= 300 ? defined(__opencl_c_atomic_order_%s) && defined(__opencl_c_atomic_scope_device) : "
                 "__OPENCL_C_VERSION__ >= 200\n"
                 "    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_%s, memory_scope_device);\n"
                 "#else\n"
                 "    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
                 "#endif\n"
                 "}\n",
                 order, order, order);
}

static bool print_memory(c_printer *p, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_LOAD: print_load(p, v); return true;
    case KIR_STORE: print_store(p, v); return true;
    case KIR_ATOMIC: print_atomic(p, v); return true;
    case KIR_CHECK:
    case KIR_FAULT_IF: p->unsupported = "a fault that is not in device form"; return true;
    case KIR_FENCE: print_fence(p, v); return true;
    case KIR_BARRIER:
        emit_c_line(p);
        hg_text_addf(p->out, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier %u */\n", (unsigned)v->u.imm);
        return true;
    default: return false;
    }
}

const c_dialect emit_opencl_dialect = {
    .types = {"uchar", "ushort", "uint", "ulong", "float", "double"},
    .signed_types = {"char", "short", "int", "long", "float", "double"},
    .top_i64 = "LONG_MAX",
    .u64_small = "%lluul",
    .u64_large = "0x%llxul",
    .table = "__constant ",
    .pointer = "__private ",
    .lane = "env->",
    .arguments = "env",
    .parameters = "__private %s_env *env",
    .unused = "    (void)env;\n",
    .builtins = true,
    .is_wide = emit_opencl_is_wide,
    .wide = emit_opencl_wide_statement,
    .logical_not = true,
    .kernel_head = print_kernel_head,
    .id = print_id,
    .input = print_input,
    .memory = print_memory,
};

/* ---- the whole text ---- */

/* Marks slots, group memory and the record, and tells what the text needs. */
static void look(c_printer *p, const c_reach *r, bool *f64, bool *atomic64) {
    for (uint64_t i = 0; i < r->order.count; i++) {
        const kir_function *f = r->order.data[i];
        bool outer = f != p->module->functions;
        p->environment = p->environment || (outer && !f->pure);
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            uint8_t marks = (uint8_t)(MARK_USED | (outer ? MARK_OUTER : 0));
            *f64 = *f64 || v->type == HG_TYPE_F64 || (v->nargs && v->args[0]->type == HG_TYPE_F64);
            *atomic64 = *atomic64 || (v->op == KIR_ATOMIC && v->u.mem.bytes == 8);
            if (v->op == KIR_INPUT && v->uses) p->marks[record_mark(p)] |= marks;
            if (v->op != KIR_LOAD && v->op != KIR_STORE && v->op != KIR_ATOMIC) continue;
            if (v->op == KIR_LOAD && !v->uses && !v->u.mem.volatile_access) continue;
            if (v->op != KIR_LOAD) marks |= MARK_WRITTEN;
            if (is_group(v))
                p->marks[group_mark(p)] |= marks;
            else if (v->u.mem.slot >= 0 && (uint64_t)v->u.mem.slot < p->module->slots.count)
                p->marks[v->u.mem.slot] |= marks;
        }
    }
}

static void print_file(c_printer *p, const char *about, const c_reach *r, hg_text *body, hg_text *out) {
    bool f64 = false, atomic64 = false;
    look(p, r, &f64, &atomic64);
    p->out = body;
    for (uint64_t i = 0; i < r->order.count; i++) emit_c_print_function(p, r->order.data[i]);
    p->out = out;
    hg_text_addf(out, "/* Written by hologram: OpenCL C 1.2; of later versions only fences.\n%s */\n#pragma OPENCL FP_CONTRACT OFF\n",
                 about);
    if (f64) text(p, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    if (atomic64)
        text(p, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n");
    text(p, "\n");
    emit_c_helpers(p, out);
    if (p->fences[0]) print_fence_helper(p, "acq_rel");
    if (p->fences[1]) print_fence_helper(p, "seq_cst");
    if (p->fences[0] || p->fences[1]) text(p, "\n");
    print_record(p, out);
    if (p->environment) print_environment(p, out);
    emit_c_print_tables(p, out, r);
    hg_text_add(out, body->data ? body->data : "", body->length);
}

hg_status emit_opencl(const kir_module *kernel, const kir_device_layout *layout, const char *about, hg_text *out) {
    hg_text body = {0};
    c_reach reach = {0};
    c_printer printer = {.dialect = &emit_opencl_dialect, .layout = layout, .module = kernel}, *p = &printer;
    emit_kernel_name(kernel, p->name);
    p->marks = hg_calloc((size_t)kernel->slots.count + 2, 1);
    bool ok = p->marks && emit_c_reach(kernel, kernel->functions, true, &reach);
    for (const kir_function *f = kernel->functions; f && ok; f = f->next) ok = emit_opencl_widen(f);
    if (ok) print_file(p, about, &reach, &body, out);
    ok = ok && !body.failed && !out->failed;
    hg_text_free(&body);
    hg_vec_free(&reach.order);
    hg_free(p->marks);
    if (p->unsupported) return hg_fail(HG_ERROR_ISA, "no OpenCL text for '%s': %s", kernel->name, p->unsupported);
    return ok ? HG_OK : hg_fail_memory();
}
