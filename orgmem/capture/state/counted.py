"""Counts of sessions, as last on their way to the other end."""

import sqlite3
from typing import NamedTuple

HOUR = 3600.0


class Counted(NamedTuple):
    """What was last made of a session's counts."""

    id: str
    """The record's."""
    version: int
    """From 1, one more for each change."""
    body: str
    """The counts, without the version."""
    tried_at: float
    """Seconds since 1970."""
    sent: int
    """1 once the other end has them."""


def every(db: sqlite3.Connection) -> dict[str, Counted]:
    """What was last made of each session's counts, by id."""
    return {row[0]: Counted(*row) for row in db.execute("select * from counted")}


def wait(db: sqlite3.Connection, now: float) -> bool:
    """Whether counts should be sent though no learning is due.

    At the end of a session, and once an hour if anything can have changed.
    """
    tried, began, seen, decided, ended = db.execute(
        "select (select coalesce(max(tried_at), 0) from counted), (select min(first_at) from sessions),"
        " (select max(last_at) from sessions), (select coalesce(max(decided_at), 0) from candidates),"
        " (select coalesce(max(ended_at), 0) from sessions)"
    ).fetchone()
    return began is not None and (ended > tried or (now - max(tried, began) > HOUR and max(seen, decided) > tried))


def put(db: sqlite3.Connection, counted: Counted) -> None:
    """Remember counts before they are sent: a version never says two things."""
    db.execute("insert or replace into counted values (?, ?, ?, ?, ?)", counted)


def sent(db: sqlite3.Connection, number: str) -> None:
    """The other end has them."""
    db.execute("update counted set sent=1 where id=?", (number,))
