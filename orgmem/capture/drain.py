"""Empties the spool under the lock: notes sessions and answers; does the rest if anything can have changed.

Standard library only, until something has. A wake is dropped when its effects are in the database, so that a
process killed anywhere does the same again, to the same end.
"""

# pathlib's import is not free, and most wakes need no more than this.
# ruff: noqa: PTH118
import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from orgmem.capture import hook, look, payloads, spool
from orgmem.capture.faults import is_storable, reason_of, storable
from orgmem.capture.look import Occurrence
from orgmem.capture.state import sessions

if TYPE_CHECKING:
    from orgmem.settings import Settings

LOCK = hook.LOCK
SELF = "reconcile"
"""Subject of notices about the whole."""
_PAUSE_SECONDS = 0.05


class Drained(NamedTuple):
    """What came of the wakes."""

    wakes: int
    decided: int
    """Candidates decided by answers."""
    stuck: bool
    """A fault keeps the wakes in the spool."""


class Means(NamedTuple):
    """What a drain needs."""

    db: sqlite3.Connection
    home: str
    settings: Callable[[], "Settings"]
    """Called once something can have changed."""
    now: Callable[[], float]
    """Seconds since 1970."""
    tick: Callable[[str], None] = lambda _: None
    """Called between steps with their names, for tests that end the process there."""

    @property
    def folder(self) -> str:
        """Where spool, lock and database are."""
        return os.path.join(self.home, "capture")


def take_turns(home: str, work: Callable[[], bool], *, wait: float = 0.0) -> bool:
    """Work under the home's lock, again if a wake came while it was held; whether it was to be had.

    A hook that finds the lock held starts nobody: its wake is this process's to see, so the spool is looked at
    once more after the lock is free. `work` says whether to go on like that.
    """
    held_once = False
    while True:
        with held(os.path.join(home, "capture", LOCK), wait) as mine:
            if not mine:
                return held_once
            held_once = True
            if not work():
                return True
        if not spool.wakes(spool.folder(home)):
            return True


@contextmanager
def held(file: str, wait: float) -> Iterator[bool]:
    """The lock of this file, waited for so many seconds; whether it was to be had. A killed holder frees it."""
    handle = os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        yield _is_taken(handle, time.monotonic() + wait)
    finally:
        os.close(handle)


def drain(means: Means) -> Drained:
    """Work off every wake, those that come meanwhile too."""
    folder = spool.folder(means.home)
    count = decided = 0
    while wakes := spool.wakes(folder):
        try:
            noted = [found for wake in wakes if (found := _noted(means, wake))]
            seen = tuple(each for each, _ in noted)
            decided += sum(number for _, number in noted)
            means.tick("noted")
            if look.can_have_changed(means.db, seen, means.now()):
                _reconcile(means, seen)
            means.tick("reconciled")
            sessions.settle(means.db, "failed", SELF)
        except Exception as error:  # noqa: BLE001 - settings, disk or a mistake of ours: status says so, wakes stay
            sessions.notify(means.db, "failed", SELF, reason_of(error), means.now())
            return Drained(count, decided, stuck=True)
        for wake in wakes:
            spool.drop(folder, wake)
            means.tick("dropped")
        count += len(wakes)
    return Drained(count, decided, stuck=False)


def _reconcile(means: Means, seen: tuple[Occurrence, ...]) -> None:
    from orgmem.capture.reconcile import reconcile

    settings = means.settings()
    if settings.capture:
        reconcile(means, settings, seen)


def occurrence_of(wake: spool.Wake) -> Occurrence:
    """What a wake tells, without what no database takes."""
    event = payloads.parse(wake.event, wake.payload, cwd=wake.cwd, entrypoint=wake.entrypoint)
    return Occurrence(
        wake._replace(cwd=_path(wake.cwd) or "", project_dir=_path(wake.project_dir) or ""),
        event._replace(
            session=None if event.session is None else storable(event.session),
            cwd=_path(event.cwd),
            paths=tuple(path for path in event.paths if is_storable(path)),
            edits=tuple(edit for edit in event.edits if is_storable(edit.path)),
        ),
    )


def _path(path: str | None) -> str | None:
    return path if path and is_storable(path) else None


def _noted(means: Means, wake: spool.Wake) -> tuple[Occurrence, int] | None:
    """What happened, and how many candidates it decided; a wake at which we stumble keeps no other back."""
    try:
        occurrence = occurrence_of(wake)
        return occurrence, _note(means.db, occurrence)
    except sqlite3.Error:
        raise
    except Exception as error:  # noqa: BLE001 - a payload may be anything
        sessions.notify(means.db, "failed", f"event {storable(wake.event)}", reason_of(error), means.now())
        return None


def _note(db: sqlite3.Connection, occurrence: Occurrence) -> int:
    """Remember the session, and take an answer."""
    event, at = occurrence.event, occurrence.wake.at
    if event.session:
        sessions.touch(
            db, event.session, event.assistant, at, interactive=event.interactive, ends=event.kind == "session_end"
        )
    if event.kind != "answer":
        return 0
    from orgmem.capture.question import take_answer

    return len(take_answer(db, event, at))


def _is_taken(handle: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(_PAUSE_SECONDS)
        else:
            return True
