/* Calls to instructions (6.10): each lane works on its element of every class, reductions are
 * whole-array steps in between.
 * Requires: checked calls. Provides: a program without parameters on class memory. */
#include "base/sized.h"
#include "isa/program.h"
#include "translators/circuit/circuit_internal.h"
#include <hologram/builder.h>

#include <stdio.h>
#include <string.h>

/* Registers of the translators' calling convention (1.4). */
enum {
    R_OFFSET = 0,
    R_SRC = 1,
    R_SECOND = 2,
    R_THIRD = 3,
    R_COUNT = 4,
    R_A = 10,
    R_B = 11,
    R_RESULT = 12,
    R_C = 13,
    R_MASK = 251,
    R_SHIFT = 250,
    R_LANE = 255
};

typedef struct lowering {
    hg_builder *builder;
    const hg_circuit *circuit;
    hg_type type;
    bool has_offset, has_mask;
} lowering;

static void set_handle(lowering *l, uint8_t reg, uint8_t cls) {
    hg_build_mov_imm(l->builder, HG_TYPE_U64, reg, hg_imm_u64(HG_CIRCUIT_HANDLE(cls)));
}

/* The byte offset of the lane's element, once. */
static void need_offset(lowering *l) {
    if (l->has_offset) return;
    l->has_offset = true;
    hg_build_mov_imm(l->builder, HG_TYPE_U32, R_SHIFT,
                     hg_imm_u64(hg_ctz64(hg_type_size_bytes(l->type))));
    hg_build_shl(l->builder, HG_TYPE_U64, R_OFFSET, R_LANE, R_SHIFT);
}

static void load(lowering *l, hg_type type, uint8_t reg, uint8_t handle) {
    hg_build_ldg(l->builder, type, reg, hg_addr_buffer(handle, R_OFFSET));
}
static void store(lowering *l, hg_type type, uint8_t handle, uint8_t reg) {
    hg_build_stg(l->builder, type, hg_addr_buffer(handle, R_OFFSET), reg);
}

/* The unsigned integer with as many bytes. */
static hg_type pattern_of(hg_type type) {
    int pattern = HG_TYPE_U8;
    while (hg_type_size_bytes((hg_type)pattern) < hg_type_size_bytes(type)) pattern++;
    return (hg_type)pattern;
}

/* XOR of every byte with 0x80. */
static void lower_mark(lowering *l, const hg_circuit_call *call) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    hg_type type = pattern_of(l->type);
    memset(bytes, 0x80, sizeof bytes);
    set_handle(l, R_SRC, call->src);
    need_offset(l);
    if (!l->has_mask) hg_build_mov_imm(l->builder, type, R_MASK, hg_imm_bits(bytes));
    l->has_mask = true;
    load(l, type, R_A, R_SRC);
    hg_build_xor(l->builder, type, R_RESULT, R_A, R_MASK);
    store(l, type, R_SRC, R_RESULT);
}

static void lower_copy(lowering *l, const hg_circuit_call *call) {
    set_handle(l, R_SRC, call->src);
    set_handle(l, R_SECOND, call->dst);
    need_offset(l);
    load(l, l->type, R_A, R_SRC);
    store(l, l->type, R_SECOND, R_A);
}

static void lower_swap(lowering *l, const hg_circuit_call *call) {
    set_handle(l, R_SRC, call->src);
    set_handle(l, R_SECOND, call->dst);
    need_offset(l);
    load(l, l->type, R_A, R_SRC);
    load(l, l->type, R_B, R_SECOND);
    store(l, l->type, R_SECOND, R_A);
    store(l, l->type, R_SRC, R_B);
}

static void operate(hg_builder *b, hg_type type, uint8_t variant) {
    switch (variant) {
    case HG_MERGE_ADD: hg_build_add(b, type, R_RESULT, R_A, R_B); break;
    case HG_MERGE_MUL: hg_build_mul(b, type, R_RESULT, R_A, R_B); break;
    case HG_MERGE_MIN: hg_build_min(b, type, R_RESULT, R_A, R_B); break;
    case HG_MERGE_MAX: hg_build_max(b, type, R_RESULT, R_A, R_B); break;
    case HG_MERGE_ABS: hg_build_abs(b, type, R_RESULT, R_A); break;
    case HG_MERGE_EXP: hg_build_exp(b, type, R_RESULT, R_A); break;
    case HG_MERGE_LOG: hg_build_log(b, type, R_RESULT, R_A); break;
    case HG_MERGE_SQRT: hg_build_sqrt(b, type, R_RESULT, R_A); break;
    case HG_MERGE_SIGMOID: hg_build_sigmoid(b, type, R_RESULT, R_A); break;
    case HG_MERGE_TANH: hg_build_tanh(b, type, R_RESULT, R_A); break;
    case HG_MERGE_GELU: hg_build_gelu(b, type, R_RESULT, R_A); break;
    case HG_SPLIT_SUB: hg_build_sub(b, type, R_RESULT, R_A, R_B); break;
    default: hg_build_div(b, type, R_RESULT, R_A, R_B);
    }
}

static void lower_merge(lowering *l, const hg_circuit_call *call) {
    bool unary = hg_variant_is_unary(call->variant);
    set_handle(l, R_SRC, call->src);
    if (!unary) set_handle(l, R_SECOND, call->context);
    set_handle(l, R_THIRD, call->dst);
    need_offset(l);
    load(l, l->type, R_A, R_SRC);
    if (!unary) load(l, l->type, R_B, R_SECOND);
    operate(l->builder, l->type, call->variant);
    store(l, l->type, R_THIRD, R_RESULT);
}

static void lower_scale(lowering *l, const hg_circuit_call *call) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    char message[160];
    const char *text = l->circuit->constants.data[call->n], *hint = NULL;
    set_handle(l, R_SRC, call->src);
    set_handle(l, R_SECOND, call->dst);
    need_offset(l);
    load(l, l->type, R_A, R_SRC);
    if (hg_parse_literal(text, strlen(text), l->type, bytes, message, &hint))
        memset(bytes, 0, sizeof bytes); /* checked before */
    hg_build_mov_imm(l->builder, l->type, R_B, hg_imm_bits(bytes));
    hg_build_mul(l->builder, l->type, R_RESULT, R_A, R_B);
    store(l, l->type, R_SECOND, R_RESULT);
}

static void lower_fma(lowering *l, const hg_circuit_call *call) {
    set_handle(l, R_SRC, call->src);
    set_handle(l, R_SECOND, call->context);
    set_handle(l, R_THIRD, call->dst);
    need_offset(l);
    load(l, l->type, R_A, R_SRC);
    load(l, l->type, R_B, R_SECOND);
    load(l, l->type, R_C, R_THIRD);
    hg_build_fma(l->builder, l->type, R_RESULT, R_A, R_B, R_C);
    store(l, l->type, R_THIRD, R_RESULT);
}

static hg_arg count_of(lowering *l, const hg_circuit_call *call) {
    if (call->n != HG_CIRCUIT_LANES) return hg_count(call->n);
    hg_build_rdid(l->builder, R_COUNT, "lane_count");
    return hg_count_reg(R_COUNT);
}

static void lower_reduction(lowering *l, const hg_circuit_call *call) {
    const char *op = call->kind == HG_CIRCUIT_REDUCE_SUM   ? "sum"
                     : call->kind == HG_CIRCUIT_REDUCE_MIN ? "min"
                                                           : "max";
    set_handle(l, R_SRC, call->src);
    set_handle(l, R_SECOND, call->dst);
    hg_arg count = count_of(l, call);
    hg_build_parallel_reduce_mem(l->builder, l->type, hg_addr_buffer_start(R_SECOND),
                                 hg_array(R_SRC), op, count);
}

/* R_COUNT: how many elements of a softmax are its own, n but no more than have a lane: what no lane
 * maps must not reach the sum. */
static hg_arg softmax_count(lowering *l, const hg_circuit_call *call) {
    hg_build_rdid(l->builder, R_COUNT, "lane_count");
    if (call->n == HG_CIRCUIT_LANES) return hg_count_reg(R_COUNT);
    hg_build_mov_imm(l->builder, HG_TYPE_U64, R_B, hg_imm_u64(call->n));
    hg_build_min(l->builder, HG_TYPE_U64, R_COUNT, R_COUNT, R_B);
    return hg_count_reg(R_COUNT);
}

/* Over the label when the lane's element is not among these. */
static void skip_others(lowering *l, const hg_circuit_call *call, hg_label behind) {
    if (call->n == HG_CIRCUIT_LANES) return;
    hg_build_setgeu(l->builder, HG_TYPE_U64, 0, R_LANE, R_COUNT);
    hg_build_bra_if(l->builder, 0, behind);
}

/* exp(x - max) / sum of these: the largest exponent is 0, so nothing overflows. */
static void lower_softmax(lowering *l, const hg_circuit_call *call) {
    hg_builder *b = l->builder;
    hg_label mapped = hg_builder_label(b), divided = hg_builder_label(b);
    set_handle(l, R_SRC, call->src);
    set_handle(l, R_SECOND, call->dst);
    need_offset(l);
    hg_arg count = softmax_count(l, call);
    hg_build_parallel_reduce(b, l->type, R_RESULT, hg_array(R_SRC), "max", count);
    skip_others(l, call, mapped);
    load(l, l->type, R_A, R_SRC);
    hg_build_sub(b, l->type, R_A, R_A, R_RESULT);
    hg_build_exp(b, l->type, R_A, R_A);
    store(l, l->type, R_SECOND, R_A);
    hg_builder_place(b, mapped);
    hg_build_parallel_reduce(b, l->type, R_RESULT, hg_array(R_SECOND), "sum", count);
    skip_others(l, call, divided);
    load(l, l->type, R_A, R_SECOND);
    hg_build_div(b, l->type, R_A, R_A, R_RESULT);
    store(l, l->type, R_SECOND, R_A);
    hg_builder_place(b, divided);
}

static void lower_call(lowering *l, const hg_circuit_call *call) {
    switch (call->kind) {
    case HG_CIRCUIT_MARK: lower_mark(l, call); break;
    case HG_CIRCUIT_COPY: lower_copy(l, call); break;
    case HG_CIRCUIT_SWAP: lower_swap(l, call); break;
    case HG_CIRCUIT_MERGE:
    case HG_CIRCUIT_SPLIT: lower_merge(l, call); break;
    case HG_CIRCUIT_REDUCE_SUM:
    case HG_CIRCUIT_REDUCE_MIN:
    case HG_CIRCUIT_REDUCE_MAX: lower_reduction(l, call); break;
    case HG_CIRCUIT_SOFTMAX: lower_softmax(l, call); break;
    case HG_CIRCUIT_SCALE: lower_scale(l, call); break;
    case HG_CIRCUIT_FMA: lower_fma(l, call); break;
    default: break; /* quote and evaluate do nothing to data */
    }
}

static hg_status lower(const hg_circuit *circuit, const char *name, hg_diagnostics *diagnostics,
                       hg_program **program) {
    lowering l = {.builder = hg_builder_create(name ? name : "circuit"),
                  .circuit = circuit,
                  .type = circuit->type};
    size_t canonical_length = strlen(hg_circuit_canonical_expr(circuit));
    if (canonical_length && canonical_length <= HG_MAX_META_BYTES && !circuit->appended)
        hg_builder_meta(l.builder, "circuit", hg_circuit_canonical_expr(circuit));
    for (uint64_t i = 0;
         i < circuit->calls.count && hg_builder_len(l.builder) < HG_MAX_INSTRUCTIONS; i++)
        for (uint32_t m = 0; m < hg_call_count(&circuit->calls.data[i]); m++) {
            hg_circuit_call one = hg_call_member(&circuit->calls.data[i], m);
            lower_call(&l, &one);
        }
    bool too_long = hg_builder_len(l.builder) >= HG_MAX_INSTRUCTIONS; /* no room for the exit */
    hg_build_exit(l.builder);
    hg_status status;
    if (too_long) {
        hg_place place = {.instruction = HG_NONE};
        status = hg_fail(HG_ERROR_ISA,
                         "Circuit too long: its program has more than %d instructions",
                         HG_MAX_INSTRUCTIONS);
        memcpy(hg_error_record()->code, "S05", 4);
        hg_diagnose(diagnostics, HG_SEVERITY_ERROR, "S05", place, NULL, "%s",
                    hg_last_error()->message);
    } else {
        status = hg_builder_build(l.builder, diagnostics, program);
    }
    hg_builder_destroy(l.builder);
    return status;
}

/* Every field is needed to run it or to free it. */
static const hg_sized RULES = HG_SIZED(hg_translated_program, whole_array,
                                       "set it to sizeof(hg_translated_program)");

static char *copy_text(const char *text) {
    size_t length = strlen(text) + 1;
    char *copy = hg_alloc(length);
    if (copy) memcpy(copy, text, length);
    return copy;
}

static hg_status translate(const hg_circuit *circuit, const hg_circuit_options *options,
                           hg_diagnostics *diagnostics, hg_translated_program *translated) {
    hg_translated_program t = {.size = sizeof t};
    HG_TRY(lower(circuit, options->name, diagnostics, &t.program));
    t.original_ops = circuit->original_ops;
    t.canonical_ops = circuit->canonical_ops;
    t.reduction_pct = hg_circuit_reduction_pct(circuit);
    t.original_expr = copy_text(hg_circuit_original_expr(circuit));
    t.canonical_expr = copy_text(hg_circuit_canonical_expr(circuit));
    hg_circuit_class_use(circuit, t.class_use);
    t.whole_array = hg_circuit_is_whole_array(circuit);
    t.element_type = circuit->type;
    if (!t.original_expr || !t.canonical_expr) {
        hg_translated_program_release(&t);
        return hg_fail_memory();
    }
    hg_sized_give(&RULES, &t, translated, translated->size);
    return HG_OK;
}

static hg_status check_result(const hg_translated_program *translated) {
    if (!translated) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "translated is NULL");
    return hg_sized_check(&RULES, translated->size);
}

hg_status hg_circuit_to_isa(const hg_circuit *circuit, const hg_circuit_options *options,
                            hg_translated_program *translated) {
    HG_ENTRY;
    hg_circuit_options own;
    HG_TRY(check_result(translated));
    HG_TRY(hg_circuit_take_options(options, &own));
    if (!circuit || !circuit->compiled)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the circuit is not compiled");
    return translate(circuit, &own, NULL, translated);
}

hg_status hg_circuit_to_isa_translate(const char *text, size_t length,
                                      const hg_circuit_options *options,
                                      hg_diagnostics *diagnostics,
                                      hg_translated_program *translated) {
    HG_ENTRY;
    HG_TRY(check_result(translated));
    hg_circuit *circuit = NULL;
    hg_circuit_options own;
    HG_TRY(hg_circuit_take_options(options, &own));
    HG_TRY(hg_circuit_compile(text, length, &own, diagnostics, &circuit));
    hg_status status = translate(circuit, &own, diagnostics, translated);
    hg_circuit_destroy(circuit);
    return status;
}

void hg_translated_program_release(hg_translated_program *translated) {
    HG_ENTRY;
    if (!translated) return;
    hg_program_release(translated->program);
    hg_free(translated->original_expr);
    hg_free(translated->canonical_expr);
    size_t size = translated->size; /* may be 0: nobody has translated anything into it */
    hg_sized_give(&RULES, &(hg_translated_program){0}, translated,
                  size < RULES.least ? RULES.least : size);
    translated->size = size;
}
