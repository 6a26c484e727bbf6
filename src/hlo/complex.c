/* Operations on complex numbers, as lines on their two parts.
 * Must not know: tensors. */
#include "hlo/operations.h"
#include <string.h>

mlir_scalar mlir_complex_product(mlir_lower *w, const char *type, mlir_scalar a, mlir_scalar b) {
    mlir_scalar c = {.re = mlir_let(w, type, "%s * %s - %s * %s", a.re, b.re, a.im, b.im)};
    c.im = mlir_let(w, type, "%s * %s + %s * %s", a.re, b.im, a.im, b.re);
    return c;
}

/* Whether a number that is not below 0 is 0 or infinite. */
#define AT_END "%s * 2.0 == %s"

/* The divisor is scaled by its greater part: its square neither overflows nor vanishes. Of a
 * divisor that is 0 or infinite nothing else counts. */
static mlir_scalar quotient(mlir_lower *w, const char *type, mlir_scalar a, mlir_scalar b) {
    const char *scale = mlir_let(w, type, "max(abs(%s), abs(%s))", b.re, b.im);
    const char *x = mlir_let(w, type, "%s / %s", b.re, scale),
               *y = mlir_let(w, type, "%s / %s", b.im, scale),
               *norm = mlir_let(w, type, "%s * %s + %s * %s", x, x, y, y);
    mlir_scalar c = {.re = mlir_let(w, type, AT_END " ? %s / %s : (%s * %s + %s * %s) / %s / %s",
                                    scale, scale, a.re, scale, a.re, x, a.im, y, norm, scale)};
    c.im = mlir_let(w, type, AT_END " ? %s / %s : (%s * %s - %s * %s) / %s / %s", scale, scale,
                    a.im, scale, a.im, x, a.re, y, norm, scale);
    return c;
}

/* What complex numbers have: of (a, b) and (c, d) both parts. */
typedef struct complex_row {
    const char *name, *re, *im;
} complex_row;
/* Of a number just above the last whose exp is finite the product may still be. */
#define EXP(times) "exp($a) == inf ? exp($a / 2.0) * (exp($a / 2.0) * " times ") : exp($a) * " times
static const complex_row COMPLEX[] = {
    {"stablehlo.abs", "hypot($a, $b)", NULL},
    {"stablehlo.add", "$a + $c", "$b + $d"},
    {"stablehlo.cosine", "cos($a) * cosh($b)", "-(sin($a) * sinh($b))"},
    {"stablehlo.exponential", EXP("cos($b)"), "$b == 0.0 ? $b : " EXP("sin($b)")},
    {"stablehlo.exponential_minus_one",
     "exp($a) == inf ? exp($a / 2.0) * (exp($a / 2.0) * cos($b))"
     " : expm1($a) * cos($b) - sin($b / 2.0) * sin($b / 2.0) * 2.0",
     "$b == 0.0 ? $b : " EXP("sin($b)")},
    {"stablehlo.log", "log(hypot($a, $b))", "atan2($b, $a)"},
    {"stablehlo.log_plus_one",
     "max(abs($a), abs($b)) < 0.5 ? log1p($a * ($a + 2.0) + $b * $b) / 2.0"
     " : log(hypot($a + 1.0, $b))",
     "atan2($b, $a + 1.0)"},
    {"stablehlo.maximum", "$a > $c || ($a == $c && $b > $d) ? $a : $c",
     "$a > $c || ($a == $c && $b > $d) ? $b : $d"},
    {"stablehlo.minimum", "$a < $c || ($a == $c && $b < $d) ? $a : $c",
     "$a < $c || ($a == $c && $b < $d) ? $b : $d"},
    {"stablehlo.multiply", "$a * $c - $b * $d", "$a * $d + $b * $c"},
    {"stablehlo.negate", "-$a", "-$b"},
    {"stablehlo.sign", "$a == 0.0 && $b == 0.0 ? 0.0 : $a / hypot($a, $b)",
     "$a == 0.0 && $b == 0.0 ? 0.0 : $b / hypot($a, $b)"},
    {"stablehlo.sine", "sin($a) * cosh($b)", "cos($a) * sinh($b)"},
    {"stablehlo.subtract", "$a - $c", "$b - $d"},
    {"chlo.cosh", "cosh($a) * cos($b)", "sinh($a) * sin($b)"},
    {"chlo.sinh", "sinh($a) * cos($b)", "cosh($a) * sin($b)"},
    {"chlo.square", "$a * $a - $b * $b", "$a * $b + $b * $a"},
};

static mlir_scalar by_row(mlir_lower *w, const complex_row *row, const mlir_type *in, mlir_scalar a,
                          mlir_scalar b) {
    const mlir_scalar parts[] = {{.re = a.re}, {.re = a.im}, {.re = b.re}, {.re = b.im}};
    const char *type = mlir_type_name(in);
    mlir_scalar c = {.re = mlir_let(w, type, "%s", mlir_expand(w, row->re, in, in, parts)),
                     .im = "0"};
    if (row->im) c.im = mlir_let(w, type, "%s", mlir_expand(w, row->im, in, in, parts));
    return c;
}

static mlir_scalar by_name(mlir_lower *w, const char *name, const mlir_type *in, mlir_scalar a,
                           mlir_scalar b) {
    size_t i = 0;
    while (i < HG_COUNT_OF(COMPLEX) && strcmp(COMPLEX[i].name, name) != 0) i++;
    if (i < HG_COUNT_OF(COMPLEX)) return by_row(w, &COMPLEX[i], in, a, b);
    mlir_refuse(w, "not read for complex elements");
    return (mlir_scalar){"0", "0"};
}

/* The greater part of the root without a difference; the other one follows from it. Scaled, so that
 * no square and no sum overflows or vanishes. */
static mlir_scalar root(mlir_lower *w, const char *type, mlir_scalar a) {
    const char *great = mlir_let(w, type, "max(abs(%s), abs(%s)) > 1.0 ? 4.0 : 0.25", a.re, a.im),
               *x = mlir_let(w, type, "%s / %s / %s", a.re, great, great),
               *y = mlir_let(w, type, "%s / %s / %s", a.im, great, great),
               *half = mlir_let(w, type, "sqrt((hypot(%s, %s) + abs(%s)) / 2.0) * %s", x, y, x,
                                great),
               *size = mlir_let(w, type, "abs(%s)", a.im),
               *other = mlir_let(w, type, AT_END " || %s == 0.0 ? %s : %s / %s / 2.0", size, size,
                                 half, size, size, half);
    mlir_scalar c = {.re = mlir_let(w, type, "%s < 0.0 ? %s : %s", a.re, other, half)};
    const char *im = mlir_let(w, type, "%s < 0.0 ? %s : %s", a.re, half, other);
    c.im = mlir_let(w, type, "%s < 0.0 || 1.0 / %s < 0.0 ? -%s : %s", a.im, a.im, im, im);
    return c;
}

/* (x + i y) / (1 + sign i x y) */
static mlir_scalar tangent(mlir_lower *w, const char *type, const char *x, const char *y,
                           const char *sign) {
    x = mlir_let(w, type, "%s", x);
    y = mlir_let(w, type, "%s", y);
    mlir_scalar by = {mlir_let(w, type, "1.0"), mlir_let(w, type, "%s(%s * %s)", sign, x, y)};
    return quotient(w, type, (mlir_scalar){x, y}, by);
}

/* The operations that complex numbers have. */
mlir_scalar mlir_map_complex(mlir_lower *w, const char *name, const mlir_type *in,
                             const mlir_scalar *x) {
    const char *type = mlir_type_name(in);
    mlir_scalar a = x[0], b = x[1], one = {"1.0", "0.0"};
    if (!strcmp(name, "stablehlo.divide")) return quotient(w, type, a, b);
    if (!strcmp(name, "stablehlo.sqrt")) return root(w, type, a);
    if (!strcmp(name, "stablehlo.rsqrt")) return quotient(w, type, one, root(w, type, a));
    if (!strcmp(name, "stablehlo.tanh"))
        return tangent(w, type, mlir_text(w, "tanh(%s)", a.re), mlir_text(w, "tan(%s)", a.im), "");
    if (!strcmp(name, "stablehlo.tan") || !strcmp(name, "chlo.tan"))
        return tangent(w, type, mlir_text(w, "tan(%s)", a.re), mlir_text(w, "tanh(%s)", a.im), "-");
    if (!strcmp(name, "stablehlo.logistic")) {
        mlir_scalar e = by_name(w, "stablehlo.exponential", in,
                                by_name(w, "stablehlo.negate", in, a, a), a);
        return quotient(w, type, one, (mlir_scalar){mlir_let(w, type, "%s + 1.0", e.re), e.im});
    }
    if (!strcmp(name, "stablehlo.power")) { /* exp(b log(a)); of 0 it is 0, where b is so */
        mlir_scalar l = by_name(w, "stablehlo.log", in, a, a), c;
        c = by_name(w, "stablehlo.multiply", in, b, l);
        c = by_name(w, "stablehlo.exponential", in, c, c);
        const char *none = mlir_text(
            w, "%s == 0.0 && %s == 0.0 && (%s > 0.0 || (%s == 0.0 && %s == 0.0))", a.re, a.im, b.re,
            b.re, b.im);
        c.re = mlir_let(w, type, "%s ? (%s == 0.0 ? 1.0 : 0.0) : %s", none, b.re, c.re);
        c.im = mlir_let(w, type, "%s ? 0.0 : %s", none, c.im);
        return c;
    }
    return by_name(w, name, in, a, b);
}
