/* hologram run: one launch over arrays from files and the command line. */
#include "launch.h"
#include <string.h>

static hg_status collect_one(cli *c, hg_backend *b, const cli_value *v, hg_outputs *outputs, hg_text *printed) {
    hg_bytes bytes = {0};
    const uint8_t *data = v->result.data;
    hg_status status = HG_OK;
    if (!data) {
        HG_TRY(hg_bytes_alloc(v->bytes, &bytes));
        data = bytes.data;
        status = hg_buffer_read(b, v->buffer, 0, bytes.data, v->bytes);
    }
    if (status == HG_OK && v->out) status = hg_outputs_add_array(outputs, v->out, (hg_type)v->param->type, v->rank, v->extent, data);
    if (status == HG_OK) cli_print_array(c, printed, v, data, v->out);
    hg_bytes_free(&bytes);
    return status;
}

hg_status cli_collect(cli *c, hg_backend *b, const cli_values *values) {
    hg_outputs *outputs = hg_outputs_create();
    hg_text printed = {0};
    hg_status status = outputs ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < values->count && status == HG_OK; i++) {
        const hg_param *p = values->data[i].param;
        if (p->kind == HG_PARAM_BUFFER && p->dir != HG_DIR_IN) status = collect_one(c, b, &values->data[i], outputs, &printed);
    }
    if (status == HG_OK && printed.failed) status = hg_fail_memory();
    /* what goes to standard output goes first: if nobody takes it, no file is touched */
    if (status == HG_OK && !c->json) status = cli_print_now(printed.data, printed.length);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    if (status == HG_OK && c->json && printed.data) hg_text_add(&c->outputs, printed.data, printed.length);
    hg_text_free(&printed);
    hg_outputs_destroy(outputs);
    return status;
}

static void execute(cli *c, const cli_launch *o) {
    cli_values values = {0};
    hg_backend *b = NULL;
    hg_launch launch;
    if (cli_values_read(c, &values) && cli_prepare_launch(c, o, &values, &launch) && cli_open_backend(c, o, &b)) {
        hg_params *params = hg_params_create();
        hg_status status = params ? cli_upload(b, &values, params) : hg_fail_memory();
        if (status == HG_OK) status = hg_backend_execute_program_with_params(b, c->program, &launch, params);
        if (status == HG_OK) status = cli_collect(c, b, &values);
        if (status != HG_OK) cli_last_error(c);
        hg_params_destroy(params);
    }
    cli_close_backend(c, o, b);
    cli_values_free(&values);
}

static bool json_to_output(cli *c) {
    for (uint64_t i = 0; i < c->pairs.count; i++)
        if (strcmp(c->pairs.data[i].option, "--out") == 0 && strcmp(c->pairs.data[i].value, "-") == 0 && c->json) {
            cli_usage(c, "--json and an output on standard output exclude each other");
            return true;
        }
    return false;
}

int command_run(int argc, char **argv) {
    cli c = {0};
    cli_launch o = {0};
    bool canonicalise = false, variants = false;
    const char *expression = NULL;
    const cli_option options[] = {
        {"--in", NULL, NULL, true},
        {"--out", NULL, NULL, true},
        {"--set", NULL, NULL, true},
        {"--shape", NULL, NULL, true},
        CLI_LAUNCH_OPTIONS(o),
        {"--backend", &o.backend, NULL, false},
        {"--device", &o.device, NULL, false},
        {"--profile", &o.profile, NULL, false},
        {"--check-races", NULL, &o.check_races, false},
        {"--canonicalise", NULL, &canonicalise, false},
        {"--variants", NULL, &variants, false},
        {"-e", &expression, NULL, false},
    };
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    c.circuit_options.canonicalise = canonicalise ? HG_CANONICALISE_SOUND : HG_CANONICALISE_OFF;
    c.circuit_options.variants = variants;
    if (c.arguments.count + (expression != NULL) != 1)
        cli_usage(&c, "expects one PROGRAM or -e CIRCUIT, got %llu", (unsigned long long)c.arguments.count + (expression != NULL));
    else if (json_to_output(&c))
        ;
    else if (!(expression ? cli_load_circuit(&c, expression) : cli_load(&c, c.arguments.data[0])) || !cli_verify(&c))
        ;
    else if (c.circuit.program)
        cli_run_circuit(&c, &o);
    else if (canonicalise || variants)
        cli_usage(&c, "%s is for circuits", canonicalise ? "--canonicalise" : "--variants");
    else
        execute(&c, &o);
    return cli_finish(&c);
}
