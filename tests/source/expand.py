#!/usr/bin/python3
"""Texts with constants, macros, repetitions, conditions, included files and several programs, against an expander that is written from
docs/reference/language.md alone: the canonical text that hologram makes of both is the same. Formatted texts are the same program too.

    expand.py [--count N] [--seed N]     N random texts, each of up to some hundred lines
    expand.py --expand FILE [PROGRAM]    prints what a text expands to

Needs HG_BUILD_DIR. Last line: N passed, N failed, N skipped."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(?:\d|\.\d)[\w.]*(?:(?<=[eE])[+-]\d+)?|[A-Za-z_.$][\w.$]*|<<|>>|<=|>=|==|!=|&&|\|\||\S')


class Token:
    def __init__(self, text, place, glued):
        self.text, self.place, self.glued = text, place, glued


class Place:
    """Where a token was written: the names that it sees, and the arguments."""
    def __init__(self, scope, arguments):
        self.scope, self.arguments = scope, arguments


class Scope:
    def __init__(self, outer):
        self.outer, self.names = outer, {}

    def find(self, name):
        scope = self
        while scope:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


def statements(text):
    """Lines with their continuations, without comments, as lists of (text, stands directly behind the one before)."""
    result, current = [], []
    for line in text.split("\n"):
        at = 0
        while True:
            while at < len(line) and line[at] in " \t\r":
                at += 1
            if at >= len(line) or line[at] == ";":
                break
            m = TOKEN.match(line, at)
            current.append((m.group(), at > 0 and line[at - 1] not in " \t"))
            at = m.end()
        if current and current[-1][0] == ",":
            continue
        if current:
            result.append(current)
        current = []
    return result


class Expander:
    def __init__(self, files, program):
        self.files, self.wanted, self.labels, self.out = files, program, 0, []
        self.root = Scope(None)
        self.active = True
        self.taken = False

    # ---- tokens

    def replace(self, tokens):
        """Arguments for parameters, numbers for {…}."""
        done, at = [], 0
        tokens = list(tokens)
        while at < len(tokens):
            t = tokens[at]
            if re.match(r"[A-Za-z_.$]", t.text) and at + 1 < len(tokens) and tokens[at + 1].text == "{" and tokens[at + 1].glued:
                name = t.text
                at += 1
                while at < len(tokens) and tokens[at].text == "{" and tokens[at].glued:
                    end, depth = at + 1, 1
                    while depth:
                        depth += {"{": 1, "}": -1}.get(tokens[end].text, 0)
                        end += 1
                    name += str(self.value(self.replace(tokens[at + 1:end - 1])))
                    at = end
                    if at < len(tokens) and tokens[at].glued and re.match(r"[\w.$]", tokens[at].text):
                        name += tokens[at].text
                        at += 1
                done.append(Token(name, t.place, t.glued))
                continue
            at += 1
            arguments = t.place.arguments
            if t.text in arguments:
                inner = self.replace(arguments[t.text])
                if inner:
                    inner[0] = Token(inner[0].text, inner[0].place, t.glued)
                done += inner
            elif "." in t.text and not t.text[0].isdigit() and any(part in arguments for part in t.text.split(".")):
                parts = []
                for part in t.text.split("."):
                    if part in arguments:
                        inner = self.replace(arguments[part])
                        part = inner[0].text if len(inner) == 1 else part
                    parts.append(part)
                done.append(Token(".".join(parts), t.place, t.glued))
            else:
                done.append(t)
        return done

    # ---- expressions: a list of tokens that are replaced already

    LEVELS = [["||"], ["&&"], ["==", "!=", "<", ">", "<=", ">="], ["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]

    def value(self, tokens):
        value, rest = self.binary(tokens, 0, 0)
        assert rest == len(tokens), [t.text for t in tokens]
        return value[0] if isinstance(value, tuple) else value

    def binary(self, t, at, level):
        if level == len(self.LEVELS):
            return self.unary(t, at)
        left, at = self.binary(t, at, level + 1)
        while at < len(t) and t[at].text in self.LEVELS[level]:
            op = t[at].text
            right, at = self.binary(t, at + 1, level + 1)
            left = self.apply(op, left, right)
        return left, at

    def apply(self, op, x, y):
        x, y = (v[0] if isinstance(v, tuple) else v for v in (x, y))
        if op == "/" and isinstance(x, int) and isinstance(y, int):
            quotient = abs(x) // abs(y)
            return (quotient if (x < 0) == (y < 0) else -quotient, x, y)
        if op == "%":
            return x - y * self.apply("/", x, y)[0]
        return {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y, "<<": lambda: x << y, ">>": lambda: x >> y,
                "&": lambda: x & y, "|": lambda: x | y, "^": lambda: x ^ y, "==": lambda: int(x == y), "!=": lambda: int(x != y),
                "<": lambda: int(x < y), ">": lambda: int(x > y), "<=": lambda: int(x <= y), ">=": lambda: int(x >= y),
                "&&": lambda: int(bool(x) and bool(y)), "||": lambda: int(bool(x) or bool(y))}[op]()

    def unary(self, t, at):
        text = t[at].text
        if text in "-~!":
            value, at = self.unary(t, at + 1)
            value = value[0] if isinstance(value, tuple) else value
            return {"-": lambda: -value, "~": lambda: ~value, "!": lambda: int(not value)}[text](), at
        if text == "(":
            value, at = self.binary(t, at + 1, 0)
            return value, at + 1
        constant = t[at].place.scope.find(text)
        if constant and constant[0] == "constant":
            return constant[1], at + 1
        if text in ("min", "max", "ceil"):
            values, at = [], at + 1
            while t[at].text != ")":
                value, at = self.binary(t, at + 1, 0)
                values.append(value)
            if text == "ceil":
                return -(-values[0][1] // values[0][2]), at + 1
            values = [v[0] if isinstance(v, tuple) else v for v in values]
            return (min if text == "min" else max)(values), at + 1
        if text == "defined":
            return int(t[at + 2].place.scope.find(t[at + 2].text) is not None), at + 4
        plain = text.replace("_", "")
        if re.fullmatch(r"0x[0-9a-fA-F]+", plain):
            return int(plain, 16), at + 1
        if re.fullmatch(r"0b[01]+", plain):
            return int(plain, 2), at + 1
        return (int(plain) if plain.isdigit() else float(plain)), at + 1

    # ---- operands

    def starts_number(self, t):
        if t.text[0].isdigit() or t.text in "-~!(" or re.match(r"\.\d", t.text):
            return True
        known = t.place.scope.find(t.text)
        return bool(known and known[0] == "constant") or t.text in ("min", "max", "ceil")

    def literal(self, value):
        return str(value) if isinstance(value, int) else value.hex()

    def operand(self, tokens):
        if not tokens:
            return ""
        if tokens[0].text == "[":
            return self.address(tokens)
        if tokens[0].text == "@":
            return "@" + self.label(tokens[1])
        if self.starts_number(tokens[0]):
            if len(tokens) == 1 and tokens[0].text[0].isdigit():
                return tokens[0].text
            return self.literal(self.value(tokens))
        return "".join(t.text for t in tokens)

    def address(self, tokens):
        body, text, sum_, at = tokens[1:-1], "[", 0, 0
        while at < len(body) and body[at].text not in "+-":
            text += body[at].text
            at += 1
        while at < len(body):
            sign = -1 if body[at].text == "-" else 1
            end, depth = at + 1, 0
            while end < len(body) and (depth or body[end].text not in "+-"):
                depth += {"(": 1, ")": -1}.get(body[end].text, 0)
                end += 1
            term = body[at + 1:end]
            if self.starts_number(term[0]):
                sum_ += sign * self.value(term)
            else:
                text += " + " + term[0].text
            at = end
        return text + (f" {'-' if sum_ < 0 else '+'} {abs(sum_)}" if sum_ else "") + "]"

    def label(self, token):
        scope = token.place.scope
        while scope:
            if ("label", token.text) in scope.names:
                return scope.names["label", token.text]
            scope = scope.outer
        return None if token is None else f"\0{token.text}\0{id(token)}"

    def mnemonic(self, token):
        parts = token.text.split(".")
        for i, part in enumerate(parts):
            known = token.place.scope.find(part)
            if i and known and known[0] == "type":
                parts[i] = known[1]
        return ".".join(parts)

    # ---- lines

    def run(self, lines, place, top=False):
        at = 0
        while at < len(lines):
            tokens = [Token(text, place, glued) for text, glued in lines[at]]
            word = tokens[0].text
            at += 1
            if word in (".if", ".rept", ".for", ".macro"):
                depth, start, branches = 1, at, [(tokens, at)]
                while True:
                    inner = lines[at][0][0]
                    if depth == 1 and inner in (".elif", ".else") and word == ".if":
                        branches.append(([Token(x, place, g) for x, g in lines[at]], at + 1))
                    depth += (inner in (".if", ".rept", ".for", ".macro")) - (inner == ".end")
                    at += 1
                    if not depth:
                        break
                if self.active or not top:
                    self.block(word, tokens, lines, start, at - 1, branches, place)
            elif top and word == ".program":
                mine = self.wanted is None or tokens[1].text == self.wanted
                self.active = mine and not self.taken
                self.taken = self.taken or mine
                if self.active:
                    self.out.append("".join([word, " ", tokens[1].text]))
            elif self.active:
                self.statement(tokens, place)

    def block(self, word, tokens, lines, start, end, branches, place):
        if word == ".if":
            for i, (head, first) in enumerate(branches):
                last = branches[i + 1][1] - 1 if i + 1 < len(branches) else end
                if head[0].text == ".else" or self.value(self.replace(head[1:])):
                    return self.run(lines[first:last], place)
            return None
        body = lines[start:end]
        if word == ".macro":
            names = [t.text for t in tokens[2:] if t.text != ","]
            place.scope.names[tokens[1].text] = ("macro", names, body, place.scope)
            return None
        rest = self.replace(tokens[1:])
        if word == ".rept":
            rounds, name = [None] * self.value(rest), None
        else:
            name = rest[0].text
            numbers = [self.value(part) for part in self.split(rest[2:])]
            rounds = range(*numbers)
        for value in rounds:
            around = Scope(place.scope)
            if name:
                around.names[name] = ("constant", value)
            self.run(body, Place(Scope(around), place.arguments))
        return None

    def split(self, tokens):
        parts, depth = [[]], 0
        for t in tokens:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(t.text, 0)
            if t.text == "," and not depth:
                parts.append([])
            else:
                parts[-1].append(t)
        return parts if tokens else []

    def statement(self, tokens, place):
        head = self.replace(tokens[:1]) if len(tokens) < 2 or tokens[1].text != "{" else None
        macro = head and head[0].place.scope.find(head[0].text)
        if macro and macro[0] == "macro":
            _, names, body, scope = macro
            arguments = dict(zip(names, self.split(tokens[1:])))
            return self.run(body, Place(Scope(scope), arguments))
        done = self.replace(tokens)
        word = done[0].text
        if len(done) > 1 and done[1].text == ":":
            self.labels += 1
            name = done[0]
            plain = name.text if name.place.scope is self.root else f".L{900000 + self.labels}"
            name.place.scope.names["label", name.text] = plain
            self.out.append(plain + ":")
            if len(done) > 2:
                index = next(i for i, t in enumerate(tokens) if t.text == ":")
                self.statement(tokens[index + 1:], place)
        elif word == ".const":
            value = done[3:] if done[2].text == "=" else done[2:]
            done[1].place.scope.names[done[1].text] = ("constant", self.value(value))
        elif word == ".type":
            known = done[-1].place.scope.find(done[-1].text)
            done[1].place.scope.names[done[1].text] = ("type", known[1] if known else done[-1].text)
        elif word == ".include":
            self.run(statements(self.files[done[1].text[1:-1]]), Place(place.scope, {}))
        elif word == ".shared":
            self.out.append(f".shared {self.value(done[1:])}")
        elif word[0] == ".":
            self.out.append(" ".join(t.text for t in done))
        else:
            self.out.append([self.mnemonic(done[0]), [p for p in self.split(done[1:])]])
        return None

    def text(self):
        lines = []
        for line in self.out:  # labels are all known now
            lines.append(line if isinstance(line, str) else "    " + line[0] + " " + ", ".join(self.operand(p) for p in line[1]))
        return "\n".join(lines) + "\n"


def expand(files, program=None):
    e = Expander(files, program)
    e.run(statements(files["main"]), Place(e.root, {}), top=True)
    return e.text()


# ---- random texts

class Writer:
    """Every form, with names that often hide one another."""
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.files, self.number = {}, 0

    def choice(self, *items):
        return self.r.choice(items)

    def expression(self, names, depth=0):
        r = self.r
        if depth > 3 or r.random() < 0.35:
            return str(r.randrange(9)) if not names or r.random() < 0.5 else r.choice(sorted(names))
        x, y = self.expression(names, depth + 1), self.expression(names, depth + 1)
        return self.choice(f"{x} + {y}", f"({x} - {y})", f"{x} * {y}", f"-{x}", f"~{x}", f"({x} & {y})", f"({x} | {y})", f"({x} ^ {y})",
                           f"{x} / (1 + (({y}) & 15))", f"({x}) % 7", f"((({x}) & 7) << 2)", f"(({x}) >> 1)", f"min({x}, {y})", f"max({x}, {y}, 1)",
                           f"ceil(({x}) / 3)", f"({x} < {y})", f"({x} == {y})", f"!{x}", f"({x} && {y})", f"({x} || {y})", f"defined(A)")

    def small(self, names, most):
        return f"(({self.expression(names)}) & {most})"

    def register(self, names, params):
        registers = [p for p in params if p[0] == "d"]
        if registers and self.r.random() < 0.5:
            return self.r.choice(registers)
        return self.choice(f"r{self.r.randrange(40)}", f"r{{{self.small(names, 31)} + 40}}")

    def line(self, names, params, labels):
        reg = lambda: self.register(names, params)
        kinds = [lambda: f"add.{self.choice('u32', 'T')} {reg()}, {reg()}, {reg()}", lambda: f"mov_imm.i64 {reg()}, {self.small(names, 65535)} - 300",
                 lambda: f"ldg.T {reg()}, [{reg()} + {reg()} + {self.small(names, 63)} - {self.small(names, 15)} * 2]",
                 lambda: f"lds.f32 {reg()}, [shared + {reg()} + {self.small(names, 63)}]", lambda: f"mov_imm.f64 {reg()}, 0.5 * {self.small(names, 9)}",
                 lambda: f"bar.sync {self.small(names, 3)}", lambda: f"mul.f32 {reg()},  {reg()},\n      {reg()} ; goes on"]
        if labels:
            kinds.append(lambda: f"bra{self.choice('', '.p3')} @{self.r.choice(labels)}")
        ops = [p for p in params if p[0] == "o"]
        if ops:
            kinds.append(lambda: f"{self.r.choice(ops)}.u64 {reg()}, {reg()}, {reg()}")
        return self.r.choice(kinds)()

    def body(self, names, params, labels, macros, depth, room):
        out, names, macros = [], set(names), dict(macros)
        mine = []
        for _ in range(self.r.randrange(1, 6)):
            kind = self.r.random()
            if room[0] <= 0 or depth > 4 or kind < 0.4:
                out.append("    " + self.line(names, params, labels + mine))
                room[0] -= 1
                continue
            nested = lambda extra=(), p=params: self.body(names | set(extra), p, labels + mine, macros, depth + 1, room)
            if kind < 0.5:
                name = self.fresh(names, "ABCDk")
                if name not in names or depth:
                    value = self.small(names, 31)
                    if name in self.declared[-1]:
                        continue
                    self.declared[-1].add(name)
                    out.append(f".const {name} {self.choice('= ', '')}{value}")
                    names.add(name)
            elif kind < 0.58:
                self.number += 1
                label = f"l{self.number}"
                mine.append(label)
                out.append(f"{label}:" + self.choice("", " exit"))
            elif kind < 0.68:
                self.declared.append(set())
                out += [f".rept {self.r.randrange(3)}"] + nested() + [".end"]
                self.declared.pop()
            elif kind < 0.78:
                k = self.choice("k", "i", "A")
                self.declared.append(set())
                out += [f".for {k}, {self.choice('0, 3', '5, 0, -2', '1, 8, 3', '2, 2')}"] + nested([k]) + [".end"]
                self.declared.pop()
            elif kind < 0.88:
                seen = set(self.declared[-1])
                saved = self.declared
                self.declared = saved[:-1] + [set("ABCDki")]  # a branch declares nothing: which is read is not known here
                out += [f".if {self.expression(names)}"] + nested()
                if self.r.random() < 0.4:
                    out += [f".elif {self.expression(names)}"] + nested()
                if self.r.random() < 0.6:
                    out += [".else"] + nested()
                out.append(".end")
                self.declared = saved
                assert seen == set(self.declared[-1])
            elif kind < 0.94 and macros:
                name = self.r.choice(sorted(macros))
                out.append(self.choice("    ", "") + name + " " + ", ".join(self.argument(p, names, params) for p in macros[name]))
            else:
                self.number += 1
                name = f"m{self.number}"
                own = [f"d{i}" for i in range(self.r.randrange(3))] + self.choice([], ["o1"]) + self.choice([], ["n1"])
                self.declared.append(set())
                saved, self.declared = self.declared, [set()]
                inner = self.body((names - {"n1"}) | ({"n1"} if "n1" in own else set()), own, [], macros, depth + 2, room)
                self.declared = saved
                self.declared.pop()
                out += [f".macro {name} {', '.join(own)}".rstrip()] + inner + [".end"]
                macros[name] = own
        return out

    declared = [set()]

    def fresh(self, names, letters):
        return self.r.choice(letters)

    def argument(self, parameter, names, params):
        if parameter[0] == "d":
            return self.register(names, params)
        if parameter[0] == "o":
            return self.choice("add", "mul", "sub")
        return self.small(names, 15)

    def make(self):
        self.declared = [set()]
        room = [60]
        shared = [".atlas 1", ".type T = " + self.choice("f32", "f64", "u32"), ".const N = 5"]
        if self.r.random() < 0.5:
            self.files["lib"] = "; shared\n.macro both d0, d1\n  add.T d0, d1, d1\n  add.u64 d1, d0, d0\n.end\n.const LIB = 3"
            shared.append('.include "lib"')
        names, macros = {"N"}, {}
        if "lib" in self.files:
            names.add("LIB")
            macros["both"] = ["d0", "d1"]
        program = None
        body = self.body(names, [], [], macros, 0, room)
        text = shared + [".program a", ".shared 64 * N"] + body
        if self.r.random() < 0.3:
            text += [".program b", ".if 1", "nothing like this", ".end"]
            program = "a"
        self.files["main"] = "\n".join(text) + self.choice("", "\n")
        return program


# ---- comparing

HOLOGRAM = os.path.join(os.environ.get("HG_BUILD_DIR", "build/release"), "hologram")
passed = failed = 0


def canonical(path, *options):
    done = subprocess.run([HOLOGRAM, "disasm", path, *options], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else "error: " + done.stderr


def check(good, message):
    global passed, failed
    passed += good
    failed += not good
    if not good:
        print("failed: " + message)


def compare(folder, seed):
    w = Writer(seed)
    program = w.make()
    for name, text in w.files.items():
        with open(os.path.join(folder, name if name != "main" else "main.atlas"), "w") as file:
            file.write(text)
    options = ["--program", program] if program else []
    main, plain = os.path.join(folder, "main.atlas"), os.path.join(folder, "plain.atlas")
    wanted = expand(w.files, program)
    with open(plain, "w") as file:
        file.write(".atlas 1\n" + wanted.replace(".atlas 1\n", ""))
    got, expected = canonical(main, *options), canonical(plain)
    again = f"expand.py --seed {seed} --count 1 --keep"
    check(got == expected and not got.startswith("error"), f"seed {seed}: {again}\n{got[:2000]}\n--- the plain text gives\n{expected[:2000]}")
    formatted = subprocess.run([HOLOGRAM, "fmt", main, "-w"], capture_output=True, text=True)
    check(formatted.returncode == 0 and canonical(main, *options) == got, f"seed {seed}: fmt changes the program: {again} {formatted.stderr}")
    twice = subprocess.run([HOLOGRAM, "fmt", "--check", main], capture_output=True, text=True)
    check(twice.returncode == 0, f"seed {seed}: fmt of its own text changes it: {again}")


def extremes(folder):
    """Depth and counts at the limits."""
    deep = "\n".join([".atlas 1", ".program t"] + [".rept 1"] * 60 + ["exit"] + [".end"] * 60)
    many = ".atlas 1\n.program t\n.for k, 0, 50000\nmov_imm.u32 r{k % 200}, k\n.end\n"
    chain = ".atlas 1\n.program t\n.macro m0 a\nadd.u32 a, a, a\n.end\n" + "".join(f".macro m{i} a\nm{i - 1} a\n.end\n" for i in range(1, 50)) + "m49 r7\n"
    wide = ".atlas 1\n.program t\n.macro m a\nadd.u32 r1, r1, a\n.end\n" + "m r2\n" * 20000
    for name, text in (("deep", deep), ("many", many), ("chain", chain), ("wide", wide)):
        path = os.path.join(folder, name + ".atlas")
        with open(path, "w") as file:
            file.write(text)
        plain = path + ".plain.atlas"
        with open(plain, "w") as file:
            file.write(expand({"main": text}))
        got = canonical(path)
        check(got == canonical(plain) and not got.startswith("error"), f"{name}: {got[:500]}")


def command(folder):
    """Options of the command: folders, definitions, programs; files as they are."""
    library, text = os.path.join(folder, "library"), os.path.join(folder, "uses.atlas")
    os.makedirs(library, exist_ok=True)
    with open(os.path.join(library, "lib.inc"), "w") as file:
        file.write('.include "more.inc"\n')
    with open(os.path.join(library, "more.inc"), "w") as file:  # found beside the file that names it
        file.write(".const N = 4\n")
    with open(text, "w") as file:
        file.write('.atlas 1\n.include "lib.inc"\n.type T = f32\n.program a\nmov_imm.T r1, N\n.program b\nexit\n')
    check(canonical(text, "--program", "a", "-I", library) == ".atlas 1\n.program a\n    mov_imm.f32 r1, 4.0\n", "-I")
    check(canonical(text, "--program=a", "-I", folder, "-I", library, "--define", "N=1 << 3", "--define", "T=u8") ==
          ".atlas 1\n.program a\n    mov_imm.u8 r1, 8\n", "--define")
    check(canonical(text, "--program", "b", "-I", library) == ".atlas 1\n.program b\n    exit\n", "--program")
    check("[P06]" in canonical(text, "--program", "a"), "a file that is not there")
    check("[D04]" in canonical(text, "--program", "c", "-I", library), "a program that is not there")
    check("[D01]" in canonical(text, "-I", library) and "--program" in canonical(text, "-I", library), "no program is chosen")
    check("[D04]" in canonical(text, "--program", "b", "-I", library, "--define", "M=1"), "a constant that is not there")
    for path, _, names in os.walk(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")):
        for name in names:
            if name.endswith(".atlas"):
                before = canonical(os.path.join(path, name))
                copy = os.path.join(folder, "copy.atlas")
                done = subprocess.run([HOLOGRAM, "fmt", os.path.join(path, name)], capture_output=True, text=True)
                with open(copy, "w") as file:
                    file.write(done.stdout)
                check(done.returncode == 0 and (before.startswith("error") or canonical(copy) == before), f"fmt {name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--expand", nargs="+")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    sys.setrecursionlimit(10000)
    if options.expand:
        folder = os.path.dirname(options.expand[0])
        files = {name: open(os.path.join(folder, name)).read() for name in os.listdir(folder or ".") if os.path.isfile(os.path.join(folder, name))}
        files["main"] = open(options.expand[0]).read()
        print(expand(files, options.expand[1] if len(options.expand) > 1 else None), end="")
        return 0
    folder = tempfile.mkdtemp(prefix="expand-")
    for seed in range(options.seed, options.seed + options.count):
        compare(folder, seed)
    if options.count > 1:
        extremes(folder)
        command(folder)
    if options.keep:
        print(folder)
    else:
        subprocess.run(["rm", "-rf", folder], check=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
