/* Code in device form: what of a kernel decides which forms it can have, and the form that a key
 * asks for.
 * Must not know: who asks, other code of the kernel. */
#include "code/code_internal.h"
#include "kir/analysis/analysis.h"
#include "kir/passes/passes.h"
#include <string.h>

/* Bindings are read in words: narrow accesses and 64-bit atomics would cost much. */
static bool suits_bindings(const kir_value *v) {
    if (!kir_is_access(v) || v->op == KIR_CHECK) return true;
    bool atomic = v->op == KIR_ATOMIC;
    return v->u.mem.bytes == 4 || (v->u.mem.bytes == 8 && !atomic) ||
           (v->u.mem.space == KIR_SHARED && !atomic);
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

static void note_slots(hg_code_set *set, const kir_module *low) {
    for (uint64_t i = 0; i < low->slots.count && i < 64; i++) {
        set->memory.read_slots |= (uint64_t)low->slots.data[i].read << i;
        set->memory.written_slots |= (uint64_t)low->slots.data[i].written << i;
    }
    set->memory.uses_class = low->uses_class;
    set->memory.has_open = low->has_open;
}

static bool writes_class(const kir_value *v) {
    return (v->op == KIR_STORE || v->op == KIR_ATOMIC) && v->u.mem.space == KIR_CLASS;
}

/* Whether the device may leave a loop of any form of the kernel early. Forms add loops: of folded
 * lanes, and around narrow stores and atomics that the device lacks, whose rounds nobody knows. */
static bool may_be_cut(const hg_code_set *set, const kir_module *low) {
    enum { MOST_FOLDED = 64 };
    uint64_t most = set->caps->compiler.target.max_rounds;
    if (!most) return false;
    for (const kir_function *f = low->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_ATOMIC || !suits_bindings(v)) return true;
    return kir_most_rounds(low, NULL) > most / 2 / MOST_FOLDED;
}

/* Whether its lanes can go on in another dispatch where they have more rounds than the device runs.
 */
static bool may_be_long(const hg_code_set *set, const kir_module *low) {
    enum { PART = 64 };
    if (set->facts.needs_blocks || set->caps->compiler.target.bind_arenas ||
        set->caps->compiler.compiles_late)
        return false;
    return kir_most_rounds(low, NULL) > set->caps->compiler.target.max_rounds / PART;
}

void hg_code_note(hg_code_set *set, const kir_module *low) {
    set->facts.cuts_loops = may_be_cut(set, low);
    note_slots(set, low);
    set->facts.needs_blocks = low->uses_barrier || low->uses_shared;
    set->facts.resumes = set->facts.cuts_loops && may_be_long(set, low);
    set->facts.wants_blocks = set->facts.needs_blocks ||
                              (!set->facts.resumes && kir_device_wants_blocks(low));
    set->facts.plain_barriers = !low->has_open;
    set->facts.bindable = set->caps->compiler.bound_bytes &&
                          low->slots.count <= set->caps->compiler.bound_slots && !low->has_open;
    for (const kir_function *f = low->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            set->cost.work++;
            set->cost.atomics += v->op == KIR_ATOMIC;
            set->facts.plain_barriers = set->facts.plain_barriers && is_plain(low, f, v);
            set->facts.bindable = set->facts.bindable && suits_bindings(v);
            set->facts.unbounded |= v->op == KIR_LOOP || v->op == KIR_CALL;
            set->memory.writes_class |= writes_class(v);
        }
}

void hg_code_free_form(hg_code *c) {
    kir_device_layout_free(&c->layout);
    hg_arena_free(&c->messages);
    hg_free(c->fields);
    hg_free(c->slots);
}

/* ---- making one ---- */

/* Field i is half of a value whose other half is a field too. */
static bool is_paired(const kir_device_layout *layout, uint64_t i) {
    const kir_field *f = &layout->fields.data[i];
    for (uint64_t k = 0; k < layout->fields.count; k++) {
        const kir_field *g = &layout->fields.data[k];
        if (g->kind == f->kind && g->index == f->index && g->reach == f->reach &&
            g->high != f->high)
            return true;
    }
    return false;
}

static hg_status keep_fields(hg_code *c, const kir_module *m) {
    c->field_count = (uint32_t)c->layout.fields.count;
    c->fields = hg_calloc(c->field_count + (size_t)1, sizeof *c->fields);
    if (!c->fields) return hg_fail_memory();
    if (m->inputs.count != c->field_count)
        return hg_fail(HG_ERROR_INTERNAL, "device form: fields and inputs differ in number");
    for (uint32_t i = 0; i < c->field_count; i++)
        c->fields[i] = (hg_code_field){.field = c->layout.fields.data[i],
                                       .offset = m->inputs.data[i].index,
                                       .bytes = m->inputs.data[i].type == HG_TYPE_U64 ? 8 : 4,
                                       .paired = is_paired(&c->layout, i)};
    return HG_OK;
}

static hg_status keep_slots(hg_code *c, const kir_module *m) {
    c->slot_count = (uint32_t)m->slots.count;
    c->slots = hg_calloc(c->slot_count + (size_t)1, sizeof *c->slots);
    if (!c->slots) return hg_fail_memory();
    if (c->slot_count) memcpy(c->slots, m->slots.data, c->slot_count * sizeof *c->slots);
    return HG_OK;
}

/* The layout's messages live in the module, which goes. */
static hg_status keep_messages(hg_code *c) {
    for (uint64_t i = 0; i < c->layout.sites.count; i++) {
        kir_fault_site *site = &c->layout.sites.data[i];
        if (!site->message) continue;
        site->message = hg_arena_text(&c->messages, site->message, strlen(site->message));
        if (!site->message) return hg_fail_memory();
    }
    return HG_OK;
}

static kir_device_options options_of(const hg_code_set *set, const hg_code_key *key, bool relaxed) {
    const kir_device_target *whole = &set->caps->compiler.target;
    kir_device_options options = {.target = key->bound ? bound_target(*whole) : *whole,
                                  .form = key->form,
                                  .small = key->small,
                                  .whole_blocks = key->whole_blocks,
                                  .at_origin = key->at_origin,
                                  .proven = key->proven,
                                  .shared_is_slot = key->shared_is_slot,
                                  .hide_zeros = set->caps->compiler.kir.folds_zeros && !relaxed,
                                  .hide_results = whole->rewrites && !relaxed,
                                  .fold = key->fold,
                                  .alone = key->alone,
                                  .resumes = set->facts.resumes,
                                  .may_idle = set->caps->compiler.compiles_late,
                                  .distinct = key->distinct};
    if (options.target.bind_arenas) {
        options.target.max_arenas = key->open_arenas;
        memcpy(options.slot_arenas, key->slot_arenas, sizeof options.slot_arenas);
        memcpy(options.kind_arenas, key->kind_arenas, sizeof options.kind_arenas);
    }
    if (key->form == KIR_FORM_BLOCK && key->fold < 2) {
        memcpy(options.block, key->group, sizeof options.block);
        options.shared_bytes = key->group_memory > KIR_SHARED_RESERVED
                                   ? key->group_memory - KIR_SHARED_RESERVED
                                   : 0;
    }
    return options;
}

/* A kernel that the device's compiler would not live through never reaches it. */
static hg_status fit(const hg_code_set *set, kir_module *form) {
    uint64_t most = set->caps->compiler.max_operations, choices = set->caps->compiler.max_choices;
    kir_size size = {0};
    if (!most) return HG_OK;
    HG_TRY(kir_call_once(form, most, &size));
    if (size.operations > most)
        return hg_fail(HG_ERROR_EXECUTION_FAILED,
                       "the kernel '%s' has %llu operations, this device's compiler takes %llu",
                       form->name, (unsigned long long)size.operations, (unsigned long long)most);
    if (size.choices_squared <= choices * choices) return HG_OK;
    uint64_t parts = choices;
    while (parts * parts < size.choices_squared) parts++;
    return hg_fail(HG_ERROR_EXECUTION_FAILED,
                   "the kernel '%s' chooses between %llu parts of its %llu operations, this "
                   "device's compiler takes %llu",
                   form->name, (unsigned long long)parts, (unsigned long long)size.operations,
                   (unsigned long long)choices);
}

static hg_status create_kernel(hg_code *c, kir_module *form, const kir_device_target *target) {
    const hg_code_set *set = c->set;
    const hg_driver_code code = {.module = form,
                                 .layout = &c->layout,
                                 .target = *target,
                                 .group = {c->group[0], c->group[1], c->group[2]},
                                 .group_memory = c->group_memory};
    uint64_t start = hg_profile_start(set->profile);
    hg_status status = set->driver->code_create(set->device, &code, &c->kernel);
    if (start) hg_code_record(set, "driver", start);
    return status == HG_OK ? keep_messages(c) : status;
}

/* From a copy: passes write ids and facts into what they read. */
static hg_status make_form(hg_code *c, const kir_device_options *options, kir_module **form) {
    const hg_code_set *set = c->set;
    kir_compilation compilation = {.device = options, .layout = &c->layout, .verify = set->verify};
    kir_module *m = NULL;
    HG_TRY(kir_copy(set->form.low, &m));
    hg_status status = kir_pipeline_run(&compilation, KIR_STAGE_DEVICE, KIR_STAGE_DEVICE, m, form);
    kir_module_destroy(m);
    return status;
}

hg_status hg_code_compile_form(hg_code *c) {
    const hg_code_set *set = c->set;
    const kir_device_options options = options_of(set, &c->key, set->form.low->relaxed);
    kir_module *form = NULL;
    uint64_t start = hg_profile_start(set->profile);
    HG_TRY(make_form(c, &options, &form));
    hg_status status = fit(set, form);
    if (status == HG_OK) status = keep_fields(c, form);
    if (status == HG_OK) status = keep_slots(c, form);
    if (start) hg_code_record(set, "device form", start);
    if (status == HG_OK) status = create_kernel(c, form, &options.target);
    kir_module_destroy(form);
    return status;
}
