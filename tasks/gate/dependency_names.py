"""Popular package names, and which of them a name passes for.

An index of deletions finds the neighbours of a name: two names one edit apart share a form with at most
one character deleted. So a look-up costs as many steps as the name has characters, not as many as there are names.
"""

import gzip
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from orgmem.text.views import views

Ecosystem = Literal["pypi", "npm", "gem", "cargo", "go", "composer", "nuget", "actions"]
Likeness = Literal["confusable", "near"]

LEADING = 2000
"""So many names stand at the head of a list in the order of their popularity; the rest is sorted."""
SHORTEST_LEADING, SHORTEST = 5, 6
"""Letters that a leading or another name needs to have neighbours: short names have too many by chance."""
LONGEST = 120
"""A longer name is no package's."""
AFFIXES = frozenset(
    "python python3 py py3 js node nodejs npm ts go golang lib pkg package module official real original latest new "
    "fix fixed patch patched update updated secure compat lite pro plus beta dev test v2 v3".split()
)
"""Parts that make another name look like the same thing; words for what a plugin adds (cli, sdk) are none."""
GLUED = ("python", "js", "py")
"""Affixes that also stand without a separator."""
DIGIT_LETTERS = str.maketrans({"0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b"})
SHARED_HOSTS = ("github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/", "gopkg.in/")
NAMESPACED = frozenset({"npm", "go", "composer", "actions"})

_SEPARATORS = re.compile(r"[-_.]+")
_NOT_SHAPE = re.compile(r"[-_.@/]+")
_PARTS = re.compile(r"[-_./@]+")
_MAJOR = re.compile(r"/v\d{1,3}$")
_HASHED = (1 << 48) - 1


@dataclass(frozen=True)
class Popular:
    """One ecosystem's popular names."""

    names: tuple[str, ...]
    known: frozenset[str]
    """Canonical forms of the names."""
    namespaces: frozenset[str]
    """Scopes, vendors and owners of the names: nobody else can publish there."""


@dataclass(frozen=True)
class Index:
    """Ways to a popular name's number; made only once a name turns up that is not popular itself."""

    shapes: dict[str, int]
    """A name without separators -> its number."""
    neighbours: "array[int]"
    """Hashes of the shapes and of their deletions, each with the name's number in the low 16 bits; sorted."""
    orders: dict[tuple[str, ...], int]
    """A name's parts, sorted -> its number."""


def canonical(ecosystem: Ecosystem, name: str) -> str:
    """The form in which a registry compares names."""
    lowered = name.lower()
    match ecosystem:
        case "pypi":
            return _SEPARATORS.sub("-", lowered)
        case "cargo":
            return lowered.replace("_", "-")
        case "go":
            return _MAJOR.sub("", "/".join(lowered.split("/")[:4]))
        case _:
            return lowered


def passes_for(ecosystem: Ecosystem, name: str) -> tuple[Likeness, str] | None:
    """The popular name that a name passes for and how; None for popular names and those like none."""
    if len(name) > LONGEST:
        return None
    popular = load(ecosystem)
    if not name.isascii():
        folded = next((view.text for view in views(name) if view.name == "normalised"), name)
        return ("confusable", canonical(ecosystem, folded)) if _is_popular(popular, ecosystem, folded) else None
    if _is_popular(popular, ecosystem, name):
        return None
    index, shape = _index(ecosystem), _shape(name)
    letters = shape.translate(DIGIT_LETTERS)
    if len(shape) >= SHORTEST_LEADING and letters in index.shapes:
        return ("near" if letters == shape else "confusable"), popular.names[index.shapes[letters]]
    neighbours = (at for at in _candidates(index, shape) if one_edit_apart(shape, _shape(popular.names[at])))
    likes = (*neighbours, *_reordered(index, name), *_affixed(index, name, shape))
    return ("near", popular.names[min(likes)]) if likes else None


@cache
def load(ecosystem: Ecosystem) -> Popular:
    """The ecosystem's list."""
    names = tuple(_read(ecosystem))
    known = frozenset(canonical(ecosystem, name) for name in names)
    return Popular(names, known, frozenset(filter(None, (_namespace(ecosystem, name) for name in known))))


@cache
def _index(ecosystem: Ecosystem) -> Index:
    shapes: dict[str, int] = {}
    orders: dict[tuple[str, ...], int] = {}
    for number, name in enumerate(load(ecosystem).names):
        shapes.setdefault(_shape(name), number)
        parts = tuple(sorted(_PARTS.split(name.lower())))
        if len(parts) > 2 or (len(parts) == 2 and number < LEADING):  # noqa: PLR2004 (two words in another order)
            orders.setdefault(parts, number)
    entries = {
        (hash(form) & _HASHED) << 16 | number
        for shape, number in shapes.items()
        if len(shape) >= (SHORTEST_LEADING if number < LEADING else SHORTEST)
        for form in _deletions(shape)
    }
    return Index(shapes, array("Q", sorted(entries)), orders)


def one_edit_apart(one: str, other: str) -> bool:
    """Whether a character added, left out, replaced or swapped with its neighbour makes one the other.

    A digit for another digit is no slip: it numbers a variant (cu12, cu13).
    """
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    if short[at + 1 :] == long[at + 1 :]:
        return not (short[at : at + 1].isdigit() and long[at : at + 1].isdigit())
    return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]


def _read(ecosystem: Ecosystem) -> Iterator[str]:
    """The names of a list, without its comments."""
    folder = files("tasks.gate").joinpath("data")
    packed = folder.joinpath(f"{ecosystem}.txt.gz")
    if packed.is_file():
        text = gzip.decompress(packed.read_bytes()).decode("ascii")
    else:
        text = folder.joinpath(f"{ecosystem}.txt").read_text("ascii")
    for line in text.splitlines():
        if not line.startswith("#"):
            yield from line.split()


def _is_popular(popular: Popular, ecosystem: Ecosystem, name: str) -> bool:
    form = canonical(ecosystem, name)
    if form in popular.known or _namespace(ecosystem, form) in popular.namespaces:
        return True
    return ecosystem == "go" and form.rpartition("/")[0] in popular.known


def _namespace(ecosystem: Ecosystem, name: str) -> str:
    """The part of a canonical name that one owner holds; empty without one."""
    if ecosystem not in NAMESPACED or "/" not in name:
        return ""
    if name.startswith(SHARED_HOSTS):
        return "/".join(name.split("/")[:2])
    return name.partition("/")[0]


def _shape(name: str) -> str:
    return _NOT_SHAPE.sub("", name.lower())


def _deletions(shape: str) -> Iterable[str]:
    return {shape, *(shape[:at] + shape[at + 1 :] for at in range(len(shape)))}


def _candidates(index: Index, shape: str) -> Iterator[int]:
    """Numbers of the names that share a form with the shape."""
    for form in _deletions(shape):
        key = hash(form) & _HASHED
        at = bisect_left(index.neighbours, key << 16)
        while at < len(index.neighbours) and index.neighbours[at] >> 16 == key:
            yield index.neighbours[at] & 0xFFFF
            at += 1


def _reordered(index: Index, name: str) -> Iterator[int]:
    """The number of the name with the same parts in another order."""
    number = index.orders.get(tuple(sorted(_PARTS.split(name.lower()))))
    if number is not None:
        yield number


def _affixed(index: Index, name: str, shape: str) -> Iterator[int]:
    """Numbers of leading names that differ by an affix, which the name has or lacks."""
    parts = _PARTS.split(name.lower())
    bare = {"".join(parts[:at] + parts[at + 1 :]) for at, part in enumerate(parts) if part in AFFIXES}
    bare |= {shape.removesuffix(affix) for affix in GLUED} | {shape.removeprefix(affix) for affix in GLUED}
    longer = {shape + affix for affix in GLUED} | {affix + shape for affix in GLUED}
    for other in (bare - {shape}) | longer:
        number = index.shapes.get(other, LEADING)
        if number < LEADING and min(len(other), len(shape)) >= SHORTEST_LEADING - 1:
            yield number
