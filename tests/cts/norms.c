/* softmax, norms, rope and what goes along rows against the same in long double, within a bound of
 * each element; copies to the bit. */
#include "work.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* Elements of a size: from [rows / inner, n, inner] to rows of n, or back. */
static void turn(void *array, size_t size, unsigned rows, unsigned n, unsigned inner, bool back) {
    size_t bytes = (size_t)rows * n * size;
    uint8_t *a = array, *copy = malloc(bytes + 1);
    if (!copy || !a) exit(1);
    memcpy(copy, a, bytes);
    for (size_t i = 0; i < (size_t)rows * n; i++) {
        size_t row = i / n, k = i % n, at = (row / inner * n + k) * inner + row % inner;
        memcpy(a + (back ? at : i) * size, copy + (back ? i : at) * size, size);
    }
    free(copy);
}

static void turn_results(work *w, unsigned rows, unsigned n, unsigned inner) {
    turn(w->expected, sizeof *w->expected, rows, n, inner, true);
    turn(w->bound, sizeof *w->bound, rows, n, inner, true);
}

static void softmax(cts *s, hg_type type, unsigned rows, unsigned n, unsigned inner) {
    work w;
    char text[256];
    bool ok = work_begin(&w, s, type, type, (uint64_t)rows * n, "yx");
    double *x = work_input(&w, "x", (uint64_t)rows * n, false);
    if (ok && x) turn(x, sizeof *x, rows, n, inner, false);
    for (unsigned r = 0; ok && x && r < rows; r++) {
        const double *row = x + (uint64_t)r * n;
        long double largest = -INFINITY, sum = 0, away = 0;
        for (unsigned i = 0; i < n; i++) largest = fmaxl(largest, row[i]);
        for (unsigned i = 0; i < n; i++) sum += expl(row[i] - largest);
        for (unsigned i = 0; i < n; i++) away += expl(row[i] - largest) * (largest - row[i]) / sum;
        for (unsigned i = 0; i < n; i++) {
            long double value = expl(row[i] - largest) / sum;
            w.expected[(uint64_t)r * n + i] = value;
            w.bound[(uint64_t)r * n + i] = value * w.unit *
                                           (largest - row[i] + away + (long double)n / 16 + 8);
        }
    }
    if (ok && x) turn_results(&w, rows, n, inner);
    free(x);
    snprintf(text, sizeof text, "softmax.%s output=y, input=x, n=%u, rows=%u, inner=%u",
             hg_type_name(type), n, rows / inner, inner);
    work_finish(&w, text);
}

static void log_softmax(cts *s, hg_type type, unsigned rows, unsigned n, unsigned inner) {
    work w;
    char text[256];
    bool ok = work_begin(&w, s, type, type, (uint64_t)rows * n, "yx");
    double *x = work_input(&w, "x", (uint64_t)rows * n, false);
    if (ok && x) turn(x, sizeof *x, rows, n, inner, false);
    for (unsigned r = 0; ok && x && r < rows; r++) {
        const double *row = x + (uint64_t)r * n;
        long double largest = -INFINITY, sum = 0, away = 0;
        for (unsigned i = 0; i < n; i++) largest = fmaxl(largest, row[i]);
        for (unsigned i = 0; i < n; i++) sum += expl(row[i] - largest);
        for (unsigned i = 0; i < n; i++) away += expl(row[i] - largest) * (largest - row[i]) / sum;
        for (unsigned i = 0; i < n; i++) {
            w.expected[(uint64_t)r * n + i] = row[i] - largest - logl(sum);
            w.bound[(uint64_t)r * n + i] = w.unit * (2 * (largest - row[i]) + away + 3 * logl(sum) +
                                                     (long double)n / 16 + 8);
        }
    }
    if (ok && x) turn_results(&w, rows, n, inner);
    free(x);
    snprintf(text, sizeof text, "log_softmax.%s output=y, input=x, n=%u, rows=%u, inner=%u",
             hg_type_name(type), n, rows / inner, inner);
    work_finish(&w, text);
}

static void rms_norm(cts *s, hg_type type, unsigned rows, unsigned n, unsigned inner) {
    work w;
    char text[256];
    bool ok = work_begin(&w, s, type, type, (uint64_t)rows * n, "yxg");
    double *x = work_input(&w, "x", (uint64_t)rows * n, false),
           *gamma = work_input(&w, "g", n, false);
    if (ok && x) turn(x, sizeof *x, rows, n, inner, false);
    for (unsigned r = 0; ok && x && gamma && r < rows; r++) {
        const double *row = x + (uint64_t)r * n;
        long double squares = 0.0009765625L;
        for (unsigned i = 0; i < n; i++) squares += (long double)row[i] * row[i] / n;
        for (unsigned i = 0; i < n; i++) {
            long double y = row[i] / sqrtl(squares) * gamma[i];
            w.expected[(uint64_t)r * n + i] = y;
            w.bound[(uint64_t)r * n + i] = w.unit * fabsl(y) * ((long double)n / 128 + 16);
        }
    }
    if (ok && x) turn_results(&w, rows, n, inner);
    free(x);
    free(gamma);
    snprintf(text, sizeof text,
             "rms_norm.%s output=y, input=x, gamma=g, n=%u, rows=%u, inner=%u, eps=0.0009765625",
             hg_type_name(type), n, rows / inner, inner);
    work_finish(&w, text);
}

/* Normalises a row of n elements in place: (x - mean) / sqrt(variance + eps); gives what an element
 * is known within, in units. */
static long double normalise(const double *x, unsigned n, long double *y) {
    long double mean = 0, size = 0, variance = 0;
    for (unsigned i = 0; i < n; i++) mean += (long double)x[i] / n;
    for (unsigned i = 0; i < n; i++) size += fabsl((long double)x[i]) / n;
    for (unsigned i = 0; i < n; i++)
        variance += ((long double)x[i] - mean) * ((long double)x[i] - mean) / n;
    for (unsigned i = 0; i < n; i++) y[i] = (x[i] - mean) / sqrtl(variance + 0.0009765625L);
    return ((long double)n / 16 + 32) * (1 + size / sqrtl(variance + 0.0009765625L));
}

static void norm(cts *s, hg_type type, unsigned batch, unsigned channels, unsigned groups,
                 unsigned spatial, const char *activation) {
    work w;
    char text[256];
    uint64_t count = (uint64_t)batch * channels * spatial;
    bool layer = groups == 0;
    unsigned rows = layer ? batch * spatial : batch * groups,
             n = layer ? channels : channels / groups * spatial;
    bool ok = work_begin(&w, s, type, type, count, "yxgb");
    double *x = work_input(&w, "x", count, false), *gamma = work_input(&w, "g", channels, false),
           *beta = work_input(&w, "b", channels, false);
    unsigned inner = layer ? spatial : 1;
    if (ok && x) turn(x, sizeof *x, rows, n, inner, false);
    for (unsigned r = 0; ok && x && gamma && beta && r < rows; r++) {
        long double *y = w.expected + (uint64_t)r * n, known = normalise(x + (uint64_t)r * n, n, y);
        for (unsigned i = 0; i < n; i++) {
            unsigned at = layer ? i : r % groups * (channels / groups) + i / spatial;
            w.bound[(uint64_t)r * n + i] = w.unit * (fabsl((long double)gamma[at]) *
                                                         (known + 8 * fabsl(y[i])) +
                                                     4 * fabsl((long double)beta[at]));
            y[i] = y[i] * gamma[at] + beta[at];
            if (activation[0] == 'r') y[i] = fmaxl(y[i], 0);
        }
    }
    if (ok && x) turn_results(&w, rows, n, inner);
    free(x);
    free(gamma);
    free(beta);
    if (layer)
        snprintf(text, sizeof text,
                 "layer_norm.%s output=y, input=x, gamma=g, beta=b, n=%u, rows=%u, inner=%u, "
                 "eps=0.0009765625",
                 hg_type_name(type), n, batch, inner);
    else
        snprintf(text, sizeof text,
                 "group_norm.%s output=y, input=x, gamma=g, beta=b, batch=%u, channels=%u, "
                 "groups=%u, spatial=%u, eps=0.0009765625, "
                 "activation=%s",
                 hg_type_name(type), batch, channels, groups, spatial, activation);
    work_finish(&w, text);
}

/* The mean, or 1 / deviation, of each line of a layer_norm, in what it calculates in. */
static void given(cts *s, hg_type type, unsigned rows, unsigned n, unsigned inner, bool mean) {
    work w;
    char text[256];
    hg_type result = type == HG_TYPE_F64 ? HG_TYPE_F64 : HG_TYPE_F32;
    bool ok = work_begin(&w, s, type, result, (uint64_t)rows * inner, "yxgo");
    double *x = work_input(&w, "x", (uint64_t)rows * inner * n, false),
           *g = work_input(&w, "g", n, false),
           *o = work_input(&w, "o", (uint64_t)rows * inner * n, false);
    if (ok && x) turn(x, sizeof *x, rows * inner, n, inner, false);
    for (unsigned r = 0; ok && x && r < rows * inner; r++) {
        long double sum = 0, size = 0, variance = 0.0009765625L;
        for (unsigned i = 0; i < n; i++) sum += (long double)x[r * n + i] / n;
        for (unsigned i = 0; i < n; i++) size += fabsl(x[r * n + i] - sum) / n;
        for (unsigned i = 0; i < n; i++)
            variance += (x[r * n + i] - sum) * (x[r * n + i] - sum) / n;
        w.expected[r] = mean ? sum : 1 / sqrtl(variance);
        w.bound[r] = mean ? w.unit * (2 * fabsl(sum) + ((long double)n / 16 + 8) * (size + 1))
                          : w.unit * ((long double)n / 32 + 36) / sqrtl(variance);
    }
    free(x);
    free(g);
    free(o);
    snprintf(text, sizeof text,
             "layer_norm.%s output=o, input=x, gamma=g, beta=g, n=%u, rows=%u, inner=%u, "
             "eps=0.0009765625, %s=y",
             hg_type_name(type), n, rows, inner, mean ? "mean" : "inverse_deviation");
    work_finish(&w, text);
}

static void batch_norm(cts *s, hg_type type, unsigned batch, unsigned channels, unsigned spatial,
                       const char *activation) {
    work w;
    char text[256];
    uint64_t count = (uint64_t)batch * channels * spatial;
    bool ok = work_begin(&w, s, type, type, count, "yxgbmv");
    double *x = work_input(&w, "x", count, false), *gamma = work_input(&w, "g", channels, false),
           *beta = work_input(&w, "b", channels, false),
           *mean = work_input(&w, "m", channels, false),
           *variance = work_input(&w, "v", channels, true);
    for (uint64_t i = 0; ok && x && gamma && beta && mean && variance && i < count; i++) {
        uint64_t at = i / spatial % channels;
        long double factor = gamma[at] / sqrtl(variance[at] + 0.0009765625L);
        w.expected[i] = (x[i] - mean[at]) * factor + beta[at];
        w.bound[i] = 16 * w.unit *
                     (fabsl(factor) * (fabsl((long double)x[i]) + fabsl((long double)mean[at])) +
                      fabsl((long double)beta[at]));
        if (activation[0] == 'r') w.expected[i] = fmaxl(w.expected[i], 0);
    }
    free(x);
    free(gamma);
    free(beta);
    free(mean);
    free(variance);
    snprintf(text, sizeof text,
             "batch_norm.%s output=y, input=x, gamma=g, beta=b, mean=m, variance=v, batch=%u, "
             "channels=%u, spatial=%u, eps=0.0009765625, "
             "activation=%s",
             hg_type_name(type), batch, channels, spatial, activation);
    work_finish(&w, text);
}

static void layer_scale(cts *s, hg_type type, unsigned rows, unsigned n) {
    work w;
    char text[256];
    bool ok = work_begin(&w, s, type, type, (uint64_t)rows * n, "yxv");
    double *x = work_input(&w, "x", (uint64_t)rows * n, false),
           *scale = work_input(&w, "v", n, false);
    for (uint64_t i = 0; ok && x && scale && i < (uint64_t)rows * n; i++)
        w.expected[i] = (long double)x[i] * scale[i % n];
    for (uint64_t i = 0; ok && i < w.count; i++)
        if (w.expected[i] == 0)
            w.expected[i] = signbit(x[i]) != signbit(scale[i % n]) ? -0.0L : 0.0L;
    free(x);
    free(scale);
    snprintf(text, sizeof text, "layer_scale.%s output=y, input=x, scale=v, n=%u, rows=%u",
             hg_type_name(type), n, rows);
    work_finish(&w, text);
}

/* ---- rope ---- */

static void rope(cts *s, hg_type type, unsigned places, unsigned heads, unsigned size,
                 unsigned position, bool halves) {
    work w;
    char text[256];
    unsigned half = size / 2;
    uint64_t count = 2ull * places * heads * size;
    bool ok = work_begin(&w, s, type, type, count, "yxf");
    double *x = work_input(&w, "x", count, false), *freqs = work_input(&w, "f", half, true);
    for (uint64_t pair = 0; ok && x && freqs && pair < count / 2; pair++) {
        uint64_t i = pair % half, start = pair / half * size, place = pair / half / heads % places;
        uint64_t one = start + (halves ? i : 2 * i),
                 other = start + (halves ? i + half : 2 * i + 1);
        long double angle = (long double)(position + place) * freqs[i], a = x[one], b = x[other];
        w.expected[one] = a * cosl(angle) - b * sinl(angle);
        w.expected[other] = a * sinl(angle) + b * cosl(angle);
        w.bound[one] = w.bound[other] = w.unit * (fabsl(a) + fabsl(b)) * (fabsl(angle) + 4);
    }
    free(x);
    free(freqs);
    snprintf(text, sizeof text,
             "rope.%s output=y, input=x, freqs=f, batch=2, seq_len=%u, heads=%u, head_dim=%u, "
             "position=%u, halves=%s",
             hg_type_name(type), places, heads, size, position, halves ? "true" : "false");
    work_finish(&w, text);
}

/* The same by tables, of the first 2 half elements of each head. */
static void rope_by_tables(cts *s, hg_type type, unsigned half, bool halves) {
    work w;
    char text[256];
    enum { PLACES = 3, HEADS = 2, SIZE = 70 };
    uint64_t count = PLACES * HEADS * SIZE;
    bool ok = work_begin(&w, s, type, type, count, "yxcs");
    double *x = work_input(&w, "x", count, false),
           *c = work_input(&w, "c", (uint64_t)PLACES * half, false),
           *sines = work_input(&w, "s", (uint64_t)PLACES * half, false);
    for (uint64_t i = 0; ok && x && i < count; i++) w.expected[i] = x[i];
    for (uint64_t pair = 0; ok && x && c && sines && pair < (uint64_t)PLACES * HEADS * half;
         pair++) {
        uint64_t i = pair % half, start = pair / half * SIZE, row = pair / half / HEADS * half + i;
        uint64_t one = start + (halves ? i : 2 * i),
                 other = start + (halves ? i + half : 2 * i + 1);
        long double a = x[one], b = x[other];
        w.expected[one] = a * c[row] - b * sines[row];
        w.expected[other] = a * sines[row] + b * c[row];
        w.bound[one] = w.unit * (2 * fabsl(a * c[row]) + 3 * fabsl(b * sines[row]));
        w.bound[other] = w.unit * (2 * fabsl(a * sines[row]) + 3 * fabsl(b * c[row]));
    }
    free(x);
    free(c);
    free(sines);
    snprintf(text, sizeof text,
             "rope.%s output=y, input=x, batch=1, seq_len=3, heads=2, head_dim=70, freqs=c, sin=s, "
             "rotary_dim=%u, halves=%s",
             hg_type_name(type), 2 * half, halves ? "true" : "false");
    work_finish(&w, text);
}

/* ---- copies ---- */

static void copies(cts *s, hg_type type, unsigned position, unsigned places) {
    work w;
    char text[256];
    uint64_t one = 2 * 3 * 5, size = oracle_size(type);
    if (work_begin(&w, s, type, type, (position + places + 1) * one, "yx")) {
        double *x = work_input(&w, "x", places * one, false);
        for (uint64_t i = 0; x && i < places * one; i++) w.expected[position * one + i] = x[i];
        free(x);
    }
    snprintf(text, sizeof text,
             "kv_cache_update.%s cache=y, new_kv=x, position=%u, batch=2, heads=3, head_dim=5, "
             "seq_len=%u",
             hg_type_name(type), position, places);
    work_finish(&w, text);
    if (work_begin(&w, s, type, type, 37, "yx")) {
        double *x = work_input(&w, "x", 37, false);
        for (uint64_t i = 0; x && i < 37; i++) w.expected[i] = x[i];
        free(x);
    }
    snprintf(text, sizeof text, "all_gather.%s output=y, input=x, n=37, devices=(0)",
             hg_type_name(type));
    work_finish(&w, text);
    if (work_begin(&w, s, type, type, 37, "yx")) {
        double *x = work_input(&w, "x", 37, false);
        for (uint64_t i = 0; x && i < 37; i++) w.expected[i] = x[i];
        free(x);
    }
    snprintf(text, sizeof text, "reduce_scatter.%s output=y, input=x, n=37, operation=max",
             hg_type_name(type));
    work_finish(&w, text);
    static const char *const in_place[] = {
        "all_reduce.%s buffer=y, n=37, operation=sum, devices=()",
        "broadcast.%s buffer=y, n=37, root=0"};
    for (int k = 0; k < 2; k++) {
        if (work_begin(&w, s, type, type, 37, "y"))
            for (uint64_t i = 0; i < 37; i++) {
                double value = (double)i - 18;
                oracle_convert(type, HG_TYPE_F64, (const uint8_t *)&value,
                               w.c.arrays[0].bytes + i * size);
                w.expected[i] = value;
            }
        snprintf(text, sizeof text, k ? in_place[1] : in_place[0], hg_type_name(type));
        work_finish(&w, text);
    }
}

/* `inner` rows side by side, `rows` times. */
static void rows_of(cts *s, hg_type type, unsigned rows, unsigned n, unsigned inner) {
    if (cts_wanted(s, "softmax", type)) softmax(s, type, rows * inner, n, inner);
    if (cts_wanted(s, "log_softmax", type)) log_softmax(s, type, rows * inner, n, inner);
    if (cts_wanted(s, "rms_norm", type)) rms_norm(s, type, rows * inner, n, inner);
    if (cts_wanted(s, "layer_norm", type)) norm(s, type, rows, n, 0, inner, "");
}

static const hg_type TYPES[] = {HG_TYPE_F32, HG_TYPE_F64, HG_TYPE_F16, HG_TYPE_BF16};

void cts_norms(cts *s) {
    static const unsigned SIZES[] = {1, 31, 32, 127, 129, 260};
    for (uint32_t t = 0; t < HG_COUNT_OF(TYPES); t++) {
        hg_type type = TYPES[t];
        for (uint32_t i = 0; i < HG_COUNT_OF(SIZES); i++) {
            rows_of(s, type, 1 + i, SIZES[i], 1);
            if (cts_wanted(s, "layer_scale", type)) layer_scale(s, type, 1 + i, SIZES[i]);
        }
        rows_of(s, type, 2, 5, 3);
        rows_of(s, type, 1, 70, 17);
        rows_of(s, type, 2, 130, 65);
        if (cts_wanted(s, "group_norm", type)) {
            norm(s, type, 2, 6, 3, 1, "identity");
            norm(s, type, 1, 6, 2, 50, "relu");
            norm(s, type, 2, 4, 4, 7, "identity");
        }
        if (cts_wanted(s, "batch_norm", type)) {
            batch_norm(s, type, 2, 35, 1, "relu");
            batch_norm(s, type, 2, 3, 45, "identity");
        }
        if (cts_wanted(s, "rope", type)) {
            rope(s, type, 3, 2, 4, 0, false);
            rope(s, type, 2, 2, 66, 5, true);
        }
        if (cts_wanted(s, "kv_cache_update", type)) copies(s, type, t, 1 + t);
    }
}

/* Behind all others, so that the parts which devices take keep their cases. */
void cts_more_norms(cts *s) {
    for (uint32_t t = 0; t < HG_COUNT_OF(TYPES); t++)
        if (cts_wanted(s, "layer_norm", TYPES[t])) {
            given(s, TYPES[t], 3, 33, 1, t % 2);
            given(s, TYPES[t], 2, 5, 17, t % 2 == 0);
        }
    for (uint32_t t = 0; t < HG_COUNT_OF(TYPES); t++)
        if (cts_wanted(s, "rope", TYPES[t])) rope_by_tables(s, TYPES[t], 33, t % 2);
}
