/* Pieces of arenas, over a driver that only has memory: pieces never overlap, are aligned, zero,
 * and what is given back is used again. Every allocation may fail. */
#include "runtime/suballoc.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"

enum { ARENA = 1 << 16, PIECES = 100 };

struct hg_device {
    uint64_t arenas, bytes, most_arenas, most_bytes; /* alive, and the most allowed */
};
struct hg_driver_arena {
    uint64_t size;
    uint8_t bytes[];
};
struct hg_driver_queue {
    int unused;
};

static hg_device_caps caps = {.memory.arena_bytes = ARENA, .memory.max_arena_bytes = 1 << 20};
static uint64_t filled;

static const hg_device_caps *device_caps(const hg_device *device) { return (void)device, &caps; }
static hg_status arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    if (d->bytes + size > d->most_bytes) return hg_fail(HG_ERROR_ALLOCATION_FAILED, "full");
    *arena = calloc(1, sizeof **arena + size);
    (*arena)->size = size;
    d->arenas++;
    d->bytes += size;
    return HG_OK;
}
static void arena_free(hg_device *d, hg_driver_arena *arena) {
    d->arenas--;
    d->bytes -= arena->size;
    free(arena);
}
static hg_status queue_create(hg_device *d, hg_driver_queue **queue) {
    (void)d;
    *queue = calloc(1, sizeof **queue);
    return HG_OK;
}
static void queue_destroy(hg_driver_queue *queue) { free(queue); }
static hg_status queue_submit(hg_driver_queue *q, const hg_driver_command *c, uint32_t count,
                              hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    (void)q, (void)waits, (void)wait_count, (void)signal;
    for (uint32_t i = 0; i < count; i++) {
        CHECK(c[i].kind == HG_CMD_FILL && c[i].value == 0 &&
              c[i].to.offset + c[i].to.size <= c[i].to.arena->size);
        memset(c[i].to.arena->bytes + c[i].to.offset, 0, c[i].to.size);
        filled += c[i].to.size;
    }
    return HG_OK;
}
static const hg_driver DRIVER = {.name = "memory",
                                 .device_caps = device_caps,
                                 .arena_alloc = arena_alloc,
                                 .arena_free = arena_free,
                                 .queue_create = queue_create,
                                 .queue_destroy = queue_destroy,
                                 .queue_submit = queue_submit};

static uint64_t random_state;
static uint64_t below(uint64_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % n;
}

static bool holds(const hg_piece *p, uint8_t value) {
    for (uint64_t i = 0; i < p->range.size; i++)
        if (p->range.arena->bytes[p->range.offset + i] != value) return false;
    return true;
}

static uint64_t random_size(void) {
    switch (below(8)) {
    case 0: return below(3);
    case 1: return ARENA / 2 - below(3);
    case 2: return ARENA / 2 + below(3);
    case 3: return below(3 * ARENA);
    default: return below(2000);
    }
}

/* Each piece is filled with a byte of its own: overlap would show. */
static void test_random(void) {
    hg_device device = {.most_bytes = UINT64_MAX};
    hg_suballocator s;
    static hg_piece pieces[PIECES];
    hg_suballocator_init(&s, &DRIVER, &device);
    random_state = 7;
    filled = 0;
    for (uint64_t round = rounds_here(20000, 4000); round-- > 0;) {
        uint64_t i = below(PIECES), live = 0;
        if (pieces[i].range.arena) {
            CHECK(holds(&pieces[i], (uint8_t)(1 + i)));
            hg_piece_free(&s, &pieces[i]);
            CHECK(!pieces[i].range.arena);
            continue;
        }
        uint64_t size = random_size();
        CHECK_OK(hg_piece_alloc(&s, size, &pieces[i]));
        const hg_range *r = &pieces[i].range;
        CHECK(r->size == size && r->offset % HG_PIECE_ALIGN == 0 &&
              r->offset + size <= r->arena->size && pieces[i].arena_bytes == r->arena->size);
        CHECK(holds(&pieces[i], 0));
        memset(r->arena->bytes + r->offset, (int)(1 + i), size);
        for (int k = 0; k < PIECES; k++)
            live += pieces[k].range.arena ? pieces[k].range.size + HG_PIECE_ALIGN : 0;
        CHECK_MESSAGE(device.bytes <= 4 * live + 2 * ARENA,
                      "%" PRIu64 " bytes of arenas for %" PRIu64, device.bytes, live);
    }
    for (int i = 0; i < PIECES; i++) hg_piece_free(&s, &pieces[i]);
    CHECK_U64(device.arenas, 1); /* one is kept */
    CHECK(filled > 0);
    hg_suballocator_destroy(&s);
    CHECK_U64(device.bytes, 0);
}

/* No room for a whole arena, but for what is asked; nothing at all; too much. */
static void test_limits(void) {
    hg_device device = {.most_bytes = 3000};
    hg_suballocator s;
    hg_piece a, b;
    hg_suballocator_init(&s, &DRIVER, &device);
    CHECK_OK(hg_piece_alloc(&s, 2000, &a));
    CHECK_STATUS(hg_piece_alloc(&s, 2000, &b), HG_ERROR_ALLOCATION_FAILED);
    CHECK(!b.range.arena);
    CHECK_STATUS(hg_piece_alloc(&s, (1 << 20) + 1, &b), HG_ERROR_ALLOCATION_FAILED);
    hg_piece_free(&s, &b); /* of nothing */
    hg_piece_free(&s, &a);
    hg_suballocator_destroy(&s);
    CHECK_U64(device.bytes, 0);
}

/* A refusal says what pieces have, not what arenas are kept for them. */
static void test_in_use(void) {
    hg_device device = {.most_bytes = UINT64_MAX};
    hg_budget budget = {.limit = ARENA + ARENA / 8};
    hg_suballocator s;
    hg_piece a, b;
    hg_suballocator_init(&s, &DRIVER, &device);
    s.budget = &budget;
    CHECK_OK(hg_piece_alloc(&s, 1000, &a)); /* the arena takes all but an eighth */
    CHECK_U64(hg_budget_used(&budget), ARENA);
    CHECK_FAILS(hg_piece_alloc(&s, 100000, &b), HG_ERROR_ALLOCATION_FAILED, "",
                "100000 bytes asked for, 1024 are in use, the limit is 73728 (max_memory)");
    CHECK_OK(hg_piece_alloc(&s, 40000, &b)); /* an arena of its own does not fit, the rest of the
                                                first one does */
    CHECK_FAILS(hg_piece_alloc(&s, 80000, &(hg_piece){0}), HG_ERROR_ALLOCATION_FAILED, "",
                "80000 bytes asked for, 41216 are in use, the limit is 73728 (max_memory)");
    hg_piece_free(&s, &b);
    CHECK_FAILS(hg_piece_alloc(&s, 100000, &b), HG_ERROR_ALLOCATION_FAILED, "",
                "100000 bytes asked for, 1024 are in use, the limit is 73728 (max_memory)");
    hg_piece_free(&s, &a);
    CHECK_OK(hg_piece_alloc(&s, 65500, &a)); /* all of the arena that is kept */
    CHECK_FAILS(hg_piece_alloc(&s, 9000, &b), HG_ERROR_ALLOCATION_FAILED, "",
                "9000 bytes asked for, 65536 are in use, the limit is 73728 (max_memory)");
    hg_piece_free(&s, &a);
    hg_suballocator_destroy(&s);
    CHECK(hg_budget_used(&budget) == 0 && budget.idle == 0);
}

/* Under a limit of no more than an arena something is left for what is charged beside arenas. */
static void test_room_for_records(void) {
    hg_device device = {.most_bytes = UINT64_MAX};
    hg_budget budget = {.limit = ARENA};
    hg_suballocator s;
    hg_piece a, b;
    hg_suballocator_init(&s, &DRIVER, &device);
    s.budget = &budget;
    CHECK_OK(hg_piece_alloc(&s, 1000, &a));
    CHECK_OK(hg_budget_charge(&budget, 2000));
    CHECK_OK(hg_piece_alloc(&s, 60000, &b));
    hg_budget_release(&budget, 2000);
    hg_piece_free(&s, &a);
    hg_piece_free(&s, &b);
    hg_suballocator_destroy(&s);
    CHECK(hg_budget_used(&budget) == 0 && budget.idle == 0);
}

static failing_allocator memory;

static void test_failing(void) {
    hg_allocator hooks = {.size = sizeof hooks,
                          .reallocate = failing_reallocate,
                          .release = failing_release,
                          .user = &memory};
    hg_device device = {.most_bytes = UINT64_MAX};
    CHECK_OK(hg_set_allocator(&hooks));
    for (uint64_t n = 1; n < 20; n++) {
        hg_suballocator s;
        hg_piece pieces[4] = {0};
        hg_suballocator_init(&s, &DRIVER, &device);
        memory.allocations = 0;
        memory.fail_at = n;
        memory.only_once = true;
        for (int i = 0; i < 4; i++) {
            hg_status status = hg_piece_alloc(&s, 1000, &pieces[i]);
            CHECK(status == HG_OK || (status == HG_ERROR_OUT_OF_MEMORY && !pieces[i].range.arena));
        }
        for (int i = 0; i < 4; i++) hg_piece_free(&s, &pieces[i]);
        memory.fail_at = 0;
        hg_suballocator_destroy(&s);
        CHECK_U64(device.bytes, 0);
        CHECK_U64(memory.live, 0);
    }
    CHECK_OK(hg_set_allocator(NULL));
}

/* Where the host cannot wait for memory to be made zero, memory that was used is not given out
 * again. */
static void test_no_wait(void) {
    enum { LIVE = 8 };
    hg_device device = {.most_bytes = UINT64_MAX};
    hg_suballocator s;
    hg_piece pieces[LIVE] = {0};
    const hg_device_caps kept = caps;
    caps.scheduling.asynchronous = true;
    hg_suballocator_init(&s, &DRIVER, &device);
    filled = 0;
    for (int round = 0; round < 1000; round++) {
        uint64_t i = below(LIVE);
        if (pieces[i].range.arena) {
            hg_piece_free(&s, &pieces[i]);
            continue;
        }
        CHECK_OK(hg_piece_alloc(&s, below(4000), &pieces[i]));
        CHECK(holds(&pieces[i], 0));
        memset(pieces[i].range.arena->bytes + pieces[i].range.offset, 1, pieces[i].range.size);
        CHECK(device.bytes <= ARENA + LIVE * 4000);
    }
    for (int i = 0; i < LIVE; i++) hg_piece_free(&s, &pieces[i]);
    CHECK_U64(filled, 0);
    CHECK_U64(device.bytes, 0);
    hg_suballocator_destroy(&s);
    caps = kept;
}

int main(void) {
    test_random();
    test_no_wait();
    test_limits();
    test_in_use();
    test_room_for_records();
    test_failing();
    return test_done();
}
