"""Masks secrets in a text: at import, in rejected rows, in what a server returns."""

from collections.abc import Sequence
from dataclasses import dataclass

from orgmem.text.secrets import Span, find_secrets


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, how many spans were masked, and by which rules (sorted)."""

    text: str
    count: int
    rules: tuple[str, ...]


def redact(text: str) -> Redacted:
    """The text with each secret replaced by `[masked:<rule>]`; masking twice changes nothing.

    A mask can bring to light what it stood beside, so the text is scanned until nothing is found. Each
    round masks at least one character that was not masked before, which bounds the rounds.
    """
    count = 0
    rules: set[str] = set()
    while spans := find_secrets(text):
        text = mask(text, spans)
        count += len(spans)
        rules |= {span.rule for span in spans}
    return Redacted(text, count, tuple(sorted(rules)))


def mask(text: str, spans: Sequence[Span]) -> str:
    """The text with each of the spans (sorted, apart) replaced by its mask."""
    out: list[str] = []
    at = 0
    for span in spans:
        out += text[at : span.start], f"[masked:{span.rule}]"
        at = span.end
    out.append(text[at:])
    return "".join(out)
