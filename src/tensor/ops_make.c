/* Tensors that are made from numbers. Must not know: layouts. */
#include "tensor/ops.h"
#include "tensor/places.h"
#include <string.h>

static hg_status wanted(const ops_call *c, uint32_t skip, uint64_t *shape, uint32_t *rank) {
    uint64_t count;
    *rank = 0;
    if (c->options.size_count < skip || c->options.size_count - skip > HG_TENSOR_AXES ||
        (c->options.size_count && !c->options.sizes))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: options.sizes has %u numbers", c->name,
                       (unsigned)c->options.size_count);
    *rank = c->options.size_count - skip;
    for (uint32_t d = 0; d < *rank; d++) shape[d] = c->options.sizes[skip + d];
    return tensor_check_shape(c->options.type, shape, *rank, &count);
}

/* first + i * step, over all elements in C order. NumPy's bits: of floats element 1 is first +
 * step, and the others go on by its distance from the first, halves in f32. */
static hg_status arithmetic(const ops_call *c, const uint64_t *shape, uint32_t rank,
                            hg_tensor **result) {
    hg_element type = c->options.type;
    hg_type stored = tensor_stored(type);
    bool is_float = hg_type_is_float(stored), pairs = tensor_is_complex(type);
    double first = c->options.numbers[0], step = c->options.numbers[1];
    double next = first + step, v[3] = {first, step, next};
    if (pairs && step != 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: it is not of %s", c->name,
                       hg_element_name(type));
    tensor_formula f = {.name = c->name,
                        .expression = pairs       ? "v0; 0"
                                      : step == 0 ? "v0"
                                      : !is_float ? "v0 + $T(i0) * v1"
                                                  : "i0 == 1 ? v2 : v0 + $T(i0) * v1",
                        .computes = is_float && hg_type_size_bytes(stored) == 2 ? HG_TYPE_F32
                                                                                : stored,
                        .gives = tensor_copied(type)};
    if (type == HG_ELEMENT_BOOL) v[0] = first != 0;
    if (is_float && step != 0) {
        uint8_t bytes[8];
        HG_TRY(hg_type_from_f64(stored, first, bytes));
        HG_TRY(hg_type_to_f64(stored, bytes, &v[0]));
        HG_TRY(hg_type_from_f64(stored, next, bytes));
        HG_TRY(hg_type_to_f64(stored, bytes, &v[2]));
        v[1] = v[2] - v[0];
    }
    HG_TRY(tensor_map(c->run, &f, NULL, 0, shape, rank, v,
                      step == 0  ? 1
                      : is_float ? 3
                                 : 2,
                      result));
    (*result)->type = type;
    return HG_OK;
}

hg_status ops_arange(ops_call *c) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    HG_TRY(wanted(c, 0, shape, &rank));
    return arithmetic(c, shape, rank, &c->out[0]);
}

/* As NumPy's: in f64, the last element exactly; integers toward minus infinity. */
hg_status ops_linspace(ops_call *c) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    double start = c->options.numbers[0], stop = c->options.numbers[1];
    bool is_float = hg_type_is_float(tensor_stored(c->options.type));
    HG_TRY(wanted(c, 0, shape, &rank));
    if (rank != 1 || c->options.type == HG_ELEMENT_BOOL)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s", c->name,
                       rank != 1 ? "options.sizes is the number of elements" : "of bool");
    double parts = (double)shape[0] - !c->options.flag, step = (stop - start) / parts;
    double last = !c->options.flag && shape[0] > 1 ? parts : -1;
    if (parts <= 0) step = 0;
    tensor_formula f = {.name = c->name,
                        .expression = is_float ? "f64(i0) == v3 ? v2 : f64(i0) * v1 + v0"
                                               : "floor(f64(i0) == v3 ? v2 : f64(i0) * v1 + v0)",
                        .computes = HG_TYPE_F64,
                        .gives = c->options.type};
    return tensor_map(c->run, &f, NULL, 0, shape, rank, (double[]){start, step, stop, last}, 4,
                      &c->out[0]);
}

hg_status ops_eye(ops_call *c) {
    uint32_t rank;
    double k = c->options.numbers[0];
    places_work w = {.name = c->name, .type = c->options.type, .rank = 2, .kept = 3};
    HG_TRY(wanted(c, 0, w.shape, &rank));
    if (rank != 2 || !(k > -0x1p62 && k < 0x1p62))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s", c->name,
                       rank != 2 ? "options.sizes are rows and columns"
                                 : "options.numbers[0] is out of range");
    hg_text_addf(&w.text,
                 "    if %s {\n        y[$y] = 1\n    } else {\n        y[$y] = 0\n    }\n",
                 k < 0 ? "@1 + v0 == @0" : "@0 + v0 == @1");
    places_number_add(&w, (uint64_t)(k < 0 ? -k : k));
    if (!tensor_is_complex(w.type)) return tensor_places(c->run, &w, &c->out[0]);
    hg_tensor *real;
    w.type = tensor_stored(w.type);
    HG_TRY(tensor_places(c->run, &w, &real));
    hg_status status = tensor_cast(c->run, real, c->options.type, &c->out[0]);
    hg_tensor_release(real);
    return status;
}

/* ---- random numbers ---- */

/* An expression over the element's number i0 and the seed, v0 | v1 << 32; u64s. */
static hg_status stream(const ops_call *c, const char *expression, hg_element gives, double v2,
                        double v3, hg_tensor **result) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    HG_TRY(wanted(c, 1, shape, &rank));
    uint64_t seed = c->options.sizes[0];
    double v[4] = {(double)(seed & UINT32_MAX), (double)(seed >> 32), v2, v3};
    tensor_formula f = {
        .name = c->name, .expression = expression, .computes = HG_TYPE_U64, .gives = gives};
    return tensor_map(c->run, &f, NULL, 0, shape, rank, v, 4, result);
}

hg_status ops_rand(ops_call *c) {
    /* word i of the stream with that key; of f64 words 2 i and 2 i + 1 */
    static const struct {
        hg_type type;
        const char *expression;
    } forms[] = {
        {HG_TYPE_F32, "f32(philox(i0 >> 2, v0 | v1 << 32, u32(i0 & 3)) >> 8) * 0x1p-24"},
        {HG_TYPE_F64, "f64(philox_pair(i0, v0 | v1 << 32) >> 11) * 0x1p-53"},
        {HG_TYPE_F16, "f16(philox(i0 >> 2, v0 | v1 << 32, u32(i0 & 3)) >> 21) * 0x1p-11"},
        {HG_TYPE_BF16, "bf16(philox(i0 >> 2, v0 | v1 << 32, u32(i0 & 3)) >> 24) * 0x1p-8"}};
    for (size_t i = 0; i < HG_COUNT_OF(forms); i++)
        if (forms[i].type == c->options.type)
            return stream(c, forms[i].expression, c->options.type, 0, 0, &c->out[0]);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: of %s, one of f16, bf16, f32, f64 expected",
                   c->name, hg_element_name(c->options.type));
}

/* low + the upper half of a word of 64 bits times the number of integers. */
hg_status ops_randint(ops_call *c) {
    double low = c->options.numbers[0], high = c->options.numbers[1], back;
    hg_element type = c->options.type;
    uint8_t bytes[8];
    bool fits = tensor_size(type) <= 8 && type != HG_ELEMENT_BOOL &&
                !hg_type_is_float((hg_type)type) && low >= -0x1p53 && high <= 0x1p53 && low < high;
    for (int i = 0; i < 2 && fits; i++) {
        double bound = i ? high - 1 : low;
        HG_TRY(hg_type_from_f64((hg_type)type, bound, bytes));
        HG_TRY(hg_type_to_f64((hg_type)type, bytes, &back));
        fits = back == bound;
    }
    if (!fits)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s: %.17g to below %.17g as %s: whole numbers of an integer type of at "
                       "most 64 bits expected, the first below the second, none beyond 2^53",
                       c->name, low, high, hg_element_name(type));
    return stream(c,
                  low < 0 ? "i64(mulhi(philox_pair(i0, v0 | v1 << 32), v2)) - i64(v3)"
                          : "mulhi(philox_pair(i0, v0 | v1 << 32), v2) + v3",
                  type, high - low, low < 0 ? -low : low, &c->out[0]);
}

hg_status ops_normal(ops_call *c) {
    double mean = c->options.numbers[0], deviation = c->options.numbers[1];
    hg_element type = c->options.type;
    if (type >= HG_TYPE_COUNT || !hg_type_is_float((hg_type)type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: of %s, a type of floats expected", c->name,
                       hg_element_name(type));
    bool wide = type == HG_TYPE_F64;
    hg_tensor *z = NULL;
    HG_TRY(stream(c, wide ? "normal64(i0, v0 | v1 << 32)" : "normal32(i0, v0 | v1 << 32)",
                  wide ? HG_TYPE_F64 : HG_TYPE_F32, 0, 0, &z));
    tensor_formula f = {.name = c->name,
                        .expression = "v0 + v1 * a",
                        .computes = wide ? HG_TYPE_F64 : HG_TYPE_F32,
                        .gives = type};
    const hg_tensor *in = z;
    hg_status status = tensor_map(c->run, &f, &in, 1, z->shape, z->rank,
                                  (double[]){mean, deviation}, 2, &c->out[0]);
    hg_tensor_release(z);
    return status;
}
