"""Finds secrets in every view of a text, and says where in the original they stand.

Two detectors: betterleaks (460 rules of known token formats, in process) behind a small interface, and a few
rules of our own for what it misses. Placeholders and references to variables are no secrets.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from orgmem.text.views import View, ViewName, views

MASK = re.compile(r"\[masked:[a-z0-9][a-z0-9.-]{0,60}\]")
"""What stands where a secret was."""


@dataclass(frozen=True)
class RawFinding:
    """A hit of one rule in one text, by character position."""

    rule: str
    start: int
    end: int
    specific: bool = True
    """False for rules that go by a keyword and randomness rather than by a known format."""


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


@dataclass(frozen=True)
class Rule:
    """A rule of our own: the group `value` of the pattern is the secret."""

    id: str
    pattern: re.Pattern[str]
    random: bool = False
    """Whether the value must also look random: letters and digits, no words."""
    needs: str = ""
    """What stands in every match: looked for first, which takes a fraction of a search for the pattern."""


_KEY_WORD = r"(?i)(?:secret|token|[a-z0-9][_ -]?key|passw(?:or)?d|credential)s?"
RULES = (
    # Not \b: letters of any script are word characters to it; a token beside Chinese text would be missed.
    Rule("orgmem-token", re.compile(r"(?<![A-Za-z0-9])(?P<value>orgmem_[A-Za-z0-9]{32,})"), needs="orgmem_"),
    Rule(
        "private-key",
        re.compile(
            r"(?P<value>-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[\s\S]{40,16000}?-----END [A-Z0-9 ]{0,40}-----"
            r"|(?:\s|[\w-]+: [^\n]*\n)*(?:(?:\s|\\[rn]|[\"'+>])*[A-Za-z0-9+/=]{16,})+))"  # its end is missing
        ),
    ),
    Rule(
        "credential-url",
        re.compile(
            r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@'\"`<>]{0,128}:(?P<value>[^\s/@'\"`<>]{4,256})@[\w.\[-]"
        ),
        needs="://",
    ),
    Rule(
        "authorization-header",
        re.compile(
            r"(?i)authorization['\"]?[ \t]{0,8}[:=,]?[ \t]{0,8}['\"]?(?:basic|bearer|token)[ \t]{1,8}"
            r"(?P<value>[\w+/=~.-]{16,})"
        ),
        random=True,
    ),
    Rule(
        "password-in-prose",
        re.compile(
            r"(?i)(?:password|passwd|passphrase|passcode|pwd)(?:[ \t]{1,8}(?:for|of|to)[ \t]{1,8}[\w .@-]{1,40})?"
            r"[ \t]{1,8}(?:is|was|be|to|=|:)[ \t]{1,8}['\"`]?"
            r"(?P<value>[^\s'\"`<>(){}\[\],]{8,64}?)(?=['\"`),;]|[.!?]?(?:\s|$))"
        ),
        random=True,
    ),
    Rule(
        "keyed-secret",
        re.compile(
            _KEY_WORD + r"['\"`]?[ \t]{0,8}(?:=>?|:=?|is|,)?[ \t]{0,8}['\"`]?"
            r"(?P<value>[A-Za-z0-9_+/=.~-]{20,200})(?![\w+/=.~(-])"
        ),
        random=True,
    ),
)

_REFERENCE = re.compile(
    r"<[^>]*>|\$\{|\{\{|\$\(|^\$\w+$|^%\w+%$|process\.env|os\.environ|getenv|secrets\.|masked:"
    r"|(?i:xxxx)|\*\*\*|\.\.\.|\u2026"
)
_STAND_IN = re.compile(
    r"(?i)example|placeholder|your|change[-_ ]?me|dummy|redacted|insert|replace|fake|sample"
    r"|not[-_]?(?:a[-_]?)?real"
)
_MOST_STAND_IN = 100
"""Longer values are too likely to hold one of those words by chance."""
_TRIVIAL = frozenset(
    # a word list reads best as words
    "pass password passwd secret pwd user username test testing admin root guest token key"  # noqa: SIM905
    " none null true false postgres mysql redis mongo mongodb rabbitmq minio".split()
)
_LEAST_VARIETY = 5
"""Fewer different characters make a stand-in."""
_LEAST_ENTROPY = 3.0
"""Bits a character that a generated value has at least."""


@cache
def default_scanner() -> SecretScanner:
    """The engine of this process, loaded once."""
    return Betterleaks()


def find_secrets(text: str, scanner: SecretScanner | None = None) -> tuple[Span, ...]:
    """Every secret, as spans of the original text in order, overlapping ones merged."""
    engine = scanner or default_scanner()
    spans = [span for view in views(text) for span in _in_view(view, engine)]
    masks = [match.span() for match in MASK.finditer(text)]
    return tuple(merged(_beside(span, masks) for span in spans if not _within(span, masks)))


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret rather than being one."""
    return (
        value.lower().strip("'\"`") in _TRIVIAL
        or len(set(value)) < _LEAST_VARIETY
        or bool(_REFERENCE.search(value))
        or (len(value) <= _MOST_STAND_IN and bool(_STAND_IN.search(value)))
    )


def looks_random(value: str) -> bool:
    """Letters and several digits mixed within one run, and as varied as a generated value."""
    mixed = any(
        sum(char.isdigit() for char in run) > 1 and not run.isdigit()
        for run in re.findall(r"[A-Za-z0-9]{8,}", value)
    )
    return mixed and _entropy(value) >= _LEAST_ENTROPY


def _in_view(view: View, engine: SecretScanner) -> Iterator[Span]:
    for found in (*engine.scan(view.text), *_own(view.text)):
        # Joining lines puts words together that never stood so: there only known formats count.
        if view.name == "joined" and not found.specific:
            continue
        if not is_placeholder(view.text[found.start : found.end]):
            yield Span(*view.original_span(found.start, found.end), found.rule, view.name)


def _own(text: str) -> Iterator[RawFinding]:
    for rule in (rule for rule in RULES if rule.needs in text):
        for match in rule.pattern.finditer(text):
            if not rule.random or looks_random(match["value"]):
                yield RawFinding(rule.id, *match.span("value"), specific=not rule.random)


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
    """Spans apart and in order; of overlapping ones the first, longest, keeps its rule."""
    ordered = sorted(set(spans), key=lambda span: (span.start, -span.end, span.rule, span.view))
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


def _entropy(value: str) -> float:
    """Shannon entropy, bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
