"""Claims that a memory makes with its learning's own words, but otherwise: another number, another command, no "not".

Each function names what the source does not say so. All read word by word, in sentences.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from orgmem.text.tags import load_registry, starts_command

_SENTENCE_END = re.compile(r"(?<=[.!?;])[ \t]+|\n[ \t]*(?:\n|[-*+|#>]|\d{1,9}[.)])|[ \t]\|[ \t]")
_WORD = re.compile(r"[^\W_](?:[\w'\u2019]|[.,:/-](?=\w))*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SPAN = re.compile(r"`([^`\n]{3,400})`")
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
"""Words to either side of a number that say what it counts."""
_ALIKE = 4
"""First letters by which two words are taken for forms of one."""


def misplaced_numbers(text: str, source: str) -> tuple[str, ...]:
    """Numbers that the source has, but in no sentence that shares a word with the text around the number."""
    places = _number_places(source)
    return tuple(
        dict.fromkeys(
            number
            for number, around in _numbers(text)
            if number in places and around and not any(around & other or not other for other in places[number])
        )
    )


def misplaced_commands(text: str, source: str, *, code: bool = False) -> tuple[str, ...]:
    """Commands of the text whose first two words stand in no line of the source together."""
    lines = _line_words(source)
    return tuple(
        dict.fromkeys(
            " ".join(pair) for pair in _commands(text, code=code) if not any(pair <= line for line in map(set, lines))
        )
    )


def dropped_negations(text: str, source: str) -> tuple[str, ...]:
    """Two words in a row that the source says only after a negation, and the text without one."""
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


def _numbers(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each number with what stands around it: stems, and other numbers."""
    for sentence in _sentences(text):
        for at, word in enumerate(sentence):
            if _NUMBER.fullmatch(word):
                around = (*sentence[max(0, at - _NEAR) : at], *sentence[at + 1 : at + 1 + _NEAR])
                yield word, frozenset(other[:_ALIKE] for other in around if other not in _EMPTY)


@lru_cache(maxsize=16)
def _number_places(source: str) -> dict[str, list[frozenset[str]]]:
    places: dict[str, list[frozenset[str]]] = {}
    for number, around in _numbers(source):
        places.setdefault(number, []).append(around)
    return places


def _commands(text: str, *, code: bool) -> Iterator[set[str]]:
    registry = load_registry()
    spans = text.split("\n") if code else _SPAN.findall(text)
    for span in spans:
        words = _COMMENT.sub("", span).strip().removeprefix("$ ").split()
        if len(words) > 1 and starts_command(words[0], registry):
            yield {words[0], words[1]}


@lru_cache(maxsize=16)
def _line_words(source: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(re.split(r"[\s`'\"]+", line)) for line in source.split("\n"))


@lru_cache(maxsize=16)
def _denied_and_said(source: str) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    found = [pair for sentence in _sentences(source) for pair in _pairs(sentence)]
    denied = frozenset(pair for pair, negated in found if negated)
    return denied, frozenset(pair for pair, negated in found if not negated)


def _pairs(sentence: list[str]) -> Iterator[tuple[tuple[str, str], bool]]:
    """Neighbouring words of weight, and whether a negation stands shortly before the first."""
    since = _REACH + 1
    earlier = ""
    earlier_negated = False
    for word in sentence:
        if word in _NEGATION or word.endswith(("n't", "n\u2019t")):
            since, earlier = 0, ""
            continue
        since += 1
        if word in _EMPTY:
            continue
        if earlier:
            yield (earlier, word), earlier_negated
        earlier, earlier_negated = word, since <= _REACH
