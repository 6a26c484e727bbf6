/* SHA-256 of every block of 64 bytes of a file, by examples/programs/sha256.atlas as C: no library
 * of Hologram is linked.
 *
 *     hologram build ../programs/sha256.atlas -o sha256
 *     cc -O3 digests.c sha256.c -lm -lpthread -o digests
 *     ./digests FILE [THREADS]
 *
 * Prints a digest a line. The last block is filled up with zeros. */
#include "sha256.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64, DIGEST = 32, MOST_THREADS = 64 };

typedef struct work {
    const uint32_t *messages;
    uint32_t *digests;
    uint64_t blocks, begin, end;
    int code;
    sha256_fault fault;
    pthread_t thread;
} work;

/* A thread's part of the launch. */
static void *run(void *user) {
    work *w = user;
    const sha256_launch launch = sha256_part(w->blocks, w->begin, w->end);
    w->code = sha256(&launch, w->messages, w->blocks * BLOCK, w->digests, w->blocks * DIGEST,
                     w->blocks, &w->fault);
    return NULL;
}

static unsigned char *read_blocks(const char *path, uint64_t *blocks) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) return NULL;
    const long size = ftell(f);
    *blocks = size > 0 ? ((uint64_t)size + BLOCK - 1) / BLOCK : 0;
    unsigned char *bytes = calloc(*blocks + 1, BLOCK);
    rewind(f);
    const size_t got = bytes ? fread(bytes, 1, (size_t)size, f) : 0;
    fclose(f);
    if (got == (size_t)size) return bytes;
    free(bytes);
    return NULL;
}

int main(int argc, char **argv) {
    static work all[MOST_THREADS];
    uint64_t blocks = 0;
    const int threads = argc > 2 ? atoi(argv[2]) : 1;
    if (sha256_check() != 0) {
        fprintf(stderr, "sha256.c is not compiled as it must be: %s\n",
                sha256_problem(sha256_check()));
        return 2;
    }
    unsigned char *bytes = argc > 1 && threads > 0 && threads <= MOST_THREADS
                               ? read_blocks(argv[1], &blocks)
                               : NULL;
    unsigned char *digests = calloc(blocks + 1, DIGEST);
    if (!bytes || !digests) {
        fprintf(stderr, "usage: digests FILE [THREADS]\n");
        return 2;
    }
    for (int i = 0; i < threads; i++) {
        all[i] = (work){.messages = (const uint32_t *)(const void *)bytes,
                        .digests = (uint32_t *)(void *)digests,
                        .blocks = blocks};
        all[i].begin = blocks * (uint64_t)i / (uint64_t)threads;
        all[i].end = blocks * (uint64_t)(i + 1) / (uint64_t)threads;
        if (pthread_create(&all[i].thread, NULL, run, &all[i]) != 0) return 2;
    }
    int failed = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i].thread, NULL);
        if (all[i].code)
            fprintf(stderr, "block %llu: %s\n", (unsigned long long)all[i].fault.lane,
                    all[i].fault.message);
        failed |= all[i].code;
    }
    for (uint64_t i = 0; i < blocks && !failed; i++) {
        for (int n = 0; n < DIGEST; n++) printf("%02x", digests[i * DIGEST + (uint64_t)n]);
        printf("\n");
    }
    fprintf(stderr, "%llu blocks, %d threads, %s\n", (unsigned long long)blocks, threads,
            sha256_level());
    free(bytes);
    free(digests);
    return failed != 0;
}
