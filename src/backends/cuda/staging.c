/* Copies between the caller's memory and the device. The driver would wait for the stream in a copy
 * from or to memory that is not pinned; so bytes go through pinned pieces, brought from and to the
 * caller's memory by functions that the stream calls when their turn comes.
 * Must not know: commands, kernels. */
#include "backends/cuda/cuda_internal.h"
#include <string.h>

enum { PIECE_BYTES = 4 << 20, MOST_BYTES = 64 << 20, HOST_PORTABLE = 1, HOST_MAPPED = 2 };

typedef struct piece {
    struct piece *next, *made_before; /* the next free one; any */
    cuda_staging *staging;
    uint8_t *bytes; /* pinned */
    uint64_t capacity, size;
    void *host;         /* the caller's memory */
    const void *source; /* of a copy in */
} piece;

struct cuda_staging {
    hg_mutex lock;
    piece *free, *made; /* made: all, also those that a lost device never freed */
    uint64_t bytes;     /* of all pieces */
};

hg_status cuda_staging_create(hg_device *d, cuda_staging **staging) {
    (void)d;
    cuda_staging *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    hg_mutex_init(&s->lock);
    *staging = s;
    return HG_OK;
}

void cuda_staging_destroy(cuda_staging *s) {
    if (!s) return;
    while (s->made) {
        piece *p = s->made;
        s->made = p->made_before;
        (void)cuda.MemFreeHost(p->bytes);
        hg_free(p);
    }
    hg_mutex_destroy(&s->lock);
    hg_free(s);
}

/* ---- pieces ---- */

static piece *take_free(cuda_staging *s, uint64_t size) {
    piece *found = NULL;
    hg_mutex_lock(&s->lock);
    for (piece **at = &s->free; *at && !found; at = &(*at)->next) {
        if ((*at)->capacity < size) continue;
        found = *at;
        *at = found->next;
        break;
    }
    hg_mutex_unlock(&s->lock);
    return found;
}

/* Called by the stream too: no function of the driver may be called here. */
static void put_free(void *user) {
    piece *p = user;
    hg_mutex_lock(&p->staging->lock);
    p->next = p->staging->free;
    p->staging->free = p;
    hg_mutex_unlock(&p->staging->lock);
}

static hg_status new_piece(cuda_staging *s, uint64_t size, piece **out) {
    piece *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    void *bytes = NULL;
    CUresult error = CU_CALL(MemHostAlloc, &bytes, (size_t)size, HOST_PORTABLE | HOST_MAPPED);
    if (error != CUDA_SUCCESS) {
        hg_free(p);
        return cuda_check("cuMemHostAlloc", error);
    }
    *p = (piece){.staging = s, .bytes = bytes, .capacity = size};
    hg_mutex_lock(&s->lock);
    p->made_before = s->made;
    s->made = p;
    s->bytes += size;
    hg_mutex_unlock(&s->lock);
    *out = p;
    return HG_OK;
}

static bool is_full(cuda_staging *s) {
    hg_mutex_lock(&s->lock);
    bool full = s->bytes >= MOST_BYTES;
    hg_mutex_unlock(&s->lock);
    return full;
}

/* A free one; a new one; or, where there are many, the first that the stream frees. */
static hg_status get_piece(hg_device *d, CUstream stream, uint64_t size, piece **out) {
    uint64_t capacity = size > 65536 ? PIECE_BYTES : 65536;
    *out = take_free(d->staging, size);
    if (!*out && is_full(d->staging)) {
        CU_TRY(StreamSynchronize, stream);
        *out = take_free(d->staging, size);
    }
    return *out ? HG_OK : new_piece(d->staging, capacity > size ? capacity : size, out);
}

/* ---- copies ---- */

static void bring(void *user) {
    piece *p = user;
    memcpy(p->bytes, p->source, (size_t)p->size);
}

static void hand_out(void *user) {
    piece *p = user;
    memcpy(p->host, p->bytes, (size_t)p->size);
    put_free(p);
}

static hg_status copy_piece_in(hg_device *d, CUstream stream, CUdeviceptr to, const void *host,
                               uint64_t size) {
    piece *p;
    HG_TRY(get_piece(d, stream, size, &p));
    p->source = host;
    p->size = size;
    hg_status status = cuda_check("cuLaunchHostFunc", CU_CALL(LaunchHostFunc, stream, bring, p));
    if (status == HG_OK)
        status = cuda_check("cuMemcpyHtoDAsync",
                            CU_CALL(MemcpyHtoDAsync, to, p->bytes, (size_t)size, stream));
    if (status == HG_OK)
        status = cuda_check("cuLaunchHostFunc", CU_CALL(LaunchHostFunc, stream, put_free, p));
    if (status != HG_OK) { /* the stream may still be at it */
        (void)cuda.StreamSynchronize(stream);
        put_free(p);
    }
    return status;
}

static hg_status copy_piece_out(hg_device *d, CUstream stream, void *host, CUdeviceptr from,
                                uint64_t size) {
    piece *p;
    HG_TRY(get_piece(d, stream, size, &p));
    p->host = host;
    p->size = size;
    hg_status status = cuda_check("cuMemcpyDtoHAsync",
                                  CU_CALL(MemcpyDtoHAsync, p->bytes, from, (size_t)size, stream));
    if (status == HG_OK)
        status = cuda_check("cuLaunchHostFunc", CU_CALL(LaunchHostFunc, stream, hand_out, p));
    if (status != HG_OK) {
        (void)cuda.StreamSynchronize(stream);
        put_free(p);
    }
    return status;
}

hg_status cuda_copy_in(hg_device *d, CUstream stream, CUdeviceptr to, const void *host,
                       uint64_t size) {
    for (uint64_t done = 0; done < size; done += PIECE_BYTES) {
        uint64_t part = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        HG_TRY(copy_piece_in(d, stream, to + done, (const uint8_t *)host + done, part));
    }
    return HG_OK;
}

hg_status cuda_copy_out(hg_device *d, CUstream stream, void *host, CUdeviceptr from,
                        uint64_t size) {
    for (uint64_t done = 0; done < size; done += PIECE_BYTES) {
        uint64_t part = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        HG_TRY(copy_piece_out(d, stream, (uint8_t *)host + done, from + done, part));
    }
    return HG_OK;
}

/* ---- records that are no parameters ---- */

hg_status cuda_staging_put(hg_device *d, CUstream stream, const void *bytes, uint64_t size,
                           void **out, CUdeviceptr *address) {
    piece *p;
    HG_TRY(get_piece(d, stream, size, &p));
    memcpy(p->bytes, bytes, (size_t)size);
    hg_status status = cuda_check("cuMemHostGetDevicePointer",
                                  CU_CALL(MemHostGetDevicePointer, address, p->bytes, 0));
    if (status != HG_OK)
        put_free(p);
    else
        *out = p;
    return status;
}

void cuda_staging_keep(void *piece_of_recording, void **kept) {
    piece *p = piece_of_recording;
    p->next = *kept;
    *kept = p;
}

void cuda_staging_drop(void **kept) {
    while (*kept) {
        piece *p = *kept;
        *kept = p->next;
        put_free(p);
    }
}

hg_status cuda_staging_release(hg_device *d, CUstream stream, void *p) {
    (void)d;
    hg_status status = cuda_check("cuLaunchHostFunc", CU_CALL(LaunchHostFunc, stream, put_free, p));
    if (status != HG_OK) {
        (void)cuda.StreamSynchronize(stream);
        put_free(p);
    }
    return status;
}

/* ---- memory between commands ---- */

hg_status cuda_between_alloc(hg_device *d, CUstream stream, size_t size, CUdeviceptr *memory) {
    if (d->pools) {
        CU_TRY(MemAllocAsync, memory, size, stream);
        return HG_OK;
    }
    CU_TRY(StreamSynchronize, stream);
    CU_TRY(MemAlloc, memory, size);
    return HG_OK;
}

void cuda_between_free(hg_device *d, CUstream stream, CUdeviceptr memory) {
    if (d->pools)
        (void)cuda.MemFreeAsync(memory, stream);
    else if (cuda.StreamSynchronize(stream) == CUDA_SUCCESS)
        (void)cuda.MemFree(memory);
}
