// HIP on the CPU: the words that it shares with CUDA C.
#include "../shim_cuda.h"
