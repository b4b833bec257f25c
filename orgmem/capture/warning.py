"""The one line that a session begins with when capture or delivery has been failing. Standard library only."""

# pathlib's import is not free, and this runs after every wake.
# ruff: noqa: PTH120
import os
import sqlite3
from typing import NamedTuple

from orgmem.capture import spool
from orgmem.capture.hook import SUFFIX
from orgmem.capture.state import deliveries, sessions

PATIENCE_SECONDS = 600.0
"""Wakes older than this should have been worked off."""
OVERDUE_SECONDS = 24 * 3600.0
"""A learning that was approved before that should have been delivered."""
MANY_ATTEMPTS = 5
FRESH_SECONDS = 7 * 24 * 3600.0
"""A fault that has not come again for so long is history: nobody can say that a hook works again."""


class Waiting(NamedTuple):
    """Wakes in the spool."""

    number: int
    since: float | None
    """When the oldest came, seconds since 1970."""


def warning(db: sqlite3.Connection, now: float) -> str | None:
    """One short line that ends with the next command, or none where all is well; no text of a file or a notice."""
    wakes = waiting(_home_of(db))
    if wakes.since is not None and now - wakes.since > PATIENCE_SECONDS:
        return f"orgmem: {_many(wakes.number, 'event')} not looked at yet; run: orgmem capture sync"
    if faults := sum(each.kind == "failed" and now - each.at < FRESH_SECONDS for each in sessions.notices(db)):
        return f"orgmem: capture has {_many(faults, 'fault')}; run: orgmem status"
    refused = sum(deliveries.counts(db, backfilled=each).get(deliveries.FAILED, 0) for each in (False, True))
    if refused:
        return f"orgmem: {_many(refused, 'learning')} refused by the other end; run: orgmem status"
    since = deliveries.waiting_since(db)
    if since is not None and (now - since > OVERDUE_SECONDS or deliveries.most_attempts(db) >= MANY_ATTEMPTS):
        return f"orgmem: {_many(len(deliveries.queued(db)), 'learning')} can't be delivered; run: orgmem status"
    return None


def waiting(home: str) -> Waiting:
    """Wakes of a home that no reconcile has worked off yet."""
    times: list[float] = []
    try:
        with os.scandir(spool.folder(home)) as entries:
            times += [entry.stat().st_mtime for entry in entries if entry.name.endswith(SUFFIX)]
    except FileNotFoundError:
        pass  # no hook has run yet, or a wake was worked off meanwhile
    return Waiting(len(times), min(times, default=None))


def _home_of(db: sqlite3.Connection) -> str:
    """The home whose database this is."""
    file = str(db.execute("pragma database_list").fetchone()[2])
    return os.path.dirname(os.path.dirname(file))


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
