"""Runs of a text that say something else once decoded: base64, hex, escapes, references, smuggled characters."""

import base64
import html
import re
from urllib.parse import unquote

MOST_ENCODED = 64 * 1024
"""Characters of one encoded run that are read."""

ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:"
    r"[A-Za-z0-9+/_-]{20,}={0,2}(?:(?<=[A-Za-z0-9+/]{32})\r?\n[ \t>]{0,40}[A-Za-z0-9+/]+={0,2})*"  # base64, hex
    r"|(?<!\w)[0-9A-Fa-f]{2}(?:[ :][0-9A-Fa-f]{2}){11,}(?!\w))"  # hex as a dump prints it
    "|(?=[%\\\\&\ufe00-\ufe0f\U000e0020-\U000e01ef])(?:"
    r"(?:%[0-9A-Fa-f]{2}[\w.~-]*)+"
    r"|(?:\\x[0-9A-Fa-f]{2})+"
    r"|(?:\\u[0-9A-Fa-f]{4})+"
    r"|(?:&#(?:[0-9]{1,7}|[xX][0-9A-Fa-f]{1,6});)+"
    "|[\U000e0020-\U000e007e]{4,}"  # tag characters: invisible letters
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,})"  # variation selectors: one for each value of a byte
)
_HEX = re.compile(r"(?:0x)?((?:[0-9A-Fa-f]{2})+)")
_LAYOUT = {ord(char): None for char in "\t\r\n"}
_SPACE = {ord(char): None for char in " \t\r>"}
_TAGS, _FIRST_SELECTORS, _MORE_SELECTORS = 0xE0000, 0xFE00, 0xE0100


def decoded(run: re.Match[str]) -> str | None:
    """What an encoded run says, where that is text; None where it is not."""
    encoded = run[0][:MOST_ENCODED]
    if "\n" not in encoded:
        return _text_of(encoded)
    lines = encoded.split("\n")
    whole = (_text_of("".join(lines[:count]).translate(_SPACE)) for count in (len(lines), len(lines) - 1))
    for text, rest in zip(whole, ("", f"\n{lines[-1]}"), strict=True):  # the last line may be a word that follows
        if text:
            return text + rest
    each = [_text_of(line.translate(_SPACE)) for line in lines]
    return "\n".join(text or line for text, line in zip(each, lines, strict=True)) if any(each) else None


def _text_of(run: str) -> str | None:
    try:
        text = _reading(run)
    except ValueError:
        return None
    return text if text.translate(_LAYOUT).isprintable() else None


def _reading(run: str) -> str:
    if run[0] == "%":
        return unquote(run, errors="strict")
    if run[0] == "&":
        return html.unescape(run)
    if run.startswith("\\u"):
        return bytes.fromhex(run.replace("\\u", "")).decode("utf-16-be")
    if _TAGS < ord(run[0]) < _MORE_SELECTORS:
        return "".join(chr(ord(char) - _TAGS) for char in run)
    return _bytes_of(run).decode("utf-8")


def _bytes_of(run: str) -> bytes:
    if not run[0].isascii():
        return bytes(
            ord(char) - _FIRST_SELECTORS if ord(char) < _MORE_SELECTORS else ord(char) - _MORE_SELECTORS + 16
            for char in run
        )
    bare = run.replace("\\x", "").replace(" ", "").replace(":", "")
    if digits := _HEX.fullmatch(bare):
        return bytes.fromhex(digits[1])
    return _from_base64(bare)


def _from_base64(run: str) -> bytes:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    bare = bare[: len(bare) - 1] if len(bare) % 4 == 1 else bare
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
