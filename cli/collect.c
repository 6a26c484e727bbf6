/* What a run left in its outputs: printed, or written to files all together. Must not know: how it ran. */
#include "launch.h"

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
