/* Arenas divided among buffers: first fit from a list of free pieces, neighbours join when freed.
 * The driver's arenas are zero; bytes below a chunk's high-water mark were used before and are
 * zeroed again when they are given out.
 * Must not know: handles, programs. */
#include "runtime/suballoc.h"
#include <string.h>

struct hg_span {
    hg_chunk *chunk;
    uint64_t offset, size;
    hg_span *before, *after;           /* by address */
    hg_span *free_before, *free_after; /* free pieces of the chunk, the last freed first */
    bool taken;
};

struct hg_chunk {
    hg_chunk *next;
    hg_driver_arena *arena;
    uint64_t size, used;
    uint64_t touched; /* bytes from here on are as the driver gave them */
    hg_span *first, *free;
};

void hg_suballocator_init(hg_suballocator *s, const hg_driver *driver, hg_device *device) {
    memset(s, 0, sizeof *s);
    s->driver = driver;
    s->device = device;
    s->caps = driver->device_caps(device);
    hg_mutex_init(&s->lock);
}

/* ---- pieces ---- */

static void list_free(hg_span *p) {
    hg_chunk *c = p->chunk;
    p->taken = false;
    p->free_before = NULL;
    p->free_after = c->free;
    if (c->free) c->free->free_before = p;
    c->free = p;
}

static void unlist_free(hg_span *p) {
    if (p->free_before)
        p->free_before->free_after = p->free_after;
    else
        p->chunk->free = p->free_after;
    if (p->free_after) p->free_after->free_before = p->free_before;
}

/* p swallows the piece behind it. */
static void swallow_next(hg_span *p) {
    hg_span *next = p->after;
    unlist_free(next);
    p->size += next->size;
    p->after = next->after;
    if (p->after) p->after->before = p;
    hg_free(next);
}

static void release(hg_suballocator *s, hg_span *p) {
    hg_chunk *c = p->chunk;
    c->used -= p->size;
    hg_budget_idle(s->budget, p->size);
    list_free(p);
    if (p->after && !p->after->taken) swallow_next(p);
    if (p->before && !p->before->taken) swallow_next(p->before);
}

/* Takes the first `size` bytes of a free piece; rest becomes the piece behind, and is NULL when it
 * fits exactly. */
static void take(hg_suballocator *s, hg_span *p, uint64_t size, hg_span *rest) {
    unlist_free(p);
    p->taken = true;
    p->chunk->used += size;
    hg_budget_busy(s->budget, size);
    if (!rest) return;
    *rest = (hg_span){.chunk = p->chunk,
                      .offset = p->offset + size,
                      .size = p->size - size,
                      .before = p,
                      .after = p->after};
    if (rest->after) rest->after->before = rest;
    p->after = rest;
    p->size = size;
    list_free(rest);
}

/* ---- chunks ---- */

static void free_chunk(hg_suballocator *s, hg_chunk *c) {
    hg_driver_note_gone();
    s->driver->arena_free(s->device, c->arena);
    hg_budget_busy(s->budget, c->size - c->used);
    hg_budget_release(s->budget, c->size);
    hg_free(c->first);
    hg_free(c);
}

/* An arena of the driver's, charged before it is made. */
static hg_status charged_arena(hg_suballocator *s, uint64_t size, uint64_t charge,
                               hg_driver_arena **arena) {
    if (!hg_budget_take(s->budget, charge)) return hg_budget_refuse(s->budget, size);
    hg_status status = s->driver->arena_alloc(s->device, size, arena);
    if (status != HG_OK) hg_budget_release(s->budget, charge);
    return status;
}

/* A chunk leaves an eighth of its size to what is charged beside arenas: records of launches. */
static bool has_room_for_chunk(const hg_suballocator *s) {
    uint64_t size = s->caps->memory.arena_bytes;
    return !s->budget || hg_budget_fits(s->budget, size + size / 8);
}

static hg_status add_chunk(hg_suballocator *s, hg_chunk **chunk) {
    hg_chunk *c = hg_calloc(1, sizeof *c);
    hg_span *all = hg_calloc(1, sizeof *all);
    hg_status status = c && all ? charged_arena(s, s->caps->memory.arena_bytes,
                                                s->caps->memory.arena_bytes, &c->arena)
                                : hg_fail_memory();
    if (status != HG_OK) {
        hg_free(c);
        hg_free(all);
        return status;
    }
    c->size = s->caps->memory.arena_bytes;
    hg_budget_idle(s->budget, c->size);
    *all = (hg_span){.chunk = c, .size = c->size};
    c->first = all;
    list_free(all);
    c->next = s->chunks;
    s->chunks = c;
    *chunk = c;
    return HG_OK;
}

/* Whether memory that was used before can be made zero: the device fills it, and the host waits for
 * that. */
static bool can_zero(const hg_suballocator *s) {
    return s->caps->memory.host_memory || hg_driver_can_block(s->driver, s->caps);
}

/* All empty chunks, or all but one for what comes next. */
static void drop_empty(hg_suballocator *s, bool all) {
    bool kept = all || !can_zero(s);
    for (hg_chunk **at = &s->chunks; *at;) {
        hg_chunk *c = *at;
        if (c->used || !kept) {
            kept |= c->used == 0;
            at = &c->next;
            continue;
        }
        *at = c->next;
        free_chunk(s, c);
    }
}

void hg_suballocator_destroy(hg_suballocator *s) {
    if (!s->driver) return;
    if (s->queue) s->driver->queue_destroy(s->queue);
    while (s->chunks) {
        hg_chunk *next = s->chunks->next;
        while (s->chunks->first->after) swallow_next(s->chunks->first);
        free_chunk(s, s->chunks);
        s->chunks = next;
    }
    hg_mutex_destroy(&s->lock);
}

/* ---- places ---- */

static hg_status zero_with_queue(hg_suballocator *s, hg_range range) {
    hg_driver_command fill = {.kind = HG_CMD_FILL, .to = range};
    if (!s->queue) HG_TRY(s->driver->queue_create(s->device, &s->queue));
    return hg_driver_run(s->driver, s->device, s->caps, s->queue, &fill);
}

static hg_status zero_again(hg_suballocator *s, hg_span *p) {
    hg_chunk *c = p->chunk;
    uint64_t end = p->offset + p->size, dirty = c->touched < end ? c->touched : end;
    uint64_t bytes = dirty > p->offset ? dirty - p->offset : 0;
    if (c->touched < end) c->touched = end;
    if (!bytes) return HG_OK;
    if (!s->caps->memory.host_memory)
        return zero_with_queue(s, (hg_range){c->arena, p->offset, bytes});
    memset((uint8_t *)s->driver->arena_map(c->arena) + p->offset, 0, (size_t)bytes);
    return HG_OK;
}

/* A free piece; where used memory cannot be made zero, one that was never used. */
static hg_span *find(const hg_suballocator *s, uint64_t size) {
    bool any = can_zero(s);
    for (hg_chunk *c = s->chunks; c; c = c->next)
        for (hg_span *p = c->size - c->used >= size ? c->free : NULL; p; p = p->free_after)
            if (p->size >= size && (any || p->offset >= c->touched)) return p;
    return NULL;
}

/* A piece of a chunk, zeroed; of a new one, where it may grow. The lock is held. */
static hg_status divide(hg_suballocator *s, uint64_t size, bool grow, hg_span **span) {
    hg_span *p = find(s, size), *rest = NULL;
    if (!p) {
        hg_chunk *c = NULL;
        if (!grow || (s->chunks && !can_zero(s)) || !has_room_for_chunk(s))
            return HG_ERROR_ALLOCATION_FAILED; /* small arenas instead of many large ones */
        HG_TRY(add_chunk(s, &c));
        p = c->first;
    }
    if (p->size > size && !(rest = hg_calloc(1, sizeof *rest))) return hg_fail_memory();
    take(s, p, size, rest);
    hg_status status = zero_again(s, p);
    if (status == HG_OK)
        *span = p;
    else
        release(s, p);
    return status;
}

/* What an arena of `size` bytes is charged: whole pieces, and its records. */
static uint64_t charge_for(uint64_t size) {
    if (size > UINT64_MAX - HG_PIECE_ALIGN - HG_ARENA_OVERHEAD) return UINT64_MAX;
    return (size + HG_PIECE_ALIGN - 1) / HG_PIECE_ALIGN * HG_PIECE_ALIGN + HG_ARENA_OVERHEAD;
}

static hg_status own_arena(hg_suballocator *s, uint64_t size, hg_piece *place) {
    uint64_t charge = charge_for(size);
    if (!hg_budget_fits(s->budget, charge)) { /* an empty chunk that is kept may be in the way */
        hg_mutex_lock(&s->lock);
        drop_empty(s, true);
        hg_mutex_unlock(&s->lock);
    }
    HG_TRY(charged_arena(s, size, charge, &place->range.arena));
    place->range.size = place->arena_bytes = size;
    place->charged = charge;
    return HG_OK;
}

static hg_status piece_of_chunk(hg_suballocator *s, uint64_t size, bool grow, hg_piece *place) {
    uint64_t rounded = size ? (size + HG_PIECE_ALIGN - 1) / HG_PIECE_ALIGN * HG_PIECE_ALIGN
                            : HG_PIECE_ALIGN;
    hg_span *span = NULL;
    hg_mutex_lock(&s->lock);
    hg_status status = divide(s, rounded, grow, &span);
    hg_mutex_unlock(&s->lock);
    HG_TRY(status);
    *place = (hg_piece){.range = {span->chunk->arena, span->offset, size},
                        .arena_bytes = span->chunk->size,
                        .span = span};
    return HG_OK;
}

hg_status hg_piece_alloc(hg_suballocator *s, uint64_t size, hg_piece *place) {
    uint64_t most = s->caps->memory.max_arena_bytes, each = s->caps->memory.arena_bytes;
    memset(place, 0, sizeof *place);
    if (most && size > most)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "%llu bytes asked for, the device's largest allocation is %llu",
                       (unsigned long long)size, (unsigned long long)most);
    bool large = size > each / 2 || each < HG_PIECE_ALIGN;
    /* Where there is no room for an arena of its own, perhaps in one that is there; where there is
     * none for a whole arena, perhaps for this. */
    if (large && size <= each && !hg_budget_fits(s->budget, charge_for(size)) &&
        piece_of_chunk(s, size, false, place) == HG_OK)
        return HG_OK;
    if (large) return own_arena(s, size, place);
    hg_status status = piece_of_chunk(s, size, true, place);
    return status == HG_ERROR_ALLOCATION_FAILED ? own_arena(s, size, place) : status;
}

void hg_piece_free(hg_suballocator *s, hg_piece *place) {
    if (place->span) {
        hg_mutex_lock(&s->lock);
        hg_chunk *c = place->span->chunk;
        release(s, place->span);
        if (c->used == 0) drop_empty(s, false);
        hg_mutex_unlock(&s->lock);
    } else if (place->range.arena) {
        hg_driver_note_gone();
        s->driver->arena_free(s->device, place->range.arena);
        hg_budget_release(s->budget, place->charged);
    }
    memset(place, 0, sizeof *place);
}
