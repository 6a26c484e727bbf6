/* A device that works only while it is polled: a driver's device behind queues that keep their
 * submissions on lists. Each poll runs one command of one queue, chosen by a seeded generator among
 * the queues whose next command may run; so a seed is an order of events, and the same one each
 * time where one thread polls. Any driver will do: memory, kernels and code are the driver's own,
 * and each command becomes a submission of its own there, which is waited for. It also looks at
 * what the driver contract (driver.h) asks of the caller, and counts what breaks it:
 * polled_misuses.
 * Must not know: which driver it is, the runtime. */
#include "polled.h"
#include "base/thread.h"
#include "driver/driver.h"
#include <stdio.h>
#include <string.h>

typedef struct command {
    hg_driver_command c;
    hg_driver_dispatch dispatch;    /* with copies of what its pointers lead to */
    hg_driver_recording *recording; /* a whole recording of the driver instead of c */
    uint64_t host_hash;             /* copies in: of the bytes when they were submitted */
    bool hashed;
} command;

/* One use of an event as a signal: an event may signal again when it is done. */
typedef struct condition {
    hg_driver_event *event;
    uint64_t number;
} condition;

typedef struct submission {
    struct submission *next;
    hg_arena memory; /* of this record and everything that it leads to */
    condition *waits;
    const command *commands;
    hg_driver_event *signal;
    hg_driver_recording *recording; /* in flight with this submission; NULL: none */
    uint32_t wait_count, count, at;
} submission;

struct hg_driver_queue {
    hg_device *device;
    hg_driver_queue *real, *next;
    hg_driver_event *event; /* of the driver, where it is asynchronous */
    submission *first, *last;
    bool running;     /* a thread runs its next command */
    hg_status failed; /* of a submission without a signal: the next one has it */
    hg_error error;
};

struct hg_driver_event {
    hg_device *device;
    uint32_t references;   /* the caller, submissions */
    uint64_t begun, ended; /* uses as a signal */
    hg_status status;      /* of the last that ended */
    hg_error error;
};

struct hg_driver_recording {
    hg_device *device;
    hg_arena memory;
    const command *commands;
    hg_driver_recording *real; /* NULL: the driver has no recordings, commands are submitted */
    uint32_t count;
    bool in_flight;
};

enum { MOST_QUESTIONS = 8 }; /* until a device is open, or a kernel is compiled */

struct hg_device {
    hg_driver table;
    const hg_driver *driver; /* the driver's own table, device and caps */
    hg_device *real;
    hg_device_caps caps;
    bool asks; /* no-wait: event_query is what polls */
    bool staging;
    uint64_t questions; /* no-wait: that are left until it is open */
    hg_mutex lock;
    hg_driver_queue *queues;
    uint64_t events, arenas, recordings; /* alive */
    uint64_t random;
};

/* ---- misuse ---- */

static hg_mutex misuse_lock = HG_MUTEX_INIT;
static uint64_t misuses;
static char first_misuse[160];

static void misuse(const char *what) {
    hg_mutex_lock(&misuse_lock);
    if (misuses++ == 0) snprintf(first_misuse, sizeof first_misuse, "%s", what);
    hg_mutex_unlock(&misuse_lock);
}

uint64_t polled_misuses(char first[160]) {
    hg_mutex_lock(&misuse_lock);
    uint64_t count = misuses;
    misuses = 0;
    memcpy(first, first_misuse, sizeof first_misuse);
    hg_mutex_unlock(&misuse_lock);
    return count;
}

/* ---- no-wait: kernels that are compiled only while somebody asks for them ---- */

typedef struct compilation {
    struct compilation *next;
    const hg_device *device;
    const hg_driver_kernel *kernel;
    uint64_t questions; /* left */
} compilation;

static hg_mutex compilation_lock = HG_MUTEX_INIT;
static compilation *compilations; /* of all devices: who destroys a kernel does not say of which one
                                     it is */

/* The lock is held. */
static compilation **find_compilation(const hg_driver_kernel *kernel) {
    compilation **at = &compilations;
    while (*at && (*at)->kernel != kernel) at = &(*at)->next;
    return at;
}

static bool is_compiled(const hg_driver_kernel *kernel) {
    hg_mutex_lock(&compilation_lock);
    bool compiled = !*find_compilation(kernel);
    hg_mutex_unlock(&compilation_lock);
    return compiled;
}

static void end_compilation(compilation **at) {
    compilation *c = *at;
    if (!c) return;
    *at = c->next;
    hg_free(c);
}

static uint64_t next_random(hg_device *d);

static hg_status begin_compilation(hg_device *d, hg_driver_kernel **kernel) {
    compilation *c = hg_calloc(1, sizeof *c);
    if (!c) {
        d->driver->kernel_destroy(*kernel);
        return hg_fail_memory();
    }
    hg_mutex_lock(&d->lock);
    c->questions = next_random(d) % MOST_QUESTIONS;
    hg_mutex_unlock(&d->lock);
    c->device = d;
    c->kernel = *kernel;
    hg_mutex_lock(&compilation_lock);
    end_compilation(find_compilation(*kernel)); /* of one that stood there before */
    c->next = compilations;
    compilations = c;
    hg_mutex_unlock(&compilation_lock);
    return HG_OK;
}

static hg_status kernel_ready(hg_driver_kernel *kernel, bool *ready) {
    hg_mutex_lock(&compilation_lock);
    compilation **at = find_compilation(kernel);
    *ready = !*at || (*at)->questions-- == 0;
    if (*ready) end_compilation(at);
    hg_mutex_unlock(&compilation_lock);
    return HG_OK;
}

static void end_compilations(const hg_device *d) {
    hg_mutex_lock(&compilation_lock);
    for (compilation **at = &compilations; *at;) {
        if ((*at)->device == d)
            end_compilation(at);
        else
            at = &(*at)->next;
    }
    hg_mutex_unlock(&compilation_lock);
}

/* ---- host memory of copies: borrowed until the submission is done ---- */

enum { POISON = 0xDB };

static uint64_t hash_bytes(const void *bytes, uint64_t size) {
    const uint8_t *at = bytes;
    uint64_t hash = UINT64_C(0xCBF29CE484222325), word; /* FNV-1a, by words */
    for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001B3);
    }
    for (; size; size--) hash = (hash ^ *at++) * UINT64_C(0x100000001B3);
    return hash;
}

static bool overlap(const void *a, uint64_t a_size, const void *b, uint64_t b_size) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y ? y - x < a_size : x - y < b_size;
}

/* Whether a command not yet run reads or writes some of these bytes of the host. */
static bool uses_host(const command *list, uint32_t count, bool writes, const void *host,
                      uint64_t size) {
    for (uint32_t i = 0; i < count; i++) {
        const hg_driver_command *c = &list[i].c;
        if (list[i].recording) continue;
        if (c->kind == HG_CMD_COPY_IN && !writes && overlap(c->host, c->to.size, host, size))
            return true;
        if (c->kind == HG_CMD_COPY_OUT && writes && overlap(c->host, c->from.size, host, size))
            return true;
    }
    return false;
}

static bool pending_uses_host(const hg_device *d, bool writes, const void *host, uint64_t size) {
    for (const hg_driver_queue *q = d->queues; q; q = q->next)
        for (const submission *s = q->first; s; s = s->next)
            if (uses_host(s->commands + s->at, s->count - s->at, writes, host, size)) return true;
    return false;
}

/* Bytes that a copy takes from the host must not change before it is done; bytes that it brings
 * there are not there before. The device is locked. */
static void mark_host(const hg_device *d, command *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hg_driver_command *c = &list[i].c;
        uint64_t size = c->kind == HG_CMD_COPY_IN ? c->to.size : c->from.size;
        if (c->kind != HG_CMD_COPY_IN && c->kind != HG_CMD_COPY_OUT) continue;
        bool copies_in = c->kind == HG_CMD_COPY_IN;
        if (!size || pending_uses_host(d, copies_in, c->host, size) ||
            uses_host(list, i, copies_in, c->host, size))
            continue;
        if (!copies_in) {
            memset(c->host, POISON, (size_t)size);
            continue;
        }
        list[i].host_hash = hash_bytes(c->host, size);
        list[i].hashed = true;
    }
}

/* ---- events ---- */

static hg_status event_create(hg_device *d, hg_driver_event **event) {
    hg_driver_event *e = hg_calloc(1, sizeof *e);
    if (!e) return hg_fail_memory();
    e->device = d;
    e->references = 1;
    hg_mutex_lock(&d->lock);
    d->events++;
    hg_mutex_unlock(&d->lock);
    *event = e;
    return HG_OK;
}

static void release_event(hg_driver_event *e) {
    if (--e->references) return;
    e->device->events--;
    hg_free(e);
}

static void event_destroy(hg_driver_event *e) {
    if (!e) return;
    hg_device *d = e->device;
    hg_mutex_lock(&d->lock);
    if (e->begun != e->ended)
        misuse("an event was destroyed before the submission that signals it was done");
    release_event(e);
    hg_mutex_unlock(&d->lock);
}

static void go_on(hg_device *d);

static hg_status event_query(hg_driver_event *e, bool *done) {
    hg_device *d = e->device;
    hg_mutex_lock(&d->lock);
    *done = e->begun == e->ended;
    hg_status status = *done ? e->status : HG_OK;
    if (status != HG_OK) *hg_error_record() = e->error;
    bool goes_on = d->asks && !*done && next_random(d) % 4 == 0;
    hg_mutex_unlock(&d->lock);
    if (goes_on) go_on(d);
    return status;
}

/* ---- submissions ---- */

static void *copy_bytes(hg_arena *memory, const void *bytes, size_t size) {
    void *copy = hg_arena_alloc(memory, size ? size : 1);
    if (copy && size) memcpy(copy, bytes, size);
    return copy;
}

/* The commands with what is borrowed only for the call. */
static command *copy_commands(hg_arena *memory, const hg_driver_command *commands, uint32_t count) {
    command *list = hg_arena_alloc(memory, (count ? count : 1) * sizeof *list);
    for (uint32_t i = 0; i < count && list; i++) {
        list[i].c = commands[i];
        if ((commands[i].kind == HG_CMD_DISPATCH && !is_compiled(commands[i].dispatch->kernel)) ||
            (commands[i].kind == HG_CMD_LAUNCH && !is_compiled(commands[i].launch->kernel)))
            misuse("a kernel was used before its compiler was ready");
        if (commands[i].kind != HG_CMD_DISPATCH) continue;
        hg_driver_dispatch *d = &list[i].dispatch;
        *d = *commands[i].dispatch;
        d->record = copy_bytes(memory, d->record, d->record_bytes);
        d->slots = copy_bytes(memory, d->slots, d->slot_count * sizeof *d->slots);
        list[i].c.dispatch = d;
    }
    return memory->failed ? NULL : list;
}

static submission *new_submission(hg_driver_event *const *waits, uint32_t wait_count,
                                  hg_driver_event *signal) {
    hg_arena memory = {0};
    submission *s = hg_arena_alloc(&memory, sizeof *s);
    condition *conditions = hg_arena_alloc(&memory,
                                           (wait_count ? wait_count : 1) * sizeof *conditions);
    if (memory.failed) {
        hg_arena_free(&memory);
        return NULL;
    }
    for (uint32_t i = 0; i < wait_count; i++) conditions[i].event = waits[i];
    *s = (submission){
        .memory = memory, .waits = conditions, .signal = signal, .wait_count = wait_count};
    return s;
}

static void free_submission(submission *s) {
    hg_arena memory = s->memory;
    hg_arena_free(&memory);
}

/* Takes over s. */
static hg_status append(hg_driver_queue *q, submission *s, command *own) {
    hg_device *d = q->device;
    hg_mutex_lock(&d->lock);
    if (s->signal && s->signal->begun != s->signal->ended) {
        misuse("an event was given to a submission before the one that it signals was done");
        hg_mutex_unlock(&d->lock);
        free_submission(s);
        return hg_fail(HG_ERROR_INTERNAL, "an event signals one submission at a time");
    }
    for (uint32_t i = 0; i < s->wait_count; i++) {
        s->waits[i].number = s->waits[i].event->begun;
        s->waits[i].event->references++;
    }
    if (s->signal) {
        s->signal->begun++;
        s->signal->references++;
    }
    if (own) mark_host(d, own, s->count);
    *(q->first ? &q->last->next : &q->first) = s;
    q->last = s;
    hg_mutex_unlock(&d->lock);
    return HG_OK;
}

static hg_status queue_submit(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count,
                              hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    submission *s = new_submission(waits, wait_count, signal);
    if (!s) return hg_fail_memory();
    command *own = copy_commands(&s->memory, commands, count);
    if (!own) {
        free_submission(s);
        return hg_fail_memory();
    }
    s->commands = own;
    s->count = count;
    return append(q, s, own);
}

/* The first submission of a queue is over. The device is locked. */
static void end_first(hg_driver_queue *q, hg_status status, const hg_error *error) {
    submission *s = q->first;
    q->first = s->next;
    if (!q->first) q->last = NULL;
    if (s->recording) s->recording->in_flight = false;
    if (s->signal) {
        s->signal->ended++;
        s->signal->status = status;
        s->signal->error = *error;
        release_event(s->signal);
    }
    if (status != HG_OK && !s->signal) {
        q->failed = status;
        q->error = *error;
    }
    for (uint32_t i = 0; i < s->wait_count; i++) release_event(s->waits[i].event);
    free_submission(s);
}

/* ---- work ---- */

static bool may_run(const hg_driver_queue *q) {
    const submission *s = q->first;
    if (!s || q->running) return false;
    for (uint32_t i = 0; i < s->wait_count; i++)
        if (s->waits[i].event->ended < s->waits[i].number) return false;
    return true;
}

static uint64_t next_random(hg_device *d) { /* S. Vigna's splitmix64 */
    uint64_t z = d->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static hg_driver_queue *choose(hg_device *d) {
    uint64_t count = 0;
    for (const hg_driver_queue *q = d->queues; q; q = q->next) count += may_run(q);
    if (!count) return NULL;
    uint64_t chosen = next_random(d) % count;
    for (hg_driver_queue *q = d->queues; q; q = q->next)
        if (may_run(q) && chosen-- == 0) return q;
    return NULL;
}

static hg_status run_command(hg_driver_queue *q, const command *c) {
    const hg_device *d = q->device;
    if (c->hashed && c->host_hash != hash_bytes(c->c.host, c->c.to.size))
        misuse("host memory of a copy changed before the copy was done");
    if (c->recording)
        HG_TRY(d->driver->recording_launch(q->real, c->recording, NULL, 0, q->event));
    else
        HG_TRY(d->driver->queue_submit(q->real, &c->c, 1, NULL, 0, q->event));
    return q->event ? hg_driver_wait(d->driver, d->real, q->event) : HG_OK;
}

/* The status that the first submission of a queue begins with: of what it waits for, of what was
 * before. The device is locked. */
static hg_status inherit(hg_driver_queue *q, hg_error *error) {
    const submission *s = q->first;
    hg_status status = q->failed;
    *error = q->error;
    q->failed = HG_OK;
    for (uint32_t i = 0; i < s->wait_count && status == HG_OK; i++) {
        status = s->waits[i].event->status;
        *error = s->waits[i].event->error;
    }
    return status;
}

static void go_on(hg_device *d) {
    hg_error error, kept = *hg_error_record();
    hg_mutex_lock(&d->lock);
    hg_driver_queue *q = choose(d);
    if (q) {
        submission *s = q->first;
        hg_status status = s->at == 0 ? inherit(q, &error) : HG_OK;
        if (status == HG_OK && s->at < s->count) {
            q->running = true;
            hg_mutex_unlock(&d->lock);
            status = run_command(q, &s->commands[s->at]);
            error = *hg_error_record();
            hg_mutex_lock(&d->lock);
            q->running = false;
            s->at++;
        }
        if (status != HG_OK || s->at == s->count) end_first(q, status, &error);
    }
    hg_mutex_unlock(&d->lock);
    *hg_error_record() = kept;
}

/* ---- queues ---- */

static hg_status queue_create(hg_device *d, hg_driver_queue **queue) {
    hg_driver_queue *q = hg_calloc(1, sizeof *q);
    if (!q) return hg_fail_memory();
    q->device = d;
    hg_status status = d->driver->queue_create(d->real, &q->real);
    if (status == HG_OK && d->driver->device_caps(d->real)->scheduling.asynchronous) {
        status = d->driver->event_create(d->real, &q->event);
        if (status != HG_OK) d->driver->queue_destroy(q->real);
    }
    if (status != HG_OK) {
        hg_free(q);
        return status;
    }
    hg_mutex_lock(&d->lock);
    hg_driver_queue **end = &d->queues;
    while (*end) end = &(*end)->next;
    *end = q;
    hg_mutex_unlock(&d->lock);
    *queue = q;
    return HG_OK;
}

/* Nothing of the queue runs any more; nobody submits to it. The device is locked. */
static void finish_queue(hg_driver_queue *q) {
    hg_device *d = q->device;
    const hg_error none = {0};
    while (q->first) {
        if (d->asks && !q->running) { /* nobody waits: what has not begun is dropped */
            end_first(q, HG_ERROR_BACKEND_UNAVAILABLE, &none);
            continue;
        }
        hg_mutex_unlock(&d->lock);
        go_on(d);
        hg_mutex_lock(&d->lock);
    }
}

static void queue_destroy(hg_driver_queue *q) {
    if (!q) return;
    hg_device *d = q->device;
    hg_mutex_lock(&d->lock);
    finish_queue(q);
    hg_driver_queue **at = &d->queues;
    while (*at != q) at = &(*at)->next;
    *at = q->next;
    hg_mutex_unlock(&d->lock);
    d->driver->queue_destroy(q->real);
    if (q->event) d->driver->event_destroy(q->event);
    hg_free(q);
}

/* ---- recordings ---- */

static hg_status make_recording(hg_driver_recording *p, const hg_driver_command *commands,
                                uint32_t count) {
    const hg_device *d = p->device;
    HG_TRY(hg_driver_check_recordable(d->driver->name, &d->caps, commands, count));
    if (!(p->commands = copy_commands(&p->memory, commands, count))) return hg_fail_memory();
    p->count = count;
    return d->driver->recording_create
               ? d->driver->recording_create(d->real, commands, count, &p->real)
               : HG_OK;
}

static hg_status recording_create(hg_device *d, const hg_driver_command *commands, uint32_t count,
                                  hg_driver_recording **recording) {
    hg_driver_recording *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->device = d;
    hg_status status = make_recording(p, commands, count);
    if (status != HG_OK) {
        hg_arena_free(&p->memory);
        hg_free(p);
        return status;
    }
    hg_mutex_lock(&d->lock);
    d->recordings++;
    hg_mutex_unlock(&d->lock);
    *recording = p;
    return HG_OK;
}

static hg_status recording_launch(hg_driver_queue *q, hg_driver_recording *recording,
                                  hg_driver_event *const *waits, uint32_t wait_count,
                                  hg_driver_event *signal) {
    submission *s = new_submission(waits, wait_count, signal);
    command *whole = s ? hg_arena_alloc(&s->memory, sizeof *whole) : NULL;
    if (!whole) {
        if (s) free_submission(s);
        return hg_fail_memory();
    }
    whole->recording = recording->real;
    s->commands = recording->real ? whole : recording->commands;
    s->count = recording->real ? 1 : recording->count;
    s->recording = recording;
    if (recording->in_flight) misuse("a recording was launched before its last launch was done");
    recording->in_flight = true;
    hg_status status = append(q, s, NULL);
    if (status != HG_OK) recording->in_flight = false;
    return status;
}

static void recording_destroy(hg_driver_recording *p) {
    if (!p) return;
    hg_device *d = p->device;
    hg_mutex_lock(&d->lock);
    if (p->in_flight) misuse("a recording was destroyed before its launch was done");
    d->recordings--;
    hg_mutex_unlock(&d->lock);
    if (p->real) d->driver->recording_destroy(p->real);
    hg_arena_free(&p->memory);
    hg_free(p);
}

/* ---- what the driver does as always ---- */

static const hg_device_caps *device_caps(const hg_device *d) { return &d->caps; }
static void *device_native(hg_device *d) { return d->driver->device_native(d->real); }
static void arena_native(hg_device *d, hg_driver_arena *arena, hg_native_buffer *native) {
    d->driver->arena_native(d->real, arena, native);
}
static void *queue_native(hg_driver_queue *q) { return q->device->driver->queue_native(q->real); }

static void count_arena(hg_device *d, hg_status status) {
    hg_mutex_lock(&d->lock);
    d->arenas += status == HG_OK;
    hg_mutex_unlock(&d->lock);
}
static hg_status arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    hg_status status = d->driver->arena_alloc(d->real, size, arena);
    count_arena(d, status);
    return status;
}
static hg_status arena_import(hg_device *d, void *host, uint64_t size, hg_driver_arena **arena) {
    hg_status status = d->driver->arena_import(d->real, host, size, arena);
    count_arena(d, status);
    return status;
}
static hg_status arena_import_device(hg_device *d, uint32_t kind, uint32_t number, void *memory,
                                     uint64_t size, hg_driver_arena **arena) {
    hg_status status = d->driver->arena_import_device(d->real, kind, number, memory, size, arena);
    count_arena(d, status);
    return status;
}
static hg_status arena_alloc_visible(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    hg_status status = d->driver->arena_alloc_visible(d->real, size, arena);
    count_arena(d, status);
    return status;
}

static bool range_uses(const hg_range *ranges, uint32_t count, const hg_driver_arena *arena) {
    for (uint32_t i = 0; i < count; i++)
        if (ranges[i].arena == arena) return true;
    return false;
}

static bool command_uses(const hg_driver_command *c, const hg_driver_arena *arena) {
    switch (c->kind) {
    case HG_CMD_COPY_IN:
    case HG_CMD_FILL: return c->to.arena == arena;
    case HG_CMD_COPY_OUT: return c->from.arena == arena;
    case HG_CMD_COPY: return c->to.arena == arena || c->from.arena == arena;
    case HG_CMD_LAUNCH:
        return range_uses(c->launch->slots, c->launch->slot_count, arena) ||
               c->launch->class_memory.arena == arena || c->launch->shared_memory.arena == arena;
    case HG_CMD_DISPATCH: return range_uses(c->dispatch->slots, c->dispatch->slot_count, arena);
    case HG_CMD_STEP: return false;
    }
    return false;
}

static bool is_pending(const hg_device *d, const hg_driver_arena *arena) {
    for (const hg_driver_queue *q = d->queues; q; q = q->next)
        for (const submission *s = q->first; s; s = s->next)
            for (uint32_t i = s->at; i < s->count; i++)
                if (!s->commands[i].recording && command_uses(&s->commands[i].c, arena))
                    return true;
    return false;
}

static void arena_free(hg_device *d, hg_driver_arena *arena) {
    if (!arena) return;
    hg_mutex_lock(&d->lock);
    bool early = is_pending(d, arena);
    if (early) misuse("memory was freed before the submissions that use it were done");
    d->arenas -= !early;
    hg_mutex_unlock(&d->lock);
    if (!early) d->driver->arena_free(d->real, arena);
}

static hg_status kernel_create(hg_device *d, const kir_module *module, hg_driver_kernel **kernel) {
    HG_TRY(d->driver->kernel_create(d->real, module, kernel));
    return d->table.kernel_ready == kernel_ready ? begin_compilation(d, kernel) : HG_OK;
}
static hg_status code_create(hg_device *d, const hg_driver_code *code, hg_driver_kernel **kernel) {
    HG_TRY(d->driver->code_create(d->real, code, kernel));
    return d->table.kernel_ready == kernel_ready ? begin_compilation(d, kernel) : HG_OK;
}
static bool step_supported(const hg_device *d, const plan_call *call, uint64_t *scratch) {
    return d->driver->step_supported(d->real, call, scratch);
}
static void step_describe(const hg_device *d, const plan_call *call, char text[64]) {
    d->driver->step_describe(d->real, call, text);
}
static hg_status kernel_improve(hg_device *d, hg_driver_kernel *kernel, kir_module *module,
                                const hg_patience *patience) {
    return d->driver->kernel_improve(d->real, kernel, module, patience);
}

/* ---- the device ---- */

/* The caps are those of the driver's device when that is ready. */
static void take_caps(hg_device *d) {
    d->caps = *d->driver->device_caps(d->real);
    d->caps.scheduling.asynchronous = true;
    if (d->staging) d->caps.memory.host_memory = false;
}

/* After a few questions, as many as the seed says. */
static hg_status device_ready(hg_device *d, bool *ready) {
    *ready = false;
    if (d->asks && d->questions) {
        d->questions--;
        return HG_OK;
    }
    *ready = true;
    if (!d->driver->device_ready) return HG_OK;
    HG_TRY(d->driver->device_ready(d->real, ready));
    if (*ready) take_caps(d);
    return HG_OK;
}

static void device_close(hg_device *d) {
    if (d->queues || d->events || d->arenas || d->recordings)
        misuse("a device was closed before all that was made on it was gone");
    end_compilations(d);
    d->driver->device_close(d->real);
    hg_mutex_destroy(&d->lock);
    hg_free(d);
}

static void fill_table(hg_device *d) {
    const hg_driver *own = d->driver;
    hg_driver *t = &d->table;
    *t = *own;
    t->forks = false;
    t->device_ready = device_ready;
    t->device_close = device_close;
    t->device_caps = device_caps;
    if (d->asks && !own->kernel_ready) t->kernel_ready = kernel_ready;
    t->arena_alloc = arena_alloc;
    t->arena_free = arena_free;
    t->queue_create = queue_create;
    t->queue_destroy = queue_destroy;
    t->queue_submit = queue_submit;
    t->event_create = event_create;
    t->event_destroy = event_destroy;
    t->event_query = event_query;
    t->event_wait = NULL;
    t->device_poll = d->asks ? NULL : go_on;
    t->recording_create = recording_create;
    t->recording_launch = recording_launch;
    t->recording_destroy = recording_destroy;
    t->prepare = NULL; /* nothing is over when submit returns */
    if (own->device_native) t->device_native = device_native;
    if (own->arena_native) t->arena_native = arena_native;
    if (own->queue_native) t->queue_native = queue_native;
    if (own->arena_import) t->arena_import = arena_import;
    if (own->arena_import_device) t->arena_import_device = arena_import_device;
    if (own->arena_alloc_visible) t->arena_alloc_visible = arena_alloc_visible;
    if (own->kernel_create) t->kernel_create = kernel_create;
    if (own->code_create) t->code_create = code_create;
    if (own->step_supported) t->step_supported = step_supported;
    if (own->step_describe) t->step_describe = step_describe;
    if (own->kernel_improve) t->kernel_improve = kernel_improve;
}

static hg_status open_polled(const hg_driver *driver, uint32_t index,
                             const hg_driver_options *options, const hg_driver **table,
                             hg_device **device) {
    bool asks = hg_pretends(options->pretend, "no-wait");
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    hg_status status = hg_driver_open_own(driver, index, options, &d->real);
    if (status != HG_OK) {
        hg_free(d);
        return status;
    }
    d->driver = driver;
    d->asks = asks;
    d->random = hg_pretended_number(options->pretend, asks ? "no-wait" : "polled", 1);
    d->staging = hg_pretends(options->pretend, "staging");
    if (!driver->device_ready) take_caps(d);
    d->questions = 1 + next_random(d) % MOST_QUESTIONS;
    hg_mutex_init(&d->lock);
    fill_table(d);
    *table = &d->table;
    *device = d;
    return HG_OK;
}

/* Every program that is linked with this file has such devices. */
HG_AT_START static void bring(void) { hg_driver_open_polled = open_polled; }
