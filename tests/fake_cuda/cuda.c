/* The CUDA driver's functions without a GPU (README.md). A stream is a thread with a list of
 * operations, so that work goes on while its caller does. Settings, read by cuInit: FAKE_CUDA_INIT
 * an error that it returns, FAKE_CUDA_DEVICES how many there are, FAKE_CUDA_CAPABILITY theirs (90),
 * FAKE_CUDA_MEMORY bytes of each, FAKE_CUDA_OLD_PTX: it reads no PTX. */
#include "backends/cuda/cu_types.h"
#include "support/shim_run.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CU_FUNCTION(name, symbol, parameters) \
    __attribute__((visibility("default"))) CUresult fake_##name parameters __asm__(symbol);
#include "backends/cuda/symbols.def"

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_CONTEXT = 201,
    NOT_READY = 600,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500
};

/* ---- what lives ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long live;
static int devices = 1, capability = 90;
static size_t memory_of_device = (size_t)1 << 30, memory_used;
static __thread int depth;       /* contexts that are the calling thread's */
static __thread int current[16]; /* their devices */

__attribute__((visibility("default"))) long fake_cuda_live(void);
long fake_cuda_live(void) {
    (void)pthread_mutex_lock(&lock);
    long count = live;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

static void count(long more) {
    (void)pthread_mutex_lock(&lock);
    live += more;
    (void)pthread_mutex_unlock(&lock);
}

#define IN_CONTEXT \
    if (depth == 0) return INVALID_CONTEXT

/* ---- devices ---- */

CUresult fake_Init(unsigned flags) {
    const char *error = getenv("FAKE_CUDA_INIT"), *many = getenv("FAKE_CUDA_DEVICES"),
               *what = getenv("FAKE_CUDA_CAPABILITY"), *bytes = getenv("FAKE_CUDA_MEMORY");
    (void)flags;
    if (many) devices = atoi(many);
    if (what) capability = atoi(what);
    if (bytes) memory_of_device = (size_t)strtoull(bytes, NULL, 0);
    if (error && *error) return atoi(error);
    return devices > 0 ? OK : NO_DEVICE;
}
CUresult fake_DriverGetVersion(int *version) {
    *version = 13000;
    return OK;
}
CUresult fake_GetErrorName(CUresult error, const char **name) {
    static const struct {
        CUresult error;
        const char *name;
    } NAMES[] = {{1, "CUDA_ERROR_INVALID_VALUE"},    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {100, "CUDA_ERROR_NO_DEVICE"},      {201, "CUDA_ERROR_INVALID_CONTEXT"},
                 {400, "CUDA_ERROR_INVALID_HANDLE"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {719, "CUDA_ERROR_LAUNCH_FAILED"},  {999, "CUDA_ERROR_UNKNOWN"}};
    *name = NULL;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].error == error) *name = NAMES[i].name;
    return *name ? OK : INVALID_VALUE;
}
CUresult fake_DeviceGetCount(int *number) {
    *number = devices;
    return OK;
}
CUresult fake_DeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < devices ? OK : 101;
}
CUresult fake_DeviceGetName(char *name, int size, CUdevice device) {
    snprintf(name, (size_t)size, "fake GPU %d", device);
    return OK;
}
CUresult fake_DeviceTotalMem(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = memory_of_device;
    return OK;
}
CUresult fake_DeviceGetAttribute(int *value, int attribute, CUdevice device) {
    (void)device;
    switch (attribute) {
    case 1: *value = SHIM_MOST_LANES; return OK;
    case 2:
    case 3: *value = 1024; return OK;
    case 4: *value = 64; return OK;
    case 5: *value = INT32_MAX; return OK;
    case 6:
    case 7: *value = 65535; return OK;
    case 8: *value = 48 * 1024; return OK;
    case 16: *value = 2; return OK;
    case 75: *value = capability / 10; return OK;
    case 76: *value = capability % 10; return OK;
    case 97: *value = SHIM_MOST_SHARED; return OK;
    case 99:
    case 115: *value = 1; return OK;
    default: return INVALID_VALUE;
    }
}
static int contexts[64];
CUresult fake_DevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    *context = (CUcontext)&contexts[device];
    count(1);
    return OK;
}
CUresult fake_DevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    count(-1);
    return OK;
}
CUresult fake_CtxPushCurrent(CUcontext context) {
    if (!context) return INVALID_CONTEXT;
    current[depth++ & 15] = (int)((int *)context - contexts);
    return OK;
}
CUresult fake_CtxGetDevice(CUdevice *device) {
    IN_CONTEXT;
    *device = current[(depth - 1) & 15];
    return OK;
}
CUresult fake_CtxPopCurrent(CUcontext *context) {
    IN_CONTEXT;
    *context = NULL;
    depth--;
    return OK;
}
CUresult fake_DeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    static int pools;
    (void)device;
    *pool = (CUmemoryPool)&pools;
    return OK;
}
CUresult fake_MemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
    (void)pool, (void)value;
    return attribute == 4 ? OK : INVALID_VALUE;
}

/* ---- memory: its size stands 64 bytes in front ---- */

enum { FRONT = 64 };
#define VAST                                                                                   \
    ((size_t)1 << 30) /* such memory comes in pages that take none until they are written, and \
                         filled with zeros again */

typedef enum memory_type { ON_HOST = 1, ON_DEVICE = 2 } memory_type;
typedef struct range {
    struct range *next;
    uint8_t *start;
    size_t size;
    memory_type type;
    int device;
} range;
static range *ranges;

static void add_range(void *start, size_t size, memory_type type) {
    range *r = malloc(sizeof *r);
    if (!r) abort();
    (void)pthread_mutex_lock(&lock);
    *r = (range){ranges, start, size, type, current[(depth - 1) & 15]};
    ranges = r;
    (void)pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void remove_range(const void *start) {
    for (range **at = &ranges; *at; at = &(*at)->next) {
        range *r = *at;
        if (r->start != start) continue;
        *at = r->next;
        free(r);
        return;
    }
}

static CUresult answer(const range *r, int attribute, CUdeviceptr address, void *value) {
    switch (attribute) {
    case 2: memcpy(value, &(unsigned){r->type}, sizeof(unsigned)); return OK;
    case 3: memcpy(value, &address, sizeof address); return OK;
    case 9: memcpy(value, &r->device, sizeof r->device); return OK;
    case 11: memcpy(value, &(CUdeviceptr){(uintptr_t)r->start}, sizeof(CUdeviceptr)); return OK;
    case 12: memcpy(value, &r->size, sizeof r->size); return OK;
    default: return INVALID_VALUE;
    }
}

CUresult fake_PointerGetAttribute(void *value, int attribute, CUdeviceptr address) {
    IN_CONTEXT;
    CUresult said = INVALID_VALUE;
    (void)pthread_mutex_lock(&lock);
    for (const range *r = ranges; r && said != OK; r = r->next)
        if (address >= (uintptr_t)r->start && address - (uintptr_t)r->start < r->size)
            said = answer(r, attribute, address, value);
    (void)pthread_mutex_unlock(&lock);
    return said;
}

static uint8_t *map_pages(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* memset; whole pages of zeros are given back to the system. */
static void fill_bytes(uint8_t *to, int value, size_t size) {
    uint8_t *first = (uint8_t *)(((uintptr_t)to + 4095) & ~(uintptr_t)4095),
            *last = (uint8_t *)((uintptr_t)(to + size) & ~(uintptr_t)4095);
    if (value || size < VAST || madvise(first, (size_t)(last - first), MADV_DONTNEED) != 0) {
        memset(to, value, size);
        return;
    }
    memset(to, 0, (size_t)(first - to));
    memset(last, 0, (size_t)(to + size - last));
}

static CUresult allocate(void **memory, size_t size, memory_type type) {
    IN_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    bool room = size <= memory_of_device - memory_used;
    if (room) memory_used += size;
    (void)pthread_mutex_unlock(&lock);
    uint8_t *block = !room         ? NULL
                     : size < VAST ? aligned_alloc(FRONT, (size + 2 * FRONT - 1) / FRONT * FRONT)
                                   : map_pages(size + FRONT);
    if (!block) return OUT_OF_MEMORY;
    memcpy(block, &size, sizeof size);
    memset(block + FRONT, 0xCD, size < VAST ? size : 4096); /* nobody promises zeros */
    *memory = block + FRONT;
    add_range(*memory, size, type);
    count(1);
    return OK;
}

static CUresult release(void *memory) {
    IN_CONTEXT;
    size_t size;
    uint8_t *block = (uint8_t *)memory - FRONT;
    memcpy(&size, block, sizeof size);
    if (size < VAST)
        free(block);
    else
        (void)munmap(block, size + FRONT);
    (void)pthread_mutex_lock(&lock);
    remove_range(memory);
    memory_used -= size;
    live--;
    (void)pthread_mutex_unlock(&lock);
    return OK;
}

CUresult fake_MemAlloc(CUdeviceptr *memory, size_t size) {
    return allocate((void **)memory, size, ON_DEVICE);
}
CUresult fake_MemFree(CUdeviceptr memory) { return release((void *)(uintptr_t)memory); }
CUresult fake_MemAllocAsync(CUdeviceptr *memory, size_t size, CUstream stream) {
    (void)stream;
    return allocate((void **)memory, size, ON_DEVICE);
}
CUresult fake_MemHostAlloc(void **memory, size_t size, unsigned flags) {
    (void)flags;
    return allocate(memory, size, ON_HOST);
}
CUresult fake_MemFreeHost(void *memory) { return release(memory); }
CUresult fake_MemHostRegister(void *memory, size_t size, unsigned flags) {
    IN_CONTEXT;
    (void)flags;
    unsigned type;
    if (fake_PointerGetAttribute(&type, 2, (CUdeviceptr)(uintptr_t)memory) == OK)
        return 712; /* CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED */
    add_range(memory, size, ON_HOST);
    count(1);
    return OK;
}
CUresult fake_MemHostUnregister(void *memory) {
    IN_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    remove_range(memory);
    (void)pthread_mutex_unlock(&lock);
    count(-1);
    return OK;
}
CUresult fake_MemHostGetDevicePointer(CUdeviceptr *address, void *memory, unsigned flags) {
    (void)flags;
    *address = (CUdeviceptr)(uintptr_t)memory;
    return OK;
}

/* ---- streams ---- */

struct CUmod_st {
    shim_code code;
};
struct CUevent_st {
    unsigned long long recorded, done; /* how often */
    unsigned long long seen;           /* done, when it was looked at */
};

typedef enum op_kind { OP_COPY, OP_FILL, OP_CALL, OP_KERNEL, OP_RECORD, OP_WAIT, OP_FREE } op_kind;
typedef struct op {
    struct op *next;
    op_kind kind;
    void *to;
    const void *from;
    size_t size;
    int value;
    void (*call)(void *user);
    void *user;
    const shim_code *code;
    uint32_t groups[3], group[3];
    uint64_t shared;
    uint8_t *record; /* of a kernel; its copy */
    CUevent event;
    unsigned long long number;
} op;

struct CUgraph_st {
    op *first, *last;
    struct owned {
        struct owned *next;
        void *memory;
    } * owned; /* memory that lives between two of its operations: always at the same place */
};
struct CUgraphExec_st {
    op *first, *last;
};
struct CUstream_st {
    pthread_t thread;
    op *first, *last;
    bool busy, over;
    CUgraph capture; /* into which operations go instead */
};

static void run(op *o) {
    switch (o->kind) {
    case OP_COPY: memcpy(o->to, o->from, o->size); break;
    case OP_FILL: fill_bytes(o->to, o->value, o->size); break;
    case OP_CALL: o->call(o->record ? o->record : o->user); break;
    case OP_KERNEL:
        if (!shim_run(o->code, o->groups, o->group, o->shared, NULL, o->record))
            fprintf(stderr, "fake CUDA: a group that cannot run\n"), abort();
        break;
    case OP_FREE:
        depth++;
        (void)release(o->to);
        depth--;
        break;
    case OP_RECORD:
    case OP_WAIT: break;
    }
}

static void *work(void *user) {
    CUstream s = user;
    (void)pthread_mutex_lock(&lock);
    while (!s->over || s->first) {
        op *o = s->first;
        if (!o || (o->kind == OP_WAIT && o->event->done < o->number)) {
            s->busy = o != NULL;
            (void)pthread_cond_wait(&changed, &lock);
            continue;
        }
        s->busy = true;
        (void)pthread_mutex_unlock(&lock);
        run(o);
        (void)pthread_mutex_lock(&lock);
        if (o->kind == OP_RECORD) o->event->done = o->number;
        s->first = o->next;
        if (!s->first) s->last = NULL;
        s->busy = s->first != NULL;
        (void)pthread_cond_broadcast(&changed);
        free(o->record);
        free(o);
    }
    (void)pthread_mutex_unlock(&lock);
    return NULL;
}

static void append(op **first, op **last, op *o) {
    o->next = NULL;
    if (*last)
        (*last)->next = o;
    else
        *first = o;
    *last = o;
}

static op *copy_of(const op *from) {
    op *o = malloc(sizeof *o);
    *o = *from;
    if (!from->record) return o;
    o->record = malloc(from->size ? from->size : 1);
    memcpy(o->record, from->record, from->size);
    return o;
}

static CUresult add(CUstream stream, const op *what) {
    IN_CONTEXT;
    if (!stream) return INVALID_HANDLE;
    op *o = copy_of(what);
    (void)pthread_mutex_lock(&lock);
    if (stream->capture)
        append(&stream->capture->first, &stream->capture->last, o);
    else
        append(&stream->first, &stream->last, o);
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    return OK;
}

CUresult fake_StreamCreate(CUstream *stream, unsigned flags) {
    IN_CONTEXT;
    (void)flags;
    CUstream s = calloc(1, sizeof *s);
    if (!s || pthread_create(&s->thread, NULL, work, s) != 0) return OUT_OF_MEMORY;
    *stream = s;
    count(1);
    return OK;
}
CUresult fake_StreamDestroy(CUstream s) {
    IN_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    s->over = true;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    (void)pthread_join(s->thread, NULL);
    free(s);
    count(-1);
    return OK;
}
CUresult fake_StreamSynchronize(CUstream s) {
    IN_CONTEXT;
    if (s->capture) return 900; /* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
    (void)pthread_mutex_lock(&lock);
    while (s->first) (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
    return OK;
}
CUresult fake_LaunchHostFunc(CUstream stream, void (*function)(void *user), void *user) {
    return add(stream, &(op){.kind = OP_CALL, .call = function, .user = user});
}
/* Calls the function with a copy of the bytes, once, or as often as a graph runs: what a library
 * does in a stream. */
__attribute__((visibility("default"))) int
fake_cuda_call(CUstream stream, void (*function)(void *bytes), const void *bytes, size_t size);
int fake_cuda_call(CUstream stream, void (*function)(void *bytes), const void *bytes, size_t size) {
    op o = {.kind = OP_CALL, .call = function, .size = size, .record = (uint8_t *)(uintptr_t)bytes};
    return add(stream, &o);
}
CUresult fake_MemFreeAsync(CUdeviceptr memory, CUstream stream) {
    if (stream && stream->capture) {
        struct owned *o = malloc(sizeof *o);
        if (!o) return OUT_OF_MEMORY;
        *o = (struct owned){stream->capture->owned, (void *)(uintptr_t)memory};
        stream->capture->owned = o;
        return OK;
    }
    return add(stream, &(op){.kind = OP_FREE, .to = (void *)(uintptr_t)memory});
}
CUresult fake_MemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream) {
    return add(stream,
               &(op){.kind = OP_FILL, .to = (void *)(uintptr_t)to, .value = value, .size = size});
}
static CUresult copy(void *to, const void *from, size_t size, CUstream stream) {
    const uint8_t *a = to, *b = from;
    if (a < b + size && b < a + size) return INVALID_VALUE; /* not defined: a test finds it so */
    return add(stream, &(op){.kind = OP_COPY, .to = to, .from = from, .size = size});
}
CUresult fake_MemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return copy((void *)(uintptr_t)to, from, size, stream);
}
CUresult fake_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy(to, (void *)(uintptr_t)from, size, stream);
}
CUresult fake_MemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size, stream);
}

/* ---- events ---- */

CUresult fake_EventCreate(CUevent *event, unsigned flags) {
    IN_CONTEXT;
    (void)flags;
    *event = calloc(1, sizeof **event);
    count(1);
    return *event ? OK : OUT_OF_MEMORY;
}
CUresult fake_EventDestroy(CUevent e) {
    IN_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    while (e->done < e->recorded) (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
    free(e);
    count(-1);
    return OK;
}
CUresult fake_EventRecord(CUevent e, CUstream stream) {
    IN_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    unsigned long long number = ++e->recorded;
    (void)pthread_mutex_unlock(&lock);
    return add(stream, &(op){.kind = OP_RECORD, .event = e, .number = number});
}
CUresult fake_StreamWaitEvent(CUstream stream, CUevent e, unsigned flags) {
    (void)flags;
    (void)pthread_mutex_lock(&lock);
    unsigned long long number = e->recorded;
    (void)pthread_mutex_unlock(&lock);
    return add(stream, &(op){.kind = OP_WAIT, .event = e, .number = number});
}
/* What is done is not yet at the first look: who looks twice may see two answers. */
CUresult fake_EventQuery(CUevent e) {
    IN_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    bool done = e->done >= e->recorded && e->seen == e->done;
    if (e->done >= e->recorded) e->seen = e->done;
    (void)pthread_mutex_unlock(&lock);
    return done ? OK : NOT_READY;
}
CUresult fake_EventSynchronize(CUevent e) {
    IN_CONTEXT;
    (void)pthread_mutex_lock(&lock);
    while (e->done < e->recorded) (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
    return OK;
}

/* ---- modules: a shared library behind its size (nvrtc.c) ---- */

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/* The code in PTX of tests/fake_cuda/nvrtc.c. NULL: it is for a newer device. */
static char *read_ptx(const char *text) {
    const char *target = strstr(text, ".target sm_"), *code = target ? strstr(target, "//") : NULL;
    if (!code || atoi(target + 11) > capability) return NULL;
    code += 2;
    char *bytes = malloc(strlen(code) / 2 + 1);
    for (size_t i = 0; bytes && code[2 * i]; i++)
        bytes[i] = (char)(digit(code[2 * i]) << 4 | digit(code[2 * i + 1]));
    return bytes;
}

static CUresult load_code(CUmodule *module, const char *image);
CUresult fake_ModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, int *names,
                               void **values) {
    IN_CONTEXT;
    if (options && (options != 1 || names[0] != 0 || !values[0]))
        return INVALID_VALUE; /* CU_JIT_MAX_REGISTERS */
    if (strncmp(image, "// fake", 7) != 0) return load_code(module, image);
    if (getenv("FAKE_CUDA_OLD_PTX")) return 222; /* CUDA_ERROR_UNSUPPORTED_PTX_VERSION */
    char *bytes = read_ptx(image);
    CUresult error = bytes ? load_code(module, bytes) : 209; /* CUDA_ERROR_NO_BINARY_FOR_GPU */
    free(bytes);
    return error;
}

static CUresult load_code(CUmodule *module, const char *image) {
    char path[] = "/tmp/hologram-fake-cuda-XXXXXX", message[256];
    size_t size;
    memcpy(&size, image, sizeof size);
    int file = mkstemp(path);
    CUmodule m = calloc(1, sizeof *m);
    bool ok = file >= 0 && m &&
              write(file, image + sizeof size, size - sizeof size) == (ssize_t)(size - sizeof size);
    if (file >= 0) (void)close(file);
    ok = ok && shim_open(path, &m->code, message, sizeof message);
    (void)unlink(path);
    if (!ok) {
        free(m);
        return 200; /* CUDA_ERROR_INVALID_IMAGE */
    }
    *module = m;
    count(1);
    return OK;
}
CUresult fake_ModuleUnload(CUmodule m) {
    IN_CONTEXT;
    shim_close(&m->code);
    free(m);
    count(-1);
    return OK;
}
CUresult fake_ModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    (void)name;
    *function = (CUfunction)module;
    return OK;
}
CUresult fake_FuncGetAttribute(int *value, int attribute, CUfunction function) {
    const char *most = getenv("FAKE_CUDA_LANES"); /* as of a kernel with many registers */
    (void)function;
    *value = most ? atoi(most) : SHIM_MOST_LANES;
    return attribute == 0 ? OK : INVALID_VALUE;
}
CUresult fake_FuncSetAttribute(CUfunction function, int attribute, int value) {
    (void)function;
    return attribute == 8 && value <= SHIM_MOST_SHARED ? OK : INVALID_VALUE;
}
CUresult fake_LaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned shared, CUstream stream,
                           void **parameters, void **extra) {
    const shim_code *code = &((CUmodule)function)->code;
    (void)extra;
    if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || !bx || !by || !bz || bz > 64 ||
        (uint64_t)bx * by * bz > SHIM_MOST_LANES)
        return INVALID_VALUE;
    if (shared > SHIM_MOST_SHARED) return INVALID_VALUE;
    op o = {.kind = OP_KERNEL,
            .code = code,
            .groups = {gx, gy, gz},
            .group = {bx, by, bz},
            .shared = shared,
            .size = code->record_bytes};
    if (code->record_bytes)
        o.record = code->record_by_pointer ? (uint8_t *)*(CUdeviceptr *)parameters[0]
                                           : parameters[0];
    return add(stream, &o);
}

/* ---- graphs ---- */

CUresult fake_StreamBeginCapture(CUstream stream, int mode) {
    IN_CONTEXT;
    (void)mode;
    stream->capture = calloc(1, sizeof *stream->capture);
    count(1);
    return stream->capture ? OK : OUT_OF_MEMORY;
}
CUresult fake_StreamEndCapture(CUstream stream, CUgraph *graph) {
    IN_CONTEXT;
    *graph = stream->capture;
    stream->capture = NULL;
    return *graph ? OK : INVALID_VALUE;
}
static void free_ops(op *o) {
    while (o) {
        op *next = o->next;
        free(o->record);
        free(o);
        o = next;
    }
}
CUresult fake_GraphInstantiate(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
    IN_CONTEXT;
    (void)flags;
    CUgraphExec e = calloc(1, sizeof *e);
    for (const op *o = graph->first; e && o; o = o->next) append(&e->first, &e->last, copy_of(o));
    *executable = e;
    count(1);
    return e ? OK : OUT_OF_MEMORY;
}
static long graph_launches;
__attribute__((visibility("default"))) long fake_cuda_graph_launches(void);
long fake_cuda_graph_launches(void) { return graph_launches; }
CUresult fake_GraphLaunch(CUgraphExec e, CUstream stream) {
    graph_launches++;
    CUresult error = OK;
    for (const op *o = e->first; o && error == OK; o = o->next) error = add(stream, o);
    return error;
}
CUresult fake_GraphExecDestroy(CUgraphExec e) {
    free_ops(e->first);
    free(e);
    count(-1);
    return OK;
}
CUresult fake_GraphDestroy(CUgraph g) {
    while (g->owned) {
        struct owned *o = g->owned;
        g->owned = o->next;
        (void)release(o->memory);
        free(o);
    }
    free_ops(g->first);
    free(g);
    count(-1);
    return OK;
}
