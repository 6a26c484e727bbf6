/* A kernel in device form as WGSL: one function a function, structured control flow, one `let` a
 * value, what follows from no statement left out (compilers warn about it). What the kernel has and
 * functions use goes to them as parameters, so that compilers see which of it is the same in all
 * lanes of a group. The entry point is named "main".
 * Must not know: devices by name, drivers. */
#include "emit/emit_wgsl_internal.h"
#include "kir/walk.h"
#include "isa/program.h"
#include <string.h>

enum { MOST_LEVELS = 120 /* compilers take 127 */, MOST_PARAMETERS = 255 };

static bool is_kernel(const wgsl *p) { return p->function == p->module->functions; }

/* ---- variables ---- */

/* Whether f gets the value of a variable of the module, which nothing there sets. Of a pointer that
 * goes to a function where not all lanes call it, compilers take the value for different. */
static bool is_value(const wgsl *p, const kir_function *f, const kir_var *x) {
    return p->needs[f->id].vars[x->id] == WGSL_READ && !x->length;
}

/* Whether the function has a pointer to x: an array parameter, or a variable of the module, which
 * the kernel declares. */
static bool is_pointer(const wgsl *p, const kir_var *x) {
    return x->by_reference || (!x->function && !is_kernel(p) && !is_value(p, p->function, x));
}

static void var_name(wgsl *p, const kir_var *x) {
    hg_text_addf(p->out, x->length ? "array_%u" : "x%u", (unsigned)x->id);
}

static void var_type(wgsl *p, const kir_var *x) {
    const char *type = wgsl_type(p, x->type);
    if (x->length)
        hg_text_addf(p->out, "array<%s, %u>", type, (unsigned)x->length);
    else
        wgsl_text(p, type);
}

static void var_pointer_type(wgsl *p, const kir_var *x) {
    wgsl_text(p, "ptr<function, ");
    var_type(p, x);
    wgsl_text(p, ">");
}

/* The address of a variable, for a call. */
static void var_address(wgsl *p, const kir_var *x) {
    if (!is_pointer(p, x)) wgsl_text(p, "&");
    var_name(p, x);
}

static void var_place(wgsl *p, const kir_value *v) {
    bool pointer = is_pointer(p, v->u.var);
    wgsl_text(p, pointer ? "(*" : "");
    var_name(p, v->u.var);
    wgsl_text(p, pointer ? ")" : "");
    if (!v->u.var->length) return;
    wgsl_text(p, "[");
    wgsl_name(p, v->args[0]);
    wgsl_text(p, "]");
}

static void var_access(wgsl *p, const kir_value *v) {
    bool set = v->op == KIR_VAR_SET || v->op == KIR_ARRAY_SET;
    if (set)
        wgsl_line(p);
    else
        wgsl_declare(p, v);
    var_place(p, v);
    wgsl_text(p, set ? " = " : "");
    if (set) wgsl_name(p, v->args[v->nargs - 1]);
    wgsl_text(p, ";\n");
}

static void declare_vars(wgsl *p) {
    for (const kir_var *x = p->module->vars; x; x = x->next) {
        bool own = x->function ? x->function == p->function && x->scratch
                               : is_kernel(p) && p->needs[p->function->id].vars[x->id];
        if (x->by_reference || !own) continue;
        wgsl_text(p, "    var ");
        var_name(p, x);
        wgsl_text(p, ": ");
        var_type(p, x);
        hg_text_addf(p->out, ";%s%s\n", x->name ? " // " : "", x->name ? x->name : "");
    }
}

/* ---- ids ---- */

static void define_ids(wgsl *p, uint8_t ids) {
    const uint32_t *group = p->options->group;
    for (uint32_t id = 0; id < KIR_DEVICE_ID_COUNT; id++) {
        kir_device_part part = kir_device_id_part((kir_device_id)id);
        if (!(ids >> id & 1)) continue;
        hg_text_addf(p->out, "    let %s = ", emit_id_names[id]);
        if (part == KIR_DEVICE_THREAD)
            hg_text_addf(p->out,
                         "((group_id.z * groups.y + group_id.y) * groups.x + group_id.x) * %uu + "
                         "local_index;\n",
                         (unsigned)(group[0] * group[1] * group[2]));
        else
            hg_text_addf(p->out, "%s.%c;\n", part == KIR_DEVICE_GROUP ? "group_id" : "local_id",
                         "xyz"[kir_device_id_axis((kir_device_id)id)]);
    }
}

/* ---- functions ---- */

static void begin_parameter(wgsl *p, uint32_t *count) {
    if ((*count)++) wgsl_text(p, ", ");
    if (*count > MOST_PARAMETERS) p->unsupported = "a function of more than 255 parameters";
}

/* What a function gets of the kernel: names and types, or names alone for a call. */
static void needed(wgsl *p, const kir_function *f, bool call, uint32_t *count) {
    for (uint32_t id = 0; id < KIR_DEVICE_ID_COUNT; id++) {
        if (!(p->needs[f->id].ids >> id & 1)) continue;
        begin_parameter(p, count);
        hg_text_addf(p->out, "%s%s", emit_id_names[id], call ? "" : ": u32");
    }
    for (const kir_var *x = p->module->vars; x; x = x->next) {
        if (!p->needs[f->id].vars[x->id]) continue;
        begin_parameter(p, count);
        bool value = is_value(p, f, x);
        if (call && !value) {
            var_address(p, x);
            continue;
        }
        if (call && is_pointer(p, x)) wgsl_text(p, "*");
        var_name(p, x);
        if (call) continue;
        wgsl_text(p, ": ");
        if (value)
            var_type(p, x);
        else
            var_pointer_type(p, x);
    }
}

static void kernel_head(wgsl *p) {
    const uint32_t *group = p->options->group;
    uint8_t ids = p->needs[p->function->id].ids;
    uint32_t count = 0;
    bool local = false, thread = ids >> KIR_ID_THREAD & 1, groups = thread;
    for (uint32_t id = 0; id < KIR_DEVICE_ID_COUNT; id++) {
        if (!(ids >> id & 1)) continue;
        local |= kir_device_id_part((kir_device_id)id) == KIR_DEVICE_LOCAL;
        groups |= kir_device_id_part((kir_device_id)id) == KIR_DEVICE_GROUP;
    }
    const struct {
        bool used;
        const char *text;
    } builtins[] = {
        {groups, "@builtin(workgroup_id) group_id: vec3<u32>"},
        {thread, "@builtin(num_workgroups) groups: vec3<u32>"},
        {thread, "@builtin(local_invocation_index) local_index: u32"},
        {local, "@builtin(local_invocation_id) local_id: vec3<u32>"},
    };
    hg_text_addf(p->out, "@compute @workgroup_size(%u, %u, %u)\nfn main(", (unsigned)group[0],
                 (unsigned)group[1], (unsigned)group[2]);
    for (size_t i = 0; i < HG_COUNT_OF(builtins); i++) {
        if (!builtins[i].used) continue;
        begin_parameter(p, &count);
        wgsl_text(p, builtins[i].text);
    }
    wgsl_text(p, ") {\n");
    define_ids(p, ids);
}

static void function_head(wgsl *p) {
    const kir_function *f = p->function;
    uint32_t count = 0;
    hg_text_addf(p->out, "fn fn_%u(", (unsigned)f->id);
    needed(p, f, false, &count);
    for (uint8_t i = 0; i < f->param_count; i++) {
        begin_parameter(p, &count);
        hg_text_addf(p->out, "a%u: %s", (unsigned)i, wgsl_type(p, f->param_types[i]));
    }
    for (uint8_t i = 0; i < f->array_count; i++) {
        begin_parameter(p, &count);
        var_name(p, f->array_params[i]);
        wgsl_text(p, ": ");
        var_pointer_type(p, f->array_params[i]);
    }
    wgsl_text(p, ")");
    if (f->result != KIR_VOID) hg_text_addf(p->out, " -> %s", wgsl_type(p, f->result));
    wgsl_text(p, " {\n");
}

/* ---- calls: an array that a function writes may not go to it twice ---- */

static bool is_written(const wgsl *p, const kir_value *v, uint8_t i) {
    return p->needs[v->u.call.function->id].written_array >> i & 1;
}

/* Whether the i-th array must be a copy, since another parameter that is written is the same one.
 */
static bool must_copy(wgsl *p, const kir_value *v, uint8_t i) {
    const kir_function *f = v->u.call.function;
    const kir_var *x = v->u.call.arrays[i];
    bool met = p->needs[f->id].vars[x->id];
    for (uint8_t k = 0; k < f->array_count; k++) {
        if (k == i || v->u.call.arrays[k] != x) continue;
        if (is_written(p, v, i) && is_written(p, v, k))
            p->unsupported = "an array that a function gets twice and writes";
        met |= is_written(p, v, k);
    }
    if (p->needs[f->id].vars[x->id] && is_written(p, v, i))
        p->unsupported = "an array that a function gets twice and writes";
    return met && !is_written(p, v, i);
}

static void copy_arrays(wgsl *p, const kir_value *v) {
    for (uint8_t i = 0; i < v->u.call.function->array_count; i++) {
        if (!must_copy(p, v, i)) continue;
        wgsl_line(p);
        hg_text_addf(p->out, "var copy%u_%u = ", (unsigned)v->id, (unsigned)i);
        if (is_pointer(p, v->u.call.arrays[i])) wgsl_text(p, "*");
        var_name(p, v->u.call.arrays[i]);
        wgsl_text(p, ";\n");
    }
}

static void call(wgsl *p, const kir_value *v) {
    const kir_function *f = v->u.call.function;
    uint32_t count = 0;
    copy_arrays(p, v);
    if (v->uses)
        wgsl_declare(p, v);
    else
        wgsl_line(p);
    hg_text_addf(p->out, "fn_%u(", (unsigned)f->id);
    needed(p, f, true, &count);
    for (uint8_t i = 0; i < v->nargs; i++) {
        begin_parameter(p, &count);
        wgsl_name(p, v->args[i]);
    }
    for (uint8_t i = 0; i < f->array_count; i++) {
        begin_parameter(p, &count);
        if (v->u.call.arrays[i]->length != f->array_params[i]->length)
            p->unsupported = "an array of another length than the parameter";
        if (must_copy(p, v, i))
            hg_text_addf(p->out, "&copy%u_%u", (unsigned)v->id, (unsigned)i);
        else
            var_address(p, v->u.call.arrays[i]);
    }
    wgsl_text(p, ");\n");
}

/* ---- operations ---- */

/* "// add.f32 r3, r1, r2" whenever the source instruction changes. */
static void comment(wgsl *p, const kir_value *v) {
    if (!v->inst || v->inst == p->inst || !p->module->program) return;
    p->inst = v->inst;
    wgsl_line(p);
    wgsl_text(p, "// ");
    hg_print_instruction(p->out, p->module->program, v->inst - 1);
    wgsl_text(p, "\n");
}

static void input(wgsl *p, const kir_value *v) {
    const kir_module *m = p->module;
    if (v->u.imm >= m->inputs.count || kir_type_bytes(m->inputs.data[v->u.imm].type) != 4 ||
        v->type == KIR_BOOL) {
        p->unsupported = "an input that is no word of the record";
        return;
    }
    bool is_float = v->type == HG_TYPE_F32;
    wgsl_declare(p, v);
    wgsl_text(p, is_float ? "bitcast<f32>(record." : "record.");
    emit_field_name(p->layout, p->out, v->u.imm);
    wgsl_text(p, is_float ? ");\n" : ";\n");
}

static void table_get(wgsl *p, const kir_value *v) {
    wgsl_declare(p, v);
    hg_text_addf(p->out, "table_%u[", (unsigned)v->u.table->id);
    wgsl_name(p, v->args[0]);
    wgsl_text(p, "];\n");
}

static void operation(wgsl *p, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_PARAM: return;
    case KIR_CALL:
        if (v->uses || kir_has_side_effect(v)) call(p, v);
        return;
    case KIR_VAR_SET:
    case KIR_ARRAY_SET: var_access(p, v); return;
    default: break;
    }
    if (wgsl_memory(p, v) || !v->uses) return;
    switch ((kir_op)v->op) {
    case KIR_VAR_GET:
    case KIR_ARRAY_GET: var_access(p, v); return;
    case KIR_TABLE_GET: table_get(p, v); return;
    case KIR_INPUT: input(p, v); return;
    case KIR_ID:
        wgsl_declare(p, v);
        hg_text_addf(p->out, "%s;\n",
                     v->u.imm < KIR_DEVICE_ID_COUNT ? emit_id_names[v->u.imm] : "?");
        return;
    default: break;
    }
    wgsl_declare(p, v);
    if (!wgsl_expression(p, v) && !p->unsupported)
        p->unsupported = "an operation or type was not lowered";
    wgsl_text(p, ";\n");
}

/* ---- control flow ---- */

static void jump(wgsl *p, const kir_value *v) {
    wgsl_line(p);
    switch ((kir_op)v->op) {
    case KIR_BREAK:
        p->reached[kir_loop_around(v)->id] = true;
        wgsl_text(p, "break;\n");
        break;
    case KIR_CONTINUE: wgsl_text(p, "continue;\n"); break;
    case KIR_EXIT:
        if (!is_kernel(p)) p->unsupported = "an exit inside a function";
        wgsl_text(p, "return;\n");
        break;
    default:
        wgsl_text(p, v->nargs ? "return " : "return");
        if (v->nargs) wgsl_name(p, v->args[0]);
        wgsl_text(p, ";\n");
        break;
    }
}

static void open(wgsl *p, const kir_value *v) {
    wgsl_line(p);
    if (v->op == KIR_LOOP) {
        wgsl_text(p, "loop {\n");
    } else {
        wgsl_text(p, v->body[0]->first ? "if (" : "if (!");
        wgsl_name(p, v->args[0]);
        wgsl_text(p, ") {\n");
    }
    p->reached[v->id] = v->op == KIR_IF && (!v->body[0]->first || !v->body[1]->first);
    if (++p->indent > MOST_LEVELS) p->unsupported = "control flow nested more than 120 deep";
}

/* The end of a nested region, which is reached or not; whether what follows is. An empty branch is
 * not written. */
static bool close_region(wgsl *p, const kir_cursor *c, bool reached) {
    const kir_value *owner = c->region->owner;
    bool both = owner->op == KIR_IF && owner->body[0]->first && owner->body[1]->first;
    if (owner->op == KIR_IF && c->region->first) p->reached[owner->id] |= reached;
    if (kir_cursor_ends_first(c)) {
        if (!both) return true;
        p->indent--;
        wgsl_line(p);
        wgsl_text(p, "} else {\n");
        p->indent++;
        return true;
    }
    p->indent--;
    wgsl_line(p);
    wgsl_text(p, "}\n");
    return p->reached[owner->id];
}

static bool is_empty_if(const kir_value *v) {
    return v->op == KIR_IF && !v->body[0]->first && !v->body[1]->first;
}

static void body(wgsl *p, const kir_region *root) {
    kir_cursor c = kir_cursor_start(root);
    bool reached = true; /* the place that is being written */
    while (!p->unsupported && ((c.v && reached) || c.region != root)) {
        if (!reached) c.v = NULL; /* the rest of the region is not */
        if (!c.v) {
            reached = close_region(p, &c, reached);
        } else if (is_empty_if(c.v)) {
            (void)kir_cursor_over(&c);
            continue;
        } else {
            comment(p, c.v);
            if (c.v->body[0])
                open(p, c.v);
            else if (kir_is_jump(c.v))
                jump(p, c.v), reached = false;
            else
                operation(p, c.v);
        }
        (void)kir_cursor_next(&c);
    }
    if (reached && p->function->result != KIR_VOID)
        hg_text_addf(p->out, "    return %s();\n", wgsl_type(p, p->function->result));
}

static void function(wgsl *p, const kir_function *f) {
    p->function = f;
    p->inst = 0;
    p->indent = 1;
    p->reached = hg_calloc((size_t)f->value_count + 1, sizeof *p->reached);
    if (!p->reached) {
        p->failed = true;
        return;
    }
    if (is_kernel(p))
        kernel_head(p);
    else
        function_head(p);
    wgsl_slot_bases(p);
    declare_vars(p);
    body(p, f->body);
    wgsl_text(p, "}\n\n");
    hg_free(p->reached);
    p->reached = NULL;
}

/* ---- the module ---- */

static void note_written(wgsl *p, const kir_function *f, const kir_var *x) {
    for (uint8_t i = 0; i < f->array_count; i++)
        if (f->array_params[i] == x) p->needs[f->id].written_array |= (uint8_t)(1u << i);
}

static void note_var(wgsl *p, const kir_function *f, const kir_var *x, uint8_t how) {
    if (!x->function) p->needs[f->id].vars[x->id] |= how;
}

/* What f and its callees, which are known, name of the kernel, and what arrays of its own it
 * writes. */
static void find_needs(wgsl *p, const kir_function *f) {
    wgsl_needs *n = &p->needs[f->id];
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (v->op == KIR_ID && v->u.imm < KIR_DEVICE_ID_COUNT) n->ids |= (uint8_t)(1u << v->u.imm);
        if (v->op == KIR_VAR_GET || v->op == KIR_ARRAY_GET) note_var(p, f, v->u.var, WGSL_READ);
        if (v->op == KIR_VAR_SET || v->op == KIR_ARRAY_SET) note_var(p, f, v->u.var, WGSL_SET);
        if (v->op == KIR_ARRAY_SET) note_written(p, f, v->u.var);
        if (kir_is_access(v)) wgsl_note_access(p, f, v);
        if (v->op != KIR_CALL) continue;
        const wgsl_needs *of = &p->needs[v->u.call.function->id];
        n->ids |= of->ids;
        for (uint32_t i = 0; i < p->module->var_count; i++) n->vars[i] |= of->vars[i];
        for (uint32_t i = 0; i < wgsl_binding_count(p); i++) n->bindings[i] |= of->bindings[i];
        for (uint8_t i = 0; i < v->u.call.function->array_count; i++) {
            note_var(p, f, v->u.call.arrays[i], WGSL_READ | WGSL_SET);
            if (is_written(p, v, i)) note_written(p, f, v->u.call.arrays[i]);
        }
    }
}

static bool allocate_needs(wgsl *p, const kir_module *m) {
    p->needs = hg_calloc((size_t)m->function_count + 1, sizeof *p->needs);
    size_t each = (size_t)m->var_count + 1 + wgsl_binding_count(p);
    uint8_t *flags = hg_calloc((m->function_count + (size_t)1) * each, sizeof *flags);
    if (!p->needs || !flags) {
        hg_free(flags);
        return false;
    }
    for (uint32_t i = 0; i <= m->function_count; i++) {
        p->needs[i].vars = flags + i * each;
        p->needs[i].bindings = p->needs[i].vars + m->var_count + 1;
    }
    return true;
}

static void print_table(wgsl *p, const kir_table *t) {
    uint64_t size = kir_type_bytes(t->type);
    const uint8_t *data = t->data;
    const char *type = wgsl_type(p, t->type);
    hg_text_addf(p->out, "var<private> table_%u: array<%s, %u> = array<%s, %u>(", (unsigned)t->id,
                 type, (unsigned)t->length, type, (unsigned)t->length);
    for (uint32_t i = 0; i < t->length; i++) {
        uint64_t bits = 0;
        for (uint64_t k = 0; k < size; k++) bits |= (uint64_t)data[i * size + k] << (8 * k);
        wgsl_text(p, i % 8 == 0 ? "\n    " : " ");
        wgsl_literal(p, t->type, bits);
        wgsl_text(p, i + 1 < t->length ? "," : "");
    }
    wgsl_text(p, ");\n\n");
}

static void print_tables(wgsl *p, const c_reach *reach) {
    for (const kir_table *t = p->module->tables; t; t = t->next) {
        if (emit_c_reads_table(reach, t)) print_table(p, t);
    }
}

static void print_module(wgsl *p, const c_reach *reach, const char *about, hg_text *out) {
    hg_text functions = {0};
    p->out = &functions;
    for (uint64_t i = 0; i < reach->order.count; i++) find_needs(p, reach->order.data[i]);
    wgsl_find_spans(p);
    for (uint64_t i = 0; i < reach->order.count && !p->unsupported && !p->failed; i++)
        function(p, reach->order.data[i]);
    p->out = out;
    hg_text_addf(out, "/* Written by hologram: WGSL.\n%s */\n\n", about);
    if (p->helpers >> WGSL_F2H_F16 & 1) wgsl_text(p, "enable f16;\n\n");
    wgsl_print_helpers(p);
    wgsl_declare_memory(p);
    print_tables(p, reach);
    hg_text_add(out, functions.data ? functions.data : "", functions.length);
    p->failed |= functions.failed || out->failed;
    hg_text_free(&functions);
}

static void release(wgsl *p) {
    if (p->needs) hg_free(p->needs[0].vars);
    hg_free(p->needs);
    hg_free(p->spans);
    hg_free(p->accessed);
    hg_free(p->reached);
}

hg_status emit_wgsl(const kir_module *kernel, const kir_device_layout *layout,
                    const emit_wgsl_options *options, const char *about, hg_text *out) {
    wgsl printer = {.module = kernel, .layout = layout, .options = options}, *p = &printer;
    c_reach reach = {0};
    if (kernel->functions->result != KIR_VOID || kernel->functions->param_count ||
        kernel->functions->array_count)
        return hg_fail(HG_ERROR_ISA,
                       "no WGSL for '%s': the kernel function has parameters or a result",
                       kernel->name);
    p->failed = !emit_c_reach(kernel, kernel->functions, true, &reach) ||
                !allocate_needs(p, kernel);
    wgsl_prepare_memory(p);
    kir_count_uses((kir_module *)(uintptr_t)kernel);
    if (!p->failed) print_module(p, &reach, about, out);
    release(p);
    hg_vec_free(&reach.order);
    if (p->failed) return hg_fail_memory();
    return p->unsupported
               ? hg_fail(HG_ERROR_ISA, "no WGSL for '%s': %s", kernel->name, p->unsupported)
               : HG_OK;
}
