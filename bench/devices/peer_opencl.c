/* OpenCL as its user would call it by hand. */
#define CL_TARGET_OPENCL_VERSION 120
#include "peer.h"
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>

/* clang-format off */
#define SYMBOLS(X)                                                                                                                         \
    X(clGetPlatformIDs)                                                                                                                    \
    X(clGetDeviceIDs) X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clCreateProgramWithSource) \
        X(clBuildProgram) X(clGetProgramBuildInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) X(clCreateBuffer)              \
            X(clReleaseMemObject) X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clFinish) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer)
/* clang-format on */
#define DECLARE(name) static __typeof__(name) *p_##name;
SYMBOLS(DECLARE)

struct peer {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffers[PEER_BUFFERS];
    peer_workload work;
    int arguments_set; /* of a workload of one pass: they stay */
};

static peer *open_device(uint32_t index, char reason[256]) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, 256, "no libOpenCL.so.1");
        return NULL;
    }
#define LOAD(name)                               \
    *(void **)&p_##name = dlsym(library, #name); \
    if (!p_##name) return NULL;
    SYMBOLS(LOAD)
    cl_platform_id platforms[8];
    cl_uint platform_count = 0;
    p_clGetPlatformIDs(8, platforms, &platform_count);
    for (cl_uint i = 0; i < platform_count && i < 8; i++) {
        cl_device_id devices[8];
        cl_uint count = 0;
        if (p_clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS)
            continue;
        if (index >= count) {
            index -= count;
            continue;
        }
        peer *p = calloc(1, sizeof *p);
        cl_int error;
        if (!p) return NULL;
        p->device = devices[index];
        p->context = p_clCreateContext(NULL, 1, &p->device, NULL, NULL, &error);
        p->queue = p->context ? p_clCreateCommandQueue(p->context, p->device, 0, &error) : NULL;
        if (p->queue) return p;
        free(p);
        break;
    }
    snprintf(reason, 256, "no OpenCL device");
    return NULL;
}

static void close_device(peer *p) {
    p_clReleaseCommandQueue(p->queue);
    p_clReleaseContext(p->context);
    free(p);
}

static char *read_text(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.cl", folder, name);
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 65536);
    if (!f || !text || fread(text, 1, 65535, f) == 0) {
        free(text);
        text = NULL;
    }
    if (f) fclose(f);
    return text;
}

static int prepare(peer *p, const peer_workload *w, const char *folder) {
    cl_int error;
    char *text = read_text(folder, w->name);
    if (!text) return 0;
    p->work = *w;
    p->arguments_set = 0;
    p->program = p_clCreateProgramWithSource(p->context, 1, (const char **)&text, NULL, &error);
    free(text);
    if (!p->program || p_clBuildProgram(p->program, 1, &p->device,
                                        "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt",
                                        NULL, NULL) != CL_SUCCESS) {
        char log[2000] = "";
        p_clGetProgramBuildInfo(p->program, p->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s: %s\n", w->name, log);
        return 0;
    }
    p->kernel = p_clCreateKernel(p->program, w->name, &error);
    if (!p->kernel) return 0;
    for (int i = 0; i < w->buffer_count; i++) {
        p->buffers[i] = p_clCreateBuffer(p->context, CL_MEM_READ_WRITE, w->bytes[i], NULL, &error);
        if (!p->buffers[i]) return 0;
        void *zeros = calloc(1, w->bytes[i]);
        p_clEnqueueWriteBuffer(p->queue, p->buffers[i], CL_TRUE, 0, w->bytes[i],
                               w->data[i] ? w->data[i] : zeros, 0, NULL, NULL);
        free(zeros);
    }
    return 1;
}

static void set_arguments(peer *p, const peer_pass *pass) {
    cl_uint at = 0;
    for (int i = 0; i < p->work.pass_buffers; i++)
        p_clSetKernelArg(p->kernel, at++, sizeof(cl_mem), &p->buffers[pass->buffers[i]]);
    for (int i = 0; i < p->work.scalar_count; i++)
        p_clSetKernelArg(p->kernel, at++, 4, &pass->scalars[i]);
}

static void run(peer *p) {
    const peer_workload *w = &p->work;
    for (int k = 0; k < w->pass_count; k++) {
        const peer_pass *pass = &w->passes[k];
        if (!p->arguments_set) set_arguments(p, pass);
        p->arguments_set = w->pass_count == 1;
        size_t global[2] = {(size_t)pass->groups[0] * pass->group[0],
                            (size_t)pass->groups[1] * pass->group[1]};
        size_t local[2] = {pass->group[0], pass->group[1]};
        p_clEnqueueNDRangeKernel(p->queue, p->kernel, 2, NULL, global, local, 0, NULL, NULL);
    }
    p_clFinish(p->queue);
}

static void read_buffer(peer *p, int buffer, void *to, size_t bytes) {
    p_clEnqueueReadBuffer(p->queue, p->buffers[buffer], CL_TRUE, 0, bytes, to, 0, NULL, NULL);
}

static void release(peer *p) {
    for (int i = 0; i < p->work.buffer_count; i++)
        if (p->buffers[i]) p_clReleaseMemObject(p->buffers[i]);
    if (p->kernel) p_clReleaseKernel(p->kernel);
    if (p->program) p_clReleaseProgram(p->program);
    memset(p->buffers, 0, sizeof p->buffers);
    p->kernel = NULL;
    p->program = NULL;
}

const peer_api peer_opencl = {"opencl", open_device, close_device, prepare,
                              run,      read_buffer, release,      NULL};
