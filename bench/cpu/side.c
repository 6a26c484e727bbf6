/* What bench/cpu/run calls: the library's side of each work, the peers' threads, OpenCL, and the
 * clocks of all of them. A time is seconds a run. */
#include "../bench.h"
#include "../devices/peer.h"
#include "peers.h"
#include <hologram/hologram.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __x86_64__
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif
#define EXPORT __attribute__((visibility("default")))

/* ---- the library ---- */

static hg_backend *backend;

typedef struct work {
    hg_program *program;
    hg_params *params;
    hg_binding *binding;
    hg_launch launch;
    bool launched; /* with launch, not with the program's own lanes */
} work;

EXPORT const char *cpu_error(void) { return hg_last_error_text(); }

EXPORT bool cpu_open(uint32_t threads) {
    hg_config config;
    if (hg_config_from_env(&config) != HG_OK) return false;
    snprintf(config.backend, sizeof config.backend, "cpu");
    config.num_threads = threads;
    return hg_backend_create_with_config(&config, &backend) == HG_OK;
}

EXPORT uint64_t cpu_buffer(const void *data, uint64_t bytes) {
    hg_buffer b;
    if (hg_backend_allocate_buffer(backend, bytes, &b) != HG_OK ||
        hg_backend_copy_to_buffer(backend, b, data, bytes) != HG_OK)
        return 0;
    return b.handle;
}

EXPORT bool cpu_write(uint64_t handle, const void *data, uint64_t bytes) {
    return hg_backend_copy_to_buffer(backend, (hg_buffer){handle}, data, bytes) == HG_OK;
}

EXPORT bool cpu_read(uint64_t handle, void *data, uint64_t bytes) {
    return hg_backend_copy_from_buffer(backend, (hg_buffer){handle}, data, bytes) == HG_OK;
}

/* Where a buffer lies in the host's memory. */
EXPORT void *cpu_address(uint64_t handle) {
    hg_native_buffer native = {.size = sizeof native};
    bool known = hg_buffer_native(backend, (hg_buffer){handle}, &native) == HG_OK &&
                 native.kind == HG_MEMORY_HOST;
    return known ? (void *)(uintptr_t)native.memory : NULL;
}

EXPORT void cpu_free(uint64_t handle) {
    if (hg_backend_free_buffer(backend, (hg_buffer){handle}) != HG_OK)
        fprintf(stderr, "%s\n", hg_last_error_text());
}

static hg_program *program_of(const char *text, uint64_t size, bool json) {
    hg_program *p = NULL;
    hg_status status = json ? hg_json_to_isa_translate(text, size, NULL, &p)
                            : hg_program_assemble(text, size, NULL, &p);
    return status == HG_OK ? p : NULL;
}

EXPORT void cpu_release(work *w) {
    if (!w) return;
    hg_binding_destroy(w->binding);
    hg_params_destroy(w->params);
    hg_program_release(w->program);
    free(w);
}

/* A text with values for its parameters: types[i] HG_TYPE_… of a scalar with those bits, 0 of a
 * buffer with that handle. lanes 0: the program's own. */
EXPORT work *cpu_bind(const char *text, uint64_t size, bool json, uint64_t lanes, int count,
                      const char **names, const int *types, const uint64_t *bits) {
    work *w = calloc(1, sizeof *w);
    hg_executable *e = NULL;
    bool good = w && (w->program = program_of(text, size, json)) != NULL &&
                (w->params = hg_params_create()) != NULL;
    for (int i = 0; good && i < count; i++)
        good = (types[i]
                    ? hg_params_set_scalar(w->params, names[i], (hg_type)types[i], &bits[i])
                    : hg_params_set_buffer(w->params, names[i], (hg_buffer){bits[i]})) == HG_OK;
    if (good && lanes) w->launched = true, w->launch = hg_launch_linear(lanes);
    good = good && hg_executable_create(backend, w->program, &e) == HG_OK &&
           hg_binding_create(e, w->launched ? &w->launch : NULL, w->params, &w->binding) == HG_OK;
    hg_executable_destroy(e);
    if (good) return w;
    cpu_release(w);
    return NULL;
}

EXPORT double cpu_launch(const work *w, int runs) {
    double start = bench_now();
    for (int i = 0; i < runs; i++)
        if (hg_binding_launch(w->binding) != HG_OK) return -1;
    return (bench_now() - start) / runs;
}

EXPORT double cpu_execute(const work *w, int runs) {
    double start = bench_now();
    for (int i = 0; i < runs; i++)
        if (hg_backend_execute_program_with_params(
                backend, w->program, w->launched ? &w->launch : NULL, w->params) != HG_OK)
            return -1;
    return (bench_now() - start) / runs;
}

/* Program and binding from the text on, and a first launch: what a compiler costs. */
EXPORT double cpu_first(const char *text, uint64_t size, uint64_t lanes, int count,
                        const char **names, const int *types, const uint64_t *bits) {
    double start = bench_now();
    work *w = cpu_bind(text, size, false, lanes, count, names, types, bits);
    if (!w || hg_binding_launch(w->binding) != HG_OK) return -1;
    double seconds = bench_now() - start;
    cpu_release(w);
    return seconds;
}

/* ---- launches from several threads ---- */

typedef struct launcher {
    hg_binding *binding;
    hg_context *context;
    int count;
    bool good;
} launcher;

static void *launch_many(void *user) {
    launcher *l = user;
    hg_binding *binding = l->binding;
    hg_context *context = l->context;
    bool good = true;
    for (int i = l->count; i > 0 && good; i--)
        good = hg_binding_launch_in(binding, context) == HG_OK; /* writes nothing that threads share
                                                                 */
    l->good = good;
    return NULL;
}

/* count launches of each of two works: by one thread (both in turns) or by two at the same time. */
EXPORT double cpu_threads(work *const works[2], int count, int threads) {
    launcher l[2];
    pthread_t other;
    double seconds = -1;
    for (int i = 0; i < 2; i++) {
        l[i] = (launcher){works[i]->binding, NULL, count, true};
        if (hg_context_create(backend, &l[i].context) != HG_OK) return -1;
    }
    double start = bench_now();
    if (threads == 1 || pthread_create(&other, NULL, launch_many, &l[1]) != 0) {
        launch_many(&l[0]);
        launch_many(&l[1]);
    } else {
        launch_many(&l[0]);
        pthread_join(other, NULL);
    }
    if (l[0].good && l[1].good) seconds = bench_now() - start;
    for (int i = 0; i < 2; i++) hg_context_destroy(l[i].context);
    return seconds;
}

/* ---- peers ---- */

/* A second thread that waits for work: it looks for a while, then sleeps. Parts of a work go to who
 * is free. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint turn, done;
    peer_function *function;
    const peer_job *job;
    uint64_t units, part;
    _Atomic uint64_t next;
    bool started;
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void take_parts(void) {
    for (;;) {
        uint64_t from = atomic_fetch_add(&team.next, team.part);
        if (from >= team.units) return;
        team.function(team.job, from,
                      from + team.part < team.units ? from + team.part : team.units);
    }
}

static void *helper(void *user) {
    (void)user;
    for (unsigned seen = 0;; seen++) {
        for (int i = 0; i < 20000 && atomic_load(&team.turn) == seen; i++) PAUSE();
        if (atomic_load(&team.turn) == seen) {
            pthread_mutex_lock(&team.lock);
            while (atomic_load(&team.turn) == seen) pthread_cond_wait(&team.wake, &team.lock);
            pthread_mutex_unlock(&team.lock);
        }
        take_parts();
        atomic_store(&team.done, seen + 1);
    }
    return NULL;
}

static void run_on_two(peer_function *function, const peer_job *job, uint64_t units,
                       uint64_t part) {
    pthread_t thread;
    if (!team.started) team.started = pthread_create(&thread, NULL, helper, NULL) == 0;
    team.function = function, team.job = job, team.units = units, team.part = part;
    atomic_store(&team.next, 0);
    pthread_mutex_lock(&team.lock);
    unsigned turn = atomic_fetch_add(&team.turn, 1) + 1;
    pthread_cond_signal(&team.wake);
    pthread_mutex_unlock(&team.lock);
    take_parts();
    while (atomic_load(&team.done) != turn) PAUSE();
}

/* part: units that one thread takes at a time. */
EXPORT double cpu_peer(peer_function *function, const peer_job *job, uint64_t units, uint64_t part,
                       int threads, int runs) {
    double start = bench_now();
    for (int i = 0; i < runs; i++) {
        if (threads == 1)
            function(job, 0, units);
        else
            run_on_two(function, job, units, part);
    }
    return (bench_now() - start) / runs;
}

/* ---- OpenCL ---- */

static peer *device;

EXPORT bool cpu_opencl_open(char reason[256]) {
    if (!device) device = peer_opencl.open(0, reason);
    return device != NULL;
}

EXPORT bool cpu_opencl_prepare(const char *folder, const peer_workload *w) {
    return peer_opencl.prepare(device, w, folder) != 0;
}
EXPORT void cpu_opencl_read(int buffer, void *to, uint64_t bytes) {
    peer_opencl.read(device, buffer, to, bytes);
}
EXPORT void cpu_opencl_release(void) { peer_opencl.release(device); }
EXPORT double cpu_opencl(int runs) {
    double start = bench_now();
    for (int i = 0; i < runs; i++) peer_opencl.run(device);
    return (bench_now() - start) / runs;
}
