/* A program made of a kernel's instructions: its parameters, the instructions with labels, its
 * lines.
 * Must not know: nodes. */
#include "translators/json/lower_internal.h"
#include "translators/json/named.h"

#include <stdio.h>
#include <string.h>

/* Private memory and the names of its arrays, for listings and faults. */
static void declare_private(jk_kernel *k, hg_builder *b) {
    hg_builder_private(b, k->launch.private_bytes);
    for (uint32_t i = k->param_count; i < k->name_count; i++) {
        const jk_name *n = &k->names[i];
        char key[HG_MAX_IDENT_BYTES + 16], value[64];
        if (n->memory != JK_PRIVATE || n->length > HG_MAX_IDENT_BYTES) continue;
        snprintf(key, sizeof key, "private.%.*s", (int)n->length, n->text);
        snprintf(value, sizeof value, "%s[%llu] at %llu", hg_type_name(jk_held(n->type)),
                 (unsigned long long)n->elements, (unsigned long long)n->offset);
        if (hg_is_identifier(key, strlen(key))) hg_builder_meta(b, key, value);
    }
}

void jk_declare_params(jk_kernel *k, hg_builder *b) {
    static const int directions[] = {HG_PARAM_IN, HG_PARAM_IN, HG_PARAM_OUT, HG_PARAM_INOUT};
    for (uint32_t i = 0; i < k->param_count; i++) {
        const jk_name *n = &k->names[i];
        char *name = hg_arena_text(&k->arena, n->text, n->length);
        if (!name) return;
        jk_at(k, b, n->token);
        if (n->kind == JK_ARRAY)
            hg_builder_param_buffer(b, n->reg, name, jk_held(n->type), directions[n->access & 3],
                                    n->dims, n->rank);
        else
            hg_builder_param_scalar(b, n->reg, name, jk_held(n->type));
    }
    if (k->launch.token) jk_at(k, b, k->launch.token);
    if (k->launch.grid_rank) hg_builder_grid(b, k->launch.grid, k->launch.grid_rank);
    if (k->launch.lane_rank) hg_builder_lanes(b, k->launch.lanes, k->launch.lane_rank);
    if (k->launch.block[0])
        hg_builder_block(b, k->launch.block[0], k->launch.block[1], k->launch.block[2]);
    if (k->launch.shared_bytes) hg_builder_shared(b, k->launch.shared_bytes);
    if (k->launch.private_bytes) declare_private(k, b);
}

static hg_arg bits_of(uint64_t bits, uint8_t bytes[8]) {
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
    return hg_imm_bits(bytes);
}

static hg_arg address_of(const jk_inst *in) {
    hg_arg address = in->memory == JK_PRIVATE  ? hg_addr_private()
                     : in->memory == JK_SHARED ? hg_addr_shared()
                                               : hg_addr_buffer_start(in->a);
    if (in->has_index) address = hg_addr_index(address, in->b);
    if (in->scale) address = hg_addr_scale(address, in->scale);
    return hg_addr_disp(address, (int64_t)in->bits);
}

static void add_instruction(hg_builder *b, const jk_inst *in, const hg_label *labels) {
    hg_arg arg[5];
    uint32_t n = 0;
    uint8_t bytes[8];
    hg_type type2 = HG_TYPE_COUNT;
    switch ((hg_op)in->op) {
    case HG_OP_MOV_IMM:
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = bits_of(in->bits, bytes);
        break;
    case HG_OP_LDG:
    case HG_OP_LDS:
    case HG_OP_LDP:
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = address_of(in);
        break;
    case HG_OP_STG:
    case HG_OP_STS:
    case HG_OP_STP:
        arg[n++] = address_of(in);
        arg[n++] = hg_arg_reg(in->c);
        break;
    case HG_OP_ATOM_ADD:
    case HG_OP_ATOM_MIN:
    case HG_OP_ATOM_MAX:
    case HG_OP_ATOM_AND:
    case HG_OP_ATOM_OR:
    case HG_OP_ATOM_XOR:
    case HG_OP_ATOM_EXCH:
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = address_of(in);
        arg[n++] = hg_arg_reg(in->c);
        break;
    case HG_OP_SET:
        arg[n++] = hg_arg_name(hg_condition_name((hg_condition)in->cond));
        arg[n++] = hg_arg_pred(0);
        arg[n++] = hg_arg_reg(in->a);
        arg[n++] = hg_arg_reg(in->b);
        break;
    case HG_OP_SEL:
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = hg_arg_pred(0);
        arg[n++] = hg_arg_reg(in->a);
        arg[n++] = hg_arg_reg(in->b);
        break;
    case HG_OP_BRA:
        arg[n++] = in->predicated ? hg_arg_pred(0) : hg_arg_make(HG_ARG_NO_PRED, 0, 0);
        arg[n++] = hg_arg_label(labels[in->label]);
        break;
    case HG_OP_EXIT:
    case HG_OP_BAR_GRID: break;
    case HG_OP_BAR_SYNC: arg[n++] = hg_arg_number(0); break;
    case HG_OP_RDID:
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = hg_arg_name(hg_idname_name((hg_idname)in->cond));
        break;
    case HG_OP_PARALLEL_MAP:
    case HG_OP_PARALLEL_MAP_BINARY:
    case HG_OP_PARALLEL_REDUCE_MEM:
        arg[n++] = in->op == HG_OP_PARALLEL_REDUCE_MEM ? hg_addr_buffer_start(in->a)
                                                       : hg_array(in->a);
        arg[n++] = hg_array(in->b);
        if (in->op == HG_OP_PARALLEL_MAP_BINARY) arg[n++] = hg_array(in->c);
        arg[n++] = hg_arg_name(hg_opname_name((hg_opname)in->cond));
        arg[n++] = in->counted ? hg_count_reg(in->d) : hg_count(in->bits);
        break;
    case HG_OP_BSCAN_ADD:
    case HG_OP_BSCAN_MIN:
    case HG_OP_BSCAN_MAX:
    case HG_OP_BSCAN_MUL:
    case HG_OP_BSCAN_AND:
    case HG_OP_BSCAN_OR:
    case HG_OP_BSCAN_XOR:
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = hg_arg_reg(in->a);
        arg[n++] = in->bits ? hg_flag(true) : (hg_arg){0};
        break;
    case HG_OP_SHUFFLE:
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = hg_arg_reg(in->a);
        arg[n++] = hg_count_reg(in->b);
        break;
    default: {
        uint8_t count = hg_op_get((hg_op)in->op)->operand_count;
        arg[n++] = hg_arg_reg(in->d);
        arg[n++] = hg_arg_reg(in->a);
        if (count >= 3) arg[n++] = hg_arg_reg(in->b);
        if (count == 4) arg[n++] = hg_arg_reg(in->c);
        if (in->op == HG_OP_CVT) type2 = (hg_type)in->type2;
    }
    }
    hg_builder_add(b, hg_op_get((hg_op)in->op)->opcode, (hg_type)in->type, type2, arg, n);
}

/* The labels in front of each instruction: a list an index. */
typedef struct fronts {
    uint32_t *label, *next_label;
} fronts;

static void free_fronts(fronts *f) {
    hg_free(f->label);
    hg_free(f->next_label);
}

static bool make_fronts(const jk_code *c, fronts *f) {
    size_t insts = (size_t)c->insts.count + 1;
    *f = (fronts){hg_alloc(insts * sizeof(uint32_t)),
                  hg_alloc(((size_t)c->labels.count + 1) * sizeof(uint32_t))};
    if (!f->label || !f->next_label) return false;
    for (size_t i = 0; i < insts; i++) f->label[i] = UINT32_MAX;
    for (uint64_t i = c->labels.count; i-- > 0;) {
        if (!c->labels.data[i].used || !c->labels.data[i].placed) continue;
        f->next_label[i] = f->label[c->labels.data[i].inst];
        f->label[c->labels.data[i].inst] = (uint32_t)i;
    }
    return true;
}

static bool add_all(jk_code *c, hg_builder *b) {
    fronts f;
    hg_label *labels = hg_calloc((size_t)c->labels.count + 1, sizeof *labels);
    bool good = make_fronts(c, &f) && labels;
    for (uint64_t i = 0; good && i < c->labels.count; i++)
        if (c->labels.data[i].used && c->labels.data[i].placed) labels[i] = hg_builder_label(b);
    for (uint32_t i = 0; good && i < c->constant_count; i++) {
        jk_inst in = {.op = HG_OP_MOV_IMM,
                      .type = c->constants[i].type,
                      .d = c->constants[i].reg,
                      .bits = c->constants[i].bits};
        jk_at(c->kernel, b, c->kernel->root);
        add_instruction(b, &in, labels);
    }
    for (uint64_t i = 0; good && i <= c->insts.count; i++) {
        for (uint32_t l = f.label[i]; l != UINT32_MAX; l = f.next_label[l])
            hg_builder_place(b, labels[l]);
        if (i == c->insts.count) break;
        jk_at(c->kernel, b, c->insts.data[i].token);
        add_instruction(b, &c->insts.data[i], labels);
    }
    free_fronts(&f);
    hg_free(labels);
    return good;
}

void jk_at(jk_kernel *k, hg_builder *b, uint32_t token) {
    hg_place place = jk_place(k, token);
    hg_builder_at(b, place.line, place.column);
}

hg_status jk_assemble(jk_code *c, hg_program **program) {
    jk_kernel *k = c->kernel;
    hg_builder *b = hg_builder_create(k->name);
    hg_status status = HG_OK;
    jk_declare_params(k, b);
    if (!b || !add_all(c, b))
        status = hg_fail_memory();
    else
        status = hg_builder_build(b, k->diagnostics, program);
    hg_builder_destroy(b);
    return status;
}

/* ---- without a body ---- */

void jk_add_op(hg_builder *b, hg_op op, hg_type type, uint8_t d, uint8_t x, uint8_t y) {
    hg_arg arg[] = {hg_arg_reg(d), hg_arg_reg(x), hg_arg_reg(y)};
    hg_builder_add(b, hg_op_get(op)->opcode, type, HG_TYPE_COUNT, arg,
                   hg_op_get(op)->operand_count);
}

hg_status jk_make_named(jk_kernel *k, jk_build *add, const void *what, hg_program **program) {
    hg_status status = HG_OK;
    for (int round = 0; round < 2 && status == HG_OK; round++) {
        hg_builder *b = hg_builder_create(k->name);
        jk_declare_params(k, b);
        jk_at(k, b, k->root);
        add(b, what);
        if (!b)
            status = hg_fail_memory();
        else if (round)
            status = hg_builder_build(b, k->diagnostics, program);
        hg_builder_destroy(b);
    }
    return status;
}
