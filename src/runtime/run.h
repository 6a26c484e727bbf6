/* A launch on its way through its plan. Must not know: plan code, steps. */
#ifndef HG_RUNTIME_RUN_H
#define HG_RUNTIME_RUN_H

#include "runtime/runtime.h"

typedef struct hg_pool_alias {
    uint64_t id, handle;
} hg_pool_alias;
typedef enum hg_run_state { HG_RUN_DONE, HG_RUN_WAITING, HG_RUN_FAILED } hg_run_state;
typedef struct hg_run {
    hg_binding *binding;
    hg_context *context;
    hg_stream *stream;
    uint32_t pc;
    uint64_t step; /* steps done so far, for faults */
    uint64_t deadline_ns;
    uint64_t compile_ns;     /* the context's when the run began: what came since moves the deadline */
    hg_driver_event *event;  /* what it waits for */
    hg_submission *dispatch; /* a launch with windows to come; NULL: none */
    uint32_t kernel;         /* its kernel */
    hg_profile_span span;    /* recorded when the event is done */
    uint64_t step_bytes;     /* moved by the last whole-array step, for profiles */
    hg_status status;
    HG_VEC(uint64_t) pools;        /* allocated by the program in this run */
    HG_VEC(hg_pool_alias) aliases; /* pool ids the program chose itself */
} hg_run;

/* The fault as the error of this thread. step: the steps that were done before it. */
hg_status hg_report_fault(const hg_executable *e, const hg_driver_fault *fault, uint64_t step);

/* ---- submissions ---- */
/* An event for the next submission, in run->event. */
hg_status hg_run_new_event(hg_run *run) HG_NODISCARD;
/* Hands commands to the driver. With an event the machine goes on when they are done. */
hg_status hg_run_submit(hg_run *run, const hg_driver_command *commands, uint32_t count) HG_NODISCARD;
/* The environment's host image to the device. */
hg_status hg_run_write_env(hg_run *run) HG_NODISCARD;

/* ---- memory ---- */
/* The range of a buffer, of a pool by the number the program uses (its own choice, or a handle), of a flat address's buffer or pool. */
hg_range hg_run_buffer(hg_run *run, uint64_t handle);
hg_range hg_run_pool(hg_run *run, uint64_t id);
hg_range hg_run_flat(hg_run *run, bool pool, uint64_t index);
/* The same as hg_driver_launch.resolve; run: an hg_run. */
hg_range hg_run_resolve(void *run, uint64_t handle, bool pool, bool flat);

#endif
