/* test: labels=threads */
/* Four threads on one executor: eager and in scopes of their own, over tensors that they share,
 * with results that others read while they are recorded and released. Built with -fsanitize=thread
 * it proves the absence of races. */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <hologram/ops.h>
#include <pthread.h>

enum { THREADS = 4, SIDE = 8, NUMBERS = SIDE * SIDE };

static hg_executor *executor;
static uint64_t rounds;
static const uint64_t square[2] = {SIDE, SIDE};
static hg_tensor *shared;  /* i at element i */
static hg_tensor *columns; /* [NUMBERS, THREADS]: thread k writes column k */
static hg_tensor *waiting; /* on the host, until the threads take it to the executor at once */
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { /* what a thread has recorded, for others to read */
    hg_tensor *tensor;
    float factor;
} offered[THREADS];

static void expect(const hg_tensor *t, float factor, float more, const char *what) {
    float got[NUMBERS];
    uint64_t wrong = 0;
    hg_status status = hg_tensor_to_host(t, got, NUMBERS);
    for (int i = 0; i < NUMBERS && status == HG_OK; i++)
        wrong += got[i] != factor * (float)i + more;
    pthread_mutex_lock(&lock);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error_text());
    CHECK_MESSAGE(wrong == 0, "%s: %d elements are wrong", what, (int)wrong);
    pthread_mutex_unlock(&lock);
}

static void ok(hg_status status, const char *what) {
    pthread_mutex_lock(&lock);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error_text());
    pthread_mutex_unlock(&lock);
}
#define OK(call) ok(call, #call)

static void eager(int k) {
    hg_tensor *own = NULL, *sum = NULL, *view = NULL, *back = NULL;
    OK(hg_tensor_full(executor, HG_TYPE_F32, k, square, 2, &own));
    OK(hg_ops_add(executor, shared, own, &sum));
    expect(sum, 1, (float)k, "eager");
    OK(hg_tensor_transpose(shared, &view));
    OK(hg_tensor_transpose(view, &back));
    OK(hg_ops_mul_into(executor, back, back, sum));
    OK(hg_ops_sub_into(executor, sum, sum, sum));
    expect(sum, 0, 0, "into");
    hg_tensor_release(own), hg_tensor_release(sum), hg_tensor_release(view);
    hg_tensor_release(back);
}

/* One of another thread, retained. */
static hg_tensor *of_another(int k, float *factor) {
    pthread_mutex_lock(&lock);
    int other = (k + 1) % THREADS;
    hg_tensor *t = hg_tensor_retain(offered[other].tensor);
    *factor = offered[other].factor;
    pthread_mutex_unlock(&lock);
    return t;
}

static void offer(int k, hg_tensor *t, float factor) {
    pthread_mutex_lock(&lock);
    hg_tensor *old = offered[k].tensor;
    offered[k].tensor = hg_tensor_retain(t);
    offered[k].factor = factor;
    pthread_mutex_unlock(&lock);
    hg_tensor_release(old);
}

static void recorded(int k, uint64_t round) {
    hg_tensor_scope *scope = NULL;
    hg_tensor *twice = NULL, *four = NULL, *sum = NULL, *product = NULL, *eye = NULL, *mixed = NULL;
    float factor;
    OK(hg_tensor_eye(executor, HG_TYPE_F32, SIDE, SIDE, 0, &eye));
    OK(hg_scope_begin(executor, &scope));
    OK(hg_ops_add(executor, shared, shared, &twice));
    OK(hg_ops_add(executor, twice, twice, &four));
    offer(k, round % 2 ? four : twice, round % 2 ? 4 : 2);
    OK(hg_ops_matmul(executor, four, eye, &product));
    hg_tensor_release(twice);
    hg_tensor *other = of_another(k, &factor); /* of a scope of another thread, which may run */
    if (other) {
        OK(hg_ops_add(executor, product, other, &mixed));
        expect(other, factor, 0, "read of another's");
        hg_tensor_release(other);
    }
    OK(hg_ops_add(executor, product, shared, &sum));
    OK(hg_scope_end(scope));
    expect(sum, 5, 0, "recorded");
    if (mixed) expect(mixed, 4 + factor, 0, "recorded with another's");
    hg_tensor_release(four), hg_tensor_release(sum), hg_tensor_release(product);
    hg_tensor_release(mixed), hg_tensor_release(eye);
}

/* Elements between those of the others; what became of them is seen at the end. */
static void write_column(int k, uint64_t round) {
    float data[NUMBERS];
    hg_tensor *column = NULL;
    for (int i = 0; i < NUMBERS; i++) data[i] = (float)(i * (k + 1)) + (float)round;
    OK(hg_tensor_select(columns, 1, k, &column));
    OK(hg_tensor_copy_from_host(column, data, NUMBERS));
    hg_tensor_release(column);
}

/* All take the tensor that waits on the host at once. */
static void take_waiting(int k) {
    hg_tensor *sum = NULL;
    if (!k) {
        float data[NUMBERS];
        for (int i = 0; i < NUMBERS; i++) data[i] = (float)i;
        OK(hg_tensor_from_host(NULL, HG_TYPE_F32, data, NUMBERS, square, 2, &waiting));
    }
    pthread_barrier_wait(&barrier);
    if (k == 3) expect(waiting, 1, 0, "what waits");
    OK(hg_ops_add(executor, waiting, shared, &sum));
    expect(sum, 2, 0, "what waited");
    hg_tensor_release(sum);
    pthread_barrier_wait(&barrier);
    if (!k) hg_tensor_release(waiting);
}

static void *thread(void *user) {
    int k = *(int *)user;
    for (uint64_t round = 0; round < rounds; round++) {
        eager(k);
        recorded(k, round);
        if (k == 1 && round % 4 == 2) OK(hg_executor_trim(executor, 0)); /* what nobody uses goes */
        write_column(k, round);
        take_waiting(k);
    }
    offer(k, NULL, 0);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS], failed = 0;
    rounds = rounds_here(60, 15);
    CHECK_OK(hg_executor_create_cpu(&executor));
    CHECK_OK(hg_tensor_arange(executor, HG_TYPE_F32, 0, NUMBERS, 1, &columns));
    CHECK_OK(hg_tensor_reshape(columns, square, 2, &shared));
    hg_tensor_release(columns);
    CHECK_OK(hg_tensor_zeros(executor, HG_TYPE_F32, (uint64_t[]){NUMBERS, THREADS}, 2, &columns));
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int k = 0; k < THREADS; k++) {
        numbers[k] = k;
        failed |= pthread_create(&threads[k], NULL, thread, &numbers[k]);
    }
    for (int k = 0; k < THREADS && !failed; k++) pthread_join(threads[k], NULL);
    CHECK(!failed);
    for (int k = 0; k < THREADS; k++) { /* no thread wrote what another one did */
        hg_tensor *column = NULL;
        CHECK_OK(hg_tensor_select(columns, 1, k, &column));
        expect(column, (float)(k + 1), (float)(rounds - 1), "a column");
        hg_tensor_release(column);
    }
    pthread_barrier_destroy(&barrier);
    hg_tensor_release(shared), hg_tensor_release(columns);
    hg_executor_destroy(executor);
    return test_done();
}
