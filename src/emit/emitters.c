/* The table of emitters (emitters.def) and how each is called. Must not know: devices, options of
 * commands. */
#include "emit/c_dialect.h"
#include "emit/nvrtc.h"
#include "vector/vector.h"
#include <string.h>

static hg_status print_kir(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    for (uint32_t i = 0; i < in->count; i++) kir_print(out, in->kernels[i]);
    return HG_OK;
}

enum { VECTOR_LANES = 16 };

static hg_status print_vector(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    for (uint32_t i = 0; i < in->count; i++) {
        vec_kernel *k;
        hg_status status = vec_form(in->kernels[i], &(vec_options){.lanes = VECTOR_LANES}, &k);
        if (status == HG_ERROR_ISA) {
            hg_text_addf(out, "; %s\n", hg_last_error_text());
            continue;
        }
        HG_TRY(status);
        status = vec_verify(k);
        vec_print(out, k);
        vec_kernel_destroy(k);
        HG_TRY(status);
    }
    return HG_OK;
}

static hg_status print_wgsl(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    const emit_wgsl_options options = {.group = {in->group[0], in->group[1], in->group[2]},
                                       .group_memory = in->group_memory,
                                       .f16 = in->caps->half};
    return emit_wgsl(in->kernels[0], in->layout, &options, in->about, out);
}

static hg_status make_wasm(const emit_input *in, const char *about, hg_text *out) {
    vec_kernel **kernels = hg_calloc((size_t)in->count + 1, sizeof(vec_kernel *));
    hg_status status = kernels ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < in->count && status == HG_OK; i++)
        status = vec_form(
            in->kernels[i],
            &(vec_options){.lanes = EMIT_WASM_LANES, .blocks = vec_asks_for_places(in->kernels[i])},
            &kernels[i]);
    if (status == HG_OK) status = emit_wasm(kernels, in->count, NULL, about, out);
    for (uint32_t i = 0; i < in->count && kernels; i++) vec_kernel_destroy(kernels[i]);
    hg_free(kernels);
    return status;
}

static hg_status print_wasm(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    return make_wasm(in, in->about, out);
}

#if !defined(__wasm__) /* emitters.def */

static hg_status print_lanes(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    return emit_c(in->kernels, in->count, in->about, out);
}

static hg_status print_wasm_text(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    hg_text bytes = {0};
    hg_status status = make_wasm(in, "", &bytes);
    if (status == HG_OK) emit_wasm_text(&bytes, in->about, out);
    hg_text_free(&bytes);
    return status;
}

static hg_status print_dialect(const emitter *row, const emit_input *in, hg_text *out) {
    return emit_device_c(row->dialect, in->kernels[0], in->layout, in->about, out);
}

/* A record of 128 bytes is what every Vulkan device can push. */
static hg_status make_words(const emit_input *in, bool debug, emit_words *words) {
    emit_spirv_options options = {.caps = *in->caps,
                                  .target = *in->target,
                                  .record_is_pushed = in->layout->record_bytes <= 128,
                                  .group = {in->group[0], in->group[1], in->group[2]},
                                  .group_memory = in->group_memory,
                                  .debug = debug};
    return emit_spirv(in->kernels[0], in->layout, &options, words);
}

static hg_status print_spirv(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    emit_words words = {0};
    hg_status status = make_words(in, in->debug, &words);
    for (uint64_t i = 0; i < words.count && status == HG_OK; i++) {
        uint32_t w = words.data[i];
        const char bytes[4] = {(char)(w & 255), (char)(w >> 8 & 255), (char)(w >> 16 & 255),
                               (char)(w >> 24)};
        hg_text_add(out, bytes, sizeof bytes);
    }
    hg_vec_free(&words);
    return status;
}

static hg_status print_spirv_text(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    emit_words words = {0};
    hg_status status = make_words(in, true, &words);
    if (status == HG_OK) status = emit_spirv_text(words.data, words.count, in->about, out);
    hg_vec_free(&words);
    return status;
}

/* PTX for the oldest devices that the library runs on, which every later one takes. */
enum { OLDEST_ARCHITECTURE = 75 };

static hg_status compile_ptx(const kir_module *kernel, const hg_text *source, const char *about,
                             hg_text *out) {
    char reason[256], name[96];
    hg_bytes ptx = {0};
    if (!emit_nvrtc_load(reason)) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s", reason);
    emit_kernel_name(kernel, name);
    const emit_nvrtc_request request = {
        .text = source->data,
        .name = name,
        .architecture = emit_nvrtc_architecture(OLDEST_ARCHITECTURE)};
    if (!request.architecture)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "NVRTC knows no architecture up to sm_%d",
                       (int)OLDEST_ARCHITECTURE);
    hg_status status = emit_nvrtc_compile(&request, NULL, &ptx);
    if (status == HG_OK) {
        hg_text_addf(out,
                     "/* Written by hologram through NVRTC %u.%u: PTX for compute capability 7.5 "
                     "and later.\n%s */\n",
                     (unsigned)(emit_nvrtc_version() / 1000),
                     (unsigned)(emit_nvrtc_version() % 1000 / 10), about);
        hg_text_addf(out, "%s", (const char *)ptx.data);
    }
    hg_bytes_free(&ptx);
    return status;
}

static hg_status print_ptx(const emitter *row, const emit_input *in, hg_text *out) {
    (void)row;
    hg_text source = {0};
    hg_status status = emit_device_c(&emit_cuda_dialect, in->kernels[0], in->layout, "", &source);
    if (status == HG_OK) status = compile_ptx(in->kernels[0], &source, in->about, out);
    hg_text_free(&source);
    return status;
}

#endif

enum { TEXT, BINARY, FOREIGN }; /* emitters.def */
static const emitter EMITTERS[] = {
#define EMITTER(name, suffix, output, form, caps, print, about) \
    {name, suffix, (output) == BINARY, (output) == FOREIGN, EMIT_##form, caps, print, NULL, about},
#define DIALECT(name, suffix, caps, about) \
    {#name, suffix, false, false, EMIT_DEVICE, caps, print_dialect, &emit_##name##_dialect, about},
#include "emit/emitters.def"
};

const emitter *emitter_get(uint32_t index) {
    return index < HG_COUNT_OF(EMITTERS) ? &EMITTERS[index] : NULL;
}

const emitter *emitter_find(const char *name) {
    if (name && strcmp(name, "xla") == 0) name = "stablehlo"; /* compile_to_xla */
    for (uint32_t i = 0; i < HG_COUNT_OF(EMITTERS); i++)
        if (name && strcmp(EMITTERS[i].name, name) == 0) return &EMITTERS[i];
    return NULL;
}

bool emitter_by_address(const emitter *row) {
    return row->foreign || (row->dialect && row->dialect->device->params.by_address);
}
