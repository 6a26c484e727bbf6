/* How functions of built C text are called: prototypes, what they say of themselves.
 * Must not know: kernels. */
#include "offline/build_internal.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *build_scalar_type(hg_type type) {
    switch (type) {
    case HG_TYPE_I8: return "int8_t";
    case HG_TYPE_I16: return "int16_t";
    case HG_TYPE_I32: return "int32_t";
    case HG_TYPE_I64: return "int64_t";
    case HG_TYPE_U8: return "uint8_t";
    case HG_TYPE_U16:
    case HG_TYPE_F16:
    case HG_TYPE_BF16: return "uint16_t";
    case HG_TYPE_U32: return "uint32_t";
    case HG_TYPE_U64: return "uint64_t";
    case HG_TYPE_F32: return "float";
    case HG_TYPE_F64: return "double";
    default: return NULL;
    }
}

static bool has_end(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* One of the words between spaces, with a space in front and behind. */
static bool is_listed(const char *words, const char *name) {
    size_t n = strlen(name);
    for (const char *at = words + 1; (at = strstr(at, name)) != NULL; at++)
        if (at[-1] == ' ' && at[n] == ' ') return true;
    return false;
}

/* Words of C and C++, what begins as names of the compiler's own do, and some macros of the
 * headers. */
bool build_is_word_of_c(const char *name) {
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class "
        "co_await co_return co_yield compl concept "
        "const const_cast consteval constexpr constinit continue decltype default delete do double "
        "dynamic_cast else enum explicit export "
        "extern "
        "false float for friend goto if inline int long mutable namespace new noexcept not not_eq "
        "nullptr operator or or_eq private "
        "protected public reflexpr register reinterpret_cast requires restrict return short signed "
        "sizeof static static_assert static_cast "
        "struct "
        "switch template this thread_local throw true try typedef typeid typename typeof "
        "typeof_unqual union unsigned using virtual void "
        "volatile while "
        "xor xor_eq linux unix errno math_errhandling stdin stdout stderr main BIG_ENDIAN BUFSIZ "
        "BYTE_ORDER EOF INFINITY LITTLE_ENDIAN NAN "
        "NULL PDP_ENDIAN FD_SETSIZE NFDBITS L_ctermid L_tmpnam P_tmpdir WCONTINUED WEXITED WNOHANG "
        "WNOWAIT WSTOPPED WUNTRACED "
        "DOMAIN OVERFLOW UNDERFLOW PLOSS TLOSS SING ";
    return (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]))) ||
           is_listed(words, name);
}

/* Functions of the headers that the C text needs, but for those of math.h whose names end in f or
 * l. */
bool build_is_function_of_c(const char *name) {
    static const char words[] =
        " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp "
        "exp10 exp2 expm1 fabs fdim finite floor fma "
        "fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 "
        "log1p log2 logb lrint lround modf nan "
        "nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn "
        "significand sin sincos sinh sqrt tan tanh "
        "tgamma trunc y0 y1 yn "
        "abort abs alloca atexit atof atoi atol atoll bsearch calloc div exit free getenv labs "
        "ldiv llabs lldiv malloc mblen qsort rand "
        "random realloc select setenv srand srandom strtod strtof strtol strtold strtoll strtoul "
        "strtoull system "
        "bcmp bcopy bzero ffs index memchr memcmp memcpy memmove memset rindex strcat strchr "
        "strcmp strcpy strcspn strdup strlen strncat "
        "strncmp strncpy strpbrk strrchr strsep strspn strstr strtok "
        "clearerr dprintf fclose feof ferror fflush fgetc fgets fopen fprintf fputc fputs fread "
        "freopen fscanf fseek ftell fwrite getc "
        "getchar getline getw perror printf putc putchar puts putw remove rename rewind scanf "
        "snprintf sprintf sscanf tmpfile ungetc ";
    char base[HG_MAX_IDENT_BYTES * 2 + 2];
    size_t n = strlen(name);
    snprintf(base, sizeof base, "%.*s", (int)n - 1, name);
    return is_listed(words, name) ||
           ((has_end(name, "f") || has_end(name, "l")) && is_listed(words, base));
}

/* Of the text itself: NAME, NAME_end, …, which a parameter of that name would hide, and macros:
 * NAME in capitals. */
static bool is_of_text(const char *text, const char *name) {
    size_t n = strlen(text);
    bool same = strncmp(name, text, n) == 0, large = true;
    for (size_t i = 0; i < n && large; i++)
        large = name[i] == (char)toupper((unsigned char)text[i]);
    return (same || large) && (!name[n] || name[n] == '_');
}

/* What a parameter cannot be called: words of C, what the functions and their headers use. */
static bool is_taken(const build_job *job, const char *name) {
    static const char own[] = " launch stop fault run asked asked_block env memories block work "
                              "work_bytes spans shape bytes lanes level is "
                              "inputs slots memcpy memset memmove ";
    static const char *const starts[] = {"hgd", "hgk",  "hgv", "hgs",   "v_",    "EXIT_",
                                         "FP_", "HUGE", "M_",  "MATH_", "SEEK_", "ATOMIC_"};
    if (is_of_text(job->name, name)) return true;
    for (size_t i = 0; i < HG_COUNT_OF(starts); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0) return true;
    return build_is_word_of_c(name) || is_listed(own, name) || has_end(name, "_t") ||
           has_end(name, "_MAX") || has_end(name, "_MIN");
}

/* Whether a parameter before has the name, or one's size would: that of an array y is called
 * y_bytes. */
static bool is_used(const build_program *p, uint32_t before, const char *name) {
    for (uint32_t i = 0; i < before; i++) {
        size_t n = strlen(p->names[i]), m = strlen(name);
        if (strcmp(p->names[i], name) == 0) return true;
        if (m == n + 6 && strncmp(name, p->names[i], n) == 0 && strcmp(name + n, "_bytes") == 0)
            return true;
        if (n == m + 6 && strncmp(name, p->names[i], m) == 0 &&
            strcmp(p->names[i] + m, "_bytes") == 0)
            return true;
    }
    return false;
}

hg_status build_name_params(const build_job *job, build_program *p) {
    p->names = hg_calloc(p->program->param_count + (size_t)1, sizeof *p->names);
    if (!p->names) return hg_fail_memory();
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const char *name = p->program->params[i].name;
        snprintf(p->names[i], sizeof p->names[i], "%s%s", name, is_taken(job, name) ? "_" : "");
        for (char *c = p->names[i]; *c; c++)
            if (*c == '.' || *c == '[' || *c == ']' || *c == '$' || *c == '-') *c = '_';
        for (size_t n = strlen(p->names[i]);
             is_used(p, i, p->names[i]) && n + 1 < sizeof p->names[i]; n++)
            memcpy(p->names[i] + n, "_", 2);
    }
    return HG_OK;
}

static void add_param(const build_program *p, uint32_t i, hg_text *out) {
    const hg_param *param = &p->program->params[i];
    const char *name = p->names[i], *type = param->kind == HG_PARAM_POOL
                                                ? NULL
                                                : build_scalar_type((hg_type)param->type);
    if (param->kind == HG_PARAM_DATA || param->kind == HG_PARAM_SCRATCH || p->fixed[i]) return;
    if (param->kind == HG_PARAM_SCALAR)
        hg_text_addf(out, type ? ", %s %s" : ", const void *%s%s", type ? type : "", name);
    else
        hg_text_addf(out, ", %s%s *%s, size_t %s_bytes",
                     param->kind == HG_PARAM_BUFFER && param->dir == HG_DIR_IN ? "const " : "",
                     type ? type : "void", name, name);
}

void build_add_prototype(const build_job *job, const build_program *p, hg_text *out) {
    if (p->use == BUILD_PUBLIC)
        hg_text_addf(out, "int %s(const %s_launch *launch", p->function, job->name);
    else
        hg_text_addf(out, "%sint %s(const int *stop", p->use == BUILD_LAUNCH ? "static " : "",
                     p->function);
    for (uint32_t i = 0; i < p->program->param_count; i++) add_param(p, i, out);
    if (p->spans) hg_text_addf(out, ", void *work, size_t work_bytes");
    hg_text_addf(out, ", %s_fault *fault)", job->name);
}

/* ---- what a function says of itself ---- */

static void add_extents(const build_program *p, const hg_extent *e, uint32_t count,
                        const char *between, hg_text *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) hg_text_addf(out, "%s", between);
        hg_print_extent(out, p->program, &e[i]);
    }
}

void build_add_param_comment(const build_program *p, uint32_t i, hg_text *out) {
    static const char *const dirs[] = {"", ", read", ", written", ", changed"};
    const hg_param *param = &p->program->params[i];
    if (param->kind == HG_PARAM_DATA || param->kind == HG_PARAM_SCRATCH || p->fixed[i]) return;
    hg_text_addf(out, " *   %-12s ", p->names[i]);
    if (param->kind == HG_PARAM_POOL) {
        hg_text_addf(out, "%llu bytes\n", (unsigned long long)param->pool_bytes);
        return;
    }
    hg_text_addf(out, "%s", hg_type_name((hg_type)param->type));
    if (param->kind == HG_PARAM_SCALAR) {
        hg_text_addf(out,
                     build_scalar_type((hg_type)param->type) ? "\n"
                                                             : ": its %llu bytes, little-endian\n",
                     (unsigned long long)hg_type_size_bytes((hg_type)param->type));
        return;
    }
    if (param->rank != 255) {
        hg_text_addf(out, "[");
        add_extents(p, param->dims, param->rank, ", ", out);
        hg_text_addf(out, "]");
    }
    hg_text_addf(out, "%s\n", dirs[param->dir & 3]);
}

void build_add_comment(const build_program *p, hg_text *out) {
    const hg_program *program = p->program;
    hg_text_addf(out, "/* Program %s.\n", program->name);
    for (uint32_t i = 0; i < program->param_count; i++) build_add_param_comment(p, i, out);
    if (p->spans)
        hg_text_addf(out, " *   %-12s %s_work_bytes(…) bytes, for the time of the call\n", "work",
                     p->function);
    if (program->lanes_count) {
        hg_text_addf(out, " * Lanes where launch is NULL: ");
        add_extents(p, program->lanes, program->lanes_count, " * ", out);
    } else if (program->grid_count) {
        hg_text_addf(out, " * Blocks where launch is NULL: ");
        add_extents(p, program->grid, program->grid_count, ", ", out);
    } else if (!p->plan->kernels.count) {
        hg_text_addf(out, " * launch may be NULL: no lane does anything of its own");
    } else {
        hg_text_addf(out,
                     " * launch must be given: the program does not say how many lanes there are");
    }
    if (program->block[0])
        hg_text_addf(out, "; a block is of %u, %u, %u lanes", (unsigned)program->block[0],
                     (unsigned)program->block[1], (unsigned)program->block[2]);
    hg_text_addf(out, ".%s */\n",
                 p->parts ? "" : "\n * It runs all lanes: it is more than one kernel.");
}
