/* What a run left in its outputs: printed, or written to files all together. Must not know: how it
 * ran. */
#include "launch.h"

/* One output that a buffer has: read in parts, so that it is in memory once. */
typedef struct source {
    hg_backend *backend;
    hg_buffer buffer;
} source;

static hg_status read_part(void *user, uint64_t offset, void *to, uint64_t length) {
    const source *s = user;
    return cli_device_read(s->backend, s->buffer, offset, to, length);
}

static hg_file_part elements_of(const cli_value *v, source *from) {
    hg_file_part elements = {.data = v->result.data};
    if (!elements.data) elements = (hg_file_part){.read = read_part, .user = from};
    return elements;
}

static hg_status add_output(hg_backend *b, const cli_value *v, hg_outputs *outputs) {
    source from = {b, v->buffer};
    hg_file_part elements = elements_of(v, &from);
    return hg_outputs_add_elements(outputs, v->out, (hg_type)v->param->type, v->rank, v->extent,
                                   &elements);
}

/* All outputs without a file of their own. */
static hg_status add_archive(hg_backend *b, const cli_values *values, hg_outputs *outputs) {
    hg_named_array *arrays = hg_calloc(values->count + (size_t)1, sizeof *arrays);
    source *from = hg_calloc(values->count + (size_t)1, sizeof *from);
    size_t count = 0;
    for (uint32_t i = 0; i < values->count && arrays && from; i++) {
        const cli_value *v = &values->data[i];
        if (!cli_is_archived(values, v)) continue;
        from[count] = (source){b, v->buffer};
        arrays[count] = (hg_named_array){.name = v->param->name,
                                         .type = (hg_type)v->param->type,
                                         .rank = v->rank,
                                         .extent = v->extent,
                                         .elements = elements_of(v, &from[count])};
        count++;
    }
    hg_status status = arrays && from ? hg_outputs_add_npz(outputs, values->archive, arrays, count)
                                      : hg_fail_memory();
    hg_free(arrays);
    hg_free(from);
    return status;
}

/* What printing looks at: the first elements, or for JSON all of them. The text counts too. */
static hg_status print_output(cli *c, hg_backend *b, const cli_value *v, const char *file,
                              hg_text *printed) {
    uint64_t shown = v->bytes, text = 0, size = hg_type_size_bytes((hg_type)v->param->type);
    bool all = c->json && !file;
    if (!all && shown > CLI_PRINTED_ELEMENTS * size) shown = CLI_PRINTED_ELEMENTS * size;
    if (all && !hg_mul_u64(v->elements, 3 * size + 24, &text)) text = UINT64_MAX;
    HG_TRY(hg_budget_charge(c->memory, text)); /* until the end: it is printed then */
    hg_bytes bytes = {0};
    if (!v->result.data) {
        HG_TRY(hg_bytes_alloc_in(c->memory, shown, &bytes));
        hg_status status = cli_device_read(b, v->buffer, 0, bytes.data, shown);
        if (status != HG_OK) {
            hg_bytes_free(&bytes);
            return status;
        }
    }
    const char *raw = file ? hg_path_of_raw(file) : NULL;
    cli_print_array(c, printed, v, bytes.data ? bytes.data : v->result.data, raw ? raw : file);
    hg_bytes_free(&bytes);
    return HG_OK;
}

static hg_status collect_one(cli *c, hg_backend *b, const cli_values *values, const cli_value *v,
                             hg_outputs *outputs, hg_text *printed) {
    if (v->out) HG_TRY(add_output(b, v, outputs));
    return print_output(c, b, v, cli_is_archived(values, v) ? values->archive : v->out, printed);
}

hg_status cli_collect(cli *c, hg_backend *b, const cli_values *values) {
    hg_outputs *outputs = hg_outputs_create();
    hg_text printed = {0};
    hg_status status = outputs ? HG_OK : hg_fail_memory();
    if (outputs) hg_outputs_charge(outputs, c->memory);
    for (uint32_t i = 0; i < values->count && status == HG_OK; i++) {
        const hg_param *p = values->data[i].param;
        if (p->kind == HG_PARAM_BUFFER && p->dir != HG_DIR_IN)
            status = collect_one(c, b, values, &values->data[i], outputs, &printed);
    }
    if (status == HG_OK && values->archive) status = add_archive(b, values, outputs);
    if (status == HG_OK && printed.failed) status = hg_fail_memory();
    /* what goes to standard output goes first: if nobody takes it, no file is touched */
    if (status == HG_OK && !c->json) status = cli_print_now(printed.data, printed.length);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    if (status == HG_OK && c->json && printed.data)
        hg_text_add(&c->outputs, printed.data, printed.length);
    hg_text_free(&printed);
    hg_outputs_destroy(outputs);
    return status;
}
