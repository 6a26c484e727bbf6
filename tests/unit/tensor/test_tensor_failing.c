/* Running out of memory at every single allocation of small programs of tensors: a clean error,
 * inputs as they were, nothing lost, and the same results as ever afterwards. */
/* test: timeout=300 */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <hologram/dlpack.h>
#include <hologram/ops.h>
#include <unistd.h>

enum { NUMBERS = 12, MOST_TENSORS = 24, MOST_GOT = 96 };
static const float A[NUMBERS] = {3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5, -8};
static const float B[NUMBERS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static failing_allocator memory;
static char folder[] = "/tmp/hologram-tensor-XXXXXX", file[64];

/* A program that runs: tensors that it has to release, and what it read. */
typedef struct work {
    hg_executor *executor;
    hg_tensor_scope *scope;
    hg_tensor *tensors[MOST_TENSORS];
    uint32_t count, got_count;
    float got[MOST_GOT];
    float host[NUMBERS]; /* wrapped */
    int wrapped, freed;
} work;
typedef hg_status program(work *w);

#define TRY(call)                         \
    do {                                  \
        hg_status try_s = (call);         \
        if (try_s != HG_OK) return try_s; \
    } while (0)

static hg_tensor **next(work *w) { return &w->tensors[w->count++]; }

static hg_status numbers(work *w, bool place, const float *data, uint64_t rows, hg_tensor **t) {
    uint64_t shape[2] = {rows, NUMBERS / rows};
    hg_tensor **own = next(w);
    hg_status status = hg_tensor_from_host(place ? w->executor : NULL, HG_TYPE_F32, data, NUMBERS,
                                           shape, 2, own);
    *t = *own;
    return status;
}

static hg_status get(work *w, const hg_tensor *t) {
    uint64_t n = hg_tensor_numel(t);
    TRY(hg_tensor_to_host(t, w->got + w->got_count, n));
    w->got_count += (uint32_t)n;
    return HG_OK;
}

static hg_status scope_end(work *w) {
    hg_tensor_scope *scope = w->scope;
    w->scope = NULL;
    return hg_scope_end(scope);
}

static void count_freed(void *user) { ++*(int *)user; }

/* ---- programs ---- */

/* Views, element-wise operations, results into views; operands that wait on the host. */
static hg_status views(work *w) {
    hg_tensor *a, *b, **turned = next(w), **sum = next(w), **back = next(w), **line = next(w);
    hg_tensor **part = next(w), **wrapped = next(w);
    uint64_t n = NUMBERS;
    TRY(numbers(w, true, A, 3, &a));
    TRY(numbers(w, false, B, 4, &b));
    TRY(hg_tensor_transpose(a, turned));
    TRY(hg_ops_add(w->executor, *turned, b, sum));
    TRY(hg_tensor_slice(*sum, 0, -1, INT64_MIN, -1, back));
    TRY(hg_tensor_reshape(*back, &n, 1, line));
    TRY(hg_tensor_narrow(*line, 0, 1, NUMBERS - 1, part));
    TRY(hg_ops_neg_into(w->executor, *part, *part));
    w->wrapped++;
    TRY(hg_tensor_wrap_host(w->executor, HG_TYPE_F32, w->host, &n, NULL, 1, count_freed, &w->freed,
                            wrapped));
    TRY(hg_ops_mul_into(w->executor, *line, *line, *wrapped));
    memcpy(w->got, w->host, sizeof w->host); /* seen in the caller's memory */
    w->got_count = NUMBERS;
    TRY(hg_tensor_copy_from_host(*back, B, NUMBERS));
    TRY(get(w, *sum));
    return get(w, a);
}

/* A scope of one call without inputs. */
static hg_status made(work *w) {
    hg_tensor **ones = next(w);
    TRY(hg_scope_begin(w->executor, &w->scope));
    TRY(hg_tensor_ones(w->executor, HG_TYPE_F32, (uint64_t[]){3, 3}, 2, ones));
    TRY(scope_end(w));
    return get(w, *ones);
}

/* Recorded: one graph, read in the middle and at the end; nobody holds the product. */
static hg_status recorded(work *w) {
    hg_tensor *a, *b, *product = NULL, **soft = next(w), **sum = next(w), **ones = next(w);
    hg_ops_options none = hg_ops_defaults();
    TRY(numbers(w, true, A, 3, &a));
    TRY(numbers(w, true, B, 4, &b));
    TRY(hg_scope_begin(w->executor, &w->scope));
    TRY(hg_tensor_ones(w->executor, HG_TYPE_F32, (uint64_t[]){3, 3}, 2, ones)); /* has no input */
    TRY(hg_ops_matmul(w->executor, a, b, &product));
    hg_status status = hg_ops_softmax(w->executor, product, &none, soft);
    hg_tensor_release(product);
    TRY(status);
    TRY(hg_ops_add(w->executor, *soft, *ones, next(w)));
    TRY(get(w, w->tensors[w->count - 1]));
    TRY(hg_ops_sum(w->executor, *soft, &none, sum));
    TRY(scope_end(w));
    TRY(get(w, *sum));
    return get(w, *soft);
}

/* Several calls of one operation, and shapes that depend on elements. */
static hg_status several(work *w) {
    hg_tensor *a, *b, **joined = next(w), **sorted = next(w), **std = next(w), **set = next(w);
    hg_tensor **padded = next(w);
    hg_ops_options first = hg_ops_defaults();
    int64_t axis = 0;
    first.axes = &axis;
    first.axis_count = 1;
    TRY(numbers(w, true, A, 3, &a));
    TRY(numbers(w, true, B, 3, &b));
    const hg_tensor *both[2] = {a, b};
    TRY(hg_ops_concat(w->executor, both, 2, 1, joined));
    TRY(hg_ops_sort(w->executor, *joined, &first, sorted));
    TRY(hg_ops_std(w->executor, *sorted, &first, std));
    TRY(hg_ops_pad(w->executor, a, (uint64_t[]){0, 1, 1, 0}, 2, padded));
    TRY(hg_ops_unique_values(w->executor, *padded, NULL, set));
    TRY(get(w, *sorted));
    TRY(get(w, *std));
    return get(w, *set);
}

/* Files, and another library's memory both ways. */
static hg_status files(work *w) {
    hg_tensor *a, *b, **loaded = next(w), **taken = next(w);
    const char *const names[2] = {"a", "b"};
    void *managed;
    TRY(numbers(w, true, A, 3, &a));
    TRY(numbers(w, false, B, 4, &b));
    const hg_tensor *both[2] = {a, b};
    TRY(hg_tensor_save(file, both, names, 2));
    TRY(hg_tensor_load(w->executor, file, "b", loaded));
    TRY(hg_tensor_to_dlpack(*loaded, true, &managed));
    hg_status status = hg_tensor_from_dlpack(w->executor, managed, true, taken);
    if (status != HG_OK) ((hg_dlpack_versioned *)managed)->deleter(managed);
    TRY(status);
    TRY(hg_ops_neg_into(w->executor, *taken, *taken));
    return get(w, *loaded);
}

/* ---- running them ---- */

/* Nobody holds what the scope would make: half of a program is no graph to keep. */
static void clean(work *w) {
    for (uint32_t i = 0; i < w->count; i++) hg_tensor_release(w->tensors[i]);
    CHECK_OK(hg_scope_end(w->scope));
}

static bool acceptable(hg_status status) {
    return status == HG_ERROR_OUT_OF_MEMORY || status == HG_ERROR_ALLOCATION_FAILED;
}

/* A run in which the n-th allocation fails, or with `after` all from there on. 0: none. */
static bool attempt(const char *what, program *p, hg_executor *e, uint64_t n, bool after,
                    const work *expected) {
    static work w;
    memset(&w, 0, sizeof w);
    w.executor = e;
    memory.allocations = 0;
    memory.fail_at = n;
    memory.only_once = !after;
    hg_status status = p(&w);
    hg_error error = *hg_last_error();
    bool hit = n && memory.allocations >= n;
    clean(&w);
    memory.fail_at = 0;
    CHECK_MESSAGE(status == HG_OK || (hit && acceptable(status)),
                  "%s, allocation %" PRIu64 "%s: %s: %s", what, n, after ? " and all after it" : "",
                  hg_status_name(status), error.message);
    CHECK_MESSAGE(w.wrapped == w.freed, "%s, allocation %" PRIu64 ": wrapped %d, freed %d", what, n,
                  w.wrapped, w.freed);
    bool same = status != HG_OK || !expected ||
                (w.got_count == expected->got_count &&
                 memcmp(w.got, expected->got, w.got_count * sizeof *w.got) == 0);
    CHECK_MESSAGE(same, "%s, allocation %" PRIu64 ": other results", what, n);
    return hit;
}

static hg_executor *make_executor(void) {
    hg_config config = hg_config_default();
    hg_executor *e = NULL;
    memcpy(config.backend, "cpu", 4);
    memcpy(config.jit, "off", 4); /* nothing compiles in the background: allocations are counted */
    config.num_threads = 1;       /* other threads allocate at their first work */
    CHECK_OK(hg_executor_create_from_config(&config, &e));
    return e;
}

/* Where everything is known already: each allocation; live blocks are as many as before. */
static void warm(const char *what, program *p, const work *expected) {
    hg_executor *e = make_executor();
    for (int after = 0; after < 2; after++) {
        bool hit = true;
        for (int i = 0; i < 2; i++) attempt(what, p, e, 0, false, expected);
        CHECK_OK(hg_executor_trim(e, 0));
        uint64_t before = memory.live;
        for (uint64_t n = 1; hit && n < 5000 && test_failed < 20; n++) {
            hit = attempt(what, p, e, n, after, expected);
            CHECK_OK(hg_executor_trim(e, 0));
            CHECK_MESSAGE(memory.live <= before,
                          "%s, allocation %" PRIu64 ": %" PRIu64 " blocks before, %" PRIu64
                          " after",
                          what, n, before, memory.live);
        }
        CHECK_MESSAGE(!hit, "%s never succeeds", what);
    }
    hg_executor_destroy(e);
}

/* On a new executor, which assembles and compiles all of it: some allocations. Afterwards it does
 * the same as ever, and when it is gone nothing is left. */
static void cold(const char *what, program *p, const work *expected, uint64_t rounds) {
    hg_executor *e = make_executor();
    memory.allocations = 0;
    attempt(what, p, e, 0, false, expected);
    uint64_t all = memory.allocations, step = all / rounds + 1;
    hg_executor_destroy(e);
    for (uint64_t n = 1; n <= all && test_failed < 20; n += step) {
        uint64_t before = memory.live;
        e = make_executor();
        attempt(what, p, e, n, n / step % 2, expected);
        attempt(what, p, e, 0, false, expected);
        hg_executor_destroy(e);
        CHECK_MESSAGE(memory.live == before,
                      "%s, allocation %" PRIu64 ": %" PRIu64 " blocks before, %" PRIu64 " after",
                      what, n, before, memory.live);
    }
}

static void run(const char *what, program *p, uint64_t rounds) {
    static work first;
    memset(&first, 0, sizeof first);
    first.executor = make_executor();
    CHECK_OK(p(&first));
    clean(&first);
    hg_executor_destroy(first.executor);
    warm(what, p, &first);
    cold(what, p, &first, rounds);
}

int main(int count, char **arguments) {
    bool all = count > 1 && strcmp(arguments[1], "--all") == 0;
    uint64_t rounds = all ? 100000 : rounds_here(40, 12);
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    if (!mkdtemp(folder)) return 1;
    snprintf(file, sizeof file, "%s/a.safetensors", folder);
    CHECK_OK(hg_set_allocator(&hooks));
    run("views", views, rounds);
    run("made", made, all ? rounds : rounds_here(1000, 60));
    run("recorded", recorded, rounds);
    run("several", several, rounds);
    run("files", files, rounds);
    CHECK_OK(hg_set_allocator(NULL));
    unlink(file);
    CHECK(rmdir(folder) == 0);
    return test_done();
}
