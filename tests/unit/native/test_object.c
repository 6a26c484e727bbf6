/* The loader of object files: code of gcc and clang at several levels runs, functions outside are
 * reached, and damaged files are refused or loaded without a byte being touched that is not theirs
 * (the code of a damaged file never runs). */
#include "native/elf.h"
#include "support/sanitized.h"
#include "test.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#if NATIVE_ELF_X86_64

static const char TEXT[] =
    "#include <math.h>\n#include <string.h>\n"
    "typedef struct { const char *name; int number; } row;\n"
    "static const row rows[] = {{\"one\", 1}, {\"two\", 2}, {\"three\", 3}};\n"
    "static int counter; static int start = 40;\n"
    "static __attribute__((noinline)) double inner(double x, int n) { return fma(x, n, floor(x)); "
    "}\n"
    "int visible = 5;\n"
    "double hologram_kernel(const char *name, double x, char *out, unsigned long bytes) {\n"
    "    int n = 0;\n"
    "    for (unsigned i = 0; i < 3; i++) if (rows[i].name[0] == name[0] && rows[i].name[1] == "
    "name[1]) n = rows[i].number;\n"
    "    switch (n) { case 0: memset(out, 'z', bytes); break; case 1: memset(out, 'a', bytes); "
    "break;\n"
    "    case 2: memcpy(out, rows[1].name, bytes); break; case 3: memmove(out, out + 1, bytes); "
    "break; }\n"
    "    return inner(x, n) + ++counter + start + visible;\n"
    "}\n";
typedef double kernel(const char *name, double x, char *out, unsigned long bytes);

/* The object file of TEXT by a compiler; NULL: it is not there. */
static uint8_t *compile(const char *command, uint64_t *size) {
    char folder[] = "/tmp/hologram-object-XXXXXX", line[512], path[64];
    if (!mkdtemp(folder)) return NULL;
    snprintf(path, sizeof path, "%s/x.c", folder);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(TEXT, f);
        fclose(f);
    }
    snprintf(line, sizeof line, "cd %s && %s -c -fPIC -fno-math-errno -o x.o x.c 2>/dev/null",
             folder, command);
    bool good = f && system(line) == 0;
    unlink(path);
    snprintf(path, sizeof path, "%s/x.o", folder);
    f = good ? fopen(path, "rb") : NULL;
    uint8_t *bytes = f ? malloc(1 << 20) : NULL;
    *size = bytes ? fread(bytes, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    unlink(path);
    rmdir(folder);
    return bytes;
}

static void test_runs(const char *command, const uint8_t *bytes, uint64_t size) {
    char reason[256] = "", out[8] = "_______";
    void *o = native_elf.load(bytes, size, "hologram_kernel", reason);
    CHECK_MESSAGE(o, "%s: %s", command, reason);
    if (!o) return;
    void *entry = native_elf.entry(o);
    kernel *run;
    memcpy(&run, &entry, sizeof run);
    CHECK(run("two", 1.5, out, 3) == 2 * 1.5 + 1 + 1 + 45 && strcmp(out, "two____") == 0);
    CHECK(run("three", -0.5, out, 3) == 3 * -0.5 - 1 + 2 + 45 && strcmp(out, "wo_____") == 0);
    CHECK(run("none", 0, out, 2) == 3 + 45 && strcmp(out, "zz_____") == 0);
    /* Another copy has variables of its own. */
    void *second = native_elf.load(bytes, size, "hologram_kernel", reason);
    CHECK(second && native_elf.entry(second) != entry);
    native_elf.unload(o);
    entry = second ? native_elf.entry(second) : NULL;
    memcpy(&run, &entry, sizeof run);
    if (second) CHECK(run("one", 0, out, 1) == 1 + 45);
    native_elf.unload(second);
    CHECK(!native_elf.load(bytes, size, "hologram_kerne", reason) && strstr(reason, "no function"));
    CHECK(!native_elf.load(bytes, size, "visible", reason) && strstr(reason, "no code"));
}

/* No page of a loaded object may be written and run. */
static void test_rights(const uint8_t *bytes, uint64_t size) {
    char reason[256], line[256];
    void *o = native_elf.load(bytes, size, "hologram_kernel", reason);
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(o && maps);
    uintptr_t entry = (uintptr_t)native_elf.entry(o);
    bool found = false;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3) continue;
        CHECK_MESSAGE(!strchr(rights, 'w') || !strchr(rights, 'x'), "%s", line);
        if (entry < from || entry >= to) continue;
        found = true;
        CHECK_TEXT(rights, "r-xp");
    }
    CHECK(found);
    if (maps) fclose(maps);
    native_elf.unload(o);
}

static uint64_t state = 88172645463325252u;
static uint64_t random_number(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Each copy lies in a block of its own exact size, so that AddressSanitizer sees the first byte
 * beyond. */
static void test_damaged(const uint8_t *bytes, uint64_t size) {
    char reason[256];
    uint64_t refused = 0, tries = SANITIZED ? 4000 : 20000;
    for (uint64_t i = 0; i < tries; i++) {
        uint64_t length = i % 8 == 0 ? random_number() % (size + 1) : size;
        uint8_t *copy = malloc(length ? length : 1);
        if (!copy) break;
        memcpy(copy, bytes, length);
        for (uint64_t n = i % 8 ? 1 + random_number() % 6 : 0; n && length; n--) {
            /* The header, the headers of sections at the end, and all between. */
            uint64_t r = random_number(),
                     at = r % 3 == 0   ? r / 3 % 64
                          : r % 3 == 1 ? length - 1 - r / 3 % (length < 2048 ? length : 2048)
                                       : r / 3 % length;
            uint64_t how = random_number();
            if (at >= length) continue;
            copy[at] = how % 4 == 0   ? 0xFF
                       : how % 4 == 1 ? (uint8_t)(how >> 8)
                                      : (uint8_t)(copy[at] ^ 1 << (how >> 8) % 8);
        }
        void *o = native_elf.load(copy, length, "hologram_kernel", reason);
        refused += !o;
        CHECK(o || reason[0]);
        native_elf.unload(o);
        free(copy);
    }
    CHECK_MESSAGE(refused > tries / 10 && refused < tries, "%llu of %llu refused",
                  (unsigned long long)refused, (unsigned long long)tries);
}

static void test_one(const char *command, bool first) {
    uint64_t size = 0;
    uint8_t *bytes = compile(command, &size);
    if (!size) {
        SKIP(command);
    } else {
        test_runs(command, bytes, size);
        test_rights(bytes, size);
        if (first) test_damaged(bytes, size);
    }
    free(bytes);
}

static void test_unknown(void) {
    char reason[256] = "";
    CHECK(!native_elf.load((const uint8_t *)"", 0, "hologram_kernel", reason) && reason[0]);
    CHECK(!native_elf.load((const uint8_t *)"\177ELF", 4, "hologram_kernel", reason) && reason[0]);
}

int main(void) {
    static const char *const commands[] = {"gcc -O2", "gcc -O0", "gcc -O2 -march=x86-64-v3",
                                           "clang-14 -O2", "clang-14 -O0"};
    test_unknown();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) test_one(commands[i], i == 0);
    return test_done();
}

#else

int main(void) {
    SKIP("no loader of ELF objects for this machine");
    return test_done();
}

#endif
