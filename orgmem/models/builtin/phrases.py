"""Words and small cuts that questions are made with: verbs, code spans held together, clauses."""

import re

from orgmem.models.builtin.sentences import CODE_SPAN
from orgmem.models.builtin.wordlists import word_list

MOST_WORDS = 20
"""Words of the learning in one question."""

VERBS = word_list("verbs")
"""Verbs that begin a rule or a step."""
GERUNDS = {
    form: verb for verb in sorted(VERBS) for form in (f"{verb}ing", f"{verb[:-1]}ing", f"{verb}{verb[-1]}ing")
}
"""Each verb by its -ing form, however that is spelled."""

AFTER_NAME = 3
"""A clause is longer than the mark of a code span."""

_FILLER = re.compile(r"^(?:please |also |then |first,? )", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)")
_CUT = re.compile(
    r" \u2014 | -- | - |; |: |\. | because | so that | rather than | \u2192 "
    r"|, (?:so|which|because|since|rather|but|otherwise|unless|even|as|and then|then|not)\b"
)
_DANGLING = re.compile(
    r"(?:[\s,]+(?:and|or|the|a|an|to|of|in|for|with|by|on|at|from|as|that|using|via|is|are|its|their|your))+$",
    re.IGNORECASE,
)
_MARK = re.compile(r"\x00(\d+)\x00")


class Spans:
    """Code spans held as single marks, so that no rule looks or cuts inside one."""

    def __init__(self) -> None:
        self._held: list[str] = []

    def hold(self, text: str) -> str:
        """The text with a mark for each code span."""
        return CODE_SPAN.sub(self._keep, text)

    def free(self, text: str) -> str:
        """The text with its code spans again."""
        return _MARK.sub(lambda match: self._held[int(match[1])], text)

    def _keep(self, match: re.Match[str]) -> str:
        self._held.append(match[0])
        return f"\x00{len(self._held) - 1}\x00"


def imperative(text: str) -> str:
    """The text without a filler, if it begins with a verb of a rule; else empty."""
    text = _FILLER.sub("", text)
    return text if text.split(" ", 1)[0].lower() in VERBS else ""


def clause(text: str, most: int = MOST_WORDS) -> str:
    """The text up to where its first clause ends, at most so many words, beginning in lower case."""
    text = _ASIDE.sub("", text).strip()
    cut = _CUT.search(text, AFTER_NAME)
    words = (text[: cut.start()] if cut else text).split()
    found = " ".join(words[:most])
    if found.count("(") > found.count(")"):
        found = found[: found.rindex("(")].rstrip()
    if len(words) > most and (comma := found.rfind(", ")) > len(found) // 2:
        found = found[:comma]
    return lower(_DANGLING.sub("", found.rstrip(" ,.;:!?\u2014-(")))


def lower(text: str) -> str:
    """First letter in lower case where the word is plain: not an acronym, not a name with capitals inside."""
    first = text.split(" ", 1)[0]
    return (
        text[0].lower() + text[1:]
        if first.isalpha() and first[0].isupper() and first[1:] == first[1:].lower()
        else text
    )
