#include "c_vectors.h"
#include "native/compilers.h"
#include "base/base.h"
#include "emit/emit.h"
#include "jit/jit.h"
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
    uint32_t bytes, lanes;
} compiler;

static compiler chosen;
static const native_compiler *machine; /* in place of which it stands */
static _Atomic uint64_t compiled, refused;

static const char *march(uint32_t bytes) {
#if defined(__x86_64__)
    return bytes == 64   ? "-march=x86-64-v4 -mprefer-vector-width=512"
           : bytes == 32 ? "-march=x86-64-v3"
                         : "";
#else
    (void)bytes;
    return "";
#endif
}

/* The bytes of a file; NULL: it cannot be read. */
static uint8_t *read_file(const char *path, uint64_t *size) {
    enum { MOST = 64 << 20 };
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = f ? malloc(MOST) : NULL;
    *size = bytes ? fread(bytes, 1, MOST, f) : 0;
    if (f) fclose(f);
    uint8_t *less = *size ? realloc(bytes, *size) : NULL;
    return less ? less : bytes;
}

static uint8_t *build(const compiler *c, const char *folder, const hg_text *text, const char *name,
                      uint64_t *size) {
    char path[160], command[1024];
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    FILE *f = fopen(path, "w");
    if (!f) return NULL;
    bool good = fwrite(text->data, 1, text->length, f) == text->length;
    good = fclose(f) == 0 && good;
    snprintf(
        command, sizeof command,
        "%s -std=gnu17 -w %s -ffp-contract=off -fno-math-errno -I%s/include -D%s=" HG_JIT_KERNEL
        " -c -fPIC -o %s/kernel.o %s",
        c->words, march(c->bytes), HG_SOURCE_DIR, name, folder, path);
    good = good && system(command) == 0;
    if (!good) fprintf(stderr, "failed: %s\n", command);
    unlink(path);
    snprintf(path, sizeof path, "%s/kernel.o", folder);
    uint8_t *bytes = good ? read_file(path, size) : NULL;
    unlink(path);
    return bytes;
}

static hg_status compile(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    (void)patience; /* these take no time worth speaking of */
    hg_text text = {0};
    char name[96], folder[] = "/tmp/hologram-vectors-XXXXXX";
    hg_status status = emit_vector_c(&kernel, 1, options->bytes, "", &text);
    if (status != HG_OK) return snprintf(reason, 256, "%.255s", hg_last_error()->message), status;
    emit_kernel_name(kernel->module, name);
    object->bytes = mkdtemp(folder) ? build(&chosen, folder, &text, name, &object->size) : NULL;
    rmdir(folder);
    hg_text_free(&text);
    if (!object->bytes) {
        refused++; /* the launch runs on the interpreter */
        snprintf(reason, 256, "the C compiler refuses a kernel");
        return HG_ERROR_INTERNAL;
    }
    compiled++;
    return HG_OK;
}

static void release(uint8_t *bytes) { free(bytes); }

/* ---- libhologram_jit.so ---- */

static const hg_jit_table *module;

static hg_status compile_by_module(vec_kernel *kernel, const hg_jit_options *options,
                                   const hg_patience *patience, hg_jit_object *object,
                                   char reason[256]) {
    hg_status status = module->compile(kernel, options, patience, object, reason);
    if (status == HG_OK) {
        compiled++;
    } else if (status != HG_ERROR_ISA) {
        refused++; /* the launch runs on the interpreter */
        fprintf(stderr, "kernel '%s': %s\n", kernel->module->name, reason);
    }
    return status;
}

static void release_by_module(uint8_t *bytes) { module->release(bytes); }

static bool open_module(char reason[256]) {
    void *library = dlopen(HG_BUILD_DIR "/libhologram_jit.so", RTLD_NOW | RTLD_LOCAL);
    hg_jit_entry entry = NULL;
    if (library) *(void **)(void *)&entry = dlsym(library, HG_JIT_ENTRY);
    module = entry ? entry(HG_JIT_VERSION) : NULL;
    if (!module)
        snprintf(reason, 256, "no libhologram_jit.so of this version: %s",
                 library ? "" : dlerror());
    return module != NULL;
}

/* ---- the compiler in the library's table ---- */

static bool always(void) { return true; }
static const char *open_compiler(char reason[256]) { return (void)reason, chosen.words; }

static void level_of(tile_level level, native_level *how) {
    machine->level(level, how);
    how->options.bytes = chosen.bytes;
    how->options.dot4 = false;
    how->fixed = chosen.lanes != 0;
    if (how->fixed) how->lanes = chosen.lanes;
}

bool c_vectors_use(const char *words, char reason[256]) {
    static native_compiler use;
    if (!machine) machine = native_choose();
    if (!machine) return snprintf(reason, 256, "no native code on this machine"), false;
    use = (native_compiler){.name = "a compiler of the tests",
                            .at_once = true,
                            .level = level_of,
                            .possible = always,
                            .there = always,
                            .open = open_compiler,
                            .compile = compile,
                            .release = release,
                            .loader = machine->loader};
    char command[256];
    unsigned bytes = 0, lanes = 0;
    if (sscanf(words, "%u:%u:%127[^\n]", &bytes, &lanes, chosen.words) != 3)
        return snprintf(reason, 256, "expected BYTES:LANES:COMPILER, got '%s'", words), false;
    chosen.bytes = bytes;
    chosen.lanes = lanes;
    if (strcmp(chosen.words, "llvm") == 0) {
        if (!open_module(reason)) return false;
        use.compile = compile_by_module;
        use.release = release_by_module;
        use.caps = machine->caps;
    }
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", chosen.words);
    if (!module && system(command) != 0)
        return snprintf(reason, 256, "no compiler '%s'", chosen.words), false;
    tile_level level = bytes == 64   ? TILE_LEVEL_V4
                       : bytes == 32 ? TILE_LEVEL_V3
                                     : TILE_LEVEL_BASELINE;
    if (!tile_level_available(level))
        return snprintf(reason, 256, "this machine has no vectors of %u bytes", bytes), false;
    native_compiler_in_use = &use;
    return true;
}

uint64_t c_vectors_end(void) {
    printf("compiled: %" PRIu64 " kernels\n", compiled);
    return refused + !compiled;
}
