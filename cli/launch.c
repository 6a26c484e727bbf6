/* The backend, the launch and the buffers of a run, from the command line. Must not know: outputs.
 */
#include "launch.h"
#include "ranks.h"
#include <stdio.h>
#include <string.h>

bool cli_read_device(cli *c, const char *option, const char *text, size_t length,
                     hg_config *config) {
    char number[64];
    uint64_t device = 0;
    const char *colon = memchr(text, ':', length);
    size_t name = colon ? (size_t)(colon - text) : length;
    if (name >= sizeof config->backend) {
        cli_error(c, "X03", "Invalid backend type: %.*s", (int)length, text);
        return false;
    }
    snprintf(number, sizeof number, "%.*s", colon ? (int)(length - name - 1) : 0,
             colon ? colon + 1 : "");
    if (colon && !cli_number(c, option, number, UINT32_MAX, &device)) return false;
    config->device_id = (uint32_t)device;
    memcpy(config->backend, text, name);
    config->backend[name] = '\0';
    return true;
}

bool cli_set_steps(cli *c, const cli_launch *o, hg_config *config) {
    if (o->deterministic) config->deterministic = true;
    if (!o->vendor) return true;
    if (strcmp(o->vendor, "auto") == 0 || strcmp(o->vendor, "on") == 0 ||
        strcmp(o->vendor, "off") == 0) {
        snprintf(config->vendor, sizeof config->vendor, "%s", o->vendor);
        return true;
    }
    cli_usage(c, "--vendor is auto, on or off, got '%s'", o->vendor);
    return false;
}

/* A process among others: it has its number when the backend is open. */
static bool is_process(const cli *c) { return c->rank && !c->rank->meeting; }

/* Rank 0 alone writes it; processes record without a file. */
static void set_profile(const cli *c, const cli_launch *o, hg_config *config) {
    if (!o->profile) return;
    config->profiling |= is_process(c);
    if (is_process(c))
        config->profile_file = "";
    else if (!c->rank || !c->rank->number)
        config->profile_file = o->profile;
}

/* What options say over the configuration. False after reporting. */
static bool set_config(cli *c, const cli_launch *o, hg_config *config) {
    uint64_t device;
    if (hg_config_load(NULL, config) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    device = config->device_id;
    if (!cli_number(c, "--device", o->device, UINT32_MAX, &device)) return false;
    config->device_id = (uint32_t)device;
    if (o->backend) snprintf(config->backend, sizeof config->backend, "%s", o->backend);
    if (o->check_races) {
        config->check_races = true;
        config->num_threads = 1;
    }
    set_profile(c, o, config);
    cli_rank_threads(c, config);
    config->max_memory = c->max_memory;
    return cli_set_steps(c, o, config) &&
           cli_number(c, "--compile-timeout", o->compile_timeout, UINT64_MAX / 1000000,
                      &config->compile_timeout_ms);
}

bool cli_names_several(const cli_launch *o) { return o->backend && strchr(o->backend, '+'); }

bool cli_open_several(cli *c, const cli_launch *o, hg_multi_gpu **devices) {
    enum { MOST = 16 };
    hg_config configs[MOST];
    const char *name = o->backend;
    size_t count = 0;
    if (c->rank || o->device || o->check_races) {
        cli_usage(c, "--backend %s does not go together with %s", o->backend,
                  c->rank     ? "--ranks"
                  : o->device ? "--device: write cpu+opencl:1"
                              : "--check-races");
        return false;
    }
    for (bool more = true; more; count++) {
        size_t length = strcspn(name, "+");
        if (count == MOST) {
            cli_usage(c, "--backend %s: at most %d devices", o->backend, (int)MOST);
            return false;
        }
        if (!length) {
            cli_usage(c, "--backend %s: a name is missing", o->backend);
            return false;
        }
        if (!set_config(c, o, &configs[count]) ||
            !cli_read_device(c, "--backend", name, length, &configs[count]))
            return false;
        configs[count].deterministic = true;
        if (count) configs[count].profile_file = NULL;
        more = name[length] == '+';
        name += length + more;
    }
    if (dist_open_devices(configs, count, devices) == HG_OK &&
        cli_memory_share(c, hg_multi_gpu_backend(*devices, 0)) == HG_OK)
        return true;
    cli_last_error(c);
    return false;
}

bool cli_open_backend(cli *c, const cli_launch *o, hg_backend **backend) {
    hg_config config;
    if (!set_config(c, o, &config)) return false;
    if (cli_device_open(&config, backend) == HG_OK && cli_memory_share(c, *backend) == HG_OK)
        return cli_rank_join(c, *backend);
    cli_last_error(c);
    return false;
}

bool cli_open_rank(cli *c, const cli_launch *o, hg_backend **backend) {
    return !c->rank || cli_open_backend(c, o, backend);
}

/* Exactly so many lanes, in blocks where there are some. */
static void set_lanes(hg_launch *launch, uint64_t lanes, const uint32_t *block) {
    *launch = hg_launch_linear(lanes);
    if (!block) return;
    uint64_t per_block = (uint64_t)block[0] * block[1] * block[2];
    uint64_t blocks = per_block ? lanes / per_block + (lanes % per_block != 0) : 0;
    memcpy(launch->block, block, sizeof launch->block);
    launch->grid[0] = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks;
    launch->grid[1] = blocks > UINT32_MAX ? (uint32_t)((blocks + UINT32_MAX - 1) / UINT32_MAX) : 1;
}

/* The blocks that .grid says. */
static bool program_grid(cli *c, const cli_values *values, uint32_t grid[3]) {
    const hg_program *p = c->program;
    for (uint32_t i = 0; i < p->grid_count; i++) {
        uint64_t value;
        hg_extent_status status = cli_extent(values, &p->grid[i], &value);
        if (status != HG_EXTENT_KNOWN)
            return cli_extent_error(c, values, ".grid", NULL, &p->grid[i], status);
        if (value > UINT32_MAX) {
            cli_error(c, "P08", "launch too large: %llu blocks in a direction, at most %llu",
                      (unsigned long long)value, (unsigned long long)UINT32_MAX);
            return false;
        }
        grid[i] = (uint32_t)value;
    }
    return true;
}

static bool program_lanes(cli *c, const cli_values *values, uint64_t *lanes) {
    const hg_program *p = c->program;
    uint64_t value;
    *lanes = 1;
    for (uint32_t i = 0; i < p->lanes_count; i++) {
        hg_extent_status status = cli_extent(values, &p->lanes[i], &value);
        if (status != HG_EXTENT_KNOWN)
            return cli_extent_error(c, values, ".lanes", NULL, &p->lanes[i], status);
        if (!hg_mul_u64(*lanes, value, lanes)) *lanes = UINT64_MAX;
    }
    return true;
}

/* Lanes, grid and block of language.md 5.1 (6). */
static bool shape_launch(cli *c, const cli_launch *o, const cli_values *values, hg_launch *launch) {
    const hg_program *p = c->program;
    uint64_t lanes;
    uint32_t given[3] = {1, 1, 1};
    const uint32_t *block = o->block ? given : p->block[0] ? p->block : NULL;
    if (o->lanes && o->grid) {
        cli_usage(c, "--lanes and --grid exclude each other");
        return false;
    }
    if (o->block && !cli_triple(c, "--block", o->block, given)) return false;
    if (!given[0] || !given[1] || !given[2]) {
        cli_usage(c, "--block: no extent can be 0, got '%s'", o->block);
        return false;
    }
    bool one_block = o->block && !p->lanes_count && !o->lanes; /* nothing says how many lanes there
                                                                  are: one block of them */
    if (o->grid || (p->grid_count && !o->lanes) || one_block) {
        for (int i = 0; i < 3; i++) launch->grid[i] = 1;
        for (int i = 0; i < 3; i++) launch->block[i] = block ? block[i] : 1;
        return o->grid ? cli_triple(c, "--grid", o->grid, launch->grid)
                       : program_grid(c, values, launch->grid);
    }
    if (!o->lanes && !program_lanes(c, values, &lanes)) return false;
    if (!cli_number(c, "--lanes", o->lanes, UINT64_MAX, &lanes)) return false;
    if (lanes > HG_MAX_LANES) {
        cli_error(c, "P08", "launch too large: %s%llu lanes, at most %llu",
                  lanes == UINT64_MAX ? "at least " : "", (unsigned long long)lanes,
                  (unsigned long long)HG_MAX_LANES);
        return false;
    }
    set_lanes(launch, lanes, block);
    return true;
}

bool cli_prepare_launch(cli *c, const cli_launch *o, const cli_values *values, hg_launch *launch) {
    *launch = hg_launch_default();
    if (!shape_launch(c, o, values, launch)) return false;
    uint64_t timeout = 0;
    if (!cli_size(c, "--shared", o->shared, HG_MAX_SHARED_BYTES, &launch->shared_memory))
        return false;
    if (!cli_number(c, "--timeout", o->timeout, UINT64_MAX / 1000000, &timeout)) return false;
    if (!cli_number(c, "--max-steps", o->max_steps, UINT64_MAX, &launch->max_steps)) return false;
    launch->timeout_ms = o->timeout ? (timeout ? timeout : UINT64_MAX) : 0;
    c->block_lanes = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return true;
}

hg_status cli_upload(hg_backend *b, cli_values *values, hg_params *params) {
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        const char *name = v->param->name;
        if (v->param->kind == HG_PARAM_SCALAR) {
            HG_TRY(hg_params_set_scalar(params, name, (hg_type)v->param->type, v->scalar));
        } else if (v->param->kind == HG_PARAM_POOL) {
            HG_TRY(hg_backend_allocate_pool(b, v->param->pool_bytes, &v->pool));
            HG_TRY(hg_params_set_pool(params, name, v->pool));
        } else if (v->param->kind == HG_PARAM_BUFFER) {
            HG_TRY(hg_backend_allocate_buffer(b, v->bytes, &v->buffer));
            if (v->bound) HG_TRY(cli_device_write(b, v->buffer, v->data, v->bytes));
            cli_value_drop(v); /* the buffer has it */
            HG_TRY(hg_params_set_buffer(params, name, v->buffer));
        }
    }
    return HG_OK;
}

void cli_close_backend(cli *c, const cli_launch *o, hg_backend *backend) {
    if (!cli_rank_leave(c)) return;
    if (backend && o->profile && (!c->rank || !c->rank->number) &&
        hg_backend_write_profile(backend, is_process(c) ? o->profile : NULL) != HG_OK)
        cli_last_error(c);
    hg_backend_destroy(backend);
}
