/* scratch: gcc as a compiler of native code, of the same C that `hologram build` prints. */
#include "emit/emit.h"
#include "native/elf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void level(tile_level level, native_level *how) {
    (void)level;
    *how = (native_level){.options = {.bytes = 16, .cpu = "x86-64"}, .lanes = 8, .registers = 16};
}

static bool always(void) { return true; }
static const char *open_gcc(char reason[256]) { return (void)reason, "gcc of a test"; }

static uint8_t *read_all(const char *path, uint64_t *size) {
    enum { MOST = 1 << 24 };
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = f ? malloc(MOST) : NULL;
    *size = bytes ? fread(bytes, 1, MOST, f) : 0;
    if (f) fclose(f);
    return bytes;
}

static hg_status compile(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    (void)patience;
    hg_text text = {0};
    char name[96], folder[] = "/tmp/hologram-touch-XXXXXX", path[64], command[512];
    HG_TRY(emit_vector_c(&kernel, 1, options->bytes, "", &text));
    emit_kernel_name(kernel->module, name);
    if (!mkdtemp(folder)) return HG_ERROR_INTERNAL;
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    FILE *f = fopen(path, "w");
    if (f) {
        fwrite(text.data, 1, text.length, f);
        fclose(f);
    }
    snprintf(command, sizeof command,
             "cd %s && gcc -std=gnu17 -O1 -w -ffp-contract=off -fno-math-errno -I'%s' "
             "-D%s=" HG_JIT_KERNEL " -c -fPIC kernel.c",
             folder, getenv("TOUCH_INCLUDE"), name);
    int failed = system(command);
    snprintf(path, sizeof path, "%s/kernel.o", folder);
    object->bytes = failed ? NULL : read_all(path, &object->size);
    hg_text_free(&text);
    snprintf(command, sizeof command, "rm -r %s", folder);
    failed = system(command);
    snprintf(reason, 256, "gcc refuses it");
    return object->bytes ? HG_OK : HG_ERROR_ISA;
}

static void release(uint8_t *bytes) { free(bytes); }

const native_compiler native_scratch = {.name = "gcc",
                                        .level = level,
                                        .possible = always,
                                        .there = always,
                                        .open = open_gcc,
                                        .compile = compile,
                                        .release = release,
                                        .loader = &native_elf};
