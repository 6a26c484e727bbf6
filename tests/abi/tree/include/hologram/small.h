/* One of everything that a public header has. */
#ifndef HOLOGRAM_SMALL_H
#define HOLOGRAM_SMALL_H

#include <stddef.h>
#include <stdint.h>

#define HG_API __attribute__((visibility("default")))
#define HG_NONE UINT64_MAX
#define HG_HANDLE(cls) (UINT64_C(0xFFA0) + (uint64_t)(cls))

typedef enum hg_status { HG_OK, HG_ERROR_ISA, HG_STATUS_COUNT } hg_status;
typedef enum hg_type { HG_TYPE_U8, HG_TYPE_COUNT } hg_type;

typedef struct hg_buffer {
    uint64_t handle;
} hg_buffer;

typedef struct hg_launch {
    size_t size;
    uint32_t grid[3], block[3];
    uint64_t lanes;
    uint64_t timeout_ms;
    void (*call)(void *user);
    uint64_t max_steps; /* the last one */
} hg_launch;
#define HG_LAUNCH_INIT \
    { sizeof(hg_launch) }

typedef struct hg_options {
    size_t size;
    const char *name;
    int whole;
} hg_options;

typedef struct hg_ring hg_ring;
HG_API hg_ring *hg_ring_create(uint64_t capacity, hg_status *status);
HG_API uint64_t hg_ring_len(const hg_ring *ring);
HG_API void hg_ring_clear(hg_ring *ring, hg_type type, const hg_options *options);

static inline hg_buffer hg_buffer_none(void) { return (hg_buffer){0}; }
static inline hg_launch hg_launch_default(void) { return (hg_launch){sizeof(hg_launch)}; }

#endif
