/* Typed buffers and the generic executor: each call is a small whole-array program, built once and cached by its hash. */
#include "isa/isa.h"
#include "runtime/runtime.h"
#include <hologram/builder.h>
#include <hologram/executor.h>
#include <math.h>
#include <string.h>

hg_status hg_allocate_typed(hg_backend *b, hg_type type, uint64_t count, hg_typed_buffer *buffer) {
    uint64_t bytes, size = hg_type_size_bytes(type);
    if (!buffer) return hg_null_argument("buffer");
    if (!size) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is no type", (int)type);
    if (!hg_mul_u64(count, size, &bytes))
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu elements of %s", (unsigned long long)count, hg_type_name(type));
    *buffer = (hg_typed_buffer){{0}, type, count};
    return hg_backend_allocate_buffer(b, bytes, &buffer->buffer);
}

hg_status hg_free_typed(hg_backend *b, hg_typed_buffer buffer) { return hg_backend_free_buffer(b, buffer.buffer); }

static hg_status fits(hg_typed_buffer buffer, hg_type type, uint64_t count) {
    if (type != buffer.type)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the buffer holds %s, given %s", hg_type_name(buffer.type), hg_type_name(type));
    if (count != buffer.count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid buffer size: expected %llu, got %llu", (unsigned long long)buffer.count,
                       (unsigned long long)count);
    return HG_OK;
}

hg_status hg_copy_typed_to(hg_backend *b, hg_typed_buffer buffer, hg_type type, const void *data, uint64_t count) {
    HG_TRY(fits(buffer, type, count));
    return hg_buffer_write(b, buffer.buffer, 0, data, count * hg_type_size_bytes(type));
}

hg_status hg_copy_typed_from(hg_backend *b, hg_typed_buffer buffer, hg_type type, void *data, uint64_t count) {
    HG_TRY(fits(buffer, type, count));
    return hg_buffer_read(b, buffer.buffer, 0, data, count * hg_type_size_bytes(type));
}

/* ---- numbers of C types and halves as doubles ---- */

/* Rounds a double to a 16-bit float with `fraction` fraction bits, once, to nearest even. */
static uint16_t round_to_half(double value, int fraction) {
    int exponent_bits = 15 - fraction, bias = (1 << (exponent_bits - 1)) - 1, exponent;
    uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction);
    if (isnan(value)) return (uint16_t)(infinity | 1 << (fraction - 1));
    if (isinf(value)) return sign | infinity;
    double magnitude = fabs(value);
    if (magnitude == 0) return sign;
    (void)frexp(magnitude, &exponent); /* magnitude = m * 2^exponent, 0.5 <= m < 1 */
    int lowest = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    double units = nearbyint(ldexp(magnitude, fraction - lowest));                 /* exact before the rounding */
    uint32_t bits = (uint32_t)units + ((uint32_t)(lowest + bias - 1) << fraction); /* a carry moves into the exponent */
    return (uint16_t)(sign | (bits >= infinity ? infinity : bits));
}

static double half_to_double(uint16_t bits, int fraction) {
    int exponent_bits = 15 - fraction, bias = (1 << (exponent_bits - 1)) - 1, exponent = bits >> fraction & ((1 << exponent_bits) - 1);
    int mantissa = bits & ((1 << fraction) - 1);
    double magnitude;
    if (exponent == (1 << exponent_bits) - 1)
        magnitude = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(mantissa, 1 - bias - fraction);
    else
        magnitude = ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static hg_status not_plain(hg_type type) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s has no C number: use cvt in a program", hg_type_name(type));
}

/* Truncates and saturates to a range of 64-bit integers; NaN gives 0. */
static uint64_t to_integer(double value, bool is_signed, uint64_t bits) {
    double limit = ldexp(1.0, (int)bits - is_signed); /* first value above the range */
    if (isnan(value)) return 0;
    if (value >= limit) return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    if (is_signed) return value <= -limit ? (uint64_t)0 - (UINT64_C(1) << (bits - 1)) : (uint64_t)(int64_t)value;
    return value <= 0 ? 0 : (uint64_t)value;
}

hg_status hg_type_from_f64(hg_type type, double value, void *bytes) {
    uint64_t size = hg_type_size_bytes(type);
    float single = (float)value;
    if (!bytes) return hg_null_argument("bytes");
    if (!size || size > 8) return not_plain(type);
    if (type == HG_TYPE_F64)
        memcpy(bytes, &value, 8);
    else if (type == HG_TYPE_F32)
        memcpy(bytes, &single, 4);
    else if (hg_type_is_float(type))
        memcpy(bytes, &(uint16_t){round_to_half(value, type == HG_TYPE_F16 ? 10 : 7)}, 2);
    else
        memcpy(bytes, &(uint64_t){to_integer(value, hg_type_is_signed(type), size * 8)}, (size_t)size);
    return HG_OK;
}

hg_status hg_type_to_f64(hg_type type, const void *bytes, double *value) {
    uint64_t size = hg_type_size_bytes(type), bits = 0;
    float single;
    if (!bytes) return hg_null_argument("bytes");
    if (!value) return hg_null_argument("value");
    if (!size || size > 8) return not_plain(type);
    memcpy(&bits, bytes, (size_t)size);
    memcpy(&single, &bits, 4);
    if (type == HG_TYPE_F64)
        memcpy(value, &bits, 8);
    else if (type == HG_TYPE_F32)
        *value = (double)single;
    else if (hg_type_is_float(type))
        *value = half_to_double((uint16_t)bits, type == HG_TYPE_F16 ? 10 : 7);
    else if (hg_type_is_signed(type))
        *value = (double)(int64_t)((bits ^ (UINT64_C(1) << (size * 8 - 1))) - (UINT64_C(1) << (size * 8 - 1)));
    else
        *value = (double)bits;
    return HG_OK;
}

/* ---- the executor ---- */

static hg_status find_operation(const char *name, bool (*member)(hg_opname), hg_opname *operation) {
    if (name && hg_opname_from_text(name, strlen(name), operation) && member(*operation)) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%s' is no operation of this kind", name ? name : "(null)");
}

/* Runs the one instruction that was built, with the buffers' handles in r1, r2, r3 and the count in r4. */
static hg_status run(hg_backend *b, hg_builder *builder, const hg_typed_buffer *buffers, int count, uint64_t n) {
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_status status = params && builder ? hg_builder_build(builder, NULL, &program) : hg_fail_memory();
    for (int i = 0; i < count && status == HG_OK; i++)
        status = hg_params_set_register_u64(params, (uint8_t)(1 + i), buffers[i].buffer.handle);
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
    if (a.type != b.type) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "operands are %s and %s", hg_type_name(a.type), hg_type_name(b.type));
    if (a.count != b.count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid buffer size: expected %llu, got %llu", (unsigned long long)a.count,
                       (unsigned long long)b.count);
    return HG_OK;
}

static hg_builder *begin(const char *name) { return hg_builder_create(name); }

hg_status hg_execute_unary(hg_backend *b, const char *operation, hg_typed_buffer input, hg_typed_buffer output) {
    hg_opname name;
    HG_TRY(find_operation(operation, hg_opname_is_map, &name));
    HG_TRY(same_kind(input, output));
    hg_builder *builder = begin("execute_unary");
    hg_build_parallel_map(builder, input.type, hg_array(2), hg_array(1), operation, hg_count_reg(4));
    return run(b, builder, (hg_typed_buffer[]){input, output}, 2, input.count);
}

hg_status hg_execute_binary(hg_backend *b, const char *operation, hg_typed_buffer lhs, hg_typed_buffer rhs, hg_typed_buffer output) {
    hg_opname name;
    HG_TRY(find_operation(operation, hg_opname_is_binary, &name));
    HG_TRY(same_kind(lhs, rhs));
    HG_TRY(same_kind(lhs, output));
    hg_builder *builder = begin("execute_binary");
    hg_build_parallel_map_binary(builder, lhs.type, hg_array(3), hg_array(1), hg_array(2), operation, hg_count_reg(4));
    return run(b, builder, (hg_typed_buffer[]){lhs, rhs, output}, 3, lhs.count);
}

hg_status hg_execute_reduce(hg_backend *b, const char *operation, hg_typed_buffer input, hg_typed_buffer output) {
    hg_opname name;
    HG_TRY(find_operation(operation, hg_opname_is_reduce, &name));
    if (input.type != output.type)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "operands are %s and %s", hg_type_name(input.type), hg_type_name(output.type));
    if (output.count < 1) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "Invalid buffer size: expected 1, got 0");
    hg_builder *builder = begin("execute_reduce");
    hg_build_parallel_reduce_mem(builder, input.type, hg_addr_buffer_start(2), hg_array(1), operation, hg_count_reg(4));
    return run(b, builder, (hg_typed_buffer[]){input, output}, 2, input.count);
}
