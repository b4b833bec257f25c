"""A new home's Prefect database is the one that Prefect's own migrations make."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from flows.server_schema import dump, make_database, plant_database

MIGRATE = """
import asyncio
from prefect.server.database import provide_database_interface
asyncio.run(provide_database_interface().create_db())
"""


def migrated(home: Path) -> Path:
    """Let Prefect bring the database of a home up to date, in a process of its own."""
    environment = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_API_DATABASE_CONNECTION_URL": url_of(home)}
    subprocess.run([sys.executable, "-P", "-c", MIGRATE], env=environment, check=True, timeout=120)
    return home / "prefect.db"


def url_of(home: Path) -> str:
    return f"sqlite+aiosqlite:///{home / 'prefect.db'}"


def lines(statements: str) -> list[str]:
    """The lines in one order: migrations write a table's constraints in any."""
    return sorted(line.strip().rstrip(", ") for line in statements.split("\n"))


def test_the_planted_database_is_what_prefect_migrates_an_empty_file_to(tmp_path: Path) -> None:
    made = tmp_path / "made.db"
    make_database(made)
    assert lines(dump(made)) == lines(dump(migrated(tmp_path)))


def test_a_later_prefect_migrates_on_from_the_planted_database(tmp_path: Path) -> None:
    plant_database(url_of(tmp_path))
    before = dump(tmp_path / "prefect.db")
    assert dump(migrated(tmp_path)) == before  # the installed release has nothing to add


def test_a_database_that_is_there_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "prefect.db")) as database:
        database.execute("create table mine (a)")
    plant_database(url_of(tmp_path))
    assert "mine" in dump(tmp_path / "prefect.db")
    assert [path.name for path in tmp_path.iterdir()] == ["prefect.db"]


def test_what_a_killed_process_of_the_same_number_has_left_is_in_nobodys_way(tmp_path: Path) -> None:
    left = tmp_path / f".prefect.db.{os.getpid()}"
    make_database(left)
    left.with_name(f"{left.name}-wal").write_bytes(b"half a frame")
    plant_database(url_of(tmp_path))
    assert "alembic_version" in dump(tmp_path / "prefect.db")
    assert [path.name for path in tmp_path.iterdir()] == ["prefect.db"]


def test_a_server_with_another_database_gets_none(tmp_path: Path) -> None:
    plant_database("postgresql+asyncpg://user@127.0.0.1/prefect")
    plant_database("sqlite+aiosqlite:///file::memory:?cache=shared&uri=true&check_same_thread=false")
    assert not list(tmp_path.iterdir())
