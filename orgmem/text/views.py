"""The readings of a text that a detector must see: what an eye, a shell or a decoder would make of it.

Each view knows where its characters came from, so that a hit in any view can be masked in the original.
Views that equal an earlier one are left out: plain ASCII prose on few lines costs one scan.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from orgmem.text.encodings import ENCODED, decoded

ViewName = Literal["plain", "normalised", "joined", "decoded"]

DECODE_DEPTH = 2
"""Base64 inside base64 is read, a third layer is not."""
REMEMBERED = 20_000
"""Characters up to which a text's views are kept for the next check."""

_NOT_PLAIN = re.compile(r"[^\t\n\r -~]")
_WRAP = re.compile(
    r"""(?<=[\w+/=.-])["'`]\s{0,99}(?:[+&,\\]|\.{1,2}|\|\||<>)?\s{0,99}["'`](?=[\w+/=.-])"""  # "a" + "b"
    r"""|(?<=[\w+/=.%-])\\?\r?\n[ \t>#*|]*(?:// ?|- )?(?=[\w+/=.%-])"""  # a wrapped line, maybe quoted
)
_TOKEN_LIKE = re.compile(r"[\d_+/=%]|[a-z][A-Z]|[A-Za-z]{25}")
_BESIDE = re.compile(
    r"(?<=[A-Za-z0-9_=-]{20})(?:[^\x00-\x7f]|[^\w\s\"'`;\\/+=.-]|\.(?![A-Za-z0-9.]))"  # bold, a full stop
)
_NO_TOKEN, _TOKEN_AFTER = re.compile(r"[^\w+/=.%-]"), re.compile(r"[\w+/=.%-]{1,64}")
_EMOJI_BEFORE = re.compile(r"[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff\ufe0f\u20e3\U000e0020-\U000e007f]$")
_KEYCAP = re.compile("[#*0-9]\ufe0f\u20e3")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f")
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
_AFTER_EMOJI = frozenset("\ufe0e\ufe0f") | _JOINERS
_JOINING_SCRIPT = re.compile(r"[\u0600-\u109f\u1780-\u17ff\ua800-\uabff]$")
_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f")
_NEAR = 40
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TURNED = re.compile("\u202e([^\u202c\n]{0,4096})\u202c?")
"""What a control shows from right to left."""
_NEAR_JOIN = 400
_LONG = 20
_HYPHENS = frozenset("\u2010\u2011\u2012\u2013\u2212")


@dataclass(frozen=True)
class View:
    """One reading of a text. Its pieces map to the text it was made from."""

    name: ViewName
    text: str
    source: "View | None" = None
    starts: tuple[int, ...] = ()
    """Where each piece starts in this view."""
    origins: tuple[tuple[int, int, bool], ...] = ()
    """For each piece: its span in the source, and whether its characters match one to one."""

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that `start:end` of this view (not empty) was read from."""
        if self.source is None:
            return start, end
        return self.source.original_span(self._origin(start)[0], self._origin(end - 1)[1])

    def _origin(self, position: int) -> tuple[int, int]:
        piece = bisect_right(self.starts, position) - 1
        start, end, exact = self.origins[piece]
        if not exact:
            return start, end
        offset = start + position - self.starts[piece]
        return offset, offset + 1


def views(text: str) -> tuple[View, ...]:
    """The readings of a text, plain first; those that equal an earlier one are left out."""
    return _remembered(text) if len(text) <= REMEMBERED else _views(text)


def _views(text: str) -> tuple[View, ...]:
    plain = View("plain", text)
    turned = _rewritten(plain, "normalised", _TURNED, lambda match: match[1][::-1])
    found: dict[str, View] = {}
    for start in (plain, turned):
        for view in _seen(start, "normalised", "joined"):
            found.setdefault(view.text, view)
    for outer in tuple(found.values()):
        for view in _layers(outer):
            found.setdefault(view.text, view)
    return tuple(found.values())


_remembered = lru_cache(maxsize=64)(_views)
"""Each check of the gate reads the same text; long ones would fill the memory."""


def hidden_characters(text: str) -> tuple[int, ...]:
    """Where characters stand that no reader sees; emoji joiners, flags and a leading BOM are none."""
    return tuple(match.start() for match in _NOT_PLAIN.finditer(text) if _is_hidden(text, match.start()))


def _seen(view: View, normal: ViewName, joined: ViewName) -> tuple[View, ...]:
    """The view, what an eye makes of it, that with tokens apart from what touches them, and with lines joined."""
    visible = _rewritten(view, normal, _NOT_PLAIN, _visible_reading)
    apart = _rewritten(visible, normal, _BESIDE, _apart)
    return view, visible, apart, _rewritten(visible, joined, _WRAP, _unwrapped)


def _layers(view: View) -> Iterator[View]:
    """What the view's encoded runs say, and what runs inside those say."""
    for _ in range(DECODE_DEPTH):
        inner = _rewritten(view, "decoded", ENCODED, decoded)
        if inner is view:
            return
        readings = _seen(inner, "decoded", "decoded")
        yield from readings
        view = readings[1]


def _rewritten(
    source: View, name: ViewName, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str | None]
) -> View:
    """A view with each match replaced; None keeps a match. The source itself if nothing changes."""
    out: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int, bool]] = []
    length = at = 0

    def add(piece: str, start: int, end: int, *, exact: bool) -> None:
        nonlocal length
        if piece:
            out.append(piece)
            starts.append(length)
            origins.append((start, end, exact))
            length += len(piece)

    for match in pattern.finditer(source.text):
        new = replace(match)
        if new is None or new == match[0]:
            continue
        add(source.text[at : match.start()], at, match.start(), exact=True)
        add(new, match.start(), match.end(), exact=False)
        at = match.end()
    if at == 0 and not origins:
        return source
    add(source.text[at:], at, len(source.text), exact=True)
    return View(name, "".join(out), source, tuple(starts), tuple(origins))


def _visible_reading(match: re.Match[str]) -> str:
    text, at = match.string, match.start()
    if _is_hidden(text, at) or (match[0] in _AFTER_EMOJI and _folded(text[at - 1]).isascii()):
        # A joiner that an emoji such as the trade mark excuses stands between letters once that is folded.
        return ""
    return _folded(match[0])


def _is_hidden(text: str, at: int) -> bool:
    """Whether no reader sees the character: a control, a filler, a joiner or selector without an emoji."""
    char, left = text[at], text[at - 1 : at]
    if char in _JOINERS and _JOINING_SCRIPT.match(left):
        return False  # Persian and the scripts of India spell with joiners
    if char in _AFTER_EMOJI:
        return not _EMOJI_BEFORE.match(left) and not _KEYCAP.match(text, at - 1 if at else 0)
    if char in _DIRECTION_MARKS:
        inside = (left + text[at + 1 : at + 2]).isascii() and left.isalnum()
        return inside or not _RIGHT_TO_LEFT.search(text, max(0, at - _NEAR), at + _NEAR)
    if "\U000e0000" <= char <= "\U000e007f":
        flag = text.rfind("\U0001f3f4", max(0, at - 8), at)
        return flag < 0 or not _FLAG.match(text, flag)
    if char in _INVISIBLE or "\ufe00" <= char <= "\ufe0d" or "\U000e0100" <= char <= "\U000e01ef":
        return True
    return unicodedata.category(char) in ("Cf", "Cc") and not (char == "\ufeff" and at == 0)


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    """NFKC, then the ASCII letter or digit that the character passes for."""
    from confusable_homoglyphs.confusables import confusables_data

    folded = unicodedata.normalize("NFKC", char)
    if len(folded) != 1 or folded.isascii():
        return folded
    if unicodedata.category(folded).startswith("Z"):
        return " "
    if folded in _HYPHENS:
        return "-"
    alike = (other["c"] for other in confusables_data.get(folded, ()))
    return next((other for other in alike if len(other) == 1 and other.isascii() and other.isalnum()), folded)


def _apart(match: re.Match[str]) -> str | None:
    """A space, where what stands before may be a token: detectors know few characters that end one."""
    before = match.string[max(0, match.start() - _LONG) : match.start()]
    return " " if _TOKEN_LIKE.search(before) else None


def _unwrapped(match: re.Match[str]) -> str | None:
    """Nothing, where the join puts a token together; None between two words of prose."""
    text, start, end = match.string, match.start(), match.end()
    if match[0][0] in "\"'`":
        listed = "," in match[0] and "join" not in text[max(0, start - _NEAR_JOIN) : end + _NEAR_JOIN]
        return None if listed else ""
    left = _NO_TOKEN.split(text[max(0, start - 64) : start])[-1]
    right = _TOKEN_AFTER.match(text, end, end + 64)
    token_like = (_TOKEN_LIKE.search(side) for side in (left, right[0] if right else ""))
    alone = right and text[start - 1] != "." and text[right.end() : right.end() + 1] in ("", "\n", "\r", "\\")
    return "" if any(token_like) or alone else None
