"""The words and the facts of a text: words are for search, facts are what grounding compares.

Both are deterministic and depend on nothing but the text.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]+|[^\W{_CJK}](?:[\w./@:+#-]*[^\W{_CJK}]|[+#]{{1,2}})?")
_IS_CJK = re.compile(f"[{_CJK}]")
_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_MASK = re.compile(r"\[masked:[\w.-]+\]")
_CODE = re.compile(
    r"(?P<fence>^[ \t>]*(`{3,}|~{3,}).*?(?:^[ \t>]*\2|\Z))"
    r"|(?P<ticks>`+)(?!`)(.{1,400}?)(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//|--(?=\s))[^\n]*|\[masked:[\w.-]+\]", re.MULTILINE)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`|]*[^\s<>\"'`|.,;:!?)\]}*_]", re.IGNORECASE)
_LIST_MARK = re.compile(r"^[ \t>]*(?:\d{1,9}[.)]|[-*+])[ \t]+", re.MULTILINE)
_TOKEN = re.compile(
    r"(?:[^\s\"'`()\[\]{}<>|,;=!?*\u2013\u2014\u2018-\u201f\u2026\u3000-\u3002\uff00-\uffef]+|(?<=\d),(?=\d{3}))+"
)
_EDGES = ".:#&^%"
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a"})


class FactKind(StrEnum):
    """What a fact is, in the order in which a report names them."""

    URL = "url"
    FLAG = "flag"
    PATH = "path"
    NUMBER = "number"
    IDENTIFIER = "identifier"
    COMMAND = "command"


_KINDS = (
    (FactKind.URL, re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")),
    (FactKind.FLAG, re.compile(r"-{1,2}[A-Za-z][\w.:-]*$")),
    (FactKind.NUMBER, re.compile(r"[v~^@$+-]?\d[\d.,_:%/-]*(?:[A-Za-z\u00b5]{1,3}|\.[x*])?\+?$")),
    (FactKind.NUMBER, re.compile(r"[v~^]?\d+(?:\.\d+){1,3}[-+.][A-Za-z][\w.+-]*$")),  # 3.0.0-beta.1
    (
        FactKind.PATH,
        re.compile(r"(?:[~.$@]?/|\.\./|[A-Za-z]:[\\/]).*\w|[\w.@$-]*[\w@$-]/(?:.*[/._\d$]|$)|\w[\w-]*\\\w.*\\"),
    ),
    (FactKind.PATH, re.compile(r"(?=[^/]*[._\d$])[\w.@$-]+/\w")),
    (
        FactKind.PATH,
        re.compile(
            r"\.?[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{1,4}\d?|lock|ipynb|local|example|jsonl|parquet)$|\.[A-Za-z][\w-]{2,}$"
        ),
    ),
    (
        FactKind.IDENTIFIER,
        re.compile(r"@?[\w$][\w$-]*(?:(?:\.|::|->|#|:)@?[\w$-]{2,})+$|_*[A-Za-z][\w$]*_[\w$]*|_+[A-Za-z]\w*"),
    ),
    (FactKind.IDENTIFIER, re.compile(r"\w*[a-z0-9][A-Z]|@\w[\w./-]*$|[A-Za-z][\w.+-]*\d|\$\w+")),
)


def words(text: str) -> tuple[str, ...]:
    """Search words in order, lower case: identifiers whole and split, CJK runs as pairs of characters."""
    return tuple(word for token in _WORD.findall(text) for word in _search_words(token))


def facts(text: str, *, code: bool = False) -> frozenset[str]:
    """What a memory may not invent: URLs, flags, paths, numbers, identifiers, and the words of code.

    Code is what stands in spans and fences; with `code` the whole text but its comments.
    """
    return frozenset((*_facts(text), *(_code_words(_COMMENT.sub(" ", text)) if code else ())))


def kind_of(fact: str) -> FactKind:
    """The kind of one fact, by its shape; a plain word of a code span is a command."""
    return next((kind for kind, shape in _KINDS if shape.match(fact)), FactKind.COMMAND)


def ungrounded(text: str, source: str, *, code: bool = False) -> tuple[str, ...]:
    """Facts of `text` that don't stand in `source`, sorted; a whole part of a path or identifier does."""
    return tuple(sorted(fact for fact in facts(text, code=code) if not _occurs(fact, source)))


def _search_words(token: str) -> Sequence[str]:
    if token.isascii() and token.isalpha() and token.islower():  # most tokens: spared three patterns
        return (token,)
    if _IS_CJK.match(token):
        return [token] if len(token) == 1 else [token[i : i + 2] for i in range(len(token) - 1)]
    whole = token.lower()
    parts = [part.lower() for piece in _PART.findall(token) for part in _HUMP.split(piece)]
    return (whole, *parts) if len(parts) > 1 else (whole,)


def _facts(text: str) -> Iterator[str]:
    text = _MASK.sub(" ", text)
    for match in _URL.finditer(text):
        yield match[0].rstrip("/")
    text = _URL.sub(" ", text)
    for match in _CODE.finditer(text):
        yield from _code_words(match[0])
    for token in _tokens(_LIST_MARK.sub(" ", text)):
        plain = token.isalpha() and (token.islower() or token.istitle())  # most tokens: spared seven patterns
        if not plain and any(shape.match(token) for _, shape in _KINDS):
            yield token


def _code_words(span: str) -> Iterator[str]:
    for token in _tokens(span):
        if token[0].isalpha() and len(token) > 1:
            yield token


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(_EDGES).lstrip(":#&^%")
        token = token.rstrip("/\\") or token
        if any(char.isalnum() for char in token) and token.lower() not in _ABBREVIATIONS:
            yield token


def _occurs(fact: str, source: str) -> bool:
    """Whether the fact stands in the source, not as a piece of another; a plain word may differ in case."""
    if fact.lower() in _plain_words(source) and kind_of(fact) is FactKind.COMMAND:
        return True
    start = source.find(fact)
    while start >= 0:
        if not _cut(source, start, start + len(fact)):
            return True
        start = source.find(fact, start + 1)
    return False


def _cut(source: str, start: int, end: int) -> bool:
    """Whether the span is a piece of a word, of a number (3.1 of 3.1.4) or of a flag (-x of --x)."""
    before, first, last, after = (
        source[max(0, start - 2) : start],
        source[start],
        source[end - 1],
        source[end : end + 2],
    )
    return (
        (before[-1:].isalnum() and first.isalnum() and not (before[-1:] == "v" and first.isdigit()))
        or (last.isalnum() and after[:1].isalnum())
        or (first.isdigit() and before[-1:] in (".", ",") and before[:1].isdigit())
        or (last.isdigit() and after[:1] in (".", ",") and after[1:].isdigit())
        or (first == "-" and before[-1:] == "-")
    )


@lru_cache(maxsize=64)
def _plain_words(source: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+(?:[-'][^\W_]+)*|[^\W_]+", source.lower())) | frozenset(words(source))
