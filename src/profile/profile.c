/* The recorder: events in one growing array under a lock, names kept once, totals by kind and name.
 * Requires: spans of one thread nest, as calls do. */
#include "profile/profile.h"
#include "base/fork.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(__wasm__)
#include "io/io.h"
#include <sys/stat.h>
#endif

static const char *const KINDS[HG_PROFILE_KINDS] = {"program", "kernel",   "step", "dispatch",
                                                    "copy in", "copy out", "copy", "fill",
                                                    "compile", "wait"};

typedef struct event {
    uint64_t start_ns, length_ns, bytes, lanes;
    uint32_t name, detail, line; /* names: indices + 1; 0: none */
    uint16_t track;
    uint8_t process, kind;
} event;

typedef struct total {
    uint32_t name, detail; /* detail: of a row that tells it */
    uint8_t kind;
    uint64_t count, bytes, total_ns, longest_ns;
} total;

typedef struct track {
    uint64_t thread;
    uint8_t process;
    char name[32];
} track;

enum {
    MOST_PROCESSES = 64,
    NAME_SLOTS = 2 * HG_PROFILE_NAMES,
    TOTAL_SLOTS = 4 * HG_PROFILE_NAMES,
    LONGEST_NAME = 200
};

/* One trace. */
typedef struct recorder {
    struct recorder *next;
    hg_mutex lock;
    hg_fork_lock forks;
    char *path; /* NULL: none */
    uint32_t backends;
    uint64_t origin_ns, dropped;
    hg_arena arena; /* names */
    HG_VEC(const char *) names;
    HG_VEC(event) events;
    HG_VEC(total) totals;
    HG_VEC(track) tracks;
    HG_VEC(const char *) processes;
    uint32_t name_slots[NAME_SLOTS], total_slots[TOTAL_SLOTS]; /* indices + 1 */
    bool changed;                                              /* since it was written */
} recorder;

struct hg_profile {
    recorder *to;
    uint8_t process;
    bool said; /* atomic: a span with `once` was recorded */
};

static hg_mutex list_lock = HG_MUTEX_INIT;
static recorder *list; /* those with a path */

/* ---- threads ---- */

static uint64_t threads_seen; /* atomic */
static HG_THREAD_LOCAL uint64_t this_thread;
static HG_THREAD_LOCAL char this_name[32];

void hg_profile_name_thread(const char *name) { snprintf(this_name, sizeof this_name, "%s", name); }

/* Where spans of this thread go; the lock is held. -1: no room. */
static int find_track(recorder *r, uint8_t process) {
    if (!this_thread) this_thread = hg_atomic_add_fetch(&threads_seen, 1, HG_RELAXED);
    for (uint64_t i = r->tracks.count; i-- > 0;)
        if (r->tracks.data[i].thread == this_thread && r->tracks.data[i].process == process)
            return (int)i;
    if (r->tracks.count == HG_PROFILE_TRACKS) return -1;
    track *t = hg_vec_push(&r->tracks);
    if (!t) return -1;
    t->thread = this_thread;
    t->process = process;
    if (this_name[0])
        memcpy(t->name, this_name, sizeof t->name);
    else
        snprintf(t->name, sizeof t->name, "thread %llu", (unsigned long long)this_thread);
    return (int)(r->tracks.count - 1);
}

/* ---- names and totals ---- */

static uint32_t hash_of(const char *text, size_t length) { /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash;
}

/* Index + 1 of a name kept once; 0: no name, or no room for it. */
static uint32_t intern(recorder *r, const char *text) {
    if (!text) return 0;
    size_t length = strlen(text);
    if (length > LONGEST_NAME) length = LONGEST_NAME;
    uint32_t at = hash_of(text, length) % NAME_SLOTS;
    for (; r->name_slots[at]; at = (at + 1) % NAME_SLOTS) {
        const char *known = r->names.data[r->name_slots[at] - 1];
        if (strncmp(known, text, length) == 0 && known[length] == '\0') return r->name_slots[at];
    }
    if (r->names.count == HG_PROFILE_NAMES) return 0;
    char *copy = hg_arena_text(&r->arena, text, length);
    const char **name = copy ? hg_vec_push(&r->names) : NULL;
    if (!name) return 0;
    *name = copy;
    return r->name_slots[at] = (uint32_t)r->names.count;
}

static void add_total(recorder *r, const event *e, bool tells) {
    uint32_t at = (e->name * 31 + e->kind) % TOTAL_SLOTS;
    for (; r->total_slots[at]; at = (at + 1) % TOTAL_SLOTS) {
        const total *known = &r->totals.data[r->total_slots[at] - 1];
        if (known->name == e->name && known->kind == e->kind) break;
    }
    if (!r->total_slots[at]) {
        if (r->totals.count == TOTAL_SLOTS / 2) return;
        total *fresh = hg_vec_push(&r->totals);
        if (!fresh) return;
        fresh->name = e->name;
        fresh->kind = e->kind;
        r->total_slots[at] = (uint32_t)r->totals.count;
    }
    total *t = &r->totals.data[r->total_slots[at] - 1];
    t->count++;
    t->bytes += e->bytes;
    t->total_ns += e->length_ns;
    if (e->length_ns > t->longest_ns) t->longest_ns = e->length_ns;
    if (tells && !t->detail) t->detail = e->detail;
}

void hg_profile_end(hg_profile *profile, const hg_profile_span *span) {
    if (!profile || !span->start_ns) return;
    if (span->once && hg_atomic_exchange(&profile->said, true, HG_RELAXED)) return;
    recorder *r = profile->to;
    uint64_t now = hg_clock_ns();
    event e = {.start_ns = span->start_ns,
               .length_ns = now - span->start_ns,
               .bytes = span->bytes,
               .lanes = span->lanes,
               .line = span->line,
               .process = profile->process,
               .kind = (uint8_t)span->kind};
    hg_mutex_lock(&r->lock);
    int where = find_track(r, profile->process);
    e.name = intern(r, span->name);
    e.detail = intern(r, span->detail);
    e.track = (uint16_t)(where < 0 ? 0 : where);
    add_total(r, &e, span->tells);
    r->changed = true;
    event *kept = where >= 0 && r->events.count < HG_PROFILE_EVENTS ? hg_vec_push(&r->events)
                                                                    : NULL;
    if (kept)
        *kept = e;
    else
        r->dropped++;
    hg_mutex_unlock(&r->lock);
}

/* ---- text ---- */

static const char *name_of(const recorder *r, uint32_t index) {
    return index ? r->names.data[index - 1] : "(other)";
}

static void add_string(hg_text *out, const char *text) {
    hg_text_addf(out, "\"");
    for (; *text; text++) {
        uint8_t c = (uint8_t)*text;
        if (c == '"' || c == '\\')
            hg_text_addf(out, "\\%c", c);
        else if (c < 32 || c >= 127) /* names of programs are ASCII or UTF-8; a name cut inside a
                                        character stays valid this way */
            hg_text_addf(out, "\\u%04x", c);
        else
            hg_text_add(out, text, 1);
    }
    hg_text_addf(out, "\"");
}

static void add_metadata(hg_text *out, const char *what, uint64_t process, int64_t thread,
                         const char *name) {
    hg_text_addf(out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu", what,
                 (unsigned long long)process);
    if (thread >= 0) hg_text_addf(out, ",\"tid\":%lld", (long long)thread);
    hg_text_addf(out, ",\"args\":{\"name\":");
    add_string(out, name);
    hg_text_addf(out, "}}");
}

static void add_microseconds(hg_text *out, const char *key, uint64_t ns) {
    hg_text_addf(out, ",\"%s\":%llu.%03llu", key, (unsigned long long)(ns / 1000),
                 (unsigned long long)(ns % 1000));
}

static void add_event(const recorder *r, hg_text *out, const event *e) {
    bool comma = false;
    hg_text_addf(out, "{\"ph\":\"X\",\"name\":");
    add_string(out, name_of(r, e->name));
    hg_text_addf(out, ",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u", KINDS[e->kind], (unsigned)e->process,
                 (unsigned)e->track);
    add_microseconds(out, "ts", e->start_ns - r->origin_ns);
    add_microseconds(out, "dur", e->length_ns);
    hg_text_addf(out, ",\"args\":{");
    if (e->detail) {
        hg_text_addf(out, "\"detail\":");
        add_string(out, name_of(r, e->detail));
        comma = true;
    }
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"bytes", e->bytes}, {"lanes", e->lanes}, {"line", e->line}};
    for (size_t i = 0; i < HG_COUNT_OF(numbers); i++) {
        if (!numbers[i].value) continue;
        hg_text_addf(out, "%s\"%s\":%llu", comma ? "," : "", numbers[i].key,
                     (unsigned long long)numbers[i].value);
        comma = true;
    }
    if (e->bytes && e->length_ns)
        hg_text_addf(out, ",\"GB/s\":%.3f", (double)e->bytes / (double)e->length_ns);
    hg_text_addf(out, "}}");
}

void hg_profile_trace(hg_profile *profile, hg_text *out) {
    recorder *r = profile->to;
    hg_mutex_lock(&r->lock);
    hg_text_addf(out,
                 "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"recorder\":\"hologram\",\"events\":%"
                 "llu,\"dropped\":%llu},\n\"traceEvents\":[",
                 (unsigned long long)r->events.count, (unsigned long long)r->dropped);
    for (uint64_t i = 0; i < r->processes.count; i++) {
        hg_text_addf(out, i ? ",\n" : "\n");
        add_metadata(out, "process_name", i, -1, r->processes.data[i]);
    }
    for (uint64_t i = 0; i < r->tracks.count; i++) {
        hg_text_addf(out, ",\n");
        add_metadata(out, "thread_name", r->tracks.data[i].process, (int64_t)i,
                     r->tracks.data[i].name);
    }
    for (uint64_t i = 0; i < r->events.count; i++) {
        hg_text_addf(out, ",\n");
        add_event(r, out, &r->events.data[i]);
    }
    hg_text_addf(out, "\n]}\n");
    hg_mutex_unlock(&r->lock);
}

static int by_kind_and_time(const void *a, const void *b) {
    const total *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void add_row(const recorder *r, hg_text *out, const total *t) {
    hg_text_addf(out, "%-9s %-32s %10llu %14.6f %14.6f", KINDS[t->kind], name_of(r, t->name),
                 (unsigned long long)t->count, (double)t->total_ns / 1e6,
                 (double)t->longest_ns / 1e6);
    if (t->bytes)
        hg_text_addf(out, " %16llu %9.3f\n", (unsigned long long)t->bytes,
                     t->total_ns ? (double)t->bytes / (double)t->total_ns : 0.0);
    else
        hg_text_addf(out, " %16s %9s\n", "-", "-");
    if (t->detail) hg_text_addf(out, "%-9s %s\n", "", name_of(r, t->detail));
}

void hg_profile_table(hg_profile *profile, hg_text *out) {
    recorder *r = profile->to;
    hg_mutex_lock(&r->lock);
    for (uint64_t i = 0; i < r->processes.count; i++)
        hg_text_addf(out, "device    %s\n", r->processes.data[i]);
    if (r->totals.count)
        qsort(r->totals.data, (size_t)r->totals.count, sizeof *r->totals.data, by_kind_and_time);
    memset(r->total_slots, 0, sizeof r->total_slots);
    hg_text_addf(out, "%-9s %-32s %10s %14s %14s %16s %9s\n", "kind", "name", "count", "total ms",
                 "longest ms", "bytes", "GB/s");
    for (uint64_t i = 0; i < r->totals.count; i++) {
        add_row(r, out, &r->totals.data[i]);
        uint32_t at = (r->totals.data[i].name * 31 + r->totals.data[i].kind) %
                      TOTAL_SLOTS; /* sorted:
                                      the
                                      slots
                                      are
                                      made
                                      anew
                                    */
        while (r->total_slots[at]) at = (at + 1) % TOTAL_SLOTS;
        r->total_slots[at] = (uint32_t)i + 1;
    }
    if (r->dropped)
        hg_text_addf(out,
                     "%llu spans are not in the trace, which keeps %d; the totals count them\n",
                     (unsigned long long)r->dropped, HG_PROFILE_EVENTS);
    hg_mutex_unlock(&r->lock);
}

/* ---- files ---- */

#if defined(__wasm__)
hg_status hg_profile_write(hg_profile *profile, const char *path) {
    (void)profile;
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s: this host has no files",
                   path ? path : "profile");
}
static hg_status begin_file(hg_profile *profile) { return hg_profile_write(profile, NULL); }
#else
static hg_status write_files(const char *path, const hg_text *trace, const hg_text *table) {
    if (trace->failed || table->failed) return hg_fail_memory();
    hg_text beside = {0};
    hg_outputs *outputs = hg_outputs_create();
    hg_text_addf(&beside, "%s.txt", path);
    hg_status status = outputs && !beside.failed ? HG_OK : hg_fail_memory();
    const hg_file_part parts[] = {{.data = trace->data, .length = trace->length},
                                  {.data = table->data, .length = table->length}};
    if (status == HG_OK) status = hg_outputs_add(outputs, path, &parts[0], 1);
    if (status == HG_OK) status = hg_outputs_add(outputs, beside.data, &parts[1], 1);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    hg_outputs_destroy(outputs);
    hg_text_free(&beside);
    return status;
}

/* changed false: what there is gets written now; true: it was not. */
static void note_changed(recorder *r, bool changed) {
    hg_mutex_lock(&r->lock);
    r->changed = changed;
    hg_mutex_unlock(&r->lock);
}

hg_status hg_profile_write(hg_profile *profile, const char *path) {
    hg_text trace = {0}, table = {0};
    if (!path) path = profile->to->path;
    if (!path) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the profile has no file");
    bool own = path == profile->to->path;
    if (own)
        note_changed(profile->to, false); /* spans that end from here on are written next time */
    hg_profile_trace(profile, &trace);
    hg_profile_table(profile, &table);
    hg_status status = write_files(path, &trace, &table);
    if (own && status != HG_OK) note_changed(profile->to, true);
    hg_text_free(&trace);
    hg_text_free(&table);
    return status;
}

/* A path that is no regular file is written once, at the end. */
static hg_status begin_file(hg_profile *profile) {
    struct stat s;
    const char *path = profile->to->path;
    if (strcmp(path, "-") == 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "a profile needs a file name, not '-': it has a table beside it");
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) return HG_OK;
    return hg_profile_write(profile, NULL);
}
#endif

/* ---- life ---- */

static hg_fork_lock list_forks = {.mutex = &list_lock};
static void watch_list(void) { hg_fork_add(&list_forks, HG_FORK_PROFILES); }

static recorder *new_recorder(const char *path) {
    recorder *r = hg_calloc(1, sizeof *r);
    char *copy = r && path ? hg_calloc(1, strlen(path) + 1) : NULL;
    if (!r || (path && !copy)) {
        hg_free(r);
        return NULL;
    }
    if (path) memcpy(copy, path, strlen(path));
    r->path = copy;
    r->origin_ns = hg_clock_ns();
    hg_mutex_init(&r->lock);
    r->forks = (hg_fork_lock){.mutex = &r->lock};
    hg_fork_add(&r->forks, HG_FORK_PROFILE);
    return r;
}

static void free_recorder(recorder *r) {
    hg_fork_remove(&r->forks);
    hg_vec_free(&r->names);
    hg_vec_free(&r->events);
    hg_vec_free(&r->totals);
    hg_vec_free(&r->tracks);
    hg_vec_free(&r->processes);
    hg_arena_free(&r->arena);
    hg_mutex_destroy(&r->lock);
    hg_free(r->path);
    hg_free(r);
}

/* The recorder of that path, or a new one, with one more backend. The list's lock is held. */
static recorder *join_recorder(const char *path) {
    recorder *r = list;
    while (path && r && strcmp(r->path, path) != 0) r = r->next;
    if (!path || !r) {
        r = new_recorder(path);
        if (r && path) {
            r->next = list;
            list = r;
        }
    }
    if (r) r->backends++;
    return r;
}

/* One backend less; true when it was the last and the recorder is the caller's to free. The list's
 * lock is held. */
static bool leave_recorder(recorder *r) {
    if (--r->backends) return false;
    for (recorder **at = &list; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    return true;
}

static hg_status add_process(hg_profile *profile, const char *label) {
    recorder *r = profile->to;
    hg_mutex_lock(&r->lock);
    const char *copy = r->processes.count < MOST_PROCESSES
                           ? hg_arena_text(&r->arena, label, strlen(label))
                           : NULL;
    const char **name = copy ? hg_vec_push(&r->processes) : NULL;
    if (name) *name = copy;
    profile->process = (uint8_t)(r->processes.count ? r->processes.count - 1 : 0);
    bool full = r->processes.count == MOST_PROCESSES; /* those beyond share the last one */
    hg_mutex_unlock(&r->lock);
    return name || full ? HG_OK : hg_fail_memory();
}

hg_status hg_profile_create(const char *path, const char *label, hg_profile **result) {
    hg_profile *profile = hg_calloc(1, sizeof *profile);
    if (!profile) return hg_fail_memory();
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, watch_list);
    hg_mutex_lock(&list_lock);
    profile->to = join_recorder(path && *path ? path : NULL);
    hg_mutex_unlock(&list_lock);
    hg_status status = profile->to ? add_process(profile, label) : hg_fail_memory();
    if (status == HG_OK && profile->to->path) status = begin_file(profile);
    if (status == HG_OK) {
        *result = profile;
        return HG_OK;
    }
    hg_mutex_lock(&list_lock);
    bool last = profile->to && leave_recorder(profile->to);
    hg_mutex_unlock(&list_lock);
    if (last) free_recorder(profile->to);
    hg_free(profile);
    return status;
}

void hg_profile_destroy(hg_profile *profile) {
    if (!profile) return;
    hg_mutex_lock(&list_lock);
    bool last = leave_recorder(profile->to);
    hg_mutex_unlock(&list_lock);
    if (last) {
        if (profile->to->path && profile->to->changed)
            HG_IGNORE(hg_profile_write(profile, NULL)); /* no caller is left for the error */
        free_recorder(profile->to);
    }
    hg_free(profile);
}
