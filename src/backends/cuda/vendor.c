/* Vendor steps: products of matrices by cuBLASLt, NVIDIA's library, where it is installed. What it
 * needs to know of a product is kept by problem.
 * Must not know: instructions. */
#include "backends/cuda/cublaslt.h"
#include "base/nvidia.h"
#include <stdio.h>
#include <string.h>

enum {
    MOST_KEPT = 256,
    MOST_WORKSPACE = 32 << 20, /* what NVIDIA's documentation of cublasSetWorkspace advises for the
                                  largest devices */
    WORKSPACE_ALIGNMENT = 256,
    WELL_ALIGNED = 16
};
enum { LEFT, RIGHT, RESULT, MATRICES };
enum {
    ALIGNED,
    UNALIGNED,
    ALIGNMENTS
}; /* all addresses multiples of WELL_ALIGNED, or at least of an element */

typedef struct lt_solution {
    struct lt_solution *next; /* those that were used last come first */
    lt_problem problem;
    uint32_t refs;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t layouts[MATRICES];
    lt_choice choices[ALIGNMENTS];
} lt_solution;

struct cuda_steps {
    hg_mutex lock;
    bool all;                /* whatever it can do, not only what is faster */
    cublasLtHandle_t handle; /* NULL: none was needed yet */
    lt_solution *solutions;
    uint32_t count;
};

/* ---- the library ---- */

cublaslt_symbols cublaslt;
static hg_once_flag once = HG_ONCE_INIT;
static char missing[256]; /* "": loaded */
static char version[32];

static const hg_nvidia_library CUBLASLT = {
    .variable = "HOLOGRAM_CUBLASLT",
    .names = {"libcublasLt.so.13", "libcublasLt.so.12"},
    .plain = "libcublasLt.so",
    .wheels = {"cu13/lib/libcublasLt.so.13", "cublas/lib/libcublasLt.so.12"}};

static void load_library(void) {
    char said[128] = "";
    hg_library *library = hg_nvidia_open(&CUBLASLT, said, sizeof said);
    if (!library) {
        snprintf(missing, sizeof missing,
                 "no cuBLASLt (%s): install the CUDA toolkit's libcublasLt.so.13 or .12", said);
        return;
    }
#define LT_FUNCTION(result, name, parameters)                                    \
    if (!hg_library_function(library, "cublasLt" #name, (void *)&cublaslt.name)) \
        snprintf(missing, sizeof missing,                                        \
                 "cuBLASLt has no cublasLt" #name ": one of CUDA 12 or later is needed");
#include "backends/cuda/cublaslt.def"
    if (missing[0]) return;
    size_t number = cublaslt.GetVersion();
    snprintf(version, sizeof version, "cuBLASLt %u.%u.%u", (unsigned)(number / 10000),
             (unsigned)(number % 10000 / 100), (unsigned)(number % 100));
}

static bool is_loaded(void) {
    hg_once(&once, load_library);
    return !missing[0];
}

bool cuda_vendor_by(char text[256]) {
    snprintf(text, 256, "%s", is_loaded() ? version : missing);
    return !missing[0];
}

/* As CU_CALL: a test may answer instead. */
#define LT_CALL(name, ...) \
    (cuda_asked("cublasLt" #name) == CUDA_SUCCESS ? cublaslt.name(__VA_ARGS__) : LT_ALLOC_FAILED)

static hg_status failed(const char *call, int status) {
    if (status == LT_ALLOC_FAILED)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "cuda: the device has no memory left (%s)",
                       call);
    const char *name = cublaslt.GetStatusName(status);
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "cuda: %s: %s: %s (%d)", version, call,
                   name ? name : "error", status);
}

/* ---- a device's ---- */

hg_status cuda_vendor_create(const char *word, struct cuda_steps **vendor) {
    bool on = word && strcmp(word, "on") == 0, off = word && strcmp(word, "off") == 0;
    *vendor = NULL;
    if (!on && !off && word && *word && strcmp(word, "auto") != 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'%s' says nothing about vendor steps, expected auto, on or off", word);
    if (off) return HG_OK;
    *vendor = hg_calloc(1, sizeof **vendor);
    if (!*vendor) return hg_fail_memory();
    hg_mutex_init(&(*vendor)->lock);
    (*vendor)->all = on;
    return HG_OK;
}

static void free_solution(lt_solution *solution) {
    for (int i = 0; i < MATRICES; i++)
        if (solution->layouts[i]) (void)cublaslt.MatrixLayoutDestroy(solution->layouts[i]);
    if (solution->operation) (void)cublaslt.MatmulDescDestroy(solution->operation);
    hg_free(solution);
}

void cuda_vendor_destroy(struct cuda_steps *vendor) {
    if (!vendor) return;
    while (vendor->solutions) {
        lt_solution *solution = vendor->solutions;
        vendor->solutions = solution->next;
        free_solution(solution);
    }
    if (vendor->handle) (void)cublaslt.Destroy(vendor->handle);
    hg_mutex_destroy(&vendor->lock);
    hg_free(vendor);
}

/* ---- solutions, under the lock ---- */

static bool set_layout(cublasLtMatrixLayout_t *layout, const lt_matrix *m, uint32_t batches) {
    int32_t count = (int32_t)batches;
    return LT_CALL(MatrixLayoutCreate, layout, m->type, m->rows, m->columns, m->leading) ==
               LT_SUCCESS &&
           (batches == 1 || (LT_CALL(MatrixLayoutSetAttribute, *layout, LT_BATCHES, &count,
                                     sizeof count) == LT_SUCCESS &&
                             LT_CALL(MatrixLayoutSetAttribute, *layout, LT_BATCH_STRIDE, &m->stride,
                                     sizeof m->stride) == LT_SUCCESS));
}

static bool set_operation(lt_solution *solution) {
    static const int32_t TRANSPOSED = LT_TRANSPOSED;
    const lt_problem *p = &solution->problem;
    if (LT_CALL(MatmulDescCreate, &solution->operation, p->compute, p->scale) != LT_SUCCESS)
        return false;
    if (p->left.transposed &&
        LT_CALL(MatmulDescSetAttribute, solution->operation, LT_LEFT_OPERATION, &TRANSPOSED,
                sizeof TRANSPOSED) != LT_SUCCESS)
        return false;
    return !p->right.transposed ||
           LT_CALL(MatmulDescSetAttribute, solution->operation, LT_RIGHT_OPERATION, &TRANSPOSED,
                   sizeof TRANSPOSED) == LT_SUCCESS;
}

static uint32_t element_bytes(const lt_matrix *m) {
    switch (m->type) {
    case LT_I8: return 4; /* cuBLASLt reads words */
    case LT_F16:
    case LT_BF16: return 2;
    case LT_F64: return 8;
    default: return 4;
    }
}

static bool ask_preference(cuda_steps *vendor, lt_solution *solution,
                           cublasLtMatmulPreference_t preference, int alignment) {
    const lt_problem *p = &solution->problem;
    const lt_matrix *matrices[] = {&p->left, &p->right, &p->result, &p->result};
    uint64_t workspace = MOST_WORKSPACE;
    int count = 0;
    if (LT_CALL(MatmulPreferenceSetAttribute, preference, LT_MOST_WORKSPACE, &workspace,
                sizeof workspace) != LT_SUCCESS)
        return false;
    for (int i = 0; i < 4; i++) {
        uint32_t bytes = alignment == ALIGNED ? WELL_ALIGNED : element_bytes(matrices[i]);
        if (LT_CALL(MatmulPreferenceSetAttribute, preference, LT_ALIGNMENTS + i, &bytes,
                    sizeof bytes) != LT_SUCCESS)
            return false;
    }
    lt_choice *choice = &solution->choices[alignment];
    return LT_CALL(MatmulAlgoGetHeuristic, vendor->handle, solution->operation,
                   solution->layouts[LEFT], solution->layouts[RIGHT], solution->layouts[RESULT],
                   solution->layouts[RESULT], preference, 1, choice, &count) == LT_SUCCESS &&
           count == 1 && choice->status == LT_SUCCESS && choice->workspace_bytes <= MOST_WORKSPACE;
}

static bool choose(cuda_steps *vendor, lt_solution *solution, int alignment) {
    cublasLtMatmulPreference_t preference;
    if (LT_CALL(MatmulPreferenceCreate, &preference) != LT_SUCCESS) return false;
    bool chosen = ask_preference(vendor, solution, preference, alignment);
    (void)cublaslt.MatmulPreferenceDestroy(preference);
    return chosen;
}

static lt_solution *make_solution(cuda_steps *vendor, const lt_problem *p) {
    if (!vendor->handle && LT_CALL(Create, &vendor->handle) != LT_SUCCESS) return NULL;
    lt_solution *solution = hg_calloc(1, sizeof *solution);
    if (!solution) return NULL;
    solution->problem = *p;
    if (set_operation(solution) && set_layout(&solution->layouts[LEFT], &p->left, p->batches) &&
        set_layout(&solution->layouts[RIGHT], &p->right, p->batches) &&
        set_layout(&solution->layouts[RESULT], &p->result, p->batches) &&
        choose(vendor, solution, ALIGNED) && choose(vendor, solution, UNALIGNED))
        return solution;
    free_solution(solution);
    return NULL;
}

static void drop_oldest(cuda_steps *vendor) {
    lt_solution **oldest = NULL;
    for (lt_solution **at = &vendor->solutions; *at; at = &(*at)->next)
        if ((*at)->refs == 0) oldest = at;
    if (!oldest) return;
    lt_solution *solution = *oldest;
    *oldest = solution->next;
    free_solution(solution);
    vendor->count--;
}

static lt_solution *find_solution(cuda_steps *vendor, const lt_problem *p, bool make) {
    lt_solution **at = &vendor->solutions, *solution;
    while (*at && memcmp(&(*at)->problem, p, sizeof *p) != 0) at = &(*at)->next;
    solution = *at;
    if (solution)
        *at = solution->next;
    else if (make) {
        if (vendor->count >= MOST_KEPT) drop_oldest(vendor);
        solution = make_solution(vendor, p);
        vendor->count += solution != NULL;
    }
    if (!solution) return NULL;
    solution->next = vendor->solutions;
    return vendor->solutions = solution;
}

/* ---- calls ---- */

/* Room for the larger workspace, wherever the scratch memory begins. */
static uint64_t scratch_bytes(const lt_solution *solution) {
    uint64_t bytes = 0;
    for (int i = 0; i < ALIGNMENTS; i++)
        if (solution->choices[i].workspace_bytes > bytes)
            bytes = solution->choices[i].workspace_bytes;
    return bytes ? bytes + WORKSPACE_ALIGNMENT : 0;
}

bool cuda_step_supported(const hg_device *d, const plan_call *call, uint64_t *scratch) {
    cuda_steps *vendor = d->vendor;
    lt_problem p;
    lt_factors factors;
    CUcontext left;
    if (!vendor || !lt_problem_make(call, &p, &factors) ||
        (!vendor->all && !lt_problem_is_faster(&p)) || !is_loaded())
        return false;
    CUresult entered = CU_CALL(CtxPushCurrent, d->context);
    if (entered != CUDA_SUCCESS) return false;
    hg_mutex_lock(&vendor->lock);
    const lt_solution *solution = find_solution(vendor, &p, true);
    if (solution) *scratch = scratch_bytes(solution);
    hg_mutex_unlock(&vendor->lock);
    (void)cuda.CtxPopCurrent(&left);
    return solution != NULL;
}

void cuda_step_describe(const hg_device *d, const plan_call *call, char text[64]) {
    lt_problem p;
    lt_factors factors;
    text[0] = 0;
    if (!d->vendor || !lt_problem_make(call, &p, &factors) || !is_loaded()) return;
    snprintf(text, 64, "%s%s", version, p.compute == LT_COMPUTE_TF32 ? " tf32" : "");
}

/* ---- execution ---- */

static CUdeviceptr address_of(const hg_driver_step *step, const lt_matrix *m) {
    const hg_range *range = &step->ranges[m->array];
    return range->arena->address + range->offset + step->call->arrays[m->array].before;
}

static hg_status multiply(cuda_steps *vendor, const lt_solution *solution,
                          const lt_factors *factors, const CUdeviceptr at[MATRICES],
                          CUdeviceptr workspace, CUstream stream) {
    const lt_problem *p = &solution->problem;
    CUdeviceptr all = at[LEFT] | at[RIGHT] | at[RESULT];
    if (p->batches > 1) { /* what comes behind the first matrix lies as well */
        const lt_matrix *matrices[] = {&p->left, &p->right, &p->result};
        for (int i = 0; i < MATRICES; i++)
            all |= (CUdeviceptr)matrices[i]->stride * element_bytes(matrices[i]);
    }
    const lt_choice *choice = &solution->choices[all % WELL_ALIGNED ? UNALIGNED : ALIGNED];
    int status = LT_CALL(Matmul, vendor->handle, solution->operation, &factors->alpha, at[LEFT],
                         solution->layouts[LEFT], at[RIGHT], solution->layouts[RIGHT],
                         &factors->beta, at[RESULT], solution->layouts[RESULT], at[RESULT],
                         solution->layouts[RESULT], &choice->algorithm,
                         choice->workspace_bytes ? workspace : 0, choice->workspace_bytes, stream);
    return status == LT_SUCCESS ? HG_OK : failed("cublasLtMatmul", status);
}

/* Bytes that do not begin where words do are read from a copy. */
static hg_status set_aside(hg_device *d, CUstream stream, const hg_driver_step *step,
                           const lt_matrix *m, CUdeviceptr *at, CUdeviceptr *copy) {
    const hg_range *range = &step->ranges[m->array];
    if (m->type != LT_I8 || *at % element_bytes(m) == 0) return HG_OK;
    HG_TRY(cuda_between_alloc(d, stream, (size_t)range->size, copy));
    CU_TRY(MemcpyDtoDAsync, *copy, range->arena->address + range->offset, (size_t)range->size,
           stream);
    *at = *copy + step->call->arrays[m->array].before;
    return HG_OK;
}

static hg_status run_solution(hg_device *d, CUstream stream, const hg_driver_step *step,
                              const lt_solution *solution, const lt_factors *factors) {
    const lt_problem *p = &solution->problem;
    CUdeviceptr at[MATRICES] = {address_of(step, &p->left), address_of(step, &p->right),
                                address_of(step, &p->result)},
                copies[2] = {0};
    CUdeviceptr workspace = step->scratch.arena
                                ? step->scratch.arena->address + step->scratch.offset
                                : 0;
    workspace = (workspace + WORKSPACE_ALIGNMENT - 1) / WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
    hg_status status = set_aside(d, stream, step, &p->left, &at[LEFT], &copies[0]);
    if (status == HG_OK) status = set_aside(d, stream, step, &p->right, &at[RIGHT], &copies[1]);
    if (status == HG_OK) status = multiply(d->vendor, solution, factors, at, workspace, stream);
    for (int i = 0; i < 2; i++)
        if (copies[i]) cuda_between_free(d, stream, copies[i]);
    return status;
}

hg_status cuda_step(hg_device *d, CUstream stream, const hg_driver_step *step) {
    cuda_steps *vendor = d->vendor;
    lt_problem p;
    lt_factors factors;
    if (!vendor || !is_loaded() || !lt_problem_make(step->call, &p, &factors))
        return hg_fail(HG_ERROR_INTERNAL, "a vendor step that is not supported");
    hg_mutex_lock(&vendor->lock);
    lt_solution *solution = find_solution(vendor, &p, true);
    if (solution) solution->refs++;
    hg_mutex_unlock(&vendor->lock);
    if (!solution)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "cuda: %s has no memory left for a product that it did before", version);
    hg_status status = run_solution(d, stream, step, solution, &factors);
    hg_mutex_lock(&vendor->lock);
    solution->refs--;
    hg_mutex_unlock(&vendor->lock);
    return status;
}
