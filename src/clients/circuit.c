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
    struct runner *runners;
    hg_mutex lock; /* for the rest */
    uint64_t failed_piece;
    hg_status status;
    hg_error error;
} circuit_run;

/* Launches of a whole piece and of what is left. */
typedef struct launches {
    const circuit_run *run;
    hg_binding *whole, *rest; /* NULL: there is none */
} launches;

/* Class memory and launches of one thread. */
typedef struct runner {
    launches launches;
    hg_context *context; /* NULL: not made yet */
    uint8_t *memory;     /* class memory as the host sees it; NULL where it does not */
    hg_profile *profile;
} runner;

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

/* ---- what a piece is, in commands ---- */

typedef hg_status command_taker(void *user, const hg_command *command);

typedef struct part {
    const circuit_run *run;
    uint64_t first, count; /* elements */
    command_taker *take;
    void *user;
} part;

static hg_status give(const part *p, hg_command command) {
    command.size = sizeof command;
    return p->take(p->user, &command);
}

static hg_status give_zeros(const part *p, uint32_t cls, uint64_t from) {
    if (from == p->count) return HG_OK;
    return give(p, (hg_command){.kind = HG_COMMAND_FILL,
                                .buffer = {HG_CIRCUIT_HANDLE(cls)},
                                .offset = from * p->run->element,
                                .length = (p->count - from) * p->run->element});
}

/* Where an array ends, zeros follow. */
static hg_status give_input(const part *p, const hg_class_array *a) {
    const uint64_t at = p->first * p->run->element;
    uint64_t given = a->input_count > p->first ? a->input_count - p->first : 0;
    if (given > p->count) given = p->count;
    HG_TRY(give_zeros(p, a->cls, given));
    if (!given) return HG_OK;
    hg_command copy = {.kind = a->input ? HG_COMMAND_COPY_IN : HG_COMMAND_COPY,
                       .buffer = {HG_CIRCUIT_HANDLE(a->cls)},
                       .length = given * p->run->element};
    if (a->input) {
        copy.host = (uint8_t *)(uintptr_t)a->input + at;
    } else {
        copy.source = a->input_buffer;
        copy.source_offset = at;
    }
    return give(p, copy);
}

static hg_status give_output(const part *p, const hg_class_array *a) {
    const uint64_t at = p->first * p->run->element, length = p->count * p->run->element;
    const hg_buffer from = {HG_CIRCUIT_HANDLE(a->cls)};
    if (a->output)
        return give(p, (hg_command){.kind = HG_COMMAND_COPY_OUT,
                                    .buffer = from,
                                    .length = length,
                                    .host = (uint8_t *)(void *)a->output + at});
    return give(p, (hg_command){.kind = HG_COMMAND_COPY,
                                .buffer = a->output_buffer,
                                .offset = at,
                                .source = from,
                                .length = length});
}

static hg_status give_piece(const part *p, hg_binding *binding) {
    const circuit_run *run = p->run;
    for (uint32_t i = 0; i < run->zeroed_count; i++) HG_TRY(give_zeros(p, run->zeroed[i], 0));
    for (size_t i = 0; i < run->count; i++)
        if (has_input(&run->arrays[i])) HG_TRY(give_input(p, &run->arrays[i]));
    HG_TRY(give(p, (hg_command){.kind = HG_COMMAND_LAUNCH, .binding = binding}));
    for (size_t i = 0; i < run->count; i++)
        if (has_output(&run->arrays[i])) HG_TRY(give_output(p, &run->arrays[i]));
    return HG_OK;
}

static uint64_t count_pieces(const circuit_run *run) {
    return run->elements / run->piece + (run->elements % run->piece != 0);
}

/* Piece number n of the run. */
static hg_status give_number(const launches *of, uint64_t n, command_taker *take, void *user) {
    const circuit_run *run = of->run;
    part p = {.run = run, .first = n * run->piece, .count = run->piece, .take = take, .user = user};
    if (run->elements - p.first < p.count) p.count = run->elements - p.first;
    return give_piece(&p, p.count == run->piece ? of->whole : of->rest);
}

static hg_status bind(const circuit_run *run, uint64_t elements, hg_binding **binding) {
    if (!elements) return HG_OK;
    hg_launch launch = hg_launch_linear(elements);
    launch.timeout_ms = run->timeout_ms;
    return hg_binding_create(run->executable, &launch, NULL, binding);
}

static hg_status open_launches(const circuit_run *run, launches *p) {
    p->run = run;
    HG_TRY(bind(run, run->elements >= run->piece ? run->piece : 0, &p->whole));
    return bind(run, run->elements % run->piece, &p->rest);
}

static void close_launches(launches *p) {
    hg_binding_destroy(p->whole);
    hg_binding_destroy(p->rest);
}

/* ---- waiting ---- */

/* Host memory and class memory of the host: a plain copy. */
static void note_copy(const runner *r, hg_profile_kind kind, uint64_t start, uint64_t bytes) {
    if (start)
        hg_profile_end(
            r->profile,
            &(hg_profile_span){.kind = kind, .name = "class", .start_ns = start, .bytes = bytes});
}

/* The place in class memory that a command names. */
static uint8_t *image_of(const runner *r, const hg_command *c) {
    return r->memory + (c->buffer.handle - HG_CIRCUIT_HANDLE(0)) * HG_MAX_CLASS_BYTES + c->offset;
}

static hg_status copy_in(const runner *r, const hg_command *c) {
    if (!r->memory)
        return hg_context_write(r->context, c->buffer.handle, c->offset, c->host, c->length);
    uint64_t start = hg_profile_start(r->profile);
    memcpy(image_of(r, c), c->host, (size_t)c->length);
    note_copy(r, HG_PROFILE_COPY_IN, start, c->length);
    return HG_OK;
}

static hg_status copy_out(const runner *r, const hg_command *c) {
    if (!r->memory)
        return hg_context_read(r->context, c->buffer.handle, c->offset, c->host, c->length);
    uint64_t start = hg_profile_start(r->profile);
    if (r->launches.run->past_caches)
        hg_stream(c->host, image_of(r, c), (size_t)c->length);
    else
        memcpy(c->host, image_of(r, c), (size_t)c->length);
    note_copy(r, HG_PROFILE_COPY_OUT, start, c->length);
    return HG_OK;
}

static hg_status fill(const runner *r, const hg_command *c) {
    if (!r->memory) return hg_fill(r->context, c->buffer.handle, c->offset, c->length, c->value);
    memset(image_of(r, c), c->value, (size_t)c->length);
    return HG_OK;
}

/* A command_taker that has done the command when it returns. */
static hg_status carry_out(void *user, const hg_command *c) {
    const runner *r = user;
    switch (c->kind) {
    case HG_COMMAND_FILL: return fill(r, c);
    case HG_COMMAND_COPY_IN: return copy_in(r, c);
    case HG_COMMAND_COPY_OUT: return copy_out(r, c);
    case HG_COMMAND_COPY:
        return hg_copy_between(r->context, c->buffer.handle, c->offset, c->source.handle,
                               c->source_offset, c->length);
    default: return hg_binding_launch_in(c->binding, r->context);
    }
}

static hg_status open_runner(const circuit_run *run, runner *r) {
    r->profile = hg_backend_profile(run->backend);
    HG_TRY(hg_context_create(run->backend, &r->context));
    HG_TRY(hg_context_class_image(r->context, &r->memory));
    return open_launches(run, &r->launches);
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
    for (; status == HG_OK && piece < end; piece++)
        status = give_number(&r->launches, piece, carry_out, r);
    hg_stream_end();
    if (status != HG_OK) note_failure(run, piece, status);
}

static void close_runner(runner *r) {
    close_launches(&r->launches);
    hg_context_destroy(r->context);
}

static hg_status run_all(circuit_run *run) {
    uint64_t pieces = count_pieces(run);
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

/* A command_taker. */
static hg_status append(void *user, const hg_command *command) {
    submission *s = user;
    if (s->count == COMMANDS) HG_TRY(submit(s));
    s->commands[s->count++] = *command;
    return HG_OK;
}

static hg_status submit_all(const circuit_run *run, submission *s) {
    launches of = {.run = run};
    s->commands = hg_calloc(COMMANDS, sizeof *s->commands);
    hg_status status = s->commands ? open_launches(run, &of) : hg_fail_memory();
    for (uint64_t n = 0, count = count_pieces(run); status == HG_OK && n < count; n++)
        status = give_number(&of, n, append, s);
    if (status == HG_OK && (s->count || !s->last)) status = submit(s);
    hg_error kept = *hg_error_record();
    close_launches(&of); /* what was submitted goes on to its end */
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
