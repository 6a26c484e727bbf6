/* Kernel IR to structured text of the C family: one function a function, one local a value, loops
 * and branches as they stand. The walk over regions keeps no stack: regions know their owners.
 * Must not know: languages by name, memory, devices, how the text is compiled. */
#include "emit/emit_c_internal.h"
#include "kir/access.h"
#include "kir/walk.h"
#include "isa/program.h"
#include <string.h>

void emit_c_line(c_printer *p) { hg_text_addf(p->out, "%*s", emit_c_blanks(p->indent), ""); }

void emit_c_leave(c_printer *p) {
    hg_text_addf(p->out, p->kernel || p->function->result == KIR_VOID ? "return;" : "return 0;");
}

static void function_name(const c_printer *p, hg_text *out, const kir_function *f) {
    if (p->prefix && f == p->root)
        hg_text_addf(out, "%s", p->prefix);
    else
        hg_text_addf(out, "%s_f%u", p->prefix ? p->prefix : p->name, (unsigned)f->id);
}

/* Whether a variable of the module is a plain local of the kernel: no other function names it. */
static bool is_local(const c_printer *p, const kir_var *v) {
    return !p->form->lane_at_a_time && !v->function && !((uintptr_t)v->scratch & EMIT_C_OUTER);
}

static void var_name(const c_printer *p, hg_text *out, const kir_var *v) {
    if (!v->function && !is_local(p, v)) hg_text_addf(out, "%s", p->form->shared);
    if (v->by_reference)
        hg_text_addf(out, "array_%u", (unsigned)v->id);
    else
        hg_text_addf(out, v->length ? "array_%u" : "x%u", (unsigned)v->id);
}

/* "/\* add.f32 r3, r1, r2 *\/" whenever the source instruction changes. */
static void comment(c_printer *p, const kir_value *v) {
    if (!v->inst || v->inst == p->inst || !p->module->program) return;
    p->inst = v->inst;
    hg_text source = {0};
    hg_print_instruction(&source, p->module->program, v->inst - 1);
    if (source.data && !strstr(source.data, "*/")) {
        emit_c_line(p);
        hg_text_addf(p->out, "/* %s */\n", source.data);
    }
    hg_text_free(&source);
}

static void print_call(c_printer *p, const kir_value *v) {
    const kir_function *f = v->u.call.function;
    function_name(p, p->out, f);
    const char *comma = "";
    hg_text_addf(p->out, "(");
    if (!f->pure) {
        hg_text_addf(p->out, "%s", p->form->arguments);
        comma = ", ";
    }
    for (uint8_t i = 0; i < v->nargs; i++, comma = ", ") {
        hg_text_addf(p->out, "%s", comma);
        emit_c_name(p, v->args[i]);
    }
    for (uint8_t i = 0; i < f->array_count; i++, comma = ", ") {
        hg_text_addf(p->out, "%s", comma);
        var_name(p, p->out, v->u.call.arrays[i]);
    }
    hg_text_addf(p->out, ");\n");
    if (f->pure || !p->form->lane_at_a_time) return;
    emit_c_line(p);
    hg_text_addf(p->out, "if (env->stopped) ");
    emit_c_leave(p);
    hg_text_addf(p->out, "\n");
}

/* "const float v12 = "; nothing for a value that is never read. */
static void declare(c_printer *p, const kir_value *v) {
    emit_c_line(p);
    if (v->type != KIR_VOID && v->uses)
        hg_text_addf(p->out, "const %s v%u = ", emit_c_type(p, v->type), (unsigned)v->id);
}

static void print_access(c_printer *p, const kir_value *v) {
    bool set = v->op == KIR_VAR_SET || v->op == KIR_ARRAY_SET,
         array = v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET;
    if (set)
        emit_c_line(p);
    else
        declare(p, v);
    var_name(p, p->out, v->u.var);
    if (array) {
        hg_text_addf(p->out, "[");
        emit_c_name(p, v->args[0]);
        hg_text_addf(p->out, "]");
    }
    if (set) {
        hg_text_addf(p->out, " = ");
        emit_c_name(p, v->args[array ? 1 : 0]);
    }
    hg_text_addf(p->out, ";\n");
}

static void print_jump(c_printer *p, const kir_value *v) {
    emit_c_line(p);
    switch ((kir_op)v->op) {
    case KIR_BREAK: hg_text_addf(p->out, "break;\n"); break;
    case KIR_CONTINUE: hg_text_addf(p->out, "continue;\n"); break;
    case KIR_EXIT:
        if (!p->kernel && !p->form->lane_at_a_time) p->unsupported = "an exit inside a function";
        if (!p->kernel)
            hg_text_addf(p->out, "env->stopped = true;\n%*s", emit_c_blanks(p->indent), "");
        emit_c_leave(p);
        hg_text_addf(p->out, "\n");
        break;
    default:
        hg_text_addf(p->out, "return");
        if (v->nargs) {
            hg_text_addf(p->out, " ");
            emit_c_name(p, v->args[0]);
        }
        hg_text_addf(p->out, ";\n");
        break;
    }
}

static void print_operation(c_printer *p, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_PARAM: return; /* used by literal and by name */
    case KIR_BREAK:
    case KIR_CONTINUE:
    case KIR_EXIT:
    case KIR_RETURN: print_jump(p, v); return;
    case KIR_CALL:
        if (!v->uses && !kir_has_side_effect(v)) return;
        declare(p, v);
        print_call(p, v);
        return;
    case KIR_VAR_SET:
    case KIR_ARRAY_SET: print_access(p, v); return;
    case KIR_DERIVED: p->unsupported = "a derived operation is left"; return;
    case KIR_STEP: p->unsupported = "whole-array steps are not part of a lane kernel"; return;
    default: break;
    }
    if (p->form->memory(p, v) || !v->uses) return;
    if (p->form->wide && p->form->wide(p, v)) return;
    if (v->op == KIR_VAR_GET || v->op == KIR_ARRAY_GET) {
        print_access(p, v);
        return;
    }
    declare(p, v);
    if (v->op == KIR_ID)
        p->form->id(p, v);
    else if (v->op == KIR_INPUT)
        p->form->input(p, v);
    else if (emit_c_expression(p, v))
        hg_text_addf(p->out, ";\n");
    else
        p->unsupported = "an operation or type was not lowered";
}

static void open_if(c_printer *p, const kir_value *v) {
    emit_c_line(p);
    hg_text_addf(p->out, v->body[0]->first ? "if (" : "if (!");
    emit_c_name(p, v->args[0]);
    hg_text_addf(p->out, ") {\n");
    p->indent++;
}

static void open_loop(c_printer *p, const kir_value *v) {
    if (v->u.loop.written_out && p->dialect->write_out)
        hg_text_addf(p->out, "%s\n", p->dialect->write_out);
    emit_c_line(p);
    hg_text_addf(p->out, "for (;;) {\n");
    p->indent++;
    if (v->u.loop.bounded || p->function->pure || !p->form->lane_at_a_time) return;
    emit_c_line(p);
    hg_text_addf(p->out, "if (hg_out_of_fuel(env)) ");
    emit_c_leave(p);
    hg_text_addf(p->out, "\n");
}

/* The end of a nested region. An empty branch is not written. */
static void close_region(c_printer *p, const kir_cursor *c) {
    const kir_value *owner = c->region->owner;
    bool first = kir_cursor_ends_first(c);
    if (first && !(owner->body[0]->first && owner->body[1]->first)) return;
    p->indent--;
    emit_c_line(p);
    hg_text_addf(p->out, first ? "} else {\n" : "}\n");
    p->indent += first;
}

static void note_branch(c_printer *p, const kir_value *v) {
    if (v->op != KIR_IF || v->body[1]->first) {
        p->unsupported = "a branch that is not a rare one";
        return;
    }
    emit_c_line(p);
    hg_text_addf(p->out, "*rare |= (uint32_t)");
    emit_c_name(p, v->args[0]);
    hg_text_addf(p->out, ";\n");
}

/* False: nothing inside the operation is to be written. */
static bool print_value(c_printer *p, const kir_value *v) {
    comment(p, v);
    if (v->op != KIR_IF && v->op != KIR_LOOP) {
        print_operation(p, v);
        return false;
    }
    if (v->op == KIR_IF && !v->body[0]->first && !v->body[1]->first) return false;
    if (p->common) {
        note_branch(p, v);
        return false;
    }
    if (v->op == KIR_IF)
        open_if(p, v);
    else
        open_loop(p, v);
    return true;
}

static void print_body(c_printer *p, const kir_region *root) {
    kir_cursor c = kir_cursor_start(root);
    while (c.v || c.region != root) {
        bool inside = true;
        if (c.v)
            inside = print_value(p, c.v);
        else
            close_region(p, &c);
        (void)(inside ? kir_cursor_next(&c) : kir_cursor_over(&c));
    }
}

/* Whether x is declared where f's variables are; f NULL: where those are that functions share. */
static bool belongs(const c_printer *p, const kir_var *x, const kir_function *f) {
    if (x->by_reference || !x->scratch) return false;
    return is_local(p, x) ? f == p->module->functions : x->function == f;
}

void emit_c_declare_vars(c_printer *p, const kir_function *f) {
    for (const kir_var *x = p->module->vars; x; x = x->next) {
        if (!belongs(p, x, f)) continue;
        emit_c_line(p);
        hg_text_addf(p->out, "%s ", emit_c_type(p, x->type));
        if (f)
            var_name(p, p->out, x);
        else
            hg_text_addf(p->out, x->length ? "array_%u" : "x%u", (unsigned)x->id);
        if (x->length) hg_text_addf(p->out, "[%u]", (unsigned)x->length);
        hg_text_addf(p->out, !f ? ";" : x->length ? " = {0};" : " = 0;");
        if (f && !((uintptr_t)x->scratch & EMIT_C_READ)) {
            hg_text_addf(p->out, " (void)");
            var_name(p, p->out, x);
            hg_text_addf(p->out, ";");
        }
        if (x->name) hg_text_addf(p->out, " /* %s */", x->name);
        hg_text_addf(p->out, "\n");
    }
}

static void print_parameters(c_printer *p, const kir_function *f) {
    const char *comma = "";
    hg_text_addf(p->out, "(");
    if (!f->pure) {
        p->form->parameters(p);
        comma = ", ";
    }
    for (uint8_t i = 0; i < f->param_count; i++, comma = ", ")
        hg_text_addf(p->out, "%s%s a%u", comma, emit_c_type(p, f->param_types[i]), (unsigned)i);
    for (uint8_t i = 0; i < f->array_count; i++, comma = ", ") {
        hg_text_addf(p->out, "%s%s%s *", comma, p->dialect->local,
                     emit_c_type(p, f->array_params[i]->type));
        var_name(p, p->out, f->array_params[i]);
    }
    if (p->common && f == p->root) {
        hg_text_addf(p->out, "%suint32_t *rare", comma);
        comma = ", ";
    }
    if (!*comma) hg_text_addf(p->out, "void");
    hg_text_addf(p->out, ") {\n");
}

/* Compilers write a function in place of its calls, and the time that the whole takes them grows
 * faster than its length. A function on arrays that is called so often stays one: 1,024
 * multiplications and additions of u4096 took PoCL 3.1 more than 100 s. */
enum { MOST_IN_PLACE = 16 };

static bool is_kept(const c_printer *p, const kir_function *f) {
    if (!p->dialect->kept || !f->pure || !f->array_count) return false;
    uint32_t calls = 0;
    for (const kir_function *g = p->module->functions; g; g = g->next)
        for (const kir_value *v = kir_walk(NULL, g->body); v; v = kir_walk(v, g->body))
            if (v->op == KIR_CALL && v->u.call.function == f && ++calls > MOST_IN_PLACE)
                return true;
    return false;
}

void emit_c_print_function(c_printer *p, const kir_function *f) {
    p->function = f;
    p->kernel = !p->prefix && f == p->module->functions;
    p->inst = 0;
    if (p->kernel) {
        p->form->kernel_head(p);
    } else {
        hg_text_addf(p->out, "%s%s ", is_kept(p, f) ? p->dialect->kept : p->dialect->function,
                     emit_c_type(p, f->result));
        function_name(p, p->out, f);
        print_parameters(p, f);
    }
    p->indent = 1;
    if (!p->kernel && !f->pure) hg_text_addf(p->out, "%s", p->form->unused);
    for (uint8_t i = 0; i < f->param_count && !p->kernel; i++)
        hg_text_addf(p->out, "    (void)a%u;\n", (unsigned)i);
    for (uint8_t i = 0; i < f->array_count; i++)
        hg_text_addf(p->out, "    (void)array_%u;\n", (unsigned)f->array_params[i]->id);
    emit_c_declare_vars(p, f);
    print_body(p, f->body);
    if (!p->kernel && f->result != KIR_VOID && (!f->body->last || f->body->last->op != KIR_RETURN))
        hg_text_addf(p->out, "    return 0;\n");
    hg_text_addf(p->out, "}\n\n");
}

/* ---- what a root reaches: functions (callees first), variables, tables ---- */

enum { OPEN = 2 };

static void mark(kir_var *x, uintptr_t how, bool outer) {
    x->scratch = (void *)((uintptr_t)x->scratch | how | (outer ? (uintptr_t)EMIT_C_OUTER : 0));
}

/* Marks everything that f's operations name. Function marks are in f->scratch: OPEN while its
 * callees are being listed. */
static bool list_functions(const kir_module *m, const kir_function *root, c_reach *r) {
    for (kir_function *f = m->functions; f; f = f->next) f->scratch = NULL;
    for (kir_var *x = m->vars; x; x = x->next) x->scratch = NULL;
    HG_VEC(struct {
        const kir_function *f;
        const kir_value *at;
    })
    todo = {0};
    bool ok = hg_vec_push(&todo) != NULL;
    if (ok) {
        todo.data[0].f = root;
        todo.data[0].at = NULL;
        ((kir_function *)(uintptr_t)root)->scratch = (void *)(uintptr_t)OPEN;
    }
    while (ok && todo.count) {
        const kir_function *f = todo.data[todo.count - 1].f;
        const kir_value *v = kir_walk(todo.data[todo.count - 1].at, f->body);
        todo.data[todo.count - 1].at = v;
        if (!v || !f->body->first) {
            const kir_function **slot = hg_vec_push(&r->order);
            if (slot) *slot = f;
            ok = slot != NULL;
            todo.count--;
            continue;
        }
        if (v->op == KIR_VAR_SET || v->op == KIR_ARRAY_SET) mark(v->u.var, EMIT_C_SEEN, f != root);
        if ((v->op == KIR_VAR_GET || v->op == KIR_ARRAY_GET) && v->uses)
            mark(v->u.var, EMIT_C_SEEN | EMIT_C_READ, f != root);
        if (v->op == KIR_ATOMIC && v->u.mem.high) mark(v->u.mem.high, EMIT_C_SEEN, f != root);
        if (v->op != KIR_CALL) continue;
        for (uint8_t i = 0; i < v->u.call.function->array_count; i++)
            mark(v->u.call.arrays[i], EMIT_C_SEEN | EMIT_C_READ, f != root);
        kir_function *callee = v->u.call.function;
        if (callee->scratch) continue;
        callee->scratch = (void *)(uintptr_t)OPEN;
        ok = hg_vec_push(&todo) != NULL;
        if (ok) {
            todo.data[todo.count - 1].f = callee;
            todo.data[todo.count - 1].at = NULL;
        }
    }
    hg_vec_free(&todo);
    return ok;
}

static void print_table(c_printer *p, hg_text *out, const kir_table *t) {
    uint64_t size = kir_type_bytes(t->type);
    const uint8_t *data = t->data;
    hg_text_addf(out, "%s%s ", p->dialect->table, emit_c_type(p, t->type));
    emit_c_table_name(p, out, t);
    hg_text_addf(out, "[%u] = {", (unsigned)t->length);
    for (uint32_t i = 0; i < t->length; i++) {
        uint64_t bits = 0;
        for (uint64_t k = 0; k < size; k++) bits |= (uint64_t)data[i * size + k] << (8 * k);
        hg_text_addf(out, i % 6 == 0 ? "\n    " : " ");
        emit_c_literal(p, out, t->type, bits);
        hg_text_addf(out, ",");
    }
    hg_text_addf(out, "\n};\n");
}

bool emit_c_reads_table(const c_reach *r, const kir_table *table) {
    for (uint64_t i = 0; i < r->order.count; i++)
        for (const kir_value *v = kir_walk(NULL, r->order.data[i]->body); v;
             v = kir_walk(v, r->order.data[i]->body))
            if (v->op == KIR_TABLE_GET && v->u.table == table && v->uses) return true;
    return false;
}

void emit_c_print_tables(c_printer *p, hg_text *out, const c_reach *r) {
    for (const kir_table *t = p->module->tables; t; t = t->next)
        if (emit_c_reads_table(r, t)) print_table(p, out, t);
}

/* Whether the text of v reads its i-th argument: an access to a slot does not read the handle (in
 * device form there is none), an empty branch no condition. */
static bool reads(const kir_value *v, uint8_t i, bool device) {
    bool memory = !device && kir_is_access(v);
    if (memory && kir_access_is_direct(v) && i < kir_access_of(v).handle_args) return false;
    if (v->op == KIR_IF) return v->body[0]->first || v->body[1]->first;
    return !emit_c_is_constant(v);
}

static bool is_printed(const kir_value *v, bool device) {
    if (v->uses || kir_has_side_effect(v) || v->op == KIR_ATOMIC) return true;
    return v->op == KIR_LOAD && (!device || v->u.mem.volatile_access);
}

/* Ids in order of text, and how often the text reads each value: uses start at nothing and are
 * counted from the end backwards. */
static bool renumber(const kir_module *m, bool device) {
    for (kir_function *f = m->functions; f; f = f->next) {
        uint32_t count = kir_number(f);
        kir_value **values = hg_calloc((size_t)count + 1, sizeof *values);
        if (!values) return false;
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            values[v->id] = v;
            v->uses = 0;
        }
        while (count--)
            for (uint8_t i = 0; i < values[count]->nargs; i++)
                if (is_printed(values[count], device) && reads(values[count], i, device))
                    values[count]->args[i]->uses++;
        hg_free(values);
    }
    return true;
}

bool emit_c_reach(const kir_module *m, const kir_function *root, bool device, c_reach *r) {
    return renumber(m, device) && list_functions(m, root, r);
}

/* NAME_kernel: no keyword and no function of math.h. */
void emit_kernel_name(const kir_module *module, char name[96]) {
    const char *from = module->name;
    size_t n = 0;
    if (*from >= '0' && *from <= '9') name[n++] = '_';
    for (; *from && n < 96 - 16; from++) {
        bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                     (*from >= '0' && *from <= '9');
        name[n++] = plain ? *from : '_';
    }
    memcpy(name + n, "_kernel", 8);
}
