"""Finds what tells of one person: addresses, numbers by which states and banks know people, names beside them.

What documentation uses for examples (example.com, reserved networks, test cards) is nobody's.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from orgmem.text.personal_numbers import Recognizer, recognizers
from orgmem.text.redact import Redacted, mask
from orgmem.text.secrets import MASK, Span, merged
from orgmem.text.views import REMEMBERED, View, views

NEAR = 48
"""Characters before a number in which its words are looked for."""
_NOT_READ = "joined"
"""Lines put together make other numbers."""
_DIGITS = re.compile(r"\d[\d ().-]{5,}\d")
_PHONE_WORDS = re.compile(
    r"(?i)(?<![a-z])(?:(?:tele)?phone|tel|mobile|cell|fax|desk|call(?:ing)?|dial|whatsapp|sms|messages to"
    r"|number(?: is)?)(?![a-z])"
)
_NATIONAL = re.compile(
    r"(?<![\w.+(/#=-])(?P<value>(?:\(\d{2,4}\) ?|\d{2,4}[ -/])\d{2,4}(?:[ -]?\d{2,4}){0,4}(?:x\d{1,6})?)"
    r"(?![\w/]|[.-]\w)"
)
_FEWEST, _MOST, _AMERICAN = 7, 15, 10
"""Digits of a telephone number; and those of one in North America."""


def find_personal_spans(text: str) -> tuple[Span, ...]:
    """Spans of the original text, in order, overlapping ones merged; what is masked already is none."""
    return _remembered(text) if len(text) <= REMEMBERED else _find(text)


def _find(text: str) -> tuple[Span, ...]:
    spans = [span for view in views(text) if view.name != _NOT_READ for span in _in_view(view)]
    masks = [match.span() for match in MASK.finditer(text)]
    free = (span for span in spans if not any(start < span.end and span.start < end for start, end in masks))
    return tuple(merged(free))


_remembered = lru_cache(maxsize=64)(_find)
"""The gate says what is in a text and then masks it."""


def redact_personal(text: str, spared: Callable[[str, str], bool] = lambda _rule, _value: False) -> Redacted:
    """The text with each span replaced by `[masked:<rule>]`; masking twice changes nothing.

    Args:
        text: any.
        spared: by a span's rule and text, whether it stays.
    """
    spans = [span for span in find_personal_spans(text) if not spared(span.rule, text[span.start : span.end])]
    return Redacted(mask(text, spans), len(spans), tuple(sorted({span.rule for span in spans})))


def _in_view(view: View) -> Iterator[Span]:
    met = {needs for needs in {one.needs for one in recognizers()} if needs.search(view.text)}
    able = (recognizer for recognizer in recognizers() if recognizer.needs in met)
    found = [(recognizer.id, span) for recognizer in able for span in _of(recognizer, view.text)]
    found += [("phone", span) for span in _phones(view.text)]
    for rule, span in found:
        yield Span(*view.original_span(*span), rule, view.name)


def _of(recognizer: Recognizer, text: str) -> Iterator[tuple[int, int]]:
    for match in recognizer.pattern.finditer(text):
        said = recognizer.words is None or recognizer.words.search(
            text, max(0, match.start() - NEAR), match.start()
        )
        if said and recognizer.valid(match["value"]):
            yield match.span("value")


def _phones(text: str) -> Iterator[tuple[int, int]]:
    """Numbers with a country's code, ones written as `(415) 555-0132`, and others after a word for them."""
    if not _DIGITS.search(text):
        return
    import phonenumbers

    for match in phonenumbers.PhoneNumberMatcher(text, None):
        yield match.start, match.end
    for found in _NATIONAL.finditer(text):
        digits = re.sub(r"\D", "", found["value"].partition("x")[0])
        american = found["value"].startswith("(") and len(digits) == _AMERICAN
        said = _PHONE_WORDS.search(text, max(0, found.start() - NEAR), found.start())
        if _FEWEST <= len(digits) <= _MOST and (said or american):
            yield found.span("value")
