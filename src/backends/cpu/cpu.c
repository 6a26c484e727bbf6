/* The CPU backend: host memory, and kernels on the tile interpreter. Queues run their commands at
 * once on the caller; waiting for other queues is the runtime's business.
 * Must not know: programs, handles. */
#include "base/thread.h"
#include "backends/cpu/vendor.h"
#include "driver/at_once.h"
#include "library/tiles.h"
#include "native/native.h"
#include "tile/tile.h"
#include <stdio.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

struct hg_device {
    hg_device_caps caps;
    tile_options options;
    bool expands;       /* pretends to do no whole-array step itself */
    native_device code; /* native code of kernels */
    bool carries;       /* kernels get the native code that the library has */
    bool compiler;      /* but what a compiler makes faster */
    cpu_vendor *vendor;
};
struct hg_driver_arena {
    uint8_t *bytes;
    uint64_t size;
    bool imported;
};
struct hg_driver_kernel {
    tile_kernel *code;
};

/* ---- device ---- */

static void describe(const kir_caps *k, char *text, size_t size) {
    snprintf(text, size, "%s%s%s%s%s", k->i64 ? "i64 " : "", k->f64 ? "f64 " : "",
             k->i8 ? "i8 " : "", k->i16 ? "i16 " : "", k->fma32 ? "fma" : "");
}

static uint32_t enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    (void)reason;
    if (!devices || capacity == 0) return 1;
    kir_caps caps;
    tile_caps(false, &caps);
    memset(devices, 0, sizeof *devices);
    devices->size = sizeof *devices;
    memcpy(devices->backend, "cpu", 4);
    snprintf(devices->name, sizeof devices->name, "tile interpreter (%s)%s",
             tile_level_name(tile_level_best()), native_likely() ? " and native code" : "");
    devices->available = devices->exact = true;
    devices->compute_units = hg_cpu_count();
    devices->max_block_lanes = HG_MAX_BLOCK_LANES;
    devices->max_shared_bytes = HG_MAX_SHARED_BYTES;
    describe(&caps, devices->capabilities, sizeof devices->capabilities);
    return 1;
}

static hg_status choose_level(const char *name, tile_level *level) {
    HG_TRY(tile_level_find(name, level));
    return tile_level_available(*level)
               ? HG_OK
               : hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "cpu: this machine does not have level '%s'",
                         name);
}

/* When kernels get native code. */
static hg_status choose_code(const char *word, hg_improves *when) {
    bool usual = !word || !*word || strcmp(word, "auto") == 0;
    *when = HG_IMPROVES_NEVER;
    if (usual ? native_is_at_once() : strcmp(word, "on") == 0)
        *when = HG_IMPROVES_AT_ONCE;
    else if (usual)
        *when = native_possible() ? HG_IMPROVES_HOT : HG_IMPROVES_NEVER;
    else if (strcmp(word, "off") != 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'%s' says nothing about native code, expected on, off or auto", word);
    return HG_OK;
}

static hg_status check_vendor(const char *word) {
    if (!word || !*word || strcmp(word, "auto") == 0 || strcmp(word, "on") == 0 ||
        strcmp(word, "off") == 0)
        return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "'%s' says nothing about vendor steps, expected auto, on or off", word);
}

enum { NARROW = 16 }; /* lanes of a tile where tiles are pretended to be narrow */

static hg_status device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    tile_level level;
    if (index != 0)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "cpu has one device, number 0; asked for %u",
                       (unsigned)index);
    bool poor = hg_pretends(options->pretend, "poor");
    hg_improves when;
    HG_TRY(choose_level(options->cpu_level, &level));
    HG_TRY(choose_code(options->jit, &when));
    HG_TRY(check_vendor(options->vendor));
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    d->expands = d->caps.memory.uniforms_in_memory = hg_pretends(options->pretend, "expand");
    d->options = (tile_options){.level = level,
                                .poor = poor,
                                .check_races = options->check_races,
                                .budget = options->budget};
    d->caps.hints.tile_kind = level == TILE_LEVEL_V4   ? LIBRARY_TILES_V4
                              : level == TILE_LEVEL_V3 ? LIBRARY_TILES_V3
                                                       : LIBRARY_TILES_BASELINE;
    tile_caps(poor, &d->caps.compiler.kir);
    bool narrow = hg_pretends(options->pretend, "narrow");
    bool plain = !poor && !narrow && !options->check_races;
    if (narrow) d->options.max_width = NARROW;
    if (plain && !hg_pretends(options->pretend, "no-compiler")) d->caps.compiler.improves = when;
    d->carries = plain && !(options->jit && strcmp(options->jit, "off") == 0);
    d->compiler = d->caps.compiler.improves && native_likely();
    if (d->caps.compiler.improves) {
        native_caps(&d->caps.compiler.better);
        d->caps.hints.dot4 = d->caps.compiler.better.dot4 = native_has_dot4(level) &&
                                                            !hg_pretends(options->pretend,
                                                                         "no-dot4");
    }
    d->caps.scheduling.does_maps = !d->expands;
    d->caps.memory.host_memory = d->caps.memory.can_import = d->caps.exact = true;
    d->caps.compiler.max_slots = UINT32_MAX;
    d->caps.scheduling.max_block_lanes = HG_MAX_BLOCK_LANES;
    d->caps.memory.max_shared_bytes = HG_MAX_SHARED_BYTES;
    d->options.cache = tile_cache_create();
    hg_status status = d->options.cache ? HG_OK : hg_fail_memory();
    bool as_measured = level == tile_level_best() && !poor;
    if (status == HG_OK && !d->expands)
        status = cpu_vendor_create(options->vendor, as_measured, options->num_threads,
                                   options->budget, &d->vendor);
    if (status == HG_OK && d->caps.compiler.improves)
        status = native_open(&d->code, level, options->cache_dir, options->cache_bytes);
    if (status != HG_OK) {
        cpu_vendor_destroy(d->vendor);
        tile_cache_destroy(d->options.cache);
        hg_free(d);
        return status;
    }
    *device = d;
    return HG_OK;
}

static void device_close(hg_device *device) {
    native_close(&device->code);
    cpu_vendor_destroy(device->vendor);
    tile_cache_destroy(device->options.cache);
    hg_free(device);
}
static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }
static void *device_native(hg_device *device) { return &device->options; }

/* ---- memory ---- */

/* A cache line and the widest vector; a page, so that copies between page-aligned arrays do not
 * meet loads behind stores that share the low twelve bits of their address; a huge page, because
 * large arrays are bound by address translation too. */
enum { ALIGN_LINE = 64, ALIGN_PAGE = 4096, ALIGN_HUGE = 2 << 20, HUGE_FROM = 4 << 20 };

static size_t alignment_for(uint64_t size) {
    return size >= HUGE_FROM ? ALIGN_HUGE : size >= ALIGN_PAGE ? ALIGN_PAGE : ALIGN_LINE;
}

static void ask_for_huge_pages(uint8_t *bytes, uint64_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= HUGE_FROM)
        (void)madvise(bytes, (size_t)(size / ALIGN_HUGE * ALIGN_HUGE), MADV_HUGEPAGE); /* advice:
                                                                                          refusal
                                                                                          changes
                                                                                          nothing */
#else
    (void)bytes;
    (void)size;
#endif
}

static hg_status new_arena(uint8_t *bytes, uint64_t size, bool imported, hg_driver_arena **arena) {
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    *a = (hg_driver_arena){bytes, size, imported};
    *arena = a;
    return HG_OK;
}

static hg_status arena_alloc(hg_device *device, uint64_t size, hg_driver_arena **arena) {
    (void)device;
    const uint64_t most = PTRDIFF_MAX - 2 * ALIGN_HUGE; /* in WebAssembly below 2 GiB */
    if (size > most)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "%llu bytes are not available: one array has at most %llu here",
                       (unsigned long long)size, (unsigned long long)most);
    uint8_t *bytes = hg_calloc_aligned(size ? (size_t)size : 1, alignment_for(size));
    if (!bytes)
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu bytes are not available",
                       (unsigned long long)size);
    ask_for_huge_pages(bytes, size);
    hg_status status = new_arena(bytes, size, false, arena);
    if (status != HG_OK) hg_free_aligned(bytes);
    return status;
}

static hg_status arena_import(hg_device *device, void *host, uint64_t size,
                              hg_driver_arena **arena) {
    (void)device;
    return new_arena(host, size, true, arena);
}

static void arena_free(hg_device *device, hg_driver_arena *arena) {
    (void)device;
    if (!arena) return;
    if (!arena->imported) hg_free_aligned(arena->bytes);
    hg_free(arena);
}

static void *arena_map(hg_driver_arena *arena) { return arena->bytes; }
static void arena_unmap(hg_driver_arena *arena) { (void)arena; }
static void arena_native(hg_device *device, hg_driver_arena *arena, hg_native_buffer *native) {
    (void)device;
    native->kind = HG_MEMORY_HOST;
    native->memory = (uintptr_t)arena->bytes;
}
static uint8_t *address(const hg_range *range) {
    return range->arena ? range->arena->bytes + range->offset : NULL;
}
static tile_memory memory_of(const hg_range *range) {
    return (tile_memory){address(range), range->size, range->arena != NULL};
}

/* ---- launches and steps ---- */

static tile_memory resolve(void *user, uint64_t handle, bool pool, bool flat) {
    const hg_driver_launch *launch = user;
    hg_range range = launch->resolve.call(launch->resolve.user, handle, pool, flat);
    return memory_of(&range);
}

static void copy_fault(const tile_fault *from, hg_driver_fault *to) {
    if (!from->happened || !to) return;
    to->happened = true;
    to->code = from->code;
    to->operand = from->operand;
    to->inst = from->inst;
    to->other_inst = from->other_inst;
    to->phase = from->phase;
    to->lane = from->lane;
    to->offset = from->offset;
    to->limit = from->limit;
    memcpy(to->message, from->message, sizeof to->message);
}

/* Of a step that a limit ended. */
static void copy_limit(const hg_limit *limit, hg_driver_fault *fault) {
    tile_fault found;
    if (!hg_limit_is_reached(limit)) return;
    tile_fault_of_limit(limit, &found);
    copy_fault(&found, fault);
}

enum { SLOTS_ON_STACK = 32 };

/* All but the slots. */
static void describe_launch(const hg_driver_launch *l, tile_launch *launch) {
    *launch = (tile_launch){.lanes = l->lanes,
                            .shared_bytes = l->shared_bytes,
                            .shared_scratch = l->shared_scratch,
                            .shared_memory = address(&l->shared_memory),
                            .inputs = l->inputs,
                            .class_memory = memory_of(&l->class_memory),
                            .resolve = resolve,
                            .resolve_user = (void *)(uintptr_t)l,
                            .deadline_ns = l->deadline_ns,
                            .timeout_ms = l->timeout_ms,
                            .cancel = l->cancel,
                            .max_threads = l->max_threads,
                            .operations = l->operations,
                            .work = l->work};
    memcpy(launch->grid, l->grid, sizeof launch->grid);
    memcpy(launch->block, l->block, sizeof launch->block);
}

static hg_status run_launch(const hg_driver_launch *l, hg_driver_fault *fault) {
    tile_memory few[SLOTS_ON_STACK], *slots = few;
    tile_launch launch;
    tile_fault found;
    found.happened = false;
    if (l->slot_count > SLOTS_ON_STACK) {
        slots = hg_calloc(l->slot_count, sizeof *slots);
        if (!slots) return hg_fail_memory();
    }
    for (uint32_t i = 0; i < l->slot_count; i++) slots[i] = memory_of(&l->slots[i]);
    describe_launch(l, &launch);
    launch.slots = slots;
    hg_status status = tile_run(l->kernel->code, &launch, &found);
    if (slots != few) hg_free(slots);
    copy_fault(&found, fault);
    return status;
}

/* The element goes through memory of its own: arrays may lie anywhere, the result within what is
 * read too. */
static hg_status run_reduction(const tile_options *options, const hg_driver_step *s) {
    const plan_call *call = s->call;
    _Alignas(64) uint8_t result[512];
    HG_TRY(tile_reduce(options, (hg_op)call->fn, (hg_type)call->type, call->arrays[1].extents[0],
                       address(&s->ranges[1]), result));
    if (hg_limit_is_reached(options->limit)) return HG_OK;
    memcpy(address(&s->ranges[0]), result, (size_t)s->ranges[0].size);
    return HG_OK;
}

static hg_status run_map(const tile_options *options, const hg_driver_step *s,
                         hg_driver_fault *fault) {
    const plan_call *call = s->call;
    tile_fault found;
    found.happened = false;
    uint8_t inputs = (uint8_t)(call->array_count - 1);
    const uint8_t *in[2] = {address(&s->ranges[1]), inputs > 1 ? address(&s->ranges[2]) : NULL};
    hg_status status = tile_map(options, call->fn, (hg_type)call->type, call->arrays[0].extents[0],
                                address(&s->ranges[0]), in, inputs, &found);
    if (!found.happened || !fault) return status;
    fault->happened = true;
    fault->code = found.code;
    fault->operand = found.operand;
    memcpy(fault->message, found.message, sizeof fault->message);
    return status;
}

/* The tile interpreter's or oneDNN's, behind what the runtime calls. */
typedef struct cpu_prepared {
    hg_driver_prepared driver;
    tile_prepared *work;
    vendor_work *vendor; /* in place of it */
} cpu_prepared;

static tile_prepared *prepare_launch(const hg_driver_launch *l) {
    tile_memory slots[SLOTS_ON_STACK];
    tile_launch launch;
    if (l->slot_count > SLOTS_ON_STACK) return NULL;
    for (uint32_t i = 0; i < l->slot_count; i++) slots[i] = memory_of(&l->slots[i]);
    describe_launch(l, &launch);
    launch.slots = slots;
    return tile_prepare(l->kernel->code, &launch);
}

static hg_status run_prepared(hg_driver_prepared *self) {
    return tile_prepared_run(((cpu_prepared *)self)->work);
}

static bool prepared_move(hg_driver_prepared *prepared, const hg_range *ranges, uint32_t count) {
    cpu_prepared *p = (cpu_prepared *)prepared;
    tile_memory slots[SLOTS_ON_STACK];
    if (!p->work || count > SLOTS_ON_STACK) return false;
    for (uint32_t i = 0; i < count; i++) slots[i] = memory_of(&ranges[i]);
    return tile_prepared_move(p->work, slots, count);
}

static void prepared_destroy(hg_driver_prepared *prepared) {
    cpu_prepared *p = (cpu_prepared *)prepared;
    tile_prepared_destroy(p->work);
    cpu_vendor_release(p->vendor);
    hg_free(p);
}

/* The driver's own steps: what the expansions of map and reduce calculate, to the bit. */
static bool is_map(const plan_call *call) {
    return plan_collective_of((hg_op)call->op) == &plan_collective_map;
}
static bool is_reduction(const plan_call *call) {
    return plan_collective_of((hg_op)call->op) == &plan_collective_reduce;
}

static hg_status make_vendor(const hg_device *device, const hg_driver_step *s, vendor_work **work) {
    const plan_call *call = s->call;
    uint8_t *arrays[HG_MAX_OPERANDS];
    for (uint32_t i = 0; i < call->array_count; i++)
        arrays[i] = address(&s->ranges[i]) + call->arrays[i].before;
    return cpu_vendor_make(device->vendor, call, arrays, address(&s->scratch), work);
}

static hg_status run_vendor(const hg_device *device, const hg_driver_step *s, hg_limit *limit) {
    vendor_work *work;
    HG_TRY(make_vendor(device, s, &work));
    hg_status status = cpu_vendor_execute(work, limit);
    cpu_vendor_release(work);
    return status;
}

static hg_status run_prepared_vendor(hg_driver_prepared *self) {
    return cpu_vendor_execute(((cpu_prepared *)self)->vendor, NULL);
}

static hg_driver_prepared *prepare_vendor(const hg_device *device, const hg_driver_step *s) {
    vendor_work *work;
    hg_error kept = *hg_error_record(); /* what is not prepared is run as it is */
    if (make_vendor(device, s, &work) != HG_OK) {
        *hg_error_record() = kept;
        return NULL;
    }
    cpu_prepared *p = hg_alloc(sizeof *p);
    if (!p) {
        cpu_vendor_release(work);
        return NULL;
    }
    *p = (cpu_prepared){.driver = {run_prepared_vendor}, .vendor = work};
    return &p->driver;
}

static hg_status run_step(const hg_device *device, const hg_driver_step *s,
                          hg_driver_fault *fault) {
    tile_options options = device->options;
    hg_limit limit = s->limit;
    options.max_threads = s->max_threads;
    options.limit = &limit;
    hg_status status = is_map(s->call)         ? run_map(&options, s, fault)
                       : is_reduction(s->call) ? run_reduction(&options, s)
                                               : run_vendor(device, s, &limit);
    copy_limit(&limit, fault);
    return status;
}

static tile_prepared *prepare_map(const hg_device *device, const hg_driver_step *s) {
    const plan_call *call = s->call;
    tile_options options = device->options;
    options.max_threads = s->max_threads;
    uint8_t inputs = (uint8_t)(call->array_count - 1);
    const uint8_t *in[2] = {address(&s->ranges[1]), inputs > 1 ? address(&s->ranges[2]) : NULL};
    return tile_map_prepare(&options, call->fn, (hg_type)call->type, call->arrays[0].extents[0],
                            address(&s->ranges[0]), in, inputs);
}

static hg_driver_prepared *prepare(hg_device *device, const hg_driver_command *c) {
    if (c->kind == HG_CMD_STEP && !is_map(c->step->call) && !is_reduction(c->step->call))
        return prepare_vendor(device, c->step);
    tile_prepared *work = c->kind == HG_CMD_LAUNCH ? prepare_launch(c->launch)
                          : c->kind == HG_CMD_STEP && is_map(c->step->call)
                              ? prepare_map(device, c->step)
                              : NULL;
    cpu_prepared *p = work ? hg_alloc(sizeof *p) : NULL;
    if (!p) {
        tile_prepared_destroy(work);
        return NULL;
    }
    *p = (cpu_prepared){.driver = {run_prepared}, .work = work};
    return &p->driver;
}

static bool step_supported(const hg_device *device, const plan_call *call, uint64_t *scratch) {
    return !device->expands && (is_map(call) || is_reduction(call) ||
                                cpu_vendor_supports(device->vendor, call, scratch));
}

static void step_describe(const hg_device *device, const plan_call *call, char text[64]) {
    cpu_vendor_describe(device->vendor, call, text);
}

HG_NOINLINE static hg_status run_other(const hg_device *device, const hg_driver_command *c) {
    switch (c->kind) {
    case HG_CMD_COPY_IN: memcpy(address(&c->to), c->host, (size_t)c->to.size); return HG_OK;
    case HG_CMD_COPY_OUT: memcpy(c->host, address(&c->from), (size_t)c->from.size); return HG_OK;
    case HG_CMD_COPY: memmove(address(&c->to), address(&c->from), (size_t)c->to.size); return HG_OK;
    case HG_CMD_FILL: memset(address(&c->to), c->value, (size_t)c->to.size); return HG_OK;
    case HG_CMD_LAUNCH: break; /* run_command */
    case HG_CMD_STEP: return run_step(device, c->step, c->fault);
    case HG_CMD_DISPATCH: break; /* not for a device without device form */
    }
    return hg_fail(HG_ERROR_INTERNAL, "unknown command %d", (int)c->kind);
}

/* Its own code for what small launches feel. */
static hg_status run_command(hg_device *device, const hg_driver_command *c) {
    return HG_LIKELY(c->kind == HG_CMD_LAUNCH) ? run_launch(c->launch, c->fault)
                                               : run_other(device, c);
}

/* ---- queue and events: everything is done when submit returns ---- */

static hg_status queue_submit(hg_driver_queue *queue, const hg_driver_command *commands,
                              uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    return hg_at_once_submit(queue, commands, count, waits, wait_count, signal, run_command);
}

/* ---- code ---- */

static hg_status kernel_create(hg_device *device, const kir_module *module,
                               hg_driver_kernel **kernel) {
    const tile_options *options = &device->options;
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    hg_status status = tile_compile(module, options, &k->code);
    if (status == HG_OK && device->carries)
        native_attach(options->level, module, device->compiler, k->code);
    if (status != HG_OK) {
        tile_kernel_destroy(k->code);
        hg_free(k);
    } else {
        *kernel = k;
    }
    return status;
}

static void kernel_destroy(hg_driver_kernel *kernel) {
    tile_kernel_destroy(kernel->code);
    hg_free(kernel);
}

static bool kernel_watch(hg_driver_kernel *kernel, void (*ask)(void *user, bool hot), void *user) {
    return native_possible() && tile_kernel_watch(kernel->code, &(tile_watch){ask, user});
}

static hg_status kernel_improve(hg_device *device, hg_driver_kernel *kernel, kir_module *module,
                                const hg_patience *patience) {
    return native_compile(&device->code, module, kernel->code, patience);
}

const hg_driver hg_driver_cpu = {
    .name = "cpu",
    .forks = true,
    .enumerate = enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .device_caps = device_caps,
    .device_native = device_native,
    .arena_alloc = arena_alloc,
    .arena_import = arena_import,
    .arena_free = arena_free,
    .arena_map = arena_map,
    .arena_unmap = arena_unmap,
    .arena_native = arena_native,
    .queue_create = hg_at_once_queue_create,
    .queue_destroy = hg_at_once_queue_destroy,
    .queue_submit = queue_submit,
    .event_create = hg_at_once_event_create,
    .event_destroy = hg_at_once_event_destroy,
    .event_query = hg_at_once_event_query,
    .event_wait = hg_at_once_event_wait,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .kernel_watch = kernel_watch,
    .kernel_improve = kernel_improve,
    .improves_by = native_by,
    .step_supported = step_supported,
    .step_describe = step_describe,
    .steps_by = cpu_vendor_by,
    .prepare = prepare,
    .prepared_destroy = prepared_destroy,
    .prepared_move = prepared_move,
};
