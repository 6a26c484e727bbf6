/* What a program becomes for a target, on the road that a device would take it, but without any
 * device.
 * Must not know: devices of this machine, files, options of commands. */
#include "offline/emit.h"
#include "base/sized.h"
#include "driver/capsets.h"
#include "emit/emit.h"
#include "isa/cfg.h"
#include "plan/steps/steps.h"
#include "stablehlo/graph.h"
#include "vector/vector.h"
#include <hologram/emit.h>
#include <stdio.h>
#include <string.h>

typedef struct emit_job {
    const emitter *target;
    hg_capset caps; /* name NULL: the target's own */
    kir_device_options device;
    bool device_form; /* of a target of the program: show that form */
    bool form_given;
    uint32_t group[3];
    uint64_t kernel; /* HG_NONE: all */
    bool debug, verify;
    const kir_pass_watch *watch; /* NULL: nobody asked */
    const char *dashes;          /* before names of options in messages */
} emit_job;

static kir_compilation compilation(const emit_job *o) {
    return (kir_compilation){.caps = &o->caps.kir,
                             .max_slots = o->caps.max_slots,
                             .verify = o->verify,
                             .watch = o->watch};
}

/* ---- comments ---- */

/* What the host does around an instruction because of uniform values in memory. */
static void tell_waits(const hg_plan *plan, const plan_inst *inst, hg_text *about) {
    if (plan->reads == PLAN_READS_INPUTS) return;
    if (inst->op == PLAN_KERNEL && plan->kernels.data[inst->index].writes.count)
        hg_text_addf(about, ", writes the environment for those that follow");
    if (plan_waits(plan, inst)) hg_text_addf(about, ", waits until the host has the values");
}

static void tell_step(const plan_step *step, hg_text *about) {
    hg_text_addf(about, "step %s", hg_op_get((hg_op)step->op)->text);
    if (step->atlas_type < HG_TYPE_COUNT)
        hg_text_addf(about, ".%s", hg_type_name((hg_type)step->atlas_type));
}

static void tell_plan(const hg_plan *plan, hg_text *about) {
    if (plan->steps.count == 0) return;
    hg_text_addf(
        about,
        "The program has whole-array steps: the kernels run in this order, each over all lanes.\n");
    for (uint64_t i = 0; i < plan->code.count; i++) {
        const plan_inst *inst = &plan->code.data[i];
        hg_text_addf(about, "  %llu: ", (unsigned long long)i);
        if (inst->op == PLAN_KERNEL)
            hg_text_addf(about, "%s%s", plan->kernels.data[inst->index].module->name,
                         plan->kernels.data[inst->index].single_lane ? ", one lane" : "");
        else if (inst->op == PLAN_STEP)
            tell_step(&plan->steps.data[inst->index], about);
        else if (inst->op == PLAN_COMPUTE)
            hg_text_addf(about, "the host computes %u operations on uniform values",
                         (unsigned)inst->target);
        else if (inst->op == PLAN_JUMP)
            hg_text_addf(about, "go to %u", (unsigned)inst->target);
        else if (inst->op == PLAN_JUMP_UNLESS)
            hg_text_addf(about, "unless environment byte %u go to %u",
                         (unsigned)plan->env.data[inst->index].offset, (unsigned)inst->target);
        else
            hg_text_addf(about, "end");
        tell_waits(plan, inst, about);
        hg_text_addf(about, "\n");
    }
}

/* names: the legalised module, whose inputs the slots' numbers mean. */
static void tell_slot(const kir_module *names, const kir_slot *s, hg_text *about) {
    static const char *const own[] = {
        "",      "class memory", "the fault record", "the handle table", "locks", "shared memory",
        "arena "};
    if (s->kind == KIR_SLOT_ARENA)
        hg_text_addf(about, "%s%llu\n", own[s->kind], (unsigned long long)s->handle);
    else if (s->kind != KIR_SLOT_MEMORY)
        hg_text_addf(about, "%s\n", own[s->kind]);
    else if (!s->constant && s->input < names->inputs.count)
        hg_text_addf(about, "input %u%s%s\n", (unsigned)s->input,
                     names->inputs.data[s->input].name ? ", " : "",
                     names->inputs.data[s->input].name ? names->inputs.data[s->input].name : "");
    else if (s->plan == KIR_PLAN_ENV)
        hg_text_addf(about, "the plan's environment\n");
    else if (s->plan == KIR_PLAN_UNIFORMS)
        hg_text_addf(about, "the plan's environment as the kernel finds it\n");
    else if (s->plan == KIR_PLAN_SCRATCH)
        hg_text_addf(about, "scratch memory\n");
    else
        hg_text_addf(about, "handle %llu\n", (unsigned long long)s->handle);
}

/* layout: where slots may share a binding; else NULL. */
static void tell_slots(const kir_module *names, const kir_module *m,
                       const kir_device_layout *layout, hg_text *about) {
    for (uint64_t i = 0; i < m->slots.count; i++) {
        hg_text_addf(about, "%s, slot %llu", m->name, (unsigned long long)i);
        if (layout && layout->bindings.count)
            hg_text_addf(about, ", binding %u", (unsigned)kir_device_binding(layout, i));
        hg_text_addf(about, ": ");
        tell_slot(names, &m->slots.data[i], about);
    }
}

/* ---- the kernels of a program on a device: the plan's, then those that do its whole-array steps
 * ---- */

typedef struct emit_kernel {
    kir_module *module;
    bool owned;
    uint32_t lanes;  /* of a block; 0: as the program says */
    uint64_t shared; /* bytes, where lanes is not 0 */
} emit_kernel;
typedef HG_VEC(emit_kernel) emit_kernels;

static hg_status add_kernel(emit_kernels *list, emit_kernel k) {
    for (uint64_t i = list->count; i-- > 0 && k.owned && list->data[i].owned;) { /* one for all
                                                                                    steps that are
                                                                                    alike, after the
                                                                                    program's */
        if (strcmp(list->data[i].module->name, k.module->name) != 0) continue;
        kir_module_destroy(k.module);
        return HG_OK;
    }
    emit_kernel *last = hg_vec_push(list);
    if (last)
        *last = k;
    else if (k.owned)
        kir_module_destroy(k.module);
    return last ? HG_OK : hg_fail_memory();
}

/* The kernels that an expansion of the step launches. */
static hg_status add_launches(emit_kernels *list, const plan_expansion *x) {
    for (uint64_t i = 0; i < x->actions.count; i++) {
        const plan_action *action = &x->actions.data[i];
        if (action->kind != PLAN_LAUNCH) continue;
        kir_module *m = action->key.make(&action->key);
        if (!m) return hg_error_record()->status;
        HG_TRY(add_kernel(list, (emit_kernel){.module = m,
                                              .owned = true,
                                              .lanes = action->block[0],
                                              .shared = action->shared_bytes}));
    }
    return HG_OK;
}

static hg_status add_step(emit_kernels *list, const hg_plan *plan, const plan_step *step,
                          const library_tiles *tiles) {
    plan_expansion x = {.tiles = tiles};
    plan_problem problem;
    if (!plan_collective_of((hg_op)step->op)) return HG_OK; /* pools are the runtime's */
    hg_status status = plan_expand_example(plan, step, &x, &problem);
    if (status == HG_OK && !problem.found) status = add_launches(list, &x);
    plan_expansion_free(&x);
    return status;
}

static hg_status collect_kernels(const emit_job *o, const hg_plan *plan, emit_kernels *list) {
    bool on_device = o->caps.name && strcmp(o->caps.name, "cpu") != 0;
    library_tiles tiles = library_tiles_of(!on_device                      ? LIBRARY_TILES_V4
                                           : emitter_by_address(o->target) ? LIBRARY_TILES_JOINING
                                                                           : LIBRARY_TILES_DEVICE);
    for (uint64_t i = 0; i < plan->kernels.count; i++)
        HG_TRY(add_kernel(list, (emit_kernel){.module = plan->kernels.data[i].module}));
    for (uint64_t i = 0; i < plan->steps.count; i++)
        HG_TRY(add_step(list, plan, &plan->steps.data[i], &tiles));
    return HG_OK;
}

static void free_kernels(emit_kernels *list) {
    for (uint64_t i = 0; i < list->count; i++)
        if (list->data[i].owned) kir_module_destroy(list->data[i].module);
    hg_vec_free(list);
}

/* ---- one kernel in device form ---- */

typedef struct device_kernel {
    kir_module *low, *module;
    kir_device_layout layout;
    uint32_t group[3], block[3]; /* block: that its code was made for; 0: any */
    uint64_t group_memory;
} device_kernel;

static void device_kernel_free(device_kernel *k) {
    kir_device_layout_free(&k->layout);
    kir_module_destroy(k->module);
    kir_module_destroy(k->low);
}

static uint64_t shared_bytes(const hg_program *program, const emit_kernel *kernel) {
    return kernel->lanes     ? kernel->shared
           : program->shared ? program->shared
                             : HG_MAX_SHARED_BYTES_COMMON;
}

/* Storage buffers that a kernel may bind on every WebGPU device. */
enum { MOST_BOUND = 8 };

/* The buffers that a form may add to the slots of the legalised module. */
static uint32_t own_buffers(const emit_job *o, const kir_module *low) {
    bool locks = false;
    for (const kir_function *f = low->functions; f && !o->caps.target.atomic64; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            locks |= v->op == KIR_ATOMIC && v->u.mem.bytes == 8;
    return 1u + low->uses_class + locks;
}

/* As for a launch whose buffers lie apart: each is a binding of its own, as far as there are so
 * many. The rest lies in one arena; so do all of a kernel that reaches buffers by handles. */
static void bind_slots(const emit_job *o, const kir_module *low, kir_device_options *device) {
    const uint8_t arenas = (uint8_t)o->caps.target.max_arenas;
    uint32_t bound = MOST_BOUND - own_buffers(o, low);
    if (low->slots.count > bound) bound--; /* the arena */
    for (int kind = KIR_SLOT_MEMORY + 1; kind < KIR_SLOT_ARENA; kind++)
        device->kind_arenas[kind] = (uint8_t)(arenas + (uint32_t)kind) | KIR_AT_START;
    for (uint32_t i = 0; i < low->slots.count && i < bound && !low->has_open; i++)
        device->slot_arenas[i] = (uint8_t)(arenas + KIR_SLOT_ARENA + i) | KIR_AT_START;
}

/* Blocks where the kernel needs them or they save divisions, as at a launch; the group is the
 * program's block, else the usual one, and known to code that needs it. */
static kir_device_options choose_form(const emit_job *o, const hg_program *program,
                                      const emit_kernel *kernel, const kir_module *low,
                                      uint32_t group[3]) {
    kir_device_options device = o->device;
    device.target = o->caps.target;
    device.distinct = UINT64_MAX; /* buffers do not overlap, as in most launches */
    bind_slots(o, low, &device);
    bool needs_blocks = low->uses_barrier || low->uses_shared;
    if (!o->form_given)
        device.form = needs_blocks || kir_device_wants_blocks(low) ? KIR_FORM_BLOCK : KIR_FORM_FLAT;
    memcpy(group, o->group, 3 * sizeof *group);
    if (!group[0]) {
        group[0] = device.form == KIR_FORM_FLAT ? 64 : 256;
        group[1] = group[2] = 1;
        if (device.form == KIR_FORM_BLOCK && kernel->lanes)
            group[0] = kernel->lanes;
        else if (device.form == KIR_FORM_BLOCK && program->block[0])
            memcpy(group, program->block, 3 * sizeof *group);
    }
    if (needs_blocks && device.form == KIR_FORM_BLOCK && device.fold < 2) {
        memcpy(device.block, group, sizeof device.block);
        device.shared_bytes = shared_bytes(program, kernel);
    }
    return device;
}

static hg_status make_device_kernel(const emit_job *o, const hg_program *program,
                                    const emit_kernel *kernel, device_kernel *k) {
    kir_compilation c = compilation(o);
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, kernel->module, &k->low));
    kir_device_options device = choose_form(o, program, kernel, k->low, k->group);
    memcpy(k->block, device.block, sizeof k->block);
    c.device = &device;
    c.layout = &k->layout;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_DEVICE, KIR_STAGE_DEVICE, k->low, &k->module));
    if (k->layout.uses_group_memory)
        k->group_memory = k->layout.shared_reserved + shared_bytes(program, kernel);
    return HG_OK;
}

static hg_status print_device_kernel(const emit_job *o, const hg_program *program,
                                     const emit_kernel *kernel, const char *plan, hg_text *out) {
    device_kernel k = {0};
    hg_text about = {0};
    hg_status status = make_device_kernel(o, program, kernel, &k);
    if (status == HG_OK) {
        hg_text_addf(&about, "%s", plan);
        if (k.block[0])
            hg_text_addf(&about, "%s, for blocks of %u x %u x %u lanes\n", k.module->name,
                         (unsigned)k.block[0], (unsigned)k.block[1], (unsigned)k.block[2]);
        tell_slots(k.low, k.module, &k.layout, &about);
        const kir_module *const kernels[] = {k.module};
        emit_input in = {.kernels = kernels,
                         .count = 1,
                         .layout = &k.layout,
                         .caps = &o->caps.kir,
                         .target = &o->caps.target,
                         .group = {k.group[0], k.group[1], k.group[2]},
                         .group_memory = k.group_memory,
                         .debug = o->debug,
                         .about = about.data ? about.data : ""};
        status = o->target->print(o->target, &in, out);
    }
    hg_text_free(&about);
    device_kernel_free(&k);
    return status;
}

/* The number that was asked for is one of `count`. */
static hg_status check_kernel(const emit_job *o, uint64_t count) {
    if (o->kernel == HG_NONE || o->kernel < count) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%skernel %llu: the program has %llu kernels, from 0",
                   o->dashes, (unsigned long long)o->kernel, (unsigned long long)count);
}

/* Each kernel on its own, one after another. */
static hg_status print_kernels(const emit_job *o, const hg_program *program, const hg_plan *plan,
                               const emit_kernels *list, hg_text *out) {
    hg_text about = {0};
    hg_status status = HG_OK;
    if ((o->target->binary || o->target->foreign) && list->count > 1 && o->kernel == HG_NONE)
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "the program has %llu kernels, a module holds one: choose it with %skernel 0 … %llu",
            (unsigned long long)list->count, o->dashes, (unsigned long long)list->count - 1);
    HG_TRY(check_kernel(o, list->count));
    tell_plan(plan, &about);
    for (uint64_t i = 0; i < list->count && status == HG_OK; i++) {
        if (o->kernel != HG_NONE && o->kernel != i) continue;
        status = print_device_kernel(o, program, &list->data[i],
                                     about.data && out->length == 0 ? about.data : "", out);
    }
    if (about.failed && status == HG_OK) status = hg_fail_memory();
    hg_text_free(&about);
    return status;
}

static hg_status print_device(const emit_job *o, const hg_program *program, const hg_plan *plan,
                              hg_text *out) {
    emit_kernels list = {0};
    hg_status status = collect_kernels(o, plan, &list);
    if (status == HG_OK) status = print_kernels(o, program, plan, &list, out);
    free_kernels(&list);
    return status;
}

/* ---- lanes: every kernel in one text, or one ---- */

static hg_status print_lanes(const emit_job *o, hg_plan *plan, hg_text *text) {
    HG_TRY(check_kernel(o, plan->kernels.count));
    const bool one = o->kernel != HG_NONE;
    const uint64_t first = one ? o->kernel : 0;
    const uint32_t count = one ? 1 : (uint32_t)plan->kernels.count;
    hg_text about = {0};
    kir_module **low = hg_calloc(count + 1, sizeof *low);
    hg_status status = low ? HG_OK : hg_fail_memory();
    tell_plan(plan, &about);
    for (uint32_t i = 0; i < count && status == HG_OK; i++) {
        kir_compilation c = compilation(o);
        status = kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW,
                                  plan->kernels.data[first + i].module, &low[i]);
        if (status == HG_OK) tell_slots(low[i], low[i], NULL, &about);
    }
    emit_input in = {.kernels = (const kir_module *const *)low,
                     .count = count,
                     .caps = &o->caps.kir,
                     .about = about.data ? about.data : ""};
    if (status == HG_OK && about.failed) status = hg_fail_memory();
    if (status == HG_OK) status = o->target->print(o->target, &in, text);
    for (uint32_t i = 0; i < count && low; i++) kir_module_destroy(low[i]);
    hg_free(low);
    hg_text_free(&about);
    return status;
}

/* ---- the whole program ---- */

static hg_status print_program(const emit_job *o, kir_module *module, hg_text *text) {
    kir_compilation c = compilation(o);
    kir_module *shown = NULL;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, o->caps.name ? KIR_STAGE_LOW : KIR_STAGE_KERNEL,
                            module, &shown));
    bool owned = shown != module;
    hg_status status = kir_pass_run(&c, KIR_STAGE_LOW, KIR_PASS_UNIFORMITY, &shown,
                                    &owned); /* shown
                                                beside
                                                the
                                                values
                                              */
    const kir_module *const modules[] = {shown};
    if (status == HG_OK)
        status = o->target->print(o->target,
                                  &(emit_input){.kernels = modules, .count = 1, .about = ""}, text);
    if (owned) kir_module_destroy(shown);
    return status;
}

/* The whole program as an array graph, whose extents the program itself says. */
static hg_status print_graph(const hg_program *program, const emit_job *o, hg_text *text) {
    hg_graph *g = NULL;
    if (o->kernel != HG_NONE)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%skernel with %starget %s: it shows the program as a whole", o->dashes,
                       o->dashes, o->target->name);
    HG_TRY(hg_graph_from_program(program, &g));
    uint64_t *extents = hg_alloc((size_t)(g->terms.count + 1) * sizeof *extents);
    hg_status status = extents ? HG_OK : hg_fail_memory();
    if (status == HG_OK && g->symbols.count)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                         "target %s: the extent %s is no number: shapes are part of the text%s",
                         o->target->name, g->symbols.data[0],
                         o->dashes[0] ? " (--set N=VALUE)" : "");
    if (status == HG_OK) graph_extent_values(g, NULL, extents);
    if (status == HG_OK) status = graph_check(g, extents);
    if (status == HG_OK) status = shlo_print_graph(g, extents, &(shlo_form){.driver = false}, text);
    hg_free(extents);
    hg_graph_release(g);
    return status;
}

static hg_status lower(const hg_program *program, const emit_job *o, hg_text *text) {
    if (o->target->form == EMIT_GRAPH) return print_graph(program, o, text);
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    kir_compilation c = compilation(o);
    c.program = cfg;
    hg_status status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module);
    bool whole = o->target->form == EMIT_PROGRAM && !o->device_form; /* steps and all */
    if (status == HG_OK && whole && o->kernel != HG_NONE)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                         "%skernel with %starget %s: it shows the program as a whole; %sform shows "
                         "its kernels",
                         o->dashes, o->dashes, o->target->name, o->dashes);
    if (status == HG_OK && whole && module->has_step && o->caps.name)
        status = hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "%scaps with %starget %s: the program has whole-array steps; %sform shows its kernels",
            o->dashes, o->dashes, o->target->name, o->dashes);
    if (status == HG_OK && whole) status = print_program(o, module, text);
    if (status == HG_OK && !whole) {
        plan_reads reads = o->caps.target.shown_uniform ? PLAN_READS_SHOWN : PLAN_READS_MEMORY;
        status = plan_build(module, o->target->form == EMIT_LANES ? PLAN_READS_INPUTS : reads,
                            &plan);
        if (status == HG_OK) module = NULL; /* the plan's now */
        if (status == HG_OK)
            status = o->target->form == EMIT_LANES ? print_lanes(o, plan, text)
                                                   : print_device(o, program, plan, text);
    }
    plan_destroy(plan);
    kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status == HG_OK && text->failed ? hg_fail_memory() : status;
}

/* ---- options ---- */

static const hg_sized RULES = HG_SIZED(hg_emit_options, caps, "set it to sizeof(hg_emit_options)");

static hg_status find_target(const char *name, emit_job *o) {
    hg_text known = {0};
    o->target = emitter_find(name);
    if (o->target) return HG_OK;
    for (uint32_t i = 0; emitter_get(i); i++)
        hg_text_addf(&known, "%s%s",
                     !i                   ? ""
                     : emitter_get(i + 1) ? ", "
                                          : " or ",
                     emitter_get(i)->name);
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "target: expected %s, got '%s'",
                               known.data ? known.data : "a name", name);
    hg_text_free(&known);
    return status;
}

/* What a target takes when nobody says: the first of its row. */
static hg_status find_caps(const char *name, emit_job *o) {
    char first[32], known[256];
    const bool wasm = o->target == emitter_find("wasm") || o->target == emitter_find("wat");
    const bool vectors = o->target == emitter_find("vector");
    if (!name && o->target->form == EMIT_LANES && wasm) emit_wasm_caps(&o->caps.kir);
    if (!name && o->target->form == EMIT_LANES && !wasm) emit_c_caps(&o->caps.kir);
    if (!name && vectors) vec_caps(&o->caps.kir);
    if (!name && o->target->form != EMIT_DEVICE && !o->device_form) return HG_OK;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(o->target->caps, " "), o->target->caps);
    if (hg_capset_find(name ? name : first, &o->caps)) return HG_OK;
    hg_capset_names(known, sizeof known);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "caps: expected one of %s, got '%s'", known,
                   name ? name : first);
}

static hg_status read_options(const hg_emit_options *given, emit_job *o) {
    hg_emit_options own = {.size = sizeof own};
    if (given) HG_TRY(hg_sized_take(&RULES, given, &own));
    if ((unsigned)own.form > HG_EMIT_FORM_BLOCK)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "form: %d is none", (int)own.form);
    bool group = own.group[0] || own.group[1] || own.group[2];
    if (group && (!own.group[0] || !own.group[1] || !own.group[2]))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "group: no extent can be 0");
    if (own.fold > HG_MAX_BLOCK_LANES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "fold: at most %d lanes",
                       (int)HG_MAX_BLOCK_LANES);
    o->form_given = own.form != HG_EMIT_FORM_CHOSEN;
    o->device_form = o->form_given || group || own.fold;
    const bool whole = o->target->form == EMIT_LANES || o->target->form == EMIT_GRAPH;
    if ((own.caps || o->device_form) && whole)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "caps, form, group and fold are for devices, not for target %s",
                       o->target->name);
    memcpy(o->group, own.group, sizeof o->group);
    o->kernel = own.one_kernel ? own.kernel : HG_NONE;
    o->debug = own.debug;
    o->verify = own.verify;
    o->device.form = own.form == HG_EMIT_FORM_BLOCK ? KIR_FORM_BLOCK : KIR_FORM_FLAT;
    o->device.fold = own.fold ? own.fold : 1;
    o->device.small = !own.large;
    o->device.proven = own.proven;
    o->device.whole_blocks = own.whole_blocks;
    o->device.at_origin = own.at_origin;
    HG_TRY(find_caps(own.caps, o));
    if (own.no_addresses && emitter_by_address(o->target))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "no_addresses (--descriptors): target %s finds memory by addresses alone",
                       o->target->name);
    if (emitter_by_address(o->target)) o->caps.target.addressed = true;
    if (own.no_addresses) o->caps.target.addressed = false;
    return HG_OK;
}

hg_status hg_emit_watched(const hg_program *program, const char *target,
                          const hg_emit_options *options, const hg_emit_watch *watch,
                          hg_text *out) {
    emit_job job = {.watch = watch->passes, .dashes = watch->dashes};
    HG_TRY(find_target(target, &job));
    HG_TRY(read_options(options, &job));
    return lower(program, &job, out);
}

hg_status hg_program_emit(const hg_program *program, const char *target,
                          const hg_emit_options *options, char **output, size_t *length) {
    HG_ENTRY;
    hg_text text = {0};
    if (!program) return hg_null_argument("program");
    if (!target) return hg_null_argument("target");
    if (!output) return hg_null_argument("output");
    hg_status status = hg_emit_watched(program, target, options, &(hg_emit_watch){.dashes = ""},
                                       &text);
    if (status == HG_OK && !text.data) hg_text_add(&text, "", 0); /* nothing, and still a text */
    if (status == HG_OK && !text.data) status = hg_fail_memory();
    if (status != HG_OK) {
        hg_text_free(&text);
        return status;
    }
    *output = text.data;
    if (length) *length = text.length;
    return HG_OK;
}

/* ---- the targets there are ---- */

const hg_emit_target *hg_emit_target_get(size_t index) {
    HG_ENTRY;
    enum { TEXT, BINARY, FOREIGN }; /* emitters.def */
    static const hg_emit_target TARGETS[] = {
#define EMITTER(name, suffix, output, form, caps, print, about) \
    {sizeof(hg_emit_target), name, suffix, about, caps, (output) == BINARY, {0}},
#define DIALECT(name, suffix, caps, about) \
    {sizeof(hg_emit_target), #name, suffix, about, caps, false, {0}},
#include "emit/emitters.def"
    };
    return index < HG_COUNT_OF(TARGETS) ? &TARGETS[index] : NULL;
}
