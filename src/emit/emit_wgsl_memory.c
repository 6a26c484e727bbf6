/* Memory in WGSL: bindings of words, group memory, the record, atomic operations, barriers. All of
 * a binding is array<u32> or array<atomic<u32>>; there are no pointers into it.
 * Must not know: control flow, devices by name. */
#include "emit/emit_wgsl_internal.h"
#include "kir/access.h"

static bool is_group(const kir_value *v) {
    return v->u.mem.space == KIR_SHARED && v->u.mem.slot == KIR_OPEN;
}

uint32_t wgsl_binding_count(const wgsl *p) {
    return kir_device_binding_count(p->layout, p->module);
}

void wgsl_prepare_memory(wgsl *p) {
    for (const kir_function *f = p->module->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (!kir_is_access(v)) continue;
            p->group_used |= is_group(v);
            p->storage_written |= !is_group(v) && v->op != KIR_LOAD;
        }
}

/* ---- which storage a barrier orders ---- */

static uint32_t binding_of(const wgsl *p, const kir_value *v) {
    return kir_device_binding(p->layout, (uint64_t)v->u.mem.slot);
}

static uint8_t use_of(const kir_value *v) {
    return v->op == KIR_LOAD ? WGSL_READ : v->op == KIR_STORE ? WGSL_SET : WGSL_READ | WGSL_SET;
}

void wgsl_note_access(wgsl *p, const kir_function *f, const kir_value *v) {
    if (v->u.mem.slot >= 0) p->needs[f->id].bindings[binding_of(p, v)] |= use_of(v);
}

static void stretch(wgsl_span *s, uint32_t at) {
    if (!s->first) s->first = at;
    s->last = at;
}

static void note_use(wgsl *p, uint32_t binding, uint8_t how, uint32_t at) {
    if (how) stretch(&p->accessed[binding], at);
    if (how & WGSL_SET) stretch(&p->set[binding], at);
}

void wgsl_find_spans(wgsl *p) {
    const kir_function *f = p->module->functions;
    uint32_t count = wgsl_binding_count(p), at = 0;
    p->spans = hg_calloc((size_t)f->value_count + 1, sizeof *p->spans);
    p->accessed = hg_calloc(2 * (size_t)count + 1, sizeof *p->accessed);
    if (!p->spans || !p->accessed) {
        p->failed = true;
        return;
    }
    p->set = p->accessed + count;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        const kir_value *loop = kir_outermost_loop(v);
        stretch(&p->spans[v->id], ++at);
        if (loop) stretch(&p->spans[loop->id], at);
        if (kir_is_access(v) && v->u.mem.slot >= 0) note_use(p, binding_of(p, v), use_of(v), at);
        if (v->op != KIR_CALL) continue;
        for (uint32_t b = 0; b < count; b++)
            note_use(p, b, p->needs[v->u.call.function->id].bindings[b], at);
    }
}

/* Whether lanes may meet in a binding from both sides of a barrier, one of them to write. Bindings
 * share no byte. Compilers for CPUs let each barrier, of storage too, stop all lanes of a group. */
static bool orders_storage(const wgsl *p, const kir_value *barrier) {
    const kir_value *loop = kir_outermost_loop(barrier);
    if (p->function != p->module->functions) return p->storage_written;
    wgsl_span around = p->spans[loop ? loop->id : barrier->id];
    for (uint32_t b = 0; b < wgsl_binding_count(p); b++) {
        wgsl_span any = p->accessed[b], set = p->set[b];
        if ((set.first && set.first <= around.last && any.last >= around.first) ||
            (set.first && any.first <= around.last && set.last >= around.first))
            return true;
    }
    return false;
}

/* ---- declarations ---- */

static const char *words(bool atomic) { return atomic ? "atomic<u32>" : "u32"; }

static void declare_record(wgsl *p) {
    const kir_module *m = p->module;
    if (!p->layout->record_bytes) return;
    wgsl_text(p, "/* What a launch tells every lane. */\nstruct Record {\n");
    for (uint32_t offset = 0; offset < p->layout->record_bytes; offset += 4) {
        uint64_t i = emit_field_at(m, offset);
        wgsl_text(p, "    ");
        if (i < m->inputs.count)
            emit_field_name(p->layout, p->out, i);
        else
            hg_text_addf(p->out, "unused_%u", (unsigned)offset);
        hg_text_addf(p->out, ": u32,\n");
        if (i < m->inputs.count && kir_type_bytes(m->inputs.data[i].type) != 4)
            p->unsupported = "a field of the record that is no word";
    }
    hg_text_addf(p->out, "}\n@group(0) @binding(%u) var<uniform> record: Record;\n",
                 (unsigned)wgsl_binding_count(p));
}

void wgsl_declare_memory(wgsl *p) {
    uint32_t count = wgsl_binding_count(p);
    for (uint32_t b = 0; b < count; b++)
        hg_text_addf(p->out,
                     "@group(0) @binding(%u) var<storage, read_write> binding%u: array<%s>;\n",
                     (unsigned)b, (unsigned)b, words(p->layout->atomic_bindings.data[b]));
    declare_record(p);
    if (p->group_used) {
        uint64_t size = (p->options->group_memory + 3) / 4;
        hg_text_addf(p->out, "var<workgroup> group_memory: array<%s, %llu>;\n",
                     words(p->layout->atomic_group), (unsigned long long)(size ? size : 1));
    }
    wgsl_text(p, "\n");
}

/* Where slots begin in their bindings. One may begin in front of its binding, where no lane of the
 * dispatch comes: then only the sum with an offset, modulo 2^32, is a place. */
void wgsl_slot_bases(wgsl *p) {
    for (uint64_t i = 0; i < p->module->slots.count; i++) {
        int32_t base = p->module->slots.data[i].base;
        bool used = false;
        for (const kir_value *v = kir_walk(NULL, p->function->body); v && !used;
             v = kir_walk(v, p->function->body))
            used = kir_is_access(v) && !is_group(v) && v->u.mem.slot == (int16_t)i;
        if (!used || base < 0) continue;
        hg_text_addf(p->out, "    let s%llu = record.", (unsigned long long)i);
        emit_field_name(p->layout, p->out, (uint64_t)base);
        wgsl_text(p, ";\n");
    }
}

/* ---- places ---- */

/* The first argument after the place. */
static uint8_t operands(const kir_value *v) { return (uint8_t)(kir_device_offset(v) + 1); }

/* "group_memory[v12 >> 2u]", "binding0[(s0 + v12) >> 2u]" */
static void place(wgsl *p, const kir_value *v) {
    const kir_value *offset = v->args[kir_device_offset(v)];
    bool group = is_group(v), constant = offset->op == KIR_CONST,
         based = !group && p->module->slots.data[v->u.mem.slot].base >= 0;
    uint64_t word = constant ? (offset->u.imm & UINT32_MAX) >> 2 : 0;
    bool outside = constant && group && word >= (p->options->group_memory + 3) / 4; /* never runs */
    if (group)
        wgsl_text(p, "group_memory[");
    else
        hg_text_addf(p->out, "binding%u[",
                     (unsigned)kir_device_binding(p->layout, (uint64_t)v->u.mem.slot));
    if (outside) wgsl_use_helper(p, WGSL_OPAQUE_U32);
    bool sum = based && !(constant && word == 0);
    if (based) hg_text_addf(p->out, sum ? "(s%d + " : "s%d", (int)v->u.mem.slot);
    if (!constant)
        wgsl_name(p, offset);
    else if (sum || !based)
        hg_text_addf(p->out, outside ? "(%lluu)" : "%lluu",
                     (unsigned long long)(based ? word * 4 : word));
    if (sum) wgsl_text(p, ")");
    if (based || !constant) wgsl_text(p, " >> 2u");
    wgsl_text(p, "]");
}

static bool is_supported(wgsl *p, const kir_value *v) {
    uint8_t type = v->op == KIR_LOAD ? v->type : v->args[v->nargs - 1]->type;
    bool slot = v->u.mem.slot >= 0 && (uint64_t)v->u.mem.slot < p->module->slots.count;
    if (!slot && !is_group(v)) p->unsupported = "an access by address";
    if (type != HG_TYPE_U32 && type != HG_TYPE_F32)
        p->unsupported = "memory of another size than a word";
    return !p->unsupported;
}

/* ---- operations ---- */

static void load(wgsl *p, const kir_value *v) {
    if (!v->uses && !v->u.mem.volatile_access && !v->u.mem.uniform) return;
    bool atomic = kir_device_is_atomic(p->layout, v);
    if (v->uses) {
        wgsl_declare(p, v);
    } else {
        wgsl_line(p);
        wgsl_text(p, "_ = ");
    }
    if (v->type == HG_TYPE_F32) wgsl_text(p, "bitcast<f32>(");
    if (v->u.mem.uniform)
        wgsl_text(p, "workgroupUniformLoad(&");
    else if (atomic)
        wgsl_text(p, "atomicLoad(&");
    place(p, v);
    if (v->u.mem.uniform || atomic) wgsl_text(p, ")");
    if (v->type == HG_TYPE_F32) wgsl_text(p, ")");
    wgsl_text(p, ";\n");
}

static void word_of(wgsl *p, const kir_value *v) {
    if (v->type == HG_TYPE_F32) wgsl_text(p, "bitcast<u32>(");
    wgsl_name(p, v);
    if (v->type == HG_TYPE_F32) wgsl_text(p, ")");
}

static void store(wgsl *p, const kir_value *v) {
    bool atomic = kir_device_is_atomic(p->layout, v);
    wgsl_line(p);
    if (atomic) wgsl_text(p, "atomicStore(&");
    place(p, v);
    wgsl_text(p, atomic ? ", " : " = ");
    word_of(p, v->args[operands(v)]);
    wgsl_text(p, atomic ? ");\n" : ";\n");
}

/* "old = atomicCompareExchangeWeak(&place, " */
static void exchange(wgsl *p, const kir_value *v) {
    wgsl_line(p);
    hg_text_addf(p->out, "let exchanged%u = atomicCompareExchangeWeak(&", (unsigned)v->id);
    place(p, v);
    wgsl_text(p, ", ");
}

static void begin_retry(wgsl *p, const kir_value *v, bool reads) {
    wgsl_line(p);
    hg_text_addf(p->out, "var v%u", (unsigned)v->id);
    wgsl_text(p, reads ? " = atomicLoad(&" : ": u32");
    if (reads) {
        place(p, v);
        wgsl_text(p, ")");
    }
    wgsl_text(p, ";\n");
    wgsl_line(p);
    wgsl_text(p, "loop {\n");
    p->indent++;
}

static void end_retry(wgsl *p, const kir_value *v) {
    wgsl_line(p);
    hg_text_addf(p->out, "v%u = exchanged%u.old_value;\n", (unsigned)v->id, (unsigned)v->id);
}

/* WGSL has a weak compare and exchange alone, which may fail for no reason. */
static void compare_exchange(wgsl *p, const kir_value *v) {
    const kir_value *expected = v->args[operands(v)];
    begin_retry(p, v, false);
    exchange(p, v);
    wgsl_name(p, expected);
    wgsl_text(p, ", ");
    wgsl_name(p, v->args[operands(v) + 1]);
    wgsl_text(p, ");\n");
    end_retry(p, v);
    wgsl_line(p);
    hg_text_addf(p->out, "if (exchanged%u.exchanged || v%u != ", (unsigned)v->id, (unsigned)v->id);
    wgsl_name(p, expected);
    wgsl_text(p, ") { break; }\n");
    p->indent--;
    wgsl_line(p);
    wgsl_text(p, "}\n");
}

/* The memory holds u32, whose least and largest are not those of signed numbers. */
static void signed_extreme(wgsl *p, const kir_value *v) {
    begin_retry(p, v, true);
    exchange(p, v);
    hg_text_addf(p->out, "v%u, bitcast<u32>(%s(bitcast<i32>(v%u), bitcast<i32>(", (unsigned)v->id,
                 v->u.mem.atomic == KIR_ATOMIC_SMIN ? "min" : "max", (unsigned)v->id);
    wgsl_name(p, v->args[operands(v)]);
    wgsl_text(p, "))));\n");
    wgsl_line(p);
    hg_text_addf(p->out, "if (exchanged%u.exchanged) { break; }\n", (unsigned)v->id);
    end_retry(p, v);
    p->indent--;
    wgsl_line(p);
    wgsl_text(p, "}\n");
}

static void atomic(wgsl *p, const kir_value *v) {
    static const char *const NAMES[] = {
        [KIR_ATOMIC_ADD] = "atomicAdd",      [KIR_ATOMIC_UMIN] = "atomicMin",
        [KIR_ATOMIC_UMAX] = "atomicMax",     [KIR_ATOMIC_AND] = "atomicAnd",
        [KIR_ATOMIC_OR] = "atomicOr",        [KIR_ATOMIC_XOR] = "atomicXor",
        [KIR_ATOMIC_EXCH] = "atomicExchange"};
    if (v->u.mem.atomic == KIR_ATOMIC_CAS) {
        compare_exchange(p, v);
        return;
    }
    if (v->u.mem.atomic == KIR_ATOMIC_SMIN || v->u.mem.atomic == KIR_ATOMIC_SMAX) {
        signed_extreme(p, v);
        return;
    }
    if (v->uses)
        wgsl_declare(p, v);
    else
        wgsl_line(p);
    hg_text_addf(p->out, "%s(&", NAMES[v->u.mem.atomic]);
    place(p, v);
    wgsl_text(p, ", ");
    wgsl_name(p, v->args[operands(v)]);
    wgsl_text(p, ");\n");
}

static void barrier(wgsl *p, const kir_value *v) {
    wgsl_line(p);
    bool storage = orders_storage(p, v);
    if (storage) wgsl_text(p, "storageBarrier(); ");
    if (p->group_used || !storage) wgsl_text(p, "workgroupBarrier(); ");
    hg_text_addf(p->out, "// barrier %u\n", (unsigned)v->u.imm);
}

bool wgsl_memory(wgsl *p, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_LOAD:
        if (is_supported(p, v)) load(p, v);
        return true;
    case KIR_STORE:
        if (is_supported(p, v)) store(p, v);
        return true;
    case KIR_ATOMIC:
        if (is_supported(p, v)) atomic(p, v);
        return true;
    case KIR_FENCE: return true; /* WGSL has none: docs/design/webgpu.md */
    case KIR_BARRIER: barrier(p, v); return true;
    default: return false;
    }
}
