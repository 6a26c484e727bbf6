/* The vector form as text (docs/design/vector-form.md); vec_parse reads it back. One operation a
 * line, regions indented. A value that is each is %N, one that is one is $N. */
#include "vector/vector.h"

#include "isa/program.h"
#include "vector/text_internal.h"

#include <string.h>

enum { MOST_INDENT = 32 };

typedef struct printer {
    hg_text *out;
    const vec_kernel *k;
    const vec_function *f;
    uint32_t indent, inst;
} printer;

static void line(const printer *p) {
    hg_text_addf(p->out, "%*s", (int)(p->indent < MOST_INDENT ? p->indent : MOST_INDENT) * 2, "");
}

static void name(hg_text *out, const vec_value *v) {
    hg_text_addf(out, "%s%u", v->each ? "%" : "$", (unsigned)v->id);
}

static void var_name(hg_text *out, const vec_var *v) {
    hg_text_addf(out, "%s%s%u", v->shared ? "$" : "",
                 v->mask     ? "m"
                 : v->length ? "a"
                 : v->each   ? "v"
                             : "s",
                 (unsigned)v->id);
}

/* "inst 3 ; add.u32 r1, r2, r3" where another one begins. */
static void source(printer *p, const vec_value *v) {
    if (v->inst == p->inst) return;
    p->inst = v->inst;
    line(p);
    if (!v->inst) {
        hg_text_addf(p->out, "inst none\n");
        return;
    }
    hg_text_addf(p->out, "inst %u", (unsigned)v->inst - 1);
    const hg_program *program = p->k->module->program;
    if (program && v->inst <= program->inst_count) {
        hg_text_addf(p->out, " ; ");
        hg_print_instruction(p->out, program, v->inst - 1);
    }
    hg_text_addf(p->out, "\n");
}

static void print_place(hg_text *out, const vec_value *v) {
    hg_text_addf(out, " %s", kir_word(&kir_space_words, v->u.mem.space));
    if (v->u.mem.space == KIR_CLASS) hg_text_addf(out, " %u", (unsigned)v->u.mem.class_id);
    if (v->u.mem.open) {
        hg_text_addf(out, " open ");
        name(out, v->args[0]);
    } else if (v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL) {
        hg_text_addf(out, " %u", (unsigned)v->u.mem.slot);
    }
    hg_text_addf(out, " %s", kir_word(&vec_reach_words, v->u.mem.reach));
    if (v->u.mem.reach == VEC_REACH_STRIDE) hg_text_addf(out, " %lld", (long long)v->u.mem.stride);
    hg_text_addf(out, " [");
    if (v->u.mem.has_index) name(out, v->args[v->u.mem.open]);
    if (v->u.mem.disp || !v->u.mem.has_index)
        hg_text_addf(out, v->u.mem.has_index ? " + %lld" : "%lld", (long long)v->u.mem.disp);
    hg_text_addf(out, "]");
}

static void print_fields(const printer *p, const vec_value *v) {
    hg_text *out = p->out;
    switch ((vec_op)v->op) {
    case VEC_CONST:
    case VEC_INPUT:
    case VEC_PARAM:
    case VEC_FENCE:
    case VEC_BARRIER:
    case VEC_FUEL: hg_text_addf(out, " %llu", (unsigned long long)v->u.imm); break;
    case VEC_ID:
    case VEC_COORDINATE: hg_text_addf(out, " %s", hg_idname_name((hg_idname)v->u.imm)); break;
    case VEC_SLIDE:
    case VEC_PICK:
    case VEC_RAMP: hg_text_addf(out, " by %lld", (long long)v->u.imm); break;
    case VEC_GET:
    case VEC_SET:
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET:
        hg_text_addf(out, " ");
        var_name(out, v->u.var);
        break;
    case VEC_TABLE_GET: hg_text_addf(out, " t%u", (unsigned)v->u.table->id); break;
    case VEC_CALL:
        hg_text_addf(out, " f%u", (unsigned)v->u.call.to->id);
        for (uint8_t i = 0; i < v->u.call.to->array_count; i++) {
            hg_text_addf(out, " ");
            var_name(out, v->u.call.arrays[i]);
        }
        break;
    case VEC_ATOMIC:
    case VEC_LOAD:
    case VEC_STORE:
    case VEC_CHECK:
    case VEC_SIZE:
    case VEC_FITS:
        if (v->op == VEC_ATOMIC)
            hg_text_addf(out, ".%s", kir_word(&kir_atomic_words, v->u.mem.atomic));
        print_place(out, v);
        break;
    case VEC_FAULT_IF:
        hg_text_addf(out, " F%02u", (unsigned)v->u.fault.code);
        if (v->u.fault.message) {
            hg_text_addf(out, " ");
            kir_print_quoted(out, v->u.fault.message);
        }
        break;
    case VEC_LEAVE:
        hg_text_addf(out, v->leave.exits ? " exit" : v->leave.ends ? " end" : "");
        break;
    default: break;
    }
}

/* "{bytes 4, operand 1}": where it is not what the rest of the line says. */
static void field(hg_text *out, bool *open, const char *word, uint64_t number, bool numbered) {
    hg_text_addf(out, "%s%s", *open ? ", " : " {", word);
    if (numbered) hg_text_addf(out, " %llu", (unsigned long long)number);
    *open = true;
}

static void print_braces(hg_text *out, const vec_value *v) {
    bool open = false;
    if (v->op == VEC_FAULT_IF) {
        if (v->u.fault.operand) field(out, &open, "operand", v->u.fault.operand, true);
        if (v->u.fault.values + 1 != v->nargs) field(out, &open, "values", v->u.fault.values, true);
    } else if (vec_op_has((vec_op)v->op, VEC_F_PLACE)) {
        if (v->u.mem.bytes != vec_text_bytes(v)) field(out, &open, "bytes", v->u.mem.bytes, true);
        if (v->u.mem.size != v->u.mem.bytes) field(out, &open, "size", v->u.mem.size, true);
        if (v->u.mem.operand) field(out, &open, "operand", v->u.mem.operand, true);
        if (v->u.mem.end) field(out, &open, "end", v->u.mem.end, true);
        if (v->u.mem.may.answers) field(out, &open, "answers", v->u.mem.may.answers, true);
        if (v->u.mem.may.stretch) field(out, &open, "stretch", v->u.mem.may.stretch, true);
        if (v->u.mem.may.streams) field(out, &open, "streams", v->u.mem.may.streams, true);
        for (size_t i = 0; i < VEC_MEM_FLAGS; i++)
            if (*vec_mem_flag((vec_value *)(uintptr_t)v, i))
                field(out, &open, vec_mem_flag_words.words[i], 0, false);
    }
    if (open) hg_text_addf(out, "}");
}

static void print_value(printer *p, const vec_value *v) {
    source(p, v);
    line(p);
    if (v->type != KIR_VOID) {
        name(p->out, v);
        hg_text_addf(p->out, ": %s = ", kir_type_name(v->type));
    }
    hg_text_addf(p->out, "%s",
                 v->op == VEC_PRIM ? kir_op_name((kir_op)v->prim) : VEC_OPS[v->op].text);
    print_fields(p, v);
    bool place = vec_op_has((vec_op)v->op, VEC_F_PLACE);
    const char *comma = place || v->op == VEC_SET ? ", " : " ";
    for (uint8_t i = place ? vec_place_args(v) : 0; i < v->nargs; i++, comma = ", ") {
        hg_text_addf(p->out, "%s", comma);
        name(p->out, v->args[i]);
    }
    print_braces(p->out, v);
    if (v->mask) {
        hg_text_addf(p->out, " where ");
        name(p->out, v->mask);
    }
    for (uint8_t i = 0; i < v->loses.count; i++) {
        hg_text_addf(p->out, i ? ", " : " losing ");
        var_name(p->out, v->loses.vars[i]);
    }
    hg_text_addf(p->out, "%s%s%s%s\n", v->settled ? " settled" : "", v->tested ? " tested" : "",
                 v->op == VEC_TURNS && v->u.heads ? " heads" : "", v->body[0] ? " {" : "");
}

/* Those of a TURNS, or of all others: NULL. */
static void print_vars(printer *p, const vec_var *v, const vec_value *turns) {
    for (; v; v = v->next) {
        if ((v->kept ? NULL : v->turns) != turns) continue;
        line(p);
        hg_text_addf(p->out, "var ");
        var_name(p->out, v);
        hg_text_addf(p->out, ":%s%s %s %s", v->by_reference ? " reference" : "",
                     v->kept ? " kept" : "", v->each ? "each" : "one", kir_type_name(v->type));
        if (v->length) hg_text_addf(p->out, "[%u]", (unsigned)v->length);
        if (v->name) {
            hg_text_addf(p->out, " ");
            kir_print_quoted(p->out, v->name);
        }
        hg_text_addf(p->out, "\n");
    }
}

static void print_body(printer *p, const vec_region *root) {
    p->indent = 1;
    for (vec_cursor c = {root, root, root->first}; c.v || c.region != root;
         (void)vec_cursor_next(&c)) {
        bool at_else = vec_cursor_at_else(&c);
        if (c.v) {
            print_value(p, c.v);
        } else {
            p->indent--;
            line(p);
            hg_text_addf(p->out, at_else ? "} else {\n" : "}\n");
        }
        p->indent += c.v ? c.v->body[0] != NULL : at_else;
        if (c.v && c.v->op == VEC_TURNS) print_vars(p, p->f->vars, c.v);
    }
}

static void print_function(printer *p, vec_function *f) {
    vec_number(f);
    hg_text_addf(p->out, "\n%s f%u ",
                 f != p->k->functions ? "function"
                 : p->k->blocks       ? "block"
                                      : "turn",
                 (unsigned)f->id);
    kir_print_quoted(p->out, f->name);
    hg_text_addf(p->out, " (");
    for (uint8_t i = 0; i < f->param_count; i++)
        hg_text_addf(p->out, "%s%s %s", i ? ", " : "", f->param_each[i] ? "each" : "one",
                     kir_type_name(f->param_types[i]));
    hg_text_addf(p->out, ")");
    if (f->result != KIR_VOID)
        hg_text_addf(p->out, " -> %s %s", f->result_each ? "each" : "one",
                     kir_type_name(f->result));
    hg_text_addf(p->out, "%s%s", f->masked ? " masked" : "", f->can_end ? " ends" : "");
    if (f->limbs_op != KIR_OP_COUNT)
        hg_text_addf(p->out, " limbs %s", kir_op_name((kir_op)f->limbs_op));
    for (uint8_t i = 0; i < f->array_count; i++) {
        hg_text_addf(p->out, i ? ", " : " arrays ");
        var_name(p->out, f->array_params[i]);
    }
    hg_text_addf(p->out, " {\n");
    p->f = f;
    p->indent = 1;
    print_vars(p, f->vars, NULL);
    p->inst = 0;
    print_body(p, f->body);
    hg_text_addf(p->out, "}\n");
}

void vec_print(hg_text *out, vec_kernel *kernel) {
    printer p = {.out = out, .k = kernel};
    kir_print_head(out, kernel->module);
    hg_text_addf(out, "lanes %u%s\n", (unsigned)kernel->lanes, kernel->can_end ? " ends" : "");
    print_vars(&p, kernel->shared, NULL);
    for (vec_function *f = kernel->functions; f; f = f->next) print_function(&p, f);
    if (kernel->pressure.bytes) {
        hg_text_addf(out, "\npressure %u", (unsigned)kernel->pressure.bytes);
        if (kernel->pressure.inst)
            hg_text_addf(out, " inst %u", (unsigned)kernel->pressure.inst - 1);
        hg_text_addf(out, "\n");
    }
}

uint64_t vec_hash(vec_kernel *kernel) {
    const kir_module *module = kernel->module;
    kir_module bare = *module;
    hg_text text = {0};
    uint8_t digest[32] = {0};
    uint64_t hash = 0;
    bare.program = NULL;
    kernel->module = &bare;
    vec_print(&text, kernel);
    kernel->module = module;
    hg_blake3 state;
    hg_blake3_init(&state);
    hg_blake3_update(&state, text.data, text.failed ? 0 : (size_t)text.length);
    hg_blake3_final(&state, digest);
    hg_text_free(&text);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}
