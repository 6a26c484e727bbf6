/* Circuits that run: random ones against an evaluator written here, in the three canonical forms; library-made calls; texts that are
 * long, deep or broken; memory that fails. The evaluator keeps what it generated, so it needs no parser.
 * test: labels=slow */
#include "support/runtime_support.h"
#include <math.h>

enum { CLASSES = 96, LANES = 37, ELEMENTS = 3072, MOST_CALLS = 4000 };

/* ---- random circuits and what they mean ---- */

static uint64_t seed = 0x9E3779B97F4A7C15u;
static uint32_t below(uint32_t n) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)((seed >> 33) % n);
}

typedef struct shift {
    int r, d, t, m;
} shift;
typedef enum own_kind { MARK, COPY, SWAP, MERGE, SPLIT, NOTHING } own_kind;
typedef struct own_call {
    own_kind kind;
    int cls[3];
    const char *variant;
} own_call;

static struct {
    char text[1 << 16];
    size_t length;
    own_call calls[MOST_CALLS];
    uint32_t count, terms;
    bool variants;
} made;

static void put(const char *text) {
    size_t n = strlen(text);
    memcpy(made.text + made.length, text, n + 1);
    made.length += n;
}
static void space(void) {
    static const char *const SPACES[] = {"", "", "", " ", "  ", "\n", "\t", "// a . b ( @\n"};
    put(SPACES[below(8)]);
}

static int modulo(int a, int m) { return (a % m + m) % m; }
static int moved(shift s, int cls) {
    int h2 = modulo(cls / 24 + s.r, 4), d = modulo(cls % 24 / 8 + s.d, 3), l = modulo(cls % 8 + s.t, 8);
    if (s.m && d) d = 3 - d;
    return 24 * h2 + 8 * d + l;
}
static shift both(shift a, shift b) { return (shift){a.r + b.r, a.d + b.d, a.t + b.t, a.m ^ b.m}; }

/* Writes a transform and `@` one time in four. */
static shift prefix(void) {
    shift s = {0};
    if (below(4)) return s;
    char part[64];
    bool any = false;
    if (below(2)) s.r = (int)below(9) - 4, snprintf(part, sizeof part, "R%+d", s.r), put(part), space(), any = true;
    if (below(3) == 0) s.m = 1, put("~"), space(), any = true;
    if (below(2)) s.t = (int)below(19) - 9, snprintf(part, sizeof part, s.t < 0 ? "T%d" : "T %d", s.t), put(part), space(), any = true;
    if (below(2) || !any) s.d = (int)below(7) - 3, snprintf(part, sizeof part, "D%+d", s.d), put(part), space();
    put("@");
    space();
    return s;
}

static shift postfix(void) {
    shift s = {0};
    char part[64];
    while (below(6) == 0) {
        int by = (int)below(9) - 4;
        uint32_t letter = below(4);
        snprintf(part, sizeof part, "^%s%+d", letter == 0 ? "R" : letter == 1 ? "D" : letter == 2 ? "T" : "", by);
        put(part);
        *(letter == 0 ? &s.r : letter == 1 ? &s.d : &s.t) += by;
    }
    if (below(8) == 0) put("~"), s.m = 1;
    return s;
}

static int sigil(shift outer) {
    static const int FAVOURITES[] = {0, 5, 6, 7, 21, 42, 21, 5};
    int cls = below(3) ? FAVOURITES[below(8)] : (int)below(CLASSES);
    char part[16];
    snprintf(part, sizeof part, below(2) ? "c%02d" : "c%d", cls);
    put(part);
    shift s = postfix();
    if (below(8) == 0) snprintf(part, sizeof part, "@%d", (int)below(48)), put(part);
    return moved(outer, moved(s, cls));
}

static void call(own_kind kind, int a, int b, int c, const char *variant) {
    if (made.count < MOST_CALLS) made.calls[made.count++] = (own_call){kind, {a, b, c}, variant};
}

static void range(own_kind kind, const char *variant, shift outer) {
    char part[32];
    int from = (int)below(90), to = from + 1 + (int)below(5);
    snprintf(part, sizeof part, "c[%d..%d]", from, to);
    put(part);
    shift s = postfix();
    for (int cls = from; cls <= to; cls++) {
        int m = moved(outer, moved(s, cls));
        call(kind, m, m, m, variant);
    }
}

static void triple(own_kind kind, shift outer) {
    static const char *const EXACT[] = {"", ".mul", ".min", ".max", ".abs", ".add"};
    const char *variant = made.variants ? kind == MERGE ? EXACT[below(6)] : below(3) ? ".sub" : ".div" : "";
    put(kind == MERGE ? "merge" : "split");
    put(variant);
    put("@");
    if (kind == MERGE && below(6) == 0) {
        range(kind, variant, outer);
        return;
    }
    int a = sigil(outer);
    put("[");
    int b = sigil(outer);
    put(",");
    int c = sigil(outer);
    put("]");
    call(kind, a, b, c, variant);
}

static void operation(shift outer) {
    uint32_t what = below(12);
    made.terms++;
    if (what < 5) {
        put("mark@");
        if (below(6) == 0)
            range(MARK, "", outer);
        else
            call(MARK, sigil(outer), 0, 0, "");
    } else if (what < 8) {
        put(what < 7 ? "copy@" : "swap@");
        int a = sigil(outer);
        put(what < 7 ? "->" : "<->");
        call(what < 7 ? COPY : SWAP, a, sigil(outer), 0, "");
    } else if (what < 11) {
        triple(what < 10 ? MERGE : SPLIT, outer);
    } else {
        put(below(2) ? "quote@" : "evaluate@");
        if (below(4))
            sigil(outer);
        else
            range(NOTHING, "", outer);
    }
}

static void parallel(int depth, shift outer);
static void term(int depth, shift outer) {
    size_t start = made.length;
    uint32_t first = made.count, terms = made.terms;
    shift inner = both(outer, prefix());
    if (depth && below(3) == 0) {
        put("(");
        space();
        parallel(depth - 1, inner);
        put(")");
    } else {
        operation(inner);
    }
    /* once more the same: this is what canonical forms are about */
    if (below(3) == 0 && made.length - start < 2000 && made.length < 30000) {
        size_t length = made.length - start;
        uint32_t count = made.count - first, more = made.terms - terms;
        put(" . ");
        memcpy(made.text + made.length, made.text + start, length);
        made.text[made.length += length] = 0;
        for (uint32_t i = 0; i < count && made.count < MOST_CALLS; i++) made.calls[made.count++] = made.calls[first + i];
        made.terms += more;
    }
    space();
}
static void parallel(int depth, shift outer) {
    uint32_t branches = below(5) == 0 ? 2 : 1;
    for (uint32_t b = 0; b < branches; b++) {
        if (b) put(below(2) ? "||" : "|"), space();
        uint32_t terms = 1 + below(4);
        for (uint32_t i = 0; i < terms; i++) {
            if (i) put("."), space();
            term(depth, outer);
        }
    }
}

static void make_circuit(bool variants) {
    made.length = made.count = made.terms = 0;
    made.variants = variants;
    made.text[0] = 0;
    space();
    put("R+0@"); /* a transform of the first term would be the phrase's */
    if (below(2)) {
        made.length = 0;
        put("T-1@");
        parallel(3, (shift){0, 0, -1, 0});
    } else {
        parallel(3, (shift){0, 0, 0, 0});
    }
}

/* ---- the evaluator ---- */

static float as_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static uint32_t as_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}
static float smaller(float a, float b) { return a < b || (a == b && signbit(a)) ? a : b; }
static float larger(float a, float b) { return a > b || (a == b && !signbit(a)) ? a : b; }

static float combine(const own_call *k, float a, float b) {
    if (strcmp(k->variant, ".mul") == 0) return a * b;
    if (strcmp(k->variant, ".min") == 0) return smaller(a, b);
    if (strcmp(k->variant, ".max") == 0) return larger(a, b);
    if (strcmp(k->variant, ".abs") == 0) return fabsf(a);
    if (strcmp(k->variant, ".div") == 0) return a / b;
    return k->kind == MERGE ? a + b : a - b;
}

/* False where a NaN came up: its bits are nobody's promise, and marks would make numbers of them. */
static bool evaluate(uint32_t (*memory)[ELEMENTS], uint32_t lanes) {
    for (uint32_t i = 0; i < made.count; i++) {
        const own_call *k = &made.calls[i];
        uint32_t *a = memory[k->cls[0]], *b = memory[k->cls[1]], *c = memory[k->cls[2]];
        for (uint32_t l = 0; l < lanes; l++) {
            uint32_t x = a[l], y = b[l];
            if (k->kind == MARK) a[l] = x ^ 0x80808080u;
            if (k->kind == COPY) b[l] = x;
            if (k->kind == SWAP) a[l] = y, b[l] = x;
            if (k->kind != MERGE && k->kind != SPLIT) continue;
            bool unary = strcmp(k->variant, ".abs") == 0;
            float r = combine(k, as_float(x), as_float(y));
            if (isnan(as_float(x)) || (!unary && isnan(as_float(y))) || isnan(r)) return false;
            c[l] = as_bits(r);
        }
    }
    return true;
}

static uint32_t initial[CLASSES][ELEMENTS], expected[CLASSES][ELEMENTS], got[CLASSES][ELEMENTS];

static void fill_initial(void) {
    for (uint32_t c = 0; c < CLASSES; c++)
        for (uint32_t e = 0; e < ELEMENTS; e++) initial[c][e] = as_bits((float)((int)below(4001) - 2000) / (float)(1 + below(7)));
}

static const hg_canonicalise MODES[] = {HG_CANONICALISE_OFF, HG_CANONICALISE_SOUND, HG_CANONICALISE_GATES};

/* Memory after the circuit of this form; false after a failure. */
static bool run_form(hg_backend *b, hg_canonicalise mode, hg_translated_program *t) {
    hg_circuit_options o = {.size = sizeof o, .canonicalise = mode, .variants = made.variants};
    hg_launch launch = hg_launch_linear(LANES);
    hg_buffer memory = {0};
    *t = (hg_translated_program){.size = sizeof *t};
    hg_status s = hg_circuit_to_isa_translate(made.text, made.length, &o, NULL, t);
    if (s == HG_OK) s = hg_backend_copy_to_buffer(b, memory, initial, sizeof initial);
    if (s == HG_OK) s = hg_backend_execute_program(b, t->program, &launch);
    if (s == HG_OK) s = hg_backend_copy_from_buffer(b, memory, got, sizeof got);
    CHECK_MESSAGE(s == HG_OK, "%s\nin\n%s", hg_last_error_text(), made.text);
    return s == HG_OK;
}

/* READ: exactly where another start of the class can change what another class holds or what the class gets; WRITTEN: its lanes
 * may change. The flags may say more than happens (a difference that is taken away again), never less. */
static void check_use(const hg_translated_program *t) {
    static uint32_t other[CLASSES][ELEMENTS];
    for (uint32_t c = 0; c < CLASSES; c++) {
        bool changed = memcmp(initial[c], expected[c], LANES * 4) != 0;
        CHECK_MESSAGE(!changed || (t->class_use[c] & HG_CLASS_WRITTEN), "class %u is written in\n%s", c, made.text);
        if ((t->class_use[c] & HG_CLASS_READ) || !t->class_use[c]) continue;
        memcpy(other, initial, sizeof other);
        for (uint32_t l = 0; l < LANES; l++) other[c][l] ^= 0x00100000u;
        if (!evaluate(other, LANES)) continue;
        for (uint32_t x = 0; x < CLASSES; x++) {
            bool same = memcmp(other[x], expected[x], LANES * 4) == 0 || (x == c && !(t->class_use[c] & HG_CLASS_WRITTEN));
            CHECK_MESSAGE(same, "class %u reaches class %u in\n%s", c, x, made.text);
        }
    }
}

static void test_random(hg_backend *b, uint32_t count) {
    uint32_t compared = 0, shorter = 0;
    for (uint32_t n = 0; n < count; n++) {
        make_circuit(n % 2);
        fill_initial();
        memcpy(expected, initial, sizeof expected);
        if (made.count == MOST_CALLS || !evaluate(expected, LANES)) continue;
        compared++;
        for (uint32_t m = 0; m < 3; m++) {
            hg_translated_program t;
            if (run_form(b, MODES[m], &t)) {
                CHECK_MESSAGE(memcmp(got, expected, sizeof got) == 0, "form %u of circuit %u gives other memory:\n%s\n%s", m, n, made.text,
                              t.canonical_expr);
                CHECK_U64(t.original_ops, made.terms);
                shorter += m == 1 && t.canonical_ops < t.original_ops;
                if (n % 5 == 0) check_use(&t);
            }
            hg_translated_program_release(&t);
        }
    }
    CHECK_MESSAGE(compared > count / 2 && shorter > count / 8, "%u of %u circuits compared, %u had a shorter form", compared, count,
                  shorter);
}

/* The canonical text of the sound form is a circuit with the same memory, and nothing is left to take away. */
static void test_sound_text(hg_backend *b, uint32_t count) {
    for (uint32_t n = 0; n < count; n++) {
        make_circuit(false);
        hg_translated_program t = {.size = sizeof t}, again;
        fill_initial();
        memcpy(expected, initial, sizeof expected);
        if (!evaluate(expected, LANES) || !run_form(b, HG_CANONICALISE_SOUND, &t)) continue;
        if (*t.canonical_expr && strlen(t.canonical_expr) < sizeof made.text) {
            made.length = strlen(strcpy(made.text, t.canonical_expr));
            if (run_form(b, HG_CANONICALISE_OFF, &again)) CHECK(memcmp(got, expected, sizeof got) == 0);
            hg_translated_program_release(&again);
            if (run_form(b, HG_CANONICALISE_SOUND, &again))
                CHECK_MESSAGE(again.canonical_ops <= t.canonical_ops, "%s\nbecomes\n%s", t.canonical_expr, again.canonical_expr);
            hg_translated_program_release(&again);
        }
        hg_translated_program_release(&t);
    }
}

/* ---- library-made calls ---- */

/* The tree of semantics 0.3 for one chunk of at most 4,096 elements. */
static float tree(uint32_t kind, const float *x, uint32_t n) {
    float acc[128];
    uint32_t have = n < 128 ? n : 128;
    memcpy(acc, x, have * sizeof *acc);
#define FOLD(a, b) (kind == HG_CIRCUIT_REDUCE_SUM ? (a) + (b) : kind == HG_CIRCUIT_REDUCE_MIN ? smaller(a, b) : larger(a, b))
    for (uint32_t i = 128; i < n; i++) acc[i % 128] = FOLD(acc[i % 128], x[i]);
    for (uint32_t s = 64; s; s /= 2)
        for (uint32_t l = 0; l < s; l++)
            if (l + s < have) acc[l] = FOLD(acc[l], acc[l + s]);
    return acc[0];
}

static void run_calls(hg_backend *b, const hg_circuit_call *calls, size_t count, uint64_t lanes) {
    hg_circuit *c = hg_circuit_create();
    hg_translated_program t = {.size = sizeof t};
    hg_launch launch = hg_launch_linear(lanes);
    hg_buffer memory = {0};
    for (size_t i = 0; i < count; i++) CHECK_OK(hg_circuit_append(c, &calls[i]));
    CHECK_OK(hg_circuit_to_isa(c, NULL, &t));
    CHECK_U64(t.original_ops, count);
    CHECK_OK(hg_backend_copy_to_buffer(b, memory, initial, sizeof initial));
    CHECK_OK(hg_backend_execute_program(b, t.program, &launch));
    CHECK_OK(hg_backend_copy_from_buffer(b, memory, got, sizeof got));
    hg_translated_program_release(&t);
    hg_circuit_destroy(c);
}

static void test_reductions(hg_backend *b) {
    static float x[ELEMENTS];
    static const struct { uint32_t n, lanes; } SIZES[] = {{1, 1}, {3, 3}, {100, 37}, {129, 3072}, {3072, 3072}, {HG_CIRCUIT_LANES, 1000}};
    fill_initial();
    memcpy(x, initial[4], sizeof x);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        for (uint32_t kind = HG_CIRCUIT_REDUCE_SUM; kind <= HG_CIRCUIT_REDUCE_MAX; kind++) {
            hg_circuit_call calls[] = {{.kind = (uint8_t)kind, .src = 4, .dst = 9, .n = SIZES[i].n}};
            uint32_t n = SIZES[i].n == HG_CIRCUIT_LANES ? SIZES[i].lanes : SIZES[i].n;
            run_calls(b, calls, 1, SIZES[i].lanes);
            CHECK_MESSAGE(got[9][0] == as_bits(tree(kind, x, n)), "kind %u over %u: expected %a, got %a", kind, n, (double)tree(kind, x, n),
                          (double)as_float(got[9][0]));
            got[9][0] = initial[9][0];
            CHECK(memcmp(got, initial, sizeof got) == 0);
        }
    /* between lane operations: c01 = c04 + c04, its sum to c02[0], c03 = c02 - c01 */
    hg_circuit_call calls[] = {{.kind = HG_CIRCUIT_MERGE, .src = 4, .context = 4, .dst = 1},
                               {.kind = HG_CIRCUIT_REDUCE_SUM, .src = 1, .dst = 2, .n = HG_CIRCUIT_LANES},
                               {.kind = HG_CIRCUIT_SPLIT, .variant = HG_SPLIT_SUB, .src = 2, .context = 1, .dst = 3},
                               {.kind = HG_CIRCUIT_REDUCE_MAX, .src = 1, .dst = 1, .n = 500}};
    run_calls(b, calls, 4, 3072);
    for (uint32_t e = 0; e < ELEMENTS; e++) x[e] += x[e];
    float sum = tree(HG_CIRCUIT_REDUCE_SUM, x, ELEMENTS);
    CHECK_U64(got[3][0], as_bits(sum - x[0]));
    CHECK_U64(got[3][3071], as_bits(as_float(initial[2][3071]) - x[3071]));
    CHECK_U64(got[1][0], as_bits(tree(HG_CIRCUIT_REDUCE_MAX, x, 500)));
}

static void check_softmax(uint32_t src, uint32_t dst, uint32_t n, uint32_t lanes) {
    double largest = -INFINITY, sum = 0;
    for (uint32_t e = 0; e < n; e++) largest = fmax(largest, (double)as_float(initial[src][e]));
    for (uint32_t e = 0; e < n; e++) sum += exp((double)as_float(initial[src][e]) - largest);
    for (uint32_t e = 0; e < ELEMENTS; e++) {
        double want = exp((double)as_float(initial[src][e]) - largest) / sum, have = (double)as_float(got[dst][e]);
        if (e < n && e < lanes)
            CHECK_MESSAGE(fabs(have - want) <= want * 1e-5, "softmax[%u] of %u: expected %g, got %g", e, n, want, have);
        else
            CHECK_U64(got[dst][e], initial[dst][e]);
    }
}

static void test_softmax(hg_backend *b) {
    fill_initial();
    for (uint32_t e = 0; e < ELEMENTS; e++) initial[4][e] = as_bits(as_float(initial[4][e]) / 100 + 900); /* exp(900) would overflow */
    hg_circuit_call one = {.kind = HG_CIRCUIT_SOFTMAX, .src = 4, .dst = 7, .n = 1000};
    run_calls(b, &one, 1, 3072);
    check_softmax(4, 7, 1000, 3072);
    for (uint32_t e = 257; e < ELEMENTS; e++) initial[7][e] = as_bits(1e6f); /* no lane has these: they are no part of the sum */
    run_calls(b, &one, 1, 257);
    check_softmax(4, 7, 257, 257);
    one.n = HG_CIRCUIT_LANES;
    run_calls(b, &one, 1, 257);
    check_softmax(4, 7, 257, 257);
    one.dst = 4;
    run_calls(b, &one, 1, 3072);
    check_softmax(4, 4, 3072, 3072);
    hg_circuit_call two[] = {one, one};
    run_calls(b, two, 2, 8);
    double sum = 0;
    for (uint32_t e = 0; e < 8; e++) sum += (double)as_float(got[4][e]);
    CHECK(fabs(sum - 1) < 1e-5);
}

static double own_gelu(double x) { return x / 2 * (1 + erf(x / sqrt(2))); }
static double own_sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void test_variants(hg_backend *b) {
    static const struct {
        uint8_t variant;
        double (*function)(double);
    } UNARY[] = {
        {HG_MERGE_ABS, fabs},  {HG_MERGE_EXP, exp},      {HG_MERGE_LOG, log}, {HG_MERGE_SQRT, sqrt}, {HG_MERGE_SIGMOID, own_sigmoid},
        {HG_MERGE_TANH, tanh}, {HG_MERGE_GELU, own_gelu}};
    fill_initial();
    for (size_t i = 0; i < sizeof UNARY / sizeof *UNARY; i++) {
        bool positive = UNARY[i].variant == HG_MERGE_LOG || UNARY[i].variant == HG_MERGE_SQRT;
        for (uint32_t e = 0; e < ELEMENTS; e++) initial[4][e] = as_bits(((float)e + 0.5f) / 400 - (positive ? 0 : 4));
        hg_circuit_call one = {.kind = HG_CIRCUIT_MERGE, .variant = UNARY[i].variant, .src = 4, .context = 200, .dst = 95};
        run_calls(b, &one, 1, ELEMENTS);
        for (uint32_t e = 0; e < ELEMENTS; e++) {
            double want = UNARY[i].function((double)as_float(initial[4][e]));
            CHECK_MESSAGE(fabs((double)as_float(got[95][e]) - want) <= fabs(want) * 1e-6, "%s(%g): expected %g, got %g",
                          hg_circuit_variant_name(UNARY[i].variant), (double)as_float(initial[4][e]), want, (double)as_float(got[95][e]));
        }
    }
}

static void test_append_errors(void) {
    static const struct {
        hg_circuit_call call;
        const char *message;
    } BAD[] = {
        {{.kind = HG_CIRCUIT_MARK, .src = 96}, "Invalid src_class: 96 (must be < 96)"},
        {{.kind = HG_CIRCUIT_COPY, .src = 1, .dst = 255}, "Invalid dst_class: 255 (must be < 96)"},
        {{.kind = HG_CIRCUIT_MERGE, .src = 1, .context = 96, .dst = 2}, "Invalid context_class: 96 (must be < 96)"},
        {{.kind = HG_CIRCUIT_MARK_RANGE, .src = 5, .dst = 5}, "Invalid range [5..5]: Start 5 must be less than end 5"},
        {{.kind = HG_CIRCUIT_SPLIT, .variant = HG_MERGE_ADD}, "Split has no variant 0"},
        {{.kind = HG_CIRCUIT_MERGE, .variant = HG_SPLIT_DIV}, "Merge has no variant 12"},
        {{.kind = HG_CIRCUIT_SOFTMAX, .n = 3073}, "Softmax over 3073 elements: a class has 3072"},
    };
    hg_circuit *c = hg_circuit_create();
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) CHECK_FAILS(hg_circuit_append(c, &BAD[i].call), HG_ERROR_ISA, "", BAD[i].message);
    hg_circuit_call wrong = {.kind = HG_CIRCUIT_KIND_COUNT};
    CHECK_STATUS(hg_circuit_append(c, &wrong), HG_ERROR_INVALID_ARGUMENT);
    CHECK_U64(hg_circuit_call_count(c), 0);
    hg_circuit_destroy(c);
    hg_circuit *p = NULL;
    CHECK_OK(hg_circuit_parse("mark@c00", 8, NULL, NULL, &p));
    CHECK_STATUS(hg_circuit_append(p, &BAD[0].call), HG_ERROR_INVALID_ARGUMENT);
    hg_circuit_destroy(p);
    CHECK_OK(hg_circuit_compile("mark@c00 . mark@c00", 19,
                                &(hg_circuit_options){.size = sizeof(hg_circuit_options), .canonicalise = HG_CANONICALISE_SOUND}, NULL,
                                &p));
    hg_circuit_call sum = {.kind = HG_CIRCUIT_REDUCE_SUM, .src = 0, .dst = 1, .n = 8};
    CHECK_OK(hg_circuit_append(p, &sum));
    CHECK(hg_circuit_call_count(p) == 1 && hg_circuit_is_whole_array(p) && hg_circuit_original_ops(p) == 3 &&
          hg_circuit_canonical_ops(p) == 1);
    hg_circuit_destroy(p);
}

/* A program says which circuit it is only where the text says all of it. */
static void test_meta(void) {
    hg_circuit *c = NULL;
    CHECK_OK(hg_circuit_compile("mark@c3", 7, NULL, NULL, &c));
    for (int appended = 0; appended < 2; appended++) {
        hg_circuit_call sum = {.kind = HG_CIRCUIT_REDUCE_SUM, .src = 3, .dst = 4, .n = HG_CIRCUIT_LANES};
        hg_translated_program t = {.size = sizeof t};
        CHECK_OK(hg_circuit_to_isa(c, NULL, &t));
        const char *meta = hg_program_meta(t.program, "circuit");
        CHECK(appended ? meta == NULL : meta && strcmp(meta, "mark@c03") == 0);
        hg_translated_program_release(&t);
        CHECK_OK(hg_circuit_append(c, &sum));
    }
    hg_circuit_destroy(c);
}

/* What a reduction leaves of its class is the class's own; a softmax over all lanes leaves nothing. */
static void test_partial_use(void) {
    const hg_circuit_call calls[] = {{.kind = HG_CIRCUIT_REDUCE_SUM, .src = 0, .dst = 1, .n = HG_CIRCUIT_LANES},
                                     {.kind = HG_CIRCUIT_COPY, .src = 1, .dst = 2},
                                     {.kind = HG_CIRCUIT_SOFTMAX, .src = 0, .dst = 3, .n = HG_CIRCUIT_LANES},
                                     {.kind = HG_CIRCUIT_COPY, .src = 3, .dst = 4},
                                     {.kind = HG_CIRCUIT_SOFTMAX, .src = 0, .dst = 5, .n = 9},
                                     {.kind = HG_CIRCUIT_SWAP, .src = 5, .dst = 4}};
    static const uint8_t EXPECTED[] = {3, 7, 5, 5, 5, 7, 0};
    uint8_t use[HG_CIRCUIT_CLASSES];
    hg_circuit *c = hg_circuit_create();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) CHECK_OK(hg_circuit_append(c, &calls[i]));
    hg_circuit_class_use(c, use);
    for (uint32_t i = 0; i < sizeof EXPECTED; i++) CHECK_U64(use[i], EXPECTED[i]);
    hg_circuit_destroy(c);
    /* the context of a function of the source alone is named, not read, and may be no class at all */
    hg_circuit_call one = {.kind = HG_CIRCUIT_MERGE, .variant = HG_MERGE_ABS, .src = 0, .context = 1, .dst = 2};
    c = hg_circuit_create();
    CHECK_OK(hg_circuit_append(c, &one));
    one.context = 255;
    CHECK_OK(hg_circuit_append(c, &one));
    hg_circuit_class_use(c, use);
    CHECK(use[0] == (HG_CLASS_NAMED | HG_CLASS_READ) && use[1] == HG_CLASS_NAMED && use[2] == (HG_CLASS_NAMED | HG_CLASS_WRITTEN));
    hg_circuit_destroy(c);
}

/* ---- hostile texts ---- */

static hg_status translate_repeated(const char *part, size_t times, const char *middle, const char *after, hg_canonicalise mode) {
    size_t n = strlen(part), m = strlen(middle), k = strlen(after), length = (n + k) * times + m;
    char *text = malloc(length + 1), *at = text;
    for (size_t i = 0; i < times; i++, at += n) memcpy(at, part, n);
    memcpy(at, middle, m);
    at += m;
    for (size_t i = 0; i < times; i++, at += k) memcpy(at, after, k);
    hg_circuit_options o = {.size = sizeof o, .canonicalise = mode};
    hg_translated_program t = {.size = sizeof t};
    hg_status s = hg_circuit_to_isa_translate(text, length, &o, NULL, &t);
    hg_translated_program_release(&t);
    hg_circuit *c = NULL;
    if (hg_circuit_parse(text, length, &o, NULL, &c) == HG_OK) {
        char *out = NULL;
        CHECK_OK(hg_circuit_words(c, &out, NULL));
        hg_string_free(out);
        CHECK_OK(hg_circuit_json(c, &out, NULL));
        hg_string_free(out);
    }
    hg_circuit_destroy(c);
    free(text);
    return s;
}

static void *reallocate_little(void *user, void *memory, size_t bytes) { return bytes > *(size_t *)user ? NULL : realloc(memory, bytes); }
static void release_little(void *user, void *memory) {
    (void)user;
    free(memory);
}

/* A short text can have many members of ranges. To simplify them takes no memory when a program could not hold them anyway. */
static void test_many_members(void) {
    static const char TERM[] = "merge@c[0..95] . ";
    const size_t n = sizeof TERM - 1, times = 50000, length = n * times - 3;
    size_t most = 64u << 20;
    hg_allocator little = {sizeof little, &most, reallocate_little, release_little};
    hg_circuit *c = NULL;
    char *text = malloc(n * times);
    CHECK(text != NULL);
    if (!text) return;
    for (size_t i = 0; i < times; i++) memcpy(text + i * n, TERM, n);
    CHECK_OK(hg_set_allocator(&little));
    CHECK_OK(hg_circuit_compile(
        text, length, &(hg_circuit_options){.size = sizeof(hg_circuit_options), .canonicalise = HG_CANONICALISE_SOUND}, NULL, &c));
    CHECK_U64(hg_circuit_call_count(c), times);
    hg_circuit_destroy(c);
    CHECK_OK(hg_set_allocator(NULL));
    free(text);
}

static void test_bombs(void) {
    for (size_t m = 0; m < 3; m++) {
        CHECK_OK(translate_repeated("(", 30000, "mark@c00", ")", MODES[m]));
        CHECK_OK(translate_repeated("T+1@(mark@c01||", 5000, "mark@c00", ")", MODES[m]));
        CHECK_STATUS(translate_repeated("(", 30000, "mark@c00", "", MODES[m]), HG_ERROR_ISA);
        CHECK_OK(translate_repeated("mark@c21.", 10000, "mark@c00", "", MODES[m]));
    }
    CHECK_STATUS(translate_repeated("quote@c0.", 1048576, "quote@c00", "", HG_CANONICALISE_OFF), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "S05");
    CHECK_FAILS(translate_repeated("mark@c[0..95].", 5000, "mark@c00", "", HG_CANONICALISE_OFF), HG_ERROR_ISA, "S05",
                "Circuit too long: its program has more than 1048576 instructions");
    CHECK_OK(translate_repeated("mark@c[0..95].", 5000, "mark@c00", "", HG_CANONICALISE_SOUND)); /* nearly nothing is left */
}

/* Any bytes give a circuit or an error with a place. */
static void test_garbage(uint32_t count) {
    static const char PIECES[] = "mark@copyswapmergesplitquoteevaluatec00c[0..9]->c01<->.||()[],^+-~RDT1 \n//\xff";
    for (uint32_t n = 0; n < count; n++) {
        char text[64];
        size_t length = below(sizeof text);
        if (n % 2) {
            make_circuit(true);
            length = made.length < sizeof text ? made.length : sizeof text;
            memcpy(text, made.text, length);
        }
        for (size_t i = 0; i < length; i++)
            if (n % 2 == 0 || below(20) == 0) text[i] = below(8) ? PIECES[below(sizeof PIECES - 1)] : (char)below(256);
        hg_circuit *c = NULL;
        hg_diagnostics *d = hg_diagnostics_create(0);
        hg_status s = hg_circuit_compile(text, length, NULL, d, &c);
        CHECK(s == HG_OK ? c != NULL : s == HG_ERROR_ISA && hg_last_error()->line && hg_diagnostics_errors(d));
        hg_circuit_destroy(c);
        hg_diagnostics_destroy(d);
    }
}

/* ---- memory that fails ---- */

static failing_allocator memory;

static void test_failing(void) {
    static const char TEXT[] =
        "R+1@(mark@c00 . (~@mark@c[0..9] || merge@c00[c01,c02]) . (copy@c05->c06)) . mark@c21 . mark@c21 . swap@c01<->c02";
    for (size_t m = 0; m < 3; m++)
        for (uint64_t n = 1, more = 1; more && n < 400; n++) {
            uint64_t live = memory.live;
            hg_circuit_options o = {.size = sizeof o, .canonicalise = MODES[m]};
            hg_translated_program t = {.size = sizeof t};
            hg_circuit *c = NULL;
            char *out = NULL;
            hg_circuit_byte *bytes = NULL;
            size_t count = 0;
            memory.allocations = 0;
            memory.fail_at = n;
            memory.only_once = true;
            hg_status s = hg_circuit_to_isa_translate(TEXT, sizeof TEXT - 1, &o, NULL, &t);
            if (s == HG_OK) s = hg_circuit_parse(TEXT, sizeof TEXT - 1, &o, NULL, &c);
            if (s == HG_OK) s = hg_circuit_words(c, &out, NULL);
            if (s == HG_OK) s = hg_circuit_bytes(c, &bytes, &count);
            more = memory.allocations >= n;
            memory.fail_at = 0;
            CHECK(more ? s == HG_ERROR_OUT_OF_MEMORY : s == HG_OK);
            hg_string_free(out);
            hg_string_free((char *)bytes);
            hg_circuit_destroy(c);
            hg_translated_program_release(&t);
            CHECK_U64(memory.live, live);
        }
}

int main(int argc, char **argv) {
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 80;
    if (argc > 2) seed = strtoull(argv[2], NULL, 0);
    hg_allocator allocator = {sizeof allocator, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&allocator));
    test_failing();
    test_append_errors();
    test_meta();
    test_partial_use();
    test_bombs();
    test_many_members();
    test_garbage(count * 20);
    hg_backend *b = open_backend("cpu");
    test_random(b, count);
    test_sound_text(b, count / 4);
    test_reductions(b);
    test_softmax(b);
    test_variants(b);
    hg_backend_destroy(b);
    return test_done();
}
