/* The reader of TOML: what it reads, what it refuses and where. `test_toml print` reads documents
 * that are separated by bytes 0x1E and prints what became of each, for tests/toml/run.py, which
 * compares with another reader. */
#include "base/toml.h"
#include <hologram/diagnostics.h>
#include "support/failing_allocator.h"
#include "test.h"
#include <string.h>

static bool read_text(const char *text, hg_toml *document, hg_toml_fault *fault) {
    return hg_toml_read(document, text, strlen(text), fault);
}

static void test_values(void) {
    static const char text[] = "\xEF\xBB\xBF"
                               "a = 1 # one\r\n"
                               "\n"
                               "[ t . \"u v\" ]\n"
                               "b.c = \"x\\ty\\u00e9\\U0001F600\"\n"
                               "b.d = 'as it \\ stands'\n"
                               "\"\" = true\n"
                               "n = [ 1, # one\n 0x_ ]";
    static const char good[] = "\xEF\xBB\xBF"
                               "a = 1 # one\r\n"
                               "\n"
                               "[ t . \"u v\" ]\n"
                               "b.c = \"x\\ty\\u00e9\\U0001F600\"\n"
                               "b.d = 'as it \\ stands'\n"
                               "\"\" = true\n"
                               "n = [ 1, # one\n 0xFf, -1_0 , ]";
    static const struct {
        const char *key, *text;
        hg_toml_kind kind;
    } want[] = {{"a", "1", HG_TOML_INTEGER},
                {"t.\"u v\".b.c", "x\ty\xC3\xA9\xF0\x9F\x98\x80", HG_TOML_STRING},
                {"t.\"u v\".b.d", "as it \\ stands", HG_TOML_STRING},
                {"t.\"u v\".\"\"", "true", HG_TOML_BOOL},
                {"t.\"u v\".n", "1,255,-10", HG_TOML_INTEGERS}};
    hg_toml d;
    hg_toml_fault f;
    CHECK(!read_text(text, &d, &f) && f.line == 8 && f.column == 4);
    CHECK(read_text(good, &d, &f));
    CHECK_U64(d.values.count, 5);
    for (size_t i = 0; i < d.values.count && i < 5; i++) {
        CHECK_TEXT(d.values.data[i].key, want[i].key);
        CHECK_TEXT(d.values.data[i].text, want[i].text);
        CHECK(d.values.data[i].kind == want[i].kind);
    }
    CHECK(d.values.data[1].line == 4 && d.values.data[1].column == 7 &&
          d.values.data[1].key_column == 1);
    hg_toml_free(&d);
    hg_toml_free(&d);
}

static void test_refused(void) {
    static const struct {
        const char *text;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {"a", 1, 2, "expected '=' behind a key"},
        {"a =", 1, 4, "expected a value: a string in quotes, a number, true, false, or [numbers]"},
        {"a = 1 2", 1, 7, "expected the end of the line"},
        {"a = 1\na = 2", 2, 1, "'a' stands a second time"},
        {"[t]\n[t]", 2, 2, "'t' stands a second time"},
        {"[t.u]\n[t]\nu.x = 1", 3, 1, "'t.u' is a table that stands elsewhere"},
        {"a = 1\n[a.b]", 2, 2, "'a' has a value and is no table"},
        {"a.b = 1\na.b.c = 2", 2, 1, "'a.b' has a value and is no table"},
        {"[[t]]", 1, 1, "arrays of tables are not read here"},
        {"[t", 1, 3, "expected ']' behind the name of a table"},
        {"[]", 1, 2, "expected a key"},
        {"a = 1.5", 1, 5, "floating-point numbers are not read here"},
        {"a = -inf", 1, 5, "floating-point numbers are not read here"},
        {"a = nan", 1, 5, "floating-point numbers are not read here"},
        {"a = 1979-05-27", 1, 5, "dates and times are not read here"},
        {"a = 07:32:00", 1, 5, "dates and times are not read here"},
        {"a = 012", 1, 5, "a number does not begin with 0"},
        {"a = 1__0", 1, 7, "expected a digit"},
        {"a = 1_", 1, 7, "expected a digit"},
        {"a = 9223372036854775808", 1, 5, "an integer beyond 64 bits"},
        {"a = 99999999999999999999", 1, 24, "an integer beyond 64 bits"},
        {"a = \"x", 1, 5, "the string is not closed on its line"},
        {"a = \"\"\"x\"\"\"", 1, 5, "strings of several lines are not read here"},
        {"a = \"\\q\"", 1, 6,
         "an escape is one of \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX"},
        {"a = \"\\ud800\"", 1, 6, "the escape is no character"},
        {"a = \"\\u12\"", 1, 10, "expected a hexadecimal digit"},
        {"a = \"\x01\"", 1, 6, "a control character"},
        {"a = \"\xC3\"", 1, 6, "bytes that are no UTF-8"},
        {"# \x7F", 1, 3, "a control character"},
        {"a = 1\r", 1, 6, "expected the end of the line"},
        {"a = {}", 1, 5, "inline tables are not read here"},
        {"a = [1", 1, 5, "the array is not closed"},
        {"a = [1 2]", 1, 8, "expected ',' or ']' in an array"},
        {"a = [\"x\"]", 1, 6, "only arrays of integers are read here"},
        {"a = [[1]]", 1, 6, "only arrays of integers are read here"},
        {"a = [1,,2]", 1, 8, "only arrays of integers are read here"},
        {"a = trues", 1, 5, "expected a value"},
        {"= 1", 1, 1, "expected a key"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hg_toml d;
        hg_toml_fault f = {0};
        CHECK(!read_text(cases[i].text, &d, &f) && !d.values.count);
        CHECK_TEXT(f.message, cases[i].message);
        CHECK(f.line == cases[i].line && f.column == cases[i].column);
        if (f.line != cases[i].line || f.column != cases[i].column)
            fprintf(stderr, "%s: at %u:%u\n", cases[i].text, f.line, f.column);
    }
}

static void test_limits(void) {
    enum { BYTES = HG_TOML_MOST_BYTES + 2 };
    static char text[BYTES];
    hg_toml d;
    hg_toml_fault f;
    memset(text, ' ', sizeof text);
    CHECK(hg_toml_read(&d, text, HG_TOML_MOST_BYTES, &f));
    hg_toml_free(&d);
    CHECK(!hg_toml_read(&d, text, HG_TOML_MOST_BYTES + 1, &f));
    size_t length = 0;
    for (int i = 0; i <= HG_TOML_MOST_NAMES; i++)
        length += (size_t)snprintf(text + length, BYTES - length, "k%d=1\n", i);
    CHECK(!hg_toml_read(&d, text, length, &f));
    CHECK_TEXT(f.message, "more than 4096 names");
    CHECK_U64(f.line, HG_TOML_MOST_NAMES + 1);
}

static void test_memory(void) {
    static const char text[] = "[a.b]\nc.d = \"x\\ny\"\ne = [1, 2]\n[\"f g\"]\nh = 'i'\n";
    hg_toml d;
    hg_toml_fault f;
    int fails = 0;
    failing_allocator a = {0};
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &a,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    for (uint64_t n = 0;; n++) {
        allow_allocations(&a, n);
        if (read_text(text, &d, &f)) break;
        fails++;
        CHECK_TEXT(f.message, "out of memory");
    }
    CHECK(fails > 3);
    CHECK_U64(d.values.count, 3);
    hg_toml_free(&d);
    CHECK_U64(a.live, 0);
    CHECK(hg_set_allocator(NULL) == HG_OK);
}

static void print_document(const char *text, size_t length) {
    hg_toml d;
    hg_toml_fault f;
    if (!hg_toml_read(&d, text, length, &f)) {
        printf("! %u:%u %s\n", f.line, f.column, f.message);
        return;
    }
    for (uint64_t i = 0; i < d.values.count; i++) {
        const hg_toml_value *v = &d.values.data[i];
        printf("%d %s ", (int)v->kind, v->key);
        for (size_t k = 0; k < v->length; k++) printf("%02x", (unsigned char)v->text[k]);
        printf("\n");
    }
    printf(".\n");
    hg_toml_free(&d);
}

static int print_all(void) {
    static char text[1 << 24];
    size_t length = fread(text, 1, sizeof text, stdin), from = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && text[i] != 0x1E) continue;
        print_document(text + from, i - from);
        from = i + 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "print") == 0) return print_all();
    test_values();
    test_refused();
    test_limits();
    test_memory();
    return test_done();
}
