/* hologram run: one launch over arrays from files and the command line. */
#include "arrays.h"
#include <stdio.h>
#include <string.h>

typedef struct run_options {
    const char *lanes, *grid, *block, *shared, *timeout, *max_steps, *backend, *device;
    bool check_races;
} run_options;

static bool open_backend(cli *c, const run_options *o, hg_backend **backend) {
    hg_config config;
    uint64_t device;
    if (hg_config_from_env(&config) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    device = config.device_id;
    if (!cli_number(c, "--device", o->device, UINT32_MAX, &device)) return false;
    config.device_id = (uint32_t)device;
    if (o->backend) snprintf(config.backend, sizeof config.backend, "%s", o->backend);
    if (o->check_races) {
        config.check_races = true;
        config.num_threads = 1;
    }
    if (hg_backend_create_with_config(&config, backend) == HG_OK) return true;
    cli_last_error(c);
    return false;
}

/* Lanes, grid and block of assembly.md 5.1 (6). */
static bool shape_launch(cli *c, const run_options *o, const cli_values *values, hg_launch *launch) {
    const hg_program *p = c->program;
    uint64_t lanes = 1, value;
    uint32_t block[3] = {0, 0, 0};
    if (o->lanes && o->grid) {
        cli_usage(c, "--lanes and --grid exclude each other");
        return false;
    }
    if (o->block && !cli_triple(c, "--block", o->block, block)) return false;
    bool has_block = o->block != NULL;
    if (!has_block && p->block[0]) {
        memcpy(block, p->block, sizeof block);
        has_block = true;
    }
    if (o->grid) {
        if (!cli_triple(c, "--grid", o->grid, launch->grid)) return false;
        for (int i = 0; i < 3; i++) launch->block[i] = has_block ? block[i] : 1;
        return true;
    }
    for (uint32_t i = 0; i < p->lanes_count; i++) {
        (void)cli_extent(values, &p->lanes[i], &value);
        if (!hg_mul_u64(lanes, value, &lanes)) lanes = UINT64_MAX;
    }
    if (!cli_number(c, "--lanes", o->lanes, UINT64_MAX, &lanes)) return false;
    if (lanes > HG_MAX_LANES) {
        cli_error(c, "P08", "launch too large: %llu lanes, at most %llu", (unsigned long long)lanes, (unsigned long long)HG_MAX_LANES);
        return false;
    }
    hg_launch linear = hg_launch_linear(lanes);
    if (has_block) {
        uint64_t per_block = (uint64_t)block[0] * block[1] * block[2];
        uint64_t blocks = per_block ? lanes / per_block + (lanes % per_block != 0) : 0;
        memcpy(linear.block, block, sizeof block);
        linear.grid[0] = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks;
        linear.grid[1] = blocks > UINT32_MAX ? (uint32_t)((blocks + UINT32_MAX - 1) / UINT32_MAX) : 1;
    }
    *launch = linear;
    return true;
}

static bool prepare_launch(cli *c, const run_options *o, const cli_values *values, hg_launch *launch) {
    *launch = hg_launch_default();
    if (!shape_launch(c, o, values, launch)) return false;
    uint64_t timeout = 0;
    if (!cli_number(c, "--shared", o->shared, HG_MAX_SHARED_BYTES, &launch->shared_memory)) return false;
    if (!cli_number(c, "--timeout", o->timeout, UINT64_MAX / 1000000, &timeout)) return false;
    if (!cli_number(c, "--max-steps", o->max_steps, UINT64_MAX, &launch->max_steps)) return false;
    launch->timeout_ms = o->timeout ? (timeout ? timeout : UINT64_MAX) : 0;
    c->block_lanes = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return true;
}

static hg_status upload(hg_backend *b, cli_values *values, hg_params *params) {
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        const char *name = v->param->name;
        if (v->param->kind == HG_PARAM_SCALAR) {
            HG_TRY(hg_params_set_scalar(params, name, (hg_type)v->param->type, v->scalar));
        } else if (v->param->kind == HG_PARAM_POOL) {
            HG_TRY(hg_backend_allocate_pool(b, v->param->pool_bytes, &v->pool));
            HG_TRY(hg_params_set_pool(params, name, v->pool));
        } else {
            HG_TRY(hg_backend_allocate_buffer(b, v->bytes, &v->buffer));
            if (v->bound) HG_TRY(hg_buffer_write(b, v->buffer, 0, v->data, v->bytes));
            HG_TRY(hg_params_set_buffer(params, name, v->buffer));
        }
    }
    return HG_OK;
}

static hg_status collect_one(cli *c, hg_backend *b, const cli_value *v, hg_outputs *outputs, hg_text *printed) {
    hg_bytes bytes = {0};
    HG_TRY(hg_bytes_alloc(v->bytes, &bytes));
    hg_status status = hg_buffer_read(b, v->buffer, 0, bytes.data, v->bytes);
    if (status == HG_OK && v->out) status = hg_outputs_add_array(outputs, v->out, (hg_type)v->param->type, v->rank, v->extent, bytes.data);
    if (status == HG_OK) cli_print_array(c, printed, v, bytes.data, v->out);
    hg_bytes_free(&bytes);
    return status;
}

static hg_status collect(cli *c, hg_backend *b, const cli_values *values) {
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

static void execute(cli *c, const run_options *o) {
    cli_values values = {0};
    hg_backend *b = NULL;
    hg_launch launch;
    if (cli_values_read(c, &values) && prepare_launch(c, o, &values, &launch) && open_backend(c, o, &b)) {
        hg_params *params = hg_params_create();
        hg_status status = params ? upload(b, &values, params) : hg_fail_memory();
        if (status == HG_OK) status = hg_backend_execute_program_with_params(b, c->program, &launch, params);
        if (status == HG_OK) status = collect(c, b, &values);
        if (status != HG_OK) cli_last_error(c);
        hg_params_destroy(params);
    }
    hg_backend_destroy(b);
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
    run_options o = {0};
    const cli_option options[] = {
        {"--in", NULL, NULL, true},
        {"--out", NULL, NULL, true},
        {"--set", NULL, NULL, true},
        {"--shape", NULL, NULL, true},
        {"--lanes", &o.lanes, NULL, false},
        {"--grid", &o.grid, NULL, false},
        {"--block", &o.block, NULL, false},
        {"--shared", &o.shared, NULL, false},
        {"--timeout", &o.timeout, NULL, false},
        {"--max-steps", &o.max_steps, NULL, false},
        {"--backend", &o.backend, NULL, false},
        {"--device", &o.device, NULL, false},
        {"--check-races", NULL, &o.check_races, false},
    };
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (c.arguments.count != 1)
        cli_usage(&c, "expects one PROGRAM, got %llu", (unsigned long long)c.arguments.count);
    else if (!json_to_output(&c) && cli_load(&c, c.arguments.data[0]) && cli_verify(&c))
        execute(&c, &o);
    return cli_finish(&c);
}
