#!/usr/bin/python3
"""Speaks the language server protocol with `hologram lsp`: what an editor does with it, what it must
not do, and how long it takes to say what is wrong with a text (printed, no check)."""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["HG_BUILD_DIR"]
SOURCE = os.environ["HG_SOURCE_DIR"]
HOLOGRAM = os.path.join(BUILD, "hologram")
passed = failed = 0


def check(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED:", what)


class Server:
    def __init__(self, *arguments, encodings=None, start=True):
        self.process = subprocess.Popen([HOLOGRAM, "lsp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.next = 0
        self.said = {}
        if start:
            general = {"positionEncodings": encodings} if encodings else {}
            self.capabilities = self.ask("initialize", {"processId": None, "rootUri": None,
                                                        "capabilities": {"general": general}})["result"]
            self.tell("initialized", {})

    def send(self, message):
        body = json.dumps(message, ensure_ascii=False).encode()
        self.process.stdin.write(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
                                 % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            name, value = line.decode().split(":")
            if name.lower() == "content-length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.said[message["params"]["uri"]] = message["params"]
        return message

    def ask(self, method, params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        while True:
            message = self.receive()
            if message is None or message.get("id") == self.next:
                return message

    def wait_for(self, uri, version):
        while True:
            message = self.receive()
            if message is None:
                return None
            params = message.get("params", {})
            if params.get("uri") == uri and params.get("version") == version:
                return params["diagnostics"]

    def open(self, uri, text, version=1):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "atlas", "version": version,
                                                             "text": text}})
        return self.wait_for(uri, version)

    def at(self, method, uri, line, character):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri},
                                                   "position": {"line": line, "character": character}})["result"]

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.stdin.close()
        return self.process.wait(timeout=20)


TEXT = """.atlas 1
.program saxpy
.param r1 x buffer f32 in [n]
.param r2 y buffer f32 inout [n]
.param r3 n u64
.param r4 alpha f32
.const FOUR = 4
.lanes n
.reg a, b f32
.macro twice V
    add.f32 V, V, V
.end
    bra.ge global, n, @done ; “é𝄞” stays
    ldg a, [x[global]]
    ldg b, [y[global]]
    fma b, alpha, a, b
    stg [y[global]], b
done:
    exit
"""


def position(text, what, after=0, utf8=False):
    """Line and character of the first place of a word behind an offset."""
    at = text.index(what, after)
    before = text[:at]
    line = before.count("\n")
    row = before[before.rfind("\n") + 1:]
    return line, len(row.encode()) if utf8 else len(row.encode("utf-16-le")) // 2


def offset(text, place, utf8):
    lines = text.split("\n")
    row = lines[place["line"]]
    at, units = 0, 0
    while at < len(row) and units < place["character"]:
        units += len(row[at].encode()) if utf8 else len(row[at].encode("utf-16-le")) // 2
        at += 1
    return sum(len(line) + 1 for line in lines[:place["line"]]) + at


def edit(text, change, utf8=False):
    """What the text is after the edit: the test's own."""
    a, b = (offset(text, change["range"][k], utf8) for k in ("start", "end"))
    return text[:a] + change.get("newText", change.get("text")) + text[b:]


def session(utf8):
    s = Server(encodings=["utf-8", "utf-16"] if utf8 else None)
    what = "utf-8" if utf8 else "utf-16"
    check(s.capabilities["capabilities"]["positionEncoding"] == what, f"columns are {what}")
    uri = "file:///tmp/no%20such%20folder/saxpy.atlas"
    check(s.open(uri, TEXT) == [], f"{what}: a good text has no messages: {s.said.get(uri)}")

    # messages, and where they are: behind characters of two UTF-16 units
    wrong = TEXT.replace("stays\n", "stays\n    fmaa b, alpha, a, b ; 𝄞\n").replace("    exit", "    exit 7")
    s.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2},
                                      "contentChanges": [{"text": wrong}]})
    found = s.wait_for(uri, 2)
    check(len(found) == 2 and all(d["source"] == "hologram" and d["severity"] == 1 and d["code"] for d in found),
          f"two mistakes: {found}")
    line, character = position(wrong, "fmaa")
    check(found and found[0]["range"]["start"] == {"line": line, "character": character} and
          found[0]["range"]["end"] == {"line": line, "character": character + 4} and "fma" in found[0]["message"],
          f"the first names its word: {found[:1]}")

    # the same by ranges, several in one message, into the line with the wide characters
    text, changes = wrong, []
    for old, new in ((" ; “é𝄞” stays", " ; é“𝄞 𝄞”"), ("    exit 7", "    exit"), ("fmaa b, alpha, a, b", "")):
        line, character = position(text, old, 0, utf8)
        width = len(old.encode()) if utf8 else len(old.encode("utf-16-le")) // 2
        changes.append({"range": {"start": {"line": line, "character": character},
                                  "end": {"line": line, "character": character + width}}, "text": new})
        text = edit(text, changes[-1], utf8)
    s.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 3}, "contentChanges": changes})
    check(s.wait_for(uri, 3) == [], f"{what}: changes of ranges")
    formatted = s.ask("textDocument/formatting", {"textDocument": {"uri": uri},
                                                  "options": {"tabSize": 4, "insertSpaces": True}})["result"]
    laid_out = edit(text, formatted[0], utf8) if formatted else text
    own = subprocess.run([HOLOGRAM, "fmt", "-"], input=text.encode(), capture_output=True).stdout.decode()
    check(laid_out == own, f"{what}: the layout is that of hologram fmt")
    text = laid_out
    s.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 4}, "contentChanges": [{"text": text}]})
    s.wait_for(uri, 4)
    check(s.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})["result"] == [],
          "a text in its layout has no edits")

    # hover
    for word, after, expected in (("fma", 0, "rounded once"), ("alpha", text.index("fma"), ".param r4 alpha f32"),
                                  ("global", 0, "global_lane_id u64"), (".lanes", 0, "number of lanes"),
                                  ("bra.ge", 0, "bra"), ("FOUR", 0, ".const FOUR = 4")):
        answer = s.at("hover", uri, *position(text, word, after, utf8))
        check(answer and expected in answer["contents"]["value"], f"hover over {word}: {answer}")
        if answer:
            r = answer["range"]
            check(text[offset(text, r["start"], utf8):offset(text, r["end"], utf8)] == word, f"range of {word}: {r}")
    check(s.at("hover", uri, 900, 3) is None and s.at("hover", uri, 0, 900) is not False, "places that are not there")

    # definition
    for word, after, expected in (("alpha", text.index("fma"), ".param r4 "), ("done", text.index("bra"), ""),
                                  ("a", text.index("ldg") + 4, ".reg "), ("n", text.index(".lanes ") + 7, ".param r3 ")):
        line, character = position(text, word, after, utf8)
        answer = s.at("definition", uri, line, character)
        row = text.split("\n")[answer["range"]["start"]["line"]] if answer else ""
        check(answer and answer["uri"] == uri and row.startswith(expected) and word in row, f"definition of {word}: {row}")
    check(s.at("definition", uri, *position(text, "ldg")) is None, "an instruction is declared nowhere")

    # completion
    def labels(line, character):
        return [i["label"] for i in s.at("completion", uri, line, character)]
    line, character = position(text, "fma", 0, utf8)
    found = labels(line, character + 2)
    check("fma" in found and all(i.startswith("fm") for i in found), f"instructions that begin with fm: {found}")
    line, character = position(text, "alpha", text.index("fma"), utf8)
    check(labels(line, character + 2) == ["alpha"], f"names that begin with al: {labels(line, character + 2)}")
    line, character = position(text, "@done", 0, utf8)
    check(labels(line, character + 1) == ["done"], "labels behind @")
    check(".lanes" in labels(7, 2) and "add" not in labels(7, 2), f"directives: {labels(7, 2)}")
    check("twice" in labels(*position(text, "exit", 0, utf8)), "macros are instructions")

    check({"while", "exit", "let"} <= set(labels(*position(text, "exit", 0, utf8))), "statements, instructions")

    outline = s.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]
    check([o["name"] for o in outline] == ["saxpy", "x", "y", "n", "alpha", "FOUR", "a", "b", "twice", "done"],
          f"outline: {[o['name'] for o in outline]}")

    # closed: its messages go, it is no more
    s.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    check(s.at("hover", uri, 0, 0) is None and s.said[uri]["diagnostics"] == [], "a closed text")
    check(s.end() == 0, "shutdown and exit end it with 0")


STATEMENTS = """.atlas 1
.program collatz
.param n buffer u64 in [count]
.param steps buffer u32 out [count]
.param count u64
.lanes count
    let x = n[global]
    let rounds u32 = 0
    while x != 1 {
        if x % 2 == 0 {
            x /= 2
        } else {
            x = 3 * x + 1
        }
        rounds += 1
    }
    steps[global] = rounds
"""


FUNCTIONS = """.atlas 1
.program mix
.param y buffer f32 inout [count]
.param count u64
.lanes count
    y[global] = blend(y[global], 2, 0.5)

fn blend[T](a T, b T, t T) -> T {
    return a + (b - a) * t
}
"""


def functions():
    s = Server()
    uri = "file:///mix.atlas"
    check(s.open(uri, FUNCTIONS) == [], f"functions: {s.said.get(uri)}")
    body = FUNCTIONS.index("return")
    for word, after, line, column in (("blend", 0, 7, 3), ("t", FUNCTIONS.index("t\n}"), 7, 22), ("T", body - 20, 7, 9)):
        answer = s.at("definition", uri, *position(FUNCTIONS, word, after))
        start = answer and answer["range"]["start"]
        check(start == {"line": line, "character": column}, f"definition of {word}: {answer}")
    answer = s.at("hover", uri, *position(FUNCTIONS, "blend"))
    check(answer and "fn blend[T](a T, b T, t T) -> T {" in answer["contents"]["value"], f"hover over a call: {answer}")
    outline = s.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]
    check([x["name"] for x in outline if x["kind"] == 12] == ["blend"], f"outline: {outline}")
    for line, character in ((5, 6), (5, 22)):
        labels = [i["label"] for i in s.at("completion", uri, line, character)]
        check(line and ("blend" in labels or character == 6), f"completion: {labels}")
    found = s.open("file:///mix2.atlas", FUNCTIONS.replace("(b - a)", "(b - d)"))
    check(found and found[0]["range"]["start"]["line"] == 8, f"a mistake in a body: {found}")
    check(s.end() == 0, "it ends")


LANES = """.atlas 1
.program turn
.param x buffer f32 in [rows, cols]
.param y buffer f32 out [cols, rows]
.param rows u64
.param cols u64
.lanes [row < rows,
        col < max(cols, 1)]
    y[col, row] = x[row, col]
"""


def lanes():
    s = Server()
    uri = "file:///turn.atlas"
    check(s.open(uri, LANES) == [], f"coordinates: {s.said.get(uri)}")
    body = LANES.index("x[row")
    for word, line, column in (("row", 6, 8), ("col", 7, 8)):
        answer = s.at("definition", uri, *position(LANES, word, body))
        start = answer and answer["range"]["start"]
        check(start == {"line": line, "character": column}, f"definition of {word}: {answer}")
        answer = s.at("hover", uri, *position(LANES, word, body))
        check(answer and word + " < " in answer["contents"]["value"], f"hover over {word}: {answer}")
    line, character = position(LANES, "row", body)
    labels = [i["label"] for i in s.at("completion", uri, line, character + 2)]
    check(labels == ["row", "rows"] or labels == ["rows", "row"], f"completion: {labels}")
    found = s.open("file:///wrong_turn.atlas", LANES.replace("row < rows", "row rows"))
    check(len(found) == 1 and found[0]["range"]["start"]["line"] == 6, f"one mistake: {found}")
    check(s.end() == 0, "it ends")


def statements():
    s = Server()
    uri = "file:///collatz.atlas"
    check(s.open(uri, STATEMENTS) == [], f"statements: {s.said.get(uri)}")
    for word, after, line in (("x", STATEMENTS.index("x % 2"), 6), ("rounds", STATEMENTS.index("= rounds"), 7),
                              ("steps", STATEMENTS.index("steps["), 3)):
        answer = s.at("definition", uri, *position(STATEMENTS, word, after))
        check(answer and answer["range"]["start"]["line"] == line, f"definition of {word}: {answer}")
    for word, expected in (("while", "while a < b {"), ("let", "a new variable"), ("rounds", "rounds u32 = 0")):
        answer = s.at("hover", uri, *position(STATEMENTS, word))
        check(answer and expected in answer["contents"]["value"], f"hover over {word}: {answer}")
    found = s.open("file:///wrong.atlas", STATEMENTS.replace("x % 2 == 0", "x % 2"))
    check(found and found[0]["range"]["start"]["line"] == 9, f"a condition that is a number: {found}")
    check(s.end() == 0, "it ends")


def other_files():
    s = Server()
    graph = ".graph 1\n.input a f32 [4, 8]\n.input b f32 [8, 2]\nc = gemm a=a, b=b\n.output c\n"
    check(s.open("file:///g.graph", graph) == [], f"an array graph: {s.said}")
    answer = s.at("definition", "file:///g.graph", 4, 8)
    check(answer and answer["range"]["start"]["line"] == 3, f"a value of a graph: {answer}")
    check("array" in s.at("hover", "file:///g.graph", 1, 3)["contents"]["value"], "a directive of graphs")
    found = s.open("file:///h.graph", graph.replace("[8, 2]", "[7, 2]"))
    check(len(found) == 1 and found[0]["range"]["start"]["line"] == 3, f"shapes that do not fit: {found}")
    check(s.open("file:///k.json", "{}") != [], "a JSON kernel that is none")
    check(s.open("untitled:Untitled-1", TEXT) == [], "a text without a file")
    several = TEXT + "\n.program second\n    fmaa\n"
    found = s.open("file:///several.atlas", several)
    check(len(found) == 1 and found[0]["range"]["start"]["line"] == several[:several.index("fmaa")].count("\n"),
          f"texts with several programs: all are checked: {found}")
    check(s.open("file:///empty.atlas", "") is not None, "an empty text")
    with tempfile.TemporaryDirectory() as folder:
        part = os.path.join(folder, "a part.atlas")
        with open(part, "w") as f:
            f.write(".const SIX = 6\n.macro thrice V\n    mul.f32 V, V, 3.0\n.end\n")
        main = TEXT.replace(".const FOUR = 4", '.const FOUR = 4\n.include "a part.atlas"').replace(
            "    stg", "    thrice b\n    stg")
        uri = "file://" + folder.replace(" ", "%20") + "/main.atlas"
        check(s.open(uri, main) == [], f"a text that includes: {s.said.get(uri)}")
        answer = s.at("definition", uri, *position(main, "thrice"))
        check(answer and answer["uri"].endswith("/a%20part.atlas") and answer["range"]["start"] == {"line": 1, "character": 7},
              f"a macro of an included file: {answer}")
        answer = s.at("definition", uri, *position(main, "part.atlas"))
        check(answer and answer["uri"].endswith("/a%20part.atlas"), f"an included file: {answer}")
        with open(part, "w") as f:
            f.write(".const SIX = 6\n.macro thrice V\n    mull.f32 V, V, 3.0\n.end\n")
        s.tell("textDocument/didSave", {"textDocument": {"uri": uri}})
        found = s.wait_for(uri, 1)
        check(found and "a part.atlas:3" in found[0]["message"], f"a mistake in an included file: {found}")
    check(s.end() == 0, "it ends with 0")


def protocol():
    s = Server(start=False)
    check(s.ask("textDocument/hover", {})["error"]["code"] == -32002, "initialize comes first")
    check("result" in s.ask("initialize", {"capabilities": {}}), "initialize")
    check(s.ask("initialize", {"capabilities": {}})["error"]["code"] == -32600, "once")
    check(s.ask("workspace/none", None)["error"]["code"] == -32601, "an unknown request")
    s.tell("$/setTrace", {"value": "off"})
    s.send({"jsonrpc": "2.0", "id": "a \u00e9", "method": "shutdown"})
    check(s.receive() == {"jsonrpc": "2.0", "id": "a \u00e9", "result": None}, "ids may be texts")
    check(s.ask("textDocument/hover", {})["error"]["code"] == -32600, "nothing after shutdown")
    s.tell("exit", None)
    check(s.process.wait(timeout=20) == 0, "exit after shutdown is 0")
    s = Server()
    s.tell("exit", None)
    check(s.process.wait(timeout=20) == 1, "exit without shutdown is 1")
    s = Server()
    s.process.stdin.close()
    check(s.process.wait(timeout=20) == 1, "the end of input without shutdown is 1")
    s = Server()
    s.process.stdin.write(b"Content-Length: 3\r\n\r\n{x}")
    s.process.stdin.flush()
    check(s.receive()["error"]["code"] == -32700, "no JSON")
    for params in ({}, {"textDocument": 3}, {"textDocument": {"uri": 3}}, [1], "a", {"textDocument": {"uri": "file:///x"}}):
        for method in ("didOpen", "didChange", "didClose", "didSave"):
            s.tell("textDocument/" + method, params)
        for method in ("hover", "completion", "definition", "documentSymbol", "formatting"):
            check(s.ask("textDocument/" + method, params).get("result", 0) is None, f"{method} of nothing: {params}")
    check(s.end() == 0, "odd messages leave it as it was")
    for bad in (b"Hello\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n", b"x" * 9000):
        run = subprocess.run([HOLOGRAM, "lsp"], input=bad, capture_output=True, timeout=20)
        check(run.returncode == 2 and b"Content-Length" in run.stderr, f"input that is no protocol: {run}")


def random_edits(rounds):
    """Edits of any kind: the text that the server has is the one that the test has, or the formatted
    texts would differ; and it answers whatever the text is."""
    rng = random.Random(7)
    s = Server()
    uri, text = "file:///random.atlas", TEXT
    s.open(uri, text)
    for version in range(2, 2 + rounds):
        a = rng.randrange(len(text) + 1)
        b = min(len(text), a + rng.choice((0, 0, 1, 3, 40)))
        new = rng.choice(("", "\n", "r1", ".f32", "𝄞", "é", '"', "; x\n", "{", "[", "\r\n", "@", ".param ", ",", "add b, b, a\n"))
        if text[a - 1:a] == "\r" or text[b - 1:b] == "\r":
            continue  # the protocol has no place between CR and LF
        place = [dict(zip(("line", "character"), (text[:i].count("\n"), len(text[text[:i].rfind("\n") + 1:i]
                                                                            .encode("utf-16-le")) // 2))) for i in (a, b)]
        s.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [
            {"range": {"start": place[0], "end": place[1]}, "text": new}]})
        text = text[:a] + new + text[b:]
        outline = s.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]
        lines = text.split("\n")
        good = all(o["name"] in lines[o["range"]["start"]["line"]] for o in outline)
        for method in ("hover", "completion", "definition"):
            good = good and s.at(method, uri, rng.randrange(len(lines)), rng.randrange(60)) is not False
        if rng.random() < 0.1:
            found = s.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})["result"]
            own = subprocess.run([HOLOGRAM, "fmt", "-"], input=text.encode(), capture_output=True)
            good = good and (not found or own.returncode or edit(text, found[0]) == own.stdout.decode())
        if not good:
            check(False, f"after edit {version}: {text!r}")
            break
    else:
        check(True, "random edits")
    check(s.end() == 0, "and it ends")


def speed():
    body = "".join(f"    fma b, alpha, a, b\n    add a, a, {i}.0\n" for i in range(240))
    text = TEXT.replace("done:", body + "done:")
    s = Server()
    uri = "file:///long.atlas"
    s.open(uri, text)
    times = []
    for version in range(2, 42):
        start = time.perf_counter()
        s.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [
            {"range": {"start": {"line": 13, "character": 4}, "end": {"line": 13, "character": 4}}, "text": ""}]})
        s.wait_for(uri, version)
        times.append(time.perf_counter() - start)
    times.sort()
    s.end()
    print(f"lsp: {text.count(chr(10))} lines, messages after a key: median {times[20] * 1e3:.1f} ms, most {times[-1] * 1e3:.1f} ms")


def editor():
    """The files for editors: the grammar knows the directives, and finds something in each statement."""
    folder = os.path.join(SOURCE, "tools/editor/vscode")
    package, grammar, _ = (json.load(open(os.path.join(folder, name)))
                           for name in ("package.json", "syntaxes/atlas.tmLanguage.json", "language-configuration.json"))
    check(package["contributes"]["grammars"][0]["scopeName"] == grammar["scopeName"], "the grammar that the package names")
    rules = {name: [re.compile(p.get("match") or p["begin"]) for p in rule.get("patterns", [rule]) if "match" in p or "begin" in p]
             for name, rule in grammar["repository"].items()}
    rules["string"] = [re.compile(grammar["repository"]["string"]["begin"])]
    check({p["include"][1:] for p in grammar["patterns"]} == set(rules), "all rules are used")
    pages = [open(os.path.join(SOURCE, "docs/reference", name)).read() for name in ("language.md", "graph.md")]
    words = {w for page in pages for row in page.split("\n") if row.startswith("| `.") for w in re.findall(r"`(\.[a-z]+)", row.split("|")[1])}
    check(len(words) > 25, f"directives of the pages: {sorted(words)}")
    for word in sorted(words):
        check(any(r.match(word + " x") for r in rules["directive"]), f"the grammar has {word}")
    lines = 0
    for path in glob.glob(os.path.join(SOURCE, "examples/**/*.atlas"), recursive=True) + glob.glob(
            os.path.join(SOURCE, "src/library/*.atlas")):
        open_line = False
        for number, line in enumerate(open(path), 1):
            code = line.split(";")[0].rstrip()
            begins = any(r.match(code) for name in ("directive", "label", "control", "instruction") for r in rules[name])
            if code and not open_line:
                lines += 1
                if not begins and not re.match(r"\s*(\}|[A-Za-z_].*=)", code):
                    check(False, f"{path}:{number}: the grammar has nothing for {code!r}")
            open_line = code.endswith(",")
    check(lines > 2000, f"{lines} statements")
    if shutil.which("node"):
        check(subprocess.run(["node", "--check", os.path.join(folder, "extension.js")]).returncode == 0, "extension.js")


session(False)
session(True)
functions()
lanes()
statements()
editor()
other_files()
protocol()
random_edits(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
speed()
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
