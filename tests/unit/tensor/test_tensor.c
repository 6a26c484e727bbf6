/* Tensors: views against plain loops, element-wise operations eager and recorded, results into
 * views that overlap, memory, and every mistake. */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <hologram/dlpack.h>
#include <hologram/ops.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static uint64_t random_state = 7;
static uint64_t rnd(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

#define OK(call) CHECK_MESSAGE((call) == HG_OK, "%s: %s", #call, hg_last_error_text())
#define FAILS(call, text)                                                                        \
    do {                                                                                         \
        hg_status fails_status = (call);                                                         \
        CHECK_MESSAGE(fails_status != HG_OK && strstr(hg_last_error()->message, text), "%s: %s", \
                      #call, hg_last_error()->message);                                          \
    } while (0)

/* ---- the model: indices of a view into an array of its own ---- */

enum { MOST = 4096 };
typedef struct model {
    uint32_t rank;
    uint64_t shape[HG_TENSOR_AXES];
    uint64_t count;
    uint32_t place[MOST]; /* of each element in C order: which of the base's */
} model;

static uint64_t number_of(const uint64_t *shape, uint32_t rank) {
    uint64_t n = 1;
    for (uint32_t d = 0; d < rank; d++) n *= shape[d];
    return n;
}

static void split(const model *m, uint64_t flat, uint64_t *at) {
    for (uint32_t d = m->rank; d-- > 0;) {
        at[d] = flat % m->shape[d];
        flat /= m->shape[d];
    }
}

static uint64_t join(const model *m, const uint64_t *at) {
    uint64_t flat = 0;
    for (uint32_t d = 0; d < m->rank; d++) flat = flat * m->shape[d] + at[d];
    return flat;
}

/* One random view of both. */
static void step(model *m, hg_tensor **t) {
    model next = *m;
    hg_tensor *view = NULL;
    uint64_t at[HG_TENSOR_AXES], from[HG_TENSOR_AXES];
    uint32_t axis = m->rank ? (uint32_t)rnd(m->rank) : 0;
    uint64_t n = m->rank ? m->shape[axis] : 1, kind = rnd(7);
    if (!m->count || !m->rank) kind = 4;
    int64_t begin = 0, by = 1;
    int32_t order[HG_TENSOR_AXES];
    for (uint32_t d = 0; d < m->rank; d++) order[d] = (int32_t)d;
    switch (kind) {
    case 0: /* select */
        begin = (int64_t)rnd(n);
        OK(hg_tensor_select(*t, (int32_t)axis, begin, &view));
        next.rank--;
        for (uint32_t d = axis; d < next.rank; d++) next.shape[d] = m->shape[d + 1];
        break;
    case 1: /* narrow */
        begin = (int64_t)rnd(n + 1);
        next.shape[axis] = rnd(n - (uint64_t)begin + 1);
        OK(hg_tensor_narrow(*t, (int32_t)axis, (uint64_t)begin, next.shape[axis], &view));
        break;
    case 2: /* slice */
        by = rnd(2) ? 1 + (int64_t)rnd(3) : -1 - (int64_t)rnd(3);
        begin = (int64_t)rnd(n);
        next.shape[axis] = by > 0 ? (n - (uint64_t)begin - 1) / (uint64_t)by + 1
                                  : (uint64_t)begin / (uint64_t)-by + 1;
        OK(hg_tensor_slice(*t, (int32_t)axis - (int32_t)m->rank, begin, INT64_MAX, by, &view));
        break;
    case 3: /* permute */
        for (uint32_t d = m->rank; d-- > 1;) {
            uint32_t other = (uint32_t)rnd(d + 1);
            int32_t kept = order[d];
            order[d] = order[other];
            order[other] = kept;
        }
        OK(hg_tensor_permute(*t, order, m->rank, &view));
        for (uint32_t d = 0; d < m->rank; d++) next.shape[d] = m->shape[order[d]];
        break;
    case 4: /* unsqueeze */
        if (m->rank == HG_TENSOR_AXES) return;
        axis = (uint32_t)rnd(m->rank + 1);
        OK(hg_tensor_unsqueeze(*t, (int32_t)axis, &view));
        next.rank++;
        for (uint32_t d = axis + 1; d < next.rank; d++) next.shape[d] = m->shape[d - 1];
        next.shape[axis] = 1;
        break;
    case 5: /* reshape */
        next.rank = (uint32_t)rnd(4) + 1;
        uint64_t left = m->count;
        for (uint32_t d = 0; d + 1 < next.rank; d++) {
            uint64_t f = 1 + rnd(6);
            while (left % f) f--;
            next.shape[d] = f;
            left /= f;
        }
        next.shape[next.rank - 1] = left;
        OK(hg_tensor_reshape(*t, next.shape, next.rank, &view));
        break;
    default: /* broadcast */
        if (m->rank == HG_TENSOR_AXES || m->count > MOST / 3) return;
        next.rank++;
        next.shape[0] = 1 + rnd(3);
        for (uint32_t d = 1; d < next.rank; d++) next.shape[d] = m->shape[d - 1];
        OK(hg_tensor_broadcast_to(*t, next.shape, next.rank, &view));
        break;
    }
    next.count = number_of(next.shape, next.rank);
    for (uint64_t i = 0; i < next.count; i++) {
        split(&next, i, at);
        uint64_t source = i;
        if (kind == 0) {
            for (uint32_t d = 0, k = 0; d < m->rank; d++) from[d] = d == axis ? 0 : at[k++];
            from[axis] = (uint64_t)begin;
            source = join(m, from);
        } else if (kind == 1 || kind == 2) {
            memcpy(from, at, sizeof from);
            from[axis] = (uint64_t)(begin + by * (int64_t)at[axis]);
            source = join(m, from);
        } else if (kind == 3) {
            for (uint32_t d = 0; d < m->rank; d++) from[order[d]] = at[d];
            source = join(m, from);
        } else if (kind == 6) {
            source = join(m, at + 1);
        }
        next.place[i] = m->place[source];
    }
    hg_tensor_release(*t);
    *t = view;
    *m = next;
}

static void check_elements(const hg_tensor *t, const model *m, const float *base) {
    static float own[MOST];
    CHECK_U64(hg_tensor_numel(t), m->count);
    if (hg_tensor_numel(t) != m->count) return;
    OK(hg_tensor_to_host(t, own, m->count));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < m->count; i++) wrong += own[i] != base[m->place[i]];
    CHECK_U64(wrong, 0);
}

static model whole(const uint64_t *shape, uint32_t rank) {
    model m = {.rank = rank};
    memcpy(m.shape, shape, rank * sizeof *shape);
    m.count = number_of(shape, rank);
    for (uint32_t i = 0; i < m.count; i++) m.place[i] = i;
    return m;
}

/* Views of views, and what operations make of them, eager and in a scope. */
static void random_views(hg_executor *e, int rounds) {
    static float base[MOST], doubled[MOST], sums[MOST], again[MOST];
    for (int round = 0; round < rounds; round++) {
        uint64_t shape[4] = {1 + rnd(4), 1 + rnd(5), 1 + rnd(4), 1 + rnd(6)};
        model m = whole(shape, 4);
        for (uint64_t i = 0; i < m.count; i++) base[i] = (float)rnd(1000) - 500;
        hg_tensor *t, *copy, *twice, *recorded, *more;
        hg_tensor_scope *scope;
        OK(hg_tensor_from_host(e, HG_TYPE_F32, base, m.count, shape, 4, &t));
        for (uint64_t steps = rnd(6); steps > 0; steps--) step(&m, &t);
        check_elements(t, &m, base);
        OK(hg_tensor_contiguous(t, &copy));
        CHECK(hg_tensor_is_contiguous(copy));
        check_elements(copy, &m, base);
        for (uint64_t i = 0; i < MOST; i++) doubled[i] = base[i] * 2;
        OK(hg_ops_add(e, t, copy, &twice));
        check_elements(twice, &m, doubled);
        OK(hg_scope_begin(e, &scope));
        OK(hg_ops_add(e, t, copy, &recorded));
        OK(hg_ops_mul(e, recorded, t, &more));
        OK(hg_scope_end(scope));
        check_elements(recorded, &m, doubled);
        hg_tensor_release(recorded);
        OK(hg_ops_mul(e, twice, t, &recorded));
        OK(hg_tensor_to_host(recorded, sums, m.count));
        OK(hg_tensor_to_host(more, again, m.count));
        CHECK(memcmp(sums, again, (size_t)m.count * sizeof *sums) == 0);
        hg_tensor_release(t), hg_tensor_release(copy), hg_tensor_release(twice);
        hg_tensor_release(recorded), hg_tensor_release(more);
    }
}

/* ---- into views that overlap ---- */

static void overlaps(hg_executor *e) {
    float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8];
    uint64_t n = 8;
    hg_tensor *t, *front, *back, *turned, *wide;
    OK(hg_tensor_from_host(e, HG_TYPE_F32, a, 8, &n, 1, &t));
    OK(hg_tensor_narrow(t, 0, 0, 7, &front));
    OK(hg_tensor_narrow(t, 0, 1, 7, &back));
    OK(hg_ops_add_into(e, front, back, back)); /* reads what it writes, shifted */
    OK(hg_tensor_to_host(t, got, 8));
    for (int i = 1; i < 8; i++) CHECK(got[i] == a[i] + a[i - 1]);
    CHECK(got[0] == 1);
    OK(hg_tensor_copy_from_host(t, a, 8));
    OK(hg_tensor_slice(t, 0, INT64_MAX, INT64_MIN, -1, &turned));
    OK(hg_ops_mul_into(e, t, turned, turned));
    OK(hg_tensor_to_host(t, got, 8));
    for (int i = 0; i < 8; i++) CHECK(got[i] == a[i] * a[7 - i]);
    OK(hg_ops_neg_into(e, t, t));
    OK(hg_tensor_to_host(turned, got, 8));
    for (int i = 0; i < 8; i++) CHECK(got[i] == -a[i] * a[7 - i]);
    OK(hg_tensor_broadcast_to(t, (uint64_t[]){2, 8}, 2, &wide));
    FAILS(hg_ops_neg_into(e, wide, wide), "share memory along axis 0");
    FAILS(hg_tensor_copy_from_host(wide, (float[16]){0}, 16), "share memory along axis 0");
    FAILS(hg_ops_less_into(e, t, t, t), "less gives bool [8], the target is f32 [8]");
    hg_tensor_release(t), hg_tensor_release(front), hg_tensor_release(back);
    hg_tensor_release(turned), hg_tensor_release(wide);
}

/* ---- memory ---- */

static int freed;
static void count_freed(void *user) {
    (void)user;
    freed++;
}

static void memory(void) {
    hg_executor *e, *other;
    hg_executor_memory_info before = {.size = sizeof before}, after = before;
    float a[6] = {1, 2, 3, 4, 5, 6}, got[6];
    uint64_t shape[2] = {2, 3};
    int64_t strides[2] = {1, 2};
    hg_tensor *t, *w, *x;
    OK(hg_executor_create_cpu(&e));
    OK(hg_executor_create_cpu(&other));
    OK(hg_tensor_zeros(e, HG_TYPE_F32, shape, 2, &t));
    OK(hg_executor_memory(e, &before));
    for (int i = 0; i < 2000; i++) {
        OK(hg_ops_add(e, t, t, &x));
        hg_tensor_release(x);
    }
    OK(hg_executor_memory(e, &after));
    CHECK_U64(after.used, before.used);
    CHECK_U64(after.kept_count, 1);
    /* the host's own memory, in Fortran's order: writes are seen by both */
    OK(hg_tensor_wrap_host(e, HG_TYPE_F32, a, shape, strides, 2, count_freed, NULL, &w));
    OK(hg_tensor_to_host(w, got, 6));
    CHECK(got[0] == 1 && got[1] == 3 && got[2] == 5 && got[3] == 2 && got[4] == 4 && got[5] == 6);
    OK(hg_ops_neg_into(e, w, w));
    CHECK(a[0] == -1 && a[5] == -6);
    OK(hg_tensor_select(w, 0, 1, &x));
    hg_tensor_release(w);
    CHECK_U64(freed, 0);
    hg_tensor_release(x);
    CHECK_U64(freed, 1);
    /* another executor's is refused, and copied on request */
    OK(hg_tensor_ones(other, HG_TYPE_F32, shape, 2, &w));
    FAILS(hg_ops_add(e, t, w, &x), "belongs to another executor");
    CHECK(x == NULL);
    OK(hg_tensor_to(w, e, &x));
    CHECK(hg_tensor_executor(x) == e);
    hg_tensor_release(x);
    hg_tensor_scope *scope;
    hg_tensor *y, *turned;
    OK(hg_scope_begin(other, &scope));
    OK(hg_ops_add(other, w, w, &y));
    OK(hg_tensor_transpose(w, &turned));
    hg_executor_destroy(other);
    FAILS(hg_scope_end(scope), "executor is destroyed");
    FAILS(hg_tensor_to_host(y, got, 6), "executor is destroyed");
    FAILS(hg_tensor_to_host(w, got, 6), "executor is destroyed");
    FAILS(hg_tensor_copy_from_host(turned, got, 6), "executor is destroyed");
    FAILS(hg_tensor_contiguous(turned, &x), "executor is destroyed");
    FAILS(hg_ops_add(e, w, w, &x), "executor is destroyed");
    FAILS(hg_ops_add_into(e, t, t, w), "executor is destroyed");
    CHECK(hg_tensor_executor(w) == NULL);
    hg_tensor_release(y), hg_tensor_release(turned);
    hg_tensor_release(w);
    hg_tensor_release(t);
    hg_executor_destroy(e);
}

/* Bytes that the C library has given out; 0: it does not say. */
static uint64_t given_out(void) {
#ifdef __GLIBC__
    if (SANITIZED) return 0;
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* One eager operation of a few kinds and shapes, the result of which goes at once. */
static void any_operation(hg_executor *e, hg_tensor *const *in, uint64_t round) {
    hg_ops_options o = hg_ops_defaults();
    hg_tensor *x = in[round % 3], *view = NULL, *made = NULL;
    OK(hg_tensor_transpose(x, &view));
    o.axes = (int64_t[]){(int64_t)(round % 2)};
    o.axis_count = 1;
    switch (round % 7) {
    case 0: OK(hg_ops_add(e, x, x, &made)); break;
    case 1: OK(hg_ops_mul(e, view, view, &made)); break;
    case 2: OK(hg_ops_sum(e, x, &o, &made)); break;
    case 3: OK(hg_ops_max(e, view, &o, &made)); break;
    case 4: OK(hg_ops_matmul(e, x, view, &made)); break;
    case 5: OK(hg_ops_softmax(e, view, &o, &made)); break;
    default: OK(hg_ops_exp_into(e, view, in[3 + round % 3])); break;
    }
    hg_tensor_release(view);
    hg_tensor_release(made);
}

/* Operations leave the process no larger. */
static void no_larger(uint64_t operations) {
    enum { TENSORS = 6, PERIOD = 42, SLACK = 65536 };
    hg_executor *e;
    hg_tensor *in[TENSORS];
    hg_executor_memory_info before = {.size = sizeof before}, after = before;
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    memcpy(config.jit, "off", 4); /* a compiler beside the operations has memory of its own */
    OK(hg_executor_create_from_config(&config, &e));
    for (uint64_t k = 0; k < TENSORS; k++) {
        uint64_t shape[2] = {5 + k % 3, 9};
        if (k >= 3) shape[0] = 9, shape[1] = 5 + k % 3;
        OK(hg_tensor_full(e, HG_TYPE_F32, 0.5, shape, 2, &in[k]));
    }
    uint64_t round = 0;
    while (round < 10 * PERIOD) any_operation(e, in, round++);
    OK(hg_executor_memory(e, &before));
    uint64_t bytes = given_out();
    for (uint64_t end = round + operations / PERIOD * PERIOD; round < end;)
        any_operation(e, in, round++);
    uint64_t now = given_out(); /* launches that came often are made ready */
    CHECK_MESSAGE(now <= bytes + SLACK, "%" PRIu64 " operations: %" PRIu64 " bytes, %" PRIu64,
                  operations, bytes, now);
    OK(hg_executor_memory(e, &after));
    CHECK_U64(after.used, before.used);
    CHECK_U64(after.kept_count, before.kept_count);
    for (uint64_t k = 0; k < TENSORS; k++) hg_tensor_release(in[k]);
    hg_executor_destroy(e);
}

/* ---- scopes ---- */

static void scopes(hg_executor *e) {
    hg_tensor_scope *outer, *inner;
    hg_tensor *x, *y, *z, *zero;
    double value;
    OK(hg_tensor_full(e, HG_TYPE_F32, 3, NULL, 0, &x));
    OK(hg_scope_begin(e, &outer));
    OK(hg_ops_add(e, x, x, &y));
    OK(hg_scope_begin(e, &inner));
    FAILS(hg_scope_end(outer), "not the innermost");
    OK(hg_ops_mul(e, y, y, &z)); /* y is the outer scope's, which runs */
    OK(hg_scope_end(inner));
    OK(hg_tensor_item(z, &value)); /* reads in the outer scope */
    CHECK(value == 36);
    hg_tensor_release(z);
    OK(hg_ops_sub(e, y, x, &z));
    hg_tensor_release(y); /* nobody holds it at the end */
    OK(hg_scope_end(outer));
    OK(hg_tensor_item(z, &value));
    CHECK(value == 3);
    hg_tensor_release(z);
    /* an error of what was recorded */
    OK(hg_tensor_full(e, HG_TYPE_I32, 0, NULL, 0, &zero));
    OK(hg_scope_begin(e, &outer));
    OK(hg_ops_floor_divide(e, zero, zero, &y));
    OK(hg_ops_neg(e, y, &z));
    FAILS(hg_scope_end(outer), "floor_divide");
    FAILS(hg_tensor_item(z, &value), "division by zero");
    OK(hg_tensor_item(x, &value));
    CHECK(value == 3);
    hg_tensor_release(x), hg_tensor_release(y), hg_tensor_release(z), hg_tensor_release(zero);
}

/* What is recorded reads elements as they were, whatever is written before it runs. */
static void writes_in_scopes(hg_executor *e) {
    hg_tensor_scope *outer, *inner;
    uint64_t n = 4;
    float data[4] = {3, 3, 3, 3}, ones[2] = {1, 1}, got[4];
    hg_tensor *x, *y, *z, *even, *last, *wrapped, *again;
    OK(hg_tensor_wrap_host(e, HG_TYPE_F32, data, &n, NULL, 1, NULL, NULL, &x));
    OK(hg_tensor_wrap_host(e, HG_TYPE_F32, data, &n, NULL, 1, NULL, NULL, &again));
    OK(hg_tensor_slice(x, 0, 0, INT64_MAX, 2, &even));
    OK(hg_scope_begin(e, &outer));
    OK(hg_ops_add(e, x, x, &y));
    OK(hg_scope_begin(e, &inner));
    OK(hg_ops_mul(e, x, x, &z));
    OK(hg_ops_neg_into(e, again, again)); /* the same memory */
    OK(hg_ops_add(e, x, x, &last));
    OK(hg_tensor_copy_from_host(even, ones, 2));
    OK(hg_ops_add(e, x, x, &wrapped));
    OK(hg_scope_end(inner));
    OK(hg_scope_end(outer));
    OK(hg_tensor_to_host(y, got, 4));
    for (int i = 0; i < 4; i++) CHECK(got[i] == 6);
    OK(hg_tensor_to_host(z, got, 4));
    for (int i = 0; i < 4; i++) CHECK(got[i] == 9);
    OK(hg_tensor_to_host(last, got, 4));
    for (int i = 0; i < 4; i++) CHECK(got[i] == -6);
    OK(hg_tensor_to_host(wrapped, got, 4));
    for (int i = 0; i < 4; i++) CHECK(got[i] == (i % 2 ? -6 : 2));
    hg_tensor_release(x), hg_tensor_release(y), hg_tensor_release(z), hg_tensor_release(even);
    hg_tensor_release(last), hg_tensor_release(wrapped), hg_tensor_release(again);
}

/* Numbers that operations are given are the same in a scope. */
static void numbers_in_scopes(hg_executor *e) {
    static const struct {
        hg_element type;
        double value;
    } cases[] = {{HG_TYPE_U64, 0x1p63},     {HG_TYPE_U64, 0x1p64 - 2048}, {HG_TYPE_U64, 7},
                 {HG_TYPE_I64, -0x1p63},    {HG_TYPE_I8, -128},           {HG_TYPE_U32, 0xFFFFFFFF},
                 {HG_TYPE_F32, INFINITY},   {HG_TYPE_F64, -INFINITY},     {HG_TYPE_F16, NAN},
                 {HG_TYPE_BF16, -0x1p-133}, {HG_TYPE_F64, 0x1p-1074},     {HG_TYPE_F32, -0.0},
                 {HG_ELEMENT_BOOL, 1},      {HG_TYPE_U16, 65535},         {HG_TYPE_F64, 0.1},
                 {HG_TYPE_F64, 0x1.8p1023}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hg_tensor *t[2][2];
        hg_tensor_scope *scope;
        uint64_t n = 3, around[2] = {1, 1}, bytes = hg_element_size(cases[i].type);
        char got[2][2][5 * 8];
        memset(got, 0, sizeof got);
        for (int in_scope = 0; in_scope < 2; in_scope++) {
            if (in_scope) OK(hg_scope_begin(e, &scope));
            OK(hg_tensor_full(e, cases[i].type, cases[i].value, &n, 1, &t[in_scope][0]));
            OK(hg_ops_pad(e, t[in_scope][0], around, cases[i].value, &t[in_scope][1]));
            if (in_scope) OK(hg_scope_end(scope));
            OK(hg_tensor_to_host(t[in_scope][0], got[in_scope][0], 3));
            OK(hg_tensor_to_host(t[in_scope][1], got[in_scope][1], 5));
            CHECK(memcmp(got[in_scope][0], got[in_scope][1], 3 * bytes) == 0);
        }
        CHECK_MESSAGE(memcmp(got[0], got[1], sizeof got[0]) == 0, "%s %g",
                      hg_element_name(cases[i].type), cases[i].value);
        for (int k = 0; k < 4; k++) hg_tensor_release(t[k / 2][k % 2]);
    }
}

/* Views have shapes whose products are no numbers of 64 bits. */
static void too_large(hg_executor *e) {
    const uint64_t rows = 274177, columns = UINT64_C(67280421310721); /* together 2^64 + 1 */
    hg_tensor *one, *tall, *wide, *t = NULL, *views[2];
    OK(hg_tensor_zeros(e, HG_TYPE_U8, (uint64_t[]){1, 1}, 2, &one));
    OK(hg_tensor_broadcast_to(one, (uint64_t[]){rows, 1}, 2, &tall));
    OK(hg_tensor_broadcast_to(one, (uint64_t[]){1, columns}, 2, &wide));
    FAILS(hg_ops_add(e, tall, wide, &t), "more bytes than an address can count");
    FAILS(hg_ops_matmul(e, tall, wide, &t), "more bytes than an address can count");
    hg_tensor_release(one);
    OK(hg_tensor_select(tall, 1, 0, &one));
    hg_tensor_release(tall);
    OK(hg_tensor_select(wide, 0, 0, &tall));
    hg_tensor_release(wide);
    FAILS(hg_tensor_meshgrid((const hg_tensor *[]){one, tall}, 2, false, views),
          "more bytes than an address can count");
    hg_tensor_release(one), hg_tensor_release(tall);
}

/* Operations on lazy tensors wait until somebody reads. */
static void lazy(hg_executor *e) {
    hg_executor_memory_info before = {.size = sizeof before}, after = before;
    uint64_t shape[2] = {64, 64};
    hg_tensor *x, *l, *y, *z;
    double value;
    OK(hg_tensor_full(e, HG_TYPE_F32, 2, shape, 2, &x));
    OK(hg_tensor_lazy(x, &l));
    OK(hg_executor_memory(e, &before));
    z = hg_tensor_retain(l);
    for (int i = 0; i < 2000; i++) { /* more than are recorded at once */
        OK(hg_ops_add(e, z, x, &y));
        hg_tensor_release(z);
        z = y;
        if (i == 5) {
            OK(hg_executor_memory(e, &after));
            CHECK_U64(after.used, before.used);
        }
    }
    OK(hg_tensor_select(z, 0, 63, &y));
    hg_tensor_release(z);
    OK(hg_tensor_select(y, 0, -1, &z));
    OK(hg_tensor_item(z, &value));
    CHECK(value == 4002);
    hg_tensor_release(x), hg_tensor_release(l), hg_tensor_release(y), hg_tensor_release(z);
}

/* What is recorded to read a tensor reads it before it is written. */
static void lazy_before(hg_executor *e) {
    const float ones[4] = {1, 1, 1, 1};
    uint64_t n = 4, offset;
    hg_tensor *x, *l, *w, *sum[3] = {NULL};
    hg_buffer buffer;
    OK(hg_tensor_arange(e, HG_TYPE_F32, 0, 4, 1, &x));
    OK(hg_tensor_lazy(x, &l));
    OK(hg_tensor_zeros(e, HG_TYPE_F32, &n, 1, &w));
    for (int i = 0; i < 3; i++) {
        float got[4];
        OK(hg_ops_add(e, l, w, &sum[i]));
        if (i == 0) OK(hg_tensor_copy_from_host(w, ones, 4));
        if (i == 1) OK(hg_ops_add_into(e, w, w, w));
        if (i == 2) OK(hg_tensor_buffer(w, &buffer, &offset));
        if (i == 2) OK(hg_buffer_write(hg_executor_backend(e), buffer, offset, ones, sizeof ones));
        OK(hg_tensor_to_host(sum[i], got, 4));
        for (int k = 0; k < 4; k++) CHECK(got[k] == (float)(k + i));
        hg_tensor_release(sum[i]);
    }
    hg_tensor_release(x), hg_tensor_release(l), hg_tensor_release(w);
}

/* A buffer of the caller that goes before the tensor is an error, also for a launch that is kept.
 */
static void freed_buffer(hg_executor *e) {
    uint64_t n = 64;
    hg_typed_buffer buffer;
    hg_tensor *x, *y;
    OK(hg_allocate_typed(hg_executor_backend(e), HG_TYPE_F32, n, &buffer));
    OK(hg_tensor_from_buffer(e, buffer, &n, 1, &x));
    OK(hg_tensor_zeros(e, HG_TYPE_F32, &n, 1, &y));
    for (int i = 0; i < 6; i++) OK(hg_ops_add_into(e, x, x, y));
    OK(hg_free_typed(hg_executor_backend(e), buffer));
    for (int i = 0; i < 2; i++) CHECK(hg_ops_add_into(e, x, x, y) == HG_ERROR_INVALID_BUFFER);
    hg_tensor_release(x), hg_tensor_release(y);
}

/* Of an executor that goes while something is recorded. */
static void lazy_without_executor(void) {
    hg_executor *e;
    hg_tensor *x, *l, *y;
    double value;
    OK(hg_executor_create_cpu(&e));
    OK(hg_tensor_full(e, HG_TYPE_F32, 2, NULL, 0, &x));
    OK(hg_tensor_lazy(x, &l));
    OK(hg_ops_add(e, l, x, &y));
    hg_executor_destroy(e);
    FAILS(hg_tensor_item(y, &value), "executor is destroyed");
    hg_tensor_release(x), hg_tensor_release(l), hg_tensor_release(y);
}

/* Over a queue nothing is run before it is asked for, and what was asked for is what an executor
 * of its own computes. */
static void on_queue(hg_executor *own) {
    hg_queue *queue;
    hg_executor *e[2] = {own, NULL};
    hg_event *event;
    float got[2][12];
    double value;
    OK(hg_queue_create(hg_executor_backend(own), NULL, &queue));
    OK(hg_executor_create_on_queue(queue, &e[1]));
    for (int i = 0; i < 2; i++) {
        hg_tensor *x, *y, *z, *product, *w;
        OK(hg_tensor_from_host(e[i], HG_TYPE_F32,
                               (const float[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 12,
                               (uint64_t[]){3, 4}, 2, &x));
        OK(hg_tensor_transpose(x, &y));
        OK(hg_ops_exp(e[i], y, &z));
        OK(hg_ops_matmul(e[i], x, z, &product));
        if (i) OK(hg_tensor_submit(product, &event));
        if (i) OK(hg_event_wait(event));
        if (i) hg_event_destroy(event);
        OK(hg_tensor_to_host(product, got[i], 9));
        OK(hg_tensor_copy_from_host(x, got[i], 12)); /* once all that reads it is over */
        for (int k = 0; k < 300; k++) {
            OK(hg_ops_add(e[i], product, product, &w));
            hg_tensor_release(product);
            product = w;
            if (k % 100 == 7 && i) OK(hg_tensor_submit(product, &event));
            if (k % 100 == 7 && i) hg_event_destroy(event);
        }
        OK(hg_tensor_select(product, 0, 1, &w));
        OK(hg_tensor_to_host(w, got[i] + 9, 3));
        hg_tensor_release(x), hg_tensor_release(y), hg_tensor_release(z), hg_tensor_release(w);
        FAILS(hg_tensor_submit(product, NULL), "signal");
        if (!i) FAILS(hg_tensor_submit(product, &event), "the tensor's executor has no queue");
        if (i) hg_executor_destroy(e[i]);
        if (i) FAILS(hg_tensor_item(product, &value), "one element");
        hg_tensor_release(product);
    }
    CHECK(memcmp(got[0], got[1], sizeof got[0]) == 0);
    hg_queue_destroy(queue);
}

enum { LATE = 4096 };

static void sleep_a_while(void *user) {
    (void)user;
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

static void spoil(void *user) { memset(user, 0, LATE * sizeof(float)); }

/* Appends what is recorded for a tensor behind something that takes a while. */
static hg_event *submit_late(hg_queue *queue, const hg_tensor *t) {
    const hg_command slow = {
        .size = sizeof slow, .kind = HG_COMMAND_HOST_CALL, .call = sleep_a_while};
    hg_event *event = NULL;
    OK(hg_queue_submit(queue, &slow, 1, NULL, 0, NULL));
    OK(hg_tensor_submit(t, &event));
    return event;
}

static void check_all(const float *x, float expected, const char *what) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < LATE; i++) wrong += x[i] != expected;
    CHECK_MESSAGE(!wrong, "%s: %u elements are not %g", what, (unsigned)wrong, (double)expected);
}

/* What the queue has not come to yet has its memory: the caller's may go, that of tensors may be
 * given to others, and other libraries see elements that are there. */
static void late_on_queue(hg_executor *own) {
    static float data[LATE], got[LATE];
    const uint64_t shape[] = {LATE};
    hg_queue *queue;
    hg_executor *e;
    hg_tensor *x, *y, *z, *w;
    hg_typed_buffer zeros;
    void *managed;
    for (uint32_t i = 0; i < LATE; i++) data[i] = 3;
    OK(hg_queue_create(hg_executor_backend(own), NULL, &queue));
    OK(hg_executor_create_on_queue(queue, &e));
    OK(hg_tensor_wrap_host(e, HG_TYPE_F32, data, shape, NULL, 1, spoil, data, &x));
    OK(hg_ops_add(e, x, x, &y));
    hg_event *event = submit_late(queue, y);
    hg_tensor_release(x);
    OK(hg_event_wait(event));
    hg_event_destroy(event);
    OK(hg_tensor_to_host(y, got, LATE));
    check_all(got, 6, "memory of the caller");

    OK(hg_ops_add(e, y, y, &z));
    event = submit_late(queue, z);
    hg_tensor_release(y);
    OK(hg_executor_allocate(e, HG_TYPE_F32, LATE, &zeros));
    OK(hg_event_wait(event));
    hg_event_destroy(event);
    OK(hg_tensor_to_host(z, got, LATE));
    check_all(got, 12, "memory of a tensor that is gone");
    OK(hg_executor_free(e, zeros));

    OK(hg_ops_add(e, z, z, &w));
    event = submit_late(queue, w);
    OK(hg_tensor_to_dlpack(w, false, &managed));
    const hg_dlpack_managed *given = managed;
    check_all((const float *)given->tensor.data, 24, "for another library");
    given->deleter(managed);
    OK(hg_event_wait(event));
    hg_event_destroy(event);
    hg_tensor_release(z), hg_tensor_release(w);
    hg_executor_destroy(e);
    hg_queue_destroy(queue);
}

/* ---- mistakes and text ---- */

static void mistakes(hg_executor *e) {
    hg_tensor *a, *b, *c = NULL;
    char *text;
    hg_operation operation;
    float x[6] = {1, 2, 3, 4, 5, 6};
    OK(hg_tensor_from_host(e, HG_TYPE_F32, x, 6, (uint64_t[]){2, 3}, 2, &a));
    OK(hg_tensor_zeros(e, HG_TYPE_I32, (uint64_t[]){3, 2}, 2, &b));
    FAILS(hg_tensor_from_host(e, HG_TYPE_F32, x, 6, (uint64_t[]){2, 2}, 2, &c),
          "Tensor shape mismatch: [2, 2] has 4 elements, 6 given");
    FAILS(hg_ops_add(e, a, b, &c), "Tensor shape mismatch: add: f32 [2, 3] and i32 [3, 2]");
    FAILS(hg_ops_bitwise_and(e, a, a, &c), "bitwise_and: f32 [2, 3] and f32 [2, 3]: ");
    FAILS(hg_tensor_select(a, 2, 0, &c), "Invalid dimension: 2 of 2");
    FAILS(hg_tensor_narrow(a, 1, 2, 2, &c), "2 elements from 2 on are outside of axis 1");
    FAILS(hg_tensor_reshape(a, (uint64_t[]){4}, 1, &c), "f32 [2, 3] has no shape [4]");
    FAILS(hg_tensor_to_host(a, x, 5), "Invalid buffer size: expected 6, got 5");
    FAILS(hg_tensor_zeros(e, HG_TYPE_F32, (uint64_t[]){UINT64_MAX, 2}, 2, &c),
          "more bytes than an address can count");
    FAILS(hg_tensor_zeros(e, 63, NULL, 0, &c), "63 is no element type");
    FAILS(hg_ops_find("ad", &operation), "'ad' is no operation on tensors; did you mean 'add'?");
    FAILS(hg_ops_find("sofmax", &operation), "did you mean 'softmax'?");
    hg_ops_options o = hg_ops_defaults();
    hg_tensor *both[2];
    const hg_tensor *in[1] = {a};
    o.size_count = 1;
    FAILS(hg_ops_call(e, HG_OPS_TOP_K, in, 1, &o, both, 2), "top_k: options.sizes is NULL");
    hg_tensor *three[3] = {a, b, a};
    FAILS(hg_ops_call(e, HG_OPS_TOP_K, in, 1, &o, three, 3), "top_k: 3 results are asked for");
    CHECK(three[0] == a && three[1] == b && three[2] == a); /* it has two */
    o.axis_count = 2;
    FAILS(hg_ops_call(e, HG_OPS_ROLL, in, 1, &o, both, 1), "roll: options.axes is NULL");
    FAILS(hg_ops_pad(e, a, (uint64_t[]){0, 0, INT64_MAX, INT64_MAX}, 0, &c), "out of range");
    CHECK(c == NULL);
    OK(hg_tensor_print(a, &text));
    CHECK_TEXT(text, "f32 [2, 3] = [[1, 2, 3],\n [4, 5, 6]]");
    hg_string_free(text);
    hg_tensor_release(a), hg_tensor_release(b);
}

/* A launch that came before goes on with other buffers: of other places, sizes, the same one twice,
 * and the caller's own at addresses of any kind. */
enum { LAUNCHED = 100, LIVE = 12 };
static float host_memory[LIVE][LAUNCHED + 1];

static hg_tensor *numbers(hg_executor *e, uint32_t k, float *values) {
    hg_tensor *t = NULL;
    uint64_t n = LAUNCHED;
    float *host = k % 3 == 1 ? &host_memory[k][k % 2] : values;
    for (uint32_t i = 0; i < n; i++) values[i] = host[i] = (float)((i * 7 + k * 13) % 101);
    if (k % 3 == 0) OK(hg_tensor_from_host(e, HG_TYPE_F32, values, n, &n, 1, &t));
    if (k % 3 == 1) OK(hg_tensor_wrap_host(e, HG_TYPE_F32, host, &n, NULL, 1, NULL, NULL, &t));
    if (k % 3 == 2) { /* behind something else in a larger buffer */
        hg_tensor *whole = NULL;
        uint64_t more = n + 64;
        float all[LAUNCHED + 64] = {0};
        memcpy(all + 64, values, sizeof *values * n);
        OK(hg_tensor_from_host(e, HG_TYPE_F32, all, more, &more, 1, &whole));
        OK(hg_tensor_narrow(whole, 0, 64, n, &t));
        hg_tensor_release(whole);
    }
    return t;
}

static void check_sum(const hg_tensor *sum, const float *a, const float *b) {
    float got[LAUNCHED];
    uint64_t wrong = 0;
    OK(hg_tensor_to_host(sum, got, LAUNCHED));
    for (uint32_t i = 0; i < LAUNCHED; i++) wrong += got[i] != a[i] + 2 * b[i];
    CHECK_U64(wrong, 0);
}

static void launches(hg_executor *e) {
    static float values[LIVE][LAUNCHED];
    hg_tensor *in[LIVE], *twice[LIVE] = {NULL}, *sums[LIVE] = {NULL};
    for (uint32_t k = 0; k < LIVE; k++) in[k] = numbers(e, k, values[k]);
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t a = (uint32_t)rnd(LIVE), b = rnd(4) ? (uint32_t)rnd(LIVE) : a, to = round % LIVE;
        hg_tensor_release(twice[to]), hg_tensor_release(sums[to]);
        OK(hg_ops_add(e, in[b], in[b], &twice[to]));
        OK(hg_ops_add(e, in[a], twice[to], &sums[to]));
        check_sum(sums[to], values[a], values[b]);
        if (round % 50 == 20) OK(hg_executor_trim(e, 0));
        if (round % 40 != 30) continue;
        hg_tensor_release(in[b]); /* its memory is somebody else's soon */
        in[b] = numbers(e, b, values[b]);
    }
    for (uint32_t k = 0; k < LIVE; k++)
        hg_tensor_release(in[k]), hg_tensor_release(twice[k]), hg_tensor_release(sums[k]);
}

static void types(void) {
    CHECK_U64(hg_element_promote(HG_TYPE_I8, HG_TYPE_U8), HG_TYPE_I16);
    CHECK_U64(hg_element_promote(HG_TYPE_I64, HG_TYPE_U64), HG_TYPE_F64);
    CHECK_U64(hg_element_promote(HG_TYPE_F16, HG_TYPE_BF16), HG_TYPE_F32);
    CHECK_U64(hg_element_promote(HG_ELEMENT_BOOL, HG_TYPE_U8), HG_TYPE_U8);
    for (hg_element a = 0; a <= HG_ELEMENT_BOOL; a++)
        for (hg_element b = 0; b <= HG_ELEMENT_BOOL; b++)
            CHECK_U64(hg_element_promote(a, b), hg_element_promote(b, a));
}

int main(int count, char **arguments) {
    hg_executor *e;
    if (count == 3 && strcmp(arguments[1], "--operations") == 0) {
        no_larger(strtoull(arguments[2], NULL, 10));
        return test_done();
    }
    OK(hg_executor_create_cpu(&e));
    random_views(e, 120);
    overlaps(e);
    scopes(e);
    writes_in_scopes(e);
    numbers_in_scopes(e);
    too_large(e);
    lazy(e);
    lazy_before(e);
    freed_buffer(e);
    lazy_without_executor();
    on_queue(e);
    late_on_queue(e);
    mistakes(e);
    launches(e);
    hg_executor_destroy(e);
    memory();
    no_larger(10000);
    types();
    return test_done();
}
