/* The numeric probe: one kernel with every test, run by the tile interpreter and by the device; what differs is lowered from then on. Then
 * one with long loops.
 * Must not know: which device it asks, how kernels get there. */
#include "kir/pipeline/pipeline.h"
#include "probe/probe_internal.h"
#include "tile/tile.h"
#include <string.h>

static hg_status run_expected(kir_module *m, const uint8_t *operands, uint8_t *results, uint64_t size) {
    tile_options options = {.level = tile_level_best()};
    tile_kernel *kernel = NULL;
    tile_fault fault;
    kir_caps caps;
    kir_module *low = NULL;
    tile_caps(false, &caps);
    kir_compilation c = {.caps = &caps};
    hg_status status = kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, m, &low);
    if (status == HG_OK) status = tile_compile(low, &options, &kernel);
    kir_module_destroy(low);
    HG_TRY(status);
    uint64_t inputs[2] = {0, 0};
    tile_memory slots[2] = {{(uint8_t *)(uintptr_t)operands, (uint64_t)PROBE_OPERANDS * PROBE_LANES * 8, true}, {results, size, true}};
    tile_launch launch = {.grid = {PROBE_LANES / PROBE_GROUP, 1, 1},
                          .block = {PROBE_GROUP, 1, 1},
                          .lanes = PROBE_LANES,
                          .inputs = inputs,
                          .slots = slots,
                          .max_threads = 1};
    status = tile_run(kernel, &launch, &fault);
    tile_kernel_destroy(kernel);
    return status;
}

hg_status hg_probe_run(const hg_probe_device *device, hg_probe_result *result) {
    int columns[2][PROBE_TEST_COUNT];
    uint32_t count;
    memset(result, 0, sizeof *result);
    kir_module *m = hg_probe_kernel(device->caps, columns, &count);
    if (!m) return hg_fail_memory();
    uint64_t in = (uint64_t)PROBE_OPERANDS * PROBE_LANES * 8, out = (uint64_t)count * PROBE_LANES * 8;
    uint8_t *operands = hg_calloc(1, (size_t)(in + 2 * out));
    if (!operands) {
        kir_module_destroy(m);
        return hg_fail_memory();
    }
    uint8_t *expected = operands + in, *actual = expected + out;
    hg_probe_operands(operands);
    hg_status status = run_expected(m, operands, expected, out);
    hg_probe_launch launch = {PROBE_LANES, PROBE_GROUP, operands, in, actual, out, false};
    if (status == HG_OK)
        status = device->run(device->user, m, &launch);
    else
        kir_module_destroy(m);
    probe_comparison c = {operands, expected, actual, columns, result};
    if (status == HG_OK) hg_probe_compare(&c);
    hg_free(operands);
    return status == HG_OK ? hg_probe_rounds(device, &result->max_rounds) : status;
}

void hg_probe_apply(const hg_probe_result *r, kir_caps *caps) {
    caps->subnormals = caps->subnormals && !r->flushes;
    caps->half = caps->half && !r->half;
    caps->dot4 = caps->dot4 && !r->dot4;
    caps->folds_zeros = caps->folds_zeros || r->folds_zeros;
    caps->fma32 = caps->fma32 && !r->fma[0];
    caps->fma64 = caps->fma64 && !r->fma[1];
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++) caps->inexact[op][f64] = caps->inexact[op][f64] || r->inexact[op][f64];
}
