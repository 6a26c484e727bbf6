/* Any bytes as an array file: .npy, a member of a .npz, deflated data, a raw file within bounds.
 * The first three bytes choose the element type, the kind and the bound. What is read has the size
 * it says. Seeds: seeds/fuzz_array. */
#include "fuzz.h"
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(const hg_array *a) {
    uint64_t elements = 1;
    require(a->rank <= HG_MAX_EXTENTS);
    for (uint32_t i = 0; i < a->rank; i++) require(hg_mul_u64(elements, a->extent[i], &elements));
    require(elements == a->elements && a->bytes == elements * hg_type_size_bytes(a->type));
    static volatile uint8_t seen; /* every byte can be read */
    for (uint64_t i = 0; a->data && i < a->bytes; i++) seen = a->data[i];
    (void)seen;
}

/* A file of these bytes: the kernel's own copy, with a name in /proc. */
static void read_file(const uint8_t *data, size_t size, const char *suffix, hg_type type,
                      uint64_t most) {
    char path[64], link_path[96];
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0) return;
    require(write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
    snprintf(link_path, sizeof link_path, "/tmp/hologram-fuzz-%d%s", (int)getpid(), suffix); /* the
                                                                                                kind
                                                                                                is
                                                                                                in
                                                                                                the
                                                                                                name
                                                                                              */
    (void)unlink(link_path);
    if (symlink(path, link_path) == 0) {
        hg_budget *none = NULL;
        hg_array_bounds bounds = {most, none};
        hg_array a = {0};
        if (hg_array_read_within(link_path, "x", type, &bounds, &a) == HG_OK) {
            require(!a.data || a.bytes <= most);
            check(&a);
            hg_array_free(&a);
        }
        (void)unlink(link_path);
    }
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    hg_type type = (hg_type)(data[0] % HG_TYPE_COUNT);
    unsigned kind = data[1] % 4;
    uint64_t most = data[2] == 255 ? UINT64_MAX : (uint64_t)data[2] * 8;
    data += 3, size -= 3;
    hg_array a = {0};
    if (kind == 0 && hg_npy_parse(data, size, "fuzz", type, &a) == HG_OK) {
        require(a.data >= data && a.data + a.bytes <= data + size);
        check(&a);
    }
    if (kind == 1) {
        uint8_t out[4096];
        bool memory_failed = false;
        (void)hg_inflate(data, size, out, most < sizeof out ? most : sizeof out, &memory_failed);
    }
    if (kind == 2) read_file(data, size, ".npz", type, most);
    if (kind == 3) read_file(data, size, most % 16 ? ".npy" : "", type, most);
    return 0;
}
