/* One launch whose lanes several devices share: each has a run of them, on its own copies of the
 * arrays, as long as it was quick in the launches before.
 * Must not know: what lanes do. */
#include "base/thread.h"
#include "dist/dist.h"
#include "runtime/client.h"

/* A device has at least so much of a launch, so that it is measured. One that is MUCH_SLOWER than
 * the quickest may be left out, and is tried again when what that loses is a PATIENCEth of the time
 * since. */
enum { LEAST_PART = 64, MUCH_SLOWER = 8, PATIENCE = 50 };

/* A launch at work. */
typedef struct shared_launch {
    hg_multi_gpu *m;
    hg_launch launch;
    const hg_params *params;
    uint64_t *starts; /* of the devices' lanes; and the end */
    bool quick;       /* without slow devices */
} shared_launch;

/* ---- the program ---- */

void dist_sharing_end(hg_multi_gpu *m) {
    dist_sharing *s = &m->sharing;
    uint32_t params = s->program ? s->program->param_count : 0;
    for (uint32_t i = 0; s->copies && i < m->count * params; i++)
        if (s->copies[i].buffer.handle)
            HG_IGNORE(hg_backend_free_buffer(m->backends[i / params], s->copies[i].buffer));
    hg_free(s->copies);
    hg_free(s->rates);
    hg_program_release(s->program);
    hg_program_release(s->strict);
    hg_program_release(s->from);
    *s = (dist_sharing){0};
}

static hg_status take_program(hg_multi_gpu *m, hg_program *program) {
    dist_sharing *s = &m->sharing, next = {0};
    if (s->program == program) return HG_OK;
    HG_TRY(optimize_find_lanes(program, &next.touched));
    HG_TRY(optimize_lanes_from(program, &next.from));
    if (program->flags & OPTIMIZE_RELAXED) {
        hg_status status = optimize_lanes_strict(program, &next.strict);
        if (status != HG_OK) {
            hg_program_release(next.from);
            return status;
        }
    } else {
        next.strict = hg_program_retain(program);
    }
    dist_sharing_end(m);
    hg_program_retain(program);
    next.program = program;
    next.rates = hg_calloc(m->count, sizeof *next.rates);
    next.copies = hg_calloc((size_t)m->count * program->param_count + 1, sizeof *next.copies);
    *s = next;
    if (next.rates && next.copies) return HG_OK;
    dist_sharing_end(m);
    return hg_fail_memory();
}

/* ---- lanes ---- */

static bool find_scalar(void *user, uint16_t param, uint64_t *value) {
    const shared_launch *l = user;
    const hg_param *p = &l->m->sharing.program->params[param];
    hg_given given = {.type = (hg_type)p->type, .bytes = p->default_bytes};
    if (!hg_params_given(l->params, p->name, &given) && !p->has_default) return false;
    *value = 0;
    if (given.buffer || !given.bytes) return false;
    memcpy(value, given.bytes, (size_t)hg_type_size_bytes(given.type));
    return true;
}

static hg_status count_lanes(shared_launch *l, uint64_t *lanes) {
    const hg_program *p = l->m->sharing.program;
    *lanes = 1;
    if (l->launch.extents == HG_EXTENTS_GIVEN) {
        *lanes = hg_launch_total_threads(&l->launch);
        return HG_OK;
    }
    for (uint32_t i = 0; i < p->lanes_count; i++) {
        uint64_t value;
        if (hg_extent_value(p, &p->lanes[i], find_scalar, l, &value, NULL) != HG_EXTENT_KNOWN ||
            !hg_mul_u64(*lanes, value, lanes))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%.60s: its parameters do not tell its lanes",
                           hg_program_name(p));
    }
    return HG_OK;
}

static bool is_slow(const hg_multi_gpu *m, uint32_t device) {
    double most = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!(m->sharing.rates[i] > 0)) return false; /* not all are measured */
        if (m->sharing.rates[i] > most) most = m->sharing.rates[i];
    }
    return m->sharing.rates[device] * MUCH_SLOWER < most;
}

/* Whether slow devices are left out: where that was quicker, and for the first time. */
static bool leaves_out(const hg_multi_gpu *m) {
    const dist_sharing *s = &m->sharing;
    bool slow = false;
    for (uint32_t i = 0; i < m->count; i++) slow |= is_slow(m, i);
    return slow && (!(s->quick_rate > 0) || (s->quick_rate > s->all_rate && s->owed_ns > 0));
}

/* Half of what was known counts: one launch that was disturbed changes little. */
static void note_rate(double *rate, uint64_t lanes, uint64_t ns) {
    double now = (double)lanes / (double)(ns + 1);
    if (lanes) *rate = *rate > 0 ? (*rate + now) / 2 : now;
}

static void note_launch(const shared_launch *l, uint64_t lanes, uint64_t ns) {
    dist_sharing *s = &l->m->sharing;
    note_rate(l->quick ? &s->quick_rate : &s->all_rate, lanes, ns);
    if (l->quick)
        s->owed_ns -= (double)ns;
    else if (s->quick_rate > 0)
        s->owed_ns = PATIENCE * ((double)ns - (double)lanes / s->quick_rate);
}

/* How much of the lanes a device should have: as it was measured, else as the weights say. */
static double wish(const shared_launch *l, uint32_t device) {
    const hg_multi_gpu *m = l->m;
    bool measured = true;
    if (l->quick && is_slow(m, device)) return 0;
    for (uint32_t i = 0; i < m->count; i++) measured &= m->sharing.rates[i] > 0;
    if (measured) return m->sharing.rates[device];
    return m->shares ? (double)(m->shares[device + 1] - m->shares[device]) : 1;
}

static void share_lanes(shared_launch *l, uint64_t lanes) {
    const hg_multi_gpu *m = l->m;
    uint64_t least = lanes / ((uint64_t)LEAST_PART * m->count), at = 0;
    uint32_t last = 0, used = 0;
    double all = 0;
    l->quick = leaves_out(m);
    for (uint32_t i = 0; i < m->count; i++) {
        all += wish(l, i);
        used += wish(l, i) > 0;
        if (wish(l, i) > 0) last = i;
    }
    uint64_t shared = lanes - least * used, later = least * used;
    for (uint32_t i = 0; i < m->count; i++) {
        bool has = wish(l, i) > 0;
        later -= has ? least : 0;
        uint64_t most = lanes - at - later,
                 part = has ? (uint64_t)((double)shared * (wish(l, i) / all)) + least : 0;
        if (part > most || i == last) part = most;
        l->starts[i] = at;
        at += part;
    }
    l->starts[m->count] = lanes;
}

/* ---- arrays ---- */

static bool given_array(const shared_launch *l, uint32_t param, hg_given *given) {
    const hg_param *p = &l->m->sharing.program->params[param];
    return p->kind == HG_PARAM_BUFFER && hg_params_given(l->params, p->name, given) &&
           given->buffer;
}

/* Copies of one memory would not see what lanes write to the other. */
static hg_status check_arrays(const shared_launch *l) {
    const dist_sharing *s = &l->m->sharing;
    hg_given a, b;
    for (uint32_t i = 0; i < s->program->param_count; i++)
        for (uint32_t j = 0; j < s->program->param_count && given_array(l, i, &a); j++)
            if (i != j && (s->touched.written >> i & 1) && given_array(l, j, &b) &&
                hg_buffers_meet(l->m->backends[0], a.handle, b.handle))
                return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "%.60s and %.60s share memory: lanes that write one of them cannot "
                               "be shared",
                               s->program->params[i].name, s->program->params[j].name);
    return HG_OK;
}

/* Bytes of an array from and to which a device's lanes have elements of their own. */
static void own_bytes(const shared_launch *l, uint32_t device, uint32_t param, uint64_t bytes,
                      uint64_t *from, uint64_t *size) {
    uint64_t each = hg_type_size_bytes((hg_type)l->m->sharing.program->params[param].type),
             end = plan_times(l->starts[device + 1], each);
    *from = plan_times(l->starts[device], each);
    if (end > bytes) end = bytes;
    *size = end > *from ? end - *from : 0;
}

/* Through the host, which may see the first device's memory. */
static hg_status move(hg_backend *from, hg_buffer source, hg_backend *to, hg_buffer target,
                      uint64_t offset, uint64_t bytes) {
    hg_native_buffer native = {.size = sizeof native};
    bool seen = hg_backend_is_host(from) && hg_buffer_native(from, source, &native) == HG_OK &&
                native.kind == HG_MEMORY_HOST;
    if (!bytes) return HG_OK;
    if (seen)
        return hg_buffer_write(to, target, offset,
                               (const uint8_t *)(uintptr_t)native.memory + offset, bytes);
    uint8_t *memory = bytes < SIZE_MAX ? hg_alloc((size_t)bytes) : NULL;
    if (!memory) return hg_fail_memory();
    hg_status status = hg_buffer_read(from, source, offset, memory, bytes);
    if (status == HG_OK) status = hg_buffer_write(to, target, offset, memory, bytes);
    hg_free(memory);
    return status;
}

/* Memory that both devices see, which is that of the host. */
static void *seen_by_both(hg_backend *first, hg_buffer buffer, hg_backend *other) {
    hg_native_buffer native = {.size = sizeof native};
    bool seen = hg_backend_is_host(first) && hg_backend_is_host(other) &&
                hg_buffer_native(first, buffer, &native) == HG_OK && native.kind == HG_MEMORY_HOST;
    return seen ? (void *)(uintptr_t)native.memory : NULL;
}

/* The device's copy of an array, or the array itself. */
static hg_status find_copy(hg_multi_gpu *m, hg_backend *b, hg_buffer given,
                           struct dist_copy *copy) {
    void *shared = seen_by_both(m->backends[0], given, b);
    uint64_t bytes;
    HG_TRY(hg_backend_buffer_size(m->backends[0], given, &bytes));
    if (copy->bytes == bytes && copy->shared == shared && copy->buffer.handle) return HG_OK;
    if (copy->buffer.handle) HG_TRY(hg_backend_free_buffer(b, copy->buffer));
    *copy = (struct dist_copy){{0}, bytes, shared};
    if (shared && bytes && hg_buffer_import(b, shared, bytes, &copy->buffer) == HG_OK) return HG_OK;
    copy->shared = NULL;
    return hg_backend_allocate_buffer(b, bytes, &copy->buffer);
}

/* With what the device's lanes need of it. */
static hg_status copy_array(const shared_launch *l, uint32_t device, uint32_t param,
                            const hg_given *given, hg_buffer *to) {
    hg_multi_gpu *m = l->m;
    const dist_sharing *s = &m->sharing;
    struct dist_copy *copy = &s->copies[device * s->program->param_count + param];
    hg_backend *b = m->backends[device];
    uint64_t from, size;
    HG_TRY(find_copy(m, b, (hg_buffer){given->handle}, copy));
    *to = copy->buffer;
    if (copy->shared) return HG_OK;
    uint64_t bytes = copy->bytes;
    own_bytes(l, device, param, bytes, &from, &size);
    if (s->touched.others >> param & 1) {
        from = 0;
        size = bytes;
    } else if (!((s->touched.read | s->touched.written) >> param & 1)) {
        size = 0;
    }
    return move(m->backends[0], (hg_buffer){given->handle}, b, copy->buffer, from, size);
}

static hg_status copy_params(const shared_launch *l, uint32_t device, hg_params *to) {
    const hg_program *p = l->m->sharing.program;
    for (uint32_t i = 0; i < p->param_count; i++) {
        hg_given given;
        hg_buffer buffer;
        if (!hg_params_given(l->params, p->params[i].name, &given)) continue;
        if (!given.buffer) {
            HG_TRY(hg_params_set_scalar(to, p->params[i].name, given.type, given.bytes));
            continue;
        }
        HG_TRY(copy_array(l, device, i, &given, &buffer));
        HG_TRY(hg_params_set_buffer(to, p->params[i].name, buffer));
    }
    return hg_params_set_scalar(to, OPTIMIZE_FIRST_LANE, HG_TYPE_U64, &l->starts[device]);
}

static hg_status give_back(const shared_launch *l, uint32_t device) {
    hg_multi_gpu *m = l->m;
    const dist_sharing *s = &m->sharing;
    for (uint32_t i = 0; i < s->program->param_count; i++) {
        const struct dist_copy *copy = &s->copies[device * s->program->param_count + i];
        hg_given given;
        uint64_t from, size;
        if (!(s->touched.written >> i & 1) || copy->shared || !given_array(l, i, &given)) continue;
        own_bytes(l, device, i, copy->bytes, &from, &size);
        HG_TRY(move(m->backends[device], copy->buffer, m->backends[0], (hg_buffer){given.handle},
                    from, size));
    }
    return HG_OK;
}

/* ---- devices ---- */

static hg_launch launch_of(const shared_launch *l, uint64_t lanes) {
    hg_launch launch = l->launch;
    hg_launch_set_linear(&launch, lanes);
    return launch;
}

/* Faults have the lane's number in the whole launch, and the instruction's in the caller's program:
 * one stands in front of it. */
static void correct_place(uint64_t first) {
    hg_error *e = hg_error_record();
    if (e->code[0] != 'F') return;
    if (e->lane != HG_NONE) e->lane += first;
    if (e->instruction != HG_NONE && e->instruction) e->instruction--;
}

static hg_status run_copies(const shared_launch *l, uint32_t device) {
    const hg_launch launch = launch_of(l, l->starts[device + 1] - l->starts[device]);
    hg_params *params = hg_params_create();
    hg_status status = params ? copy_params(l, device, params) : hg_fail_memory();
    if (status == HG_OK) {
        status = hg_backend_execute_program_with_params(l->m->backends[device], l->m->sharing.from,
                                                        &launch, params);
        if (status != HG_OK) correct_place(l->starts[device]);
    }
    if (status == HG_OK) status = give_back(l, device);
    hg_error error = *hg_error_record();
    hg_params_destroy(params);
    if (status != HG_OK) *hg_error_record() = error;
    return status;
}

typedef struct device_run {
    const shared_launch *launch;
    uint32_t device;
    hg_thread thread;
    bool started;
    uint64_t ns;
    hg_status status;
    hg_error error;
} device_run;

static void *run_device(void *user) {
    device_run *r = user;
    const shared_launch *l = r->launch;
    uint64_t lanes = l->starts[r->device + 1] - l->starts[r->device], start = hg_clock_ns();
    if (r->device == 0 && (lanes || !l->quick)) {
        const hg_launch launch = launch_of(l, lanes);
        r->status = hg_backend_execute_program_with_params(l->m->backends[0], l->m->sharing.strict,
                                                           &launch, l->params);
    } else if (lanes) {
        r->status = run_copies(l, r->device);
    }
    r->error = *hg_error_record();
    r->ns = hg_clock_ns() - start;
    return NULL;
}

static hg_status run_devices(const shared_launch *l) {
    hg_multi_gpu *m = l->m;
    device_run *runs = hg_calloc(m->count, sizeof *runs), *failed = NULL;
    uint64_t start = hg_clock_ns();
    if (!runs) return hg_fail_memory();
    for (uint32_t i = m->count; i-- > 0;) {
        runs[i].launch = l;
        runs[i].device = i;
        runs[i].started = i && l->starts[i] < l->starts[i + 1] &&
                          hg_thread_start(&runs[i].thread, run_device, &runs[i]);
        if (!runs[i].started) (void)run_device(&runs[i]); /* the first one, or without a thread */
    }
    for (uint32_t i = m->count; i-- > 0;) {
        if (runs[i].started) hg_thread_join(runs[i].thread);
        if (runs[i].status != HG_OK)
            failed = &runs[i];
        else
            note_rate(&m->sharing.rates[i], l->starts[i + 1] - l->starts[i], runs[i].ns);
    }
    if (!failed) note_launch(l, l->starts[m->count], hg_clock_ns() - start);
    hg_status status = failed ? failed->status : HG_OK;
    if (failed) *hg_error_record() = failed->error;
    hg_free(runs);
    return status;
}

hg_status hg_multi_gpu_lanes(hg_multi_gpu *m, hg_program *program, const hg_launch *launch,
                             const hg_params *params, uint64_t *lanes) {
    HG_ENTRY;
    shared_launch l = {.m = m, .launch = HG_LAUNCH_PROGRAM, .params = params};
    uint64_t all;
    if (!m || !program || !params)
        return hg_null_argument(!m ? "devices" : !program ? "program" : "params");
    if (launch) HG_TRY(hg_launch_take(launch, &l.launch));
    HG_TRY(hg_params_check(params, program));
    if (hg_params_set_registers(params))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "a register is set, which all lanes have: they cannot be shared");
    HG_TRY(take_program(m, program));
    HG_TRY(check_arrays(&l));
    HG_TRY(count_lanes(&l, &all));
    l.starts = hg_calloc((size_t)m->count + 1, sizeof *l.starts);
    if (!l.starts) return hg_fail_memory();
    share_lanes(&l, all);
    hg_status status = run_devices(&l);
    for (uint32_t i = 0; lanes && i < m->count; i++) lanes[i] = l.starts[i + 1] - l.starts[i];
    hg_free(l.starts);
    return status;
}
