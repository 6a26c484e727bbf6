"""Families of programs whose size grows with one number. Each is a shape of control flow, or of steps, for which some stage could
take more than linear time: what it is a trap for stands at the function. A family is a function from n to text.

    tests/scaling/families.py FAMILY N      prints one

Run with x[0] = 1 the lanes of each take a number of steps in proportion to its text, so that `run` can be measured too.
"""
import sys

HEAD = """.atlas 1
.program scaling
.param r1 x buffer u32 inout [n]
.param r4 n u64
.lanes n
    mov_imm.u32 r2, 2
    shl.u64 r0, r255, r2
    ldg.u32 r12, [r1 + r0]
    mov_imm.u32 r10, 1
    mov_imm.u32 r11, 5
    setltu.u32 p0, r12, r11
    setltu.u32 p1, r11, r12
"""
TAIL = "    stg.u32 [r1 + r0], r12\n"
COUNT = "    add.u32 r12, r12, r10\n"
BELOW = "    setltu.u32 p2, r12, r11\n"

FAMILIES = {}
REFUSED = {"shared_tail", "reductions"}  # above some size, with S05


def family(make):
    FAMILIES[make.__name__] = make
    return make


def each(n, text):
    return "".join(text(i) for i in range(n))


def back(n, text):
    return "".join(text(i) for i in reversed(range(n)))


@family
def straight(n):
    """No control flow: what every stage takes at least."""
    return HEAD + each(n, lambda i: "    add.u32 r%d, r%d, r10\n" % (13 + i % 200, 13 + (i - 1) % 200 if i else 12)) + "    mov.u32 r12, r%d\n" % (13 + (n - 1) % 200) + TAIL


@family
def diamonds(n):
    """One conditional after the other."""
    return HEAD + each(n, lambda i: "    bra.p%d @d%d\n%sd%d:\n" % (i % 2, i, COUNT, i)) + TAIL


@family
def nested_ifs(n):
    """Conditionals inside each other: depth of texts, and of anything that recurses."""
    return HEAD + each(n, lambda i: "    bra.p1 @e%d\n%s" % (i, COUNT)) + back(n, lambda i: "e%d:\n%s" % (i, COUNT)) + TAIL


@family
def nested_loops(n):
    """Loops inside each other: what is worked out for a loop once for each loop around it."""
    return HEAD + each(n, lambda i: "h%d:\n%s" % (i, COUNT)) + back(n, lambda i: BELOW + "    bra.p2 @h%d\n" % i) + TAIL


@family
def loops(n):
    """Loops one after another: what walks the whole function for each."""
    return HEAD + each(n, lambda i: "h%d:\n%s%s    bra.p2 @h%d\n" % (i, COUNT, BELOW, i)) + TAIL


@family
def counted_loops(n):
    """The same with counters that are proven to end: whoever looks for other sets of a counter."""
    return HEAD + each(n, lambda i: "    mov_imm.u32 r20, 2\nh%d:\n%s    loop r20, @h%d\n" % (i, COUNT, i)) + TAIL


@family
def two_entries(n):
    """Loops that are entered in two places, one after another."""
    return HEAD + each(n, lambda i: "    bra.p0 @b%d\na%d:\n%sb%d:\n%s    bra.p2 @a%d\n" % (i, i, COUNT, i, COUNT + BELOW, i)) + TAIL


@family
def nested_two_entries(n):
    """The same inside each other."""
    down = each(n, lambda i: "    bra.p0 @b%d\na%d:\n%sb%d:\n%s" % (i, i, COUNT, i, COUNT))
    return HEAD + down + back(n, lambda i: BELOW + "    bra.p2 @a%d\n    bra.p1 @b%d\n" % (i, i)) + TAIL


@family
def breaks(n):
    """Nested loops that leave loops further out."""
    down = each(n, lambda i: "h%d:\n%s%s    bra.p1 @x%d\n" % (i, COUNT, BELOW, i // 2))
    return HEAD + down + back(n, lambda i: "%s    bra.p2 @h%d\nx%d:\n%s" % (BELOW, i, i, COUNT)) + TAIL


@family
def exits(n):
    """Many branches to one place far behind."""
    return HEAD + each(n, lambda i: "    setltu.u32 p2, r12, r10\n    bra.p2 @end\n" + COUNT) + "end:\n" + TAIL


@family
def switch(n):
    """Many comparisons, many targets, one end."""
    tests = each(n, lambda i: "    mov_imm.u32 r13, %d\n    seteq.u32 p2, r12, r13\n    bra.p2 @c%d\n" % (i, i))
    return HEAD + tests + "    bra @end\n" + each(n, lambda i: "c%d:\n%s    bra @end\n" % (i, COUNT)) + "end:\n" + TAIL


@family
def fall_switch(n):
    """Many jumps into a chain of code."""
    tests = each(n, lambda i: "    mov_imm.u32 r13, %d\n    seteq.u32 p2, r12, r13\n    bra.p2 @c%d\n" % (i, i))
    return HEAD + tests + each(n, lambda i: "c%d:\n%s" % (i, COUNT)) + TAIL


@family
def machine(n):
    """One loop around many states that go to each other."""
    tests = each(n, lambda i: "    mov_imm.u32 r13, %d\n    seteq.u32 p2, r12, r13\n    bra.p2 @c%d\n" % (i, i))
    states = each(n, lambda i: "c%d:\n    add.u32 r12, r12, r11\n    bra.p1 @top\n    bra.p1 @c%d\n" % (i, (i * 5 + 1) % n))
    return HEAD + "top:\n" + tests + "    bra @end\n" + states + "end:\n" + TAIL


@family
def functions(n):
    """Many small functions."""
    calls = each(n, lambda i: "    call @fn%d\n" % i)
    return HEAD + calls + TAIL + "    exit\n" + each(n, lambda i: "fn%d:\n%s    ret\n" % (i, COUNT))


@family
def shared_tail(n):
    """Functions that fall into one tail: code that belongs to all of them, copies of copies. Refused above the bound on copies."""
    head = HEAD + "    mov_imm.u32 r3, 0\n    seteq.u32 p3, r3, r12\n    bra.p0 @end\n"
    calls = each(n, lambda i: "    call @fn%d\n" % i)
    return head + calls + "end:\n" + TAIL + "    exit\n" + each(n, lambda i: "fn%d:\n%s    bra.p0 @fn%d\n" % (i, COUNT, min(i + 2, n - 1))) + "    ret\n"


@family
def shared_tails(n):
    """The same in groups of eight."""
    calls = each(n, lambda i: "    call @fn%d\n" % i)
    tails = each(n, lambda i: "fn%d:\n%s%s" % (i, COUNT, "    ret\n" if i % 8 == 7 or i == n - 1 else ""))
    return HEAD + calls + TAIL + "    exit\n" + tails


@family
def live(n):
    """Many registers that live over many loops."""
    fill = "".join("    add.u32 r%d, r12, r10\n" % r for r in range(13, 243))
    body = each(n, lambda i: "h%d:\n%s    add.u32 r%d, r%d, r%d\n%s    bra.p2 @h%d\n"
                % (i, COUNT, 13 + i % 230, 13 + i * 5 % 230, 13 + i * 3 % 230, BELOW, i))
    return HEAD + fill + body + "".join("    add.u32 r12, r12, r%d\n" % r for r in range(13, 243)) + TAIL


@family
def stores(n):
    """Accesses of memory."""
    return HEAD + each(n, lambda i: "    stg.u32 [r1 + r0], r12\n    ldg.u32 r12, [r1 + r0]\n") + TAIL


@family
def barriers(n):
    """Blocks of lanes that meet often."""
    head = HEAD.replace(".lanes n\n", ".shared 4096\n.block 256\n.lanes n\n") + "    shl.u32 r5, r252, r2\n"
    return head + each(n, lambda i: "    sts.u32 [shared + r5], r12\n    bar.sync 0\n    lds.u32 r12, [shared + %d]\n    bar.sync 0\n"
                       % (i % 256 * 4)) + TAIL


@family
def reductions(n):
    """Reductions of many registers, each many operations."""
    fill = "".join("    mov.u32 r%d, r12\n" % r for r in range(13, 243))
    return HEAD + fill + each(n, lambda i: "    reduce.add.u32 r%d, r13, 230\n" % (13 + i % 200)) + "    add.u32 r12, r13, r12\n" + TAIL


@family
def steps(n):
    """Whole-array instructions: each is a launch of its own, and what lives across it is kept."""
    return HEAD.replace("u32 inout", "f32 inout").replace("ldg.u32 r12", "ldg.f32 r12").split("    mov_imm.u32 r10")[0] + each(
        n, lambda i: "    parallel_reduce.f32 r13, r1, sum, r4\n    add.f32 r12, r12, r13\n") + "    stg.f32 [r1 + r0], r12\n"


@family
def host_values(n):
    """A value that the host works out for a step, each operation from the one before."""
    return HEAD.replace("u32 inout", "f32 inout").split("    mov_imm.u32 r2")[0] + "    mov_imm.u64 r11, 1\n    mov.u64 r12, r4\n" + each(
        n, lambda i: "    add.u64 r12, r12, r4\n    xor.u64 r12, r12, r11\n") + "    and.u64 r12, r12, r11\n    parallel_map.f32 r1, r1, abs, r12\n"


def wide(n):
    """Operations of 4,096 bits."""
    head = ".atlas 1\n.program scaling\n.param r1 x buffer u4096 inout [n]\n.param r4 n u64\n.lanes n\n    mov_imm.u64 r2, 512\n    mul.u64 r0, r255, r2\n    ldg.u4096 r12, [r1 + r0]\n"
    return head + each(n, lambda i: "    add.u4096 r12, r12, r12\n") + "    stg.u4096 [r1 + r0], r12\n"


FAMILIES["wide"] = wide


def of_size(name, size):
    """The program of about that many bytes: (n, text)."""
    make = FAMILIES[name]
    small, large = len(make(8)), len(make(72))
    each_one = max(1.0, (large - small) / 64)
    n = max(2, int((size - (small - 8 * each_one)) / each_one))
    for _ in range(3): # numbers in the text grow
        n = max(2, int(n * (size - small) / max(1, len(make(n)) - small)))
    return n, make(n)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in FAMILIES:
        sys.exit("usage: families.py %s N" % "|".join(FAMILIES))
    sys.stdout.write(FAMILIES[sys.argv[1]](int(sys.argv[2])))
