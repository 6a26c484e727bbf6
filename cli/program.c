/* asm, disasm, verify, emit: programs in, text or containers out. */
#include "cli.h"
#include "emit/emit.h"
#include "isa/cfg.h"
#include "kir/kir.h"
#include "plan/plan.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool one_file(cli *c) {
    if (c->arguments.count == 1) return true;
    cli_usage(c, "expects one FILE, got %llu", (unsigned long long)c->arguments.count);
    return false;
}

/* To -o FILE, else to standard output with everything else of the command. */
static void write_out(cli *c, const char *path, const void *bytes, size_t length) {
    if (!path || strcmp(path, "-") == 0) {
        if (!c->json) hg_text_add(&c->outputs, bytes, length);
        return;
    }
    if (hg_file_write(path, bytes, length) != HG_OK) cli_last_error(c);
}

int command_asm(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL;
    bool debug = false;
    const cli_option options[] = {{"-o", &out, NULL, false}, {"-g", NULL, &debug, false}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !one_file(&c)) return cli_finish(&c);
    bool to_output = !out || strcmp(out, "-") == 0;
    if (to_output && c.json)
        cli_usage(&c, "--json needs -o FILE");
    else if (to_output && isatty(STDOUT_FILENO))
        cli_usage(&c, "a container is not for a terminal: use -o FILE");
    else if (cli_load(&c, c.arguments.data[0]) && cli_verify(&c)) {
        uint8_t *bytes = NULL;
        size_t length = 0;
        if (hg_program_encode(c.program, debug ? HG_PROGRAM_DEBUG : 0, &bytes, &length) != HG_OK)
            cli_last_error(&c);
        else
            write_out(&c, out, bytes, length);
        hg_string_free((char *)bytes);
    }
    return cli_finish(&c);
}

int command_disasm(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL;
    const cli_option options[] = {{"-o", &out, NULL, false}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !one_file(&c)) return cli_finish(&c);
    if (cli_load(&c, c.arguments.data[0])) {
        char *text = NULL;
        size_t length = 0;
        if (hg_program_print(c.program, &text, &length) != HG_OK)
            cli_last_error(&c);
        else
            write_out(&c, out, text, length);
        hg_string_free(text);
    }
    return cli_finish(&c);
}

/* Each file is reported on its own; the worst status is the command's. */
int command_verify(int argc, char **argv) {
    cli c = {0};
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count == 0) {
        cli_usage(&c, "expects at least one FILE");
        return cli_finish(&c);
    }
    uint64_t most = 20;
    (void)cli_number(&c, "--max-errors", c.max_errors, UINT32_MAX, &most);
    for (uint64_t i = 0; i < c.arguments.count; i++) {
        cli one = {.command = c.command, .json = c.json, .diagnostics = hg_diagnostics_create((uint32_t)most)};
        if (cli_load(&one, c.arguments.data[i]) && cli_verify(&one) && !c.json)
            cli_out(&one, "%s: ok, %zu instructions\n", one.file, hg_program_len(one.program));
        cli_join(&c, &one);
    }
    return cli_finish(&c);
}

/* ---- emit ---- */

static void tell_plan(const hg_plan *plan, hg_text *about) {
    if (plan->steps.count == 0) return;
    hg_text_addf(about, "The program has whole-array steps: the kernels run in this order, each over all lanes.\n");
    for (uint64_t i = 0; i < plan->code.count; i++) {
        const plan_inst *inst = &plan->code.data[i];
        hg_text_addf(about, "  %llu: ", (unsigned long long)i);
        if (inst->op == PLAN_KERNEL)
            hg_text_addf(about, "%s%s\n", plan->kernels.data[inst->index].module->name,
                         plan->kernels.data[inst->index].single_lane ? ", one lane" : "");
        else if (inst->op == PLAN_STEP)
            hg_text_addf(about, "step %s.%s\n", hg_op_get((hg_op)plan->steps.data[inst->index].op)->text,
                         hg_type_name((hg_type)plan->steps.data[inst->index].atlas_type));
        else if (inst->op == PLAN_JUMP)
            hg_text_addf(about, "go to %u\n", (unsigned)inst->target);
        else if (inst->op == PLAN_JUMP_UNLESS)
            hg_text_addf(about, "unless environment byte %u go to %u\n", (unsigned)plan->env.data[inst->index].offset,
                         (unsigned)inst->target);
        else
            hg_text_addf(about, "end\n");
    }
}

static void tell_slots(const kir_module *m, hg_text *about) {
    for (uint64_t i = 0; i < m->slots.count; i++) {
        const kir_slot *s = &m->slots.data[i];
        hg_text_addf(about, "%s, slot %llu: ", m->name, (unsigned long long)i);
        if (!s->constant)
            hg_text_addf(about, "input %u%s%s\n", (unsigned)s->input, m->inputs.data[s->input].name ? ", " : "",
                         m->inputs.data[s->input].name ? m->inputs.data[s->input].name : "");
        else if (s->plan == KIR_PLAN_ENV)
            hg_text_addf(about, "the plan's environment\n");
        else if (s->plan == KIR_PLAN_SCRATCH)
            hg_text_addf(about, "scratch memory\n");
        else
            hg_text_addf(about, "handle %llu\n", (unsigned long long)s->handle);
    }
}

static hg_status emit_plan(hg_plan *plan, hg_text *text) {
    uint32_t count = (uint32_t)plan->kernels.count;
    hg_text about = {0};
    kir_caps caps;
    emit_c_caps(&caps);
    kir_module **low = hg_calloc(count + 1, sizeof *low);
    hg_status status = low ? HG_OK : hg_fail_memory();
    tell_plan(plan, &about);
    for (uint32_t i = 0; i < count && status == HG_OK; i++) {
        kir_module *m = plan->kernels.data[i].module;
        if (plan->steps.count) status = kir_simplify(m);
        if (status == HG_OK) status = kir_provenance(m);
        if (status == HG_OK) status = kir_legalise(m, &caps, &low[i]);
        if (status == HG_OK) status = kir_simplify(low[i]);
        if (status == HG_OK) tell_slots(low[i], &about);
    }
    if (status == HG_OK) status = emit_c((const kir_module *const *)low, count, about.data ? about.data : "", EMIT_C, text);
    for (uint32_t i = 0; i < count && low; i++) kir_module_destroy(low[i]);
    hg_free(low);
    hg_text_free(&about);
    return status;
}

static hg_status lower(const hg_program *program, const char *target, hg_text *text) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    kir_build_options options = {0};
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    hg_status status = kir_build(cfg, &options, &module);
    if (status == HG_OK) status = kir_simplify(module);
    if (status == HG_OK && strcmp(target, "kir") == 0) {
        status = kir_provenance(module);
        if (status == HG_OK) kir_shapes(module, module->uses_barrier || module->uses_shared);
        if (status == HG_OK) kir_print(text, module);
    } else if (status == HG_OK) {
        status = plan_build(module, &plan);
        if (status == HG_OK) {
            module = NULL; /* the plan's now */
            status = emit_plan(plan, text);
        }
    }
    plan_destroy(plan);
    kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status == HG_OK && text->failed ? hg_fail_memory() : status;
}

int command_emit(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL, *target = NULL;
    const cli_option options[] = {{"-o", &out, NULL, false}, {"--target", &target, NULL, false}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !one_file(&c)) return cli_finish(&c);
    if (!target || (strcmp(target, "kir") != 0 && strcmp(target, "c") != 0)) {
        cli_usage(&c, "--target expects kir or c, got '%s'", target ? target : "nothing");
        return cli_finish(&c);
    }
    if (cli_load(&c, c.arguments.data[0]) && cli_verify(&c)) {
        hg_text text = {0};
        if (lower(c.program, target, &text) != HG_OK)
            cli_last_error(&c);
        else
            write_out(&c, out, text.data ? text.data : "", text.length);
        hg_text_free(&text);
    }
    return cli_finish(&c);
}
