/* The results of every instruction as hashes, compared with docs/reference/bits.json.
 *
 *     bits [--backend B[:DEVICE]] [--level L] [--pretend WORDS] [--all] [--part I/N] [--widest
 * BITS] [--only NAME] [--without NAME]...
 *          [--write FILE] [--times]
 *
 * Compares the first 256th of the results of each case, with --all every one of the file (2^20 of
 * types up to 64 bits). On cpu, without --level and
 * --pretend, on every CPU level of this machine and in poor mode. --part takes every N-th case from
 * the I-th on; --only and --without compare the beginning of a case's name. --write makes the file,
 * with --only and --without what they name of it. */
#include "bits.h"
#include "support/library.h"
#include "test.h"
#include <hologram/version.h>
#include <stdlib.h>
#include <time.h>

enum { TARGETS = 8, WITHOUT = 8 };

typedef struct recorded {
    char name[48];
    uint64_t first, all;
} recorded;

typedef struct run_options {
    const char *backend, *only, *without[WITHOUT];
    uint32_t without_count, part, parts, widest;
    bool all, times;
} run_options;

typedef struct target {
    library *library;
    const char *level, *pretend;
} target;

static recorded *known;
static uint32_t known_count, known_version;

static bool load(const char *path) {
    char line[256];
    recorded r;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        (void)sscanf(line, " \"version\": %" SCNu32, &known_version);
        if (sscanf(line, " \"%47[^\"]\": [\"%" SCNx64 "\", \"%" SCNx64 "\"]", r.name, &r.first,
                   &r.all) != 3)
            continue;
        recorded *more = realloc(known, (known_count + 1) * sizeof *known);
        if (!more) break;
        known = more;
        known[known_count++] = r;
    }
    if (f) fclose(f);
    return f != NULL;
}

static const recorded *find(const char *name) {
    for (uint32_t i = 0; i < known_count; i++)
        if (strcmp(known[i].name, name) == 0) return &known[i];
    return NULL;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool wanted(const run_options *o, const bits_case *c, uint32_t number) {
    if (o->parts && number % o->parts != o->part) return false;
    if (o->only && !begins(c->name, o->only)) return false;
    for (uint32_t i = 0; i < o->without_count; i++)
        if (begins(c->name, o->without[i])) return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (o->widest && hg_type_size_bytes(c->types[i]) * 8 > o->widest) return false;
    return !o->widest || hg_type_size_bytes(c->result) * 8 <= o->widest;
}

/* The lanes first ... first + n - 1 on one target; the results go into the hash. */
static bool run_lanes(const bits_case *c, library *l, const hg_program *program, uint64_t first,
                      uint64_t n, uint64_t *hash, char message[512]) {
    run_case r = {.cleared_class = 96};
    run_result result = {.outcome = RUN_ERROR, .message = "out of memory"};
    char name[8];
    uint64_t inputs = c->fold ? BITS_FOLD_INPUTS : n;
    case_array *out = case_add_array(&r, "out", c->result, NULL, n * hg_type_size_bytes(c->result));
    for (uint32_t i = 0; i < c->count && out; i++) {
        snprintf(name, sizeof name, "a%u", i);
        case_array *a = case_add_array(&r, name, c->types[i], NULL,
                                       inputs * hg_type_size_bytes(c->types[i]));
        if (a) bits_fill(c, i, first, inputs, a->bytes);
    }
    case_add_scalar(&r, "n", HG_TYPE_U64, n);
    case_set_lanes(&r, c->op == HG_OP_NONE ? 1 : n);
    if (r.array_count == c->count + 1) library_run(l, program, &r, &result);
    if (result.outcome == RUN_OK) *hash = bits_hash(*hash, c->result, r.arrays[0].bytes, n);
    snprintf(message, 512, "%.500s", result.message);
    case_free(&r);
    return result.outcome == RUN_OK;
}

/* first: the hash of the first results; all: of all, or 0 where it is not asked for. */
static bool run_case_on(const bits_case *c, library *l, bool whole, uint64_t *first, uint64_t *all,
                        char message[512]) {
    hg_program *program = NULL;
    uint64_t count = bits_results(c), hash = BITS_HASH_START, begin = bits_first(c);
    hg_status status = hg_program_assemble(c->text, strlen(c->text), NULL, &program);
    if (status == HG_OK) status = hg_program_verify(program, NULL);
    if (status != HG_OK) snprintf(message, 512, "%.500s", hg_last_error_text());
    bool ok = status == HG_OK && run_lanes(c, l, program, 0, begin, &hash, message);
    *first = hash;
    for (uint64_t at = begin, n; ok && whole && at < count; at += n) {
        n = count - at < BITS_CHUNK ? count - at : BITS_CHUNK;
        ok = run_lanes(c, l, program, at, n, &hash, message);
    }
    *all = whole ? hash : 0;
    hg_program_release(program);
    return ok;
}

static void compare(const run_options *o, const target *t, const bits_case *c) {
    uint64_t first, all;
    char message[512];
    const recorded *r = find(c->name);
    CHECK_MESSAGE(r != NULL, "%s is not in bits.json: write it anew", c->name);
    if (!r) return;
    struct timespec a, b;
    timespec_get(&a, TIME_UTC);
    bool ran = run_case_on(c, t->library, o->all, &first, &all, message);
    timespec_get(&b, TIME_UTC);
    if (o->times)
        fprintf(stderr, "%8.1f ms %s\n",
                (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6,
                c->name);
    bool same = ran && first == r->first && (!o->all || all == r->all);
    CHECK_MESSAGE(same, "bits --backend %s%s%s%s%s%s --only '%s': %s", o->backend,
                  t->level[0] ? " --level " : "", t->level, t->pretend[0] ? " --pretend " : "",
                  t->pretend, o->all ? " --all" : "", c->name, ran ? "other bits" : message);
}

static const char ABOUT[] =
    "{\n"
    "  \"about\": \"Results of every instruction in every type, the same on every target. Each "
    "entry: FNV-1a (64 bits) over the first 256th"
    " of the results and over all, elements in order, little-endian, every NaN as the quiet one "
    "with no other fraction bit.\",\n"
    "  \"results\": \"2^20 for types up to 64 bits, 2^16 up to 256, 2^12 above; reductions: of 0, "
    "1, 127, 128, 129, 4095, 4096 and 4097"
    " elements. Predicates are the bytes 0 and 1.\",\n"
    "  \"arguments\": \"Argument k of lane i is made from words SplitMix64(256 i + 64 k + w): by "
    "bits 2k and 2k + 1 of i a special value,"
    " any bits, an ordinary magnitude, a small or short number (tests/bits/inputs.c). A zero "
    "divisor of integers is 1.\",\n"
    "  \"written by\": \"build/release/tests/bits --write docs/reference/bits.json\",\n"
    "  \"version\": %u,\n"
    "  \"entries\": {\n";

/* Cases that are not wanted stay as they were recorded. */
static bool write_file(const run_options *o, const char *path, const bits_case *cases,
                       uint32_t count, library *l) {
    char message[512];
    FILE *f = fopen(path, "w");
    if (!f) return false;
    fprintf(f, ABOUT, (unsigned)HG_BITS_VERSION);
    for (uint32_t i = 0; i < count; i++) {
        const recorded *old = wanted(o, &cases[i], i) ? NULL : find(cases[i].name);
        uint64_t first = old ? old->first : 0, all = old ? old->all : 0;
        bool ran = old || run_case_on(&cases[i], l, true, &first, &all, message);
        CHECK_MESSAGE(ran, "%s: %s", cases[i].name, message);
        fprintf(f, "    \"%s\": [\"%016" PRIx64 "\", \"%016" PRIx64 "\"]%s\n", cases[i].name, first,
                all, i + 1 < count ? "," : "");
    }
    fputs("  }\n}\n", f);
    return fclose(f) == 0;
}

static void add_target(const run_options *o, target *targets, int *count, const char *level,
                       const char *pretend, bool required) {
    char reason[256];
    library *l = library_open(o->backend, level, pretend, reason);
    if (l) targets[(*count)++] = (target){l, level, pretend};
    if (!l && required) CHECK_MESSAGE(false, "%s %s %s: %s", o->backend, level, pretend, reason);
}

int main(int argc, char **argv) {
    run_options o = {.backend = "cpu"};
    const char *level = NULL, *pretend = NULL, *write = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool taken = true;
        if (strcmp(argv[i], "--all") == 0)
            o.all = true, taken = false;
        else if (strcmp(argv[i], "--times") == 0)
            o.times = true, taken = false;
        else if (strcmp(argv[i], "--backend") == 0)
            o.backend = value;
        else if (strcmp(argv[i], "--level") == 0)
            level = value;
        else if (strcmp(argv[i], "--pretend") == 0)
            pretend = value;
        else if (strcmp(argv[i], "--only") == 0)
            o.only = value;
        else if (strcmp(argv[i], "--without") == 0 && o.without_count < WITHOUT)
            o.without[o.without_count++] = value;
        else if (strcmp(argv[i], "--widest") == 0)
            o.widest = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--write") == 0)
            write = value;
        else if (strcmp(argv[i], "--part") != 0 || sscanf(value, "%u/%u", &o.part, &o.parts) != 2)
            return fprintf(stderr, "unknown argument %s\n", argv[i]), 2;
        i += taken;
    }
    uint32_t count = 0;
    bits_case *cases = bits_cases(&count);
    target targets[TARGETS];
    int target_count = 0;
    bool one = level || pretend || write || strcmp(o.backend, "cpu") != 0;
    add_target(&o, targets, &target_count,
               level ? level
               : one ? ""
                     : "baseline",
               pretend ? pretend : "", true);
    if (!one) {
        add_target(&o, targets, &target_count, "v3", "", false);
        add_target(&o, targets, &target_count, "v4", "", false);
        add_target(&o, targets, &target_count, "", "poor", true);
    }
    CHECK_MESSAGE(load(HG_SOURCE_DIR "/docs/reference/bits.json") || write,
                  "docs/reference/bits.json cannot be read");
    CHECK_MESSAGE(write || known_version == HG_BITS_VERSION, "bits.json has version %u, not %u",
                  (unsigned)known_version, (unsigned)HG_BITS_VERSION);
    if (write && target_count)
        CHECK_MESSAGE(write_file(&o, write, cases, count, targets[0].library),
                      "%s cannot be written", write);
    for (uint32_t i = 0; i < count && !write; i++)
        for (int t = 0; t < target_count && wanted(&o, &cases[i], i); t++)
            compare(&o, &targets[t], &cases[i]);
    for (int t = 0; t < target_count; t++) library_close(targets[t].library);
    free(cases);
    free(known);
    return test_done();
}
