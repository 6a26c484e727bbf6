/* Programs that move elements, as text for the layout that their operands have: axes that lie
 * behind each other, and that the statements do not name, are one. */
#include "tensor/places.h"
#include <string.h>

static const char *const ARRAYS[PLACES_OPERANDS] = {"x0", "x1", "x2", "x3"};
static const char *const EXTENTS[HG_TENSOR_AXES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
static const char *const OFFSETS[PLACES_OPERANDS] = {"o0", "o1", "o2", "o3"};
static const char *const NUMBERS[PLACES_NUMBERS] = {
    "v0",  "v1",  "v2",  "v3",  "v4",  "v5",  "v6",  "v7",  "v8",  "v9",  "v10", "v11",
    "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23"};
static const char *const STRIDES[PLACES_OPERANDS + 1][HG_TENSOR_AXES] = {
#define ROW(k) \
    { k "0", k "1", k "2", k "3", k "4", k "5", k "6", k "7" }
    ROW("s0"), ROW("s1"), ROW("s2"), ROW("s3"), ROW("sy")
#undef ROW
};
enum { RESULT = PLACES_OPERANDS, MOST_ARGS = 64 };

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

/* Axes as the program has them: axis d of the work is axis at[d], UINT32_MAX: it has one element.
 */
typedef struct axes {
    bool parts; /* lanes do both parts of complex elements, one after the other */
    uint32_t rank, at[HG_TENSOR_AXES];
    uint64_t shape[HG_TENSOR_AXES];
    int64_t strides[PLACES_OPERANDS + 1][HG_TENSOR_AXES];
} axes;

static int64_t stride_of(const places_work *w, uint32_t k, uint32_t d) {
    return k == RESULT ? (w->apart ? w->result_strides[d] : 0) : w->operands[k].strides[d];
}

static bool joins(const places_work *w, const axes *a, uint32_t d) {
    if (!a->rank || (w->kept >> d & 1)) return false;
    for (uint32_t k = 0; k <= RESULT; k++)
        if ((k < w->operand_count || k == RESULT) &&
            a->strides[k][a->rank - 1] != stride_of(w, k, d) * (int64_t)w->shape[d])
            return false;
    return true;
}

static void collapse(const places_work *w, axes *a) {
    bool open = false; /* whether the last axis may take another */
    a->rank = 0;
    for (uint32_t d = 0; d < w->rank; d++) {
        bool kept = w->kept >> d & 1;
        a->at[d] = UINT32_MAX;
        if (w->shape[d] == 1 && !kept) continue;
        bool join = open && joins(w, a, d);
        uint32_t to = join ? a->rank - 1 : a->rank++;
        a->at[d] = to;
        a->shape[to] = join ? a->shape[to] * w->shape[d] : w->shape[d];
        for (uint32_t k = 0; k <= RESULT; k++)
            if (k < w->operand_count || k == RESULT) a->strides[k][to] = stride_of(w, k, d);
        open = !kept;
    }
    if (a->rank) return;
    a->rank = 1;
    a->shape[0] = 1;
    for (uint32_t k = 0; k <= RESULT; k++) a->strides[k][0] = 0;
}

static bool is_complex(const places_work *w, uint32_t k) {
    return tensor_is_complex(k == RESULT ? w->type : w->operands[k].tensor->type);
}

/* Parts of complex elements are the numbers of a longer last axis where the text does not name it
 * and they lie side by side in it; else lanes do both. */
static void join_parts(const places_work *w, axes *a) {
    uint32_t last = a->rank - 1;
    bool joins = !w->fill;
    if (!tensor_is_complex(w->type)) return;
    for (uint32_t d = 0; d < w->rank && joins; d++) joins = a->at[d] != last || !(w->kept >> d & 1);
    for (uint32_t k = 0; k <= RESULT && joins; k++) {
        if (k >= w->operand_count && k != RESULT) continue;
        int64_t stride = k == RESULT && !w->apart ? 2 : a->strides[k][last];
        joins = a->shape[last] == 1 || stride == (is_complex(w, k) ? 2 : 0);
    }
    a->parts = !joins;
    if (!joins) return;
    a->shape[last] *= 2;
    for (uint32_t k = 0; k <= RESULT; k++)
        if (k < w->operand_count || k == RESULT) a->strides[k][last] = is_complex(w, k);
}

/* ---- the text ---- */

static const char *type_name(hg_element type) { return hg_type_name(tensor_stored(type)); }

/* The type that the fill is given as: of u64 i64 of the same bits, for to a graph a parameter of
 * u64 is an extent, below 2^63. */
static hg_element filled_as(const places_work *w) {
    return w->type == HG_TYPE_U64 ? (hg_element)HG_TYPE_I64 : w->type;
}

/* A term of a sum of u64 values; the sum may pass 0 on the way. */
static void add_term(hg_text *out, bool *any, bool minus, const char *coordinate, uint32_t d,
                     const char *factor) {
    hg_text_addf(out, "%s", minus ? (*any ? " - " : "u64(0) - ") : *any ? " + " : "");
    if (coordinate) hg_text_addf(out, "%s%u%s", coordinate, (unsigned)d, factor ? " * " : "");
    if (factor) hg_text_addf(out, "%s", factor);
    *any = true;
}

static void add_place(hg_text *out, const places_work *w, const axes *a, uint32_t k) {
    bool any = false;
    int64_t offset = k == RESULT ? 0 : (int64_t)w->operands[k].offset;
    if (offset) add_term(out, &any, offset < 0, NULL, 0, OFFSETS[k]);
    for (uint32_t d = 0; d < a->rank; d++) {
        int64_t stride = a->strides[k][d];
        if (stride) add_term(out, &any, stride < 0, "i", d, stride == 1 ? NULL : STRIDES[k][d]);
    }
    if (a->parts && is_complex(w, k)) {
        hg_text_addf(out, any ? " + part" : "part");
        any = true;
    }
    if (!any) hg_text_addf(out, "u64(0)");
}

static void add_result_place(hg_text *out, const places_work *w, const axes *a) {
    if (w->apart) {
        add_place(out, w, a, RESULT);
        return;
    }
    for (uint32_t d = 0; d < a->rank; d++)
        hg_text_addf(out, "%s%si%u", d ? ", " : "", a->parts && d + 1 == a->rank ? "2 * " : "",
                     (unsigned)d);
    if (a->parts) hg_text_addf(out, " + part");
}

static void add_statements(hg_text *out, const places_work *w, const axes *a) {
    for (const char *at = w->text.data; *at; at++) {
        uint32_t digit = (uint32_t)(at[1] - '0');
        if (*at == '$' && at[1] == 'y')
            add_result_place(out, w, a);
        else if (*at == '$' && at[1] == 'T')
            hg_text_addf(out, "%s", type_name(w->type));
        else if (*at == '$')
            add_place(out, w, a, digit);
        else if (*at == '@')
            hg_text_addf(out, "i%u", (unsigned)a->at[digit]);
        else if (*at == '#')
            hg_text_addf(out, "%s", EXTENTS[a->at[digit]]);
        else {
            hg_text_add(out, at, 1);
            continue;
        }
        at++;
    }
}

static void add_parameters(hg_text *out, const places_work *w, const axes *a) {
    for (uint32_t k = 0; k < w->operand_count; k++)
        hg_text_addf(out, ".param %s buffer %s in\n", ARRAYS[k],
                     type_name(w->operands[k].tensor->type));
    hg_text_addf(out, ".param y buffer %s out [%s", type_name(w->type), w->apart ? "total]\n" : "");
    for (uint32_t d = 0; d < a->rank && !w->apart; d++)
        hg_text_addf(out, "%s%s%s%s", d ? ", " : "", a->parts && d + 1 == a->rank ? "2 * " : "",
                     EXTENTS[d], d + 1 == a->rank ? "]\n" : "");
    if (w->apart) hg_text_addf(out, ".param total u64\n");
    for (uint32_t d = 0; d < a->rank; d++) hg_text_addf(out, ".param %s u64\n", EXTENTS[d]);
    for (uint32_t k = 0; k <= RESULT; k++) {
        if (k >= w->operand_count && k != RESULT) continue;
        if (k != RESULT && w->operands[k].offset) hg_text_addf(out, ".param %s u64\n", OFFSETS[k]);
        for (uint32_t d = 0; d < a->rank; d++)
            if (a->strides[k][d] && a->strides[k][d] != 1)
                hg_text_addf(out, ".param %s u64\n", STRIDES[k][d]);
    }
    for (uint32_t i = 0; i < w->number_count; i++) hg_text_addf(out, ".param %s u64\n", NUMBERS[i]);
    if (w->fill) hg_text_addf(out, ".param given %s\n", type_name(filled_as(w)));
}

static void write_text(hg_text *out, const places_work *w, const axes *a) {
    hg_text_addf(out, ".atlas 1\n.program %s\n", w->name);
    add_parameters(out, w, a);
    hg_text_addf(out, ".lanes [");
    for (uint32_t d = 0; d < a->rank; d++)
        hg_text_addf(out, "%si%u < %s", d ? ", " : "", (unsigned)d, EXTENTS[d]);
    hg_text_addf(out, "]\n");
    if (a->parts) hg_text_addf(out, "    for part in u64(0) .. 2 {\n");
    if (w->fill && a->parts)
        hg_text_addf(out, "    let fill = part == 0 ? given : 0\n");
    else if (w->fill)
        hg_text_addf(out, "    let fill = %s(given)\n", type_name(w->type));
    add_statements(out, w, a);
    if (a->parts) hg_text_addf(out, "    }\n");
}

/* ---- operands ---- */

static void add_size(tensor_arg *args, uint32_t *count, const char *name, uint64_t value) {
    args[(*count)++] = (tensor_arg){.name = name, .kind = TENSOR_SIZE, .number = value};
}

/* The text adds or subtracts it. */
static void add_way(tensor_arg *args, uint32_t *count, const char *name, int64_t value) {
    add_size(args, count, name, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Of a result that is apart. */
static uint64_t result_numbers(const places_work *w) {
    return tensor_numel(w->result_shape, w->result_rank) * tensor_parts(w->type);
}

static void add_sizes(const places_work *w, const axes *a, tensor_arg *args, uint32_t *count) {
    for (uint32_t d = 0; d < a->rank; d++) add_size(args, count, EXTENTS[d], a->shape[d]);
    if (w->apart) add_size(args, count, "total", result_numbers(w));
    for (uint32_t k = 0; k <= RESULT; k++) {
        if (k >= w->operand_count && k != RESULT) continue;
        if (k != RESULT && w->operands[k].offset)
            add_way(args, count, OFFSETS[k], (int64_t)w->operands[k].offset);
        for (uint32_t d = 0; d < a->rank; d++)
            if (a->strides[k][d] && a->strides[k][d] != 1)
                add_way(args, count, STRIDES[k][d], a->strides[k][d]);
    }
    for (uint32_t i = 0; i < w->number_count; i++) add_size(args, count, NUMBERS[i], w->numbers[i]);
}

static hg_status add_args(const places_work *w, const axes *a, tensor_arg *args, uint32_t *count) {
    for (uint32_t k = 0; k < w->operand_count; k++)
        args[(*count)++] = (tensor_arg){
            .name = ARRAYS[k], .kind = TENSOR_ARRAY, .tensor = w->operands[k].tensor};
    add_sizes(w, a, args, count);
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
    memcpy(extents, a->shape, sizeof extents);
    if (a->parts) extents[a->rank - 1] *= 2;
    bool pairs = tensor_is_complex(w->type);
    tensor_result made = {.operand = "y",
                          .type = pairs ? (hg_element)tensor_stored(w->type) : w->type,
                          .rank = w->apart ? 1 : a->rank,
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
