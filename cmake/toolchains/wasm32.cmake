# wasm32 without a system: clang and lld, no C library (bindings/npm/wasm/libc.c takes its place).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_C_COMPILER_TARGET wasm32)
set(CMAKE_C_FLAGS_INIT "-msimd128 -mbulk-memory -pthread -ffreestanding -nostdlib")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX_C .wasm)
