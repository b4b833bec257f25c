"""The snapshot: a DuckDB file written aside and renamed, and read-only questions to it.

Writers wait for each other, so that every run's figures are kept; readers keep the file that they opened.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from pathlib import Path

import duckdb
import filelock
import pyarrow as pa

from orgmem.errors import BusyError, NotFoundError, StoreError, UsageError
from orgmem.settings import Settings
from schemas.disposition import GOES_ON, Stage
from schemas.learning import Origin
from schemas.snapshot import TABLES, VIEWS, Snapshot, columns

Config = dict[str, str | bool | int | float | list[str]]

ASIDE = ".writing-snapshot"
"""Name of the file being written and, with an ending, of what DuckDB keeps beside it."""
WAIT_SECONDS = 600
"""How long a writer waits for another: a snapshot takes seconds."""
OFFLINE: Config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
CLOSED: Config = {
    **OFFLINE,
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
"""No other file, no extension, no variable of this process, no spilling."""


@dataclass(frozen=True)
class Sources:
    """Arrow tables that a snapshot is made from: rows of lake and memory store, and the ends."""

    learnings: pa.Table
    hunks: pa.Table
    sightings: pa.Table
    rejects: pa.Table
    dispositions: pa.Table
    memories: pa.Table
    links: pa.Table
    ends: pa.Table
    """learning_id, outcome, memories, stage, decision, reason: what became of each learning."""
    counts: pa.Table
    """with_edit, candidates, denied, prompts_shown: one row a session that a client counted."""


@dataclass(frozen=True)
class Answer:
    """Rows of a query; `cut` when there were more than asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    cut: bool


def write_snapshot(settings: Settings, sources: Sources, taken_at: datetime) -> Snapshot:
    """Publish a new snapshot that keeps the figures of all earlier ones; a crash leaves the old file.

    Raises:
        StoreError: the earlier snapshot can't be read, or the new one can't be written.
        BusyError: another writer did not finish in time.
    """
    aside = settings.root / ASIDE
    with _alone(settings):
        _clear(aside)
        try:
            snapshot = _build(str(aside), settings.snapshot_file, sources, taken_at)
            _publish(aside, settings.snapshot_file)
        finally:
            _clear(aside)
    return snapshot


def preview_snapshot(settings: Settings, sources: Sources, taken_at: datetime) -> Snapshot:
    """The figures that a snapshot would have; nothing is written."""
    return _build(":memory:", settings.snapshot_file, sources, taken_at)


def ask(settings: Settings, query: str, limit: int) -> Answer:
    """Run one SELECT on the snapshot, read-only, with no way to other files, extensions or settings.

    Raises:
        NotFoundError: there is no snapshot yet.
        UsageError: not one SELECT, or DuckDB refuses it; one line.
        StoreError: the file is no snapshot.
    """
    if not settings.snapshot_file.exists():
        raise NotFoundError(f"no snapshot yet in {settings.root}", "orgmem snapshot")
    with closing(_open_to_read(settings.snapshot_file)) as db:
        try:
            _refuse_all_but_one_select(query)
            db.execute(query)
            rows = db.fetchmany(limit + 1)
            names = tuple(str(column[0]) for column in db.description or ())
        except duckdb.Error as error:
            raise UsageError(one_line(error), "orgmem sql 'SHOW TABLES'") from error
    return Answer(names, tuple(rows[:limit]), cut=len(rows) > limit)


def one_line(error: duckdb.Error) -> str:
    """DuckDB's message without the excerpt of the query below it."""
    return " ".join(str(error).split("\n\nLINE ")[0].split())


def _open_to_read(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        db = duckdb.connect(path, read_only=True, config=CLOSED)
        db.execute("SET TimeZone = 'UTC'; SET lock_configuration = true")
    except duckdb.Error as error:
        raise _unreadable(path, error) from error
    return db


def _refuse_all_but_one_select(query: str) -> None:
    statements = duckdb.extract_statements(query)
    try:
        kinds = [statement.type for statement in statements]
    except ValueError:  # a kind that the Python client has no name for
        kinds = []
    if kinds != [duckdb.StatementType.SELECT]:
        raise UsageError(
            "the snapshot answers one SELECT (or FROM, DESCRIBE, SHOW, SUMMARIZE) at a time",
            "orgmem sql 'SHOW TABLES'",
        )


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    path = settings.locks / "snapshot.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(path, timeout=WAIT_SECONDS):
            yield
    except filelock.Timeout:
        raise BusyError(f"another snapshot is being written in {settings.root}", "orgmem snapshot") from None


def _clear(aside: Path) -> None:
    """Remove what a writer, also a killed one, left beside the snapshot."""
    for path in aside.parent.glob(f"{ASIDE}*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _publish(aside: Path, target: Path) -> None:
    with aside.open("rb") as file:
        os.fsync(file.fileno())
    aside.replace(target)


def _build(database: str, previous: Path, sources: Sources, taken_at: datetime) -> Snapshot:
    try:
        with closing(duckdb.connect(database, config=OFFLINE)) as db:
            db.begin()  # one commit, not one for each of some hundred comments
            _fill(db, sources, taken_at)
            _carry_over(db, previous)
            db.commit()
            return _figures(db)
    except duckdb.Error as error:
        where = previous.parent
        raise StoreError(f"can't write the snapshot in {where}: {one_line(error)}", f"df -h {where}") from error


def _fill(db: duckdb.DuckDBPyConnection, sources: Sources, taken_at: datetime) -> None:
    for field in fields(sources):
        db.register(f"source_{field.name}", getattr(sources, field.name))
    db.execute("SET TimeZone = 'UTC'")
    db.execute("SET VARIABLE goes_on = ?", [sorted(GOES_ON)])
    db.execute(f"CREATE TYPE stage AS ENUM ({_listed(Stage)}); CREATE TYPE origin AS ENUM ({_listed(Origin)})")
    script = Path(__file__).with_name("warehouse.sql").read_text(encoding="utf-8")
    script = script.replace("$clients", _clients(db))
    db.execute(script.replace("$taken_at", f"{_quoted(taken_at.isoformat())}::TIMESTAMPTZ"))
    for kind, described in (("TABLE", TABLES), ("VIEW", VIEWS)):
        for name, model in described.items():
            db.execute(f"COMMENT ON {kind} {name} IS {_quoted(model.__doc__ or '')}")
            for column, comment in columns(model).items():
                db.execute(f'COMMENT ON COLUMN {name}."{column}" IS {_quoted(comment)}')


def _clients(db: duckdb.DuckDBPyConnection) -> str:
    """SQL with the figures of all sessions as numbers: no session has a row in the snapshot."""
    counted = ("candidates", "denied", "prompts_shown")
    sums = ", ".join(f"coalesce(sum({name}), 0)::BIGINT" for name in counted)
    query = f"SELECT count(*), count(*) FILTER (with_edit), {sums} FROM source_counts"  # noqa: S608 - our names
    (row,) = db.execute(query).fetchall()
    names = ("sessions", "sessions_with_edit", *counted)
    return "SELECT " + ", ".join(f"{int(value)} AS {name}" for name, value in zip(names, row, strict=True))


def _carry_over(db: duckdb.DuckDBPyConnection, previous: Path) -> None:
    """Add the figures of earlier snapshots: the columns that both files have."""
    if not previous.exists():
        return
    try:
        db.execute(f"ATTACH {_quoted(str(previous))} AS previous (READ_ONLY)")
        known = {row[0] for row in db.execute("SELECT column_name FROM (DESCRIBE previous.snapshots)").fetchall()}
        shared = ", ".join(f'"{column}"' for column in columns(Snapshot) if column in known)
        db.execute(f"INSERT INTO snapshots BY NAME SELECT {shared} FROM previous.snapshots")  # noqa: S608 - our names
        db.execute("DETACH previous")
    except duckdb.Error as error:
        raise _unreadable(previous, error) from error


def _unreadable(path: Path, error: duckdb.Error) -> StoreError:
    return StoreError(
        f"can't read the snapshot {path}: {one_line(error)}", f"mv {path} {path}.broken; orgmem snapshot"
    )


def _figures(db: duckdb.DuckDBPyConnection) -> Snapshot:
    (row,) = db.execute("FROM deployment_snapshot").fetchall()
    return Snapshot.model_validate(dict(zip(columns(Snapshot), row, strict=True)))


def _listed(values: type[StrEnum]) -> str:
    return ", ".join(_quoted(value) for value in values)


def _quoted(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
