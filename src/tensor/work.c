/* What functions of operations share that call instructions and library programs.
 * Must not know: single operations. */
#include "tensor/work.h"
#include "library/library.h"
#include <string.h>

hg_status ops_with_kept(ops_call *c, ops_body *body) {
    ops_kept k = {.count = 0};
    hg_status status = body(c, &k);
    ops_release(&k);
    return status;
}

void ops_release(ops_kept *k) {
    hg_error error = *hg_error_record();
    for (uint32_t i = 0; i < k->count; i++) hg_tensor_release(k->tensors[i]);
    *hg_error_record() = error;
}

hg_tensor **ops_keep(ops_kept *k) {
    k->tensors[k->count] = NULL;
    return &k->tensors[k->count++];
}

/* ---- operands ---- */

hg_status ops_common(const ops_call *c, uint32_t count, bool real, hg_element *type) {
    for (uint32_t i = 0; i < count; i++) {
        hg_element own = real ? ops_real(c->in[i]->type) : c->in[i]->type;
        *type = i ? tensor_promote(*type, own) : own;
    }
    return *type == HG_TYPE_COUNT ? ops_refuse(c, "they have no common type") : HG_OK;
}

hg_status ops_as(ops_call *c, ops_kept *k, const hg_tensor *x, hg_element type,
                 const hg_tensor **as) {
    *as = x;
    if (x->type == type) return HG_OK;
    hg_tensor **own = ops_keep(k);
    HG_TRY(tensor_cast(c->run, x, type, own));
    *as = *own;
    return HG_OK;
}

hg_status ops_packed(ops_call *c, ops_kept *k, const hg_tensor *x, bool whole, hg_tensor **packed) {
    hg_tensor **own = ops_keep(k);
    hg_status status = whole && x->offset ? tensor_cast(c->run, x, x->type, own)
                                          : tensor_operand(c->run, x, true, own);
    *packed = *own;
    return status;
}

hg_status ops_shaped(ops_kept *k, const hg_tensor *x, const uint64_t *shape, uint32_t rank,
                     hg_tensor **view) {
    hg_tensor **own = ops_keep(k);
    HG_TRY(tensor_alias(x, own));
    *view = *own;
    (*view)->rank = rank;
    if (rank) memmove((*view)->shape, shape, rank * sizeof *shape);
    tensor_c_strides((*view)->shape, rank, (*view)->strides);
    return HG_OK;
}

hg_status ops_broadcast(ops_kept *k, const hg_tensor *x, const uint64_t *shape, uint32_t rank,
                        hg_tensor **view) {
    hg_tensor **own = ops_keep(k);
    HG_TRY(hg_tensor_broadcast_to(x, shape, rank, own));
    *view = *own;
    return HG_OK;
}

static void order_with_last(uint32_t rank, uint32_t axis, int32_t *order) {
    for (uint32_t d = 0; d < rank; d++) order[d] = (int32_t)(d + (d >= axis));
    order[rank - 1] = (int32_t)axis;
}

hg_status ops_axis_last(ops_kept *k, const hg_tensor *x, uint32_t axis, hg_tensor **view) {
    int32_t order[HG_TENSOR_AXES];
    hg_tensor **own = ops_keep(k);
    order_with_last(x->rank, axis, order);
    HG_TRY(hg_tensor_permute(x, order, x->rank, own));
    *view = *own;
    return HG_OK;
}

hg_status ops_axis_back(ops_call *c, uint32_t axis) {
    int32_t order[HG_TENSOR_AXES], back[HG_TENSOR_AXES];
    hg_tensor *result = c->out[0], *view = NULL;
    if (axis + 1 == result->rank) return HG_OK;
    order_with_last(result->rank, axis, order);
    for (uint32_t d = 0; d < result->rank; d++) back[order[d]] = (int32_t)d;
    HG_TRY(hg_tensor_permute(result, back, result->rank, &view));
    hg_tensor_release(result);
    c->out[0] = view;
    return HG_OK;
}

hg_status ops_one_axis(const ops_call *c, int64_t otherwise, uint32_t rank, uint32_t *axis) {
    if (c->options.axis_count > 1)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "Invalid dimension: %s is along one axis, %u are "
                       "given",
                       c->name, (unsigned)c->options.axis_count);
    bool given = c->options.axis_count && c->options.axes;
    return tensor_axis(given ? c->options.axes[0] : otherwise, rank, axis);
}

hg_status ops_filled(ops_call *c, hg_element type, const char *value, const uint64_t *shape,
                     uint32_t rank, hg_tensor **result) {
    const char *pair = *value == '1' ? "1; 0" : "0; 0";
    tensor_formula f = {.name = c->name,
                        .expression = tensor_is_complex(type) ? pair : value,
                        .computes = tensor_stored(type),
                        .gives = tensor_copied(type)};
    HG_TRY(tensor_map(c->run, &f, NULL, 0, shape, rank, NULL, 0, result));
    (*result)->type = type;
    return HG_OK;
}

uint64_t ops_size_or(const ops_call *c, uint32_t at, uint64_t otherwise) {
    return at < c->options.size_count && c->options.sizes ? c->options.sizes[at] : otherwise;
}

double ops_number_or(const ops_call *c, uint32_t at, double otherwise) {
    return c->options.numbers[at] != 0 ? c->options.numbers[at] : otherwise;
}

hg_status ops_mismatch(const ops_call *c, const char *why) {
    hg_text all = {0};
    char text[220];
    for (uint32_t i = 0; i < c->in_count; i++)
        hg_text_addf(&all, "%s%s", i ? (i + 1 == c->in_count ? " and " : ", ") : "",
                     tensor_text(c->in[i], text));
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "Tensor shape mismatch: %s: %s: %s",
                               c->name, all.data ? all.data : "", why);
    hg_text_free(&all);
    return status;
}

/* ---- calls ---- */

static tensor_arg *add(ops_arguments *a, const char *name, tensor_arg_kind kind) {
    tensor_arg *arg = &a->args[a->count++];
    *arg = (tensor_arg){.name = name, .kind = kind};
    return arg;
}

void ops_array(ops_arguments *a, const char *name, const hg_tensor *x) {
    add(a, name, TENSOR_ARRAY)->tensor = x;
}
void ops_size(ops_arguments *a, const char *name, uint64_t value) {
    add(a, name, TENSOR_SIZE)->number = value;
}
void ops_flag(ops_arguments *a, const char *name, bool value) {
    add(a, name, TENSOR_FLAG)->number = value;
}
void ops_word(ops_arguments *a, const char *name, const char *word) {
    add(a, name, TENSOR_WORD)->text = word;
}

void ops_tuple(ops_arguments *a, const char *name, const uint64_t *items, uint32_t count) {
    tensor_arg *arg = add(a, name, TENSOR_TUPLE);
    arg->items = items;
    arg->count = count;
}

void ops_sizes(ops_arguments *a, const char *name, const uint64_t *items, uint32_t count) {
    ops_tuple(a, name, items, count);
    a->args[a->count - 1].kind = TENSOR_SIZES;
}

void ops_number(ops_arguments *a, const char *name, hg_type type, double value) {
    tensor_arg *arg = add(a, name, TENSOR_SCALAR);
    arg->type = (uint8_t)type;
    HG_IGNORE(hg_type_from_f64(type, value, arg->bytes)); /* it is a float */
}

hg_status ops_instruction(ops_call *c, const char *instruction, const ops_arguments *a,
                          const char *operand, hg_element type, const uint64_t *shape,
                          uint32_t rank, hg_tensor **result) {
    tensor_work work = {.instruction = instruction, .operation = c->name};
    tensor_result made = {.operand = operand, .type = type, .rank = rank, .shape = shape};
    HG_TRY(tensor_call(c->run, &work, a->args, a->count, &made, 1));
    *result = made.tensor;
    return HG_OK;
}

hg_status ops_launch(ops_call *c, hg_program *program, const ops_arguments *a,
                     tensor_result *results, uint32_t count) {
    tensor_work work = {.program = program, .operation = c->name};
    return tensor_call(c->run, &work, a->args, a->count, results, count);
}

/* ---- programs of src/library ---- */

hg_status ops_program(ops_call *c, const char *text, const char *name, hg_element type,
                      const char *constants, hg_program **program) {
    hg_text all = {0};
    hg_type stored = tensor_stored(type);
    hg_text_addf(&all, ".atlas 1\n.type T = %s\n.type A = %s\n%s", hg_type_name(stored),
                 hg_type_name(library_sum_type(stored)), constants ? constants : "");
    tensor_add_section(&all, text, name);
    hg_status status = tensor_program_of(c->run->state, &all, program);
    hg_text_free(&all);
    return status;
}
