/* The commands of a submission: copies, fills, dispatches. WebGPU copies whole words between
 * different buffers and fills them with zero; a kernel of our own does the rest.
 * Must not know: events. */
#include "backends/webgpu/webgpu_internal.h"
#include <string.h>

static uint64_t round_up(uint64_t n, uint64_t step) { return (n + step - 1) / step * step; }

/* ---- dispatches ---- */

static hg_status dispatch(wg_recorder *r, const hg_driver_dispatch *x) {
    hg_device *d = r->device;
    hg_driver_kernel *k = x->kernel;
    WGPUBindGroup group;
    uint64_t stride = round_up(k->record_bytes ? k->record_bytes : 1, 256);
    if (x->record_bytes != k->record_bytes)
        return hg_fail(HG_ERROR_INTERNAL, "a record of %u bytes for a kernel with %u",
                       (unsigned)x->record_bytes, (unsigned)k->record_bytes);
    HG_TRY(hg_driver_check_bound_once(x));
    if (r->record_bytes + stride > WG_RECORDS) HG_TRY(wg_flush(r));
    HG_TRY(wg_open(r));
    HG_TRY(wg_kernel_bind(k, x->slots, x->slot_count, &group));
    uint32_t offset = r->record_bytes;
    memset(d->own.record_bytes + offset, 0, (size_t)stride);
    if (k->record_bytes) memcpy(d->own.record_bytes + offset, x->record, k->record_bytes);
    r->record_bytes += (uint32_t)stride;
    r->recorded = true;
    if (!r->pass) r->pass = wg.CommandEncoderBeginComputePass(r->encoder, NULL);
    wg.ComputePassEncoderSetPipeline(r->pass, k->pipeline);
    wg.ComputePassEncoderSetBindGroup(r->pass, 0, group, 1, &offset);
    wg.ComputePassEncoderDispatchWorkgroups(r->pass, x->groups[0], x->groups[1], x->groups[2]);
    return HG_OK;
}

/* ---- bytes ---- */

/* Writes `size` bytes: those of a buffer, or one value (`value` below 256). A lane has every so
 * many words of the destination. */
static const char MERGE[] =
    "struct Record { to: u32, start: u32, size: u32, value: u32 }\n"
    "@group(0) @binding(0) var<storage, read_write> to: array<u32>;\n"
    "@group(0) @binding(1) var<storage, read_write> source: array<u32>;\n"
    "@group(0) @binding(2) var<uniform> record: Record;\n"
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>,\n"
    "        @builtin(num_workgroups) groups: vec3<u32>) {\n"
    "    let first = record.to / 4u;\n"
    "    let count = (record.to + record.size + 3u) / 4u - first;\n"
    "    for (var i = id.x; i < count; i += groups.x * 64u) {\n"
    "        var word = to[first + i];\n"
    "        for (var b = 0u; b < 4u; b++) {\n"
    "            let at = (first + i) * 4u + b - record.to;\n"
    "            if (at >= record.size) { continue; }\n"
    "            var byte = record.value;\n"
    "            if (byte > 255u) {\n"
    "                let place = record.start + at;\n"
    "                byte = (source[place / 4u] >> (place % 4u * 8u)) & 255u;\n"
    "            }\n"
    "            word = (word & ~(255u << (b * 8u))) | (byte << (b * 8u));\n"
    "        }\n"
    "        to[first + i] = word;\n"
    "    }\n"
    "}\n";
enum { TAKES_BYTES = 256 }; /* no value */

hg_status wg_merge_create(hg_device *d, hg_driver_kernel **kernel) {
    return wg_kernel_create(d, MERGE, sizeof MERGE - 1, 2, 16, kernel);
}

/* The part of a buffer that the kernel binds for some bytes: all of it, where the device binds
 * that.
 */
static hg_range bound_part(const hg_device *d, hg_driver_arena *a, uint64_t offset, uint64_t size) {
    uint64_t begin = offset & ~UINT64_C(255), end = round_up(offset + size, 4);
    if (a->size <= d->caps.memory.bound_bytes) return (hg_range){a, 0, a->size};
    return (hg_range){a, begin, end - begin};
}

/* from NULL: the value. */
static hg_status merge_part(wg_recorder *r, hg_driver_arena *to, uint64_t to_offset,
                            hg_driver_arena *from, uint64_t from_offset, uint64_t size,
                            uint32_t value) {
    hg_device *d = r->device;
    uint64_t groups = round_up(size / 4 + 2, 64) / 64;
    const hg_range slots[2] = {bound_part(d, to, to_offset, size),
                               from ? bound_part(d, from, from_offset, size)
                                    : (hg_range){d->own.nothing, 0, 256}};
    const uint32_t record[4] = {(uint32_t)(to_offset - slots[0].offset),
                                (uint32_t)(from_offset - slots[1].offset), (uint32_t)size, value};
    if (groups > d->limits.groups) groups = d->limits.groups;
    hg_driver_dispatch x = {.kernel = d->own.merge,
                            .groups = {(uint32_t)groups, 1, 1},
                            .group = {64, 1, 1},
                            .record = record,
                            .record_bytes = sizeof record,
                            .slots = slots,
                            .slot_count = 2};
    return dispatch(r, &x);
}

/* A kernel binds so much at once that the bytes and their place in words fit. */
static hg_status merge(wg_recorder *r, hg_driver_arena *to, uint64_t to_offset,
                       hg_driver_arena *from, uint64_t from_offset, uint64_t size, uint32_t value) {
    uint64_t step = r->device->caps.memory.bound_bytes - 512;
    for (uint64_t done = 0; done < size; done += step) {
        uint64_t part = size - done < step ? size - done : step;
        HG_TRY(merge_part(r, to, to_offset + done, from, from_offset + done, part, value));
    }
    return HG_OK;
}

/* The whole words of a range, and the bytes in front of them; no whole word: all are in front. */
typedef struct words {
    uint64_t front, size, back;
} words;

static words words_of(uint64_t offset, uint64_t size) {
    uint64_t front = round_up(offset, 4) - offset;
    if (front >= size) return (words){size, 0, 0};
    uint64_t whole = (size - front) & ~UINT64_C(3);
    return (words){front, whole, size - front - whole};
}

/* For a copy or a fill, which stands in no pass. */
static hg_status open_for_copy(wg_recorder *r) {
    HG_TRY(wg_open(r));
    wg_end_pass(r);
    r->recorded = true;
    return HG_OK;
}

static hg_status copy_words(wg_recorder *r, hg_driver_arena *from, uint64_t from_offset,
                            hg_driver_arena *to, uint64_t to_offset, uint64_t size) {
    if (size == 0) return HG_OK;
    HG_TRY(open_for_copy(r));
    wg.CommandEncoderCopyBufferToBuffer(r->encoder, from->buffer, from_offset, to->buffer,
                                        to_offset, size);
    return HG_OK;
}

/* Between different buffers. */
static hg_status copy_bytes(wg_recorder *r, hg_driver_arena *from, uint64_t from_offset,
                            hg_driver_arena *to, uint64_t to_offset, uint64_t size) {
    words w = words_of(to_offset, size);
    if ((from_offset ^ to_offset) & 3)
        return merge(r, to, to_offset, from, from_offset, size, TAKES_BYTES);
    HG_TRY(merge(r, to, to_offset, from, from_offset, w.front, TAKES_BYTES));
    HG_TRY(copy_words(r, from, from_offset + w.front, to, to_offset + w.front, w.size));
    uint64_t back = w.front + w.size;
    return merge(r, to, to_offset + back, from, from_offset + back, w.back, TAKES_BYTES);
}

/* Inside one buffer: through scratch, from the end that is not overwritten. */
static hg_status copy_inside(wg_recorder *r, const hg_range *from, const hg_range *to) {
    enum { STEP = WG_SCRATCH - WG_EDGES - 8 };
    hg_driver_arena *scratch = r->device->own.scratch;
    bool backwards = to->offset > from->offset;
    for (uint64_t done = 0; done < to->size;) {
        uint64_t size = to->size - done < STEP ? to->size - done : STEP;
        uint64_t at = backwards ? to->size - done - size : done;
        uint64_t start = (from->offset + at) & ~UINT64_C(3), skip = from->offset + at - start;
        HG_TRY(copy_words(r, from->arena, start, scratch, WG_EDGES, round_up(skip + size, 4)));
        HG_TRY(copy_bytes(r, scratch, WG_EDGES + skip, to->arena, to->offset + at, size));
        done += size;
    }
    return HG_OK;
}

static hg_status copy(wg_recorder *r, const hg_range *from, const hg_range *to) {
    if (from->arena != to->arena)
        return copy_bytes(r, from->arena, from->offset, to->arena, to->offset, to->size);
    return from->offset == to->offset ? HG_OK : copy_inside(r, from, to);
}

static hg_status fill(wg_recorder *r, const hg_range *to, uint8_t value) {
    words w = words_of(to->offset, to->size);
    if (value) return merge(r, to->arena, to->offset, NULL, 0, to->size, value);
    HG_TRY(merge(r, to->arena, to->offset, NULL, 0, w.front, 0));
    if (w.size) {
        HG_TRY(open_for_copy(r));
        wg.CommandEncoderClearBuffer(r->encoder, to->arena->buffer, to->offset + w.front, w.size);
    }
    return merge(r, to->arena, to->offset + w.front + w.size, NULL, 0, w.back, 0);
}

/* ---- to and from the host ---- */

/* At most three bytes: a word in front of scratch, which is written before what is recorded. */
static hg_status copy_edge(wg_recorder *r, const uint8_t *host, hg_driver_arena *to,
                           uint64_t offset, uint64_t size) {
    hg_device *d = r->device;
    uint8_t word[4] = {0};
    if (size == 0) return HG_OK;
    if (r->edges + sizeof word > WG_EDGES) HG_TRY(wg_flush(r));
    uint32_t place = r->edges;
    memcpy(word, host, (size_t)size);
    wg.QueueWriteBuffer(d->queue, d->own.scratch->buffer, place, word, sizeof word);
    HG_TRY(merge(r, to, offset, d->own.scratch, place, size, TAKES_BYTES));
    r->edges = place + (uint32_t)sizeof word;
    return HG_OK;
}

/* The library has taken the bytes when the call returns, in the order of submissions. */
static hg_status copy_in(wg_recorder *r, const uint8_t *host, const hg_range *to) {
    enum { STEP = 32 << 20 };
    words w = words_of(to->offset, to->size);
    if (wg_awaits_host(r, host, to->size)) {
        HG_TRY(wg_flush(r));
        HG_TRY(wg_drain(r->device));
    }
    if (w.size && r->recorded) HG_TRY(wg_flush(r)); /* that comes before */
    for (uint64_t done = 0; done < w.size; done += STEP) {
        uint64_t size = w.size - done < STEP ? w.size - done : STEP;
        HG_TRY(wg_open(r));
        r->piece->bytes += size;
        wg.QueueWriteBuffer(r->device->queue, to->arena->buffer, to->offset + w.front + done,
                            host + w.front + done, (size_t)size);
    }
    HG_TRY(copy_edge(r, host, to->arena, to->offset, w.front));
    uint64_t back = w.front + w.size;
    return copy_edge(r, host + back, to->arena, to->offset + back, w.back);
}

static hg_status copy_out(wg_recorder *r, const hg_range *from, uint8_t *host) {
    enum { STEP = 32 << 20 };
    for (uint64_t done = 0; done < from->size; done += STEP) {
        uint64_t size = from->size - done < STEP ? from->size - done : STEP;
        uint64_t start = (from->offset + done) & ~UINT64_C(3), skip = from->offset + done - start;
        wg_read *read;
        HG_TRY(open_for_copy(r));
        HG_TRY(wg_read_add(r, round_up(skip + size, 4), &read));
        read->host = host + done;
        read->skip = skip;
        read->size = size;
        wg.CommandEncoderCopyBufferToBuffer(r->encoder, from->arena->buffer, start, read->buffer, 0,
                                            round_up(skip + size, 4));
    }
    return HG_OK;
}

/* ---- commands of arenas in parts: one after another, each inside one buffer ---- */

static hg_range inside(const hg_range *range, uint64_t done) {
    return (hg_range){range->arena, range->offset + done, range->arena ? range->size - done : 0};
}

/* Bytes of a range that lie in the buffer of its byte `end - 1` in front of that, at most `size`.
 */
static uint64_t back_size(const hg_range *range, uint64_t end, uint64_t size) {
    uint64_t part = range->arena->parts ? range->arena->part_bytes : UINT64_MAX,
             most = (range->offset + end - 1) % part + 1;
    return size < most ? size : most;
}

static hg_status one_of(wg_recorder *r, const hg_driver_command *c, const hg_range *to,
                        const hg_range *from, uint64_t done) {
    switch (c->kind) {
    case HG_CMD_COPY_IN: return copy_in(r, (const uint8_t *)c->host + done, to);
    case HG_CMD_COPY_OUT: return copy_out(r, from, (uint8_t *)c->host + done);
    case HG_CMD_COPY: return copy(r, from, to);
    default: return fill(r, to, c->value);
    }
}

/* Copies inside one arena begin at the end that is not overwritten. */
static hg_status in_parts(wg_recorder *r, const hg_driver_command *c) {
    bool copies = c->kind == HG_CMD_COPY,
         backwards = copies && c->to.arena == c->from.arena && c->to.offset > c->from.offset;
    uint64_t all = c->kind == HG_CMD_COPY_OUT ? c->from.size : c->to.size;
    for (uint64_t done = 0; done < all;) {
        uint64_t size = all - done;
        if (backwards) size = back_size(&c->to, all - done, back_size(&c->from, all - done, size));
        uint64_t at = backwards ? all - done - size : done;
        hg_range to = inside(&c->to, at), from = inside(&c->from, at);
        if (c->kind != HG_CMD_COPY_OUT) to = wg_arena_part(&to, &size);
        if (copies || c->kind == HG_CMD_COPY_OUT) from = wg_arena_part(&from, &size);
        to.size = from.size = size;
        HG_TRY(one_of(r, c, &to, &from, at));
        done += size;
    }
    return HG_OK;
}

hg_status wg_record(wg_recorder *r, const hg_driver_command *c) {
    switch (c->kind) {
    case HG_CMD_COPY_IN:
    case HG_CMD_COPY_OUT:
    case HG_CMD_COPY:
    case HG_CMD_FILL: return in_parts(r, c);
    case HG_CMD_DISPATCH: return dispatch(r, c->dispatch);
    case HG_CMD_LAUNCH:
    case HG_CMD_STEP: break;
    }
    return hg_fail(HG_ERROR_INTERNAL, "webgpu: unknown command %d", (int)c->kind);
}
