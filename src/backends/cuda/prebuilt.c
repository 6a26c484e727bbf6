/* PTX that was made when the library was built, for machines without NVRTC: the file hologram.ptx beside the library, which tools/gen_ptx.c writes where
 * NVRTC is installed. A line "hologram PTX 1 ...", then for each kernel a line "KEY BYTES NAME" and so many bytes of PTX. Kernels are found by
 * the same key as PTX in the cache on disk.
 * Must not know: what the kernels are. */
#include "backends/cuda/cuda_internal.h"
#include <stdio.h>
#include <string.h>

#define FILE_NAME "hologram.ptx"
#ifndef HG_LIB_DIR
#define HG_LIB_DIR "/usr/local/lib"
#endif

static FILE *open_file(void) {
    char path[1024], line[128];
    const char *own = hg_host_variable("HOLOGRAM_PTX");
    FILE *f = NULL;
    if (own && *own)
        f = fopen(own, "rb");
    else if (hg_library_beside(FILE_NAME, HG_LIB_DIR, path, sizeof path))
        f = fopen(path, "rb");
    if (!f) return NULL;
    if (fgets(line, sizeof line, f) && strncmp(line, CUDA_PTX_HEAD, sizeof CUDA_PTX_HEAD - 1) == 0) return f;
    (void)fclose(f);
    return NULL;
}

/* The next kernel's line. False: the end, or what is no such line. */
static bool read_line(FILE *f, char key[2 * HG_BLOB_KEY_BYTES + 1], uint64_t *bytes) {
    char line[256];
    if (!fgets(line, sizeof line, f) || strspn(line, "0123456789abcdef") != 2 * HG_BLOB_KEY_BYTES || line[2 * HG_BLOB_KEY_BYTES] != ' ')
        return false;
    memcpy(key, line, 2 * HG_BLOB_KEY_BYTES);
    key[2 * HG_BLOB_KEY_BYTES] = 0;
    const char *digits = line + 2 * HG_BLOB_KEY_BYTES + 1;
    return hg_read_digits(digits, strspn(digits, "0123456789"), bytes) != 0 && *bytes < CUDA_MOST_PTX;
}

bool cuda_prebuilt_there(void) {
    char key[2 * HG_BLOB_KEY_BYTES + 1];
    uint64_t bytes;
    FILE *f = open_file();
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

char *cuda_prebuilt_find(const uint8_t key[HG_BLOB_KEY_BYTES]) {
    char wanted[2 * HG_BLOB_KEY_BYTES + 1], found[2 * HG_BLOB_KEY_BYTES + 1], *text = NULL;
    uint64_t bytes;
    FILE *f = open_file();
    for (int i = 0; i < HG_BLOB_KEY_BYTES; i++) snprintf(wanted + 2 * i, 3, "%02x", key[i]);
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
