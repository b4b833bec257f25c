"""Opens the client's database and owns its tables.

One file, `ORGMEM_HOME/capture/capture.db`, for its owner only; write-ahead log, so that a hook reads while a
reconcile writes. A change of the file's state and what follows from it are one transaction.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

SCHEMA = 1
"""`user_version` of a database with these tables."""
WAIT_SECONDS = 10.0
"""How long a writer waits for another."""

TABLES = """
create table checkouts (
    root text primary key,          -- real path of a repository's working tree, or of a plain folder
    project text not null,          -- identity: host/owner/name, or local/name-digest
    common_dir text,                -- git common directory; none for a plain folder
    seen_at real not null,          -- seconds since 1970, when last reconciled
    watched text not null,          -- digest of the watch list then
    head text,                      -- commit of HEAD then
    gone_at real                    -- when its folder was found missing
);
create table replicas (
    real_path text primary key,     -- the memory file, symlinks resolved
    root text not null,
    project text not null,
    path text not null,             -- inside the project, forward slashes
    content blob,                   -- as last reconciled; none: the file was not there
    mtime_ns integer, size integer, inode integer,
    head text,                      -- commit of HEAD when that was read
    skipped text,                   -- why its present content was not read; none: it was
    read_at real not null            -- seconds since 1970, when this content was first read
);
create table candidates (
    id integer primary key autoincrement,
    learning_id text not null,
    project text not null, path text not null, root text not null, real_path text not null,
    before text not null, after text not null,      -- masked alike
    masked integer not null, rules text not null,   -- spans masked in both texts; rule names, one a line
    origin text not null, session text,
    observed_at real not null, commit_id text,
    status text not null,           -- pending, approved, denied, repeated, withdrawn, arrived
    via text, decided_at real,      -- how and when it was decided
    shown_at real                   -- when a person was first asked about it
);
create index candidates_by_learning on candidates (learning_id);
create index candidates_by_status on candidates (status);
create index candidates_by_file on candidates (real_path);
create index candidates_by_session on candidates (session);
create table rules (
    project text not null, path text not null,      -- path '' means the whole project
    verdict text not null,                          -- always or never
    made_at real not null, primary key (project, path)
);
create table sessions (
    id text primary key, assistant text not null, first_at real not null, last_at real not null,
    interactive integer,            -- 1 or 0 once there is evidence; none before
    ended_at real                   -- when its end was told; none if something came after
);
create table questions (
    nonce text primary key, session text not null, text text not null,
    yes text not null, no text not null,            -- labels of the options that decide
    candidates text not null,                       -- ids, separated by commas
    asked_at real not null, answered_at real
);
create index questions_by_session on questions (session);
create table deliveries (
    candidate integer primary key, learning_id text not null,
    state text not null,            -- queued, delivered, failed
    attempts integer not null, due_at real not null, delivered_at real, error text
);
create table backfilled (
    candidate integer primary key,  -- below 0: the learning's delivery; a backfill makes no candidate
    file text not null unique,      -- its name in the outbox
    sha256 text not null,           -- of its bytes, as they were approved
    approved_at real not null
);
create table counted (
    id text primary key,            -- of the record; a hash of the session's
    version integer not null, body text not null,   -- its counts, as last on their way
    tried_at real not null, sent integer not null   -- 1 once the other end has them
);
create table notices (
    kind text not null, subject text not null,      -- lost, skipped, failed; what it is about
    detail text not null, at real not null, primary key (kind, subject)
);
"""


def connect(folder: str | os.PathLike[str]) -> sqlite3.Connection:
    """The database in `ORGMEM_HOME/capture`, made if it is missing.

    Raises:
        sqlite3.Error: the file is no database, of a later release, or the disk is full.
        OSError: the folder can't be written.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib's import is not free
    file = os.path.join(folder, "capture.db")  # noqa: PTH118
    os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    db = sqlite3.connect(file, timeout=WAIT_SECONDS, isolation_level=None)
    db.execute("pragma journal_mode=wal")
    db.execute("pragma synchronous=normal")
    if (version := _version(db)) != SCHEMA:
        if version:
            db.close()
            raise sqlite3.DatabaseError(f"capture.db has version {version}, this release knows {SCHEMA}")
        with transaction(db):
            if not _version(db):
                for statement in TABLES.split(";\n"):
                    db.execute(statement)
                db.execute(f"pragma user_version={SCHEMA}")
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All statements inside, or none; takes the write lock at once. Inside another one it is part of that."""
    if db.in_transaction:
        yield
        return
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        db.execute("rollback")
        raise
    db.execute("commit")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("pragma user_version").fetchone()[0])
