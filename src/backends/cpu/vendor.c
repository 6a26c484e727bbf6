/* Vendor steps: primitives of oneDNN, made once for a problem and kept, and their execution on the
 * threads of the pool.
 * Must not know: instructions. */
#include "backends/cpu/vendor_internal.h"
#include "base/deep.h"
#include "base/thread.h"
#include "base/thread_pool.h"
#include <stdio.h>
#include <string.h>

enum {
    MOST_SLICES = 64,
    MOST_KEPT = 256,            /* solutions */
    SOLUTION_BYTES = 128 << 10, /* of the budget: a primitive's code and tables, as the process
                               grows with a thousand of them */
};

typedef struct vendor_solution {
    struct vendor_solution *next; /* those that were used last come first */
    vendor_problem problem;
    uint32_t refs, slices;
    uint32_t rows; /* threads that are worth it: slice i is of row i mod rows, whose slices are done
                      one after another */
    vendor_cut wanted;
    uint64_t scratch_bytes; /* of a row */
    vendor_primitives of_slice[];
} vendor_solution;

struct cpu_vendor {
    bool all, as_measured;
    uint32_t threads;
    hg_budget *budget;
    vendor_solution *solutions; /* under onednn_lock */
    uint32_t count;
};

hg_status cpu_vendor_create(const char *word, bool as_measured, uint32_t threads, hg_budget *budget,
                            cpu_vendor **vendor) {
    bool on = word && strcmp(word, "on") == 0, off = word && strcmp(word, "off") == 0;
    *vendor = NULL;
    if (off) return HG_OK;
    *vendor = hg_calloc(1, sizeof **vendor);
    if (!*vendor) return hg_fail_memory();
    if (!threads) threads = hg_cpu_count();
    **vendor = (cpu_vendor){.all = on,
                            .as_measured = as_measured,
                            .threads = threads < MOST_SLICES ? threads : MOST_SLICES,
                            .budget = budget};
    return HG_OK;
}

/* ---- solutions ---- */

/* With one thread of its own, as it will run. */
static int begin_alone(const onednn_library *l) {
    int threads = l->omp_get_max_threads ? l->omp_get_max_threads() : 1;
    if (threads != 1) l->omp_set_num_threads(1);
    return threads;
}
static void end_alone(const onednn_library *l, int threads) {
    if (threads != 1) l->omp_set_num_threads(threads);
}

static void free_solution(const onednn_library *l, vendor_solution *solution) {
    for (uint32_t i = 0; i < solution->slices; i++)
        vendor_primitives_free(l, &solution->of_slice[i]);
    hg_free(solution);
}

static bool make_all_primitives(const onednn_library *l, vendor_solution *solution) {
    for (uint32_t i = 0; i < solution->slices; i++) {
        vendor_slice slice;
        vendor_slice_get(&solution->problem, solution->wanted, i, &slice);
        if (!vendor_primitives_make(l, &solution->problem, &slice, &solution->of_slice[i]))
            return false;
        if (solution->of_slice[i].scratch_bytes > solution->scratch_bytes)
            solution->scratch_bytes = solution->of_slice[i].scratch_bytes;
    }
    return true;
}

typedef struct solution_making {
    const onednn_library *library;
    vendor_solution *solution;
    bool good;
} solution_making;

static hg_status make_here(void *user) {
    solution_making *m = user;
    int threads = begin_alone(m->library);
    m->good = make_all_primitives(m->library, m->solution);
    end_alone(m->library, threads);
    return HG_OK;
}

static vendor_solution *make_solution(const cpu_vendor *vendor, const onednn_library *l,
                                      const vendor_problem *p) {
    vendor_cut wanted;
    uint32_t slices = vendor_slices(p, vendor->threads, &wanted);
    if (!hg_budget_take(vendor->budget, SOLUTION_BYTES)) return NULL;
    vendor_solution *solution = hg_calloc(1,
                                          sizeof *solution + slices * sizeof *solution->of_slice);
    if (solution) {
        solution->problem = *p;
        solution->slices = slices;
        solution->rows = slices < vendor->threads ? slices : vendor->threads;
        solution->wanted = wanted;
        solution_making making = {.library = l, .solution = solution};
        if (hg_call_deep(make_here, &making, "compiling") == HG_OK && making.good) return solution;
        free_solution(l, solution);
    }
    hg_budget_release(vendor->budget, SOLUTION_BYTES);
    return NULL;
}

/* ---- the solutions that are kept, under onednn_lock ---- */

static void drop_oldest(cpu_vendor *vendor, const onednn_library *l) {
    vendor_solution **oldest = NULL;
    for (vendor_solution **at = &vendor->solutions; *at; at = &(*at)->next)
        if ((*at)->refs == 0) oldest = at;
    if (!oldest) return;
    vendor_solution *solution = *oldest;
    *oldest = solution->next;
    free_solution(l, solution);
    hg_budget_release(vendor->budget, SOLUTION_BYTES);
    vendor->count--;
}

static vendor_solution *find_solution(cpu_vendor *vendor, const onednn_library *l,
                                      const vendor_problem *p, bool make) {
    vendor_solution **at = &vendor->solutions, *solution;
    while (*at && memcmp(&(*at)->problem, p, sizeof *p) != 0) at = &(*at)->next;
    solution = *at;
    if (solution)
        *at = solution->next;
    else if (make) {
        if (vendor->count >= MOST_KEPT) drop_oldest(vendor, l);
        solution = make_solution(vendor, l, p);
        vendor->count += solution != NULL;
    }
    if (!solution) return NULL;
    solution->next = vendor->solutions;
    return vendor->solutions = solution;
}

void cpu_vendor_destroy(cpu_vendor *vendor) {
    if (!vendor) return;
    const onednn_library *l = vendor->solutions ? onednn_get(NULL) : NULL;
    while (l && vendor->solutions) {
        vendor_solution *solution = vendor->solutions;
        vendor->solutions = solution->next;
        free_solution(l, solution);
        hg_budget_release(vendor->budget, SOLUTION_BYTES);
    }
    hg_free(vendor);
}

/* ---- calls ---- */

static bool is_wanted(const cpu_vendor *vendor, const vendor_problem *p, const onednn_library **l) {
    if (!vendor->all && (!vendor->as_measured || p->flushes)) return false;
    if (!vendor->all && !vendor_is_faster(p, -1))
        return false; /* on no CPU: the library is not even opened */
    *l = onednn_get(NULL);
    return *l && !onednn_is_parents() && vendor_is_exact_enough(p, (*l)->isa) &&
           (vendor->all || vendor_is_faster(p, (*l)->isa));
}

bool cpu_vendor_supports(cpu_vendor *vendor, const plan_call *call, uint64_t *scratch) {
    vendor_problem p;
    const onednn_library *l;
    if (!vendor || !vendor_problem_make(call, &p) || !is_wanted(vendor, &p, &l)) return false;
    onednn_lock();
    const vendor_solution *solution = find_solution(vendor, l, &p, true);
    if (solution) *scratch = solution->scratch_bytes * solution->rows;
    onednn_unlock();
    return solution != NULL;
}

void cpu_vendor_describe(cpu_vendor *vendor, const plan_call *call, char text[64]) {
    vendor_problem p;
    const onednn_library *l = vendor && vendor_problem_make(call, &p) ? onednn_get(NULL) : NULL;
    text[0] = 0;
    if (!l) return;
    onednn_lock();
    const vendor_solution *solution = find_solution(vendor, l, &p, false);
    if (solution) snprintf(text, 64, "%s %s", l->version, solution->of_slice[0].name);
    onednn_unlock();
}

bool cpu_vendor_by(char text[256]) {
    const onednn_library *l = onednn_get(text);
    if (l) snprintf(text, 256, "%s", l->version);
    return l != NULL;
}

/* ---- execution ---- */

typedef struct slice {
    const vendor_primitives *list;
    onednn_stream *stream;
    onednn_memory *memories[VENDOR_MEMORIES];
} slice;

struct vendor_work {
    const onednn_library *library;
    vendor_solution *solution;
    hg_limit *limit;
    int status; /* of a primitive that fails */
    slice slices[];
};

static int make_slice(const onednn_library *l, const vendor_solution *solution, uint32_t number,
                      uint8_t *const *arrays, uint8_t *scratch, slice *s) {
    const vendor_primitives *list = s->list = &solution->of_slice[number];
    int status = l->stream_create(&s->stream, l->engine, ONEDNN_IN_ORDER);
    for (int i = 0; i < VENDOR_MEMORIES && !status; i++) {
        if (!list->used[i]) continue;
        uint8_t *at = i < VENDOR_TENSORS
                          ? arrays[solution->problem.array[i]] + list->offset[i]
                          : scratch + number % solution->rows * solution->scratch_bytes +
                                list->place[i];
        status = l->memory_create(&s->memories[i], &list->layout[i], l->engine, at);
    }
    return status;
}

static hg_status failed(const onednn_library *l, const char *what, int status) {
    if (status == ONEDNN_OUT_OF_MEMORY) return hg_fail_memory();
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "cpu: %s: %s failed with status %d", l->version, what,
                   status);
}

hg_status cpu_vendor_make(cpu_vendor *vendor, const plan_call *call, uint8_t *const *arrays,
                          uint8_t *scratch, vendor_work **work) {
    vendor_problem p;
    const onednn_library *l = onednn_get(NULL);
    if (!l || !vendor_problem_make(call, &p))
        return hg_fail(HG_ERROR_INTERNAL, "a vendor step that is not supported");
    onednn_lock();
    vendor_solution *solution = find_solution(vendor, l, &p, true);
    if (solution) solution->refs++;
    onednn_unlock();
    if (!solution) return hg_fail_memory(); /* it was made before: what lacks now is memory */
    vendor_work *w = hg_calloc(1, sizeof *w + solution->slices * sizeof *w->slices);
    if (!w) {
        onednn_lock();
        solution->refs--;
        onednn_unlock();
        return hg_fail_memory();
    }
    w->library = l;
    w->solution = solution;
    int status = 0;
    for (uint32_t i = 0; i < solution->slices && !status; i++)
        status = make_slice(l, solution, i, arrays, scratch, &w->slices[i]);
    *work = w;
    if (!status) return HG_OK;
    cpu_vendor_release(w);
    return failed(l, "making a memory", status);
}

void cpu_vendor_release(vendor_work *w) {
    if (!w) return;
    const onednn_library *l = w->library;
    for (uint32_t i = 0; i < w->solution->slices; i++) {
        slice *s = &w->slices[i];
        for (int j = 0; j < VENDOR_MEMORIES; j++)
            if (s->memories[j]) l->memory_destroy(s->memories[j]);
        if (s->stream) l->stream_destroy(s->stream);
    }
    onednn_lock();
    w->solution->refs--;
    onednn_unlock();
    hg_free(w);
}

static int run_primitives(const onednn_library *l, const slice *s) {
    int status = 0;
    for (int i = 0; i < s->list->count && !status; i++) {
        const vendor_primitive *link = &s->list->all[i];
        onednn_argument arguments[VENDOR_MOST_ARGUMENTS];
        for (int j = 0; j < link->count; j++)
            arguments[j] = (onednn_argument){link->arguments[j].which,
                                             s->memories[link->arguments[j].memory]};
        status = l->primitive_execute(link->primitive, s->stream, link->count, arguments);
    }
    return status;
}

static void run_rows(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    vendor_work *w = user;
    const onednn_library *l = w->library;
    (void)worker;
    HG_CALLS_OTHERS;
    int threads = begin_alone(l);
    for (uint64_t row = begin; row < end; row++)
        for (uint64_t i = row; i < w->solution->slices && !hg_limit_look(w->limit);
             i += w->solution->rows) {
            int status = run_primitives(l, &w->slices[i]);
            if (status) hg_atomic_store(&w->status, status, HG_RELAXED);
        }
    end_alone(l, threads);
}

hg_status cpu_vendor_execute(vendor_work *w, hg_limit *limit) {
    w->limit = limit;
    hg_atomic_store(&w->status, 0, HG_RELAXED);
    if (w->solution->rows == 1)
        run_rows(w, 0, 1, 0);
    else
        hg_thread_pool_run(hg_thread_pool_global(), w->solution->rows, 1, run_rows, w);
    int status = hg_atomic_load(&w->status, HG_RELAXED);
    return HG_LIKELY(!status) ? HG_OK : failed(w->library, "the primitive", status);
}
