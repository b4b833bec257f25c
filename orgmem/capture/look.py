"""The quick look: whether anything can have changed since the last reconcile, by `stat` where that will do.

Standard library only. It may say yes for nothing, at the price of some imports; it never says no to a change of a
file that has a replica. A new file in a place it doesn't look at is found by the next full walk.
"""

# pathlib's import is not free, and most wakes need no more than this.
# ruff: noqa: PTH112, PTH118, PTH120, PTH123, PTH208
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from orgmem.capture.payloads import Event
from orgmem.capture.spool import Wake
from orgmem.capture.state.replicas import (
    Stamp,
    checkout_above,
    checkouts,
    get_replica,
    put_replica,
    stamps_of,
)

WALKS = frozenset(("session_start", "stop", "session_end", "file_changed"))
"""Kinds of event after which the watch list is walked whatever the quick look says."""
RACY_SECONDS = 2.0
"""A file that was changed so shortly before it was read may have been changed again within the same stamp."""

_ENDINGS = (".md", ".mdc", ".markdown")
_RULES_FILES = frozenset((".cursorrules", ".windsurfrules", ".clinerules"))
_USUAL = _RULES_FILES | {"CLAUDE.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "copilot-instructions.md"}
_USUAL_FOLDERS = ("", ".claude", ".github")
_RULES_FOLDERS = (".claude/rules", ".github/instructions", ".cursor/rules", ".windsurf/rules", ".clinerules")


class Occurrence(NamedTuple):
    """A wake, and what its payload says."""

    wake: Wake
    event: Event

    @property
    def cwd(self) -> str:
        """The folder in which it happened."""
        return self.event.cwd or self.wake.cwd

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it names."""
        return (*self.event.paths, *(edit.path for edit in self.event.edits))


def can_have_changed(db: sqlite3.Connection, occurrences: Iterable[Occurrence], now: float) -> bool:
    """Whether a memory file can differ from its replica, or an event asks for a full walk."""
    seen = tuple(occurrences)
    return any(_asks_for_a_walk(db, each) for each in seen) or any(
        has_altered(db, checkout.root, now) for checkout in checkouts(db)
    )


def has_altered(db: sqlite3.Connection, root: str, now: float) -> bool:
    """Whether a checkout is gone, or a file in it differs from its replica."""
    stamps = stamps_of(db, root).items()
    return not is_folder(root) or any(differs(db, path, stamp, now) for path, stamp in stamps)


def differs(db: sqlite3.Connection, path: str, stamp: Stamp | None, now: float) -> bool:
    """Whether a file is another than its replica, whose stamp is given.

    Where the stamp doesn't tell, the bytes are compared, and the replica gets the file's stamp if it is safe.
    """
    present = stamp_of(path)
    if present is not None and present == stamp:
        return False
    replica = get_replica(db, path)
    if replica is None or replica.skipped is not None:
        return True
    if present is None or replica.content is None:
        return (present is None) != (replica.content is None)
    if present.size != len(replica.content) or not _holds(path, replica.content):
        return True
    if not is_racy(present, now):
        put_replica(db, replica._replace(stamp=present), now)
    return False


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a regular file; none where there is none, or a symlink has taken its place."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def is_racy(stamp: Stamp, now: float) -> bool:
    """Whether a file with this stamp, read now, could change once more and keep it."""
    return stamp.mtime_ns / 1e9 > now - RACY_SECONDS


def is_folder(path: str) -> bool:
    """Whether there is a folder of this name."""
    return os.path.isdir(path)


def may_be_memory(path: str) -> bool:
    """Whether a file of this name could be a memory file."""
    return path.endswith(_ENDINGS) or _name(path) in _RULES_FILES


def _asks_for_a_walk(db: sqlite3.Connection, occurrence: Occurrence) -> bool:
    if occurrence.event.kind in WALKS or any(map(may_be_memory, occurrence.paths)):
        return True
    if not is_folder(occurrence.cwd):
        return occurrence.event.kind in ("shell", "edit")
    root = _known_root(db, occurrence.cwd)
    return root is None or any(_new_names(root, stamps_of(db, root)))


def _known_root(db: sqlite3.Connection, folder: str) -> str | None:
    """Root of the known checkout in which a folder lies; none if a working tree within that is unknown."""
    folder = os.path.realpath(folder)
    known = checkout_above(db, folder)
    while known and folder != known.root:
        if os.path.lexists(os.path.join(folder, ".git")):
            return None
        folder = os.path.dirname(folder)
    return known.root if known else None


def _new_names(root: str, known: Iterable[str]) -> Iterator[str]:
    """Paths in the usual places, and beside known memory files, that could be new memory files."""
    files = frozenset(known)
    beside = {os.path.dirname(path) for path in files}
    rules = {os.path.dirname(path) for path in files if _name(path) not in _USUAL}
    rules |= {os.path.join(root, folder) for folder in _RULES_FOLDERS}
    usual = {os.path.join(root, folder) for folder in _USUAL_FOLDERS}
    for folder in beside | rules | usual:
        for name in _listing(folder):
            path = os.path.join(folder, name)
            wanted = name in _USUAL or (folder in rules and may_be_memory(name))
            if wanted and os.path.realpath(path) not in files:
                yield path


def _listing(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(content) + 1) == content
    except OSError:
        return False


def _name(path: str) -> str:
    return path.rpartition("/")[2]
