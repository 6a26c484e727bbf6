/* hologram run of a circuit: arrays by the names of classes, through class memory piece by piece.
 * Must not know: instructions. */
#include "launch.h"
#include <hologram/circuit_run.h>
#include <stdio.h>
#include <string.h>

/* Classes that the circuit names, as parameters of a program would be. */
typedef struct circuit_params {
    hg_param data[HG_CIRCUIT_CLASSES];
    char names[HG_CIRCUIT_CLASSES][4];
    uint8_t cls[HG_CIRCUIT_CLASSES];
    uint32_t count;
} circuit_params;

static void list_params(const hg_translated_program *circuit, circuit_params *params) {
    params->count = 0;
    for (uint32_t c = 0; c < HG_CIRCUIT_CLASSES; c++) {
        if (!circuit->class_use[c]) continue;
        uint32_t i = params->count++;
        params->cls[i] = (uint8_t)c;
        memcpy(params->names[i],
               (const char[4]){'c', (char)('0' + c / 10), (char)('0' + c % 10), '\0'}, 4);
        params->data[i] = (hg_param){.kind = HG_PARAM_BUFFER,
                                     .type = (uint8_t)circuit->element_type,
                                     .rank = 255,
                                     .name = params->names[i]};
        params->data[i].dir = circuit->class_use[c] & HG_CLASS_WRITTEN ? HG_DIR_INOUT : HG_DIR_IN;
    }
}

/* c5 is c05, as in the language. */
static bool check_name(cli *c, const circuit_params *params, cli_pair *pair) {
    const char *name = pair->name;
    if (name[0] == 'c' && name[1] >= '0' && name[1] <= '9' && !name[2]) {
        char *longer = hg_calloc(1, 4);
        if (!longer) {
            (void)hg_fail_memory();
            cli_last_error(c);
            return false;
        }
        memcpy(longer, (const char[4]){'c', '0', name[1], '\0'}, 4);
        hg_free(pair->name);
        name = pair->name = longer;
    }
    for (uint32_t i = 0; i < params->count; i++)
        if (strcmp(params->names[i], name) == 0) return true;
    char names[HG_CIRCUIT_CLASSES * 5 + 1] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < params->count; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                   params->names[i]);
    cli_error(c, "P01", "unknown parameter: '%s' is no class of the circuit (it names %s)", name,
              length ? names : "none");
    return false;
}

/* ---- shapes ---- */

static bool same_shape(const cli_value *a, const cli_value *b) {
    return a->rank == b->rank && memcmp(a->extent, b->extent, a->rank * sizeof *a->extent) == 0;
}

/* Inputs of one shape give it to the outputs; inputs of one dimension may differ in length. */
static bool find_shape(cli *c, const cli_values *values, const cli_value **like,
                       uint64_t *elements) {
    const cli_value *first = NULL;
    for (uint32_t i = 0; i < values->count; i++) {
        const cli_value *v = &values->data[i];
        if (!v->bound) continue;
        if (!first) first = v;
        if (!same_shape(v, first) && (v->rank != 1 || first->rank != 1)) {
            cli_error(c, "P04",
                      "array '%s': its shape is not that of '%s': only arrays of one dimension may "
                      "differ",
                      v->param->name, first->param->name);
            return false;
        }
        if (!*like || v->elements > (*like)->elements) *like = v;
    }
    if (*like) *elements = (*like)->elements;
    return true;
}

static bool shape_outputs(cli *c, cli_values *values, const cli_value *like, uint64_t elements) {
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        if (v->param->dir == HG_DIR_IN) continue;
        if (v->shaped && !v->bound) {
            if (!cli_shape(c, values, v)) return false;
            if (v->elements == elements) continue;
            cli_error(c, "P04", "array '%s': its shape has %llu elements, the run %llu",
                      v->param->name, (unsigned long long)v->elements,
                      (unsigned long long)elements);
            return false;
        }
        bool alike = like && like->elements == elements;
        v->rank = alike ? like->rank : 1;
        if (alike)
            memcpy(v->extent, like->extent, sizeof v->extent);
        else
            v->extent[0] = elements;
        v->elements = elements;
        v->shaped = true;
    }
    return true;
}

static bool read_values(cli *c, const circuit_params *params, cli_values *values) {
    for (uint64_t i = 0; i < c->pairs.count; i++)
        if (c->pairs.data[i].name[0] && !check_name(c, params, &c->pairs.data[i])) return false;
    return cli_values_params(c, params->data, params->count, values) &&
           cli_values_shapes(c, values);
}

static bool find_elements(cli *c, const cli_launch *o, const cli_values *values,
                          const cli_value **like, uint64_t *elements) {
    if (!find_shape(c, values, like, elements) ||
        !cli_number(c, "--lanes", o->lanes, HG_MAX_LANES, elements))
        return false;
    if (*like && (*like)->elements > *elements) {
        cli_error(c, "P04", "class %s: its input has %llu elements, the run %llu",
                  (*like)->param->name, (unsigned long long)(*like)->elements,
                  (unsigned long long)*elements);
        return false;
    }
    if (*like || o->lanes) return true;
    cli_error(
        c, "P07",
        "the number of elements is unknown: no class has an input; give --in, --set or --lanes");
    return false;
}

/* ---- the run ---- */

static hg_status run_arrays(cli *c, hg_backend *b, const circuit_params *params, cli_values *values,
                            uint64_t elements, const cli_launch *o) {
    hg_class_array arrays[HG_CIRCUIT_CLASSES];
    hg_circuit_launch launch = HG_CIRCUIT_LAUNCH_INIT;
    uint64_t timeout = 0;
    if (!cli_number(c, "--timeout", o->timeout, UINT64_MAX / 1000000, &timeout)) return HG_OK;
    launch.elements = elements;
    launch.timeout_ms = o->timeout ? (timeout ? timeout : UINT64_MAX) : 0;
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        arrays[i] = (hg_class_array){.cls = params->cls[i]};
        if (v->bound) {
            arrays[i].input = (const float *)(const void *)v->data;
            arrays[i].input_count = v->elements;
        }
        if (v->param->dir == HG_DIR_IN) continue;
        v->bytes = elements * hg_type_size_bytes((hg_type)v->param->type);
        HG_TRY(hg_bytes_alloc_in(c->memory, v->bytes, &v->result));
        arrays[i].output = (float *)(void *)v->result.data;
        arrays[i].output_count = elements;
    }
    if (elements) HG_TRY(hg_circuit_run(b, &c->circuit, &launch, arrays, values->count));
    return cli_collect(c, b, values);
}

static bool check_options(cli *c, const cli_launch *o) {
    const char *const given[] = {o->grid, o->block, o->shared, o->max_steps}, *const names[] = {
                                                                                  "--grid",
                                                                                  "--block",
                                                                                  "--shared",
                                                                                  "--max-steps"};
    for (size_t i = 0; i < HG_COUNT_OF(given); i++)
        if (given[i]) {
            cli_usage(c, "%s is not for circuits: they have a lane for each element, and no loops",
                      names[i]);
            return false;
        }
    return true;
}

void cli_run_circuit(cli *c, const cli_launch *o) {
    circuit_params params;
    cli_values values = {0};
    hg_backend *b = NULL;
    const cli_value *like = NULL;
    uint64_t elements = 0;
    list_params(&c->circuit, &params);
    if (check_options(c, o) && cli_open_rank(c, o, &b) && read_values(c, &params, &values) &&
        find_elements(c, o, &values, &like, &elements) &&
        shape_outputs(c, &values, like, elements) && (b || cli_open_backend(c, o, &b))) {
        c->block_lanes = 1;
        if (run_arrays(c, b, &params, &values, elements, o) != HG_OK) cli_last_error(c);
    }
    cli_values_free(&values); /* charged to the backend */
    cli_close_backend(c, o, b);
}
