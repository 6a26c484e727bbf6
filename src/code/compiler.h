/* Work of a driver's compiler, on threads of its own: who asked for it looks or waits, for a
 * limited time; then it is left alone. A device is closed when nothing of it is compiled any more.
 * Must not know: kernels, keys. */
#ifndef HG_CODE_COMPILER_H
#define HG_CODE_COMPILER_H

#include "base/thread.h"
#include "driver/driver.h"

typedef struct hg_compiler hg_compiler; /* of one device */

/* What is to be compiled: pending, or made, or it cannot be made. */
typedef enum hg_code_state { HG_CODE_PENDING, HG_CODE_READY, HG_CODE_FAILED } hg_code_state;

/* Shared by whoever looks at it and, until it is over, by the compiler. */
typedef struct hg_compile_job {
    hg_status (*run)(struct hg_compile_job *job);
    void (*over)(struct hg_compile_job *job, hg_status status); /* before anybody learns of its end;
                                                                   NULL: nothing is to be done */
    void (*drop)(struct hg_compile_job *job); /* the compiler's share of it, at the end */
    char name[64];                            /* of the kernel */
    hg_mutex *lock;                           /* of what follows */
    hg_cond *changed;                         /* when it is over */
    /* the compiler's */
    hg_compiler *compiler;
    bool done, left;
    uint64_t start_ns;
    hg_status status;
    hg_error error; /* of a job that failed */
} hg_compile_job;

/* limit_ms: what one job may take; 0: as long as it likes. NULL compiler: jobs run where they are
 * begun. */
hg_status hg_compiler_create(const hg_driver *driver, hg_device *device, uint64_t limit_ms,
                             hg_compiler **compiler) HG_NODISCARD;
void hg_compiler_limit(hg_compiler *compiler, uint64_t limit_ms); /* of jobs that begin later */
void hg_compiler_finish(hg_compiler *compiler); /* waits until nothing is compiled. NULL is allowed
                                                 */
/* Closes the device, now or when the last job is over, and goes: it waits for no job. NULL is
 * allowed. */
void hg_compiler_close(hg_compiler *compiler);
/* Begins a job, which runs on a thread; where there is none, it is over when this returns. All of
 * it up to `changed` is set, the rest is zero. */
void hg_compiler_start(hg_compiler *compiler, hg_compile_job *job);
/* What came of it. FAILED: this thread's error says why; one that takes too long (F13) goes on, on
 * its own. */
hg_code_state hg_compiler_look(hg_compile_job *job);
/* Until it is over, or takes too long, or that moment has come; where there are threads. */
void hg_compiler_wait(hg_compile_job *job, uint64_t until_ns);
/* The error of a launch while a job that was left alone goes on: drivers compile under locks, or in
 * the queue that runs dispatches. */
hg_status hg_compiler_check(hg_compiler *compiler) HG_NODISCARD;
/* slow: called once, when a job has taken after_ms, by a thread that waits for it, with the
 * kernel's name. NULL: nobody is called. Set before there are devices. */
typedef void hg_compiler_slow(const char *kernel);
void hg_compiler_watch(hg_compiler_slow *slow, uint64_t after_ms);
/* Jobs of this process that go on and that nobody waits for: they took too long, or their backend
 * is gone. */
uint32_t hg_compiler_left(void);

#endif
