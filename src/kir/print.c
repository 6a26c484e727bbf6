/* The kernel IR as text (docs/reference/kernel-ir.md); kir_parse reads it back. One operation a
 * line, regions indented; numbers of values are kir_number's. Names that several variables, tables
 * or functions share get a number behind a point. */
#include "isa/program.h"
#include "kir/step.h"
#include "kir/words.h"
#include "kir/walk.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_INDENT = 32, TABLE_LINE = 100, VARS_LINE = 100 };

typedef struct printer {
    hg_text *out;
    const kir_module *m;
    uint32_t *vars, *functions, *tables; /* by id: the number behind the name, 0: none */
} printer;

/* ---- names ---- */

/* Something named: things of one scope and name get different suffixes, in the order of the text.
 */
typedef struct named {
    uint32_t scope, rank, id;
    const char *name;
} named;

static int by_name(const void *left, const void *right) {
    const named *a = left, *b = right;
    if (a->scope != b->scope) return a->scope < b->scope ? -1 : 1;
    int order = strcmp(a->name ? a->name : "", b->name ? b->name : "");
    if (order) return order;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void number(named *list, uint32_t count, uint32_t *numbers) {
    qsort(list, count, sizeof *list, by_name);
    for (uint32_t i = 0; i < count; i++) {
        bool same = i && list[i].scope == list[i - 1].scope &&
                    strcmp(list[i].name ? list[i].name : "",
                           list[i - 1].name ? list[i - 1].name : "") == 0;
        numbers[list[i].id] = same ? numbers[list[i - 1].id] + 1 : 0;
    }
}

static void number_all(printer *p, named *list) {
    const kir_module *m = p->m;
    uint32_t n = 0;
    for (const kir_function *f = m->functions; f; f = f->next, n++)
        list[n] = (named){0, n, f->id, f->name};
    number(list, n, p->functions);
    n = 0;
    for (const kir_table *t = m->tables; t; t = t->next, n++)
        list[n] = (named){0, m->table_count - n, t->id, t->name};
    number(list, n, p->tables);
    n = 0;
    for (const kir_function *f = m->functions; f; f = f->next) /* array parameters stand before
                                                                  other variables */
        for (uint8_t i = 0; i < f->array_count; i++, n++)
            list[n] = (named){f->id + 1, n, f->array_params[i]->id, f->array_params[i]->name};
    for (const kir_var *v = m->vars; v; v = v->next)
        if (!v->by_reference) {
            list[n] = (named){v->function ? v->function->id + 1 : 0, n, v->id, v->name};
            n++;
        }
    number(list, n, p->vars);
}

void kir_print_quoted(hg_text *out, const char *text) {
    hg_text_add(out, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            hg_text_add(out, (const char[]){'\\', *text}, 2);
        else if (c < 32 || c >= 127)
            hg_text_addf(out, "\\x%02x", (unsigned)c);
        else
            hg_text_add(out, text, 1);
    }
    hg_text_add(out, "\"", 1);
}

static void print_name(hg_text *out, const char *name, uint32_t number) {
    if (!name || !*name)
        hg_text_addf(out, "#%u", (unsigned)number);
    else if (kir_is_plain_name(name))
        hg_text_addf(out, "%s", name);
    else
        kir_print_quoted(out, name);
    if (name && *name && number) hg_text_addf(out, ".%u", (unsigned)number);
}

static void print_var(const printer *p, const kir_var *v) {
    if (!v->function) hg_text_add(p->out, "$", 1);
    print_name(p->out, v->name, p->vars[v->id]);
}

static void print_function_name(const printer *p, const kir_function *f) {
    hg_text_add(p->out, "@", 1);
    print_name(p->out, f->name, p->functions[f->id]);
}

/* "u32", "u32[4]" */
static void print_var_type(hg_text *out, const kir_var *v) {
    hg_text_addf(out, "%s", kir_type_name(v->type));
    if (v->length) hg_text_addf(out, "[%u]", (unsigned)v->length);
}

/* ---- memory operations ---- */

/* Arguments from v->args[from]: one, or two halves. */
static void print_halves(hg_text *out, const kir_value *v, uint8_t from, uint8_t count) {
    for (uint8_t i = 0; i < count; i++)
        hg_text_addf(out, "%s%%%u", i ? ":" : "", (unsigned)v->args[from + i]->id);
}

/* "[%3 + 16]", "[16]", "[]" */
static void print_index(hg_text *out, const kir_value *v, uint8_t from, uint8_t count,
                        int64_t disp) {
    uint64_t size = disp < 0 ? 0 - (uint64_t)disp : (uint64_t)disp;
    hg_text_add(out, " [", 2);
    print_halves(out, v, from, count);
    const char *sign = count ? (disp < 0 ? " - " : " + ") : disp < 0 ? "-" : "";
    if (disp) hg_text_addf(out, "%s%llu", sign, (unsigned long long)size);
    hg_text_add(out, "]", 1);
}

/* " {operand 2, bytes 1}": begins, goes on; ends when !word. */
static void add_field(hg_text *out, bool *open, const char *word, uint64_t n) {
    if (word) hg_text_addf(out, "%s%s %llu", *open ? ", " : " {", word, (unsigned long long)n);
    if (!word && *open) hg_text_add(out, "}", 1);
    *open = word != NULL;
}

static void print_access_fields(const printer *p, const kir_value *v, uint8_t type, bool halves) {
    hg_text *out = p->out;
    bool open = false;
    uint8_t space = v->u.mem.space, bytes = kir_access_bytes((kir_op)v->op, type);
    if (v->u.mem.operand) add_field(out, &open, "operand", v->u.mem.operand);
    if (v->u.mem.bytes != bytes) add_field(out, &open, "bytes", v->u.mem.bytes);
    if (v->u.mem.bytes_wide != kir_access_wide(p->m, (kir_op)v->op, type, v->u.mem.bytes))
        add_field(out, &open, "wide", v->u.mem.bytes_wide);
    if (v->u.mem.split && !halves) add_field(out, &open, "split", v->u.mem.split);
    if (space != KIR_CLASS &&
        (space != KIR_BUFFER || v->u.mem.class_id >= kir_memory_words.count) && v->u.mem.class_id)
        add_field(out, &open, "class", v->u.mem.class_id);
    if (v->op != KIR_ATOMIC && v->u.mem.atomic) add_field(out, &open, "atomic", v->u.mem.atomic);
    if (v->u.mem.high) {
        hg_text_addf(out, "%s", open ? ", high " : " {high ");
        print_var(p, v->u.mem.high);
        open = true;
    }
    add_field(out, &open, NULL, 0);
}

static void print_access(const printer *p, const kir_value *v) {
    hg_text *out = p->out;
    kir_access_parts parts = kir_access_divide(p->m, v);
    uint8_t next = (uint8_t)(parts.handle + parts.index);
    if (next > v->nargs) parts = (kir_access_parts){0, 0}, next = 0; /* not a verified module */
    if (v->op == KIR_ATOMIC) hg_text_addf(out, ".%s", kir_word(&kir_atomic_words, v->u.mem.atomic));
    hg_text_addf(out, " %s", kir_word(&kir_space_words, v->u.mem.space));
    if (v->u.mem.space == KIR_CLASS) hg_text_addf(out, " %u", (unsigned)v->u.mem.class_id);
    if (v->u.mem.space == KIR_BUFFER && v->u.mem.class_id &&
        v->u.mem.class_id < kir_memory_words.count)
        hg_text_addf(out, ".%s", kir_memory_words.words[v->u.mem.class_id]);
    if (v->u.mem.slot >= 0) hg_text_addf(out, " slot %d", (int)v->u.mem.slot);
    if (v->u.mem.slot == KIR_ADDRESS) hg_text_addf(out, " address");
    if (v->u.mem.volatile_access) hg_text_addf(out, " volatile");
    if (v->u.mem.uniform) hg_text_addf(out, " uniform");
    if (v->u.mem.unchecked) hg_text_addf(out, " unchecked");
    if (parts.handle) hg_text_add(out, " ", 1);
    print_halves(out, v, 0, parts.handle);
    print_index(out, v, parts.handle, parts.index, v->u.mem.disp);
    for (uint8_t i = next; i < v->nargs; i++) hg_text_addf(out, ", %%%u", (unsigned)v->args[i]->id);
    print_access_fields(p, v, kir_access_type(v, next), parts.handle == 2 || (parts.index == 2));
}

/* ---- other operations ---- */

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

static void print_id(const printer *p, const kir_value *v) {
    uint64_t id = v->u.imm & (KIR_ID_HIGH - 1);
    const char *name = kir_is_device_form(p->m) ? kir_word(&kir_device_id_words, id)
                       : id < HG_ID_COUNT       ? hg_idname_name((hg_idname)id)
                                                : "?";
    hg_text_addf(p->out, " %s%s", name, v->u.imm & KIR_ID_HIGH ? " high" : "");
}

static void print_step_array(const printer *p, const kir_value *v, const kir_step_operand *o) {
    static const char *const ACCESS[] = {"none", "read", "write", "update"};
    bool handle = o->arg_count > o->has_index;
    hg_text_addf(p->out, " %s", kir_word(&kir_space_words, o->space));
    if (o->space == KIR_CLASS) hg_text_addf(p->out, " %u", (unsigned)o->class_id);
    hg_text_addf(p->out, " %s", ACCESS[o->access & 3]);
    if (handle) hg_text_addf(p->out, " %%%u", (unsigned)v->args[o->first_arg]->id);
    print_index(p->out, v, (uint8_t)(o->first_arg + handle), o->has_index, o->disp);
}

static void print_step_operand(const printer *p, const kir_value *v, const kir_step_operand *o) {
    hg_text_addf(p->out, " %s", kir_word(&kir_step_words, o->kind));
    if (o->kind == KIR_STEP_NUMBER) hg_text_addf(p->out, " %llu", (unsigned long long)o->value);
    if (o->kind == KIR_STEP_TUPLE) hg_text_addf(p->out, " (");
    for (uint8_t i = 0; i < o->arg_count; i++)
        hg_text_addf(p->out, "%s%%%u",
                     i                           ? ", "
                     : o->kind == KIR_STEP_TUPLE ? ""
                                                 : " ",
                     (unsigned)v->args[o->first_arg + i]->id);
    if (o->kind == KIR_STEP_TUPLE) hg_text_addf(p->out, ")");
}

/* Names, arrays and the rest; an operand's number where it is not the next one of its kind. Arrays
 * always have it. */
static void print_step(const printer *p, const kir_value *v) {
    const kir_step *s = v->u.step.info;
    const hg_op_info *row = hg_op_get((hg_op)v->u.step.op);
    uint8_t last[KIR_STEP_KINDS] = {0};
    hg_text_add(p->out, " ", 1);
    kir_fn_print(p->out, v->u.step.op);
    if (v->u.step.atlas_type != HG_TYPE_NOT_USED)
        hg_text_addf(p->out, ".%s", hg_type_name((hg_type)v->u.step.atlas_type));
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < s->count; i++) {
            const kir_step_operand *o = &s->operands[i];
            bool name = o->kind == KIR_STEP_NAME, array = o->kind == KIR_STEP_ARRAY;
            if (round != (name ? 0 : array ? 1 : 2)) continue;
            if (array && last[KIR_STEP_ARRAY]) hg_text_addf(p->out, ",");
            if (name) hg_text_addf(p->out, " %s", hg_opname_name((hg_opname)o->value));
            if (array) print_step_array(p, v, o);
            if (round == 2) print_step_operand(p, v, o);
            if (array || kir_step_next(row, (kir_step_kind)o->kind, last[o->kind]) != o->operand)
                hg_text_addf(p->out, " {operand %u}", (unsigned)o->operand);
            last[o->kind] = o->operand;
        }
    }
}

static void print_call(const printer *p, const kir_value *v) {
    const kir_function *f = v->u.call.function;
    hg_text_add(p->out, " ", 1);
    print_function_name(p, f);
    for (uint8_t i = 0; i < f->array_count; i++) {
        hg_text_add(p->out, " &", 2);
        print_var(p, v->u.call.arrays[i]);
    }
}

/* What stands between the operation's name and its arguments. */
static void print_detail(const printer *p, const kir_value *v) {
    hg_text *out = p->out;
    switch ((kir_op)v->op) {
    case KIR_CONST: print_const(out, v); break;
    case KIR_INPUT:
    case KIR_PARAM:
    case KIR_BARRIER: hg_text_addf(out, " %llu", (unsigned long long)v->u.imm); break;
    case KIR_ID: print_id(p, v); break;
    case KIR_FENCE: hg_text_addf(out, " %s", hg_scope_name((hg_scope)v->u.imm)); break;
    case KIR_TRACE:
        hg_text_addf(out, " %u %u %u %u", (unsigned)v->u.trace.what, (unsigned)v->u.trace.number,
                     (unsigned)v->u.trace.part, (unsigned)v->u.trace.atlas_type);
        if (v->u.trace.own) {
            hg_text_add(out, " ", 1);
            print_var(p, v->u.trace.own);
        }
        break;
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET:
        hg_text_add(out, " ", 1);
        print_var(p, v->u.var);
        break;
    case KIR_TABLE_GET:
        hg_text_add(out, " ", 1);
        print_name(out, v->u.table->name, p->tables[v->u.table->id]);
        break;
    case KIR_CALL: print_call(p, v); break;
    case KIR_FAULT_IF:
        hg_text_addf(out, " F%02u%s", (unsigned)v->u.fault.code, v->u.fault.axis ? " axis" : "");
        break;
    case KIR_LOOP:
        hg_text_addf(out, "%s%s%s%s", v->u.loop.bounded ? " bounded" : "",
                     v->u.loop.once ? " once" : "", v->u.loop.rolled ? " rolled" : "",
                     v->u.loop.written_out ? " written_out" : "");
        break;
    case KIR_BLOCK:
        hg_text_add(out, " ", 1);
        kir_fn_print(out, v->u.block.op);
        hg_text_addf(out, ".%s%s%s", hg_type_name((hg_type)v->u.block.atlas_type),
                     v->u.block.exclusive ? " exclusive" : "", v->u.block.whole ? " whole" : "");
        break;
    case KIR_DERIVED:
        hg_text_add(out, " ", 1);
        kir_fn_print(out, v->u.derived.fn);
        hg_text_addf(out, ".%s", hg_type_name((hg_type)v->u.derived.atlas_type));
        break;
    default: break;
    }
}

static void print_fault_fields(hg_text *out, const kir_value *v) {
    bool open = false;
    if (v->u.fault.message) {
        hg_text_add(out, " ", 1);
        kir_print_quoted(out, v->u.fault.message);
    }
    if (v->u.fault.operand) add_field(out, &open, "operand", v->u.fault.operand);
    add_field(out, &open, NULL, 0);
}

/* What the analysis of uniformity found, where it says something: " | affine 4 0..1023". */
static void print_facts(hg_text *out, const kir_value *v) {
    uint32_t bits = kir_type_bits(v->type);
    uint64_t most = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    bool range = v->umin > 0 || v->umax < most;
    if (v->op == KIR_CONST || v->type == KIR_VOID || (!range && v->uniformity == KIR_VARYING))
        return;
    hg_text_add(out, " |", 2);
    if (v->uniformity != KIR_VARYING)
        hg_text_addf(out, " %s", kir_word(&kir_uniformity_words, v->uniformity));
    if (v->uniformity == KIR_AFFINE) hg_text_addf(out, " %lld", (long long)v->stride);
    if (range)
        hg_text_addf(out, " %llu..%llu", (unsigned long long)v->umin, (unsigned long long)v->umax);
}

static void print_value(const printer *p, const kir_value *v) {
    hg_text *out = p->out;
    if (v->type != KIR_VOID)
        hg_text_addf(out, "%%%u: %s = ", (unsigned)v->id, kir_type_name(v->type));
    hg_text_addf(out, "%s", kir_op_name((kir_op)v->op));
    if (kir_is_access(v)) {
        print_access(p, v);
    } else if (v->op == KIR_STEP) {
        print_step(p, v);
    } else {
        print_detail(p, v);
        for (uint8_t i = 0; i < v->nargs; i++)
            hg_text_addf(out, "%s%%%u", i ? ", " : " ", (unsigned)v->args[i]->id);
        if (v->op == KIR_FAULT_IF) print_fault_fields(out, v);
    }
    print_facts(out, v);
    if (v->op == KIR_INPUT && v->u.imm < p->m->inputs.count && p->m->inputs.data[v->u.imm].name)
        hg_text_addf(out, " ; %s", p->m->inputs.data[v->u.imm].name);
}

/* ---- functions ---- */

static void indent(hg_text *out, uint32_t depth) {
    for (uint32_t i = 0; i < depth && i < MOST_INDENT; i++) hg_text_add(out, "  ", 2);
}

/* A line wherever the source instruction changes; its own text is a comment. */
static void print_source(const printer *p, const kir_value *v, uint32_t depth, uint32_t *last) {
    if (v->inst == *last) return;
    *last = v->inst;
    indent(p->out, depth);
    if (v->inst)
        hg_text_addf(p->out, "inst %u", (unsigned)(v->inst - 1));
    else
        hg_text_addf(p->out, "inst none");
    if (p->m->program && v->inst && v->inst <= p->m->program->inst_count) {
        hg_text_add(p->out, " ; ", 3);
        hg_print_instruction(p->out, p->m->program, v->inst - 1);
    }
    hg_text_add(p->out, "\n", 1);
}

/* The end of a region inside f. An empty else is not written. */
static void print_end(const printer *p, const kir_cursor *c, uint32_t *depth) {
    bool first = kir_cursor_ends_first(c);
    if (first && !c->region->owner->body[1]->first) return;
    indent(p->out, first ? *depth - 1 : --*depth);
    hg_text_addf(p->out, first ? "} else {\n" : "}\n");
}

static void print_body(const printer *p, const kir_function *f) {
    uint32_t depth = 1, last = 0;
    kir_cursor c = kir_cursor_start(f->body);
    do {
        if (c.v) {
            print_source(p, c.v, depth, &last);
            indent(p->out, depth);
            print_value(p, c.v);
            hg_text_addf(p->out, c.v->body[0] ? " {\n" : "\n");
            depth += c.v->body[0] != NULL;
        } else if (c.region != f->body) {
            print_end(p, &c, &depth);
        }
    } while (kir_cursor_next(&c));
}

/* The next variable of f, NULL: of the module, that is no array parameter. */
static const kir_var *next_var(const kir_var *v, const kir_function *f) {
    while (v && (v->function != f || v->by_reference)) v = v->next;
    return v;
}

static void print_vars(const printer *p, const kir_function *f, const char *before) {
    hg_text *out = p->out;
    size_t line = 0;
    for (const kir_var *v = next_var(p->m->vars, f), *next; v; v = next) {
        next = next_var(v->next, f);
        if (!line) hg_text_addf(out, "%svar ", before);
        if (!line) line = out->length;
        print_var(p, v);
        bool same = next && next->type == v->type && next->length == v->length;
        if (same && out->length - line < VARS_LINE) {
            hg_text_add(out, ", ", 2);
            continue;
        }
        hg_text_addf(out, ": ");
        print_var_type(out, v);
        hg_text_add(out, "\n", 1);
        line = 0;
    }
}

static void print_function(const printer *p, kir_function *f) {
    hg_text *out = p->out;
    hg_text_addf(out, "\nfunction ");
    print_function_name(p, f);
    hg_text_add(out, "(", 1);
    for (uint8_t i = 0; i < f->param_count; i++)
        hg_text_addf(out, "%s%s", i ? ", " : "", kir_type_name(f->param_types[i]));
    for (uint8_t i = 0; i < f->array_count; i++) {
        hg_text_addf(out, "%s&", i || f->param_count ? ", " : "");
        print_var(p, f->array_params[i]);
        hg_text_addf(out, ": ");
        print_var_type(out, f->array_params[i]);
    }
    hg_text_addf(out, ") -> %s%s%s%s", kir_type_name(f->result), f->pure ? " pure" : "",
                 f->cold ? " cold" : "", f->helper ? " helper" : "");
    if (f->limbs_op) hg_text_addf(out, " limbs %s", kir_op_name((kir_op)(f->limbs_op - 1)));
    hg_text_addf(out, " {\n");
    print_vars(p, f, "  ");
    print_body(p, f);
    hg_text_addf(out, "}\n");
}

/* ---- the module ---- */

static void print_input(hg_text *out, const kir_input *input, uint64_t i) {
    hg_text_addf(out, "input %u: %s %s", (unsigned)i, kir_type_name(input->type),
                 kir_word(&kir_input_words, input->kind));
    if (input->kind == KIR_INPUT_PARAM)
        hg_text_addf(out, " %u", (unsigned)input->reg);
    else
        hg_text_addf(out, " %u", (unsigned)input->index);
    if (input->limb_bytes)
        hg_text_addf(out, " limb %u of %u", (unsigned)input->limb, (unsigned)input->limb_bytes);
    hg_text_addf(out, "%s%s", input->is_buffer ? " buffer" : "", input->is_pool ? " pool" : "");
    if (input->name) {
        hg_text_add(out, " ", 1);
        kir_print_quoted(out, input->name);
    }
    hg_text_add(out, "\n", 1);
}

static void print_slot(const printer *p, const kir_slot *s, uint64_t i) {
    hg_text *out = p->out;
    bool memory = s->kind == KIR_SLOT_MEMORY;
    hg_text_addf(out, "slot %u: ", (unsigned)i);
    if (!memory) hg_text_addf(out, "%s%s", kir_word(&kir_slot_words, s->kind), s->space ? " " : "");
    if (memory || s->space) hg_text_addf(out, "%s", kir_word(&kir_space_words, s->space));
    if (s->plan)
        hg_text_addf(out, "%s%s", memory || s->space ? "." : " .",
                     kir_word(&kir_memory_words, s->plan));
    if (s->constant || (!memory && s->handle))
        hg_text_addf(out, " %s %llu", s->constant ? "handle" : "number",
                     (unsigned long long)s->handle);
    if (!s->constant && (memory || s->input)) hg_text_addf(out, " input %u", (unsigned)s->input);
    hg_text_addf(out, "%s%s", s->read ? " read" : "", s->written ? " written" : "");
    if (s->distinct) hg_text_addf(out, " distinct");
    if (s->base < 0)
        hg_text_addf(out, " base none");
    else if (s->base || kir_is_device_form(p->m))
        hg_text_addf(out, " base %d", (int)s->base);
    hg_text_add(out, "\n", 1);
}

static void print_table(const printer *p, const kir_table *t) {
    hg_text *out = p->out;
    const uint8_t *data = t->data;
    size_t size = (size_t)kir_type_bytes(t->type), line;
    hg_text_addf(out, "table ");
    print_name(out, t->name, p->tables[t->id]);
    hg_text_addf(out, ": %s[%u] = {\n", kir_type_name(t->type), (unsigned)t->length);
    line = out->length;
    for (uint32_t i = 0; i < t->length; i++) {
        bool fresh = i == 0 || out->length - line > TABLE_LINE;
        if (fresh && i) hg_text_add(out, ",\n", 2);
        if (fresh) line = out->length;
        hg_text_add(out, fresh ? "  " : ", ", 2);
        hg_print_literal(out, (hg_type)t->type, data + i * size);
    }
    hg_text_addf(out, "\n}\n");
}

/* Those made first stand first; the list has them last. */
static void print_tables(const printer *p) {
    const kir_table **list = hg_calloc((size_t)p->m->table_count + 1, sizeof *list);
    uint32_t n = 0;
    if (!list) {
        p->out->failed = true;
        return;
    }
    for (const kir_table *t = p->m->tables; t; t = t->next) list[n++] = t;
    while (n) print_table(p, list[--n]);
    hg_free(list);
}

static void print_head(const printer *p) {
    const kir_module *m = p->m;
    hg_text_addf(p->out, "module ");
    print_name(p->out, m->name, 0);
    hg_text_addf(p->out, "%s%s%s%s%s%s", m->relaxed ? " relaxed" : "",
                 m->uses_barrier ? " barrier" : "", m->uses_shared ? " shared" : "",
                 m->uses_class ? " class" : "", m->has_step ? " step" : "",
                 m->has_open ? " open" : "");
    for (uint32_t i = 0; i < kir_fact_words.count; i++)
        if (m->facts >> i & 1)
            hg_text_addf(p->out, "%s %s", m->facts & ((1u << i) - 1) ? "," : " is",
                         kir_fact_words.words[i]);
    hg_text_add(p->out, "\n", 1);
    for (uint64_t i = 0; i < m->inputs.count; i++) print_input(p->out, &m->inputs.data[i], i);
    for (uint64_t i = 0; i < m->slots.count; i++) print_slot(p, &m->slots.data[i], i);
    print_tables(p);
}

/* What is printed before functions, then they, if the body is wanted. */
static void print_module(hg_text *out, const kir_module *m, bool body) {
    printer p = {.out = out, .m = m};
    uint64_t most = (uint64_t)m->var_count + m->function_count + m->table_count + 1;
    named *list = hg_calloc((size_t)most, sizeof *list);
    p.vars = hg_calloc((size_t)most, sizeof *p.vars);
    p.functions = hg_calloc((size_t)m->function_count + 1, sizeof *p.functions);
    p.tables = hg_calloc((size_t)m->table_count + 1, sizeof *p.tables);
    if (list && p.vars && p.functions && p.tables) {
        number_all(&p, list);
        print_head(&p);
        if (body) print_vars(&p, NULL, "");
        for (kir_function *f = m->functions; f && body; f = f->next) {
            kir_number(f);
            print_function(&p, f);
        }
    } else {
        out->failed = true;
    }
    hg_free(list);
    hg_free(p.vars);
    hg_free(p.functions);
    hg_free(p.tables);
}

void kir_print(hg_text *out, const kir_module *m) { print_module(out, m, true); }

void kir_print_head(hg_text *out, const kir_module *m) { print_module(out, m, false); }
