/* Programs as canonical text (language.md 3): what disasm writes, and what assembles to the same
 * program again.
 * Must not know: the binary container, verification. */
#include "isa/print.h"
#include "isa/text_internal.h"

#include <stdio.h>

static void add(hg_text *out, const char *text) { hg_text_add(out, text, strlen(text)); }

/* ---- labels ---- */

void hg_print_target(hg_text *out, const hg_program *p, uint32_t inst) {
    const char *name = hg_program_label_at(p, inst);
    if (name)
        add(out, name);
    else
        hg_text_addf(out, ".L%u", (unsigned)inst);
}

/* ---- operands ---- */

static bool is_constant_place(uint8_t place) {
    return place == HG_PLACE_BUF || place == HG_PLACE_POOL || place == HG_PLACE_SHARED ||
           place == HG_PLACE_CLASS || place == HG_PLACE_PRIVATE;
}

static void print_register(const hg_printer *to, uint32_t operand, int kind, uint8_t number) {
    const char *name = to->name ? to->name(to->user, operand, kind, number) : NULL;
    if (name)
        add(to->out, name);
    else
        hg_text_addf(to->out, "%c%u", kind == HG_PRINT_PREDICATE ? 'p' : 'r', (unsigned)number);
}

static void print_place(const hg_printer *to, uint32_t operand, const hg_operand *o) {
    hg_text *out = to->out;
    unsigned long long value = o->value;
    const char *name;
    switch ((hg_place_kind)o->place) {
    case HG_PLACE_BUF: hg_text_addf(out, "buf%llu", value); break;
    case HG_PLACE_POOL: hg_text_addf(out, "pool%llu", value); break;
    case HG_PLACE_SHARED: add(out, "shared"); break;
    case HG_PLACE_PRIVATE: add(out, "private"); break;
    case HG_PLACE_CLASS: hg_text_addf(out, "class%llu", value); break;
    case HG_PLACE_PHI: hg_text_addf(out, "phi(%llu, %u, %u)", value, o->phi[0], o->phi[1]); break;
    case HG_PLACE_FLAT:
    case HG_PLACE_BUF_REG:
    case HG_PLACE_POOL_REG:
        name = to->name ? to->name(to->user, operand, HG_PRINT_BASE, o->reg) : NULL;
        if (name)
            add(out, name);
        else
            hg_text_addf(out,
                         o->place == HG_PLACE_POOL_REG               ? "pool(r%u)"
                         : o->place == HG_PLACE_FLAT || o->has_index ? "r%u"
                                                                     : "buf(r%u)",
                         (unsigned)o->reg);
        break;
    case HG_PLACE_BARE: break; /* only in arrays, which print it themselves */
    }
}

static void print_address(const hg_printer *to, uint32_t operand, const hg_operand *o) {
    hg_text *out = to->out;
    add(out, "[");
    print_place(to, operand, o);
    if (o->has_index) {
        add(out, " + ");
        print_register(to, operand, HG_PRINT_INDEX, o->index);
    }
    if (hg_operand_scale(o) > 1) hg_text_addf(out, "*%u", (unsigned)o->scale);
    unsigned long long bytes = o->disp < 0 ? 0 - (unsigned long long)o->disp
                                           : (unsigned long long)o->disp;
    if (o->disp || (is_constant_place(o->place) && !o->has_index))
        hg_text_addf(out, " %c %llu", o->disp < 0 ? '-' : '+', bytes);
    add(out, "]");
}

static void print_tuple(const hg_printer *to, uint32_t operand, const hg_program *p,
                        const hg_tuple_item *items, uint64_t count) {
    hg_text *out = to->out;
    add(out, "(");
    for (uint64_t i = 0; i < count; i++) {
        uint32_t inside_count;
        const hg_tuple_item *inside = hg_tuple_counts(p, &items[i], &inside_count);
        if (i) add(out, ", ");
        if (items[i].is_tuple) add(out, "(");
        for (uint32_t k = 0; k < inside_count; k++) {
            if (k) add(out, ", ");
            if (inside[k].is_reg)
                print_register(to, operand, HG_PRINT_REGISTER, inside[k].reg);
            else
                hg_text_addf(out, "%llu", (unsigned long long)inside[k].value);
        }
        if (items[i].is_tuple) add(out, ")");
    }
    add(out, ")");
}

static void print_operand(const hg_printer *to, const hg_program *p, const hg_inst *inst,
                          uint32_t number, const hg_operand *o) {
    hg_text *out = to->out;
    const hg_operand_info *info = &hg_op_get((hg_op)inst->op)->operands[number];
    unsigned long long value = o->value;
    if (info->access & HG_NAMED) hg_text_addf(out, "%s=", info->name);
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG: print_register(to, number, HG_PRINT_REGISTER, o->reg); break;
    case HG_K_PRED: print_register(to, number, HG_PRINT_PREDICATE, o->reg); break;
    case HG_K_LABEL:
        add(out, "@");
        hg_print_target(out, p, (uint32_t)o->value);
        break;
    case HG_K_ARRAY: print_register(to, number, HG_PRINT_BASE, o->reg); break;
    case HG_K_ADDRESS: print_address(to, number, o); break;
    case HG_K_LITERAL: hg_print_literal(out, hg_literal_type(inst, info), hg_literal(p, o)); break;
    case HG_K_COUNT:
        if (o->is_reg)
            print_register(to, number, HG_PRINT_REGISTER, o->reg);
        else
            hg_text_addf(out, "%llu", value);
        break;
    case HG_K_U8: hg_text_addf(out, "%llu", value); break;
    case HG_K_I8: hg_text_addf(out, "%lld", (long long)(int64_t)o->value); break;
    case HG_K_POOL: hg_text_addf(out, "pool%llu", value); break;
    case HG_K_OPNAME: add(out, hg_opname_name((hg_opname)o->value)); break;
    case HG_K_IDNAME: add(out, hg_idname_name((hg_idname)o->value)); break;
    case HG_K_BOOL: add(out, o->value ? "true" : "false"); break;
    case HG_K_TUPLE:
    case HG_K_TUPLES: print_tuple(to, number, p, hg_tuple(p, o), o->item_count); break;
    case HG_K_TYPE:
    case HG_K_COND:
    case HG_K_SCOPE: break; /* in the mnemonic */
    }
}

static void print_mnemonic(const hg_printer *to, const hg_inst *inst, const hg_operand *operands) {
    hg_text *out = to->out;
    const hg_op_info *info = hg_op_get((hg_op)inst->op);
    add(out, info->text);
    for (uint32_t i = 0; i < info->operand_count; i++) {
        const hg_operand *o = &operands[i];
        if (info->operands[i].kind == HG_K_COND)
            add(out, hg_condition_name((hg_condition)o->value));
        if (info->operands[i].kind == HG_K_SCOPE)
            hg_text_addf(out, ".%s", hg_scope_name((hg_scope)o->value));
        if (hg_operand_in_mnemonic(&info->operands[i]) && info->operands[i].kind == HG_K_PRED &&
            o->reg != 255) {
            add(out, ".");
            print_register(to, i, HG_PRINT_PREDICATE, o->reg);
        }
    }
    if (inst->type < HG_TYPE_COUNT) hg_text_addf(out, ".%s", hg_type_name((hg_type)inst->type));
    if (inst->type2 < HG_TYPE_COUNT) hg_text_addf(out, ".%s", hg_type_name((hg_type)inst->type2));
}

void hg_print_instruction_to(const hg_printer *to, const hg_program *program, uint32_t number) {
    hg_text *out = to->out;
    const hg_inst *inst = &program->insts[number];
    const hg_op_info *info = hg_op_get((hg_op)inst->op);
    const hg_operand *operands = hg_inst_operands(program, number);
    print_mnemonic(to, inst, operands);
    const char *between = " ";
    for (uint32_t i = 0; i < info->operand_count; i++) {
        if (hg_operand_in_mnemonic(&info->operands[i]) ||
            hg_operand_is_left_out(program, inst, &info->operands[i], &operands[i]))
            continue;
        add(out, between);
        print_operand(to, program, inst, i, &operands[i]);
        between = ", ";
    }
}

void hg_print_instruction(hg_text *out, const hg_program *program, uint32_t number) {
    hg_print_instruction_to(&(hg_printer){.out = out}, program, number);
}

/* Length of rN or pN at the beginning of the text, 0: something else. */
static size_t register_length(const char *text) {
    size_t length = 1;
    if (text[0] != 'r' && text[0] != 'p') return 0;
    while (is_digit(text[length])) length++;
    return length > 1 && !is_name_byte(text[length]) ? length : 0;
}

/* A register that is only written has the name that it has behind the instruction. */
static const char *name_at(const hg_program *p, uint32_t inst, bool written, const char *text) {
    uint32_t number = 0;
    for (const char *digit = text + 1; is_digit(*digit); digit++)
        number = number * 10 + (uint32_t)(*digit - '0');
    return hg_program_register_name(p, written ? inst + 1 : inst, text[0] == 'p', (uint8_t)number);
}

void hg_print_named_instruction(hg_text *out, const hg_program *program, uint32_t number) {
    hg_text plain = {0};
    hg_print_instruction(&plain, program, number);
    const hg_op_info *info = hg_op_get((hg_op)program->insts[number].op);
    uint32_t first = info->operand_count && hg_operand_in_mnemonic(&info->operands[0]) ? 1 : 0;
    bool written = info->operand_count > first &&
                   (info->operands[first].access & (HG_READ | HG_WRITE)) == HG_WRITE &&
                   (info->operands[first].kind == HG_K_REG ||
                    info->operands[first].kind == HG_K_PRED);
    for (const char *at = plain.data ? plain.data : ""; *at;) {
        bool begins = at == plain.data || !is_name_byte(at[-1]) || (at[-1] == '.' && at[0] == 'p');
        size_t length = begins ? register_length(at) : 0;
        const char *name = length ? name_at(program, number, written, at) : NULL;
        if (length) written = false;
        if (name) hg_text_addf(out, "%s (", name);
        hg_text_add(out, at, length ? length : 1);
        if (name) hg_text_addf(out, ")");
        at += length ? length : 1;
    }
    hg_text_free(&plain);
}

/* ---- directives ---- */

/* How tightly an operation of an expression binds: sums, products, what needs no parentheses. */
enum { SUM, PRODUCT, ATOM };

static int strength(const hg_extent_op *op) {
    switch ((hg_extent_op_kind)op->kind) {
    case HG_EXTENT_OP_ADD:
    case HG_EXTENT_OP_SUB: return SUM;
    case HG_EXTENT_OP_MUL:
    case HG_EXTENT_OP_DIV: return PRODUCT;
    default: return ATOM;
    }
}

static void print_node(hg_text *out, const hg_program *p, const hg_extent_tree *tree, uint8_t node,
                       int least);

/* Two operands with a word between; the right one binds more tightly than the operation. */
static void print_sides(hg_text *out, const hg_program *p, const hg_extent_tree *tree, uint8_t node,
                        const char *between, int least) {
    print_node(out, p, tree, tree->left[node], least);
    add(out, between);
    print_node(out, p, tree, tree->right[node], least == SUM ? PRODUCT : ATOM);
}

/* An expression is at most HG_MAX_EXTENT_OPS deep. */
static void print_node(hg_text *out, const hg_program *p, const hg_extent_tree *tree, uint8_t node,
                       int least) {
    static const char *const words[] = {"", "", " + ", " - ", " * ", " / ", " / ", "min(", "max("};
    const hg_extent_op *op = &tree->ops[node];
    bool parentheses = strength(op) < least;
    if (parentheses) add(out, "(");
    switch ((hg_extent_op_kind)op->kind) {
    case HG_EXTENT_OP_NUMBER: hg_text_addf(out, "%llu", (unsigned long long)op->value); break;
    case HG_EXTENT_OP_PARAM: add(out, p->params[op->param].name); break;
    case HG_EXTENT_OP_CEIL_DIV:
        add(out, "ceil(");
        print_node(out, p, tree, tree->left[node],
                   hg_extent_is_quotient(tree, tree->left[node]) ? ATOM : PRODUCT);
        add(out, words[op->kind]);
        print_node(out, p, tree, tree->right[node], ATOM);
        add(out, ")");
        break;
    case HG_EXTENT_OP_MIN:
    case HG_EXTENT_OP_MAX:
        add(out, words[op->kind]);
        print_node(out, p, tree, tree->left[node], SUM);
        add(out, ", ");
        print_node(out, p, tree, tree->right[node], SUM);
        add(out, ")");
        break;
    default: print_sides(out, p, tree, node, words[op->kind], strength(op)); break;
    }
    if (parentheses) add(out, ")");
}

void hg_print_extent(hg_text *out, const hg_program *p, const hg_extent *e) {
    hg_extent_tree tree;
    if (e->kind == HG_EXTENT_NUMBER) hg_text_addf(out, "%llu", (unsigned long long)e->value);
    if (e->kind == HG_EXTENT_PARAM) add(out, p->params[e->param].name);
    if (e->kind == HG_EXTENT_EXPRESSION && hg_extent_tree_make(p, e, &tree))
        print_node(out, p, &tree, tree.root, SUM);
}

static void print_dims(hg_text *out, const hg_program *p, const hg_param *param) {
    if (param->rank == 255) return;
    add(out, " [");
    for (uint32_t i = 0; i < param->rank; i++) {
        if (i) add(out, ", ");
        hg_print_extent(out, p, &param->dims[i]);
    }
    add(out, "]");
}

static void print_param_register(hg_text *out, const hg_param *param, const bool *unnamed) {
    if (!unnamed || !unnamed[param->reg]) hg_text_addf(out, "r%u ", (unsigned)param->reg);
}

/* A line ends in a comma where the next one goes on; a statement is far shorter than one may be. */
static void print_data(hg_text *out, const hg_program *p, const hg_param *param,
                       const bool *unnamed) {
    enum { A_LINE = 8, A_STATEMENT = HG_MAX_LINE_BYTES / 4 };
    hg_type type = (hg_type)param->type;
    uint64_t size = hg_type_size_bytes(type), count = param->data_bytes / size;
    size_t start = out->length;
    add(out, ".data ");
    print_param_register(out, param, unnamed);
    hg_text_addf(out, "%s %s", param->name, hg_type_name(type));
    print_dims(out, p, param);
    for (uint64_t i = 0; i < count; i++) {
        bool full = out->length - start > A_STATEMENT;
        add(out, i == 0 ? " " : full ? "\n.data + " : i % A_LINE ? ", " : ",\n    ");
        if (full) start = out->length;
        hg_print_literal(out, type, param->data + i * size);
    }
    add(out, "\n");
}

static void print_param(hg_text *out, const hg_program *p, const hg_param *param,
                        const bool *unnamed) {
    static const char *const dirs[] = {"", "in", "out", "inout"};
    bool scratch = param->kind == HG_PARAM_SCRATCH;
    if (param->kind == HG_PARAM_DATA) {
        print_data(out, p, param, unnamed);
        return;
    }
    add(out, scratch ? ".scratch " : ".param ");
    print_param_register(out, param, unnamed);
    hg_text_addf(out, "%s ", param->name);
    if (param->kind == HG_PARAM_POOL) {
        hg_text_addf(out, "pool %llu\n", (unsigned long long)param->pool_bytes);
        return;
    }
    if (param->kind == HG_PARAM_SCALAR) {
        add(out, hg_type_name((hg_type)param->type));
        if (param->has_default) {
            add(out, " = ");
            hg_print_literal(out, (hg_type)param->type, param->default_bytes);
        }
        add(out, "\n");
        return;
    }
    if (scratch)
        add(out, hg_type_name((hg_type)param->type));
    else
        hg_text_addf(out, "buffer %s %s", hg_type_name((hg_type)param->type), dirs[param->dir]);
    print_dims(out, p, param);
    add(out, "\n");
}

/* Bytes that are not text are written as \xNN, so that the result is UTF-8 whatever the string
 * holds. */
static void print_quoted(hg_text *out, const char *text, size_t length) {
    add(out, "\"");
    for (size_t i = 0, n; i < length; i += n) {
        unsigned char c = (unsigned char)text[i];
        n = hg_utf8_length(text + i, length - i);
        if (c == '"' || c == '\\')
            hg_text_addf(out, "\\%c", c);
        else if (c == '\n' || c == '\t')
            add(out, c == '\n' ? "\\n" : "\\t");
        else if (c < 32 || c == 127 || !n)
            hg_text_addf(out, "\\x%02x", c);
        else
            hg_text_add(out, text + i, n);
        if (!n) n = 1;
    }
    add(out, "\"");
}

/* The instructions that a name holds for are counted from the line on. */
static void print_given_name(hg_text *out, const hg_register_name *name) {
    hg_text_addf(out, ".name %c%u ", name->predicate ? 'p' : 'r', (unsigned)name->number);
    print_quoted(out, name->name, strlen(name->name));
    hg_text_addf(out, ", %u\n", (unsigned)(name->end - name->first));
}

void hg_print_directives(hg_text *out, const hg_program *p, const bool *unnamed) {
    hg_text_addf(out, ".atlas 1\n.program %s\n", p->name);
    for (uint32_t i = 0; i < p->param_count; i++) print_param(out, p, &p->params[i], unnamed);
    if (p->shared) hg_text_addf(out, ".shared %llu\n", (unsigned long long)p->shared);
    if (p->private_bytes)
        hg_text_addf(out, ".private %llu\n", (unsigned long long)p->private_bytes);
    if (p->block[0]) {
        int extents = p->block[2] > 1 ? 3 : p->block[1] > 1 ? 2 : 1;
        for (int i = 0; i < extents; i++)
            hg_text_addf(out, i ? ", %u" : ".block %u", (unsigned)p->block[i]);
        add(out, "\n");
    }
    for (uint32_t i = 0; i < p->grid_count; i++) {
        add(out, i ? ", " : ".grid ");
        hg_print_extent(out, p, &p->grid[i]);
    }
    if (p->grid_count) add(out, "\n");
    for (uint32_t i = 0; i < p->lanes_count; i++) {
        add(out, i ? " * " : ".lanes ");
        hg_print_extent(out, p, &p->lanes[i]);
    }
    if (p->lanes_count) add(out, "\n");
    if (p->entry) {
        add(out, ".entry ");
        hg_print_target(out, p, p->entry);
        add(out, "\n");
    }
    if (p->flags & 1) add(out, ".flag relaxed\n");
    for (uint32_t i = 0; i < p->meta_count; i++) {
        hg_text_addf(out, ".meta %s ", p->meta[i].key);
        print_quoted(out, p->meta[i].value, p->meta[i].value_length);
        add(out, "\n");
    }
}

/* ---- the whole ---- */

/* Marks the instructions that a branch or .entry names. */
static void mark_targets(const hg_program *p, uint8_t *marks) {
    if (p->entry) marks[p->entry] = 1;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_op_info *info = hg_op_get((hg_op)p->insts[i].op);
        for (uint32_t k = 0; k < info->operand_count; k++)
            if (info->operands[k].kind == HG_K_LABEL) marks[hg_inst_operands(p, i)[k].value] = 1;
    }
}

hg_status hg_program_print(const hg_program *program, char **text, size_t *length) {
    HG_ENTRY;
    if (!program || !text)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "print: %s is NULL",
                       program ? "text" : "program");
    *text = NULL;
    uint8_t *marks = hg_calloc((size_t)program->inst_count + 1, 1);
    if (!marks) return hg_fail_memory();
    mark_targets(program, marks);
    hg_text out = {0};
    hg_print_directives(&out, program, NULL);
    uint32_t label = 0, name = 0;
    for (uint32_t i = 0; i <= program->inst_count; i++) {
        for (; name < program->register_name_count && program->register_names[name].first == i;
             name++)
            print_given_name(&out, &program->register_names[name]);
        if (marks[i] && !hg_program_label_at(program, i))
            hg_text_addf(&out, ".L%u:\n", (unsigned)i);
        for (; label < program->label_count && program->labels[label].index == i; label++)
            hg_text_addf(&out, "%s:\n", program->labels[label].name);
        if (i == program->inst_count) break;
        add(&out, "    ");
        hg_print_instruction(&out, program, i);
        add(&out, "\n");
    }
    hg_free(marks);
    if (out.failed) {
        hg_text_free(&out);
        return hg_fail_memory();
    }
    *text = out.data;
    if (length) *length = out.length;
    return HG_OK;
}
