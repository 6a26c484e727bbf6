/* Opening oneDNN. Must not know: steps, devices. */
#include "backends/cpu/onednn.h"
#include "base/fork.h"
#include "base/library.h"
#include <stdio.h>
#include <string.h>

#define INSTALL "apt-get install libdnnl2, or another build of oneDNN 2.x"

enum { RUNTIME_SEQUENTIAL = 1, RUNTIME_OPENMP = 2 }; /* dnnl_version_t.cpu_runtime */

/* Versions of other numbers have other structures, so this comes before all else. */
static bool check_version(hg_library *opened, onednn_library *library, unsigned *runtime,
                          char reason[256]) {
    const onednn_version *(*version)(void);
    if (!hg_library_function(opened, "dnnl_version", (void *)&version)) {
        snprintf(reason, 256, "the oneDNN library has no dnnl_version: " INSTALL);
        return false;
    }
    const onednn_version *v = version();
    snprintf(library->version, sizeof library->version, "oneDNN %d.%d.%d", v->major, v->minor,
             v->patch);
    *runtime = v->cpu_runtime;
    if (v->major == 2) return true;
    snprintf(reason, 256, "%s is installed, 2.x expected: " INSTALL, library->version);
    return false;
}

static bool find_functions(hg_library *opened, onednn_library *library, char reason[256]) {
#define ONEDNN_FUNCTION(result, name, parameters)                                      \
    if (!hg_library_function(opened, "dnnl_" #name, (void *)&library->name)) {         \
        snprintf(reason, 256, "%s has no dnnl_" #name ": " INSTALL, library->version); \
        return false;                                                                  \
    }
#define ONEDNN_OPTIONAL(result, name, parameters) \
    (void)hg_library_function(opened, "dnnl_" #name, (void *)&library->name);
#include "backends/cpu/onednn.def"
    return true;
}

/* Its own threads are never used: a forked child waits for those of OpenMP for ever, and they would
 * take the CPUs from the pool's. Each thread of the pool runs it with one. */
static bool find_threads(hg_library *opened, onednn_library *library, unsigned runtime,
                         char reason[256]) {
    if (runtime == RUNTIME_SEQUENTIAL) return true;
    if (runtime == RUNTIME_OPENMP &&
        hg_library_function(opened, "omp_set_num_threads", (void *)&library->omp_set_num_threads) &&
        hg_library_function(opened, "omp_get_max_threads", (void *)&library->omp_get_max_threads))
        return true;
    snprintf(reason, 256, "%s runs on threads that are not OpenMP's: " INSTALL, library->version);
    return false;
}

bool onednn_open(const char *const *names, size_t count, onednn_library *library,
                 char reason[256]) {
    char said[128] = "";
    unsigned runtime;
    memset(library, 0, sizeof *library);
    hg_library *opened = hg_library_open(names, count, said, sizeof said);
    if (!opened) {
        snprintf(reason, 256, "no oneDNN (%s): " INSTALL, said);
        return false;
    }
    if (!check_version(opened, library, &runtime, reason) ||
        !find_functions(opened, library, reason) || !find_threads(opened, library, runtime, reason))
        return false;
    int status = library->engine_create(&library->engine, ONEDNN_CPU, 0);
    if (status != 0) {
        snprintf(reason, 256, "%s: dnnl_engine_create failed with status %d", library->version,
                 status);
        return false;
    }
    library->isa = library->get_effective_cpu_isa();
    return true;
}

/* ---- the process's ---- */

static const char *const NAMES[] = {"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so",
                                    "libdnnl.2.dylib"};
static hg_once_flag once = HG_ONCE_INIT;
static onednn_library the_library;
static bool is_open;
static char missing[256];
static uint32_t opened_in; /* hg_fork_count */
static hg_mutex making = HG_MUTEX_INIT;
static hg_fork_lock making_in_fork = {.mutex = &making};

static void open_library(void) {
    opened_in = hg_fork_count;
    is_open = onednn_open(NAMES, HG_COUNT_OF(NAMES), &the_library, missing);
    if (is_open) hg_fork_add(&making_in_fork, HG_FORK_TILE);
}

const onednn_library *onednn_get(char reason[256]) {
    hg_once(&once, open_library);
    if (!is_open && reason) memcpy(reason, missing, sizeof missing);
    return is_open ? &the_library : NULL;
}

void onednn_lock(void) { hg_mutex_lock(&making); }
void onednn_unlock(void) { hg_mutex_unlock(&making); }
bool onednn_is_parents(void) { return opened_in != hg_fork_count; }
