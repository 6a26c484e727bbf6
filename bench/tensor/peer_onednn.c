/* Primitives of oneDNN over plain row-major arrays, as a user's program makes and runs them: made
 * once, then executed. Where oneDNN wants another order of a convolution's data, bringing it there
 * and back is part of the time, but not the weights', which a user brings there once. */
#include <dnnl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 8 };

typedef struct primitives {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    int count;
    dnnl_primitive_t step[MOST];
    dnnl_exec_arg_t args[MOST][MOST];
    int arg_count[MOST];
    dnnl_memory_t memories[16];
    int memory_count;
} primitives;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *dnn_version(void) {
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    text[0] = (char)('0' + v->major), text[1] = '.', text[2] = (char)('0' + v->minor),
    text[3] = '.', text[4] = (char)('0' + v->patch % 10), text[5] = 0;
    return text;
}

void dnn_close(primitives *p) {
    if (!p) return;
    for (int i = 0; i < p->count; i++) dnnl_primitive_destroy(p->step[i]);
    for (int i = 0; i < p->memory_count; i++) dnnl_memory_destroy(p->memories[i]);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}

double dnn_time(primitives *p, int runs) {
    double start = now();
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < p->count; i++)
            if (dnnl_primitive_execute(p->step[i], p->stream, p->arg_count[i], p->args[i]) !=
                dnnl_success)
                return -1;
    if (dnnl_stream_wait(p->stream) != dnnl_success) return -1;
    return (now() - start) / runs;
}

static primitives *open(void) {
    primitives *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    if (dnnl_engine_create(&p->engine, dnnl_cpu, 0) == dnnl_success &&
        dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags) == dnnl_success)
        return p;
    free(p);
    return NULL;
}

static dnnl_memory_t memory(primitives *p, const dnnl_memory_desc_t *d, void *data) {
    dnnl_memory_t m = NULL;
    if (dnnl_memory_create(&m, d, p->engine, data ? data : DNNL_MEMORY_ALLOCATE) != dnnl_success)
        return NULL;
    p->memories[p->memory_count++] = m;
    return m;
}

/* The next step: an operation's descriptor and its arguments, as pairs of a number and a memory. */
static int add(primitives *p, const void *desc, dnnl_primitive_desc_t made, int count,
               const int *ids, dnnl_memory_t *memories) {
    dnnl_primitive_desc_t d = made;
    if (!d && dnnl_primitive_desc_create(&d, desc, NULL, p->engine, NULL) != dnnl_success) return 0;
    int good = dnnl_primitive_create(&p->step[p->count], d) == dnnl_success;
    if (!made) dnnl_primitive_desc_destroy(d);
    if (!good) return 0;
    for (int i = 0; i < count; i++) {
        if (!memories[i]) return 0;
        p->args[p->count][i] = (dnnl_exec_arg_t){ids[i], memories[i]};
    }
    p->arg_count[p->count++] = count;
    return 1;
}

static int reorder(primitives *p, dnnl_memory_t from, dnnl_memory_t to, const dnnl_memory_desc_t *a,
                   const dnnl_memory_desc_t *b) {
    dnnl_primitive_desc_t d;
    if (dnnl_reorder_primitive_desc_create(&d, a, p->engine, b, p->engine, NULL) != dnnl_success)
        return 0;
    int good = add(p, NULL, d, 2, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO}, (dnnl_memory_t[]){from, to});
    dnnl_primitive_desc_destroy(d);
    return good;
}

/* c[batch, m, n] = a[batch, m, k] b[batch, k, n]; types are dnnl_data_type_t. */
primitives *dnn_matmul(void *a, void *b, void *c, int type_a, int type_b, int type_c, int64_t batch,
                       int64_t m, int64_t n, int64_t k, int ta, int tb) {
    primitives *p = open();
    dnnl_memory_desc_t da, db, dc;
    dnnl_matmul_desc_t d;
    int l = batch > 1, dims = 2 + l; /* one product has no dimension in front */
    dnnl_dims_t sa = {m * k}, sb = {k * n}, sc = {m * n}, na = {batch}, nb = {batch}, nc = {batch};
    sa[l] = ta ? 1 : k, sa[l + 1] = ta ? m : 1, sb[l] = tb ? 1 : n, sb[l + 1] = tb ? k : 1,
    sc[l] = n, sc[l + 1] = 1;
    na[l] = nc[l] = m, na[l + 1] = nb[l] = k, nb[l + 1] = nc[l + 1] = n;
    if (p &&
        dnnl_memory_desc_init_by_strides(&da, dims, na, (dnnl_data_type_t)type_a, sa) ==
            dnnl_success &&
        dnnl_memory_desc_init_by_strides(&db, dims, nb, (dnnl_data_type_t)type_b, sb) ==
            dnnl_success &&
        dnnl_memory_desc_init_by_strides(&dc, dims, nc, (dnnl_data_type_t)type_c, sc) ==
            dnnl_success &&
        dnnl_matmul_desc_init(&d, &da, &db, NULL, &dc) == dnnl_success &&
        add(p, &d, NULL, 3, (int[]){DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
            (dnnl_memory_t[]){memory(p, &da, a), memory(p, &db, b), memory(p, &dc, c)}))
        return p;
    dnn_close(p);
    return NULL;
}

/* Plain NCHW in and out. */
primitives *dnn_conv(void *x, void *w, void *y, int64_t batch, int64_t in, int64_t out,
                     int64_t height, int64_t width, int64_t kernel, int64_t stride, int64_t pad,
                     int64_t groups) {
    primitives *p = open();
    int64_t oh = (height + 2 * pad - kernel) / stride + 1,
            ow = (width + 2 * pad - kernel) / stride + 1;
    dnnl_dims_t nx = {batch, in, height, width}, ny = {batch, out, oh, ow},
                nw = {out, in, kernel, kernel},
                ng = {groups, out / groups, in / groups, kernel, kernel};
    dnnl_dims_t strides = {stride, stride}, none = {0}, pads = {pad, pad};
    dnnl_memory_desc_t px, pw, py, ax, aw, ay;
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t made = NULL;
    dnnl_memory_desc_init_by_tag(&px, 4, nx, dnnl_f32, dnnl_nchw);
    dnnl_memory_desc_init_by_tag(&py, 4, ny, dnnl_f32, dnnl_nchw);
    dnnl_memory_desc_init_by_tag(&ax, 4, nx, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&ay, 4, ny, dnnl_f32, dnnl_format_tag_any);
    for (int any = 0; any < 2; any++)
        dnnl_memory_desc_init_by_tag(any ? &aw : &pw, groups > 1 ? 5 : 4, groups > 1 ? ng : nw,
                                     dnnl_f32,
                                     any          ? dnnl_format_tag_any
                                     : groups > 1 ? dnnl_goihw
                                                  : dnnl_oihw);
    if (!p ||
        dnnl_dilated_convolution_forward_desc_init(&d, dnnl_forward_inference,
                                                   dnnl_convolution_direct, &ax, &aw, NULL, &ay,
                                                   strides, none, pads, pads) != dnnl_success ||
        dnnl_primitive_desc_create(&made, &d, NULL, p->engine, NULL) != dnnl_success)
        goto failed;
    const dnnl_memory_desc_t *wx = dnnl_primitive_desc_query_md(made, dnnl_query_src_md, 0),
                             *ww = dnnl_primitive_desc_query_md(made, dnnl_query_weights_md, 0),
                             *wy = dnnl_primitive_desc_query_md(made, dnnl_query_dst_md, 0);
    dnnl_memory_t mx = memory(p, &px, x), mw = memory(p, &pw, w), my = memory(p, &py, y), ux = mx,
                  uw = mw, uy = my;
    if (!dnnl_memory_desc_equal(wx, &px)) ux = memory(p, wx, NULL);
    if (!dnnl_memory_desc_equal(ww, &pw)) uw = memory(p, ww, NULL);
    if (!dnnl_memory_desc_equal(wy, &py)) uy = memory(p, wy, NULL);
    if (uw != mw) { /* once */
        if (!reorder(p, mw, uw, &pw, ww) || dnn_time(p, 1) < 0) goto failed;
        dnnl_primitive_destroy(p->step[--p->count]);
    }
    if ((ux != mx && !reorder(p, mx, ux, &px, wx)) ||
        !add(p, NULL, made, 3, (int[]){DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
             (dnnl_memory_t[]){ux, uw, uy}) ||
        (uy != my && !reorder(p, uy, my, wy, &py)))
        goto failed;
    dnnl_primitive_desc_destroy(made);
    return p;
failed:
    if (made) dnnl_primitive_desc_destroy(made);
    dnn_close(p);
    return NULL;
}

primitives *dnn_softmax(void *x, void *y, int64_t rows, int64_t n) {
    primitives *p = open();
    dnnl_memory_desc_t m;
    dnnl_softmax_desc_t d;
    dnnl_memory_desc_init_by_tag(&m, 2, (dnnl_dims_t){rows, n}, dnnl_f32, dnnl_ab);
    if (p && dnnl_softmax_forward_desc_init(&d, dnnl_forward_inference, &m, 1) == dnnl_success &&
        add(p, &d, NULL, 2, (int[]){DNNL_ARG_SRC, DNNL_ARG_DST},
            (dnnl_memory_t[]){memory(p, &m, x), memory(p, &m, y)}))
        return p;
    dnn_close(p);
    return NULL;
}

primitives *dnn_layer_norm(void *x, void *y, void *gamma, void *beta, int64_t rows, int64_t n,
                           float eps) {
    primitives *p = open();
    dnnl_memory_desc_t m, one;
    dnnl_layer_normalization_desc_t d;
    dnnl_memory_desc_init_by_tag(&m, 2, (dnnl_dims_t){rows, n}, dnnl_f32, dnnl_ab);
    dnnl_memory_desc_init_by_tag(&one, 1, (dnnl_dims_t){n}, dnnl_f32, dnnl_a);
    if (p &&
        dnnl_layer_normalization_forward_desc_init(&d, dnnl_forward_inference, &m, NULL, eps,
                                                   dnnl_use_scale | dnnl_use_shift) ==
            dnnl_success &&
        add(p, &d, NULL, 4, (int[]){DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_SCALE, DNNL_ARG_SHIFT},
            (dnnl_memory_t[]){memory(p, &m, x), memory(p, &m, y), memory(p, &one, gamma),
                              memory(p, &one, beta)}))
        return p;
    dnn_close(p);
    return NULL;
}

primitives *dnn_gelu(void *x, void *y, int64_t n) {
    primitives *p = open();
    dnnl_memory_desc_t m;
    dnnl_eltwise_desc_t d;
    dnnl_memory_desc_init_by_tag(&m, 1, (dnnl_dims_t){n}, dnnl_f32, dnnl_a);
    if (p &&
        dnnl_eltwise_forward_desc_init(&d, dnnl_forward_inference, dnnl_eltwise_gelu_erf, &m, 0,
                                       0) == dnnl_success &&
        add(p, &d, NULL, 2, (int[]){DNNL_ARG_SRC, DNNL_ARG_DST},
            (dnnl_memory_t[]){memory(p, &m, x), memory(p, &m, y)}))
        return p;
    dnn_close(p);
    return NULL;
}
