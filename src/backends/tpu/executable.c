/* Executables of the TPU backend: compiled, run, freed.
 * Must not know: what they do. */
#include "backends/tpu/tpu_internal.h"
#include <string.h>

static bool can_keep(const hg_device *device) {
    return tpu->serialize && tpu->deserialize && tpu->get_code && tpu->code_destroy &&
           hg_blob_cache_usable(device->cache);
}

static void key_of(const hg_device *device, const char *text, uint64_t length, bool read,
                   uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, device->caps.identity, strlen(device->caps.identity) + 1);
    hg_blake3_update(&h, text, (size_t)length);
    if (read) hg_blake3_update(&h, "", 1);
    hg_blake3_final(&h, key);
}

bool tpu_kept(hg_device *device, const hg_text *text, bool read, pjrt_executable **code) {
    uint8_t *bytes = NULL, key[HG_BLOB_KEY_BYTES];
    uint64_t size = 0;
    if (!can_keep(device)) return false;
    key_of(device, text->data, text->length, read, key);
    if (!hg_blob_cache_get(device->cache, key, &bytes, &size)) return false;
    pjrt_deserialize a = {.head = {offsetof(pjrt_deserialize, options), NULL},
                          .client = tpu->client,
                          .bytes = (const char *)bytes,
                          .size = (size_t)size};
    bool loaded = tpu_went_well(tpu->deserialize(&a));
    if (loaded)
        *code = a.loaded;
    else
        hg_blob_cache_remove(device->cache, key);
    hg_free(bytes);
    return loaded;
}

void tpu_keep(hg_device *device, const hg_text *text, bool read, pjrt_executable *code) {
    uint8_t key[HG_BLOB_KEY_BYTES];
    if (!can_keep(device)) return;
    key_of(device, text->data, text->length, read, key);
    pjrt_get_code get = {.head = {sizeof get, NULL}, .loaded = code};
    if (!tpu_went_well(tpu->get_code(&get))) return;
    pjrt_serialize a = {.head = {sizeof a, NULL}, .code = get.code};
    if (tpu_went_well(tpu->serialize(&a))) {
        (void)hg_blob_cache_put(device->cache, key, a.bytes, a.size);
        if (a.destroy) a.destroy(a.owner);
    }
    (void)tpu->code_destroy(&(pjrt_of_code){{sizeof(pjrt_of_code), NULL}, get.code});
}

hg_status tpu_compile_text(hg_text *text, bool read, pjrt_executable **code) {
    /* CompileOptionsProto: executable_build_options (3) with one replica (4), one partition (5);
     * compile_portable_executable (4): for whichever device an execution names;
     * env_option_overrides (7): a name (1) with a bool (2) as its value (2), which keeps NaNs in
     * the CPU's minimum and maximum; it loses the sign of zeros there, on which what we print
     * relies, so it is said for texts of others alone */
    enum { FOR_ALL = 8 };
    static const char OPTIONS[] = "\x1a\x04\x20\x01\x28\x01"
                                  "\x20\x01"
                                  "\x3a\x21\x0a\x1b"
                                  "xla_cpu_enable_fast_min_max"
                                  "\x12\x02\x10\x00";
    const pjrt_program program = {.head = {sizeof program, NULL},
                                  .code = text->data,
                                  .length = (size_t)text->length,
                                  .format = "mlir",
                                  .format_length = 4};
    pjrt_compile a = {.head = {sizeof a, NULL},
                      .client = tpu->client,
                      .program = &program,
                      .options = OPTIONS,
                      .options_length = read ? sizeof OPTIONS - 1 : FOR_ALL};
    HG_TRY(tpu_check("compile", tpu->compile(&a)));
    *code = a.executable;
    return HG_OK;
}

static hg_status compile(hg_device *device, hg_text *text, bool read, pjrt_executable **code) {
    if (tpu_kept(device, text, read, code)) return HG_OK;
    HG_TRY(tpu_compile_text(text, read, code));
    tpu_keep(device, text, read, *code);
    return HG_OK;
}

void tpu_free_executable(pjrt_executable *code) {
    if (code)
        (void)tpu->executable_destroy(
            &(pjrt_of_executable){{sizeof(pjrt_of_executable), NULL}, code});
}

/* ---- by their text ---- */

enum { MOST_CODES = 256 }; /* that a device keeps, more only where all are in use */

static hg_status add_code(hg_device *d, const uint8_t key[32], char *text, uint64_t length,
                          bool read, tpu_code **code) {
    tpu_code *made = hg_calloc(1, sizeof *made), **place = made ? hg_vec_push(&d->codes) : NULL;
    hg_text whole = {.data = text, .length = length};
    hg_status status = place ? compile(d, &whole, read, &made->executable) : hg_fail_memory();
    if (status != HG_OK) {
        if (place) d->codes.count--;
        hg_free(made);
        return status;
    }
    memcpy(made->key, key, sizeof made->key);
    *code = *place = made;
    return HG_OK;
}

static void free_code(tpu_code *code) {
    tpu_free_executable(code->executable);
    hg_free(code);
}

/* The one that nobody has and that was not used for the longest time. */
static void drop_oldest(hg_device *d) {
    uint64_t oldest = d->codes.count;
    for (uint64_t i = 0; i < d->codes.count; i++)
        if (!d->codes.data[i]->references &&
            (oldest == d->codes.count || d->codes.data[i]->used < d->codes.data[oldest]->used))
            oldest = i;
    if (oldest == d->codes.count) return;
    free_code(d->codes.data[oldest]);
    d->codes.data[oldest] = d->codes.data[--d->codes.count];
}

hg_status tpu_code_find(hg_device *d, char *text, uint64_t length, bool read, tpu_code **code) {
    uint8_t key[32];
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, text, (size_t)length);
    if (read) hg_blake3_update(&h, "", 1);
    hg_blake3_final(&h, key);
    tpu_code *found = NULL;
    for (uint64_t i = 0; i < d->codes.count && !found; i++)
        if (memcmp(d->codes.data[i]->key, key, sizeof key) == 0) found = d->codes.data[i];
    if (!found && d->codes.count >= MOST_CODES) drop_oldest(d);
    if (!found) HG_TRY(add_code(d, key, text, length, read, &found));
    found->references++;
    found->used = ++d->clock;
    *code = found;
    return HG_OK;
}

void tpu_code_release(tpu_code *code) {
    if (code) code->references--;
}

void tpu_free_codes(hg_device *device) {
    for (uint64_t i = 0; i < device->codes.count; i++) free_code(device->codes.data[i]);
    hg_vec_free(&device->codes);
}

/* ---- runs ---- */

hg_status tpu_execute(pjrt_device *device, pjrt_executable *code, pjrt_buffer *const *arguments,
                      size_t count, pjrt_buffer **results) {
    pjrt_buffer *const *lists[1] = {arguments};
    pjrt_buffer **outs[1] = {results};
    pjrt_event *events[1] = {NULL};
    pjrt_execute_options options = {.head = {sizeof options, NULL}};
    pjrt_execute a = {.head = {sizeof a, NULL},
                      .executable = code,
                      .options = &options,
                      .arguments = lists,
                      .device_count = 1,
                      .argument_count = count,
                      .results = outs,
                      .events = events,
                      .device = device};
    HG_TRY(tpu_check("execute", tpu->execute(&a)));
    return tpu_await("execute", events[0]);
}
