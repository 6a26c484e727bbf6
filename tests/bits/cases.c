/* Every instruction whose operands are registers and predicates, in every type; conversions from
 * every type; operations of whole arrays that no instruction has; reductions of arrays. Left out:
 * what moves memory, control, and block 1C0, which works on classes. */
#include "bits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t size_of(hg_type type) { return (uint32_t)hg_type_size_bytes(type); }

typedef struct list {
    bits_case *items;
    uint32_t count, room;
} list;

static bits_case *append(list *l) {
    if (l->count == l->room) {
        uint32_t room = l->room ? 2 * l->room : 256;
        bits_case *more = realloc(l->items, room * sizeof *more);
        if (!more) return NULL;
        l->items = more;
        l->room = room;
    }
    memset(&l->items[l->count], 0, sizeof *l->items);
    return &l->items[l->count++];
}

/* Text at the end of the program. */
#define WRITE(c, ...)                                                                           \
    (snprintf((c)->text + strlen((c)->text), sizeof(c)->text - strlen((c)->text), __VA_ARGS__), \
     (void)0)

static void write_head(bits_case *c) {
    WRITE(c, ".atlas 1\n.program bits\n.param r1 out buffer %s out\n", hg_type_name(c->result));
    for (uint32_t i = 0; i < c->count; i++)
        WRITE(c, ".param r%u a%u buffer %s in\n", 2 + i, i, hg_type_name(c->types[i]));
}

/* The arguments in r10 ... (predicates: p10 ...), the result in r30. */
static void write_loads(bits_case *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        WRITE(c,
              "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    ldg.%s r%u, [r%u + r41]\n",
              size_of(c->types[i]), hg_type_name(c->types[i]), 10 + i, 2 + i);
        if (c->predicate[i])
            WRITE(c, "    mov_imm.u8 r42, 0\n    setne.u8 p%u, r%u, r42\n", 10 + i, 10 + i);
    }
}

static bool is_register_fold(hg_op op) {
    return op == HG_OP_REDUCE_ADD || op == HG_OP_REDUCE_MIN || op == HG_OP_REDUCE_MAX ||
           op == HG_OP_REDUCE_MUL;
}

/* The row writes a register and a predicate. */
static bool writes_both(hg_op op) {
    const hg_op_info *row = hg_op_get(op);
    uint32_t written = 0;
    for (uint32_t i = 0; i < row->operand_count; i++)
        written += (row->operands[i].access & HG_WRITE) != 0;
    return written == 2;
}

static hg_type type_of(const hg_operand_info *o, hg_type type, hg_type from) {
    return o->rule == HG_R_T2    ? from
           : o->rule == HG_R_U32 ? HG_TYPE_U32
           : o->rule == HG_R_F32 ? HG_TYPE_F32
                                 : type;
}

/* The arguments of a row; false for rows with other operands. carry: of a row that writes both, the
 * predicate is the result. */
static bool plan(bits_case *c, hg_type type, hg_type from, bool carry, bool *sets) {
    const hg_op_info *row = hg_op_get(c->op);
    if (row->types == HG_T_NONE ||
        (row->flags & (HG_F_COLLECTIVE | HG_F_CONTROL | HG_F_POOL | HG_F_BARRIER | HG_F_ATLAS)))
        return false;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        bool count = o->kind == HG_K_U8 && is_register_fold(c->op);
        if ((o->kind != HG_K_REG && o->kind != HG_K_PRED && o->kind != HG_K_COND && !count) ||
            o->rule == HG_R_ID)
            return false;
        if (o->kind == HG_K_PRED && (o->access & HG_WRITE)) *sets = true;
        if (o->kind == HG_K_REG && (o->access & HG_WRITE)) c->result = type_of(o, type, from);
        if (!(o->access & HG_READ) || count) continue;
        if (o->access & HG_WRITE || c->count == BITS_ARGUMENTS) return false;
        c->predicate[c->count] = o->kind == HG_K_PRED;
        c->types[c->count++] = o->kind == HG_K_PRED ? HG_TYPE_U8 : type_of(o, type, from);
    }
    for (; is_register_fold(c->op) && c->count < BITS_ARGUMENTS; c->count++)
        c->types[c->count] = type;
    *sets = *sets && (!writes_both(c->op) || carry);
    if (*sets) c->result = HG_TYPE_U8;
    return true;
}

static void write_instruction(bits_case *c) {
    const hg_op_info *row = hg_op_get(c->op);
    uint32_t source = 0, written = 0;
    WRITE(c, "    %s", c->name);
    if (is_register_fold(c->op)) {
        WRITE(c, " r30, r10, %d\n", (int)BITS_ARGUMENTS);
        return;
    }
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        if (o->kind == HG_K_COND) continue;
        const char *kind = o->kind == HG_K_PRED ? "p" : "r";
        WRITE(c, "%s%s%u", written++ ? ", " : " ", kind,
              o->access & HG_WRITE ? (o->kind == HG_K_PRED ? 2 : 30) : 10 + source);
        source += !(o->access & HG_WRITE);
    }
    WRITE(c, "\n");
}

/* Rows that share a mnemonic have other operands: the second of them is another case. */
static void name_apart(const list *l, bits_case *c) {
    for (uint32_t i = 0; i + 1 < l->count; i++) {
        if (strcmp(l->items[i].name, c->name) != 0) continue;
        size_t length = strlen(c->name);
        snprintf(c->name + length, sizeof c->name - length, " (2)");
        return;
    }
}

static void add_row(list *l, hg_op op, hg_type type, hg_type from, const char *condition,
                    bool carry) {
    bits_case *c = append(l);
    bool sets = false;
    if (!c) return;
    c->op = op;
    if (!plan(c, type, from, carry, &sets)) {
        l->count--;
        return;
    }
    int n = snprintf(c->name, sizeof c->name, "%s%s.%s", hg_op_get(op)->text, condition,
                     hg_type_name(type));
    if (hg_op_get(op)->type_count == 2)
        snprintf(c->name + n, sizeof c->name - (size_t)n, ".%s", hg_type_name(from));
    write_head(c);
    write_loads(c);
    write_instruction(c);
    if (carry) snprintf(c->name + n, sizeof c->name - (size_t)n, " carry");
    name_apart(l, c);
    if (sets)
        WRITE(c, "    mov_imm.u8 r42, 0\n    mov_imm.u8 r43, 1\n    sel.u8 r30, p2, r43, r42\n");
    WRITE(c, "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    stg.%s [r1 + r41], r30\n",
          size_of(c->result), hg_type_name(c->result));
}

static void add_map(list *l, hg_opname name, hg_type type) {
    bits_case *c = append(l);
    if (!c) return;
    c->op = HG_OP_NONE;
    c->map = name;
    c->result = type;
    c->count = hg_opname_is_binary(name) ? 2 : 1;
    for (uint32_t i = 0; i < c->count; i++) c->types[i] = type;
    snprintf(c->name, sizeof c->name, "map %s.%s", hg_opname_name(name), hg_type_name(type));
    write_head(c);
    WRITE(c, ".param r9 n u64\n    parallel_map%s.%s r1, r2%s, %s, r9\n",
          c->count == 2 ? "_binary" : "", hg_type_name(type), c->count == 2 ? ", r3" : "",
          hg_opname_name(name));
}

/* Lengths around the borders of the tree, all in one program. */
static void add_fold(list *l, hg_opname name, hg_type type) {
    static const uint32_t LENGTHS[BITS_FOLDS] = {0, 1, 127, 128, 129, 4095, 4096, 4097};
    bits_case *c = append(l);
    if (!c) return;
    c->op = HG_OP_NONE;
    c->map = name;
    c->fold = true;
    c->result = c->types[0] = type;
    c->count = 1;
    snprintf(c->name, sizeof c->name, "reduce %s.%s", hg_opname_name(name), hg_type_name(type));
    write_head(c);
    for (uint32_t i = 0; i < BITS_FOLDS; i++)
        WRITE(c, "    parallel_reduce.%s [buf(r1) + %u], r2, %s, %u\n", hg_type_name(type),
              i * size_of(type), hg_opname_name(name), LENGTHS[i]);
}

static void add_rows(list *l, hg_op op, hg_type type) {
    if (hg_op_get(op)->type_count == 2) {
        for (int from = 0; from < HG_TYPE_COUNT; from++)
            if (hg_op_allows_types(op, type, (hg_type)from))
                add_row(l, op, type, (hg_type)from, "", false);
    } else if (op == HG_OP_SET) {
        for (int k = 0; k < HG_COND_COUNT; k++)
            if (!hg_type_is_float(type) || !hg_condition_is_unsigned((hg_condition)k))
                add_row(l, op, type, type, hg_condition_name((hg_condition)k), false);
    } else {
        add_row(l, op, type, type, "", false);
        if (writes_both(op)) add_row(l, op, type, type, "", true);
    }
}

bits_case *bits_cases(uint32_t *count) {
    list l = {0};
    for (int op = 0; op < HG_OP_COUNT; op++)
        for (int type = 0; type < HG_TYPE_COUNT; type++)
            if (hg_op_allows_type((hg_op)op, (hg_type)type)) add_rows(&l, (hg_op)op, (hg_type)type);
    for (int name = 0; name < HG_OPNAME_COUNT; name++)
        for (int t = 0; t < HG_TYPE_COUNT; t++) {
            hg_opname o = (hg_opname)name;
            hg_type type = (hg_type)t;
            if (!hg_opname_allows_type(o, type)) continue;
            if (hg_opname_op(o) == HG_OP_NONE && (hg_opname_is_map(o) || hg_opname_is_binary(o)))
                add_map(&l, o, type);
            if (hg_opname_is_reduce(o)) add_fold(&l, o, type);
        }
    *count = l.count;
    return l.items;
}

uint64_t bits_results(const bits_case *c) {
    uint32_t widest = size_of(c->result);
    for (uint32_t i = 0; i < c->count; i++)
        if (size_of(c->types[i]) > widest) widest = size_of(c->types[i]);
    if (c->fold) return BITS_FOLDS;
    if (c->op == HG_OP_POWM && widest > 8) return 256;
    return widest <= 8 ? UINT64_C(1) << 20 : widest <= 32 ? UINT64_C(1) << 16 : UINT64_C(1) << 12;
}

uint64_t bits_first(const bits_case *c) { return c->fold ? BITS_FOLDS : bits_results(c) / 256; }
