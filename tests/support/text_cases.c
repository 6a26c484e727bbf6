#include "support/text_cases.h"
#include "test.h"
#include <dirent.h>
#include <stdlib.h>

static const char GIVES[] = "\n; gives\n";

bool text_cases_find(const char *text, const char *key, char *buffer, size_t size) {
    char head[32];
    snprintf(head, sizeof head, "; %s:", key);
    const char *at = strstr(text, head);
    if (!at) return false;
    at += strlen(head);
    snprintf(buffer, size, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

/* ---- differences ---- */

enum { MOST_LINES = 2000 };
typedef struct lines {
    const char *at[MOST_LINES + 1];
    uint32_t count;
} lines;

static void cut(lines *l, const char *text) {
    for (l->count = 0; *text && l->count < MOST_LINES; l->count++) {
        l->at[l->count] = text;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    l->at[l->count] = text;
}

static size_t bytes_of(const lines *l, uint32_t i) { return (size_t)(l->at[i + 1] - l->at[i]); }
static bool equal(const lines *a, uint32_t i, const lines *b, uint32_t k) {
    return bytes_of(a, i) == bytes_of(b, k) && memcmp(a->at[i], b->at[k], bytes_of(a, i)) == 0;
}

/* Lines that only one of the texts has, by a longest common subsequence. */
static void show_difference(const char *expected, const char *got) {
    static lines a, b;
    cut(&a, expected);
    cut(&b, got);
    uint32_t width = b.count + 1;
    uint16_t *common = calloc((size_t)(a.count + 1) * width, sizeof *common);
    if (!common) return;
    for (uint32_t i = a.count; i-- > 0;)
        for (uint32_t k = b.count; k-- > 0;) {
            uint16_t down = common[(i + 1) * width + k], right = common[i * width + k + 1];
            common[i * width + k] = equal(&a, i, &b, k)
                                        ? (uint16_t)(common[(i + 1) * width + k + 1] + 1)
                                    : down > right ? down
                                                   : right;
        }
    for (uint32_t i = 0, k = 0; i < a.count || k < b.count;) {
        if (i < a.count && k < b.count && equal(&a, i, &b, k)) {
            i++;
            k++;
        } else if (i < a.count &&
                   (k == b.count || common[(i + 1) * width + k] >= common[i * width + k + 1])) {
            fprintf(stderr, "  -%.*s", (int)bytes_of(&a, i), a.at[i]);
            i++;
        } else {
            fprintf(stderr, "  +%.*s", (int)bytes_of(&b, k), b.at[k]);
            k++;
        }
    }
    free(common);
}

/* ---- other compilers ---- */

#ifdef __clang__
static int by_line(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text without numbers, which follow the order, sorted. */
static char *bag_of(const char *text) {
    static lines l;
    char *copies[MOST_LINES];
    hg_text bag = {0};
    cut(&l, text);
    for (uint32_t i = 0; i < l.count; i++) {
        char *to = copies[i] = calloc(1, bytes_of(&l, i) + 1);
        for (const char *from = l.at[i]; from < l.at[i + 1]; from++)
            if (*from < '0' || *from > '9') *to++ = *from;
    }
    qsort(copies, l.count, sizeof *copies, by_line);
    for (uint32_t i = 0; i < l.count; i++) {
        hg_text_add(&bag, copies[i], strlen(copies[i]));
        free(copies[i]);
    }
    return bag.data;
}
#endif

/* C leaves the order open in which arguments are evaluated, so that passes built by another
 * compiler than the one of the files write independent operations in another order. */
static bool is_same(const char *expected, const char *got) {
    if (strcmp(expected, got) == 0) return true;
#ifdef __clang__
    char *a = bag_of(expected), *b = bag_of(got);
    bool same = a && b && strcmp(a, b) == 0;
    hg_free(a);
    hg_free(b);
    return same;
#else
    return false;
#endif
}

/* ---- files ---- */

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    hg_text text = {0};
    char buffer[4096];
    hg_text_add(&text, "", 0);
    for (size_t n; f && (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
        hg_text_add(&text, buffer, n);
    if (f) fclose(f);
    return f ? text.data : NULL;
}

static void write_file(const char *path, const char *given, size_t length, const hg_text *got) {
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(given, 1, length, f) == length &&
              fwrite(GIVES, 1, sizeof GIVES - 1, f) == sizeof GIVES - 1 &&
              fwrite(got->data, 1, got->length, f) == got->length;
    if (f && fclose(f)) ok = false;
    CHECK_MESSAGE(ok, "cannot write %s", path);
}

static void check_file(const text_cases *set, const char *path, bool update) {
    char *text = read_file(path);
    CHECK_MESSAGE(text, "cannot read %s", path);
    if (!text) return;
    char *gives = strstr(text, GIVES);
    const char *expected = gives ? gives + sizeof GIVES - 1 : "";
    if (gives) *gives = 0;
    size_t length = strlen(text);
    while (!gives && length && text[length - 1] == '\n') text[--length] = 0;
    hg_text got = {0};
    set->run(path, text, length, &got);
    bool same = got.data && is_same(expected, got.data);
    if (update && !same && got.data) {
        write_file(path, text, length, &got);
    } else {
        CHECK_MESSAGE(same, "%s: another result (build/release/tests/%s %s)", path, set->program,
                      path);
        if (!same && got.data) show_difference(expected, got.data);
    }
    hg_text_free(&got);
    hg_free(text);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_folder(const text_cases *set, bool update) {
    char *names[1024];
    size_t count = 0;
    DIR *dir = opendir(set->folder);
    CHECK_MESSAGE(dir, "cannot read %s", set->folder);
    for (const struct dirent *e; dir && count < HG_COUNT_OF(names) && (e = readdir(dir)) != NULL;) {
        const char *end = strrchr(e->d_name, '.');
        if (end && strcmp(end, set->ending) == 0) names[count++] = strdup(e->d_name);
    }
    if (dir) closedir(dir);
    CHECK_MESSAGE(count >= set->least, "%zu cases in %s", count, set->folder);
    qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", set->folder, names[i]);
        check_file(set, path, update);
        free(names[i]);
    }
}

int text_cases_main(const text_cases *set, int argc, char **argv) {
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
    int files = update ? 2 : 1;
    for (int i = files; i < argc; i++) check_file(set, argv[i], update);
    if (files == argc) check_folder(set, update);
    return test_done();
}
