"""What the payloads of a round tell of files: what an edit made of them, and whose session it was."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from orgmem.capture.changes import Source, same_text
from orgmem.capture.look import Occurrence


class Content(NamedTuple):
    """A file's bytes; none where there was no file."""

    data: bytes | None


class Touch(NamedTuple):
    """An edit of a file, as one payload tells it."""

    before: Content | None
    """None: not known."""
    after: Content | None


class Evidence:
    """The occurrences of a round, by file and by folder."""

    def __init__(self, occurrences: Sequence[Occurrence], origin: str, now: float) -> None:
        self.occurrences = occurrences
        self.origin = origin
        self.now = now

    @cached_property
    def edits(self) -> dict[str, list[Touch]]:
        """Each edited file's real path, with its edits in the order of the payloads."""
        found: dict[str, list[Touch]] = {}
        for each in self.occurrences:
            for edit in each.event.edits:
                touch = Touch(_content(edit.before, there=edit.before != ""), _content(edit.after))
                found.setdefault(real(edit.path), []).append(touch)
        return found

    @cached_property
    def named(self) -> dict[str, Occurrence]:
        """Real path of each file that a payload names, with the last occurrence that does."""
        return {real(path): each for each in self.occurrences for path in each.paths}

    def before(self, real_path: str) -> Content | None:
        """What a file was before its first edit, where a payload tells it."""
        return next((touch.before for touch in self.edits.get(real_path, ()) if touch.before), None)

    def before_the_edit_to(self, real_path: str, data: bytes | None) -> Content | None:
        """What a file was before the edits that made it this; none if no edit did."""
        touches = self.edits.get(real_path, ())
        made = any(touch.after and same_text(touch.after.data, data) for touch in touches)
        first = self.before(real_path)
        return first if made and first and not same_text(first.data, data) else None

    def began(self, root: str) -> float | None:
        """When the first session of the round began in a checkout; now, when the user asks for it."""
        starts = (each.wake.at for each in self._within(root) if each.event.kind == "session_start")
        return self.now if self.origin == "sync" else min(starts, default=None)

    def source(self, real_path: str, root: str) -> Source:
        """Session and time of the last event that names the file, or of the last one in its checkout."""
        within = [each for each in self._within(root) if each.event.session]
        last = self.named.get(real_path) or next(reversed(within), None)
        return Source(self.origin, last.event.session if last else None, last.wake.at if last else self.now)

    def _within(self, root: str) -> Iterator[Occurrence]:
        return (each for each in self.occurrences if is_within(real(each.cwd), root))


def real(path: str) -> str:
    """The path with symlinks resolved, as far as it exists; itself where it can't be a path."""
    try:
        return os.path.realpath(path) if path else path
    except (OSError, ValueError):
        return path


def is_within(path: str, root: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def _content(text: str | None, *, there: bool = True) -> Content | None:
    # Text without a place in UTF-8 (lone surrogates) becomes question marks: a file can't hold it as text.
    return None if text is None else Content(text.encode("utf-8", "replace") if there else None)
