#!/usr/bin/env python3
"""Writes src/kir/define/coefficients.h: every number that the definitions of functions use.

    python3 tools/coefficients/generate.py > src/kir/define/coefficients.h      (needs mpmath)

Polynomials: Chebyshev interpolation of the smooth part (mpmath.chebyfit) at 60 digits, coefficients rounded to the format
one by one (of GELU, whose last bits these are: each before the next are found); the leading terms that must be exact (1, x, x^2/2) are never part of the fitted function. The comment behind each
gives the interval and the interpolation error. Splits of constants and the logarithm table follow the usual schemes:
Cody and Waite, "Software Manual for the Elementary Functions" (1980); Tang, "Table-driven implementation of the logarithm
function", ACM TOMS 16 (1990); Payne and Hanek, SIGNUM Newsletter 18 (1983).
"""
import struct
import sys
from mpmath import lu_solve, matrix, mp, mpf, asin, atan, atanh, cbrt, chebyfit, cos, cosh, erf, erfc, exp, floor, log, nint, pi, sin, sinh, sqrt, taylor

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


def fit(name, f, a, b, count, weight, bits, unit, comment):
    """count coefficients, constant first, of least |weight(x) (polynomial - f(x))|, which is told in units. Each is rounded before the next are found (by iterated
    least squares at Chebyshev nodes), so that these make up for it."""
    nodes = [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * i + 1) / (8 * count)) for i in range(4 * count)]
    c = []

    def left(x):
        return f(x) - sum(ci * x ** i for i, ci in enumerate(c))
    for k in range(count):
        want, least = [left(x) for x in nodes], None
        stress = [mpf(1)] * len(nodes)
        for turn in range(12 if k <= 6 else 1):
            rows = matrix(len(nodes), count - k)
            wanted = matrix(len(nodes), 1)
            for i, x in enumerate(nodes):
                for j in range(k, count):
                    rows[i, j - k] = weight(x) * stress[i] * x ** j
                wanted[i] = weight(x) * stress[i] * want[i]
            found = lu_solve(rows, wanted)
            errors = [abs(weight(x) * (want[i] - sum(found[j] * x ** (j + k) for j in range(count - k)))) for i, x in enumerate(nodes)]
            if least is None or max(errors) < least[0]:
                least = (max(errors), found[0])
            mean = sum(errors) / len(errors)
            stress = [s * sqrt(e / mean + mpf("0.02")) for s, e in zip(stress, errors)]
            stress = [s / max(stress) for s in stress]
        c.append(round_to(least[1], bits))
    worst = max(abs(weight(x) * left(x)) for x in (a + (b - a) * i / 300 for i in range(301)))
    emit(name, c, "%s, |error| %s %s" % (comment, mp.nstr(worst / unit[0], 3), unit[1]))


def gelu_tables():
    """Of F32: the distribution's tail P(X < -a) is 2^-n e^(-(a^2 + k a + p)/2), p a small remainder of its logarithm. Near: n = 1, p = a times a polynomial in
    a - middle, right at 0 by that; far: n = 3, p a polynomial in a - middle. k takes most of the slope."""
    def decay(a):
        return -2 * log(erfc(a / sqrt(mpf(2))) / 2 * exp(a * a / 2))
    unit, end = (mpf(2) ** -23, "* 2^-24 of the tail"), mpf(GELU_END)
    k, middle = mpf(GELU_NEAR[0]), mpf(GELU_NEAR[1])
    slope = guarded(lambda a: (decay(a) - 2 * log(mpf(2))) / a, mpf("1e-12"), lambda a: 4 / sqrt(2 * pi))
    fit("gelu_near_f32", lambda h: slope(h + middle) - k, -middle, end - middle, 12, lambda h: h + middle, 24, unit,
        "p/a in a - %s, k = %s, 0 <= a <= %s" % (GELU_NEAR[1], GELU_NEAR[0], GELU_END))
    k, middle = mpf(GELU_FAR[0]), mpf(GELU_FAR[1])
    fit("gelu_far_f32", lambda h: decay(h + middle) - k * (h + middle) - 6 * log(mpf(2)), end - middle, mpf("14.75") - middle, 11, lambda h: mpf(1), 24, unit,
        "p in a - %s, k = %s, %s <= a <= 14.75" % (GELU_FAR[1], GELU_FAR[0], GELU_END))
    reach = log(mpf(2)) * mpf("1.002")
    fit("gelu_e_f32", guarded(lambda r: (exp(-r / 2) - 1) / r, mpf("1e-8"), lambda r: -mpf(1) / 2 + r / 8 - r * r / 48), -reach, reach, 6, lambda r: r, 24,
        (mpf(2) ** -24, "* 2^-24"), "(e^(-r/2) - 1)/r, |r| <= ln 2")
    emit("gelu_ln4_f32", split(log(mpf(4)), [15, 24]), "ln 4 in parts; n times the first is exact")
    emit("gelu_log4e_f32", [round_to(1 / log(mpf(4)), 24)], "1/ln 4")
    emit("gelu_plan_f32", [end] + [mpf(x) for x in GELU_NEAR + GELU_FAR], "where far begins; k and the middle of near, and of far")


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
    poly("near_tail", tail, mpf(-1), (most - k) / (most + k), 22, 53, "(a+k) e^(a^2/2) Phi(-a) in u = (a-k)/(a+k), k = %s, 0 <= a <= 14.75" % TAIL_K)


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
    for s, bits, ne in (("f32", 24, 6), ("f64", 53, 11)):
        f = guarded(lambda x: (exp(x) - 1 - x) / x ** 2, mpf("1e-6"), series(exp, 2))
        poly("exp_q_" + s, f, -half_ln2, half_ln2, ne, bits, "(e^r - 1 - r)/r^2, |r| <= ln2/2")
    emit("ln2_f32", split(log(2), [15, 15, 24]), "ln 2 in parts; n times the first two is exact")
    emit("ln2_f64", split(log(2), [41, 41, 53]), "ln 2 in parts; n times the first two is exact")
    for s, bits in (("f32", 24), ("f64", 53)):
        emit("ln2_near_" + s, split_near(log(2), bits), "ln 2, high and low")
        emit("log2e_" + s, split_near(1 / log(2), bits), "1/ln 2, high and low")
        if s == "f32":
            emit("log2e_halves_f32", split(1 / log(2), [12, 24]), "1/ln 2, its leading 12 bits and the next")
        emit("log10e_" + s, split_near(1 / log(10), bits), "1/ln 10, high and low")
        emit("log10_2_" + s, split_near(log(2) / log(10), bits), "log10(2), high and low")

    one = guarded(lambda f: (log(1 + f) - f + f ** 2 / 2) / f ** 3, mpf("1e-6"), series(lambda f: log(1 + f), 3))
    poly("log_p_f32", one, sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 9, 24, "(log(1+f) - f + f^2/2)/f^3 on [sqrt(1/2)-1, sqrt(2)-1]")
    w = log_table("log_table_f32", 24, 5, 0x3F330000, 23, 10)
    poly("log_t_f32", one, -w, w, 5, 24, "the same on the table's intervals")
    w = log_table("log_table_f64", 53, 7, 0x3FE6900000000000, 52, 12)
    poly("log_t_f64", one, -w, w, 7, 53, "the same on the table's intervals")

    q = (pi / 4 * mpf("1.0005")) ** 2
    for s, bits, ns, nc in (("f32", 24, 4, 3), ("f64", 53, 7, 6)):
        fs = guarded(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: -mpf(1) / 6 + z / 120 - z * z / 5040)
        fc = guarded(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, mpf("1e-8"), lambda z: mpf(1) / 24 - z / 720 + z * z / 40320)
        poly("sin_s_" + s, fs, mpf(0), q, ns, bits, "(sin(r)/r - 1)/r^2 in z = r^2, |r| <= pi/4")
        poly("cos_c_" + s, fc, mpf(0), q, nc, bits, "(cos(r) - 1 + z/2)/z^2 in z = r^2, |r| <= pi/4")
    emit("half_pi_f32", split_near(pi / 2, 24, 3), "pi/2 in three floats")
    emit("half_pi_halves_f32", split(round_to(pi / 2, 24), [12, 24]), "the first of them in halves")
    emit("half_pi_f64", split(pi / 2, [32, 32, 32, 53]), "pi/2 in parts; k < 2^21 times the first three is exact")
    emit("half_pi_dw_f64", split_near(pi / 2, 53), "pi/2, high and low")
    for s, bits in (("f32", 24), ("f64", 53)):
        emit("two_over_pi_" + s, [round_to(2 / pi, bits)], "2/pi")
        emit("pi_" + s, split_near(pi, bits), "pi, high and low")
        emit("quarter_pi_" + s, split_near(pi / 4, bits), "pi/4, high and low")

    t = (sqrt(mpf(2)) - 1) * mpf("1.0005")
    for s, bits, n in (("f32", 24, 5), ("f64", 53, 12)):
        fa = guarded(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: -mpf(1) / 3 + z / 5 - z * z / 7)
        poly("atan_a_" + s, fa, mpf(0), t * t, n, bits, "(atan(t)/t - 1)/t^2 in t^2, |t| <= tan(pi/8)")

    for s, bits, n, ny in (("f32", 24, 6, 4), ("f64", 53, 13, 6)):
        fa = guarded(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf("1e-8"), lambda z: mpf(1) / 6 + z * 3 / 40 + z * z * 5 / 112)
        poly("asin_p_" + s, fa, mpf(0), mpf("0.25"), n, bits, "(asin(t)/t - 1)/t^2 in t^2, |t| <= 1/2")
        poly("cbrt_y_" + s, lambda m: 1 / cbrt(m), mpf(1), mpf(2), ny, bits, "m^(-1/3) on [1, 2]")
        emit("cbrt_root_" + s, [round_to(1 / cbrt(mpf(i)), bits) for i in (2, 4)], "2^(-1/3), 4^(-1/3)")
        emit("sqrt2_" + s, split_near(sqrt(mpf(2)), bits), "sqrt 2, high and low")

    for s, bits, n in (("f32", 24, 6), ("f64", 53, 12)):
        fe = guarded(lambda z: erf(sqrt(z)) / sqrt(z) - 1, mpf("1e-8"), lambda z: 2 / sqrt(pi) * (1 - z / 3 + z * z / 10) - 1)
        poly("erf_small_" + s, fe, mpf(0), mpf("0.875") ** 2, n, bits, "erf(x)/x - 1 in x^2, |x| <= 0.875")
    k = mpf(TAIL_K)
    for s, bits, n, most in (("f32", 24, TAIL_N[0], 15), ("f64", 53, TAIL_N[1], 39)):
        def tail(u):
            a = k * (1 + u) / (1 - u)
            return (a + k) * erfc(a / sqrt(mpf(2))) / 2 * exp(a * a / 2)
        poly("tail_s_" + s, tail, mpf(-1), (most - k) / (most + k), n, bits,
             "(a+k) e^(a^2/2) Phi(-a) in u = (a-k)/(a+k), k = %s, 0 <= a <= %d" % (TAIL_K, most), low=2)
    gelu_tables()

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
TAIL_N = (11, 24)
GELU_END, GELU_NEAR, GELU_FAR = "5.375", ("0.75", "3.5"), ("0.1875", "9")

if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "tail":  # how the error depends on k and the number of coefficients
        for kk in ("2", "3", "4", "5"):
            k = mpf(kk)
            for most, n in ((15, 10), (15, 12), (39, 20), (39, 23)):
                def tail(u, k=k):
                    a = k * (1 + u) / (1 - u)
                    return (a + k) * erfc(a / sqrt(mpf(2))) / 2 * exp(a * a / 2)
                print(kk, most, n, mp.nstr(chebyfit(tail, [mpf(-1), (most - k) / (most + k)], n, error=True)[1], 3))
    else:
        main()
