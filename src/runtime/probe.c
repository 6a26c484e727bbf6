/* The numeric probe (src/probe) of the device of an open backend, without waiting: its kernels are
 * runs in the default context, of a plan that has no instructions of its own.
 * Must not know: what the probe asks. */
#include "runtime/execute_internal.h"

struct hg_probing {
    hg_backend *backend;
    bool trusts; /* what is found becomes what the backend promises, and is kept */
    hg_blob_cache *cache;
    hg_probe *probe; /* NULL: the cache had the result */
    hg_probe_launch *asked;
    hg_probe_result result;
    /* of the kernel that runs */
    hg_kernel kernel;
    hg_piece in, out;
    uint64_t inputs[8];
    hg_range slots[2];
    uint8_t aliases[1];
    hg_driver_launch launch;
    hg_program program; /* an empty one */
    plan_inst end;
    hg_plan plan;
    hg_executable executable;
    hg_binding binding;
    bool runs;
    hg_run run;
};

static bool pretends_wrong(const hg_backend *b) {
    return hg_pretends(b->config.pretend, "wrong-dot4");
}

/* Products of signed bytes become those of unsigned ones, and the other way round. */
static void make_wrong(kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_DERIVED && v->u.derived.fn == HG_OP_DOT4)
                v->u.derived.atlas_type = v->u.derived.atlas_type == HG_TYPE_I32 ? HG_TYPE_U32
                                                                                 : HG_TYPE_I32;
}

static void set_target(void *user, const hg_probe_result *found) {
    kir_device_target *target = &((hg_backend *)user)->own_caps.compiler.target;
    target->max_rounds = found->max_rounds;
    target->pads_groups = found->pads_groups;
    target->rewrites = found->rewrites;
}

static hg_probe_device device_of(hg_backend *b) {
    const hg_compiler_caps *compiler = &b->caps->compiler;
    return (hg_probe_device){.caps = &compiler->kir,
                             .identity = pretends_wrong(b) ? "" : b->caps->identity,
                             .user = b,
                             .set_target = compiler->device_form ? set_target : NULL,
                             .rewrites = compiler->target.rewrites,
                             .lanes_stay = compiler->target.shown_uniform};
}

/* ---- a kernel ---- */

static hg_status add_copy(hg_probing *p, hg_driver_command_kind kind, hg_range range, void *host) {
    hg_driver_command command = {.kind = kind, .host = host};
    *(kind == HG_CMD_COPY_OUT ? &command.from : &command.to) = range;
    return hg_run_add(&p->run, &command);
}

static hg_status add_launch(hg_probing *p) {
    const hg_probe_launch *asked = p->asked;
    p->slots[0] = p->in.range;
    p->slots[1] = p->out.range;
    p->aliases[0] = HG_ALIAS_DISTINCT;
    p->launch = (hg_driver_launch){.kernel = p->kernel.code->kernel,
                                   .grid = {(uint32_t)(asked->lanes / asked->group), 1, 1},
                                   .block = {asked->group, 1, 1},
                                   .lanes = asked->lanes,
                                   .inputs = p->inputs,
                                   .slots = p->slots,
                                   .slot_count = 2,
                                   .aliases = p->aliases};
    return hg_run_launch(&p->run, &p->kernel, &p->launch);
}

/* Takes the module over. */
static hg_status begin_run(hg_probing *p, kir_module *m) {
    hg_backend *b = p->backend;
    if (pretends_wrong(b) && b->caps->compiler.kir.dot4) make_wrong(m);
    HG_TRY(hg_kernel_compile(b, m, false, 0, &p->kernel));
    HG_TRY(hg_piece_alloc(&b->memory, p->asked->operand_bytes, &p->in));
    HG_TRY(hg_piece_alloc(&b->memory, p->asked->result_bytes, &p->out));
    hg_run_init(&p->run);
    p->runs = true;
    HG_TRY(hg_run_start(&p->run, &p->binding, b->context->main));
    HG_TRY(add_copy(p, HG_CMD_COPY_IN, p->in.range, (void *)(uintptr_t)p->asked->operands));
    HG_TRY(add_launch(p));
    return add_copy(p, HG_CMD_COPY_OUT, p->out.range, p->asked->results);
}

static void free_run(hg_probing *p) {
    hg_backend *b = p->backend;
    if (p->runs) hg_run_abandon(&p->run);
    p->runs = false;
    hg_recorded_free(&p->binding.recorded, b->driver);
    hg_piece_free(&b->memory, &p->in);
    hg_piece_free(&b->memory, &p->out);
    hg_kernel_free(&p->kernel);
    p->binding.recorded = (hg_recorded){0};
    p->kernel = (hg_kernel){0};
}

/* *done: what runs is over. A fault is an answer. */
static hg_status look(hg_probing *p, bool *done) {
    hg_run_state state = hg_run_poll(&p->run);
    *done = state != HG_RUN_WAITING;
    if (!*done) return HG_OK;
    p->asked->faulted = p->binding.fault.happened;
    hg_status status = state == HG_RUN_FAILED && !p->asked->faulted ? p->run.status : HG_OK;
    hg_error kept = *hg_error_record();
    free_run(p);
    *hg_error_record() = kept;
    return status;
}

/* ---- all of them ---- */

static hg_status open_probe(hg_probing *p, bool trusts) {
    hg_backend *b = p->backend;
    p->trusts = trusts;
    if (trusts) { /* devices that promise nothing often keep them (lavapipe): the probe sees */
        b->own_caps.compiler.kir.subnormals = true;
        HG_TRY(hg_blob_cache_open(b->paths.cache, b->config.cache_bytes, &p->cache));
    }
    const hg_probe_device device = device_of(b);
    if (trusts && hg_probe_find(&device, p->cache, &p->result)) return HG_OK;
    return hg_probe_create(&device, &p->probe);
}

hg_status hg_probing_start(hg_backend *b, bool trusts, hg_probing **probing) {
    hg_probing *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->backend = b;
    p->end.op = PLAN_END;
    p->plan.code.data = &p->end;
    p->plan.code.count = 1;
    p->executable.backend = b;
    p->executable.program = &p->program;
    p->executable.plan = &p->plan;
    p->binding.executable = &p->executable;
    hg_status status = open_probe(p, trusts);
    if (status != HG_OK)
        hg_probing_end(p);
    else
        *probing = p;
    return status;
}

static void trust(hg_probing *p) {
    hg_backend *b = p->backend;
    const hg_probe_device device = device_of(b);
    if (p->probe) hg_probe_keep(&device, p->cache, &p->result);
    hg_probe_apply(&p->result, &b->own_caps.compiler.kir);
    b->own_caps.hints.dot4 = b->own_caps.hints.dot4 && b->own_caps.compiler.kir.dot4;
    set_target(b, &p->result);
}

hg_status hg_probing_poll(hg_probing *p, bool *done) {
    kir_module *m = NULL;
    *done = true;
    do {
        if (p->runs) HG_TRY(look(p, done));
        if (!*done) return HG_OK;
        if (p->probe) HG_TRY(hg_probe_next(p->probe, &m, &p->asked, &p->result));
        if (m) HG_TRY(begin_run(p, m));
    } while (m);
    if (p->trusts) trust(p);
    return HG_OK;
}

void hg_probing_wait(hg_probing *p) {
    if (p->runs) hg_run_wait(&p->run);
}

void hg_probing_end(hg_probing *p) {
    if (!p) return;
    hg_error kept = *hg_error_record();
    free_run(p);
    hg_probe_destroy(p->probe);
    hg_blob_cache_close(p->cache);
    hg_free(p);
    *hg_error_record() = kept;
}

hg_status hg_backend_probe(hg_backend *b, hg_probe_result *result) {
    hg_probing *p;
    bool done = false;
    HG_TRY(hg_probing_start(b, false, &p));
    hg_status status = hg_probing_poll(p, &done);
    for (; status == HG_OK && !done; status = hg_probing_poll(p, &done)) hg_probing_wait(p);
    *result = p->result;
    hg_probing_end(p);
    return status;
}
