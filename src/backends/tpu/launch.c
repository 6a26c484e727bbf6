/* Kernels of the TPU backend: their StableHLO belongs to the sizes of a launch, so that a kernel
 * has an executable for each set of sizes that it was launched with.
 * Must not know: where the plugin came from. */
#include "backends/tpu/tpu_internal.h"
#include "kir/access.h"
#include "kir/device/device.h"
#include "kir/fault_text.h"
#include "kir/parse.h"
#include <stdio.h>
#include <string.h>

enum {
    MOST_EXECUTABLES = 32, /* of a kernel */
    MOST_OPEN = 64,        /* arenas that accesses reach by their handle alone */
    ROUNDS_A_MS = 200      /* of loops, until a launch counts as late */
};

/* What an executable was made for. */
typedef struct sizes {
    uint32_t grid[3], block[3];
    uint64_t lanes, shared_bytes, shared_scratch;
    uint64_t table_room;
    uint32_t array_count, class_array, shared_array, table_array_count;
} sizes;

typedef struct executable {
    sizes sizes;
    emit_stablehlo_array *arrays; /* array_count of them */
    uint32_t *slot_arrays;        /* then the table's */
    pjrt_executable *code;        /* NULL: not compiled so far */
    emit_stablehlo_sites sites;
    bool loops;    /* that nobody has proven short */
    uint64_t used; /* when, by the kernel's clock */
} executable;

struct hg_driver_kernel {
    hg_device *device;
    kir_module *module;
    uint8_t *words; /* emit_stablehlo_words */
    uint64_t clock;
    HG_VEC(executable) executables;
};

static void free_executable(executable *e) {
    hg_free(e->arrays);
    hg_free(e->slot_arrays);
    hg_vec_free(&e->sites);
    tpu_free_executable(e->code);
}

void tpu_kernel_destroy(hg_driver_kernel *kernel) {
    for (uint64_t i = 0; i < kernel->executables.count; i++)
        free_executable(&kernel->executables.data[i]);
    hg_vec_free(&kernel->executables);
    kir_module_destroy(kernel->module);
    hg_free(kernel->words);
    hg_free(kernel);
}

/* Through its text, which has everything. */
static hg_status copy_module(const kir_module *from, kir_module **to) {
    hg_text text = {0};
    hg_status status = HG_OK;
    kir_print(&text, from);
    if (text.failed)
        status = hg_fail_memory();
    else
        status = kir_parse(text.data, text.length, NULL, to);
    hg_text_free(&text);
    return status;
}

/* Whether there are words for the kernel: its text for one lane and arrays of one word. */
static hg_status try_text(const hg_driver_kernel *k) {
    uint64_t slots = k->module->slots.count;
    emit_stablehlo_array *arrays = hg_calloc((size_t)slots + 1, sizeof *arrays);
    uint32_t *places = hg_calloc((size_t)slots + 1, sizeof *places);
    emit_stablehlo_sites sites = {0};
    hg_text text = {0};
    hg_status status = arrays && places ? HG_OK : hg_fail_memory();
    for (uint64_t i = 0; i <= slots && status == HG_OK; i++) {
        arrays[i] = (emit_stablehlo_array){1, 1, false};
        places[i] = (uint32_t)i;
    }
    const emit_stablehlo_launch launch = {.grid = {1, 1, 1},
                                          .block = {1, 1, 1},
                                          .lanes = 1,
                                          .shared_bytes = 64,
                                          .arrays = arrays,
                                          .array_count = (uint32_t)slots + 1,
                                          .slot_arrays = places,
                                          .class_array = (uint32_t)slots,
                                          .shared_array = EMIT_STABLEHLO_NOWHERE,
                                          .shared_word = k->words[slots + EMIT_STABLEHLO_SHARED],
                                          .table_room = 1,
                                          .table_arrays = places,
                                          .table_array_count = 1};
    if (status == HG_OK) status = emit_stablehlo(k->module, &launch, "", &text, &sites);
    hg_text_free(&text);
    hg_vec_free(&sites);
    hg_free(arrays);
    hg_free(places);
    return status;
}

hg_status tpu_kernel_create(hg_device *device, const kir_module *module,
                            hg_driver_kernel **kernel) {
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    k->device = device;
    hg_status status = copy_module(module, &k->module);
    if (status == HG_OK) {
        k->words = hg_calloc((size_t)module->slots.count + EMIT_STABLEHLO_WORDS, 1);
        status = k->words ? emit_stablehlo_words(k->module, k->words) : hg_fail_memory();
    }
    if (status == HG_OK) status = try_text(k);
    if (status != HG_OK)
        tpu_kernel_destroy(k);
    else
        *kernel = k;
    return status;
}

/* ---- the arrays of a launch ---- */

/* The arenas that slots, class memory and shared memory lie in, each once. */
typedef struct bound {
    hg_driver_arena **arenas;
    emit_stablehlo_array *arrays;
    uint32_t *places; /* of slots, then of the table's arenas */
    uint32_t count, class_array, shared_array, table_array_count;
    uint64_t table_room; /* entries, so that the text is the same for some more of them */
} bound;

static void free_bound(bound *b) {
    hg_free((void *)b->arenas);
    hg_free(b->arrays);
    hg_free(b->places);
}

/* The array of a range; its elements divide the place where the range begins. */
static uint32_t bind(bound *b, const hg_range *range, uint8_t word) {
    uint32_t i = 0;
    if (!range->arena) return EMIT_STABLEHLO_NOWHERE;
    while (i < b->count && b->arenas[i] != range->arena) i++;
    if (i == b->count) {
        b->arenas[b->count++] = range->arena;
        b->arrays[i].word_bytes = 8;
    }
    if (word < b->arrays[i].word_bytes) b->arrays[i].word_bytes = word;
    while (range->offset % b->arrays[i].word_bytes) b->arrays[i].word_bytes /= 2;
    return i;
}

/* Words of shared memory divide the place where a block's begins, too. */
static uint8_t shared_word(const hg_driver_launch *l) {
    uint8_t word = l->kernel->words[l->slot_count + EMIT_STABLEHLO_SHARED];
    while (l->shared_bytes % word) word /= 2;
    return word;
}

static uint64_t table_entries(const hg_driver_launch *l) {
    return (uint64_t)l->resolve.table.counts[0] + l->resolve.table.counts[1];
}

static hg_status bind_all(const hg_driver_launch *l, bound *b) {
    const hg_driver_kernel *k = l->kernel;
    const uint32_t open = k->module->has_open ? l->resolve.table.arena_count : 0;
    HG_TRY(hg_driver_check_table(open, MOST_OPEN));
    b->arenas = hg_calloc((size_t)l->slot_count + open + 2, sizeof *b->arenas);
    b->arrays = hg_calloc((size_t)l->slot_count + open + 2, sizeof *b->arrays);
    b->places = hg_calloc((size_t)l->slot_count + open + 1, sizeof *b->places);
    if (!b->arenas || !b->arrays || !b->places) return hg_fail_memory();
    for (uint32_t i = 0; i < l->slot_count; i++) b->places[i] = bind(b, &l->slots[i], k->words[i]);
    const uint8_t *words = k->words + l->slot_count;
    b->class_array = k->module->uses_class ? bind(b, &l->class_memory, words[EMIT_STABLEHLO_CLASS])
                                           : EMIT_STABLEHLO_NOWHERE;
    b->shared_array = k->module->uses_shared ? bind(b, &l->shared_memory, shared_word(l))
                                             : EMIT_STABLEHLO_NOWHERE;
    for (uint32_t i = 0; i < open; i++) /* pieces of arenas begin at multiples of 16 */
        b->places[l->slot_count + i] = bind(b, &l->resolve.table.arenas[i],
                                            words[EMIT_STABLEHLO_ANY]);
    b->table_array_count = open;
    for (b->table_room = 1; k->module->has_open && b->table_room < table_entries(l);)
        b->table_room *= 2;
    for (uint32_t i = 0; i < b->count; i++)
        b->arrays[i].words = tpu_words(b->arenas[i], b->arrays[i].word_bytes);
    return HG_OK;
}

/* ---- executables ---- */

static bool is_for(const executable *e, const sizes *s, const bound *b, uint32_t slots) {
    if (memcmp(&e->sizes, s, sizeof *s) != 0) return false;
    for (uint32_t i = 0; i < b->count; i++)
        if (e->arrays[i].words != b->arrays[i].words ||
            e->arrays[i].word_bytes != b->arrays[i].word_bytes)
            return false;
    slots += b->table_array_count;
    return slots == 0 || memcmp(e->slot_arrays, b->places, slots * sizeof *b->places) == 0;
}

static hg_status print(const hg_driver_launch *l, const bound *b, emit_stablehlo_sites *sites,
                       hg_text *text) {
    emit_stablehlo_launch launch = {.lanes = l->lanes,
                                    .shared_bytes = l->shared_bytes,
                                    .shared_scratch = l->shared_scratch,
                                    .arrays = b->arrays,
                                    .array_count = b->count,
                                    .slot_arrays = b->places,
                                    .class_array = b->class_array,
                                    .shared_array = b->shared_array,
                                    .shared_word = shared_word(l),
                                    .table_room = b->table_room,
                                    .table_arrays = b->places + l->slot_count,
                                    .table_array_count = b->table_array_count};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    return emit_stablehlo(l->kernel->module, &launch, "", text, sites);
}

/* Its text, and its code where that is kept on disk. */
static hg_status make(const hg_driver_launch *l, const sizes *s, bound *b, executable *e,
                      hg_text *text) {
    *e = (executable){.sizes = *s};
    HG_TRY(print(l, b, &e->sites, text));
    (void)tpu_kept(l->kernel->device, text, false, &e->code);
    for (uint64_t i = 0; i < e->sites.count; i++)
        e->loops = e->loops || e->sites.data[i]->op == KIR_LOOP;
    e->arrays = b->arrays;
    e->slot_arrays = b->places;
    b->arrays = NULL;
    b->places = NULL;
    return HG_OK;
}

/* The executable for the launch; where there are too many, the one that was not used for the
 * longest time goes. */
static hg_status find(const hg_driver_launch *l, bound *b, executable **found, hg_text *text) {
    hg_driver_kernel *k = l->kernel;
    sizes s;
    memset(&s, 0, sizeof s);
    memcpy(s.grid, l->grid, sizeof s.grid);
    memcpy(s.block, l->block, sizeof s.block);
    s.lanes = l->lanes;
    s.shared_bytes = l->shared_bytes;
    s.shared_scratch = l->shared_scratch;
    s.array_count = b->count;
    s.class_array = b->class_array;
    s.shared_array = b->shared_array;
    s.table_room = b->table_room;
    s.table_array_count = b->table_array_count;
    executable *place = NULL;
    for (uint64_t i = 0; i < k->executables.count; i++) {
        executable *e = &k->executables.data[i];
        if (is_for(e, &s, b, l->slot_count)) {
            e->used = ++k->clock;
            *found = e;
            return HG_OK;
        }
        if (!place || e->used < place->used) place = e;
    }
    executable made;
    hg_status status = make(l, &s, b, &made, text);
    if (status == HG_OK && k->executables.count < MOST_EXECUTABLES) {
        place = hg_vec_push(&k->executables);
        if (!place) status = hg_fail_memory();
    } else if (status == HG_OK) {
        free_executable(place);
    }
    if (status != HG_OK) {
        free_executable(&made);
        return status;
    }
    *place = made;
    place->used = ++k->clock;
    *found = place;
    return HG_OK;
}

/* One that has no code. */
static void drop(hg_driver_kernel *k, executable *e) {
    free_executable(e);
    *e = k->executables.data[--k->executables.count];
}

/* ---- faults ---- */

static void access_fault(const hg_driver_launch *l, const kir_value *v, const uint64_t values[2],
                         hg_driver_fault *f) {
    const uint64_t kind = values[1] & 3;
    bool pool = v->u.mem.space == KIR_POOL || values[1] & 4;
    if (kind == EMIT_STABLEHLO_HANDLE) {
        f->code = KIR_FAULT_HANDLE;
        kir_fault_text_handle(f->message, sizeof f->message, pool, values[0]);
    } else if (kind == EMIT_STABLEHLO_ALIGN) {
        f->code = KIR_FAULT_ALIGN;
        f->offset = values[0];
        kir_fault_text_align(f->message, sizeof f->message, values[0]);
    } else {
        hg_i128 offset = (hg_i128)values[0] + v->u.mem.disp;
        f->code = KIR_FAULT_BOUNDS;
        f->offset = (uint64_t)offset;
        f->limit = kind == EMIT_STABLEHLO_OUTSIDE_SIZE ? values[1] >> 3
                   : v->u.mem.space == KIR_SHARED      ? l->shared_bytes - l->shared_scratch
                   : v->u.mem.space == KIR_CLASS       ? VEC_CLASS_BYTES
                                                       : l->slots[v->u.mem.slot].size;
        kir_fault_text_bounds(f->message, sizeof f->message, pool, offset, kir_access_size(v),
                              f->limit);
    }
    f->operand = v->u.mem.operand;
}

static void loop_fault(const hg_driver_launch *l, hg_driver_fault *f) {
    f->code = l->deadline_ns ? KIR_FAULT_TIMEOUT : KIR_FAULT_ROUNDS;
    if (l->deadline_ns)
        kir_fault_text_timeout(f->message, sizeof f->message, l->timeout_ms);
    else
        snprintf(f->message, sizeof f->message, "more rounds of loops than the device runs");
}

static void describe_fault(const hg_driver_launch *l, const executable *e, const uint64_t *found,
                           hg_driver_fault *f) {
    if (!f || !found[0] || found[0] > e->sites.count) return;
    const kir_value *v = e->sites.data[found[0] - 1];
    memset(f, 0, sizeof *f);
    f->happened = true;
    f->phase = found[1];
    f->lane = found[2];
    f->inst = v->inst ? v->inst - 1 : 0;
    if (v->op == KIR_LOOP) {
        loop_fault(l, f);
    } else if (v->op == KIR_FAULT_IF) {
        f->code = v->u.fault.code;
        f->operand = v->u.fault.operand;
        kir_fault_text(f->message, sizeof f->message, f->code, v->u.fault.message, found + 3);
    } else {
        access_fault(l, v, found + 3, f);
    }
}

/* ---- launches ---- */

/* From the time-out, not from what is left of it: the plugin may have compiled meanwhile. */
static uint64_t rounds_of(const hg_driver_launch *l) {
    uint64_t rounds;
    if (!l->deadline_ns || !hg_mul_u64(l->timeout_ms, ROUNDS_A_MS, &rounds)) return UINT64_MAX;
    return rounds ? rounds : 1;
}

static uint64_t record_count(const hg_driver_launch *l, const bound *b) {
    const kir_module *m = l->kernel->module;
    uint64_t table = m->has_open ? 2 + b->table_room * (KIR_ENTRY_WORDS / 2) : 0;
    return 4 + m->inputs.count + 2 * m->slots.count + table;
}

/* NULL: no memory. */
static uint64_t *record_numbers(const hg_driver_launch *l, const bound *b) {
    const kir_module *m = l->kernel->module;
    uint64_t at = 0, *numbers = hg_calloc((size_t)record_count(l, b), sizeof *numbers);
    if (!numbers) return NULL;
    numbers[at++] = 0;
    numbers[at++] = rounds_of(l);
    numbers[at++] = l->class_memory.arena ? l->class_memory.offset : 0;
    numbers[at++] = l->shared_memory.arena ? l->shared_memory.offset : 0;
    for (uint64_t i = 0; i < m->inputs.count; i++) numbers[at++] = l->inputs[i];
    for (uint32_t i = 0; i < m->slots.count; i++) {
        numbers[at++] = l->slots[i].size;
        numbers[at++] = l->slots[i].offset;
    }
    if (!m->has_open) return numbers;
    for (int i = 0; i < 2; i++) numbers[at++] = l->resolve.table.counts[i];
    for (uint64_t i = 0; i < table_entries(l) * (KIR_ENTRY_WORDS / 2); i++)
        numbers[at++] = l->resolve.table.words[2 * i] | (uint64_t)l->resolve.table.words[2 * i + 1]
                                                            << 32;
    return numbers;
}

static hg_status make_record(const hg_driver_launch *l, const bound *b, pjrt_buffer **record) {
    const hg_driver_shape shape = tpu_numbers(record_count(l, b), 8);
    uint64_t *numbers = record_numbers(l, b);
    hg_status status = numbers ? tpu_upload(l->kernel->device, numbers, &shape, record)
                               : hg_fail_memory();
    hg_free(numbers);
    return status;
}

static void take_results(const executable *e, const bound *b, pjrt_buffer **results) {
    uint32_t at = 1;
    for (uint32_t i = 0; i < b->count; i++) {
        if (!e->arrays[i].written) continue;
        const emit_stablehlo_array *a = &e->arrays[i];
        const hg_driver_shape shape = tpu_numbers(a->words, a->word_bytes);
        tpu_put(b->arenas[i], results[at], &shape);
        results[at++] = NULL;
    }
}

static hg_status prepare(const hg_driver_launch *l, const executable *e, const bound *b,
                         tpu_run *r) {
    *r = (tpu_run){.code = e->code, .count = b->count + 1, .in_place = !e->loops};
    r->arguments = hg_calloc(r->count, sizeof *r->arguments);
    r->results = hg_calloc(r->count, sizeof *r->results);
    if (!r->arguments || !r->results) return hg_fail_memory();
    for (uint32_t i = 0; i < b->count; i++) {
        const hg_driver_shape shape = tpu_numbers(e->arrays[i].words, e->arrays[i].word_bytes);
        HG_TRY(tpu_to_device(b->arenas[i], &shape));
        r->arguments[i + 1] = b->arenas[i]->buffer;
    }
    return make_record(l, b, &r->arguments[0]);
}

/* Whether somebody may stop waiting for it. */
static bool is_watched(const hg_driver_launch *l, const executable *e) {
    return (l->cancel && (e->loops || !e->code)) || (l->deadline_ns && e->loops);
}

static hg_status carry_out(hg_device *device, const hg_driver_launch *l, executable *e,
                           const bound *b, tpu_run *r, hg_text *text, hg_driver_fault *fault,
                           bool *left) {
    bool is_new = !e->code;
    if (is_watched(l, e)) {
        HG_TRY(tpu_run_watched(device, l, text, b->arenas, r, fault, left));
    } else {
        if (is_new) HG_TRY(tpu_compile_text(text, false, &r->code));
        HG_TRY(tpu_execute(device->device, r->code, r->arguments, r->count, r->results));
    }
    if (is_new && !*left) tpu_keep(device, text, false, r->code);
    return HG_OK;
}

/* results: the fault's numbers, then the arrays that are written. */
static hg_status run(hg_device *device, const hg_driver_launch *l, executable *e, const bound *b,
                     hg_text *text, hg_driver_fault *fault) {
    uint64_t found[TPU_FAULT_NUMBERS] = {0};
    tpu_run r;
    bool left = false;
    hg_status status = prepare(l, e, b, &r);
    if (status == HG_OK) {
        status = carry_out(device, l, e, b, &r, text, fault, &left);
        for (uint32_t i = 0; i < b->count && status != HG_OK && r.code && !e->loops; i++)
            if (e->arrays[i].written) tpu_lose(b->arenas[i]);
        e->code = r.code;
        if (status == HG_OK && !left) take_results(e, b, r.results);
    }
    if (status == HG_OK && !left) status = tpu_download(r.results[0], found, sizeof found);
    if (status == HG_OK && !left) describe_fault(l, e, found, fault);
    for (uint32_t i = 1; r.arguments && i < r.count; i++) r.arguments[i] = NULL; /* of arenas */
    r.code = NULL;                                                               /* of the kernel */
    tpu_free_run(&r);
    return status;
}

hg_status tpu_launch(hg_device *device, const hg_driver_launch *launch, hg_driver_fault *fault) {
    bound b = {0};
    executable *e = NULL;
    hg_text text = {0};
    hg_status status = bind_all(launch, &b);
    if (status == HG_OK) status = find(launch, &b, &e, &text);
    if (status == HG_OK) status = run(device, launch, e, &b, &text, fault);
    if (e && !e->code) drop(launch->kernel, e);
    hg_text_free(&text);
    free_bound(&b);
    return status;
}

static hg_status note(const hg_driver_launch *l, const bound *b, tpu_note *n) {
    n->memories = hg_calloc((size_t)b->count + 1, sizeof *n->memories);
    n->numbers = record_numbers(l, b);
    n->number_count = record_count(l, b);
    if (!n->memories || !n->numbers) return hg_fail_memory();
    for (uint32_t i = 0; i < b->count; i++) {
        const emit_stablehlo_array *a = &b->arrays[i];
        n->memories[n->count++] = (tpu_noted_memory){b->arenas[i],
                                                     tpu_numbers(0, a->word_bytes).type, a->words,
                                                     a->written, i == b->class_array};
    }
    return HG_OK;
}

hg_status tpu_note_launch(const hg_driver_launch *launch, tpu_note *n) {
    bound b = {0};
    emit_stablehlo_sites sites = {0};
    if (launch->kernel->module->has_open)
        return hg_fail(HG_ERROR_ISA, "tpu: what handles name at run time is not noted");
    hg_status status = bind_all(launch, &b);
    if (status == HG_OK) status = print(launch, &b, &sites, &n->text);
    if (status == HG_OK) status = note(launch, &b, n);
    hg_vec_free(&sites);
    free_bound(&b);
    return status;
}
