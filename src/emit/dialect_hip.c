/* HIP as a language of the C family: CUDA C for AMD's compiler. Must not know: drivers, devices by
 * name. */
#include "emit/dialect_cuda.h"

static const c_device_words DEVICE = {
    .top.title = "HIP",
    .top.head = "#ifndef __HIPCC_RTC__\n"
                "#include <hip/hip_runtime.h>\n"
                "#endif\n"
                "#pragma clang fp contract(off)\n"
                "#pragma clang diagnostic ignored \"-Wpass-failed\"\n" CUDA_TYPES, /* unrolling is a
                                                                                      wish */
    .params.parameter_bytes = 4096,
    .params.record = "const %s_record record",
    CUDA_DEVICE,
};

const c_dialect emit_hip_dialect = {CUDA_DIALECT, .device = &DEVICE};
