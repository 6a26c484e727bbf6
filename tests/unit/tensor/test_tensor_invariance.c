/* The result of a row depends on that row alone: an encoder layer, a convolution and a few products
 * of each item have the same bits in batches of 1, 2, 7 and 64 items, with any number of threads,
 * on every level of the CPU, in the interpreter and in native code, recorded or not, and on every
 * exact device, when `deterministic` is set. Arguments: --devices: on other devices than the CPU
 * too; WIDTH TOKENS, other than 64 and 16.
 * docs/design/invariance.md */
#include "support/runtime_support.h"
#include <hologram/ops.h>
#include <stdlib.h>

enum { HEADS = 4, ITEMS = 64, MOST = 64 };
static uint64_t width = 64, tokens = 16, image = 12;

#define OK(call) CHECK_MESSAGE((call) == HG_OK, "%s: %s", #call, hg_last_error_text())

/* ---- numbers: of whoever asks for them, the same for all ---- */

static float *numbers(uint64_t seed, uint64_t count, float scale) {
    float *x = malloc(count * sizeof *x);
    uint64_t state = seed * 2654435761u + 12345;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = ((float)(state >> 40) / (float)(1 << 23) - 1) * scale;
    }
    return x;
}

typedef struct model {
    hg_executor *e;
    hg_tensor *kept[MOST]; /* released at the end */
    uint32_t count;
    bool failed;
} model;

static hg_tensor *keep(model *m, hg_tensor *t) {
    if (!t) {
        if (!m->failed) fprintf(stderr, "%s\n", hg_last_error_text());
        m->failed = true;
    } else if (m->count < MOST) {
        m->kept[m->count++] = t;
    }
    return t;
}

static hg_tensor *weights(model *m, uint64_t seed, const uint64_t *shape, uint32_t rank,
                          float scale) {
    uint64_t count = 1;
    hg_tensor *t = NULL;
    for (uint32_t d = 0; d < rank; d++) count *= shape[d];
    float *x = numbers(seed, count, scale);
    hg_status status = hg_tensor_from_host(m->e, HG_TYPE_F32, x, count, shape, rank, &t);
    free(x);
    return keep(m, status == HG_OK ? t : NULL);
}

static hg_tensor *op(model *m, hg_operation operation, hg_tensor *a, hg_tensor *b, hg_tensor *c,
                     const hg_ops_options *options) {
    const hg_tensor *inputs[3] = {a, b, c};
    hg_tensor *result = NULL;
    uint32_t count = c ? 3 : b ? 2 : 1;
    if (m->failed) return NULL;
    hg_status status = hg_ops_call(m->e, operation, inputs, count, options, &result, 1);
    return keep(m, status == HG_OK ? result : NULL);
}

static hg_tensor *view(model *m, hg_tensor *t, const uint64_t *shape, uint32_t rank,
                       const int32_t *order) {
    hg_tensor *shaped = NULL, *turned = NULL;
    if (m->failed) return NULL;
    if (hg_tensor_reshape(t, shape, rank, &shaped) != HG_OK) return keep(m, NULL);
    keep(m, shaped);
    if (!order) return shaped;
    return keep(m, hg_tensor_permute(shaped, order, rank, &turned) == HG_OK ? turned : NULL);
}

/* ---- the layer ---- */

/* Attention of four heads between its linear maps, of which each token is a row. */
static hg_tensor *attend(model *m, hg_tensor *x, uint64_t batch) {
    uint64_t square[2] = {width, width}, row = width, rows[2] = {batch * tokens, width};
    uint64_t heads[4] = {batch, tokens, HEADS, width / HEADS};
    static const int32_t turned[4] = {0, 2, 1, 3};
    hg_ops_options causal = hg_ops_defaults();
    causal.flag = true;
    hg_tensor *flat = view(m, x, rows, 2, NULL), *part[3], *back = NULL;
    for (uint64_t i = 0; i < 3; i++) {
        hg_tensor *w = weights(m, 10 + i, square, 2, 0.125f), *b = weights(m, 20 + i, &row, 1, 1);
        part[i] = view(m, op(m, HG_OPS_FUSED_LINEAR, flat, w, b, NULL), heads, 4, turned);
    }
    hg_tensor *seen = op(m, HG_OPS_ATTENTION, part[0], part[1], part[2], &causal);
    if (!m->failed && hg_tensor_permute(seen, turned, 4, &back) == HG_OK) keep(m, back);
    if (m->failed) return NULL;
    return op(m, HG_OPS_FUSED_LINEAR, view(m, back, rows, 2, NULL),
              weights(m, 30, square, 2, 0.125f), weights(m, 31, &row, 1, 1), NULL);
}

/* What follows attention in an encoder layer, and other operations on rows. */
static hg_tensor *feed(model *m, hg_tensor *x, uint64_t batch) {
    uint64_t up[2] = {width, 4 * width}, down[2] = {4 * width, width};
    uint64_t row = width, wide = 4 * width, rows[2] = {batch * tokens, width};
    hg_tensor *flat = view(m, x, rows, 2, NULL);
    hg_tensor *first = op(m, HG_OPS_LAYER_NORM, flat, weights(m, 32, &row, 1, 1),
                          weights(m, 33, &row, 1, 1), NULL);
    hg_tensor *inner = op(m, HG_OPS_FUSED_LINEAR, first, weights(m, 34, up, 2, 0.125f),
                          weights(m, 35, &wide, 1, 1), NULL);
    hg_tensor *last = op(m, HG_OPS_FUSED_LINEAR, op(m, HG_OPS_GELU, inner, NULL, NULL, NULL),
                         weights(m, 36, down, 2, 0.125f), weights(m, 37, &row, 1, 1), NULL);
    hg_tensor *sum = op(m, HG_OPS_ADD, last, first, NULL, NULL);
    return op(m, HG_OPS_SOFTMAX, op(m, HG_OPS_RMS_NORM, sum, NULL, NULL, NULL), NULL, NULL, NULL);
}

/* An encoder layer. */
static hg_tensor *encoder(model *m, hg_tensor *x, uint64_t batch) {
    uint64_t rows[2] = {batch * tokens, width};
    hg_tensor *seen = attend(m, x, batch);
    if (m->failed) return NULL;
    return feed(m, op(m, HG_OPS_ADD, seen, view(m, x, rows, 2, NULL), NULL, NULL), batch);
}

/* Two convolutions of images, the sums of their channels, and a product of each image. */
static hg_tensor *pictures(model *m, hg_tensor *x, uint64_t batch) {
    uint64_t first[4] = {8, 3, 3, 3}, second[4] = {5, 8, 3, 3}, step[4] = {1, 1, 1, 1};
    uint64_t rows[2] = {batch, 5 * image * image}, head[2] = {5 * image * image, 10};
    hg_ops_options same = hg_ops_defaults();
    same.sizes = step; /* stride and padding of 1 */
    same.size_count = 4;
    hg_tensor *a = op(m, HG_OPS_CONV2D, x, weights(m, 40, first, 4, 0.3f), NULL, &same);
    hg_tensor *b = op(m, HG_OPS_CONV2D, op(m, HG_OPS_RELU, a, NULL, NULL, NULL),
                      weights(m, 41, second, 4, 0.3f), NULL, &same);
    if (m->failed) return NULL;
    hg_tensor *flat = view(m, b, rows, 2, NULL);
    return op(m, HG_OPS_MATMUL, flat, weights(m, 42, head, 2, 0.1f), NULL, NULL);
}

typedef hg_tensor *layer(model *m, hg_tensor *x, uint64_t batch);

static bool run(hg_executor *e, layer *of, const float *items, uint64_t batch, const uint64_t *item,
                uint32_t rank, bool recorded, float *out, uint64_t size) {
    model m = {.e = e};
    hg_tensor *x = NULL;
    hg_tensor_scope *scope = NULL;
    uint64_t shape[4] = {batch}, count = batch;
    for (uint32_t d = 0; d < rank; d++) count *= shape[d + 1] = item[d];
    OK(hg_tensor_from_host(e, HG_TYPE_F32, items, count, shape, rank + 1, &x));
    if (recorded) OK(hg_scope_begin(e, &scope));
    hg_tensor *y = of(&m, keep(&m, x), batch);
    if (recorded) OK(hg_scope_end(scope));
    CHECK(!m.failed);
    if (!m.failed) OK(hg_tensor_to_host(y, out, batch * size));
    for (uint32_t i = 0; i < m.count; i++) hg_tensor_release(m.kept[i]);
    return !m.failed;
}

/* ---- all ways ---- */

typedef struct way {
    const char *backend;
    uint32_t threads;
    const char *level, *jit;
    bool recorded;
} way;

static void compare(hg_executor *e, const char *name, layer *of, const uint64_t *item,
                    uint32_t rank, uint64_t size, bool recorded, float *first, bool *has_first) {
    static const uint64_t batches[] = {ITEMS, 1, 2, 7};
    uint64_t elements = 1, different = 0;
    for (uint32_t d = 0; d < rank; d++) elements *= item[d];
    float *items = numbers(1, ITEMS * elements, 1), *out = malloc(ITEMS * size * sizeof *out);
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        if (!run(e, of, items, batches[b], item, rank, recorded, out, size)) break;
        if (!*has_first) memcpy(first, out, ITEMS * size * sizeof *out);
        *has_first = true;
        different += memcmp(out, first, batches[b] * size * sizeof *out) != 0;
    }
    free(items);
    free(out);
    CHECK_MESSAGE(different == 0, "%s: other bits in %d of 4 batches", name, (int)different);
}

static void one_way(const way *w, float *first[3], bool has_first[3]) {
    hg_config config = hg_config_default();
    hg_executor *e;
    char name[120];
    uint64_t sequence[2] = {tokens, width}, pixels[3] = {3, image, image};
    snprintf(config.backend, sizeof config.backend, "%s", w->backend);
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", w->level);
    snprintf(config.jit, sizeof config.jit, "%s", w->jit);
    snprintf(name, sizeof name, "%s, %u threads, level %s, jit %s%s", w->backend,
             (unsigned)w->threads, *w->level ? w->level : "best", w->jit,
             w->recorded ? ", recorded" : "");
    config.num_threads = w->threads;
    config.deterministic = true;
    config.timeout_ms = 0;
    config.compile_timeout_ms = 0; /* lavapipe's compiler takes minutes for attention */
    if (hg_executor_create_from_config(&config, &e) != HG_OK) {
        SKIP(hg_last_error_text());
        return;
    }
    hg_device_info device;
    OK(hg_backend_device(hg_executor_backend(e), &device));
    if (!device.exact) {
        SKIP("the device is not exact");
    } else {
        compare(e, name, encoder, sequence, 2, tokens * width, w->recorded, first[0],
                &has_first[0]);
        compare(e, name, feed, sequence, 2, tokens * width, w->recorded, first[1], &has_first[1]);
        compare(e, name, pictures, pixels, 3, 10, w->recorded, first[2], &has_first[2]);
    }
    hg_executor_destroy(e);
}

int main(int argc, char **argv) {
    static const way ways[] = {
        {"cpu", 1, "", "on", false},         {"cpu", 2, "", "off", true},
        {"cpu", 2, "", "on", true},          {"cpu", 1, "baseline", "off", false},
        {"cpu", 2, "baseline", "on", false}, {"cpu", 2, "v3", "on", false},
        {"cpu", 1, "v4", "on", false},       {"opencl", 0, "", "auto", true},
        {"vulkan", 0, "", "auto", true},     {"cuda", 0, "", "auto", true},
    };
    bool devices = argc > 1 && strcmp(argv[1], "--devices") == 0;
    if (argc > 2 + devices) {
        width = strtoull(argv[1 + devices], NULL, 10);
        tokens = strtoull(argv[2 + devices], NULL, 10);
    }
    float *first[3] = {malloc(ITEMS * tokens * width * sizeof(float)),
                       malloc(ITEMS * tokens * width * sizeof(float)),
                       malloc(ITEMS * 10 * sizeof(float))};
    bool has_first[3] = {false, false, false};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (devices || strcmp(ways[i].backend, "cpu") == 0) one_way(&ways[i], first, has_first);
    for (int i = 0; i < 3; i++) free(first[i]);
    return test_done();
}
