/* The Monster's character table as kernels read it (kir_plan_memory CHARACTERS): one piece of
 * memory a backend, made when a binding first needs it and never written again.
 * Must not know: instructions. */
#include "atlas/characters.h"
#include "runtime/memory.h"

static const uint64_t EXACT_BYTES = (uint64_t)HG_CHARACTER_ENTRIES * 16,
                      BYTES = (uint64_t)HG_CHARACTER_ENTRIES * (16 + sizeof(double));

static void fill(uint8_t *table) {
    hg_character_fill_i128((uint8_t(*)[16])(void *)table);
    hg_character_fill_f64((double *)(void *)(table + EXACT_BYTES));
}

/* Through a queue of its own: whatever runs in a context goes on. */
static hg_status copy_in(hg_backend *b, const hg_range *to, void *table) {
    const hg_driver *driver = b->driver;
    hg_driver_queue *queue = NULL;
    hg_driver_command command = {.kind = HG_CMD_COPY_IN, .to = *to, .host = table};
    HG_TRY(driver->queue_create(b->device, &queue));
    hg_status status = hg_driver_run(driver, b->device, b->caps, queue, &command);
    driver->queue_destroy(queue);
    return status;
}

/* Where nobody can wait for the copy, the first run that ends well has it, and others meanwhile do
 * it too. */
static hg_status make(hg_backend *b, hg_piece *piece) {
    HG_TRY(hg_piece_alloc(&b->memory, BYTES, piece));
    uint8_t *host = hg_host_address(b, &piece->range),
            *table = host ? host : hg_alloc((size_t)BYTES);
    bool later = !host && !hg_driver_can_block(b->driver, b->caps);
    hg_status status = table ? HG_OK : hg_fail_memory();
    if (table) fill(table);
    if (table && later) hg_atomic_store(&b->characters.left, table, HG_RELEASE);
    if (table && !host && !later) status = copy_in(b, &piece->range, table);
    if (table != host && !later) hg_free(table);
    if (status != HG_OK) hg_piece_free(&b->memory, piece);
    return status;
}

hg_status hg_backend_characters(hg_backend *b, hg_range *range) {
    hg_mutex_lock(&b->characters.lock);
    hg_status status = b->characters.piece.range.arena ? HG_OK : make(b, &b->characters.piece);
    *range = b->characters.piece.range;
    hg_mutex_unlock(&b->characters.lock);
    return status;
}
