/* Files of a host that has none, WebAssembly: each call says so. */
#include "io/io_internal.h"

#if defined(__wasm__)

static hg_status no_files(const char *code, const char *does, const char *path) {
    return IO_FAIL(HG_ERROR_IO, code, "cannot %s %s: this host has no files", does, path);
}

/* ---- reading ---- */

void hg_mapping_release(hg_mapping *m) { (void)m; /* there are none */ }
hg_status hg_input_open(hg_input *in, const char *path, hg_budget *budget) {
    *in = (hg_input){.path = path, .file = -1, .bytes = {.budget = budget}};
    return no_files("P06", "read", path);
}
void hg_input_close(hg_input *in) { hg_bytes_free(&in->bytes); }
hg_status hg_input_read(hg_input *in, uint64_t until) {
    (void)until;
    return no_files("P06", "read", in->path);
}
bool hg_input_map(hg_input *in, hg_bytes *out) {
    (void)in, (void)out;
    return false;
}
void hg_input_take(hg_input *in, hg_bytes *out) {
    *out = in->bytes;
    in->bytes = (hg_bytes){0};
}
hg_status hg_file_read_in(hg_budget *budget, const char *path, uint64_t limit, hg_bytes *out) {
    (void)budget, (void)limit;
    *out = (hg_bytes){0};
    return no_files("P06", "read", path);
}
hg_status hg_file_map(hg_budget *budget, const char *path, hg_bytes *out) {
    return hg_file_read_in(budget, path, UINT64_MAX, out);
}

/* ---- writing ---- */

struct hg_outputs {
    int unused;
};
hg_outputs *hg_outputs_create(void) { return hg_calloc(1, sizeof(hg_outputs)); }
void hg_outputs_charge(hg_outputs *outputs, hg_budget *budget) { (void)outputs, (void)budget; }
void hg_outputs_destroy(hg_outputs *outputs) { hg_free(outputs); }
hg_status hg_outputs_add(hg_outputs *outputs, const char *path, const hg_file_part *parts,
                         size_t count) {
    (void)outputs, (void)parts, (void)count;
    return no_files("X02", "write", path);
}
hg_status hg_outputs_add_elements(hg_outputs *outputs, const char *path, hg_type type,
                                  uint32_t rank, const uint64_t *extent,
                                  const hg_file_part *elements) {
    (void)outputs, (void)type, (void)rank, (void)extent, (void)elements;
    return no_files("X02", "write", path);
}
hg_status hg_outputs_commit(hg_outputs *outputs) {
    (void)outputs;
    return HG_OK;
}

#endif
