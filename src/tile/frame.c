/* Frames: the storage of one running tile. A kernel keeps those that are not in use, so that a
 * launch allocates nothing.
 * Must not know: what code does. */
#include "tile/tile_internal.h"
#include <string.h>

enum { ALIGN = 64 };

static uint64_t round_up(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* Bytes of a vector register: whole cache lines, except in frames of a lane or two. */
static uint64_t register_bytes(const tile_register *reg, uint32_t width) {
    uint64_t bytes = (uint64_t)reg->size * width;
    return width >= TILE_MIN_WIDTH ? round_up(bytes) : (bytes + 7) / 8 * 8;
}

static bool is_vector(const tile_register *reg) {
    return reg->kind == TILE_REGISTER_VECTOR || reg->kind == TILE_REGISTER_SPLAT ||
           reg->kind == TILE_REGISTER_SPARE;
}

static void fill_splat(uint8_t *d, const tile_register *reg, uint32_t width) {
    for (uint32_t i = 0; i < width; i++)
        for (uint8_t b = 0; b < reg->size; b++)
            d[(uint64_t)i * reg->size + b] = (uint8_t)(reg->imm >> (8 * b));
}

static void place_registers(const tile_kernel *k, tile_frame *f, uint8_t *cells, uint8_t *vectors,
                            uint8_t *arrays) {
    for (uint32_t i = 0; i < k->frame.register_count; i++) {
        const tile_register *reg = &k->frame.registers[i];
        switch ((tile_register_kind)reg->kind) {
        case TILE_REGISTER_VECTOR:
        case TILE_REGISTER_SPLAT:
        case TILE_REGISTER_SPARE:
            f->reg[i] = vectors;
            vectors += register_bytes(reg, f->width);
            if (reg->kind == TILE_REGISTER_SPLAT) fill_splat(f->reg[i], reg, f->width);
            break;
        case TILE_REGISTER_ARRAY: f->reg[i] = arrays + reg->offset * f->width; break;
        case TILE_REGISTER_BOUND:
        case TILE_REGISTER_DIRECT: f->reg[i] = NULL; break;
        default:
            f->reg[i] = cells;
            if (reg->kind == TILE_REGISTER_CONST) memcpy(cells, &reg->imm, 8);
            cells += TILE_CELL;
            break;
        }
    }
}

/* Bytes of the parts of a frame. */
typedef struct frame_parts {
    uint64_t lanes, head, pointers, masks, returns, arrays, mask_bytes, vectors, cells, total;
} frame_parts;

/* False: more than there can be. */
static bool measure(const tile_kernel *k, uint32_t width, frame_parts *p) {
    uint64_t vectors = 0, cells = 0;
    for (uint32_t i = 0; i < k->frame.register_count; i++) {
        if (is_vector(&k->frame.registers[i]))
            vectors += register_bytes(&k->frame.registers[i], width);
        else
            cells += TILE_CELL;
    }
    *p = (frame_parts){.lanes = round_up(width),
                       .head = round_up(sizeof(tile_frame)),
                       .pointers = round_up((uint64_t)k->frame.register_count * sizeof(uint8_t *)),
                       .masks = round_up((uint64_t)k->code.mask_count * sizeof(tile_mask)),
                       .returns = round_up((uint64_t)k->code.function_count * 4),
                       .vectors = round_up(vectors),
                       .cells = round_up(cells)};
    if (!hg_mul_u64(k->frame.array_bytes, width, &p->arrays) ||
        !hg_mul_u64(p->lanes, k->code.mask_count, &p->mask_bytes))
        return false;
    p->arrays = round_up(p->arrays);
    p->total = p->head + p->pointers + p->masks + p->returns;
    const uint64_t parts[] = {p->arrays, p->mask_bytes, p->vectors, p->cells, 11 * p->lanes};
    for (size_t i = 0; i < HG_COUNT_OF(parts); i++)
        if (!hg_add_u64(p->total, parts[i], &p->total)) return false;
    return p->total <= SIZE_MAX / 2;
}

uint64_t tile_frame_bytes(const tile_kernel *kernel, uint32_t width) {
    frame_parts p;
    return measure(kernel, width, &p) ? p.total : UINT64_MAX;
}

static tile_frame *frame_create(const tile_kernel *k, uint32_t width) {
    frame_parts p;
    if (!measure(k, width, &p)) return NULL;
    const uint64_t lanes = p.lanes, total = p.total;
    uint8_t *memory = hg_alloc_aligned((size_t)total, ALIGN);
    if (!memory) return NULL;
    memset(memory, 0, (size_t)total);
    tile_frame *f = (tile_frame *)(void *)memory;
    uint8_t *at = memory + p.head;
    f->kernel = k;
    f->width = width;
    f->reg = (uint8_t **)(void *)at;
    at += p.pointers;
    f->mask = (tile_mask *)(void *)at;
    at += p.masks;
    f->returns = (uint32_t *)(void *)at;
    at += p.returns;
    f->ones = at;
    f->zeros = at + lanes;
    f->bad = at + 2 * lanes;
    f->scratch = at + 3 * lanes;
    at += 11 * lanes;
    memset(f->ones, 1, (size_t)lanes);
    for (uint32_t i = 0; i < k->code.mask_count; i++, at += lanes) f->mask[i].bytes = at;
    place_registers(k, f, at, at + p.cells, at + p.cells + p.vectors);
    return f;
}

void tile_frame_free(tile_frame *frame) {
    if (!frame) return;
    hg_free(frame->shared.own);
    hg_free_aligned(frame->kept.bytes);
    hg_free_aligned(frame);
}

tile_frame *tile_frame_take(const tile_kernel *kernel, uint32_t width) {
    tile_kernel *k = (tile_kernel *)(uintptr_t)kernel; /* the cache is not part of its meaning */
    for (size_t i = 0; i < TILE_FRAME_CACHE; i++) {
        if (!atomic_load_explicit(&k->frame.cache[i], memory_order_relaxed)) continue;
        tile_frame *frame = atomic_exchange_explicit(&k->frame.cache[i], NULL,
                                                     memory_order_acquire);
        if (frame && frame->width == width) return frame;
        if (frame && i + 1 == TILE_FRAME_CACHE) {
            tile_frame_free(frame);
        } else if (frame) { /* another width: back, unless somebody took the place */
            tile_frame *none = NULL;
            if (!atomic_compare_exchange_strong_explicit(
                    &k->frame.cache[i], &none, frame, memory_order_release, memory_order_relaxed))
                tile_frame_free(frame);
        }
    }
    return frame_create(kernel, width);
}

void tile_frame_give(tile_frame *frame) {
    tile_kernel *k = (tile_kernel *)(uintptr_t)frame->kernel;
    for (size_t i = 0; i < TILE_FRAME_CACHE; i++) {
        tile_frame *none = NULL;
        if (atomic_load_explicit(&k->frame.cache[i], memory_order_relaxed)) continue;
        if (atomic_compare_exchange_strong_explicit(&k->frame.cache[i], &none, frame,
                                                    memory_order_release, memory_order_relaxed))
            return;
    }
    tile_frame_free(frame);
}

bool tile_frame_shared(tile_frame *frame, uint64_t bytes) {
    frame->shared.size = bytes;
    if (bytes > frame->shared.capacity) {
        hg_free(frame->shared.own);
        frame->shared.capacity = 0;
        frame->shared.own = bytes <= SIZE_MAX ? hg_alloc((size_t)bytes) : NULL;
        if (!frame->shared.own) return false;
        frame->shared.capacity = bytes;
    }
    frame->shared.bytes = frame->shared.own;
    return true;
}
