"""Sentences of a block, free of marks that only format: what novelty compares and answers are made of."""

import re

_LINK = re.compile(r"!?\[([^\]\[]*)\]\(\s*(<[^>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\s*\)")
_BOLD = re.compile(r"(?<![\w*/.])(\*\*|__(?!\w+__))(?=[^\s/.])(.{1,400}?)(?<=[^\s/])\1(?![\w*/])")
_ITALIC = re.compile(
    r"(?<![\w*`/.\"'])\*(?=[\w\x00])([^*`]+?)(?<=[\w.!?)\x00])\*(?![\w*`/])"
    r"|(?<![\w/.])_(?=\w)([^_\n]* [^_\n]*)(?<=\S)_(?!\w)"
)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CHECKBOX = re.compile(r"^\[[ xX]\]\s+")
_SYMBOLS = re.compile(r"^(?:[^\w\s`\"'(\[{@$/.~<#&*+-]\ufe0f?\s*)+")
_END = re.compile(r"(?<=[.!?])[)\"'\u201d]?\s+(?=[A-Z`\"'(\[*\u201c])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|incl|approx|no|fig|sec)|\b[A-Z])\.$", re.IGNORECASE)
_ITSELF = (
    "repo(?:sitory)?|project|package|app|codebase|monorepo|workspace|file|document|directory|folder|guide|module"
    "|skill|plugin|library|extension|crate|cli"
)
VAGUE = re.compile(
    rf"^(?:this(?! (?:{_ITSELF})\b)|these|those|it|its|they|that|here|there|both|either|each|otherwise|also"
    r"|instead|you|we|he|she|but|and|so|then|however|similarly|likewise|in (?:this|that) case)\b",
    re.IGNORECASE,
)
"""A sentence that begins so leans on the one before it."""
CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`).+?(?<!`)\1(?!`)")


def plain(text: str) -> str:
    """The text on one line without emphasis and checkboxes; a link's target stays if it adds to its text."""
    spans: list[str] = []

    def keep(match: re.Match[str]) -> str:
        spans.append(match[0])
        return f"\x00{len(spans) - 1}\x00"

    held = CODE_SPAN.sub(keep, " ".join(text.replace("\x00", "").split()))
    held = _LINK.sub(lambda match: _link(match[1], match[2], spans), _CHECKBOX.sub("", _BREAK.sub(" ", held)))
    held = _ITALIC.sub(lambda match: match[1] or match[2], _BOLD.sub(r"\2", held))
    held = re.sub(r"\x00(\d+)\x00", lambda match: spans[int(match[1])], held)
    return _SYMBOLS.sub("", held).strip()


def _link(text: str, target: str, spans: list[str]) -> str:
    target = target.strip("<>")
    shown = re.sub(r"\x00(\d+)\x00", lambda match: spans[int(match[1])], text).strip("` ")
    if not target or target.startswith("#") or target.lstrip("./").startswith(shown.lstrip("./")):
        return text
    return f"{text} ({target})" if text.strip() else target


def sentences(text: str) -> tuple[str, ...]:
    """Sentences of text on one line; never cut inside a code span or after an abbreviation."""
    inside = [match.span() for match in CODE_SPAN.finditer(text)]
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        at = match.start()
        if any(low < at < high for low, high in inside) or _ABBREVIATION.search(text[start:at]):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    return tuple(part for part in (*found, text[start:].strip()) if part)
