"""Checkouts, and the replica of each memory file: its content as last reconciled."""

import sqlite3
from typing import NamedTuple

from orgmem.capture.state.database import transaction


class Checkout(NamedTuple):
    """A working tree of a project, or a plain folder."""

    root: str
    """Real path."""
    project: str
    """`host/owner/name`, or `local/<name>-<digest>` without a remote."""
    common_dir: str | None
    """Git common directory; none for a plain folder."""


class Stamp(NamedTuple):
    """What `stat` said of a file when it was read; the same stamp, the same content."""

    mtime_ns: int
    size: int
    inode: int


class Replica(NamedTuple):
    """A memory file as it was when last reconciled."""

    real_path: str
    root: str
    project: str
    path: str
    """Inside the project, forward slashes."""
    content: bytes | None
    """None: the file was not there."""
    stamp: Stamp | None
    head: str | None = None
    """Commit of the checkout's HEAD then."""
    skipped: str | None = None
    """Why its present content was not read; the replica then keeps the last content that was."""


class Sight(NamedTuple):
    """When and how a checkout was last reconciled."""

    at: float
    """Seconds since 1970."""
    watched: str
    """Digest of the watch list: a file that a wider one takes in is not new."""
    head: str | None
    """Commit of HEAD."""
    gone: bool
    """Its folder was found missing after that."""


_COLUMNS = "real_path, root, project, path, content, mtime_ns, size, inode, head, skipped"


def put_checkout(
    db: sqlite3.Connection, checkout: Checkout, now: float, *, watched: str = "", head: str | None = None
) -> None:
    """Remember a checkout, or that it was seen again."""
    db.execute(
        "insert into checkouts values (?, ?, ?, ?, ?, ?, null) on conflict (root) do update set"
        " project=excluded.project, common_dir=excluded.common_dir, seen_at=excluded.seen_at,"
        " watched=excluded.watched, head=excluded.head, gone_at=null",
        (*checkout, now, watched, head),
    )


def last_sight(db: sqlite3.Connection, root: str) -> Sight | None:
    """When the checkout of this root was last reconciled; none if it never was."""
    row = db.execute(
        "select seen_at, watched, head, gone_at is not null from checkouts where root=?", (root,)
    ).fetchone()
    return Sight(row[0], row[1], row[2], bool(row[3])) if row else None


def checkouts(db: sqlite3.Connection) -> tuple[Checkout, ...]:
    """Every checkout that is still there, by root."""
    rows = db.execute("select root, project, common_dir from checkouts where gone_at is null order by root")
    return tuple(Checkout(*row) for row in rows)


def find_checkout(db: sqlite3.Connection, root: str) -> Checkout | None:
    """The checkout of this root, gone or not; none if it was never seen."""
    row = db.execute("select root, project, common_dir from checkouts where root=?", (root,)).fetchone()
    return Checkout(*row) if row else None


def checkout_above(db: sqlite3.Connection, path: str) -> Checkout | None:
    """The innermost known checkout, gone or not, in which a path lies."""
    found = db.execute("select root, project, common_dir from checkouts order by length(root) desc")
    inside = (Checkout(*row) for row in found if path == row[0] or path.startswith(row[0].rstrip("/") + "/"))
    return next(inside, None)


def mark_gone(db: sqlite3.Connection, root: str, now: float) -> None:
    """The checkout's folder is missing: its files were not deleted by an edit."""
    db.execute("update checkouts set gone_at=? where root=? and gone_at is null", (now, root))


def put_replica(db: sqlite3.Connection, replica: Replica, now: float) -> None:
    """Advance a replica. Call it in the transaction that records what the change means."""
    numbers = map(_signed, replica.stamp) if replica.stamp else (None, None, None)
    updates = ", ".join(f"{name}=excluded.{name}" for name in _COLUMNS.split(", "))
    db.execute(
        f"insert into replicas ({_COLUMNS}, read_at) values ({', '.join('?' * 11)})"  # noqa: S608
        f" on conflict (real_path) do update set {updates},"
        " read_at=case when content is excluded.content then read_at else excluded.read_at end",
        (*replica[:5], *numbers, replica.head, replica.skipped, now),
    )


def move_replica(db: sqlite3.Connection, old: str, new: Replica, now: float) -> None:
    """A file was renamed: its replica goes along."""
    with transaction(db):
        db.execute("delete from replicas where real_path=?", (old,))
        put_replica(db, new, now)


def get_replica(db: sqlite3.Connection, real_path: str) -> Replica | None:
    """The replica of a file; none if it was never seen."""
    row = db.execute(f"select {_COLUMNS} from replicas where real_path=?", (real_path,)).fetchone()  # noqa: S608
    return _replica(row) if row else None


def read_at(db: sqlite3.Connection, real_path: str) -> float | None:
    """When a replica's content was first read, seconds since 1970."""
    row = db.execute("select read_at from replicas where real_path=?", (real_path,)).fetchone()
    return row[0] if row else None


def replicas_of(db: sqlite3.Connection, root: str) -> tuple[Replica, ...]:
    """Replicas of a checkout by path, those of deleted files included."""
    rows = db.execute(f"select {_COLUMNS} from replicas where root=? order by path", (root,))  # noqa: S608
    return tuple(_replica(row) for row in rows)


def stamps_of(db: sqlite3.Connection, root: str) -> dict[str, Stamp | None]:
    """Real path and stamp of each replica of a checkout; without content, for the quick look."""
    rows = db.execute("select real_path, mtime_ns, size, inode from replicas where root=?", (root,))
    return {row[0]: _stamp(*row[1:]) for row in rows}


def _replica(row: tuple) -> Replica:  # type: ignore[type-arg]
    return Replica._make((*row[:5], _stamp(*row[5:8]), row[8], row[9]))


def _signed(number: int) -> int:
    """As a column takes it: an inode may have 64 bits, and a file may say that it is of the year 2300."""
    return (number + 2**63) % 2**64 - 2**63


def _stamp(mtime_ns: int | None, size: int, inode: int) -> Stamp | None:
    return None if mtime_ns is None else Stamp(mtime_ns, size, inode % 2**64)
