// What the shims of languages for GPUs share: where an invocation runs, set by
// tests/support/shim_driver.c before it goes on. No header of the system may be included beside
// them: their macros are words of CUDA and Metal.
#ifndef HG_TESTS_SHIM_H
#define HG_TESTS_SHIM_H

struct hg_shim_id {
    unsigned x, y, z;
};
struct hg_shim_state {
    hg_shim_id lane, block, block_dim, grid_dim;
    void (*barrier)(void);
    unsigned long long *group_memory;
};
extern "C" {
hg_shim_state hg_shim;
}

#endif
