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

hg_status hg_tensor_full(hg_executor *executor, hg_element type, double value,
                         const uint64_t *shape, uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    hg_ops_options o = hg_ops_defaults();
    o.type = type;
    o.sizes = shape;
    o.size_count = ndim;
    o.numbers[0] = value;
    if (!tensor) return hg_null_argument("tensor");
    return hg_ops_call(executor, HG_OPS_ARANGE, NULL, 0, &o, tensor, 1);
}

hg_status hg_tensor_ones(hg_executor *executor, hg_element type, const uint64_t *shape,
                         uint32_t ndim, hg_tensor **tensor) {
    HG_ENTRY;
    return hg_tensor_full(executor, type, 1, shape, ndim, tensor);
}

hg_status hg_tensor_to(const hg_tensor *t, hg_executor *executor, hg_tensor **result) {
    HG_ENTRY;
    tensor_state *state;
    if (!t || !result) return hg_null_argument(t ? "result" : "tensor");
    *result = NULL;
    HG_TRY(tensor_state_of(executor, &state));
    if (t->storage->state == state || !t->storage->state) {
        HG_TRY(tensor_place(t->storage, state));
        return tensor_alias(t, result);
    }
    uint64_t numel = tensor_numel(t->shape, t->rank);
    void *data = hg_alloc((size_t)(numel * hg_element_size(t->type)) + 1);
    if (!data) return hg_fail_memory();
    hg_status status = hg_tensor_to_host(t, data, numel);
    if (status == HG_OK)
        status = hg_tensor_from_host(executor, t->type, data, numel, t->shape, t->rank, result);
    hg_free(data);
    return status;
}
