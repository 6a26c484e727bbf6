/* CUDA C as a language of the C family, without headers, so that NVRTC compiles it without a
 * toolkit. Must not know: drivers, devices by name. */
#include "emit/dialect_cuda.h"

/* PTX multiplies unsigned bytes by signed ones; CUDA C has no word for it. */
#define MIXED_DOT                                                                             \
    "static __device__ __forceinline__ u32 dp4a_mixed(u32 a, u32 b, u32 c) {\n"               \
    "    u32 d;\n"                                                                            \
    "    asm(\"dp4a.u32.s32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));\n" \
    "    return d;\n"                                                                         \
    "}\n"

/* A parameter that is read where it lies: of compute capability 7.0 and CUDA 11.7 on. Before, a
 * kernel has a copy of its own, with the same text. */
#define GRID_CONSTANT                                                                       \
    "#if __CUDA_ARCH__ < 700 || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1107\n" \
    "#undef __grid_constant__\n"                                                            \
    "#define __grid_constant__\n"                                                           \
    "#endif\n"

static const c_device_words DEVICE = {
    .top.title = "CUDA C for compute capability 5.0 and later, 6.1 where it has dp4a; compile with "
                 "-fmad=false",
    .top.head = GRID_CONSTANT CUDA_TYPES,
    .top.head_dot4_u = MIXED_DOT,
    .params.parameter_bytes = 4096, /* 32,764 from CUDA 12.1 on */
    .params.record = "const __grid_constant__ %s_record record",
    CUDA_DEVICE,
};

const c_dialect emit_cuda_dialect = {CUDA_DIALECT, .device = &DEVICE};
