/* Tensors in C++17: values with operators over the C interface. A tensor releases itself; copies
 * share elements. Without HOLOGRAM_EXCEPTIONS a call that fails gives an empty tensor, and what is
 * calculated from that is empty too: ask ok() where it matters, hg::last_error() says why of the
 * last one. With HOLOGRAM_EXCEPTIONS defined before this header it throws hg::error. */
#ifndef HOLOGRAM_HPP
#define HOLOGRAM_HPP

#include <complex>
#include <hologram/ops.h>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(HOLOGRAM_EXCEPTIONS)
#include <stdexcept>
#endif

namespace hg {

using shape = std::vector<uint64_t>;

#if defined(HOLOGRAM_EXCEPTIONS)
/** What a call that failed throws. */
struct error : std::runtime_error {
    explicit error(hg_status s) : std::runtime_error(hg_last_error_text()), status(s) {}
    hg_status status;
};
#endif
/** "Invalid argument: …" of this thread's last failure. */
inline const char *last_error() { return hg_last_error_text(); }
/** Throws where exceptions are wanted. */
inline bool succeeded(hg_status status) {
#if defined(HOLOGRAM_EXCEPTIONS)
    if (status != HG_OK) throw error(status);
#endif
    return status == HG_OK;
}

/** Halves: their bits. */
struct f16 {
    uint16_t bits;
};
struct bf16 {
    uint16_t bits;
};

/** The element type of a C++ type. */
template <class T> struct element_of;
// clang-format off
template <> struct element_of<bool> { static constexpr hg_element value = HG_ELEMENT_BOOL; };
template <> struct element_of<int8_t> { static constexpr hg_element value = HG_TYPE_I8; };
template <> struct element_of<int16_t> { static constexpr hg_element value = HG_TYPE_I16; };
template <> struct element_of<int32_t> { static constexpr hg_element value = HG_TYPE_I32; };
template <> struct element_of<int64_t> { static constexpr hg_element value = HG_TYPE_I64; };
template <> struct element_of<uint8_t> { static constexpr hg_element value = HG_TYPE_U8; };
template <> struct element_of<uint16_t> { static constexpr hg_element value = HG_TYPE_U16; };
template <> struct element_of<uint32_t> { static constexpr hg_element value = HG_TYPE_U32; };
template <> struct element_of<uint64_t> { static constexpr hg_element value = HG_TYPE_U64; };
template <> struct element_of<f16> { static constexpr hg_element value = HG_TYPE_F16; };
template <> struct element_of<bf16> { static constexpr hg_element value = HG_TYPE_BF16; };
template <> struct element_of<float> { static constexpr hg_element value = HG_TYPE_F32; };
template <> struct element_of<double> { static constexpr hg_element value = HG_TYPE_F64; };
template <> struct element_of<std::complex<float>> { static constexpr hg_element value = HG_ELEMENT_COMPLEX64; };
template <> struct element_of<std::complex<double>> { static constexpr hg_element value = HG_ELEMENT_COMPLEX128; };
// clang-format on
template <class T>
constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, f16> ||
                         std::is_same_v<T, bf16>;

template <class T>
constexpr bool is_complex = std::is_same_v<T, std::complex<float>> ||
                            std::is_same_v<T, std::complex<double>>;
// clang-format off
/** What the parts of T are: T where it is real. */
template <class T> struct part { using type = T; };
template <class T> struct part<std::complex<T>> { using type = T; };
// clang-format on
template <class T> using part_of = typename part<T>::type;
/** Complex numbers whose parts are T, or T. */
template <class T> using complex_of = std::complex<part_of<T>>;

/** A device with its memory. Moves, does not copy; tensors may outlive it, without elements. */
class executor {
  public:
    executor() = default;
    /** The best device; the CPU where there is no other. */
    static executor automatic() { return made(hg_executor_create_auto); }
    static executor cpu() { return made(hg_executor_create_cpu); }
    static executor on(hg_backend_type type) {
        executor e;
        succeeded(hg_executor_create_with_backend(type, &e.own));
        return e;
    }
    static executor from(const hg_config &config) {
        executor e;
        succeeded(hg_executor_create_from_config(&config, &e.own));
        return e;
    }
    executor(executor &&other) noexcept : own(std::exchange(other.own, nullptr)) {}
    executor &operator=(executor &&other) noexcept {
        std::swap(own, other.own);
        return *this;
    }
    ~executor() { hg_executor_destroy(own); }
    bool ok() const { return own != nullptr; }
    hg_executor *get() const { return own; }

  private:
    static executor made(hg_status (*make)(hg_executor **)) {
        executor e;
        succeeded(make(&e.own));
        return e;
    }
    hg_executor *own = nullptr;
};

/** Part of an axis, as Python's start:stop:step. */
struct slice {
    int64_t start = 0, stop = INT64_MAX, step = 1;
};

/** A tensor whose elements are T. */
template <class T> class tensor {
  public:
    static constexpr hg_element type = element_of<T>::value;

    tensor() = default;
    /** Takes over a tensor of the C interface; another type gives an empty one. */
    explicit tensor(hg_tensor *owned) : own(owned) {
        if (own && hg_tensor_type(own) != type) {
            hg_tensor_release(own);
            own = nullptr;
        }
    }
    /** Elements in C order. */
    tensor(const executor &e, const shape &s, const T *data, uint64_t count) {
        succeeded(hg_tensor_from_host(e.get(), type, data, count, s.data(), rank_of(s), &own));
    }
    tensor(const executor &e, const shape &s, std::initializer_list<T> data)
        : tensor(e, s, data.begin(), data.size()) {}
    /** One axis. */
    tensor(const executor &e, std::initializer_list<T> data)
        : tensor(e, shape{data.size()}, data.begin(), data.size()) {}
    static tensor full(const executor &e, const shape &s, double value) {
        return made([&](hg_tensor **t) {
            return hg_tensor_full(e.get(), type, value, s.data(), rank_of(s), t);
        });
    }
    static tensor zeros(const executor &e, const shape &s) { return full(e, s, 0); }
    static tensor ones(const executor &e, const shape &s) { return full(e, s, 1); }
    /** start, start + step, … before stop. */
    static tensor arange(const executor &e, double start, double stop, double step = 1) {
        return made(
            [&](hg_tensor **t) { return hg_tensor_arange(e.get(), type, start, stop, step, t); });
    }
    /** count numbers from start to stop, both included. */
    static tensor linspace(const executor &e, double start, double stop, uint64_t count) {
        return made([&](hg_tensor **t) {
            return hg_tensor_linspace(e.get(), type, start, stop, count, t);
        });
    }
    /** Uniform in [0, 1), the same for a seed on every device. */
    static tensor rand(const executor &e, const shape &s, uint64_t seed = 0) {
        static_assert(is_real<T>, "rand is of floats");
        return made([&](hg_tensor **t) {
            return hg_tensor_rand(e.get(), type, seed, s.data(), rank_of(s), t);
        });
    }

    /** An array of a .npy, .npz or safetensors file; of another type than T it is empty. */
    static tensor load(const executor &e, const char *path, const char *name = nullptr) {
        return made([&](hg_tensor **t) { return hg_tensor_load(e.get(), path, name, t); });
    }

    tensor(const tensor &other) : own(hg_tensor_retain(other.own)) {}
    tensor(tensor &&other) noexcept : own(std::exchange(other.own, nullptr)) {}
    tensor &operator=(tensor other) noexcept {
        std::swap(own, other.own);
        return *this;
    }
    ~tensor() { hg_tensor_release(own); }

    bool ok() const { return own != nullptr; }
    hg_tensor *get() const { return own; }
    uint32_t ndim() const { return hg_tensor_ndim(own); }
    uint64_t numel() const { return hg_tensor_numel(own); }
    shape extents() const {
        const uint64_t *s = hg_tensor_shape(own);
        return own ? shape(s, s + ndim()) : shape();
    }

    /** Elements in C order; empty after a failure. */
    std::vector<T> to_vector() const {
        static_assert(!std::is_same_v<T, bool>, "as<uint8_t>() first: std::vector<bool> has bits");
        std::vector<T> data(numel());
        if (!succeeded(hg_tensor_to_host(own, data.data(), data.size()))) data.clear();
        return data;
    }
    /** Of one element; 0 after a failure. */
    auto item() const {
        double value[2] = {0, 0};
        succeeded(hg_tensor_item_complex(own, value));
        if constexpr (is_complex<T>)
            return std::complex<double>(value[0], value[1]);
        else
            return value[0];
    }

    /* views */
    tensor operator[](int64_t index) const {
        return viewed([&](hg_tensor **v) { return hg_tensor_select(own, 0, index, v); });
    }
    tensor operator[](slice s) const { return along(0, s); }
    tensor along(int32_t dim, slice s) const {
        return viewed(
            [&](hg_tensor **v) { return hg_tensor_slice(own, dim, s.start, s.stop, s.step, v); });
    }
    tensor select(int32_t dim, int64_t index) const {
        return viewed([&](hg_tensor **v) { return hg_tensor_select(own, dim, index, v); });
    }
    tensor transpose() const {
        return viewed([&](hg_tensor **v) { return hg_tensor_transpose(own, v); });
    }
    tensor permute(const std::vector<int32_t> &order) const {
        return viewed([&](hg_tensor **v) {
            return hg_tensor_permute(own, order.data(), static_cast<uint32_t>(order.size()), v);
        });
    }
    tensor reshape(const shape &s) const {
        return viewed(
            [&](hg_tensor **v) { return hg_tensor_reshape(own, s.data(), rank_of(s), v); });
    }
    tensor broadcast_to(const shape &s) const {
        return viewed(
            [&](hg_tensor **v) { return hg_tensor_broadcast_to(own, s.data(), rank_of(s), v); });
    }
    tensor contiguous() const {
        return viewed([&](hg_tensor **v) { return hg_tensor_contiguous(own, v); });
    }
    /** On an executor: this one where it is there, else a copy. */
    tensor to(const executor &e) const {
        return viewed([&](hg_tensor **v) { return hg_tensor_to(own, e.get(), v); });
    }
    /** Writes another tensor's elements here, into a view too. */
    const tensor &assign(const tensor &from) const {
        if (own && from.own) succeeded(hg_ops_positive_into(home(), from.own, own));
        return *this;
    }

    /** Elements as another type. */
    template <class U> tensor<U> as() const {
        hg_ops_options options = hg_ops_defaults();
        options.type = tensor<U>::type;
        return call<U>(HG_OPS_CAST, {own}, &options);
    }

    tensor &operator+=(const tensor &b) { return into(HG_OPS_ADD, b); }
    tensor &operator-=(const tensor &b) { return into(HG_OPS_SUB, b); }
    tensor &operator*=(const tensor &b) { return into(HG_OPS_MUL, b); }

    /** Any operation of one result on this tensor's executor; of an empty input it is empty. */
    template <class U>
    static tensor<U> call(hg_operation operation, const hg_tensor *const *inputs, size_t count,
                          const hg_ops_options *options = nullptr) {
        hg_executor *e = nullptr;
        hg_tensor *result = nullptr;
        for (size_t i = 0; i < count; i++) {
            if (!inputs[i]) return {};
            if (!e) e = hg_tensor_executor(inputs[i]);
        }
        succeeded(
            hg_ops_call(e, operation, inputs, static_cast<uint32_t>(count), options, &result, 1));
        return tensor<U>(result);
    }
    template <class U>
    static tensor<U> call(hg_operation operation, std::initializer_list<const hg_tensor *> inputs,
                          const hg_ops_options *options = nullptr) {
        return call<U>(operation, inputs.begin(), inputs.size(), options);
    }
    /** A number beside it. */
    tensor like(double value) const {
        hg_tensor *t = nullptr;
        if (own) succeeded(hg_tensor_full(home(), type, value, nullptr, 0, &t));
        return tensor(t);
    }

  private:
    static uint32_t rank_of(const shape &s) { return static_cast<uint32_t>(s.size()); }
    hg_executor *home() const { return hg_tensor_executor(own); }
    template <class F> static tensor made(F make) {
        hg_tensor *t = nullptr;
        succeeded(make(&t));
        return tensor(t);
    }
    template <class F> tensor viewed(F make) const { return own ? made(make) : tensor(); }
    tensor &into(hg_operation operation, const tensor &b) {
        const hg_tensor *inputs[2] = {own, b.own};
        if (own && b.own)
            succeeded(hg_ops_call_into(home(), operation, inputs, 2, nullptr, &own, 1));
        return *this;
    }
    hg_tensor *own = nullptr;
};

/** Operations of this thread on an executor are recorded while it lives, and run at its end as one
 * array graph. */
class scope {
  public:
    explicit scope(const executor &e) { succeeded(hg_scope_begin(e.get(), &own)); }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    /** Runs it now; true: all went well. */
    bool end() { return succeeded(hg_scope_end(std::exchange(own, nullptr))); }
    ~scope() {
        hg_status status = hg_scope_end(own);
        (void)status; /* its results say that they failed */
    }

  private:
    hg_tensor_scope *own = nullptr;
};

#include <hologram/ops_calls.hpp>

// clang-format off
#define HG_OPERATOR(symbol, name, result) \
    template <class T> tensor<result> operator symbol(const tensor<T> &a, const tensor<T> &b) { return name(a, b); } \
    template <class T> tensor<result> operator symbol(const tensor<T> &a, double b) { return name(a, a.like(b)); } \
    template <class T> tensor<result> operator symbol(double a, const tensor<T> &b) { return name(b.like(a), b); }
HG_OPERATOR(+, add, T) HG_OPERATOR(-, sub, T) HG_OPERATOR(*, mul, T) HG_OPERATOR(/, div, T)
HG_OPERATOR(<, less, bool) HG_OPERATOR(<=, less_equal, bool) HG_OPERATOR(>, greater, bool)
HG_OPERATOR(>=, greater_equal, bool) HG_OPERATOR(==, equal, bool) HG_OPERATOR(!=, not_equal, bool)
#undef HG_OPERATOR
    // clang-format on
    template <class T>
    tensor<T> operator-(const tensor<T> &a) {
    return neg(a);
}
/** a where the condition is true, else b. */
template <class T>
tensor<T> where(const tensor<bool> &condition, const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_WHERE, {condition.get(), a.get(), b.get()});
}

/** An operation along an axis, to n elements where n is not 0. */
template <class U, class T>
tensor<U> along(hg_operation operation, const tensor<T> &a, int64_t axis, uint64_t n = 0) {
    hg_ops_options options = hg_ops_defaults();
    options.axes = &axis;
    options.axis_count = 1;
    options.sizes = &n;
    options.size_count = n ? 1 : 0;
    return tensor<T>::template call<U>(operation, {a.get()}, &options);
}
/** A view of the real parts. */
template <class T> tensor<part_of<T>> real(const tensor<T> &a) {
    return tensor<T>::template call<part_of<T>>(HG_OPS_REAL, {a.get()});
}
/** A view of the imaginary parts. */
template <class T> tensor<part_of<T>> imag(const tensor<T> &a) {
    return tensor<T>::template call<part_of<T>>(HG_OPS_IMAG, {a.get()});
}
/** a + b i. */
template <class T> tensor<complex_of<T>> complex(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<complex_of<T>>(HG_OPS_COMPLEX, {a.get(), b.get()});
}
/** The Fourier transform along an axis. */
template <class T> tensor<complex_of<T>> fft(const tensor<T> &a, int64_t axis = -1) {
    return along<complex_of<T>>(HG_OPS_FFT, a, axis);
}
template <class T> tensor<complex_of<T>> ifft(const tensor<T> &a, int64_t axis = -1) {
    return along<complex_of<T>>(HG_OPS_IFFT, a, axis);
}
/** Of real numbers: the first n / 2 + 1 elements. */
template <class T> tensor<complex_of<T>> rfft(const tensor<T> &a, int64_t axis = -1) {
    return along<complex_of<T>>(HG_OPS_RFFT, a, axis);
}
/** n real numbers from the n / 2 + 1 of rfft; n 0: the even one. */
template <class T> tensor<part_of<T>> irfft(const tensor<T> &a, uint64_t n = 0, int64_t axis = -1) {
    return along<part_of<T>>(HG_OPS_IRFFT, a, axis, n);
}

/** The product of matrices, batches broadcast. */
template <class T> tensor<T> matmul(const tensor<T> &a, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_MATMUL, {a.get(), b.get()});
}
/** x w + b, w of [in, out]. */
template <class T>
tensor<T> fused_linear(const tensor<T> &x, const tensor<T> &w, const tensor<T> &b) {
    return tensor<T>::template call<T>(HG_OPS_FUSED_LINEAR, {x.get(), w.get(), b.get()});
}
/** What bytes stand for: (bytes - zero) * scale. Of a matrix scale and zero are one number, or one
 * for each row of a, column of b. */
template <class Q, class S = float> struct quantized {
    tensor<Q> bytes;
    tensor<S> scale;
    tensor<Q> zero;
};
/** x / scale to the nearest integer, plus zero, saturated. */
template <class Q, class T, class S>
quantized<Q, S> quantize(const tensor<T> &x, const tensor<S> &scale, const tensor<Q> &zero) {
    auto made = tensor<T>::template call<Q>(HG_OPS_QUANTIZE, {x.get(), scale.get(), zero.get()});
    return {std::move(made), scale, zero};
}
template <class Q, class S> tensor<S> dequantize(const quantized<Q, S> &q) {
    return tensor<Q>::template call<S>(HG_OPS_DEQUANTIZE,
                                       {q.bytes.get(), q.scale.get(), q.zero.get()});
}
/** What both stand for, multiplied, and quantized with that scale and zero. */
template <class R, class A, class B, class S>
quantized<R, S> quantized_matmul(const quantized<A, S> &a, const quantized<B, S> &b,
                                 const tensor<S> &scale, const tensor<R> &zero) {
    auto made = tensor<A>::template call<R>(
        HG_OPS_QUANTIZED_MATMUL, {a.bytes.get(), a.scale.get(), a.zero.get(), b.bytes.get(),
                                  b.scale.get(), b.zero.get(), scale.get(), zero.get()});
    return {std::move(made), scale, zero};
}
/** The product of matrices of bytes, as int32_t. */
template <class A, class B> tensor<int32_t> matmul_integer(const tensor<A> &a, const tensor<B> &b) {
    return tensor<A>::template call<int32_t>(HG_OPS_MATMUL_INTEGER, {a.get(), b.get()});
}
/** The same of what zero points are taken from. */
template <class A, class B>
tensor<int32_t> matmul_integer(const tensor<A> &a, const tensor<B> &b, const tensor<A> &a_zero,
                               const tensor<B> &b_zero) {
    return tensor<A>::template call<int32_t>(HG_OPS_MATMUL_INTEGER,
                                             {a.get(), b.get(), a_zero.get(), b_zero.get()});
}
/** Joins parts by an operation along an axis: concat, stack. */
template <class T>
tensor<T> join(hg_operation operation, std::initializer_list<tensor<T>> parts, int64_t axis) {
    std::vector<const hg_tensor *> inputs;
    hg_ops_options options = hg_ops_defaults();
    for (const tensor<T> &part : parts) inputs.push_back(part.get());
    options.axes = &axis;
    options.axis_count = 1;
    return tensor<T>::template call<T>(operation, inputs.data(), inputs.size(), &options);
}
/** Behind each other along an axis. */
template <class T> tensor<T> concat(std::initializer_list<tensor<T>> parts, int64_t axis = 0) {
    return join(HG_OPS_CONCAT, parts, axis);
}
/** Behind each other along a new axis. */
template <class T> tensor<T> stack(std::initializer_list<tensor<T>> parts, int64_t axis = 0) {
    return join(HG_OPS_STACK, parts, axis);
}

/** What sums and products of T are. */
template <class T>
using sum_of = std::conditional_t<
    is_real<T> || is_complex<T>, T,
    std::conditional_t<std::is_signed_v<T> || std::is_same_v<T, bool>, int64_t, uint64_t>>;
/** What means of T are. */
template <class T> using mean_of = std::conditional_t<is_real<T> || is_complex<T>, T, double>;
/** Any reduction, over axes that may count from the end; none: over all. */
template <class U, class T>
tensor<U> reduce(hg_operation operation, const tensor<T> &a,
                 std::initializer_list<int64_t> axes = {}, bool keepdims = false) {
    hg_ops_options options = hg_ops_defaults();
    options.axes = axes.size() ? axes.begin() : nullptr;
    options.axis_count = static_cast<uint32_t>(axes.size());
    options.keepdims = keepdims;
    return tensor<T>::template call<U>(operation, {a.get()}, &options);
}
/** e to the power a, divided by its sum along an axis. */
template <class T> tensor<T> softmax(const tensor<T> &a, int64_t axis = -1) {
    return reduce<T>(HG_OPS_SOFTMAX, a, {axis});
}
// clang-format off
#define HG_REDUCTION(name, ID, result) \
    template <class T> tensor<result> name(const tensor<T> &a, std::initializer_list<int64_t> axes = {}, bool keepdims = false) { \
        return reduce<result>(HG_OPS_##ID, a, axes, keepdims); \
    }
HG_REDUCTION(sum, SUM, sum_of<T>) HG_REDUCTION(prod, PROD, sum_of<T>) HG_REDUCTION(max, MAX, T) HG_REDUCTION(min, MIN, T)
HG_REDUCTION(mean, MEAN, mean_of<T>) HG_REDUCTION(var, VAR, mean_of<T>) HG_REDUCTION(all, ALL, bool) HG_REDUCTION(any, ANY, bool)
HG_REDUCTION(argmax, ARGMAX, int64_t) HG_REDUCTION(argmin, ARGMIN, int64_t) HG_REDUCTION(count_nonzero, COUNT_NONZERO, int64_t)
#undef HG_REDUCTION
// clang-format on

} // namespace hg
#endif
