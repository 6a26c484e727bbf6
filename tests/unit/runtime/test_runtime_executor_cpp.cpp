// The same headers from C++: overloads instead of _Generic, and the test macros.
#include <hologram/hologram.h>
#include <hologram/testing.h>
#include "test.h"
#include <vector>

// clang-format off
BACKEND_TEST(relu_in_place, "cpu", {
    hg_typed_buffer x;
    std::vector<int32_t> in = {3, -4, 0, -2147483647, 7};
    std::vector<int32_t> expected = {3, 0, 0, 0, 7};
    ASSERT_OK(hg_allocate_typed(backend, HG_TYPE_I32, in.size(), &x));
    ASSERT_OK(hg_copy_to(backend, x, in.data(), in.size()));
    ASSERT_OK(hg_execute_unary(backend, "relu", x, x));
    ASSERT_TYPED_BUFFER_EQ(backend, x, expected.data(), expected.size());
    ASSERT_OK(hg_copy_from(backend, x, in.data(), in.size()));
    CHECK(in == expected);
    TEST_PROGRAM(backend, hg_build_parallel_map(builder, HG_TYPE_I32, hg_addr_buffer_handle(x.buffer.handle), hg_addr_buffer_handle(x.buffer.handle), "neg", hg_count(5)));
    for (int32_t &v : expected) v = -v;
    ASSERT_TYPED_BUFFER_EQ(backend, x, expected.data(), expected.size());
})
// clang-format on

int main() {
    CHECK(hg_type_of(static_cast<const float *>(nullptr)) == HG_TYPE_F32);
    CHECK(hg_type_of(static_cast<const double *>(nullptr)) == HG_TYPE_F64);
    CHECK(hg_type_of(static_cast<int8_t *>(nullptr)) == HG_TYPE_I8);
    CHECK(hg_type_of(static_cast<uint64_t *>(nullptr)) == HG_TYPE_U64);
    hg_launch launch = HG_LAUNCH_INIT;
    CHECK(launch.size == sizeof launch && hg_launch_total_threads(&launch) == 1);
    RUN_BACKEND_TEST(relu_in_place);
    CHECK(hg_test_failures() == 0);
    return test_done();
}
