/* Finds the handler of an instruction on whole arrays, or compiles the kernel `out[i] = fn(in[i],
 * …)`.
 * Must not know: threads. */
#include "tile/element.h"
#include "plan/steps/tree.h"
#include "kir/define/define.h"
#include "kir/fault_text.h"
#include "kir/pipeline/pipeline.h"
#include <string.h>

/* ---- the kernel ---- */

static hg_status compile(const tile_options *options, uint16_t fn, hg_type type,
                         tile_kernel **kernel) {
    kir_module *high = plan_map_kernel(fn, type), *low = NULL;
    if (!high) return hg_fail_memory();
    kir_caps caps;
    tile_caps(options->poor, &caps);
    hg_status status = kir_pipeline_run(&(kir_compilation){.caps = &caps}, KIR_STAGE_KERNEL,
                                        KIR_STAGE_LOW, high, &low);
    if (status == HG_OK) {
        tile_options plain = *options;
        plain.check_races = false;
        status = tile_compile(low, &plain, kernel);
    }
    kir_module_destroy(low);
    kir_module_destroy(high);
    return status;
}

static hg_status find_kernel(const tile_options *options, uint16_t fn, hg_type type,
                             tile_element *e) {
    e->kernel = options->cache ? tile_cache_find(options->cache, fn, type) : NULL;
    e->cached = e->kernel != NULL;
    if (e->kernel) return HG_OK;
    HG_TRY(compile(options, fn, type, &e->kernel));
    e->cached = options->cache && tile_cache_keep(options->cache, fn, type, &e->kernel);
    return HG_OK;
}

/* ---- handlers ---- */

static tile_fn *native_handler(const tile_handlers *h, uint16_t fn, hg_type type) {
    if (kir_is_half(type)) return NULL;
    int kind = kir_kind_of(kir_type_of(type));
    kir_op op = kir_operate_primitive(fn, type);
    if (kind < 0) return NULL;
    if (op != KIR_OP_COUNT) return tile_op_handler(h, op, kind, 0);
    for (uint32_t i = 0; i < h->derived_count; i++)
        if (h->derived[i].fn == fn && h->derived[i].type == type && h->derived[i].variant == 0)
            return h->derived[i].run;
    return NULL;
}

hg_status tile_element_open(const tile_options *options, uint16_t fn, hg_type type,
                            tile_element *e) {
    memset(e, 0, sizeof *e);
    if (!kir_operate_exists(fn, type))
        return hg_fail(HG_ERROR_ISA, "unsupported operation: %s for type %s", kir_fn_name(fn),
                       hg_type_name(type));
    e->nin = kir_operate_args(fn);
    e->size = hg_type_size_bytes(type);
    if (!options->poor) e->run = native_handler(tile_handlers_of(options->level), fn, type);
    return e->run ? HG_OK : find_kernel(options, fn, type, e);
}

hg_status tile_element_compile(const tile_options *options, uint16_t fn, hg_type type,
                               tile_element *e) {
    e->run = NULL;
    return find_kernel(options, fn, type, e);
}

void tile_element_close(tile_element *e) {
    if (!e->cached) tile_kernel_destroy(e->kernel);
    e->kernel = NULL;
}

/* That it is over is the limit's to say, not the kernel's. */
static void take_limit(hg_limit *limit, tile_fault *fault) {
    if (!fault->happened || !kir_fault_is_launch(fault->code)) return;
    fault->happened = false;
    (void)hg_limit_look(limit);
}

hg_status tile_element_run(const tile_element *e, uint64_t n, uint8_t *out,
                           const uint8_t *const *in, uint32_t max_threads, hg_limit *limit,
                           tile_fault *fault) {
    fault->happened = false;
    if (n == 0) return HG_OK;
    if (e->run) {
        e->run(out, in[0], e->nin > 1 ? in[1] : NULL, e->nin > 2 ? in[2] : NULL, n);
        return HG_OK;
    }
    uint64_t bytes, inputs[16] = {0}; /* handles, whole and in halves: all accesses go through slots
                                       */
    if (!hg_mul_u64(n, e->size, &bytes)) return hg_fail_memory();
    tile_memory slots[4] = {{0}};
    for (uint8_t i = 0; i < e->nin; i++)
        slots[i] = (tile_memory){(uint8_t *)(uintptr_t)in[i], bytes, true};
    slots[e->nin] = (tile_memory){out, bytes, true};
    tile_launch launch = {.grid = {1, 1, 1},
                          .block = {1, 1, 1},
                          .lanes = n,
                          .inputs = inputs,
                          .slots = slots,
                          .max_threads = max_threads};
    if (limit) {
        launch.deadline_ns = limit->deadline_ns;
        launch.timeout_ms = limit->timeout_ms;
        launch.cancel = limit->cancel;
    }
    HG_TRY(tile_run(e->kernel, &launch, fault));
    take_limit(limit, fault);
    return HG_OK;
}
