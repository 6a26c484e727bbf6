/* Circuits over arrays against an evaluator of our own: random circuits are written as text and
 * carried out on 96 arrays here, the library parses, lowers and runs them, with and without
 * canonicalisation, on the CPU and on the devices found. Then pieces, buffers, reductions and every
 * mistake of a binding. Semantics 5.4, 6.2 to 6.10. Arguments: BACKEND [FIRST SEED [COUNT]] for
 * more random circuits. */
#include "support/sanitized.h"
#include "support/runtime_support.h"
#include <hologram/circuit_run.h>
#include <math.h>
#include <stdarg.h>

enum { CLASSES = 96, PIECE = 3072, MOST = 2 * PIECE + 40, OPS = 96 };

static uint64_t random_state;
static uint32_t rnd(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

/* ---- the evaluator ---- */

/* What is known of a result: its bits, that it is a NaN, nothing (bytes of a NaN were looked at).
 */
enum { KNOWN, A_NAN, UNKNOWN };
typedef struct cell {
    uint32_t bits;
    uint8_t state;
} cell;
static cell world[CLASSES][MOST];

typedef enum op_kind { MARK, COPY, SWAP, MERGE, SPLIT, QUOTE, EVALUATE } op_kind;
typedef struct op {
    op_kind kind;
    int variant; /* of hg_circuit_variant */
    uint8_t src, context, dst;
} op;
static op ops[OPS];
static int op_count;

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

static float arithmetic(int variant, float a, float b) {
    switch (variant) {
    case HG_MERGE_ADD: return a + b;
    case HG_MERGE_MUL: return a * b;
    case HG_MERGE_MIN: return isnan(a) ? b : isnan(b) ? a : a < b ? a : b;
    case HG_MERGE_MAX: return isnan(a) ? b : isnan(b) ? a : a > b ? a : b;
    case HG_MERGE_SQRT: return sqrtf(a);
    case HG_SPLIT_SUB: return a - b;
    default: return a / b;
    }
}

static cell combine(int variant, cell a, cell b) {
    if (variant == HG_MERGE_ABS) return (cell){a.bits & 0x7fffffff, a.state};
    if (variant == HG_MERGE_SQRT) b = a;
    float x = as_float(a.bits), y = as_float(b.bits), r = arithmetic(variant, x, y);
    bool order = variant == HG_MERGE_MIN || variant == HG_MERGE_MAX;
    if (a.state == UNKNOWN || b.state == UNKNOWN || (order && x == 0 && y == 0 && a.bits != b.bits))
        return (cell){0, UNKNOWN};
    if (isnan(r)) return (cell){as_bits(r), A_NAN};
    return (cell){as_bits(r), KNOWN};
}

static void carry_out(const op *o, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        cell *src = &world[o->src][i], *dst = &world[o->dst][i], kept;
        switch (o->kind) {
        case MARK:
            if (src->state == A_NAN) src->state = UNKNOWN;
            src->bits ^= 0x80808080;
            break;
        case COPY: *dst = *src; break;
        case SWAP:
            kept = *src;
            *src = *dst;
            *dst = kept;
            break;
        case MERGE:
        case SPLIT: *dst = combine(o->variant, *src, world[o->context][i]); break;
        default: break;
        }
    }
}

/* ---- random circuits ---- */

typedef struct shift {
    int rotate, triality, twist;
    bool mirror;
} shift;
static char text[16384];
static size_t length;
static bool variants;

static void put(const char *format, ...) HG_PRINTF(1, 2);
static void put(const char *format, ...) {
    va_list list;
    va_start(list, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, list);
    va_end(list);
}

static void blank(void) {
    static const char *const BLANKS[] = {"", "", "", " ", "\n", " // c99 . x\n"};
    put("%s", BLANKS[rnd(6)]);
}

static int mod(int a, int m) { return (a % m + m) % m; }

/* R adds to h2, D to d, T to l, ~ exchanges d = 1 and 2, in this order; class = 24 h2 + 8 d + l. */
static uint8_t shifted(uint8_t cls, shift s) {
    int h2 = mod(cls / 24 + s.rotate, 4), d = mod(cls / 8 % 3 + s.triality, 3),
        l = mod(cls % 8 + s.twist, 8);
    if (s.mirror) d = mod(-d, 3);
    return (uint8_t)(24 * h2 + 8 * d + l);
}

static shift put_prefix(void) {
    shift s = {0, 0, 0, false};
    size_t before = length;
    if (rnd(2)) put("R%+d ", s.rotate = (int)rnd(11) - 5);
    if (rnd(3) == 0) put("D%+d ", s.triality = (int)rnd(7) - 3);
    if (rnd(2)) put("T%+d ", s.twist = (int)rnd(21) - 10);
    if (rnd(3) == 0 || length == before) put("~"), s.mirror = true;
    put("@");
    return s;
}

static shift put_postfix(void) {
    shift s = {0, 0, 0, false};
    for (uint32_t i = rnd(4) == 0 ? 1 + rnd(3) : 0; i; i--) {
        int k = (int)rnd(13) - 6;
        switch (rnd(4)) {
        case 0: put("^R%+d", k), s.rotate += k; break;
        case 1: put("^D%+d", k), s.triality += k; break;
        case 2: put("^T%+d", k), s.twist += k; break;
        default: put("^%+d", k), s.twist += k; break;
        }
    }
    if (rnd(6) == 0) put("~"), s.mirror = true;
    return s;
}

/* Transforms around the term at hand, outermost first. Their amounts add, mirrors cancel each other
 * (5.4); a postfix goes before them. */
static shift around[16];
static int depth;

static uint8_t outside(uint8_t cls) {
    shift all = {0, 0, 0, false};
    for (int i = 0; i < depth; i++) {
        all.rotate += around[i].rotate;
        all.triality += around[i].triality;
        all.twist += around[i].twist;
        all.mirror ^= around[i].mirror;
    }
    return shifted(cls, all);
}

static uint8_t put_single(bool paged) {
    uint8_t cls = (uint8_t)(rnd(3) ? rnd(6) : rnd(CLASSES)); /* few, so that they meet */
    put(rnd(2) ? "c%02u" : "c%u", (unsigned)cls);
    cls = shifted(cls, put_postfix());
    if (paged && rnd(8) == 0) put("@%u", (unsigned)rnd(48));
    return outside(cls);
}

static void add_op(op o) {
    if (op_count < OPS) ops[op_count++] = o;
}

static void put_range(op_kind kind, int variant) {
    uint32_t start = rnd(90), end = start + 1 + rnd(4);
    put("c[%u..%u]", (unsigned)start, (unsigned)end);
    shift s = put_postfix();
    for (uint32_t c = start; c <= end; c++) {
        uint8_t cls = outside(shifted((uint8_t)c, s));
        add_op((op){kind, variant, cls, cls, cls});
    }
}

static void put_operation(void) {
    static const char *const NAMES[] = {"mark",  "copy",  "swap",    "merge",
                                        "split", "quote", "evaluate"};
    static const struct {
        const char *name;
        int variant;
    } MERGES[] = {{"", HG_MERGE_ADD},      {".add", HG_MERGE_ADD}, {".mul", HG_MERGE_MUL},
                  {".min", HG_MERGE_MIN},  {".max", HG_MERGE_MAX}, {".abs", HG_MERGE_ABS},
                  {".sqrt", HG_MERGE_SQRT}},
      SPLITS[] = {{"", HG_SPLIT_SUB}, {".sub", HG_SPLIT_SUB}, {".div", HG_SPLIT_DIV}};
    op_kind kind = (op_kind)(rnd(3) ? rnd(7) : MERGE);
    int variant = kind == MERGE ? HG_MERGE_ADD : HG_SPLIT_SUB;
    put("%s", NAMES[kind]);
    if (variants && (kind == MERGE || kind == SPLIT)) {
        uint32_t i = kind == MERGE ? rnd(7) : rnd(3);
        put("%s", kind == MERGE ? MERGES[i].name : SPLITS[i].name);
        variant = kind == MERGE ? MERGES[i].variant : SPLITS[i].variant;
    }
    put("@");
    bool ranged = kind == MARK || kind == QUOTE || kind == EVALUATE || kind == MERGE;
    if (ranged && rnd(4) == 0) {
        put_range(kind, variant);
        return;
    }
    op o = {kind, variant, put_single(true), 0, 0};
    if (kind == COPY || kind == SWAP) {
        put(kind == COPY ? "->" : "<->");
        o.dst = put_single(true);
    } else if (kind == MERGE || kind == SPLIT) {
        put("[");
        o.context = put_single(true);
        put(",");
        o.dst = put_single(true);
        put("]");
    }
    add_op(o);
}

static void put_parallel(bool first);

/* first: of the whole phrase, where a prefix would be the phrase's. */
static void put_term(bool first) {
    around[depth] = first || rnd(3) ? (shift){0, 0, 0, false} : put_prefix();
    depth++;
    blank();
    if (depth < 6 && rnd(5) == 0) {
        put("(");
        put_parallel(false);
        put(")");
    } else {
        put_operation();
    }
    blank();
    depth--;
}

static void put_parallel(bool first) {
    for (uint32_t terms = 1 + rnd(5); terms; terms--) {
        put_term(first);
        first = false;
        if (terms > 1) put("%s", rnd(3) ? "." : rnd(2) ? "||" : "|");
    }
}

static void make_circuit(void) {
    bool phrase = rnd(4) == 0;
    length = 0;
    op_count = 0;
    depth = phrase;
    text[0] = 0;
    if (phrase) around[0] = put_prefix();
    put_parallel(!phrase);
}

/* ---- runs ---- */

static uint32_t random_bits(void) {
    switch (rnd(8)) {
    case 0: return rnd(2) << 31;                                              /* zeros */
    case 1: return (rnd(2) << 31) | 0x7f800000 | (rnd(2) ? rnd(1 << 23) : 0); /* infinities, NaN */
    case 2: return (rnd(2) << 31) | rnd(1 << 23);                             /* subnormal */
    case 3: return rnd(1u << 31) << 1 | rnd(2);
    default: return as_bits((float)((int)rnd(20001) - 10000) / 64);
    }
}

static uint32_t wrong_at(const cell *expected, const float *got, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bits = as_bits(got[i]);
        bool good = expected[i].state == UNKNOWN ||
                    (expected[i].state == A_NAN ? isnan(got[i]) : bits == expected[i].bits);
        if (!good) return i;
    }
    return n;
}

static void check_outputs(const char *name, uint64_t seed, int mode, const hg_class_array *arrays,
                          size_t count, uint32_t n) {
    for (size_t k = 0; k < count; k++) {
        if (!arrays[k].output) continue;
        uint32_t at = wrong_at(world[arrays[k].cls], arrays[k].output, n);
        const cell *want = &world[arrays[k].cls][at < n ? at : 0];
        CHECK_MESSAGE(at == n,
                      "%s, seed %" PRIu64
                      ", canonicalise %d: c%02u[%u] is %08x, expected %08x (state %d) in\n%s",
                      name, seed, mode, arrays[k].cls, at,
                      as_bits(((const float *)arrays[k].output)[at < n ? at : 0]), want->bits,
                      want->state, text);
    }
}

/* The same on a queue that is asked until all is done; where nobody can wait, too. */
static hg_status run_queued(hg_backend *b, const hg_translated_program *t,
                            const hg_circuit_launch *launch, const hg_class_array *arrays,
                            size_t count) {
    hg_queue *q = NULL;
    hg_event *e = NULL;
    bool done = false, left = false;
    hg_status status = hg_queue_create(b, NULL, &q);
    if (status != HG_OK) return status;
    status = hg_circuit_submit(q, t, launch, arrays, count, NULL, 0, &e);
    CHECK((e == NULL) == (status != HG_OK));
    while (e && !done) {
        status = hg_event_query(e, &done);
        if (!done) CHECK_OK(hg_backend_progress(b, &left));
    }
    hg_event_destroy(e);
    hg_queue_destroy(q);
    return status;
}

static bool waits = true; /* hg_circuit_run is possible */

static void run_mode(const char *name, hg_backend *b, uint64_t seed, int mode,
                     const hg_class_array *arrays, size_t count, uint32_t n) {
    hg_circuit_options options = {
        .size = sizeof options, .canonicalise = (hg_canonicalise)mode, .variants = variants};
    hg_translated_program translated = {.size = sizeof translated};
    hg_circuit_launch launch = HG_CIRCUIT_LAUNCH_INIT;
    launch.elements = n;
    hg_status status = hg_circuit_to_isa_translate(text, length, &options, NULL, &translated);
    CHECK_MESSAGE(status == HG_OK, "seed %" PRIu64 ": %s\n%s", seed, hg_last_error_text(), text);
    for (int queued = waits ? 0 : 1; queued < (waits && seed % 4 ? 1 : 2) && status == HG_OK;
         queued++) {
        for (size_t k = 0; k < count; k++)
            if (arrays[k].output) memset(arrays[k].output, 0x55, n * sizeof(float));
        status = (queued ? run_queued : hg_circuit_run)(b, &translated, &launch, arrays, count);
        CHECK_MESSAGE(status == HG_OK, "%s, seed %" PRIu64 ": %s\n%s", name, seed,
                      hg_last_error_text(), text);
        if (status == HG_OK) check_outputs(name, seed, mode, arrays, count, n);
    }
    hg_translated_program_release(&translated);
}

static void run_random(const char *name, hg_backend *b, uint64_t seed, bool exact) {
    static float in[CLASSES][MOST], out[CLASSES][MOST];
    static const uint32_t SIZES[] = {PIECE, PIECE + 1, 2 * PIECE, MOST};
    hg_class_array arrays[CLASSES];
    bool named[CLASSES] = {false};
    size_t count = 0;
    random_state = seed;
    uint32_t n = rnd(6) ? 1 + rnd(70) : SIZES[rnd(4)];
    variants = exact && rnd(2);
    make_circuit();
    for (int i = 0; i < op_count; i++) {
        const op *o = &ops[i];
        named[o->src] = true;
        if (o->kind >= COPY && o->kind <= SPLIT) named[o->dst] = true;
        if (o->kind == MERGE || o->kind == SPLIT) named[o->context] = true;
    }
    for (uint32_t c = 0; c < CLASSES; c++) memset(world[c], 0, n * sizeof **world);
    for (uint32_t c = 0; c < CLASSES; c++) {
        if (!named[c]) continue;
        uint32_t given = rnd(4) ? n : rnd(n + 1);
        if (rnd(4) == 0) given = 0;
        for (uint32_t i = 0; i < given; i++) {
            world[c][i].bits = exact ? random_bits() : as_bits((float)rnd(100));
            memcpy(&in[c][i], &world[c][i].bits, 4);
        }
        arrays[count++] = (hg_class_array){.cls = (uint8_t)c,
                                           .input = given ? in[c] : NULL,
                                           .input_count = given,
                                           .output = out[c],
                                           .output_count = n};
    }
    for (int i = 0; i < op_count; i++) carry_out(&ops[i], n);
    for (int mode = HG_CANONICALISE_OFF; mode <= HG_CANONICALISE_GATES; mode++)
        run_mode(name, b, seed, mode, arrays, count, n);
}

/* ---- pieces ---- */

static hg_translated_program translate(const char *circuit) {
    hg_translated_program t = {.size = sizeof t};
    CHECK_MESSAGE(hg_circuit_to_isa_translate(circuit, strlen(circuit), NULL, NULL, &t) == HG_OK,
                  "%s: %s", circuit, hg_last_error_text());
    if (!t.program) exit(test_done());
    return t;
}

static float *numbers(uint64_t count, float start) {
    float *data = malloc((count ? count : 1) * sizeof *data);
    for (uint64_t i = 0; i < count; i++) data[i] = start + (float)(i % 1000);
    return data;
}

/* c03 has no input and is read before it is written: every piece finds zeros there. */
static void test_pieces(hg_backend *b, uint64_t n) {
    hg_translated_program t = translate("merge@c00[c01,c02] . merge@c03[c02,c03] . copy@c03->c04");
    float *x = numbers(n, 1), *y = numbers(n / 2, 5), *z = numbers(n, 0), *w = numbers(n, 0);
    hg_class_array arrays[] = {{.cls = 0, .input = x, .input_count = n},
                               {.cls = 1, .input = y, .input_count = n / 2},
                               {.cls = 2, .output = z, .output_count = n},
                               {.cls = 4, .output = w, .output_count = n}};
    CHECK_OK(hg_circuit_run(b, &t, NULL, arrays, 4));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < n; i++) {
        float sum = x[i] + (i < n / 2 ? y[i] : 0);
        wrong += z[i] != sum || w[i] != sum;
    }
    CHECK_MESSAGE(wrong == 0, "%" PRIu64 " of %" PRIu64 " elements are wrong", wrong, n);
    /* in place: the output is an input, also of another class */
    arrays[2].output = x;
    arrays[3].output = NULL;
    CHECK_OK(hg_circuit_run(b, &t, NULL, arrays, 4));
    CHECK_MESSAGE(memcmp(x, z, n * sizeof *x) == 0, "in place");
    free(x);
    free(y);
    free(z);
    free(w);
    hg_translated_program_release(&t);
}

/* The contexts of the user keep their class memory. */
static void test_isolation(hg_backend *b) {
    hg_translated_program t = translate("copy@c00->c01");
    float x[4] = {1, 2, 3, 4}, y[4] = {0}, kept = 7;
    hg_class_array arrays[] = {{.cls = 0, .input = x, .input_count = 4},
                               {.cls = 1, .output = y, .output_count = 4}};
    CHECK_OK(hg_buffer_write(b, (hg_buffer){HG_CIRCUIT_HANDLE(1)}, 0, &kept, 4));
    CHECK_OK(hg_circuit_run(b, &t, NULL, arrays, 2));
    CHECK(y[0] == 1 && y[3] == 4);
    kept = 0;
    CHECK_OK(hg_buffer_read(b, (hg_buffer){HG_CIRCUIT_HANDLE(1)}, 0, &kept, 4));
    CHECK(kept == 7);
    /* the program itself runs on the context's class memory, as any program */
    hg_launch launch = hg_launch_linear(2);
    CHECK_OK(hg_buffer_write(b, (hg_buffer){HG_CIRCUIT_HANDLE(0)}, 0, x + 1, 8));
    CHECK_OK(hg_backend_execute_program(b, t.program, &launch));
    CHECK_OK(hg_buffer_read(b, (hg_buffer){HG_CIRCUIT_HANDLE(1)}, 0, y, 16));
    CHECK(y[0] == 2 && y[1] == 3 && y[2] == 0 && y[3] == 0);
    hg_translated_program_release(&t);
}

static void test_buffers(hg_backend *b, uint64_t n) {
    hg_translated_program t = translate("split@c00[c01,c02]");
    float *x = numbers(n, 1), *y = numbers(n, 40), *z = numbers(n, 0);
    hg_buffer bx = make_buffer(b, x, n * 4), bz = make_buffer(b, NULL, n * 4);
    hg_class_array arrays[] = {{.cls = 0, .input_buffer = bx, .input_count = n},
                               {.cls = 1, .input = y, .input_count = n},
                               {.cls = 2, .output_buffer = bz, .output_count = n}};
    CHECK_OK(hg_circuit_run(b, &t, NULL, arrays, 3));
    CHECK_OK(hg_buffer_read(b, bz, 0, z, n * 4));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < n; i++) wrong += z[i] != x[i] - y[i];
    CHECK_U64(wrong, 0);
    arrays[0].input_count = n + 1;
    arrays[2].output_count = n + 1; /* more than the buffers have */
    CHECK_STATUS(hg_circuit_run(b, &t, NULL, arrays, 3), HG_ERROR_EXECUTION_FAILED);
    arrays[0].input_buffer.handle = 999;
    CHECK_STATUS(hg_circuit_run(b, &t, NULL, arrays, 3), HG_ERROR_INVALID_BUFFER);
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, bz));
    free(x);
    free(y);
    free(z);
    hg_translated_program_release(&t);
}

/* ---- reductions ---- */

/* The fixed tree of semantics 0.3 for one chunk. */
static float tree(const float *x, uint32_t n, int kind) {
    float acc[128];
    uint32_t have = n < 128 ? n : 128;
    memcpy(acc, x, have * sizeof *acc);
#define JOIN(a, b)                                 \
    (kind == HG_CIRCUIT_REDUCE_SUM   ? (a) + (b)   \
     : kind == HG_CIRCUIT_REDUCE_MIN ? fminf(a, b) \
                                     : fmaxf(a, b))
    for (uint32_t i = 128; i < n; i++) acc[i % 128] = JOIN(acc[i % 128], x[i]);
    for (uint32_t s = 64; s; s /= 2)
        for (uint32_t l = 0; l < s && l + s < have; l++) acc[l] = JOIN(acc[l], acc[l + s]);
    return acc[0];
}

static hg_translated_program translate_call(hg_circuit_call call, hg_circuit_call second) {
    hg_circuit *circuit = hg_circuit_create();
    hg_translated_program t = {.size = sizeof t};
    CHECK_OK(hg_circuit_append(circuit, &call));
    CHECK_OK(hg_circuit_append(circuit, &second));
    CHECK_OK(hg_circuit_to_isa(circuit, NULL, &t));
    hg_circuit_destroy(circuit);
    if (!t.program) exit(test_done());
    return t;
}

static void test_reductions(hg_backend *b, bool exact, bool device) {
    static const uint32_t COUNTS[] = {1, 2, 100, 129, 1000, PIECE};
    static float x[PIECE + 1], y[PIECE + 1], copy[PIECE + 1];
    random_state = 5;
    for (int i = 0; i < PIECE; i++) x[i] = (float)((int)rnd(20001) - 10000) / 64;
    for (int kind = HG_CIRCUIT_REDUCE_SUM; kind <= HG_CIRCUIT_SOFTMAX; kind++)
        for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
            uint32_t n = COUNTS[k];
            hg_circuit_call call = {.kind = (uint8_t)kind,
                                    .src = 3,
                                    .dst = 4,
                                    .n = device || k % 2 ? HG_CIRCUIT_LANES : n};
            hg_circuit_call after = {.kind = HG_CIRCUIT_COPY, .src = 4, .dst = 5};
            hg_translated_program t = translate_call(call, after);
            hg_class_array arrays[] = {{.cls = 3, .input = x, .input_count = n},
                                       {.cls = 4, .output = y, .output_count = n},
                                       {.cls = 5, .output = copy, .output_count = n}};
            CHECK_OK(hg_circuit_run(b, &t, NULL, arrays, 3));
            double sum = 0, off = 0;
            if (kind == HG_CIRCUIT_SOFTMAX) {
                float most = tree(x, n, HG_CIRCUIT_REDUCE_MAX);
                for (uint32_t i = 0; i < n; i++) sum += exp((double)x[i] - (double)most);
                for (uint32_t i = 0; i < n; i++)
                    off = fmax(off, fabs(exp((double)x[i] - (double)most) / sum - (double)y[i]));
                CHECK_MESSAGE(off < 1e-6, "softmax of %u: off by %g", n, off);
            } else {
                float want = tree(x, n, kind);
                CHECK_MESSAGE(exact ? y[0] == want : fabsf(y[0] - want) < 1e-2f,
                              "kind %d of %u: %g, expected %g", kind, n, (double)y[0],
                              (double)want);
                for (uint32_t i = 1; i < n; i++) off += (double)fabsf(y[i]);
                CHECK_MESSAGE(off == 0, "elements behind the first are touched");
            }
            CHECK(memcmp(copy, y, n * sizeof *y) == 0);
            hg_translated_program_release(&t);
        }
    hg_translated_program t = translate_call(
        (hg_circuit_call){.kind = HG_CIRCUIT_REDUCE_SUM, .src = 3, .dst = 4, .n = HG_CIRCUIT_LANES},
        (hg_circuit_call){.kind = HG_CIRCUIT_COPY, .src = 4, .dst = 5});
    hg_class_array array = {.cls = 3, .input = x, .input_count = PIECE + 1};
    CHECK_FAILS(hg_circuit_run(b, &t, NULL, &array, 1), HG_ERROR_ISA, "P08",
                "launch too large: the circuit reduces over a class or takes its softmax, which is "
                "possible for at most 3072 elements, the "
                "size of a class; the arrays have 3073");
    hg_translated_program_release(&t);
}

/* ---- mistakes ---- */

static void test_mistakes(hg_backend *b) {
    hg_translated_program t = translate("merge@c00[c01,c02]"), none = {.size = sizeof none};
    float x[8] = {0};
    hg_circuit_launch launch = HG_CIRCUIT_LAUNCH_INIT, wrong = {0};
    hg_class_array other = {.cls = 7, .input = x, .input_count = 8}, beyond = {.cls = 96},
                   twice[2] = {{.cls = 1}, {.cls = 1}};
    hg_class_array in = {.cls = 0, .input = x, .input_count = 8},
                   out = {.cls = 2, .output = x, .output_count = 3};
    hg_class_array both = {.cls = 0, .input = x, .input_count = 8, .input_buffer = {1}};
    CHECK_FAILS(hg_circuit_run(b, &t, NULL, &other, 1), HG_ERROR_ISA, "P01",
                "unknown parameter: the circuit does not name class c07 (it names c00, c01, c02)");
    CHECK_STATUS(hg_circuit_run(b, &t, NULL, &beyond, 1), HG_ERROR_ISA);
    CHECK_FAILS(hg_circuit_run(b, &t, NULL, &out, 1), HG_ERROR_ISA, "P07",
                "no class has an input and the number of elements is not given");
    launch.elements = 4;
    CHECK_FAILS(hg_circuit_run(b, &t, &launch, twice, 2), HG_ERROR_ISA, "P04",
                "class c01 is given twice");
    CHECK_FAILS(hg_circuit_run(b, &t, &launch, &in, 1), HG_ERROR_ISA, "P04",
                "class c00: its input has 8 elements, the run 4");
    CHECK_FAILS(hg_circuit_run(b, &t, &launch, &out, 1), HG_ERROR_ISA, "P04",
                "class c02: its output has room for 3 elements, the run has 4");
    launch.elements = 8;
    CHECK_FAILS(hg_circuit_run(b, &t, &launch, &both, 1), HG_ERROR_ISA, "P04",
                "class c00 is given as host memory and as a buffer");
    launch.elements = UINT64_C(1) << 41;
    CHECK_STATUS(hg_circuit_run(b, &t, &launch, NULL, 0), HG_ERROR_ISA);
    CHECK_STATUS(hg_circuit_run(b, &t, &wrong, &in, 1), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_circuit_run(NULL, &t, NULL, &in, 1), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_circuit_run(b, NULL, NULL, &in, 1), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_circuit_run(b, &none, NULL, &in, 1), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_circuit_run(b, &t, NULL, NULL, 1), HG_ERROR_INVALID_ARGUMENT);
    in.input_count = 0; /* an empty input is one */
    CHECK_OK(hg_circuit_run(b, &t, NULL, &in, 1));
    hg_translated_program_release(&t);
}

/* Every allocation fails once: an error by value, and nothing is left. */
static void test_memory(void) {
    failing_allocator memory = {0};
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    float x[10] = {1}, y[10];
    hg_class_array arrays[] = {{.cls = 0, .input = x, .input_count = 10},
                               {.cls = 2, .output = y, .output_count = 10}};
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    CHECK_OK(hg_set_allocator(&hooks));
    uint64_t fail = 1;
    for (; status != HG_OK && fail < 3000; fail++) {
        hg_backend *b = NULL;
        hg_translated_program t = {.size = sizeof t};
        memory.fail_at = 0;
        CHECK_OK(hg_backend_create("cpu", 0, &b));
        CHECK_OK(hg_circuit_to_isa_translate("merge@c00[c01,c02]", 18, NULL, NULL, &t));
        memory.allocations = 0;
        memory.fail_at = fail;
        memory.only_once = true;
        status = hg_circuit_run(b, &t, NULL, arrays, 2);
        CHECK(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY ||
              status == HG_ERROR_ALLOCATION_FAILED);
        memory.fail_at = 0;
        hg_translated_program_release(&t);
        hg_backend_destroy(b);
        CHECK_U64(memory.live, 0);
    }
    CHECK_MESSAGE(status == HG_OK && fail > 10, "%" PRIu64 " allocations", fail);
    CHECK_OK(hg_set_allocator(NULL));
}

static void test_all(hg_backend *b, bool exact, bool device) {
    test_pieces(b, 5 * PIECE + 7);
    test_isolation(b);
    test_buffers(b, PIECE + 100);
    test_reductions(b, exact, device);
}

static bool is_exact(hg_backend *b) {
    hg_device_info info = {.size = sizeof info};
    CHECK_OK(hg_backend_device(b, &info));
    return info.exact;
}

/* Nobody can wait: hg_circuit_run says so, and a queue does all of it; several circuits lie behind
 * each other. Then what is wrong is said before anything is appended, and what fails is the
 * event's. */
static void test_no_wait(void) {
    for (int seed = 1; seed <= 3; seed++) {
        hg_config config;
        hg_backend *b = NULL;
        char words[32];
        CHECK_OK(hg_config_from_env(&config));
        snprintf(config.backend, sizeof config.backend, "cpu");
        snprintf(words, sizeof words, "no-wait=%d", seed);
        set_pretend(&config, words);
        CHECK_OK(open_in_steps(&config, &b));
        if (!b) return;
        hg_translated_program t = translate("copy@c00->c01");
        float x[4] = {1, 2, 3, 4}, y[4] = {0};
        hg_class_array arrays[] = {{.cls = 0, .input = x, .input_count = 4},
                                   {.cls = 1, .output = y, .output_count = 4}};
        CHECK_STATUS(hg_circuit_run(b, &t, NULL, arrays, 2), HG_ERROR_WOULD_BLOCK);
        hg_circuit_launch launch = HG_CIRCUIT_LAUNCH_INIT;
        CHECK_OK(run_queued(b, &t, &launch, arrays, 2));
        CHECK(y[0] == 1 && y[3] == 4);
        arrays[1].output_count = 3;
        CHECK_STATUS(run_queued(b, &t, &launch, arrays, 2), HG_ERROR_ISA);
        arrays[1] = (hg_class_array){.cls = 1, .output_buffer = {999}, .output_count = 4};
        hg_status status = run_queued(b, &t, &launch, arrays, 2);
        CHECK_MESSAGE(status == HG_ERROR_INVALID_BUFFER, "%s", hg_status_name(status));
        hg_translated_program_release(&t);
        waits = false;
        for (uint64_t round = 1; round <= 40; round++)
            run_random("cpu without waiting", b, round * 10 + (uint64_t)seed, true);
        waits = true;
        hg_backend_destroy(b);
    }
}

int main(int argc, char **argv) {
    static const char *const DEVICES[] = {"opencl", "vulkan"};
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
             count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc > 1) {
        hg_backend *b = open_backend(argv[1]);
        for (uint64_t seed = first; seed < first + (count ? count : 1); seed++)
            run_random(argv[1], b, seed, is_exact(b));
        hg_backend_destroy(b);
        return test_done();
    }
    hg_backend *cpu = open_backend("cpu");
    for (uint64_t seed = rounds_here(500, 50); seed; seed--) run_random("cpu", cpu, seed, true);
    test_all(cpu, true, false);
    test_mistakes(cpu);
    hg_backend_destroy(cpu);
    test_memory();
    test_no_wait();
    int found = 0;
    for (size_t k = 0; k < sizeof DEVICES / sizeof *DEVICES; k++) {
        hg_backend *b = NULL;
        if (hg_backend_create(DEVICES[k], 0, &b) != HG_OK) continue;
        found++;
        for (uint64_t seed = 1; seed <= 8; seed++) run_random(DEVICES[k], b, seed, is_exact(b));
        test_all(b, is_exact(b), true);
        hg_backend_destroy(b);
    }
    if (!found) SKIP("no OpenCL and no Vulkan device");
    return test_done();
}
