/* Native steps: primitives of oneDNN, made once for a problem and kept, and their execution on the threads of the pool.
 * Must not know: instructions. */
#include "backends/cpu/native_internal.h"
#include "base/thread.h"
#include "base/thread_pool.h"
#include <stdio.h>
#include <string.h>

enum {
    MOST_SLICES = 64,
    MOST_KEPT = 256,        /* plans */
    PLAN_BYTES = 128 << 10, /* of the budget: a primitive's code and tables, as the process grows with a thousand of them */
    SCRATCH_ALIGN = 4096
};
#define WORTH_THREADS (UINT64_C(1) << 20) /* multiply-adds: some 20 us, waking a thread takes a few */

/* What differs between slices: the last may be smaller. */
typedef struct piece {
    onednn_primitive *primitive;
    onednn_layout layout[NATIVE_TENSORS], scratch;
} piece;

typedef struct native_plan {
    struct native_plan *next; /* those that were used last come first */
    native_problem problem;
    piece pieces[2];
    uint32_t refs, slices;
    uint64_t step[NATIVE_TENSORS]; /* bytes from the first element of a slice to that of the next */
    uint64_t scratch_bytes;        /* of a slice */
    char name[32];
} native_plan;

struct cpu_native {
    bool all, as_measured;
    uint32_t threads;
    hg_budget *budget;
    native_plan *plans; /* under onednn_lock */
    uint32_t count;
};

hg_status cpu_native_create(const char *word, bool as_measured, uint32_t threads, hg_budget *budget, cpu_native **native) {
    bool on = word && strcmp(word, "on") == 0, off = word && strcmp(word, "off") == 0;
    *native = NULL;
    if (!on && !off && word && *word && strcmp(word, "auto") != 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%s' says nothing about native steps, expected auto, on or off", word);
    if (off) return HG_OK;
    *native = hg_calloc(1, sizeof **native);
    if (!*native) return hg_fail_memory();
    if (!threads) threads = hg_cpu_count();
    **native = (cpu_native){
        .all = on, .as_measured = as_measured, .threads = threads < MOST_SLICES ? threads : MOST_SLICES, .budget = budget};
    return HG_OK;
}

/* ---- slices ---- */

/* The dimension of each tensor along which slices are cut; -1: all slices have the whole. */
typedef struct cut {
    int dimension[NATIVE_TENSORS];
    int64_t size, each;
} cut;

static void cut_along(cut *c, int64_t size, int64_t granule, uint32_t slices, int source, int weights, int bias, int result) {
    int64_t each = (size + slices - 1) / slices;
    *c = (cut){{source, weights, bias, result}, size, (each + granule - 1) / granule * granule};
}

/* Columns first: then no slice brings weights into order that another one needs too. */
static bool find_cut(const cpu_native *native, const native_problem *p, cut *c) {
    enum { COLUMNS = 64, ROWS = 8 };
    const native_tensor *t = p->tensor;
    uint32_t threads = native->threads;
    int inner = t[NATIVE_RESULT].rank - 1;
    bool batched = inner == 2;
    double work = (double)p->size[0] * (double)p->size[1] * (double)p->size[2] * (double)p->size[3];
    if (threads < 2 || work < (double)WORTH_THREADS) return false;
    if (batched && p->size[3] >= threads)
        cut_along(c, (int64_t)p->size[3], 1, threads, t[NATIVE_SOURCE].dims[0] > 1 ? 0 : -1, t[NATIVE_WEIGHTS].dims[0] > 1 ? 0 : -1, -1, 0);
    else if (p->size[1] >= (uint64_t)COLUMNS * threads)
        cut_along(c, (int64_t)p->size[1], COLUMNS, threads, -1, inner, inner, inner);
    else if (p->size[0] >= (uint64_t)ROWS * threads)
        cut_along(c, (int64_t)p->size[0], ROWS, threads, inner - 1, -1, -1, inner - 1);
    else
        return false;
    return true;
}

static uint64_t size_of(uint8_t type) { return type == ONEDNN_F32 || type == ONEDNN_S32 ? 4 : type == ONEDNN_BF16 ? 2 : 1; }

/* ---- primitives ---- */

static int lay_out(const onednn_library *l, const native_problem *p, const cut *c, int64_t part, piece *made) {
    for (int i = 0; i < NATIVE_TENSORS; i++) {
        const native_tensor *t = &p->tensor[i];
        int64_t dims[NATIVE_MOST_DIMS];
        if (!t->rank) continue;
        memcpy(dims, t->dims, sizeof dims);
        if (c && c->dimension[i] >= 0) dims[c->dimension[i]] = part;
        int status = l->memory_desc_init_by_strides(&made->layout[i], t->rank, dims, t->type, t->strides);
        if (status) return status;
    }
    return 0;
}

static int add_sum(const onednn_library *l, const native_problem *p, onednn_attributes *attributes) {
    onednn_post_ops *after = NULL;
    int status = l->post_ops_create(&after);
    if (!status) status = l->post_ops_append_sum(after, p->beta);
    if (!status) status = l->primitive_attr_set_post_ops(attributes, after);
    if (after) l->post_ops_destroy(after);
    return status;
}

static int set_attributes(const onednn_library *l, const native_problem *p, onednn_attributes *attributes) {
    int status = l->primitive_attr_set_scratchpad_mode(attributes, ONEDNN_SCRATCHPAD_OF_USER);
    if (!status && l->primitive_attr_set_fpmath_mode) status = l->primitive_attr_set_fpmath_mode(attributes, ONEDNN_STRICT);
    if (!status && p->alpha != 1) status = l->primitive_attr_set_output_scales(attributes, 1, 0, &p->alpha);
    return !status && p->beta != 0 ? add_sum(l, p, attributes) : status;
}

/* One that is written for this CPU: those without are slower than our own code. */
static bool is_good(const char *name) { return strncmp(name, "ref", 3) != 0 && strncmp(name, "gemm:ref", 8) != 0; }

static int make_primitive(const onednn_library *l, const native_problem *p, piece *made, char name[32]) {
    onednn_operation operation;
    onednn_attributes *attributes = NULL;
    onednn_description *description = NULL;
    const char *said = "";
    const onednn_layout *bias = p->tensor[NATIVE_BIAS].rank ? &made->layout[NATIVE_BIAS] : NULL;
    int status = l->matmul_desc_init(&operation, &made->layout[NATIVE_SOURCE], &made->layout[NATIVE_WEIGHTS], bias,
                                     &made->layout[NATIVE_RESULT]);
    if (!status) status = l->primitive_attr_create(&attributes);
    if (!status) status = set_attributes(l, p, attributes);
    if (!status) status = l->primitive_desc_create(&description, &operation, attributes, l->engine, NULL);
    if (!status) status = l->primitive_desc_query(description, ONEDNN_QUERY_NAME, 0, &said);
    if (!status && !is_good(said)) status = -1;
    if (!status) made->scratch = *l->primitive_desc_query_md(description, ONEDNN_QUERY_SCRATCHPAD, 0);
    if (!status) status = l->primitive_create(&made->primitive, description);
    snprintf(name, 32, "%s", said);
    if (description) l->primitive_desc_destroy(description);
    if (attributes) l->primitive_attr_destroy(attributes);
    return status;
}

static void free_plan(const onednn_library *l, native_plan *plan) {
    for (int i = 0; i < 2; i++)
        if (plan->pieces[i].primitive) l->primitive_destroy(plan->pieces[i].primitive);
    hg_free(plan);
}

static int make_pieces(const onednn_library *l, const cut *c, native_plan *plan) {
    int64_t last = c ? c->size - (int64_t)(plan->slices - 1) * c->each : 0, parts[2] = {c ? c->each : 0, last};
    for (int i = 0; i < (c && last != c->each ? 2 : 1); i++) {
        piece *made = &plan->pieces[i];
        int status = lay_out(l, &plan->problem, c, parts[i], made);
        if (!status) status = make_primitive(l, &plan->problem, made, plan->name);
        if (status) return status;
        uint64_t bytes = l->memory_desc_get_size(&made->scratch);
        if (bytes > plan->scratch_bytes) plan->scratch_bytes = bytes;
    }
    plan->scratch_bytes = (plan->scratch_bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    return 0;
}

/* With one thread of its own, as it will run. */
static int begin_alone(const onednn_library *l) {
    int threads = l->omp_get_max_threads ? l->omp_get_max_threads() : 1;
    if (threads != 1) l->omp_set_num_threads(1);
    return threads;
}
static void end_alone(const onednn_library *l, int threads) {
    if (threads != 1) l->omp_set_num_threads(threads);
}

static native_plan *make_plan(const cpu_native *native, const onednn_library *l, const native_problem *p) {
    cut along, *c = find_cut(native, p, &along) ? &along : NULL;
    native_plan *plan = hg_budget_take(native->budget, PLAN_BYTES) ? hg_calloc(1, sizeof *plan) : NULL;
    if (!plan) return NULL;
    plan->problem = *p;
    plan->slices = c ? (uint32_t)((c->size + c->each - 1) / c->each) : 1;
    for (int i = 0; c && i < NATIVE_TENSORS; i++)
        if (p->tensor[i].rank && c->dimension[i] >= 0)
            plan->step[i] = (uint64_t)(c->each * p->tensor[i].strides[c->dimension[i]]) * size_of(p->tensor[i].type);
    int threads = begin_alone(l), status = make_pieces(l, c, plan);
    end_alone(l, threads);
    if (!status) return plan;
    free_plan(l, plan);
    hg_budget_release(native->budget, PLAN_BYTES);
    return NULL;
}

/* ---- the plans that are kept, under onednn_lock ---- */

static void drop_oldest(cpu_native *native, const onednn_library *l) {
    native_plan **oldest = NULL;
    for (native_plan **at = &native->plans; *at; at = &(*at)->next)
        if ((*at)->refs == 0) oldest = at;
    if (!oldest) return;
    native_plan *plan = *oldest;
    *oldest = plan->next;
    free_plan(l, plan);
    hg_budget_release(native->budget, PLAN_BYTES);
    native->count--;
}

static native_plan *find_plan(cpu_native *native, const onednn_library *l, const native_problem *p, bool make) {
    native_plan **at = &native->plans, *plan;
    while (*at && memcmp(&(*at)->problem, p, sizeof *p) != 0) at = &(*at)->next;
    plan = *at;
    if (plan)
        *at = plan->next;
    else if (make) {
        if (native->count >= MOST_KEPT) drop_oldest(native, l);
        plan = make_plan(native, l, p);
        native->count += plan != NULL;
    }
    if (!plan) return NULL;
    plan->next = native->plans;
    return native->plans = plan;
}

void cpu_native_destroy(cpu_native *native) {
    if (!native) return;
    const onednn_library *l = native->plans ? onednn_get(NULL) : NULL;
    while (l && native->plans) {
        native_plan *plan = native->plans;
        native->plans = plan->next;
        free_plan(l, plan);
        hg_budget_release(native->budget, PLAN_BYTES);
    }
    hg_free(native);
}

/* ---- calls ---- */

static bool is_wanted(const cpu_native *native, const native_problem *p, const onednn_library **l) {
    if (!native->all && !native->as_measured) return false;
    if (!native->all && !native_is_faster(p, -1)) return false; /* on no CPU: the library is not even opened */
    *l = onednn_get(NULL);
    return *l && !onednn_is_parents() && (native->all || native_is_faster(p, (*l)->isa));
}

bool cpu_native_supports(cpu_native *native, const plan_call *call, uint64_t *scratch) {
    native_problem p;
    const onednn_library *l;
    if (!native || !native_problem_make(call, &p) || !is_wanted(native, &p, &l)) return false;
    onednn_lock();
    const native_plan *plan = find_plan(native, l, &p, true);
    if (plan) *scratch = plan->scratch_bytes * plan->slices;
    onednn_unlock();
    return plan != NULL;
}

void cpu_native_describe(cpu_native *native, const plan_call *call, char text[64]) {
    native_problem p;
    const onednn_library *l = native && native_problem_make(call, &p) ? onednn_get(NULL) : NULL;
    text[0] = 0;
    if (!l) return;
    onednn_lock();
    const native_plan *plan = find_plan(native, l, &p, false);
    if (plan) snprintf(text, 64, "%s %s", l->version, plan->name);
    onednn_unlock();
}

bool cpu_native_by(char text[256]) {
    const onednn_library *l = onednn_get(text);
    if (l) snprintf(text, 256, "%s", l->version);
    return l != NULL;
}

/* ---- execution ---- */

enum { MOST_ARGUMENTS = NATIVE_TENSORS + 1 };

typedef struct slice {
    const onednn_primitive *primitive;
    onednn_stream *stream;
    onednn_argument arguments[MOST_ARGUMENTS];
    int count;
} slice;

struct native_work {
    const onednn_library *library;
    native_plan *plan;
    int status; /* of the first slice that fails */
    slice slices[];
};

static int add_argument(const onednn_library *l, slice *s, int which, const onednn_layout *layout, void *data) {
    onednn_argument *a = &s->arguments[s->count];
    int status = l->memory_create(&a->memory, layout, l->engine, data);
    a->which = which;
    s->count += status == 0;
    return status;
}

static int make_slice(const onednn_library *l, const native_plan *plan, uint32_t number, uint8_t *const *arrays, uint8_t *scratch,
                      slice *s) {
    static const int which[NATIVE_TENSORS] = {ONEDNN_SOURCE, ONEDNN_WEIGHTS, ONEDNN_BIAS, ONEDNN_RESULT};
    const piece *p = &plan->pieces[number + 1 == plan->slices && plan->pieces[1].primitive];
    s->primitive = p->primitive;
    int status = l->stream_create(&s->stream, l->engine, ONEDNN_IN_ORDER);
    for (int i = 0; i < NATIVE_TENSORS && !status; i++)
        if (plan->problem.tensor[i].rank)
            status = add_argument(l, s, which[i], &p->layout[i], arrays[plan->problem.array[i]] + number * plan->step[i]);
    if (plan->scratch_bytes && !status) status = add_argument(l, s, ONEDNN_SCRATCHPAD, &p->scratch, scratch + number * plan->scratch_bytes);
    return status;
}

static hg_status failed(const onednn_library *l, const char *what, int status) {
    if (status == ONEDNN_OUT_OF_MEMORY) return hg_fail_memory();
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "cpu: %s: %s failed with status %d", l->version, what, status);
}

hg_status cpu_native_make(cpu_native *native, const plan_call *call, uint8_t *const *arrays, uint8_t *scratch, native_work **work) {
    native_problem p;
    const onednn_library *l = onednn_get(NULL);
    if (!l || !native_problem_make(call, &p)) return hg_fail(HG_ERROR_INTERNAL, "a native step that is not supported");
    onednn_lock();
    native_plan *plan = find_plan(native, l, &p, true);
    if (plan) plan->refs++;
    onednn_unlock();
    if (!plan) return hg_fail_memory(); /* it was made before: what lacks now is memory */
    native_work *w = hg_calloc(1, sizeof *w + plan->slices * sizeof *w->slices);
    if (!w) {
        onednn_lock();
        plan->refs--;
        onednn_unlock();
        return hg_fail_memory();
    }
    w->library = l;
    w->plan = plan;
    int status = 0;
    for (uint32_t i = 0; i < plan->slices && !status; i++) status = make_slice(l, plan, i, arrays, scratch, &w->slices[i]);
    *work = w;
    if (!status) return HG_OK;
    cpu_native_release(w);
    return failed(l, "making a memory", status);
}

void cpu_native_release(native_work *w) {
    if (!w) return;
    const onednn_library *l = w->library;
    for (uint32_t i = 0; i < w->plan->slices; i++) {
        slice *s = &w->slices[i];
        for (int j = 0; j < s->count; j++) l->memory_destroy(s->arguments[j].memory);
        if (s->stream) l->stream_destroy(s->stream);
    }
    onednn_lock();
    w->plan->refs--;
    onednn_unlock();
    hg_free(w);
}

static void run_slices(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    native_work *w = user;
    const onednn_library *l = w->library;
    (void)worker;
    int threads = begin_alone(l);
    for (uint64_t i = begin; i < end; i++) {
        const slice *s = &w->slices[i];
        int status = l->primitive_execute(s->primitive, s->stream, s->count, s->arguments);
        if (status) hg_atomic_store(&w->status, status, HG_RELAXED);
    }
    end_alone(l, threads);
}

hg_status cpu_native_execute(native_work *w) {
    hg_atomic_store(&w->status, 0, HG_RELAXED);
    if (w->plan->slices == 1)
        run_slices(w, 0, 1, 0);
    else
        hg_thread_pool_run(hg_thread_pool_global(), w->plan->slices, 1, run_slices, w);
    int status = hg_atomic_load(&w->status, HG_RELAXED);
    return HG_LIKELY(!status) ? HG_OK : failed(w->library, "the primitive", status);
}
