"""The packages that manifests declare: requirements, pyproject, package.json, Gemfile, go.mod, Cargo.toml ...

Fragments of manifests stand anywhere in a text, so each shape is looked for by itself.
"""

import re
from collections.abc import Iterator

from tasks.gate.dependency_mention import VERSION, Mention, Package, Source, package
from tasks.gate.dependency_names import Ecosystem, load, passes_for

_FLAGS = re.MULTILINE
_BOUND = r"(?:===?|~=|>=|<=|!=|<|>)[ ]?\d[\w.*+!]{0,40}"
_FIRST = r"(?:(?:===?|~=|>=|<=|!=|<|>)\d|[ ](?:===?|~=|>=|<=)[ ]?\d{1,9}\.\d)[\w.*+!]{0,40}"  # code == 0 is none
_REQUIREMENT = re.compile(
    rf"""^[ \t]{{0,20}}(?:[-*][ \t]+)?["'`]?
    ([A-Za-z0-9][\w.-]{{0,98}}(?:\[[\w,. -]{{0,100}}\])?{_FIRST})(?:[ ]?,[ ]?{_BOUND}){{0,6}}
    [ \t]{{0,20}}["'`]?,?(?:[ \t]{{0,20}}[;#\\][^\n]{{0,300}})?\r?$""",
    _FLAGS | re.VERBOSE,
)
_QUOTED_REQUIREMENT = re.compile(
    rf"""["'`]([A-Za-z0-9][\w.-]{{0,98}}(?:\[[\w,. -]{{0,100}}\])?{_FIRST})"""
    rf"""(?:[ ]?,[ ]?{_BOUND}){{0,6}}[^"'`\n]{{0,200}}["'`]"""
)
_ARRAY = re.compile(
    r"""^[ \t]{0,20}(?:dependencies|requires|dev|test|tests|docs|lint)[ ]{0,9}=[ ]{0,9}
    \[((?:[\s,]|"[^"\n]{0,200}"|'[^'\n]{0,200}'|\#[^\n]{0,200})*)""",
    _FLAGS | re.VERBOSE,
)
_OBJECT = re.compile(
    r""""(?:(?P<npm>(?:dev|peer|optional)?[dD]ependencies|resolutions|overrides)|(?P<composer>require(?:-dev)?))"
    [ ]{0,9}:\s{0,9}\{((?:[\s,]|"[^"\n]{1,200}"[ ]{0,9}:[ ]{0,9}"[^"\n]{0,200}")*)""",
    re.VERBOSE,
)
_PAIR = re.compile(r""""([^"\n]{1,200})"[ ]{0,9}:[ ]{0,9}"([^"\n]{0,200})\"""")
_QUOTED = re.compile(r"""["']([^"'\n]{1,200})["']""")
_TABLE = re.compile(r"""^[ \t]{0,9}\[([^\]\n]{1,100})\][ \t]{0,9}\r?$""", _FLAGS)
_TABLE_END = re.compile(r"\n(?:\[|[ \t]{0,9}```|\r?\n#)")
_ROW = re.compile(
    r"""^[ \t]{0,9}["']?([\w.-]{1,99})["']?[ \t]{0,9}=[ \t]{0,9}(?:["']([^"'\n]{0,99})["']|\{([^}\n]{0,400})\})""",
    _FLAGS,
)
_TABLES: dict[str, Ecosystem] = {
    "dependencies": "cargo", "dev-dependencies": "cargo", "build-dependencies": "cargo",
    "workspace.dependencies": "cargo", "tool.poetry.dependencies": "pypi", "tool.poetry.dev-dependencies": "pypi",
    "tool.poetry.group.dev.dependencies": "pypi", "tool.poetry.group.test.dependencies": "pypi",
    "packages": "pypi", "dev-packages": "pypi",
}  # fmt: skip
_LINES: tuple[tuple[Ecosystem, re.Pattern[str]], ...] = (
    ("gem", re.compile(
        r"""^[ \t]{0,20}gem[ (]{1,4}["']([\w.-]{1,98})["'](?:[ ]{0,4},[ ]{0,4}["']=?[ ]?(\d[\w.]{0,40})["'])?""",
        _FLAGS,
    )),
    ("go", re.compile(
        rf"""^[ \t]{{0,20}}(?:require[ \t]{{1,9}})?([\w-]{{1,60}}(?:\.[\w-]{{1,60}}){{1,4}}/[\w./~-]{{1,150}})"""
        rf"[ \t]{{1,9}}({VERSION})",
        _FLAGS,
    )),
    ("nuget", re.compile(
        r"""<PackageReference\s{1,20}Include="([\w.-]{1,98})"(?:\s{1,20}Version="\[?(\d[\w.-]{0,40})\]?")?"""
    )),
    ("actions", re.compile(
        r"""^[ \t-]{0,20}uses:[ ]{1,4}["']?([\w.-]{1,98}/[\w./-]{1,98})@([\w./-]{1,60})""", _FLAGS
    )),
    ("npm", re.compile(r"""(?<=`)((?:@[\w.~-]{1,98}/)?[a-z][\w.~-]{0,98})@(\d[\w.+-]{0,40})(?=`)""")),
)  # fmt: skip
_ACTION = re.compile(r"(?<![\w./@-])([\w.-]{1,98}/([\w.-]{1,98}))(?![\w/])")
_EXACT = re.compile(rf"(?:={{1,3}}[ ]?)?({VERSION})")


def of_manifests(text: str) -> Iterator[Mention]:
    """The packages and URLs that fragments of manifests in the text declare."""
    if "=" in text or "<" in text or ">" in text or "~" in text:
        yield from _of_python(text)
        yield from _of_tables(text)
    for block in _OBJECT.finditer(text):
        ecosystem: Ecosystem = "npm" if block["npm"] else "composer"
        for pair in _PAIR.finditer(block[3]):
            yield from _declared(ecosystem, pair[1], pair[2], block.start(3) + pair.start(1))
    if "action" in text.lower():
        yield from _of_actions(text)
    for kind, pattern in _LINES:
        for line in pattern.finditer(text):
            yield from _declared(kind, line[1], line[2] or "", line.start(1))


def _of_actions(text: str) -> Iterator[Mention]:
    """Actions in prose; since paths look alike, only those that pass for a popular one of the same last name."""
    ends = {name.partition("/")[2] for name in load("actions").known}
    for action in _ACTION.finditer(text):
        if action[2].lower() in ends and passes_for("actions", action[1]):
            yield Package("actions", action[1], None, action.start())


def _of_python(text: str) -> Iterator[Mention]:
    for pattern in (_REQUIREMENT, _QUOTED_REQUIREMENT):
        for line in pattern.finditer(text):
            if (found := package("pypi", line[1], line.start(1))) is not None:
                yield found
    for array in _ARRAY.finditer(text):
        for name in _QUOTED.finditer(array[1]):
            if (found := package("pypi", name[1], array.start(1) + name.start(1))) is not None:
                yield found


def _of_tables(text: str) -> Iterator[Mention]:
    """The rows of [dependencies] and [tool.poetry.dependencies], up to the next table or a fence."""
    for table in _TABLE.finditer(text):
        ecosystem = _TABLES.get(table[1])
        if ecosystem is None:
            continue
        end = _TABLE_END.search(text, table.end())
        for row in _ROW.finditer(text, table.end(), end.start() if end else len(text)):
            if row[1] != "python":
                yield from _declared(ecosystem, row[1], row[2] or row[3] or "", row.start(1))


def _declared(ecosystem: Ecosystem, name: str, requirement: str, at: int) -> Iterator[Mention]:
    """A declared package with its exact version, if any, and the URL that it comes from, if any."""
    place = re.search(r"""[\w+]{2,12}://[^\s"'`]{1,300}""", requirement)
    if place:
        yield Source("package", place[0], at)
    alias = requirement.partition("npm:")[2] if ecosystem == "npm" else ""
    if requirement.startswith(("workspace:", "file:", "link:", "portal:", "catalog:")) or place:
        return
    exact = _EXACT.fullmatch(requirement.strip())
    separator = "==" if ecosystem == "pypi" else "@"
    specifier = alias or (f"{name}{separator}{exact[1]}" if exact else name)
    found = package(ecosystem, specifier, at)
    if found is not None:
        yield found
