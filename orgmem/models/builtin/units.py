"""New blocks gathered into units: what one memory will say.

Blocks under one heading belong together until the unit is long enough for an answer; a long block is cut
between sentences, a long listing between its paragraphs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orgmem.models.builtin.markdown import Kind
from orgmem.models.builtin.novelty import Fresh
from orgmem.models.builtin.sentences import VAGUE, plain, sentences
from orgmem.text.terms import facts

MOST_WORDS = 60
"""Words of prose in a unit: five answers fit into about 400 tokens."""
LONG_ENOUGH = 40
"""A block of this many words stands by itself."""
SMALL = 14
"""A piece of this many words may make a unit longer than that rather than stand alone."""
MOST_LINES = 14
"""Lines of code in a unit."""
FEWEST_WORDS = 3
"""A unit with fewer words and no fact can't be understood by itself."""

_REMARK = re.compile(r"^\s*(?:#|//|<!--|--\s)")
_LEANS = re.compile(r"^(?:this|these|those|it|its|they|that)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Unit:
    """What one memory says. `lead` introduces its parts: a parent item or a sentence that ends in a colon."""

    path: tuple[str, ...]
    lead: str
    parts: tuple[Fresh, ...]

    @property
    def prose(self) -> tuple[Fresh, ...]:
        """The parts that are not code."""
        return tuple(part for part in self.parts if part.block.kind is not Kind.CODE)

    @property
    def code(self) -> Fresh | None:
        """The listing, if there is one."""
        return next((part for part in self.parts if part.block.kind is Kind.CODE), None)


def units_of(fresh: Sequence[Fresh]) -> tuple[Unit, ...]:
    """Units in the order of the file."""
    pieces = [piece for part in _speaking(fresh) for piece in _pieces(part)]
    units: list[Unit] = []
    for piece in pieces:
        if units and _belongs(units[-1], piece):
            units[-1] = replace(units[-1], parts=(*units[-1].parts, piece))
        else:
            units.append(Unit(piece.block.path, lead_of(piece.block.lead), (piece,)))
    return tuple(unit for unit in units if _understandable(unit))


def _speaking(fresh: Sequence[Fresh]) -> Iterator[Fresh]:
    """Without lead-ins: the parts they introduce carry them, and without parts they say nothing."""
    for part in fresh:
        if part.block.kind is Kind.CODE or not part.kept[-1].endswith(":"):
            yield part
        elif len(part.kept) > 1:
            yield replace(part, kept=part.kept[:-1], whole=False)


def lead_of(text: str) -> str:
    """The sentence that introduces: the last one if it ends in a colon, else the first."""
    said = sentences(plain(text))
    if not said:
        return ""
    return said[-1] if said[-1].endswith(":") else said[0]


def _pieces(part: Fresh) -> Iterator[Fresh]:
    code = part.block.kind is Kind.CODE
    most, size = (MOST_LINES, _one) if code else (MOST_WORDS, _words)
    chunk: list[str] = []
    for text in part.kept:
        if chunk and sum(map(size, chunk)) + size(text) > most and not (VAGUE.match(text) and not code):
            yield replace(part, kept=tuple(chunk), whole=False)
            chunk = []
        chunk.append(text)
    yield replace(part, kept=tuple(chunk), whole=part.whole and len(chunk) == len(part.kept))


def _belongs(unit: Unit, piece: Fresh) -> bool:
    if piece.block.path != unit.path:
        return False
    if piece.block.kind is Kind.CODE:
        return unit.code is None
    words = sum(_words(text) for text in piece.kept)
    total = words + sum(_words(text) for part in unit.prose for text in part.kept)
    if unit.code or lead_of(piece.block.lead) != unit.lead:
        return False
    return total <= MOST_WORDS + SMALL and (words <= SMALL or (total <= MOST_WORDS and words < LONG_ENOUGH))


def _understandable(unit: Unit) -> bool:
    words = sum(_words(text) for part in unit.prose for text in part.kept)
    if unit.code and not unit.prose:
        return bool(unit.lead or unit.path) and not all(_REMARK.match(line) for line in unit.code.kept)
    said = unit.prose[0].kept
    if VAGUE.match(said[0]) and _LEANS.match(said[0]) and not unit.lead:
        return False
    return words >= FEWEST_WORDS or (bool(unit.lead or unit.path) and any(map(facts, said)))


def _words(text: str) -> int:
    return len(text.split())


def _one(_line: str) -> int:
    return 1
