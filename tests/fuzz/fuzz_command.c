/* Any lines as the arguments of the command, in a folder of its own with a few files. Its words,
 * limits and endings are those of language.md 5 and 6; here: it ends with one of its exit statuses,
 * without a crash. The command's objects are linked with its main renamed. Seeds:
 * seeds/fuzz_command. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int hologram_main(int argc, char **argv);

enum { MAX_ARGUMENTS = 24, MAX_BYTES = 2000 };

static int report; /* where libFuzzer writes */

static void put(const char *name, const void *bytes, size_t length) {
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) abort();
}
#define PUT(name, text) put(name, text, sizeof(text) - 1)

static void make_files(void) {
    PUT("add.atlas", ".atlas 1\n.program add\n.param r1 x buffer u32 inout [n]\n.param r4 n "
                     "u64\n.param r5 a u32 = 3\n.lanes n\n"
                     "    mov_imm.u32 r9, 2\n    shl.u64 r10, r255, r9\n    ldg.u32 r11, [r1 + "
                     "r10]\n    add.u32 r11, r11, r5\n"
                     "    stg.u32 [r1 + r10], r11\n");
    PUT("map.atlas", ".atlas 1\n.program map\n.param r1 x buffer f32 inout [n]\n.param r4 n u64\n  "
                     "  parallel_map.f32 r1, r1, neg, r4\n");
    PUT("k.json", "{\"name\":\"k\",\"params\":[{\"name\":\"x\",\"type\":\"f32*\"}],\"body\":[]}");
    PUT("c.circuit", "copy@c00->c05 . swap@c01<->c02");
    static const uint8_t words[64] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    put("x.bin", words, sizeof words);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    static char folder[] = "/tmp/hologram-fuzz-XXXXXX";
    const struct rlimit most = {1 << 20, 1 << 20}; /* of a written file; libFuzzer's own corpus
                                                      files are smaller */
    setenv("OCL_ICD_VENDORS", "none", 1);
    setenv("VK_DRIVER_FILES", "none", 1);
    setenv("VK_ICD_FILENAMES", "none", 1);
    setenv("HOLOGRAM_CACHE_DIR", "off", 1);
    setenv("HOLOGRAM_MAX_MEMORY", "67108864", 1);
    setenv("HOLOGRAM_TIMEOUT_MS", "500", 1);
    setenv("HOLOGRAM_NUM_THREADS", "1", 1);
    setrlimit(RLIMIT_FSIZE, &most);

    if (!mkdtemp(folder) || chdir(folder) != 0) abort();
    make_files();
    report = dup(STDERR_FILENO);
    return 0;
}

/* Nothing outside the folder: no absolute name, no way up. Nothing that waits on purpose. */
static bool is_allowed(const char *argument) {
    return !strchr(argument, '/') && !strstr(argument, "..") && strcmp(argument, "-") != 0 &&
           !strstr(argument, "=-");
}

static void redirect(const char *path, int flags, int to) {
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, to) < 0) abort();
    if (file != to) close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char bytes[MAX_BYTES + 1];
    static char name[] = "hologram";
    char *arguments[MAX_ARGUMENTS + 2] = {name};
    int count = 1;
    if (size > MAX_BYTES || memchr(data, 0, size)) return 0;
    memcpy(bytes, data, size);
    bytes[size] = 0;
    for (char *at = bytes; at && count <= MAX_ARGUMENTS;) {
        char *end = strchr(at, '\n');
        if (end) *end++ = 0;
        if (!is_allowed(at)) return 0;
        if (*at || end) arguments[count++] = at;
        at = end;
    }
    if (count > 1 && strcmp(arguments[1], "stream") == 0)
        return 0; /* reads its input to the end, for ever on purpose */
    if (count > 1 && strcmp(arguments[1], "tune") == 0) return 0; /* measures for minutes */
    fflush(NULL);
    int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
    redirect("/dev/null", O_WRONLY, STDERR_FILENO);
    int status = hologram_main(count, arguments);
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    close(out);
    close(error);
    if (status < 0 || status > 3) {
        dprintf(report, "exit status %d\n", status);
        abort();
    }
    return 0;
}
