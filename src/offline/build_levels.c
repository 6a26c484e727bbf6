/* Kernels for all CPU levels in one C text. What they need of vector.h is written in front of each
 * level under names of its own.
 * Must not know: programs, how functions are called. */
#include "offline/build_internal.h"
#include "emit/emit.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Both compilers know these names. */
#define V3 "avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,popcnt"
#define V4 V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
const build_level BUILD_LEVEL[BUILD_LEVELS] = {
    {"v1", NULL, NULL, 16, 8, 1},
    {"v3", V3, V3, 32, 16, 3},
    {"v4", V4 ",prefer-vector-width=512", V4, 64, 32, 4},
};

/* ---- the header in two: what is there once, what each level has ---- */

static const char LAUNCH_ALONE[] = "#if defined(HGV_LANES)\n",
                  GUARD[] = "#define HOLOGRAM_VECTOR_H\n", LAST[] = "\n#endif\n\n#endif\n";

typedef struct header {
    const char *once, *each;
    size_t once_length, each_length;
} header;

static bool divide(const char *text, header *h) {
    const char *guard = strstr(text, GUARD), *each = guard ? strstr(guard, LAUNCH_ALONE) : NULL,
               *end = NULL;
    for (const char *at = each; at && (at = strstr(at, LAST)) != NULL; at++) end = at;
    if (!end) return false;
    h->once = guard + sizeof GUARD - 1;
    h->once_length = (size_t)(each - h->once);
    h->each = each + sizeof LAUNCH_ALONE - 1;
    h->each_length = (size_t)(end + 1 - h->each);
    return true;
}

/* Levels that a compiler is told of: on x86-64, but where NAME_BASELINE leaves them out. */
static const char IF_WIDE[] = "#if defined(BUILT_WIDE)\n";

/* ---- names of a level ---- */

static bool is_part(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool has_word(const char *text, size_t length, const char *word, size_t word_length) {
    for (size_t at = 0; at + word_length <= length; at++) {
        if (memcmp(text + at, word, word_length) != 0) continue;
        if ((at == 0 || !is_part(text[at - 1])) &&
            (at + word_length == length || !is_part(text[at + word_length])))
            return true;
    }
    return false;
}

/* hgv_, hgs_ and HGV_ get the level's suffix: hgv_add_u32 is hgv3_add_u32. What the first part has
 * stays. */
static void add_renamed(hg_text *out, const header *h, const char *text, size_t length,
                        const build_level *level) {
    size_t start = 0;
    for (size_t at = 0; at < length;) {
        bool word = (at == 0 || !is_part(text[at - 1])) && length - at >= 4 &&
                    (memcmp(text + at, "hgv_", 4) == 0 || memcmp(text + at, "hgs_", 4) == 0 ||
                     memcmp(text + at, "HGV_", 4) == 0);
        size_t end = at + 1;
        while (word && end < length && is_part(text[end])) end++;
        if (word && !has_word(h->once, h->once_length, text + at, end - at) &&
            !has_word("HGV_LANES HGV_BYTES HGV_LEVEL", 29, text + at, end - at)) {
            hg_text_add(out, text + start, at + 3 - start);
            hg_text_addf(out, "%u", (unsigned)level->number);
            start = at + 3;
        }
        at = end;
    }
    hg_text_add(out, text + start, length - start);
}

/* ---- a level ---- */

static hg_status make_kernels(const build_job *job, const build_level *level, vec_kernel **forms,
                              const char **names, char (*room)[160], hg_text *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->kernels.count; i++) {
        const build_kernel *k = &job->kernels.data[i];
        for (int places = 0; places <= k->places; places++, count++) {
            HG_TRY(vec_form(k->low,
                            &(vec_options){.lanes = level->lanes, .blocks = k->blocks || places},
                            &forms[count]));
            HG_TRY(vec_verify(forms[count]));
            snprintf(room[count], sizeof room[count], "%s%s_%s", k->name, places ? "_places" : "",
                     level->suffix);
            names[count] = room[count];
        }
    }
    return emit_vector_c_local(forms, names, count, level->bytes, out);
}

static hg_status add_kernels(const build_job *job, const header *h, const build_level *level,
                             hg_text *out) {
    uint64_t count = 2 * job->kernels.count;
    vec_kernel **forms = hg_calloc(count + 1, sizeof *forms);
    const char **names = hg_calloc(count + 1, sizeof *names);
    char(*room)[160] = hg_calloc(count + 1, sizeof *room);
    hg_text text = {0};
    hg_status status = forms && names && room ? make_kernels(job, level, forms, names, room, &text)
                                              : hg_fail_memory();
    if (status == HG_OK && text.data) add_renamed(out, h, text.data, text.length, level);
    out->failed |= text.failed;
    for (uint64_t i = 0; forms && i < count; i++)
        if (forms[i]) vec_kernel_destroy(forms[i]);
    hg_text_free(&text);
    hg_free(forms);
    hg_free(names);
    hg_free(room);
    return status;
}

static hg_status add_level(const build_job *job, const header *h, const build_level *level,
                           hg_text *out) {
    hg_text_addf(out, "\n/* ==== vectors of %u bytes ==== */\n\n", (unsigned)level->bytes);
    if (level->gcc) {
        build_add_named(out, job->name, IF_WIDE);
        hg_text_addf(out,
                     "#if defined(__clang__)\n"
                     "#pragma clang attribute push(__attribute__((target(\"%s\"))), apply_to = "
                     "function)\n#else\n#pragma GCC push_options\n"
                     "#pragma GCC target(\"%s\")\n#endif\n",
                     level->clang, level->gcc);
    }
    hg_text_addf(out,
                 "#undef HGV_LANES\n#undef HGV_BYTES\n#undef HGV_LEVEL\n#define HGV_LANES "
                 "%u\n#define HGV_BYTES %u\n#define HGV_LEVEL %u\n",
                 (unsigned)level->lanes, (unsigned)level->bytes, (unsigned)level->number);
    add_renamed(out, h, h->each, h->each_length, level);
    add_renamed(out, h, hg_unpacked(&built_text_check), built_text_check.length, level);
    hg_text_addf(out,
                 "static int check_%s(void) {\n    const int found = hgv%u_check_f32();\n    "
                 "return found ? found : hgv%u_check_f64();\n}\n\n",
                 level->suffix, (unsigned)level->number, (unsigned)level->number);
    HG_TRY(add_kernels(job, h, level, out));
    if (level->gcc)
        hg_text_addf(out, "#if defined(__clang__)\n#pragma clang attribute pop\n#else\n#pragma GCC "
                          "pop_options\n#endif\n#endif\n");
    return HG_OK;
}

/* ---- all levels ---- */

/* What would change results is switched off here. Where a compiler does it all the same, NAME_check
 * finds out. __FLT_EVAL_METHOD__ 16, of CPUs with AVX512-FP16, is 0 for all types but _Float16. */
static const char HEAD[] =
    "\n#if !defined(__GNUC__) || !defined(__SIZEOF_INT128__) || __BYTE_ORDER__ != "
    "__ORDER_LITTLE_ENDIAN__\n"
    "#error \"this text is for gcc and clang, on little-endian machines of 64 bits\"\n#endif\n"
    "#if defined(__FAST_MATH__)\n#error \"these kernels promise every bit of their results: "
    "compile them without -ffast-math\"\n#endif\n"
    "#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != "
    "16\n#error \"floats are computed as such: "
    "compile with "
    "-mfpmath=sse\"\n#endif\n"
    "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n#pragma "
    "GCC diagnostic ignored "
    "\"-Wunused-parameter\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n#pragma GCC diagnostic ignored "
    "\"-Wunused-but-set-variable\"\n"
    "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#else\n#pragma GCC diagnostic ignored "
    "\"-Wmaybe-uninitialized\"\n#pragma GCC "
    "push_options\n"
    "#pragma GCC optimize(\"fp-contract=off\", \"no-math-errno\", \"no-trapping-math\", "
    "\"no-unsafe-math-optimizations\", "
    "\"no-associative-math\", \"no-reciprocal-math\", \"no-finite-math-only\", "
    "\"signed-zeros\")\n#endif\n\n";

static void add_list(const build_job *job, hg_text *out, const char *head, const char *name) {
    hg_text_addf(out, "%s = {\n    %s_%s,\n", head, name, BUILD_LEVEL[0].suffix);
    build_add_named(out, job->name, IF_WIDE);
    hg_text_addf(out, "    %s_%s,\n    %s_%s,\n#endif\n};\n", name, BUILD_LEVEL[1].suffix, name,
                 BUILD_LEVEL[2].suffix);
}

hg_status build_add_levels(const build_job *job, hg_text *out) {
    header h;
    char head[256];
    if (!divide(hg_unpacked(&built_text_vector), &h))
        return hg_fail(HG_ERROR_INTERNAL, "vector.h has not its two parts");
    build_add_named(out, job->name,
                    "/* Written by `hologram build`. What is the same in all such files is "
                    "hologram/vector.h, once for each CPU level. */\n"
                    "#if defined(__x86_64__) && !defined(BUILT_BASELINE)\n#define "
                    "BUILT_WIDE\n#endif\n#include \"built.h\"\n#include "
                    "<stdio.h>\n#include <stdlib.h>\n#define HGV_LANES 8\n");
    hg_text_add(out, h.once, h.once_length);
    hg_text_add(out, HEAD, sizeof HEAD - 1);
    for (int i = 0; i < BUILD_LEVELS; i++) HG_TRY(add_level(job, &h, &BUILD_LEVEL[i], out));
    hg_text_addf(out, "\n/* ==== functions ==== */\n\n");
    snprintf(head, sizeof head, "static int (*const %s_checks[])(void)", job->name);
    add_list(job, out, head, "check");
    build_add_named(out, job->name, hg_unpacked(&built_text_runtime));
    hg_text_addf(out, "\n");
    for (uint64_t i = 0; i < job->kernels.count; i++) {
        snprintf(head, sizeof head, "static %s_kernel *const %s[]", job->name,
                 job->kernels.data[i].name);
        add_list(job, out, head, job->kernels.data[i].name);
        if (!job->kernels.data[i].places) continue;
        char name[160];
        snprintf(name, sizeof name, "%s_places", job->kernels.data[i].name);
        snprintf(head, sizeof head, "static %s_kernel *const %s[]", job->name, name);
        add_list(job, out, head, name);
    }
    return HG_OK;
}
