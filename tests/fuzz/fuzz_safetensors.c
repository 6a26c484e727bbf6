/* Any bytes as a file of tensors: what is read has a shape whose elements are all there, what is
 * not says why. The first byte: 1 puts a right length in front of the header, which ends at the
 * first byte of 0 then; 2 asks for the tensor "a", else the only one. Seeds:
 * seeds/fuzz_safetensors. */
#include "fuzz.h"
#include <hologram/tensor.h>

#include <sys/mman.h>
#include <unistd.h>

enum { LENGTH_BYTES = 8, LEAST_MESSAGE = 5 };

static void check(const hg_tensor *t) {
    uint64_t count = 1, bytes = hg_tensor_numel(t) * hg_element_size(hg_tensor_type(t));
    require(hg_tensor_ndim(t) <= HG_TENSOR_AXES);
    for (uint32_t d = 0; d < hg_tensor_ndim(t); d++) count *= hg_tensor_shape(t)[d];
    require(count == hg_tensor_numel(t));
    void *all = malloc((size_t)bytes + 1);
    require(all && hg_tensor_to_host(t, all, hg_tensor_numel(t)) == HG_OK);
    free(all);
}

/* A file of these bytes: the kernel's own copy, with a name in /proc. */
static void load(const uint8_t *length, const uint8_t *data, size_t size, const char *name) {
    char path[64];
    hg_tensor *t = NULL;
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0) return;
    require(!length || write(file, length, LENGTH_BYTES) == LENGTH_BYTES);
    require(write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
    if (hg_tensor_load(NULL, path, name, &t) == HG_OK)
        check(t);
    else
        require(!t && strlen(hg_last_error_text()) > LEAST_MESSAGE);
    hg_tensor_release(t);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t length[LENGTH_BYTES] = {0};
    if (size < 2) return 0;
    const uint8_t how = data[0], *end = memchr(data + 1, 0, size - 1);
    data++, size--;
    uint64_t header = end ? (uint64_t)(end - data) : size;
    for (int i = 0; i < LENGTH_BYTES; i++) length[i] = (uint8_t)(header >> 8 * i);
    load(how & 1 ? length : NULL, data, size, how & 2 ? "a" : NULL);
    return 0;
}
