/* Several devices, lost devices, no memory, and drivers of no use, with the CUDA driver of
 * tests/fake_cuda (tests/devices/on.sh fake_cuda). */
#include "backends/cuda/cuda_internal.h"
#include "support/fake_cuda.h"
#include "support/in_process.h"
#include "support/runtime_support.h"
#include <pthread.h>
#include <unistd.h>

extern const hg_driver hg_driver_cuda;
enum { COUNT = 1000 };

static hg_backend *open_number(uint32_t number) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "cuda");
    config.device_id = number;
    return hg_backend_create_with_config(&config, &b) == HG_OK ? b : NULL;
}

/* c = a + b on the device; false: an error, or wrong sums. */
static bool add(hg_backend *b) {
    static const char *const NAMES[] = {"a", "b", "c"};
    float x[COUNT], y[COUNT], z[COUNT];
    hg_buffer buffers[3] = {0};
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    uint64_t n = COUNT;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 0.5f;
    }
    hg_status status = hg_kernel_by_name("atlas_add_f32", &program);
    for (int k = 0; k < 3 && status == HG_OK; k++)
        status = hg_backend_allocate_buffer(b, sizeof x, &buffers[k]);
    for (int k = 0; k < 2 && status == HG_OK; k++)
        status = hg_backend_copy_to_buffer(b, buffers[k], k ? y : x, sizeof x);
    for (int k = 0; k < 3 && status == HG_OK; k++)
        status = hg_params_set_buffer(params, NAMES[k], buffers[k]);
    if (status == HG_OK) status = hg_params_set_scalar(params, "n", HG_TYPE_U64, &n);
    if (status == HG_OK) status = hg_backend_execute_program_with_params(b, program, NULL, params);
    if (status == HG_OK) status = hg_backend_copy_from_buffer(b, buffers[2], z, sizeof z);
    bool right = status == HG_OK;
    for (int i = 0; i < COUNT && right; i++) right = z[i] == (float)i + 0.5f;
    hg_error kept = *hg_error_record();
    for (int k = 0; k < 3; k++)
        if (buffers[k].handle) HG_IGNORE(hg_backend_free_buffer(b, buffers[k]));
    *hg_error_record() = kept;
    hg_params_destroy(params);
    hg_program_release(program);
    return right;
}

/* ---- several devices ---- */

static void *add_often(void *backend) {
    for (int i = 0; i < 20; i++)
        if (!add(backend)) return backend;
    return NULL;
}

static void use_two(char said[512]) {
    hg_backend *devices[2] = {open_number(0), open_number(1)};
    pthread_t threads[2];
    void *failed[2];
    if (!devices[0] || !devices[1]) {
        snprintf(said, 512, "not opened: %s", hg_last_error_text());
        return;
    }
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add_often, devices[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &failed[i]);
    for (int i = 0; i < 2; i++) hg_backend_destroy(devices[i]);
    hg_backend *third = open_number(2);
    snprintf(said, 512, "%s%s, %ld left behind; %s", failed[0] ? "the first fails" : "right",
             failed[1] ? ", the second fails" : "", fake_cuda_things(),
             third ? "a third one" : hg_last_error_text());
}

static void list_two(char said[512]) {
    hg_device_info info[4];
    char reason[256] = "";
    uint32_t count = hg_driver_cuda.enumerate(info, 4, reason);
    snprintf(said, 512, "%u: %s, %s, %llu MiB; %s", (unsigned)count, info[0].name, info[0].driver,
             (unsigned long long)info[0].memory_bytes >> 20, info[1].name);
}

/* An old device: whether it is taken, whether it promises products of four bytes, and whether it
 * calculates. */
static void use_old(char said[512]) {
    hg_device_info info;
    char reason[256] = "";
    hg_device *device = NULL;
    const hg_driver_options options = {0};
    if (hg_driver_cuda.enumerate(&info, 1, reason) != 1 || !info.available) {
        snprintf(said, 512, "%s", info.reason);
        return;
    }
    if (hg_driver_cuda.device_open(0, &options, &device) != HG_OK) return;
    bool dot4 = hg_driver_cuda.device_caps(device)->hints.dot4;
    hg_driver_cuda.device_close(device);
    hg_backend *b = open_number(0);
    snprintf(said, 512, "%s, %s", dot4 ? "dp4a" : "no dp4a",
             b && add(b) ? "right" : hg_last_error_text());
    hg_backend_destroy(b);
}

/* ---- a device that is lost ---- */

static CUresult lost(const char *call) {
    (void)call;
    return 719; /* CUDA_ERROR_LAUNCH_FAILED: from then on every call returns it */
}

static void lose_device(char said[512]) {
    char first[256];
    hg_backend *b = open_number(0);
    if (!b || !add(b)) return;
    cuda_before_call = lost;
    bool works = add(b);
    snprintf(first, sizeof first, "%s", hg_last_error_text());
    works = works || add(b);
    hg_backend_destroy(b);
    cuda_before_call = NULL;
    b = open_number(0);
    bool again = b && add(b);
    hg_backend_destroy(b);
    snprintf(said, 512, "%s%s%s", works ? "works on; " : "", first,
             again ? "; a new backend works" : "");
}

/* ---- no memory ---- */

static void fill_memory(char said[512]) {
    hg_buffer buffers[16] = {0};
    hg_backend *b = open_number(0);
    int count = 0;
    if (!b) return;
    while (count < 16 && hg_backend_allocate_buffer(b, 24 << 20, &buffers[count]) == HG_OK) count++;
    snprintf(said, 300, "%s", hg_last_error_text());
    for (int i = 0; i < count; i++) HG_IGNORE(hg_backend_free_buffer(b, buffers[i]));
    if (count > 0 && count < 16 && add(b)) strcat(said, "; then it works");
    hg_backend_destroy(b);
    if (fake_cuda_things() != 0) strcat(said, "; something stays behind");
}

static CUresult refuse(const char *call) {
    return strcmp(call, "cuMemAllocAsync") == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* Another process has all of it. */
static void refuse_memory(char said[512]) {
    hg_buffer buffer;
    hg_backend *b = open_number(0);
    if (!b) return;
    cuda_before_call = refuse;
    hg_status status = hg_backend_allocate_buffer(b, 256 << 20, &buffer);
    cuda_before_call = NULL;
    snprintf(said, 300, "%s", status == HG_OK ? "allocated" : hg_last_error_text());
    if (add(b)) strcat(said, "; then it works");
    hg_backend_destroy(b);
}

/* ---- memory of others ---- */

/* All bytes of the device's memory through a buffer. */
static bool is_native(hg_backend *b, hg_buffer buffer, hg_memory_kind kind, const void *there,
                      uint64_t bytes) {
    hg_native_buffer native = {.size = sizeof native};
    CHECK_OK(hg_buffer_native(b, buffer, &native));
    return native.kind == kind && native.memory == (uintptr_t)there && native.offset == 0 &&
           native.bytes == bytes && native.device == 0;
}

static bool holds(hg_backend *b, hg_buffer buffer, const uint8_t *expected, uint64_t size) {
    uint8_t seen[4096];
    return size <= sizeof seen && hg_buffer_read(b, buffer, 0, seen, size) == HG_OK &&
           memcmp(seen, expected, size) == 0;
}

#define REFUSED(call, words)                                                                       \
    do {                                                                                           \
        bool refused = (call) != HG_OK && strstr(hg_last_error_text(), words);                     \
        CHECK_MESSAGE(refused, "%s: expected '%s', got '%s'", #call, words, hg_last_error_text()); \
    } while (0)

static void test_imports(void) {
    static _Alignas(16) uint8_t plain[4096], pattern[4096];
    hg_backend *b = open_number(0), *cpu = open_backend("cpu");
    hg_buffer buffer, second, part;
    CUcontext context = NULL;
    CUdeviceptr memory = 0;
    void *pinned = NULL;
    if (!b) {
        CHECK_MESSAGE(false, "%s", hg_last_error_text());
        return;
    }
    for (int i = 0; i < 4096; i++) pattern[i] = (uint8_t)(i * 7 + (i >> 8));
    CHECK(cuda.DevicePrimaryCtxRetain(&context, 0) == 0 && cuda.CtxPushCurrent(context) == 0);
    CHECK(cuda.MemAlloc(&memory, 4096) == 0 && cuda.MemHostAlloc(&pinned, 4096, 0) == 0);
    void *there = (void *)(uintptr_t)memory;

    /* the device's: what one buffer writes, another one on a part of it reads, and freeing frees
     * nothing */
    CHECK_OK(hg_buffer_import_device(b, HG_MEMORY_CUDA, 0, there, 4096, &buffer));
    CHECK_OK(hg_buffer_write(b, buffer, 0, pattern, 4096));
    CHECK_OK(hg_buffer_import_device(b, HG_MEMORY_CUDA, 0, (uint8_t *)there + 1024, 2048, &part));
    CHECK(holds(b, part, pattern + 1024, 2048));
    CHECK(is_native(b, part, HG_MEMORY_CUDA, (uint8_t *)there + 1024, 2048));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    CHECK(holds(b, part, pattern + 1024, 2048));
    CHECK_OK(hg_backend_free_buffer(b, part));
    REFUSED(hg_buffer_import_device(b, HG_MEMORY_CUDA, 1, there, 4096, &buffer),
            "is memory of device 0, the backend is on device 0, expected device 1");
    REFUSED(hg_buffer_import_device(b, HG_MEMORY_CUDA, 0, there, 4097, &buffer),
            "the allocation has 4096 bytes from");
    REFUSED(hg_buffer_import_device(b, HG_MEMORY_CUDA, 0, (uint8_t *)there + 16, 4096, &buffer),
            "the allocation has 4080 bytes from");
    REFUSED(hg_buffer_import_device(b, HG_MEMORY_CUDA, 0, (uint8_t *)there + 8, 64, &buffer),
            "at multiples of 16 bytes");
    REFUSED(hg_buffer_import_device(b, HG_MEMORY_CUDA, 0, plain, 64, &buffer),
            "is not known to the driver, expected memory of a device");
    REFUSED(hg_buffer_import_device(b, HG_MEMORY_CUDA, 0, pinned, 64, &buffer),
            "is pinned memory of the host, expected memory of a device");
    REFUSED(hg_buffer_import_device(b, HG_MEMORY_CUDA_HOST, 0, there, 64, &buffer),
            "is memory of a device, expected pinned memory of the host");
    REFUSED(hg_buffer_import(b, there, 64, &buffer),
            "is memory of a device, expected pinned memory of the host");
    REFUSED(hg_buffer_import_device(b, (hg_memory_kind)7, 0, there, 64, &buffer),
            "kind: expected HG_MEMORY_HOST (1)");

    /* a buffer and a queue of the backend's own */
    hg_queue *queue = NULL;
    hg_native_buffer native = {.size = sizeof native};
    void *stream = NULL;
    CHECK_OK(hg_backend_allocate_buffer(b, 100, &buffer));
    CHECK_OK(hg_buffer_native(b, buffer, &native));
    CHECK(native.kind == HG_MEMORY_CUDA && native.memory && native.bytes == 100);
    CHECK_OK(hg_queue_create(b, NULL, &queue));
    CHECK_OK(hg_queue_native(queue, &stream));
    CHECK(stream && cuda.StreamSynchronize(stream) == 0);
    hg_queue_destroy(queue);
    CHECK_OK(hg_backend_free_buffer(b, buffer));

    /* pinned by others, under both names */
    memcpy(pinned, pattern, 4096);
    CHECK_OK(hg_buffer_import_device(b, HG_MEMORY_CUDA_HOST, 0, pinned, 4096, &buffer));
    CHECK_OK(hg_buffer_import(b, pinned, 4096, &second));
    CHECK(holds(b, buffer, pattern, 4096) && holds(b, second, pattern, 4096));
    CHECK(is_native(b, buffer, HG_MEMORY_CUDA_HOST, pinned, 4096));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    CHECK_OK(hg_backend_free_buffer(b, second));

    /* pinned for us: until the last import of it is gone */
    memcpy(plain, pattern, 4096);
    long before = fake_cuda_things();
    CHECK_OK(hg_buffer_import(b, plain, 4096, &buffer));
    CHECK_OK(hg_buffer_import(b, plain + 256, 256, &second));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    CHECK(fake_cuda_things() > before && holds(b, second, pattern + 256, 256));
    CHECK_OK(hg_backend_free_buffer(b, second));
    CHECK(fake_cuda_things() == before);

    /* other backends */
    REFUSED(hg_buffer_import_device(cpu, HG_MEMORY_CUDA, 0, there, 64, &buffer),
            "cpu cannot use memory of a CUDA device in place");
    CHECK_OK(hg_buffer_import_device(cpu, HG_MEMORY_CUDA_HOST, 0, pinned, 4096, &buffer));
    CHECK(holds(cpu, buffer, pattern, 4096));
    CHECK_OK(hg_backend_free_buffer(cpu, buffer));

    CHECK(cuda.MemFree(memory) == 0 && cuda.MemFreeHost(pinned) == 0 &&
          cuda.CtxPopCurrent(&context) == 0);
    CHECK(cuda.DevicePrimaryCtxRelease(0) == 0);
    hg_backend_destroy(b);
    hg_backend_destroy(cpu);
    CHECK(fake_cuda_things() == 0);
}

/* ---- drivers ---- */

static void list_devices(char said[512]) {
    char reason[256] = "";
    hg_device_info info[1];
    uint32_t count = hg_driver_cuda.enumerate(info, 1, reason);
    snprintf(said, 512, "%s", count ? info[0].reason : reason);
}

/* The loader reads its setting when a program begins. */
static void begin_again(char said[512]) {
    char line[512] = "", command[600];
    snprintf(command, sizeof command, "'%s/tests/test_cuda_devices' --list", HG_BUILD_DIR);
    FILE *f = popen(command, "r");
    if (f && fgets(line, sizeof line, f)) snprintf(said, 512, "%s", line);
    if (f) (void)pclose(f);
}

static void expect(const char *settings, void (*act)(char said[512]), const char *words) {
    char said[512];
    in_process(settings, act, said);
    CHECK_MESSAGE(strstr(said, words), "%s: expected '%s', got '%s'", settings, words, said);
}

int main(int argc, char **argv) {
    char said[512] = "";
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        list_devices(said);
        puts(said);
        return 0;
    }
    if (access(HG_BUILD_DIR "/tests/old_cuda/libcuda.so.1", R_OK) == 0)
        expect("LD_LIBRARY_PATH=" HG_BUILD_DIR "/tests/old_cuda", begin_again,
               "CUDA device not found or initialization failed: the driver has no cu");
    else
        SKIP("this build has no old driver");
    if (!fake_cuda_is_here()) {
        SKIP("the driver is not that of tests/fake_cuda");
        return test_done();
    }
    expect("FAKE_CUDA_DEVICES=2 FAKE_CUDA_CAPABILITY=89 FAKE_CUDA_MEMORY=0x20000000", list_two,
           "2: fake GPU 0, CUDA 13.0, compute capability 8.9, 512 MiB; fake GPU 1");
    expect("FAKE_CUDA_CAPABILITY=37", use_old, "compute capability 3.7 is too old: 5.0 is needed");
    expect("FAKE_CUDA_CAPABILITY=50", use_old, "no dp4a, right");
    expect("FAKE_CUDA_CAPABILITY=61", use_old, "dp4a, right");
    expect("FAKE_CUDA_DEVICES=2", use_two,
           "right, 0 left behind; Backend not available: cuda has 2 devices, numbers 0 to 1; asked "
           "for 2");
    expect("", lose_device, "Backend not available: cuda: the device was lost (");
    expect("", lose_device,
           "CUDA_ERROR_LAUNCH_FAILED): what its memory held is gone; create a new backend; a new "
           "backend works");
    expect("FAKE_CUDA_MEMORY=0x9000000", fill_memory, "; then it works");
    expect("FAKE_CUDA_MEMORY=0x9000000", fill_memory,
           "Buffer allocation failed: 25165824 bytes asked for, ");
    expect("", refuse_memory,
           "Buffer allocation failed: cuda: the device has no memory left (cuMemAllocAsync: "
           "CUDA_ERROR_OUT_OF_MEMORY); then it works");
    test_imports();
    return test_done();
}
