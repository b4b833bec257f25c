"""The house rules that no linter knows: sizes, names, words, and what tracked files must not contain.

The table of exceptions is a ratchet. An entry gives the size as it is; it fails when the thing grows,
and also when it has shrunk, so that the table only ever gets shorter.
"""

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ("schemas", "tasks", "flows", "orgmem", "examples", "tools", "benchmarks")

EXCEPTIONS: dict[str, int] = {}
"""`path` or `path::function` and its lines, where a limit is not yet kept."""

FORBIDDEN_NAMES = {"util", "utils", "helper", "helpers", "manager", "base", "common"}
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK")) + r")\b")
ELSEWHERE = re.compile(
    r"(?<![\w.:-])/(?:work|root)/"  # folders of a machine the project was built on
    r"|pypi\.\w+|pythonhosted|registry\.npmjs|index-url",  # an index is the installing company's choice
)


@dataclass(frozen=True)
class Size:
    """A file, function, flow body or task body: its lines and how many it may have."""

    name: str
    lines: int
    limit: int


def tracked() -> tuple[Path, ...]:
    """Files that git has or would add, without binary ones."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    files = (ROOT / os.fsdecode(name) for name in listing.stdout.split(b"\0") if name)
    return tuple(path for path in files if path.is_file() and b"\0" not in path.read_bytes()[:8192])


TRACKED = tracked()
MODULES = tuple(path for path in TRACKED if path.suffix == ".py")
SOURCES = tuple(path for path in MODULES if path.relative_to(ROOT).parts[0] in SOURCE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Last names of the decorators: `flow` for `@flow`, `@prefect.flow` and `@flow(name=...)`."""
    called = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return {d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "") for d in called}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the statements, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def sizes(path: Path) -> Iterator[Size]:
    name = name_of(path)
    text = path.read_text(encoding="utf-8")
    yield Size(name, len(text.splitlines()), 500 if name.startswith("tests/") else 300)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield Size(f"{name}::{node.name}", (node.end_lineno or 0) - node.lineno + 1, 40)
        if "flow" in decorators(node):
            yield Size(f"{name}::{node.name} (flow body)", body_lines(node), 30)
        if {"task", "retryable"} & decorators(node):  # retryable: our own way to declare one
            yield Size(f"{name}::{node.name} (task body)", body_lines(node), 15)


def test_files_functions_flows_and_tasks_keep_to_their_size() -> None:
    over = {size.name: size for path in MODULES for size in sizes(path) if size.lines > size.limit}
    new = [f"{s.name}: {s.lines} lines, at most {s.limit}" for s in over.values() if s.name not in EXCEPTIONS]
    assert not new, "\n".join(new)
    stale = [
        f"{name}: the table says {lines}, it has {over[name].lines if name in over else 'a good size'}"
        for name, lines in EXCEPTIONS.items()
        if name not in over or over[name].lines != lines
    ]
    assert not stale, "\n".join(stale)


def test_only_settings_reads_the_environment() -> None:
    """Exempt are benchmarks, which hand a whole environment to the processes they start, and capture, whose hooks
    can't wait for the settings' imports, and which looks for the marks of assistants."""
    readers = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        if name_of(path) != "orgmem/settings.py"
        and not name_of(path).startswith(("benchmarks/", "orgmem/capture/"))
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv", "putenv"})
        or (isinstance(node, ast.ImportFrom) and {"environ", "getenv"} & {a.name for a in node.names})
    ]
    assert not readers


def words_of(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def test_no_name_says_only_that_something_is_useful() -> None:
    folders = {part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts}
    defined = {
        node.name
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
        or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("test_"))
    }
    assert not [name for name in sorted(folders | defined) if words_of(name) & FORBIDDEN_NAMES]


def test_nothing_is_marked_as_unfinished() -> None:
    assert not list(lines_with(UNFINISHED))


def test_no_file_names_this_machine_or_an_index() -> None:
    assert not list(lines_with(ELSEWHERE))


def lines_with(pattern: re.Pattern[str]) -> Iterator[str]:
    for path in TRACKED:
        if path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := pattern.search(line):
                yield f"{name_of(path)}:{number}: {found[0]}"


def test_every_module_says_what_it_is() -> None:
    assert not [name_of(path) for path in SOURCES if not ast.get_docstring(tree_of(path))]


def test_tests_are_no_packages() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


def requirements(lock: str) -> dict[str, str]:
    """Requirement with its marker -> its continuation lines, of a lock file."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = re.findall(r"^([\w.\[\],-]+==[^\n\\]+?) *\\?\n((?:[ #].*\n)*)", text, re.MULTILINE)
    return dict(entries)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_locks_have_hashes_and_name_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash)", text, re.MULTILINE)
    pinned = requirements(lock)
    assert len(pinned) > 100
    assert not [name for name, rest in pinned.items() if "--hash=sha256:" not in rest]


def test_the_development_lock_pins_what_the_runtime_lock_pins() -> None:
    runtime, development = (
        {entry.split(" ;")[0] for entry in requirements(name)}
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert not runtime - development


def test_continuous_integration_runs_the_tests() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")
