"""What a text says about dependencies: a package by name, or a place that packages come from."""

import re
from dataclasses import dataclass
from typing import Literal

from tasks.gate.dependency_names import Ecosystem

SourceKind = Literal["package", "index", "extra-index", "unchecked-host", "installer"]


@dataclass(frozen=True)
class Package:
    """A package that a text installs, declares or pins."""

    ecosystem: Ecosystem
    name: str
    version: str | None
    """Set where the version is exact."""
    at: int
    """Where it stands in the text."""


@dataclass(frozen=True)
class Source:
    """A place that packages come from: a URL, or a host."""

    kind: SourceKind
    place: str
    at: int


Mention = Package | Source

VERSION = r"v?\d[\w.+!-]{0,60}"
_PYPI = re.compile(
    r"([^\W_](?:[\w.-]{0,98}[^\W_])?)(?:\[[\w., -]{0,200}\])?"
    r"[ ]?(?:(===?)[ ]?([\w.+!]{1,60}))?(?=$|[\s<>=!~;@,^(])",
    re.ASCII,
)
_NPM = re.compile(rf"((?:@?[\w.~-]{{1,98}}/)?[\w~][\w.~-]{{0,98}})(?:@(?:={{0,2}}({VERSION})$|.{{0,99}}$)|$)")
_OWNED = re.compile(rf"([\w.-]{{1,98}}/[\w./-]{{1,98}})(?:[@:](?:({VERSION})$|.{{0,99}}$)|$)")
_GO = re.compile(rf"([\w-]{{1,60}}(?:\.[\w-]{{1,60}}){{1,4}}/[\w./~-]{{1,150}})(?:@(?:({VERSION})$|.{{0,99}}$)|$)")
_PLAIN = re.compile(rf"(\w[\w.-]{{0,98}})(?:[@:](?:=?({VERSION})$|.{{0,99}}$)|$)")


def package(ecosystem: Ecosystem, specifier: str, at: int) -> Package | None:
    """The package that a specifier names, e.g. `requests[socks]==2.32.0` or `@scope/name@1.0.0`."""
    if ecosystem == "pypi":
        found = _PYPI.match(specifier)
        return Package(ecosystem, found[1], found[3], at) if found and not found[1].isdigit() else None
    pattern = {"npm": _NPM, "go": _GO, "composer": _OWNED, "actions": _OWNED}.get(ecosystem, _PLAIN)
    found = pattern.match(specifier)
    return Package(ecosystem, found[1], found[2], at) if found else None
