/* Every instruction on f16 and bf16 against exact arithmetic (oracle/oracle_half.c; functions
 * within their bound).
 *
 *     halves [--tuples LOG2] [--functions N] [--only NAME] [--backend B[:DEVICE]] [--level L]
 * [--pretend WORDS]
 *
 * One argument of 16 bits: all 65,536, of functions every N-th (7). Others: 2^LOG2 tuples (14), a
 * quarter each any bits, exponents near each other, sums whose exponents are as far apart as those
 * of a product and what is added to it, and products of few bits, which lie halfway between two
 * numbers, with a small third argument. `--tuples 28 --functions 1` is the long run. The list of
 * instructions and their programs is that of tests/bits. */
#include "bits/bits.h"
#include "oracle/oracle.h"
#include "support/library.h"
#include "test.h"
#include <stdlib.h>

enum { CHUNK = 65536 };

typedef struct subject {
    const bits_case *c;
    hg_type type, type2; /* of the instruction */
    int variant;
    bool function; /* its results are within a bound of the exact ones */
} subject;

typedef struct run_options {
    uint32_t tuples, every;
    const char *only;
} run_options;

static uint64_t inputs_of_one, tuples_of_more;

static uint64_t mixed(uint64_t z) { /* SplitMix64 */
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* ---- what the programs of tests/bits are ---- */

static bool read_types(subject *s) {
    const char *dot = strchr(s->c->name, '.');
    hg_type found[2] = {HG_TYPE_COUNT, HG_TYPE_COUNT};
    int n = 0;
    for (; dot && n < 2; dot = strchr(dot + 1, '.')) {
        size_t length = strcspn(dot + 1, ". ");
        if (hg_type_from_name(dot + 1, length, &found[n])) n++;
    }
    s->type = found[0];
    s->type2 = n > 1 ? found[1] : found[0];
    return n > 0;
}

static bool is_half(hg_type type) { return type == HG_TYPE_F16 || type == HG_TYPE_BF16; }
static bool is_register_fold(hg_op op) {
    return op == HG_OP_REDUCE_ADD || op == HG_OP_REDUCE_MIN || op == HG_OP_REDUCE_MAX ||
           op == HG_OP_REDUCE_MUL;
}

static bool begin_subject(const bits_case *c, subject *s) {
    *s = (subject){.c = c};
    if (c->op == HG_OP_NONE || !read_types(s) || (!is_half(s->type) && !is_half(s->type2)))
        return false;
    if (is_register_fold(c->op)) s->variant = BITS_ARGUMENTS;
    for (int condition = 0; c->op == HG_OP_SET && condition < HG_COND_COUNT; condition++) {
        const char *name = hg_condition_name((hg_condition)condition);
        size_t length = strlen(name);
        if (strncmp(c->name + 3, name, length) == 0 && c->name[3 + length] == '.')
            s->variant = condition;
    }
    s->function = hg_op_get(c->op)->numbers != HG_NUMBERS_EXACT;
    return true;
}

/* ---- arguments ---- */

static uint32_t size_of(const subject *s, uint32_t argument) {
    return (uint32_t)hg_type_size_bytes(s->c->types[argument]);
}

static void put(uint8_t *to, uint64_t bits, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) to[i] = i < 8 ? (uint8_t)(bits >> (8 * i)) : 0;
}

/* Sign, exponent and fraction in a half. */
static uint32_t half_of(hg_type type, uint32_t sign, int exponent, uint32_t fraction) {
    int bits = type == HG_TYPE_F16 ? 10 : 7, top = type == HG_TYPE_F16 ? 30 : 254;
    exponent = exponent < 0 ? 0 : exponent > top ? top : exponent;
    return (sign & 1) << 15 | (uint32_t)exponent << bits | (fraction & ((1u << bits) - 1));
}

/* Three related halves; an instruction takes as many as it needs. */
static void related(hg_type type, uint64_t i, uint32_t v[BITS_ARGUMENTS]) {
    bool wide = type == HG_TYPE_BF16;
    int bias = wide ? 127 : 15, bits = wide ? 7 : 10, top = wide ? 255 : 31;
    uint64_t r = mixed(i), q = mixed(r ^ i);
    int a = (int)(r >> 8 & 0xFF) % top, b = (int)(r >> 16 & 0xFF) % top, product = a + b - bias;
    uint32_t fa = (uint32_t)(r >> 24), fb = (uint32_t)(r >> 40);
    switch (i & 3) {
    case 0:
        for (int k = 0; k < BITS_ARGUMENTS; k++) v[k] = (uint32_t)(q >> (16 * k)) & 0xFFFF;
        return;
    case 1: /* near each other */
        b = a + (int)(q & 3) - 1;
        product = a + (int)(q >> 2 & 3) - 1;
        break;
    case 2: product += (int)(q & 63) - 32; break;
    default: /* 2^p + 1 bits in the product; the third far below it, or with a bit at the same place
              */
        fa &= 7u << (bits - 3), fb = 1u << (q & 7) % (uint32_t)bits;
        product = q & 256 ? product - bits - 1 - (int)(q >> 9 & 31) : (int)(q >> 9 & 3);
        break;
    }
    v[0] = half_of(type, (uint32_t)r, a, fa);
    v[1] = half_of(type, (uint32_t)(r >> 1), b, fb);
    v[2] = half_of(type, (uint32_t)(r >> 2), product, (uint32_t)(q >> 32));
    v[3] = half_of(type, (uint32_t)(r >> 3), b, (uint32_t)(q >> 48));
}

static void fill(const subject *s, bool all, uint64_t first, uint64_t step, uint64_t n,
                 uint8_t *const *arrays) {
    const bits_case *c = s->c;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = (first + i) * step;
        uint32_t v[BITS_ARGUMENTS];
        related(is_half(s->type) ? s->type : s->type2, at, v);
        for (uint32_t k = 0; k < c->count; k++) {
            uint32_t size = size_of(s, k);
            uint8_t *to = arrays[k] + i * size;
            uint64_t any = mixed(at * BITS_ARGUMENTS + k);
            if (all)
                put(to, at, size);
            else if (is_half(c->types[k]))
                put(to, v[k], size);
            else if (c->predicate[k])
                put(to, any & 1, size);
            else if (c->types[k] == HG_TYPE_F32) /* in the range of halves, at most a few bits
                                                    behind a tie */
                put(to,
                    any & 1 ? (any >> 32 & 0x80001FFF) | ((uint32_t)(any >> 1) % 48 + 100) << 23 |
                                  (any >> 20 & 0x7FE000)
                            : any >> 32,
                    size);
            else
                for (uint32_t b = 0; b < size; b++)
                    to[b] = b <= (any >> 8) % size ? (uint8_t)(mixed(any + b) | (b == 0)) : 0;
        }
    }
}

/* ---- comparing ---- */

static void report(const subject *s, const uint8_t *const *args, const uint8_t *expected,
                   const uint8_t *got) {
    fprintf(stderr, "halves --only %s: arguments", s->c->name);
    for (uint32_t k = 0; k < s->c->count; k++) {
        fprintf(stderr, " ");
        for (uint32_t b = size_of(s, k); b-- > 0;) fprintf(stderr, "%02x", args[k][b]);
    }
    fprintf(stderr, ": expected %02x%02x, got %02x%02x (little-endian ends)\n", expected[1],
            expected[0], got[1], got[0]);
}

static bool check_lanes(const subject *s, const run_case *r, uint64_t n) {
    const bits_case *c = s->c;
    uint32_t size = (uint32_t)hg_type_size_bytes(c->result);
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *args[BITS_ARGUMENTS] = {NULL};
        uint8_t expected[ORACLE_MAX_BYTES] = {0};
        for (uint32_t k = 0; k < c->count; k++)
            args[k] = r->arrays[1 + k].bytes + i * size_of(s, k);
        if (oracle_eval(c->op, s->type, s->type2, s->variant, args, expected) != ORACLE_OK)
            continue;
        uint64_t ulp = c->result == HG_TYPE_U8 ? 0
                                               : oracle_tolerance(c->op, s->type, args, expected);
        const uint8_t *got = r->arrays[0].bytes + i * size;
        if (oracle_agrees(c->result, ulp, expected, got)) continue;
        report(s, args, expected, got);
        return false;
    }
    return true;
}

static bool run_chunk(const subject *s, library *l, const hg_program *program, bool all,
                      uint64_t first, uint64_t step, uint64_t n) {
    const bits_case *c = s->c;
    run_case r = {.cleared_class = 96};
    run_result result = {.outcome = RUN_ERROR, .message = "out of memory"};
    uint8_t *arrays[BITS_ARGUMENTS] = {NULL};
    case_add_array(&r, "out", c->result, NULL, n * hg_type_size_bytes(c->result));
    for (uint32_t k = 0; k < c->count; k++) {
        char name[8];
        snprintf(name, sizeof name, "a%u", k);
        case_array *a = case_add_array(&r, name, c->types[k], NULL, n * size_of(s, k));
        arrays[k] = a ? a->bytes : NULL;
    }
    case_set_lanes(&r, n);
    bool good = r.array_count == c->count + 1;
    if (good) fill(s, all, first, step, n, arrays);
    if (good) library_run(l, program, &r, &result);
    good = good && result.outcome == RUN_OK;
    CHECK_MESSAGE(good, "%s: %s", c->name, result.message);
    good = good && check_lanes(s, &r, n);
    case_free(&r);
    return good;
}

static void run_subject(const run_options *o, const subject *s, library *l) {
    hg_program *program = NULL;
    hg_status status = hg_program_assemble(s->c->text, strlen(s->c->text), NULL, &program);
    if (status == HG_OK) status = hg_program_verify(program, NULL);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", s->c->name, hg_last_error_text());
    bool all = s->c->count == 1 && size_of(s, 0) <= 2;
    uint64_t step = all && s->function ? o->every : 1,
             count = all ? (CHUNK + step - 1) / step : UINT64_C(1) << o->tuples;
    if (!all && s->function) count /= o->every;
    bool good = status == HG_OK;
    for (uint64_t at = 0; good && at < count; at += CHUNK)
        good = run_chunk(s, l, program, all, at, step, count - at < CHUNK ? count - at : CHUNK);
    CHECK_MESSAGE(good, "%s differs", s->c->name);
    if (good) *(all ? &inputs_of_one : &tuples_of_more) += count;
    hg_program_release(program);
}

int main(int argc, char **argv) {
    run_options o = {.tuples = 14, .every = 7};
    const char *backend = "cpu", *level = "", *pretend = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--tuples") == 0)
            o.tuples = (uint32_t)strtoul(value, NULL, 10) & 63;
        else if (strcmp(argv[i], "--functions") == 0)
            o.every = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            o.only = value;
        else if (strcmp(argv[i], "--backend") == 0)
            backend = value;
        else if (strcmp(argv[i], "--level") == 0)
            level = value;
        else if (strcmp(argv[i], "--pretend") == 0)
            pretend = value;
        else
            return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
    }
    char reason[256];
    uint32_t count = 0, subjects = 0;
    bits_case *cases = bits_cases(&count);
    library *l = library_open(backend, level, pretend, reason);
    CHECK_MESSAGE(l && cases, "%s: %s", backend, l ? "out of memory" : reason);
    for (uint32_t i = 0; l && i < count; i++) {
        subject s;
        if (!begin_subject(&cases[i], &s) || (o.only && strcmp(o.only, s.c->name) != 0)) continue;
        run_subject(&o, &s, l);
        subjects++;
    }
    if (l) library_close(l);
    free(cases);
    printf("halves: %u instructions, %" PRIu64 " arguments of one, %" PRIu64
           " tuples of the others\n",
           subjects, inputs_of_one, tuples_of_more);
    return test_done();
}
