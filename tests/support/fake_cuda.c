/* See fake_cuda.h. */
#include "support/fake_cuda.h"
#include <dlfcn.h>
#include <stdlib.h>

bool fake_cuda_is_here(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return library && dlsym(library, "fake_cuda_live");
}

static long ask(const char *symbol) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    long (*count)(void) = NULL;
    if (library) *(void **)&count = dlsym(library, symbol);
    if (library) (void)dlclose(library);
    return count ? count() : 0;
}

long fake_cuda_things(void) { return ask("fake_cuda_live"); }
long fake_cuda_graphs(void) { return ask("fake_cuda_graph_launches"); }

int fake_cuda_compilations(void) {
    const char *name = getenv("HOLOGRAM_NVRTC");
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : NULL;
    int (*count)(void) = NULL;
    if (library) *(void **)&count = dlsym(library, "fake_nvrtc_compilations");
    return count ? count() : -1;
}
