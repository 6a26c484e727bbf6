/* Circuits over arrays: copies of a class's size go through class memory piece by piece.
 * Must not know: the circuit language, which driver it runs on. */
#include "base/sized.h"
#include "base/stream.h"
#include "base/thread_pool.h"
#include "runtime/client.h"
#include <hologram/circuit_run.h>
#include <stdio.h>
#include <string.h>

enum {
    PARALLEL_FROM = 128, /* pieces: below, another thread's class memory costs more than it brings
                          */
    PIECES_AT_ONCE = 16  /* a thread takes so many that follow each other */
};

/* Class memory and launches of one thread. */
typedef struct runner {
    uint64_t element;    /* bytes */
    hg_context *context; /* NULL: not made yet */
    hg_binding *whole, *rest;
    uint8_t *memory; /* class memory as the host sees it; NULL where it does not */
    hg_profile *profile;
} runner;

typedef struct circuit_run {
    hg_backend *backend;
    hg_executable *executable;
    const hg_class_array *arrays;
    size_t count;
    uint64_t elements, timeout_ms;
    uint64_t piece, element;        /* elements of a class; bytes of one */
    bool past_caches;               /* outputs are far larger than caches */
    uint8_t zeroed[HG_MAX_CLASSES]; /* classes that a piece finds changed by the one before, and
                                       that have no input */
    uint32_t zeroed_count;
    runner *runners;
    hg_mutex lock; /* for the rest */
    uint64_t failed_piece;
    hg_status status;
    hg_error error;
} circuit_run;

/* ---- checks ---- */

static hg_status unknown_class(const hg_translated_program *circuit, uint32_t cls) {
    char names[HG_MAX_CLASSES * 5 + 1] = "";
    size_t length = 0;
    for (uint32_t c = 0; c < HG_MAX_CLASSES; c++)
        if (circuit->class_use[c])
            length += (size_t)snprintf(names + length, sizeof names - length, "%sc%02u",
                                       length ? ", " : "", (unsigned)c);
    return hg_binding_error(
        "P01", "unknown parameter: the circuit does not name class c%02u (it names %s)",
        (unsigned)cls, length ? names : "none");
}

static bool has_input(const hg_class_array *a) { return a->input || a->input_buffer.handle; }
static bool has_output(const hg_class_array *a) { return a->output || a->output_buffer.handle; }

static hg_status check_array(const circuit_run *run, size_t i) {
    const hg_class_array *a = &run->arrays[i];
    unsigned cls = a->cls;
    for (size_t k = 0; k < i; k++)
        if (run->arrays[k].cls == cls)
            return hg_binding_error("P04", "class c%02u is given twice", cls);
    if (has_input(a) && a->input_count > run->elements)
        return hg_binding_error("P04", "class c%02u: its input has %llu elements, the run %llu",
                                cls, (unsigned long long)a->input_count,
                                (unsigned long long)run->elements);
    if (has_output(a) && a->output_count < run->elements)
        return hg_binding_error(
            "P04", "class c%02u: its output has room for %llu elements, the run has %llu", cls,
            (unsigned long long)a->output_count, (unsigned long long)run->elements);
    if ((a->input && a->input_buffer.handle) || (a->output && a->output_buffer.handle))
        return hg_binding_error("P04", "class c%02u is given as host memory and as a buffer", cls);
    return HG_OK;
}

static hg_status check(circuit_run *run, const hg_translated_program *circuit,
                       const hg_circuit_launch *launch) {
    uint64_t longest = 0;
    bool any = false;
    for (size_t i = 0; i < run->count; i++) {
        const hg_class_array *a = &run->arrays[i];
        if (a->cls >= HG_MAX_CLASSES || !circuit->class_use[a->cls])
            return unknown_class(circuit, a->cls);
        if (!has_input(a)) continue;
        any = true;
        if (a->input_count > longest) longest = a->input_count;
    }
    run->elements = launch->elements ? launch->elements : longest;
    if (!any && !run->elements)
        return hg_binding_error("P07",
                                "no class has an input and the number of elements is not given");
    for (size_t i = 0; i < run->count; i++) HG_TRY(check_array(run, i));
    if (run->elements > HG_MAX_LANES)
        return hg_binding_error("P08", "launch too large: %llu lanes, at most %llu",
                                (unsigned long long)run->elements,
                                (unsigned long long)HG_MAX_LANES);
    if (circuit->whole_array && run->elements > run->piece)
        return hg_binding_error("P08",
                                "launch too large: the circuit reduces over a class or takes its "
                                "softmax, which is possible for at most "
                                "%d elements, the size of a class; the arrays have %llu",
                                (int)run->piece, (unsigned long long)run->elements);
    return HG_OK;
}

static void find_zeroed(circuit_run *run, const hg_translated_program *circuit) {
    bool given[HG_MAX_CLASSES] = {false};
    for (size_t i = 0; i < run->count; i++) given[run->arrays[i].cls] |= has_input(&run->arrays[i]);
    for (uint32_t c = 0; c < HG_MAX_CLASSES; c++)
        if (!given[c] && (circuit->class_use[c] & HG_CLASS_READ) &&
            (circuit->class_use[c] & HG_CLASS_WRITTEN))
            run->zeroed[run->zeroed_count++] = (uint8_t)c;
}

/* ---- copies ---- */

/* Host memory and class memory of the host: a plain copy. */
static void note_copy(const runner *r, hg_profile_kind kind, uint64_t start, uint64_t bytes) {
    if (start)
        hg_profile_end(
            r->profile,
            &(hg_profile_span){.kind = kind, .name = "class", .start_ns = start, .bytes = bytes});
}

static hg_status zero(const runner *r, uint32_t cls, uint64_t from, uint64_t count) {
    if (!count) return HG_OK;
    if (!r->memory)
        return hg_fill(r->context, HG_CIRCUIT_HANDLE(cls), from * r->element, count * r->element,
                       0);
    memset(r->memory + (size_t)cls * HG_MAX_CLASS_BYTES + from * r->element, 0,
           (size_t)count * r->element);
    return HG_OK;
}

static hg_status fill(const runner *r, const hg_class_array *a, uint64_t first, uint64_t count) {
    uint64_t given = a->input_count > first ? a->input_count - first : 0;
    if (given > count) given = count;
    HG_TRY(zero(r, a->cls, given, count - given));
    if (!given) return HG_OK;
    if (!a->input)
        return hg_copy_between(r->context, HG_CIRCUIT_HANDLE(a->cls), 0, a->input_buffer.handle,
                               first * r->element, given * r->element);
    if (!r->memory)
        return hg_context_write(r->context, HG_CIRCUIT_HANDLE(a->cls), 0,
                                (const uint8_t *)(const void *)a->input + first * r->element,
                                given * r->element);
    uint64_t start = hg_profile_start(r->profile);
    memcpy(r->memory + (size_t)a->cls * HG_MAX_CLASS_BYTES,
           (const uint8_t *)(const void *)a->input + first * r->element,
           (size_t)given * r->element);
    note_copy(r, HG_PROFILE_COPY_IN, start, given * r->element);
    return HG_OK;
}

static hg_status fetch(const circuit_run *run, const runner *r, const hg_class_array *a,
                       uint64_t first, uint64_t count) {
    if (!a->output)
        return hg_copy_between(r->context, a->output_buffer.handle, first * r->element,
                               HG_CIRCUIT_HANDLE(a->cls), 0, count * r->element);
    if (!r->memory)
        return hg_context_read(r->context, HG_CIRCUIT_HANDLE(a->cls), 0,
                               (uint8_t *)(void *)a->output + first * r->element,
                               count * r->element);
    const uint8_t *from = r->memory + (size_t)a->cls * HG_MAX_CLASS_BYTES;
    uint64_t start = hg_profile_start(r->profile);
    if (run->past_caches)
        hg_stream((uint8_t *)(void *)a->output + first * r->element, from,
                  (size_t)count * r->element);
    else
        memcpy((uint8_t *)(void *)a->output + first * r->element, from, (size_t)count * r->element);
    note_copy(r, HG_PROFILE_COPY_OUT, start, count * r->element);
    return HG_OK;
}

/* ---- pieces ---- */

static hg_status open_runner(const circuit_run *run, runner *r) {
    r->profile = hg_backend_profile(run->backend);
    r->element = run->element;
    HG_TRY(hg_context_create(run->backend, &r->context));
    HG_TRY(hg_context_class_image(r->context, &r->memory));
    hg_launch launch = hg_launch_linear(run->piece);
    launch.timeout_ms = run->timeout_ms;
    if (run->elements >= run->piece)
        HG_TRY(hg_binding_create(run->executable, &launch, NULL, &r->whole));
    if (run->elements % run->piece == 0) return HG_OK;
    launch = hg_launch_linear(run->elements % run->piece);
    launch.timeout_ms = run->timeout_ms;
    return hg_binding_create(run->executable, &launch, NULL, &r->rest);
}

static hg_status run_piece(const circuit_run *run, runner *r, uint64_t piece) {
    uint64_t first = piece * run->piece,
             count = run->elements - first < run->piece ? run->elements - first : run->piece;
    for (uint32_t i = 0; i < run->zeroed_count; i++) HG_TRY(zero(r, run->zeroed[i], 0, count));
    for (size_t i = 0; i < run->count; i++)
        if (has_input(&run->arrays[i])) HG_TRY(fill(r, &run->arrays[i], first, count));
    HG_TRY(hg_binding_launch_in(count == run->piece ? r->whole : r->rest, r->context));
    for (size_t i = 0; i < run->count; i++)
        if (has_output(&run->arrays[i])) HG_TRY(fetch(run, r, &run->arrays[i], first, count));
    return HG_OK;
}

static void note_failure(circuit_run *run, uint64_t piece, hg_status status) {
    hg_mutex_lock(&run->lock);
    if (run->status == HG_OK || piece < run->failed_piece) {
        run->status = status;
        run->failed_piece = piece;
        run->error = *hg_error_record();
    }
    hg_mutex_unlock(&run->lock);
}

static bool has_failed(circuit_run *run) {
    hg_mutex_lock(&run->lock);
    bool failed = run->status != HG_OK;
    hg_mutex_unlock(&run->lock);
    return failed;
}

static void run_pieces(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    circuit_run *run = user;
    runner *r = &run->runners[worker];
    uint64_t piece = begin;
    if (has_failed(run)) return;
    hg_status status = r->context ? HG_OK : open_runner(run, r);
    for (; status == HG_OK && piece < end; piece++) status = run_piece(run, r, piece);
    hg_stream_end();
    if (status != HG_OK) note_failure(run, piece, status);
}

static void close_runner(runner *r) {
    hg_binding_destroy(r->whole);
    hg_binding_destroy(r->rest);
    hg_context_destroy(r->context);
}

static hg_status run_all(circuit_run *run) {
    uint64_t pieces = run->elements / run->piece + (run->elements % run->piece != 0);
    bool parallel = hg_backend_is_host(run->backend) && hg_backend_threads(run->backend) != 1 &&
                    pieces >= PARALLEL_FROM;
    uint32_t most = parallel ? HG_THREAD_POOL_MAX : 1;
    run->runners = hg_calloc(most, sizeof *run->runners);
    if (!run->runners) return hg_fail_memory();
    run->past_caches = hg_stream_wanted(run->elements * run->element);
    hg_mutex_init(&run->lock);
    if (parallel)
        hg_thread_pool_run(hg_thread_pool_global(), pieces, PIECES_AT_ONCE, run_pieces, run);
    else if (pieces)
        run_pieces(run, 0, pieces, 0);
    for (uint32_t i = 0; i < most; i++) close_runner(&run->runners[i]);
    hg_mutex_destroy(&run->lock);
    hg_free(run->runners);
    if (run->status != HG_OK) *hg_error_record() = run->error;
    return run->status;
}

/* ---- without waiting ---- */

/* Commands that are submitted together. */
enum { COMMANDS = 4096 };

typedef struct submission {
    hg_queue *queue;
    hg_command *commands;
    size_t count;
    hg_event *const *waits; /* of the first */
    size_t wait_count;
    hg_event *last; /* of what was submitted before; NULL: nothing was */
} submission;

static hg_status submit(submission *s) {
    hg_event *behind = s->last, *signal = NULL;
    hg_status status = hg_queue_submit(s->queue, s->commands, s->count, behind ? &behind : s->waits,
                                       behind ? 1 : s->wait_count, &signal);
    if (status != HG_OK) return status;
    hg_event_destroy(behind);
    s->last = signal;
    s->count = 0;
    return HG_OK;
}

static hg_status append(submission *s, hg_command command) {
    if (s->count == COMMANDS) HG_TRY(submit(s));
    command.size = sizeof command;
    s->commands[s->count++] = command;
    return HG_OK;
}

static hg_status append_zeros(submission *s, const circuit_run *run, uint32_t cls, uint64_t from,
                              uint64_t count) {
    if (!count) return HG_OK;
    return append(s, (hg_command){.kind = HG_COMMAND_FILL,
                                  .buffer = {HG_CIRCUIT_HANDLE(cls)},
                                  .offset = from * run->element,
                                  .length = count * run->element});
}

static hg_status append_input(submission *s, const circuit_run *run, const hg_class_array *a,
                              uint64_t first, uint64_t count) {
    uint64_t given = a->input_count > first ? a->input_count - first : 0;
    if (given > count) given = count;
    HG_TRY(append_zeros(s, run, a->cls, given, count - given));
    if (!given) return HG_OK;
    hg_command copy = {.kind = HG_COMMAND_COPY,
                       .buffer = {HG_CIRCUIT_HANDLE(a->cls)},
                       .source = a->input_buffer,
                       .source_offset = first * run->element,
                       .length = given * run->element};
    if (a->input) {
        copy.kind = HG_COMMAND_COPY_IN;
        copy.source = (hg_buffer){0};
        copy.source_offset = 0;
        copy.host = (uint8_t *)(uintptr_t)a->input + first * run->element;
    }
    return append(s, copy);
}

static hg_status append_output(submission *s, const circuit_run *run, const hg_class_array *a,
                               uint64_t first, uint64_t count) {
    hg_command copy = {.kind = HG_COMMAND_COPY,
                       .buffer = a->output_buffer,
                       .offset = first * run->element,
                       .source = {HG_CIRCUIT_HANDLE(a->cls)},
                       .length = count * run->element};
    if (a->output) {
        copy.kind = HG_COMMAND_COPY_OUT;
        copy.buffer = copy.source;
        copy.source = (hg_buffer){0};
        copy.offset = 0;
        copy.host = (uint8_t *)(void *)a->output + first * run->element;
    }
    return append(s, copy);
}

static hg_status append_piece(submission *s, const circuit_run *run, hg_binding *binding,
                              uint64_t first, uint64_t count) {
    for (uint32_t i = 0; i < run->zeroed_count; i++)
        HG_TRY(append_zeros(s, run, run->zeroed[i], 0, count));
    for (size_t i = 0; i < run->count; i++)
        if (has_input(&run->arrays[i])) HG_TRY(append_input(s, run, &run->arrays[i], first, count));
    HG_TRY(append(s, (hg_command){.kind = HG_COMMAND_LAUNCH, .binding = binding}));
    for (size_t i = 0; i < run->count; i++)
        if (has_output(&run->arrays[i]))
            HG_TRY(append_output(s, run, &run->arrays[i], first, count));
    return HG_OK;
}

static hg_status bind_pieces(const circuit_run *run, uint64_t elements, hg_binding **binding) {
    if (!elements) return HG_OK;
    hg_launch launch = hg_launch_linear(elements);
    launch.timeout_ms = run->timeout_ms;
    return hg_binding_create(run->executable, &launch, NULL, binding);
}

static hg_status submit_all(const circuit_run *run, submission *s) {
    uint64_t left = run->elements % run->piece;
    hg_binding *whole = NULL, *rest = NULL;
    s->commands = hg_calloc(COMMANDS, sizeof *s->commands);
    hg_status status = s->commands ? HG_OK : hg_fail_memory();
    if (status == HG_OK)
        status = bind_pieces(run, run->elements >= run->piece ? run->piece : 0, &whole);
    if (status == HG_OK) status = bind_pieces(run, left, &rest);
    for (uint64_t first = 0; status == HG_OK && first < run->elements; first += run->piece) {
        uint64_t count = run->elements - first < run->piece ? run->elements - first : run->piece;
        status = append_piece(s, run, count == run->piece ? whole : rest, first, count);
    }
    if (status == HG_OK && (s->count || !s->last)) status = submit(s);
    hg_error kept = *hg_error_record();
    hg_binding_destroy(whole); /* what was submitted of it goes on to its end */
    hg_binding_destroy(rest);
    hg_free(s->commands);
    if (status != HG_OK) *hg_error_record() = kept;
    return status;
}

/* What both ways take and check. */
static hg_status begin(circuit_run *run, const hg_translated_program *circuit,
                       const hg_circuit_launch *launch) {
    static const hg_sized launch_rules = HG_SIZED(hg_circuit_launch, elements,
                                                  "use HG_CIRCUIT_LAUNCH_INIT");
    static const hg_sized circuit_rules = HG_SIZED(hg_translated_program, whole_array,
                                                   "hg_circuit_to_isa_translate fills it");
    hg_circuit_launch own = HG_CIRCUIT_LAUNCH_INIT;
    hg_translated_program translated = {.element_type = HG_TYPE_F32}; /* of an older caller */
    if (!circuit || !circuit->program) return hg_null_argument("circuit");
    if (!run->arrays && run->count) return hg_null_argument("arrays");
    HG_TRY(hg_sized_take(&circuit_rules, circuit, &translated));
    if (launch) HG_TRY(hg_sized_take(&launch_rules, launch, &own));
    run->timeout_ms = own.timeout_ms;
    if (translated.element_type >= HG_TYPE_COUNT)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "circuit: element_type is %llu, no type",
                       (unsigned long long)translated.element_type);
    run->element = hg_type_size_bytes((hg_type)translated.element_type);
    run->piece = hg_circuit_class_elements((hg_type)translated.element_type);
    HG_TRY(check(run, &translated, &own));
    find_zeroed(run, &translated);
    return hg_executable_create(run->backend, translated.program, &run->executable);
}

hg_status hg_circuit_submit(hg_queue *queue, const hg_translated_program *circuit,
                            const hg_circuit_launch *launch, const hg_class_array *arrays,
                            size_t count, hg_event *const *waits, size_t wait_count,
                            hg_event **signal) {
    HG_ENTRY;
    if (signal) *signal = NULL;
    if (!queue) return hg_null_argument("queue");
    if (!waits && wait_count) return hg_null_argument("waits");
    circuit_run run = {.backend = hg_queue_backend(queue), .arrays = arrays, .count = count};
    submission s = {.queue = queue, .waits = waits, .wait_count = wait_count};
    HG_TRY(begin(&run, circuit, launch));
    hg_status status = submit_all(&run, &s);
    hg_executable_destroy(run.executable);
    if (status == HG_OK && signal)
        *signal = s.last;
    else
        hg_event_destroy(s.last);
    return status;
}

hg_status hg_circuit_run(hg_backend *backend, const hg_translated_program *circuit,
                         const hg_circuit_launch *launch, const hg_class_array *arrays,
                         size_t count) {
    HG_ENTRY;
    if (!backend) return hg_null_argument("backend");
    circuit_run run = {.backend = backend, .arrays = arrays, .count = count};
    HG_TRY(begin(&run, circuit, launch));
    hg_status status = run_all(&run);
    hg_executable_destroy(run.executable);
    return status;
}
