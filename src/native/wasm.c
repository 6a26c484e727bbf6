/* WebAssembly as native code, in a library that is WebAssembly itself: kernels are modules over the
 * library's memory, table of functions and stack. Its host compiles them, and never at once: a
 * kernel runs on the interpreter until its code comes.
 * Must not know: JavaScript's objects; a module has a number there. */
#include "native/compilers.h"

#if defined(__wasm__)

#include "emit/emit.h"
#include "emit/emit_wasm_internal.h"
#include <hologram/vector.h>
#include <stddef.h>
#include <stdio.h>

_Static_assert(offsetof(hgv_launch, slots) == WA_LAUNCH_SLOTS &&
                   offsetof(hgv_launch, class_memory) == WA_LAUNCH_CLASS &&
                   offsetof(hgv_launch, lanes) == WA_LAUNCH_LANES &&
                   offsetof(hgv_launch, grid) == WA_LAUNCH_GRID &&
                   offsetof(hgv_launch, block) == WA_LAUNCH_BLOCK &&
                   offsetof(hgv_launch, fault) == WA_LAUNCH_FAULT &&
                   offsetof(hgv_launch, resolve) == WA_LAUNCH_RESOLVE &&
                   offsetof(hgv_launch, go_on) == WA_LAUNCH_GO_ON &&
                   offsetof(hgv_launch, fuel) == WA_LAUNCH_FUEL &&
                   offsetof(hgv_launch, stopped) == WA_LAUNCH_STOPPED &&
                   offsetof(hgv_launch, shared) == WA_LAUNCH_SHARED &&
                   offsetof(hgv_launch, shared_step) == WA_LAUNCH_SHARED_STEP &&
                   offsetof(hgv_launch, shared_visible) == WA_LAUNCH_SHARED_VISIBLE &&
                   offsetof(hgv_launch, phase) == WA_LAUNCH_PHASE &&
                   offsetof(hgv_launch, faulted) == WA_LAUNCH_FAULTED &&
                   offsetof(hgv_launch, wide) == WA_LAUNCH_WIDE &&
                   offsetof(hgv_launch, memory) == WA_LAUNCH_MEMORY &&
                   sizeof(hgv_launch) == WA_LAUNCH_BYTES,
               "a launch as modules see it");
_Static_assert(offsetof(hgv_memory, size) == WA_MEMORY_SIZE &&
                   offsetof(hgv_memory, valid) == WA_MEMORY_VALID &&
                   sizeof(hgv_memory) == WA_MEMORY_BYTES && sizeof(hgv_site) == WA_SITE_BYTES &&
                   offsetof(hgv_site, size) == WA_SITE_BYTES_OF_ACCESS &&
                   offsetof(hgv_site, input) == WA_SITE_INPUT &&
                   offsetof(hgv_site, message) == WA_SITE_MESSAGE &&
                   offsetof(hgv_site, handle) == WA_SITE_HANDLE &&
                   offsetof(hgv_site, limit) == WA_SITE_LIMIT,
               "what it names as modules see it");

/* Has a module compiled; later hologram_code_arrives is called, unless code_leaves was before. The
 * number of the module, above 0. */
HG_WASM_IMPORT("host", "code_begins")
uint32_t host_code_begins(const uint8_t *bytes, uint32_t size, tile_kernel *kernel);
HG_WASM_IMPORT("host", "code_leaves") void host_code_leaves(uint32_t module);

typedef void code_run(hgv_launch *launch, uint64_t begin, uint64_t end);
HG_WASM_EXPORT("hologram_code_arrives")
void hologram_code_arrives(tile_kernel *kernel, code_run *run);
void hologram_code_arrives(tile_kernel *kernel, code_run *run) { tile_kernel_arrive(kernel, run); }

static void level_of(tile_level level, native_level *how) {
    (void)level;
    *how = (native_level){.options = {.bytes = EMIT_WASM_BYTES, .cpu = "wasm32"},
                          .lanes = EMIT_WASM_LANES,
                          .registers = 16};
}

static void caps_of(kir_caps *caps) { emit_wasm_caps(caps); }
static bool always(void) { return true; }
static const char *open_host(char reason[256]) {
    (void)reason;
    return "WebAssembly of the host";
}

static hg_status compile(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    static const char *const name = HG_JIT_KERNEL;
    hg_text bytes = {0};
    (void)patience; /* this takes no time worth speaking of */
    if (vec_is_too_much(kernel, options->bytes, reason)) return HG_ERROR_ISA;
    hg_status status = emit_wasm(&kernel, 1, &name, "", &bytes);
    if (status != HG_OK) {
        snprintf(reason, 256, "%.255s", hg_last_error()->message);
        hg_text_free(&bytes);
        return status;
    }
    object->bytes = (uint8_t *)bytes.data;
    object->size = bytes.length;
    return HG_OK;
}

static void release(uint8_t *bytes) { hg_free(bytes); }

static void *begin(const uint8_t *bytes, uint64_t size, tile_kernel *kernel, char reason[256]) {
    const uint32_t module = host_code_begins(bytes, (uint32_t)size, kernel);
    if (!module) snprintf(reason, 256, "the host compiles no modules");
    return (void *)(uintptr_t)module;
}

static void unload(void *code) {
    if (code) host_code_leaves((uint32_t)(uintptr_t)code);
}

static const native_loader host_loader = {.begin = begin, .unload = unload};

const native_compiler native_wasm = {.name = "WebAssembly",
                                     .level = level_of,
                                     .caps = caps_of,
                                     .possible = always,
                                     .there = always,
                                     .open = open_host,
                                     .compile = compile,
                                     .release = release,
                                     .loader = &host_loader};

#endif
