/* Variants of a kernel: device forms of its module for what a launch asks, compiled once each and kept while the executable lives.
 * Must not know: launches' memory, queues. */
#include "runtime/dispatch.h"
#include "kir/pipeline/pipeline.h"
#include <string.h>

enum { MAX_VARIANTS = 32 }; /* a program launched with ever new block sizes on a device with static groups must not fill memory */

/* Bindings are read in words: narrow accesses and 64-bit atomics would be dear. */
static bool suits_bindings(const kir_value *v) {
    if (!kir_is_access(v) || v->op == KIR_CHECK) return true;
    bool atomic = v->op == KIR_ATOMIC;
    return v->u.mem.bytes == 4 || (v->u.mem.bytes == 8 && !atomic) || (v->u.mem.space == KIR_SHARED && !atomic);
}

/* Memory as kernels of bindings see it. */
static kir_device_target bound_target(kir_device_target t) {
    t.addressed = t.memory8 = t.memory16 = t.memory64 = t.atomic64 = false;
    return t;
}

/* What device compilers copy code for: a barrier behind a branch, and lanes that may not come. */
static bool is_plain(const kir_module *m, const kir_function *f, const kir_value *v) {
    if (v->op == KIR_EXIT || v->op == KIR_FAULT_IF || v->op == KIR_ATOMIC) return false;
    return v->op != KIR_BARRIER || (f == m->functions && kir_in_loops_only(v));
}

hg_status hg_variants_create(const hg_driver *driver, hg_device *device, const hg_device_caps *caps, kir_module *module,
                             hg_variants **variants) {
    hg_variants *v = hg_calloc(1, sizeof *v);
    if (!v) return hg_fail_memory();
    v->driver = driver;
    v->device = device;
    v->caps = caps;
    v->module = module;
    v->needs_blocks = module->uses_barrier || module->uses_shared;
    v->wants_blocks = v->needs_blocks || kir_device_wants_blocks(module);
    hg_mutex_init(&v->lock);
    v->plain_barriers = !module->has_open;
    v->bindable = caps->bound_bytes && module->slots.count <= caps->bound_slots && !module->has_open;
    for (kir_function *f = module->functions; f; f = f->next)
        for (kir_value *o = kir_walk(NULL, f->body); o; o = kir_walk(o, f->body)) {
            v->work++;
            v->plain_barriers = v->plain_barriers && is_plain(module, f, o);
            v->bindable = v->bindable && suits_bindings(o);
            v->unbounded |= o->op == KIR_LOOP || o->op == KIR_CALL;
        }
    *variants = v;
    return HG_OK;
}

static void destroy(hg_variants *variants, hg_variant *v) {
    if (v->code) variants->driver->kernel_destroy(v->code);
    kir_device_layout_free(&v->layout);
    hg_arena_free(&v->messages);
    hg_free(v->fields);
    hg_free(v->slots);
    hg_free(v);
}

void hg_variant_release(hg_variants *variants, hg_variant *v) {
    if (v && hg_atomic_sub_fetch(&v->references, 1, HG_ACQ_REL) == 0) destroy(variants, v);
}

void hg_variants_destroy(hg_variants *variants) {
    if (!variants) return;
    while (variants->first) {
        hg_variant *next = variants->first->next;
        hg_variant_release(variants, variants->first);
        variants->first = next;
    }
    kir_module_destroy(variants->module);
    hg_mutex_destroy(&variants->lock);
    hg_free(variants);
}

/* ---- making one ---- */

/* Field i is half of a value whose other half is a field too. */
static bool is_paired(const kir_device_layout *layout, uint64_t i) {
    const kir_field *f = &layout->fields.data[i];
    for (uint64_t k = 0; k < layout->fields.count; k++) {
        const kir_field *g = &layout->fields.data[k];
        if (g->kind == f->kind && g->index == f->index && g->reach == f->reach && g->high != f->high) return true;
    }
    return false;
}

static hg_status keep_fields(hg_variant *v, const kir_module *m) {
    v->field_count = (uint32_t)v->layout.fields.count;
    v->fields = hg_calloc(v->field_count + (size_t)1, sizeof *v->fields);
    if (!v->fields) return hg_fail_memory();
    if (m->inputs.count != v->field_count) return hg_fail(HG_ERROR_INTERNAL, "device form: fields and inputs differ in number");
    for (uint32_t i = 0; i < v->field_count; i++)
        v->fields[i] = (hg_variant_field){.field = v->layout.fields.data[i],
                                          .offset = m->inputs.data[i].index,
                                          .bytes = m->inputs.data[i].type == HG_TYPE_U64 ? 8 : 4,
                                          .paired = is_paired(&v->layout, i)};
    return HG_OK;
}

static hg_status keep_slots(hg_variant *v, const kir_module *m) {
    v->slot_count = (uint32_t)m->slots.count;
    v->slots = hg_calloc(v->slot_count + (size_t)1, sizeof *v->slots);
    if (!v->slots) return hg_fail_memory();
    if (v->slot_count) memcpy(v->slots, m->slots.data, v->slot_count * sizeof *v->slots);
    return HG_OK;
}

/* The layout's messages live in the module, which goes. */
static hg_status keep_messages(hg_variant *v) {
    for (uint64_t i = 0; i < v->layout.sites.count; i++) {
        kir_fault_site *site = &v->layout.sites.data[i];
        if (!site->message) continue;
        site->message = hg_arena_text(&v->messages, site->message, strlen(site->message));
        if (!site->message) return hg_fail_memory();
    }
    return HG_OK;
}

static void record(const hg_variants *variants, const char *what, uint64_t start) {
    hg_profile_end(variants->profile,
                   &(hg_profile_span){.kind = HG_PROFILE_COMPILE, .name = what, .detail = variants->module->name, .start_ns = start});
}

static hg_status create_code(const hg_variants *variants, const hg_driver_code *code, hg_variant *v) {
    uint64_t start = hg_profile_start(variants->profile);
    hg_status status = variants->driver->code_create(variants->device, code, &v->code);
    if (start) record(variants, "driver", start);
    return status;
}

static hg_status compile(hg_variants *variants, hg_variant *v, const uint32_t group[3], uint64_t group_memory) {
    const hg_variant_key *key = &v->key;
    const kir_device_target *whole = &variants->caps->target;
    kir_device_options options = {.target = key->bound ? bound_target(*whole) : *whole,
                                  .form = key->form,
                                  .small = key->small,
                                  .whole_blocks = key->whole_blocks,
                                  .proven = key->proven,
                                  .shared_is_slot = key->shared_is_slot,
                                  .hide_zeros = variants->caps->kir.folds_zeros && !variants->module->relaxed,
                                  .fold = key->fold,
                                  .alone = key->alone};
    if (key->form == KIR_FORM_BLOCK && key->fold < 2) {
        memcpy(options.block, key->group, sizeof options.block);
        options.shared_bytes = key->group_memory > KIR_SHARED_RESERVED ? key->group_memory - KIR_SHARED_RESERVED : 0;
    }
    kir_module *m = NULL;
    uint64_t start = hg_profile_start(variants->profile);
    kir_compilation c = {.device = &options, .layout = &v->layout, .verify = variants->verify};
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_DEVICE, KIR_STAGE_DEVICE, variants->module, &m));
    hg_status status = keep_fields(v, m);
    if (status == HG_OK) status = keep_slots(v, m);
    if (start) record(variants, "device form", start);
    hg_driver_code code = {
        .module = m, .layout = &v->layout, .target = options.target, .group = {group[0], group[1], group[2]}, .group_memory = group_memory};
    if (status == HG_OK) status = create_code(variants, &code, v);
    if (status == HG_OK) status = keep_messages(v);
    kir_module_destroy(m);
    return status;
}

/* Takes one out of the list; NULL: there is none of this key. */
static hg_variant *unlink_found(hg_variants *variants, const hg_variant_key *key) {
    for (hg_variant **at = &variants->first; *at; at = &(*at)->next) {
        hg_variant *v = *at;
        if (memcmp(&v->key, key, sizeof *key) != 0) continue;
        *at = v->next;
        return v;
    }
    return NULL;
}

static void drop_last(hg_variants *variants) {
    hg_variant **at = &variants->first;
    while ((*at)->next) at = &(*at)->next;
    hg_variant *last = *at;
    *at = NULL;
    variants->count--;
    hg_variant_release(variants, last);
}

hg_status hg_variant_get(hg_variants *variants, const hg_variant_key *key, const uint32_t group[3], uint64_t group_memory,
                         hg_variant **variant) {
    hg_status status = HG_OK;
    hg_mutex_lock(&variants->lock); /* also while compiling: device forms use scratch of the one module */
    hg_variant *v = unlink_found(variants, key);
    if (!v) {
        v = hg_calloc(1, sizeof *v);
        status = v ? HG_OK : hg_fail_memory();
        if (v) {
            v->references = 1;
            uint64_t start = hg_clock_ns();
            v->key = *key;
            status = compile(variants, v, group, group_memory);
            v->compile_ns = hg_clock_ns() - start;
        }
        if (status != HG_OK && v) destroy(variants, v);
        if (status == HG_OK && variants->count >= MAX_VARIANTS) drop_last(variants);
        if (status == HG_OK) variants->count++;
    }
    if (status == HG_OK) {
        v->next = variants->first;
        variants->first = v;
        hg_atomic_fetch_add(&v->references, 1, HG_RELAXED);
        *variant = v;
    }
    hg_mutex_unlock(&variants->lock);
    return status;
}
