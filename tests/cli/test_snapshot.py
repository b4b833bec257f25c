"""`orgmem snapshot` and `orgmem sql`: data on stdout, remarks on stderr, readable at 80 columns."""

import csv
import io
import json

import pytest
import typer
from typer.testing import CliRunner, Result

from orgmem.cli.snapshot import plain, register, visible
from orgmem.errors import NotFoundError, UsageError
from orgmem.settings import Settings
from schemas.snapshot import Snapshot

app = typer.Typer()
register(app)


def orgmem(settings: Settings, *words: str) -> Result:
    environment = {"ORGMEM_HOME": str(settings.home), "COLUMNS": "80", "NO_COLOR": "1"}
    return CliRunner().invoke(app, list(words), env=environment)


def data(settings: Settings, *words: str) -> str:
    done = orgmem(settings, *words)
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.fixture
def written(settings: Settings) -> Settings:
    data(settings, "snapshot")
    return settings


def test_snapshot_prints_its_figures_as_json(settings: Settings) -> None:
    figures = json.loads(data(settings, "snapshot", "--json"))
    assert Snapshot.model_validate_json(json.dumps(figures)).contributed_learnings == 0
    assert list(figures["window"]) == ["from", "to"]
    assert settings.snapshot_file.exists()


def test_snapshot_prints_its_figures_for_people(settings: Settings) -> None:
    done = orgmem(settings, "snapshot")
    assert "contributed_learnings" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "next: orgmem sql" in done.stderr


def test_a_dry_run_writes_nothing(settings: Settings) -> None:
    figures = json.loads(data(settings, "snapshot", "--dry-run", "--json"))
    assert figures["live_memories"] == 0
    assert not settings.snapshot_file.exists()


def test_sql_prints_columns_and_rows_as_json(written: Settings) -> None:
    query = "SELECT 1 AS x, 'é' AS x, 1.5 AS d, 'nan'::DOUBLE AS n, [DATE '2026-01-02'] AS l, {'a': NULL} AS s"
    assert json.loads(data(written, "sql", query, "--json")) == {
        "columns": ["x", "x", "d", "n", "l", "s"],
        "rows": [[1, "é", 1.5, None, ["2026-01-02"], {"a": None}]],
    }


def test_sql_prints_csv(written: Settings) -> None:
    printed = data(written, "sql", "SELECT 'a,\"b\nc' AS text, NULL AS none, [1, 2] AS list, true AS yes", "--csv")
    assert list(csv.reader(io.StringIO(printed))) == [
        ["text", "none", "list", "yes"],
        ['a,"b\nc', "", "[1, 2]", "true"],
    ]


def test_sql_prints_a_table_that_fits_80_columns(written: Settings) -> None:
    printed = data(written, "sql", "SELECT stage, \"in\", out, repeat('long ', 40) AS text FROM stage_funnel")
    lines = printed.splitlines()
    assert lines[0].split() == ["stage", "in", "out", "text"]
    assert max(map(len, lines)) <= 80
    assert printed.count("long") == 6 * 40


def test_sql_prints_wide_rows_as_blocks(written: Settings) -> None:
    printed = data(written, "sql", "FROM deployment_snapshot")
    assert max(map(len, printed.splitlines())) <= 80
    assert [line.split()[0] for line in printed.splitlines()][:3] == ["taken_at", "window", "sessions"]


def test_a_cut_result_says_so_on_stderr(written: Settings) -> None:
    done = orgmem(written, "sql", "FROM range(5)", "--limit", "2", "--json")
    assert json.loads(done.stdout)["rows"] == [[0], [1]]
    assert "only the first 2 rows" in done.stderr
    whole = orgmem(written, "sql", "FROM range(5)", "--limit", "5", "--json")
    assert "only" not in whole.stderr


def test_sql_before_the_first_snapshot_is_not_found(settings: Settings) -> None:
    assert isinstance(orgmem(settings, "sql", "SELECT 1").exception, NotFoundError)


def test_sql_refuses_two_formats_at_once(written: Settings) -> None:
    assert isinstance(orgmem(written, "sql", "SELECT 1", "--csv", "--json").exception, UsageError)


def test_control_characters_cannot_steer_the_terminal(written: Settings) -> None:
    printed = data(written, "sql", "SELECT 'a' || chr(27) || '[2J' || chr(155) || chr(8238) AS \"x\x1b[31m\"")
    assert "\x1b" not in printed
    assert "\\x1b[2J\\x9b\\u202e" in printed


def test_markup_in_a_cell_is_text() -> None:
    assert visible("[bold]x[/bold]") == "[bold]x[/bold]"
    assert visible(None) == ""
    assert visible(True) == "true"
    assert plain(float("inf")) is None
