/* Programs as statements and back: equal kernel IR, for every text of the project that assembles by
 * itself, and for random programs.
 *
 *     test_structured [--random N] [--seed N] [--deep] [--report] [FILE …]
 *
 * test: labels=isa timeout=300 */
#include "../../differential/generate.h"
#include "base/base.h"
#include "support/sanitized.h"
#include "support/structured_text.h"
#include "test.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What jumps become, and what stays one: a jump into a loop. */
static const char *const JUMPS = ".atlas 1\n"
                                 ".program shapes\n"
                                 ".param x buffer f32 in\n"
                                 ".param y buffer u32 out\n"
                                 ".param n u32\n"
                                 ".reg i, v u32\n"
                                 ".reg w f32\n"
                                 "    mov i, 0\n"
                                 "    bra.ge i, n, @done\n"
                                 "again:\n"
                                 "    ldg w, [x[i]]\n"
                                 "    bra.lt w, 0.0, @negative\n"
                                 "    mul v, i, 3\n"
                                 "    bra @store\n"
                                 "negative:\n"
                                 "    add v, i, 1\n"
                                 "    bra.eq v, n, @done\n"
                                 "store:\n"
                                 "    stg [y[i]], v\n"
                                 "    add i, i, 1\n"
                                 "    bra.lt i, n, @again\n"
                                 "done:\n"
                                 "    rem v, n, 7\n"
                                 "    bra.ne v, 0, @odd\n"
                                 "loop:\n"
                                 "    sub v, v, 1\n"
                                 "    bra.eq v, 0, @out\n"
                                 "    bra @loop\n"
                                 "odd:\n"
                                 "    bra @loop\n"
                                 "out:\n";
static const char *const STATEMENTS = ".atlas 1\n"
                                      ".program shapes\n"
                                      ".param x buffer f32 in\n"
                                      ".param y buffer u32 out\n"
                                      ".param n u32\n"
                                      ".reg v u32\n"
                                      "    let i u32 = 0\n"
                                      "    if i < n {\n"
                                      "        loop {\n"
                                      "            if !(x[i] < 0.0) {\n"
                                      "                v = i * 3\n"
                                      "            } else {\n"
                                      "                v = i + 1\n"
                                      "                if v == n {\n"
                                      "                    break\n"
                                      "                }\n"
                                      "            }\n"
                                      "            y[i] = v\n"
                                      "            i += 1\n"
                                      "            if i >= n {\n"
                                      "                break\n"
                                      "            }\n"
                                      "        }\n"
                                      "    }\n"
                                      "    let v_2 = n % 7\n"
                                      "    p0 = v_2 != 0\n"
                                      "    bra.p0 @odd\n"
                                      "loop:\n"
                                      "    v_2 -= 1\n"
                                      "    p0 = v_2 == 0\n"
                                      "    bra.p0 @out\n"
                                      "    bra @loop\n"
                                      "odd:\n"
                                      "    bra @loop\n"
                                      "out:\n";
/* Comes out as it went in. */
static const char *const SAME = ".atlas 1\n"
                                ".program mandelbrot\n"
                                ".param rounds buffer u32 out\n"
                                ".param w u64\n"
                                ".param h u64\n"
                                ".param most u32\n"
                                ".lanes w * h\n"
                                "    let x = f32(global % w) * 3.0 / f32(w) - 2.0\n"
                                "    let y = f32(global / w) * 2.0 / f32(h) - 1.0\n"
                                "    let re f32 = 0.0\n"
                                "    let im f32 = 0.0\n"
                                "    let n u32 = 0\n"
                                "    while n < most && re * re + im * im < 4.0 {\n"
                                "        let next = re * re - im * im + x\n"
                                "        im = 2.0 * re * im + y\n"
                                "        re = next\n"
                                "        n += 1\n"
                                "    }\n"
                                "    rounds[global] = n == most ? 0 : n\n";

/* `for` by one in all directions, with what leaves it and its rounds. */
static const char *const FOR = ".atlas 1\n"
                               ".program rounds\n"
                               ".param x buffer i32 in [n]\n"
                               ".param y buffer i32 inout [n]\n"
                               ".param n u64\n"
                               ".param a i8\n"
                               "    for i in 0 .. n {\n"
                               "        for j in reversed u64(3) .. 7 {\n"
                               "            if j == i {\n"
                               "                continue\n"
                               "            }\n"
                               "            y[i] = x[j]\n"
                               "            if x[i] > 100 {\n"
                               "                break\n"
                               "            }\n"
                               "        }\n"
                               "    }\n"
                               "    for k in x[n] .. x[global] + 2 step -1 {\n"
                               "        y[n] = k\n"
                               "    }\n"
                               "    for k_2 in reversed -128 .. a step -1 {\n"
                               "        y[n] = i32(k_2)\n"
                               "    }\n"
                               "    for k_3 in 1 .. 4 {\n"
                               "        y[k_3] = 5\n"
                               "    }\n";
/* None: the text reads the variable behind the rounds, and it counts by 257. */
static const char *const NO_FOR = ".atlas 1\n"
                                  ".program none\n"
                                  ".param y buffer u32 out\n"
                                  ".param n u32\n"
                                  ".reg i, k, one, end u32\n"
                                  "    mov i, 0\n"
                                  "    mov end, n\n"
                                  "    bra.ge i, end, @behind\n"
                                  "    mov one, 1\n"
                                  "top:\n"
                                  "    add i, i, one\n"
                                  "    bra.lt i, end, @top\n"
                                  "behind:\n"
                                  "    stg [y[0]], i\n"
                                  "    mov k, 0\n"
                                  "    mov end, n\n"
                                  "    bra.ge k, end, @out\n"
                                  "    mov one, 257\n"
                                  "again:\n"
                                  "    stg [y[1]], k\n"
                                  "    add k, k, one\n"
                                  "    bra.lt k, end, @again\n"
                                  "out:\n";

static void becomes(const char *text, const char *expected) {
    hg_program *p = NULL;
    char *got = NULL;
    CHECK(hg_program_assemble(text, strlen(text), NULL, &p) == HG_OK &&
          hg_program_print_structured(p, &got, NULL) == HG_OK);
    CHECK_TEXT(got, expected);
    hg_string_free(got);
    hg_program_release(p);
}

static bool report;
static struct { uint64_t programs, without_jumps, same_uses, blocks, jumps, lines, plain; } sum;

static void look(const hg_program *p, const char *name) {
    structured_result r = structured_round_trip(p);
    CHECK_MESSAGE(r.good, "test_structured %s: %s", name, r.why);
    if (r.unknown) return;
    sum.programs++;
    sum.without_jumps += !r.jumps;
    sum.blocks += r.blocks;
    sum.same_uses += r.same_uses;
    sum.jumps += r.jumps;
    sum.lines += r.lines;
    sum.plain += r.plain;
    if (report)
        printf("%s %u lines, %u instructions, %u blocks, %u jumps\n", name, (unsigned)r.lines,
               (unsigned)r.plain, (unsigned)r.blocks, (unsigned)r.jumps);
}

static void known(void) {
    char *got = NULL;
    becomes(JUMPS, STATEMENTS);
    becomes(SAME, SAME);
    becomes(FOR, FOR);
    hg_program *none = NULL;
    CHECK(hg_program_assemble(NO_FOR, strlen(NO_FOR), NULL, &none) == HG_OK &&
          hg_program_print_structured(none, &got, NULL) == HG_OK);
    CHECK(got && !strstr(got, "for "));
    hg_string_free(got);
    got = NULL;
    look(none, "no for");
    hg_program_release(none);
    CHECK(hg_program_print_structured(NULL, &got, NULL) == HG_ERROR_INVALID_ARGUMENT);
    hg_program *p = NULL;
    const char *unset = ".atlas 1\n.program unset\n    add.u32 r1, r2, r3\n";
    CHECK(hg_program_assemble(unset, strlen(unset), NULL, &p) == HG_OK);
    CHECK(hg_program_print_structured(p, &got, NULL) == HG_ERROR_ISA && !got);
    hg_program_release(p);
}

/* Every program of a text, which may have several; what does not assemble is no matter here. */
static void look_at_text(const char *text, const char *name) {
    for (const char *at = text; (at = strstr(at, ".program ")) != NULL; at += 9) {
        char program[80];
        if (at != text && at[-1] != '\n') continue;
        snprintf(program, sizeof program, "%.*s", (int)strcspn(at + 9, " \t\r\n;"), at + 9);
        hg_assemble_options options = {.size = sizeof options, .program = program};
        hg_program *p = NULL;
        if (hg_program_assemble_with(text, strlen(text), &options, NULL, &p) == HG_OK)
            look(p, name);
        hg_program_release(p);
    }
}

static void look_at_file(const char *path) {
    FILE *file = fopen(path, "rb");
    hg_text text = {0};
    char part[4096];
    for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
        hg_text_add(&text, part, n);
    if (file) fclose(file);
    if (text.data && !memchr(text.data, 0, text.length)) look_at_text(text.data, path);
    hg_text_free(&text);
}

static void look_at_folder(const char *path, bool all) {
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
        char inner[1024];
        struct stat about;
        if (e->d_name[0] == '.') continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        size_t length = strlen(inner);
        if (stat(inner, &about) == 0 && S_ISDIR(about.st_mode))
            look_at_folder(inner, all);
        else if ((length > 6 && strcmp(inner + length - 6, ".atlas") == 0) || all)
            look_at_file(inner);
    }
    if (folder) closedir(folder);
}

static void look_at_random(uint64_t seed, uint32_t flags) {
    run_case c;
    memset(&c, 0, sizeof c);
    char name[64];
    hg_program *p = NULL;
    snprintf(name, sizeof name, "--random 1 --seed %" PRIu64, seed);
    if (generate_case(seed, flags, &c) && hg_program_assemble(c.text, c.length, NULL, &p) == HG_OK)
        look(p, name);
    hg_program_release(p);
    case_free(&c);
}

int main(int argc, char **argv) {
    uint64_t random = rounds_here(100, 5), seed = 1;
    uint32_t flags = GENERATE_FAULTS;
    bool files = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--random") == 0 && i + 1 < argc)
            random = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--deep") == 0)
            flags |= GENERATE_DEEP;
        else if (strcmp(argv[i], "--report") == 0)
            report = true;
        else
            look_at_file(argv[i]), files = true;
    }
    if (!files) {
        known();
        look_at_folder(HG_SOURCE_DIR "/examples", false);
        look_at_folder(HG_SOURCE_DIR "/src/library", false);
        look_at_folder(HG_SOURCE_DIR "/bench", false);
        look_at_folder(HG_SOURCE_DIR "/tests/programs", false);
        look_at_folder(HG_SOURCE_DIR "/tests/fuzz/seeds/fuzz_text", true);
        for (uint64_t i = 0; i < random; i++) look_at_random(seed + i, flags);
    }
    if (report)
        printf("%" PRIu64 " programs, %" PRIu64 " without a jump; %" PRIu64 " lines, %" PRIu64
               " of them instructions, %" PRIu64 " blocks, %" PRIu64 " jumps; %" PRIu64
               " equal by instructions and uses only\n",
               sum.programs, sum.without_jumps, sum.lines, sum.plain, sum.blocks, sum.jumps,
               sum.same_uses);
    return test_done();
}
