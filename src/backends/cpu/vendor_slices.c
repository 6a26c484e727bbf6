/* How a step is cut, so that each thread has a part of its own, and none is so large that a
 * time-out or a cancel waits long for its end.
 * Must not know: the library, threads. */
#include "backends/cpu/vendor_internal.h"

#define WORTH_THREADS \
    (UINT64_C(1) << 20) /* multiply-adds: some 20 us, waking a thread takes a few */
#define MOST_WORK                                                                                  \
    (UINT64_C(1) << 33) /* multiply-adds of a slice, where more than one a thread are wide enough: \
                           some 200 ms */
enum { MOST_EACH = 256 };

/* The dimension of each tensor along which it is cut; -1: all slices have the whole. */
typedef struct cut {
    int dimension[VENDOR_TENSORS];
    int64_t size, granule;
    bool rows; /* of a convolution's result: rows of the source that neighbours need overlap */
} cut;

/* Columns first: then no slice brings weights into order that another one needs too. `wide`: what a
 * slice brings into order is small beside its work. */
static bool cut_product(const vendor_problem *p, uint32_t threads, bool wide, cut *c) {
    enum { COLUMNS = 64, ROWS = 8 };
    const uint64_t columns = wide ? 4 * COLUMNS : COLUMNS, rows = wide ? 32 * ROWS : ROWS;
    const vendor_tensor *t = p->tensor;
    int inner = t[VENDOR_RESULT].rank - 1;
    if (inner == 2 && p->size[3] >= threads)
        *c = (cut){
            {t[VENDOR_SOURCE].dims[0] > 1 ? 0 : -1, t[VENDOR_WEIGHTS].dims[0] > 1 ? 0 : -1, -1, 0},
            (int64_t)p->size[3],
            1,
            false};
    else if (p->size[1] >= columns * threads)
        *c = (cut){{-1, inner, inner, inner}, (int64_t)p->size[1], COLUMNS, false};
    else if (p->size[0] >= rows * threads)
        *c = (cut){{inner - 1, -1, -1, inner - 1}, (int64_t)p->size[0], ROWS, false};
    else
        return false;
    return true;
}

static int64_t elements(const vendor_tensor *t) {
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++) count *= t->dims[i];
    return count;
}

/* Images first; else what is larger is brought into order by one slice only: weights or images. */
static bool cut_convolution(const vendor_problem *p, uint32_t threads, bool wide, cut *c) {
    enum { CHANNELS = 16 };
    const int64_t channels = wide ? 4 * CHANNELS : CHANNELS, rows = wide ? 16 : 1;
    const vendor_tensor *t = p->tensor, *result = &t[VENDOR_RESULT];
    bool heavy = t[VENDOR_WEIGHTS].rank == 4 &&
                 elements(&t[VENDOR_WEIGHTS]) > elements(&t[VENDOR_SOURCE]);
    if (result->dims[0] >= (int64_t)threads)
        *c = (cut){{0, -1, -1, 0}, result->dims[0], 1, false};
    else if (heavy && result->dims[1] >= channels * (int64_t)threads)
        *c = (cut){{-1, 0, 0, 1}, result->dims[1], CHANNELS, false};
    else if (result->dims[2] >= rows * (int64_t)threads)
        *c = (cut){{2, -1, -1, 2}, result->dims[2], 1, true};
    else
        return false;
    return true;
}

static bool find_cut(const vendor_problem *p, vendor_cut wanted, cut *c) {
    if (wanted.slices < 2) return false;
    return p->convolution ? cut_convolution(p, wanted.slices, wanted.wide, c)
                          : cut_product(p, wanted.slices, wanted.wide, c);
}

static int64_t each_of(const cut *c, uint32_t slices) {
    int64_t each = (c->size + slices - 1) / slices;
    return (each + c->granule - 1) / c->granule * c->granule;
}

uint32_t vendor_slices(const vendor_problem *p, uint32_t threads, vendor_cut *wanted) {
    double work = (double)p->size[0] * (double)p->size[1] * (double)p->size[2] * (double)p->size[3];
    cut c;
    *wanted = (vendor_cut){1, false};
    if (work < (double)WORTH_THREADS) return 1;
    double each = work / (double)MOST_WORK / threads; /* slices of a thread */
    bool found = false;
    for (uint32_t n = each < MOST_EACH ? (uint32_t)each + 1 : MOST_EACH; n > 1 && !found; n /= 2) {
        *wanted = (vendor_cut){n * threads, true};
        found = find_cut(p, *wanted, &c);
    }
    if (!found) *wanted = (vendor_cut){threads, false};
    if (!found && !find_cut(p, *wanted, &c)) return 1;
    int64_t size = each_of(&c, wanted->slices);
    return (uint32_t)((c.size + size - 1) / size);
}

static uint64_t size_of(uint8_t type) {
    return type == ONEDNN_F32 || type == ONEDNN_S32 ? 4 : type == ONEDNN_BF16 ? 2 : 1;
}

static void cut_tensor(const vendor_problem *p, int role, int dimension, int64_t first,
                       int64_t count, vendor_slice *slice) {
    const vendor_tensor *t = &p->tensor[role];
    slice->tensor[role].dims[dimension] = count;
    slice->offset[role] = (uint64_t)(first * t->strides[dimension]) * size_of(t->type);
}

/* Rows [first, first + count) of the result, and those of the source that they are made of: where
 * these end before the kernel does, it is padding. */
static void cut_rows(const vendor_problem *p, int64_t first, int64_t count, vendor_slice *slice) {
    const vendor_tensor *weights = &p->tensor[VENDOR_WEIGHTS];
    int64_t height = p->tensor[VENDOR_SOURCE].dims[2], kernel = weights->dims[weights->rank - 2];
    int64_t begin = first * p->stride[0] - p->before[0];
    int64_t end = (first + count - 1) * p->stride[0] - p->before[0] +
                  (kernel - 1) * p->dilation[0] + 1;
    int64_t from = begin < 0        ? 0
                   : begin < height ? begin
                                    : height - 1,
            to = end > height ? height
                 : end > from ? end
                              : from + 1;
    slice->before[0] = from - begin;
    slice->after[0] = end - to;
    cut_tensor(p, VENDOR_SOURCE, 2, from, to - from, slice);
    cut_tensor(p, VENDOR_RESULT, 2, first, count, slice);
}

void vendor_slice_get(const vendor_problem *p, vendor_cut wanted, uint32_t number,
                      vendor_slice *slice) {
    cut c;
    *slice = (vendor_slice){.before = {p->before[0], p->before[1]},
                            .after = {p->after[0], p->after[1]}};
    for (int i = 0; i < VENDOR_TENSORS; i++) slice->tensor[i] = p->tensor[i];
    if (!find_cut(p, wanted, &c)) return;
    int64_t each = each_of(&c, wanted.slices), first = number * each,
            count = c.size - first < each ? c.size - first : each;
    if (c.rows) {
        cut_rows(p, first, count, slice);
        return;
    }
    for (int i = 0; i < VENDOR_TENSORS; i++)
        if (p->tensor[i].rank && c.dimension[i] >= 0)
            cut_tensor(p, i, c.dimension[i], first, count, slice);
}
