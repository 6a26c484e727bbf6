/* What hologram.wasm has beside the public functions: where memory for arguments comes from, the
 * clock of the host, and functions of C for what the host is called back for. The import module is
 * "host". Must not know: JavaScript's objects; everything has a number there. */
#include "base/thread.h"
#include <hologram/hologram.h>
#include <stdlib.h>

#define EXPORT(name) HG_WASM_EXPORT(#name)
#define IMPORT(name) HG_WASM_IMPORT("host", #name)

IMPORT(clock_ms) double host_clock_ms(void);
/* An event that hg_event_on_done was asked for is over. */
IMPORT(event_done) void host_event_done(uint32_t user, hg_status status, const hg_error *error);
/* Finds what `.include` and `.data` name; what it sets in source stays until the call is over. */
IMPORT(resolve)
hg_status host_resolve(uint32_t user, const char *from, const char *name, hg_source *source);
/* The program of a line `.program NAME "FILE"` of a graph. */
IMPORT(graph_program)
hg_status host_graph_program(uint32_t user, const char *file, hg_diagnostics *diagnostics,
                             hg_program **program);

static uint64_t clock_ns(void) { return (uint64_t)(host_clock_ms() * 1e6); }

EXPORT(hologram_start) void hologram_start(void) { hg_clock_set(clock_ns); }
/* Workers: one calls hologram_worker, which does not return, on a stack of its own; the first
 * thread says how many there are before it calls anything else. */
EXPORT(hologram_workers) void hologram_workers(uint32_t count) { hg_workers_set(count); }
EXPORT(hologram_worker) void hologram_worker(uint32_t number) { hg_worker_serve(number); }
EXPORT(hologram_workers_used) uint32_t hologram_workers_used(void) { return hg_workers_used(); }
EXPORT(hologram_allocate) void *hologram_allocate(size_t size) { return malloc(size ? size : 1); }
EXPORT(hologram_free) void hologram_free(void *memory) { free(memory); }

static void event_done(void *user, hg_status status, const hg_error *error) {
    host_event_done((uint32_t)(uintptr_t)user, status, error);
}
static hg_status resolve(void *user, const char *from, const char *name, hg_source *source) {
    return host_resolve((uint32_t)(uintptr_t)user, from, name, source);
}
static hg_status graph_program(void *user, const char *file, hg_diagnostics *diagnostics,
                               hg_program **program) {
    return host_graph_program((uint32_t)(uintptr_t)user, file, diagnostics, program);
}

/* Their addresses, as structures and calls take them. */
EXPORT(hologram_event_done) hg_event_listener *hologram_event_done(void) { return event_done; }
EXPORT(hologram_resolve) void *hologram_resolve(void) { return (void *)(uintptr_t)resolve; }
EXPORT(hologram_graph_program) void *hologram_graph_program(void) {
    return (void *)(uintptr_t)graph_program;
}
