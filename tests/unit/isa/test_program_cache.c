/* test: labels=threads */
/* The cache of programs against a model that looks through a list; out of memory; several threads.
 */
#include "support/failing_allocator.h"
#include "test.h"
#include "isa/program.h"
#include <hologram/program_cache.h>
#include <pthread.h>
#include <stdlib.h>

enum { PROGRAMS = 200 };
static hg_program *programs[PROGRAMS];

static hg_program *program_of(int i, const char *label) {
    char text[160];
    hg_program *p = NULL;
    snprintf(text, sizeof text, ".atlas 1\n.program p\n    mov_imm.u32 r1, %d\n%s:\n    exit\n", i,
             label);
    CHECK(hg_program_assemble(text, strlen(text), NULL, &p) == HG_OK);
    return p;
}

/* ---- against a list, newest first ---- */

typedef struct model {
    int items[PROGRAMS], count, capacity;
} model;

static bool model_get(model *m, int item, bool insert) {
    int at = 0;
    while (at < m->count && m->items[at] != item) at++;
    bool found = at < m->count;
    if (!found && !insert) return false;
    if (!found && m->count < m->capacity) m->count++;
    if (!found) at = m->count - 1;
    memmove(&m->items[1], &m->items[0], (size_t)at * sizeof m->items[0]);
    m->items[0] = item;
    return found;
}

static void test_model(size_t capacity) {
    hg_program_cache *c = NULL;
    model m = {.capacity = (int)capacity};
    uint32_t state = 1;
    CHECK(hg_program_cache_create(capacity, &c) == HG_OK);
    CHECK_U64(hg_program_cache_capacity(c), capacity);
    for (int i = 0; i < 5000; i++) {
        state = state * 1664525u + 1013904223u;
        int item = (int)(state >> 16) % (i % 1000 < 500 ? PROGRAMS : 20);
        bool insert = state >> 31;
        if (insert) {
            CHECK(hg_program_cache_insert(c, programs[item]) == HG_OK);
            (void)model_get(&m, item, true);
        } else {
            hg_program *p = hg_program_cache_get(c, programs[item]);
            CHECK((p == programs[item]) == model_get(&m, item, false) &&
                  (!p || p == programs[item]));
            hg_program_release(p);
        }
        CHECK_U64(hg_program_cache_len(c), (uint64_t)m.count);
    }
    hg_program_cache_destroy(c);
}

static void test_rules(void) {
    hg_program_cache *c = NULL;
    hg_program *same = program_of(3, "another"), *p;
    CHECK(memcmp(hg_program_hash(same), hg_program_hash(programs[3]), 32) == 0); /* labels do not
                                                                                    count */
    CHECK(hg_program_cache_create(2, &c) == HG_OK);
    CHECK(hg_program_cache_insert(c, programs[3]) == HG_OK &&
          hg_program_cache_insert(c, same) == HG_OK);
    CHECK_U64(hg_program_cache_len(c), 1); /* in place of the one with its hash */
    CHECK((p = hg_program_cache_get(c, programs[3])) == same);
    hg_program_release(same); /* the cache and p still own it */
    hg_program_cache_destroy(c);
    CHECK_TEXT(hg_program_name(p), "p");
    hg_program_release(p);
    CHECK(hg_program_cache_create(0, &c) == HG_OK);
    CHECK(hg_program_cache_insert(c, programs[0]) == HG_OK &&
          !hg_program_cache_get(c, programs[0]) && !hg_program_cache_len(c));
    CHECK(hg_program_cache_insert(c, NULL) == HG_ERROR_INVALID_ARGUMENT &&
          hg_program_cache_insert(NULL, programs[0]) == HG_ERROR_INVALID_ARGUMENT);
    CHECK(!hg_program_cache_get(c, NULL) && !hg_program_cache_get(NULL, programs[0]) &&
          !hg_program_cache_find(c, NULL));
    CHECK(!hg_program_cache_len(NULL) && !hg_program_cache_capacity(NULL) &&
          hg_program_cache_create(1, NULL) == HG_ERROR_INVALID_ARGUMENT);
    hg_program_cache_destroy(c);
    hg_program_cache_destroy(NULL);
    CHECK(hg_program_cache_create(SIZE_MAX, &c) == HG_OK); /* takes memory only for what is in it */
    CHECK(hg_program_cache_insert(c, programs[0]) == HG_OK);
    hg_program_cache_destroy(c);
}

/* ---- threads ---- */

static void *work(void *user) {
    hg_program_cache *c = user;
    uint32_t state = (uint32_t)(uintptr_t)&state;
    uintptr_t wrong = 0;
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525u + 1013904223u;
        uint32_t item = (state >> 8) % PROGRAMS;
        if (state >> 30 == 0) wrong += hg_program_cache_insert(c, programs[item]) != HG_OK;
        hg_program *p = hg_program_cache_get(c, programs[item]);
        wrong += p && p != programs[item];
        hg_program_release(p);
        wrong += hg_program_cache_len(c) > 50;
    }
    return (void *)wrong;
}

static void test_threads(void) {
    hg_program_cache *c = NULL;
    pthread_t threads[4];
    CHECK(hg_program_cache_create(50, &c) == HG_OK);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, work, c) == 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        CHECK(pthread_join(threads[i], &wrong) == 0 && !wrong);
    }
    CHECK_U64(hg_program_cache_len(c), 50);
    hg_program_cache_destroy(c);
}

/* ---- out of memory at every allocation ---- */

static failing_allocator memory;

static void test_out_of_memory(void) {
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    allow_allocations(&memory, UINT64_MAX);
    for (int i = 0; i < 40; i++) programs[i] = program_of(i, "end");
    uint64_t live = memory.live, failures = 0;
    for (uint64_t k = 0; k < 50; k++) {
        hg_program_cache *c = NULL;
        size_t inside = 0;
        allow_allocations(&memory, k);
        if (hg_program_cache_create(100, &c) == HG_OK)
            for (int i = 0; i < 40; i++) {
                hg_status status = hg_program_cache_insert(c, programs[i]);
                CHECK(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY);
                inside += status == HG_OK;
                failures += status != HG_OK;
                hg_program *p = hg_program_cache_get(c, programs[i]);
                CHECK((p != NULL) == (status == HG_OK));
                hg_program_release(p);
            }
        CHECK_U64(hg_program_cache_len(c), inside);
        hg_program_cache_destroy(c);
        CHECK_U64(memory.live, live);
    }
    CHECK(failures > 100);
    allow_allocations(&memory, UINT64_MAX);
    for (int i = 0; i < 40; i++) hg_program_release(programs[i]);
    CHECK(hg_set_allocator(NULL) == HG_OK);
}

int main(void) {
    static const size_t capacities[] = {1, 2, 7, 16, 17, 100, PROGRAMS};
    test_out_of_memory(); /* first: the hooks are to be set before anything else */
    for (int i = 0; i < PROGRAMS; i++) programs[i] = program_of(i, "end");
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) test_model(capacities[i]);
    test_rules();
    test_threads();
    for (int i = 0; i < PROGRAMS; i++) hg_program_release(programs[i]);
    return test_done();
}
