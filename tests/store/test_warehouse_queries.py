"""Questions to the snapshot: one SELECT at a time, and no way out of the file."""

import time
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from orgmem.errors import NotFoundError, UsageError
from orgmem.settings import Settings
from orgmem.store.warehouse import _open_to_read, ask
from tasks.bench import Bench
from tasks.snapshot import take


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A snapshot of empty stores; these tests only read it."""
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    take(Bench(settings))
    return settings


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM learnings",
        "FROM deployment_snapshot",
        "WITH a AS (SELECT 1) SELECT * FROM a;",
        "-- a remark\nVALUES (1)",
        "DESCRIBE learnings",
        "SUMMARIZE memories",
        "SHOW TABLES",
    ],
)
def test_questions_are_answered(written: Settings, query: str) -> None:
    assert ask(written, query, 100).rows


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM read_blob('{secret}')",
        "SELECT * FROM sniff_csv('{secret}')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM query('SELECT * FROM read_text(''{secret}'')')",
        "SELECT * FROM duckdb_secrets()",
        "SELECT getenv('HOME')",
        "ATTACH '{folder}/other.duckdb'",
        "COPY learnings TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO '{folder}/out.parquet'",
        "EXPORT DATABASE '{folder}/out'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FORCE INSTALL spatial FROM community",
        "UPDATE EXTENSIONS",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "RESET lock_configuration",
        "SET VARIABLE x = 1",
        "PRAGMA database_list",
        "PRAGMA enable_profiling",
        "CALL pragma_version()",
        "CREATE TABLE mine (x INT)",
        "CREATE TEMP TABLE mine (x INT)",
        "CREATE SECRET (TYPE s3)",
        "INSERT INTO votes VALUES ('m', 'agent', current_date, 1, 0)",
        "UPDATE memories SET answer = 'x'",
        "DELETE FROM memories",
        "DROP TABLE memories",
        "ALTER TABLE memories ADD COLUMN x INT",
        "COMMENT ON TABLE memories IS 'x'",
        "EXPLAIN ANALYZE DELETE FROM memories",
        "CHECKPOINT",
        "VACUUM",
        "BEGIN",
        "USE memory",
        "PREPARE p AS SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE memories",
        "SELECT ?",
        "",
        "  ;  ",
        "SELEC 1",
        "SELECT 'x'::INT",
        "SELECT nothing FROM learnings",
        "SELECT * FROM settings",
        "SELECT * FROM written",
    ],
)
def test_everything_else_is_refused_in_one_line(written: Settings, tmp_path: Path, query: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nhidden\n")
    before = written.snapshot_file.read_bytes()
    with pytest.raises(UsageError) as caught:
        ask(written, query.format(secret=secret, folder=tmp_path), 100)
    assert "\n" not in caught.value.message
    assert "hidden" not in caught.value.message
    assert caught.value.hint.startswith("orgmem sql ")
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert written.snapshot_file.read_bytes() == before


def test_a_huge_result_is_cut_without_being_made(written: Settings) -> None:
    answer = ask(written, "SELECT i, repeat('x', 1000) AS text FROM range(100_000_000_000) AS r(i)", 3)
    assert answer.columns == ("i", "text")
    assert [row[0] for row in answer.rows] == [0, 1, 2]
    assert answer.cut
    assert not ask(written, "FROM range(3)", 3).cut


def test_before_the_first_snapshot_the_next_command_is_named(settings: Settings) -> None:
    with pytest.raises(NotFoundError, match="no snapshot yet") as caught:
        ask(settings, "SELECT 1", 1)
    assert caught.value.hint == "orgmem snapshot"
    assert not settings.root.exists()


def test_moments_are_in_utc(written: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        answer = ask(written, "SELECT taken_at::VARCHAR AS moment FROM snapshots", 1)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert str(answer.rows[0][0]).endswith("+00")


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH '{folder}/other.duckdb'",
        "COPY learnings TO '{folder}/out.csv'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "PRAGMA enable_profiling",
        "CREATE TABLE mine (x INT)",
        "DELETE FROM memories",
    ],
)
def test_the_connection_itself_refuses_what_the_check_of_kinds_would(
    written: Settings, tmp_path: Path, statement: str
) -> None:
    with closing(_open_to_read(written.snapshot_file)) as db, pytest.raises(duckdb.Error):
        db.execute(statement.format(folder=tmp_path))
