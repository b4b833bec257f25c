"""Headings: which tell something, and how one reads as a question."""

import re
from collections.abc import Sequence

from orgmem.models.builtin.phrases import GERUNDS, imperative, lower
from orgmem.models.builtin.sentences import plain
from orgmem.models.builtin.wordlists import word_list

_SINGULAR = word_list("singular")
_OTHER_THAN_ACTION = re.compile(rf" vs |\b(?:{'|'.join(sorted(word_list('topic_nouns')))})$|^vs ")
_AND_DOING = re.compile(r"\b((?:and|or) )(\w+ing)\b")
_OCCASIONS = frozenset({"after", "before", "during", "if", "when", "while"})
_GENERIC = re.compile(
    r"^\W*(?:(?:claude|agents?|gemini|copilot[- ]instructions|readme|skill)(?:\.md)?"
    r"|(?:[\w.-]+ ){0,2}(?:overview|(?:development|repository) guidelines"
    r"|(?:agent|contributor|developer|development) guide)"
    r"|(?:agent )?instructions|guidelines|guide|introduction|(?:important )?notes?|general|important|critical"
    r"|key points|purpose|summary|description|background|context|solution|details|table of contents)\W*$",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"^(?:claude|agents?|gemini)(?:\.md)?\s*[-\u2014\u2013:]\s*", re.IGNORECASE)
_DECOR = re.compile(r"^(?:[^\w`(@$/.]|\d+[.)]\s)+|[^\w`)'\"\u201d]+$")
_ASIDE = re.compile(r" [\u2014\u2013-] | \(")
_OF = re.compile(r" (?:for|of|in|on|with|to|by|from|and|via)\b")
_ARTICLE = ("a ", "an ", "the ", "your ", "new ")
SMALL_WORD = 4
"""A title's words shorter than this are in lower case anyway."""


def titles(path: Sequence[str]) -> list[str]:
    """Headings that tell something, without decoration."""
    told = [undecorated(_FILE_NAME.sub("", plain(title))) for title in path[1:] or path]
    return [title for title in told if title and not _GENERIC.match(title)]


def undecorated(title: str) -> str:
    """Without numbers, symbols and closing marks."""
    return _DECOR.sub("", title)


def topic(path: Sequence[str]) -> str:
    """The last telling heading, in sentence case where it was in title case, without its aside; or empty."""
    told = titles(path)
    if not told:
        return ""
    title = _ASIDE.split(told[-1])[0].split(": ")[-1]
    words = title.split(" ")
    titled = all(word[:1].isupper() or not word.isalpha() or len(word) < SMALL_WORD for word in words)
    return " ".join(map(lower, words)) if titled else lower(title)


def question_about(topic: str) -> str:
    """A heading as a question."""
    return _doing(topic) or _being(topic)


def _doing(topic: str) -> str:
    """A heading that tells what somebody does, or when; else empty."""
    first, _, rest = topic.partition(" ")
    if rest.startswith("to ") and first in ("how", "when", "where"):
        return f"{'How do' if first == 'how' else f'{first.capitalize()} should'} I {rest.removeprefix('to ')}"
    if first in _OCCASIONS:
        return f"What should I do {topic}"
    if rest and (verb := GERUNDS.get(first)) and not _OTHER_THAN_ACTION.search(rest):
        return f"How do I {verb} {_AND_DOING.sub(lambda match: match[1] + GERUNDS.get(match[2], match[2]), rest)}"
    return f"How do I {topic}" if rest.startswith(_ARTICLE) and imperative(topic) else ""


def _being(topic: str) -> str:
    """A heading that names a thing."""
    head = _OF.split(topic)[0]
    if topic.startswith(("why ", "what ", "how ", "which ")):
        return f"What should I know about {topic}"
    if head.rsplit(" ", 1)[-1] in _SINGULAR:
        return f"What is the {topic}"
    if re.search(r"(?:^|\s)[a-z-]+[^su]s$", head) and " " in topic:
        return f"What are the {topic}"
    return f"How does {topic} work" if head.endswith("ing") else f"What should I know about {topic}"


def mentions(asked: str, title: str) -> bool:
    """Whether the question already says the heading's words."""
    known = {_stem(word) for word in re.findall(r"\w+", asked.lower())}
    return all(_stem(word) in known for word in re.findall(r"\w{3,}", title.lower()))


def _stem(word: str) -> str:
    return GERUNDS.get(word, word).rstrip("s")
