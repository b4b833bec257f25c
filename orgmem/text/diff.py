"""What an edit changed: line hunks for readers, diff-match-patch text for provenance, one patch a hunk.

Diffs are made by lines with `Diff_Timeout = 0`: the library's default gives up after a second of wall
time, so that its patches would depend on the machine. Patches apply exactly; the library's own
`patch_apply` is fuzzy and may put a change elsewhere. Texts hold no lone surrogates (records refuse them).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diff_match_patch import diff_match_patch, patch_obj

from orgmem.errors import InputError
from orgmem.text.headings import Heading, headings, path_at
from schemas.learning import Hunk

CONTEXT_LINES = 5
MOST_CELLS = 4_000_000
"""Lines before times lines after, common ends cut off: above, the whole middle counts as one change.

Without a bound, two unlike files of 100,000 lines would take hours. It is a count, not a time, so the
same texts give the same patch on any machine.
"""

_EQUAL, _DELETE, _INSERT = (
    diff_match_patch.DIFF_EQUAL,
    diff_match_patch.DIFF_DELETE,
    diff_match_patch.DIFF_INSERT,
)


class _Change(NamedTuple):
    """A contiguous change: removed and added lines, where they start, and the unchanged lines around."""

    removed_at: int
    added_at: int
    removed: Sequence[str]
    added: Sequence[str]
    above: Sequence[str]
    below: Sequence[str]


def line_hunks(before: str, after: str) -> tuple[Hunk, ...]:
    """The contiguous changes of whole lines, in order, each with its context and heading path."""
    changes = tuple(_changes(before, after))
    if not changes:
        return ()
    old, new = headings(split_lines(before)), headings(split_lines(after))
    return tuple(
        Hunk(
            heading_path=_path(change, old, new),
            before="".join(change.removed),
            after="".join(change.added),
            context_before="".join(change.above),
            context_after="".join(change.below),
        )
        for change in changes
    )


def make_patch(before: str, after: str) -> str:
    """Diff-match-patch text from `before` to `after`, one patch for each of `line_hunks`; empty if equal."""
    new = split_lines(after)
    starts = [0]
    for line in new:
        starts.append(starts[-1] + len(line))
    return "".join(str(_patch(change, starts)) for change in _changes(before, after))


def apply_patch(patch: str, before: str) -> str:
    """The text after the patch, to the byte.

    Raises:
        InputError: the patch is malformed, or doesn't belong to this text.
    """
    done: list[str] = []
    at = grown = 0
    for part in _parse(patch):
        start = part.start2 - grown
        source = "".join(data for op, data in part.diffs if op != _INSERT)
        lead = len(part.diffs[0][1]) if part.diffs and part.diffs[0][0] == _EQUAL else 0
        if start + lead < at or before[start : start + len(source)] != source:
            raise InputError("the patch does not belong to this text", "orgmem validate FILE")
        removed = "".join(data for op, data in part.diffs if op == _DELETE)
        added = "".join(data for op, data in part.diffs if op == _INSERT)
        done += before[at : start + lead], added
        at = start + lead + len(removed)
        grown += len(added) - len(removed)
    done.append(before[at:])
    return "".join(done)


def patch_agrees(patch: str, hunks: Sequence[Hunk]) -> bool:
    """Whether there is one patch for each hunk, with the hunk's context, removed and added text."""
    try:
        parts = _parse(patch)
    except InputError:
        return False
    return len(parts) == len(hunks) and all(
        part.diffs == _diffs(hunk.context_before, hunk.before, hunk.after, hunk.context_after)
        for part, hunk in zip(parts, hunks, strict=True)
    )


def split_lines(text: str) -> list[str]:
    r"""Lines with their ends, split at \n alone: a lone \r, a form feed or U+2028 is text."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _changes(before: str, after: str) -> Iterator[_Change]:
    runs = list(_runs(before, after))
    removed_at = added_at = 0
    for index, (old, new) in enumerate(runs):
        if old is not new:
            above = runs[index - 1][0] if index else []
            below = runs[index + 1][0] if index + 1 < len(runs) else []
            yield _Change(removed_at, added_at, old, new, above[-CONTEXT_LINES:], below[:CONTEXT_LINES])
        removed_at += len(old)
        added_at += len(new)


def _runs(before: str, after: str) -> Iterator[tuple[list[str], list[str]]]:
    """The texts as (old, new) runs of lines, unchanged and changed in turn; unchanged is one list twice."""
    engine = diff_match_patch()
    engine.Diff_Timeout = 0
    old, new, lines = engine.diff_linesToChars(before, after)
    removed: list[str] = []
    added: list[str] = []
    for op, chars in _edits(engine, old, new):
        run = [lines[ord(char)] for char in chars]
        if op == _DELETE:
            removed += run
        elif op == _INSERT:
            added += run
        else:
            if removed or added:
                yield removed, added
            yield run, run
            removed, added = [], []
    if removed or added:
        yield removed, added


def _edits(engine: diff_match_patch, old: str, new: str) -> list[tuple[int, str]]:
    head = engine.diff_commonPrefix(old, new)
    tail = engine.diff_commonSuffix(old[head:], new[head:])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(middle_old) * len(middle_new) <= MOST_CELLS:
        edits: list[tuple[int, str]] = engine.diff_main(old, new, checklines=False)
        return edits
    ends = (
        (_EQUAL, old[:head]),
        (_DELETE, middle_old),
        (_INSERT, middle_new),
        (_EQUAL, old[len(old) - tail :]),
    )
    return [edit for edit in ends if edit[1]]


def _path(change: _Change, old: Sequence[Heading], new: Sequence[Heading]) -> tuple[str, ...]:
    lines, at, found = (
        (change.added, change.added_at, new) if change.added else (change.removed, change.removed_at, old)
    )
    blank = next((offset for offset, line in enumerate(lines) if line.strip()), 0)
    return path_at(found, at + blank)


def _patch(change: _Change, starts: Sequence[int]) -> patch_obj:
    # Both starts count in the text with the earlier patches applied: the library's rolling context.
    above, removed, added, below = (
        "".join(lines) for lines in (change.above, change.removed, change.added, change.below)
    )
    patch = patch_obj()
    patch.diffs = _diffs(above, removed, added, below)
    patch.start1 = patch.start2 = starts[change.added_at] - len(above)
    patch.length1 = len(above) + len(removed) + len(below)
    patch.length2 = len(above) + len(added) + len(below)
    return patch


def _diffs(above: str, removed: str, added: str, below: str) -> list[tuple[int, str]]:
    parts = (_EQUAL, above), (_DELETE, removed), (_INSERT, added), (_EQUAL, below)
    return [part for part in parts if part[1]]


def _parse(patch: str) -> list[patch_obj]:
    try:
        parts: list[patch_obj] = diff_match_patch().patch_fromText(patch)
    except ValueError as error:
        raise InputError("the patch is not diff-match-patch text", "orgmem validate FILE") from error
    return parts
