/* Programs by their hash, the least recently used goes first: a table of chains, and a list of all
 * in the order of their use.
 * Must not know: what programs are for. */
#include "base/thread.h"
#include "isa/program.h"
#include <hologram/program_cache.h>
#include <string.h>

typedef struct entry {
    hg_program *program;
    struct entry *chained;       /* of the same bucket */
    struct entry *newer, *older; /* in the order of use */
} entry;

struct hg_program_cache {
    hg_mutex lock;
    size_t capacity, count, bucket_count; /* buckets: a power of two, or none */
    entry **buckets;
    entry *newest, *oldest;
};

enum { FIRST_BUCKETS = 16 };

/* The hash is BLAKE3: any of its bits will do. */
static size_t bucket_of(const hg_program_cache *c, const uint8_t *hash) {
    uint64_t bits;
    memcpy(&bits, hash, sizeof bits);
    return (size_t)(bits & (c->bucket_count - 1));
}

static entry *find(const hg_program_cache *c, const uint8_t *hash) {
    entry *e = c->bucket_count ? c->buckets[bucket_of(c, hash)] : NULL;
    while (e && memcmp(hg_program_hash(e->program), hash, 32) != 0) e = e->chained;
    return e;
}

/* ---- the order of use ---- */

static void take_out(hg_program_cache *c, entry *e) {
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void put_first(hg_program_cache *c, entry *e) {
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

/* ---- the table ---- */

static void chain(hg_program_cache *c, entry *e) {
    entry **bucket = &c->buckets[bucket_of(c, hg_program_hash(e->program))];
    e->chained = *bucket;
    *bucket = e;
}

static void unchain(hg_program_cache *c, const entry *e) {
    entry **at = &c->buckets[bucket_of(c, hg_program_hash(e->program))];
    while (*at != e) at = &(*at)->chained;
    *at = e->chained;
}

/* A table that is too small is only slower: without memory for a larger one it stays. */
static void grow(hg_program_cache *c) {
    size_t count = c->bucket_count ? c->bucket_count * 2 : FIRST_BUCKETS;
    if (c->count < c->bucket_count) return;
    entry **buckets = hg_calloc(count, sizeof *buckets);
    if (!buckets) return;
    hg_free(c->buckets);
    c->buckets = buckets;
    c->bucket_count = count;
    for (entry *e = c->newest; e; e = e->older) chain(c, e);
}

/* ---- the interface ---- */

hg_status hg_program_cache_create(size_t capacity, hg_program_cache **cache) {
    HG_ENTRY;
    if (!cache) return hg_null_argument("cache");
    hg_program_cache *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    hg_mutex_init(&c->lock);
    c->capacity = capacity;
    *cache = c;
    return HG_OK;
}

void hg_program_cache_destroy(hg_program_cache *c) {
    HG_ENTRY;
    if (!c) return;
    for (entry *e = c->newest, *older; e; e = older) {
        older = e->older;
        hg_program_release(e->program);
        hg_free(e);
    }
    hg_free(c->buckets);
    hg_mutex_destroy(&c->lock);
    hg_free(c);
}

hg_program *hg_program_cache_find(hg_program_cache *c, const uint8_t *hash) {
    HG_ENTRY;
    if (!c || !hash) return NULL;
    hg_mutex_lock(&c->lock);
    entry *e = find(c, hash);
    if (e) {
        take_out(c, e);
        put_first(c, e);
    }
    hg_program *program = e ? hg_program_retain(e->program) : NULL;
    hg_mutex_unlock(&c->lock);
    return program;
}

hg_program *hg_program_cache_get(hg_program_cache *c, const hg_program *program) {
    HG_ENTRY;
    return program ? hg_program_cache_find(c, hg_program_hash(program)) : NULL;
}

/* Under the lock. *dropped: what the cache no longer owns. */
static hg_status insert(hg_program_cache *c, hg_program *program, hg_program **dropped) {
    entry *e = find(c, hg_program_hash(program));
    if (!e && c->count < c->capacity) {
        grow(c);
        e = c->bucket_count ? hg_calloc(1, sizeof *e) : NULL;
        if (!e) return hg_fail_memory();
        c->count++;
    } else {
        if (!e) e = c->oldest;
        take_out(c, e);
        unchain(c, e);
        *dropped = e->program;
    }
    e->program = hg_program_retain(program);
    chain(c, e);
    put_first(c, e);
    return HG_OK;
}

hg_status hg_program_cache_insert(hg_program_cache *c, hg_program *program) {
    HG_ENTRY;
    hg_program *dropped = NULL;
    if (!c || !program) return hg_null_argument(c ? "program" : "cache");
    if (c->capacity == 0) return HG_OK;
    hg_mutex_lock(&c->lock);
    hg_status status = insert(c, program, &dropped);
    hg_mutex_unlock(&c->lock);
    hg_program_release(dropped);
    return status;
}

size_t hg_program_cache_len(hg_program_cache *c) {
    HG_ENTRY;
    if (!c) return 0;
    hg_mutex_lock(&c->lock);
    size_t count = c->count;
    hg_mutex_unlock(&c->lock);
    return count;
}

size_t hg_program_cache_capacity(const hg_program_cache *c) {
    HG_ENTRY;
    return c ? c->capacity : 0;
}
