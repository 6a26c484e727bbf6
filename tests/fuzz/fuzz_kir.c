/* Any bytes as kernel IR text: diagnostics or a module. A module that keeps the rules prints as
 * text that reads back as the same text, and goes through the pipeline, the analyses and one of the
 * roads to code without a crash: every pass leaves it in order. Seeds: seeds/fuzz_kir and
 * tests/kir. */
#include "fuzz.h"
#include "emit/emit.h"
#include "kir/analysis/analysis.h"
#include "kir/analysis/prove.h"
#include "kir/parse.h"
#include "kir/passes/passes.h"
#include "kir/pipeline/pipeline.h"
#include "tile/tile.h"
#include "vector/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the library says when memory is out, or a limit of the target is reached; never that it
 * broke a rule. */
static bool went_well(hg_status status) {
    require(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY || status == HG_ERROR_ISA);
    return status == HG_OK;
}

static void check_module(const kir_module *m) {
    hg_text text = {0}, again = {0};
    kir_module *second = NULL;
    kir_print(&text, m);
    require(!text.failed && text.data);
    require(kir_parse(text.data, text.length, NULL, &second) == HG_OK);
    require(kir_verify(second) == HG_OK);
    kir_print(&again, second);
    require(text.length == again.length && memcmp(text.data, again.data, text.length) == 0);
    kir_module_destroy(second);
    hg_text_free(&text);
    hg_text_free(&again);
}

/* ---- what is chosen by the bytes ---- */

static uint64_t chance;
static bool choose(void) {
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return chance >> 63;
}

static kir_caps some_caps(void) {
    kir_caps caps = {.name = "fuzz"};
    bool *const flags[] = {&caps.i8,    &caps.i16,   &caps.i64,        &caps.f64,
                           &caps.fma32, &caps.fma64, &caps.subnormals, &caps.half};
    bool most = choose();
    for (size_t i = 0; i < HG_COUNT_OF(flags); i++) *flags[i] = most || choose();
    return caps;
}

static kir_device_options some_device(bool i64) {
    kir_device_options o = {.form = choose() ? KIR_FORM_BLOCK : KIR_FORM_FLAT,
                            .fold = choose() && choose() ? 4 : 0};
    kir_device_target *t = &o.target;
    bool *const flags[] = {
        &t->addressed,       &t->memory8,       &t->memory16,    &t->memory64,
        &t->shared8,         &t->shared16,      &t->shared64,    &t->atomic64,
        &t->shared_atomic64, &o.small,          &o.whole_blocks, &o.proven,
        &o.hide_zeros,       &o.shared_is_slot, &o.at_origin,    &o.hide_results};
    for (size_t i = 0; i < HG_COUNT_OF(flags); i++) *flags[i] = choose();
    t->i64 = i64;
    t->max_arenas = 2;
    t->written_rounds = choose() ? 4 : 0;
    if (o.fold) o.block[0] = 8;
    o.block[1] = o.block[2] = o.block[0] ? 1 : 0;
    return o;
}

/* ---- roads ---- */

static void check_proof(kir_module *m) {
    kir_prover *prover = NULL;
    kir_prove_launch launch = {
        .lanes = 64, .shared_bytes = 256, .grid = {8, 1, 1}, .block = {8, 1, 1}};
    uint64_t *inputs = hg_calloc((size_t)m->inputs.count + 1, sizeof *inputs),
             *slots = hg_calloc((size_t)m->slots.count + 1, sizeof *slots);
    launch.inputs = inputs;
    launch.slot_bytes = slots;
    if (inputs && slots && went_well(kir_prover_create(m, &prover)))
        (void)kir_prove(prover, &launch);
    kir_prover_destroy(prover);
    hg_free(inputs);
    hg_free(slots);
}

static void to_tiles(const kir_module *m) {
    tile_options options = {.level = TILE_LEVEL_BASELINE, .poor = choose()};
    kir_caps caps;
    kir_module *low = NULL;
    tile_kernel *kernel = NULL;
    tile_caps(options.poor, &caps);
    kir_compilation c = {.caps = &caps, .verify = true};
    if (!went_well(
            kir_pipeline_run(&c, KIR_STAGE_LEGAL, KIR_STAGE_LOW, (kir_module *)(uintptr_t)m, &low)))
        return;
    check_proof(low);
    if (went_well(tile_compile(low, &options, &kernel))) tile_kernel_destroy(kernel);
    if (low != m) kir_module_destroy(low);
}

static void to_c(const kir_module *m) {
    kir_caps caps = {0};
    kir_module *low = NULL;
    hg_text out = {0};
    emit_c_caps(&caps);
    kir_compilation c = {.caps = &caps, .verify = true};
    if (!went_well(
            kir_pipeline_run(&c, KIR_STAGE_LEGAL, KIR_STAGE_LOW, (kir_module *)(uintptr_t)m, &low)))
        return;
    (void)went_well(emit_c((const kir_module *const *)&low, 1, "", &out));
    hg_text_free(&out);
    if (low != m) kir_module_destroy(low);
}

static void to_vectors(const kir_module *m) {
    kir_caps caps;
    kir_module *low = NULL;
    vec_kernel *k = NULL;
    hg_text out = {0};
    vec_caps(&caps);
    kir_compilation c = {.caps = &caps, .verify = true};
    if (!went_well(
            kir_pipeline_run(&c, KIR_STAGE_LEGAL, KIR_STAGE_LOW, (kir_module *)(uintptr_t)m, &low)))
        return;
    if (went_well(vec_form(low, &(vec_options){.lanes = choose() ? 8 : 16}, &k))) {
        require(vec_verify(k) == HG_OK);
        vec_print(&out, k);
        require(!out.failed);
        hg_text_free(&out);
        (void)went_well(emit_vector_c(&k, 1, choose() ? 16 : 32, "", &out));
        vec_kernel_destroy(k);
    }
    hg_text_free(&out);
    if (low != m) kir_module_destroy(low);
}

static void to_device(const kir_module *m) {
    kir_caps caps = some_caps();
    kir_device_options device = some_device(caps.i64);
    kir_device_layout layout = {0};
    kir_module *made = NULL;
    kir_compilation c = {.caps = &caps, .device = &device, .layout = &layout, .verify = true};
    hg_status status = kir_pipeline_run(&c, KIR_STAGE_LEGAL, KIR_STAGE_DEVICE,
                                        (kir_module *)(uintptr_t)m, &made);
    if (went_well(status)) {
        hg_text text = {0};
        emit_words words = {0};
        emit_spirv_options spirv = {
            .caps = caps, .target = device.target, .group = {8, 1, 1}, .group_memory = 256};
        check_module(made);
        (void)went_well(emit_device_c(&emit_opencl_dialect, made, &layout, "", &text));
        (void)went_well(emit_spirv(made, &layout, &spirv, &words));
        hg_text_free(&text);
        hg_vec_free(&words);
        kir_module_destroy(made);
    }
    kir_device_layout_free(&layout);
}

/* A module that kir_verify takes. Facts that a text claims are not believed. */
static void go_on(kir_module *m) {
    kir_compilation c = {.verify = true};
    kir_module *same = NULL;
    m->facts &= KIR_FACT_DEVICE;
    if (m->facts || m->has_step) {
        if (went_well(kir_simplify(m))) require(kir_verify(m) == HG_OK);
        kir_find_uniformity(m, choose());
        check_module(m);
        return;
    }
    kir_find_uniformity(m, choose());
    if (!went_well(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_KERNEL, m, &same))) return;
    kir_find_uniformity(m, choose());
    kir_bound_loops(m);
    check_module(m);
    bool by_tiles = choose(), other = choose();
    if (choose())
        to_vectors(m);
    else if (by_tiles && other)
        to_tiles(m);
    else if (by_tiles)
        to_c(m);
    else
        to_device(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    kir_module *m = NULL;
    hg_status status = kir_parse((const char *)data, size, d, &m);
    require((status == HG_OK) == (m != NULL) &&
            (hg_diagnostics_errors(d) > 0) == (status == HG_ERROR_ISA));
    hg_string_free(hg_diagnostics_print(d, "fuzz", (const char *)data, size));
    hg_diagnostics_destroy(d);
    chance = 0x9E3779B9;
    for (size_t i = 0; i < size; i++) chance = (chance ^ data[i]) * UINT64_C(0x100000001B3);
    if (m && kir_verify(m) == HG_OK) {
        check_module(m);
        go_on(m);
    }
    kir_module_destroy(m);
    return 0;
}

/* ---- changes to lines and words, so that most texts stay texts ---- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

static const char *const WORDS[] = {
#define KIR_OP(id, text, args, result, class, flags) text,
#define KIR_FUNCTION(id, text)
#include "kir/prim.def"
#undef KIR_OP
#undef KIR_FUNCTION
    "bool",       "f32",     "f64",    "u8",        "u16",
    "u32",        "u64",     "u128",   "u4096",     "i32",
    "void",       "true",    "slot",   "buffer",    "pool",
    "flat",       "class",   "shared", "unchecked", "bytes",
    "split",      "operand", "pure",   "bounded",   "once",
    "var",        "table",   "call",   "high",      "handle",
    "step",       "barrier", "0",      "1",         "8",
    "4294967295", "exp",     "min",    "rem",       "18446744073709551615",
    "[",          "]",       "{",      "}",         "&",
    ":"};

typedef struct line {
    size_t from, size;
} line;

static line pick_line(const uint8_t *data, size_t size, unsigned int seed) {
    size_t at = seed % size, from = at;
    while (from && data[from - 1] != '\n') from--;
    while (at < size && data[at] != '\n') at++;
    return (line){from, at + (at < size) - from};
}

static size_t replace(uint8_t *data, size_t size, size_t most, line l, const uint8_t *by,
                      size_t length) {
    if (size - l.size + length > most) return size;
    memmove(data + l.from + length, data + l.from + l.size, size - l.from - l.size);
    memcpy(data + l.from, by, length);
    return size - l.size + length;
}

static bool is_word_byte(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static line pick_word(const uint8_t *data, size_t size, unsigned int seed) {
    size_t at = seed % size, from = at;
    while (from && is_word_byte(data[from - 1]) && is_word_byte(data[at])) from--;
    while (at < size && is_word_byte(data[at])) at++;
    return (line){from, at > from ? at - from : 1};
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed) {
    uint8_t copy[512];
    if (!size || seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
    unsigned int what = seed / 4 % 5, first = seed / 20 * 2654435761u >> 4,
                 second = first * 2246822519u >> 3;
    line l = pick_line(data, size, first), other = pick_line(data, size, second),
         word = pick_word(data, size, first), another = pick_word(data, size, second);
    const char *known = WORDS[second % HG_COUNT_OF(WORDS)];
    switch (what) {
    case 0: return replace(data, size, most, l, copy, 0);
    case 1: /* a line once more */
        if (other.size > sizeof copy) return size;
        memcpy(copy, data + other.from, other.size);
        return replace(data, size, most, (line){l.from, 0}, copy, other.size);
    case 2: return replace(data, size, most, word, (const uint8_t *)known, strlen(known));
    default: /* a word of elsewhere */
        if (another.size > sizeof copy) return size;
        memcpy(copy, data + another.from, another.size);
        return replace(data, size, most, word, copy, another.size);
    }
}
