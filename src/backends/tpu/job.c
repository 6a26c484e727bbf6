/* Launches that somebody may stop waiting for. XLA cannot be told to stop: such a launch compiles
 * and runs on a thread of its own, and what it was given is the thread's from then on, until the
 * plugin is done with it.
 * Must not know: kernels. */
#include "backends/tpu/tpu_internal.h"
#include "kir/fault_text.h"
#include <stdio.h>

enum {
    LOOK_AGAIN_NS = 1000000,
    MOST_LEFT = 8 /* each has a thread, and memory of a compiler's */
};
static uint32_t left_jobs; /* that the plugin is not done with; atomic */

typedef struct tpu_job {
    pjrt_device *device;
    tpu_run run;
    hg_text text;
    hg_mutex lock;
    hg_cond changed;
    bool done, stopped, left; /* the plugin; before it ran; who waited */
    uint64_t began_ns;        /* when it was compiled; 0: not yet */
    hg_status status;
    hg_error error;
} tpu_job;

void tpu_free_run(tpu_run *r) {
    for (uint32_t i = 0; r->arguments && i < r->count; i++) tpu_free_buffer(r->arguments[i]);
    for (uint32_t i = 0; r->results && i < r->count; i++) tpu_free_buffer(r->results[i]);
    tpu_free_executable(r->code);
    hg_free(r->arguments);
    hg_free(r->results);
}

static void free_job(tpu_job *j) {
    tpu_free_run(&j->run);
    hg_text_free(&j->text);
    hg_cond_destroy(&j->changed);
    hg_mutex_destroy(&j->lock);
    hg_free(j);
}

static hg_status carry_out(tpu_job *j) {
    if (!j->run.code) HG_TRY(tpu_compile_text(&j->text, false, &j->run.code));
    hg_mutex_lock(&j->lock);
    bool stopped = j->stopped;
    j->began_ns = hg_clock_ns();
    hg_mutex_unlock(&j->lock);
    return stopped ? HG_OK
                   : tpu_execute(j->device, j->run.code, j->run.arguments, j->run.count,
                                 j->run.results);
}

static void *work(void *user) {
    tpu_job *j = user;
    hg_thread_name("hg-tpu");
    hg_status status = carry_out(j);
    hg_mutex_lock(&j->lock);
    bool left = j->left;
    j->status = status;
    if (status != HG_OK) j->error = *hg_error_record();
    j->done = true;
    hg_cond_signal(&j->changed);
    hg_mutex_unlock(&j->lock);
    if (!left) return NULL;
    free_job(j);
    (void)hg_atomic_sub_fetch(&left_jobs, 1, HG_SEQ_CST);
    return NULL;
}

enum { NOT_OVER = 0 }; /* else a kir_launch_fault */

/* since_ns: when its time began; 0: not yet. */
static uint8_t over(const hg_driver_launch *l, uint64_t since_ns) {
    if (l->cancel && hg_atomic_load(l->cancel, HG_SEQ_CST)) return KIR_FAULT_CANCELLED;
    if (!l->deadline_ns || !since_ns) return NOT_OVER;
    return (hg_clock_ns() - since_ns) / 1000000 >= l->timeout_ms ? KIR_FAULT_TIMEOUT : NOT_OVER;
}

/* Requires: the job's lock. */
static bool must_wait(const tpu_job *j) { return j->began_ns && j->run.in_place; }

/* Until there are fewer that were left. */
static uint8_t wait_for_place(tpu_job *j, const hg_driver_launch *l) {
    uint8_t why = NOT_OVER;
    uint64_t since_ns = hg_clock_ns();
    hg_mutex_lock(&j->lock);
    while (hg_atomic_load(&left_jobs, HG_SEQ_CST) >= MOST_LEFT &&
           (why = over(l, since_ns)) == NOT_OVER)
        (void)hg_cond_wait_until(&j->changed, &j->lock, hg_clock_ns() + LOOK_AGAIN_NS);
    hg_mutex_unlock(&j->lock);
    return why;
}

/* How it ended, by the plugin or by who waits. */
static uint8_t wait_for(tpu_job *j, const hg_driver_launch *l) {
    uint8_t why = NOT_OVER;
    hg_mutex_lock(&j->lock);
    while (!j->done && (must_wait(j) || (why = over(l, j->began_ns)) == NOT_OVER))
        (void)hg_cond_wait_until(&j->changed, &j->lock, hg_clock_ns() + LOOK_AGAIN_NS);
    j->stopped = why != NOT_OVER;
    hg_mutex_unlock(&j->lock);
    return why;
}

/* Arenas keep what they held before the launch, on the host: the device's copy is the job's. */
static void leave(tpu_job *j, hg_driver_arena *const *arenas) {
    for (uint32_t i = 0; i + 1 < j->run.count; i++) {
        hg_error kept = *hg_error_record();
        if (tpu_to_host(arenas[i]) != HG_OK) arenas[i]->on_host = true; /* nobody knows it */
        *hg_error_record() = kept;
        arenas[i]->buffer = NULL;
    }
    hg_mutex_lock(&j->lock);
    bool done = j->done;
    j->left = true;
    if (!done) (void)hg_atomic_fetch_add(&left_jobs, 1, HG_SEQ_CST);
    hg_mutex_unlock(&j->lock);
    if (done) free_job(j);
}

static void tell(const hg_driver_launch *l, uint8_t why, hg_driver_fault *f) {
    if (!f) return;
    *f = (hg_driver_fault){.happened = true, .code = why};
    if (why == KIR_FAULT_TIMEOUT)
        kir_fault_text_timeout(f->message, sizeof f->message, l->timeout_ms);
    else
        (void)snprintf(f->message, sizeof f->message, "cancelled");
}

hg_status tpu_run_watched(hg_device *device, const hg_driver_launch *launch, hg_text *text,
                          hg_driver_arena *const *arenas, tpu_run *run, hg_driver_fault *fault,
                          bool *left) {
    tpu_job *j = hg_calloc(1, sizeof *j);
    hg_thread thread;
    *left = false;
    if (!j) return hg_fail_memory();
    j->device = device->device;
    j->run = *run;
    j->text = *text;
    hg_mutex_init(&j->lock);
    hg_cond_init(&j->changed);
    uint8_t why = wait_for_place(j, launch);
    bool started = why == NOT_OVER && hg_thread_start(&thread, work, j);
    if (started) {
        hg_thread_detach(thread);
        why = wait_for(j, launch);
    } else if (why == NOT_OVER) {
        (void)work(j);
    }
    *left = why != NOT_OVER;
    hg_status status = *left ? HG_OK : j->status;
    if (status != HG_OK) *hg_error_record() = j->error;
    if (*left) tell(launch, why, fault);
    if (!*left || !started) { /* it is the caller's again */
        *run = j->run;
        *text = j->text;
        j->run = (tpu_run){0};
        j->text = (hg_text){0};
        free_job(j);
        return status;
    }
    *run = (tpu_run){0};
    *text = (hg_text){0};
    leave(j, arenas);
    return HG_OK;
}
