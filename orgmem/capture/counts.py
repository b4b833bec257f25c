"""Session counts: for each session of an assistant one record of figures, sent again when it has changed.

No text, no path and no name goes along: the id is a hash of the session's own and of a random number that never
leaves this home. Whatever happens to counts, learnings are delivered.
"""

import os
import re
import secrets
import sqlite3
from datetime import UTC, datetime
from typing import assert_never

from orgmem.capture.destination import Arrived, Destination, Later, Refused
from orgmem.capture.state import counted, sessions
from orgmem.capture.state.counted import Counted
from orgmem.identity import digest
from orgmem.settings import Settings
from schemas.session_count import SessionCount

PAUSE_SECONDS = 600.0
"""A session's counts are not sent more often than this while it goes on."""
_ASSISTANT = re.compile(r"[a-z][a-z0-9-]{0,39}")
_INSTALL_ID = re.compile(r"[0-9a-f]{32}")


def due(
    db: sqlite3.Connection, settings: Settings, now: float, *, all_due: bool = False
) -> tuple[SessionCount, ...]:
    """Counts that the other end does not have yet; unless `all_due`, of no session that was just sent or begun."""
    known = counted.every(db)
    install = install_id(settings)
    found = []
    for figures in sessions.session_counts(db):
        record = _record(install, figures)
        last = known.get(record.id)
        since = last.tried_at if last else figures.first_at
        has_ended = figures.ended_at is not None and figures.ended_at >= since
        if not (all_due or has_ended) and abs(now - since) < PAUSE_SECONDS:
            continue
        if last is None:
            found.append(record)
        elif last.body != _body(record):
            found.append(record.model_copy(update={"version": last.version + 1}))
        elif not last.sent:
            found.append(record.model_copy(update={"version": last.version}))
    return tuple(found)


def send(db: sqlite3.Connection, counts: tuple[SessionCount, ...], destination: Destination, now: float) -> int:
    """Send counts until one can't be; how many arrived."""
    done = 0
    for each in counts:
        counted.put(db, Counted(each.id, each.version, _body(each), now, 0))
        match destination.send_count(each):
            case Arrived():
                counted.sent(db, each.id)
                done += 1
            case Refused():
                counted.sent(db, each.id)  # the same figures would be refused again
            case Later():
                break
            case never:
                assert_never(never)
    return done


def install_id(settings: Settings) -> str:
    """32 random hex digits of this home, made once. Call it under the outbox' lock."""
    file = settings.capture_folder / "install-id"
    known = file.read_text("ascii", "replace") if file.exists() else ""
    if not _INSTALL_ID.fullmatch(known):
        known = secrets.token_hex(16)
        handle = os.open(file, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(known)
    return known


def _record(install: str, figures: sessions.SessionCount) -> SessionCount:
    return SessionCount(
        id=f"cnt_{digest(install, figures.id)}",
        version=1,
        assistant=figures.assistant if _ASSISTANT.fullmatch(figures.assistant) else "unknown",
        day=datetime.fromtimestamp(figures.first_at, UTC).date(),
        with_edit=figures.candidates > 0,
        candidates=figures.candidates,
        prompts_shown=figures.prompts_shown,
        approved=figures.approved,
        denied=figures.denied,
    )


def _body(count: SessionCount) -> str:
    return count.model_dump_json(exclude={"version"})
