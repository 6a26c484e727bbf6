/* The numeric probe (src/probe) of the device of an open backend.
 * Must not know: what the probe asks. */
#include "runtime/execute_internal.h"

static hg_status transfer(hg_backend *b, hg_driver_command_kind kind, hg_range range, void *host) {
    hg_driver_command command = {.kind = kind, .host = host};
    *(kind == HG_CMD_COPY_OUT ? &command.from : &command.to) = range;
    return hg_stream_run(b->context->main, &command, 1);
}

static bool pretends_wrong(const hg_backend *b) { return hg_pretends(b->config.pretend, "wrong-dot4"); }

/* Products of signed bytes become those of unsigned ones, and the other way round. */
static void make_wrong(kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_DERIVED && v->u.derived.fn == HG_OP_DOT4)
                v->u.derived.atlas_type = v->u.derived.atlas_type == HG_TYPE_I32 ? HG_TYPE_U32 : HG_TYPE_I32;
}

/* Takes the module over. */
static hg_status run_device(void *user, kir_module *m, hg_probe_launch *probe) {
    hg_backend *b = user;
    hg_piece in = {0}, out = {0};
    hg_kernel kernel = {0};
    hg_driver_fault fault = {0};
    uint64_t inputs[8] = {0};
    uint8_t aliases[1] = {HG_ALIAS_DISTINCT};
    if (pretends_wrong(b) && b->caps->compiler.kir.dot4) make_wrong(m);
    hg_status status = hg_kernel_compile(b, m, false, 0, &kernel);
    if (status == HG_OK) status = hg_piece_alloc(&b->memory, probe->operand_bytes, &in);
    if (status == HG_OK) status = hg_piece_alloc(&b->memory, probe->result_bytes, &out);
    if (status == HG_OK) status = transfer(b, HG_CMD_COPY_IN, in.range, (void *)(uintptr_t)probe->operands);
    if (status == HG_OK) {
        hg_range slots[2] = {in.range, out.range};
        hg_driver_launch launch = {.kernel = kernel.code->kernel,
                                   .grid = {(uint32_t)(probe->lanes / probe->group), 1, 1},
                                   .block = {probe->group, 1, 1},
                                   .lanes = probe->lanes,
                                   .inputs = inputs,
                                   .slots = slots,
                                   .slot_count = 2,
                                   .aliases = aliases};
        status = hg_launch_kernel(b->context->main, &kernel, &launch, &fault);
        probe->faulted = fault.happened;
    }
    if (status == HG_OK) status = transfer(b, HG_CMD_COPY_OUT, out.range, probe->results);
    hg_piece_free(&b->memory, &in);
    hg_piece_free(&b->memory, &out);
    hg_kernel_free(&kernel);
    return status;
}

static void set_max_rounds(void *user, uint32_t rounds) {
    hg_backend *b = user;
    b->own_caps.compiler.target.max_rounds = rounds;
}

static hg_probe_device device_of(hg_backend *b) {
    bool device_form = b->caps->compiler.device_form;
    return (hg_probe_device){&b->caps->compiler.kir, pretends_wrong(b) ? "" : b->caps->identity, run_device, b,
                             device_form ? set_max_rounds : NULL};
}

hg_status hg_backend_probe(hg_backend *b, hg_probe_result *result) {
    hg_probe_device device = device_of(b);
    return hg_probe_run(&device, result);
}

hg_status hg_backend_trust(hg_backend *b) {
    hg_blob_cache *cache = NULL;
    hg_probe_result result;
    hg_probe_device device = device_of(b);
    b->own_caps.compiler.kir.subnormals = true; /* devices that promise nothing often keep them (lavapipe): the probe sees */
    HG_TRY(hg_blob_cache_open(b->cache_path, b->config.cache_bytes, &cache));
    hg_status status = hg_probe_run_cached(&device, cache, &result);
    hg_blob_cache_close(cache);
    if (status != HG_OK) return status;
    hg_probe_apply(&result, &b->own_caps.compiler.kir);
    b->own_caps.hints.dot4 = b->own_caps.hints.dot4 && b->own_caps.compiler.kir.dot4;
    set_max_rounds(b, result.max_rounds);
    return status;
}
