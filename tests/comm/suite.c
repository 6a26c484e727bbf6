/* The suite: values are made from rank and place, so that each rank knows what all others give and
 * works out itself what it must get: moved blocks byte by byte, combined ones by reduce_axis over
 * the ranks' arrays laid one after another, on one device; and, or, xor here, bit by bit. */
#include "comm/suite.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct suite {
    hg_backend *backend;
    hg_backend *oracle; /* the CPU */
    hg_comm *comm;
    uint32_t rank, size;
    suite_counts *counts;
} suite;

#define EXPECT(s, condition, ...)                                                                \
    do {                                                                                         \
        if (condition) {                                                                         \
            (s)->counts->passed++;                                                               \
        } else if ((s)->counts->failed++ < 20) {                                                 \
            fprintf(stderr, "%s:%d: rank %u of %u: ", __FILE__, __LINE__, (s)->rank, (s)->size); \
            fprintf(stderr, __VA_ARGS__);                                                        \
            fputc('\n', stderr);                                                                 \
        }                                                                                        \
    } while (0)
#define EXPECT_OK(s, call)                                                        \
    do {                                                                          \
        hg_status expect_status = (call);                                         \
        EXPECT(s, expect_status == HG_OK, "%s: %s", #call, hg_last_error_text()); \
    } while (0)

static const hg_comm_kind kinds[] = {HG_COMM_ALL_REDUCE, HG_COMM_ALL_GATHER, HG_COMM_REDUCE_SCATTER,
                                     HG_COMM_BROADCAST,  HG_COMM_GATHER,     HG_COMM_SCATTER,
                                     HG_COMM_ALL_TO_ALL};
static const char *const kind_names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                         "gather",     "scatter",    "all_to_all"};
static const char *const operations[] = {"add", "min", "max", "mul", "and", "or", "xor"};

/* ---- values ---- */

static uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    x ^= x >> 29;
    x *= UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

/* Floats between 2^-8 and 2^8, where sums round; integers of any bits. */
static void fill(uint8_t *to, hg_type type, uint64_t count, uint32_t rank, uint64_t seed) {
    uint64_t size = hg_type_size_bytes(type);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = mix(seed * 1000003 + rank * UINT64_C(77777777) + i);
        if (hg_type_is_float(type)) {
            double x = ((double)(word >> 12) / 4503599627370496.0 - 0.5) *
                       (double)(1 << (word & 15)) / 64.0;
            if (hg_type_from_f64(type, x, to + i * size) != HG_OK) abort();
            continue;
        }
        for (uint64_t at = 0; at < size; at += 8, word = mix(word + at + 1))
            memcpy(to + i * size + at, &word, (size_t)(size - at < 8 ? size - at : 8));
    }
}

/* ---- what must come ---- */

/* all: `ranks` arrays of n elements, one after another. */
static bool combine(suite *s, hg_comm_operation operation, hg_type type, const uint8_t *all,
                    uint64_t n, uint8_t *out) {
    static const char *const folds[] = {"sum", "min", "max", "product"};
    uint64_t size = hg_type_size_bytes(type), bytes = n * size;
    if (operation >= HG_COMM_AND) {
        memcpy(out, all, (size_t)bytes);
        for (uint32_t r = 1; r < s->size; r++)
            for (uint64_t i = 0; i < bytes; i++) {
                uint8_t x = all[r * bytes + i];
                out[i] = (uint8_t)(operation == HG_COMM_AND  ? out[i] & x
                                   : operation == HG_COMM_OR ? out[i] | x
                                                             : out[i] ^ x);
            }
        return true;
    }
    char text[400];
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param x buffer %s in\n.param y buffer %s out\n"
             "reduce_axis.%s output=y, input=x, n=%u, inner=%llu, operation=%s\n",
             hg_type_name(type), hg_type_name(type), hg_type_name(type), s->size,
             (unsigned long long)n, folds[operation]);
    hg_program *program = NULL;
    hg_buffer x = {0}, y = {0};
    hg_params *params = hg_params_create();
    bool ok = hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK &&
              hg_backend_allocate_buffer(s->oracle, s->size * bytes, &x) == HG_OK &&
              hg_backend_allocate_buffer(s->oracle, bytes, &y) == HG_OK &&
              hg_params_set_buffer(params, "x", x) == HG_OK &&
              hg_params_set_buffer(params, "y", y) == HG_OK &&
              hg_backend_copy_to_buffer(s->oracle, x, all, s->size * bytes) == HG_OK &&
              hg_backend_execute_program_with_params(s->oracle, program, NULL, params) == HG_OK &&
              hg_backend_copy_from_buffer(s->oracle, y, out, bytes) == HG_OK;
    if (x.handle) ok = hg_backend_free_buffer(s->oracle, x) == HG_OK && ok;
    if (y.handle) ok = hg_backend_free_buffer(s->oracle, y) == HG_OK && ok;
    hg_params_destroy(params);
    hg_program_release(program);
    return ok;
}

static uint64_t blocks_given(const suite *s, hg_comm_kind kind, uint32_t root, uint32_t rank) {
    if (kind == HG_COMM_BROADCAST) return rank == root;
    if (kind == HG_COMM_SCATTER) return rank == root ? s->size : 0;
    return kind == HG_COMM_REDUCE_SCATTER || kind == HG_COMM_ALL_TO_ALL ? s->size : 1;
}

static uint64_t blocks_got(const suite *s, hg_comm_kind kind, uint32_t root) {
    if (kind == HG_COMM_GATHER) return s->rank == root ? s->size : 0;
    return kind == HG_COMM_ALL_GATHER || kind == HG_COMM_ALL_TO_ALL ? s->size : 1;
}

/* given[r]: what rank r gives. */
static bool work_out(suite *s, const hg_comm_call *c, uint8_t *const *given, uint8_t *out) {
    uint64_t block = c->count * hg_type_size_bytes(c->type);
    bool scatters = c->kind == HG_COMM_REDUCE_SCATTER;
    switch (c->kind) {
    case HG_COMM_BROADCAST: memcpy(out, given[c->peer], (size_t)block); return true;
    case HG_COMM_SCATTER: memcpy(out, given[c->peer] + s->rank * block, (size_t)block); return true;
    case HG_COMM_ALL_TO_ALL:
        for (uint32_t r = 0; r < s->size; r++)
            memcpy(out + r * block, given[r] + s->rank * block, (size_t)block);
        return true;
    case HG_COMM_GATHER:
    case HG_COMM_ALL_GATHER:
        for (uint32_t r = 0; r < s->size && (c->kind != HG_COMM_GATHER || s->rank == c->peer); r++)
            memcpy(out + r * block, given[r], (size_t)block);
        return true;
    default: break;
    }
    uint8_t *all = calloc(s->size, (size_t)block + 1);
    bool ok = all != NULL;
    for (uint32_t r = 0; r < s->size && ok; r++)
        memcpy(all + r * block, given[r] + (scatters ? s->rank * block : 0), (size_t)block);
    ok = ok && (!c->count || combine(s, c->operation, c->type, all, c->count, out));
    free(all);
    return ok;
}

/* ---- one call ---- */

typedef enum place { APART, IN_PLACE, BUFFERS, PLACES } place;

static void try_call(suite *s, hg_comm_kind kind, hg_comm_operation operation, hg_type type,
                     uint64_t count, uint32_t root, place where) {
    uint64_t size = hg_type_size_bytes(type), most = (count * s->size + 1) * size;
    uint8_t *given[64], *out = malloc((size_t)most), *expected = malloc((size_t)most);
    for (uint32_t r = 0; r < s->size; r++) {
        given[r] = calloc(1, (size_t)most);
        fill(given[r], type, count * blocks_given(s, kind, root, r), r, count + size + kind);
    }
    hg_comm_call c = {.size = sizeof c,
                      .kind = kind,
                      .operation = operation,
                      .type = type,
                      .peer = root,
                      .count = count};
    uint64_t in_bytes = blocks_given(s, kind, root, s->rank) * count * size,
             out_bytes = blocks_got(s, kind, root) * count * size;
    memset(out, 0xA5, (size_t)most);
    memset(expected, 0xA5, (size_t)most);
    bool ok = work_out(s, &c, given, expected);
    hg_status status = HG_OK;
    if (where == BUFFERS) {
        EXPECT_OK(s, hg_backend_allocate_buffer(s->backend, most + 64, &c.input_buffer));
        EXPECT_OK(s, hg_backend_allocate_buffer(s->backend, most + 64, &c.output_buffer));
        c.input_offset = 64;
        EXPECT_OK(s, hg_buffer_write(s->backend, c.input_buffer, 64, given[s->rank], in_bytes));
        EXPECT_OK(s, hg_buffer_write(s->backend, c.output_buffer, 0, out, most));
    } else if (where == IN_PLACE) {
        memcpy(out, given[s->rank], (size_t)in_bytes);
        memcpy(expected + out_bytes, out + out_bytes, (size_t)(most - out_bytes));
        c.input = c.output = out;
    } else {
        c.input = given[s->rank];
        c.output = out;
    }
    status = hg_comm_run(s->comm, &c);
    if (where == BUFFERS) {
        EXPECT_OK(s, hg_buffer_read(s->backend, c.output_buffer, 0, out, most));
        EXPECT_OK(s, hg_backend_free_buffer(s->backend, c.input_buffer));
        EXPECT_OK(s, hg_backend_free_buffer(s->backend, c.output_buffer));
    }
    bool equal = memcmp(out, expected, (size_t)(where == IN_PLACE ? out_bytes : most)) == 0;
    EXPECT(s, ok && status == HG_OK && equal, "%s.%s %s of %llu elements, root %u, way %d: %s",
           kind_names[kind], hg_type_name(type), operations[operation], (unsigned long long)count,
           root, (int)where,
           status != HG_OK ? hg_last_error_text()
           : ok            ? "other bytes"
                           : "no expectation");
    for (uint32_t r = 0; r < s->size; r++) free(given[r]);
    free(out);
    free(expected);
}

/* ---- the parts of the suite ---- */

static void try_kinds(suite *s, bool all) {
    static const uint64_t counts[] = {0, 1, 3, 40, 257, 20001};
    uint32_t turn = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            for (int where = 0; where < PLACES; where++, turn++) {
                if (!all && counts[n] == 40 && where) continue;
                try_call(s, kinds[k], HG_COMM_ADD, turn % 3 ? HG_TYPE_F32 : HG_TYPE_I16, counts[n],
                         turn % s->size, (place)where);
            }
}

/* Arrays lie where the provider may reach them itself, if it reaches memory of devices. */
static void try_types(suite *s, bool all) {
    place where = s->backend == s->oracle ? APART : BUFFERS;
    int part = where == APART ? 5 : 19;
    for (int type = 0; type < HG_TYPE_COUNT; type++)
        for (int operation = 0; operation <= HG_COMM_XOR; operation++) {
            bool floats = hg_type_is_float((hg_type)type), bits = operation >= HG_COMM_AND;
            if (floats && bits) continue;
            if (!all && (type * 7 + operation) % part) continue;
            uint64_t large = 6000 / hg_type_size_bytes((hg_type)type) + 1;
            try_call(s, HG_COMM_ALL_REDUCE, (hg_comm_operation)operation, (hg_type)type, large, 0,
                     where);
            if (all)
                try_call(s, HG_COMM_REDUCE_SCATTER, (hg_comm_operation)operation, (hg_type)type, 3,
                         0, where);
        }
}

static void try_points(suite *s) {
    static const uint64_t counts[] = {0, 5, 30000};
    uint32_t next = (s->rank + 1) % s->size, before = (s->rank + s->size - 1) % s->size;
    for (size_t n = 0; s->size > 1 && n < sizeof counts / sizeof *counts; n++) {
        uint64_t count = counts[n];
        float *out = calloc(3, (count + 1) * sizeof *out), *in = out + count,
              *expected = in + count;
        fill((uint8_t *)out, HG_TYPE_F32, count, s->rank, n);
        fill((uint8_t *)expected, HG_TYPE_F32, count, before, n);
        hg_comm_call send = {.size = sizeof send,
                             .kind = HG_COMM_SEND,
                             .type = HG_TYPE_F32,
                             .peer = next,
                             .count = count,
                             .input = out},
                     recv = send;
        recv.kind = HG_COMM_RECV;
        recv.peer = before;
        recv.output = in;
        hg_event *sent = NULL; /* all ranks send first: nobody may wait for that */
        EXPECT_OK(s, hg_comm_start(s->comm, &send, NULL, 0, &sent));
        EXPECT_OK(s, hg_comm_run(s->comm, &recv));
        EXPECT_OK(s, hg_event_wait(sent));
        hg_event_destroy(sent);
        EXPECT(s, memcmp(in, expected, count * sizeof *in) == 0, "recv of %llu elements",
               (unsigned long long)count);
        free(out);
    }
}

/* Everybody learns of both calls, nothing has moved, and the next call is right. */
static void try_mismatches(suite *s) {
    static const struct {
        hg_comm_call usual, other; /* other: of the last rank */
        const char *words[2];
    } cases[] = {
        {{.kind = HG_COMM_ALL_REDUCE, .type = HG_TYPE_F32, .count = 8},
         {.kind = HG_COMM_ALL_REDUCE, .type = HG_TYPE_F32, .count = 9},
         {"all_reduce.f32 add of 8 elements", "all_reduce.f32 add of 9 elements"}},
        {{.kind = HG_COMM_ALL_REDUCE, .type = HG_TYPE_F32, .count = 8},
         {.kind = HG_COMM_ALL_REDUCE, .operation = HG_COMM_MAX, .type = HG_TYPE_F32, .count = 8},
         {"f32 add of", "f32 max of"}},
        {{.kind = HG_COMM_ALL_REDUCE, .type = HG_TYPE_F32, .count = 900},
         {.kind = HG_COMM_ALL_REDUCE, .type = HG_TYPE_I32, .count = 900},
         {"all_reduce.f32", "all_reduce.i32"}},
        {{.kind = HG_COMM_BARRIER},
         {.kind = HG_COMM_ALL_GATHER, .type = HG_TYPE_U8, .count = 900},
         {"barrier", "all_gather.u8 of 900 elements"}},
        {{.kind = HG_COMM_BROADCAST, .type = HG_TYPE_U8, .count = 4, .peer = 0},
         {.kind = HG_COMM_BROADCAST, .type = HG_TYPE_U8, .count = 4, .peer = 1},
         {"from rank 0", "from rank 1"}},
    };
    uint32_t last = s->size - 1;
    if (s->size == 1) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t in[4000] = {1}, out[16000];
        memset(out, 0x5A, sizeof out);
        hg_comm_call c = s->rank == last ? cases[i].other : cases[i].usual;
        c.size = sizeof c;
        c.input = in;
        c.output = out;
        hg_status status = hg_comm_run(s->comm, &c);
        const char *text = status == HG_OK ? "" : hg_last_error_text();
        EXPECT(s, status == HG_ERROR_INVALID_ARGUMENT, "%s", text);
        EXPECT(s, strstr(text, cases[i].words[0]) && strstr(text, cases[i].words[1]), "%s", text);
        bool same = true;
        for (size_t b = 0; b < sizeof out; b++) same = same && out[b] == 0x5A;
        EXPECT(s, same, "data has moved");
        try_call(s, HG_COMM_ALL_REDUCE, HG_COMM_ADD, HG_TYPE_F32, 5, 0, APART);
    }
}

static void count_call(void *user, hg_status status, const hg_error *error) {
    (void)error;
    __atomic_add_fetch((int *)user, status == HG_OK ? 1 : 100, __ATOMIC_SEQ_CST);
}

/* Many calls under way, told of by callbacks; blocking ones between them keep the order. */
static void try_events(suite *s) {
    enum { CALLS = 20, COUNT = 700 };
    static _Thread_local int32_t in[CALLS][COUNT], out[CALLS][COUNT];
    hg_event *events[CALLS] = {0};
    int told = 0;
    for (int i = 0; i < CALLS; i++) {
        for (int j = 0; j < COUNT; j++) in[i][j] = (int)s->rank * 3 + i + j;
        hg_comm_call c = {.size = sizeof c,
                          .kind = HG_COMM_ALL_REDUCE,
                          .type = HG_TYPE_I32,
                          .count = COUNT,
                          .input = in[i],
                          .output = out[i]};
        if (i % 7 == 3) {
            EXPECT_OK(s, hg_comm_run(s->comm, &c));
            continue;
        }
        EXPECT_OK(s, hg_comm_start(s->comm, &c, i ? &events[i - 1] : NULL, i && events[i - 1],
                                   &events[i]));
        EXPECT_OK(s, hg_event_on_done(events[i], count_call, &told));
    }
    int started = 0;
    for (int i = 0; i < CALLS; i++) {
        if (!events[i]) continue;
        started++;
        EXPECT_OK(s, hg_event_wait(events[i]));
        hg_event_destroy(events[i]);
    }
    for (int i = 0; i < 2000 && __atomic_load_n(&told, __ATOMIC_SEQ_CST) != started; i++) {
        bool left;
        EXPECT(s, hg_backend_progress(s->backend, &left) == HG_OK, "%s", hg_last_error_text());
        struct timespec ms = {0, 1000000};
        nanosleep(&ms, NULL);
    }
    EXPECT(s, told == started, "%d callbacks of %d", told, started);
    bool right = true;
    for (int i = 0; i < CALLS; i++)
        for (int j = 0; j < COUNT; j++) {
            int size = (int)s->size;
            right = right && out[i][j] == size * (size - 1) / 2 * 3 + size * (i + j);
        }
    EXPECT(s, right, "sums of calls that were started");
}

static void try_split(suite *s) {
    hg_comm *half = NULL, *none = NULL, *own = NULL;
    uint32_t parity = s->rank % 2, halves = (s->size + 1 - parity) / 2;
    EXPECT_OK(s, hg_comm_split(s->comm, parity, 100 - s->rank, &half)); /* the other way round */
    EXPECT_OK(s, hg_comm_split(s->comm, s->rank == 0 ? 7 : HG_COMM_NO_COLOR, 0, &none));
    EXPECT(s, (none != NULL) == (s->rank == 0), "a part for rank 0 only");
    EXPECT(s, hg_comm_size(half) == halves && hg_comm_rank(half) == halves - 1 - s->rank / 2,
           "rank %u of %u", hg_comm_rank(half), hg_comm_size(half));
    suite part = *s, last = *s;
    part.comm = half;
    part.rank = hg_comm_rank(half);
    part.size = hg_comm_size(half);
    if (half) {
        try_call(&part, HG_COMM_ALL_REDUCE, HG_COMM_ADD, HG_TYPE_BF16, 1000, 0,
                 s->backend == s->oracle ? APART : BUFFERS);
        try_call(&part, HG_COMM_ALL_GATHER, HG_COMM_ADD, HG_TYPE_F64, 2, 0, APART);
    }
    if (half && parity == 0) { /* a part of a part, which the other half has nothing of */
        EXPECT_OK(s, hg_comm_split(half, part.rank / 2, 100 - part.rank, &own));
        last.comm = own;
        last.rank = hg_comm_rank(own);
        last.size = hg_comm_size(own);
        if (own) try_call(&last, HG_COMM_ALL_GATHER, HG_COMM_ADD, HG_TYPE_U64, 3, 0, APART);
    }
    hg_comm_destroy(none);
    hg_comm_call barrier = {.size = sizeof barrier, .kind = HG_COMM_BARRIER};
    EXPECT_OK(s, hg_comm_run(s->comm, &barrier)); /* others are through with their part too */
    hg_comm_destroy(own);
    hg_comm_destroy(half);
}

/* ---- instructions ---- */

/* Which ranks an instruction names, in which order. */
typedef enum named { NOBODY, EVERYBODY, BACKWARDS, ALL_BUT_ONE, LAST_ALONE, NAMED } named;

typedef struct step_case {
    hg_comm_kind kind;
    hg_comm_operation operation;
    hg_type type;
    uint64_t n;
    named who;
    uint32_t members[64], count; /* ranks that take part, in the order of the list */
    uint32_t own;                /* this rank's place; count: it takes no part */
} step_case;

static void name_ranks(const suite *s, step_case *c, char *list, size_t size) {
    uint32_t first = c->who == LAST_ALONE ? s->size - 1 : 0;
    c->count = 0;
    for (uint32_t i = first; i < s->size; i++)
        if (c->who != ALL_BUT_ONE || s->size < 3 || i != 1)
            c->members[c->count++] = c->who == BACKWARDS ? s->size - 1 - i : i;
    c->own = 0;
    while (c->own < c->count && c->members[c->own] != s->rank) c->own++;
    size_t used = (size_t)snprintf(list, size, c->who == NOBODY ? "" : ", devices=(");
    for (uint32_t i = 0; i < c->count && c->who != NOBODY; i++)
        used += (size_t)snprintf(list + used, size - used, "%u%s", c->members[i],
                                 i + 1 < c->count ? ", " : ")");
}

/* The program of a case, its lanes' part before and behind it: everything that it reads was
 * doubled, and what it wrote is moved on. */
static hg_program *program_of(const step_case *c, const char *list) {
    static const char *const folds[] = {"sum", "min", "max", "product"};
    const char *t = hg_type_name(c->type);
    char text[1200], body[600], fold[32];
    snprintf(fold, sizeof fold, ", operation=%s", folds[c->operation]);
    bool in_place = c->kind == HG_COMM_ALL_REDUCE || c->kind == HG_COMM_BROADCAST;
    snprintf(body, sizeof body, "%s.%s %s, n=n%s%s%s",
             c->kind == HG_COMM_ALL_REDUCE       ? "all_reduce"
             : c->kind == HG_COMM_ALL_GATHER     ? "all_gather"
             : c->kind == HG_COMM_REDUCE_SCATTER ? "reduce_scatter"
                                                 : "broadcast",
             t, in_place ? "buffer=x" : "output=y, input=x",
             c->kind == HG_COMM_ALL_REDUCE || c->kind == HG_COMM_REDUCE_SCATTER ? fold : "",
             c->kind == HG_COMM_BROADCAST ? ", root=root" : "", list);
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param w buffer %s in\n.param x buffer %s inout\n"
             ".param y buffer %s inout\n.param z buffer %s inout\n.param n u64\n.param m u64\n"
             ".param root u32\n.lanes m\n.reg a %s\n"
             "ldg a, [w[global]]\nstg [x[global]], a\nbar.grid\n%s\nbar.grid\n"
             "ldg a, [%s[global]]\nstg [z[global]], a\n",
             t, t, t, t, t, body, in_place ? "x" : "y");
    hg_program *program = NULL;
    if (hg_program_assemble(text, strlen(text), NULL, &program) != HG_OK)
        fprintf(stderr, "%s\n%s\n", text, hg_last_error_text());
    return program;
}

/* given[i]: what member i has. What this one must have afterwards. */
static bool step_result(suite *s, const step_case *c, uint32_t root, uint8_t *const *given,
                        uint8_t *out) {
    suite part = *s;
    uint64_t block = c->n * hg_type_size_bytes(c->type);
    uint64_t from = c->kind == HG_COMM_REDUCE_SCATTER ? c->own * block : 0;
    part.size = c->count;
    if (c->own == c->count || !c->n) return true;
    if (c->kind == HG_COMM_BROADCAST) memcpy(out, given[root], (size_t)block);
    for (uint32_t i = 0; i < c->count && c->kind == HG_COMM_ALL_GATHER; i++)
        memcpy(out + i * block, given[i], (size_t)block);
    if (c->kind == HG_COMM_BROADCAST || c->kind == HG_COMM_ALL_GATHER) return true;
    uint8_t *all = malloc((size_t)(c->count * block));
    for (uint32_t i = 0; all && i < c->count; i++)
        memcpy(all + i * block, given[i] + from, (size_t)block);
    bool ok = all && combine(&part, c->operation, c->type, all, c->n, out);
    free(all);
    return ok;
}

typedef struct step_run {
    hg_buffer w, x, y, z;
    hg_params *params;
    hg_executable *executable;
    hg_binding *binding;
} step_run;

static bool bind_step(suite *s, const step_case *c, hg_program *program, uint32_t root,
                      const uint8_t *input, uint64_t bytes, step_run *r) {
    hg_backend *b = s->backend;
    uint64_t m = bytes / hg_type_size_bytes(c->type);
    uint8_t *mark = malloc((size_t)bytes);
    memset(mark, 0x5A, (size_t)bytes);
    r->params = hg_params_create();
    bool ok = hg_backend_allocate_buffer(b, bytes, &r->w) == HG_OK &&
              hg_backend_allocate_buffer(b, bytes, &r->x) == HG_OK &&
              hg_backend_allocate_buffer(b, bytes, &r->y) == HG_OK &&
              hg_backend_allocate_buffer(b, bytes, &r->z) == HG_OK &&
              hg_backend_copy_to_buffer(b, r->w, input, bytes) == HG_OK &&
              hg_backend_copy_to_buffer(b, r->y, mark, bytes) == HG_OK &&
              hg_params_set_buffer(r->params, "w", r->w) == HG_OK &&
              hg_params_set_buffer(r->params, "x", r->x) == HG_OK &&
              hg_params_set_buffer(r->params, "y", r->y) == HG_OK &&
              hg_params_set_buffer(r->params, "z", r->z) == HG_OK &&
              hg_params_set_scalar(r->params, "n", HG_TYPE_U64, &c->n) == HG_OK &&
              hg_params_set_scalar(r->params, "m", HG_TYPE_U64, &m) == HG_OK &&
              hg_params_set_scalar(r->params, "root", HG_TYPE_U32, &root) == HG_OK;
    hg_launch launch = hg_launch_linear(m);
    ok = ok && hg_executable_create(b, program, &r->executable) == HG_OK &&
         hg_binding_create(r->executable, &launch, r->params, &r->binding) == HG_OK;
    free(mark);
    return ok;
}

static void end_step(suite *s, step_run *r) {
    hg_binding_destroy(r->binding);
    hg_executable_destroy(r->executable);
    hg_params_destroy(r->params);
    hg_buffer all[] = {r->w, r->x, r->y, r->z};
    for (int i = 0; i < 4; i++)
        if (all[i].handle) EXPECT_OK(s, hg_backend_free_buffer(s->backend, all[i]));
}

/* Launched in the context, and started there: the same. */
static void try_step(suite *s, hg_context *context, step_case c) {
    char list[400];
    name_ranks(s, &c, list, sizeof list);
    bool in_place = c.kind == HG_COMM_ALL_REDUCE || c.kind == HG_COMM_BROADCAST;
    uint32_t root = c.count / 2;
    uint64_t bytes = (c.n * s->size + 3) * hg_type_size_bytes(c.type);
    uint8_t *given[64], *expected = malloc((size_t)bytes), *got = malloc((size_t)bytes);
    for (uint32_t i = 0; i < c.count; i++) {
        given[i] = malloc((size_t)bytes);
        fill(given[i], c.type, bytes / hg_type_size_bytes(c.type), c.members[i], c.n + c.type);
    }
    uint8_t *own = malloc((size_t)bytes);
    fill(own, c.type, bytes / hg_type_size_bytes(c.type), s->rank, c.n + c.type);
    if (in_place)
        memcpy(expected, own, (size_t)bytes);
    else
        memset(expected, 0x5A, (size_t)bytes);
    EXPECT(s, step_result(s, &c, root, given, expected), "the oracle: %s", hg_last_error_text());
    hg_program *program = program_of(&c, list);
    step_run r = {0};
    EXPECT(s, program && bind_step(s, &c, program, c.members[root], own, bytes, &r), "%s",
           hg_last_error_text());
    for (int turn = 0; turn < 2 && r.binding; turn++) {
        hg_event *event = NULL;
        hg_status status = turn ? hg_binding_start(r.binding, context, &event)
                                : hg_binding_launch_in(r.binding, context);
        if (event) status = hg_event_wait(event);
        EXPECT(s, status == HG_OK, "%s", hg_last_error_text());
        hg_event_destroy(event);
        EXPECT_OK(s, hg_backend_copy_from_buffer(s->backend, r.z, got, bytes));
        EXPECT(s, memcmp(got, expected, (size_t)bytes) == 0, "%s.%s of %llu elements%s",
               c.kind == HG_COMM_BROADCAST ? "broadcast" : kind_names[c.kind], hg_type_name(c.type),
               (unsigned long long)c.n, list);
    }
    end_step(s, &r);
    hg_program_release(program);
    for (uint32_t i = 0; i < c.count; i++) free(given[i]);
    free(own);
    free(expected);
    free(got);
}

/* One line of a program that does not go on: every rank has the words. last: of the last rank. */
static void try_refused(suite *s, hg_context *context, const char *usual, const char *last,
                        const char *words) {
    char text[500];
    hg_program *program = NULL;
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param x buffer f32 inout [n]\n.param n u64\n%s\n",
             s->rank + 1 == s->size ? last : usual);
    EXPECT_OK(s, hg_program_assemble(text, strlen(text), NULL, &program));
    step_case c = {.type = HG_TYPE_F32, .n = 8};
    step_run r = {0};
    hg_launch launch = HG_LAUNCH_PROGRAM;
    r.params = hg_params_create();
    EXPECT(s,
           program && hg_backend_allocate_buffer(s->backend, 64, &r.x) == HG_OK &&
               hg_params_set_buffer(r.params, "x", r.x) == HG_OK &&
               hg_params_set_scalar(r.params, "n", HG_TYPE_U64, &c.n) == HG_OK &&
               hg_executable_create(s->backend, program, &r.executable) == HG_OK &&
               hg_binding_create(r.executable, &launch, r.params, &r.binding) == HG_OK,
           "%s", hg_last_error_text());
    hg_status status = r.binding ? hg_binding_launch_in(r.binding, context) : HG_OK;
    EXPECT(s, status != HG_OK && strstr(hg_last_error_text(), words), "%s: '%s', wanted '%s'",
           usual, status == HG_OK ? "" : hg_last_error_text(), words);
    EXPECT(s, status == HG_OK || hg_last_error()->instruction == 0, "no place");
    end_step(s, &r);
    hg_program_release(program);
}

/* A graph whose calls are done where its constants are known, but for those between ranks. */
static void try_graph(suite *s, hg_context *context) {
    static const char inputs[] = ".graph 1\n.extent n\n.extent m\n.input x f32 [n]\n",
                      calls[] = "d = all_reduce buffer=c, operation=sum\n"
                                "a = parallel_map abs, in=x\n"
                                "b = all_reduce buffer=a, operation=max\n"
                                "g f32 [m] = all_gather input=b\n"
                                "e = parallel_map_binary mul, a=d, b=d\n"
                                ".output e\n.output b\n.output g\n";
    static const float constant[] = {1, 2, 3, 4};
    const hg_dim four = hg_dim_of(4);
    hg_value c;
    enum { N = 7 };
    uint64_t n = N, m = N * s->size;
    float x[N], e[4], b[N], gathered[N * 8], most = 0;
    hg_graph *graph = NULL;
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_queue *queue = NULL;
    hg_event *event = NULL;
    hg_buffer buffers[4] = {{0}};
    static const char *const names[] = {"x", "e", "b", "g"};
    const uint64_t bytes[] = {sizeof x, sizeof e, sizeof b, m * sizeof(float)};
    hg_params *params = hg_params_create();
    for (int i = 0; i < N; i++) x[i] = -(float)(i + 10 * (int)s->rank + 1);
    most = 10 * (float)s->size - 9;
    EXPECT_OK(s, hg_graph_read_text(inputs, sizeof inputs - 1, NULL, NULL, &graph));
    EXPECT_OK(s, hg_graph_constant(graph, "c", HG_TYPE_F32, &four, 1, constant, &c));
    EXPECT_OK(s, hg_graph_add_text(graph, calls, sizeof calls - 1, NULL, NULL));
    for (int i = 0; i < 4; i++) {
        EXPECT_OK(s, hg_backend_allocate_buffer(s->backend, bytes[i], &buffers[i]));
        EXPECT_OK(s, hg_params_set_buffer(params, names[i], buffers[i]));
    }
    EXPECT_OK(s, hg_backend_copy_to_buffer(s->backend, buffers[0], x, sizeof x));
    EXPECT_OK(s, hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    EXPECT_OK(s, hg_params_set_scalar(params, "m", HG_TYPE_U64, &m));
    EXPECT_OK(s, hg_graph_compile(s->backend, graph, NULL, &executable));
    if (executable) EXPECT_OK(s, hg_graph_bind(executable, params, &binding));
    EXPECT_OK(s, hg_queue_create(s->backend, context, &queue));
    if (binding) EXPECT_OK(s, hg_graph_binding_submit(binding, queue, NULL, 0, &event));
    if (event) EXPECT_OK(s, hg_event_wait(event));
    EXPECT_OK(s, hg_backend_copy_from_buffer(s->backend, buffers[1], e, sizeof e));
    EXPECT_OK(s, hg_backend_copy_from_buffer(s->backend, buffers[2], b, sizeof b));
    EXPECT_OK(s, hg_backend_copy_from_buffer(s->backend, buffers[3], gathered, bytes[3]));
    bool right = true;
    for (uint64_t i = 0; i < m; i++) right = right && gathered[i] == most + (float)(i % N);
    for (int i = 0; i < N; i++) right = right && b[i] == most + (float)i;
    for (int i = 0; i < 4; i++)
        right = right && e[i] == (float)((i + 1) * (i + 1)) * (float)(s->size * s->size);
    EXPECT(s, right, "a graph: e %g, b %g, g %g", (double)e[1], (double)b[0],
           (double)gathered[m - 1]);
    hg_event_destroy(event);
    hg_queue_destroy(queue);
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    hg_graph_release(graph);
    hg_params_destroy(params);
    for (int i = 0; i < 4; i++) EXPECT_OK(s, hg_backend_free_buffer(s->backend, buffers[i]));
}

/* Of all cases every so many one. */
static void try_steps(suite *s, uint32_t every) {
    static const hg_comm_kind steps[] = {HG_COMM_ALL_REDUCE, HG_COMM_ALL_GATHER,
                                         HG_COMM_REDUCE_SCATTER, HG_COMM_BROADCAST};
    static const uint64_t counts[] = {0, 1, 5, 4099};
    hg_context *context = NULL;
    uint32_t turn = 0;
    EXPECT_OK(s, hg_context_create(s->backend, &context));
    EXPECT_OK(s, hg_context_set_comm(s->backend, context, s->comm));
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (int type = 0; type < HG_TYPE_COUNT; type++)
            for (int who = NOBODY; who < NAMED; who++, turn++) {
                if (turn % every || (every > 1 && hg_type_size_bytes((hg_type)type) > 64)) continue;
                uint64_t n = counts[turn / 5 % 4];
                if (n > 5 && hg_type_size_bytes((hg_type)type) > 8) n = 9;
                try_step(s, context,
                         (step_case){.kind = steps[k],
                                     .operation = (hg_comm_operation)(turn / 3 % 4),
                                     .type = (hg_type)type,
                                     .n = n,
                                     .who = (named)who});
            }
    if (s->size <= 8) try_graph(s, context);
    char missing[80], text[120];
    snprintf(missing, sizeof missing, "Backend not available: %u", s->size);
    snprintf(text, sizeof text, "all_reduce.f32 buffer=x, n=n, operation=sum, devices=(0, %u)",
             s->size);
    try_refused(s, context, text, text, missing);
    snprintf(text, sizeof text, "broadcast.f32 buffer=x, n=n, root=%u", s->size);
    try_refused(s, context, text, text, missing);
    text[0] = 0;
    snprintf(text, sizeof text, "all_reduce.f32 buffer=x, n=n, operation=sum, devices=(0, 0)");
    try_refused(s, context, text, text, "Backend not available: 0, a second time");
    if (s->size > 1) { /* two instructions that do not go together */
        try_refused(s, context, "all_reduce.f32 buffer=x, n=n, operation=sum",
                    "all_reduce.f32 buffer=x, n=n, operation=max",
                    "ranks call different things: all_reduce.f32 add of 8 elements");
        try_refused(s, context, "all_reduce.f32 buffer=x, n=n, operation=sum",
                    "broadcast.f32 buffer=x, n=n", "and broadcast.f32 of 8 elements from rank 0");
    }
    try_step(s, context, (step_case){.kind = HG_COMM_ALL_REDUCE, .type = HG_TYPE_F32, .n = 3});
    EXPECT_OK(s, hg_context_set_comm(s->backend, context, NULL));
    snprintf(text, sizeof text, "all_reduce.f32 buffer=x, n=n, operation=sum, devices=(1)");
    try_refused(s, context, text, text, "Backend not available: 1");
    EXPECT_OK(s, hg_context_set_comm(s->backend, context, s->comm)); /* and it stays there */
    hg_context_destroy(context);
}

static suite begin_suite(hg_backend *backend, hg_comm *comm, suite_counts *counts) {
    suite s = {backend, backend, comm, hg_comm_rank(comm), hg_comm_size(comm), counts};
    if (strcmp(hg_backend_name(backend), "cpu") != 0)
        EXPECT_OK(&s, hg_backend_create("cpu", 0, &s.oracle));
    EXPECT_OK(&s, hg_comm_set_timeout(comm, 60000));
    return s;
}

static void end_suite(suite *s) {
    if (s->oracle != s->backend) hg_backend_destroy(s->oracle);
}

void comm_suite_calls(hg_backend *backend, hg_comm *comm, bool all, suite_counts *counts) {
    suite s = begin_suite(backend, comm, counts);
    try_kinds(&s, all);
    try_types(&s, all);
    try_points(&s);
    try_mismatches(&s);
    try_events(&s);
    try_split(&s);
    end_suite(&s);
}

void comm_suite_steps(hg_backend *backend, hg_comm *comm, bool all, suite_counts *counts) {
    suite s = begin_suite(backend, comm, counts);
    try_steps(&s, all ? 3 : 37);
    end_suite(&s);
}

void comm_suite(hg_backend *backend, hg_comm *comm, bool all, suite_counts *counts) {
    comm_suite_calls(backend, comm, all, counts);
    suite s = begin_suite(backend, comm, counts);
    try_steps(&s, all ? 1 : 5);
    end_suite(&s);
}
