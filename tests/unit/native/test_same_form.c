/* The text of the vector form that libhologram_jit.so gets of a kernel, and that the C of
 * `hologram build` is printed from at the same level, are the same, for each program in folders of
 * texts. Not where arrays have axes: the C asks for their bytes too, as nobody has asked before
 * whether arrays hold their extents (kir_build_options.short_arrays). Nor where integers are wide:
 * they are arrays in C, and may be values for LLVM (kir_caps.limb_values). */
#include "base/base.h"
#include "io/io.h"
#include "isa/program.h"
#include "native/compilers.h"
#include "offline/build.h"
#include "support/c_vectors.h"
#include "test.h"

#include <dirent.h>
#include <hologram/backend.h>
#include <hologram/program.h>
#include <hologram/type.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64, LANES = 16 }; /* of the level; rows of small blocks have turns of fewer */
static uint64_t seen[MOST], same;
static uint32_t count;
static native_compiler recorder;

/* What is printed has been verified; here nobody needs code of it. */
static hg_status record(vec_kernel *kernel, const hg_jit_options *options,
                        const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    (void)options, (void)patience, (void)object;
    if (count < MOST && kernel->lanes == LANES && vec_verify(kernel) == HG_OK)
        seen[count++] = vec_hash(kernel);
    snprintf(reason, 256, "only recorded");
    return HG_ERROR_ISA;
}

/* Of the kernels for vectors of 32 bytes. */
static bool has(const char *text, uint64_t hash) {
    char line[64];
    const char *from = strstr(text, "==== vectors of 32 bytes ===="),
               *to = from ? strstr(from, "==== vectors of 64 bytes ====") : NULL;
    snprintf(line, sizeof line, "/* vector form %016llx */", (unsigned long long)hash);
    const char *at = from ? strstr(from, line) : NULL;
    return at && (!to || at < to);
}

static void check(hg_backend *b, const hg_program *program, const char *what) {
    hg_text c = {0}, h = {0};
    hg_executable *made = NULL;
    const hg_build_request request = {.programs = &program, .count = 1, .name = "forms"};
    count = 0;
    if (hg_build(&request, &c, &h) == HG_OK && hg_executable_create(b, program, &made) == HG_OK) {
        for (uint32_t i = 0; i < count; i++) {
            CHECK_MESSAGE(c.data && has(c.data, seen[i]),
                          "%s: the C is of another form than %016llx", what,
                          (unsigned long long)seen[i]);
            same += c.data && has(c.data, seen[i]);
        }
    }
    hg_executable_destroy(made);
    hg_text_free(&c);
    hg_text_free(&h);
}

static bool has_axes(const hg_program *program) {
    for (uint32_t i = 0; i < program->inst_count; i++)
        if (program->insts[i].op == HG_OP_AXIS || program->insts[i].op == HG_OP_AXIS_FIRST)
            return true;
    return false;
}

static bool has_wide(const hg_program *program) {
    for (uint32_t i = 0; i < program->inst_count; i++)
        if (hg_type_size_bytes((hg_type)program->insts[i].type) > 8) return true;
    return false;
}

static void check_folder(hg_backend *b, const char *folder) {
    char path[600];
    DIR *dir = opendir(folder);
    CHECK(dir);
    for (const struct dirent *e; b && dir && (e = readdir(dir)) != NULL;) {
        const char *end = strrchr(e->d_name, '.');
        hg_bytes bytes = {0};
        hg_program *program = NULL;
        if (!end || strcmp(end, ".atlas") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        CHECK(hg_file_read(path, 1 << 20, &bytes) == HG_OK);
        if (hg_program_assemble((const char *)bytes.data, bytes.length, NULL, &program) == HG_OK &&
            !has_axes(program) && !has_wide(program))
            check(b, program, e->d_name);
        hg_program_release(program);
        hg_bytes_free(&bytes);
    }
    if (dir) closedir(dir);
}

int main(void) {
    char reason[256];
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    if (!c_vectors_use("32:16:llvm", reason)) {
        printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", reason);
        return 0;
    }
    recorder = *native_compiler_in_use;
    recorder.compile = record;
    native_compiler_in_use = &recorder;
    memcpy(config.backend, "cpu", 4);
    memcpy(config.jit, "on", 3);
    CHECK(hg_backend_create_with_config(&config, &b) == HG_OK);
    check_folder(b, HG_SOURCE_DIR "/examples/programs");
    check_folder(b, HG_SOURCE_DIR "/tests/instructions");
    check_folder(b, HG_SOURCE_DIR "/tests/statements/instructions");
    check_folder(b, HG_SOURCE_DIR "/bench/cpu");
    check_folder(b, HG_SOURCE_DIR "/bench/devices");
    hg_backend_destroy(b);
    CHECK_MESSAGE(same >= 10, "%llu kernels", (unsigned long long)same);
    return test_done();
}
