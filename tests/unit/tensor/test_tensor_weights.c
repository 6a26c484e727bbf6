/* Weights: what products in scopes read again and again is kept in the order in which they read it,
 * and every way to write it is seen. Results are compared with those outside of scopes, which keep
 * nothing. */
#include "runtime/executor.h"
#include "support/runtime_support.h"
#include "tensor/tensor.h"
#include <hologram/dlpack.h>
#include <hologram/ops.h>
#include <stdlib.h>

enum { M = 3, K = 40, N = 24, LAYERS = 40 };

#define OK(call) CHECK_MESSAGE((call) == HG_OK, "%s: %s", #call, hg_last_error_text())

static hg_executor *cpu;

static hg_tensor *numbers(uint64_t seed, uint64_t rows, uint64_t columns) {
    uint64_t shape[2] = {rows, columns}, state = seed * 2654435761u + 1;
    float x[K * N];
    hg_tensor *t = NULL;
    for (uint64_t i = 0; i < rows * columns; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)(state >> 40) / (float)(1 << 23) - 1;
    }
    OK(hg_tensor_from_host(cpu, HG_TYPE_F32, x, rows * columns, shape, 2, &t));
    return t;
}

static void product(const hg_tensor *x, const hg_tensor *w, bool in_scope, float *out) {
    hg_tensor_scope *scope = NULL;
    hg_tensor *y = NULL;
    if (in_scope) OK(hg_scope_begin(cpu, &scope));
    OK(hg_ops_matmul(cpu, x, w, &y));
    if (in_scope) OK(hg_scope_end(scope));
    OK(hg_tensor_to_host(y, out, M * N));
    hg_tensor_release(y);
}

/* Whether a product in a scope is that outside, some times. */
static void check(const char *when, const hg_tensor *x, const hg_tensor *w, int times) {
    float want[M * N], got[M * N];
    product(x, w, false, want);
    for (int i = 0; i < times; i++) {
        product(x, w, true, got);
        CHECK_MESSAGE(memcmp(want, got, sizeof got) == 0, "%s, time %d: other elements", when, i);
    }
}

static uint32_t kept(void) {
    tensor_state *state;
    uint32_t count = 0;
    OK(tensor_state_of(cpu, &state));
    for (uint32_t k = 0; k < TENSOR_STEADY; k++) count += state->steady[k].bound.binding != NULL;
    return count;
}

static void writes(void) {
    hg_tensor *x = numbers(1, M, K), *w = numbers(2, K, N), *row = NULL, *other = numbers(3, K, N);
    float ones[K * N];
    for (int i = 0; i < K * N; i++) ones[i] = 1 + (float)i;
    check("once", x, w, 1);
    CHECK(kept() == 0); /* it may be no weight */
    check("again", x, w, 3);
    CHECK(kept() == 1);
    OK(hg_tensor_copy_from_host(w, ones, K * N));
    check("written from the host", x, w, 3);
    OK(hg_ops_add_into(cpu, other, other, w));
    check("written by an operation", x, w, 3);
    OK(hg_tensor_select(w, 0, 7, &row));
    OK(hg_tensor_copy_from_host(row, ones, N));
    check("written through a view", x, w, 3);
    hg_tensor_release(row);
    for (uint64_t i = 0; i < 4; i++) { /* its memory is another's */
        hg_tensor_release(w);
        w = numbers(10 + i, K, N);
        check("made anew", x, w, 3);
    }
    hg_tensor_release(w);
    hg_tensor_release(x);
    hg_tensor_release(other);
}

/* Others have its address, and write without a call. */
static void shared(void) {
    hg_tensor *x = numbers(4, M, K), *w = numbers(5, K, N);
    void *managed = NULL;
    check("before it is shared", x, w, 3);
    OK(hg_tensor_to_dlpack(w, true, &managed));
    hg_dlpack_versioned *v = managed;
    for (int i = 0; v && i < 3; i++) {
        ((float *)v->tensor.data)[i] = (float)i + 5;
        check("shared", x, w, 2);
    }
    if (v) v->deleter(v);
    hg_tensor_release(x);
    hg_tensor_release(w);
}

/* Others have its buffer, and write it between scopes. */
static void bound(void) {
    hg_tensor *x = numbers(7, M, K), *w = numbers(8, K, N);
    hg_backend *backend = hg_executor_backend(cpu);
    hg_buffer buffer = {0};
    uint64_t offset = 0;
    check("before its buffer is given", x, w, 3);
    OK(hg_tensor_buffer(w, &buffer, &offset));
    for (int i = 0; i < 3; i++) {
        float one = (float)i + 5;
        OK(hg_buffer_write(backend, buffer, offset + 4 * (uint64_t)i, &one, sizeof one));
        check("its buffer is given", x, w, 2);
    }
    hg_tensor_release(x);
    hg_tensor_release(w);
}

/* More of one shape than bindings are kept: none is kept for nothing for long. */
static void many(void) {
    hg_tensor *x = numbers(6, M, K), *w[LAYERS];
    for (uint64_t i = 0; i < LAYERS; i++) w[i] = numbers(100 + i, K, N);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < LAYERS; i++) check("one of many", x, w[i], 1);
    tensor_state *state;
    OK(tensor_state_of(cpu, &state));
    CHECK(state->wasted >= TENSOR_STEADY);
    OK(hg_executor_trim(cpu, 0));
    CHECK(kept() == 0 && state->wasted == 0);
    check("after that", x, w[0], 3);
    CHECK(kept() == 1);
    for (int i = 0; i < LAYERS; i++) hg_tensor_release(w[i]);
    hg_tensor_release(x);
}

int main(void) {
    OK(hg_executor_create_cpu(&cpu));
    if (cpu) {
        writes();
        shared();
        bound();
        many();
    }
    hg_executor_destroy(cpu);
    return test_done();
}
