/* Work of a driver's compiler, on threads of its own: who asked for it waits for a limited time, then leaves it alone. A device is closed
 * when nothing of it is compiled any more.
 * Must not know: kernels, keys. */
#ifndef HG_CODE_COMPILER_H
#define HG_CODE_COMPILER_H

#include "base/thread.h"
#include "driver/driver.h"

typedef struct hg_compiler hg_compiler; /* of one device */

typedef struct hg_compile_job {
    hg_status (*run)(struct hg_compile_job *job);
    void (*late)(struct hg_compile_job *job); /* of a job that was left alone: its end, on its own thread; frees it */
    char name[64];                            /* of the kernel */
    /* the compiler's */
    hg_compiler *compiler;
    bool done, left;
    uint64_t start_ns;
    hg_status status;
    hg_error error; /* of a job that failed */
} hg_compile_job;

/* limit_ms: what one job may take; 0: as long as it likes. NULL compiler: jobs run where they are asked for. */
hg_status hg_compiler_create(const hg_driver *driver, hg_device *device, uint64_t limit_ms, hg_compiler **compiler) HG_NODISCARD;
/* Closes the device, now or when the last job that was left alone is over, and goes. NULL is allowed. */
void hg_compiler_close(hg_compiler *compiler);
/* Its status and error; the job is the caller's again. *left: it took too long and goes on, on its own; the error (F13) says so. */
hg_status hg_compiler_run(hg_compiler *compiler, hg_compile_job *job, bool *left) HG_NODISCARD;
/* The error of a launch while a job that was left alone goes on: drivers compile under locks, or in the queue that runs dispatches. */
hg_status hg_compiler_check(hg_compiler *compiler) HG_NODISCARD;
/* slow: called once, when a job has taken after_ms, by the thread that waits for it, with the kernel's name. NULL: nobody is called. Set before
 * there are devices. */
typedef void hg_compiler_slow(const char *kernel);
void hg_compiler_watch(hg_compiler_slow *slow, uint64_t after_ms);
/* Jobs of this process that were left alone and go on. */
uint32_t hg_compiler_left(void);

#endif
