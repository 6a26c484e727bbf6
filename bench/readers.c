/* What a copy out of a buffer pays for finding the buffer: under a reader (base/readers.h), a read
 * lock of pthreads, the table's mutex taken twice, and not at all. All four in turn, in one run;
 * nanoseconds of CPU time, medians. ninja -C build/release bench_readers &&
 * build/release/bench/bench_readers */
#include "base/handles.h"
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16384, ROUNDS = 31 };
static hg_handles table;
static uint64_t handle;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static _Alignas(4096) uint8_t from[MOST], to[MOST];

static void with_reader(size_t size) {
    hg_reader *reader;
    void *object = hg_handles_enter(&table, handle, &reader);
    if (!object) return;
    memcpy(to, object, size);
    hg_reader_leave(reader);
}

static void with_read_lock(size_t size) {
    uint64_t place;
    pthread_rwlock_rdlock(&lock);
    const hg_handle_entry *slots = table.pieces[hg_handles_piece(hg_handle_index(handle), &place)];
    if (slots && slots[place].key == handle) memcpy(to, slots[place].object, size);
    pthread_rwlock_unlock(&lock);
}

static void with_mutex(size_t size) {
    void *object = hg_handles_retain(&table, handle);
    if (!object) return;
    memcpy(to, object, size);
    hg_handles_release(&table, handle);
}

static void alone(size_t size) {
    memcpy(to, from, size);
    __asm__ volatile("" ::: "memory");
}

int main(void) {
    static const struct {
        const char *name;
        void (*copy)(size_t size);
    } WAYS[] = {{"reader", with_reader},
                {"read lock", with_read_lock},
                {"mutex twice", with_mutex},
                {"memcpy alone", alone}};
    memset(from, 1, sizeof from);
    memset(to, 1, sizeof to);
    hg_handles_init(&table, NULL, NULL);
    if (hg_handles_add(&table, from, &handle) != HG_OK) return 1;
    for (size_t size = 64; size <= MOST; size *= 4) {
        bench_samples samples[HG_COUNT_OF(WAYS)] = {{.count = 0}};
        int inner = (int)(40000000 / (size + 400));
        for (int round = 0; round < ROUNDS; round++)
            for (size_t way = 0; way < HG_COUNT_OF(WAYS); way++) {
                double start = bench_cpu();
                for (int i = 0; i < inner; i++) WAYS[way].copy(size);
                bench_add(&samples[way], (bench_cpu() - start) / inner);
            }
        printf("%6zu bytes:", size);
        for (size_t way = 0; way < HG_COUNT_OF(WAYS); way++)
            printf("  %s %.1f", WAYS[way].name, bench_median(&samples[way]) * 1e9);
        printf(" ns\n");
    }
    hg_handles_free(&table);
    return 0;
}
