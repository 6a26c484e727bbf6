/* Whole array graphs of the TPU backend: one executable, whose arguments and results are arenas.
 * Must not know: graphs, StableHLO. */
#include "backends/tpu/tpu_internal.h"

struct hg_driver_module {
    hg_device *device;
    tpu_code *code;
    uint32_t argument_count, result_count; /* results without the flag behind them, */
    bool flagged;                          /* which it has */
    hg_driver_shape *shapes;               /* of each, arguments first */
    pjrt_buffer *told;                     /* 0, and the numbers that the text does not have */
    pjrt_buffer **arguments, **results;    /* of a run */
};

void tpu_module_destroy(hg_driver_module *m) {
    hg_mutex_lock(&m->device->lock);
    tpu_code_release(m->code);
    hg_mutex_unlock(&m->device->lock);
    tpu_free_buffer(m->told);
    hg_free(m->shapes);
    hg_free(m->arguments);
    hg_free(m->results);
    hg_free(m);
}

static hg_status tell(hg_driver_module *m, const hg_driver_module_text *text) {
    const hg_driver_shape shape = tpu_numbers((uint64_t)text->number_count + 1, 8);
    uint64_t *told = hg_calloc((size_t)text->number_count + 1, sizeof *told);
    if (!told) return hg_fail_memory();
    for (uint32_t i = 0; i < text->number_count; i++) told[i + 1] = text->numbers[i];
    hg_status status = tpu_upload(m->device, told, &shape, &m->told);
    hg_free(told);
    return status;
}

static hg_status prepare(hg_driver_module *m, const hg_driver_module_text *text) {
    uint32_t count = text->argument_count + text->result_count;
    m->shapes = hg_calloc((size_t)count + 1, sizeof *m->shapes);
    m->arguments = hg_calloc((size_t)m->argument_count + 1, sizeof *m->arguments);
    m->results = hg_calloc((size_t)m->result_count + 1, sizeof *m->results);
    if (!m->shapes || !m->arguments || !m->results) return hg_fail_memory();
    for (uint32_t i = 0; i < count; i++) m->shapes[i] = text->shapes[i];
    HG_TRY(tell(m, text));
    return tpu_code_find(m->device, text->text, text->length, text->read, &m->code);
}

hg_status tpu_module_create(hg_device *device, const hg_driver_module_text *text,
                            hg_driver_module **module) {
    hg_driver_module *m = hg_calloc(1, sizeof *m);
    if (!m) return hg_fail_memory();
    m->device = device;
    m->argument_count = text->argument_count;
    m->result_count = text->result_count;
    m->flagged = text->flagged;
    hg_mutex_lock(&device->lock);
    hg_status status = prepare(m, text);
    hg_mutex_unlock(&device->lock);
    if (status == HG_OK)
        *module = m;
    else
        tpu_module_destroy(m);
    return status;
}

/* The flag is looked at before anything is changed. */
static hg_status take(hg_driver_module *m, const hg_range *results, bool *bad) {
    uint8_t flag = 0;
    if (m->flagged) HG_TRY(tpu_download(m->results[m->result_count], &flag, sizeof flag));
    *bad = flag != 0;
    for (uint32_t i = 0; i < m->result_count && !flag; i++) {
        tpu_put(results[i].arena, m->results[i], &m->shapes[m->argument_count + i]);
        m->results[i] = NULL;
    }
    return HG_OK;
}

hg_status tpu_module_run(hg_driver_module *m, const hg_range *ranges, bool *bad) {
    hg_status status = HG_OK;
    *bad = false;
    for (uint32_t i = 0; i < m->argument_count + m->result_count; i++)
        *bad = *bad || ranges[i].offset || ranges[i].size != ranges[i].arena->size;
    if (*bad) return HG_OK;
    hg_mutex_lock(&m->device->lock);
    m->arguments[0] = m->told;
    for (uint32_t i = 0; i < m->argument_count && status == HG_OK; i++) {
        status = tpu_to_device(ranges[i].arena, &m->shapes[i]);
        m->arguments[i + 1] = ranges[i].arena->buffer;
    }
    for (uint32_t i = 0; i < m->argument_count; i++) /* one arena may be arguments of two shapes */
        *bad = *bad || !tpu_is_on_device(ranges[i].arena, &m->shapes[i]);
    if (status == HG_OK && !*bad)
        status = tpu_execute(m->device->device, m->code->executable, m->arguments,
                             (size_t)m->argument_count + 1, m->results);
    if (status == HG_OK && !*bad) status = take(m, ranges + m->argument_count, bad);
    for (uint32_t i = 0; i <= m->result_count; i++) {
        tpu_free_buffer(m->results[i]);
        m->results[i] = NULL;
    }
    hg_mutex_unlock(&m->device->lock);
    return status;
}
