/* Lanes of a program as functions of a module: the program's one kernel for the sizes of a call.
 * Must not know: graphs, devices. */
#include "stablehlo/lanes.h"
#include "emit/emit_stablehlo.h"
#include "isa/cfg.h"
#include "kir/access.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"
#include "stablehlo/call_internal.h"
#include <hologram/dim.h>
#include <string.h>

/* ---- functions of another text ---- */

void shlo_add_functions(hg_text *out, const hg_text *text, uint32_t number) {
    const char *at = memchr(text->data, '{', (size_t)text->length),
               *end = text->data + text->length;
    while (end[-1] != '}') end--;
    for (at++, end--; at < end;) {
        const char *name = memchr(at, '@', (size_t)(end - at)), *stop = name ? name : end;
        const char *word = "func.func public", *place = at;
        const size_t length = strlen(word);
        while (place + length <= stop && memcmp(place, word, length) != 0) place++;
        if (place + length <= stop) { /* @main is nobody else's */
            hg_text_add(out, at, (size_t)(place - at));
            hg_text_addf(out, "func.func private");
            at = place + length;
        }
        hg_text_add(out, at, (size_t)(stop - at));
        if (name) hg_text_addf(out, "@k%u_", (unsigned)number);
        at = name ? name + 1 : end;
    }
}

static void add_list(hg_text *out, const ten *all, uint32_t count, bool types) {
    for (uint32_t i = 0; i < count; i++) {
        hg_text_addf(out, i ? ", " : "");
        if (types)
            ten_print_type(out, all[i]);
        else
            hg_text_addf(out, "%%%u", (unsigned)all[i].name);
    }
}

void shlo_call_main(ten_module *m, uint32_t number, const ten *arguments, uint32_t count,
                    ten *results, uint32_t result_count) {
    for (uint32_t i = 0; i < result_count; i++) results[i] = ten_new(m, results[i]);
    hg_text_addf(m->out, "    ");
    add_list(m->out, results, result_count, false);
    hg_text_addf(m->out, " = func.call @k%u_main(", (unsigned)number);
    add_list(m->out, arguments, count, false);
    hg_text_addf(m->out, ") : (");
    add_list(m->out, arguments, count, true);
    hg_text_addf(m->out, ") -> (");
    add_list(m->out, results, result_count, true);
    hg_text_addf(m->out, ")\n");
}

/* ---- the kernel ---- */

typedef struct compiled {
    hg_cfg *cfg;
    hg_plan *plan;
    kir_module *low; /* NULL: the program is more than one kernel */
} compiled;

static hg_status compile(const hg_program *program, compiled *made) {
    kir_caps caps;
    kir_module *module = NULL;
    emit_stablehlo_caps(&caps);
    kir_compilation c = {.caps = &caps, .max_slots = UINT32_MAX};
    HG_TRY(hg_verify(program, NULL, NULL, &made->cfg));
    c.program = made->cfg;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module));
    hg_status status = plan_build(module, PLAN_READS_INPUTS, &made->plan);
    if (status != HG_OK) {
        kir_module_destroy(module);
        return status;
    }
    const hg_plan *plan = made->plan;
    if (plan->kernels.count != 1 || plan->code.count != 2 || plan->steps.count) return HG_OK;
    return kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, plan->kernels.data[0].module,
                            &made->low);
}

/* ---- the sizes of the call ---- */

static bool number_of(void *user, uint16_t param, uint64_t *value) {
    const shlo_lanes *l = user;
    *value = l->numbers[param];
    return l->known[param];
}

/* Scalars that nobody gave, by the extents of arrays. */
static void solve(const shlo_lanes *l) {
    const hg_program *p = l->program;
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *a = &p->params[i];
        for (uint8_t d = 0; a->kind == HG_PARAM_BUFFER && a->rank != HG_NO_DIMS && d < a->rank;
             d++) {
            uint16_t param;
            uint64_t value;
            if (l->arrays[i].rank == a->rank &&
                hg_extent_solve(p, &a->dims[d], l->arrays[i].extents[d], number_of,
                                (void *)(uintptr_t)l, &param, &value) == HG_EXTENT_KNOWN) {
                l->numbers[param] = value;
                l->known[param] = true;
            }
        }
    }
}

static bool lanes_of(ten_module *m, const shlo_lanes *l, uint64_t *lanes) {
    const hg_program *p = l->program;
    uint64_t value;
    *lanes = 1;
    if (p->grid_count || p->block[0] || p->shared) ten_refuse(m, "lanes in blocks");
    for (uint32_t i = 0; i < p->lanes_count; i++)
        if (hg_extent_value(p, &p->lanes[i], number_of, (void *)(uintptr_t)l, &value, NULL) !=
                HG_EXTENT_KNOWN ||
            !hg_mul_u64(*lanes, value, lanes))
            ten_refuse(m, "lanes whose number nobody says");
    if (!*lanes || *lanes >> 40) ten_refuse(m, "no lanes, or more than 2^40");
    return !m->unsupported[0];
}

static uint32_t param_of(const hg_program *p, const kir_input *input) {
    uint32_t i = 0;
    if (input->kind != KIR_INPUT_PARAM) return p->param_count;
    while (i < p->param_count && p->params[i].reg != input->reg) i++;
    return i;
}

/* ---- arrays ---- */

typedef struct job {
    ten_module *m;
    const shlo_lanes *l;
    kir_module *low;
    uint8_t *words;
    emit_stablehlo_array *arrays; /* of slots */
    uint32_t *places, *params;    /* the same */
    uint64_t *record;
    ten *arguments, *results;
} job;

static uint64_t bytes_of(ten t) { return ten_count(t) * hg_type_size_bytes((hg_type)t.type); }

static bool find_slot(job *j, uint32_t i) {
    const hg_program *p = j->l->program;
    const kir_slot *s = &j->low->slots.data[i];
    uint32_t param = s->constant || s->plan || s->space != KIR_BUFFER
                         ? p->param_count
                         : param_of(p, &j->low->inputs.data[s->input]);
    if (param == p->param_count || p->params[param].kind != HG_PARAM_BUFFER) {
        ten_refuse(j->m, "memory that is no array of the call");
        return false;
    }
    ten t = j->l->arrays[param];
    uint8_t size = (uint8_t)hg_type_size_bytes((hg_type)t.type);
    if (j->words[i] > size) j->words[i] = size;
    j->params[i] = param;
    j->places[i] = i;
    j->arrays[i] = (emit_stablehlo_array){bytes_of(t) / j->words[i], j->words[i], false};
    return true;
}

/* The memory of each slot as words. */
static void take_arrays(job *j, uint32_t *count) {
    for (uint32_t i = 0; i < j->low->slots.count; i++) {
        ten t = j->l->arrays[j->params[i]];
        uint64_t elements = ten_count(t);
        if (!t.name)
            t = ten_integer(j->m,
                            ten_like(t, hg_uint_of_bytes(hg_type_size_bytes((hg_type)t.type))), 0);
        t = ten_reshape(j->m, t, 1, &elements);
        t = ten_recast(j->m, t, hg_uint_of_bytes(j->words[i]), j->arrays[i].words);
        j->arguments[(*count)++] = ten_made(j->m, t);
    }
}

static void give_arrays(job *j) {
    for (uint32_t i = 0, at = 1; i < j->low->slots.count; i++) {
        if (!j->arrays[i].written) continue;
        ten *array = &j->l->arrays[j->params[i]];
        ten t = ten_recast(j->m, j->results[at++], array->type, ten_count(*array));
        *array = ten_reshape(j->m, t, array->rank, array->extents);
    }
}

/* ---- the call ---- */

static void fill_record(job *j) {
    const hg_program *p = j->l->program;
    uint64_t *at = j->record;
    *at++ = 0;
    *at++ = UINT64_MAX; /* rounds of loops */
    *at++ = 0;
    *at++ = 0;
    for (uint64_t i = 0; i < j->low->inputs.count; i++) {
        const kir_input *input = &j->low->inputs.data[i];
        uint32_t param = param_of(p, input);
        bool scalar = param < p->param_count && p->params[param].kind == HG_PARAM_SCALAR;
        if (param == p->param_count || input->limb || (scalar && !j->l->known[param]))
            ten_refuse(j->m, "numbers that the host works out");
        *at++ = scalar ? j->l->numbers[param] : i + 1; /* nobody reads handles */
    }
    for (uint32_t i = 0; i < j->low->slots.count; i++) {
        *at++ = bytes_of(j->l->arrays[j->params[i]]);
        *at++ = 0;
    }
}

static hg_status print(job *j, uint64_t lanes, uint32_t number, hg_text *functions) {
    const uint64_t slots = j->low->slots.count, numbers = 4 + j->low->inputs.count + 2 * slots;
    const uint32_t block = lanes < 256 ? (uint32_t)lanes : 256; /* as hg_launch_set_linear */
    emit_stablehlo_launch launch = {.lanes = lanes,
                                    .grid = {(uint32_t)((lanes + block - 1) / block), 1, 1},
                                    .block = {block, 1, 1},
                                    .arrays = j->arrays,
                                    .array_count = (uint32_t)slots,
                                    .slot_arrays = j->places,
                                    .class_array = EMIT_STABLEHLO_NOWHERE,
                                    .shared_array = EMIT_STABLEHLO_NOWHERE,
                                    .shared_word = 1};
    emit_stablehlo_sites sites = {0};
    hg_text text = {0};
    uint32_t count = 0, given = 1;
    fill_record(j);
    hg_status status = j->m->unsupported[0] ? HG_OK
                                            : emit_stablehlo(j->low, &launch, "", &text, &sites);
    if (status == HG_OK && !j->m->unsupported[0]) {
        shlo_add_functions(functions, &text, number);
        j->arguments[count++] = ten_made(
            j->m, ten_bytes(j->m, ten_shape(HG_TYPE_U64, 1, &numbers), j->record));
        take_arrays(j, &count);
        j->results[0] = ten_shape(HG_TYPE_U64, 1, (uint64_t[]){5});
        for (uint32_t i = 0; i < slots; i++)
            if (j->arrays[i].written)
                j->results[given++] = ten_shape(hg_uint_of_bytes(j->words[i]), 1,
                                                &j->arrays[i].words);
        shlo_call_main(j->m, number, j->arguments, count, j->results, given);
        ten code = ten_slice(j->m, j->results[0], 0, 0, 1, 1);
        shlo_note_bad(j->m, ten_compare(j->m, "NE", code, ten_integer(j->m, code, 0)));
        give_arrays(j);
    }
    hg_vec_free(&sites);
    hg_text_free(&text);
    return status;
}

static hg_status print_kernel(job *j, uint64_t lanes, uint32_t number, hg_text *functions) {
    const size_t slots = (size_t)j->low->slots.count, inputs = (size_t)j->low->inputs.count;
    if (j->low->has_open || j->low->uses_class || j->low->uses_shared || j->low->uses_barrier) {
        ten_refuse(j->m, "memory that is no array of the call");
        return HG_OK;
    }
    j->words = hg_calloc(slots + EMIT_STABLEHLO_WORDS, 1);
    j->arrays = hg_calloc(slots + 1, sizeof *j->arrays);
    j->places = hg_calloc(slots + 1, sizeof *j->places);
    j->params = hg_calloc(slots + 1, sizeof *j->params);
    j->record = hg_calloc(4 + inputs + 2 * slots, sizeof *j->record);
    j->arguments = hg_calloc(slots + 1, sizeof *j->arguments);
    j->results = hg_calloc(slots + 1, sizeof *j->results);
    if (!j->words || !j->arrays || !j->places || !j->params || !j->record || !j->arguments ||
        !j->results)
        return hg_fail_memory();
    HG_TRY(emit_stablehlo_words(j->low, j->words));
    for (uint32_t i = 0; i < slots; i++)
        if (!find_slot(j, i)) return HG_OK;
    return print(j, lanes, number, functions);
}

hg_status shlo_print_lanes(ten_module *m, const shlo_lanes *l, uint32_t number,
                           hg_text *functions) {
    job j = {.m = m, .l = l};
    compiled made = {0};
    uint64_t lanes;
    solve(l);
    if (!lanes_of(m, l, &lanes)) return HG_OK;
    hg_status status = compile(l->program, &made);
    j.low = made.low;
    if (status == HG_OK && !j.low) ten_refuse(m, "the program is more than lanes");
    if (status == HG_OK && j.low)
        status = print_kernel(&j, made.plan->kernels.data[0].single_lane ? 1 : lanes, number,
                              functions);
    kir_module_destroy(made.low);
    plan_destroy(made.plan);
    hg_cfg_destroy(made.cfg);
    hg_free(j.words);
    hg_free(j.arrays);
    hg_free(j.places);
    hg_free(j.params);
    hg_free(j.record);
    hg_free(j.arguments);
    hg_free(j.results);
    return status;
}
