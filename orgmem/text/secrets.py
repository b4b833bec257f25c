"""Finds secrets in every view of a text, and says where in the original they stand.

Two detectors: betterleaks (460 rules of known token formats, in process) behind a small interface, and rules
of our own for what it misses (secret_rules.py). Placeholders and references to variables are no secrets.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol, get_args

from orgmem.text.placeholders import is_placeholder
from orgmem.text.secret_rules import find_values
from orgmem.text.views import REMEMBERED, View, ViewName, views

MASK = re.compile(r"\[masked:[a-z0-9][a-z0-9.-]{0,60}\]")
"""What stands where a secret was."""

_VIEWS = get_args(ViewName)
_LEAST_PIECE = 4
"""Characters of a piece of a token on a line of its own that is taken for one."""


@dataclass(frozen=True)
class RawFinding:
    """A hit of one rule in one text, by character position."""

    rule: str
    start: int
    end: int
    specific: bool = True
    """False for rules that go by what stands around a value, whose end may then be anywhere."""


@dataclass(frozen=True)
class Span:
    """A secret in the original text, the rule that found it, and the view it was found in."""

    start: int
    end: int
    rule: str
    view: ViewName


class SecretScanner(Protocol):
    """A detector of secrets in one text. `version` names engine and rules, for the rule set's hash."""

    version: str

    def scan(self, text: str) -> tuple[RawFinding, ...]:
        """Every hit, in any order; hits may overlap."""
        ...


class Betterleaks:
    """The betterleaks engine with the rules it ships."""

    def __init__(self) -> None:
        import betterleaks

        self._scan = betterleaks.scan_string
        self.version = f"betterleaks {betterleaks.__version__} ({betterleaks.__upstream_version__})"

    def scan(self, text: str) -> tuple[RawFinding, ...]:
        """Hits of the engine, each at every place where its value stands."""
        # The library passes a C string of UTF-8: NUL would end it and lone surrogates can't be encoded.
        safe = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        # A value is looked up wherever it stands, so its second finding has nothing to add.
        values = {(found.rule_id, found.match.full, found.match.value): found for found in self._scan(safe)}
        return tuple(
            RawFinding(rule, start, end, found.confidence != "low")
            for (rule, full, value), found in values.items()
            for start, end in _places(safe, full, value, found.location.start_line)
        )


@cache
def default_scanner() -> SecretScanner:
    """The engine of this process, loaded once."""
    return Betterleaks()


def find_secrets(text: str, scanner: SecretScanner | None = None) -> tuple[Span, ...]:
    """Every secret, as spans of the original text in order, overlapping ones merged."""
    if scanner or len(text) > REMEMBERED:
        return _find(text, scanner or default_scanner())
    return _remembered(text)


@lru_cache(maxsize=64)
def _remembered(text: str) -> tuple[Span, ...]:
    """The gate masks a text and then says what was in it."""
    return _find(text, default_scanner())


def _find(text: str, engine: SecretScanner) -> tuple[Span, ...]:
    spans: list[Span] = []
    for view in views(text):
        spans += [
            span
            for found, span in _in_view(view, engine)
            if view.name != "joined" or found.specific or _goes_on(text, span, spans)
        ]
    masks = [match.span() for match in MASK.finditer(text)]
    return tuple(merged(_beside(span, masks) for span in spans if not _within(span, masks)))


def _in_view(view: View, engine: SecretScanner) -> Iterator[tuple[RawFinding, Span]]:
    own = (RawFinding(rule.id, start, end, rule.specific) for rule, start, end in find_values(view.text))
    for found in (*engine.scan(view.text), *own):
        if not is_placeholder(view.text[found.start : found.end]):
            yield found, Span(*view.original_span(found.start, found.end), found.rule, view.name)


def _goes_on(text: str, span: Span, earlier: Sequence[Span]) -> bool:
    """Whether a hit over joined lines has more of a token than is known, not just the next line's first word."""
    known = [other.end for other in earlier if other.start < span.end and span.start < other.end]
    rest = text[max(known) : span.end].split() if known else []
    return not known or any(len(word) >= _LEAST_PIECE and any(map(str.isdigit, word)) for word in rest)


def _places(text: str, full: str, value: str, line: int) -> Iterator[tuple[int, int]]:
    """Where a value stands: wherever its whole match does; if it is long, wherever it does itself.

    The engine's columns count bytes and its value may be trimmed; if neither is there, the line is meant.
    """
    found = False
    inside = full.find(value)
    if value and inside >= 0:
        for start in _occurrences(text, full):
            found = True
            yield start + inside, start + inside + len(value)
    if len(value) >= 8:  # noqa: PLR2004  shorter values may be common words
        for start in _occurrences(text, value):
            found = True
            yield start, start + len(value)
    if not found:
        lines = text.split("\n")
        start = sum(len(earlier) + 1 for earlier in lines[: line - 1])
        yield start, start + max(1, len(lines[line - 1]))


def _occurrences(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _within(span: Span, masks: list[tuple[int, int]]) -> bool:
    return any(start <= span.start and span.end <= end for start, end in masks)


def _beside(span: Span, masks: list[tuple[int, int]]) -> Span:
    """The span, widened over masks that it cuts: a mask is replaced whole or not at all."""
    cut = [(start, end) for start, end in masks if start < span.end and span.start < end]
    start = min([span.start, *(start for start, _ in cut)])
    end = max([span.end, *(end for _, end in cut)])
    return Span(start, end, span.rule, span.view)


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans apart and in order; of overlapping ones the first, longest, of the plainest view keeps its rule."""
    ordered = sorted(set(spans), key=lambda span: (span.start, -span.end, _VIEWS.index(span.view), span.rule))
    current: Span | None = None
    for span in ordered:
        if current and span.start < current.end:
            current = Span(current.start, max(current.end, span.end), current.rule, current.view)
        else:
            if current:
                yield current
            current = span
    if current:
        yield current
