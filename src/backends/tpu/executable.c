/* Executables of the TPU backend: compiled, run, freed.
 * Must not know: what they do. */
#include "backends/tpu/tpu_internal.h"
#include <string.h>

/* The plugin's words are lost where it is a matter of the cache alone. */
static bool went_well(pjrt_error *error) {
    if (!error) return true;
    (void)tpu->error_destroy(&(pjrt_of_error){{sizeof(pjrt_of_error), NULL}, error});
    return false;
}

static bool can_keep(const hg_device *device) {
    return tpu->serialize && tpu->deserialize && tpu->get_code && tpu->code_destroy &&
           hg_blob_cache_usable(device->cache);
}

static void key_of(const hg_device *device, const char *text, uint64_t length,
                   uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, device->caps.identity, strlen(device->caps.identity) + 1);
    hg_blake3_update(&h, text, (size_t)length);
    hg_blake3_final(&h, key);
}

static bool from_cache(hg_device *device, const uint8_t *key, pjrt_executable **code) {
    uint8_t *bytes = NULL;
    uint64_t size = 0;
    if (!hg_blob_cache_get(device->cache, key, &bytes, &size)) return false;
    pjrt_deserialize a = {.head = {offsetof(pjrt_deserialize, options), NULL},
                          .client = tpu->client,
                          .bytes = (const char *)bytes,
                          .size = (size_t)size};
    bool loaded = went_well(tpu->deserialize(&a));
    if (loaded)
        *code = a.loaded;
    else
        hg_blob_cache_remove(device->cache, key);
    hg_free(bytes);
    return loaded;
}

static void to_cache(hg_device *device, const uint8_t *key, pjrt_executable *code) {
    pjrt_get_code get = {.head = {sizeof get, NULL}, .loaded = code};
    if (!went_well(tpu->get_code(&get))) return;
    pjrt_serialize a = {.head = {sizeof a, NULL}, .code = get.code};
    if (went_well(tpu->serialize(&a))) {
        (void)hg_blob_cache_put(device->cache, key, a.bytes, a.size);
        if (a.destroy) a.destroy(a.owner);
    }
    (void)tpu->code_destroy(&(pjrt_of_code){{sizeof(pjrt_of_code), NULL}, get.code});
}

static hg_status compile(char *text, uint64_t length, pjrt_executable **code) {
    /* CompileOptionsProto: executable_build_options (3) with one replica (4), one partition (5) */
    static const char OPTIONS[] = {0x1a, 4, 0x20, 1, 0x28, 1};
    const pjrt_program program = {.head = {sizeof program, NULL},
                                  .code = text,
                                  .length = (size_t)length,
                                  .format = "mlir",
                                  .format_length = 4};
    pjrt_compile a = {.head = {sizeof a, NULL},
                      .client = tpu->client,
                      .program = &program,
                      .options = OPTIONS,
                      .options_length = sizeof OPTIONS};
    HG_TRY(tpu_check("compile", tpu->compile(&a)));
    *code = a.executable;
    return HG_OK;
}

hg_status tpu_compile(hg_device *device, char *text, uint64_t length, pjrt_executable **code) {
    uint8_t key[HG_BLOB_KEY_BYTES];
    if (!can_keep(device)) return compile(text, length, code);
    key_of(device, text, length, key);
    if (from_cache(device, key, code)) return HG_OK;
    HG_TRY(compile(text, length, code));
    to_cache(device, key, *code);
    return HG_OK;
}

void tpu_free_executable(pjrt_executable *code) {
    if (code)
        (void)tpu->executable_destroy(
            &(pjrt_of_executable){{sizeof(pjrt_of_executable), NULL}, code});
}

hg_status tpu_execute(hg_device *device, pjrt_executable *code, pjrt_buffer *const *arguments,
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
                      .device = device->device};
    HG_TRY(tpu_check("execute", tpu->execute(&a)));
    return tpu_await("execute", events[0]);
}
