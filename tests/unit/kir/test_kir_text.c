/* The text form's reader: errors with their places, limits, memory that ends; and what kir_verify
 * says of texts that read. */
#include "kir/parse.h"
#include "support/kir_text.h"
#include "test.h"
#include <hologram/diagnostics.h>
#include <stdlib.h>

/* ---- errors of the text ---- */

/* Reads a text that has an error: its place, and words of the message. */
static void check_error(const char *text, uint32_t line, uint32_t column, const char *words) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    kir_module *m = NULL;
    hg_status status = kir_parse(text, strlen(text), d, &m);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    CHECK_MESSAGE(status == HG_ERROR_ISA && !m && g && hg_diagnostics_count(d) == 1, "'%s' reads",
                  words);
    if (g)
        CHECK_MESSAGE(g->line == line && g->column == column && strstr(g->message, words),
                      "%u:%u: %s, not %u:%u: %s", (unsigned)g->line, (unsigned)g->column,
                      g->message, (unsigned)line, (unsigned)column, words);
    hg_diagnostics_destroy(d);
    kir_module_destroy(m);
}

#define HEAD "module t\ninput 0: u64 param 1 buffer \"x\"\n"
#define BODY HEAD "function @main() -> void {\n"

static void errors(void) {
    check_error("", 1, 1, "expected 'module', got the end of the text");
    check_error("; nothing\n\n", 3, 1, "expected 'module', got the end of the text");
    check_error("module t\n", 2, 1, "expected a function");
    check_error("module t quick\n", 1, 10, "expected the end of the line, got 'quick'");
    check_error("module t is easy\n", 1, 13, "expected simple, slots");
    check_error(HEAD "input 2: u32 param 1\n", 3, 7, "expected 1, got 2");
    check_error(HEAD "input 1: i32 param 1\n", 3, 10,
                "expected a type: bool, f32, f64, u8 to u4096, got 'i32'");
    check_error(HEAD "input 1: u32 param 256\n", 3, 20, "at most 255");
    check_error(HEAD "slot 0: heap input 0\n", 3, 9,
                "expected buffer, pool or what the slot is for, got 'heap'");
    check_error(HEAD "table t: u8[3] = {1, 2}\n", 3, 23, "expected ',' and further elements");
    check_error(HEAD "table t: u8[1] = {256}\n", 3, 19, "out of range");
    check_error(HEAD "var $a: u32\nvar $a: u8\n", 4, 6, "'a' is there already");
    check_error(HEAD "function @f() -> u32 pure\n", 3, 26, "expected '{', got the end of the line");
    check_error(HEAD "function @f() -> void {\n}\nfunction @f() -> void {\n}\n", 5, 11,
                "'f' is there already");
    check_error(BODY "  %a = input 0\n  %b = add %a %a\n}\n", 5, 15, "expected ',', got '%a'");
    check_error(BODY "  %a = input 0\n  %b = add %a\n}\n", 5, 8, "'add' takes 2 arguments, got 1");
    check_error(BODY "  %a = input 0\n  %b = add %a, %c\n}\n", 5, 16,
                "there is no value before this one named 'c'");
    check_error(BODY "  %a = const 1\n}\n", 4, 8, "a constant needs its type");
    check_error(BODY "  %a: u32 = const 1.5\n}\n", 4, 19, "no literal of type u32");
    check_error(BODY "  %a: u8 = const bits\n}\n", 4, 18, "");
    check_error(BODY "  set r %a\n}\n", 4, 7, "there is no variable of the function 'r'");
    check_error(BODY "  call @other\n}\n", 4, 9, "there is no function 'other'");
    check_error(BODY "  barrier 0 1\n}\n", 4, 13, "expected the end of the line");
    check_error(BODY "  %a = barrier 0\n}\n", 4, 8, "'barrier' gives no value");
    check_error(BODY "  input 0\n}\n", 4, 3, "'input' gives a value");
    check_error(BODY "  loop {\n  } else {\n  }\n}\n", 5, 5,
                "expected the end of the line, got 'else'");
    check_error(BODY "  loop {\n  }\n", 6, 1, "expected '}', got the end of the text");
    check_error(BODY "  %a = input 0\n  %v: u32 = load heap %a []\n}\n", 5, 18,
                "expected buffer, pool, shared, class or flat");
    check_error(BODY "  %a = input 0\n  %v: u32 = load buffer %a [%a - 9223372036854775809]\n}\n",
                5, 34, "");
    check_error(BODY "  %a = input 0\n  store buffer %a [], %a {depth 1}\n}\n", 5, 27,
                "expected operand, bytes, wide");
    check_error(BODY "  fence world\n}\n", 4, 9, "expected a scope, got 'world'");
    check_error(BODY "  %a: f32 = derived cube.f32\n}\n", 4, 21, "there is no function 'cube'");
    check_error(BODY "  fault_if F1\n}\n", 4, 12, "expected a fault");
    check_error(BODY "  %a = id somewhere\n}\n", 4, 11, "expected an id");
    check_error("module \"open\n", 1, 8, "a string without its closing");
    check_error("module \"a\\n\"\n", 1, 8, "unknown escape");
}

/* ---- what keeps no rule ---- */

static void check_rule(const char *body, const char *words) {
    hg_text text = {0};
    kir_module *m = NULL;
    hg_text_addf(&text,
                 "module t\ninput 0: u64 param 1\ninput 1: u32 param 2\nslot 0: buffer input "
                 "0\nvar $m: u32\ntable t: u32[2] = {1, 2}\n%s\n",
                 body);
    hg_status status = kir_parse(text.data, text.length, NULL, &m);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", body, hg_last_error()->message);
    if (m) status = kir_verify(m);
    bool same = status == HG_ERROR_INTERNAL && strstr(hg_last_error()->message, words);
    CHECK_MESSAGE(same, "%s: %s instead of %s", body,
                  status == HG_OK ? "no error" : hg_last_error()->message, words);
    kir_module_destroy(m);
    hg_text_free(&text);
}
static void check_body(const char *body, const char *words) {
    hg_text text = {0};
    hg_text_addf(&text,
                 "function @main() -> void {\nvar r: u32\nvar a: u32[4]\n%%x = input 0\n%%n = "
                 "input 1\n%%t: bool = const true\n%s\n}\n",
                 body);
    check_rule(text.data, words);
    hg_text_free(&text);
}

static void rules(void) {
    check_body("%a: u8 = input 0", "differs from the input's type");
    check_body("%a: u32 = input 7", "no such input");
    check_body("%a: u32 = param 0", "no such parameter");
    check_body("%a: u64 = id lane_idx_x", "differs from the id's type");
    check_body("%a: u32 = zext %x", "does not convert");
    check_body("%a: u64 = trunc %n", "does not convert");
    check_body("%a: f32 = bitcast %x", "does not convert");
    check_body("%a: f32 = h2f %x", "does not convert");
    check_body("%a: u32 = mul %x, %n", "arguments differ in type");
    check_body("%a: u64 = shl %x, %x", "shift amount is not u32");
    check_body("%w: u128 = zext %x\n%a = mulhi_u %w, %w", "not for more than 64 bits");
    check_body("set a %n", "scalar access to an array");
    check_body("array_set r %n, %n", "not an array");
    check_body("array_set a %x, %n", "index is no u32");
    check_body("array_set a %n, %x", "differs from the variable's type");
    check_body("%a = table_get t %x", "index is no u32");
    check_body("%a: u64 = table_get t %n", "differs from the table's type");
    check_body("%a: u32 = load buffer %n []", "handle or index is no u64");
    check_body("%a: u32 = load buffer []", "place missing");
    check_body("%a: u32 = load shared [%n]", "handle or index is no u64");
    check_body("%a: u32 = load buffer slot 1 %x []", "no such slot");
    check_body("%a: u32 = load pool slot 0 %x []", "slot of other memory");
    check_body("%a: u32 = load class 96 []", "class above 95");
    check_body("%a: bool = load buffer %x []", "moves no such type");
    check_body("%a: u32 = load buffer %x [] {bytes 8}", "size in memory");
    check_body("%a: u64 = load buffer %x [] {bytes 3}", "size in memory");
    check_body("%a: u32 = load buffer address %x []", "of the device form alone");
    check_body("store buffer %x []", "wrong number of arguments");
    check_body("%a: u8 = atomic.add buffer %x [], %n", "atomics are of u32 and u64");
    check_body("%a: u32 = atomic.cas buffer %x [], %n", "wrong number of operands");
    check_body("%a: u32 = atomic.add buffer %x [], %x", "operand differs in type");
    check_body("check buffer %x []", "size missing");
    check_body("%a: f32 = derived exp.f32 %n", "argument differs from the function's type");
    check_body("fault_if F08 %t", "unknown fault");
    check_body("fault_if F01 %t, %t", "a value is no u64");
    check_body("trace 3 0 0 0", "traces nothing");
    check_body("trace 0 0 0 0 $m", "not an array");
    check_body("trace 1 0 0 4 $m %n", "private memory of a register");
    check_body("return %n", "not what the function gives");
    check_body("if %n {\n}", "condition is no bool");
    check_body("break", "outside a loop");
    check_body("exit\nbarrier 0", "something follows it");
    check_body("if %t {\n%v: u32 = const 1\n} else {\nset r %v\n}", "not defined here");
    check_body("loop {\n%v: u32 = const 1\nbreak\n}\nset r %v", "not defined here");
    check_rule("function @main() -> void {\ncall @main\n}", "calls no function");
    check_rule("function @main() -> void {\n}\nfunction @f() -> void {\ncall @g\n}\nfunction @g() "
               "-> void {\ncall @f\n}",
               "calls itself");
    check_rule("function @main(u32) -> void {\n}", "the kernel takes and gives nothing");
    check_rule("function @main() -> void {\n}\nfunction @f() -> u32 {\nreturn\n}",
               "not what the function gives");
    check_rule("function @main() -> void {\n}\nfunction @f() -> void pure {\nbarrier 0\n}",
               "not in a pure function");
    check_rule("function @main() -> void {\n}\nfunction @f() -> void pure {\n%a = get $m\n}",
               "not in a pure function");
    check_rule("function @main() -> void {\nvar a: u32[4]\ncall @f &a\n}\nfunction @f(&p: u32[5]) "
               "-> void {\n}",
               "array does not fit");
    check_rule("var $w: u128[2]\nfunction @main() -> void {\n}",
               "no type that a variable can have");
    check_rule("slot 1: buffer input 2\nfunction @main() -> void {\n}", "slot 1 names no memory");
}

/* ---- large texts ---- */

static void deep(uint32_t depth, bool reads) {
    hg_text text = {0};
    hg_text_addf(&text, "module t\nfunction @main() -> void {\n");
    for (uint32_t i = 0; i < depth; i++) hg_text_add(&text, "loop {\n", 7);
    for (uint32_t i = 0; i < depth; i++) hg_text_add(&text, "}\n", 2);
    hg_text_addf(&text, "}\n");
    kir_module *m = NULL;
    hg_status status = kir_parse(text.data, text.length, NULL, &m);
    if (reads) {
        CHECK(status == HG_OK && kir_verify(m) == HG_OK && kir_reads_back(m, "deep"));
    } else {
        CHECK(status == HG_ERROR_ISA && strstr(hg_last_error()->message, "deeper than 100000"));
    }
    kir_module_destroy(m);
    hg_text_free(&text);
}

static void names(void) {
    static const char text[] = "module \"a name\"\n"
                               "table \"x y\".1: u8[2] = {1, 255}\n"
                               "var $\"\\x22\": u32, $#7: u8\n"
                               "function @\"f.1\"() -> void {\n  var r, r.1: u32\n  var #0: "
                               "f32[2]\n  %first: u32 = const 1\n  set r.1 %first\n  call @#0\n}\n"
                               "function @#0() -> void {\n}\n";
    static const char no[] = "var $\"\\x22\": u32, $#7: u8\n";
    char fixed[sizeof text + 8];
    const char *at = strstr(text, no);
    snprintf(fixed, sizeof fixed, "%.*svar $\"\\x22\": u32\nvar $#7: u8\n%s", (int)(at - text),
             text, at + sizeof no - 1);
    kir_module *m = NULL;
    hg_status status = kir_parse(fixed, strlen(fixed), NULL, &m);
    CHECK_MESSAGE(status == HG_OK && kir_verify(m) == HG_OK && kir_reads_back(m, "names"), "%s",
                  hg_last_error()->message);
    kir_module_destroy(m);
}

/* ---- out of memory ---- */

static int64_t left, blocks;
static void *scarce(void *user, void *memory, size_t bytes) {
    (void)user;
    if (left-- <= 0) return NULL;
    void *to = realloc(memory, bytes);
    if (to && !memory) blocks++;
    return to;
}
static void give_back(void *user, void *memory) {
    (void)user;
    if (memory) blocks--;
    free(memory);
}

static void out_of_memory(void) {
    static const char text[] = BODY
        "  var a: u32[3]\n  %x = input 0\n  %n: u32 = const 1\n  call @f &a %n\n  fault_if F05 "
        "%t \"text\"\n}\nfunction @f(u32, &p: u32[3]) -> void {\n}\ntable t: u8[2] = {1, 2}\n";
    char fixed[sizeof text + 32];
    const char *at = strstr(text, "  fault_if");
    snprintf(fixed, sizeof fixed, "%.*s  %%t: bool = const true\n%s", (int)(at - text), text, at);
    int64_t n = 0;
    for (bool done = false; !done && n < 10000; n++) {
        kir_module *m = NULL;
        int64_t before = blocks;
        left = n;
        hg_status status = kir_parse(fixed, strlen(fixed), NULL, &m);
        if (status == HG_OK) status = kir_verify(m);
        left = INT64_MAX;
        done = status == HG_OK;
        CHECK_MESSAGE(done || status == HG_ERROR_OUT_OF_MEMORY, "allocation %d fails: %s", (int)n,
                      hg_last_error()->message);
        kir_module_destroy(m);
        CHECK_MESSAGE(blocks == before, "allocation %d fails: %d blocks are left", (int)n,
                      (int)(blocks - before));
    }
    CHECK(n > 5);
}

int main(void) {
    left = INT64_MAX;
    CHECK(hg_set_allocator(&(hg_allocator){sizeof(hg_allocator), NULL, scarce, give_back}) ==
          HG_OK);
    errors();
    rules();
    deep(3000, true);
    deep(100000, true);
    deep(100001, false);
    names();
    out_of_memory();
    return test_done();
}
