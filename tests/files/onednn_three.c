/* A library that says it is oneDNN 3.1.4 and has nothing else. */
typedef struct version {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
} version;

const version *dnnl_version(void);
const version *dnnl_version(void) {
    static const version three = {3, 1, 4, "", 2, 0};
    return &three;
}
