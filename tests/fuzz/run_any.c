#include "run_any.h"
#include "isa/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 2048, MAX_STEPS = 20000, TIMEOUT_MS = 2000, MAX_LANES = 600, ARRAYS = 16 };

uint8_t choose_byte(chooser *c) {
    if (!c->size) return 0;
    c->size--;
    return *c->data++;
}

uint64_t choose_bits(chooser *c, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | choose_byte(c);
    return value;
}

/* ---- backends, made once ---- */

typedef struct runner {
    const char *pretend;
    hg_backend *backend;
} runner;
static runner runners[] = {{"", NULL}, {"poor", NULL}};
enum { RUNNERS = sizeof runners / sizeof *runners };

static void open_runner(runner *r) {
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", sizeof "cpu");
    snprintf(config.pretend, sizeof config.pretend, "%s", r->pretend);
    config.num_threads = 1;
    config.max_memory = 64 << 20;
    config.cache_programs = 4;
    config.timeout_ms = TIMEOUT_MS; /* of programs that say their lanes themselves */
    require(hg_backend_create_with_config(&config, &r->backend) == HG_OK);
}

/* ---- one launch ---- */

/* Values worth meeting: small counts, edges, random bits. */
static uint64_t some_value(chooser *c) {
    switch (choose(c, 4)) {
    case 0: return choose(c, 70);
    case 1: return (uint64_t)1 << choose(c, 64);
    case 2: return UINT64_MAX - choose(c, 3);
    default: return choose_bits(c, 8);
    }
}

static bool bind(hg_backend *b, const hg_program *p, chooser c, hg_params *params,
                 hg_buffer buffers[ARRAYS], uint32_t *count) {
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *param = &p->params[i];
        uint64_t value[64];
        for (int k = 0; k < 64; k++) value[k] = some_value(&c);
        hg_status status = HG_OK;
        if (param->kind == HG_PARAM_SCALAR) {
            status = hg_params_set_scalar(params, param->name, (hg_type)param->type, value);
        } else if (param->kind == HG_PARAM_BUFFER) {
            if (*count == ARRAYS ||
                hg_backend_allocate_buffer(b, BUFFER_BYTES, &buffers[*count]) != HG_OK)
                return false;
            require(hg_buffer_write(b, buffers[*count], 0, value, sizeof value) == HG_OK);
            status = hg_params_set_buffer(params, param->name, buffers[(*count)++]);
        }
        if (status != HG_OK) return false;
    }
    return true;
}

/* Such programs may have races, so that results say nothing; they can be read. */
static void run(runner *r, const hg_program *p, chooser c) {
    static uint8_t results[BUFFER_BYTES];
    hg_buffer buffers[ARRAYS];
    uint32_t count = 0;
    hg_launch launch = hg_launch_linear(choose(&c, MAX_LANES));
    launch.max_steps = MAX_STEPS;
    launch.timeout_ms = TIMEOUT_MS;
    hg_params *params = hg_params_create();
    if (!r->backend) open_runner(r);
    if (params && bind(r->backend, p, c, params, buffers, &count)) {
        require(hg_backend_reset_state(r->backend) == HG_OK);
        hg_status status = hg_backend_execute_program_with_params(
            r->backend, p, p->lanes_count || p->grid_count ? NULL : &launch, params);
        require(status != HG_ERROR_INTERNAL);
        for (uint32_t i = 0; i < count; i++)
            require(hg_buffer_read(r->backend, buffers[i], 0, results, BUFFER_BYTES) == HG_OK);
    }
    hg_params_destroy(params);
    for (uint32_t i = 0; i < count; i++)
        require(hg_backend_free_buffer(r->backend, buffers[i]) == HG_OK);
}

static void check_binary(const hg_program *p) {
    uint8_t *bytes = NULL;
    size_t length = 0;
    hg_program *second = NULL;
    require(hg_program_encode(p, HG_PROGRAM_DEBUG, &bytes, &length) == HG_OK);
    require(hg_program_decode(bytes, length, NULL, &second) == HG_OK);
    require(memcmp(hg_program_hash(p), hg_program_hash(second), 32) == 0);
    hg_program_release(second);
    hg_string_free((char *)bytes);
}

/* For one target and device of `hologram emit`. Refusals are right: of a limit, or a form that the
 * program does not go with. */
static void emit(const hg_program *p, chooser c) {
    static const char *const caps[] = {NULL, "pocl", "lavapipe", "swiftshader"};
    static const char *const targets[] = {"opencl", "spirv-asm", "spirv", "c", "kir"};
    hg_emit_options options = {.size = sizeof options, .verify = true};
    char *output = NULL;
    size_t length = 0;
    const char *target = targets[choose(&c, 5)];
    options.caps = caps[choose(&c, 4)];
    options.form = (hg_emit_form)choose(&c, 3);
    options.fold = choose(&c, 2) ? 0 : choose(&c, 8);
    hg_status status = hg_program_emit(p, target, &options, &output, &length);
    require(status == HG_OK || status == HG_ERROR_ISA || status == HG_ERROR_INVALID_ARGUMENT ||
            status == HG_ERROR_OUT_OF_MEMORY);
    require((status == HG_OK) == (output != NULL));
    hg_string_free(output);
}

void run_any(const hg_program *p, chooser *c) {
    if (hg_program_verify(p, NULL) != HG_OK) return;
    check_binary(p);
    for (int i = 0; i < RUNNERS; i++) run(&runners[i], p, *c);
    emit(p, *c);
}
