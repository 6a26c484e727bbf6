/* A launch of a kernel in device form, from begin to done: its code, memory, record, windows,
 * deadline and fault.
 * Must not know: programs, plans, handles. */
#include "kir/fault_text.h"
#include "runtime/dispatch_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- what dispatches share ---- */

void hg_dispatch_table_free(hg_dispatch_queue *queue) {
    hg_budget_release(queue->device->memory->budget, queue->table_words * 4);
    hg_free(queue->table);
    queue->table = NULL;
    queue->table_words = 0;
}

void hg_dispatch_queue_close(hg_dispatch_queue *queue) {
    const hg_dispatch_device *device = queue->device;
    if (!device || !device->driver) return;
    hg_fault_record_free(queue);
    hg_piece_free(device->memory, &queue->table_memory);
    hg_dispatch_table_free(queue);
    hg_free(queue->arenas);
}

void hg_dispatch_device_open(hg_dispatch_device *device, const hg_driver *driver, hg_device *handle,
                             hg_suballocator *memory) {
    device->driver = driver;
    device->device = handle;
    device->memory = memory;
    hg_mutex_init(&device->lock);
    hg_watchdog_init(&device->watchdog);
}

void hg_dispatch_device_close(hg_dispatch_device *device) {
    if (!device->driver) return;
    hg_watchdog_destroy(&device->watchdog);
    hg_piece_free(device->memory, &device->locks);
    hg_mutex_destroy(&device->lock);
}

void hg_dispatch_free(hg_submission *d) {
    if (d->device) hg_repeated_drop(&d->repeated, d->device->driver);
    if (d->set) hg_dispatch_stop_asking(d);
    if (d->set) hg_code_release(d->set, d->code);
    if (d->device) hg_piece_free(d->device->memory, &d->shared);
    hg_free(d->record.words);
    hg_free(d->slots);
    hg_ranges_forget(d);
    memset(d, 0, sizeof *d);
}

static hg_status check_arenas(const hg_submission *d) {
    uint32_t most = d->set->caps->compiler.target.max_arenas;
    if (d->set->caps->compiler.target.addressed || d->code->layout.table_slot < 0) return HG_OK;
    return hg_driver_check_table(d->queue->arena_count, most);
}

/* ---- the launch ---- */

/* Whether the driver would compile when the next window runs. */
static bool compiles_late(hg_submission *d) {
    const hg_driver *driver = d->set->driver;
    if (!driver->code_is_ready) return false;
    if (!d->one_window) hg_window_cut(d);
    return !driver->code_is_ready(d->command.kernel, &d->command);
}

void hg_dispatch_watch(hg_submission *d, uint64_t deadline_ns) {
    hg_dispatch_queue *queue = d->queue;
    d->time.deadline_ns = deadline_ns;
    if ((!d->time.deadline_ns && !d->launch->cancel) || !hg_fault_record_is_seen(d) ||
        d->code->layout.fault_slot < 0)
        return;
    hg_watchdog_remove(&queue->device->watchdog, &d->watch); /* while it waited only to be
                                                                cancelled, or for an earlier
                                                                deadline */
    d->watch.deadline_ns = d->time.deadline_ns ? d->time.deadline_ns : UINT64_MAX;
    d->watch.cancel = d->launch->cancel;
    d->watch.word = &hg_fault_record_words(queue, d->fault.number)[KIR_FAULT_CANCEL];
    hg_watchdog_add(&queue->device->watchdog, &d->watch);
}

hg_status hg_dispatch_begin(hg_submission *d, hg_code_set *set, hg_dispatch_queue *queue,
                            const hg_driver_launch *launch, bool proven, bool unchanged,
                            bool *waits) {
    static uint64_t queues;
    *waits = false;
    HG_TRY(hg_compiler_check(set->compiler));
    uint8_t record = hg_fault_record_find(queue);
    if (record == HG_FAULT_RECORDS)
        return hg_fail(HG_ERROR_INTERNAL, "more than %d launches that can fault are under way",
                       HG_FAULT_RECORDS);
    if (!queue->number) queue->number = hg_atomic_add_fetch(&queues, 1, HG_RELAXED);
    unchanged = unchanged && d->record.filled && d->record.queue_number == queue->number &&
                d->fault.number == record;
    if (!unchanged && d->device) hg_repeated_drop(&d->repeated, d->device->driver);
    d->time.compile_ns = 0;
    d->launch = launch;
    d->queue = queue;
    d->record.queue_number = queue->number;
    d->device = queue->device;
    d->set = set;
    d->fault.number = record;
    if (!unchanged) {
        d->fault.copied = false;
        d->record.filled = d->one_window = false;
        HG_TRY(hg_dispatch_choose(d, launch, proven, waits));
        if (*waits) return HG_OK;
        queue->compile_ns += d->time.compile_ns;
        HG_TRY(hg_launch_memory_make(d, launch, d->code->layout.locks_slot >= 0,
                                     d->code->layout.shared_slot >= 0));
        HG_TRY(check_arenas(d));
        hg_launch_record_slots(d);
        HG_TRY(hg_ranges_find(d));
        hg_launch_record_fill(d, false, 0);
        d->record.filled = true;
    }
    d->resumes = false;
    hg_window_rewind(d);
    if (!d->one_window) hg_window_cut(d); /* whether all of it is one is known from here on */
    hg_dispatch_watch(d, launch->deadline_ns ? launch->deadline_ns + d->time.compile_ns : 0);
    queue->faults[record].taken = d->code->layout.fault_slot >= 0;
    if (d->fault.copied) queue->faults[record].dirty = true;
    return HG_OK;
}

/* What it takes is not the launch's time. */
hg_status hg_dispatch_prepare(hg_submission *d, bool *waits) {
    hg_code_state state = HG_CODE_READY;
    *waits = false;
    if (!d->asked.preparing) {
        if (!compiles_late(d)) return HG_OK;
        hg_watchdog_remove(&d->queue->device->watchdog, &d->watch);
        d->asked.since_ns = hg_clock_ns();
        HG_TRY(hg_code_prepare(d->set, d->code, &d->command, &d->asked.preparing));
    }
    state = hg_code_prepare_look(d->asked.preparing);
    *waits = state == HG_CODE_PENDING;
    if (*waits) return HG_OK;
    uint64_t took = hg_clock_ns() - d->asked.since_ns;
    hg_dispatch_stop_asking(d);
    d->time.compile_ns += took;
    d->queue->compile_ns += took;
    hg_dispatch_watch(d, d->time.deadline_ns ? d->time.deadline_ns + took : 0);
    return state == HG_CODE_READY ? HG_OK : hg_error_record()->status;
}

void hg_dispatch_wait(hg_submission *d, uint64_t until_ns) {
    if (d->asked.code) hg_code_wait(d->asked.code, until_ns);
    if (d->asked.preparing) hg_code_prepare_wait(d->asked.preparing, until_ns);
}

hg_status hg_dispatch_submit(hg_submission *d, hg_driver_queue *driver_queue,
                             hg_driver_event *signal) {
    hg_driver_command commands[4];
    hg_dispatch_queue *queue = d->queue;
    uint32_t count = 0;
    bool copies = d->code->layout.fault_slot >= 0 && !hg_fault_record_is_seen(d);
    hg_fault_record *record = &queue->faults[d->fault.number];
    hg_range place = copies ? hg_fault_record_range(d) : (hg_range){NULL, 0, 0};
    if (!d->one_window && !d->resumes)
        hg_window_cut(d); /* else it is still there from the last time */
    if (copies && record->dirty)
        commands[count++] = (hg_driver_command){
            .kind = HG_CMD_COPY_IN, .to = place, .host = hg_fault_record_clean_words()};
    if (hg_window_leaves(d) ? !d->resumes
                            : d->shared.range.arena && d->left.first == 0 &&
                                  !(d->left.box[0] | d->left.box[1] | d->left.box[2]))
        commands[count++] = (hg_driver_command){.kind = HG_CMD_FILL, .to = d->shared.range};
    commands[count++] = (hg_driver_command){.kind = HG_CMD_DISPATCH, .dispatch = &d->command};
    if (copies)
        commands[count++] = (hg_driver_command){
            .kind = HG_CMD_COPY_OUT, .from = place, .host = record->copy};
    if (hg_window_is_measured(d)) d->window.started_ns = hg_clock_ns();
    if (copies) record->dirty = false; /* cleaned by the first command */
    d->window.recorded_ns = hg_profile_start(d->set->profile);
    if (d->one_window && count == 1 &&
        hg_repeated_find(&d->repeated, d->set->driver, d->device->device, commands, 1))
        return d->set->driver->recording_launch(driver_queue, d->repeated.recording, NULL, 0,
                                                signal);
    return d->set->driver->queue_submit(driver_queue, commands, count, NULL, 0, signal);
}

void hg_dispatch_cut(hg_submission *d, hg_driver_dispatch *command, void *record, hg_range *slots) {
    if (!d->one_window) hg_window_cut(d);
    *command = d->command;
    command->record = record;
    command->slots = slots;
    memcpy(record, d->command.record, d->command.record_bytes);
    if (d->command.slot_count)
        memcpy(slots, d->command.slots, d->command.slot_count * sizeof *slots);
}

bool hg_dispatch_step(hg_submission *d) { return !d->one_window && hg_window_step(d); }

static bool is_cancelled(const hg_submission *d) {
    return d->launch->cancel && hg_atomic_load(d->launch->cancel, HG_RELAXED);
}

static void time_out(hg_submission *d) {
    if (d->fault.found.happened) return;
    memset(&d->fault.found, 0, sizeof d->fault.found);
    d->fault.found.happened = true;
    d->fault.found.code = is_cancelled(d) ? KIR_FAULT_CANCELLED : KIR_FAULT_TIMEOUT;
    if (d->fault.found.code == KIR_FAULT_CANCELLED)
        snprintf(d->fault.found.message, sizeof d->fault.found.message, "cancelled");
    else
        kir_fault_text_timeout(d->fault.found.message, sizeof d->fault.found.message,
                               d->launch->timeout_ms);
}

static void finish(hg_submission *d) {
    hg_dispatch_queue *queue = d->queue;
    hg_fault_record *record = &queue->faults[d->fault.number];
    hg_watchdog_remove(&queue->device->watchdog, &d->watch);
    if (d->code->layout.fault_slot < 0) return;
    record->taken = false;
    if (!hg_fault_record_is_seen(d)) return;
    if (hg_atomic_load(&hg_fault_record_words(queue, d->fault.number)[KIR_FAULT_CANCEL],
                       HG_RELAXED))
        record->dirty = true;
    if (record->dirty) hg_fault_record_clean(queue, d->fault.number);
}

void hg_dispatch_abandon(hg_submission *d) {
    hg_dispatch_stop_asking(d);
    d->queue->faults[d->fault.number].dirty = true;
    d->record.filled = false;
    finish(d);
}

bool hg_dispatch_needs_wait(const hg_submission *d) {
    if (d->code->layout.fault_slot >= 0 || d->shared.range.arena) return true;
    return hg_window_is_measured(d) || d->window.ranges.count > 1 || !hg_window_is_one(d);
}

static void record_window(const hg_submission *d) {
    const uint32_t *groups = d->command.groups, *group = d->command.group;
    char detail[128];
    snprintf(detail, sizeof detail, "%s, %u x %u x %u groups of %u x %u x %u",
             hg_dispatch_is_flat(d) ? "flat" : "blocks", (unsigned)groups[0], (unsigned)groups[1],
             (unsigned)groups[2], (unsigned)group[0], (unsigned)group[1], (unsigned)group[2]);
    hg_profile_end(d->set->profile, &(hg_profile_span){.kind = HG_PROFILE_DISPATCH,
                                                       .name = d->set->form.name,
                                                       .detail = detail,
                                                       .start_ns = d->window.recorded_ns,
                                                       .lanes = d->window.lanes});
}

static bool is_over(const hg_submission *d) {
    return is_cancelled(d) || (d->time.deadline_ns && hg_clock_ns() >= d->time.deadline_ns);
}

bool hg_dispatch_done(hg_submission *d, hg_driver_fault *fault) {
    if (d->window.recorded_ns) record_window(d);
    d->window.recorded_ns = 0;
    bool stopped = hg_fault_record_read(d, &d->resumes), left = d->resumes;
    if (hg_window_is_measured(d) && !d->resumes) hg_window_measure(d);
    if (!d->one_window && !d->resumes) left = hg_window_step(d);
    /* Windows run in the order of lanes: with a fault before any barrier the others can only lose.
     */
    if (d->fault.found.happened && d->fault.found.phase == 0 && !d->resumes) left = false;
    if (stopped || (left && is_over(d))) {
        time_out(d);
        left = false;
    }
    if (!left) {
        d->resumes = false;
        finish(d);
        if (d->fault.found.happened) *fault = d->fault.found;
    } else if (hg_fault_record_is_seen(d) && d->queue->faults[d->fault.number].dirty) {
        hg_fault_record_clean(d->queue, d->fault.number);
    }
    return left;
}
