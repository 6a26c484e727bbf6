/* sparse_gemm, tensor_contract, quantized_gemm: small shapes around the borders of tiles against
 * the reference, bit by bit, and what is found wrong in compressed rows while they are read. */
#include "cts.h"
#include <stdio.h>
#include <string.h>

static const hg_type FLOATS[] = {HG_TYPE_F16, HG_TYPE_BF16, HG_TYPE_F32, HG_TYPE_F64};

static case_array *add_any(cts *s, run_case *c, const char *name, hg_type type, uint64_t elements) {
    uint32_t size = oracle_size(type);
    case_array *a = case_add_array(c, name, type, NULL, elements * size);
    for (uint64_t i = 0; a && i < elements; i++) cts_any(s, type, a->bytes + i * size);
    return a;
}

/* ---- sparse_gemm ---- */

typedef struct rows {
    uint64_t m, n, k;
    uint32_t percent;     /* of the places that have an entry */
    uint32_t wrong;       /* 0: nothing; see spoil */
    const char *operands; /* more of the instruction */
    uint64_t ldb, ldc;    /* of them */
} rows;

static void put(case_array *a, uint64_t i, uint32_t value) {
    memcpy(a->bytes + 4 * i, &value, sizeof value);
}

enum { RIGHT, FALLS, BEYOND, FAR_BEYOND, COLUMN, BOTH };
static void spoil(const rows *r, case_array *indices, case_array *ptr, uint32_t entries) {
    if (r->wrong == FALLS || r->wrong == BOTH)
        put(ptr, r->m / 2, entries), put(ptr, r->m / 2 + 1, entries - 1);
    if (r->wrong == BEYOND) put(ptr, r->m, entries + 1);
    if (r->wrong == FAR_BEYOND) put(ptr, 1, UINT32_MAX);
    if (r->wrong == COLUMN || r->wrong == BOTH)
        put(indices, entries - 1, (uint32_t)r->k), put(indices, entries / 2, UINT32_MAX);
}

static void sparse(cts *s, const rows *r, hg_type type) {
    run_case c = {.cleared_class = 96};
    const char *t = hg_type_name(type);
    char name[96];
    uint32_t entries = 0, at = 0;
    if (!cts_wanted(s, "sparse_gemm", type)) return;
    snprintf(name, sizeof name, "sparse_gemm.%s %ux%ux%u %u%% %u%s", t, (unsigned)r->m,
             (unsigned)r->n, (unsigned)r->k, (unsigned)r->percent, (unsigned)r->wrong, r->operands);
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 c buffer %s inout\n.param r2 v buffer %s "
             "in\n.param r3 i buffer u32 in\n"
             ".param r4 q buffer u32 in\n.param r5 b buffer %s in\n    sparse_gemm.%s c=r1, "
             "a_values=r2, a_indices=r3, a_ptr=r4, b=r5, m=%u, "
             "n=%u, k=%u%s\n",
             t, t, t, t, (unsigned)r->m, (unsigned)r->n, (unsigned)r->k, r->operands);
    static bool here[4096];
    for (uint64_t i = 0; i < r->m * r->k; i++)
        entries += here[i] = cts_random(s) % 100 < r->percent;
    add_any(s, &c, "c", type, r->m * (r->ldc ? r->ldc : r->n) + 3);
    add_any(s, &c, "v", type, entries);
    case_array *indices = case_add_array(&c, "i", HG_TYPE_U32, NULL, 4 * (uint64_t)entries);
    case_array *ptr = case_add_array(&c, "q", HG_TYPE_U32, NULL, 4 * (r->m + 1));
    add_any(s, &c, "b", type, r->k * (r->ldb ? r->ldb : r->n));
    for (uint64_t i = 0; i < r->m * r->k && indices && ptr; i++) {
        if (here[i]) put(indices, at++, (uint32_t)(i % r->k));
        put(ptr, i / r->k + 1, at);
    }
    if (indices && ptr) spoil(r, indices, ptr, entries);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

static void sparse_all(cts *s) {
    static const rows ROWS[] = {{1, 1, 1, 100, RIGHT, "", 0, 0},
                                {7, 33, 5, 40, RIGHT, "", 0, 0},
                                {3, 161, 9, 50, RIGHT, ", ldb=170, ldc=165", 170, 165},
                                {40, 2, 40, 10, RIGHT, "", 0, 0},
                                {2, 3, 70, 60, RIGHT, "", 0, 0},
                                {4000, 1, 1, 70, RIGHT, "", 0, 0},
                                {1030, 8, 3, 60, RIGHT, "", 0, 0},
                                {4, 5, 6, 0, RIGHT, "", 0, 0},
                                {0, 5, 6, 50, RIGHT, "", 0, 0},
                                {5, 0, 6, 50, RIGHT, "", 0, 0}};
    static const rows WRONG[] = {
        {9, 5, 7, 60, FALLS, "", 0, 0},         {9, 5, 7, 60, BEYOND, "", 0, 0},
        {9, 5, 7, 60, BEYOND, ", nnz=5", 0, 0}, {9, 5, 7, 60, FAR_BEYOND, "", 0, 0},
        {1, 64, 200, 70, COLUMN, "", 0, 0},     {9, 5, 7, 60, BOTH, "", 0, 0},
        {40, 1, 60, 30, COLUMN, "", 0, 0},      {5, 0, 6, 50, COLUMN, "", 0, 0},
        {4000, 1, 1, 70, COLUMN, "", 0, 0},     {4000, 9, 1, 70, BOTH, "", 0, 0},
        {1030, 2, 3, 60, FALLS, "", 0, 0}};
    for (size_t t = 0; t < 4; t++)
        for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) sparse(s, &ROWS[i], FLOATS[t]);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) sparse(s, &WRONG[i], HG_TYPE_F32);
}

/* ---- tensor_contract ---- */

static void contract(cts *s, hg_type type, const char *a, const char *b, const char *pairs,
                     uint64_t elements, uint64_t of_a, uint64_t of_b) {
    run_case c = {.cleared_class = 96};
    const char *t = hg_type_name(type);
    char name[128];
    if (!cts_wanted(s, "tensor_contract", type)) return;
    snprintf(name, sizeof name, "tensor_contract.%s %s %s %s", t, a, b, pairs);
    cts_text(
        &c,
        ".atlas 1\n.program cts\n.param r1 c buffer %s inout\n.param r2 a buffer %s in\n.param r3 "
        "b buffer %s in\n"
        "    tensor_contract.%s output=r1, a=r2, b=r3, shape_a=%s, shape_b=%s, contract_dims=%s\n",
        t, t, t, t, a, b, pairs);
    add_any(s, &c, "c", type, elements + 3);
    add_any(s, &c, "a", type, of_a);
    add_any(s, &c, "b", type, of_b);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

static void contract_all(cts *s) {
    for (size_t t = 0; t < 4; t++) {
        contract(s, FLOATS[t], "(5, 7)", "(7, 33)", "((1, 0))", 165, 35, 231);
        contract(s, FLOATS[t], "(3, 4, 5)", "(5, 9, 4)", "((1, 2), (2, 0))", 27, 60, 180);
        contract(s, FLOATS[t], "(2, 3, 4, 5)", "(5, 3, 2, 4)", "((0, 2), (1, 1), (2, 3), (3, 0))",
                 1, 120, 120);
        contract(s, FLOATS[t], "(2, 3, 2, 3)", "(3, 2, 7)", "((2, 1), (1, 0))", 42, 36, 42);
        contract(s, FLOATS[t], "(3, 4, 9)", "(6, 4)", "((1, 1))", 162, 108, 24);
        contract(s, FLOATS[t], "(2, 70, 3, 2)", "(3, 2, 2)", "((0, 1), (2, 0))", 280, 840, 12);
        contract(s, FLOATS[t], "(6)", "(5, 2)", "()", 60, 6, 10);
        contract(s, FLOATS[t], "(3, 0)", "(0, 4)", "((1, 0))", 12, 0, 0);
    }
}

/* ---- quantized_gemm ---- */

static void quantized(cts *s, hg_type type, uint64_t m, uint64_t n, uint64_t k,
                      const char *operands) {
    run_case c = {.cleared_class = 96};
    bool sums = strstr(operands, "sums=true") != NULL;
    hg_type result = sums ? HG_TYPE_I32 : type;
    hg_type b_type = strstr(operands, "b_unsigned=true") ? HG_TYPE_U8 : HG_TYPE_I8;
    const char *t = hg_type_name(type), *of_b = hg_type_name(b_type);
    char name[256];
    if (!cts_wanted(s, "quantized_gemm", type)) return;
    snprintf(name, sizeof name, "quantized_gemm.%s %ux%ux%u%s", t, (unsigned)m, (unsigned)n,
             (unsigned)k, operands);
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 c buffer %s inout\n.param r2 a buffer %s "
             "in\n.param r3 b buffer %s in\n.param s buffer f32 in\n.param za buffer %s "
             "in\n.param zb buffer %s in\n"
             "    quantized_gemm.%s c=r1, a=r2, b=r3, a_scale=0.02, b_scale=0.03, c_scale=0.7, "
             "m=%u, n=%u, k=%u%s\n",
             hg_type_name(result), t, of_b, t, of_b, t, (unsigned)m, (unsigned)n, (unsigned)k,
             operands);
    add_any(s, &c, "c", result, 2 * m * (n + 3) + 3);
    add_any(s, &c, "a", type, 2 * m * k);
    add_any(s, &c, "b", b_type, 2 * k * n);
    case_array *scales = case_add_array(&c, "s", HG_TYPE_F32, NULL, (m + n) * 4 + 4);
    for (uint64_t i = 0; scales && i < m + n + 1; i++) {
        float scale = 0.25f + (float)(cts_random(s) % 100) / 64;
        memcpy(scales->bytes + 4 * i, &scale, sizeof scale);
    }
    add_any(s, &c, "za", type, m + n + 1);
    add_any(s, &c, "zb", b_type, n + 1);
    case_set_lanes(&c, 2);
    cts_compare(s, name, &c);
}

static void quantized_all(cts *s) {
    static const hg_type TYPES[] = {HG_TYPE_I8, HG_TYPE_U8};
    for (size_t t = 0; t < 2; t++) {
        quantized(s, TYPES[t], 1, 1, 1, "");
        quantized(s, TYPES[t], 9, 33, 21, "");
        quantized(s, TYPES[t], 9, 33, 4, ", a_zero=5, b_zero=-7, c_zero=11, trans_b=true");
        quantized(s, TYPES[t], 8, 31, 6, ", a_zero=127, b_zero=-128, sums=true");
        quantized(s, TYPES[t], 3, 5, 0, ", c_zero=9");
        quantized(s, TYPES[t], 9, 35, 7, ", a_zero=3, b_zero=9, b_unsigned=true, batch=2");
        quantized(s, TYPES[t], 5, 33, 9, ", a_scales=s, b_scales=s, trans_b=true, b_zero=-3");
        quantized(s, TYPES[t], 5, 33, 9, ", b_scales=s, c_scales=s, b_unsigned=true, sums=false");
        quantized(s, TYPES[t], 4, 34, 6,
                  ", a_zeros=za, b_zeros=zb, c_zeros=za, c_scales=s, steps=(1, 0, 1, 1), batch=2, "
                  "batch_strides=(0, 204, 140)");
        quantized(s, TYPES[t], 4, 34, 6,
                  ", a_zeros=za, b_zeros=zb, b_unsigned=true, trans_b=true, sums=true, batch=2, "
                  "batch_strides=(24, 0, 136)");
    }
}

void cts_products(cts *s) {
    sparse_all(s);
    contract_all(s);
    quantized_all(s);
}
