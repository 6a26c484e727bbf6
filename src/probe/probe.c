/* The numeric probe: one kernel with every test, run by the tile interpreter and by the device;
 * what differs is lowered from then on. Then one with long loops.
 * Must not know: which device it asks, how kernels get there. */
#include "kir/pipeline/pipeline.h"
#include "probe/probe_internal.h"
#include "tile/tile.h"
#include <string.h>

static hg_status run_expected(kir_module *m, const uint8_t *operands, uint8_t *results,
                              uint64_t size) {
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
    tile_memory slots[2] = {
        {(uint8_t *)(uintptr_t)operands, (uint64_t)PROBE_OPERANDS * PROBE_LANES * 8, true},
        {results, size, true}};
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

/* What the kernel was about whose results are looked at next. */
typedef enum asked {
    NOTHING,
    NUMBERS,
    NUMBERS_AGAIN,
    ROUNDS,
    ROUNDS_AGAIN,
    GROUP,
    GROUP_AGAIN
} asked;

struct hg_probe {
    hg_probe_device device;
    hg_probe_launch launch;
    hg_probe_result result;
    asked asked;
    bool leaves_loops; /* before their end, without a trace */
    int columns[2][PROBE_TEST_COUNT];
    uint8_t *bytes, *expected; /* bytes: operands, then what was expected and what came */
};

hg_status hg_probe_create(const hg_probe_device *device, hg_probe **probe) {
    hg_probe *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->device = *device;
    p->result.rewrites = device->rewrites;
    *probe = p;
    return HG_OK;
}

void hg_probe_destroy(hg_probe *p) {
    if (!p) return;
    hg_free(p->bytes);
    hg_free(p);
}

/* Memory for the next kernel's operands, and twice for its results. */
static hg_status make_room(hg_probe *p, uint64_t in, uint64_t out) {
    hg_free(p->bytes);
    p->bytes = hg_calloc(1, (size_t)(in + 2 * out));
    if (!p->bytes) return hg_fail_memory();
    p->expected = p->bytes + in;
    p->launch = (hg_probe_launch){PROBE_LANES,       PROBE_GROUP, p->bytes, in,
                                  p->expected + out, out,         false};
    return HG_OK;
}

static hg_status ask_numbers(hg_probe *p, kir_module **kernel) {
    uint32_t count;
    kir_module *m = hg_probe_kernel(p->device.caps, p->columns, &count);
    if (!m) return hg_fail_memory();
    hg_status status = make_room(p, (uint64_t)PROBE_OPERANDS * PROBE_LANES * 8,
                                 (uint64_t)count * PROBE_LANES * 8);
    if (status == HG_OK) {
        hg_probe_operands(p->bytes);
        status = run_expected(m, p->bytes, p->expected, p->launch.result_bytes);
    }
    if (status != HG_OK)
        kir_module_destroy(m);
    else
        *kernel = m;
    p->asked = p->result.rewrites ? NUMBERS_AGAIN : NUMBERS;
    return status;
}

static hg_status ask_rounds(hg_probe *p, uint32_t most, kir_module **kernel) {
    p->result.max_rounds = most;
    p->device.set_target(p->device.user, &p->result);
    HG_TRY(make_room(p, PROBE_ROUNDS_BYTES, PROBE_ROUNDS_BYTES));
    p->launch.lanes = PROBE_GROUP;
    hg_probe_rounds_operands(PROBE_GROUP, p->bytes);
    *kernel = hg_probe_rounds_kernel();
    p->asked = most ? ROUNDS_AGAIN : ROUNDS;
    return *kernel ? HG_OK : hg_fail_memory();
}

static hg_status ask_group(hg_probe *p, bool pads, kir_module **kernel) {
    p->result.pads_groups = pads;
    p->device.set_target(p->device.user, &p->result);
    HG_TRY(make_room(p, PROBE_ROUNDS_BYTES, PROBE_ROUNDS_BYTES));
    p->launch.lanes = p->launch.group = PROBE_PART_GROUP;
    hg_probe_rounds_operands(PROBE_PART_GROUP, p->bytes);
    *kernel = hg_probe_group_kernel();
    p->asked = pads ? GROUP_AGAIN : GROUP;
    return *kernel ? HG_OK : hg_fail_memory();
}

static bool is_group_right(const hg_probe *p) {
    return !p->launch.faulted && hg_probe_group_right(p->launch.results);
}

hg_status hg_probe_next(hg_probe *p, kir_module **kernel, hg_probe_launch **launch,
                        hg_probe_result *result) {
    probe_comparison c = {p->bytes, p->expected, p->launch.results, p->columns, &p->result};
    uint32_t most;
    bool again;
    *kernel = NULL;
    *launch = &p->launch;
    switch (p->asked) {
    case NOTHING: return ask_numbers(p, kernel);
    case NUMBERS:
    case NUMBERS_AGAIN:
        if (p->launch.faulted)
            return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                           "the device cannot compute: a kernel without faults ended with one");
        again = hg_probe_compare(&c) && p->asked == NUMBERS && p->device.set_target;
        if (again) { /* as before, but with results that the compiler does not see through */
            p->result = (hg_probe_result){.rewrites = true};
            p->device.set_target(p->device.user, &p->result);
            return ask_numbers(p, kernel);
        }
        if (p->device.set_target) return ask_rounds(p, 0, kernel);
        break;
    case ROUNDS:
        if (!hg_probe_rounds_right(p->launch.results, &most)) return ask_rounds(p, most, kernel);
        return ask_group(p, false, kernel);
    case ROUNDS_AGAIN: /* right where lanes go on in another dispatch, else a fault */
        p->leaves_loops = !hg_probe_rounds_right(p->launch.results, &most) && !p->launch.faulted;
        /* Who makes code of all questions (tools/gen_ptx.c) sees them all, as a device that
         * answers rightly does. */
        if (p->leaves_loops) p->result.max_rounds = 0;
        return ask_group(p, false, kernel);
    case GROUP:
        if (!is_group_right(p) && !p->device.lanes_stay) return ask_group(p, true, kernel);
        break;
    case GROUP_AGAIN:
        if (is_group_right(p) || p->leaves_loops) break;
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "the device runs loops of a group of %d lanes wrongly", PROBE_PART_GROUP);
    }
    if (p->leaves_loops)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "the device leaves loops before their end, and nothing shows where it did");
    *result = p->result;
    return HG_OK;
}

void hg_probe_apply(const hg_probe_result *r, kir_caps *caps) {
    caps->subnormals = caps->subnormals && !r->flushes;
    caps->half = caps->half && !r->half;
    caps->dot4 = caps->dot4 && !r->dot4;
    caps->folds_zeros = caps->folds_zeros || r->folds_zeros;
    caps->fma32 = caps->fma32 && !r->fma[0];
    caps->fma64 = caps->fma64 && !r->fma[1];
    for (int op = 0; op < KIR_OP_COUNT; op++)
        for (int f64 = 0; f64 < 2; f64++)
            caps->inexact[op][f64] = caps->inexact[op][f64] || r->inexact[op][f64];
}
