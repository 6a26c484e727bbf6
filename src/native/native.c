/* See native.h. An object in the cache is found by everything that it depends on: the kernel as
 * text, the widths, the level, the compiler. */
#include "native/native.h"
#include "isa/program.h"
#include "native/compilers.h"
#include <stdio.h>
#include <string.h>

/* How kernels are cut where no compiler says it: what `hologram explain` shows there. */
static const native_level PLAIN = {
    .options = {.bytes = 16, .cpu = ""}, .lanes = 8, .registers = 16};

static native_level level_of(const native_compiler *by, tile_level level) {
    native_level how = PLAIN;
    if (by) by->level(level, &how);
    return how;
}

hg_status native_open(native_device *d, tile_level level, const char *cache_dir,
                      uint64_t cache_bytes) {
    d->level = level;
    return hg_blob_cache_open(cache_dir, cache_bytes, &d->cache);
}

void native_close(native_device *d) { hg_blob_cache_close(d->cache); }

bool native_possible(void) {
    const native_compiler *by = native_choose();
    return by && by->possible();
}

bool native_likely(void) { return native_possible() && native_choose()->there(); }
bool native_is_at_once(void) { return native_possible() && native_choose()->at_once; }
void native_caps(kir_caps *caps) {
    const native_compiler *by = native_choose();
    vec_caps(caps);
    if (by && by->caps) by->caps(caps);
}
bool native_has_dot4(tile_level level) { return level_of(native_choose(), level).options.dot4; }

static const char *open_compiler(const native_compiler *by, char reason[256]) {
    if (by) return by->open(reason);
    snprintf(reason, 256, "not on this machine: there is no compiler of native code for it");
    return NULL;
}

bool native_by(char text[256]) {
    const char *name = open_compiler(native_choose(), text);
    if (name) snprintf(text, 256, "%s", name);
    return name != NULL;
}

void native_attach(tile_level level, const kir_module *m, bool compiler, tile_kernel *kernel) {
    for (const native_compiler *const *c = native_compilers; *c; c++) {
        tile_native code = {0};
        if ((*c)->find) (*c)->find(level, m, compiler, &code);
        if (code.run && tile_kernel_attach(kernel, &code)) return;
    }
}

/* ---- keys ---- */

/* What an object is made for and by. */
typedef struct maker {
    const native_compiler *by;
    native_level level;
    uint32_t lanes; /* of a turn of this kernel */
    bool blocks;    /* of a kernel that asks where lanes are in their blocks: a block at a time */
    bool parts;     /* its lanes may be faster alone, in turns of one (vec_kernel) */
} maker;

/* Turns of a kernel that runs block by block fit the rows of its blocks, as far as the program says
 * how long they are: a turn in which lanes are missing is slow. No fewer lanes than a native vector
 * has floats, or doubles where these are eight; four where a row is four. */
static uint32_t lanes_for(const maker *m, const kir_module *module) {
    bool blocks = m->blocks || module->uses_barrier || module->uses_shared;
    uint32_t row = blocks && module->program ? module->program->block[0] : 0,
             lanes = m->level.lanes, least = m->level.options.bytes / 4;
    if (least > 8) least = 8;
    if (row == 4) least = 4;
    if (row == 0) return lanes;
    while (lanes > least && row % lanes != 0) lanes /= 2;
    return row % lanes == 0 ? lanes : m->level.lanes;
}

/* Whether it is the high half of a product of 64 bits whose low half is made too: one instruction
 * of scalars makes both, and vectors have none. */
static bool is_product(const kir_value *v) {
    const kir_value *low = v->prev;
    return v->op == KIR_MULHI_U && v->type == HG_TYPE_U64 && low && low->op == KIR_MUL &&
           low->args[0] == v->args[0] && low->args[1] == v->args[1];
}

/* Where such products, and what carries them on, are all that there is, a lane is as fast alone.
 * Floats are for vectors. */
enum { PRODUCTS_LOG = 5 };
static bool is_for_scalars(const kir_module *module) {
    uint64_t all = 0, products = 0;
    if (module->uses_barrier || module->uses_shared) return false;
    for (const kir_function *f = module->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (!kir_is_value(v)) continue;
            if (kir_type_is_float(v->type)) return false;
            all++;
            products += is_product(v);
        }
    return products << PRODUCTS_LOG > all;
}

static maker maker_for(const native_compiler *by, tile_level level, const kir_module *module,
                       bool blocks) {
    maker m = {.by = by, .level = level_of(by, level), .blocks = blocks};
    kir_caps caps = {0};
    if (by && by->caps) by->caps(&caps);
    if (caps.limb_values && !m.level.fixed && is_for_scalars(module)) {
        m.lanes = 1;
        m.blocks = false;
    } else {
        m.lanes = lanes_for(&m, module);
    }
    return m;
}

/* False: nothing is kept. */
static bool key_of(const native_device *d, const maker *m, const kir_module *module,
                   uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_text text = {0};
    hg_blake3 hash;
    if (!hg_blob_cache_usable(d->cache) || !m->by || !m->by->identity) return false;
    hg_text_addf(&text, "hologram native code 3, %s, %x, bytes %u, lanes %u, blocks %d, %s%s%s, ",
                 native_sources, (unsigned)HG_JIT_VERSION, (unsigned)m->level.options.bytes,
                 (unsigned)m->lanes, m->blocks, m->level.options.cpu,
                 m->level.options.dot4 ? " vnni" : "", m->level.options.vbmi ? " vbmi" : "");
    if (!m->by->identity(&text)) text.failed = true;
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

static hg_status attach(const maker *m, const uint8_t *bytes, uint64_t size, uint32_t frame,
                        tile_kernel *kernel) {
    char reason[256] = "";
    if (frame > HG_JIT_MOST_FRAME)
        return hg_fail(HG_ERROR_ISA,
                       "its code would take %u bytes of the stack, and may take at most %d",
                       (unsigned)frame, (int)HG_JIT_MOST_FRAME);
    const native_loader *loader = m->by->loader;
    void *code = loader->begin ? loader->begin(bytes, size, kernel, reason)
                               : loader->load(bytes, size, HG_JIT_KERNEL, reason);
    if (!code) return hg_fail(HG_ERROR_INTERNAL, "%s", reason);
    tile_native native = {
        .lanes = m->lanes, .blocks = m->blocks, .destroy = loader->unload, .user = code};
    if (loader->begin) {
        if (tile_kernel_expect(kernel, &native)) return HG_OK;
        loader->unload(code);
        return hg_fail(HG_ERROR_ISA, "this kernel keeps the interpreter's code");
    }
    void *entry = loader->entry(code);
    memcpy(&native.run, &entry, sizeof entry);
    if (tile_kernel_attach(kernel, &native)) return HG_OK;
    loader->unload(code);
    return hg_fail(HG_ERROR_ISA, "this kernel keeps the interpreter's code");
}

/* The code of turns of one lane, beside that which is attached. */
static void attach_alone(const maker *m, const uint8_t *bytes, uint64_t size, tile_kernel *kernel) {
    char reason[256] = "";
    const native_loader *loader = m->by->loader;
    void *code = loader->load(bytes, size, HG_JIT_KERNEL, reason);
    if (!code) return;
    tile_native native = {.lanes = 1, .destroy = loader->unload, .user = code};
    void *entry = loader->entry(code);
    memcpy(&native.run, &entry, sizeof entry);
    if (!tile_kernel_attach_alone(kernel, &native)) loader->unload(code);
}

enum { MOST_LANES = 64, LEAST_LANES = 8 };

/* Twice the lanes where that is worth it; as many fewer as it takes that what lives at a time does
 * not fill the stack that code may have. */
static uint32_t best_lanes(const maker *m, const vec_kernel *k) {
    const uint32_t bytes = m->level.options.bytes;
    uint32_t lanes = m->lanes;
    if (m->level.fixed || lanes == 1) return lanes;
    if (k->fewer_lanes && k->fewer_lanes * 4 >= bytes) return k->fewer_lanes;
    if (lanes < MOST_LANES && vec_wants_double(k, bytes * (bytes == 64 ? 32 : 16))) lanes *= 2;
    while (lanes > LEAST_LANES && (uint64_t)k->pressure.bytes * lanes > HG_JIT_MOST_FRAME / 2)
        lanes /= 2;
    return lanes;
}

static hg_status form(maker *m, const kir_module *module, vec_kernel **k) {
    HG_TRY(vec_form(module, &(vec_options){.lanes = m->lanes, .blocks = m->blocks}, k));
    const uint32_t lanes = best_lanes(m, *k);
    if (lanes == m->lanes) return HG_OK;
    vec_kernel_destroy(*k);
    *k = NULL;
    m->lanes = lanes;
    return vec_form(module, &(vec_options){.lanes = m->lanes, .blocks = m->blocks}, k);
}

hg_status native_form(tile_level level, const kir_module *module, vec_kernel **kernel,
                      vec_turn_size *turns) {
    maker m = maker_for(native_choose(), level, module, vec_asks_for_places(module));
    *kernel = NULL;
    hg_status status = form(&m, module, kernel);
    if (status == HG_ERROR_ISA && m.blocks) {
        m = maker_for(m.by, level, module, false);
        status = form(&m, module, kernel);
    }
    *turns = (vec_turn_size){
        .lanes = m.lanes, .bytes = m.level.options.bytes, .registers = m.level.registers};
    return status;
}

/* Sets the lanes of a turn. *module: NULL where the compiler was left alone with it. */
static hg_status compile_object(maker *m, const char *name, const hg_patience *patience,
                                kir_module **module, hg_jit_object *object) {
    vec_kernel *k = NULL;
    char reason[256] = "";
    HG_TRY(form(m, *module, &k));
    m->parts = k->may_be_faster_alone;
    hg_status status = vec_verify(k);
    if (status == HG_OK) {
        status = m->by->compile(k, &m->level.options, patience, object, reason);
        if (status != HG_OK) HG_IGNORE(hg_fail(status, "%s: %s", name, reason));
    }
    if (status == HG_ERROR_WOULD_BLOCK) {
        *module = NULL;
        return HG_ERROR_EXECUTION_FAILED;
    }
    vec_kernel_destroy(k);
    return status;
}

/* The same in turns of one lane. No bytes: there is none. */
static void compile_alone(const maker *m, const char *name, const hg_patience *patience,
                          kir_module **module, hg_jit_object *object) {
    maker alone = *m;
    alone.lanes = 1;
    if (!m->parts || m->lanes == 1 || m->blocks || m->level.fixed || m->by->loader->begin) return;
    HG_IGNORE(compile_object(&alone, name, patience, module, object));
}

/* In front of an object in the cache, and behind that perhaps one in turns of one lane. */
typedef struct kept_header {
    uint32_t lanes, frame; /* of its turns; hg_jit_object.frame */
    uint64_t size;         /* of the first */
    uint8_t unused[48];
} kept_header;

/* A later process makes again what is not kept. */
static void keep(const native_device *d, const uint8_t *key, const maker *m,
                 const hg_jit_object *object, const hg_jit_object *alone) {
    const kept_header header = {.lanes = m->lanes, .frame = object->frame, .size = object->size};
    uint64_t size = sizeof header + object->size;
    uint8_t *blob = hg_calloc(1, (size_t)(size + alone->size));
    if (!blob) return;
    memcpy(blob, &header, sizeof header);
    memcpy(blob + sizeof header, object->bytes, (size_t)object->size);
    if (alone->size) memcpy(blob + size, alone->bytes, (size_t)alone->size);
    (void)hg_blob_cache_put(d->cache, key, blob, size + alone->size);
    hg_free(blob);
}

static hg_status attach_kept(maker m, const uint8_t *blob, uint64_t size, tile_kernel *kernel) {
    kept_header header;
    if (size <= sizeof header) return HG_ERROR_INTERNAL;
    memcpy(&header, blob, sizeof header);
    bool is_power = header.lanes && !(header.lanes & (header.lanes - 1));
    blob += sizeof header;
    size -= sizeof header;
    if (!is_power || header.lanes > MOST_LANES || header.lanes > 2 * m.lanes ||
        header.frame > HG_JIT_MOST_FRAME || header.size > size)
        return HG_ERROR_INTERNAL;
    m.lanes = header.lanes;
    HG_TRY(attach(&m, blob, header.size, header.frame, kernel));
    if (header.size < size) attach_alone(&m, blob + header.size, size - header.size, kernel);
    return HG_OK;
}

/* *module: as of compile_object. */
static hg_status compile(const native_device *d, const native_compiler *by, kir_module **module,
                         tile_kernel *kernel, const hg_patience *patience) {
    char reason[256] = "";
    uint8_t key[HG_BLOB_KEY_BYTES];
    hg_jit_object object = {0}, alone = {0};
    const char *name = open_compiler(by, reason);
    if (!name) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%s", reason);
    if (by->enter && !by->enter())
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "the compiler was at work when this process was forked");
    maker m = maker_for(by, d->level, *module, vec_asks_for_places(*module));
    bool kept = key_of(d, &m, *module, key);
    hg_status status = compile_object(&m, name, patience, module, &object);
    if (status == HG_ERROR_ISA && m.blocks) {
        m = maker_for(by, d->level, *module, false);
        kept = key_of(d, &m, *module, key);
        status = compile_object(&m, name, patience, module, &object);
    }
    if (status == HG_OK) status = attach(&m, object.bytes, object.size, object.frame, kernel);
    if (status == HG_OK) compile_alone(&m, name, patience, module, &alone);
    if (alone.bytes) attach_alone(&m, alone.bytes, alone.size, kernel);
    if (status == HG_OK && kept) keep(d, key, &m, &object, &alone);
    if (object.bytes) by->release(object.bytes);
    if (alone.bytes) by->release(alone.bytes);
    if (by->leave) by->leave();
    return status;
}

/* HG_ERROR_WOULD_BLOCK: it is not there, or was of no use. */
static hg_status take_kept(const native_device *d, const maker *m, const kir_module *module,
                           tile_kernel *kernel) {
    uint8_t key[HG_BLOB_KEY_BYTES], *bytes;
    uint64_t size;
    if (!key_of(d, m, module, key) || !hg_blob_cache_get(d->cache, key, &bytes, &size))
        return HG_ERROR_WOULD_BLOCK;
    hg_status status = attach_kept(*m, bytes, size, kernel);
    hg_free(bytes);
    if (status != HG_ERROR_INTERNAL) return status;
    hg_blob_cache_remove(d->cache, key);
    return HG_ERROR_WOULD_BLOCK;
}

hg_status native_compile(const native_device *d, kir_module *module, tile_kernel *kernel,
                         const hg_patience *patience) {
    const native_compiler *by = native_choose();
    hg_status status = HG_ERROR_WOULD_BLOCK;
    for (int blocks = vec_asks_for_places(module); blocks >= 0 && status == HG_ERROR_WOULD_BLOCK;
         blocks--) {
        const maker m = maker_for(by, d->level, module, blocks != 0);
        status = take_kept(d, &m, module, kernel);
    }
    if (status == HG_ERROR_WOULD_BLOCK && patience)
        status = compile(d, by, &module, kernel, patience);
    kir_module_destroy(module);
    return status;
}
