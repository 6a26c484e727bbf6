/* What the files of the plan machine share. */
#ifndef HG_RUNTIME_EXECUTE_INTERNAL_H
#define HG_RUNTIME_EXECUTE_INTERNAL_H

#include "runtime/run.h"

/* steps.c: performs a whole-array step or pool instruction; arguments come from the environment, a
 * result goes there. */
hg_status hg_run_step(hg_run *run, const plan_step *step) HG_NODISCARD;
/* Pools the program allocated: ids of its own choice are local to the launch; all go after a
 * failure. */
void hg_run_end_pools(hg_run *run, bool failed);

/* way.c: how launches of the binding are carried out until the driver has them ready; all else of
 * it is known. */
hg_launch_way hg_binding_choose_way(const hg_binding *binding);
/* Whether the launch of its one kernel may take so long that somebody must look at the time. */
bool hg_binding_needs_clock(const hg_binding *binding);

/* ---- ready.c ---- */
/* The driver's commands of a binding whose plan is steps alone that are the same in each launch, in
 * order, and which step each is of. */
enum { HG_MOST_PREPARED = 96 };
typedef struct hg_command_list {
    uint32_t count;
    bool later; /* there are none now, but may be after more launches */
    hg_driver_command commands[HG_MOST_PREPARED];
    uint32_t steps[HG_MOST_PREPARED];
} hg_command_list;
/* False: there are none. */
bool hg_ready_find(hg_binding *binding, hg_command_list *list);
/* Appends one. False: there are too many. */
bool hg_command_list_add(hg_command_list *list, const hg_driver_command *command, uint32_t step);
/* Those of an expansion, whose tables are made. */
bool hg_command_list_add_expansion(hg_command_list *list, hg_binding *binding,
                                   struct hg_bound_expansion *x, uint32_t step);
/* The commands that each launch of a binding is come again and again: the driver may make them
 * ready, and the way is READY then. Without that they are submitted each time, which always works.
 * steps NULL: they are of none. */
void hg_binding_prepare(hg_binding *binding, const hg_driver_command *commands,
                        const uint32_t *steps, uint32_t count);
/* The one command of a binding without steps is on the memory that its slots have now; where the
 * driver cannot do that it is submitted from now on. */
void hg_binding_move_ready(hg_binding *binding);
/* After a launch of a binding with steps: finds its commands and prepares them. */
void hg_binding_make_ready(hg_binding *binding);

/* handle_table.c: the handle table of open accesses as it is now, on the device. */
hg_status hg_table_update(hg_run *run) HG_NODISCARD;
/* launch.c: a kernel in device form, to its end. deadline, class memory and the like are in the
 * launch. */
hg_status hg_launch_wait(hg_stream *stream, hg_submission *dispatch, const hg_kernel *kernel,
                         const hg_driver_launch *launch, bool proven, bool unchanged,
                         hg_driver_fault *fault) HG_NODISCARD;
/* Whether no access of the launch can leave its bounds; bound->proven. */
bool hg_launch_proven(hg_binding *binding, uint32_t index, const hg_driver_launch *launch);
/* The same for a launch that is not repeated; returns before its end when there is nothing to look
 * at. */
hg_status hg_launch_only(hg_stream *stream, const hg_kernel *kernel, const hg_driver_launch *launch,
                         bool proven, hg_driver_fault *fault) HG_NODISCARD;

/* environment.c: uniform values that live across steps. */
hg_status hg_env_lay_out(hg_binding *binding) HG_NODISCARD;
/* Initial values, on the host and on the device. */
hg_status hg_env_begin(hg_run *run) HG_NODISCARD;
/* Whether the host does not know a value that an instruction needs. Then hg_env_fetch copies what
 * it does not know; it knows it when the run's work is done. */
bool hg_env_lacks(const hg_run *run, const plan_inst *inst);
hg_status hg_env_fetch(hg_run *run) HG_NODISCARD;
/* What a kernel wrote, for the kernels that come. */
hg_status hg_env_after_kernel(hg_run *run, uint32_t index) HG_NODISCARD;
/* Where a whole-array step writes its result for a register, of that many bytes; afterwards
 * hg_env_after_step, for the kernels that come. */
hg_range hg_env_result(const hg_binding *binding, const plan_step *step, uint64_t bytes);
hg_status hg_env_after_step(hg_run *run, const plan_step *step) HG_NODISCARD;
/* PLAN_COMPUTE. */
void hg_env_compute(hg_binding *binding, const plan_inst *inst);
/* A result that the host has (PLAN_BY_HOST). */
void hg_env_put(hg_binding *binding, const plan_step *step, uint64_t value);

/* binding.c: a driver's launch of a kernel, all but deadline, class memory and resolve. */
void hg_binding_fill_launch(const hg_binding *binding, uint32_t index, hg_driver_launch *launch);
/* Slots that are classes or the state are the context's from now on. *changed: before, they were
 * those of another context, or not known. */
hg_status hg_binding_use_context(hg_binding *binding, uint32_t index, hg_context *context,
                                 bool *changed) HG_NODISCARD;

/* profile_spans.c: what a profile records, called only while one records. A kernel's ends with the
 * run's event, or now. */
void hg_span_program(const hg_binding *binding, uint64_t start);
void hg_span_kernel(hg_run *run, uint32_t index, uint64_t start);
/* count: steps from this one on, which were done together. */
void hg_span_step(const hg_run *run, const plan_step *step, uint32_t count, uint64_t start);
void hg_span_wait(const hg_backend *b, const char *what, uint64_t start); /* below a microsecond
                                                                             nobody waited */

#endif
