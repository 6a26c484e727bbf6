/* The time of a launch: lowering that it asks for counts, and what is left is for its lanes.
 * Must not know: who watches. */
#include "runtime/binding.h"

uint64_t hg_timeout_of(const hg_backend *b, const hg_launch *launch) {
    uint64_t timeout = launch ? launch->timeout_ms : 0;
    return timeout == UINT64_MAX ? 0 : timeout ? timeout : b->config.timeout_ms;
}

uint64_t hg_deadline(uint64_t timeout_ms) {
    uint64_t now, span;
    if (!timeout_ms || !hg_mul_u64(timeout_ms, 1000000, &span)) return 0;
    now = hg_clock_ns();
    return span > UINT64_MAX - now ? 0 : now + span;
}

uint64_t hg_binding_deadline(const hg_binding *binding) {
    uint64_t deadline = hg_deadline(binding->launch.timeout_ms);
    return deadline > binding->spent_ns ? deadline - binding->spent_ns : deadline;
}
