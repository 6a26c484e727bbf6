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
    recorded(cpu);
    return test_done();
}
