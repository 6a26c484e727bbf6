/* A program on Vulkan while the n-th call of the driver's library fails, for all n: a clean error,
 * nothing lost, and everything works again afterwards. */
/* test: labels=slow timeout=300 */
#include "backends/vulkan/vulkan_internal.h"
#include "support/runtime_support.h"

#if HG_HAS_VULKAN
static failing_allocator memory;
static uint64_t calls, fail_at;
static VkResult fail_with;
static char failed_call[64];

static VkResult count_call(const char *call) {
    if (++calls != fail_at) return VK_SUCCESS;
    snprintf(failed_call, sizeof failed_call, "%s", call);
    return fail_with;
}

/* From opening the device to closing it; the result is right whenever everything succeeds. */
static hg_status attempt(uint32_t device, const hg_program *program) {
    enum { N = 1000 };
    float x[N], y[N], alpha = 2;
    hg_backend *b = NULL;
    hg_buffer xs = {0}, ys = {0};
    uint64_t n = N;
    hg_status status = hg_backend_create("vulkan", device, &b);
    if (status != HG_OK) return status;
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
    hg_params *params = hg_params_create();
#define STEP(call) \
    if (status == HG_OK) status = call
    STEP(params ? HG_OK : HG_ERROR_OUT_OF_MEMORY);
    STEP(hg_backend_allocate_buffer(b, sizeof x, &xs));
    STEP(hg_backend_allocate_buffer(b, sizeof y, &ys));
    STEP(hg_backend_copy_to_buffer(b, xs, x, sizeof x));
    STEP(hg_backend_copy_to_buffer(b, ys, y, sizeof y));
    STEP(hg_params_set_buffer(params, "x", xs));
    STEP(hg_params_set_buffer(params, "y", ys));
    STEP(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &alpha));
    STEP(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    STEP(hg_backend_execute_program_with_params(b, program, NULL, params));
    STEP(hg_backend_copy_from_buffer(b, ys, y, sizeof y));
#undef STEP
    if (status == HG_OK) CHECK(y[0] == 1 && y[1] == 3 && y[N - 1] == 2 * (N - 1) + 1);
    hg_params_destroy(params);
    hg_backend_destroy(b);
    return status;
}

static void fail_each_call(uint32_t device, const hg_program *program, VkResult result) {
    bool hit = true;
    vk_before_call = count_call;
    fail_with = result;
    for (uint64_t n = 1; hit && n < 2000 && test_failed < 20; n++) {
        uint64_t before = memory.live;
        calls = 0;
        fail_at = n;
        hg_status status = attempt(device, program);
        hit = calls >= n;
        fail_at = 0;
        CHECK_MESSAGE(status == HG_OK || hit, "fails without a failing call: %s",
                      hg_last_error_text());
        CHECK_MESSAGE(status == HG_OK || status == HG_ERROR_ALLOCATION_FAILED ||
                          status == HG_ERROR_BACKEND_UNAVAILABLE,
                      "call %" PRIu64 ", %s: %s", n, failed_call, hg_last_error_text());
        CHECK_MESSAGE(status == HG_OK || strstr(hg_last_error_text(), "vulkan"),
                      "call %" PRIu64 ", %s: %s", n, failed_call, hg_last_error_text());
        CHECK_MESSAGE(memory.live == before,
                      "call %" PRIu64 ", %s: %" PRIu64 " blocks before, %" PRIu64 " after", n,
                      failed_call, before, memory.live);
    }
    vk_before_call = NULL;
    CHECK(!hit);
}

int main(void) {
    static const char *const pretends[] = {"", "descriptors,staging"};
    const hg_allocator counting = {sizeof counting, &memory, failing_reallocate, failing_release};
    hg_device_info devices[16];
    size_t count = 0;
    unsetenv("HOLOGRAM_CACHE_DIR");
    CHECK_OK(hg_set_allocator(&counting));
    hg_program *program = assemble(AXPY);
    CHECK_OK(hg_devices(devices, HG_COUNT_OF(devices), &count));
    for (size_t i = 0; i < count && i < HG_COUNT_OF(devices); i++) {
        if (strcmp(devices[i].backend, "vulkan") != 0) continue;
        if (!devices[i].available) {
            SKIP(devices[i].reason);
            continue;
        }
        for (size_t p = 0; p < HG_COUNT_OF(pretends) && test_failed == 0; p++) {
            setenv("HOLOGRAM_PRETEND", pretends[p], 1);
            CHECK_OK(attempt(devices[i].device, program));
            fail_each_call(devices[i].device, program, VK_ERROR_OUT_OF_DEVICE_MEMORY);
            fail_each_call(devices[i].device, program, VK_ERROR_DEVICE_LOST);
            CHECK_OK(attempt(devices[i].device, program));
        }
    }
    hg_program_release(program);
    return test_done();
}
#else
int main(void) {
    SKIP("this build was made without the Vulkan headers");
    return test_done();
}
#endif
