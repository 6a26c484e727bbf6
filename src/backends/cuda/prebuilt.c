/* PTX that was made when the library was built, for machines without NVRTC: the file hologram.ptx
 * beside the library, which tools/gen_ptx.c writes where NVRTC is installed. A line "hologram PTX 1
 * ...", then for each kernel a line "KEY BYTES NAME" and so many bytes of PTX. Kernels are found by
 * the same key as PTX in the cache on disk.
 * Must not know: what the kernels are. */
#include "backends/cuda/cuda_internal.h"
#include <stdio.h>
#include <string.h>

#define FILE_NAME "hologram.ptx"
#ifndef HG_LIB_DIR
#define HG_LIB_DIR "/usr/local/lib"
#endif

/* The library's own; false: there is none. */
static bool find_file(char path[1024]) {
    const char *own = hg_host_variable("HOLOGRAM_PTX");
    if (!own || !*own) return hg_library_beside(FILE_NAME, HG_LIB_DIR, path, 1024);
    return (size_t)snprintf(path, 1024, "%s", own) < 1024;
}

/* Behind its first line. */
static FILE *open_file(const char *path) {
    char line[128];
    FILE *f = fopen(path, "rb");
    if (f && fgets(line, sizeof line, f) &&
        strncmp(line, CUDA_PTX_HEAD, sizeof CUDA_PTX_HEAD - 1) == 0)
        return f;
    if (f) (void)fclose(f);
    return NULL;
}

void cuda_prebuilt_key(const uint8_t key[HG_BLOB_KEY_BYTES], char text[CUDA_KEY_TEXT]) {
    for (int i = 0; i < HG_BLOB_KEY_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", key[i]);
}

/* The next kernel's line. False: the end, or what is no such line. */
static bool read_line(FILE *f, char key[CUDA_KEY_TEXT], uint64_t *bytes) {
    char line[256], *digits = line + CUDA_KEY_TEXT;
    if (!fgets(line, sizeof line, f) || strspn(line, "0123456789abcdef") != CUDA_KEY_TEXT - 1 ||
        digits[-1] != ' ')
        return false;
    digits[-1] = 0;
    memcpy(key, line, CUDA_KEY_TEXT);
    return hg_read_digits(digits, strspn(digits, "0123456789"), bytes) != 0 &&
           *bytes < CUDA_MOST_PTX;
}

bool cuda_prebuilt_there(void) {
    char key[CUDA_KEY_TEXT], path[1024];
    uint64_t bytes;
    FILE *f = find_file(path) ? open_file(path) : NULL;
    bool there = f && read_line(f, key, &bytes);
    if (f) (void)fclose(f);
    return there;
}

static char *read_text(FILE *f, uint64_t bytes) {
    char *text = hg_alloc((size_t)bytes + 1);
    if (!text) return NULL;
    text[bytes] = 0;
    if (fread(text, 1, (size_t)bytes, f) == bytes) return text;
    hg_free(text);
    return NULL;
}

char *cuda_prebuilt_read(const char *path, const uint8_t key[HG_BLOB_KEY_BYTES]) {
    char wanted[CUDA_KEY_TEXT], found[CUDA_KEY_TEXT], *text = NULL;
    uint64_t bytes;
    FILE *f = open_file(path);
    cuda_prebuilt_key(key, wanted);
    while (f && read_line(f, found, &bytes)) {
        if (strcmp(found, wanted) == 0) {
            text = read_text(f, bytes);
            break;
        }
        if (fseek(f, (long)bytes, SEEK_CUR) != 0) break;
    }
    if (f) (void)fclose(f);
    return text;
}

char *cuda_prebuilt_find(const uint8_t key[HG_BLOB_KEY_BYTES]) {
    char path[1024];
    return find_file(path) ? cuda_prebuilt_read(path, key) : NULL;
}
