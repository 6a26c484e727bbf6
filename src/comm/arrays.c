/* Arrays of a call as the host sees them, which are copies where they are of other devices.
 * Must not know: transfers. */
#include "comm/comm.h"
#include <string.h>

/* Where the array lies; a copy of it where the host does not see it. */
static hg_status find_memory(comm_op *op, comm_array *a, void *host, hg_buffer buffer,
                             uint64_t offset, bool read) {
    hg_backend *b = op->comm->backend;
    if (!a->bytes) return HG_OK;
    a->memory = host;
    if (host) return HG_OK;
    uint64_t size;
    HG_TRY(hg_backend_buffer_size(b, buffer, &size));
    if (offset > size || a->bytes > size - offset)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%llu bytes from byte %llu of a buffer of %llu",
                       (unsigned long long)a->bytes, (unsigned long long)offset,
                       (unsigned long long)size);
    hg_native_buffer native = {.size = sizeof native};
    if (hg_backend_is_host(b) && hg_buffer_native(b, buffer, &native) == HG_OK &&
        native.kind == HG_MEMORY_HOST) {
        a->memory = (uint8_t *)(uintptr_t)native.memory + offset;
        return HG_OK;
    }
    a->memory = hg_alloc_aligned((size_t)a->bytes, 64);
    if (!a->memory) return hg_fail_memory();
    a->copied = true;
    return read ? hg_buffer_read(b, buffer, offset, a->memory, a->bytes) : HG_OK;
}

/* Blocks are written where others of the same array are still read. */
static hg_status part_arrays(comm_op *op) {
    hg_comm_kind kind = op->call.kind;
    if (op->in.memory != op->out.memory || !op->in.bytes || op->among.count == 1) return HG_OK;
    if (kind != HG_COMM_ALL_TO_ALL && kind != HG_COMM_REDUCE_SCATTER) return HG_OK;
    uint8_t *own = hg_alloc_aligned((size_t)op->in.bytes, 64);
    if (!own) return hg_fail_memory();
    memcpy(own, op->in.memory, (size_t)op->in.bytes);
    op->in.memory = own;
    op->in.copied = true;
    return HG_OK;
}

static hg_status find_array(comm_op *op, comm_array *a, void *host, hg_buffer buffer,
                            uint64_t offset, bool read) {
    uint64_t unit = op->size < 8 ? op->size : 8;
    HG_TRY(find_memory(op, a, host, buffer, offset, read));
    if ((uintptr_t)a->memory % unit == 0) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the %s is not aligned to %llu bytes",
                   read ? "input" : "output", (unsigned long long)unit);
}

hg_status comm_find_arrays(comm_op *op) {
    const hg_comm_call *c = &op->call;
    if (!comm_op_bytes(op, &op->in.bytes, &op->out.bytes))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%llu elements are too many",
                       (unsigned long long)c->count);
    HG_TRY(find_array(op, &op->in, (void *)(uintptr_t)c->input, c->input_buffer, c->input_offset,
                      true));
    HG_TRY(find_array(op, &op->out, c->output, c->output_buffer, c->output_offset, false));
    return part_arrays(op);
}

hg_status comm_write_back(comm_op *op) {
    if (!op->out.copied) return HG_OK;
    return hg_buffer_write(op->comm->backend, op->call.output_buffer, op->call.output_offset,
                           op->out.memory, op->out.bytes);
}

void comm_free_arrays(comm_op *op) {
    if (op->in.copied) hg_free_aligned(op->in.memory);
    if (op->out.copied) hg_free_aligned(op->out.memory);
    op->in.copied = op->out.copied = false;
}
