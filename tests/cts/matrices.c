/* Products of matrices to the bit: a chain of fma over k, in order from 0, then alpha, beta c, the
 * bias and the activation. Attention against the formula in long double. */
#include "work.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- products ---- */

typedef struct product {
    unsigned batch, m, n, k;
    double alpha, beta;
    bool trans_a, trans_b, bias;
    const char *activation;
    bool down;  /* the bias is [m, 1] */
    bool twice; /* a second product goes on from the sums of a first one */
} product;

static double fused(bool f64, double x, double y, double z) {
    return f64 ? fma(x, y, z) : (double)fmaf((float)x, (float)y, (float)z);
}
static double rounded(bool f64, double x) { return f64 ? x : (double)(float)x; }

/* What c, of type result, has between two products. */
static double stored(hg_type result, double sum) {
    uint8_t bytes[8];
    double back;
    oracle_convert(result, HG_TYPE_F64, (const uint8_t *)&sum, bytes);
    oracle_convert(HG_TYPE_F64, result, bytes, (uint8_t *)&back);
    return back;
}

static double element(const product *p, hg_type result, bool f64, const double *a, const double *b,
                      unsigned row, unsigned column) {
    double sum = 0;
    for (unsigned i = 0, l = 0; i < p->k * (1 + p->twice); i++, l = i % p->k) {
        if (i == p->k) sum = stored(result, sum);
        sum = fused(f64, a[p->trans_a ? l * p->m + row : row * p->k + l],
                    b[p->trans_b ? column * p->k + l : l * p->n + column], sum);
    }
    return rounded(f64, sum * p->alpha);
}

static void multiply(cts *s, const char *name, hg_type type, hg_type result, const product *p) {
    work w;
    char text[512], more[64] = "", first[256] = "";
    bool f64 = type == HG_TYPE_F64;
    uint64_t outputs = (uint64_t)p->batch * p->m * p->n;
    bool ok = work_begin(&w, s, type, result, outputs, "yabe");
    double *a = work_input(&w, "a", (uint64_t)p->batch * p->m * p->k, false),
           *b = work_input(&w, "b", (uint64_t)p->batch * p->k * p->n, false);
    w.type = result;
    double *bias = work_input(&w, "e", p->down ? p->m : p->n, false);
    w.type = type;
    char *declared = strstr(w.text, ".param e buffer ");
    if (declared)
        snprintf(declared, sizeof w.text - (size_t)(declared - w.text), ".param e buffer %s in\n",
                 hg_type_name(result));
    for (uint64_t i = 0; ok && a && b && bias && i < outputs; i++) {
        uint64_t matrix = i / ((uint64_t)p->m * p->n);
        unsigned row = (unsigned)(i / p->n % p->m), column = (unsigned)(i % p->n);
        double value = element(p, result, f64, a + matrix * p->m * p->k, b + matrix * p->k * p->n,
                               row, column);
        if (p->beta != 0) value = fused(f64, p->beta, 0, value); /* c begins as zeros */
        if (p->bias) value = rounded(f64, value + bias[p->down ? row : column]);
        if (p->activation[0] == 'r') value = value > 0 ? value : 0;
        w.expected[i] = value;
    }
    free(a);
    free(b);
    free(bias);
    if (strcmp(name, "batched_gemm") == 0) snprintf(more, sizeof more, ", batch=%u", p->batch);
    if (p->twice)
        snprintf(first, sizeof first, "%s.%s c=y, a=a, b=b, m=%u, n=%u, k=%u%s\n    ", name,
                 hg_type_name(type), p->m, p->n, p->k, more);
    snprintf(text, sizeof text,
             "%s%s.%s c=y, a=a, b=b, m=%u, n=%u, k=%u, alpha=%g, beta=%g, trans_a=%s, trans_b=%s, "
             "activation=%s%s%s%s%s",
             first, name, hg_type_name(type), p->m, p->n, p->k, p->alpha, p->beta,
             p->trans_a ? "true" : "false", p->trans_b ? "true" : "false", p->activation,
             p->bias ? ", bias=e" : "", p->down ? ", bias_strides=(1, 0)" : "",
             p->twice ? ", accumulate=true" : "", more);
    work_finish(&w, text);
}

static const product PRODUCTS[] = {
    {1, 1, 1, 1, 1, 0, false, false, false, "identity", .down = false},
    {1, 9, 33, 17, 1, 0, false, false, true, "relu", .down = false},
    {1, 16, 64, 5, 0.5, 1, true, false, false, "relu", .down = false},
    {1, 7, 40, 31, -2, 0, false, true, true, "identity", .down = false},
    {1, 65, 31, 70, 1, 0, true, true, false, "identity", .down = false},
    {1, 3, 5, 0, 1, 0, false, false, true, "identity", .down = false},
    {1, 9, 33, 3, 1, 0, false, false, true, "relu", .down = true},
    {1, 13, 70, 17, -2, 0, false, false, true, "relu", .twice = true},
};
static const product BATCHES[] = {
    {3, 9, 33, 17, 1, 0, false, false, true, "relu", .down = false},
    {2, 5, 4, 3, 1.5, 1, true, true, false, "identity", .down = false},
    {2, 9, 33, 4, 1, 0, false, false, false, "identity", .twice = true},
};

/* ---- attention ---- */

typedef struct head {
    unsigned heads, kv_heads, queries, keys, size;
    bool causal, from_start;
    double softcap;
    unsigned values, apart; /* elements of a value, 0: size; between rows of all arrays but scores
                             */
    bool scores;
} head;

static unsigned values_of(const head *p) { return p->values ? p->values : p->size; }

/* The score of a query and a key before e^, and what it is known within: products are below 64
 * each. */
static long double score_of(const work *w, const head *p, const double *q, const double *k,
                            long double *error) {
    long double score = 0, size = 0;
    for (unsigned d = 0; d < p->size; d++) {
        score += (long double)q[d] * k[d];
        size += fabsl((long double)q[d] * k[d]);
    }
    score /= sqrtl(p->size);
    *error = fmaxl(*error, w->unit * (p->size + 8) * (size / sqrtl(p->size) + p->softcap));
    return p->softcap != 0 ? p->softcap * tanhl(score / p->softcap) : score;
}

/* Scores of one query, their weights, and the weighted values. exp turns the error of a score into
 * one of its weight. */
static void attend(work *w, const head *p, const double *q, const double *k, const double *v,
                   uint64_t to, unsigned query) {
    long double scores[64], largest = -INFINITY, sum = 0, error = 0;
    unsigned seen = !p->causal      ? p->keys
                    : p->from_start ? query + 1
                                    : query + p->keys - p->queries + 1,
             of_key = p->size + p->apart, of_value = values_of(p) + p->apart;
    if (seen > p->keys) seen = p->keys;
    for (unsigned j = 0; j < seen; j++) {
        scores[j] = score_of(w, p, q, k + (uint64_t)j * of_key, &error);
        largest = fmaxl(largest, scores[j]);
    }
    for (unsigned j = 0; j < seen; j++) sum += scores[j] = expl(scores[j] - largest);
    for (unsigned j = 0; p->scores && j < p->keys; j++) {
        w->expected[to + j] = j < seen ? scores[j] / sum : 0;
        w->bound[to + j] = w->expected[to + j] * (4 * error + w->unit * (64 + 4 * seen));
    }
    for (unsigned d = 0; !p->scores && d < values_of(p); d++) {
        long double value = 0, size = 0;
        for (unsigned j = 0; j < seen; j++) {
            value += scores[j] / sum * v[j * of_value + d];
            size += scores[j] / sum * fabsl((long double)v[j * of_value + d]);
        }
        w->expected[to + d] = value;
        w->bound[to + d] = size * (4 * error + w->unit * (64 + 4 * seen)); /* scores below the
                                                                              largest by 40 and more
                                                                              count for nothing */
    }
}

/* The rest of the instruction where rows have gaps, and what is looked at: the scores in y, the
 * output in o then. */
static void more_of(char text[300], const head *p) {
    unsigned key = p->size + p->apart, value = values_of(p) + p->apart;
    text[0] = 0;
    if (!p->values) return;
    snprintf(text, 300,
             ", value_dim=%u, from_start=%s, softcap=%g, query_strides=(0, %u, %u), "
             "key_strides=(0, %u, %u), value_strides=(0, %u, %u)%s",
             p->values, p->from_start ? "true" : "false", p->softcap, p->queries * key, key,
             p->keys * key, key, p->keys * value, value, p->scores ? ", scores=y" : "");
}

static void attention(cts *s, const char *name, hg_type type, const head *p) {
    work w;
    char text[900], more[300];
    unsigned value = values_of(p), made = p->scores ? p->keys : value;
    uint64_t rows = (uint64_t)p->heads * p->queries, keys = (uint64_t)p->kv_heads * p->keys;
    bool ok = work_begin(&w, s, type, type, rows * made, p->scores ? "yqkvo" : "yqkv");
    double *q = work_input(&w, "q", rows * (p->size + p->apart), false),
           *k = work_input(&w, "k", keys * (p->size + p->apart), false),
           *v = work_input(&w, "v", keys * (value + p->apart), false),
           *o = p->scores ? work_input(&w, "o", rows * value, false) : NULL;
    for (unsigned i = 0; ok && q && k && v && i < rows; i++) {
        uint64_t from = (uint64_t)(i / p->queries / (p->heads / p->kv_heads)) * p->keys;
        attend(&w, p, q + (uint64_t)i * (p->size + p->apart), k + from * (p->size + p->apart),
               v + from * (value + p->apart), (uint64_t)i * made, i % p->queries);
    }
    free(q);
    free(k);
    free(v);
    free(o);
    more_of(more, p);
    snprintf(text, sizeof text,
             "%s.%s output=%s, query=q, key=k, value=v, batch=1, heads=%u, kv_heads=%u, "
             "seq_len=%u, kv_len=%u, head_dim=%u, causal=%s%s%s",
             name, hg_type_name(type), p->scores ? "o" : "y", p->heads, p->kv_heads, p->queries,
             p->keys, p->size, p->causal ? "true" : "false",
             name[0] == 'f' ? ", block_size=16" : "", more);
    work_finish(&w, text);
}

void cts_matrices(cts *s) {
    static const hg_type TYPES[] = {HG_TYPE_F32, HG_TYPE_F64, HG_TYPE_F16, HG_TYPE_BF16};
    static const head HEADS[] = {
        {1, 1, 3, 5, 4, .causal = false},
        {4, 2, 9, 9, 6, .causal = true},
        {2, 1, 2, 40, 16, .causal = true},
        {2, 1, 9, 40, 5, .causal = true, .from_start = true, .softcap = 2, .values = 7, .apart = 3},
        {2, 2, 5, 9, 5, .causal = true, .softcap = 3, .values = 4, .apart = 1, .scores = true}};
    for (uint32_t t = 0; t < HG_COUNT_OF(TYPES); t++) {
        for (uint32_t i = 0; i < HG_COUNT_OF(PRODUCTS) && cts_wanted(s, "gemm", TYPES[t]); i++)
            multiply(s, "gemm", TYPES[t], TYPES[t], &PRODUCTS[i]);
        for (uint32_t i = 0; i < HG_COUNT_OF(BATCHES) && cts_wanted(s, "batched_gemm", TYPES[t]);
             i++)
            multiply(s, "batched_gemm", TYPES[t], TYPES[t], &BATCHES[i]);
        for (uint32_t i = 0;
             t >= 2 && i < HG_COUNT_OF(PRODUCTS) && cts_wanted(s, "mixed_precision_gemm", TYPES[t]);
             i++)
            multiply(s, "mixed_precision_gemm", TYPES[t], HG_TYPE_F32, &PRODUCTS[i]);
        for (uint32_t i = 0; i < HG_COUNT_OF(HEADS) && cts_wanted(s, "attention", TYPES[t]); i++)
            attention(s, "attention", TYPES[t], &HEADS[i]);
        if (cts_wanted(s, "flash_attention", TYPES[t]))
            attention(s, "flash_attention", TYPES[t], &HEADS[1]);
    }
}
