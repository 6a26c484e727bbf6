#include "c_build.h"
#include "base/base.h"
#include "offline/build.h"
#include "isa/program.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As NAME.h has it; the names of the text are those of `slice`. */
typedef struct launch {
    uint64_t lanes, begin, end;
    uint32_t grid[3], block[3];
    const int *stop;
} launch;

typedef struct built {
    const hg_program *program;
    bool parts;
    int (*call)(const launch *l, void *const *memory, const size_t *bytes, const uint64_t *scalars,
                c_build_fault *f);
} built;

struct c_build {
    void *library;
    uint32_t count;
    built *programs;
    int (*use_level)(const char *level);
    int (*check)(void);
};

static char command[128];

bool c_build_use(const char *compiler, char reason[256]) {
    char line[256];
    snprintf(command, sizeof command, "%s", compiler);
    snprintf(line, sizeof line, "%s --version >/dev/null 2>&1", command);
    return system(line) == 0 || (snprintf(reason, 256, "no compiler '%s'", command), false);
}

/* ---- the text ---- */

static const char *scalar_type(hg_type type) {
    static const char *const names[HG_TYPE_COUNT] = {
        [HG_TYPE_I8] = "int8_t",    [HG_TYPE_I16] = "int16_t",   [HG_TYPE_I32] = "int32_t",
        [HG_TYPE_I64] = "int64_t",  [HG_TYPE_U8] = "uint8_t",    [HG_TYPE_U16] = "uint16_t",
        [HG_TYPE_F16] = "uint16_t", [HG_TYPE_BF16] = "uint16_t", [HG_TYPE_U32] = "uint32_t",
        [HG_TYPE_U64] = "uint64_t", [HG_TYPE_F32] = "float",     [HG_TYPE_F64] = "double"};
    return names[type];
}

static bool has_known_scalars(const hg_program *p) {
    bool known = true;
    for (uint32_t i = 0; i < p->param_count; i++)
        known = known &&
                (p->params[i].kind != HG_PARAM_SCALAR || scalar_type((hg_type)p->params[i].type));
    return known;
}

/* One signature for all programs. works: it takes memory of its own. */
static void add_call(const hg_program *p, uint32_t number, bool works, hg_text *c) {
    hg_text arguments = {0};
    const char *signature = "(const slice_launch *l, void *const *memory, const size_t *bytes, "
                            "const uint64_t *scalars, slice_fault *f)";
    hg_text_addf(c, "\nint slice_call_%u%s;\nint slice_call_%u%s {\n", (unsigned)number, signature,
                 (unsigned)number, signature);
    hg_text_addf(c, "    (void)memory, (void)bytes, (void)scalars;\n");
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *param = &p->params[i];
        unsigned n = (unsigned)i;
        if (param->kind == HG_PARAM_DATA || param->kind == HG_PARAM_SCRATCH) continue;
        if (param->kind != HG_PARAM_SCALAR) {
            hg_text_addf(&arguments, ", memory[%u], bytes[%u]", n, n);
        } else {
            hg_text_addf(c, "    %s a%u;\n    memcpy(&a%u, &scalars[%u], sizeof a%u);\n",
                         scalar_type((hg_type)param->type), n, n, n, n);
            hg_text_addf(&arguments, ", a%u", n);
        }
    }
    if (works) hg_text_addf(&arguments, ", memory[63], bytes[63]");
    hg_text_addf(c, "    return slice_%s(l%s, f);\n}\n", p->name,
                 arguments.data ? arguments.data : "");
    hg_text_free(&arguments);
}

static bool write_file(const char *folder, const char *name, const hg_text *text) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    bool good = f && fwrite(text->data, 1, text->length, f) == text->length;
    return f && fclose(f) == 0 && good;
}

void *c_build_compile(const hg_text *c, const hg_text *h) {
    char folder[] = "/tmp/hologram-slice-XXXXXX";
    if (!mkdtemp(folder)) return NULL;
    char line[640], path[160];
    static const char *const names[] = {"slice.c", "slice.h", "slice.so"};
    snprintf(line, sizeof line,
             "%s -std=gnu17 -Wall -Wextra -Werror -shared -fPIC -I%s -o %s/slice.so %s/slice.c -lm",
             command, folder, folder, folder);
    void *library = NULL;
    if (!write_file(folder, "slice.c", c) || !write_file(folder, "slice.h", h) ||
        system(line) != 0) {
        fprintf(stderr, "failed: %s\n", line);
    } else {
        snprintf(path, sizeof path, "%s/slice.so", folder);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) fprintf(stderr, "%s\n", dlerror());
    }
    for (size_t i = 0; i < HG_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return library;
}

static hg_status write_texts(const hg_program *const *programs, uint32_t count, hg_text *c,
                             hg_text *h) {
    return hg_build(&(hg_build_request){.programs = programs, .count = count, .name = "slice"}, c,
                    h);
}

bool c_build_can(const hg_program *program, bool *failed) {
    hg_text c = {0}, h = {0};
    hg_status status = write_texts(&program, 1, &c, &h);
    *failed = status != HG_OK && status != HG_ERROR_ISA;
    if (*failed) fprintf(stderr, "%s\n", hg_last_error_text());
    hg_text_free(&c);
    hg_text_free(&h);
    return status == HG_OK && has_known_scalars(program);
}

/* The declaration of a program's function, up to its end, and the comment in front of it. */
static void read_header(const char *header, built *b, bool *works) {
    char name[160];
    snprintf(name, sizeof name, "int slice_%s(", b->program->name);
    const char *at = strstr(header, name), *end = at ? strchr(at, ';') : NULL;
    *works = b->parts = false;
    if (!end) return;
    const char *argument = strstr(at, "size_t work_bytes"), *comment = at;
    while (comment > header && strncmp(comment, "/*", 2) != 0) comment--;
    const char *whole = strstr(comment, "It runs all lanes");
    *works = argument && argument < end;
    b->parts = !whole || whole > at;
}

static bool add_calls(c_build *b, const hg_program *const *programs, uint32_t count,
                      const char *header, hg_text *c) {
    b->count = count;
    b->programs = calloc(count, sizeof *b->programs);
    for (uint32_t i = 0; i < count && b->programs; i++) {
        bool works;
        b->programs[i].program = programs[i];
        read_header(header, &b->programs[i], &works);
        add_call(programs[i], i, works, c);
    }
    return b->programs != NULL;
}

static bool find_calls(c_build *b) {
    *(void **)(void *)&b->use_level = dlsym(b->library, "slice_use_level");
    *(void **)(void *)&b->check = dlsym(b->library, "slice_check");
    for (uint32_t i = 0; i < b->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "slice_call_%u", (unsigned)i);
        *(void **)(void *)&b->programs[i].call = dlsym(b->library, name);
    }
    int found = b->check();
    if (found) fprintf(stderr, "slice_check finds %d\n", found);
    return found == 0;
}

c_build *c_build_make(const hg_program *const *programs, uint32_t count) {
    hg_text c = {0}, h = {0};
    c_build *b = calloc(1, sizeof *b);
    hg_status status = write_texts(programs, count, &c, &h);
    if (status != HG_OK) fprintf(stderr, "%s\n", hg_last_error_text());
    bool good = b && status == HG_OK && add_calls(b, programs, count, h.data, &c) &&
                (b->library = c_build_compile(&c, &h)) != NULL && find_calls(b);
    hg_text_free(&c);
    hg_text_free(&h);
    if (good) return b;
    c_build_free(b);
    return NULL;
}

void c_build_free(c_build *b) {
    if (b && b->library) dlclose(b->library);
    if (b) free(b->programs);
    free(b);
}

const char *c_build_level(c_build *b, uint32_t index) {
    static const char *const levels[] = {"baseline", "v3", "v4", "neon"};
    for (size_t i = 0; i < HG_COUNT_OF(levels); i++)
        if (b->use_level(levels[i]) == 0 && index-- == 0) return levels[i];
    return NULL;
}

bool c_build_has_parts(const c_build *b, uint32_t program) { return b->programs[program].parts; }

/* ---- a run ---- */

void c_build_run(c_build *b, uint32_t program, const char *level, uint32_t parts, run_case *c,
                 run_result *result) {
    const built *to_run = &b->programs[program];
    void *memory[64] = {NULL};
    size_t bytes[64] = {0};
    uint64_t scalars[64] = {0};
    launch l = {0};
    c_build_fault f = {0};
    *result = (run_result){.outcome = RUN_ERROR};
    enum { WORK = 63, WORK_BYTES = 1 << 25 };
    if (to_run->program->param_count > WORK) return;
    memory[WORK] = malloc(WORK_BYTES);
    bytes[WORK] = WORK_BYTES;
    for (uint32_t i = 0; i < to_run->program->param_count; i++) {
        for (uint32_t n = 0; n < c->array_count; n++)
            if (strcmp(c->arrays[n].name, to_run->program->params[i].name) == 0)
                memory[i] = c->arrays[n].bytes, bytes[i] = c->arrays[n].size;
        for (uint32_t n = 0; n < c->scalar_count; n++)
            if (strcmp(c->scalars[n].name, to_run->program->params[i].name) == 0)
                scalars[i] = c->scalars[n].bits;
    }
    memcpy(l.grid, c->launch.grid, sizeof l.grid);
    memcpy(l.block, c->launch.block, sizeof l.block);
    l.lanes = 1;
    for (int i = 0; i < 3; i++) l.lanes *= (uint64_t)l.grid[i] * l.block[i];
    if (c->launch.lanes) l.lanes = c->launch.lanes;
    int code = b->use_level(level) != 0 ? -1 : 0;
    for (uint32_t i = 0; i < parts && !code; i++) {
        uint64_t of_block = (uint64_t)l.block[0] * l.block[1] * l.block[2],
                 blocks = of_block ? (l.lanes + of_block - 1) / of_block : 0;
        l.begin = blocks * i / parts * of_block;
        l.end = i + 1 == parts ? l.lanes : blocks * (i + 1) / parts * of_block;
        code = to_run->call(&l, memory, bytes, scalars, &f);
    }
    free(memory[WORK]);
    result->outcome = code > 0 ? RUN_FAULT : code ? RUN_ERROR : RUN_OK;
    snprintf(result->message, sizeof result->message, "%s", f.message);
    if (code > 0) snprintf(result->code, sizeof result->code, "F%02d", code % 100);
    result->lane = f.lane;
    result->instruction = f.instruction;
}
