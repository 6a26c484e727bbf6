/* Several devices, lost devices, no memory, and drivers of no use, with the CUDA driver of tests/fake_cuda (tests/devices/on.sh fake_cuda). */
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
    for (int k = 0; k < 3 && status == HG_OK; k++) status = hg_backend_allocate_buffer(b, sizeof x, &buffers[k]);
    for (int k = 0; k < 2 && status == HG_OK; k++) status = hg_backend_copy_to_buffer(b, buffers[k], k ? y : x, sizeof x);
    for (int k = 0; k < 3 && status == HG_OK; k++) status = hg_params_set_buffer(params, NAMES[k], buffers[k]);
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
    snprintf(said, 512, "%s%s, %ld left behind; %s", failed[0] ? "the first fails" : "right", failed[1] ? ", the second fails" : "",
             fake_cuda_things(), third ? "a third one" : hg_last_error_text());
}

static void list_two(char said[512]) {
    hg_device_info info[4];
    char reason[256] = "";
    uint32_t count = hg_driver_cuda.enumerate(info, 4, reason);
    snprintf(said, 512, "%u: %s, %s, %llu MiB; %s", (unsigned)count, info[0].name, info[0].driver,
             (unsigned long long)info[0].memory_bytes >> 20, info[1].name);
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
    snprintf(said, 512, "%s%s%s", works ? "works on; " : "", first, again ? "; a new backend works" : "");
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

static CUresult refuse(const char *call) { return strcmp(call, "cuMemAllocAsync") == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS; }

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
    expect("LD_LIBRARY_PATH=" HG_BUILD_DIR "/tests/old_cuda", begin_again,
           "CUDA device not found or initialization failed: the driver has no cu");
    if (!fake_cuda_is_here()) {
        SKIP("the driver is not that of tests/fake_cuda");
        return test_done();
    }
    expect("FAKE_CUDA_DEVICES=2 FAKE_CUDA_CAPABILITY=89 FAKE_CUDA_MEMORY=0x20000000", list_two,
           "2: fake GPU 0, CUDA 13.0, compute capability 8.9, 512 MiB; fake GPU 1");
    expect("FAKE_CUDA_DEVICES=2", use_two, "right, 0 left behind; Backend not available: cuda has 2 devices, numbers 0 to 1; asked for 2");
    expect("", lose_device, "Backend not available: cuda: the device was lost (");
    expect("", lose_device, "CUDA_ERROR_LAUNCH_FAILED): what its memory held is gone; create a new backend; a new backend works");
    expect("FAKE_CUDA_MEMORY=0x9000000", fill_memory, "; then it works");
    expect("FAKE_CUDA_MEMORY=0x9000000", fill_memory, "Buffer allocation failed: 25165824 bytes asked for, ");
    expect("", refuse_memory,
           "Buffer allocation failed: cuda: the device has no memory left (cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY); then it works");
    return test_done();
}
