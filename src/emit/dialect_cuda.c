/* CUDA C as a language of the C family, without headers, so that NVRTC compiles it without a toolkit. Must not know: drivers, devices by name. */
#include "emit/dialect_cuda.h"

static const c_device_words DEVICE = {
    .title = "CUDA C for compute capability 7.5 and later; compile with -fmad=false",
    .head = CUDA_TYPES,
    .parameter_bytes = 4096, /* 32,764 from CUDA 12.1 on */
    .record = "const __grid_constant__ %s_record record",
    CUDA_DEVICE,
};

const c_dialect emit_cuda_dialect = {CUDA_DIALECT, .device = &DEVICE};
