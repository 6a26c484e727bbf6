/* Hand-written programs on the raw API: what the library is measured against. */
#ifndef HG_BENCH_PEER_H
#define HG_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

enum { PEER_BUFFERS = 5, PEER_PASSES = 10 };

/* One launch: buffers in the kernel's order, then 32-bit scalars. */
typedef struct peer_pass {
    int buffers[PEER_BUFFERS]; /* indices of the workload's buffers */
    uint32_t scalars[4];
    uint32_t groups[2], group[2];
} peer_pass;
typedef struct peer_workload {
    const char *name; /* of the kernel, and of its files NAME.cl, .comp, .cu and .wgsl */
    int buffer_count, scalar_count, pass_count, pass_buffers;
    size_t bytes[PEER_BUFFERS];
    const void *data[PEER_BUFFERS]; /* NULL: zeros */
    int result;                     /* which buffer is compared */
    peer_pass passes[PEER_PASSES];
} peer_workload;

typedef struct peer peer;
typedef struct peer_api {
    const char *name;
    peer *(*open)(uint32_t device, char reason[256]);
    void (*close)(peer *p);
    /* Compiles the kernel and makes the buffers. 0: failed, said on stderr. */
    int (*prepare)(peer *p, const peer_workload *w, const char *folder);
    void (*run)(peer *p); /* all passes, then waits */
    void (*read)(peer *p, int buffer, void *to, size_t bytes);
    void (*release)(peer *p);
    void (*copy)(peer *p); /* the first half of buffer 0 over the second, on the device; NULL: none
                            */
} peer_api;
extern const peer_api peer_opencl, peer_vulkan, peer_cuda, peer_webgpu;

#endif
