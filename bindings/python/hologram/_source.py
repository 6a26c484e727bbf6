"""Sources of functions as syntax trees, and the text of what is wrong in them."""
import ast
import linecache

from . import _errors

ROOM = 1_000_000  # lines of a file: a place of a program is the file's number times this, and the line


class CompileError(_errors.ProgramError):
    """A kernel that cannot be compiled: file, line, column, hint say where and what to write instead."""

    file = None


def show(file, line, column, length, lines=None):
    """The line with a caret under the place."""
    text = (lines[line - 1] if lines and line <= len(lines) else linecache.getline(file, line)).rstrip("\n")
    if not text.strip():
        return ""
    data = text.encode()
    before = data[:column - 1].decode(errors="replace")
    marked = max(1, min(len(data[column - 1:column - 1 + length].decode(errors="replace")), len(text) - len(before)))
    blank = "".join(c if c == "\t" else " " for c in before)
    return f"{line:5} | {text}\n      | {blank}^{'~' * (marked - 1)}"


def message_at(file, line, column, length, message, hint=None, lines=None, kind="error"):
    shown = show(file, line, column, length, lines)
    return f"{file}:{line}:{column}: {kind}: {message}" + ("\n" + shown if shown else "") + (f"\n   hint: {hint}" if hint else "")


def indentation(line):
    return len(line) - len(line.lstrip(" \t"))


def lines_of(function):
    """The lines of its definition, and the number of the first; OSError where there are none. What inspect does by looking at all modules and
    taking the file apart into tokens, which costs more than the compilation of a kernel."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines, first = linecache.getlines(code.co_filename, function.__globals__), code.co_firstlineno
    if not 0 < first <= len(lines):
        raise OSError
    outer = indentation(lines[first - 1])
    end = max(first, *(last or line or 0 for line, last, _, _ in code.co_positions()))  # the code goes on to here, behind it what is indented
    while end < len(lines) and (not lines[end].strip() or indentation(lines[end]) > outer):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return lines[first - 1:end], first


def parameters_of(node):
    """The nodes of a function's parameters."""
    given = node.args
    return [one for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one]


class Source:
    """A function's syntax tree and where it stands."""

    def __init__(self, function):
        self.function = function
        self.file = function.__code__.co_filename
        try:
            lines, first = lines_of(function)
        except OSError:
            raise CompileError(f"{self.file}: error: the source of {function.__qualname__} cannot be read, and a kernel is compiled from it\n"
                               "   hint: define the function in a file or in a cell of a notebook; for text given to exec(), put it into linecache.cache first",
                               hint="define the function in a file or in a cell of a notebook") from None
        self.text = "".join(lines)
        inner = self.text[:1] in " \t"  # an indented block: columns stay those of the file
        self.first = first - (2 if inner else 1)
        self.lines = ([b""] if inner else []) + self.text.encode().split(b"\n")
        try:
            tree = ast.parse("if 1:\n" + self.text if inner else self.text)
            body = tree.body[0].body if inner else tree.body
        except SyntaxError:  # a lambda in the middle of an expression
            body = []
        if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
            column = len(lines[0]) - len(lines[0].lstrip()) + 1
            what = "a lambda" if function.__name__ == "<lambda>" else "not a plain function"
            raise CompileError(message_at(self.file, first, column, len(lines[0].strip()), f"this is {what}: it cannot be compiled",
                                          "write a function with def"), file=self.file, line=first, column=column)
        self.node, self.facts = body[0], {}  # facts: of analyses, by their names

    def place(self, node):
        """(line, column, bytes to mark) of a node in the file."""
        line, column = node.lineno, node.col_offset
        end = node.end_col_offset if node.end_lineno == line else len(self.lines[line - 1])
        return line + self.first, column + 1, max(1, end - column)

    def segment(self, node):
        line, column = node.lineno, node.col_offset
        end = node.end_col_offset if node.end_lineno == line else len(self.lines[line - 1])
        return self.lines[line - 1][column:end]

    def error(self, node, message, hint=None):
        line, column, length = self.place(node)
        return CompileError(message_at(self.file, line, column, length, message, hint), file=self.file, line=line, column=column, length=length, hint=hint)
