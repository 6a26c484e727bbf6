/* One lane program over storages, launched at once.
 * Must not know: what it calculates. */
#include "runtime/binding.h"
#include "tensor/tensor.h"
#include <string.h>

enum { MOST_ARGS = 64, FEW_ARGS = 12 };

/* Values as hg_params has them. Names are not copied: they live as long as the library. Bytes
 * behind the first eight are not looked at: no type of an argument has more. */
static void put(hg_param_value *v, const char *name, hg_param_kind kind, uint8_t type,
                uint64_t value) {
    v->name = (char *)(uintptr_t)name;
    v->reg = 0;
    v->kind = (uint8_t)kind;
    v->type = type;
    v->constant = false;
    v->handle = kind == HG_PARAM_BUFFER ? value : 0;
    memcpy(v->bytes, &value, sizeof value);
}

hg_status tensor_launch(tensor_state *state, const tensor_work *work, const tensor_arg *args,
                        uint32_t arg_count, const tensor_target *targets, uint32_t target_count) {
    hg_param_value few[FEW_ARGS], *values = few; /* half a KiB each, and stacks may be small */
    uint32_t count = arg_count + target_count;
    if (count > MOST_ARGS)
        return hg_fail(HG_ERROR_INTERNAL, "%s has too many operands", work->operation);
    if (count > FEW_ARGS) values = hg_alloc(count * sizeof *values);
    if (!values) return hg_fail_memory();
    hg_params params = {.values = {values, count, count}};
    for (uint32_t i = 0; i < arg_count; i++) {
        const tensor_arg *a = &args[i];
        uint64_t word = a->number;
        if (a->kind == TENSOR_SCALAR) memcpy(&word, a->bytes, sizeof word);
        if (a->kind == TENSOR_ARRAY)
            put(&values[i], a->name, HG_PARAM_BUFFER, HG_TYPE_U64,
                a->tensor->storage->buffer.handle);
        else
            put(&values[i], a->name, HG_PARAM_SCALAR,
                a->kind == TENSOR_SIZE ? (uint8_t)HG_TYPE_U64 : a->type, word);
    }
    for (uint32_t i = 0; i < target_count; i++)
        put(&values[arg_count + i], targets[i].operand, HG_PARAM_BUFFER, HG_TYPE_U64,
            targets[i].storage->buffer.handle);
    hg_status status = hg_backend_execute_program_with_params(state->backend, work->program, NULL,
                                                              &params);
    if (values != few) hg_free(values);
    return status;
}
