/* test: labels=threads */
/* One long array on several threads, and several callers at once. */
#include "support/runtime_support.h"
#include <hologram/circuit_run.h>
#include <pthread.h>

enum { PIECE = 3072, CALLERS = 3 };

typedef struct job {
    hg_backend *backend;
    uint64_t count, wrong;
} job;

/* c03 has no input and is read before it is written: every piece finds zeros there. Counts what is
 * wrong: checks are not for threads. */
static void *run_job(void *user) {
    static const char TEXT[] = "merge@c00[c01,c02] . merge@c03[c02,c03] . copy@c03->c04";
    job *j = user;
    uint64_t n = j->count;
    hg_translated_program t = {.size = sizeof t};
    float *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), *z = calloc(n, sizeof *z),
          *w = calloc(n, sizeof *w);
    hg_class_array arrays[] = {{.cls = 0, .input = x, .input_count = n},
                               {.cls = 1, .input = y, .input_count = n / 2},
                               {.cls = 2, .output = z, .output_count = n},
                               {.cls = 4, .output = w, .output_count = n}};
    for (uint64_t i = 0; i < n; i++) x[i] = (float)(i % 1000), y[i] = (float)(i % 777) + 0.5f;
    j->wrong += hg_circuit_to_isa_translate(TEXT, sizeof TEXT - 1, NULL, NULL, &t) != HG_OK;
    for (int turn = 0; turn < 3 && j->wrong == 0; turn++) {
        j->wrong += hg_circuit_run(j->backend, &t, NULL, arrays, 4) != HG_OK;
        for (uint64_t i = 0; i < n; i++) {
            float sum = x[i] + (i < n / 2 ? y[i] : 0);
            j->wrong += z[i] != sum || w[i] != sum;
        }
    }
    hg_translated_program_release(&t);
    free(x);
    free(y);
    free(z);
    free(w);
    return NULL;
}

int main(void) {
    hg_backend *b = open_backend("cpu");
    job long_job = {b, 300 * PIECE + 7, 0}, jobs[CALLERS];
    pthread_t threads[CALLERS];
    run_job(&long_job);
    CHECK_U64(long_job.wrong, 0);
    for (int i = 0; i < CALLERS; i++) {
        jobs[i] = (job){b, (uint64_t)(130 + i) * PIECE + 7, 0};
        CHECK(pthread_create(&threads[i], NULL, run_job, &jobs[i]) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_U64(jobs[i].wrong, 0);
    }
    hg_backend_destroy(b);
    return test_done();
}
