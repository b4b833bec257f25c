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
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

from tasks.gate.dependency_rules import rules

Ecosystem = Literal["pypi", "npm", "gem", "cargo", "go", "composer", "nuget", "actions"]
Likeness = Literal["confusable", "near", "standard"]

LEADING = 2000
"""So many names stand at the head of a list in the order of their popularity; the rest is sorted."""
SHORTEST_LEADING, SHORTEST = 5, 6
"""Letters that a leading or another name needs to have any neighbour: short names have too many by chance."""
SHORTEST_SLIP = 4
"""Letters that a name needs for a swapped or a doubled letter to count."""
IMITATED = 1000
"""So many names are imitated by gluing any letters to them."""
SHORTEST_PART = 8
"""Letters that a part of a name needs for its misspelling to count."""
LONGEST = 120
"""A longer name is no package's."""
GLUED = ("python", "node", "js", "py")
"""Affixes that also stand without a separator."""
STEM_AFFIXES = frozenset({"python", "py", "js", "node", "ruby", "go", "rs"})
"""Affixes without which a leading name is known too."""
DIGIT_LETTERS = str.maketrans({"0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b"})
SHARED_HOSTS = ("github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/", "gopkg.in/")
NAMESPACED = frozenset({"npm", "go", "composer", "actions"})

_SEPARATORS = re.compile(r"[-_.]+")
_NOT_SHAPE = re.compile(r"[-_.@/]+")
_PARTS = re.compile(r"[-_./@]+")
_MAJOR = re.compile(r"/v\d{1,3}$")
_DIGITS = re.compile(r"\d+")
_REPEATED = re.compile(r"(.)\1+")
_HASHED = (1 << 48) - 1


@dataclass(frozen=True)
class Popular:
    """One ecosystem's popular names."""

    names: tuple[str, ...]
    known: frozenset[str]
    """Canonical forms of the names."""
    standard: frozenset[str]
    """Modules that come with the language; a registry's package of that name is not one of them."""
    namespaces: frozenset[str]
    """Scopes, vendors and owners of the names: nobody else can publish there."""


@dataclass(frozen=True)
class Index:
    """Ways to a popular name's number; made only once a name turns up that is not popular itself."""

    shapes: dict[str, int]
    """A name without separators, or the stem of a leading one (opencv of opencv-python) -> its number."""
    forms: tuple[str, ...]
    """The shapes in their order."""
    neighbours: "array[int]"
    """Hashes of the shapes and of their deletions, each with the shape's place in the low 16 bits; sorted."""
    orders: dict[tuple[str, ...], int]
    """A name's parts, sorted -> its number."""
    twins: dict[str, int]
    """What a shape has in common with one misspelt in several places -> its number."""
    parts: frozenset[str]
    """What names are made of."""


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


def is_popular(ecosystem: Ecosystem, name: str) -> bool:
    """Whether a name is popular, or of a namespace that only the owner of a popular name can publish in."""
    popular, form = load(ecosystem), canonical(ecosystem, name)
    if form in popular.known or _namespace(ecosystem, form) in popular.namespaces:
        return True
    return ecosystem == "go" and form.rpartition("/")[0] in popular.known


@lru_cache(maxsize=8192)
def passes_for(ecosystem: Ecosystem, name: str) -> tuple[Likeness, str] | None:
    """The popular name that a name passes for and how; None for popular names and those like none."""
    if len(name) > LONGEST or not name.isascii() or is_popular(ecosystem, name):
        return None
    popular = load(ecosystem)
    if canonical(ecosystem, name) in popular.standard:
        return "standard", name
    index, shape = _index(ecosystem), _shape(name)
    if len(shape) < SHORTEST_SLIP:
        return None
    letters = shape.translate(DIGIT_LETTERS)
    if letters != shape and letters in index.shapes and len(shape) >= SHORTEST_LEADING:
        return "confusable", popular.names[index.shapes[letters]]
    scoped = "/" in name or name.lower().startswith("types-")
    for like in (_neighbours, _reordered, _affixed, _lengthened, _misspelt):  # the closest first
        numbers = like(index, name, shape)
        likes = [at for at in numbers if ecosystem != "npm" or ("/" in popular.names[at]) == scoped]
        if likes:
            return "near", popular.names[min(likes)]
    return None


@cache
def load(ecosystem: Ecosystem) -> Popular:
    """The ecosystem's list."""
    names = tuple(_read(ecosystem))
    known = frozenset(canonical(ecosystem, name) for name in names)
    standard = frozenset(_read("pypi-standard")) if ecosystem == "pypi" else frozenset[str]()
    namespaces = frozenset(space for name in known if (space := _namespace(ecosystem, name)))
    return Popular(names, known, standard, namespaces)


@cache
def _index(ecosystem: Ecosystem) -> Index:
    names = load(ecosystem).names
    shapes: dict[str, int] = {}
    orders: dict[tuple[str, ...], int] = {}
    twins: dict[str, int] = {}
    for number, name in enumerate(names):
        shape, parts = _shape(name), _PARTS.split(name.lower())
        shapes.setdefault(shape, number)
        if len(parts) > 2 or (len(parts) == 2 and number < LEADING):  # noqa: PLR2004 (two words in another order)
            orders.setdefault(tuple(sorted(parts)), number)
        for twin in _twins(shape):
            twins.setdefault(twin, number)
    for number, name in enumerate(names[:LEADING]):
        stem = "".join(part for part in _PARTS.split(name.lower()) if part not in STEM_AFFIXES)
        if len(stem) >= SHORTEST:
            shapes.setdefault(stem, number)
    entries = {
        (hash(form) & _HASHED) << 16 | place
        for place, shape in enumerate(shapes)
        if len(shape) >= SHORTEST_SLIP
        for form in _deletions(shape)
    }
    parts_of_names = frozenset(part for name in names for part in _PARTS.split(name.lower()))
    return Index(shapes, tuple(shapes), array("Q", sorted(entries)), orders, twins, parts_of_names)


def one_edit_apart(one: str, other: str) -> bool:
    """Whether a character added, left out, replaced or swapped with its neighbour makes one the other."""
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    if short[at + 1 :] == long[at + 1 :]:
        return True
    return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]


def _is_slip(one: str, other: str) -> bool:
    """Whether two names one edit apart differ by swapped letters or a letter typed twice."""
    return sorted(one) == sorted(other) or _REPEATED.sub(r"\1", one) == _REPEATED.sub(r"\1", other)


def _read(ecosystem: str) -> Iterator[str]:
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


def _neighbours(index: Index, _name: str, shape: str) -> Iterator[int]:
    """Numbers of names that differ by separators, else of those one edit away, short ones only by a slip."""
    if shape in index.shapes:
        yield index.shapes[shape]
        return
    for form in _deletions(shape):
        key = hash(form) & _HASHED
        at = bisect_left(index.neighbours, key << 16)
        while at < len(index.neighbours) and index.neighbours[at] >> 16 == key:
            other = index.forms[index.neighbours[at] & 0xFFFF]
            number = index.shapes[other]
            shortest = SHORTEST_LEADING if number < LEADING else SHORTEST
            if (
                one_edit_apart(shape, other)
                and (len(other) >= shortest or _is_slip(shape, other))
                and (number < LEADING or _DIGITS.sub("", shape) != _DIGITS.sub("", other))  # cu12, cu13: variants
            ):
                yield number
            at += 1


def _twins(shape: str) -> Iterator[str]:
    """The letters without repetitions, and the first letter with all letters sorted."""
    if len(shape) >= SHORTEST_LEADING:
        yield _REPEATED.sub(r"\1", shape)
    if len(shape) >= SHORTEST:
        yield f"{shape[0]} {''.join(sorted(shape))}"


def _reordered(index: Index, name: str, shape: str) -> Iterator[int]:
    """Numbers of names with the same parts or letters in another order, or other repetitions."""
    numbers = [index.twins.get(twin) for twin in _twins(shape)]
    numbers.append(index.orders.get(tuple(sorted(_PARTS.split(name.lower())))))
    yield from (number for number in numbers if number is not None)


def _lengthened(index: Index, name: str, shape: str) -> Iterator[int]:
    """Numbers of much imitated names to which some letters are glued."""
    if _SEPARATORS.search(name) is None:
        for count in range(2, 5):
            for other in (shape[:-count], shape[count:]):
                number = index.shapes.get(other, IMITATED)
                if number < IMITATED and len(other) >= SHORTEST:
                    yield number


def _affixed(index: Index, name: str, shape: str) -> Iterator[int]:
    """Numbers of leading names that differ by an affix, which the name has or lacks."""
    parts = _PARTS.split(name.lower())
    bare = {"".join(parts[:at] + parts[at + 1 :]) for at, part in enumerate(parts) if part in rules().affixes}
    bare |= {shape.removesuffix(affix) for affix in GLUED} | {shape.removeprefix(affix) for affix in GLUED}
    longer = {form + affix for form in (shape, *bare) for affix in GLUED}
    longer |= {affix + form for form in (shape, *bare) for affix in GLUED}
    for other in (bare | longer) - {shape}:
        number = index.shapes.get(other)
        if number is not None and min(len(other), len(shape)) >= (SHORTEST_SLIP if number < LEADING else SHORTEST):
            yield number


def _misspelt(index: Index, name: str, _shape: str) -> Iterator[int]:
    """Numbers of leading names that a part of the name misspells."""
    parts = _PARTS.split(name.lower())
    if len(parts) > 1:
        for part in parts:
            if len(part) >= SHORTEST_PART and part not in index.parts:
                yield from (number for number in _neighbours(index, name, part) if number < LEADING)
