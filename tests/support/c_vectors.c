#include "c_vectors.h"
#include "backends/cpu/compiled.h"
#include "base/base.h"
#include "emit/emit.h"
#include "tile/tile.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct compiler {
    char words[128];
    uint32_t bytes;
} compiler;

static compiler chosen;
static _Atomic uint64_t compiled, refused;

static void unload(void *library) { dlclose(library); }

static const char *march(uint32_t bytes) {
#if defined(__x86_64__)
    return bytes == 64 ? "-march=x86-64-v4 -mprefer-vector-width=512" : bytes == 32 ? "-march=x86-64-v3" : "";
#else
    (void)bytes;
    return "";
#endif
}

static void *build(const compiler *c, const char *folder, const hg_text *text) {
    char path[160], command[1024];
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    FILE *f = fopen(path, "w");
    if (!f) return NULL;
    bool good = fwrite(text->data, 1, text->length, f) == text->length;
    good = fclose(f) == 0 && good;
    snprintf(command, sizeof command,
             "%s -std=gnu17 -w %s -ffp-contract=off -fno-math-errno -I%s/include -shared -fPIC -o %s/kernel.so %s -lm", c->words,
             march(c->bytes), HG_SOURCE_DIR, folder, path);
    if (!good || system(command) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        return NULL;
    }
    unlink(path);
    snprintf(path, sizeof path, "%s/kernel.so", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    unlink(path);
    return library;
}

static hg_status compile(void *user, vec_kernel *kernel, tile_native *native) {
    const compiler *c = user;
    hg_text text = {0};
    char name[96], folder[] = "/tmp/hologram-vectors-XXXXXX";
    HG_TRY(emit_vector_c(&kernel, 1, c->bytes, "", &text));
    void *library = mkdtemp(folder) ? build(c, folder, &text) : NULL;
    rmdir(folder);
    hg_text_free(&text);
    if (!library) {
        refused++; /* the launch runs on the interpreter */
        return hg_fail(HG_ERROR_INTERNAL, "the C compiler refuses a kernel");
    }
    emit_kernel_name(kernel->module, name);
    *(void **)(void *)&native->run = dlsym(library, name);
    native->destroy = unload;
    native->user = library;
    compiled++;
    return HG_OK;
}

bool c_vectors_use(const char *words, char reason[256]) {
    static cpu_compiler use = {.compile = compile, .user = &chosen};
    char command[256];
    unsigned bytes = 0, lanes = 0;
    if (sscanf(words, "%u:%u:%127[^\n]", &bytes, &lanes, chosen.words) != 3)
        return snprintf(reason, 256, "expected BYTES:LANES:COMPILER, got '%s'", words), false;
    chosen.bytes = bytes;
    use.lanes = lanes;
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", chosen.words);
    if (system(command) != 0) return snprintf(reason, 256, "no compiler '%s'", chosen.words), false;
    tile_level level = bytes == 64 ? TILE_LEVEL_V4 : bytes == 32 ? TILE_LEVEL_V3 : TILE_LEVEL_BASELINE;
    if (!tile_level_available(level)) return snprintf(reason, 256, "this machine has no vectors of %u bytes", bytes), false;
    cpu_compiler_in_use = &use;
    return true;
}

uint64_t c_vectors_end(void) {
    printf("compiled: %" PRIu64 " kernels\n", compiled);
    return refused + !compiled;
}
