/* Rows whose operands are registers, predicates and a condition: a program with the row between
 * loads and a store, made from the table, and the oracle's value for every lane. */
#include "rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_register_fold(hg_op op) {
    return op == HG_OP_REDUCE_ADD || op == HG_OP_REDUCE_MIN || op == HG_OP_REDUCE_MAX ||
           op == HG_OP_REDUCE_MUL;
}

/* The row writes a register and a predicate. */
static bool writes_both(hg_op op) {
    const hg_op_info *row = hg_op_get(op);
    bool reg = false, predicate = false;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        if (!(row->operands[i].access & HG_WRITE)) continue;
        reg |= row->operands[i].kind == HG_K_REG;
        predicate |= row->operands[i].kind == HG_K_PRED;
    }
    return reg && predicate;
}

/* False for rows that need a form of their own. */
static bool plan(row_case *r) {
    const hg_op_info *row = hg_op_get(r->op);
    if (row->types == HG_T_NONE ||
        (row->flags & (HG_F_COLLECTIVE | HG_F_CONTROL | HG_F_POOL | HG_F_BARRIER)))
        return false;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        if (o->kind == HG_K_PRED && (o->access & HG_WRITE))
            r->sets_predicate = !writes_both(r->op) || r->variant == 1;
        if (o->kind == HG_K_REG && (o->access & HG_WRITE))
            r->result = o->rule == HG_R_U32   ? HG_TYPE_U32
                        : o->rule == HG_R_F32 ? HG_TYPE_F32
                                              : r->type;
        if (o->kind == HG_K_REG && o->rule == HG_R_ID) return false;
        if (o->kind != HG_K_REG && o->kind != HG_K_PRED && o->kind != HG_K_COND &&
            !(o->kind == HG_K_U8 && is_register_fold(r->op)))
            return false;
        if (!(o->access & HG_READ)) continue;
        if (o->access & HG_WRITE) return false;
        r->predicate[r->count] = o->kind == HG_K_PRED;
        r->types[r->count++] = o->kind == HG_K_PRED  ? HG_TYPE_U8
                               : o->rule == HG_R_T2  ? r->type2
                               : o->rule == HG_R_U32 ? HG_TYPE_U32
                               : o->rule == HG_R_F32 ? HG_TYPE_F32
                                                     : r->type;
    }
    if (is_register_fold(r->op)) {
        r->count = (uint32_t)r->variant;
        for (uint32_t i = 0; i < r->count; i++) r->types[i] = r->type;
    }
    if (r->sets_predicate) r->result = HG_TYPE_U8;
    return r->count <= CTS_ARGUMENTS;
}

int cts_row_instruction(const row_case *r, char *at, size_t room) {
    const hg_op_info *row = hg_op_get(r->op);
    int n = snprintf(at, room, "    %s%s.%s", row->text,
                     r->op == HG_OP_SET ? hg_condition_name((hg_condition)r->variant) : "",
                     hg_type_name(r->type));
    if (row->type_count == 2)
        n += snprintf(at + n, room - (size_t)n, ".%s", hg_type_name(r->type2));
    uint32_t source = 0, written = 0;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        if (o->kind == HG_K_COND) continue;
        n += snprintf(at + n, room - (size_t)n, "%s", written++ ? ", " : " ");
        if (o->kind == HG_K_U8)
            n += snprintf(at + n, room - (size_t)n, "%d", r->variant);
        else if (o->access & HG_WRITE)
            n += snprintf(at + n, room - (size_t)n, "%s", o->kind == HG_K_PRED ? "p2" : "r30");
        else
            n += snprintf(at + n, room - (size_t)n, "%s%u", o->kind == HG_K_PRED ? "p" : "r",
                          10 + source),
                source++;
    }
    n += snprintf(at + n, room - (size_t)n, "\n");
    if (!r->sets_predicate) return n;
    return n +
           snprintf(at + n, room - (size_t)n,
                    "    mov_imm.u8 r42, 0\n    mov_imm.u8 r43, 1\n    sel.u8 r30, p2, r43, r42\n");
}

/* Each lane loads its operands, runs the row, stores its result. */
static void write_program(const row_case *r, char *text, size_t room) {
    hg_type result = r->result;
    int n = snprintf(text, room, ".atlas 1\n.program cts\n.param r1 out buffer %s out\n",
                     hg_type_name(result));
    for (uint32_t i = 0; i < r->count; i++)
        n += snprintf(text + n, room - (size_t)n, ".param r%u a%u buffer %s in\n", 2 + i, i,
                      hg_type_name(r->types[i]));
    for (uint32_t i = 0; i < r->count; i++) {
        n += snprintf(
            text + n, room - (size_t)n,
            "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    ldg.%s r%u, [r%u + r41]\n",
            oracle_size(r->types[i]), hg_type_name(r->types[i]), 10 + i, 2 + i);
        if (r->predicate[i])
            n += snprintf(text + n, room - (size_t)n,
                          "    mov_imm.u8 r42, 0\n    setne.u8 p%u, r%u, r42\n", 10 + i, 10 + i);
    }
    n += cts_row_instruction(r, text + n, room - (size_t)n);
    snprintf(text + n, room - (size_t)n,
             "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    stg.%s [r1 + r41], r30\n",
             oracle_size(result), hg_type_name(result));
}

static uint64_t lanes_for(const cts *s, const row_case *r) {
    uint32_t width = 0;
    for (uint32_t i = 0; i < r->count; i++) width += r->predicate[i] ? 8 : oracle_size(r->types[i]);
    if (width > 0 && width <= 2 && !s->quick) return (uint64_t)1 << (8 * width);
    return cts_batch(s, oracle_size(r->type) >= oracle_size(r->type2) ? r->type : r->type2);
}

/* Of 64 bits in a few lanes. */
void cts_shorten_exponents(hg_type type, uint8_t *exponents, uint64_t n) {
    uint32_t size = oracle_size(type);
    for (uint64_t i = 0; i < n && size > 8; i++) {
        uint32_t kept = i % (size < 256 ? 8 : 24) ? 2 : 8;
        memset(exponents + i * size + kept, 0, size - kept);
    }
}

bool cts_row_result(const row_case *r, uint8_t *const *args, uint8_t *result, uint32_t *tolerance) {
    const uint8_t *a[CTS_ARGUMENTS];
    for (uint32_t k = 0; k < r->count; k++) a[k] = args[k];
    oracle_outcome outcome = oracle_eval(r->op, r->type, r->type2, r->variant, a, result);
    if (outcome == ORACLE_DIVISION_BY_ZERO) {
        args[r->count - 1][0] = 1;
        outcome = oracle_eval(r->op, r->type, r->type2, r->variant, a, result);
    }
    *tolerance = outcome != ORACLE_OK || r->sets_predicate
                     ? 0
                     : (uint32_t)oracle_tolerance(r->op, r->type, a, result);
    return outcome == ORACLE_OK;
}

/* A batch without faults. */
static void run_values(cts *s, const row_case *r, const char *name) {
    hg_type result = r->result;
    uint64_t n = lanes_for(s, r);
    uint8_t *arrays[CTS_ARGUMENTS] = {NULL};
    run_case c = {.cleared_class = 96};
    char text[4096];
    write_program(r, text, sizeof text);
    cts_text(&c, "%s", text);
    case_add_array(&c, "out", result, NULL, n * oracle_size(result));
    for (uint32_t i = 0; i < r->count; i++) {
        char array[8];
        snprintf(array, sizeof array, "a%u", i);
        case_array *a = case_add_array(&c, array, r->types[i], NULL, n * oracle_size(r->types[i]));
        arrays[i] = a ? a->bytes : NULL;
    }
    uint8_t *expected = calloc(n + 1, oracle_size(result));
    uint32_t *tolerance = calloc(n + 1, sizeof *tolerance);
    bool ok = expected && tolerance && c.text && c.array_count == r->count + 1;
    if (ok) cts_fill(s, r->count, r->types, arrays, n);
    if (ok && r->op == HG_OP_POWM) cts_shorten_exponents(r->type, arrays[1], n);
    bool runs = cts_runs(s, name);
    for (uint64_t i = 0; ok && runs && i < n; i++) {
        uint8_t *args[CTS_ARGUMENTS];
        for (uint32_t k = 0; k < r->count; k++) {
            if (r->predicate[k]) arrays[k][i] &= 1;
            args[k] = arrays[k] + i * oracle_size(r->types[k]);
        }
        if (!cts_row_result(r, args, expected + i * oracle_size(result), &tolerance[i])) {
            cts_fail(s, NULL, name, "the oracle does not know this row");
            ok = false;
        }
    }
    case_set_lanes(&c, n);
    if (ok)
        cts_check(s, name, result, &c, expected, tolerance);
    else
        case_free(&c);
    free(expected);
    free(tolerance);
}

/* One lane of several divides by zero. */
static void run_division_fault(cts *s, const row_case *r, const char *name) {
    run_case c = {.cleared_class = 96};
    char text[4096];
    uint32_t size = oracle_size(r->type);
    write_program(r, text, sizeof text);
    cts_text(&c, "%s", text);
    case_add_array(&c, "out", r->type, NULL, 7 * size);
    for (uint32_t i = 0; i < r->count; i++) {
        char name_of[16];
        snprintf(name_of, sizeof name_of, "a%u", i);
        case_array *a = case_add_array(&c, name_of, r->type, NULL, 7 * size);
        for (uint32_t k = 0; a && k < 7; k++)
            a->bytes[k * size] = (uint8_t)(i + 1 == r->count ? k != 4 : k + 3);
    }
    case_set_lanes(&c, 7);
    cts_compare(s, name, &c);
}

typedef void (*row_function)(cts *s, const row_case *r, const char *name);

static void run_row(cts *s, row_function run, hg_op op, hg_type type, hg_type type2, int variant) {
    row_case r = {.op = op, .type = type, .type2 = type2, .variant = variant};
    const hg_op_info *row = hg_op_get(op);
    char name[96];
    if (!plan(&r) || !cts_wanted(s, row->text, type) ||
        (s->widest && oracle_size(type2) * 8 > s->widest))
        return;
    int n = snprintf(name, sizeof name, "%s%s.%s", row->text,
                     op == HG_OP_SET ? hg_condition_name((hg_condition)variant) : "",
                     hg_type_name(type));
    if (row->type_count == 2)
        n += snprintf(name + n, sizeof name - (size_t)n, ".%s", hg_type_name(type2));
    if (is_register_fold(op)) snprintf(name + n, sizeof name - (size_t)n, " of %d", variant);
    if (writes_both(op) && variant) snprintf(name + n, sizeof name - (size_t)n, " carry");
    run(s, &r, name);
}

void cts_each_row(cts *s, row_function run) {
    for (int op = 0; op < HG_OP_COUNT; op++)
        for (int t = 0; t < HG_TYPE_COUNT; t++) {
            hg_type type = (hg_type)t;
            if (!hg_op_allows_type((hg_op)op, type)) continue;
            if (hg_op_get((hg_op)op)->type_count == 2) {
                for (int from = 0; from < HG_TYPE_COUNT; from++)
                    if (hg_op_allows_types((hg_op)op, type, (hg_type)from))
                        run_row(s, run, (hg_op)op, type, (hg_type)from, 0);
            } else if (op == HG_OP_SET) {
                for (int c = 0; c < (oracle_is_float(type) ? HG_COND_LTU : HG_COND_COUNT); c++)
                    run_row(s, run, (hg_op)op, type, type, c);
            } else if (is_register_fold((hg_op)op)) {
                for (int count = 0; count <= 5; count += count < 3 ? 1 : 2)
                    run_row(s, run, (hg_op)op, type, type, count);
            } else {
                for (int way = 0; way <= (writes_both((hg_op)op) ? 1 : 0); way++)
                    run_row(s, run, (hg_op)op, type, type, way);
            }
        }
}

static void run_loaded(cts *s, const row_case *r, const char *name) {
    run_values(s, r, name);
    if ((r->op == HG_OP_DIV || r->op == HG_OP_REM || r->op == HG_OP_POWM) &&
        !oracle_is_float(r->type))
        run_division_fault(s, r, name);
}

void cts_rows(cts *s) { cts_each_row(s, run_loaded); }

/* Every edge value as a literal, stored. */
static void literals_of(cts *s, hg_type type) {
    uint32_t count = cts_edge_count(type), size = oracle_size(type);
    run_case c = {.cleared_class = 96};
    char *text = malloc(200 + (size_t)count * (2 * ORACLE_MAX_BYTES + 80));
    uint8_t *expected = calloc(count, size);
    if (!text || !expected || !cts_wanted(s, "mov_imm", type)) {
        free(text);
        free(expected);
        return;
    }
    int n = sprintf(text, ".atlas 1\n.program cts\n.param r1 out buffer %s out\n",
                    hg_type_name(type));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *bytes = expected + (size_t)i * size;
        cts_edge(type, i, bytes);
        n += sprintf(text + n, "    mov_imm.%s r2, bits(0x", hg_type_name(type));
        for (uint32_t b = size; b-- > 0;) n += sprintf(text + n, "%02x", bytes[b]);
        n += sprintf(text + n, ")\n    stg.%s [buf(r1) + %u], r2\n", hg_type_name(type), i * size);
    }
    c.text = text;
    c.length = (uint64_t)n;
    case_add_array(&c, "out", type, NULL, (uint64_t)count * size);
    case_set_lanes(&c, 1);
    char name[32];
    snprintf(name, sizeof name, "mov_imm.%s", hg_type_name(type));
    cts_check(s, name, type, &c, expected, NULL);
    free(expected);
}

void cts_literals(cts *s) {
    for (int t = 0; t < HG_TYPE_COUNT; t++) literals_of(s, (hg_type)t);
    for (int id = 0; id < HG_ID_COUNT; id++) { /* coordinates, on the reference, whole and
                                                  incomplete launches */
        for (int exact = 0; exact < 2 && cts_wanted(s, "rdid", HG_TYPE_U32); exact++) {
            run_case c = {.cleared_class = 96};
            const char *type = hg_type_name(hg_idname_type((hg_idname)id));
            char name[48];
            cts_text(&c,
                     ".atlas 1\n.program cts\n.param r1 out buffer u64 out\n    rdid r2, %s\n    "
                     "cvt.u64.%s r3, r2\n    mov_imm.u32 r4, 3\n"
                     "    shl.u64 r5, r255, r4\n    stg.u64 [r1 + r5], r3\n",
                     hg_idname_name((hg_idname)id), type);
            case_add_array(&c, "out", HG_TYPE_U64, NULL, UINT64_C(8) * 3 * 2 * 4 * 5 * 3 * 2);
            c.launch = (ref_launch){
                .grid = {3, 2, 4}, .block = {5, 3, 2}, .lanes = exact ? 701 : 0};
            snprintf(name, sizeof name, "rdid %s", hg_idname_name((hg_idname)id));
            cts_compare(s, name, &c);
        }
    }
}
