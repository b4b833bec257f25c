"""Fragments of Python made to parse, so that a syntax tree can be looked at.

Documentation shows pieces: a body without its `def`, a prompt before each line, a block that ends too early,
Python 2. What is wrong is mended where it is known how; else the line is blanked, up to a limit.
"""

import ast
import re
import textwrap

_PROMPT = re.compile(r"^[ \t]*(?:>>> ?|\.\.\. |\.\.\.$|In \[\d{1,4}\]: |   \.\.\.: )")
_SHELL_LINE = re.compile(r"^([ \t]*)[!%$].*")
_PYTHON_2 = (
    (re.compile(r"\bprint[ \t]+(?:>>[ \t]*[\w.]{1,60}[ \t]*,[ \t]*)?(?![(=.,)\]])([^#\n]{0,500})"), r"print(\1)"),
    (
        re.compile(r"^([ \t]*)exec[ \t]+(?!\()([^#\n]{1,300}?)(?:[ \t]+in[ \t][^#\n]{0,200})?$", re.MULTILINE),
        r"\1exec(\2)",
    ),
    (re.compile(r"\bexcept[ \t]+([^:,\n]{1,100}|\([^:\n]{1,100}\)),[ \t]*(\w+)[ \t]*:"), r"except \1 as \2:"),
    (re.compile(r"\braise[ \t]+([\w.]{1,80})[ \t]*,[ \t]*([^#\n]{1,300})"), r"raise \1(\2)"),
    (re.compile(r"(?<![\w.])0+([0-7]+)(?![\w.])"), r"0o\1"),
    (re.compile(r"(?<![\w.])(\d+)[lL]\b"), r"\1"),
    (re.compile(r"\b[uU][rR](?=['\"])"), "r"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"`([^`\n]{1,100})`"), r"repr(\1)"),
)
_TRIPLE = re.compile(r'"""|\'\'\'')
_STRING = re.compile(
    r"#[^\n]*|\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?", re.DOTALL
)
_MISSING_BODY = re.compile(r"expected an indented block after .{0,60} on line (\d+)")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
MOST_REPAIRS = 16
"""Lines that are mended one after the other; more is no Python."""


def parsed(code: str) -> ast.Module | None:
    """The syntax tree of a fragment of Python, None where it can't be made to parse."""
    lines = _statements(code)
    return _tree(lines) or _mended(_whole(lines))


def _tree(lines: list[str]) -> ast.Module | None:
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _statements(code: str) -> list[str]:
    """The lines at their own indentation, without prompts, their output and shell escapes."""
    lines = textwrap.dedent(code.replace("\0", "").expandtabs(4)).strip("\n").split("\n")
    prompted = [_PROMPT.sub("", line) for line in lines if _PROMPT.match(line)]
    if any(line.lstrip().startswith((">>>", "In [")) for line in lines):
        lines = prompted
    return [_SHELL_LINE.sub(r"\1pass", line) for line in lines]


def _whole(lines: list[str]) -> list[str]:
    """Python 2 rewritten, and what was cut off put back: half a docstring, headers, closing brackets."""
    code = _with_whole_docstrings("\n".join(lines))
    for pattern, new in _PYTHON_2:
        code = pattern.sub(new, code)
    code = textwrap.dedent(code)
    return [*_headers(code), *code.split("\n"), *_closers(code)]


def _with_whole_docstrings(code: str) -> str:
    """Without the prose before a docstring's end, where its beginning was cut off."""
    first = _TRIPLE.search(code)
    if first is None:
        return code
    before = code[: first.start()].rstrip(" \t")
    cut = before.strip() and before.endswith("\n") and not _is_code(textwrap.dedent(before))
    rest = code[first.end() :] if cut else code
    return f"{rest}\n{first[0]}" if rest.count(first[0]) % 2 else rest


def _is_code(before: str) -> bool:
    """Whether these lines, up to a docstring, are Python."""
    lines = [*_headers(before), *before.rstrip().split("\n")]
    body = " " * (_indentation(lines[-1]) + 1) + "pass"
    return _tree([*lines, body] if lines[-1].endswith(":") else lines) is not None


def _headers(code: str) -> list[str]:
    """An `if` for each level that the fragment leaves without having entered it."""
    levels: list[int] = []
    for line in code.split("\n"):
        if line.strip() and (not levels or _indentation(line) < levels[-1]):
            levels.append(_indentation(line))
    return [f"{' ' * level}if 1:" for level in sorted(levels)[:-1]]


def _closers(code: str) -> list[str]:
    open_brackets: list[str] = []
    for char in _STRING.sub("", code):
        if char in _PAIRS:
            open_brackets.append(_PAIRS[char])
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
    return ["".join(reversed(open_brackets))] if open_brackets else []


def _mended(lines: list[str]) -> ast.Module | None:
    """The tree after repairs, each where the parser says that it stopped."""
    lines = [*lines, "pass"]  # an error at the end is then an error at a line
    blanked: set[str] = set()
    for _ in range(min(MOST_REPAIRS, 2 + len(lines) // 2)):
        try:
            return ast.parse("\n".join(lines))
        except SyntaxError as error:
            at = min(max(error.lineno or 1, 1), len(lines)) - 1
            if not _repair(lines, at, str(error.msg), blanked):
                return None
        except (ValueError, RecursionError, MemoryError):
            return None
    return _tree(lines)


def _repair(lines: list[str], at: int, message: str, blanked: set[str]) -> bool:
    """Mend the line that the message is about, or blank it; whether there was anything left to try."""
    line = lines[at]
    outer = next((_indentation(text) for text in reversed(lines[:at]) if text.strip()), 0)
    indent = " " * _indentation(line)
    if missing := _MISSING_BODY.match(message):
        lines.insert(at, " " * (_indentation(lines[int(missing[1]) - 1]) + 1) + "pass")
    elif message.startswith("expected 'except'"):
        _last(lines, at, "try:", "if 1:")
    elif message.startswith("unexpected indent"):
        lines.insert(at, " " * outer + "if 1:")
    elif message.startswith("unindent"):
        lines[at] = " " * outer + line.lstrip()
    elif at == len(lines) - 1 and "@" not in blanked:
        blanked.add("@")
        return _last(lines, at, "@", "")
    elif not line.strip() or line.strip() == "pass":
        lines[at] = ""
        return bool(line)
    else:
        lines[at] = indent + ("if 1:" if line.rstrip().endswith(":") and line.strip() != "if 1:" else "pass")
    return True


def _last(lines: list[str], at: int, start: str, new: str) -> bool:
    """Change the last line before `at` that starts so; a decorator is given the function that it lacks."""
    for number in range(at - 1, -1, -1):
        if lines[number].lstrip().startswith(start):
            indent = " " * _indentation(lines[number])
            if new:
                lines[number] = indent + new
            else:
                lines.insert(at, f"{indent}def fragment(): pass")
            return True
    return False


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
