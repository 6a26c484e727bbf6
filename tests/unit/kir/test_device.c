/* Kernels in device form, run by device_eval.h, against the tile interpreter on the same program:
 * every target that the form knows, flat and in blocks, equal memory or the equal first fault with
 * its words.
 * test: labels=slow timeout=300 */
#include "support/device_eval.h"
#include "support/device_examples.h"
#include "support/kir_text.h"
#include "support/sanitized.h"
#include "isa/cfg.h"
#include "isa/program.h"
#include "kir/fault_text.h"
#include "kir/parse.h"
#include "tile/tile.h"
#include "kir/passes/passes.h"
#include "kir/pipeline/pipeline.h"
#include "kir/analysis/analysis.h"
#include <hologram/program.h>
#include <stdlib.h>

enum { ARENA_BYTES = 2 << 20, BUFFERS = 6, POOLS = 3, CLASS_BYTES = 1179648 };

/* ---- the world: buffers 1 … 5 (1 is handle 1, others have generations), pools 1 and 2, class
 * memory ---- */

typedef struct world {
    uint8_t *bytes[BUFFERS + POOLS]; /* the interpreter's; 0: class memory */
    device_memory buffers[BUFFERS], pools[POOLS];
} world;

static uint64_t seed;
static uint64_t chance(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static const uint64_t SIZES[BUFFERS + POOLS] = {CLASS_BYTES, 1024, 512, 4096, 333, 60, 0, 256, 100};

static void begin_world(world *w, device_run *r, uint64_t from) {
    uint64_t at[DEVICE_ARENAS] = {65536, 16, 48};
    seed = from * 2 + 1;
    for (int i = 0; i < 8; i++) chance();
    for (uint32_t i = 0; i < BUFFERS + POOLS; i++) {
        device_memory *m = i < BUFFERS ? &w->buffers[i] : &w->pools[i - BUFFERS];
        int arena = i == 0 ? 1 : (int)(i % DEVICE_ARENAS);
        uint64_t index = i < BUFFERS ? i : i - BUFFERS;
        *m = (device_memory){arena, at[arena], SIZES[i], index < 2 ? index : index << 25 | index};
        if (SIZES[i] == 0) m->arena = -1;
        at[arena] += (SIZES[i] + 31) / 16 * 16;
        w->bytes[i] = malloc(SIZES[i] + 1);
        for (uint64_t k = 0; k < SIZES[i]; k += 8) {
            uint64_t word = chance();
            memcpy(w->bytes[i] + k, &word, SIZES[i] - k < 8 ? SIZES[i] - k : 8);
        }
        if (m->arena >= 0) memcpy(r->arena[m->arena] + m->offset, w->bytes[i], SIZES[i]);
    }
}

static void end_world(world *w) {
    for (uint32_t i = 0; i < BUFFERS + POOLS; i++) free(w->bytes[i]);
}

static tile_memory tile_memory_of(const world *w, uint32_t i) {
    return (tile_memory){w->bytes[i], SIZES[i], SIZES[i] != 0};
}

static uint32_t find(const world *w, uint64_t handle, bool pool) {
    for (uint32_t i = 0; i < (pool ? POOLS : BUFFERS); i++) {
        const device_memory *m = pool ? &w->pools[i] : &w->buffers[i];
        if (m->arena >= 0 && m->handle == handle) return pool ? BUFFERS + i : i;
    }
    return UINT32_MAX;
}

static tile_memory resolve(void *user, uint64_t handle, bool pool, bool flat) {
    const world *w = user;
    if (flat) {
        if (handle >= (pool ? POOLS : BUFFERS)) return (tile_memory){0};
        return tile_memory_of(w, (uint32_t)(pool ? BUFFERS + handle : handle));
    }
    if (!pool && handle >= UINT64_MAX - 95)
        return (tile_memory){w->bytes[0] + (handle - (UINT64_MAX - 95)) * 12288, 12288, true};
    uint32_t i = find(w, handle, pool);
    return i == UINT32_MAX ? (tile_memory){0} : tile_memory_of(w, i);
}

static device_memory device_memory_of(const world *w, uint64_t handle, bool pool) {
    if (!pool && handle >= UINT64_MAX - 95)
        return (device_memory){w->buffers[0].arena,
                               w->buffers[0].offset + (handle - (UINT64_MAX - 95)) * 12288, 12288,
                               handle};
    uint32_t i = find(w, handle, pool);
    if (i == UINT32_MAX) return (device_memory){.arena = -1};
    return pool ? w->pools[i - BUFFERS] : w->buffers[i];
}

/* ---- programs ---- */

typedef struct program {
    hg_program *source;
    kir_module *module;
} program;

static bool compile(const example *x, const kir_caps *caps, program *p) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_cfg *cfg = NULL;
    *p = (program){0};
    hg_status status = hg_program_assemble(x->text, strlen(x->text), d, &p->source);
    if (status == HG_OK) status = hg_verify(p->source, NULL, d, &cfg);
    kir_compilation c = {.program = cfg, .caps = caps, .verify = true};
    if (status == HG_OK)
        status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_LOW, NULL, &p->module);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", x->name, hg_last_error_text());
    CHECK(status != HG_OK || kir_reads_back(p->module, x->name));
    hg_cfg_destroy(cfg);
    hg_diagnostics_destroy(d);
    return status == HG_OK;
}

static void release(program *p) {
    kir_module_destroy(p->module);
    hg_program_release(p->source);
}

static void fill_inputs(const kir_module *m, const example *x, uint64_t *inputs) {
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        const kir_input *in = &m->inputs.data[i];
        inputs[i] = x->regs[in->reg];
        if (in->limb_bytes == 4) inputs[i] = (uint32_t)(inputs[i] >> (32 * (in->limb & 1)));
    }
}

static void run_oracle(const example *x, world *w, tile_fault *fault) {
    kir_caps caps;
    tile_caps(false, &caps);
    program p;
    memset(fault, 0, sizeof *fault);
    if (!compile(x, &caps, &p)) return;
    uint64_t inputs[64];
    tile_memory slots[64];
    fill_inputs(p.module, x, inputs);
    kir_find_uniformity(p.module, p.module->uses_barrier || p.module->uses_shared);
    for (uint64_t i = 0; i < p.module->slots.count; i++) {
        const kir_slot *s = &p.module->slots.data[i];
        slots[i] = resolve(w, s->constant ? s->handle : inputs[s->input], s->space == KIR_POOL,
                           false);
    }
    tile_kernel *code = NULL;
    hg_status status = tile_compile(p.module, &(tile_options){.level = TILE_LEVEL_BASELINE}, &code);
    tile_launch launch = {.lanes = x->lanes,
                          .shared_bytes = x->shared,
                          .inputs = inputs,
                          .slots = slots,
                          .class_memory = tile_memory_of(w, 0),
                          .resolve = resolve,
                          .resolve_user = w,
                          .max_threads = 1};
    memcpy(launch.grid, x->grid, sizeof launch.grid);
    memcpy(launch.block, x->block, sizeof launch.block);
    if (status == HG_OK) status = tile_run(code, &launch, fault);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", x->name, hg_last_error_text());
    CHECK_MESSAGE(fault->happened == x->faults, "%s: %s", x->name,
                  fault->happened ? fault->message : "no fault");
    tile_kernel_destroy(code);
    release(&p);
}

/* ---- the first fault out of the record ---- */

static uint64_t wide_word(const uint32_t *f, kir_fault_word w) {
    return f[w] | (uint64_t)f[w + 1] << 32;
}

static void check_fault(const example *x, const char *target, const device_run *r, const world *w,
                        const uint64_t *inputs, const uint32_t *f, const tile_fault *expected) {
    CHECK_MESSAGE(f[KIR_FAULT_HAPPENED] == (uint32_t)expected->happened, "%s %s: %s", x->name,
                  target, expected->happened ? "no fault" : "a fault");
    if (!f[KIR_FAULT_HAPPENED] || !expected->happened) return;
    CHECK(f[KIR_FAULT_SITE] < r->layout->sites.count);
    const kir_fault_site *s = &r->layout->sites.data[f[KIR_FAULT_SITE]];
    bool memory = s->code == KIR_FAULT_BOUNDS || s->code == KIR_FAULT_ALIGN,
         open = memory && s->slot < 0 && s->space != KIR_SHARED && s->space != KIR_CLASS;
    uint64_t name = wide_word(f, KIR_FAULT_NAME), limit = wide_word(f, KIR_FAULT_LIMIT),
             index = wide_word(f, KIR_FAULT_INDEX);
    bool pool = s->space == KIR_POOL, valid = f[KIR_FAULT_VALID] != 0;
    if (s->space == KIR_FLAT) {
        pool = name >> 63 != 0;
        name &= 0x7FFFFF;
    }
    if (memory && !open) {
        valid = true;
        limit = s->space == KIR_CLASS ? 12288 : x->shared;
        if (s->space == KIR_BUFFER || s->space == KIR_POOL) {
            const kir_slot *slot = &r->m->slots.data[s->slot];
            name = slot->constant ? slot->handle : inputs[slot->input];
            device_memory m = device_memory_of(w, name, pool);
            valid = m.arena >= 0;
            limit = m.size;
        }
    }
    char text[160];
    uint8_t code = memory && !valid ? (uint8_t)KIR_FAULT_HANDLE : s->code;
    hg_i128 offset = (hg_i128)index + s->disp;
    if (code == KIR_FAULT_HANDLE)
        kir_fault_text_handle(text, sizeof text, pool, name);
    else if (code == KIR_FAULT_BOUNDS)
        kir_fault_text_bounds(text, sizeof text, pool, offset, s->bytes, limit);
    else if (code == KIR_FAULT_ALIGN)
        kir_fault_text_align(text, sizeof text, (uint64_t)offset);
    else
        kir_fault_text(text, sizeof text, code, s->message, (const uint64_t[]){index, name});
    CHECK_MESSAGE(strcmp(text, expected->message) == 0, "%s %s: expected \"%s\", got \"%s\"",
                  x->name, target, expected->message, text);
    CHECK_U64(code, expected->code);
    CHECK_U64(s->inst, expected->inst);
    CHECK_U64(s->operand, expected->operand);
    CHECK_U64(wide_word(f, KIR_FAULT_LANE), expected->lane);
    CHECK_U64(wide_word(f, KIR_FAULT_PHASE), expected->phase);
}

static void check_memory(const example *x, const char *target, const device_run *r,
                         const world *w) {
    for (uint32_t i = 0; i < BUFFERS + POOLS; i++) {
        const device_memory *m = i < BUFFERS ? &w->buffers[i] : &w->pools[i - BUFFERS];
        if (m->arena < 0) continue;
        const uint8_t *got = r->arena[m->arena] + m->offset;
        uint64_t at = 0;
        while (at < m->size && got[at] == w->bytes[i][at]) at++;
        CHECK_MESSAGE(at == m->size,
                      "%s %s: memory %u differs at byte %llu: expected %02x, got %02x", x->name,
                      target, (unsigned)i, (unsigned long long)at, w->bytes[i][at], got[at]);
    }
}

/* ---- every target and form ---- */

typedef struct named_target {
    const char *name;
    kir_device_target t;
} named_target;
static const named_target TARGETS[] = {
    {"everything",
     {.addressed = true,
      .i64 = true,
      .memory8 = true,
      .memory16 = true,
      .memory64 = true,
      .shared8 = true,
      .shared16 = true,
      .shared64 = true,
      .atomic64 = true,
      .shared_atomic64 = true,
      .max_arenas = DEVICE_ARENAS}},
    {"bound",
     {.i64 = true,
      .memory8 = true,
      .memory16 = true,
      .memory64 = true,
      .shared8 = true,
      .shared16 = true,
      .shared64 = true,
      .atomic64 = true,
      .max_arenas = DEVICE_ARENAS}},
    {"addressed words", {.addressed = true, .i64 = true, .max_arenas = DEVICE_ARENAS}},
    {"bound words", {.i64 = true, .max_arenas = DEVICE_ARENAS}},
    {"poor", {.max_arenas = DEVICE_ARENAS}},
    {"poor addressed",
     {.addressed = true, .memory8 = true, .shared8 = true, .max_arenas = DEVICE_ARENAS}},
    {"arenas",
     {.i64 = true,
      .memory8 = true,
      .memory64 = true,
      .shared8 = true,
      .shared64 = true,
      .atomic64 = true,
      .bind_arenas = true,
      .max_arenas = DEVICE_ARENAS}},
    {"wgsl",
     {.bind_arenas = true,
      .whole_atomics = true,
      .shown_uniform = true,
      .max_arenas = DEVICE_ARENAS}},
};

/* Nothing is recorded but that time is over. */
static void check_end(const example *x, const char *target, const uint32_t *f) {
    CHECK_MESSAGE(!f[KIR_FAULT_HAPPENED] && f[KIR_FAULT_CANCEL], "%s %s: a fault or no end",
                  x->name, target);
}

static bool is_hideable(const kir_value *v) {
    return kir_type_is_float(v->type) &&
           (v->op == KIR_FADD || v->op == KIR_FSUB || v->op == KIR_FMUL || v->op == KIR_FDIV ||
            v->op == KIR_FSQRT || v->op == KIR_FFMA || v->op == KIR_FFLOOR || v->op == KIR_FTRUNC ||
            v->op == KIR_FRINT);
}

static bool is_in_loop(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (r->owner->op == KIR_LOOP) return true;
    return false;
}

/* A result goes through bits that are not its own before anything is computed with it, constants
 * too; it may be stored as it is where the program's memory is not read any more. */
static void check_results_hidden(const example *x, const kir_module *m) {
    uint32_t seen = 0;
    for (kir_function *f = m->functions; f; f = f->next) {
        uint32_t bare = 0;
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_LOAD && kir_type_is_float(v->type)) seen += bare;
            for (uint8_t i = 0; i < v->nargs; i++) {
                const kir_value *arg = v->args[i];
                bool stored = v->op == KIR_STORE && i + 1 == v->nargs && !is_in_loop(v);
                bare += stored && is_hideable(arg);
                seen += is_hideable(arg) && v->op != KIR_BITCAST && !stored;
                seen += is_hideable(v) && arg->op == KIR_CONST;
            }
        }
    }
    CHECK_MESSAGE(!seen, "%s: %u results are not hidden", x->name, (unsigned)seen);
}

/* No zero of a float is left for a compiler to compute with, and no number less itself. */
static void check_hidden(const example *x, const kir_module *m) {
    uint32_t zeros = 0, selves = 0;
    for (kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            zeros += v->op == KIR_CONST && kir_type_is_float(v->type) && v->u.imm == 0;
            selves += v->op == KIR_FSUB && v->args[0] == v->args[1];
        }
    CHECK_MESSAGE(!zeros && !selves, "%s: %u zeros and %u times x - x are not hidden", x->name,
                  (unsigned)zeros, (unsigned)selves);
}

static bool share_bytes(const device_memory *a, const device_memory *b) {
    return a->arena >= 0 && a->arena == b->arena && a->offset < b->offset + b->size &&
           b->offset < a->offset + a->size;
}

/* Slots whose memory is in no other and not in class memory; the arenas that all lie in. */
static void describe_slots(const world *w, const device_memory *slots, uint64_t count,
                           kir_device_options *o) {
    for (uint64_t i = 0; i < count; i++) {
        bool alone = !share_bytes(&slots[i], &w->buffers[0]);
        for (uint64_t k = 0; k < count; k++)
            alone = alone && (i == k || !share_bytes(&slots[i], &slots[k]));
        o->distinct |= (uint64_t)alone << i;
        if (o->target.bind_arenas)
            o->slot_arenas[i] = (uint8_t)(slots[i].arena < 0 ? DEVICE_ARENAS : slots[i].arena);
    }
    o->kind_arenas[KIR_SLOT_CLASS] = (uint8_t)w->buffers[0].arena; /* all others are the form's own,
                                                                      in arena 0 */
}

static void run_one(const example *x, bool cancelled, const char *what,
                    const kir_device_options *given, const kir_module *legal, uint64_t from,
                    const world *expected, const tile_fault *fault) {
    kir_device_options own = *given, *o = &own;
    char name[96];
    snprintf(name, sizeof name, "%s%s%s%s%s%s%s fold %u", what,
             o->form == KIR_FORM_FLAT ? " flat" : " block",
             o->shared_is_slot ? " slot"
             : o->small        ? " small"
                               : "",
             o->proven     ? " proven"
             : o->may_idle ? " may idle"
                           : "",
             o->whole_blocks ? " whole" : "", o->at_origin ? " at origin" : "",
             o->target.written_rounds ? " written" : "", (unsigned)o->fold);
    static device_run r;
    world w;
    uint64_t inputs[64];
    uint32_t record[KIR_FAULT_WORDS];
    device_memory slots[64];
    dev_begin(&r, ARENA_BYTES, from);
    begin_world(&w, &r, from);
    for (uint64_t i = 0; i < legal->slots.count; i++) {
        const kir_slot *s = &legal->slots.data[i];
        uint64_t handle = s->handle;
        if (!s->constant) handle = x->regs[legal->inputs.data[s->input].reg];
        slots[i] = device_memory_of(&w, handle, s->space == KIR_POOL);
    }
    describe_slots(&w, slots, legal->slots.count, o);
    kir_module *m;
    kir_device_layout layout;
    hg_status status = kir_device(legal, o, &m, &layout);
    if (status == HG_ERROR_ISA && o->target.shown_uniform && o->fold > 1)
        return; /* device.h: it may be refused */
    CHECK_MESSAGE(status == HG_OK, "%s %s: %s", x->name, name, hg_last_error_text());
    if (status != HG_OK) return;
    CHECK(kir_reads_back(m, name));
    uint64_t chance_of_run = r.chance;
    fill_inputs(legal, x, inputs);
    status = kir_simplify(m);
    if (status == HG_OK) status = kir_verify(m);
    CHECK_MESSAGE(status == HG_OK, "%s %s: %s", x->name, name, hg_last_error_text());
    CHECK(kir_reads_back(m, name));
    if (o->hide_zeros) check_hidden(x, m);
    if (o->hide_results) check_results_hidden(x, m);
    r.m = m;
    r.layout = &layout;
    r.options = o;
    r.chance = chance_of_run;
    device_launch l = {.lanes = x->lanes,
                       .shared_bytes = x->shared,
                       .inputs = inputs,
                       .slots = slots,
                       .class_memory = w.buffers[0],
                       .buffers = w.buffers,
                       .pools = w.pools,
                       .buffer_count = BUFFERS,
                       .pool_count = POOLS,
                       .fuel = x->endless && !cancelled ? 2 : 100000,
                       .flat_group = 8,
                       .window = o->at_origin ? UINT32_MAX : 40,
                       .cancelled = cancelled};
    uint64_t shared_bytes = (x->shared + 15) / 16 * 16 * x->grid[0] * x->grid[1] * x->grid[2];
    l.shared_memory = (device_memory){0, ARENA_BYTES - shared_bytes, shared_bytes, 0};
    memcpy(l.grid, x->grid, sizeof l.grid);
    memcpy(l.block, x->block, sizeof l.block);
    dev_launch(&r, &l, record);
    uint64_t reg_inputs[64];
    for (uint64_t i = 0; i < legal->inputs.count; i++)
        reg_inputs[i] = x->regs[legal->inputs.data[i].reg];
    if (x->endless)
        check_end(x, name, record);
    else
        check_fault(x, name, &r, &w, reg_inputs, record, fault);
    if (!fault->happened && !x->endless) check_memory(x, name, &r, expected);
    if (test_failed && getenv("SHOW")) {
        hg_text text = {0};
        kir_print(&text, m);
        fprintf(stderr, "%s\n", text.data);
        hg_text_free(&text);
        exit(1);
    }
    dev_end(&r);
    end_world(&w);
    kir_module_destroy(m);
    kir_device_layout_free(&layout);
}

static bool has_barrier(const kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BARRIER || ((v->op == KIR_LOAD || v->op == KIR_STORE ||
                                          v->op == KIR_ATOMIC || v->op == KIR_CHECK) &&
                                         v->u.mem.space == KIR_SHARED))
                return true;
    return false;
}

static void run_example(const example *x) {
    world expected;
    static device_run r;
    tile_fault fault;
    uint64_t from = strlen(x->name) + x->lanes;
    dev_begin(&r, ARENA_BYTES, from);
    begin_world(&expected, &r, from);
    memset(&fault, 0, sizeof fault);
    if (!x->endless) run_oracle(x, &expected, &fault);
    dev_end(&r);
    bool whole = x->lanes == (uint64_t)x->grid[0] * x->grid[1] * x->grid[2] * x->block[0] *
                                 x->block[1] * x->block[2];
    for (size_t t = 0; t < HG_COUNT_OF(TARGETS); t++) {
        kir_caps caps;
        program p;
        tile_caps(!TARGETS[t].t.i64, &caps);
        if (!compile(x, &caps, &p)) continue;
        bool flat_possible = !has_barrier(p.module);
        for (uint32_t variant = 0; variant < 16; variant++) {
            kir_device_options o = {.target = TARGETS[t].t,
                                    .form = variant & 1 ? KIR_FORM_BLOCK : KIR_FORM_FLAT,
                                    .small = (variant & 2) != 0,
                                    .proven = (variant & 4) != 0,
                                    .whole_blocks = whole && variant & 2,
                                    .hide_zeros = (variant & 2) != 0,
                                    .hide_results = (variant + t) % 3 == 1,
                                    .may_idle = (variant + t) % 2 == 0,
                                    .at_origin = (variant + t) % 3 == 0,
                                    .shared_is_slot = (variant & 8) != 0};
            if ((variant / 2 + t) % 2) o.target.written_rounds = t % 2 ? 4 : 16;
            if (o.form == KIR_FORM_BLOCK && variant & 2) {
                memcpy(o.block, x->block, sizeof o.block);
                o.shared_bytes = x->shared;
            }
            if ((o.form == KIR_FORM_FLAT && !flat_possible &&
                 !(o.shared_is_slot && !p.module->uses_barrier)) ||
                (o.proven && !x->proven))
                continue;
            if (o.shared_is_slot && (!x->shared || x->endless || !o.small)) continue;
            if (SANITIZED && (from + t + variant) % 8)
                continue; /* an eighth of them, another one for the next example */
            run_one(x, false, TARGETS[t].name, &o, p.module, from, &expected, &fault);
            if (x->endless)
                run_one(x, true, TARGETS[t].name, &o, p.module, from, &expected, &fault);
            if (o.form != KIR_FORM_BLOCK || t % 2 != (variant >> 1 & 1)) continue;
            for (o.fold = 2; o.fold < 6; o.fold += 2 + (uint32_t)t % 2)
                run_one(x, x->endless && t > 2, TARGETS[t].name, &o, p.module, from, &expected,
                        &fault);
        }
        release(&p);
    }
    end_world(&expected);
}

/* ---- running out of memory at every allocation ---- */

static struct { uint64_t live, count, fail_at; } memory;
static void *reallocate(void *user, void *block, size_t size) {
    (void)user;
    if (++memory.count == memory.fail_at) return NULL;
    void *now = realloc(block, size);
    if (now && !block) memory.live++;
    return now;
}
static void give_back(void *user, void *block) {
    (void)user;
    if (block) memory.live--;
    free(block);
}

static void run_out_of_memory(const char *name, size_t target, kir_device_options o) {
    const example *x = DEVICE_EXAMPLES;
    while (strcmp(x->name, name) != 0) x++;
    kir_caps caps;
    program p;
    o.target = TARGETS[target].t;
    tile_caps(!o.target.i64, &caps);
    if (!compile(x, &caps, &p)) return;
    bool done = false;
    for (uint64_t n = 1; n < 5000 && !done; n++) {
        kir_module *m;
        kir_device_layout layout;
        uint64_t before = memory.live;
        memory.count = 0;
        memory.fail_at = n;
        hg_status status = kir_device(p.module, &o, &m, &layout);
        done = memory.count < n;
        memory.fail_at = 0;
        /* shapes do without memory: less is known then */
        CHECK_MESSAGE(status == HG_OK || (!done && status == HG_ERROR_OUT_OF_MEMORY),
                      "%s, allocation %llu: %s", name, (unsigned long long)n, hg_last_error_text());
        if (status == HG_OK) {
            kir_module_destroy(m);
            kir_device_layout_free(&layout);
        }
        CHECK_U64(memory.live, before);
    }
    CHECK(done);
    release(&p);
}

static void test_memory(void) {
    run_out_of_memory("open", 3, (kir_device_options){.form = KIR_FORM_FLAT});
    run_out_of_memory("atomics", 4, (kir_device_options){.form = KIR_FORM_FLAT, .small = true});
    run_out_of_memory("uniform branches around barriers", 0,
                      (kir_device_options){.form = KIR_FORM_BLOCK});
    run_out_of_memory("barrier in a function", 4,
                      (kir_device_options){.form = KIR_FORM_BLOCK, .fold = 3});
}

/* A block of known size that writes its shared memory before it reads does not begin with zeros. */
static void test_zeros(void) {
    static const struct {
        const char *name;
        bool zeros;
    } EXPECTED[] = {
        {"reverse", false}, {"tiles", false}, {"hole in a tile", true}, {"shared bytes", true}};
    for (size_t i = 0; i < HG_COUNT_OF(EXPECTED); i++) {
        const example *x = DEVICE_EXAMPLES;
        while (strcmp(x->name, EXPECTED[i].name) != 0) x++;
        kir_caps caps;
        program p;
        kir_module *m;
        kir_device_layout layout;
        kir_device_options o = {.target = TARGETS[0].t,
                                .form = KIR_FORM_BLOCK,
                                .proven = true,
                                .whole_blocks = true,
                                .block = {x->block[0], x->block[1], x->block[2]},
                                .shared_bytes = x->shared};
        tile_caps(false, &caps);
        if (!compile(x, &caps, &p)) continue;
        CHECK(kir_device(p.module, &o, &m, &layout) == HG_OK);
        bool zeros = false;
        for (const kir_var *v = m->vars; v; v = v->next)
            zeros = zeros || (v->name && strcmp(v->name, "at") == 0); /* the loop's offset */
        CHECK_MESSAGE(zeros == EXPECTED[i].zeros, "%s", x->name);
        kir_module_destroy(m);
        kir_device_layout_free(&layout);
        release(&p);
    }
}

/* Which loops look at the clock. */
static void test_rounds(void) {
    static const struct {
        const char *loop;
        bool looks;
    } LOOPS[] = {
        {"mov_imm.u32 r1, 0\nagain:\nadd.u32 r1, r1, r2\nsetltu.u32 p0, r1, r3\nbra.p0 @again",
         false},
        {"mov.u32 r1, r4\nagain:\nadd.u32 r1, r1, r2\nsetltu.u32 p0, r1, r3\nbra.p0 @again", false},
        {"mov_imm.u32 r1, 0\nagain:\nadd.u32 r1, r1, r2\nsetltu.u32 p0, r1, r4\nbra.p0 @again",
         true},
        {"mov_imm.u32 r1, 0\nagain:\nadd.u32 r1, r1, r2\nseteq.u32 p0, r1, r3\nbra.p0 @out\nbra "
         "@again\nout:",
         true},
        {"mov_imm.u32 r1, 0\nagain:\nadd.u32 r1, r1, r4\nsetltu.u32 p0, r1, r3\nbra.p0 @again",
         true},
        {"mov_imm.u32 r1, 0\nagain:\nseteq.u32 p1, r4, r3\nbra.p1 @skip\nadd.u32 r1, r1, "
         "r2\nskip:\nsetltu.u32 p0, r1, r3\nbra.p0 @again",
         true},
        {"mov_imm.i32 r6, -2000000000\nmov_imm.i32 r7, 1\nmov_imm.i32 r8, 20\nagain:\nadd.i32 r6, "
         "r6, r7\nsetlt.i32 p0, r6, r8\nbra.p0 "
         "@again",
         true},
        {"mov_imm.i32 r6, 3\nmov_imm.i32 r7, 1\nmov_imm.i32 r8, 20\nagain:\nadd.i32 r6, r6, "
         "r7\nsetlt.i32 p0, r6, r8\nbra.p0 @again",
         false},
        {"loop r1, 100\nadd.u32 r5, r5, r2\nendloop", false},
        {"loop r1, 100\nloop r6, 100\nadd.u32 r5, r5, r2\nendloop\nendloop", true},
        {"loop r1, 100\nloop r6, 30\nadd.u32 r5, r5, r2\nendloop\nendloop", false},
        {"loop r1, 100000\nadd.u32 r5, r5, r2\nendloop", true},
        {"mov_imm.u32 r1, 0\nmov_imm.u32 r6, 0\nagain:\nsub.u32 r1, r1, r2\nseteq.u32 p0, r1, "
         "r6\nbra.p0 @out\nbra @again\nout:",
         true},
        {"mov_imm.u32 r1, 7\nmov_imm.u32 r6, 0\nagain:\nsub.u32 r1, r1, r2\nseteq.u32 p0, r1, "
         "r6\nbra.p0 @out\nbra @again\nout:",
         false},
    };
    for (size_t i = 0; i < HG_COUNT_OF(LOOPS); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ".atlas 1\n.program rounds\n.param r9 x buffer u32 inout\n.param r4 n u32\n "
                 "mov_imm.u32 r2, 1\n mov_imm.u32 r3, 50\n "
                 "mov_imm.u32 r5, 0\n%s\n add.u32 r5, r5, r2\n stg.u32 [buf(r9) + 0], r5\n exit\n",
                 LOOPS[i].loop);
        example x = {.name = LOOPS[i].loop, .text = text};
        kir_caps caps;
        program p;
        kir_module *m;
        kir_device_layout layout;
        kir_device_options o = {.target = TARGETS[0].t, .proven = true};
        tile_caps(false, &caps);
        if (!compile(&x, &caps, &p)) continue;
        CHECK(kir_device(p.module, &o, &m, &layout) == HG_OK);
        bool looks = false;
        for (const kir_function *f = m->functions; f; f = f->next)
            looks = looks || strcmp(f->name, "out_of_time") == 0;
        CHECK_MESSAGE(looks == LOOPS[i].looks, "%s: %s", LOOPS[i].loop,
                      looks ? "looks" : "does not look");
        kir_module_destroy(m);
        kir_device_layout_free(&layout);
        release(&p);
    }
}

/* A barrier that the text does not show all lanes to reach is refused where it must show it. */
static void test_shown(void) {
    static const struct {
        const char *condition;
        bool shown;
    } CASES[] = {
        {"  %c: u32 = id block_idx_x\n", true},
        {"  %c: u32 = input 0\n", true},
        {"  %c: u32 = id lane_idx_x\n", false},
        {"  %c: u32 = load buffer slot 0 unchecked %h []\n", false},
        {"  %a: u32 = id block_idx_x\n  set v %a\n  %c: u32 = get v\n  %d: u32 = id lane_idx_x\n  "
         "set v %d\n",
         true}, /* never read */
        {"  %a: u32 = id lane_idx_x\n  set v %a\n  %c: u32 = get v\n", false},
    };
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        char text[1024];
        kir_module *m = NULL, *form = NULL;
        kir_device_layout layout;
        snprintf(text, sizeof text,
                 "module shown barrier is simple, slots, legal\ninput 0: u32 param 2 \"n\"\ninput "
                 "1: u64 param 1 buffer \"x\"\n"
                 "slot 0: buffer input 1 read\nfunction @main() -> void {\n  var v: u32\n  %%h: "
                 "u64 = input 1\n%s  %%z: u32 = const 1\n"
                 "  %%p: bool = cmp_ult %%c, %%z\n  if %%p {\n    barrier 0\n  }\n}\n",
                 CASES[i].condition);
        CHECK_MESSAGE(kir_parse(text, strlen(text), NULL, &m) == HG_OK, "%s", hg_last_error_text());
        for (int strict = 0; strict < 2 && m; strict++) {
            kir_device_options o = {
                .form = KIR_FORM_BLOCK,
                .whole_blocks = true,
                .proven = true,
                .target = {
                    .i64 = true, .bind_arenas = true, .shown_uniform = strict, .max_arenas = 1}};
            bool expected = !strict || CASES[i].shown;
            hg_status status = kir_device(m, &o, &form, &layout);
            CHECK_MESSAGE(status == (expected ? HG_OK : HG_ERROR_ISA), "%s: %s", CASES[i].condition,
                          hg_last_error_text());
            if (status != HG_OK) continue;
            kir_module_destroy(form);
            kir_device_layout_free(&layout);
        }
        kir_module_destroy(m);
    }
}

int main(int argc, char **argv) {
    hg_allocator hooks = {sizeof hooks, NULL, reallocate, give_back};
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    if (argc < 2) test_memory();
    test_zeros();
    test_rounds();
    test_shown();
    for (size_t i = 0; i < DEVICE_EXAMPLE_COUNT; i++)
        if (argc < 2 || strstr(DEVICE_EXAMPLES[i].name, argv[1])) run_example(&DEVICE_EXAMPLES[i]);
    return test_done();
}
