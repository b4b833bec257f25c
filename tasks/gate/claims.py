"""Claims with the learning's own words, but put together otherwise: another number, another command, no "not".

Each function names what the source does not say so. All read word by word, in sentences.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from orgmem.text.tags import load_registry, starts_command

_SENTENCE_END = re.compile(r"[.!?;][*_`)\"'\u201d]{0,4}\s+|\n[ \t]*(?:\n|[-*+|#>]|\d{1,9}[.)])|[ \t]\|[ \t]")
_WORD = re.compile(r"[^\W_](?:[\w'\u2019]|[.,:/-](?=\w))*")
_NUMBER = re.compile(r"v?\d+(?:[.,]\d+)*(?:\.x|[a-z]{1,2})?")
_SPAN = re.compile(r"`([^`\n]{3,400})`")
_BETWEEN = re.compile(r"[\s`'\"]+")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//)\s.*$", re.MULTILINE)
_EMPTY = frozenset(
    # a word list reads best as words
    "a an and any are as at be been being by can could do does did for from has have if in into is it its"  # noqa: SIM905
    " may might must of on or our shall should so than that the their then there these they this those to"
    " was we were will with would you your also always ever all".split()
)
_NEGATION = frozenset("never not no cannot without avoid neither nor don't".split())  # noqa: SIM905
_REACH = 3
"""Words between a negation and what it denies."""
_NEAR = 8
"""Words of weight to either side of a number that say what it counts."""
_ALIKE = 4
"""First letters by which two words are taken for forms of one."""


def misplaced_numbers(text: str, source: str) -> tuple[str, ...]:
    """Numbers that the source has, but nowhere beside the same words as the text."""
    places = _number_places(source)
    return tuple(
        dict.fromkeys(
            number
            for number, here in _numbers(text)
            if number in places and not any(_same_place(here, there) for there in places[number])
        )
    )


def misplaced_commands(text: str, source: str, *, code: bool = False) -> tuple[str, ...]:
    """Commands of the text whose first two words stand in no line of the source together."""
    lines = _line_words(source)
    known = frozenset().union(*lines)
    return tuple(
        dict.fromkeys(
            " ".join(sorted(pair))
            for pair in _commands(text, code=code)
            if pair <= known and not any(pair <= line for line in lines)
        )
    )


def dropped_negations(text: str, source: str) -> tuple[str, ...]:
    """Words in a row that the source says only with a negation before or between them, and the text without."""
    denied, said = _denied_and_said(source)
    return tuple(
        dict.fromkeys(
            " ".join(pair)
            for sentence in _sentences(text)
            for pair, negated in _pairs(sentence)
            if not negated and pair in denied and pair not in said
        )
    )


def _sentences(text: str) -> list[list[str]]:
    return [words for part in _SENTENCE_END.split(text) if (words := [w.lower() for w in _WORD.findall(part)])]


class _Place(NamedTuple):
    """The stems that stand before and after a number in its sentence, nearest first."""

    before: tuple[str, ...]
    after: tuple[str, ...]


def _numbers(text: str) -> Iterator[tuple[str, _Place]]:
    for sentence in _sentences(text):
        for at, word in enumerate(sentence):
            if _NUMBER.fullmatch(word):
                yield word, _Place(_stems(reversed(sentence[:at])), _stems(sentence[at + 1 :]))


def _stems(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice((word[:_ALIKE] for word in words if word not in _EMPTY), _NEAR))


def _same_place(here: _Place, there: _Place) -> bool:
    """Whether the nearest word on one side is the same, or most words around are, or there are none."""
    if any(mine[:1] == other[:1] and mine for mine, other in zip(here, there, strict=True)):
        return True
    around = {*here.before, *here.after}
    return 2 * len(around & {*there.before, *there.after}) >= len(around)


@lru_cache(maxsize=16)
def _number_places(source: str) -> dict[str, list[_Place]]:
    places: dict[str, list[_Place]] = {}
    for number, place in _numbers(source):
        places.setdefault(number, []).append(place)
    return places


def _commands(text: str, *, code: bool) -> Iterator[frozenset[str]]:
    registry = load_registry()
    spans = text.split("\n") if code else _SPAN.findall(text)
    for span in spans:
        words = _COMMENT.sub("", span).strip().removeprefix("$ ").split()
        if len(words) > 1 and starts_command(words[0], registry):
            yield frozenset(words[:2])


@lru_cache(maxsize=16)
def _line_words(source: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(_BETWEEN.split(line)) for line in source.split("\n"))


@lru_cache(maxsize=16)
def _denied_and_said(source: str) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    found = [pair for sentence in _sentences(source) for pair in _pairs(sentence)]
    denied = frozenset(pair for pair, negated in found if negated)
    return denied, frozenset(pair for pair, negated in found if not negated)


def _pairs(sentence: list[str]) -> Iterator[tuple[tuple[str, str], bool]]:
    """Words of weight in a row, and whether a negation stands shortly before the first or between the two."""
    since = _REACH + 1
    earlier, negated, between = "", False, False
    for word in sentence:
        if word in _NEGATION or word.endswith(("n't", "n\u2019t")):
            since, between = 0, True
            continue
        since += 1
        if word in _EMPTY:
            continue
        if earlier:
            yield (earlier, word), negated or between
        earlier, negated, between = word, since <= _REACH, False
