/* Writes the PTX of library programs that the CUDA backend carries for machines without NVRTC:
 * gen_ptx OUTPUT [WORD ...] Programs run through the runtime on a device that promises what a CUDA
 * device promises and calculates nothing, so that their kernels are those of a real launch: the
 * named kernels, maps and reductions, and the whole-array instructions in the forms of the list
 * below. What stands in OUTPUT already is taken from there. With words only named kernels and
 * instructions that have one of them run. Without NVRTC the output has no kernels. */
#include "backends/cuda/cuda_internal.h"
#include "emit/c_dialect.h"
#include "emit/nvrtc.h"
#include "probe/probe.h"
#include "isa/program.h"
#include "runtime/backend.h"
#include <hologram/backend.h>
#include <hologram/launch.h>
#include <hologram/program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARCHITECTURE = 75,
    NAME_BYTES = 96,
    COUNT = 100000 /* of elements */,
    ARRAY_BYTES = 16 << 20,
    TOO_FEW_BYTES = 100
};
/* PTX is written for the oldest driver that the backend takes, of CUDA 12. */
#define VERSION "8.0"

/* ---- what there is to run ---- */

/* T stands for each of the types, r5 for COUNT. All arrays are large enough. Sizes that are
 * multiples of blocks and such that are not are two forms. */
typedef struct step {
    const char *instruction, *types;
} step;
static const step STEPS[] = {
    {"gemm.T c=r1, a=r2, b=r3, m=256, n=256, k=256", "f32 f64 f16 bf16"},
    {"gemm.T c=r1, a=r2, b=r3, m=256, n=256, k=256, trans_b=true", "f32 f16 bf16"},
    {"gemm.T c=r1, a=r2, b=r3, m=1, n=1000, k=1000", "f32 f16 bf16"},
    {"gemm.T c=r1, a=r2, b=r3, m=250, n=100, k=70", "f32 f64 f16 bf16"},
    {"batched_gemm.T c=r1, a=r2, b=r3, batch=4, m=64, n=64, k=64", "f32 f16 bf16"},
    {"mixed_precision_gemm.T c=r1, a=r2, b=r3, m=256, n=256, k=256", "f16 bf16"},
    {"conv2d.T output=r1, input=r2, kernel=r3, batch=1, in_channels=32, out_channels=32, "
     "height=56, width=56, kernel_h=3, kernel_w=3, "
     "stride=(1, 1), "
     "padding=(1, 1)",
     "f32 f16 bf16"},
    {"conv2d.T output=r1, input=r2, kernel=r3, batch=1, in_channels=32, out_channels=32, "
     "height=56, width=56, kernel_h=1, kernel_w=1, "
     "stride=(1, 1), "
     "padding=(0, 0)",
     "f32 f16 bf16"},
    {"attention.T output=r1, query=r2, key=r3, value=r4, batch=1, heads=8, seq_len=256, "
     "head_dim=64",
     "f32 f16 bf16"},
    {"attention.T output=r1, query=r2, key=r3, value=r4, batch=1, heads=8, seq_len=256, "
     "head_dim=64, causal=true",
     "f32 f16 bf16"},
    {"layer_norm.T output=r1, input=r2, gamma=r3, beta=r4, n=1000, eps=0.001, rows=64",
     "f32 f16 bf16"},
    {"layer_norm.T output=r1, input=r2, gamma=r3, beta=r4, n=128, eps=0.001, rows=64",
     "f32 f16 bf16"},
    {"group_norm.T output=r1, input=r2, gamma=r3, beta=r4, batch=1, channels=64, groups=32, "
     "spatial=784, eps=0.001",
     "f32 f16 bf16"},
    {"softmax.T output=r1, input=r2, n=1000, rows=64", "f32 f16 bf16"},
    {"softmax.T output=r1, input=r2, n=128, rows=64", "f32 f16 bf16"},
    {"rope.T output=r1, input=r2, freqs=r3, batch=1, seq_len=64, heads=8, head_dim=64",
     "f32 f16 bf16"},
    {"fft.T output=r1, input=r2, n=256, inverse=false, batch=16", "f32"},
    {"fft.T output=r1, input=r2, n=1024, inverse=false, batch=16", "f32"},
    {"fft.T output=r1, input=r2, n=4096, inverse=false, batch=16", "f32"},
    {"fft.T output=r1, input=r2, n=1024, inverse=true, batch=16", "f32"},
    {"parallel_map_binary.T r1, r2, r3, add, r5", "f32 f64 f16 bf16 i32"},
    {"parallel_map_binary.T r1, r2, r3, sub, r5", "f32 f64 f16 bf16 i32"},
    {"parallel_map_binary.T r1, r2, r3, mul, r5", "f32 f64 f16 bf16 i32"},
    {"parallel_map_binary.T r1, r2, r3, div, r5", "f32"},
    {"parallel_map_binary.T r1, r2, r3, min, r5", "f32 i32"},
    {"parallel_map_binary.T r1, r2, r3, max, r5", "f32 i32"},
    {"parallel_map.T r1, r2, abs, r5", "f32"},
    {"parallel_map.T r1, r2, neg, r5", "f32"},
    {"parallel_map.T r1, r2, sqrt, r5", "f32"},
    {"parallel_map.T r1, r2, exp, r5", "f32"},
    {"parallel_map.T r1, r2, log, r5", "f32"},
    {"parallel_map.T r1, r2, tanh, r5", "f32"},
    {"parallel_map.T r1, r2, sigmoid, r5", "f32"},
    {"parallel_map.T r1, r2, gelu, r5", "f32"},
    {"parallel_reduce.T r10, r1, sum, r5", "f32 f64 i32"},
    {"parallel_reduce.T r10, r1, min, r5", "f32 i32"},
    {"parallel_reduce.T r10, r1, max, r5", "f32 i32"},
};

/* ---- the output ---- */

typedef struct entry {
    struct entry *next;
    uint8_t key[HG_BLOB_KEY_BYTES];
    char name[NAME_BYTES];
    hg_text ptx;
} entry;
static entry *entries, **last = &entries;
static const char *output;
static bool kept; /* the output as it is was made by this NVRTC */
static char head[64];
static uint32_t compiled, taken;

static bool begins_with_head(const char *path) {
    char line[64] = "";
    FILE *f = fopen(path, "rb");
    bool same = f && fgets(line, sizeof line, f) && strcmp(line, head) == 0;
    if (f) (void)fclose(f);
    return same;
}

/* The number of the version, and without hints that only later drivers read. */
static void add_ptx(hg_text *out, const char *ptx) {
    static const char HINT[] = "\t.pragma \"used_bytes_mask";
    for (const char *line = ptx; *line;) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        if (strncmp(line, ".version ", 9) == 0)
            hg_text_addf(out, ".version " VERSION "\n");
        else if (strncmp(line, HINT, sizeof HINT - 1) != 0)
            hg_text_add(out, line, length);
        line += length;
    }
}

static hg_status make_entry(entry *e, const char *source) {
    char *old = kept ? cuda_prebuilt_read(output, e->key) : NULL;
    if (old) {
        hg_text_addf(&e->ptx, "%s", old);
        hg_free(old);
        taken++;
        return HG_OK;
    }
    hg_bytes ptx = {0};
    const emit_nvrtc_request request = {
        .text = source, .name = e->name, .architecture = ARCHITECTURE};
    hg_status status = emit_nvrtc_compile(&request, NULL, &ptx);
    if (status == HG_OK) add_ptx(&e->ptx, (const char *)ptx.data);
    hg_bytes_free(&ptx);
    compiled++;
    return status;
}

static hg_status add_source(const char *name, const hg_text *source) {
    uint8_t key[HG_BLOB_KEY_BYTES];
    cuda_ptx_key(source->data, source->length, key);
    for (const entry *e = entries; e; e = e->next)
        if (memcmp(e->key, key, sizeof key) == 0) return HG_OK;
    entry *e = hg_calloc(1, sizeof *e);
    if (!e) return hg_fail_memory();
    memcpy(e->key, key, sizeof key);
    snprintf(e->name, sizeof e->name, "%s", name);
    *last = e;
    last = &e->next;
    return make_entry(e, source->data);
}

static bool write_output(void) {
    char key[CUDA_KEY_TEXT];
    FILE *f = fopen(output, "wb");
    bool good = f && fputs(head, f) >= 0;
    for (const entry *e = entries; e && good; e = e->next) {
        if (e->ptx.length >= CUDA_MOST_PTX) continue;
        cuda_prebuilt_key(e->key, key);
        good = fprintf(f, "%s %llu %s\n", key, (unsigned long long)e->ptx.length, e->name) > 0;
        good = good && fwrite(e->ptx.data, 1, e->ptx.length, f) == e->ptx.length;
    }
    return f && fclose(f) == 0 && good;
}

/* ---- the device ---- */

extern const hg_driver hg_driver_null;
static hg_device_caps caps;
static hg_driver driver;

static const hg_device_caps *device_caps(const hg_device *device) {
    (void)device;
    return &caps;
}

static hg_status code_create(hg_device *device, const hg_driver_code *code,
                             hg_driver_kernel **kernel) {
    char name[NAME_BYTES];
    hg_text source = {0};
    (void)device;
    emit_kernel_name(code->module, name);
    hg_status status = emit_device_c(&emit_cuda_dialect, code->module, code->layout, "", &source);
    if (status == HG_OK) status = add_source(name, &source);
    hg_text_free(&source);
    *kernel = status == HG_OK ? hg_calloc(1, 1) : NULL;
    return status == HG_OK && !*kernel ? hg_fail_memory() : status;
}
static void kernel_destroy(hg_driver_kernel *kernel) { hg_free(kernel); }
static uint64_t arena_address(hg_driver_arena *arena) { return (uint64_t)(uintptr_t)arena; }

static void set_up(void) {
    cuda_promise(&caps, "");
    caps.scheduling.max_block_lanes = caps.scheduling.max_group[0] = caps.scheduling.max_group[1] =
        HG_MAX_BLOCK_LANES;
    caps.scheduling.max_group[2] = 64;
    caps.scheduling.max_groups[0] = INT32_MAX;
    caps.scheduling.max_groups[1] = caps.scheduling.max_groups[2] = 65535;
    caps.memory.max_shared_bytes = HG_MAX_SHARED_BYTES - KIR_SHARED_RESERVED;
    caps.hints.flat_group = 256;
    caps.memory.total_bytes = caps.memory.max_arena_bytes = UINT64_C(1) << 32;
    snprintf(caps.identity, sizeof caps.identity, "gen-ptx");
    driver = hg_driver_null;
    driver.name = "gen-ptx";
    driver.device_caps = device_caps;
    driver.kernel_create = NULL;
    driver.code_create = code_create;
    driver.kernel_destroy = kernel_destroy;
    driver.arena_address = arena_address;
    driver.step_supported = NULL;
    driver.prepare = NULL;
    driver.prepared_destroy = NULL;
    hg_select_guest(&driver);
}

/* The device calculates nothing, so that the probe would see wrong numbers: a real one keeps its
 * promises, which is what the cache in the folder says. */
static hg_status believe(const char *folder) {
    const hg_probe_result exact = {0};
    hg_blob_cache *cache = NULL;
    HG_TRY(hg_blob_cache_open(folder, 1 << 20, &cache));
    hg_probe_keep(&(hg_probe_device){.caps = &caps.compiler.kir, .identity = caps.identity}, cache,
                  &exact);
    hg_blob_cache_close(cache);
    return HG_OK;
}

/* ---- running ---- */

static char **words;
static int word_count;

static bool is_wanted(const char *text) {
    bool wanted = word_count == 0;
    for (int i = 0; i < word_count; i++) wanted = wanted || strstr(text, words[i]);
    return wanted;
}

static hg_status run_with(hg_backend *b, const hg_program *program, uint64_t bytes) {
    hg_buffer buffers[8] = {0};
    uint32_t count = 0;
    hg_params *params = hg_params_create();
    hg_status status = params ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < program->param_count && status == HG_OK; i++) {
        const hg_param *param = &program->params[i];
        if (param->kind == HG_PARAM_BUFFER) {
            status = hg_backend_allocate_buffer(b, bytes, &buffers[count]);
            if (status == HG_OK)
                status = hg_params_set_buffer(params, param->name, buffers[count++]);
        } else {
            uint64_t value = param->type == HG_TYPE_U64 ? COUNT : 0;
            status = hg_params_set_scalar(params, param->name, (hg_type)param->type, &value);
        }
    }
    if (status == HG_OK) status = hg_backend_execute_program_with_params(b, program, NULL, params);
    hg_error error = *hg_last_error();
    for (uint32_t i = 0; i < count; i++) HG_IGNORE(hg_backend_free_buffer(b, buffers[i]));
    hg_params_destroy(params);
    *hg_error_record() = error;
    return status;
}

/* As one dispatch that begins at lane 0, and as a part of a launch: what devices cut, and this one
 * would not, is cut where lanes run on a CPU. */
static hg_status run(hg_backend *b, const hg_program *program, uint64_t bytes) {
    hg_status status = run_with(b, program, bytes);
    b->own_caps.hints.on_cpu = true;
    if (status == HG_OK) status = run_with(b, program, bytes);
    b->own_caps.hints.on_cpu = false;
    return status;
}

static hg_status run_text(hg_backend *b, const char *text) {
    hg_program *program = NULL;
    HG_TRY(hg_program_assemble(text, strlen(text), NULL, &program));
    hg_status status = run(b, program, ARRAY_BYTES);
    hg_program_release(program);
    return status;
}

static void add_instruction(hg_text *out, const char *instruction, const char *type,
                            size_t length) {
    for (const char *c = instruction; *c; c++)
        if (c[0] == '.' && c[1] == 'T' && (c[2] == ' ' || !c[2]))
            hg_text_addf(out, ".%.*s", (int)length, type), c++;
        else
            hg_text_add(out, c, 1);
}

static hg_status run_step(hg_backend *b, const step *s) {
    hg_status status = HG_OK;
    for (const char *type = s->types; *type && status == HG_OK;) {
        size_t length = strcspn(type, " ");
        hg_text text = {0};
        hg_text_addf(&text, ".atlas 1\n.program step\n");
        for (int i = 1; i <= 4; i++)
            hg_text_addf(&text, ".param r%d b%d buffer %.*s inout\n", i, i, (int)length, type);
        hg_text_addf(&text, ".param r5 n u64\n    ");
        add_instruction(&text, s->instruction, type, length);
        hg_text_addf(&text, "\n");
        if (is_wanted(text.data)) status = run_text(b, text.data);
        if (status != HG_OK) fprintf(stderr, "gen_ptx: %s\n", text.data);
        hg_text_free(&text);
        type += length;
        type += *type == ' ';
    }
    return status;
}

static hg_status run_all(const char *folder) {
    hg_backend *b = NULL;
    hg_probe_result wrong;
    hg_config config = hg_config_default();
    snprintf(config.backend, sizeof config.backend, "%s", driver.name);
    config.cache_dir = folder;
    config.timeout_ms = 0;
    HG_TRY(believe(folder));
    HG_TRY(hg_backend_create_with_config(&config, &b));
    HG_IGNORE(hg_backend_probe(b, &wrong)); /* for its kernels */
    b->own_caps.compiler.target = caps.compiler.target;
    hg_status status = HG_OK;
    for (uint32_t i = 0; hg_kernel_name(i) && status == HG_OK; i++) {
        hg_program *program = NULL;
        if (!is_wanted(hg_kernel_name(i))) continue;
        status = hg_kernel_by_name(hg_kernel_name(i), &program);
        if (status == HG_OK) status = run(b, program, ARRAY_BYTES);
        if (status == HG_OK)
            HG_IGNORE(run(b, program, TOO_FEW_BYTES)); /* bounds are checked in the kernel then,
                                                          where they are not when it is bound */
        hg_program_release(program);
    }
    for (size_t i = 0; i < HG_COUNT_OF(STEPS) && status == HG_OK; i++)
        status = run_step(b, &STEPS[i]);
    hg_backend_destroy(b);
    return status;
}

int main(int argc, char **argv) {
    char reason[256];
    if (argc < 2) return fprintf(stderr, "gen_ptx: expects the output\n"), 2;
    output = argv[1];
    words = argv + 2;
    word_count = argc - 2;
    bool compiles = emit_nvrtc_load(reason);
    snprintf(head, sizeof head, CUDA_PTX_HEAD " of NVRTC %u.%u\n",
             (unsigned)(emit_nvrtc_version() / 1000), (unsigned)(emit_nvrtc_version() % 1000 / 10));
    if (compiles) {
        kept = begins_with_head(output);
        set_up();
    } else {
        snprintf(head, sizeof head, CUDA_PTX_HEAD " without NVRTC: no kernels\n");
    }
    char folder[] = "/tmp/hologram-gen-ptx-XXXXXX", command[64];
    if (!mkdtemp(folder)) return fprintf(stderr, "gen_ptx: no folder in /tmp\n"), 1;
    hg_status status = compiles ? run_all(folder) : HG_OK;
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0) fprintf(stderr, "gen_ptx: left behind: %s\n", folder);
    if (status != HG_OK) return fprintf(stderr, "gen_ptx: %s\n", hg_last_error_text()), 1;
    if (!write_output()) return fprintf(stderr, "gen_ptx: %s cannot be written\n", output), 1;
    printf("%s: %u kernels compiled, %u as they were\n", output, (unsigned)compiled,
           (unsigned)taken);
    return 0;
}
