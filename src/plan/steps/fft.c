/* fft: the library programs of fft.atlas. Lengths without a prime factor above 7 are passes of
 * radices that follow from length and type alone; other lengths are convolutions by them
 * (Bluestein). An even number of real ones is transformed as half as many complex ones, an odd one
 * as as many. Large batches go in pieces, so that what is between two passes stays in a cache; no
 * bit depends on that. */
#include "base/compat.h"
#include "plan/steps/steps.h"
#include <string.h>

enum { OUTPUT, INPUT, N, INVERSE, BATCH, REAL, INNER };

static bool is_power(uint64_t n) { return (n & (n - 1)) == 0; }
/* no prime factor above 7 */
static bool is_smooth(uint64_t n) {
    static const uint8_t PRIMES[] = {2, 3, 5, 7};
    for (uint32_t i = 0; i < HG_COUNT_OF(PRIMES); i++)
        while (n % PRIMES[i] == 0) n /= PRIMES[i];
    return n == 1;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- shapes ---- */

static uint64_t signals_of(const plan_call *call) {
    return plan_times(plan_number(call, BATCH, 0), plan_number(call, INNER, 0));
}

/* Squares of indices are calculated in 64 bits. */
static const uint64_t MOST_OTHER = UINT64_C(1) << 31;

static void check(const plan_call *call, plan_problem *problem) {
    uint64_t n = plan_number(call, N, 0);
    if (n == 0) plan_refuse(call, problem, KIR_FAULT_DOMAIN, N, "0 numbers, at least 1 expected");
    if (!is_power(n) && n > MOST_OTHER)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, N,
                    "%llu, a power of two or at most %llu expected", (unsigned long long)n,
                    (unsigned long long)MOST_OTHER);
}

static void ranges(plan_call *call) {
    uint64_t n = plan_number(call, N, 0), batch = plan_number(call, BATCH, 0),
             inner = plan_number(call, INNER, 0);
    bool inverse = plan_number(call, INVERSE, 0), real = plan_number(call, REAL, 0);
    for (uint32_t operand = OUTPUT; operand <= INPUT; operand++) {
        bool numbers = real && (operand == INPUT) != inverse;
        uint64_t length = real && !numbers ? n / 2 + 1 : n;
        plan_array *a = plan_array_of(call, operand);
        if (inner == 1)
            plan_array_shape(a, numbers ? 2 : 3, (const uint64_t[]){batch, length, 2});
        else
            plan_array_shape(a, numbers ? 3 : 4, (const uint64_t[]){batch, length, inner, 2});
    }
}

/* ---- the expansion ---- */

enum {
    W = 16,        /* lanes of a block, */
    W_WIDE = 8,    /* of f64, and of one transform of at most SHORT numbers */
    W_SIXTEEN = 4, /* of one of 16 numbers */
    SHORT = 128,   /* longest transform of which lanes have one each, where there are enough, */
    WHOLE = 4096,  /* and of which a block has one */
    MOST_RADIX = 16,
    MOST_DIGITS = 6,  /* radices of a column's passes */
    MOST_LENGTH = 40, /* bits of the longest transform */
    STEPS = 1024,     /* a convolution's length is a multiple of a power of two, of about so many */
    COLUMN_BLOCKS = 8, /* of a transform's columns; each has its own memory */
    PIECE = 1 << 16,   /* numbers of a batch that are transformed together */
    MOST_BLOCKS = 64,  /* of short transforms; each has its own memory */
    UNITS = 64,     /* groups of lanes of a block that does what is between the transforms of real
                       numbers */
    ELEMENTS = 256, /* lanes of a block that does each element by itself */
    LINES = 64,
    LINE_STEPS = 16 /* of a block that moves signals, and elements of each */
};

/* A transform of n1 n2 numbers by columns: the passes of both steps, radices of five bits each, the
 * first one in the lowest. */
typedef struct columns {
    uint64_t n1, n2;
    uint32_t first, second;
    plan_part circle1, circle2, coarse, fine, tiles;
} columns;

typedef struct transform {
    plan_expansion *x;
    hg_type type;
    uint64_t size;                /* of a real number, in bytes */
    uint64_t n, m, piece;         /* m: what is done by passes, n or that of the convolution; piece:
                                     transforms at a time */
    plan_part circle, rows, work; /* of m */
    columns columns;
    plan_part chirp, filter, a, b; /* where m is not n */
    double over;                   /* an inverse transform is divided by it */
    bool halved;                   /* 2 n real numbers are n complex ones: */
    plan_part roots;               /* for what is between the transforms of both, */
    plan_part full, result; /* and complex numbers before or behind it. Of n real numbers: before
                               and behind */
} transform;

static plan_kernel_key program(const transform *t, library_id id, int32_t first, int32_t second,
                               uint8_t arrays, uint8_t values) {
    return plan_library_key(id, t->type, HG_OP_MOV,
                            (int32_t[]){t->type == HG_TYPE_F64, first, second}, arrays, values);
}

static uint32_t lanes_of(const transform *t) { return t->type == HG_TYPE_F64 ? W_WIDE : W; }

/* Radices of the passes of up to 4,096 numbers behind the first one, which is 16; returns how many.
 */
static uint32_t find_radices(uint64_t m, uint32_t *radices) {
    uint32_t bits = hg_ctz64(m / 16), count = 0;
    for (uint32_t left = (bits + 3) / 4; left; left--) {
        uint32_t of = (bits + left - 1) / left;
        radices[count++] = 1u << of;
        bits -= of;
    }
    return count;
}

static uint64_t bits_of(const transform *t, double x) {
    float narrow = (float)x;
    uint64_t bits = 0;
    if (t->type == HG_TYPE_F64)
        memcpy(&bits, &x, sizeof x);
    else
        memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

static uint64_t sign_of(const transform *t, bool inverse) { return bits_of(t, inverse ? -1 : 1); }

/* Each element of `count` transforms of `length` by itself. */
static void each_element(const transform *t, const plan_kernel_key *key, uint64_t length,
                         uint64_t count, const plan_part *parts, const uint64_t *values) {
    plan_expand_grid(t->x, key, (uint64_t[]){(length - 1) / ELEMENTS + 1, count, 1},
                     (uint32_t[]){ELEMENTS, 1, 1}, 0, parts, values);
}

/* ---- roots of unity ---- */

/* w^e, e < count, w = e^(-2 pi i / n) */
static plan_part make_circle(const transform *t, uint64_t count, uint64_t n) {
    plan_kernel_key key = program(t, LIBRARY_FFT_CIRCLE, 0, 0, 1, 2);
    plan_part circle = plan_table(t->x, plan_times(2, count), t->size);
    plan_expand_launch(t->x, &key, count, ELEMENTS, 0, &circle, (uint64_t[]){count, n});
    return circle;
}

/* ---- columns ---- */

/* What a pass of a radix costs each number, in vector operations: arithmetic of its butterfly and a
 * twiddle, loads and stores, and what no register is left for; 0: no such radix. */
static const uint8_t COSTS[MOST_RADIX + 1] = {0,  0,  10, 13, 12, 15, 15, 17, 15,
                                              19, 18, 0,  18, 0,  21, 22, 20};
/* Of a number: between the steps, and of loading it from tiles; a step with fewer columns than
 * lanes costs so many times as much. */
enum { TURN_COST = 6, TILE_COST = 8, NARROW_COST = 3 };

/* The cheapest radices for a length, none larger than `most`, at most `left` of them; UINT32_MAX:
 * there are none. */
static uint32_t find_digits(uint64_t length, uint32_t most, uint32_t left, uint32_t *digits) {
    uint32_t best = UINT32_MAX;
    *digits = 0;
    if (length == 1) return 0;
    for (uint32_t radix = most; radix > 1 && left; radix--) {
        uint32_t own = COSTS[radix], others;
        if (!own || length % radix) continue;
        uint32_t rest = find_digits(length / radix, radix, left - 1, &others);
        if (rest == UINT32_MAX || rest + own >= best) continue;
        best = rest + own;
        *digits = radix | others << 5;
    }
    return best;
}

static uint64_t groups_of(const transform *t, uint64_t length) {
    return (length + lanes_of(t) - 1) / lanes_of(t);
}

/* Transforms of `count` columns of a length, in eighths. Where there are fewer than lanes, lanes
 * that have none make all accesses slow. Columns of more than 256 rows, of 128 bytes, are more than
 * a first-level cache of 32 KiB has; `far`: what each number costs then. */
static uint64_t cost_of_step(const transform *t, uint64_t length, uint64_t count, uint32_t each,
                             uint32_t far) {
    return groups_of(t, count) * length * each * (count < lanes_of(t) ? NARROW_COST : 1) *
           (length > 256 ? far : 8);
}

/* m = n1 n2, neither further from the root than the largest factor, 7, makes needful, so that both
 * steps together cost least: lanes beyond the last column are counted as well. Returns what they
 * cost. */
static uint64_t find_columns(const transform *t, uint64_t m, columns *c) {
    uint64_t best = UINT64_MAX, low = 2;
    while (low * low * 9 < m) low++;
    for (uint64_t n1 = low; n1 <= m / low; n1++) {
        uint32_t first, second;
        if (m % n1) continue;
        uint32_t cost1 = find_digits(n1, MOST_RADIX, MOST_DIGITS, &first),
                 cost2 = find_digits(m / n1, MOST_RADIX, MOST_DIGITS, &second);
        if (cost1 == UINT32_MAX || cost2 == UINT32_MAX) continue;
        uint64_t cost = cost_of_step(t, n1, m / n1, cost1 + TURN_COST, 12) +
                        cost_of_step(t, m / n1, n1, cost2 + TILE_COST, 9);
        if (cost >= best) continue;
        best = cost;
        *c = (columns){.n1 = n1, .n2 = m / n1, .first = first, .second = second};
    }
    return best;
}

/* Both steps by one block. A longer transform has no step with fewer columns than lanes. */
static bool is_one_block(const transform *t) { return t->m <= WHOLE; }

/* w^(k l), k and l < 16 */
static void make_rows(transform *t) {
    plan_kernel_key key = program(t, LIBRARY_FFT_ROWS, 0, 0, 1, 1);
    t->rows = plan_table(t->x, 2 * W * 16, t->size);
    plan_expand_launch(t->x, &key, W * 16, ELEMENTS, 0, &t->rows, &t->m);
}

/* Whether lanes do so many transforms, one each: of one radix a step, and few enough columns that
 * none is turned by more than one root. The same bits. */
static bool are_lanes(const transform *t, uint64_t count) {
    const columns *c = &t->columns;
    return count >= lanes_of(t) && !(c->first >> 5) && !(c->second >> 5) && c->n2 <= lanes_of(t);
}

static void make_columns(transform *t) {
    columns *c = &t->columns;
    plan_kernel_key coarse = program(t, LIBRARY_FFT_COARSE, 0, 0, 1, 2),
                    fine = program(t, LIBRARY_FFT_FINE, 0, 0, 1, 1);
    if (t->m >> MOST_LENGTH || find_columns(t, t->m, c) == UINT64_MAX) {
        t->x->failed = true;
        return;
    }
    uint64_t longer = c->n1 < c->n2 ? c->n2 : c->n1, turned = groups_of(t, c->n2) * c->n1;
    c->circle1 = make_circle(t, c->n1, c->n1);
    c->circle2 = make_circle(t, c->n2, c->n2);
    c->coarse = plan_table(t->x, 2 * turned, t->size);
    c->fine = plan_table(t->x, 2 * lanes_of(t) * c->n1, t->size);
    plan_expand_launch(t->x, &coarse, turned, ELEMENTS, 0, &c->coarse, (uint64_t[]){c->n1, c->n2});
    plan_expand_launch(t->x, &fine, lanes_of(t) * c->n1, ELEMENTS, 0, &c->fine, &t->m);
    c->tiles = plan_scratch(t->x, plan_times(2 * lanes_of(t) * t->piece, turned), t->size);
    if (are_lanes(t, t->piece)) make_rows(t);
    uint64_t rows = t->piece * (is_one_block(t) ? 1 : COLUMN_BLOCKS);
    if (are_lanes(t, t->piece) && rows < MOST_BLOCKS) rows = MOST_BLOCKS;
    t->work = plan_scratch(
        t->x, plan_times(2 * lanes_of(t) * rows, longer * (are_lanes(t, t->piece) ? c->n2 : 1)),
        t->size);
}

static void expand_step(const transform *t, plan_part from, plan_part to, uint64_t count,
                        bool inverse, double scale, bool first, bool second) {
    const columns *c = &t->columns;
    uint64_t others = first ? c->n2 : c->n1,
             blocks = first && second ? 1 : least(groups_of(t, others), COLUMN_BLOCKS);
    int32_t constants[] = {t->type == HG_TYPE_F64, first ? (int32_t)c->first : 0,
                           first ? (int32_t)c->n1 : 1, second ? (int32_t)c->second : 0,
                           second ? (int32_t)c->n2 : 1};
    plan_kernel_key key = plan_library_key(LIBRARY_FFT_COLUMNS, t->type, HG_OP_MOV, constants, 8,
                                           5);
    plan_expand_grid(
        t->x, &key, (uint64_t[]){blocks, count, 1}, (uint32_t[]){lanes_of(t), 1, 1}, 0,
        (plan_part[]){from, to, c->tiles, t->work, c->circle1, c->circle2, c->coarse, c->fine},
        (uint64_t[]){c->n1, c->n2, sign_of(t, inverse), bits_of(t, scale),
                     bits_of(t, inverse ? -scale : scale)});
}

/* A lane has a transform of one radix or two. */
static void expand_lanes(const transform *t, plan_part from, plan_part to, uint64_t count,
                         const int32_t *radices, const uint64_t *factors) {
    uint64_t lanes = lanes_of(t), groups = (count - 1) / lanes + 1;
    plan_kernel_key key = program(t, LIBRARY_FFT_SHORT, radices[0], radices[1], radices[1] ? 4 : 2,
                                  5);
    plan_expand_grid(t->x, &key, (uint64_t[]){least(groups, MOST_BLOCKS), 1, 1},
                     (uint32_t[]){(uint32_t)lanes, 1, 1}, 0,
                     (plan_part[]){from, to, t->work, t->rows},
                     (uint64_t[]){count, groups, factors[0], factors[1], factors[2]});
}

static void expand_columns(const transform *t, plan_part from, plan_part to, uint64_t count,
                           bool inverse, double scale) {
    if (t->x->failed) return;
    if (are_lanes(t, count)) {
        expand_lanes(t, from, to, count,
                     (int32_t[]){(int32_t)t->columns.n1, (int32_t)t->columns.n2},
                     (uint64_t[]){sign_of(t, inverse), bits_of(t, scale),
                                  bits_of(t, inverse ? -scale : scale)});
        return;
    }
    if (is_one_block(t)) {
        expand_step(t, from, to, count, inverse, scale, true, true);
        return;
    }
    expand_step(t, from, to, count, inverse, scale, true, false);
    expand_step(t, from, to, count, inverse, scale, false, true);
}

/* ---- powers of two up to 4,096, and radices ---- */

static bool is_by_columns(uint64_t m) { return m > (is_power(m) ? (uint64_t)WHOLE : MOST_RADIX); }

static void make_tables(transform *t) {
    if (t->m == 16) t->work = plan_scratch(t->x, 2 * lanes_of(t) * t->m, t->size);
    if (t->m <= 16) return;
    if (is_by_columns(t->m)) {
        make_columns(t);
        return;
    }
    make_rows(t);
    if (t->m <= SHORT) {
        t->work = plan_scratch(t->x, plan_times(MOST_BLOCKS * 2 * lanes_of(t), t->m), t->size);
        return;
    }
    t->circle = make_circle(t, t->m / W, t->m / W);
    t->work = plan_scratch(t->x, plan_times(2 * t->piece, t->m), t->size);
}

/* So few that lanes had little to do: a block for each. */
static void expand_few(const transform *t, plan_part from, plan_part to, uint64_t count,
                       const int32_t *radices, const uint64_t *factors) {
    bool sixteen = t->m == 16;
    plan_kernel_key one = sixteen ? program(t, LIBRARY_FFT_SIXTEEN, 0, 0, 3, 3)
                                  : program(t, LIBRARY_FFT_ONE, radices[0], 0, 2, 3),
                    few = program(t, LIBRARY_FFT_FEW, radices[0], radices[1], 4, 3);
    plan_expand_grid(t->x, radices[1] ? &few : &one, (uint64_t[]){count, 1, 1},
                     (uint32_t[]){radices[1] ? W_WIDE
                                  : sixteen  ? W_SIXTEEN
                                             : W,
                                  1, 1},
                     0, (plan_part[]){from, to, t->work, t->rows}, factors);
}

static void expand_short(const transform *t, plan_part from, plan_part to, uint64_t count,
                         bool inverse, double scale) {
    bool one = t->m <= 16;
    int32_t radices[2] = {one ? (int32_t)t->m : t->m == 128 ? 16 : 8, one ? 0 : t->m == 32 ? 4 : 8};
    uint64_t factors[3] = {sign_of(t, inverse), bits_of(t, scale),
                           bits_of(t, inverse ? -scale : scale)};
    if (count < lanes_of(t))
        expand_few(t, from, to, count, radices, factors);
    else
        expand_lanes(t, from, to, count, radices, factors);
}

static void expand_whole(const transform *t, plan_part from, plan_part to, uint64_t count,
                         bool inverse, double scale) {
    uint32_t radices[2] = {0};
    (void)find_radices(t->m, radices);
    plan_kernel_key key = program(t, LIBRARY_FFT_WHOLE, (int32_t)radices[0], (int32_t)radices[1], 5,
                                  3);
    plan_expand_grid(
        t->x, &key, (uint64_t[]){count, 1, 1}, (uint32_t[]){lanes_of(t), 1, 1}, 0,
        (plan_part[]){from, to, t->work, t->circle, t->rows},
        (uint64_t[]){sign_of(t, inverse), bits_of(t, scale), bits_of(t, inverse ? -scale : scale)});
}

static void expand_smooth(const transform *t, plan_part from, plan_part to, uint64_t count,
                          bool inverse, double scale) {
    if (is_by_columns(t->m))
        expand_columns(t, from, to, count, inverse, scale);
    else if (t->m <= SHORT)
        expand_short(t, from, to, count, inverse, scale);
    else
        expand_whole(t, from, to, count, inverse, scale);
}

/* ---- any length ---- */

/* What a transform of m numbers by passes costs. */
static uint64_t cost_of_length(const transform *t, uint64_t m) {
    uint32_t radices[2] = {0}, cost = COSTS[MOST_RADIX];
    columns c;
    if (is_by_columns(m)) return find_columns(t, m, &c);
    for (uint32_t count = find_radices(m, radices); count--;) cost += COSTS[radices[count]];
    return m / lanes_of(t) * cost * 8;
}

/* The length of the convolution's transforms, at least 2 n - 1: a power of two, or what costs less
 * of the lengths that are up to 3/8 longer than they must be. */
static uint64_t find_length(const transform *t) {
    uint64_t m = 1, shortest = 2 * t->n - 1, step = 1, best;
    while (m < shortest) m *= 2;
    if (m <= 2 * W * W) return m;
    while (step * STEPS < shortest) step *= 2;
    best = cost_of_length(t, m);
    for (uint64_t other = (shortest + step - 1) / step * step; other <= shortest + shortest / 8 * 3;
         other += step) {
        uint64_t cost = is_smooth(other) && !is_power(other) ? cost_of_length(t, other)
                                                             : UINT64_MAX;
        if (cost >= best) continue;
        best = cost;
        m = other;
    }
    return m;
}

static void make_filter(transform *t) {
    plan_kernel_key chirp = program(t, LIBRARY_FFT_CHIRP, 0, 0, 1, 1),
                    filter = program(t, LIBRARY_FFT_FILTER, 0, 0, 2, 2);
    uint64_t numbers = plan_times(2 * t->piece, t->m);
    t->chirp = plan_table(t->x, 2 * t->n, t->size);
    t->filter = plan_table(t->x, 2 * t->m, t->size);
    t->a = plan_scratch(t->x, numbers, t->size);
    t->b = plan_scratch(t->x, numbers, t->size);
    plan_expand_launch(t->x, &chirp, t->n, ELEMENTS, 0, &t->chirp, &t->n);
    plan_expand_launch(t->x, &filter, t->m, ELEMENTS, 0, (plan_part[]){t->chirp, t->a},
                       (uint64_t[]){t->n, t->m});
    expand_smooth(t, t->a, t->filter, 1, false, 1);
}

static void expand_any(const transform *t, plan_part from, plan_part to, uint64_t count,
                       bool inverse) {
    plan_kernel_key chirped = program(t, LIBRARY_FFT_CHIRPED, 0, 0, 3, 3),
                    convolved = program(t, LIBRARY_FFT_CONVOLVED, 0, 0, 2, 1),
                    unchirped = program(t, LIBRARY_FFT_UNCHIRPED, 0, 0, 3, 4);
    each_element(t, &chirped, t->m, count, (plan_part[]){from, t->chirp, t->a},
                 (uint64_t[]){t->n, t->m, sign_of(t, inverse)});
    expand_smooth(t, t->a, t->b, count, false, 1);
    each_element(t, &convolved, t->m, count, (plan_part[]){t->b, t->filter}, &t->m);
    expand_smooth(t, t->b, t->a, count, true, 1.0 / (double)t->m);
    each_element(t, &unchirped, t->n, count, (plan_part[]){t->a, t->chirp, to},
                 (uint64_t[]){t->n, t->m, bits_of(t, inverse ? t->over : 1),
                              bits_of(t, inverse ? -t->over : 1)});
}

static void expand_complex(const transform *t, plan_part from, plan_part to, uint64_t count,
                           bool inverse) {
    if (t->m == t->n)
        expand_smooth(t, from, to, count, inverse, inverse ? 1 / t->over : 1);
    else
        expand_any(t, from, to, count, inverse);
}

/* ---- the call ---- */

static void make_real(transform *t) {
    t->result = plan_scratch(t->x, plan_times(2 * t->piece, t->n), t->size);
    if (t->halved)
        t->roots = make_circle(t, t->n / 2 + 1, 2 * t->n);
    else
        t->full = plan_scratch(t->x, plan_times(2 * t->piece, t->n), t->size);
}

static transform make_transform(const plan_call *call, plan_expansion *x) {
    uint64_t n = plan_number(call, N, 0);
    bool real = plan_number(call, REAL, 0), halved = real && n % 2 == 0;
    transform t = {.x = x,
                   .type = (hg_type)call->type,
                   .size = hg_type_size_bytes((hg_type)call->type),
                   .n = halved ? n / 2 : n,
                   .over = (double)n,
                   .halved = halved};
    t.m = is_smooth(t.n) ? t.n : find_length(&t);
    t.piece = least(signals_of(call), t.m < PIECE ? PIECE / t.m : 1);
    x->once = true;
    make_tables(&t);
    if (t.m != t.n) make_filter(&t);
    if (real) make_real(&t);
    x->once = false;
    return t;
}

/* Those from `first` on of an array's transforms, of `numbers` real numbers each. */
static plan_part piece_of(const transform *t, plan_part all, uint64_t numbers, uint64_t first,
                          uint64_t count) {
    all.offset += first * numbers * t->size;
    all.bytes = count * numbers * t->size;
    return all;
}

/* 2 n real numbers, where they are read, are n complex ones already. */
static void expand_halved(const transform *t, plan_part from, plan_part to, uint64_t count,
                          bool inverse) {
    uint64_t roots = t->n / 2 + 1, groups = (roots - 1) / W + 1;
    plan_kernel_key key = program(t, inverse ? LIBRARY_FFT_PAIRS : LIBRARY_FFT_HALVES, roots < W, 0,
                                  3, 3);
    if (!inverse) expand_complex(t, from, t->result, count, false);
    plan_expand_grid(t->x, &key, (uint64_t[]){(groups - 1) / UNITS + 1, count, 1},
                     (uint32_t[]){W, 1, 1}, 0,
                     (plan_part[]){inverse ? from : t->result, t->roots, inverse ? t->result : to},
                     (uint64_t[]){t->n, roots, groups});
    if (inverse) expand_complex(t, t->result, to, count, true);
}

static void expand_real(const transform *t, plan_part from, plan_part to, uint64_t count,
                        bool inverse) {
    uint64_t half = t->n / 2 + 1;
    plan_kernel_key before = program(t, inverse ? LIBRARY_FFT_HERMITIAN : LIBRARY_FFT_COMPLEXES, 0,
                                     0, 2, inverse ? 2 : 1),
                    behind = program(t, inverse ? LIBRARY_FFT_REALS : LIBRARY_FFT_HALF, 0, 0, 2,
                                     inverse ? 1 : 2);
    each_element(t, &before, t->n, count, (plan_part[]){from, t->full}, (uint64_t[]){t->n, half});
    expand_complex(t, t->full, t->result, count, inverse);
    each_element(t, &behind, inverse ? t->n : half, count, (plan_part[]){t->result, to},
                 (uint64_t[]){t->n, half});
}

/* Signals of `numbers` real ones each, `parts` to an element, from an array where their elements
 * lie apart, or back to it. */
static void move_lines(const transform *t, plan_part from, plan_part to, uint64_t numbers,
                       uint64_t parts, uint64_t inner, uint64_t first, uint64_t count, bool back) {
    uint64_t n = numbers / parts;
    plan_kernel_key key = program(t, LIBRARY_FFT_LINES, (int32_t)parts, back, 2, 4);
    plan_expand_grid(t->x, &key, (uint64_t[]){(count - 1) / LINES + 1, (n - 1) / LINE_STEPS + 1, 1},
                     (uint32_t[]){LINES, 1, 1}, 0, (plan_part[]){from, to},
                     (uint64_t[]){n, inner, first, count});
}

static void expand(const plan_call *call, plan_expansion *x) {
    uint64_t signals = signals_of(call), n = plan_number(call, N, 0),
             inner = plan_number(call, INNER, 0);
    bool inverse = plan_number(call, INVERSE, 0), real = plan_number(call, REAL, 0);
    plan_part to = plan_whole(call, 0), from = plan_whole(call, 1);
    if (signals == 0) return;
    transform t = make_transform(call, x);
    uint64_t in = real && !inverse ? n
                  : real           ? n / 2 * 2 + 2
                                   : 2 * n,
             out = real && inverse ? n
                   : real          ? n / 2 * 2 + 2
                                   : 2 * n;
    bool apart = inner > 1;
    uint64_t in_parts = real && !inverse ? 1 : 2, out_parts = real && inverse ? 1 : 2;
    plan_part signal = apart ? plan_scratch(x, plan_times(t.piece, in), t.size) : from,
              made = apart ? plan_scratch(x, plan_times(t.piece, out), t.size) : to;
    for (uint64_t first = 0, count; first < signals && !x->failed; first += count) {
        count = least(t.piece, signals - first);
        plan_part source = piece_of(&t, signal, in, apart ? 0 : first, count),
                  target = piece_of(&t, made, out, apart ? 0 : first, count);
        if (apart) move_lines(&t, from, source, in, in_parts, inner, first, count, false);
        if (t.halved)
            expand_halved(&t, source, target, count, inverse);
        else if (real)
            expand_real(&t, source, target, count, inverse);
        else
            expand_complex(&t, source, target, count, inverse);
        if (apart) move_lines(&t, target, to, out, out_parts, inner, first, count, true);
    }
}

static plan_cost cost(const plan_call *call) {
    uint64_t n = plan_number(call, N, 0);
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(signals_of(call), n), 5 * (64 - hg_clz64(n)))};
}

const plan_collective plan_collective_fft = {.check = check,
                                             .ranges = ranges,
                                             .expand = expand,
                                             .cost = cost,
                                             .overlap = PLAN_OVERLAP_REFUSED};
