/* cuBLASLt's functions without a GPU (README.md): products of matrices on the stream of the fake
 * driver, in binary64 rounded once, with the rules of NVIDIA's documentation on layouts and
 * alignment. What breaks a rule that the library could not have refused before ends the program. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
typedef struct context *cublasLtHandle_t;
typedef struct operation *cublasLtMatmulDesc_t;
typedef struct layout *cublasLtMatrixLayout_t;
typedef struct preference *cublasLtMatmulPreference_t;
typedef unsigned long long CUdeviceptr;
typedef struct CUstream_st *CUstream;
typedef struct lt_algorithm {
    uint64_t data[8]; /* alignment and workspace that it was chosen for */
} lt_algorithm;
typedef struct lt_choice {
    lt_algorithm algorithm;
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
} lt_choice;
#define LT_FUNCTION(result, name, parameters) EXPORT result cublasLt##name parameters;
#include "backends/cuda/cublaslt.def"

enum { OK = 0, ALLOC_FAILED = 3, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { F32 = 0, F64 = 1, F16 = 2, I8 = 3, I32 = 10, BF16 = 14 };
enum {
    COMPUTE_F32 = 68,
    COMPUTE_F32_PEDANTIC = 69,
    COMPUTE_F64_PEDANTIC = 71,
    COMPUTE_I32 = 72,
    COMPUTE_TF32 = 77
};

struct context {
    int nothing;
};
struct operation {
    int compute, scale;
    int32_t transposed[2];
};
struct layout {
    int type;
    uint64_t rows, columns;
    int64_t leading, stride;
    int32_t batches;
};
struct preference {
    uint64_t workspace;
    uint32_t alignment[4];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long live, products;
EXPORT long fake_cublas_live(void);
EXPORT long fake_cublas_products(void);
static long changed(long *count, long by) {
    (void)pthread_mutex_lock(&lock);
    long now = *count += by;
    (void)pthread_mutex_unlock(&lock);
    return now;
}
long fake_cublas_live(void) { return changed(&live, 0); }
long fake_cublas_products(void) { return changed(&products, 0); }

static int make(void *object, size_t size) {
    void *made = calloc(1, size);
    memcpy(object, &made, sizeof made);
    if (!made) return ALLOC_FAILED;
    changed(&live, 1);
    return OK;
}
static int end(void *object) {
    if (!object) return INVALID_VALUE;
    free(object);
    changed(&live, -1);
    return OK;
}

size_t cublasLtGetVersion(void) { return 130002; }
const char *cublasLtGetStatusName(int status) {
    return status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
int cublasLtCreate(cublasLtHandle_t *handle) { return make(handle, sizeof **handle); }
int cublasLtDestroy(cublasLtHandle_t handle) { return end(handle); }
int cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *operation, int compute_type, int scale_type) {
    int status = make(operation, sizeof **operation);
    if (status == OK)
        **operation = (struct operation){.compute = compute_type, .scale = scale_type};
    return status;
}
int cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) { return end(operation); }
int cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t o, int attribute, const void *value,
                                   size_t size) {
    if (size != sizeof(int32_t) || (attribute != 3 && attribute != 4)) return INVALID_VALUE;
    memcpy(&o->transposed[attribute - 3], value, size);
    return OK;
}
int cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, int type, uint64_t rows,
                               uint64_t columns, int64_t leading) {
    if (leading < (int64_t)rows) return INVALID_VALUE;
    int status = make(layout, sizeof **layout);
    if (status == OK)
        **layout = (struct layout){
            .type = type, .rows = rows, .columns = columns, .leading = leading, .batches = 1};
    return status;
}
int cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return end(layout); }
int cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, int attribute,
                                     const void *value, size_t size) {
    if (attribute == 5 && size == sizeof layout->batches)
        memcpy(&layout->batches, value, size);
    else if (attribute == 6 && size == sizeof layout->stride)
        memcpy(&layout->stride, value, size);
    else
        return INVALID_VALUE;
    return OK;
}
int cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    int status = make(preference, sizeof **preference);
    if (status == OK) **preference = (struct preference){0, {256, 256, 256, 256}};
    return status;
}
int cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return end(preference);
}
int cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p, int attribute,
                                         const void *value, size_t size) {
    if (attribute == 1 && size == sizeof p->workspace)
        memcpy(&p->workspace, value, size);
    else if (attribute >= 5 && attribute <= 8 && size == sizeof *p->alignment)
        memcpy(&p->alignment[attribute - 5], value, size);
    else
        return INVALID_VALUE;
    return OK;
}

/* ---- what it can do ---- */

static uint64_t rows_of(const struct layout *l, bool transposed) {
    return transposed ? l->columns : l->rows;
}

static bool types_fit(const struct operation *o, int factors, int result) {
    switch (o->compute) {
    case COMPUTE_I32: return o->scale == I32 && factors == I8 && result == I32;
    case COMPUTE_F64_PEDANTIC: return o->scale == F64 && factors == F64 && result == F64;
    case COMPUTE_F32_PEDANTIC:
    case COMPUTE_TF32: return o->scale == F32 && factors == F32 && result == F32;
    case COMPUTE_F32:
        return o->scale == F32 && (factors == F16 || factors == BF16 || factors == F32) &&
               (result == factors || result == F32);
    default: return false;
    }
}

/* Bytes: the left factor transposed, sizes and strides of words. */
static bool bytes_fit(const struct operation *o, const struct layout *a, const struct layout *b,
                      const struct layout *c) {
    return o->transposed[0] && !o->transposed[1] && a->columns % 4 == 0 && a->rows % 4 == 0 &&
           a->leading % 4 == 0 && b->leading % 4 == 0 && c->leading % 4 == 0;
}

int cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t o,
                                   cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                   cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                   cublasLtMatmulPreference_t preference, int most,
                                   lt_choice *choices, int *count) {
    *count = 0;
    if (!handle || most < 1) return INVALID_VALUE;
    if (rows_of(a, o->transposed[0]) != c->rows || rows_of(b, !o->transposed[1]) != c->columns ||
        rows_of(a, !o->transposed[0]) != rows_of(b, o->transposed[1]))
        return INVALID_VALUE;
    if (a->type != b->type || c != d || a->batches != c->batches || b->batches != c->batches ||
        !types_fit(o, a->type, c->type) ||
        (a->type == I8 &&
         (!bytes_fit(o, a, b, c) || preference->alignment[0] % 4 || preference->alignment[1] % 4)))
        return NOT_SUPPORTED;
    memset(choices, 0, sizeof *choices);
    choices->workspace_bytes = c->rows * c->columns >= 64 && preference->workspace >= 1000 ? 1000
                                                                                           : 0;
    choices->algorithm.data[7] = choices->workspace_bytes;
    for (int i = 0; i < 4; i++) choices->algorithm.data[i] = preference->alignment[i];
    *count = 1;
    return OK;
}

/* ---- elements ---- */

__extension__ typedef _Float16 half;

static const int SIZES[] = {[F32] = 4, [F64] = 8, [F16] = 2, [I8] = 1, [I32] = 4, [BF16] = 2};

static double shortened(float value) { /* to the 10 bits behind the point that TF32 has, ties to
                                          even */
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isfinite(value)) bits = (bits + 0xFFF + (bits >> 13 & 1)) & ~UINT32_C(0x1FFF);
    memcpy(&value, &bits, sizeof bits);
    return (double)value;
}

static double load(int type, const uint8_t *at) {
    union {
        float f32;
        double f64;
        half f16;
        uint16_t u16;
        int8_t i8;
        int32_t i32;
        uint32_t u32;
    } v = {0};
    memcpy(&v, at, (size_t)SIZES[type]);
    switch (type) {
    case F32: return (double)v.f32;
    case F64: return v.f64;
    case F16: return (double)v.f16;
    case I8: return (double)v.i8;
    case I32: return (double)v.i32;
    default: v.u32 = (uint32_t)v.u16 << 16; return (double)v.f32;
    }
}

static void store(int type, uint8_t *at, double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    switch (type) {
    case F32: memcpy(at, &narrow, 4); break;
    case F64: memcpy(at, &value, 8); break;
    case F16: memcpy(at, &(half){(half)value}, 2); break;
    case I32: memcpy(at, &(int32_t){(int32_t)value}, 4); break;
    case BF16:
        if (isnan(value))
            bits |= 0x400000;
        else
            bits += 0x7FFF + (bits >> 16 & 1);
        memcpy(at, &(uint16_t){(uint16_t)(bits >> 16)}, 2);
        break;
    default: abort();
    }
}

/* ---- products ---- */

typedef struct work {
    struct operation operation;
    struct layout a, b, c;
    double alpha, beta;
    const uint8_t *at_a, *at_b;
    uint8_t *at_c, *workspace;
    size_t workspace_bytes;
} work;

static const uint8_t *element(const struct layout *l, const uint8_t *at, bool transposed,
                              uint64_t row, uint64_t column, uint64_t batch) {
    uint64_t inner = transposed ? column : row, outer = transposed ? row : column;
    return at + (batch * (uint64_t)l->stride + outer * (uint64_t)l->leading + inner) *
                    (uint64_t)SIZES[l->type];
}

static double factor(const work *w, const struct layout *l, const uint8_t *at) {
    double value = load(l->type, at);
    return w->operation.compute == COMPUTE_TF32 ? shortened((float)value) : value;
}

static void multiply(void *user) {
    work *w = user;
    uint64_t inner = rows_of(&w->b, w->operation.transposed[1]);
    if (w->workspace_bytes) memset(w->workspace, 0xA5, w->workspace_bytes);
    for (uint64_t batch = 0; batch < (uint64_t)w->c.batches; batch++)
        for (uint64_t column = 0; column < w->c.columns; column++)
            for (uint64_t row = 0; row < w->c.rows; row++) {
                double sum = 0;
                for (uint64_t i = 0; i < inner; i++)
                    sum += factor(
                               w, &w->a,
                               element(&w->a, w->at_a, w->operation.transposed[0], row, i, batch)) *
                           factor(w, &w->b,
                                  element(&w->b, w->at_b, w->operation.transposed[1], i, column,
                                          batch));
                uint8_t *c = w->at_c +
                             (element(&w->c, w->at_c, false, row, column, batch) - w->at_c);
                sum *= w->alpha;
                if (w->beta != 0) sum += w->beta * load(w->c.type, c);
                store(w->c.type, c, sum);
            }
    changed(&products, 1);
}

static void check(bool good, const char *rule) {
    if (good) return;
    fprintf(stderr, "fake cuBLASLt: %s\n", rule);
    abort();
}

static int enqueue(CUstream stream, const work *w) {
    int (*call)(CUstream, void (*)(void *), const void *, size_t) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver) *(void **)&call = dlsym(driver, "fake_cuda_call");
    int error = call ? call(stream, multiply, w, sizeof *w) : 1;
    if (driver) (void)dlclose(driver);
    return error ? 13 : OK; /* CUBLAS_STATUS_EXECUTION_FAILED */
}

int cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha,
                   CUdeviceptr a, cublasLtMatrixLayout_t a_layout, CUdeviceptr b,
                   cublasLtMatrixLayout_t b_layout, const void *beta, CUdeviceptr c,
                   cublasLtMatrixLayout_t c_layout, CUdeviceptr d, cublasLtMatrixLayout_t d_layout,
                   const lt_algorithm *algorithm, CUdeviceptr workspace, size_t workspace_bytes,
                   CUstream stream) {
    if (!handle || c != d || c_layout != d_layout) return INVALID_VALUE;
    CUdeviceptr at[] = {a, b, c, d};
    struct layout *layouts[] = {a_layout, b_layout, c_layout, d_layout};
    for (int i = 0; i < 4; i++) {
        check(at[i] % algorithm->data[i] == 0, "an address that is less aligned than promised");
        check(layouts[i]->batches == 1 ||
                  (uint64_t)(layouts[i]->stride * SIZES[layouts[i]->type]) % algorithm->data[i] ==
                      0,
              "a matrix of the batch that is less aligned than promised");
    }
    check(workspace_bytes >= algorithm->data[7] && workspace % 256 == 0,
          "a workspace that is too small or not aligned");
    const work w = {.operation = *operation,
                    .a = *a_layout,
                    .b = *b_layout,
                    .c = *c_layout,
                    .alpha = load(operation->scale, alpha),
                    .beta = load(operation->scale, beta),
                    .at_a = (const uint8_t *)(uintptr_t)a,
                    .at_b = (const uint8_t *)(uintptr_t)b,
                    .at_c = (uint8_t *)(uintptr_t)c,
                    .workspace = (uint8_t *)(uintptr_t)workspace,
                    .workspace_bytes = workspace_bytes};
    return enqueue(stream, &w);
}
