/* How exact the functions of the instruction set are: every result is compared with a fast
 * reference whose error is known, and what that cannot decide with MPFR. */
#ifndef HG_TESTS_ACCURACY_H
#define HG_TESTS_ACCURACY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpfr.h> /* last: its functions of uintmax_t are there only then */

enum { CHUNK = 65536, SUBJECTS = 4 };

typedef enum function_id {
#define ACCURACY(id, text, args, symmetry, b32, b64, low32, high32, low64, high64, c) FN_##id,
#include "functions.def"
#undef ACCURACY
    FN_COUNT
} function_id;

typedef struct function {
    function_id id;
    const char *name;
    int args;
    bool in_c;       /* C has a function of this name */
    bool odd;        /* f(-x) = -f(x) */
    double bound[2]; /* ULP; [wide] */
    double low[2], high[2];
} function;

extern const function FUNCTIONS[FN_COUNT];
const function *function_find(const char *name);

/* ---- numbers: bit patterns of f32 or f64 (wide) in 64 bits ---- */

double number_of(uint64_t bits, bool wide);
uint64_t bits_of_number(double x, bool wide);

/* ---- exact.c: MPFR ---- */

typedef struct exact {
    mpfr_t x, y, r, d;
} exact;
void exact_begin(exact *e);
void exact_end(exact *e);
/* Error of `got` in units of the last place of the format at the true value; as if the range went
 * on above the largest number, INFINITY for a NaN, an infinity, a finite number or a sign of zero
 * in the wrong place. */
double exact_error(exact *e, const function *f, bool wide, uint64_t x, uint64_t y, uint64_t got);
/* The true value of an f32 or two, rounded to f32. */
uint64_t exact_nearest(exact *e, const function *f, uint32_t x, uint32_t y);
/* The true value at any x and y, rounded to odd: then to any format of fewer than 52 bits rightly.
 */
double exact_odd(exact *e, const function *f, double x, double y);
/* Whether it is x/2 and a little more, towards positive infinity: next to 0 of gelu and swish. */
bool exact_is_half(const function *f, uint32_t x);
/* How far the fast reference is from the true value, in the same units. */
double exact_error_of(exact *e, const function *f, bool wide, uint64_t x, uint64_t y,
                      long double reference);

/* ---- filter.c: the fast reference ---- */

/* The largest difference between an error by the filter and the true one, in ULP of the format;
 * filter.c says why. */
#define FILTER_BUDGET(wide) ((wide) ? 0x1p-6 : 0x1p-13)
/* errors[i]: that of got[i] at x[i] (and y[i]); INFINITY where the exact way must decide. Returns
 * the largest. */
float filter_errors(const void *reference, const void *got, bool wide, size_t n, float *errors);
/* open[i]: 0 where got[i] (f32) is the reference rounded and so is all that is as near to it as
 * `relative` says, 2 where two numbers are, 1 where another one is. Whether any is not 0. */
bool filter_nearest(const double *reference, const uint32_t *got, double relative, size_t n,
                    uint32_t *open);
/* n results in double (f32) or long double (f64). */
void filter_reference(const function *f, bool wide, const void *x, const void *y, void *reference,
                      size_t n);
long double filter_result(const void *reference, bool wide, size_t i);

/* ---- subjects.c: who is measured ---- */

/* Of the library: a backend, its words of HOLOGRAM_PRETEND, the CPU level ("": the best). */
typedef struct library_choice {
    const char *backend, *pretend, *level;
    const char *jit;  /* hg_config.jit */
    const char *half; /* "f16", "bf16", or NULL */
} library_choice;

typedef struct subject subject;
/* The library, glibc, libmvec, SLEEF: NULL where it is not on this machine or has no such function.
 */
subject *subject_open(int which, const function *f, bool wide, const library_choice *choice);
const char *subject_name(int which);
/* At most CHUNK elements. False with a line on stderr when it cannot. */
bool subject_run(subject *s, const void *x, const void *y, void *out, size_t n);
void subject_close(subject *s);

/* ---- inputs.c ---- */

uint64_t random_next(uint64_t *state);
/* n arguments (pairs) of the chunk with that number; the same for everybody who asks with the same
 * number. */
void inputs_random(const function *f, bool wide, uint64_t chunk, void *x, void *y, size_t n);

/* ---- hard.c: results next to the middle of two numbers, zeros of sine and cosine ---- */

/* Up to room arguments of f64 in x; returns how many. */
size_t hard_inputs(const function *f, uint64_t *x, size_t room, uint64_t seed);

/* ---- halves.c ---- */

/* Functions, or one of them, of f16 and bf16: of one argument at all of them, of two at some pairs.
 * all: at every pair, of the part; of one argument what is wrong is listed. */
void check_halves(const function *only, const library_choice *library, bool all,
                  const uint64_t *part);

#endif
