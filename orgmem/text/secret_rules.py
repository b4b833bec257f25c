"""Rules for secrets: token formats (secret_formats.toml) and what stands around secrets (secret_rules.toml).

A rule's pattern is tried only where one of the short texts that it needs stands; looking for those takes a
fraction of a search for the pattern, so that a hundred rules cost less than one whole search.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from orgmem.text.patterns import spelled_out
from orgmem.text.placeholders import looks_mixed, looks_random

_MUST_BE: dict[str, Callable[[str], bool]] = {"any": lambda _: True, "mixed": looks_mixed, "random": looks_random}
_LONG_RUN = re.compile(r"[!#-&(-_a-~]{20,}")
"""No token of a format is shorter, none holds a blank or a quote."""


@dataclass(frozen=True)
class Rule:
    """What stands around a secret, or what a secret looks like; the pattern's group `value` is the secret."""

    id: str
    source: str
    needs: tuple[str, ...]
    value: str = "any"
    """What the value must be: `any`, `mixed` or `random`."""
    any_case: bool = False
    before: tuple[int, ...] = (0,)
    """How many characters before what it needs a hit can begin."""

    @property
    def specific(self) -> bool:
        """Whether it is a format, which says where the value ends."""
        return not self.any_case

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled at the first text that may hit: most rules never meet one in a process."""
        # ASCII: else letters of any script are word characters, and a token beside Chinese text would be missed.
        return re.compile(self.source, re.ASCII | (re.IGNORECASE if self.any_case else 0))

    def values(self, text: str, where: str, need: str) -> Iterator[tuple[int, int]]:
        """Spans of values of the rule's hits around `need`, which is looked for in `where`."""
        at = where.find(need)
        while at >= 0:
            match = self._match_around(text, at)
            if match and _MUST_BE[self.value](match["value"]):
                yield match.span("value")
            at = where.find(need, max(at + 1, match.end("value") if match else 0))

    def _match_around(self, text: str, at: int) -> re.Match[str] | None:
        starts = (at - before for before in self.before if before <= at)
        return next(filter(None, (self.pattern.match(text, start) for start in starts)), None)


def find_values(text: str) -> Iterator[tuple[Rule, int, int]]:
    """Every hit of every rule, and the span of its value."""
    runs = "\n".join(_LONG_RUN.findall(text))  # tokens stand nowhere else, and little of a text is that
    lowered = text.replace("\u0130", "i").lower()  # the one letter that would become two
    formats, contexts = _by_need()
    for by_need, sought, where in ((formats, runs, text), (contexts, lowered, lowered)):
        for need in [need for need in by_need if need in sought]:
            for rule in by_need[need]:
                yield from ((rule, start, end) for start, end in rule.values(text, where, need))


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule of our own, formats first."""
    return (*_formats(_table("secret_formats.toml")), *_contexts(_table("secret_rules.toml")))


@cache
def _by_need() -> tuple[dict[str, list[Rule]], dict[str, list[Rule]]]:
    """The rules by each short text that they need: formats, sought as it stands, and contexts, in any case."""
    found: tuple[dict[str, list[Rule]], dict[str, list[Rule]]] = ({}, {})
    for rule in rules():
        for need in rule.needs:
            found[rule.any_case].setdefault(need, []).append(rule)
    return found


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("orgmem.text").joinpath(name).read_text("utf-8"))


def _formats(table: dict[str, Any]) -> Iterator[Rule]:
    for name, (*needs, pattern) in table["formats"].items():
        before = (0,) if isinstance(needs[0], str) else tuple(needs.pop(0))
        yield Rule(name, rf"(?<![A-Za-z0-9])(?P<value>{pattern})(?![A-Za-z0-9])", tuple(needs), before=before)


def _contexts(table: dict[str, Any]) -> Iterator[Rule]:
    for rule in table["rules"]:
        pattern = spelled_out(rule["pattern"], table["names"])
        yield Rule(rule["id"], pattern, tuple(rule["needs"]), rule["value"], any_case=True)
