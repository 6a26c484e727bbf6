/* Commands of a thread that are noted in place of being done, and the one executable that they
 * become: a function for each launch and step, over the arenas as they are after those before it.
 * Must not know: what a kernel or an instruction is. */
#include "backends/tpu/tpu_internal.h"
#include "stablehlo/lanes.h"
#include <string.h>

enum { MOST_TEXT = 4 << 20 }; /* bytes of all functions: XLA takes a minute for them */

/* An arena as an argument of the module. */
typedef struct noted_arena {
    hg_driver_arena *arena;
    hg_driver_shape shape;
    bool written, lasts;
    ten now;
} noted_arena;

typedef struct notes {
    hg_device *device;
    HG_VEC(tpu_note) notes;
    HG_VEC(noted_arena) arenas;
    uint64_t text_bytes, number_count;
} notes;

/* Of this thread; NULL: commands are done. */
static HG_THREAD_LOCAL notes *noting;

struct hg_driver_noted {
    hg_device *device;
    tpu_code *code;
    pjrt_buffer *numbers; /* of all launches, behind one another, 0 first */
    noted_arena *arenas;
    uint32_t count;
    pjrt_buffer **arguments, **results; /* of a run */
};

/* ---- notes ---- */

static uint64_t bytes_of(uint8_t type) { return hg_type_size_bytes((hg_type)type); }

static void free_note(tpu_note *n) {
    hg_text_free(&n->text);
    hg_free(n->memories);
    hg_free(n->numbers);
}

static void free_notes(notes *s) {
    for (uint64_t i = 0; i < s->notes.count; i++) free_note(&s->notes.data[i]);
    hg_vec_free(&s->notes);
    hg_vec_free(&s->arenas);
    hg_free(s);
}

hg_status tpu_note_begin(hg_device *device) {
    if (noting) return hg_fail(HG_ERROR_INTERNAL, "tpu: notes within notes");
    noting = hg_calloc(1, sizeof *noting);
    if (!noting) return hg_fail_memory();
    noting->device = device;
    return HG_OK;
}

bool tpu_is_noting(const hg_device *device) { return noting && noting->device == device; }

/* The arena of a memory; as numbers of the narrowest width in which somebody reads it. */
static hg_status add_arena(notes *s, const tpu_noted_memory *m) {
    uint64_t i = 0;
    while (i < s->arenas.count && s->arenas.data[i].arena != m->arena) i++;
    if (i == s->arenas.count) {
        noted_arena *a = hg_vec_push(&s->arenas);
        if (!a) return hg_fail_memory();
        *a = (noted_arena){.arena = m->arena, .shape = {m->type, 1, {(int64_t)m->count}}};
    }
    noted_arena *a = &s->arenas.data[i];
    a->written = a->written || m->written;
    a->lasts = a->lasts || m->lasts;
    if (a->shape.type == m->type) return HG_OK;
    uint64_t own = bytes_of(a->shape.type), width = bytes_of(m->type);
    uint8_t word = (uint8_t)(own < width ? own : width);
    a->shape = tpu_numbers(tpu_words(a->arena, word), word);
    return HG_OK;
}

hg_status tpu_note_command(const hg_driver_command *c) {
    notes *s = noting;
    tpu_note *n = hg_vec_push(&s->notes);
    if (!n) return hg_fail_memory();
    hg_status status = c->kind == HG_CMD_LAUNCH ? tpu_note_launch(c->launch, n)
                       : c->kind == HG_CMD_STEP ? tpu_note_step(c->step, n)
                                                : tpu_note_move(c, n);
    if (status == HG_OK && n->text.failed) status = hg_fail_memory();
    for (uint32_t i = 0; i < n->count && status == HG_OK; i++)
        status = add_arena(s, &n->memories[i]);
    s->text_bytes += n->text.length;
    s->number_count += n->number_count;
    if (status == HG_OK && s->text_bytes > MOST_TEXT)
        status = hg_fail(HG_ERROR_ISA, "tpu: more than %d bytes of text", MOST_TEXT);
    return status;
}

/* ---- the module ---- */

/* The first note with that text. */
static uint32_t function_of(const notes *s, uint32_t number) {
    const hg_text *text = &s->notes.data[number].text;
    for (uint32_t i = 0; i < number; i++) {
        const hg_text *other = &s->notes.data[i].text;
        if (other->length == text->length &&
            memcmp(other->data, text->data, (size_t)text->length) == 0)
            return i;
    }
    return number;
}

static noted_arena *arena_of(notes *s, const hg_driver_arena *arena) {
    noted_arena *a = s->arenas.data;
    while (a->arena != arena) a++;
    return a;
}

static ten shape_of(const tpu_noted_memory *m) { return ten_shape(m->type, 1, &m->count); }

/* all: room for arguments and results. Returns its fault's code; name 0: it has none. */
static ten call(notes *s, ten_module *m, uint32_t number, ten numbers, uint64_t *at, ten *all) {
    tpu_note *n = &s->notes.data[number];
    ten *results = all + n->count + 1, fault = {0};
    uint32_t count = 0, given = 0;
    if (n->number_count) {
        all[count++] = ten_made(m, ten_slice(m, numbers, 0, *at, *at + n->number_count, 1));
        results[given++] = ten_shape(HG_TYPE_U64, 1, (uint64_t[]){TPU_FAULT_NUMBERS});
        *at += n->number_count;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const tpu_noted_memory *x = &n->memories[i];
        all[count++] = ten_made(m, ten_recast(m, arena_of(s, x->arena)->now, x->type, x->count));
        if (x->written) results[given++] = shape_of(x);
    }
    if (!given) return fault;
    shlo_call_main(m, function_of(s, number), all, count, results, given);
    if (n->number_count) fault = ten_slice(m, results[0], 0, 0, 1, 1);
    for (uint32_t i = 0, r = n->number_count != 0; i < n->count; i++) {
        const tpu_noted_memory *x = &n->memories[i];
        if (!x->written) continue;
        noted_arena *a = arena_of(s, x->arena);
        a->now = ten_recast(m, results[r++], a->shape.type, (uint64_t)a->shape.extents[0]);
    }
    return fault;
}

/* Contents of scratch memory are of no meaning before and afterwards: it is neither argument nor
 * result. */
static void drop_scratch(notes *s, ten_module *m, const hg_driver_arena *scratch) {
    for (uint64_t i = 0; i < s->arenas.count; i++) {
        noted_arena *a = &s->arenas.data[i];
        const ten shape = ten_shape(a->shape.type, 1, (uint64_t[]){(uint64_t)a->shape.extents[0]});
        a->now = a->arena != scratch           ? ten_new(m, shape)
                 : ten_is_float(a->shape.type) ? ten_number(m, shape, 0)
                                               : ten_integer(m, shape, 0);
    }
}

static void print_body(notes *s, ten_module *m, const hg_driver_arena *scratch, ten numbers,
                       ten *all, hg_text *results) {
    uint64_t at = 1;
    ten bad = ten_slice(m, numbers, 0, 0, 1, 1);
    hg_text types = {0};
    for (uint32_t i = 0; i < s->notes.count; i++) {
        ten fault = call(s, m, i, numbers, &at, all);
        if (fault.name) bad = ten_binary(m, "or", bad, fault);
    }
    hg_text_addf(results, "tensor<1xui64>");
    hg_text_addf(&types, "%%%u", (unsigned)bad.name);
    for (uint64_t i = 0; i < s->arenas.count; i++) {
        noted_arena *a = &s->arenas.data[i];
        if (!a->written || a->arena == scratch) continue;
        a->now = ten_made(m, a->now);
        hg_text_addf(&types, ", %%%u", (unsigned)a->now.name);
        hg_text_addf(results, ", ");
        ten_print_type(results, a->now);
    }
    hg_text_addf(m->out, "    return ");
    hg_text_add(m->out, types.data ? types.data : "", types.length);
    hg_text_addf(m->out, " : ");
    hg_text_add(m->out, results->data ? results->data : "", results->length);
    hg_text_addf(m->out, "\n  }\n}\n");
    if (types.failed || results->failed) m->out->failed = true;
    hg_text_free(&types);
}

static void print_arguments(const notes *s, ten numbers, const hg_driver_arena *scratch,
                            hg_text *out) {
    uint32_t result = 1;
    hg_text_addf(out, "  func.func public @main(%%%u: ", (unsigned)numbers.name);
    ten_print_type(out, numbers);
    for (uint64_t i = 0; i < s->arenas.count; i++) {
        const noted_arena *a = &s->arenas.data[i];
        if (a->arena == scratch) continue;
        hg_text_addf(out, ", %%%u: ", (unsigned)a->now.name);
        ten_print_type(out, a->now);
        if (a->written && !a->lasts)
            hg_text_addf(out, " {tf.aliasing_output = %u : i32}", (unsigned)result);
        result += a->written;
    }
}

static hg_status print_module(notes *s, const hg_driver_arena *scratch, hg_text *out) {
    hg_text body = {0}, results = {0};
    ten_module m = {.out = &body, .next = 1};
    uint32_t most = 0;
    for (uint64_t i = 0; i < s->notes.count; i++)
        if (s->notes.data[i].count > most) most = s->notes.data[i].count;
    ten *all = hg_calloc(2 * ((size_t)most + 1), sizeof *all);
    if (!all) return hg_fail_memory();
    const ten numbers = ten_new(&m, ten_shape(HG_TYPE_U64, 1, (uint64_t[]){s->number_count + 1}));
    drop_scratch(s, &m, scratch);
    hg_text_addf(out, "module @noted {\n");
    for (uint32_t i = 0; i < s->notes.count; i++)
        if (function_of(s, i) == i) shlo_add_functions(out, &s->notes.data[i].text, i);
    print_arguments(s, numbers, scratch, out);
    print_body(s, &m, scratch, numbers, all, &results);
    hg_text_addf(out, ") -> (");
    hg_text_add(out, results.data ? results.data : "", results.length);
    hg_text_addf(out, ") {\n");
    hg_text_add(out, body.data ? body.data : "", body.length);
    hg_status status = m.unsupported[0] ? hg_fail(HG_ERROR_ISA, "tpu: %s", m.unsupported) : HG_OK;
    if (body.failed || out->failed) status = hg_fail_memory();
    hg_text_free(&body);
    hg_text_free(&results);
    hg_free(all);
    return status;
}

static hg_status upload_numbers(const notes *s, hg_driver_noted *n) {
    const hg_driver_shape shape = tpu_numbers(s->number_count + 1, 8);
    uint64_t *all = hg_calloc((size_t)s->number_count + 1, sizeof *all), at = 1;
    if (!all) return hg_fail_memory();
    for (uint64_t i = 0; i < s->notes.count; i++)
        for (uint64_t k = 0; k < s->notes.data[i].number_count; k++)
            all[at++] = s->notes.data[i].numbers[k];
    hg_status status = tpu_upload(n->device, all, &shape, &n->numbers);
    hg_free(all);
    return status;
}

static hg_status make(notes *s, const hg_driver_arena *scratch, hg_driver_noted *n) {
    hg_text text = {0};
    const size_t most = (size_t)s->arenas.count + 1;
    hg_status status = print_module(s, scratch, &text);
    n->arenas = hg_calloc(most, sizeof *n->arenas);
    n->arguments = hg_calloc(most, sizeof *n->arguments);
    n->results = hg_calloc(most, sizeof *n->results);
    if (status == HG_OK && (!n->arenas || !n->arguments || !n->results)) status = hg_fail_memory();
    for (uint64_t i = 0; i < s->arenas.count && status == HG_OK; i++)
        if (s->arenas.data[i].arena != scratch) n->arenas[n->count++] = s->arenas.data[i];
    if (status == HG_OK) status = upload_numbers(s, n);
    if (status == HG_OK) status = tpu_code_find(n->device, text.data, text.length, false, &n->code);
    hg_text_free(&text);
    return status;
}

hg_status tpu_note_end(hg_device *device, const hg_range *scratch, hg_driver_noted **noted) {
    notes *s = noting;
    hg_status status = HG_OK;
    noting = NULL;
    if (noted && s->notes.count) {
        hg_driver_noted *n = hg_calloc(1, sizeof *n);
        if (n) n->device = device;
        hg_mutex_lock(&device->lock);
        status = n ? make(s, scratch->arena, n) : hg_fail_memory();
        hg_mutex_unlock(&device->lock);
        if (status == HG_OK)
            *noted = n;
        else if (n)
            tpu_noted_destroy(n);
    }
    free_notes(s);
    return status;
}

void tpu_noted_destroy(hg_driver_noted *n) {
    hg_mutex_lock(&n->device->lock);
    tpu_code_release(n->code);
    hg_mutex_unlock(&n->device->lock);
    tpu_free_buffer(n->numbers);
    hg_free(n->arenas);
    hg_free(n->arguments);
    hg_free(n->results);
    hg_free(n);
}

/* ---- runs ---- */

/* Results in place of what was given are taken whatever came of it. */
static hg_status take(hg_driver_noted *n, bool *bad) {
    uint64_t code = 0;
    hg_status status = tpu_download(n->results[0], &code, sizeof code);
    *bad = code != 0 || status != HG_OK;
    for (uint32_t i = 0, at = 1; i < n->count; i++) {
        if (!n->arenas[i].written) continue;
        if (!*bad || !n->arenas[i].lasts) {
            tpu_put(n->arenas[i].arena, n->results[at], &n->arenas[i].shape);
            n->results[at] = NULL;
        }
        at++;
    }
    return status;
}

static void lose(hg_driver_noted *n) {
    for (uint32_t i = 0; i < n->count; i++)
        if (n->arenas[i].written && !n->arenas[i].lasts) tpu_lose(n->arenas[i].arena);
}

hg_status tpu_noted_run(hg_driver_noted *n, bool *bad) {
    hg_status status = HG_OK;
    *bad = false;
    hg_mutex_lock(&n->device->lock);
    n->arguments[0] = n->numbers;
    for (uint32_t i = 0; i < n->count && status == HG_OK; i++) {
        status = tpu_to_device(n->arenas[i].arena, &n->arenas[i].shape);
        n->arguments[i + 1] = n->arenas[i].arena->buffer;
    }
    if (status == HG_OK) {
        status = tpu_execute(n->device->device, n->code->executable, n->arguments,
                             (size_t)n->count + 1, n->results);
        if (status == HG_OK)
            status = take(n, bad);
        else
            lose(n);
    }
    for (uint32_t i = 0; i <= n->count; i++) {
        tpu_free_buffer(n->results[i]);
        n->results[i] = NULL;
    }
    hg_mutex_unlock(&n->device->lock);
    return status;
}
