/* Pieces: what is submitted at once, which is over when all its callbacks have come, and the
 * buffers in which bytes go to the host.
 * Must not know: what the commands do, queues. */
#include "backends/webgpu/webgpu_internal.h"
#include <string.h>

/* ---- reads ---- */

enum { READ_LEAST = 4 << 10, MOST_FREE = 32 << 20 };

static void free_read(wg_read *read) {
    if (read->buffer) {
        wg.BufferDestroy(read->buffer);
        wg.BufferRelease(read->buffer);
    }
    hg_free(read);
}

void wg_reads_free(hg_device *d) {
    while (d->work.free_reads) {
        wg_read *read = d->work.free_reads;
        d->work.free_reads = read->next;
        free_read(read);
    }
    d->work.free_bytes = 0;
}

static void keep_read(hg_device *d, wg_read *read) {
    if (d->work.free_bytes + read->capacity > MOST_FREE) {
        free_read(read);
        return;
    }
    d->work.free_bytes += read->capacity;
    read->next = d->work.free_reads;
    d->work.free_reads = read;
}

/* One that is long enough and not much longer. */
static wg_read *take_free(hg_device *d, uint64_t bytes) {
    for (wg_read **at = &d->work.free_reads; *at; at = &(*at)->next) {
        wg_read *read = *at;
        if (read->capacity != bytes) continue;
        *at = read->next;
        d->work.free_bytes -= read->capacity;
        return read;
    }
    return NULL;
}

static hg_status new_read(hg_device *d, uint64_t bytes, wg_read **read) {
    wg_read *made = hg_calloc(1, sizeof *made);
    if (!made) return hg_fail_memory();
    made->capacity = bytes;
    hg_status status = wg_buffer_create(d, bytes, WGPU_USE_MAP_READ | WGPU_USE_COPY_TO,
                                        &made->buffer);
    if (status != HG_OK)
        hg_free(made);
    else
        *read = made;
    return status;
}

hg_status wg_read_add(wg_recorder *r, uint64_t bytes, wg_read **read) {
    uint64_t capacity = READ_LEAST;
    while (capacity < bytes) capacity *= 2;
    *read = take_free(r->device, capacity);
    if (!*read) HG_TRY(new_read(r->device, capacity, read));
    (*read)->piece = r->piece;
    (*read)->next = NULL;
    if (r->piece->last_read)
        r->piece->last_read->next = *read;
    else
        r->piece->reads = *read;
    r->piece->last_read = *read;
    r->piece->bytes += capacity;
    return HG_OK;
}

/* What was abandoned lands nowhere. */
static bool lands_in(const wg_piece *piece, const uint8_t *host, uint64_t size) {
    for (const wg_read *read = piece ? piece->reads : NULL; read; read = read->next)
        if (read->host && (uintptr_t)read->host < (uintptr_t)host + size &&
            (uintptr_t)host < (uintptr_t)read->host + read->size)
            return true;
    return false;
}

void wg_abandon(hg_device *d, const hg_driver_queue *queue, uint64_t number) {
    for (wg_piece *piece = d->work.first; piece; piece = piece->next)
        for (wg_read *read = piece->reads; read; read = read->next)
            if (piece->queue == queue && piece->number > number) read->host = NULL;
}

bool wg_awaits_host(const wg_recorder *r, const void *host, uint64_t size) {
    for (const wg_piece *piece = r->device->work.first; piece; piece = piece->next)
        if (lands_in(piece, host, size)) return true;
    return lands_in(r->piece, host, size);
}

/* ---- callbacks ---- */

static void free_piece(wg_piece *piece) {
    while (piece->reads) {
        wg_read *read = piece->reads;
        piece->reads = read->next;
        keep_read(piece->device, read);
    }
    hg_free(piece);
}

static void retire(hg_device *d) {
    while (d->work.first && d->work.first->asked == 0) {
        wg_piece *piece = d->work.first;
        d->work.first = piece->next;
        if (!d->work.first) d->work.last = NULL;
        d->work.bytes_underway -= piece->bytes;
        if (!WG_WAITS) d->work.done_ns = hg_clock_ns();
        hg_atomic_store(&d->work.done, piece->number, HG_RELEASE);
        free_piece(piece);
    }
}

static void ask(wg_piece *piece) {
    piece->asked++;
    piece->device->asked++;
}

static void came(wg_piece *piece) {
    hg_device *d = piece->device;
    d->asked--;
    piece->asked--;
    retire(d);
}

static void on_scope(uint32_t status, uint32_t type, WGPUStringView said, void *one, void *two) {
    wg_piece *piece = one;
    (void)two;
    if (status == WGPU_STATUS_SUCCESS && type != WGPU_ERROR_NONE)
        wg_note_error(piece->device, said);
    came(piece);
}

static void on_done(uint32_t status, WGPUStringView said, void *one, void *two) {
    wg_piece *piece = one;
    (void)two;
    if (status != WGPU_STATUS_SUCCESS) wg_note_error(piece->device, said);
    came(piece);
}

#if defined(__wasm__)
static bool take_bytes(wg_read *read) {
    if (read->host)
        wg.BufferReadMappedRange(read->buffer, (size_t)read->skip, read->host, (size_t)read->size);
    return true;
}
#else
static bool take_bytes(wg_read *read) {
    const uint8_t *bytes = wg.BufferGetConstMappedRange(read->buffer, 0, (size_t)read->capacity);
    if (bytes) memcpy(read->host, bytes + read->skip, (size_t)read->size);
    return bytes != NULL;
}
#endif

/* Who waited for a device that is lost has been told so, and may have freed the memory. */
static void on_map(uint32_t status, WGPUStringView said, void *one, void *two) {
    wg_read *read = one;
    (void)two;
    bool lost = hg_atomic_load(&read->piece->device->lost, HG_ACQUIRE);
    if (status == WGPU_STATUS_SUCCESS && !lost && take_bytes(read))
        wg.BufferUnmap(read->buffer);
    else
        wg_note_error(read->piece->device, said);
    came(read->piece);
}

/* ---- pieces ---- */

void wg_end_pass(wg_recorder *r) {
    if (!r->pass) return;
    wg.ComputePassEncoderEnd(r->pass);
    wg.ComputePassEncoderRelease(r->pass);
    r->pass = NULL;
}

/* Errors of submissions of our own device come to its callback, at once where the library is in
 * this process. A host's device has another one, and a page is told when it is too late. */
static bool is_scoped(const hg_device *d) { return d->adopted || !WG_WAITS; }

hg_status wg_open(wg_recorder *r) {
    if (r->piece) return HG_OK;
    HG_TRY(wg_check_lost(r->device));
    r->piece = hg_calloc(1, sizeof *r->piece);
    if (!r->piece) return hg_fail_memory();
    r->piece->device = r->device;
    r->piece->queue = r->queue;
    if (is_scoped(r->device)) wg_scope_begin(r->device, WGPU_FILTER_VALIDATION);
    r->encoder = wg.DeviceCreateCommandEncoder(r->device->handle, NULL);
    return HG_OK;
}

/* A launch that is repeated finds its records there. */
static void write_records(hg_device *d, uint32_t bytes) {
    uint8_t *written = d->own.record_bytes + WG_RECORDS;
    if (bytes <= d->own.records_there && memcmp(written, d->own.record_bytes, bytes) == 0) return;
    wg.QueueWriteBuffer(d->queue, d->own.records, 0, d->own.record_bytes, bytes);
    memcpy(written, d->own.record_bytes, bytes);
    if (bytes > d->own.records_there) d->own.records_there = bytes;
}

static void submit_commands(wg_recorder *r) {
    hg_device *d = r->device;
    wg_end_pass(r);
    WGPUCommandBuffer commands = wg.CommandEncoderFinish(r->encoder, NULL);
    wg.CommandEncoderRelease(r->encoder);
    r->encoder = NULL;
    write_records(d, r->record_bytes);
    wg.QueueSubmit(d->queue, 1, &commands);
    wg.CommandBufferRelease(commands);
    r->record_bytes = r->edges = 0;
    r->recorded = false;
}

static void end_scope(wg_piece *piece) {
    WGPUPopErrorScopeCallbackInfo info = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_scope, .one = piece};
    ask(piece);
    (void)wg.DevicePopErrorScope(piece->device->handle, info);
}

hg_status wg_flush(wg_recorder *r) {
    hg_device *d = r->device;
    wg_piece *piece = r->piece;
    if (!piece) return HG_OK;
    submit_commands(r);
    r->piece = NULL;
    r->number = piece->number = ++d->work.submitted;
    if (d->work.last)
        d->work.last->next = piece;
    else
        d->work.first = piece;
    d->work.last = piece;
    d->work.bytes_underway += piece->bytes;
    ask(piece); /* not over before all is asked for */
    if (is_scoped(d)) end_scope(piece);
    for (wg_read *read = piece->reads; read; read = read->next) {
        WGPUBufferMapCallbackInfo info = {
            .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_map, .one = read};
        ask(piece);
        (void)wg.BufferMapAsync(read->buffer, WGPU_MAP_READ, 0, (size_t)read->capacity, info);
    }
    WGPUQueueWorkDoneCallbackInfo done = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_done, .one = piece};
    ask(piece);
    (void)wg.QueueOnSubmittedWorkDone(d->queue, done);
    came(piece);
    return HG_OK;
}

void wg_drop(wg_recorder *r) {
    char said[WG_SAID];
    if (!r->piece) return;
    wg_end_pass(r);
    wg.CommandEncoderRelease(r->encoder);
    if (is_scoped(r->device)) (void)wg_scope_end(r->device, said);
    free_piece(r->piece);
    r->piece = NULL;
}

/* ---- waiting ---- */

hg_status wg_drain_to(hg_device *d, uint64_t number) {
    for (uint32_t i = 0; hg_atomic_load(&d->work.done, HG_ACQUIRE) < number; i++) {
        if (!WG_WAITS)
            return hg_fail(HG_ERROR_WOULD_BLOCK,
                           "webgpu: bytes that are read into memory of the host would have to be "
                           "waited for before it is copied, which a page cannot: ask the event "
                           "of the read first");
        wg.InstanceProcessEvents(d->instance);
        HG_TRY(wg_check_lost(d));
        if (hg_atomic_load(&d->work.done, HG_ACQUIRE) >= number) break;
        hg_mutex_unlock(&wg_lock);
        wg_rest(i);
        hg_mutex_lock(&wg_lock);
    }
    return HG_OK;
}

hg_status wg_drain(hg_device *d) { return wg_drain_to(d, d->work.submitted); }
