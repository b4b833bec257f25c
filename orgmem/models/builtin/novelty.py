"""What in a learning is new: each added block with the sentences that say something the file did not say.

An added sentence is compared with the sentences that the edit removed. One that only turns an old one
around, renames a path in it or swaps a few plain words is dropped, and the reason is counted.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from orgmem.models.builtin.markdown import Block, Kind, blocks_after, blocks_before
from orgmem.models.builtin.noise import noise_of
from orgmem.models.builtin.sentences import CODE_SPAN, VAGUE, plain, sentences
from orgmem.models.builtin.wordlists import word_list
from orgmem.models.curator import NothingReason
from orgmem.text.terms import FactKind, kind_of
from schemas.learning import Hunk

EDITED_FROM = 0.6
"""Share of a sentence's tokens that an old sentence must hold for it to be an edit of that one."""
FEW_WORDS = 4
"""An edit that adds fewer plain words than this only rewords."""
MOST_HOLDERS = 500
"""A token in more old sentences than this tells none of them apart: a bound on the work for huge edits."""
SAME_WORD = 0.88
"""Similarity of spelling from which two facts are one, mistyped."""

_NO_WORD = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"[\d.]+")
_TOKEN = re.compile(r"[^\s`\"'()\[\]{}<>|,;*\u2013\u2014\u201c\u201d\u2192]+")
_POLARITY = word_list("polarity")
_SMALL = word_list("small")
_REFERENCES = (FactKind.URL, FactKind.PATH)


@dataclass(frozen=True)
class Fresh:
    """An added block and which of its sentences (lines, for code) are new."""

    block: Block
    kept: tuple[str, ...]
    whole: bool
    """All of the block is new."""
    replaced: str = ""
    """The old fact that the one new sentence's fact took the place of, if there is one."""


@dataclass(frozen=True)
class News:
    """All that is new, in order, and why the rest of the added text was dropped."""

    fresh: tuple[Fresh, ...]
    dropped: Counter[NothingReason]


def news_of(hunks: Sequence[Hunk]) -> News:
    """What the hunks of one learning say that the file did not say before."""
    before = [blocks_before(hunk) for hunk in hunks]
    after = [blocks_after(hunk) for hunk in hunks]
    old = _Old(before, after)
    dropped: Counter[NothingReason] = Counter()
    added = [block for side in after for block in side if block.added]
    fresh = [new for block in added if (new := _fresh(block, old, dropped))]
    return News(tuple(fresh), dropped)


def parts_of(block: Block) -> tuple[str, ...]:
    """The units that are compared: lines of code, else sentences without marks."""
    if block.kind is Kind.CODE:
        return tuple(line.rstrip() for line in block.text.split("\n") if line.strip())
    if block.kind is Kind.ROW:
        return (plain(block.text),)
    return sentences(plain(block.text))


class _Old:
    """What the file said around the edit: the sentences it removed, found by the tokens they share."""

    def __init__(self, before: Sequence[Sequence[Block]], after: Sequence[Sequence[Block]]) -> None:
        self.present = {_key(part) for side in after for part in _parts(side, added=False)}
        """Keys of sentences that still stand."""
        self.in_place: set[str] = set()
        """Keys of sentences that one hunk removes and adds again."""
        for old, new in zip(before, after, strict=True):
            self.in_place |= set(map(_key, _parts(old, added=True))) & set(map(_key, _parts(new, added=True)))
        around = (part for side in before for part in _parts(side, added=False) if _key(part) not in self.present)
        removed = (part for side in before for part in _parts(side, added=True))
        self.parts = list(dict.fromkeys([*removed, *around]))
        self.keys = set(map(_key, self.parts))
        self.tokens = [Counter(tokens(part)) for part in self.parts]
        self._holders: dict[str, list[int]] = defaultdict(list)
        for index, counted in enumerate(self.tokens):
            for token in counted:
                self._holders[token].append(index)

    def closest(self, wanted: Counter[str]) -> tuple[float, int]:
        """The share of the wanted tokens that the best old sentence holds, and its index."""
        shared: Counter[int] = Counter()
        for token, times in wanted.items():
            holders = self._holders.get(token, ())
            for index in holders if len(holders) <= MOST_HOLDERS else ():
                shared[index] += min(times, self.tokens[index][token])
        if not shared:
            return 0.0, -1
        index = min(shared, key=lambda each: (-shared[each], each))
        return (wanted & self.tokens[index]).total() / wanted.total(), index


def _parts(blocks: Iterable[Block], *, added: bool) -> Iterator[str]:
    return (part for block in blocks if block.added is added for part in parts_of(block))


def _fresh(block: Block, old: _Old, dropped: Counter[NothingReason]) -> Fresh | None:
    if reason := noise_of(block):
        dropped[reason] += 1
        return None
    parts = parts_of(block)
    kept: list[str] = []
    replaced = ""
    for part, prior in zip(parts, ("", *parts), strict=False):
        verdict, swapped = _judge(part, block.kind, old)
        if verdict is None:
            if prior and prior not in kept and VAGUE.match(part) and block.kind is not Kind.CODE:
                kept.append(prior)
            kept.append(part)
            replaced = replaced or swapped
        else:
            dropped[verdict] += 1
    if not kept:
        return None
    return Fresh(block, tuple(kept), whole=len(kept) == len(parts), replaced=replaced if len(kept) == 1 else "")


def _judge(part: str, kind: Kind, old: _Old) -> tuple[NothingReason | None, str]:
    """Why a part is nothing new, or none; and the one fact that its new fact replaced."""
    key = _key(part)
    if not key or key in old.present or key in old.in_place:
        return NothingReason.FORMATTING_ONLY, ""
    if key in old.keys:
        return NothingReason.MOVED, ""
    wanted = Counter(tokens(part))
    said = Counter({token: times for token, times in wanted.items() if not _is_reference(token)})
    share, index = max(old.closest(wanted), old.closest(said), key=lambda found: found[0])
    if share < EDITED_FROM:
        return None, ""
    return _judge_edit(part, kind, wanted - old.tokens[index], old.tokens[index] - wanted, old.parts[index])


def _judge_edit(
    part: str, kind: Kind, new: Counter[str], gone: Counter[str], before: str
) -> tuple[NothingReason | None, str]:
    if (set(new) | set(gone)) & _POLARITY:
        return None, ""
    said = [token for token in new if token not in _SMALL]
    if not said:
        return NothingReason.WORDING_ONLY, ""
    spans = code_words(part) if kind is not Kind.CODE else frozenset(said)
    facts = [token for token in said if kind_of(token) is not FactKind.COMMAND or token in spans]
    words = len(said) - len(facts)
    if (
        facts
        and gone
        and words < FEW_WORDS
        and all(_is_reference(fact) or _respelled(fact, gone) for fact in facts)
    ):
        return NothingReason.REFERENCE_UPDATE, ""
    if not facts and words < FEW_WORDS:
        return NothingReason.WORDING_ONLY, ""
    return None, _replaced(part, facts, gone, before)


def _is_reference(token: str) -> bool:
    return "/" in token or kind_of(token) in _REFERENCES


def _respelled(fact: str, gone: Iterable[str]) -> bool:
    """Whether it is an old fact with other digits or with a letter mended."""
    if "=" in fact or kind_of(fact) is FactKind.NUMBER:
        return False  # a value is what the sentence is about
    bare = _DIGITS.sub("", fact)
    return any(
        bare == _DIGITS.sub("", old) or SequenceMatcher(None, fact, old).ratio() >= SAME_WORD for old in gone
    )


def _replaced(part: str, facts: Sequence[str], gone: Counter[str], before: str) -> str:
    """The old fact, as it was written, when one whole code span took the place of one."""
    lost = [span for span in whole_spans(before) if span.lower() in gone]
    new = [span for span in whole_spans(part) if span.lower() in facts]
    return lost[0] if len(facts) == len(lost) == len(new) == 1 else ""


def tokens(text: str) -> Iterator[str]:
    """Lower-case tokens with their inner punctuation."""
    for raw in _TOKEN.findall(text):
        if token := _trim(raw):
            yield token


def whole_spans(text: str) -> tuple[str, ...]:
    """What stands in the code spans."""
    return tuple(match[0].strip("`") for match in CODE_SPAN.finditer(text))


def code_words(text: str) -> frozenset[str]:
    """Tokens that stand in code spans."""
    return frozenset(token for match in CODE_SPAN.finditer(text) for token in tokens(match[0]))


def _trim(raw: str) -> str:
    token = raw.lower().strip(".:!?=&\\")
    return token if any(char.isalnum() for char in token) else ""


def _key(part: str) -> str:
    return _NO_WORD.sub("", part.lower())
