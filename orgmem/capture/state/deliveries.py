"""Deliveries: where each approved candidate, or learning of a backfill, stands on its way to the staging area."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orgmem.capture.state.database import transaction

QUEUED, DELIVERED, FAILED = "queued", "delivered", "failed"


class Delivery(NamedTuple):
    """An approved candidate's way."""

    candidate: int
    """Below 0: a learning of a backfill."""
    learning_id: str
    state: str
    """queued; delivered; failed: the other end refused it for good."""
    attempts: int
    due_at: float
    """Not tried before; seconds since 1970."""
    delivered_at: float | None
    error: str | None
    """Why the last attempt failed."""


class Backfilled(NamedTuple):
    """A learning that was approved with a backfill: the file in the outbox is all there is of it."""

    candidate: int
    """Below 0."""
    file: str
    """Name in the outbox."""
    sha256: str
    """Of its bytes, as they were approved."""
    approved_at: float


def due(db: sqlite3.Connection, now: float) -> tuple[Delivery, ...]:
    """Queued deliveries whose time has come, oldest candidate first."""
    rows = db.execute("select * from deliveries where state=? and due_at<=? order by candidate", (QUEUED, now))
    return tuple(Delivery(*row) for row in rows)


def queued(db: sqlite3.Connection) -> tuple[Delivery, ...]:
    """Deliveries that are neither delivered nor failed, whatever their time."""
    rows = db.execute("select * from deliveries where state=? order by candidate", (QUEUED,))
    return tuple(Delivery(*row) for row in rows)


def find(db: sqlite3.Connection, candidate: int) -> Delivery | None:
    """The delivery of a candidate; none if it is not approved."""
    row = db.execute("select * from deliveries where candidate=?", (candidate,)).fetchone()
    return Delivery(*row) if row else None


def candidates_of(db: sqlite3.Connection, learning_id: str) -> tuple[int, ...]:
    """Candidates that are or were this learning, whatever was decided."""
    rows = db.execute("select id from candidates where learning_id=? order by id", (learning_id,))
    return tuple(row[0] for row in rows)


def every(db: sqlite3.Connection) -> tuple[Delivery, ...]:
    """Every delivery."""
    return tuple(Delivery(*row) for row in db.execute("select * from deliveries order by candidate"))


def delivered(db: sqlite3.Connection, candidate: int, now: float) -> None:
    """The other end has it."""
    db.execute(
        "update deliveries set state=?, attempts=attempts+1, delivered_at=?, error=null where candidate=?",
        (DELIVERED, now, candidate),
    )


def postponed(db: sqlite3.Connection, candidate: int, error: str, due_at: float) -> None:
    """An attempt failed; the next is due later."""
    db.execute(
        "update deliveries set attempts=attempts+1, error=?, due_at=? where candidate=? and state=?",
        (error, due_at, candidate, QUEUED),
    )


def hold(db: sqlite3.Connection, numbers: Iterable[int], error: str, until: float) -> None:
    """The other end can't be reached: an attempt for all of these, and nothing else is tried before `until`."""
    with transaction(db):
        for each in numbers:
            postponed(db, each, error, until)
        db.execute("update deliveries set due_at=? where state=? and due_at<?", (until, QUEUED, until))


def failed(db: sqlite3.Connection, candidate: int, error: str) -> None:
    """The other end refused it for good; its file is kept."""
    db.execute(
        "update deliveries set state=?, attempts=attempts+1, error=? where candidate=?", (FAILED, error, candidate)
    )


def requeue(db: sqlite3.Connection, candidate: int, now: float) -> None:
    """Try a failed one again."""
    db.execute(
        "update deliveries set state=?, due_at=?, error=null where candidate=? and state=?",
        (QUEUED, now, candidate, FAILED),
    )


def add_backfilled(db: sqlite3.Connection, files: Sequence[tuple[str, str, str]], now: float) -> None:
    """Queue approved learnings of a backfill in this order: (learning id, file, sha256) of each; all or none."""
    with transaction(db):
        (lowest,) = db.execute("select coalesce(min(candidate), 0) from backfilled").fetchone()
        for number, (learning, file, sha256) in enumerate(files, lowest - len(files)):
            db.execute("insert into backfilled values (?, ?, ?, ?)", (number, file, sha256, now))
            db.execute("insert into deliveries values (?, ?, 'queued', 0, ?, null, null)", (number, learning, now))


def backfilled(db: sqlite3.Connection) -> tuple[Backfilled, ...]:
    """Every learning of a backfill."""
    return tuple(Backfilled(*row) for row in db.execute("select * from backfilled order by candidate"))


def find_backfilled(db: sqlite3.Connection, candidate: int) -> Backfilled | None:
    """The learning of a backfill with this number."""
    row = db.execute("select * from backfilled where candidate=?", (candidate,)).fetchone()
    return Backfilled(*row) if row else None


def drop_backfilled(db: sqlite3.Connection, candidate: int) -> None:
    """Forget a learning of a backfill whose file is lost: another backfill brings it again."""
    with transaction(db):
        db.execute("delete from backfilled where candidate=?", (candidate,))
        db.execute("delete from deliveries where candidate=?", (candidate,))


def counts(db: sqlite3.Connection, *, backfilled: bool = False) -> dict[str, int]:
    """How many deliveries of candidates, or of learnings of backfills, there are in each state."""
    which = "candidate<0" if backfilled else "candidate>0"
    return dict(db.execute(f"select state, count(*) from deliveries where {which} group by state"))  # noqa: S608


def waiting_since(db: sqlite3.Connection) -> float | None:
    """When the oldest of the queued ones was approved, seconds since 1970."""
    value = db.execute(
        "select min(coalesce(c.decided_at, b.approved_at)) from deliveries d"
        " left join candidates c on c.id=d.candidate left join backfilled b on b.candidate=d.candidate"
        " where d.state=?",
        (QUEUED,),
    ).fetchone()[0]
    return None if value is None else float(value)


def most_attempts(db: sqlite3.Connection) -> int:
    """How often the queued one with most attempts was tried."""
    row = db.execute("select coalesce(max(attempts), 0) from deliveries where state=?", (QUEUED,)).fetchone()
    return int(row[0])


def last_error(db: sqlite3.Connection) -> str | None:
    """Why the queued ones wait, where an attempt has failed."""
    row = db.execute(
        "select error from deliveries where state=? and error is not null order by due_at desc, candidate limit 1",
        (QUEUED,),
    ).fetchone()
    return row[0] if row else None


def last_success(db: sqlite3.Connection) -> float | None:
    """When something was last delivered, seconds since 1970."""
    value = db.execute("select max(delivered_at) from deliveries").fetchone()[0]
    return None if value is None else float(value)
