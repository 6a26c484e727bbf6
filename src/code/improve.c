/* Better code in place of what a kernel has (driver.h: kernel_improve): made from the form before
 * legalisation, for what the driver wants to see in it. Either before the first launch, or on the
 * background thread when launches ask. Whatever fails, the kernel stays as it is.
 * Must not know: keys. */
#include "base/deep.h"
#include "code/code_internal.h"
#include <stdio.h>

enum { LOOK = 1, COMPILE = 2 };

/* Its high form, lowered for better code. */
static hg_status lower(hg_code_set *set, const hg_patience *patience, kir_module **low) {
    const kir_compilation c = {
        .caps = &set->caps->compiler.better, .patience = patience, .verify = set->verify};
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_LEGAL, KIR_STAGE_LOW, set->form.high, low));
    if ((*low)->inputs.count == set->input_count && (*low)->slots.count == set->slot_count)
        return HG_OK;
    kir_module_destroy(*low);
    return hg_fail(HG_ERROR_INTERNAL, "kernel '%s' has other inputs or slots in this form",
                   set->form.name);
}

static hg_patience patience_of(const hg_code_set *set) {
    uint64_t limit_ns, now = hg_clock_ns();
    if (!hg_mul_u64(set->improving.improve_limit_ms, 1000000, &limit_ns) ||
        limit_ns > UINT64_MAX - now)
        limit_ns = 0;
    return (hg_patience){.deadline_ns = limit_ns ? now + limit_ns : 0,
                         .stop = set->improving.background
                                     ? hg_background_closing(set->improving.background)
                                     : NULL};
}

/* The host's function. */
static void tell(const hg_code_set *set, const hg_code_report *told) {
    hg_code_listener *call = set->improving.ear
                                 ? hg_atomic_load(&set->improving.ear->call, HG_ACQUIRE)
                                 : NULL;
    HG_CALLS_OTHERS;
    if (call) call(set->improving.ear->user, told);
}

/* To the profile, and to who listens. */
static void report(const hg_code_set *set, hg_status status, uint64_t start, uint64_t start_ns) {
    hg_code_report told = {.size = sizeof told,
                           .kernel = set->form.name,
                           .native = status == HG_OK,
                           .reason = status == HG_OK ? "" : hg_error_record()->message,
                           .took_ns = hg_clock_ns() - start_ns};
    if (status == HG_OK) {
        hg_code_record(set, "native code", start);
    } else if (start) { /* once a kernel, which is not asked for again; once for all of them where
                           nothing compiles */
        char why[640];
        snprintf(why, sizeof why, "%s: %s", set->form.name, hg_error_record()->message);
        hg_profile_end(set->profile,
                       &(hg_profile_span){.kind = HG_PROFILE_COMPILE,
                                          .name = "no native code",
                                          .detail = why,
                                          .tells = true,
                                          .start_ns = start,
                                          .once = status == HG_ERROR_BACKEND_UNAVAILABLE});
    }
    tell(set, &told);
}

/* False: it would have to be compiled. */
static bool improve(hg_code_set *set, bool compile) {
    kir_module *low = NULL;
    const hg_patience patience = patience_of(set);
    uint64_t start = hg_profile_start(set->profile), start_ns = hg_clock_ns();
    hg_status status = lower(set, &patience, &low);
    if (status == HG_OK)
        status = set->driver->kernel_improve(set->device, set->kernel, low,
                                             compile ? &patience : NULL);
    if (status == HG_ERROR_WOULD_BLOCK && !compile) return false;
    if (!hg_patience_stopped(&patience)) report(set, status, start, start_ns);
    kir_module_destroy(set->form.high);
    set->form.high = NULL;
    hg_atomic_store(&set->improving.better, status == HG_OK ? HG_BETTER_MADE : HG_BETTER_NEVER,
                    HG_RELEASE);
    return true;
}

/* Of the job that has run or was dropped. */
static void end(hg_background_job *job) { hg_code_set_release(job->user); }

static void run(hg_background_job *job, uint32_t level) {
    hg_code_set *set = job->user;
    if (set->form.high) (void)improve(set, level == COMPILE);
    end(job);
}

static void ask(void *user, bool hot) {
    hg_code_set *set = user;
    hg_atomic_add_fetch(&set->references, 1, HG_RELAXED); /* the job's */
    if (!hg_background_add(set->improving.background, &set->improving.job, hot ? COMPILE : LOOK))
        hg_atomic_sub_fetch(&set->references, 1, HG_RELAXED);
}

static hg_status improve_at_once(void *user) {
    (void)improve(user, true);
    return HG_OK;
}

bool hg_code_improves(const hg_code_set *set) {
    hg_improves when = set->caps->compiler.improves;
    if (!set->driver->kernel_improve) return false;
    return when == HG_IMPROVES_AT_ONCE || (when == HG_IMPROVES_HOT && set->improving.background);
}

void hg_code_improve(hg_code_set *set) {
    if (set->caps->compiler.improves == HG_IMPROVES_AT_ONCE) {
        hg_error kept = *hg_error_record();
        HG_IGNORE(hg_call_deep(improve_at_once, set, "compiling"));
        *hg_error_record() = kept;
        return;
    }
    set->improving.job = (hg_background_job){.run = run, .drop = end, .user = set};
    if (set->driver->kernel_watch(set->kernel, ask, set)) return;
    kir_module_destroy(set->form.high);
    set->form.high = NULL;
    hg_atomic_store(&set->improving.better, HG_BETTER_NEVER, HG_RELEASE);
}

void hg_code_hurry(hg_code_set *set) {
    if (set->improving.job.run && hg_code_better(set) == HG_BETTER_LATER) ask(set, true);
}

hg_better hg_code_better(const hg_code_set *set) {
    return (hg_better)hg_atomic_load(&set->improving.better, HG_ACQUIRE);
}
