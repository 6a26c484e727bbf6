/* Tensors that are made from numbers. Must not know: layouts. */
#include "tensor/ops.h"
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

/* first + i * step, over all elements in C order. */
static hg_status arithmetic(tensor_run *run, hg_element type, double first, double step,
                            const uint64_t *shape, uint32_t rank, hg_tensor **result) {
    tensor_formula f = {.name = "arange",
                        .expression = step != 0 ? "v0 + $T(i0) * v1" : "v0",
                        .computes = tensor_stored(type),
                        .gives = tensor_stored(type)};
    if (type == HG_ELEMENT_BOOL) first = first != 0;
    HG_TRY(tensor_map(run, &f, NULL, 0, shape, rank, (double[]){first, step}, step != 0 ? 2 : 1,
                      result));
    (*result)->type = type;
    return HG_OK;
}

hg_status ops_arange(ops_call *c) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    HG_TRY(wanted(c, 0, shape, &rank));
    return arithmetic(c->run, c->options.type, c->options.numbers[0], c->options.numbers[1], shape,
                      rank, &c->out[0]);
}

hg_status ops_rand(ops_call *c) {
    uint64_t shape[HG_TENSOR_AXES];
    uint32_t rank;
    HG_TRY(wanted(c, 1, shape, &rank));
    uint64_t seed = c->options.sizes[0];
    /* word i of the stream with that key; of f64 words 2 i and 2 i + 1 */
    static const struct {
        hg_type type;
        const char *expression;
    } forms[] = {
        {HG_TYPE_F32, "f32(philox(i0 >> 2, v0 | v1 << 32, u32(i0 & 3)) >> 8) * 0x1p-24"},
        {HG_TYPE_F64,
         "f64((u64(philox(i0 >> 1, v0 | v1 << 32, u32(i0 & 1) << 1)) << 32 | "
         "u64(philox(i0 >> 1, v0 | v1 << 32, u32(i0 & 1) << 1 | 1))) >> 11) * 0x1p-53"},
        {HG_TYPE_F16, "f16(philox(i0 >> 2, v0 | v1 << 32, u32(i0 & 3)) >> 21) * 0x1p-11"},
        {HG_TYPE_BF16, "bf16(philox(i0 >> 2, v0 | v1 << 32, u32(i0 & 3)) >> 24) * 0x1p-8"}};
    for (size_t i = 0; i < HG_COUNT_OF(forms); i++) {
        if (forms[i].type != c->options.type) continue;
        tensor_formula f = {.name = c->name,
                            .expression = forms[i].expression,
                            .computes = HG_TYPE_U64,
                            .gives = c->options.type};
        return tensor_map(c->run, &f, NULL, 0, shape, rank,
                          (double[]){(double)(seed & UINT32_MAX), (double)(seed >> 32)}, 2,
                          &c->out[0]);
    }
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: of %s, one of f16, bf16, f32, f64 expected",
                   c->name, hg_element_name(c->options.type));
}
