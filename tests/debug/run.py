#!/usr/bin/python3
"""hologram debug, driven through standard input: what it shows of registers, memory, shared and private memory and masks against a simulation in Python;
steps forward and back; breakpoints, watches, faults; what is said to wrong commands.

    run.py

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish

COMMAND = os.path.join(os.environ["HG_BUILD_DIR"], "hologram")
FOLDER = tempfile.mkdtemp()

# Every lane doubles its element as often as its number says, so that lanes leave the loop one after another.
DOUBLE = """.atlas 1
.program double
.param r1 x buffer u32 inout [n]
.param r4 n u64
.lanes n
    mov_imm.u32 r2, 2
    shl.u64 r0, r255, r2
    ldg.u32 r10, [r1 + r0]
    cvt.u32.u64 r11, r255
round:
    add.u32 r10, r10, r10
    loop r11, @round
    stg.u32 [r1 + r0], r10
"""
X = [5, 6, 7, 8, 9]


def trace(lane):
    """(instruction, registers) of a lane in front of every instruction."""
    r = {}
    steps = []

    def at(i):
        steps.append((i, dict(r)))

    at(0)
    r[2] = 2
    at(1)
    r[0] = lane * 4
    at(2)
    r[10] = X[lane]
    at(3)
    r[11] = lane
    while True:
        at(4)
        r[10] *= 2
        at(5)
        if not r[11]:
            break
        r[11] -= 1
    at(6)
    return steps, r[10]


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def debug(commands, program, *arguments):
    """(exit status, the events) of a session."""
    run = subprocess.run([COMMAND, "debug", program, *arguments, "--json"], input="\n".join(commands) + "\n", stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
    events = []
    for line in run.stdout.splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            check(False, f"a line that is no JSON: {line!r}")
    check(run.stderr == "", f"standard error: {run.stderr!r}")
    check(bool(events) and events[-1].get("command") == "debug", "the closing object is missing")
    return run.returncode, events[:-1]


def text(commands, program, *arguments):
    run = subprocess.run([COMMAND, "debug", program, *arguments], input="\n".join(commands) + "\n", stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, universal_newlines=True, timeout=120)
    return run.returncode, run.stdout


def of(events, kind):
    return [e for e in events if e["event"] == kind]


def registers(events):
    return {e["name"]: int(e["value"]) for e in of(events, "value") if e["name"] in ("r0", "r2", "r10", "r11")}


def forward_and_back(program, arguments):
    for lane in range(len(X)):
        expected, result = trace(lane)
        commands = [f"lane {lane}"]
        for _ in expected:
            commands += ["registers", "step"]
        forth = len(commands)
        for _ in expected:
            commands += ["back", "registers"]
        status, events = debug(commands, program, *arguments)
        check(status == 0, f"lane {lane}: status {status}")
        stops = []
        for e in events:
            if e["event"] in ("stopped", "ended"):
                stops.append((e.get("instruction"), {}))
            elif e["event"] == "value" and e["name"][1:].isdigit() and e["name"] in ("r0", "r2", "r10", "r11"):
                stops[-1][1][int(e["name"][1:])] = int(e["value"])
        there, back = stops[:len(expected)], stops[len(expected) + 1:]
        check(there == expected, f"lane {lane}: forward {there} and not {expected}")
        check(stops[len(expected)][0] is None, f"lane {lane}: it does not end")
        check(back == expected[::-1], f"lane {lane}: back {back} and not {expected[::-1]}")
        check(forth > 0 and result == X[lane] << (lane + 1), "the simulation")


def masks(program, arguments):
    status, events = debug(["break round", "continue", "mask", "continue", "mask", "lane 4", "continue", "continue", "mask"], program, *arguments)
    seen = [e["message"].split(";")[0] for e in of(events, "mask")]
    check(status == 0 and seen == ["lanes here: 0-4", "lanes here: 1-4", "lanes here: 3-4"], f"masks: {seen}")
    stops = [(e["reason"], e["instruction"], e["lane"], e["active"]) for e in of(events, "stopped")]
    check(stops[1:] == [("breakpoint", 4, 0, 5), ("breakpoint", 4, 1, 4), ("breakpoint", 4, 4, 3), ("breakpoint", 4, 4, 2)], f"stops: {stops}")


ODD = """.atlas 1
.program odd
.param x buffer u32 inout [n]
.param n u64
.lanes n
.reg v u32
.reg q pred
    cvt v, global
    and v, v, 1
    setgt q, v, 0
    bra.q @end
there:
    stg [x[global]], v
end:
    stg [x[global]], v
"""


def long_answers():
    """An answer has no limit of its own."""
    word = "x" * 5000
    status, events = debug(["until there", "mask", "print " + word], write("odd.atlas", ODD), "--shape", "x=u32[600]")
    seen = of(events, "mask")[0]["message"]
    check(seen == f"lanes here: {','.join(str(i) for i in range(0, 600, 2))}; of 0 to 599, which run together", f"a long mask: {seen}")
    check(of(events, "error")[0]["message"] == f"'{word}' is no register, parameter or array here", "a long word")


def breakpoints(program, arguments):
    for place, instruction in (("11", 4), ("round", 4), ("i6", 6), ("13", 6)):
        status, events = debug([f"break {place}", "continue", "info", "delete 1", "info", "continue"], program, *arguments)
        stops = [e.get("instruction") for e in of(events, "stopped")]
        check(status == 0 and stops == [0, instruction], f"break {place}: {stops}")
        check([e["message"] for e in of(events, "info")] == ["no breakpoints and no watches"], f"break {place}: it is not gone")
        check(of(events, "ended")[0]["reason"] == "finished", f"break {place}: no end")
    status, events = debug(["until i6", "print x", "step", "print x", "print x[1..2]", "print r10 lanes 1..3"], program, *arguments)
    values = [e["value"] for e in of(events, "value")]
    check(values == ["5 6 7 8 9", "10 24 56 128 288", "24 56", "24", "56", "128"], f"values: {values}")
    status, events = debug(["watch x[2]", "continue", "continue"], program, *arguments)
    stops = of(events, "stopped")
    check(len(stops) == 1 and of(events, "ended"), "a watch of what the last instruction changes")


SHARED = """.atlas 1
.program turn
.param r1 x buffer u32 inout [n]
.param r4 n u64
.shared 16
.block 4
.lanes n
    mov_imm.u32 r2, 2
    shl.u64 r0, r255, r2
    ldg.u32 r10, [r1 + r0]
    shl.u32 r5, r252, r2
    sts.u32 [shared + r5], r10
    bar.sync 0
    xor.u32 r6, r5, r2
    lds.u32 r11, [shared + r6]
    stg.u32 [r1 + r0], r11
"""


def shared_memory():
    program = write("turn.atlas", SHARED)
    arguments = ["--set", "x=1,2,3,4,5,6,7,8"]
    status, events = debug(["watch shared[1]", "continue", "print shared[0..3]", "block 1", "continue", "print shared[0..3]", "where"], program, *arguments)
    stops = of(events, "stopped")
    check(stops[1]["reason"] == "watch" and "0 -> 2" in stops[1]["detail"], f"watch: {stops}")
    values = [e["value"] for e in of(events, "value")]
    check(values == ["1 2 3 4", "5 6 7 8"], f"shared memory: {values}")
    beyond = ["watch shared[4]", "watch shared[4611686018427387904]", "print shared[4]", "print shared[0..4]", "print shared[1] as"]
    status, errors = debug(beyond, program, *arguments)
    check(len(of(errors, "error")) == len(beyond), f"beyond shared memory: {errors}")
    check([e["block"] for e in stops] == [0, 0, 1, 1], f"blocks: {[e['block'] for e in stops]}")
    check([e["phase"] for e in stops][:2] == [0, 0], "phases")


# A lane writes v, 2v, 3v … to its private memory, as often as its number's remainder says, and after a meeting of all lanes one more to the end.
PRIVATE = """.atlas 1
.program keep
.param x buffer u32 inout [n]
.param n u64
.lanes n
.private 32
.reg v, i, s, most u32
    ldg v, [x[global]]
    cvt most, global
    rem most, most, 5
    mov i, 0
next:
    add i, i, 1
    mul s, v, i
    stp.u32 [private + i*4], s
    bra.lt i, most, @next
meet:
    bar.grid
    ldp.u32 s, [private + 4]
    stp.u32 [private + 28], s
    bar.grid
    stg [x[global]], s
last:
    stg [x[global]], i
"""


def private_words(lane, x, ends):
    words = [0] * 8
    for i in range(1, max(lane % 5, 1) + 1):
        words[i] = x * i % 2**32
    words[7] = x if ends else 0
    return words


def private_memory():
    program = write("keep.atlas", PRIVATE)
    n = 5000  # several tiles
    xs = [lane * 2654435761 % 2**32 for lane in range(n)]
    arguments = ["--set", "x=" + ",".join(map(str, xs))]
    for lane in 0, 4, 1234, n - 1:
        status, events = debug([f"lane {lane}", "until meet", "print private", "print private[1..2]", "print private[0] as u64", "print private[3] as u8",
                                "until last", "print private", "print private[7] as i32", "back", "back", "back", "print private"], program, *arguments)
        early, late = private_words(lane, xs[lane], False), private_words(lane, xs[lane], True)
        expected = [(" ".join(map(str, early)), "u32"), (f"{early[1]} {early[2]}", "u32"), (str(early[0] + (early[1] << 32)), "u64"), ("0", "u8"),
                    (" ".join(map(str, late)), "u32"), (str(late[7] - (late[7] >> 31 << 32)), "i32"), (" ".join(map(str, early)), "u32")]
        values = of(events, "value")
        check(status == 0 and [(e["value"], e["type"]) for e in values] == expected, f"private memory of lane {lane}: {values}, not {expected}")
        check(all(e["lane"] == lane for e in values), f"private memory of lane {lane}: {values}")
    status, events = debug(["lane 1", "until meet", "print private[1..3] lanes 0..4"], program, *arguments)
    values = [(e["name"], e["lane"], e["value"]) for e in of(events, "value")]
    check(values == [(f"private[1..3] of lane {i}", i, " ".join(map(str, private_words(i, xs[i], False)[1:4]))) for i in range(5)], f"lanes: {values}")
    status, events = debug(["lane 7", "watch private[2]", "info", "continue", "continue"], program, *arguments)
    stops = [e for e in of(events, "stopped") if e["reason"] == "watch"]
    check(len(stops) == 1 and stops[0]["detail"].startswith(f"private[2] of lane 7: 0 -> {2 * xs[7] % 2**32}, by instruction 8 (stp.u32"), f"watch: {stops}")
    status, out = text(["lane 3", "until meet", "print private[1]", "print private[2] lanes 2..3"], program, *arguments)
    check(status == 0 and f"private[1] u32 = {xs[3]}\nprivate[2] of lane 2 u32 = {2 * xs[2] % 2**32}\nprivate[2] of lane 3 u32 =" in out, f"text: {out}")
    bad = ["print private[8]", "print private[0..8]", "print private[4] as u64", "watch private[8]", "watch private", "print private lanes 0..4999",
           "print private lanes", "print private as f33"]
    status, events = debug(bad, program, *arguments)
    check(status == 1 and len(of(events, "error")) == len(bad), f"wrong words of private memory: {events}")
    status, events = debug(["print private", "watch private[0]"], write("double.atlas", DOUBLE), "--set", "x=1")
    check([e["message"] for e in of(events, "error")] == ["the program has no private memory"] * 2, f"no private memory: {events}")


def fault():
    program = write("beyond.atlas", DOUBLE.replace("stg.u32 [r1 + r0], r10", "stg.u32 [r1 + r0 + 8], r10"))
    status, events = debug(["continue", "print r0", "back", "quit"], program, "--set", "x=5,6,7,8,9")
    stops = of(events, "stopped")
    check(of(events, "fault")[0]["message"].startswith("F01"), "the fault is not named")
    check((stops[1]["reason"], stops[1]["instruction"], stops[1]["lane"]) == ("fault", 6, 3), f"fault: {stops}")
    check([e["value"] for e in of(events, "value")] == ["12"], "the register of the lane with the fault")
    check(stops[2]["instruction"] == 5, "back from a fault")


def change_at_the_end():
    """The last instruction of a program changes what is watched: nothing comes behind it to stop at."""
    program = write("last.atlas", DOUBLE.replace("cvt.u32.u64 r11, r255", "mov_imm.u32 r11, 0"))
    status, events = debug(["watch x[1]", "continue", "print x[1]", "back", "quit"], program, "--set", "x=5,6,7")
    ended = of(events, "ended")
    check(status == 0 and len(ended) == 1 and ended[0]["reason"] == "watch" and "6 -> 12, by instruction 6" in ended[0]["detail"], f"a change by the last instruction: {events}")
    check([e["value"] for e in of(events, "value")] == ["12"] and of(events, "stopped")[-1]["instruction"] == 6, f"behind it: {events}")
    status, events = debug(["watch x[1]", "continue", "continue"], program, "--set", "x=5,0,7")
    check([e["reason"] for e in of(events, "ended")] == ["finished"], f"no change: {events}")


WIDE = """.atlas 1
.program wide
.param r1 x buffer f32 inout [n]
.param r4 n u64
.lanes n
    mov_imm.i256 r20, -5
    mov_imm.f16 r21, 1.5
    setlt.f16 p3, r21, r21
    parallel_reduce.f32 r10, r1, sum, r4
    add.i256 r20, r20, r20
    mov.f32 r11, r10
"""


def kinds():
    program = write("wide.atlas", WIDE)
    status, events = debug(["break i5", "continue", "print r20", "print r21", "print p3", "print r10", "print n", "print r99"], program, "--set", "x=1,2,3")
    values = [(e["name"], e.get("type"), e["value"]) for e in of(events, "value")]
    check(values == [("r20", "i256", "-10"), ("r21", "f16", "1.5"), ("p3", "pred", "false"), ("r10", "f32", "6.0"), ("n", "u64", "3"),
                     ("r99", None, "not set")], f"kinds: {values}")


NAMED = """.atlas 1
.program named
.param x buffer u32 inout [n]
.param n u64
.lanes n
.reg v, w u32
.reg many pred
    ldg v, [x[global]]
    mul w, v, 3
    setgt many, w, 7
    bra.many @end
    stg [x[global]], w
end:
"""


def names():
    """Names that share a number by liveness, and values that have none any more."""
    program = write("named.atlas", NAMED)
    status, events = debug(["step 2", "print v", "print w", "step 3", "print w", "print many", "print v", "registers"], program, "--set", "x=1,2,3")
    values = [(e["name"], e["value"]) for e in of(events, "value")]
    check(values[0] == ("v", "1"), f"names: {values}")
    check(("w", "3") in values and ("many", "false") in values, f"names: {values}")
    check(any(name.endswith("(w)") and value == "3" for name, value in values), f"registers with names: {values}")


SHARED_NUMBER = """.atlas 1
.program first
.param x buffer u32 inout [n]
.param n u64
.lanes n
.reg v u32
    ldg v, [x[global]]
    add v, v, 1
    stg [x[global]], v
"""


def numbers_of_parameters():
    """v takes the number of n, which nothing reads any more: v has its own type at once, n what the launch was given."""
    program = write("first.atlas", SHARED_NUMBER)
    status, events = debug(["print n", "step", "print v", "print n", "step 2", "print v", "print n", "continue", "print n"], program, "--set", "x=5,9,4")
    values = [(e["name"], e["type"], e["value"]) for e in of(events, "value")]
    check(values == [("n", "u64", "3"), ("v", "u32", "5"), ("n", "u64", "3"), ("v", "u32", "6"), ("n", "u64", "3"), ("n", "u64", "3")],
          f"values that share a number: {values}")


REUSED = """.atlas 1
.program reused
.data k u32 7, 8, 9
.scratch tmp u32 [n]
.param x buffer u32 inout [n]
.param n u64
.param g u32
.lanes n
.reg v u32
    ldg v, [k[1]]
    add v, v, g
    stg [tmp[global]], v
    add v, v, 1
    add v, v, 2
    stg [x[global]], v
last:
    exit
"""


# g has r1, which the literals take over; n has the register that the program says and writes.
LITERALS = """.atlas 1
.program literals
.param x buffer u32 inout [n]
.param r4 n u64
.param g u32
.lanes n
    ldg.u32 r10, [x[global]]
    add.u32 r10, r10, g
    add.u64 r4, r4, 2
    add.u32 r11, r10, 7
    stg.u32 [x[global]], r11
"""


def reused():
    """Numbers of parameters that literals and values took over: the names stay what the launch gave."""
    program = write("reused.atlas", REUSED)
    shows = ["print g", "print k", "print tmp", "print x"]
    status, events = debug([word for _ in range(9) for word in (*shows, "step")], program, "--set", "x=1,2,3", "--set", "g=1000")
    values = [(e["name"], e["type"], e["value"]) for e in of(events, "value")]
    before, between, after = ("0 0 0", "1 2 3"), ("1008 1008 1008", "1 2 3"), ("1008 1008 1008", "1011 1011 1011")
    expected = [value for tmp, x in [before] * 3 + [between] * 5 + [after]
                for value in (("g", "u32", "1000"), ("k", "u32", "7 8 9"), ("tmp", "u32", tmp), ("x", "u32", x))]
    check(status == 0 and values == expected, f"parameters without a register: {values}, not {expected}")
    program = write("literals.atlas", LITERALS)
    status, events = debug(["step 5", "print g", "print n", "registers"], program, "--set", "x=1,2,3", "--set", "g=1000")
    values = {e["name"]: e["value"] for e in of(events, "value")}
    check((values["g"], values["r1"], values["n"]) == ("1000", "7", "5"), f"a literal at a parameter's number: {values}")


def wrong(program, arguments):
    bad = ["jump", "break", "break nowhere", "break i99", "break 999", "watch x", "watch x[99]", "watch y[1]", "print", "print zzz", "print x[9]",
           "print x[3..1]", "print x[0] as f33", "delete 7", "delete", "lane 5", "lane x", "block 9", "step 0", "step x", "until",
           # numbers that are none, or that no count, place or register has
           "step -5", "step +1", "step 1x", "step 18446744073709551616", "delete -1", "delete 4294967297", "lane -1", "lane 18446744073709551616",
           "block -1", "block +0", "block 18446744073709551616", "break 0", "break 4294967304", "break 18446744073709551624", "break i4294967296",
           "until i4294967296", "until i18446744073709551616", "until -1", "print r256", "print r4294967296", "print p16", "print p4294967296",
           "print r-1", "print x[18446744073709551616]", "print x[-1]", "print x[0..18446744073709551616]", "print x[0..", "print x[", "print x[]",
           "print x[0x1]", "print r0 lanes 3..1", "print r0 lanes 0..5", "print r0 lanes 0..4294967296", "print r0 lanes ..", "watch x[1..2]",
           "watch x[4611686018427387904]",
           # words that lack, and words too many
           "print x as", "print x of u32", "print x[0] as u32 as u32", "print x[0] lanes 0..1", "print r0 as u32", "print r0 lanes",
           "print r0 lanes 0..1 more", "watch", "watch x[1] ?? u32", "watch x[1] as", "watch x[1] as f33", "watch x[1] as u32 more", "watch r10",
           "step 1 2", "next 1", "continue 3", "until i6 i7", "back 2", "restart now", "break i6 i7", "delete 1 2", "info all", "lane 1 2", "block",
           "block 0 1", "registers r0", "mask 1", "where now", "list 3", "help step", "quit now", "help a b c d e f g h i"]
    for command in bad:
        status, events = debug([command, "print x[4]"], program, *arguments)
        check(status == 1 and len(of(events, "error")) == 1, f"{command}: status {status}, {events}")
        check([e["value"] for e in of(events, "value")] == ["9"] and len(of(events, "stopped")) == 1, f"{command}: it does not go on: {events}")
    kept = "step -5", "until i4294967296", "next", "watch x[1] as f33", "info"
    status, events = debug(kept, program, *arguments)
    check([e["instruction"] for e in of(events, "stopped")] == [0, 1] and len(of(events, "info")) == 1, f"after errors: {events}")
    for good in ["help", "list", "where", "info", "lane", "# remark", "", "mask", "registers", "quit"]:
        status, events = debug([good], program, *arguments)
        check(status == 0 and not of(events, "error"), f"{good}: status {status}, {events}")
    status, events = debug(["continue", "step", "back", "restart", "quit"], program, *arguments)
    check(status == 1 and len(of(events, "error")) == 1 and len(of(events, "stopped")) == 3, f"behind the end: {events}")
    status, out = text(["break round", "continue", "list"], program, *arguments)
    check(status == 0 and "> " in out and "add.u32 r10, r10, r10" in out, f"text: {out}")


def many_lanes():
    program = write("many.atlas", DOUBLE.replace("cvt.u32.u64 r11, r255", "mov_imm.u32 r11, 1"))
    status, events = debug(["lane 150000", "until i6", "print r10", "print r0", "quit"], program, "--shape", "x=u32[200000]")
    values = [e["value"] for e in of(events, "value")]
    check(status == 0 and values == ["0", "600000"], f"a lane beyond the window: {status} {values}")


def main():
    program = write("double.atlas", DOUBLE)
    arguments = ["--set", "x=" + ",".join(map(str, X))]
    forward_and_back(program, arguments)
    masks(program, arguments)
    long_answers()
    breakpoints(program, arguments)
    shared_memory()
    private_memory()
    fault()
    change_at_the_end()
    kinds()
    names()
    numbers_of_parameters()
    reused()
    wrong(program, arguments)
    many_lanes()
    return finish()


sys.exit(main())
