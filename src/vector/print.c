/* The vector form as text, for people and tests: one operation a line, regions indented. A value that is each is %N, one that is one is $N. */
#include "vector/vector.h"

#include "isa/program.h"

enum { MOST_INDENT = 32 };

typedef struct printer {
    hg_text *out;
    const vec_kernel *k;
    uint32_t indent, inst;
} printer;

static void line(const printer *p) { hg_text_addf(p->out, "%*s", (int)(p->indent < MOST_INDENT ? p->indent : MOST_INDENT) * 2, ""); }

static void name(hg_text *out, const vec_value *v) { hg_text_addf(out, "%s%u", v->each ? "%" : "$", (unsigned)v->id); }

static void var_name(hg_text *out, const vec_var *v) {
    hg_text_addf(out, "%s%s%u", v->shared ? "$" : "", v->mask ? "m" : v->length ? "a" : v->each ? "v" : "s", (unsigned)v->id);
}

static void source(printer *p, const vec_value *v) {
    if (!v->inst || v->inst == p->inst || !p->k->module->program) return;
    p->inst = v->inst;
    line(p);
    hg_text_addf(p->out, "; ");
    hg_print_instruction(p->out, p->k->module->program, v->inst - 1);
    hg_text_addf(p->out, "\n");
}

static const char *reach_name(uint8_t reach) {
    static const char *const names[] = {"one", "row", "stride", "each"};
    return names[reach];
}

static void print_place(hg_text *out, const vec_value *v) {
    static const char *const spaces[] = {"slot", "slot", "shared", "class", "flat"};
    hg_text_addf(out, " %s", spaces[v->u.mem.space]);
    if (v->u.mem.open) {
        hg_text_addf(out, " ");
        name(out, v->args[0]);
    } else if (v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL) {
        hg_text_addf(out, " %u", (unsigned)v->u.mem.slot);
    }
    if (v->u.mem.space == KIR_CLASS) hg_text_addf(out, " %u", (unsigned)v->u.mem.class_id);
    hg_text_addf(out, " %s", reach_name(v->u.mem.reach));
    if (v->u.mem.reach == VEC_REACH_STRIDE) hg_text_addf(out, " %lld", (long long)v->u.mem.stride);
    hg_text_addf(out, " [");
    if (v->u.mem.has_index) name(out, v->args[v->u.mem.open]);
    if (v->u.mem.disp || !v->u.mem.has_index) hg_text_addf(out, v->u.mem.has_index ? " + %lld" : "%lld", (long long)v->u.mem.disp);
    hg_text_addf(out, "]");
}

static void print_fields(hg_text *out, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_CONST:
    case VEC_INPUT:
    case VEC_PARAM:
    case VEC_FENCE:
    case VEC_BARRIER:
    case VEC_FUEL: hg_text_addf(out, " %llu", (unsigned long long)v->u.imm); break;
    case VEC_ID:
    case VEC_COORDINATE: hg_text_addf(out, " %s", hg_idname_name((hg_idname)v->u.imm)); break;
    case VEC_RAMP: hg_text_addf(out, " by %lld", (long long)v->u.imm); break;
    case VEC_GET:
    case VEC_SET:
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET:
        hg_text_addf(out, " ");
        var_name(out, v->u.var);
        break;
    case VEC_TABLE_GET: hg_text_addf(out, " %s", v->u.table->name ? v->u.table->name : "table"); break;
    case VEC_CALL:
        hg_text_addf(out, " @%s", v->u.call.to->name);
        for (uint8_t i = 0; i < v->u.call.to->array_count; i++) {
            hg_text_addf(out, " ");
            var_name(out, v->u.call.arrays[i]);
        }
        break;
    case VEC_LOAD:
    case VEC_STORE:
    case VEC_CHECK:
    case VEC_FITS:
    case VEC_ATOMIC:
        print_place(out, v);
        if (v->op == VEC_ATOMIC && v->u.mem.combines) hg_text_addf(out, " combines");
        if (v->op == VEC_STORE && v->u.mem.streams) hg_text_addf(out, " streams");
        break;
    case VEC_FAULT_IF: hg_text_addf(out, " F%02u", (unsigned)v->u.fault.code); break;
    case VEC_LEAVE: hg_text_addf(out, v->exits ? " exit" : v->ends ? " end" : ""); break;
    default: break;
    }
}

static void print_value(printer *p, const vec_value *v) {
    source(p, v);
    line(p);
    if (v->type != KIR_VOID) {
        name(p->out, v);
        hg_text_addf(p->out, ": %s = ", kir_type_name(v->type));
    }
    hg_text_addf(p->out, "%s", v->op == VEC_PRIM ? kir_op_name((kir_op)v->prim) : VEC_OPS[v->op].text);
    print_fields(p->out, v);
    bool place = vec_op_has((vec_op)v->op, VEC_F_PLACE);
    const char *comma = place || v->op == VEC_SET ? ", " : " ";
    for (uint8_t i = place ? vec_place_args(v) : 0; i < v->nargs; i++, comma = ", ") {
        hg_text_addf(p->out, "%s", comma);
        name(p->out, v->args[i]);
    }
    if (v->mask) {
        hg_text_addf(p->out, " where ");
        name(p->out, v->mask);
    }
    for (uint8_t i = 0; i < v->losing_count; i++) {
        hg_text_addf(p->out, i ? ", " : " losing ");
        var_name(p->out, v->losing[i]);
    }
    hg_text_addf(p->out, v->body[0] ? " {\n" : "\n");
}

static void print_body(printer *p, const vec_region *root) {
    p->indent = 1;
    for (vec_cursor c = {root, root, root->first}; c.v || c.region != root; (void)vec_cursor_next(&c)) {
        bool at_else = vec_cursor_at_else(&c);
        if (c.v) {
            print_value(p, c.v);
        } else {
            p->indent--;
            line(p);
            hg_text_addf(p->out, at_else ? "} else {\n" : "}\n");
        }
        p->indent += c.v ? c.v->body[0] != NULL : at_else;
    }
}

static void print_vars(printer *p, const vec_var *v) {
    for (; v; v = v->next) {
        hg_text_addf(p->out, "  var ");
        var_name(p->out, v);
        hg_text_addf(p->out, ": %s%s %s",
                     v->by_reference ? "by reference "
                     : v->kept       ? "kept "
                                     : "",
                     v->each ? "each" : "one", kir_type_name(v->type));
        if (v->length) hg_text_addf(p->out, "[%u]", (unsigned)v->length);
        hg_text_addf(p->out, v->name ? " ; %s\n" : "\n", v->name);
    }
}

static void print_function(printer *p, vec_function *f) {
    vec_number(f);
    hg_text_addf(p->out, "\n%s @%s(", f != p->k->functions ? "function" : p->k->blocks ? "block" : "turn", f->name);
    for (uint8_t i = 0; i < f->param_count; i++)
        hg_text_addf(p->out, "%s%s %s", i ? ", " : "", f->param_each[i] ? "each" : "one", kir_type_name(f->param_types[i]));
    hg_text_addf(p->out, ")");
    if (f->result != KIR_VOID) hg_text_addf(p->out, " -> %s %s", f->result_each ? "each" : "one", kir_type_name(f->result));
    if (f->limbs_op != KIR_OP_COUNT) hg_text_addf(p->out, " limbs %s", kir_op_name((kir_op)f->limbs_op));
    hg_text_addf(p->out, " {\n");
    print_vars(p, f->vars);
    p->inst = 0;
    print_body(p, f->body);
    hg_text_addf(p->out, "}\n");
}

void vec_print(hg_text *out, vec_kernel *kernel) {
    printer p = {.out = out, .k = kernel};
    hg_text_addf(out, "vector form of %s, %u lanes a turn%s\n", kernel->module->name, (unsigned)kernel->lanes,
                 kernel->can_end ? ", lanes may end" : "");
    print_vars(&p, kernel->shared);
    for (vec_function *f = kernel->functions; f; f = f->next) print_function(&p, f);
}
