/* NVRTC's functions over clang++ (README.md). Machine code is the shared library's bytes, PTX the
 * same as hexadecimal text behind a head with the architecture. FAKE_NVRTC_NEWEST: the newest
 * architecture that it knows (90). FAKE_NVRTC_KEEP: a folder that each text is written to. */
#include "support/shim_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
typedef struct _nvrtcProgram {
    char *text, *code, *ptx;
    size_t code_bytes;
    int architecture;
    char log[700];
} * nvrtcProgram;

/* How often it has compiled. */
EXPORT int fake_nvrtc_compilations(void);
static int compilations;
int fake_nvrtc_compilations(void) { return compilations; }

EXPORT int nvrtcVersion(int *major, int *minor);
EXPORT int nvrtcGetNumSupportedArchs(int *count);
EXPORT int nvrtcGetSupportedArchs(int *architectures);
EXPORT int nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name,
                              int headers, const char *const *texts, const char *const *names);
EXPORT int nvrtcDestroyProgram(nvrtcProgram *program);
EXPORT int nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options);
EXPORT int nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size);
EXPORT int nvrtcGetProgramLog(nvrtcProgram program, char *log);
EXPORT int nvrtcGetCUBINSize(nvrtcProgram program, size_t *size);
EXPORT int nvrtcGetCUBIN(nvrtcProgram program, char *code);
EXPORT int nvrtcGetPTXSize(nvrtcProgram program, size_t *size);
EXPORT int nvrtcGetPTX(nvrtcProgram program, char *text);

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}
static const int KNOWN[] = {50, 61, 75, 80, 90};
int nvrtcGetNumSupportedArchs(int *count) {
    const char *newest = getenv("FAKE_NVRTC_NEWEST");
    for (*count = 0; *count < (int)(sizeof KNOWN / sizeof *KNOWN) &&
                     KNOWN[*count] <= (newest ? atoi(newest) : 90);)
        ++*count;
    return 0;
}
int nvrtcGetSupportedArchs(int *architectures) {
    int count;
    (void)nvrtcGetNumSupportedArchs(&count);
    memcpy(architectures, KNOWN, (size_t)count * sizeof *KNOWN);
    return 0;
}

int nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int headers,
                       const char *const *texts, const char *const *names) {
    (void)name, (void)headers, (void)texts, (void)names;
    nvrtcProgram p = calloc(1, sizeof *p);
    if (p) p->text = strdup(text);
    *program = p;
    return p && p->text ? 0 : 1;
}

int nvrtcDestroyProgram(nvrtcProgram *program) {
    nvrtcProgram p = *program;
    free(p->text);
    free(p->code);
    free(p->ptx);
    free(p);
    *program = NULL;
    return 0;
}

/* The kernel's name, and how it takes its record. */
static bool read_kernel(const char *text, char name[96], shim_record *record) {
    static const char HEAD[] = "__global__ void ";
    const char *at = strstr(text, HEAD);
    if (!at) return false;
    at += sizeof HEAD - 1;
    size_t length = strcspn(at, "(");
    if (length == 0 || length >= 96) return false;
    memcpy(name, at, length);
    name[length] = 0;
    at += length;
    *record = strncmp(at, "(const __grid_constant__ ", 25) == 0 ? SHIM_RECORD_VALUE
              : strncmp(at, "()", 2) == 0                       ? SHIM_RECORD_NONE
                                                                : SHIM_RECORD_POINTER;
    return true;
}

static bool read_code(nvrtcProgram p, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    (void)fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    p->code = malloc((size_t)size + sizeof(size_t));
    p->code_bytes = (size_t)size + sizeof(size_t);
    if (p->code)
        memcpy(p->code, &p->code_bytes, sizeof(size_t)); /* as long as it is: modules are loaded
                                                            without their size */
    bool ok = p->code && fread(p->code + sizeof(size_t), 1, (size_t)size, f) == (size_t)size;
    (void)fclose(f);
    return ok;
}

static int compile_in(nvrtcProgram p, const char *folder) {
    char name[96], source[128], library[128], entry[4096];
    shim_record record;
    if (!read_kernel(p->text, name, &record)) {
        snprintf(p->log, sizeof p->log, "the text has no kernel");
        return 6;
    }
    shim_print_facts(entry, sizeof entry, name, record, strstr(p->text, "__syncthreads()") != NULL);
    shim_print_entry(entry + strlen(entry), sizeof entry - strlen(entry), name, record);
    snprintf(source, sizeof source, "%s/kernel.cu.cpp", folder);
    snprintf(library, sizeof library, "%s/kernel.so", folder);
    bool ok = shim_compile(p->text, entry, "-include shim_cuda.h", source, library, p->log,
                           sizeof p->log) &&
              read_code(p, library);
    (void)unlink(library);
    return ok ? 0 : 6;
}

static void keep_text(const char *text) {
    const char *folder = getenv("FAKE_NVRTC_KEEP");
    char path[512];
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%d.cu", folder, compilations);
    FILE *f = fopen(path, "w");
    if (f) (void)fputs(text, f);
    if (f) (void)fclose(f);
}

/* A text with the architecture and the code. */
static bool print_ptx(nvrtcProgram p) {
    static const char DIGITS[] = "0123456789abcdef";
    p->ptx = malloc(64 + 2 * p->code_bytes + 1);
    if (!p->ptx) return false;
    char *at = p->ptx +
               sprintf(p->ptx, "// fake\n.version 8.0\n.target sm_%d\n//", p->architecture);
    for (size_t i = 0; i < p->code_bytes; i++) {
        *at++ = DIGITS[(unsigned char)p->code[i] >> 4];
        *at++ = DIGITS[p->code[i] & 15];
    }
    *at = 0;
    return true;
}

/* The options that the library promises must be there. -minimal is refused, as NVRTC of CUDA 12.0
 * refuses it. */
int nvrtcCompileProgram(nvrtcProgram p, int count, const char *const *options) {
    static const char *const WANTED[] = {"-fmad=false", "-prec-div=true", "-prec-sqrt=true",
                                         "-ftz=false"};
    char folder[] = "/tmp/hologram-fake-nvrtc-XXXXXX";
    for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++) {
        bool found = false;
        for (int k = 0; k < count; k++) found = found || strcmp(options[k], WANTED[i]) == 0;
        if (found) continue;
        snprintf(p->log, sizeof p->log, "option %s is missing", WANTED[i]);
        return 5;
    }
    for (int k = 0; k < count; k++) {
        if (strcmp(options[k], "-minimal") == 0) {
            snprintf(p->log, sizeof p->log, "unrecognized option %s found", options[k]);
            return 5;
        }
        /* -arch=sm_90, -arch=compute_90 */
        if (strncmp(options[k], "-arch=", 6) == 0)
            p->architecture = atoi(strchr(options[k], '_') + 1);
    }
    if (!mkdtemp(folder)) return 1;
    compilations++;
    keep_text(p->text);
    int error = compile_in(p, folder);
    (void)rmdir(folder);
    return error ? error : print_ptx(p) ? 0 : 1;
}

int nvrtcGetProgramLogSize(nvrtcProgram p, size_t *size) {
    *size = strlen(p->log) + 1;
    return 0;
}
int nvrtcGetProgramLog(nvrtcProgram p, char *log) {
    strcpy(log, p->log);
    return 0;
}
int nvrtcGetCUBINSize(nvrtcProgram p, size_t *size) {
    *size = p->code_bytes;
    return p->code ? 0 : 4;
}
int nvrtcGetCUBIN(nvrtcProgram p, char *code) {
    memcpy(code, p->code, p->code_bytes);
    return 0;
}
int nvrtcGetPTXSize(nvrtcProgram p, size_t *size) {
    *size = strlen(p->ptx) + 1;
    return 0;
}
int nvrtcGetPTX(nvrtcProgram p, char *text) {
    strcpy(text, p->ptx);
    return 0;
}
