/* Programs that move elements, as text for the layout that their operands have: axes that lie
 * behind each other, and that the statements do not name, are one. */
#include "tensor/places.h"
#include "tensor/lanes.h"
#include <string.h>

static const char *const NUMBERS[PLACES_NUMBERS] = {
    "v0",  "v1",  "v2",  "v3",  "v4",  "v5",  "v6",  "v7",  "v8",  "v9",  "v10", "v11",
    "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23"};
enum { RESULT = PLACES_OPERANDS, MOST_ARGS = 64 };
_Static_assert((int)RESULT < (int)LANES_OPERANDS, "the result is one more");

uint32_t places_operand_add(places_work *w, const hg_tensor *t, uint32_t first) {
    places_operand *o = &w->operands[w->operand_count];
    *o = (places_operand){.tensor = t, .offset = t->offset * tensor_parts(t->type)};
    for (uint32_t d = 0; d < t->rank && first + d < w->rank; d++)
        o->strides[first + d] = t->shape[d] == 1 ? 0 : places_stride(t, d);
    return w->operand_count++;
}

int64_t places_stride(const hg_tensor *t, uint32_t axis) {
    return t->strides[axis] * tensor_parts(t->type);
}

void places_step_add(places_work *w, hg_text *out, const char *coordinate, int64_t stride) {
    uint64_t size = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    if (stride == 1) { /* a factor takes as long as the rest of a round */
        hg_text_addf(out, " + %s", coordinate);
        return;
    }
    hg_text_addf(out, " %c %s * v%u", stride < 0 ? '-' : '+', coordinate,
                 (unsigned)places_number_add(w, size));
}

uint32_t places_number_add(places_work *w, uint64_t number) {
    w->numbers[w->number_count] = number;
    return w->number_count++;
}

/* ---- axes ---- */

/* Axes as the program has them; the result is operand RESULT, between it and the others are none.
 */
typedef struct axes {
    bool parts; /* lanes do both parts of complex elements, one after the other */
    tensor_lanes lanes;
} axes;

/* Whether the work has that operand, or it is the result. */
static bool is_there(const places_work *w, uint32_t k) {
    return k < w->operand_count || k == RESULT;
}

static void collapse(const places_work *w, axes *a) {
    tensor_lanes *l = &a->lanes;
    *l = (tensor_lanes){.rank = w->rank, .operands = RESULT + 1};
    memcpy(l->shape, w->shape, w->rank * sizeof *w->shape);
    for (uint32_t k = 0; k < w->operand_count; k++) {
        l->offsets[k] = w->operands[k].offset;
        memcpy(l->strides[k], w->operands[k].strides, w->rank * sizeof *l->strides[k]);
    }
    if (w->apart) memcpy(l->strides[RESULT], w->result_strides, w->rank * sizeof(int64_t));
    lanes_collapse(l, w->kept);
    /* A lane alone that goes through all elements: its places are the same for the whole turn. */
    bool alone = w->apart && l->rank == 1 && l->shape[0] == 1;
    for (uint32_t k = 0; alone && k < l->operands; k++) l->strides[k][0] = 0;
}

static bool is_complex(const places_work *w, uint32_t k) {
    return tensor_is_complex(k == RESULT ? w->type : w->operands[k].tensor->type);
}

/* Parts of complex elements are the numbers of a longer last axis where the text does not name it
 * and they lie side by side in it; else lanes do both. */
static void join_parts(const places_work *w, axes *a) {
    tensor_lanes *l = &a->lanes;
    uint32_t last = l->rank - 1;
    bool joins = !w->fill;
    if (!tensor_is_complex(w->type)) return;
    for (uint32_t d = 0; d < w->rank && joins; d++) joins = l->at[d] != last || !(w->kept >> d & 1);
    for (uint32_t k = 0; k <= RESULT && joins; k++) {
        if (!is_there(w, k)) continue;
        int64_t stride = k == RESULT && !w->apart ? 2 : l->strides[k][last];
        joins = l->shape[last] == 1 || stride == (is_complex(w, k) ? 2 : 0);
    }
    a->parts = !joins;
    if (!joins) return;
    l->shape[last] *= 2;
    for (uint32_t k = 0; k <= RESULT; k++)
        if (is_there(w, k)) l->strides[k][last] = is_complex(w, k);
}

/* ---- the text ---- */

/* The type that the fill is given as: of u64 i64 of the same bits, for to a graph a parameter of
 * u64 is an extent, below 2^63. */
static hg_element filled_as(const places_work *w) {
    return w->type == HG_TYPE_U64 ? (hg_element)HG_TYPE_I64 : w->type;
}

/* The sum may pass 0 on the way. */
static void add_place(hg_text *out, const places_work *w, const axes *a, uint32_t k) {
    bool any = lanes_add_place(out, &a->lanes, k), part = a->parts && is_complex(w, k);
    if (part) hg_text_addf(out, any ? " + part" : "part");
    if (!any && !part) hg_text_addf(out, "u64(0)");
}

static void add_result_place(hg_text *out, const places_work *w, const axes *a) {
    const tensor_lanes *l = &a->lanes;
    if (w->apart) {
        add_place(out, w, a, RESULT);
        return;
    }
    for (uint32_t d = 0; d < l->rank; d++)
        hg_text_addf(out, "%s%si%u", d ? ", " : "", a->parts && d + 1 == l->rank ? "2 * " : "",
                     (unsigned)d);
    if (a->parts) hg_text_addf(out, " + part");
}

static void add_statements(hg_text *out, const places_work *w, const axes *a) {
    for (const char *at = w->text.data; *at; at++) {
        uint32_t digit = (uint32_t)(at[1] - '0');
        if (*at == '$' && at[1] == 'y')
            add_result_place(out, w, a);
        else if (*at == '$' && at[1] == 'T')
            hg_text_addf(out, "%s", lanes_type_name(w->type));
        else if (*at == '$')
            add_place(out, w, a, digit);
        else if (*at == '@')
            hg_text_addf(out, "i%u", (unsigned)a->lanes.at[digit]);
        else if (*at == '#')
            hg_text_addf(out, "%s", lanes_extent_name(a->lanes.at[digit]));
        else {
            hg_text_add(out, at, 1);
            continue;
        }
        at++;
    }
}

static void add_parameters(hg_text *out, const places_work *w, const axes *a) {
    for (uint32_t k = 0; k < w->operand_count; k++)
        hg_text_addf(out, ".param %s buffer %s in\n", lanes_array_name(k),
                     lanes_type_name(w->operands[k].tensor->type));
    hg_text_addf(out, ".param y buffer %s out [", lanes_type_name(w->type));
    if (w->apart)
        hg_text_addf(out, "total]\n.param total u64\n");
    else
        lanes_add_extents(out, &a->lanes, a->parts);
    if (!w->apart) hg_text_addf(out, "]\n");
    lanes_add_extent_params(out, &a->lanes);
    for (uint32_t k = 0; k <= RESULT; k++)
        if (is_there(w, k)) lanes_add_params(out, &a->lanes, k);
    for (uint32_t i = 0; i < w->number_count; i++) hg_text_addf(out, ".param %s u64\n", NUMBERS[i]);
    if (w->fill) hg_text_addf(out, ".param given %s\n", lanes_type_name(filled_as(w)));
}

static void write_text(hg_text *out, const places_work *w, const axes *a) {
    hg_text_addf(out, ".atlas 1\n.program %s\n", w->name);
    add_parameters(out, w, a);
    lanes_add_head(out, &a->lanes);
    if (a->parts) hg_text_addf(out, "    for part in u64(0) .. 2 {\n");
    if (w->fill && a->parts)
        hg_text_addf(out, "    let fill = part == 0 ? given : 0\n");
    else if (w->fill)
        hg_text_addf(out, "    let fill = %s(given)\n", lanes_type_name(w->type));
    add_statements(out, w, a);
    if (a->parts) hg_text_addf(out, "    }\n");
}

/* ---- operands ---- */

/* Of a result that is apart. */
static uint64_t result_numbers(const places_work *w) {
    return tensor_numel(w->result_shape, w->result_rank) * tensor_parts(w->type);
}

static hg_status add_args(const places_work *w, const axes *a, tensor_arg *args, uint32_t *count) {
    for (uint32_t k = 0; k < w->operand_count; k++)
        args[(*count)++] = (tensor_arg){
            .name = lanes_array_name(k), .kind = TENSOR_ARRAY, .tensor = w->operands[k].tensor};
    lanes_give_extents(args, count, &a->lanes);
    if (w->apart) lanes_give_size(args, count, "total", result_numbers(w));
    for (uint32_t k = 0; k <= RESULT; k++)
        if (is_there(w, k)) lanes_give(args, count, &a->lanes, k);
    for (uint32_t i = 0; i < w->number_count; i++)
        lanes_give_size(args, count, NUMBERS[i], w->numbers[i]);
    if (!w->fill) return HG_OK;
    tensor_arg *fill = &args[(*count)++];
    *fill = (tensor_arg){
        .name = "given", .kind = TENSOR_SCALAR, .type = (uint8_t)tensor_stored(filled_as(w))};
    if (hg_type_size_bytes(tensor_stored(w->type)) > sizeof fill->bytes)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: numbers of type %s are too wide", w->name,
                       hg_element_name(w->type));
    return hg_type_from_f64(tensor_stored(w->type), *w->fill, fill->bytes);
}

static hg_status call(tensor_run *run, places_work *w, const axes *a, hg_program *program,
                      hg_tensor **result) {
    uint32_t count = 0, rank = w->apart ? w->result_rank : w->rank;
    const uint64_t *shape = w->apart ? w->result_shape : w->shape;
    uint64_t all = result_numbers(w), extents[HG_TENSOR_AXES];
    tensor_arg *args = hg_calloc(MOST_ARGS, sizeof *args); /* stacks may be small */
    if (!args) return hg_fail_memory();
    memcpy(extents, a->lanes.shape, sizeof extents);
    if (a->parts) extents[a->lanes.rank - 1] *= 2;
    bool pairs = tensor_is_complex(w->type);
    tensor_result made = {.operand = "y",
                          .type = pairs ? (hg_element)tensor_stored(w->type) : w->type,
                          .rank = w->apart ? 1 : a->lanes.rank,
                          .shape = w->apart ? &all : extents};
    tensor_work work = {.program = program, .operation = w->name};
    hg_status status = add_args(w, a, args, &count);
    if (status == HG_OK) status = tensor_call(run, &work, args, count, &made, 1);
    hg_free(args);
    HG_TRY(status);
    made.tensor->type = w->type;
    made.tensor->rank = rank;
    memcpy(made.tensor->shape, shape, rank * sizeof *shape);
    tensor_c_strides(shape, rank, made.tensor->strides);
    *result = made.tensor;
    return HG_OK;
}

static hg_status run_work(tensor_run *run, places_work *w, hg_tensor **result) {
    axes a;
    hg_text text = {0};
    hg_program *program;
    uint32_t rank = w->apart ? w->result_rank : w->rank;
    const uint64_t *shape = w->apart ? w->result_shape : w->shape;
    uint64_t count;
    HG_TRY(tensor_check_shape(w->type, shape, rank, &count));
    if (!count) {
        HG_TRY(tensor_make(run->state, w->type, shape, rank, result));
        return tensor_storage_allocate((*result)->storage, false);
    }
    if (w->text.failed) return hg_fail_memory();
    collapse(w, &a);
    a.parts = false;
    join_parts(w, &a);
    write_text(&text, w, &a);
    hg_status status = tensor_program_of(run->state, &text, &program);
    hg_text_free(&text);
    HG_TRY(status);
    return call(run, w, &a, program, result);
}

hg_status tensor_places(tensor_run *run, places_work *w, hg_tensor **result) {
    *result = NULL;
    hg_status status = run_work(run, w, result);
    hg_text_free(&w->text);
    if (status == HG_OK || !*result) return status;
    hg_tensor_release(*result);
    *result = NULL;
    return status;
}
