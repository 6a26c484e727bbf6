/* Element-wise operations: which formula there is for the types (elements.def).
 * Must not know: layouts. */
#include "tensor/ops.h"
#include <string.h>

typedef enum element_rule { SAME, REAL, QUOTIENT, TEST, LOGIC } element_rule;
typedef struct element_row {
    element_rule rule;
    const char *floats, *is_signed, *is_unsigned, *truth, *map;
} element_row;

static const element_row ELEMENTS[HG_OPS_COUNT] = {
#define ELEMENT(id, rule, floats, is_signed, is_unsigned, truth, map) \
    [HG_OPS_##id] = {rule, floats, is_signed, is_unsigned, truth, map},
#include "tensor/elements.def"
#undef ELEMENT
};

/* Of complex elements: what the formula gives. */
typedef enum complex_result { COMPLEX_SAME = 1, COMPLEX_PART, COMPLEX_TRUTH } complex_result;
static const struct {
    complex_result gives;
    const char *formula;
} COMPLEX[HG_OPS_COUNT] = {
#define COMPLEX_FORMULA(id, gives, formula) [HG_OPS_##id] = {COMPLEX_##gives, formula},
#include "tensor/complex.def"
};

const char *ops_complex_formula(hg_operation operation) { return COMPLEX[operation].formula; }

/* ---- types ---- */

hg_element ops_real(hg_element type) {
    uint64_t bytes = tensor_size(type);
    if (tensor_kind(type) >= 3) return type;
    return bytes == 1 ? HG_TYPE_F16 : bytes == 2 ? HG_TYPE_F32 : HG_TYPE_F64;
}

hg_status ops_refuse(const ops_call *c, const char *why) {
    hg_text all = {0};
    char text[220];
    for (uint32_t i = 0; i < c->in_count && i < 4; i++)
        hg_text_addf(&all, "%s%s", i ? (i + 1 == c->in_count ? " and " : ", ") : "",
                     tensor_text(c->in[i], text));
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s: %s", c->name,
                               all.data ? all.data : "", why);
    hg_text_free(&all);
    return status;
}

hg_status ops_refuse_complex(const ops_call *c) {
    if (c->in_count) return ops_refuse(c, "it is not of complex numbers");
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: it is not of %s", c->name,
                   hg_element_name(c->options.type));
}

/* ---- formulas ---- */

static hg_element common_type(const ops_call *c, bool real) {
    hg_element type = HG_TYPE_COUNT;
    for (uint32_t i = 0; i < c->in_count; i++) {
        hg_element own = real ? ops_real(c->in[i]->type) : c->in[i]->type;
        type = i ? tensor_promote(type, own) : own;
    }
    return type;
}

static hg_status find_complex(const ops_call *c, hg_element type, tensor_formula *f) {
    complex_result gives = COMPLEX[c->operation].gives;
    if (!gives) return ops_refuse_complex(c);
    *f = (tensor_formula){.name = c->name,
                          .expression = COMPLEX[c->operation].formula,
                          .computes = type,
                          .gives = gives == COMPLEX_TRUTH  ? HG_ELEMENT_BOOL
                                   : gives == COMPLEX_PART ? (hg_element)tensor_stored(type)
                                                           : type};
    return HG_OK;
}

static hg_status find(const ops_call *c, tensor_formula *f) {
    const element_row *row = &ELEMENTS[c->operation];
    hg_element type = common_type(c, row->rule == REAL);
    if (type == HG_TYPE_COUNT) return ops_refuse(c, "they have no common type");
    if (row->rule == LOGIC) type = HG_ELEMENT_BOOL;
    if (tensor_is_complex(type)) return find_complex(c, type, f);
    if (row->rule == QUOTIENT && tensor_kind(type) != 3) type = HG_TYPE_F64;
    if (row->rule == TEST && type == HG_ELEMENT_BOOL) type = HG_TYPE_U8;
    const char *by_kind[] = {row->truth, row->is_unsigned, row->is_signed, row->floats};
    const char *expression = by_kind[tensor_kind(type)];
    if (!expression)
        return ops_refuse(c, type == HG_ELEMENT_BOOL ? "it is not of bool: cast first"
                                                     : "it is not of this type");
    *f = (tensor_formula){.name = c->name,
                          .expression = expression,
                          .computes = type,
                          .gives = row->rule == TEST ? HG_ELEMENT_BOOL : type,
                          .map = tensor_kind(type) == 3 ? row->map : NULL};
    return HG_OK;
}

hg_status ops_element(ops_call *c) {
    tensor_formula f;
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    HG_TRY(find(c, &f));
    HG_TRY(tensor_broadcast(c->name, c->in, c->in_count, shape, &rank));
    return tensor_map(c->run, &f, c->in, c->in_count, shape, rank, NULL, 0, &c->out[0]);
}

bool ops_formula(const ops_call *c, tensor_formula *f, const hg_tensor *target) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    if (!ELEMENTS[c->operation].floats && !ELEMENTS[c->operation].is_signed &&
        !ELEMENTS[c->operation].truth)
        return false;
    hg_error kept = *hg_error_record();
    bool is = find(c, f) == HG_OK && f->gives == target->type &&
              tensor_broadcast(c->name, c->in, c->in_count, shape, &rank) == HG_OK &&
              rank == target->rank && memcmp(shape, target->shape, rank * sizeof *shape) == 0;
    *hg_error_record() = kept;
    return is;
}

hg_status ops_where(ops_call *c) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    hg_element type = tensor_promote(c->in[1]->type, c->in[2]->type);
    if (type == HG_TYPE_COUNT) return ops_refuse(c, "they have no common type");
    HG_TRY(tensor_broadcast(c->name, c->in, 3, shape, &rank));
    bool pairs = tensor_is_complex(type);
    tensor_formula f = {.name = c->name,
                        .expression = pairs ? "a ? br : cr; a ? bi : ci" : "a ? b : c",
                        .computes = tensor_copied(type),
                        .truths = 1,
                        .gives = tensor_copied(type)};
    HG_TRY(tensor_map(c->run, &f, c->in, 3, shape, rank, NULL, 0, &c->out[0]));
    c->out[0]->type = type;
    return HG_OK;
}

hg_status ops_cast(ops_call *c) {
    if (!tensor_size(c->options.type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "cast: options.type is no type");
    return tensor_cast(c->run, c->in[0], c->options.type, &c->out[0]);
}
