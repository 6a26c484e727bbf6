#!/usr/bin/python3
"""The table of commands and options (cli/commands.def): the parser, help, the guide, the manual page and the completion scripts say the same.

    table.py            checks
    table.py --write    writes the tables of docs/guide/command.md

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish, skip

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
COMMAND = os.path.join(BUILD, "hologram")
GUIDE = os.path.join(SOURCE, "docs", "guide", "command.md")
BEGIN, END = "<!-- `hologram help --markdown`, checked by tests/command/table.py: do not edit -->\n", "<!-- end of the tables -->\n"


def run(*arguments):
    process = subprocess.run([COMMAND, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, env={**os.environ, "HOLOGRAM_BACKEND": "nowhere"})
    return process.returncode, process.stdout.decode(), process.stderr.decode()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def commands():
    status, out, err = run("help", "--json")
    check(status == 0 and err == "", f"help --json: {err}")
    return json.loads(out)["outputs"]


def parser(table):
    """Every row is taken by its command, with as many values as it says, and no command takes what has no row."""
    for command in table:
        for option in command["options"]:
            if option["name"] == "--help":
                continue
            value = [] if option["value"] is None else ["a=b"]
            status, _, err = run(command["command"], option["name"], *value, "--no-such-option")
            json_status, out, _ = (status, "", "") if option["name"] != "--json" else run(command["command"], "--json", "--no-such-option")
            said = out + err
            check(status == 2 and json_status == 2 and "unknown option '--no-such-option'" in said, f"{command['command']} {option['name']}: {said}")
    names = {option["name"] for command in table for option in command["options"]}
    for path in glob.glob(os.path.join(SOURCE, "cli", "*.[ch]")):
        for name in re.findall(r'\{"(--?[a-z][a-z-]*)", (?:&|NULL)', read(path)):
            check(name in names, f"{path}: {name} is in no row of cli/commands.def")
    status, _, err = run("run", "--bakend", "cpu", "x")
    check(status == 2 and "did you mean '--backend'?" in err and "hologram run --help" in err, f"a misspelt option: {err}")
    status, _, err = run("rum")
    check(status == 2 and "did you mean 'run'?" in err, f"a misspelt command: {err}")


def helped(table):
    """COMMAND --help, COMMAND -h, help COMMAND: one text, with every option and its explanation, whatever else the line has."""
    for command in table:
        name = command["command"]
        texts = [run(name, "--help"), run(name, "-h"), run("help", name), run(name, "nowhere.atlas", "--help")]
        check(all(text == texts[0] for text in texts) and texts[0][0] == 0 and texts[0][2] == "", f"{name} --help: {texts}")
        folded = " ".join(texts[0][1].split())
        for option in command["options"]:
            check(option["name"] in folded and option["what"] in folded, f"{name} --help does not explain {option['name']}")
            check(option["what"] and not option["what"].endswith("."), f"{name} {option['name']}: the text is a phrase")
        check(max(map(len, texts[0][1].split("\n"))) <= 110, f"{name} --help: lines too wide")
        status, out, _ = run(name, "--json", "--help")
        check(status == 0 and json.loads(out)["outputs"] == [command], f"{name} --json --help: {out[:300]}")
    status, overview, _ = run("--help")
    for command in table:
        check(status == 0 and re.search(rf"^  {command['command']}\b", overview, re.M), f"--help does not name {command['command']}")


def guide(table):
    text = read(GUIDE)
    _, markdown, _ = run("help", "--markdown")
    if "--write" in sys.argv[1:]:
        text = text[:text.index(BEGIN) + len(BEGIN)] + markdown + "\n" + text[text.index(END):]
        with open(GUIDE, "w", encoding="utf-8") as file:
            file.write(text)
    check(BEGIN + markdown + "\n" + END in text, "docs/guide/command.md: its tables are not those of `hologram help --markdown`: tests/command/table.py --write")
    names = {option["name"] for command in table for option in command["options"]} | {"--version"}
    spoken = re.sub(r"```.*?```", "", text, flags=re.S)
    for name in set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", spoken)):
        check(name in names, f"docs/guide/command.md: no command has the option {name}")
    for command in table:
        check(re.search(rf"^\| `{command['command']}[ `]", text, re.M), f"docs/guide/command.md: the first table has no row for {command['command']}")


def pages(table):
    """The manual page and the scripts are well-formed and have every option."""
    names = {option["name"] for command in table for option in command["options"]}
    with tempfile.TemporaryDirectory() as folder:
        _, manual, _ = run("help", "--man")
        for name in names:
            check("\n.B " + name.replace("-", "\\-") in manual, f"the manual page does not have {name}")
        if shutil.which("groff"):
            formatted = subprocess.run(["groff", "-K", "utf8", "-man", "-T", "utf8", "-ww"], input=manual.encode(), capture_output=True)
            check(formatted.returncode == 0 and not formatted.stderr, f"groff: {formatted.stderr.decode()}")
        else:
            skip("groff is not here: the manual page is not formatted")
        for shell in "bash", "zsh", "fish":
            _, script, _ = run("help", "--completion", shell)
            path = os.path.join(folder, shell)
            with open(path, "w") as file:
                file.write(script)
            for name in names:
                short = name.lstrip("-")
                check(re.search(rf"(?:-l |-s ){short} " if shell == "fish" else rf"(?<![\w-]){name}(?![\w-])", script), f"{shell}: no {name}")
            if shutil.which(shell):
                parsed = subprocess.run([shell, "-n", path], capture_output=True)
                check(parsed.returncode == 0 and not parsed.stderr, f"{shell} -n: {parsed.stderr.decode()}")
            else:
                skip(f"{shell} is not here: its script is not parsed")
        if shutil.which("bash"):
            words = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hologram 2>/dev/null; echo ${COMPREPLY[*]}'
            for line, answer in (["hologram", "ru"], "run"), (["hologram", "run", "p", "--check-"], "--check-races"), (["hologram", "run", "p", "--backend", "cp"], "cpu"), \
                    (["hologram", "emit", "--form", "=", "b"], "block"), (["hologram", "atlas", "orb"], "orbit"), (["hologram", "help", "str"], "stream"):
                done = subprocess.run(["bash", "-c", f"source {folder}/bash; {words}", "bash", *line], capture_output=True, text=True)
                check(done.stdout == answer + "\n", f"bash completes {line} to {done.stdout!r}, expected {answer}")
    status, _, err = run("help", "--completion", "csh")
    check(status == 2 and "expects bash, zsh or fish" in err, f"csh: {err}")


def main():
    table = commands()
    for part in parser, helped, guide, pages:
        part(table)
    return finish()


sys.exit(main())
