"""Kernels whose `for` goes to the ends of its type: rounds, values and what the variable holds behind the loop, beside Python's range().

    cases()     (name, kernel, lanes, values, expected), as private.py has them; a lane each start, stop and step
A loop that would run longer than MOST is left out."""
import numpy as np

from evaluate import DTYPE, WIDTH, bounds
from generate import assign, binary, call, element, let, lit, var
from private import array

MOST = 300
# How the loop stands there. simple: nothing reads the variable behind it; kept: something does; changed: the body gives it another value;
# bounds: the body changes what start, stop and step were made of
FORMS = "simple", "kept", "changed", "bounds"


def ends(kind):
    low, high = bounds(kind)
    near = {low, low + 1, low + 4, low + 99, high, high - 1, high - 4, high - 99, 0, 1, 5, 127, 128} | ({-1, -3} if low else set())
    return sorted(v for v in near if low <= v <= high)


def steps(kind):
    low, high = bounds(kind)
    return sorted(v for v in {1, -1, 2, -2, 3, -5, 7, 100, -100, high, high - 1, low} if v and low <= v <= high)


def wrap(value, kind):
    low, _ = bounds(kind)
    return (value - low) % 2 ** WIDTH[kind] + low


def rounds_of(kind, tuples, form):
    """Rounds, the sum of the values, the variable behind the loop."""
    rows = []
    for start, stop, step in tuples:
        values = range(start, stop, step)
        last = values[-1] if values else start
        rows.append((len(values), wrap(sum(values), kind), wrap(last * 3, kind) if form == "changed" and values else last))
    return rows


def kernel(kind, form, literal):
    step = lit(literal) if literal else var("by")
    body = [assign(var("count"), binary("add", var("count"), call("u32", lit(1)))), assign(var("total"), binary("add", var("total"), var("k")))]
    if form == "changed":
        body.append(assign(var("k"), binary("mul", var("k"), call(kind, lit(3)))))
    if form == "bounds":
        body += [assign(var(name), binary("add", var(name), call(kind, lit(5)))) for name in ("from", "to", "by")]
    loop = {"type": "for", "var": "k", "start": var("from"), "stop": var("to"), "step": step, "body": body}
    at = var("i")
    stores = [assign(element("rounds", at), var("count")), assign(element("sums", at), var("total"))]
    if form != "simple":
        stores.append(assign(element("last", at), var("k")))
    first = [let("i", call("get_global_id")), let("from", element("start", at)), let("to", element("stop", at)), let("by", element("step", at)),
             let("count", call("u32", lit(0))), let("total", call(kind, lit(0)))]
    types = {"start": kind, "stop": kind, "step": kind, "rounds": "u32", "sums": kind, "last": kind}
    params = [{"name": name, "type": array(of)} for name, of in types.items()]
    return {"version": "1.0", "kernel": {"name": "ranges", "params": params, "body": first + [loop] + stores}}


def case(kind, form, literal):
    low = bounds(kind)[0]
    chosen = [literal] if literal else steps(kind)
    tuples = [(a, z, s) for a in ends(kind) for z in ends(kind) for s in chosen if len(range(a, z, s)[:MOST + 1]) <= MOST]
    rows = rounds_of(kind, tuples, form)
    values = {name: np.array([t[i] if i < 2 or low <= t[i] else 0 for t in tuples], DTYPE[kind]) for i, name in enumerate(("start", "stop", "step"))}
    values.update(rounds=np.zeros(len(tuples), np.uint32), sums=np.zeros(len(tuples), DTYPE[kind]), last=np.zeros(len(tuples), DTYPE[kind]))
    expected = {"rounds": np.array([r[0] for r in rows], np.uint32), "sums": np.array([r[1] for r in rows], DTYPE[kind])}
    if form != "simple":
        expected["last"] = np.array([r[2] for r in rows], DTYPE[kind])
    return f"for of {kind}, {form}, step {literal or 'of the run'}", kernel(kind, form, literal), len(tuples), values, expected


def literals(kind):
    """Steps as literals: negative ones of unsigned types too, also below all their numbers. A document has none below -2^63."""
    low, high = bounds(kind)
    return sorted(v for v in {1, -1, 2, -2, 3, -5, 100, -100, high, -high} | ({low} if low else {-high - 1, -2 * high}) if v >= -2 ** 63)


def cases(forms=FORMS):
    rows = []
    for number, kind in enumerate(WIDTH):
        rows += [case(kind, form, 0) for form in forms]
        rows += [case(kind, forms[(number + i) % len(forms)], step) for i, step in enumerate(literals(kind))]
    return rows
