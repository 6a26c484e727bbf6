/* Typed buffers and the generic executor: each call is a small whole-array program, built once and
 * cached by its hash. */
#include "isa/isa.h"
#include "runtime/memory.h"
#include <hologram/builder.h>
#include <hologram/executor.h>
#include <string.h>

hg_status hg_allocate_typed(hg_backend *b, hg_type type, uint64_t count, hg_typed_buffer *buffer) {
    HG_ENTRY;
    uint64_t bytes, size = hg_type_size_bytes(type);
    if (!buffer) return hg_null_argument("buffer");
    if (!size) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is no type", (int)type);
    if (!hg_mul_u64(count, size, &bytes))
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu elements of %s", (unsigned long long)count,
                       hg_type_name(type));
    *buffer = (hg_typed_buffer){{0}, type, count};
    return hg_backend_allocate_buffer(b, bytes, &buffer->buffer);
}

hg_status hg_free_typed(hg_backend *b, hg_typed_buffer buffer) {
    HG_ENTRY;
    return hg_backend_free_buffer(b, buffer.buffer);
}

static hg_status fits(hg_typed_buffer buffer, hg_type type, uint64_t count) {
    if (type != buffer.type)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the buffer holds %s, given %s",
                       hg_type_name(buffer.type), hg_type_name(type));
    if (count != buffer.count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid buffer size: expected %llu, got %llu",
                       (unsigned long long)buffer.count, (unsigned long long)count);
    return HG_OK;
}

hg_status hg_copy_typed_to(hg_backend *b, hg_typed_buffer buffer, hg_type type, const void *data,
                           uint64_t count) {
    HG_ENTRY;
    HG_TRY(fits(buffer, type, count));
    return hg_buffer_write(b, buffer.buffer, 0, data, count * hg_type_size_bytes(type));
}

hg_status hg_copy_typed_from(hg_backend *b, hg_typed_buffer buffer, hg_type type, void *data,
                             uint64_t count) {
    HG_ENTRY;
    HG_TRY(fits(buffer, type, count));
    return hg_buffer_read(b, buffer.buffer, 0, data, count * hg_type_size_bytes(type));
}

/* ---- the executor ---- */

static hg_status find_operation(const char *name, bool (*member)(hg_opname), hg_opname *operation) {
    if (name && hg_opname_from_text(name, strlen(name), operation) && member(*operation))
        return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%s' is no operation of this kind",
                   name ? name : "(null)");
}

/* Runs the one instruction that was built, with the buffers' handles in r1, r2, r3 and the count in
 * r4. */
static hg_status run(hg_backend *b, hg_builder *builder, const hg_typed_buffer *buffers, int count,
                     uint64_t n) {
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_status status = !b                  ? hg_null_argument("backend")
                       : params && builder ? HG_OK
                                           : hg_fail_memory();
    if (status == HG_OK) status = hg_builder_build(builder, NULL, &program);
    for (int i = 0; i < count && status == HG_OK; i++) {
        uint64_t handle;
        status = hg_handle_take(b, false, buffers[i].buffer.handle, &handle);
        if (status == HG_OK) status = hg_params_set_register_u64(params, (uint8_t)(1 + i), handle);
    }
    if (status == HG_OK) status = hg_params_set_register_u64(params, 4, n);
    if (status == HG_OK) status = hg_backend_execute_program_with_params(b, program, NULL, params);
    hg_error kept = *hg_error_record();
    hg_program_release(program);
    hg_params_destroy(params);
    hg_builder_destroy(builder);
    *hg_error_record() = kept;
    return status;
}

static hg_status same_kind(hg_typed_buffer a, hg_typed_buffer b) {
    if (a.type != b.type)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "operands are %s and %s", hg_type_name(a.type),
                       hg_type_name(b.type));
    if (a.count != b.count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid buffer size: expected %llu, got %llu",
                       (unsigned long long)a.count, (unsigned long long)b.count);
    return HG_OK;
}

static hg_builder *begin(const char *name) { return hg_builder_create(name); }

hg_status hg_execute_unary(hg_backend *b, const char *operation, hg_typed_buffer input,
                           hg_typed_buffer output) {
    HG_ENTRY;
    hg_opname name;
    HG_TRY(find_operation(operation, hg_opname_is_map, &name));
    HG_TRY(same_kind(input, output));
    hg_builder *builder = begin("execute_unary");
    hg_build_parallel_map(builder, input.type, hg_array(2), hg_array(1), operation,
                          hg_count_reg(4));
    return run(b, builder, (hg_typed_buffer[]){input, output}, 2, input.count);
}

hg_status hg_execute_binary(hg_backend *b, const char *operation, hg_typed_buffer lhs,
                            hg_typed_buffer rhs, hg_typed_buffer output) {
    HG_ENTRY;
    hg_opname name;
    HG_TRY(find_operation(operation, hg_opname_is_binary, &name));
    HG_TRY(same_kind(lhs, rhs));
    HG_TRY(same_kind(lhs, output));
    hg_builder *builder = begin("execute_binary");
    hg_build_parallel_map_binary(builder, lhs.type, hg_array(3), hg_array(1), hg_array(2),
                                 operation, hg_count_reg(4));
    return run(b, builder, (hg_typed_buffer[]){lhs, rhs, output}, 3, lhs.count);
}

hg_status hg_execute_reduce(hg_backend *b, const char *operation, hg_typed_buffer input,
                            hg_typed_buffer output) {
    HG_ENTRY;
    hg_opname name;
    HG_TRY(find_operation(operation, hg_opname_is_reduce, &name));
    if (input.type != output.type)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "operands are %s and %s",
                       hg_type_name(input.type), hg_type_name(output.type));
    if (output.count < 1)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid buffer size: expected 1, got 0");
    hg_builder *builder = begin("execute_reduce");
    hg_build_parallel_reduce_mem(builder, input.type, hg_addr_buffer_start(2), hg_array(1),
                                 operation, hg_count_reg(4));
    return run(b, builder, (hg_typed_buffer[]){input, output}, 2, input.count);
}
