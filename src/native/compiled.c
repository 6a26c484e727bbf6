/* See compiled.h. An object in the cache is found by everything that it depends on: the kernel as text, the widths, the level, the compiler. */
#include "native/compiled.h"
#include "native/module.h"
#include "native/object.h"
#include "isa/program.h"
#include <hologram/vector.h>
#include <stdio.h>
#include <string.h>

const cpu_compiler *cpu_compiler_in_use;

/* Native vectors and turns of a level (docs/performance.md, native code). */
static const struct {
    uint32_t bytes, lanes, registers;
    const char *cpu;
} LEVELS[TILE_LEVEL_COUNT] = {[TILE_LEVEL_BASELINE] = {16, 8, 16, "x86-64"},
                              [TILE_LEVEL_V3] = {32, 16, 16, "x86-64-v3"},
                              [TILE_LEVEL_V4] = {64, 32, 32, "x86-64-v4"}};

hg_status cpu_compiled_open(cpu_compiled *c, tile_level level, const char *cache_dir, uint64_t cache_bytes) {
    c->level = level;
    return hg_blob_cache_open(cache_dir, cache_bytes, &c->cache);
}

void cpu_compiled_close(cpu_compiled *c) { hg_blob_cache_close(c->cache); }

bool cpu_compiled_possible(void) {
#if defined(__x86_64__) && defined(__linux__)
    return cpu_compiler_in_use || cpu_module_possible();
#else
    return false;
#endif
}

bool cpu_compiled_likely(void) { return cpu_compiled_possible() && (cpu_compiler_in_use || cpu_module_there()); }

bool cpu_compiled_has_dot4(tile_level level) {
#if defined(__x86_64__)
    return level == TILE_LEVEL_V4 && !cpu_compiler_in_use && hg_cpu_supports("avx512vnni");
#else
    (void)level;
    return false;
#endif
}

bool cpu_compiled_by(char text[256]) {
    const hg_jit_table *table = cpu_compiler_in_use ? &cpu_compiler_in_use->table : cpu_module_open(text);
    if (table) snprintf(text, 256, "%s", table->compiler);
    return table != NULL;
}

/* ---- keys ---- */

/* What an object is made for and by. */
typedef struct maker {
    hg_jit_options options;
    uint32_t most, lanes; /* of a turn: at the most, and of this kernel */
    bool blocks;          /* of a kernel that asks where lanes are in their blocks: a block at a time */
} maker;

/* Turns of a kernel that runs block by block fit the rows of its blocks, as far as the program says how long they are: a turn in which lanes are
 * missing is slow. No fewer lanes than a native vector has floats, or doubles where these are eight. */
static uint32_t lanes_for(const maker *m, const kir_module *module) {
    bool blocks = m->blocks || module->uses_barrier || module->uses_shared;
    uint32_t row = blocks && module->program ? module->program->block[0] : 0, lanes = m->most, least = m->options.bytes / 4;
    if (least > 8) least = 8;
    if (row == 0) return lanes;
    while (lanes > least && row % lanes != 0) lanes /= 2;
    return row % lanes == 0 ? lanes : m->most;
}

static maker maker_for(const cpu_compiled *c, const kir_module *module, bool blocks) {
    const cpu_compiler *own = cpu_compiler_in_use;
    maker m = {.options = {.bytes = own && own->bytes ? own->bytes : LEVELS[c->level].bytes,
                           .cpu = LEVELS[c->level].cpu,
                           .dot4 = cpu_compiled_has_dot4(c->level)},
               .most = own && own->lanes ? own->lanes : LEVELS[c->level].lanes,
               .blocks = blocks};
    m.lanes = lanes_for(&m, module);
    return m;
}

/* False: nothing is kept. */
static bool key_of(const cpu_compiled *c, const maker *m, const kir_module *module, uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_text text = {0};
    hg_blake3 hash;
    if (!hg_blob_cache_usable(c->cache) || (cpu_compiler_in_use && !cpu_compiler_in_use->keeps)) return false;
    hg_text_addf(&text, "hologram native code 2, %s, %x, bytes %u, lanes %u, blocks %d, %s%s, ", cpu_compiled_sources,
                 (unsigned)HG_JIT_VERSION, (unsigned)m->options.bytes, (unsigned)m->lanes, m->blocks, m->options.cpu,
                 m->options.dot4 ? " vnni" : "");
    if (cpu_compiler_in_use)
        hg_text_addf(&text, "%s", cpu_compiler_in_use->table.compiler);
    else if (!cpu_module_identity(&text))
        text.failed = true;
    hg_text_addf(&text, "\n");
    kir_print(&text, module);
    bool good = !text.failed;
    hg_blake3_init(&hash);
    if (good) hg_blake3_update(&hash, text.data, text.length);
    hg_blake3_final(&hash, key);
    hg_text_free(&text);
    return good;
}

/* ---- code ---- */

static void unload(void *object) { cpu_object_unload(object); }

static hg_status attach(const maker *m, const uint8_t *bytes, uint64_t size, uint32_t frame, tile_kernel *kernel) {
    char reason[256] = "";
    if (frame > HG_JIT_MOST_FRAME)
        return hg_fail(HG_ERROR_ISA, "its code would take %u bytes of the stack, and may take at most %d", (unsigned)frame,
                       (int)HG_JIT_MOST_FRAME);
    cpu_object *object = cpu_object_load(bytes, size, HG_JIT_KERNEL, reason);
    if (!object) return hg_fail(HG_ERROR_INTERNAL, "%s", reason);
    tile_native native = {.lanes = m->lanes, .blocks = m->blocks, .destroy = unload, .user = object};
    void *entry = cpu_object_entry(object);
    memcpy(&native.run, &entry, sizeof entry);
    if (tile_kernel_attach(kernel, &native)) return HG_OK;
    cpu_object_unload(object);
    return hg_fail(HG_ERROR_ISA, "this kernel keeps the interpreter's code");
}

enum { MOST_LANES = 64, LEAST_LANES = 8 };

/* Twice the lanes where that is worth it; as many fewer as it takes that what lives at a time does not fill the stack that code may have. */
static hg_status best_lanes(const maker *m, const vec_kernel *k, uint32_t *lanes) {
    vec_pressure pressure;
    bool doubled = false;
    *lanes = m->lanes;
    if (cpu_compiler_in_use && cpu_compiler_in_use->lanes) return HG_OK; /* a compiler of one's own may ask for its lanes */
    if (m->lanes < MOST_LANES) HG_TRY(vec_find_double(k, m->options.bytes * (m->options.bytes == 64 ? 32 : 16), &doubled));
    if (doubled) *lanes *= 2;
    HG_TRY(vec_find_pressure(k, &pressure));
    while (*lanes > LEAST_LANES && (uint64_t)pressure.bytes * *lanes > HG_JIT_MOST_FRAME / 2) *lanes /= 2;
    return HG_OK;
}

static hg_status form(maker *m, const kir_module *module, vec_kernel **k) {
    uint32_t lanes;
    HG_TRY(vec_form(module, &(vec_options){.lanes = m->lanes, .blocks = m->blocks}, k));
    hg_status status = best_lanes(m, *k, &lanes);
    if (status == HG_OK && lanes == m->lanes) return HG_OK;
    vec_kernel_destroy(*k);
    *k = NULL;
    HG_TRY(status);
    m->lanes = lanes;
    return vec_form(module, &(vec_options){.lanes = m->lanes, .blocks = m->blocks}, k);
}

hg_status cpu_form(tile_level level, const kir_module *module, vec_kernel **kernel, vec_turn_size *turns) {
    const cpu_compiled c = {.level = level};
    maker m = maker_for(&c, module, vec_asks_for_places(module));
    *kernel = NULL;
    hg_status status = form(&m, module, kernel);
    if (status == HG_ERROR_ISA && m.blocks) {
        m = maker_for(&c, module, false);
        status = form(&m, module, kernel);
    }
    *turns = (vec_turn_size){.lanes = m.lanes, .bytes = m.options.bytes, .registers = LEVELS[level].registers};
    return status;
}

/* Sets the lanes of a turn. *module: NULL where the compiler was left alone with it. */
static hg_status compile_object(maker *m, const hg_jit_table *table, const hg_patience *patience, kir_module **module,
                                hg_jit_object *object) {
    vec_kernel *k = NULL;
    char reason[256] = "";
    HG_TRY(form(m, *module, &k));
    hg_status status = vec_verify(k);
    if (status == HG_OK) {
        status = table->compile(k, &m->options, patience, object, reason);
        if (status != HG_OK) HG_IGNORE(hg_fail(status, "%s: %s", table->compiler, reason));
    }
    if (status == HG_ERROR_WOULD_BLOCK) {
        *module = NULL;
        return HG_ERROR_EXECUTION_FAILED;
    }
    vec_kernel_destroy(k);
    return status;
}

/* In front of an object in the cache. */
typedef struct kept_header {
    uint32_t lanes, frame; /* of its turns; hg_jit_object.frame */
    uint8_t unused[56];
} kept_header;

/* A later process makes again what is not kept. */
static void keep(const cpu_compiled *c, const uint8_t *key, const maker *m, const hg_jit_object *object) {
    const kept_header header = {.lanes = m->lanes, .frame = object->frame};
    uint8_t *blob = hg_calloc(1, sizeof header + object->size);
    if (!blob) return;
    memcpy(blob, &header, sizeof header);
    memcpy(blob + sizeof header, object->bytes, object->size);
    (void)hg_blob_cache_put(c->cache, key, blob, sizeof header + object->size);
    hg_free(blob);
}

static hg_status attach_kept(maker m, const uint8_t *blob, uint64_t size, tile_kernel *kernel) {
    kept_header header;
    if (size <= sizeof header) return HG_ERROR_INTERNAL;
    memcpy(&header, blob, sizeof header);
    bool is_power = header.lanes && !(header.lanes & (header.lanes - 1));
    if (!is_power || header.lanes > MOST_LANES || header.lanes > 2 * m.lanes || header.frame > HG_JIT_MOST_FRAME) return HG_ERROR_INTERNAL;
    m.lanes = header.lanes;
    return attach(&m, blob + sizeof header, size - sizeof header, header.frame, kernel);
}

/* *module: as of compile_object. */
static hg_status compile(const cpu_compiled *c, kir_module **module, tile_kernel *kernel, const hg_patience *patience) {
    char reason[256] = "";
    uint8_t key[HG_BLOB_KEY_BYTES];
    hg_jit_object object = {0};
    const hg_jit_table *table = cpu_compiler_in_use ? &cpu_compiler_in_use->table : cpu_module_open(reason);
    if (!table) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s", reason);
    if (!cpu_module_enter()) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "the compiler was at work when this process was forked");
    maker m = maker_for(c, *module, vec_asks_for_places(*module));
    bool kept = key_of(c, &m, *module, key);
    hg_status status = compile_object(&m, table, patience, module, &object);
    if (status == HG_ERROR_ISA && m.blocks) {
        m = maker_for(c, *module, false);
        kept = key_of(c, &m, *module, key);
        status = compile_object(&m, table, patience, module, &object);
    }
    if (status == HG_OK) status = attach(&m, object.bytes, object.size, object.frame, kernel);
    if (status == HG_OK && kept) keep(c, key, &m, &object);
    if (object.bytes) table->release(object.bytes);
    cpu_module_leave();
    return status;
}

/* HG_ERROR_WOULD_BLOCK: it is not there, or was of no use. */
static hg_status take_kept(const cpu_compiled *c, const maker *m, const kir_module *module, tile_kernel *kernel) {
    uint8_t key[HG_BLOB_KEY_BYTES], *bytes;
    uint64_t size;
    if (!key_of(c, m, module, key) || !hg_blob_cache_get(c->cache, key, &bytes, &size)) return HG_ERROR_WOULD_BLOCK;
    hg_status status = attach_kept(*m, bytes, size, kernel);
    hg_free(bytes);
    if (status != HG_ERROR_INTERNAL) return status;
    hg_blob_cache_remove(c->cache, key);
    return HG_ERROR_WOULD_BLOCK;
}

hg_status cpu_compile(const cpu_compiled *c, kir_module *module, tile_kernel *kernel, const hg_patience *patience) {
    hg_status status = HG_ERROR_WOULD_BLOCK;
    for (int blocks = vec_asks_for_places(module); blocks >= 0 && status == HG_ERROR_WOULD_BLOCK; blocks--) {
        const maker m = maker_for(c, module, blocks != 0);
        status = take_kept(c, &m, module, kernel);
    }
    if (status == HG_ERROR_WOULD_BLOCK && patience) status = compile(c, &module, kernel, patience);
    kir_module_destroy(module);
    return status;
}
