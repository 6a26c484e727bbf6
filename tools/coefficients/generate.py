#!/usr/bin/env python3
"""Writes src/kir/define/coefficients.h: every number that the definitions of functions use.

    python3 tools/coefficients/generate.py > src/kir/define/coefficients.h      (needs mpmath)

Polynomials: Chebyshev interpolation of the smooth part (mpmath.chebyfit) at 60 digits, coefficients rounded to the format
one by one; the leading terms that must be exact (1, x, x^2/2) are never part of the fitted function. The comment behind each
gives the interval and the interpolation error. Splits of constants and the logarithm table follow the usual schemes:
Cody and Waite, "Software Manual for the Elementary Functions" (1980); Tang, "Table-driven implementation of the logarithm
function", ACM TOMS 16 (1990); Payne and Hanek, SIGNUM Newsletter 18 (1983).
"""
import struct
import sys
from mpmath import (asin, atan, atanh, cbrt, chebyfit, cos, cosh, erf, erfc, exp, factorial, floor, log, lu_solve, matrix, mp, mpf, nint, pi,
                    polyval, sin, sinh, sqrt, taylor)

mp.dps = 60


def round_to(x, bits):
    """x to the nearest float of that many bits (no exponent limits), ties to even."""
    if x == 0:
        return mpf(0)
    with mp.workprec(bits):
        return +mpf(x)


def hexfloat(x):
    d = float(x)
    assert mpf(d) == x, x
    return d.hex()


def emit(name, values, comment):
    print("/* %s */" % comment)
    print("static const double %s[] = {" % name)
    line = "   "
    for v in values:
        text = " %s," % hexfloat(v)
        if len(line) + len(text) > 130:
            print(line)
            line = "   "
        line += text
    print(line)
    print("};")


def poly(name, f, a, b, count, bits, comment, low=0):
    """count coefficients, constant first; of the first `low` also what rounding left out."""
    c, err = chebyfit(f, [a, b], count, error=True)
    emit(name, [round_to(x, bits) for x in reversed(c)], "%s, |error| %s" % (comment, mp.nstr(err, 3)))
    if low:
        emit(name.replace("_f", "_low_f"), [round_to(x - round_to(x, bits), bits) for x in c[::-1][:low]], "what the first ones were rounded by")


def weighted(f, weight, most, count):
    """Coefficients of the polynomial whose largest |f - p| weight on [0, most] is least, and that error (Remez)."""
    at = [most / 2 * (1 - cos(pi * i / count)) for i in range(count + 1)]
    grid = [most * (mpf(i) / 2000) ** 2 for i in range(2001)]
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]
    while True:
        rows = [[x ** j for j in range(count)] + [(-1) ** i / weight(x)] for i, x in enumerate(at)]
        c = list(lu_solve(matrix(rows), matrix([f(x) for x in at])))[:count]
        errors = [(v - polyval(c[::-1], x)) * w for x, v, w in zip(grid, values, weights)]
        peaks = [0]  # the largest error between two changes of its sign
        for i, e in enumerate(errors):
            if e * errors[peaks[-1]] < 0:
                peaks.append(i)
            elif abs(e) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        while len(peaks) > count + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        most_error = max(map(abs, errors))
        if len(peaks) <= count or most_error < mpf("1.05") * min(abs(errors[i]) for i in peaks):
            return c, most_error
        at = [grid[i] for i in peaks]


def nearest_tables():
    """Of F32 functions that are computed in F64 and rounded once (kir/define/nearest.c)."""
    s = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.0005")
    f = guarded(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, mpf("1e-8"), lambda z: mpf(2) / 3 + z * 2 / 5 + z * z * 2 / 7)
    poly("near_log", f, mpf(0), s, 8, 53, "(2 atanh(s)/s - 2)/s^2 in s^2, |s| <= (sqrt 2 - 1)/(sqrt 2 + 1)")
    q = (pi / 2) ** 2 * mpf("1.0005")
    f = guarded(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: -mpf(1) / 6 + z / 120 - z * z / 5040)
    emit("near_pi", split(pi, [32, 53]), "pi in parts; n < 2^20 times the first is exact")
    emit("near_half_pi", split(pi / 2, [32, 53]), "half of them")
    emit("near_per_pi", [round_to(1 / pi, 53)], "1/pi")
    poly("near_sin", f, mpf(0), q, 8, 53, "(sin(r)/r - 1)/r^2 in z = r^2, |r| <= pi/2")
    half = (log(mpf(2)) / 2 * mpf("1.001")) ** 2
    f = guarded(lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: mpf(1) / 6 + z / 120 + z * z / 5040)
    poly("near_sinh", f, mpf(0), half, 5, 53, "(sinh(r)/r - 1)/r^2 in z = r^2, |r| <= ln2/2")
    f = guarded(lambda z: (cosh(sqrt(z)) - 1) / z, mpf("1e-8"), lambda z: mpf(1) / 2 + z / 24 + z * z / 720)
    poly("near_cosh", f, mpf(0), half, 6, 53, "(cosh(r) - 1)/r^2 in z = r^2, |r| <= ln2/2")
    k, most = mpf(TAIL_K), mpf("14.75")

    def tail(u):
        a = k * (1 + u) / (1 - u)
        return (a + k) * erfc(a / sqrt(mpf(2))) / 2 * exp(a * a / 2)
    emit("log1p_twice", [v for i in range(15) for v in split_near(mpf((-1) ** i) / (i + 1), 53)], "log(1+f)/f, high and low; |f| <= 0.004")
    emit("exp_twice", [v for i in range(24) for v in split_near(1 / factorial(i), 53)], "e^r, high and low, |r| <= ln2/2")
    emit("atan_twice", [v for i in range(1, 42) for v in split_near(mpf((-1) ** i) / (2 * i + 1), 53)], "(atan(t)/t - 1)/t^2 in t^2, high and low, |t| <= tan(pi/8)")
    poly("near_tail", tail, mpf(-1), (most - k) / (most + k), 22, 53, "(a+k) e^(a^2/2) Phi(-a) in u = (a-k)/(a+k), k = %s, 0 <= a <= 14.75" % TAIL_K)
    f = guarded(lambda a: log(erfc(a)) / a, mpf("1e-20"), lambda a: -2 / sqrt(pi) - 2 * a / pi)
    c, err = weighted(f, guarded(lambda a: a * erfc(a) / erf(a), mpf("1e-20"), lambda a: sqrt(pi) / 2), mpf("3.9375"), 23)
    emit("near_erf", [round_to(x, 53) for x in c], "log(1 - erf(a))/a, 0 <= a <= 3.9375, |error| of erf %s" % mp.nstr(err, 3))


def split(x, bits):
    """x as a sum of floats of these widths, each the leading bits of what is left (truncated, so all have one sign)."""
    out = []
    for i, width in enumerate(bits):
        if i + 1 < len(bits):
            e = floor(log(abs(x), 2)) + 1
            part = floor(x * mpf(2) ** (width - e)) / mpf(2) ** (width - e)
        else:
            part = round_to(x, width)
        out.append(part)
        x -= part
    return out


def guarded(f, at, value_near):
    """f with a Taylor series where its formula cancels."""
    return lambda x: value_near(x) if abs(x) < at else f(x)


def series(f, skip, terms=40):
    """(f(x) - first `skip` Taylor terms) / x^skip, by its series: for |x| < 1e-6 a few terms are enough."""
    c = taylor(f, 0, skip + 8)[skip:]
    return lambda x: sum(k * x ** i for i, k in enumerate(c))


def log_table(name, bits, log_n, offset, fraction, r_bits):
    """Rows r, -log(r) high, low: r is about 1/c for the middle c of each interval, exactly 1 around 1."""
    n = 1 << log_n
    rows = []
    worst = mpf(0)

    def value(u):
        return mpf(struct.unpack("<f", struct.pack("<I", u))[0] if bits == 24 else struct.unpack("<d", struct.pack("<Q", u))[0])

    for i in range(n):
        lo, hi = value(offset + (i << (fraction - log_n))), value(offset + ((i + 1) << (fraction - log_n)))
        r = mpf(1) if lo < 1 < hi else nint(2 / (lo + hi) * 2 ** r_bits) / 2 ** r_bits
        worst = max(worst, abs(lo * r - 1), abs(hi * r - 1))
        h = round_to(-log(r), bits)
        rows += [(r, h, round_to(-log(r) - h, bits))]
    emit(name, [v for row in rows for v in row], "rows r, -log(r) high, low; |z r - 1| <= %s" % mp.nstr(worst, 4))
    return worst


def main():
    print("/* Generated by tools/coefficients/generate.py, which names the sources; do not edit. */")
    print("#ifndef HG_KIR_DEFINE_COEFFICIENTS_H\n#define HG_KIR_DEFINE_COEFFICIENTS_H\n\n#include <stdint.h>\n")
    half_ln2 = log(2) / 2 * mpf("1.001")
    f = guarded(lambda x: (exp(x) - 1 - x) / x ** 2, mpf("1e-6"), series(exp, 2))
    poly("exp_q_f64", f, -half_ln2, half_ln2, 11, 53, "(e^r - 1 - r)/r^2, |r| <= ln2/2")
    emit("ln2_f64", split(log(2), [41, 41, 53]), "ln 2 in parts; n times the first two is exact")
    emit("log2e_f64", split_near(1 / log(2), 53), "1/ln 2, high and low")
    emit("ln2_near_f64", split_near(log(2), 53), "ln 2, high and low")
    emit("log10e_f64", split_near(1 / log(10), 53), "1/ln 10, high and low")
    emit("log10_2_f64", split_near(log(2) / log(10), 53), "log10(2), high and low")
    emit("near_log10_2", split(log(2) / log(10), [40, 53]), "log10(2) in parts; n < 2^13 times the first is exact")
    emit("quarter_log10_2_f64", split(log(2) / log(10) / 4, [40, 40, 53]), "log10(2)/4 in parts; n < 2^13 times the first two is exact")
    emit("log2_10_f64", [round_to(log(10) / log(2), 53)], "log2(10)")
    emit("ln10_f64", split_near(log(10), 53), "ln 10, high and low")
    emit("quarter_ln2_f64", split(log(2) / 4, [40, 40, 53]), "ln(2)/4 in parts; n < 2^13 times the first two is exact")
    emit("quarter_power_f64", [v for j in range(1, 4) for v in split_near(mpf(2) ** (mpf(j) / 4), 53)], "2^(j/4), j = 1, 2, 3, high and low")
    emit("sin_pi_f64", [v for j in range(33) for v in split_near(sin(pi * j / 64) if j < 32 else mpf(1), 53)], "sin(pi j/64), j = 0, ..., 32, high and low")

    one = guarded(lambda f: (log(1 + f) - f + f ** 2 / 2) / f ** 3, mpf("1e-6"), series(lambda f: log(1 + f), 3))
    w = log_table("log_table_f64", 53, 7, 0x3FE6900000000000, 52, 12)
    poly("log_t_f64", one, -w, w, 7, 53, "(log(1+f) - f + f^2/2)/f^3 on the table's intervals")

    q = (pi / 4 * mpf("1.0005")) ** 2
    fs = guarded(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: -mpf(1) / 6 + z / 120 - z * z / 5040)
    fc = guarded(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, mpf("1e-8"), lambda z: mpf(1) / 24 - z / 720 + z * z / 40320)
    poly("sin_s_f64", fs, mpf(0), q, 7, 53, "(sin(r)/r - 1)/r^2 in z = r^2, |r| <= pi/4")
    poly("cos_c_f64", fc, mpf(0), q, 6, 53, "(cos(r) - 1 + z/2)/z^2 in z = r^2, |r| <= pi/4")
    emit("pi_64_f64", split(pi / 64, [48, 48, 53]), "pi/64 in parts; k <= 16 times the first two is exact")
    emit("half_pi_f64", split(pi / 2, [32, 32, 32, 53]), "pi/2 in parts; k < 2^21 times the first three is exact")
    emit("half_pi_dw_f64", split_near(pi / 2, 53), "pi/2, high and low")
    emit("two_over_pi_f64", [round_to(2 / pi, 53)], "2/pi")
    emit("pi_f64", split_near(pi, 53), "pi, high and low")
    emit("quarter_pi_f64", split_near(pi / 4, 53), "pi/4, high and low")

    t = (sqrt(mpf(2)) - 1) * mpf("1.0005")
    fa = guarded(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: -mpf(1) / 3 + z / 5 - z * z / 7)
    poly("atan_a_f64", fa, mpf(0), t * t, 12, 53, "(atan(t)/t - 1)/t^2 in t^2, |t| <= tan(pi/8)", low=3)

    fa = guarded(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: mpf(1) / 6 + z * 3 / 40 + z * z * 5 / 112)
    poly("asin_p_f64", fa, mpf(0), mpf("0.25"), 16, 53, "(asin(t)/t - 1)/t^2 in t^2, |t| <= 1/2", low=4)
    poly("near_asin", fa, mpf(0), mpf("0.25"), 13, 53, "the same")
    poly("cbrt_y_f64", lambda m: 1 / cbrt(m), mpf(1), mpf(2), 6, 53, "m^(-1/3) on [1, 2]")
    emit("cbrt_root_f64", [round_to(1 / cbrt(mpf(i)), 53) for i in (2, 4)], "2^(-1/3), 4^(-1/3)")
    emit("sqrt2_f64", split_near(sqrt(mpf(2)), 53), "sqrt 2, high and low")

    fe = guarded(lambda z: erf(sqrt(z)) / sqrt(z) - 1, mpf("1e-8"), lambda z: 2 / sqrt(pi) * (1 - z / 3 + z * z / 10) - 1)
    poly("erf_small_f64", fe, mpf(0), mpf("0.875") ** 2, 12, 53, "erf(x)/x - 1 in x^2, |x| <= 0.875", low=4)
    k, most = mpf(TAIL_K), 39

    def tail(u):
        a = k * (1 + u) / (1 - u)
        return (a + k) * erfc(a / sqrt(mpf(2))) / 2 * exp(a * a / 2)
    poly("tail_s_f64", tail, mpf(-1), (most - k) / (most + k), TAIL_N, 53,
         "(a+k) e^(a^2/2) Phi(-a) in u = (a-k)/(a+k), k = %s, 0 <= a <= %d" % (TAIL_K, most), low=5)

    nearest_tables()

    words = 1 + (1024 + 128 + 64) // 32 + 4
    with mp.workprec(32 * words + 64):
        bits = int(floor(2 / pi * mpf(2) ** (32 * words)))
    print("/* Two zero words, then 2/pi, 32 bits a word, the most significant first. */")
    print("static const uint32_t two_over_pi_words[] = {\n    0, 0,")
    for i in range(0, words, 8):
        print("    " + " ".join("0x%08X," % (bits >> 32 * (words - 1 - j) & 0xFFFFFFFF) for j in range(i, min(i + 8, words))))
    print("};\n")
    print("#endif")


def split_near(x, bits, parts=2):
    out = []
    for _ in range(parts):
        p = round_to(x, bits)
        out.append(p)
        x -= p
    return out


TAIL_K = "4"
TAIL_N = 24

if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "tail":  # how the error depends on k and the number of coefficients
        for kk in ("2", "3", "4", "5"):
            k = mpf(kk)
            for most, n in ((39, 20), (39, 23)):
                def tail(u, k=k):
                    a = k * (1 + u) / (1 - u)
                    return (a + k) * erfc(a / sqrt(mpf(2))) / 2 * exp(a * a / 2)
                print(kk, most, n, mp.nstr(chebyfit(tail, [mpf(-1), (most - k) / (most + k)], n, error=True)[1], 3))
    else:
        main()
