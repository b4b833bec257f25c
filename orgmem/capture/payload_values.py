"""Values out of a hook's payload, whatever it holds. Nothing here raises on any input.

A text is a `str` without lone surrogates (U+FFFD stands for them), fields are a JSON object's members. What has
another type than it should have is treated as missing.
"""

import json

Fields = dict[str, object]
"""Members of a JSON object."""

_decode = json.JSONDecoder(strict=False, parse_int=float).raw_decode  # int() refuses 5,000 digits, float() none
_BLANK = " \t\r\n"


def members(payload: bytes) -> Fields:
    """The object in a payload of UTF-8, 16 or 32, with or without BOM.

    Of one that is cut off, too deep or no JSON from some point on: the members before that point.
    """
    written = payload.decode(json.detect_encoding(payload), "replace").lstrip(_BLANK)
    if not written.startswith("{"):
        return {}
    try:
        value, _ = _decode(written)
    except (ValueError, RecursionError):
        return _whole_members(written, 1)
    return value if isinstance(value, dict) else {}


def fields(value: object) -> Fields:
    """An object's members; of a text, those of the object written in it (Copilot's `toolArgs`)."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip(_BLANK).startswith("{"):
        return members(value.encode("utf-8", "surrogatepass"))
    return {}


def text(value: object) -> str | None:
    """A string that can be written as UTF-8, or none."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def first_text(given: Fields, *names: str) -> str | None:
    """The first of these members that is a text."""
    return next((found for name in names if (found := text(given.get(name))) is not None), None)


def first_fields(given: Fields, *names: str) -> Fields:
    """The first of these members that is an object with members."""
    return next((found for name in names if (found := fields(given.get(name)))), {})


def objects(value: object) -> tuple[Fields, ...]:
    """The objects of a list."""
    return tuple(each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


def letters(word: str) -> str:
    """A word by its letters and digits: `tool.execute.after`, `PostToolUse` and `post_tool_use` become plain."""
    return "".join(each for each in word[:80] if each.isalnum()).lower()


def absolute(path: str | None, folder: str) -> str | None:
    """A path as it stands if it is absolute (Windows', too), otherwise inside a folder that is; else none."""
    if not path or "\0" in path:
        return None
    if _is_absolute(path):
        return path
    if not _is_absolute(folder):
        return None
    separator = "\\" if "\\" in folder and not folder.startswith("/") else "/"
    return folder.rstrip("/\\") + separator + path.removeprefix("./")


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "\\\\")) or (path[:1].isalpha() and path[1:3] in {":\\", ":/"})


def _whole_members(written: str, at: int) -> Fields:
    """Members from `at` on, up to the first that can't be read."""
    found: Fields = {}
    try:
        while True:
            name, at = _decode(written, _next(written, at))
            if not isinstance(name, str) or written[_next(written, at)] != ":":
                return found
            value, at = _decode(written, _next(written, _next(written, at) + 1))
            found[name] = value
            at = _next(written, at)
            if written[at] != ",":
                return found
            at += 1
    except (ValueError, IndexError, RecursionError):
        return found


def _next(written: str, at: int) -> int:
    """Where the next character that is no blank stands."""
    while written[at] in _BLANK:
        at += 1
    return at
