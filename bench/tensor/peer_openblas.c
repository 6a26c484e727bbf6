/* Products of OpenBLAS, called from C as its users do. Times are seconds a run. */
#include <cblas.h>
#include <stdint.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct product {
    const void *a, *b;
    void *c;
    int64_t batch, m, n, k, trans_a, trans_b;
} product;

const char *blas_version(void) { return openblas_get_config(); }
void blas_threads(int count) { openblas_set_num_threads(count); }

double blas_sgemm(const product *p, int runs) {
    enum CBLAS_TRANSPOSE ta = p->trans_a ? CblasTrans : CblasNoTrans,
                         tb = p->trans_b ? CblasTrans : CblasNoTrans;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k, lda = p->trans_a ? m : k,
        ldb = p->trans_b ? k : n;
    double start = now();
    for (int r = 0; r < runs; r++)
        for (int64_t i = 0; i < p->batch; i++)
            cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, (const float *)p->a + i * m * k, lda,
                        (const float *)p->b + i * k * n, ldb, 0.0f, (float *)p->c + i * m * n, n);
    return (now() - start) / runs;
}

double blas_dgemm(const product *p, int runs) {
    enum CBLAS_TRANSPOSE ta = p->trans_a ? CblasTrans : CblasNoTrans,
                         tb = p->trans_b ? CblasTrans : CblasNoTrans;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k, lda = p->trans_a ? m : k,
        ldb = p->trans_b ? k : n;
    double start = now();
    for (int r = 0; r < runs; r++)
        for (int64_t i = 0; i < p->batch; i++)
            cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, (const double *)p->a + i * m * k, lda,
                        (const double *)p->b + i * k * n, ldb, 0.0, (double *)p->c + i * m * n, n);
    return (now() - start) / runs;
}
