"""Sessions of assistants, the questions asked in them, and notices for the person."""

import sqlite3
from typing import NamedTuple


class Question(NamedTuple):
    """A question that the assistant was told to put to its user."""

    nonce: str
    session: str
    text: str
    yes: str
    """Label of the option that approves."""
    no: str
    """Label of the option that denies."""
    candidates: tuple[int, ...]
    asked_at: float
    answered_at: float | None = None


class SessionCount(NamedTuple):
    """What a session counts; no text."""

    id: str
    assistant: str
    first_at: float
    last_at: float
    candidates: int
    prompts_shown: int
    approved: int
    denied: int
    ended_at: float | None = None
    """When its end was told; none if it goes on."""


class Notice(NamedTuple):
    """Something the person should know."""

    kind: str
    """lost, skipped or failed."""
    subject: str
    detail: str
    at: float


def touch(
    db: sqlite3.Connection,
    session: str,
    assistant: str,
    now: float,
    *,
    interactive: bool | None = None,
    ends: bool = False,
) -> None:
    """Remember a session; evidence against a person at the keyboard outweighs evidence for one."""
    db.execute(
        "insert into sessions values (?, ?, ?, ?, ?, ?) on conflict (id) do update set last_at=excluded.last_at,"
        " interactive=min(coalesce(interactive, 1), coalesce(excluded.interactive, interactive)),"
        " ended_at=excluded.ended_at",
        (session, assistant, now, now, interactive, now if ends else None),
    )


def is_interactive(db: sqlite3.Connection, session: str) -> bool:
    """Whether there is evidence that a person sits at this session."""
    row = db.execute("select interactive from sessions where id=?", (session,)).fetchone()
    return bool(row and row[0])


def put_question(db: sqlite3.Connection, question: Question) -> None:
    """Remember a question before it is asked."""
    row = (*question[:5], ",".join(map(str, question.candidates)), *question[6:])
    db.execute("insert into questions values (?, ?, ?, ?, ?, ?, ?, ?)", row)


def open_questions(db: sqlite3.Connection, session: str) -> tuple[Question, ...]:
    """Questions of a session that have no answer yet."""
    rows = db.execute("select * from questions where session=? and answered_at is null", (session,))
    return tuple(Question._make((*row[:5], tuple(map(int, row[5].split(","))), *row[6:])) for row in rows)


def use_question(db: sqlite3.Connection, nonce: str, now: float) -> bool:
    """Take a question's nonce; false when it was taken before. Call it in the transaction that decides."""
    done = db.execute("update questions set answered_at=? where nonce=? and answered_at is null", (now, nonce))
    return bool(done.rowcount)


def session_counts(db: sqlite3.Connection) -> tuple[SessionCount, ...]:
    """Counts of every session; what was withdrawn, or arrived with a commit of others, is no edit of it."""
    rows = db.execute(
        "select s.id, assistant, first_at, last_at,"
        " (select count(*) from candidates c where c.session=s.id and status not in ('withdrawn', 'arrived')),"
        " (select count(*) from questions q where q.session=s.id),"
        " (select count(*) from candidates c where c.session=s.id and status='approved'),"
        " (select count(*) from candidates c where c.session=s.id and status='denied'), ended_at"
        " from sessions s order by first_at, s.id"
    )
    return tuple(SessionCount(*row) for row in rows)


def notify(db: sqlite3.Connection, kind: str, subject: str, detail: str, now: float) -> None:
    """Keep a notice; the same kind and subject again replaces it."""
    db.execute("insert or replace into notices values (?, ?, ?, ?)", (kind, subject, detail, now))


def settle(db: sqlite3.Connection, kind: str, subject: str) -> None:
    """What the notice told of is no more."""
    db.execute("delete from notices where kind=? and subject=?", (kind, subject))


def notices(db: sqlite3.Connection) -> tuple[Notice, ...]:
    """Every notice, oldest first."""
    return tuple(Notice(*row) for row in db.execute("select * from notices order by at, kind, subject"))
