"""Candidates: edits in the order in which they were observed, and what was decided about each."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orgmem.capture.state.database import transaction

PENDING, APPROVED, DENIED = "pending", "approved", "denied"
REPEATED, WITHDRAWN, ARRIVED = "repeated", "withdrawn", "arrived"
"""Repeated: the same learning is or was a candidate. Withdrawn: edited back before anybody was asked.
Arrived: git brought it from a commit that was made elsewhere or before; nobody is asked about it."""


class Change(NamedTuple):
    """An edit of a memory file, as reconcile found it."""

    learning_id: str
    project: str
    path: str
    root: str
    real_path: str
    before: str
    """Masked."""
    after: str
    """Masked by the same rules; differs from `before`."""
    masked: int
    """Spans masked in both texts."""
    rules: tuple[str, ...]
    """By which rules."""
    origin: str
    """hook, sync or backfill."""
    session: str | None
    observed_at: float
    """Seconds since 1970."""
    commit_id: str | None = None


class Candidate(NamedTuple):
    """A change in the queue."""

    id: int
    change: Change
    status: str
    via: str | None = None
    """terminal, question, policy or script, once decided."""
    decided_at: float | None = None
    shown_at: float | None = None


_COLUMNS = (
    "id, learning_id, project, path, root, real_path, before, after, masked, rules, origin, session,"
    " observed_at, commit_id, status, via, decided_at, shown_at"
)


def add(db: sqlite3.Connection, change: Change, *, arrived: bool = False) -> int:
    """Queue a change; returns the candidate's id.

    A change whose learning is known is `repeated`; a rule of the user decides at once. Call it in the
    transaction that advances the replica.
    """
    status, via = PENDING, None
    if _is_known(db, change.learning_id):
        status = REPEATED
    elif arrived:
        status = ARRIVED
    elif verdict := rule_for(db, change.project, change.path):
        status, via = (APPROVED if verdict == "always" else DENIED), "policy"
    with transaction(db):
        row = (*change[:8], "\n".join(change.rules), *change[9:], status, via)
        decided = change.observed_at if via else None
        cursor = db.execute(
            f"insert into candidates ({_COLUMNS}) values (null, {', '.join('?' * 15)}, ?, null)",  # noqa: S608
            (*row, decided),
        )
        number = int(cursor.lastrowid or 0)
        if status == APPROVED:
            _queue(db, number, change.learning_id, change.observed_at)
    return number


def get(db: sqlite3.Connection, number: int) -> Candidate | None:
    """The candidate of this id."""
    return next(iter(select(db, "id=?", (number,))), None)


def latest_of(db: sqlite3.Connection, real_path: str) -> Candidate | None:
    """The file's last candidate that was not withdrawn."""
    found = select(db, f"real_path=? and status<>'{WITHDRAWN}' order by id desc limit 1", (real_path,))
    return next(iter(found), None)


def pending(db: sqlite3.Connection) -> tuple[Candidate, ...]:
    """What waits for a decision, in the order of observation."""
    return select(db, "status=? order by id", (PENDING,))


def unshown(db: sqlite3.Connection, session: str, roots: Iterable[str]) -> tuple[Candidate, ...]:
    """Pending candidates of a session, or without one in these checkouts, about which nobody was asked yet."""
    asked = tuple(roots)
    marks = ", ".join("?" * len(asked))
    condition = f"status=? and shown_at is null and (session=? or (session is null and root in ({marks})))"
    return select(db, f"{condition} order by id", (PENDING, session, *asked))


def in_order(db: sqlite3.Connection) -> tuple[Candidate, ...]:
    """Every candidate ever, in the order of observation."""
    return select(db, "1 order by id", ())


def select(db: sqlite3.Connection, condition: str, values: Sequence[object]) -> tuple[Candidate, ...]:
    """Candidates for which an SQL condition over the table holds; values never stand in the condition."""
    rows = db.execute(f"select {_COLUMNS} from candidates where {condition}", values)  # noqa: S608
    return tuple(_candidate(row) for row in rows)


def extend(db: sqlite3.Connection, number: int, change: Change, *, empty: bool) -> None:
    """A pending candidate that nobody was asked about takes up a further edit of the same file and session.

    `change` goes from the candidate's `before` to the new `after`; `empty` when that is no change any more.
    """
    status = WITHDRAWN if empty else REPEATED if _is_known(db, change.learning_id, but=number) else PENDING
    (former,) = db.execute("select learning_id from candidates where id=?", (number,)).fetchone()
    db.execute(
        "update candidates set learning_id=?, after=?, masked=?, rules=?, observed_at=?, status=? where id=?",
        (
            change.learning_id,
            change.after,
            change.masked,
            "\n".join(change.rules),
            change.observed_at,
            status,
            number,
        ),
    )
    if not _is_known(db, former):
        _promote(db, former)


def mark_shown(db: sqlite3.Connection, numbers: Iterable[int], now: float) -> None:
    """A person was asked about these; they are not asked at Stop again."""
    db.executemany(
        "update candidates set shown_at=? where id=? and shown_at is null", [(now, each) for each in numbers]
    )


def decide(
    db: sqlite3.Connection, number: int, *, yes: bool, via: str, now: float, due_at: float | None = None
) -> bool:
    """Approve and queue for delivery (not before `due_at`), or deny; whether it was still pending."""
    with transaction(db):
        status = APPROVED if yes else DENIED
        done = db.execute(
            "update candidates set status=?, via=?, decided_at=? where id=? and status=?",
            (status, via, now, number, PENDING),
        )
        if not done.rowcount:
            return False
        if yes:
            (learning,) = db.execute("select learning_id from candidates where id=?", (number,)).fetchone()
            _queue(db, number, learning, now if due_at is None else due_at)
    return True


def undo(db: sqlite3.Connection, number: int) -> bool:
    """Back to pending, unless it has been delivered; whether that was done."""
    with transaction(db):
        state = db.execute("select state from deliveries where candidate=?", (number,)).fetchone()
        if state and state[0] == "delivered":
            return False
        db.execute("delete from deliveries where candidate=?", (number,))
        done = db.execute(
            "update candidates set status=?, via=null, decided_at=null where id=? and status in (?, ?)",
            (PENDING, number, APPROVED, DENIED),
        )
    return bool(done.rowcount)


def set_rule(db: sqlite3.Connection, project: str, path: str, verdict: str, now: float) -> None:
    """Remember `always` or `never` for a file, or with path '' for the whole project."""
    db.execute("insert or replace into rules values (?, ?, ?, ?)", (project, path, verdict, now))


def drop_rule(db: sqlite3.Connection, project: str, path: str) -> bool:
    """Forget a rule; whether there was one."""
    return bool(db.execute("delete from rules where project=? and path=?", (project, path)).rowcount)


def rule_for(db: sqlite3.Connection, project: str, path: str) -> str | None:
    """always, never or none; the file's rule before the project's."""
    row = db.execute(
        "select verdict from rules where project=? and path in (?, '') order by path desc limit 1", (project, path)
    ).fetchone()
    return row[0] if row else None


def rules(db: sqlite3.Connection) -> tuple[tuple[str, str, str], ...]:
    """(project, path, verdict) of every rule."""
    return tuple(db.execute("select project, path, verdict from rules order by project, path"))


def was_made_elsewhere(db: sqlite3.Connection, change: Change) -> bool:
    """Whether an edit in another checkout of the project has brought this file to the same text."""
    found = db.execute(
        "select 1 from candidates where project=? and path=? and root<>? and after=? and status in (?, ?, ?, ?)",
        (change.project, change.path, change.root, change.after, PENDING, APPROVED, DENIED, REPEATED),
    )
    return found.fetchone() is not None


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """How many candidates there are of each status."""
    return dict(db.execute("select status, count(*) from candidates group by status order by status"))


def _is_known(db: sqlite3.Connection, learning: str, but: int = 0) -> bool:
    found = db.execute(
        "select 1 from candidates where learning_id=? and id<>? and status in (?, ?, ?) limit 1",
        (learning, but, PENDING, APPROVED, DENIED),
    )
    return found.fetchone() is not None


def _promote(db: sqlite3.Connection, learning: str) -> None:
    """The candidate that a learning repeated has become another one: the first repetition takes its place."""
    db.execute(
        "update candidates set status=? where id="
        "(select min(id) from candidates where learning_id=? and status=?)",
        (PENDING, learning, REPEATED),
    )


def _queue(db: sqlite3.Connection, number: int, learning: str, due_at: float) -> None:
    db.execute(
        "insert into deliveries values (?, ?, 'queued', 0, ?, null, null) on conflict do nothing",
        (number, learning, due_at),
    )


def _candidate(row: tuple) -> Candidate:  # type: ignore[type-arg]
    rule_names = tuple(row[9].split("\n")) if row[9] else ()
    change = Change._make((*row[1:9], rule_names, *row[10:14]))
    return Candidate(row[0], change, *row[14:])
