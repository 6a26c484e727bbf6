/* Functions of single element-wise operations on hg::tensor, included by hologram.hpp. Generated: written by tools/generate from operations.def. */
/** A + b. */
template <class T> tensor<T> add(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_ADD, {a.get(), b.get()});
}
/** A - b. */
template <class T> tensor<T> sub(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_SUB, {a.get(), b.get()});
}
/** A * b. */
template <class T> tensor<T> mul(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_MUL, {a.get(), b.get()});
}
/** A / b; of integers as floats. */
template <class T> tensor<T> div(const tensor<T> &a, const tensor<T> &b) {
    static_assert(is_real<T> || is_complex<T>, "div is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_DIV, {a.get(), b.get()});
}
/** A / b toward minus infinity; integers divided by 0 are a fault. */
template <class T> tensor<T> floor_divide(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_FLOOR_DIVIDE, {a.get(), b.get()});
}
/** A - floor(a / b) * b, with the sign of b. */
template <class T> tensor<T> remainder(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_REMAINDER, {a.get(), b.get()});
}
/** A to the power b; integers wrap, and are 0 for a negative b unless a is 1 or -1. */
template <class T> tensor<T> pow(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_POW, {a.get(), b.get()});
}
/** The larger; NaN where one is NaN. */
template <class T> tensor<T> maximum(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_MAXIMUM, {a.get(), b.get()});
}
/** The smaller; NaN where one is NaN. */
template <class T> tensor<T> minimum(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_MINIMUM, {a.get(), b.get()});
}
/** Angle of the point (b, a) in radians. */
template <class T> tensor<T> atan2(const tensor<T> &a, const tensor<T> &b) {
    static_assert(is_real<T>, "atan2 is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ATAN2, {a.get(), b.get()});
}
/** Square root of a * a + b * b without overflow. */
template <class T> tensor<T> hypot(const tensor<T> &a, const tensor<T> &b) {
    static_assert(is_real<T>, "hypot is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_HYPOT, {a.get(), b.get()});
}
/** Log(exp(a) + exp(b)) without overflow. */
template <class T> tensor<T> logaddexp(const tensor<T> &a, const tensor<T> &b) {
    static_assert(is_real<T>, "logaddexp is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_LOGADDEXP, {a.get(), b.get()});
}
/** A with the sign of b. */
template <class T> tensor<T> copysign(const tensor<T> &a, const tensor<T> &b) {
    static_assert(is_real<T>, "copysign is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_COPYSIGN, {a.get(), b.get()});
}
/** A == b, as bool. */
template <class T> tensor<bool> equal(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_EQUAL, {a.get(), b.get()});
}
/** A != b, as bool. */
template <class T> tensor<bool> not_equal(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_NOT_EQUAL, {a.get(), b.get()});
}
/** A < b, as bool. */
template <class T> tensor<bool> less(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_LESS, {a.get(), b.get()});
}
/** A <= b, as bool. */
template <class T> tensor<bool> less_equal(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_LESS_EQUAL, {a.get(), b.get()});
}
/** A > b, as bool. */
template <class T> tensor<bool> greater(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_GREATER, {a.get(), b.get()});
}
/** A >= b, as bool. */
template <class T> tensor<bool> greater_equal(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_GREATER_EQUAL, {a.get(), b.get()});
}
/** Whether both are not 0. */
template <class T> tensor<bool> logical_and(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_LOGICAL_AND, {a.get(), b.get()});
}
/** Whether one is not 0. */
template <class T> tensor<bool> logical_or(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_LOGICAL_OR, {a.get(), b.get()});
}
/** Whether exactly one is not 0. */
template <class T> tensor<bool> logical_xor(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<bool>(HG_OPS_LOGICAL_XOR, {a.get(), b.get()});
}
/** Whether it is 0. */
template <class T> tensor<bool> logical_not(const tensor<T> &a) {
    return tensor<T>::template call<bool>(HG_OPS_LOGICAL_NOT, {a.get()});
}
/** A & b. */
template <class T> tensor<T> bitwise_and(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_BITWISE_AND, {a.get(), b.get()});
}
/** A | b. */
template <class T> tensor<T> bitwise_or(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_BITWISE_OR, {a.get(), b.get()});
}
/** A ^ b. */
template <class T> tensor<T> bitwise_xor(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_BITWISE_XOR, {a.get(), b.get()});
}
/** ~a. */
template <class T> tensor<T> bitwise_invert(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_BITWISE_INVERT, {a.get()});
}
/** A << b; 0 where b is not below the width. */
template <class T> tensor<T> bitwise_left_shift(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_BITWISE_LEFT_SHIFT, {a.get(), b.get()});
}
/** A >> b, arithmetic for signed types. */
template <class T> tensor<T> bitwise_right_shift(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_BITWISE_RIGHT_SHIFT, {a.get(), b.get()});
}
/** |a|. */
template <class T> tensor<part_of<T>> abs(const tensor<T> &a) {
    return tensor<T>::template call<part_of<T>>(HG_OPS_ABS, {a.get()});
}
/** -a. */
template <class T> tensor<T> neg(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_NEG, {a.get()});
}
/** A, copied. */
template <class T> tensor<T> positive(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_POSITIVE, {a.get()});
}
/** 1, 0 or -1; NaN of NaN. */
template <class T> tensor<T> sign(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_SIGN, {a.get()});
}
/** A * a. */
template <class T> tensor<T> square(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_SQUARE, {a.get()});
}
/** 1 / a. */
template <class T> tensor<T> reciprocal(const tensor<T> &a) {
    static_assert(is_real<T> || is_complex<T>, "reciprocal is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_RECIPROCAL, {a.get()});
}
/** The least whole number not below a. */
template <class T> tensor<T> ceil(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_CEIL, {a.get()});
}
/** The greatest whole number not above a. */
template <class T> tensor<T> floor(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_FLOOR, {a.get()});
}
/** The nearest whole number, ties to even. */
template <class T> tensor<T> round(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_ROUND, {a.get()});
}
/** A without its fraction. */
template <class T> tensor<T> trunc(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_TRUNC, {a.get()});
}
/** Whether the sign bit is set, of zeros and NaNs too. */
template <class T> tensor<bool> signbit(const tensor<T> &a) {
    return tensor<T>::template call<bool>(HG_OPS_SIGNBIT, {a.get()});
}
/** Whether it is NaN. */
template <class T> tensor<bool> isnan(const tensor<T> &a) {
    return tensor<T>::template call<bool>(HG_OPS_ISNAN, {a.get()});
}
/** Whether it is an infinity. */
template <class T> tensor<bool> isinf(const tensor<T> &a) {
    return tensor<T>::template call<bool>(HG_OPS_ISINF, {a.get()});
}
/** Whether it is a number. */
template <class T> tensor<bool> isfinite(const tensor<T> &a) {
    return tensor<T>::template call<bool>(HG_OPS_ISFINITE, {a.get()});
}
/** Square root. */
template <class T> tensor<T> sqrt(const tensor<T> &a) {
    static_assert(is_real<T>, "sqrt is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_SQRT, {a.get()});
}
/** 1 / square root. */
template <class T> tensor<T> rsqrt(const tensor<T> &a) {
    static_assert(is_real<T>, "rsqrt is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_RSQRT, {a.get()});
}
/** Cube root. */
template <class T> tensor<T> cbrt(const tensor<T> &a) {
    static_assert(is_real<T>, "cbrt is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_CBRT, {a.get()});
}
/** E to the power a. */
template <class T> tensor<T> exp(const tensor<T> &a) {
    static_assert(is_real<T>, "exp is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_EXP, {a.get()});
}
/** 2 to the power a. */
template <class T> tensor<T> exp2(const tensor<T> &a) {
    static_assert(is_real<T>, "exp2 is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_EXP2, {a.get()});
}
/** 10 to the power a. */
template <class T> tensor<T> exp10(const tensor<T> &a) {
    static_assert(is_real<T>, "exp10 is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_EXP10, {a.get()});
}
/** Exp(a) - 1. */
template <class T> tensor<T> expm1(const tensor<T> &a) {
    static_assert(is_real<T>, "expm1 is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_EXPM1, {a.get()});
}
/** Natural logarithm. */
template <class T> tensor<T> log(const tensor<T> &a) {
    static_assert(is_real<T>, "log is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_LOG, {a.get()});
}
/** Logarithm to base 2. */
template <class T> tensor<T> log2(const tensor<T> &a) {
    static_assert(is_real<T>, "log2 is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_LOG2, {a.get()});
}
/** Logarithm to base 10. */
template <class T> tensor<T> log10(const tensor<T> &a) {
    static_assert(is_real<T>, "log10 is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_LOG10, {a.get()});
}
/** Log(1 + a). */
template <class T> tensor<T> log1p(const tensor<T> &a) {
    static_assert(is_real<T>, "log1p is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_LOG1P, {a.get()});
}
/** Sine of radians. */
template <class T> tensor<T> sin(const tensor<T> &a) {
    static_assert(is_real<T>, "sin is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_SIN, {a.get()});
}
/** Cosine of radians. */
template <class T> tensor<T> cos(const tensor<T> &a) {
    static_assert(is_real<T>, "cos is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_COS, {a.get()});
}
/** Tangent of radians. */
template <class T> tensor<T> tan(const tensor<T> &a) {
    static_assert(is_real<T>, "tan is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_TAN, {a.get()});
}
/** Sine of pi a. */
template <class T> tensor<T> sinpi(const tensor<T> &a) {
    static_assert(is_real<T>, "sinpi is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_SINPI, {a.get()});
}
/** Cosine of pi a. */
template <class T> tensor<T> cospi(const tensor<T> &a) {
    static_assert(is_real<T>, "cospi is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_COSPI, {a.get()});
}
/** Arc sine. */
template <class T> tensor<T> asin(const tensor<T> &a) {
    static_assert(is_real<T>, "asin is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ASIN, {a.get()});
}
/** Arc cosine. */
template <class T> tensor<T> acos(const tensor<T> &a) {
    static_assert(is_real<T>, "acos is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ACOS, {a.get()});
}
/** Arc tangent. */
template <class T> tensor<T> atan(const tensor<T> &a) {
    static_assert(is_real<T>, "atan is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ATAN, {a.get()});
}
/** Hyperbolic sine. */
template <class T> tensor<T> sinh(const tensor<T> &a) {
    static_assert(is_real<T>, "sinh is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_SINH, {a.get()});
}
/** Hyperbolic cosine. */
template <class T> tensor<T> cosh(const tensor<T> &a) {
    static_assert(is_real<T>, "cosh is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_COSH, {a.get()});
}
/** Hyperbolic tangent. */
template <class T> tensor<T> tanh(const tensor<T> &a) {
    static_assert(is_real<T>, "tanh is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_TANH, {a.get()});
}
/** Inverse hyperbolic sine. */
template <class T> tensor<T> asinh(const tensor<T> &a) {
    static_assert(is_real<T>, "asinh is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ASINH, {a.get()});
}
/** Inverse hyperbolic cosine. */
template <class T> tensor<T> acosh(const tensor<T> &a) {
    static_assert(is_real<T>, "acosh is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ACOSH, {a.get()});
}
/** Inverse hyperbolic tangent. */
template <class T> tensor<T> atanh(const tensor<T> &a) {
    static_assert(is_real<T>, "atanh is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ATANH, {a.get()});
}
/** Error function. */
template <class T> tensor<T> erf(const tensor<T> &a) {
    static_assert(is_real<T>, "erf is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ERF, {a.get()});
}
/** 1 - erf(a). */
template <class T> tensor<T> erfc(const tensor<T> &a) {
    static_assert(is_real<T>, "erfc is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_ERFC, {a.get()});
}
/** 1 / (1 + exp(-a)). */
template <class T> tensor<T> sigmoid(const tensor<T> &a) {
    static_assert(is_real<T>, "sigmoid is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_SIGMOID, {a.get()});
}
/** A where it is above 0, else 0. */
template <class T> tensor<T> relu(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_RELU, {a.get()});
}
/** A / 2 * (1 + erf(a / sqrt 2)). */
template <class T> tensor<T> gelu(const tensor<T> &a) {
    static_assert(is_real<T>, "gelu is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_GELU, {a.get()});
}
/** Gelu by its formula with tanh. */
template <class T> tensor<T> gelu_tanh(const tensor<T> &a) {
    static_assert(is_real<T>, "gelu_tanh is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_GELU_TANH, {a.get()});
}
/** A * sigmoid(a). */
template <class T> tensor<T> silu(const tensor<T> &a) {
    static_assert(is_real<T>, "silu is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_SILU, {a.get()});
}
/** Log(1 + exp(a)) without overflow. */
template <class T> tensor<T> softplus(const tensor<T> &a) {
    static_assert(is_real<T>, "softplus is of floats: as<float>() first");
    return tensor<T>::template call<T>(HG_OPS_SOFTPLUS, {a.get()});
}
/** A, not below b and not above c. */
template <class T> tensor<T> clip(const tensor<T> &a, const tensor<T> &b, const tensor<T> &c) {
    return tensor<T>::template call<T>(HG_OPS_CLIP, {a.get(), b.get(), c.get()});
}
/** A with its imaginary part negated. */
template <class T> tensor<T> conj(const tensor<T> &a) {
    return tensor<T>::template call<T>(HG_OPS_CONJ, {a.get()});
}
/** Angle of a in radians. */
template <class T> tensor<part_of<T>> angle(const tensor<T> &a) {
    static_assert(is_real<T> || is_complex<T>, "angle is of floats: as<float>() first");
    return tensor<T>::template call<part_of<T>>(HG_OPS_ANGLE, {a.get()});
}
