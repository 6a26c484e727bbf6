/* The handle table of open accesses: what hg_run_buffer, hg_run_pool and hg_run_flat
 * answer, as memory (kir/device/device.h). Made again when buffers or pools came or went since the
 * last time. The launch is guarded: nothing is freed meanwhile.
 * Must not know: code. */
#include "runtime/execute_internal.h"
#include <string.h>

enum { NO_ARENA = -1 };

/* The number of the arena that holds a range; new ones are added. NO_ARENA: out of memory. */
static int64_t arena_number(hg_dispatch_queue *queue, const hg_piece *piece) {
    for (uint32_t i = 0; i < queue->arena_count; i++)
        if (queue->arenas[i].arena == piece->range.arena) return i;
    if (queue->arena_count == queue->arena_capacity) {
        uint32_t more = queue->arena_capacity ? queue->arena_capacity * 2 : 8;
        hg_range *arenas = hg_realloc(queue->arenas, more * sizeof *arenas);
        if (!arenas) return NO_ARENA;
        queue->arenas = arenas;
        queue->arena_capacity = more;
    }
    queue->arenas[queue->arena_count] = (hg_range){piece->range.arena, 0, piece->arena_bytes};
    return queue->arena_count++;
}

static bool put_entry(const hg_backend *b, hg_dispatch_queue *queue, uint32_t *entry,
                      uint64_t handle, const hg_piece *piece) {
    int64_t arena = 0;
    uint64_t base = piece->range.offset;
    if (b->caps->compiler.target.addressed)
        base += b->driver->arena_address(piece->range.arena);
    else if ((arena = arena_number(queue, piece)) == NO_ARENA)
        return false;
    entry[KIR_ENTRY_HANDLE] = (uint32_t)handle;
    entry[KIR_ENTRY_HANDLE_HIGH] = (uint32_t)(handle >> 32);
    entry[KIR_ENTRY_ARENA] = (uint32_t)arena;
    entry[KIR_ENTRY_VALID] = 1 | (uint32_t)(b->number << (HG_BACKEND_NUMBER_SHIFT - 32));
    entry[KIR_ENTRY_BASE] = (uint32_t)base;
    entry[KIR_ENTRY_BASE_HIGH] = (uint32_t)(base >> 32);
    entry[KIR_ENTRY_SIZE] = (uint32_t)piece->range.size;
    entry[KIR_ENTRY_SIZE_HIGH] = (uint32_t)(piece->range.size >> 32);
    return true;
}

/* Entries of one kind: how many indices there are. */
static uint64_t entries(const hg_run *run, bool pools) {
    hg_backend *b = run->context->backend;
    uint64_t end = hg_handles_end(pools ? &b->pools : &b->buffers);
    for (uint64_t i = 0; pools && i < run->pools.aliases.count; i++) {
        uint64_t index = hg_handle_index(run->pools.aliases.data[i].id);
        if (index >= end) end = index + 1;
    }
    return end;
}

/* The host's copy of the table, charged like the device's. */
static hg_status make_copy(hg_dispatch_queue *queue, uint64_t words) {
    hg_budget *budget = queue->device->memory->budget;
    hg_dispatch_table_free(queue);
    if (words > SIZE_MAX / 4) return hg_fail_memory();
    HG_TRY(hg_budget_charge(budget, words * 4));
    queue->table = hg_alloc((size_t)words * 4);
    if (queue->table) {
        queue->table_words = words;
        return HG_OK;
    }
    hg_budget_release(budget, words * 4);
    return hg_fail_memory();
}

/* The memory that the device has now may be in use: the run frees it. */
static hg_status keep_until_end(hg_run *run, hg_dispatch_queue *queue) {
    if (!queue->table_memory.range.arena) return HG_OK;
    hg_piece *old = hg_vec_push(&run->memory.pieces);
    if (!old) return hg_fail_memory();
    *old = queue->table_memory;
    memset(&queue->table_memory, 0, sizeof queue->table_memory);
    return HG_OK;
}

/* Others take the host's copy. */
static bool is_on_device(const hg_run *run) {
    return run->context->backend->caps->compiler.device_form;
}

static hg_status make_larger(hg_run *run, hg_dispatch_queue *queue, uint64_t words) {
    HG_TRY(make_copy(queue, words));
    if (!is_on_device(run)) return HG_OK;
    hg_status status = keep_until_end(run, queue);
    if (status == HG_OK)
        status = hg_piece_alloc(queue->device->memory, words * 4, &queue->table_memory);
    if (status != HG_OK) hg_dispatch_table_free(queue); /* next time both are made */
    return status;
}

static hg_status make_table(hg_run *run, hg_dispatch_queue *queue, uint64_t words) {
    if (words > queue->table_words) HG_TRY(make_larger(run, queue, words + words / 2));
    memset(queue->table, 0, (size_t)words * 4);
    return HG_OK;
}

static bool put_live(hg_backend *b, hg_dispatch_queue *queue, hg_handles *handles, uint64_t count,
                     uint32_t *table) {
    for (uint64_t i = 1; i < count; i++) {
        uint64_t handle = hg_handles_at(handles, i);
        const hg_memory *m = handle ? hg_handles_get(handles, handle) : NULL;
        if (m && !put_entry(b, queue, table + i * KIR_ENTRY_WORDS, handle, &m->place)) return false;
    }
    return true;
}

/* A buffer that the binding holds is there even when its handle was freed meanwhile; so is a pool
 * unless pools move. */
static bool put_held(hg_backend *b, hg_dispatch_queue *queue, const hg_held *held, uint64_t count,
                     uint64_t entry_count, uint32_t *table, bool *particular) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t index = hg_handle_index(held[i].handle);
        uint32_t *entry = table + index * KIR_ENTRY_WORDS;
        if (index >= entry_count || entry[KIR_ENTRY_VALID]) continue;
        hg_piece piece = {.range = held[i].range, .arena_bytes = held[i].arena_bytes};
        if (!put_entry(b, queue, entry, held[i].handle, &piece)) return false;
        *particular = true;
    }
    return true;
}

/* Pools under numbers of the program's choice. */
static hg_status put_aliases(const hg_run *run, hg_dispatch_queue *queue, uint32_t *table) {
    hg_backend *b = run->context->backend;
    for (uint64_t i = 0; i < run->pools.aliases.count; i++) {
        const hg_pool_alias *a = &run->pools.aliases.data[i];
        uint32_t *entry = table + hg_handle_index(a->id) * KIR_ENTRY_WORDS;
        const hg_memory *m = hg_handles_get(&b->pools, a->handle);
        bool own = entry[KIR_ENTRY_VALID] && entry[KIR_ENTRY_HANDLE] == (uint32_t)a->handle &&
                   entry[KIR_ENTRY_HANDLE_HIGH] == (uint32_t)(a->handle >> 32);
        if (entry[KIR_ENTRY_VALID] && !own)
            return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                           "pools %llu and %llu share an entry of the device's handle table",
                           (unsigned long long)a->id,
                           (unsigned long long)entry[KIR_ENTRY_HANDLE] |
                               (unsigned long long)entry[KIR_ENTRY_HANDLE_HIGH] << 32);
        if (m && !put_entry(b, queue, entry, a->id, &m->place)) return hg_fail_memory();
    }
    return HG_OK;
}

static hg_status fill(hg_run *run, hg_dispatch_queue *queue, uint64_t buffers, uint64_t pools,
                      bool *particular) {
    hg_backend *b = run->context->backend;
    const hg_binding *binding = run->binding;
    uint32_t *pool_table = queue->table + buffers * KIR_ENTRY_WORDS;
    queue->arena_count = 0;
    bool ok = put_entry(b, queue, queue->table, 0, &run->context->class_memory);
    ok = ok && put_live(b, queue, &b->buffers, buffers, queue->table) &&
         put_live(b, queue, &b->pools, pools, pool_table);
    ok = ok && put_held(b, queue, binding->memory.held_buffers.data,
                        binding->memory.held_buffers.count, buffers, queue->table, particular);
    if (!binding->executable->moves_pools)
        ok = ok && put_held(b, queue, binding->memory.held_pools.data,
                            binding->memory.held_pools.count, pools, pool_table, particular);
    if (!ok) return hg_fail_memory();
    *particular |= run->pools.aliases.count != 0;
    return put_aliases(run, queue, pool_table);
}

/* Whether the binding may see other memory than the handles say. */
static bool is_particular(const hg_run *run) {
    const hg_binding *binding = run->binding;
    hg_backend *b = run->context->backend;
    if (run->pools.aliases.count) return true;
    for (uint64_t i = 0; i < binding->memory.held_buffers.count; i++)
        if (!hg_handles_get(&b->buffers, binding->memory.held_buffers.data[i].handle)) return true;
    for (uint64_t i = 0; i < binding->memory.held_pools.count; i++)
        if (!hg_handles_get(&b->pools, binding->memory.held_pools.data[i].handle)) return true;
    return false;
}

/* To the device. */
static hg_status add_copy(hg_run *run, hg_dispatch_queue *queue, uint64_t words) {
    hg_driver_command copy = {
        .kind = HG_CMD_COPY_IN,
        .to = {queue->table_memory.range.arena, queue->table_memory.range.offset, words * 4},
        .host = queue->table};
    if (!hg_run_is_immediate(run)) { /* the table may change before the device reads it */
        copy.host = hg_run_alloc(run, (size_t)words * 4);
        if (!copy.host) return hg_fail_memory();
        memcpy(copy.host, queue->table, (size_t)words * 4);
    }
    return hg_run_add(run, &copy);
}

hg_status hg_table_update(hg_run *run) {
    hg_backend *b = run->context->backend;
    hg_dispatch_queue *queue = &run->stream->dispatch;
    hg_range class_memory;
    uint64_t version = 1 + hg_handles_version(&b->buffers) +
                       hg_handles_version(&b->pools); /* first:
                                                         what
                                                         comes
                                                         later
                                                         is
                                                         seen
                                                         next
                                                         time
                                                       */
    if (version == queue->table_version && !is_particular(run)) return HG_OK;
    HG_TRY(hg_context_class_memory(run->context, &class_memory));
    uint64_t buffers = entries(run, false), pools = entries(run, true),
             words = (buffers + pools) * KIR_ENTRY_WORDS;
    bool particular = false;
    queue->table_version = 0;
    HG_TRY(make_table(run, queue, words));
    HG_TRY(fill(run, queue, buffers, pools, &particular));
    queue->table_counts[0] = (uint32_t)buffers;
    queue->table_counts[1] = (uint32_t)pools;
    if (is_on_device(run)) HG_TRY(add_copy(run, queue, words));
    if (!particular) queue->table_version = version;
    return HG_OK;
}
