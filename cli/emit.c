/* hologram emit: what a program becomes for a target, on the road that a device would take it (DESIGN of kernels: docs/design), but
 * without any device. */
#include "capsets.h"
#include "emit/emit.h"
#include "isa/cfg.h"
#include "kir/pipeline/pipeline.h"
#include "plan/steps/steps.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct emit_options {
    const emitter *target;
    const char *caps_name, *form_name;
    cli_capset caps; /* name NULL: the target's own */
    kir_device_options device;
    bool device_form; /* of a target of the program: show that form */
    bool form_given;
    uint32_t group[3];
    uint64_t kernel; /* HG_NONE: all */
    bool debug, verify;
    const kir_pass_watch *watch; /* NULL: nobody asked */
} emit_options;

/* ---- passes ---- */

/* What the passes did: printed to the error output, so that the target's text can go on to a file or a compiler. */
typedef struct pass_times {
    uint64_t ns;
    uint32_t runs;
} pass_times;
typedef struct pass_report {
    const char *print_after; /* "": after none; "all" */
    bool time;
    pass_times times[KIR_STAGE_COUNT][KIR_PASS_COUNT];
} pass_report;

static void after_pass(void *user, kir_stage stage, const kir_pass *pass, const kir_module *m, uint64_t ns) {
    pass_report *report = user;
    pass_times *t = &report->times[stage][kir_pass_find(pass->name)];
    t->ns += ns;
    t->runs++;
    if (strcmp(report->print_after, pass->name) != 0 && strcmp(report->print_after, "all") != 0) return;
    hg_text text = {0};
    kir_print(&text, m);
    fprintf(stderr, "; %s, after pass '%s' of stage %s\n%s\n", m->name, pass->name, kir_stage_name(stage), text.data ? text.data : "");
    hg_text_free(&text);
}

static void print_times(const pass_report *report) {
    kir_stage stage;
    kir_pass_id id;
    fprintf(stderr, "%-8s %-12s %5s %12s\n", "stage", "pass", "runs", "us");
    for (uint32_t i = 0; kir_order_get(i, &stage, &id); i++) {
        const pass_times *t = &report->times[stage][id];
        if (t->runs)
            fprintf(stderr, "%-8s %-12s %5u %12.1f\n", kir_stage_name(stage), kir_pass_get(id)->name, (unsigned)t->runs,
                    (double)t->ns / 1000);
    }
}

static kir_compilation compilation(const emit_options *o) {
    return (kir_compilation){.caps = &o->caps.kir, .max_slots = o->caps.max_slots, .verify = o->verify, .watch = o->watch};
}

/* ---- comments ---- */

/* What the host does around an instruction because of uniform values in memory. */
static void tell_waits(const hg_plan *plan, const plan_inst *inst, hg_text *about) {
    if (plan->reads != PLAN_READS_MEMORY) return;
    if (inst->op == PLAN_KERNEL && plan->kernels.data[inst->index].writes.count)
        hg_text_addf(about, ", writes the environment for those that follow");
    if (plan_waits(plan, inst)) hg_text_addf(about, ", waits until the host has the values");
}

static void tell_plan(const hg_plan *plan, hg_text *about) {
    if (plan->steps.count == 0) return;
    hg_text_addf(about, "The program has whole-array steps: the kernels run in this order, each over all lanes.\n");
    for (uint64_t i = 0; i < plan->code.count; i++) {
        const plan_inst *inst = &plan->code.data[i];
        hg_text_addf(about, "  %llu: ", (unsigned long long)i);
        if (inst->op == PLAN_KERNEL)
            hg_text_addf(about, "%s%s", plan->kernels.data[inst->index].module->name,
                         plan->kernels.data[inst->index].single_lane ? ", one lane" : "");
        else if (inst->op == PLAN_STEP)
            hg_text_addf(about, "step %s.%s", hg_op_get((hg_op)plan->steps.data[inst->index].op)->text,
                         hg_type_name((hg_type)plan->steps.data[inst->index].atlas_type));
        else if (inst->op == PLAN_JUMP)
            hg_text_addf(about, "go to %u", (unsigned)inst->target);
        else if (inst->op == PLAN_JUMP_UNLESS)
            hg_text_addf(about, "unless environment byte %u go to %u", (unsigned)plan->env.data[inst->index].offset,
                         (unsigned)inst->target);
        else
            hg_text_addf(about, "end");
        tell_waits(plan, inst, about);
        hg_text_addf(about, "\n");
    }
}

/* names: the legalised module, whose inputs the slots' numbers mean. */
static void tell_slot(const kir_module *names, const kir_slot *s, hg_text *about) {
    static const char *const own[] = {"", "class memory", "the fault record", "the handle table", "locks", "shared memory", "arena "};
    if (s->kind == KIR_SLOT_ARENA)
        hg_text_addf(about, "%s%llu\n", own[s->kind], (unsigned long long)s->handle);
    else if (s->kind != KIR_SLOT_MEMORY)
        hg_text_addf(about, "%s\n", own[s->kind]);
    else if (!s->constant && s->input < names->inputs.count)
        hg_text_addf(about, "input %u%s%s\n", (unsigned)s->input, names->inputs.data[s->input].name ? ", " : "",
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

static void tell_slots(const kir_module *names, const kir_module *m, hg_text *about) {
    for (uint64_t i = 0; i < m->slots.count; i++) {
        hg_text_addf(about, "%s, slot %llu: ", m->name, (unsigned long long)i);
        tell_slot(names, &m->slots.data[i], about);
    }
}

/* ---- the kernels of a program on a device: the plan's, then those that do its whole-array steps ---- */

typedef struct emit_kernel {
    kir_module *module;
    bool of_step;    /* of a step's expansion, which may be made many times */
    uint32_t lanes;  /* of a block; 0: as the program says */
    uint64_t shared; /* bytes, where lanes is not 0 */
} emit_kernel;
typedef HG_VEC(emit_kernel) emit_kernels;

static hg_status add_kernel(emit_kernels *list, emit_kernel k) {
    for (uint64_t i = list->count;
         i-- > 0 && k.of_step && list->data[i].of_step;) { /* one for all steps that are alike, after the program's */
        if (strcmp(list->data[i].module->name, k.module->name) != 0) continue;
        kir_module_destroy(k.module);
        return HG_OK;
    }
    emit_kernel *last = hg_vec_push(list);
    if (last)
        *last = k;
    else if (k.of_step)
        kir_module_destroy(k.module);
    return last ? HG_OK : hg_fail_memory();
}

/* The kernels that an expansion of the step launches. */
static hg_status add_launches(emit_kernels *list, const plan_expansion *x) {
    for (uint64_t i = 0; i < x->actions.count; i++) {
        const plan_action *action = &x->actions.data[i];
        if (action->kind != PLAN_LAUNCH) continue;
        kir_module *m = action->key.make(&action->key);
        if (!m) return hg_fail_memory();
        HG_TRY(add_kernel(list, (emit_kernel){.module = m, .of_step = true, .lanes = action->block[0], .shared = action->shared_bytes}));
    }
    return HG_OK;
}

static hg_status add_step(emit_kernels *list, const hg_plan *plan, const plan_step *step) {
    plan_expansion x = {0};
    plan_problem problem;
    if (!plan_collective_of((hg_op)step->op)) return HG_OK; /* pools are the runtime's */
    hg_status status = plan_expand_example(plan, step, &x, &problem);
    if (status == HG_OK && !problem.found) status = add_launches(list, &x);
    plan_expansion_free(&x);
    return status;
}

/* The list owns the plan's kernels from here on: each goes when it is printed. */
static hg_status collect_kernels(hg_plan *plan, emit_kernels *list) {
    for (uint64_t i = 0; i < plan->kernels.count; i++) {
        HG_TRY(add_kernel(list, (emit_kernel){.module = plan->kernels.data[i].module}));
        plan->kernels.data[i].module = NULL;
    }
    for (uint64_t i = 0; i < plan->steps.count; i++) HG_TRY(add_step(list, plan, &plan->steps.data[i]));
    return HG_OK;
}

static void free_kernels(emit_kernels *list) {
    for (uint64_t i = 0; i < list->count; i++) kir_module_destroy(list->data[i].module);
    hg_vec_free(list);
}

/* ---- one kernel in device form ---- */

typedef struct device_kernel {
    kir_module *low, *module;
    kir_device_layout layout;
    uint32_t group[3];
    uint64_t group_memory;
} device_kernel;

static void device_kernel_free(device_kernel *k) {
    kir_device_layout_free(&k->layout);
    kir_module_destroy(k->module);
    kir_module_destroy(k->low);
}

/* Blocks where the kernel needs them or they save divisions, as at a launch; the group is the program's block, else the usual one. */
static kir_device_options choose_form(const emit_options *o, const hg_program *program, const emit_kernel *kernel, const kir_module *low,
                                      uint32_t group[3]) {
    kir_device_options device = o->device;
    device.target = o->caps.target;
    device.distinct = UINT64_MAX; /* buffers do not overlap, as in most launches */
    if (!o->form_given)
        device.form = low->uses_barrier || low->uses_shared || kir_device_wants_blocks(low) ? KIR_FORM_BLOCK : KIR_FORM_FLAT;
    memcpy(group, o->group, 3 * sizeof *group);
    if (group[0]) return device;
    group[0] = device.form == KIR_FORM_FLAT ? 64 : 256;
    group[1] = group[2] = 1;
    if (device.form == KIR_FORM_BLOCK && kernel->lanes)
        group[0] = kernel->lanes;
    else if (device.form == KIR_FORM_BLOCK && program->block[0])
        memcpy(group, program->block, 3 * sizeof *group);
    return device;
}

static hg_status make_device_kernel(const emit_options *o, const hg_program *program, const emit_kernel *kernel, device_kernel *k) {
    kir_compilation c = compilation(o);
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, kernel->module, &k->low));
    kir_device_options device = choose_form(o, program, kernel, k->low, k->group);
    c.device = &device;
    c.layout = &k->layout;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_DEVICE, KIR_STAGE_DEVICE, k->low, &k->module));
    uint64_t shared = kernel->lanes ? kernel->shared : program->shared ? program->shared : HG_MAX_SHARED_BYTES_COMMON;
    if (k->layout.uses_group_memory) k->group_memory = k->layout.shared_reserved + shared;
    return HG_OK;
}

static hg_status print_device_kernel(const emit_options *o, const hg_program *program, const emit_kernel *kernel, const char *plan,
                                     hg_text *out) {
    device_kernel k = {0};
    hg_text about = {0};
    hg_status status = make_device_kernel(o, program, kernel, &k);
    if (status == HG_OK) {
        hg_text_addf(&about, "%s", plan);
        tell_slots(k.low, k.module, &about);
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

/* Each kernel on its own, one after another. */
static hg_status print_kernels(const emit_options *o, const hg_program *program, emit_kernels *list, const char *about, hg_text *out) {
    hg_status status = HG_OK;
    if (o->target->binary && list->count > 1 && o->kernel == HG_NONE)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the program has %llu kernels, a module holds one: choose it with --kernel 0 … %llu",
                       (unsigned long long)list->count, (unsigned long long)list->count - 1);
    if (o->kernel != HG_NONE && o->kernel >= list->count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "--kernel %llu: the program has %llu kernels, from 0", (unsigned long long)o->kernel,
                       (unsigned long long)list->count);
    for (uint64_t i = 0; i < list->count && status == HG_OK; i++) {
        if (o->kernel == HG_NONE || o->kernel == i)
            status = print_device_kernel(o, program, &list->data[i], out->length == 0 ? about : "", out);
        kir_module_destroy(list->data[i].module);
        list->data[i].module = NULL;
    }
    return status;
}

static hg_status print_device(const emit_options *o, const hg_program *program, hg_plan *plan, hg_text *out) {
    emit_kernels list = {0};
    hg_text about = {0};
    tell_plan(plan, &about); /* names the kernels */
    hg_status status = about.failed ? hg_fail_memory() : collect_kernels(plan, &list);
    if (status == HG_OK) status = print_kernels(o, program, &list, about.data ? about.data : "", out);
    hg_text_free(&about);
    free_kernels(&list);
    return status;
}

/* ---- lanes: every kernel in one text ---- */

static hg_status print_lanes(const emit_options *o, hg_plan *plan, hg_text *text) {
    uint32_t count = (uint32_t)plan->kernels.count;
    hg_text about = {0};
    kir_module **low = hg_calloc(count + 1, sizeof *low);
    hg_status status = low ? HG_OK : hg_fail_memory();
    tell_plan(plan, &about);
    for (uint32_t i = 0; i < count && status == HG_OK; i++) {
        kir_compilation c = compilation(o);
        status = kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, plan->kernels.data[i].module, &low[i]);
        if (status == HG_OK) tell_slots(low[i], low[i], &about);
        if (low[i] != plan->kernels.data[i].module) kir_module_destroy(plan->kernels.data[i].module);
        plan->kernels.data[i].module = NULL;
    }
    emit_input in = {
        .kernels = (const kir_module *const *)low, .count = count, .caps = &o->caps.kir, .about = about.data ? about.data : ""};
    if (status == HG_OK) status = o->target->print(o->target, &in, text);
    for (uint32_t i = 0; i < count && low; i++) kir_module_destroy(low[i]);
    hg_free(low);
    hg_text_free(&about);
    return status;
}

/* ---- the whole program ---- */

static hg_status print_program(const emit_options *o, kir_module *module, hg_text *text) {
    kir_compilation c = compilation(o);
    kir_module *shown = NULL;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, o->caps.name ? KIR_STAGE_LOW : KIR_STAGE_KERNEL, module, &shown));
    bool owned = shown != module;
    hg_status status = kir_pass_run(&c, KIR_STAGE_LOW, KIR_PASS_UNIFORMITY, &shown, &owned); /* shown beside the values */
    const kir_module *const modules[] = {shown};
    if (status == HG_OK) status = o->target->print(o->target, &(emit_input){.kernels = modules, .count = 1, .about = ""}, text);
    if (owned) kir_module_destroy(shown);
    return status;
}

static hg_status lower(const hg_program *program, const emit_options *o, hg_text *text) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    kir_compilation c = compilation(o);
    c.program = cfg;
    hg_status status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module);
    bool whole = o->target->form == EMIT_PROGRAM && !o->device_form; /* steps and all */
    if (status == HG_OK && whole && module->has_step && o->caps.name)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "--caps with --target %s: the program has whole-array steps; --form shows its kernels",
                         o->target->name);
    if (status == HG_OK && whole) status = print_program(o, module, text);
    if (status == HG_OK && !whole) {
        status = plan_build(module, o->target->form == EMIT_LANES ? PLAN_READS_INPUTS : PLAN_READS_MEMORY, &plan);
        if (status == HG_OK) module = NULL; /* the plan's now */
        if (status == HG_OK) status = o->target->form == EMIT_LANES ? print_lanes(o, plan, text) : print_device(o, program, plan, text);
    }
    plan_destroy(plan);
    kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status == HG_OK && text->failed ? hg_fail_memory() : status;
}

/* ---- options ---- */

static bool read_target(cli *c, const char *name, emit_options *o) {
    hg_text known = {0};
    o->target = emitter_find(name);
    for (uint32_t i = 0; emitter_get(i); i++)
        hg_text_addf(&known, "%s%s", !i ? "" : emitter_get(i + 1) ? ", " : " or ", emitter_get(i)->name);
    if (!o->target) cli_usage(c, "--target expects %s, got '%s'", known.data ? known.data : "a name", name ? name : "nothing");
    hg_text_free(&known);
    return o->target != NULL;
}

/* What a target takes without --caps: the first of its row. */
static bool find_caps(cli *c, const char *caps, emit_options *o) {
    char first[32];
    if (!caps) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(o->target->caps, " "), o->target->caps);
        caps = first;
    }
    return cli_capset_find(c, "--caps", caps, &o->caps);
}

static bool read_caps(cli *c, const char *caps, const char *pretend, emit_options *o) {
    if (caps && pretend) {
        cli_usage(c, "--caps and --pretend exclude each other");
        return false;
    }
    if (pretend && strcmp(pretend, "poor") != 0) {
        cli_usage(c, "--pretend expects poor, got '%s'", pretend);
        return false;
    }
    if ((caps || pretend) && o->target->form == EMIT_LANES) {
        cli_usage(c, "%s is for devices, not for --target %s", caps ? "--caps" : "--pretend", o->target->name);
        return false;
    }
    if (pretend) caps = "poor";
    if (caps || o->target->form == EMIT_DEVICE || o->device_form) return find_caps(c, caps, o);
    if (o->target->form == EMIT_LANES) emit_c_caps(&o->caps.kir);
    return true;
}

static bool read_form(cli *c, const char *form, const char *group, const char *fold, const char *kernel, emit_options *o) {
    uint64_t lanes = 1;
    o->device.small = true;
    o->kernel = HG_NONE;
    if (form && strcmp(form, "flat") != 0 && strcmp(form, "block") != 0) {
        cli_usage(c, "--form expects flat or block, got '%s'", form);
        return false;
    }
    o->form_given = form != NULL;
    o->device_form = form || group || fold;
    if (form && form[0] == 'b') o->device.form = KIR_FORM_BLOCK;
    if (!cli_number(c, "--fold", fold, HG_MAX_BLOCK_LANES, &lanes) || !cli_number(c, "--kernel", kernel, UINT32_MAX, &o->kernel))
        return false;
    o->device.fold = (uint32_t)lanes;
    if (group && (!cli_triple(c, "--group", group, o->group) || !o->group[0] || !o->group[1] || !o->group[2])) {
        if (c->status == CLI_OK) cli_usage(c, "--group: no extent can be 0");
        return false;
    }
    if (o->device_form && o->target->form == EMIT_LANES) {
        cli_usage(c, "--form, --group and --fold are for devices, not for --target %s", o->target->name);
        return false;
    }
    return true;
}

static bool read_passes(cli *c, const char *print_after, pass_report *report) {
    char known[256] = "";
    report->print_after = print_after ? print_after : "";
    if (!print_after || strcmp(print_after, "all") == 0 || kir_pass_find(print_after) != KIR_PASS_COUNT) return true;
    for (int i = 0; i < KIR_PASS_COUNT; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s, ", kir_pass_get((kir_pass_id)i)->name);
    }
    cli_usage(c, "--print-after expects one of %sall, got '%s'", known, print_after);
    return false;
}

static bool may_write(cli *c, const emit_options *o, const char *out) {
    if (!o->target->binary || (out && strcmp(out, "-") != 0)) return true;
    if (c->json)
        cli_usage(c, "--json needs -o FILE");
    else if (isatty(STDOUT_FILENO))
        cli_usage(c, "--target %s is not for a terminal: use -o FILE, or a target of text", o->target->name);
    return c->status == CLI_OK;
}

/* ---- the list of targets ---- */

static void add_caps(hg_json *json, const emitter *row) {
    hg_json_key(json, "caps");
    hg_json_begin_array(json);
    for (const char *at = row->caps; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        hg_json_string(json, at, length);
        at += length;
    }
    hg_json_end_array(json);
}

static void list_targets(cli *c) {
    static const char *const FORMS[] = {[EMIT_PROGRAM] = "program", [EMIT_LANES] = "lanes", [EMIT_DEVICE] = "device"};
    for (uint32_t i = 0; emitter_get(i); i++) {
        const emitter *row = emitter_get(i);
        if (!c->json) {
            cli_out(c, "%-10s .%-7s %-7s %s\n", row->name, row->suffix, row->binary ? "binary" : "text", row->about);
            continue;
        }
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_text(&json, "name", row->name);
        hg_json_add_text(&json, "suffix", row->suffix);
        hg_json_add_bool(&json, "binary", row->binary);
        hg_json_add_text(&json, "form", FORMS[row->form]);
        add_caps(&json, row);
        hg_json_add_text(&json, "about", row->about);
        hg_json_end_object(&json);
    }
}

int command_emit(int argc, char **argv) {
    cli c = {0};
    emit_options o = {0};
    const char *out = NULL, *output = NULL, *name = NULL, *caps = NULL, *pretend = NULL, *form = NULL, *group = NULL, *fold = NULL,
               *kernel = NULL, *print_after = NULL;
    bool large = false, no_addresses = false, list = false;
    pass_report report = {0};
    const kir_pass_watch watch = {after_pass, &report};
    const cli_option options[] = {
        {"-o", &out, NULL, false},
        {"--output", &output, NULL, false},
        {"--target", &name, NULL, false},
        {"--caps", &caps, NULL, false},
        {"--pretend", &pretend, NULL, false},
        {"--form", &form, NULL, false},
        {"--group", &group, NULL, false},
        {"--fold", &fold, NULL, false},
        {"--kernel", &kernel, NULL, false},
        {"--list", NULL, &list, false},
        {"--large", NULL, &large, false},
        {"--proven", NULL, &o.device.proven, false},
        {"--whole-blocks", NULL, &o.device.whole_blocks, false},
        {"--descriptors", NULL, &no_addresses, false},
        {"-g", NULL, &o.debug, false},
        {"--print-after", &print_after, NULL, false},
        {"--time-passes", NULL, &report.time, false},
        {"--verify-passes", NULL, &o.verify, false},
    };
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (list) {
        if (c.arguments.count)
            cli_usage(&c, "--list expects no argument, got '%s'", c.arguments.data[0]);
        else
            list_targets(&c);
        return cli_finish(&c);
    }
    if (!cli_one_file(&c)) return cli_finish(&c);
    if (!out) out = output;
    if (!read_target(&c, name, &o) || !read_form(&c, form, group, fold, kernel, &o) || !read_caps(&c, caps, pretend, &o))
        return cli_finish(&c);
    if (!read_passes(&c, print_after, &report)) return cli_finish(&c);
    if (print_after || report.time) o.watch = &watch;
    o.device.small = !large;
    if (no_addresses) o.caps.target.addressed = false;
    if (may_write(&c, &o, out) && cli_load(&c, c.arguments.data[0]) && cli_verify(&c)) {
        hg_text text = {0};
        if (lower(c.program, &o, &text) != HG_OK)
            cli_last_error(&c);
        else
            cli_write(&c, out, text.data ? text.data : "", text.length);
        hg_text_free(&text);
        if (report.time) print_times(&report);
    }
    return cli_finish(&c);
}
