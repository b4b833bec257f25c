"""A new home's Prefect database, from the schema that Prefect's own migrations arrive at.

The migrations of an empty SQLite file take 9 s of CPU; the statements they arrive at take 0.1 s. The file
beside this one holds those statements for one release; a later one migrates on from there by itself.
"""

import os
import sqlite3
from contextlib import closing, suppress
from importlib import metadata
from importlib.resources import files
from pathlib import Path

SCHEMA = "prefect_schema.sql"
RELEASE = "-- prefect "
"""How the schema's first line begins; the release that it was made with follows."""


def plant_database(url: str) -> None:
    """Make the SQLite file of the URL, unless it is there or the installed Prefect is older than the schema.

    Two at once make one file: it is written aside and linked to its name. Raises OSError or sqlite3.Error.
    """
    from sqlalchemy import make_url

    parsed = make_url(url)
    path = Path(parsed.database or ":memory:")
    if parsed.get_backend_name() != "sqlite" or path.name == ":memory:" or path.exists() or not _fits():
        return
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _remove(aside)  # of a killed process: in a container the next one has the same number
        make_database(aside)
        with suppress(FileExistsError):
            path.hardlink_to(aside)
    finally:
        _remove(aside)


def _remove(database: Path) -> None:
    """A database and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)


def make_database(path: Path) -> None:
    """Write an empty database to the path, in the journal mode that Prefect would set."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(_schema())


def dump(path: Path) -> str:
    """The statements that make a database, the release of the installed Prefect above them."""
    with closing(sqlite3.connect(path)) as database:
        return "\n".join((RELEASE + metadata.version("prefect"), *database.iterdump(), ""))


def _schema() -> str:
    return files("flows").joinpath(SCHEMA).read_text("utf-8")


def _fits() -> bool:
    from packaging.version import Version

    made_with = _schema().partition("\n")[0].removeprefix(RELEASE)
    return Version(metadata.version("prefect")) >= Version(made_with)
