/* Whole-array instructions as StableHLO: which printer does which.
 * Must not know: what an instruction means (the other files). */
#include "stablehlo/call_internal.h"
#include <stdio.h>
#include <string.h>

typedef struct printer {
    uint16_t op;
    shlo_printer *print;
} printer;

static const printer PRINTERS[] = {{HG_OP_PARALLEL_MAP, shlo_map},
                                   {HG_OP_PARALLEL_MAP_BINARY, shlo_map_binary},
                                   {HG_OP_PARALLEL_REDUCE, shlo_reduce},
                                   {HG_OP_PARALLEL_REDUCE_MEM, shlo_reduce},
                                   {HG_OP_REDUCE_ADD_MEM, shlo_reduce},
                                   {HG_OP_REDUCE_MIN_MEM, shlo_reduce},
                                   {HG_OP_REDUCE_MAX_MEM, shlo_reduce},
                                   {HG_OP_REDUCE_MUL_MEM, shlo_reduce},
                                   {HG_OP_GEMM, shlo_gemm},
                                   {HG_OP_BATCHED_GEMM, shlo_gemm},
                                   {HG_OP_MIXED_PRECISION_GEMM, shlo_gemm},
                                   {HG_OP_CONV2D, shlo_conv},
                                   {HG_OP_CONV, shlo_conv},
                                   {HG_OP_CONV_TRANSPOSE, shlo_conv_transpose},
                                   {HG_OP_SPARSE_GEMM, shlo_sparse_gemm},
                                   {HG_OP_TENSOR_CONTRACT, shlo_tensor_contract},
                                   {HG_OP_QUANTIZED_GEMM, shlo_quantized_gemm},
                                   {HG_OP_SOFTMAX, shlo_softmax},
                                   {HG_OP_LOG_SOFTMAX, shlo_softmax},
                                   {HG_OP_LAYER_NORM, shlo_layer_norm},
                                   {HG_OP_RMS_NORM, shlo_layer_norm},
                                   {HG_OP_GROUP_NORM, shlo_group_norm},
                                   {HG_OP_BATCH_NORM, shlo_batch_norm},
                                   {HG_OP_LAYER_SCALE, shlo_layer_scale},
                                   {HG_OP_ROPE, shlo_rope},
                                   {HG_OP_KV_CACHE_UPDATE, shlo_kv_cache},
                                   {HG_OP_ALL_REDUCE, shlo_all_reduce},
                                   {HG_OP_ALL_GATHER, shlo_all_gather},
                                   {HG_OP_ATTENTION, shlo_attention},
                                   {HG_OP_FLASH_ATTENTION, shlo_attention},
                                   {HG_OP_FFT, shlo_fft},
                                   {HG_OP_SCAN, shlo_scan},
                                   {HG_OP_REDUCE_AXIS, shlo_reduce_axis},
                                   {HG_OP_SORT, shlo_sort},
                                   {HG_OP_TOP_K, shlo_sort},
                                   {HG_OP_GATHER, shlo_gather},
                                   {HG_OP_SCATTER, shlo_scatter},
                                   {HG_OP_SCATTER_ADD, shlo_scatter},
                                   {HG_OP_SEGMENT_REDUCE, shlo_segment_reduce},
                                   {HG_OP_ARG_MAX, shlo_arg},
                                   {HG_OP_ARG_MIN, shlo_arg},
                                   {HG_OP_MAX_POOL, shlo_pool},
                                   {HG_OP_AVG_POOL, shlo_pool}};

static shlo_printer *printer_of(uint16_t op) {
    for (size_t i = 0; i < HG_COUNT_OF(PRINTERS); i++)
        if (PRINTERS[i].op == op) return PRINTERS[i].print;
    return NULL;
}

/* Arrays of numbers that StableHLO has, none of them empty and none behind its first element. */
static void check_arrays(ten_module *m, const plan_call *call) {
    for (uint32_t i = 0; i < call->array_count; i++) {
        const plan_array *a = &call->arrays[i];
        if (hg_type_size_bytes((hg_type)a->type) > 8)
            ten_refuse(m, "%s: StableHLO has no such numbers", hg_type_name((hg_type)a->type));
        if (!a->open && ten_count(ten_shape(a->type, a->rank, a->extents)) == 0)
            ten_refuse(m, "an array without elements");
        if (a->before) ten_refuse(m, "an array that goes on in front of its first element");
    }
}

bool shlo_print_call(ten_module *module, const plan_call *call, shlo_operands *o) {
    shlo_call c = {module, call, o};
    char reason[sizeof module->unsupported];
    const char *name = hg_op_get((hg_op)call->op)->text;
    shlo_printer *print = printer_of(call->op);
    check_arrays(module, call);
    if (!print) ten_refuse(module, "it is no operation of arrays");
    if (!module->unsupported[0]) print(&c);
    if (!module->unsupported[0]) return true;
    memcpy(reason, module->unsupported, sizeof reason);
    snprintf(module->unsupported, sizeof module->unsupported, "%s: %.120s", name, reason);
    return false;
}

bool shlo_is_exact(const plan_call *call) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    bool real = ten_is_float(call->type), folds = call->fn == HG_OP_ADD || call->fn == HG_OP_MUL;
    if (row->numbers != HG_NUMBERS_EXACT) return false;
    switch (call->op) {
    case HG_OP_PARALLEL_MAP:
    case HG_OP_PARALLEL_MAP_BINARY: return shlo_function_is_exact(call->fn, call->type);
    case HG_OP_AVG_POOL:
    case HG_OP_SCATTER_ADD: return !real;
    case HG_OP_PARALLEL_REDUCE:
    case HG_OP_PARALLEL_REDUCE_MEM:
    case HG_OP_REDUCE_ADD_MEM:
    case HG_OP_REDUCE_MUL_MEM:
    case HG_OP_REDUCE_AXIS:
    case HG_OP_SEGMENT_REDUCE:
    case HG_OP_SCAN: return !real || !folds;
    default: return true;
    }
}
