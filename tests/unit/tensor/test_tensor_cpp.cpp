/* Tensors in C++: values, operators, views, scopes, failures as exceptions. */
#define HOLOGRAM_EXCEPTIONS
#include <hologram/hologram.hpp>
#include "test.h"

template <class F> static void throws(F call, const char *text) {
    try {
        call();
        CHECK_MESSAGE(false, "nothing was thrown: %s", text);
    } catch (const hg::error &e) {
        CHECK_MESSAGE(strstr(e.what(), text), "%s", e.what());
        CHECK(e.status != HG_OK);
    }
}

static void values(const hg::executor &cpu) {
    hg::tensor<float> a(cpu, {2, 3}, {1, 2, 3, 4, 5, 6}), b(cpu, {10, 20, 30}), same = a;
    CHECK((a + b).to_vector() == std::vector<float>({11, 22, 33, 14, 25, 36}));
    CHECK((2 * a - 1).transpose().to_vector() == std::vector<float>({1, 7, 3, 9, 5, 11}));
    CHECK(where(a > 3, a, -a).to_vector() == std::vector<float>({-1, -2, -3, 4, 5, 6}));
    a[1] += a[0]; /* a view, which `same` shares */
    CHECK(same.to_vector() == std::vector<float>({1, 2, 3, 5, 7, 9}));
    same.along(1, {INT64_MAX, INT64_MIN, -1}).assign(a.contiguous());
    CHECK(a.as<int32_t>().to_vector() == std::vector<int32_t>({3, 2, 1, 9, 7, 5}));
    hg::tensor<float> moved = std::move(same);
    CHECK(!same.ok() && moved.ok() && moved.extents() == hg::shape({2, 3}));
    CHECK(!(same + same).ok()); /* of an empty one it is empty */
    CHECK(hg::tensor<double>::full(cpu, {2, 2}, 0.5).reshape({4})[3].item() == 0.5);
    CHECK(sum(a).item() == 27 && max(a, {0}).to_vector() == std::vector<float>({9, 7, 5}));
    CHECK(mean(a, {-1}, true).extents() == hg::shape({2, 1}));
    CHECK(sum(a.as<int8_t>(), {1}).to_vector() == std::vector<int64_t>({6, 21}));
    throws([&] { (void)(a + hg::tensor<float>(cpu, {1, 2})); }, "Tensor shape mismatch: add");
    throws([&] { (void)a.select(2, 0); }, "Invalid dimension: 2");
}

static void complex_numbers(const hg::executor &cpu) {
    using number = std::complex<float>;
    hg::tensor<number> a(cpu, {number(1, 2), number(0, -1)}), b(cpu, {number(3, 0), number(0, 2)});
    CHECK((a * b).to_vector() == std::vector<number>({number(3, 6), number(2, 0)}));
    CHECK((a / b + 1).to_vector()[1] == number(0.5, 0));
    CHECK((a == b).as<uint8_t>().to_vector() == std::vector<uint8_t>({0, 0}));
    CHECK(abs(b).to_vector() == std::vector<float>({3, 2}));
    CHECK(real(a).to_vector() == std::vector<float>({1, 0}));
    CHECK(imag(conj(a)).to_vector() == std::vector<float>({-2, 1}));
    CHECK(complex(real(a), imag(a)).to_vector() == a.to_vector());
    CHECK(sum(a).item() == std::complex<double>(1, 1));
    CHECK(prod(hg::concat({a, b, a})).item() == std::complex<double>(24, 18));
    CHECK(matmul(a.reshape({1, 2}), b).to_vector() == std::vector<number>({number(5, 6)}));
    throws([&] { (void)max(a); }, "max: complex64 [2]: it is not of complex numbers");
    hg::tensor<double> signal(cpu, {1, 2, 3, 4, 5});
    auto waves = rfft(signal);
    CHECK(waves.extents() == hg::shape({3}) && waves[0].item() == std::complex<double>(15, 0));
    CHECK(max(abs(irfft(waves, 5) - signal)).item() < 1e-14);
    CHECK(max(abs(ifft(fft(signal)) - signal.as<std::complex<double>>())).item() < 1e-14);
}

/* rand: the first words of Philox4x32-10 with counter and key 0, as Random123's known answers. */
static void functions(const hg::executor &cpu) {
    using doubles = std::vector<double>;
    auto a = hg::tensor<double>::arange(cpu, 0, 6).reshape({2, 3});
    auto row = hg::tensor<double>::linspace(cpu, 0, 1, 3);
    auto random = hg::tensor<float>::rand(cpu, {2, 2});
    CHECK(row.to_vector() == doubles({0, 0.5, 1}));
    CHECK(hg::tensor<int32_t>::arange(cpu, 5, 0, -2).to_vector() ==
          std::vector<int32_t>({5, 3, 1}));
    CHECK((random * 0x1p24).to_vector() ==
          std::vector<float>({0x6627e8, 0xe169c5, 0xbc57ac, 0x9b00db}));
    CHECK(random.to(cpu).to_vector() == random.to_vector());
    CHECK(matmul(a, a.transpose()).to_vector() == doubles({5, 14, 14, 50}));
    CHECK(fused_linear(a, a.transpose(), row.along(0, {1})).to_vector() ==
          doubles({5.5, 15, 14.5, 51}));
    CHECK(hg::concat({a, a * 2}, 1)[1].to_vector() == doubles({3, 4, 5, 6, 8, 10}));
    CHECK(hg::concat({a, row.reshape({1, 3})}).extents() == hg::shape({3, 3}));
    CHECK(hg::stack({row, row + 1}, -1).to_vector() == doubles({0, 1, 0.5, 1.5, 1, 2}));
    CHECK(argmax(a * (row - 0.6), {0}).to_vector() == std::vector<int64_t>({0, 0, 1}));
    CHECK(argmin(a).item() == 0 && count_nonzero(a).item() == 5 && var(row).item() == 0.5 / 3);
    CHECK(sum(a > 3).item() == 2 && prod(a.as<uint8_t>() + a.as<uint8_t>(), {1})[1].item() == 480);
    CHECK(mean(a.as<uint8_t>()).item() == 2.5); /* of integers a double */
    auto parts = softmax(hg::tensor<double>(cpu, {1, 2, 3}));
    auto known = hg::tensor<double>(cpu, {0.09003057, 0.24472847, 0.66524096});
    CHECK(max(abs(parts - known)).item() < 1e-8);
    CHECK(sum(softmax(a, 0), {0}).extents() == hg::shape({3}) && softmax(a, 0)[0][0].item() < 0.05);
    throws([&] { (void)hg::tensor<float>::load(cpu, "nowhere.npy"); }, "nowhere.npy");
    throws([&] { (void)matmul(a, a); }, "Tensor shape mismatch: matmul");
    throws([&] { (void)hg::concat({a, row}); }, "concat");
}

/* Numbers by halves from 10, by quarters and ones of columns: by hand. */
static void bytes(const hg::executor &cpu) {
    hg::tensor<float> x(cpu, {1.2F, 2, 300, -7}), half(cpu, {0.5F});
    hg::tensor<uint8_t> ten(cpu, {10});
    auto q = quantize(x, half, ten);
    CHECK(q.bytes.to_vector() == std::vector<uint8_t>({12, 14, 255, 0}));
    CHECK(dequantize(q).to_vector() == std::vector<float>({1, 2, 122.5F, -5}));
    hg::tensor<int8_t> b(cpu, {1, 0, 2, -3, 0, 1, 4, 5}), zeros(cpu, {0, 1});
    hg::tensor<float> scales(cpu, {0.25F, 1});
    auto matrix = b.reshape({4, 2});
    auto left = q.bytes.reshape({1, 4});
    CHECK(matmul_integer(left, matrix).to_vector() == std::vector<int32_t>({40, 213}));
    CHECK(matmul_integer(left, matrix, ten, zeros).to_vector() == std::vector<int32_t>({-30, -58}));
    auto to = hg::tensor<int8_t>(cpu, {-2});
    auto made = quantized_matmul(hg::quantized<uint8_t>{left, half, ten},
                                 hg::quantized<int8_t>{matrix, scales, zeros}, half, to);
    CHECK(made.bytes.to_vector() == std::vector<int8_t>({-10, -60}));
    throws([&] { (void)matmul_integer(matrix, matrix); }, "inner extents differ");
    hg_tensor *parts[3] = {nullptr, nullptr, nullptr};
    CHECK(hg_ops_dynamic_quantize(cpu.get(), x.get(), parts) == HG_OK);
    for (hg_tensor *part : parts) hg_tensor_release(part);
}

static void recorded(const hg::executor &cpu) {
    auto x = hg::tensor<float>::ones(cpu, {4, 5}), y = x;
    {
        hg::scope recording(cpu);
        for (int i = 0; i < 20; i++) y = relu(y + x) * 0.5;
    }
    auto z = x;
    for (int i = 0; i < 20; i++) z = relu(z + x) * 0.5;
    CHECK(y.to_vector() == z.to_vector());
}

int main() {
    hg::executor cpu = hg::executor::cpu();
    values(cpu);
    functions(cpu);
    complex_numbers(cpu);
    bytes(cpu);
    recorded(cpu);
    return test_done();
}
