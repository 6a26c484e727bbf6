/* 64-bit arithmetic of the device form: u64, or pairs of u32 where the target has none. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

device_wide dwide(const device *d, kir_builder *b, uint64_t n) {
    if (d->i64) return (device_wide){kir_const(b, HG_TYPE_U64, n), NULL};
    kir_value *l = u32(b, n & 0xFFFFFFFF);
    return (device_wide){l, u32(b, n >> 32)};
}

device_wide dwide_get(kir_builder *b, kir_var *const vars[2]) {
    device_wide x = {kir_get(b, vars[0]), NULL};
    if (x.l->type == HG_TYPE_U32) x.h = kir_get(b, vars[1]);
    return x;
}

device_wide dwide_of_u32(const device *d, kir_builder *b, kir_value *x) {
    if (d->i64) return (device_wide){kir_convert(b, KIR_ZEXT, HG_TYPE_U64, x), NULL};
    return (device_wide){x, u32(b, 0)};
}

kir_value *dwide_low(const device *d, kir_builder *b, device_wide x) {
    return d->i64 ? kir_convert(b, KIR_TRUNC, HG_TYPE_U32, x.l) : x.l;
}

kir_value *dwide_high(const device *d, kir_builder *b, device_wide x) {
    return d->i64 ? kir_convert(b, KIR_TRUNC, HG_TYPE_U32, shift_by(b, KIR_LSHR, x.l, 32)) : x.h;
}

device_wide dwide_add(const device *d, kir_builder *b, device_wide x, device_wide y) {
    kir_value *l = kir_add(b, x.l, y.l);
    if (d->i64) return (device_wide){l, NULL};
    kir_value *carry = kir_select(b, kir_binary(b, KIR_CMP_ULT, l, x.l), u32(b, 1), u32(b, 0));
    return (device_wide){l, kir_add(b, kir_add(b, x.h, y.h), carry)};
}

device_wide dwide_select(kir_builder *b, kir_value *c, device_wide x, device_wide y) {
    device_wide r = {kir_select(b, c, x.l, y.l), NULL};
    if (x.h) r.h = kir_select(b, c, x.h, y.h);
    return r;
}

kir_value *dwide_below(const device *d, kir_builder *b, device_wide x, device_wide y) {
    kir_value *low = kir_binary(b, KIR_CMP_ULT, x.l, y.l);
    if (d->i64) return low;
    return kir_binary(b, KIR_OR, kir_binary(b, KIR_CMP_ULT, x.h, y.h),
                      kir_binary(b, KIR_AND, kir_binary(b, KIR_CMP_EQ, x.h, y.h), low));
}

kir_value *dwide_equal(const device *d, kir_builder *b, device_wide x, device_wide y) {
    kir_value *low = kir_binary(b, KIR_CMP_EQ, x.l, y.l);
    return d->i64 ? low : kir_binary(b, KIR_AND, low, kir_binary(b, KIR_CMP_EQ, x.h, y.h));
}

device_wide dwide_mul32(const device *d, kir_builder *b, device_wide x, kir_value *y) {
    if (d->i64)
        return (device_wide){kir_mul(b, x.l, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, y)), NULL};
    kir_value *l = kir_mul(b, x.l, y);
    return (device_wide){l, kir_add(b, kir_binary(b, KIR_MULHI_U, x.l, y), kir_mul(b, x.h, y))};
}

uint8_t dwide_types(const device *d, uint8_t *types) {
    types[0] = types[1] = HG_TYPE_U32;
    if (!d->i64) return 2;
    types[0] = HG_TYPE_U64;
    return 1;
}

uint8_t dwide_args(device_wide x, kir_value **args) {
    args[0] = x.l;
    if (!x.h) return 1;
    args[1] = x.h;
    return 2;
}

device_wide dwide_param(const device *d, kir_builder *b, uint8_t *next) {
    device_wide x = {kir_param(b, (*next)++), NULL};
    if (!d->i64) x.h = kir_param(b, (*next)++);
    return x;
}

kir_value *doffset(const device *d, device_wide x) {
    (void)d;
    return x.l; /* the low half where offsets are u32 */
}

kir_value *doffset_const(const device *d, kir_builder *b, uint64_t n) {
    return kir_const(b, d->i64 ? HG_TYPE_U64 : HG_TYPE_U32, n);
}

kir_value *doffset_of_u32(const device *d, kir_builder *b, kir_value *x) {
    return d->i64 ? kir_convert(b, KIR_ZEXT, HG_TYPE_U64, x) : x;
}
